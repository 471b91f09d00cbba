//! A ring of cloth on the tube: the smallest scene there is.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Two clips on two shapes of the tube.
pub const SCENE: &str = r#"
[character]
model = "tube"
shapes = [{}, { girth = 0.5 }]

[[garment]]
pattern = "ring.obj"
fabric = "denim"

[motion]
clips = ["bend", "twist"]
test = ["twist"]
stops = 1

[simulation]
steps_per_frame = 1
self_contact = false
dressing = 0.1
settling = 0.1
"#;

/// A ring of cloth of 4 × 8 vertices around the tube, pinned at its top.
pub fn ring() -> String {
    let (n_rings, n_around) = (4, 8);
    let mut text = String::new();
    for ring in 0..n_rings {
        for i in 0..n_around {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(n_around);
            let (x, z) = (0.07 * angle.sin(), 0.07 * angle.cos());
            writeln!(text, "v {x} {} {z}", 0.3 + 0.05 * f64::from(ring)).unwrap();
        }
    }
    text += "g pin-top\np 25 26 27 28 29 30 31 32\n";
    for (ring, i) in (0..n_rings - 1).flat_map(|r| (0..n_around).map(move |i| (r, i))) {
        let at = |r: i32, i: i32| 1 + r * n_around + i % n_around;
        let quad = [
            at(ring, i),
            at(ring, i + 1),
            at(ring + 1, i + 1),
            at(ring + 1, i),
        ];
        writeln!(text, "f {} {} {}", quad[0], quad[1], quad[2]).unwrap();
        writeln!(text, "f {} {} {}", quad[0], quad[2], quad[3]).unwrap();
    }
    text
}

/// A folder with the scene in it.
pub fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    fs::write(folder.path().join("ring.obj"), ring()).unwrap();
    folder
}

/// A folder with the scene, its dataset `tube` of 12 frames a sequence, and a model of it,
/// `ring.drapery`.
pub fn trained() -> tempfile::TempDir {
    let folder = scene();
    let simulate = ["simulate", "scene.toml", "--frames", "12", "--out", "tube"];
    super::out(folder.path(), 0, &simulate);
    let train = ["train", "stable-space", "tube", "--dims", "3"];
    let train = [&train[..], &["--out", "ring.drapery"]].concat();
    super::out(folder.path(), 0, &train);
    folder
}

/// The arguments that simulate the scene.
pub fn simulate<'a>(to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let plan = [
        "--json",
        "simulate",
        "scene.toml",
        "--frames",
        "3",
        "--out",
        to,
    ];
    plan.iter().chain(more).copied().collect()
}

/// All files below a folder with their bytes, by their paths.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_path_buf();
                    all.push((name, fs::read(&path).unwrap()));
                }
            }
        }
    }
    all.sort();
    all
}
