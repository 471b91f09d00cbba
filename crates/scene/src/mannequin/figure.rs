//! The mannequin's figure: which solids, where, and how they are joined.
//!
//! Sections are drawn so that girths come to the [table](super::CHEST) and
//! breadths, depths and heights near ANSUR II's. Parts are joined smoothly only
//! with the parts that they grow from: arms with the trunk around the shoulder
//! and legs around the groin, so that armpits and thighs do not weld.
//!
//! The field is that of the left half and of what lies in the middle, at the
//! absolute value of x.

use glam::DVec3;

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

struct Head {
    cranium: Ellipsoid,
    face: Ellipsoid,
    jaw: Ellipsoid,
    chin: Ellipsoid,
    nose: Ellipsoid,
    brow: Ellipsoid,
    eye: Ellipsoid,
    mouth: Ellipsoid,
    ear: Ellipsoid,
}

impl Head {
    fn new() -> Self {
        Self {
            cranium: Ellipsoid::new([0.0, 1.603, -0.006], [0.078, 0.089, 0.100]),
            face: Ellipsoid::new([0.0, 1.548, 0.026], [0.060, 0.078, 0.064]),
            jaw: Ellipsoid::new([0.0, 1.503, 0.030], [0.047, 0.034, 0.050]),
            chin: Ellipsoid::new([0.0, 1.482, 0.070], [0.019, 0.013, 0.016]),
            nose: Ellipsoid::new([0.0, 1.555, 0.091], [0.011, 0.027, 0.016])
                .leaning([0.0, 1.0, -0.38], [0.0, 0.0, 1.0]),
            brow: Ellipsoid::new([0.024, 1.597, 0.066], [0.032, 0.010, 0.018]),
            eye: Ellipsoid::new([0.031, 1.580, 0.101], [0.017, 0.010, 0.015]),
            mouth: Ellipsoid::new([0.0, 1.515, 0.079], [0.024, 0.008, 0.011]),
            ear: Ellipsoid::new([0.077, 1.572, -0.008], [0.007, 0.028, 0.016])
                .leaning([0.06, 1.0, -0.25], [-0.35, 0.0, 1.0]),
        }
    }

    fn field(&self, p: DVec3) -> f64 {
        let mut f = union(self.cranium.field(p), self.face.field(p), 0.035);
        if f > 0.08 {
            return f;
        }
        f = union(f, self.jaw.field(p), 0.02);
        f = union(f, self.chin.field(p), 0.018);
        f = union(f, self.brow.field(p), 0.018);
        f = carve(f, self.eye.field(p), 0.016);
        f = union(f, self.nose.field(p), 0.011);
        f = union(f, self.mouth.field(p), 0.012);
        union(f, self.ear.field(p), 0.008)
    }
}

/// A section of the trunk: height, half width, front and back [m], squareness.
const TRUNK: [[f64; 5]; 16] = [
    [0.792, 0.064, 0.042, -0.054, 0.2],
    [0.830, 0.134, 0.078, -0.096, 0.2],
    [0.870, 0.172, 0.097, -0.115, 0.2],
    [0.910, 0.176, 0.110, -0.122, 0.2],
    [0.960, 0.171, 0.120, -0.115, 0.25],
    [1.010, 0.163, 0.124, -0.106, 0.35],
    [1.060, 0.154, 0.120, -0.102, 0.4],
    [1.110, 0.150, 0.115, -0.108, 0.5],
    [1.160, 0.152, 0.111, -0.120, 0.65],
    [1.220, 0.158, 0.107, -0.131, 0.8],
    [1.280, 0.162, 0.099, -0.134, 0.75],
    [1.330, 0.156, 0.080, -0.129, 0.6],
    [1.370, 0.132, 0.054, -0.116, 0.3],
    [1.400, 0.098, 0.036, -0.102, 0.1],
    [1.430, 0.066, 0.022, -0.087, 0.0],
    [1.450, 0.050, 0.014, -0.077, 0.0],
];

/// A section of a limb: along the bone [m], half-axes outwards, inwards, to
/// the front and to the back [m].
type LimbSection = [f64; 5];

const UPPER_ARM: [LimbSection; 7] = [
    [0.000, 0.042, 0.050, 0.053, 0.057],
    [0.040, 0.050, 0.052, 0.057, 0.059],
    [0.090, 0.053, 0.051, 0.055, 0.055],
    [0.150, 0.049, 0.048, 0.053, 0.052],
    [0.210, 0.044, 0.044, 0.049, 0.047],
    [0.260, 0.040, 0.040, 0.042, 0.043],
    [0.297, 0.039, 0.039, 0.038, 0.042],
];

const FOREARM: [LimbSection; 6] = [
    [0.000, 0.039, 0.039, 0.038, 0.042],
    [0.050, 0.043, 0.044, 0.045, 0.043],
    [0.100, 0.040, 0.039, 0.043, 0.039],
    [0.160, 0.031, 0.030, 0.036, 0.033],
    [0.215, 0.022, 0.021, 0.028, 0.027],
    [0.247, 0.020, 0.019, 0.027, 0.026],
];

/// Along the hand: half-axes away from the palm, to the palm, to the thumb and
/// to the little finger; how far it is curled.
const HAND: [[f64; 6]; 7] = [
    [0.000, 0.019, 0.019, 0.027, 0.026, 0.0],
    [0.030, 0.018, 0.020, 0.034, 0.033, 0.0],
    [0.065, 0.016, 0.018, 0.040, 0.040, 0.001],
    [0.092, 0.015, 0.015, 0.041, 0.040, 0.003],
    [0.130, 0.012, 0.012, 0.038, 0.036, 0.009],
    [0.155, 0.011, 0.011, 0.033, 0.030, 0.014],
    [0.172, 0.010, 0.010, 0.024, 0.022, 0.019],
];

const THIGH: [LimbSection; 8] = [
    [0.000, 0.079, 0.081, 0.093, 0.098],
    [0.060, 0.087, 0.087, 0.101, 0.106],
    [0.110, 0.089, 0.087, 0.104, 0.106],
    [0.180, 0.083, 0.080, 0.102, 0.096],
    [0.260, 0.073, 0.070, 0.091, 0.082],
    [0.340, 0.063, 0.061, 0.076, 0.068],
    [0.390, 0.057, 0.056, 0.065, 0.061],
    [0.416, 0.055, 0.054, 0.060, 0.058],
];

const SHANK: [LimbSection; 8] = [
    [0.000, 0.053, 0.056, 0.058, 0.056],
    [0.040, 0.054, 0.054, 0.055, 0.060],
    [0.090, 0.059, 0.057, 0.051, 0.073],
    [0.140, 0.059, 0.059, 0.048, 0.079],
    [0.200, 0.050, 0.053, 0.045, 0.069],
    [0.280, 0.038, 0.039, 0.039, 0.050],
    [0.350, 0.032, 0.033, 0.036, 0.041],
    [0.410, 0.034, 0.035, 0.040, 0.044],
];

/// Along the foot from the heel: half width to the outside and inside, top.
const FOOT: [[f64; 4]; 8] = [
    [0.022, 0.029, 0.029, 0.060],
    [0.060, 0.033, 0.032, 0.082],
    [0.100, 0.036, 0.035, 0.080],
    [0.140, 0.041, 0.040, 0.063],
    [0.180, 0.046, 0.045, 0.044],
    [0.210, 0.046, 0.045, 0.033],
    [0.235, 0.038, 0.041, 0.026],
    [0.248, 0.026, 0.034, 0.022],
];

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
        let trunk: Vec<Section> = TRUNK
            .iter()
            .map(|&[y, wide, front, back, square]| Section {
                at: y,
                half: [wide, wide, (front - back) / 2.0, (front - back) / 2.0],
                middle: [0.0, (front + back) / 2.0],
                square,
            })
            .collect();
        let limb = |rows: &[LimbSection], square: f64| -> Vec<Section> {
            rows.iter()
                .map(|&[at, out, inn, front, back]| Section {
                    at,
                    half: [out, inn, front, back],
                    middle: [0.0, 0.0],
                    square,
                })
                .collect()
        };
        // Limbs hang: seen along their bones from above, u = along × front
        // points inwards for them, so outwards is −u.
        let hanging = |rows: &[LimbSection], square: f64| -> Vec<Section> {
            let mut sections = limb(rows, square);
            for s in &mut sections {
                s.half.swap(0, 1);
            }
            sections
        };
        let hand_along = knuckles - wrist;
        let hand: Vec<Section> = HAND
            .iter()
            .map(|&[at, away, palm, thumb, little, curl]| Section {
                at,
                half: [palm, away, thumb, little],
                middle: [curl, 0.0],
                square: 0.3,
            })
            .collect();
        let foot_along = DVec3::new(ball.x - ankle.x, 0.0, ball.z - ankle.z).normalize();
        let heel = DVec3::new(ankle.x, 0.0, ankle.z) - foot_along * 0.058;
        // Drawn from the sole, which the floor cuts off.
        let below = 0.02;
        let foot: Vec<Section> = FOOT
            .iter()
            .map(|&[at, out, inn, top]| Section {
                at,
                half: [inn, out, (top + below) * 0.6, (top + below) * 0.4],
                middle: [0.0, (top + below) * 0.4 - below],
                square: 0.4,
            })
            .collect();
        let hand_dir = hand_along.normalize();
        let palm = hand_dir.cross(DVec3::Z).normalize();
        let thumb_from = wrist + hand_dir * 0.022 + DVec3::Z * 0.010 + palm * 0.006;
        let thumb_along = hand_dir * 0.74 + DVec3::Z * 0.62 + palm * 0.24;
        let thumb: Vec<Section> = [[0.0, 0.014], [0.03, 0.014], [0.06, 0.0115], [0.086, 0.0105]]
            .iter()
            .map(|&[at, r]| Section {
                at,
                half: [r; 4],
                middle: [0.0, 0.0],
                square: 0.0,
            })
            .collect();
        let neck_from = DVec3::new(0.0, 1.425, -0.034);
        let neck: Vec<Section> = [
            [0.0, 0.060, 0.054, 0.056],
            [0.05, 0.054, 0.050, 0.051],
            [0.11, 0.053, 0.048, 0.053],
        ]
        .iter()
        .map(|&[at, wide, front, back]| Section {
            at,
            half: [wide, wide, front, back],
            middle: [0.0, 0.0],
            square: 0.0,
        })
        .collect();
        let collar = DVec3::new(0.0, 1.436, -0.046);
        let trapezius: Vec<Section> = [
            [0.0, 0.034, 0.042, 0.046],
            [0.07, 0.034, 0.044, 0.048],
            [0.13, 0.033, 0.045, 0.048],
            [0.17, 0.032, 0.044, 0.046],
        ]
        .iter()
        .map(|&[at, high, front, back]| Section {
            at,
            half: [high, high, front, back],
            middle: [0.0, 0.0],
            square: 0.0,
        })
        .collect();
        Self {
            trunk: Sweep::new(DVec3::ZERO, DVec3::Y, DVec3::Z, &trunk, [0.02, 0.02]),
            trapezius: Sweep::new(
                collar,
                shoulder + DVec3::new(0.0, -0.006, 0.0) - collar,
                DVec3::Z,
                &trapezius,
                [0.03, 0.03],
            ),
            breast: Ellipsoid::new([0.082, 1.218, 0.062], [0.074, 0.066, 0.061]),
            buttock: Ellipsoid::new([0.07, 0.868, -0.062], [0.076, 0.078, 0.074]),
            neck: Sweep::new(
                neck_from,
                DVec3::new(0.0, 1.53, 0.0) - neck_from,
                DVec3::Z,
                &neck,
                [0.03, 0.03],
            ),
            head: Head::new(),
            upper_arm: Sweep::new(
                shoulder,
                elbow - shoulder,
                DVec3::Z,
                &hanging(&UPPER_ARM, 0.0),
                [0.036, 0.03],
            ),
            forearm: Sweep::new(
                elbow,
                wrist - elbow,
                DVec3::Z,
                &hanging(&FOREARM, 0.0),
                [0.036, 0.02],
            ),
            hand: Sweep::new(wrist, hand_along, DVec3::Z, &hand, [0.015, 0.012]),
            thumb: Sweep::new(thumb_from, thumb_along, DVec3::Y, &thumb, [0.012, 0.010]),
            thigh: Sweep::new(
                hip,
                knee - hip,
                DVec3::Z,
                &hanging(&THIGH, 0.1),
                [0.06, 0.03],
            ),
            shank: Sweep::new(
                knee,
                ankle - knee,
                DVec3::Z,
                &hanging(&SHANK, 0.05),
                [0.03, 0.02],
            ),
            foot: Sweep::new(heel, foot_along, DVec3::Y, &foot, [0.022, 0.014]),
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

/// Where the middle of the trunk is at a height, from the front to the back [m].
pub(super) fn trunk_middle(y: f64) -> f64 {
    let middle = |row: &[f64; 5]| (row[2] + row[3]) / 2.0;
    let next = TRUNK.partition_point(|row| row[0] < y);
    if next == 0 || next == TRUNK.len() {
        return middle(&TRUNK[next.saturating_sub(1).min(TRUNK.len() - 1)]);
    }
    let (a, b) = (&TRUNK[next - 1], &TRUNK[next]);
    let t = (y - a[0]) / (b[0] - a[0]);
    middle(a) + t * (middle(b) - middle(a))
}

fn joined(a: f64, b: f64, k: f64) -> f64 {
    if k > 1e-6 { union(a, b, k) } else { a.min(b) }
}

fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
