//! [`sample`]: the pose between frames, and how fast it changes.
//!
//! Rotations follow, between frames 0 and 1 at distance h,
//!
//! ```text
//! q(t) = q₀ exp(φ(u)),   u = t/h,   φ the cubic Hermite in rotation vectors
//! φ(0) = 0,   φ(1) = d = log(q₀⁻¹ q₁)
//! φ'(0) = ω₀,  φ'(1) = J(d)⁻¹ ω₁          J: right Jacobian of SO(3)
//! ```
//!
//! with ωᵢ the central difference of rotation vectors at frame i, in the axes
//! of the joint at that frame. Angular velocity, J(φ) φ', is then ωᵢ from both
//! sides of frame i: the motion is C¹ and passes through every frame. Turning
//! at constant speed is reproduced exactly. The root follows the cubic
//! Hermite with central differences (Catmull and Rom).
//!
//! The end frames use the one-sided difference of second order. Outside the
//! clip the nearest end pose stands still.

use drapery_core::{Clip, Pose, PoseVelocity, Seconds};
use glam::{DQuat, DVec3};

use super::rotation::{exp, inverse_right_jacobian, log, right_jacobian, wide};

/// Writes the pose of the clip at `time` from its start, and its velocity.
///
/// `pose` and `velocity` may have any length before; they have the clip's
/// joints after. Nothing is allocated when they had them already.
pub fn sample(clip: &Clip, time: Seconds, pose: &mut Pose, velocity: &mut PoseVelocity) {
    let at = Instant::of(clip, time);
    let n_joints = clip.skeleton().len();
    pose.rotations.clear();
    velocity.angular.clear();
    let (root, root_velocity) = at.root();
    pose.root = root.as_vec3();
    velocity.root = root_velocity.as_vec3();
    for joint in 0..n_joints {
        let (q, omega) = at.rotation(joint);
        pose.rotations.push(q.as_quat());
        velocity.angular.push(omega.as_vec3());
    }
    if at.u == 0.0 {
        // Exact at frames, to the last bit.
        let frame = &clip.frames()[at.frame];
        pose.root = frame.root;
        pose.rotations.copy_from_slice(&frame.rotations);
    }
}

/// A pose and how fast it changes.
#[derive(Clone, Copy, Debug)]
pub struct Moving<'a> {
    /// The pose.
    pub pose: &'a Pose,
    /// Its velocity.
    pub velocity: &'a PoseVelocity,
}

/// Writes the pose at a share `u` of the way from one moving pose to another
/// `step` later, and its velocity: as [`sample`] does between frames.
///
/// # Panics
/// When the poses have different numbers of joints.
pub fn sample_between(
    from: Moving<'_>,
    to: Moving<'_>,
    step: Seconds,
    u: f64,
    pose: &mut Pose,
    velocity: &mut PoseVelocity,
) {
    let n_joints = from.pose.rotations.len();
    assert_eq!(n_joints, to.pose.rotations.len(), "poses of one skeleton");
    let (u, h) = (u.clamp(0.0, 1.0), step.0);
    let start = from.pose.root.as_dvec3();
    let (x, v) = hermite(
        to.pose.root.as_dvec3() - start,
        from.velocity.root.as_dvec3(),
        to.velocity.root.as_dvec3(),
        u,
        h,
    );
    pose.root = (start + x).as_vec3();
    velocity.root = v.as_vec3();
    pose.rotations.clear();
    velocity.angular.clear();
    for joint in 0..n_joints {
        let (here, there) = (
            wide(from.pose.rotations[joint]),
            wide(to.pose.rotations[joint]),
        );
        // Velocities are in the parent's axes, slopes in the joint's own.
        let slope = |q: DQuat, v: &PoseVelocity| q.inverse() * v.angular[joint].as_dvec3();
        let d = log(here.inverse() * there);
        let (phi, rate) = hermite(
            d,
            slope(here, from.velocity),
            inverse_right_jacobian(d, slope(there, to.velocity)),
            u,
            h,
        );
        let q = here * exp(phi);
        pose.rotations.push(q.normalize().as_quat());
        velocity
            .angular
            .push((q * right_jacobian(phi, rate)).as_vec3());
    }
}

/// The pose of the clip at `time`.
pub(super) fn pose_at(clip: &Clip, time: Seconds) -> Pose {
    let mut pose = clip.frames()[0].clone();
    let mut velocity = PoseVelocity::zero(pose.rotations.len());
    sample(clip, time, &mut pose, &mut velocity);
    pose
}

/// Nearer than this to a frame, in frames, a time is that frame's.
const ON_A_FRAME: f64 = 1e-7;

/// A moment in a clip: a frame, and how far it is to the next.
struct Instant<'a> {
    clip: &'a Clip,
    frame: usize,
    /// 0 at `frame`, below 1.
    u: f64,
    /// Whether the clip has not begun or is over.
    outside: bool,
}

impl<'a> Instant<'a> {
    fn of(clip: &'a Clip, time: Seconds) -> Self {
        let last = clip.frames().len() - 1;
        let x = time.0 * clip.frame_rate().hz();
        // NaN becomes the start.
        let inside = if x.is_nan() {
            0.0
        } else {
            x.clamp(0.0, last as f64)
        };
        let (frame, u) = if (inside - inside.round()).abs() < ON_A_FRAME {
            (inside.round(), 0.0)
        } else {
            (inside.floor(), inside - inside.floor())
        };
        Self {
            clip,
            frame: frame as usize,
            u,
            outside: last == 0 || (x - inside).abs() > ON_A_FRAME || x.is_nan(),
        }
    }

    fn step(&self) -> f64 {
        self.clip.frame_rate().frame_step().0
    }

    /// Position [m] and velocity [m/s] of the root.
    fn root(&self) -> (DVec3, DVec3) {
        let at = |frame: usize| self.clip.frames()[frame].root.as_dvec3();
        let here = at(self.frame);
        if self.outside {
            return (here, DVec3::ZERO);
        }
        let h = self.step();
        let slope = |frame| slope(frame, self.clip.frames().len(), h, |f| at(f + 1) - at(f));
        if self.u == 0.0 {
            return (here, slope(self.frame));
        }
        let (x, v) = hermite(
            at(self.frame + 1) - here,
            slope(self.frame),
            slope(self.frame + 1),
            self.u,
            h,
        );
        (here + x, v)
    }

    /// Rotation of a joint, and its angular velocity in its parent's axes [rad/s].
    fn rotation(&self, joint: usize) -> (DQuat, DVec3) {
        let at = |frame: usize| wide(self.clip.frames()[frame].rotations[joint]);
        let here = at(self.frame);
        if self.outside {
            return (here, DVec3::ZERO);
        }
        let h = self.step();
        let turn = |frame: usize| log(at(frame).inverse() * at(frame + 1));
        let slope = |frame| slope(frame, self.clip.frames().len(), h, turn);
        if self.u == 0.0 {
            return (here, here * slope(self.frame));
        }
        let d = turn(self.frame);
        let (phi, rate) = hermite(
            d,
            slope(self.frame),
            inverse_right_jacobian(d, slope(self.frame + 1)),
            self.u,
            h,
        );
        let q = here * exp(phi);
        (q, q * right_jacobian(phi, rate))
    }
}

/// The rate of change at a frame, from the changes `change(f)` from frame f to
/// f + 1: central inside, one-sided at the ends. There are two frames or more.
fn slope(frame: usize, n_frames: usize, h: f64, change: impl Fn(usize) -> DVec3) -> DVec3 {
    let last = n_frames - 1;
    let change = if last == 1 {
        change(0)
    } else if frame == 0 {
        1.5 * change(0) - 0.5 * change(1)
    } else if frame == last {
        1.5 * change(last - 1) - 0.5 * change(last - 2)
    } else {
        0.5 * (change(frame - 1) + change(frame))
    };
    change / h
}

/// Value and rate at u of the cubic from 0 to `end` with rates `v0` and `v1`
/// per second over h seconds.
pub(super) fn hermite(end: DVec3, v0: DVec3, v1: DVec3, u: f64, h: f64) -> (DVec3, DVec3) {
    let w = 1.0 - u;
    let value = u * u * (3.0 - 2.0 * u) * end + h * u * w * (w * v0 - u * v1);
    let rate = 6.0 * u * w / h * end + w * (1.0 - 3.0 * u) * v0 + u * (3.0 * u - 2.0) * v1;
    (value, rate)
}

#[cfg(test)]
mod tests {
    use drapery_core::{FrameRate, JointId, Skeleton};
    use glam::{Quat, Vec3};

    use super::*;

    /// A clip of two joints whose rotations and root are given functions of time.
    fn clip_of(hz: f64, seconds: f64, at: impl Fn(f64) -> ([DQuat; 2], DVec3)) -> Clip {
        let skeleton = Skeleton::new(
            vec!["a".to_string(), "b".to_string()],
            vec![None, Some(JointId(0))],
            vec![Vec3::ZERO, Vec3::Y],
        )
        .unwrap();
        let rate = FrameRate::new(hz).unwrap();
        let n = (seconds * hz).round() as usize;
        let frames = (0..=n)
            .map(|f| {
                let (q, root) = at(f as f64 / hz);
                Pose {
                    root: root.as_vec3(),
                    rotations: q.iter().map(|q| q.as_quat()).collect(),
                }
            })
            .collect();
        Clip::new("test".to_string(), skeleton, rate, frames).unwrap()
    }

    fn swing(t: f64) -> ([DQuat; 2], DVec3) {
        let a = exp(DVec3::new(
            0.9 * (2.0 * t).sin(),
            1.3 * t,
            0.4 * (3.0 * t).cos(),
        ));
        let b = exp(DVec3::new(0.2, 0.0, 1.2 * (2.5 * t).sin())) * exp(DVec3::X * t);
        ([a, b], DVec3::new(t.sin(), (2.0 * t).cos(), t * t))
    }

    fn at(clip: &Clip, t: f64) -> (Pose, PoseVelocity) {
        let mut pose = Pose::identity(Vec3::ZERO, 0);
        let mut velocity = PoseVelocity::zero(0);
        sample(clip, Seconds(t), &mut pose, &mut velocity);
        (pose, velocity)
    }

    #[test]
    fn frames_are_hit_exactly_and_time_is_clamped() {
        let clip = clip_of(30.0, 1.0, swing);
        for (f, frame) in clip.frames().iter().enumerate() {
            assert_eq!(&at(&clip, f as f64 / 30.0).0, frame);
        }
        for (t, frame) in [(-1.0, 0), (f64::NAN, 0), (9.0, 30), (f64::INFINITY, 30)] {
            let (pose, velocity) = at(&clip, t);
            assert_eq!(pose, clip.frames()[frame], "{t}");
            assert_eq!(velocity, PoseVelocity::zero(2), "{t}");
        }
        let still = clip_of(30.0, 0.0, swing);
        assert_eq!(at(&still, 0.0).1, PoseVelocity::zero(2));
    }

    /// The remainder of a central difference falls as the step squared, until
    /// single precision ends it; the double-precision core is used directly.
    #[test]
    fn velocities_are_the_derivative_to_second_order() {
        let clip = clip_of(10.0, 2.0, swing);
        let core = |t: f64, joint: usize| {
            let at = Instant::of(&clip, Seconds(t));
            (at.rotation(joint), at.root())
        };
        for joint in 0..2 {
            for t in [0.0333, 0.4567, 1.05, 1.9444] {
                let miss = |h: f64| {
                    let ((_, omega), (_, v)) = core(t, joint);
                    let ((q1, _), (x1, _)) = core(t + h, joint);
                    let ((q0, _), (x0, _)) = core(t - h, joint);
                    (
                        (log(q1 * q0.inverse()) / (2.0 * h) - omega).length(),
                        ((x1 - x0) / (2.0 * h) - v).length(),
                    )
                };
                let (coarse, fine) = (miss(8e-3), miss(4e-3));
                for (c, f) in [(coarse.0, fine.0), (coarse.1, fine.1)] {
                    // The root's first and last piece are parabolas, of which
                    // central differences are exact.
                    if c < 1e-9 {
                        continue;
                    }
                    let order = (c / f).log2();
                    assert!((1.9..2.1).contains(&order), "h^{order:.3} at {t}");
                }
            }
        }
    }

    #[test]
    fn velocities_are_continuous_across_frames() {
        let clip = clip_of(10.0, 2.0, swing);
        for frame in 1..20 {
            let t = f64::from(frame) / 10.0;
            let (before, on, after) =
                (at(&clip, t - 1e-6).1, at(&clip, t).1, at(&clip, t + 1e-6).1);
            for joint in 0..2 {
                for side in [&before, &after] {
                    let jump = (side.angular[joint] - on.angular[joint]).length();
                    assert!(jump < 2e-4, "frame {frame}, joint {joint}: {jump}");
                }
            }
            assert!((before.root - after.root).length() < 2e-4);
        }
    }

    #[test]
    fn constant_turning_is_reproduced_exactly() {
        let omega = DVec3::new(1.0, -2.0, 7.0);
        let base = exp(DVec3::new(0.3, 0.2, -1.0));
        let clip = clip_of(10.0, 1.0, |t| {
            ([exp(omega * t) * base, DQuat::IDENTITY], DVec3::X * t)
        });
        for t in [0.0, 0.013, 0.05, 0.5499, 0.97, 1.0] {
            let (pose, velocity) = at(&clip, t);
            let expected = (exp(omega * t) * base).as_quat();
            assert!(pose.rotations[0].dot(expected).abs() > 1.0 - 1e-6);
            assert!(
                Quat::angle_between(pose.rotations[0], expected) < 2e-3
                    && (velocity.angular[0].as_dvec3() - omega).length() < 1e-5,
                "{t}: {}",
                velocity.angular[0]
            );
            assert!(velocity.root.abs_diff_eq(Vec3::X, 1e-5));
        }
    }

    /// Catmull–Rom slopes are right to h², which makes values right to h³.
    #[test]
    fn halving_the_frame_step_divides_the_error_by_eight() {
        let miss = |hz: f64| {
            let clip = clip_of(hz, 2.0, swing);
            let mut worst = [0.0f64; 2];
            for i in 0..400 {
                let t = 0.0023 + f64::from(i) * 0.00497;
                let (q, x) = swing(t);
                let at = Instant::of(&clip, Seconds(t));
                for (joint, q) in q.iter().enumerate() {
                    worst[0] = worst[0].max(log(at.rotation(joint).0.inverse() * *q).length());
                }
                worst[1] = worst[1].max((at.root().0 - x).length());
            }
            worst
        };
        let (coarse, fine) = (miss(8.0), miss(16.0));
        for (c, f) in coarse.iter().zip(fine) {
            let order = (c / f).log2();
            assert!((2.7..3.4).contains(&order), "error falls as h^{order:.2}");
        }
    }

    #[test]
    fn between_two_frames_it_is_the_same_as_in_the_clip() {
        let clip = clip_of(30.0, 1.0, swing);
        let h = clip.frame_rate().frame_step();
        let at = |time: f64| {
            let mut pose = clip.frames()[0].clone();
            let mut velocity = PoseVelocity::zero(2);
            sample(&clip, Seconds(time), &mut pose, &mut velocity);
            (pose, velocity)
        };
        let (from, to) = (at(10.0 * h.0), at(11.0 * h.0));
        let (mut pose, mut velocity) = at(0.0);
        for u in [0.0, 0.3, 0.8, 1.0] {
            let moving = |(pose, velocity)| Moving { pose, velocity };
            let ends = [(&from.0, &from.1), (&to.0, &to.1)].map(moving);
            sample_between(ends[0], ends[1], h, u, &mut pose, &mut velocity);
            let (expected, speed) = at((10.0 + u) * h.0);
            assert!(pose.root.distance(expected.root) < 1e-6);
            assert!(velocity.root.distance(speed.root) < 1e-4);
            for joint in 0..2 {
                let [a, b] = [&pose, &expected].map(|p| p.rotations[joint]);
                assert!(a.angle_between(b) < 1e-3, "joint {joint} at {u}");
                assert!(velocity.angular[joint].distance(speed.angular[joint]) < 1e-3);
            }
        }
    }
}
