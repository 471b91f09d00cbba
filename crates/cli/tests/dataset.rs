//! `drapery simulate` and `drapery dataset`, by the real binary.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::ring::{SCENE, files, scene, simulate};
use common::{data, drapery, error, out};
use drapery::store::dataset::{DatasetFolder, DatasetStore, SequenceFailure};

#[test]
fn a_scene_becomes_a_dataset_that_is_sound_whatever_the_threads() {
    let folder = scene();
    let folder = folder.path();
    let made = data(
        &out(folder, 0, &simulate("one", &["--threads", "1"])),
        "simulate",
    );
    // Two clips and a stop of the one that trains, on two shapes.
    assert_eq!(
        (&made[0]["whole"], &made[0]["frames"]),
        (&6.into(), &18.into())
    );
    assert_eq!(made[0]["failed"], 0);
    let worst = &made[0]["worst"]["penetration_max_mm"];
    assert_eq!(worst["garment"], "ring");
    out(
        folder,
        0,
        &simulate("two", &["--threads", "3", "--only", "twist@mean"]),
    );
    let rest = data(
        &out(folder, 0, &simulate("two", &["--threads", "4"])),
        "simulate",
    );
    assert_eq!(
        (&rest[0]["whole"], &rest[0]["missing"]),
        (&6.into(), &0.into())
    );
    assert!(files(&folder.join("one")) == files(&folder.join("two")));
    for name in ["one.run.json", "one.times.jsonl", "one.report.html"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    let page = fs::read_to_string(folder.join("one.report.html")).unwrap();
    assert_eq!(page.matches("data:image/png").count(), 6);
    // Nothing is left to do.
    let before = fs::metadata(folder.join("one/zarr.json"))
        .unwrap()
        .modified()
        .unwrap();
    out(folder, 0, &simulate("one", &[]));
    let after = fs::metadata(folder.join("one/zarr.json"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(before, after);

    let info = data(
        &out(folder, 0, &["--json", "dataset", "info", "one"]),
        "dataset",
    );
    assert_eq!(info[0]["splits"]["test"]["sequences"], 2);
    assert_eq!(info[0]["garments"][0]["vertices"], 32);
    let checked = data(
        &out(folder, 0, &["--json", "dataset", "check", "one"]),
        "sequence",
    );
    assert_eq!(checked.len(), 6);
    let depths = checked
        .iter()
        .map(|row| row["penetration_max_mm"].as_f64().unwrap());
    assert_eq!(depths.fold(0.0, f64::max), worst["value"].as_f64().unwrap());
    for row in &checked {
        let numbers = [
            "frames",
            "penetration_max_mm",
            "body_contact_frames",
            "stretch_p99_percent",
            "speed_max",
        ];
        assert!(numbers.iter().all(|key| row[key].is_number()), "{row}");
        // All frames of the one that stops later are those of its clip.
        let is_copy = row["clip"].as_str().unwrap().contains("~stop");
        assert_eq!(row["s_per_frame"].is_number(), !is_copy, "{row}");
        let texts = ["sequence", "clip", "garment", "shape"];
        assert!(texts.iter().all(|key| row[key].is_string()), "{row}");
        assert_eq!(row["failed"], false);
    }
    assert_eq!(checked[3]["sequence"], "bend~stop45@girth=0.5");
    // A limit that nothing keeps.
    let strict = ["dataset", "check", "one", "--max-penetration-mm", "0"];
    let depth = checked[0]["penetration_max_mm"].as_f64().unwrap();
    out(folder, i32::from(depth > 0.0), &strict);
}

#[test]
fn sequences_are_taken_out_and_clips_move_with_their_copies() {
    let folder = scene();
    let folder = folder.path();
    out(folder, 0, &simulate("ds", &["--only", "bend"]));
    // What is missing is not sound.
    out(folder, 1, &["dataset", "check", "ds"]);
    out(
        folder,
        0,
        &["dataset", "check", "ds", "--only", "bend", "--bytes"],
    );
    for name in [
        "a.pc2", "a.mdd", "a.npz", "a.glb", "a.usda", "a.abc", "a.obj",
    ] {
        let plan = [
            "--json",
            "dataset",
            "export",
            "ds",
            "bend@mean",
            "--out",
            name,
        ];
        let done = data(&out(folder, 0, &plan), "export");
        assert_eq!(done[0]["frames"], 3);
    }
    let dataset = DatasetFolder::open(&folder.join("ds")).unwrap();
    let cloth = dataset
        .sequence("bend@mean")
        .unwrap()
        .cloth(0, 2..3)
        .unwrap();
    let pc2 = fs::read(folder.join("a.pc2")).unwrap();
    let cache = drapery::store::pc2::Pc2Reader::new(&pc2).unwrap();
    assert_eq!(cache.sample(2).unwrap(), cloth);
    let last = fs::read_to_string(folder.join("a_0002.obj")).unwrap();
    assert_eq!(last.lines().filter(|l| l.starts_with("v ")).count(), 32);
    let one = [
        "dataset",
        "export",
        "ds",
        "bend@mean",
        "--frames",
        "1..2",
        "--out",
        "b.pc2",
    ];
    out(folder, 0, &one);
    let pc2 = fs::read(folder.join("b.pc2")).unwrap();
    assert_eq!(
        drapery::store::pc2::Pc2Reader::new(&pc2)
            .unwrap()
            .n_samples(),
        1
    );
    let unknown = ["dataset", "export", "ds", "bend", "--out", "c.pc2"];
    assert!(error(folder, 2, &unknown).contains("did you mean bend@mean?"));

    let splits = |more: &[&str]| {
        let plan: Vec<&str> = ["--json", "dataset", "split", "ds"]
            .iter()
            .chain(more)
            .copied()
            .collect();
        let rows = data(&out(folder, 0, &plan), "split");
        let of = |row: &serde_json::Value| row["split"].as_str().unwrap().to_string();
        rows.iter().map(of).collect::<Vec<String>>()
    };
    assert_eq!(splits(&[]), ["train", "test"]);
    assert_eq!(
        splits(&["--tune", "bend", "--train", "twist"]),
        ["tune", "train"]
    );
    assert_eq!(splits(&[]), ["tune", "train"]);
    out(
        folder,
        0,
        &["dataset", "check", "ds", "--only", "bend", "--bytes"],
    );
    let wrong = error(folder, 2, &["dataset", "split", "ds", "--test", "bent"]);
    assert!(wrong.contains("did you mean bend?"), "{wrong}");
    // The scene is still the same.
    out(folder, 0, &simulate("ds", &[]));
    assert_eq!(splits(&[]), ["tune", "train"]);
}

fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_drapery"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn killed_at_any_moment_it_goes_on_to_the_same_bytes() {
    let folder = scene();
    let folder = folder.path();
    let started = Instant::now();
    out(folder, 0, &simulate("undisturbed", &["--threads", "2"]));
    let whole = started.elapsed();
    // Moments spread over a run by the golden ratio, so that none is special.
    let mut n_killed = 0;
    for k in 1..=6u32 {
        let share = (0.618 * f64::from(k)).fract();
        let mut child = spawn(folder, &simulate("killed", &["--threads", "2"]));
        std::thread::sleep(whole.mul_f64(share));
        n_killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        // Whatever is visible is whole.
        if folder.join("killed").is_dir() {
            let dataset = DatasetFolder::open(&folder.join("killed")).unwrap();
            for entry in fs::read_dir(folder.join("killed/sequences")).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                if entry.path().is_dir() && !name.starts_with('.') {
                    dataset.verify(&name).unwrap();
                }
            }
        }
    }
    assert!(n_killed > 0, "no run lasted long enough to be killed");
    out(folder, 0, &simulate("killed", &["--threads", "2"]));
    assert!(files(&folder.join("undisturbed")) == files(&folder.join("killed")));
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    let litter: Vec<String> = names.filter(|n| n.ends_with(".part")).collect();
    assert!(litter.is_empty(), "{litter:?}");
}

#[cfg(unix)]
#[test]
fn interrupted_it_says_so_and_goes_on_later() {
    let folder = scene();
    let folder = folder.path();
    let mut child = spawn(
        folder,
        &["simulate", "scene.toml", "--out", "ds", "--threads", "1"],
    );
    // Once there is something to lose.
    let limit = Instant::now() + Duration::from_secs(60);
    while !folder.join("ds/sequences").is_dir() && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
    let stop = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(stop.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let left = files(&folder.join("ds"));
    assert!(
        left.iter()
            .all(|(name, _)| !name.to_string_lossy().contains(".part"))
    );
    // Other frames would be another dataset.
    let other = error(folder, 2, &simulate("ds", &[]));
    assert!(other.contains("frames = null, now it is 3"), "{other}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_said_and_loses_nothing() {
    let folder = scene();
    let folder = folder.path();
    out(folder, 0, &simulate("undisturbed", &[]));
    out(folder, 0, &simulate("ds", &["--only", "twist"]));
    let before = files(&folder.join("ds"));
    // No file may grow beyond a kilobyte or two, which metadata does.
    let limited = "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_drapery")])
        .args(simulate("ds", &["--threads", "2"]))
        .current_dir(folder)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("sequence bend") && stderr.contains("too large"),
        "{stderr}"
    );
    assert!(files(&folder.join("ds")) == before);
    out(folder, 0, &simulate("ds", &[]));
    assert!(files(&folder.join("ds")) == files(&folder.join("undisturbed")));
}

#[test]
fn what_failed_is_kept_as_failed_and_tried_again_when_asked() {
    let folder = scene();
    let folder = folder.path();
    out(folder, 0, &simulate("undisturbed", &[]));
    out(folder, 0, &simulate("ds", &["--only", "twist"]));
    let failure = SequenceFailure {
        frame: Some(2),
        why: "the cloth diverged at vertex 7".into(),
    };
    let dataset = DatasetFolder::open_to_write(&folder.join("ds")).unwrap();
    dataset.append("bend@mean").unwrap().fail(&failure).unwrap();
    drop(dataset);
    let told = data(&out(folder, 1, &simulate("ds", &[])), "simulate");
    assert_eq!(
        (&told[0]["failed"], &told[0]["whole"]),
        (&1.into(), &5.into())
    );
    assert_eq!(told[0]["failures"][0]["failed_frame"], 2);
    let checked = out(folder, 1, &["--json", "dataset", "check", "ds", "--bytes"]);
    let rows = data(&checked, "sequence");
    assert_eq!(
        (&rows[0]["failed"], &rows[0]["failed_frame"]),
        (&true.into(), &2.into())
    );
    out(folder, 0, &simulate("ds", &["--retry"]));
    assert!(files(&folder.join("ds")) == files(&folder.join("undisturbed")));
}

#[test]
fn nothing_that_is_there_is_written_over() {
    let folder = scene();
    let folder = folder.path();
    fs::create_dir(folder.join("mine")).unwrap();
    fs::write(folder.join("mine/letter.txt"), "Dear").unwrap();
    assert!(error(folder, 2, &simulate("mine", &[])).contains("is there already"));
    fs::write(folder.join("file"), "").unwrap();
    error(folder, 2, &simulate("file", &[]));
    out(folder, 0, &simulate("ds", &["--only", "bend@mean"]));
    let before = files(&folder.join("ds"));
    let other = SCENE.replace("denim", "silk-light");
    fs::write(folder.join("other.toml"), other).unwrap();
    let plan = ["simulate", "other.toml", "--frames", "3", "--out", "ds"];
    let refused = error(folder, 2, &plan);
    assert!(
        refused.contains("garments[0].fabric") && refused.contains("denim"),
        "{refused}"
    );
    assert!(files(&folder.join("ds")) == before);
    fs::write(folder.join("scene.toml"), SCENE.replace("clips", "clip")).unwrap();
    let typo = error(folder, 2, &simulate("new", &[]));
    assert!(
        typo.contains("scene.toml: line 11: unknown key motion.clip"),
        "{typo}"
    );
    assert!(!folder.join("new").exists());
    let only = error(folder, 2, &["dataset", "check", "ds", "--only", "bnd"]);
    assert!(only.contains("did you mean bend?"), "{only}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_nothing_can_be_written_to_is_named() {
    let folder = scene();
    // Not even by those who may write everywhere else.
    let told = error(folder.path(), 2, &simulate("/proc/ds", &[]));
    assert!(told.contains("/proc/ds"), "{told}");
    let output = drapery(folder.path(), &simulate("/proc/a/ds", &[]));
    assert_eq!(output.status.code(), Some(2));
}
