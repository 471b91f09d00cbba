//! How much the cloth swings, and beyond what it always swings less: §6.1.
//!
//! ```text
//! qₜ = Q⁻¹ [yₜ; yₜ₋₁],   Eₜ = ‖qₜ‖ ≤ |λ| Eₜ₋₁ + k_max,   Ē = k_max / (1 − |λ|)
//! ```
//!
//! with M = Q Λ Q⁻¹ and k the part of yₜ that body and root drive (Eq. 7 to 9).
//! Above Ē the energy falls in every frame. As a length: ‖yₜ‖ ≤ ‖Q‖ Eₜ, and
//! ‖yₜ‖/√V is the root mean square of how far the vertices are from the mean
//! garment. k_max is the largest of the training frames.

use drapery_linalg::{Dense, general_eigen, product};
use drapery_runtime::Dynamics;

/// The energies of training frames.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// The largest of a training frame, in the coordinates of §6.1.
    pub largest: f64,
    /// Ē.
    pub threshold: f64,
    /// The farthest that the garment of a training frame is from the mean one,
    /// root mean square over its vertices [m].
    pub largest_displacement: f64,
    /// The bound on that by Ē [m].
    pub threshold_displacement: f64,
}

/// The coordinates in which the dynamics are diagonal, q = Q⁻¹ [yₜ; yₜ₋₁; …].
#[derive(Clone, Debug)]
pub struct EnergyCoordinates {
    /// Real and imaginary parts of Q⁻¹, one below the other.
    inverse: Vec<f64>,
    n: usize,
    radius: f64,
    norm: f64,
}

impl EnergyCoordinates {
    /// Those of some dynamics; none without memory, nor where the eigenvectors don't span
    /// the space.
    pub fn of(dynamics: &Dynamics) -> Option<Self> {
        let n = dynamics.n_cloth() * dynamics.order();
        let companion = (n > 0).then(|| dynamics.companion())?;
        let eigen = general_eigen(&companion, n).ok()?;
        let real = eigen.inverse.iter().map(|z| z[0]);
        let imaginary = eigen.inverse.iter().map(|z| z[1]);
        Some(Self {
            inverse: real.chain(imaginary).collect(),
            n,
            radius: eigen.values.first().map_or(0.0, |z| z[0].hypot(z[1])),
            norm: eigen.vectors_norm,
        })
    }

    /// ‖q‖ of each state, shape [state, order × cloth].
    ///
    /// # Panics
    /// When a state is not whole.
    pub fn energies(&self, states: &[f64]) -> Vec<f64> {
        assert!(states.len().is_multiple_of(self.n), "whole states");
        let rows = Dense::new(states, states.len() / self.n, self.n);
        let inverse = Dense::new(&self.inverse, 2 * self.n, self.n);
        let all = product(rows, inverse.transposed());
        let size = |q: &[f64]| q.iter().map(|x| x * x).sum::<f64>().sqrt();
        all.chunks_exact(2 * self.n).map(size).collect()
    }

    /// What an energy bounds: how far a garment of so many vertices is from the mean one,
    /// root mean square over them [m].
    pub fn displacement(&self, energy: f64, n_vertices: usize) -> f64 {
        self.norm * energy / (n_vertices as f64).sqrt()
    }
}

/// Measures energies of frames.
pub(crate) struct EnergyMeter {
    coordinates: EnergyCoordinates,
    largest: f64,
    largest_drive: f64,
    largest_cloth: f64,
}

impl EnergyMeter {
    pub(crate) const fn new(coordinates: EnergyCoordinates) -> Self {
        Self {
            coordinates,
            largest: 0.0,
            largest_drive: 0.0,
            largest_cloth: 0.0,
        }
    }

    /// Adds frames: states [yₜ; yₜ₋₁; …] and what drives them [k; 0; …], side by
    /// side, shape [frame, 2, n].
    pub(crate) fn add(&mut self, rows: &[f64]) {
        for (i, size) in self.coordinates.energies(rows).into_iter().enumerate() {
            let most = match i % 2 {
                0 => &mut self.largest,
                _ => &mut self.largest_drive,
            };
            *most = most.max(size);
        }
    }

    /// Adds the cloth of a frame.
    pub(crate) fn add_cloth(&mut self, y: &[f64]) {
        let size = y.iter().map(|x| x * x).sum::<f64>().sqrt();
        self.largest_cloth = self.largest_cloth.max(size);
    }

    pub(crate) fn finish(self, n_vertices: usize) -> Energy {
        let threshold = self.largest_drive / (1.0 - self.coordinates.radius);
        Energy {
            largest: self.largest,
            threshold,
            largest_displacement: self.largest_cloth / (n_vertices as f64).sqrt(),
            threshold_displacement: self.coordinates.displacement(threshold, n_vertices),
        }
    }
}

#[cfg(test)]
mod tests {
    use drapery_runtime::RootTerms;

    use super::*;

    /// y ← 0.9 R y + k with a turn R: its eigenvectors are at right angles, so that the
    /// energy is ‖y‖. Driven by 0.1 in the direction in which it is, it comes as near to
    /// 0.1 / (1 − 0.9) as one likes, and not beyond.
    #[test]
    fn what_is_driven_along_its_swing_comes_up_to_the_threshold() {
        let (sine, cosine) = 0.7f64.sin_cos();
        let turned = |y: [f64; 2]| [cosine * y[0] - sine * y[1], sine * y[0] + cosine * y[1]];
        let column = |y: [f64; 2]| turned(y).map(|v| (0.9 * v) as f32);
        let weights = [[1.0, 0.0], column([1.0, 0.0]), column([0.0, 1.0])];
        let dynamics = Dynamics::new(1, 2, 1, RootTerms::Without, weights.concat()).unwrap();
        let coordinates = EnergyCoordinates::of(&dynamics).unwrap();
        let found = coordinates.energies(&[0.3, 0.4, -0.6, 0.8]);
        assert!((found[0] - 0.5).abs() < 1e-6 && (found[1] - 1.0).abs() < 1e-6);
        assert!((coordinates.displacement(0.5, 4) - 0.25).abs() < 1e-6);

        let mut meter = EnergyMeter::new(coordinates);
        let mut y = [0.01, 0.0];
        for _ in 0..100 {
            let next = turned(y).map(|v| 0.9 * v);
            let drive = next.map(|v| 0.1 * v / next[0].hypot(next[1]));
            y = [next[0] + drive[0], next[1] + drive[1]];
            meter.add(&[y[0], y[1], drive[0], drive[1]]);
            meter.add_cloth(&y);
        }
        let energy = meter.finish(4);
        assert!((energy.threshold - 1.0).abs() < 1e-5, "{energy:?}");
        assert!((0.999..1.0).contains(&energy.largest), "{energy:?}");
        assert!((energy.largest_displacement - 0.5 * energy.largest).abs() < 1e-6);
        assert!((energy.threshold_displacement - 0.5).abs() < 1e-5);
    }

    #[test]
    fn what_has_no_memory_has_no_energy() {
        let dynamics = Dynamics::new(1, 1, 0, RootTerms::Without, vec![1.0]).unwrap();
        assert!(EnergyCoordinates::of(&dynamics).is_none());
    }
}
