//! Elastic cloth: energies on the flat rest shape of a garment.
//!
//! The elastic energies, each with value, gradient and Hessian ([`Membrane`] for
//! stretch and shear, [`Bending`] for curvature), and [`minimise`], which finds
//! where a [`Cloth`] comes to rest under a load, or where a step of implicit
//! Euler takes it. [`bending_length`] measures a fabric as a laboratory does.
//! Damping, contact and a fast solver are still to come.

mod bending;
mod bending_length;
mod cloth;
mod contact;
mod direct;
mod edge_slope;
mod iterative;
mod membrane;
mod near_matrix;
mod newton;
mod objective;
mod preconditioner;
mod reduced;
mod reduction;
mod rest_curvature;
mod rest_shape;
mod scalar_matrix;
mod simulation;
mod specimen;
pub mod textbook;
mod wind;

pub use bending::{Bending, ClampedEdge};
pub use bending_length::{BendingLength, BendingLengthError, StripDirection, bending_length};
pub use cloth::Cloth;
pub use contact::{
    Advance, Anchor, Bounds, BoxTree, Clearance, ClothPoint, EdgeRegion, MeshBoxes, MeshObstacle,
    MutualCrossings, Obstacle, ObstacleError, Penetration, Placement, Proximity, RigidObstacle,
    Shape, ShapeError, SurfacePoint, TriangleRegion, advance_edge_edge, advance_vertex_face,
    cloth_points, crossings, edge_crosses_face, edge_edge, edge_sine_sq, orientation, penetration,
    point_triangle, self_crossings,
};
pub use membrane::{Membrane, StrainCap};
pub use newton::{Load, Minimiser, NewtonConfig, SolveError, SolveReport, Solver, minimise};
pub use objective::{Damping, Inertia, Objective, Spring};
pub use reduced::{Basis, BasisError};
pub use rest_shape::{RestShape, RestShapeError};
pub use simulation::{
    Attachment, Diverged, EnergyBudget, Integrator, Simulation, SimulationConfig, SimulationError,
    StepReport,
};
pub use specimen::{DrapedDisc, HangingCloth, Specimen, SpecimenError, StripOverEdge};
pub use wind::Wind;
