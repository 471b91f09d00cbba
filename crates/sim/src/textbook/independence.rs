//! The same answer at several resolutions and time steps.
//!
//! The cantilever at Γ 10 on three meshes, the coarser ones against the
//! finest; and a strip of cotton that is let go level and swings down from
//! its clamp, in steps that are halved twice: how long its tip takes to pass
//! under the clamp, the longer steps against the shortest.
//!
//! In the full suite also cloth on Cusick's meter, which may rest with one fold
//! more or less: the mean of five drapes that start unevenly in different ways,
//! on three meshes and in steps that are halved twice.

use std::ops::ControlFlow;

use drapery_core::Fabric;
use glam::DVec3;

use super::statics::{GRAVITY, clamped_start, mean};
use super::suite::Job;
use super::way::rule;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble, cantilever};
use crate::{Cloth, DrapeConfig, Integrator, Simulation, SimulationConfig, Solver, drape};

const LIMIT_PERCENT: f64 = 3.0;
const DRAPE_LIMIT_PERCENT: f64 = 6.0;
/// Drapes that a mean is taken of.
const N_DRAPES: u64 = 5;
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
    if size == Size::Full {
        jobs.push(Box::new(|| {
            let cells = [10, 12, 16].map(|n_across| DrapeConfig {
                n_across,
                ..DrapeConfig::default()
            });
            drapes(cells, |c| format!("{} cells", c.n_across))
        }));
        jobs.push(Box::new(|| {
            let steps = [60.0, 120.0, 240.0].map(|rate| DrapeConfig {
                n_across: 6,
                dt: 1.0 / rate,
                ..DrapeConfig::default()
            });
            drapes(steps, |c| format!("dt 1/{:.0} s", 1.0 / c.dt))
        }));
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

/// The drape coefficients of a shirting, the last of three ways to find it
/// being the reference.
fn drapes(configs: [DrapeConfig; 3], name: fn(&DrapeConfig) -> String) -> Vec<Case> {
    let [others @ .., finest] = configs;
    let (reference, finest) = (mean_drape(&finest), name(&finest));
    let reference = reference.map_or(f64::NAN, |mean| mean.coefficient);
    let cases = others.into_iter().map(|config| {
        let case = format!(
            "drape coefficient [%], {} against {finest}, mean of {N_DRAPES}",
            name(&config)
        );
        let found = mean_drape(&config);
        let folds = found.as_ref().map_or(f64::NAN, |mean| mean.folds);
        Case::of(
            Test::Independence,
            case,
            found.map(|mean| mean.coefficient),
            reference,
            DRAPE_LIMIT_PERCENT,
        )
        .with("folds", folds)
    });
    cases.collect()
}

/// Means over several drapes.
struct MeanDrape {
    coefficient: f64,
    folds: f64,
}

fn mean_drape(config: &DrapeConfig) -> Result<MeanDrape, Trouble> {
    let rigidity = 0.15 * GRAVITY * 0.02f64.powi(3);
    let shirting = Fabric {
        shear: 60.0,
        ..Fabric::plain("shirting", 0.15, 1500.0, rigidity)
    };
    let mut sum = MeanDrape {
        coefficient: 0.0,
        folds: 0.0,
    };
    for seed in 1..=N_DRAPES {
        let config = DrapeConfig { seed, ..*config };
        let found = drape(&shirting, &config, |_| ControlFlow::Continue(()))?;
        sum.coefficient += found.coefficient / N_DRAPES as f64;
        sum.folds += f64::from(found.folds) / N_DRAPES as f64;
    }
    Ok(sum)
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
