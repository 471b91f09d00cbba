//! `drapery reproduce`, on the smallest scene there is.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::fs;

use common::ring::{SCENE, scene};
use common::{data, error, out};
use serde_json::Value;

#[test]
fn tables_are_made_cell_by_cell_and_go_on_where_they_were() {
    let folder = scene();
    let at = folder.path();
    let plan = [
        "--json",
        "reproduce",
        "stable-spaces",
        "--scene",
        "scene.toml",
        "--out",
        "rep",
        "--only",
        "a-0-10",
        "--only",
        "b-2-10",
        "--only",
        "b-2-10-paper",
        "--only",
        "c-2-64",
    ];
    let cells = data(&out(at, 0, &plan), "cell");
    assert_eq!(cells.len(), 4);
    for cell in &cells {
        for key in ["train_cm", "test_cm"] {
            let error = cell[key].as_f64().unwrap();
            assert!((0.0..10.0).contains(&error), "{cell}");
        }
        // Model A has no memory.
        let radius = cell["spectral_radius"].as_f64();
        let is_a = cell["cell"].as_str().unwrap().starts_with("a-");
        assert_eq!(radius.is_none(), is_a, "{cell}");
        assert!(radius.is_none_or(|r| r < 1.0), "{cell}");
    }
    assert!(cells[0]["cell"] == "c-2-64" && cells[0]["plain_spectral_radius"].is_f64());
    let named = |name: &str| cells.iter().find(|cell| cell["cell"] == name).unwrap();
    let (ours, papers) = (named("b-2-10"), named("b-2-10-paper"));
    assert_eq!(papers["ridge"], 0.0);
    assert!(ours["ridge"].as_f64().unwrap() > 0.0);
    assert_ne!(papers["test_cm"], ours["test_cm"]);
    assert_ne!(papers["fit"], "rolled out");
    let page = || fs::read_to_string(at.join("rep/README.md")).unwrap();
    let rows: Vec<String> = page().lines().map(str::to_string).collect();
    let of = |begin: &str| rows.iter().find(|r| r.starts_with(begin)).unwrap();
    for (begin, column) in [
        ("| train, A |", 1),
        ("| test, B |", 1),
        ("| test, C |", 5),
        ("| linear", 1),
        ("| skinning", 1),
    ] {
        let row: Vec<&str> = of(begin).split('|').skip(2).map(str::trim).collect();
        let numbers = (1..)
            .zip(&row)
            .filter(|(_, text)| text.parse::<f64>().is_ok());
        let columns: Vec<i32> = numbers.map(|(i, _)| i).collect();
        assert_eq!(columns, [column], "{}", of(begin));
    }
    // Order 2 of Table 3 is the same model as 64 dimensions of Table 2.
    let c_64 = of("| test, C |").split('|').nth(6).unwrap();
    assert_eq!(of("| test |").split('|').nth(4).unwrap(), c_64);

    // What is done is not done again ...
    let path = at.join("rep/cells/c-2-64.json");
    let mut cell: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    cell["test_cm"] = 123.0.into();
    fs::write(&path, cell.to_string()).unwrap();
    out(at, 0, &plan);
    assert!(page().contains("123.00"), "{}", page());
    // ... unless it was made of other data, or is told how far it is off on other data.
    for key in ["digest", "tested"] {
        let mut other = cell.clone();
        assert!(other[key].is_string(), "{other}");
        other[key] = "of something else".into();
        fs::write(&path, other.to_string()).unwrap();
        out(at, 0, &plan);
        assert!(!page().contains("123.00"), "{key}: {}", page());
    }
}

#[test]
fn parts_beside_the_tables_are_made_of_models_that_are_kept() {
    let folder = scene();
    let at = folder.path();
    let walks = SCENE.replace(
        "clips = [\"bend\", \"twist\"]\ntest = [\"twist\"]",
        "clips = [\"bend\", \"twist\", { motion = \"twist\", name = \"extra-walk\" }, \
         { motion = \"bend\", name = \"extra-walk-turn\" }]\n\
         test = [\"twist\", \"extra-walk\", \"extra-walk-turn\"]",
    );
    assert_ne!(walks, SCENE);
    fs::write(at.join("scene.toml"), walks).unwrap();
    let plan = |parts: &[&'static str]| -> Vec<&'static str> {
        let base = ["--json", "reproduce", "stable-spaces", "--scene"];
        let base = base.into_iter().chain(["scene.toml", "--out", "rep"]);
        let only = parts.iter().flat_map(|part| ["--only", part]);
        base.chain(only).collect()
    };
    let cells = data(
        &out(at, 0, &plan(&["nonlinear", "fits", "ten-thousand"])),
        "cell",
    );
    let of = |name: &str| cells.iter().find(|c| c["cell"] == name).unwrap();
    for cell in &cells {
        let error = cell["test_cm"].as_f64().unwrap();
        assert!((0.0..10.0).contains(&error), "{cell}");
    }
    // A frame in the place of every centre: what trains is known better than what tests.
    let kernel = of("nonlinear");
    assert!(kernel["train_cm"].as_f64() < kernel["test_cm"].as_f64());
    // Least squares of what is left are stable, or one component is left.
    let fewer = of("c-2-64-fewer-dims");
    let dims = fewer["cloth_dims"].as_u64().unwrap();
    let radius = fewer["free_spectral_radius"].as_f64().unwrap();
    assert!(
        dims == 1 || (fewer["fit"] == "free" && radius <= 0.99),
        "{fewer}"
    );
    let constrained = of("c-2-64-constrained");
    assert!(dims <= constrained["cloth_dims"].as_u64().unwrap());

    out(
        at,
        0,
        &plan(&["clips", "held-out-stops", "pictures", "crowds"]),
    );
    let page = fs::read_to_string(at.join("rep/README.md")).unwrap();
    // As seen from the root, nothing changes where it is taken elsewhere, but what its
    // motion in that frame would have added.
    let number = |begin: &str| -> f64 {
        let row = page.lines().find(|row| row.starts_with(begin)).unwrap();
        row.split('|').nth(2).unwrap().trim().parse().unwrap()
    };
    assert_eq!(number("| least confidence in it"), 1.0);
    assert!(number("| times the root was taken elsewhere in the longest") >= 1.0);
    let apart = number("| farthest that the garment then is");
    assert!(
        apart < number("| largest change in a frame of that clip"),
        "{apart}"
    );
    // Both shapes stop at three places.
    let rows: Vec<&str> = page
        .lines()
        .filter(|row| row.starts_with("| A | 6 |"))
        .collect();
    assert_eq!(rows.len(), 1, "{page}");
    // A has no memory, and stands still with the body.
    assert_eq!(rows[0].split('|').nth(3).unwrap().trim(), "0.0");
    // Three clips on two shapes, of which one is the clip that trains again.
    let of = |begin: &str| -> Vec<&str> {
        let rows = page.lines().filter(|row| row.starts_with(begin));
        rows.collect()
    };
    assert_eq!(of("| twist | twist |").len(), 2, "{page}");
    assert_eq!(of("| extra-walk-turn | bend |").len(), 2, "{page}");
    assert_eq!(of("| walk, C |").len(), 1, "{page}");
    assert_eq!(of("| animated, ").len(), 2, "{page}");
    assert_eq!(of("| and drawn, ").len(), 2, "{page}");
    for file in [
        "components.png",
        "crowd.png",
        "dims.png",
        "models.png",
        "stop.svg",
        "walk.svg",
    ] {
        assert!(page.contains(&format!("({file})")), "{page}");
        assert!(at.join("rep").join(file).exists());
    }
    // Models stand for cells that were not asked for, and are not trained again.
    let model = at.join("rep/models/b-2-64.drapery");
    let before = fs::metadata(&model).unwrap().modified().unwrap();
    fs::remove_file(at.join("rep/cells/picture-models.json")).unwrap();
    out(at, 0, &plan(&["pictures"]));
    assert_eq!(fs::metadata(&model).unwrap().modified().unwrap(), before);
    assert!(at.join("rep/cells/picture-models.json").exists());
}

#[test]
fn a_garment_that_is_done_needs_neither_its_data_nor_that_of_the_tables() {
    let folder = scene();
    let at = folder.path();
    fs::create_dir_all(at.join("rep/cells")).unwrap();
    let cell = r#"{ "cell": "garment-skirt-1", "digest": "of data that was thrown away",
                    "vertices": 813, "triangles": 1561, "plain_spectral_radius": 1.0123, "spectral_radius": 0.9876 }"#;
    fs::write(at.join("rep/cells/garment-skirt-1.json"), cell).unwrap();
    let plan = ["--json", "reproduce", "stable-spaces", "--only"];
    let plan = [&plan[..], &["garment-skirt-1", "--out", "rep"]].concat();
    let cells = data(&out(at, 0, &plan), "cell");
    assert_eq!(cells.len(), 1);
    assert_eq!(cells[0]["spectral_radius"], 0.9876);
    let n_datasets = fs::read_dir(at.join("rep/data")).unwrap().count();
    assert_eq!(n_datasets, 0, "something was simulated");
    let page = fs::read_to_string(at.join("rep/README.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|r| r.contains("0.9876")).collect();
    assert_eq!(rows.len(), 1, "{page}");
    assert!(
        rows[0].starts_with("| skirt 1 | 813 / 820 | 1561 | 1.0123 |"),
        "{page}"
    );
    assert!(!page.contains("Table 2"), "{page}");

    // What people write of it stays when the page is made again.
    let notes = "## What this says\n\nOne skirt.\n";
    fs::write(at.join("rep/notes.md"), notes).unwrap();
    for _ in 0..2 {
        out(at, 0, &plan);
        let noted = fs::read_to_string(at.join("rep/README.md")).unwrap();
        assert_eq!(noted, format!("{page}\n{notes}"));
    }
}

#[test]
fn scenes_and_cells_that_are_not_there_are_named() {
    let folder = scene();
    let plan = [
        "reproduce",
        "stable-spaces",
        "--scene",
        "none.toml",
        "--out",
        "rep",
    ];
    let said = error(folder.path(), 2, &plan);
    assert!(said.contains("none.toml"), "{said}");
    let plan = [
        "reproduce",
        "stable-spaces",
        "--only",
        "d-2-64",
        "--out",
        "other",
    ];
    let said = error(folder.path(), 2, &plan);
    assert!(said.contains("d-2-64"), "{said}");
    let plan = [
        "reproduce",
        "stable-spaces",
        "--scene",
        "scene.toml",
        "--as-is",
        "--out",
        "other",
    ];
    let said = error(folder.path(), 2, &plan);
    assert!(said.contains("--as-is: there is no dataset"), "{said}");
    assert!(
        !folder.path().join("other").exists(),
        "a plan comes before work"
    );
}
