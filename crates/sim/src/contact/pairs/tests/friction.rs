//! Coulomb's law for cloth on cloth.

use super::*;

const GRAVITY: f64 = 9.81;
const DT: f64 = 1.0 / 300.0;

/// A sheet that lies on a larger one, which is held, as steep as `slope` says:
/// tan θ, along a direction that no edge has.
fn incline(slope: f64, n_layers: u32) -> (Stage, DVec3) {
    let mut pieces = Pieces::default();
    pieces.sheet(9, 0.5, |p| DVec3::new(p.x, 0.0, p.y));
    for layer in 1..=n_layers {
        let turn = DVec2::from_angle(0.4 * f64::from(layer));
        pieces.sheet(3, 0.1, |p| {
            let p = turn.rotate(p);
            DVec3::new(p.x + 0.003, 0.85e-3 * f64::from(layer), p.y + 0.005)
        });
    }
    let mut stage = pieces.build(&cotton(), MeshPairs::All);
    stage.held[..100].fill(true);
    let theta = slope.atan();
    let down = DVec3::new(0.8, 0.0, 0.6);
    stage.tolerance = 1e-5;
    stage.gravity = (down * theta.sin() - DVec3::Y * theta.cos()) * GRAVITY;
    (stage, down)
}

/// The mean velocity of a piece along a direction.
fn velocity(stage: &Stage, piece: usize, along: DVec3) -> f64 {
    let speeds: Vec<f64> = stage
        .of_piece(piece)
        .map(|v| stage.v[v].dot(along))
        .collect();
    speeds.iter().sum::<f64>() / speeds.len() as f64
}

#[test]
fn cloth_sticks_below_the_angle_of_friction() {
    let (mut stage, down) = incline(0.95 * COTTON.friction, 1);
    for _ in 0..60 {
        stage.step(DT);
    }
    let before = stage.x.clone();
    for _ in 0..60 {
        stage.step(DT);
    }
    let crept = (100..stage.x.len()).map(|v| (stage.x[v] - before[v]).dot(down));
    let crept = crept.fold(0.0, f64::max);
    // Without friction it would be 5 cm.
    assert!(crept < 1e-6, "it crept by {crept} m in 0.2 s");
}

/// a = g (sin θ − μ cos θ).
#[test]
fn cloth_slides_above_it_as_fast_as_the_formula_says() {
    for ratio in [1.05, 1.5, 3.0] {
        let slope = ratio * COTTON.friction;
        let (mut stage, down) = incline(slope, 1);
        for _ in 0..30 {
            stage.step(DT);
        }
        let before = velocity(&stage, 1, down);
        for _ in 0..60 {
            stage.step(DT);
        }
        let found = (velocity(&stage, 1, down) - before) / (60.0 * DT);
        let theta = slope.atan();
        let expected = GRAVITY * (theta.sin() - COTTON.friction * theta.cos());
        // μ as the slide shows it.
        let mu = (GRAVITY * theta.sin() - found) / (GRAVITY * theta.cos());
        assert!(
            (mu / COTTON.friction - 1.0).abs() < 0.02,
            "{ratio}: {found} m/s², not {expected}: μ = {mu}"
        );
    }
}

#[test]
fn layers_stick_and_slide_together() {
    for (ratio, sticks) in [(0.95, true), (1.05, false)] {
        let (mut stage, down) = incline(ratio * COTTON.friction, 3);
        for _ in 0..120 {
            stage.step(DT);
        }
        let slowest = [1, 2, 3].map(|p| velocity(&stage, p, down));
        assert_eq!(slowest[2] < 1e-4, sticks, "{ratio}: {slowest:?} m/s");
    }
}
