//! Cloth that moves: elastic energies, contact and friction in one objective,
//! and the solvers that minimise it step by step.
//!
//! ```
//! use drapery_core::Fabric;
//! use drapery_sim::textbook::{Rectangle, Triangulation};
//! use drapery_sim::{Cloth, Simulation, SimulationConfig};
//! use glam::DVec3;
//!
//! // A cloth of 1 m × 1 m that hangs by two corners.
//! let sheet = Rectangle::new(1.0, 8, 8, Triangulation::Aligned)?;
//! let fabric = Fabric::plain("cotton", 0.15, 800.0, 1e-5);
//! let cloth = Cloth::new(&sheet.rest, &fabric, &[])?;
//! let level = sheet.points.iter().map(|p| DVec3::new(p.x, 0.0, p.y)).collect();
//! let mut simulation = Simulation::new(cloth, level, SimulationConfig::default())?;
//! simulation.hold(0)?;
//! simulation.hold(8)?;
//! for _ in 0..30 {
//!     simulation.step()?;
//! }
//! assert!(simulation.positions()[80].y < -0.01, "the far corner has fallen");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | what                      | where                                          |
//! |---------------------------|------------------------------------------------|
//! | stretch, bending          | [`Membrane`], [`Bending`] over a [`RestShape`], together a [`Cloth`] |
//! | the function of a step    | [`Objective`]                                  |
//! | its minimum               | [`Minimiser`]: in full, or within a [`Basis`]  |
//! | time                      | [`Simulation`]                                 |
//! | obstacles, cloth on cloth | [`Obstacle`], [`Touch`]                        |
//! | whether it is right       | [`textbook`]                                   |
//! | what fabrics look like    | [`StripOverEdge`], [`drape()`], [`HangingCloth`] |

mod bending;
mod bending_length;
mod cloth;
mod contact;
mod direct;
mod drape;
mod edge_slope;
mod flesh;
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
mod stopwatch;
pub mod textbook;
mod wind;

pub use bending::{Bending, ClampedEdge};
pub use bending_length::{BendingLength, BendingLengthError, StripDirection, bending_length};
pub use cloth::{Cloth, ClothError, Piece};
pub use contact::{
    Advance, Anchor, Bounds, BoxTree, Clearance, ClothPoint, EdgeRegion, Friction, MeshBoxes,
    MeshObstacle, MutualCrossings, Obstacle, ObstacleError, Penetration, Placement, Proximity,
    RigidObstacle, Shape, ShapeError, SurfacePoint, Touch, TriangleRegion, advance_edge_edge,
    advance_vertex_face, cloth_points, crossings, edge_crosses_face, edge_edge, edge_sine_sq,
    orientation, penetration, point_triangle, self_crossings,
};
pub use drape::{Drape, DrapeConfig, DrapeError, drape};
pub use flesh::{Flesh, FleshConfig, Overlap, Yielding};
pub use membrane::{Membrane, StrainCap};
pub use newton::{Load, Minimiser, NewtonConfig, SolveError, SolveReport, Solver, minimise};
pub use objective::{Damping, Inertia, Objective, Spring};
pub use reduced::{Basis, BasisError};
pub use rest_shape::{RestShape, RestShapeError};
pub use simulation::{
    Attachment, ContactConfig, Diverged, EnergyBudget, Failure, Integrator, SelfContactConfig,
    Simulation, SimulationConfig, SimulationError, StepReport,
};
pub use specimen::{HangingCloth, Specimen, SpecimenError, StripOverEdge};
pub use stopwatch::TimeSpent;
pub use wind::Wind;
