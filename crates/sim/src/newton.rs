//! Newton's method with line search on an [`Objective`].
//!
//! The Hessian is positive definite by construction, so every direction goes
//! downhill; a step that does not lower Φ enough is halved. Directions come
//! from a sparse factorisation of the Hessian ([`Solver::Direct`]) or from
//! conjugate gradients that are cut short ([`Solver::Iterative`]); both
//! minimise the same function.
//!
//! Directions that are cut short do not quite keep momentum. Where no vertex
//! is held, the cloth is therefore moved as a whole at the end, so that the
//! forces of a step add up as they should.

use glam::{DMat3, DVec3};

use crate::direct::Direct;
use crate::iterative::Iterative;
use crate::objective::Evaluation;
use crate::reduction::dot;
use crate::{Basis, Cloth, Inertia, Objective};

/// Where Newton's directions come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// Sparse Cholesky: exact, the reference.
    #[default]
    Direct,
    /// Preconditioned conjugate gradients: fast, for small time steps.
    Iterative,
}

/// When Newton's method stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonConfig {
    /// Where directions come from.
    pub solver: Solver,
    /// The most iterations.
    pub max_iterations: u32,
    /// Stop when the predicted decrease of Φ is below this [J].
    pub decrement: f64,
    /// The farthest that a vertex moves in one iteration [m].
    pub max_move: f64,
    /// How far conjugate gradients reduce the residual in one iteration.
    pub forcing: f64,
    /// The most that one vertex counts for in the decrease, in multiples of
    /// its part of the limit, which is by mass: so a few that buckle back and
    /// forth keep nobody waiting. All count in full when it is infinite, and
    /// when the decrease is above 400 times its limit.
    pub outlier: f64,
}

impl Default for NewtonConfig {
    fn default() -> Self {
        Self {
            solver: Solver::Direct,
            max_iterations: 200,
            decrement: 1e-14,
            max_move: 0.05,
            forcing: 0.01,
            outlier: f64::INFINITY,
        }
    }
}

impl NewtonConfig {
    /// What counts of a decrement [J] that is the sum of what `each` vertex has.
    fn counted(
        &self,
        objective: &Objective<'_>,
        decrement: f64,
        each: impl Iterator<Item = f64>,
    ) -> f64 {
        if self.outlier.is_infinite() || decrement > FAR_OFF * self.decrement {
            return decrement;
        }
        let masses = objective.cloth.masses();
        let most = self.outlier * self.decrement / masses.iter().sum::<f64>();
        let each = each.zip(masses);
        each.map(|(own, mass)| own.min(most * mass)).sum()
    }
}

/// Conjugate gradients give up after so many iterations; the ladder of smaller
/// steps is the better cure.
const MAX_LINEAR: u32 = 400;

/// Directions are cut shorter when the decrement that they leave, forcing² of
/// what it was, is this share squared of the limit. At 1 every other solve
/// takes an iteration more; at 0 they are never cut shorter.
const ENOUGH: f64 = 0.5;

/// Outliers count in full where the decrement is beyond so many times its
/// limit: twenty times as far off as it should be in the mean.
const FAR_OFF: f64 = 400.0;

/// A line search gives up when it has come to this share of a step.
const LEAST_SHARE: f64 = 1e-9;

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Iterations done.
    pub iterations: u32,
    /// Iterations of conjugate gradients in all of them.
    pub linear_iterations: u32,
    /// The largest force on a free vertex when the last iteration began [N].
    pub residual: f64,
    /// The last predicted decrease of Φ [J].
    pub decrement: f64,
    /// How often a step was halved.
    pub cuts: u32,
    /// Whether the decrement fell below its limit.
    pub converged: bool,
}

impl SolveReport {
    /// Takes another solve into account: counts are added, of residual and
    /// decrement the worse is kept.
    pub(crate) fn add(&mut self, other: &Self) {
        self.iterations += other.iterations;
        self.linear_iterations += other.linear_iterations;
        self.cuts += other.cuts;
        self.residual = self.residual.max(other.residual);
        self.decrement = self.decrement.max(other.decrement);
        self.converged &= other.converged;
    }
}

/// Where a solve begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// Anywhere.
    Afresh,
    /// Where another one has just ended.
    Resumed,
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
    /// The Hessian within a basis could not be factored.
    #[error("the columns of the basis are not independent")]
    DependentBasis,
}

/// Minimises objectives over one cloth, and keeps what can be used again.
#[derive(Clone, Debug, Default)]
pub struct Minimiser {
    direct: Option<Direct>,
    iterative: Option<Iterative>,
    at: Evaluation,
    /// Where a step leads.
    next: Evaluation,
    step: Vec<DVec3>,
    moved: Vec<DVec3>,
}

impl Minimiser {
    /// Moves the free vertices of `x` to the minimum of Φ.
    ///
    /// # Errors
    /// When a force is not finite, or part of the cloth is held by nothing.
    ///
    /// # Panics
    /// When a length differs from the number of vertices, or the minimiser was
    /// used with another cloth.
    pub fn minimise(
        &mut self,
        objective: &Objective<'_>,
        x: &mut [DVec3],
        config: &NewtonConfig,
    ) -> Result<SolveReport, SolveError> {
        self.descend(objective, None, Start::Afresh, x, config)
    }

    /// The same after a solve of almost the same objective: what is left to do
    /// may be nothing at all.
    ///
    /// # Errors
    /// As [`minimise`](Self::minimise).
    ///
    /// # Panics
    /// As [`minimise`](Self::minimise).
    pub fn resume(
        &mut self,
        objective: &Objective<'_>,
        x: &mut [DVec3],
        config: &NewtonConfig,
    ) -> Result<SolveReport, SolveError> {
        self.descend(objective, None, Start::Resumed, x, config)
    }

    /// Moves `x` to the minimum of Φ that a basis can reach from where it is;
    /// the choice of solver is of no account.
    ///
    /// # Errors
    /// When a force is not finite, or the columns of the basis are dependent.
    ///
    /// # Panics
    /// When a length differs from the number of vertices, also that of the
    /// basis' columns.
    pub fn minimise_within(
        &mut self,
        objective: &Objective<'_>,
        basis: &Basis,
        x: &mut [DVec3],
        config: &NewtonConfig,
    ) -> Result<SolveReport, SolveError> {
        assert!(
            basis.is_empty() || basis.n_vertices() == x.len(),
            "a basis has one vector a vertex"
        );
        let config = NewtonConfig {
            solver: Solver::Direct,
            ..*config
        };
        self.descend(objective, Some(basis), Start::Afresh, x, &config)
    }

    fn descend(
        &mut self,
        objective: &Objective<'_>,
        basis: Option<&Basis>,
        start: Start,
        x: &mut [DVec3],
        config: &NewtonConfig,
    ) -> Result<SolveReport, SolveError> {
        let n = objective.cloth.n_vertices();
        assert!(
            x.len() == n && objective.held.len() == n && objective.forces.len() == n,
            "one entry a vertex"
        );
        self.step.resize(n, DVec3::ZERO);
        let mut report = SolveReport::default();
        objective.evaluate(x, &mut self.at);
        while report.iterations < config.max_iterations {
            let broken = self.at.gradient.iter().position(|g| !g.is_finite());
            if let Some(vertex) = broken {
                return Err(SolveError::Diverged { vertex });
            }
            let forces = self.at.gradient.iter().map(|g| g.length());
            report.residual = forces.fold(0.0, f64::max);
            let mut forcing = config.forcing;
            if config.solver == Solver::Iterative
                && let Some(iterative) = &mut self.iterative
                && (report.iterations > 0 || start == Start::Resumed)
            {
                report.decrement = iterative.estimate(&self.at, objective);
                if report.decrement <= config.decrement {
                    report.converged = true;
                    break;
                }
                // What would be enough to be done after this one.
                let enough = ENOUGH * (config.decrement / report.decrement).sqrt();
                forcing = forcing.max(enough);
            }
            // Since the last iteration of the last solve the cloth has hardly moved.
            let is_near = start == Start::Resumed && report.iterations == 0;
            report.iterations += 1;
            match basis {
                None => {
                    report.linear_iterations +=
                        self.find_direction(objective, x, config.solver, forcing, is_near)?;
                }
                Some(basis) => {
                    if !basis.find_direction(objective, x, &self.at.gradient, &mut self.step) {
                        return Err(SolveError::DependentBasis);
                    }
                }
            }

            let slope = dot(&self.at.gradient, &self.step);
            report.decrement = -0.5 * slope;
            let line = objective.along(x, &self.step, &self.at);
            let both = self.at.gradient.iter().zip(&self.step);
            let each = both.map(|(gradient, step)| -0.5 * gradient.dot(*step));
            let counted = config.counted(objective, report.decrement, each);
            if counted <= config.decrement.max(self.at.rounding()) {
                // The last step may be too small to be told from rounding.
                if line.change(1.0, &mut self.moved) <= 0.0 {
                    x.copy_from_slice(&self.moved);
                }
                report.converged = true;
                break;
            }
            let farthest = self.step.iter().map(|d| d.length()).fold(0.0, f64::max);
            let mut share = (config.max_move / farthest.max(f64::MIN_POSITIVE)).min(1.0);
            // Armijo: a fixed part of what the slope promises.
            loop {
                let change = line.evaluate(share, &mut self.moved, &mut self.next);
                if change <= 1e-4 * share * slope {
                    break;
                }
                share *= 0.5;
                report.cuts += 1;
                if share < LEAST_SHARE {
                    return Ok(report);
                }
            }
            x.copy_from_slice(&self.moved);
            std::mem::swap(&mut self.at, &mut self.next);
        }
        if config.solver == Solver::Iterative {
            keep_momentum(objective, x);
        }
        Ok(report)
    }

    /// The vertex with the largest force where a solve has given up.
    pub(crate) fn most_pulled(&self) -> usize {
        let forces = self.at.gradient.iter().map(|g| g.length_squared());
        let worst = forces.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        worst.map_or(0, |(vertex, _)| vertex)
    }

    /// Writes a direction to `step`; gives the linear iterations it took. Near
    /// where the last one was found, the stretch of the triangles is taken to
    /// be as stiff as there.
    fn find_direction(
        &mut self,
        objective: &Objective<'_>,
        x: &[DVec3],
        solver: Solver,
        forcing: f64,
        is_near: bool,
    ) -> Result<u32, SolveError> {
        match solver {
            Solver::Direct => {
                let fits = self.direct.take().filter(|d| d.fits(objective));
                let direct = self
                    .direct
                    .insert(fits.unwrap_or_else(|| Direct::new(objective)));
                if !direct.factor(objective, x) {
                    return Err(SolveError::Unheld);
                }
                for (step, g) in self.step.iter_mut().zip(&self.at.gradient) {
                    *step = -*g;
                }
                direct.solve(&mut self.step);
                Ok(0)
            }
            Solver::Iterative => {
                let is_near = is_near && self.iterative.is_some();
                let iterative = self
                    .iterative
                    .get_or_insert_with(|| Iterative::new(objective.cloth));
                let moved = (!is_near).then_some(x);
                if !iterative.prepare(objective, moved, &self.at) {
                    return Err(SolveError::Unheld);
                }
                Ok(iterative.solve(
                    &self.at.gradient,
                    objective.held,
                    forcing,
                    MAX_LINEAR,
                    &mut self.step,
                ))
            }
        }
    }
}

/// Moves a cloth that nothing holds as a whole so that the gradient sums to
/// zero. Elastic forces do so by themselves.
fn keep_momentum(objective: &Objective<'_>, x: &mut [DVec3]) {
    let Some(Inertia { targets, .. }) = objective.inertia else {
        return;
    };
    if objective.held.contains(&true) || !objective.touches.is_empty() {
        return;
    }
    let (mut force, mut stiffness) = (DVec3::ZERO, DMat3::ZERO);
    for (vertex, p) in x.iter().enumerate() {
        let weight = objective.weight(vertex);
        force += (*p - targets[vertex]) * weight - objective.forces[vertex];
        stiffness += DMat3::from_diagonal(DVec3::splat(weight));
    }
    for spring in objective.springs {
        force += spring.stiffness * (x[spring.vertex as usize] - spring.target);
        stiffness += spring.stiffness;
    }
    let shift = stiffness.inverse() * force;
    if shift.is_finite() {
        for p in x {
            *p -= shift;
        }
    }
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

/// Moves the free vertices of `x` to the minimum of Φ: [`Minimiser`] for once.
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
    let objective = Objective {
        inertia: load.inertia.map(|(targets, dt)| Inertia { targets, dt }),
        ..Objective::at_rest(cloth, load.held, load.forces)
    };
    Minimiser::default().minimise(&objective, x, config)
}
