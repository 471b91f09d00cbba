//! The words of drapery: meshes, skeletons, poses, clips, garments, and the
//! traits at the seams between its parts.
//!
//! Everything here is in metres, seconds and radians, right-handed, +Y up; at
//! rest a character stands on y = 0, faces +Z and has its left hand towards +X.
//! Triangles are counter-clockwise seen from outside.
//!
//! The crate does no I/O, spawns no threads and needs only `alloc`.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod animator;
mod body;
mod canonical;
mod clip;
mod fabric;
mod garment;
mod halfway;
mod ids;
mod mesh;
mod pose;
mod skeleton;
mod skinning;
mod spatial;
mod time;
mod topology;
mod union_find;

pub use animator::{AnimateError, GarmentAnimator, StepReport};
pub use body::{
    BodyFrame, BodyModel, PoseError, PosedBody, ShapeError, ShapeParameter, ShapedBody,
    Surroundings,
};
pub use canonical::{CanonicalFrame, heading, unwrap_angles};
pub use clip::{Clip, ClipError};
pub use fabric::{Fabric, FabricError};
pub use garment::{Garment, GarmentError, Panel, Pattern, VertexGroup};
pub use halfway::{BlendRig, HalfwayJoints};
pub use ids::{FrameIndex, JointId, VertexId};
pub use mesh::{MeshError, TriMesh, vertex_normals};
pub use pose::{Pose, PoseVelocity};
pub use skeleton::{JointVelocity, Skeleton, SkeletonError};
pub use skinning::{SkinWeights, SkinWeightsError, blended_transform, skin_positions};
pub use spatial::{
    ClosestPoint, Meeting, PseudoNormals, RayCrossings, TriangleIntersection, TriangleTree,
    WindingField, closest_point_on, intersect_triangles, winding_number,
};
pub use time::{FrameRate, FrameRateError, Seconds};
pub use topology::{Edge, Topology, TopologyError};
pub use union_find::UnionFind;
