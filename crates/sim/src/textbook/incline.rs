//! Cloth on a slope, and on a belt: dry friction.
//!
//! A patch on a slope of angle θ slips where
//!
//! ```text
//! tan θ = μ,        and then     a = g (sin θ − μ cos θ)
//! ```
//!
//! The angle of slip is found by bisection. A patch that is let go lands on the
//! slope, and slides at first while the pressure of its weight builds up; half
//! a second later it lies still, or is ever faster.
//!
//! A patch at rest on a belt that starts at speed v is carried along: it is as
//! fast as the belt after a time of v/(μ g), and stays so.

use drapery_core::Fabric;
use glam::{DQuat, DVec3};

use super::statics::GRAVITY;
use super::suite::Job;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble};
use crate::{Cloth, ContactConfig, Placement, RigidObstacle, Shape, Simulation, SimulationConfig};

/// μ.
const COEFFICIENTS: [f64; 3] = [0.2, 0.4, 0.8];
const LIMIT_PERCENT: f64 = 5.0;
/// Side of the patch [m].
const SIDE: f64 = 0.1;
/// Cells along it.
const N: u32 = 8;
/// The angle is known when tan θ is, to this share of μ.
const RESOLUTION: f64 = 0.002;
/// Of the belt [m/s].
const BELT: f64 = 0.5;
/// A tolerance at which what sticks does not creep [m/s].
pub(super) const TIGHT: f64 = 1e-3;

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let triangulations: &[_] = match size {
        Size::Quick => &[Triangulation::Unstructured],
        Size::Full => &Triangulation::BOTH,
    };
    let mut jobs: Vec<Job> = Vec::new();
    for &triangulation in triangulations {
        for friction in COEFFICIENTS {
            jobs.push(Box::new(move || {
                vec![
                    slope(friction, triangulation),
                    slide(friction, triangulation),
                ]
            }));
        }
        jobs.push(Box::new(move || belt(0.4, triangulation)));
    }
    jobs
}

fn slope(friction: f64, triangulation: Triangulation) -> Case {
    let case = format!(
        "slope tan θ of slip, μ {friction}, {}",
        triangulation.name()
    );
    let tangent = || -> Result<f64, Trouble> {
        let (mut low, mut high) = (0.6 * friction, 1.5 * friction);
        while high - low > RESOLUTION * friction {
            let tangent = (low + high) / 2.0;
            match slips(friction, tangent, triangulation)? {
                true => high = tangent,
                false => low = tangent,
            }
        }
        Ok((low + high) / 2.0)
    };
    Case::of(Test::Friction, case, tangent(), friction, LIMIT_PERCENT)
}

/// Whether a patch is ever faster on a slope.
fn slips(friction: f64, tangent: f64, triangulation: Triangulation) -> Result<bool, Trouble> {
    let angle = tangent.atan();
    let mut patch = Patch::on_slope(friction, angle, triangulation)?;
    patch.run(0.4)?;
    let before = patch.speed();
    patch.run(0.1)?;
    // What a thousandth of its friction would take in that time.
    Ok(patch.speed() - before > 1e-4 * GRAVITY * friction * angle.cos())
}

/// How a patch speeds up on a slope a quarter steeper than it takes to slip.
fn slide(friction: f64, triangulation: Triangulation) -> Case {
    let angle = (1.25 * friction).atan();
    let reference = GRAVITY * (angle.sin() - friction * angle.cos());
    let name = triangulation.name();
    let case = format!("slide [m/s²], tan θ 1.25 μ, μ {friction}, {name}");
    let found = || -> Result<f64, Trouble> {
        let mut patch = Patch::on_slope(friction, angle, triangulation)?;
        patch.run(0.2)?;
        let before = patch.speed();
        patch.run(0.2)?;
        Ok((patch.speed() - before) / 0.2)
    };
    Case::of(Test::Friction, case, found(), reference, LIMIT_PERCENT)
}

/// When a patch is as fast as the belt, and how fast it is in the end.
fn belt(friction: f64, triangulation: Triangulation) -> Vec<Case> {
    let name = triangulation.name();
    let run = || -> Result<(f64, f64), Trouble> {
        let mut patch = Patch::on_slope(friction, 0.0, triangulation)?;
        patch.run(0.5)?;
        let dt = patch.simulation.config().dt;
        let mut place = 0.0;
        let mut missing = 0.0;
        for _ in 0..(0.4 / dt) as u32 {
            let (start, end) = (place, place + BELT * dt);
            place = end;
            let at = |x: f64| Placement::at(DVec3::X * x);
            patch.simulation.move_rigid(0, at(start), at(end))?;
            let before = patch.speed();
            patch.simulation.step()?;
            missing += (BELT - (before + patch.speed()) / 2.0) * dt;
        }
        // It lags by v t/2 while its speed rises evenly.
        Ok((2.0 * missing / BELT, patch.speed()))
    };
    let found = run();
    let reference = BELT / (friction * GRAVITY);
    let case = |what: &str, measured, reference| {
        let case = format!("belt {what}, μ {friction}, {name}");
        Case::of(Test::Friction, case, measured, reference, LIMIT_PERCENT)
    };
    vec![
        case(
            "at 0.5 m/s, time to its speed [s]",
            found.clone().map(|f| f.0),
            reference,
        ),
        case(
            "at 0.5 m/s, speed in the end [m/s]",
            found.map(|f| f.1),
            BELT,
        ),
    ]
}

/// A patch of cloth on a plane that falls towards `down`.
struct Patch {
    simulation: Simulation,
    down: DVec3,
}

impl Patch {
    fn on_slope(friction: f64, angle: f64, triangulation: Triangulation) -> Result<Self, Trouble> {
        let turn = DQuat::from_rotation_z(-angle);
        let contact = ContactConfig {
            friction,
            ..ContactConfig::default()
        };
        let fabric = Fabric {
            shear: 60.0,
            ..Fabric::plain("cotton", 0.2, 600.0, 1e-5)
        };
        let sheet = Rectangle::new(SIDE, N, N, triangulation).expect("cells have area");
        let cloth = Cloth::new(&sheet.rest, &fabric, &[]).expect("a sound fabric");
        let points = sheet.points.iter();
        let x = points.map(|p| turn * DVec3::new(p.x, contact.offset, p.y));
        let config = SimulationConfig {
            tolerance: TIGHT,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(cloth, x.collect(), config)?;
        let placement = Placement {
            rotation: turn,
            translation: DVec3::ZERO,
        };
        let plane = RigidObstacle::new(Shape::Plane, placement).expect("a plane has no size");
        simulation.set_obstacles(vec![plane.into()], contact)?;
        Ok(Self {
            simulation,
            down: turn * DVec3::X,
        })
    }

    fn run(&mut self, seconds: f64) -> Result<(), Trouble> {
        let n_steps = (seconds / self.simulation.config().dt).round() as u32;
        for _ in 0..n_steps {
            self.simulation.step()?;
        }
        Ok(())
    }

    /// How fast its middle moves [m/s].
    fn speed(&self) -> f64 {
        let masses = self.simulation.cloth().masses();
        let moving = masses.iter().zip(self.simulation.velocities());
        let momentum: DVec3 = moving.map(|(m, v)| *v * *m).sum();
        self.down.dot(momentum) / masses.iter().sum::<f64>()
    }
}
