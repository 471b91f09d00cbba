//! Planted faults of fit, holes, shape, units, layers and floor, and meshes
//! that a slow check would never finish.

use drapery_core::BodyModel;

use super::samples::{SampleBody, SampleGarment, body};
use super::*;

fn summary(findings: &[Finding]) -> Vec<(&'static str, u64)> {
    findings
        .iter()
        .map(|f| (f.finding.name(), f.count))
        .collect()
}

/// Bodies and garments say the same fault in the same words, each with what
/// its user knows the place by.
#[test]
fn edges_of_bodies_and_garments_are_told_alike() {
    let (character, shaped) = body();
    let mut garment = SampleGarment::sound();
    let mut sample = SampleBody::sound();
    for g in 0..2 {
        let [a, b, _] = garment.triangles[100 + 40 * g];
        let tip = garment.add_vertex(garment.positions[a as usize] * 1.2);
        garment.add_triangle([a, b, tip]);
    }
    sample.triangles.drain(50..52);
    let found = check_garment(&garment.build(), Some((&character, &shaped)));
    let edge = found
        .iter()
        .find(|f| f.finding == FindingKind::NonManifoldEdge)
        .unwrap();
    assert!(edge.place.starts_with("edge "), "{}", edge.place);
    assert!(edge.place.ends_with(" cm and 1 more"), "{}", edge.place);
    let character = sample.build();
    let shaped = character.shaped(&[]).unwrap();
    let found = check_character(&character, &shaped).unwrap();
    assert_eq!(summary(&found), [("open-body", 4)]);
    let place = &found[0].place;
    assert!(
        place.contains(", near ") && place.ends_with(" and 3 more"),
        "{place}"
    );
}
