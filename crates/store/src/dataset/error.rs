//! What can be wrong with a dataset.

use std::path::PathBuf;

use drapery_core::{FrameRateError, GarmentError, MeshError, SkeletonError, SkinWeightsError};
use zarrs::array::{ArrayCreateError, ArrayError};
use zarrs::storage::StorageError;

use super::manifest::ManifestError;

/// Why a dataset can't be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// A file or folder can't be written or read.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The folder is no dataset.
    #[error("there is no dataset, {why}: {}", path.display())]
    NotADataset {
        /// Why not.
        why: &'static str,
        /// The folder.
        path: PathBuf,
    },
    /// Something else is where a dataset is to be made.
    #[error("something that is no dataset is there already: {}", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// Another program writes to it.
    #[error("another drapery is writing to {}", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A later format.
    #[error("the dataset has version {found} of its format, this program knows {known}")]
    Version {
        /// The version found.
        found: u64,
        /// The version known here.
        known: u64,
    },
    /// Metadata that can't be understood.
    #[error("cannot understand {}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: serde_json::Error,
    },
    /// Metadata with something missing or wrong.
    #[error("{key} is not {expected} in {}", path.display())]
    Attribute {
        /// The key.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// An array is not there, or its metadata is wrong.
    #[error("array {array} can't be opened")]
    Open {
        /// The array.
        array: String,
        /// Why not.
        source: Box<ArrayCreateError>,
    },
    /// An array can't be read or written.
    #[error("array {array} can't be {what}")]
    Array {
        /// The array.
        array: String,
        /// `read` or `written`.
        what: &'static str,
        /// Why not.
        source: Box<ArrayError>,
    },
    /// Metadata can't be written.
    #[error("array {array} can't be written")]
    Storage {
        /// The array.
        array: String,
        /// Why not.
        source: Box<StorageError>,
    },
    /// An array of another shape.
    #[error("array {array} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// The array.
        array: String,
        /// Its shape.
        found: Vec<u64>,
        /// What it should be.
        expected: Vec<u64>,
    },
    /// An array of another element.
    #[error("array {array} is not of {expected}")]
    Element {
        /// The array.
        array: String,
        /// What it should be of.
        expected: &'static str,
    },
    /// Chunks larger than memory should be asked for.
    #[error("array {array} has chunks of {elements} elements, more than the limit of {limit}")]
    Chunk {
        /// The array.
        array: String,
        /// Elements of a chunk.
        elements: u64,
        /// The most.
        limit: u64,
    },
    /// A value that is not finite, or a chunk that is missing.
    #[error("array {array} has a value in row {row} that is missing or not finite")]
    NotFinite {
        /// The array.
        array: String,
        /// The first index: the frame, in sequences.
        row: u64,
    },
    /// A value that has no meaning.
    #[error("array {array} has a value in row {row} that is no {expected}")]
    Value {
        /// The array.
        array: String,
        /// The first index: the frame, in sequences.
        row: u64,
        /// What it should be.
        expected: &'static str,
    },
    /// A number of entries that does not fit.
    #[error("{found} {what}, expected {expected}")]
    Length {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The bytes of a file or the values of an array are not those that were
    /// written.
    #[error("{what} {name} is not as it was written: its checksum differs")]
    Checksum {
        /// `file` or `array`.
        what: &'static str,
        /// Which one.
        name: String,
    },
    /// A file that was written is not there, or one that was not is.
    #[error("file {name} {is}")]
    Files {
        /// Which one.
        name: String,
        /// `is missing` or `does not belong there`.
        is: &'static str,
    },
    /// No such sequence is planned.
    #[error("the dataset has no sequence {name}{}", crate::dataset::error::meant(nearest.as_deref()))]
    NoSuchSequence {
        /// What was asked for.
        name: String,
        /// The nearest there is.
        nearest: Option<String>,
    },
    /// The sequence is not there yet, or failed.
    #[error("sequence {name} {is}")]
    NotWhole {
        /// Which one.
        name: String,
        /// `is not there yet` or `failed`.
        is: &'static str,
    },
    /// The sequence is there already.
    #[error("sequence {name} is there already")]
    AlreadyThere {
        /// Which one.
        name: String,
    },
    /// The dataset was opened to be read.
    #[error("the dataset was opened to be read, not to be written to: {}", path.display())]
    ReadOnly {
        /// The folder.
        path: PathBuf,
    },
    /// Frames that are not there.
    #[error("frames {start} to {end} are not within the {n_frames} frames of {name}")]
    Frames {
        /// The sequence.
        name: String,
        /// The first.
        start: u32,
        /// One past the last.
        end: u32,
        /// How many there are.
        n_frames: u32,
    },
    /// The dataset was made of other settings.
    #[error("the dataset was made with {key} = {old}, now it is {new}; choose another folder")]
    Differs {
        /// The first setting that differs.
        key: String,
        /// What it was.
        old: String,
        /// What it is.
        new: String,
    },
    /// The manifest is wrong.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A frame rate is wrong.
    #[error(transparent)]
    FrameRate(#[from] FrameRateError),
    /// A garment is wrong.
    #[error("garment {garment}")]
    Garment {
        /// Which one.
        garment: String,
        /// What is wrong with it.
        source: GarmentError,
    },
    /// A twin of what is none of its garments.
    #[error("garment {garment} is a twin of {of}, which is no garment of the dataset")]
    Twin {
        /// The twin.
        garment: String,
        /// What it says that it is one of.
        of: String,
    },
    /// The body's mesh is wrong.
    #[error("the body's mesh")]
    Mesh(#[from] MeshError),
    /// The body's skeleton is wrong.
    #[error("the body's skeleton")]
    Skeleton(#[from] SkeletonError),
    /// The body's weights are wrong.
    #[error("the body's skinning weights")]
    Weights(#[from] SkinWeightsError),
}

/// A suggestion, if there is one.
pub(super) fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean {n}?)"))
}
