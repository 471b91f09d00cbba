//! [`Sag`]: how the pelvis gives way, ahead of time, to a leg too short for it.
//!
//! The need n is how much lower than wanted the pelvis has to be, at times tᵢ.
//! The sag is their soft upper envelope by parabolas,
//!
//! ```text
//! sag(t) = s log Σᵢ exp((nᵢ − ½ a (t − tᵢ)²)/s) − c
//! ```
//!
//! with c such that no need is no sag. It begins before the need does and ends
//! after it, with an acceleration of about a and never a jerk: without it a leg
//! that comes to its end would pull the pelvis down within a frame.

/// The acceleration a with which the pelvis gives way [m/s²].
const ACCELERATION: f64 = 12.0;

/// The softness s of the envelope [m].
const SOFTNESS: f64 = 0.006;

/// Needs are known this often [1/s].
const RATE: f64 = 120.0;

/// Needs further away than this have no part in it [s]: there the exponent is
/// below −30 for needs of up to 12 cm.
const WINDOW: f64 = 0.2;

/// Needs at equal distances in time.
#[derive(Clone, Debug, Default)]
pub(super) struct Sag {
    begin: f64,
    needs: Vec<f64>,
}

impl Sag {
    /// The sag of needs [m], asked from `begin` to `end` [s].
    pub(super) fn new([begin, end]: [f64; 2], need: impl Fn(f64) -> f64) -> Self {
        let begin = begin - WINDOW;
        let n = ((end + WINDOW - begin) * RATE).ceil() as usize + 1;
        let needs = (0..n).map(|i| need(begin + i as f64 / RATE)).collect();
        Self { begin, needs }
    }

    /// How much lower than wanted the pelvis is [m].
    pub(super) fn at(&self, time: f64) -> f64 {
        let place = (time - self.begin) * RATE;
        let reach = WINDOW * RATE;
        let first = (place - reach).ceil().max(0.0) as usize;
        let mut sum = 0.0;
        for (i, need) in self.needs.iter().enumerate().skip(first) {
            let away = (i as f64 - place) / RATE;
            if away > WINDOW {
                break;
            }
            sum += ((need - 0.5 * ACCELERATION * away * away) / SOFTNESS).exp();
        }
        // The sum of a Gaussian at distances far below its width.
        let none = (std::f64::consts::TAU * SOFTNESS / ACCELERATION).sqrt() * RATE;
        SOFTNESS * (sum / none).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_need_is_met_and_none_is_none() {
        for need in [0.0, 0.03] {
            let sag = Sag::new([0.0, 1.0], |_| need);
            for t in [0.0, 0.1234, 0.5, 1.0] {
                assert!((sag.at(t) - need).abs() < 1e-6, "{}", sag.at(t));
            }
        }
    }

    #[test]
    fn a_sudden_need_is_met_without_a_jerk() {
        let sag = Sag::new([0.0, 2.0], |t| {
            if (1.0..1.05).contains(&t) { 0.03 } else { 0.0 }
        });
        assert!(sag.at(1.025) > 0.028, "{}", sag.at(1.025));
        let h = 1e-3;
        for i in 0..2000 {
            let t = f64::from(i) * h;
            let bend = (sag.at(t + h) - 2.0 * sag.at(t) + sag.at(t - h)) / (h * h);
            // Down by about the parabola's, into it by slope²/4s.
            assert!((-14.0..60.0).contains(&bend), "{bend} m/s² at {t}");
        }
    }
}
