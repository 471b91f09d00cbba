//! What every draft promises, on the mannequin and on the shared body.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use drapery_core::{PoseVelocity, PseudoNormals, ShapedBody, Skeleton, TriMesh, TriangleTree};

use super::*;
use crate::builtin;
use crate::character::{Character, CharacterParts, WeldMap, read_smpl};
use crate::garment::{BindingConfig, bind_made_for, pins};
use crate::preflight::{MadeFor, borders, check_garment_made_for};

static MANNEQUIN: LazyLock<Character> = LazyLock::new(|| builtin::character("mannequin").unwrap());

/// Every kind at about 1200 triangles on the mean shape.
static WARDROBE: LazyLock<Vec<(GarmentKind, Garment)>> = LazyLock::new(|| {
    let all = GarmentKind::ALL.iter();
    all.map(|&kind| (kind, drafted(kind, &mean(), 1200)))
        .collect()
});

fn mean() -> Vec<f32> {
    vec![0.0; MANNEQUIN.shape_parameters().len()]
}

fn shape(settings: &[(&str, f32)]) -> Vec<f32> {
    let mut shape = mean();
    for (name, value) in settings {
        let parameters = MANNEQUIN.shape_parameters();
        shape[parameters.iter().position(|p| p.name == *name).unwrap()] = *value;
    }
    shape
}

fn drafted(kind: GarmentKind, shape: &[f32], n_triangles: u32) -> Garment {
    let config = DraftConfig {
        n_triangles,
        ..DraftConfig::default()
    };
    draft(kind, &*MANNEQUIN, shape, &config).unwrap()
}

/// Ratios of lengths in space to flat ones, sorted.
fn ratios(garment: &Garment) -> Vec<f32> {
    let mut ratios: Vec<f32> = (0..garment.mesh().triangles().len() as u32)
        .flat_map(|t| {
            let (rest, [a, b, c]) = (garment.rest_lengths(t), garment.mesh().corners(t));
            let lengths = [a.distance(b), b.distance(c), c.distance(a)];
            [0, 1, 2].map(|i| lengths[i] / rest[i])
        })
        .collect();
    ratios.sort_by(f32::total_cmp);
    ratios
}

/// Flat lengths of both sides of every seam edge [m].
fn seams(garment: &Garment) -> Vec<[f32; 2]> {
    let pattern = garment.pattern().unwrap();
    let mut sides: BTreeMap<[u32; 2], Vec<([u32; 2], f32)>> = BTreeMap::new();
    for (t, corners) in garment.mesh().triangles().iter().enumerate() {
        let rest = garment.rest_lengths(t as u32);
        for i in 0..3 {
            let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
            let j = (i + 1) % 3;
            let flat = pattern.triangles[t];
            let of = sides.entry(sorted([corners[i], corners[j]])).or_default();
            of.push((sorted([flat[i], flat[j]]), rest[i]));
        }
    }
    let is_seam = |s: &&Vec<([u32; 2], f32)>| s.len() == 2 && s[0].0 != s[1].0;
    sides
        .values()
        .filter(is_seam)
        .map(|s| [s[0].1, s[1].1])
        .collect()
}

fn flat_area(garment: &Garment, triangles: &[u32]) -> f32 {
    let pattern = garment.pattern().unwrap();
    let area = |&t: &u32| {
        let [a, b, c] = pattern.triangles[t as usize].map(|v| pattern.coordinates[v as usize]);
        (b - a).perp_dot(c - a) / 2.0
    };
    triangles.iter().map(area).sum()
}

fn findings(garment: &Garment, character: &Character, body: &ShapedBody) -> Vec<String> {
    check_garment_made_for(garment, Some((character, body)), MadeFor::Wearer)
        .iter()
        .map(|f| format!("{} {}: {}", garment.name(), f.finding.name(), f.place))
        .collect()
}

#[test]
fn every_kind_has_its_panels_and_openings() {
    // Openings, panels, and the pins of each.
    let expected = [
        (GarmentKind::TShirt, 4, 4, None),
        (GarmentKind::Sweater, 4, 4, None),
        (GarmentKind::Jacket, 3, 5, None),
        (GarmentKind::Skirt, 2, 2, Some("pin-waistband")),
        (GarmentKind::LongSkirt, 2, 2, Some("pin-waistband")),
        (GarmentKind::DressALine, 4, 2, None),
        (GarmentKind::DressFitted, 4, 4, None),
        (GarmentKind::Trousers, 3, 4, Some("pin-waistband")),
        (GarmentKind::Cape, 1, 3, Some("pin-collar")),
        (GarmentKind::Poncho, 2, 2, Some("pin-collar")),
    ];
    assert_eq!(expected.len(), GarmentKind::ALL.len());
    for ((kind, garment), (of, n_openings, n_panels, pin)) in WARDROBE.iter().zip(expected) {
        assert_eq!(*kind, of);
        let mesh = garment.mesh();
        assert_eq!(borders(mesh).len(), n_openings, "{}", kind.name());
        assert_eq!(mesh.topology().parts().1, 1, "{} is one piece", kind.name());
        assert_eq!(garment.panels().len(), n_panels);
        let mut in_panels: Vec<u32> = garment
            .panels()
            .iter()
            .flat_map(|p| p.triangles.iter().copied())
            .collect();
        in_panels.sort_unstable();
        assert!(in_panels.into_iter().eq(0..mesh.triangles().len() as u32));
        let pinned: Vec<&str> = pins(garment).map(|g| g.name.as_str()).collect();
        assert_eq!(pinned, pin.into_iter().collect::<Vec<_>>());
        // Every open edge has a name.
        let named: Vec<u32> = garment
            .groups()
            .iter()
            .flat_map(|g| g.vertices.clone())
            .collect();
        for border in borders(mesh) {
            assert!(border.vertices.iter().all(|v| named.contains(v)));
        }
    }
}

#[test]
fn both_sides_of_a_seam_are_equally_long() {
    for (kind, garment) in WARDROBE.iter() {
        let seams = seams(garment);
        assert!(!seams.is_empty());
        let longer: f32 = seams.iter().map(|s| s[0].max(s[1])).sum();
        let shorter: f32 = seams.iter().map(|s| s[0].min(s[1])).sum();
        assert!(
            longer < 1.03 * shorter,
            "{}: {}",
            kind.name(),
            longer / shorter
        );
        for [a, b] in seams {
            assert!((a / b).ln().abs() < 0.08, "{}: {a} m on {b} m", kind.name());
        }
    }
}

#[test]
fn cloth_starts_outside_the_body_and_hardly_strained() {
    let body = MANNEQUIN.shaped(&mean()).unwrap();
    let triangles = MANNEQUIN.topology().triangles();
    let tree = TriangleTree::new(triangles, &body.rest);
    let normals = PseudoNormals::new(triangles, &body.rest);
    let distance = |p: glam::Vec3| {
        let found = tree.closest_point(p, &body.rest, 1.0).unwrap();
        found
            .distance
            .copysign((p - found.point).dot(normals.at(&found)))
    };
    for (kind, garment) in WARDROBE.iter() {
        let name = kind.name();
        for &p in garment.mesh().positions() {
            assert!(distance(p) > 0.003, "{name}: a vertex at {} m", distance(p));
        }
        let ratios = ratios(garment);
        let at = |share: f32| ratios[((ratios.len() - 1) as f32 * share) as usize] - 1.0;
        assert!(at(0.99) < 0.10, "{name} is stretched by {}", at(0.99));
        assert!(at(0.01) > -0.10, "{name} is compressed by {}", -at(0.01));
        assert!(at(0.5).abs() < 0.02);
    }
}

#[test]
fn triangles_are_well_shaped_in_the_pattern() {
    for (kind, garment) in WARDROBE.iter() {
        let pattern = garment.pattern().unwrap();
        for t in &pattern.triangles {
            let corners = t.map(|v| pattern.coordinates[v as usize].as_dvec2());
            let angle = mesher::smallest_angle(corners).to_degrees();
            assert!(angle > 15.0, "{}: {angle}°", kind.name());
        }
    }
}

#[test]
fn a_small_and_a_large_body_are_dressed_without_findings() {
    for settings in [
        [("height", -1.5), ("weight", -1.5)],
        [("height", 1.5), ("weight", 2.0)],
    ] {
        let shape = shape(&settings);
        let body = MANNEQUIN.shaped(&shape).unwrap();
        for &kind in GarmentKind::ALL {
            let garment = drafted(kind, &shape, 600);
            let none: [String; 0] = [];
            assert_eq!(findings(&garment, &MANNEQUIN, &body), none);
        }
    }
}

#[test]
fn about_as_many_triangles_as_asked_for() {
    for (kind, wanted) in [
        (GarmentKind::Skirt, 180),
        (GarmentKind::Poncho, 180),
        (GarmentKind::Trousers, 180),
        (GarmentKind::TShirt, 400),
        (GarmentKind::Sweater, 4000),
        (GarmentKind::Skirt, 60_000),
    ] {
        let found = drafted(kind, &mean(), wanted).mesh().triangles().len() as f64;
        let ratio = found / f64::from(wanted);
        assert!(
            (0.95..1.05).contains(&ratio),
            "{} {wanted}: {found}",
            kind.name()
        );
    }
    // Sleeves can't be as coarse as that; what comes out is still sound.
    let body = MANNEQUIN.shaped(&mean()).unwrap();
    let sweater = drafted(GarmentKind::Sweater, &mean(), 180);
    let found = sweater.mesh().triangles().len();
    assert!(found < 290, "{found} triangles");
    let none: [String; 0] = [];
    assert_eq!(findings(&sweater, &MANNEQUIN, &body), none);
}

#[test]
fn the_pattern_is_the_same_at_every_resolution() {
    for (kind, coarse) in WARDROBE.iter().step_by(3) {
        let fine = drafted(*kind, &mean(), 5000);
        for (a, b) in coarse.panels().iter().zip(fine.panels()) {
            assert_eq!(a.name, b.name);
            let ratio = flat_area(coarse, &a.triangles) / flat_area(&fine, &b.triangles);
            assert!(
                (0.98..1.02).contains(&ratio),
                "{} {}: {ratio}",
                kind.name(),
                a.name
            );
        }
    }
}

#[test]
fn the_same_draft_has_the_same_bits() {
    let (kind, garment) = &WARDROBE[0];
    assert_eq!(*garment, drafted(*kind, &mean(), 1200));
}

#[test]
fn a_size_adds_its_ease_to_the_girth() {
    let hem = |size: Size| {
        let config = DraftConfig {
            n_triangles: 600,
            ease: size.ease(),
        };
        let shirt = draft(GarmentKind::TShirt, &*MANNEQUIN, &mean(), &config).unwrap();
        borders(shirt.mesh())[0].length
    };
    let [s, m, l, xl] = [Size::S, Size::M, Size::L, Size::Xl].map(hem);
    for (larger, smaller, ease) in [(m, s, 0.02), (l, m, 0.04), (xl, l, 0.04)] {
        assert!(
            (larger - smaller - ease).abs() < 0.005,
            "{larger} after {smaller}"
        );
    }
}

#[test]
fn a_waistband_is_as_long_as_the_waist() {
    for (kind, garment) in WARDROBE.iter() {
        if *kind != GarmentKind::Skirt {
            continue;
        }
        let waist = measure(&*MANNEQUIN, &mean()).unwrap().waist;
        let band = garment.group("pin-waistband").unwrap();
        let border = borders(garment.mesh())
            .into_iter()
            .find(|b| b.vertices.iter().all(|v| band.contains(v)))
            .unwrap();
        // A hull grows by 2π times the room around it.
        let expected = waist + std::f32::consts::TAU * 0.007;
        assert!(
            (border.length / expected - 1.0).abs() < 0.02,
            "{} for {expected}",
            border.length
        );
    }
}

#[test]
fn heavier_bodies_measure_more_and_arms_as_their_bones() {
    let [light, heavy] =
        [-1.0, 1.0].map(|w| measure(&*MANNEQUIN, &shape(&[("weight", w)])).unwrap());
    for (a, b) in [
        (light.bust, heavy.bust),
        (light.waist, heavy.waist),
        (light.hip, heavy.hip),
        (light.thigh, heavy.thigh),
        (light.upper_arm, heavy.upper_arm),
    ] {
        assert!(b > 1.03 * a, "{b} after {a}");
    }
    let skeleton = MANNEQUIN.skeleton();
    let at = |name: &str| skeleton.rest()[skeleton.joint(name).unwrap().index()];
    let arm = at("left_shoulder").distance(at("left_elbow"))
        + at("left_elbow").distance(at("left_wrist"));
    let found = measure(&*MANNEQUIN, &mean()).unwrap();
    assert!((found.arm_length - arm).abs() < 1e-6);
    assert!(found.waist < found.bust && found.waist < found.hip);
    assert!(found.crotch_height < found.hip_height && found.hip_height < found.waist_height);
}

/// Carried back to the shape that it was drafted for, a garment is as it was.
#[test]
fn a_draft_for_a_shape_is_worn_as_it_was_drafted() {
    let shape = shape(&[("weight", 1.5), ("hips", 1.0)]);
    let skirt = drafted(GarmentKind::Skirt, &shape, 400);
    let config = BindingConfig::default();
    let binding = bind_made_for(&skirt, &*MANNEQUIN, &shape, &config).unwrap();
    let mut moved = false;
    for (v, &p) in skirt.mesh().positions().iter().enumerate() {
        let mut at = binding.rest[v];
        moved |= at.distance(p) > 0.01;
        for (direction, &coefficient) in binding.shape_directions.iter().zip(&shape) {
            at += direction[v] * coefficient;
        }
        assert!(at.distance(p) < 1e-6);
    }
    assert!(moved, "the body of shape 0 wears it elsewhere");
}

#[test]
fn what_cannot_be_dressed_is_told() {
    let tube = builtin::character("tube").unwrap();
    let shape = vec![0.0; tube.shape_parameters().len()];
    let config = DraftConfig::default();
    assert_eq!(
        draft(GarmentKind::Skirt, &tube, &shape, &config),
        Err(DraftError::UnknownJoints)
    );
    assert!(matches!(
        draft(GarmentKind::Skirt, &*MANNEQUIN, &[0.0], &config),
        Err(DraftError::Shape(_))
    ));
    for bad in [
        DraftConfig {
            n_triangles: 12,
            ..config
        },
        DraftConfig {
            ease: f32::NAN,
            ..config
        },
        DraftConfig {
            ease: 1.0,
            ..config
        },
    ] {
        assert!(matches!(
            draft(GarmentKind::Skirt, &*MANNEQUIN, &mean(), &bad),
            Err(DraftError::Setting { .. })
        ));
    }
}

#[test]
fn names_and_kinds_go_together() {
    for &kind in GarmentKind::ALL {
        assert_eq!(GarmentKind::named(kind.name()), Some(kind));
        assert!(builtin::GARMENTS.contains(&kind.name()));
    }
    assert_eq!(GarmentKind::named("kilt"), None);
    assert_eq!(builtin::GARMENTS.len(), GarmentKind::ALL.len() + 1);
}

/// The mannequin with its arms turned up from its A-pose [rad].
fn with_arms_up(angle: f32) -> Character {
    let body = MANNEQUIN.shaped(&mean()).unwrap();
    let skeleton = MANNEQUIN.skeleton();
    let mut pose = skeleton.rest_pose();
    pose.root = body.joints[0];
    for (name, angle) in [("left_shoulder", angle), ("right_shoulder", -angle)] {
        pose.rotations[skeleton.joint(name).unwrap().index()] = glam::Quat::from_rotation_z(angle);
    }
    let mut posed = MANNEQUIN.room();
    let still = PoseVelocity::zero(skeleton.len());
    MANNEQUIN.pose(&body, &pose, &still, &mut posed).unwrap();
    let (names, parents) = (skeleton.names().to_vec(), skeleton.parents().to_vec());
    let triangles = MANNEQUIN.topology().triangles().to_vec();
    let weld = WeldMap::identity(posed.vertices.len() as u32);
    Character::new(CharacterParts {
        name: "arms up".to_string(),
        template: TriMesh::new(posed.vertices, triangles).unwrap(),
        skeleton: Skeleton::new(names, parents, posed.joint_positions).unwrap(),
        skin: MANNEQUIN.skin_weights().clone(),
        shape_parameters: Vec::new(),
        shape_directions: Vec::new(),
        joint_directions: Vec::new(),
        pose_directions: None,
        weld,
    })
    .unwrap()
}

#[test]
fn a_body_in_a_t_pose_is_dressed_as_well() {
    let body = with_arms_up(45f32.to_radians());
    let shaped = body.shaped(&[]).unwrap();
    let config = DraftConfig {
        n_triangles: 600,
        ..DraftConfig::default()
    };
    for kind in [GarmentKind::Sweater, GarmentKind::Poncho] {
        let garment = draft(kind, &body, &[], &config).unwrap();
        let none: [String; 0] = [];
        assert_eq!(findings(&garment, &body, &shaped), none);
    }
}

/// A body of other proportions, joints and pose.
#[test]
fn the_shared_body_is_dressed_without_findings() {
    let folder = std::env::var_os("DRAPERY_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let Ok(bytes) = std::fs::read(folder.join("body/body.npz")) else {
        println!("skipped: no shared data");
        return;
    };
    let body = read_smpl(&bytes, "body").unwrap().character;
    let shape = vec![0.0; body.shape_parameters().len()];
    let shaped = body.shaped(&shape).unwrap();
    for &kind in GarmentKind::ALL {
        let config = DraftConfig {
            n_triangles: 600,
            ..DraftConfig::default()
        };
        let garment = draft(kind, &body, &shape, &config).unwrap();
        let none: [String; 0] = [];
        assert_eq!(findings(&garment, &body, &shaped), none);
    }
}
