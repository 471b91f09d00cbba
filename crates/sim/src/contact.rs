//! The geometry of contact: how near cloth is to itself and to obstacles, how
//! far it may move, and whether it has crossed anything.
//!
//! | question                              | answer                                  |
//! |---------------------------------------|-----------------------------------------|
//! | nearest points of two primitives      | [`point_triangle`], [`edge_edge`]       |
//! | how far a pair may move before it comes too near | [`advance_vertex_face`], [`advance_edge_edge`] |

mod closest;
mod continuous;

pub use closest::{EdgeRegion, Proximity, TriangleRegion, edge_edge, edge_sine_sq, point_triangle};
pub use continuous::{Advance, Clearance, advance_edge_edge, advance_vertex_face};
