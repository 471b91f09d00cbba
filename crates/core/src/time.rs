//! Time: [`Seconds`] and the [`FrameRate`] that turns frames into them.

use core::ops::{Add, Mul, Sub};

/// A time or a duration [s].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Seconds(pub f64);

impl Add for Seconds {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Seconds {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<f64> for Seconds {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

/// Frames a second; always finite and between 0.1 and 10,000.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct FrameRate(f64);

/// A number that can't be a frame rate.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("frame rate {0} is not between 0.1 and 10000 frames a second")]
pub struct FrameRateError(pub f64);

impl FrameRate {
    /// Thirty frames a second, the rate of the built-in clips.
    pub const THIRTY: Self = Self(30.0);

    /// A frame rate of `hz` frames a second.
    ///
    /// # Errors
    /// When `hz` is not between 0.1 and 10,000.
    pub fn new(hz: f64) -> Result<Self, FrameRateError> {
        if (0.1..=10_000.0).contains(&hz) {
            Ok(Self(hz))
        } else {
            Err(FrameRateError(hz))
        }
    }

    /// Frames a second [1/s].
    pub const fn hz(self) -> f64 {
        self.0
    }

    /// The time between two frames.
    pub fn frame_step(self) -> Seconds {
        Seconds(1.0 / self.0)
    }

    /// When a frame is shown, from the start of its clip.
    pub fn time_of(self, frame: crate::FrameIndex) -> Seconds {
        Seconds(f64::from(frame.0) / self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_rates_outside_the_limits_are_refused() {
        for hz in [0.0, -30.0, f64::NAN, f64::INFINITY, 0.09, 10_001.0] {
            assert!(FrameRate::new(hz).is_err(), "{hz} was taken");
        }
        assert_eq!(
            FrameRate::new(120.0).unwrap().frame_step(),
            Seconds(1.0 / 120.0)
        );
    }
}
