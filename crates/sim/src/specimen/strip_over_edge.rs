//! A strip held level at an edge: [`StripOverEdge`].

use std::f64::consts::FRAC_PI_2;

use drapery_core::Fabric;
use glam::DVec3;

use super::{CELLS, GRAVITY, Specimen, SpecimenError, within};
use crate::bending_length::flat_strip;
use crate::{ClampedEdge, Cloth, Load, NewtonConfig, StripDirection, minimise};

/// Lengths and widths that a strip may have.
const SIZES: &str = "from 1 mm to 10 m";

/// A strip held level at an edge, over which the rest of it hangs.
///
/// The edge runs along z at the origin, the strip points along +x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripOverEdge {
    /// Which way it is cut.
    pub direction: StripDirection,
    /// How much of it hangs over the edge [m].
    pub length: f64,
    /// How wide it is [m].
    pub width: f64,
    /// Cells along it.
    pub cells: u32,
}

impl Default for StripOverEdge {
    /// A strip along the warp, of the width of the standards and as long as
    /// tells a limp cloth from a stiff one.
    fn default() -> Self {
        Self {
            direction: StripDirection::Warp,
            length: 0.06,
            width: 0.025,
            cells: 30,
        }
    }
}

impl StripOverEdge {
    /// The strip of `fabric` at rest.
    ///
    /// # Errors
    /// When the fabric is unsound, a setting is out of range or the strip can't
    /// be solved for.
    ///
    /// ```
    /// use drapery_core::Fabric;
    /// use drapery_sim::StripOverEdge;
    ///
    /// let strip = StripOverEdge { cells: 20, ..StripOverEdge::default() };
    /// let stiff = strip.at_rest(&Fabric::plain("board", 0.3, 1e4, 1e-2))?;
    /// let limp = strip.at_rest(&Fabric::plain("silk", 0.05, 500.0, 1e-6))?;
    /// assert!(stiff.positions[20].y > -0.01 && limp.positions[20].y < -0.05);
    /// # Ok::<(), drapery_sim::SpecimenError>(())
    /// ```
    pub fn at_rest(&self, fabric: &Fabric) -> Result<Specimen, SpecimenError> {
        fabric.check().map_err(crate::ClothError::from)?;
        let sizes = 1e-3..=10.0;
        within("length of a strip", self.length, sizes.clone(), SIZES)?;
        within("width of a strip", self.width, sizes, SIZES)?;
        within("cells of a strip", self.cells.into(), 4.0..=1000.0, CELLS)?;
        let n = self.cells;
        let cell = self.length / f64::from(n);
        let across = ((self.width / cell).round() as u32).clamp(2, 1000);
        let rest = flat_strip([n, across], [self.length, self.width], self.direction);
        let edge: Vec<u32> = (0..=across).map(|row| row * (n + 1)).collect();
        let clamps: Vec<ClampedEdge> = edge
            .windows(2)
            .map(|w| ClampedEdge {
                vertices: [w[0], w[1]],
                slope: -DVec3::X,
            })
            .collect();
        let cloth = Cloth::new(&rest, fabric, &clamps)?;
        let line = self.falling(fabric);
        let mut x: Vec<DVec3> = (0..=across)
            .flat_map(|row| {
                let z = self.width * (0.5 - f64::from(row) / f64::from(across));
                line.iter().map(move |p| DVec3::new(p.x, p.y, z))
            })
            .collect();
        let mut held = vec![false; x.len()];
        for vertex in edge {
            held[vertex as usize] = true;
        }
        let weights = cloth.masses().iter().map(|m| DVec3::NEG_Y * (GRAVITY * m));
        let forces: Vec<DVec3> = weights.collect();
        let load = Load {
            held: &held,
            forces: &forces,
            inertia: None,
        };
        let weight = fabric.density * GRAVITY * self.width * self.length;
        let config = NewtonConfig {
            max_iterations: 500,
            decrement: 1e-10 * weight * self.length,
            max_move: 0.1 * self.length,
            ..NewtonConfig::default()
        };
        let report = minimise(&cloth, load, &mut x, &config)?;
        Ok(Specimen {
            topology: rest.topology().clone(),
            positions: x,
            at_rest: report.converged,
        })
    }

    /// A middle line about as far down as it will be: its slope goes to upright
    /// over some bending lengths.
    fn falling(&self, fabric: &Fabric) -> Vec<DVec3> {
        let bending_length =
            (fabric.bending_warp.max(fabric.bending_weft) / (fabric.density * GRAVITY)).cbrt();
        let n = self.cells;
        let cell = self.length / f64::from(n);
        // A strip of one bending length falls by a few degrees only.
        let end = FRAC_PI_2 * (1.0 - (-self.length / (3.0 * bending_length)).exp());
        let mut line = vec![DVec3::ZERO];
        for i in 0..n {
            let along = (f64::from(i) + 0.5) * cell;
            let slope = end * (1.0 - (-along / bending_length).exp());
            let last = line[i as usize];
            line.push(last + DVec3::new(slope.cos(), -slope.sin(), 0.0) * cell);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_of_two_bending_lengths_falls_to_the_standard_angle() {
        let warp = 2e-5;
        let fabric = Fabric {
            bending_weft: 0.5 * warp,
            ..Fabric::plain("shirting", 0.15, 5000.0, warp)
        };
        for (direction, rigidity) in [
            (StripDirection::Warp, warp),
            (StripDirection::Weft, 0.5 * warp),
        ] {
            let strip = StripOverEdge {
                direction,
                length: 2.0 * (rigidity / (fabric.density * GRAVITY)).cbrt(),
                cells: 20,
                ..StripOverEdge::default()
            };
            let found = strip.at_rest(&fabric).unwrap();
            assert!(found.at_rest);
            let tip = found.positions[20];
            let angle = (-tip.y).atan2(tip.x).to_degrees();
            assert!((angle - 41.5).abs() < 0.5, "{direction:?}: {angle}°");
        }
    }

    #[test]
    fn strips_that_cannot_be_cut_are_refused() {
        let fabric = Fabric::plain("shirting", 0.15, 5000.0, 2e-5);
        let good = StripOverEdge::default();
        let cases = [
            StripOverEdge {
                length: f64::NAN,
                ..good
            },
            StripOverEdge { width: 0.0, ..good },
            StripOverEdge { cells: 1, ..good },
        ];
        for strip in cases {
            let found = strip.at_rest(&fabric);
            assert!(
                matches!(found, Err(SpecimenError::Setting { .. })),
                "{strip:?}"
            );
        }
        let broken = Fabric {
            density: -1.0,
            ..fabric
        };
        assert!(matches!(
            good.at_rest(&broken),
            Err(SpecimenError::Cloth(_))
        ));
    }
}
