//! `relative_percent` is the mean distance over this: the radius of the smallest
//! sphere around the garment at rest.
//!
//! By core sets (M. Bădoiu, K. Clarkson, "Smaller core-sets for balls", 2003):
//! the centre goes 1/(k + 1) of the way to the farthest point, k times. What is
//! found is too large by less than a thousandth after [`STEPS`] steps.

use glam::{DVec3, Vec3};

const STEPS: u32 = 3000;

/// The radius of the smallest sphere around `points` [m]; 0 around none.
pub fn bounding_radius(points: &[Vec3]) -> f64 {
    let Some(first) = points.first() else {
        return 0.0;
    };
    let farthest = |centre: DVec3| {
        let distance = |p: &Vec3| p.as_dvec3().distance_squared(centre);
        points
            .iter()
            .map(|p| (distance(p), p))
            .fold(
                (0.0, first),
                |best, next| if next.0 > best.0 { next } else { best },
            )
    };
    let mut centre = first.as_dvec3();
    let mut radius_sq = f64::INFINITY;
    for k in 1..=STEPS {
        let (distance_sq, point) = farthest(centre);
        radius_sq = radius_sq.min(distance_sq);
        centre += (point.as_dvec3() - centre) / f64::from(k + 1);
    }
    radius_sq.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sphere_around_known_points() {
        let cube: Vec<Vec3> = (0..8u8)
            .map(|i| Vec3::new(f32::from(i & 1), f32::from(i >> 1 & 1), f32::from(i >> 2)))
            .collect();
        let line = [Vec3::ZERO, Vec3::X * 2.0, Vec3::X * 0.3];
        // An acute triangle: its circumcircle.
        let side = 1.0f32;
        let triangle = [0.0f32, 1.0, 2.0]
            .map(|i| i * std::f32::consts::TAU / 3.0)
            .map(|a| Vec3::new(a.cos(), 0.2, a.sin()) * Vec3::new(side, 1.0, side));
        for (points, expected) in [
            (&cube[..], 0.75f64.sqrt()),
            (&line, 1.0),
            (&triangle, 1.0),
            (&[Vec3::ONE][..], 0.0),
            (&[], 0.0),
        ] {
            let found = bounding_radius(points);
            let error = found - expected;
            assert!(
                (-1e-6..1e-3 * expected.max(1e-3)).contains(&error),
                "{found} {expected}"
            );
        }
    }
}
