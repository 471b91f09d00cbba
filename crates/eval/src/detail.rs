//! `detail_correlation`: whether wrinkles are where the simulation has them.
//!
//! ```text
//! d = u − S u            u = x − x_skinned,   S: RestSurface::smooth
//! r = Σ A d·d* / √(Σ A ‖d‖² Σ A ‖d*‖²)        over vertices and frames
//! ```
//!
//! with d* that of the simulation and A the areas of the rest shape. 1 is the
//! same detail, 0 none in common or none at all, −1 its opposite. The
//! displacement is taken from the skinned garment: else the shape of the garment
//! itself would correlate with itself.

use glam::Vec3;

use crate::smoothing::RestSurface;

/// The three sums, over frames of many clips.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DetailSums {
    both: f64,
    found: f64,
    simulated: f64,
}

impl DetailSums {
    /// One frame, from the details of the garment and of the simulation.
    ///
    /// # Panics
    /// When they are of different garments.
    pub fn add(&mut self, surface: &RestSurface, found: &Detail, simulated: &Detail) {
        for (d, s) in found.axes.iter().zip(&simulated.axes) {
            assert_eq!(d.len(), s.len(), "details of one garment");
            for ((d, s), area) in d.iter().zip(s).zip(surface.areas()) {
                self.both += area * d * s;
                self.found += area * d * d;
                self.simulated += area * s * s;
            }
        }
    }

    /// Takes other frames into account.
    pub fn merge(&mut self, other: &Self) {
        self.both += other.both;
        self.found += other.found;
        self.simulated += other.simulated;
    }

    /// The correlation; 0 where one side has no detail.
    pub fn correlation(&self) -> f64 {
        let scale = (self.found * self.simulated).sqrt();
        match scale > 0.0 {
            true => (self.both / scale).clamp(-1.0, 1.0),
            false => 0.0,
        }
    }
}

/// What smoothing takes away from a displacement [m], shape [axis][vertex].
#[derive(Clone, Debug)]
pub struct Detail {
    axes: [Vec<f64>; 3],
}

impl Detail {
    /// The detail of a garment at `positions` [m] that is skinned to `skinned`.
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn of(surface: &RestSurface, positions: &[Vec3], skinned: &[Vec3]) -> Self {
        let axes = [0, 1, 2].map(|axis| {
            let both = positions.iter().zip(skinned);
            let moved: Vec<f64> = both
                .map(|(p, q)| f64::from(p[axis]) - f64::from(q[axis]))
                .collect();
            let smooth = surface.smooth(&moved);
            moved.iter().zip(smooth).map(|(u, s)| u - s).collect()
        });
        Self { axes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoothing::tests::sheet;

    #[test]
    fn the_same_waves_opposite_ones_and_none() {
        let sheet = sheet(41, 0.01);
        let surface = RestSurface::new(&sheet);
        let flat = sheet.mesh().positions();
        // Waves of 5 cm with `phase` [turns], and a bow over the whole sheet.
        let waves = |phase: f32, bow: f32| -> Detail {
            let lifted = flat.iter().map(|p| {
                let turns = p.x / 0.05 + phase;
                let wave = 1e-3 * (turns * std::f32::consts::TAU).cos();
                *p + glam::Vec3::Z * (wave + bow * (p.y - 0.2).powi(2))
            });
            Detail::of(&surface, &lifted.collect::<Vec<_>>(), flat)
        };
        let simulated = waves(0.0, 0.0);
        for (phase, bow, expected) in [
            (0.0, 0.0, 1.0),
            (0.5, 0.0, -1.0),
            (0.25, 0.0, 0.0),
            (0.125, 0.0, 0.5f64.sqrt()),
            // What is coarse does not matter.
            (0.0, 0.03, 1.0),
        ] {
            let mut sums = DetailSums::default();
            sums.add(&surface, &waves(phase, bow), &simulated);
            let found = sums.correlation();
            assert!((found - expected).abs() < 0.05, "{phase} {bow}: {found}");
        }
        let mut sums = DetailSums::default();
        sums.add(&surface, &Detail::of(&surface, flat, flat), &simulated);
        assert_eq!(sums.correlation(), 0.0);
    }
}
