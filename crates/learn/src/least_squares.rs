//! Linear least squares from sums: W that minimises Σ ‖y − W φ‖² + ridge.
//!
//! ```text
//! W H = Σ y φᵀ / n,      H = Σ φ φᵀ / n + ε I
//! ```
//!
//! with inputs scaled to a mean square of one, block by block, so that ε means
//! the same for all of them. Within a block (the body, the cloth of a frame)
//! inputs keep their sizes: scaled each by itself, the last components of the
//! body, which hardly move in training, would be as free as the first ones, and
//! wild on other clips. H is held by its eigenvectors, so that another ridge costs
//! a product. With ε = 0 directions whose eigenvalue is below 1e-11 of the
//! largest are left out: rounding is all there is along them.

use drapery_linalg::{Dense, NoEigenvalues, SymmetricEigen, add_gram, product, symmetric_eigen};

/// An input of a smaller root mean square does not move: scaled to one it would
/// be the rounding of single precision.
const STILL: f64 = 1e-6;

/// Sums of inputs and outputs.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    n_inputs: usize,
    n_outputs: usize,
    n_rows: usize,
    /// The upper triangle of Σ [φ y]ᵀ [φ y].
    gram: Vec<f64>,
}

impl Sums {
    pub(crate) fn new(n_inputs: usize, n_outputs: usize) -> Self {
        let n = n_inputs + n_outputs;
        Self {
            n_inputs,
            n_outputs,
            n_rows: 0,
            gram: vec![0.0; n * n],
        }
    }

    /// Adds rows of inputs and outputs side by side.
    pub(crate) fn add(&mut self, rows: &[f64]) {
        let n = self.n_inputs + self.n_outputs;
        let n_rows = rows.len() / n;
        add_gram(Dense::new(rows, n_rows, n), &mut self.gram);
        self.n_rows += n_rows;
    }

    pub(crate) const fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The sums of some inputs and the first outputs alone.
    pub(crate) fn chosen(&self, inputs: &[usize], n_outputs: usize) -> Self {
        let outputs = self.n_inputs..self.n_inputs + n_outputs;
        let kept: Vec<usize> = inputs.iter().copied().chain(outputs).collect();
        let width = self.n_inputs + self.n_outputs;
        let at = |i: usize, j: usize| match kept[i] <= kept[j] {
            true => self.gram[kept[i] * width + kept[j]],
            false => self.gram[kept[j] * width + kept[i]],
        };
        let n = kept.len();
        Self {
            n_inputs: inputs.len(),
            n_outputs,
            n_rows: self.n_rows,
            gram: (0..n * n).map(|ij| at(ij / n, ij % n)).collect(),
        }
    }

    /// The problem that these are the sums of. Inputs that belong together are
    /// scaled together: `blocks` are how many each has, and how many times as
    /// strongly as others a ridge holds them back.
    pub(crate) fn problem(&self, blocks: &[(usize, f64)]) -> Result<LeastSquares, NoEigenvalues> {
        let (p, m) = (self.n_inputs, self.n_outputs);
        let width = p + m;
        let n = self.n_rows.max(1) as f64;
        let mut scales: Vec<f64> = Vec::with_capacity(p);
        for (block, held) in blocks {
            let own = scales.len()..scales.len() + block;
            let mean_sq: f64 = own.map(|i| self.gram[i * width + i] / n).sum();
            let rms = mean_sq.sqrt();
            // Inputs a tenth as large need weights ten times as large, which cost
            // a hundred times as much.
            let scale = if rms > STILL {
                1.0 / (rms * held.sqrt())
            } else {
                0.0
            };
            scales.extend(std::iter::repeat_n(scale, *block));
        }
        debug_assert_eq!(scales.len(), p, "blocks have all inputs");
        let mut h = vec![0.0; p * p];
        let mut cross = vec![0.0; m * p];
        for i in 0..p {
            for j in i..p {
                h[i * p + j] = self.gram[i * width + j] / n * scales[i] * scales[j];
            }
            for output in 0..m {
                cross[output * p + i] = self.gram[i * width + p + output] / n * scales[i];
            }
        }
        Ok(LeastSquares {
            eigen: symmetric_eigen(&h, p)?,
            n_outputs: m,
            scales,
            cross,
        })
    }
}

/// A least-squares problem in scaled inputs.
pub(crate) struct LeastSquares {
    eigen: SymmetricEigen,
    n_outputs: usize,
    /// One over the root mean square of each input; 0 of one that never moves.
    pub(crate) scales: Vec<f64>,
    cross: Vec<f64>,
}

impl LeastSquares {
    pub(crate) fn n_inputs(&self) -> usize {
        self.scales.len()
    }

    /// X H⁻¹ of rows X, with that ridge.
    pub(crate) fn times_inverse(&self, rows: &[f64], ridge: f64) -> Vec<f64> {
        let p = self.n_inputs();
        let vectors = Dense::new(&self.eigen.vectors, p, p);
        let n_rows = rows.len() / p;
        let mut along = product(Dense::new(rows, n_rows, p), vectors.transposed());
        let cut = match ridge > 0.0 {
            true => 0.0,
            false => 1e-11 * self.eigen.values.first().copied().unwrap_or(0.0),
        };
        for row in along.chunks_exact_mut(p) {
            for (x, value) in row.iter_mut().zip(&self.eigen.values) {
                let value = value.max(0.0) + ridge;
                *x = if value > cut { *x / value } else { 0.0 };
            }
        }
        product(Dense::new(&along, n_rows, p), vectors)
    }

    /// X H of rows X, with that ridge.
    pub(crate) fn times(&self, rows: &[f64], ridge: f64) -> Vec<f64> {
        let p = self.n_inputs();
        let along = self.stretched(rows, ridge, |h| h);
        let along = Dense::new(&along, rows.len() / p, p);
        product(along, Dense::new(&self.eigen.vectors, p, p))
    }

    /// Rows of scaled weights in coordinates in which H, with a ridge above 0, is the
    /// identity.
    pub(crate) fn whiten(&self, rows: &[f64], ridge: f64) -> Vec<f64> {
        self.stretched(rows, ridge, f64::sqrt)
    }

    /// The way back.
    pub(crate) fn unwhiten(&self, white: &[f64], ridge: f64) -> Vec<f64> {
        let p = self.n_inputs();
        let mut along = white.to_vec();
        self.stretch(&mut along, ridge, |h| 1.0 / h.sqrt());
        let vectors = Dense::new(&self.eigen.vectors, p, p);
        product(Dense::new(&along, white.len() / p, p), vectors)
    }

    /// A gradient by scaled weights as one by white coordinates.
    pub(crate) fn whiten_slope(&self, rows: &[f64], ridge: f64) -> Vec<f64> {
        self.stretched(rows, ridge, |h| 1.0 / h.sqrt())
    }

    /// Rows along the eigenvectors, each coordinate times what `by` makes of its value.
    fn stretched(&self, rows: &[f64], ridge: f64, by: impl Fn(f64) -> f64) -> Vec<f64> {
        let p = self.n_inputs();
        let vectors = Dense::new(&self.eigen.vectors, p, p);
        let mut along = product(Dense::new(rows, rows.len() / p, p), vectors.transposed());
        self.stretch(&mut along, ridge, by);
        along
    }

    fn stretch(&self, rows: &mut [f64], ridge: f64, by: impl Fn(f64) -> f64) {
        for row in rows.chunks_exact_mut(self.n_inputs()) {
            let each = row.iter_mut().zip(&self.eigen.values);
            each.for_each(|(x, value)| *x *= by(value.max(0.0) + ridge));
        }
    }

    /// W for scaled inputs, shape [output, input].
    pub(crate) fn solve(&self, ridge: f64) -> Vec<f64> {
        debug_assert_eq!(self.cross.len(), self.n_outputs * self.n_inputs());
        self.times_inverse(&self.cross, ridge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(i: usize) -> [f64; 5] {
        let t = i as f64;
        let phi = [
            (0.7 * t).sin(),
            1000.0 * (1.3 * t).cos(),
            1e-3 * (0.2 * t).sin(),
        ];
        // y = W φ with W = [1 2e-3 −500; 0.5 0 4].
        let y = [
            phi[0] + 2e-3 * phi[1] - 500.0 * phi[2],
            0.5 * phi[0] + 4.0 * phi[2],
        ];
        [phi[0], phi[1], phi[2], y[0], y[1]]
    }

    fn problem(n: usize) -> LeastSquares {
        let mut sums = Sums::new(3, 2);
        for i in 0..n {
            sums.add(&row(i));
        }
        sums.problem(&[(1, 1.0); 3]).unwrap()
    }

    #[test]
    fn weights_of_known_data_come_back_whatever_the_scale_of_inputs() {
        let problem = problem(50);
        let scaled = problem.solve(0.0);
        let expected = [1.0, 2e-3, -500.0, 0.5, 0.0, 4.0];
        for (at, (found, expected)) in scaled.iter().zip(expected).enumerate() {
            let found = found * problem.scales[at % 3];
            assert!(
                (found - expected).abs() < 1e-9 * (1.0 + expected.abs()),
                "{found}"
            );
        }
    }

    /// At the least of ½ Σ ‖y − W φ‖²/n + ½ ε ‖W‖² its gradient is zero.
    #[test]
    fn with_a_ridge_the_gradient_of_both_terms_is_zero() {
        let n = 40;
        let (plain, ridge) = (problem(n), 0.03);
        let w = plain.solve(ridge);
        let mut gradient = [0.0; 6];
        for i in 0..n {
            let r = row(i);
            for output in 0..2 {
                let phi: Vec<f64> = (0..3).map(|k| r[k] * plain.scales[k]).collect();
                let fit: f64 = (0..3).map(|k| w[output * 3 + k] * phi[k]).sum();
                for k in 0..3 {
                    gradient[output * 3 + k] += (fit - r[3 + output]) * phi[k] / n as f64;
                }
            }
        }
        for (g, w) in gradient.iter().zip(&w) {
            assert!((g + ridge * w).abs() < 1e-10, "{g} {w}");
        }
    }

    #[test]
    fn sums_of_chosen_inputs_are_those_that_were_summed_without_the_others() {
        let (mut all, mut few) = (Sums::new(3, 2), Sums::new(2, 1));
        for i in 0..30 {
            let row = row(i);
            all.add(&row);
            few.add(&[row[0], row[2], row[3]]);
        }
        let blocks = [(1, 1.0); 2];
        let chosen = all.chosen(&[0, 2], 1).problem(&blocks).unwrap();
        let expected = few.problem(&blocks).unwrap();
        for (a, b) in chosen.solve(1e-3).iter().zip(expected.solve(1e-3)) {
            assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{a} {b}");
        }
    }

    #[test]
    fn an_input_that_never_moves_or_is_there_twice_does_no_harm() {
        let mut sums = Sums::new(3, 1);
        for i in 0..20 {
            let x = (0.9 * i as f64).sin();
            sums.add(&[x, x, 0.0, 3.0 * x]);
        }
        let problem = sums.problem(&[(1, 1.0); 3]).unwrap();
        let w = problem.solve(0.0);
        assert!((w[0] - w[1]).abs() < 1e-9 && w[2] == 0.0, "{w:?}");
        assert!(((w[0] + w[1]) * problem.scales[0] - 3.0).abs() < 1e-9);
    }
}
