//! The nearest points of a point and a triangle, and of two edges.
//!
//! Both pairs have four vertices x₀…x₃, and the offset between their nearest
//! points is a weighted sum of them:
//!
//! ```text
//! offset = Σᵢ wᵢ xᵢ        point–triangle: w = (1, −u, −v, −w)
//!                          edge–edge:      w = (1−s, s, −(1−t), −t)
//! d = |offset|,   ∂d/∂xᵢ = wᵢ offset/d
//! ```
//!
//! The gradient needs no derivative of the weights: they minimise d, so a
//! change of them is of second order.
//!
//! Every candidate is a true point of its primitive and the nearest one is
//! kept, so that a wrong weight of a sliver or of nearly parallel edges costs
//! no more distance than the sliver is wide. Degenerate primitives are the
//! edges or points that they look like.

use glam::DVec3;

/// The part of a triangle that is nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriangleRegion {
    /// Inside the triangle.
    Face,
    /// Inside the side from corner k to corner k + 1.
    Side(u8),
    /// A corner.
    Corner(u8),
}

/// The part of an edge that is nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeRegion {
    /// Its first end.
    Start,
    /// Between the ends.
    Inside,
    /// Its second end.
    End,
}

/// The nearest points of two primitives of a mesh, of four vertices together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity<Region> {
    /// What each vertex adds to the offset: those of the first primitive sum
    /// to 1 and are not negative, those of the second to −1 and not positive.
    pub weights: [f64; 4],
    /// From the nearest point of the second primitive to that of the first [m].
    pub offset: DVec3,
    /// The parts that are nearest; where several are, the first of them.
    pub region: Region,
}

impl<Region> Proximity<Region> {
    /// How far the primitives are apart [m].
    pub fn distance(&self) -> f64 {
        self.offset.length()
    }

    /// The distance and its gradient in each vertex; `None` where the
    /// primitives touch, as there the distance has none.
    pub fn distance_gradient(&self) -> Option<(f64, [DVec3; 4])> {
        let distance = self.distance();
        let direction = self.offset / distance;
        direction
            .is_finite()
            .then(|| (distance, self.weights.map(|w| direction * w)))
    }
}

/// Sine² of an angle above which the plane's or line's own solution is exact to
/// 1e-12 of the size and the borders need not be tried as well.
const CLEAR_SINE_SQ: f64 = 1e-8;

/// The nearest points of `p` and a triangle [m]; `p` is vertex 0, the corners
/// are 1 to 3.
pub fn point_triangle(p: DVec3, corners: [DVec3; 3]) -> Proximity<TriangleRegion> {
    let [a, b, c] = corners;
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let area_sq = normal.length_squared();
    let longest_sq = ab
        .length_squared()
        .max(ac.length_squared())
        .max((c - b).length_squared());
    let is_clear = area_sq > CLEAR_SINE_SQ * longest_sq * longest_sq;
    let mut best = None;
    if area_sq > 0.0 {
        let solve = |r: DVec3| [r.cross(ac), ab.cross(r)].map(|n| n.dot(normal) / area_sq);
        let [mut v, mut w] = solve(ap);
        if !is_clear {
            // What the weights of a sliver leave over is projected once more.
            let [more_v, more_w] = solve(ap - ab * v - ac * w);
            (v, w) = (v + more_v, w + more_w);
        }
        let u = 1.0 - v - w;
        if u > 0.0 && v > 0.0 && w > 0.0 {
            let face = |offset| Proximity {
                weights: [1.0, -u, -v, -w],
                offset,
                region: TriangleRegion::Face,
            };
            if is_clear {
                // Along the normal, free of the rounding of the weights.
                return face(normal * (ap.dot(normal) / area_sq));
            }
            best = Some(face(ap - ab * v - ac * w));
        }
    }
    for side in 0..3 {
        let next = (side + 1) % 3;
        let (t, offset) = point_segment(p, corners[side], corners[next]);
        if best.is_none_or(|b| offset.length_squared() < b.offset.length_squared()) {
            let mut weights = [1.0, 0.0, 0.0, 0.0];
            weights[side + 1] = t - 1.0;
            weights[next + 1] = -t;
            let region = match edge_region(t) {
                EdgeRegion::Start => TriangleRegion::Corner(side as u8),
                EdgeRegion::Inside => TriangleRegion::Side(side as u8),
                EdgeRegion::End => TriangleRegion::Corner(next as u8),
            };
            best = Some(Proximity {
                weights,
                offset,
                region,
            });
        }
    }
    best.expect("a side was tried")
}

/// The nearest points of two edges [m]; the ends of the first are vertices 0
/// and 1, those of the second 2 and 3.
pub fn edge_edge(first: [DVec3; 2], second: [DVec3; 2]) -> Proximity<[EdgeRegion; 2]> {
    let (d1, d2) = (first[1] - first[0], second[1] - second[0]);
    let between = first[0] - second[0];
    let normal = d1.cross(d2);
    let area_sq = normal.length_squared();
    let is_clear = area_sq > CLEAR_SINE_SQ * d1.length_squared() * d2.length_squared();
    let mut best: Option<(f64, f64, DVec3)> = None;
    if area_sq > 0.0 {
        let solve = |r: DVec3| [d2.cross(r), d1.cross(r)].map(|n| n.dot(normal) / area_sq);
        let [mut s, mut t] = solve(between);
        if !is_clear {
            let [more_s, more_t] = solve(between + d1 * s - d2 * t);
            (s, t) = (s + more_s, t + more_t);
        }
        if s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0 {
            if is_clear {
                let offset = normal * (between.dot(normal) / area_sq);
                return edge_proximity(s, t, offset);
            }
            best = Some((s, t, between + d1 * s - d2 * t));
        }
    }
    // Otherwise an end is nearest to something.
    for (s, end) in [(0.0, first[0]), (1.0, first[1])] {
        let (t, offset) = point_segment(end, second[0], second[1]);
        if best.is_none_or(|b| offset.length_squared() < b.2.length_squared()) {
            best = Some((s, t, offset));
        }
    }
    for (t, end) in [(0.0, second[0]), (1.0, second[1])] {
        let (s, offset) = point_segment(end, first[0], first[1]);
        if best.is_none_or(|b| offset.length_squared() < b.2.length_squared()) {
            best = Some((s, t, -offset));
        }
    }
    let (s, t, offset) = best.expect("an end was tried");
    edge_proximity(s, t, offset)
}

/// Sine² of the angle between two edges: 0 where they are parallel and their
/// nearest points may jump, or where one has no length.
pub fn edge_sine_sq(first: [DVec3; 2], second: [DVec3; 2]) -> f64 {
    let (d1, d2) = (first[1] - first[0], second[1] - second[0]);
    let scale = d1.length_squared() * d2.length_squared();
    if scale > 0.0 {
        d1.cross(d2).length_squared() / scale
    } else {
        0.0
    }
}

fn edge_proximity(s: f64, t: f64, offset: DVec3) -> Proximity<[EdgeRegion; 2]> {
    Proximity {
        weights: [1.0 - s, s, t - 1.0, -t],
        offset,
        region: [edge_region(s), edge_region(t)],
    }
}

fn edge_region(t: f64) -> EdgeRegion {
    if t <= 0.0 {
        EdgeRegion::Start
    } else if t >= 1.0 {
        EdgeRegion::End
    } else {
        EdgeRegion::Inside
    }
}

/// Where on a segment the point nearest to `p` lies, from 0 to 1, and the
/// offset from it to `p` [m].
fn point_segment(p: DVec3, start: DVec3, end: DVec3) -> (f64, DVec3) {
    let along = end - start;
    let length_sq = along.length_squared();
    let t = if length_sq > 0.0 {
        ((p - start).dot(along) / length_sq).clamp(0.0, 1.0)
    } else {
        0.0
    };
    if t < 1.0 {
        (t, p - start - along * t)
    } else {
        (t, p - end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Coordinates on a coarse grid make parallel, flat and repeated ones common.
    fn coordinate() -> impl Strategy<Value = f64> {
        prop_oneof![
            -1.0f64..1.0,
            (-2i32..=2).prop_map(|i| f64::from(i) * 0.5),
            (-1.0f64..1.0).prop_map(|x| x * 1e-9),
        ]
    }

    prop_compose! {
        fn points()(c in prop::array::uniform12(coordinate())) -> [DVec3; 4] {
            [0, 3, 6, 9].map(|k| DVec3::new(c[k], c[k + 1], c[k + 2]))
        }
    }

    /// The pair is convex, so it is nearest exactly when no vertex lies closer
    /// along the offset than its own nearest point: (x − q)·offset ≥ 0 for the
    /// first primitive, ≤ 0 for the second. Points that are equally near to the
    /// last bit may lie the root of that bit apart.
    fn is_nearest<R>(x: &[DVec3; 4], n_first: usize, found: &Proximity<R>) -> bool {
        let tolerance = 1e-7;
        let sum = |range: std::ops::Range<usize>| {
            range
                .map(|i| x[i] * found.weights[i])
                .fold(DVec3::ZERO, |s, v| s + v)
        };
        let (on_first, on_second) = (sum(0..n_first), -sum(n_first..4));
        let weights_sum = |range: std::ops::Range<usize>| found.weights[range].iter().sum::<f64>();
        (weights_sum(0..n_first) - 1.0).abs() < 1e-12
            && (weights_sum(n_first..4) + 1.0).abs() < 1e-12
            && found.weights[..n_first].iter().all(|&w| w >= 0.0)
            && found.weights[n_first..].iter().all(|&w| w <= 0.0)
            && (on_first - on_second).distance(found.offset) < 1e-10
            && (0..n_first).all(|i| (x[i] - on_first).dot(found.offset) >= -tolerance)
            && (n_first..4).all(|i| (x[i] - on_second).dot(found.offset) <= tolerance)
    }

    fn triangle_by_force(x: &[DVec3; 4]) -> f64 {
        let n = 40;
        let mut best = f64::INFINITY;
        for i in 0..=n {
            for j in 0..=n - i {
                let (v, w) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                let q = x[1] * (1.0 - v - w) + x[2] * v + x[3] * w;
                best = best.min(q.distance(x[0]));
            }
        }
        best
    }

    fn edges_by_force(x: &[DVec3; 4]) -> f64 {
        let n = 40;
        let mut best = f64::INFINITY;
        for i in 0..=n {
            for j in 0..=n {
                let (s, t) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                best = best.min(x[0].lerp(x[1], s).distance(x[2].lerp(x[3], t)));
            }
        }
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 1000,
            failure_persistence: None,
            ..Default::default()
        })]

        #[test]
        fn no_point_of_the_triangle_is_nearer(x in points()) {
            let found = point_triangle(x[0], [x[1], x[2], x[3]]);
            prop_assert!(is_nearest(&x, 1, &found), "{found:?}");
            // Samples lie within a fortieth of the sides, at most 3.5 m, of any point.
            let sampled = triangle_by_force(&x);
            prop_assert!(found.distance() <= sampled + 1e-12);
            prop_assert!(sampled <= found.distance() + 0.1);
        }

        #[test]
        fn no_points_of_the_edges_are_nearer(x in points()) {
            let found = edge_edge([x[0], x[1]], [x[2], x[3]]);
            prop_assert!(is_nearest(&x, 2, &found), "{found:?}");
            let sampled = edges_by_force(&x);
            prop_assert!(found.distance() <= sampled + 1e-12);
            prop_assert!(sampled <= found.distance() + 0.1);
        }

        #[test]
        fn names_of_the_vertices_do_not_matter(x in points()) {
            let [p, a, b, c] = x;
            let found = point_triangle(p, [a, b, c]);
            for other in [[b, c, a], [c, a, b], [a, c, b], [c, b, a], [b, a, c]] {
                let again = point_triangle(p, other);
                prop_assert!((again.distance() - found.distance()).abs() < 1e-11);
            }
            let found = edge_edge([p, a], [b, c]);
            for other in [edge_edge([a, p], [b, c]), edge_edge([p, a], [c, b])] {
                prop_assert!((other.distance() - found.distance()).abs() < 1e-11);
            }
            let swapped = edge_edge([b, c], [p, a]);
            prop_assert!((swapped.distance() - found.distance()).abs() < 1e-11);
        }

        /// Distance is 1-Lipschitz in every vertex, also where the region changes.
        #[test]
        fn the_distance_is_continuous(x in points(), to in points()) {
            let step = 1e-6;
            let moved: [DVec3; 4] = std::array::from_fn(|i| x[i] + to[i] * step);
            let limit = 2.0 * step * to.iter().map(|v| v.length()).fold(0.0, f64::max) + 1e-12;
            let triangle = |x: [DVec3; 4]| point_triangle(x[0], [x[1], x[2], x[3]]).distance();
            let edges = |x: [DVec3; 4]| edge_edge([x[0], x[1]], [x[2], x[3]]).distance();
            prop_assert!((triangle(moved) - triangle(x)).abs() <= limit);
            prop_assert!((edges(moved) - edges(x)).abs() <= limit);
        }
    }

    /// Slope of log remainder over log step: 2 for an exact gradient.
    fn remainder_order(
        f: impl Fn([DVec3; 4]) -> (f64, [DVec3; 4]),
        x: [DVec3; 4],
        to: [DVec3; 4],
    ) -> f64 {
        let (value, gradient) = f(x);
        let slope: f64 = (0..4).map(|i| gradient[i].dot(to[i])).sum();
        let remainder = |h: f64| {
            let moved = std::array::from_fn(|i| x[i] + to[i] * h);
            (f(moved).0 - value - h * slope).abs()
        };
        (remainder(1e-3) / remainder(1e-4)).log10()
    }

    const DIRECTIONS: [DVec3; 4] = [
        DVec3::new(0.3, -0.7, 0.2),
        DVec3::new(-0.5, 0.1, 0.9),
        DVec3::new(0.8, 0.4, -0.6),
        DVec3::new(-0.2, 0.6, 0.5),
    ];

    #[test]
    fn gradients_are_exact_to_second_order_in_every_region() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
        for (p, region) in [
            (DVec3::new(0.2, 0.3, 0.4), TriangleRegion::Face),
            (DVec3::new(0.4, -0.3, -0.4), TriangleRegion::Side(0)),
            (DVec3::new(0.9, 0.8, 0.4), TriangleRegion::Side(1)),
            (DVec3::new(-0.3, 0.4, 0.1), TriangleRegion::Side(2)),
            (DVec3::new(-0.3, -0.4, 0.1), TriangleRegion::Corner(0)),
            (DVec3::new(1.8, -0.4, 0.1), TriangleRegion::Corner(1)),
            (DVec3::new(-0.4, 1.8, 0.1), TriangleRegion::Corner(2)),
        ] {
            assert_eq!(point_triangle(p, corners).region, region);
            let order = remainder_order(
                |x| {
                    point_triangle(x[0], [x[1], x[2], x[3]])
                        .distance_gradient()
                        .unwrap()
                },
                [p, corners[0], corners[1], corners[2]],
                DIRECTIONS,
            );
            assert!((1.8..2.2).contains(&order), "{region:?}: h^{order:.2}");
        }
        use EdgeRegion::{End, Inside, Start};
        let first = [DVec3::NEG_X, DVec3::X];
        for (second, region) in [
            ([[0.3, 0.5, -1.0], [0.2, 0.6, 1.0]], [Inside, Inside]),
            ([[0.3, 0.5, 0.2], [0.2, 0.6, 1.0]], [Inside, Start]),
            ([[0.3, 0.5, -1.2], [0.2, 0.6, -0.4]], [Inside, End]),
            ([[-1.3, 0.5, -1.0], [-1.2, 0.6, 1.0]], [Start, Inside]),
            ([[1.3, 0.5, -1.0], [1.2, 0.6, 1.0]], [End, Inside]),
            ([[1.3, 0.5, 0.4], [1.9, 0.6, 1.0]], [End, Start]),
            ([[-2.0, 0.5, 0.7], [-1.5, 0.6, 0.3]], [Start, End]),
        ] {
            let second = second.map(DVec3::from_array);
            assert_eq!(edge_edge(first, second).region, region);
            let order = remainder_order(
                |x| {
                    edge_edge([x[0], x[1]], [x[2], x[3]])
                        .distance_gradient()
                        .unwrap()
                },
                [first[0], first[1], second[0], second[1]],
                DIRECTIONS,
            );
            assert!((1.8..2.2).contains(&order), "{region:?}: h^{order:.2}");
        }
    }

    #[test]
    fn nearly_parallel_edges_and_slivers_keep_their_distance() {
        // Turned by `angle` about the middle of the first, half a metre above.
        for angle in [0.0, 1e-16, 1e-13, 1e-10, 1e-7, 1e-4, 1e-2] {
            let along = DVec3::new(f64::cos(angle), 0.0, f64::sin(angle));
            let second = [DVec3::Y * 0.5 - along, DVec3::Y * 0.5 + along];
            let found = edge_edge([DVec3::NEG_X, DVec3::X], second);
            assert!((found.distance() - 0.5).abs() < 1e-15, "{angle}");
        }
        for width in [0.0, 1e-300, 1e-16, 1e-13, 1e-10, 1e-7, 1e-3] {
            let corners = [DVec3::ZERO, DVec3::X, DVec3::new(0.4, width, 0.0)];
            for x in [0.1, 0.4, 0.7] {
                let p = DVec3::new(x, 0.2 * width, 0.5);
                let found = point_triangle(p, corners);
                assert!((found.distance() - 0.5).abs() < 1e-12, "{width}");
            }
        }
    }

    #[test]
    fn touching_has_no_gradient() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let found = point_triangle(DVec3::new(0.25, 0.25, 0.0), corners);
        assert_eq!(found.distance(), 0.0);
        assert_eq!(found.distance_gradient(), None);
    }
}
