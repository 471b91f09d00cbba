//! The mannequin's joints: SMPL's 24, in an A-pose.
//!
//! Heights of hip, knee and ankle and the lengths of the arm are the shares of
//! the stature H of Drillis and Contini (1966): hip 0.530 H, knee 0.285 H,
//! ankle 0.039 H above the sole (raised to the middle of the ankle, as the
//! skin turns about that), forearm 0.146 H, upper arm 0.186 H from the
//! acromion, less 2 cm to the middle of the joint. The shoulder joints are
//! half the biacromial breadth from the middle, less 2 cm. The rest (the
//! spine, the slight spread of the legs) is drawn.
//!
//! Arms rest 45° below the horizontal, palms towards the thighs, thumbs to the
//! front, elbows bent by 12° so that they know which way to bend.

use drapery_core::{JointId, Skeleton};
use glam::Vec3;

/// Joints with their parents and, at rest, their positions [m].
///
/// Right ones are mirrored from the left ones before them.
const JOINTS: [(&str, Option<u16>, [f32; 3]); 24] = [
    ("pelvis", None, [0.0, 0.945, -0.010]),
    ("left_hip", Some(0), [0.092, 0.897, 0.0]),
    ("right_hip", Some(0), [-0.092, 0.897, 0.0]),
    ("spine1", Some(0), [0.0, 1.045, -0.018]),
    ("left_knee", Some(1), [0.128, 0.483, 0.006]),
    ("right_knee", Some(2), [-0.128, 0.483, 0.006]),
    ("spine2", Some(3), [0.0, 1.165, -0.022]),
    ("left_ankle", Some(4), [0.162, 0.075, -0.022]),
    ("right_ankle", Some(5), [-0.162, 0.075, -0.022]),
    ("spine3", Some(6), [0.0, 1.285, -0.028]),
    ("left_foot", Some(7), [0.180, 0.024, 0.105]),
    ("right_foot", Some(8), [-0.180, 0.024, 0.105]),
    ("neck", Some(9), [0.0, 1.440, -0.026]),
    ("left_collar", Some(9), [0.045, 1.375, -0.018]),
    ("right_collar", Some(9), [-0.045, 1.375, -0.018]),
    ("head", Some(12), [0.0, 1.515, -0.010]),
    ("left_shoulder", Some(13), [0.176, 1.372, -0.022]),
    ("right_shoulder", Some(14), [-0.176, 1.372, -0.022]),
    ("left_elbow", Some(16), [0.386, 1.162, -0.030]),
    ("right_elbow", Some(17), [-0.386, 1.162, -0.030]),
    ("left_wrist", Some(18), [0.555, 0.988, 0.020]),
    ("right_wrist", Some(19), [-0.555, 0.988, 0.020]),
    ("left_hand", Some(20), [0.613, 0.928, 0.035]),
    ("right_hand", Some(21), [-0.613, 0.928, 0.035]),
];

/// How many joints the mannequin has.
pub const N_JOINTS: usize = JOINTS.len();

/// The mannequin's joints at rest, for the mean shape.
pub fn skeleton() -> Skeleton {
    Skeleton::new(
        JOINTS.iter().map(|j| j.0.to_string()).collect(),
        JOINTS.iter().map(|j| j.1.map(JointId)).collect(),
        JOINTS.iter().map(|j| Vec3::from_array(j.2)).collect(),
    )
    .expect("the mannequin's joints are a tree with parents first")
}

/// The same joint on the other side; joints of the middle are their own.
///
/// # Panics
/// When the mannequin has no such joint.
pub fn mirrored(joint: JointId) -> JointId {
    let name = JOINTS[joint.index()].0;
    let (rest, other) = if let Some(rest) = name.strip_prefix("left_") {
        (rest, "right_")
    } else if let Some(rest) = name.strip_prefix("right_") {
        (rest, "left_")
    } else {
        return joint;
    };
    let found = JOINTS
        .iter()
        .position(|j| j.0.strip_prefix(other) == Some(rest));
    JointId(found.expect("each side has the other's joints") as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_side_is_the_mirrored_left_one() {
        let skeleton = skeleton();
        for j in 0..N_JOINTS as u16 {
            let other = mirrored(JointId(j));
            assert_eq!(mirrored(other), JointId(j));
            let (p, q) = (
                skeleton.rest()[usize::from(j)],
                skeleton.rest()[other.index()],
            );
            assert_eq!(q, Vec3::new(-p.x, p.y, p.z));
            let parent = |j: JointId| skeleton.parents()[j.index()];
            assert_eq!(parent(other), parent(JointId(j)).map(mirrored));
        }
    }

    #[test]
    fn arms_rest_45_degrees_below_the_horizontal() {
        let skeleton = skeleton();
        let at = |name: &str| skeleton.rest()[skeleton.joint(name).unwrap().index()];
        let arm = at("left_elbow") - at("left_shoulder");
        let below = (-arm.y).atan2(arm.x).to_degrees();
        assert!((below - 45.0).abs() < 1.0, "{below}");
        let fore = at("left_wrist") - at("left_elbow");
        let bend = arm.angle_between(fore).to_degrees();
        assert!((8.0..16.0).contains(&bend), "{bend}");
        assert!(fore.z > 0.0, "the elbow bends to the front");
    }
}
