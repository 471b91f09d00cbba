//! [`Gait`]: the numbers of a way to walk or run, and those of the repertoire.
//!
//! Speeds, cadences and joint ranges are those of adults in published gait
//! analyses (Perry and Burnfield, "Gait Analysis", 2010; Novacheck, "The
//! biomechanics of running", 1998), rounded; what they leave open (arms, how
//! the foot is lifted) was set by eye.
//!
//! Phase φ grows by one a step and is whole when a foot is in the middle of its
//! contact, even for the left. What swings once a stride goes with sin πφ and
//! cos πφ, what moves once a step with cos 2πφ.

/// Degrees, as they are thought of, in radians, as they are kept.
pub(super) const fn deg(degrees: f64) -> f64 {
    degrees * (std::f64::consts::PI / 180.0)
}

macro_rules! gait {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// A way to walk, run or stand.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) struct Gait {
            $($(#[$doc])* pub(super) $field: f64,)*
        }

        impl Gait {
            /// `self` where `share` is 0, `other` where it is 1.
            pub(super) fn mix(&self, other: &Self, share: f64) -> Self {
                Self {
                    $($field: self.$field + share * (other.$field - self.$field),)*
                }
            }
        }
    };
}

gait! {
    /// From the middle of one foot's contact to that of the other's [s].
    step_time,
    /// How far it goes in that time [m].
    step_length,
    /// How far the ankles are apart across [m].
    width,
    /// Toes turned out [rad].
    toe_out,
    /// How long a foot is on the ground, in step times: 2 is always, below 1
    /// there is a flight between steps.
    contact,
    /// Pitch of the foot when it lands, heel up; negative lands on the heel [rad].
    strike,
    /// The share of the contact after which the heel leaves the ground.
    heel_off,
    /// Pitch of the foot when it leaves the ground [rad].
    toe_off,
    /// The largest pitch of the foot in the air [rad].
    swing_pitch,
    /// When that is, as a share of the time in the air.
    swing_pitch_at,
    /// How high the foot is lifted in the air, beside what its pitch does [m].
    lift,
    /// When it is highest, as a share of the time in the air.
    lift_at,
    /// How far the foot goes around the other leg in the air [m].
    around,
    /// The share of the time in the air in which the foot speeds up.
    leave,
    /// The share of the time in the air in which the foot slows down.
    arrive,
    /// How long after leaving the ground, and before landing, the foot is
    /// bound to its way, and the pelvis to the foot [s].
    bound,
    /// How far before the foot the pelvis is in the middle of the contact,
    /// beside where it is in standing [m].
    ahead,
    /// How much lower than with straight legs the pelvis is [m].
    drop,
    /// How soon and how softly a leg that is too short for that pulls the
    /// pelvis down [m].
    softness,
    /// How much the pelvis rises and falls; positive is highest in mid-contact [m].
    bob,
    /// How far the pelvis goes to the side of the foot on the ground [m].
    sway,
    /// How far the pelvis turns with the leg that goes forwards [rad].
    pelvis_turn,
    /// How far the pelvis drops on the side of the leg in the air [rad].
    pelvis_list,
    /// How far the pelvis is tipped forwards [rad].
    pelvis_tip,
    /// How far the trunk leans forwards [rad].
    lean,
    /// How far the shoulders turn against the pelvis [rad].
    counter_turn,
    /// Where the upper arms hang, forwards [rad].
    arm_forward,
    /// How far they swing to and fro about that [rad].
    arm_swing,
    /// How far they are held off the body [rad].
    arm_out,
    /// How far they are turned inwards [rad].
    arm_inward,
    /// How far the elbows are bent beyond rest [rad].
    elbow,
    /// How much more when the arm is in front [rad].
    elbow_swing,
}

/// Standing, soft in the knees.
pub(super) const STAND: Gait = Gait {
    step_time: 0.60,
    step_length: 0.0,
    width: 0.22,
    toe_out: deg(4.0),
    contact: 1.30,
    strike: deg(-8.0),
    heel_off: 0.55,
    toe_off: deg(30.0),
    swing_pitch: deg(36.0),
    swing_pitch_at: 0.25,
    lift: 0.055,
    lift_at: 0.45,
    around: 0.0,
    leave: 0.5,
    arrive: 0.4,
    bound: 0.12,
    ahead: 0.0,
    drop: 0.002,
    softness: 0.002,
    bob: 0.0,
    sway: 0.0,
    pelvis_turn: 0.0,
    pelvis_list: 0.0,
    pelvis_tip: 0.0,
    lean: 0.0,
    counter_turn: 0.0,
    arm_forward: deg(2.0),
    arm_swing: 0.0,
    arm_out: deg(14.0),
    arm_inward: deg(6.0),
    elbow: deg(6.0),
    elbow_swing: 0.0,
};

/// 1.3 m/s, 112 steps a minute.
pub(super) const WALK: Gait = Gait {
    step_time: 16.0 / 30.0,
    step_length: 0.69,
    width: 0.15,
    toe_out: deg(5.0),
    contact: 1.22,
    strike: deg(-20.0),
    heel_off: 0.58,
    toe_off: deg(48.0),
    swing_pitch: deg(62.0),
    swing_pitch_at: 0.22,
    lift: 0.06,
    lift_at: 0.38,
    around: 0.0,
    leave: 0.45,
    arrive: 0.2,
    bound: 0.12,
    ahead: 0.085,
    drop: 0.026,
    softness: 0.007,
    bob: 0.014,
    sway: 0.022,
    pelvis_turn: deg(5.0),
    pelvis_list: deg(3.5),
    pelvis_tip: deg(3.0),
    lean: deg(3.0),
    counter_turn: deg(4.0),
    arm_forward: deg(-1.0),
    arm_swing: deg(18.0),
    arm_out: deg(12.0),
    arm_inward: deg(8.0),
    elbow: deg(14.0),
    elbow_swing: deg(8.0),
};

/// 0.83 m/s, 90 steps a minute.
pub(super) const WALK_SLOW: Gait = Gait {
    step_time: 20.0 / 30.0,
    step_length: 0.55,
    contact: 1.30,
    strike: deg(-15.0),
    toe_off: deg(40.0),
    swing_pitch: deg(52.0),
    lift: 0.068,
    arrive: 0.28,
    drop: 0.022,
    bob: 0.010,
    sway: 0.030,
    pelvis_turn: deg(3.5),
    pelvis_list: deg(2.5),
    lean: deg(2.0),
    counter_turn: deg(2.5),
    arm_swing: deg(10.0),
    elbow: deg(9.0),
    elbow_swing: deg(4.0),
    ..WALK
};

/// 1.7 m/s, 129 steps a minute.
pub(super) const WALK_FAST: Gait = Gait {
    step_time: 14.0 / 30.0,
    step_length: 0.78,
    width: 0.13,
    contact: 1.16,
    strike: deg(-24.0),
    heel_off: 0.52,
    toe_off: deg(54.0),
    swing_pitch: deg(68.0),
    lift: 0.065,
    ahead: 0.08,
    drop: 0.045,
    bob: 0.018,
    sway: 0.016,
    pelvis_turn: deg(8.0),
    pelvis_list: deg(4.5),
    lean: deg(6.0),
    counter_turn: deg(6.0),
    arm_swing: deg(27.0),
    elbow: deg(30.0),
    elbow_swing: deg(14.0),
    ..WALK
};

/// 2.5 m/s, 164 steps a minute.
pub(super) const RUN_SLOW: Gait = Gait {
    step_time: 11.0 / 30.0,
    step_length: 0.92,
    width: 0.11,
    toe_out: deg(5.0),
    contact: 0.70,
    strike: deg(-6.0),
    heel_off: 0.38,
    toe_off: deg(54.0),
    swing_pitch: deg(86.0),
    swing_pitch_at: 0.40,
    lift: 0.13,
    lift_at: 0.36,
    around: 0.0,
    leave: 0.35,
    arrive: 0.15,
    bound: 0.11,
    ahead: 0.11,
    drop: 0.034,
    softness: 0.010,
    bob: -0.024,
    sway: 0.010,
    pelvis_turn: deg(4.0),
    pelvis_list: deg(4.0),
    pelvis_tip: deg(7.0),
    lean: deg(8.0),
    counter_turn: deg(8.0),
    arm_forward: deg(-12.0),
    arm_swing: deg(22.0),
    arm_out: deg(27.0),
    arm_inward: deg(2.0),
    elbow: deg(72.0),
    elbow_swing: deg(8.0),
};

/// 3.4 m/s, 171 steps a minute.
pub(super) const RUN: Gait = Gait {
    step_time: 10.5 / 30.0,
    step_length: 1.20,
    width: 0.09,
    contact: 0.58,
    strike: deg(-5.0),
    toe_off: deg(57.0),
    swing_pitch: deg(96.0),
    lift: 0.20,
    lift_at: 0.36,
    ahead: 0.13,
    drop: 0.042,
    bob: -0.027,
    sway: 0.008,
    pelvis_turn: deg(5.0),
    pelvis_tip: deg(11.0),
    lean: deg(11.0),
    counter_turn: deg(10.0),
    arm_swing: deg(30.0),
    elbow: deg(78.0),
    ..RUN_SLOW
};

/// 4.6 m/s, 180 steps a minute.
pub(super) const RUN_FAST: Gait = Gait {
    step_time: 10.0 / 30.0,
    step_length: 1.54,
    width: 0.08,
    contact: 0.46,
    strike: deg(0.0),
    heel_off: 0.36,
    toe_off: deg(58.0),
    swing_pitch: deg(104.0),
    lift: 0.27,
    ahead: 0.14,
    drop: 0.046,
    bob: -0.028,
    sway: 0.006,
    pelvis_turn: deg(7.0),
    pelvis_tip: deg(14.0),
    lean: deg(16.0),
    counter_turn: deg(13.0),
    arm_swing: deg(40.0),
    elbow: deg(80.0),
    elbow_swing: deg(12.0),
    ..RUN
};

/// A march: knees high, arms straight and far.
pub(super) const MARCH: Gait = Gait {
    step_time: 16.0 / 30.0,
    step_length: 0.60,
    width: 0.16,
    strike: deg(-4.0),
    toe_off: deg(42.0),
    swing_pitch: deg(50.0),
    swing_pitch_at: 0.45,
    lift: 0.24,
    lift_at: 0.5,
    drop: 0.032,
    sway: 0.022,
    pelvis_tip: deg(0.0),
    lean: deg(-3.0),
    arm_forward: deg(14.0),
    arm_swing: deg(40.0),
    arm_out: deg(14.0),
    arm_inward: deg(4.0),
    elbow: deg(4.0),
    elbow_swing: deg(6.0),
    ..WALK
};

/// How a foot leaves the ground to raise its knee, and comes back.
pub(super) const RAISE: Gait = Gait {
    contact: 1.0,
    heel_off: 0.6,
    toe_off: deg(24.0),
    swing_pitch: deg(28.0),
    swing_pitch_at: 0.3,
    strike: deg(6.0),
    lift: 0.02,
    leave: 0.5,
    arrive: 0.5,
    ..STAND
};
