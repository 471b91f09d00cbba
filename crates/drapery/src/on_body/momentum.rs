//! Newton's second law for cloth that only lies on a body.
//!
//! A poncho falls on the shoulders of the mannequin, which then sets out and
//! turns. Nothing else touches it, and there is no air:
//!
//! ```text
//! Δ(Σ m v) = M g t + Σ J        J what pressure and friction gave in a step
//! ```
//!
//! What is missing is told as a share of Σ |J|, sideways: it is what the
//! solver left over, or what was moved behind its back.

use drapery_core::{BodyModel, Fabric};
use drapery_scene::garment::{DraftConfig, GarmentKind, draft};
use drapery_scene::mannequin;
use drapery_sim::textbook::{Case, Experiment, Size, Test, Trouble};
use drapery_sim::{
    Cloth, ContactConfig, RestShape, SelfContactConfig, Simulation, SimulationConfig,
};
use glam::{DQuat, DVec3};

use super::stand::{Stand, TIGHT};

/// What may be missing of the momentum that was given [%].
const LIMIT_PERCENT: f64 = 1.0;
/// How the body gathers speed [m/s²] and turns [rad/s²].
const ACCELERATION: DVec3 = DVec3::new(1.0, 0.0, 2.0);
const TURNING: f64 = 2.0;
/// How long it stands, and then moves [s].
const STANDING: f64 = 0.2;
const MOVING: f64 = 0.4;

pub(super) fn experiments(size: Size) -> Vec<Experiment> {
    let resolutions: &[u32] = match size {
        Size::Quick => &[400],
        Size::Full => &[400, 2000],
    };
    let make =
        |&n_triangles: &u32| Experiment::new(Test::BodyMomentum, move || vec![case(n_triangles)]);
    resolutions.iter().map(make).collect()
}

fn case(n_triangles: u32) -> Case {
    let case = format!("momentum a poncho on a turning body gets, {n_triangles} triangles");
    let found = carry(n_triangles);
    let missing = found.as_ref().map(|f| f.missing).map_err(Clone::clone);
    let case = Case::of(Test::BodyMomentum, case, missing, 0.0, LIMIT_PERCENT);
    match found {
        Ok(found) => case
            .with("given_sideways_n_s", found.given)
            .with("carried_along_percent", 100.0 * found.carried)
            .with("vertices_set_back", f64::from(found.set_back)),
        Err(_) => case,
    }
}

struct Carried {
    missing: f64,
    /// Σ |J| sideways [N·s].
    given: f64,
    /// Speed of the cloth over that of the body in the end.
    carried: f64,
    set_back: u32,
}

fn carry(n_triangles: u32) -> Result<Carried, Trouble> {
    let model = mannequin::character();
    let mean = vec![0.0; model.shape_parameters().len()];
    let config = DraftConfig {
        n_triangles,
        ..DraftConfig::default()
    };
    let poncho = draft(GarmentKind::Poncho, &model, &mean, &config).expect("a poncho fits all");
    let fabric = Fabric::plain("wool", 0.25, 800.0, 1e-5);
    let rest = RestShape::new(&poncho).expect("a drafted garment has a rest shape");
    let cloth = Cloth::new(&rest, &fabric, &[]).expect("a sound fabric");
    let masses = cloth.masses().to_vec();
    let mass: f64 = masses.iter().sum();
    let x = poncho.mesh().positions().iter().map(|p| p.as_dvec3());
    let config = SimulationConfig {
        tolerance: TIGHT,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, x.collect(), config)?;
    let stand = Stand::at_rest();
    let contact = ContactConfig {
        friction: 0.5,
        ..ContactConfig::default()
    };
    simulation.set_obstacles(vec![stand.obstacle().into()], contact)?;
    simulation.set_self_contact(Some(SelfContactConfig::of(&fabric)))?;
    let dt = config.dt;
    let body = |t: f64| -> Vec<DVec3> {
        let moving = 0.5 * (t - STANDING).max(0.0).powi(2);
        let turn = DQuat::from_rotation_y(TURNING * moving);
        let placed = stand.vertices.iter();
        placed.map(|p| turn * *p + ACCELERATION * moving).collect()
    };
    let momentum = |simulation: &Simulation| -> DVec3 {
        let moving = masses.iter().zip(simulation.velocities());
        moving.map(|(m, v)| *v * *m).sum()
    };
    let (mut expected, mut given, mut set_back) = (DVec3::ZERO, 0.0, 0);
    let mut missing = 0.0f64;
    let mut from = body(0.0);
    for step in 1..=((STANDING + MOVING) / dt).round() as u32 {
        let to = body(f64::from(step) * dt);
        simulation.move_mesh(0, &from, &to)?;
        from = to;
        let report = simulation.step()?;
        expected += config.gravity * (mass * dt) + report.impulse;
        given += report.impulse.with_y(0.0).length();
        set_back += report.set_back;
        missing = missing.max(momentum(&simulation).distance(expected));
    }
    let speed = ACCELERATION * MOVING;
    let carried = momentum(&simulation).dot(speed) / (mass * speed.length_squared());
    Ok(Carried {
        missing: missing / given,
        given,
        carried,
        set_back,
    })
}
