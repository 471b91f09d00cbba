//! Training of the baseline `linear`: see [`LinearGarment`].
//!
//! Three passes over the `train` sequences (components, the poses known, the
//! sums of the regression) and one over `tune` ones, which chooses the ridge
//! among [`LINEAR_RIDGES`] by the error of the coefficients, the largest that is as
//! good as the best:
//!
//! ```text
//! W = argmin Σ ‖y − W (φ − φ̄)‖² / n + ε ‖W‖² = Cyφ (Cφφ + ε I)⁻¹,      b = ȳ − W φ̄
//! ```
//!
//! with C the covariances. Inputs are not scaled: what hardly turns in training
//! would be made to weigh as much as a hip, and throw the garment off where it
//! turns more. The covariance is held by its eigenvectors, so that another ridge
//! costs a product. Without `tune` sequences ε is [`USUAL_RIDGE`].

use drapery_linalg::{Dense, NoEigenvalues, SymmetricEigen, add_gram, product, symmetric_eigen};
use drapery_runtime::{LinearGarment, LinearParts, SkinnedGarment, linear_inputs, n_linear_inputs};
use drapery_store::dataset::{PlannedSequence, Split};
use glam::Vec3;

use crate::body_space::fit_body_space;
use crate::frames::{Footage, Reading, Shot};
use crate::{Pca, PcaMethod, TrainError};

/// Ridges that are tried, of entries of rotation matrices. The first is that of
/// half a degree: what turned by less in training is not known, and without it a
/// test clip was thrown off by metres. Beyond the last it is the mean garment.
pub const LINEAR_RIDGES: [f64; 7] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1];
/// Of ridges whose error is within this factor of the least, the largest is taken:
/// clips to tune on are few, and near to those that train.
const AS_GOOD: f64 = 1.05;
/// Where there is nothing to choose by.
pub const USUAL_RIDGE: f64 = 1e-3;

/// How `linear` is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearConfig {
    /// Principal components of the unposed displacement.
    pub n_components: usize,
    /// The ridge; chosen on `tune` clips if not given.
    pub ridge: Option<f64>,
}

impl Default for LinearConfig {
    /// As many components as Stable Spaces has.
    fn default() -> Self {
        Self {
            n_components: 64,
            ridge: None,
        }
    }
}

/// What came of the training.
#[derive(Clone, Debug)]
pub struct TrainedLinear {
    /// The animator.
    pub animator: LinearGarment,
    /// The ridge that was taken.
    pub ridge: f64,
    /// The root mean square error of coefficients on `tune` frames for each ridge
    /// that was tried [m]; empty without a choice.
    pub tried: Vec<(f64, f64)>,
    /// The share of the variance that the components have.
    pub explained: f64,
    /// How many sequences trained it.
    pub n_sequences: usize,
    /// How many frames.
    pub n_frames: usize,
}

/// Trains `linear` on the `train` sequences of a dataset.
///
/// # Errors
/// When nothing can be read or learned, or `watch` says to stop.
pub fn train_linear(
    footage: &Footage<'_>,
    skinned: &SkinnedGarment,
    config: &LinearConfig,
    watch: &dyn Fn() -> bool,
) -> Result<TrainedLinear, TrainError> {
    let train = footage.split(Split::Train)?;
    if train.is_empty() {
        return Err(TrainError::NoSequences { split: "train" });
    }
    if let Some(ridge) = config.ridge.filter(|r| !(0.0..=1e6).contains(r)) {
        return Err(TrainError::Setting {
            what: "ridge",
            found: ridge,
            least: 0.0,
            most: 1e6,
        });
    }
    let n_values = 3 * footage.n_vertices();
    let mut unposing = Unposing::new(skinned);
    // The covariance of few frames has few directions, and a few passes over them
    // find those sooner than the eigenvectors of all.
    let frames: u64 = train.iter().map(|s| u64::from(s.frames)).sum();
    let method = match frames < 4 * n_values as u64 {
        true => PcaMethod::Subspace,
        false => PcaMethod::Auto,
    };
    let pca = Pca::fit(n_values, config.n_components, method, |each| {
        let mut block = Vec::new();
        footage.for_each(&train, Reading::Cloth, |shot| {
            go_on(watch)?;
            block.extend_from_slice(unposing.displacement(shot)?);
            if block.len() == 64 * n_values {
                each(&block);
                block.clear();
            }
            Ok(())
        })?;
        if !block.is_empty() {
            each(&block);
        }
        Ok::<(), TrainError>(())
    })?;
    let k = pca.n_components();
    if k == 0 {
        return Err(TrainError::Still { what: "cloth" });
    }
    let range = fit_body_space(footage, &train, &train, config.n_components)?.range;
    let n_inputs = n_linear_inputs(range.n_joints(), range.n_shape());
    let mut sums = Sums::new(n_inputs, k);
    pairs(
        footage,
        &train,
        &pca,
        &mut unposing,
        |inputs, coefficients| {
            go_on(watch)?;
            sums.add(inputs, coefficients);
            Ok(())
        },
    )?;
    let regression = sums.finish()?;
    let n_frames = sums.n_rows;
    let tune = footage.split(Split::Tune)?;
    let (ridge, tried) = match config.ridge {
        Some(ridge) => (ridge, Vec::new()),
        None if tune.is_empty() => (USUAL_RIDGE, Vec::new()),
        None => {
            let fits: Vec<Line> = LINEAR_RIDGES.iter().map(|r| regression.solve(*r)).collect();
            let mut squares = vec![0.0; fits.len()];
            let mut n = 0u32;
            pairs(
                footage,
                &tune,
                &pca,
                &mut unposing,
                |inputs, coefficients| {
                    go_on(watch)?;
                    for (fit, square) in fits.iter().zip(&mut squares) {
                        *square += fit.miss_sq(inputs, coefficients);
                    }
                    n += 1;
                    Ok(())
                },
            )?;
            let rms = |square: f64| (square / f64::from(n.max(1)) / n_values as f64 * 3.0).sqrt();
            let tried: Vec<(f64, f64)> = LINEAR_RIDGES
                .into_iter()
                .zip(squares.into_iter().map(rms))
                .collect();
            let least = tried.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
            let as_good = tried.iter().filter(|t| t.1 <= AS_GOOD * least);
            let ridge = as_good.map(|t| t.0).fold(LINEAR_RIDGES[0], f64::max);
            (ridge, tried)
        }
    };
    let Line { bias, weights } = regression.solve(ridge);
    let by_input = (0..n_inputs).flat_map(|i| (0..k).map(move |c| (c, i)));
    let by_input = by_input.map(|(c, i)| weights[c * n_inputs + i] as f32);
    let single = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<f32>>();
    let parts = LinearParts {
        range,
        mean: single(&pca.mean),
        basis: single(&pca.basis),
        bias: single(&bias),
        weights: by_input.collect(),
    };
    Ok(TrainedLinear {
        animator: LinearGarment::new(skinned.clone(), parts)?,
        ridge,
        tried,
        explained: pca.explained(k),
        n_sequences: train.len(),
        n_frames,
    })
}

fn go_on(watch: &dyn Fn() -> bool) -> Result<(), TrainError> {
    match watch() {
        true => Ok(()),
        false => Err(TrainError::Stopped),
    }
}

/// Sums of (1, φ, y) with themselves, in blocks.
struct Sums {
    n_inputs: usize,
    n_outputs: usize,
    n_rows: usize,
    gram: Vec<f64>,
    rows: Vec<f64>,
}

/// Covariances, those of the inputs by their eigenvectors.
struct Regression {
    eigen: SymmetricEigen,
    /// Of outputs with inputs, shape [output, input].
    cross: Vec<f64>,
    mean_input: Vec<f64>,
    mean_output: Vec<f64>,
}

/// y = b + W φ, with W as [output, input].
struct Line {
    bias: Vec<f64>,
    weights: Vec<f64>,
}

impl Sums {
    fn new(n_inputs: usize, n_outputs: usize) -> Self {
        let n = 1 + n_inputs + n_outputs;
        Self {
            n_inputs,
            n_outputs,
            n_rows: 0,
            gram: vec![0.0; n * n],
            rows: Vec::new(),
        }
    }

    fn add(&mut self, inputs: &[f64], outputs: &[f64]) {
        self.rows.push(1.0);
        self.rows.extend_from_slice(inputs);
        self.rows.extend_from_slice(outputs);
        self.n_rows += 1;
        if self.n_rows.is_multiple_of(256) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let n = 1 + self.n_inputs + self.n_outputs;
        let rows = std::mem::take(&mut self.rows);
        if !rows.is_empty() {
            add_gram(Dense::new(&rows, rows.len() / n, n), &mut self.gram);
        }
    }

    fn finish(&mut self) -> Result<Regression, NoEigenvalues> {
        self.flush();
        let (p, m) = (self.n_inputs, self.n_outputs);
        let width = 1 + p + m;
        let n = self.n_rows.max(1) as f64;
        let at = |i: usize, j: usize| self.gram[i * width + j] / n;
        let mean: Vec<f64> = (1..width).map(|j| at(0, j)).collect();
        let (mean_input, mean_output) = mean.split_at(p);
        let mut covariance = vec![0.0; p * p];
        let mut cross = vec![0.0; m * p];
        for i in 0..p {
            for j in i..p {
                covariance[i * p + j] = at(1 + i, 1 + j) - mean[i] * mean[j];
            }
            for output in 0..m {
                cross[output * p + i] = at(1 + i, 1 + p + output) - mean[i] * mean[p + output];
            }
        }
        Ok(Regression {
            eigen: symmetric_eigen(&covariance, p)?,
            cross,
            mean_input: mean_input.to_vec(),
            mean_output: mean_output.to_vec(),
        })
    }
}

impl Regression {
    fn solve(&self, ridge: f64) -> Line {
        let (p, m) = (self.mean_input.len(), self.mean_output.len());
        let vectors = Dense::new(&self.eigen.vectors, p, p);
        let mut along = product(Dense::new(&self.cross, m, p), vectors.transposed());
        // Without a ridge, what is below the rounding of the inputs is nothing.
        let least = 1e-12 * self.eigen.values.iter().fold(0.0, |a: f64, b| a.max(*b));
        for row in along.chunks_exact_mut(p) {
            for (x, value) in row.iter_mut().zip(&self.eigen.values) {
                let value = value.max(0.0) + ridge;
                *x = if value > least { *x / value } else { 0.0 };
            }
        }
        let weights = product(Dense::new(&along, m, p), vectors);
        let rows = weights.chunks_exact(p).zip(&self.mean_output);
        let bias = rows.map(|(row, mean)| mean - dot(row, &self.mean_input));
        Line {
            bias: bias.collect(),
            weights,
        }
    }
}

impl Line {
    /// The squared distance from what it finds to the outputs.
    fn miss_sq(&self, inputs: &[f64], outputs: &[f64]) -> f64 {
        let rows = self.weights.chunks_exact(inputs.len());
        let rows = rows.zip(&self.bias).zip(outputs);
        rows.map(|((row, bias), y)| (bias + dot(row, inputs) - y).powi(2))
            .sum()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Takes frames to the unposed space.
struct Unposing<'a> {
    skinned: &'a SkinnedGarment,
    rest: Vec<Vec3>,
    unposed: Vec<Vec3>,
    values: Vec<f64>,
}

impl<'a> Unposing<'a> {
    fn new(skinned: &'a SkinnedGarment) -> Self {
        let n = skinned.rest().len();
        Self {
            skinned,
            rest: vec![Vec3::ZERO; n],
            unposed: vec![Vec3::ZERO; n],
            values: vec![0.0; 3 * n],
        }
    }

    /// How far the garment is from its shaped rest, unposed [m].
    fn displacement(&mut self, shot: &Shot<'_>) -> Result<&[f64], TrainError> {
        let fail = |source| TrainError::Animate {
            sequence: shot.planned.name.clone(),
            frame: shot.frame,
            source,
        };
        let body = shot.body();
        let skinned = self.skinned;
        skinned
            .shaped_rest(body.shape, &mut self.rest)
            .map_err(fail)?;
        skinned
            .unpose(&body, shot.cloth, &mut self.unposed)
            .map_err(fail)?;
        let both = self.unposed.iter().zip(&self.rest);
        for (values, (p, rest)) in self.values.chunks_exact_mut(3).zip(both) {
            for (value, moved) in values.iter_mut().zip((*p - *rest).to_array()) {
                *value = f64::from(moved);
            }
        }
        Ok(&self.values)
    }
}

/// Inputs and coefficients of every frame.
fn pairs(
    footage: &Footage<'_>,
    sequences: &[PlannedSequence],
    pca: &Pca,
    unposing: &mut Unposing<'_>,
    mut each: impl FnMut(&[f64], &[f64]) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    let mut single = Vec::new();
    let mut inputs = Vec::new();
    footage.for_each(sequences, Reading::Cloth, |shot| {
        let body = shot.body();
        let n = n_linear_inputs(body.pose.rotations.len(), body.shape.len());
        single.resize(n, 0.0);
        linear_inputs(body.pose, shot.canonical.heading, body.shape, &mut single);
        inputs.clear();
        inputs.extend(single.iter().map(|v| f64::from(*v)));
        let coefficients = pca.project(unposing.displacement(shot)?);
        each(&inputs, &coefficients)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_again_and_a_ridge_shortens_it() {
        let truth = |x: &[f64; 3]| [1.0 + 2.0 * x[0] - x[1], 0.25 * x[2] - 3.0];
        let mut sums = Sums::new(3, 2);
        for i in 0..700 {
            let t = f64::from(i);
            // Far from 0, so that covariances are differences of large sums.
            let x = [
                5.0 + (0.7 * t).sin(),
                (1.3 * t).cos(),
                0.1 * (0.2 * t).sin(),
            ];
            sums.add(&x, &truth(&x));
        }
        let regression = sums.finish().unwrap();
        let line = regression.solve(0.0);
        let expected = [2.0, -1.0, 0.0, 0.0, 0.0, 0.25];
        for (found, expected) in line.weights.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert!((line.bias[0] - 1.0).abs() < 1e-8 && (line.bias[1] + 3.0).abs() < 1e-8);
        let x = [4.5, 0.3, 0.02];
        assert!(line.miss_sq(&x, &truth(&x)) < 1e-12);
        // The variance of the last input is 0.005: a ridge as large halves it.
        let half = regression.solve(0.005);
        assert!(
            (half.weights[5] - 0.125).abs() < 2e-3,
            "{}",
            half.weights[5]
        );
        assert!(half.weights[0] > 1.97);
        // Through the means whatever the ridge.
        let middle = [5.0, 0.0, 0.0];
        assert!(regression.solve(1e3).miss_sq(&middle, &truth(&middle)) < 1e-3);
    }
}
