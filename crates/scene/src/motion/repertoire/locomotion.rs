//! Walks, runs, turns, stops and changes of speed.

use super::channel::Channel;
use super::composer::Composer;
use super::gait::{Gait, WALK, deg};

/// A steady gait: as many steps as make at least three seconds, in whole
/// strides, so that the end goes over into the beginning.
pub(super) fn steady(composer: &mut Composer, gait: &Gait) {
    let strides = (3.2 / (2.0 * gait.step_time)).ceil() as usize;
    composer.steps(gait, 2 * strides, 0.0);
}

/// Walking, a turn to the left [rad], and on. Sharper turns have shorter steps.
pub(super) fn turn(composer: &mut Composer, angle: f64) {
    let n = (angle.abs() / deg(30.0)).ceil().max(2.0) as usize;
    let sharp = Gait {
        step_length: if n > 2 { 0.80 } else { 0.92 } * WALK.step_length,
        width: 0.19,
        around: 0.09,
        ..WALK
    };
    composer.steps(&WALK, 2, 0.0);
    composer.steps(&sharp, n, angle);
    composer.steps(&WALK, 2 + (n % 2), 0.0);
}

/// Walking, then standing.
pub(super) fn walk_stop(composer: &mut Composer) {
    composer.steps(&WALK, 3, 0.0);
    composer.stand();
    composer.wait(1.2);
}

/// Walking, standing, and a turn of the body to both sides on standing feet.
pub(super) fn walk_stop_turn(composer: &mut Composer) {
    composer.steps(&WALK, 3, 0.0);
    composer.stand();
    composer.wait(0.2);
    let turns = [
        (0.0, 0.0),
        (1.0, 1.0),
        (1.3, 1.0),
        (2.7, -1.0),
        (3.0, -1.0),
        (4.0, 0.0),
    ];
    // The head goes first, the pelvis last.
    for (channel, angle, late) in [
        (Channel::Look, deg(38.0), 0.0),
        (Channel::Twist, deg(34.0), 0.12),
        (Channel::PelvisTurn, deg(24.0), 0.2),
        (Channel::ArmForward(0), deg(-14.0), 0.25),
        (Channel::ArmForward(1), deg(14.0), 0.25),
    ] {
        for (time, side) in turns {
            composer.key(channel, time + late, angle * side);
        }
    }
    composer.wait(4.6);
}

/// From one gait to another, each for some steps.
pub(super) fn change(composer: &mut Composer, from: &Gait, to: &Gait) {
    composer.steps(from, 4, 0.0);
    composer.steps(to, 6, 0.0);
}
