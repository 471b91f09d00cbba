//! What a body does at an instant: [`Pose`] and its rate of change.

use alloc::vec;
use alloc::vec::Vec;

use glam::{Quat, Vec3};

/// Root position and joint rotations of a skeleton.
///
/// Joints have identity orientation at rest: a rotation turns everything below
/// a joint about that joint, in axes parallel to the world's at rest, and is
/// composed down the tree. The pose with identity rotations and the root at
/// its rest position is the rest pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    /// World position of the root joint [m].
    pub root: Vec3,
    /// Rotation of each joint relative to its parent, unit length.
    pub rotations: Vec<Quat>,
}

impl Pose {
    /// How far a rotation's length may be from one. Rounding and interpolation
    /// between normalised rotations stay far below it; a rotation that was
    /// never normalised does not.
    pub const UNIT_TOLERANCE: f32 = 1e-3;

    /// Identity rotations with the root joint at `root` [m].
    pub fn identity(root: Vec3, n_joints: usize) -> Self {
        Self {
            root,
            rotations: vec![Quat::IDENTITY; n_joints],
        }
    }
}

/// How fast a [`Pose`] changes.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseVelocity {
    /// Velocity of the root joint, world axes [m/s].
    pub root: Vec3,
    /// Angular velocity of each joint relative to its parent, in the parent's
    /// axes (world axes for the root) [rad/s].
    pub angular: Vec<Vec3>,
}

impl PoseVelocity {
    /// A body that stands still.
    pub fn zero(n_joints: usize) -> Self {
        Self {
            root: Vec3::ZERO,
            angular: vec![Vec3::ZERO; n_joints],
        }
    }
}
