//! [`Feet`]: where the feet are, on the ground and in the air.
//!
//! A foot on the ground is fixed by its footprint: it rolls down about the
//! heel (pitch below zero), stands flat, and rolls off about the ball (pitch
//! above zero) with the toes flat, so that what is planted never moves. In the
//! air, between two footprints, with u from 0 to 1,
//!
//! ```text
//! ankle = (1 − w) (ball(u) + R (ankle − ball)) + w (heel(u) + R (ankle − heel)) + lift(u)
//! ```
//!
//! where ball(u) and heel(u) go from footprint to footprint, R is the foot's
//! rotation and w goes from 0 to 1: at both ends the planted point has no
//! velocity, whatever the pitch does.

use glam::{DQuat, DVec3};

use super::figure::Leg;
use super::gait::Gait;
use super::track::{Knot, Track, ease};

/// A foot's stay on the ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// From when [s].
    pub(super) on: f64,
    /// To when [s]; infinite for a foot that stays.
    pub(super) off: f64,
    /// Where the ball is, at the height of its joint [m].
    pub(super) ball: DVec3,
    /// Where the foot points [rad].
    pub(super) heading: f64,
    /// How it came.
    pub(super) came: Gait,
    /// How it goes.
    pub(super) goes: Gait,
}

/// Where a foot is.
#[derive(Clone, Copy, Debug)]
pub(super) struct FootPlace {
    /// Position of the ankle [m].
    pub(super) ankle: DVec3,
    /// Where the foot points [rad].
    pub(super) heading: f64,
    /// Heel up [rad].
    pub(super) pitch: f64,
    /// Toes bent up [rad].
    pub(super) toes: f64,
    /// 0 for a foot on the ground, 1 for one that may be elsewhere.
    pub(super) free: f64,
}

impl FootPlace {
    /// The foot's rotation.
    pub(super) fn rotation(&self) -> DQuat {
        DQuat::from_rotation_y(self.heading) * DQuat::from_rotation_x(self.pitch)
    }

    /// The same foot with its heel further up, about the ball [rad].
    pub(super) fn heel_up(&self, leg: &Leg, angle: f64) -> Self {
        let ball = self.ankle - self.rotation() * leg.ankle_from_ball;
        let mut up = Self {
            pitch: self.pitch + angle,
            toes: self.toes + angle * (1.0 - self.free),
            ..*self
        };
        up.ankle = ball + up.rotation() * leg.ankle_from_ball;
        up
    }
}

/// What keys add to a foot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FootKeys {
    /// Outwards, upwards and forwards in the air [m].
    pub(super) offset: DVec3,
    /// Heel up [rad].
    pub(super) pitch: f64,
    /// About the ball, to the left [rad].
    pub(super) turn: f64,
}

/// The way of one foot through a plan.
#[derive(Clone, Debug)]
pub(super) struct Feet {
    contacts: Vec<Contact>,
    pitch: Track,
}

/// The longest that rolling down from the heel takes [s].
const ROLL_DOWN: f64 = 0.12;

impl Feet {
    /// The way through contacts in order of time, at least one.
    pub(super) fn new(contacts: Vec<Contact>) -> Self {
        let mut knots = Vec::new();
        for (i, contact) in contacts.iter().enumerate() {
            let stay = contact.off - contact.on;
            if contact.on.is_finite() {
                knots.push(Knot::rest(contact.on, contact.came.strike));
                if contact.came.strike != 0.0 {
                    let roll = ROLL_DOWN.min(0.35 * stay);
                    knots.push(Knot::rest(contact.on + roll, 0.0));
                }
            }
            let Some(next) = contacts.get(i + 1) else {
                continue;
            };
            let goes = &contact.goes;
            // A foot that stood long rolls off no slower than one that did not.
            let rolls = (1.0 - goes.heel_off) * goes.contact * goes.step_time;
            let heel_off = (contact.off - rolls).max(contact.on + 0.36 * stay.min(1.0));
            let air = next.on - contact.off;
            let style = goes.mix(&next.came, 0.5);
            let (peak, rise) = (
                style.swing_pitch.max(goes.toe_off),
                air * style.swing_pitch_at,
            );
            // As fast as both the way before and the way after allow.
            let rate = (1.6 * goes.toe_off / (contact.off - heel_off))
                .min(1.8 * (peak - goes.toe_off) / rise);
            knots.push(Knot::rest(heel_off, 0.0));
            knots.push(Knot::passing(contact.off, goes.toe_off, rate));
            knots.push(Knot::rest(contact.off + rise, peak));
            // The foot is ready a little before it lands.
            knots.push(Knot::rest(contact.off + 0.9 * air, next.came.strike));
        }
        Self {
            contacts,
            pitch: Track::new(knots),
        }
    }

    /// Where the foot is at a time.
    pub(super) fn at(&self, leg: &Leg, time: f64, keys: &FootKeys) -> FootPlace {
        let after = self.contacts.partition_point(|c| c.on <= time);
        let contact = &self.contacts[after.saturating_sub(1)];
        let pitch = self.pitch.at(time) + keys.pitch;
        match self.contacts.get(after) {
            Some(next) if after > 0 && time > contact.off => {
                in_the_air(leg, contact, next, time, pitch, keys)
            }
            _ => on_the_ground(leg, contact, pitch, keys),
        }
    }
}

fn on_the_ground(leg: &Leg, contact: &Contact, pitch: f64, keys: &FootKeys) -> FootPlace {
    let heading = contact.heading + keys.turn;
    let turned = DQuat::from_rotation_y(heading);
    let rolled = turned * DQuat::from_rotation_x(pitch);
    let ankle = if pitch >= 0.0 {
        contact.ball + rolled * leg.ankle_from_ball
    } else {
        contact.ball
            + turned * leg.heel_from_ball
            + rolled * (leg.ankle_from_ball - leg.heel_from_ball)
    };
    FootPlace {
        ankle,
        heading,
        pitch,
        toes: pitch.max(0.0),
        free: 0.0,
    }
}

fn in_the_air(
    leg: &Leg,
    from: &Contact,
    to: &Contact,
    time: f64,
    pitch: f64,
    keys: &FootKeys,
) -> FootPlace {
    let u = (time - from.off) / (to.on - from.off);
    let style = from.goes.mix(&to.came, 0.5);
    // The last of the way is straight down, or it would graze the floor.
    let gone = carried((u / 0.94).min(1.0), style.leave, style.arrive);
    let heading = from.heading + gone * (to.heading - from.heading) + keys.turn;
    let rolled = DQuat::from_rotation_y(heading) * DQuat::from_rotation_x(pitch);
    let ball = from.ball.lerp(to.ball, gone);
    let by_ball = ball + rolled * leg.ankle_from_ball;
    // A foot that lands on its ball is led by the ball all the way.
    let on_ball = to.came.strike >= 0.0;
    let ankle = if on_ball {
        by_ball
    } else {
        let heel_of = |c: &Contact| c.ball + DQuat::from_rotation_y(c.heading) * leg.heel_from_ball;
        let heel = heel_of(from).lerp(heel_of(to), gone);
        let by_heel = heel + rolled * (leg.ankle_from_ball - leg.heel_from_ball);
        by_ball.lerp(by_heel, ease(2.0 * u - 1.0))
    };
    let high = style.lift * bump(u, style.lift_at);
    // Toes let go of the ground after the ball has left it; those of a runner
    // sooner, as the foot turns faster.
    let late = 0.12 * ((style.contact - 0.9) / 0.3).clamp(0.0, 1.0);
    let level = 1.0 - ease((u - late) / 0.35);
    // They are level again before they land first.
    let level = if on_ball {
        level + ease((u - 0.65) / 0.25)
    } else {
        level
    };
    let toes = pitch.max(0.0) * level;
    let out = leg.ball_rest.x.signum() * style.around * bump(u, 0.45);
    FootPlace {
        ankle: ankle
            + DVec3::Y * high
            + DQuat::from_rotation_y(heading) * (keys.offset + out * DVec3::X),
        heading,
        pitch,
        toes,
        free: ease((time - from.off).min(to.on - time) / style.bound),
    }
}

/// From 0 to 1, faster and faster for the share `leave` of the time, slower and
/// slower for the share `arrive`, and steady between; twice differentiable.
fn carried(u: f64, leave: f64, arrive: f64) -> f64 {
    // The integral of the cubic ease from 0 to x.
    let ramp = |x: f64| {
        let x = x.clamp(0.0, 1.0);
        x * x * x * (1.0 - 0.5 * x)
    };
    let whole = 1.0 - 0.5 * (leave + arrive);
    if u > 1.0 - arrive {
        1.0 - arrive * ramp((1.0 - u) / arrive) / whole
    } else {
        (leave * ramp(u / leave) + (u - leave).max(0.0)) / whole
    }
}

/// From 0 to 1 at `peak` and back, at rest at all three.
fn bump(u: f64, peak: f64) -> f64 {
    if u < peak {
        ease(u / peak)
    } else {
        // Late to come down: a foot does not graze the floor before it lands.
        let x = (u - peak) / (1.0 - peak);
        1.0 - ease(x * x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ramps of half the time are the whole way without a steady part.
    #[test]
    fn a_foot_is_carried_evenly_between_its_ramps() {
        let at = |u| carried(u, 0.4, 0.2);
        assert!(at(0.0) == 0.0 && (at(1.0) - 1.0).abs() < 1e-12);
        let speed = |u: f64| (at(u + 1e-5) - at(u - 1e-5)) / 2e-5;
        for u in [0.45, 0.6, 0.75] {
            assert!((speed(u) - 1.0 / 0.7).abs() < 1e-6, "{u}: {}", speed(u));
        }
        for u in [0.4, 0.8] {
            assert!((speed(u - 1e-4) - speed(u + 1e-4)).abs() < 1e-3);
        }
        assert!((carried(0.5, 0.5, 0.5) - 0.5).abs() < 1e-12);
    }
}
