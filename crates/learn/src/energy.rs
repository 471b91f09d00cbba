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

use drapery_linalg::{Dense, GeneralEigen, product};

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

/// Measures energies of frames.
pub(crate) struct EnergyMeter {
    n_cloth: usize,
    /// Real and imaginary parts of Q⁻¹, one below the other.
    inverse: Vec<f64>,
    n: usize,
    radius: f64,
    norm: f64,
    largest: f64,
    largest_drive: f64,
    largest_cloth: f64,
}

impl EnergyMeter {
    pub(crate) fn new(eigen: &GeneralEigen, n_cloth: usize) -> Self {
        let n = eigen.values.len();
        let real = eigen.inverse.iter().map(|z| z[0]);
        let imaginary = eigen.inverse.iter().map(|z| z[1]);
        let radius = eigen.values.first().map_or(0.0, |z| z[0].hypot(z[1]));
        Self {
            n_cloth,
            inverse: real.chain(imaginary).collect(),
            n,
            radius,
            norm: eigen.vectors_norm,
            largest: 0.0,
            largest_drive: 0.0,
            largest_cloth: 0.0,
        }
    }

    /// Adds frames: states [yₜ; yₜ₋₁; …] and what drives them [k; 0; …], side by
    /// side, shape [frame, 2, n].
    pub(crate) fn add(&mut self, rows: &[f64]) {
        let n = self.n;
        let n_rows = rows.len() / n;
        let rows = Dense::new(rows, n_rows, n);
        let both = product(rows, Dense::new(&self.inverse, 2 * n, n).transposed());
        for (i, q) in both.chunks_exact(2 * n).enumerate() {
            let size = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            let most = match i % 2 {
                0 => &mut self.largest,
                _ => &mut self.largest_drive,
            };
            *most = most.max(size);
        }
    }

    /// Adds the cloth of a frame.
    pub(crate) fn add_cloth(&mut self, y: &[f64]) {
        debug_assert_eq!(y.len(), self.n_cloth);
        let size = y.iter().map(|x| x * x).sum::<f64>().sqrt();
        self.largest_cloth = self.largest_cloth.max(size);
    }

    pub(crate) fn finish(self, n_vertices: usize) -> Energy {
        let root = (n_vertices as f64).sqrt();
        let threshold = self.largest_drive / (1.0 - self.radius);
        Energy {
            largest: self.largest,
            threshold,
            largest_displacement: self.largest_cloth / root,
            threshold_displacement: self.norm * threshold / root,
        }
    }
}
