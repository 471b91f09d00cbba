//! The same answer at several resolutions and time steps.
//!
//! The cantilever at Γ 10 on three meshes, the coarser ones against the
//! finest; and a strip of cotton that is let go level and swings down from
//! its clamp, in steps that are halved twice: how long its tip takes to pass
//! under the clamp, the longer steps against the shortest.

use drapery_core::Fabric;
use glam::DVec3;

use super::statics::{clamped_start, mean};
use super::suite::Job;
use super::way::rule;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble, cantilever};
use crate::{Cloth, Integrator, Simulation, SimulationConfig, Solver};

const LIMIT_PERCENT: f64 = 3.0;
/// On the way to the last, which counts.
const GAMMAS: [f64; 3] = [2.0, 5.0, 10.0];

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for triangulation in Triangulation::BOTH {
        jobs.push(Box::new(move || resolutions(size, triangulation)));
    }
    for integrator in [Integrator::Euler, Integrator::Midpoint] {
        jobs.push(Box::new(move || steps(size, integrator)));
    }
    jobs
}

fn resolutions(size: Size, triangulation: Triangulation) -> Vec<Case> {
    let resolutions = match size {
        Size::Quick => [12, 20, 40],
        Size::Full => [20, 40, 80],
    };
    let droop = |n| {
        let droops = cantilever::droops(n, triangulation, 2e5, &GAMMAS);
        droops.into_iter().next_back().expect("three droops")
    };
    let [coarse @ .., finest] = resolutions;
    let reference = droop(finest).unwrap_or(f64::NAN);
    let cases = coarse.into_iter().map(|n| {
        let name = triangulation.name();
        let case = format!("cantilever Γ 10, {n} against {finest} elements, {name}");
        Case::of(Test::Independence, case, droop(n), reference, LIMIT_PERCENT)
    });
    cases.collect()
}

fn steps(size: Size, integrator: Integrator) -> Vec<Case> {
    let n = match size {
        Size::Quick => 8,
        Size::Full => 20,
    };
    let triangulation = Triangulation::Unstructured;
    let rates = [300.0, 600.0, 1200.0];
    let [long @ .., shortest] = rates;
    let reference = swing_down(n, triangulation, integrator, shortest).unwrap_or(f64::NAN);
    let cases = long.into_iter().map(|rate| {
        let rule = rule(integrator);
        let case = format!("swing down [s], dt 1/{rate} against 1/{shortest} s, {rule}");
        let found = swing_down(n, triangulation, integrator, rate);
        Case::of(Test::Independence, case, found, reference, LIMIT_PERCENT)
    });
    cases.collect()
}

/// How long the tip takes to pass under the clamp [s].
fn swing_down(
    n: u32,
    triangulation: Triangulation,
    integrator: Integrator,
    rate: f64,
) -> Result<f64, Trouble> {
    let mesh = Rectangle::new(0.3, n, n / 4, triangulation).expect("cells have area");
    let fabric = Fabric::plain("cotton", 0.12, 300.0, 1e-5);
    let clamps = clamped_start(&mesh, DVec3::X);
    let cloth = Cloth::new(&mesh.rest, &fabric, &clamps).expect("a sound fabric");
    let points = mesh.points.iter();
    let x: Vec<DVec3> = points.map(|p| DVec3::new(p.x, 0.0, p.y)).collect();
    let config = SimulationConfig {
        dt: 1.0 / rate,
        integrator,
        solver: Solver::Direct,
        tolerance: 1e-5,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, x, config)?;
    for v in &mesh.start {
        simulation.hold(*v)?;
    }
    let mut reach = 0.3;
    let n_steps = rate as u32;
    for step in 0..n_steps {
        simulation.step()?;
        let next = mean(simulation.positions(), &mesh.end).x;
        if next < 0.0 {
            return Ok((f64::from(step) + reach / (reach - next)) / rate);
        }
        reach = next;
    }
    Err(Trouble::NoSwing {
        n_passages: 0,
        seconds: f64::from(n_steps) / rate,
        needed: 1,
    })
}
