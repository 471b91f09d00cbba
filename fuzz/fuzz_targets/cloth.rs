//! Cloth of other simulators, from files: the first byte says of which kind,
//! and the file is what follows.
#![no_main]

use drapery::store::cloth::ClothFile;
use libfuzzer_sys::fuzz_target;

const ENDINGS: [&str; 4] = ["pc2", "mdd", "npz", "obj"];

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, content)) = bytes.split_first() else {
        return;
    };
    let ending = ENDINGS[usize::from(*kind) % ENDINGS.len()];
    let name = format!("drapery-fuzz-{}.{ending}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, content).expect("room for a small file");
    let Ok(cloth) = ClothFile::open(&path, "fuzz") else {
        return;
    };
    assert!(cloth.n_frames() > 0);
    // A header may promise more than anyone wants to wait for.
    let frames = cloth.frames().into_iter().flatten().take(64);
    for frame in frames.map_while(Result::ok) {
        assert_eq!(frame.len(), cloth.n_points());
        assert!(frame.iter().all(|p| p.is_finite()));
    }
});
