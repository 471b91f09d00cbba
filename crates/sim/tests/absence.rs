//! What is absent is not felt by strangers, and comes back.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use drapery_core::{Fabric, Topology};
use drapery_sim::textbook::{Rectangle, Triangulation};
use drapery_sim::{Cloth, ContactConfig, MeshObstacle, Simulation, SimulationConfig};
use glam::DVec3;

/// Strangers are farther apart than this [m].
const RADIUS: f64 = 0.25;

/// A block of 10 cm around the origin, its faces outwards.
fn block() -> (Topology, Vec<DVec3>) {
    let corners = (0..8u32).map(|k| {
        let side = |bit: u32| f64::from((k >> bit) & 1) * 0.1 - 0.05;
        DVec3::new(side(0), side(1), side(2))
    });
    let triangles = vec![
        [0, 2, 3],
        [0, 3, 1],
        [4, 5, 7],
        [4, 7, 6],
        [0, 1, 5],
        [0, 5, 4],
        [2, 6, 7],
        [2, 7, 3],
        [0, 4, 6],
        [0, 6, 2],
        [1, 3, 7],
        [1, 7, 5],
    ];
    (Topology::new(8, triangles).unwrap(), corners.collect())
}

fn at(block: &[DVec3], height: f64) -> Vec<DVec3> {
    block.iter().map(|p| *p + DVec3::Y * height).collect()
}

/// A sheet of 40 cm at rest in the plane y = 0, without gravity, at home
/// `away` [m] from the block.
fn sheet(block: (&Topology, &[DVec3]), away: f64) -> Simulation {
    let sheet = Rectangle::new(0.4, 10, 10, Triangulation::Aligned).unwrap();
    let x = sheet.points.iter();
    let x: Vec<DVec3> = x.map(|p| DVec3::new(p.x - 0.2, 0.0, 0.2 - p.y)).collect();
    let cloth = Cloth::new(&sheet.rest, &Fabric::plain("cloth", 0.2, 300.0, 1e-5), &[]).unwrap();
    let config = SimulationConfig {
        gravity: DVec3::ZERO,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, x.clone(), config).unwrap();
    let mesh = MeshObstacle::new(block.0, at(block.1, -0.1)).unwrap();
    simulation
        .set_obstacles(vec![mesh.into()], ContactConfig::default())
        .unwrap();
    let far: Vec<DVec3> = x.iter().map(|p| *p + DVec3::Y * away).collect();
    simulation.set_homes(0, block.1, &far, RADIUS).unwrap();
    simulation
}

/// Moves the block from one height to another, all of it absent or nothing.
fn rise(simulation: &mut Simulation, block: &[DVec3], from: f64, to: f64, is_absent: bool) {
    simulation.set_absent(0, &[is_absent; 8]).unwrap();
    let n_steps = 40;
    let height = |step: u32| from + (to - from) * f64::from(step) / f64::from(n_steps);
    for step in 0..n_steps {
        let (start, end) = (at(block, height(step)), at(block, height(step + 1)));
        simulation.move_mesh(0, &start, &end).unwrap();
        simulation.step().unwrap();
    }
}

fn highest(simulation: &Simulation) -> f64 {
    let heights = simulation.positions().iter().map(|p| p.y);
    heights.fold(f64::MIN, f64::max)
}

#[test]
fn strangers_do_not_feel_what_is_absent() {
    let (topology, block) = block();
    for (away, is_absent, is_felt) in [
        (1.0, true, false),
        (1.0, false, true),
        // Its own cloth feels it all the same.
        (0.05, true, true),
    ] {
        let mut simulation = sheet((&topology, &block), away);
        rise(&mut simulation, &block, -0.1, 0.0, is_absent);
        let highest = highest(&simulation);
        assert_eq!(highest > 0.04, is_felt, "{away} {is_absent}: {highest}");
        assert!(is_felt || highest == 0.0, "{highest}");
    }
}

/// A block that has risen into the sheet unfelt has cloth within it, until it
/// is below it again; then it is felt as if it had never been away.
#[test]
fn what_has_cloth_within_it_is_occupied() {
    let (topology, block) = block();
    let mut simulation = sheet((&topology, &block), 1.0);
    assert_eq!(simulation.occupied(0), [false; 8]);
    rise(&mut simulation, &block, -0.1, 0.0, true);
    // The sheet lies across the block's middle.
    assert!(simulation.occupied(0).contains(&true));
    rise(&mut simulation, &block, 0.0, -0.1, true);
    assert_eq!(simulation.occupied(0), [false; 8]);
    rise(&mut simulation, &block, -0.1, 0.0, false);
    assert!(highest(&simulation) > 0.04);
    // Nothing is absent, so nothing is occupied.
    assert_eq!(simulation.occupied(0), [false; 8]);
}

#[test]
fn homes_that_do_not_fit_are_refused() {
    let (topology, block) = block();
    let mut simulation = sheet((&topology, &block), 1.0);
    let cloth = simulation.positions().to_vec();
    assert!(
        simulation
            .set_homes(0, &block[1..], &cloth, RADIUS)
            .is_err()
    );
    assert!(
        simulation
            .set_homes(0, &block, &cloth[1..], RADIUS)
            .is_err()
    );
    assert!(simulation.set_homes(1, &block, &cloth, RADIUS).is_err());
    assert!(simulation.set_homes(0, &block, &cloth, -1.0).is_err());
    assert!(simulation.set_absent(0, &[true; 7]).is_err());
    assert!(simulation.set_absent(1, &[true; 8]).is_err());
    assert_eq!(simulation.occupied(1), Vec::<bool>::new());
}
