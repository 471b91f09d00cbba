//! [`Corrected`]: any method with its garment pushed out of the body.

use drapery_core::{AnimateError, BodyFrame, GarmentAnimator, Seconds, StepReport, Topology};
use glam::Vec3;

use super::{CollisionCorrection, CorrectionState};

/// A method with its garment pushed out of the body after every step.
#[derive(Clone, Debug)]
pub struct Corrected<A> {
    animator: A,
    correction: CollisionCorrection,
}

/// What a corrected garment remembers.
#[derive(Clone, Debug)]
pub struct CorrectedState<S> {
    animator: S,
    correction: CorrectionState,
}

impl<A: GarmentAnimator> Corrected<A> {
    /// `animator`, corrected.
    ///
    /// # Errors
    /// When the correction is of another garment.
    pub fn new(animator: A, correction: CollisionCorrection) -> Result<Self, AnimateError> {
        let expected = animator.topology().n_vertices();
        match correction.n_vertices == expected {
            true => Ok(Self {
                animator,
                correction,
            }),
            false => Err(AnimateError::Output {
                found: correction.n_vertices,
                expected,
            }),
        }
    }

    /// The method.
    pub const fn animator(&self) -> &A {
        &self.animator
    }
}

impl<A: GarmentAnimator> GarmentAnimator for Corrected<A> {
    type State = CorrectedState<A::State>;

    fn topology(&self) -> &Topology {
        self.animator.topology()
    }

    fn frame_step(&self) -> Seconds {
        self.animator.frame_step()
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<Self::State, AnimateError> {
        let correction = self.correction.start();
        self.correction.check(&correction, body.vertices)?;
        Ok(CorrectedState {
            animator: self.animator.start(body)?,
            correction,
        })
    }

    fn step(
        &self,
        state: &mut Self::State,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        self.correction.check(&state.correction, body.vertices)?;
        let mut report = self.animator.step(&mut state.animator, body, out)?;
        let depth = self
            .correction
            .apply(&mut state.correction, body.vertices, out)?;
        report.correction_depth = report.correction_depth.max(depth);
        Ok(report)
    }
}
