//! Implicit smoothing over the surface of a garment: what is left is coarse,
//! what is lost is detail.
//!
//! ```text
//! (M + t L) s = M f          ⟨r²⟩ = 4 t = ℓ²,   ℓ = 5 cm
//! ```
//!
//! | symbol | here       | meaning                                                    |
//! |--------|------------|------------------------------------------------------------|
//! | M      | `areas`    | area of the places nearest to a vertex [m²]                |
//! | L      | `weights`  | −½ (cot α + cot β) between the ends of an edge              |
//! | ℓ      | [`LENGTH`] | root mean square width of the kernel                        |
//! | f, s   |            | a number a vertex, before and after                         |
//!
//! Areas are mixed ones (M. Meyer, M. Desbrun, P. Schröder, A. Barr, 2003): those
//! of Voronoi cells, but of halves and quarters in obtuse triangles. A third of
//! each triangle would give vertices of four and of eight neighbours different
//! curvatures on one and the same cylinder.
//!
//! A wave of wave number k is left by 1/(1 + t k²): half of it at 2π ℓ/2 =
//! 16 cm, a tenth at 5 cm. Areas and angles are those of the rest shape, which cloth
//! nearly keeps however it folds, so that one operator does for all frames. A
//! constant is left as it is, also next to a hem.

use drapery_core::Garment;

/// What is narrower than this is detail [m]: the root mean square width of the
/// smoothing kernel. "Over 5 cm" in DESIGN §7.
pub const LENGTH: f64 = 0.05;

/// Where the residual is below this share of the right side, it is solved.
const TOLERANCE: f64 = 1e-7;
/// More steps than any mesh of cloth takes: the condition is 1 + 2 t/h² or so.
const MAX_STEPS: u32 = 400;

/// Areas and cotangents of a garment's rest shape.
#[derive(Clone, Debug)]
pub struct RestSurface {
    areas: Vec<f64>,
    /// Neighbours of each vertex and their weights, one vertex after the other.
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f64>,
    /// Diagonal of M + t L.
    diagonal: Vec<f64>,
    on_border: Vec<bool>,
    /// t [m²].
    time: f64,
}

impl RestSurface {
    /// The surface of a garment, smoothed over [`LENGTH`].
    pub fn new(garment: &Garment) -> Self {
        let topology = garment.mesh().topology();
        let n_vertices = topology.n_vertices();
        let mut areas = vec![0.0; n_vertices];
        let mut sides: Vec<([u32; 2], f64)> = Vec::new();
        for (t, corners) in topology.triangles().iter().enumerate() {
            let lengths = garment.rest_lengths(t as u32).map(f64::from);
            let (area, cotangents) = angles(lengths);
            let shares = mixed_areas(area, lengths.map(|l| l * l), cotangents);
            for (corner, cotangent) in cotangents.into_iter().enumerate() {
                let [a, b, c] = [0, 1, 2].map(|i| corners[(corner + i) % 3]);
                areas[a as usize] += shares[corner];
                if b != c {
                    sides.push(([b, c], 0.5 * cotangent));
                    sides.push(([c, b], 0.5 * cotangent));
                }
            }
        }
        sides.sort_by_key(|side| side.0);
        let (mut starts, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
        for same in sides.chunk_by(|p, q| p.0 == q.0) {
            let [from, to] = same[0].0;
            starts.resize(from as usize + 1, neighbours.len());
            neighbours.push(to);
            weights.push(same.iter().map(|side| side.1).sum());
        }
        starts.resize(n_vertices + 1, neighbours.len());
        let time = LENGTH * LENGTH / 4.0;
        // A vertex without a triangle stays what it is.
        for area in &mut areas {
            *area = area.max(1e-12);
        }
        let around = |v: usize| weights[starts[v]..starts[v + 1]].iter().sum::<f64>();
        let diagonal = (0..n_vertices).map(|v| areas[v] + time * around(v));
        let diagonal = diagonal.collect();
        let mut on_border = vec![false; n_vertices];
        for edge in topology.edges() {
            if !edge.is_consistent() {
                on_border[edge.vertices[0] as usize] = true;
                on_border[edge.vertices[1] as usize] = true;
            }
        }
        Self {
            areas,
            starts,
            neighbours,
            weights,
            diagonal,
            on_border,
            time,
        }
    }

    /// The area of the places nearest to each vertex [m²].
    pub fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// Which vertices are on a hem.
    pub fn on_border(&self) -> &[bool] {
        &self.on_border
    }

    /// The vertices next to one.
    pub fn around(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// The field smoothed, by conjugate gradients with the diagonal as
    /// preconditioner, from the field itself.
    ///
    /// # Panics
    /// When there is not one number a vertex.
    pub fn smooth(&self, field: &[f64]) -> Vec<f64> {
        assert_eq!(field.len(), self.areas.len(), "one number a vertex");
        let mut x = field.to_vec();
        let weighted = |f: &[f64]| f.iter().zip(&self.areas).map(|(f, m)| f * f / m).sum();
        let right: Vec<f64> = field.iter().zip(&self.areas).map(|(f, m)| f * m).collect();
        let limit: f64 = TOLERANCE * TOLERANCE * weighted(&right);
        let mut residual = vec![0.0; x.len()];
        self.apply(&x, &mut residual);
        for (r, b) in residual.iter_mut().zip(&right) {
            *r = b - *r;
        }
        let scaled = |r: &[f64]| -> Vec<f64> {
            let both = r.iter().zip(&self.diagonal);
            both.map(|(r, d)| r / d).collect()
        };
        let mut z = scaled(&residual);
        let mut along = z.clone();
        let mut product = dot(&residual, &z);
        let mut applied = vec![0.0; x.len()];
        for _ in 0..MAX_STEPS {
            let left: f64 = weighted(&residual);
            if left <= limit || product <= 0.0 {
                break;
            }
            self.apply(&along, &mut applied);
            let alpha = product / dot(&along, &applied);
            for i in 0..x.len() {
                x[i] += alpha * along[i];
                residual[i] -= alpha * applied[i];
            }
            z = scaled(&residual);
            let next = dot(&residual, &z);
            let beta = next / product;
            product = next;
            for (a, z) in along.iter_mut().zip(&z) {
                *a = z + beta * *a;
            }
        }
        x
    }

    /// (M + t L) x.
    fn apply(&self, x: &[f64], out: &mut [f64]) {
        for (v, out) in out.iter_mut().enumerate() {
            let range = self.starts[v]..self.starts[v + 1];
            let pairs = self.neighbours[range.clone()]
                .iter()
                .zip(&self.weights[range]);
            let sum: f64 = pairs.map(|(to, weight)| weight * x[*to as usize]).sum();
            *out = self.diagonal[v] * x[v] - self.time * sum;
        }
    }
}

/// The area of a triangle [m²] and the cotangents at its corners, from its sides
/// 01, 12, 20 [m].
fn angles([a, b, c]: [f64; 3]) -> (f64, [f64; 3]) {
    let s = (a + b + c) / 2.0;
    let longest = a.max(b).max(c);
    let area_sq = (s * (s - a) * (s - b) * (s - c)).max(0.0);
    // A sliver has cotangents without bound.
    let area = area_sq.sqrt().max(1e-3 * longest * longest).max(1e-18);
    let [a, b, c] = [a * a, b * b, c * c];
    let cotangents = [a + c - b, a + b - c, b + c - a];
    (area, cotangents.map(|twice| twice / (4.0 * area)))
}

/// The part of a triangle's area that belongs to each corner, given its squared
/// sides 01, 12, 20 [m²] and the cotangents at its corners.
pub(crate) fn mixed_areas(area: f64, squares: [f64; 3], cotangents: [f64; 3]) -> [f64; 3] {
    if let Some(obtuse) = cotangents.iter().position(|c| *c < 0.0) {
        return [0, 1, 2].map(|i| area / if i == obtuse { 2.0 } else { 4.0 });
    }
    // Of the two sides at a corner, each with the cotangent at its other end's
    // opposite.
    [0, 1, 2].map(|i| {
        let (next, last) = ((i + 1) % 3, (i + 2) % 3);
        (squares[i] * cotangents[last] + squares[last] * cotangents[next]) / 8.0
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::f64::consts::TAU;

    use drapery_core::TriMesh;
    use glam::Vec3;

    use super::*;

    /// A flat garment of n × n vertices, `h` apart [m], with diagonals that
    /// alternate.
    pub(crate) fn sheet(n: u32, h: f32) -> Garment {
        let at = |i: u32, j: u32| Vec3::new(i as f32, j as f32, 0.0) * h;
        let positions = (0..n * n).map(|v| at(v % n, v / n)).collect();
        let mut triangles = Vec::new();
        for (i, j) in (0..n - 1).flat_map(|j| (0..n - 1).map(move |i| (i, j))) {
            let [a, b, c, d] = [
                j * n + i,
                j * n + i + 1,
                (j + 1) * n + i,
                (j + 1) * n + i + 1,
            ];
            if (i + j) % 2 == 0 {
                triangles.extend([[a, b, d], [a, d, c]]);
            } else {
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
        let mesh = TriMesh::new(positions, triangles).unwrap();
        Garment::new("sheet".into(), mesh, None, vec![], vec![]).unwrap()
    }

    #[test]
    fn a_wave_is_left_by_its_share() {
        let sheet = sheet(81, 0.01);
        let surface = RestSurface::new(&sheet);
        let total: f64 = surface.areas().iter().sum();
        assert!((total - 0.64).abs() < 1e-5);
        let t = LENGTH * LENGTH / 4.0;
        for n_waves in [4.0, 8.0, 16.0] {
            // Whole waves with no slope at the hems.
            let k = TAU * n_waves / 2.0 / 0.8;
            let at = sheet.mesh().positions().iter();
            let wave: Vec<f64> = at.map(|p| (k * f64::from(p.x)).cos()).collect();
            let smooth = surface.smooth(&wave);
            let share = dot(&smooth, &wave) / dot(&wave, &wave);
            let expected = 1.0 / (1.0 + t * k * k);
            assert!(
                (share / expected - 1.0).abs() < 0.03,
                "{n_waves}: {share} {expected}"
            );
        }
    }

    #[test]
    fn a_constant_stays_and_the_integral_is_kept() {
        let surface = RestSurface::new(&sheet(21, 0.02));
        let constant = surface.smooth(&vec![3.25; 441]);
        assert!(constant.iter().all(|s| (s - 3.25).abs() < 1e-6));
        let mut spike = vec![0.0; 441];
        spike[37] = 1.0;
        let spread = surface.smooth(&spike);
        let integral = |f: &[f64]| dot(f, surface.areas());
        assert!((integral(&spread) / integral(&spike) - 1.0).abs() < 1e-6);
        assert!(spread[37] < 0.5 && spread[38] > 0.0);
    }

    #[test]
    fn the_angles_of_a_right_triangle() {
        let (area, [at_0, at_1, at_2]) = angles([3.0, 5.0, 4.0]);
        assert!((area - 6.0).abs() < 1e-12);
        // Sides 01 and 20 meet in the right angle at corner 0.
        assert!(at_0.abs() < 1e-12);
        assert!((at_1 - 0.75).abs() < 1e-12 && (at_2 - 4.0 / 3.0).abs() < 1e-12);
        // All of it is shared out, also at an obtuse corner.
        for sides in [[3.0, 5.0, 4.0], [1.0, 1.0, 1.0], [2.0, 3.5, 2.0]] {
            let (area, cotangents) = angles(sides);
            let shares = mixed_areas(area, sides.map(|l| l * l), cotangents);
            assert!((shares.iter().sum::<f64>() / area - 1.0).abs() < 1e-12);
        }
        assert!(angles([1.0, 1.0, 2.0]).1.iter().all(|c| c.is_finite()));
        assert!(angles([0.0; 3]).1.iter().all(|c| c.is_finite()));
    }
}
