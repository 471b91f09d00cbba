//! Scene files, right and wrong.

use std::path::Path;

use drapery_core::BodyModel;

use super::*;
use crate::garment::{DraftConfig, GarmentKind};

const SCENE: &str = r#"[character]
model = "tube"
shapes = [{}, { girth = 0.5 }]

[[garment]]
pattern = "sleeve"
fabric = "denim"

[motion]
clips = ["bend", "sway", "twist"]
tune = ["sway"]
test = ["twist"]
stops = 2
speeds = [1.25]

[simulation]
steps_per_frame = 4
"#;

fn load(text: &str) -> Result<Scene, SceneError> {
    Scene::parse(text.to_string(), Path::new("."))
}

#[test]
fn a_scene_is_what_its_file_says() {
    let scene = load(SCENE).unwrap();
    assert_eq!(scene.character.name(), "tube");
    let shapes: Vec<&str> = scene.shapes.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(shapes, ["mean", "girth=0.5"]);
    assert_eq!(scene.garments[0].fabric.name, "denim");
    assert_eq!(scene.file.simulation.steps_per_frame, Some(4));
    assert!(!scene.file.motion.part_limbs);
    let parted = SCENE.replace("stops = 2", "stops = 2\npart_limbs = true");
    assert!(load(&parted).unwrap().file.motion.part_limbs);
    assert!(scene.file.motion.clips.iter().all(|clip| !clip.clean));
    let cleaned = SCENE.replace("stops = 2", "stops = 2\nclean = true");
    let cleaned = load(&cleaned).unwrap();
    assert!(cleaned.file.motion.clips.iter().all(|clip| clip.clean));
    assert!(
        scene.jumps().unwrap().is_empty(),
        "what is built in does not jump"
    );
    let clips: Vec<_> = (0..scene.n_clips()).map(|c| scene.clip(c)).collect();
    let expected = [
        ("bend", Split::Train),
        ("sway", Split::Tune),
        ("twist", Split::Test),
    ];
    assert_eq!(clips, expected);
    // Only what trains is copied: the clip, two stops and a speed; on two shapes.
    let plan = scene.plan(None).unwrap();
    let names: Vec<(&str, usize)> = plan.iter().map(|p| (p.name.as_str(), p.shape)).collect();
    assert_eq!(plan.len(), 2 * (4 + 1 + 1));
    assert_eq!(names[..3], [("bend", 0), ("bend", 1), ("bend~stop30", 0)]);
    assert_eq!(
        names[6..9],
        [("bend~x1.25", 0), ("bend~x1.25", 1), ("sway", 0)]
    );
    for planned in &plan {
        let motion = scene.motion(planned).unwrap();
        assert_eq!(motion.frames().len(), planned.n_frames as usize);
        assert_eq!(motion.name(), planned.name);
        assert_eq!(motion.frame_rate(), scene.frame_rate());
    }
    let short = scene.plan(Some(7)).unwrap();
    assert!(short.iter().all(|p| p.n_frames == 7));
    assert_eq!(scene.motion(&short[2]).unwrap().frames().len(), 7);
}

#[test]
fn stops_are_evenly_spread_and_stand_for_two_seconds() {
    let text = SCENE.replace("stops = 2", "stops = 5");
    let scene = load(&text).unwrap();
    let plan = scene.plan(None).unwrap();
    let bend = scene.motion(&plan[0]).unwrap();
    let last = bend.frames().len() - 1;
    let stops: Vec<_> = plan
        .iter()
        .filter(|p| p.shape == 0 && matches!(p.copy, Copy::Stop { .. }))
        .collect();
    assert_eq!(stops.len(), 5);
    for (k, planned) in stops.into_iter().enumerate() {
        let place = ((k + 1) as f64 * last as f64 / 6.0).round() as usize;
        assert_eq!(planned.name, format!("bend~stop{place}"));
        let stopped = scene.motion(planned).unwrap();
        // Easing over 0.1 s takes 1.5 frames longer than not, in whole frames.
        assert_eq!(stopped.frames().len(), place + 62 + 1);
        let standing = &stopped.frames()[stopped.frames().len() - 60..];
        assert!(standing.iter().all(|pose| *pose == bend.frames()[place]));
        assert!(stopped.frames()[..place - 2] == bend.frames()[..place - 2]);
    }
}

#[test]
fn edges_are_about_as_long_as_was_asked_for() {
    let scene = load(
        "[character]\nmodel = \"mannequin\"\n[[garment]]\npattern = \"skirt\"\nname = \"kilt\"\n\
         edge_length = 0.05\nsize = \"l\"\n[motion]\nclips = [\"walk\"]\nframe_rate = 15",
    )
    .unwrap();
    let garment = &scene.garments[0].garment;
    assert_eq!(garment.name(), "kilt");
    assert_eq!(scene.garments[0].fabric.name, GarmentKind::Skirt.fabric());
    let (mesh, edges) = (garment.mesh(), garment.mesh().topology().edges());
    let length = |e: &drapery_core::Edge| {
        let [a, b] = e.vertices.map(|v| mesh.positions()[v as usize]);
        f64::from(a.distance(b))
    };
    let mean = edges.iter().map(length).sum::<f64>() / edges.len() as f64;
    assert!((0.04..0.06).contains(&mean), "{mean}");
    assert!(mesh.triangles().len() < DraftConfig::default().n_triangles as usize / 4);
    // At half the frame rate of the built-in, and half the frames.
    let walk = crate::builtin::clip("walk").unwrap();
    let plan = scene.plan(None).unwrap();
    assert_eq!(plan[0].n_frames as usize, walk.frames().len().div_ceil(2));
    assert_eq!(
        scene.character.skeleton(),
        scene.motion(&plan[0]).unwrap().skeleton()
    );
}

#[test]
fn clips_are_mirrored_and_sped_up_after_they_are_cut() {
    let cut = SCENE.replace("stops = 2\nspeeds = [1.25]\n", "");
    let entry = "{ motion = \"bend\", name = \"a\", trim = [10, 41], mirror = true, speed = 0.5 }";
    let scene = load(&cut.replace("\"bend\"", entry)).unwrap();
    let plan = scene.plan(None).unwrap();
    // 30 steps of half the speed.
    assert_eq!((plan[0].name.as_str(), plan[0].n_frames), ("a", 61));
    let clip = scene.motion(&plan[0]).unwrap();
    let bend = crate::builtin::clip("bend").unwrap();
    for k in [0, 7, 30] {
        let (mirrored, own) = (&clip.frames()[2 * k], &bend.frames()[10 + k]);
        for (m, q) in mirrored.rotations.iter().zip(&own.rotations) {
            // The tube has no left: turns about y and z are the other way round.
            let expected = glam::Quat::from_xyzw(q.x, -q.y, -q.z, q.w);
            assert!(m.abs_diff_eq(expected, 1e-5), "{k}: {m} {expected}");
        }
    }
    assert!(
        scene
            .source(0)
            .ends_with("frames 10..41, mirrored, 0.5 times as fast")
    );
}

#[test]
fn twins_stand_behind_what_is_worn_and_know_whose_they_are() {
    let twin = "[[garment]]\npattern = \"sleeve\"\nname = \"coarse\"\ntwin_of = \"sleeve\"\n\n";
    let at = SCENE.find("[[garment]]").unwrap();
    let scene = load(&format!("{}{twin}{}", &SCENE[..at], &SCENE[at..])).unwrap();
    let names = scene.garments.iter().map(|g| g.garment.name());
    assert_eq!(names.collect::<Vec<_>>(), ["sleeve", "coarse"]);
    let of = scene.garments.iter().map(|g| g.twin_of.as_deref());
    assert_eq!(of.collect::<Vec<_>>(), [None, Some("sleeve")]);
}

#[test]
fn fabrics_may_stand_in_the_scene() {
    let given = "{ name = \"stiff\", from = \"denim\", damping_s = 0.03 }";
    let scene = load(&SCENE.replace("\"denim\"", given)).unwrap();
    let mut denim = crate::fabric::preset("denim").unwrap();
    denim.damping = 0.03;
    denim.name = "stiff".into();
    assert_eq!(scene.garments[0].fabric, denim);
}

/// What is wrong, how the message begins, and what it has to say.
#[test]
fn bad_scenes_are_refused_with_key_line_and_what_was_meant() {
    let table: [(&str, &str, &str, &str); 31] = [
        (
            "[motion]",
            "[motoin]",
            "line 9: unknown key motoin",
            "did you mean motion?",
        ),
        (
            "fabric =",
            "fabrik =",
            "line 7: unknown key garment[0].fabrik",
            "did you mean fabric?",
        ),
        (
            "stops = 2",
            "stop = 2",
            "line 13: unknown key motion.stop",
            "did you mean stops?",
        ),
        (
            "steps_per_frame",
            "steps",
            "line 17: unknown key simulation.steps",
            "steps_per_frame",
        ),
        (
            "model = \"tube\"\n",
            "",
            "line 1: character.model is missing",
            "",
        ),
        (
            "clips = [\"bend\", \"sway\", \"twist\"]\n",
            "",
            "line 9: motion.clips is missing",
            "",
        ),
        (
            "[[garment]]",
            "[garment]",
            "line 5: garment is not a list",
            "",
        ),
        ("\"tube\"", "tube", "line 2: ", ""),
        ("\"tube\"", "7", "line 2: character.model is not a text", ""),
        (
            "\"tube\"",
            "\"tubes\"",
            "line 2: character.model",
            "did you mean tube?",
        ),
        (
            "\"tube\"",
            "\"body.glb\"",
            "line 2: character.model",
            "cannot read ./body.glb",
        ),
        (
            "girth",
            "girht",
            "line 3: character.shapes[1]",
            "did you mean girth?",
        ),
        (
            "0.5",
            "500",
            "line 3: character.shapes[1].girth is 500",
            "-100 to 100",
        ),
        (
            "{ girth = 0.5 }",
            "{}",
            "line 3: character.shapes[1]: mean is there twice",
            "",
        ),
        (
            "\"sleeve\"",
            "\"sleve\"",
            "line 6: garment[0].pattern",
            "did you mean sleeve?",
        ),
        (
            "\"denim\"",
            "\"denin\"",
            "line 7: garment[0].fabric",
            "did you mean denim?",
        ),
        (
            "\"denim\"",
            "\"denim\"\nedge_length = 0.02",
            "line 8: garment[0].edge_length",
            "file",
        ),
        (
            "\"sway\", \"twist\"]",
            "\"sway\", \"twits\"]",
            "line 10: motion.clips[2]",
            "twist?",
        ),
        (
            "\"sway\", \"twist\"]",
            "\"sway\", \"a.bvh\"]",
            "line 10: motion.clips[2]",
            "./a.bvh",
        ),
        (
            "\"sway\", \"twist\"]",
            "\"sway\", \"bend\"]",
            "line 10: motion.clips[2]: bend",
            "twice",
        ),
        (
            "\"bend\", \"sway\"",
            "{ motion = \"bend\", trim = [9, 9] }, \"sway\"",
            "line 10:",
            "trim",
        ),
        (
            "test = [\"twist\"]",
            "test = [\"twits\"]",
            "line 12: motion.test[0]",
            "twist?",
        ),
        (
            "test = [\"twist\"]",
            "test = [\"sway\"]",
            "line 12: motion.test[0]",
            "twice",
        ),
        (
            "stops = 2",
            "stops = -1",
            "line 13: motion.stops is -1",
            "0 to 100",
        ),
        (
            "stops = 2",
            "stops = 2.5",
            "line 13: motion.stops is not a whole number",
            "",
        ),
        (
            "\"denim\"",
            "{ from = \"denim\", dampin_s = 0.1 }",
            "line 7: garment[0].fabric",
            "line 7: unknown key dampin_s (did you mean damping_s?)",
        ),
        (
            "\"denim\"",
            "{ from = \"denim\", damping_s = 7 }",
            "line 7: garment[0].fabric",
            "damping",
        ),
        (
            "\"denim\"",
            "\"denim\"\n[[garment]]\npattern = \"sleeve\"\nname = \"b\"\ntwin_of = \"sleve\"",
            "line 11: garment[1].twin_of",
            "did you mean sleeve?",
        ),
        (
            "\"denim\"",
            "\"denim\"\ntwin_of = \"sleeve\"",
            "line 8: garment[0].twin_of: there is no garment that is worn called sleeve",
            "",
        ),
        (
            "\"bend\", \"sway\"",
            "{ motion = \"bend\", speed = 0 }, \"sway\"",
            "line 10: motion.clips[0].speed is 0",
            "0.1 to 10",
        ),
        (
            "steps_per_frame = 4",
            "tolerance = \"x\"",
            "line 17: simulation.tolerance",
            "number",
        ),
    ];
    for (old, new, starts, says) in table {
        assert!(SCENE.contains(old), "{old}");
        let error = load(&SCENE.replacen(old, new, 1)).unwrap_err();
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(next) = cause {
            text += &format!(": {next}");
            cause = next.source();
        }
        assert!(text.starts_with(starts), "{new}: {text}");
        assert!(text.contains(says), "{new}: {text}");
    }
    let walk = SCENE.replacen("\"bend\"", "\"walk\"", 1);
    let plan = load(&walk).unwrap().plan(None);
    // A person's walk on a tube: no joints to be found.
    assert!(
        matches!(plan, Err(SceneError::PutOn { line: 10, .. })),
        "{plan:?}"
    );
}
