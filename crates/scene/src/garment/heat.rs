//! Smoothing on a mesh: a few implicit steps of the heat equation.
//!
//! ```text
//! (M + τ L_σ) w_new = M w,   τ = 1 / (2 n_steps),   L_σ = Σ_edges c_ij σ_i σ_j
//! ```
//!
//! with M the vertex areas, c_ij the cotangent weights (none below 0, so that
//! values stay within the range they had) and σ the reach at a vertex [m]: what
//! was at a point spreads around it with a standard deviation of σ, whatever
//! the size of the triangles.

use drapery_core::Topology;
use glam::Vec3;

/// Implicit steps: one leaves a peak at every vertex, three are close to a
/// Gaussian.
const N_STEPS: usize = 3;

/// The implicit heat equation on a mesh.
pub(crate) struct Heat {
    mass: Vec<f64>,
    /// Neighbours of each vertex with the strength of the edge, times τ.
    edges: Vec<Vec<(u32, f64)>>,
    diagonal: Vec<f64>,
}

impl Heat {
    /// With a reach for every vertex [m].
    pub(crate) fn new(topology: &Topology, positions: &[Vec3], reach: &[f64]) -> Self {
        let n = positions.len();
        let mut mass = vec![0.0; n];
        let mut sides: Vec<(u32, u32, f64)> = Vec::new();
        for corners in topology.triangles() {
            let [a, b, c] = corners.map(|v| positions[v as usize].as_dvec3());
            let area = (b - a).cross(c - a).length() / 2.0;
            let points = [a, b, c];
            for i in 0..3 {
                mass[corners[i] as usize] += area / 3.0;
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                // The angle at i is opposite to the edge (j, k).
                let (u, v) = (points[j] - points[i], points[k] - points[i]);
                let cotangent = u.dot(v) / u.cross(v).length().max(1e-12);
                let (p, q) = (corners[j].min(corners[k]), corners[j].max(corners[k]));
                if p != q {
                    sides.push((p, q, cotangent / 2.0));
                }
            }
        }
        sides.sort_by_key(|s| (s.0, s.1));
        let mut edges = vec![Vec::new(); n];
        let mut diagonal = vec![0.0; n];
        let tau = 1.0 / (2.0 * N_STEPS as f64);
        for edge in sides.chunk_by(|s, t| (s.0, s.1) == (t.0, t.1)) {
            let (p, q) = (edge[0].0 as usize, edge[0].1 as usize);
            // Bounded on slivers, where a cotangent can be as large as it likes.
            let cotangent: f64 = edge.iter().map(|s| s.2).sum::<f64>().clamp(0.05, 20.0);
            let strength = tau * cotangent * reach[p] * reach[q];
            edges[p].push((q as u32, strength));
            edges[q].push((p as u32, strength));
            diagonal[p] += strength;
            diagonal[q] += strength;
        }
        // A vertex without triangles keeps what it has.
        for m in &mut mass {
            *m = m.max(1e-9);
        }
        Self {
            mass,
            edges,
            diagonal,
        }
    }

    /// Smooths every column of `rows`.
    pub(crate) fn smooth(&self, rows: &mut [f64], n_columns: usize) {
        let n = self.mass.len();
        let mut column = vec![0.0; n];
        for c in 0..n_columns {
            for (value, row) in column.iter_mut().zip(rows.chunks_exact(n_columns)) {
                *value = row[c];
            }
            if column.iter().all(|v| *v == 0.0) {
                continue;
            }
            for _ in 0..N_STEPS {
                self.solve(&mut column);
            }
            for (value, row) in column.iter().zip(rows.chunks_exact_mut(n_columns)) {
                row[c] = *value;
            }
        }
    }

    /// (M + τL) x = M x₀ by conjugate gradients with a diagonal preconditioner.
    fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        let apply = |x: &[f64], out: &mut [f64]| {
            for i in 0..n {
                let mut sum = (self.mass[i] + self.diagonal[i]) * x[i];
                for &(j, strength) in &self.edges[i] {
                    sum -= strength * x[j as usize];
                }
                out[i] = sum;
            }
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut ax = vec![0.0; n];
        apply(x, &mut ax);
        let mut r: Vec<f64> = (0..n).map(|i| self.mass[i] * x[i] - ax[i]).collect();
        let precondition = |r: &[f64]| -> Vec<f64> {
            (0..n)
                .map(|i| r[i] / (self.mass[i] + self.diagonal[i]))
                .collect()
        };
        let mut z = precondition(&r);
        let mut p = z.clone();
        let mut rz = dot(&r, &z);
        let goal = rz * 1e-16;
        for _ in 0..1000 {
            if rz <= goal || rz < 1e-40 {
                break;
            }
            apply(&p, &mut ax);
            let alpha = rz / dot(&p, &ax);
            for i in 0..n {
                x[i] += alpha * p[i];
                r[i] -= alpha * ax[i];
            }
            z = precondition(&r);
            let next = dot(&r, &z);
            let beta = next / rz;
            rz = next;
            for i in 0..n {
                p[i] = z[i] + beta * p[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_keeps_constants_and_spreads_by_its_reach() {
        // A strip of 81 × 9 vertices, 1 cm apart, with a step in the middle.
        let (nx, ny, h) = (81u32, 9u32, 0.01f32);
        let positions: Vec<Vec3> = (0..nx * ny)
            .map(|i| Vec3::new((i % nx) as f32 * h, 0.0, (i / nx) as f32 * h))
            .collect();
        let mut triangles = Vec::new();
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let a = y * nx + x;
                triangles.extend([[a, a + nx, a + 1], [a + 1, a + nx, a + nx + 1]]);
            }
        }
        let topology = Topology::new(nx * ny, triangles).unwrap();
        let reach = vec![0.05; (nx * ny) as usize];
        let heat = Heat::new(&topology, &positions, &reach);
        let mut rows: Vec<f64> = (0..nx * ny)
            .flat_map(|i| [f64::from(u8::from(i % nx >= 40)), 1.0])
            .collect();
        heat.smooth(&mut rows, 2);
        for row in rows.chunks_exact(2) {
            assert!(
                (row[1] - 1.0).abs() < 1e-7,
                "a constant changed to {}",
                row[1]
            );
            assert!((-1e-7..=1.0 + 1e-7).contains(&row[0]));
        }
        // The slope of the smoothed step is the kernel: its variance is σ².
        let middle = 4 * nx as usize;
        let value = |x: usize| rows[2 * (middle + x)];
        let variance: f64 = (0..80)
            .map(|x| (value(x + 1) - value(x)) * (f64::from(h) * (x as f64 + 0.5 - 39.5)).powi(2))
            .sum();
        assert!(
            (variance.sqrt() - 0.05).abs() < 0.003,
            "spread {}",
            variance.sqrt()
        );
    }
}
