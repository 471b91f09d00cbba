//! Jump, leap, duck, crouch and kick.

use super::channel::Channel;
use super::composer::Composer;
use super::gait::{Gait, RUN, STAND, WALK, deg};
use super::track::Knot;

/// Acceleration of what is in the air [m/s²].
const GRAVITY: f64 = 9.81;

/// Keys of the pelvis for a flight from `start` to `end` [s from now], which
/// leaves and lands `high` above standing [m]: a parabola.
fn flight(composer: &mut Composer, start: f64, end: f64, high: f64) {
    let rate = 0.5 * GRAVITY * (end - start);
    for (time, rate) in [(start, rate), (end, -rate)] {
        let knot = Knot {
            time: composer.now + time,
            value: high,
            rate,
            acceleration: -GRAVITY,
        };
        composer.knot(Channel::PelvisUp, knot);
    }
}

/// The same keys for both sides.
fn both(composer: &mut Composer, channel: fn(usize) -> Channel, keys: &[(f64, f64)]) {
    for side in 0..2 {
        composer.keys(channel(side), keys);
    }
}

/// How feet leave the ground in a jump and come back: ball last, ball first.
const JUMP: Gait = Gait {
    contact: 1.0,
    heel_off: 0.72,
    toe_off: deg(40.0),
    swing_pitch: deg(42.0),
    swing_pitch_at: 0.25,
    strike: deg(28.0),
    lift: 0.22,
    lift_at: 0.34,
    bound: 0.10,
    ..STAND
};

/// A jump on the spot: down with the arms back, up with the arms, down again.
pub(super) fn jump(composer: &mut Composer) {
    composer.wait(0.2);
    let here = composer.place;
    let facing = composer.facing;
    for side in 0..2 {
        composer.tread(side, 0.80, 1.24, here, facing, &JUMP);
    }
    composer.keys(Channel::PelvisUp, &[(0.0, 0.0), (0.55, -0.25)]);
    flight(composer, 0.80, 1.24, 0.055);
    composer.keys(Channel::PelvisUp, &[(1.48, -0.22), (2.20, 0.0)]);
    composer.keys(
        Channel::PelvisForward,
        &[
            (0.0, 0.0),
            (0.55, -0.09),
            (0.82, 0.0),
            (1.22, -0.01),
            (1.50, -0.09),
            (2.2, 0.0),
        ],
    );
    composer.keys(
        Channel::PelvisTip,
        &[
            (0.0, 0.0),
            (0.55, deg(26.0)),
            (0.84, deg(-2.0)),
            (1.2, deg(4.0)),
            (1.5, deg(24.0)),
            (2.2, 0.0),
        ],
    );
    composer.keys(
        Channel::Bend,
        &[
            (0.0, 0.0),
            (0.55, deg(26.0)),
            (0.86, deg(-10.0)),
            (1.15, 0.0),
            (1.5, deg(22.0)),
            (2.2, 0.0),
        ],
    );
    composer.keys(
        Channel::Nod,
        &[
            (0.0, 0.0),
            (0.55, deg(-18.0)),
            (0.86, deg(-14.0)),
            (1.5, deg(-10.0)),
            (2.2, 0.0),
        ],
    );
    both(
        composer,
        Channel::ArmForward,
        &[
            (0.05, 0.0),
            (0.52, deg(-46.0)),
            (0.92, deg(118.0)),
            (1.10, deg(112.0)),
            (1.55, deg(24.0)),
            (2.25, 0.0),
        ],
    );
    both(
        composer,
        Channel::ArmOut,
        &[
            (0.05, 0.0),
            (0.52, deg(6.0)),
            (0.92, deg(12.0)),
            (1.55, deg(20.0)),
            (2.25, 0.0),
        ],
    );
    both(
        composer,
        Channel::Elbow,
        &[
            (0.05, 0.0),
            (0.52, deg(8.0)),
            (0.92, deg(28.0)),
            (1.5, deg(40.0)),
            (2.25, 0.0),
        ],
    );
    both(
        composer,
        Channel::KneeOut,
        &[
            (0.0, 0.0),
            (0.55, deg(8.0)),
            (0.85, 0.0),
            (1.24, 0.0),
            (1.5, deg(8.0)),
            (2.2, 0.0),
        ],
    );
    composer.wait(3.0);
}

/// The long step of a leap.
const LEAP: Gait = Gait {
    step_time: 0.58,
    step_length: 1.85,
    contact: 0.34,
    strike: deg(-6.0),
    toe_off: deg(44.0),
    swing_pitch: deg(24.0),
    lift: 0.24,
    lift_at: 0.45,
    leave: 0.08,
    bound: 0.06,
    ..RUN
};

/// Running, one long step through the air with the legs apart, and on.
pub(super) fn leap(composer: &mut Composer) {
    composer.steps(&RUN, 4, 0.0);
    // The foot on the ground now takes off, the other leads.
    let trailing = composer.last_foot();
    let leading = 1 - trailing;
    composer.keys(Channel::PelvisUp, &[(-0.24, 0.0), (0.0, -0.07)]);
    flight(composer, 0.10, 0.47, 0.0);
    composer.keys(Channel::PelvisUp, &[(0.60, -0.06), (1.10, 0.0)]);
    composer.keys(
        Channel::FootForward(leading),
        &[(0.0, 0.0), (0.24, 0.34), (0.47, 0.0)],
    );
    composer.keys(
        Channel::FootUp(leading),
        &[(0.0, 0.0), (0.24, 0.05), (0.46, 0.0)],
    );
    composer.keys(
        Channel::FootForward(trailing),
        &[(0.12, 0.0), (0.38, -0.20), (0.66, 0.0)],
    );
    composer.keys(
        Channel::FootUp(trailing),
        &[(0.12, 0.0), (0.36, 0.16), (0.62, 0.0)],
    );
    for (side, forward) in [(leading, -30.0), (trailing, 48.0)] {
        composer.keys(
            Channel::ArmForward(side),
            &[(-0.15, 0.0), (0.28, deg(forward)), (0.85, 0.0)],
        );
        composer.keys(
            Channel::ArmOut(side),
            &[(-0.15, 0.0), (0.28, deg(48.0)), (0.85, 0.0)],
        );
        composer.keys(
            Channel::Elbow(side),
            &[(-0.15, 0.0), (0.28, deg(-52.0)), (0.85, 0.0)],
        );
    }
    composer.keys(
        Channel::Bend,
        &[(-0.1, 0.0), (0.3, deg(-8.0)), (0.66, deg(8.0)), (1.1, 0.0)],
    );
    composer.keys(
        Channel::PelvisTip,
        &[(-0.1, 0.0), (0.12, deg(5.0)), (0.5, 0.0)],
    );
    composer.step(&LEAP, 0.0);
    composer.went_as(trailing, &LEAP);
    for _ in 0..5 {
        composer.step(&RUN, 0.0);
    }
}

/// Walking bent low.
const LOW: Gait = Gait {
    step_time: 0.56,
    step_length: 0.50,
    width: 0.18,
    toe_off: deg(40.0),
    swing_pitch: deg(50.0),
    strike: deg(-8.0),
    lift: 0.07,
    drop: 0.25,
    bob: 0.008,
    pelvis_tip: deg(30.0),
    lean: deg(66.0),
    arm_forward: deg(26.0),
    arm_swing: deg(10.0),
    arm_out: deg(16.0),
    elbow: deg(48.0),
    ..WALK
};

/// Walking, below something low, and up again.
pub(super) fn duck(composer: &mut Composer) {
    composer.steps(&WALK, 3, 0.0);
    composer.steps(&LOW, 3, 0.0);
    composer.steps(&WALK, 3, 0.0);
}

/// Down to the heels, a while there, and up again.
pub(super) fn crouch(composer: &mut Composer) {
    composer.wait(0.2);
    let down = |deep: f64| [(0.0, 0.0), (1.1, deep), (2.3, deep), (3.4, 0.0)];
    composer.keys(Channel::PelvisUp, &down(-0.40));
    composer.keys(Channel::PelvisForward, &down(-0.10));
    composer.keys(Channel::PelvisTip, &down(deg(22.0)));
    composer.keys(Channel::Bend, &down(deg(30.0)));
    composer.keys(Channel::Nod, &down(deg(-22.0)));
    both(composer, Channel::KneeOut, &down(deg(9.0)));
    both(composer, Channel::ArmForward, &down(deg(48.0)));
    both(composer, Channel::ArmOut, &down(deg(10.0)));
    both(composer, Channel::Elbow, &down(deg(30.0)));
    composer.wait(4.0);
}

/// How the kicking foot leaves the ground and comes back.
const KICK: Gait = Gait {
    contact: 1.0,
    heel_off: 0.6,
    toe_off: deg(24.0),
    swing_pitch: deg(26.0),
    swing_pitch_at: 0.1,
    strike: deg(4.0),
    lift: 0.02,
    leave: 0.5,
    arrive: 0.5,
    ..STAND
};

/// Weight onto the left foot, the right one back and up to the front.
pub(super) fn kick(composer: &mut Composer) {
    composer.wait(0.2);
    let (here, facing) = (composer.place, composer.facing);
    composer.tread(1, 0.62, 2.05, here, facing, &KICK);
    composer.keys(
        Channel::PelvisLeft,
        &[(0.0, 0.0), (0.60, 0.085), (1.75, 0.085), (2.5, 0.0)],
    );
    composer.keys(
        Channel::FootUp(1),
        &[
            (0.64, 0.0),
            (0.95, 0.20),
            (1.28, 0.62),
            (1.66, 0.16),
            (2.02, 0.0),
        ],
    );
    composer.keys(
        Channel::FootForward(1),
        &[
            (0.64, 0.0),
            (0.95, -0.34),
            (1.28, 0.86),
            (1.66, 0.10),
            (2.02, 0.0),
        ],
    );
    composer.keys(
        Channel::HeelUp(1),
        &[
            (0.64, 0.0),
            (0.93, deg(48.0)),
            (1.28, deg(-42.0)),
            (1.66, 0.0),
        ],
    );
    composer.keys(
        Channel::PelvisTip,
        &[
            (0.4, 0.0),
            (0.95, deg(10.0)),
            (1.28, deg(-14.0)),
            (2.2, 0.0),
        ],
    );
    composer.keys(
        Channel::PelvisTurn,
        &[
            (0.4, 0.0),
            (0.95, deg(-10.0)),
            (1.28, deg(12.0)),
            (2.2, 0.0),
        ],
    );
    composer.keys(
        Channel::Bend,
        &[(0.4, 0.0), (0.95, deg(4.0)), (1.28, deg(16.0)), (2.2, 0.0)],
    );
    composer.keys(
        Channel::Twist,
        &[
            (0.4, 0.0),
            (0.95, deg(14.0)),
            (1.28, deg(-18.0)),
            (2.2, 0.0),
        ],
    );
    composer.keys(
        Channel::PelvisUp,
        &[
            (0.2, 0.0),
            (0.95, -0.035),
            (1.28, -0.01),
            (1.7, -0.02),
            (2.4, 0.0),
        ],
    );
    for (side, swing) in [(0, 1.0), (1, -1.0)] {
        composer.keys(
            Channel::ArmForward(side),
            &[
                (0.3, 0.0),
                (0.95, deg(-32.0 * swing)),
                (1.30, deg(44.0 * swing)),
                (2.3, 0.0),
            ],
        );
        composer.keys(
            Channel::ArmOut(side),
            &[(0.1, 0.0), (0.80, deg(34.0)), (1.35, deg(40.0)), (2.4, 0.0)],
        );
        composer.keys(
            Channel::Elbow(side),
            &[(0.1, 0.0), (0.90, deg(24.0)), (2.4, 0.0)],
        );
    }
    composer.wait(3.2);
}
