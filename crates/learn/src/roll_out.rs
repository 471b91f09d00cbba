//! Weights that are best when rolled out: [`RollOuts`].
//!
//! Least squares look one frame ahead from the simulated past. What a user sees
//! is a roll-out, whose past is its own. Here the squares are those of whole
//! roll-outs of the training clips, from model A's first frames on:
//!
//! ```text
//! min Σ ‖yₜ − ŷₜ‖²/(n v) + ε ‖W‖²/v + forgetting,     ŷₜ = A xₜ + Σ Bᵢ ŷₜ₋ᵢ + Σ Cᵢ zᵢ
//! ```
//!
//! with v the mean of ‖y‖² (an output-error fit; Ljung, "System Identification",
//! 1999, §7). Gradients go back through time,
//!
//! ```text
//! λₜ = ŷₜ − yₜ + Σ Bᵢᵀ λₜ₊ᵢ,      ∂/∂A = Σ λₜ xₜᵀ,      ∂/∂Bᵢ = Σ λₜ ŷₜ₋ᵢᵀ
//! ```
//!
//! and the least is sought from the least-squares fit on, by limited-memory BFGS
//! in coordinates in which the Hessian of the least squares is the identity.
//!
//! Clips of a few seconds can't tell a slow drift from a long memory, so the
//! cloth is made to forget: each coefficient set off by itself, with no input,
//! has to be gone after [`FORGET`] frames. That also keeps eigenvalues off the
//! unit circle, though it does not promise it.

use std::ops::Range;

use drapery_linalg::{Dense, add_product, product};
use rayon::prelude::*;

use crate::TrainError;
use crate::inputs::Layout;
use crate::lbfgs::descend;
use crate::least_squares::LeastSquares;
use crate::stability::plain;

/// The frames after which nothing of a start may be left.
const FORGET: Range<usize> = 40..120;

/// How much they count, in all, beside the frames that train.
const FORGETTING: f64 = 1.0;

/// How far the last frame is set off to give a coefficient a velocity, as a
/// share of how far both frames are to set it off at rest.
const KICK: f64 = 0.3;

/// Clips that are rolled out together. Fixed, so that the sums don't depend on
/// threads.
const GROUP: usize = 48;

/// A clip as it is rolled out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clip {
    /// The body in the frames before the first one that has enough past.
    pub(crate) first: Vec<f64>,
    /// Of every later frame the inputs without memory, body and root.
    pub(crate) inputs: Vec<f64>,
    /// The cloth of these frames.
    pub(crate) cloth: Vec<f64>,
}

/// Clips side by side, the longest first. A frame has a row for each that is
/// that long.
struct Group {
    /// The frames before the first, the earliest first: a row a clip in each.
    start: Vec<f64>,
    /// Of every row; none where nothing drives the cloth.
    inputs: Vec<f64>,
    cloth: Vec<f64>,
    /// How many rows each frame has, and how much they count.
    frames: Vec<(usize, f64)>,
}

/// All training clips.
pub(crate) struct RollOuts {
    layout: Layout,
    groups: Vec<Group>,
    /// One over frames times their mean square.
    scale: f64,
    variance: f64,
}

impl RollOuts {
    /// Of clips, whose first frames are those of model A, shape [cloth, body].
    pub(crate) fn new(layout: Layout, mut clips: Vec<Clip>, still: &[f64]) -> Self {
        let k = layout.n_cloth;
        clips.retain(|clip| !clip.cloth.is_empty());
        clips.sort_by_key(|clip| std::cmp::Reverse(clip.cloth.len()));
        let n_frames = clips.iter().map(|c| c.cloth.len() / k).sum::<usize>();
        let squares: f64 = clips.iter().flat_map(|c| &c.cloth).map(|y| y * y).sum();
        let variance = (squares / n_frames.max(1) as f64).max(f64::MIN_POSITIVE);
        let mut groups: Vec<Group> = (clips.chunks(GROUP))
            .map(|clips| Group::of_clips(&layout, clips, still))
            .collect();
        groups.push(Group::forgetting(
            &layout,
            variance.sqrt(),
            FORGETTING * n_frames as f64,
        ));
        Self {
            layout,
            groups,
            scale: 1.0 / (n_frames.max(1) as f64 * variance),
            variance,
        }
    }

    /// Goes down from least squares in so many steps; `each` is told of every one and
    /// of the plain weights it led to.
    pub(crate) fn descend(
        &self,
        problem: &LeastSquares,
        ridge: f64,
        n_steps: usize,
        mut each: impl FnMut(usize, Vec<f64>) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let start = problem.whiten(&problem.solve(ridge), ridge);
        let value = |white: &[f64]| {
            let scaled = problem.unwhiten(white, ridge);
            let (value, gradient) = self.value(problem, ridge, &scaled);
            (value, problem.whiten_slope(&gradient, ridge))
        };
        descend(start, n_steps, value, |step, white| {
            let scaled = problem.unwhiten(white, ridge);
            each(step, plain(problem, &self.layout, &scaled))
        })?;
        Ok(())
    }

    /// What is minimised, and its gradient by scaled weights, shape
    /// [cloth, input].
    fn value(&self, problem: &LeastSquares, ridge: f64, scaled: &[f64]) -> (f64, Vec<f64>) {
        let weights = Weights::new(&self.layout, &plain(problem, &self.layout, scaled));
        let parts: Vec<(f64, Weights)> = (self.groups.par_iter())
            .map(|group| group.value(&self.layout, &weights))
            .collect();
        let mut sum = 0.0;
        let mut gradient = weights.zero();
        for (value, part) in &parts {
            sum += value;
            gradient.add(part);
        }
        let mut gradient = gradient.rows(&self.layout);
        for row in gradient.chunks_exact_mut(self.layout.n_inputs()) {
            self.layout.difference(row);
            let each = row.iter_mut().zip(&problem.scales);
            each.for_each(|(g, s)| *g *= self.scale * s);
        }
        let held = ridge / self.variance;
        let weight: f64 = scaled.iter().map(|w| w * w).sum();
        let each = gradient.iter_mut().zip(scaled);
        each.for_each(|(g, w)| *g += held * w);
        (0.5 * (self.scale * sum + held * weight), gradient)
    }
}

/// The weights of plain inputs, apart.
struct Weights {
    /// Of body and root, shape [cloth, body + root].
    drive: Vec<f64>,
    /// Bᵢ, one after the other, shape [cloth, cloth].
    memory: Vec<Vec<f64>>,
}

impl Weights {
    fn new(layout: &Layout, rows: &[f64]) -> Self {
        let (k, body) = (layout.n_cloth, layout.n_body);
        let past = body + layout.order * k;
        let rows = rows.chunks_exact(layout.n_inputs());
        let drive = rows.clone().flat_map(|row| [&row[..body], &row[past..]]);
        let block = |i: usize| {
            let own = rows
                .clone()
                .map(|row| &row[body + i * k..body + (i + 1) * k]);
            own.flatten().copied().collect()
        };
        Self {
            drive: drive.flatten().copied().collect(),
            memory: (0..layout.order).map(block).collect(),
        }
    }

    fn zero(&self) -> Self {
        Self {
            drive: vec![0.0; self.drive.len()],
            memory: vec![vec![0.0; self.memory[0].len()]; self.memory.len()],
        }
    }

    fn add(&mut self, other: &Self) {
        let drive = (&mut self.drive, &other.drive);
        let memory = self.memory.iter_mut().zip(&other.memory);
        for (own, other) in std::iter::once(drive).chain(memory) {
            own.iter_mut().zip(other).for_each(|(a, b)| *a += b);
        }
    }

    /// As rows of plain inputs again.
    fn rows(&self, layout: &Layout) -> Vec<f64> {
        let (k, body) = (layout.n_cloth, layout.n_body);
        let n_drive = layout.n_inputs() - layout.order * k;
        let mut rows = Vec::with_capacity(k * layout.n_inputs());
        for (row, drive) in self.drive.chunks_exact(n_drive).enumerate() {
            rows.extend_from_slice(&drive[..body]);
            for block in &self.memory {
                rows.extend_from_slice(&block[row * k..(row + 1) * k]);
            }
            rows.extend_from_slice(&drive[body..]);
        }
        rows
    }
}

impl Group {
    fn of_clips(layout: &Layout, clips: &[Clip], still: &[f64]) -> Self {
        let (k, body, order) = (layout.n_cloth, layout.n_body, layout.order);
        let n_drive = layout.n_inputs() - order * k;
        let mut start = Vec::with_capacity(order * clips.len() * k);
        for frame in 0..order {
            for clip in clips {
                let x = Dense::new(&clip.first[frame * body..(frame + 1) * body], 1, body);
                start.extend(product(x, Dense::new(still, k, body).transposed()));
            }
        }
        let (mut inputs, mut cloth, mut frames) = (Vec::new(), Vec::new(), Vec::new());
        for t in 0.. {
            let mut n_rows = 0;
            for clip in clips {
                let Some(y) = clip.cloth.get(t * k..(t + 1) * k) else {
                    break;
                };
                cloth.extend_from_slice(y);
                inputs.extend_from_slice(&clip.inputs[t * n_drive..(t + 1) * n_drive]);
                n_rows += 1;
            }
            if n_rows == 0 {
                break;
            }
            frames.push((n_rows, 1.0));
        }
        Self {
            start,
            inputs,
            cloth,
            frames,
        }
    }

    /// Each coefficient set off by `size`, at rest and moving, with nothing that
    /// drives the cloth; all together count as much as `count` frames.
    fn forgetting(layout: &Layout, size: f64, count: f64) -> Self {
        let (k, order) = (layout.n_cloth, layout.order);
        let n_rows = 2 * k;
        let mut start = vec![0.0; order * n_rows * k];
        for (frame, rows) in start.chunks_exact_mut(n_rows * k).enumerate() {
            for at in 0..k {
                rows[at * k + at] = size;
                if frame + 1 == order {
                    rows[(k + at) * k + at] = KICK * size;
                }
            }
        }
        let weight = count / (n_rows * FORGET.len()) as f64;
        let frames = (0..FORGET.end).map(|t| match FORGET.contains(&t) {
            true => (n_rows, weight),
            false => (n_rows, 0.0),
        });
        Self {
            start,
            inputs: Vec::new(),
            cloth: vec![0.0; FORGET.end * n_rows * k],
            frames: frames.collect(),
        }
    }

    /// Σ w ‖ŷ − y‖² and half its gradient.
    fn value(&self, layout: &Layout, weights: &Weights) -> (f64, Weights) {
        let (k, order) = (layout.n_cloth, layout.order);
        let n_drive = layout.n_inputs() - order * k;
        let n_rows = self.cloth.len() / k;
        let before = self.start.len();
        let mut y = self.start.clone();
        match self.inputs.is_empty() {
            true => y.resize(before + n_rows * k, 0.0),
            false => y.extend(product(
                Dense::new(&self.inputs, n_rows, n_drive),
                Dense::new(&weights.drive, k, n_drive).transposed(),
            )),
        }
        // Where each frame begins, those of the start among them.
        let of_start = before / order;
        let mut begins: Vec<usize> = (0..order).map(|frame| frame * of_start).collect();
        let mut at = before;
        for (rows, _) in &self.frames {
            begins.push(at);
            at += rows * k;
        }
        for (t, (rows, _)) in self.frames.iter().enumerate() {
            let (past, now) = y.split_at_mut(begins[t + order]);
            for (i, block) in weights.memory.iter().enumerate() {
                let from = begins[t + order - 1 - i];
                let last = Dense::new(&past[from..from + rows * k], *rows, k);
                let block = Dense::new(block, k, k).transposed();
                add_product(last, block, &mut now[..rows * k]);
            }
        }
        // λ begins as the errors.
        let mut slope = vec![0.0; y.len()];
        let mut sum = 0.0;
        let mut row = before;
        for (rows, weight) in &self.frames {
            for at in row..row + rows * k {
                let error = y[at] - self.cloth[at - before];
                sum += weight * error * error;
                slope[at] = weight * error;
            }
            row += rows * k;
        }
        let mut gradient = weights.zero();
        if !sum.is_finite() {
            return (f64::INFINITY, gradient);
        }
        for (t, (rows, _)) in self.frames.iter().enumerate().rev() {
            let (past, now) = slope.split_at_mut(begins[t + order]);
            let own = Dense::new(&now[..rows * k], *rows, k);
            for (i, block) in weights.memory.iter().enumerate() {
                let from = begins[t + order - 1 - i];
                let last = Dense::new(&y[from..from + rows * k], *rows, k);
                add_product(own.transposed(), last, &mut gradient.memory[i]);
                if from >= before {
                    let to = &mut past[from..from + rows * k];
                    add_product(own, Dense::new(block, k, k), to);
                }
            }
        }
        if !self.inputs.is_empty() {
            let slope = Dense::new(&slope[before..], n_rows, k);
            let inputs = Dense::new(&self.inputs, n_rows, n_drive);
            add_product(slope.transposed(), inputs, &mut gradient.drive);
        }
        (sum, gradient)
    }
}

#[cfg(test)]
mod tests {
    use drapery_runtime::RootTerms;

    use super::*;
    use crate::least_squares::Sums;

    const LAYOUT: Layout = Layout {
        n_body: 1,
        n_cloth: 2,
        order: 2,
        root: RootTerms::Without,
    };

    /// x, and a swing of radius 0.9 that it drives.
    const TRUTH: [f64; 10] = [0.5, 1.7, 0.1, -0.81, 0.0, -0.3, 0.2, 0.4, 0.0, 0.1];

    const STILL: [f64; 2] = [0.3, -0.1];

    fn next(weights: &[f64], x: f64, past: &[[f64; 2]]) -> [f64; 2] {
        let n = past.len();
        let [last, older] = [past[n - 1], past[n - 2]];
        [0, 5].map(|row| {
            let w = &weights[row..row + 5];
            w[0] * x + w[1] * last[0] + w[2] * last[1] + w[3] * older[0] + w[4] * older[1]
        })
    }

    /// Clips of that length that do as TRUTH says, and what is seen of them is off
    /// by up to `noise`, with their least-squares problem.
    fn clips(lengths: &[usize], noise: f64) -> (Vec<Clip>, LeastSquares) {
        let mut sums = Sums::new(5, 2);
        let clips = lengths.iter().enumerate().map(|(at, length)| {
            let x = |t: usize| (0.7 * t as f64 + at as f64).sin() + 0.4 * (2.3 * t as f64).cos();
            let mut y: Vec<[f64; 2]> = (0..2).map(|t| STILL.map(|s| s * x(t))).collect();
            let mut clip = Clip {
                first: vec![x(0), x(1)],
                ..Clip::default()
            };
            let mut seen = y.clone();
            for t in 2..*length {
                y.push(next(&TRUTH, x(t), &y));
                let off = |c: f64| noise * (12.9898 * (t as f64 + c + 31.0 * at as f64)).sin();
                seen.push([y[t][0] + off(0.1), y[t][1] + off(0.6)]);
                let mut row = vec![x(t)];
                row.extend(seen[t - 1].iter().chain(&seen[t - 2]));
                LAYOUT.difference(&mut row);
                row.extend(seen[t]);
                sums.add(&row);
                clip.inputs.push(x(t));
                clip.cloth.extend(seen[t]);
            }
            clip
        });
        let clips = clips.collect();
        (clips, sums.problem(&LAYOUT.blocks(1.0)).unwrap())
    }

    #[test]
    fn gradients_are_exact_to_second_order() {
        let (clips, problem) = clips(&[7, 12, 30], 0.02);
        let roll_outs = RollOuts::new(LAYOUT, clips, &STILL);
        let base: Vec<f64> = problem.solve(1e-3).iter().map(|w| 0.9 * w).collect();
        let direction: Vec<f64> = (0..10).map(|i| (1.1 * i as f64).sin()).collect();
        let (value, gradient) = roll_outs.value(&problem, 1e-3, &base);
        let along: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let remainder = |h: f64| {
            let moved: Vec<f64> = (base.iter().zip(&direction))
                .map(|(w, d)| w + h * d)
                .collect();
            roll_outs.value(&problem, 1e-3, &moved).0 - value - h * along
        };
        let order = (remainder(1e-4) / remainder(5e-5)).abs().log2();
        assert!((1.9..2.1).contains(&order), "remainder falls as h^{order}");
    }

    /// By hand: each clip by itself, from model A's two frames.
    #[test]
    fn the_value_is_that_of_clips_rolled_out_one_by_one() {
        let (all, problem) = clips(&[9, 5, 14, 2], 0.05);
        let scaled: Vec<f64> = problem.solve(1e-2);
        let weights = plain(&problem, &LAYOUT, &scaled);
        let (mut squares, mut sizes, mut n) = (0.0, 0.0, 0);
        for clip in &all {
            let mut y: Vec<[f64; 2]> = (0..2).map(|t| STILL.map(|s| s * clip.first[t])).collect();
            for (x, seen) in clip.inputs.iter().zip(clip.cloth.chunks_exact(2)) {
                y.push(next(&weights, *x, &y));
                let own = y[y.len() - 1];
                squares += (own[0] - seen[0]).powi(2) + (own[1] - seen[1]).powi(2);
                sizes += seen[0].powi(2) + seen[1].powi(2);
                n += 1;
            }
        }
        // What is left of each start counts as many frames again, in all.
        let size = (sizes / f64::from(n)).sqrt();
        let mut left = 0.0;
        for start in [[1.0, 0.0], [0.0, 1.0]] {
            for first in [size, 0.0] {
                let last = if first == 0.0 { KICK * size } else { size };
                let mut y = vec![start.map(|s| s * first), start.map(|s| s * last)];
                for t in 0..FORGET.end {
                    y.push(next(&weights, 0.0, &y));
                    if FORGET.contains(&t) {
                        left += y[t + 2].iter().map(|v| v * v).sum::<f64>();
                    }
                }
            }
        }
        left *= FORGETTING * f64::from(n) / (4 * FORGET.len()) as f64;
        let held: f64 = scaled.iter().map(|w| 1e-2 * w * w).sum();
        let expected = 0.5 * ((squares + left) / sizes + held * f64::from(n) / sizes);
        let (found, _) = RollOuts::new(LAYOUT, all, &STILL).value(&problem, 1e-2, &scaled);
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    /// Noise on the past draws one-step weights towards forgetting; whole
    /// roll-outs have no such noise.
    #[test]
    fn a_swing_is_found_where_one_step_loses_it() {
        let (clips, problem) = clips(&[60; 20], 0.3);
        let roll_outs = RollOuts::new(LAYOUT, clips, &STILL);
        let off = |weights: &[f64]| {
            let off = weights.iter().zip(TRUTH).map(|(w, t)| (w - t).abs());
            off.fold(0.0, f64::max)
        };
        let ridge = 1e-9;
        let one_step = off(&plain(&problem, &LAYOUT, &problem.solve(ridge)));
        let mut rolled_out = f64::NAN;
        let each = |_, weights: Vec<f64>| {
            rolled_out = off(&weights);
            Ok(())
        };
        roll_outs.descend(&problem, ridge, 200, each).unwrap();
        assert!(one_step > 0.3, "{one_step}");
        assert!(rolled_out < 0.06, "{rolled_out}");
    }
}
