//! `mean_cm`, `p95_cm`, `max_cm`: how far the garment is from where the
//! simulation has it.
//!
//! ```text
//! eᵢₜ = ‖xᵢₜ − x*ᵢₜ‖      over vertices i and frames t, in world space
//! ```
//!
//! The mean and the largest are exact, p95 is by [`Histogram`] (0.4 %). Masked
//! vertices count.

use glam::Vec3;

use crate::histogram::Histogram;

/// Distances of vertices, summed over frames.
#[derive(Clone, Debug, Default)]
pub struct Distances {
    /// All of them [m].
    pub all: Histogram,
    /// Sum over frames of each vertex [m], shape [vertex].
    sums: Vec<f64>,
    n_frames: u64,
}

impl Distances {
    /// One frame: the garment at `found` [m], simulated at `simulated`. Gives
    /// the mean of the frame [m].
    ///
    /// # Panics
    /// When lengths differ, also from those of frames before.
    pub fn add(&mut self, found: &[Vec3], simulated: &[Vec3]) -> f64 {
        assert_eq!(found.len(), simulated.len(), "one position a vertex");
        self.sums.resize(self.sums.len().max(found.len()), 0.0);
        assert_eq!(found.len(), self.sums.len(), "frames of one garment");
        let mut sum = 0.0;
        for ((p, q), of_vertex) in found.iter().zip(simulated).zip(&mut self.sums) {
            let distance = p.as_dvec3().distance(q.as_dvec3());
            self.all.add(distance);
            *of_vertex += distance;
            sum += distance;
        }
        self.n_frames += 1;
        sum / found.len().max(1) as f64
    }

    /// Takes other frames of the same garment into account.
    ///
    /// # Panics
    /// When they are of another garment.
    pub fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        self.sums.resize(self.sums.len().max(other.sums.len()), 0.0);
        assert_eq!(other.sums.len(), self.sums.len(), "frames of one garment");
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
        self.n_frames += other.n_frames;
    }

    /// How many frames there were.
    pub const fn n_frames(&self) -> u64 {
        self.n_frames
    }

    /// The mean over frames of each vertex [m], shape [vertex].
    pub fn of_vertices(&self) -> Vec<f64> {
        let n = self.n_frames.max(1) as f64;
        self.sums.iter().map(|sum| sum / n).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_a_moved_garment_are_how_far_it_was_moved() {
        let at: Vec<Vec3> = (0..100).map(|i| Vec3::splat(i as f32 * 0.1)).collect();
        // Vertex i is moved by i millimetres, twice as far in the second frame.
        let moved = |factor: f32| -> Vec<Vec3> {
            let moved = at.iter().enumerate();
            let way = |i: usize| Vec3::new(0.6, 0.0, 0.8) * (factor * 1e-3 * i as f32);
            moved.map(|(i, p)| *p + way(i)).collect()
        };
        let mut first = Distances::default();
        let of_frame = first.add(&moved(1.0), &at);
        assert!((of_frame - 49.5e-3).abs() < 1e-6);
        let mut second = Distances::default();
        second.add(&moved(2.0), &at);
        first.merge(&second);
        assert!((first.all.mean() - 74.25e-3).abs() < 1e-6);
        assert!((first.all.max() - 198e-3).abs() < 1e-6);
        // 190 of the 200 are at most so far: 2·i for i up to 94.
        assert!((first.all.quantile(0.95) / 180e-3 - 1.0).abs() < 0.02);
        assert_eq!(first.n_frames(), 2);
        for (i, mean) in first.of_vertices().iter().enumerate() {
            assert!((mean - 1.5e-3 * i as f64).abs() < 1e-6);
        }
    }
}
