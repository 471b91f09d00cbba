//! What becomes of the energy of a strip that swings from a clamp.
//!
//! Energy of motion, stretch, bending and height, and what the fabric's damping
//! has taken, add up to what there was at the start, less what the integrator
//! loses. The midpoint rule should lose next to nothing; implicit Euler loses
//! a good deal and must never gain. All figures are shares of the largest
//! energy of motion.
//!
//! One case does not count: a sheet that trembles so fast that steps do not
//! resolve it. The midpoint rule is stable for linear cloth alone, and there
//! it gains energy without bound.

use drapery_core::Fabric;
use glam::DVec3;

use super::statics::{GRAVITY, clamped_start, isotropic};
use super::suite::Job;
use super::way::rule;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble};
use crate::{Cloth, Integrator, Simulation, SimulationConfig, Solver};

/// Of the budget that does not add up.
const LIMIT_PERCENT: f64 = 1.0;
/// Of a rise in one step of implicit Euler.
const RISE_LIMIT_PERCENT: f64 = 1e-3;
const LENGTH: f64 = 0.2;
const DENSITY: f64 = 0.2;
/// ρgL³/D.
const GAMMA: f64 = 10.0;

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let (n, n_steps) = match size {
        Size::Quick => (8, 200),
        Size::Full => (20, 600),
    };
    let mut jobs: Vec<Job> = Vec::new();
    for triangulation in Triangulation::BOTH {
        for integrator in [Integrator::Midpoint, Integrator::Euler] {
            for damping in [0.0, 1e-3] {
                let strip = Strip {
                    n,
                    n_steps,
                    triangulation,
                    integrator,
                    damping,
                };
                jobs.push(Box::new(move || vec![strip.case()]));
            }
        }
        if size == Size::Full {
            jobs.push(Box::new(move || vec![tremble(triangulation)]));
        }
    }
    jobs
}

#[derive(Clone, Copy)]
struct Strip {
    n: u32,
    n_steps: u32,
    triangulation: Triangulation,
    integrator: Integrator,
    /// β [s].
    damping: f64,
}

/// Shares of the largest energy of motion.
#[derive(Clone, Copy)]
struct Shares {
    /// The largest miss of the sum.
    miss: f64,
    /// The largest rise of the sum in a step.
    rise: f64,
    /// What the fabric took.
    damped: f64,
    /// What the integrator took.
    lost: f64,
}

impl Strip {
    fn case(self) -> Case {
        let shares = self.swing();
        let (what, judged, limit): (_, fn(Shares) -> f64, _) = match self.integrator {
            Integrator::Midpoint => ("sum amiss", |s| s.miss, LIMIT_PERCENT),
            // Both take energy away and never give any.
            Integrator::Euler | Integrator::Bdf2 => {
                ("rise in a step", |s| s.rise, RISE_LIMIT_PERCENT)
            }
        };
        let case = format!(
            "{what}, {}, damping {} s, {}",
            rule(self.integrator),
            self.damping,
            self.triangulation.name()
        );
        let measured = shares.clone().map(judged);
        let case = Case::of(Test::EnergyBudget, case, measured, 0.0, limit);
        match shares {
            Ok(shares) => case
                .with("taken_by_damping_percent", 100.0 * shares.damped)
                .with("lost_by_integrator_percent", 100.0 * shares.lost),
            Err(_) => case,
        }
    }

    fn swing(self) -> Result<Shares, Trouble> {
        let rigidity = DENSITY * GRAVITY * LENGTH.powi(3) / GAMMA;
        let fabric = Fabric {
            damping: self.damping,
            ..isotropic(DENSITY, 2e4 * rigidity / LENGTH.powi(2), rigidity, 0.0)
        };
        let mesh = Rectangle::new(LENGTH, self.n, self.n / 4, self.triangulation)
            .expect("cells have area");
        let clamps = clamped_start(&mesh, DVec3::X);
        let cloth = Cloth::new(&mesh.rest, &fabric, &clamps).expect("a sound fabric");
        let points = mesh.points.iter();
        let x: Vec<DVec3> = points.map(|p| DVec3::new(p.x, 0.0, p.y)).collect();
        let config = SimulationConfig {
            dt: 1.0 / 600.0,
            integrator: self.integrator,
            solver: Solver::Direct,
            tolerance: 1e-6,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(cloth, x, config)?;
        for v in &mesh.start {
            simulation.hold(*v)?;
        }
        let start = simulation.energy().total();
        let (mut sum, mut miss, mut rise, mut kinetic) = (start, 0.0f64, 0.0f64, 0.0f64);
        for _ in 0..self.n_steps {
            simulation.step()?;
            let energy = simulation.energy();
            let next = energy.total() + energy.damped;
            rise = rise.max(next - sum);
            miss = miss.max((next - start).abs());
            kinetic = kinetic.max(energy.kinetic);
            sum = next;
        }
        Ok(Shares {
            miss: miss / kinetic,
            rise: rise / kinetic,
            damped: simulation.energy().damped / kinetic,
            lost: (start - sum) / kinetic,
        })
    }
}

/// A free sheet, suddenly let go from a stretch of 1 %, after 20 steps: what
/// its energy has become of what it was.
fn tremble(triangulation: Triangulation) -> Case {
    let measured = || -> Result<f64, Trouble> {
        let mesh = Rectangle::new(0.3, 12, 8, triangulation).expect("cells have area");
        let fabric = Fabric::plain("sheet", 0.15, 500.0, 1e-5);
        let cloth = Cloth::new(&mesh.rest, &fabric, &[]).expect("a sound fabric");
        let points = mesh.points.iter();
        let x = points.map(|p| {
            let wave = (25.0 * p.x + 10.0 * p.y).sin();
            DVec3::new(1.01 * p.x, 0.005 * wave, p.y + 0.001 * wave)
        });
        let config = SimulationConfig {
            integrator: Integrator::Midpoint,
            solver: Solver::Direct,
            gravity: DVec3::ZERO,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(cloth, x.collect(), config)?;
        let start = simulation.energy().total();
        for _ in 0..20 {
            simulation.step()?;
        }
        Ok(simulation.energy().total() / start)
    };
    let case = format!(
        "unresolved trembling, midpoint, energy kept, {}",
        triangulation.name()
    );
    Case::of(Test::EnergyBudget, case, measured(), 1.0, LIMIT_PERCENT).uncounted()
}
