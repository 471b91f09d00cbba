//! Elastic cloth: energies on the flat rest shape of a garment.
//!
//! So far the two elastic energies, each with value, gradient and Hessian:
//! [`Membrane`] for stretch and shear, [`Bending`] for curvature. The step that
//! minimises them together with inertia is still to come.

mod bending;
mod fabric;
mod membrane;
mod rest_shape;

pub use bending::{Bending, ClampedEdge};
pub use fabric::{Fabric, FabricError};
pub use membrane::Membrane;
pub use rest_shape::{RestShape, RestShapeError};
