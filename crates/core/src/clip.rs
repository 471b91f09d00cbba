//! A motion: [`Clip`], poses of one skeleton at a frame rate.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{FrameRate, Pose, Seconds, Skeleton};

/// Poses of a skeleton at a frame rate; at least one, all finite, rotations
/// of unit length.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    name: String,
    skeleton: Skeleton,
    frame_rate: FrameRate,
    frames: Vec<Pose>,
}

/// Why poses don't make a [`Clip`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClipError {
    /// There is no frame.
    #[error("the clip has no frames")]
    Empty,
    /// A pose has another number of joints than the skeleton.
    #[error("frame {frame} has {found} joint rotations, the skeleton has {expected} joints")]
    Joints {
        /// The frame's index.
        frame: usize,
        /// How many rotations it has.
        found: usize,
        /// How many joints there are.
        expected: usize,
    },
    /// A pose holds a number that is not finite, or a rotation of no length.
    #[error("frame {frame} has a value that is not finite or not a rotation")]
    NotFinite {
        /// The frame's index.
        frame: usize,
    },
}

impl Clip {
    /// A clip; rotations are normalised.
    ///
    /// # Errors
    /// When there is no frame, or a pose does not fit the skeleton or is not finite.
    pub fn new(
        name: String,
        skeleton: Skeleton,
        frame_rate: FrameRate,
        mut frames: Vec<Pose>,
    ) -> Result<Self, ClipError> {
        if frames.is_empty() {
            return Err(ClipError::Empty);
        }
        for (frame, pose) in frames.iter_mut().enumerate() {
            if pose.rotations.len() != skeleton.len() {
                return Err(ClipError::Joints {
                    frame,
                    found: pose.rotations.len(),
                    expected: skeleton.len(),
                });
            }
            if !pose.root.is_finite() || pose.root.abs().max_element() > 1e6 {
                return Err(ClipError::NotFinite { frame });
            }
            for rotation in &mut pose.rotations {
                let length = rotation.length();
                if !length.is_finite() || length < 1e-6 {
                    return Err(ClipError::NotFinite { frame });
                }
                // What is of unit length already keeps its bits, so that a
                // clip can be taken apart and put together again unchanged.
                if (length - 1.0).abs() > 4.0 * f32::EPSILON {
                    *rotation /= length;
                }
            }
        }
        Ok(Self {
            name,
            skeleton,
            frame_rate,
            frames,
        })
    }

    /// What the clip is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same clip under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Whose motion it is.
    pub const fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Frames a second.
    pub const fn frame_rate(&self) -> FrameRate {
        self.frame_rate
    }

    /// The poses.
    pub fn frames(&self) -> &[Pose] {
        &self.frames
    }

    /// From the first frame to the last.
    pub fn duration(&self) -> Seconds {
        Seconds((self.frames.len() - 1) as f64 / self.frame_rate.hz())
    }
}
