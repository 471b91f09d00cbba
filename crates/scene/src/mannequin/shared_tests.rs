//! The limits against captured motion; skipped where the data is missing.

use std::path::PathBuf;

use drapery_core::JointId;

use super::*;
use crate::load::{MotionOptions, load_motion};
use crate::motion::{JointMap, RetargetOptions, retarget};

/// Walks and runs of real people, which need little more than published ranges:
/// the skeletons differ, and joints that the captured one lacks leave their
/// share to the others.
#[test]
fn captured_walks_and_runs_stay_within_the_limits_or_nearly() {
    let folder = std::env::var_os("DRAPERY_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let skeleton = skeleton();
    for name in ["07_02", "46_01", "91_36", "104_54", "128_02"] {
        let path = folder.join(format!("motions/{name}.bvh"));
        if !path.exists() {
            println!("skipped: no shared data");
            return;
        }
        let loaded = load_motion(path.to_str().unwrap(), &MotionOptions::default()).unwrap();
        let map = JointMap::between(loaded.clip.skeleton(), &skeleton).unwrap();
        let options = RetargetOptions::default();
        let clip = retarget(&loaded.clip, &skeleton, &map, &options)
            .unwrap()
            .clip;
        for j in 0..N_JOINTS as u16 {
            let mut beyond: Vec<f32> = clip
                .frames()
                .iter()
                .map(|pose| excess(JointId(j), pose.rotations[usize::from(j)]).to_degrees())
                .collect();
            beyond.sort_by(f32::total_cmp);
            let most = beyond[beyond.len() - 1];
            let usual = beyond[beyond.len() / 2];
            if most > 0.1 {
                println!(
                    "{name} {} {usual:.1} {most:.1}",
                    skeleton.names()[usize::from(j)]
                );
            }
        }
    }
}
