//! Any method: [`Animator`], and crowds of them: [`step_batch`].

use alloc::vec::Vec;

use drapery_core::{AnimateError, BodyFrame, GarmentAnimator, Seconds, StepReport, Topology};
use glam::Vec3;

use crate::skinning::{SkinnedGarment, SkinnedState};

/// One of the methods. The set is closed, so this is an enum and the hot path
/// has no trait objects.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Animator {
    /// The garment skinned like the body.
    Skinning(SkinnedGarment),
}

/// The state of an [`Animator`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnimatorState {
    /// Of [`Animator::Skinning`].
    Skinning(SkinnedState),
}

impl Animator {
    /// The method's name, as in `train` and in tables.
    pub const fn method(&self) -> &'static str {
        match self {
            Self::Skinning(_) => "skinning",
        }
    }
}

impl GarmentAnimator for Animator {
    type State = AnimatorState;

    fn topology(&self) -> &Topology {
        match self {
            Self::Skinning(a) => a.topology(),
        }
    }

    fn frame_step(&self) -> Seconds {
        match self {
            Self::Skinning(a) => a.frame_step(),
        }
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<AnimatorState, AnimateError> {
        match self {
            Self::Skinning(a) => a.start(body).map(AnimatorState::Skinning),
        }
    }

    fn step(
        &self,
        state: &mut AnimatorState,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        match (self, state) {
            (Self::Skinning(a), AnimatorState::Skinning(s)) => a.step(s, body, out),
        }
    }
}

/// A batch whose parts don't match.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Not one body, state and output a garment.
    #[error("{states} states, {bodies} bodies and {outputs} outputs do not match")]
    Counts {
        /// How many states.
        states: usize,
        /// How many bodies.
        bodies: usize,
        /// How many outputs.
        outputs: usize,
    },
    /// One garment could not be stepped; those before it were.
    #[error("garment {garment}: {source}")]
    Garment {
        /// Which one.
        garment: usize,
        /// Why not.
        source: AnimateError,
    },
}

/// Advances many garments of one animator by a frame each.
///
/// # Errors
/// When the slices have different lengths, or a garment can't be stepped.
pub fn step_batch<A: GarmentAnimator>(
    animator: &A,
    states: &mut [A::State],
    bodies: &[BodyFrame<'_>],
    outputs: &mut [Vec<Vec3>],
) -> Result<(), BatchError> {
    if states.len() != bodies.len() || states.len() != outputs.len() {
        return Err(BatchError::Counts {
            states: states.len(),
            bodies: bodies.len(),
            outputs: outputs.len(),
        });
    }
    for (garment, ((state, body), out)) in states.iter_mut().zip(bodies).zip(outputs).enumerate() {
        animator
            .step(state, body, out)
            .map_err(|source| BatchError::Garment { garment, source })?;
    }
    Ok(())
}
