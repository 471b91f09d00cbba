//! Several cloths joined to one: alone, each is as it was.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use drapery_core::Fabric;
use drapery_sim::textbook::{Rectangle, Triangulation};
use drapery_sim::{
    Cloth, ClothError, ContactConfig, RigidObstacle, SelfContactConfig, Shape, Simulation,
    SimulationConfig, SimulationError,
};
use glam::{DQuat, DVec3};

fn sheet(n: u32) -> Rectangle {
    Rectangle::new(f64::from(n) * 0.04, n, n, Triangulation::Aligned).unwrap()
}

fn wool() -> Fabric {
    Fabric {
        damping: 2e-3,
        friction: 0.8,
        thickness: 2e-3,
        ..Fabric::plain("wool", 0.4, 300.0, 3e-5)
    }
}

fn silk() -> Fabric {
    Fabric {
        damping: 5e-4,
        friction: 0.2,
        thickness: 1e-3,
        ..Fabric::plain("silk", 0.08, 900.0, 2e-6)
    }
}

/// Level, with a corner at `at`.
fn level(sheet: &Rectangle, at: DVec3) -> Vec<DVec3> {
    let points = sheet.points.iter();
    points.map(|p| at + DVec3::new(p.x, 0.0, -p.y)).collect()
}

fn floor() -> RigidObstacle {
    RigidObstacle::new(Shape::Plane, drapery_sim::Placement::IDENTITY).unwrap()
}

/// Hung up by a corner, above a floor that the opposite corner meets.
fn hung(cloth: &Cloth, x: Vec<DVec3>, held: &[u32], fabrics: &[Fabric]) -> Simulation {
    let config = SimulationConfig {
        tolerance: 1e-6,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth.clone(), x, config).unwrap();
    for vertex in held {
        simulation.hold(*vertex).unwrap();
    }
    let contact: Vec<ContactConfig> = fabrics.iter().map(ContactConfig::of).collect();
    let layers: Vec<SelfContactConfig> = fabrics.iter().map(SelfContactConfig::of).collect();
    simulation
        .set_obstacles_by_piece(vec![floor().into()], &contact)
        .unwrap();
    simulation.set_self_contact_by_piece(&layers).unwrap();
    simulation
}

#[test]
fn a_cloth_joined_of_one_has_the_same_bytes() {
    let sheet = sheet(8);
    let cloth = Cloth::new(&sheet.rest, &wool(), &[]).unwrap();
    let joined = Cloth::join(std::slice::from_ref(&cloth)).unwrap();
    let x = level(&sheet, DVec3::new(0.0, 0.2, 0.0));
    let [mut one, mut other] = [&cloth, &joined].map(|c| hung(c, x.clone(), &[0], &[wool()]));
    for step in 0..60 {
        let reports = (one.step().unwrap(), other.step().unwrap());
        assert_eq!(reports.0, reports.1, "step {step}");
        assert_eq!(one.positions(), other.positions(), "step {step}");
    }
    let lowest = one.positions().iter().map(|p| p.y).fold(1.0, f64::min);
    assert!(lowest < 0.01, "it has fallen to {lowest} m");
}

/// One heavy, damped and flat, the other light and curved at rest.
#[test]
fn pieces_far_apart_move_as_each_does_alone() {
    let (large, small) = (sheet(8), sheet(5));
    let arch = |p: &DVec3| *p + DVec3::Y * (4.0 * p.x * (0.2 - p.x));
    let curved: Vec<DVec3> = level(&small, DVec3::ZERO).iter().map(arch).collect();
    let cloths = [
        Cloth::new(&large.rest, &wool(), &[]).unwrap(),
        Cloth::new(&small.rest.clone().with_curvature(curved), &silk(), &[]).unwrap(),
    ];
    let places = [DVec3::new(0.0, 0.2, 0.0), DVec3::new(5.0, 0.25, 1.0)];
    let x = [level(&large, places[0]), level(&small, places[1])];
    let fabrics = [wool(), silk()];
    let mut alone: Vec<Simulation> = (0..2)
        .map(|i| hung(&cloths[i], x[i].clone(), &[0], &fabrics[i..=i]))
        .collect();
    let joined = Cloth::join(&cloths).unwrap();
    let n = x[0].len();
    assert_eq!(joined.pieces()[1].vertices, n..n + x[1].len());
    let mut both = hung(&joined, x.concat(), &[0, n as u32], &fabrics);
    let mut farthest = 0.0f64;
    for _ in 0..60 {
        both.step().unwrap();
        let mut expected = Vec::new();
        for one in &mut alone {
            one.step().unwrap();
            expected.extend_from_slice(one.positions());
        }
        for (p, q) in both.positions().iter().zip(&expected) {
            farthest = farthest.max(p.distance(*q));
        }
    }
    assert!(farthest < 1e-5, "{farthest} m apart");
    let apart: f64 = (0..2).map(|i| cloths[i].energy(alone[i].positions())).sum();
    let together = joined.energy(both.positions());
    assert!(
        (together / apart - 1.0).abs() < 1e-3,
        "{together} J for {apart} J"
    );
}

/// An upper sheet on a lower one that is held, tilted by `angle` [rad]; how far
/// apart they rest [m] and how far the upper one slides in 0.3 s [m].
fn tilted(angle: f64) -> (f64, f64) {
    let (lower, upper) = (sheet(8), sheet(4));
    let cloths = [
        Cloth::new(&lower.rest, &wool(), &[]).unwrap(),
        Cloth::new(&upper.rest, &silk(), &[]).unwrap(),
    ];
    let joined = Cloth::join(&cloths).unwrap();
    let n = lower.points.len();
    let tilt = DQuat::from_rotation_z(angle);
    let above = level(&upper, DVec3::new(0.087, 1.45e-3, -0.075));
    let x: Vec<DVec3> = level(&lower, DVec3::ZERO)
        .into_iter()
        .chain(above)
        .map(|p| tilt * p)
        .collect();
    let mut simulation = Simulation::new(joined, x.clone(), SimulationConfig::default()).unwrap();
    for vertex in 0..n as u32 {
        simulation.hold(vertex).unwrap();
    }
    let layers = [wool(), silk()].map(|fabric| SelfContactConfig::of(&fabric));
    simulation.set_self_contact_by_piece(&layers).unwrap();
    for _ in 0..90 {
        simulation.step().unwrap();
    }
    let normal = tilt * DVec3::Y;
    let centre = n + 12;
    let moved = simulation.positions()[centre] - x[centre];
    let apart = simulation.positions()[centre].dot(normal);
    (apart, (moved - normal * normal.dot(moved)).length())
}

#[test]
fn layers_rest_at_the_mean_thickness_and_rub_with_the_geometric_mean() {
    // Half of 2 mm and of 1 mm.
    let (apart, _) = tilted(0.0);
    assert!((apart - 1.5e-3).abs() < 0.2e-3, "{apart} m apart");
    // √(0.8 · 0.2) = 0.4: sticks below, slides above.
    let (_, sticking) = tilted(0.37f64.atan());
    assert!(sticking < 1e-3, "{sticking} m");
    let (_, sliding) = tilted(0.46f64.atan());
    let expected = 0.5 * 9.81 * (0.46 - 0.4) * 0.46f64.atan().cos() * 0.3 * 0.3;
    assert!(
        (sliding / expected - 1.0).abs() < 0.2,
        "{sliding} m, expected {expected}"
    );
}

#[test]
fn settings_are_given_for_every_piece() {
    let sheet = sheet(3);
    let cloth = Cloth::new(&sheet.rest, &silk(), &[]).unwrap();
    let both = Cloth::join(&[cloth.clone(), cloth.clone()]).unwrap();
    let x = level(&sheet, DVec3::Y);
    let x = [x.clone(), x].concat();
    let mut simulation = Simulation::new(both, x, SimulationConfig::default()).unwrap();
    let missing = SimulationError::Pieces {
        found: 1,
        expected: 2,
    };
    let one = [SelfContactConfig::default()];
    assert_eq!(simulation.set_self_contact_by_piece(&one), Err(missing));
    let one = [ContactConfig::default()];
    let found = simulation.set_obstacles_by_piece(Vec::new(), &one);
    assert_eq!(found, Err(missing));
    assert!(matches!(Cloth::join(&[]), Err(ClothError::NoPiece)));
}

/// An upper sheet of which most hangs through the lower one, which is held; the
/// height of its lowest vertex after a while [m].
fn lowest_of_upper(is_worn_in_order: bool) -> f64 {
    let (lower, upper) = (sheet(10), sheet(6));
    let cloths = [
        Cloth::new(&lower.rest, &wool(), &[]).unwrap(),
        Cloth::new(&upper.rest, &silk(), &[]).unwrap(),
    ];
    let joined = Cloth::join(&cloths).unwrap();
    let n = lower.points.len();
    // Tilted about its own edge, two thirds of it below.
    let above = upper.points.iter().map(|p| {
        let y = 0.2 * (p.x - 0.16);
        DVec3::new(p.x + 0.0813, y, -p.y - 0.0771)
    });
    let x: Vec<DVec3> = level(&lower, DVec3::ZERO)
        .into_iter()
        .chain(above)
        .collect();
    let config = SimulationConfig {
        gravity: DVec3::ZERO,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(joined, x, config).unwrap();
    for vertex in 0..n as u32 {
        simulation.hold(vertex).unwrap();
    }
    let layers = [wool(), silk()].map(|fabric| SelfContactConfig::of(&fabric));
    simulation.set_self_contact_by_piece(&layers).unwrap();
    simulation.set_worn_in_order(is_worn_in_order);
    let mut crossings = u32::MAX;
    for _ in 0..200 {
        crossings = simulation.step().unwrap().crossings;
        if crossings == 0 {
            break;
        }
    }
    assert_eq!(crossings, 0);
    let upper = simulation.positions()[n..].iter();
    upper.map(|p| p.y).fold(f64::INFINITY, f64::min)
}

/// Without the order, the smaller part is taken for what has gone through.
#[test]
fn layers_that_cross_part_to_the_sides_where_they_are_worn() {
    let above = lowest_of_upper(true);
    assert!(above > 0.0, "{above} m");
    let below = lowest_of_upper(false);
    assert!(below < 0.0, "{below} m");
}
