//! The road from end to end: dress a body, then roll a clip out.

use drapery_core::{
    AnimateError, BodyModel, Clip, FrameIndex, FrameRate, Garment, GarmentAnimator, Pose,
    PoseError, PoseVelocity, PosedBody, ShapedBody, Surroundings,
};
use drapery_runtime::{SkinnedGarment, SkinnedGarmentError};
use drapery_scene::garment::{Binding, BindingConfig, BindingError, bind, bind_made_for};
use drapery_scene::motion::sample;
use glam::Vec3;

/// Why a garment can't be put on a body.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DressError {
    /// No weights could be taken from the body.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// The weights don't fit the garment.
    #[error(transparent)]
    Skinning(#[from] SkinnedGarmentError),
}

/// The garment skinned like the body, with the usual smoothing.
///
/// # Errors
/// When the garment is not near the body.
pub fn dress(
    garment: &Garment,
    body: &dyn BodyModel,
    frame_rate: FrameRate,
) -> Result<SkinnedGarment, DressError> {
    dress_with(garment, body, frame_rate, &BindingConfig::default())
}

/// [`dress`] with smoothing of your choice.
///
/// # Errors
/// When the garment is not near the body.
pub fn dress_with(
    garment: &Garment,
    body: &dyn BodyModel,
    frame_rate: FrameRate,
    config: &BindingConfig,
) -> Result<SkinnedGarment, DressError> {
    skinned(garment, bind(garment, body, config)?, frame_rate)
}

/// [`dress`] for a garment that lies on the body of the shape `made_for`, such
/// as one that was drafted for it.
///
/// # Errors
/// When the garment is not near the body, or the shape does not fit.
pub fn dress_made_for(
    garment: &Garment,
    body: &dyn BodyModel,
    made_for: &[f32],
    frame_rate: FrameRate,
) -> Result<SkinnedGarment, DressError> {
    let binding = bind_made_for(garment, body, made_for, &BindingConfig::default())?;
    skinned(garment, binding, frame_rate)
}

fn skinned(
    garment: &Garment,
    binding: Binding,
    frame_rate: FrameRate,
) -> Result<SkinnedGarment, DressError> {
    Ok(SkinnedGarment::new(
        garment.mesh().topology().clone(),
        binding.rest,
        binding.weights,
        binding.shape_directions,
        binding.rig,
        frame_rate,
    )?)
}

/// Why a clip can't be rolled out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RollOutError {
    /// The body can't take a pose.
    #[error("the body can't be posed in frame {frame}")]
    Pose {
        /// Which frame.
        frame: usize,
        /// Why not.
        source: PoseError,
    },
    /// The garment can't be animated.
    #[error("the garment can't be animated in frame {frame}")]
    Animate {
        /// Which frame.
        frame: usize,
        /// Why not.
        source: AnimateError,
    },
}

impl RollOutError {
    /// Whether the garment was told to stop while it was put on.
    pub(crate) const fn is_stop(&self) -> bool {
        matches!(
            self,
            Self::Animate {
                source: AnimateError::Stopped,
                ..
            }
        )
    }
}

/// How a roll-out ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum RollOut {
    /// At the end of the clip.
    Done,
    /// Early, because the callback said so.
    Stopped,
}

/// Animates a garment through a clip of the body's own skeleton. `each` gets
/// the frame's number, the body and the garment's positions [m]; it returns
/// `false` to stop early.
///
/// # Errors
/// When a pose does not fit the body or the body does not fit the garment.
pub fn roll_out<A: GarmentAnimator>(
    animator: &A,
    model: &dyn BodyModel,
    body: &ShapedBody,
    clip: &Clip,
    mut each: impl FnMut(usize, &PosedBody, &[Vec3]) -> bool,
) -> Result<RollOut, RollOutError> {
    roll_out_with_state(animator, model, body, clip, |frame, posed, cloth, _| {
        each(frame, posed, cloth)
    })
}

/// [`roll_out`] for who also wants to see what the garment remembers.
///
/// # Errors
/// When a pose does not fit the body or the body does not fit the garment.
pub fn roll_out_with_state<A: GarmentAnimator>(
    animator: &A,
    model: &dyn BodyModel,
    body: &ShapedBody,
    clip: &Clip,
    each: impl FnMut(usize, &PosedBody, &[Vec3], &A::State) -> bool,
) -> Result<RollOut, RollOutError> {
    roll_on(animator, model, body, clip, (0, None), each)
}

/// The same from a frame on, with what the garment remembers of those before it.
pub(crate) fn roll_on<A: GarmentAnimator>(
    animator: &A,
    model: &dyn BodyModel,
    body: &ShapedBody,
    clip: &Clip,
    (first, mut state): (usize, Option<A::State>),
    mut each: impl FnMut(usize, &PosedBody, &[Vec3], &A::State) -> bool,
) -> Result<RollOut, RollOutError> {
    let surroundings = Surroundings::default();
    let mut posed = model.room();
    let mut cloth = vec![Vec3::ZERO; animator.topology().n_vertices()];
    let n_joints = clip.skeleton().len();
    let mut pose = Pose::identity(Vec3::ZERO, n_joints);
    let mut velocity = PoseVelocity::zero(n_joints);
    for frame in first..clip.frames().len() {
        let time = clip.frame_rate().time_of(FrameIndex(frame as u32));
        sample(clip, time, &mut pose, &mut velocity);
        model
            .pose(body, &pose, &velocity, &mut posed)
            .map_err(|source| RollOutError::Pose { frame, source })?;
        let seen = posed.frame(body, surroundings);
        let fail = |source| RollOutError::Animate { frame, source };
        let state = match &mut state {
            Some(state) => state,
            None => state.insert(animator.start(&seen).map_err(fail)?),
        };
        animator.step(state, &seen, &mut cloth).map_err(fail)?;
        if !each(frame, &posed, &cloth, state) {
            return Ok(RollOut::Stopped);
        }
    }
    Ok(RollOut::Done)
}
