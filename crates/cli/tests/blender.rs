//! Blender reads our exports and sees what we wrote, to 0.1 mm.
//!
//! Runs where `DRAPERY_BPY_PYTHON` names a Python that has bpy;
//! `scripts/check` sets it where bpy can be had.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may unwrap, and say that they were skipped"
)]

mod common;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use common::{out, shared_data};

/// Lets Blender compare what is in a folder, and returns what it said.
fn blender_agrees(python: &OsStr, folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/blender_compare.py");
    let output = Command::new(python)
        .arg(script)
        .arg(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    said.into_owned()
}

/// Exports a dressed character and lets Blender compare three frames.
fn compare(character: &str, garment: &str, motion: &str, frames: &str) {
    let Some(python) = std::env::var_os("DRAPERY_BPY_PYTHON") else {
        println!("skipped: DRAPERY_BPY_PYTHON names no Python with bpy");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let plan = [
        "animate", "skinning", "-c", character, "-g", garment, "-m", motion, "--frames", frames,
    ];
    for file in [
        "animation.glb",
        "animation.usda",
        "animation.abc",
        "animation.npz",
        "garment.pc2",
    ] {
        out(folder.path(), 0, &[&plan[..], &["--out", file]].concat());
    }
    // The mesh that the point cache is put on: the garment's own file.
    let own = folder.path().join("garment.obj");
    if Path::new(garment).is_file() {
        std::fs::copy(garment, own).unwrap();
    } else {
        let first = [&plan[..9], &["0..1", "--out", "garment.obj"]].concat();
        out(folder.path(), 0, &first);
        std::fs::rename(folder.path().join("garment_0000.obj"), own).unwrap();
    }
    let said = blender_agrees(&python, folder.path());
    assert_eq!(said.matches("worst vertex").count(), 21, "{said}");
    println!("{said}");
}

#[test]
fn the_sleeve_on_the_tube() {
    compare("tube", "sleeve", "bend", "0..91");
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
    compare(&body, &shirt, &walk, "0..60");
}

/// Layers are meshes of one archive, and more than 255 frames are counted with two
/// bytes.
#[test]
fn two_garments_and_many_frames_in_one_archive() {
    let Some(python) = std::env::var_os("DRAPERY_BPY_PYTHON") else {
        println!("skipped: DRAPERY_BPY_PYTHON names no Python with bpy");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for file in ["animation.abc", "animation.npz"] {
        let plan = "animate skinning -c mannequin -g t-shirt -g skirt -m gym --frames 0..260 --out";
        let plan: Vec<&str> = plan.split(' ').chain([file]).collect();
        out(folder.path(), 0, &plan);
    }
    let said = blender_agrees(&python, folder.path());
    for mesh in ["body", "t-shirt", "skirt"] {
        for frame in [0, 129, 259] {
            let line = format!("abc {mesh} frame {frame}: worst vertex");
            assert!(said.contains(&line), "{line}\n{said}");
        }
    }
    println!("{said}");
}

/// Blender's own cloth simulator moves a skirt on our character; what it makes
/// becomes a dataset that is sound.
#[test]
fn cloth_that_blender_simulated_is_imported() {
    let Some(python) = std::env::var_os("DRAPERY_BPY_PYTHON") else {
        println!("skipped: DRAPERY_BPY_PYTHON names no Python with bpy");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let draft = "garment draft skirt -c mannequin --triangles 800 --out skirt.obj";
    let worn = "animate skinning -c mannequin -g skirt.obj -m walk --frames 0..12 --out walk.glb";
    for command in [draft, worn] {
        out(at, 0, &command.split(' ').collect::<Vec<_>>());
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/blender_cloth.py");
    let output = Command::new(python)
        .arg(script)
        .args(["walk.glb", "skirt.obj", "skirt.pc2", "20"])
        .current_dir(at)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let import = "dataset import --out ds -c mannequin -g skirt.obj -m walk --motion-frames 0..12 \
                  --cloth skirt.pc2 --cloth-frames 20..32";
    let import: Vec<&str> = import.split_whitespace().collect();
    let told = common::error(at, 2, &import);
    assert!(told.contains("likely --up z"), "{told}");
    out(at, 0, &[&import[..], &["--up", "z"]].concat());
    // The cloth keeps 3 mm from the body it was simulated on: one that is a
    // frame or an axis off would be centimetres inside.
    let limit = [
        "--json",
        "dataset",
        "check",
        "ds",
        "--max-penetration-mm",
        "3",
    ];
    let rows = common::data(&out(at, 0, &limit), "sequence");
    let stretch = rows[0]["stretch_p99_percent"].as_f64().unwrap();
    assert!(stretch < 10.0, "{}", rows[0]);
}

#[test]
fn a_model_as_a_sum_of_shapes() {
    let Some(python) = std::env::var_os("DRAPERY_BPY_PYTHON") else {
        println!("skipped: DRAPERY_BPY_PYTHON names no Python with bpy");
        return;
    };
    let folder = common::ring::trained();
    let at = folder.path();
    let animate = [
        "animate",
        "--model",
        "ring.drapery",
        "-c",
        "tube",
        "--shape",
        "girth=0",
    ];
    let animate = [&animate[..], &["-m", "bend", "--frames", "0..12"]].concat();
    let blend = [&animate[..], &["--blend-shapes", "--out", "blend.glb"]].concat();
    out(at, 0, &blend);
    let baked = [&animate[..], &["--no-correct", "--out", "animation.npz"]].concat();
    out(at, 0, &baked);
    let said = blender_agrees(&python, at);
    assert_eq!(said.matches("worst vertex").count(), 6, "{said}");
    println!("{said}");
    let wrong = [&animate[..], &["--blend-shapes", "--out", "a.npz"]].concat();
    assert!(common::error(at, 2, &wrong).contains("--blend-shapes"));
}
