//! [`Track`]: a number that changes in time, twice continuously differentiable.
//!
//! Between two knots (x, v, a: value, rate, acceleration) it is the quintic
//! Hermite polynomial. A knot of rate and acceleration zero is an extreme or a
//! rest; from one such knot to the next the polynomial is the path of least
//! jerk, which is how people move between two rests (Flash and Hogan, 1985).

use glam::DVec2;

/// A value at a time, with its rate and acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knot {
    /// When [s].
    pub(super) time: f64,
    /// Value.
    pub(super) value: f64,
    /// Rate [1/s].
    pub(super) rate: f64,
    /// Acceleration [1/s²].
    pub(super) acceleration: f64,
}

impl Knot {
    /// An extreme or a rest.
    pub(super) const fn rest(time: f64, value: f64) -> Self {
        Self::passing(time, value, 0.0)
    }

    /// A value passed at a steady rate.
    pub(super) const fn passing(time: f64, value: f64, rate: f64) -> Self {
        Self {
            time,
            value,
            rate,
            acceleration: 0.0,
        }
    }
}

/// Knots in order of time; zero without any, and at rest outside of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    knots: Vec<Knot>,
}

impl Track {
    /// A track through knots, whatever their order; of two at one time the
    /// later given counts.
    pub(super) fn new(mut knots: Vec<Knot>) -> Self {
        knots.sort_by(|a, b| a.time.total_cmp(&b.time));
        let mut kept: Vec<Knot> = Vec::with_capacity(knots.len());
        for knot in knots {
            if kept.last().is_some_and(|k| knot.time - k.time < 1e-9) {
                kept.pop();
            }
            kept.push(knot);
        }
        Self { knots: kept }
    }

    /// The value at a time.
    pub(super) fn at(&self, time: f64) -> f64 {
        let after = self.knots.partition_point(|k| k.time <= time);
        match (after, self.knots.len()) {
            (_, 0) => 0.0,
            (0, _) => self.knots[0].value,
            (i, n) if i == n => self.knots[n - 1].value,
            (i, _) => quintic(&self.knots[i - 1], &self.knots[i], time),
        }
    }
}

/// A path on the ground, x and z [m].
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    x: Track,
    z: Track,
}

impl Path {
    /// A path through places at increasing times, without a detour: it passes
    /// a place in the mean direction of its neighbours, and halts where it
    /// came from or goes to the same place.
    pub(super) fn through(places: &[(f64, DVec2)]) -> Self {
        let slope = |i: usize| {
            let ((t0, p0), (t1, p1)) = (places[i], places[i + 1]);
            (p1 - p0) / (t1 - t0).max(1e-9)
        };
        let n = places.len();
        let knots = |part: fn(DVec2) -> f64| {
            let knot = |i: usize| {
                let (time, place) = places[i];
                let rate = if i == 0 || i + 1 == n {
                    DVec2::ZERO
                } else {
                    limited(slope(i - 1), slope(i))
                };
                Knot::passing(time, part(place), part(rate))
            };
            Track::new((0..n).map(knot).collect())
        };
        Self {
            x: knots(|p| p.x),
            z: knots(|p| p.y),
        }
    }

    /// Where it is at a time.
    pub(super) fn at(&self, time: f64) -> DVec2 {
        DVec2::new(self.x.at(time), self.z.at(time))
    }
}

/// A track through values that does not leave the range of neighbours.
pub(super) fn through(values: &[(f64, f64)]) -> Track {
    let places: Vec<(f64, DVec2)> = values.iter().map(|v| (v.0, DVec2::new(v.1, 0.0))).collect();
    Path::through(&places).x
}

/// From 0 at 0 to 1 at 1, at rest at both ends: 6u⁵ − 15u⁴ + 10u³.
pub(super) fn ease(u: f64) -> f64 {
    let u = u.clamp(0.0, 1.0);
    u * u * u * (10.0 + u * (6.0 * u - 15.0))
}

/// The mean of two slopes, but at most 1.5 times the lesser, so that no
/// quintic between overshoots.
fn limited(before: DVec2, after: DVec2) -> DVec2 {
    let mean = 0.5 * (before + after);
    let most = 1.5 * before.length().min(after.length());
    mean.clamp_length_max(most)
}

fn quintic(from: &Knot, to: &Knot, time: f64) -> f64 {
    let h = to.time - from.time;
    let u = (time - from.time) / h;
    let (u2, u3) = (u * u, u * u * u);
    let (u4, u5) = (u2 * u2, u2 * u3);
    let rise = 10.0 * u3 - 15.0 * u4 + 6.0 * u5;
    from.value
        + (to.value - from.value) * rise
        + h * from.rate * (u - 6.0 * u3 + 8.0 * u4 - 3.0 * u5)
        + h * to.rate * (-4.0 * u3 + 7.0 * u4 - 3.0 * u5)
        + h * h * from.acceleration * 0.5 * (u2 - 3.0 * u3 + 3.0 * u4 - u5)
        + h * h * to.acceleration * 0.5 * (u3 - 2.0 * u4 + u5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quintic is its own interpolant.
    #[test]
    fn a_quintic_is_reproduced_exactly() {
        let p = |t: f64| 1.0 + t * (2.0 + t * (-3.0 + t * (0.5 + t * (1.5 - 0.7 * t))));
        let dp = |t: f64| 2.0 + t * (-6.0 + t * (1.5 + t * (6.0 - 3.5 * t)));
        let ddp = |t: f64| -6.0 + t * (3.0 + t * (18.0 - 14.0 * t));
        let knot = |time| Knot {
            time,
            value: p(time),
            rate: dp(time),
            acceleration: ddp(time),
        };
        let track = Track::new(vec![knot(1.3), knot(-0.4), knot(0.5)]);
        for i in 0..=20 {
            let t = -0.4 + 1.7 * f64::from(i) / 20.0;
            assert!((track.at(t) - p(t)).abs() < 1e-12, "{t}");
        }
    }

    #[test]
    fn a_steady_path_stays_steady_and_a_halt_is_no_detour() {
        let places: Vec<(f64, DVec2)> = [0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0]
            .iter()
            .enumerate()
            .map(|(i, &z)| (0.5 * i as f64, DVec2::new(0.0, z)))
            .collect();
        let path = Path::through(&places);
        for i in 0..=100 {
            let t = 0.5 + 0.01 * f64::from(i);
            assert!((path.at(t).y - 2.0 * t).abs() < 1e-12, "not steady at {t}");
            let later = path.at(1.5 + 0.015 * f64::from(i)).y;
            assert!(later < 4.0 + 1e-12, "overshoots to {later}");
        }
    }
}
