//! `drapery garment fabric` as a user types it.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::{data, drapery, error, out};
use drapery::scene::fabric::{NAMES, preset};
use drapery::scene::load::load_fabric;

#[test]
fn every_fabric_is_listed_and_shown_with_its_bending_length_and_drape() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["garment", "fabric", "--json"][..],
        &["garment", "fabric", "--list", "--json"],
    ] {
        let rows = data(&out(folder.path(), 0, arguments), "preset");
        let names: Vec<&str> = rows.iter().map(|r| r["name"].as_str().unwrap()).collect();
        assert_eq!(names, NAMES);
    }
    let stdout = out(
        folder.path(),
        0,
        &[
            "garment",
            "fabric",
            "wool-worsted",
            "--cells",
            "25",
            "--json",
        ],
    );
    let shown = &data(&stdout, "fabric")[0];
    let fabric = preset("wool-worsted").unwrap();
    assert_eq!(shown["density_kg_m2"], fabric.density);
    assert_eq!(shown["bending_warp_n_m"], fabric.bending_warp);
    for way in ["warp", "weft", "bias"] {
        let length = &shown["bending_length_m"][way];
        let [measured, formula] = ["measured", "formula"].map(|k| length[k].as_f64().unwrap());
        assert!(
            (measured / formula - 1.0).abs() < 0.02,
            "{way}: {measured} {formula}"
        );
        assert!((0.015..0.02).contains(&measured));
    }
    // So coarse a cloth drapes a little more than it should.
    let coefficient = shown["drape_coefficient_percent"].as_f64().unwrap();
    assert!((35.0..70.0).contains(&coefficient), "{coefficient}");
    assert!((3..=9).contains(&shown["folds"].as_u64().unwrap()));
    let text = out(
        folder.path(),
        0,
        &["garment", "fabric", "denim", "--cells", "20"],
    );
    for part in ["116.90 µN·m warp", "2.30 cm weft", "on Cusick's meter"] {
        assert!(text.contains(part), "{text}");
    }
    let constants = out(
        folder.path(),
        0,
        &["garment", "fabric", "denim", "--constants"],
    );
    assert!(text.starts_with(constants.trim_end()), "{constants}{text}");
    assert_eq!(out(folder.path(), 0, &["info", "denim"]), constants);
}

#[test]
fn fabrics_go_through_files_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    out(
        folder.path(),
        0,
        &[
            "garment",
            "fabric",
            "silk-light",
            "--constants",
            "--out",
            "mine.toml",
        ],
    );
    let path = folder.path().join("mine.toml");
    let read = load_fabric(path.to_str().unwrap()).unwrap().fabric;
    assert_eq!(read, preset("silk-light").unwrap());
    assert!(folder.path().join("mine.toml.run.json").is_file());

    let sheet = "from = \"cotton-plain\"\nbending_length_cm = { warp = 3.0, weft = 1.5 }\n";
    std::fs::write(folder.path().join("stiff.toml"), sheet).unwrap();
    let stdout = out(
        folder.path(),
        0,
        &["garment", "fabric", "stiff.toml", "--cells", "20", "--json"],
    );
    let shown = &data(&stdout, "fabric")[0];
    assert_eq!(shown["name"], "stiff");
    let length = |way: &str| shown["bending_length_m"][way]["measured"].as_f64().unwrap();
    assert!((length("warp") / 0.03 - 1.0).abs() < 0.02);
    assert!((length("weft") / 0.015 - 1.0).abs() < 0.02);
}

#[test]
fn pictures_show_stiff_cloth_stiff_and_are_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = |out: &str, threads: &str| {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_drapery"))
            .current_dir(folder.path())
            .env("RAYON_NUM_THREADS", threads)
            .args(["garment", "fabric", "denim", "jersey-knit", "--json"])
            .args(["--cells", "20", "--picture", out])
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(0));
        String::from_utf8(done.stdout).unwrap()
    };
    let said = sheet("a.png", "1");
    assert_eq!(said, sheet("b.png", "2"));
    let [a, b] = ["a.png", "b.png"].map(|f| std::fs::read(folder.path().join(f)).unwrap());
    assert!(a.starts_with(b"\x89PNG") && a == b);
    assert!(folder.path().join("a.png.run.json").is_file());
    assert_eq!(data(&said, "fabric").len(), 2);
    let rows = data(&said, "specimen");
    let figures = |row: usize| {
        let number = |part: &str, key: &str| rows[row][part][key].as_f64().unwrap();
        [
            number("strip", "reach_m") / number("strip", "drop_m"),
            number("strip", "bending_length_m"),
            number("disc", "drape_coefficient"),
        ]
    };
    let (denim, jersey) = (figures(0), figures(1));
    for (stiff, limp) in denim.iter().zip(&jersey) {
        assert!(*stiff > 1.5 * limp, "{denim:?} {jersey:?}");
    }
    assert!(rows[0]["cloth"]["lowest_m"].as_f64().unwrap() < -0.2);
}

#[test]
fn materials_of_arcsim_are_fabrics() {
    let folder = tempfile::tempdir().unwrap();
    let stretch = ["[40, 0, 40, 40]"; 6].join(",");
    let bend = ["[20e-6, 20e-6, 20e-6, 20e-6, 20e-6]"; 3].join(",");
    let json = format!(
        "// alike\n{{\"density\": 0.1, \"stretching\": [{stretch}], \"bending\": [{bend}]}}"
    );
    std::fs::write(folder.path().join("alike.json"), json).unwrap();
    let output = drapery(
        folder.path(),
        &["garment", "fabric", "alike.json", "--constants", "--json"],
    );
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("nonlinear tables"), "{stderr}");
    let shown = &data(&String::from_utf8(output.stdout).unwrap(), "fabric")[0];
    assert_eq!(shown["stretch_warp_n_per_m"], 80.0);
    assert_eq!(shown["shear_n_per_m"], 40.0);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("typo.toml", "from = \"denim\"\n\nfrictoin = 0.3\n");
    write("negative.toml", "from = \"denim\"\nshear_n_per_m = -3\n");
    write("torn.json", "{\"density\": 0.1, \"stretching\": [[1, 2");
    let cases: [(&[&str], &[&str]); 10] = [
        (
            &["cotton-plane"],
            &["cotton-plane", "did you mean cotton-plain"],
        ),
        (
            &["typo.toml"],
            &["line 3", "frictoin", "did you mean friction", "typo.toml"],
        ),
        (&["negative.toml"], &["line 2", "shear", "-3"]),
        (&["torn.json"], &["torn.json", "line 1"]),
        (&["none.toml"], &["none.toml"]),
        (&["silk.obj"], &[".obj", ".toml", ".json"]),
        (&["denim", "--out", "x.json"], &["x.json", ".toml"]),
        (&["denim", "--out", "no/x.toml"], &["no"]),
        (&["denim", "leather", "--out", "x.toml"], &["x.toml", "one"]),
        (&["denim", "--picture", "x.jpg"], &["x.jpg", ".png"]),
    ];
    for (arguments, expected) in cases {
        let stderr = error(
            folder.path(),
            2,
            &[&["garment", "fabric"], arguments].concat(),
        );
        for part in expected {
            assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        }
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        3,
        "nothing is written"
    );
}
