//! PC2 point caches.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(cache) = drapery::store::pc2::Pc2Reader::new(bytes) {
        for sample in 0..cache.n_samples() {
            let _ = cache.sample(sample);
        }
    }
});
