//! Sections: convex hulls of body slices, as distances from a centre.
//!
//! Cloth that is drawn around a body bridges its hollows, so a slice counts as
//! its convex hull. A hull is kept as its radius r(φ) along evenly spaced rays
//! from a centre inside it.

use std::f64::consts::TAU;

use glam::DVec2;

/// Rays around a section.
pub(super) const N_RAYS: usize = 96;

/// The convex hull of points, counter-clockwise; empty for fewer than three
/// points that are not on a line.
pub(super) fn hull(points: &[DVec2]) -> Vec<DVec2> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    if sorted.len() < 3 {
        return Vec::new();
    }
    let half = |points: &mut dyn Iterator<Item = DVec2>| {
        let mut chain: Vec<DVec2> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..] {
                if (b - a).perp_dot(p - a) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut all = half(&mut sorted.iter().copied());
    all.extend(half(&mut sorted.iter().rev().copied()));
    if all.len() < 3 { Vec::new() } else { all }
}

/// The length around a hull [m].
pub(super) fn girth(hull: &[DVec2]) -> f64 {
    (0..hull.len())
        .map(|i| hull[i].distance(hull[(i + 1) % hull.len()]))
        .sum()
}

/// How far a ray from `origin` along the unit vector `along` goes inside a
/// hull [m]; `None` when it starts outside.
pub(super) fn reach(hull: &[DVec2], origin: DVec2, along: DVec2) -> Option<f64> {
    if hull.len() < 3 {
        return None;
    }
    let mut nearest = f64::INFINITY;
    for i in 0..hull.len() {
        let (a, b) = (hull[i], hull[(i + 1) % hull.len()]);
        // Inwards of a counter-clockwise side is to its left.
        let inward = (b - a).perp();
        let depth = inward.dot(origin - a);
        if depth < 0.0 {
            return None;
        }
        let speed = inward.dot(along);
        if speed < 0.0 {
            nearest = nearest.min(-depth / speed);
        }
    }
    nearest.is_finite().then_some(nearest)
}

/// The radii of a hull around `centre` [m], the first along +y and then
/// towards +x: the front, and then the left of a body seen from above.
pub(super) fn radii(hull: &[DVec2], centre: DVec2) -> Option<[f64; N_RAYS]> {
    let mut out = [0.0; N_RAYS];
    for (k, r) in out.iter_mut().enumerate() {
        let (sin, cos) = (TAU * k as f64 / N_RAYS as f64).sin_cos();
        *r = reach(hull, centre, DVec2::new(sin, cos))?;
    }
    Some(out)
}

/// The middle of the box around points.
pub(super) fn middle(points: &[DVec2]) -> DVec2 {
    let (low, high) = points
        .iter()
        .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
    (low + high) / 2.0
}

/// Numbers on a grid over (angle, place), periodic in the first, held constant
/// beyond the ends of the second, and interpolated by cubics.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Rows of [`N_RAYS`], one a place.
    pub(super) rows: Vec<[f64; N_RAYS]>,
    /// The place of the first row.
    pub(super) start: f64,
    /// Between rows.
    pub(super) step: f64,
}

impl Table {
    /// Rows over places from `start`; those that are not known are copied from
    /// the nearest that is. `None` when none is known.
    pub(super) fn fill(
        start: f64,
        step: f64,
        n: usize,
        mut row: impl FnMut(f64) -> Option<[f64; N_RAYS]>,
    ) -> Option<Self> {
        let found: Vec<_> = (0..n).map(|i| row(start + step * i as f64)).collect();
        let known: Vec<usize> = (0..n).filter(|&i| found[i].is_some()).collect();
        let rows = (0..n)
            .map(|i| {
                let nearest = known.iter().min_by_key(|&&j| i.abs_diff(j))?;
                found[*nearest]
            })
            .collect::<Option<Vec<_>>>()?;
        Some(Self { rows, start, step })
    }

    /// The place of a row.
    pub(super) fn place(&self, row: usize) -> f64 {
        self.start + self.step * row as f64
    }

    /// Averages neighbouring rows, and rays within a row, `times` times with
    /// weights 1, 2, 1.
    pub(super) fn smooth(&mut self, times: usize) {
        let n = self.rows.len();
        for _ in 0..times {
            let old = self.rows.clone();
            for (i, row) in self.rows.iter_mut().enumerate() {
                let (below, above) = (&old[i.saturating_sub(1)], &old[(i + 1).min(n - 1)]);
                for k in 0..N_RAYS {
                    row[k] = (below[k] + 2.0 * old[i][k] + above[k]) / 4.0;
                }
                let flat = *row;
                for k in 0..N_RAYS {
                    let (a, b) = (flat[(k + N_RAYS - 1) % N_RAYS], flat[(k + 1) % N_RAYS]);
                    row[k] = (a + 2.0 * flat[k] + b) / 4.0;
                }
            }
        }
    }

    /// The number at an angle [rad] and place.
    pub(super) fn at(&self, angle: f64, place: f64) -> f64 {
        let n = self.rows.len();
        let t = ((place - self.start) / self.step).clamp(0.0, (n - 1) as f64);
        let i = (t as usize).min(n.saturating_sub(2));
        let a = angle.rem_euclid(TAU) / TAU * N_RAYS as f64;
        let k = (a as usize).min(N_RAYS - 1);
        let (u, v) = (a - k as f64, t - i as f64);
        let along = |row: usize| {
            let row = &self.rows[row];
            let p = |j: usize| row[(k + N_RAYS + j - 1) % N_RAYS];
            cubic([p(0), p(1), p(2), p(3)], u)
        };
        let last = n - 1;
        let rows = [i.saturating_sub(1), i, (i + 1).min(last), (i + 2).min(last)];
        cubic(rows.map(along), v)
    }
}

/// The cubic through the middle two of four numbers (Catmull and Rom).
pub(super) fn cubic([a, b, c, d]: [f64; 4], t: f64) -> f64 {
    let m = (c - a) / 2.0;
    let n = (d - b) / 2.0;
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * b
        + (t3 - 2.0 * t2 + t) * m
        + (3.0 * t2 - 2.0 * t3) * c
        + (t3 - t2) * n
}

/// From 0 to 1 without a kink.
pub(super) fn ramp(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_a_star_is_its_tips() {
        let star: Vec<DVec2> = (0..10)
            .map(|i| {
                let r = if i % 2 == 0 { 1.0 } else { 0.3 };
                DVec2::from_angle(TAU * i as f64 / 10.0) * r
            })
            .collect();
        let hull = hull(&star);
        assert_eq!(hull.len(), 5);
        let side = 2.0 * (TAU / 10.0).sin();
        assert!((girth(&hull) - 5.0 * side).abs() < 1e-12);
        assert!(reach(&hull, DVec2::new(2.0, 0.0), DVec2::X).is_none());
        assert!((reach(&hull, DVec2::ZERO, DVec2::X).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_table_repeats_linear_rows_and_is_periodic() {
        let table = Table::fill(1.0, 0.5, 6, |y| Some([3.0 * y; N_RAYS])).unwrap();
        for y in [1.5, 1.7, 2.2, 2.9] {
            assert!((table.at(0.3, y) - 3.0 * y).abs() < 1e-12);
            assert_eq!(table.at(0.3, y), table.at(0.3 + TAU, y));
        }
        assert_eq!(table.at(0.0, -7.0), 3.0);
    }
}
