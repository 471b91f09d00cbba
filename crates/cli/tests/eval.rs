//! `drapery eval`, by the real binary.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::fs;

use common::ring::{scene, simulate};
use common::{data, error, out};

#[test]
fn baselines_are_measured_clip_by_clip_and_over_all() {
    let folder = scene();
    let folder = folder.path();
    out(folder, 0, &simulate("ds", &[]));
    let eval = ["--json", "eval", "--dataset", "ds"];
    let with = |more: &[&'static str]| -> Vec<&str> { eval.iter().chain(more).copied().collect() };
    let rows = data(&out(folder, 0, &with(&["--threads", "1"])), "eval");
    let of = |method: &str, clip: &str| {
        let is_it = |r: &&serde_json::Value| r["method"] == method && r["clip"] == clip;
        rows.iter().filter(is_it).collect::<Vec<_>>()
    };
    for method in ["skinning", "linear"] {
        // One clip on two shapes, of three frames.
        assert_eq!(of(method, "twist").len(), 2, "{method}");
        let all = of(method, "all");
        assert_eq!((all.len(), &all[0]["frames"]), (1, &6.into()));
        for key in [
            "mean_cm",
            "p95_cm",
            "max_cm",
            "relative_percent",
            "velocity_error",
            "acceleration_error",
            "penetration_percent",
            "penetration_max_mm",
            "masked_percent",
            "stretch_p99_percent",
            "stretch_settled_p99_percent",
            "detail_correlation",
            "frame_ms_p50",
            "frame_ms_p99",
            "speedup",
        ] {
            assert!(all[0][key].is_number(), "{method}: {key}: {}", all[0]);
        }
        // The simulated ring is smooth.
        assert!(all[0]["wrinkle_ratio"].is_null(), "{}", all[0]);
        assert_eq!(all[0]["split"], "test");
        // Clips are of as many frames, so the mean of all is that of both.
        let means = of(method, "twist")
            .into_iter()
            .map(|r| r["mean_cm"].as_f64().unwrap());
        let mean = all[0]["mean_cm"].as_f64().unwrap();
        assert!((means.sum::<f64>() / 2.0 - mean).abs() < 1e-9);
    }
    // What is measured does not depend on threads; only times do.
    let mut again = data(&out(folder, 0, &with(&["--threads", "2"])), "eval");
    let mut rows = rows;
    for row in rows.iter_mut().chain(&mut again) {
        for key in ["frame_ms_p50", "frame_ms_p99", "step_ms_p50", "speedup"] {
            row[key] = serde_json::Value::Null;
        }
    }
    assert_eq!(rows, again);
    // The answer is no when the error is too large.
    out(folder, 1, &with(&["--max-error", "0"]));
    // There is no time of a first frame alone.
    let first = ["--max-error", "1000", "--frames", "1"];
    let first = data(&out(folder, 0, &with(&first)), "eval");
    assert!(first.iter().all(|row| row["frame_ms_p50"].is_null()));
}

#[test]
fn reports_and_plots_stand_by_themselves() {
    let folder = scene();
    let folder = folder.path();
    out(folder, 0, &simulate("ds", &[]));
    let arguments = [
        "eval",
        "--dataset",
        "ds",
        "--report",
        "r.html",
        "--plots",
        "plots",
    ];
    let table = out(folder, 0, &arguments);
    assert!(
        table.starts_with("method\tclip\tframes\tmean cm"),
        "{table}"
    );
    let page = fs::read_to_string(folder.join("r.html")).unwrap();
    assert!(page.contains("data:image/svg+xml") && page.contains("data:image/png"));
    // A browser that plays it asks for nothing else (the test of the viewer); without the
    // player there is no script at all.
    for outside in [
        "src=\"http",
        "<script src",
        "<link",
        "@import",
        "href=\"http",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    let n_scripts = if drapery::view::has_viewer_page() {
        3
    } else {
        0
    };
    assert_eq!(page.matches("<script").count(), n_scripts);
    for name in [
        "histogram.svg",
        "twist@mean.svg",
        "twist@mean.png",
        "run.json",
    ] {
        assert!(folder.join("plots").join(name).is_file(), "{name}");
    }
    let vertices = fs::read_to_string(folder.join("plots/vertices.csv")).unwrap();
    assert_eq!(vertices.lines().count(), 1 + 32);
    let run = fs::read_to_string(folder.join("r.html.run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    assert_eq!(run["settings"]["eval"]["no_correct"], false);
    assert!(run["inputs"][0]["sha256"].is_string());
}

#[test]
fn bad_input_is_one_line_that_says_what() {
    let folder = scene();
    let folder = folder.path();
    out(folder, 0, &simulate("ds", &["--only", "bend@mean"]));
    fs::write(folder.join("no.drapery"), "no model").unwrap();
    for (arguments, words) in [
        (&["--dataset", "nothing"][..], "nothing"),
        (&["--dataset", "ds"], "none of the 2 sequences"),
        (
            &["--dataset", "ds", "--split", "tune"],
            "no clips of split tune",
        ),
        (
            &["--dataset", "ds", "--split", "train", "--clips", "bent"],
            "bend",
        ),
        (
            &["--dataset", "ds", "--split", "train", "--garment", "rong"],
            "ring",
        ),
        (
            &["--dataset", "ds", "--split", "train", "--report", "r.txt"],
            ".html",
        ),
        (
            &["no.drapery", "--dataset", "ds", "--split", "train"],
            "no.drapery",
        ),
        (
            &["gone.drapery", "--dataset", "ds", "--split", "train"],
            "gone.drapery",
        ),
    ] {
        let arguments: Vec<&str> = ["eval"].iter().chain(arguments).copied().collect();
        let said = error(folder, 2, &arguments);
        let last = said.lines().last().unwrap();
        assert!(last.contains(words), "{arguments:?}: {said}");
    }
    // On what it was trained on, the baselines can be measured too.
    out(folder, 0, &["eval", "--dataset", "ds", "--split", "train"]);
}
