//! `drapery reproduce`, on the smallest scene there is.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::fs;

use common::ring::scene;
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
        "c-2-64",
    ];
    let cells = data(&out(at, 0, &plan), "cell");
    assert_eq!(cells.len(), 3);
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
    let page = || fs::read_to_string(at.join("rep/README.md")).unwrap();
    let rows: Vec<String> = page().lines().map(str::to_string).collect();
    let of = |begin: &str| rows.iter().find(|r| r.starts_with(begin)).unwrap();
    for (begin, column) in [
        ("| train, A", 1),
        ("| test, B", 1),
        ("| test, C", 5),
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
    let c_64 = of("| test, C").split('|').nth(6).unwrap();
    assert_eq!(of("| test |").split('|').nth(4).unwrap(), c_64);

    // What is done is not done again ...
    let path = at.join("rep/cells/c-2-64.json");
    let mut cell: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    cell["test_cm"] = 123.0.into();
    fs::write(&path, cell.to_string()).unwrap();
    out(at, 0, &plan);
    assert!(page().contains("123.00"), "{}", page());
    // ... unless it was made of other data.
    cell["digest"] = "of something else".into();
    fs::write(&path, cell.to_string()).unwrap();
    out(at, 0, &plan);
    assert!(!page().contains("123.00"), "{}", page());
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
    assert!(
        !folder.path().join("other").exists(),
        "a plan comes before work"
    );
}
