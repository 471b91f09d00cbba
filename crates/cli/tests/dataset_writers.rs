//! Who writes to a dataset: one at a time, and whatever happens to it, by the
//! real binary.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may unwrap, and say that they were skipped"
)]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::ring::{files, scene, simulate};
use common::{data, error, out};
use drapery::store::dataset::{DatasetFolder, DatasetStore};

#[test]
fn a_second_writer_is_refused_and_changes_nothing() {
    let folder = scene();
    let folder = folder.path();
    out(folder, 0, &simulate("ds", &["--only", "bend@girth=0.5"]));
    let export = [
        "dataset",
        "export",
        "ds",
        "bend@girth=0.5",
        "--out",
        "a.pc2",
    ];
    out(folder, 0, &export);
    let before = files(&folder.join("ds"));
    let writer = DatasetFolder::open_to_write(&folder.join("ds")).unwrap();
    let import = [
        "dataset",
        "import",
        "-c",
        "tube",
        "-g",
        "ring.obj",
        "--fabric",
        "denim",
        "-m",
        "bend",
        "--motion-frames",
        "0..3",
        "--shape",
        "girth=0.5",
        "--cloth",
        "a.pc2",
        "--clip",
        "other",
        "--out",
        "ds",
    ];
    let split = ["dataset", "split", "ds", "--tune", "bend"];
    for plan in [&simulate("ds", &[])[..], &import, &split] {
        let told = error(folder, 2, plan);
        assert!(told.contains("another drapery is writing to ds"), "{told}");
    }
    // Whoever only reads is not in the way.
    out(
        folder,
        0,
        &["dataset", "check", "ds", "--only", "bend@girth=0.5"],
    );
    assert!(files(&folder.join("ds")) == before);
    drop(writer);
    out(folder, 0, &simulate("ds", &[]));
}

#[test]
fn of_two_that_begin_at_once_one_makes_the_dataset() {
    let folder = scene();
    let folder = folder.path();
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_drapery"))
            .args(simulate("ds", &["--threads", "1"]))
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let ended = [start(), start()].map(|child| child.wait_with_output().unwrap());
    assert!(
        ended.iter().any(|e| e.status.code() == Some(0)),
        "{ended:?}"
    );
    for output in &ended {
        // The other is refused, or comes when all is done.
        let told = String::from_utf8_lossy(&output.stderr);
        let is_refused = told.contains("another drapery is writing to ds");
        assert_eq!(
            output.status.code(),
            Some(2 * i32::from(is_refused)),
            "{told}"
        );
    }
    out(folder, 0, &simulate("alone", &[]));
    assert!(files(&folder.join("ds")) == files(&folder.join("alone")));
}

#[test]
fn an_import_that_is_killed_goes_on_to_the_same_bytes() {
    let folder = scene();
    let folder = folder.path();
    let frames = "0..30";
    let animate = [
        "animate", "skinning", "-c", "tube", "-g", "sleeve", "-m", "bend", "--frames", frames,
        "--out", "a.pc2",
    ];
    out(folder, 0, &animate);
    let import = |to: &'static str| {
        [
            "--json",
            "dataset",
            "import",
            "-c",
            "tube",
            "-g",
            "sleeve",
            "-m",
            "bend",
            "--motion-frames",
            frames,
            "--cloth",
            "a.pc2",
            "--out",
            to,
        ]
    };
    let started = Instant::now();
    out(folder, 0, &import("undisturbed"));
    let whole = started.elapsed();
    let mut n_killed = 0;
    for k in 1..=5u32 {
        let share = (0.618 * f64::from(k)).fract();
        let mut child = Command::new(env!("CARGO_BIN_EXE_drapery"))
            .args(import("killed"))
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole.mul_f64(share));
        n_killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let sequence = folder.join("killed/sequences/bend@mean");
        if sequence.is_dir() {
            let dataset = DatasetFolder::open(&folder.join("killed")).unwrap();
            dataset.verify("bend@mean").unwrap();
        }
    }
    assert!(n_killed > 0, "no import lasted long enough to be killed");
    let done = data(&out(folder, 0, &import("killed")), "import");
    assert_eq!(done[0]["frames"], 30);
    assert!(files(&folder.join("undisturbed")) == files(&folder.join("killed")));
    let names = fs::read_dir(folder).unwrap();
    let mut names = names.map(|e| e.unwrap().file_name().into_string().unwrap());
    assert!(names.all(|n| !n.ends_with(".part")));
}

/// Lets nobody, or its owner, write to a folder and those in it.
#[cfg(unix)]
fn set_writable(folder: &Path, is_writable: bool) {
    use std::os::unix::fs::PermissionsExt;
    let mode = if is_writable { 0o755 } else { 0o555 };
    for inner in ["sequences", "failed", "."] {
        let path = folder.join(inner);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_turns_read_only_is_said_and_loses_nothing() {
    use std::os::unix::fs::{MetadataExt, chown};
    use std::os::unix::process::CommandExt;
    let folder = scene();
    let folder = folder.path();
    // Who may write everywhere is nobody for the while.
    let is_root = fs::metadata(folder).unwrap().uid() == 0;
    let nobody = 65534;
    let program = folder.join("drapery");
    fs::copy(env!("CARGO_BIN_EXE_drapery"), &program).unwrap();
    if is_root {
        for path in [
            folder,
            &program,
            &folder.join("scene.toml"),
            &folder.join("ring.obj"),
        ] {
            chown(path, Some(nobody), Some(nobody)).unwrap();
        }
    }
    let start = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(folder);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        if is_root {
            command.uid(nobody).gid(nobody);
        }
        command.spawn()
    };
    let frames = ["--frames", "20", "--threads", "1"];
    let plan = [&["simulate", "scene.toml", "--out", "ds"][..], &frames].concat();
    let Ok(child) = start(&plan) else {
        println!("skipped: nothing can be run as another user here");
        return;
    };
    let sequences = folder.join("ds/sequences");
    let n_whole = || {
        let entries = fs::read_dir(&sequences).into_iter().flatten().flatten();
        let names = entries.filter_map(|e| e.file_name().into_string().ok());
        let whole = names.filter(|n| !n.starts_with('.') && n != "zarr.json");
        whole.count()
    };
    let limit = Instant::now() + Duration::from_secs(60);
    while n_whole() == 0 && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(1));
    }
    set_writable(&folder.join("ds"), false);
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(
        told.contains("sequence ") && told.contains("ds/sequences"),
        "{told}"
    );
    assert!(told.contains("ermission denied"), "{told}");
    let kept = n_whole();
    assert!((1..6).contains(&kept), "{kept}");
    // It can still be read, and says why it can't be written to.
    let dataset = DatasetFolder::open(&folder.join("ds")).unwrap();
    dataset.verify("bend@mean").unwrap();
    let again = start(&plan).unwrap().wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&again.stderr);
    assert_eq!(again.status.code(), Some(2), "{told}");
    assert!(told.contains("ermission denied"), "{told}");
    set_writable(&folder.join("ds"), true);
    let done = start(&plan).unwrap().wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    out(
        folder,
        0,
        &[
            &["simulate", "scene.toml", "--out", "undisturbed"][..],
            &frames,
        ]
        .concat(),
    );
    assert!(files(&folder.join("ds")) == files(&folder.join("undisturbed")));
}
