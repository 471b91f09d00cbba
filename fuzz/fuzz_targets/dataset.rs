//! The metadata at the top of a dataset, with the seal that belongs to it:
//! what is opened is sound, and its sequences can be asked for.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use drapery::Recording;
use drapery::scene::scene_file::Scene;
use drapery::store::dataset::{DatasetFolder, DatasetStore};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

const SCENE: &str = r#"
character.model = "tube"
garment = [{ pattern = "sleeve" }]
motion = { clips = ["bend", "twist"], test = ["twist"] }
"#;

/// A dataset without sequences.
fn dataset() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let name = format!("drapery-fuzz-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let scene = Scene::parse(SCENE.to_string(), Path::new(".")).expect("a scene");
        let recording = Recording::new(scene, Some(3)).expect("a scene to be worn");
        DatasetFolder::create(&folder, recording.head().clone()).expect("room for a dataset");
        folder
    })
}

/// The text with the digest that it should have.
fn sealed(text: &str) -> String {
    const KEY: &str = "\"sha256\": \"";
    let Some(at) = text.rfind(KEY).map(|at| at + KEY.len()) else {
        return text.to_string();
    };
    let Some(rest) = text.get(at + 64..) else {
        return text.to_string();
    };
    let blank = format!("{}{}{rest}", &text[..at], "0".repeat(64));
    let digest = Sha256::digest(blank.as_bytes());
    let digest: String = digest.iter().map(|b| format!("{b:02x}")).collect();
    format!("{}{digest}{rest}", &text[..at])
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let folder = dataset();
    std::fs::write(folder.join("zarr.json"), sealed(text)).expect("room for a small file");
    if let Ok(opened) = DatasetFolder::open(folder) {
        opened.head().check().expect("what is opened is sound");
        for planned in &opened.head().manifest.sequences {
            let _ = opened.state(&planned.name);
            let _ = opened.sequence(&planned.name).map(|_| ());
            assert!(planned.frames > 0);
        }
        let _ = opened.verify_head();
    }
});
