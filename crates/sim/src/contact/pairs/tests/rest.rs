//! Cloth that lies on cloth.

use super::*;

const GRAVITY: f64 = 9.81;

/// A small triangle over the middle of one large face that is held.
fn on_a_face() -> Stage {
    let mut pieces = Pieces::default();
    let large = [(-0.1, -0.1), (0.2, -0.1), (-0.1, 0.2)].map(DVec2::from);
    pieces.add(&large, &[[0, 2, 1]], |p| DVec3::new(p.x, 0.0, p.y));
    let small = [(0.0, 0.0), (0.02, 0.0), (0.0, 0.02)].map(DVec2::from);
    pieces.add(&small, &[[0, 2, 1]], |p| DVec3::new(p.x, 1e-3, p.y));
    let mut stage = pieces.build(&cotton(), MeshPairs::All);
    stage.held[..3].fill(true);
    stage.tolerance = 1e-5;
    stage.gravity = DVec3::NEG_Y * GRAVITY;
    stage
}

/// Below the softness k (r − g)²/(2 δ) = m g, beyond it k (r − g − δ/2) = m g,
/// with the stiffest of what k may be.
#[test]
fn a_vertex_on_a_face_carries_its_weight_at_the_depth_of_the_formula() {
    let rest = COTTON.thickness;
    for (dt, stiffness_by_mass) in [
        (1.0 / 600.0, 600.0 * 600.0),
        (1.0 / 300.0, 300.0 * 300.0),
        (1.0 / 30.0, GRAVITY / (0.3 * rest)),
    ] {
        let mut stage = on_a_face();
        for _ in 0..150 {
            stage.step(dt);
        }
        let (softness, acts) = (0.2 * rest, GRAVITY / stiffness_by_mass);
        let expected = match acts < 0.5 * softness {
            true => rest - (2.0 * softness * acts).sqrt(),
            false => rest - 0.5 * softness - acts,
        };
        for v in 3..6 {
            let gap = stage.x[v].y;
            assert!(
                (gap - expected).abs() < 1e-3 * rest,
                "{dt}: {gap} m, not {expected}"
            );
        }
        let weight: f64 = stage.cloth.masses()[3..].iter().sum::<f64>() * GRAVITY;
        let touches = stage.pairs.touches();
        let borne: f64 = touches.iter().map(|t| t.force(&stage.x) * t.normal.y).sum();
        // `x` is where the step ended, its contacts are those of the solve.
        assert!(
            (borne - weight).abs() < 1e-3 * weight,
            "{borne} N, not {weight}"
        );
        assert_eq!(touches.len(), 3);
    }
}

/// Ten layers press on the lowest one with all their weight: far more than a
/// contact expects from the mass of its own vertices.
#[test]
fn a_stack_keeps_its_layers_apart() {
    let mut pieces = Pieces::default();
    for layer in 0..10 {
        let (shift, turn) = (0.003 * f64::from(layer), 0.3 * f64::from(layer));
        pieces.sheet(3, 0.1, |p| {
            let p = DVec2::from_angle(turn).rotate(p);
            DVec3::new(p.x + shift, 1e-3 * f64::from(layer), p.y)
        });
    }
    let mut stage = pieces.build(&cotton(), MeshPairs::All);
    stage.held[..16].fill(true);
    stage.gravity = DVec3::NEG_Y * GRAVITY;
    for step in 0..40 {
        stage.step(1.0 / 30.0);
        assert_eq!(stage.n_crossings(), 0, "step {step}");
    }
    for layer in 1..10 {
        let mean = |piece: usize| {
            let heights: Vec<f64> = stage.of_piece(piece).map(|v| stage.x[v].y).collect();
            heights.iter().sum::<f64>() / heights.len() as f64
        };
        let gap = mean(layer) - mean(layer - 1);
        assert!((0.3e-3..1.0e-3).contains(&gap), "layer {layer}: {gap} m");
    }
    let speed = stage.v.iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(speed < 0.01, "{speed} m/s");
}

/// Solves that fail leave cloth pressed together as no force would: it is not borne.
#[test]
fn what_is_pressed_in_vain_gets_only_so_hard() {
    let mut pieces = Pieces::default();
    pieces.sheet(4, 0.1, |p| DVec3::new(p.x, 0.0, p.y));
    pieces.sheet(4, 0.1, |p| {
        DVec3::new(p.x + 0.003, 0.5 * COTTON.thickness, p.y)
    });
    let mut stage = pieces.build(&cotton(), MeshPairs::All);
    let start = stage.x.clone();
    let mut end = start.clone();
    for v in stage.of_piece(1) {
        end[v].y = 0.1 * COTTON.thickness;
    }
    let (dt, masses) = (0.01, stage.masses());
    for _ in 0..20 {
        stage.pairs.begin(&start, &end, &masses, dt, &[]);
        for _ in 0..8 {
            stage.pairs.refresh(&start, &end, &[]);
        }
        stage.pairs.finish(&end);
    }
    let contacts = &stage.pairs.contacts;
    assert!(!contacts.is_empty());
    for contact in contacts {
        let (found, most) = (contact.stiffness, contact.hardest(dt));
        assert!(found <= most * (1.0 + 1e-12), "{found}, of {most} N/m");
    }
}
