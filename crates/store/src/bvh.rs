//! BVH motion files: a tree of joints with offsets and channels, and one row
//! of numbers a frame.
//!
//! The reader returns the file as it stands: offsets and positions in the
//! file's own unit and axes, rotations in degrees, joint names as written
//! (spaces, colons and repetitions included). What they mean is decided in
//! `drapery-scene`.
//!
//! It takes any channel order and number, tabs, carriage returns and blank
//! lines, keywords in any case, a brace on the same line as its joint. It
//! refuses what it cannot vouch for, and every error names the line. It never
//! allocates by a number that the file declares, and deep nesting costs no
//! stack.
//!
//! ```
//! let text = "HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 1 Yrotation\n}\n\
//!             MOTION\nFrames: 2\nFrame Time: 0.5\n10\n2e1\n";
//! let file = drapery_store::bvh::read(text.as_bytes())?;
//! assert_eq!(file.joints[0].name, "Hips");
//! assert_eq!(file.row(1), [20.0]);
//! # Ok::<(), drapery_store::bvh::BvhError>(())
//! ```

mod error;
mod lines;
mod read;
mod write;

use drapery_core::Skeleton;
use glam::DVec3;

pub use error::{BvhError, BvhWriteError};
pub use read::read;
pub use write::write;

/// The deepest nesting and the largest number of joints that a file may have:
/// those of a skeleton.
pub const MAX_JOINTS: usize = Skeleton::MAX_JOINTS;

/// One number of a row: which coordinate of its joint it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Position along the file's x axis.
    XPosition,
    /// Position along the file's y axis.
    YPosition,
    /// Position along the file's z axis.
    ZPosition,
    /// Rotation about x [degrees].
    XRotation,
    /// Rotation about y [degrees].
    YRotation,
    /// Rotation about z [degrees].
    ZRotation,
}

impl Channel {
    /// All six.
    pub const ALL: [Self; 6] = [
        Self::XPosition,
        Self::YPosition,
        Self::ZPosition,
        Self::XRotation,
        Self::YRotation,
        Self::ZRotation,
    ];

    /// The word for it in a file, such as `Xposition`.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::XPosition => "Xposition",
            Self::YPosition => "Yposition",
            Self::ZPosition => "Zposition",
            Self::XRotation => "Xrotation",
            Self::YRotation => "Yrotation",
            Self::ZRotation => "Zrotation",
        }
    }

    /// 0, 1 or 2 for x, y or z.
    pub const fn axis(self) -> usize {
        match self {
            Self::XPosition | Self::XRotation => 0,
            Self::YPosition | Self::YRotation => 1,
            Self::ZPosition | Self::ZRotation => 2,
        }
    }

    /// Whether it is a position; otherwise it is a rotation.
    pub const fn is_position(self) -> bool {
        matches!(self, Self::XPosition | Self::YPosition | Self::ZPosition)
    }
}

/// A joint as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct BvhJoint {
    /// Its name as written; not necessarily unique.
    pub name: String,
    /// Its parent, which comes before it; only the first joint has none.
    pub parent: Option<u32>,
    /// Where it is relative to its parent with no rotation [file unit].
    pub offset: DVec3,
    /// Its numbers in a row, in the order in which its rotations are composed.
    pub channels: Vec<Channel>,
    /// The tip of its bone relative to the joint [file unit].
    pub end_site: Option<DVec3>,
}

/// A BVH file.
#[derive(Clone, Debug, PartialEq)]
pub struct BvhFile {
    /// Joints in the file's order: depth first, the root first.
    pub joints: Vec<BvhJoint>,
    /// Time between two rows [s].
    pub frame_time: f64,
    /// Channel values, shape [row, channel], all joints' channels in order.
    pub values: Vec<f64>,
}

impl BvhFile {
    /// How many numbers a row has.
    pub fn n_channels(&self) -> usize {
        self.joints.iter().map(|joint| joint.channels.len()).sum()
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.n_channels().max(1)
    }

    /// The numbers of one row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        let n = self.n_channels();
        &self.values[row * n..(row + 1) * n]
    }
}
