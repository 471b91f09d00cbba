//! The point of a mesh nearest to a given one.
//!
//! A triangle is tried as its plane, then its three sides; the sides are
//! walked from the lower vertex to the higher one, so that two triangles that
//! share a side give the same bits for a point on it and the tie goes to the
//! lower triangle. A triangle without area is its longest side.

use glam::{DVec3, Vec3, Vec3A};

use super::tree::{MAX_DEPTH, TriangleTree, box_distance_sq, triangle_box};

/// A point on a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// The triangle it lies on.
    pub triangle: u32,
    /// Its weights of the triangle's corners: not negative, summing to 1, and
    /// exactly 0 for the corners of which it is independent on a side or corner.
    pub barycentric: [f32; 3],
    /// Where it is [m].
    pub point: Vec3,
    /// How far it is from the given point [m].
    pub distance: f32,
}

/// How much further a box may seem than what it holds: rounding in `f32`.
const BOX_SLACK: f64 = 1.0 + 1e-6;

impl TriangleTree {
    /// The point of the mesh nearest to `p`, at most `max_distance` [m] away;
    /// among equals the one on the lowest triangle.
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn closest_point(
        &self,
        p: Vec3,
        positions: &[Vec3],
        max_distance: f32,
    ) -> Option<ClosestPoint> {
        self.closest_point_where(p, positions, max_distance, |_| true)
    }

    /// Like [`closest_point`](Self::closest_point), over the triangles that
    /// `counts` accepts.
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn closest_point_where(
        &self,
        p: Vec3,
        positions: &[Vec3],
        max_distance: f32,
        counts: impl Fn(u32) -> bool,
    ) -> Option<ClosestPoint> {
        let weight = |triangle| if counts(triangle) { 1.0 } else { f32::INFINITY };
        self.closest_point_weighted(p, positions, max_distance, weight)
    }

    /// Like [`closest_point`](Self::closest_point), where a triangle counts as so many
    /// times as far away as its `weight`, which is at least 1; one of infinite weight
    /// is left out. The limit is on the weighted distance, what comes back has the
    /// plain one.
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn closest_point_weighted(
        &self,
        p: Vec3,
        positions: &[Vec3],
        max_distance: f32,
        weight: impl Fn(u32) -> f32,
    ) -> Option<ClosestPoint> {
        self.check_positions(positions);
        let (target, p) = (p.as_dvec3(), Vec3A::from(p));
        let limit = f64::from(max_distance);
        let mut best: Option<(f64, u32, [f64; 3], DVec3)> = None;
        let mut best_sq = limit * limit;
        // Nodes still to visit, with the squared distance to their boxes.
        let mut stack = [(0u32, 0f32); MAX_DEPTH + 2];
        let mut depth = 0;
        if let Some(top) = self.nodes.first() {
            stack[0] = (0, top.distance_sq(p));
            depth = 1;
        }
        while depth > 0 {
            depth -= 1;
            let (index, box_sq) = stack[depth];
            if f64::from(box_sq) > best_sq * BOX_SLACK {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.is_leaf() {
                for slot in node.slots() {
                    let ids = self.corners[slot];
                    let (low, high) = triangle_box(&ids, positions);
                    if f64::from(box_distance_sq(p, low, high)) > best_sq * BOX_SLACK {
                        continue;
                    }
                    let triangle = self.order[slot];
                    let weight = f64::from(weight(triangle));
                    if weight == f64::INFINITY {
                        continue;
                    }
                    let corners = ids.map(|v| positions[v as usize].as_dvec3());
                    let (barycentric, point) = closest_on_triangle(target, ids, corners);
                    let distance_sq = point.distance_squared(target) * (weight * weight);
                    let better = match best {
                        Some((sq, other, ..)) => {
                            distance_sq < sq || (distance_sq == sq && triangle < other)
                        }
                        None => distance_sq <= best_sq,
                    };
                    if better {
                        best = Some((distance_sq, triangle, barycentric, point));
                        best_sq = distance_sq;
                    }
                }
            } else {
                let (left, right) = (index + 1, node.link);
                let left = (left, self.nodes[left as usize].distance_sq(p));
                let right = (right, self.nodes[right as usize].distance_sq(p));
                let (near, far) = if right.1 < left.1 {
                    (right, left)
                } else {
                    (left, right)
                };
                stack[depth] = far;
                stack[depth + 1] = near;
                depth += 2;
            }
        }
        best.map(|(_, triangle, barycentric, point)| ClosestPoint {
            triangle,
            barycentric: barycentric.map(|w| w as f32),
            point: point.as_vec3(),
            distance: point.distance(target) as f32,
        })
    }

    /// Whether a leaf of the tree comes within `margin` [m] of the box from `low`
    /// to `high` [m], on every axis. Where it does not, no triangle is nearer.
    pub fn is_near_box(&self, low: Vec3, high: Vec3, margin: f32) -> bool {
        let (low, high) = (Vec3A::from(low - margin), Vec3A::from(high + margin));
        let mut stack = self.stack();
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index as usize];
            if !(low.cmple(node.high).all() && node.low.cmple(high).all()) {
                continue;
            }
            if node.is_leaf() {
                return true;
            }
            stack.push(node.link);
            stack.push(index + 1);
        }
        false
    }
}

/// The point nearest to `p` of one triangle of a mesh, number `triangle` with the
/// vertices `ids`.
///
/// # Panics
/// When there is no position of such a number.
pub fn closest_point_on(
    p: Vec3,
    (triangle, ids): (u32, [u32; 3]),
    positions: &[Vec3],
) -> ClosestPoint {
    let corners = ids.map(|v| positions[v as usize].as_dvec3());
    let (barycentric, point) = closest_on_triangle(p.as_dvec3(), ids, corners);
    ClosestPoint {
        triangle,
        barycentric: barycentric.map(|w| w as f32),
        point: point.as_vec3(),
        distance: point.distance(p.as_dvec3()) as f32,
    }
}

/// Weights and place of the point of a triangle nearest to `p` [m]; `ids` are
/// its vertices, which order its sides.
pub(super) fn closest_on_triangle(
    p: DVec3,
    ids: [u32; 3],
    corners: [DVec3; 3],
) -> ([f64; 3], DVec3) {
    let [a, b, c] = corners;
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let area_sq = normal.length_squared();
    // Below this the normal is rounding: f64 products of sides of that length.
    let longest_sq = ab
        .length_squared()
        .max(ac.length_squared())
        .max((c - b).length_squared());
    // Sides that it is beyond: the nearest point is on one of them.
    let mut is_beyond = [true; 3];
    if area_sq > 1e-24 * longest_sq * longest_sq {
        let (v, w) = (ap.cross(ac).dot(normal), ab.cross(ap).dot(normal));
        let u = area_sq - v - w;
        let is_within = [w, u, v].map(|part| part > 0.0);
        is_beyond = is_within.map(|is| !is);
        if is_within == [true; 3] {
            let [u, v, w] = [u, v, w].map(|part| part / area_sq);
            return ([u, v, w], a * u + b * v + c * w);
        }
    }
    let mut best = ([1.0, 0.0, 0.0], a);
    let mut best_sq = f64::INFINITY;
    for side in (0..3).filter(|side| is_beyond[*side]) {
        let (i, j) = (side, (side + 1) % 3);
        let (i, j) = if ids[i] <= ids[j] { (i, j) } else { (j, i) };
        let (start, along) = (corners[i], corners[j] - corners[i]);
        let length_sq = along.length_squared();
        let t = if length_sq > 0.0 {
            ((p - start).dot(along) / length_sq).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let point = if t < 1.0 {
            start + along * t
        } else {
            corners[j]
        };
        let distance_sq = point.distance_squared(p);
        if distance_sq < best_sq {
            best_sq = distance_sq;
            let mut weights = [0.0; 3];
            weights[i] = 1.0 - t;
            weights[j] += t;
            best = (weights, point);
        }
    }
    best
}
