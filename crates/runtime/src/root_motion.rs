//! How the root moved from one frame to another: z of Eq. 6.
//!
//! ```text
//! z(t, j) = [ R(−rⱼ)(pₜ − pⱼ),  sin(rₜ − rⱼ),  cos(rₜ − rⱼ) ]      (Eq. 6)
//! ```
//!
//! de Aguiar et al., "Stable Spaces for Real-time Clothing", 2010, §5.3, with
//! R about +Y, as in [`CanonicalFrame`].

use core::f32::consts::TAU;

use drapery_core::CanonicalFrame;
use glam::Quat;

/// How many numbers describe a motion of the root.
pub const ROOT_MOTION: usize = 5;

/// The motion of the root from frame `then` to frame `now`: metres in the axes
/// of `then`, then sine and cosine of the turn.
pub fn root_motion(now: &CanonicalFrame, then: &CanonicalFrame) -> [f32; ROOT_MOTION] {
    let moved = Quat::from_rotation_y(-then.heading) * (now.root - then.root);
    let turned = now.heading - then.heading;
    [
        moved.x,
        moved.y,
        moved.z,
        libm::sinf(turned),
        libm::cosf(turned),
    ]
}

/// How far the root may move and turn in a frame before it has been taken
/// elsewhere rather than moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootLimits {
    /// The farthest way [m].
    pub step: f32,
    /// The largest turn [rad].
    pub turn: f32,
}

impl RootLimits {
    /// Whether the root was taken elsewhere.
    pub fn is_beyond(&self, now: &CanonicalFrame, then: &CanonicalFrame) -> bool {
        // The length and the angle of z, without its sines.
        let turn = now.heading - then.heading;
        let turn = turn - TAU * libm::rintf(turn / TAU);
        (now.root - then.root).length() > self.step || libm::fabsf(turn) > self.turn
    }
}

/// Takes earlier frames of the root, the latest first, along to where it is
/// `now`, as if it had gone on as it went in the last frame.
pub(crate) fn take_along(frames: &mut [CanonicalFrame], now: &CanonicalFrame) {
    let Some(latest) = frames.first().copied() else {
        return;
    };
    let before = frames.get(1).copied().unwrap_or(latest);
    let heading = now.heading - (latest.heading - before.heading);
    let step = Quat::from_rotation_y(heading - before.heading) * (latest.root - before.root);
    let (root, turn) = (now.root - step, heading - latest.heading);
    for frame in frames {
        let moved = Quat::from_rotation_y(turn) * (frame.root - latest.root);
        frame.root = root + moved;
        frame.heading += turn;
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    fn at(x: f32, z: f32, heading: f32) -> CanonicalFrame {
        CanonicalFrame {
            root: Vec3::new(x, 1.0, z),
            heading,
        }
    }

    #[test]
    fn a_step_forwards_is_a_step_along_z_wherever_it_goes() {
        // Facing +X, one metre along +X.
        let quarter = core::f32::consts::FRAC_PI_2;
        let z = root_motion(&at(3.0, 5.0, quarter + 0.3), &at(2.0, 5.0, quarter));
        let expected = [0.0, 0.0, 1.0, libm::sinf(0.3), libm::cosf(0.3)];
        for (found, expected) in z.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{z:?}");
        }
    }

    #[test]
    fn earlier_frames_are_taken_along() {
        let mut frames = [at(1.0, 2.0, 0.4), at(0.5, 1.8, 0.1), at(0.1, 1.2, -0.2)];
        let apart = |a: [f32; 5], b: [f32; 5]| {
            let both = a.iter().zip(b);
            both.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
        };
        let before = frames.map(|f| root_motion(&f, &frames[2]));
        let last = root_motion(&frames[0], &frames[1]);
        let now = at(-40.0, 7.0, 2.5);
        take_along(&mut frames, &now);
        // It goes on as it went, and was where it was as seen from there.
        assert!(apart(root_motion(&now, &frames[0]), last) < 1e-5);
        for (frame, before) in frames.iter().zip(before) {
            assert!(apart(root_motion(frame, &frames[2]), before) < 1e-5);
        }
        let mut one = [at(1.0, 2.0, 0.4)];
        take_along(&mut one, &now);
        assert_eq!(one[0], now);
    }

    #[test]
    fn limits_tell_a_jump_from_a_step() {
        let limits = RootLimits {
            step: 0.5,
            turn: 1.0,
        };
        let here = at(0.0, 0.0, 3.1);
        assert!(!limits.is_beyond(&at(0.1, 0.2, -3.1), &here));
        assert!(limits.is_beyond(&at(0.6, 0.0, 3.1), &here));
        assert!(limits.is_beyond(&at(0.0, 0.0, 1.9), &here));
    }
}
