//! Scenes simulated into datasets, and measured again.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::Path;

use drapery::core::{BodyModel, PoseVelocity};
use drapery::scene::builtin;
use drapery::scene::scene_file::Scene;
use drapery::store::dataset::{DatasetFolder, DatasetStore, MemoryDataset, SequenceState};
use drapery::{Progress, Recorded, Recording, check_sequence, stored_body, stored_character};

const SCENE: &str = r#"
[character]
model = "tube"

[[garment]]
pattern = "sleeve"
name = "inner"
fabric = "silk-light"

[[garment]]
pattern = "sleeve"
name = "outer"

[motion]
clips = ["bend"]

[simulation]
steps_per_frame = 2
self_contact = false
dressing = 0.1
settling = 0.1
"#;

#[test]
fn an_outfit_is_stored_a_garment_at_a_time_and_measures_as_it_did() {
    let scene = Scene::parse(SCENE.to_string(), Path::new(".")).unwrap();
    let recording = Recording::new(scene, Some(3)).unwrap();
    let name = "bend@mean";
    let memory = MemoryDataset::new(recording.head().clone()).unwrap();
    let seen = std::sync::Mutex::new(Vec::new());
    let watch = |progress| {
        seen.lock().unwrap().push(progress);
        true
    };
    assert_eq!(
        recording.record(name, &memory, watch).unwrap(),
        Recorded::Whole
    );
    let frames = seen.into_inner().unwrap();
    let frames = frames.iter().filter(|p| matches!(p, Progress::Frame(_)));
    assert_eq!(frames.count(), 3);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ds");
    let made = DatasetFolder::create(&path, recording.head().clone()).unwrap();
    // Stopped half-way, nothing is there.
    let stop = |progress| !matches!(progress, Progress::Frame(f) if f.0 == 1);
    let stopped = recording.record(name, &made, stop).unwrap();
    assert_eq!(stopped, Recorded::Stopped);
    assert_eq!(made.state(name).unwrap(), SequenceState::Missing);
    assert_eq!(
        recording.record(name, &made, |_| true).unwrap(),
        Recorded::Whole
    );
    drop(made);
    let disk = DatasetFolder::open(&path).unwrap();
    let (a, b) = (memory.sequence(name).unwrap(), disk.sequence(name).unwrap());
    for garment in 0..2 {
        assert_eq!(
            a.cloth(garment, 0..3).unwrap(),
            b.cloth(garment, 0..3).unwrap()
        );
        assert_eq!(
            a.velocity(garment, 0..3).unwrap(),
            b.velocity(garment, 0..3).unwrap()
        );
    }
    assert_eq!(a.poses(0..3).unwrap(), b.poses(0..3).unwrap());
    assert_eq!(a.report(), b.report());
    // A step takes the cloth on by its velocity at the end of it.
    let [before, after] = [1, 2].map(|f| b.cloth(1, f..f + 1).unwrap());
    let speeds = b.velocity(1, 2..3).unwrap();
    let way = |v: usize| after[v].distance(before[v]);
    let fastest = (0..after.len())
        .max_by(|x, y| way(*x).total_cmp(&way(*y)))
        .unwrap();
    let mean = (after[fastest] - before[fastest]) * 30.0;
    assert!(
        speeds[fastest].distance(mean) < 0.5 * mean.length(),
        "{mean} {}",
        speeds[fastest]
    );

    // Measured from what is stored, by the character that is stored.
    let character = stored_character(&disk.head().body).unwrap();
    let check = check_sequence(&character, disk.head(), &*b, |_| true)
        .unwrap()
        .unwrap();
    for (garment, told) in check
        .garments
        .iter()
        .zip(b.report()["garments"].as_array().unwrap())
    {
        let number = |key: &str| told[key].as_f64().unwrap();
        assert_eq!(garment.penetration_max_mm, number("penetration_max_mm"));
        assert_eq!(garment.stretch_p99_percent, number("stretch_p99_percent"));
        assert_eq!(f64::from(garment.speed_max), number("speed_max"));
        assert_eq!(garment.masked_percent, number("masked_percent"));
    }
    assert_eq!(check.mask_differs, 0);
    assert!(
        check_sequence(&character, disk.head(), &*b, |f| f < 1)
            .unwrap()
            .is_none()
    );
}

#[test]
fn what_begins_alike_is_simulated_once_and_is_the_same_as_alone() {
    let text = r#"
character = { model = "tube" }
garment = [{ pattern = "sleeve" }]
motion = { clips = ["bend"], stops = 5, stop_hold = 0.2, mirror = true }
simulation = { steps_per_frame = 1, self_contact = false, dressing = 0.1, settling = 0.1 }
"#;
    let scene = Scene::parse(text.to_string(), Path::new(".")).unwrap();
    let recording = Recording::new(scene, Some(18)).unwrap();
    let planned: Vec<_> = recording.head().manifest.sequences.iter().collect();
    let groups = recording.groups(&planned);
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    assert_eq!(sizes, [6, 1], "the mirrored one begins otherwise");
    // The clip itself, what stops in frame 15, and what stops beyond the last.
    let group = &groups[0][..3];

    let new = || MemoryDataset::new(recording.head().clone()).unwrap();
    let alone = new();
    for planned in group {
        let became = recording.record(&planned.name, &alone, |_| true).unwrap();
        assert_eq!(became, Recorded::Whole);
    }
    let names: Vec<&str> = group.iter().map(|s| s.name.as_str()).collect();
    // All of them, and the copies alone as when the clip itself is there already.
    for names in [&names[..], &names[1..]] {
        let together = new();
        let shared = std::sync::Mutex::new(0);
        let watch = |_: &str, progress: Progress| {
            *shared.lock().unwrap() += u32::from(matches!(progress, Progress::Shared(_)));
            true
        };
        let mut ended = Vec::new();
        recording
            .record_all(names, &together, &watch, &mut |name, became| {
                ended.push((name.to_string(), became));
            })
            .unwrap();
        assert!(*shared.lock().unwrap() > 5, "frames are shared");
        assert_eq!(ended.len(), names.len());
        assert!(ended.iter().all(|(_, became)| *became == Recorded::Whole));
        for name in names {
            let [a, b] = [&alone, &together].map(|set| set.sequence(name).unwrap());
            let n = b.plan().frames;
            let cloth = [&a, &b].map(|s| s.cloth(0, 0..n).unwrap());
            assert_eq!(cloth[0], cloth[1], "{name}");
            let speeds = [&a, &b].map(|s| s.velocity(0, 0..n).unwrap());
            assert_eq!(speeds[0], speeds[1], "{name}");
            assert_eq!(a.poses(0..n).unwrap(), b.poses(0..n).unwrap());
            assert_eq!(a.report(), b.report(), "{name}");
        }
    }

    // Stopped on the way of a copy, what was not done is not there.
    let stopped = new();
    let stop = |name: &str, progress: Progress| {
        name != names[1] || !matches!(progress, Progress::Frame(_))
    };
    let mut n_ended = 0;
    recording
        .record_all(&names, &stopped, &stop, &mut |_, _| n_ended += 1)
        .unwrap();
    assert_eq!(n_ended, 0);
    for name in &names {
        assert_eq!(stopped.state(name).unwrap(), SequenceState::Missing);
    }
}

#[test]
fn a_stored_character_is_the_same_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let scene = SCENE.replace("\"tube\"", "\"mannequin\"");
    let scene = scene.replace("\"sleeve\"", "\"skirt\"\ntriangles = 300");
    let scene = scene.replace("\"bend\"", "\"walk\"");
    let recording = Recording::new(Scene::parse(scene, Path::new(".")).unwrap(), Some(1)).unwrap();
    let path = folder.path().join("ds");
    drop(DatasetFolder::create(&path, recording.head().clone()).unwrap());
    let dataset = DatasetFolder::open(&path).unwrap();
    assert_eq!(dataset.head(), recording.head());
    let original = builtin::character("mannequin").unwrap();
    let stored = stored_character(&dataset.head().body).unwrap();
    assert_eq!(stored_body(&stored), stored_body(&original));
    let shape: Vec<f32> = (0..original.shape_parameters().len())
        .map(|k| 0.3 * k as f32 - 1.0)
        .collect();
    let clip = builtin::clip("walk").unwrap();
    let still = PoseVelocity::zero(clip.skeleton().len());
    let pose = |model: &dyn BodyModel| {
        let body = model.shaped(&shape).unwrap();
        let mut posed = model.room();
        model
            .pose(&body, &clip.frames()[11], &still, &mut posed)
            .unwrap();
        posed.vertices
    };
    assert_eq!(pose(&original), pose(&stored));
}

/// The same motion with a twin and without, and with the twin alone.
#[test]
fn a_twin_is_simulated_as_if_it_were_alone() {
    let outfit = |garments: &[&str]| {
        let body = &SCENE[SCENE.find("[motion]").unwrap()..];
        let text = format!("character.model = \"tube\"\n{}{body}", garments.concat());
        let scene = Scene::parse(text, Path::new(".")).unwrap();
        let recording = Recording::new(scene, Some(3)).unwrap();
        let memory = MemoryDataset::new(recording.head().clone()).unwrap();
        let whole = recording.record("bend@mean", &memory, |_| true).unwrap();
        assert_eq!(whole, Recorded::Whole);
        memory
    };
    let fine = "[[garment]]\npattern = \"sleeve\"\nfabric = \"silk-light\"\n";
    let coarse = "[[garment]]\npattern = \"sleeve\"\nname = \"coarse\"\n";
    let both = outfit(&[fine, coarse, "twin_of = \"sleeve\"\n"]);
    let (fine, coarse) = (outfit(&[fine]), outfit(&[coarse]));
    let taken = |store: &MemoryDataset, garment| {
        let sequence = store.sequence("bend@mean").unwrap();
        let cloth = sequence.cloth(garment, 0..3).unwrap();
        (cloth, sequence.velocity(garment, 0..3).unwrap())
    };
    assert!(taken(&both, 0) == taken(&fine, 0));
    assert!(taken(&both, 1) == taken(&coarse, 0));
    assert!(taken(&both, 0) != taken(&both, 1));
    let report = |store: &MemoryDataset| store.sequence("bend@mean").unwrap().report().clone();
    let twins = report(&both)["twins"].clone();
    assert_eq!(twins.as_array().unwrap().len(), 1);
    assert_eq!(twins[0]["steps"], report(&coarse)["steps"]);
    assert_eq!(twins[0]["dressing"], report(&coarse)["dressing"]);
    assert_eq!(report(&both)["steps"], report(&fine)["steps"]);
    // They lie on one another and pass through, which is nobody's fault.
    let worn = &report(&both)["garments"];
    assert_eq!(worn[0]["layer_crossing_frames"], 0);
    assert_eq!(worn[1]["layer_crossing_frames"], 0);
}
