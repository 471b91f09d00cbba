//! Cloth on obstacles: friction, rest, impact.

#![allow(
    clippy::unwrap_used,
    reason = "a scene that can't be set up fails the test"
)]

use drapery_core::Fabric;
use drapery_sim::textbook::{Rectangle, Triangulation};
use drapery_sim::{
    Cloth, ClothPoint, ContactConfig, Integrator, MeshBoxes, MeshObstacle, Obstacle, Placement,
    RigidObstacle, SelfContactConfig, Shape, Simulation, SimulationConfig, SimulationError,
    penetration,
};
use glam::{DQuat, DVec3};

fn cotton() -> Fabric {
    Fabric {
        shear: 60.0,
        ..Fabric::plain("cotton", 0.2, 600.0, 1e-5)
    }
}

/// A level patch of 10 cm, `height` above the origin.
fn patch(n: u32, height: f64) -> (Cloth, Vec<DVec3>) {
    let sheet = Rectangle::new(0.1, n, n, Triangulation::Aligned).unwrap();
    let x = sheet
        .points
        .iter()
        .map(|p| DVec3::new(p.x - 0.05, height, p.y - 0.05))
        .collect();
    (Cloth::new(&sheet.rest, &cotton(), &[]).unwrap(), x)
}

fn contact(friction: f64) -> ContactConfig {
    ContactConfig {
        friction,
        ..ContactConfig::default()
    }
}

fn plane(rotation: DQuat) -> Obstacle {
    let placement = Placement {
        rotation,
        translation: DVec3::ZERO,
    };
    RigidObstacle::new(Shape::Plane, placement).unwrap().into()
}

fn mean(values: &[DVec3]) -> DVec3 {
    values.iter().sum::<DVec3>() / values.len() as f64
}

/// A patch that has come to rest on a level plane.
fn settled(friction: f64) -> Simulation {
    let (cloth, x) = patch(8, 0.0015);
    let mut simulation = Simulation::new(cloth, x, SimulationConfig::default()).unwrap();
    simulation
        .set_obstacles(vec![plane(DQuat::IDENTITY)], contact(friction))
        .unwrap();
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    simulation
}

/// Where a patch is on a plane that has been tilted by `angle`, and how fast
/// it slides down [m, m/s]: when the plane has come to rest and 0.2 s later.
fn slide(friction: f64, angle: f64) -> [(f64, f64); 2] {
    let mut simulation = settled(friction);
    let tilt = |share: f64| Placement {
        rotation: DQuat::from_rotation_z(-angle * share),
        translation: DVec3::ZERO,
    };
    let along = tilt(1.0).rotation * DVec3::X;
    for step in 0..60 {
        let share = |step: i32| 0.5 - 0.5 * (std::f64::consts::PI * f64::from(step) / 60.0).cos();
        simulation
            .move_rigid(0, tilt(share(step)), tilt(share(step + 1)))
            .unwrap();
        simulation.step().unwrap();
    }
    [30, 60].map(|steps| {
        for _ in 0..steps {
            simulation.step().unwrap();
        }
        (
            along.dot(mean(simulation.positions())),
            along.dot(mean(simulation.velocities())),
        )
    })
}

#[test]
fn cloth_slips_on_a_slope_when_its_tangent_passes_the_coefficient() {
    for friction in [0.2, 0.4, 0.8f64] {
        let [before, after] = slide(friction, (0.95 * friction).atan());
        let creep = after.0 - before.0;
        assert!(
            creep.abs() < 1e-6,
            "{friction}: creeps by {creep:e} m in 0.2 s"
        );
        // Above it slides as a block would: a = g (sin θ − μ cos θ).
        let angle = (1.05 * friction).atan();
        let [before, after] = slide(friction, angle);
        let expected = 9.81 * (angle.sin() - friction * angle.cos());
        let found = (after.1 - before.1) / 0.2;
        assert!(
            (found / expected - 1.0).abs() < 0.1,
            "{friction}: {found} m/s² for {expected} m/s²"
        );
    }
}

#[test]
fn a_patch_lies_at_its_offset_and_stays() {
    let (cloth, x) = patch(6, 0.01);
    let weight = 9.81 * cloth.masses().iter().sum::<f64>();
    let mut simulation = Simulation::new(cloth, x, SimulationConfig::default()).unwrap();
    simulation
        .set_obstacles(vec![plane(DQuat::IDENTITY)], contact(0.3))
        .unwrap();
    for _ in 0..300 {
        let report = simulation.step().unwrap();
        assert_eq!(report.set_back, 0);
        assert!(report.contact_settled);
    }
    let lowest = simulation
        .positions()
        .iter()
        .map(|p| p.y)
        .fold(1.0, f64::min);
    let highest = simulation
        .positions()
        .iter()
        .map(|p| p.y)
        .fold(0.0, f64::max);
    assert!(
        (0.0008..0.0016).contains(&lowest) && highest < 0.0016,
        "{lowest} to {highest} m"
    );
    let fastest = simulation
        .velocities()
        .iter()
        .map(|v| v.length())
        .fold(0.0, f64::max);
    assert!(weight > 0.0 && fastest < 2e-3, "{fastest} m/s at rest");
}

#[test]
fn a_belt_carries_cloth_along_and_not_faster() {
    // It slips until it is as fast as the belt: v/μg later.
    let mut simulation = settled(0.4);
    let dt = simulation.config().dt;
    let speed = 0.5;
    let mut place = 0.0;
    let mut speeds = Vec::new();
    for _ in 0..120 {
        let (start, end) = (place, place + speed * dt);
        place = end;
        let at = |x: f64| Placement::at(DVec3::X * x);
        simulation.move_rigid(0, at(start), at(end)).unwrap();
        simulation.step().unwrap();
        speeds.push(mean(simulation.velocities()).x);
    }
    let caught_up = speed / (0.4 * 9.81);
    let half = (0.5 * caught_up / dt).round() as usize;
    let expected = 0.4 * 9.81 * half as f64 * dt;
    assert!(
        (speeds[half - 1] / expected - 1.0).abs() < 0.1,
        "{} m/s for {expected} m/s",
        speeds[half - 1]
    );
    let end = speeds[119];
    assert!(
        (end / speed - 1.0).abs() < 1e-2,
        "{end} m/s on a belt at {speed} m/s"
    );
    assert!(speeds.iter().all(|s| *s < 1.02 * speed), "{speeds:?}");
}

#[test]
fn nothing_passes_through_a_thin_disc_however_fast() {
    for dt in [1.0 / 300.0, 1.0 / 30.0] {
        let (cloth, x) = patch(8, 0.05);
        let config = SimulationConfig {
            dt,
            ..SimulationConfig::default()
        };
        let thrown = vec![DVec3::new(0.0, -20.0, 0.0); x.len()];
        let mut simulation = Simulation::new(cloth, x, config).unwrap();
        simulation.set_velocities(&thrown).unwrap();
        let disc = Shape::Disc {
            radius: 0.2,
            thickness: 0.002,
            rim: 0.001,
        };
        let disc = RigidObstacle::new(disc, Placement::IDENTITY).unwrap();
        simulation
            .set_obstacles(vec![disc.into()], contact(0.3))
            .unwrap();
        for step in 0..20 {
            simulation.step().unwrap();
            let lowest = simulation
                .positions()
                .iter()
                .map(|p| p.y)
                .fold(1.0, f64::min);
            assert!(lowest >= 0.001, "dt {dt}, step {step}: {lowest}");
        }
    }
}

#[test]
fn what_starts_inside_comes_out_calmly() {
    let (cloth, x) = patch(6, -0.01);
    let mut simulation = Simulation::new(cloth, x, SimulationConfig::default()).unwrap();
    simulation
        .set_obstacles(vec![plane(DQuat::IDENTITY)], contact(0.3))
        .unwrap();
    for _ in 0..60 {
        simulation.step().unwrap();
        let fastest = simulation
            .velocities()
            .iter()
            .map(|v| v.length())
            .fold(0.0, f64::max);
        assert!(fastest < 1.5, "{fastest} m/s");
    }
    let lowest = simulation
        .positions()
        .iter()
        .map(|p| p.y)
        .fold(1.0, f64::min);
    assert!(lowest > 0.0, "{lowest}");
}

#[test]
fn a_cloth_rests_on_a_ball_given_as_a_shape_or_as_a_mesh() {
    let ball = RigidObstacle::new(Shape::Sphere { radius: 0.05 }, Placement::IDENTITY).unwrap();
    let shape: Obstacle = ball.into();
    let (topology, positions) = globe(0.05, 24);
    let mesh: Obstacle = MeshObstacle::new(&topology, positions).unwrap().into();
    let mut tips = Vec::new();
    for obstacle in [shape, mesh] {
        let sheet = Rectangle::new(0.2, 20, 20, Triangulation::Unstructured).unwrap();
        let x = sheet
            .points
            .iter()
            .map(|p| DVec3::new(p.x - 0.1, 0.053, p.y - 0.1))
            .collect();
        let cloth = Cloth::new(&sheet.rest, &cotton(), &[]).unwrap();
        let boxes = drapery_sim::MeshBoxes::new(sheet.rest.topology(), &vec![DVec3::ZERO; 441]);
        let mut simulation = Simulation::new(cloth, x, SimulationConfig::default()).unwrap();
        simulation
            .set_obstacles(vec![obstacle.clone()], contact(0.5))
            .unwrap();
        for _ in 0..150 {
            simulation.step().unwrap();
            let depth = penetration(&obstacle, &boxes, simulation.positions(), 1e-4);
            assert!(depth.worst < 1e-4, "{depth:?}");
        }
        tips.push(
            simulation
                .positions()
                .iter()
                .map(|p| p.y)
                .fold(1.0, f64::min),
        );
    }
    assert!(
        (tips[0] - tips[1]).abs() < 0.02 && tips[0] < 0.0,
        "{tips:?}"
    );
}

/// A closed ball of triangles.
fn globe(radius: f64, n: u32) -> (drapery_core::Topology, Vec<DVec3>) {
    let rings = n / 2;
    let mut points = vec![DVec3::Y * radius];
    for ring in 1..rings {
        let theta = std::f64::consts::PI * f64::from(ring) / f64::from(rings);
        for k in 0..n {
            let phi = std::f64::consts::TAU * f64::from(k) / f64::from(n);
            let (y, r) = (theta.cos(), theta.sin());
            points.push(DVec3::new(r * phi.cos(), y, -r * phi.sin()) * radius);
        }
    }
    points.push(DVec3::NEG_Y * radius);
    let last = points.len() as u32 - 1;
    let at = |ring: u32, k: u32| 1 + (ring - 1) * n + k % n;
    let mut triangles = Vec::new();
    for k in 0..n {
        triangles.push([0, at(1, k), at(1, k + 1)]);
        triangles.push([last, at(rings - 1, k + 1), at(rings - 1, k)]);
        for ring in 1..rings - 1 {
            let (a, b) = (at(ring, k), at(ring, k + 1));
            let (c, d) = (at(ring + 1, k), at(ring + 1, k + 1));
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    let n_points = points.len() as u32;
    (
        drapery_core::Topology::new(n_points, triangles).unwrap(),
        points,
    )
}

/// A ball between the vertices of a cloth, in which the middle of an edge is.
/// The pairs of that edge with those of the ball would hold it there.
#[test]
fn what_is_inside_between_the_vertices_comes_out() {
    let (cloth, x) = patch(3, 0.008);
    let (topology, points) = globe(0.012, 24);
    let ball = MeshObstacle::new(&topology, points).unwrap();
    let mut simulation = Simulation::new(cloth, x, SimulationConfig::default()).unwrap();
    simulation.set_gravity(DVec3::ZERO).unwrap();
    // All but those around the ball.
    for v in (0..16).filter(|v| ![5, 6, 9, 10].contains(v)) {
        simulation.hold(v).unwrap();
    }
    simulation
        .set_obstacles(vec![ball.into()], contact(0.3))
        .unwrap();
    let boxes = MeshBoxes::new(simulation.cloth().topology(), simulation.positions());
    let depth = |simulation: &Simulation| {
        let obstacle = &simulation.obstacles()[0];
        penetration(obstacle, &boxes, simulation.positions(), 1e-4)
    };
    let before = depth(&simulation);
    assert!((0.003..0.005).contains(&before.worst), "{before:?}");
    assert!(!matches!(before.place, Some(ClothPoint::Vertex(_))));
    for _ in 0..100 {
        simulation.step().unwrap();
        let speeds = simulation.velocities().iter().map(|v| v.length());
        assert!(speeds.fold(0.0, f64::max) < 1.5);
    }
    let after = depth(&simulation);
    assert_eq!(after.n_inside, 0, "{after:?}");
}

#[test]
fn nothing_bounces_and_nothing_is_run_through() {
    for integrator in [Integrator::Euler, Integrator::Bdf2] {
        // Dropped from 10 cm, it lands and stays.
        let (cloth, x) = patch(6, 0.1);
        let config = SimulationConfig {
            integrator,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(cloth, x, config).unwrap();
        simulation
            .set_obstacles(vec![plane(DQuat::IDENTITY)], contact(0.3))
            .unwrap();
        for _ in 0..50 {
            simulation.step().unwrap();
        }
        for _ in 0..60 {
            simulation.step().unwrap();
            let highest = simulation
                .positions()
                .iter()
                .map(|p| p.y)
                .fold(0.0, f64::max);
            assert!(highest < 0.003, "{integrator:?} bounces to {highest} m");
        }
        // A thin disc that flies at cloth at rest takes it along.
        for speed in [5.0, 20.0] {
            let (cloth, x) = patch(8, 0.03);
            let mut simulation = Simulation::new(cloth, x, config).unwrap();
            let disc = Shape::Disc {
                radius: 0.2,
                thickness: 0.002,
                rim: 0.001,
            };
            let disc = RigidObstacle::new(disc, Placement::IDENTITY).unwrap();
            simulation
                .set_obstacles(vec![disc.into()], contact(0.3))
                .unwrap();
            for step in 0..15 {
                let at = |step: i32| Placement::at(DVec3::Y * (speed * f64::from(step) / 300.0));
                simulation.move_rigid(0, at(step), at(step + 1)).unwrap();
                simulation.step().unwrap();
                let lowest = simulation
                    .positions()
                    .iter()
                    .map(|p| p.y)
                    .fold(1e9, f64::min);
                let top = at(step + 1).translation.y + 0.001;
                assert!(
                    lowest >= top,
                    "{integrator:?}, {speed} m/s: {lowest} under {top}"
                );
            }
        }
    }
}

#[test]
fn contact_is_refused_with_the_midpoint_rule() {
    let (cloth, x) = patch(2, 0.1);
    let config = SimulationConfig {
        integrator: Integrator::Midpoint,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, x, config).unwrap();
    let error = simulation
        .set_obstacles(vec![plane(DQuat::IDENTITY)], contact(0.3))
        .unwrap_err();
    assert!(error.to_string().contains("Euler"), "{error}");
    assert!(
        simulation
            .set_obstacles(vec![plane(DQuat::IDENTITY)], contact(f64::NAN))
            .is_err()
    );
}

/// An obstacle could be replaced by one of another kind while cloth stuck to
/// it, and the next step panicked.
#[test]
fn obstacles_move_but_stay_what_they_are() {
    let mut simulation = settled(0.3);
    let away = Placement::at(DVec3::NEG_Y * 0.001);
    let (topology, positions) = globe(0.05, 8);
    let error = simulation.move_mesh(0, &positions, &positions).unwrap_err();
    assert!(matches!(
        error,
        SimulationError::ObstacleKind { obstacle: 0, .. }
    ));
    assert!(matches!(
        simulation.move_rigid(1, away, away).unwrap_err(),
        SimulationError::NoSuchObstacle {
            obstacle: 1,
            n_obstacles: 1
        }
    ));
    let nowhere = Placement::at(DVec3::NAN);
    assert!(matches!(
        simulation.move_rigid(0, away, nowhere).unwrap_err(),
        SimulationError::PlacementNotFinite { obstacle: 0 }
    ));
    simulation.move_rigid(0, Placement::IDENTITY, away).unwrap();
    simulation.step().unwrap();
    // A new obstacle is met afresh.
    let ball = MeshObstacle::new(&topology, positions.clone()).unwrap();
    simulation
        .set_obstacles(vec![ball.into()], contact(0.3))
        .unwrap();
    simulation.step().unwrap();
    assert!(simulation.move_mesh(0, &positions, &positions).is_ok());
    assert!(matches!(
        simulation
            .move_mesh(0, &positions[1..], &positions)
            .unwrap_err(),
        SimulationError::Mesh { obstacle: 0, .. }
    ));
}

/// Samples are asked about in parallel, with what each remembers of a mesh.
#[test]
fn any_number_of_threads_gives_the_same_bytes_on_a_mesh() {
    let run = |n_threads: usize| -> Vec<DVec3> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        pool.build().unwrap().install(|| {
            let (cloth, x) = patch(16, 0.052);
            let mut simulation = Simulation::new(cloth, x, SimulationConfig::default()).unwrap();
            let (topology, rest) = globe(0.05, 24);
            let ball = MeshObstacle::new(&topology, rest.clone()).unwrap();
            simulation
                .set_obstacles(vec![ball.into()], contact(0.3))
                .unwrap();
            simulation
                .set_self_contact(Some(SelfContactConfig::default()))
                .unwrap();
            for step in 0..40 {
                let at = |step: i32| -> Vec<DVec3> {
                    let turn = DQuat::from_rotation_x(0.02 * f64::from(step));
                    let shift = DVec3::X * 0.001 * f64::from(step);
                    rest.iter().map(|p| turn * *p + shift).collect()
                };
                simulation.move_mesh(0, &at(step), &at(step + 1)).unwrap();
                simulation.step().unwrap();
            }
            simulation.positions().to_vec()
        })
    };
    let alone = run(1);
    assert_eq!(run(2), alone);
    assert_eq!(run(4), alone);
}

/// Between plates that leave no room, no stiffness is enough: the step is taken
/// all the same, and says so.
#[test]
fn contacts_that_do_not_settle_are_reported() {
    let over = |y: f64| Placement {
        rotation: DQuat::from_rotation_x(std::f64::consts::PI),
        translation: DVec3::Y * y,
    };
    let press: Obstacle = RigidObstacle::new(Shape::Plane, over(3e-3)).unwrap().into();
    let (cloth, x) = patch(4, 0.0015);
    let mut simulation = Simulation::new(cloth, x, SimulationConfig::default()).unwrap();
    simulation
        .set_obstacles(vec![plane(DQuat::IDENTITY), press], contact(0.3))
        .unwrap();
    assert!(simulation.step().unwrap().contact_settled);
    simulation.move_rigid(1, over(3e-3), over(2e-5)).unwrap();
    let report = simulation.step().unwrap();
    assert!(!report.contact_settled, "{report:?}");
    // Given room again, it is as before.
    simulation.move_rigid(1, over(2e-5), over(4e-3)).unwrap();
    simulation.step().unwrap();
    assert!(simulation.step().unwrap().contact_settled);
}
