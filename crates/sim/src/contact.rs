//! The geometry of contact: how near cloth is to itself and to obstacles, how
//! far it may move, and whether it has crossed anything.
//!
//! | question                              | answer                                  |
//! |---------------------------------------|-----------------------------------------|
//! | nearest points of two primitives      | [`point_triangle`], [`edge_edge`]       |

mod closest;

pub use closest::{EdgeRegion, Proximity, TriangleRegion, edge_edge, edge_sine_sq, point_triangle};
