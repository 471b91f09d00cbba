//! The limits against captured motion; skipped where the data is missing.

use std::path::PathBuf;

use drapery_core::JointId;

use super::*;
use crate::load::{MotionOptions, load_motion};
use crate::motion::{JointMap, RetargetOptions, retarget};

/// Walks and runs of real people. Elbows, wrists and hands are left out: which
/// way the captured ones bend depends on how the palms were held at rest. So
/// are ankles, which jump in some of the files.
#[test]
fn captured_walks_and_runs_stay_within_6_degrees_of_the_limits() {
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
        for (j, joint) in skeleton.names().iter().enumerate() {
            let sure = ["hip", "knee", "spine", "neck", "head", "collar", "shoulder"];
            if !sure.iter().any(|word| joint.contains(word)) {
                continue;
            }
            for (frame, pose) in clip.frames().iter().enumerate() {
                let beyond = excess(JointId(j as u16), pose.rotations[j]).to_degrees();
                assert!(beyond < 6.0, "{name} frame {frame}: {joint} by {beyond}°");
            }
        }
    }
}
