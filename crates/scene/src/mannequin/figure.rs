//! The mannequin's figure: which solids, where, and how they are joined.
//!
//! Parts are joined smoothly only with the parts that they grow from: arms with
//! the trunk around the shoulder and legs around the groin, so that armpits and
//! thighs do not weld.
//!
//! The field is that of the left half and of what lies in the middle, at the
//! absolute value of x.

use glam::DVec3;

use super::head::Head;
use super::sections;
use super::skeleton::skeleton;
use super::sweep::{Ellipsoid, Section, Sweep, carve, common, union};

/// Which part of the figure a place belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// Trunk, neck and head.
    Trunk,
    /// From the shoulder to the fingers.
    Arm,
    /// From the groin to the toes.
    Leg,
}

/// The solids of the left half and of the middle.
pub(super) struct Figure {
    trunk: Sweep,
    trapezius: Sweep,
    furrow: Sweep,
    breast: Ellipsoid,
    buttock: Ellipsoid,
    neck: Sweep,
    head: Head,
    upper_arm: Sweep,
    forearm: Sweep,
    hand: Sweep,
    thumb: Sweep,
    thigh: Sweep,
    shank: Sweep,
    foot: Sweep,
    heel: Ellipsoid,
    shoulder: DVec3,
    hip: DVec3,
}

impl Figure {
    /// The mean figure.
    pub(super) fn new() -> Self {
        let skeleton = skeleton();
        let at = |name: &str| {
            let joint = skeleton.joint(name).expect("a joint of the mannequin");
            skeleton.rest()[joint.index()].as_dvec3()
        };
        let [shoulder, elbow, wrist, knuckles] =
            ["left_shoulder", "left_elbow", "left_wrist", "left_hand"].map(at);
        let [hip, knee, ankle, ball] = ["left_hip", "left_knee", "left_ankle", "left_foot"].map(at);
        let foot_along = DVec3::new(ball.x - ankle.x, 0.0, ball.z - ankle.z).normalize();
        let heel = DVec3::new(ankle.x, 0.0, ankle.z) - foot_along * 0.058;
        let hand_along = (knuckles - wrist).normalize();
        let palm = hand_along.cross(DVec3::Z).normalize();
        let thumb_from = wrist + hand_along * 0.022 + DVec3::Z * 0.010 + palm * 0.006;
        let thumb_along = hand_along * 0.74 + DVec3::Z * 0.62 + palm * 0.24;
        let neck_from = DVec3::new(0.0, 1.425, -0.034);
        let neck_along = DVec3::new(0.0, 1.53, 0.0) - neck_from;
        let collar = DVec3::new(0.0, 1.436, -0.046);
        let to_shoulder = shoulder + DVec3::new(0.0, -0.006, 0.0) - collar;
        // Along a line, with sections whose w is to the front, and round ends.
        let front = |from: DVec3, along: DVec3, sections: Vec<Section>, ends: [f64; 2]| {
            Sweep::new(from, along, DVec3::Z, &sections, ends)
        };
        let up = |from: DVec3, along: DVec3, sections: Vec<Section>, ends: [f64; 2]| {
            Sweep::new(from, along, DVec3::Y, &sections, ends)
        };
        Self {
            trunk: front(DVec3::ZERO, DVec3::Y, sections::trunk(), [0.02, 0.02]),
            trapezius: front(collar, to_shoulder, sections::trapezius(), [0.03, 0.03]),
            furrow: front(DVec3::ZERO, DVec3::Y, sections::furrow(), [0.05, 0.05]),
            breast: Ellipsoid::new([0.082, 1.218, 0.062], [0.074, 0.066, 0.061]),
            buttock: Ellipsoid::new([0.07, 0.868, -0.062], [0.076, 0.078, 0.074]),
            neck: front(neck_from, neck_along, sections::neck(), [0.03, 0.03]),
            head: Head::new(),
            upper_arm: front(
                shoulder,
                elbow - shoulder,
                sections::upper_arm(),
                [0.036, 0.03],
            ),
            forearm: front(elbow, wrist - elbow, sections::forearm(), [0.036, 0.02]),
            hand: front(wrist, hand_along, sections::hand(), [0.015, 0.012]),
            thumb: up(thumb_from, thumb_along, sections::thumb(), [0.012, 0.010]),
            thigh: front(hip, knee - hip, sections::thigh(), [0.06, 0.03]),
            shank: front(knee, ankle - knee, sections::shank(), [0.03, 0.02]),
            foot: up(heel, foot_along, sections::foot(), [0.022, 0.014]),
            heel: Ellipsoid::new([ankle.x, 0.036, ankle.z - 0.022], [0.031, 0.042, 0.036]),
            shoulder,
            hip,
        }
    }

    /// About the distance from the skin [m], negative inside.
    pub(super) fn field(&self, p: DVec3) -> f64 {
        let p = DVec3::new(p.x.abs(), p.y, p.z);
        let (trunk, arm, leg) = (self.trunk(p), self.arm(p), self.leg(p));
        let near = |d: f64, from: f64, to: f64| smooth_step((to - d) / (to - from));
        let k_arm = 0.05 * near(p.distance(self.shoulder), 0.06, 0.19);
        let k_leg = 0.045 * near(p.distance(self.hip), 0.12, 0.26);
        let body = joined(trunk, arm, k_arm);
        joined(body, leg, k_leg)
    }

    /// The part that a place belongs to most.
    pub(super) fn region(&self, p: DVec3) -> Region {
        let p = DVec3::new(p.x.abs(), p.y, p.z);
        let (trunk, arm, leg) = (self.trunk(p), self.arm(p), self.leg(p));
        if arm < trunk && arm < leg {
            Region::Arm
        } else if leg < trunk {
            Region::Leg
        } else {
            Region::Trunk
        }
    }

    /// The gradient of the field by differences, where the field is `here`.
    pub(super) fn gradient(&self, p: DVec3, here: f64) -> DVec3 {
        const H: f64 = 1e-5;
        let slope = |e: DVec3| (self.field(p + e * H) - here) / H;
        DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z))
    }

    fn trunk(&self, p: DVec3) -> f64 {
        const FAR: f64 = 0.1;
        if p.y < 0.6 {
            return 0.6 - p.y + 0.08;
        }
        let mut f = self.trunk.field(p, FAR);
        if p.z < 0.0 {
            f = carve(f, self.furrow.field(p, FAR), 0.02);
        }
        if p.y < 1.05 {
            return union(f, self.buttock.field(p), 0.03);
        }
        if p.y < 1.36 {
            f = union(f, self.breast.field(p), 0.035);
        }
        if p.y > 1.2 {
            f = union(f, self.trapezius.field(p, FAR), 0.04);
        }
        if p.y > 1.3 {
            let top = union(self.neck.field(p, FAR), self.head.field(p), 0.02);
            f = union(f, top, 0.03);
        }
        f
    }

    fn arm(&self, p: DVec3) -> f64 {
        const FAR: f64 = 0.06;
        let mut f = self.upper_arm.field(p, FAR);
        f = union(f, self.forearm.field(p, FAR), 0.012);
        let hand = union(self.hand.field(p, FAR), self.thumb.field(p, FAR), 0.014);
        union(f, hand, 0.016)
    }

    fn leg(&self, p: DVec3) -> f64 {
        const FAR: f64 = 0.1;
        let mut f = self.thigh.field(p, FAR);
        f = union(f, self.shank.field(p, FAR), 0.012);
        if p.y < 0.25 {
            let foot = union(self.foot.field(p, FAR), self.heel.field(p), 0.02);
            f = union(f, foot, 0.025);
            // The floor.
            f = common(f, -p.y, 0.016);
        }
        f
    }
}

fn joined(a: f64, b: f64, k: f64) -> f64 {
    if k > 1e-6 { union(a, b, k) } else { a.min(b) }
}

fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
