//! `stretch_p99_percent`: how much longer edges have become, and percentiles over
//! many frames.
//!
//! ```text
//! ε = l / l₀ − 1
//! ```
//!
//! with l₀ the length of an edge in the rest shape, or in the settled state.
//! Percentiles over frames are by bins of a hundredth of a percent.

use drapery_core::Garment;
use glam::Vec3;

/// The edges of a garment and how long they are at rest.
#[derive(Clone, Debug)]
pub struct RestEdges {
    ends: Vec<[u32; 2]>,
    /// In the rest shape [m]; on a seam whose two sides differ, their mean.
    rest: Vec<f32>,
    /// In the first frame [m]; empty before it.
    settled: Vec<f32>,
}

impl RestEdges {
    /// The edges of a garment.
    pub fn new(garment: &Garment) -> Self {
        let mut sides: Vec<([u32; 2], f32)> = Vec::new();
        for (t, corners) in garment.mesh().triangles().iter().enumerate() {
            for (side, rest) in garment.rest_lengths(t as u32).into_iter().enumerate() {
                let (a, b) = (corners[side], corners[(side + 1) % 3]);
                if a != b {
                    sides.push(([a.min(b), a.max(b)], rest));
                }
            }
        }
        sides.sort_by_key(|side| side.0);
        let same = sides.chunk_by(|a, b| a.0 == b.0);
        let (ends, rest) = same
            .map(|all| {
                let sum: f32 = all.iter().map(|side| side.1).sum();
                (all[0].0, sum / all.len() as f32)
            })
            .unzip();
        Self {
            ends,
            rest,
            settled: Vec::new(),
        }
    }

    /// The two vertices of each edge, the smaller first; sorted.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// Takes `positions` [m] as the settled state, in the place of the first
    /// frame.
    pub fn settle(&mut self, positions: &[Vec3]) {
        self.settled = self.lengths(positions);
    }

    fn lengths(&self, positions: &[Vec3]) -> Vec<f32> {
        let ends = self.ends.iter().map(|ends| ends.map(|v| v as usize));
        ends.map(|[a, b]| positions[a].distance(positions[b]))
            .collect()
    }

    /// Strain of every edge at `positions` [m] against the rest shape and
    /// against the settled state, which is the first frame unless
    /// [`settle`](Self::settle) said otherwise; 0.1 is a tenth longer.
    pub fn strains(&mut self, positions: &[Vec3]) -> [Vec<f32>; 2] {
        let lengths = self.lengths(positions);
        if self.settled.is_empty() {
            self.settled.clone_from(&lengths);
        }
        [&self.rest, &self.settled].map(|before| {
            let both = lengths.iter().zip(before);
            both.map(|(now, before)| now / before.max(1e-9) - 1.0)
                .collect()
        })
    }
}

/// The value that 99 of 100 do not exceed; 0 of none.
pub fn p99(values: &mut [f32]) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let place = (values.len() - 1) * 99 / 100;
    let (_, value, _) = values.select_nth_unstable_by(place, f32::total_cmp);
    *value
}

/// Counts of strains in bins, for a percentile over more values than can be
/// kept.
#[derive(Clone, Debug)]
pub struct StrainCounts {
    bins: Vec<u64>,
    n: u64,
}

/// Bins are this wide, and percentiles as exact.
const BIN: f64 = 1e-4;
/// Strain at the start of the first bin: an edge of no length.
const LOWEST: f64 = -1.0;
/// What is longer than five times the rest length counts as that.
const N_BINS: usize = 50_000;

impl Default for StrainCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl StrainCounts {
    /// No strains yet.
    pub fn new() -> Self {
        Self {
            bins: vec![0; N_BINS],
            n: 0,
        }
    }

    /// Takes those of another count into account.
    pub fn merge(&mut self, other: &Self) {
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            *bin += more;
        }
        self.n += other.n;
    }

    /// Counts strains.
    pub fn add(&mut self, strains: &[f32]) {
        for strain in strains {
            // What is no number counts as the longest.
            let bin = match ((f64::from(*strain) - LOWEST) / BIN).floor() {
                bin if bin < N_BINS as f64 => bin.max(0.0) as usize,
                _ => N_BINS - 1,
            };
            self.bins[bin] += 1;
        }
        self.n += strains.len() as u64;
    }

    /// The value that a share of all does not exceed, to the middle of its
    /// bin; 0 of none.
    pub fn quantile(&self, share: f64) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        let place = ((self.n - 1) as f64 * share).floor() as u64;
        let mut below = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            below += count;
            if below > place {
                return LOWEST + (bin as f64 + 0.5) * BIN;
            }
        }
        LOWEST + N_BINS as f64 * BIN
    }
}

#[cfg(test)]
mod tests {
    use drapery_core::{Pattern, TriMesh};
    use glam::Vec2;

    use super::*;

    /// A grid of squares with a diagonal each, flat in its own pattern.
    fn grid(n: u32) -> Garment {
        let points: Vec<Vec2> = (0..n * n)
            .map(|i| Vec2::new((i % n) as f32, (i / n) as f32) * 0.01)
            .collect();
        let mut triangles = Vec::new();
        for j in 0..n - 1 {
            for i in 0..n - 1 {
                let a = j * n + i;
                triangles.push([a, a + 1, a + n]);
                triangles.push([a + 1, a + n + 1, a + n]);
            }
        }
        let flat = points.iter().map(|p| p.extend(0.0)).collect();
        let mesh = TriMesh::new(flat, triangles.clone()).unwrap();
        let pattern = Pattern {
            coordinates: points,
            triangles,
        };
        Garment::new("grid".into(), mesh, Some(pattern), vec![], vec![]).unwrap()
    }

    #[test]
    fn a_grid_drawn_out_is_stretched_as_its_edges_are() {
        let grid = grid(11);
        let mut edges = RestEdges::new(&grid);
        assert_eq!(edges.ends.len(), 110 + 110 + 100);
        let flat = grid.mesh().positions();
        let [rest, settled] = edges.strains(flat);
        assert!(rest.iter().chain(&settled).all(|s| s.abs() < 1e-5));
        // A fifth longer along x and a tenth shorter along y.
        let drawn: Vec<Vec3> = flat.iter().map(|p| *p * Vec3::new(1.2, 0.9, 1.0)).collect();
        let [mut rest, _] = edges.strains(&drawn);
        let diagonal = ((1.44f32 + 0.81) / 2.0).sqrt() - 1.0;
        for (strain, [a, b]) in rest.iter().zip(&edges.ends) {
            let expected = match b - a {
                1 => 0.2,
                11 => -0.1,
                _ => diagonal,
            };
            assert!((strain - expected).abs() < 1e-5);
        }
        assert!((p99(&mut rest) - 0.2).abs() < 1e-5);
    }

    #[test]
    fn the_first_frame_is_what_is_settled() {
        let grid = grid(4);
        let mut edges = RestEdges::new(&grid);
        let flat = grid.mesh().positions();
        let scaled = |factor: f32| -> Vec<Vec3> { flat.iter().map(|p| *p * factor).collect() };
        let [rest, settled] = edges.strains(&scaled(1.1));
        assert!(rest.iter().all(|s| (s - 0.1).abs() < 1e-5));
        assert!(settled.iter().all(|s| *s == 0.0));
        edges.settle(&scaled(1.1));
        let [rest, settled] = edges.strains(&scaled(1.32));
        assert!(rest.iter().all(|s| (s - 0.32).abs() < 1e-5));
        assert!(settled.iter().all(|s| (s - 0.2).abs() < 1e-5));
    }

    #[test]
    fn percentiles_of_bins_are_those_of_the_values_to_a_bin() {
        let mut values: Vec<f32> = (0..5000u32)
            .map(|i| (f64::from(i * i % 4999) / 4999.0 * 0.5 - 0.2) as f32)
            .collect();
        let mut counts = StrainCounts::new();
        for part in values.chunks(777) {
            counts.add(part);
        }
        for share in [0.0, 0.5, 0.99, 1.0] {
            let mut sorted = values.clone();
            sorted.sort_by(f32::total_cmp);
            let exact = f64::from(sorted[((sorted.len() - 1) as f64 * share) as usize]);
            assert!((counts.quantile(share) - exact).abs() < BIN);
        }
        assert!((f64::from(p99(&mut values)) - counts.quantile(0.99)).abs() < BIN);
        assert_eq!(StrainCounts::new().quantile(0.99), 0.0);
        // What is out of range, or no number, is at an end.
        let mut odd = StrainCounts::new();
        odd.add(&[-3.0, 1e9, f32::NAN]);
        assert!(odd.quantile(0.0) < -0.99 && odd.quantile(0.5) > 3.99);
    }
}
