//! `stable-space`: dynamics of a garment in its PCA space, conditioned on the
//! body.
//!
//! de Aguiar, Sigal, Treuille, Hodgins, "Stable Spaces for Real-time
//! Clothing", SIGGRAPH 2010: §4 for the spaces, §5 for the models, §6.1 for
//! stability.
//!
//! ```text
//! mₜ = R(rₜ) [Λ yₜ + μ] + pₜ                                            (Eq. 1)
//! A:  yₜ = A xₜ                                                         (Eq. 3)
//! B:  yₜ = A xₜ + B₁ yₜ₋₁ + B₂ yₜ₋₂                                     (Eq. 4)
//! C:  yₜ = A xₜ + B₁ yₜ₋₁ + B₂ yₜ₋₂ + C₁ z(t, t−2) + C₂ z(t−1, t−2)     (Eq. 5)
//! ```
//!
//! | symbol  | here                       | shape            | meaning                            |
//! |---------|----------------------------|------------------|------------------------------------|
//! | xₜ      | [`PoseRange::project`]     | `n_body`         | body coefficients                  |
//! | yₜ      | `StableState::cloth`       | `n_cloth`        | garment coefficients               |
//! | z(t, j) | [`root_motion`]            | 5                | root motion since frame j, Eq. 6   |
//! | A, Bᵢ, Cᵢ | [`Dynamics::weights`]    | input × cloth    | side by side                       |
//! | μ       | `mean`                     | vertex × 3       | mean garment                       |
//! | Λ       | `basis`                    | cloth × vertex × 3 | principal components             |
//! | A of Eq. 3 | `still`                 | body × cloth     | the first frames                   |
//!
//! # Where we differ
//! - The paper is z-up: its R_z turns about +Y here.
//! - Order N has z(t−i, t−N) for i = 0 … N−1; the paper writes N = 2 alone.
//! - The first N frames are those of model A (§6 says t and t−1, and means
//!   t−1 and t−2).
//! - Optionally Λ and μ live in unposed space, and skinning takes the place of
//!   R(rₜ) and pₜ.
//! - A root that is taken elsewhere takes its past along; the paper would see a
//!   gust of hundreds of kilometres an hour.
//! - Far from the training poses the garment goes over to the skinned one, and
//!   the body's coefficients are held, which bounds k of Eq. 7 by construction.
//! - The garment has an end to its [`reach`](StableSpaceParts::reach), so that what
//!   drives it in its own time, frame after frame, does not add up. All of the state of
//!   Eq. 7 is drawn in at once: that lowers the energy of §6.1 as it is, and what was
//!   stable stays so.
//! - No constant term: A and B have none, as in the paper, and C's cosines
//!   stand for one.
//!
//! # Holds
//! The spectral radius of `[B₁ B₂; I 0]` is below 1: [`Dynamics::new`] refuses
//! any other.

mod dynamics;

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{
    AnimateError, BodyFrame, CanonicalFrame, GarmentAnimator, Seconds, SkinWeights, StepReport,
    Topology, blended_transform,
};
use glam::{Affine3A, Vec3, Vec3A};

pub use dynamics::{Dynamics, DynamicsError, MAX_ORDER, RootTerms};

use crate::model::ModelError;
use crate::parts::{PartsError, check_sizes, check_values};
use crate::pose_range::{PoseRange, PoseScratch, Trust};
use crate::products::add_columns;
use crate::root_motion::{ROOT_MOTION, RootLimits, root_motion, take_along};
use crate::skinning::{LIMIT, SkinnedGarment, SkinnedState, check_magnitude};
use crate::tensors::{TensorValues, Tensors};

/// The array of [`StableSpaceParts::reach`].
const REACH: &str = "cloth/reach";

/// No garment reaches farther [m]: a million vertices, each as far away as a position
/// may be. Its square is far from the largest `f32`.
const MAX_REACH: f32 = 1e3 * LIMIT;

/// Where the principal components of the cloth live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClothSpace {
    /// Canonical space, as in the paper.
    #[default]
    Canonical,
    /// Unposed space: skinning does the coarse part.
    Unposed,
}

/// What a [`StableSpace`] is made of beside the skinned garment.
#[derive(Clone, Debug, PartialEq)]
pub struct StableSpaceParts {
    /// The body's space.
    pub range: PoseRange,
    /// Where the cloth's components live.
    pub space: ClothSpace,
    /// The mean garment [m], shape [vertex, 3].
    pub mean: Vec<f32>,
    /// Its principal components, shape [cloth, vertex, 3].
    pub basis: Vec<f32>,
    /// A of Eq. 3 by columns, shape [body, cloth].
    pub still: Vec<f32>,
    /// Eq. 3, 4 or 5.
    pub dynamics: Dynamics,
    /// What is no motion of the root any more.
    pub limits: RootLimits,
    /// The largest ‖yₜ‖ that a garment may have [m]; none in older models.
    pub reach: Option<f32>,
}

impl StableSpaceParts {
    /// By how much a garment is drawn in, of the sum of the squares of its
    /// coefficients.
    pub(crate) fn drawn_in(&self, squares: f32) -> f32 {
        match self.reach {
            Some(reach) if squares > reach * reach => reach / libm::sqrtf(squares),
            _ => 1.0,
        }
    }
}

/// The trained animator.
#[derive(Clone, Debug)]
pub struct StableSpace {
    skinned: SkinnedGarment,
    parts: StableSpaceParts,
}

/// What one garment remembers.
#[derive(Clone, Debug, PartialEq)]
pub struct StableState {
    /// How many frames were stepped, up to the order.
    pub(crate) n_seen: usize,
    /// Of the last frame, for where there is none [rad].
    pub(crate) heading: f32,
    /// Where the root was, the latest first.
    pub(crate) roots: Vec<CanonicalFrame>,
    /// φ: body, past cloth, root motion.
    pub(crate) inputs: Vec<f32>,
    /// yₜ.
    cloth: Vec<f32>,
    pub(crate) trust: Trust,
    skinned: SkinnedState,
    scratch: PoseScratch,
    /// The garment in canonical or unposed space [m].
    local: Vec<f32>,
    unposed: Vec<Vec3>,
    transforms: Vec<Affine3A>,
}

impl StableState {
    /// The coefficients of the garment in the last frame.
    pub fn cloth(&self) -> &[f32] {
        &self.cloth
    }
}

impl StableSpace {
    /// An animator of the given parts.
    ///
    /// # Errors
    /// When sizes don't go together or a value is not finite.
    pub fn new(skinned: SkinnedGarment, parts: StableSpaceParts) -> Result<Self, PartsError> {
        let n_values = 3 * skinned.rest().len();
        let (n_body, n_cloth) = (parts.dynamics.n_body(), parts.dynamics.n_cloth());
        let sizes = [
            ("joints", parts.range.n_joints(), skinned.rig().n_joints()),
            (
                "shape parameters",
                parts.range.n_shape(),
                skinned.shape_directions().len(),
            ),
            ("body coefficients", parts.range.n_components(), n_body),
            ("values of the mean garment", parts.mean.len(), n_values),
            (
                "values of the components",
                parts.basis.len(),
                n_values * n_cloth,
            ),
            ("values of model A", parts.still.len(), n_body * n_cloth),
        ];
        check_sizes(&sizes)?;
        let limits = [parts.limits.step, parts.limits.turn];
        let reach = parts.reach.as_slice();
        let values: [(&'static str, &[f32], f32); 5] = [
            ("mean garment", &parts.mean, LIMIT),
            ("components", &parts.basis, 10.0),
            ("model A", &parts.still, LIMIT),
            ("limits of the root", &limits, LIMIT),
            ("reach of the garment", reach, MAX_REACH),
        ];
        check_values(&values)?;
        Ok(Self { skinned, parts })
    }

    /// The garment skinned like the body, towards which it goes when it does
    /// not know more.
    pub const fn skinned(&self) -> &SkinnedGarment {
        &self.skinned
    }

    /// What it is made of.
    pub const fn parts(&self) -> &StableSpaceParts {
        &self.parts
    }

    /// The farthest that the garment may be from the mean one, root mean square over
    /// its vertices [m].
    pub fn reach(&self) -> Option<f32> {
        let n_vertices = self.skinned.rest().len() as f32;
        Some(self.parts.reach? / libm::sqrtf(n_vertices))
    }

    /// The coefficients of the last frames as the dynamics remember them, the latest
    /// first, shape [order, cloth]: the state of Eq. 7.
    ///
    /// # Panics
    /// When the state is that of another model.
    pub fn memory<'a>(&self, state: &'a StableState) -> &'a [f32] {
        let dynamics = &self.parts.dynamics;
        let n_memory = dynamics.order() * dynamics.n_cloth();
        &state.inputs[dynamics.n_body()..][..n_memory]
    }

    /// Whether the body fits, as [`step`](GarmentAnimator::step) wants it.
    pub(crate) fn check(&self, body: &BodyFrame<'_>) -> Result<(), AnimateError> {
        self.skinned.check_shape(body.shape)?;
        self.skinned.check_body(body)?;
        self.check_pose(body)
    }

    fn check_pose(&self, body: &BodyFrame<'_>) -> Result<(), AnimateError> {
        let expected = self.skinned.rig().n_joints();
        let found = body.pose.rotations.len();
        if found != expected {
            return Err(AnimateError::Joints { found, expected });
        }
        check_magnitude(Vec3A::from(body.pose.root), "root position [m]")?;
        match body.pose.rotations[0].is_finite() {
            true => Ok(()),
            false => Err(AnimateError::NotFinite),
        }
    }

    fn check_state(&self, state: &StableState) -> Result<(), AnimateError> {
        let dynamics = &self.parts.dynamics;
        let made = [
            ("vertex values", state.local.len(), self.parts.mean.len()),
            ("cloth coefficients", state.cloth.len(), dynamics.n_cloth()),
            ("inputs", state.inputs.len(), dynamics.n_inputs()),
            ("earlier frames", state.roots.len(), dynamics.order()),
            (
                "joints",
                state.scratch.n_joints(),
                self.parts.range.n_joints(),
            ),
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

    /// yₜ from what is in the state, and on by a frame.
    fn advance(&self, state: &mut StableState, frame: &CanonicalFrame) {
        let dynamics = &self.parts.dynamics;
        let (n_body, n_cloth) = (dynamics.n_body(), dynamics.n_cloth());
        let order = dynamics.order();
        if state.n_seen > 0 && self.parts.limits.is_beyond(frame, &state.roots[0]) {
            take_along(&mut state.roots[..state.n_seen], frame);
        }
        if state.n_seen < order || order == 0 {
            // Model A: the bootstrap of §6, or all there is.
            state.cloth.fill(0.0);
            add_columns(&self.parts.still, &state.inputs[..n_body], &mut state.cloth);
        } else {
            if dynamics.root() == RootTerms::With {
                let oldest = state.roots[order - 1];
                let past = core::iter::once(frame).chain(&state.roots[..order - 1]);
                let motions = &mut state.inputs[n_body + order * n_cloth..];
                for (out, at) in motions.chunks_exact_mut(ROOT_MOTION).zip(past) {
                    out.copy_from_slice(&root_motion(at, &oldest));
                }
            }
            dynamics.step(&state.inputs, &mut state.cloth);
        }
        let drawn_in = self.parts.drawn_in(state.cloth.iter().map(|y| y * y).sum());
        if drawn_in < 1.0 {
            let past = &mut state.inputs[n_body..n_body + order * n_cloth];
            let all = state.cloth.iter_mut().chain(past);
            all.for_each(|y| *y *= drawn_in);
        }
        if order > 0 {
            let past = &mut state.inputs[n_body..n_body + order * n_cloth];
            past.copy_within(..(order - 1) * n_cloth, n_cloth);
            past[..n_cloth].copy_from_slice(&state.cloth);
            state.roots.copy_within(..order - 1, 1);
            state.roots[0] = *frame;
            state.n_seen = (state.n_seen + 1).min(order);
        }
    }

    pub(crate) fn write(&self, tensors: &mut Tensors) {
        let parts = &self.parts;
        parts.range.write(tensors);
        let (n_body, n_cloth) = (parts.dynamics.n_body(), parts.dynamics.n_cloth());
        let n_vertices = self.skinned.rest().len();
        let mut add = |name, shape: &[usize], values: &[f32]| {
            tensors.insert(name, shape, TensorValues::F32(values.to_vec()));
        };
        add("cloth/mean", &[n_vertices, 3], &parts.mean);
        add("cloth/basis", &[n_cloth, n_vertices, 3], &parts.basis);
        add("dynamics/still", &[n_body, n_cloth], &parts.still);
        add(
            "dynamics/weights",
            &[parts.dynamics.n_inputs(), n_cloth],
            parts.dynamics.weights(),
        );
        let limits = [parts.limits.step, parts.limits.turn];
        add("root/limits", &[2], &limits);
        if let Some(reach) = parts.reach {
            add(REACH, &[1], &[reach]);
        }
        let layout = vec![
            parts.dynamics.order() as u32,
            u32::from(parts.dynamics.root() == RootTerms::With),
            u32::from(parts.space == ClothSpace::Unposed),
        ];
        tensors.insert("dynamics/layout", &[3], TensorValues::U32(layout));
    }

    pub(crate) fn read(skinned: SkinnedGarment, tensors: &Tensors) -> Result<Self, ModelError> {
        let range = PoseRange::read(tensors)?;
        let n_vertices = skinned.rest().len();
        let [n_body, n_cloth] = tensors.shape("dynamics/still")?;
        let [n_inputs, _] = tensors.shape("dynamics/weights")?;
        let wrong = ModelError::Range {
            what: "the layout of the dynamics",
        };
        let &[order, root, space] = tensors.u32("dynamics/layout", &[3])? else {
            return Err(wrong);
        };
        let root = match root {
            0 => RootTerms::Without,
            1 => RootTerms::With,
            _ => return Err(wrong),
        };
        let space = match space {
            0 => ClothSpace::Canonical,
            1 => ClothSpace::Unposed,
            _ => return Err(wrong),
        };
        let weights = tensors.f32("dynamics/weights", &[n_inputs, n_cloth])?;
        let order = usize::try_from(order).map_err(|_| wrong)?;
        let dynamics = Dynamics::new(n_body, n_cloth, order, root, weights.to_vec())?;
        let limits = tensors.f32("root/limits", &[2])?;
        let reach = match tensors.contains(REACH) {
            true => tensors.f32(REACH, &[1])?.first().copied(),
            false => None,
        };
        if reach.is_some_and(|reach| reach < 0.0) {
            return Err(ModelError::Range {
                what: "the reach of the garment",
            });
        }
        let basis = tensors.f32("cloth/basis", &[n_cloth, n_vertices, 3])?;
        let still = tensors.f32("dynamics/still", &[n_body, n_cloth])?;
        let parts = StableSpaceParts {
            range,
            space,
            mean: tensors.f32("cloth/mean", &[n_vertices, 3])?.to_vec(),
            basis: basis.to_vec(),
            still: still.to_vec(),
            dynamics,
            limits: RootLimits {
                step: limits[0],
                turn: limits[1],
            },
            reach,
        };
        Ok(Self::new(skinned, parts)?)
    }
}

impl GarmentAnimator for StableSpace {
    type State = StableState;

    fn topology(&self) -> &Topology {
        self.skinned.topology()
    }

    fn frame_step(&self) -> Seconds {
        self.skinned.frame_step()
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<StableState, AnimateError> {
        let skinned = self.skinned.start(body)?;
        self.check_pose(body)?;
        let parts = &self.parts;
        let order = parts.dynamics.order();
        let frame = CanonicalFrame::of(body.pose, 0.0);
        let n_vertices = self.skinned.rest().len();
        let (n_unposed, n_transforms) = match parts.space {
            ClothSpace::Canonical => (0, 0),
            ClothSpace::Unposed => (n_vertices, self.skinned.rig().n_transforms()),
        };
        let mut scratch = parts.range.scratch();
        let mut inputs = vec![0.0; parts.dynamics.n_inputs()];
        let x = &mut inputs[..parts.dynamics.n_body()];
        let range = &parts.range;
        let distance = range.project(&frame, body.world_from_rest, &mut scratch, x);
        let confidence = parts.range.confidence(distance, body.shape);
        Ok(StableState {
            n_seen: 0,
            heading: frame.heading,
            roots: vec![frame; order],
            inputs,
            cloth: vec![0.0; parts.dynamics.n_cloth()],
            trust: Trust::new(confidence),
            skinned,
            scratch,
            local: vec![0.0; 3 * n_vertices],
            unposed: vec![Vec3::ZERO; n_unposed],
            transforms: vec![Affine3A::IDENTITY; n_transforms],
        })
    }

    fn step(
        &self,
        state: &mut StableState,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        self.check_state(state)?;
        self.skinned.check_output(out.len())?;
        self.check(body)?;
        let parts = &self.parts;
        if parts.space == ClothSpace::Unposed {
            self.skinned.blend_transforms(body, &mut state.transforms)?;
        }
        // The heading is kept where there is none.
        let frame = CanonicalFrame::of(body.pose, state.heading);
        let n_body = parts.dynamics.n_body();
        let x = &mut state.inputs[..n_body];
        let distance = parts
            .range
            .project(&frame, body.world_from_rest, &mut state.scratch, x);
        let confidence = parts.range.confidence(distance, body.shape);
        let mut trust = state.trust;
        let share = trust.follow(confidence);
        if share < 1.0 {
            self.skinned.step(&mut state.skinned, body, out)?;
        }
        // Nothing fails from here on.
        state.trust = trust;
        state.heading = frame.heading;
        self.advance(state, &frame);

        state.local.copy_from_slice(&parts.mean);
        add_columns(&parts.basis, &state.cloth, &mut state.local);
        let local = state.local.as_chunks::<3>().0;
        let mix = |out: &mut Vec3, learned: Vec3| {
            *out = match share < 1.0 {
                true => *out + (learned - *out) * share,
                false => learned,
            };
        };
        match parts.space {
            ClothSpace::Canonical => {
                let world = frame.world_from_canonical();
                for (out, p) in out.iter_mut().zip(local) {
                    mix(out, world.transform_point3(Vec3::from(*p)));
                }
            }
            ClothSpace::Unposed => {
                let weights = self.skinned.weights();
                for (unposed, p) in state.unposed.iter_mut().zip(local) {
                    *unposed = Vec3::from(*p);
                }
                skin_in_place(weights, &state.transforms, &mut state.unposed);
                for (out, p) in out.iter_mut().zip(&state.unposed) {
                    mix(out, *p);
                }
            }
        }
        Ok(StepReport {
            confidence,
            correction_depth: 0.0,
        })
    }
}

/// Carries unposed positions to the world, each in its own place.
fn skin_in_place(weights: &SkinWeights, transforms: &[Affine3A], positions: &mut [Vec3]) {
    for (vertex, position) in positions.iter_mut().enumerate() {
        let blend = blended_transform(weights, vertex, transforms);
        *position = blend.transform_point3(*position);
    }
}
