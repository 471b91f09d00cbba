//! Dense matrices as row-major slices: products, Gram matrices, orthonormal
//! columns and the symmetric eigenproblem, in `f64`.
//!
//! Sums are split into panels of a fixed size, each by one thread, so that the
//! same numbers give the same bytes however many threads there are.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par, Side};
use rayon::prelude::*;

/// A matrix as its rows one after the other, or the transpose of one.
#[derive(Clone, Copy, Debug)]
pub struct Dense<'a> {
    values: &'a [f64],
    n_rows: usize,
    n_columns: usize,
    is_transposed: bool,
}

impl<'a> Dense<'a> {
    /// A matrix of so many rows and columns.
    ///
    /// # Panics
    /// When there is not one value an entry.
    pub fn new(values: &'a [f64], n_rows: usize, n_columns: usize) -> Self {
        assert_eq!(values.len(), n_rows * n_columns, "one value an entry");
        Self {
            values,
            n_rows,
            n_columns,
            is_transposed: false,
        }
    }

    /// Its transpose.
    #[must_use]
    pub const fn transposed(self) -> Self {
        Self {
            values: self.values,
            n_rows: self.n_columns,
            n_columns: self.n_rows,
            is_transposed: !self.is_transposed,
        }
    }

    /// How many rows it has.
    pub const fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns it has.
    pub const fn n_columns(&self) -> usize {
        self.n_columns
    }

    fn view(&self) -> MatRef<'a, f64> {
        match self.is_transposed {
            false => MatRef::from_row_major_slice(self.values, self.n_rows, self.n_columns),
            true => MatRef::from_column_major_slice(self.values, self.n_rows, self.n_columns),
        }
    }
}

/// Rows of a product that one thread makes.
const PANEL: usize = 192;

/// Adds the product of two matrices to `out`, row-major.
///
/// # Panics
/// When the sizes don't match.
pub fn add_product(a: Dense<'_>, b: Dense<'_>, out: &mut [f64]) {
    assert_eq!(a.n_columns, b.n_rows, "the inner sizes match");
    assert_eq!(out.len(), a.n_rows * b.n_columns, "room for the product");
    if out.is_empty() || a.n_columns == 0 {
        return;
    }
    let panels = out.par_chunks_mut(PANEL * b.n_columns).enumerate();
    panels.for_each(|(panel, out)| {
        let n_rows = out.len() / b.n_columns;
        let rows = a.view().subrows(panel * PANEL, n_rows);
        let out = MatMut::from_row_major_slice_mut(out, n_rows, b.n_columns);
        matmul(out, Accum::Add, rows, b.view(), 1.0, Par::Seq);
    });
}

/// The product of two matrices, row-major.
///
/// # Panics
/// When the sizes don't match.
pub fn product(a: Dense<'_>, b: Dense<'_>) -> Vec<f64> {
    let mut out = vec![0.0; a.n_rows * b.n_columns];
    add_product(a, b, &mut out);
    out
}

/// Adds Xᵀ X to the upper triangle of `gram`, row-major; what is below the
/// diagonal is of no meaning.
///
/// # Panics
/// When `gram` is not a square of as many columns as `x` has.
pub fn add_gram(x: Dense<'_>, gram: &mut [f64]) {
    let n = x.n_columns;
    assert_eq!(gram.len(), n * n, "room for the Gram matrix");
    if gram.is_empty() || x.n_rows == 0 {
        return;
    }
    let panels = gram.par_chunks_mut(PANEL * n).enumerate();
    panels.for_each(|(panel, out)| {
        let (first, n_own) = (panel * PANEL, out.len() / n);
        let out = MatMut::from_row_major_slice_mut(out, n_own, n);
        let right = out.subcols_mut(first, n - first);
        let own = x.view().subcols(first, n_own).transpose();
        let others = x.view().subcols(first, n - first);
        matmul(right, Accum::Add, own, others, 1.0, Par::Seq);
    });
}

/// Copies the upper triangle of a square matrix to the lower one.
///
/// # Panics
/// When it is not a square of `n` rows.
pub fn mirror_upper(matrix: &mut [f64], n: usize) {
    assert_eq!(matrix.len(), n * n, "a square");
    for row in 0..n {
        for column in 0..row {
            matrix[row * n + column] = matrix[column * n + row];
        }
    }
}

/// Eigenvalues of a symmetric matrix, the largest first, and unit vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetricEigen {
    /// The eigenvalues, the largest first.
    pub values: Vec<f64>,
    /// The eigenvectors, one a row, in the order of the values. The entry of
    /// the largest magnitude is positive.
    pub vectors: Vec<f64>,
}

/// An iteration that found no eigenvalues: a number was not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the eigenvalues of a matrix of {n} rows were not found")]
pub struct NoEigenvalues {
    /// How many rows it has.
    pub n: usize,
}

/// The eigenvalues and vectors of a symmetric matrix, of which only the upper
/// triangle is read.
///
/// # Errors
/// When the iteration does not end, as with NaN.
///
/// # Panics
/// When it is not a square of `n` rows.
pub fn symmetric_eigen(upper: &[f64], n: usize) -> Result<SymmetricEigen, NoEigenvalues> {
    assert_eq!(upper.len(), n * n, "a square");
    let wrong = NoEigenvalues { n };
    // The lower triangle may be anything, so it is not looked at.
    let is_finite = (0..n).all(|r| upper[r * n + r..(r + 1) * n].iter().all(|v| v.is_finite()));
    if !is_finite {
        return Err(wrong);
    }
    let found = MatRef::from_row_major_slice(upper, n, n).self_adjoint_eigen(Side::Upper);
    let found = found.map_err(|_| wrong)?;
    let (u, s) = (found.U(), found.S().column_vector());
    let mut values = Vec::with_capacity(n);
    let mut vectors = Vec::with_capacity(n * n);
    for column in (0..n).rev() {
        values.push(s[column]);
        let mut largest = 0.0f64;
        for row in 0..n {
            let entry = u[(row, column)];
            if entry.abs() > largest.abs() {
                largest = entry;
            }
        }
        let sign = if largest < 0.0 { -1.0 } else { 1.0 };
        vectors.extend((0..n).map(|row| sign * u[(row, column)]));
    }
    Ok(SymmetricEigen { values, vectors })
}

/// Makes the rows of a matrix orthonormal, from the first to the last: the
/// transpose of the Q of a QR factorisation of its transpose.
///
/// # Panics
/// When there are more rows than columns, or not one value an entry.
pub fn orthonormal_rows(rows: &mut [f64], n_rows: usize, n_columns: usize) {
    assert!(n_rows <= n_columns, "no more rows than columns");
    assert_eq!(rows.len(), n_rows * n_columns, "one value an entry");
    let q = MatRef::from_column_major_slice(&*rows, n_columns, n_rows)
        .qr()
        .compute_thin_Q();
    for row in 0..n_rows {
        for column in 0..n_columns {
            rows[row * n_columns + column] = q[(column, row)];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        (0..n).map(|_| next()).collect()
    }

    fn slow(a: &[f64], b: &[f64], (m, k, n): (usize, usize, usize)) -> Vec<f64> {
        let entry = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
        (0..m * n).map(|at| entry(at / n, at % n)).collect()
    }

    fn transpose(a: &[f64], m: usize, n: usize) -> Vec<f64> {
        (0..m * n).map(|at| a[(at % m) * n + at / m]).collect()
    }

    fn far(a: &[f64], b: &[f64]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn products_agree_with_three_loops(m in 1usize..400, k in 1usize..9, n in 1usize..9) {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let expected = slow(&a, &b, (m, k, n));
            let found = product(Dense::new(&a, m, k), Dense::new(&b, k, n));
            prop_assert!(far(&found, &expected) < 1e-14);
            let (at, bt) = (transpose(&a, m, k), transpose(&b, k, n));
            let found = product(
                Dense::new(&at, k, m).transposed(),
                Dense::new(&bt, n, k).transposed(),
            );
            prop_assert!(far(&found, &expected) < 1e-14);
        }
    }

    #[test]
    fn gram_is_the_product_with_the_transpose() {
        let (m, n) = (7, 431);
        let x = numbers(m * n, 3);
        let mut gram = vec![0.0; n * n];
        add_gram(Dense::new(&x, m, n), &mut gram);
        mirror_upper(&mut gram, n);
        let x = Dense::new(&x, m, n);
        assert!(far(&gram, &product(x.transposed(), x)) < 1e-14);
    }

    #[test]
    fn eigenvectors_rebuild_the_matrix_and_have_their_sign() {
        let n = 30;
        let x = numbers(n * n, 4);
        let mut a = vec![0.0; n * n];
        add_gram(Dense::new(&x, n, n), &mut a);
        // What is below the diagonal does not matter.
        a[n] = f64::NAN;
        let eigen = symmetric_eigen(&a, n).unwrap();
        mirror_upper(&mut a, n);
        assert!(eigen.values.windows(2).all(|w| w[0] >= w[1]));
        let scaled: Vec<f64> = (0..n * n)
            .map(|at| eigen.values[at / n] * eigen.vectors[at])
            .collect();
        let v = Dense::new(&eigen.vectors, n, n);
        let again = product(v.transposed(), Dense::new(&scaled, n, n));
        assert!(far(&again, &a) < 1e-12);
        for vector in eigen.vectors.chunks_exact(n) {
            let largest = vector
                .iter()
                .copied()
                .max_by(|a, b| a.abs().total_cmp(&b.abs()));
            assert!(largest.unwrap() > 0.0);
        }
        a[1] = f64::NAN;
        assert_eq!(symmetric_eigen(&a, n), Err(NoEigenvalues { n }));
    }

    #[test]
    fn orthonormal_rows_span_what_they_spanned() {
        let (m, n) = (4, 50);
        let before = numbers(m * n, 5);
        let mut rows = before.clone();
        orthonormal_rows(&mut rows, m, n);
        let q = Dense::new(&rows, m, n);
        let gram = product(q, q.transposed());
        for (at, found) in gram.iter().enumerate() {
            let expected = if at / m == at % m { 1.0 } else { 0.0 };
            assert!((found - expected).abs() < 1e-13);
        }
        let coefficients = product(Dense::new(&before, m, n), q.transposed());
        let again = product(Dense::new(&coefficients, m, m), q);
        assert!(far(&again, &before) < 1e-13);
    }
}
