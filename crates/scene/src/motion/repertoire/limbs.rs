//! Legs by inverse kinematics and arms by angles.
//!
//! A leg is two bones and a hinge. With thigh a and shin b at rest and the
//! knee's hinge h, of unit length, the knee's angle θ is the one at which the
//! ankle is as far from the hip as it should be,
//!
//! ```text
//! |a + R_h(θ) b| = d   ⇔   p cos θ + q sin θ = (d² − |a|² − |b|²)/2 − w
//! w = (a·h)(b·h),   p = a·b − w,   q = a·(h × b)
//! ```
//!
//! and the hip turns the bent leg into its direction with the knee forwards.

use glam::{DMat3, DQuat, DVec3};

use super::figure::{Arm, Leg, sign};

/// The least that a knee is bent [rad]: a leg that is pulled straight jerks.
pub(super) const LEAST_BEND: f64 = 0.08;

/// World rotation of the thigh, and the knee's angle [rad].
pub(super) struct LegTurn {
    pub(super) thigh: DQuat,
    pub(super) knee: f64,
}

impl Leg {
    /// The rotation of a knee bent by `angle` [rad].
    pub(super) fn bent(&self, angle: f64) -> DQuat {
        DQuat::from_axis_angle(self.hinge, angle)
    }

    /// How far the ankle is from the hip with the knee bent by `angle` [m].
    pub(super) fn reach(&self, angle: f64) -> f64 {
        (self.thigh + self.bent(angle) * self.shin).length()
    }

    /// The leg from `hip` to `ankle` with the knee towards where `forwards`
    /// comes when the leg is turned there from hanging along `down` (both of
    /// unit length, across one another).
    pub(super) fn towards(&self, ankle_from_hip: DVec3, down: DVec3, forwards: DVec3) -> LegTurn {
        let (a, b) = (self.thigh, self.shin);
        let far = self.reach(LEAST_BEND * 0.5);
        let distance = ankle_from_hip.length().clamp(0.2 * far, far);
        let along = a.dot(self.hinge) * b.dot(self.hinge);
        let (p, q) = (a.dot(b) - along, a.dot(self.hinge.cross(b)));
        let c = 0.5 * (distance * distance - a.length_squared() - b.length_squared()) - along;
        let knee = q.atan2(p) + (c / p.hypot(q)).clamp(-1.0, 1.0).acos();
        let bent = a + self.bent(knee) * b;
        let direction = ankle_from_hip.normalize();
        let front = DQuat::from_rotation_arc(down, direction) * forwards;
        let thigh = frame(direction, front) * frame(bent.normalize(), DVec3::Z).transpose();
        LegTurn {
            thigh: DQuat::from_mat3(&thigh).normalize(),
            knee,
        }
    }
}

/// Axes along `along` and, as near as can be, `front`.
fn frame(along: DVec3, front: DVec3) -> DMat3 {
    let front = front.reject_from_normalized(along).normalize();
    DMat3::from_cols(along, front, along.cross(front))
}

/// Angles of an arm, as the [`Channel`](super::channel::Channel)s name them [rad].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArmAngles {
    pub(super) forward: f64,
    pub(super) out: f64,
    pub(super) across: f64,
    pub(super) inward: f64,
    pub(super) elbow: f64,
    pub(super) shrug: f64,
}

/// Rotations of collar, shoulder and elbow relative to their parents.
pub(super) struct ArmTurn {
    pub(super) collar: DQuat,
    pub(super) shoulder: DQuat,
    pub(super) elbow: DQuat,
}

impl Arm {
    /// The rotations of these angles; `side` is 0 for the left arm.
    pub(super) fn turned(&self, side: usize, angles: &ArmAngles) -> ArmTurn {
        let s = sign(side);
        let upper = DQuat::from_rotation_y(-s * angles.across)
            * DQuat::from_rotation_x(-angles.forward)
            * DQuat::from_rotation_z(s * angles.out)
            * DQuat::from_rotation_y(-s * angles.inward)
            * self.hang;
        let collar = DQuat::from_rotation_z(s * angles.shrug);
        ArmTurn {
            collar,
            shoulder: collar.inverse() * upper,
            elbow: DQuat::from_axis_angle(self.hinge, angles.elbow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::Figure;
    use super::super::skeleton;
    use super::*;

    #[test]
    fn a_leg_reaches_where_it_is_sent_with_its_knee_in_front() {
        for leg in Figure::new(skeleton()).legs {
            for to in [
                DVec3::new(0.05, -0.7, 0.3),
                DVec3::new(-0.1, -0.5, -0.3),
                DVec3::new(0.0, -0.3, 0.6),
                DVec3::new(0.2, -0.76, 0.0),
            ] {
                let turn = leg.towards(to, DVec3::NEG_Y, DVec3::Z);
                let knee = turn.thigh * leg.thigh;
                let shin = turn.thigh * (leg.bent(turn.knee) * leg.shin);
                assert!((knee + shin).abs_diff_eq(to, 1e-9), "{to}");
                assert!(turn.knee > 0.0);
                let across = knee.reject_from(to);
                let front = DQuat::from_rotation_arc(DVec3::NEG_Y, to.normalize()) * DVec3::Z;
                assert!(across.dot(front) > 0.9 * across.length(), "{to}");
            }
        }
    }

    #[test]
    fn arms_go_where_their_angles_say() {
        let figure = Figure::new(skeleton());
        for (side, arm) in figure.arms.iter().enumerate() {
            let rest = arm.hang.inverse() * DVec3::NEG_Y;
            let at = |angles: ArmAngles| arm.turned(side, &angles).shoulder * rest;
            let right_angle = std::f64::consts::FRAC_PI_2;
            let forward = at(ArmAngles {
                forward: right_angle,
                ..ArmAngles::default()
            });
            assert!(forward.abs_diff_eq(DVec3::Z, 1e-9), "{forward}");
            let out = ArmAngles {
                out: right_angle,
                ..ArmAngles::default()
            };
            assert!(at(out).abs_diff_eq(sign(side) * DVec3::X, 1e-9));
            let across = ArmAngles {
                across: right_angle,
                ..out
            };
            assert!(at(across).abs_diff_eq(DVec3::Z, 1e-9));
        }
    }
}
