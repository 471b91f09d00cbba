//! Cloth on the vertices, edges and faces of meshes.

use super::super::super::test_meshes::sphere;
use super::*;

const GRAVITY: f64 = 9.81;

/// A closed mesh from the corners of a cone: a tip over a base of three.
fn spike(height: f64) -> MeshObstacle {
    let base = [(-0.02, -0.02), (0.03, -0.01), (-0.01, 0.03)];
    let mut x: Vec<DVec3> = base.iter().map(|p| DVec3::new(p.0, -height, p.1)).collect();
    x.push(DVec3::ZERO);
    let triangles = vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]];
    MeshObstacle::new(&Topology::new(4, triangles).unwrap(), x).unwrap()
}

/// A box with sides of these lengths, whose top is at y = 0.
fn block(size: DVec3) -> MeshObstacle {
    let x = (0..8).map(|i| {
        let at = |bit: u32| f64::from(i >> bit & 1) - 0.5;
        DVec3::new(at(0) * size.x, (at(1) - 0.5) * size.y, at(2) * size.z)
    });
    let quads = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles = quads
        .iter()
        .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
    let topology = Topology::new(8, triangles.collect()).unwrap();
    MeshObstacle::new(&topology, x.collect()).unwrap()
}

/// The tip is far from every vertex of the cloth, and so it is an affair of a
/// face alone.
#[test]
fn a_tip_does_not_pass_through_the_middle_of_a_face() {
    let mut pieces = Pieces::default();
    let flat = [(-0.1, -0.1), (0.2, -0.1), (-0.1, 0.2)].map(DVec2::from);
    pieces.add(&flat, &[[0, 2, 1]], |p| DVec3::new(p.x, 0.1, p.y));
    let mut stage = pieces.build(&cotton(), MeshPairs::WithoutVertices);
    stage.meshes.push(spike(0.3));
    stage.gravity = DVec3::NEG_Y * GRAVITY;
    stage.v.fill(DVec3::NEG_Y * 20.0);
    let before = stage.momentum();
    for step in 0..4 {
        stage.step(1.0 / 30.0);
        assert_eq!(stage.n_crossings(), 0, "step {step}");
    }
    // It balances on the tip, over the centre of mass.
    let momentum = stage.momentum();
    assert!(momentum.length() < 0.1 * before.length(), "{momentum}");
    let height = stage.x.iter().map(|p| p.y).sum::<f64>() / 3.0;
    assert!((0.0..2e-3).contains(&height), "{height}");
}

#[test]
fn cloth_hangs_over_the_edge_of_a_block() {
    let mut pieces = Pieces::default();
    pieces.sheet(5, 0.2, |p| DVec3::new(p.x + 0.107, 2e-3, p.y + 0.013));
    let mut stage = pieces.build(&cotton(), MeshPairs::All);
    stage.meshes.push(block(DVec3::new(0.2, 0.2, 0.4)));
    stage.gravity = DVec3::NEG_Y * GRAVITY;
    // Two vertices over the block are held, so that it does not slide off.
    stage.held[..=30]
        .iter_mut()
        .step_by(6)
        .for_each(|held| *held = true);
    for step in 0..60 {
        stage.step(1.0 / 100.0);
        assert_eq!(stage.n_crossings(), 0, "step {step}");
    }
    let lowest = stage.x.iter().map(|p| p.y).fold(f64::MAX, f64::min);
    assert!(lowest < -0.03, "it hangs down by {lowest} m");
    let nearest = stage.x.iter().map(|p| stage.meshes[0].nearest(*p, 1.0));
    let nearest = nearest
        .flatten()
        .map(|s| s.distance)
        .fold(f64::MAX, f64::min);
    assert!(nearest > 0.2e-3, "{nearest} m");
}

#[test]
fn a_ball_shot_at_a_sheet_takes_it_along() {
    let mut pieces = Pieces::default();
    pieces.sheet(6, 0.3, |p| DVec3::new(p.x + 0.004, 0.0, p.y + 0.007));
    let mut stage = pieces.build(&cotton(), MeshPairs::All);
    let (topology, ball) = sphere(0.05, 6);
    let at = |t: f64| -> Vec<DVec3> {
        let centre = DVec3::new(0.0, -0.1 + 20.0 * t, 0.0);
        ball.iter().map(|p| *p + centre).collect()
    };
    stage
        .meshes
        .push(MeshObstacle::new(&topology, at(0.0)).unwrap());
    let dt = 1.0 / 100.0;
    for step in 0..6 {
        let t = f64::from(step) * dt;
        stage.meshes[0].set_motion(&at(t), &at(t + dt)).unwrap();
        stage.step(dt);
        assert_eq!(stage.n_crossings(), 0, "step {step}");
    }
    let top = stage.x.iter().map(|p| p.y).fold(f64::MIN, f64::max);
    assert!(top > -0.05 + 20.0 * 6.0 * dt, "{top}");
}

/// v = μ g t until it is as fast as the belt.
#[test]
fn a_belt_carries_cloth_along_and_not_faster() {
    let mut pieces = Pieces::default();
    pieces.sheet(2, 0.1, |p| DVec3::new(p.x + 0.01, 0.9e-3, p.y + 0.02));
    let mut stage = pieces.build(&cotton(), MeshPairs::All);
    stage.tolerance = 1e-5;
    stage.gravity = DVec3::NEG_Y * GRAVITY;
    stage.meshes.push(block(DVec3::new(1.0, 0.1, 1.0)));
    let rest = stage.meshes[0].start().to_vec();
    let (dt, speed) = (1.0 / 300.0, 0.3);
    let at = |step: u32| -> Vec<DVec3> {
        let way = DVec3::X * (speed * dt * f64::from(step));
        rest.iter().map(|p| *p + way).collect()
    };
    for _ in 0..30 {
        stage.step(dt);
    }
    for step in 0..60 {
        stage.meshes[0]
            .set_motion(&at(step), &at(step + 1))
            .unwrap();
        stage.step(dt);
        let n = stage.x.len() as f64;
        let mean = stage.v.iter().copied().sum::<DVec3>() / n;
        let expected = (COTTON.friction * GRAVITY * dt * f64::from(step + 1)).min(speed);
        assert!(
            (mean.x - expected).abs() < 0.03 * speed,
            "step {step}: {mean}, not {expected}"
        );
    }
}

#[test]
fn what_is_inside_is_not_kept_there() {
    let (topology, ball) = sphere(0.05, 6);
    let mesh = MeshObstacle::new(&topology, ball).unwrap();
    for (height, is_inside) in [(0.0508, false), (0.0492, true)] {
        let mut pieces = Pieces::default();
        let flat = [(-0.002, 0.0), (0.002, 0.0), (0.0, 0.002)].map(DVec2::from);
        pieces.add(&flat, &[[0, 2, 1]], |p| DVec3::new(p.x, height, p.y));
        let mut stage = pieces.build(&cotton(), MeshPairs::All);
        let (x, masses) = (stage.x.clone(), stage.masses());
        stage.pairs.begin(&x, &x, &masses, 0.01, &[&mesh]);
        assert_eq!(stage.pairs.touches().is_empty(), is_inside, "{height}");
    }
}
