//! `skinning`: the garment follows the joints as the body does.
//!
//! ```text
//! x_world = (Σ wᵢ Tᵢ(θ, β)) (rest + Σ βₖ Dₖ)
//! ```
//!
//! | symbol | here               | shape               | meaning                        |
//! |--------|--------------------|---------------------|--------------------------------|
//! | w      | `weights`          | vertex × influence  | taken from the body underneath |
//! | T      | [`BlendRig`]       | joint               | from the body's frame          |
//! | rest   | `rest`             | vertex              | the garment on the template    |
//! | β      | `shape`            | parameter           | body shape                     |
//! | D      | `shape_directions` | parameter × vertex  | what the body moves beneath it |
//!
//! Santesteban and others have this as the base of learned displacements
//! (Try-On 2019, §3.1), as has Adaptive Bases 2014, §5.1: displacements live in
//! the *unposed* space, which [`SkinnedGarment::unpose`] reaches by inverting
//! the blended matrix of each vertex.
//!
//! # Where we differ
//! Weights may name halfway joints beside the body's own, which keeps the
//! blended matrices well-conditioned: see [`BlendRig`].
//!
//! # Holds
//! Nothing here writes a number that is not finite. Magnitudes beyond
//! [`LIMIT`] are refused, in the garment and in the body; products of three of
//! them are far from the largest `f32`.

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{
    AnimateError, BlendRig, BodyFrame, FrameRate, GarmentAnimator, HalfwayJoints, Seconds,
    SkinWeights, StepReport, Topology, blended_transform, skin_positions,
};
use glam::{Affine3A, DMat3, Mat3A, Vec3, Vec3A};

/// The largest magnitude of positions and translations [m], of entries of the
/// joints' matrices and of shape coefficients.
pub const LIMIT: f32 = 1e6;

/// A blend of rotations with a determinant below this can't be inverted: its
/// smallest singular value is below 1e-6 at worst and 1e-2 at best.
const SINGULAR: f32 = 1e-6;

/// A garment skinned like the body.
#[derive(Clone, Debug)]
pub struct SkinnedGarment {
    topology: Topology,
    rest: Vec<Vec3>,
    weights: SkinWeights,
    shape_directions: Vec<Vec<Vec3>>,
    rig: BlendRig,
    frame_rate: FrameRate,
}

/// Why arrays don't make a [`SkinnedGarment`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkinnedGarmentError {
    /// An array does not have one entry a vertex.
    #[error("{what}: {found} entries, the garment has {expected} vertices")]
    Length {
        /// Which array.
        what: &'static str,
        /// How many entries it has.
        found: usize,
        /// How many vertices there are.
        expected: usize,
    },
    /// A weight names a joint that the rig has not.
    #[error("vertex {vertex} follows joint {joint}, but there are only {n_joints}")]
    NoSuchJoint {
        /// The vertex's index.
        vertex: usize,
        /// The joint it follows.
        joint: u16,
        /// How many joints the rig has, halfway joints included.
        n_joints: usize,
    },
    /// A position or displacement is not a number, or beyond [`LIMIT`].
    #[error("{what} of vertex {vertex} is not finite or beyond {LIMIT:e} m")]
    NotFinite {
        /// Which array.
        what: &'static str,
        /// The vertex's index.
        vertex: usize,
    },
}

/// What a [`SkinnedGarment`] remembers: the rest shape on its body. Also room
/// for the joints of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinnedState {
    shape: Vec<f32>,
    rest: Vec<Vec3>,
    /// Empty without halfway joints.
    transforms: Vec<Affine3A>,
}

impl SkinnedGarment {
    /// A garment that rests at `rest` [m] on the template body, follows the
    /// joints of `rig` and moves by `shape_directions` [m] with the body's shape.
    ///
    /// # Errors
    /// When lengths don't match, a joint is not there, or a value is not finite
    /// or beyond [`LIMIT`].
    pub fn new(
        topology: Topology,
        rest: Vec<Vec3>,
        weights: SkinWeights,
        shape_directions: Vec<Vec<Vec3>>,
        rig: BlendRig,
        frame_rate: FrameRate,
    ) -> Result<Self, SkinnedGarmentError> {
        let expected = topology.n_vertices();
        let length = |what, found| {
            if found == expected {
                Ok(())
            } else {
                Err(SkinnedGarmentError::Length {
                    what,
                    found,
                    expected,
                })
            }
        };
        let finite = |what, row: &[Vec3]| match row.iter().position(|x| !sound(*x)) {
            Some(vertex) => Err(SkinnedGarmentError::NotFinite { what, vertex }),
            None => Ok(()),
        };
        length("rest positions", rest.len())?;
        finite("rest position", &rest)?;
        length("skinning weights", weights.n_vertices())?;
        for direction in &shape_directions {
            length("shape direction", direction.len())?;
            finite("shape displacement", direction)?;
        }
        let n_joints = rig.n_transforms();
        for vertex in 0..expected {
            if let Some((joint, _)) = weights
                .of(vertex)
                .find(|(j, _)| usize::from(*j) >= n_joints)
            {
                return Err(SkinnedGarmentError::NoSuchJoint {
                    vertex,
                    joint,
                    n_joints,
                });
            }
        }
        Ok(Self {
            topology,
            rest,
            weights,
            shape_directions,
            rig,
            frame_rate,
        })
    }

    /// The garment on the template body [m].
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// Which joints of the [rig](Self::rig) the vertices follow.
    pub const fn weights(&self) -> &SkinWeights {
        &self.weights
    }

    /// How vertices move per unit of each shape coefficient [m], shape
    /// [parameter][vertex].
    pub fn shape_directions(&self) -> &[Vec<Vec3>] {
        &self.shape_directions
    }

    /// Frames a second that it was made for.
    pub const fn frame_rate(&self) -> FrameRate {
        self.frame_rate
    }

    /// The joints that the vertices follow.
    pub const fn rig(&self) -> &BlendRig {
        &self.rig
    }

    /// Writes the unposed garment on a body of that shape [m].
    ///
    /// # Errors
    /// When the number of coefficients or of vertices differs, or a coefficient
    /// is not finite or beyond [`LIMIT`].
    pub fn shaped_rest(&self, shape: &[f32], out: &mut [Vec3]) -> Result<(), AnimateError> {
        self.check_shape(shape)?;
        self.check_output(out.len())?;
        out.copy_from_slice(&self.rest);
        for (coefficient, direction) in shape.iter().zip(&self.shape_directions) {
            for (x, d) in out.iter_mut().zip(direction) {
                *x += *d * *coefficient;
            }
        }
        Ok(())
    }

    /// Carries unposed positions to the world: forward skinning.
    ///
    /// # Errors
    /// When lengths differ, or the body or a position is not finite.
    pub fn pose(
        &self,
        body: &BodyFrame<'_>,
        unposed: &[Vec3],
        out: &mut [Vec3],
    ) -> Result<(), AnimateError> {
        let mut scratch = self.scratch();
        let transforms = self.transforms(body, &mut scratch)?;
        self.check_output(unposed.len())?;
        self.check_output(out.len())?;
        check_positions(unposed)?;
        skin_positions(&self.weights, transforms, unposed, out);
        Ok(())
    }

    /// Carries world positions to the unposed space: inverse skinning. Sound
    /// where [`conditioning`](Self::conditioning) is well above 0.
    ///
    /// # Errors
    /// When lengths differ, the body or a position is not finite, or the blend
    /// of a vertex is singular; `out` is then unchanged.
    pub fn unpose(
        &self,
        body: &BodyFrame<'_>,
        world: &[Vec3],
        out: &mut [Vec3],
    ) -> Result<(), AnimateError> {
        let mut scratch = self.scratch();
        let transforms = self.transforms(body, &mut scratch)?;
        self.check_output(world.len())?;
        self.check_output(out.len())?;
        check_positions(world)?;
        let blended = |vertex| blended_transform(&self.weights, vertex, transforms);
        for vertex in 0..world.len() {
            if blended(vertex).matrix3.determinant().abs() < SINGULAR {
                return Err(AnimateError::Singular { vertex });
            }
        }
        for (vertex, (world, out)) in world.iter().zip(out).enumerate() {
            *out = blended(vertex).inverse().transform_point3(*world);
        }
        Ok(())
    }

    /// The smallest singular value of any vertex's blended matrix, and that
    /// vertex: 1 is rigid, 0 is where inverse skinning breaks down.
    ///
    /// # Errors
    /// When the body does not fit.
    pub fn conditioning(&self, body: &BodyFrame<'_>) -> Result<(f64, usize), AnimateError> {
        let mut scratch = self.scratch();
        let transforms = self.transforms(body, &mut scratch)?;
        let mut worst = (f64::INFINITY, 0);
        for vertex in 0..self.rest.len() {
            let blended: Affine3A = blended_transform(&self.weights, vertex, transforms);
            let value = smallest_singular_value(blended.matrix3);
            if value < worst.0 {
                worst = (value, vertex);
            }
        }
        Ok(worst)
    }

    /// A state on the template body, for who steps several garments in one.
    pub(crate) fn room(&self) -> SkinnedState {
        SkinnedState {
            shape: vec![0.0; self.shape_directions.len()],
            rest: self.rest.clone(),
            transforms: self.scratch(),
        }
    }

    /// Room for the transforms of a frame; none is needed without halfway joints.
    fn scratch(&self) -> Vec<Affine3A> {
        match self.rig.halfway() {
            HalfwayJoints::On => vec![Affine3A::IDENTITY; self.rig.n_transforms()],
            HalfwayJoints::Off => Vec::new(),
        }
    }

    /// The transforms of all joints that weights may name, made in `scratch`
    /// where the body does not have them, after a check of the body.
    fn transforms<'a>(
        &self,
        body: &BodyFrame<'a>,
        scratch: &'a mut [Affine3A],
    ) -> Result<&'a [Affine3A], AnimateError> {
        self.check_body(body)?;
        match self.rig.halfway() {
            HalfwayJoints::Off => Ok(body.world_from_rest),
            HalfwayJoints::On => {
                self.rig
                    .transforms(body.world_from_rest, body.joint_positions, scratch)?;
                Ok(scratch)
            }
        }
    }

    /// Writes the transforms of all joints that weights may name, after a check
    /// of the body.
    pub(crate) fn blend_transforms(
        &self,
        body: &BodyFrame<'_>,
        out: &mut [Affine3A],
    ) -> Result<(), AnimateError> {
        self.check_body(body)?;
        self.rig
            .transforms(body.world_from_rest, body.joint_positions, out)
    }

    pub(crate) fn check_body(&self, body: &BodyFrame<'_>) -> Result<(), AnimateError> {
        let expected = self.rig.n_joints();
        for found in [body.world_from_rest.len(), body.joint_positions.len()] {
            if found != expected {
                return Err(AnimateError::Joints { found, expected });
            }
        }
        if are_sound(body) {
            return Ok(());
        }
        for transform in body.world_from_rest {
            let m = &transform.matrix3;
            for column in [m.x_axis, m.y_axis, m.z_axis] {
                check_magnitude(column, "joint matrix")?;
            }
            check_magnitude(transform.translation, "joint translation [m]")?;
        }
        for position in body.joint_positions {
            check_magnitude(Vec3A::from(*position), "joint position [m]")?;
        }
        Ok(())
    }

    pub(crate) fn check_state(&self, state: &SkinnedState) -> Result<(), AnimateError> {
        let made = [
            ("vertices", state.rest.len(), self.rest.len()),
            (
                "shape coefficients",
                state.shape.len(),
                self.shape_directions.len(),
            ),
            (
                "joint transforms",
                state.transforms.len(),
                match self.rig.halfway() {
                    HalfwayJoints::On => self.rig.n_transforms(),
                    HalfwayJoints::Off => 0,
                },
            ),
        ];
        match made
            .into_iter()
            .find(|(_, found, expected)| found != expected)
        {
            Some((what, found, expected)) => Err(AnimateError::State {
                what,
                found,
                expected,
            }),
            None => Ok(()),
        }
    }

    pub(crate) fn check_shape(&self, shape: &[f32]) -> Result<(), AnimateError> {
        if shape.len() != self.shape_directions.len() {
            return Err(AnimateError::Shape {
                found: shape.len(),
                expected: self.shape_directions.len(),
            });
        }
        for coefficient in shape {
            check_magnitude(Vec3A::splat(*coefficient), "shape coefficient")?;
        }
        Ok(())
    }

    pub(crate) fn check_output(&self, found: usize) -> Result<(), AnimateError> {
        let expected = self.rest.len();
        if found == expected {
            Ok(())
        } else {
            Err(AnimateError::Output { found, expected })
        }
    }
}

impl GarmentAnimator for SkinnedGarment {
    type State = SkinnedState;

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn frame_step(&self) -> Seconds {
        self.frame_rate.frame_step()
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<SkinnedState, AnimateError> {
        let mut transforms = self.scratch();
        self.transforms(body, &mut transforms)?;
        let mut rest = self.rest.clone();
        self.shaped_rest(body.shape, &mut rest)?;
        Ok(SkinnedState {
            shape: body.shape.to_vec(),
            rest,
            transforms,
        })
    }

    fn step(
        &self,
        state: &mut SkinnedState,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        self.check_state(state)?;
        self.check_output(out.len())?;
        self.check_shape(body.shape)?;
        let transforms = self.transforms(body, &mut state.transforms)?;
        if state.shape != body.shape {
            self.shaped_rest(body.shape, &mut state.rest)?;
            state.shape.copy_from_slice(body.shape);
        }
        skin_positions(&self.weights, transforms, &state.rest, out);
        Ok(StepReport::default())
    }
}

/// Finite and within [`LIMIT`].
fn sound(x: Vec3) -> bool {
    x.is_finite() && x.abs().max_element() <= LIMIT
}

/// Whether all joints of a body are finite and within [`LIMIT`], without saying
/// which is not.
fn are_sound(body: &BodyFrame<'_>) -> bool {
    let (mut largest, mut nothing) = (Vec3A::ZERO, Vec3A::ZERO);
    for transform in body.world_from_rest {
        let m = &transform.matrix3;
        for column in [m.x_axis, m.y_axis, m.z_axis, transform.translation] {
            largest = largest.max(column.abs());
            // NaN or infinite once is NaN for ever.
            nothing += column * 0.0;
        }
    }
    for position in body.joint_positions {
        let position = Vec3A::from(*position);
        largest = largest.max(position.abs());
        nothing += position * 0.0;
    }
    nothing == Vec3A::ZERO && largest.max_element() <= LIMIT
}

pub(crate) fn check_magnitude(x: Vec3A, what: &'static str) -> Result<(), AnimateError> {
    if !x.is_finite() {
        Err(AnimateError::NotFinite)
    } else if x.abs().max_element() > LIMIT {
        Err(AnimateError::TooLarge { what, limit: LIMIT })
    } else {
        Ok(())
    }
}

fn check_positions(positions: &[Vec3]) -> Result<(), AnimateError> {
    positions
        .iter()
        .try_for_each(|p| check_magnitude(Vec3A::from(*p), "position [m]"))
}

/// The smallest singular value of a matrix, from the eigenvalues of AᵀA in
/// closed form (the trigonometric solution of the cubic).
fn smallest_singular_value(matrix: Mat3A) -> f64 {
    let a = DMat3::from_cols(
        glam::Vec3::from(matrix.x_axis).as_dvec3(),
        glam::Vec3::from(matrix.y_axis).as_dvec3(),
        glam::Vec3::from(matrix.z_axis).as_dvec3(),
    );
    let s = a.transpose() * a;
    let mean = (s.x_axis.x + s.y_axis.y + s.z_axis.z) / 3.0;
    let b = s - DMat3::from_diagonal(glam::DVec3::splat(mean));
    let p_sq =
        (b.x_axis.length_squared() + b.y_axis.length_squared() + b.z_axis.length_squared()) / 6.0;
    if p_sq < 1e-24 {
        return libm::sqrt(mean.max(0.0));
    }
    let p = libm::sqrt(p_sq);
    let r = ((b * (1.0 / p)).determinant() / 2.0).clamp(-1.0, 1.0);
    let phi = libm::acos(r) / 3.0;
    let smallest = mean + 2.0 * p * libm::cos(phi + core::f64::consts::TAU / 3.0);
    libm::sqrt(smallest.max(0.0))
}

#[cfg(test)]
mod tests {
    use glam::{Mat3, Quat};

    use super::*;

    #[test]
    fn singular_values_of_known_matrices() {
        let turn = Mat3A::from_quat(Quat::from_scaled_axis(Vec3::new(0.3, -1.0, 0.4)));
        let cases = [
            ([1.0, 1.0, 1.0], 1.0),
            ([3.0, 0.25, 2.0], 0.25),
            ([1.0, 0.0, 1.0], 0.0),
        ];
        for (diagonal, expected) in cases {
            let stretched = turn * Mat3A::from(Mat3::from_diagonal(Vec3::from(diagonal)));
            let found = smallest_singular_value(stretched);
            assert!((found - expected).abs() < 1e-4, "{diagonal:?}: {found}");
        }
    }

    #[test]
    fn half_and_half_of_two_turns_shrinks_by_the_cosine_of_half_the_angle() {
        for angle in [0.5f32, 1.5, 2.5] {
            let blend = (Mat3A::IDENTITY + Mat3A::from_rotation_z(angle)) * 0.5;
            let found = smallest_singular_value(blend);
            assert!((found - f64::from(libm::cosf(angle / 2.0))).abs() < 1e-5);
        }
    }
}
