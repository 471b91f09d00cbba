//! What the writers of scenes share: a skinned body, garments whose motion is baked, and
//! why they cannot be written.

use std::io;

use drapery_core::{Pose, Skeleton, SkinWeights, Topology};
use glam::{Quat, Vec3};

/// A skinned body and its motion.
#[derive(Clone, Debug)]
pub struct MovingBody<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its triangles.
    pub topology: &'a Topology,
    /// Rest vertices [m], shape [vertex].
    pub rest: &'a [Vec3],
    /// Names and parents of its joints.
    pub skeleton: &'a Skeleton,
    /// Rest positions of the joints [m], shape [joint].
    pub joints: &'a [Vec3],
    /// Which joints the vertices follow.
    pub skin: &'a SkinWeights,
    /// Its poses; at least one.
    pub frames: &'a [Pose],
    /// Linear colour, each part from 0 to 1.
    pub colour: [f32; 3],
}

/// A garment and its baked motion.
#[derive(Clone, Debug)]
pub struct MovingGarment<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its triangles.
    pub topology: &'a Topology,
    /// World positions [m], shape [frame][vertex]; at least one frame.
    pub frames: &'a [Vec<Vec3>],
    /// Linear colour, each part from 0 to 1.
    pub colour: [f32; 3],
}

/// Why a scene can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneWriteError {
    /// The bytes don't go out.
    #[error("the file cannot be written")]
    Io(#[from] io::Error),
    /// There is neither body nor garment.
    #[error("the scene has nothing in it")]
    Empty,
    /// Something has no vertices, triangles or frames.
    #[error("{name} has no {what}")]
    Nothing {
        /// What it is called.
        name: String,
        /// `vertices`, `triangles`, `frames` or, of a garment that is a sum, `shapes`.
        what: &'static str,
    },
    /// Two things move for different times.
    #[error("{name} has {found} frames, {other} has {expected}")]
    FrameCount {
        /// What it is called.
        name: String,
        /// How many frames it has.
        found: usize,
        /// The first thing of the scene.
        other: String,
        /// How many frames that has.
        expected: usize,
    },
    /// An array has another length than its companion.
    #[error("{name} frame {frame} has {found} {what}, expected {expected}")]
    Length {
        /// What it is called.
        name: String,
        /// The frame, 0 for what does not move.
        frame: usize,
        /// Which array.
        what: &'static str,
        /// How many entries it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A number is not finite.
    #[error("{name} frame {frame} has {what} that are not finite")]
    NotFinite {
        /// What it is called.
        name: String,
        /// The frame, 0 for what does not move.
        frame: usize,
        /// Which numbers.
        what: &'static str,
    },
    /// A rotation is not finite or not of unit length.
    #[error("{name} frame {frame} joint {joint} has a rotation that is not of unit length")]
    Rotation {
        /// What it is called.
        name: String,
        /// The frame.
        frame: usize,
        /// The joint.
        joint: usize,
    },
    /// A part of a colour is not between 0 and 1.
    #[error("{name} has a colour with a part that is not between 0 and 1")]
    Colour {
        /// What it is called.
        name: String,
    },
    /// A vertex follows a joint that is not there.
    #[error("{name} has skinning weights for joint {joint}, but only {n_joints} joints")]
    NoSuchJoint {
        /// What it is called.
        name: String,
        /// The joint.
        joint: u16,
        /// How many there are.
        n_joints: usize,
    },
}

impl MovingBody<'_> {
    /// That it is a body in a motion.
    pub(crate) fn check(&self) -> Result<(), SceneWriteError> {
        let name = self.name;
        let n_vertices = self.topology.n_vertices();
        let n_joints = self.skeleton.len();
        check_look(name, self.topology, self.colour)?;
        check_vectors(name, 0, "rest vertices", self.rest, n_vertices)?;
        check_vectors(name, 0, "joints", self.joints, n_joints)?;
        let n_rows = self.skin.n_vertices();
        check_length(name, 0, "rows of skinning weights", n_rows, n_vertices)?;
        if let Some(&joint) = self.skin.joints().iter().max()
            && usize::from(joint) >= n_joints
        {
            return Err(SceneWriteError::NoSuchJoint {
                name: name.to_owned(),
                joint,
                n_joints,
            });
        }
        for (frame, pose) in self.frames.iter().enumerate() {
            check_length(name, frame, "rotations", pose.rotations.len(), n_joints)?;
            check_vectors(name, frame, "root positions", &[pose.root], 1)?;
            if let Some(joint) = pose.rotations.iter().position(|q| !is_unit(q)) {
                return Err(SceneWriteError::Rotation {
                    name: name.to_owned(),
                    frame,
                    joint,
                });
            }
        }
        Ok(())
    }
}

impl MovingGarment<'_> {
    /// That it is a garment in a motion.
    pub(crate) fn check(&self) -> Result<(), SceneWriteError> {
        check_look(self.name, self.topology, self.colour)?;
        let n_vertices = self.topology.n_vertices();
        for (frame, positions) in self.frames.iter().enumerate() {
            check_vectors(self.name, frame, "vertices", positions, n_vertices)?;
        }
        Ok(())
    }
}

/// The number of frames, at least one, of things by name that all have as many.
pub(crate) fn check_counts(counts: &[(&str, usize)]) -> Result<usize, SceneWriteError> {
    let &(other, expected) = counts.first().ok_or(SceneWriteError::Empty)?;
    for &(name, found) in counts {
        if found == 0 {
            return Err(nothing(name, "frames"));
        }
        if found != expected {
            return Err(SceneWriteError::FrameCount {
                name: name.to_owned(),
                found,
                other: other.to_owned(),
                expected,
            });
        }
    }
    Ok(expected)
}

pub(crate) fn nothing(name: &str, what: &'static str) -> SceneWriteError {
    SceneWriteError::Nothing {
        name: name.to_owned(),
        what,
    }
}

/// Whether a rotation is one.
pub(crate) fn is_unit(q: &Quat) -> bool {
    (q.length() - 1.0).abs() <= Pose::UNIT_TOLERANCE
}

/// That there is something to see, in a colour.
pub(crate) fn check_look(
    name: &str,
    topology: &Topology,
    colour: [f32; 3],
) -> Result<(), SceneWriteError> {
    if topology.n_vertices() == 0 {
        return Err(nothing(name, "vertices"));
    }
    if topology.triangles().is_empty() {
        return Err(nothing(name, "triangles"));
    }
    if colour.iter().all(|c| (0.0..=1.0).contains(c)) {
        return Ok(());
    }
    Err(SceneWriteError::Colour {
        name: name.to_owned(),
    })
}

/// That there are as many as expected, all finite.
pub(crate) fn check_vectors(
    name: &str,
    frame: usize,
    what: &'static str,
    vectors: &[Vec3],
    expected: usize,
) -> Result<(), SceneWriteError> {
    check_length(name, frame, what, vectors.len(), expected)?;
    if vectors.iter().all(|v| v.is_finite()) {
        return Ok(());
    }
    Err(SceneWriteError::NotFinite {
        name: name.to_owned(),
        frame,
        what,
    })
}

pub(crate) fn check_length(
    name: &str,
    frame: usize,
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), SceneWriteError> {
    if found == expected {
        return Ok(());
    }
    Err(SceneWriteError::Length {
        name: name.to_owned(),
        frame,
        what,
        found,
        expected,
    })
}
