//! Least squares under the condition that the dynamics are stable.
//!
//! ```text
//! min ‖W − W₀‖²_H   so that   |λₖ(M(W))| ≤ r for every eigenvalue
//! ```
//!
//! with W₀ the fit without the condition, H the Hessian of the squares and M
//! the companion matrix of W. An eigenvalue with left vector w and right vector
//! v (wᵀ v = 1) changes by dλ = wᵀ dM v, so its magnitude is linear in W to
//! first order; constraints of all eigenvalues near or beyond r are made at the
//! current W, the quadratic program is solved through its dual (one multiplier
//! an eigenvalue, projected Gauss–Seidel), and so on from there: constraint
//! generation as in Siddiqi, Boots, Gordon, "A Constraint Generation Approach
//! to Learning Stable Linear Dynamical Systems", 2007, with eigenvalues in the
//! place of their singular values, which a companion matrix can't have below
//! one.
//!
//! Where that does not end, Bᵢ ← γⁱ Bᵢ with γ = r / ρ scales every eigenvalue by
//! γ, exactly; the other weights stay.

use drapery_linalg::{GeneralEigen, NoEigenvalues, general_eigen, spectral_radius};

use crate::inputs::Layout;
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

/// Rounds of constraint generation.
const ROUNDS: usize = 60;

/// Eigenvalues so near to the limit are constrained as well: they would be the
/// next to go beyond it.
const NEAR: f64 = 0.02;

/// How far inside the limit the linear constraints aim, since they are linear.
const INSIDE: f64 = 2e-4;

/// Weights with that ridge whose spectral radius is at most `limit`.
pub(crate) fn stable_fit(
    problem: &LeastSquares,
    layout: &Layout,
    ridge: f64,
    limit: f64,
) -> Result<Fit, NoEigenvalues> {
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
        return Ok(fit(weights, FitKind::Free, free_radius));
    }
    let mut scaled = free.clone();
    for round in 0..ROUNDS {
        let Ok(eigen) = general_eigen(&layout.companion(&weights), n) else {
            break;
        };
        if magnitude(eigen.values[0]) <= limit {
            let radius = spectral_radius(&layout.companion(&weights), n)?;
            if radius <= limit {
                return Ok(fit(weights, FitKind::Constrained, radius));
            }
        }
        let next = constrained(problem, layout, ridge, &free, &scaled, &eigen, limit);
        // Whole steps may swing about the limit; half ones settle.
        let step = if round < ROUNDS / 3 { 1.0 } else { 0.5 };
        for (w, next) in scaled.iter_mut().zip(next) {
            *w += step * (next - *w);
        }
        weights = plain(&scaled);
        if weights.iter().any(|w| !w.is_finite()) {
            break;
        }
    }
    let mut weights = plain(&free);
    scale_memory(layout, &mut weights, (limit - INSIDE) / free_radius);
    let radius = spectral_radius(&layout.companion(&weights), n)?;
    Ok(fit(weights, FitKind::Scaled, radius))
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

/// The solution of the quadratic program with constraints made at `at`.
fn constrained(
    problem: &LeastSquares,
    layout: &Layout,
    ridge: f64,
    free: &[f64],
    at: &[f64],
    eigen: &GeneralEigen,
    limit: f64,
) -> Vec<f64> {
    let near = eigen.values.iter().enumerate();
    // One of each pair is enough: both have the same gradient.
    let near = near.filter(|(_, z)| magnitude(**z) > limit - NEAR && z[1] >= -1e-12);
    let mut gradients: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let mut excess = Vec::new();
    for (k, value) in near {
        let gradient = gradient(layout, &problem.scales, eigen, k);
        let here = magnitude(*value) - dot(&gradient, at);
        excess.push(dot(&gradient, free) + here - (limit - INSIDE));
        let moved = problem.times_inverse(&gradient, ridge);
        gradients.push((gradient, moved));
    }
    let n = gradients.len();
    let mut system = vec![0.0; n * n];
    for (i, (gradient, _)) in gradients.iter().enumerate() {
        for (j, (_, moved)) in gradients.iter().enumerate() {
            system[i * n + j] = dot(gradient, moved);
        }
    }
    // μ ≥ 0, A μ ≥ b, and one of the two with equality.
    let mut multipliers = vec![0.0f64; n];
    for _ in 0..2000 {
        let mut change = 0.0f64;
        for i in 0..n {
            let diagonal = system[i * n + i];
            if diagonal <= 0.0 {
                continue;
            }
            let row: f64 = dot(&system[i * n..(i + 1) * n], &multipliers);
            let next = (multipliers[i] + (excess[i] - row) / diagonal).max(0.0);
            change = change.max((next - multipliers[i]).abs() * diagonal);
            multipliers[i] = next;
        }
        if change < 1e-9 {
            break;
        }
    }
    let mut next = free.to_vec();
    for (multiplier, (_, moved)) in multipliers.iter().zip(&gradients) {
        for (w, moved) in next.iter_mut().zip(moved) {
            *w -= multiplier * moved;
        }
    }
    next
}

/// How the magnitude of an eigenvalue changes with the weights of scaled
/// differences, shape [cloth, input].
fn gradient(layout: &Layout, scales: &[f64], eigen: &GeneralEigen, k: usize) -> Vec<f64> {
    let n = layout.n_cloth * layout.order;
    let value = eigen.values[k];
    let size = magnitude(value).max(1e-300);
    let mut rows = vec![0.0; layout.n_cloth * layout.n_inputs()];
    for (row, out) in rows.chunks_exact_mut(layout.n_inputs()).enumerate() {
        let left = eigen.inverse[k * n + row];
        // conj(λ)/|λ| · w
        let w = [
            (value[0] * left[0] + value[1] * left[1]) / size,
            (value[0] * left[1] - value[1] * left[0]) / size,
        ];
        for (column, out) in out[layout.n_body..layout.n_body + n].iter_mut().enumerate() {
            let v = eigen.vectors[column * n + k];
            *out = w[0] * v[0] - w[1] * v[1];
        }
        layout.difference(out);
        out.iter_mut().zip(scales).for_each(|(g, s)| *g *= s);
    }
    rows
}

fn magnitude(z: [f64; 2]) -> f64 {
    z[0].hypot(z[1])
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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
        let fit = stable_fit(&problem(0.95), &LAYOUT, 0.0, 0.99).unwrap();
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
        let fit = stable_fit(&problem, &LAYOUT, 0.0, 0.99).unwrap();
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

    #[test]
    fn gradients_of_magnitudes_are_exact_to_second_order() {
        let n = LAYOUT.n_cloth * LAYOUT.order;
        let base = truth(0.9);
        let scales = [1.0; 5];
        let radius = |w: &[f64]| spectral_radius(&LAYOUT.companion(w), n).unwrap();
        let eigen = general_eigen(&LAYOUT.companion(&base), n).unwrap();
        let slope = gradient(&LAYOUT, &scales, &eigen, 0);
        let mut direction: Vec<f64> = (0..10).map(|i| (1.1 * i as f64).sin()).collect();
        let along = dot(&slope, &direction);
        LAYOUT.plain(&mut direction);
        let remainder = |h: f64| {
            let moved: Vec<f64> = base
                .iter()
                .zip(&direction)
                .map(|(w, d)| w + h * d)
                .collect();
            (radius(&moved) - radius(&base) - h * along).abs()
        };
        let order = (remainder(1e-3) / remainder(5e-4)).log2();
        assert!(
            (1.9..2.1).contains(&order),
            "remainder falls as h^{order:.2}"
        );
    }
}
