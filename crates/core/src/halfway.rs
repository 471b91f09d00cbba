//! Halfway joints: a joint more on every bone, turned half as far.
//!
//! Linear blending of two rotations θ apart, half and half, shrinks by
//! cos(θ/2): at 180° the blend is singular and cloth collapses onto a line. A
//! halfway joint stands between each joint j and its parent p,
//!
//! ```text
//! R_half = R_p · slerp(1, R_p⁻¹ R_j, ½)
//! T_half = R_half about the joint:  x ↦ R_half (x − rest_j) + position_j
//! ```
//!
//! so that neighbours are at most 90° apart. T_p and T_j both carry `rest_j` to
//! `position_j`; so does T_half, and no seam opens between them.
//!
//! # What it is good for
//! Linear blending of neighbours, at most 90° apart, shrinks by cos(θ/4) ≥ 0.707
//! at worst; of weights (1 − a)², 2a(1 − a) and a² for parent, halfway joint
//! and joint by cos²(θ/4) ≥ ½.
//!
//! # What it is not
//! Two rotations 180° apart have two halfway rotations: there the shorter way
//! changes sides, and the halfway joint with it.

use alloc::vec::Vec;

use glam::{Affine3A, Quat, Vec3, Vec3A};

use crate::{AnimateError, JointId};

/// Whether garments follow halfway joints too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HalfwayJoints {
    /// Joints and halfway joints.
    #[default]
    On,
    /// The joints alone: the plain linear blending of the papers.
    Off,
}

/// The joints that weights may name: those of a skeleton and, if wanted, the
/// halfway joint of each.
///
/// Transforms `0..n_joints` are the joints'; `n_joints + j` is the halfway
/// joint between joint j and its parent. The root has no parent: its halfway
/// joint is itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlendRig {
    parents: Vec<Option<JointId>>,
    halfway: HalfwayJoints,
}

impl BlendRig {
    /// The joints of a skeleton with these [parents](crate::Skeleton::parents).
    ///
    /// # Panics
    /// When a joint comes before its parent.
    pub fn new(parents: &[Option<JointId>], halfway: HalfwayJoints) -> Self {
        let ordered = |(j, p): (usize, &Option<JointId>)| p.is_none_or(|p| p.index() < j);
        assert!(
            parents.iter().enumerate().all(ordered),
            "parents come before their children"
        );
        Self {
            parents: parents.to_vec(),
            halfway,
        }
    }

    /// Whether there are halfway joints.
    pub const fn halfway(&self) -> HalfwayJoints {
        self.halfway
    }

    /// The joint above each joint; none above the root.
    pub fn parents(&self) -> &[Option<JointId>] {
        &self.parents
    }

    /// How many joints the skeleton has.
    pub fn n_joints(&self) -> usize {
        self.parents.len()
    }

    /// How many joints weights may name: twice as many with halfway joints.
    pub fn n_transforms(&self) -> usize {
        match self.halfway {
            HalfwayJoints::On => 2 * self.parents.len(),
            HalfwayJoints::Off => self.parents.len(),
        }
    }

    /// Writes the map from rest to world of every joint that weights may name,
    /// from those of the joints and the joints' world positions [m].
    ///
    /// # Errors
    /// When a joint is not rigid, so that there is no halfway rotation; `out`
    /// is then half-written.
    ///
    /// # Panics
    /// When the inputs don't have one entry a joint, or `out` not one a
    /// transform.
    pub fn transforms(
        &self,
        world_from_rest: &[Affine3A],
        joint_positions: &[Vec3],
        out: &mut [Affine3A],
    ) -> Result<(), AnimateError> {
        let n = self.n_joints();
        assert!(
            world_from_rest.len() == n && joint_positions.len() == n,
            "one entry a joint"
        );
        assert_eq!(out.len(), self.n_transforms(), "one output a transform");
        let (joints, halfway) = out.split_at_mut(n);
        joints.copy_from_slice(world_from_rest);
        // Empty, and so is the loop, when there are no halfway joints.
        for (joint, half) in halfway.iter_mut().enumerate() {
            let child = &world_from_rest[joint];
            if !is_rigid(child) {
                return Err(AnimateError::NotRigid { joint });
            }
            let Some(parent) = self.parents[joint] else {
                *half = *child;
                continue;
            };
            let turned = Quat::from_mat3a(&child.matrix3);
            let above = Quat::from_mat3a(&world_from_rest[parent.index()].matrix3);
            // Of the two quaternions of a rotation the nearer one: their sum is
            // never shorter than √2, and halfway along the shorter arc.
            let near = if above.dot(turned) < 0.0 {
                -turned
            } else {
                turned
            };
            let rotation = (above + near).normalize();
            let position = Vec3A::from(joint_positions[joint]);
            let rest = turned.inverse() * (position - child.translation);
            *half = Affine3A::from_rotation_translation(
                rotation,
                Vec3::from(position - rotation * rest),
            );
        }
        Ok(())
    }
}

/// A rotation and a translation, but for rounding.
fn is_rigid(transform: &Affine3A) -> bool {
    /// Rotations that were multiplied and rounded for hours are well within.
    const TOLERANCE: f32 = 1e-2;
    let m = &transform.matrix3;
    let unit = |v: Vec3A| (v.length_squared() - 1.0).abs() < TOLERANCE;
    unit(m.x_axis)
        && unit(m.y_axis)
        && (m.x_axis.cross(m.y_axis) - m.z_axis).length_squared() < TOLERANCE * TOLERANCE
        && m.x_axis.dot(m.y_axis).abs() < TOLERANCE
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use core::f32::consts::PI;

    use glam::Mat3A;

    use super::*;
    use crate::{Pose, PoseVelocity, PosedBody, Skeleton};

    const PARENTS: [Option<JointId>; 4] =
        [None, Some(JointId(0)), Some(JointId(1)), Some(JointId(0))];

    fn posed(rotations: [Quat; 4]) -> PosedBody {
        let skeleton = Skeleton::new(
            ["root", "thigh", "shin", "spine"].map(Into::into).to_vec(),
            PARENTS.to_vec(),
            vec![Vec3::Y, Vec3::X, Vec3::new(1.0, -0.5, 0.1), Vec3::Y * 1.3],
        )
        .unwrap();
        let pose = Pose {
            root: Vec3::new(5.0, 1.0, -3.0),
            rotations: rotations.to_vec(),
        };
        let mut posed = PosedBody::with_room(4, 0);
        posed.pose_joints(&skeleton, skeleton.rest(), &pose, &PoseVelocity::zero(4));
        posed
    }

    fn rig() -> BlendRig {
        BlendRig::new(&PARENTS, HalfwayJoints::On)
    }

    fn transforms(posed: &PosedBody) -> Vec<Affine3A> {
        let mut out = vec![Affine3A::IDENTITY; 8];
        rig()
            .transforms(&posed.world_from_rest, &posed.joint_positions, &mut out)
            .unwrap();
        out
    }

    fn rotations() -> [Quat; 4] {
        [
            Quat::from_scaled_axis(Vec3::new(0.3, 2.0, -0.4)),
            Quat::from_scaled_axis(Vec3::new(2.5, 0.3, 0.9)),
            Quat::from_scaled_axis(Vec3::new(-1.0, 0.2, 2.0)),
            Quat::from_scaled_axis(Vec3::new(0.1, -0.2, 0.3)),
        ]
    }

    #[test]
    fn halfway_twice_is_the_whole_way_about_the_same_joint() {
        let posed = posed(rotations());
        let all = transforms(&posed);
        assert_eq!(all[..4], posed.world_from_rest[..]);
        assert_eq!(all[4], all[0], "the root's own");
        for (joint, parent) in PARENTS.iter().enumerate().skip(1) {
            let above = all[parent.unwrap().index()];
            let (half, child) = (all[4 + joint], all[joint]);
            // Along the bone: parent → halfway → joint are the same step twice.
            let step = above.inverse() * half;
            assert!(
                (above * step * step).abs_diff_eq(child, 1e-5),
                "joint {joint}"
            );
            let rest = child
                .inverse()
                .transform_point3(posed.joint_positions[joint]);
            let carried = half.transform_point3(rest);
            assert!(carried.distance(posed.joint_positions[joint]) < 1e-5);
        }
    }

    #[test]
    fn halfway_of_the_shorter_way_even_when_quaternions_change_sign() {
        for angle in [-3.1f32, -1.0, 0.0, 2.0, 3.1, 3.2, 6.0] {
            let mut turns = [Quat::IDENTITY; 4];
            turns[1] = Quat::from_rotation_x(angle);
            turns[0] = -turns[0];
            let all = transforms(&posed(turns));
            let shorter = angle - 2.0 * PI * libm::roundf(angle / (2.0 * PI));
            let expected = Mat3A::from_rotation_x(shorter / 2.0);
            assert!(
                all[5].matrix3.abs_diff_eq(expected, 1e-5),
                "{angle}: {:?}",
                all[5].matrix3
            );
        }
    }

    #[test]
    fn joints_that_are_not_rigid_are_named() {
        let good = posed(rotations());
        let scaled = [
            Mat3A::from_diagonal(Vec3::new(1.0, 1.0, 0.0)),
            Mat3A::from_diagonal(Vec3::new(1.0, 1.0, -1.0)),
            Mat3A::from_diagonal(Vec3::splat(1.1)),
            Mat3A::from_diagonal(Vec3::splat(1e30)),
            Mat3A::from_cols(Vec3A::X, Vec3A::X, Vec3A::Z),
        ];
        for matrix in scaled {
            let mut body = good.clone();
            body.world_from_rest[2].matrix3 *= matrix;
            let mut out = vec![Affine3A::IDENTITY; 8];
            assert_eq!(
                rig().transforms(&body.world_from_rest, &body.joint_positions, &mut out),
                Err(AnimateError::NotRigid { joint: 2 }),
                "{matrix}"
            );
        }
    }
}
