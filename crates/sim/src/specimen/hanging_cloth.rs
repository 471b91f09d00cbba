//! A cloth that hangs by two corners: [`HangingCloth`].
//!
//! The corners are closer together than the cloth is wide, so that what is too
//! much must fold. It begins as a part of a cylinder, its lines upright,
//!
//! ```text
//! x = r sin(u/r),   y = v,   z = r cos a − r cos(u/r),      sin(a)/a = span
//! ```
//!
//! which stretches nothing, turned about the corners until its centre of mass
//! is below them. Its middle is away from the viewer, so that light falls into
//! the folds.

use std::ops::ControlFlow;

use drapery_core::Fabric;
use glam::{DQuat, DVec2, DVec3};

use super::{CELLS, Settling, Specimen, SpecimenError, within};
use crate::textbook::{Rectangle, Triangulation};

/// A square cloth that hangs by two corners, warp upright, seen from +z.
///
/// The corners are at y = 0, to the left and right of the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HangingCloth {
    /// Length of its sides [m].
    pub side: f64,
    /// Cells along each side.
    pub cells: u32,
    /// The distance of the two corners in sides; what is missing to one must fold.
    pub span: f64,
    /// The most Newton iterations.
    pub iterations: u32,
}

impl Default for HangingCloth {
    /// A side of 30 cm in cells of 5 mm: larger cells would lock where light
    /// silk folds sharply.
    fn default() -> Self {
        Self {
            side: 0.3,
            cells: 60,
            span: 0.7,
            iterations: 400,
        }
    }
}

impl HangingCloth {
    /// The cloth of `fabric` at rest. `go_on` is called now and then with the
    /// share of the work that is certainly done.
    ///
    /// # Errors
    /// When the fabric is unsound, a setting is out of range, the cloth
    /// can't be solved for or the caller breaks off.
    pub fn at_rest(
        &self,
        fabric: &Fabric,
        go_on: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Specimen, SpecimenError> {
        let sides = 1e-2..=10.0;
        within("side of a cloth", self.side, sides, "from 1 cm to 10 m")?;
        within("cells of a cloth", self.cells.into(), 4.0..=1000.0, CELLS)?;
        let spans = 0.1..=0.999;
        within("span of a cloth", self.span, spans, "from 0.1 to 0.999")?;
        let n = self.cells;
        let sheet = Rectangle::new(self.side, n, n, Triangulation::Unstructured)?;
        let settling = Settling {
            rest: &sheet.rest,
            clamps: &[],
            start: self.start(&sheet),
            held: &[n * (n + 1), n * (n + 1) + n],
            size: self.side,
            iterations: self.iterations,
        };
        settling.run(fabric, go_on)
    }

    /// Part of a cylinder, turned about the corners.
    fn start(&self, sheet: &Rectangle) -> Vec<DVec3> {
        let a = half_angle(self.span);
        let radius = 0.5 * self.side / a;
        let back = radius * (self.span - a.cos());
        let turn = DQuat::from_rotation_x(-(back / (0.5 * self.side)).atan());
        let place = |p: &DVec2| {
            let (sin, cos) = ((p.x - 0.5 * self.side) / radius).sin_cos();
            let out = radius * (a.cos() - cos);
            turn * DVec3::new(radius * sin, p.y - self.side, out)
        };
        sheet.points.iter().map(place).collect()
    }
}

/// The a for which sin(a)/a is `span`, which falls from 1 to 0 on the way to π.
fn half_angle(span: f64) -> f64 {
    let (mut low, mut high) = (0.0, std::f64::consts::PI);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match middle.sin() > span * middle {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cloth;

    const SMALL: HangingCloth = HangingCloth {
        side: 0.3,
        cells: 10,
        span: 0.7,
        iterations: 300,
    };

    #[test]
    fn the_start_is_bent_and_not_stretched() {
        let plan = HangingCloth { cells: 40, ..SMALL };
        let sheet = Rectangle::new(plan.side, 40, 40, Triangulation::Unstructured).unwrap();
        let x = plan.start(&sheet);
        // Chords of the cylinder, of 2a = 2.7 rad in 40 cells.
        for edge in sheet.rest.topology().edges() {
            let [a, b] = edge.vertices.map(|v| v as usize);
            let strain = x[a].distance(x[b]) / sheet.points[a].distance(sheet.points[b]) - 1.0;
            assert!((-1e-3..1e-9).contains(&strain), "{strain}");
        }
        let corners = [40 * 41, 40 * 41 + 40].map(|v| x[v]);
        assert!((corners[0].distance(corners[1]) - 0.21).abs() < 1e-9);
        // The centre of mass is below the corners.
        let middle = x.iter().map(|p| p.z).sum::<f64>() / x.len() as f64;
        assert!(middle.abs() < 0.01 * plan.side, "{middle}");
    }

    #[test]
    fn cloth_at_rest_has_less_energy_than_anything_near_it() {
        let fabric = Fabric::plain("shirting", 0.15, 500.0, 2e-5);
        let found = SMALL
            .at_rest(&fabric, |_| ControlFlow::Continue(()))
            .unwrap();
        assert!(found.at_rest);
        let sheet = Rectangle::new(0.3, 10, 10, Triangulation::Unstructured).unwrap();
        let cloth = Cloth::new(&sheet.rest, &fabric, &[]).unwrap();
        let energy = |x: &[DVec3]| {
            let heights = cloth.masses().iter().zip(x).map(|(m, x)| 9.81 * m * x.y);
            cloth.energy(x) + heights.sum::<f64>()
        };
        let least = energy(&found.positions);
        assert!(least < energy(&SMALL.start(&sheet)));
        for vertex in [5, 40, 60, 83, 112] {
            for axis in DVec3::AXES {
                for way in [-1e-3, 1e-3] {
                    let mut x = found.positions.clone();
                    x[vertex] += axis * way;
                    assert!(energy(&x) > least, "vertex {vertex}, {axis}, {way}");
                }
            }
        }
    }

    #[test]
    fn it_stops_when_asked() {
        let fabric = Fabric::plain("shirting", 0.15, 500.0, 2e-5);
        let mut n_calls = 0;
        let found = SMALL.at_rest(&fabric, |_| {
            n_calls += 1;
            ControlFlow::Break(())
        });
        assert_eq!((found, n_calls), (Err(SpecimenError::Stopped), 1));
    }
}
