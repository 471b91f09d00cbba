//! A patch of cloth on the back of the mannequin, which lies face down and is
//! drawn away under it: a belt made of skin.
//!
//! ```text
//! a = μ g     until it moves with the body, after v/(μ g); from then on it sticks
//! ```
//!
//! The back is neither flat nor level. What a patch presses with is its weight
//! to within one over the cosine of how far the skin slopes, less than a
//! percent; and a slope of one degree, that takes a tenth of a friction of 0.2,
//! gives it when the body is drawn the other way: the mean of both counts.

use drapery_core::Fabric;
use drapery_sim::textbook::{Case, Experiment, Rectangle, Size, Test, Triangulation, Trouble};
use drapery_sim::{Cloth, ContactConfig, MeshObstacle, Simulation, SimulationConfig};
use glam::{DQuat, DVec3};

use super::stand::{GRAVITY, Stand, TIGHT};

const LIMIT_PERCENT: f64 = 5.0;
/// The farthest that a patch which sticks may creep [mm].
const DRIFT: f64 = 1.0;
/// Side of the patch [m], and cells along it.
const SIDE: f64 = 0.06;
const N: u32 = 8;
/// Of the body [m/s].
const SPEED: f64 = 0.1;
/// How long the patch lies, is carried along, and is watched for creeping [s].
const LYING: f64 = 0.4;
const CARRIED: f64 = 0.3;
const WATCHED: f64 = 0.5;
/// How high between the shoulder blades it lies on one who stands [m].
const HEIGHT: f64 = 1.2;

pub(super) fn experiments(size: Size) -> Vec<Experiment> {
    let (triangulations, coefficients): (&[_], &[_]) = match size {
        Size::Quick => (&[Triangulation::Unstructured], &[0.4]),
        Size::Full => (&Triangulation::BOTH, &[0.2, 0.4]),
    };
    let mut experiments = Vec::new();
    for &triangulation in triangulations {
        for &friction in coefficients {
            experiments.push(Experiment::new(Test::BodyMomentum, move || {
                cases(friction, triangulation)
            }));
        }
    }
    experiments
}

fn cases(friction: f64, triangulation: Triangulation) -> Vec<Case> {
    let found = both_ways(friction, triangulation);
    let case = |what: &str, measured: fn(&Carried) -> f64, reference, limit| {
        let name = triangulation.name();
        let case = format!("patch on a back at {SPEED} m/s, {what}, μ {friction}, {name}");
        let measured = found.as_ref().map(measured).map_err(Clone::clone);
        Case::of(Test::BodyMomentum, case, measured, reference, limit)
    };
    let pressed = found.as_ref().map_or(f64::NAN, |f| f.pressed);
    let slope = found.as_ref().map_or(f64::NAN, |f| f.slope);
    vec![
        case(
            "a [m/s²]",
            |f| f.acceleration,
            friction * GRAVITY,
            LIMIT_PERCENT,
        )
        .with("pressure_over_weight", pressed)
        .with("slope_percent", 100.0 * slope),
        case("drift [mm]", |f| 1e3 * f.drift, 0.0, 100.0 * DRIFT),
    ]
}

struct Carried {
    /// Until it moves with the body [m/s²].
    acceleration: f64,
    /// After that, over the back [m].
    drift: f64,
    /// What presses up as it lies, over its weight.
    pressed: f64,
    /// What the two ways differ by, from their mean.
    slope: f64,
}

fn both_ways(friction: f64, triangulation: Triangulation) -> Result<Carried, Trouble> {
    let [up, down] = [1.0, -1.0].map(|sign| carry(friction, triangulation, sign));
    let (up, down) = (up?, down?);
    let mean = 0.5 * (up.acceleration + down.acceleration);
    Ok(Carried {
        acceleration: mean,
        drift: up.drift.max(down.drift),
        pressed: up.pressed,
        slope: up.acceleration / mean - 1.0,
    })
}

/// Headwards or feetwards.
fn carry(friction: f64, triangulation: Triangulation, sign: f64) -> Result<Carried, Trouble> {
    let contact = ContactConfig {
        friction,
        ..ContactConfig::default()
    };
    let stand = Stand::at_rest();
    // Face down, so that the skin under the patch is level.
    let spot = DVec3::new(0.0, HEIGHT, -0.5);
    let (seen, normal) = level(&stand.obstacle(), spot, DVec3::NEG_Z, DVec3::Y);
    let turn = DQuat::from_rotation_arc(normal, DVec3::Y);
    let lying: Vec<DVec3> = stand.vertices.iter().map(|p| turn * (*p - seen)).collect();
    // It lags by so much, half of it uphill and half downhill.
    let slip = SPEED * SPEED / (2.0 * friction * GRAVITY);
    // Along the spine.
    let ahead = (turn * DVec3::Y).with_y(0.0).normalize() * sign;
    let body = stand.obstacle_at(lying.clone());
    let sheet = Rectangle::new(SIDE, N, N, triangulation).expect("cells have area");
    let fabric = Fabric::plain("cotton", 0.15, 500.0, 1e-6);
    let cloth = Cloth::new(&sheet.rest, &fabric, &[]).expect("a sound fabric");
    let masses = cloth.masses().to_vec();
    let mass: f64 = masses.iter().sum();
    let x = sheet.points.iter().map(|p| {
        let flat = (p - 0.5 * SIDE).extend(0.0);
        let over = DVec3::new(flat.x, 0.2, flat.y) + ahead * (0.5 * slip);
        // On the skin below.
        let skin = below(&body, over);
        over.with_y(skin.y + contact.offset)
    });
    let config = SimulationConfig {
        tolerance: TIGHT,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, x.collect(), config)?;
    simulation.set_obstacles(vec![body.into()], contact)?;
    let dt = config.dt;
    let n_steps = |seconds: f64| (seconds / dt).round() as u32;
    let mut pressed = 0.0;
    for _ in 0..n_steps(LYING) {
        pressed = simulation.step()?.impulse.y / (mass * GRAVITY * dt);
    }
    let middle = |of: &[DVec3]| -> DVec3 {
        let weighted = masses.iter().zip(of);
        weighted.map(|(m, p)| *p * *m).sum::<DVec3>() / mass
    };
    let (mut missing, mut place, mut start) = (0.0, 0.0, 0.0);
    let mut drift = 0.0f64;
    for step in 0..n_steps(CARRIED + WATCHED) {
        let at = |way: f64| -> Vec<DVec3> { lying.iter().map(|p| *p + ahead * way).collect() };
        let before = middle(simulation.velocities()).dot(ahead);
        simulation.move_mesh(0, &at(place), &at(place + SPEED * dt))?;
        simulation.step()?;
        place += SPEED * dt;
        let after = middle(simulation.velocities()).dot(ahead);
        let lag = middle(simulation.positions()).dot(ahead) - place;
        if step < n_steps(CARRIED) {
            missing += (SPEED - 0.5 * (before + after)) * dt;
            start = lag;
        } else {
            drift = drift.max((lag - start).abs());
        }
    }
    Ok(Carried {
        // It lags by v²/2a while its speed rises evenly.
        acceleration: SPEED * SPEED / (2.0 * missing),
        drift,
        pressed,
        slope: 0.0,
    })
}

/// The place of a body that is seen from a point far off, and the mean normal
/// of the skin under a patch there.
fn level(body: &MeshObstacle, from: DVec3, out: DVec3, up: DVec3) -> (DVec3, DVec3) {
    let seen = body
        .nearest(from, f64::INFINITY)
        .map_or(DVec3::ZERO, |found| found.closest);
    let across = up.cross(out);
    let mut sum = DVec3::ZERO;
    for i in -2..=2 {
        for j in -2..=2 {
            let step = |k: i32| f64::from(k) * 0.2 * SIDE;
            let near = seen + across * step(i) + up * step(j);
            let found = body.nearest(near, f64::INFINITY);
            sum += found.map_or(DVec3::ZERO, |found| found.normal);
        }
    }
    (seen, sum.normalize_or(out))
}

/// Where a body is met from above [m].
fn below(body: &MeshObstacle, p: DVec3) -> DVec3 {
    let met = body.meets(p, p - DVec3::Y);
    met.map_or(p, |met| met.closest)
}
