//! Calisthenics, on standing feet: the motions of the training set of Hahn et
//! al., "Subspace Clothing Simulation Using Adaptive Bases", SIGGRAPH 2014,
//! §6 (arms up, arms down, arms bend, twist, lean back, lean forward, plane;
//! legs bend for trousers), and the two that combine them (yo, gym). The paper
//! names and pictures them; their angles and times are ours.

use super::channel::Channel;
use super::composer::Composer;
use super::gait::deg;

/// Degrees of channels, one after another, at times from now [s]; all else
/// stays.
fn pose(composer: &mut Composer, time: f64, degrees: &[(Channel, f64)]) {
    for &(channel, angle) in degrees {
        composer.key(channel, time, deg(angle));
    }
}

/// The channel of both sides.
fn pair(channel: fn(usize) -> Channel, angle: f64) -> [(Channel, f64); 2] {
    [(channel(0), angle), (channel(1), angle)]
}

/// Both arms to a place: forward, out, elbow and inward [degrees from hanging].
fn arms(composer: &mut Composer, time: f64, forward: f64, out: f64, elbow: f64, inward: f64) {
    pose(composer, time, &pair(Channel::ArmForward, forward));
    pose(composer, time, &pair(Channel::ArmOut, out));
    pose(composer, time, &pair(Channel::Elbow, elbow));
    pose(composer, time, &pair(Channel::ArmInward, inward));
    // The shoulder girdle takes part above the horizontal.
    let high = (forward.max(out) - 60.0).max(0.0);
    pose(composer, time, &pair(Channel::Shrug, 0.22 * high));
}

/// Lengths in centimetres.
fn shift(composer: &mut Composer, time: f64, channel: Channel, centimetres: f64) {
    composer.key(channel, time, 0.01 * centimetres);
}

/// Arms sideways and up, down, and up again by the front.
pub(super) fn arms_up(composer: &mut Composer) {
    composer.wait(0.2);
    arms(composer, 0.0, 0.0, 0.0, 0.0, 0.0);
    arms(composer, 1.3, 0.0, 146.0, 4.0, 0.0);
    arms(composer, 1.7, 0.0, 146.0, 4.0, 0.0);
    arms(composer, 2.9, 0.0, 0.0, 0.0, 0.0);
    arms(composer, 3.0, 0.0, 0.0, 0.0, 0.0);
    arms(composer, 4.3, 152.0, 0.0, 4.0, 46.0);
    arms(composer, 4.7, 152.0, 0.0, 4.0, 46.0);
    arms(composer, 5.9, 0.0, 0.0, 0.0, 0.0);
    composer.wait(6.2);
}

/// Arms held out, pressed down to the back, and down across the front.
pub(super) fn arms_down(composer: &mut Composer) {
    composer.wait(0.2);
    let out = |composer: &mut Composer, time| arms(composer, time, 0.0, 76.0, 0.0, 0.0);
    arms(composer, 0.0, 0.0, 0.0, 0.0, 0.0);
    out(composer, 1.0);
    out(composer, 1.3);
    arms(composer, 2.4, -34.0, 8.0, 0.0, 0.0);
    arms(composer, 2.6, -34.0, 8.0, 0.0, 0.0);
    out(composer, 3.7);
    out(composer, 3.9);
    arms(composer, 5.0, 36.0, -6.0, 10.0, 22.0);
    arms(composer, 5.2, 36.0, -6.0, 10.0, 22.0);
    arms(composer, 6.2, 0.0, 0.0, 0.0, 0.0);
    composer.wait(6.5);
}

/// Elbows bent and stretched: arms at the sides, to the front and held out.
pub(super) fn arms_bend(composer: &mut Composer) {
    composer.wait(0.2);
    arms(composer, 0.0, 0.0, 0.0, 0.0, 0.0);
    arms(composer, 0.9, 6.0, 6.0, 112.0, 0.0);
    arms(composer, 1.8, 0.0, 2.0, 0.0, 0.0);
    arms(composer, 2.8, 78.0, 2.0, 0.0, 0.0);
    arms(composer, 3.6, 74.0, 6.0, 98.0, 0.0);
    arms(composer, 4.4, 78.0, 2.0, 0.0, 0.0);
    arms(composer, 5.4, 0.0, 74.0, 0.0, -60.0);
    arms(composer, 6.2, 0.0, 74.0, 104.0, -60.0);
    arms(composer, 7.0, 0.0, 74.0, 0.0, -60.0);
    arms(composer, 8.1, 0.0, 0.0, 0.0, 0.0);
    composer.wait(8.4);
}

/// The trunk turned to both sides, arms held before the chest.
pub(super) fn torso_twist(composer: &mut Composer) {
    composer.wait(0.2);
    arms(composer, 0.0, 0.0, 0.0, 0.0, 0.0);
    arms(composer, 0.9, 20.0, 56.0, 70.0, 20.0);
    arms(composer, 5.4, 20.0, 56.0, 70.0, 20.0);
    arms(composer, 6.3, 0.0, 0.0, 0.0, 0.0);
    let turns = [
        (0.6, 0.0),
        (1.5, 1.0),
        (2.6, -1.0),
        (3.7, 1.0),
        (4.8, -1.0),
        (5.7, 0.0),
    ];
    for (time, side) in turns {
        pose(
            composer,
            time,
            &[
                (Channel::Twist, 46.0 * side),
                (Channel::PelvisTurn, 10.0 * side),
                (Channel::Look, 14.0 * side),
            ],
        );
    }
    composer.wait(6.6);
}

/// Back as far as it goes, twice, with the hips to the front.
pub(super) fn lean_back(composer: &mut Composer) {
    composer.wait(0.2);
    for start in [0.0, 2.9] {
        for (time, share) in [(0.0, 0.0), (1.2, 1.0), (1.6, 1.0), (2.7, 0.0)] {
            back(composer, start + time, share);
            let at = start + time;
            arms(composer, at, -20.0 * share, 16.0 * share, 4.0 * share, 0.0);
        }
    }
    composer.wait(5.9);
}

fn back(composer: &mut Composer, time: f64, share: f64) {
    pose(
        composer,
        time,
        &[
            (Channel::Bend, -34.0 * share),
            (Channel::PelvisTip, -9.0 * share),
            (Channel::Nod, -16.0 * share),
        ],
    );
    shift(composer, time, Channel::PelvisForward, 7.0 * share);
    shift(composer, time, Channel::PelvisUp, -3.0 * share);
}

/// Forward with the arms hanging, twice, with the hips to the back.
pub(super) fn lean_forward(composer: &mut Composer) {
    composer.wait(0.2);
    for start in [0.0, 3.3] {
        for (time, share) in [(0.0, 0.0), (1.4, 1.0), (1.8, 1.0), (3.1, 0.0)] {
            forward(composer, start + time, share);
            let at = start + time;
            arms(composer, at, 84.0 * share, 4.0 * share, 0.0, 0.0);
        }
    }
    composer.wait(6.7);
}

fn forward(composer: &mut Composer, time: f64, share: f64) {
    pose(
        composer,
        time,
        &[
            (Channel::Bend, 58.0 * share),
            (Channel::PelvisTip, 38.0 * share),
            (Channel::Nod, 12.0 * share),
        ],
    );
    shift(composer, time, Channel::PelvisForward, -13.0 * share);
    shift(composer, time, Channel::PelvisUp, -2.0 * share);
}

/// Arms held out like wings, the trunk banking to both sides.
pub(super) fn plane(composer: &mut Composer) {
    composer.wait(0.2);
    arms(composer, 0.0, 0.0, 0.0, 0.0, 0.0);
    arms(composer, 1.0, 0.0, 76.0, -4.0, 0.0);
    arms(composer, 6.0, 0.0, 76.0, -4.0, 0.0);
    arms(composer, 7.0, 0.0, 0.0, 0.0, 0.0);
    let banks = [
        (0.8, 0.0),
        (1.9, 1.0),
        (3.2, -1.0),
        (4.5, 1.0),
        (5.6, -1.0),
        (6.5, 0.0),
    ];
    for (time, side) in banks {
        pose(
            composer,
            time,
            &[
                (Channel::SideBend, 32.0 * side),
                (Channel::Twist, -12.0 * side),
                (Channel::Tilt, -14.0 * side),
                (Channel::PelvisList, -5.0 * side),
            ],
        );
        shift(composer, time, Channel::PelvisLeft, 3.0 * side);
    }
    for (time, share) in [(0.8, 0.0), (1.9, 1.0), (5.6, 1.0), (6.6, 0.0)] {
        pose(
            composer,
            time,
            &[
                (Channel::Bend, 16.0 * share),
                (Channel::PelvisTip, 12.0 * share),
                (Channel::Nod, -16.0 * share),
            ],
        );
        shift(composer, time, Channel::PelvisForward, -4.0 * share);
    }
    composer.wait(7.3);
}

/// Two bends of the knees, then each knee raised.
pub(super) fn legs_bend(composer: &mut Composer) {
    composer.wait(0.2);
    for start in [0.0, 2.2] {
        for (time, share) in [(0.0, 0.0), (0.95, 1.0), (1.15, 1.0), (2.1, 0.0)] {
            let at = start + time;
            shift(composer, at, Channel::PelvisUp, -24.0 * share);
            shift(composer, at, Channel::PelvisForward, -8.0 * share);
            pose(
                composer,
                at,
                &[
                    (Channel::PelvisTip, 20.0 * share),
                    (Channel::Bend, 14.0 * share),
                ],
            );
            pose(composer, at, &pair(Channel::KneeOut, 10.0 * share));
            arms(composer, at, 66.0 * share, 0.0, 0.0, 0.0);
        }
    }
    composer.wait(4.5);
    raise_knee(composer, 1);
    raise_knee(composer, 0);
}

/// Weight onto the other foot, and a knee up to the hip.
fn raise_knee(composer: &mut Composer, side: usize) {
    let (here, facing) = (composer.place, composer.facing);
    let s = if side == 0 { -1.0 } else { 1.0 };
    composer.tread(side, 0.55, 1.75, here, facing, &super::gait::RAISE);
    for (time, left) in [(0.0, 0.0), (0.55, 8.0), (1.60, 8.0), (2.2, 0.0)] {
        shift(composer, time, Channel::PelvisLeft, s * left);
    }
    for (time, up, front) in [(0.56, 0.0, 0.0), (1.15, 36.0, 12.0), (1.74, 0.0, 0.0)] {
        shift(composer, time, Channel::FootUp(side), up);
        shift(composer, time, Channel::FootForward(side), front);
    }
    for (time, share) in [(0.1, 0.0), (0.8, 1.0), (1.5, 1.0), (2.2, 0.0)] {
        pose(composer, time, &pair(Channel::ArmOut, 30.0 * share));
    }
    composer.wait(2.3);
}

/// Twisting and arm bending at once, with a bounce in the knees.
pub(super) fn yo(composer: &mut Composer) {
    composer.wait(0.2);
    let beat = 0.62;
    for i in 0..9 {
        let time = 0.5 + beat * f64::from(i);
        let last = i == 8;
        let side = if last {
            0.0
        } else if i % 2 == 0 {
            1.0
        } else {
            -1.0
        };
        pose(
            composer,
            time,
            &[
                (Channel::Twist, 30.0 * side),
                (Channel::PelvisTurn, 9.0 * side),
                (Channel::SideBend, -8.0 * side),
                (Channel::Look, -10.0 * side),
            ],
        );
        for arm in 0..2 {
            // One arm is thrown forward, the other bent before the chest.
            let throws = (arm == 0) != (side > 0.0);
            let (forward, out, elbow, inward) = match (last, throws) {
                (true, _) => (0.0, 0.0, 0.0, 0.0),
                (false, true) => (58.0, 16.0, 26.0, 10.0),
                (false, false) => (34.0, 30.0, 96.0, 34.0),
            };
            pose(
                composer,
                time,
                &[
                    (Channel::ArmForward(arm), forward),
                    (Channel::ArmOut(arm), out),
                    (Channel::Elbow(arm), elbow),
                    (Channel::ArmInward(arm), inward),
                ],
            );
        }
        shift(composer, time, Channel::PelvisLeft, 2.5 * side);
        shift(
            composer,
            time,
            Channel::PelvisUp,
            if last { 0.0 } else { -6.0 },
        );
        if !last {
            shift(composer, time + 0.5 * beat, Channel::PelvisUp, -2.0);
        }
    }
    for arm in 0..2 {
        for channel in [
            Channel::ArmForward,
            Channel::ArmOut,
            Channel::Elbow,
            Channel::ArmInward,
        ] {
            composer.key(channel(arm), 0.0, 0.0);
        }
    }
    pose(
        composer,
        0.0,
        &[
            (Channel::Twist, 0.0),
            (Channel::PelvisTurn, 0.0),
            (Channel::SideBend, 0.0),
            (Channel::Look, 0.0),
        ],
    );
    shift(composer, 0.0, Channel::PelvisLeft, 0.0);
    shift(composer, 0.0, Channel::PelvisUp, 0.0);
    composer.wait(6.0);
}

/// A longer one: stretching up and back, bending, twisting, leaning.
pub(super) fn gym(composer: &mut Composer) {
    composer.wait(0.2);
    // Arms up, leaning back with the arms stretched out.
    arms(composer, 0.0, 0.0, 0.0, 0.0, 0.0);
    arms(composer, 1.2, 0.0, 146.0, 0.0, 0.0);
    back(composer, 0.9, 0.0);
    back(composer, 2.2, 0.9);
    arms(composer, 2.2, 0.0, 112.0, 0.0, 0.0);
    back(composer, 2.6, 0.9);
    arms(composer, 2.6, 0.0, 112.0, 0.0, 0.0);
    back(composer, 3.7, 0.0);
    arms(composer, 3.7, 0.0, 74.0, 0.0, 0.0);
    // Twisting with the arms out, then bent.
    for (time, side) in [
        (3.7, 0.0),
        (4.7, 1.0),
        (5.8, -1.0),
        (6.8, 1.0),
        (7.8, -1.0),
        (8.6, 0.0),
    ] {
        pose(
            composer,
            time,
            &[
                (Channel::Twist, 40.0 * side),
                (Channel::PelvisTurn, 8.0 * side),
            ],
        );
    }
    arms(composer, 5.8, 0.0, 74.0, 0.0, 0.0);
    arms(composer, 6.8, 24.0, 58.0, 92.0, 16.0);
    arms(composer, 7.8, 24.0, 58.0, 92.0, 16.0);
    arms(composer, 8.7, 0.0, 0.0, 0.0, 0.0);
    // Forward and up.
    forward(composer, 8.6, 0.0);
    forward(composer, 9.9, 0.9);
    arms(composer, 9.9, 76.0, 6.0, 0.0, 0.0);
    forward(composer, 10.3, 0.9);
    arms(composer, 10.3, 76.0, 6.0, 0.0, 0.0);
    forward(composer, 11.6, 0.0);
    arms(composer, 11.7, 148.0, 0.0, 4.0, 44.0);
    // Knees with the arms coming down.
    for (time, deep) in [(11.6, 0.0), (12.7, -22.0), (13.8, 0.0)] {
        shift(composer, time, Channel::PelvisUp, deep);
        pose(composer, time, &[(Channel::PelvisTip, -0.9 * deep)]);
        shift(composer, time, Channel::PelvisForward, 0.33 * deep);
    }
    arms(composer, 12.8, 66.0, 0.0, 4.0, 0.0);
    arms(composer, 13.9, 0.0, 0.0, 0.0, 0.0);
    composer.wait(14.2);
}
