//! Principal components of rows that need not fit into memory.
//!
//! ```text
//! x ≈ μ + Λᵀ y,   y = Λ (x − μ)
//! ```
//!
//! | symbol | here        | shape              | meaning                                  |
//! |--------|-------------|--------------------|------------------------------------------|
//! | μ      | `mean`      | column             | mean row                                 |
//! | Λ      | `basis`     | component × column | orthonormal rows, the strongest first    |
//! | y      |             | component          | coefficients                             |
//!
//! Rows come in blocks, as often as they are asked for. Up to
//! [`MAX_GRAM`] columns the covariance is summed in `f64` in one pass and its
//! eigenvectors are exact. Beyond, subspace iteration from a fixed random start
//! (Halko, Martinsson, Tropp, "Finding structure with randomness", 2011,
//! Algorithm 4.4) takes [`PASSES`] passes, and memory for two blocks of as many
//! rows as there are components. Sums are shifted by the first row, so that
//! nothing cancels.
//!
//! The sign of a component is such that its entry of the largest magnitude is
//! positive; the same rows in the same blocks give the same bits.

use drapery_linalg::{
    Dense, NoEigenvalues, add_gram, add_product, orthonormal_rows, product, symmetric_eigen,
};

/// The most columns whose covariance is held whole: with its eigenvectors it
/// then has half a gigabyte.
pub const MAX_GRAM: usize = 4000;

/// Passes over the rows when the covariance is not held. Every pass shrinks what
/// is wrong with a component by its variance over that of the first one beyond
/// the sketch; five are enough for a spectrum that falls by a fifth from one to
/// the next, as the tests have it.
pub const PASSES: usize = 5;

/// Directions of the sketch beyond the components asked for.
const OVERSAMPLING: usize = 16;

/// Principal components.
#[derive(Clone, Debug, PartialEq)]
pub struct Pca {
    /// The mean row, shape [column].
    pub mean: Vec<f64>,
    /// Orthonormal rows, the strongest first, shape [component, column].
    pub basis: Vec<f64>,
    /// The variance along each component.
    pub variances: Vec<f64>,
    /// The variance of all columns together.
    pub total_variance: f64,
    /// How many rows there were.
    pub n_rows: usize,
}

/// How components are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PcaMethod {
    /// By the whole covariance up to [`MAX_GRAM`] columns.
    #[default]
    Auto,
    /// By the whole covariance.
    Gram,
    /// By subspace iteration.
    Subspace,
}

/// Why there are no components.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PcaError<E> {
    /// The rows can't be read.
    #[error(transparent)]
    Rows(E),
    /// There are fewer than two rows.
    #[error("{n_rows} rows have no variance")]
    TooFew {
        /// How many there are.
        n_rows: usize,
    },
    /// A value is not finite.
    #[error(transparent)]
    Eigenvalues(#[from] NoEigenvalues),
}

/// Gets blocks of whole rows, one after the other.
pub type EachBlock<'a> = dyn FnMut(&[f64]) + 'a;

impl Pca {
    /// The components of rows of `n_columns` values. `visit` goes through all
    /// rows, in the same blocks every time. There are fewer components than
    /// asked for where there are fewer rows or columns, or the rest has no
    /// variance beyond rounding.
    ///
    /// # Errors
    /// When rows can't be read, there are too few, or one is not finite.
    pub fn fit<E>(
        n_columns: usize,
        n_components: usize,
        method: PcaMethod,
        mut visit: impl FnMut(&mut EachBlock<'_>) -> Result<(), E>,
    ) -> Result<Self, PcaError<E>> {
        let by_gram = match method {
            PcaMethod::Auto => n_columns <= MAX_GRAM,
            PcaMethod::Gram => true,
            PcaMethod::Subspace => false,
        };
        match by_gram {
            true => by_covariance(n_columns, n_components, &mut visit),
            false => by_subspace(n_columns, n_components, &mut visit),
        }
    }

    /// How many columns a row has.
    pub fn n_columns(&self) -> usize {
        self.mean.len()
    }

    /// The first `n` components alone.
    #[must_use]
    pub fn truncated(&self, n: usize) -> Self {
        let n = n.min(self.n_components());
        Self {
            mean: self.mean.clone(),
            basis: self.basis[..n * self.n_columns()].to_vec(),
            variances: self.variances[..n].to_vec(),
            ..*self
        }
    }

    /// How many components there are.
    pub fn n_components(&self) -> usize {
        self.variances.len()
    }

    /// The share of the variance that the first `n` components have.
    pub fn explained(&self, n: usize) -> f64 {
        if self.total_variance <= 0.0 {
            return 1.0;
        }
        let own: f64 = self.variances.iter().take(n).sum();
        (own / self.total_variance).min(1.0)
    }

    /// The coefficients of rows, shape [row, component].
    ///
    /// # Panics
    /// When the rows are not whole.
    pub fn project(&self, rows: &[f64]) -> Vec<f64> {
        let n = self.n_columns();
        let centred: Vec<f64> = rows
            .chunks_exact(n)
            .flat_map(|row| row.iter().zip(&self.mean).map(|(x, m)| x - m))
            .collect();
        let rows = Dense::new(&centred, rows.len() / n, n);
        let basis = Dense::new(&self.basis, self.n_components(), n);
        product(rows, basis.transposed())
    }

    /// The rows of coefficients, shape [row, column].
    ///
    /// # Panics
    /// When the coefficients are not whole rows.
    pub fn reconstruct(&self, coefficients: &[f64]) -> Vec<f64> {
        let (n, k) = (self.n_columns(), self.n_components());
        let n_rows = coefficients.len().checked_div(k).unwrap_or(0);
        let mut rows = self.mean.repeat(n_rows);
        let coefficients = Dense::new(coefficients, n_rows, k);
        add_product(coefficients, Dense::new(&self.basis, k, n), &mut rows);
        rows
    }
}

/// Counts rows, sums them and takes the shift off them.
struct Shifted {
    shift: Vec<f64>,
    sum: Vec<f64>,
    sum_sq: f64,
    n_rows: usize,
    block: Vec<f64>,
}

impl Shifted {
    const fn new() -> Self {
        Self {
            shift: Vec::new(),
            sum: Vec::new(),
            sum_sq: 0.0,
            n_rows: 0,
            block: Vec::new(),
        }
    }

    /// The rows of a block without the shift.
    fn take(&mut self, rows: &[f64], n_columns: usize) -> Dense<'_> {
        if self.shift.is_empty() {
            self.shift = rows[..n_columns].to_vec();
            self.sum = vec![0.0; n_columns];
        }
        self.block.clear();
        for row in rows.chunks_exact(n_columns) {
            let start = self.block.len();
            let without = row.iter().zip(&self.shift).map(|(x, s)| x - s);
            self.block.extend(without);
            let own = &self.block[start..];
            for (sum, x) in self.sum.iter_mut().zip(own) {
                *sum += x;
            }
            self.sum_sq += own.iter().map(|x| x * x).sum::<f64>();
            self.n_rows += 1;
        }
        Dense::new(&self.block, rows.len() / n_columns, n_columns)
    }

    /// The mean of the shifted rows.
    fn offset(&self) -> Vec<f64> {
        self.sum.iter().map(|s| s / self.n_rows as f64).collect()
    }

    /// Starts to count anew, with the same shift.
    fn again(&mut self) {
        self.sum.fill(0.0);
        self.sum_sq = 0.0;
        self.n_rows = 0;
    }

    fn finish(self, values: &[f64], basis: Vec<f64>) -> Pca {
        let offset = self.offset();
        let n = self.n_rows as f64;
        let mean_sq: f64 = offset.iter().map(|d| d * d).sum();
        let total_variance = (self.sum_sq / n - mean_sq).max(0.0);
        let mean = self.shift.iter().zip(&offset).map(|(s, d)| s + d).collect();
        Pca {
            mean,
            basis,
            variances: values.iter().map(|v| v.max(0.0)).collect(),
            total_variance,
            n_rows: self.n_rows,
        }
    }
}

/// How many of sorted variances are more than rounding.
fn significant(values: &[f64]) -> usize {
    let largest = values.first().copied().unwrap_or(0.0);
    let is_more = |v: &&f64| **v > 1e-13 * largest && **v > 0.0;
    values.iter().take_while(is_more).count()
}

fn by_covariance<E>(
    n: usize,
    n_components: usize,
    visit: &mut dyn FnMut(&mut EachBlock<'_>) -> Result<(), E>,
) -> Result<Pca, PcaError<E>> {
    let mut gram = vec![0.0; n * n];
    let mut rows = Shifted::new();
    visit(&mut |block: &[f64]| {
        if !block.is_empty() {
            add_gram(rows.take(block, n), &mut gram);
        }
    })
    .map_err(PcaError::Rows)?;
    let n_rows = rows.n_rows;
    if n_rows < 2 {
        return Err(PcaError::TooFew { n_rows });
    }
    let offset = rows.offset();
    for (i, row) in gram.chunks_exact_mut(n).enumerate() {
        for (j, entry) in row.iter_mut().enumerate().skip(i) {
            *entry = *entry / n_rows as f64 - offset[i] * offset[j];
        }
    }
    let eigen = symmetric_eigen(&gram, n)?;
    drop(gram);
    let k = n_components.min(significant(&eigen.values)).min(n_rows - 1);
    let mut basis = eigen.vectors;
    basis.truncate(k * n);
    basis.shrink_to_fit();
    Ok(rows.finish(&eigen.values[..k], basis))
}

fn by_subspace<E>(
    n: usize,
    n_components: usize,
    visit: &mut dyn FnMut(&mut EachBlock<'_>) -> Result<(), E>,
) -> Result<Pca, PcaError<E>> {
    let n_sketch = (n_components + OVERSAMPLING).min(n);
    let mut sketch = start(n_sketch, n);
    let mut rows = Shifted::new();
    let mut product_of = vec![0.0; n_sketch * n];
    for pass in 0..PASSES {
        orthonormal_rows(&mut sketch, n_sketch, n);
        product_of.fill(0.0);
        if pass > 0 {
            rows.again();
        }
        let directions = Dense::new(&sketch, n_sketch, n);
        visit(&mut |block: &[f64]| {
            if block.is_empty() {
                return;
            }
            let own = rows.take(block, n);
            let seen = product(directions, own.transposed());
            add_product(
                Dense::new(&seen, n_sketch, own.n_rows()),
                own,
                &mut product_of,
            );
        })
        .map_err(PcaError::Rows)?;
        let n_rows = rows.n_rows;
        if n_rows < 2 {
            return Err(PcaError::TooFew { n_rows });
        }
        // Of the covariance: what the mean adds comes off.
        let offset = rows.offset();
        for (row, direction) in product_of.chunks_exact_mut(n).zip(sketch.chunks_exact(n)) {
            let along: f64 = direction.iter().zip(&offset).map(|(a, b)| a * b).sum();
            for (entry, d) in row.iter_mut().zip(&offset) {
                *entry = *entry / n_rows as f64 - along * d;
            }
        }
        if pass + 1 < PASSES {
            std::mem::swap(&mut sketch, &mut product_of);
        }
    }
    // Rayleigh–Ritz: the covariance as the sketch sees it.
    let directions = Dense::new(&sketch, n_sketch, n);
    let seen = product(
        directions,
        Dense::new(&product_of, n_sketch, n).transposed(),
    );
    let eigen = symmetric_eigen(&seen, n_sketch)?;
    let k = n_components
        .min(significant(&eigen.values))
        .min(rows.n_rows - 1);
    let turned = Dense::new(&eigen.vectors[..k * n_sketch], k, n_sketch);
    let mut basis = product(turned, directions);
    for row in basis.chunks_exact_mut(n) {
        let mut largest = 0.0f64;
        for entry in &*row {
            if entry.abs() > largest.abs() {
                largest = *entry;
            }
        }
        if largest < 0.0 {
            row.iter_mut().for_each(|entry| *entry = -*entry);
        }
    }
    Ok(rows.finish(&eigen.values[..k], basis))
}

/// Numbers that look random, the same every time.
fn start(n_rows: usize, n_columns: usize) -> Vec<f64> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n_rows * n_columns).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Rows of known rank about a mean far away, in blocks of seven.
    fn blocks(n_rows: usize, n: usize, sizes: &[f64], each: &mut EachBlock<'_>) {
        let directions = {
            let mut rows = start(sizes.len(), n);
            orthonormal_rows(&mut rows, sizes.len(), n);
            rows
        };
        let draws = start(n_rows, sizes.len());
        let mut rows = Vec::new();
        for draw in draws.chunks_exact(sizes.len()) {
            let row = (0..n).map(|c| {
                let along = draw.iter().zip(sizes).enumerate();
                let moved: f64 = along.map(|(k, (d, s))| d * s * directions[k * n + c]).sum();
                100.0 + c as f64 + moved
            });
            rows.extend(row);
        }
        rows.chunks(7 * n).for_each(each);
    }

    fn fit(n_rows: usize, n: usize, sizes: &[f64], k: usize, method: PcaMethod) -> Pca {
        Pca::fit(n, k, method, |each| {
            blocks(n_rows, n, sizes, each);
            Ok::<(), Infallible>(())
        })
        .unwrap()
    }

    #[test]
    fn rows_of_rank_three_have_three_components() {
        for method in [PcaMethod::Gram, PcaMethod::Subspace] {
            let pca = fit(60, 50, &[3.0, 1.0, 0.1], 10, method);
            assert_eq!(pca.n_components(), 3, "{method:?}: {:?}", pca.variances);
            assert!((pca.explained(3) - 1.0).abs() < 1e-9);
            assert!(pca.explained(1) > 0.8 && pca.explained(1) < 0.95);
            let mut worst = 0.0f64;
            blocks(60, 50, &[3.0, 1.0, 0.1], &mut |block| {
                let again = pca.reconstruct(&pca.project(block));
                let both = again.iter().zip(block).map(|(a, b)| (a - b).abs());
                worst = both.fold(worst, f64::max);
            });
            assert!(worst < 1e-9, "{method:?}: {worst}");
        }
    }

    /// Two ways: the covariance against subspace iteration, on a spectrum that
    /// goes on beyond the components.
    #[test]
    fn subspace_iteration_finds_what_the_covariance_finds() {
        let sizes: Vec<f64> = (0..60).map(|k| 0.8f64.powi(k)).collect();
        let exact = fit(200, 90, &sizes, 12, PcaMethod::Gram);
        let found = fit(200, 90, &sizes, 12, PcaMethod::Subspace);
        assert_eq!((exact.n_components(), found.n_components()), (12, 12));
        for k in 0..12 {
            let relative = found.variances[k] / exact.variances[k] - 1.0;
            assert!(relative.abs() < 1e-6, "{k}: {relative}");
            let both = exact.basis[k * 90..]
                .iter()
                .zip(&found.basis[k * 90..(k + 1) * 90]);
            let along: f64 = both.map(|(a, b)| a * b).sum();
            assert!((along - 1.0).abs() < 1e-5, "{k}: {along}");
        }
        assert!((found.total_variance / exact.total_variance - 1.0).abs() < 1e-9);
    }

    /// Against the singular values of all rows at once, by the eigenvalues of
    /// X Xᵀ instead of Xᵀ X.
    #[test]
    fn variances_are_squared_singular_values() {
        let (n_rows, n) = (30, 80);
        let sizes = [2.0, 1.5, 1.0, 0.5, 0.25, 1e-3];
        let pca = fit(n_rows, n, &sizes, 6, PcaMethod::Gram);
        let mut all = Vec::new();
        blocks(n_rows, n, &sizes, &mut |block| all.extend_from_slice(block));
        for row in all.chunks_exact_mut(n) {
            for (x, m) in row.iter_mut().zip(&pca.mean) {
                *x -= m;
            }
        }
        let x = Dense::new(&all, n_rows, n);
        let other = symmetric_eigen(&product(x, x.transposed()), n_rows).unwrap();
        for k in 0..6 {
            let expected = other.values[k] / n_rows as f64;
            assert!((pca.variances[k] / expected - 1.0).abs() < 1e-6, "{k}");
        }
    }

    #[test]
    fn one_row_or_nan_is_an_error() {
        let fit = |rows: &'static [f64]| {
            Pca::fit(2, 1, PcaMethod::Auto, |each| {
                each(rows);
                Ok::<(), Infallible>(())
            })
        };
        assert_eq!(fit(&[1.0, 2.0]), Err(PcaError::TooFew { n_rows: 1 }));
        let nan = fit(&[1.0, 2.0, f64::NAN, 0.0]);
        assert!(matches!(nan, Err(PcaError::Eigenvalues(_))));
        let still = fit(&[1.0, 2.0, 1.0, 2.0]).unwrap();
        assert_eq!((still.n_components(), still.mean), (0, vec![1.0, 2.0]));
    }
}
