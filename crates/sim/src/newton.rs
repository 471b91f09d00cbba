//! Newton's method with line search on one objective.
//!
//! ```text
//! Φ(x) = ½ Σ (mᵢ/h²) |xᵢ − yᵢ|² + Ψ(x) − Σ fᵢ · xᵢ
//! ```
//!
//! with y where inertia alone would take the cloth, Ψ its elastic energy and f
//! constant forces such as gravity. With h the time step this is a step of
//! implicit Euler (Adaptive Bases 2014, Eq. 1); without the first term it is
//! rest under load. The Hessian is positive definite by construction, so every
//! direction goes downhill; a step that does not lower Φ enough is halved.

use glam::DVec3;

use crate::Cloth;
use crate::cloth::FreeHessian;

/// When Newton's method stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonConfig {
    /// The most iterations.
    pub max_iterations: u32,
    /// Stop when the predicted decrease of Φ is below this [J].
    pub decrement: f64,
    /// The farthest that a vertex moves in one iteration [m].
    pub max_move: f64,
}

impl Default for NewtonConfig {
    fn default() -> Self {
        Self {
            max_iterations: 200,
            decrement: 1e-14,
            max_move: 0.05,
        }
    }
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Iterations done.
    pub iterations: u32,
    /// The largest force that is left on a free vertex [N].
    pub residual: f64,
    /// The last predicted decrease of Φ [J].
    pub decrement: f64,
    /// How often a step was halved.
    pub cuts: u32,
    /// Whether the decrement fell below its limit.
    pub converged: bool,
}

/// Why a solve failed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A position or force is not a number.
    #[error("vertex {vertex} has a force that is not finite")]
    Diverged {
        /// Which vertex.
        vertex: usize,
    },
    /// The Hessian could not be factored.
    #[error(
        "the stiffness matrix is not positive definite: a part of the cloth is held by nothing"
    )]
    Unheld,
}

/// The objective of a solve beside the cloth's own energy.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// Vertices that stay where they are, shape [vertex].
    pub held: &'a [bool],
    /// Constant forces [N], shape [vertex].
    pub forces: &'a [DVec3],
    /// Where inertia would take each vertex [m] and the time step [s]; none at rest.
    pub inertia: Option<(&'a [DVec3], f64)>,
}

/// Moves the free vertices of `x` to the minimum of Φ.
///
/// # Errors
/// When a force is not finite, or part of the cloth is held by nothing.
///
/// # Panics
/// When a length differs from the number of vertices.
pub fn minimise(
    cloth: &Cloth,
    load: Load<'_>,
    x: &mut [DVec3],
    config: &NewtonConfig,
) -> Result<SolveReport, SolveError> {
    let n = cloth.n_vertices();
    assert!(
        x.len() == n && load.held.len() == n && load.forces.len() == n,
        "one entry a vertex"
    );
    let is_free: Vec<bool> = load.held.iter().map(|h| !h).collect();
    let mut hessian = FreeHessian::new(cloth, &is_free);
    let weight = |vertex: usize| match load.inertia {
        Some((_, step)) => cloth.masses()[vertex] / (step * step),
        None => 0.0,
    };
    let objective = |x: &[DVec3]| {
        let mut value = cloth.energy(x);
        for (vertex, p) in x.iter().enumerate() {
            value -= load.forces[vertex].dot(*p);
            if let Some((target, _)) = load.inertia {
                value += 0.5 * weight(vertex) * p.distance_squared(target[vertex]);
            }
        }
        value
    };
    let mut report = SolveReport::default();
    let mut value = objective(x);
    let mut gradient = vec![DVec3::ZERO; n];
    while report.iterations < config.max_iterations {
        gradient.fill(DVec3::ZERO);
        cloth.add_gradient(x, &mut gradient);
        for (vertex, g) in gradient.iter_mut().enumerate() {
            *g -= load.forces[vertex];
            if let Some((target, _)) = load.inertia {
                *g += (x[vertex] - target[vertex]) * weight(vertex);
            }
            if load.held[vertex] {
                *g = DVec3::ZERO;
            }
            if !g.is_finite() {
                return Err(SolveError::Diverged { vertex });
            }
        }
        report.residual = gradient.iter().map(|g| g.length()).fold(0.0, f64::max);
        let mut step: Vec<DVec3> = gradient.iter().map(|g| -*g).collect();
        if !hessian.solve(cloth, x, weight, &mut step) {
            return Err(SolveError::Unheld);
        }
        report.iterations += 1;
        let slope: f64 = gradient.iter().zip(&step).map(|(g, d)| g.dot(*d)).sum();
        report.decrement = -0.5 * slope;
        if report.decrement <= config.decrement {
            report.converged = true;
            break;
        }
        let farthest = step.iter().map(|d| d.length()).fold(0.0, f64::max);
        let mut share = (config.max_move / farthest.max(f64::MIN_POSITIVE)).min(1.0);
        loop {
            let moved: Vec<DVec3> = x.iter().zip(&step).map(|(p, d)| *p + *d * share).collect();
            let next = objective(&moved);
            // Armijo: a fixed part of what the slope promises.
            if next <= value + 1e-4 * share * slope || share < 1e-12 {
                x.copy_from_slice(&moved);
                value = next;
                break;
            }
            share *= 0.5;
            report.cuts += 1;
        }
    }
    Ok(report)
}
