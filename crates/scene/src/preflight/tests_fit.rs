//! Planted faults of fit, holes, shape, units, layers and floor, and meshes
//! that a slow check would never finish.

use drapery_core::{BodyModel, Clip, FrameRate, Garment, Meeting, TriMesh, intersect_triangles};
use glam::Vec3;

use super::samples::{SampleBody, SampleGarment, body};
use super::surface::SurfaceFaults;
use super::*;
use crate::builtin;

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

/// Each unit that a file may be in, and each division too many, with the words
/// for it. The first factor that made a person between 0.5 and 2.5 m tall used
/// to be named: 67 inches were called centimetres.
const MISTAKES: [(f32, &str); 9] = [
    (0.1, "0.1 (the file is in decimetres)"),
    (0.01, "0.01 (the file is in centimetres)"),
    (0.001, "0.001 (the file is in millimetres)"),
    (0.0254, "0.0254 (the file is in inches)"),
    (0.3048, "0.3048 (the file is in feet)"),
    (
        0.0254 / 0.45,
        "0.056444444 (the file is in units of the CMU database)",
    ),
    (10.0, "10 (it was divided by 10 once too often)"),
    (100.0, "100 (it was divided by 100 once too often)"),
    (1000.0, "1000 (it was divided by 1000 once too often)"),
];

#[test]
fn the_unit_of_a_body_is_named() {
    for (factor, words) in MISTAKES {
        for height in [1.55, 1.7, 1.9] {
            let scale = height / 1.7 / factor;
            let character = SampleBody::sound().moved(|p| p * scale).build();
            let shaped = character.shaped(&[]).unwrap();
            let found = check_character(&character, &shaped).unwrap();
            let scaled = found
                .iter()
                .find(|f| f.finding == FindingKind::WrongScale)
                .unwrap_or_else(|| panic!("{words}: nothing found"));
            assert_eq!(scaled.cure, format!("multiply by {words}"));
        }
    }
}

#[test]
fn the_unit_of_a_garment_is_named() {
    let (character, shaped) = body();
    for (factor, words) in MISTAKES {
        let mut garment = SampleGarment::sound().moved(|p| p / factor);
        garment.coordinates.iter_mut().for_each(|c| *c /= factor);
        let found = check_garment(&garment.build(), Some((&character, &shaped)));
        let n = found[0].count;
        assert_eq!(summary(&found), [("wrong-scale", n)], "{words}");
        assert_eq!(found[0].cure, format!("multiply by {words}"));
    }
}

#[test]
fn the_unit_of_a_pattern_is_named() {
    for (factor, words) in MISTAKES {
        let mut garment = SampleGarment::sound();
        garment.coordinates.iter_mut().for_each(|c| *c /= factor);
        let found = check_garment(&garment.build(), None);
        let n = found[0].count;
        assert_eq!(summary(&found), [("pattern-mismatch", n)], "{words}");
        let words = words.replace("the file is in ", "");
        assert!(found[0].cure.ends_with(&words), "{}", found[0].cure);
    }
}

/// The fan was searched from its start for each triangle, up to cubic time.
#[test]
fn a_fan_of_twenty_thousand_triangles_is_looked_at_in_time() {
    let n = 20_000u32;
    // In a shuffled order, for an ordered fan was the fast case.
    let mut triangles: Vec<[u32; 3]> = (0..n)
        .map(|i| (i * 7_919) % n)
        .map(|i| [0, 1 + i, 1 + (i + 1) % n])
        .collect();
    let mut positions = vec![Vec3::ZERO];
    positions.extend((0..n).map(|i| {
        let phi = core::f32::consts::TAU * i as f32 / n as f32;
        Vec3::new(phi.sin(), 0.0, phi.cos())
    }));
    let faults = |triangles: &[[u32; 3]]| {
        SurfaceFaults::of(&TriMesh::new(positions.clone(), triangles.to_vec()).unwrap())
    };
    assert_eq!(faults(&triangles).pinched_vertices, [] as [u32; 0]);
    // With a gap it is still one fan, with two gaps two.
    triangles.remove(17);
    assert_eq!(faults(&triangles).pinched_vertices, [] as [u32; 0]);
    triangles.remove(12_345);
    assert_eq!(faults(&triangles).pinched_vertices, [0]);
}

/// Borders were swept along x only, which was quadratic where x is constant.
#[test]
fn loose_triangles_in_a_plane_are_looked_at_in_time() {
    let n = 60_000u32;
    let mut positions = Vec::new();
    for i in 0..n {
        let corner = Vec3::new(0.1, 0.01 * (i / 300) as f32, 0.01 * (i % 300) as f32);
        positions.extend([corner, corner + Vec3::Y * 8e-3, corner + Vec3::Z * 8e-3]);
    }
    // Two corners meet.
    positions[301] = positions[1200] - Vec3::Y * 2e-5;
    let triangles = (0..n).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let garment = Garment::new(
        "confetti".into(),
        TriMesh::new(positions, triangles).unwrap(),
        None,
        vec![],
        vec![],
    )
    .unwrap();
    let found = check_garment(&garment, None);
    let count = |kind| found.iter().find(|f| f.finding == kind).map(|f| f.count);
    assert_eq!(count(FindingKind::OpenSeam), Some(2));
    assert_eq!(count(FindingKind::DisconnectedPart), Some(u64::from(n) - 1));
}

/// A tube stretched to 6 m was told to be in another unit.
#[test]
fn a_shape_beyond_its_ranges_is_no_wrong_unit() {
    let tube = builtin::character("tube").unwrap();
    let kinds = |shape: &[f32]| {
        let found = check_character(&tube, &tube.shaped(shape).unwrap()).unwrap();
        let of_file = |f: &&Finding| f.finding != FindingKind::ShapeOutOfRange;
        let sound = check_character(&tube, &tube.shaped(&[0.0, 0.0]).unwrap()).unwrap();
        assert!(found.iter().filter(of_file).eq(&sound), "{found:?}");
        let beyond = found
            .into_iter()
            .find(|f| f.finding == FindingKind::ShapeOutOfRange);
        beyond.map(|f| (f.count, f.place))
    };
    assert_eq!(kinds(&[2.0, -2.0]), None);
    // A negative radius turns the tube inside out, which its file is not.
    assert_eq!(
        kinds(&[0.0, -10.0]),
        Some((1, "girth = -10, meant for -2 to 2".into()))
    );
    assert_eq!(
        kinds(&[50.0, 1.0]),
        Some((1, "length = 50, meant for -2 to 2".into()))
    );
    assert_eq!(
        kinds(&[50.0, -2.5]),
        Some((
            2,
            "length = 50, meant for -2 to 2; girth = -2.5, meant for -2 to 2".into()
        ))
    );
}

#[test]
fn a_triangle_that_is_missing_is_a_hole() {
    let (character, shaped) = body();
    let check = |g: SampleGarment| check_garment(&g.build(), Some((&character, &shaped)));
    let cut = |g: &mut SampleGarment, t: usize| {
        g.triangles.remove(t);
        g.flat.remove(t);
        for panel in &mut g.panels {
            panel.triangles.retain(|&i| i != t as u32);
            for i in &mut panel.triangles {
                *i -= u32::from(*i > t as u32);
            }
        }
    };
    let mut one = SampleGarment::sound();
    let corners = one.triangles[150];
    cut(&mut one, 150);
    let found = check(one.clone());
    assert_eq!(summary(&found), [("hole", 1)]);
    assert!(corners.iter().all(|v| found[0].vertices.contains(v)));
    assert!(found[0].place.contains("3 sides"), "{}", found[0].place);
    // Another in the back, of two triangles.
    let n = one.triangles.len();
    cut(&mut one, n - 101);
    cut(&mut one, n - 102);
    let found = check(one);
    assert_eq!(summary(&found), [("hole", 2)]);
    // A notch in the hem is part of its border.
    let mut notched = SampleGarment::sound();
    cut(&mut notched, 0);
    assert_eq!(check(notched), []);
}

/// The drape on the template was compared with the body of another shape: a
/// sound garment was inside every stouter body.
#[test]
fn a_garment_is_judged_as_the_shape_wears_it() {
    let tube = builtin::character("tube").unwrap();
    let sleeve = builtin::garment("sleeve").unwrap();
    for shape in [[0.0, 0.0], [0.0, 2.0], [1.5, 2.0], [-2.0, -2.0]] {
        let shaped = tube.shaped(&shape).unwrap();
        assert_eq!(check_garment(&sleeve, Some((&tube, &shaped))), []);
    }
}

/// A tube of cloth around the built-in tube, of a radius [m] for each height.
fn around_tube(from: f32, to: f32, radius: impl Fn(f32) -> f32) -> Garment {
    let (n_rows, n) = (40u32, 48u32);
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for row in 0..=n_rows {
        let y = from + (to - from) * row as f32 / n_rows as f32;
        positions.extend((0..n).map(|k| {
            let phi = core::f32::consts::TAU * k as f32 / n as f32;
            Vec3::new(phi.sin() * radius(y), y, phi.cos() * radius(y))
        }));
    }
    let at = |row: u32, k: u32| row * n + k % n;
    for (row, k) in (0..n_rows).flat_map(|row| (0..n).map(move |k| (row, k))) {
        triangles.push([at(row, k), at(row, k + 1), at(row + 1, k + 1)]);
        triangles.push([at(row, k), at(row + 1, k + 1), at(row + 1, k)]);
    }
    let mesh = TriMesh::new(positions, triangles).unwrap();
    Garment::new("around".into(), mesh, None, vec![], vec![]).unwrap()
}

/// A dress around a post was told to be sound.
#[test]
fn a_garment_that_nothing_holds_does_not_fit() {
    let tube = builtin::character("tube").unwrap();
    let shaped = tube.shaped(&[0.0, 0.0]).unwrap();
    let check = |garment: &Garment| check_garment(garment, Some((&tube, &shaped)));
    let wide = around_tube(0.2, 0.8, |_| 0.16);
    let found = check(&wide);
    let n = wide.mesh().positions().len() as u64;
    assert_eq!(summary(&found), [("does-not-fit", n)]);
    // 16 cm of radius around 5 cm, less what the facets of the tube take.
    assert!(found[0].place.contains("11.0 cm"), "{}", found[0].place);
    // A skirt that is tight at the waist and as wide at the hem does.
    let skirt = around_tube(0.2, 0.8, |y| 0.06 + 0.5 * (0.8 - y));
    assert_eq!(check(&skirt), []);
    // One that is tight at the hem only would fall down.
    let funnel = around_tube(0.2, 0.8, |y| 0.06 + 0.3 * (y - 0.2));
    assert_eq!(summary(&check(&funnel)), [("does-not-fit", n)]);
}

#[test]
fn layers_that_cross_are_told_by_pair() {
    let shirt = around_tube(0.2, 0.8, |_| 0.06);
    let coat = around_tube(0.1, 0.7, |_| 0.075);
    assert_eq!(check_outfit(&[&shirt, &coat]), []);
    assert_eq!(check_outfit(&[&shirt]), []);
    // A cone that starts under the shirt and ends between it and the coat: one
    // of the three pairs crosses.
    let cone = around_tube(0.303, 0.507, |y| 0.05 + 0.1 * (y - 0.3));
    let found = check_outfit(&[&cone, &shirt, &coat]);
    let found_count = found.iter().map(|f| f.count).sum::<u64>();
    assert_eq!(found.len(), 1, "{found:?}");
    // Against all pairs.
    let mut n_crossing = 0;
    for a in 0..cone.mesh().triangles().len() as u32 {
        for b in 0..shirt.mesh().triangles().len() as u32 {
            let met = intersect_triangles(cone.mesh().corners(a), shirt.mesh().corners(b));
            n_crossing += u64::from(met.is_some_and(|m| m.meeting == Meeting::Crossing));
        }
    }
    assert_eq!(found_count, n_crossing);
    assert!(found[0].place.starts_with("around under around: triangles"));
    let height = |v: &u32| shirt.mesh().positions()[*v as usize].y;
    // It crosses where its radius is 6 cm, at 40 cm.
    assert!(!found[0].vertices.is_empty());
    assert!(
        found[0]
            .vertices
            .iter()
            .all(|v| (height(v) - 0.4).abs() < 0.04)
    );
}

/// A clip whose floor drifts up was only noticed when it never came down.
#[test]
fn floating_is_told_from_jumping() {
    let tube = builtin::character("tube").unwrap();
    let body = tube.shaped(&[0.0, 0.0]).unwrap();
    let check = |heights: &[f32]| {
        let poses = heights.iter().map(|&y| {
            let mut pose = tube.skeleton().rest_pose();
            pose.root.y += y;
            pose
        });
        let rate = FrameRate::new(30.0).unwrap();
        let clip = Clip::new("c".into(), tube.skeleton().clone(), rate, poses.collect());
        let report = check_motion(&tube, &body, &clip.unwrap(), |_| true).unwrap();
        assert!(report.findings.iter().all(|f| f.severity == Severity::Note));
        report.findings
    };
    let drift: Vec<f32> = (0..90).map(|i| 0.066 * i as f32 / 89.0).collect();
    let n_above = drift.iter().filter(|h| **h > 0.03).count() as u64;
    let found = check(&drift);
    assert_eq!(summary(&found), [("above-floor", n_above)]);
    assert!(
        found[0].place.contains("to 89 by up to 6.6 cm"),
        "{}",
        found[0].place
    );

    // A leap of 0.8 s, 0.78 m high.
    let leap = |i: i32| {
        let t = i as f32 / 30.0;
        (9.81 / 2.0 * t * (0.8 - t)).max(0.0)
    };
    let jump: Vec<f32> = (-20..50)
        .map(|i| if i < 0 { 0.0 } else { leap(i) })
        .collect();
    assert_eq!(check(&jump), []);
    // The same curve ten times slower is no jump.
    let slow: Vec<f32> = (0..240).map(|i| leap(i / 10)).collect();
    assert_eq!(summary(&check(&slow))[0].0, "above-floor");
    // Hops are too short to tell and need not be.
    let hops: Vec<f32> = (0..90)
        .map(|i| if i % 15 < 10 { 0.1 } else { 0.0 })
        .collect();
    assert_eq!(check(&hops), []);
    // A floor that is below at first and above in the end is to be levelled.
    let tilted: Vec<f32> = (0..90).map(|i| -0.015 + 0.081 * i as f32 / 89.0).collect();
    let found = check(&tilted);
    assert_eq!(
        found.iter().map(|f| f.finding.name()).collect::<Vec<_>>(),
        ["below-floor", "above-floor"]
    );
    assert!(found.iter().all(|f| f.cure.starts_with("level the clip")));
}
