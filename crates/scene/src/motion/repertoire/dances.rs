//! Four dances and standing idly.

use glam::DVec2;

use super::channel::Channel;
use super::composer::Composer;
use super::figure::sign;
use super::gait::{Gait, STAND, deg};

/// Breathing, shifting weight and looking about: the least that a person does.
pub(super) fn idle(composer: &mut Composer) {
    let seconds = 6.0;
    for (time, left) in [(0.0, 0.0), (1.6, 1.0), (4.4, -1.0), (seconds, 0.0)] {
        composer.key(Channel::PelvisLeft, time, 0.028 * left);
        composer.key(Channel::PelvisList, time + 0.05, deg(2.0) * left);
        composer.key(Channel::SideBend, time + 0.1, deg(2.0) * left);
        composer.key(Channel::Twist, time, deg(3.0) * left);
        composer.key(Channel::Look, time, deg(-9.0) * left);
    }
    for breath in 0..2 {
        let start = 3.0 * f64::from(breath);
        for (time, full) in [(0.0, 0.0), (1.4, 1.0), (3.0, 0.0)] {
            composer.key(Channel::Bend, start + time, deg(-1.6) * full);
            for side in 0..2 {
                composer.key(Channel::Shrug(side), start + time, deg(2.5) * full);
                composer.key(Channel::ArmOut(side), start + time, deg(1.5) * full);
            }
        }
    }
    for side in 0..2 {
        let s = sign(side);
        for (time, share) in [(0.0, 0.0), (2.0, s), (4.2, -s), (seconds, 0.0)] {
            composer.key(Channel::ArmForward(side), time, deg(2.5) * share);
            composer.key(Channel::Elbow(side), time, deg(2.0) * share);
        }
    }
    composer.wait(seconds);
}

/// Steps of a waltz.
const WALTZ: Gait = Gait {
    contact: 1.0,
    heel_off: 0.66,
    toe_off: deg(20.0),
    swing_pitch: deg(24.0),
    strike: 0.0,
    lift: 0.07,
    lift_at: 0.38,
    leave: 0.45,
    arrive: 0.35,
    ..STAND
};

/// A box step with a partner who is not there, turning to the left: forward,
/// side, close; back, side, close; with rise and fall.
pub(super) fn waltz(composer: &mut Composer) {
    let beat = 0.66;
    hold(composer);
    composer.wait(0.7);
    for bar in 0..4 {
        // The left foot leads to the front, the right one to the back.
        let (lead, front) = if bar % 2 == 0 { (0, 0.36) } else { (1, -0.36) };
        let other = 1 - lead;
        let first = composer.beside(0.0, front);
        let turned = composer.facing + deg(45.0);
        composer.tread(
            lead,
            0.06,
            0.62 * beat,
            first,
            composer.facing + deg(20.0),
            &WALTZ,
        );
        let over = composer.place.lerp(first, 0.72) + lean_to(composer, lead, 0.05);
        let facing = composer.facing;
        rise(composer, beat);
        composer.pass(beat, over, facing + deg(12.0));
        composer.advance(beat);
        composer.place = first;
        composer.facing = turned;
        let second = composer.beside(-0.34 * sign(lead), 0.0);
        composer.tread(other, 0.04, 0.66 * beat, second, turned, &WALTZ);
        let over = first.lerp(second, 0.55) + lean_to(composer, other, 0.04);
        composer.pass(beat, over, turned - deg(8.0));
        composer.advance(beat);
        composer.tread(lead, 0.06, 0.70 * beat, second, turned, &WALTZ);
        composer.pass(beat, second, turned);
        composer.advance(beat);
    }
    composer.wait(0.2);
    release(composer);
    composer.wait(0.9);
}

/// Towards a foot [m].
fn lean_to(composer: &Composer, side: usize, far: f64) -> DVec2 {
    composer.beside(far * sign(side), 0.0) - composer.place
}

/// Down on one, up on two and three.
fn rise(composer: &mut Composer, beat: f64) {
    let keys = [
        (0.0, -0.01),
        (0.75 * beat, -0.045),
        (2.1 * beat, 0.012),
        (2.6 * beat, 0.0),
    ];
    composer.keys(Channel::PelvisUp, &keys);
    for side in 0..2 {
        let up = deg(14.0);
        let keys = [
            (1.15 * beat, 0.0),
            (2.05 * beat, up),
            (2.25 * beat, up),
            (2.9 * beat, 0.0),
        ];
        composer.keys(Channel::HeelUp(side), &keys);
    }
}

/// A channel with its angles for the left and the right arm [degrees].
type Held = (fn(usize) -> Channel, f64, f64);

const HOLD: [Held; 4] = [
    (Channel::ArmForward, 14.0, 42.0),
    (Channel::ArmOut, 58.0, 42.0),
    (Channel::Elbow, 40.0, 78.0),
    (Channel::ArmInward, -14.0, 52.0),
];

/// Arms up as around a partner: left hand out, right hand before.
fn hold(composer: &mut Composer) {
    for (channel, left, right) in HOLD {
        composer.keys(channel(0), &[(0.0, 0.0), (0.7, deg(left))]);
        composer.keys(channel(1), &[(0.0, 0.0), (0.7, deg(right))]);
    }
    composer.keys(Channel::Look, &[(0.0, 0.0), (0.8, deg(24.0))]);
    composer.keys(Channel::Bend, &[(0.0, 0.0), (0.8, deg(-5.0))]);
}

fn release(composer: &mut Composer) {
    for (channel, left, right) in HOLD {
        composer.keys(channel(0), &[(0.0, deg(left)), (0.8, 0.0)]);
        composer.keys(channel(1), &[(0.0, deg(right)), (0.8, 0.0)]);
    }
    composer.keys(Channel::Look, &[(0.0, deg(24.0)), (0.8, 0.0)]);
    composer.keys(Channel::Bend, &[(0.0, deg(-5.0)), (0.8, 0.0)]);
}

/// The twist: feet turning on their balls, hips with them, shoulders against
/// them, down and up again.
pub(super) fn twist(composer: &mut Composer) {
    composer.wait(0.1);
    let beat = 0.42;
    let n = 13;
    let end = beat * f64::from(n) + 0.5;
    for (time, deep) in [
        (0.0, 0.0),
        (0.6, -0.06),
        (0.5 * end, -0.17),
        (end - 0.6, -0.06),
        (end, 0.0),
    ] {
        composer.key(Channel::PelvisUp, time, deep);
        composer.key(Channel::PelvisForward, time, 0.3 * deep);
        composer.key(Channel::Bend, time, deg(-70.0) * deep);
        for side in 0..2 {
            // On the balls of the feet, or nothing would turn.
            let up = if deep == 0.0 { 0.0 } else { deg(16.0) };
            composer.key(Channel::HeelUp(side), time, up);
        }
    }
    for side in 0..2 {
        let on = [(0.0, 0.0), (0.5, 1.0), (end - 0.5, 1.0), (end, 0.0)];
        for (time, share) in on {
            composer.key(Channel::ArmOut(side), time, deg(22.0) * share);
            composer.key(Channel::Elbow(side), time, deg(62.0) * share);
        }
    }
    for i in 0..=n {
        let time = 0.25 + beat * f64::from(i);
        let turn = if i == 0 || i == n {
            0.0
        } else if i % 2 == 0 {
            1.0
        } else {
            -1.0
        };
        composer.key(Channel::PelvisTurn, time, deg(20.0) * turn);
        composer.key(Channel::Twist, time, deg(-38.0) * turn);
        composer.key(Channel::Look, time, deg(16.0) * turn);
        composer.key(Channel::PelvisLeft, time, 0.035 * turn);
        for side in 0..2 {
            let s = sign(side);
            composer.key(Channel::FootTurn(side), time, deg(24.0) * turn * s);
            composer.key(
                Channel::ArmForward(side),
                time,
                deg(20.0) * turn * s + if i == 0 || i == n { 0.0 } else { deg(12.0) },
            );
        }
    }
    composer.wait(end + 0.3);
}

/// Steps to the side in a disco.
const SIDE: Gait = Gait {
    contact: 1.0,
    heel_off: 0.6,
    toe_off: deg(24.0),
    swing_pitch: deg(30.0),
    strike: deg(8.0),
    lift: 0.06,
    leave: 0.4,
    arrive: 0.35,
    ..STAND
};

/// Disco: side steps with swinging arms, then an arm pointing high and low.
pub(super) fn disco(composer: &mut Composer) {
    let beat = 0.5;
    composer.wait(0.3);
    for arm in 0..2 {
        composer.key(Channel::Elbow(arm), 0.0, 0.0);
        composer.key(Channel::ArmForward(arm), 0.0, 0.0);
        composer.key(Channel::ArmOut(arm), 0.0, 0.0);
    }
    composer.key(Channel::PelvisUp, 0.0, 0.0);
    composer.key(Channel::Twist, 0.0, 0.0);
    // Step, touch, to both sides, twice.
    for step in 0..4 {
        let lead = step % 2;
        let s = sign(lead);
        let there = composer.beside(0.36 * s, 0.0);
        let facing = composer.facing;
        composer.tread(lead, 0.02, 0.72 * beat, there, facing, &SIDE);
        let over = composer.beside(0.24 * s, 0.0);
        composer.pass(beat, over, facing);
        composer.key(Channel::PelvisUp, 0.5 * beat, -0.015);
        composer.key(Channel::PelvisUp, beat, -0.06);
        composer.key(Channel::SideBend, beat, deg(7.0) * s);
        for arm in 0..2 {
            let with = if arm == lead { 1.0 } else { -1.0 };
            composer.key(Channel::ArmForward(arm), beat, deg(18.0 - 26.0 * with));
            composer.key(Channel::Elbow(arm), beat, deg(62.0));
            composer.key(Channel::ArmOut(arm), beat, deg(16.0));
        }
        composer.key(Channel::Twist, beat, deg(12.0) * s);
        composer.advance(beat);
        composer.place = there;
        composer.tread(1 - lead, 0.06, 0.78 * beat, there, facing, &SIDE);
        composer.pass(beat, composer.beside(0.02 * s, 0.0), facing);
        composer.place = there;
        composer.key(Channel::PelvisUp, 0.5 * beat, -0.015);
        composer.key(Channel::PelvisUp, beat, -0.05);
        composer.key(Channel::SideBend, beat, deg(-5.0) * s);
        for arm in 0..2 {
            let with = if arm == lead { 1.0 } else { -1.0 };
            composer.key(Channel::ArmForward(arm), beat, deg(18.0 + 26.0 * with));
        }
        composer.key(Channel::Twist, beat, deg(-10.0) * s);
        composer.advance(beat);
    }
    point(composer, beat, 1);
}

/// A hustle, in the style of the disco: three steps to the front and a touch,
/// three to the back, steps to the side that turn by 45° each, and the left
/// arm points.
pub(super) fn hustle(composer: &mut Composer) {
    let beat = 0.5;
    composer.wait(0.3);
    for channel in [Channel::PelvisUp, Channel::Twist, Channel::SideBend] {
        composer.key(channel, 0.0, 0.0);
    }
    for arm in 0..2 {
        for channel in [Channel::Elbow, Channel::ArmForward, Channel::ArmOut] {
            composer.key(channel(arm), 0.0, 0.0);
        }
    }
    for (n, front) in [(0, 0.3), (1, -0.26)] {
        let mut lead = n;
        for step in 0..4 {
            let is_touch = step == 3;
            let ahead = composer.beside(0.0, front);
            // A touch comes beside the foot that stands.
            let there = if is_touch { composer.place } else { ahead };
            let facing = composer.facing;
            composer.tread(lead, 0.03, 0.72 * beat, there, facing, &SIDE);
            let over = composer.place.lerp(there, 0.7);
            composer.pass(beat, over + lean_to(composer, 1 - lead, 0.02), facing);
            swing(composer, beat, lead, 1.0);
            composer.advance(beat);
            composer.place = there;
            lead = 1 - lead;
        }
    }
    for step in 0..4 {
        let lead = step % 2;
        let s = sign(lead);
        // Twice to the left and back again.
        let turn = if step < 2 { 45.0 } else { -45.0 };
        let there = composer.beside(0.24 * s, 0.0);
        let facing = composer.facing + deg(turn);
        composer.tread(lead, 0.02, 0.72 * beat, there, facing, &SIDE);
        composer.pass(
            beat,
            composer.beside(0.14 * s, 0.0),
            facing - deg(0.4 * turn),
        );
        swing(composer, beat, lead, 1.4);
        composer.advance(beat);
        (composer.place, composer.facing) = (there, facing);
        composer.tread(1 - lead, 0.06, 0.76 * beat, there, facing, &SIDE);
        composer.pass(beat, there, facing);
        swing(composer, beat, 1 - lead, 0.6);
        composer.advance(beat);
    }
    point(composer, beat, 0);
}

/// A beat of a hustle: down, bent arms against the leg that leads.
fn swing(composer: &mut Composer, beat: f64, lead: usize, wide: f64) {
    let s = sign(lead);
    composer.key(Channel::PelvisUp, 0.5 * beat, -0.02);
    composer.key(Channel::PelvisUp, beat, -0.05);
    composer.key(Channel::SideBend, beat, deg(-4.0) * s);
    composer.key(Channel::Twist, beat, deg(9.0) * s * wide);
    for arm in 0..2 {
        let with = if arm == lead { -1.0 } else { 1.0 };
        composer.key(Channel::ArmForward(arm), beat, deg(16.0 + 24.0 * with));
        composer.key(Channel::Elbow(arm), beat, deg(70.0));
        composer.key(Channel::ArmOut(arm), beat, deg(12.0 * wide));
    }
}

/// An arm points up to its side and down across, the hip goes with it.
fn point(composer: &mut Composer, beat: f64, arm: usize) {
    let (other, right) = (1 - arm, -sign(arm));
    composer.wait(0.0);
    for i in 0..=8 {
        let time = beat * (0.9 + f64::from(i));
        let (up, on) = match i {
            8 => (0.0, 0.0),
            _ if i % 2 == 0 => (1.0, 1.0),
            _ => (0.0, 1.0),
        };
        composer.key(Channel::ArmOut(arm), time, on * deg(8.0 + 106.0 * up));
        composer.key(Channel::ArmForward(arm), time, on * deg(38.0 - 38.0 * up));
        composer.key(Channel::ArmAcross(arm), time, on * deg(14.0 - 14.0 * up));
        composer.key(Channel::ArmInward(arm), time, 0.0);
        composer.key(Channel::Elbow(arm), time, on * deg(10.0 - 8.0 * up));
        composer.key(Channel::Shrug(arm), time, deg(10.0) * up);
        composer.key(Channel::Twist, time, right * on * deg(16.0 - 32.0 * up));
        composer.key(Channel::Look, time, right * on * deg(8.0 - 30.0 * up));
        composer.key(Channel::SideBend, time, right * on * deg(4.0 - 10.0 * up));
        composer.key(Channel::PelvisLeft, time, right * on * (0.05 * up - 0.025));
        composer.key(Channel::PelvisList, time, right * on * deg(7.0 * up - 3.0));
        composer.key(Channel::PelvisUp, time, -0.03 * on);
        // The other hand on its way to the hip, and away at the end.
        composer.key(Channel::ArmOut(other), time, on * deg(30.0));
        composer.key(Channel::Elbow(other), time, on * deg(56.0));
        composer.key(Channel::ArmInward(other), time, on * deg(16.0));
        composer.key(Channel::ArmForward(other), time, on * deg(-14.0));
    }
    for channel in [
        Channel::ArmAcross(arm),
        Channel::ArmInward(other),
        Channel::Shrug(arm),
        Channel::Look,
        Channel::PelvisLeft,
        Channel::PelvisList,
    ] {
        composer.key(channel, 0.0, 0.0);
    }
    composer.wait(beat * 9.0 + 0.4);
}
