//! How fast the body of a stored sequence moves: poses are stored, velocities
//! follow from them.
//!
//! ```text
//! ω = q · ½ (log(q₋⁻¹ q) + log(q⁻¹ q₊)) / h
//! ```
//!
//! the central difference of rotation vectors in the joint's own axes, as the
//! motion that was simulated had it; one-sided and of second order in the first
//! and the last frame.

use drapery_core::{Pose, PoseVelocity, Seconds};
use glam::{DQuat, DVec3};

/// Writes the velocity of frame `frame` of `poses` that are `step` apart. A
/// single pose stands still.
///
/// # Panics
/// When there is no such frame, or poses are of different skeletons.
pub fn pose_velocity(poses: &[Pose], frame: usize, step: Seconds, out: &mut PoseVelocity) {
    let n_joints = poses[frame].rotations.len();
    let slope = |change: &dyn Fn(usize) -> DVec3| slope(frame, poses.len(), step.0, change);
    let root = |f: usize| poses[f + 1].root.as_dvec3() - poses[f].root.as_dvec3();
    out.root = slope(&root).as_vec3();
    out.angular.clear();
    for joint in 0..n_joints {
        let at = |f: usize| poses[f].rotations[joint].as_dquat().normalize();
        let turn = |f: usize| log(at(f).inverse() * at(f + 1));
        out.angular.push((at(frame) * slope(&turn)).as_vec3());
    }
}

/// The rate of change at a frame, from the changes from each frame to the next.
fn slope(frame: usize, n_frames: usize, h: f64, change: &dyn Fn(usize) -> DVec3) -> DVec3 {
    let last = n_frames - 1;
    let change = match last {
        0 => return DVec3::ZERO,
        1 => change(0),
        _ if frame == 0 => 1.5 * change(0) - 0.5 * change(1),
        _ if frame == last => 1.5 * change(last - 1) - 0.5 * change(last - 2),
        _ => 0.5 * (change(frame - 1) + change(frame)),
    };
    change / h
}

/// The rotation vector of a unit quaternion, of at most half a turn.
fn log(q: DQuat) -> DVec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = q.xyz();
    let sine = v.length();
    match sine > 1e-12 {
        true => v * (2.0 * sine.atan2(q.w) / sine),
        false => v * 2.0,
    }
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};

    use super::*;

    #[test]
    fn a_body_that_turns_and_walks_evenly_has_those_velocities_in_every_frame() {
        let (h, rate) = (1.0 / 30.0, Vec3::new(0.0, 3.0, 0.0));
        let tilt = Quat::from_rotation_x(0.4);
        let pose = |f: u32| Pose {
            root: Vec3::new(0.1, 0.0, 1.2) * (f as f32 * h),
            // Turning about the parent's axis, after a tilt of its own.
            rotations: vec![Quat::from_scaled_axis(rate * (f as f32 * h)) * tilt],
        };
        let poses: Vec<Pose> = (0..5).map(pose).collect();
        let mut out = PoseVelocity::zero(1);
        for frame in 0..5 {
            pose_velocity(&poses, frame, Seconds(f64::from(h)), &mut out);
            assert!(out.root.distance(Vec3::new(0.1, 0.0, 1.2)) < 1e-4);
            assert!(
                out.angular[0].distance(rate) < 1e-4,
                "{frame}: {}",
                out.angular[0]
            );
        }
        pose_velocity(&poses[..1], 0, Seconds(f64::from(h)), &mut out);
        assert_eq!((out.root, out.angular[0]), (Vec3::ZERO, Vec3::ZERO));
    }
}
