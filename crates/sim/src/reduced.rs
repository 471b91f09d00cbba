//! The same objective over fewer unknowns: x = x₀ + A q, for a [`Basis`] A.
//!
//! ```text
//! (AᵀHA) ∂q = −Aᵀ ∇Φ,   ∂x = A ∂q
//! ```
//!
//! With a complete basis this is the full step; with a small one it is the
//! subspace step of Adaptive Bases 2014.

use drapery_linalg::{SparseCholesky, SymmetricPattern};
use glam::DVec3;

use crate::Objective;
use crate::reduction::dot;

/// Ways in which a cloth may move.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    columns: Vec<Vec<DVec3>>,
}

/// Why vectors don't make a [`Basis`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BasisError {
    /// Columns differ in length.
    #[error("column {column} has {found} vertices, the first has {expected}")]
    Length {
        /// Which column.
        column: usize,
        /// Its length.
        found: usize,
        /// The first one's.
        expected: usize,
    },
    /// A number is not finite.
    #[error("column {column} is not finite at vertex {vertex}")]
    NotFinite {
        /// Which column.
        column: usize,
        /// Which vertex.
        vertex: usize,
    },
}

impl Basis {
    /// A basis of these columns, each with one vector a vertex.
    ///
    /// # Errors
    /// When lengths differ or a number is not finite.
    pub fn new(columns: Vec<Vec<DVec3>>) -> Result<Self, BasisError> {
        let expected = columns.first().map_or(0, Vec::len);
        for (column, vectors) in columns.iter().enumerate() {
            if vectors.len() != expected {
                return Err(BasisError::Length {
                    column,
                    found: vectors.len(),
                    expected,
                });
            }
            if let Some(vertex) = vectors.iter().position(|v| !v.is_finite()) {
                return Err(BasisError::NotFinite { column, vertex });
            }
        }
        Ok(Self { columns })
    }

    /// How many vertices a column has; none without a column.
    pub fn n_vertices(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Writes the Newton direction within the basis to `step`. False when the
    /// reduced Hessian is not positive definite, as when columns are dependent.
    pub(crate) fn find_direction(
        &self,
        objective: &Objective<'_>,
        x: &[DVec3],
        gradient: &[DVec3],
        step: &mut [DVec3],
    ) -> bool {
        let n = self.columns.len();
        let mut products = vec![vec![DVec3::ZERO; x.len()]; n];
        let held = objective.held;
        objective.hessian(x, |row, column, block| {
            let (row, column) = (row as usize, column as usize);
            if held[row] || held[column] {
                return;
            }
            for (product, a) in products.iter_mut().zip(&self.columns) {
                product[row] += block * a[column];
            }
        });
        let pairs = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let pattern = SymmetricPattern::new(n, pairs).expect("pairs of columns");
        let mut values = Vec::with_capacity(pattern.n_entries());
        for (column, product) in products.iter().enumerate() {
            let rows = self.columns[column..].iter();
            values.extend(rows.map(|row| dot(row, product)));
        }
        let mut cholesky = SparseCholesky::new(pattern);
        if cholesky.factor(&values).is_err() {
            return false;
        }
        let mut q: Vec<f64> = self.columns.iter().map(|a| -dot(a, gradient)).collect();
        cholesky.solve(&mut q);
        step.fill(DVec3::ZERO);
        for (a, q) in self.columns.iter().zip(q) {
            for ((step, a), held) in step.iter_mut().zip(a).zip(held) {
                if !held {
                    *step += *a * q;
                }
            }
        }
        true
    }
}
