//! How steeply cloth crosses an edge, from the vertices around: the slope of
//! the quadratic that fits best to the four vertices of the edge's two
//! triangles and the four beyond them, all unfolded into one plane.

use drapery_core::Topology;
use glam::DVec2;

use crate::RestShape;

/// The mean slope ∂x/∂n across an interior edge, n pointing out of `triangle`,
/// as shares of the vertices around it.
pub(crate) fn slope(
    rest: &RestShape,
    beyond: &Beyond,
    triangle: usize,
    side: usize,
) -> Vec<(u32, f64)> {
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
    let mut theirs = rest.corners()[across];
    // Their side runs the other way, unless the winding disagrees.
    let ours = rest.topology().triangles()[triangle];
    let same = rest.topology().triangles()[across][entry] == ours[(side + 1) % 3];
    // A neighbour that is wound the other way lies flat when turned over.
    let turned_over = (corners[1] - corners[0]).perp_dot(corners[2] - corners[0]) < 0.0;
    if same == turned_over {
        theirs = theirs.map(|p| DVec2::new(-p.x, p.y));
    }
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
pub(crate) struct Beyond {
    sides: Vec<[Option<(u32, u8)>; 3]>,
}

impl Beyond {
    pub(crate) fn new(topology: &Topology) -> Self {
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

    pub(crate) fn of(&self, triangle: usize, side: usize) -> Option<(usize, usize)> {
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
