//! How a simulation runs, and what is refused.

use drapery_core::Fabric;
use glam::DVec3;

use crate::{ObstacleError, Solver};

/// How time is discretised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Implicit Euler: first order, damped.
    #[default]
    Euler,
    /// Implicit midpoint: second order, undamped, for small strains.
    Midpoint,
    /// Two-step backward differences: second order, damped where it must be.
    Bdf2,
}

/// How a simulation runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationConfig {
    /// Length of a step [s].
    pub dt: f64,
    /// Steps in a frame, by which errors name the frame.
    pub steps_per_frame: u32,
    /// How time is discretised.
    pub integrator: Integrator,
    /// Where directions come from.
    pub solver: Solver,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// A step is done when another Newton iteration would change velocities by
    /// no more than this, as the root mean square over the mass [m/s]; with
    /// conjugate gradients by the preconditioner's estimate of it. A few
    /// vertices may be farther off.
    pub tolerance: f64,
    /// The same as a share of how fast vertices move when the step begins,
    /// the root mean square of what they differ by from their mean; the larger
    /// of both counts. Cloth in a hurry buckles here and there in the middle of
    /// a solve, and may go on with that in the next step.
    pub relative_tolerance: f64,
    /// The most Newton iterations in a step.
    pub max_iterations: u32,
    /// A step that has used up its iterations is taken as it is, and reported
    /// as not converged, when it is off by no more than so many times the
    /// tolerance, and in quarters of a step however far off it is; and a few
    /// vertices that buckle count for little in what it is off by. At 1 all count, and steps
    /// are taken in ever smaller parts, and in the end refused.
    pub slack: f64,
    /// How far conjugate gradients reduce the residual in one iteration.
    pub forcing: f64,
}

impl Default for SimulationConfig {
    fn default() -> Self {
        Self {
            dt: 1.0 / 300.0,
            steps_per_frame: 10,
            integrator: Integrator::Euler,
            solver: Solver::Iterative,
            gravity: DVec3::new(0.0, -9.81, 0.0),
            tolerance: 0.01,
            relative_tolerance: 0.0,
            max_iterations: 30,
            slack: 1.0,
            forcing: 0.1,
        }
    }
}

/// A vertex that is pulled to a place, not held there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// Which vertex.
    pub vertex: u32,
    /// Where it is pulled to [m].
    pub target: DVec3,
    /// How strongly [N/m].
    pub stiffness: f64,
}

/// How cloth meets what is around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactConfig {
    /// How far off an obstacle cloth rests [m]: stands for its thickness and
    /// for what the middle of an edge dips below its ends.
    pub offset: f64,
    /// Coulomb friction against obstacles.
    pub friction: f64,
}

/// How cloth meets itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfContactConfig {
    /// How far apart layers rest [m].
    pub thickness: f64,
    /// Coulomb friction between layers.
    pub friction: f64,
}

impl Default for SelfContactConfig {
    fn default() -> Self {
        Self {
            thickness: 1e-3,
            friction: 0.3,
        }
    }
}

/// Layers rest no nearer than this, however thin the fabric [m]: contact is
/// found within it.
const THINNEST: f64 = 0.5e-3;
/// Layers rest no farther than this, however thick [m]: more is seen as a gap.
const THICKEST: f64 = 2e-3;

impl SelfContactConfig {
    /// As a fabric is: its thickness, within half a millimetre and two, and
    /// its friction.
    pub const fn of(fabric: &Fabric) -> Self {
        Self {
            thickness: fabric.thickness.clamp(THINNEST, THICKEST),
            friction: fabric.friction,
        }
    }
}

impl Default for ContactConfig {
    fn default() -> Self {
        Self {
            offset: 1.5e-3,
            friction: 0.3,
        }
    }
}

/// What edges and faces may dip below their ends on a body, that the offset
/// has room for beside half the fabric [m].
const SAGITTA: f64 = 1e-3;

impl ContactConfig {
    /// As a fabric is: half its thickness and a millimetre off, at most two
    /// millimetres, with its friction.
    pub const fn of(fabric: &Fabric) -> Self {
        Self {
            offset: (SAGITTA + 0.5 * fabric.thickness).clamp(SAGITTA, THICKEST),
            friction: fabric.friction,
        }
    }
}

/// Why a simulation can't be set up.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The number of positions differs from the number of vertices.
    #[error("there are {found} positions for {expected} vertices")]
    Count {
        /// Positions given.
        found: usize,
        /// Vertices of the cloth.
        expected: usize,
    },
    /// The number of settings differs from the number of pieces.
    #[error("there are settings of contact for {found} pieces, the cloth has {expected}")]
    Pieces {
        /// Settings given.
        found: usize,
        /// Pieces of the cloth.
        expected: usize,
    },
    /// A number is not finite.
    #[error("vertex {vertex} has a position or velocity that is not finite")]
    NotFinite {
        /// Which vertex.
        vertex: usize,
    },
    /// A vertex is not there.
    #[error("vertex {vertex} is not one of the {n_vertices} vertices")]
    NoSuchVertex {
        /// Which vertex.
        vertex: u32,
        /// How many there are.
        n_vertices: usize,
    },
    /// An obstacle is not there.
    #[error("obstacle {obstacle} is not one of the {n_obstacles} obstacles")]
    NoSuchObstacle {
        /// Which obstacle.
        obstacle: usize,
        /// How many there are.
        n_obstacles: usize,
    },
    /// An obstacle moves in another way.
    #[error("obstacle {obstacle} is {is}, and does not move like {not}")]
    ObstacleKind {
        /// Which obstacle.
        obstacle: usize,
        /// What it is.
        is: &'static str,
        /// What it was moved like.
        not: &'static str,
    },
    /// A placement is not finite.
    #[error("obstacle {obstacle} has a placement that is not finite")]
    PlacementNotFinite {
        /// Which obstacle.
        obstacle: usize,
    },
    /// A mesh can't move so.
    #[error("obstacle {obstacle} can't move")]
    Mesh {
        /// Which obstacle.
        obstacle: usize,
        /// Why.
        source: ObstacleError,
    },
    /// Contact and the midpoint rule don't go together.
    #[error(
        "contact needs Euler's rule or BDF2: the midpoint rule finds contact where a step does not end"
    )]
    ContactAtMidpoint,
    /// A setting is out of range.
    #[error("{what} is {value}, which is not {expected}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
}

pub(super) fn not_negative(what: &'static str, value: f64) -> Result<(), SimulationError> {
    match value.is_finite() && value >= 0.0 {
        true => Ok(()),
        false => Err(SimulationError::Setting {
            what,
            value,
            expected: "zero or a positive number",
        }),
    }
}

pub(super) fn positive(what: &'static str, value: f64) -> Result<(), SimulationError> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(SimulationError::Setting {
            what,
            value,
            expected: "a positive number",
        }),
    }
}

pub(super) fn check(config: &SimulationConfig) -> Result<(), SimulationError> {
    positive("length of a step", config.dt)?;
    positive("number of steps in a frame", config.steps_per_frame.into())?;
    positive("tolerance", config.tolerance)?;
    positive("number of iterations", config.max_iterations.into())?;
    not_negative("relative tolerance", config.relative_tolerance)?;
    positive("slack", config.slack)?;
    positive("forcing", config.forcing)?;
    let gravity = config.gravity.length();
    match gravity.is_finite() {
        true => Ok(()),
        false => Err(SimulationError::Setting {
            what: "gravity",
            value: gravity,
            expected: "a finite number",
        }),
    }
}

pub(super) fn check_finite(values: &[DVec3], expected: usize) -> Result<(), SimulationError> {
    if values.len() != expected {
        return Err(SimulationError::Count {
            found: values.len(),
            expected,
        });
    }
    match values.iter().position(|p| !p.is_finite()) {
        Some(vertex) => Err(SimulationError::NotFinite { vertex }),
        None => Ok(()),
    }
}
