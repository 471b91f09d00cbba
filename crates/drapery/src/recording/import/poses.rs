//! The motion in an archive that has cloth too: [`archive_motion`].
//!
//! | array | shape | |
//! |---|---|---|
//! | `pose` or `poses` | [frame, joint, 4] | relative to the parent, w x y z |
//! | | [frame, 3·joint] or [frame, joint, 3] | axis–angle |
//! | `root` | [frame, 3] | world position of the root joint |
//! | `trans` or `transl` | [frame, 3] | that less its position at rest |
//! | `shape`, `shapes` or `betas` | [k], [1, k] or [frame, k] | shape coefficients, alike in all frames |

use drapery_core::{Pose, Skeleton};
use drapery_store::npz::{NpyArray, NpzError, NpzFile};
use glam::{Quat, Vec3};

use super::ClothSpace;

/// Poses and a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchiveMotion {
    /// Rotations of the joints relative to their parents, in the file's axes,
    /// shape [frame][joint].
    rotations: Vec<Vec<Quat>>,
    root: Vec<Vec3>,
    is_relative: bool,
    /// Shape coefficients, if there are any.
    pub shape: Option<Vec<f32>>,
}

/// Why an archive has no motion of a skeleton.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveMotionError {
    /// An array can't be read.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// None of these arrays is there.
    #[error("there is none of the arrays {names}; there are {}", present.join(", "))]
    Missing {
        /// What was looked for.
        names: &'static str,
        /// What there is.
        present: Vec<String>,
    },
    /// An array of another shape.
    #[error("array {array} has shape {found:?}, expected {expected} with {n_joints} joints")]
    Shape {
        /// Which array.
        array: String,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be.
        expected: &'static str,
        /// Joints of the character.
        n_joints: usize,
    },
    /// A rotation that is none.
    #[error("frame {frame}: the rotation of joint {joint} has length {length}, expected 1")]
    Rotation {
        /// Which frame.
        frame: usize,
        /// Which joint.
        joint: usize,
        /// Its length.
        length: f32,
    },
    /// The shape changes from frame to frame.
    #[error("frame {frame} has another body shape than frame 0")]
    ShapeChanges {
        /// Which frame.
        frame: usize,
    },
}

/// The motion of a skeleton in an archive.
///
/// # Errors
/// When there is none, or it does not fit.
pub fn archive_motion(
    file: &NpzFile,
    skeleton: &Skeleton,
) -> Result<ArchiveMotion, ArchiveMotionError> {
    let n_joints = skeleton.len();
    let (name, array) = first_of(file, &["pose", "poses"], "pose, poses")?;
    let wrong = |array: &str, found: &[usize], expected| ArchiveMotionError::Shape {
        array: array.to_string(),
        found: found.to_vec(),
        expected,
        n_joints,
    };
    let shape = array.shape.clone();
    let is_quaternion = shape.len() == 3 && shape[2] == 4;
    let fits = match shape[..] {
        [_, joints, 3 | 4] => joints == n_joints,
        [_, numbers] => numbers == 3 * n_joints,
        _ => false,
    };
    if !fits {
        let expected = "[frame, joint, 4], [frame, joint, 3] or [frame, 3·joint]";
        return Err(wrong(name, &shape, expected));
    }
    let n_frames = shape[0];
    let values = array.into_f32().map_err(NpzError::from)?;
    let mut rotations = Vec::with_capacity(n_frames);
    for frame in 0..n_frames {
        let rotation = |joint: usize| {
            let at = frame * n_joints + joint;
            if !is_quaternion {
                return Ok(Quat::from_scaled_axis(Vec3::from_slice(&values[3 * at..])));
            }
            let q = &values[4 * at..4 * at + 4];
            let q = Quat::from_xyzw(q[1], q[2], q[3], q[0]);
            let length = q.length();
            match (length - 1.0).abs() <= Pose::UNIT_TOLERANCE {
                true => Ok(q),
                false => Err(ArchiveMotionError::Rotation {
                    frame,
                    joint,
                    length,
                }),
            }
        };
        rotations.push((0..n_joints).map(rotation).collect::<Result<Vec<_>, _>>()?);
    }
    let roots = ["root", "trans", "transl"];
    let (name, array) = first_of(file, &roots, "root, trans, transl")?;
    if array.shape != [n_frames, 3] {
        let expected = "[frame, 3], frames as in the poses";
        return Err(wrong(name, &array.shape, expected));
    }
    let values = array.into_f32().map_err(NpzError::from)?;
    let root = values.as_chunks::<3>().0.iter();
    Ok(ArchiveMotion {
        rotations,
        root: root.map(|p| Vec3::from_array(*p)).collect(),
        is_relative: name != "root",
        shape: shape_of(file, n_joints)?,
    })
}

impl ArchiveMotion {
    /// How many frames it has.
    pub const fn n_frames(&self) -> usize {
        self.rotations.len()
    }

    /// Its poses in metres, +Y up, of a body whose root joint is at `rest` [m].
    pub fn poses(&self, space: ClothSpace, rest: Vec3) -> Vec<Pose> {
        let turn = space.turn();
        let frames = self.rotations.iter().zip(&self.root);
        let pose = |(rotations, root): (&Vec<Quat>, &Vec3)| {
            let mut rotations = rotations.clone();
            if turn != Quat::IDENTITY {
                rotations[0] = (turn * rotations[0]).normalize();
            }
            let root = match self.is_relative {
                // The body is in metres and stands up at rest, whatever the file.
                true => space.world(*root) + turn * rest,
                false => space.world(*root),
            };
            Pose { root, rotations }
        };
        frames.map(pose).collect()
    }
}

fn first_of(
    file: &NpzFile,
    names: &[&'static str],
    said: &'static str,
) -> Result<(&'static str, NpyArray), ArchiveMotionError> {
    match names.iter().find(|name| file.contains(name)) {
        Some(name) => Ok((name, file.get(name)?)),
        None => Err(ArchiveMotionError::Missing {
            names: said,
            present: file.names().map(str::to_string).collect(),
        }),
    }
}

fn shape_of(file: &NpzFile, n_joints: usize) -> Result<Option<Vec<f32>>, ArchiveMotionError> {
    let names = ["shape", "shapes", "betas"];
    let Some(name) = names.into_iter().find(|name| file.contains(name)) else {
        return Ok(None);
    };
    let array = file.get(name)?;
    let shape = array.shape.clone();
    let values = array.into_f32().map_err(NpzError::from)?;
    let (rows, k) = match shape[..] {
        [k] => (1, k),
        [rows, k] if rows > 0 => (rows, k),
        _ => {
            return Err(ArchiveMotionError::Shape {
                array: name.to_string(),
                found: shape,
                expected: "[k] or [frame, k]",
                n_joints,
            });
        }
    };
    let first = values[..k].to_vec();
    let other = (0..rows).find(|row| values[row * k..(row + 1) * k] != first[..]);
    match other {
        Some(frame) => Err(ArchiveMotionError::ShapeChanges { frame }),
        None => Ok(Some(first)),
    }
}
