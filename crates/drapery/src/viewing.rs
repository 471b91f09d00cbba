//! [`DatasetExhibit`]: a dataset, and models of its garments, for the viewer.
//!
//! Everything is computed when it is asked for and sent frame by frame. A stream begins
//! at any frame: methods that have a past are given [`WARM_UP`] frames of the body
//! before it, which are not sent.
//!
//! # Bytes
//! All little endian, positions in metres.
//!
//! ```text
//! mesh    u32 vertices, u32 triangles, u32 × 3 a triangle, u8 a triangle: its marks
//! frames  u32 vertices, u32 first frame, u32 frames, then for each frame:
//!         u32 frame, f32 confidence, f32 milliseconds, f32 moved by correction [m],
//!         f32 × 3 a vertex
//! ```
//!
//! | mark | triangle of the body                                       |
//! |------|------------------------------------------------------------|
//! | 1    | always hidden by the garment of some model: need not be drawn |
//! | 2    | under the garment: cloth a little beneath it is drawn over it  |

use std::time::Instant;

use drapery_core::{
    BodyModel, GarmentAnimator, Pose, PoseVelocity, Seconds, ShapedBody, Surroundings, Topology,
};
use drapery_eval::pose_velocity;
use drapery_runtime::{Animator, CollisionCorrection, CorrectionConfig, Model};
use drapery_scene::character::Character;
use drapery_store::dataset::{DatasetFolder, DatasetStore, PlannedSequence, SequenceState};
use drapery_view::server::{Exhibit, Query, Refusal};
use glam::Vec3;
use serde_json::{Value, json};

use crate::evaluation::correction_of;
use crate::recording::stored_character;
use crate::training::skinned_garment;

/// Frames of the body that a method is shown before the first that is sent.
const WARM_UP: u32 = 20;
/// Frames that are read at once.
const BLOCK: u32 = 16;

/// Why a dataset can't be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExhibitError {
    /// The body of the dataset can't be used.
    #[error("the dataset's body can't be used")]
    Body(#[from] drapery_scene::character::CharacterError),
    /// A garment can't be skinned.
    #[error("the dataset's garment can't be skinned")]
    Skin(#[from] crate::DressError),
    /// The body can't have the shape that the garment was made for.
    #[error("the dataset's body can't have the shape that its garment was made for")]
    Shape(#[from] drapery_core::ShapeError),
    /// A model is of a garment that is not in the dataset.
    #[error("model {model} is of a garment that is not in the dataset")]
    OtherGarment {
        /// What it is called.
        model: String,
    },
    /// A model is of another skeleton.
    #[error("model {model} is of a skeleton that is not the dataset's")]
    OtherSkeleton {
        /// What it is called.
        model: String,
    },
    /// There is no sequence to be seen.
    #[error("the dataset has no sequence that is whole")]
    Empty,
}

/// A method that can be shown.
struct Shown {
    name: String,
    animator: Animator,
    /// Which of the dataset's garments it is of.
    garment: usize,
}

/// A dataset and models of its garments.
pub struct DatasetExhibit {
    dataset: DatasetFolder,
    title: String,
    character: Character,
    methods: Vec<Shown>,
    /// One a garment of the dataset; none where there is no body.
    corrections: Vec<Option<CollisionCorrection>>,
    /// The marks of each triangle of the body, a garment of the dataset.
    marks: Vec<Vec<u8>>,
    sequences: Vec<PlannedSequence>,
}

impl DatasetExhibit {
    /// A dataset under a title, with models by name. All garments are shown skinned
    /// too.
    ///
    /// # Errors
    /// When the dataset can't be used, or a model is of other garments or bodies.
    pub fn new(
        dataset: DatasetFolder,
        title: &str,
        models: Vec<(String, Model)>,
    ) -> Result<Self, ExhibitError> {
        let head = dataset.head();
        let character = stored_character(&head.body)?;
        let body = character.topology();
        let mut marks = vec![vec![0; body.triangles().len()]; head.garments.len()];
        let mut methods = Vec::new();
        let mut corrections = Vec::new();
        for (garment, marks) in marks.iter_mut().enumerate() {
            methods.push(Shown {
                name: "skinning".into(),
                animator: Animator::Skinning(skinned_garment(&character, head, garment)?),
                garment,
            });
            let correction = match head.has_body() {
                true => {
                    let config = CorrectionConfig::DEFAULT;
                    Some(correction_of(&character, head, garment, config)?)
                }
                false => None,
            };
            if let Some(correction) = &correction {
                mark(marks, body, 2, |v| correction.is_worn_over()[v as usize]);
            }
            corrections.push(correction);
        }
        for (name, model) in models {
            if model.head().joints != character.skeleton().names() {
                return Err(ExhibitError::OtherSkeleton { model: name });
            }
            let own = model.animator().topology();
            let mut garments = head.garments.iter();
            let Some(garment) = garments.position(|g| g.garment.mesh().topology() == own) else {
                return Err(ExhibitError::OtherGarment { model: name });
            };
            if let Some(hidden) = model.hidden() {
                let flags = hidden.triangles(body);
                for (mark, _) in marks[garment].iter_mut().zip(flags).filter(|(_, h)| *h) {
                    *mark |= 1;
                }
            }
            methods.push(Shown {
                name,
                animator: model.into_animator(),
                garment,
            });
        }
        let all = head.manifest.sequences.iter();
        let is_whole =
            |s: &&PlannedSequence| matches!(dataset.state(&s.name), Ok(SequenceState::Whole));
        let sequences: Vec<PlannedSequence> = all.filter(is_whole).cloned().collect();
        if sequences.is_empty() {
            return Err(ExhibitError::Empty);
        }
        Ok(Self {
            title: title.into(),
            character,
            methods,
            corrections,
            marks,
            sequences,
            dataset,
        })
    }

    /// Which garment a query asks for; the first if it does not say.
    fn garment(&self, query: &Query) -> Result<usize, Refusal> {
        let Some(name) = query.get("garment") else {
            return Ok(0);
        };
        let mut all = self.dataset.head().garments.iter();
        let found = all.position(|g| g.garment.name() == name);
        found.ok_or_else(|| missing("garment", name))
    }

    fn sequence(&self, query: &Query) -> Result<&PlannedSequence, Refusal> {
        let name = query.get("clip").unwrap_or_default();
        let found = self.sequences.iter().find(|s| s.name == name);
        found.ok_or_else(|| missing("clip", name))
    }

    /// The shape that a query asks for, within the limits of each parameter; that of the
    /// sequence if it does not say.
    fn shape(&self, query: &Query, own: &[f32]) -> Result<Vec<f32>, Refusal> {
        let Some(text) = query.get("shape") else {
            return Ok(own.to_vec());
        };
        let parameters = self.character.shape_parameters();
        let wrong = || Refusal::Value {
            name: "shape",
            value: text.chars().take(80).collect(),
            expected: "one number a shape parameter, each within its limits",
        };
        let values: Result<Vec<f32>, _> = text.split(',').map(str::parse).collect();
        let values = values.map_err(|_| wrong())?;
        let fits = |(v, p): (&f32, &drapery_core::ShapeParameter)| (p.min..=p.max).contains(v);
        match values.len() == parameters.len() && values.iter().zip(parameters).all(fits) {
            true => Ok(values),
            false => Err(wrong()),
        }
    }

    /// The clip of a sequence on a body of some shape.
    fn moving(&self, query: &Query) -> Result<Moving<'_>, Refusal> {
        let planned = self.sequence(query)?;
        let sequence = self.dataset.sequence(&planned.name).map_err(failed)?;
        let shape = self.shape(query, &sequence.shape().coefficients)?;
        let first = match query.get("from") {
            None => 0,
            Some(text) => match text.parse() {
                Ok(first) if first < planned.frames => first,
                _ => {
                    return Err(Refusal::Value {
                        name: "from",
                        value: text.chars().take(20).collect(),
                        expected: "a frame of the clip",
                    });
                }
            },
        };
        Ok(Moving {
            character: &self.character,
            body: self.character.shaped(&shape).map_err(failed)?,
            poses: sequence.poses(0..planned.frames).map_err(failed)?,
            step: self.dataset.head().frame_rate.frame_step(),
            first,
        })
    }

    /// The stored cloth.
    fn simulation(
        &self,
        query: &Query,
        garment: usize,
        send: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), Refusal> {
        let planned = self.sequence(query)?;
        let sequence = self.dataset.sequence(&planned.name).map_err(failed)?;
        let n = self.dataset.head().garments[garment].n_vertices();
        let mut bytes = Vec::new();
        head(&mut bytes, n, 0, planned.frames);
        for first in (0..planned.frames).step_by(BLOCK as usize) {
            let frames = first..(first + BLOCK).min(planned.frames);
            let cloth = sequence.cloth(garment, frames.clone()).map_err(failed)?;
            for (frame, cloth) in frames.zip(cloth.chunks_exact(n.max(1))) {
                push(&mut bytes, frame, [1.0, 0.0, 0.0], cloth);
            }
            if !send(&bytes) {
                break;
            }
            bytes.clear();
        }
        Ok(())
    }
}

/// The body of a stream.
struct Moving<'a> {
    character: &'a Character,
    body: ShapedBody,
    poses: Vec<Pose>,
    step: Seconds,
    /// The first frame that is sent.
    first: u32,
}

impl Moving<'_> {
    fn n_frames(&self) -> u32 {
        self.poses.len() as u32
    }

    /// The body alone.
    fn show(&self, send: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), Refusal> {
        let mut posed = self.character.room();
        let mut velocity = PoseVelocity::zero(self.character.skeleton().len());
        let mut bytes = Vec::new();
        head(
            &mut bytes,
            posed.vertices.len(),
            self.first,
            self.n_frames() - self.first,
        );
        for frame in self.first..self.n_frames() {
            let at = frame as usize;
            pose_velocity(&self.poses, at, self.step, &mut velocity);
            (self.character)
                .pose(&self.body, &self.poses[at], &velocity, &mut posed)
                .map_err(failed)?;
            push(&mut bytes, frame, [1.0, 0.0, 0.0], &posed.vertices);
            if !send(&bytes) {
                break;
            }
            bytes.clear();
        }
        Ok(())
    }

    /// A garment by its method, pushed out of the body if it is to be.
    fn animate(
        &self,
        animator: &Animator,
        correction: Option<&CollisionCorrection>,
        send: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), Refusal> {
        let mut posed = self.character.room();
        let mut velocity = PoseVelocity::zero(self.character.skeleton().len());
        let mut cloth = vec![Vec3::ZERO; animator.topology().n_vertices()];
        let mut pushed = correction.map(|c| (c, c.start()));
        let mut state = None;
        let mut bytes = Vec::new();
        head(
            &mut bytes,
            cloth.len(),
            self.first,
            self.n_frames() - self.first,
        );
        for frame in self.first.saturating_sub(WARM_UP)..self.n_frames() {
            let at = frame as usize;
            pose_velocity(&self.poses, at, self.step, &mut velocity);
            let begun = Instant::now();
            (self.character)
                .pose(&self.body, &self.poses[at], &velocity, &mut posed)
                .map_err(failed)?;
            let seen = posed.frame(&self.body, Surroundings::default());
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
            let ms = 1e3 * begun.elapsed().as_secs_f32();
            push(&mut bytes, frame, [report.confidence, ms, moved], &cloth);
            if !send(&bytes) {
                break;
            }
            bytes.clear();
        }
        Ok(())
    }
}

impl Exhibit for DatasetExhibit {
    fn catalog(&self) -> String {
        let head = self.dataset.head();
        let garments: Vec<Value> = (head.garments.iter().enumerate())
            .map(|(i, stored)| {
                let own = self.methods.iter().filter(|m| m.garment == i);
                json!({
                    "name": stored.garment.name(),
                    "vertices": stored.n_vertices(),
                    "triangles": stored.garment.mesh().topology().triangles().len(),
                    "methods": own.map(|m| json!({
                        "name": m.name,
                        "method": m.animator.method(),
                    })).collect::<Vec<_>>(),
                })
            })
            .collect();
        let clips: Vec<Value> = (self.sequences.iter())
            .map(|s| {
                json!({
                    "name": s.name,
                    "split": s.split.name(),
                    "frames": s.frames,
                    "shape": head.manifest.shape_of(s).coefficients,
                })
            })
            .collect();
        let parameters = self.character.shape_parameters().iter();
        json!({
            "title": self.title,
            "frame_rate": head.frame_rate.hz(),
            "garments": garments,
            "clips": clips,
            "shape": parameters.map(|p| json!({
                "name": p.name,
                "min": p.min,
                "max": p.max,
            })).collect::<Vec<_>>(),
        })
        .to_string()
    }

    fn mesh(&self, query: &Query) -> Result<Vec<u8>, Refusal> {
        let garment = self.garment(query)?;
        match query.get("of") {
            Some("body") => Ok(mesh(self.character.topology(), &self.marks[garment])),
            Some("garment") => {
                let topology = self.dataset.head().garments[garment]
                    .garment
                    .mesh()
                    .topology();
                Ok(mesh(topology, &vec![0; topology.triangles().len()]))
            }
            other => Err(missing("mesh of", other.unwrap_or_default())),
        }
    }

    fn frames(&self, query: &Query, send: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), Refusal> {
        let garment = self.garment(query)?;
        match query.get("of") {
            Some("body") => self.moving(query)?.show(send),
            Some("simulation") => self.simulation(query, garment, send),
            Some(name) => {
                let is_own = |m: &&Shown| m.garment == garment && m.name == name;
                let method = self.methods.iter().find(is_own);
                let method = method.ok_or_else(|| missing("method", name))?;
                let is_corrected = query.get("correct") != Some("0");
                let correction = self.corrections[garment].as_ref();
                let correction = correction.filter(|_| is_corrected);
                self.moving(query)?
                    .animate(&method.animator, correction, send)
            }
            None => Err(missing("method", "")),
        }
    }
}

/// Adds a mark to all triangles of which most corners are so.
fn mark(marks: &mut [u8], body: &Topology, bit: u8, is_so: impl Fn(u32) -> bool) {
    for (mark, corners) in marks.iter_mut().zip(body.triangles()) {
        if corners.iter().filter(|v| is_so(**v)).count() > 1 {
            *mark |= bit;
        }
    }
}

fn mesh(topology: &Topology, marks: &[u8]) -> Vec<u8> {
    let triangles = topology.triangles();
    let mut bytes = Vec::with_capacity(8 + 13 * triangles.len());
    bytes.extend((topology.n_vertices() as u32).to_le_bytes());
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for corner in triangles.iter().flatten() {
        bytes.extend(corner.to_le_bytes());
    }
    bytes.extend(marks);
    bytes
}

fn head(bytes: &mut Vec<u8>, n_vertices: usize, first: u32, n_frames: u32) {
    for number in [n_vertices as u32, first, n_frames] {
        bytes.extend(number.to_le_bytes());
    }
}

fn push(bytes: &mut Vec<u8>, frame: u32, figures: [f32; 3], positions: &[Vec3]) {
    bytes.extend(frame.to_le_bytes());
    for figure in figures {
        bytes.extend(figure.to_le_bytes());
    }
    for p in positions {
        for coordinate in p.to_array() {
            bytes.extend(coordinate.to_le_bytes());
        }
    }
}

fn missing(what: &'static str, name: &str) -> Refusal {
    Refusal::Missing {
        what,
        name: name.chars().take(80).collect(),
    }
}

fn failed(error: impl std::error::Error) -> Refusal {
    Refusal::Failed(error.to_string())
}
