//! Triangles of even size inside a flat outline.
//!
//! Points are laid on a jittered lattice of equilateral triangles, joined by
//! Delaunay's rule with the outline as a constraint, and moved to the middle
//! of their neighbours a few times, so that no direction is favoured and no
//! angle is small. The outline's own points stay.

use glam::DVec2;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

/// Lattice points nearer to the outline than this share of the spacing are
/// left out: nearer ones make flat triangles, farther ones long ones.
const BORDER_SHARE: f64 = 0.62;

/// How far a point is moved off its lattice, as a share of the spacing.
const JITTER: f64 = 0.16;

/// Rounds of joining and moving.
const N_ROUNDS: usize = 4;

/// A flat mesh; the outline's points come first.
#[derive(Clone, Debug)]
pub(super) struct FlatMesh {
    pub(super) points: Vec<DVec2>,
    /// Counter-clockwise.
    pub(super) triangles: Vec<[u32; 3]>,
}

/// Fills a counter-clockwise `outline` with triangles of sides about `side`;
/// `None` when the outline crosses itself.
pub(super) fn fill(outline: &[DVec2], side: f64) -> Option<FlatMesh> {
    let mut points = outline.to_vec();
    points.extend(lattice(outline, side));
    let mut triangles = join(&points, outline)?;
    for _ in 0..N_ROUNDS {
        centre(&mut points, &triangles, outline.len());
        triangles = join(&points, outline)?;
    }
    triangles.sort_unstable();
    Some(FlatMesh { points, triangles })
}

/// Lattice points inside the outline and not too near to it.
fn lattice(outline: &[DVec2], side: f64) -> Vec<DVec2> {
    let (low, high) = outline
        .iter()
        .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
    let row_height = side * 3f64.sqrt() / 2.0;
    let n_rows = ((high.y - low.y) / row_height) as i64 + 1;
    let n_columns = ((high.x - low.x) / side) as i64 + 2;
    let bins = Bins::new(outline, low, high, side);
    let mut points = Vec::new();
    for row in 0..=n_rows {
        for column in 0..=n_columns {
            let offset = if row % 2 == 0 { 0.0 } else { 0.5 };
            let at = low
                + DVec2::new(
                    side * (column as f64 + offset - 0.25),
                    row_height * (row as f64 + 0.1),
                );
            let p = at + jitter(row, column) * (JITTER * side);
            if bins.is_clear(p, BORDER_SHARE * side) && contains(outline, p) {
                points.push(p);
            }
        }
    }
    points
}

/// A repeatable vector from the unit square around the origin, by mixing bits.
fn jitter(row: i64, column: i64) -> DVec2 {
    let mix = |mut x: u64| {
        x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        ((x ^ (x >> 33)) >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    let seed = (row as u64)
        .wrapping_mul(0x9e37_79b9)
        .wrapping_add(column as u64)
        << 1;
    DVec2::new(mix(seed), mix(seed | 1))
}

/// Segments of an outline by the cells that they touch.
struct Bins<'a> {
    outline: &'a [DVec2],
    low: DVec2,
    size: f64,
    n: [i64; 2],
    cells: Vec<Vec<u32>>,
}

impl<'a> Bins<'a> {
    fn new(outline: &'a [DVec2], low: DVec2, high: DVec2, size: f64) -> Self {
        let n = [
            ((high.x - low.x) / size) as i64 + 1,
            ((high.y - low.y) / size) as i64 + 1,
        ];
        let mut bins = Self {
            outline,
            low,
            size,
            n,
            cells: vec![Vec::new(); (n[0] * n[1]) as usize],
        };
        for i in 0..outline.len() {
            let (a, b) = (outline[i], outline[(i + 1) % outline.len()]);
            let (from, to) = (bins.cell(a.min(b)), bins.cell(a.max(b)));
            for y in from[1]..=to[1] {
                for x in from[0]..=to[0] {
                    bins.cells[(y * n[0] + x) as usize].push(i as u32);
                }
            }
        }
        bins
    }

    fn cell(&self, p: DVec2) -> [i64; 2] {
        let at = (p - self.low) / self.size;
        [
            (at.x as i64).clamp(0, self.n[0] - 1),
            (at.y as i64).clamp(0, self.n[1] - 1),
        ]
    }

    /// Whether no segment is nearer than `gap`, which is below the cells' size.
    fn is_clear(&self, p: DVec2, gap: f64) -> bool {
        let [x, y] = self.cell(p);
        for y in (y - 1).max(0)..=(y + 1).min(self.n[1] - 1) {
            for x in (x - 1).max(0)..=(x + 1).min(self.n[0] - 1) {
                for &i in &self.cells[(y * self.n[0] + x) as usize] {
                    let (a, b) = (
                        self.outline[i as usize],
                        self.outline[(i as usize + 1) % self.outline.len()],
                    );
                    if distance_to_segment(p, a, b) < gap {
                        return false;
                    }
                }
            }
        }
        true
    }
}

pub(super) fn distance_to_segment(p: DVec2, a: DVec2, b: DVec2) -> f64 {
    let along = b - a;
    let t = ((p - a).dot(along) / along.length_squared().max(1e-18)).clamp(0.0, 1.0);
    p.distance(a + along * t)
}

/// Whether a point is inside an outline, by counting crossings to its right.
pub(super) fn contains(outline: &[DVec2], p: DVec2) -> bool {
    let mut inside = false;
    for i in 0..outline.len() {
        let (a, b) = (outline[i], outline[(i + 1) % outline.len()]);
        if (a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y) {
            inside = !inside;
        }
    }
    inside
}

/// Delaunay's triangles inside the outline, each with its lowest point first.
fn join(points: &[DVec2], outline: &[DVec2]) -> Option<Vec<[u32; 3]>> {
    let n = outline.len();
    let at = points.iter().map(|p| Point2::new(p.x, p.y)).collect();
    let edges = (0..n).map(|i| [i, (i + 1) % n]).collect();
    let mut crossed = false;
    let joined: ConstrainedDelaunayTriangulation<Point2<f64>> =
        ConstrainedDelaunayTriangulation::try_bulk_load_cdt(at, edges, |_| crossed = true).ok()?;
    if crossed || joined.num_vertices() != points.len() {
        return None;
    }
    let corners_of = |face: Face<'_>| face.vertices().map(|v| v.fix().index() as u32);
    let mut inside: Vec<Option<bool>> = vec![None; joined.num_all_faces()];
    inside[joined.outer_face().fix().index()] = Some(false);
    for face in joined.inner_faces() {
        inside[face.fix().index()] = side_of(corners_of(face), n);
    }
    // What is left has neither a free point nor a side of the outline: it is
    // where its neighbours are.
    let mut is_settled = false;
    while !is_settled {
        is_settled = true;
        for face in joined.inner_faces() {
            let at = face.fix().index();
            if inside[at].is_some() {
                continue;
            }
            let across = face.adjacent_edges().map(|e| e.rev().face().fix().index());
            inside[at] = across.iter().find_map(|&other| inside[other]);
            is_settled &= inside[at].is_none();
        }
    }
    let mut triangles = Vec::new();
    for face in joined.inner_faces() {
        if inside[face.fix().index()] == Some(true) {
            let corners = corners_of(face);
            let first = (0..3).min_by_key(|&i| corners[i]).unwrap_or(0);
            triangles.push([0, 1, 2].map(|i| corners[(first + i) % 3]));
        }
    }
    Some(triangles)
}

type Face<'a> = spade::handles::FaceHandle<
    'a,
    spade::handles::InnerTag,
    Point2<f64>,
    (),
    spade::CdtEdge<()>,
    (),
>;

/// Whether a triangle is inside the outline of the first `n` points, told
/// without rounding: one with a free point is, and one with a side of the
/// outline has its inside on the left of it.
fn side_of(corners: [u32; 3], n: usize) -> Option<bool> {
    if corners.iter().any(|&v| v as usize >= n) {
        return Some(true);
    }
    let follows = |from: u32, to: u32| (from as usize + 1) % n == to as usize;
    (0..3).find_map(|i| {
        let (a, b) = (corners[i], corners[(i + 1) % 3]);
        match (follows(a, b), follows(b, a)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    })
}

/// Moves each free point to the mean of the centres of its triangles, weighted
/// by their areas.
fn centre(points: &mut [DVec2], triangles: &[[u32; 3]], n_fixed: usize) {
    let mut sums = vec![(DVec2::ZERO, 0.0); points.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| points[v as usize]);
        let area = (b - a).perp_dot(c - a).abs();
        let middle = (a + b + c) / 3.0;
        for &v in t {
            sums[v as usize].0 += middle * area;
            sums[v as usize].1 += area;
        }
    }
    for (p, (sum, area)) in points.iter_mut().zip(sums).skip(n_fixed) {
        if area > 0.0 {
            *p = sum / area;
        }
    }
}

/// The smallest angle of a triangle [rad].
#[cfg(test)]
pub(super) fn smallest_angle(corners: [DVec2; 3]) -> f64 {
    (0..3)
        .map(|i| {
            let (u, v) = (
                corners[(i + 1) % 3] - corners[i],
                corners[(i + 2) % 3] - corners[i],
            );
            u.perp_dot(v).abs().atan2(u.dot(v))
        })
        .fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An L of unit squares, its sides divided into pieces of about `side`.
    fn corner(side: f64) -> Vec<DVec2> {
        let corners = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]];
        let mut outline = Vec::new();
        for i in 0..6 {
            let [a, b] =
                [corners[i], corners[(i + 1) % 6]].map(|[x, y]| DVec2::new(x.into(), y.into()));
            let n = (a.distance(b) / side).round().max(1.0) as u32;
            outline.extend((0..n).map(|k| a.lerp(b, f64::from(k) / f64::from(n))));
        }
        outline
    }

    #[test]
    fn an_outline_is_filled_without_gaps_by_even_triangles() {
        for side in [0.5, 0.21, 0.043] {
            let outline = corner(side);
            let mesh = fill(&outline, side).unwrap();
            let mut area = 0.0;
            for t in &mesh.triangles {
                let [a, b, c] = t.map(|v| mesh.points[v as usize]);
                let twice = (b - a).perp_dot(c - a);
                assert!(twice > 0.0);
                area += twice / 2.0;
                assert!(smallest_angle([a, b, c]).to_degrees() > 20.0);
            }
            assert!((area - 3.0).abs() < 1e-9, "{area} at {side}");
            let even = 3.0 / (3f64.sqrt() / 4.0 * side * side);
            let ratio = mesh.triangles.len() as f64 / even;
            assert!((0.75..1.25).contains(&ratio), "{ratio} at {side}");
        }
    }

    /// Points on a straight side are off it by rounding, and thin triangles
    /// outside the outline join them: none of these may be kept.
    #[test]
    fn straight_sides_of_many_points_leave_no_slivers() {
        for turn in 0..40 {
            let axis = DVec2::from_angle(0.37 + 0.1 * f64::from(turn));
            let corners = [[0.0, 0.0], [1.0, 0.03], [0.9, 0.6], [0.1, 0.5]].map(DVec2::from);
            let mut outline = Vec::new();
            for i in 0..4 {
                let (a, b) = (corners[i], corners[(i + 1) % 4]);
                outline.extend((0..23).map(|k| axis.rotate(a.lerp(b, f64::from(k) / 23.0))));
            }
            let mesh = fill(&outline, 0.04).unwrap();
            for t in &mesh.triangles {
                let angle = smallest_angle(t.map(|v| mesh.points[v as usize]));
                assert!(angle.to_degrees() > 15.0, "{t:?}: {}", angle.to_degrees());
            }
            // A disc: v − e + f = 1, with 3 f = 2 e − (sides of the outline).
            let n_edges = (3 * mesh.triangles.len() + outline.len()) / 2;
            assert_eq!(mesh.points.len() + mesh.triangles.len(), n_edges + 1);
        }
    }

    #[test]
    fn an_outline_that_crosses_itself_is_refused() {
        let eight = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]].map(DVec2::from);
        assert!(fill(&eight, 0.2).is_none());
    }
}
