//! The one crate that instantiates heavy linear algebra, behind plain
//! functions over slices, so that the others rebuild in seconds.

mod branches;
mod cholesky;
mod lanes;
mod pattern;

pub use cholesky::{NotPositiveDefinite, SparseCholesky};
pub use lanes::{LANES, LaneCholesky, Lanes};
pub use pattern::{PatternError, SymmetricPattern};
