//! The geometry of contact: how near cloth is to itself and to obstacles, how
//! far it may move, and whether it has crossed anything.
//!
//! | question                              | answer                                  |
//! |---------------------------------------|-----------------------------------------|
//! | nearest points of two primitives      | [`point_triangle`], [`edge_edge`]       |
//! | which primitives may come near        | [`MeshBoxes`], [`BoxTree`]              |
//! | how far a pair may move before it comes too near | [`advance_vertex_face`], [`advance_edge_edge`] |

mod block;
mod boxes;
mod candidates;
mod closest;
mod continuous;
#[cfg(test)]
mod test_meshes;

pub use block::Bounds;
pub use boxes::BoxTree;
pub use candidates::MeshBoxes;
pub use closest::{EdgeRegion, Proximity, TriangleRegion, edge_edge, edge_sine_sq, point_triangle};
pub use continuous::{Advance, Clearance, advance_edge_edge, advance_vertex_face};
