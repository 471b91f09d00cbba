//! What can be wrong with the cloth of another program.

use std::path::{Path, PathBuf};

use crate::npz::{NpyError, NpzError};
use crate::obj::ObjError;
use crate::point_cache::CacheError;

/// Why cloth can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClothError {
    /// A file or folder can't be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Nobody here reads files of that kind.
    #[error(
        "moving cloth is read from .pc2, .mdd, .npz, a folder of .obj files or name_*.obj: {}",
        path.display()
    )]
    Kind {
        /// The file.
        path: PathBuf,
    },
    /// There is no frame.
    #[error("there is no frame in {}", path.display())]
    NoFrames {
        /// The file, folder or pattern.
        path: PathBuf,
    },
    /// Not a point cache.
    #[error("cannot read {}", path.display())]
    Cache {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CacheError,
    },
    /// Not a sound archive.
    #[error("cannot read {}", path.display())]
    Npz {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: NpzError,
    },
    /// Not an OBJ file.
    #[error("cannot read {}", path.display())]
    Obj {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ObjError,
    },
    /// An array of another shape.
    #[error("array {array} has shape {found:?}, expected {expected}: {}", path.display())]
    Shape {
        /// The array.
        array: String,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be.
        expected: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A triangle of vertices that are not there.
    #[error("triangle {triangle} names vertex {vertex}, but there are {n_points}: {}", path.display())]
    Corner {
        /// Which triangle.
        triangle: usize,
        /// The vertex that it names.
        vertex: i64,
        /// How many there are.
        n_points: usize,
        /// The file.
        path: PathBuf,
    },
    /// A frame with more or fewer vertices than the first.
    #[error("frame {frame} has {found} vertices, expected {expected}: {}", path.display())]
    Points {
        /// Which frame.
        frame: usize,
        /// How many it has.
        found: usize,
        /// How many the first has.
        expected: usize,
        /// The file.
        path: PathBuf,
    },
    /// A coordinate is NaN or infinite.
    #[error("frame {frame}: vertex {point} has a coordinate that is not finite: {}", path.display())]
    NotFinite {
        /// Which frame.
        frame: usize,
        /// Which vertex.
        point: usize,
        /// The file.
        path: PathBuf,
    },
    /// Times that are not evenly spaced.
    #[error("frame {frame} is at {time:.4} s, evenly spaced it would be at {expected:.4} s: {}", path.display())]
    Uneven {
        /// Which frame.
        frame: usize,
        /// Its time [s].
        time: f64,
        /// Where it should be [s].
        expected: f64,
        /// The file.
        path: PathBuf,
    },
    /// A name without a number in a row of files.
    #[error("the name has no number that says which frame it is: {}", path.display())]
    NoNumber {
        /// The file.
        path: PathBuf,
    },
    /// A number that is missing or there twice.
    #[error("frame {after} follows frame {before} in the names of the files: {}", path.display())]
    Gap {
        /// The number before.
        before: u64,
        /// The number of the file.
        after: u64,
        /// The file.
        path: PathBuf,
    },
}

/// What is wrong with a row of an archive, by frame and vertex where it can be.
pub(super) fn of_row(source: NpzError, frame: usize, n_points: usize, path: &Path) -> ClothError {
    match source {
        NpzError::Array {
            error: NpyError::NotFinite { index, .. },
            ..
        } => ClothError::NotFinite {
            frame,
            point: index / 3 - frame * n_points,
            path: path.into(),
        },
        source => ClothError::Npz {
            path: path.into(),
            source,
        },
    }
}
