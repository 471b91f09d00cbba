//! `drapery bench wear` and cleaned motions, by the real binary.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::fs;

use common::{data, drapery, error, out};

const WEAR: [&str; 14] = [
    "--json", "bench", "wear", "-c", "tube", "-g", "sleeve", "-m", "bend", "twist", "--method",
    "skinning", "--frames", "4",
];

fn wear<'a>(more: &[&'a str]) -> Vec<&'a str> {
    WEAR.iter().chain(more).copied().collect()
}

#[test]
fn a_table_goes_on_where_it_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = out(folder, 0, &wear(&["--out", "wear.jsonl"]));
    let pairs = data(&first, "wear");
    assert_eq!(pairs.len(), 2);
    for pair in &pairs {
        assert_eq!(pair["garment"], "sleeve");
        assert_eq!(
            (&pair["frames"], &pair["failed"]),
            (&4.into(), &false.into())
        );
        assert!(pair["stretch_p99_percent"].as_f64().unwrap() < 50.0);
        assert_eq!(pair["masked_percent"], 0.0);
    }
    let text = fs::read_to_string(folder.join("wear.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 3);
    // Nothing is left to do, and the table is that of the file.
    assert_eq!(out(folder, 0, &wear(&["--out", "wear.jsonl"])), "");
    let plain: Vec<&str> = wear(&["--out", "wear.jsonl"])[1..].to_vec();
    let table = out(folder, 0, &plain);
    assert!(table.starts_with("| clip |") && table.contains("| twist | sleeve | 4 |"));
    assert_eq!(fs::read_to_string(folder.join("wear.jsonl")).unwrap(), text);
    // Without its last line, as if killed while writing it.
    let cut = text.len() - 20;
    fs::write(folder.join("wear.jsonl"), &text[..cut]).unwrap();
    let again = out(folder, 0, &wear(&["--out", "wear.jsonl"]));
    assert_eq!(data(&again, "wear").len(), 1);
}

#[test]
fn what_failed_is_run_again_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    out(folder, 0, &wear(&["--out", "wear.jsonl"]));
    let path = folder.join("wear.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen("\"failed\":false", "\"failed\":true", 1),
    )
    .unwrap();
    assert_eq!(out(folder, 1, &wear(&["--out", "wear.jsonl"])), "");
    let again = out(folder, 0, &wear(&["--retry", "--out", "wear.jsonl"]));
    assert_eq!(data(&again, "wear").len(), 1);
    // Other settings don't belong in the same file.
    let other = error(
        folder,
        2,
        &wear(&["--shape", "girth=1", "--out", "wear.jsonl"]),
    );
    assert!(other.contains("shape"), "{other}");
}

#[test]
fn a_simulated_pair_is_timed_and_stays_outside() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "--json bench wear -c tube -g sleeve -m sway --frames 2 --threads 1 --out w.jsonl";
    let plan: Vec<&str> = plan.split(' ').collect();
    let pair = data(&out(folder.path(), 0, &plan), "wear").remove(0);
    for timing in ["s_per_frame", "dressing_s"] {
        assert!(pair[timing].as_f64().unwrap() > 0.0);
    }
    assert!(pair["penetration_max_mm"].as_f64().unwrap() < 1.0);
    assert_eq!(pair["method"], "simulation");
}

#[test]
fn a_clean_motion_is_written_as_it_was_and_a_faulty_one_mended() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let edit = |from: &str, more: &[&str], to: &str| {
        let mut plan = vec!["--json", "motion", "edit", from];
        plan.extend(more);
        plan.extend(["--out", to]);
        out(folder, 0, &plan);
    };
    let info = |motion: &str| {
        data(
            &out(folder, 0, &["--json", "motion", "info", motion]),
            "motion",
        )[0]
        .clone()
    };
    edit("walk", &[], "walk.bvh");
    edit("walk.bvh", &["--clean"], "same.bvh");
    edit("walk.bvh", &[], "plain.bvh");
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    assert_eq!(read("same.bvh"), read("plain.bvh"));
    assert_eq!(info("walk.bvh")["jumps"].as_array().unwrap().len(), 0);
    assert!(info("walk.bvh")["floor_drift_m"].as_f64().unwrap() < 1e-3);
    // The second number of a row is the height of the root: one row jumps.
    let text = String::from_utf8(read("walk.bvh")).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let row = lines.len() - 30;
    let mut numbers: Vec<String> = lines[row].split_whitespace().map(str::to_string).collect();
    numbers[1] = format!("{}", numbers[1].parse::<f64>().unwrap() + 0.3);
    lines[row] = numbers.join(" ");
    fs::write(folder.join("faulty.bvh"), lines.join("\n") + "\n").unwrap();
    let jumps = info("faulty.bvh")["jumps"].clone();
    assert_eq!(jumps.as_array().unwrap().len(), 1, "{jumps}");
    assert!(jumps[0]["joint"].is_null());
    edit("faulty.bvh", &["--clean"], "mended.bvh");
    assert_eq!(info("mended.bvh")["jumps"].as_array().unwrap().len(), 0);
    let told = drapery(folder, &["motion", "info", "faulty.bvh", "--clean"]);
    assert!(String::from_utf8_lossy(&told.stderr).contains("mended in 1 frames"));
}
