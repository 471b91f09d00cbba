//! What a user should know of how a glTF character was taken: [`GltfNote`].

use std::fmt;

/// Something in a glTF file that was taken in one of several ways, or looks
/// doubtful. Its `Display` is a sentence for people.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GltfNote {
    /// Several meshes share the skin and make one body.
    MergedMeshes {
        /// How many.
        n_meshes: usize,
    },
    /// There are several skins; the one with the most vertices was taken.
    OtherSkins {
        /// The one that was taken.
        skin: u32,
        /// How many bend a mesh.
        n_skins: usize,
        /// Vertices of the others.
        n_left_out: usize,
    },
    /// Meshes that follow no joints were left out.
    RigidMeshes {
        /// How many.
        n_meshes: usize,
    },
    /// Primitives of points or lines were left out.
    PointsAndLines {
        /// How many.
        n_primitives: u32,
    },
    /// Vertices without weights follow the first joint.
    Unweighted {
        /// How many.
        n_vertices: usize,
    },
    /// Vertices that follow more than eight joints keep the eight strongest.
    TrimmedWeights {
        /// How many vertices, after welding.
        n_vertices: usize,
        /// The largest share that one of them lost.
        largest: f32,
    },
    /// Several joints have no joint above them; one was made the root.
    ManyRoots {
        /// How many.
        n_roots: usize,
        /// The one that was made the root.
        root: String,
    },
    /// Joints without a name, or with one that was taken, got another.
    RenamedJoints {
        /// How many.
        n_joints: usize,
    },
    /// The file's default pose is not its bind pose; the latter is the rest pose.
    DefaultPose {
        /// The joint that is turned most.
        joint: String,
        /// By how much [rad].
        angle: f64,
        /// How many joints are turned or moved.
        n_joints: usize,
    },
    /// Without inverse bind matrices the default pose is the rest pose.
    NoInverseBinds,
    /// No skin tells which nodes are joints; the animated ones were taken, with
    /// the default pose as the rest pose.
    NodesAsJoints {
        /// How many joints there are.
        n_joints: usize,
    },
    /// Animated nodes that belong to no joint were left out.
    OtherNodes {
        /// How many.
        n_nodes: usize,
    },
    /// The root scales the body differently along its axes.
    UnevenScale {
        /// Scale of the mesh's axes.
        scale: [f64; 3],
    },
    /// The root mirrors the body; its triangles were turned over.
    Mirrored,
    /// Copies along seams were welded.
    Welded {
        /// How many.
        n_copies: usize,
    },
    /// Border edges that could be sewn in several ways were left open.
    AmbiguousSeams {
        /// How many.
        n_edges: usize,
    },
    /// Triangles with two corners in one place were dropped.
    FlatTriangles {
        /// How many.
        n_triangles: usize,
    },
    /// The file shows the body with morph targets at work; shape 0 is without.
    DefaultShape {
        /// The mesh.
        mesh: u32,
    },
    /// The height is unusual: the unit may not be the metre, or +Y not up.
    Height {
        /// Extent along y [m].
        height: f32,
    },
}

impl fmt::Display for GltfNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MergedMeshes { n_meshes } => {
                write!(
                    f,
                    "{n_meshes} meshes share the skin and were taken as one body"
                )
            }
            Self::OtherSkins {
                skin,
                n_skins,
                n_left_out,
            } => write!(
                f,
                "of {n_skins} skins, skin {skin} has the most vertices and was taken; {n_left_out} vertices were left out"
            ),
            Self::RigidMeshes { n_meshes } => {
                write!(f, "{n_meshes} meshes without a skin were left out")
            }
            Self::PointsAndLines { n_primitives } => {
                write!(
                    f,
                    "{n_primitives} primitives of points or lines were left out"
                )
            }
            Self::Unweighted { n_vertices } => {
                write!(
                    f,
                    "{n_vertices} vertices have no weights and follow the skin's first joint"
                )
            }
            Self::TrimmedWeights {
                n_vertices,
                largest,
            } => write!(
                f,
                "{n_vertices} vertices follow more than 8 joints; the weakest are dropped, at most {:.2} % of a vertex",
                100.0 * largest
            ),
            Self::ManyRoots { n_roots, root } => {
                write!(
                    f,
                    "{n_roots} joints have no parent; {root} was made the root of all"
                )
            }
            Self::RenamedJoints { n_joints } => {
                write!(
                    f,
                    "{n_joints} joints had no name or one that was taken, and got another"
                )
            }
            Self::DefaultPose {
                joint,
                angle,
                n_joints,
            } => write!(
                f,
                "the default pose is not the bind pose: {n_joints} joints differ, {joint} by {:.1} degrees; the bind pose is the rest pose",
                angle.to_degrees()
            ),
            Self::NoInverseBinds => f.write_str(
                "the skin has no inverse bind matrices; the default pose is the rest pose",
            ),
            Self::NodesAsJoints { n_joints } => write!(
                f,
                "the file has no skin for its animation; {n_joints} nodes were taken as joints, at rest in the default pose"
            ),
            Self::OtherNodes { n_nodes } => write!(
                f,
                "{n_nodes} animated nodes hang together with fewer others and were left out"
            ),
            Self::UnevenScale { scale: [x, y, z] } => write!(
                f,
                "the body is scaled unevenly, by {x:.3}, {y:.3} and {z:.3}; bent limbs will differ from the file's"
            ),
            Self::Mirrored => f.write_str("the body is mirrored; its triangles were turned over"),
            Self::Welded { n_copies } => {
                write!(f, "{n_copies} copies of vertices along seams were welded")
            }
            Self::AmbiguousSeams { n_edges } => write!(
                f,
                "{n_edges} border edges could be sewn in more than one way and were left open"
            ),
            Self::FlatTriangles { n_triangles } => write!(
                f,
                "{n_triangles} triangles with two corners in one place were dropped"
            ),
            Self::DefaultShape { mesh } => write!(
                f,
                "mesh {mesh} is shown with morph targets at work; shape 0 is without them"
            ),
            Self::Height { height } => write!(
                f,
                "the body is {height} m high at rest; glTF is in metres with +Y up, the file may not be"
            ),
        }
    }
}
