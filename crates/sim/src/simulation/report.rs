//! How a step went, and where the energy is.

use std::fmt;

use drapery_core::FrameIndex;
use glam::DVec3;

use crate::SolveReport;

/// How a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The solves of the step taken together: sums of counts, the worst of
    /// residual and decrement.
    pub solve: SolveReport,
    /// In how many parts the step was taken; one when it went well.
    pub parts: u32,
    /// Contacts in the last part.
    pub touches: u32,
    /// Solves, one a part without contact.
    pub solves: u32,
    /// Vertices that contact forces could not keep out, and that were set back.
    pub set_back: u32,
    /// Whether the contacts of every part were found to be as they had been
    /// solved for before the limit of solves was reached; forces may be off
    /// where not.
    pub contact_settled: bool,
    /// Edges of the cloth that pass through a face of it at the end, while it
    /// is being led out of a state that was crossed; 0 without self-contact.
    pub crossings: u32,
    /// What obstacles gave the cloth [N·s]: pressure and friction as the last
    /// solve of every part has them, over its time.
    pub impulse: DVec3,
}

impl StepReport {
    /// Takes another step into account: counts are summed; of parts, touches
    /// and crossings the most is kept, of residual and decrement the worst.
    pub fn add(&mut self, other: &Self) {
        let is_first = self.parts == 0;
        self.solve.converged |= is_first;
        self.solve.add(&other.solve);
        self.parts = self.parts.max(other.parts);
        self.touches = self.touches.max(other.touches);
        self.solves += other.solves;
        self.set_back += other.set_back;
        self.contact_settled = other.contact_settled && (is_first || self.contact_settled);
        self.crossings = self.crossings.max(other.crossings);
        self.impulse += other.impulse;
    }
}

/// Where the energy of a cloth is [J].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyBudget {
    /// Of motion.
    pub kinetic: f64,
    /// Of stretch and shear.
    pub stretch: f64,
    /// Of bending.
    pub bending: f64,
    /// Of height, zero at the origin.
    pub gravity: f64,
    /// Of attachments.
    pub attachments: f64,
    /// What the fabric's damping has taken since the start.
    pub damped: f64,
}

impl EnergyBudget {
    /// All that is still there [J].
    pub const fn total(&self) -> f64 {
        self.kinetic + self.stretch + self.bending + self.gravity + self.attachments
    }
}

/// What a step failed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The solver used up its iterations, or found no way down.
    NotConverged,
    /// A position or force is not a number.
    NotFinite,
    /// Part of the cloth is held by nothing, not even inertia.
    Unheld,
    /// A triangle was pressed through itself.
    TurnedOver,
    /// Cloth would have passed through something.
    Crossing,
}

impl Failure {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotConverged => "the solver did not converge",
            Self::NotFinite => "a force was no number",
            Self::Unheld => "part of the cloth is held by nothing",
            Self::TurnedOver => "a triangle was pressed through itself",
            Self::Crossing => "cloth could not be kept from passing through something",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A step that could not be taken, however small.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the cloth diverged in frame {}, step {step}, at vertex {vertex}, in steps of {dt:.2e} s too: {failure}",
    frame.0
)]
pub struct Diverged {
    /// The frame.
    pub frame: FrameIndex,
    /// The step, counted from the start.
    pub step: u64,
    /// The vertex at fault: with the largest force that is left, with one that
    /// is no number, or of what turned over or crossed.
    pub vertex: u32,
    /// The smallest steps that were tried [s].
    pub dt: f64,
    /// What the smallest steps failed by.
    pub failure: Failure,
}
