//! A dataset whose cloth is known: the sleeve on the bending tube.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "shared by test files that each use a part"
)]

use std::path::Path;

use drapery::core::{BodyModel, Pose, PoseVelocity, Surroundings};
use drapery::scene::builtin;
use drapery::scene::scene_file::Scene;
use drapery::store::dataset::{DatasetStore, FrameBits, FrameRecord, MemoryDataset};
use drapery::{Recording, skinned_garment, stored_character};
use glam::Vec3;

const SCENE: &str = r#"
[character]
model = "tube"

[[garment]]
pattern = "sleeve"

[motion]
clips = ["bend", "twist"]
test = ["bend"]
"#;

/// Frames of each clip.
pub const N_FRAMES: u32 = 20;

/// Both clips, with the garment at `place(frame, vertex, skinned)` in the world
/// [m], after `unposed(pose, vertex)` was added before skinning [m].
pub fn dataset(
    splits: &str,
    unposed: impl Fn(&Pose, usize) -> Vec3,
    place: impl Fn(u32, usize, Vec3) -> Vec3,
) -> MemoryDataset {
    let text = SCENE.replace("test = [\"bend\"]", splits);
    let scene = Scene::parse(text, Path::new(".")).unwrap();
    let recording = Recording::new(scene, Some(N_FRAMES)).unwrap();
    let store = MemoryDataset::new(recording.head().clone()).unwrap();
    let model = stored_character(&store.head().body).unwrap();
    let skinned = skinned_garment(&model, store.head(), 0).unwrap();
    let body = model.shaped(&[0.0, 0.0]).unwrap();
    let still = PoseVelocity::zero(model.skeleton().len());
    for name in ["bend", "twist"] {
        let clip = builtin::clip(name).unwrap();
        let mut posed = model.room();
        let mut sink = store.append(&format!("{name}@mean")).unwrap();
        let mut cloth = vec![Vec3::ZERO; skinned.rest().len()];
        for frame in 0..N_FRAMES {
            // From the middle of the clip, where something happens.
            let pose = &clip.frames()[frame as usize + 15];
            model.pose(&body, pose, &still, &mut posed).unwrap();
            let seen = posed.frame(&body, Surroundings::default());
            let mut rest = cloth.clone();
            skinned.shaped_rest(&body.shape, &mut rest).unwrap();
            for (v, p) in rest.iter_mut().enumerate() {
                *p += unposed(pose, v);
            }
            skinned.pose(&seen, &rest, &mut cloth).unwrap();
            let placed = cloth.iter().enumerate().map(|(v, p)| place(frame, v, *p));
            sink.push(&FrameRecord {
                pose,
                cloth: &placed.collect::<Vec<_>>(),
                velocity: &vec![Vec3::ZERO; cloth.len()],
                masked: &vec![false; cloth.len()],
                flags: FrameBits::default(),
            })
            .unwrap();
        }
        sink.finish(serde_json::Value::Null).unwrap();
    }
    store
}

/// A garment without detail of its own, skinned exactly.
pub fn skinned_exactly() -> MemoryDataset {
    dataset("test = [\"bend\"]", |_, _| Vec3::ZERO, |_, _, p| p)
}
