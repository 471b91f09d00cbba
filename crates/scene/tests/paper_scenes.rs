//! The scenes under `assets/scenes/` are the data sets that the papers describe.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may unwrap, and say that they were skipped"
)]

use std::path::{Path, PathBuf};

use drapery_scene::builtin::{SCENES, scene};
use drapery_scene::scene_file::{Copy, FabricEntry, Scene, SceneError, SceneFile};
use drapery_store::dataset::Split;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/scenes")
}

/// The scene files by their names, in order.
fn files() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            assert_eq!(path.extension().unwrap(), "toml", "{}", path.display());
            let name = path.file_stem().unwrap().to_str().unwrap().to_string();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    all.sort();
    all
}

/// What follows `[motion]`.
fn motion_of(text: &str) -> &str {
    &text[text.find("[motion]").unwrap()..]
}

/// A scene with all that it names, but garments as coarse as can be: what
/// they are cut into takes long, and is not looked at here.
fn coarse(text: &str) -> Scene {
    let lines = text.lines().map(|line| match line.split_once(" = ") {
        Some(("triangles", _)) => "triangles = 300",
        _ => line,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    Scene::parse(text, &folder()).unwrap()
}

fn triangles(file: &SceneFile, garment: usize) -> u32 {
    file.garments[garment].triangles.as_ref().unwrap().value as u32
}

/// Clips of a split, sequences and frames, of one body shape without copies.
fn own(scene: &Scene, split: Split) -> (usize, u32) {
    let plan = scene.plan(None).unwrap();
    let own = plan
        .iter()
        .filter(|p| p.copy == Copy::Own && p.shape == 0 && scene.clip(p.clip).1 == split);
    (own.clone().count(), own.map(|p| p.n_frames).sum())
}

#[test]
fn every_scene_is_built_in_but_those_on_captured_motions() {
    let files = files();
    let mut built_in: Vec<&str> = SCENES.to_vec();
    built_in.sort_unstable();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let on_files: Vec<&str> = (names.iter().copied())
        .filter(|name| name.ends_with("-mocap"))
        .collect();
    assert_eq!(on_files, ["stable-spaces-dress-mocap", "try-on-mocap"]);
    let others: Vec<&str> = (names.iter().copied())
        .filter(|name| !name.ends_with("-mocap"))
        .collect();
    assert_eq!(others, built_in);
    for (name, text) in &files {
        let file = SceneFile::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        // 3.33 ms, as all that is compared with it.
        assert_eq!(file.motion.frame_rate.hz(), 30.0, "{name}");
        assert_eq!(file.simulation.steps_per_frame, Some(10), "{name}");
        if let Some(text) = scene(name) {
            // No file is needed.
            let texts = file.motion.clips.iter().map(|clip| &clip.motion.value);
            assert!(texts.clone().all(|m| !m.contains('.')), "{name}");
            // The others are loaded where they are counted.
            if name.starts_with("stable-spaces") {
                assert!(coarse(text).inputs.is_empty());
            }
            assert_eq!(
                text,
                std::fs::read_to_string(folder().join(name).with_extension("toml")).unwrap()
            );
        }
    }
    let typo = Scene::named(Path::new("stable-space-dress"));
    let Err(SceneError::NoSuchScene { nearest, .. }) = typo else {
        panic!("{typo:?}");
    };
    assert_eq!(nearest.as_deref(), Some("stable-spaces-dress"));
}

#[test]
fn stable_spaces_has_33_clips_that_train_and_15_to_test_on() {
    // Table 1, where skirt 1 and 2 are one geometry.
    let table = [
        ("dress", 1456, -1.0),
        ("dress-6664", 6664, -1.0),
        ("dress-10172", 10172, -1.0),
        ("dress-40688", 40688, -1.0),
        ("skirt-1", 1572, -1.0),
        ("skirt-2", 1572, -1.0),
        ("long-skirt", 1456, -1.0),
        ("oscar-dress", 1582, -1.0),
        ("cape", 4296, 1.0),
        ("shirt", 6468, 1.0),
        ("trousers", 1074, 1.0),
        ("poncho", 4692, 1.0),
    ];
    let dress = scene("stable-spaces-dress").unwrap();
    for (name, n_triangles, male) in table {
        let text = scene(&format!("stable-spaces-{name}")).unwrap();
        assert_eq!(motion_of(text), motion_of(dress), "{name}");
        let file = SceneFile::parse(text).unwrap();
        assert_eq!(triangles(&file, 0), n_triangles, "{name}");
        let shape = vec![("male".to_string(), male)];
        assert_eq!(file.character.made_for.value, shape);
        assert_eq!(file.character.shapes.len(), 1);
        assert_eq!(file.character.shapes[0].value, shape);
    }
    let skirts = ["1", "2"].map(|n| {
        let file = SceneFile::parse(scene(&format!("stable-spaces-skirt-{n}")).unwrap()).unwrap();
        match file.garments[0].fabric.clone().unwrap() {
            FabricEntry::Given(fabric) => *fabric,
            FabricEntry::Named(name) => panic!("{name:?}"),
        }
    });
    let [one, mut two] = skirts;
    assert!(one.damping > 2.0 * two.damping && one.thickness > 2.0 * two.thickness);
    (two.damping, two.thickness) = (one.damping, one.thickness);
    two.name.clone_from(&one.name);
    assert_eq!(one, two);

    let scene = coarse(dress);
    let (n_clips, n_frames) = own(&scene, Split::Train);
    assert_eq!(n_clips, 33);
    // 6,609 in the paper.
    assert!((6500..6700).contains(&n_frames), "{n_frames}");
    let plan = scene.plan(None).unwrap();
    let stops = plan.iter().filter(|p| matches!(p.copy, Copy::Stop { .. }));
    assert_eq!(stops.count(), 5 * 33);
    let of = |start: &str| {
        let own = plan.iter().filter(|p| p.name.starts_with(start));
        let frames: Vec<u32> = own
            .inspect(|p| assert_ne!(scene.clip(p.clip).1, Split::Train))
            .map(|p| p.n_frames)
            .collect();
        (
            frames.len(),
            frames.iter().sum::<u32>(),
            frames.into_iter().max(),
        )
    };
    let (n_test, n_frames, longest) = of("test-");
    assert_eq!(n_test, 15);
    // 9,881 in the paper, 45 s the longest.
    assert!((9700..10_100).contains(&n_frames), "{n_frames}");
    assert!(longest.unwrap() <= 45 * 30);
    assert_eq!((of("extra-walk").0, of("unseen-").0), (2, 4));
}

#[test]
fn try_on_has_17_bodies_of_about_2000_frames() {
    for name in ["try-on", "try-on-mocap"] {
        let text = std::fs::read_to_string(folder().join(name).with_extension("toml")).unwrap();
        let file = SceneFile::parse(&text).unwrap();
        let shapes = &file.character.shapes;
        assert_eq!((shapes.len(), shapes[0].value.len()), (17, 0));
        let mut parameters: Vec<&str> = shapes[1..]
            .iter()
            .map(|shape| match &shape.value[..] {
                [(parameter, _)] => parameter.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        parameters.dedup();
        assert_eq!(parameters.len(), 4);
        assert_eq!(triangles(&file, 0), 8710);
    }
    let scene = coarse(scene("try-on").unwrap());
    assert_eq!(scene.garments[0].fabric.name, "interlock-60-40");
    let (_, n_frames) = own(&scene, Split::Train);
    assert!((1900..2300).contains(&n_frames), "{n_frames}");
    assert_eq!(own(&scene, Split::Test).0, 2);
    let plan = scene.plan(Some(1)).unwrap();
    assert_eq!(plan.len(), 17 * scene.n_clips());
}

#[test]
fn adaptive_bases_trains_on_seven_calisthenics_and_not_on_yo_and_gym() {
    let text = scene("adaptive-bases-sweater").unwrap();
    assert_eq!(triangles(&SceneFile::parse(text).unwrap(), 0), 58_660);
    let sweater = &coarse(text);
    let (n_clips, _) = own(sweater, Split::Train);
    assert_eq!(n_clips, 7);
    let plan = sweater.plan(None).unwrap();
    let of = |split| plan.iter().filter(move |p| sweater.clip(p.clip).1 == split);
    // 8,357 in the paper's table, "around 10,000" in its text.
    let n_frames: u32 = of(Split::Train).map(|p| p.n_frames).sum();
    assert!((8000..10_000).contains(&n_frames), "{n_frames}");
    let test: Vec<&str> = of(Split::Test).map(|p| p.name.as_str()).collect();
    assert_eq!(test, ["yo", "gym"]);
    let trousers = coarse(scene("adaptive-bases-trousers").unwrap());
    assert_eq!(trousers.clip(0), ("legs-bend", Split::Train));
    let sleeve = coarse(scene("adaptive-bases-sleeve").unwrap());
    assert_eq!(sleeve.character.name(), "tube");
    let clips = [sleeve.clip(0), sleeve.clip(1)];
    assert_eq!(clips, [("bend", Split::Train), ("sway", Split::Test)]);
}

#[test]
fn deformation_transformer_has_fine_garments_with_coarse_twins() {
    // Table 1: triangles, those of the twin, and motions with their frames.
    let table = [
        (
            "skirt-1",
            [38_502, 200],
            vec![("dance-1", 721), ("jump", 374)],
        ),
        ("skirt-2", [25_693, 180], vec![("dance-2", 272)]),
        (
            "dress",
            [27_402, 220],
            vec![("dance-3", 724), ("walk", 286)],
        ),
        ("t-shirt", [25_726, 322], vec![("dance-1", 721)]),
    ];
    for (name, n_triangles, pairs) in table {
        let text = scene(&format!("deformation-transformer-{name}")).unwrap();
        let file = SceneFile::parse(text).unwrap();
        assert_eq!([0, 1].map(|g| triangles(&file, g)), n_triangles);
        let scene = coarse(text);
        assert_eq!(scene.garments.len(), 2);
        assert_eq!(scene.garments[0].twin_of, None);
        let of = scene.garments[1].twin_of.as_deref();
        assert_eq!(of, Some(scene.garments[0].garment.name()));
        let plan = scene.plan(None).unwrap();
        for (motion, n_frames) in pairs {
            let clip = plan.iter().find(|p| p.name == motion).unwrap();
            assert_eq!(scene.clip(clip.clip).1, Split::Train);
            let ratio = f64::from(clip.n_frames) / f64::from(n_frames);
            assert!((0.75..1.25).contains(&ratio), "{motion}: {ratio}");
        }
        // A dance of the same style is held out.
        let test: Vec<&str> = (plan.iter())
            .filter(|p| scene.clip(p.clip).1 == Split::Test)
            .map(|p| p.name.as_str())
            .collect();
        assert!(test.len() == 1 && test[0].ends_with("-other"), "{test:?}");
    }
    // One of them in three fabrics, with one twin.
    let damping = ["skirt-1-responsive", "skirt-1", "skirt-1-damped"].map(|name| {
        let text = scene(&format!("deformation-transformer-{name}")).unwrap();
        let scene = coarse(text);
        assert_eq!(scene.garments[1].fabric.name, "cotton-plain");
        scene.garments[0].fabric.damping
    });
    assert!(damping.is_sorted_by(|a, b| a < b), "{damping:?}");
}

#[test]
fn small_scenes_are_small() {
    for name in SCENES.iter().filter(|name| name.ends_with("-small")) {
        let scene = Scene::named(Path::new(name)).unwrap();
        let plan = scene.plan(None).unwrap();
        let n_frames: u32 = plan.iter().map(|p| p.n_frames).sum();
        assert!(n_frames <= 900, "{name}: {n_frames} frames");
        let worn = scene.garments.iter();
        let n_triangles: usize = worn.map(|g| g.garment.mesh().triangles().len()).sum();
        assert!(n_triangles <= 3500, "{name}: {n_triangles} triangles");
        let n_test = (0..scene.n_clips()).filter(|c| scene.clip(*c).1 == Split::Test);
        assert_eq!(n_test.count(), 1, "{name}");
        assert!(scene.fit().unwrap().is_empty(), "{name} does not fit");
    }
}

#[test]
fn captured_clips_are_there_or_named() {
    let absent = std::fs::read_to_string(folder().join("try-on-mocap.toml")).unwrap();
    let nowhere = tempfile::tempdir().unwrap();
    let error = Scene::parse(absent.replace("8710", "300"), nowhere.path()).unwrap_err();
    let SceneError::Load { key, line, source } = &error else {
        panic!("{error}");
    };
    assert_eq!(key, "motion.clips[0].motion");
    let first = absent.lines().position(|l| l.contains(".bvh")).unwrap();
    assert_eq!(*line, first + 1);
    assert!(source.to_string().contains("motions/07_02.bvh"), "{source}");

    if !folder().join("../../../shared/data/motions").is_dir() {
        println!("skipped: no shared data");
        return;
    }
    let text = |name: &str| std::fs::read_to_string(folder().join(name)).unwrap();
    let dress = &coarse(&text("stable-spaces-dress-mocap.toml"));
    let count = |split| (0..dress.n_clips()).filter(move |c| dress.clip(*c).1 == split);
    assert_eq!(count(Split::Train).count(), 33);
    // 15, the walk and the walk with turns, and three unseen.
    assert_eq!(count(Split::Test).count(), 15 + 2 + 3);
    let (_, n_frames) = own(dress, Split::Train);
    assert!((3900..4200).contains(&n_frames), "{n_frames}");
    let shirt = text("try-on-mocap.toml");
    let at = shirt.find("shapes = [").unwrap();
    let end = at + shirt[at..].find("\n]").unwrap() + 2;
    let shirt = coarse(&format!("{}{}", &shirt[..at], &shirt[end..]));
    // 7,117 in the paper, in 56 clips of which two were held out.
    let (n_clips, n_frames) = own(&shirt, Split::Train);
    assert_eq!(n_clips, 50);
    assert!((6900..7300).contains(&n_frames), "{n_frames}");
    let held_out: Vec<&str> = (0..shirt.n_clips())
        .filter(|c| shirt.clip(*c).1 == Split::Test)
        .map(|c| shirt.clip(c).0)
        .collect();
    assert_eq!(held_out, ["01_01", "55_27"]);
}
