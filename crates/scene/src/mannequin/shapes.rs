//! The mannequin's shape parameters: each moves one measurement of the
//! [table](super::CHEST) by a standard deviation, and what goes with it.
//!
//! | parameter | one unit is | and with it |
//! |---|---|---|
//! | `height` | a deviation of stature | girths, by 0.6 of the share |
//! | `weight` | a deviation of mass, at 1010 kg/m³ | girths everywhere, most at the waist |
//! | `chest`, `waist`, `hips` | a deviation of the girth | arms and legs keep clear |
//! | `shoulders` | a deviation of the biacromial breadth | the arms move along |
//! | `limbs` | thigh 9 %, shank 8 %, upper arm 10 %, forearm 7 % in girth | |
//! | `male` | −1 the mean woman, 1 the mean man | stature, girths, shoulders, breasts, neck, arms |
//!
//! The main measurement of each is taken on the mesh with a [tape](super::girth)
//! and the growth scaled until it comes out right: half the difference between
//! 1 and −1 is the table's. The shares of the rest are drawn, near the standard
//! deviations and correlations of ANSUR II.

use drapery_core::ShapeParameter;
use glam::Vec3;

use super::anthropometry::{CHEST, HIPS, Measurement, SHOULDERS, STATURE, WAIST, WEIGHT};
use super::growth::{Direction, Growth, Parts};
use super::surface::Skin;
use super::tape::girth;

/// Mass of a body for its volume, lungs included [kg/m³].
pub const DENSITY: f64 = 1010.0;

/// Heights at which chest, waist and hips are measured on the mean shape [m]:
/// at the nipples, the navel and the fullest part of the buttocks.
pub const GIRTH_HEIGHTS: [f64; 3] = [1.220, 1.010, 0.870];

/// The largest value of a parameter that was looked at.
const LARGEST: f32 = 2.0;

/// The parameters' names, in order.
pub const SHAPES: [&str; 8] = [
    "height",
    "weight",
    "chest",
    "waist",
    "hips",
    "shoulders",
    "limbs",
    "male",
];

/// Shape parameters, with the displacements of vertices and joints for one unit
/// [m].
pub(super) struct Shapes {
    pub(super) parameters: Vec<ShapeParameter>,
    pub(super) vertices: Vec<Vec<Vec3>>,
    pub(super) joints: Vec<Vec<Vec3>>,
}

impl Shapes {
    /// The shapes of a skin.
    pub(super) fn of(skin: &Skin, parts: &Parts<'_>) -> Self {
        let mut shapes = Self {
            parameters: Vec::new(),
            vertices: Vec::new(),
            joints: Vec::new(),
        };
        for name in SHAPES {
            let direction = direction(name, skin, parts);
            shapes.parameters.push(ShapeParameter {
                name: name.to_string(),
                min: -LARGEST,
                max: LARGEST,
            });
            let single = |d: &[glam::DVec3]| d.iter().map(|d| d.as_vec3()).collect();
            shapes.vertices.push(single(&direction.vertices));
            shapes.joints.push(single(&direction.joints));
        }
        shapes
    }
}

/// A measurement that a part of the growth can be fitted to.
#[derive(Clone, Copy, Debug)]
enum Reading {
    Stature,
    /// Of chest, waist and hips.
    Girth(usize),
    /// Between the shoulder joints.
    Shoulders,
}

/// Left and right shoulder, by their place in the skeleton.
const SHOULDER_JOINTS: [usize; 2] = [16, 17];

impl Reading {
    const fn table(self) -> Measurement {
        match self {
            Self::Stature => STATURE,
            Self::Girth(0) => CHEST,
            Self::Girth(1) => WAIST,
            Self::Girth(_) => HIPS,
            Self::Shoulders => SHOULDERS,
        }
    }

    /// The part of a growth that moves it most.
    const fn part(self, growth: &mut Growth) -> &mut f64 {
        match self {
            Self::Stature => &mut growth.length,
            Self::Girth(0) => &mut growth.chest,
            Self::Girth(1) => &mut growth.waist,
            Self::Girth(_) => &mut growth.hips,
            Self::Shoulders => &mut growth.shoulders,
        }
    }

    /// Half the difference of the measurement between a direction taken once
    /// forwards and once backwards.
    fn change(self, skin: &Skin, direction: &Direction) -> f64 {
        half_difference(|sign| {
            let positions = moved(skin, direction, sign);
            match self {
                Self::Stature => top(&positions),
                Self::Girth(which) => {
                    // The landmark moves with the body's height.
                    let height = GIRTH_HEIGHTS[which] * top(&positions) / top(&skin.positions);
                    let at = Vec3::new(0.0, height as f32, 0.0);
                    girth(&positions, &skin.triangles, at, Vec3::Y).unwrap_or(0.0)
                }
                Self::Shoulders => {
                    let [l, r] = SHOULDER_JOINTS.map(|j| direction.joints[j].x * sign);
                    l - r
                }
            }
        })
    }
}

fn half_difference(of: impl Fn(f64) -> f64) -> f64 {
    (of(1.0) - of(-1.0)) / 2.0
}

/// The skin moved along a direction.
fn moved(skin: &Skin, direction: &Direction, by: f64) -> Vec<Vec3> {
    skin.positions
        .iter()
        .zip(&direction.vertices)
        .map(|(p, d)| (p.as_dvec3() + *d * by).as_vec3())
        .collect()
}

/// The height of the highest vertex [m].
fn top(positions: &[Vec3]) -> f64 {
    f64::from(positions.iter().map(|p| p.y).fold(0.0, f32::max))
}

/// Volume inside [m³].
fn volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3());
            a.dot(b.cross(c)) / 6.0
        })
        .sum()
}

/// Rounds in which growths are scaled to their measurements: each leaves a few
/// per cent of the error before it.
const N_ROUNDS: usize = 4;

fn direction(name: &str, skin: &Skin, parts: &Parts<'_>) -> Direction {
    match name {
        "height" => {
            let share = STATURE.deviation() / STATURE.mean();
            let less = -0.4 * share;
            let growth = Growth {
                length: share,
                chest: less,
                waist: less,
                hips: less,
                neck: less,
                upper_arm: less,
                forearm: less,
                thigh: less,
                shank: less,
                hand: less / 2.0,
                foot: less / 2.0,
                ..Growth::default()
            };
            fitted(
                growth,
                &[(Reading::Stature, STATURE.deviation())],
                skin,
                parts,
            )
        }
        "weight" => {
            // Girths by their deviation times their correlation with weight.
            let growth = Growth {
                chest: 0.070,
                waist: 0.098,
                hips: 0.066,
                belly: 0.035,
                neck: 0.050,
                head: 0.004,
                upper_arm: 0.075,
                forearm: 0.050,
                thigh: 0.070,
                shank: 0.055,
                hand: 0.020,
                foot: 0.020,
                ..Growth::default()
            };
            scaled_to_mass(growth, skin, parts)
        }
        "chest" => girth_only(
            0,
            Growth {
                chest: 0.085,
                ..Growth::default()
            },
            skin,
            parts,
        ),
        "waist" => girth_only(
            1,
            Growth {
                waist: 0.118,
                belly: 0.01,
                ..Growth::default()
            },
            skin,
            parts,
        ),
        "hips" => girth_only(
            2,
            Growth {
                hips: 0.075,
                thigh: 0.02,
                ..Growth::default()
            },
            skin,
            parts,
        ),
        "shoulders" => parts.grown(&Growth {
            shoulders: SHOULDERS.deviation() / 2.0,
            ..Growth::default()
        }),
        "limbs" => parts.grown(&Growth {
            upper_arm: 0.10,
            forearm: 0.07,
            thigh: 0.09,
            shank: 0.08,
            hand: 0.03,
            foot: 0.03,
            ..Growth::default()
        }),
        _ => {
            let growth = Growth {
                length: STATURE.half_difference() / STATURE.mean(),
                breasts: -0.012,
                neck: 0.055,
                upper_arm: 0.035,
                forearm: 0.040,
                thigh: -0.030,
                shank: -0.010,
                hand: 0.010,
                ..Growth::default()
            };
            let readings = [
                Reading::Stature,
                Reading::Shoulders,
                Reading::Girth(0),
                Reading::Girth(1),
                Reading::Girth(2),
            ];
            let goals = readings.map(|r| (r, r.table().half_difference()));
            fitted(growth, &goals, skin, parts)
        }
    }
}

/// A growth that changes one girth of the trunk by a standard deviation.
fn girth_only(which: usize, growth: Growth, skin: &Skin, parts: &Parts<'_>) -> Direction {
    let reading = Reading::Girth(which);
    fitted(
        growth,
        &[(reading, reading.table().deviation())],
        skin,
        parts,
    )
}

/// Changes the part of a growth that each reading depends on most until the
/// readings change by what they should.
fn fitted(
    mut growth: Growth,
    goals: &[(Reading, f64)],
    skin: &Skin,
    parts: &Parts<'_>,
) -> Direction {
    for _ in 0..N_ROUNDS {
        for &(reading, goal) in goals {
            let found = reading.change(skin, &parts.grown(&growth));
            let mean = reading.table().mean();
            // A share of a girth, or half of a breadth.
            *reading.part(&mut growth) += match reading {
                Reading::Shoulders => (goal - found) / 2.0,
                _ => (goal - found) / mean,
            };
        }
    }
    parts.grown(&growth)
}

/// A growth scaled as a whole until the mass changes by a standard deviation.
fn scaled_to_mass(growth: Growth, skin: &Skin, parts: &Parts<'_>) -> Direction {
    let mut direction = parts.grown(&growth);
    for _ in 0..N_ROUNDS {
        let mass = |sign| DENSITY * volume(&moved(skin, &direction, sign), &skin.triangles);
        let factor = WEIGHT.deviation() / half_difference(mass);
        for d in direction.vertices.iter_mut().chain(&mut direction.joints) {
            *d *= factor;
        }
    }
    direction
}
