//! BVH files, and the clips made of them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = drapery::store::bvh::read(bytes) {
        let options = drapery::scene::motion::BvhOptions::default();
        let _ = drapery::scene::motion::clip_from_bvh(&file, "fuzz", &options);
    }
});
