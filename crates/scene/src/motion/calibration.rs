//! [`Calibration`]: which pose of a file is its rest pose, and how a T-pose is
//! told.

use glam::DVec3;

use super::{Anatomy, Axis, Role};

/// Where the rest pose of a motion comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calibration {
    /// The first row when it is a T-pose, else the offsets. The row is left
    /// out of the motion when it stands apart from the row after it.
    #[default]
    Detect,
    /// The pose of the first row, which is left out of the motion (unless it
    /// is the only one).
    FirstRow,
    /// The pose in which nothing is rotated.
    Offsets,
}

/// How far limbs and trunk may be from a T-pose's directions [rad]. CMU's
/// arms hang by 8°, and spines lean by as much; an A-pose's arms hang by 40°
/// or more.
const T_POSE_TOLERANCE: f64 = 20.0 * std::f64::consts::PI / 180.0;

/// Whether joints at these positions stand in a T-pose along the axes of
/// their world: trunk upright, legs straight down, arms straight sideways.
pub(super) fn is_t_pose(anatomy: &Anatomy, positions: &[DVec3]) -> bool {
    check(anatomy, positions).unwrap_or(false)
}

fn check(anatomy: &Anatomy, positions: &[DVec3]) -> Option<bool> {
    let trunk = trunk(anatomy, positions)?;
    let up = Axis::nearest(trunk).vector();
    let close = |v: DVec3, direction: DVec3| v.angle_between(direction) < T_POSE_TOLERANCE;
    if !close(trunk, up) {
        return Some(false);
    }
    let bone = |from: usize, to: usize| positions[to] - positions[from];
    let [left_hip, right_hip] = anatomy.pair(Role::Hip)?;
    let across = bone(right_hip, left_hip);
    let left = (across - up * across.dot(up)).try_normalize()?;
    for (from, to) in [
        (Role::Hip as fn(_) -> _, Role::Knee as fn(_) -> _),
        (Role::Knee, Role::Ankle),
    ] {
        let (from, to) = (anatomy.pair(from)?, anatomy.pair(to)?);
        if (0..2).any(|side| !close(bone(from[side], to[side]), -up)) {
            return Some(false);
        }
    }
    for (from, to) in [
        (Role::Shoulder as fn(_) -> _, Role::Elbow as fn(_) -> _),
        (Role::Elbow, Role::Wrist),
    ] {
        let (from, to) = (anatomy.pair(from)?, anatomy.pair(to)?);
        if !close(bone(from[0], to[0]), left) || !close(bone(from[1], to[1]), -left) {
            return Some(false);
        }
    }
    Some(true)
}

/// From the hips to the head, or as far up as is known.
pub(super) fn trunk(anatomy: &Anatomy, positions: &[DVec3]) -> Option<DVec3> {
    let [left, right] = anatomy.pair(Role::Hip)?;
    let hips = 0.5 * (positions[left] + positions[right]);
    let top = anatomy
        .joint(Role::Head)
        .or_else(|| anatomy.joint(Role::LowerNeck))
        .or_else(|| anatomy.joint(Role::UpperSpine))?;
    let trunk = positions[top] - hips;
    (trunk.length() > 0.0).then_some(trunk)
}

/// Whether both thighs and shins point away from the head.
pub(super) fn stands(anatomy: &Anatomy, positions: &[DVec3]) -> bool {
    let Some(trunk) = trunk(anatomy, positions) else {
        return false;
    };
    let (Some(hips), Some(ankles)) = (anatomy.pair(Role::Hip), anatomy.pair(Role::Ankle)) else {
        return false;
    };
    (0..2).all(|side| (positions[ankles[side]] - positions[hips[side]]).angle_between(-trunk) < 0.7)
}
