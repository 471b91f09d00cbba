//! Names of the joints and shape directions of SMPL files, which have none.

/// The joints that SMPL, SMPL-H and SMPL-X share, in order.
const BODY: [&str; 22] = [
    "pelvis",
    "left_hip",
    "right_hip",
    "spine1",
    "left_knee",
    "right_knee",
    "spine2",
    "left_ankle",
    "right_ankle",
    "spine3",
    "left_foot",
    "right_foot",
    "neck",
    "left_collar",
    "right_collar",
    "head",
    "left_shoulder",
    "right_shoulder",
    "left_elbow",
    "right_elbow",
    "left_wrist",
    "right_wrist",
];

const FACE: [&str; 3] = ["jaw", "left_eye_smplhf", "right_eye_smplhf"];

const FINGERS: [&str; 5] = ["index", "middle", "pinky", "ring", "thumb"];

/// Names for that many joints: those of SMPL (24), SMPL-H (52) or SMPL-X (55),
/// and `joint_00` onwards for any other number.
pub(super) fn joint_names(n_joints: usize) -> Vec<String> {
    let body = BODY.iter().map(ToString::to_string);
    let hands = || {
        ["left", "right"].into_iter().flat_map(|side| {
            FINGERS
                .into_iter()
                .flat_map(move |finger| (1..=3).map(move |i| format!("{side}_{finger}{i}")))
        })
    };
    match n_joints {
        24 => body
            .chain(["left_hand".into(), "right_hand".into()])
            .collect(),
        52 => body.chain(hands()).collect(),
        55 => body
            .chain(FACE.iter().map(ToString::to_string))
            .chain(hands())
            .collect(),
        _ => numbered("joint", n_joints),
    }
}

/// `stem_00`, `stem_01` and so on, with as many digits as the last one needs.
pub(super) fn numbered(stem: &str, count: usize) -> Vec<String> {
    let width = count.saturating_sub(1).to_string().len().max(2);
    (0..count).map(|i| format!("{stem}_{i:0width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_models_have_their_names_in_place() {
        let smpl = joint_names(24);
        assert_eq!(
            (smpl[0].as_str(), smpl[23].as_str()),
            ("pelvis", "right_hand")
        );
        let smpl_h = joint_names(52);
        assert_eq!(smpl_h[22], "left_index1");
        assert_eq!(smpl_h[37], "right_index1");
        assert_eq!(smpl_h[51], "right_thumb3");
        let smpl_x = joint_names(55);
        assert_eq!(
            (smpl_x[22].as_str(), smpl_x[25].as_str()),
            ("jaw", "left_index1")
        );
        for n in [3, 24, 52, 55, 101] {
            let mut names = joint_names(n);
            assert_eq!(names.len(), n);
            names.sort();
            names.dedup();
            assert_eq!(names.len(), n, "unique");
        }
        assert_eq!(joint_names(101)[7], "joint_007");
        assert_eq!(numbered("shape", 3), ["shape_00", "shape_01", "shape_02"]);
    }
}
