//! Bending: the Morley curvature of each triangle, with edge slopes
//! reconstructed from the vertices around.
//!
//! For one coordinate x of the cloth as a function on its flat rest shape, the
//! mean of the second derivatives over a triangle is an integral over its
//! border, of which the edges know all but the slope across them:
//!
//! ```text
//! κ = (1/A) ∮ sym(∇x ⊗ n) ds = (1/A) Σᵢ lᵢ sym[(sᵢ nᵢ + ((x_b − x_a)/lᵢ) tᵢ) ⊗ nᵢ]
//! W = A · ½ κᵀ C κ,          κ as (κ_uu, κ_vv, 2κ_uv), summed over the three coordinates
//! ```
//!
//! with sᵢ = ∂x/∂n the mean slope across edge i, nᵢ its outward normal, tᵢ its
//! direction, lᵢ its length. For cloth that does not stretch, the sum over
//! coordinates is the squared curvature of the surface. The energy is
//! quadratic in the positions: its Hessian is constant and positive
//! semidefinite.
//!
//! | edge     | slope                                                            |
//! |----------|------------------------------------------------------------------|
//! | interior | of the quadratic that fits best around the edge: the four vertices of its two triangles and the four beyond them |
//! | border   | whatever costs least (no moment at a free edge), eliminated      |
//! | clamped  | as prescribed                                                    |
//!
//! Rigidity does not depend on the triangulation, as it does for hinges.
//! Triangles beyond an edge, also beyond a seam, are unfolded into one plane.
//!
//! Where the rest shape is curved, κ is measured from what it is at rest,
//! turned along with the triangle (`rest_curvature.rs`); that part is not
//! quadratic, and the Hessian leaves it out.
//!
//! Over a step of length h, damping costs (β / h) times the energy of the
//! change of κ since the step began, the start turned along with the
//! triangle's predicted motion, so that damping does not slow a turn.
//!
//! # Where we differ
//! Morley's element has the slopes as unknowns. Here they are reconstructed,
//! so that the vertices are the only unknowns.

use drapery_core::Fabric;
use glam::{DMat3, DVec2, DVec3};
use rayon::prelude::*;

use crate::RestShape;
use crate::edge_slope::{Beyond, slope};
use crate::reduction::{CHUNK, chunked_sum};
use crate::rest_curvature::RestCurvature;
use crate::scalar_matrix::ScalarMatrix;

/// A border edge whose slope is prescribed, as in a clamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClampedEdge {
    /// The edge's two vertices, in any order.
    pub vertices: [u32; 2],
    /// ∂x/∂n across it, n pointing out of the cloth; a unit vector.
    pub slope: DVec3,
}

/// The bending energy of a cloth.
#[derive(Clone, Debug)]
pub struct Bending {
    elements: Vec<Element>,
    /// The constant Hessian; each value stands for a multiple of the identity.
    matrix: ScalarMatrix,
    /// The gradient at the origin, from clamps [N], shape [vertex].
    constant: Vec<DVec3>,
    rest: Option<RestCurvature>,
}

/// One triangle: κ = Σ rowₖ xₖ + offset.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) vertices: Vec<u32>,
    /// Shape [vertex], each (uu, vv, 2uv).
    pub(crate) rows: Vec<DVec3>,
    offset: [DVec3; 3],
    /// A C, with free slopes eliminated.
    stiffness: DMat3,
}

impl Bending {
    /// The bending energy of a rest shape made of `fabric`.
    pub fn new(rest: &RestShape, fabric: &Fabric, clamps: &[ClampedEdge]) -> Self {
        let beyond = Beyond::new(rest.topology());
        let c = fabric.bending_matrix();
        let elements: Vec<Element> = (0..rest.areas().len())
            .map(|triangle| element(rest, &beyond, triangle, c, clamps))
            .collect();
        let n_vertices = rest.topology().n_vertices();
        let mut entries = Vec::new();
        let mut constant = vec![DVec3::ZERO; n_vertices];
        for element in &elements {
            let moments = element.moments(element.offset);
            for (a, row) in element.vertices.iter().zip(&element.rows) {
                let stressed = element.stiffness * *row;
                for (b, column) in element.vertices.iter().zip(&element.rows) {
                    entries.push((*a, *b, stressed.dot(*column)));
                }
                constant[*a as usize] += weighted(moments, *row);
            }
        }
        let curved = rest
            .curved()
            .map(|x| RestCurvature::new(rest.topology().triangles(), &elements, x));
        Self {
            matrix: ScalarMatrix::new(n_vertices, entries),
            constant,
            rest: curved,
            elements,
        }
    }

    /// Several as one, the vertices of each numbered after those before.
    pub(crate) fn join<'a>(all: impl Iterator<Item = (&'a Self, u32)>) -> Self {
        let mut joined = Self {
            elements: Vec::new(),
            matrix: ScalarMatrix::new(0, Vec::new()),
            constant: Vec::new(),
            rest: None,
        };
        for (one, first) in all {
            if one.rest.is_some() || joined.rest.is_some() {
                let before = joined.elements.len();
                let rest = joined.rest.get_or_insert_with(RestCurvature::default);
                rest.append(before, one.rest.as_ref(), one.elements.len(), first);
            }
            let elements = one.elements.iter().cloned();
            joined.elements.extend(elements.map(|mut element| {
                element.vertices.iter_mut().for_each(|v| *v += first);
                element
            }));
            joined.matrix.append(&one.matrix);
            joined.constant.extend_from_slice(&one.constant);
        }
        joined
    }

    /// The constant Hessian.
    pub(crate) const fn matrix(&self) -> &ScalarMatrix {
        &self.matrix
    }

    /// The gradient at the origin [N].
    pub(crate) fn constant(&self) -> &[DVec3] {
        &self.constant
    }

    /// The energy at positions `x` [J].
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        chunked_sum(self.elements.len(), |triangles| {
            triangles.map(|t| self.triangle_energy(t, x)).sum()
        })
    }

    /// The energy of one triangle at positions `x` [J].
    pub fn triangle_energy(&self, triangle: usize, x: &[DVec3]) -> f64 {
        let element = &self.elements[triangle];
        let kappa = element.curvature(x);
        let curved = self
            .rest
            .as_ref()
            .map_or(0.0, |r| r.energy(triangle, kappa, x));
        element.energy(kappa) + curved
    }

    /// Adds the gradient at `x` to `out` [N]; the force is its negative.
    pub fn add_gradient(&self, x: &[DVec3], out: &mut [DVec3]) {
        for element in &self.elements {
            let moments = element.moments(element.curvature(x));
            for (vertex, row) in element.vertices.iter().zip(&element.rows) {
                out[*vertex as usize] += weighted(moments, *row);
            }
        }
        self.add_rest_gradient(x, out);
    }

    /// Adds the part of the gradient that comes from a curved rest shape [N].
    pub(crate) fn add_rest_gradient(&self, x: &[DVec3], out: &mut [DVec3]) {
        if let Some(rest) = &self.rest {
            for (triangle, element) in self.elements.iter().enumerate() {
                rest.add_gradient(triangle, element, x, out);
            }
        }
    }

    /// The part of the energy that comes from a curved rest shape [J].
    pub(crate) fn rest_energy(&self, x: &[DVec3]) -> f64 {
        self.rest.as_ref().map_or(0.0, |rest| {
            chunked_sum(self.elements.len(), |triangles| {
                triangles
                    .map(|t| rest.energy(t, self.elements[t].curvature(x), x))
                    .sum()
            })
        })
    }

    /// The energy that there is without a curved rest shape, each triangle
    /// `weight` times [J].
    pub(crate) fn flat_energy(&self, x: &[DVec3], weight: impl Fn(usize) -> f64 + Sync) -> f64 {
        chunked_sum(self.elements.len(), |triangles| {
            triangles
                .map(|t| weight(t) * self.elements[t].energy(self.elements[t].curvature(x)))
                .sum()
        })
    }

    /// Gives the entries of the constant Hessian [N/m] to `add` as (row
    /// vertex, column vertex, value), the value standing for that many times
    /// the 3 × 3 identity; both triangles of the matrix, in a fixed order.
    pub fn hessian(&self, mut add: impl FnMut(u32, u32, f64)) {
        self.matrix.entries(&mut add);
    }

    /// What a step that begins at `from` and is predicted to end at `to` is
    /// damped against: the gradient Σ r rowsᵀ A C R κₙ with r the `ratio` of
    /// each triangle, and what is left of ½ r |κ − R κₙ|² when r times the flat
    /// energy and that gradient times x are taken away [J].
    pub(crate) fn start_of_damping(
        &self,
        triangles: &[[u32; 3]],
        ratio: impl Fn(usize) -> f64 + Sync,
        from: &[DVec3],
        to: &[DVec3],
        out: &mut [DVec3],
    ) -> f64 {
        let turned: Vec<([DVec3; 3], f64)> = self
            .elements
            .par_iter()
            .zip(triangles)
            .enumerate()
            .with_min_len(CHUNK)
            .map(|(triangle, (element, corners))| {
                let ratio = ratio(triangle);
                let kappa = element.curvature(from);
                let corner = |x: &[DVec3]| frame(corners.map(|v| x[v as usize]));
                let turn = corner(to) * corner(from).transpose();
                let moments = element.moments(kappa.map(|k| turn * k * ratio));
                let clamped = element.offset.iter().zip(&moments);
                let clamped: f64 = clamped.map(|(o, m)| o.dot(*m)).sum();
                (moments, ratio * element.energy(kappa) - clamped)
            })
            .collect();
        out.fill(DVec3::ZERO);
        let mut energy = 0.0;
        for (element, (moments, part)) in self.elements.iter().zip(turned) {
            energy += part;
            for (vertex, row) in element.vertices.iter().zip(&element.rows) {
                out[*vertex as usize] += weighted(moments, *row);
            }
        }
        energy
    }
}

impl Element {
    /// κ_uu, κ_vv and 2κ_uv, each for the three coordinates.
    pub(crate) fn curvature(&self, x: &[DVec3]) -> [DVec3; 3] {
        let mut kappa = self.offset;
        for (vertex, row) in self.vertices.iter().zip(&self.rows) {
            let p = x[*vertex as usize];
            kappa[0] += p * row.x;
            kappa[1] += p * row.y;
            kappa[2] += p * row.z;
        }
        kappa
    }

    pub(crate) fn moments(&self, kappa: [DVec3; 3]) -> [DVec3; 3] {
        std::array::from_fn(|i| (0..3).map(|j| kappa[j] * self.stiffness.col(j)[i]).sum())
    }

    fn energy(&self, kappa: [DVec3; 3]) -> f64 {
        let moments = self.moments(kappa);
        (0..3).map(|i| 0.5 * kappa[i].dot(moments[i])).sum()
    }

    fn add(&mut self, vertex: u32, row: DVec3) {
        match self.vertices.iter().position(|v| *v == vertex) {
            Some(at) => self.rows[at] += row,
            None => {
                self.vertices.push(vertex);
                self.rows.push(row);
            }
        }
    }
}

/// The gradient of moments · κ with respect to a vertex with this row.
pub(crate) fn weighted(moments: [DVec3; 3], row: DVec3) -> DVec3 {
    moments[0] * row.x + moments[1] * row.y + moments[2] * row.z
}

/// Axes that ride on a triangle: along its first edge, across it in the
/// plane, and along the normal. A triangle without area has some axes.
pub(crate) fn frame([a, b, c]: [DVec3; 3]) -> DMat3 {
    let along = (b - a).normalize_or(DVec3::X);
    let normal = along
        .cross(c - a)
        .try_normalize()
        .unwrap_or_else(|| along.any_orthonormal_vector());
    DMat3::from_cols(along, normal.cross(along), normal)
}

fn element(
    rest: &RestShape,
    beyond: &Beyond,
    triangle: usize,
    c: DMat3,
    clamps: &[ClampedEdge],
) -> Element {
    let vertices = rest.topology().triangles()[triangle];
    let corners = rest.corners()[triangle];
    let area = rest.areas()[triangle];
    let mut element = Element {
        vertices: Vec::new(),
        rows: Vec::new(),
        offset: [DVec3::ZERO; 3],
        stiffness: DMat3::ZERO,
    };
    let mut free: Vec<DVec3> = Vec::new();
    for side in 0..3 {
        let (a, b) = (corners[side], corners[(side + 1) % 3]);
        let (va, vb) = (vertices[side], vertices[(side + 1) % 3]);
        let length = a.distance(b);
        let t = (b - a) / length;
        let n = DVec2::new(t.y, -t.x);
        // sym(p ⊗ n) as (uu, vv, 2uv), times lᵢ/A.
        let part =
            |p: DVec2| DVec3::new(p.x * n.x, p.y * n.y, p.x * n.y + p.y * n.x) * (length / area);
        let tangential = part(t) / length;
        element.add(vb, tangential);
        element.add(va, -tangential);
        let normal = part(n);
        if beyond.of(triangle, side).is_some() {
            for (vertex, share) in slope(rest, beyond, triangle, side) {
                element.add(vertex, normal * share);
            }
        } else if let Some(clamp) = clamps.iter().find(|k| is_edge(k.vertices, [va, vb])) {
            for (i, offset) in element.offset.iter_mut().enumerate() {
                *offset += clamp.slope * normal[i];
            }
        } else {
            free.push(normal);
        }
    }
    element.stiffness = without_free_slopes(c, &free) * area;
    element
}

fn is_edge(a: [u32; 2], b: [u32; 2]) -> bool {
    a == b || [a[1], a[0]] == b
}

/// C − Σ over the free slopes: the energy that is left when each takes the
/// value that costs least. With directions f: C − C f (fᵀ C f)⁻¹ fᵀ C, one
/// after the other.
fn without_free_slopes(mut c: DMat3, free: &[DVec3]) -> DMat3 {
    for f in free {
        let cf = c * *f;
        let cost = f.dot(cf);
        // A direction that costs nothing any more has been eliminated already.
        if cost > 1e-12 * f.length_squared() * c.col(0).x.abs().max(f64::MIN_POSITIVE) {
            c -= DMat3::from_cols(cf * cf.x, cf * cf.y, cf * cf.z) * (1.0 / cost);
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use drapery_core::Topology;

    use super::*;

    /// Three ways to cut a square of `n` cells into triangles.
    #[derive(Clone, Copy, Debug)]
    enum Cut {
        Aligned,
        CrissCross,
        Jittered,
    }

    fn square(n: u32, cut: Cut) -> (RestShape, Vec<DVec2>) {
        let side = n + 1;
        let mut points: Vec<DVec2> = (0..side * side)
            .map(|i| DVec2::new(f64::from(i % side), f64::from(i / side)) / f64::from(n))
            .collect();
        if let Cut::Jittered = cut {
            for (i, p) in points.iter_mut().enumerate() {
                let (x, y) = (i as u32 % side, i as u32 / side);
                if x > 0 && y > 0 && x < n && y < n {
                    let shift = |k: f64| 0.25 * (k * (i as f64 + 1.0)).sin() / f64::from(n);
                    *p += DVec2::new(shift(12.9), shift(78.2));
                }
            }
        }
        let mut triangles = Vec::new();
        for y in 0..n {
            for x in 0..n {
                let a = y * side + x;
                let (b, c, d) = (a + 1, a + side + 1, a + side);
                let flip = match cut {
                    Cut::Aligned => false,
                    Cut::CrissCross => (x + y) % 2 == 0,
                    Cut::Jittered => (x * 7 + y * 3) % 5 < 2,
                };
                match flip {
                    false => triangles.extend([[a, b, c], [a, c, d]]),
                    true => triangles.extend([[a, b, d], [b, c, d]]),
                }
            }
        }
        let corners = triangles
            .iter()
            .map(|t: &[u32; 3]| t.map(|v| points[v as usize]))
            .collect();
        let topology = Topology::new(side * side, triangles).unwrap();
        (RestShape::from_corners(topology, corners).unwrap(), points)
    }

    const CUTS: [Cut; 3] = [Cut::Aligned, Cut::CrissCross, Cut::Jittered];

    fn fabric() -> Fabric {
        Fabric::plain("test", 0.2, 500.0, 3e-5)
    }

    /// A cylinder of curvature `kappa` whose curved direction makes `angle` with u.
    fn rolled(points: &[DVec2], kappa: f64, angle: f64) -> Vec<DVec3> {
        let along = DVec2::from_angle(angle);
        let across = along.perp();
        points
            .iter()
            .map(|p| {
                let (s, w) = (p.dot(along), p.dot(across));
                DVec3::new(
                    (kappa * s).sin() / kappa,
                    w,
                    (1.0 - (kappa * s).cos()) / kappa,
                )
            })
            .collect()
    }

    #[test]
    fn flat_and_rigidly_moved_cloth_has_no_energy() {
        for cut in CUTS {
            let (rest, points) = square(6, cut);
            let bending = Bending::new(&rest, &fabric(), &[]);
            let turn = DMat3::from_rotation_x(0.4) * DMat3::from_rotation_z(2.0);
            let x: Vec<DVec3> = points
                .iter()
                .map(|p| turn * p.extend(0.0) + DVec3::ONE)
                .collect();
            assert!(
                bending.energy(&x).abs() < 1e-18,
                "{cut:?}: {}",
                bending.energy(&x)
            );
        }
    }

    #[test]
    fn a_cylinder_costs_half_d_kappa_squared_in_any_direction() {
        let (kappa, d) = (0.5, 3e-5);
        for cut in CUTS {
            let (rest, points) = square(24, cut);
            let bending = Bending::new(&rest, &fabric(), &[]);
            for angle in [0.0, 0.4, 0.785, 1.2, 1.571, 2.4] {
                let x = rolled(&points, kappa, angle);
                // Away from the border, where free slopes lower the energy.
                let inner = |t: &usize| {
                    let middle = rest.corners()[*t].iter().sum::<DVec2>() / 3.0;
                    (middle - DVec2::splat(0.5)).abs().max_element() < 0.4
                };
                let inside: Vec<usize> = (0..rest.areas().len()).filter(inner).collect();
                let energy: f64 = inside.iter().map(|t| bending.triangle_energy(*t, &x)).sum();
                let area: f64 = inside.iter().map(|t| rest.areas()[*t]).sum();
                let expected = 0.5 * d * kappa * kappa * area;
                let error = energy / expected - 1.0;
                assert!(error.abs() < 5e-3, "{cut:?} at {angle}: {error:+.4}");
            }
        }
    }

    #[test]
    fn the_gradient_is_the_hessian_times_the_positions() {
        let (rest, points) = square(5, Cut::Jittered);
        let clamp = ClampedEdge {
            vertices: [0, 1],
            slope: DVec3::new(0.0, -1.0, 0.3).normalize(),
        };
        let bending = Bending::new(&rest, &fabric(), &[clamp]);
        let x = rolled(&points, 2.0, 0.6);
        let direction: Vec<DVec3> = (0..x.len())
            .map(|i| DVec3::new((i as f64).sin(), (i as f64 * 1.7).cos(), 0.3))
            .collect();
        let moved: Vec<DVec3> = x
            .iter()
            .zip(&direction)
            .map(|(x, d)| *x + *d * 0.1)
            .collect();
        let gradient = |x: &[DVec3]| {
            let mut g = vec![DVec3::ZERO; x.len()];
            bending.add_gradient(x, &mut g);
            g
        };
        // Quadratic: a central difference of the energy is exact, and so is the Hessian.
        let back: Vec<DVec3> = x
            .iter()
            .zip(&direction)
            .map(|(x, d)| *x - *d * 0.1)
            .collect();
        let slope = (bending.energy(&moved) - bending.energy(&back)) / 0.2;
        let (g, g_moved) = (gradient(&x), gradient(&moved));
        let expected: f64 = g.iter().zip(&direction).map(|(g, d)| g.dot(*d)).sum();
        assert!(
            (slope - expected).abs() < 1e-9 * slope.abs().max(1e-6),
            "{slope} {expected}"
        );
        let mut product = vec![DVec3::ZERO; x.len()];
        bending.hessian(|r, c, value| product[r as usize] += direction[c as usize] * value * 0.1);
        for ((a, b), p) in g_moved.iter().zip(&g).zip(&product) {
            assert!((*a - *b - *p).length() < 1e-12);
        }
    }

    #[test]
    fn the_winding_of_triangles_is_of_no_account() {
        let (rest, points) = square(8, Cut::Jittered);
        let mut triangles = rest.topology().triangles().to_vec();
        for t in triangles.iter_mut().step_by(2) {
            t.swap(1, 2);
        }
        let corners = triangles
            .iter()
            .map(|t| t.map(|v| points[v as usize]))
            .collect();
        let topology = Topology::new(points.len() as u32, triangles).unwrap();
        let mixed = RestShape::from_corners(topology, corners).unwrap();
        let [alike, mixed] = [&rest, &mixed].map(|r| Bending::new(r, &fabric(), &[]));
        let flat: Vec<DVec3> = points.iter().map(|p| p.extend(0.0)).collect();
        assert!(mixed.energy(&flat).abs() < 1e-18, "{}", mixed.energy(&flat));
        let rolled = rolled(&points, 2.0, 0.7);
        let (a, b) = (alike.energy(&rolled), mixed.energy(&rolled));
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn forces_sum_to_zero() {
        let (rest, points) = square(7, Cut::CrissCross);
        let bending = Bending::new(&rest, &fabric(), &[]);
        let x = rolled(&points, 3.0, 0.3);
        let mut g = vec![DVec3::ZERO; x.len()];
        bending.add_gradient(&x, &mut g);
        let largest = g.iter().map(|f| f.length()).fold(0.0, f64::max);
        let sum: DVec3 = g.iter().sum();
        assert!(
            largest > 1e-6 && sum.length() < 1e-9 * largest,
            "{sum} {largest}"
        );
    }

    #[test]
    fn a_seam_bends_like_cloth() {
        // Two panels far apart in the pattern, sewn along one edge, against one piece.
        let (whole, points) = square(12, Cut::Aligned);
        let corners: Vec<[DVec2; 3]> = whole
            .corners()
            .iter()
            .map(|c| {
                let left = (c[0] + c[1] + c[2]).x / 3.0 < 0.5;
                c.map(|p| if left { p } else { p + DVec2::new(3.0, 1.0) })
            })
            .collect();
        let sewn = RestShape::from_corners(whole.topology().clone(), corners).unwrap();
        let x = rolled(&points, 1.0, 0.5);
        let energies = [&whole, &sewn].map(|r| Bending::new(r, &fabric(), &[]).energy(&x));
        assert!(
            (energies[0] / energies[1] - 1.0).abs() < 1e-9,
            "{energies:?}"
        );
    }

    /// The height of a wavy ring clamped at radius a and free at b, where its
    /// radial curvature is zero, and half the integral of its squared
    /// curvature.
    fn wavy([a, b]: [f64; 2], n_waves: f64) -> (impl Fn(DVec2) -> f64, f64) {
        let out = move |r: f64| (r - a) / (b - a);
        let profile = move |r: f64| out(r).powi(2) * (1.5 - 0.5 * out(r));
        let slope = move |r: f64| (3.0 * out(r) - 1.5 * out(r).powi(2)) / (b - a);
        let curvature = move |r: f64| (3.0 - 3.0 * out(r)) / (b - a).powi(2);
        let n = 2000;
        let mut energy = 0.0;
        for i in 0..n {
            let r = a + (b - a) * (f64::from(i) + 0.5) / f64::from(n);
            let (w, dw, ddw) = (profile(r), slope(r), curvature(r));
            // Of w(r) cos mθ: along the radius, along the circle, and the twist.
            let around = dw / r - n_waves * n_waves * w / (r * r);
            let twist = n_waves * (dw / r - w / (r * r));
            let cos_sq = if n_waves > 0.0 { 0.5 } else { 1.0 };
            let sum = cos_sq * (ddw * ddw + around * around) + 2.0 * (1.0 - cos_sq) * twist * twist;
            energy += 0.5 * sum * std::f64::consts::TAU * r * (b - a) / f64::from(n);
        }
        (
            move |p: DVec2| profile(p.length()) * (n_waves * p.to_angle()).cos(),
            energy,
        )
    }

    #[test]
    fn a_wavy_ring_has_its_energy_to_second_order_on_any_mesh() {
        let radii = [0.09, 0.15];
        for n_waves in [0.0, 5.0, 7.0] {
            let (height, expected) = wavy(radii, n_waves);
            let worst = |n: u32| -> f64 {
                let errors = (1..=12).map(|seed| {
                    let ring = crate::textbook::Ring::new(radii[0], radii[1], n, seed).unwrap();
                    let n_inner = ring.inner.len();
                    let clamps: Vec<ClampedEdge> = (0..n_inner)
                        .map(|i| {
                            let vertices = [ring.inner[i], ring.inner[(i + 1) % n_inner]];
                            let middle: DVec2 =
                                vertices.iter().map(|v| ring.points[*v as usize]).sum();
                            let inwards = -middle.normalize();
                            ClampedEdge {
                                vertices,
                                slope: DVec3::new(inwards.x, inwards.y, 0.0),
                            }
                        })
                        .collect();
                    let fabric = Fabric::plain("test", 0.2, 500.0, 1.0);
                    let bending = Bending::new(&ring.rest, &fabric, &clamps);
                    let x: Vec<DVec3> = ring
                        .points
                        .iter()
                        .map(|p| p.extend(1e-3 * height(*p)))
                        .collect();
                    bending.energy(&x) / (1e-6 * expected) - 1.0
                });
                errors.fold(0.0, |worst: f64, e| match e.abs() > worst.abs() {
                    true => e,
                    false => worst,
                })
            };
            let (coarse, fine) = (worst(6), worst(12));
            assert!(
                coarse.abs() < 0.045 && fine.abs() < 0.012,
                "{n_waves} waves: {coarse} {fine}"
            );
            let order = (coarse / fine).log2();
            assert!(
                (1.7..2.3).contains(&order),
                "falls as h^{order:.2}, {n_waves} waves"
            );
        }
    }
}
