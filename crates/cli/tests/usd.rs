//! USD's own library reads our exports, finds nothing wrong with them and sees
//! what we wrote, to 0.1 mm.
//!
//! Runs where `DRAPERY_USD_PYTHON` names a Python that has usd-core;
//! `scripts/check` sets it where that can be had.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may unwrap, and say that they were skipped"
)]

mod common;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{out, shared_data};

fn usd_python() -> Option<OsString> {
    let python = std::env::var_os("DRAPERY_USD_PYTHON");
    if python.is_none() {
        println!("skipped: DRAPERY_USD_PYTHON names no Python with usd-core");
    }
    python
}

fn animate(folder: &Path, plan: [&str; 4], file: &str) {
    let [character, garment, motion, frames] = plan;
    let plan = [
        "animate", "skinning", "-c", character, "-g", garment, "-m", motion, "--frames", frames,
        "--out", file,
    ];
    out(folder, 0, &plan);
}

/// What USD says about a folder of exports.
fn ask(python: &OsString, folder: &Path) -> (Output, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/usd_compare.py");
    let output = Command::new(python)
        .arg(script)
        .arg(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, said)
}

/// Exports a dressed character and lets USD compare three frames.
fn compare(folder: &Path, plan: [&str; 4]) {
    let Some(python) = usd_python() else { return };
    for file in ["animation.usda", "animation.usd", "animation.npz"] {
        animate(folder, plan, file);
    }
    let (output, said) = ask(&python, folder);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert_eq!(said.matches(": 0 findings").count(), 2, "{said}");
    assert_eq!(said.matches("worst vertex").count(), 9, "{said}");
    println!("{said}");
}

/// By a name that is no identifier.
#[test]
fn the_sleeve_on_the_tube() {
    let folder = tempfile::tempdir().unwrap();
    animate(folder.path(), ["tube", "sleeve", "bend", "0..1"], "s.obj");
    let own = "2 \"ärmel\".obj";
    fs::rename(folder.path().join("s_0000.obj"), folder.path().join(own)).unwrap();
    compare(folder.path(), ["tube", own, "bend", "0..91"]);
}

#[test]
fn the_shared_body_in_its_shirt() {
    let Some(shared) = shared_data() else { return };
    let path = |name: &str| shared.join(name).to_string_lossy().into_owned();
    let (body, shirt, walk) = (
        path("body/body.glb"),
        path("garments/tshirt.obj"),
        path("motions/07_02.bvh"),
    );
    let folder = tempfile::tempdir().unwrap();
    compare(folder.path(), [&body, &shirt, &walk, "0..60"]);
}

/// What the tests above rest on: the script sees other positions, and the
/// validators see a scene that is not sound.
#[test]
fn usd_says_no_to_another_motion_and_to_a_skin_without_its_schema() {
    let Some(python) = usd_python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    animate(
        folder.path(),
        ["tube", "sleeve", "bend", "30..33"],
        "animation.npz",
    );
    animate(
        folder.path(),
        ["tube", "sleeve", "bend", "31..34"],
        "animation.usda",
    );
    let text = fs::read_to_string(at("animation.usda")).unwrap();
    let bare = text.replace("prepend apiSchemas = [\"SkelBindingAPI\"]", "");
    fs::write(at("animation.usd"), bare).unwrap();
    let (output, said) = ask(&python, folder.path());
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("USD disagrees"), "{said}");
    assert!(said.contains("animation.usda: 0 findings"), "{said}");
    assert!(said.contains("MissingSkelBindingAPI"), "{said}");
    assert!(!said.contains("frame 1: worst vertex 0.0"), "{said}");
}
