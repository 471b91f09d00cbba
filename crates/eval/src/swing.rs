//! How a hem swings after the body has stopped: [`Swing`].
//!
//! ```text
//! sₜ = a · (pₜ − p̄)          p̄ the mean of the last quarter
//! amplitude = max s − min s    over the first second
//! period    = 2 (t₂ − t₁)      t₁ the farthest from rest, t₂ the farthest on the other side
//!                              after it; a little short where damping is strong
//! ```
//!
//! p is the middle of the hem as seen from the root, a the direction in which the
//! simulation swings the most; a model is measured along the same one.

use glam::Vec3;

/// What moves less than this does not swing [m].
const STILL: f64 = 1e-3;
/// How long is looked for the farthest [s], and from there for the other side.
const FIRST: f64 = 1.0;

/// How far and how fast something swings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// From one side to the other [m].
    pub amplitude: f64,
    /// There and back again [s]; none where it does not come back.
    pub period: Option<f64>,
}

impl Swing {
    /// The level direction in which positions swing the most.
    pub fn axis(positions: &[Vec3]) -> Vec3 {
        let rest = rest(positions);
        let (mut xx, mut xz, mut zz) = (0.0f64, 0.0f64, 0.0f64);
        for p in positions {
            let (x, z) = (f64::from(p.x - rest.x), f64::from(p.z - rest.z));
            xx += x * x;
            xz += x * z;
            zz += z * z;
        }
        let angle = 0.5 * (2.0 * xz).atan2(xx - zz);
        Vec3::new(angle.cos() as f32, 0.0, angle.sin() as f32)
    }

    /// The swing of positions along `axis`, frames of `step` seconds.
    pub fn of(positions: &[Vec3], axis: Vec3, step: f64) -> Self {
        let rest = rest(positions);
        let along = positions.iter().map(|p| f64::from(axis.dot(*p - rest)));
        let along: Vec<f64> = along.collect();
        let n_first = ((FIRST / step).round() as usize).clamp(1, along.len().max(1));
        let first = &along[..n_first.min(along.len())];
        let most = first.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = first.iter().copied().fold(f64::INFINITY, f64::min);
        let amplitude = (most - least).max(0.0);
        if first.is_empty() || amplitude < STILL {
            let amplitude = if first.is_empty() { 0.0 } else { amplitude };
            let period = None;
            return Self { amplitude, period };
        }
        let farthest = |values: &[f64], side: f64| {
            let at = |(i, v): (usize, &f64)| (i, side * v);
            let all = values.iter().enumerate().map(at);
            all.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        };
        let side = if most >= -least { 1.0 } else { -1.0 };
        let period = farthest(first, side).and_then(|(t1, _)| {
            let after = &along[t1..(t1 + n_first).min(along.len())];
            let (later, back) = farthest(after, -side)?;
            (back > 0.0).then_some(2.0 * later as f64 * step)
        });
        Self { amplitude, period }
    }
}

/// Where it ends.
fn rest(positions: &[Vec3]) -> Vec3 {
    let last = &positions[positions.len() - positions.len().div_ceil(4)..];
    last.iter().sum::<Vec3>() / last.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: f64 = 1.0 / 30.0;

    /// A damped swing along (3, 0, 4)/5 about somewhere.
    fn swinging(amplitude: f64, period: f64) -> Vec<Vec3> {
        let at = |t: usize| {
            let time = t as f64 * STEP;
            let phase = std::f64::consts::TAU * time / period;
            let s = amplitude * (-1.5 * time).exp() * phase.cos();
            Vec3::new(1.0, 2.0, 3.0) + Vec3::new(0.6, 0.0, 0.8) * s as f32
        };
        (0..90).map(at).collect()
    }

    #[test]
    fn a_damped_swing_has_its_period_and_its_two_sides() {
        for (amplitude, period) in [(0.05, 0.8), (0.02, 1.2)] {
            let positions = swinging(amplitude, period);
            let axis = Swing::axis(&positions);
            assert!(axis.dot(Vec3::new(0.6, 0.0, 0.8)).abs() > 0.9999, "{axis}");
            let found = Swing::of(&positions, axis, STEP);
            // The other side is reached a half period later, and damped.
            let both = amplitude * (1.0 + (-0.75 * period).exp());
            assert!((found.amplitude / both - 1.0).abs() < 0.03, "{found:?}");
            // Damping has it turn a little before.
            let omega = std::f64::consts::TAU / period;
            let turns = 2.0 * (std::f64::consts::PI - (1.5 / omega).atan()) / omega;
            let found = found.period.unwrap();
            assert!((found - turns).abs() < 1.1 * STEP, "{found} {turns}");
        }
    }

    #[test]
    fn what_stands_still_has_no_period() {
        let still = Swing::of(&[Vec3::ONE; 60], Vec3::X, STEP);
        assert_eq!((still.amplitude, still.period), (0.0, None));
        let none = Swing::of(&[], Vec3::X, STEP);
        assert_eq!((none.amplitude, none.period), (0.0, None));
    }

    #[test]
    fn what_only_comes_to_rest_has_no_period() {
        let slow = (0..90).map(|t| Vec3::X * (-0.2 * t as f32).exp());
        let found = Swing::of(&slow.collect::<Vec<_>>(), Vec3::X, STEP);
        assert!(found.amplitude > 0.9 && found.period.is_none(), "{found:?}");
    }
}
