//! Kernel ridge regression from the body to the cloth, in the place of model A of
//! [`train_stable_space`]: whether a nonlinear regressor gains anything.
//!
//! De Aguiar and others, "Stable Spaces for Real-time Clothing", 2010, §5.1: Kernel
//! Regression and variants of GPLVM "perform similarly" to y = A x.
//!
//! ```text
//! y = Σᵢ wᵢ k(x, cᵢ),      k(x, c) = exp(−‖x − c‖² / 2 s²)
//! ```
//!
//! The c are poses of training frames, evenly spaced. All frames count (Nyström):
//! with K = V Λ Vᵀ between the c and φ = Λ^−½ Vᵀ k(x), least squares of y on φ with
//! a ridge ε are kernel ridge regression on what the c span, and exactly that
//! where every frame is one of them.
//!
//! | symbol | here                | shape            | meaning                        |
//! |--------|---------------------|------------------|--------------------------------|
//! | x, y   |                     | body, cloth      | coefficients, as of model A    |
//! | cᵢ     | `centres`           | centre × body    | poses                          |
//! | wᵢ     | `weights`           | centre × cloth   | what is learned                |
//! | s      | `width`             |                  | how far a pose reaches         |
//! | T      | `features`          | feature × centre | Λ^−½ Vᵀ                        |
//!
//! s and ε are those with the least error on clips split `tune`, rolled out. It is
//! an experiment: there is no model file of it.

use drapery_core::{
    AnimateError, BodyFrame, CanonicalFrame, GarmentAnimator, Seconds, StepReport, Topology,
};
use drapery_linalg::{Dense, add_gram, mirror_upper, product, symmetric_eigen};
use drapery_runtime::{ClothSpace, PoseScratch, SkinnedGarment, SkinnedState, StableSpace, Trust};
use drapery_store::dataset::{PlannedSequence, Split};
use glam::Vec3;

use crate::encode::{ClothRows, Encoder};
use crate::frames::{Footage, Reading, plain};
use crate::{Pca, StableModel, StableSpaceConfig, TrainError, TrainStage, train_stable_space};

/// At most so many poses are centres: eigenvectors of so many take a second, and
/// poses nearer than a tenth of a second to one of them say little more.
const CENTRES: usize = 800;

/// Widths that are tried, in medians of the distance between centres. With an eighth
/// of it there is nothing between centres; four are nearly linear.
pub const KERNEL_WIDTHS: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];

/// Ridges that are tried; φ has a length of one at most.
pub const KERNEL_RIDGES: [f64; 6] = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2];

/// Width and ridge where nothing can be tried.
const USUAL: (f64, f64) = (1.0, 1e-4);

/// Directions of K with a smaller share of the largest eigenvalue are rounding.
const ROUNDING: f64 = 1e-10;

/// Frames that are summed at once.
const BLOCK: usize = 256;

/// A trained kernel regression.
#[derive(Clone, Debug)]
pub struct TrainedKernel {
    /// The animator.
    pub animator: KernelGarment,
    /// Its width, in medians of the distance between centres.
    pub width: f64,
    /// Its ridge.
    pub ridge: f64,
    /// The mean distance of a vertex over clips split `tune` [m]; none without
    /// such clips.
    pub tune: Option<f64>,
    /// How many centres it has.
    pub n_centres: usize,
    /// All that was tried: width, ridge, and the error on clips split `tune` [m].
    pub tried: Vec<(f64, f64, Option<f64>)>,
}

/// Trains on the sequences of a dataset that are split `train`, in the spaces of
/// model A of `config`, whose model and order are not read. `watch` says whether
/// to go on.
///
/// # Errors
/// As [`train_stable_space`].
pub fn train_kernel_ridge(
    footage: &Footage<'_>,
    skinned: &SkinnedGarment,
    config: &StableSpaceConfig,
    watch: &dyn Fn(TrainStage) -> bool,
) -> Result<TrainedKernel, TrainError> {
    let config = StableSpaceConfig {
        model: StableModel::A,
        order: 0,
        space: ClothSpace::Canonical,
        ..*config
    };
    let base = train_stable_space(footage, skinned, &config, watch)?.animator;
    let extended = footage.split(Split::Train)?;
    let centres = centres(footage, &base, &plain(&extended))?;
    let tune = footage.split(Split::Tune)?;
    let (widths, ridges): (&[f64], &[f64]) = match tune.is_empty() {
        true => (&[USUAL.0], &[USUAL.1]),
        false => (&KERNEL_WIDTHS, &KERNEL_RIDGES),
    };
    let n_cloth = base.parts().dynamics.n_cloth();
    let mut kernels = widths
        .iter()
        .map(|width| Kernel::new(&centres, *width, n_cloth))
        .collect::<Result<Vec<_>, _>>()?;
    sum(footage, &base, &extended, &centres, &mut kernels, watch)?;
    let mut best: Option<TrainedKernel> = None;
    let mut tried = Vec::new();
    for (kernel, width) in kernels.iter().zip(widths) {
        let problem = kernel.problem()?;
        for ridge in ridges {
            if !watch(TrainStage::Tuning) {
                return Err(TrainError::Stopped);
            }
            let animator = KernelGarment {
                base: base.clone(),
                width: kernel.width as f32,
                centres: narrow(&centres.values),
                weights: narrow(&problem.solve(*ridge)),
            };
            let error = match tune.is_empty() {
                true => None,
                false => Some(footage.open_loop(&animator, &tune)?.mean),
            };
            tried.push((*width, *ridge, error));
            let is_better = best.as_ref().is_none_or(|best| error < best.tune);
            if is_better {
                best = Some(TrainedKernel {
                    animator,
                    width: *width,
                    ridge: *ridge,
                    tune: error,
                    n_centres: centres.len(),
                    tried: Vec::new(),
                });
            }
        }
    }
    let best = best.ok_or(TrainError::Still { what: "body" })?;
    Ok(TrainedKernel { tried, ..best })
}

fn narrow(values: &[f64]) -> Vec<f32> {
    values.iter().map(|v| *v as f32).collect()
}

/// Poses of training frames.
#[derive(Debug)]
struct Centres {
    n_body: usize,
    /// Shape [centre, body].
    values: Vec<f64>,
    /// Of the distance between two.
    median: f64,
}

impl Centres {
    fn new(values: Vec<f64>, n_body: usize) -> Self {
        let rows: Vec<&[f64]> = values.chunks_exact(n_body).collect();
        let mut all: Vec<f64> = Vec::new();
        for (i, a) in rows.iter().enumerate() {
            all.extend(rows[..i].iter().map(|b| distance_sq(a, b).sqrt()));
        }
        all.sort_by(f64::total_cmp);
        let median = all.get(all.len() / 2).copied().unwrap_or(0.0);
        Self {
            n_body,
            values,
            median,
        }
    }

    const fn len(&self) -> usize {
        self.values.len() / self.n_body
    }

    /// ‖x − c‖² of every x with every c, shape [x, centre].
    fn distances_sq(&self, bodies: &[f64]) -> Vec<f64> {
        let mut all = Vec::with_capacity(bodies.len() / self.n_body * self.len());
        for x in bodies.chunks_exact(self.n_body) {
            let centres = self.values.chunks_exact(self.n_body);
            all.extend(centres.map(|c| distance_sq(x, c)));
        }
        all
    }
}

fn distance_sq(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Evenly spaced frames of sequences.
fn centres(
    footage: &Footage<'_>,
    base: &StableSpace,
    sequences: &[PlannedSequence],
) -> Result<Centres, TrainError> {
    let range = &base.parts().range;
    let n_frames: usize = sequences.iter().map(|s| s.frames as usize).sum();
    let every = n_frames.div_ceil(CENTRES).max(1);
    let mut scratch = range.scratch();
    let mut x = vec![0.0; range.n_components()];
    let (mut values, mut at) = (Vec::new(), 0);
    footage.for_each(sequences, Reading::Poses, |shot| {
        if at % every == 0 {
            let joints = &shot.posed.world_from_rest;
            range.project(&shot.canonical, joints, &mut scratch, &mut x);
            values.extend(x.iter().map(|v| f64::from(*v)));
        }
        at += 1;
        Ok(())
    })?;
    let found = Centres::new(values, x.len());
    match found.median > 0.0 {
        true => Ok(found),
        false => Err(TrainError::Still { what: "body" }),
    }
}

/// The sums of one width.
#[derive(Debug)]
struct Kernel {
    width: f64,
    n_centres: usize,
    n_cloth: usize,
    /// T, shape [feature, centre].
    features: Vec<f64>,
    /// The upper triangle of Σ [k y]ᵀ [k y].
    gram: Vec<f64>,
    n_rows: usize,
}

impl Kernel {
    /// Of a width in medians of the distance between centres.
    fn new(centres: &Centres, width: f64, n_cloth: usize) -> Result<Self, TrainError> {
        let (n, width) = (centres.len(), width * centres.median);
        let between = values(&centres.distances_sq(&centres.values), width);
        let eigen = symmetric_eigen(&between, n)?;
        let least = ROUNDING * eigen.values.first().copied().unwrap_or(0.0);
        let kept = eigen.values.iter().zip(eigen.vectors.chunks_exact(n));
        let features = kept
            .filter(|(value, _)| **value > least)
            .flat_map(|(value, vector)| vector.iter().map(|v| *v / value.sqrt()))
            .collect();
        Ok(Self {
            width,
            n_centres: n,
            n_cloth,
            features,
            gram: vec![0.0; (n + n_cloth) * (n + n_cloth)],
            n_rows: 0,
        })
    }

    /// Adds frames: the distances of their poses, and their cloth.
    fn add(&mut self, distances_sq: &[f64], cloth: &[f64]) {
        let all = values(distances_sq, self.width);
        let width = self.n_centres + self.n_cloth;
        let rows = all.chunks_exact(self.n_centres);
        let rows = rows.zip(cloth.chunks_exact(self.n_cloth));
        let rows: Vec<f64> = rows.flat_map(|(k, y)| k.iter().chain(y)).copied().collect();
        let n_rows = rows.len() / width;
        add_gram(Dense::new(&rows, n_rows, width), &mut self.gram);
        self.n_rows += n_rows;
    }

    /// The least squares of y on φ.
    fn problem(&self) -> Result<Problem<'_>, TrainError> {
        let (n, m) = (self.n_centres, self.n_cloth);
        let (width, share) = (n + m, 1.0 / self.n_rows.max(1) as f64);
        let mut between = vec![0.0; n * n];
        let mut cross = vec![0.0; m * n];
        for i in 0..n {
            let row = &self.gram[i * width..(i + 1) * width];
            for j in i..n {
                between[i * n + j] = share * row[j];
            }
            for (output, y) in row[n..].iter().enumerate() {
                cross[output * n + i] = share * y;
            }
        }
        mirror_upper(&mut between, n);
        let r = self.features.len() / n;
        let features = Dense::new(&self.features, r, n);
        let half = product(features, Dense::new(&between, n, n));
        let squares = product(Dense::new(&half, r, n), features.transposed());
        Ok(Problem {
            kernel: self,
            eigen: symmetric_eigen(&squares, r)?,
            cross: product(Dense::new(&cross, m, n), features.transposed()),
        })
    }
}

/// Least squares in features.
struct Problem<'a> {
    kernel: &'a Kernel,
    eigen: drapery_linalg::SymmetricEigen,
    /// Σ y φᵀ / n, shape [cloth, feature].
    cross: Vec<f64>,
}

impl Problem<'_> {
    /// w with that ridge, shape [centre, cloth].
    fn solve(&self, ridge: f64) -> Vec<f64> {
        let (n, m) = (self.kernel.n_centres, self.kernel.n_cloth);
        let r = self.eigen.values.len();
        let vectors = Dense::new(&self.eigen.vectors, r, r);
        let mut along = product(Dense::new(&self.cross, m, r), vectors.transposed());
        for row in along.chunks_exact_mut(r) {
            for (x, value) in row.iter_mut().zip(&self.eigen.values) {
                *x /= value.max(0.0) + ridge;
            }
        }
        let by_features = product(Dense::new(&along, m, r), vectors);
        // Tᵀ Bᵀ.
        product(
            Dense::new(&self.kernel.features, r, n).transposed(),
            Dense::new(&by_features, m, r).transposed(),
        )
    }
}

/// k of squared distances.
fn values(distances_sq: &[f64], width: f64) -> Vec<f64> {
    let share = -0.5 / (width * width);
    distances_sq.iter().map(|d| (share * d).exp()).collect()
}

/// Adds the frames of sequences to all kernels.
fn sum(
    footage: &Footage<'_>,
    base: &StableSpace,
    sequences: &[PlannedSequence],
    centres: &Centres,
    kernels: &mut [Kernel],
    watch: &dyn Fn(TrainStage) -> bool,
) -> Result<(), TrainError> {
    let parts = base.parts();
    let wide = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
    let cloth = Pca {
        mean: wide(&parts.mean),
        basis: wide(&parts.basis),
        variances: vec![0.0; parts.dynamics.n_cloth()],
        total_variance: 0.0,
        n_rows: 0,
    };
    let encoder = Encoder {
        footage,
        rows: ClothRows {
            skinned: base.skinned(),
            space: parts.space,
        },
        range: &parts.range,
        cloth: &cloth,
    };
    let (mut bodies, mut clothes): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut flush = |bodies: &mut Vec<f64>, clothes: &mut Vec<f64>| {
        let distances_sq = centres.distances_sq(bodies);
        for kernel in &mut *kernels {
            kernel.add(&distances_sq, clothes);
        }
        bodies.clear();
        clothes.clear();
    };
    encoder.for_each(sequences, |frame| {
        bodies.extend(frame.x.iter().map(|v| f64::from(*v)));
        clothes.extend_from_slice(frame.y);
        if bodies.len() >= BLOCK * centres.n_body {
            flush(&mut bodies, &mut clothes);
        }
        match watch(TrainStage::Dynamics) {
            true => Ok(()),
            false => Err(TrainError::Stopped),
        }
    })?;
    flush(&mut bodies, &mut clothes);
    Ok(())
}

/// A garment animated by kernel regression; see the module. Far from the training
/// poses it goes over to the skinned garment as [`StableSpace`] does.
#[derive(Clone, Debug)]
pub struct KernelGarment {
    /// Model A, whose spaces it shares.
    base: StableSpace,
    width: f32,
    centres: Vec<f32>,
    weights: Vec<f32>,
}

/// What one garment of a [`KernelGarment`] remembers.
#[derive(Clone, Debug)]
pub struct KernelState {
    heading: f32,
    trust: Trust,
    skinned: SkinnedState,
    scratch: PoseScratch,
    body: Vec<f32>,
    cloth: Vec<f32>,
    local: Vec<f32>,
}

impl GarmentAnimator for KernelGarment {
    type State = KernelState;

    fn topology(&self) -> &Topology {
        self.base.topology()
    }

    fn frame_step(&self) -> Seconds {
        self.base.frame_step()
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<KernelState, AnimateError> {
        // Checks the body.
        self.base.start(body)?;
        let skinned = self.base.skinned().start(body)?;
        let parts = self.base.parts();
        let frame = CanonicalFrame::of(body.pose, 0.0);
        let mut scratch = parts.range.scratch();
        let mut x = vec![0.0; parts.range.n_components()];
        let joints = body.world_from_rest;
        let distance = parts.range.project(&frame, joints, &mut scratch, &mut x);
        Ok(KernelState {
            heading: frame.heading,
            trust: Trust::new(parts.range.confidence(distance, body.shape)),
            skinned,
            scratch,
            body: x,
            cloth: vec![0.0; parts.dynamics.n_cloth()],
            local: vec![0.0; parts.mean.len()],
        })
    }

    fn step(
        &self,
        state: &mut KernelState,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        let parts = self.base.parts();
        // Checks the body and the output.
        self.base.skinned().step(&mut state.skinned, body, out)?;
        let frame = CanonicalFrame::of(body.pose, state.heading);
        state.heading = frame.heading;
        let (joints, x) = (body.world_from_rest, &mut state.body);
        let distance = parts.range.project(&frame, joints, &mut state.scratch, x);
        let confidence = parts.range.confidence(distance, body.shape);
        let share = state.trust.follow(confidence);
        state.cloth.fill(0.0);
        let (n_body, n_cloth) = (x.len(), state.cloth.len());
        let narrow = -0.5 / (self.width * self.width);
        let centres = self.centres.chunks_exact(n_body);
        for (centre, weights) in centres.zip(self.weights.chunks_exact(n_cloth)) {
            let apart_sq: f32 = (x.iter().zip(centre)).map(|(a, b)| (a - b) * (a - b)).sum();
            add_scaled((narrow * apart_sq).exp(), weights, &mut state.cloth);
        }
        state.local.copy_from_slice(&parts.mean);
        let n_values = state.local.len();
        let components = parts.basis.chunks_exact(n_values);
        for (component, y) in components.zip(&state.cloth) {
            add_scaled(*y, component, &mut state.local);
        }
        let world = frame.world_from_canonical();
        for (out, local) in out.iter_mut().zip(state.local.as_chunks::<3>().0) {
            let learned = world.transform_point3(Vec3::from(*local));
            *out += (learned - *out) * share;
        }
        Ok(StepReport {
            confidence,
            correction_depth: 0.0,
        })
    }
}

fn add_scaled(factor: f32, values: &[f32], out: &mut [f32]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out += factor * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Poses on a curve in the plane, and cloth that no matrix gives.
    fn data(n: usize) -> (Vec<f64>, Vec<f64>) {
        let at = |i: usize| -2.0 + 4.0 * i as f64 / (n - 1) as f64;
        let bodies = (0..n).flat_map(|i| [at(i), 0.3 * at(i).cos()]).collect();
        let cloth = (0..n).flat_map(|i| [(3.0 * at(i)).sin(), at(i) * at(i)]);
        (bodies, cloth.collect())
    }

    fn kernel(centres: &Centres, width: f64, rows: &(Vec<f64>, Vec<f64>)) -> Kernel {
        let mut kernel = Kernel::new(centres, width, 2).unwrap();
        kernel.add(&centres.distances_sq(&rows.0), &rows.1);
        kernel
    }

    /// With every frame a centre, w solves (K + n ε I) w = y.
    #[test]
    fn with_all_frames_as_centres_it_is_kernel_ridge_regression() {
        let (n, ridge) = (30, 1e-3);
        let rows = data(n);
        let centres = Centres::new(rows.0.clone(), 2);
        let kernel = kernel(&centres, 0.3, &rows);
        let w = kernel.problem().unwrap().solve(ridge);
        let k = values(&centres.distances_sq(&rows.0), kernel.width);
        let fit = product(Dense::new(&k, n, n), Dense::new(&w, n, 2));
        for ((fit, w), y) in fit.iter().zip(&w).zip(&rows.1) {
            let found = fit + n as f64 * ridge * w;
            assert!((found - y).abs() < 1e-5, "{found} {y}");
        }
    }

    #[test]
    fn a_curve_is_learned_from_few_centres_and_known_between_them() {
        let every_third = |values: &[f64]| -> Vec<f64> {
            values.chunks_exact(6).flat_map(|c| [c[0], c[1]]).collect()
        };
        let rows = data(90);
        let centres = Centres::new(every_third(&rows.0), 2);
        let kernel = kernel(&centres, 0.3, &rows);
        let w = kernel.problem().unwrap().solve(1e-7);
        let unseen = data(77);
        let k = values(&centres.distances_sq(&unseen.0), kernel.width);
        let fit = product(Dense::new(&k, 77, 30), Dense::new(&w, 30, 2));
        for (fit, y) in fit.iter().zip(&unseen.1) {
            assert!((fit - y).abs() < 0.02, "{fit} {y}");
        }
    }
}
