//! Scene files: what is wrong is said with a line that is there.
#![no_main]

use drapery::scene::scene_file::{SceneError, SceneFile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let n_lines = text.lines().count().max(1);
    match SceneFile::parse(text) {
        Ok(scene) => assert!(!scene.garments.is_empty() && !scene.motion.clips.is_empty()),
        Err(SceneError::UnknownKey { line, .. } | SceneError::Kind { line, .. }) => {
            assert!((1..=n_lines).contains(&line));
        }
        Err(_) => {}
    }
});
