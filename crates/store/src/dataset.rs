//! Datasets: simulated sequences as a Zarr v3 group, written and read frame by
//! frame.
//!
//! ```text
//! DATASET/                          attributes: DatasetHead
//!   body/                           the character: mesh, joints, weights, shape space
//!   garments/<garment>/             triangles, rest mesh, flat pattern, fabric
//!   sequences/<clip>@<shape>/       one clip on one body shape
//!     cloth/<garment>      f32 [frame, vertex, 3]   world positions [m]
//!     velocity/<garment>   f32 [frame, vertex, 3]   [m/s]
//!     pose                 f32 [frame, joint, 4]    relative to the parent, w x y z
//!     root                 f32 [frame, 3]           world position of the root joint [m]
//!     shape                f32 [k]                  shape coefficients
//!     flags                u32 [frame]              bits of FrameFlag
//!     masked/<garment>     u8 [frame, vertex]       1 where the body enters itself
//!   failed/<clip>@<shape>/          where and why a sequence failed
//! ```
//!
//! What is planned is known from the start ([`Manifest`]); a sequence is there
//! when its folder is, which is renamed into place when whole and on disk.
//! Nothing in a dataset depends on when or in which order it was made, so that
//! one that was interrupted becomes the same bytes as one that was not.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use drapery_store::dataset::{DatasetFolder, DatasetStore, Split};
//!
//! let dataset = DatasetFolder::open(Path::new("skirts"))?;
//! for planned in dataset.split(Split::Train)? {
//!     let sequence = dataset.sequence(&planned.name)?;
//!     for frame in 0..planned.frames {
//!         let positions = sequence.cloth(0, frame..frame + 1)?;
//!         assert_eq!(positions.len(), dataset.head().garments[0].n_vertices());
//!     }
//! }
//! # Ok::<(), drapery_store::dataset::DatasetError>(())
//! ```
//!
//! Every array has the SHA-256 of its values, every file that of its bytes, and
//! every chunk a CRC. A missing chunk reads as NaN and is refused like any
//! other value that is not finite.

mod arrays;
mod body;
mod digest;
mod disk;
mod error;
mod flags;
mod folder;
mod garment;
mod head;
mod manifest;
mod memory;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

use std::ops::Range;

use drapery_core::Pose;
use glam::Vec3;
use serde_json::Value;

pub use body::StoredBody;
pub use error::DatasetError;
pub use flags::{FrameBits, FrameFlag};
pub use folder::DatasetFolder;
pub use garment::{StoredGarment, fabric_constants};
pub use head::DatasetHead;
pub use manifest::{BodyShape, Manifest, ManifestError, PlannedSequence, Split};
pub use memory::MemoryDataset;

/// The SHA-256 of a file, as 64 letters.
///
/// # Errors
/// When it can't be read.
pub fn file_digest(path: &std::path::Path) -> Result<String, DatasetError> {
    digest::of_file(path)
}

/// Where sequences are kept; on disk ([`DatasetFolder`]) or in memory
/// ([`MemoryDataset`]), which what reads them can't tell.
pub trait DatasetStore: Send + Sync {
    /// What all sequences share, and what is planned.
    fn head(&self) -> &DatasetHead;

    /// What became of a planned sequence.
    ///
    /// # Errors
    /// When no such sequence is planned, or its record can't be read.
    fn state(&self, name: &str) -> Result<SequenceState, DatasetError>;

    /// Begins a planned sequence. It is there once it is finished, and in the
    /// place of what was known of it before.
    ///
    /// # Errors
    /// When no such sequence is planned, or nothing can be written.
    fn append<'a>(&'a self, name: &str) -> Result<Box<dyn SequenceSink + 'a>, DatasetError>;

    /// Opens a sequence that is whole.
    ///
    /// # Errors
    /// When it is not there, or not what was planned.
    fn sequence<'a>(&'a self, name: &str) -> Result<Box<dyn SequenceSource + 'a>, DatasetError>;

    /// Reads every byte of a sequence and checks it.
    ///
    /// # Errors
    /// What is wrong first.
    fn verify(&self, name: &str) -> Result<(), DatasetError>;

    /// The sequences of a split that are whole, in the order of the plan.
    ///
    /// # Errors
    /// When a record can't be read.
    fn split(&self, split: Split) -> Result<Vec<PlannedSequence>, DatasetError> {
        let mut there = Vec::new();
        for planned in &self.head().manifest.sequences {
            if planned.split == split && self.state(&planned.name)? == SequenceState::Whole {
                there.push(planned.clone());
            }
        }
        Ok(there)
    }
}

/// What became of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SequenceState {
    /// Not there yet.
    Missing,
    /// There.
    Whole,
    /// It was tried and failed.
    Failed(SequenceFailure),
}

/// Where and why a sequence failed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SequenceFailure {
    /// The frame that could not be made; none before the first.
    pub frame: Option<u32>,
    /// Why not.
    pub why: String,
}

/// One frame of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct FrameRecord<'a> {
    /// The body's pose.
    pub pose: &'a Pose,
    /// World positions of the garments' vertices [m], one garment after the
    /// other.
    pub cloth: &'a [Vec3],
    /// Their velocities [m/s].
    pub velocity: &'a [Vec3],
    /// Whether each vertex is where the body enters itself, and no place is
    /// right for it.
    pub masked: &'a [bool],
    /// What to beware of.
    pub flags: FrameBits,
}

/// Takes the frames of one sequence, from the first to the last.
pub trait SequenceSink {
    /// One frame more.
    ///
    /// # Errors
    /// When lengths don't fit, a value is not finite, there are more frames
    /// than planned, or writing fails.
    fn push(&mut self, frame: &FrameRecord<'_>) -> Result<(), DatasetError>;

    /// Makes the sequence visible, with a report that does not depend on time.
    ///
    /// # Errors
    /// When frames are missing or writing fails; it is not there then.
    fn finish(self: Box<Self>, report: Value) -> Result<(), DatasetError>;

    /// Keeps nothing of the sequence but where and why it failed.
    ///
    /// # Errors
    /// When writing fails.
    fn fail(self: Box<Self>, failure: &SequenceFailure) -> Result<(), DatasetError>;
}

/// A sequence that is whole, read a range of frames at a time.
pub trait SequenceSource {
    /// What was planned.
    fn plan(&self) -> &PlannedSequence;

    /// The shape of the body.
    fn shape(&self) -> &BodyShape;

    /// What whoever made it had to say.
    fn report(&self) -> &Value;

    /// World positions of a garment [m], frame after frame.
    ///
    /// # Errors
    /// When the frames are not there or can't be read, or a value is not finite.
    fn cloth(&self, garment: usize, frames: Range<u32>) -> Result<Vec<Vec3>, DatasetError>;

    /// Velocities of a garment [m/s], frame after frame.
    ///
    /// # Errors
    /// As [`cloth`](Self::cloth).
    fn velocity(&self, garment: usize, frames: Range<u32>) -> Result<Vec<Vec3>, DatasetError>;

    /// Whether each vertex of a garment is where the body enters itself, frame
    /// after frame.
    ///
    /// # Errors
    /// As [`cloth`](Self::cloth), and when a value is neither 0 nor 1.
    fn masked(&self, garment: usize, frames: Range<u32>) -> Result<Vec<bool>, DatasetError>;

    /// Poses of the body.
    ///
    /// # Errors
    /// As [`cloth`](Self::cloth), and when a rotation is not of unit length.
    fn poses(&self, frames: Range<u32>) -> Result<Vec<Pose>, DatasetError>;

    /// What to beware of in each frame.
    ///
    /// # Errors
    /// When the frames are not there or can't be read, or a bit has no name.
    fn flags(&self, frames: Range<u32>) -> Result<Vec<FrameBits>, DatasetError>;
}
