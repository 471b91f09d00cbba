//! Any method: [`Animator`], and crowds of them: [`step_batch`].

use alloc::vec::Vec;

use drapery_core::{AnimateError, BodyFrame, GarmentAnimator, Seconds, StepReport, Topology};
use glam::Vec3;

use crate::linear::{LinearGarment, LinearState};
use crate::skinning::{SkinnedGarment, SkinnedState};
use crate::stable_space::{StableSpace, StableState};

/// One of the methods. The set is closed, so this is an enum and the hot path
/// has no trait objects.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "there are few of them, and a box would be one more way to memory"
)]
pub enum Animator {
    /// The garment skinned like the body.
    Skinning(SkinnedGarment),
    /// Linear dynamics in a PCA space, conditioned on the body.
    StableSpace(StableSpace),
    /// Ridge regression from the pose, without a past: a baseline.
    Linear(LinearGarment),
}

/// The state of an [`Animator`].
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "there are few of them, and a box would be one more way to memory"
)]
pub enum AnimatorState {
    /// Of [`Animator::Skinning`].
    Skinning(SkinnedState),
    /// Of [`Animator::StableSpace`].
    StableSpace(StableState),
    /// Of [`Animator::Linear`].
    Linear(LinearState),
}

impl Animator {
    /// The method's name, as in `train` and in tables.
    pub const fn method(&self) -> &'static str {
        match self {
            Self::Skinning(_) => "skinning",
            Self::StableSpace(_) => "stable-space",
            Self::Linear(_) => "linear",
        }
    }

    /// The only body shape that it was trained on; none if there were several,
    /// or it was not trained.
    pub fn trained_shape(&self) -> Option<Vec<f32>> {
        match self {
            Self::Skinning(_) => None,
            Self::StableSpace(a) => a.parts().range.only_shape(),
            Self::Linear(a) => a.parts().range.only_shape(),
        }
    }

    /// The garment skinned like the body, which every method degrades towards.
    pub const fn skinned(&self) -> &SkinnedGarment {
        match self {
            Self::Skinning(a) => a,
            Self::StableSpace(a) => a.skinned(),
            Self::Linear(a) => a.skinned(),
        }
    }
}

impl GarmentAnimator for Animator {
    type State = AnimatorState;

    fn topology(&self) -> &Topology {
        match self {
            Self::Skinning(a) => a.topology(),
            Self::StableSpace(a) => a.topology(),
            Self::Linear(a) => a.topology(),
        }
    }

    fn frame_step(&self) -> Seconds {
        match self {
            Self::Skinning(a) => a.frame_step(),
            Self::StableSpace(a) => a.frame_step(),
            Self::Linear(a) => a.frame_step(),
        }
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<AnimatorState, AnimateError> {
        match self {
            Self::Skinning(a) => a.start(body).map(AnimatorState::Skinning),
            Self::StableSpace(a) => a.start(body).map(AnimatorState::StableSpace),
            Self::Linear(a) => a.start(body).map(AnimatorState::Linear),
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
            (Self::StableSpace(a), AnimatorState::StableSpace(s)) => a.step(s, body, out),
            (Self::Linear(a), AnimatorState::Linear(s)) => a.step(s, body, out),
            (_, state) => Err(AnimateError::State {
                what: "states of another method",
                found: usize::from(!matches!(state, AnimatorState::Skinning(_))),
                expected: 0,
            }),
        }
    }
}

/// A batch whose parts don't match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Not one body, state, output and report a garment.
    #[error(
        "{states} states, {bodies} bodies, {outputs} outputs and {reports} reports do not match"
    )]
    Counts {
        /// How many states.
        states: usize,
        /// How many bodies.
        bodies: usize,
        /// How many outputs.
        outputs: usize,
        /// How many reports.
        reports: usize,
    },
}

/// Advances many garments of one animator by a frame each, writes their world
/// positions [m] to `outputs` and what each step has to say to `reports`.
///
/// A garment that can't be stepped says so in its report, keeps its output, and
/// does not stop the others. Allocates nothing that the animator does not.
///
/// # Errors
/// When the slices have different lengths; then nothing is stepped.
pub fn step_batch<A: GarmentAnimator>(
    animator: &A,
    states: &mut [A::State],
    bodies: &[BodyFrame<'_>],
    outputs: &mut [&mut [Vec3]],
    reports: &mut [Result<StepReport, AnimateError>],
) -> Result<(), BatchError> {
    let n = states.len();
    if n != bodies.len() || n != outputs.len() || n != reports.len() {
        return Err(BatchError::Counts {
            states: n,
            bodies: bodies.len(),
            outputs: outputs.len(),
            reports: reports.len(),
        });
    }
    let garments = states.iter_mut().zip(bodies).zip(outputs).zip(reports);
    for (((state, body), out), report) in garments {
        *report = animator.step(state, body, out);
    }
    Ok(())
}
