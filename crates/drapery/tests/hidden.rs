//! Skin that a garment always hides.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::dataset;
use drapery::core::BodyModel;
use drapery::learn::{Footage, hidden_vertices};
use drapery::store::dataset::DatasetStore;
use drapery::stored_character;
use glam::Vec3;

#[test]
fn a_sleeve_hides_the_middle_of_what_is_under_it_and_nothing_else() {
    let store = dataset("tune = [\"twist\"]", |_, _| Vec3::ZERO, |_, _, p| p);
    let tube = stored_character(&store.head().body).unwrap();
    let footage = Footage {
        store: &store,
        body: &tube,
        garment: 0,
    };
    let hidden = hidden_vertices(&footage, 7, &|| true).unwrap();
    let rest = tube.shaped(&[0.0, 0.0]).unwrap().rest;
    let sleeve = store.head().garments[0].garment.mesh();
    let (low, high) = sleeve.bounds();
    let count = hidden.iter().filter(|h| **h).count();
    assert!(
        count > 10 && count < rest.len(),
        "{count} of {}",
        rest.len()
    );
    for (p, hidden) in rest.iter().zip(&hidden) {
        // Inside, and not next to a hem.
        if *hidden {
            assert!(p.y > low.y + 0.01 && p.y < high.y - 0.01, "{p} is seen");
        }
    }
    let middle = (low.y + high.y) / 2.0;
    let near = rest
        .iter()
        .zip(&hidden)
        .filter(|(p, _)| (p.y - middle).abs() < 0.03);
    assert!(near.clone().count() > 0 && near.into_iter().all(|(_, h)| *h));
    // A sleeve that is elsewhere hides nothing.
    let away = dataset(
        "tune = [\"twist\"]",
        |_, _| Vec3::ZERO,
        |_, _, p| p + Vec3::X,
    );
    let footage = Footage {
        store: &away,
        ..footage
    };
    let hidden = hidden_vertices(&footage, 7, &|| true).unwrap();
    assert!(hidden.iter().all(|h| !h));
    assert!(hidden_vertices(&footage, 7, &|| false).is_err());
}
