//! Khronos' validator finds nothing in our GLB files.
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

#[test]
fn the_validator_finds_no_error_and_no_warning() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    if !web.join("node_modules/gltf-validator").is_dir() {
        println!("skipped: the validator is installed where Node is");
        return;
    }
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
