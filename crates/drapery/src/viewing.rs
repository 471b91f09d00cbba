//! [`Exhibition`]: a character, its garments, models of them and clips, for the viewer.
//!
//! Everything is computed when it is asked for and sent frame by frame. A stream begins
//! at any frame: methods that have a past are given some frames of the body before it,
//! which are not sent.
//!
//! # What can be asked
//!
//! | of           | frames of                                                      |
//! |--------------|----------------------------------------------------------------|
//! | `body`       | the body                                                       |
//! | `simulation` | the garment as the dataset has it                              |
//! | `live`       | the garment simulated now, alone, in a `fabric` and a `wind`   |
//! | `crowd`      | `count` garments by the `method`, without end                  |
//! | a method     | the garment by it; `correct=0` leaves it in the body           |
//!
//! Beside frames, a mesh of the `body` or a `garment`, and the `basis` of a `method`.
//!
//! All of a `clip` and a `garment`, most of a `shape`, `from` a frame on; `gauge=1` looks
//! how deep cloth is inside the body.
//!
//! # Bytes
//! All little endian, positions in metres.
//!
//! ```text
//! mesh    u32 vertices, u32 triangles, u32 × 3 a triangle, u8 a triangle: its marks
//! basis   u32 vertices, u32 vectors, f32 a vertex of each: how far a coefficient of 1
//!         moves it
//! frames  u32 vertices, u32 first frame, u32 frames, u32 coefficients, u32 whether there
//!         are depths, then for each frame:
//!         u32 frame, f32 confidence, f32 milliseconds, f32 moved by correction [m],
//!         f32 deepest inside the body [m], f32 share of places deeper than 1 mm,
//!         f32 × 3 a vertex, f32 a coefficient, u8 a vertex: depth in 0.1 mm,
//!         filled up to four bytes
//! crowd   u32 vertices, u32 characters, u32 frames,
//!         a character: f32 × 2 place on the floor [m], u32 the frame it begins at;
//!         f32 × 2 a frame: where the root is; then again and again:
//!         u32 frame, f32 milliseconds, i16 × 3 a vertex in 0.2 mm from below the root,
//!         filled up to four bytes
//! ```
//!
//! | mark | triangle of the body                                       |
//! |------|------------------------------------------------------------|
//! | 1    | always hidden by the garment of some model: need not be drawn |
//! | 2    | under the garment: cloth a little beneath it is drawn over it  |

mod bytes;
mod crowd;
mod moving;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use drapery_core::{
    BodyModel, Clip, Fabric, FrameRate, Garment, GarmentAnimator, GarmentError, MeshError, Pose,
    ShapeError, ShapeParameter, Surroundings, TriMesh,
};
use drapery_runtime::{
    Animator, AnimatorState, CollisionCorrection, CorrectionConfig, Model, StableSpace,
};
use drapery_scene::character::Character;
use drapery_scene::fabric;
use drapery_store::dataset::{DatasetFolder, DatasetStore, SequenceState};
use drapery_view::packed::SkinMarks;
use drapery_view::server::{Exhibit, Query, Refusal, Sink};
use glam::Vec3;
use serde_json::{Value, json};

use crate::recording::{settings, stored_character};
use crate::simulated::{SimulatedGarment, WearConfig};
use crate::training::{made_for, skinned_garment};
use moving::{Gauge, Method, Moving};

/// Frames that are read at once.
const BLOCK: u32 = 16;
/// The strongest wind [m/s].
const STRONGEST: f32 = 20.0;
/// Frames of the body that a method is shown before the first that is sent.
const WARM_UP: u32 = 20;
/// So many crowds and live simulations are shown at a time.
const MOST_HEAVY: usize = 4;
/// What can be asked for beside methods.
const RESERVED: [&str; 4] = ["body", "simulation", "live", "crowd"];

/// Why something can't be shown.
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
    #[error("the body can't have the shape that its garment was made for")]
    Shape(#[from] ShapeError),
    /// A model is of a garment that is not in the dataset.
    #[error("model {model} is of a garment that is not in the dataset")]
    OtherGarment {
        /// What it is called.
        model: String,
    },
    /// A model is of another skeleton.
    #[error("model {model} is of a skeleton that is not the character's")]
    OtherSkeleton {
        /// What it is called.
        model: String,
    },
    /// A model is of another frame rate.
    #[error("model {model} is of {found} frames a second, what is shown of {expected}")]
    OtherRate {
        /// What it is called.
        model: String,
        /// Its frame rate [1/s].
        found: f64,
        /// That of all others [1/s].
        expected: f64,
    },
    /// The garment of a model is none.
    #[error("the garment of a model can't be used")]
    Mesh(#[from] MeshError),
    /// The garment of a model is none.
    #[error("the garment of a model can't be used")]
    Garment(#[from] GarmentError),
    /// A clip is of another skeleton.
    #[error("clip {clip} is of a skeleton that is not the character's")]
    OtherClip {
        /// What it is called.
        clip: String,
    },
    /// A clip is of another frame rate.
    #[error("clip {clip} is of {found} frames a second, what is shown of {expected}")]
    ClipRate {
        /// What it is called.
        clip: String,
        /// Its frame rate [1/s].
        found: f64,
        /// That of all others [1/s].
        expected: f64,
    },
    /// There is no model where there is no dataset.
    #[error("there is no model and no dataset to be shown")]
    Nothing,
}

/// A method that can be shown.
struct Shown {
    name: String,
    animator: Animator,
    /// Which of the garments it is of.
    garment: usize,
}

/// What is worn.
struct Worn {
    garment: Garment,
    /// What it was simulated in, where that is known.
    fabric: Option<Fabric>,
    /// None where there is no body.
    correction: Option<CollisionCorrection>,
    /// The marks of each triangle of the body.
    marks: SkinMarks,
}

/// A clip that can be shown.
struct ShownClip {
    name: String,
    split: &'static str,
    shape: Vec<f32>,
    n_frames: u32,
    /// The poses of one's own clip; none for a sequence of the dataset.
    poses: Option<Vec<Pose>>,
}

/// A character, its garments, models of them and clips.
pub struct Exhibition {
    title: String,
    character: Character,
    has_body: bool,
    /// The shape that the garments lie on.
    made_for: Vec<f32>,
    frame_rate: FrameRate,
    garments: Vec<Worn>,
    methods: Vec<Shown>,
    clips: Vec<ShownClip>,
    dataset: Option<DatasetFolder>,
    /// How what is simulated now is simulated.
    config: WearConfig,
    /// How many crowds and live simulations are being shown.
    n_heavy: AtomicUsize,
}

impl Exhibition {
    /// A dataset under a title, with models by name. All garments are shown skinned
    /// too.
    ///
    /// # Errors
    /// When the dataset can't be used, or a model is of other garments or bodies.
    pub fn of_dataset(
        dataset: DatasetFolder,
        title: &str,
        models: Vec<(String, Model)>,
    ) -> Result<Self, ExhibitError> {
        let head = dataset.head();
        let character = stored_character(&head.body)?;
        let mut shown = Self {
            title: title.into(),
            made_for: made_for(&character, head),
            has_body: head.has_body(),
            frame_rate: head.frame_rate,
            garments: Vec::new(),
            methods: Vec::new(),
            clips: Vec::new(),
            dataset: None,
            config: settings::read(&head.settings["simulation"]),
            n_heavy: AtomicUsize::new(0),
            character,
        };
        for (i, stored) in head.garments.iter().enumerate() {
            shown.methods.push(Shown {
                name: "skinning".into(),
                animator: Animator::Skinning(skinned_garment(&shown.character, head, i)?),
                garment: i,
            });
            shown.wear(stored.garment.clone(), Some(stored.fabric.clone()))?;
        }
        for (name, model) in models {
            let own = model.animator().topology();
            let mut garments = shown.garments.iter();
            let Some(garment) = garments.position(|g| g.garment.mesh().topology() == own) else {
                return Err(ExhibitError::OtherGarment { model: name });
            };
            shown.add(name, model, garment)?;
        }
        for planned in &head.manifest.sequences {
            if matches!(dataset.state(&planned.name), Ok(SequenceState::Whole)) {
                shown.clips.push(ShownClip {
                    name: planned.name.clone(),
                    split: planned.split.name(),
                    shape: head.manifest.shape_of(planned).coefficients.clone(),
                    n_frames: planned.frames,
                    poses: None,
                });
            }
        }
        shown.dataset = Some(dataset);
        Ok(shown)
    }

    /// Models by name on a character, which has the joints that they were trained on.
    ///
    /// # Errors
    /// When there is no model, or one is of other bodies or another frame rate than the
    /// first.
    pub fn of_models(
        character: Character,
        title: &str,
        models: Vec<(String, Model)>,
    ) -> Result<Self, ExhibitError> {
        let Some((_, first)) = models.first() else {
            return Err(ExhibitError::Nothing);
        };
        let n_shape = character.shape_parameters().len();
        let shape = first.animator().trained_shape();
        let mut shown = Self {
            title: title.into(),
            made_for: shape
                .filter(|shape| shape.len() == n_shape)
                .unwrap_or_else(|| vec![0.0; n_shape]),
            has_body: true,
            frame_rate: first.animator().skinned().frame_rate(),
            garments: Vec::new(),
            methods: Vec::new(),
            clips: Vec::new(),
            dataset: None,
            config: WearConfig::default(),
            n_heavy: AtomicUsize::new(0),
            character,
        };
        for (name, model) in models {
            let (head, animator) = (model.head(), model.animator());
            let own = animator.topology();
            let mut worn = shown.garments.iter();
            let known = worn.position(|g| g.garment.mesh().topology() == own);
            let garment = match known {
                Some(garment) => garment,
                None => {
                    let rest = animator.skinned().rest().to_vec();
                    let mesh = TriMesh::new(rest, own.triangles().to_vec())?;
                    let worn = shown.garments.iter();
                    let taken: Vec<&str> = worn.map(|g| g.garment.name()).collect();
                    let name = unlike(&taken, head.garment.clone());
                    let garment = Garment::new(name, mesh, None, Vec::new(), Vec::new())?;
                    shown.methods.push(Shown {
                        name: "skinning".into(),
                        animator: Animator::Skinning(animator.skinned().clone()),
                        garment: shown.garments.len(),
                    });
                    shown.wear(garment, None)?;
                    shown.garments.len() - 1
                }
            };
            shown.add(name, model, garment)?;
        }
        Ok(shown)
    }

    /// What it is called.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The shape that the garments lie on.
    pub fn made_for(&self) -> &[f32] {
        &self.made_for
    }

    /// The character.
    pub const fn character(&self) -> &Character {
        &self.character
    }

    /// The frame rate of all clips.
    pub const fn frame_rate(&self) -> FrameRate {
        self.frame_rate
    }

    /// How many clips there are.
    pub const fn n_clips(&self) -> usize {
        self.clips.len()
    }

    /// Shows one's own clip too, in the shape that the garments were made for. One that is
    /// called like another has a number after its name.
    ///
    /// # Errors
    /// When it is of another skeleton or frame rate.
    pub fn show(&mut self, clip: &Clip) -> Result<(), ExhibitError> {
        let name = clip.name().to_string();
        if clip.skeleton().names() != self.character.skeleton().names() {
            return Err(ExhibitError::OtherClip { clip: name });
        }
        let (found, expected) = (clip.frame_rate().hz(), self.frame_rate.hz());
        if found != expected {
            return Err(ExhibitError::ClipRate {
                clip: name,
                found,
                expected,
            });
        }
        let taken: Vec<&str> = self.clips.iter().map(|c| c.name.as_str()).collect();
        let name = unlike(&taken, name);
        let own = ShownClip {
            split: "own",
            shape: self.made_for.clone(),
            n_frames: clip.frames().len() as u32,
            poses: Some(clip.frames().to_vec()),
            name,
        };
        self.clips.insert(0, own);
        Ok(())
    }

    /// One garment more.
    fn wear(&mut self, garment: Garment, fabric: Option<Fabric>) -> Result<(), ExhibitError> {
        let body = self.character.topology();
        let mut marks = SkinMarks::new(body);
        let worn = garment.mesh();
        let rest = self.character.shaped(&self.made_for)?.rest;
        let correction = self.has_body.then(|| {
            CollisionCorrection::new(
                (body, &rest),
                (worn.topology(), worn.positions()),
                CorrectionConfig::DEFAULT,
            )
        });
        if let Some(correction) = &correction {
            marks.put_under(body, correction.is_worn_over());
        }
        self.garments.push(Worn {
            garment,
            fabric,
            correction,
            marks,
        });
        Ok(())
    }

    /// One model more, of one of the garments. One that is called like another has a
    /// number after its name.
    fn add(&mut self, name: String, model: Model, garment: usize) -> Result<(), ExhibitError> {
        let of_it = self.methods.iter().filter(|m| m.garment == garment);
        let taken: Vec<&str> = of_it.map(|m| m.name.as_str()).chain(RESERVED).collect();
        let name = unlike(&taken, name);
        if model.head().joints != self.character.skeleton().names() {
            return Err(ExhibitError::OtherSkeleton { model: name });
        }
        let (found, expected) = (model.head().frame_rate, self.frame_rate.hz());
        if found != expected {
            return Err(ExhibitError::OtherRate {
                model: name,
                found,
                expected,
            });
        }
        if let Some(hidden) = model.hidden() {
            let flags = hidden.triangles(self.character.topology());
            self.garments[garment].marks.hide(&flags);
        }
        self.methods.push(Shown {
            name,
            animator: model.into_animator(),
            garment,
        });
        Ok(())
    }

    /// Which garment a query asks for; the first if it does not say.
    fn garment(&self, query: &Query) -> Result<usize, Refusal> {
        let Some(name) = query.get("garment") else {
            return Ok(0);
        };
        let found = self.garments.iter().position(|g| g.garment.name() == name);
        found.ok_or_else(|| missing("garment", name))
    }

    fn clip(&self, query: &Query) -> Result<&ShownClip, Refusal> {
        let name = query.get("clip").unwrap_or_default();
        let found = self.clips.iter().find(|s| s.name == name);
        found.ok_or_else(|| missing("clip", name))
    }

    fn method(&self, name: &str, garment: usize) -> Result<&Animator, Refusal> {
        let is_own = |m: &&Shown| m.garment == garment && m.name == name;
        let method = self.methods.iter().find(is_own);
        Ok(&method.ok_or_else(|| missing("method", name))?.animator)
    }

    /// The shape that a query asks for, within the limits of each parameter; that of the
    /// clip if it does not say.
    fn shape(&self, query: &Query, own: &[f32]) -> Result<Vec<f32>, Refusal> {
        let Some(text) = query.get("shape") else {
            return Ok(own.to_vec());
        };
        let parameters = self.character.shape_parameters();
        let wrong = || {
            wrong(
                "shape",
                text,
                "one number a shape parameter, each within its limits",
            )
        };
        let values = numbers(text).ok_or_else(wrong)?;
        let fits = |(v, p): (&f32, &ShapeParameter)| (p.min..=p.max).contains(v);
        match values.len() == parameters.len() && values.iter().zip(parameters).all(fits) {
            true => Ok(values),
            false => Err(wrong()),
        }
    }

    /// A clip on a body of some shape.
    fn moving(&self, query: &Query) -> Result<Moving<'_>, Refusal> {
        let clip = self.clip(query)?;
        let shape = self.shape(query, &clip.shape)?;
        let first = match query.get("from") {
            None => 0,
            Some(text) => match text.parse() {
                Ok(first) if first < clip.n_frames => first,
                _ => return Err(wrong("from", text, "a frame of the clip")),
            },
        };
        let poses = match (&clip.poses, &self.dataset) {
            (Some(poses), _) => poses.clone(),
            (None, Some(dataset)) => {
                let sequence = dataset.sequence(&clip.name).map_err(failed)?;
                sequence.poses(0..clip.n_frames).map_err(failed)?
            }
            (None, None) => return Err(missing("clip", &clip.name)),
        };
        Ok(Moving {
            character: &self.character,
            body: self.character.shaped(&shape).map_err(failed)?,
            poses,
            step: self.frame_rate.frame_step(),
            first,
            surroundings: Surroundings {
                wind: wind(query)?,
                ..Surroundings::default()
            },
        })
    }

    /// What measures how deep cloth is, if that is asked for.
    fn gauge(
        &self,
        query: &Query,
        moving: &Moving<'_>,
        garment: usize,
    ) -> Result<Option<Gauge>, Refusal> {
        let is_asked = is_on("gauge", query, false)? && self.has_body;
        Ok(is_asked.then(|| moving.gauge(&self.garments[garment].garment)))
    }

    /// The stored cloth.
    fn simulation(&self, query: &Query, garment: usize, sink: Sink<'_>) -> Result<(), Refusal> {
        let clip = self.clip(query)?;
        let dataset = self.dataset.as_ref().filter(|_| clip.poses.is_none());
        let dataset = dataset.ok_or_else(|| missing("simulation of", &clip.name))?;
        let sequence = dataset.sequence(&clip.name).map_err(failed)?;
        let n = self.garments[garment].garment.mesh().positions().len();
        let moving = self.moving(query)?;
        let gauge = self.gauge(query, &moving, garment)?;
        let read = |frames| sequence.cloth(garment, frames).map_err(failed);
        moving.stored(n, BLOCK, gauge, read, sink)
    }

    /// Cloth that is simulated while it is watched, in a fabric and a wind.
    fn live(&self, query: &Query, garment: usize, sink: Sink<'_>) -> Result<(), Refusal> {
        let worn = &self.garments[garment];
        let preset;
        let fabric = match query.get("fabric") {
            Some(name) => {
                preset = fabric::preset(name).ok_or_else(|| missing("fabric", name))?;
                &preset
            }
            None => match &worn.fabric {
                Some(own) => own,
                None => return Err(missing("fabric", "")),
            },
        };
        if !self.has_body {
            return Err(missing("body of", &self.title));
        }
        let moving = self.moving(query)?;
        let _heavy = Heavy::take(&self.n_heavy)?;
        let animator = SimulatedGarment::new(
            &worn.garment,
            &self.character,
            &self.made_for,
            fabric,
            self.frame_rate,
            self.config,
        )
        .map_err(failed)?;
        let gauge = self.gauge(query, &moving, garment)?;
        // Dressing takes long, and whoever asked for it may leave meanwhile.
        let sink = Mutex::new(sink);
        let to_sink = |bytes: &[u8]| sink.lock().unwrap_or_else(PoisonError::into_inner)(bytes);
        let animator = animator.watched(|_| to_sink(&[]));
        let method = Method {
            animator: &animator,
            warm_up: 0,
            correction: None,
            n_coefficients: 0,
            coefficients: |_| &[],
        };
        moving.animate(&method, gauge, &mut |bytes| to_sink(bytes))
    }

    /// The garment by a method.
    fn animated(
        &self,
        query: &Query,
        name: &str,
        garment: usize,
        sink: Sink<'_>,
    ) -> Result<(), Refusal> {
        let animator = self.method(name, garment)?;
        let moving = self.moving(query)?;
        let correction = self.garments[garment].correction.as_ref();
        let is_corrected = is_on("correct", query, true)?;
        let method = Method {
            animator,
            warm_up: WARM_UP,
            correction: correction.filter(|_| is_corrected),
            n_coefficients: space(animator).map_or(0, |own| own.parts().dynamics.n_cloth()),
            coefficients: |state| match state {
                AnimatorState::StableSpace(state) => state.cloth(),
                _ => &[],
            },
        };
        let gauge = self.gauge(query, &moving, garment)?;
        moving.animate(&method, gauge, sink)
    }

    /// A crowd that wears the garment by a method.
    fn crowd(&self, query: &Query, garment: usize, sink: Sink<'_>) -> Result<(), Refusal> {
        let name = query.get("method").unwrap_or_default();
        let animator = space(self.method(name, garment)?).filter(|own| is_for_crowds(own));
        let animator = animator.ok_or_else(|| missing("crowd by", name))?;
        let n = crowd::count(query, animator.topology().n_vertices())?;
        let _heavy = Heavy::take(&self.n_heavy)?;
        crowd::show(&self.moving(query)?, animator, n, sink)
    }
}

impl Exhibit for Exhibition {
    fn catalog(&self) -> String {
        let garments: Vec<Value> = (self.garments.iter().enumerate())
            .map(|(i, worn)| {
                let own = self.methods.iter().filter(|m| m.garment == i);
                let mesh = worn.garment.mesh();
                json!({
                    "name": worn.garment.name(),
                    "vertices": mesh.positions().len(),
                    "triangles": mesh.topology().triangles().len(),
                    "fabric": worn.fabric.as_ref().map(|f| &f.name),
                    "methods": own.map(|m| json!({
                        "name": m.name,
                        "method": m.animator.method(),
                        "crowd": space(&m.animator).is_some_and(is_for_crowds),
                    })).collect::<Vec<_>>(),
                })
            })
            .collect();
        let clips: Vec<Value> = (self.clips.iter())
            .map(|s| {
                json!({
                    "name": s.name,
                    "split": s.split,
                    "frames": s.n_frames,
                    "shape": s.shape,
                    "simulated": s.poses.is_none(),
                })
            })
            .collect();
        let parameters = self.character.shape_parameters().iter();
        json!({
            "title": self.title,
            "frame_rate": self.frame_rate.hz(),
            "has_body": self.has_body,
            "fabrics": fabric::NAMES,
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
        let worn = &self.garments[garment];
        match query.get("of") {
            Some("body") => Ok(bytes::mesh(self.character.topology(), worn.marks.bytes())),
            Some("garment") => {
                let topology = worn.garment.mesh().topology();
                Ok(bytes::mesh(topology, &vec![0; topology.triangles().len()]))
            }
            Some("basis") => {
                let name = query.get("method").unwrap_or_default();
                let animator = space(self.method(name, garment)?);
                let animator = animator.ok_or_else(|| missing("basis of", name))?;
                let n_vertices = animator.topology().n_vertices();
                Ok(bytes::basis(n_vertices, &animator.parts().basis))
            }
            other => Err(missing("mesh of", other.unwrap_or_default())),
        }
    }

    fn frames(&self, query: &Query, sink: Sink<'_>) -> Result<(), Refusal> {
        let garment = self.garment(query)?;
        match query.get("of") {
            Some("body") => self.moving(query)?.show(sink),
            Some("simulation") => self.simulation(query, garment, sink),
            Some("live") => self.live(query, garment, sink),
            Some("crowd") => self.crowd(query, garment, sink),
            name => self.animated(query, name.unwrap_or_default(), garment, sink),
        }
    }
}

/// A stream that takes much while it lasts.
struct Heavy<'a>(&'a AtomicUsize);

impl<'a> Heavy<'a> {
    fn take(n_heavy: &'a AtomicUsize) -> Result<Self, Refusal> {
        let own = Self(n_heavy);
        match n_heavy.fetch_add(1, Ordering::SeqCst) < MOST_HEAVY {
            true => Ok(own),
            false => Err(Refusal::Busy("four crowds and live simulations")),
        }
    }
}

impl Drop for Heavy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The stable space that a method is.
const fn space(animator: &Animator) -> Option<&StableSpace> {
    match animator {
        Animator::StableSpace(own) => Some(own),
        _ => None,
    }
}

/// Whether whole crowds are animated at once by it.
fn is_for_crowds(animator: &StableSpace) -> bool {
    animator.parts().space == drapery_runtime::ClothSpace::Canonical
}

/// The wind that a query asks for [m/s]: three numbers.
fn wind(query: &Query) -> Result<Vec3, Refusal> {
    let Some(text) = query.get("wind") else {
        return Ok(Vec3::ZERO);
    };
    let wind = numbers(text).and_then(|all| <[f32; 3]>::try_from(all).ok());
    let wind = wind.map(Vec3::from).filter(|w| w.length() <= STRONGEST);
    wind.ok_or_else(|| wrong("wind", text, "three numbers, of at most 20 m/s together"))
}

/// A name that is not taken: with a number if it is.
fn unlike(taken: &[&str], name: String) -> String {
    let mut numbered = (2..).map(|n| format!("{name} {n}"));
    match taken.contains(&name.as_str()) {
        true => numbered
            .find(|n| !taken.contains(&n.as_str()))
            .unwrap_or(name),
        false => name,
    }
}

/// Whether a query switches something on.
fn is_on(name: &'static str, query: &Query, usual: bool) -> Result<bool, Refusal> {
    match query.get(name) {
        None => Ok(usual),
        Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => Err(wrong(name, other, "0 or 1")),
    }
}

/// Numbers between commas.
fn numbers(text: &str) -> Option<Vec<f32>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

fn missing(what: &'static str, name: &str) -> Refusal {
    Refusal::Missing {
        what,
        name: name.chars().take(80).collect(),
    }
}

fn wrong(name: &'static str, value: &str, expected: &'static str) -> Refusal {
    Refusal::Value {
        name,
        value: value.chars().take(80).collect(),
        expected,
    }
}

/// Why something went wrong, with what is behind it.
fn failed(error: impl std::error::Error) -> Refusal {
    let mut why = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        why = format!("{why}: {cause}");
        next = cause.source();
    }
    Refusal::Failed(why)
}
