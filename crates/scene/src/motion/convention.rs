//! [`Convention`]: how programs name the joints of a body.
//!
//! Names are compared in lower case, without what stands before a `:`, `|` or
//! `/`, without spaces, dots, dashes and underscores, and without the prefixes
//! of Mixamo and Biped. In the tables `*` stands for left or right, `%` for l
//! or r.

use super::{Role, Side};

/// A set of joint names that programs and databases share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Convention {
    /// CMU database in MotionBuilder form: `LeftUpLeg`, `LHipJoint`, `LowerBack`.
    Cmu,
    /// Mixamo: `mixamorig:LeftUpLeg`, `mixamorig:Spine2`.
    Mixamo,
    /// MakeHuman's own skeleton: `upperleg01.L`, `spine05`.
    MakeHuman,
    /// SMPL and its family: `left_hip`, `spine1`.
    Smpl,
    /// Unreal and MakeHuman's game skeleton: `thigh_l`, `spine_01`.
    Unreal,
    /// Unity and VRM: `LeftUpperLeg`, `LeftLowerArm`.
    Unity,
    /// 3ds Max Biped: `Bip01 L Thigh`.
    Biped,
}

type Row = (fn(Side) -> Role, &'static [&'static str]);

const MIXAMO: &[Row] = &[
    (Role::Hip, &["*upleg"]),
    (Role::Knee, &["*leg"]),
    (Role::Ankle, &["*foot"]),
    (Role::Toe, &["*toebase", "*toe"]),
    (Role::Collar, &["*shoulder"]),
    (Role::Shoulder, &["*arm"]),
    (Role::Elbow, &["*forearm"]),
    (Role::Wrist, &["*hand"]),
    (Role::Finger, &["*handindex1", "*handfinger1"]),
    (Role::Thumb, &["*handthumb1"]),
];

const CMU: &[Row] = &[
    (Role::HipHelper, &["%hipjoint"]),
    (Role::Hip, &["*upleg"]),
    (Role::Knee, &["*leg"]),
    (Role::Ankle, &["*foot"]),
    (Role::Toe, &["*toebase"]),
    (Role::Collar, &["*shoulder"]),
    (Role::Shoulder, &["*arm"]),
    (Role::Elbow, &["*forearm"]),
    (Role::Wrist, &["*hand"]),
    (Role::FingerBase, &["*fingerbase"]),
    (Role::Finger, &["*handindex1", "*handfinger1"]),
    (Role::Thumb, &["%thumb"]),
];

const MAKE_HUMAN: &[Row] = &[
    (Role::HipHelper, &["pelvis%"]),
    (Role::Hip, &["upperleg01%"]),
    (Role::Knee, &["lowerleg01%"]),
    (Role::Ankle, &["foot%"]),
    (Role::Toe, &["toe11%"]),
    (Role::Collar, &["clavicle%"]),
    (Role::Shoulder, &["upperarm01%"]),
    (Role::Elbow, &["lowerarm01%"]),
    (Role::Wrist, &["wrist%"]),
    (Role::Finger, &["finger21%"]),
    (Role::Thumb, &["finger11%"]),
];

const SMPL: &[Row] = &[
    (Role::Hip, &["*hip", "%hip"]),
    (Role::Knee, &["*knee", "%knee"]),
    (Role::Ankle, &["*ankle", "%ankle"]),
    (Role::Toe, &["*foot", "%foot"]),
    (Role::Collar, &["*collar", "%collar"]),
    (Role::Shoulder, &["*shoulder", "%shoulder"]),
    (Role::Elbow, &["*elbow", "%elbow"]),
    (Role::Wrist, &["*wrist", "%wrist"]),
    (Role::Finger, &["*hand", "%hand", "*index1"]),
    (Role::Thumb, &["*thumb1"]),
];

const UNREAL: &[Row] = &[
    (Role::Hip, &["thigh%"]),
    (Role::Knee, &["calf%"]),
    (Role::Ankle, &["foot%"]),
    (Role::Toe, &["ball%"]),
    (Role::Collar, &["clavicle%"]),
    (Role::Shoulder, &["upperarm%"]),
    (Role::Elbow, &["lowerarm%"]),
    (Role::Wrist, &["hand%"]),
    (Role::Finger, &["index01%"]),
    (Role::Thumb, &["thumb01%"]),
];

const UNITY: &[Row] = &[
    (Role::Hip, &["*upperleg"]),
    (Role::Knee, &["*lowerleg"]),
    (Role::Ankle, &["*foot"]),
    (Role::Toe, &["*toes"]),
    (Role::Collar, &["*shoulder"]),
    (Role::Shoulder, &["*upperarm"]),
    (Role::Elbow, &["*lowerarm"]),
    (Role::Wrist, &["*hand"]),
    (Role::Finger, &["*indexproximal"]),
    (Role::Thumb, &["*thumbproximal"]),
];

const BIPED: &[Row] = &[
    (Role::Hip, &["%thigh"]),
    (Role::Knee, &["%calf"]),
    (Role::Ankle, &["%foot"]),
    (Role::Toe, &["%toe0"]),
    (Role::Collar, &["%clavicle"]),
    (Role::Shoulder, &["%upperarm"]),
    (Role::Elbow, &["%forearm"]),
    (Role::Wrist, &["%hand"]),
    (Role::Finger, &["%finger1"]),
    (Role::Thumb, &["%finger0"]),
];

impl Convention {
    /// All of them; of two that fit equally well the earlier is taken.
    pub const ALL: [Self; 7] = [
        Self::Cmu,
        Self::Mixamo,
        Self::MakeHuman,
        Self::Smpl,
        Self::Unreal,
        Self::Unity,
        Self::Biped,
    ];

    /// What a joint of that name is in this convention, if it is a limb or the
    /// head. Spine, neck and pelvis are told by their place in the tree, see
    /// [`Anatomy`](super::Anatomy).
    pub fn role(self, name: &str) -> Option<Role> {
        let plain = plain_name(name);
        if plain == "head" {
            return Some(Role::Head);
        }
        for (role, patterns) in self.table() {
            for side in [Side::Left, Side::Right] {
                if patterns.iter().any(|p| side.fill(p) == plain) {
                    return Some(role(side));
                }
            }
        }
        None
    }

    const fn table(self) -> &'static [Row] {
        match self {
            Self::Cmu => CMU,
            Self::Mixamo => MIXAMO,
            Self::MakeHuman => MAKE_HUMAN,
            Self::Smpl => SMPL,
            Self::Unreal => UNREAL,
            Self::Unity => UNITY,
            Self::Biped => BIPED,
        }
    }
}

impl Side {
    fn fill(self, pattern: &str) -> String {
        let (word, letter) = match self {
            Self::Left => ("left", "l"),
            Self::Right => ("right", "r"),
        };
        pattern.replace('*', word).replace('%', letter)
    }
}

/// A name as conventions compare it.
pub(super) fn plain_name(name: &str) -> String {
    let tail = name.rsplit([':', '|', '/']).next().unwrap_or(name);
    let plain: String = tail
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    for prefix in ["mixamorig", "bip"] {
        if let Some(rest) = plain.strip_prefix(prefix) {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            if !rest.is_empty() {
                return rest.to_string();
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_through_their_disguises() {
        let cases = [
            (
                Convention::Mixamo,
                "mixamorig:LeftUpLeg",
                Role::Hip(Side::Left),
            ),
            (
                Convention::Mixamo,
                "mixamorig7:RightArm",
                Role::Shoulder(Side::Right),
            ),
            (
                Convention::Mixamo,
                "Armature|mixamorig_LeftForeArm",
                Role::Elbow(Side::Left),
            ),
            (Convention::Cmu, "RHipJoint", Role::HipHelper(Side::Right)),
            (Convention::Cmu, "LeftHandIndex1", Role::Finger(Side::Left)),
            (Convention::Cmu, "LeftHandFinger1", Role::Finger(Side::Left)),
            (Convention::MakeHuman, "upperleg01.L", Role::Hip(Side::Left)),
            (Convention::MakeHuman, "toe1-1.R", Role::Toe(Side::Right)),
            (Convention::Smpl, "left_foot", Role::Toe(Side::Left)),
            (Convention::Smpl, "L_Ankle", Role::Ankle(Side::Left)),
            (Convention::Unreal, "thigh_r", Role::Hip(Side::Right)),
            (Convention::Unity, "LeftLowerArm", Role::Elbow(Side::Left)),
            (
                Convention::Biped,
                "Bip01 L UpperArm",
                Role::Shoulder(Side::Left),
            ),
            (Convention::Biped, "Bip001 Head", Role::Head),
        ];
        for (convention, name, role) in cases {
            assert_eq!(convention.role(name), Some(role), "{name}");
        }
        for twist in ["upperarm02.L", "upperleg02.R", "lowerarm_twist_01_l"] {
            assert_eq!(Convention::MakeHuman.role(twist), None, "{twist}");
            assert_eq!(Convention::Unreal.role(twist), None, "{twist}");
        }
    }
}
