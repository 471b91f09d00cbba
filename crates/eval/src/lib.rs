//! How well an animated garment matches the simulation of it.
//!
//! One file a metric (DESIGN §7), each with its formula; everything is summed
//! frame by frame, and no dataset needs to fit into memory.

mod bounding_sphere;
mod depths;
mod detail;
mod distance;
mod histogram;
mod mask;
mod motion;
mod moving;
mod open_loop;
mod penetration;
mod plot;
mod smoothing;
mod strain;
mod tally;
mod wrinkles;

pub use bounding_sphere::bounding_radius;
pub use depths::{DEEP, Depths, Masked, REACH};
pub use detail::{Detail, DetailSums};
pub use distance::Distances;
pub use histogram::Histogram;
pub use mask::{MASK_RADIUS, SelfContact, SelfContactMask};
pub use motion::{MotionErrors, MotionMeter};
pub use moving::pose_velocity;
pub use open_loop::{BLOCK, Course, EvalError, Method, Runner, SeenFrame};
pub use penetration::{Penetration, PenetrationMeter};
pub use plot::Plot;
pub use smoothing::{LENGTH, RestSurface};
pub use strain::{RestEdges, StrainCounts, p99};
pub use tally::{Before, Confidence, Facts, Metrics, Tally};
pub use wrinkles::{WrinkleSums, wrinkles};
