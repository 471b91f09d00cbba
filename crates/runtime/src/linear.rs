//! `linear`: the baseline that follows the pose and knows no past.
//!
//! ```text
//! y       = b + W φ(θ, β)
//! x_world = skin(rest(β) + μ + Λ y)
//! ```
//!
//! | symbol | here               | shape                  | meaning                                |
//! |--------|--------------------|------------------------|----------------------------------------|
//! | φ      | [`linear_inputs`]  | 9·joint + parameter    | rotation matrices of the joints, shape |
//! | b, W   | `bias`, `weights`  | component, input × component | ridge regression                 |
//! | μ, Λ   | `mean`, `basis`    | vertex × 3, component × vertex × 3 | PCA of the unposed displacement |
//!
//! Rotations are those of each joint in its parent, and that of the root without
//! its heading. Every table has it beside `skinning`: what a method gains over it
//! comes from more than a linear map of the pose.
//!
//! Far from the training poses the garment goes over to the skinned one, by the
//! mechanism that all methods share ([`PoseRange`], [`Trust`]).

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{
    AnimateError, BodyFrame, CanonicalFrame, GarmentAnimator, Pose, Seconds, StepReport, Topology,
    blended_transform,
};
use glam::{Affine3A, Mat3, Quat, Vec3, Vec3A};

use crate::model::ModelError;
use crate::parts::{PartsError, check_sizes, check_values};
use crate::pose_range::{PoseRange, PoseScratch, Trust};
use crate::products::add_columns;
use crate::skinning::{LIMIT, SkinnedGarment, SkinnedState, check_magnitude};
use crate::tensors::{TensorValues, Tensors};

/// What a [`LinearGarment`] is made of beside the skinned garment.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearParts {
    /// The poses that it knows.
    pub range: PoseRange,
    /// The mean unposed displacement [m], shape [vertex, 3].
    pub mean: Vec<f32>,
    /// Its principal components, shape [component, vertex, 3].
    pub basis: Vec<f32>,
    /// The coefficients where all inputs are 0, shape [component].
    pub bias: Vec<f32>,
    /// Coefficients per input, shape [input, component].
    pub weights: Vec<f32>,
}

/// The trained animator.
#[derive(Clone, Debug)]
pub struct LinearGarment {
    skinned: SkinnedGarment,
    parts: LinearParts,
}

/// What one garment remembers: nothing of the cloth, only how far it is trusted;
/// and room to work in.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearState {
    heading: f32,
    trust: Trust,
    skinned: SkinnedState,
    scratch: PoseScratch,
    /// The body in the space of its training poses.
    body: Vec<f32>,
    inputs: Vec<f32>,
    cloth: Vec<f32>,
    /// The unposed displacement [m].
    local: Vec<f32>,
    unposed: Vec<Vec3>,
    transforms: Vec<Affine3A>,
}

/// How many inputs a body of so many joints and shape parameters has.
pub const fn n_linear_inputs(n_joints: usize, n_shape: usize) -> usize {
    9 * n_joints + n_shape
}

/// Writes φ: the rotation matrices of all joints in their parents, column by
/// column, the root's without the heading; then the shape.
///
/// # Panics
/// When `out` has another length than [`n_linear_inputs`].
pub fn linear_inputs(pose: &Pose, heading: f32, shape: &[f32], out: &mut [f32]) {
    let n_joints = pose.rotations.len();
    assert_eq!(
        out.len(),
        n_linear_inputs(n_joints, shape.len()),
        "one value an input"
    );
    let (rotations, coefficients) = out.split_at_mut(9 * n_joints);
    let forward = Quat::from_rotation_y(-heading);
    let chunks = rotations.chunks_exact_mut(9);
    for (joint, (out, rotation)) in chunks.zip(&pose.rotations).enumerate() {
        let rotation = if joint == 0 {
            forward * *rotation
        } else {
            *rotation
        };
        out.copy_from_slice(&Mat3::from_quat(rotation).to_cols_array());
    }
    coefficients.copy_from_slice(shape);
}

impl LinearGarment {
    /// An animator of the given parts.
    ///
    /// # Errors
    /// When sizes don't go together or a value is not finite.
    pub fn new(skinned: SkinnedGarment, parts: LinearParts) -> Result<Self, PartsError> {
        let n_values = 3 * skinned.rest().len();
        let n_components = parts.bias.len();
        let n_joints = skinned.rig().n_joints();
        let n_shape = skinned.shape_directions().len();
        let n_inputs = n_linear_inputs(n_joints, n_shape);
        let sizes = [
            ("joints", parts.range.n_joints(), n_joints),
            ("shape parameters", parts.range.n_shape(), n_shape),
            ("values of the mean", parts.mean.len(), n_values),
            (
                "values of the components",
                parts.basis.len(),
                n_values * n_components,
            ),
            (
                "values of the regression",
                parts.weights.len(),
                n_inputs * n_components,
            ),
        ];
        check_sizes(&sizes)?;
        let values: [(&'static str, &[f32], f32); 4] = [
            ("mean", &parts.mean, LIMIT),
            ("components", &parts.basis, 10.0),
            ("regression", &parts.weights, LIMIT),
            ("bias", &parts.bias, LIMIT),
        ];
        check_values(&values)?;
        Ok(Self { skinned, parts })
    }

    /// The garment skinned like the body.
    pub const fn skinned(&self) -> &SkinnedGarment {
        &self.skinned
    }

    /// What it is made of.
    pub const fn parts(&self) -> &LinearParts {
        &self.parts
    }

    fn check_pose(&self, body: &BodyFrame<'_>) -> Result<(), AnimateError> {
        let expected = self.skinned.rig().n_joints();
        let found = body.pose.rotations.len();
        if found != expected {
            return Err(AnimateError::Joints { found, expected });
        }
        check_magnitude(Vec3A::from(body.pose.root), "root position [m]")?;
        for rotation in &body.pose.rotations {
            if !rotation.is_finite() {
                return Err(AnimateError::NotFinite);
            }
            check_magnitude(Vec3A::from(rotation.xyz()), "joint rotation")?;
        }
        Ok(())
    }

    fn check_state(&self, state: &LinearState) -> Result<(), AnimateError> {
        let parts = &self.parts;
        let made = [
            ("vertex values", state.local.len(), parts.mean.len()),
            ("cloth coefficients", state.cloth.len(), parts.bias.len()),
            (
                "body coefficients",
                state.body.len(),
                parts.range.n_components(),
            ),
            ("joints", state.scratch.n_joints(), parts.range.n_joints()),
        ];
        for (what, found, expected) in made {
            if found != expected {
                return Err(AnimateError::State {
                    what,
                    found,
                    expected,
                });
            }
        }
        self.skinned.check_state(&state.skinned)
    }

    pub(crate) fn write(&self, tensors: &mut Tensors) {
        let parts = &self.parts;
        parts.range.write(tensors);
        let (n, k) = (self.skinned.rest().len(), parts.bias.len());
        let mut add = |name, shape: &[usize], values: &[f32]| {
            tensors.insert(name, shape, TensorValues::F32(values.to_vec()));
        };
        add("cloth/mean", &[n, 3], &parts.mean);
        add("cloth/basis", &[k, n, 3], &parts.basis);
        add("linear/bias", &[k], &parts.bias);
        let n_inputs = parts.weights.len() / k.max(1);
        add("linear/weights", &[n_inputs, k], &parts.weights);
    }

    pub(crate) fn read(skinned: SkinnedGarment, tensors: &Tensors) -> Result<Self, ModelError> {
        let n = skinned.rest().len();
        let [n_inputs, k] = tensors.shape("linear/weights")?;
        let parts = LinearParts {
            range: PoseRange::read(tensors)?,
            mean: tensors.f32("cloth/mean", &[n, 3])?.to_vec(),
            basis: tensors.f32("cloth/basis", &[k, n, 3])?.to_vec(),
            bias: tensors.f32("linear/bias", &[k])?.to_vec(),
            weights: tensors.f32("linear/weights", &[n_inputs, k])?.to_vec(),
        };
        Ok(Self::new(skinned, parts)?)
    }
}

impl GarmentAnimator for LinearGarment {
    type State = LinearState;

    fn topology(&self) -> &Topology {
        self.skinned.topology()
    }

    fn frame_step(&self) -> Seconds {
        self.skinned.frame_step()
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<LinearState, AnimateError> {
        let skinned = self.skinned.start(body)?;
        self.check_pose(body)?;
        let parts = &self.parts;
        let frame = CanonicalFrame::of(body.pose, 0.0);
        let n_vertices = self.skinned.rest().len();
        let n_inputs = n_linear_inputs(parts.range.n_joints(), parts.range.n_shape());
        let mut scratch = parts.range.scratch();
        let mut x = vec![0.0; parts.range.n_components()];
        let range = &parts.range;
        let distance = range.project(&frame, body.world_from_rest, &mut scratch, &mut x);
        Ok(LinearState {
            heading: frame.heading,
            trust: Trust::new(range.confidence(distance, body.shape)),
            skinned,
            scratch,
            body: x,
            inputs: vec![0.0; n_inputs],
            cloth: vec![0.0; parts.bias.len()],
            local: vec![0.0; 3 * n_vertices],
            unposed: vec![Vec3::ZERO; n_vertices],
            transforms: vec![Affine3A::IDENTITY; self.skinned.rig().n_transforms()],
        })
    }

    fn step(
        &self,
        state: &mut LinearState,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        self.check_state(state)?;
        self.skinned.check_output(out.len())?;
        self.skinned.check_shape(body.shape)?;
        self.skinned.check_body(body)?;
        self.check_pose(body)?;
        let parts = &self.parts;
        self.skinned.blend_transforms(body, &mut state.transforms)?;
        let frame = CanonicalFrame::of(body.pose, state.heading);
        let range = &parts.range;
        let joints = body.world_from_rest;
        let distance = range.project(&frame, joints, &mut state.scratch, &mut state.body);
        let confidence = range.confidence(distance, body.shape);
        let mut trust = state.trust;
        let share = trust.follow(confidence);
        if share < 1.0 {
            self.skinned.step(&mut state.skinned, body, out)?;
        }
        self.skinned.shaped_rest(body.shape, &mut state.unposed)?;
        // Nothing fails from here on.
        state.trust = trust;
        state.heading = frame.heading;
        linear_inputs(body.pose, frame.heading, body.shape, &mut state.inputs);
        state.cloth.copy_from_slice(&parts.bias);
        add_columns(&parts.weights, &state.inputs, &mut state.cloth);
        state.local.copy_from_slice(&parts.mean);
        add_columns(&parts.basis, &state.cloth, &mut state.local);
        let local = state.local.as_chunks::<3>().0;
        let weights = self.skinned.weights();
        let vertices = state.unposed.iter().zip(local).zip(out).enumerate();
        for (vertex, ((rest, moved), out)) in vertices {
            let blend = blended_transform(weights, vertex, &state.transforms);
            let learned = blend.transform_point3(*rest + Vec3::from(*moved));
            *out = match share < 1.0 {
                true => *out + (learned - *out) * share,
                false => learned,
            };
        }
        Ok(StepReport {
            confidence,
            correction_depth: 0.0,
        })
    }
}
