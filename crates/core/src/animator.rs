//! The one seam of all methods: [`GarmentAnimator`].

use glam::Vec3;

use crate::{BodyFrame, Seconds, Topology};

/// What a step has to say beside the positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// How near the body is to what the method knows, from 0 to 1.
    pub confidence: f32,
    /// The farthest that collision correction moved a vertex [m].
    pub correction_depth: f32,
}

impl Default for StepReport {
    fn default() -> Self {
        Self {
            confidence: 1.0,
            correction_depth: 0.0,
        }
    }
}

/// Why a garment could not be animated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnimateError {
    /// The body has another number of joints.
    #[error("the body has {found} joints, the garment was made for {expected}")]
    Joints {
        /// Joints of the body.
        found: usize,
        /// Joints expected.
        expected: usize,
    },
    /// The body has another number of vertices.
    #[error("the body has {found} vertices, the correction was made for {expected}")]
    Body {
        /// Vertices of the body.
        found: usize,
        /// Vertices expected.
        expected: usize,
    },
    /// The body has another number of shape coefficients.
    #[error("the body has {found} shape coefficients, the garment was made for {expected}")]
    Shape {
        /// Coefficients of the body.
        found: usize,
        /// Coefficients expected.
        expected: usize,
    },
    /// The output has another number of vertices.
    #[error("the output has room for {found} vertices, the garment has {expected}")]
    Output {
        /// Room given.
        found: usize,
        /// Vertices of the garment.
        expected: usize,
    },
    /// The body's frame holds a number that is not finite.
    #[error("the body has a value that is not finite")]
    NotFinite,
    /// A value is finite, but so large that what comes of it might not be.
    #[error("{what} beyond the limit of {limit:e}")]
    TooLarge {
        /// Which value.
        what: &'static str,
        /// The largest magnitude allowed.
        limit: f32,
    },
    /// A joint is scaled, sheared or mirrored, and a bone has no halfway.
    #[error("joint {joint} is not rigid, so nothing is halfway to it")]
    NotRigid {
        /// The joint's index.
        joint: usize,
    },
    /// The blend of a vertex's joints has no inverse.
    #[error("vertex {vertex} can't be unposed: the blend of its joints is singular")]
    Singular {
        /// The vertex's index.
        vertex: usize,
    },
    /// A garment that is simulated could not be taken further.
    #[error("the cloth diverged at vertex {vertex}: {why}")]
    Diverged {
        /// The vertex at fault.
        vertex: u32,
        /// By what it failed.
        why: &'static str,
    },
    /// Whoever watched has stopped it.
    #[error("it was stopped")]
    Stopped,
    /// The state was made by the animator of another garment.
    #[error("the state has {found} {what}, the garment has {expected}")]
    State {
        /// What there are more or fewer of.
        what: &'static str,
        /// How many the state has.
        found: usize,
        /// How many the garment has.
        expected: usize,
    },
}

/// Turns the motion of a body into the motion of the garment on it.
///
/// The animator is the trained, read-only half and is shared by a whole crowd.
/// What one garment remembers between frames is its [`State`](Self::State).
///
/// Equal inputs give equal bytes; no NaN ever leaves.
pub trait GarmentAnimator: Send + Sync {
    /// What one garment remembers from frame to frame.
    type State: Clone + Send;

    /// The garment's triangles.
    fn topology(&self) -> &Topology;

    /// The time step it was made for; feed it bodies this far apart.
    fn frame_step(&self) -> Seconds;

    /// A garment at rest on `body`, without history.
    ///
    /// # Errors
    /// When the body does not fit.
    fn start(&self, body: &BodyFrame<'_>) -> Result<Self::State, AnimateError>;

    /// Advances one frame and writes world positions [m] to `out`. Learned
    /// methods allocate nothing here.
    ///
    /// # Errors
    /// When the body or `out` does not fit; `out` is then unchanged.
    fn step(
        &self,
        state: &mut Self::State,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError>;
}
