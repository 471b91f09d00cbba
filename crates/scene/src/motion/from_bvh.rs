//! [`clip_from_bvh`]: a BVH file as a [`Clip`], its unit, axes and rest pose
//! found out and said.
//!
//! ```text
//! rest:    position PT[j] and rotation GT[j] of joint j in the calibration pose
//! clip:    rest[j] = A·unit·PT[j],   root(t) = W·unit·P₀(t)
//!          global rotation (t)[j] = W · G(t)[j] · GT[j]ᵀ · Aᵀ
//! ```
//!
//! G and P are the file's forward kinematics: a joint's rotation is the
//! product of its channels' rotations in the order listed, left to right. A
//! turns the rest pose to +Y up and +Z forward, W the world of the motion;
//! they are the same rotation of axes unless the file's rest pose and motion
//! disagree (see [`MotionNote::MotionUpDiffers`]) or the rest pose faces
//! between two axes. The rest pose is moved to stand on y = 0 over the origin
//! if it is far from it; the motion stays where the file has it.
//!
//! A root's position channels are absolute. Below the root, positions that
//! change cannot be kept, as a clip's bones are rigid; they are noted. A root
//! that does nothing but carry a travelling joint is folded into it.

use std::collections::{HashMap, HashSet};

use drapery_core::{
    Clip, ClipError, FrameRate, FrameRateError, JointId, Pose, Skeleton, SkeletonError,
};
use drapery_store::bvh::{BvhFile, BvhJoint};
use glam::{DQuat, DVec3};

use super::bvh_rig::{FilePose, Rig};
use super::calibration::{is_t_pose, stands, trunk};
use super::rotation::angle;
use super::{Anatomy, Axis, Calibration, LengthUnit, MotionNote, Role};

/// What to find out about a file, and what is known already.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BvhOptions {
    /// Where the rest pose comes from.
    pub calibration: Calibration,
    /// The file's unit; found from the skeleton's height when `None`.
    pub unit: Option<LengthUnit>,
    /// Which way is up in the motion; found when `None`.
    pub up: Option<Axis>,
}

/// A motion and what was found out about its file.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionReading {
    /// The motion, in metres, +Y up; its rest pose faces +Z.
    pub clip: Clip,
    /// The unit of the file.
    pub unit: LengthUnit,
    /// A length of 1 in the file [m].
    pub unit_m: f64,
    /// Up in the file's motion.
    pub up: Axis,
    /// Where the file's rest pose faces.
    pub facing: Axis,
    /// Where the rest pose came from; never [`Calibration::Detect`].
    pub calibration: Calibration,
    /// The row of the file that is frame 0 of the clip.
    pub first_row: usize,
    /// What else a user should know.
    pub notes: Vec<MotionNote>,
}

/// Why a BVH file makes no clip.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BvhClipError {
    /// There is no row of motion.
    #[error("the file has no frames")]
    NoRows,
    /// The time between frames is no sensible one.
    #[error(transparent)]
    FrameRate(#[from] FrameRateError),
    /// The joints make no skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The frames make no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

/// The motion of a BVH file under the given name.
///
/// A frame rate within 0.02 % of a whole number is that number: files give
/// the time between frames with few digits.
///
/// # Errors
/// When there are no frames, or the file's numbers make no clip.
pub fn clip_from_bvh(
    file: &BvhFile,
    name: &str,
    options: &BvhOptions,
) -> Result<MotionReading, BvhClipError> {
    if file.joints.is_empty() || file.n_rows() == 0 {
        return Err(BvhClipError::NoRows);
    }
    let mut notes = Vec::new();
    let frame_rate = frame_rate(file.frame_time, &mut notes)?;
    let rig = Rig::new(file);
    let names = unique_names(&file.joints[rig.root..], &mut notes);
    let anatomy = Anatomy::of_tree(&names, &rig.parents);
    if anatomy.is_none() {
        notes.push(MotionNote::NamesUnknown);
    }

    let (calibration, first_row) = calibrate(&rig, anatomy.as_ref(), options.calibration);
    let rest = match calibration {
        Calibration::FirstRow => rig.pose(Some(0)),
        _ => rig.pose(None),
    };
    let axes = RestAxes::of(&rig, &rest, anatomy.as_ref(), options.up, &mut notes);
    let height = rig.extent(&rest, axes.up.vector());
    let found = LengthUnit::of_height(height.1 - height.0);
    let unit = options.unit.or(found).unwrap_or(LengthUnit::Metre);
    let unit_m = unit.metres();
    if options.unit.is_none() {
        let metres = (height.1 - height.0) * unit_m;
        if found.is_none() {
            notes.push(MotionNote::UnitAssumed);
        } else if !(1.2..=2.4).contains(&metres) {
            notes.push(MotionNote::UnusualHeight { height: metres });
        }
    }
    rig.note_positions(unit_m, &names, &mut notes);

    let up = options
        .up
        .unwrap_or_else(|| motion_up(&rig, &rest, axes.up, height, first_row));
    let world_turn = if up == axes.up {
        axes.turn
    } else {
        notes.push(MotionNote::MotionUpDiffers {
            rest: axes.up,
            motion: up,
        });
        DQuat::from_rotation_arc(up.vector(), DVec3::Y)
    };

    let rest_turn = axes.extra * axes.turn;
    let skeleton = rest_skeleton(&rig, names, &rest, rest_turn, unit_m)?;
    let rest_from_clip: Vec<DQuat> = rest
        .rotations
        .iter()
        .map(|gt| gt.inverse() * rest_turn.inverse())
        .collect();
    let mut global = vec![DQuat::IDENTITY; skeleton.len()];
    let frames = (first_row..rig.n_rows)
        .map(|row| {
            let posed = rig.pose(Some(row));
            let rotations = (0..global.len())
                .map(|j| {
                    global[j] = world_turn * posed.rotations[j] * rest_from_clip[j];
                    let local = match rig.parents[j] {
                        Some(p) => global[p].inverse() * global[j],
                        None => global[j],
                    };
                    local.normalize().as_quat()
                })
                .collect();
            Pose {
                root: (world_turn * (unit_m * posed.positions[0])).as_vec3(),
                rotations,
            }
        })
        .collect();
    Ok(MotionReading {
        clip: Clip::new(name.to_string(), skeleton, frame_rate, frames)?,
        unit,
        unit_m,
        up,
        facing: axes.facing,
        calibration,
        first_row,
        notes,
    })
}

/// How near a frame rate must be to a whole number to be taken for it: above
/// what rounding the time to five digits does, below the 0.1 % between 29.97
/// and 30.
const WHOLE_RATE: f64 = 2e-4;

fn frame_rate(frame_time: f64, notes: &mut Vec<MotionNote>) -> Result<FrameRate, FrameRateError> {
    let hz = 1.0 / frame_time;
    let whole = hz.round();
    if whole >= 1.0 && (hz / whole - 1.0).abs() < WHOLE_RATE {
        if (hz / whole - 1.0).abs() > 1e-5 {
            notes.push(MotionNote::FrameRateRounded {
                from: hz,
                to: whole,
            });
        }
        return FrameRate::new(whole);
    }
    FrameRate::new(hz)
}

/// The names, made unique by `.2`, `.3`, ….
fn unique_names(joints: &[BvhJoint], notes: &mut Vec<MotionNote>) -> Vec<String> {
    let mut taken: HashSet<String> = joints.iter().map(|joint| joint.name.clone()).collect();
    let mut seen: HashMap<&str, u32> = HashMap::new();
    joints
        .iter()
        .map(|joint| {
            let count = seen.entry(&joint.name).or_insert(0);
            *count += 1;
            if *count == 1 {
                return joint.name.clone();
            }
            let mut name = format!("{}.{count}", joint.name);
            while !taken.insert(name.clone()) {
                *count += 1;
                name = format!("{}.{count}", joint.name);
            }
            notes.push(MotionNote::RenamedJoint {
                from: joint.name.clone(),
                to: name.clone(),
            });
            name
        })
        .collect()
}

/// Decides where the rest pose comes from and which row the motion begins with.
fn calibrate(
    rig: &Rig<'_>,
    anatomy: Option<&Anatomy>,
    wanted: Calibration,
) -> (Calibration, usize) {
    let n_rows = rig.n_rows;
    match wanted {
        Calibration::Offsets => (Calibration::Offsets, 0),
        Calibration::FirstRow => (Calibration::FirstRow, usize::from(n_rows > 1)),
        Calibration::Detect => {
            let first = rig.pose(Some(0));
            if !anatomy.is_some_and(|anatomy| is_t_pose(anatomy, &first.positions)) {
                return (Calibration::Offsets, 0);
            }
            (
                Calibration::FirstRow,
                usize::from(n_rows > 1 && stands_apart(rig, &first)),
            )
        }
    }
}

/// A first row with a joint this far from where the second has it was not
/// captured with it [rad]: an actor who holds a T-pose leaves it slowly. The
/// least among the shared CMU files is 21°.
const APART: f64 = 10.0 * std::f64::consts::PI / 180.0;

fn stands_apart(rig: &Rig<'_>, first: &FilePose) -> bool {
    let second = rig.pose(Some(1));
    (first.rotations.iter().zip(&second.rotations)).any(|(a, b)| angle(a.inverse() * *b) > APART)
}

/// The axes of the rest pose.
struct RestAxes {
    up: Axis,
    facing: Axis,
    /// Carries `up` to +Y and `facing` to +Z.
    turn: DQuat,
    /// Turns a rest pose that faces between two axes the rest of the way.
    extra: DQuat,
}

/// A rest pose may face this far from an axis and be left there [rad]:
/// shoulders and hips of a captured actor are never quite square.
const FACING_TOLERANCE: f64 = 20.0 * std::f64::consts::PI / 180.0;

impl RestAxes {
    fn of(
        rig: &Rig<'_>,
        rest: &FilePose,
        anatomy: Option<&Anatomy>,
        wanted_up: Option<Axis>,
        notes: &mut Vec<MotionNote>,
    ) -> Self {
        let at = &rest.positions;
        let up = match anatomy.and_then(|anatomy| trunk(anatomy, at)) {
            Some(trunk) => Axis::nearest(trunk),
            None => wanted_up.unwrap_or_else(|| {
                notes.push(MotionNote::UpAssumed);
                Axis::PlusY
            }),
        };
        if let Some(anatomy) = anatomy
            && !stands(anatomy, at)
        {
            notes.push(MotionNote::RestNotStanding);
        }
        let forward = anatomy.and_then(|anatomy| {
            let mut across = DVec3::ZERO;
            for pair in [anatomy.pair(Role::Hip), anatomy.pair(Role::Shoulder)]
                .into_iter()
                .flatten()
            {
                across += at[pair[0]] - at[pair[1]];
            }
            across.cross(up.vector()).try_normalize()
        });
        let Some(forward) = forward else {
            let facing = if matches!(up, Axis::PlusZ | Axis::MinusZ) {
                Axis::MinusY
            } else {
                Axis::PlusZ
            };
            if rig.parents.len() > 1 {
                notes.push(MotionNote::FacingAssumed { facing });
            }
            let turn = Axis::standard_from(up, facing).expect("facing was chosen across from up");
            return Self {
                up,
                facing,
                turn,
                extra: DQuat::IDENTITY,
            };
        };
        let facing = Axis::nearest(forward);
        let turn = Axis::standard_from(up, facing)
            .expect("forward is across from up, and so is the axis nearest to it");
        let seen = turn * forward;
        let angle = seen.x.atan2(seen.z);
        let extra = if angle.abs() > FACING_TOLERANCE {
            notes.push(MotionNote::RestTurned { angle: -angle });
            DQuat::from_rotation_y(-angle)
        } else {
            DQuat::IDENTITY
        };
        Self {
            up,
            facing,
            turn,
            extra,
        }
    }
}

/// Which way is up in the motion: as in the rest pose, unless the trunk keeps
/// pointing along another axis and the root stays at standing height along it.
fn motion_up(
    rig: &Rig<'_>,
    rest: &FilePose,
    rest_up: Axis,
    height: (f64, f64),
    first_row: usize,
) -> Axis {
    let stand = rest.positions[0].dot(rest_up.vector()) - height.0;
    let n_rows = rig.n_rows;
    let stride = (n_rows / 50).max(1);
    let rest_up_in_root = rest.rotations[0].inverse() * rest_up.vector();
    let (mut trunk, mut root, mut n) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for row in (first_row..n_rows).step_by(stride) {
        let pose = rig.pose(Some(row));
        trunk += pose.rotations[0] * rest_up_in_root;
        root += pose.positions[0];
        n += 1.0;
    }
    let (trunk, root) = (trunk / n, root / n);
    let up = Axis::nearest(trunk);
    let is_upright = trunk.dot(up.vector()) > 0.9;
    let is_standing = (0.7 * stand..1.3 * stand).contains(&root.dot(up.vector()));
    if up != rest_up && is_upright && is_standing {
        up
    } else {
        rest_up
    }
}

/// The rest pose as the clip's skeleton, standing on y = 0 over the origin.
fn rest_skeleton(
    rig: &Rig<'_>,
    names: Vec<String>,
    rest: &FilePose,
    turn: DQuat,
    unit_m: f64,
) -> Result<Skeleton, SkeletonError> {
    let low = rig.extent(rest, turn.inverse() * DVec3::Y).0 * unit_m;
    let positions: Vec<DVec3> = rest
        .positions
        .iter()
        .map(|p| turn * (unit_m * *p))
        .collect();
    let root = positions[0];
    // A file that puts its rest pose about there keeps it to the digit.
    let shift = if low.abs() < 0.15 && root.x.hypot(root.z) < 0.5 {
        DVec3::ZERO
    } else {
        DVec3::new(-root.x, -low, -root.z)
    };
    Skeleton::new(
        names,
        rig.parents
            .iter()
            .map(|parent| parent.map(|p| JointId(p as u16)))
            .collect(),
        positions.iter().map(|p| (*p + shift).as_vec3()).collect(),
    )
}
