//! Garments that are simulated beside the outfit, each by itself: [`Twins`].
//!
//! A method that makes fine cloth of coarse cloth learns from both on one
//! motion (Feng, Yu, Kim, Deformation Transformer 2010, §3: pairs of a
//! deformed fine and a deformed coarse mesh). So the coarse twin is in the same
//! sequence, frame by frame, and knows of nothing but the body.

use drapery_core::{AnimateError, BodyFrame, GarmentAnimator};
use drapery_sim::StepReport;
use glam::Vec3;

use crate::SimulatedGarment;
use crate::simulated::WornGarment;

/// The twins of an outfit on their way through a clip.
#[derive(Clone)]
pub(super) struct Twins<'a> {
    all: Vec<Twin<'a>>,
}

#[derive(Clone)]
struct Twin<'a> {
    name: &'a str,
    simulated: &'a SimulatedGarment<'a>,
    state: Option<WornGarment>,
    cloth: Vec<Vec3>,
}

impl Twin<'_> {
    fn step(&mut self, body: &BodyFrame<'_>) -> Result<(), AnimateError> {
        let state = match &mut self.state {
            Some(state) => state,
            None => self.state.insert(self.simulated.start(body)?),
        };
        self.simulated.step(state, body, &mut self.cloth)?;
        Ok(())
    }
}

impl<'a> Twins<'a> {
    pub(super) fn new(all: &'a [(String, SimulatedGarment<'a>)]) -> Self {
        let all = all.iter().map(|(name, simulated)| Twin {
            name,
            cloth: vec![Vec3::ZERO; simulated.topology().n_vertices()],
            simulated,
            state: None,
        });
        Self { all: all.collect() }
    }

    /// Takes all of them to the next frame of the body.
    ///
    /// # Errors
    /// When one can't be taken there, which is named.
    pub(super) fn step(&mut self, body: &BodyFrame<'_>) -> Result<(), (String, AnimateError)> {
        for twin in &mut self.all {
            twin.step(body)
                .map_err(|error| (twin.name.to_string(), error))?;
        }
        Ok(())
    }

    /// World positions of all [m], and their velocities [m/s], behind those of
    /// the outfit.
    pub(super) fn append(&self, cloth: &mut Vec<Vec3>, velocity: &mut Vec<Vec3>) {
        for twin in &self.all {
            cloth.extend_from_slice(&twin.cloth);
            let state = twin.state.iter();
            velocity.extend(state.flat_map(|s| {
                let speeds = s.simulation().velocities().iter();
                speeds.map(|v| v.as_vec3())
            }));
        }
    }

    /// The steps of the last frame.
    pub(super) fn reports(&self) -> impl Iterator<Item = StepReport> {
        self.all.iter().flat_map(|t| &t.state).map(|s| *s.report())
    }

    /// The steps before the first frame.
    pub(super) fn dressing(&self) -> impl Iterator<Item = StepReport> {
        let states = self.all.iter().flat_map(|t| &t.state);
        states.map(|s| *s.dressing())
    }
}
