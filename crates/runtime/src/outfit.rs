//! Several garments on one character, each by its own method: [`Outfit`].
//!
//! Garments are given from the skin outwards. In every frame, one after the other:
//!
//! ```text
//! 1. its method moves garment i
//! 2. it is pushed out of the body                        (margin 1 mm)
//! 3. it is pushed out of each garment j < i beneath it   (margin 2 mm)
//! 4. again 2 and 3, while they still move it, at most twice
//! ```
//!
//! The inner garment never gives way: what is beneath is as its own model has it,
//! and the outer is worn over it. The body comes last, so that no push off cloth
//! leaves anything in it.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use drapery_core::{
    AnimateError, BodyFrame, GarmentAnimator, Seconds, ShapedBody, StepReport, Topology,
    TopologyError,
};
use glam::Vec3;

use crate::{Animator, AnimatorState, CollisionCorrection, CorrectionConfig, CorrectionState};

/// How often body and garments beneath take turns in pushing one.
const TURNS: u32 = 2;

/// Garments of one character, from the skin outwards. Its vertices are those of the
/// garments, one after the other.
#[derive(Clone, Debug)]
pub struct Outfit {
    layers: Vec<Layer>,
    topology: Topology,
    frame_step: Seconds,
}

#[derive(Clone, Debug)]
struct Layer {
    animator: Animator,
    vertices: Range<usize>,
    /// Out of the body, and out of each garment beneath.
    body: Option<CollisionCorrection>,
    beneath: Vec<CollisionCorrection>,
}

/// What an outfit remembers.
#[derive(Clone, Debug)]
pub struct OutfitState {
    layers: Vec<LayerState>,
    /// A frame that is not handed out before all of it is there [m].
    cloth: Vec<Vec3>,
    farthest: f32,
}

#[derive(Clone, Debug)]
struct LayerState {
    animator: AnimatorState,
    body: Option<CorrectionState>,
    beneath: Vec<CorrectionState>,
}

/// Why garments are no outfit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OutfitError {
    /// There is none.
    #[error("an outfit has at least one garment")]
    Empty,
    /// They were made for different time steps.
    #[error(
        "garment {garment} was made for frames {found:.4} s apart, the first for {expected:.4} s"
    )]
    FrameStep {
        /// Which of them.
        garment: usize,
        /// Its time step [s].
        found: f64,
        /// That of the first [s].
        expected: f64,
    },
    /// Together they have too many vertices or triangles.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}

impl Outfit {
    /// Garments from the skin outwards, as their methods have them.
    ///
    /// # Errors
    /// When there is none, or they were made for different time steps.
    pub fn new(animators: Vec<Animator>) -> Result<Self, OutfitError> {
        let first = animators.first().ok_or(OutfitError::Empty)?;
        let frame_step = first.frame_step();
        let mut layers: Vec<Layer> = Vec::with_capacity(animators.len());
        let (mut triangles, mut n) = (Vec::new(), 0u32);
        for (garment, animator) in animators.into_iter().enumerate() {
            let (found, expected) = (animator.frame_step().0, frame_step.0);
            if (found - expected).abs() > 1e-4 * expected {
                return Err(OutfitError::FrameStep {
                    garment,
                    found,
                    expected,
                });
            }
            let topology = animator.topology();
            let own = topology.triangles().iter();
            triangles.extend(own.map(|t| t.map(|v| v.saturating_add(n))));
            let start = n as usize;
            n = n.saturating_add(topology.n_vertices() as u32);
            layers.push(Layer {
                vertices: start..n as usize,
                animator,
                body: None,
                beneath: Vec::new(),
            });
        }
        Ok(Self {
            layers,
            topology: Topology::new(n, triangles)?,
            frame_step,
        })
    }

    /// The outfit pushed out of a body of that topology and shape, and its garments
    /// off those beneath them.
    ///
    /// # Errors
    /// When the body has another number of shape coefficients than a garment.
    pub fn corrected(
        mut self,
        body: &Topology,
        shaped: &ShapedBody,
        config: CorrectionConfig,
    ) -> Result<Self, AnimateError> {
        let mut rests: Vec<Vec<Vec3>> = Vec::new();
        for layer in &self.layers {
            let mut rest = vec![Vec3::ZERO; layer.vertices.len()];
            let skinned = layer.animator.skinned();
            skinned.shaped_rest(&shaped.shape, &mut rest)?;
            rests.push(rest);
        }
        let topologies: Vec<Topology> = (self.layers.iter())
            .map(|layer| layer.animator.topology().clone())
            .collect();
        for (i, layer) in self.layers.iter_mut().enumerate() {
            let own = (&topologies[i], rests[i].as_slice());
            let skin = (body, shaped.rest.as_slice());
            layer.body = Some(CollisionCorrection::new(skin, own, config));
            let beneath = topologies[..i].iter().zip(&rests);
            let between = CorrectionConfig::BETWEEN_GARMENTS;
            layer.beneath = beneath
                .map(|(t, rest)| CollisionCorrection::over((t, rest), own, between))
                .collect();
        }
        Ok(self)
    }

    /// The vertices of each garment among those of the outfit.
    pub fn garments(&self) -> impl Iterator<Item = Range<usize>> {
        self.layers.iter().map(|layer| layer.vertices.clone())
    }

    /// Whether any garment is worn over each vertex of the body, shape [body
    /// vertex]; none when it is not corrected.
    pub fn is_worn_over(&self) -> Option<Vec<bool>> {
        let mut all: Option<Vec<bool>> = None;
        for body in self.layers.iter().filter_map(|l| l.body.as_ref()) {
            let own = body.is_worn_over();
            match &mut all {
                Some(all) => all.iter_mut().zip(own).for_each(|(a, o)| *a |= o),
                None => all = Some(own.to_vec()),
            }
        }
        all
    }
}

impl OutfitState {
    /// The farthest that correction has moved a vertex since the start [m].
    pub const fn farthest(&self) -> f32 {
        self.farthest
    }
}

impl GarmentAnimator for Outfit {
    type State = OutfitState;

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn frame_step(&self) -> Seconds {
        self.frame_step
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<OutfitState, AnimateError> {
        let mut layers = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let starts = layer.beneath.iter().map(CollisionCorrection::start);
            layers.push(LayerState {
                animator: layer.animator.start(body)?,
                body: layer.body.as_ref().map(CollisionCorrection::start),
                beneath: starts.collect(),
            });
        }
        Ok(OutfitState {
            layers,
            cloth: vec![Vec3::ZERO; self.topology.n_vertices()],
            farthest: 0.0,
        })
    }

    fn step(
        &self,
        state: &mut OutfitState,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        let expected = self.topology.n_vertices();
        if out.len() != expected {
            let found = out.len();
            return Err(AnimateError::Output { found, expected });
        }
        if state.layers.len() != self.layers.len() || state.cloth.len() != expected {
            return Err(AnimateError::State {
                what: "garments of another outfit",
                found: state.layers.len(),
                expected: self.layers.len(),
            });
        }
        let mut all = StepReport::default();
        for (i, layer) in self.layers.iter().enumerate() {
            let (inner, rest) = state.cloth.split_at_mut(layer.vertices.start);
            let own = &mut rest[..layer.vertices.len()];
            let memory = &mut state.layers[i];
            let report = layer.animator.step(&mut memory.animator, body, own)?;
            all.confidence = all.confidence.min(report.confidence);
            let inner = Inner {
                layers: &self.layers[..i],
                cloth: inner,
            };
            let depth = layer.correct(memory, body.vertices, &inner, own)?;
            all.correction_depth = all.correction_depth.max(report.correction_depth.max(depth));
        }
        state.farthest = state.farthest.max(all.correction_depth);
        out.copy_from_slice(&state.cloth);
        Ok(all)
    }
}

/// The garments beneath one.
struct Inner<'a> {
    layers: &'a [Layer],
    cloth: &'a [Vec3],
}

impl Layer {
    /// Pushes the garment at `own` [m] out of the body and of those beneath, and
    /// gives the farthest that a vertex was moved at once [m].
    fn correct(
        &self,
        state: &mut LayerState,
        skin: &[Vec3],
        inner: &Inner<'_>,
        own: &mut [Vec3],
    ) -> Result<f32, AnimateError> {
        let mut farthest = 0.0f32;
        let mut off_body = |own: &mut [Vec3]| match (&self.body, &mut state.body) {
            (Some(body), Some(state)) => body.apply(state, skin, own),
            _ => Ok(0.0),
        };
        farthest = farthest.max(off_body(own)?);
        for _ in 0..TURNS {
            let mut moved = 0.0f32;
            let beneath = self.beneath.iter().zip(&mut state.beneath);
            for ((correction, state), layer) in beneath.zip(inner.layers) {
                let cloth = &inner.cloth[layer.vertices.clone()];
                moved = moved.max(correction.apply(state, cloth, own)?);
            }
            if moved == 0.0 {
                break;
            }
            let again = off_body(own)?;
            farthest = farthest.max(moved).max(again);
            if again == 0.0 {
                break;
            }
        }
        Ok(farthest)
    }
}

#[cfg(test)]
mod tests;
