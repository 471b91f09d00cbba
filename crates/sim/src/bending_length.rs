//! The bending length of a fabric, measured as a textile laboratory does.
//!
//! A strip 25 mm wide is pushed level over an edge until the line from the
//! edge to its tip falls to θ = 41.5° below the level (Peirce, "The handle of
//! cloth as a measurable quantity", 1930; BS 3356, ASTM D1388, FAST-2). Half
//! the overhang l is the bending length c:
//!
//! ```text
//! c = l/2,      D = ρ g c³
//! ```
//!
//! with D the bending rigidity and ρ the areal density. The elastica reaches
//! 41.5° at ρ g l³/D = 8.0043, so that l/2 is c to 0.02 %: whatever else the
//! simulator finds is its own error, or the stretch of the cloth.
//!
//! # Where we differ
//! The strip is clamped at the edge rather than laid on a plane: the laboratory
//! holds it down too.

use std::f64::consts::FRAC_1_SQRT_2;

use drapery_core::{Fabric, Topology};
use glam::{DVec2, DVec3};

use crate::{ClampedEdge, Cloth, ClothError, Load, NewtonConfig, RestShape, SolveError, minimise};

/// Standard gravity as everywhere in the simulator [m/s²].
const GRAVITY: f64 = 9.81;

/// The angle below the level that the tip falls to [°].
const STANDARD_ANGLE: f64 = 41.5;

/// The width of the strip [m].
const WIDTH: f64 = 0.025;

/// Elements along the overhang: 20 are 0.4 % from the elastica.
const ELEMENTS: u32 = 20;

/// The most elements across the strip, where it is short; the fewest are 2.
const MAX_ACROSS: u32 = 12;

/// The overhang is known when tan θ is this near to its target, as a share;
/// the length is then known to less than half of it.
const TOLERANCE: f64 = 1e-4;

/// Overhangs tried before giving up; four are usual.
const MAX_SOLVES: u32 = 20;

/// Which way a strip is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StripDirection {
    /// Along the warp, the pattern's v.
    Warp,
    /// Along the weft, the pattern's u.
    Weft,
    /// Halfway between them, at 45°.
    Bias,
}

impl StripDirection {
    /// Where the strip's length points in the pattern.
    const fn along(self) -> DVec2 {
        match self {
            Self::Warp => DVec2::Y,
            Self::Weft => DVec2::X,
            Self::Bias => DVec2::new(FRAC_1_SQRT_2, FRAC_1_SQRT_2),
        }
    }

    /// The rigidity against bending the strip's length alone [N·m].
    fn rigidity(self, fabric: &Fabric) -> f64 {
        let d = self.along();
        let curvature = DVec3::new(d.x * d.x, d.y * d.y, 2.0 * d.x * d.y);
        curvature.dot(fabric.bending_matrix() * curvature)
    }
}

/// A measured bending length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BendingLength {
    /// The bending length, half the overhang [m].
    pub length: f64,
    /// What D = ρ g c³ gives for the rigidity in that direction [m].
    pub formula: f64,
    /// Overhangs that were tried.
    pub solves: u32,
    /// Newton iterations of all of them together.
    pub iterations: u32,
}

/// Why a bending length could not be measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BendingLengthError {
    /// No cloth can be made of the fabric.
    #[error(transparent)]
    Cloth(#[from] ClothError),
    /// The bending length is not that of anything a strip can be cut from.
    #[error("a bending length of {length} m is outside {min} to {max} m and can't be measured")]
    OutOfRange {
        /// What D = ρ g c³ gives [m].
        length: f64,
        /// The least that can be measured [m].
        min: f64,
        /// The most [m].
        max: f64,
    },
    /// The strip can't be solved for.
    #[error("the strip of {overhang} m can't be solved for")]
    Solve {
        /// Its overhang [m].
        overhang: f64,
        /// Why not.
        source: SolveError,
    },
    /// The strip does not come to rest.
    #[error("the strip of {overhang} m is not at rest after {iterations} iterations")]
    Restless {
        /// Its overhang [m].
        overhang: f64,
        /// Newton iterations done.
        iterations: u32,
    },
    /// No overhang was found at which the tip falls to the standard angle.
    #[error("no overhang was found in {solves} tries")]
    NotFound {
        /// Overhangs that were tried.
        solves: u32,
    },
}

/// Bending lengths that can be measured [m]: from thinner than any film to
/// stiffer than any board.
const RANGE: [f64; 2] = [5e-4, 0.5];

/// Measures the bending length of a fabric on a strip cut in `direction`.
///
/// # Errors
/// When the fabric is unsound or nothing that a strip can be cut from.
///
/// ```
/// use drapery_core::Fabric;
/// use drapery_sim::{StripDirection, bending_length};
///
/// let fabric = Fabric::plain("shirting", 0.12, 2000.0, 0.12 * 9.81 * 0.02f64.powi(3));
/// let measured = bending_length(&fabric, StripDirection::Warp)?;
/// assert!((measured.length / 0.02 - 1.0).abs() < 0.01);
/// # Ok::<(), drapery_sim::BendingLengthError>(())
/// ```
pub fn bending_length(
    fabric: &Fabric,
    direction: StripDirection,
) -> Result<BendingLength, BendingLengthError> {
    fabric.check().map_err(ClothError::from)?;
    let formula = (direction.rigidity(fabric) / (fabric.density * GRAVITY)).cbrt();
    if !(RANGE[0]..=RANGE[1]).contains(&formula) {
        return Err(BendingLengthError::OutOfRange {
            length: formula,
            min: RANGE[0],
            max: RANGE[1],
        });
    }
    let target = STANDARD_ANGLE.to_radians().tan().ln();
    let mut strip = Strip::falling();
    let mut iterations = 0;
    let mut before: Option<(f64, f64)> = None;
    let mut overhang = 2.0 * formula;
    for solves in 1..=MAX_SOLVES {
        let fall = strip.hang(fabric, direction, overhang, &mut iterations)?;
        let miss = fall.ln() - target;
        if miss.abs() < TOLERANCE {
            return Ok(BendingLength {
                length: overhang / 2.0,
                formula,
                solves,
                iterations,
            });
        }
        // The secant of ln tan θ over ln l, which is nearly a line; the tip of
        // a strip falls as l³ at first and more slowly later.
        let at = overhang.ln();
        let slope = match before {
            Some((x, y)) if x != at => ((miss - y) / (at - x)).clamp(0.5, 5.0),
            _ => 2.4,
        };
        before = Some((at, miss));
        overhang = (at - (miss / slope).clamp(-1.0, 1.0)).exp();
        overhang = overhang.clamp(0.2 * formula, 20.0 * formula);
    }
    Err(BendingLengthError::NotFound { solves: MAX_SOLVES })
}

/// A strip that hangs over an edge; its shape is kept from one overhang to the
/// next.
struct Strip {
    /// The middle line in overhangs, reach and fall at each element's end.
    shape: Vec<DVec2>,
}

impl Strip {
    /// A strip about as far down as it will be: its slope rises to 54° as the
    /// elastica's does.
    fn falling() -> Self {
        let n = f64::from(ELEMENTS);
        let mut shape = vec![DVec2::ZERO];
        for i in 0..ELEMENTS {
            let left = 1.0 - (f64::from(i) + 0.5) / n;
            let slope = 54f64.to_radians() * (1.0 - left.powi(3));
            let last = shape[i as usize];
            shape.push(last + DVec2::new(slope.cos(), -slope.sin()) / n);
        }
        Self { shape }
    }

    /// Lets `overhang` [m] of the strip hang and returns tan θ of its tip.
    fn hang(
        &mut self,
        fabric: &Fabric,
        direction: StripDirection,
        overhang: f64,
        iterations: &mut u32,
    ) -> Result<f64, BendingLengthError> {
        let failed = |source| BendingLengthError::Solve { overhang, source };
        let cell = overhang / f64::from(ELEMENTS);
        let across = ((WIDTH / cell).round() as u32).clamp(2, MAX_ACROSS);
        let rest = flat_strip([ELEMENTS, across], [overhang, WIDTH], direction);
        let clamped: Vec<u32> = (0..=across).map(|y| y * (ELEMENTS + 1)).collect();
        let clamps: Vec<ClampedEdge> = clamped
            .windows(2)
            .map(|w| ClampedEdge {
                vertices: [w[0], w[1]],
                slope: -DVec3::X,
            })
            .collect();
        let cloth = Cloth::new(&rest, fabric, &clamps)?;
        let mut x: Vec<DVec3> = (0..=across)
            .flat_map(|row| {
                let z = WIDTH * f64::from(row) / f64::from(across);
                self.shape.iter().map(move |p| (*p * overhang).extend(z))
            })
            .collect();
        let mut held = vec![false; x.len()];
        for vertex in clamped {
            held[vertex as usize] = true;
        }
        let forces: Vec<DVec3> = cloth
            .masses()
            .iter()
            .map(|m| DVec3::new(0.0, -GRAVITY * m, 0.0))
            .collect();
        let load = Load {
            held: &held,
            forces: &forces,
            inertia: None,
        };
        let weight = fabric.density * GRAVITY * WIDTH * overhang;
        let config = NewtonConfig {
            max_iterations: 300,
            decrement: 1e-11 * weight * overhang,
            max_move: 0.1 * overhang,
            ..NewtonConfig::default()
        };
        let report = minimise(&cloth, load, &mut x, &config).map_err(failed)?;
        if !report.converged {
            return Err(BendingLengthError::Restless {
                overhang,
                iterations: report.iterations,
            });
        }
        *iterations += report.iterations;
        let side = self.shape.len();
        for (i, point) in self.shape.iter_mut().enumerate() {
            let sum: DVec3 = (0..=across as usize).map(|row| x[row * side + i]).sum();
            *point = (sum / f64::from(across + 1) / overhang).truncate();
        }
        let tip = self.shape[side - 1];
        // A strip that has not fallen at all is no answer; the search goes on
        // with a longer one.
        Ok((-tip.y / tip.x.max(f64::MIN_POSITIVE)).max(1e-6))
    }
}

/// A flat strip of so many cells along and across, so long and wide [m]: rows
/// of cells, each cut in two, seen in the pattern's axes.
///
/// # Panics
/// When cells have no area.
pub(crate) fn flat_strip(cells: [u32; 2], size: [f64; 2], direction: StripDirection) -> RestShape {
    let [n_along, n_across] = cells;
    let side = n_along + 1;
    let along = direction.along();
    let cell = size[0] / f64::from(n_along);
    let width = size[1] / f64::from(n_across);
    let place = |vertex: u32| {
        let (x, y) = (f64::from(vertex % side), f64::from(vertex / side));
        along * (x * cell) + along.perp() * (y * width)
    };
    let mut triangles = Vec::new();
    for y in 0..n_across {
        for x in 0..n_along {
            let a = y * side + x;
            let (b, c, d) = (a + 1, a + side + 1, a + side);
            // Cut to the other side in every second cell, so that the strip
            // does not turn to one.
            match (x + y) % 2 {
                0 => triangles.extend([[a, b, c], [a, c, d]]),
                _ => triangles.extend([[a, b, d], [b, c, d]]),
            }
        }
    }
    let corners = triangles.iter().map(|t: &[u32; 3]| t.map(place)).collect();
    let topology =
        Topology::new(side * (n_across + 1), triangles).expect("a grid names the vertices it has");
    RestShape::from_corners(topology, corners).expect("cells have an area")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// tan θ of the tip of an elastica under its own weight, by shooting for
    /// the moment at the clamp: φ'' = −Γ (1 − s) cos φ, φ(0) = 0, φ'(1) = 0.
    fn elastica(gamma: f64) -> f64 {
        let (mut low, mut high) = (0.0, gamma);
        let mut tan = 0.0;
        for _ in 0..60 {
            let guess = 0.5 * (low + high);
            let (end, tip) = integrate(gamma, guess);
            if end > 0.0 {
                high = guess;
            } else {
                low = guess;
            }
            tan = tip.y / tip.x;
        }
        tan
    }

    /// The curvature at the tip and where the tip is, for a curvature at the
    /// clamp; the midpoint rule.
    fn integrate(gamma: f64, clamp: f64) -> (f64, DVec2) {
        let n = 4000;
        let h = 1.0 / f64::from(n);
        let (mut slope, mut curvature, mut tip) = (0.0f64, clamp, DVec2::ZERO);
        for i in 0..n {
            let s = f64::from(i) * h;
            let middle_slope = slope + 0.5 * h * curvature;
            let middle = curvature - 0.5 * h * gamma * (1.0 - s) * slope.cos();
            tip += DVec2::new(middle_slope.cos(), middle_slope.sin()) * h;
            curvature -= h * gamma * (0.5f64.mul_add(-h, 1.0 - s)) * middle_slope.cos();
            slope += h * middle;
        }
        (curvature, tip)
    }

    #[test]
    fn half_the_overhang_of_an_elastica_is_its_bending_length() {
        // Another angle would not do: at 45° half the overhang is 5 % more.
        let at = |gamma: f64| elastica(gamma).atan().to_degrees();
        assert!((at(8.0) - STANDARD_ANGLE).abs() < 0.02, "{}", at(8.0));
        assert!((at(8.0 * 1.05f64.powi(3)) - 45.0).abs() < 0.2);
    }

    #[test]
    fn strips_bend_as_the_elastica_does_whatever_the_fabric() {
        let shirting = Fabric::plain("shirting", 0.12, 3000.0, 1e-5);
        let cases = [
            shirting.clone(),
            Fabric::plain("film", 0.03, 1000.0, 1e-7),
            Fabric::plain("board", 0.3, 1e5, 1e-3),
            Fabric {
                bending_warp: 4e-5,
                ..shirting.clone()
            },
            Fabric {
                bending_weft: 1e-6,
                shear: 20.0,
                ..shirting
            },
        ];
        for fabric in cases {
            for (direction, rigidity) in [
                (StripDirection::Warp, fabric.bending_warp),
                (StripDirection::Weft, fabric.bending_weft),
            ] {
                let expected = (rigidity / (fabric.density * GRAVITY)).cbrt();
                let found = bending_length(&fabric, direction).unwrap();
                assert!((found.formula / expected - 1.0).abs() < 1e-12);
                let error = found.length / expected - 1.0;
                assert!(error.abs() < 0.01, "{fabric:?} {direction:?}: {found:?}");
            }
        }
    }

    #[test]
    fn a_bias_strip_bends_as_one_along_the_threads_when_all_ways_are_alike() {
        // Poisson ratio 0: shear is half the stretch, twist is as bending.
        let fabric = Fabric::plain("alike", 0.15, 3000.0, 1.5e-5);
        let warp = bending_length(&fabric, StripDirection::Warp).unwrap();
        let bias = bending_length(&fabric, StripDirection::Bias).unwrap();
        assert!(
            (bias.length / warp.length - 1.0).abs() < 0.005,
            "{bias:?} {warp:?}"
        );
        assert!((bias.formula / warp.formula - 1.0).abs() < 1e-12);
    }

    #[test]
    fn cloth_that_gives_hangs_farther_down() {
        let stiff = Fabric::plain("stiff", 0.15, 3000.0, 4e-6);
        let soft = Fabric {
            stretch_warp: 20.0,
            ..stiff.clone()
        };
        let length = |f: &Fabric| bending_length(f, StripDirection::Warp).unwrap().length;
        assert!(length(&soft) < length(&stiff));
    }

    #[test]
    fn cloth_like_dough_is_an_error_at_worst() {
        let cases = [(0.1, 20.0, 1e-7), (0.1, 1e-3, 1e-9), (1e8, 20.0, 10.0)];
        for (stretch, density, bending) in cases {
            let fabric = Fabric::plain("dough", density, stretch, bending);
            match bending_length(&fabric, StripDirection::Bias) {
                Ok(c) => assert!(c.length > 0.0 && c.length < 1.1 * c.formula, "{c:?}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn what_no_strip_can_be_cut_from_is_refused() {
        let sheet = |bending| Fabric::plain("sheet", 0.1, 1000.0, bending);
        let steel = bending_length(&sheet(1e6), StripDirection::Warp);
        assert!(matches!(steel, Err(BendingLengthError::OutOfRange { .. })));
        let broken = bending_length(&sheet(f64::NAN), StripDirection::Warp);
        assert!(matches!(broken, Err(BendingLengthError::Cloth(_))));
    }
}
