//! OBJ garments; what can be read can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(reading) = drapery::scene::garment::read_obj(bytes, "fuzz") {
        let text = drapery::scene::garment::write_obj(&reading.garment);
        let again =
            drapery::scene::garment::read_obj(text.as_bytes(), "fuzz").expect("our own file");
        assert_eq!(again.garment.mesh(), reading.garment.mesh());
    }
});
