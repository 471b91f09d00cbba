//! [`Figure`]: what clips need to know of the skeleton that they are made for.

use drapery_core::Skeleton;
use glam::{DQuat, DVec3};

use super::super::Side;

/// Both sides, left first: index 0 and 1 of all pairs here.
pub(super) const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// +1 for the left side, −1 for the right: the sign of its x at rest.
pub(super) const fn sign(side: usize) -> f64 {
    if side == 0 { 1.0 } else { -1.0 }
}

/// Joints and lengths of the skeleton, in double precision.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) skeleton: Skeleton,
    pub(super) pelvis: usize,
    pub(super) spine: [usize; 3],
    pub(super) neck: usize,
    pub(super) head: usize,
    pub(super) legs: [Leg; 2],
    pub(super) arms: [Arm; 2],
    /// Rest position of the pelvis [m].
    pub(super) root: DVec3,
}

/// Joints of a leg, and their places at rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub(super) hip: usize,
    pub(super) knee: usize,
    pub(super) ankle: usize,
    pub(super) ball: usize,
    /// From pelvis to hip [m].
    pub(super) hip_from_pelvis: DVec3,
    /// From hip to knee [m].
    pub(super) thigh: DVec3,
    /// From knee to ankle [m].
    pub(super) shin: DVec3,
    /// The knee's hinge at rest, of unit length: the shin turns backwards about
    /// it.
    pub(super) hinge: DVec3,
    /// From the ball of the foot to the ankle [m]. The foot rolls off about
    /// the joint of the toes, which stay flat and in place.
    pub(super) ankle_from_ball: DVec3,
    /// From the ball of the foot to where the heel meets the ground [m].
    pub(super) heel_from_ball: DVec3,
    /// Where the ball is at rest, from the pelvis, y above ground [m].
    pub(super) ball_rest: DVec3,
}

/// Joints of an arm, and its directions at rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arm {
    pub(super) collar: usize,
    pub(super) shoulder: usize,
    pub(super) elbow: usize,
    /// From the rest direction of the upper arm to hanging down.
    pub(super) hang: DQuat,
    /// The elbow's hinge at rest: the forearm turns forwards about it.
    pub(super) hinge: DVec3,
}

/// How far behind the ankle the heel meets the ground, as a share of the
/// distance from ankle to ball.
const HEEL: f64 = 0.40;

/// How much a knee folds its leg flat rather than about x: with more, a deep
/// bend is beyond the knee's limits; with less, the knees of a runner meet.
const FLAT: f64 = 0.36;

impl Figure {
    /// The figure of a skeleton with the joints of the built-in person.
    ///
    /// # Panics
    /// When a joint is missing.
    pub(super) fn new(skeleton: Skeleton) -> Self {
        let joint = |name: &str| {
            let joint = skeleton.joint(name);
            joint.expect("the skeleton has this joint").index()
        };
        let rest = |j: usize| skeleton.rest()[j].as_dvec3();
        let of = |side: Side, name: &str| match side {
            Side::Left => joint(&format!("left_{name}")),
            Side::Right => joint(&format!("right_{name}")),
        };
        let pelvis = joint("pelvis");
        let legs = SIDES.map(|side| {
            let [hip, knee, ankle, ball] = ["hip", "knee", "ankle", "foot"].map(|n| of(side, n));
            let heel = DVec3::new(
                rest(ankle).x,
                0.0,
                rest(ankle).z - HEEL * (rest(ball).z - rest(ankle).z),
            );
            // Across the shin the leg would fold flat, about x it bends as its limits
            // have it; legs that rest apart want something between.
            let flat = (rest(ankle) - rest(knee)).cross(DVec3::NEG_Z).normalize();
            Leg {
                hip,
                knee,
                ankle,
                ball,
                hip_from_pelvis: rest(hip) - rest(pelvis),
                thigh: rest(knee) - rest(hip),
                shin: rest(ankle) - rest(knee),
                hinge: DVec3::X.lerp(flat, FLAT).normalize(),
                ankle_from_ball: rest(ankle) - rest(ball),
                heel_from_ball: heel - rest(ball),
                ball_rest: DVec3::new(
                    rest(ball).x - rest(pelvis).x,
                    rest(ball).y,
                    rest(ball).z - rest(pelvis).z,
                ),
            }
        });
        let arms = SIDES.map(|side| {
            let [collar, shoulder, elbow, wrist] =
                ["collar", "shoulder", "elbow", "wrist"].map(|n| of(side, n));
            let upper = (rest(elbow) - rest(shoulder)).normalize();
            let forearm = (rest(wrist) - rest(elbow)).normalize();
            Arm {
                collar,
                shoulder,
                elbow,
                hang: DQuat::from_rotation_arc(upper, DVec3::NEG_Y),
                hinge: forearm.cross(DVec3::Z).normalize(),
            }
        });
        Self {
            pelvis,
            spine: ["spine1", "spine2", "spine3"].map(joint),
            neck: joint("neck"),
            head: joint("head"),
            legs,
            arms,
            root: rest(pelvis),
            skeleton,
        }
    }
}
