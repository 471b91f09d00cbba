//! Clips as NumPy archives, without loss: [`write_clip_npz`] and
//! [`clip_from_npz`].
//!
//! | array         | shape       | kind | meaning                                   |
//! |---------------|-------------|------|-------------------------------------------|
//! | `rotations`   | frame×joint×4 | f32 | local rotations, w x y z, unit length    |
//! | `root`        | frame×3     | f32  | root position [m]                         |
//! | `joint_names` | joint       | text | unique names                              |
//! | `parents`     | joint       | i64  | index of the parent, −1 for the first     |
//! | `rest`        | joint×3     | f32  | rest positions [m], identity orientation  |
//! | `frame_rate`  | one         | f64  | frames a second                           |
//! | `name`        | one         | text | what the clip is called                   |

use drapery_core::{
    Clip, ClipError, FrameRate, FrameRateError, JointId, Pose, Skeleton, SkeletonError,
};
use drapery_store::npz::{NpyArray, NpyData, NpzArchive, NpzError, write_npz};
use glam::{Quat, Vec3};

/// Why an archive holds no clip.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClipNpzError {
    /// An array is missing or damaged.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// An array has another shape than a clip's has.
    #[error("array {array} has shape {found:?}, expected {expected}")]
    Shape {
        /// The array.
        array: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be.
        expected: &'static str,
    },
    /// Names are not text.
    #[error("array {array} holds no text")]
    NotText {
        /// The array.
        array: &'static str,
    },
    /// A parent is no joint.
    #[error("joint {joint} has parent {parent}, which is no joint")]
    Parent {
        /// The joint's index.
        joint: usize,
        /// What stands for its parent.
        parent: i64,
    },
    /// The frame rate is no sensible one.
    #[error(transparent)]
    FrameRate(#[from] FrameRateError),
    /// The joints make no skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The frames make no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

/// The bytes of an archive from which [`clip_from_npz`] makes the same clip,
/// to the last bit.
pub fn write_clip_npz(clip: &Clip) -> Vec<u8> {
    let skeleton = clip.skeleton();
    let (n_frames, n_joints) = (clip.frames().len(), skeleton.len());
    let rotations = (clip.frames().iter())
        .flat_map(|pose| pose.rotations.iter().flat_map(|q| [q.w, q.x, q.y, q.z]))
        .collect();
    let root = (clip.frames().iter())
        .flat_map(|pose| pose.root.to_array())
        .collect();
    let parents = (skeleton.parents().iter())
        .map(|parent| parent.map_or(-1, |p| i64::from(p.0)))
        .collect();
    let rest = skeleton.rest().iter().flat_map(Vec3::to_array).collect();
    write_npz(&[
        (
            "rotations",
            &NpyArray::f32([n_frames, n_joints, 4], rotations),
        ),
        ("root", &NpyArray::f32([n_frames, 3], root)),
        (
            "joint_names",
            &NpyArray::from_text([n_joints], skeleton.names().to_vec()),
        ),
        ("parents", &NpyArray::i64([n_joints], parents)),
        ("rest", &NpyArray::f32([n_joints, 3], rest)),
        (
            "frame_rate",
            &NpyArray::f64([], vec![clip.frame_rate().hz()]),
        ),
        (
            "name",
            &NpyArray::from_text([], vec![clip.name().to_string()]),
        ),
    ])
    .expect("the names are short and different")
}

/// The clip in an archive; without an array `name` it is called `clip`.
///
/// # Errors
/// When an array is missing or does not fit the others, or what they hold is
/// no clip.
pub fn clip_from_npz(archive: &NpzArchive) -> Result<Clip, ClipNpzError> {
    let names = text(archive, "joint_names")?;
    let n_joints = names.len();
    let (shape, parents) = archive.i64("parents")?;
    expect_shape("parents", &shape, &[n_joints], "[joint]")?;
    let parents = (parents.iter().enumerate())
        .map(|(joint, &parent)| match u16::try_from(parent) {
            Ok(parent) => Ok(Some(JointId(parent))),
            Err(_) if parent == -1 => Ok(None),
            Err(_) => Err(ClipNpzError::Parent { joint, parent }),
        })
        .collect::<Result<_, _>>()?;
    let (shape, rest) = archive.f32("rest")?;
    expect_shape("rest", &shape, &[n_joints, 3], "[joint, 3]")?;
    let skeleton = Skeleton::new(names, parents, vectors(&rest))?;

    let (shape, root) = archive.f32("root")?;
    let n_frames = shape.first().copied().unwrap_or(0);
    expect_shape("root", &shape, &[n_frames, 3], "[frame, 3]")?;
    let (shape, rotations) = archive.f32("rotations")?;
    expect_shape(
        "rotations",
        &shape,
        &[n_frames, n_joints, 4],
        "[frame, joint, 4], frames as in root",
    )?;
    let (shape, rate) = archive.f64("frame_rate")?;
    let [rate] = rate[..] else {
        return Err(ClipNpzError::Shape {
            array: "frame_rate",
            found: shape,
            expected: "a single number",
        });
    };
    let frames = (vectors(&root).into_iter())
        .zip(rotations.chunks_exact(4 * n_joints))
        .map(|(root, rotations)| Pose {
            root,
            rotations: (rotations.chunks_exact(4))
                .map(|q| Quat::from_xyzw(q[1], q[2], q[3], q[0]))
                .collect(),
        })
        .collect();
    let name = match archive.contains("name") {
        true => text(archive, "name")?.into_iter().next(),
        false => None,
    };
    Ok(Clip::new(
        name.unwrap_or_else(|| "clip".to_string()),
        skeleton,
        FrameRate::new(rate)?,
        frames,
    )?)
}

fn text(archive: &NpzArchive, array: &'static str) -> Result<Vec<String>, ClipNpzError> {
    match archive.get(array)?.data {
        NpyData::Text(text) => Ok(text),
        _ => Err(ClipNpzError::NotText { array }),
    }
}

fn expect_shape(
    array: &'static str,
    found: &[usize],
    wanted: &[usize],
    expected: &'static str,
) -> Result<(), ClipNpzError> {
    if found == wanted {
        return Ok(());
    }
    Err(ClipNpzError::Shape {
        array,
        found: found.to_vec(),
        expected,
    })
}

fn vectors(numbers: &[f32]) -> Vec<Vec3> {
    numbers.chunks_exact(3).map(Vec3::from_slice).collect()
}

#[cfg(test)]
mod tests {
    use super::super::edit::test_clip::walk;
    use super::*;

    #[test]
    fn a_clip_comes_back_to_the_last_bit() {
        let clip = walk(20).renamed("Gehen – schnell");
        let bytes = write_clip_npz(&clip);
        let archive = NpzArchive::from_bytes(&bytes).unwrap();
        assert_eq!(clip_from_npz(&archive).unwrap(), clip);
        assert_eq!(write_clip_npz(&clip), bytes);
    }

    #[test]
    fn archives_that_hold_no_clip_are_refused() {
        let clip = walk(3);
        let good = NpzArchive::from_bytes(&write_clip_npz(&clip)).unwrap();
        let with = |name: &str, replaced: Option<NpyArray>| {
            let arrays: Vec<(String, NpyArray)> = (good.names())
                .filter_map(|n| match n == name {
                    true => Some((n.to_string(), replaced.clone()?)),
                    false => Some((n.to_string(), good.get(n).unwrap())),
                })
                .collect();
            let arrays: Vec<(&str, &NpyArray)> =
                arrays.iter().map(|(n, a)| (n.as_str(), a)).collect();
            clip_from_npz(&NpzArchive::from_bytes(&write_npz(&arrays).unwrap()).unwrap())
        };
        for name in [
            "rotations",
            "root",
            "joint_names",
            "parents",
            "rest",
            "frame_rate",
        ] {
            assert!(
                matches!(
                    with(name, None),
                    Err(ClipNpzError::Npz(NpzError::Missing { .. }))
                ),
                "{name}"
            );
            let wrong = with(name, Some(NpyArray::f32([7, 5], vec![0.0; 35])));
            assert!(
                matches!(
                    wrong,
                    Err(ClipNpzError::Shape { .. } | ClipNpzError::NotText { .. })
                ),
                "{name}"
            );
        }
        assert_eq!(with("name", None).unwrap().name(), "clip");
        let i64s = |values: [i64; 6]| Some(NpyArray::i64([6], values.to_vec()));
        assert!(matches!(
            with("parents", i64s([-1, 0, 0, 0, 3, 70_000])),
            Err(ClipNpzError::Parent {
                joint: 5,
                parent: 70_000
            })
        ));
        assert!(matches!(
            with("parents", i64s([-1, 0, 2, 0, 3, 3])),
            Err(ClipNpzError::Skeleton(SkeletonError::Order {
                joint: 2,
                ..
            }))
        ));
        assert!(matches!(
            with("rotations", Some(NpyArray::f32([3, 6, 4], vec![0.0; 72]))),
            Err(ClipNpzError::Clip(ClipError::NotFinite { frame: 0 }))
        ));
        assert!(matches!(
            with("frame_rate", Some(NpyArray::f64([], vec![0.0]))),
            Err(ClipNpzError::FrameRate(_))
        ));
    }
}
