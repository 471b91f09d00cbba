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
//! # Where we differ
//! Morley's element has the slopes as unknowns. Here they are reconstructed,
//! so that the vertices are the only unknowns.

use drapery_core::{Fabric, Topology};
use glam::{DMat3, DVec2, DVec3};

use crate::RestShape;

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
}

/// One triangle: κ = Σ rowₖ xₖ + offset.
#[derive(Clone, Debug)]
struct Element {
    vertices: Vec<u32>,
    /// Shape [vertex], each (uu, vv, 2uv).
    rows: Vec<DVec3>,
    offset: [DVec3; 3],
    /// A C, with free slopes eliminated.
    stiffness: DMat3,
}

impl Bending {
    /// The bending energy of a rest shape made of `fabric`.
    pub fn new(rest: &RestShape, fabric: &Fabric, clamps: &[ClampedEdge]) -> Self {
        let beyond = Beyond::new(rest.topology());
        let c = fabric.bending_matrix();
        let elements = (0..rest.areas().len())
            .map(|triangle| element(rest, &beyond, triangle, c, clamps))
            .collect();
        Self { elements }
    }

    /// The energy at positions `x` [J].
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        self.elements.iter().map(|e| e.energy(x)).sum()
    }

    /// The energy of one triangle at positions `x` [J].
    pub fn triangle_energy(&self, triangle: usize, x: &[DVec3]) -> f64 {
        self.elements[triangle].energy(x)
    }

    /// Adds the gradient at `x` to `out` [N]; the force is its negative.
    pub fn add_gradient(&self, x: &[DVec3], out: &mut [DVec3]) {
        for element in &self.elements {
            let moments = element.moments(element.curvature(x));
            for (vertex, row) in element.vertices.iter().zip(&element.rows) {
                let g = moments[0] * row.x + moments[1] * row.y + moments[2] * row.z;
                out[*vertex as usize] += g;
            }
        }
    }

    /// Gives the entries of the constant Hessian [N/m] to `add` as (row
    /// vertex, column vertex, value), the value standing for that many times
    /// the 3 × 3 identity; both triangles of the matrix, in a fixed order.
    pub fn hessian(&self, mut add: impl FnMut(u32, u32, f64)) {
        for element in &self.elements {
            for (a, row) in element.vertices.iter().zip(&element.rows) {
                let stressed = element.stiffness * *row;
                for (b, column) in element.vertices.iter().zip(&element.rows) {
                    add(*a, *b, stressed.dot(*column));
                }
            }
        }
    }
}

impl Element {
    /// κ_uu, κ_vv and 2κ_uv, each for the three coordinates.
    fn curvature(&self, x: &[DVec3]) -> [DVec3; 3] {
        let mut kappa = self.offset;
        for (vertex, row) in self.vertices.iter().zip(&self.rows) {
            let p = x[*vertex as usize];
            kappa[0] += p * row.x;
            kappa[1] += p * row.y;
            kappa[2] += p * row.z;
        }
        kappa
    }

    fn moments(&self, kappa: [DVec3; 3]) -> [DVec3; 3] {
        std::array::from_fn(|i| (0..3).map(|j| kappa[j] * self.stiffness.col(j)[i]).sum())
    }

    fn energy(&self, x: &[DVec3]) -> f64 {
        let kappa = self.curvature(x);
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

/// The mean slope ∂x/∂n across an interior edge, n pointing out of `triangle`,
/// as shares of the vertices around it.
fn slope(rest: &RestShape, beyond: &Beyond, triangle: usize, side: usize) -> Vec<(u32, f64)> {
    let corners = rest.corners()[triangle];
    let (a, b) = (corners[side], corners[(side + 1) % 3]);
    let length = a.distance(b);
    let t = (b - a) / length;
    let n = DVec2::new(t.y, -t.x);
    let middle = (a + b) / 2.0;
    let mut points = patch(rest, beyond, triangle, side);
    // A vertex that is met twice, on either side of a narrow tube, counts once.
    points.sort_by_key(|p| p.0);
    points.dedup_by_key(|p| p.0);

    // Coordinates along and across the edge, in edge lengths.
    let local = |p: DVec2| {
        let d = (p - middle) / length;
        (d.dot(t), d.dot(n))
    };
    let basis = |p: DVec2| {
        let (u, v) = local(p);
        [1.0, u, v, u * u, u * v, v * v]
    };
    let weight = |p: DVec2| {
        let (u, v) = local(p);
        1.0 / (0.25 + u * u + v * v)
    };
    let mut normal = [[0.0; 6]; 6];
    for (_, p) in &points {
        let (f, w) = (basis(*p), weight(*p));
        for i in 0..6 {
            for j in 0..6 {
                normal[i][j] += w * f[i] * f[j];
            }
        }
    }
    // With fewer than six points the flattest quadratic is taken.
    for (i, row) in normal.iter_mut().enumerate().skip(3) {
        row[i] += FLATTEST;
    }
    // The slope is the coefficient of v: row 2 of N⁻¹ Fᵀ W.
    let mut unit = [0.0; 6];
    unit[2] = 1.0;
    let dual = solve(normal, unit);
    let share = |p: DVec2| {
        let f = basis(p);
        weight(p) * (0..6).map(|i| dual[i] * f[i]).sum::<f64>() / length
    };
    points
        .iter()
        .map(|(vertex, p)| (*vertex, share(*p)))
        .collect()
}

/// So small that six points decide, and so large that fewer are solved.
const FLATTEST: f64 = 1e-9;

/// The vertices around an edge with their flat places in the frame of
/// `triangle`: those of its two triangles and those beyond their other edges.
fn patch(rest: &RestShape, beyond: &Beyond, triangle: usize, side: usize) -> Vec<(u32, DVec2)> {
    let here = rest.corners()[triangle];
    let mut points: Vec<(u32, DVec2)> = rest.topology().triangles()[triangle]
        .into_iter()
        .zip(here)
        .collect();
    for other in [(side + 1) % 3, (side + 2) % 3] {
        if let Some((tip, place, ..)) = unfold(rest, beyond, triangle, here, other) {
            points.push((tip, place));
        }
    }
    if let Some((tip, place, across, flat, entry)) = unfold(rest, beyond, triangle, here, side) {
        points.push((tip, place));
        for other in [(entry + 1) % 3, (entry + 2) % 3] {
            if let Some((tip, place, ..)) = unfold(rest, beyond, across, flat, other) {
                points.push((tip, place));
            }
        }
    }
    points
}

/// The triangle beyond a side laid flat beside `corners`: its far vertex, that
/// vertex's place, its index, its corners and the side through which it was
/// entered.
#[allow(
    clippy::type_complexity,
    reason = "five parts of one thing, used in two places"
)]
fn unfold(
    rest: &RestShape,
    beyond: &Beyond,
    triangle: usize,
    corners: [DVec2; 3],
    side: usize,
) -> Option<(u32, DVec2, usize, [DVec2; 3], usize)> {
    let (across, entry) = beyond.of(triangle, side)?;
    let (a, b) = (corners[side], corners[(side + 1) % 3]);
    let theirs = rest.corners()[across];
    // Their side runs the other way, unless the winding disagrees.
    let ours = rest.topology().triangles()[triangle];
    let same = rest.topology().triangles()[across][entry] == ours[(side + 1) % 3];
    let (p, q) = match same {
        true => (theirs[entry], theirs[(entry + 1) % 3]),
        false => (theirs[(entry + 1) % 3], theirs[entry]),
    };
    // Middle onto middle, direction onto direction; seams may differ in length.
    let turn = (a - b)
        .normalize()
        .rotate((q - p).normalize().perp_conjugate());
    let carry = |x: DVec2| (a + b) / 2.0 + turn.rotate(x - (p + q) / 2.0);
    let flat = theirs.map(carry);
    let far = (entry + 2) % 3;
    let tip = rest.topology().triangles()[across][far];
    Some((tip, flat[far], across, flat, entry))
}

/// The conjugate of a direction as a complex number.
trait Conjugate {
    fn perp_conjugate(self) -> Self;
}

impl Conjugate for DVec2 {
    fn perp_conjugate(self) -> Self {
        Self::new(self.x, -self.y)
    }
}

/// What lies beyond each side of each triangle.
struct Beyond {
    sides: Vec<[Option<(u32, u8)>; 3]>,
}

impl Beyond {
    fn new(topology: &Topology) -> Self {
        let triangles = topology.triangles();
        let mut all: Vec<(u32, u32, u32, u8)> = Vec::with_capacity(3 * triangles.len());
        for (triangle, corners) in triangles.iter().enumerate() {
            for side in 0..3u8 {
                let (a, b) = (
                    corners[usize::from(side)],
                    corners[usize::from(side + 1) % 3],
                );
                all.push((a.min(b), a.max(b), triangle as u32, side));
            }
        }
        all.sort_unstable();
        let mut sides = vec![[None; 3]; triangles.len()];
        for edge in all.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
            // An edge of three or more triangles bends for none of them.
            if let [p, q] = edge {
                sides[p.2 as usize][usize::from(p.3)] = Some((q.2, q.3));
                sides[q.2 as usize][usize::from(q.3)] = Some((p.2, p.3));
            }
        }
        Self { sides }
    }

    fn of(&self, triangle: usize, side: usize) -> Option<(usize, usize)> {
        self.sides[triangle][side].map(|(t, s)| (t as usize, usize::from(s)))
    }
}

/// Solves a small symmetric positive definite system by Cholesky.
fn solve(mut a: [[f64; 6]; 6], mut b: [f64; 6]) -> [f64; 6] {
    for j in 0..6 {
        for k in 0..j {
            for i in j..6 {
                a[i][j] -= a[i][k] * a[j][k];
            }
        }
        let pivot = a[j][j].max(1e-14).sqrt();
        for row in a.iter_mut().skip(j) {
            row[j] /= pivot;
        }
        a[j][j] = pivot;
    }
    for i in 0..6 {
        for k in 0..i {
            b[i] -= a[i][k] * b[k];
        }
        b[i] /= a[i][i];
    }
    for i in (0..6).rev() {
        for k in i + 1..6 {
            b[i] -= a[k][i] * b[k];
        }
        b[i] /= a[i][i];
    }
    b
}

#[cfg(test)]
mod tests {
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
}
