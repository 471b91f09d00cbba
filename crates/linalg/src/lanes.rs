//! Four sparse Cholesky factors of one pattern, solved side by side in f32.
//!
//! A preconditioner solves with the same factors at every iteration, and is
//! bound by memory: lanes share the indices, f32 halves the numbers, and one
//! pass serves all lanes. The factorisation itself is done in f64.

use std::fmt;
use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::{Par, Side};

use crate::cholesky::{refused, structure};
use crate::{NotPositiveDefinite, SymmetricPattern};

/// How many matrices are factored and solved together.
pub const LANES: usize = 4;

/// One number of each lane.
pub type Lanes = [f32; LANES];

/// Factors of matrices that share a pattern.
#[derive(Clone)]
pub struct LaneCholesky {
    pattern: SymmetricPattern,
    symbolic: Arc<SymbolicCholesky<usize>>,
    /// Where each row of the factor comes from.
    order: Vec<u32>,
    /// Where each column of the strict lower triangle starts.
    starts: Vec<u32>,
    rows: Vec<u32>,
    below: Vec<Lanes>,
    /// Of the diagonal, inverted.
    inverse: Vec<Lanes>,
    permuted: Vec<Lanes>,
}

impl fmt::Debug for LaneCholesky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneCholesky")
            .field("n", &self.order.len())
            .field("n_factor", &self.below.len())
            .finish_non_exhaustive()
    }
}

impl LaneCholesky {
    /// Analyses a pattern. [`factor`](Self::factor) comes before
    /// [`solve`](Self::solve).
    ///
    /// # Panics
    /// When memory for the analysis is not to be had, or the factor has more
    /// than 2³² entries.
    pub fn new(pattern: SymmetricPattern) -> Self {
        let parameters = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SIMPLICIAL,
            ..Default::default()
        };
        let symbolic = factorize_symbolic_cholesky(
            structure(&pattern),
            Side::Lower,
            SymmetricOrdering::Amd,
            parameters,
        )
        .expect("memory for the symbolic factorisation");
        let SymbolicCholeskyRaw::Simplicial(simplicial) = symbolic.raw() else {
            unreachable!("the simplicial form was asked for");
        };
        let narrow = |i: usize| u32::try_from(i).expect("fewer than 2³² entries");
        let n = pattern.n();
        let order = match symbolic.perm() {
            Some(permutation) => permutation.arrays().0.iter().map(|i| narrow(*i)).collect(),
            None => (0..n).map(narrow).collect(),
        };
        let columns = simplicial.col_ptr();
        let mut starts = Vec::with_capacity(n + 1);
        let mut rows = Vec::with_capacity(simplicial.len_val());
        starts.push(0);
        for column in 0..n {
            let entries = &simplicial.row_idx()[columns[column]..columns[column + 1]];
            debug_assert_eq!(entries[0], column, "the diagonal stands first");
            rows.extend(entries[1..].iter().map(|i| narrow(*i)));
            starts.push(narrow(rows.len()));
        }
        Self {
            below: vec![[0.0; LANES]; rows.len()],
            inverse: vec![[1.0; LANES]; n],
            permuted: vec![[0.0; LANES]; n],
            pattern,
            order,
            starts,
            rows,
            symbolic: Arc::new(symbolic),
        }
    }

    /// The pattern that was analysed.
    pub const fn pattern(&self) -> &SymmetricPattern {
        &self.pattern
    }

    /// Factors a matrix into a lane.
    ///
    /// # Errors
    /// When the matrix is not positive definite; the lane is then as it was.
    ///
    /// # Panics
    /// When there is no such lane, or not one value an entry.
    pub fn factor(&mut self, lane: usize, values: &[f64]) -> Result<(), NotPositiveDefinite> {
        let factor = self.factors_of(values)?;
        self.set(lane, &factor);
        Ok(())
    }

    /// The factor of a matrix, for [`set`](Self::set): several can be made at
    /// once.
    ///
    /// # Errors
    /// When the matrix is not positive definite.
    ///
    /// # Panics
    /// When there is not one value an entry.
    pub fn factors_of(&self, values: &[f64]) -> Result<Vec<f64>, NotPositiveDefinite> {
        assert_eq!(values.len(), self.pattern.n_entries(), "one value an entry");
        let mut factor = vec![0.0; self.symbolic.len_val()];
        let needed = self
            .symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut scratch = MemBuffer::new(needed);
        self.symbolic
            .factorize_numeric_llt(
                &mut factor,
                SparseColMatRef::new(structure(&self.pattern), values),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut scratch),
                Default::default(),
            )
            .map_err(refused)?;
        Ok(factor)
    }

    /// Takes a factor that [`factors_of`](Self::factors_of) made into a lane.
    ///
    /// # Panics
    /// When there is no such lane, or the factor is of another pattern.
    pub fn set(&mut self, lane: usize, factor: &[f64]) {
        assert!(lane < LANES, "lane {lane} of {LANES}");
        assert_eq!(
            factor.len(),
            self.symbolic.len_val(),
            "a factor of this pattern"
        );
        let mut from = 0;
        for column in 0..self.order.len() {
            self.inverse[column][lane] = (1.0 / factor[from]) as f32;
            from += 1;
            let entries = self.starts[column] as usize..self.starts[column + 1] as usize;
            for below in &mut self.below[entries] {
                below[lane] = factor[from] as f32;
                from += 1;
            }
        }
    }

    /// Replaces each lane of `x` by the solution with that lane's matrix.
    ///
    /// # Panics
    /// When `x` does not have one entry a row.
    pub fn solve(&mut self, x: &mut [Lanes]) {
        assert_eq!(x.len(), self.order.len(), "one entry a row");
        let y = &mut self.permuted[..];
        for (y, from) in y.iter_mut().zip(&self.order) {
            *y = x[*from as usize];
        }
        for column in 0..y.len() {
            let value = times(y[column], self.inverse[column]);
            y[column] = value;
            let entries = self.starts[column] as usize..self.starts[column + 1] as usize;
            for (row, factor) in self.rows[entries.clone()].iter().zip(&self.below[entries]) {
                subtract(&mut y[*row as usize], *factor, value);
            }
        }
        for column in (0..y.len()).rev() {
            let mut value = y[column];
            let entries = self.starts[column] as usize..self.starts[column + 1] as usize;
            for (row, factor) in self.rows[entries.clone()].iter().zip(&self.below[entries]) {
                subtract(&mut value, *factor, y[*row as usize]);
            }
            y[column] = times(value, self.inverse[column]);
        }
        for (y, to) in y.iter().zip(&self.order) {
            x[*to as usize] = *y;
        }
    }
}

fn times(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] * b[i])
}

fn subtract(from: &mut Lanes, a: Lanes, b: Lanes) {
    for i in 0..LANES {
        from[i] -= a[i] * b[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SparseCholesky;

    /// A ring with chords; `stiffness` on the edges and one on the diagonal.
    fn ring(n: usize, stiffness: f64) -> (SymmetricPattern, Vec<f64>) {
        let edges: Vec<(usize, usize)> = (0..n)
            .flat_map(|i| [(i, (i + 1) % n), (i, (i + 7) % n)])
            .collect();
        let pattern = SymmetricPattern::new(n, edges.iter().copied()).unwrap();
        let mut values = vec![0.0; pattern.n_entries()];
        let mut add = |i, j, value| values[pattern.place(i, j).unwrap()] += value;
        for i in 0..n {
            add(i, i, 1.0);
        }
        for (i, j) in edges {
            add(i, j, -stiffness);
            add(i, i, stiffness);
            add(j, j, stiffness);
        }
        (pattern, values)
    }

    #[test]
    fn every_lane_solves_with_its_own_matrix() {
        let n = 60;
        let stiffness = [0.3, 2.0, 9.0, 0.0];
        let mut lanes = LaneCholesky::new(ring(n, 1.0).0);
        for (lane, s) in stiffness.into_iter().enumerate() {
            lanes.factor(lane, &ring(n, s).1).unwrap();
        }
        let right = |i: usize, lane: usize| ((i * 5 + lane * 3) as f32 * 0.7).sin();
        let mut x: Vec<Lanes> = (0..n)
            .map(|i| std::array::from_fn(|lane| right(i, lane)))
            .collect();
        lanes.solve(&mut x);
        for (lane, s) in stiffness.into_iter().enumerate() {
            let (pattern, values) = ring(n, s);
            let mut cholesky = SparseCholesky::new(pattern);
            cholesky.factor(&values).unwrap();
            let mut expected: Vec<f64> = (0..n).map(|i| right(i, lane).into()).collect();
            cholesky.solve(&mut expected);
            for (found, expected) in x.iter().zip(expected) {
                let miss = (f64::from(found[lane]) - expected).abs();
                assert!(miss < 1e-5, "lane {lane}: {} for {expected}", found[lane]);
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let (pattern, values) = ring(20, -1.0);
        assert!(LaneCholesky::new(pattern).factor(0, &values).is_err());
    }
}
