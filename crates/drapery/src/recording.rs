//! From a scene to the sequences of a dataset: [`Recording`].
//!
//! A sequence follows from the scene alone: not from the clock, the order in
//! which sequences are made, or the number of threads.

mod body;
mod check;
mod felt;
mod import;
mod layers;
mod measures;
pub(crate) mod settings;
mod together;
mod twins;

use drapery_core::{FrameIndex, ShapeError};
use drapery_scene::scene_file::{PlannedClip, Scene, SceneError, SceneGarment};
use drapery_store::dataset::{
    BodyShape, DatasetError, DatasetHead, DatasetStore, Manifest, PlannedSequence, SequenceFailure,
    StoredGarment, fabric_constants, file_digest,
};
use serde_json::{Value, json};

use crate::{Layer, RollOutError, SimulatedGarment, WearConfig, WearError};

pub use body::{stored_body, stored_character};
pub use check::{GarmentCheck, SequenceCheck, check_sequence};
pub(crate) use felt::Felt;
pub use import::{
    ArchiveMotion, ArchiveMotionError, ClothSpace, PlaceError, archive_motion, check_place,
    import_sequence, shape_name,
};

/// A scene and the sequences that it is made into.
#[derive(Debug)]
pub struct Recording {
    scene: Scene,
    clips: Vec<PlannedClip>,
    head: DatasetHead,
}

/// Why a scene can't be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The scene is wrong.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The dataset can't be written or read.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The garments can't be worn.
    #[error("the garments can't be simulated on {character}")]
    Wear {
        /// Who was to wear them.
        character: String,
        /// Why not.
        source: Box<WearError>,
    },
    /// The body can't have that shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A sequence that is not one of the scene.
    #[error("the scene has no sequence {name}")]
    NoSuchSequence {
        /// Its name.
        name: String,
    },
    /// The body of a dataset is none.
    #[error("the dataset's body")]
    Body(#[from] drapery_scene::character::CharacterError),
    /// Cloth of another program can't be read.
    #[error(transparent)]
    Cloth(Box<drapery_store::cloth::ClothError>),
    /// The limbs of a body can't be parted.
    #[error("the limbs of the body can't be parted")]
    Parting(#[source] drapery_core::PoseError),
    /// The body can't take a pose of a sequence.
    #[error("the body can't be posed in frame {frame}")]
    Pose {
        /// Which frame.
        frame: u32,
        /// Why not.
        source: drapery_core::PoseError,
    },
}

impl From<drapery_store::cloth::ClothError> for RecordingError {
    fn from(error: drapery_store::cloth::ClothError) -> Self {
        Self::Cloth(Box::new(error))
    }
}

/// How the recording of a sequence ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Recorded {
    /// It is in the dataset.
    Whole,
    /// It failed, which is in the dataset.
    Failed(SequenceFailure),
    /// It was stopped, and nothing is kept.
    Stopped,
}

impl Recording {
    /// The sequences of a scene, with `most` frames of each at most.
    ///
    /// # Errors
    /// When a motion can't be made on a body, or the garments can't be worn.
    pub fn new(scene: Scene, most: Option<u32>) -> Result<Self, RecordingError> {
        let clips = scene.plan(most)?;
        let sequences = clips.iter().map(|planned| {
            let (parent, split) = scene.clip(planned.clip);
            PlannedSequence {
                name: format!("{}@{}", planned.name, scene.shapes[planned.shape].name),
                clip: planned.name.clone(),
                parent: parent.to_string(),
                shape: planned.shape as u32,
                split,
                frames: planned.n_frames,
            }
        });
        let shapes = scene.shapes.iter().map(|shape| BodyShape {
            name: shape.name.clone(),
            coefficients: shape.body.shape.clone(),
        });
        let garments = scene.garments.iter().map(|worn| StoredGarment {
            garment: worn.garment.clone(),
            fabric: worn.fabric.clone(),
            twin_of: worn.twin_of.clone(),
        });
        let head = DatasetHead {
            frame_rate: scene.frame_rate(),
            body: stored_body(&scene.character),
            garments: garments.collect(),
            manifest: Manifest {
                shapes: shapes.collect(),
                sequences: sequences.collect(),
            },
            scene: scene.text.clone(),
            settings: Value::Null,
        };
        let mut recording = Self { scene, clips, head };
        recording.head.settings = recording.settings(most)?;
        recording.head.check()?;
        // So that what can't be worn is said before any work.
        recording.outfit()?;
        recording.twins()?;
        Ok(recording)
    }

    /// The scene.
    pub const fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The head of its dataset.
    pub const fn head(&self) -> &DatasetHead {
        &self.head
    }

    /// All that the sequences follow from, for who goes on with a dataset.
    fn settings(&self, most: Option<u32>) -> Result<Value, RecordingError> {
        let config = self.config();
        let mut inputs = serde_json::Map::new();
        for (name, path) in &self.scene.inputs {
            inputs.insert(name.clone(), file_digest(path)?.into());
        }
        let garments = self.head.garments.iter().map(|stored| {
            let mut garment = json!({
                "name": stored.garment.name(),
                "vertices": stored.n_vertices(),
                "triangles": stored.garment.mesh().triangles().len(),
                "fabric": fabric_constants(&stored.fabric),
            });
            if let Some(of) = &stored.twin_of {
                garment["twin_of"] = of.as_str().into();
            }
            garment
        });
        let clips = (0..self.scene.n_clips()).map(|clip| {
            let (name, split) = self.scene.clip(clip);
            json!({ "clip": name, "motion": self.scene.source(clip), "split": split.name() })
        });
        let motion = &self.scene.file.motion;
        Ok(json!({
            "program": concat!("drapery ", env!("CARGO_PKG_VERSION")),
            "frames": most,
            "character": self.scene.file.character.model.value,
            "no_body": false,
            "made_for": self.scene.made_for,
            "shapes": self.head.manifest.shapes,
            "garments": garments.collect::<Vec<_>>(),
            "frame_rate": self.head.frame_rate.hz(),
            "clips": clips.collect::<Vec<_>>(),
            "part_limbs": motion.part_limbs,
            "copies": {
                "of": motion.copied,
                "stops": motion.stops,
                "stop_hold": motion.stop_hold,
                "stop_ease": motion.stop_ease,
                "mirror": motion.mirror,
                "speeds": motion.speeds.iter().map(|speed| speed.value).collect::<Vec<_>>(),
            },
            "simulation": settings::stored(&config),
            "inputs": inputs,
        }))
    }

    fn config(&self) -> WearConfig {
        let given = &self.scene.file.simulation;
        let usual = WearConfig::default();
        WearConfig {
            steps_per_frame: given.steps_per_frame.unwrap_or(usual.steps_per_frame),
            self_contact: given.self_contact.unwrap_or(usual.self_contact),
            tolerance: given.tolerance.unwrap_or(usual.tolerance),
            skin_friction: given.skin_friction.unwrap_or(usual.skin_friction),
            dressing: given.dressing.unwrap_or(usual.dressing),
            settling: given.settling.unwrap_or(usual.settling),
            ..usual
        }
    }

    /// What is worn together, from the skin outwards.
    fn outfit(&self) -> Result<SimulatedGarment<'_>, RecordingError> {
        let worn = self.scene.garments.iter().filter(|g| g.twin_of.is_none());
        self.simulated(&worn.map(layer).collect::<Vec<_>>())
    }

    /// What is simulated beside it, each by itself.
    fn twins(&self) -> Result<Vec<(String, SimulatedGarment<'_>)>, RecordingError> {
        let twins = self.scene.garments.iter().filter(|g| g.twin_of.is_some());
        let twins = twins.map(|twin| {
            let name = twin.garment.name().to_string();
            Ok((name, self.simulated(&[layer(twin)])?))
        });
        twins.collect()
    }

    fn simulated(&self, layers: &[Layer<'_>]) -> Result<SimulatedGarment<'_>, RecordingError> {
        let scene = &self.scene;
        let (rate, config) = (scene.frame_rate(), self.config());
        SimulatedGarment::outfit(layers, &scene.character, &scene.made_for, rate, config).map_err(
            |source| RecordingError::Wear {
                character: scene.character.name().to_string(),
                source: Box::new(source),
            },
        )
    }

    /// Simulates one sequence into a dataset. `watch` gets the frames that are
    /// done, and the share of dressing before the first; it says whether to go
    /// on.
    ///
    /// # Errors
    /// As [`record_all`](Self::record_all).
    pub fn record(
        &self,
        name: &str,
        store: &dyn DatasetStore,
        watch: impl Fn(Progress) -> bool + Send + Sync,
    ) -> Result<Recorded, RecordingError> {
        let mut recorded = Recorded::Stopped;
        let told = |_: &str, progress| watch(progress);
        self.record_all(&[name], store, &told, &mut |_, became| recorded = became)?;
        Ok(recorded)
    }
}

/// How far a sequence is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Limbs are being parted; the share of that.
    Parting(f64),
    /// The garments are being put on; the share of that.
    Dressing(f64),
    /// A frame is done.
    Frame(FrameIndex),
    /// A frame of another sequence is done which is this one's too.
    Shared(FrameIndex),
}

const fn layer(worn: &SceneGarment) -> Layer<'_> {
    Layer {
        garment: &worn.garment,
        fabric: &worn.fabric,
    }
}

fn failure_of(error: &RollOutError) -> SequenceFailure {
    let (RollOutError::Pose { frame, .. } | RollOutError::Animate { frame, .. }) = error;
    let source = std::error::Error::source(error);
    SequenceFailure {
        frame: (*frame > 0).then_some(*frame as u32),
        why: source.map_or_else(|| error.to_string(), ToString::to_string),
    }
}

#[cfg(test)]
mod tests {
    use drapery_core::AnimateError;

    use super::*;

    #[test]
    fn a_failure_says_the_frame_and_why() {
        let diverged = |frame| {
            failure_of(&RollOutError::Animate {
                frame,
                source: AnimateError::Diverged {
                    vertex: 7,
                    why: "the solver did not converge",
                },
            })
        };
        let why = "the cloth diverged at vertex 7: the solver did not converge".to_string();
        let failed = |frame| SequenceFailure {
            frame,
            why: why.clone(),
        };
        assert_eq!(diverged(12), failed(Some(12)));
        // The garment is put on before the first frame.
        assert_eq!(diverged(0), failed(None));
    }
}
