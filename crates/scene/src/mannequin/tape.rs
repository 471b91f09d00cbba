//! A tape measure: the girth of a body in a plane.
//!
//! The plane cuts the skin in loops. The tape goes around one of them and is
//! tight, so it follows the convex hull.

use glam::{DVec2, DVec3, Vec3};

/// How long a tight tape is around a closed body in the plane through `at`
/// across `normal` [m]: around the loop that `at` is inside of, or the one
/// whose middle is nearest to it. None where the plane misses the body.
pub fn girth(positions: &[Vec3], triangles: &[[u32; 3]], at: Vec3, normal: Vec3) -> Option<f64> {
    let at = at.as_dvec3();
    let normal = normal.as_dvec3().normalize();
    let u = normal.any_orthonormal_vector();
    let w = normal.cross(u);
    let points: Vec<DVec3> = positions.iter().map(|p| p.as_dvec3() - at).collect();
    // A vertex in the plane counts as above it.
    let height: Vec<f64> = points.iter().map(|p| p.dot(normal)).collect();
    // Each cut triangle joins two cut edges.
    let mut links: Vec<([u32; 2], [u32; 2])> = Vec::new();
    for t in triangles {
        let mut cut = Vec::new();
        for i in 0..3 {
            let (a, b) = (t[i], t[(i + 1) % 3]);
            if (height[a as usize] < 0.0) != (height[b as usize] < 0.0) {
                cut.push([a.min(b), a.max(b)]);
            }
        }
        if let [p, q] = cut[..] {
            links.push((p, q));
            links.push((q, p));
        }
    }
    links.sort_unstable();
    let place = |[a, b]: [u32; 2]| {
        let (a, b) = (a as usize, b as usize);
        let p = points[a] + (points[b] - points[a]) * (height[a] / (height[a] - height[b]));
        DVec2::new(p.dot(u), p.dot(w))
    };
    let mut seen = vec![false; links.len()];
    let mut best: Option<(f64, f64)> = None;
    for start in 0..links.len() {
        if seen[start] {
            continue;
        }
        let mut loop_points = Vec::new();
        let mut open = vec![start];
        while let Some(i) = open.pop() {
            if std::mem::replace(&mut seen[i], true) {
                continue;
            }
            let (from, to) = links[i];
            loop_points.push(place(from));
            for edge in [from, to] {
                let first = links.partition_point(|l| l.0 < edge);
                open.extend((first..links.len()).take_while(|&k| links[k].0 == edge));
            }
        }
        let hull = hull(loop_points);
        let away = outside(&hull);
        let length = (0..hull.len())
            .map(|i| hull[i].distance(hull[(i + 1) % hull.len()]))
            .sum();
        if best.is_none_or(|(nearest, _)| away < nearest) {
            best = Some((away, length));
        }
    }
    best.map(|(_, length)| length)
}

/// The convex hull, counter-clockwise (Andrew's monotone chain).
fn hull(mut points: Vec<DVec2>) -> Vec<DVec2> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    let mut hull: Vec<DVec2> = Vec::new();
    for pass in 0..2 {
        let floor = hull.len() + 1;
        let order: Vec<DVec2> = if pass == 0 {
            points.clone()
        } else {
            points.iter().rev().copied().collect()
        };
        for p in order {
            while hull.len() > floor {
                let (a, b) = (hull[hull.len() - 2], hull[hull.len() - 1]);
                if (b - a).perp_dot(p - b) > 0.0 {
                    break;
                }
                hull.pop();
            }
            hull.push(p);
        }
        hull.pop();
    }
    hull
}

/// How far the origin is from a hull; 0 inside.
fn outside(hull: &[DVec2]) -> f64 {
    let n = hull.len();
    let mut nearest = f64::INFINITY;
    let mut inside = n > 2;
    for i in 0..n {
        let (a, b) = (hull[i], hull[(i + 1) % n]);
        inside &= (b - a).perp_dot(-a) >= 0.0;
        let along = b - a;
        let t = (-a.dot(along) / along.length_squared().max(1e-30)).clamp(0.0, 1.0);
        nearest = nearest.min((a + along * t).length());
    }
    if inside { 0.0 } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two boxes of 2 × 3 m across and 1 m high, 10 m apart.
    fn boxes() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for shift in [0.0, 10.0] {
            let first = positions.len() as u32;
            for i in 0..8 {
                positions.push(Vec3::new(
                    shift + if i & 1 == 0 { -1.0 } else { 1.0 },
                    if i & 2 == 0 { 0.0 } else { 1.0 },
                    if i & 4 == 0 { 0.0 } else { 3.0 },
                ));
            }
            for [a, b, c, d] in [
                [0, 2, 3, 1],
                [4, 5, 7, 6],
                [0, 1, 5, 4],
                [2, 6, 7, 3],
                [0, 4, 6, 2],
                [1, 3, 7, 5],
            ] {
                triangles.extend([[a, b, c], [a, c, d]].map(|t: [u32; 3]| t.map(|v| v + first)));
            }
        }
        (positions, triangles)
    }

    #[test]
    fn the_tape_goes_around_the_part_it_is_held_to() {
        let (positions, triangles) = boxes();
        for x in [0.0, 10.0, 3.0] {
            let at = Vec3::new(x, 0.5, 1.0);
            let found = girth(&positions, &triangles, at, Vec3::Y).unwrap();
            assert!((found - 10.0).abs() < 1e-9, "{found}");
        }
        let across = girth(&positions, &triangles, Vec3::new(0.0, 0.5, 1.0), Vec3::Z).unwrap();
        assert!((across - 6.0).abs() < 1e-9, "{across}");
        let above = Vec3::new(0.0, 2.0, 0.0);
        assert_eq!(girth(&positions, &triangles, above, Vec3::Y), None);
    }
}
