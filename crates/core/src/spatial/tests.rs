//! The tree against all pairs, and the tests of sides and crossings against
//! solids whose answers are known.

use alloc::vec;
use alloc::vec::Vec;

use glam::{DVec3, Vec3};
use proptest::prelude::*;

use super::closest::closest_on_triangle;
use super::*;

/// A sphere of latitude rings: closed, outward.
fn sphere(centre: Vec3, radius: f32, n: u32, base: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions = vec![centre + Vec3::Y * radius];
    for ring in 1..n {
        let theta = core::f32::consts::PI * ring as f32 / n as f32;
        for k in 0..2 * n {
            let phi = core::f32::consts::PI * k as f32 / n as f32;
            let (s, c) = (libm::sinf(theta), libm::cosf(theta));
            positions
                .push(centre + Vec3::new(s * libm::sinf(phi), c, s * libm::cosf(phi)) * radius);
        }
    }
    positions.push(centre - Vec3::Y * radius);
    let last = positions.len() as u32 - 1;
    let at = |ring: u32, k: u32| 1 + (ring - 1) * 2 * n + k % (2 * n);
    let mut triangles = vec![];
    for k in 0..2 * n {
        triangles.push([0, at(1, k), at(1, k + 1)]);
        triangles.push([last, at(n - 1, k + 1), at(n - 1, k)]);
        for ring in 1..n - 1 {
            triangles.push([at(ring, k), at(ring + 1, k), at(ring + 1, k + 1)]);
            triangles.push([at(ring, k), at(ring + 1, k + 1), at(ring, k + 1)]);
        }
    }
    let triangles = triangles.iter().map(|t| t.map(|v| v + base)).collect();
    (positions, triangles)
}

/// Two unit spheres one unit apart, as one mesh.
fn overlapping_spheres() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = sphere(Vec3::ZERO, 1.0, 12, 0);
    let (more, others) = sphere(Vec3::X, 1.0, 12, positions.len() as u32);
    positions.extend(more);
    triangles.extend(others);
    (positions, triangles)
}

/// Coordinates on a coarse grid make ties and degenerate triangles common.
fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![
        -1.0f32..1.0,
        (-2i32..=2).prop_map(|i| i as f32 * 0.5),
        Just(0.25f32),
    ]
}

prop_compose! {
    fn point()(x in coordinate(), y in coordinate(), z in coordinate()) -> Vec3 {
        Vec3::new(x, y, z)
    }
}

prop_compose! {
    /// Triangle soup; corners may repeat.
    fn soup()(positions in prop::collection::vec(point(), 3..40))(
        triangles in prop::collection::vec(prop::array::uniform3(0..positions.len() as u32), 1..60),
        positions in Just(positions),
    ) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        (positions, triangles)
    }
}

fn closest_by_force(
    p: Vec3,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
) -> (f64, u32, [f64; 3], DVec3) {
    let mut best = (f64::INFINITY, 0, [0.0; 3], DVec3::ZERO);
    for (triangle, ids) in triangles.iter().enumerate() {
        let corners = ids.map(|v| positions[v as usize].as_dvec3());
        let (weights, point) = closest_on_triangle(p.as_dvec3(), *ids, corners);
        let distance_sq = point.distance_squared(p.as_dvec3());
        if distance_sq < best.0 {
            best = (distance_sq, triangle as u32, weights, point);
        }
    }
    best
}

proptest! {
    #[test]
    fn closest_point_is_that_of_all_triangles(
        (positions, triangles) in soup(),
        queries in prop::collection::vec(point(), 1..8),
    ) {
        let tree = TriangleTree::new(&triangles, &positions);
        for p in queries {
            let found = tree.closest_point(p, &positions, f32::INFINITY).unwrap();
            let (distance_sq, triangle, weights, point) =
                closest_by_force(p, &positions, &triangles);
            prop_assert_eq!(found.triangle, triangle);
            prop_assert_eq!(found.barycentric, weights.map(|w| w as f32));
            prop_assert_eq!(found.point, point.as_vec3());
            let distance = libm::sqrt(distance_sq) as f32;
            prop_assert_eq!(found.distance, distance);
            // The weights describe the point and are weights.
            let corners = triangles[triangle as usize].map(|v| positions[v as usize]);
            let again = corners[0] * found.barycentric[0]
                + corners[1] * found.barycentric[1]
                + corners[2] * found.barycentric[2];
            prop_assert!(again.abs_diff_eq(found.point, 1e-6));
            prop_assert!(found.barycentric.iter().all(|w| (0.0..=1.0).contains(w)));
            // A limit just below finds nothing, the distance itself does.
            if distance > 1e-3 {
                prop_assert!(tree.closest_point(p, &positions, distance * 0.999).is_none());
            }
            prop_assert_eq!(tree.closest_point(p, &positions, distance * 1.001), Some(found));
        }
    }

    /// No sampled point of a triangle is nearer than the answer.
    #[test]
    fn closest_on_triangle_is_not_beaten_by_samples(
        corners in prop::array::uniform3(point()),
        p in point(),
    ) {
        let corners = corners.map(Vec3::as_dvec3);
        let p = p.as_dvec3();
        let (_, found) = closest_on_triangle(p, [0, 1, 2], corners);
        for i in 0..=12 {
            for j in 0..=12 - i {
                let (u, v) = (i as f64 / 12.0, j as f64 / 12.0);
                let sample = corners[0] * u + corners[1] * v + corners[2] * (1.0 - u - v);
                prop_assert!(found.distance(p) <= sample.distance(p) + 1e-9);
            }
        }
    }

    #[test]
    fn a_refitted_tree_answers_like_a_new_one(
        (positions, triangles) in soup(),
        moves in prop::collection::vec(point(), 40),
        queries in prop::collection::vec(point(), 1..8),
    ) {
        let mut tree = TriangleTree::new(&triangles, &positions);
        let moved: Vec<Vec3> = positions.iter().zip(&moves).map(|(p, m)| *p + *m * 0.7).collect();
        tree.refit(&moved);
        let new = TriangleTree::new(&triangles, &moved);
        prop_assert_eq!(tree.bounds(), new.bounds());
        for p in queries {
            prop_assert_eq!(
                tree.closest_point(p, &moved, 1.0),
                new.closest_point(p, &moved, 1.0)
            );
            prop_assert_eq!(
                tree.ray_crossings(p, Vec3::new(0.3, 0.5, -0.7), &moved),
                new.ray_crossings(p, Vec3::new(0.3, 0.5, -0.7), &moved)
            );
        }
    }

    #[test]
    fn the_nearest_of_single_triangles_is_the_nearest_of_all(
        (positions, triangles) in soup(),
        p in point(),
    ) {
        let tree = TriangleTree::new(&triangles, &positions);
        let single = |(t, ids): (usize, &[u32; 3])| {
            closest_point_on(p, (t as u32, *ids), &positions)
        };
        let all = triangles.iter().enumerate().map(single);
        let best = all.min_by(|a, b| a.distance.total_cmp(&b.distance));
        let found = tree.closest_point(p, &positions, f32::INFINITY);
        prop_assert_eq!(found.map(|f| f.distance), best.map(|b| b.distance));
        if let Some(found) = found {
            let ids = triangles[found.triangle as usize];
            prop_assert_eq!(found, closest_point_on(p, (found.triangle, ids), &positions));
        }
    }

    #[test]
    fn no_triangle_is_near_a_box_that_the_tree_is_far_from(
        (positions, triangles) in soup(),
        (p, q) in (point(), point()),
        margin in 0.0f32..0.3,
    ) {
        let tree = TriangleTree::new(&triangles, &positions);
        let (low, high) = (p.min(q), p.max(q));
        let is_near = |ids: &[u32; 3]| {
            let [a, b, c] = ids.map(|v| positions[v as usize]);
            let (l, h) = (a.min(b).min(c), a.max(b).max(c));
            (low - margin).cmple(h).all() && l.cmple(high + margin).all()
        };
        if triangles.iter().any(is_near) {
            prop_assert!(tree.is_near_box(low, high, margin));
        }
        let (from, to) = tree.bounds().unwrap_or((Vec3::ZERO, Vec3::ZERO));
        let beyond = to + Vec3::splat(1.5 * margin + 0.1);
        prop_assert!(!tree.is_near_box(beyond, beyond + (to - from), margin));
    }

    #[test]
    fn pairs_are_those_of_all_pairs(
        (positions, triangles) in soup(),
        (others, other_triangles) in soup(),
        margin in prop_oneof![Just(0.0f32), 0.0f32..0.3],
    ) {
        let box_of = |ids: &[u32; 3], positions: &[Vec3]| {
            let [a, b, c] = ids.map(|v| positions[v as usize]);
            (a.min(b).min(c), a.max(b).max(c))
        };
        let near = |p: (Vec3, Vec3), q: (Vec3, Vec3)| {
            (p.0 - margin).cmple(q.1).all() && q.0.cmple(p.1 + margin).all()
        };
        let tree = TriangleTree::new(&triangles, &positions);
        let other = TriangleTree::new(&other_triangles, &others);

        let mut found = vec![];
        tree.visit_pairs(&positions, &other, &others, margin, |i, j| found.push((i, j)));
        found.sort_unstable();
        let mut expected = vec![];
        for (i, p) in triangles.iter().enumerate() {
            for (j, q) in other_triangles.iter().enumerate() {
                if near(box_of(p, &positions), box_of(q, &others)) {
                    expected.push((i as u32, j as u32));
                }
            }
        }
        prop_assert_eq!(&found, &expected);

        let mut found = vec![];
        tree.visit_self_pairs(&positions, 0.0, |i, j| found.push((i, j)));
        found.sort_unstable();
        let mut expected = vec![];
        for i in 0..triangles.len() {
            for j in i + 1..triangles.len() {
                let (p, q) = (box_of(&triangles[i], &positions), box_of(&triangles[j], &positions));
                if p.0.cmple(q.1).all() && q.0.cmple(p.1).all() {
                    expected.push((i as u32, j as u32));
                }
            }
        }
        prop_assert_eq!(&found, &expected);
    }

    /// Crossing by planes against crossing by sides: a triangle crosses another
    /// when a side of one passes through the inside of the other.
    #[test]
    fn crossings_are_those_of_sides_through_faces(
        p in prop::array::uniform3(point()),
        q in prop::array::uniform3(point()),
    ) {
        let found = intersect_triangles(p, q);
        let through = |side: [Vec3; 2], face: [Vec3; 3]| {
            let [a, b, c] = face.map(Vec3::as_dvec3);
            let [s, e] = side.map(Vec3::as_dvec3);
            let n = (b - a).cross(c - a);
            let (hs, he) = (n.dot(s - a), n.dot(e - a));
            if hs * he >= 0.0 || hs.abs().min(he.abs()) < 1e-6 * n.length() {
                return false;
            }
            let x = s + (e - s) * (hs / (hs - he));
            let inside = |a: DVec3, b: DVec3| n.dot((b - a).cross(x - a)) > 1e-6 * n.length();
            inside(a, b) && inside(b, c) && inside(c, a)
        };
        let sides = |t: [Vec3; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
        let crosses = sides(p).iter().any(|&s| through(s, q)) || sides(q).iter().any(|&s| through(s, p));
        let area = |t: [Vec3; 3]| (t[1] - t[0]).cross(t[2] - t[0]).length();
        if crosses && area(p).min(area(q)) > 1e-4 {
            prop_assert_eq!(found.map(|f| f.meeting), Some(Meeting::Crossing));
        }
        // The other way round is the same, and the segment lies on both.
        let swapped = intersect_triangles(q, p);
        prop_assert_eq!(found.map(|f| f.meeting), swapped.map(|f| f.meeting));
        if let Some(found) = found {
            for end in found.segment {
                for t in [p, q] {
                    let (_, on) = closest_on_triangle(end, [0, 1, 2], t.map(Vec3::as_dvec3));
                    prop_assert!(on.distance(end) < 1e-5, "{} off by {}", end, on.distance(end));
                }
            }
        }
    }

    #[test]
    fn ray_sum_and_dipoles_agree_on_how_often_a_point_is_surrounded(p in point()) {
        let (positions, triangles) = overlapping_spheres();
        let p = p * 1.7 + Vec3::X * 0.5;
        let tree = TriangleTree::new(&triangles, &positions);
        let field = WindingField::new(&tree, &positions);
        let exact = winding_number(p, &triangles, &positions);
        let distance = tree.closest_point(p, &positions, f32::INFINITY).unwrap().distance;
        prop_assume!(distance > 1e-4);
        prop_assert!((exact - libm::round(exact)).abs() < 1e-6, "{}", exact);
        prop_assert_eq!(tree.winding_of_closed(p, &positions), libm::round(exact) as i32);
        let fast = field.number(&tree, &positions, p);
        prop_assert!((fast - exact).abs() < 0.1, "{} for {}", fast, exact);
    }

    #[test]
    fn pseudo_normals_know_a_sphere_from_inside(p in point()) {
        let (positions, triangles) = sphere(Vec3::ZERO, 0.7, 9, 0);
        let tree = TriangleTree::new(&triangles, &positions);
        let normals = PseudoNormals::new(&triangles, &positions);
        let (signed, closest) = normals.signed_distance(&tree, &positions, p, 10.0).unwrap();
        prop_assume!(closest.distance > 1e-5);
        let inside = winding_number(p, &triangles, &positions) > 0.5;
        prop_assert_eq!(signed < 0.0, inside);
        prop_assert_eq!(signed.abs(), closest.distance);
    }
}

#[test]
fn a_lens_of_two_spheres_is_surrounded_twice() {
    let (positions, triangles) = overlapping_spheres();
    let tree = TriangleTree::new(&triangles, &positions);
    let winding = |x: f32| tree.winding_of_closed(Vec3::new(x, 0.01, 0.02), &positions);
    assert_eq!([-1.5, -0.5, 0.5, 1.5, 2.5].map(winding), [0, 1, 2, 1, 0]);
}

#[test]
fn a_ray_through_a_corner_or_side_is_uncertain_yet_the_winding_is_right() {
    let (positions, triangles) = sphere(Vec3::ZERO, 1.0, 8, 0);
    let tree = TriangleTree::new(&triangles, &positions);
    let crossings = tree.ray_crossings(Vec3::ZERO, Vec3::Y, &positions);
    assert!(crossings.uncertain > 0);
    assert_eq!(crossings.winding(), None);
    assert_eq!(tree.winding_of_closed(Vec3::ZERO, &positions), 1);
    let clear = tree.ray_crossings(Vec3::new(-3.0, 0.11, 0.07), Vec3::X, &positions);
    assert_eq!(
        clear,
        RayCrossings {
            entering: 1,
            leaving: 1,
            uncertain: 0
        }
    );
}

/// The tolerance of triangles in one plane once had the wrong dimension, so
/// that large triangles with a gap between them met.
#[test]
fn how_triangles_meet_does_not_depend_on_their_size() {
    let flat = [Vec3::ZERO, Vec3::X, Vec3::Z];
    let x = |x: f32, z: f32| Vec3::new(x, 0.0, z);
    let cases = [
        // Beyond the side along x, by a billionth of its length.
        ([x(0.1, -1e-9), x(0.9, -1e-9), x(0.5, -1.0)], None),
        (
            [x(0.1, 0.0), x(0.9, 0.0), x(0.5, -1.0)],
            Some(Meeting::Touching),
        ),
        (
            [x(0.1, 0.1), x(0.9, 0.1), x(0.5, -1.0)],
            Some(Meeting::Coplanar),
        ),
    ];
    for scale in [1e-3, 1.0, 1e3] {
        for (other, expected) in cases {
            for (p, q) in [(flat, other), (other, flat)] {
                let found = intersect_triangles(p.map(|p| p * scale), q.map(|q| q * scale));
                let meeting = found.map(|f| f.meeting);
                assert_eq!(meeting, expected, "{p:?} and {q:?} times {scale}");
            }
        }
    }
}

#[test]
fn meetings_are_told_apart() {
    let flat = [Vec3::ZERO, Vec3::X, Vec3::Z];
    let x = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
    // A blade through the middle: from x = 0.1 to x = 0.4 at z = 0.25.
    let blade = [x(0.1, -1.0, 0.25), x(0.4, -1.0, 0.25), x(0.25, 1.0, 0.25)];
    let found = intersect_triangles(flat, blade).unwrap();
    assert_eq!(found.meeting, Meeting::Crossing);
    // Halfway up the blade has half its width.
    let mut ends = found.segment.map(|p| p.x);
    ends.sort_by(f64::total_cmp);
    assert!(
        (ends[0] - 0.175).abs() < 1e-6 && (ends[1] - 0.325).abs() < 1e-6,
        "{ends:?}"
    );

    let standing = [x(0.1, 0.0, 0.1), x(0.3, 0.0, 0.1), x(0.2, 1.0, 0.1)];
    assert_eq!(
        intersect_triangles(flat, standing).unwrap().meeting,
        Meeting::Touching
    );
    let shifted = [x(0.1, 0.0, 0.1), x(2.0, 0.0, 0.1), x(0.1, 0.0, 2.0)];
    assert_eq!(
        intersect_triangles(flat, shifted).unwrap().meeting,
        Meeting::Coplanar
    );
    assert_eq!(
        intersect_triangles(flat, flat).unwrap().meeting,
        Meeting::Coplanar
    );
    let beside = [Vec3::X, x(1.0, 0.0, 1.0), Vec3::Z];
    assert_eq!(
        intersect_triangles(flat, beside).unwrap().meeting,
        Meeting::Touching
    );
    let away = flat.map(|p| p + x(3.0, 0.0, 0.0));
    assert_eq!(intersect_triangles(flat, away), None);
    let above = flat.map(|p| p + x(0.0, 1e-6, 0.0));
    assert_eq!(intersect_triangles(flat, above), None);
    let line = [x(0.1, -1.0, 0.2), x(0.1, 1.0, 0.2), x(0.1, 0.5, 0.2)];
    assert_eq!(intersect_triangles(flat, line), None);
}

#[test]
fn self_intersections_of_two_spheres_are_those_of_all_pairs() {
    let (positions, triangles) = overlapping_spheres();
    let tree = TriangleTree::new(&triangles, &positions);
    let mut found = vec![];
    tree.visit_self_intersections(&positions, |a, b, _| found.push((a, b)));
    found.sort_unstable();
    let half = triangles.len() / 2;
    assert!(found.len() > 40);
    assert!(
        found
            .iter()
            .all(|&(a, b)| (a as usize) < half && b as usize >= half)
    );
    let mut expected = vec![];
    for (i, p) in triangles.iter().enumerate() {
        for (j, q) in triangles.iter().enumerate().skip(half) {
            let at = |v: u32| positions[v as usize];
            if i < half
                && intersect_triangles(p.map(at), q.map(at))
                    .is_some_and(|f| f.meeting != Meeting::Touching)
            {
                expected.push((i as u32, j as u32));
            }
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn a_tree_of_coincident_triangles_ends() {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let triangles = vec![[0, 1, 2]; 1000];
    let tree = TriangleTree::new(&triangles, &positions);
    let found = tree.closest_point(Vec3::Z, &positions, 2.0).unwrap();
    assert_eq!((found.triangle, found.distance), (0, 1.0));
    let none = TriangleTree::new(&[], &[]);
    assert!(none.is_empty() && none.closest_point(Vec3::Z, &[], 2.0).is_none());
}

#[test]
fn weights_make_triangles_count_as_farther_away() {
    let (positions, triangles) = sphere(Vec3::ZERO, 1.0, 10, 0);
    let tree = TriangleTree::new(&triangles, &positions);
    // The upper half is three times as far away, a slice is not there at all.
    let weight = |t: u32| {
        let centre: Vec3 = triangles[t as usize]
            .iter()
            .map(|v| positions[*v as usize])
            .sum();
        match (centre.x > 1.5, centre.y > 0.0) {
            (true, _) => f32::INFINITY,
            (_, true) => 3.0,
            _ => 1.0,
        }
    };
    for p in [
        Vec3::new(0.1, 0.4, 0.2),
        Vec3::new(0.0, 0.9, 0.1),
        Vec3::new(1.2, 0.1, 0.0),
        Vec3::new(0.9, -0.1, 0.1),
    ] {
        let found = tree
            .closest_point_weighted(p, &positions, 9.0, weight)
            .unwrap();
        let mut best = (f32::INFINITY, 0.0);
        for (t, ids) in triangles.iter().enumerate() {
            let distance = closest_point_on(p, (t as u32, *ids), &positions).distance;
            let weighted = distance * weight(t as u32);
            if weighted < best.0 {
                best = (weighted, distance);
            }
        }
        let weighted = found.distance * weight(found.triangle);
        assert!((weighted - best.0).abs() < 1e-6, "{p}: {weighted} {best:?}");
        assert!((found.distance - best.1).abs() < 1e-6, "{p}");
        // The limit is on the weighted distance.
        let none = tree.closest_point_weighted(p, &positions, 0.99 * best.0, weight);
        assert!(none.is_none(), "{p}");
    }
}
