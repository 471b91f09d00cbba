//! `drapery train` and what is done with a model, on the smallest scene there is.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::fs;

use common::ring::{scene, simulate};
use common::{data, error, out};

#[test]
fn a_dataset_becomes_a_model_that_is_told_of_and_animates() {
    let folder = scene();
    let at = folder.path();
    // Of two shapes, so that nothing says which one is meant.
    let text = fs::read_to_string(at.join("scene.toml")).unwrap();
    fs::write(at.join("scene.toml"), text.replace("{}, ", "")).unwrap();
    let plan = ["simulate", "scene.toml", "--frames", "12", "--out", "tube"];
    out(at, 0, &plan);
    // The help ends in an example that works.
    let help = out(at, 0, &["train", "stable-space", "--help"]);
    let example = help.trim_end().lines().last().unwrap();
    let words: Vec<&str> = example.split_whitespace().collect();
    assert_eq!(words[..3], ["drapery", "train", "stable-space"]);
    out(at, 0, &words[1..]);
    let train = |out: &'static str| {
        let plan = [
            "--json",
            "train",
            "stable-space",
            "tube",
            "--dims",
            "3",
            "--out",
            out,
        ];
        plan.to_vec()
    };
    let said = out(at, 0, &train("m.drapery"));
    let model = &data(&said, "model")[0];
    assert_eq!(model["method"], "stable-space");
    assert_eq!(model["cloth_dims"], 3);
    assert!(model["spectral_radius"].as_f64().unwrap() < 1.0);
    assert!(model["tune_mean_cm"].is_null(), "nothing is split tune");
    assert!(at.join("m.drapery.run.json").is_file());
    // The same input gives the same bytes, whatever the threads.
    out(
        at,
        0,
        &[&train("n.drapery")[..], &["--threads", "1"]].concat(),
    );
    let bytes = fs::read(at.join("m.drapery")).unwrap();
    assert!(bytes == fs::read(at.join("n.drapery")).unwrap());

    let told = out(at, 0, &["--json", "info", "m.drapery"]);
    let told = &data(&told, "model")[0];
    assert_eq!(told["garment"], "ring");
    assert_eq!(told["settings"]["model"], "c");
    assert_eq!(told["training"]["digest"].as_str().unwrap().len(), 64);

    let animate = [
        "animate",
        "--model",
        "m.drapery",
        "-c",
        "tube",
        "-m",
        "bend",
    ];
    let animate = |to: &'static str| [&animate[..], &["--frames", "0..8", "--out", to]].concat();
    out(at, 0, &animate("a.npz"));
    out(at, 0, &animate("a.glb"));
    let picture = [
        "picture",
        "--model",
        "m.drapery",
        "-c",
        "tube",
        "--size",
        "64",
    ];
    out(at, 0, &[&picture[..], &["--out", "p.png"]].concat());
    let left = ["--no-correct", "--out", "q.png"];
    out(at, 0, &[&picture[..], &left].concat());

    // What is hidden and what was corrected is in the record.
    assert_eq!(told["body_vertices"], model_body(at));
    let record = fs::read_to_string(at.join("a.npz.run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["settings"]["corrected"], true);
    let hidden = record["settings"]["hidden_body_triangles"].as_u64();
    let few = told["hidden_skin_vertices"].as_u64().unwrap();
    assert!(hidden.unwrap() <= 2 * few, "{hidden:?} {few}");

    // One more over it is pushed off it.
    let both = [&animate("b.glb")[..], &["--model", "m.drapery", "--json"]].concat();
    let both = &data(&out(at, 0, &both), "animation")[0];
    assert_eq!(both["garments"].as_array().unwrap().len(), 2);
    assert!(both["correction_max_mm"].as_f64().unwrap() > 1.0, "{both}");
    let left = [&animate("c.glb")[..], &["--no-correct", "--json"]].concat();
    let left = &data(&out(at, 0, &left), "animation")[0];
    assert!(left["correction_max_mm"].is_null());
    let one = [&animate("c.pc2")[..], &["--model", "m.drapery"]].concat();
    assert!(error(at, 2, &one).contains("one garment, 2 were given"));

    fs::write(at.join("cut.drapery"), &bytes[..bytes.len() / 2]).unwrap();
    let cut = error(at, 2, &["info", "cut.drapery"]);
    assert!(cut.contains("cut short"), "{cut}");
}

/// How many vertices the body of the models has.
fn model_body(at: &std::path::Path) -> serde_json::Value {
    let told = out(at, 0, &["--json", "character", "info", "tube"]);
    data(&told, "character")[0]["vertices"].clone()
}

#[test]
fn what_can_not_be_trained_is_said_before_any_work() {
    let folder = scene();
    let at = folder.path();
    let train = |more: &[&str]| {
        let plan = ["train", "stable-space", "d", "--out", "m.drapery"];
        error(at, 2, &[&plan[..], more].concat())
    };
    assert!(train(&[]).contains("cannot open d"));
    out(at, 0, &simulate("d", &["--only", "twist"]));
    assert!(train(&["--garment", "cape"]).contains("the dataset has ring"));
    assert!(train(&[]).contains("split train"));
    assert!(train(&["--order", "6"]).contains("6"));
    assert!(train(&["--stability", "hope"]).contains("fewer-dims"));
    let ending = ["train", "stable-space", "d", "--out", "m.safetensors"];
    assert!(error(at, 2, &ending).contains(".drapery"));
    let both = [
        "animate",
        "skinning",
        "--model",
        "m.drapery",
        "--out",
        "a.glb",
    ];
    error(at, 2, &both);
    assert!(!at.join("m.drapery").exists());
}
