//! glTF files, the characters and the clips in them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use drapery::core::{BodyModel, FrameRate};
    use drapery::scene::character::{read_gltf, read_gltf_clips, read_gltf_motion};
    if let Ok(document) = drapery::store::gltf::read(bytes) {
        let _ = read_gltf_motion(&document, "fuzz", FrameRate::THIRTY);
        if let Ok(reading) = read_gltf(&document, "fuzz") {
            let skeleton = reading.character.skeleton();
            let _ = read_gltf_clips(&document, &reading.rig, skeleton, FrameRate::THIRTY);
        }
    }
});
