//! Why an experiment has no result: [`Trouble`].

use drapery_core::AnimateError;

use crate::{Diverged, DrapeError, SimulationError, SolveError, SolveReport};

/// An experiment that failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// There is no rest to be found.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The cloth is not at rest when Newton's method stops.
    #[error(
        "not at rest after {} iterations: a force of {:.1e} N is left",
        report.iterations,
        report.residual
    )]
    Restless {
        /// How the solve went.
        report: SolveReport,
    },
    /// A simulation could not be set up.
    #[error(transparent)]
    SetUp(#[from] SimulationError),
    /// A step failed.
    #[error(transparent)]
    Diverged(#[from] Diverged),
    /// A fabric could not be draped.
    #[error(transparent)]
    Drape(#[from] DrapeError),
    /// A garment could not be taken further on its body.
    #[error(transparent)]
    Animate(#[from] AnimateError),
    /// The cloth did not swing to and fro.
    #[error(
        "{n_passages} passages through the middle in {seconds} s, at least {needed} are needed"
    )]
    NoSwing {
        /// Passages that were seen.
        n_passages: usize,
        /// How long was looked [s].
        seconds: f64,
        /// Passages needed.
        needed: usize,
    },
}
