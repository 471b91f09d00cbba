//! Bodies: the [`BodyModel`] seam, and the [`BodyFrame`] that animators see.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use glam::{Affine3A, Quat, Vec3};

use crate::{JointVelocity, Pose, PoseVelocity, Skeleton, SkinWeights, Topology};

/// A direction in which a body's shape can change.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeParameter {
    /// What it is called, such as `height`.
    pub name: String,
    /// The smallest value that looks sound.
    pub min: f32,
    /// The largest value that looks sound.
    pub max: f32,
}

/// A body of one shape, unposed.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapedBody {
    /// The shape coefficients it was made with.
    pub shape: Vec<f32>,
    /// Rest vertices [m].
    pub rest: Vec<Vec3>,
    /// Rest positions of the joints [m].
    pub joints: Vec<Vec3>,
}

/// A body in the world at one instant; reused from frame to frame.
#[derive(Clone, Debug, PartialEq)]
pub struct PosedBody {
    /// The pose that put it there.
    pub pose: Pose,
    /// How fast the pose changes.
    pub velocity: PoseVelocity,
    /// World rotations of the joints.
    pub joint_rotations: Vec<Quat>,
    /// World positions of the joints [m].
    pub joint_positions: Vec<Vec3>,
    /// World velocities of the joints.
    pub joint_velocities: Vec<JointVelocity>,
    /// World from rest for each joint.
    pub world_from_rest: Vec<Affine3A>,
    /// World positions of the body's vertices [m].
    pub vertices: Vec<Vec3>,
    /// Rest vertices with the corrections of this pose [m], which the joints
    /// then move; empty for a body without pose blend shapes.
    pub rest_posed: Vec<Vec3>,
}

impl PosedBody {
    /// Room for a body of that many joints and vertices.
    pub fn with_room(n_joints: usize, n_vertices: usize) -> Self {
        Self {
            pose: Pose::identity(Vec3::ZERO, n_joints),
            velocity: PoseVelocity::zero(n_joints),
            joint_rotations: vec![Quat::IDENTITY; n_joints],
            joint_positions: vec![Vec3::ZERO; n_joints],
            joint_velocities: vec![JointVelocity::default(); n_joints],
            world_from_rest: vec![Affine3A::IDENTITY; n_joints],
            vertices: vec![Vec3::ZERO; n_vertices],
            rest_posed: Vec::new(),
        }
    }

    /// Fills in all that concerns the joints; the vertices stay as they are.
    ///
    /// # Panics
    /// When lengths differ from the skeleton's.
    pub fn pose_joints(
        &mut self,
        skeleton: &Skeleton,
        rest: &[Vec3],
        pose: &Pose,
        velocity: &PoseVelocity,
    ) {
        // Into the room that is there: a whole pose cloned would be a new one.
        self.pose.root = pose.root;
        self.pose.rotations.clone_from(&pose.rotations);
        self.velocity.root = velocity.root;
        self.velocity.angular.clone_from(&velocity.angular);
        skeleton.globals(
            rest,
            pose,
            &mut self.joint_rotations,
            &mut self.joint_positions,
        );
        skeleton.velocities(
            &self.joint_rotations,
            &self.joint_positions,
            velocity,
            &mut self.joint_velocities,
        );
        for (joint, rest) in rest.iter().enumerate() {
            self.world_from_rest[joint] = Skeleton::world_from_rest(
                *rest,
                self.joint_rotations[joint],
                self.joint_positions[joint],
            );
        }
    }

    /// What an animator sees of this body.
    pub fn frame<'a>(&'a self, body: &'a ShapedBody, surroundings: Surroundings) -> BodyFrame<'a> {
        BodyFrame {
            pose: &self.pose,
            velocity: &self.velocity,
            joint_positions: &self.joint_positions,
            joint_velocities: &self.joint_velocities,
            world_from_rest: &self.world_from_rest,
            vertices: &self.vertices,
            shape: &body.shape,
            surroundings,
        }
    }
}

/// What acts on cloth beside the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Velocity of the air [m/s].
    pub wind: Vec3,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            wind: Vec3::ZERO,
        }
    }
}

/// The body at one frame, as a [`GarmentAnimator`](crate::GarmentAnimator) sees it.
#[derive(Clone, Copy, Debug)]
pub struct BodyFrame<'a> {
    /// The pose.
    pub pose: &'a Pose,
    /// How fast it changes.
    pub velocity: &'a PoseVelocity,
    /// World positions of the joints [m].
    pub joint_positions: &'a [Vec3],
    /// World velocities of the joints.
    pub joint_velocities: &'a [JointVelocity],
    /// World from rest for each joint.
    pub world_from_rest: &'a [Affine3A],
    /// World positions of the body's vertices [m].
    pub vertices: &'a [Vec3],
    /// Shape coefficients.
    pub shape: &'a [f32],
    /// Wind and gravity.
    pub surroundings: Surroundings,
}

/// Coefficients that don't fit a body's shape space.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// More or fewer coefficients than the model has.
    #[error("{found} shape coefficients given, the body has {expected}")]
    Length {
        /// How many were given.
        found: usize,
        /// How many there are.
        expected: usize,
    },
    /// A coefficient is not a number.
    #[error("shape coefficient {index} is not finite")]
    NotFinite {
        /// Its index.
        index: usize,
    },
}

/// A pose that doesn't fit a body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseError {
    /// More or fewer rotations than joints.
    #[error("the pose has {found} joint rotations, the body has {expected} joints")]
    Joints {
        /// How many rotations.
        found: usize,
        /// How many joints.
        expected: usize,
    },
    /// A rotation, the root or a velocity is not a number.
    #[error("the pose or its velocity has a value that is not finite")]
    NotFinite,
    /// A rotation is not of unit length.
    #[error("the rotation of joint {joint} is not of unit length")]
    NotUnit {
        /// The joint's index.
        joint: usize,
    },
    /// The shaped body, or the room for the posed one, is of another model.
    #[error("{what}: room for {found}, the body has {expected}")]
    Size {
        /// Which array.
        what: &'static str,
        /// How many entries it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
}

/// A character: shape and pose in; vertices, joints and skinning weights out.
///
/// A parametric human and a skinned glTF character are equals.
pub trait BodyModel: Send + Sync {
    /// How the body's vertices are joined; welded, so that a closed body is closed.
    fn topology(&self) -> &Topology;

    /// The joints of the template (shape 0).
    fn skeleton(&self) -> &Skeleton;

    /// The shape space; empty for a character of one shape.
    fn shape_parameters(&self) -> &[ShapeParameter];

    /// Which joints the body's vertices follow.
    fn skin_weights(&self) -> &SkinWeights;

    /// The body of a shape, unposed.
    ///
    /// # Errors
    /// When the coefficients don't fit.
    fn shaped(&self, shape: &[f32]) -> Result<ShapedBody, ShapeError>;

    /// Poses `body` into `out`, which has room for it; nothing is allocated
    /// when `out` was posed by this model before. Rotations are of unit
    /// length to [`Pose::UNIT_TOLERANCE`].
    ///
    /// # Errors
    /// When the pose, the shaped body or the room don't fit, the pose or its
    /// velocity is not finite, or a rotation is not of unit length. Then `out`
    /// is as it was.
    fn pose(
        &self,
        body: &ShapedBody,
        pose: &Pose,
        velocity: &PoseVelocity,
        out: &mut PosedBody,
    ) -> Result<(), PoseError>;

    /// Room for this body.
    fn room(&self) -> PosedBody {
        PosedBody::with_room(self.skeleton().len(), self.topology().n_vertices())
    }
}
