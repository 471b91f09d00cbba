//! The last resort alone, without any contact force.

use super::*;

/// Two sheets that want to swap places, and a third that flies through both.
fn through_each_other() -> (Stage, Vec<DVec3>) {
    let mut pieces = Pieces::default();
    pieces.sheet(5, 0.2, |p| DVec3::new(p.x, 0.0, p.y));
    pieces.sheet(4, 0.2, |p| DVec3::new(p.x, 0.02 + 0.1 * p.x, p.y));
    pieces.sheet(4, 0.2, |p| DVec3::new(p.x, 0.2 + p.y, 0.3 * p.y));
    let stage = pieces.build(&cotton(), MeshPairs::All);
    let end = stage.x.iter().zip(&stage.piece).map(|(x, piece)| {
        let turned = DVec3::new(x.x, x.y, x.z + 0.05 * x.x);
        turned + DVec3::new(0.0, [0.08, -0.08, -0.6][*piece], 0.01)
    });
    let end = end.collect();
    (stage, end)
}

/// Crossings at any of 60 moments of a step.
fn n_on_the_way(stage: &mut Stage, start: &[DVec3], end: &[DVec3]) -> usize {
    stage.boxes.refit(start, end);
    (1..=60)
        .map(|k| {
            let way = start.iter().zip(end);
            let x: Vec<DVec3> = way.map(|(a, b)| a.lerp(*b, f64::from(k) / 60.0)).collect();
            self_crossings(&stage.boxes, &x).len()
        })
        .sum()
}

#[test]
fn nothing_crosses_and_momentum_is_kept() {
    let (mut stage, wanted) = through_each_other();
    let start = stage.x.clone();
    let masses = stage.masses();
    let mut end = wanted.clone();
    assert!(n_on_the_way(&mut stage, &start, &wanted) > 0);
    stage.pairs.begin(&start, &wanted, &masses, 0.01, &[]);
    let n_moved = stage.pairs.clip(&start, &mut end, &[]);
    assert_eq!(n_on_the_way(&mut stage, &start, &end), 0);
    let n_differ = wanted.iter().zip(&end).filter(|(a, b)| a != b).count();
    assert_eq!(n_moved as usize, n_differ);
    let moved =
        |to: &[DVec3]| -> DVec3 { (0..to.len()).map(|v| (to[v] - start[v]) * masses[v]).sum() };
    let (before, after) = (moved(&wanted), moved(&end));
    assert!(
        after.distance(before) < 1e-12 * before.length(),
        "{before} became {after}"
    );
}

#[test]
fn what_is_held_leads() {
    let (mut stage, wanted) = through_each_other();
    let start = stage.x.clone();
    for v in 0..36 {
        stage.held[v] = true;
    }
    let mut end = wanted.clone();
    stage
        .pairs
        .begin(&start, &wanted, &stage.masses(), 0.01, &[]);
    stage.pairs.clip(&start, &mut end, &[]);
    assert_eq!(end[..36], wanted[..36]);
    assert_eq!(n_on_the_way(&mut stage, &start, &end), 0);
}

#[test]
fn a_step_that_crosses_nothing_is_left_alone() {
    let (mut stage, mut wanted) = through_each_other();
    let start = stage.x.clone();
    for (end, start) in wanted.iter_mut().zip(&start) {
        *end = *start + DVec3::new(3.0, 20.0, 1.0);
    }
    let mut end = wanted.clone();
    stage
        .pairs
        .begin(&start, &wanted, &stage.masses(), 0.01, &[]);
    assert!(stage.pairs.touches().is_empty());
    assert!(!stage.pairs.refresh(&start, &end, &[]));
    assert_eq!(stage.pairs.clip(&start, &mut end, &[]), 0);
    assert_eq!(end, wanted);
}
