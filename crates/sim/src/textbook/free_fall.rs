//! A sheet in empty space: what it falls by, and what it keeps.
//!
//! Whatever a sheet does within itself, its centre of mass falls by the
//! integrator's own sum: after n steps of dt
//!
//! ```text
//! Euler      g dt² n(n + 1)/2
//! midpoint   g dt² n²/2
//! ```
//!
//! and not sideways. Without gravity its momentum stays, as internal forces and
//! their moments sum to zero. The midpoint rule keeps angular momentum as
//! well. Implicit Euler does not; its loss in a turn is reported, and so is
//! that of the fast solver, which stops short of the exact answer.
//!
//! The sheet is buckled and strained by one per cent at the start, so that it
//! trembles; by a fifth of that with the midpoint rule, which does not survive
//! strong trembling that its steps do not resolve (see `energy_budget.rs`).

use std::f64::consts::TAU;

use drapery_core::Fabric;
use glam::DVec3;

use super::dice::Dice;
use super::statics::GRAVITY;
use super::suite::Job;
use super::way::Way;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble};
use crate::{Cloth, Integrator, Simulation, SimulationConfig, Solver};

/// 1e-9 relative.
const LIMIT_PERCENT: f64 = 1e-7;
/// 1e-6 a turn.
const TURN_LIMIT_PERCENT: f64 = 1e-4;
const LENGTH: f64 = 0.3;
/// Turns a second of the spinning sheet.
const TURNS_A_SECOND: f64 = 2.0;
/// Steps in a turn.
const N_TURN: u32 = 150;
/// A tolerance at which hardly more than rounding is left to solve [m/s].
const EXACT: f64 = 1e-8;

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let n_steps = match size {
        Size::Quick => 60,
        Size::Full => 300,
    };
    let mut jobs: Vec<Job> = Vec::new();
    for triangulation in Triangulation::BOTH {
        jobs.push(Box::new(move || internal_forces(triangulation)));
        for way in Way::ALL {
            let sheet = Sheet { triangulation, way };
            jobs.push(Box::new(move || {
                let mut cases = sheet.fall(n_steps);
                cases.push(sheet.momentum(n_steps));
                cases
            }));
        }
        jobs.push(Box::new(move || vec![spin(triangulation)]));
    }
    jobs
}

/// A sheet strained by so much, about [%].
fn sheet(triangulation: Triangulation, strain: f64) -> (Cloth, Vec<DVec3>) {
    let fabric = Fabric::plain("sheet", 0.15, 500.0, 1e-5);
    let flat = Rectangle::new(LENGTH, 12, 8, triangulation).expect("cells have area");
    let cloth = Cloth::new(&flat.rest, &fabric, &[]).expect("a sound fabric");
    let buckled = flat.points.iter().map(|p| {
        let wave = strain * (25.0 * p.x + 10.0 * p.y).sin();
        let across = p.y + 0.001 * wave;
        DVec3::new((1.0 + 0.01 * strain) * p.x, 0.005 * wave, across)
    });
    (cloth, buckled.collect())
}

/// One sheet, one way.
#[derive(Clone, Copy)]
struct Sheet {
    triangulation: Triangulation,
    way: Way,
}

impl Sheet {
    fn name(self) -> String {
        format!("{}, {}", self.way.name(), self.triangulation.name())
    }

    /// The sheet that it can bear.
    fn sheet(self) -> (Cloth, Vec<DVec3>) {
        let strain = match self.way.integrator {
            Integrator::Euler | Integrator::Bdf2 => 1.0,
            Integrator::Midpoint => 0.2,
        };
        sheet(self.triangulation, strain)
    }

    fn simulation(self, gravity: DVec3) -> Result<Simulation, Trouble> {
        let (cloth, x) = self.sheet();
        let config = SimulationConfig {
            integrator: self.way.integrator,
            solver: self.way.solver,
            gravity,
            ..SimulationConfig::default()
        };
        Ok(Simulation::new(cloth, x, config)?)
    }

    fn fall(self, n_steps: u32) -> Vec<Case> {
        let moved = || -> Result<(DVec3, f64), Trouble> {
            let mut simulation = self.simulation(DVec3::NEG_Y * GRAVITY)?;
            let start = centre(&simulation);
            for _ in 0..n_steps {
                simulation.step()?;
            }
            Ok((centre(&simulation) - start, simulation.config().dt))
        };
        let moved = moved();
        let dt = moved.as_ref().map_or(0.0, |m| m.1);
        let n = f64::from(n_steps);
        let squares = match self.way.integrator {
            Integrator::Euler => n * (n + 1.0) / 2.0,
            Integrator::Midpoint => n * n / 2.0,
            Integrator::Bdf2 => two_step_fall(n_steps),
        };
        let expected = GRAVITY * dt * dt * squares;
        let case = |what: &str, measured, reference| {
            let case = format!("{what} in {n_steps} steps, {}", self.name());
            Case::of(Test::FreeFall, case, measured, reference, LIMIT_PERCENT)
        };
        let drop = moved.clone().map(|m| -m.0.y);
        let aside = moved.map(|m| m.0.x.hypot(m.0.z) / expected);
        vec![
            case("fall", drop, expected),
            case("drift aside", aside, 0.0),
        ]
    }

    fn momentum(self, n_steps: u32) -> Case {
        let lost = || -> Result<f64, Trouble> {
            let mut simulation = self.simulation(DVec3::ZERO)?;
            let velocities = vec![DVec3::new(0.3, 0.2, -0.5); simulation.positions().len()];
            simulation.set_velocities(&velocities)?;
            let start = momentum(&simulation);
            for _ in 0..n_steps {
                simulation.step()?;
            }
            Ok((momentum(&simulation) - start).length() / start.length())
        };
        let case = format!("momentum lost in {n_steps} steps, {}", self.name());
        Case::of(Test::FreeFall, case, lost(), 0.0, LIMIT_PERCENT)
    }

    /// The share of angular momentum lost in one turn.
    fn turn(self, tolerance: f64) -> Result<f64, Trouble> {
        let (cloth, x) = self.sheet();
        let config = SimulationConfig {
            dt: 1.0 / (TURNS_A_SECOND * f64::from(N_TURN)),
            integrator: self.way.integrator,
            solver: self.way.solver,
            gravity: DVec3::ZERO,
            tolerance,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(cloth, x, config)?;
        let middle = centre(&simulation);
        let spin = DVec3::new(0.2, 1.0, 0.3).normalize() * (TAU * TURNS_A_SECOND);
        let places = simulation.positions().iter();
        let velocities: Vec<DVec3> = places.map(|x| spin.cross(*x - middle)).collect();
        simulation.set_velocities(&velocities)?;
        let start = angular_momentum(&simulation);
        for _ in 0..N_TURN {
            simulation.step()?;
        }
        Ok((angular_momentum(&simulation) - start).length() / start.length())
    }
}

/// Angular momentum: judged with the midpoint rule solved to the end.
fn spin(triangulation: Triangulation) -> Case {
    let lost = |integrator, solver, tolerance| {
        let way = Way::new(integrator, solver);
        Sheet { triangulation, way }.turn(tolerance)
    };
    let case = format!(
        "angular momentum lost in a turn, {}, {}",
        Way::new(Integrator::Midpoint, Solver::Direct).name(),
        triangulation.name()
    );
    let judged = lost(Integrator::Midpoint, Solver::Direct, EXACT);
    let mut case = Case::of(Test::FreeFall, case, judged, 0.0, TURN_LIMIT_PERCENT);
    let usual = SimulationConfig::default().tolerance;
    for (name, integrator, solver, tolerance) in [
        (
            "lost_by_euler_percent",
            Integrator::Euler,
            Solver::Direct,
            EXACT,
        ),
        (
            "lost_by_fast_euler_percent",
            Integrator::Euler,
            Solver::Iterative,
            usual,
        ),
        (
            "lost_by_fast_midpoint_percent",
            Integrator::Midpoint,
            Solver::Iterative,
            usual,
        ),
    ] {
        let share = lost(integrator, solver, tolerance).unwrap_or(f64::NAN);
        case = case.with(name, 100.0 * share);
    }
    case
}

/// Elastic forces of a crumpled sheet, summed.
fn internal_forces(triangulation: Triangulation) -> Vec<Case> {
    let (cloth, mut x) = sheet(triangulation, 1.0);
    let mut dice = Dice(7);
    for p in &mut x {
        *p += DVec3::new(dice.signed(), dice.signed(), dice.signed()) * (0.2 * LENGTH / 12.0);
    }
    let mut gradient = vec![DVec3::ZERO; x.len()];
    cloth.add_gradient(&x, &mut gradient);
    let middle: DVec3 = x.iter().sum::<DVec3>() / x.len() as f64;
    let (mut force, mut forces) = (DVec3::ZERO, 0.0);
    let (mut moment, mut moments) = (DVec3::ZERO, 0.0);
    for (x, g) in x.iter().zip(&gradient) {
        let m = (*x - middle).cross(*g);
        force += *g;
        forces += g.length();
        moment += m;
        moments += m.length();
    }
    let case = |what: &str, measured: f64| {
        let case = format!("{what}, {}", triangulation.name());
        Case::new(Test::FreeFall, case, measured, 0.0, LIMIT_PERCENT)
    };
    vec![
        case(
            "sum of internal forces over their sizes",
            force.length() / forces,
        ),
        case(
            "sum of their moments over their sizes",
            moment.length() / moments,
        ),
    ]
}

fn centre(simulation: &Simulation) -> DVec3 {
    let masses = simulation.cloth().masses();
    let places = masses.iter().zip(simulation.positions());
    places.map(|(m, x)| *x * *m).sum::<DVec3>() / masses.iter().sum::<f64>()
}

fn momentum(simulation: &Simulation) -> DVec3 {
    let masses = simulation.cloth().masses().iter();
    masses
        .zip(simulation.velocities())
        .map(|(m, v)| *v * *m)
        .sum()
}

fn angular_momentum(simulation: &Simulation) -> DVec3 {
    let middle = centre(simulation);
    let masses = simulation.cloth().masses().iter();
    let state = simulation.positions().iter().zip(simulation.velocities());
    masses
        .zip(state)
        .map(|(m, (x, v))| (*x - middle).cross(*v) * *m)
        .sum()
}

/// How far BDF2 falls in units of g h², one step of Euler's first:
/// 3v − 4vₙ + vₙ₋₁ = 2 and 3x − 4xₙ + xₙ₋₁ = 2v.
fn two_step_fall(n_steps: u32) -> f64 {
    let (mut before, mut now) = ((0.0, 0.0), (1.0, 1.0));
    for _ in 1..n_steps {
        let v = (2.0 + 4.0 * now.1 - before.1) / 3.0;
        let x = (2.0 * v + 4.0 * now.0 - before.0) / 3.0;
        (before, now) = (now, (x, v));
    }
    now.0
}
