//! `drapery validate` as a user types it.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::{data, error, out};

#[test]
fn cases_have_the_keys_that_others_read() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["validate", "--quick", "--only", "catenary", "--json"];
    let cases = data(&out(folder.path(), 0, &arguments), "validate");
    assert_eq!(cases.len(), 2);
    for case in &cases {
        assert_eq!(case["test"], "catenary");
        assert!(case["case"].as_str().unwrap().contains("sag"));
        let number = |key: &str| case[key].as_f64().unwrap();
        let error = 100.0 * (number("measured") / number("reference") - 1.0).abs();
        assert!((number("error_percent") - error).abs() < 1e-9);
        assert_eq!(number("limit_percent"), 1.0);
        assert_eq!(case["pass"], error <= 1.0);
        assert_eq!(case["counts"], true);
    }
    // Both triangulations, which are not one and the same.
    assert_ne!(cases[0]["measured"], cases[1]["measured"]);
}

#[test]
fn lateral_buckling_is_reported_and_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "validate",
        "--quick",
        "--only",
        "lateral-buckling",
        "--json",
    ];
    let cases = data(&out(folder.path(), 0, &arguments), "validate");
    assert_eq!(cases.len(), 2);
    for case in &cases {
        assert_eq!(case["counts"], false);
        let error = case["error_percent"].as_f64().unwrap();
        assert_eq!(case["pass"], error <= 10.0);
    }
}

#[test]
fn any_number_of_threads_prints_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    let table = |threads| {
        let arguments = [
            "validate",
            "--quick",
            "--only",
            "hanging-strip",
            "--threads",
            threads,
        ];
        out(folder.path(), 0, &arguments)
    };
    let one = table("1");
    assert_eq!(one.lines().filter(|l| l.ends_with("pass")).count(), 8);
    assert_eq!(one, table("3"));
}

#[test]
fn wrong_names_and_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let stderr = error(folder.path(), 2, &["validate", "--only", "cantilevr"]);
    assert!(stderr.contains("cantilever"), "{stderr}");
    error(folder.path(), 2, &["validate", "--threads", "0"]);
}

#[test]
fn cloth_on_the_mannequin_is_among_the_tests() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["validate", "--quick", "--only", "body-capstan", "--json"];
    let cases = data(&out(folder.path(), 0, &arguments), "validate");
    assert_eq!(cases.len(), 2);
    for case in &cases {
        assert_eq!(case["test"], "body-capstan");
        assert_eq!(case["pass"], true);
    }
    // Twice the friction is the square of the ratio.
    let ratio = |at: usize| cases[at]["reference"].as_f64().unwrap();
    assert!((ratio(1) / ratio(0).powi(2) - 1.0).abs() < 0.05);
}
