//! Datasets written and read back, whole and broken.

use std::fs;
use std::path::{Path, PathBuf};

use drapery_core::{
    Fabric, FrameRate, Garment, JointId, Panel, Pattern, Pose, ShapeParameter, Skeleton,
    SkinWeights, TriMesh, VertexGroup,
};
use glam::{Quat, Vec2, Vec3};
use serde_json::json;

use super::*;

/// A grid of cloth of `n` × `n` vertices.
fn grid(name: &str, n: u32) -> StoredGarment {
    let at = |i: u32| Vec3::new((i % n) as f32, (i / n) as f32, 0.1) * 0.01;
    let positions: Vec<Vec3> = (0..n * n).map(at).collect();
    let mut triangles = Vec::new();
    for (x, y) in (0..n - 1).flat_map(|y| (0..n - 1).map(move |x| (x, y))) {
        let a = y * n + x;
        triangles.push([a, a + 1, a + n]);
        triangles.push([a + 1, a + n + 1, a + n]);
    }
    let pattern = Pattern {
        coordinates: positions.iter().map(|p| Vec2::new(p.x, p.y)).collect(),
        triangles: triangles.clone(),
    };
    let panel = Panel {
        name: "all".into(),
        triangles: (0..triangles.len() as u32).collect(),
    };
    let pins = VertexGroup {
        name: "pin-top".into(),
        vertices: vec![0, 1],
    };
    let mesh = TriMesh::new(positions, triangles).unwrap();
    let garment = Garment::new(name.into(), mesh, Some(pattern), vec![panel], vec![pins]);
    StoredGarment {
        garment: garment.unwrap(),
        fabric: Fabric::plain("canvas", 0.2, 500.0, 1e-5),
        twin_of: None,
    }
}

fn body() -> StoredBody {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let joints = vec!["hips".to_string(), "chest".to_string()];
    let parents = vec![None, Some(JointId(0))];
    let rest = vec![Vec3::ZERO, Vec3::Y];
    let weights: Vec<Vec<(u16, f32)>> = (0..4)
        .map(|v| vec![(0, 0.3 + 0.1 * v as f32), (1, 0.7)])
        .collect();
    StoredBody {
        name: "tetra".into(),
        template: TriMesh::new(corners.to_vec(), triangles).unwrap(),
        skeleton: Skeleton::new(joints, parents, rest).unwrap(),
        skin: SkinWeights::new(2, 2, &weights).unwrap(),
        shape_parameters: vec![ShapeParameter {
            name: "height".into(),
            min: -2.0,
            max: 2.0,
        }],
        shape_directions: vec![vec![Vec3::Y * 0.1; 4]],
        joint_directions: vec![vec![Vec3::Y * 0.05; 2]],
        pose_directions: Vec::new(),
        welded_from_source: vec![0, 1, 2, 3, 3],
    }
}

fn head(n: u32, frames: u32) -> DatasetHead {
    let planned = |clip: &str, split| PlannedSequence {
        name: format!("{clip}@tall"),
        clip: clip.into(),
        parent: clip.into(),
        shape: 0,
        split,
        frames,
    };
    DatasetHead {
        frame_rate: FrameRate::THIRTY,
        body: body(),
        garments: vec![grid("shirt", 3), grid("coat", n)],
        manifest: Manifest {
            shapes: vec![BodyShape {
                name: "tall".into(),
                coefficients: vec![1.5],
            }],
            sequences: vec![planned("walk", Split::Train), planned("run", Split::Test)],
        },
        scene: "[character]\n".into(),
        settings: json!({ "frames": frames, "garment": [{ "n": n }] }),
    }
}

/// One frame: a wave that no two frames or vertices share.
struct Wave {
    pose: Pose,
    cloth: Vec<Vec3>,
    velocity: Vec<Vec3>,
    masked: Vec<bool>,
    flags: FrameBits,
}

fn wave(head: &DatasetHead, frame: u32) -> Wave {
    let t = frame as f32 / 30.0;
    let at = |v: usize| Vec3::new((t + v as f32).sin(), (0.3 * v as f32 - t).cos(), t);
    Wave {
        pose: Pose {
            root: Vec3::new(t, 1.0, -t),
            rotations: vec![Quat::from_rotation_x(t), Quat::from_rotation_z(2.0 * t)],
        },
        cloth: (0..head.n_vertices()).map(at).collect(),
        velocity: (0..head.n_vertices()).map(|v| at(v) * 3.0).collect(),
        masked: (0..head.n_vertices() as u32)
            .map(|v| v % 5 == frame % 7)
            .collect(),
        flags: FrameBits::default().with(FrameFlag::Retried, frame % 3 == 1),
    }
}

fn fill(store: &dyn DatasetStore, name: &str) {
    let head = store.head();
    let mut sink = store.append(name).unwrap();
    for frame in 0..head.manifest.get(name).unwrap().frames {
        sink.push(&wave(head, frame).record()).unwrap();
    }
    sink.finish(json!({ "penetration_max_mm": 0.25 })).unwrap();
}

impl Wave {
    fn record(&self) -> FrameRecord<'_> {
        FrameRecord {
            pose: &self.pose,
            cloth: &self.cloth,
            velocity: &self.velocity,
            masked: &self.masked,
            flags: self.flags,
        }
    }
}

/// All files below a folder with their bytes, by their paths.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => all.push((
                    path.strip_prefix(folder).unwrap().to_path_buf(),
                    fs::read(&path).unwrap(),
                )),
            }
        }
    }
    all.sort();
    all
}

#[test]
fn what_is_read_in_ranges_is_what_was_pushed_on_disk_and_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    // 2500 vertices: chunks of 17 frames, so that 40 are in three.
    let head = head(50, 40);
    let disk = DatasetFolder::create(&folder.path().join("ds"), head.clone()).unwrap();
    let memory = MemoryDataset::new(head.clone()).unwrap();
    let opened = {
        fill(&disk, "walk@tall");
        DatasetFolder::open(disk.root()).unwrap()
    };
    fill(&memory, "walk@tall");
    assert_eq!(opened.head(), &head);
    for store in [&opened as &dyn DatasetStore, &memory] {
        assert_eq!(store.state("walk@tall").unwrap(), SequenceState::Whole);
        assert_eq!(store.state("run@tall").unwrap(), SequenceState::Missing);
        let names = |split| store.split(split).unwrap().len();
        assert_eq!((names(Split::Train), names(Split::Test)), (1, 0));
        store.verify("walk@tall").unwrap();
        let sequence = store.sequence("walk@tall").unwrap();
        assert_eq!(sequence.report()["penetration_max_mm"], 0.25);
        assert_eq!(sequence.shape().coefficients, [1.5]);
        for frames in [0..40, 0..1, 16..18, 33..40, 39..40] {
            let waves: Vec<Wave> = frames.clone().map(|f| wave(&head, f)).collect();
            let of = |own: std::ops::Range<usize>, pick: fn(&Wave) -> &Vec<Vec3>| -> Vec<Vec3> {
                let rows = waves.iter();
                rows.flat_map(|w| pick(w)[own.clone()].to_vec()).collect()
            };
            let all = 9 + 2500;
            assert_eq!(
                sequence.cloth(0, frames.clone()).unwrap(),
                of(0..9, |w| &w.cloth)
            );
            assert_eq!(
                sequence.cloth(1, frames.clone()).unwrap(),
                of(9..all, |w| &w.cloth)
            );
            let speeds = sequence.velocity(1, frames.clone()).unwrap();
            assert_eq!(speeds, of(9..all, |w| &w.velocity));
            let masked = sequence.masked(1, frames.clone()).unwrap();
            let rows = waves.iter().flat_map(|w| w.masked[9..all].to_vec());
            assert!(masked.iter().copied().eq(rows));
            let poses = sequence.poses(frames.clone()).unwrap();
            assert!(poses.iter().eq(waves.iter().map(|w| &w.pose)));
            let flags = sequence.flags(frames).unwrap();
            assert!(flags.iter().eq(waves.iter().map(|w| &w.flags)));
        }
        for frames in [40..41, 3..3, 0..41] {
            let beyond = sequence.cloth(0, frames);
            assert!(matches!(beyond, Err(DatasetError::Frames { .. })));
        }
    }
}

#[test]
fn bytes_depend_on_neither_order_nor_threads_nor_a_run_that_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str| DatasetFolder::create(&folder.path().join(name), head(50, 40)).unwrap();
    let one = make("one");
    fill(&one, "walk@tall");
    fill(&one, "run@tall");
    let two = make("two");
    std::thread::scope(|scope| {
        scope.spawn(|| fill(&two, "run@tall"));
        scope.spawn(|| fill(&two, "walk@tall"));
    });
    assert!(files(one.root()) == files(two.root()));
    // As a killed run leaves it: hidden folders, and a sequence that failed.
    let three = make("three");
    let failure = SequenceFailure {
        frame: Some(7),
        why: "the cloth diverged".into(),
    };
    three.append("walk@tall").unwrap().fail(&failure).unwrap();
    assert_eq!(
        three.state("walk@tall").unwrap(),
        SequenceState::Failed(failure)
    );
    assert!(matches!(
        three.sequence("walk@tall"),
        Err(DatasetError::NotWhole { .. })
    ));
    fill(&three, "run@tall");
    let root = three.root().to_path_buf();
    drop(three);
    let hidden = root.join("sequences/.walk@tall.1.part/cloth/coat/c/0/0");
    fs::create_dir_all(&hidden).unwrap();
    fs::write(hidden.join("0"), b"half a").unwrap();
    let three = DatasetFolder::open_to_write(&root).unwrap();
    fill(&three, "walk@tall");
    assert!(files(one.root()) == files(three.root()));
}

#[test]
fn any_byte_that_changes_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("ds");
    let made = DatasetFolder::create(&root, head(4, 5)).unwrap();
    fill(&made, "walk@tall");
    fill(&made, "run@tall");
    drop(made);
    let check = || -> Result<(), DatasetError> {
        let dataset = DatasetFolder::open(&root)?;
        dataset.verify_head()?;
        dataset.verify("walk@tall")?;
        dataset.verify("run@tall")
    };
    check().unwrap();
    for (name, bytes) in files(&root) {
        let path = root.join(&name);
        // All of them would take minutes.
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 3) {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x10;
            fs::write(&path, wrong).unwrap();
            assert!(check().is_err(), "byte {at} of {}", name.display());
        }
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(check().is_err(), "half of {}", name.display());
        fs::remove_file(&path).unwrap();
        assert!(check().is_err(), "no {}", name.display());
        fs::write(&path, bytes).unwrap();
    }
    check().unwrap();
    fs::write(root.join("sequences/walk@tall/cloth/more"), b"x").unwrap();
    assert!(matches!(check(), Err(DatasetError::Files { .. })));
}

/// What trains reads frames, and no digests.
#[test]
fn frames_that_changed_are_not_read_as_others() {
    let folder = tempfile::tempdir().unwrap();
    // One chunk a file, and several.
    for (n, frames) in [(4, 5), (50, 40)] {
        let root = folder.path().join(format!("{n}"));
        let dataset = DatasetFolder::create(&root, head(n, frames)).unwrap();
        fill(&dataset, "walk@tall");
        let path = root.join("sequences/walk@tall/cloth/coat/c/0/0/0");
        let bytes = fs::read(&path).unwrap();
        let coat = |frame: u32| {
            let sequence = dataset.sequence("walk@tall")?;
            sequence.cloth(1, frame..frame + 1)
        };
        let right: Vec<_> = (0..frames).map(|frame| coat(frame).unwrap()).collect();
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 40) {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x10;
            fs::write(&path, wrong).unwrap();
            let mut found = false;
            for (frame, right) in (0..).zip(&right) {
                match coat(frame) {
                    Ok(read) => assert_eq!(read, *right, "byte {at}, frame {frame}"),
                    Err(error) => {
                        let said = error.to_string();
                        assert!(
                            said.contains("walk@tall/cloth/coat can't be read"),
                            "{said}"
                        );
                        found = true;
                    }
                }
            }
            assert!(found, "byte {at} of {n} x {n}");
        }
    }
}

#[test]
fn a_chunk_that_is_missing_is_no_zero() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("ds");
    let dataset = DatasetFolder::create(&root, head(4, 5)).unwrap();
    fill(&dataset, "walk@tall");
    let sequence = root.join("sequences/walk@tall");
    fs::remove_file(sequence.join("cloth/coat/c/0/0/0")).unwrap();
    fs::remove_file(sequence.join("flags/c/0")).unwrap();
    fs::remove_file(sequence.join("masked/coat/c/0/0")).unwrap();
    let reader = dataset.sequence("walk@tall").unwrap();
    let cloth = reader.cloth(1, 2..3);
    let missing = "cloth/coat".to_string();
    assert!(
        matches!(&cloth, Err(DatasetError::NotFinite { array, row: 2 }) if *array == missing),
        "{cloth:?}"
    );
    assert!(reader.flags(0..1).is_err());
    assert!(reader.masked(1, 0..1).is_err());
    assert!(reader.cloth(0, 2..3).is_ok());
}

/// Metadata of arrays is read before any digest is looked at.
#[test]
fn spoilt_metadata_of_an_array_is_an_error_or_the_same_array() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("ds");
    let dataset = DatasetFolder::create(&root, head(4, 5)).unwrap();
    fill(&dataset, "walk@tall");
    let path = root.join("sequences/walk@tall/cloth/coat/zarr.json");
    let metadata = fs::read(&path).unwrap();
    let whole = dataset
        .sequence("walk@tall")
        .unwrap()
        .cloth(1, 0..5)
        .unwrap();
    for at in 0..metadata.len() {
        for byte in *b"9}" {
            let mut spoilt = metadata.clone();
            spoilt[at] = byte;
            fs::write(&path, spoilt).unwrap();
            let read = dataset.sequence("walk@tall").and_then(|s| s.cloth(1, 0..5));
            assert!(read.is_err() || read.is_ok_and(|cloth| cloth == whole));
        }
    }
}

#[test]
fn bad_frames_are_refused_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = DatasetFolder::create(&folder.path().join("ds"), head(4, 3)).unwrap();
    let before = files(dataset.root());
    let head = dataset.head();
    type Spoil = fn(&mut Wave);
    let spoils: [(&str, Spoil); 6] = [
        ("a mask too short", |w| w.masked.truncate(5)),
        ("NaN in cloth", |w| w.cloth[3].y = f32::NAN),
        ("infinite speed", |w| w.velocity[0].x = f32::INFINITY),
        ("NaN in the root", |w| w.pose.root.z = f32::NAN),
        ("a vertex too few", |w| w.cloth.truncate(5)),
        ("a joint too many", |w| {
            w.pose.rotations.push(Quat::IDENTITY)
        }),
    ];
    for (what, spoil) in spoils {
        let mut sink = dataset.append("walk@tall").unwrap();
        sink.push(&wave(head, 0).record()).unwrap();
        let mut bad = wave(head, 1);
        spoil(&mut bad);
        let error = sink.push(&bad.record());
        let is_right = match what {
            w if w.starts_with("a ") => matches!(error, Err(DatasetError::Length { .. })),
            _ => matches!(error, Err(DatasetError::NotFinite { row: 1, .. })),
        };
        assert!(is_right, "{what}: {error:?}");
    }
    let mut short = dataset.append("walk@tall").unwrap();
    short.push(&wave(head, 0).record()).unwrap();
    assert!(matches!(
        short.finish(json!({})),
        Err(DatasetError::Length { .. })
    ));
    let mut long = dataset.append("walk@tall").unwrap();
    for frame in 0..3 {
        long.push(&wave(head, frame).record()).unwrap();
    }
    let fourth = long.push(&wave(head, 3).record());
    assert!(matches!(fourth, Err(DatasetError::Length { .. })));
    drop(long);
    assert!(files(dataset.root()) == before);
    let unknown = dataset.append("walk").err().unwrap();
    assert!(
        unknown.to_string().contains("did you mean walk@tall?"),
        "{unknown}"
    );
}

#[test]
fn what_is_no_dataset_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("ds");
    let open = || DatasetFolder::open(&root).err().unwrap();
    assert!(matches!(open(), DatasetError::NotADataset { .. }));
    fs::create_dir(&root).unwrap();
    assert!(matches!(open(), DatasetError::NotADataset { .. }));
    fs::write(root.join("zarr.json"), "{\"zarr_format\": 3").unwrap();
    assert!(matches!(open(), DatasetError::Json { .. }));
    fs::write(
        root.join("zarr.json"),
        "{\"zarr_format\": 3, \"node_type\": \"array\"}",
    )
    .unwrap();
    assert!(matches!(open(), DatasetError::Attribute { .. }));
    fs::write(
        root.join("zarr.json"),
        "{\"zarr_format\": 3, \"node_type\": \"group\"}",
    )
    .unwrap();
    assert!(matches!(open(), DatasetError::NotADataset { .. }));
    // Nobody's files are overwritten.
    let occupied = DatasetFolder::create(&root, head(4, 3));
    assert!(matches!(occupied, Err(DatasetError::Occupied { .. })));
    fs::remove_file(root.join("zarr.json")).unwrap();
    let dataset = DatasetFolder::create(&root, head(4, 3)).unwrap();
    let second = DatasetFolder::open_to_write(&root);
    assert!(matches!(second, Err(DatasetError::Busy { .. })));
    let reader = DatasetFolder::open(&root).unwrap();
    assert!(matches!(
        reader.append("walk@tall"),
        Err(DatasetError::ReadOnly { .. })
    ));
    // A later version is not guessed at.
    let text = fs::read_to_string(root.join("zarr.json")).unwrap();
    fs::write(
        root.join("zarr.json"),
        text.replace("\"version\": 1", "\"version\": 2"),
    )
    .unwrap();
    assert!(matches!(open(), DatasetError::Version { found: 2, .. }));
    drop(dataset);
}

#[test]
fn other_settings_are_named_and_splits_move() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("ds");
    let mut dataset = DatasetFolder::create(&root, head(4, 3)).unwrap();
    fill(&dataset, "walk@tall");
    let same = json!({ "frames": 3, "garment": [{ "n": 4 }] });
    dataset.head().check_settings(&same).unwrap();
    let other = json!({ "frames": 3, "garment": [{ "n": 5 }] });
    let differs = dataset
        .head()
        .check_settings(&other)
        .unwrap_err()
        .to_string();
    assert!(
        differs.contains("garment[0].n = 4, now it is 5"),
        "{differs}"
    );
    dataset.change_splits(|_| Split::Tune).unwrap();
    drop(dataset);
    let again = DatasetFolder::open(&root).unwrap();
    assert_eq!(again.split(Split::Tune).unwrap().len(), 1);
    again.verify("walk@tall").unwrap();
    again.verify_head().unwrap();
}

#[test]
fn twins_are_kept_and_are_of_a_garment_that_is_worn() {
    let folder = tempfile::tempdir().unwrap();
    let mut twins = head(4, 2);
    twins.garments[1].twin_of = Some("shirt".into());
    let made = DatasetFolder::create(&folder.path().join("ds"), twins.clone()).unwrap();
    let opened = DatasetFolder::open(made.root()).unwrap();
    assert_eq!(opened.head(), &twins);
    let worn: Vec<usize> = opened.head().worn().map(|(g, _)| g).collect();
    assert_eq!(worn, [0]);
    assert!(twins.check_same(&head(4, 2)).is_err());
    for of in ["coat", "hat"] {
        twins.garments[1].twin_of = Some(of.into());
        let wrong = twins.check();
        assert!(matches!(wrong, Err(DatasetError::Twin { .. })), "{of}");
    }
}

#[test]
fn settings_without_a_word_of_the_body_have_one() {
    let old = head(3, 2);
    let mut new = old.settings.clone();
    new["no_body"] = false.into();
    old.check_settings(&new).unwrap();
    new["no_body"] = true.into();
    let differs = old.check_settings(&new);
    assert!(
        matches!(&differs, Err(DatasetError::Differs { key, .. }) if key == "no_body"),
        "{differs:?}"
    );
}

#[test]
fn only_one_writes_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("ds");
    let first = DatasetFolder::create(&root, head(3, 2)).unwrap();
    let second = DatasetFolder::open_to_write(&root);
    assert!(
        matches!(second, Err(DatasetError::Busy { .. })),
        "{second:?}"
    );
    // Readers are welcome, and what the first one is at is left alone.
    let reader = DatasetFolder::open(&root).unwrap();
    let mut sink = first.append("walk@tall").unwrap();
    sink.push(&wave(first.head(), 0).record()).unwrap();
    assert!(DatasetFolder::open_to_write(&root).is_err());
    sink.push(&wave(first.head(), 1).record()).unwrap();
    sink.finish(json!({})).unwrap();
    assert_eq!(reader.state("walk@tall").unwrap(), SequenceState::Whole);
    drop(first);
    DatasetFolder::open_to_write(&root).unwrap();
}
