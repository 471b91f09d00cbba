//! From triangle to triangle over a mesh, towards a point.

use alloc::vec::Vec;

use glam::Vec3;

/// The most triangles of a walk.
const STEPS: u32 = 12;

/// From a triangle to the nearest of those `across` its sides, and on: where that
/// ends.
pub(super) fn walk(
    (triangles, across): (&[[u32; 3]], &[[u32; 3]]),
    positions: &[Vec3],
    p: Vec3,
    start: u32,
) -> u32 {
    let distance = |t: u32| {
        let corners = triangles[t as usize].map(|v| positions[v as usize]);
        distance_sq_to_triangle(p, corners)
    };
    let mut here = (start, distance(start));
    for _ in 0..STEPS {
        let mut next = here;
        for t in across[here.0 as usize] {
            let distance = distance(t);
            if distance < next.1 {
                next = (t, distance);
            }
        }
        if next.0 == here.0 {
            break;
        }
        here = next;
    }
    here.0
}

/// The triangle across side 01, 12, 20 of each triangle, or itself.
pub(super) fn across(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut sides: Vec<([u32; 2], u32, usize)> = Vec::with_capacity(3 * triangles.len());
    for (t, corners) in triangles.iter().enumerate() {
        for side in 0..3 {
            let (a, b) = (corners[side], corners[(side + 1) % 3]);
            sides.push(([a.min(b), a.max(b)], t as u32, side));
        }
    }
    sides.sort_unstable();
    let mut across: Vec<[u32; 3]> = (0..triangles.len() as u32).map(|t| [t; 3]).collect();
    for pair in sides.chunk_by(|p, q| p.0 == q.0) {
        if let [p, q] = pair {
            across[p.1 as usize][p.2] = q.1;
            across[q.1 as usize][q.2] = p.1;
        }
    }
    across
}

/// How far a point is from a triangle [m], or a little more: to its plane inside,
/// to its sides else.
pub(super) fn distance_to_triangle(p: Vec3, corners: [Vec3; 3]) -> f32 {
    libm::sqrtf(distance_sq_to_triangle(p, corners))
}

fn distance_sq_to_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> f32 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let area_sq = normal.length_squared();
    let v = ap.cross(ac).dot(normal);
    let w = ab.cross(ap).dot(normal);
    if area_sq > 0.0 && v >= 0.0 && w >= 0.0 && v + w <= area_sq {
        let height = ap.dot(normal);
        return height * height / area_sq;
    }
    let side = |along: Vec3, from: Vec3| {
        let t = from.dot(along) / along.length_squared().max(1e-20);
        (from - along * t.clamp(0.0, 1.0)).length_squared()
    };
    side(ab, ap).min(side(c - b, p - b)).min(side(ac, ap))
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_walk_over_a_strip_ends_at_the_nearest_triangle() {
        // A strip of ten triangles along x.
        let positions: Vec<Vec3> = (0..12)
            .map(|i| Vec3::new((i / 2) as f32, (i % 2) as f32, 0.0))
            .collect();
        let triangles: Vec<[u32; 3]> = (0..10).map(|i| [i, i + 1, i + 2]).collect();
        let sides = across(&triangles);
        assert_eq!(sides[0].iter().filter(|t| **t == 0).count(), 2);
        assert_eq!(sides[4].iter().filter(|t| **t == 4).count(), 1);
        for x in [0.1, 1.3, 2.6, 4.7] {
            let p = Vec3::new(x, 0.4, 0.3);
            let distance = |t: &[u32; 3]| distance_to_triangle(p, t.map(|v| positions[v as usize]));
            let nearest = triangles.iter().map(distance).fold(9.0, f32::min);
            let found = walk((&triangles, &sides), &positions, p, 9);
            assert_eq!(distance(&triangles[found as usize]), nearest, "{x}");
        }
    }

    #[test]
    fn distances_from_a_face_a_side_and_a_corner() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
        for (p, expected) in [
            (Vec3::new(0.2, 0.2, -0.7), 0.7),
            (Vec3::new(0.5, -0.3, 0.4), 0.5),
            (Vec3::new(2.0, 0.0, 0.0), 1.0),
            (Vec3::new(1.0, 1.0, 0.0), 0.5f32.sqrt()),
        ] {
            let found = distance_to_triangle(p, corners);
            assert!((found - expected).abs() < 1e-6, "{p}: {found}");
        }
        assert!(distance_to_triangle(Vec3::Y, [Vec3::ZERO; 3]).is_finite());
        assert_eq!(across(&[[0, 1, 2]]), [[0; 3]]);
    }
}
