//! Whether two triangles meet, and along what.
//!
//! Each triangle is cut by the plane of the other; both cuts lie on the line
//! where the planes meet, and the triangles meet where the cuts overlap
//! (T. Möller, "A fast triangle-triangle intersection test", 1997). Differences
//! of `f32` coordinates are exact in `f64`, so a side of a plane is known
//! except for points within 1e-14 of the triangles' size of it, which count as
//! lying on it. Triangles in one plane are clipped against each other.
//!
//! A triangle without area meets nothing: it is a fault of its own.

use glam::{DVec3, Vec3};

/// How two triangles meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// Each passes through the plane of the other, and they share a segment.
    Crossing,
    /// They share a point or segment, but one ends there.
    Touching,
    /// They lie in one plane and share an area.
    Coplanar,
}

/// Where two triangles meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleIntersection {
    /// How they meet.
    pub meeting: Meeting,
    /// The ends of the segment they share [m]; of a shared area, its two
    /// corners that are furthest apart.
    pub segment: [DVec3; 2],
}

/// What counts as on a plane, relative to the size of the triangles.
const ON_PLANE: f64 = 1e-14;

/// Where the triangles with the corners `p` and `q` [m] meet, if they do.
pub fn intersect_triangles(p: [Vec3; 3], q: [Vec3; 3]) -> Option<TriangleIntersection> {
    let (p, q) = (p.map(Vec3::as_dvec3), q.map(Vec3::as_dvec3));
    let normal_q = normal(q)?;
    let p_side = sides(p, q[0], normal_q);
    if apart(p_side) {
        return None;
    }
    let normal_p = normal(p)?;
    let q_side = sides(q, p[0], normal_p);
    if apart(q_side) {
        return None;
    }
    if p_side == [0.0; 3] || q_side == [0.0; 3] {
        return coplanar(p, q, normal_p);
    }
    let line = normal_p.cross(normal_q);
    let [p_low, p_high] = cut(p, p_side, line);
    let [q_low, q_high] = cut(q, q_side, line);
    let start = if line.dot(p_low - q_low) >= 0.0 {
        p_low
    } else {
        q_low
    };
    let end = if line.dot(p_high - q_high) <= 0.0 {
        p_high
    } else {
        q_high
    };
    let length = line.dot(end - start);
    if length < 0.0 {
        return None;
    }
    let straddles = |side: [f64; 3]| side.iter().any(|&s| s > 0.0) && side.iter().any(|&s| s < 0.0);
    let crossing = length > 0.0 && straddles(p_side) && straddles(q_side);
    Some(TriangleIntersection {
        meeting: if crossing {
            Meeting::Crossing
        } else {
            Meeting::Touching
        },
        segment: [start, end],
    })
}

/// Twice the area along the normal; `None` without area.
fn normal([a, b, c]: [DVec3; 3]) -> Option<DVec3> {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let scale = ab
        .length_squared()
        .max(ac.length_squared())
        .max((c - b).length_squared());
    (normal.length_squared() > 1e-24 * scale * scale).then_some(normal)
}

/// Heights of the corners over a plane, in units of its normal; 0 on it.
fn sides(corners: [DVec3; 3], origin: DVec3, normal: DVec3) -> [f64; 3] {
    corners.map(|p| {
        let from = p - origin;
        let height = normal.dot(from);
        let limit = ON_PLANE * libm::sqrt(normal.length_squared() * from.length_squared());
        if height.abs() <= limit { 0.0 } else { height }
    })
}

fn apart(side: [f64; 3]) -> bool {
    side.iter().all(|&s| s > 0.0) || side.iter().all(|&s| s < 0.0)
}

/// Where a plane cuts a triangle, ordered along `line`.
fn cut(corners: [DVec3; 3], side: [f64; 3], line: DVec3) -> [DVec3; 2] {
    let mut ends: Option<[DVec3; 2]> = None;
    let mut add = |p: DVec3| {
        ends = Some(match ends {
            None => [p, p],
            Some([low, high]) => [
                if line.dot(p - low) < 0.0 { p } else { low },
                if line.dot(p - high) > 0.0 { p } else { high },
            ],
        });
    };
    for i in 0..3 {
        let j = (i + 1) % 3;
        if side[i] == 0.0 {
            add(corners[i]);
        } else if side[i] * side[j] < 0.0 {
            add(corners[i] + (corners[j] - corners[i]) * (side[i] / (side[i] - side[j])));
        }
    }
    ends.expect("the corners are not all on one side")
}

/// The part of `p` inside `q`, both in one plane.
fn coplanar(p: [DVec3; 3], q: [DVec3; 3], normal: DVec3) -> Option<TriangleIntersection> {
    let q_normal = (q[1] - q[0]).cross(q[2] - q[0]);
    let q = if q_normal.dot(normal) < 0.0 {
        [q[0], q[2], q[1]]
    } else {
        q
    };
    // A triangle cut by three lines has at most six corners.
    let mut polygon = [DVec3::ZERO; 8];
    polygon[..3].copy_from_slice(&p);
    let mut n = 3;
    for i in 0..3 {
        let (start, along) = (q[i], q[(i + 1) % 3] - q[i]);
        let inward = normal.cross(along);
        // What `height` is for a point as far in as the side is long.
        let limit = ON_PLANE * libm::sqrt(inward.length_squared() * along.length_squared());
        let height = |x: DVec3| inward.dot(x - start) + limit;
        let mut kept = [DVec3::ZERO; 8];
        let mut n_kept = 0;
        for k in 0..n {
            let (x, y) = (polygon[k], polygon[(k + 1) % n]);
            let (hx, hy) = (height(x), height(y));
            if hx >= 0.0 && n_kept < 8 {
                kept[n_kept] = x;
                n_kept += 1;
            }
            if hx * hy < 0.0 && n_kept < 8 {
                kept[n_kept] = x + (y - x) * (hx / (hx - hy));
                n_kept += 1;
            }
        }
        (polygon, n) = (kept, n_kept);
        if n == 0 {
            return None;
        }
    }
    let polygon = &polygon[..n];
    let mut segment = [polygon[0]; 2];
    let mut area = DVec3::ZERO;
    for (i, &x) in polygon.iter().enumerate() {
        area += (x - polygon[0]).cross(polygon[(i + 1) % n] - polygon[0]);
        for &y in &polygon[i..] {
            if x.distance_squared(y) > segment[0].distance_squared(segment[1]) {
                segment = [x, y];
            }
        }
    }
    // Neighbours that share a side overlap by no more than rounding.
    let has_area = area.dot(normal) > 1e-9 * normal.length_squared();
    Some(TriangleIntersection {
        meeting: if has_area {
            Meeting::Coplanar
        } else {
            Meeting::Touching
        },
        segment,
    })
}
