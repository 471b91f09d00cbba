//! Planted faults: each is found, with its count and place, and nothing else
//! is; the sound samples have no findings.

use std::f32::consts::{FRAC_PI_2, PI};

use drapery_core::{BodyModel, vertex_normals};
use drapery_core::{Clip, FrameRate, JointId, Pose, winding_number};
use glam::{Mat3, Quat, Vec2, Vec3};

use super::samples::{N_AROUND, N_ROWS, SampleBody, SampleGarment, body, vertex};
use super::*;

fn check(garment: SampleGarment) -> Vec<Finding> {
    let (character, shaped) = body();
    check_garment(&garment.build(), Some((&character, &shaped)))
}

fn summary(findings: &[Finding]) -> Vec<(&'static str, u64)> {
    findings
        .iter()
        .map(|f| (f.finding.name(), f.count))
        .collect()
}

fn words(findings: &[Finding]) -> String {
    let line = |f: &Finding| format!("{}: {}; {}", f.finding.name(), f.place, f.cure);
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The only finding, which must be of that kind and count.
fn only(findings: Vec<Finding>, kind: &str, count: u64) -> Finding {
    assert_eq!(summary(&findings), [(kind, count)], "{}", words(&findings));
    findings.into_iter().next().unwrap()
}

#[test]
fn the_sound_samples_have_no_findings() {
    assert_eq!(check(SampleGarment::sound()), []);
    assert_eq!(check_garment(&SampleGarment::sound().build(), None), []);
    assert_eq!(check_body(SampleBody::sound()), []);
}

#[test]
fn kinds_have_names_of_their_own() {
    let mut names: Vec<&str> = FindingKind::ALL.iter().map(|k| k.name()).collect();
    let n = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n);
    assert!(
        names
            .iter()
            .all(|n| n.chars().all(|c| c == '-' || c.is_ascii_lowercase()))
    );
}

#[test]
fn a_fin_is_a_non_manifold_edge() {
    let mut g = SampleGarment::sound();
    let (a, b) = (vertex(7, 2), vertex(7, 3));
    let tip =
        g.add_vertex((g.positions[a as usize] + g.positions[b as usize]) * 0.5 + Vec3::Z * 0.04);
    g.add_triangle([a, b, tip]);
    let found = only(check(g), "non-manifold-edge", 1);
    assert_eq!(found.vertices, [a, b]);
    assert!(
        found.place.starts_with(&format!("edge {a}-{b} at (")),
        "{}",
        found.place
    );
}

#[test]
fn cloth_that_hangs_by_a_point_is_a_non_manifold_vertex() {
    let mut g = SampleGarment::sound();
    let v = vertex(7, 2);
    let p = g.positions[v as usize];
    let q = g.add_vertex(p + Vec3::new(0.02, 0.01, 0.04));
    let r = g.add_vertex(p + Vec3::new(-0.02, 0.01, 0.04));
    g.add_triangle([v, q, r]);
    let found = only(check(g), "non-manifold-vertex", 1);
    assert_eq!(found.vertices, [v]);
}

#[test]
fn flipped_triangles_are_the_minority() {
    let mut g = SampleGarment::sound();
    for t in [10, 11, 200] {
        g.flip(t);
    }
    let found = only(check(g), "flipped-triangle", 3);
    assert!(
        found.place.starts_with("triangles 10, 11, 200 at ("),
        "{}",
        found.place
    );
    assert!(found.place.ends_with("panel front"), "{}", found.place);
}

#[test]
fn a_garment_inside_out_is_told_as_a_whole() {
    let mut g = SampleGarment::sound();
    let n = g.triangles.len();
    for t in 0..n {
        g.flip(t);
    }
    only(check(g.clone()), "inside-out", n as u64);
    only(check_garment(&g.build(), None), "inside-out", n as u64);
}

#[test]
fn a_twisted_band_is_one_sided() {
    let mut g = SampleGarment::sound();
    // Two rows, joined end to end with a twist.
    g.positions = (0..24u32)
        .flat_map(|k| {
            let phi = 2.0 * PI * k as f32 / 24.0;
            let out = Vec3::new(phi.sin(), 0.0, phi.cos());
            let across = (out * (phi / 2.0).sin() + Vec3::Y * (phi / 2.0).cos()) * 0.03;
            [out * 0.3 - across, out * 0.3 + across]
        })
        .collect();
    g.triangles.clear();
    g.flat.clear();
    g.panels.clear();
    for k in 0..24 {
        let next = if k == 23 {
            [1, 0]
        } else {
            [2 * k + 2, 2 * k + 3]
        };
        g.add_triangle([2 * k, next[0], next[1]]);
        g.add_triangle([2 * k, next[1], 2 * k + 1]);
    }
    only(check_garment(&g.build(), None), "one-sided", 1);
}

#[test]
fn triangles_without_area_are_degenerate() {
    let mut twice = SampleGarment::sound();
    let (a, b) = (vertex(3, 3), vertex(3, 4));
    twice.triangles.push([a, b, b]);
    twice.flat.push(twice.flat[0]);
    let n = twice.triangles.len() as u32 - 1;
    let found = only(check(twice), "degenerate-triangle", 1);
    assert!(
        found.place.starts_with(&format!("triangle {n} at")),
        "{}",
        found.place
    );

    // A corner is drawn onto the opposite side, to within a thousandth.
    let mut thin = SampleGarment::sound();
    let [a, b, c] = thin.triangles[100].map(|v| v as usize);
    let middle = (thin.positions[b] + thin.positions[c]) / 2.0;
    thin.positions[a] = middle + (thin.positions[a] - middle) * 1e-3;
    let found = check(thin);
    assert!(
        summary(&found).contains(&("degenerate-triangle", 1)),
        "{}",
        words(&found)
    );
}

#[test]
fn copies_of_triangles_are_duplicates() {
    let mut g = SampleGarment::sound();
    for t in [5, 6] {
        g.triangles.push(g.triangles[t]);
        g.flat.push(g.flat[t]);
    }
    let n = g.triangles.len();
    let found = only(check(g), "duplicate-triangle", 2);
    assert!(
        found
            .place
            .starts_with(&format!("triangles {}, {} at", n - 2, n - 1))
    );
}

#[test]
fn a_crumb_is_a_disconnected_part() {
    let mut g = SampleGarment::sound();
    let p = g.positions[vertex(8, 0) as usize] + Vec3::Z * 0.03;
    let new: Vec<u32> = [Vec3::ZERO, Vec3::X * 0.03, Vec3::Y * 0.03]
        .iter()
        .map(|&d| g.add_vertex(p + d))
        .collect();
    g.add_triangle([new[0], new[1], new[2]]);
    let found = only(check(g), "disconnected-part", 1);
    assert_eq!(found.vertices, new);
    assert!(found.cure.contains("crumbs"));
}

#[test]
fn vertices_without_triangles_are_unused() {
    let mut g = SampleGarment::sound();
    let first = g.add_vertex(Vec3::new(0.4, 1.0, 0.0));
    g.add_vertex(Vec3::new(0.4, 1.1, 0.0));
    let found = only(check(g), "unused-vertex", 2);
    assert_eq!(found.vertices, [first, first + 1]);
    assert!(
        found.place.ends_with("at (40.0, 100.0, 0.0) cm"),
        "{}",
        found.place
    );
}

#[test]
fn a_sheet_that_is_there_twice_is_a_double_layer() {
    let mut g = SampleGarment::sound();
    for t in 40..60 {
        let corners = g.triangles[t].map(|v| g.add_vertex(g.positions[v as usize]));
        g.triangles.push(corners);
        g.flat.push(g.flat[t]);
    }
    let n = g.triangles.len() as u32;
    let found = check(g);
    let double = found
        .iter()
        .find(|f| f.finding == FindingKind::DoubleLayer)
        .unwrap();
    assert_eq!(double.count, 20);
    assert!(
        double.place.starts_with(&format!("triangles {}, ", n - 20)),
        "{}",
        double.place
    );
    assert!(double.cure.contains("copy"));
    assert_eq!(summary(&found).len(), 1, "{}", words(&found));
}

#[test]
fn a_modelled_thickness_is_a_double_layer() {
    let mut g = SampleGarment::sound();
    let (n, n_triangles) = (g.positions.len() as u32, g.triangles.len());
    for v in 0..n {
        let p = g.positions[v as usize];
        g.add_vertex(p - Vec3::new(p.x, 0.0, p.z).normalize() * 2e-3);
    }
    for t in 0..n_triangles {
        let [a, b, c] = g.triangles[t].map(|v| v + n);
        g.triangles.push([a, c, b]);
        g.flat.push([g.flat[t][0], g.flat[t][2], g.flat[t][1]]);
    }
    let found = check(g);
    assert_eq!(
        found[0].finding,
        FindingKind::DoubleLayer,
        "{}",
        words(&found)
    );
    assert!(found[0].count > n_triangles as u64 * 9 / 10);
    assert!(found[0].cure.contains("outer sheet"));
}

#[test]
fn a_fold_on_itself_is_no_double_layer() {
    // The hem is turned up on the outside, 2 mm off.
    let mut g = SampleGarment::sound();
    for k in 0..N_AROUND {
        let p = g.positions[vertex(2, k) as usize];
        let out = Vec3::new(p.x, 0.0, p.z).normalize() * 2e-3;
        g.positions[vertex(0, k) as usize] = p + out + Vec3::Y * 0.04;
        g.positions[vertex(1, k) as usize] = p + out * 0.5 - Vec3::Y * 0.005;
    }
    let found = check(g);
    assert!(
        found.iter().all(|f| f.finding != FindingKind::DoubleLayer),
        "{}",
        words(&found)
    );
}

#[test]
fn a_vertex_through_the_other_side_is_a_self_intersection() {
    let mut g = SampleGarment::sound();
    let v = vertex(7, 0);
    g.positions[v as usize].z = -0.4;
    let positions = g.positions.clone();
    let triangles = g.triangles.clone();
    let mut expected = 0;
    for (i, p) in triangles.iter().enumerate() {
        for q in &triangles[i + 1..] {
            let at = |v: u32| positions[v as usize];
            if !p.iter().any(|v| q.contains(v))
                && drapery_core::intersect_triangles(p.map(at), q.map(at))
                    .is_some_and(|f| f.meeting == drapery_core::Meeting::Crossing)
            {
                expected += 1;
            }
        }
    }
    assert!(expected > 4);
    let found = only(
        check_garment(&g.build(), None),
        "self-intersection",
        expected,
    );
    assert!(found.vertices.binary_search(&v).is_ok());
}

#[test]
fn a_dent_is_inside_the_body() {
    let mut g = SampleGarment::sound();
    let v = vertex(10, 0); // y = 1.0, front
    g.positions[v as usize].z -= 0.032;
    let found = check(g);
    let inside = &found[0];
    assert_eq!(summary(&found)[0].0, "inside-body", "{}", words(&found));
    // The vertex is 20 mm deep along z; the midpoints of its six edges are not,
    // the two nearest points are the ones beside it.
    assert!(inside.place.contains("near Spine"), "{}", inside.place);
    let depth: f32 = inside
        .place
        .split("deepest ")
        .nth(1)
        .and_then(|s| s.split(' ').next())
        .unwrap()
        .parse()
        .unwrap();
    assert!((17.0..=20.0).contains(&depth), "{depth}");
    assert!(inside.vertices.binary_search(&v).is_ok());
    assert_eq!(found.len(), 1, "{}", words(&found));
}

#[test]
fn wrong_units_are_named() {
    let cases = [
        (100.0, "0.01 (the file is in centimetres)"),
        (1000.0, "0.001 (the file is in millimetres)"),
        (1.0 / 0.0254, "0.0254 (the file is in inches)"),
        (0.01, "100 (it was divided by 100 once too often)"),
    ];
    for (factor, words) in cases {
        let mut g = SampleGarment::sound().moved(|p| p * factor);
        for c in &mut g.coordinates {
            *c *= factor;
        }
        let n = g.positions.len() as u64;
        let found = only(check(g), "wrong-scale", n);
        assert_eq!(found.cure, format!("multiply by {words}"));
    }
}

#[test]
fn wrong_axes_are_named() {
    let cases = [
        (
            Mat3::from_rotation_x(FRAC_PI_2),
            "rotate -90° about X (the file is Z up)",
        ),
        (
            Mat3::from_rotation_x(-FRAC_PI_2),
            "rotate 90° about X (the file is Z down)",
        ),
        (
            Mat3::from_rotation_z(PI),
            "rotate 180° about Z (it is upside down)",
        ),
        (
            Mat3::from_rotation_y(PI),
            "rotate 180° about Y (it is back to front)",
        ),
        (
            Mat3::from_rotation_y(FRAC_PI_2),
            "rotate -90° about Y (it faces +X)",
        ),
    ];
    for (turn, words) in cases {
        let g = SampleGarment::sound().moved(|p| turn * p);
        let n = g.positions.len() as u64;
        let found = only(check(g), "wrong-axis", n);
        assert_eq!(found.cure, words);
    }
}

#[test]
fn centimetres_with_z_up_are_two_findings() {
    let turn = Mat3::from_rotation_x(FRAC_PI_2) * 100.0;
    let mut g = SampleGarment::sound().moved(|p| turn * p);
    g.coordinates.iter_mut().for_each(|c| *c *= 100.0);
    let n = g.positions.len() as u64;
    let found = check(g);
    assert_eq!(summary(&found), [("wrong-scale", n), ("wrong-axis", n)]);
    assert!(found[1].cure.contains("Z up"));
}

#[test]
fn a_mirrored_garment_is_told_by_its_panels() {
    // Mirrored in Z, with the triangles turned to match: only names can tell.
    let mut g = SampleGarment::sound();
    for panel in &mut g.panels {
        panel.name = if panel.name == "front" {
            "back_1"
        } else {
            "front_1"
        }
        .into();
    }
    let n = g.positions.len() as u64;
    let found = only(check(g), "wrong-axis", n);
    assert_eq!(found.severity, Severity::Warning);
}

#[test]
fn a_garment_beside_the_body_is_moved_back() {
    for offset in [Vec3::new(0.9, 0.1, 0.0), Vec3::new(-0.1, 0.0, 2.5)] {
        let g = SampleGarment::sound().moved(|p| p + offset);
        let n = g.positions.len() as u64;
        let found = only(check(g), "far-from-body", n);
        let numbers: Vec<f32> = found
            .cure
            .split(['(', ')', ','])
            .filter_map(|s| s.trim().parse().ok())
            .collect();
        let back = Vec3::from_slice(&numbers) / 100.0;
        // Along the body there is play, across there is little.
        let rest = back + offset;
        assert!(
            rest.x.abs() < 0.03 && rest.z.abs() < 0.03 && rest.y.abs() < 0.4,
            "{rest}"
        );
    }
}

#[test]
fn patterns_that_are_none_are_told() {
    let mut centimetres = SampleGarment::sound();
    centimetres.coordinates.iter_mut().for_each(|c| *c *= 100.0);
    let n = centimetres.triangles.len() as u64;
    let found = only(check(centimetres), "pattern-mismatch", n);
    assert!(found.cure.contains("0.01 (centimetres)"), "{}", found.cure);

    let mut texture = SampleGarment::sound();
    for c in &mut texture.coordinates {
        *c = Vec2::new(c.x.rem_euclid(1.0).powi(3), c.y.powi(2)) / 1.5;
    }
    let found = check(texture);
    assert!(
        summary(&found).contains(&("pattern-mismatch", n)),
        "{}",
        words(&found)
    );

    let mut tight = SampleGarment::sound();
    tight.coordinates.iter_mut().for_each(|c| *c /= 1.42);
    let found = only(check(tight), "stretched", n);
    assert!(found.place.contains("+4"), "{}", found.place);
    assert_eq!(found.severity, Severity::Warning);
}

#[test]
fn a_mirrored_island_is_a_flipped_pattern() {
    let mut g = SampleGarment::sound();
    let half = g.coordinates.len() / 2;
    for c in &mut g.coordinates[half..] {
        c.x = -c.x;
    }
    let n = g.panels[1].triangles.len() as u64;
    let found = only(check(g), "flipped-pattern", n);
    assert!(found.place.ends_with("panel back"), "{}", found.place);
}

#[test]
fn a_flat_triangle_without_area_is_a_degenerate_pattern() {
    let mut g = SampleGarment::sound();
    let lone = g.coordinates.len() as u32;
    let [a, b, _] = g.flat[33].map(|i| g.coordinates[i as usize]);
    g.coordinates.push((a + b) / 2.0);
    g.flat[33][2] = lone;
    only(check(g), "degenerate-pattern", 1);
}

#[test]
fn a_seam_that_is_not_sewn_is_open() {
    let mut g = SampleGarment::sound();
    // The back gets vertices of its own along one of its seams.
    let back = g.panels[1].triangles.clone();
    for row in 0..N_ROWS {
        let old = vertex(row, 6);
        let new = g.add_vertex(g.positions[old as usize]);
        for &t in &back {
            for v in &mut g.triangles[t as usize] {
                if *v == old {
                    *v = new;
                }
            }
        }
    }
    only(check(g), "open-seam", 2 * u64::from(N_ROWS));
}

fn check_body(body: SampleBody) -> Vec<Finding> {
    let body = body.build();
    let shape = vec![0.0; body.shape_parameters().len()];
    check_character(&body, &body.shaped(&shape).unwrap()).unwrap()
}

#[test]
fn faults_of_a_body_are_found() {
    let sound = SampleBody::sound();
    let n_vertices = sound.positions.len() as u64;
    let n_triangles = sound.triangles.len() as u64;

    let mut hole = sound.clone();
    hole.triangles.remove(50);
    only(check_body(hole), "open-body", 3);

    let mut flipped = sound.clone();
    flipped.triangles[7].swap(0, 1);
    only(check_body(flipped), "flipped-triangle", 1);

    let mut inside_out = sound.clone();
    inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    only(check_body(inside_out), "inside-out", n_triangles);

    let found = only(
        check_body(sound.clone().moved(|p| p * 100.0)),
        "wrong-scale",
        n_vertices,
    );
    assert!(found.cure.contains("0.01 (the file is in centimetres)"));

    let turn = Mat3::from_rotation_x(FRAC_PI_2);
    let found = only(
        check_body(sound.clone().moved(|p| turn * p)),
        "wrong-axis",
        n_vertices,
    );
    assert!(found.cure.contains("Z up"));

    let turn = Mat3::from_rotation_y(PI);
    let found = only(
        check_body(sound.clone().moved(|p| turn * p)),
        "wrong-axis",
        n_vertices,
    );
    assert!(found.cure.contains("180° about Y"));

    let found = only(
        check_body(sound.clone().moved(|p| p + Vec3::Y * 0.3)),
        "off-floor",
        n_vertices,
    );
    assert_eq!(found.cure, "move it by -30.0 cm along Y");

    let mut weights = sound.clone();
    weights.weights[3] = vec![(0, 0.8), (2, 0.2)]; // a toe that follows the head
    let found = only(check_body(weights), "bad-weights", 1);
    assert_eq!(found.vertices, [3]);
    assert!(found.place.ends_with("follows Head"), "{}", found.place);

    let mut stray = sound.clone();
    stray.joints[4] = Vec3::new(3.0, 0.0, 0.1);
    let found = check_body(stray);
    assert!(
        summary(&found).contains(&("stray-joint", 1)),
        "{}",
        words(&found)
    );

    let mut unnamed = sound.clone();
    unnamed.names[2] = "_7".into();
    only(check_body(unnamed), "unnamed-joint", 1);

    let mut dented = sound;
    // A point of the belly is drawn through the back.
    let v = 10 * N_AROUND as usize;
    dented.positions[v].z = -0.3;
    let found = check_body(dented);
    assert_eq!(
        found[0].finding,
        FindingKind::SelfIntersection,
        "{}",
        words(&found)
    );
    assert_eq!(found[0].severity, Severity::Warning);
}

/// Two balls whose joints are joined over an elbow that is `detour` higher.
fn two_balls(detour: f32, apart: f32) -> SampleBody {
    let (n, radius) = (12u32, 0.1f32);
    let mut positions = vec![];
    let mut triangles = vec![];
    let mut weights = vec![];
    for ball in 0..2u32 {
        let base = positions.len() as u32;
        let centre = Vec3::new(apart * ball as f32, 0.1, 0.0);
        positions.push(centre + Vec3::Y * radius);
        for ring in 1..n {
            let theta = PI * ring as f32 / n as f32;
            for k in 0..2 * n {
                let phi = PI * (k as f32 + 0.3) / n as f32;
                let out = Vec3::new(
                    theta.sin() * phi.sin(),
                    theta.cos(),
                    theta.sin() * phi.cos(),
                );
                positions.push(centre + out * radius);
            }
        }
        positions.push(centre - Vec3::Y * radius);
        let last = positions.len() as u32 - 1;
        let at = |ring: u32, k: u32| base + 1 + (ring - 1) * 2 * n + k % (2 * n);
        for k in 0..2 * n {
            triangles.push([base, at(1, k), at(1, k + 1)]);
            triangles.push([last, at(n - 1, k + 1), at(n - 1, k)]);
            for ring in 1..n - 1 {
                triangles.push([at(ring, k), at(ring + 1, k), at(ring + 1, k + 1)]);
                triangles.push([at(ring, k), at(ring + 1, k + 1), at(ring, k + 1)]);
            }
        }
        let joint = if ball == 0 { 0 } else { 2 };
        weights.resize(positions.len(), vec![(joint, 1.0)]);
    }
    SampleBody {
        positions,
        triangles,
        weights,
        names: ["near", "elbow", "far"].map(String::from).to_vec(),
        parents: vec![None, Some(JointId(0)), Some(JointId(1))],
        joints: [(0.0, 0.0), (0.5, detour), (1.0, 0.0)]
            .map(|(x, y)| Vec3::new(apart * x, 0.1 + y, 0.0))
            .to_vec(),
    }
}

/// The flood from the crossings against asking every vertex, and the mask
/// against all distances.
#[test]
fn contact_of_two_balls_is_that_of_all_vertices() {
    let body = two_balls(0.5, 0.15);
    let (positions, triangles) = (body.positions.clone(), body.triangles.clone());
    let character = body.build();
    let found = SelfContactFinder::new(&character, &positions).find(&positions);
    let mut normals = vec![Vec3::ZERO; positions.len()];
    vertex_normals(character.topology(), &positions, &mut normals);
    let inside: Vec<u32> = (0..positions.len())
        .filter(|&v| winding_number(positions[v] + normals[v] * 5e-5, &triangles, &positions) > 0.5)
        .map(|v| v as u32)
        .collect();
    assert!(inside.len() > 20);
    assert_eq!(found.inside, inside);
    for (v, masked) in found.masked.iter().enumerate() {
        let nearest = inside
            .iter()
            .map(|&i| positions[i as usize].distance(positions[v]))
            .fold(f32::INFINITY, f32::min);
        if nearest <= 0.02 {
            assert!(masked, "vertex {v} at {nearest}");
        }
        // The crossing curve lies at most one side (27 mm) beyond the inside.
        if nearest > 0.02 + 0.027 {
            assert!(!masked, "vertex {v} at {nearest}");
        }
    }
    // Depth is that in the other ball, a little less for its facets.
    for (&v, &depth) in found.inside.iter().zip(&found.depth) {
        let ball = (v as usize) < positions.len() / 2;
        let other = Vec3::new(if ball { 0.15 } else { 0.0 }, 0.1, 0.0);
        let expected = 0.1 - positions[v as usize].distance(other);
        assert!(
            (-0.002..1e-5).contains(&(depth - expected)),
            "{depth} for {expected}"
        );
    }
    assert_eq!(found.pairs.len(), 1);
    assert_eq!(found.pairs[0].joints, [JointId(0), JointId(2)]);
    assert!(!found.pairs[0].is_crease);
    assert_eq!(found.pairs[0].n_inside, inside.len());
}

/// A hole far from the contact, or all triangles turned, change nothing.
#[test]
fn contact_does_not_depend_on_holes_and_winding() {
    let find = |body: SampleBody| {
        let positions = body.positions.clone();
        let character = body.build();
        SelfContactFinder::new(&character, &positions).find(&positions)
    };
    let body = two_balls(0.5, 0.15);
    let sound = find(body.clone());
    let mut holed = body.clone();
    // A triangle on the far side of the first ball.
    let middle = |t: &[u32; 3]| t.map(|v| body.positions[v as usize].x).iter().sum::<f32>();
    let far = (0..body.triangles.len())
        .min_by(|&a, &b| middle(&body.triangles[a]).total_cmp(&middle(&body.triangles[b])))
        .unwrap();
    holed.triangles.remove(far);
    assert_eq!(find(holed).inside, sound.inside);
    let mut turned = body;
    turned.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert_eq!(find(turned).inside, sound.inside);
}

#[test]
fn skin_near_along_the_bones_creases() {
    let body = two_balls(0.0, 0.15);
    let positions = body.positions.clone();
    let character = body.build();
    let found = SelfContactFinder::new(&character, &positions).find(&positions);
    assert!(found.pairs[0].is_crease && found.is_crease.iter().all(|c| *c));
    assert_eq!(found.contact(), None);

    let body = two_balls(0.5, 0.21);
    let positions = body.positions.clone();
    let character = body.build();
    let found = SelfContactFinder::new(&character, &positions).find(&positions);
    assert_eq!(found.n_crossings, 0);
    assert_eq!(found.masked_share(), 0.0);
}

/// The second ball swings through the first in the middle frames.
#[test]
fn a_motion_tells_its_contact_frames() {
    let character = two_balls(0.0, 0.3).build();
    let body = character.shaped(&[]).unwrap();
    let frame_rate = FrameRate::new(30.0).unwrap();
    let pose_at = |angle: f32| {
        let mut pose = Pose::identity(body.joints[0], 3);
        // Bend at the middle: the far end comes back over the near one.
        pose.rotations[1] = Quat::from_rotation_y(angle);
        pose
    };
    let angles = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 2.0, 0.0];
    let clip = |angles: &[f32]| {
        let frames = angles.iter().map(|&a| pose_at(a)).collect();
        Clip::new(
            "swing".into(),
            character.skeleton().clone(),
            frame_rate,
            frames,
        )
        .unwrap()
    };
    let report = check_motion(&character, &body, &clip(&angles), |_| true).unwrap();
    // Centres are 2 × 0.15 × cos(angle / 2) apart and meet below 0.2.
    let expected: Vec<u32> = (0..angles.len() as u32)
        .filter(|&f| 0.3 * (angles[f as usize] / 2.0).cos() < 0.19)
        .collect();
    assert_eq!(report.contact_frames(), expected);
    let contact = report
        .findings
        .iter()
        .find(|f| f.finding == FindingKind::BodyContact)
        .unwrap();
    assert_eq!(contact.count, expected.len() as u64);
    assert!(contact.place.ends_with("near and far"), "{}", contact.place);
    assert!(report.frames[0].n_masked == 0 && report.frames[6].n_masked > 300);

    // Half a turn in one frame is a jump, at 94 rad/s.
    let report = check_motion(&character, &body, &clip(&[0.0, 3.1]), |_| true).unwrap();
    let jump = report
        .findings
        .iter()
        .find(|f| f.finding == FindingKind::VelocityJump)
        .unwrap();
    assert!(
        jump.place.contains("elbow turns at 93 rad/s in frame 1"),
        "{}",
        jump.place
    );
}

#[test]
fn soles_below_the_floor_are_found() {
    let character = SampleBody::sound().build();
    let body = character.shaped(&[]).unwrap();
    let poses = [0.0, -0.02, -0.08, 0.01].map(|y| {
        let mut pose = character.skeleton().rest_pose();
        pose.root.y += y;
        pose
    });
    let clip = |poses: &[Pose]| {
        Clip::new(
            "sink".into(),
            character.skeleton().clone(),
            FrameRate::new(30.0).unwrap(),
            poses.to_vec(),
        )
        .unwrap()
    };
    let report = check_motion(&character, &body, &clip(&poses), |_| true).unwrap();
    let found = only(report.findings, "below-floor", 2);
    assert_eq!(found.severity, Severity::Warning);
    assert_eq!(found.cure, "raise the clip by 8.0 cm");
    assert!((report.sole_height[0] + 0.08).abs() < 1e-5);
    let mut high = character.skeleton().rest_pose();
    high.root.y += 0.2;
    let report = check_motion(&character, &body, &clip(&[high]), |_| true).unwrap();
    only(report.findings, "above-floor", 1);
}
