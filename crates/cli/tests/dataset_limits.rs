//! What `simulate` refuses before it begins, and `dataset check` afterwards, by
//! the real binary.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use common::ring::{SCENE, ring, scene, simulate};
use common::{data, drapery, error, out};
use drapery::store::pc2::Pc2Reader;
use glam::Vec3;

/// A point cache of frames.
fn write_pc2(path: &Path, frames: &[Vec<Vec3>]) {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    for number in [1, frames[0].len() as u32] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [0.0f32, 1.0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend((frames.len() as u32).to_le_bytes());
    for p in frames.iter().flatten().flat_map(|p| p.to_array()) {
        bytes.extend(p.to_le_bytes());
    }
    fs::write(path, bytes).unwrap();
}

/// The ring on the standing tube in three frames.
fn standing(folder: &Path) -> Vec<Vec<Vec3>> {
    let plan = [
        "animate", "skinning", "-c", "tube", "-g", "ring.obj", "-m", "bend", "--frames", "0..3",
        "--out", "a.pc2",
    ];
    out(folder, 0, &plan);
    let bytes = fs::read(folder.join("a.pc2")).unwrap();
    let cache = Pc2Reader::new(&bytes).unwrap();
    (0..3).map(|f| cache.sample(f).unwrap()).collect()
}

fn import<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let plan = [
        "dataset",
        "import",
        "-c",
        "tube",
        "-m",
        "bend",
        "--motion-frames",
        "0..3",
        "--out",
        "in",
    ];
    plan.iter().chain(more).copied().collect()
}

#[test]
fn cloth_that_is_stretched_too_far_is_named_with_its_frame() {
    let folder = scene();
    let folder = folder.path();
    let mut frames = standing(folder);
    for p in &mut frames[1] {
        (p.x, p.z) = (1.5 * p.x, 1.5 * p.z);
    }
    write_pc2(&folder.join("wide.pc2"), &frames);
    out(
        folder,
        0,
        &import(&["-g", "ring.obj", "--cloth", "wide.pc2"]),
    );
    let check = |more: &[&str], code| {
        let plan = [&["--json", "dataset", "check", "in"], more].concat();
        data(&out(folder, code, &plan), "sequence")
    };
    let rows = check(&[], 1);
    let stretch = rows[0]["stretch_worst_percent"].as_f64().unwrap();
    assert!((49.0..51.0).contains(&stretch), "{stretch}");
    assert_eq!(rows[0]["stretch_worst_frame"], 1);
    let wrong = rows[0]["wrong"][0].as_str().unwrap();
    assert!(wrong.contains("in frame 1, the limit is 30"), "{wrong}");
    let text = out(folder, 1, &["dataset", "check", "in"]);
    let line = text.lines().find(|l| l.contains("WRONG")).unwrap();
    assert!(line.starts_with("bend@mean\tring"), "{line}");
    assert_eq!(
        check(&["--max-stretch", "52"], 0)[0]["wrong"],
        serde_json::json!([])
    );
}

#[test]
fn cloth_that_is_deep_in_the_body_is_named_with_its_frame() {
    let folder = scene();
    let folder = folder.path();
    let mut frames = standing(folder);
    // A side of the ring goes inwards, through the side of the tube.
    let (far, side) = (0.035, frames[2].iter().map(|p| p.x).fold(0.0, f32::max));
    for p in frames[2].iter_mut().filter(|p| p.x > 0.9 * side) {
        p.x -= far;
    }
    write_pc2(&folder.join("in.pc2"), &frames);
    let cloth = ["-g", "ring.obj", "--cloth", "in.pc2"];
    out(folder, 0, &import(&cloth));
    let wide = ["--json", "dataset", "check", "in", "--max-stretch", "1000"];
    let rows = data(&out(folder, 1, &wide), "sequence");
    let depth = rows[0]["penetration_max_mm"].as_f64().unwrap();
    assert!((10.0..20.0).contains(&depth), "{depth}");
    let wrong = rows[0]["wrong"][0].as_str().unwrap();
    assert!(wrong.contains("in frame 2, the limit is 10"), "{wrong}");
    out(
        folder,
        0,
        &[&wide[..], &["--max-penetration-mm", "20"]].concat(),
    );
}

#[test]
fn garments_that_pass_through_one_another_are_named_with_their_frames() {
    let folder = scene();
    let folder = folder.path();
    let inner = standing(folder);
    // A wider ring around it, which is pushed to the side in the last frame.
    let mut text = String::new();
    for line in ring().lines() {
        match line.strip_prefix("v ") {
            Some(at) => {
                let at: Vec<f64> = at.split(' ').map(|n| n.parse().unwrap()).collect();
                writeln!(text, "v {} {} {}", 1.3 * at[0], at[1], 1.3 * at[2]).unwrap();
            }
            None => writeln!(text, "{line}").unwrap(),
        }
    }
    fs::write(folder.join("wide.obj"), text).unwrap();
    let mut outer = inner.clone();
    for p in outer.iter_mut().flatten() {
        (p.x, p.z) = (1.3 * p.x, 1.3 * p.z);
    }
    for p in &mut outer[2] {
        p.x += 0.04;
    }
    write_pc2(&folder.join("outer.pc2"), &outer);
    let garments = ["-g", "ring.obj", "-g", "wide.obj"];
    let cloths = ["--cloth", "a.pc2", "--cloth", "outer.pc2"];
    out(folder, 0, &import(&[garments, cloths].concat()));
    let checked = out(folder, 1, &["--json", "dataset", "check", "in"]);
    let rows = data(&checked, "sequence");
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!(row["layer_crossing_frames"], 1, "{row}");
        let wrong = row["wrong"][0].as_str().unwrap();
        assert!(
            wrong.contains("in 1 frames, the first is 2, the limit is 0"),
            "{wrong}"
        );
    }
    out(
        folder,
        0,
        &["dataset", "check", "in", "--max-layer-crossings", "1"],
    );
}

#[test]
fn what_can_not_be_worn_ends_simulate_before_it_begins() {
    let folder = scene();
    let folder = folder.path();
    // In centimetres.
    let mut huge = String::new();
    for line in ring().lines() {
        match line.strip_prefix("v ") {
            Some(at) => {
                let at = at.split(' ').map(|n| n.parse::<f64>().unwrap() * 100.0);
                let at: Vec<String> = at.map(|n| n.to_string()).collect();
                writeln!(huge, "v {}", at.join(" ")).unwrap();
            }
            None => writeln!(huge, "{line}").unwrap(),
        }
    }
    let sound = fs::read(folder.join("ring.obj")).unwrap();
    fs::write(folder.join("ring.obj"), huge).unwrap();
    let told = error(folder, 2, &simulate("ds", &[]));
    assert!(
        told.contains("ring can't be simulated: wrong-scale"),
        "{told}"
    );
    assert!(told.contains("cure: "), "{told}");
    assert!(!folder.join("ds").exists());
    // What is less than an error is said, and it goes on: nothing but its pins
    // holds the ring.
    fs::write(folder.join("ring.obj"), sound).unwrap();
    let output = drapery(folder, &simulate("ds", &["--only", "bend@mean"]));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("ring: warning: does-not-fit"), "{told}");
}

#[test]
fn errors_of_the_fit_check_can_be_passed_over() {
    let folder = scene();
    let folder = folder.path();
    // Two triangles that pass through each other, in a place of their own.
    let mut text = ring();
    text += "v 0.08 0.30 -0.01\nv 0.12 0.30 -0.01\nv 0.10 0.30 0.03\n\
             v 0.10 0.28 0.0\nv 0.10 0.32 0.0\nv 0.10 0.30 0.04\nf 33 34 35\nf 36 37 38\n";
    fs::write(folder.join("ring.obj"), text).unwrap();
    fs::write(folder.join("scene.toml"), SCENE).unwrap();
    let plan = ["--only", "bend@mean"];
    let told = error(folder, 2, &simulate("ds", &plan));
    assert!(told.contains("--anyway"), "{told}");
    assert!(!folder.join("ds").exists());
    out(
        folder,
        0,
        &simulate("ds", &[&plan[..], &["--anyway"]].concat()),
    );
}
