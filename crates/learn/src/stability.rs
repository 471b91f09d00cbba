//! Least squares under the condition that the dynamics are stable.
//!
//! ```text
//! min ‖W − W₀‖²_H   so that   |λₖ(M(W))| ≤ r for every eigenvalue
//! ```
//!
//! with W₀ the fit without the condition, H the Hessian of the squares and M
//! the companion matrix of W. Magnitudes of eigenvalues have no slope where two of
//! them meet, and there a search along them is caught. What a stable M answers to
//! a push in any direction, summed over all frames, is smooth, and without end at
//! the limit:
//!
//! ```text
//! F = ½ ‖W − W₀‖²_H + ν log tr P,      P = A P Aᵀ + I,      A = M / r
//! ∂ log tr P / ∂A = 2 Q A P / tr P,    Q = Aᵀ Q A + I
//! ```
//!
//! (the smoothed spectral radius of Vanbiervliet, Vandereycken, Michiels, Vandewalle,
//! Diehl, "The Smoothed Spectral Abscissa for Robust Stability Optimization", 2009, as a
//! barrier). Its least is sought by limited-memory BFGS for less and less ν, from the fit
//! with the least ridge that is stable by itself, in coordinates in which H with a little
//! on its diagonal is the identity. P and Q are sums that double in length: S ← S + Aᵢ S Aᵢᵀ, Aᵢ₊₁ = Aᵢ².
//!
//! Bᵢ ← γⁱ Bᵢ with γ = r / ρ scales every eigenvalue by γ, exactly; the other weights
//! stay. It costs far more in squares one frame ahead, and next to nothing to find:
//! weights of whole roll-outs are held so, and of least squares both are there to choose
//! from.

use drapery_linalg::{Dense, NoEigenvalues, add_product, product, spectral_radius};

use crate::TrainError;
use crate::inputs::Layout;
use crate::lbfgs::descend;
use crate::least_squares::LeastSquares;

/// How weights were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitKind {
    /// By least squares alone.
    Free,
    /// By least squares under the condition of stability.
    Constrained,
    /// By scaling the memory of the cloth.
    Scaled,
    /// By whole roll-outs of the clips that train.
    RolledOut,
    /// The same, with the memory of the cloth scaled to be stable.
    RolledOutScaled,
}

impl FitKind {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Constrained => "constrained",
            Self::Scaled => "scaled",
            Self::RolledOut => "rolled out",
            Self::RolledOutScaled => "rolled out, scaled",
        }
    }
}

/// Weights of the dynamics.
pub(crate) struct Fit {
    /// For plain inputs, shape [cloth, input].
    pub(crate) weights: Vec<f64>,
    pub(crate) kind: FitKind,
    /// Of the companion matrix.
    #[cfg(test)]
    pub(crate) radius: f64,
    /// The same of the fit without the condition.
    pub(crate) free_radius: f64,
}

/// How far inside the limit scaled weights are.
const INSIDE: f64 = 2e-4;

/// A ridge with which a fit is stable is found to that factor.
const RIDGE_STEP: f64 = 1.3;

/// The least of these ridges, and how often it is made four times as large.
const LEAST_RIDGE: f64 = 1e-9;
const TIMES_FOUR: usize = 60;

/// How far inside the limit the search begins, as a share of it.
const START: f64 = 1e-3;

/// What the barrier counts at most and in the end, as shares of what the weights cost,
/// and how much less from one stage to the next.
const BARRIER: [f64; 2] = [0.1, 1e-3];
const LESS: f64 = 0.2;

/// The ridges of the coordinates that are searched in, one after the other: along what
/// was hardly seen weights are free, and their slopes steep. The more of a ridge, the less
/// of both.
const METRICS: [f64; 3] = [1e-3, 1e-6, 1e-9];

/// Stages, steps in each of their coordinates, and the share of its cost that one has to
/// save in the end.
const STAGES: usize = 8;
const STEPS: usize = 15;
const SAVED: f64 = 0.05;

/// Weights with that ridge whose spectral radius is at most `limit`: least squares where
/// they have it; else constrained ones, and the scaled ones after them. `go_on` is asked
/// again and again.
pub(crate) fn stable_fits(
    problem: &LeastSquares,
    layout: &Layout,
    ridge: f64,
    limit: f64,
    go_on: &dyn Fn() -> Result<(), TrainError>,
) -> Result<Vec<Fit>, TrainError> {
    let n = layout.n_cloth * layout.order;
    let free = problem.solve(ridge);
    let plain = |scaled: &[f64]| plain(problem, layout, scaled);
    let mut weights = plain(&free);
    let free_radius = spectral_radius(&layout.companion(&weights), n)?;
    let fit = |weights, kind, _radius| Fit {
        weights,
        kind,
        #[cfg(test)]
        radius: _radius,
        free_radius,
    };
    if free_radius <= limit {
        return Ok(vec![fit(weights, FitKind::Free, free_radius)]);
    }
    let mut fits = Vec::new();
    if let Some(found) = constrained(problem, layout, ridge, &free, limit, go_on)? {
        let found = plain(&found);
        let radius = spectral_radius(&layout.companion(&found), n)?;
        if radius <= limit {
            fits.push(fit(found, FitKind::Constrained, radius));
        }
    }
    scale_memory(layout, &mut weights, (limit - INSIDE) / free_radius);
    let radius = spectral_radius(&layout.companion(&weights), n)?;
    fits.push(fit(weights, FitKind::Scaled, radius));
    Ok(fits)
}

/// Bᵢ ← γⁱ Bᵢ of plain weights, which scales every eigenvalue by γ.
fn scale_memory(layout: &Layout, weights: &mut [f64], gamma: f64) {
    let past = layout.n_body..layout.n_body + layout.n_cloth * layout.order;
    for row in weights.chunks_exact_mut(layout.n_inputs()) {
        for (block, values) in row[past.clone()]
            .chunks_exact_mut(layout.n_cloth)
            .enumerate()
        {
            let factor = gamma.powi(block as i32 + 1);
            values.iter_mut().for_each(|b| *b *= factor);
        }
    }
}

/// Weights that were found by roll-outs, held stable.
pub(crate) fn stable_roll_out(
    layout: &Layout,
    mut weights: Vec<f64>,
    limit: f64,
) -> Result<Fit, NoEigenvalues> {
    let n = layout.n_cloth * layout.order;
    let free_radius = spectral_radius(&layout.companion(&weights), n)?;
    let kind = match free_radius <= limit {
        true => FitKind::RolledOut,
        false => {
            scale_memory(layout, &mut weights, (limit - INSIDE) / free_radius);
            FitKind::RolledOutScaled
        }
    };
    Ok(Fit {
        #[cfg(test)]
        radius: spectral_radius(&layout.companion(&weights), n)?,
        weights,
        kind,
        free_radius,
    })
}

/// The spectral radius of least squares alone.
pub(crate) fn free_radius(
    problem: &LeastSquares,
    layout: &Layout,
    ridge: f64,
) -> Result<f64, NoEigenvalues> {
    let weights = plain(problem, layout, &problem.solve(ridge));
    spectral_radius(&layout.companion(&weights), layout.n_cloth * layout.order)
}

/// Weights for plain inputs, of those for scaled differences.
pub(crate) fn plain(problem: &LeastSquares, layout: &Layout, scaled: &[f64]) -> Vec<f64> {
    let mut rows = scaled.to_vec();
    for row in rows.chunks_exact_mut(layout.n_inputs()) {
        let each = row.iter_mut().zip(&problem.scales);
        each.for_each(|(w, s)| *w *= s);
    }
    layout.plain(&mut rows);
    rows
}

/// Scaled weights near the free ones that are stable; none where no ridge is enough.
fn constrained(
    problem: &LeastSquares,
    layout: &Layout,
    ridge: f64,
    free: &[f64],
    limit: f64,
    go_on: &dyn Fn() -> Result<(), TrainError>,
) -> Result<Option<Vec<f64>>, TrainError> {
    let Some(start) = with_ridge(problem, layout, ridge, (1.0 - START) * limit)? else {
        return Ok(None);
    };
    let mut here = start;
    // Half of what the weights cost, and its slope.
    let cost = |scaled: &[f64]| {
        let off: Vec<f64> = scaled.iter().zip(free).map(|(w, f)| w - f).collect();
        let slope = problem.times(&off, ridge);
        let twice: f64 = off.iter().zip(&slope).map(|(o, s)| o * s).sum();
        (0.5 * twice, slope)
    };
    let mut count = f64::INFINITY;
    for _ in 0..STAGES {
        let before = cost(&here).0;
        count = (LESS * count).min(BARRIER[0] * before);
        let value = |scaled: &[f64]| {
            let weights = plain(problem, layout, scaled);
            let (barrier, slope) = barrier(layout, &weights, limit)?;
            let (cost, mut gradient) = cost(scaled);
            let slope = scaled_slope(layout, &problem.scales, &slope);
            for (g, s) in gradient.iter_mut().zip(slope) {
                *g += count * s;
            }
            Some((cost + count * barrier, gradient))
        };
        for metric in METRICS {
            let white = problem.whiten(&here, metric);
            let value = |white: &[f64]| match value(&problem.unwhiten(white, metric)) {
                Some((value, gradient)) => (value, problem.whiten_slope(&gradient, metric)),
                None => (f64::INFINITY, vec![0.0; white.len()]),
            };
            let each = |_: usize, _: &[f64]| go_on();
            here = problem.unwhiten(&descend(white, STEPS, value, each)?, metric);
        }
        let after = cost(&here).0;
        if after > (1.0 - SAVED) * before && count < BARRIER[1] * before {
            break;
        }
    }
    Ok(Some(here))
}

/// The fit with nearly the least ridge for which its radius is at most `limit`.
fn with_ridge(
    problem: &LeastSquares,
    layout: &Layout,
    ridge: f64,
    limit: f64,
) -> Result<Option<Vec<f64>>, NoEigenvalues> {
    let stable = |ridge: f64| {
        let fit = problem.solve(ridge);
        let weights = plain(problem, layout, &fit);
        let n = layout.n_cloth * layout.order;
        let radius = spectral_radius(&layout.companion(&weights), n)?;
        Ok((radius <= limit).then_some(fit))
    };
    let mut below = ridge.max(LEAST_RIDGE);
    for _ in 0..TIMES_FOUR {
        let mut above = 4.0 * below;
        let Some(mut found) = stable(above)? else {
            below = above;
            continue;
        };
        while above > RIDGE_STEP * below {
            let middle = (below * above).sqrt();
            match stable(middle)? {
                Some(fit) => (above, found) = (middle, fit),
                None => below = middle,
            }
        }
        return Ok(Some(found));
    }
    Ok(None)
}

/// log tr P of plain weights, and its slope by the memory, shape [cloth, cloth · order];
/// none beyond the limit.
fn barrier(layout: &Layout, weights: &[f64], limit: f64) -> Option<(f64, Vec<f64>)> {
    let n = layout.n_cloth * layout.order;
    let mut power = layout.companion(weights);
    power.iter_mut().for_each(|m| *m /= limit);
    let first = power.clone();
    let mut identity = vec![0.0; n * n];
    identity.iter_mut().step_by(n + 1).for_each(|d| *d = 1.0);
    let (mut p, mut q) = (identity.clone(), identity);
    let trace = |matrix: &[f64]| matrix.iter().step_by(n + 1).sum::<f64>();
    loop {
        let a = Dense::new(&power, n, n);
        let left = product(a, Dense::new(&p, n, n));
        let before = trace(&p);
        add_product(Dense::new(&left, n, n), a.transposed(), &mut p);
        let right = product(Dense::new(&q, n, n), a);
        add_product(a.transposed(), Dense::new(&right, n, n), &mut q);
        let size = trace(&p);
        // A radius so near to the limit is beyond it but for rounding.
        if !size.is_finite() || size > 1e14 {
            return None;
        }
        if size - before <= 1e-12 * size {
            break;
        }
        power = product(a, a);
    }
    let size = trace(&p);
    let rows = Dense::new(&q[..layout.n_cloth * n], layout.n_cloth, n);
    let slope = product(rows, Dense::new(&first, n, n));
    let mut slope = product(Dense::new(&slope, layout.n_cloth, n), Dense::new(&p, n, n));
    slope.iter_mut().for_each(|s| *s *= 2.0 / (size * limit));
    Some((size.ln(), slope))
}

/// A slope by the memory as one by weights of scaled differences, shape [cloth, input].
fn scaled_slope(layout: &Layout, scales: &[f64], memory: &[f64]) -> Vec<f64> {
    let n = layout.n_cloth * layout.order;
    let mut rows = vec![0.0; layout.n_cloth * layout.n_inputs()];
    for (row, memory) in (rows.chunks_exact_mut(layout.n_inputs())).zip(memory.chunks_exact(n)) {
        row[layout.n_body..layout.n_body + n].copy_from_slice(memory);
        layout.difference(row);
        row.iter_mut().zip(scales).for_each(|(g, s)| *g *= s);
    }
    rows
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

    /// Plain weights: a swing of that radius in the first coefficient, driven by
    /// the body, and one that is damped and coupled to it in the second.
    fn truth(radius: f64) -> Vec<f64> {
        let (b1, b2) = (2.0 * radius * 0.3f64.cos(), -radius * radius);
        vec![0.5, b1, 0.1, b2, 0.0, -0.3, 0.2, 0.4, 0.0, 0.1]
    }

    fn problem(radius: f64) -> LeastSquares {
        let weights = truth(radius);
        let mut sums = Sums::new(5, 2);
        let (mut last, mut older) = ([0.3, -0.2], [0.1, 0.4]);
        for t in 0..60 {
            // Start again now and then, or a growing swing is all there is.
            if t % 12 == 0 {
                (last, older) = ([(t as f64).sin(), 0.1], [0.2, (t as f64).cos()]);
            }
            let x = (0.7 * t as f64).sin() + 0.3 * (2.9 * t as f64).cos();
            let mut row = vec![x, last[0], last[1], older[0], older[1]];
            let y = [0, 1].map(|r| dot(&weights[r * 5..r * 5 + 5], &row));
            LAYOUT.difference(&mut row);
            row.extend(y);
            sums.add(&row);
            (last, older) = (y, last);
        }
        sums.problem(&[(1, 1.0); 5]).unwrap()
    }

    #[test]
    fn stable_dynamics_come_back_as_they_are() {
        let fits = stable_fits(&problem(0.95), &LAYOUT, 0.0, 0.99, &|| Ok(())).unwrap();
        let [fit] = &fits[..] else { panic!("one") };
        assert_eq!(fit.kind, FitKind::Free);
        for (found, expected) in fit.weights.iter().zip(truth(0.95)) {
            assert!((found - expected).abs() < 1e-8, "{found} {expected}");
        }
        assert!((fit.radius - fit.free_radius).abs() < 1e-12);
    }

    /// The cost of constrained weights is near the least there is: that of
    /// scaled ones is far above it.
    #[test]
    fn unstable_dynamics_are_changed_as_little_as_it_takes() {
        let problem = problem(1.04);
        let fits = stable_fits(&problem, &LAYOUT, 0.0, 0.99, &|| Ok(())).unwrap();
        let fit = &fits[0];
        assert_eq!(fit.kind, FitKind::Constrained);
        assert!(fit.free_radius > 1.0, "{}", fit.free_radius);
        assert!(fit.radius <= 0.99 && fit.radius > 0.98, "{}", fit.radius);
        // What is not the swing's stays nearly the same.
        let moved: Vec<f64> = fit
            .weights
            .iter()
            .zip(truth(1.04))
            .map(|(a, b)| a - b)
            .collect();
        let most = moved.iter().fold(0.0f64, |m, d| m.max(d.abs()));
        assert!(most < 0.25, "{moved:?}");
    }

    /// Few frames of much cloth, of which many eigenvalues are beyond the limit.
    #[test]
    fn many_unstable_eigenvalues_are_held_at_little_cost() {
        let layout = Layout {
            n_body: 1,
            n_cloth: 8,
            order: 2,
            root: RootTerms::Without,
        };
        let n_inputs = layout.n_inputs();
        let mut sums = Sums::new(n_inputs, 8);
        let mut seen = Vec::new();
        let mut walk = vec![[3.0; 8]; 2];
        for t in 2..32 {
            let push = |i: usize| (12.9898 * (t * 8 + i) as f64).sin();
            let last = walk[t - 1];
            walk.push(std::array::from_fn(|i| last[i] + 0.1 * push(i)));
            let mut row = vec![(0.7 * t as f64).sin()];
            row.extend(walk[t - 1].iter().chain(&walk[t - 2]));
            seen.push((row.clone(), walk[t]));
            layout.difference(&mut row);
            row.extend(walk[t]);
            sums.add(&row);
        }
        let problem = sums.problem(&[(1, 1.0), (8, 1.0), (8, 1.0)]).unwrap();
        let squares = |weights: &[f64]| -> f64 {
            let rows = seen.iter().flat_map(|(row, y)| {
                let outputs = weights.chunks_exact(n_inputs).zip(y);
                outputs.map(move |(w, y)| (dot(w, row) - y).powi(2))
            });
            rows.sum()
        };
        let stop = || Err(TrainError::Stopped);
        let stopped = stable_fits(&problem, &layout, 0.0, 0.99, &stop);
        assert!(matches!(stopped, Err(TrainError::Stopped)));
        let free = plain(&problem, &layout, &problem.solve(0.0));
        let least = squares(&free);
        let fits = stable_fits(&problem, &layout, 0.0, 0.99, &|| Ok(())).unwrap();
        let [fit, scaled] = &fits[..] else {
            panic!("two")
        };
        assert_eq!(
            [fit.kind, scaled.kind],
            [FitKind::Constrained, FitKind::Scaled]
        );
        assert!(fit.free_radius > 1.0, "{}", fit.free_radius);
        assert!(fit.radius <= 0.99, "{}", fit.radius);
        assert!(scaled.radius <= 0.99, "{}", scaled.radius);
        let [held, scaled] = [fit, scaled].map(|fit| squares(&fit.weights) - least);
        assert!(held > 0.0 && held < 0.1 * scaled, "{held} {scaled}");
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn the_barrier_has_its_sum_and_slopes_exact_to_second_order() {
        let base = truth(0.9);
        let value = |w: &[f64]| barrier(&LAYOUT, w, 0.99).unwrap();
        let (at, slope) = value(&base);
        // Σ ‖Aᵏ‖², one after the other.
        let first: Vec<f64> = LAYOUT.companion(&base).iter().map(|m| m / 0.99).collect();
        let mut power = vec![0.0; 16];
        power.iter_mut().step_by(5).for_each(|d| *d = 1.0);
        let mut sum = 0.0;
        for _ in 0..400 {
            sum += dot(&power, &power);
            power = product(Dense::new(&power, 4, 4), Dense::new(&first, 4, 4));
        }
        assert!((at - sum.ln()).abs() < 1e-9, "{at} {}", sum.ln());
        let slope = scaled_slope(&LAYOUT, &[1.0; 5], &slope);
        let mut direction: Vec<f64> = (0..10).map(|i| (1.1 * i as f64).sin()).collect();
        let along = dot(&slope, &direction);
        LAYOUT.plain(&mut direction);
        let remainder = |h: f64| {
            let moved: Vec<f64> = base
                .iter()
                .zip(&direction)
                .map(|(w, d)| w + h * d)
                .collect();
            (value(&moved).0 - at - h * along).abs()
        };
        let order = (remainder(1e-3) / remainder(5e-4)).log2();
        assert!(
            (1.9..2.1).contains(&order),
            "remainder falls as h^{order:.2}"
        );
        assert!(barrier(&LAYOUT, &truth(1.04), 0.99).is_none());
    }
}
