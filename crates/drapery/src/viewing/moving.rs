//! The body of a stream and what it wears: [`Moving`].

use std::time::Instant;

use drapery_core::{
    BodyModel, Garment, GarmentAnimator, Pose, PoseVelocity, PosedBody, Seconds, ShapedBody,
    Surroundings,
};
use drapery_eval::{PenetrationMeter, pose_velocity};
use drapery_runtime::CollisionCorrection;
use drapery_scene::character::Character;
use drapery_sim::{Flesh, FleshConfig};
use drapery_view::server::{Refusal, Sink};
use glam::Vec3;

use super::bytes::{StreamFrame, StreamHead};
use super::failed;
use crate::wear::self_contact;
use crate::wearer::wide;

/// A body in motion.
pub(super) struct Moving<'a> {
    pub(super) character: &'a Character,
    pub(super) body: ShapedBody,
    pub(super) poses: Vec<Pose>,
    pub(super) step: Seconds,
    /// The first frame that is sent.
    pub(super) first: u32,
    pub(super) surroundings: Surroundings,
}

/// A method, with what is to be seen of it.
pub(super) struct Method<'a, A: GarmentAnimator> {
    pub(super) animator: &'a A,
    /// Frames of the body that it is shown before the first that is sent.
    pub(super) warm_up: u32,
    pub(super) correction: Option<&'a CollisionCorrection>,
    pub(super) n_coefficients: usize,
    pub(super) coefficients: fn(&A::State) -> &[f32],
}

impl Moving<'_> {
    pub(super) fn n_frames(&self) -> u32 {
        self.poses.len() as u32
    }

    fn head(&self, n_vertices: usize) -> StreamHead {
        StreamHead {
            n_vertices,
            first: self.first,
            n_frames: self.n_frames() - self.first,
            n_coefficients: 0,
            has_depths: false,
        }
    }

    /// Poses the body as in a frame.
    pub(super) fn pose(&self, frame: u32, posed: &mut PosedBody) -> Result<(), Refusal> {
        let mut velocity = PoseVelocity::zero(self.character.skeleton().len());
        let at = frame as usize;
        pose_velocity(&self.poses, at, self.step, &mut velocity);
        (self.character)
            .pose(&self.body, &self.poses[at], &velocity, posed)
            .map_err(failed)
    }

    /// The body alone.
    pub(super) fn show(&self, sink: Sink<'_>) -> Result<(), Refusal> {
        let mut posed = self.character.room();
        let mut bytes = Vec::new();
        self.head(posed.vertices.len()).write(&mut bytes);
        for frame in self.first..self.n_frames() {
            self.pose(frame, &mut posed)?;
            let shown = StreamFrame {
                frame,
                confidence: 1.0,
                positions: &posed.vertices,
                ..StreamFrame::default()
            };
            shown.write(&mut bytes);
            if !sink(&bytes) {
                break;
            }
            bytes.clear();
        }
        Ok(())
    }

    /// Cloth as it is stored, block by block: `read` gives all positions [m] of frames
    /// of a block.
    pub(super) fn stored(
        &self,
        n_vertices: usize,
        block: u32,
        mut gauge: Option<Gauge>,
        mut read: impl FnMut(core::ops::Range<u32>) -> Result<Vec<Vec3>, Refusal>,
        sink: Sink<'_>,
    ) -> Result<(), Refusal> {
        let mut posed = self.character.room();
        let mut bytes = Vec::new();
        let head = StreamHead {
            has_depths: gauge.is_some(),
            ..self.head(n_vertices)
        };
        head.write(&mut bytes);
        for first in (self.first..self.n_frames()).step_by(block as usize) {
            let frames = first..(first + block).min(self.n_frames());
            let cloth = read(frames.clone())?;
            for (frame, positions) in frames.zip(cloth.chunks_exact(n_vertices.max(1))) {
                let shown = StreamFrame {
                    frame,
                    confidence: 1.0,
                    positions,
                    ..StreamFrame::default()
                };
                if gauge.is_some() {
                    self.pose(frame, &mut posed)?;
                }
                gauged(&mut gauge, &posed.vertices, shown).write(&mut bytes);
            }
            if !sink(&bytes) {
                break;
            }
            bytes.clear();
        }
        Ok(())
    }

    /// A garment by its method, pushed out of the body if it is to be, and looked at how
    /// deep it is inside.
    pub(super) fn animate<A: GarmentAnimator>(
        &self,
        method: &Method<'_, A>,
        mut gauge: Option<Gauge>,
        sink: Sink<'_>,
    ) -> Result<(), Refusal> {
        let animator = method.animator;
        let mut posed = self.character.room();
        let mut cloth = vec![Vec3::ZERO; animator.topology().n_vertices()];
        let mut pushed = method.correction.map(|c| (c, c.start()));
        let mut state = None;
        let mut bytes = Vec::new();
        let head = StreamHead {
            n_coefficients: method.n_coefficients,
            has_depths: gauge.is_some(),
            ..self.head(cloth.len())
        };
        head.write(&mut bytes);
        for frame in self.first.saturating_sub(method.warm_up)..self.n_frames() {
            let begun = Instant::now();
            self.pose(frame, &mut posed)?;
            let seen = posed.frame(&self.body, self.surroundings);
            let state = match &mut state {
                Some(state) => state,
                None => state.insert(animator.start(&seen).map_err(failed)?),
            };
            let report = animator.step(state, &seen, &mut cloth).map_err(failed)?;
            if frame < self.first {
                continue;
            }
            let moved = match &mut pushed {
                Some((correction, state)) => correction
                    .apply(state, &posed.vertices, &mut cloth)
                    .map_err(failed)?,
                None => 0.0,
            };
            let shown = StreamFrame {
                frame,
                confidence: report.confidence,
                ms: 1e3 * begun.elapsed().as_secs_f32(),
                moved,
                positions: &cloth,
                coefficients: (method.coefficients)(state),
                ..StreamFrame::default()
            };
            gauged(&mut gauge, &posed.vertices, shown).write(&mut bytes);
            if !sink(&bytes) {
                break;
            }
            bytes.clear();
        }
        Ok(())
    }

    /// What measures how deep a garment is inside this body.
    pub(super) fn gauge(&self, garment: &Garment) -> Gauge {
        let skin = &self.body.rest;
        let body = self.character.topology();
        Gauge {
            meter: PenetrationMeter::new(body, skin, garment),
            flesh: Flesh::new(body, &wide(skin), FleshConfig::default()),
            depths: Vec::new(),
        }
    }
}

/// A frame with how deep it is inside a body at `skin` [m], if that is measured.
fn gauged<'a>(
    gauge: &'a mut Option<Gauge>,
    skin: &[Vec3],
    mut shown: StreamFrame<'a>,
) -> StreamFrame<'a> {
    if let Some(gauge) = gauge {
        (shown.deepest, shown.inside) = gauge.read(skin, shown.positions);
        shown.depths = &gauge.depths;
    }
    shown
}

/// Measures how deep a garment is inside the body, without where the body is in itself.
pub(super) struct Gauge {
    meter: PenetrationMeter,
    flesh: Flesh,
    /// How deep each vertex is that is not masked [m].
    depths: Vec<f32>,
}

impl Gauge {
    /// The deepest place [m] and the share of all that are more than a millimetre deep.
    fn read(&mut self, skin: &[Vec3], cloth: &[Vec3]) -> (f32, f32) {
        let contact = self_contact(&self.flesh.feel(&wide(skin)));
        let found = self.meter.read(skin, &contact, cloth);
        self.depths.clear();
        let all = self.meter.depths().iter().zip(self.meter.masked());
        (self.depths).extend(all.map(|(depth, masked)| if *masked { 0.0 } else { *depth }));
        (found.deepest().max(0.0), found.cloth.open.share() as f32)
    }
}
