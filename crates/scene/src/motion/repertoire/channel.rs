//! [`Channel`]: what of a figure can be moved by keys, beside its gait.

/// Angles are zero for a person standing with hanging arms [rad]; lengths are
/// from where the gait alone would have it [m].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    /// Pelvis upwards [m].
    PelvisUp,
    /// Pelvis to its left [m].
    PelvisLeft,
    /// Pelvis forwards [m].
    PelvisForward,
    /// Pelvis turned to the left.
    PelvisTurn,
    /// Pelvis tipped forwards.
    PelvisTip,
    /// Left side of the pelvis up.
    PelvisList,
    /// Spine bent forwards.
    Bend,
    /// Spine bent to the right.
    SideBend,
    /// Spine twisted to the left.
    Twist,
    /// Head nodding forwards.
    Nod,
    /// Head turned to the left.
    Look,
    /// Head tilted to the right.
    Tilt,
    /// Upper arm forwards and up.
    ArmForward(usize),
    /// Upper arm outwards and up.
    ArmOut(usize),
    /// Upper arm, wherever it is, turned inwards about the upright.
    ArmAcross(usize),
    /// Upper arm turned inwards about itself.
    ArmInward(usize),
    /// Elbow bent.
    Elbow(usize),
    /// Shoulder girdle raised.
    Shrug(usize),
    /// Foot upwards [m]; only for a foot in the air.
    FootUp(usize),
    /// Foot forwards [m]; only for a foot in the air.
    FootForward(usize),
    /// Foot outwards [m]; only for a foot in the air.
    FootOut(usize),
    /// Heel up; about the ball of a foot on the ground.
    HeelUp(usize),
    /// Foot turned outwards; about the ball of a foot on the ground.
    FootTurn(usize),
    /// Knee turned outwards about the line from hip to ankle.
    KneeOut(usize),
}

impl Channel {
    /// How many there are.
    pub(super) const COUNT: usize = 12 + 2 * 12;

    /// Its place in an array of all channels.
    pub(super) const fn index(self) -> usize {
        match self {
            Self::PelvisUp => 0,
            Self::PelvisLeft => 1,
            Self::PelvisForward => 2,
            Self::PelvisTurn => 3,
            Self::PelvisTip => 4,
            Self::PelvisList => 5,
            Self::Bend => 6,
            Self::SideBend => 7,
            Self::Twist => 8,
            Self::Nod => 9,
            Self::Look => 10,
            Self::Tilt => 11,
            Self::ArmForward(side) => 12 + side,
            Self::ArmOut(side) => 14 + side,
            Self::ArmAcross(side) => 16 + side,
            Self::ArmInward(side) => 18 + side,
            Self::Elbow(side) => 20 + side,
            Self::Shrug(side) => 22 + side,
            Self::FootUp(side) => 24 + side,
            Self::FootForward(side) => 26 + side,
            Self::FootOut(side) => 28 + side,
            Self::HeelUp(side) => 30 + side,
            Self::FootTurn(side) => 32 + side,
            Self::KneeOut(side) => 34 + side,
        }
    }
}
