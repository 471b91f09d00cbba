//! `drapery bench simulate` as a user types it.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::{data, error, out};

#[test]
fn a_hanging_cloth_is_measured_with_the_keys_that_others_read() {
    let folder = tempfile::tempdir().unwrap();
    let run = |threads: &str| {
        let arguments = [
            "bench",
            "simulate",
            "--scene",
            "hang",
            "--n",
            "9",
            "--frames",
            "3",
            "--threads",
            threads,
            "--picture",
            "last.png",
            "--json",
        ];
        data(&out(folder.path(), 0, &arguments), "bench").remove(0)
    };
    let (one, two) = (run("1"), run("2"));
    assert_eq!(one["name"], "simulate");
    assert_eq!(one["scene"], "hang");
    assert_eq!((&one["threads"], &two["threads"]), (&1.into(), &2.into()));
    assert_eq!(one["stable"], true);
    let number = |key: &str| one[key].as_f64().unwrap();
    assert!(number("s_per_frame") > 0.0);
    // Falling and held by two corners, it stretches a little and not much.
    assert!(number("stretch_max_pct") >= number("stretch_p99_pct"));
    assert!((0.01..20.0).contains(&number("stretch_max_pct")));
    assert_eq!(number("penetration_worst_mm"), 0.0);
    assert_eq!(one["fabric"]["density_kg_m2"], 0.2);
    assert_eq!(
        one["fabric"]["stretch_warp_n_per_m"],
        one["fabric"]["stretch_weft_n_per_m"]
    );
    // What is simulated does not depend on threads.
    assert_eq!(one["stretch_max_pct"], two["stretch_max_pct"]);
    let png = std::fs::read(folder.path().join("last.png")).unwrap();
    assert_eq!(&png[1..4], b"PNG");
}

#[test]
fn a_cloth_that_falls_on_a_ball_stays_outside() {
    let folder = tempfile::tempdir().unwrap();
    for scene in ["drape", "drape-mesh"] {
        let arguments = [
            "bench", "simulate", "--scene", scene, "--n", "17", "--frames", "12", "--json",
        ];
        let found = data(&out(folder.path(), 0, &arguments), "bench").remove(0);
        assert_eq!(found["stable"], true);
        assert!(
            found["penetration_worst_mm"].as_f64().unwrap() < 0.1,
            "{found}"
        );
        assert!(found["solves_per_step"].as_f64().unwrap() >= 1.0);
    }
}

#[test]
fn a_strip_is_folded_without_crossing_itself() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "bench", "simulate", "--scene", "fold", "--n", "21", "--frames", "120", "--json",
    ];
    let results = data(&out(folder.path(), 0, &arguments), "bench");
    let result = &results[0];
    assert_eq!(result["scene"], "fold");
    assert_eq!(result["vertices"], 21 * 6);
    assert_eq!(result["self_contact"], true);
    assert_eq!(result["self_crossings"], 0);
    assert_eq!(result["penetration_worst_mm"], 0.0);
    // After four seconds it has been put down and lies still.
    assert!(result["speed_max_m_s"].as_f64().unwrap() < 0.01, "{result}");
}

#[test]
fn wrong_numbers_and_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        ["bench", "simulate", "--n", "1"],
        ["bench", "simulate", "--stretch", "-5"],
        ["bench", "simulate", "--scene", "hing"],
    ] {
        error(folder.path(), 2, &arguments);
    }
    let stderr = error(
        folder.path(),
        2,
        &["bench", "simulate", "--fabric", "coton-plain"],
    );
    assert!(stderr.contains("cotton-plain"), "{stderr}");
}
