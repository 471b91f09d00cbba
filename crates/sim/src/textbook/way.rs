//! How an experiment is integrated and solved: [`Way`].

use crate::{Integrator, Solver};

/// An integrator with a solver.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) integrator: Integrator,
    pub(super) solver: Solver,
}

impl Way {
    pub(super) const ALL: [Self; 6] = [
        Self::new(Integrator::Euler, Solver::Direct),
        Self::new(Integrator::Euler, Solver::Iterative),
        Self::new(Integrator::Midpoint, Solver::Direct),
        Self::new(Integrator::Midpoint, Solver::Iterative),
        Self::new(Integrator::Bdf2, Solver::Direct),
        Self::new(Integrator::Bdf2, Solver::Iterative),
    ];

    pub(super) const fn new(integrator: Integrator, solver: Solver) -> Self {
        Self { integrator, solver }
    }

    /// What it is called in reports.
    pub(super) fn name(self) -> String {
        let solver = match self.solver {
            Solver::Direct => "direct",
            Solver::Iterative => "iterative",
        };
        format!("{}, {solver}", rule(self.integrator))
    }
}

/// What an integrator is called in reports.
pub(super) const fn rule(integrator: Integrator) -> &'static str {
    match integrator {
        Integrator::Euler => "Euler",
        Integrator::Midpoint => "midpoint",
        Integrator::Bdf2 => "BDF2",
    }
}
