//! AMASS-style archives.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(archive) = drapery::store::npz::NpzArchive::from_bytes(bytes) {
        let _ = drapery::scene::motion::clip_from_amass(&archive, "fuzz");
    }
});
