//! Velocities of positions, of second order at every frame: [`Differences`].
//!
//! ```text
//! v₀ = (−3x₀ + 4x₁ − x₂) / 2h     vₖ = (xₖ₊₁ − xₖ₋₁) / 2h     vₙ = (3xₙ − 4xₙ₋₁ + xₙ₋₂) / 2h
//! ```
//!
//! One frame has no velocity, two have that between them.

use std::collections::VecDeque;

use drapery_core::Seconds;
use glam::{DVec3, Vec3};

/// Frames with their velocities; three are in memory.
pub(super) struct Differences<I> {
    frames: I,
    step: f64,
    /// Up to three frames, and which of them is next.
    window: VecDeque<Vec<Vec3>>,
    at: usize,
    is_failed: bool,
}

impl<I, E> Differences<I>
where
    I: Iterator<Item = Result<Vec<Vec3>, E>>,
{
    pub(super) fn new(frames: I, step: Seconds) -> Self {
        Self {
            frames,
            step: step.0,
            window: VecDeque::new(),
            at: 0,
            is_failed: false,
        }
    }

    /// Moves the window so that the next frame has one on either side, if there are.
    fn fill(&mut self) -> Result<(), E> {
        while self.window.len() < 3 || self.at == 2 {
            let Some(frame) = self.frames.next() else {
                return Ok(());
            };
            self.window.push_back(frame?);
            if self.window.len() > 3 {
                self.window.pop_front();
                self.at -= 1;
            }
        }
        Ok(())
    }

    fn velocity(&self) -> Vec<Vec3> {
        let h = self.step;
        let weights: &[f64] = match (self.window.len(), self.at) {
            (1, _) => &[0.0],
            (2, _) => &[-1.0, 1.0],
            (_, 0) => &[-1.5, 2.0, -0.5],
            (_, 1) => &[-0.5, 0.0, 0.5],
            _ => &[0.5, -2.0, 1.5],
        };
        let n = self.window.iter().map(Vec::len).min().unwrap_or(0);
        let sum = |v: usize| -> DVec3 {
            let terms = self.window.iter().zip(weights);
            terms.map(|(frame, w)| *w * frame[v].as_dvec3()).sum()
        };
        (0..n).map(|v| (sum(v) / h).as_vec3()).collect()
    }
}

impl<I, E> Iterator for Differences<I>
where
    I: Iterator<Item = Result<Vec<Vec3>, E>>,
{
    type Item = Result<(Vec<Vec3>, Vec<Vec3>), E>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_failed {
            return None;
        }
        if let Err(error) = self.fill() {
            self.is_failed = true;
            return Some(Err(error));
        }
        let frame = self.window.get(self.at)?.clone();
        let velocity = self.velocity();
        self.at += 1;
        Some(Ok((frame, velocity)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn velocities(n: usize, x: impl Fn(f64) -> f64, h: f64) -> Vec<f64> {
        let frames = (0..n).map(|k| Ok::<_, ()>(vec![Vec3::X * x(k as f64 * h) as f32]));
        Differences::new(frames, Seconds(h))
            .enumerate()
            .map(|(k, moved)| {
                let (cloth, velocity) = moved.unwrap();
                assert_eq!(cloth[0].x, x(k as f64 * h) as f32);
                f64::from(velocity[0].x)
            })
            .collect()
    }

    #[test]
    fn constant_acceleration_is_exact_at_every_frame() {
        // Numbers that binary fractions hold: x = 1 + 2t + 4t², v = 2 + 8t.
        let found = velocities(6, |t| 1.0 + 2.0 * t + 4.0 * t * t, 0.25);
        assert_eq!(found, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        assert_eq!(velocities(2, |t| 3.0 * t, 0.5), [3.0, 3.0]);
        assert_eq!(velocities(1, |t| 3.0 + t, 0.5), [0.0]);
    }

    #[test]
    fn an_error_comes_before_the_frame_that_needs_it_and_ends_it() {
        let frames = [Ok(vec![Vec3::ZERO]), Ok(vec![Vec3::ZERO]), Err("torn")];
        let mut moving = Differences::new(frames.into_iter(), Seconds(1.0));
        assert_eq!(moving.next().unwrap().unwrap_err(), "torn");
        assert!(moving.next().is_none());
    }
}
