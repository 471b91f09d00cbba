//! `velocity_error`, `acceleration_error`: whether the garment moves as the
//! simulation does.
//!
//! ```text
//! vₜ = (xₜ − xₜ₋₁) / h          aₜ = (xₜ − 2 xₜ₋₁ + xₜ₋₂) / h²
//! mean over vertices and frames of ‖v − v*‖ [m/s] and ‖a − a*‖ [m/s²]
//! ```
//!
//! Both are differences of eₜ = xₜ − x*ₜ, of which the last two are kept. The
//! first frame of a clip has no velocity, the second no acceleration.

use drapery_core::Seconds;
use glam::{DVec3, Vec3};

/// Means of the differences, over frames of many clips.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotionErrors {
    /// Sums and counts of first and second differences.
    sums: [f64; 2],
    counts: [u64; 2],
}

impl MotionErrors {
    /// Takes other frames into account.
    pub fn merge(&mut self, other: &Self) {
        for i in 0..2 {
            self.sums[i] += other.sums[i];
            self.counts[i] += other.counts[i];
        }
    }

    /// The mean difference of velocities [m/s]; none without two frames.
    pub fn velocity(&self) -> Option<f64> {
        self.mean(0)
    }

    /// The mean difference of accelerations [m/s²]; none without three frames.
    pub fn acceleration(&self) -> Option<f64> {
        self.mean(1)
    }

    fn mean(&self, order: usize) -> Option<f64> {
        (self.counts[order] > 0).then(|| self.sums[order] / self.counts[order] as f64)
    }
}

/// Measures one clip, frame after frame.
#[derive(Clone, Debug)]
pub struct MotionMeter {
    step: f64,
    /// xₜ₋₁ − x*ₜ₋₁ and xₜ₋₂ − x*ₜ₋₂ [m]; empty at first.
    last: Vec<DVec3>,
    before: Vec<DVec3>,
}

impl MotionMeter {
    /// A meter for frames that are `step` apart.
    pub const fn new(step: Seconds) -> Self {
        Self {
            step: step.0,
            last: Vec::new(),
            before: Vec::new(),
        }
    }

    /// The next frame: the garment at `found` [m], simulated at `simulated`.
    ///
    /// # Panics
    /// When lengths differ, also from those of frames before.
    pub fn add(&mut self, found: &[Vec3], simulated: &[Vec3], errors: &mut MotionErrors) {
        assert_eq!(found.len(), simulated.len(), "one position a vertex");
        let both = found.iter().zip(simulated);
        let now: Vec<DVec3> = both.map(|(p, q)| p.as_dvec3() - q.as_dvec3()).collect();
        let h = self.step;
        if !self.last.is_empty() {
            assert_eq!(self.last.len(), now.len(), "frames of one garment");
            let both = now.iter().zip(&self.last);
            errors.sums[0] += both.map(|(e, l)| e.distance(*l)).sum::<f64>() / h;
            errors.counts[0] += now.len() as u64;
        }
        if !self.before.is_empty() {
            let all = now.iter().zip(&self.last).zip(&self.before);
            let second = all.map(|((e, l), b)| (*e - 2.0 * *l + *b).length());
            errors.sums[1] += second.sum::<f64>() / (h * h);
            errors.counts[1] += now.len() as u64;
        }
        self.before = std::mem::replace(&mut self.last, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of one vertex that falls, x* = −½ g t², beside one that does not.
    #[test]
    fn who_does_not_fall_misses_the_acceleration_of_gravity() {
        let (h, g) = (1.0 / 30.0, 9.81);
        let mut errors = MotionErrors::default();
        let mut meter = MotionMeter::new(Seconds(h));
        for frame in 0..10 {
            let t = f64::from(frame) * h;
            let falls = Vec3::new(1.0, (-0.5 * g * t * t) as f32, 0.0);
            meter.add(&[Vec3::X], &[falls], &mut errors);
            if frame == 0 {
                assert_eq!((errors.velocity(), errors.acceleration()), (None, None));
            }
        }
        assert!((errors.acceleration().unwrap() - g).abs() < 1e-2);
        // Mean of g h (t + ½) over nine differences.
        assert!((errors.velocity().unwrap() - g * h * 4.5).abs() < 1e-3);
    }

    #[test]
    fn a_garment_that_is_off_by_a_constant_moves_rightly() {
        let mut errors = MotionErrors::default();
        let mut meter = MotionMeter::new(Seconds(0.1));
        for frame in 0..4 {
            let at = Vec3::splat(frame as f32);
            meter.add(&[at + Vec3::X], &[at], &mut errors);
        }
        assert_eq!(errors.velocity(), Some(0.0));
        assert_eq!(errors.acceleration(), Some(0.0));
        // And at constant speed past it, only its velocity is wrong.
        let mut fast = MotionErrors::default();
        let mut meter = MotionMeter::new(Seconds(0.1));
        for frame in 0..4 {
            let at = Vec3::X * frame as f32;
            meter.add(&[2.0 * at], &[at], &mut fast);
        }
        assert!((fast.velocity().unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(fast.acceleration(), Some(0.0));
        errors.merge(&fast);
        assert!((errors.velocity().unwrap() - 5.0).abs() < 1e-9);
    }
}
