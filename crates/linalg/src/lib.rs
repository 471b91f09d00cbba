//! The one crate that instantiates heavy linear algebra, behind plain
//! functions over slices, so that the others rebuild in seconds.

mod branches;
mod cholesky;
mod dense;
mod general_eigen;
mod lanes;
mod pattern;

pub use cholesky::{NotPositiveDefinite, SparseCholesky};
pub use dense::{
    Dense, NoEigenvalues, SymmetricEigen, add_gram, add_product, mirror_upper, orthonormal_rows,
    product, symmetric_eigen,
};
pub use general_eigen::{
    Complex, GeneralEigen, general_eigen, general_eigenvalues, spectral_radius,
};
pub use lanes::{LANES, LaneCholesky, Lanes};
pub use pattern::{PatternError, SymmetricPattern};
