//! The error of an animator that never sees the simulated cloth.

use drapery_core::GarmentAnimator;
use drapery_store::dataset::PlannedSequence;
use glam::Vec3;

use crate::TrainError;
use crate::frames::{Footage, Reading};

/// How far a roll-out is from the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenLoopError {
    /// The mean distance of a vertex over all frames [m].
    pub mean: f64,
    /// How many frames.
    pub frames: u64,
    /// The least confidence of a step.
    pub confidence: f32,
}

impl Footage<'_> {
    /// Rolls an animator out over sequences, from the first frame of each, and
    /// measures how far its vertices are from the stored ones.
    ///
    /// # Errors
    /// When a sequence can't be read, or the body does not fit the animator.
    pub fn open_loop<A: GarmentAnimator>(
        &self,
        animator: &A,
        sequences: &[PlannedSequence],
    ) -> Result<OpenLoopError, TrainError> {
        let n_vertices = animator.topology().n_vertices();
        let mut out = vec![Vec3::ZERO; n_vertices];
        let mut state = None;
        let (mut sum, mut frames, mut confidence) = (0.0, 0, 1.0f32);
        self.for_each(sequences, Reading::Cloth, |shot| {
            let wrong = |source| TrainError::Animate {
                sequence: shot.planned.name.clone(),
                frame: shot.frame,
                source,
            };
            let body = shot.body();
            if shot.frame == 0 {
                state = Some(animator.start(&body).map_err(wrong)?);
            }
            if let Some(state) = &mut state {
                let report = animator.step(state, &body, &mut out).map_err(wrong)?;
                confidence = confidence.min(report.confidence);
            }
            let both = out.iter().zip(shot.cloth);
            sum += both.map(|(a, b)| f64::from(a.distance(*b))).sum::<f64>();
            frames += 1;
            Ok(())
        })?;
        let mean = sum / (frames as f64 * n_vertices as f64).max(1.0);
        Ok(OpenLoopError {
            mean,
            frames,
            confidence,
        })
    }
}
