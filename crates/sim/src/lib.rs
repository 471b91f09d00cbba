//! Elastic cloth: energies on the flat rest shape of a garment.
//!
//! The elastic energies, each with value, gradient and Hessian ([`Membrane`] for
//! stretch and shear, [`Bending`] for curvature), and [`minimise`], which finds
//! where a [`Cloth`] comes to rest under a load, or where a step of implicit
//! Euler takes it. Damping, contact and a fast solver are still to come.

mod bending;
mod cloth;
mod membrane;
mod newton;
mod rest_shape;
pub mod textbook;

pub use bending::{Bending, ClampedEdge};
pub use cloth::Cloth;
pub use membrane::Membrane;
pub use newton::{Load, NewtonConfig, SolveError, SolveReport, minimise};
pub use rest_shape::{RestShape, RestShapeError};
