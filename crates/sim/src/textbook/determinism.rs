//! The same bytes on any number of threads, and sooner on two than on one.
//!
//! A sheet that hangs from two corners and falls into folds is simulated on
//! one, two and four threads, and so is one that drapes over a ball and meets
//! itself; every bit of positions and velocities must agree.
//! The time on two threads is half of that on one at best and must not exceed
//! it: the best of several runs each. Where a plain loop shows that no second
//! core is free, the time is reported without being counted.

use std::hint::black_box;
use std::time::Instant;

use drapery_core::Fabric;
use glam::DVec3;

use super::suite::Job;
use super::way::Way;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble};
use crate::{
    Cloth, ContactConfig, Integrator, Placement, RigidObstacle, SelfContactConfig, Shape,
    Simulation, SimulationConfig, Solver,
};

/// Cells along and across the sheet.
const CELLS: [u32; 2] = [60, 50];
/// How often each number of threads is timed.
const RUNS: u32 = 7;
/// Two plain loops at once take half the time of one after the other on two
/// free cores, and all of it on one.
const ROOM: f64 = 0.7;
/// The way that is timed.
const FAST: Way = Way::new(Integrator::Euler, Solver::Iterative);

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let n_steps = match size {
        Size::Quick => 5,
        Size::Full => 30,
    };
    let mut jobs: Vec<Job> = Vec::new();
    for way in Way::ALL {
        let n_steps = match way.solver {
            Solver::Iterative => n_steps,
            Solver::Direct => n_steps / 5,
        };
        jobs.push(Box::new(move || {
            same_bytes(&way.name(), || fall(way, n_steps))
        }));
    }
    let n_contact = match size {
        Size::Quick => 10,
        Size::Full => 150,
    };
    jobs.push(Box::new(move || {
        same_bytes("drape on a ball with self-contact", || drape(n_contact))
    }));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if size == Size::Full && cores > 1 {
        jobs.push(Box::new(move || vec![speed_up(n_steps)]));
    }
    jobs
}

fn same_bytes(
    name: &str,
    experiment: impl Fn() -> Result<Vec<u64>, Trouble> + Send + Sync,
) -> Vec<Case> {
    let one = on_threads(1, &experiment);
    [2, 4]
        .map(|threads| {
            let many = on_threads(threads, &experiment);
            let case = format!("bits that differ, {threads} threads against 1, {name}");
            let measured = match (&one, many) {
                (Ok(one), Ok(many)) => Ok(difference(one, &many)),
                (Err(trouble), _) => Err(trouble.clone()),
                (_, Err(trouble)) => Err(trouble),
            };
            Case::of(Test::Determinism, case, measured, 0.0, 0.0)
        })
        .into()
}

/// The share of bits that differ.
fn difference(one: &[u64], many: &[u64]) -> f64 {
    let bits = one.iter().zip(many).map(|(a, b)| (a ^ b).count_ones());
    f64::from(bits.sum::<u32>()) / (64 * one.len()) as f64
}

fn speed_up(n_steps: u32) -> Case {
    let mut spin = [f64::MAX; 2];
    let mut share = || -> Result<f64, Trouble> {
        // In turns, so that what else the machine does strikes all of them.
        let mut best = [f64::MAX; 2];
        for _ in 0..RUNS {
            for (i, threads) in [1, 2].into_iter().enumerate() {
                let start = Instant::now();
                on_threads(threads, || fall(FAST, n_steps))?;
                best[i] = best[i].min(start.elapsed().as_secs_f64());
                spin[i] = spin[i].min(seconds_of_spinning(threads));
            }
        }
        Ok(best[1] / best[0])
    };
    let case = format!("time on 2 threads over time on 1, {}", FAST.name());
    // From a half to the whole.
    let case = Case::of(Test::Determinism, case, share(), 0.5, 100.0);
    let room = spin[1] / spin[0] / 2.0;
    let case = case.with("share_of_time_that_two_free_loops_take", room);
    match room < ROOM {
        true => case,
        false => case.uncounted(),
    }
}

/// The time of a loop that needs nothing but a core, run on each of some
/// threads at once [s].
fn seconds_of_spinning(threads: u32) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut x = 0.5f64;
                for _ in 0..20_000_000 {
                    x = black_box(3.9 * x * (1.0 - x));
                }
                x
            });
        }
    });
    start.elapsed().as_secs_f64()
}

fn on_threads<T: Send>(threads: u32, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new()
        .num_threads(threads as usize)
        .build()
    {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// The bits of positions and velocities after some steps.
fn fall(way: Way, n_steps: u32) -> Result<Vec<u64>, Trouble> {
    let [along, across] = CELLS;
    let mesh = Rectangle::new(0.6, along, across, Triangulation::Aligned).expect("cells have area");
    let fabric = Fabric::plain("sheet", 0.15, 500.0, 1e-5);
    let cloth = Cloth::new(&mesh.rest, &fabric, &[]).expect("a sound fabric");
    let points = mesh.points.iter();
    let x = points.map(|p| DVec3::new(p.x, 1e-3 * (40.0 * p.x + 30.0 * p.y).sin(), p.y));
    let config = SimulationConfig {
        integrator: way.integrator,
        solver: way.solver,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, x.collect(), config)?;
    for corner in [mesh.start[0], mesh.end[0]] {
        simulation.hold(corner)?;
    }
    for _ in 0..n_steps {
        simulation.step()?;
    }
    Ok(bits(&simulation))
}

/// The same for a sheet that is thrown on a small ball and closes around it.
fn drape(n_steps: u32) -> Result<Vec<u64>, Trouble> {
    let mesh = Rectangle::new(0.5, 30, 30, Triangulation::Aligned).expect("cells have area");
    let fabric = Fabric::plain("sheet", 0.15, 500.0, 1e-5);
    let cloth = Cloth::new(&mesh.rest, &fabric, &[]).expect("a sound fabric");
    let points = mesh.points.iter();
    let x = points.map(|p| DVec3::new(p.x - 0.25, 0.0, p.y - 0.26));
    let mut simulation = Simulation::new(cloth, x.collect(), SimulationConfig::default())?;
    let shape = Shape::Sphere { radius: 0.06 };
    let ball = RigidObstacle::new(shape, Placement::at(DVec3::NEG_Y * 0.065));
    let ball = ball.expect("it has a size");
    simulation.set_obstacles(vec![ball.into()], ContactConfig::default())?;
    simulation.set_self_contact(Some(SelfContactConfig::default()))?;
    let down = DVec3::NEG_Y * 4.0;
    simulation.set_velocities(&vec![down; mesh.points.len()])?;
    for _ in 0..n_steps {
        simulation.step()?;
    }
    Ok(bits(&simulation))
}

/// The bits of positions and velocities.
fn bits(simulation: &Simulation) -> Vec<u64> {
    let state = simulation.positions().iter().chain(simulation.velocities());
    state.flat_map(|p| p.to_array().map(f64::to_bits)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_bit_is_seen() {
        let one = [1.0f64, 2.0].map(f64::to_bits);
        let mut other = one;
        assert_eq!(difference(&one, &other), 0.0);
        other[1] ^= 1;
        assert_eq!(difference(&one, &other), 1.0 / 128.0);
    }
}
