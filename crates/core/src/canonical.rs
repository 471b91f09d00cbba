//! Canonical space: the root at the origin, heading towards +Z.
//!
//! de Aguiar et al., "Stable Spaces for Real-time Clothing", 2010, §4. The
//! heading is the twist about +Y in the swing–twist decomposition of the
//! pelvis rotation, q = swing · twist, and stays defined until the pelvis is
//! upside down.
//!
//! # Where we differ
//! The paper is z-up; its turn about z is a turn about +Y here.

use glam::{Affine3A, Quat, Vec3};

use crate::Pose;

/// The root position and heading of a pose: where canonical space lies in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CanonicalFrame {
    /// World position of the root [m].
    pub root: Vec3,
    /// Heading about +Y, 0 when facing +Z [rad].
    pub heading: f32,
}

impl CanonicalFrame {
    /// The frame of a pose. Where the heading is not defined (the pelvis is
    /// upside down) it keeps `previous`.
    pub fn of(pose: &Pose, previous: f32) -> Self {
        Self {
            root: pose.root,
            heading: heading(pose.rotations[0]).unwrap_or(previous),
        }
    }

    /// Maps canonical positions to the world.
    pub fn world_from_canonical(&self) -> Affine3A {
        Affine3A::from_rotation_translation(Quat::from_rotation_y(self.heading), self.root)
    }

    /// Maps world positions to canonical space.
    pub fn canonical_from_world(&self) -> Affine3A {
        self.world_from_canonical().inverse()
    }
}

/// Below this length of the twist part the heading says nothing: the pelvis is
/// within about 11° of upside down.
const MIN_TWIST: f32 = 0.1;

/// The heading of a rotation about +Y, in (−π, π] [rad]; `None` near upside
/// down, where it is not defined.
pub fn heading(rotation: Quat) -> Option<f32> {
    let (y, w) = (rotation.y, rotation.w);
    if y * y + w * w < MIN_TWIST * MIN_TWIST {
        return None;
    }
    let angle = 2.0 * libm::atan2f(y, w);
    Some(wrap(angle))
}

fn wrap(angle: f32) -> f32 {
    use core::f32::consts::{PI, TAU};
    let mut a = angle;
    while a > PI {
        a -= TAU;
    }
    while a <= -PI {
        a += TAU;
    }
    a
}

/// Removes jumps of a whole turn from a sequence of angles [rad].
pub fn unwrap_angles(angles: &mut [f32]) {
    use core::f32::consts::TAU;
    for i in 1..angles.len() {
        let jump = angles[i] - angles[i - 1];
        angles[i] -= TAU * libm::roundf(jump / TAU);
    }
}

#[cfg(test)]
mod tests {
    use core::f32::consts::PI;

    use super::*;

    #[test]
    fn heading_is_the_turn_about_up_whatever_the_swing() {
        for turn in [-3.0f32, -1.2, 0.0, 0.4, 2.0, 3.1] {
            for tilt in [0.0f32, 0.5, -1.4] {
                let swing = Quat::from_axis_angle(Vec3::new(0.8, 0.0, 0.6), tilt);
                let found = heading(swing * Quat::from_rotation_y(turn)).unwrap();
                assert!((found - turn).abs() < 1e-5, "{turn} {tilt}: {found}");
            }
        }
        assert_eq!(heading(Quat::from_rotation_x(PI)), None);
    }

    #[test]
    fn canonical_space_forgets_place_and_heading() {
        let pose = |root, turn: f32| Pose {
            root,
            rotations: alloc::vec![Quat::from_rotation_y(turn) * Quat::from_rotation_x(0.3)],
        };
        let point_in_body = Vec3::new(0.1, 0.4, 0.2);
        let mut seen = [Vec3::ZERO; 2];
        for (seen, (root, turn)) in seen
            .iter_mut()
            .zip([(Vec3::ZERO, 0.0), (Vec3::new(4.0, 1.0, -2.0), 2.2)])
        {
            let pose = pose(root, turn);
            let world = pose.root + pose.rotations[0] * point_in_body;
            *seen = CanonicalFrame::of(&pose, 0.0)
                .canonical_from_world()
                .transform_point3(world);
        }
        assert!(seen[0].abs_diff_eq(seen[1], 1e-5), "{seen:?}");
    }

    #[test]
    fn unwrapped_angles_have_no_whole_turns() {
        let mut angles = [3.0, -3.1, -2.9, 3.1];
        unwrap_angles(&mut angles);
        assert!(
            angles.windows(2).all(|w| (w[1] - w[0]).abs() < PI),
            "{angles:?}"
        );
    }
}
