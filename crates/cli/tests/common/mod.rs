//! Driving the real binary in a temporary folder.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "shared by test files that each use a part, and say that they were skipped"
)]

pub mod ring;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, in `folder`.
pub fn drapery(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drapery"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The program's stdout when it exits with `code`.
pub fn out(folder: &Path, code: i32, arguments: &[&str]) -> String {
    let output = drapery(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The program's stderr when it fails with `code`.
pub fn error(folder: &Path, code: i32, arguments: &[&str]) -> String {
    let output = drapery(folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

/// The `data` of every object of that type on stdout.
pub fn data(stdout: &str, kind: &str) -> Vec<serde_json::Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|object| object["type"] == kind)
        .map(|object| object["data"].clone())
        .collect()
}

/// The folder of shared data, if it is there.
pub fn shared_data() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("DRAPERY_DATA").map_or(beside, PathBuf::from);
    if folder.join("body/body.glb").is_file() {
        return Some(folder);
    }
    println!("skipped: no shared data");
    None
}
