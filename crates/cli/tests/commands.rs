//! The commands as a user types them.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::{data, drapery, error, out, shared_data};
use drapery::scene::load::{MotionOptions, load_garment, load_motion};
use drapery::store::mdd::MddReader;
use drapery::store::npz::NpzArchive;
use drapery::store::pc2::Pc2Reader;
use drapery::view::picture::Image;

#[test]
fn demo_leaves_a_page_pictures_and_scenes() {
    let folder = tempfile::tempdir().unwrap();
    let plan = ["demo", "--frames", "10", "--out", "out", "--json"];
    let stdout = out(folder.path(), 0, &plan);
    let rows = data(&stdout, "demo");
    let methods: Vec<&str> = rows.iter().map(|r| r["method"].as_str().unwrap()).collect();
    assert_eq!(
        methods,
        ["skinning", "skinning", "skinning", "stable-space"]
    );
    let made = folder.path().join("out");
    let report = std::fs::read_to_string(made.join("eval.html")).unwrap();
    for method in ["skinning", "linear", "stable-space"] {
        assert!(report.contains(&format!("<td>{method}</td>")), "{method}");
    }
    for row in &rows {
        assert_eq!(row["findings"], 0);
        let glb = std::fs::read(made.join(row["file"].as_str().unwrap())).unwrap();
        let document = drapery::store::gltf::read(&glb).unwrap();
        assert_eq!(document.meshes.len(), 2, "a body and a garment");
        assert_eq!(document.animations.len(), 1);
    }
    let page = std::fs::read_to_string(made.join("index.html")).unwrap();
    assert!(
        page.contains("dress-a-line-walk-skinning.glb") && page.contains("data:image/png;base64,")
    );
    let sheet = Image::from_png(&std::fs::read(made.join("sheet.png")).unwrap()).unwrap();
    assert!(sheet.width() > 1000 && sheet.height() > 800);
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(made.join("run.json")).unwrap()).unwrap();
    assert_eq!(record["command"], "demo");
}

#[test]
fn character_info_has_the_keys_that_others_read() {
    let folder = tempfile::tempdir().unwrap();
    let stdout = out(folder.path(), 0, &["character", "info", "tube", "--json"]);
    let info = &data(&stdout, "character")[0];
    assert_eq!(info["joints"], 4);
    assert_eq!(info["euler"], 2);
    assert_eq!(info["closed"], true);
    assert_eq!(info["self_intersections"], 0);
    assert_eq!(
        info["shape_parameters"],
        serde_json::json!(["length", "girth"])
    );
    let tall = out(
        folder.path(),
        0,
        &["character", "info", "tube", "--shape", "length=2", "--json"],
    );
    let height = data(&tall, "character")[0]["height_m"].as_f64().unwrap();
    assert!((height - 1.2).abs() < 1e-4, "{height}");
}

#[test]
fn wrong_names_are_told_with_the_nearest_right_one() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &[&str]); 11] = [
        (
            &["info", "stable-spaces-smal"],
            &["did you mean stable-spaces-small"],
        ),
        (&["view", "--port", "-1", "x"], &["-1", "65535"]),
        (&["character", "info", "tub"], &["tub", "did you mean tube"]),
        (
            &[
                "garment",
                "draft",
                "skrit",
                "-c",
                "mannequin",
                "--out",
                "a.obj",
            ],
            &["skrit", "did you mean skirt"],
        ),
        (
            &["garment", "info", "sleve"],
            &["sleve", "did you mean sleeve"],
        ),
        (&["motion", "info", "bent"], &["bent", "did you mean bend"]),
        (&["character", "info", "no.glb"], &["no.glb"]),
        (&["character", "info", "a.fbx"], &[".fbx", ".glb", "a.fbx"]),
        (
            &["character", "info", "tube", "--shape", "lenght=1"],
            &["lenght", "did you mean length"],
        ),
        (
            &[
                "animate", "skinning", "-c", "tube", "-m", "bend", "--out", "x.fbx",
            ],
            &["x.fbx", ".glb"],
        ),
        (
            &[
                "animate", "skinning", "-c", "tube", "-g", "sleeve", "-m", "bend", "--frames",
                "5..500", "--out", "x.glb",
            ],
            &["5..500", "0..91"],
        ),
    ];
    for (arguments, expected) in cases {
        let stderr = error(folder.path(), 2, arguments);
        for part in expected {
            assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        }
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing is written"
    );
}

#[test]
fn all_formats_hold_the_same_garment_in_its_own_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for file in ["s.glb", "s.abc", "s.npz", "s.pc2", "s.mdd", "s.obj"] {
        let plan = [
            "animate", "skinning", "-c", "tube", "-g", "sleeve", "-m", "bend", "--frames", "30..34",
        ];
        out(folder.path(), 0, &[&plan[..], &["--out", file]].concat());
    }
    let archive = NpzArchive::from_bytes(&std::fs::read(path("s.npz")).unwrap()).unwrap();
    let cloth = archive.get("cloth/sleeve").unwrap();
    assert_eq!(cloth.shape, [4, 1150, 3]);
    let expected = cloth.to_f32().unwrap();
    let (pc2, mdd) = (
        std::fs::read(path("s.pc2")).unwrap(),
        std::fs::read(path("s.mdd")).unwrap(),
    );
    let (pc2, mdd) = (Pc2Reader::new(&pc2).unwrap(), MddReader::new(&mdd).unwrap());
    let abc = std::fs::read(path("s.abc")).unwrap();
    for frame in 0..4 {
        let flat = |points: Vec<glam::Vec3>| {
            points
                .iter()
                .flat_map(|p| p.to_array())
                .collect::<Vec<f32>>()
        };
        let expected = &expected[frame * 3450..(frame + 1) * 3450];
        assert_eq!(flat(pc2.sample(frame).unwrap()), expected);
        assert_eq!(flat(mdd.sample(frame).unwrap()), expected);
        let bits: Vec<u8> = expected.iter().flat_map(|x| x.to_le_bytes()).collect();
        let times = abc.windows(bits.len()).filter(|w| *w == bits).count();
        assert_eq!(times, 1, "frame {frame} in the archive");
        let name = path(&format!("s_{frame:04}.obj"));
        let garment = load_garment(&name.to_string_lossy()).unwrap().garment;
        let read = flat(garment.mesh().positions().to_vec());
        let worst = read
            .iter()
            .zip(expected)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(worst < 1e-6, "frame {frame}: {worst}");
        assert_eq!(garment.panels().len(), 1);
        assert_eq!(garment.group("pin-top").map(<[u32]>::len), Some(25));
    }
    assert!(path("s.glb.run.json").is_file());
}

#[test]
fn edits_are_written_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let load = |name: &str| {
        let path = folder.path().join(name);
        load_motion(&path.to_string_lossy(), &MotionOptions::default())
            .unwrap()
            .clip
    };
    out(
        folder.path(),
        0,
        &[
            "motion", "edit", "bend", "--trim", "10..50", "--out", "a.npz",
        ],
    );
    assert_eq!(load("a.npz").frames().len(), 40);
    out(
        folder.path(),
        0,
        &[
            "motion",
            "edit",
            "a.npz",
            "--speed",
            "2",
            "--resample",
            "60",
            "--out",
            "b.npz",
        ],
    );
    let fast = load("b.npz");
    assert!(
        (fast.duration().0 - 39.0 / 60.0).abs() < 0.04,
        "{}",
        fast.duration().0
    );
    out(
        folder.path(),
        0,
        &[
            "motion",
            "edit",
            "bend",
            "--stop-at",
            "45",
            "--hold-secs",
            "1",
            "--out",
            "c.npz",
        ],
    );
    let stopped = load("c.npz");
    let last = stopped.frames().last().unwrap();
    let bend = drapery::scene::builtin::clip("bend").unwrap();
    for (q, r) in last.rotations.iter().zip(&bend.frames()[45].rotations) {
        assert!(q.angle_between(*r) < 1e-3);
    }
    out(
        folder.path(),
        0,
        &[
            "motion", "edit", "bend", "--then", "twist", "--out", "d.bvh",
        ],
    );
    let joined = load("d.bvh");
    assert!(joined.duration().0 > 5.0);
    for (read, written) in joined.skeleton().rest().iter().zip(bend.skeleton().rest()) {
        assert!(
            read.distance(*written) < 1e-5,
            "the unit was mistaken: {read} for {written}"
        );
    }
    for (q, r) in joined.frames()[30]
        .rotations
        .iter()
        .zip(&bend.frames()[30].rotations)
    {
        assert!(q.angle_between(*r) < 1e-3);
    }
    assert!(folder.path().join("d.bvh.run.json").is_file());
    // What was written goes back on the character it came from, in any shape.
    let plan = [
        "animate", "skinning", "-c", "tube", "-g", "sleeve", "-m", "d.bvh",
    ];
    out(
        folder.path(),
        0,
        &[&plan[..], &["--shape", "length=1", "--out", "e.npz"]].concat(),
    );
    let stdout = out(folder.path(), 0, &["info", "e.npz", "--json"]);
    assert_eq!(
        data(&stdout, "animation")[0]["garments"],
        serde_json::json!(["sleeve"])
    );
}

/// The file lies on the light body: the mean one would burst it.
#[test]
fn a_draft_for_a_shape_is_sound_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let light = ["--shape", "weight=-1.5", "--shape", "hips=-1"];
    let draft = ["garment", "draft", "skirt", "-c", "mannequin", "--json"];
    let more = ["--triangles", "600", "--size", "s", "--out", "skirt.obj"];
    let stdout = out(folder.path(), 0, &[&draft[..], &more, &light].concat());
    let n = data(&stdout, "draft")[0]["triangles"].as_u64().unwrap();
    assert!((570..630).contains(&n), "{n} triangles");
    let path = folder.path().join("skirt.obj");
    let skirt = load_garment(&path.to_string_lossy()).unwrap().garment;
    assert!(skirt.pattern().is_some() && skirt.group("pin-waistband").is_some());
    let record = std::fs::read_to_string(folder.path().join("skirt.obj.run.json")).unwrap();
    assert!(record.contains("\"garment draft\""));
    let check = ["garment", "check", "skirt.obj", "--on", "mannequin"];
    out(
        folder.path(),
        0,
        &[&check[..], &["--fitted"], &light].concat(),
    );
    out(folder.path(), 1, &check);
    // By its name, it is drafted for whoever wears it.
    out(
        folder.path(),
        0,
        &[
            &["garment", "check", "skirt", "--on", "mannequin"][..],
            &light,
        ]
        .concat(),
    );
}

#[test]
fn a_garment_in_centimetres_is_told_its_cure() {
    let folder = tempfile::tempdir().unwrap();
    let plan = [
        "animate", "skinning", "-c", "tube", "-g", "sleeve", "-m", "bend", "--frames", "0..1",
    ];
    out(folder.path(), 0, &[&plan[..], &["--out", "s.obj"]].concat());
    let text = std::fs::read_to_string(folder.path().join("s_0000.obj")).unwrap();
    let scaled: String = text
        .lines()
        .map(|line| match line.strip_prefix("v ") {
            Some(rest) => {
                let numbers = rest
                    .split_whitespace()
                    .map(|n| n.parse::<f64>().unwrap() * 100.0);
                let numbers: Vec<String> = numbers.map(|n| n.to_string()).collect();
                format!("v {}\n", numbers.join(" "))
            }
            None => format!("{line}\n"),
        })
        .collect();
    std::fs::write(folder.path().join("cm.obj"), scaled).unwrap();
    out(
        folder.path(),
        0,
        &["garment", "check", "s_0000.obj", "--on", "tube"],
    );
    let stdout = out(
        folder.path(),
        1,
        &["garment", "check", "cm.obj", "--on", "tube", "--json"],
    );
    let findings = data(&stdout, "finding");
    let scale = findings
        .iter()
        .find(|f| f["finding"] == "wrong-scale")
        .unwrap();
    assert!(scale["cure"].as_str().unwrap().contains("0.01"), "{scale}");
}

#[test]
fn the_mannequin_is_a_closed_body_of_24_joints_and_8_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let stdout = out(
        folder.path(),
        0,
        &["character", "info", "mannequin", "--json"],
    );
    let info = &data(&stdout, "character")[0];
    assert_eq!(info["closed"], true);
    assert_eq!(info["euler"], 2);
    assert_eq!(info["joints"], 24);
    assert_eq!(info["self_intersections"], 0);
    assert_eq!(info["shape_parameters"].as_array().unwrap().len(), 8);
    let vertices = info["vertices"].as_u64().unwrap();
    assert!((5000..=8000).contains(&vertices));
    out(folder.path(), 0, &["character", "check", "mannequin"]);
}

#[test]
fn a_sweep_over_shapes_says_how_many_were_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let command = ["character", "check", "tube", "--shapes", "5", "--json"];
    let sweep = &data(&out(folder.path(), 0, &command), "shapes")[0];
    // Two parameters at both ends, four pairs, five others.
    assert_eq!(sweep["shapes"], 4 + 4 + 5);
    assert_eq!(sweep["self_intersecting"].as_array().unwrap().len(), 0);
    assert!(sweep["smallest_angle_deg"].as_f64().unwrap() > 5.0);
}

#[test]
fn a_sheet_of_bodies_shows_each_shape_at_one_scale() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = |bodies: &[&str], file: &str| {
        let ends = ["--size", "120", "--out", file];
        let command = [&["picture", "-c", "tube", "--bodies"], bodies, &ends].concat();
        out(folder.path(), 0, &command);
        Image::from_png(&std::fs::read(folder.path().join(file)).unwrap()).unwrap()
    };
    let one = sheet(&["0"], "one.png");
    let three = sheet(&["0", "length=2", "length=-1,girth=1"], "three.png");
    assert!(three.width() > 2 * one.width());
    let wrong = [
        "picture", "-c", "tube", "--bodies", "lenth=1", "--out", "x.png",
    ];
    assert!(error(folder.path(), 2, &wrong).contains("length"));
}

#[test]
fn pictures_show_something() {
    let folder = tempfile::tempdir().unwrap();
    let plan = [
        "picture", "-c", "tube", "-g", "sleeve", "-m", "bend", "--size", "120",
    ];
    let kinds: [(&[&str], u32); 4] = [
        (&["--frame", "40"], 120),
        (&["--sheet", "4"], 4 * 90),
        (&["--turntable", "3"], 3 * 90),
        (&["--frame", "40", "--colour", "stretch"], 121),
    ];
    for (kind, least_width) in kinds {
        out(
            folder.path(),
            0,
            &[&plan[..], kind, &["--out", "p.png"]].concat(),
        );
        let image = Image::from_png(&std::fs::read(folder.path().join("p.png")).unwrap()).unwrap();
        assert!(image.width() >= least_width, "{kind:?}: {}", image.width());
        let blue = (0..image.width() * image.height())
            .filter_map(|i| image.pixel(i % image.width(), i / image.width()))
            .filter(|c| i32::from(c.b) > i32::from(c.r) + 30)
            .count();
        assert!(blue > 200, "{kind:?}: {blue} blue pixels");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_drapery"))
        .args([
            "picture", "-c", "tube", "-g", "sleeve", "-m", "bend", "--film", "--size", "1000",
        ])
        .args(["--out", "film.png"])
        .current_dir(folder.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Wait until it listens: bit 1 of the caught signals is SIGINT.
    let status = format!("/proc/{}/status", child.id());
    let listens = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok())
            .is_some_and(|m| m & 2 != 0)
    };
    for _ in 0..2000 {
        if listens() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_drapery"))
        .args(["character", "info", "tube"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_shared_garments_are_sound_on_the_shared_body() {
    let Some(shared) = shared_data() else { return };
    let body = shared.join("body/body.glb").to_string_lossy().into_owned();
    for garment in ["tshirt", "skirt", "dress", "pants"] {
        let garment = shared
            .join(format!("garments/{garment}.obj"))
            .to_string_lossy()
            .into_owned();
        let stdout = out(
            &shared,
            0,
            &["garment", "check", &garment, "--on", &body, "--json"],
        );
        assert_eq!(stdout, "", "{garment}");
    }
}

#[test]
fn threads_of_output_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let output = drapery(
        folder.path(),
        &["character", "info", "tube", "--json", "--quiet"],
    );
    assert!(output.stderr.is_empty());
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
}

#[test]
fn colours_show_a_quantity_and_films_all_frames() {
    let folder = tempfile::tempdir().unwrap();
    let plan = [
        "picture", "-c", "tube", "-g", "sleeve", "-m", "bend", "--size", "120",
    ];
    let picture = |more: &[&str]| {
        out(
            folder.path(),
            0,
            &[&plan[..], more, &["--out", "p.png"]].concat(),
        );
        std::fs::read(folder.path().join("p.png")).unwrap()
    };
    let colours = |more: &[&str]| {
        let image = Image::from_png(&picture(&[&["--frame", "45"], more].concat())).unwrap();
        let pixels = (0..120 * 120).filter_map(|i| image.pixel(i % 120, i / 120));
        let red = |c: &drapery::view::picture::Colour| i32::from(c.r) > i32::from(c.b) + 60;
        pixels.filter(red).count()
    };
    // At the bend the sleeve is stretched outside; the sleeve is off the skin everywhere.
    assert!(colours(&["--colour", "stretch"]) > colours(&[]) + 50);
    assert!(colours(&["--colour", "distance"]) > colours(&[]) + 500);
    // An animated PNG says in its acTL chunk how many frames it has.
    let film = picture(&["--film", "--frames", "10..17"]);
    let at = film.windows(4).position(|w| w == b"acTL").unwrap();
    assert_eq!(film[at + 4..at + 8], 7u32.to_be_bytes());
}

#[test]
fn options_without_effect_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let of = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    for (line, says) in [
        (
            "animate skinning -c tube -g sleeve -m bend --blend-shapes --out a.glb",
            "--model",
        ),
        (
            "animate skinning -c tube -g sleeve -m bend --no-correct --out a.glb",
            "--model",
        ),
        (
            "animate skinning -c tube -g sleeve -m bend --fabric denim --out a.glb",
            "--fabric",
        ),
        (
            "picture -c tube -g sleeve -m bend --fabric denim --out a.png",
            "--fabric",
        ),
        (
            "picture -c tube -g sleeve -m bend --unit cm --out a.png",
            "bend is built in",
        ),
        ("demo --quick --port 99 --out a", "--port"),
        ("demo --quick --frames 6 --out a", "--frames"),
        ("demo --frames 5 --out a", "6..="),
        ("bench simulate --picture a.jpg", ".png"),
        ("motion edit bend --part-limbs --out a.bvh", "--to"),
        (
            "simulate adaptive-bases-sleeve --only nope --out a",
            "--only nope",
        ),
    ] {
        let message = error(folder.path(), 2, &of(line));
        assert!(message.contains(says), "{line}: {message}");
    }
    let cases: [(&[&str], &str); 9] = [
        (
            &[
                "picture", "-g", "sleeve", "--colour", "stretch", "--out", "p.png",
            ],
            "--character",
        ),
        (
            &["picture", "-c", "tube", "--film", "--out", "p.png"],
            "--motion",
        ),
        (
            &[
                "picture",
                "-c",
                "tube",
                "--turntable",
                "1000000",
                "--out",
                "p.png",
            ],
            "200",
        ),
        (
            &[
                "picture",
                "-c",
                "tube",
                "--elevation-deg",
                "95",
                "--out",
                "p.png",
            ],
            "90",
        ),
        (
            &["motion", "edit", "bend", "--go-on", "--out", "a.bvh"],
            "--stop-at",
        ),
        (
            &["motion", "edit", "bend", "--speed", "-1", "--out", "a.bvh"],
            "0.01",
        ),
        (
            &[
                "motion",
                "edit",
                "bend",
                "--arm-abduction-deg",
                "5",
                "--out",
                "a.bvh",
            ],
            "--to",
        ),
        (
            &[
                "motion", "edit", "bend", "--trim", "50..10", "--out", "a.bvh",
            ],
            "not before",
        ),
        (&["bench", "picture", "--runs", "0"], "--runs"),
    ];
    for (arguments, expected) in cases {
        let stderr = error(folder.path(), 2, arguments);
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing is written"
    );
}

#[test]
fn outputs_are_checked_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("dir.glb")).unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let plan = [
        "animate", "skinning", "-c", "tube", "-g", "sleeve", "-m", "bend",
    ];
    let cases: [(&[&str], &str); 3] = [
        (&["--out", "missing/x.glb"], "there is no folder missing"),
        (&["--out", "dir.glb"], "is a folder"),
        (
            &["-g", "sleeve", "--out", "x.npz"],
            "two garments are called sleeve",
        ),
    ];
    for (more, expected) in cases {
        let stderr = error(folder.path(), 2, &[&plan[..], more].concat());
        assert!(stderr.contains(expected), "{more:?}: {stderr}");
    }
    let stderr = error(folder.path(), 2, &["demo", "--out", "file"]);
    assert!(stderr.contains("is a file"), "{stderr}");
    let stderr = error(folder.path(), 2, &["motion", "info", "."]);
    assert!(stderr.contains("folder"), "{stderr}");
}

#[test]
fn a_shorter_sequence_does_not_mix_with_a_longer_one() {
    let folder = tempfile::tempdir().unwrap();
    let plan = [
        "animate", "skinning", "-c", "tube", "-g", "sleeve", "-m", "bend", "--out", "s.obj",
    ];
    let stdout = out(
        folder.path(),
        0,
        &[&plan[..], &["--frames", "0..5"]].concat(),
    );
    assert!(stdout.contains("s_0004.obj"), "{stdout}");
    let stderr = error(
        folder.path(),
        2,
        &[&plan[..], &["--frames", "0..2"]].concat(),
    );
    assert!(stderr.contains("s_0002.obj"), "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_no_text_are_no_trouble() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    for ending in ["png", "glb"] {
        let name = [b"x\xff.", ending.as_bytes()].concat();
        let command: &[&str] = match ending {
            "png" => &["picture", "--size", "64"],
            _ => &["animate", "skinning"],
        };
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_drapery"))
            .args(command)
            .args([
                "-c", "tube", "-g", "sleeve", "-m", "bend", "--frames", "0..2", "--json", "--out",
            ])
            .arg(std::ffi::OsStr::from_bytes(&name))
            .current_dir(folder.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
    }
}

#[test]
fn what_was_found_out_about_a_motion_is_said() {
    let Some(shared) = shared_data() else { return };
    let walk = shared
        .join("motions/07_02.bvh")
        .to_string_lossy()
        .into_owned();
    let output = drapery(&shared, &["motion", "info", &walk, "--json"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    for part in [
        "unit 0.056444 m",
        "up +y",
        "facing +z",
        "calibration pose and no part",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let info = &data(&String::from_utf8(output.stdout).unwrap(), "motion")[0];
    assert_eq!(info["frames"], 83);
    assert_eq!(info["first_row"], 1);
    assert_eq!(info["up"], "+y");
}

#[test]
fn feet_of_walks_stay_where_they_are_planted() {
    let folder = tempfile::tempdir().unwrap();
    for (clip, airborne) in [("walk", false), ("run", true)] {
        let stdout = out(folder.path(), 0, &["motion", "info", clip, "--json"]);
        let found = &data(&stdout, "motion")[0];
        let number = |key: &str| found[key].as_f64().unwrap();
        assert!(number("foot_slide_m") < 0.01, "{found}");
        assert!(number("sole_lowest_m") > -0.005, "{found}");
        assert_eq!(number("airborne_share") > 0.0, airborne, "{found}");
    }
    // The tube has no feet.
    let stdout = out(folder.path(), 0, &["motion", "info", "bend", "--json"]);
    assert!(data(&stdout, "motion")[0]["foot_slide_m"].is_null());
}

#[test]
fn a_garment_is_of_the_fabric_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let worn = |fabrics: &[&'static str]| {
        let mut words = vec!["animate", "simulation", "-c", "tube", "-m", "bend"];
        words.extend(["--frames", "0..2", "--out", "layers.glb"]);
        words.extend(["-g", "sleeve"]);
        words.extend(fabrics.iter().flat_map(|fabric| ["--fabric", fabric]));
        words
    };
    let stderr = error(folder.path(), 2, &worn(&["denim", "denim", "denim"]));
    assert!(stderr.contains("3 times for 1 garments"), "{stderr}");
    out(folder.path(), 0, &worn(&["wool-worsted"]));
    let record = std::fs::read(folder.path().join("layers.glb.run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    let fabrics = serde_json::json!(["wool-worsted"]);
    assert_eq!(record["settings"]["fabric"], fabrics);
}
