//! [`BlendedGarment`]: what a linear model makes of a clip, as the sum of shapes that it
//! is.

use drapery_core::{
    AnimateError, BodyFrame, CanonicalFrame, Garment, GarmentAnimator, Seconds, StepReport,
    Topology,
};
use drapery_runtime::{Animator, ClothSpace, StableSpace, StableState};
use glam::{Quat, Vec3};

use crate::animation::Animation;
use crate::road::{RollOut, RollOutError, roll_out_with_state};

/// Why a method is no sum of shapes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlendError {
    /// It is no linear model of shapes in one space.
    #[error(
        "{method} is no sum of shapes in a frame that moves; stable-space in canonical space is"
    )]
    Method {
        /// What it is.
        method: &'static str,
    },
    /// The clip can't be rolled out.
    #[error(transparent)]
    RollOut(#[from] RollOutError),
}

/// A garment as a mean and a sum of shapes, in a frame that moves with the root.
/// Where the method is not confident this is what it would make all the same, and
/// nothing is pushed out of the body.
#[derive(Clone, Debug)]
pub struct BlendedGarment<'a> {
    /// The garment.
    pub garment: &'a Garment,
    /// The mean [m], shape [vertex].
    pub mean: Vec<Vec3>,
    /// What is added to it [m], shape [shape][vertex].
    pub shapes: Vec<Vec<Vec3>>,
    /// How much of each, shape [frame][shape].
    pub weights: Vec<Vec<f32>>,
    /// Where it is: rotation and translation [m], one a frame.
    pub places: Vec<(Quat, Vec3)>,
    /// How many frames the method is not sure of.
    pub n_unsure: usize,
}

impl<'a> BlendedGarment<'a> {
    /// Rolls a model out over the clip of an animation. `each` gets the number of every
    /// finished frame and returns `false` to stop, which gives none.
    ///
    /// # Errors
    /// When the method is no sum of shapes, or the body does not fit the clip or it.
    pub fn of(
        garment: &'a Garment,
        animator: &Animator,
        animation: &Animation<'_>,
        mut each: impl FnMut(usize) -> bool,
    ) -> Result<Option<Self>, BlendError> {
        let model = match animator {
            Animator::StableSpace(model) if model.parts().space == ClothSpace::Canonical => model,
            other => {
                return Err(BlendError::Method {
                    method: other.method(),
                });
            }
        };
        let frames = animation.clip.frames();
        let mut weights = Vec::with_capacity(frames.len());
        let mut n_unsure = 0;
        let (character, body, clip) = (animation.character, animation.body, animation.clip);
        let watched = Watched(model);
        let ended = roll_out_with_state(&watched, character, body, clip, |frame, _, _, state| {
            weights.push(state.0.cloth().to_vec());
            n_unsure += usize::from(state.1 < 1.0);
            each(frame)
        })?;
        if ended == RollOut::Stopped {
            return Ok(None);
        }
        let mut heading = 0.0;
        let places = frames.iter().map(|pose| {
            let frame = CanonicalFrame::of(pose, heading);
            heading = frame.heading;
            (Quat::from_rotation_y(frame.heading), frame.root)
        });
        let parts = model.parts();
        let vectors = |values: &[f32]| -> Vec<Vec3> {
            values
                .as_chunks()
                .0
                .iter()
                .map(|p| Vec3::from(*p))
                .collect()
        };
        Ok(Some(Self {
            garment,
            places: places.collect(),
            mean: vectors(&parts.mean),
            shapes: parts
                .basis
                .chunks_exact(parts.mean.len())
                .map(vectors)
                .collect(),
            weights,
            n_unsure,
        }))
    }

    /// The garment in a frame [m], shape [vertex].
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn frame(&self, frame: usize) -> Vec<Vec3> {
        let (turn, place) = self.places[frame];
        let sum = |v: usize| {
            let shapes = self.weights[frame].iter().zip(&self.shapes);
            self.mean[v] + shapes.map(|(w, shape)| *w * shape[v]).sum::<Vec3>()
        };
        (0..self.mean.len())
            .map(|v| turn * sum(v) + place)
            .collect()
    }
}

/// A model whose state remembers how sure it was.
struct Watched<'a>(&'a StableSpace);

impl GarmentAnimator for Watched<'_> {
    type State = (StableState, f32);

    fn topology(&self) -> &Topology {
        self.0.topology()
    }

    fn frame_step(&self) -> Seconds {
        self.0.frame_step()
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<Self::State, AnimateError> {
        Ok((self.0.start(body)?, 1.0))
    }

    fn step(
        &self,
        state: &mut Self::State,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        let report = self.0.step(&mut state.0, body, out)?;
        state.1 = report.confidence;
        Ok(report)
    }
}
