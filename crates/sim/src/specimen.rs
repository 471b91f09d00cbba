//! Cloth at rest as a laboratory shows it, to look at: a [`StripOverEdge`], a
//! [`DrapedDisc`] and a [`HangingCloth`], each a [`Specimen`].
//!
//! The hanging cloth is simulated in still air, and stopped whenever its kinetic
//! energy has passed a peak, until it is slow or its time is up. From there, as
//! the others from their start, Newton's method on the energy alone takes it to
//! rest. The scenes are such that no part of a cloth comes to another on the
//! way; nothing here would keep them apart.

use std::ops::ControlFlow;

use drapery_core::{Fabric, FabricError, Topology};
use glam::DVec3;

use crate::{
    ClampedEdge, Cloth, Diverged, Load, NewtonConfig, RestShape, RestShapeError, Simulation,
    SimulationConfig, SimulationError, SolveError, Wind, minimise,
};

mod draped_disc;
mod hanging_cloth;
mod strip_over_edge;

pub use draped_disc::DrapedDisc;
pub use hanging_cloth::HangingCloth;
pub use strip_over_edge::StripOverEdge;

/// Standard gravity as everywhere in the simulator [m/s²].
const GRAVITY: f64 = 9.81;

/// Cells that a specimen may have.
const CELLS: &str = "from 4 to 1000";

/// Cloth at rest, to be looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Specimen {
    /// Its triangles.
    pub topology: Topology,
    /// Where its vertices are [m], shape [vertex].
    pub positions: Vec<DVec3>,
    /// How long it fell [s]; zero where it was solved for at once.
    pub seconds: f64,
    /// Whether it is at rest, or as far as the limits let it come.
    pub at_rest: bool,
}

/// Why there is no specimen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecimenError {
    /// The fabric gives energy away.
    #[error(transparent)]
    Fabric(#[from] FabricError),
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
    /// Its cells are too small.
    #[error(transparent)]
    RestShape(#[from] RestShapeError),
    /// It can't be simulated so.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// It could not be simulated.
    #[error(transparent)]
    Diverged(#[from] Diverged),
    /// It can't be solved for where it rests.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The caller broke off.
    #[error("stopped before the cloth was at rest")]
    Stopped,
}

/// An error unless a setting is in its range.
fn within(
    what: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<(), SpecimenError> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(SpecimenError::Setting {
            what,
            value,
            expected,
        }),
    }
}

/// Length of a step of the fall [s]. Long steps damp more, which is welcome.
const DT: f64 = 1.0 / 100.0;

/// How well steps are solved for [m/s]: speeds are taken from the cloth anyway.
const TOLERANCE: f64 = 0.03;

/// Slow enough for Newton's method, as the root mean square over the mass [m/s].
const SLOW: f64 = 5e-3;

/// Steps in a row that have to be slow: one begins with no speed when the
/// cloth was stopped before it, and means little.
const SLOW_STEPS: u32 = 6;

/// Newton iterations between two questions whether to go on.
const ITERATIONS: u32 = 10;

/// At rest when another iteration would lower the energy by no more than this
/// share of the cloth's weight times its size, as if its centre of mass fell by
/// a fraction of a micrometre.
const AT_REST: f64 = 1e-6;

/// How a cloth falls.
struct Fall<'a> {
    rest: &'a RestShape,
    clamps: &'a [ClampedEdge],
    start: Vec<DVec3>,
    held: &'a [u32],
    /// How large it is [m].
    size: f64,
    /// The longest that it falls [s].
    seconds: f64,
    /// The most Newton iterations after that.
    iterations: u32,
}

impl Fall<'_> {
    /// Lets the cloth fall and come to rest. `go_on` is called now and then
    /// with the share of the work that is certainly done.
    fn run(
        self,
        fabric: &Fabric,
        mut go_on: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Specimen, SpecimenError> {
        let cloth = Cloth::new(self.rest, fabric, self.clamps)?;
        let config = SimulationConfig {
            dt: DT,
            tolerance: TOLERANCE,
            ..SimulationConfig::default()
        };
        let still = vec![DVec3::ZERO; self.start.len()];
        let mut held = vec![false; self.start.len()];
        let mut simulation = Simulation::new(cloth, self.start, config)?;
        for vertex in self.held {
            simulation.hold(*vertex)?;
            held[*vertex as usize] = true;
        }
        simulation.set_wind(Some(Wind::blowing(DVec3::ZERO)))?;
        let mass: f64 = simulation.cloth().masses().iter().sum();
        let (mut seconds, mut n_slow, mut before) = (0.0, 0, 0.0);
        while n_slow < SLOW_STEPS && seconds < self.seconds {
            if go_on(0.5 * seconds / self.seconds).is_break() {
                return Err(SpecimenError::Stopped);
            }
            simulation.step()?;
            seconds += DT;
            let speed = (2.0 * simulation.energy().kinetic / mass).sqrt();
            n_slow = if speed < SLOW { n_slow + 1 } else { 0 };
            before = if speed < before {
                simulation.set_velocities(&still)?;
                0.0
            } else {
                speed
            };
        }
        let weights = simulation.cloth().masses().iter();
        let forces: Vec<DVec3> = weights.map(|m| DVec3::NEG_Y * (GRAVITY * m)).collect();
        let load = Load {
            held: &held,
            forces: &forces,
            inertia: None,
        };
        let newton = NewtonConfig {
            max_iterations: ITERATIONS,
            decrement: AT_REST * mass * GRAVITY * self.size,
            max_move: 0.05 * self.size,
            ..NewtonConfig::default()
        };
        let mut positions = simulation.positions().to_vec();
        let (mut iterations, mut at_rest) = (0, false);
        while !at_rest && iterations < self.iterations {
            let done = 0.5 + 0.5 * f64::from(iterations) / f64::from(self.iterations);
            if go_on(done).is_break() {
                return Err(SpecimenError::Stopped);
            }
            at_rest = minimise(simulation.cloth(), load, &mut positions, &newton)?.converged;
            iterations += ITERATIONS;
        }
        Ok(Specimen {
            topology: self.rest.topology().clone(),
            positions,
            seconds,
            at_rest,
        })
    }
}
