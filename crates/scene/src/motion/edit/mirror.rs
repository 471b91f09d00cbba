//! [`mirror`]: left for right.
//!
//! Reflection in the plane x = 0 carries a rotation (x, y, z, w) to
//! (x, −y, −z, w) and gives it to the joint on the other side. The skeleton
//! stays as it is, which is right for a body that is its own mirror image.

use drapery_core::{Clip, ClipError, Pose};
use glam::{Quat, Vec3};

use super::super::MotionNote;

/// A mirrored clip and what was found on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirrored {
    /// The motion, named `~mirror`; mirrored again it loses that ending.
    pub clip: Clip,
    /// What a user should know.
    pub notes: Vec<MotionNote>,
}

/// Why a clip can't be mirrored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorError {
    /// A joint of one side has none on the other.
    #[error("joint {joint} has no partner {partner} on the other side")]
    NoPartner {
        /// The joint.
        joint: String,
        /// The name that is not there.
        partner: String,
    },
    /// Two partners hang on joints that are not partners.
    #[error("joints {joint} and {partner} hang on joints that are not partners")]
    Tree {
        /// One.
        joint: String,
        /// The other.
        partner: String,
    },
    /// The result is no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

/// Bones that differ by more than this from their mirror images are noted [m].
const ASYMMETRY: f32 = 5e-3;

const ENDING: &str = "~mirror";

/// The clip with left and right exchanged.
///
/// Partners are known by their names: `Left`/`Right` in any case, `_l`, `.L`
/// or ` l` at the end, `L_`, ` L ` or an L before a capital as in
/// `LHipJoint`. Joints of neither side are reflected in place.
///
/// # Errors
/// When a joint has no partner, or partners sit differently in the tree.
pub fn mirror(clip: &Clip) -> Result<Mirrored, MirrorError> {
    let partner = partners(clip)?;
    let frames = (clip.frames().iter())
        .map(|pose| Pose {
            root: reflect(pose.root),
            rotations: (partner.iter())
                .map(|&joint| {
                    let q = pose.rotations[joint];
                    Quat::from_xyzw(q.x, -q.y, -q.z, q.w)
                })
                .collect(),
        })
        .collect();
    let name = match clip.name().strip_suffix(ENDING) {
        Some(name) => name.to_string(),
        None => format!("{}{ENDING}", clip.name()),
    };
    Ok(Mirrored {
        clip: Clip::new(name, clip.skeleton().clone(), clip.frame_rate(), frames)?,
        notes: asymmetry(clip, &partner).into_iter().collect(),
    })
}

fn reflect(v: Vec3) -> Vec3 {
    Vec3::new(-v.x, v.y, v.z)
}

/// For each joint the one on the other side, or itself.
fn partners(clip: &Clip) -> Result<Vec<usize>, MirrorError> {
    let skeleton = clip.skeleton();
    let mut partner = Vec::with_capacity(skeleton.len());
    for (joint, name) in skeleton.names().iter().enumerate() {
        let names = other_side(name);
        let found = names.iter().find_map(|name| skeleton.joint(name));
        partner.push(match (found, names.into_iter().next()) {
            (Some(found), _) => found.index(),
            (None, None) => joint,
            (None, Some(partner)) => {
                return Err(MirrorError::NoPartner {
                    joint: name.clone(),
                    partner,
                });
            }
        });
    }
    for joint in 0..partner.len() {
        let other = partner[joint];
        let above = skeleton.parents()[joint].map(|p| partner[p.index()]);
        let other_above = skeleton.parents()[other].map(drapery_core::JointId::index);
        if partner[other] != joint || above != other_above {
            return Err(MirrorError::Tree {
                joint: skeleton.names()[joint].clone(),
                partner: skeleton.names()[other].clone(),
            });
        }
    }
    Ok(partner)
}

/// Names that a joint's partner may have, most likely first; none for a joint
/// of neither side.
fn other_side(name: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (left, right) in [("Left", "Right"), ("left", "right"), ("LEFT", "RIGHT")] {
        for (this, other) in [(left, right), (right, left)] {
            if name.contains(this) {
                names.push(name.replacen(this, other, 1));
            }
        }
    }
    for (this, other) in [('L', 'R'), ('R', 'L'), ('l', 'r'), ('r', 'l')] {
        for gap in ['_', '.', '-', ' '] {
            if let Some(stem) = name.strip_suffix(&[gap, this][..].iter().collect::<String>()) {
                names.push(format!("{stem}{gap}{other}"));
            }
            let middle: String = [gap, this, gap].iter().collect();
            if name.contains(&middle) {
                let swapped: String = [gap, other, gap].iter().collect();
                names.push(name.replacen(&middle, &swapped, 1));
            }
        }
        // At the start of the name proper, behind a prefix such as `rig:`.
        let start = name.rfind([':', '|']).map_or(0, |at| at + 1);
        let (prefix, tail) = name.split_at(start);
        let mut letters = tail.chars();
        if letters.next() == Some(this) {
            let is_side = match (letters.next(), letters.next()) {
                (Some('_' | '.' | '-' | ' '), _) => true,
                (Some(a), Some(b)) => this.is_uppercase() && a.is_uppercase() && b.is_lowercase(),
                _ => false,
            };
            if is_side {
                names.push(format!("{prefix}{other}{}", &tail[1..]));
            }
        }
    }
    names
}

/// A note when a bone is not the mirror image of its partner.
fn asymmetry(clip: &Clip, partner: &[usize]) -> Option<MotionNote> {
    let skeleton = clip.skeleton();
    let bone = |joint: usize| match skeleton.parents()[joint] {
        Some(parent) => skeleton.rest()[joint] - skeleton.rest()[parent.index()],
        None => Vec3::ZERO,
    };
    let (joint, distance) = (0..partner.len())
        .map(|joint| (joint, bone(joint).distance(reflect(bone(partner[joint])))))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (distance > ASYMMETRY).then(|| MotionNote::AsymmetricRest {
        joint: skeleton.names()[joint].clone(),
        distance: f64::from(distance),
    })
}

#[cfg(test)]
mod tests {
    use drapery_core::{FrameRate, JointId, Skeleton};

    use super::super::test_clip::walk;
    use super::*;

    #[test]
    fn mirrored_twice_is_the_same_clip() {
        let clip = walk(31);
        let once = mirror(&clip).unwrap();
        assert_eq!(once.clip.name(), "walk~mirror");
        assert_eq!(once.notes, []);
        assert_ne!(once.clip.frames(), clip.frames());
        assert_eq!(mirror(&once.clip).unwrap().clip, clip);
    }

    /// Joint positions of the mirrored clip are the reflected positions of
    /// the partners.
    #[test]
    fn positions_are_reflected() {
        let clip = walk(31);
        let mirrored = mirror(&clip).unwrap().clip;
        let skeleton = clip.skeleton();
        let place = |pose: &Pose| {
            let mut r = vec![Quat::IDENTITY; 6];
            let mut p = vec![Vec3::ZERO; 6];
            skeleton.globals(skeleton.rest(), pose, &mut r, &mut p);
            p
        };
        for (a, b) in clip.frames().iter().zip(mirrored.frames()) {
            let (a, b) = (place(a), place(b));
            for (joint, other) in [0, 2, 1, 3, 5, 4].into_iter().enumerate() {
                assert!(reflect(a[other]).abs_diff_eq(b[joint], 1e-5));
            }
        }
    }

    #[test]
    fn partners_are_known_by_many_kinds_of_names() {
        for (name, partner) in [
            ("LeftUpLeg", "RightUpLeg"),
            ("mixamorig:RightHandIndex1", "mixamorig:LeftHandIndex1"),
            ("left_foot", "right_foot"),
            ("LHipJoint", "RHipJoint"),
            ("RThumb", "LThumb"),
            ("upperleg01.L", "upperleg01.R"),
            ("lowerarm_twist_01_l", "lowerarm_twist_01_r"),
            ("Bip01 L Thigh", "Bip01 R Thigh"),
            ("L_Ankle", "R_Ankle"),
        ] {
            assert_eq!(other_side(name), [partner], "{name}");
        }
        for centre in [
            "LowerBack",
            "Hips",
            "Root",
            "RIG",
            "Reference",
            "lumbar",
            "Tail",
        ] {
            assert_eq!(other_side(centre), [""; 0], "{centre}");
        }
    }

    #[test]
    fn one_sided_skeletons_are_refused_and_lopsided_ones_noted() {
        let clip = |names: [&str; 3], parents: [Option<u16>; 3], rest: [Vec3; 3]| {
            Clip::new(
                "c".to_string(),
                Skeleton::new(
                    names.map(str::to_string).to_vec(),
                    parents.map(|p| p.map(JointId)).to_vec(),
                    rest.to_vec(),
                )
                .unwrap(),
                FrameRate::THIRTY,
                vec![Pose::identity(Vec3::ZERO, 3)],
            )
            .unwrap()
        };
        let rest = [Vec3::ZERO, Vec3::X, Vec3::new(-1.0, 0.1, 0.0)];
        let alone = clip(["Hips", "LeftArm", "Head"], [None, Some(0), Some(0)], rest);
        assert!(matches!(
            mirror(&alone),
            Err(MirrorError::NoPartner { partner, .. }) if partner == "RightArm"
        ));
        let chained = clip(
            ["Hips", "LeftArm", "RightArm"],
            [None, Some(0), Some(1)],
            rest,
        );
        assert!(matches!(mirror(&chained), Err(MirrorError::Tree { .. })));
        let lopsided = clip(
            ["Hips", "LeftArm", "RightArm"],
            [None, Some(0), Some(0)],
            rest,
        );
        assert!(matches!(
            mirror(&lopsided).unwrap().notes[..],
            [MotionNote::AsymmetricRest { distance, .. }] if (distance - 0.1).abs() < 1e-6
        ));
    }
}
