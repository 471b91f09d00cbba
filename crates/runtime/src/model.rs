//! The model file, `.drapery`: a trained animator as bytes.
//!
//! [`Tensors`] with one note, `drapery`, that holds the [`ModelHead`] as JSON.
//! Every method has its own arrays; all have those of the skinned garment that
//! they degrade towards:
//!
//! | array                   | shape                    | meaning                       |
//! |-------------------------|--------------------------|-------------------------------|
//! | `triangles`             | triangle × 3             | u32                           |
//! | `skin/rest`             | vertex × 3               | the unposed garment [m]       |
//! | `skin/joints`           | vertex × influence       | u16                           |
//! | `skin/weights`          | vertex × influence       |                               |
//! | `skin/shape_directions` | parameter × vertex × 3   | per unit of shape [m]         |
//! | `hidden/vertices`       | body vertex              | u16, 1 where [`HiddenSkin`]; may be missing |

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{
    BlendRig, FrameRate, GarmentAnimator, HalfwayJoints, JointId, Skeleton, SkeletonError,
    SkinWeights, SkinWeightsError, Topology, TopologyError,
};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tensors::{TensorValues, Tensors, TensorsError};
use crate::{
    Animator, DynamicsError, HiddenSkin, LinearGarment, PartsError, PoseRangeError, SkinnedGarment,
    SkinnedGarmentError, StableSpace,
};

/// The version of the file that is written, and the only one that is read.
const VERSION: u32 = 2;

/// The note that holds the head.
const HEAD: &str = "drapery";

/// The array of skin that is always hidden.
const HIDDEN: &str = "hidden/vertices";

/// What a model is, and what it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelHead {
    /// The version of the file.
    pub version: u32,
    /// The method's name, as in `drapery train`.
    pub method: String,
    /// The garment's name.
    pub garment: String,
    /// Frames a second [1/s].
    pub frame_rate: f64,
    /// Names of the body's joints.
    pub joints: Vec<String>,
    /// The joint above each; none above the root.
    pub parents: Vec<Option<u16>>,
    /// Whether the garment follows halfway joints.
    pub has_halfway_joints: bool,
    /// Names of the body's shape parameters.
    pub shape_parameters: Vec<String>,
    /// What it was trained on.
    pub training: TrainingSet,
    /// Open-loop errors on the splits that were looked at.
    pub errors: Vec<SplitError>,
    /// The largest magnitude of an eigenvalue of its dynamics, if it has any.
    pub spectral_radius: Option<f64>,
    /// What it was trained with.
    pub settings: BTreeMap<String, Value>,
}

/// What a model was trained on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingSet {
    /// The SHA-256 of what the dataset says it holds; empty if not known.
    pub digest: String,
    /// How many sequences.
    pub sequences: u32,
    /// How many frames they have.
    pub frames: u64,
}

/// The error of an open-loop roll-out over a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitError {
    /// The split: `train`, `tune` or `test`.
    pub split: String,
    /// How many frames.
    pub frames: u64,
    /// The mean distance of a vertex from the simulated one [cm].
    pub mean_cm: f64,
}

/// A trained animator with its head.
#[derive(Clone, Debug)]
pub struct Model {
    head: ModelHead,
    animator: Animator,
    hidden: Option<HiddenSkin>,
}

/// Why bytes are no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The bytes are no arrays, or an array is wrong.
    #[error(transparent)]
    Tensors(#[from] TensorsError),
    /// The arrays are of another program.
    #[error("the file is no model: it has no note {HEAD}")]
    Foreign,
    /// The head is no JSON, or lacks something.
    #[error("the model's head is not of the right form, at its byte {column}")]
    Head {
        /// Where in the head.
        column: usize,
    },
    /// Written by another version of the program.
    #[error("the model is of version {found}, this program reads {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// A method that is not known here.
    #[error("the model is of method {name}, which is not known here")]
    Method {
        /// The method.
        name: String,
    },
    /// A number of the head is out of its range.
    #[error("{what} of the model is out of its range")]
    Range {
        /// Which number.
        what: &'static str,
    },
    /// The joints are wrong.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The triangles are wrong.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The weights are wrong.
    #[error(transparent)]
    Weights(#[from] SkinWeightsError),
    /// The skinned garment is wrong.
    #[error(transparent)]
    Skinning(#[from] SkinnedGarmentError),
    /// The body's space is wrong.
    #[error(transparent)]
    PoseRange(#[from] PoseRangeError),
    /// The dynamics are wrong, or unstable.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
    /// The parts of the method don't go together.
    #[error(transparent)]
    Parts(#[from] PartsError),
}

impl Model {
    /// A model of an animator. The head's version, method, frame rate, parents
    /// and halfway joints are those of the animator, whatever they were.
    ///
    /// # Errors
    /// When the head has other joints or shape parameters than the animator.
    pub fn new(head: ModelHead, animator: Animator) -> Result<Self, ModelError> {
        let skinned = animator.skinned();
        let rig = skinned.rig();
        let head = ModelHead {
            version: VERSION,
            method: animator.method().to_owned(),
            frame_rate: skinned.frame_rate().hz(),
            parents: rig.parents().iter().map(|p| p.map(|j| j.0)).collect(),
            has_halfway_joints: rig.halfway() == HalfwayJoints::On,
            ..head
        };
        check_head(&head)?;
        if head.shape_parameters.len() != skinned.shape_directions().len() {
            return Err(ModelError::Range {
                what: "the number of shape parameters",
            });
        }
        Ok(Self {
            head,
            animator,
            hidden: None,
        })
    }

    /// The same model, which knows what skin its garment always hides.
    #[must_use]
    pub fn with_hidden(self, hidden: HiddenSkin) -> Self {
        Self {
            hidden: Some(hidden),
            ..self
        }
    }

    /// The skin that its garment always hides, if that was looked for.
    pub const fn hidden(&self) -> Option<&HiddenSkin> {
        self.hidden.as_ref()
    }

    /// What it is, and what it was made from.
    pub const fn head(&self) -> &ModelHead {
        &self.head
    }

    /// What animates.
    pub const fn animator(&self) -> &Animator {
        &self.animator
    }

    /// The animator without its head.
    pub fn into_animator(self) -> Animator {
        self.animator
    }

    /// The bytes of its file; equal models have equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut tensors = Tensors::default();
        let head = serde_json::to_string(&self.head).expect("numbers, texts and lists of them");
        tensors.notes.insert(HEAD.to_owned(), head);
        write_skinned(self.animator.skinned(), &mut tensors);
        match &self.animator {
            Animator::Skinning(_) => {}
            Animator::StableSpace(a) => a.write(&mut tensors),
            Animator::Linear(a) => a.write(&mut tensors),
        }
        if let Some(hidden) = &self.hidden {
            let flags: Vec<u16> = hidden.vertices().iter().map(|h| u16::from(*h)).collect();
            tensors.insert(HIDDEN, &[flags.len()], TensorValues::U16(flags));
        }
        tensors.to_bytes()
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// When they are cut short, of another program or version, or a number in
    /// them is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let tensors = Tensors::from_bytes(bytes)?;
        let head = tensors.notes.get(HEAD).ok_or(ModelError::Foreign)?;
        let wrong = |e: serde_json::Error| ModelError::Head { column: e.column() };
        let version: Versioned = serde_json::from_str(head).map_err(wrong)?;
        if version.version != VERSION {
            let found = version.version;
            return Err(ModelError::Version { found });
        }
        let head: ModelHead = serde_json::from_str(head).map_err(wrong)?;
        check_head(&head)?;
        let skinned = read_skinned(&head, &tensors)?;
        let animator = match head.method.as_str() {
            "skinning" => Animator::Skinning(skinned),
            "stable-space" => Animator::StableSpace(StableSpace::read(skinned, &tensors)?),
            "linear" => Animator::Linear(LinearGarment::read(skinned, &tensors)?),
            other => {
                let name = other.to_owned();
                return Err(ModelError::Method { name });
            }
        };
        let hidden = match tensors.contains(HIDDEN) {
            true => Some(read_hidden(&tensors)?),
            false => None,
        };
        Ok(Self {
            head,
            animator,
            hidden,
        })
    }
}

/// The part of a head that every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

fn check_head(head: &ModelHead) -> Result<(), ModelError> {
    let parents = head.parents.iter().map(|p| p.map(JointId)).collect();
    // Where the joints rest is of no matter here.
    let rest = vec![Vec3::ZERO; head.joints.len()];
    Skeleton::new(head.joints.clone(), parents, rest)?;
    if head
        .spectral_radius
        .is_some_and(|r| !(0.0..=1e6).contains(&r))
    {
        return Err(ModelError::Range {
            what: "the spectral radius",
        });
    }
    match FrameRate::new(head.frame_rate) {
        Ok(_) => Ok(()),
        Err(_) => Err(ModelError::Range {
            what: "the frame rate",
        }),
    }
}

fn write_skinned(skinned: &SkinnedGarment, tensors: &mut Tensors) {
    let triangles = skinned.topology().triangles();
    let n_vertices = skinned.rest().len();
    let weights = skinned.weights();
    let influences = [n_vertices, weights.n_influences()];
    tensors.insert(
        "triangles",
        &[triangles.len(), 3],
        TensorValues::U32(triangles.as_flattened().to_vec()),
    );
    tensors.insert("skin/rest", &[n_vertices, 3], flat(skinned.rest()));
    tensors.insert(
        "skin/joints",
        &influences,
        TensorValues::U16(weights.joints().to_vec()),
    );
    tensors.insert(
        "skin/weights",
        &influences,
        TensorValues::F32(weights.weights().to_vec()),
    );
    let directions = skinned.shape_directions();
    tensors.insert(
        "skin/shape_directions",
        &[directions.len(), n_vertices, 3],
        flat(&directions.concat()),
    );
}

fn read_skinned(head: &ModelHead, tensors: &Tensors) -> Result<SkinnedGarment, ModelError> {
    let [n_triangles, _] = tensors.shape("triangles")?;
    let [n_vertices, _] = tensors.shape("skin/rest")?;
    let [_, n_influences] = tensors.shape("skin/joints")?;
    let range = |what| ModelError::Range { what };
    if n_influences == 0 {
        return Err(range("the number of joints that a vertex follows"));
    }
    let triangles = tensors.u32("triangles", &[n_triangles, 3])?;
    let n_named = u32::try_from(n_vertices).map_err(|_| range("the number of vertices"))?;
    let topology = Topology::new(n_named, triangles.as_chunks().0.to_vec())?;
    let rest = points(tensors.f32("skin/rest", &[n_vertices, 3])?);
    let influences = [n_vertices, n_influences];
    let joints = tensors.u16("skin/joints", &influences)?.to_vec();
    let weights = tensors.f32("skin/weights", &influences)?.to_vec();
    let halfway = match head.has_halfway_joints {
        true => HalfwayJoints::On,
        false => HalfwayJoints::Off,
    };
    let parents: Vec<Option<JointId>> = head.parents.iter().map(|p| p.map(JointId)).collect();
    let rig = BlendRig::new(&parents, halfway);
    let weights = SkinWeights::from_arrays(n_influences, rig.n_transforms(), joints, weights)?;
    let n_shape = head.shape_parameters.len();
    let directions = tensors.f32("skin/shape_directions", &[n_shape, n_vertices, 3])?;
    let directions = match n_vertices {
        0 => vec![Vec::new(); n_shape],
        n => directions.chunks_exact(3 * n).map(points).collect(),
    };
    let rate = FrameRate::new(head.frame_rate).map_err(|_| range("the frame rate"))?;
    Ok(SkinnedGarment::new(
        topology, rest, weights, directions, rig, rate,
    )?)
}

fn read_hidden(tensors: &Tensors) -> Result<HiddenSkin, ModelError> {
    let shape: [usize; 1] = tensors.shape(HIDDEN)?;
    let flags = tensors.u16(HIDDEN, &shape)?;
    match flags.iter().all(|flag| *flag < 2) {
        true => Ok(HiddenSkin::new(flags.iter().map(|f| *f == 1).collect())),
        false => Err(ModelError::Range {
            what: "a flag of the hidden skin",
        }),
    }
}

fn flat(points: &[Vec3]) -> TensorValues {
    TensorValues::F32(points.iter().flat_map(|p| p.to_array()).collect())
}

fn points(flat: &[f32]) -> Vec<Vec3> {
    flat.chunks_exact(3).map(Vec3::from_slice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn head() -> ModelHead {
        ModelHead {
            version: 0,
            method: String::new(),
            garment: "rag".into(),
            frame_rate: 0.0,
            joints: vec!["root".into(), "tip".into()],
            parents: Vec::new(),
            has_halfway_joints: false,
            shape_parameters: vec!["girth".into()],
            training: TrainingSet::default(),
            errors: vec![SplitError {
                split: "tune".into(),
                frames: 10,
                mean_cm: 1.25,
            }],
            spectral_radius: Some(0.97),
            settings: BTreeMap::from([("dims".into(), 3.into())]),
        }
    }

    fn skinned() -> SkinnedGarment {
        let parents = [None, Some(JointId(0))];
        SkinnedGarment::new(
            Topology::new(3, vec![[0, 1, 2]]).unwrap(),
            vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            SkinWeights::new(
                2,
                4,
                &[vec![(0, 1.0)], vec![(1, 0.3), (3, 0.7)], vec![(2, 1.0)]],
            )
            .unwrap(),
            vec![vec![Vec3::Z; 3]],
            BlendRig::new(&parents, HalfwayJoints::On),
            FrameRate::THIRTY,
        )
        .unwrap()
    }

    fn model() -> Model {
        Model::new(head(), Animator::Skinning(skinned())).unwrap()
    }

    /// The arrays of the model, changed.
    fn changed(change: impl FnOnce(&mut Tensors)) -> Result<Model, ModelError> {
        let mut tensors = Tensors::from_bytes(&model().to_bytes()).unwrap();
        change(&mut tensors);
        Model::from_bytes(&tensors.to_bytes())
    }

    fn with_head(from: &str, to: &str) -> Result<Model, ModelError> {
        changed(|tensors| {
            let head = tensors.notes.get_mut(HEAD).unwrap();
            assert!(head.contains(from), "{head}");
            *head = head.replacen(from, to, 1);
        })
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = model().to_bytes();
        let read = Model::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(read.head(), model().head());
        assert_eq!(read.head().method, "skinning");
        assert_eq!(read.head().parents, [None, Some(0)]);
        let (a, b) = (read.animator().skinned(), skinned());
        assert_eq!(a.rest(), b.rest());
        assert_eq!(a.weights(), b.weights());
        assert_eq!(a.rig(), b.rig());
        assert_eq!(a.topology(), b.topology());
        assert_eq!(a.shape_directions(), b.shape_directions());
    }

    #[test]
    fn hidden_skin_is_kept_and_may_be_missing() {
        let without = model();
        assert!(
            Model::from_bytes(&without.to_bytes())
                .unwrap()
                .hidden()
                .is_none()
        );
        let hidden = HiddenSkin::new(vec![true, false, true, true]);
        let with = model().with_hidden(hidden.clone());
        let read = Model::from_bytes(&with.to_bytes()).unwrap();
        assert_eq!(read.hidden(), Some(&hidden));
        assert_eq!(read.to_bytes(), with.to_bytes());
        let other = changed(|t| t.insert(HIDDEN, &[2], TensorValues::U16(vec![0, 2])));
        assert!(matches!(other, Err(ModelError::Range { .. })), "{other:?}");
        let flat = changed(|t| t.insert(HIDDEN, &[1, 2], TensorValues::U16(vec![0, 1])));
        assert!(matches!(flat, Err(ModelError::Tensors(_))), "{flat:?}");
    }

    #[test]
    fn heads_that_are_wrong_are_named() {
        let foreign = changed(|t| t.notes.clear());
        assert_eq!(foreign.unwrap_err(), ModelError::Foreign);
        let newer = with_head("\"version\":2", "\"version\":3,\"more\":0");
        assert_eq!(newer.unwrap_err(), ModelError::Version { found: 3 });
        let strange = with_head("skinning", "magic");
        assert!(matches!(strange, Err(ModelError::Method { .. })));
        for (from, to) in [("{", "["), ("\"garment\"", "\"garnent\"")] {
            let found = with_head(from, to);
            assert!(matches!(found, Err(ModelError::Head { .. })), "{found:?}");
        }
        for (from, to) in [(":30.0", ":0.0"), (":0.97", ":1e300"), (":0.97", ":-1")] {
            let found = with_head(from, to);
            assert!(matches!(found, Err(ModelError::Range { .. })), "{found:?}");
        }
        let loose = with_head("[null,0]", "[null,1]");
        assert!(matches!(loose, Err(ModelError::Skeleton(_))), "{loose:?}");
        let fewer = with_head("[\"girth\"]", "[]");
        assert!(matches!(fewer, Err(ModelError::Tensors(_))), "{fewer:?}");
    }

    #[test]
    fn arrays_that_are_wrong_are_named() {
        let far = changed(|t| t.insert("triangles", &[1, 3], TensorValues::U32(vec![0, 1, 3])));
        assert!(matches!(far, Err(ModelError::Topology(_))));
        let joint = TensorValues::U16(vec![0, 0, 1, 4, 2, 0]);
        let joint = changed(|t| t.insert("skin/joints", &[3, 2], joint));
        assert!(matches!(joint, Err(ModelError::Weights(_))), "{joint:?}");
        let none = changed(|t| t.insert("skin/joints", &[3, 0], TensorValues::U16(vec![])));
        assert!(matches!(none, Err(ModelError::Range { .. })), "{none:?}");
        let huge = changed(|t| t.insert("skin/rest", &[3, 3], TensorValues::F32(vec![1e30; 9])));
        assert!(matches!(huge, Err(ModelError::Skinning(_))), "{huge:?}");
        for values in [vec![f32::NAN; 9], vec![0.0; 6]] {
            let shape = [values.len() / 3, 3];
            let found = changed(|t| t.insert("skin/rest", &shape, TensorValues::F32(values)));
            assert!(found.is_err());
        }
    }
}
