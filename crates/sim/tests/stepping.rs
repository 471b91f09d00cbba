//! Cloth through time: integrators, solvers, air, pins and the ladder.

#![allow(
    clippy::unwrap_used,
    reason = "a scene that can't be set up fails the test"
)]

use drapery_core::{Fabric, Topology};
use drapery_sim::{
    Attachment, Basis, Cloth, Damping, Friction, Inertia, Integrator, Minimiser, NewtonConfig,
    Objective, RestShape, Simulation, SimulationConfig, SolveError, Solver, Spring, StrainCap,
    Touch, Wind,
};
use glam::{DMat3, DVec2, DVec3};

/// A sheet of `n` by `n` cells with sides of `side` metres.
fn sheet(n: u32, side: f64) -> (RestShape, Vec<DVec2>) {
    let across = n + 1;
    let at = |i: u32| DVec2::new(f64::from(i % across), f64::from(i / across));
    let points: Vec<DVec2> = (0..across * across)
        .map(|i| at(i) * side / f64::from(n))
        .collect();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for cell in (0..across * n).filter(|cell| cell % across != n) {
        let (a, b, c, d) = (cell, cell + 1, cell + across + 1, cell + across);
        match (cell % 3, cell) {
            (0, _) => triangles.extend([[a, b, d], [b, c, d]]),
            _ => triangles.extend([[a, b, c], [a, c, d]]),
        }
    }
    let corners = triangles
        .iter()
        .map(|t| t.map(|v| points[v as usize]))
        .collect();
    let topology = Topology::new(across * across, triangles).unwrap();
    (RestShape::from_corners(topology, corners).unwrap(), points)
}

fn level(points: &[DVec2]) -> Vec<DVec3> {
    points.iter().map(|p| DVec3::new(p.x, 0.0, p.y)).collect()
}

fn cotton() -> Fabric {
    Fabric {
        shear: 60.0,
        ..Fabric::plain("cotton", 0.2, 600.0, 1e-5)
    }
}

/// A sheet that hangs by two corners.
fn hanging(n: u32, config: SimulationConfig) -> Simulation {
    let (rest, points) = sheet(n, 1.0);
    let cloth = Cloth::new(&rest, &cotton(), &[]).unwrap();
    let mut simulation = Simulation::new(cloth, level(&points), config).unwrap();
    simulation.hold(0).unwrap();
    simulation.hold(n).unwrap();
    simulation
}

/// Something that is not flat, not regular and not at rest.
fn crumpled(points: &[DVec2]) -> Vec<DVec3> {
    points
        .iter()
        .map(|p| {
            let lift = 0.03 * (9.0 * p.x).sin() * (7.0 * p.y + 1.0).cos();
            DVec3::new(p.x * 0.97 + 0.01 * (20.0 * p.y).sin(), lift, p.y * 1.02)
        })
        .collect()
}

/// An objective with everything in it.
struct Everything {
    cloth: Cloth,
    held: Vec<bool>,
    forces: Vec<DVec3>,
    targets: Vec<DVec3>,
    springs: Vec<Spring>,
    touches: Vec<Touch>,
    damping: Damping,
    dt: f64,
    x: Vec<DVec3>,
}

impl Everything {
    fn new(n: u32, dt: f64) -> Self {
        let (rest, points) = sheet(n, 0.4);
        // At rest it is rolled, so that the curved rest shape counts.
        let rolled = points
            .iter()
            .map(|p| DVec3::new((3.0 * p.x).sin() / 3.0, (3.0 * p.x).cos() / 3.0, p.y))
            .collect();
        let rest = rest.with_curvature(rolled);
        let fabric = Fabric {
            damping: 0.01,
            bending_warp: 5e-4,
            bending_weft: 9e-4,
            ..cotton()
        };
        let cap = StrainCap {
            limit: 0.01,
            rise: 300.0,
        };
        let cloth = Cloth::new(&rest, &fabric, &[])
            .unwrap()
            .with_cap(Some(cap))
            .unwrap();
        let x = crumpled(&points);
        let start = level(&points);
        let mut damping = Damping::default();
        damping.set(&cloth, &start, &x, dt);
        let mut held = vec![false; x.len()];
        held[3] = true;
        Self {
            held,
            forces: cloth
                .masses()
                .iter()
                .map(|m| DVec3::Y * -9.81 * *m)
                .collect(),
            targets: start
                .iter()
                .map(|p| *p + DVec3::new(0.01, 0.02, 0.0))
                .collect(),
            springs: vec![Spring {
                vertex: 5,
                stiffness: DMat3::from_diagonal(DVec3::new(4.0, 9.0, 1.0)),
                target: DVec3::new(0.1, 0.3, 0.2),
            }],
            touches: vec![
                Touch {
                    vertices: [7, 1, 9, 3],
                    weights: [1.0, -0.2, -0.5, -0.3],
                    n_vertices: 4,
                    normal: DVec3::new(0.48, 0.6, 0.64),
                    level: -0.02,
                    offset: 0.06,
                    softness: 0.02,
                    stiffness: 300.0,
                    friction: Some(Friction {
                        anchor: DVec3::new(0.02, 0.01, 0.05),
                        stiffness: 100.0,
                        limit: 0.4,
                    }),
                },
                Touch {
                    vertices: [10; 4],
                    weights: [1.0; 4],
                    n_vertices: 1,
                    normal: DVec3::Y,
                    level: 0.03,
                    offset: 0.01,
                    softness: 0.005,
                    stiffness: 90.0,
                    friction: None,
                },
            ],
            damping,
            dt,
            x,
            cloth,
        }
    }

    fn objective(&self) -> Objective<'_> {
        Objective {
            cloth: &self.cloth,
            held: &self.held,
            forces: &self.forces,
            inertia: Some(Inertia {
                targets: &self.targets,
                dt: self.dt,
            }),
            springs: &self.springs,
            damping: Some(&self.damping),
            touches: &self.touches,
        }
    }
}

#[test]
fn the_gradient_of_the_whole_objective_is_exact_to_second_order() {
    let scene = Everything::new(4, 0.01);
    let objective = scene.objective();
    let gradient = objective.gradient(&scene.x);
    let direction: Vec<DVec3> = (0..scene.x.len())
        .map(|i| {
            let free = f64::from(u8::from(!scene.held[i]));
            DVec3::new(
                (i as f64).sin(),
                (1.3 * i as f64).cos(),
                (2.1 * i as f64).sin(),
            ) * free
        })
        .collect();
    let slope: f64 = gradient
        .iter()
        .zip(&direction)
        .map(|(g, d)| g.dot(*d))
        .sum();
    let value = objective.value(&scene.x);
    let remainder = |h: f64| {
        let moved: Vec<DVec3> = scene
            .x
            .iter()
            .zip(&direction)
            .map(|(x, d)| *x + *d * h)
            .collect();
        (objective.value(&moved) - value - h * slope).abs()
    };
    let h = 1e-5;
    let order = (remainder(h) / remainder(h / 2.0)).log2();
    assert!(
        (1.9..2.1).contains(&order),
        "remainder falls as h^{order:.2}, expected h^2"
    );
    assert_eq!(gradient[3], DVec3::ZERO, "vertex 3 is held");
}

#[test]
fn a_complete_basis_gives_the_full_step() {
    let scene = Everything::new(3, 0.01);
    let objective = scene.objective();
    let config = NewtonConfig {
        decrement: 1e-20,
        ..NewtonConfig::default()
    };
    let mut full = scene.x.clone();
    let report = Minimiser::default()
        .minimise(&objective, &mut full, &config)
        .unwrap();
    assert!(report.iterations > 2, "{report:?}");
    // Any complete basis will do; unit vectors would hide a transposed one.
    let n = scene.x.len();
    let columns = (0..3 * n).filter(|k| !scene.held[k / 3]).map(|k| {
        let mut column: Vec<DVec3> = (0..n)
            .map(|i| DVec3::splat(((i * k + 1) as f64 * 0.37).sin() * 0.05))
            .collect();
        column[k / 3][k % 3] += 1.0;
        column[3] = DVec3::ZERO;
        column
    });
    let basis = Basis::new(columns.collect()).unwrap();
    let mut reduced = scene.x.clone();
    let report = Minimiser::default()
        .minimise_within(&objective, &basis, &mut reduced, &config)
        .unwrap();
    assert!(report.iterations > 2, "{report:?}");
    let moved = full.iter().zip(&scene.x).map(|(a, b)| a.distance(*b));
    let moved = moved.fold(0.0, f64::max);
    let apart = full.iter().zip(&reduced).map(|(a, b)| a.distance(*b));
    let apart = apart.fold(0.0, f64::max);
    assert!(apart < 1e-8 * moved, "{apart:e} m apart after {moved:e} m");
    // With one column there is less to win, and still something.
    let one = Basis::new(vec![vec![DVec3::Y; n]]).unwrap();
    let mut lifted = scene.x.clone();
    Minimiser::default()
        .minimise_within(&objective, &one, &mut lifted, &config)
        .unwrap();
    let values = [&scene.x, &lifted, &full].map(|x| objective.value(x));
    assert!(values[0] > values[1] && values[1] > values[2], "{values:?}");
    assert_eq!(lifted[3], scene.x[3], "held");
}

#[test]
fn conjugate_gradients_find_the_minimum_that_cholesky_finds() {
    let scene = Everything::new(6, 0.003);
    let objective = scene.objective();
    let [direct, iterative] = [Solver::Direct, Solver::Iterative].map(|solver| {
        let config = NewtonConfig {
            solver,
            decrement: 1e-16,
            ..NewtonConfig::default()
        };
        let mut x = scene.x.clone();
        let report = Minimiser::default()
            .minimise(&objective, &mut x, &config)
            .unwrap();
        assert!(report.converged, "{solver:?}: {report:?}");
        assert_eq!(report.linear_iterations > 0, solver == Solver::Iterative);
        x
    });
    let apart = direct.iter().zip(&iterative).map(|(a, b)| a.distance(*b));
    let apart = apart.fold(0.0, f64::max);
    assert!(apart < 1e-7, "{apart:e} m apart");
}

#[test]
fn a_curved_rest_shape_is_at_rest_however_it_is_turned() {
    let scene = Everything::new(5, 0.01);
    let (_, points) = sheet(5, 0.4);
    let turn = DMat3::from_rotation_y(0.8) * DMat3::from_rotation_x(-1.9);
    let rolled: Vec<DVec3> = points
        .iter()
        .map(|p| turn * DVec3::new((3.0 * p.x).sin() / 3.0, (3.0 * p.x).cos() / 3.0, p.y))
        .collect();
    let bending = scene.cloth.bending();
    let flat = bending.energy(&level(&points));
    assert!(flat > 1e-5, "unrolling it costs {flat}");
    assert!(bending.energy(&rolled).abs() < 1e-12 * flat);
    let mut force = vec![DVec3::ZERO; rolled.len()];
    bending.add_gradient(&rolled, &mut force);
    let worst = force.iter().map(|f| f.length()).fold(0.0, f64::max);
    assert!(worst < 1e-12, "{worst} N");
    // Away from rest its forces still balance, moments too.
    let bent = crumpled(&points);
    force.fill(DVec3::ZERO);
    bending.add_gradient(&bent, &mut force);
    let sum: DVec3 = force.iter().sum();
    let moment: DVec3 = force.iter().zip(&bent).map(|(f, x)| x.cross(*f)).sum();
    let worst = force.iter().map(|f| f.length()).fold(0.0, f64::max);
    assert!(worst > 1e-3 && sum.length() < 1e-10 * worst && moment.length() < 1e-10 * worst);
}

/// A free square, stretched in one direction and let go.
fn ringing(integrator: Integrator, steps: u32, damping: f64) -> Simulation {
    let (rest, points) = sheet(1, 0.1);
    let fabric = Fabric {
        damping,
        ..Fabric::plain("rubber", 0.2, 30.0, 1e-6)
    };
    let cloth = Cloth::new(&rest, &fabric, &[]).unwrap();
    let stretched: Vec<DVec3> = points
        .iter()
        .map(|p| DVec3::new(p.x * 1.02, 0.0, p.y))
        .collect();
    let config = SimulationConfig {
        dt: 0.02 / f64::from(steps),
        integrator,
        solver: Solver::Direct,
        gravity: DVec3::ZERO,
        tolerance: 1e-10,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, stretched, config).unwrap();
    for _ in 0..steps {
        simulation.step().unwrap();
    }
    simulation
}

#[test]
fn integrators_are_of_the_order_that_they_claim() {
    let claims = [
        (Integrator::Euler, 1.0),
        (Integrator::Midpoint, 2.0),
        (Integrator::Bdf2, 2.0),
    ];
    for (integrator, expected) in claims {
        let [coarse, middle, fine] =
            [512, 1024, 2048].map(|steps| ringing(integrator, steps, 0.0).positions().to_vec());
        let apart = |a: &[DVec3], b: &[DVec3]| {
            let squares = a.iter().zip(b).map(|(a, b)| a.distance_squared(*b));
            squares.sum::<f64>().sqrt()
        };
        let order = (apart(&coarse, &middle) / apart(&middle, &fine)).log2();
        assert!(
            (order - expected).abs() < 0.1,
            "{integrator:?} converges as dt^{order:.2}"
        );
    }
}

#[test]
fn two_step_differences_tame_what_the_midpoint_rule_does_not() {
    // A free sheet let go from a strain of 1 %, at steps that don't resolve it.
    let highest = |integrator: Integrator| {
        let (rest, points) = sheet(8, 0.3);
        let cloth = Cloth::new(&rest, &Fabric::plain("linen", 0.2, 3000.0, 1e-5), &[]).unwrap();
        let stretched = level(&points).into_iter().map(|p| p * 1.01).collect();
        let config = SimulationConfig {
            integrator,
            gravity: DVec3::ZERO,
            tolerance: 1e-6,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(cloth, stretched, config).unwrap();
        let before = simulation.energy().total();
        let mut highest: f64 = 0.0;
        for _ in 0..40 {
            if simulation.step().is_err() {
                return f64::INFINITY;
            }
            highest = highest.max(simulation.energy().total() / before);
        }
        highest
    };
    let (tamed, wild) = (highest(Integrator::Bdf2), highest(Integrator::Midpoint));
    assert!(tamed < 1.01, "{tamed} of the energy that was put in");
    assert!(wild > tamed, "{wild}");
}

#[test]
fn damping_takes_what_the_fabric_says() {
    let total = |damping: f64| {
        let simulation = ringing(Integrator::Midpoint, 2000, damping);
        let budget = simulation.energy();
        (budget.total(), budget.damped)
    };
    let (undamped, none) = total(0.0);
    assert_eq!(none, 0.0);
    let (damped, lost) = total(5e-4);
    assert!(lost > 0.2 * undamped, "{lost} of {undamped}");
    let missing = undamped - damped - lost;
    assert!(
        missing.abs() < 2e-3 * undamped,
        "{damped} left and {lost} lost of {undamped}"
    );
}

#[test]
fn damping_slows_neither_a_fall_nor_a_turn() {
    let (rest, points) = sheet(4, 0.3);
    let spin = DVec3::new(0.3, 2.0, -0.5) * 3.0;
    let centre = DVec3::new(0.15, 0.0, 0.15);
    let run = |damping: f64| {
        let fabric = Fabric {
            damping,
            ..Fabric::plain("felt", 0.3, 4000.0, 1e-3)
        };
        let cloth = Cloth::new(&rest, &fabric, &[]).unwrap();
        let x = level(&points);
        let v: Vec<DVec3> = x.iter().map(|p| spin.cross(*p - centre)).collect();
        let config = SimulationConfig {
            dt: 1e-3,
            integrator: Integrator::Midpoint,
            solver: Solver::Direct,
            tolerance: 1e-9,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(cloth, x, config).unwrap();
        simulation.set_velocities(&v).unwrap();
        let before = momenta(&simulation);
        for _ in 0..200 {
            simulation.step().unwrap();
        }
        let after = momenta(&simulation);
        (
            before,
            after,
            simulation.cloth().masses().iter().sum::<f64>(),
        )
    };
    let ((_, turn), (fall, turned), mass) = run(0.02);
    let expected = DVec3::Y * (-9.81 * 0.2 * mass);
    assert!(
        (fall - expected).length() < 1e-9 * expected.length(),
        "{fall}"
    );
    let loss = (turned - turn).length() / turn.length();
    assert!(loss < 1e-3, "{loss} of the turn is lost");
}

/// Linear momentum, and angular momentum about the centre of mass.
fn momenta(simulation: &Simulation) -> (DVec3, DVec3) {
    let masses = simulation.cloth().masses();
    let (x, v) = (simulation.positions(), simulation.velocities());
    let mass: f64 = masses.iter().sum();
    let centre = masses.iter().zip(x).map(|(m, x)| *x * *m).sum::<DVec3>() / mass;
    let linear = masses.iter().zip(v).map(|(m, v)| *v * *m).sum();
    let angular = (0..masses.len())
        .map(|i| (x[i] - centre).cross(v[i]) * masses[i])
        .sum();
    (linear, angular)
}

#[test]
fn cut_short_directions_keep_momentum() {
    let (rest, points) = sheet(12, 0.5);
    let cloth = Cloth::new(&rest, &cotton(), &[]).unwrap();
    let mass: f64 = cloth.masses().iter().sum();
    let config = SimulationConfig {
        forcing: 0.3,
        tolerance: 0.03,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, crumpled(&points), config).unwrap();
    for _ in 0..50 {
        simulation.step().unwrap();
    }
    let (linear, _) = momenta(&simulation);
    let expected = DVec3::Y * (-9.81 * 50.0 / 300.0 * mass);
    let miss = (linear - expected).length() / expected.length();
    assert!(miss < 1e-10, "{miss:e}");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut simulation = hanging(24, SimulationConfig::default());
            for _ in 0..20 {
                simulation.step().unwrap();
            }
            simulation.positions().to_vec()
        })
    };
    let one = run(1);
    assert!(one.iter().any(|p| p.y < -1e-3));
    assert!(one == run(2) && one == run(4));
}

#[test]
fn a_fall_through_air_ends_at_the_speed_where_drag_is_weight() {
    let (rest, points) = sheet(3, 0.3);
    let cloth = Cloth::new(&rest, &Fabric::plain("card", 0.1, 5000.0, 1e-2), &[]).unwrap();
    let config = SimulationConfig {
        dt: 1.0 / 100.0,
        tolerance: 1e-5,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, level(&points), config).unwrap();
    let air = Wind::blowing(DVec3::ZERO);
    simulation.set_wind(Some(air)).unwrap();
    for _ in 0..300 {
        simulation.step().unwrap();
    }
    // ½ ρ C v² = ρ_A g.
    let expected = (0.1 * 9.81 / (0.5 * air.density * air.pressure)).sqrt();
    let speed = -simulation.velocities()[5].y;
    assert!(
        (speed / expected - 1.0).abs() < 1e-3,
        "{speed} for {expected}"
    );
}

#[test]
fn a_slanted_sheet_is_lifted_across_the_wind() {
    // At 30° to the wind, pressure alone gives drag C sin³ and lift C sin² cos.
    let (rest, points) = sheet(2, 0.2);
    let cloth = Cloth::new(&rest, &Fabric::plain("card", 0.2, 5000.0, 1e-2), &[]).unwrap();
    let slant = DMat3::from_rotation_z(30f64.to_radians());
    let x: Vec<DVec3> = level(&points).into_iter().map(|p| slant * p).collect();
    let mass: f64 = cloth.masses().iter().sum();
    let config = SimulationConfig {
        dt: 1e-5,
        gravity: DVec3::ZERO,
        tolerance: 1e-9,
        solver: Solver::Direct,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, x, config).unwrap();
    let wind = Wind {
        friction: 0.0,
        ..Wind::blowing(DVec3::X * 4.0)
    };
    simulation.set_wind(Some(wind)).unwrap();
    simulation.step().unwrap();
    let (momentum, _) = momenta(&simulation);
    let force = momentum / 1e-5;
    let (sin, cos) = 30f64.to_radians().sin_cos();
    let pressure = 0.5 * wind.density * wind.pressure * 16.0 * 0.04;
    let expected = DVec3::new(sin.powi(3), -sin * sin * cos, 0.0) * pressure;
    assert!(
        mass > 0.0 && (force - expected).length() < 1e-3 * pressure,
        "{force} for {expected}"
    );
}

#[test]
fn wind_never_carries_cloth_faster_than_itself() {
    let (rest, points) = sheet(3, 0.3);
    let cloth = Cloth::new(&rest, &Fabric::plain("film", 0.01, 500.0, 1e-7), &[]).unwrap();
    let config = SimulationConfig {
        dt: 1.0 / 30.0,
        gravity: DVec3::ZERO,
        ..SimulationConfig::default()
    };
    let upright = points.iter().map(|p| DVec3::new(p.x, p.y, 0.0)).collect();
    let mut simulation = Simulation::new(cloth, upright, config).unwrap();
    simulation
        .set_wind(Some(Wind::blowing(DVec3::Z * 30.0)))
        .unwrap();
    for _ in 0..30 {
        simulation.step().unwrap();
        let mass: f64 = simulation.cloth().masses().iter().sum();
        let speed = momenta(&simulation).0.z / mass;
        assert!((0.0..=30.0).contains(&speed), "{speed} m/s");
    }
    let fastest = momenta(&simulation).0.z / simulation.cloth().masses().iter().sum::<f64>();
    assert!(fastest > 20.0, "{fastest} m/s");
}

#[test]
fn a_strain_cap_stops_what_would_stretch() {
    let longest = |cap: Option<StrainCap>| {
        let (rest, points) = sheet(6, 0.5);
        let fabric = Fabric::plain("knit", 0.4, 8.0, 1e-6);
        let cloth = Cloth::new(&rest, &fabric, &[])
            .unwrap()
            .with_cap(cap)
            .unwrap();
        let hung = points.iter().map(|p| DVec3::new(p.x, -p.y, 0.0)).collect();
        let config = SimulationConfig {
            dt: 0.02,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(cloth, hung, config).unwrap();
        for vertex in 0..7 {
            simulation.hold(vertex).unwrap();
        }
        for _ in 0..100 {
            simulation.step().unwrap();
        }
        let x = simulation.positions();
        x[3].distance(x[10]) * 12.0 - 1.0
    };
    let cap = StrainCap {
        limit: 0.05,
        rise: 100.0,
    };
    let (free, capped) = (longest(None), longest(Some(cap)));
    assert!(free > 0.15, "{free}");
    assert!((0.05..0.07).contains(&capped), "{capped}");
}

#[test]
fn pins_go_where_they_are_taken_and_attachments_give_way() {
    let mut simulation = hanging(6, SimulationConfig::default());
    for step in 1..=60 {
        let place = DVec3::new(0.0, 0.1, 0.2) * (f64::from(step) / 60.0);
        simulation.move_held(0, place).unwrap();
        simulation.step().unwrap();
        assert_eq!(simulation.positions()[0], place);
    }
    let speed = DVec3::new(0.0, 0.1, 0.2) * 5.0;
    assert!((simulation.velocities()[0] - speed).length() < 1e-9);

    // Two springs carry the whole sheet: together they stretch by its weight.
    let (rest, points) = sheet(2, 0.1);
    let cloth = Cloth::new(&rest, &cotton(), &[]).unwrap();
    let weight = 9.81 * cloth.masses().iter().sum::<f64>();
    let upright: Vec<DVec3> = points.iter().map(|p| DVec3::new(p.x, -p.y, 0.0)).collect();
    let attachments = [0, 2].map(|vertex| Attachment {
        vertex,
        target: upright[vertex as usize],
        stiffness: 5.0,
    });
    let config = SimulationConfig {
        dt: 0.05,
        tolerance: 1e-7,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, upright.clone(), config).unwrap();
    simulation.set_attachments(&attachments).unwrap();
    for _ in 0..400 {
        simulation.step().unwrap();
    }
    let sunk: f64 = attachments
        .iter()
        .map(|a| a.target.y - simulation.positions()[a.vertex as usize].y)
        .sum();
    assert!((sunk * 5.0 / weight - 1.0).abs() < 1e-4, "{sunk} m");
}

#[test]
fn squeezed_cloth_opens_again() {
    let (rest, points) = sheet(6, 0.3);
    let cloth = Cloth::new(&rest, &cotton(), &[]).unwrap();
    let squeezed = points
        .iter()
        .map(|p| DVec3::new(0.3 * p.x, 1e-3 * (40.0 * p.y).sin(), 0.3 * p.y))
        .collect();
    let config = SimulationConfig {
        gravity: DVec3::ZERO,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, squeezed, config).unwrap();
    let before = simulation.energy().total();
    for _ in 0..300 {
        simulation.step().unwrap();
        let now = simulation.energy().total();
        assert!(now <= before * (1.0 + 1e-9), "{now} J of {before} J");
    }
    let left = simulation.energy().stretch;
    assert!(left < 0.02 * before, "{left} J of {before} J are left");
}

#[test]
fn a_step_that_fails_is_taken_in_parts_and_then_named() {
    // Pulled so hard that a step as a whole needs more iterations than it has.
    let config = SimulationConfig {
        dt: 1.0 / 30.0,
        max_iterations: 4,
        tolerance: 1e-5,
        ..SimulationConfig::default()
    };
    let mut simulation = hanging(6, config);
    simulation.move_held(0, DVec3::new(0.0, 0.6, 0.5)).unwrap();
    let report = simulation.step().unwrap();
    assert!(report.parts > 1, "{report:?}");
    assert_eq!(simulation.positions()[0], DVec3::new(0.0, 0.6, 0.5));

    // With a tolerance that rounding does not allow, no part is small enough.
    let config = SimulationConfig {
        max_iterations: 1,
        tolerance: 1e-300,
        steps_per_frame: 2,
        ..SimulationConfig::default()
    };
    let mut simulation = hanging(6, config);
    let before = simulation.positions().to_vec();
    let error = simulation.step().unwrap_err();
    assert_eq!((error.frame.0, error.step), (0, 0));
    assert!((error.vertex as usize) < before.len());
    assert_eq!(simulation.positions(), before);
    let text = error.to_string();
    assert!(
        text.contains("frame 0") && text.contains("vertex"),
        "{text}"
    );
}

#[test]
fn what_can_not_be_simulated_is_refused() {
    let (rest, points) = sheet(2, 0.1);
    let cloth = Cloth::new(&rest, &cotton(), &[]).unwrap();
    let x = level(&points);
    let config = SimulationConfig::default();
    assert!(Simulation::new(cloth.clone(), x[1..].to_vec(), config).is_err());
    let mut broken = x.clone();
    broken[4].y = f64::NAN;
    let error = Simulation::new(cloth.clone(), broken.clone(), config).unwrap_err();
    assert!(error.to_string().contains("vertex 4"), "{error}");
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let config = SimulationConfig { dt, ..config };
        assert!(Simulation::new(cloth.clone(), x.clone(), config).is_err());
    }
    let mut simulation = Simulation::new(cloth, x, config).unwrap();
    assert!(simulation.hold(9).is_err());
    assert!(simulation.set_velocities(&broken).is_err());
    assert!(simulation.move_held(0, DVec3::NAN).is_err());
    let wind = Wind::blowing(DVec3::splat(f64::INFINITY));
    assert!(simulation.set_wind(Some(wind)).is_err());
    let attachment = Attachment {
        vertex: 1,
        target: DVec3::ZERO,
        stiffness: -1.0,
    };
    assert!(simulation.set_attachments(&[attachment]).is_err());
}

/// A free sheet that is crumpled and shaken, on its way somewhere.
fn shaken(config: SimulationConfig, drift: DVec3) -> Simulation {
    let (rest, points) = sheet(8, 1.0);
    let cloth = Cloth::new(&rest, &cotton(), &[]).unwrap();
    let mut simulation = Simulation::new(cloth, crumpled(&points), config).unwrap();
    let speeds = (0..points.len()).map(|i| DVec3::new(0.0, 0.5 * (i as f64).sin(), 0.0));
    let speeds: Vec<DVec3> = speeds.map(|v| v + drift).collect();
    simulation.set_velocities(&speeds).unwrap();
    simulation
}

/// With too few iterations, a step is refused or taken in parts, unless it may
/// be off; then it says that it is.
#[test]
fn a_step_that_is_off_is_taken_only_where_that_is_allowed() {
    let few = SimulationConfig {
        max_iterations: 1,
        tolerance: 1e-9,
        ..SimulationConfig::default()
    };
    let step = |slack: f64| shaken(SimulationConfig { slack, ..few }, DVec3::ZERO).step();
    assert!(step(1.0).is_err());
    let report = step(1e12).unwrap();
    assert_eq!((report.parts, report.solve.converged), (1, false));
    // In quarters whatever is finite is taken.
    let report = step(1.01).unwrap();
    assert_eq!((report.parts, report.solve.converged), (4, false));
}

/// A share of how fast vertices move within the cloth, whatever its speed as a
/// whole.
#[test]
fn cloth_in_motion_is_solved_in_proportion() {
    let iterations = |relative_tolerance: f64, drift: DVec3| {
        let config = SimulationConfig {
            tolerance: 1e-6,
            relative_tolerance,
            gravity: DVec3::ZERO,
            ..SimulationConfig::default()
        };
        let report = shaken(config, drift).step().unwrap();
        report.solve.iterations
    };
    let exact = iterations(0.0, DVec3::ZERO);
    let loose = iterations(0.05, DVec3::ZERO);
    assert!(loose < exact, "{loose} and {exact}");
    // Speed of the whole changes nothing.
    let drift = DVec3::new(7.0, 0.0, -3.0);
    assert_eq!(iterations(0.05, drift), loose);
}

/// Contacts so stiff that rounding leaves the preconditioner's matrices no factor were
/// taken for cloth that nothing holds, and ended a clip.
#[test]
fn contacts_beyond_what_a_factor_can_bear_are_still_solved_for() {
    let mut scene = Everything::new(4, 0.01);
    let triangles = scene.cloth.membrane().triangles().to_vec();
    // Too few to hold all of it.
    scene.touches = triangles
        .iter()
        .enumerate()
        .step_by(3)
        .map(|(i, [a, b, c])| {
            let i = i as f64;
            Touch {
                vertices: [*a, *b, *c, 0],
                weights: [0.2, 0.3, 0.5, 0.0],
                n_vertices: 3,
                normal: DVec3::new(i.sin(), 2.0, i.cos()).normalize(),
                level: 0.0,
                offset: 1.0,
                softness: 0.01,
                stiffness: 1e12,
                friction: None,
            }
        })
        .collect();
    let config = NewtonConfig {
        solver: Solver::Iterative,
        max_iterations: 1,
        ..NewtonConfig::default()
    };
    let (objective, mut x) = (scene.objective(), scene.x.clone());
    let before = objective.value(&x);
    let solved = Minimiser::default().minimise(&objective, &mut x, &config);
    solved.expect("inertia holds every vertex");
    assert!(objective.value(&x) < before);
    // At rest, what has no factor is held by nothing.
    let rest = Objective {
        inertia: None,
        ..objective
    };
    let solved = Minimiser::default().minimise(&rest, &mut scene.x.clone(), &config);
    assert_eq!(solved.unwrap_err(), SolveError::Unheld);
}

/// A dozen triangles that buckled in an armpit took thirty iterations a step, while all
/// else was done after three.
#[test]
fn a_few_vertices_keep_nobody_waiting_unless_they_are_far_off() {
    let scene = Everything::new(20, 0.003);
    let objective = scene.objective();
    let exact = NewtonConfig {
        solver: Solver::Iterative,
        decrement: 1e-16,
        ..NewtonConfig::default()
    };
    let mut solved = scene.x.clone();
    let report = Minimiser::default().minimise(&objective, &mut solved, &exact);
    assert!(report.unwrap().converged);
    // Whether it is done while there is far more to win than the limit.
    let is_content = |x: &[DVec3], decrement: f64, outlier: f64| {
        let config = NewtonConfig {
            decrement,
            outlier,
            ..exact
        };
        let report = Minimiser::default().minimise(&objective, &mut x.to_vec(), &config);
        let report = report.unwrap();
        assert!(report.converged);
        report.decrement > 50.0 * decrement
    };
    // What a first iteration finds to be won, from x.
    let decrement = |x: &[DVec3]| {
        let config = NewtonConfig {
            max_iterations: 1,
            ..exact
        };
        let report = Minimiser::default().minimise(&objective, &mut x.to_vec(), &config);
        report.unwrap().decrement
    };
    let middle = scene.x.len() / 2 + 10;
    let mut one_off = solved.clone();
    one_off[middle] += DVec3::new(0.0, 1e-4, 0.0);
    let limit = decrement(&one_off) / 100.0;
    assert!(is_content(&one_off, limit, 15.0));
    assert!(!is_content(&one_off, limit, f64::INFINITY));
    assert!(!is_content(&one_off, 0.1 * limit, 15.0), "far off");
    let mut all_off = solved.clone();
    for (i, x) in all_off.iter_mut().enumerate() {
        x.y += 1e-5 * (i as f64).sin();
    }
    let limit = decrement(&all_off) / 100.0;
    assert!(!is_content(&all_off, limit, 15.0), "all are off");
}
