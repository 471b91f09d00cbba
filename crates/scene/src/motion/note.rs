//! [`MotionNote`]: what a user should be told about a motion that was read,
//! edited or retargeted all the same.

use std::fmt;

use super::Axis;

/// Something that was decided or left out on the way.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MotionNote {
    /// Two joints had one name; the later was renamed.
    RenamedJoint {
        /// The name in the file.
        from: String,
        /// The name in the clip.
        to: String,
    },
    /// A joint above the one that travels was folded into it.
    RootFolded {
        /// The joint that is no longer there.
        joint: String,
    },
    /// A joint below the root has positions that change; they are left out.
    PositionsIgnored {
        /// The joint.
        joint: String,
        /// How far it moves against its parent [m].
        range: f64,
    },
    /// A joint's constant position channels replace its offset.
    OffsetFromChannels {
        /// The joint.
        joint: String,
    },
    /// The joint names are of no known convention, so that left, right and the
    /// parts of the body are not known.
    NamesUnknown,
    /// The rest pose does not show which way is up; +Y is assumed.
    UpAssumed,
    /// Nothing shows which way the rest pose faces.
    FacingAssumed {
        /// The axis that was taken.
        facing: Axis,
    },
    /// The rest pose does not stand: legs down, head up. Limbs can be
    /// retargeted, the trunk may lean.
    RestNotStanding,
    /// The rest pose faced between two axes and was turned.
    RestTurned {
        /// By how much about +Y [rad].
        angle: f64,
    },
    /// The motion has another way up than the rest pose.
    MotionUpDiffers {
        /// Up in the rest pose.
        rest: Axis,
        /// Up in the motion.
        motion: Axis,
    },
    /// The skeleton has no height to find a unit by; metres are assumed.
    UnitAssumed,
    /// The skeleton is no usual person's height in any unit that files use.
    UnusualHeight {
        /// Its standing height [m].
        height: f64,
    },
    /// The frame rate was taken to be a whole number.
    FrameRateRounded {
        /// What the file says [1/s].
        from: f64,
        /// What was taken [1/s].
        to: f64,
    },
    /// The file does not say where the pelvis is relative to its translation;
    /// heights are right only after grounding.
    PelvisOffsetUnknown,
    /// The joints of fingers, jaw and eyes were dropped.
    HandsAndFaceDropped {
        /// How many joints.
        joints: usize,
    },
    /// A source joint moves, but no target joint follows it.
    SourceJointUnused {
        /// The source joint.
        joint: String,
        /// The largest turn from its first frame [rad].
        angle: f64,
    },
    /// A limb joint could not be aimed, as the next joint has no partner.
    NotAimed {
        /// The target joint.
        joint: String,
    },
    /// The target has no feet that could be put on the ground.
    NotGrounded,
    /// The rest pose is not its own mirror image.
    AsymmetricRest {
        /// The joint that is farthest off.
        joint: String,
        /// By how much [m].
        distance: f64,
    },
}

impl fmt::Display for MotionNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let degrees = |angle: &f64| angle.to_degrees();
        match self {
            Self::RenamedJoint { from, to } => {
                write!(f, "a second joint named {from} is now {to}")
            }
            Self::RootFolded { joint } => {
                write!(f, "joint {joint} was folded into the root below it")
            }
            Self::PositionsIgnored { joint, range } => write!(
                f,
                "joint {joint} moves against its parent by {range:.4} m, which is left out"
            ),
            Self::OffsetFromChannels { joint } => {
                write!(f, "the position channels of joint {joint} give its offset")
            }
            Self::NamesUnknown => write!(f, "the joint names follow no known convention"),
            Self::UpAssumed => write!(f, "the rest pose does not show up; +y is assumed"),
            Self::FacingAssumed { facing } => {
                write!(
                    f,
                    "the rest pose does not show forward; {facing} is assumed"
                )
            }
            Self::RestNotStanding => write!(f, "the rest pose does not stand upright"),
            Self::RestTurned { angle } => write!(
                f,
                "the rest pose was turned by {:.1} degrees to face +z",
                degrees(angle)
            ),
            Self::MotionUpDiffers { rest, motion } => {
                write!(
                    f,
                    "up is {rest} in the rest pose but {motion} in the motion"
                )
            }
            Self::UnitAssumed => {
                write!(
                    f,
                    "the skeleton has no height to find its unit; metres are assumed"
                )
            }
            Self::UnusualHeight { height } => {
                write!(f, "the skeleton is {height:.2} m tall; check the unit")
            }
            Self::FrameRateRounded { from, to } => {
                write!(f, "a frame rate of {from:.5} was taken to be {to}")
            }
            Self::PelvisOffsetUnknown => write!(
                f,
                "the file does not place the pelvis exactly; put the motion on the ground"
            ),
            Self::HandsAndFaceDropped { joints } => {
                write!(f, "{joints} joints of hands and face were dropped")
            }
            Self::SourceJointUnused { joint, angle } => write!(
                f,
                "source joint {joint} turns by up to {:.1} degrees but has no partner",
                degrees(angle)
            ),
            Self::NotAimed { joint } => {
                write!(f, "joint {joint} could not be aimed at the next joint")
            }
            Self::NotGrounded => write!(f, "the target has no known feet to put on the ground"),
            Self::AsymmetricRest { joint, distance } => write!(
                f,
                "the rest pose is not symmetric: joint {joint} is off by {distance:.4} m"
            ),
        }
    }
}
