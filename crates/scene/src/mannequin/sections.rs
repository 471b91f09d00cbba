//! The sections of the mannequin's parts, in metres.
//!
//! Drawn, with breadths, depths and heights near the means of ANSUR II, and
//! adjusted until girths on the mesh came to the [table](super::CHEST).

use super::sweep::Section;

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

/// From the neck's root: half width, front, back.
const NECK: [[f64; 4]; 3] = [
    [0.0, 0.060, 0.054, 0.056],
    [0.05, 0.054, 0.050, 0.051],
    [0.11, 0.053, 0.048, 0.053],
];

/// From the neck to the shoulder: half height, front, back.
const TRAPEZIUS: [[f64; 4]; 4] = [
    [0.0, 0.034, 0.042, 0.046],
    [0.07, 0.034, 0.044, 0.048],
    [0.13, 0.033, 0.045, 0.048],
    [0.17, 0.032, 0.044, 0.046],
];

/// The furrow along the spine, just behind the back: height, half width, where.
const FURROW: [[f64; 3]; 6] = [
    [1.00, 0.010, -0.116],
    [1.06, 0.013, -0.108],
    [1.12, 0.014, -0.113],
    [1.20, 0.014, -0.132],
    [1.28, 0.013, -0.140],
    [1.35, 0.010, -0.131],
];

/// Along the thumb: radius.
const THUMB: [[f64; 2]; 4] = [[0.0, 0.014], [0.03, 0.014], [0.06, 0.0115], [0.086, 0.0105]];

/// The trunk by height, from the seat to the neck.
pub(super) fn trunk() -> Vec<Section> {
    let section = |&[y, wide, front, back, square]: &[f64; 5]| Section {
        at: y,
        half: [wide, wide, (front - back) / 2.0, (front - back) / 2.0],
        middle: [0.0, (front + back) / 2.0],
        square,
    };
    TRUNK.iter().map(section).collect()
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

/// What hangs in the furrow of the back, by height.
pub(super) fn furrow() -> Vec<Section> {
    let section = |&[y, wide, z]: &[f64; 3]| Section {
        at: y,
        half: [wide, wide, 0.008, 0.008],
        middle: [0.0, z],
        square: 0.0,
    };
    FURROW.iter().map(section).collect()
}

/// A round section in the middle.
fn plain(at: f64, half: [f64; 4], square: f64) -> Section {
    Section {
        at,
        half,
        middle: [0.0, 0.0],
        square,
    }
}

/// The neck from below.
pub(super) fn neck() -> Vec<Section> {
    let section = |&[at, wide, front, back]: &[f64; 4]| plain(at, [wide, wide, front, back], 0.0);
    NECK.iter().map(section).collect()
}

/// The trapezius from the neck.
pub(super) fn trapezius() -> Vec<Section> {
    let section = |&[at, high, front, back]: &[f64; 4]| plain(at, [high, high, front, back], 0.0);
    TRAPEZIUS.iter().map(section).collect()
}

/// A limb that hangs from its first joint. Seen along it, u = along × front
/// points inwards.
fn limb(rows: &[LimbSection], square: f64) -> Vec<Section> {
    let section =
        |&[at, out, inn, front, back]: &LimbSection| plain(at, [inn, out, front, back], square);
    rows.iter().map(section).collect()
}

/// From the shoulder to the elbow.
pub(super) fn upper_arm() -> Vec<Section> {
    limb(&UPPER_ARM, 0.0)
}

/// From the elbow to the wrist.
pub(super) fn forearm() -> Vec<Section> {
    limb(&FOREARM, 0.0)
}

/// From the hip to the knee.
pub(super) fn thigh() -> Vec<Section> {
    limb(&THIGH, 0.1)
}

/// From the knee to the ankle.
pub(super) fn shank() -> Vec<Section> {
    limb(&SHANK, 0.05)
}

/// From the wrist to the finger tips; u is to the palm, w to the thumb.
pub(super) fn hand() -> Vec<Section> {
    let section = |&[at, away, palm, thumb, little, curl]: &[f64; 6]| Section {
        at,
        half: [palm, away, thumb, little],
        middle: [curl, 0.0],
        square: 0.3,
    };
    HAND.iter().map(section).collect()
}

/// The thumb from its root.
pub(super) fn thumb() -> Vec<Section> {
    let section = |&[at, r]: &[f64; 2]| plain(at, [r; 4], 0.0);
    THUMB.iter().map(section).collect()
}

/// The foot from the heel, down to 2 cm below the sole, where the floor cuts
/// it off; w is up.
pub(super) fn foot() -> Vec<Section> {
    let below = 0.02;
    let section = |&[at, out, inn, top]: &[f64; 4]| Section {
        at,
        half: [inn, out, (top + below) * 0.6, (top + below) * 0.4],
        middle: [0.0, (top + below) * 0.4 - below],
        square: 0.4,
    };
    FOOT.iter().map(section).collect()
}
