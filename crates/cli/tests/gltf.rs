//! Khronos' validator finds nothing in our GLB files, and three.js plays them.
//!
//! Runs where Node is and the page's packages are installed, as the build of the viewer's
//! page does.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may unwrap, and say that they were skipped"
)]

mod common;

use std::path::Path;
use std::process::Command;

use common::out;
use common::ring::trained;

/// The folder of the page, where packages are installed.
fn web(package: &str) -> Option<std::path::PathBuf> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let is_there = web.join("node_modules").join(package).is_dir();
    if !is_there {
        println!("skipped: {package} is installed where Node is");
    }
    is_there.then_some(web)
}

#[test]
fn three_plays_what_was_written() {
    let Some(web) = web("three") else { return };
    let folder = trained();
    for (plan, blend) in [
        ("animate skinning -c tube -g sleeve -m bend", ""),
        (
            "animate skinning -c mannequin -g skirt -m walk --frames 0..20",
            "",
        ),
        (
            "animate --model ring.drapery -c tube --shape girth=0 -m bend --frames 0..12 --no-correct",
            "--blend-shapes",
        ),
    ] {
        let words: Vec<&str> = plan.split(' ').collect();
        out(
            folder.path(),
            0,
            &[&words[..], &["--out", "a.pc2"]].concat(),
        );
        let shapes: Vec<&str> = blend.split(' ').filter(|w| !w.is_empty()).collect();
        out(
            folder.path(),
            0,
            &[&words[..], &shapes, &["--out", "a.glb"]].concat(),
        );
        let ran = Command::new("node")
            .arg(web.join("test/three.mjs"))
            .args(["a.glb", "a.pc2", "30"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{plan}: {said}{errors}");
        assert_eq!(said.matches("worst vertex").count(), 3, "{said}");
        println!("{plan}: {said}");
    }
}

#[test]
fn the_validator_finds_no_error_and_no_warning() {
    let Some(web) = web("gltf-validator") else {
        return;
    };
    let folder = trained();
    let plans = [
        "animate skinning -c tube -g sleeve -m bend --out skinned.glb",
        "animate skinning -c mannequin -g t-shirt -g skirt -m walk --frames 0..20 --out layers.glb",
        "animate --model ring.drapery -c tube -m bend --out model.glb",
        "animate --model ring.drapery -c tube -m bend --blend-shapes --out shapes.glb",
        "dataset export tube twist@mean --out stored.glb",
    ];
    let mut files = Vec::new();
    for plan in plans {
        let words: Vec<&str> = plan.split(' ').collect();
        out(folder.path(), 0, &words);
        files.extend(words.last().copied());
    }
    let ran = Command::new("node")
        .arg(web.join("test/gltf.mjs"))
        .args(&files)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{errors}");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(said.matches("no error, no warning").count(), files.len());
    println!("{said}");
}
