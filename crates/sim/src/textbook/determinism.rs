//! The same bytes on any number of threads, and sooner on two than on one.
//!
//! A sheet that hangs from two corners and falls into folds is simulated on
//! one, two and four threads; every bit of positions and velocities must agree.
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
use crate::{Cloth, Integrator, Simulation, SimulationConfig, Solver};

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
        jobs.push(Box::new(move || same_bytes(way, n_steps)));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if size == Size::Full && cores > 1 {
        jobs.push(Box::new(move || vec![speed_up(n_steps)]));
    }
    jobs
}

fn same_bytes(way: Way, n_steps: u32) -> Vec<Case> {
    let one = on_threads(1, || fall(way, n_steps));
    [2, 4]
        .map(|threads| {
            let many = on_threads(threads, || fall(way, n_steps));
            let case = format!(
                "bits that differ, {threads} threads against 1, {}",
                way.name()
            );
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
    let state = simulation.positions().iter().chain(simulation.velocities());
    Ok(state.flat_map(|p| p.to_array().map(f64::to_bits)).collect())
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
