//! What can be wrong with a scene.

use std::path::PathBuf;

use drapery_core::ShapeError;

use crate::fabric::FabricFileError;
use crate::garment::DraftError;
use crate::load::LoadError;
use crate::motion::repertoire::RepertoireError;
use crate::motion::{EditError, MirrorError, PutOnError};

/// Why a file is no scene. Each says the key and its line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file can't be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// No file, and no built-in scene of that name.
    #[error("no built-in scene is called {name}{}, and there is no such file; built in: {known}", meant(nearest.as_deref()))]
    NoSuchScene {
        /// What was asked for.
        name: String,
        /// The name that was most likely meant.
        nearest: Option<String>,
        /// What there is.
        known: String,
    },
    /// Not TOML.
    #[error("line {line}: {why}")]
    Toml {
        /// Where.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A key that means nothing.
    #[error("line {line}: unknown key {key}{}; there are {known}", meant(nearest.as_deref()))]
    UnknownKey {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// The key that was most likely meant.
        nearest: Option<String>,
        /// What there is.
        known: String,
    },
    /// A key that must be there.
    #[error("line {line}: {key} is missing")]
    MissingKey {
        /// The key.
        key: String,
        /// The line of its table.
        line: usize,
    },
    /// A value of the wrong kind.
    #[error("line {line}: {key} is not {expected}")]
    Kind {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// What it should be.
        expected: &'static str,
    },
    /// A number out of range.
    #[error("line {line}: {key} is {value}, which is not from {min} to {max}")]
    Range {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// The number.
        value: f64,
        /// The least.
        min: f64,
        /// The most.
        max: f64,
    },
    /// Nothing of that name is built in, or the file can't be read.
    #[error("line {line}: {key}")]
    Load {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// Why not.
        source: Box<LoadError>,
    },
    /// The constants are those of no fabric.
    #[error("line {line}: {key}")]
    Fabric {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// Why not.
        source: Box<FabricFileError>,
    },
    /// A name that nothing has.
    #[error("line {line}: {key}: there is no {what} {name}{}; there are {known}", meant(nearest.as_deref()))]
    UnknownName {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
        /// The name that was most likely meant.
        nearest: Option<String>,
        /// What there is.
        known: String,
    },
    /// Two of one name.
    #[error("line {line}: {key}: {name} is there twice")]
    Twice {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// The name.
        name: String,
    },
    /// A setting that means nothing for what it is given for.
    #[error("line {line}: {key} is for garments that are drafted, and {garment} is a file")]
    NotDrafted {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// The garment.
        garment: String,
    },
    /// Two settings for one thing.
    #[error("line {line}: {key} and {other} can't both be given")]
    Both {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// The other.
        other: &'static str,
    },
    /// The body can't have that shape.
    #[error("line {line}: {key}")]
    Shape {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// Why not.
        source: ShapeError,
    },
    /// The garment can't be drafted.
    #[error("line {line}: {key} can't be drafted")]
    Draft {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// Why not.
        source: DraftError,
    },
    /// The motion can't be made on a body.
    #[error("line {line}: {key}: {clip} can't be put on {shape}")]
    PutOn {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// The clip.
        clip: String,
        /// The body shape.
        shape: String,
        /// Why not.
        source: Box<MotionError>,
    },
}

/// Why there is no such motion on a body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MotionError {
    /// The repertoire can't make it.
    #[error(transparent)]
    Repertoire(#[from] RepertoireError),
    /// The skeletons don't go together.
    #[error(transparent)]
    PutOn(#[from] PutOnError),
    /// The clip can't be edited so.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The clip can't be mirrored.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean {n}?)"))
}
