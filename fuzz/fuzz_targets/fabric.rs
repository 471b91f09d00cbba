//! Fabrics: `fabric.toml` and ARCSim materials. What is read can be written
//! and read again.
#![no_main]

use drapery::scene::fabric::{read_arcsim, read_toml, to_toml};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let read = [
        read_toml(bytes, "fuzz").ok(),
        read_arcsim(bytes, "fuzz")
            .ok()
            .map(|reading| reading.fabric),
    ];
    for fabric in read.into_iter().flatten() {
        let again = read_toml(to_toml(&fabric).as_bytes(), "again").expect("our own file");
        assert_eq!(again, fabric);
    }
});
