//! [`Wearer`]: the body under a simulated garment, as the cloth meets it.
//!
//! Skinned from its pose in every step, and giving way where it touches itself
//! ([`Flesh`]). Where it does is felt once a frame, at its end, and grows into
//! that in between.

use drapery_core::{BodyModel, PoseError, PosedBody, ShapedBody};
use drapery_scene::motion::Moving;
use drapery_sim::{Flesh, FleshConfig, Yielding};
use glam::{DVec3, Vec3};

/// A body that is posed step by step.
#[derive(Clone, Debug)]
pub(crate) struct Wearer {
    pub(crate) shaped: ShapedBody,
    /// After the last step.
    pub(crate) posed: PosedBody,
    /// The surface that the cloth meets, after the last step [m].
    pub(crate) surface: Vec<DVec3>,
    flesh: Flesh,
    /// How the body gave way at the end of the last frame, and will at the end
    /// of this one.
    last: Yielding,
    next: Yielding,
    /// Where the body leaves cloth little room in this frame.
    pub(crate) pinching: Vec<bool>,
}

/// What goes back by more overlaps [m].
const OVERLAPS: f64 = 2.5e-3;

impl Wearer {
    /// A body in a pose.
    pub(crate) fn new(
        model: &dyn BodyModel,
        shaped: ShapedBody,
        at: Moving<'_>,
        config: FleshConfig,
    ) -> Result<Self, PoseError> {
        let n_vertices = shaped.rest.len();
        let flesh = Flesh::new(model.topology(), &wide(&shaped.rest), config);
        let mut wearer = Self {
            posed: model.room(),
            surface: Vec::new(),
            flesh,
            last: Yielding::default(),
            next: Yielding::default(),
            pinching: Vec::new(),
            shaped,
        };
        wearer.aim(model, at, &vec![false; n_vertices])?;
        wearer.last = wearer.next.clone();
        wearer.step_to(model, at, 1.0)?;
        Ok(wearer)
    }

    /// Feels where the body gives way at the end of the next frame. What is
    /// `occupied` by cloth stays absent.
    pub(crate) fn aim(
        &mut self,
        model: &dyn BodyModel,
        at: Moving<'_>,
        occupied: &[bool],
    ) -> Result<(), PoseError> {
        model.pose(&self.shaped, at.pose, at.velocity, &mut self.posed)?;
        let felt = self.flesh.feel_worn(&wide(&self.posed.vertices), occupied);
        self.last = std::mem::replace(&mut self.next, felt);
        self.pinching = self.next.back.iter().map(|b| *b > OVERLAPS).collect();
        Ok(())
    }

    /// Takes a pose after a share of the frame.
    pub(crate) fn step_to(
        &mut self,
        model: &dyn BodyModel,
        at: Moving<'_>,
        share: f64,
    ) -> Result<(), PoseError> {
        model.pose(&self.shaped, at.pose, at.velocity, &mut self.posed)?;
        self.surface = wide(&self.posed.vertices);
        let both = self.last.back.iter().zip(&self.next.back);
        let back: Vec<f64> = both.map(|(a, b)| a + (b - a) * share).collect();
        self.flesh.give_way(&mut self.surface, &back);
        Ok(())
    }

    /// How the body gives way at the end of the frame.
    pub(crate) const fn yielding(&self) -> &Yielding {
        &self.next
    }
}

/// The same points in double precision.
pub(crate) fn wide(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}
