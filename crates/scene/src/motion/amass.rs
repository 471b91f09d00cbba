//! [`clip_from_amass`]: motions in the layout of the AMASS collection.
//!
//! Read are `poses` [frame, 3·joints], rotation vectors of a skeleton of the
//! SMPL family in its order, or their parts `root_orient` [frame, 3] and
//! `pose_body` [frame, 63]; `trans` [frame, 3] in metres; and the frame rate.
//! Finger joints, shape coefficients and everything else are left out.
//!
//! The rest pose is a T-pose that faces +Z with +Y up; the world of the
//! collection has +Z up and is turned. Other files in its layout have +Y up:
//! which it is, is found from where the pelvis points, on average.
//!
//! The files have no skeleton, and where the pelvis is relative to `trans`
//! depends on a body model that is not here. The clip gets a nominal skeleton
//! from anthropometric tables with the pelvis at `trans`; put on a character's own
//! skeleton and on the ground, the difference is a shift of the whole motion.

use drapery_core::{
    Clip, ClipError, FrameRate, FrameRateError, JointId, Pose, Skeleton, SkeletonError,
};
use drapery_store::npz::{NpzArchive, NpzError};
use glam::{DQuat, DVec3, Quat, Vec3};

use super::rotation::exp;
use super::{Axis, Calibration, LengthUnit, MotionNote, MotionReading};

/// Why an archive is no motion in this layout.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AmassError {
    /// An array is missing or damaged.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// An array has the wrong shape.
    #[error("array {array} has shape {found:?}, expected {expected}")]
    Shape {
        /// The array.
        array: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be.
        expected: &'static str,
    },
    /// There is no frame rate.
    #[error("there is no frame rate: none of {NAMES_OF_RATE:?}")]
    NoFrameRate,
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

const NAMES_OF_RATE: [&str; 4] = ["mocap_framerate", "mocap_frame_rate", "framerate", "fps"];

/// Joints of the body that all models of the family share, in order.
const N_BODY: usize = 22;

/// Stature of the nominal skeleton [m].
const STATURE: f32 = 1.7;

/// Name, parent and T-pose position of each joint, as shares of stature.
///
/// Heights and lengths along the body (ankle 0.039, knee 0.285, hip 0.530,
/// shoulder 0.818, upper arm 0.186, forearm 0.146, hand 0.108, foot 0.152, and
/// half the shoulder breadth 0.1295) are those of Drillis and Contini, "Body
/// Segment Parameters", 1966, as given in Winter, "Biomechanics and Motor
/// Control of Human Movement", Fig. 4.1. Half the distance of the hip joints
/// is 0.36 of the distance of the hip bones' front spines (Bell, Pedersen and
/// Brand, 1990), taken as 0.14 of stature. What those do not give is ours: the
/// spine is divided evenly between pelvis and shoulders, the collar bones
/// begin at 0.02 beside the middle, the ball of the foot is 0.45 of the foot
/// before the ankle, the hand joint is in the middle of the hand.
const JOINTS: [(&str, Option<u16>, [f32; 3]); 24] = [
    ("pelvis", None, [0.0, 0.55, 0.0]),
    ("left_hip", Some(0), [0.05, 0.53, 0.0]),
    ("right_hip", Some(0), [-0.05, 0.53, 0.0]),
    ("spine1", Some(0), [0.0, 0.617, 0.0]),
    ("left_knee", Some(1), [0.05, 0.285, 0.0]),
    ("right_knee", Some(2), [-0.05, 0.285, 0.0]),
    ("spine2", Some(3), [0.0, 0.684, 0.0]),
    ("left_ankle", Some(4), [0.05, 0.039, 0.0]),
    ("right_ankle", Some(5), [-0.05, 0.039, 0.0]),
    ("spine3", Some(6), [0.0, 0.751, 0.0]),
    ("left_foot", Some(7), [0.05, 0.012, 0.068]),
    ("right_foot", Some(8), [-0.05, 0.012, 0.068]),
    ("neck", Some(9), [0.0, 0.83, 0.0]),
    ("left_collar", Some(9), [0.02, 0.8, 0.0]),
    ("right_collar", Some(9), [-0.02, 0.8, 0.0]),
    ("head", Some(12), [0.0, 0.9, 0.0]),
    ("left_shoulder", Some(13), [0.1295, 0.818, 0.0]),
    ("right_shoulder", Some(14), [-0.1295, 0.818, 0.0]),
    ("left_elbow", Some(16), [0.3155, 0.818, 0.0]),
    ("right_elbow", Some(17), [-0.3155, 0.818, 0.0]),
    ("left_wrist", Some(18), [0.4615, 0.818, 0.0]),
    ("right_wrist", Some(19), [-0.4615, 0.818, 0.0]),
    ("left_hand", Some(20), [0.5155, 0.818, 0.0]),
    ("right_hand", Some(21), [-0.5155, 0.818, 0.0]),
];

/// The motion of an archive in AMASS's layout under the given name.
///
/// # Errors
/// When poses, translations or the frame rate are missing, have shapes that do
/// not fit, or are not finite.
pub fn clip_from_amass(archive: &NpzArchive, name: &str) -> Result<MotionReading, AmassError> {
    let poses = Poses::read(archive)?;
    let (shape, trans) = archive.f64("trans")?;
    if shape != [poses.n_frames, 3] {
        return Err(AmassError::Shape {
            array: "trans",
            found: shape,
            expected: "[frame, 3], frames as in poses",
        });
    }
    let mut notes = vec![MotionNote::PelvisOffsetUnknown];
    if poses.dropped > 0 {
        notes.push(MotionNote::HandsAndFaceDropped {
            joints: poses.dropped,
        });
    }
    let up = poses.up();
    let turn = DQuat::from_rotation_arc(up.vector(), DVec3::Y);
    let frames = (0..poses.n_frames)
        .map(|frame| {
            let mut rotations: Vec<Quat> = (0..JOINTS.len())
                .map(|joint| poses.rotation(frame, joint).as_quat())
                .collect();
            rotations[0] = (turn * poses.rotation(frame, 0)).normalize().as_quat();
            Pose {
                root: (turn * DVec3::from_slice(&trans[3 * frame..])).as_vec3(),
                rotations,
            }
        })
        .collect();
    Ok(MotionReading {
        clip: Clip::new(
            name.to_string(),
            nominal_skeleton()?,
            frame_rate(archive)?,
            frames,
        )?,
        unit: LengthUnit::Metre,
        unit_m: 1.0,
        up,
        facing: Axis::PlusZ,
        calibration: Calibration::Offsets,
        first_row: 0,
        notes,
    })
}

/// A person of 1.7 m in a T-pose, with the names and tree of SMPL's 24 joints
/// and proportions from anthropometric tables.
fn nominal_skeleton() -> Result<Skeleton, SkeletonError> {
    Skeleton::new(
        JOINTS.iter().map(|j| j.0.to_string()).collect(),
        JOINTS.iter().map(|j| j.1.map(JointId)).collect(),
        JOINTS
            .iter()
            .map(|j| STATURE * Vec3::from_array(j.2))
            .collect(),
    )
}

/// Rotation vectors of the joints that are used.
struct Poses {
    n_frames: usize,
    /// Numbers a frame.
    stride: usize,
    /// How many joints are there of ours.
    n_used: usize,
    /// How many joints are left out.
    dropped: usize,
    values: Vec<f64>,
}

impl Poses {
    fn read(archive: &NpzArchive) -> Result<Self, AmassError> {
        if !archive.contains("poses") && archive.contains("root_orient") {
            return Self::from_parts(archive);
        }
        let (shape, values) = archive.f64("poses")?;
        let (n_frames, stride) = match shape[..] {
            [frames, numbers] if numbers >= 3 * N_BODY && numbers.is_multiple_of(3) => {
                (frames, numbers)
            }
            _ => {
                return Err(AmassError::Shape {
                    array: "poses",
                    found: shape,
                    expected: "[frame, 66, 72, 156 or 165]",
                });
            }
        };
        // SMPL itself goes on with two hands, its successors with jaws, eyes
        // and fingers.
        let n_used = if stride == 3 * JOINTS.len() {
            JOINTS.len()
        } else {
            N_BODY
        };
        Ok(Self {
            n_frames,
            stride,
            n_used,
            dropped: stride / 3 - n_used,
            values,
        })
    }

    fn from_parts(archive: &NpzArchive) -> Result<Self, AmassError> {
        let (shape, root) = archive.f64("root_orient")?;
        let n_frames = match shape[..] {
            [frames, 3] => frames,
            _ => {
                return Err(AmassError::Shape {
                    array: "root_orient",
                    found: shape,
                    expected: "[frame, 3]",
                });
            }
        };
        let (shape, body) = archive.f64("pose_body")?;
        if shape != [n_frames, 3 * (N_BODY - 1)] {
            return Err(AmassError::Shape {
                array: "pose_body",
                found: shape,
                expected: "[frame, 63], frames as in root_orient",
            });
        }
        let dropped = match archive.contains("pose_hand") {
            true => archive.get("pose_hand")?.shape.last().copied().unwrap_or(0) / 3,
            false => 0,
        };
        let values = (root.chunks_exact(3))
            .zip(body.chunks_exact(3 * (N_BODY - 1)))
            .flat_map(|(root, body)| root.iter().chain(body).copied())
            .collect();
        Ok(Self {
            n_frames,
            stride: 3 * N_BODY,
            n_used: N_BODY,
            dropped,
            values,
        })
    }

    fn rotation(&self, frame: usize, joint: usize) -> DQuat {
        if joint >= self.n_used {
            return DQuat::IDENTITY;
        }
        exp(DVec3::from_slice(
            &self.values[frame * self.stride + 3 * joint..],
        ))
    }

    /// The axis along which the pelvis stands, on average: +Z or +Y.
    fn up(&self) -> Axis {
        let stride = (self.n_frames / 100).max(1);
        let mean: DVec3 = (0..self.n_frames)
            .step_by(stride)
            .map(|frame| self.rotation(frame, 0) * DVec3::Y)
            .sum();
        if mean.y > mean.z {
            Axis::PlusY
        } else {
            Axis::PlusZ
        }
    }
}

fn frame_rate(archive: &NpzArchive) -> Result<FrameRate, AmassError> {
    for array in NAMES_OF_RATE {
        if archive.contains(array) {
            let (found, rate) = archive.f64(array)?;
            return match rate[..] {
                [rate] => Ok(FrameRate::new(rate)?),
                _ => Err(AmassError::Shape {
                    array,
                    found,
                    expected: "a single number",
                }),
            };
        }
    }
    Err(AmassError::NoFrameRate)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use drapery_store::npz::{NpyArray, write_npz};

    use super::super::rotation::wide;
    use super::*;

    fn archive(arrays: &[(&str, NpyArray)]) -> NpzArchive {
        let arrays: Vec<(&str, &NpyArray)> = arrays.iter().map(|(n, a)| (*n, a)).collect();
        NpzArchive::from_bytes(&write_npz(&arrays).unwrap()).unwrap()
    }

    /// Four frames of someone who walks along the world's −Y, which is
    /// forward for a body turned upright about X, and bends the left knee.
    fn arrays(columns: usize, stands: DVec3) -> Vec<(&'static str, NpyArray)> {
        let mut poses = vec![0.0; 4 * columns];
        let mut trans = Vec::new();
        for frame in 0..4 {
            let row = &mut poses[frame * columns..][..columns];
            row[..3].copy_from_slice(&stands.to_array());
            row[12] = 0.1 * frame as f64;
            trans.extend([0.2, -0.5 * frame as f64, 0.9]);
        }
        vec![
            ("poses", NpyArray::f64([4, columns], poses)),
            ("trans", NpyArray::f64([4, 3], trans)),
            ("mocap_framerate", NpyArray::f64([], vec![120.0])),
            ("betas", NpyArray::f64([16], vec![0.0; 16])),
        ]
    }

    #[test]
    fn every_size_of_the_family_is_turned_upright() {
        for (columns, dropped) in [(66, 0), (72, 0), (156, 30), (165, 33)] {
            let arrays = arrays(columns, DVec3::X * FRAC_PI_2);
            let reading = clip_from_amass(&archive(&arrays), "walk").unwrap();
            assert_eq!(reading.up, Axis::PlusZ);
            assert_eq!(
                reading.notes.iter().any(
                    |note| matches!(note, MotionNote::HandsAndFaceDropped { joints } if *joints == dropped)
                ),
                dropped > 0
            );
            let clip = &reading.clip;
            assert_eq!(clip.frame_rate().hz(), 120.0);
            assert_eq!(clip.frames().len(), 4);
            let last = &clip.frames()[3];
            assert!(
                last.root.abs_diff_eq(Vec3::new(0.2, 0.9, 1.5), 1e-6),
                "{}",
                last.root
            );
            assert!(last.rotations[0].abs_diff_eq(Quat::IDENTITY, 1e-6));
            let knee = wide(last.rotations[4]).to_scaled_axis();
            assert!(knee.abs_diff_eq(DVec3::X * 0.3, 1e-6), "{knee}");
        }
    }

    #[test]
    fn a_world_with_y_up_is_left_as_it_is_and_said() {
        let reading = clip_from_amass(&archive(&arrays(72, DVec3::Y)), "walk").unwrap();
        assert_eq!(reading.up, Axis::PlusY);
        assert!(
            reading.clip.frames()[1]
                .root
                .abs_diff_eq(Vec3::new(0.2, -0.5, 0.9), 1e-6)
        );
    }

    #[test]
    fn poses_in_parts_are_the_same_motion() {
        let whole = arrays(66, DVec3::X * FRAC_PI_2);
        let poses = whole[0].1.to_f64().unwrap();
        let part = |range: std::ops::Range<usize>| {
            let numbers: Vec<f64> = (poses.chunks(66))
                .flat_map(|row| row[range.clone()].to_vec())
                .collect();
            NpyArray::f64([4, range.len()], numbers)
        };
        let parts = archive(&[
            ("root_orient", part(0..3)),
            ("pose_body", part(3..66)),
            ("trans", whole[1].1.clone()),
            ("mocap_frame_rate", NpyArray::f64([1], vec![120.0])),
        ]);
        let expected = clip_from_amass(&archive(&whole), "walk").unwrap();
        assert_eq!(clip_from_amass(&parts, "walk").unwrap(), expected);
    }

    #[test]
    fn archives_of_another_layout_are_refused() {
        let good = arrays(156, DVec3::X);
        let with = |index: usize, replaced: Option<NpyArray>| {
            let mut arrays = good.clone();
            match replaced {
                Some(array) => arrays[index].1 = array,
                None => drop(arrays.remove(index)),
            }
            clip_from_amass(&archive(&arrays), "x")
        };
        let zeros = |a: usize, b: usize| Some(NpyArray::f64([a, b], vec![0.0; a * b]));
        assert!(matches!(with(0, None), Err(AmassError::Npz(_))));
        assert!(matches!(with(1, None), Err(AmassError::Npz(_))));
        assert!(matches!(with(2, None), Err(AmassError::NoFrameRate)));
        for (index, a, b) in [(0, 4, 70), (0, 4, 63), (0, 5, 156), (1, 4, 2), (2, 2, 1)] {
            assert!(
                matches!(with(index, zeros(a, b)), Err(AmassError::Shape { .. })),
                "{index} {a} {b}"
            );
        }
        let nan = NpyArray::f64([4, 3], vec![f64::NAN; 12]);
        assert!(matches!(with(1, Some(nan)), Err(AmassError::Npz(_))));
        assert!(matches!(
            with(2, Some(NpyArray::f64([], vec![0.0]))),
            Err(AmassError::FrameRate(_))
        ));
        let mut empty = good.clone();
        empty[0].1 = zeros(0, 156).unwrap();
        empty[1].1 = zeros(0, 3).unwrap();
        assert!(matches!(
            clip_from_amass(&archive(&empty), "x"),
            Err(AmassError::Clip(ClipError::Empty))
        ));
    }
}
