//! SMPL-layout bodies.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = drapery::scene::character::read_smpl(bytes, "fuzz");
});
