//! `drapery dataset import`, by the real binary.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::fs;

use common::ring::{files, scene, simulate};
use common::{data, drapery, error, out};
use drapery::store::dataset::{DatasetFolder, DatasetStore};

/// What the round trips and bad inputs begin with: a dataset, and a sequence of
/// it in every format.
fn exported() -> tempfile::TempDir {
    let folder = scene();
    let at = folder.path();
    out(at, 0, &simulate("ds", &["--only", "bend@girth=0.5"]));
    for name in ["a.pc2", "a.mdd", "a.npz", "a.obj"] {
        let plan = ["dataset", "export", "ds", "bend@girth=0.5", "--out", name];
        out(at, 0, &plan);
    }
    folder
}

const IMPORT: [&str; 13] = [
    "--json",
    "dataset",
    "import",
    "-c",
    "tube",
    "-g",
    "ring.obj",
    "--fabric",
    "denim",
    "--motion-frames",
    "0..3",
    "--shape",
    "girth=0.5",
];

fn import<'a>(more: &[&'a str]) -> Vec<&'a str> {
    IMPORT.iter().chain(more).copied().collect()
}

#[test]
fn what_was_exported_imports_to_the_same_positions() {
    let folder = exported();
    let folder = folder.path();
    let from = DatasetFolder::open(&folder.join("ds")).unwrap();
    let sequence = from.sequence("bend@girth=0.5").unwrap();
    let (cloth, poses) = (
        sequence.cloth(0, 0..3).unwrap(),
        sequence.poses(0..3).unwrap(),
    );
    for (clip, file) in [("p", "a.pc2"), ("m", "a.mdd"), ("o", "a_*.obj")] {
        let more = ["-m", "bend", "--cloth", file, "--clip", clip, "--out", "in"];
        let done = data(&out(folder, 0, &import(&more)), "import");
        assert_eq!(done[0]["frames"], 3);
        assert_eq!(done[0]["was_there"], false);
        let digests = &done[0]["source"]["cloth"][0]["sha256"];
        let n_files = if clip == "o" { 3 } else { 1 };
        assert_eq!(digests.as_array().unwrap().len(), n_files);
        assert_eq!(digests[0].as_str().unwrap().len(), 64);
        // A second time there is nothing to do.
        let again = data(&out(folder, 0, &import(&more)), "import");
        assert_eq!(again[0]["was_there"], true);
    }
    // With poses and shape of its own.
    let own: Vec<&str> = IMPORT[..9].to_vec();
    let more = ["--cloth", "a.npz", "--clip", "n", "--split", "test"];
    let more = [&own[..], &more[..], &["--out", "in"]].concat();
    out(folder, 0, &more);
    let made = DatasetFolder::open(&folder.join("in")).unwrap();
    for clip in ["p", "m", "o", "n"] {
        let found = made.sequence(&format!("{clip}@girth=0.5")).unwrap();
        let positions = found.cloth(0, 0..3).unwrap();
        let worst = positions.iter().zip(&cloth);
        let worst = worst.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        // All keep single precision; the text of OBJ too.
        assert_eq!(worst, 0.0, "{clip}");
        // Velocities are of second order: at the middle frame, central differences.
        let velocity = found.velocity(0, 1..2).unwrap();
        let (first, last) = (&cloth[..32], &cloth[64..]);
        for (v, (a, b)) in velocity.iter().zip(first.iter().zip(last)) {
            assert!(v.distance(15.0 * (*b - *a)) < 1e-4, "{v} {a} {b}");
        }
    }
    let archived = made.sequence("n@girth=0.5").unwrap();
    assert_eq!(archived.poses(0..3).unwrap(), poses);
    assert_eq!(archived.plan().split.name(), "test");
    let checked = out(folder, 0, &["--json", "dataset", "check", "in"]);
    assert_eq!(data(&checked, "sequence").len(), 4);
    // A dataset that was simulated takes sequences too, and goes on afterwards.
    let more = [
        "-m", "bend", "--cloth", "a.pc2", "--clip", "p", "--out", "ds",
    ];
    out(folder, 0, &import(&more));
    out(folder, 0, &simulate("ds", &["--only", "bend@mean"]));
    let only = ["dataset", "check", "ds", "--only", "p"];
    out(folder, 0, &only);
}

#[test]
fn other_units_and_axes_come_out_in_metres() {
    let folder = exported();
    let folder = folder.path();
    let bytes = fs::read(folder.join("a.pc2")).unwrap();
    let cache = drapery::store::pc2::Pc2Reader::new(&bytes).unwrap();
    let mut writer = drapery::store::pc2::Pc2Writer::new(Vec::new(), 32, 3).unwrap();
    for sample in 0..3 {
        let points = cache.sample(sample).unwrap();
        let turned = points
            .iter()
            .map(|p| 100.0 * glam::Vec3::new(p.x, -p.z, p.y));
        writer.push(&turned.collect::<Vec<_>>()).unwrap();
    }
    fs::write(folder.join("z.pc2"), writer.finish().unwrap()).unwrap();
    let more = |options: &[&'static str]| {
        let cloth = ["-m", "bend", "--cloth", "z.pc2", "--out", "in"];
        import(&[&cloth[..], options].concat())
    };
    let told = error(folder, 2, &more(&["--up", "z"]));
    assert!(told.contains("likely --unit cm"), "{told}");
    let told = error(folder, 2, &more(&["--unit", "cm"]));
    assert!(told.contains("likely --up z"), "{told}");
    assert!(!folder.join("in").exists());
    out(folder, 0, &more(&["--unit", "cm", "--up", "z"]));
    let made = DatasetFolder::open(&folder.join("in")).unwrap();
    let found = made.sequence("bend@girth=0.5").unwrap();
    let positions = found.cloth(0, 1..2).unwrap();
    for (a, b) in positions.iter().zip(cache.sample(1).unwrap()) {
        assert!(a.distance(b) < 1e-6, "{a} {b}");
    }
}

#[test]
fn bad_imports_are_named_and_leave_nothing() {
    let folder = exported();
    let folder = folder.path();
    let pc2 = fs::read(folder.join("a.pc2")).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    let mut nan = pc2.clone();
    let at = 32 + 12 * 32 + 12 * 7;
    nan[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    write("nan.pc2", &nan);
    write("short.pc2", &pc2[..pc2.len() - 1]);
    let mut half = pc2.clone();
    half[24..28].copy_from_slice(&0.5f32.to_le_bytes());
    write("half.pc2", &half);
    let mdd = fs::read(folder.join("a.mdd")).unwrap();
    let mut slow = mdd.clone();
    for (k, time) in [0.0f32, 0.04, 0.08].into_iter().enumerate() {
        slow[8 + 4 * k..12 + 4 * k].copy_from_slice(&time.to_be_bytes());
    }
    write("slow.mdd", &slow);
    let mut uneven = mdd;
    uneven[12..16].copy_from_slice(&0.06f32.to_be_bytes());
    write("uneven.mdd", &uneven);
    fs::create_dir(folder.join("row")).unwrap();
    for k in [0, 1] {
        let name = format!("a_000{k}.obj");
        fs::copy(folder.join(&name), folder.join("row").join(&name)).unwrap();
    }
    let last = fs::read_to_string(folder.join("a_0002.obj")).unwrap();
    write("row/a_0002.obj", format!("v 0 0 0\n{last}").as_bytes());
    fs::create_dir(folder.join("gap")).unwrap();
    for k in [0, 2] {
        let name = format!("a_000{k}.obj");
        fs::copy(folder.join(&name), folder.join("gap").join(&name)).unwrap();
    }
    fs::create_dir(folder.join("none")).unwrap();
    let cases: [(&str, &[&str], &[&str]); 12] = [
        ("nan.pc2", &[], &["frame 1: vertex 7", "nan.pc2"]),
        ("short.pc2", &[], &["1152 bytes, but 1151", "short.pc2"]),
        ("half.pc2", &[], &["half.pc2", "every 0.5 frames"]),
        ("slow.mdd", &[], &["slow.mdd has 25", "bend has 30"]),
        ("uneven.mdd", &[], &["frame 1 is at 0.0600 s", "uneven.mdd"]),
        (
            "row",
            &[],
            &["frame 2 has 33 vertices, expected 32", "a_0002.obj"],
        ),
        ("gap", &[], &["frame 2 follows frame 0", "a_0002.obj"]),
        ("none", &[], &["no frame in none"]),
        ("no.pc2", &[], &["cannot read no.pc2"]),
        ("ring.abc", &[], &[".pc2, .mdd, .npz", "ring.abc"]),
        (
            "a.pc2",
            &["--cloth-frames", "0..2"],
            &["a.pc2 has 2 frames", "bend has 3"],
        ),
        (
            "a.pc2",
            &["--frame-rate", "24"],
            &["bend has 30", "--frame-rate has 24"],
        ),
    ];
    for (cloth, options, words) in cases {
        let more = ["-m", "bend", "--cloth", cloth, "--out", "in"];
        let told = error(folder, 2, &import(&[&more[..], options].concat()));
        for word in words {
            assert!(told.contains(word), "{cloth}: {word:?} is not in {told}");
        }
        assert!(!folder.join("in").exists(), "{cloth}");
    }
    // Another garment, character or file under one name.
    let good = ["-m", "bend", "--cloth", "a.pc2", "--out", "in"];
    out(folder, 0, &import(&good));
    let before = files(&folder.join("in"));
    let told = error(
        folder,
        2,
        &import(&["-m", "bend", "--cloth", "a.mdd", "--out", "in"]),
    );
    assert!(told.contains("is there already"), "{told}");
    let silk: Vec<&str> = import(&good);
    let silk: Vec<&str> = silk
        .into_iter()
        .map(|w| if w == "denim" { "silk-light" } else { w })
        .collect();
    let told = error(folder, 2, &silk);
    assert!(
        told.contains("garments") && told.contains("denim"),
        "{told}"
    );
    let other = [
        "--split",
        "test",
        "--cloth-frames",
        "0..2",
        "--motion-frames",
        "0..2",
    ];
    let plan = [
        "dataset", "import", "-c", "tube", "-g", "ring.obj", "--fabric", "denim", "-m", "bend",
    ];
    let cloth = ["--cloth", "a.mdd", "--out", "in"];
    let told = error(folder, 2, &[&plan[..], &cloth[..], &other[..]].concat());
    assert!(told.contains("copies of clip bend"), "{told}");
    let plan: Vec<&str> = import(&[
        "-m", "bend", "--cloth", "a.npz", "--out", "in", "--clip", "b",
    ]);
    let plan: Vec<&str> = plan
        .into_iter()
        .map(|w| if w == "ring.obj" { "sleeve" } else { w })
        .collect();
    let told = error(folder, 2, &plan);
    assert!(
        told.contains("cloth/sleeve") || told.contains("vertices"),
        "{told}"
    );
    assert!(files(&folder.join("in")) == before);
}

#[test]
fn a_skeleton_and_the_weights_of_the_garment_are_enough() {
    use drapery::store::npz::{NpyArray, write_npz};
    let folder = exported();
    let folder = folder.path();
    let dataset = DatasetFolder::open(&folder.join("ds")).unwrap();
    let skeleton = &dataset.head().body.skeleton;
    let n = skeleton.len();
    let joints = skeleton.rest().iter().flat_map(|p| p.to_array()).collect();
    let parents = skeleton.parents().iter();
    let parents = parents.map(|p| p.map_or(-1, |j| i64::from(j.0)));
    let table = parents.chain(0..n as i64).collect();
    // All of the ring follows the first joint.
    let follows = |k: usize| if k.is_multiple_of(n) { 1.0 } else { 0.0 };
    let arrays = [
        ("J", NpyArray::f32([n, 3], joints)),
        ("kintree_table", NpyArray::i64([2, n], table)),
        (
            "weights",
            NpyArray::f32([32, n], (0..32 * n).map(follows).collect()),
        ),
        (
            "joint_names",
            NpyArray::from_text([n], skeleton.names().to_vec()),
        ),
    ];
    let named: Vec<(&str, &NpyArray)> = arrays.iter().map(|(n, a)| (*n, a)).collect();
    fs::write(folder.join("rig.npz"), write_npz(&named).unwrap()).unwrap();
    let plan = [
        "dataset",
        "import",
        "--no-body",
        "-c",
        "rig.npz",
        "-g",
        "ring.obj",
        "-m",
        "bend",
    ];
    let cloth = [
        "--motion-frames",
        "0..3",
        "--cloth",
        "a.pc2",
        "--out",
        "in",
        "--json",
    ];
    let plan = [&plan[..], &cloth[..]].concat();
    let output = drapery(folder, &plan);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("there is no body"), "{told}");
    let checked = out(folder, 0, &["--json", "dataset", "check", "in"]);
    let rows = data(&checked, "sequence");
    assert!(rows[0]["penetration_max_mm"].is_null(), "{}", rows[0]);
    assert!(rows[0]["stretch_p99_percent"].is_number(), "{}", rows[0]);
    // Weights of another mesh, weights that don't sum to one, and none.
    for (weights, word) in [
        (Some(NpyArray::f32([31, n], vec![0.0; 31 * n])), "[31, "),
        (Some(NpyArray::f32([32, n], vec![0.5; 32 * n])), "vertex 0"),
        (None, "no array weights"),
    ] {
        let mut named: Vec<(&str, &NpyArray)> = arrays.iter().map(|(n, a)| (*n, a)).collect();
        named.retain(|(name, _)| *name != "weights");
        named.extend(weights.as_ref().map(|w| ("weights", w)));
        fs::write(folder.join("rig.npz"), write_npz(&named).unwrap()).unwrap();
        let told = error(folder, 2, &plan);
        assert!(told.contains(word) && told.contains("rig.npz"), "{told}");
    }
    // A body is another character.
    let more = [
        "-m", "bend", "--cloth", "a.pc2", "--out", "in", "--clip", "b",
    ];
    let told = error(folder, 2, &import(&more));
    assert!(told.contains("character"), "{told}");
}

#[test]
fn the_example_of_the_help_works() {
    let folder = tempfile::tempdir().unwrap();
    let help = out(folder.path(), 0, &["dataset", "import", "--help"]);
    let lines = help
        .lines()
        .filter_map(|l| l.trim().strip_prefix("drapery "));
    let mut n_run = 0;
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        out(folder.path(), 0, &words);
        n_run += 1;
    }
    assert_eq!(n_run, 3, "{help}");
    // Skinning is exact here: its scales have an end all the same.
    let plan = "eval --dataset imported --split train --report exact.html";
    out(folder.path(), 0, &plan.split(' ').collect::<Vec<_>>());
    assert!(folder.path().join("exact.html").is_file());
}
