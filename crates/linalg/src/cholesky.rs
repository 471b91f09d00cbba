//! Sparse Cholesky factorisation whose symbolic half is done once.
//!
//! A = P L Lᵀ Pᵀ with an ordering P that keeps L sparse. The ordering and the
//! pattern of L depend on the pattern of A alone; a simulation that steps the
//! same cloth again and again only pays for the numbers. One thread: at the
//! size of a garment the parallel path is slower on few cores, and one thread
//! gives the same bytes everywhere.

use std::fmt;
use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

use crate::SymmetricPattern;

/// A matrix that has no Cholesky factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite, as pivot {pivot} of its ordering shows")]
pub struct NotPositiveDefinite {
    /// Where the factorisation stopped, in the order of elimination.
    pub pivot: usize,
}

/// A factorisation of matrices of one pattern.
pub struct SparseCholesky {
    pattern: SymmetricPattern,
    symbolic: Arc<SymbolicCholesky<usize>>,
    factor: Vec<f64>,
    scratch: MemBuffer,
}

impl Clone for SparseCholesky {
    fn clone(&self) -> Self {
        Self {
            pattern: self.pattern.clone(),
            symbolic: Arc::clone(&self.symbolic),
            factor: self.factor.clone(),
            scratch: scratch(&self.symbolic),
        }
    }
}

/// Room to factor and solve in.
fn scratch(symbolic: &SymbolicCholesky<usize>) -> MemBuffer {
    let factor = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
    let solve = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
    MemBuffer::new(factor.or(solve))
}

impl fmt::Debug for SparseCholesky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseCholesky")
            .field("n", &self.pattern.n())
            .field("n_factor", &self.factor.len())
            .finish_non_exhaustive()
    }
}

impl SparseCholesky {
    /// Analyses a pattern. [`factor`](Self::factor) comes before
    /// [`solve`](Self::solve).
    ///
    /// # Panics
    /// When memory for the analysis is not to be had.
    pub fn new(pattern: SymmetricPattern) -> Self {
        let symbolic = factorize_symbolic_cholesky(
            structure(&pattern),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .expect("memory for the symbolic factorisation");
        Self {
            factor: vec![0.0; symbolic.len_val()],
            scratch: scratch(&symbolic),
            symbolic: Arc::new(symbolic),
            pattern,
        }
    }

    /// The pattern that was analysed.
    pub const fn pattern(&self) -> &SymmetricPattern {
        &self.pattern
    }

    /// Factors the matrix with these values, one for each entry of the pattern.
    ///
    /// # Errors
    /// When the matrix is not positive definite; the factor is then of no use.
    ///
    /// # Panics
    /// When there is not one value an entry.
    pub fn factor(&mut self, values: &[f64]) -> Result<(), NotPositiveDefinite> {
        assert_eq!(values.len(), self.pattern.n_entries(), "one value an entry");
        let matrix = SparseColMatRef::new(structure(&self.pattern), values);
        self.symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut self.scratch),
                Default::default(),
            )
            .map(drop)
            .map_err(refused)
    }

    /// Replaces `x` by A⁻¹ x.
    ///
    /// # Panics
    /// When `x` does not have one entry a row.
    pub fn solve(&mut self, x: &mut [f64]) {
        let n = self.pattern.n();
        assert_eq!(x.len(), n, "one entry a row");
        let factor = LltRef::new(&self.symbolic, &self.factor);
        factor.solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
            MemStack::new(&mut self.scratch),
        );
    }
}

pub(crate) fn refused(error: LltError) -> NotPositiveDefinite {
    match error {
        LltError::NonPositivePivot { index } => NotPositiveDefinite { pivot: index },
    }
}

pub(crate) fn structure(pattern: &SymmetricPattern) -> SymbolicSparseColMatRef<'_, usize> {
    let n = pattern.n();
    SymbolicSparseColMatRef::new_checked(n, n, pattern.column_starts(), None, pattern.rows())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::PatternError;

    /// The Laplacian of a grid, with `mass` on the diagonal.
    fn grid(side: usize, mass: f64) -> (SymmetricPattern, Vec<f64>) {
        let at = |x: usize, y: usize| y * side + x;
        let mut edges = Vec::new();
        for y in 0..side {
            for x in 0..side {
                if x + 1 < side {
                    edges.push((at(x, y), at(x + 1, y)));
                }
                if y + 1 < side {
                    edges.push((at(x, y), at(x, y + 1)));
                }
            }
        }
        let pattern = SymmetricPattern::new(side * side, edges.iter().copied()).unwrap();
        let mut values = vec![0.0; pattern.n_entries()];
        for i in 0..side * side {
            values[pattern.place(i, i).unwrap()] += mass;
        }
        for (i, j) in edges {
            for (place, value) in [((i, j), -1.0), ((i, i), 1.0), ((j, j), 1.0)] {
                values[pattern.place(place.0, place.1).unwrap()] += value;
            }
        }
        (pattern, values)
    }

    #[test]
    fn a_second_matrix_reuses_the_analysis() {
        let (pattern, values) = grid(13, 0.5);
        let n = pattern.n();
        let mut cholesky = SparseCholesky::new(pattern.clone());
        for scale in [1.0, 7.0] {
            let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
            cholesky.factor(&scaled).unwrap();
            let x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
            let mut b = vec![0.0; n];
            pattern.multiply(&scaled, &x, &mut b);
            cholesky.solve(&mut b);
            for (solved, x) in b.iter().zip(&x) {
                assert!((solved - x).abs() < 1e-11, "{solved} for {x}");
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let (pattern, values) = grid(5, -3.0);
        let mut cholesky = SparseCholesky::new(pattern);
        assert!(cholesky.factor(&values).is_err());
    }

    #[test]
    fn entries_outside_are_named() {
        assert_eq!(
            SymmetricPattern::new(3, [(0, 3)]),
            Err(PatternError::Outside {
                row: 0,
                column: 3,
                n: 3
            })
        );
    }

    proptest! {
        #[test]
        fn products_agree_with_a_dense_matrix(
            entries in proptest::collection::vec((0usize..8, 0usize..8, -2.0f64..2.0), 0..30),
            x in proptest::collection::vec(-1.0f64..1.0, 8),
        ) {
            let places = entries.iter().map(|e| (e.0, e.1));
            let pattern = SymmetricPattern::new(8, places).unwrap();
            let mut values = vec![0.0; pattern.n_entries()];
            let mut dense = [[0.0; 8]; 8];
            for (row, column, value) in &entries {
                values[pattern.place(*row, *column).unwrap()] = *value;
                dense[*row][*column] = *value;
                dense[*column][*row] = *value;
            }
            let mut y = vec![0.0; 8];
            pattern.multiply(&values, &x, &mut y);
            for row in 0..8 {
                let expected: f64 = dense[row].iter().zip(&x).map(|(a, b)| a * b).sum();
                prop_assert!((y[row] - expected).abs() < 1e-12);
            }
        }
    }
}
