//! [`clean`]: a captured motion without its jumps and the drift of its floor.

use drapery_core::Clip;
use glam::Vec3;

use super::drift::{Drift, find_drift, level};
use super::mend::{Mend, mend};

/// A clean clip, and what was done to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cleaned {
    /// The clip, under its name with `~clean` behind it; the same, bit for bit
    /// and by name, when it was clean.
    pub clip: Clip,
    /// The jumps that were mended.
    pub mends: Vec<Mend>,
    /// The drift that was taken off, if it was worth it.
    pub drift: Option<Drift>,
}

/// Mends the jumps of a clip ([`mend`]), then takes the drift of its floor off
/// ([`level`]), with the joints of its skeleton at `rest` [m].
///
/// # Panics
/// When there is not one place a joint.
pub fn clean(clip: &Clip, rest: &[Vec3]) -> Cleaned {
    let mended = mend(clip);
    let drift = find_drift(&mended.clip, rest).filter(Drift::matters);
    let cleaned = match &drift {
        Some(drift) => level(&mended.clip, drift),
        None => mended.clip,
    };
    let is_same = mended.mends.is_empty() && drift.is_none();
    let name = match is_same {
        true => clip.name().to_string(),
        false => format!("{}~clean", clip.name()),
    };
    Cleaned {
        clip: cleaned.renamed(name),
        mends: mended.mends,
        drift,
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::motion::edit::rebuilt;
    use crate::motion::{find_jumps, repertoire};

    #[test]
    fn what_is_clean_is_left_bit_for_bit() {
        for name in [
            "walk",
            "run-fast",
            "jump",
            "turn-180",
            "dance-waltz",
            "twist",
        ] {
            let clip = crate::builtin::clip(name).unwrap();
            let cleaned = clean(&clip, clip.skeleton().rest());
            assert_eq!(cleaned.clip, clip, "{name}");
            assert!(cleaned.mends.is_empty() && cleaned.drift.is_none());
        }
    }

    #[test]
    fn jumps_and_drift_are_cured_together_and_once() {
        let truth = repertoire::clip("walk").unwrap();
        let mut frames = truth.frames().to_vec();
        for (f, pose) in frames.iter_mut().enumerate() {
            pose.root.y += 0.015 + 1e-4 * f as f32;
        }
        frames[30].rotations[4] *= Quat::from_rotation_z(1.2);
        frames[60].root.y -= 0.3;
        let faulty = rebuilt(&truth, frames);
        let cleaned = clean(&faulty, truth.skeleton().rest());
        assert_eq!(cleaned.clip.name(), "walk~clean");
        assert_eq!(cleaned.mends.len(), 2);
        assert_eq!(find_jumps(&cleaned.clip), []);
        for (p, q) in truth.frames().iter().zip(cleaned.clip.frames()) {
            assert!(p.root.distance(q.root) < 0.005);
            assert!(p.rotations[4].angle_between(q.rotations[4]) < 0.03);
        }
        // Cleaning again finds nothing.
        let again = clean(&cleaned.clip, truth.skeleton().rest());
        assert_eq!(again.clip, cleaned.clip);
    }
}
