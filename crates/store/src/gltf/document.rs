//! What a glTF file holds, as plain arrays: [`GltfDocument`].
//!
//! Everything is as the file has it: mesh positions in mesh space, transforms
//! local to the parent, vertices in the file's order. Every index is in range,
//! every number finite, and the nodes form trees.

use glam::{Mat4, Quat, Vec2, Vec3};

/// The content of a glTF file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfDocument {
    /// What wrote the file, if it says so.
    pub generator: Option<String>,
    /// All nodes.
    pub nodes: Vec<GltfNode>,
    /// The top nodes of the scene that is shown; those without a parent when
    /// the file names no scene.
    pub roots: Vec<u32>,
    /// All meshes.
    pub meshes: Vec<GltfMesh>,
    /// All skins.
    pub skins: Vec<GltfSkin>,
    /// All animations.
    pub animations: Vec<GltfAnimation>,
}

/// A node of the scene tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfNode {
    /// What it is called.
    pub name: Option<String>,
    /// The node above it.
    pub parent: Option<u32>,
    /// The nodes below it.
    pub children: Vec<u32>,
    /// Parent from node.
    pub transform: NodeTransform,
    /// The mesh it shows.
    pub mesh: Option<u32>,
    /// The skin that bends the mesh.
    pub skin: Option<u32>,
}

/// Where a node is relative to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NodeTransform {
    /// Scale, then rotation, then translation.
    Parts {
        /// Translation, in the parent's unit.
        translation: Vec3,
        /// Rotation, unit length.
        rotation: Quat,
        /// Scale along each axis.
        scale: Vec3,
    },
    /// An affine matrix; such a node is not animated.
    Matrix(Mat4),
}

impl Default for NodeTransform {
    fn default() -> Self {
        Self::Parts {
            translation: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            scale: Vec3::ONE,
        }
    }
}

/// A mesh of one or more primitives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfMesh {
    /// What it is called.
    pub name: Option<String>,
    /// Its triangles, by material.
    pub primitives: Vec<GltfPrimitive>,
    /// Primitives of points and lines that were passed over.
    pub n_skipped: u32,
    /// How many morph targets every primitive has.
    pub n_targets: u32,
    /// Names of the morph targets from `extras.targetNames`; empty when the
    /// file names none.
    pub target_names: Vec<String>,
    /// Weights of the morph targets while nothing animates them; empty when
    /// the file gives none.
    pub weights: Vec<f32>,
    /// What else the file says of the mesh; null when nothing.
    pub extras: serde_json::Value,
}

/// Triangles of one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfPrimitive {
    /// Which primitive of the mesh in the file it is.
    pub index: u32,
    /// Positions in mesh space, shape [vertex].
    pub positions: Vec<Vec3>,
    /// Triangles; strips and fans are taken apart, shape [triangle, 3].
    pub triangles: Vec<[u32; 3]>,
    /// Joints and weights, four a set; empty for a rigid mesh.
    pub joint_sets: Vec<JointSet>,
    /// `TEXCOORD_0`, shape [vertex]; empty when there are none.
    pub texture_coordinates: Vec<Vec2>,
    /// Position displacements of the morph targets, shape [target][vertex].
    pub targets: Vec<Vec<Vec3>>,
}

/// Four joints and weights a vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointSet {
    /// Positions in the skin's list of joints, shape [vertex, 4].
    pub joints: Vec<[u16; 4]>,
    /// Weights, shape [vertex, 4].
    pub weights: Vec<[f32; 4]>,
}

/// The joints that bend a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfSkin {
    /// What it is called.
    pub name: Option<String>,
    /// The nodes that are joints, each once; at least one.
    pub joints: Vec<u32>,
    /// Joint from mesh space in the bind pose, shape [joint]; affine and
    /// invertible. Absent when the file has none, which means identities.
    pub inverse_binds: Option<Vec<Mat4>>,
    /// The node that the file calls the root of the skeleton.
    pub skeleton: Option<u32>,
}

/// A named motion of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfAnimation {
    /// What it is called.
    pub name: Option<String>,
    /// Its tracks. Channels without a node are passed over.
    pub channels: Vec<GltfChannel>,
}

/// A track of one property of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfChannel {
    /// The node that moves.
    pub node: u32,
    /// How values between keys are found.
    pub interpolation: Interpolation,
    /// Times of the keys [s], from 0 or later, strictly increasing; at least one.
    pub times: Vec<f32>,
    /// One value a key, or three with [`Interpolation::CubicSpline`]: tangent
    /// in, value, tangent out.
    pub values: ChannelValues,
}

/// How values between keys are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// The value of the key before.
    Step,
    /// On the line between keys; on the great arc for rotations.
    #[default]
    Linear,
    /// Hermite splines with given tangents.
    CubicSpline,
}

/// What a channel moves.
#[derive(Clone, Debug, PartialEq)]
pub enum ChannelValues {
    /// Translations, in the unit of the node's parent.
    Translation(Vec<Vec3>),
    /// Rotations as the file has them: key values are not zero, but need not
    /// be of unit length.
    Rotation(Vec<Quat>),
    /// Scales.
    Scale(Vec<Vec3>),
    /// Weights of the morph targets, shape [value, target].
    Weights(Vec<f32>),
}
