//! The checks on the shared body and garments; skipped where they are missing.

use std::path::PathBuf;

use drapery_core::{BodyModel, Garment, Pattern, ShapedBody};
use glam::{Mat3, Vec3};

use super::*;
use crate::character::{Character, read_smpl};
use crate::garment::read_obj;

fn data(path: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os("DRAPERY_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let bytes = std::fs::read(folder.join(path)).ok();
    if bytes.is_none() {
        println!("skipped: no shared data");
    }
    bytes
}

fn body() -> Option<(Character, ShapedBody)> {
    let character = read_smpl(&data("body/body.npz")?, "body")
        .unwrap()
        .character;
    let shape = vec![0.0; character.shape_parameters().len()];
    let shaped = character.shaped(&shape).unwrap();
    Some((character, shaped))
}

fn garment(name: &str) -> Option<Garment> {
    let bytes = data(&format!("garments/{name}.obj"))?;
    Some(read_obj(&bytes, name).unwrap().garment)
}

/// The garment with its vertices elsewhere, and its pattern `scale` as large.
fn moved(garment: &Garment, scale: f32, by: impl Fn(Vec3) -> Vec3) -> Garment {
    let positions = garment.mesh().positions().iter().map(|&p| by(p)).collect();
    let pattern = garment.pattern().map(|p| Pattern {
        coordinates: p.coordinates.iter().map(|&c| c * scale).collect(),
        triangles: p.triangles.clone(),
    });
    Garment::new(
        garment.name().into(),
        garment.mesh().with_positions(positions).unwrap(),
        pattern,
        garment.panels().to_vec(),
        garment.groups().to_vec(),
    )
    .unwrap()
}

#[test]
fn the_shared_garments_have_no_findings() {
    let Some((character, shaped)) = body() else {
        return;
    };
    for name in ["tshirt", "skirt", "dress", "pants"] {
        let Some(garment) = garment(name) else {
            return;
        };
        assert_eq!(
            check_garment(&garment, Some((&character, &shaped))),
            [],
            "{name}"
        );
        assert_eq!(check_garment(&garment, None), [], "{name}");
    }
}

#[test]
fn the_shared_body_only_touches_itself_between_the_toes() {
    let Some((character, shaped)) = body() else {
        return;
    };
    let info = character_info(&character, &shaped);
    assert_eq!(
        (info.vertices, info.triangles, info.joints),
        (13380, 26756, 31)
    );
    assert!(info.closed);
    assert_eq!(info.euler, 2);
    assert!((1.65..1.67).contains(&info.height_m));
    let findings = check_character(&character, &shaped).unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].finding, FindingKind::SelfIntersection);
    assert_eq!(findings[0].severity, Severity::Note);
    assert_eq!(findings[0].count, info.self_intersections as u64);
    assert!(
        findings[0].place.contains("ToeBase"),
        "{}",
        findings[0].place
    );
}

#[test]
fn a_shared_garment_in_another_unit_or_turned_names_the_cure() {
    let (Some((character, shaped)), Some(skirt)) = (body(), garment("skirt")) else {
        return;
    };
    let check = |garment: Garment| {
        let findings = check_garment(&garment, Some((&character, &shaped)));
        findings
            .iter()
            .map(|f| format!("{}: {}", f.finding.name(), f.cure))
            .collect::<Vec<_>>()
    };
    let inches = moved(&skirt, 1.0 / 0.0254, |p| p / 0.0254);
    assert_eq!(
        check(inches),
        ["wrong-scale: multiply by 0.0254 (the file is in inches)"]
    );
    let z_up = Mat3::from_rotation_x(std::f32::consts::FRAC_PI_2);
    assert_eq!(
        check(moved(&skirt, 1.0, |p| z_up * p)),
        ["wrong-axis: rotate -90° about X (the file is Z up)"]
    );
    let back = Mat3::from_rotation_y(std::f32::consts::PI);
    assert_eq!(
        check(moved(&skirt, 1.0, |p| back * p)),
        ["wrong-axis: rotate 180° about Y (it is back to front)"]
    );
    let aside = check(moved(&skirt, 1.0, |p| p + Vec3::X * 0.5));
    assert_eq!(aside.len(), 1);
    assert!(
        aside[0].starts_with("far-from-body: move by about (-"),
        "{aside:?}"
    );
}

/// Binding carries the T-shirt to a heavy body but for a few points.
#[test]
fn the_shared_t_shirt_is_carried_to_a_heavy_body() {
    let (Some((character, _)), Some(shirt)) = (body(), garment("tshirt")) else {
        return;
    };
    let parameters = character.shape_parameters();
    let heavy = parameters.iter().map(|p| f32::from(p.name == "heavy"));
    let shaped = character.shaped(&heavy.collect::<Vec<_>>()).unwrap();
    for finding in check_garment(&shirt, Some((&character, &shaped))) {
        assert_eq!(finding.finding, FindingKind::InsideBody);
        assert_eq!(finding.severity, Severity::Note, "{}", finding.place);
        assert!(finding.count < 10, "{}", finding.place);
    }
}

#[test]
fn the_shared_dress_does_not_fit_a_post() {
    let tube = crate::builtin::character("tube").unwrap();
    let shaped = tube.shaped(&[0.0, 0.0]).unwrap();
    for name in ["tshirt", "skirt", "dress"] {
        let Some(garment) = garment(name) else {
            return;
        };
        let found = check_garment(&garment, Some((&tube, &shaped)));
        assert!(
            found.iter().any(|f| f.finding == FindingKind::DoesNotFit),
            "{name}: {found:?}"
        );
    }
}
