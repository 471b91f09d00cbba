//! How well an animated garment matches the simulation of it.
//!
//! One file a metric, each with its formula; everything is summed frame by frame,
//! and no dataset needs to fit into memory. [`Course::roll_out`] runs any method
//! over a stored sequence, open-loop, and gives a [`Tally`]; tallies of clips are
//! merged, and [`Tally::metrics`] says what they come to.
//!
//! ```
//! use drapery_eval::{Facts, Tally};
//! use glam::Vec3;
//!
//! // Two vertices, of which one is 3 cm from where the simulation has it.
//! let simulated = [Vec3::ZERO, Vec3::X];
//! let found = [Vec3::ZERO, Vec3::X + Vec3::Y * 0.03];
//! let mut tally = Tally::default();
//! tally.distances.add(&found, &simulated);
//! let metrics = tally.metrics(&Facts::default());
//! assert!((metrics.mean_cm - 1.5).abs() < 1e-4 && (metrics.max_cm - 3.0).abs() < 1e-4);
//! ```

mod bounding_sphere;
mod depths;
mod detail;
mod distance;
mod histogram;
mod mask;
mod motion;
mod moving;
mod near_points;
mod open_loop;
mod penetration;
mod plot;
mod smoothing;
mod strain;
mod swing;
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
pub use penetration::{DeepPlace, Penetration, PenetrationMeter};
pub use plot::Plot;
pub use smoothing::{LENGTH, RestSurface};
pub use strain::{RestEdges, StrainCounts, p99};
pub use swing::Swing;
pub use tally::{Before, Confidence, Facts, Metrics, Tally};
pub use wrinkles::{WrinkleSums, wrinkles};
