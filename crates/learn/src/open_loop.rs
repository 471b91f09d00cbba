//! The error of an animator that never sees the simulated cloth.

use drapery_core::{CanonicalFrame, GarmentAnimator};
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

/// Which frame a roll-out is at.
#[derive(Clone, Copy, Debug)]
pub struct SeenShot<'a> {
    /// Of which sequence.
    pub sequence: &'a PlannedSequence,
    /// Which of its frames.
    pub frame: u32,
    /// Root and heading.
    pub canonical: CanonicalFrame,
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
        self.open_loop_seen(animator, sequences, |_, _, _| ())
    }

    /// The same; `seen` is told of every frame: which one, the animated vertices
    /// and the stored ones.
    ///
    /// # Errors
    /// As [`Footage::open_loop`].
    pub fn open_loop_seen<A: GarmentAnimator>(
        &self,
        animator: &A,
        sequences: &[PlannedSequence],
        mut seen: impl FnMut(&SeenShot<'_>, &[Vec3], &[Vec3]),
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
            let shown = SeenShot {
                sequence: shot.planned,
                frame: shot.frame,
                canonical: shot.canonical,
            };
            seen(&shown, &out, shot.cloth);
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
