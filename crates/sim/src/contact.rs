//! Contact: how near cloth is to itself and to obstacles, how far it may move,
//! whether it has crossed anything, and what keeps it from doing so.
//!
//! | question                              | answer                                  |
//! |---------------------------------------|-----------------------------------------|
//! | which primitives may come near        | [`MeshBoxes`], [`BoxTree`]              |
//! | how near two of them are              | [`point_triangle`], [`edge_edge`]       |
//! | how far they may move                 | [`advance_vertex_face`], [`advance_edge_edge`], [`RigidObstacle::advance`] |
//! | what a point meets on its way         | [`RigidObstacle::meets`], [`MeshObstacle::meets`] |
//! | what an obstacle says about a point   | [`Obstacle::nearest`], with an [`Anchor`] for friction |
//! | how deep a cloth is in an obstacle    | [`penetration`]                         |
//! | whether anything has been crossed     | [`self_crossings`], [`crossings`]       |
//!
//! Cloth on cloth has no inside: its pairs must never cross, and are kept apart
//! step by step; what is set down crossed is led apart (`pairs/tangle.rs`).
//! Obstacles are solids: a point inside one knows the way out.
//! Pair lists are sorted and all answers are the same on every run.
//!
//! Forces are those of a [`Touch`], the one thing that the objective knows of
//! contact: `surface.rs` makes touches of points of the cloth with obstacles,
//! `pairs.rs` of cloth with cloth and with the edges and vertices of meshes.

mod absence;
mod block;
mod boxes;
mod candidates;
mod closest;
mod continuous;
mod contours;
mod crossings;
mod hardening;
mod mesh_meeting;
mod mesh_part;
mod obstacle;
mod obstacle_mesh;
mod orientation;
mod pairs;
mod penetration;
mod shape;
mod surface;
#[cfg(test)]
pub(crate) mod test_meshes;
mod touch;
mod weave;
mod winding;

pub use block::Bounds;
pub use boxes::BoxTree;
pub use candidates::MeshBoxes;
pub use closest::{EdgeRegion, Proximity, TriangleRegion, edge_edge, edge_sine_sq, point_triangle};
pub use continuous::{Advance, Clearance, advance_edge_edge, advance_vertex_face};
pub use crossings::{MutualCrossings, crossings, edge_crosses_face, self_crossings};
pub use obstacle::{Anchor, Obstacle, Placement, RigidObstacle, SurfacePoint};
pub use obstacle_mesh::{MeshObstacle, ObstacleError};
pub use orientation::orientation;
pub(crate) use pairs::{MeshPairs, PairContacts, PairKeeping, PairSettings};
pub use penetration::{ClothPoint, Penetration, cloth_points, penetration};
pub use shape::{Shape, ShapeError};
pub(crate) use surface::{LookAt, SurfaceContacts, SurfaceSettings};
pub use touch::{Friction, Touch};
