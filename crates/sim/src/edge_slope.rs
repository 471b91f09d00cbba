//! How steeply cloth crosses an edge, from the vertices around: the slope of
//! the quadratic that fits best to the four vertices of the edge's two
//! triangles and the four beyond them, all unfolded into one plane.
//!
//! Near a border some of the four are missing, and the rest can lie nearly on
//! a conic: then they hardly decide the quadratic, and the slope swings by a
//! thousand times what the vertices move. Where the shares are that large,
//! vertices farther off take part.

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
    let side_ends = [corners[side], corners[(side + 1) % 3]];
    let mut best: Option<(f64, Vec<(u32, f64)>)> = None;
    for reach in 1..=FARTHEST {
        let points = patch(rest, beyond, triangle, side, reach);
        let shares = fit(&points, side_ends);
        let size = shares.iter().map(|(_, share)| share.abs()).sum::<f64>();
        let natural = 2.0 / width(&points, side_ends);
        if best.as_ref().is_none_or(|(least, _)| size < *least) {
            best = Some((size, shares));
        }
        if size <= MOST * natural {
            break;
        }
    }
    best.map_or_else(Vec::new, |(_, shares)| shares)
}

/// How many triangles away vertices may be that take part.
const FARTHEST: u32 = 3;

/// The most that absolute shares may sum to, in units of what they do when the
/// slope is the difference of the two far corners over their distance. Without
/// a limit, nine in ten edges of a shaken ring have shares that sum to no more
/// than 2.2 over the edge's length, where two equal triangles would have 1.2,
/// and one has up to 1,900: one of fifteen rings had three times the energy of
/// the smooth shape it stood for, all of it at one edge.
const MOST: f64 = 2.5;

/// How wide the two triangles at an edge are across it [m]; the first four
/// points are theirs.
fn width(points: &[(u32, DVec2)], [a, b]: [DVec2; 2]) -> f64 {
    let t = (b - a).normalize();
    let heights = points.iter().take(4).map(|(_, p)| t.perp_dot(*p - a));
    let (low, high) = heights.fold((0.0f64, 0.0f64), |(low, high), h| (low.min(h), high.max(h)));
    high - low
}

/// The slope at the middle of a side of the quadratic that fits best, n to the
/// right of it, as shares of the points.
fn fit(points: &[(u32, DVec2)], [a, b]: [DVec2; 2]) -> Vec<(u32, f64)> {
    let length = a.distance(b);
    let t = (b - a) / length;
    let n = DVec2::new(t.y, -t.x);
    let middle = (a + b) / 2.0;
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
    for (_, p) in points {
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
/// `triangle`: those of its two triangles first, then those up to `reach`
/// triangles beyond. A vertex that is met twice, on either side of a narrow
/// tube, counts once, where it was met first.
fn patch(
    rest: &RestShape,
    beyond: &Beyond,
    triangle: usize,
    side: usize,
    reach: u32,
) -> Vec<(u32, DVec2)> {
    let here = rest.corners()[triangle];
    let corners = rest.topology().triangles()[triangle];
    let mut points: Vec<(u32, DVec2)> = corners.into_iter().zip(here).collect();
    let mut met = vec![triangle];
    // Triangles whose sides were not crossed yet, laid flat.
    let mut border = vec![(triangle, here)];
    if let Some(over) = unfold(rest, beyond, triangle, here, side) {
        points.push((over.tip, over.place));
        met.push(over.triangle);
        border.push((over.triangle, over.corners));
    }
    for _ in 0..reach {
        let mut next = Vec::new();
        for (triangle, corners) in border {
            for side in 0..3 {
                let Some(over) = unfold(rest, beyond, triangle, corners, side) else {
                    continue;
                };
                if met.contains(&over.triangle) {
                    continue;
                }
                met.push(over.triangle);
                if points.iter().all(|(vertex, _)| *vertex != over.tip) {
                    points.push((over.tip, over.place));
                }
                next.push((over.triangle, over.corners));
            }
        }
        border = next;
    }
    points
}

/// A triangle laid flat beside another.
struct Unfolded {
    triangle: usize,
    corners: [DVec2; 3],
    /// Its far vertex.
    tip: u32,
    /// Where that is.
    place: DVec2,
}

/// The triangle beyond a side laid flat beside `corners`.
fn unfold(
    rest: &RestShape,
    beyond: &Beyond,
    triangle: usize,
    corners: [DVec2; 3],
    side: usize,
) -> Option<Unfolded> {
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
    Some(Unfolded {
        triangle: across,
        corners: flat,
        tip: rest.topology().triangles()[across][far],
        place: flat[far],
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::textbook::Ring;

    #[test]
    fn slopes_of_quadratics_are_exact_and_no_share_is_wild() {
        for seed in 1..=20 {
            let ring = Ring::new(0.09, 0.15, 8, seed).unwrap();
            let beyond = Beyond::new(ring.rest.topology());
            let height = |p: DVec2| 1.0 + 2.0 * p.x - p.y + 3.0 * p.x * p.y - 5.0 * p.y * p.y;
            let gradient = |p: DVec2| DVec2::new(2.0 + 3.0 * p.y, -1.0 + 3.0 * p.x - 10.0 * p.y);
            for triangle in 0..ring.rest.corners().len() {
                for side in (0..3).filter(|s| beyond.of(triangle, *s).is_some()) {
                    let shares = slope(&ring.rest, &beyond, triangle, side);
                    let corners = ring.rest.corners()[triangle];
                    let (a, b) = (corners[side], corners[(side + 1) % 3]);
                    let t = (b - a).normalize();
                    let expected = gradient((a + b) / 2.0).dot(DVec2::new(t.y, -t.x));
                    let found: f64 = shares
                        .iter()
                        .map(|(v, share)| share * height(ring.points[*v as usize]))
                        .sum();
                    assert!(
                        (found - expected).abs() < 1e-5,
                        "{found} for {expected}, seed {seed}, triangle {triangle}"
                    );
                    // Between far corners 1.7 edge lengths apart it would be 1.2.
                    let size: f64 = shares.iter().map(|s| s.1.abs()).sum();
                    assert!(
                        size * a.distance(b) < 6.0,
                        "{size} per metre, seed {seed}, triangle {triangle}"
                    );
                }
            }
        }
    }
}
