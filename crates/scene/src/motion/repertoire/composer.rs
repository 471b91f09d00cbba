//! [`Composer`]: puts steps, pauses and keys one after another.
//!
//! It stands or moves. While it stands, time passes by [`wait`](Composer::wait)
//! and feet are moved one by one; while it moves, each step puts a footprint
//! beside the path and its pelvis passes over it in the middle of the contact.
//! Pieces of the repertoire are functions on a composer, so that any of them
//! can follow any other: what stands between (a stop, a start, steps from one
//! speed to another) is added here.

use glam::{DQuat, DVec2, DVec3};

use super::channel::Channel;
use super::feet::{Contact, Feet};
use super::figure::{Figure, sign};
use super::gait::{Gait, STAND, WALK};
use super::plan::Plan;
use super::sag::Sag;
use super::track::{Knot, Path, Track, through};

/// What is composed so far.
#[derive(Clone, Debug)]
pub(super) struct Composer {
    figure: Figure,
    contacts: [Vec<Contact>; 2],
    path: Vec<(f64, DVec2)>,
    heading: Vec<(f64, f64)>,
    phase: Vec<(f64, f64)>,
    gaits: Vec<(f64, Gait)>,
    keys: Vec<Vec<Knot>>,
    /// When the clip begins [s].
    begin: f64,
    /// Now [s]; while moving, the middle of the last contact.
    pub(super) now: f64,
    /// Where it is: the centre line, without sway [m].
    pub(super) place: DVec2,
    /// Where it faces [rad].
    pub(super) facing: f64,
    /// How it moves; none while it stands.
    moving: Option<Gait>,
    /// The foot of the last step.
    last: usize,
    steps: f64,
}

/// Steps before a clip that begins moving and after one that ends so, which
/// are not shown: as many as one foot's contact reaches into another's.
const UNSEEN: usize = 4;

/// From the first shift of weight to lifting a foot [s].
const SHIFT: f64 = 0.35;

impl Composer {
    /// Standing at the origin, facing +Z.
    pub(super) fn standing(figure: Figure) -> Self {
        let mut composer = Self {
            figure,
            contacts: [Vec::new(), Vec::new()],
            path: vec![(0.0, DVec2::ZERO)],
            heading: vec![(0.0, 0.0)],
            phase: vec![(0.0, 0.0)],
            gaits: vec![(0.0, STAND)],
            keys: vec![Vec::new(); Channel::COUNT],
            begin: 0.0,
            now: 0.0,
            place: DVec2::ZERO,
            facing: 0.0,
            moving: None,
            last: 0,
            steps: 0.0,
        };
        for side in 0..2 {
            let contact = Contact {
                on: f64::NEG_INFINITY,
                off: f64::INFINITY,
                ball: composer.footprint(side, DVec2::ZERO, 0.0, &STAND),
                heading: sign(side) * STAND.toe_out,
                came: STAND,
                goes: STAND,
            };
            composer.contacts[side].push(contact);
        }
        composer
    }

    /// In the middle of a steady gait, with the left foot on the ground.
    pub(super) fn moving(figure: Figure, gait: &Gait) -> Self {
        let mut composer = Self::standing(figure);
        // Standing is only where the steps come from; it is not shown.
        composer.gaits = vec![(0.0, *gait)];
        composer.path.clear();
        composer.heading.clear();
        composer.phase.clear();
        composer.steps = -1.0;
        composer.last = 1;
        composer.now = 0.0;
        composer.moving = Some(*gait);
        for contacts in &mut composer.contacts {
            contacts.clear();
        }
        for _ in 0..UNSEEN + 1 {
            composer.step(gait, 0.0);
        }
        composer.begin = composer.now;
        composer
    }

    /// Where the ball of a foot is whose person is at `place` facing `facing`.
    fn footprint(&self, side: usize, place: DVec2, facing: f64, gait: &Gait) -> DVec3 {
        let ball = self.figure.legs[side].ball_rest;
        let ankle = ball + self.figure.legs[side].ankle_from_ball;
        let across = 0.5 * sign(side) * gait.width + (ball.x - ankle.x);
        let offset = DQuat::from_rotation_y(facing) * DVec3::new(across, 0.0, ball.z - gait.ahead);
        DVec3::new(place.x + offset.x, ball.y, place.y + offset.z)
    }

    /// The foot of the last step.
    pub(super) const fn last_foot(&self) -> usize {
        self.last
    }

    /// A foot leaves its last footprint in the manner of this gait.
    pub(super) fn went_as(&mut self, side: usize, gait: &Gait) {
        if let Some(contact) = self.contacts[side].last_mut() {
            contact.goes = *gait;
        }
    }

    /// A key at a time from now [s].
    pub(super) fn key(&mut self, channel: Channel, after: f64, value: f64) {
        self.knot(channel, Knot::rest(self.now + after, value));
    }

    /// Keys at times from now [s].
    pub(super) fn keys(&mut self, channel: Channel, keys: &[(f64, f64)]) {
        for &(after, value) in keys {
            self.key(channel, after, value);
        }
    }

    /// A knot at its own time.
    pub(super) fn knot(&mut self, channel: Channel, knot: Knot) {
        self.keys[channel.index()].push(knot);
    }

    /// Time passes standing.
    pub(super) fn wait(&mut self, seconds: f64) {
        self.hold();
        self.now += seconds;
        self.hold();
    }

    /// The path halts here and now.
    fn hold(&mut self) {
        self.path.push((self.now, self.place));
        self.heading.push((self.now, self.facing));
    }

    /// One step of the other foot, turning by `turn` to the left [rad].
    pub(super) fn step(&mut self, gait: &Gait, turn: f64) {
        self.stride(gait, gait.step_length, turn);
    }

    fn stride(&mut self, gait: &Gait, length: f64, turn: f64) {
        let before = self.moving.unwrap_or(*gait);
        let side = 1 - self.last;
        let middle = self.now + gait.step_time;
        // Half the turn before the step and half after it: along the arc.
        let way = DQuat::from_rotation_y(self.facing + 0.5 * turn) * DVec3::Z * length;
        self.place += DVec2::new(way.x, way.z);
        self.facing += turn;
        self.steps += 1.0;
        let lift = self.now + 0.5 * before.contact * before.step_time;
        if let Some(contact) = self.contacts[self.last].last_mut() {
            contact.off = lift;
            contact.goes = before.mix(gait, 0.5);
        }
        let heading = self.facing + sign(side) * gait.toe_out;
        let ball = self.footprint(side, self.place, self.facing, gait);
        let on = middle - 0.5 * gait.contact * gait.step_time;
        if let Some(contact) = self.contacts[side].last_mut() {
            // A foot is in the air for at least this long.
            contact.off = contact.off.min(on - 0.2 * gait.step_time);
        }
        self.contacts[side].push(Contact {
            on,
            off: f64::INFINITY,
            ball,
            heading,
            came: *gait,
            goes: *gait,
        });
        let left = DQuat::from_rotation_y(self.facing) * DVec3::X;
        let sway = DVec2::new(left.x, left.z) * (sign(side) * gait.sway);
        self.path.push((middle, self.place + sway));
        self.heading.push((middle, self.facing));
        self.phase.push((middle, self.steps));
        self.gaits.push((middle, *gait));
        self.now = middle;
        self.last = side;
        self.moving = Some(*gait);
    }

    /// Steps of a gait, together turning by `turn` [rad]; begins to move, or
    /// changes over from another gait, with steps of its own.
    pub(super) fn steps(&mut self, gait: &Gait, n: usize, turn: f64) {
        self.reach(gait);
        for _ in 0..n {
            self.step(gait, turn / n as f64);
        }
    }

    /// Moves with this gait, after as many steps as the change needs.
    pub(super) fn reach(&mut self, gait: &Gait) {
        let Some(before) = self.moving else {
            if gait.contact > 1.0 {
                self.start(gait);
            } else {
                // A runner walks first.
                self.start(&WALK);
                self.reach(gait);
            }
            return;
        };
        let speed = |g: &Gait| g.step_length / g.step_time;
        let n = ((speed(gait) - speed(&before)).abs() / 0.55).ceil() as usize;
        for i in 1..n {
            let share = i as f64 / n as f64;
            let mut between = before.mix(gait, share);
            // Long contacts and long steps together are more than a hip does.
            between.step_length *= 0.92;
            self.step(&between, 0.0);
        }
    }

    /// From standing: weight onto one foot, then the other steps out.
    fn start(&mut self, gait: &Gait) {
        let mut first = STAND.mix(gait, 0.7);
        // The first step hardly pushes off.
        first.toe_off *= 0.7;
        first.swing_pitch *= 0.7;
        let side = self.last;
        self.hold();
        self.gaits.push((self.now, STAND));
        self.phase.push((self.now, self.steps));
        // The foot that stays, `side`, is in the middle of its contact.
        let swing = (2.0 - first.contact) * first.step_time;
        let middle = self.now + SHIFT + swing + (0.5 * first.contact - 1.0) * first.step_time;
        let left = DQuat::from_rotation_y(self.facing) * DVec3::X;
        let front = DQuat::from_rotation_y(self.facing) * DVec3::Z;
        let over = 0.045 * sign(side) * DVec2::new(left.x, left.z)
            + 0.04 * gait.step_length.min(1.0) * DVec2::new(front.x, front.z);
        // The parity of the phase is the foot's.
        let parity = if side == 0 { 0.0 } else { 1.0 };
        if (self.steps - parity).rem_euclid(2.0) > 0.5 {
            self.steps += 1.0;
        }
        self.path.push((middle, self.place + over));
        self.heading.push((middle, self.facing));
        self.phase.push((middle, self.steps));
        let lift = self.now + SHIFT;
        if let Some(contact) = self.contacts[1 - side].last_mut() {
            contact.off = lift;
            contact.goes = first;
        }
        self.now = middle;
        self.moving = Some(first);
        self.stride(&first, 0.62 * gait.step_length, 0.0);
    }

    /// Stands: from moving, by a short step and one that closes the feet.
    pub(super) fn stand(&mut self) {
        let Some(mut gait) = self.moving else {
            return;
        };
        // A runner walks before standing.
        if gait.contact < 1.0 {
            self.reach(&WALK);
            self.step(&WALK, 0.0);
            gait = WALK;
        }
        let slow = gait.mix(&STAND, 0.35);
        self.stride(&slow, 0.62 * gait.step_length, 0.0);
        // The pelvis has not quite arrived over the last footprint.
        let front = DQuat::from_rotation_y(self.facing) * DVec3::Z;
        if let Some(last) = self.path.last_mut() {
            last.1 -= 0.07 * gait.step_length * DVec2::new(front.x, front.z);
        }
        let stays = self.last;
        self.stride(&CLOSE, 0.0, 0.0);
        // Neither foot leaves the ground again.
        if let Some(contact) = self.contacts[stays].last_mut() {
            contact.off = f64::INFINITY;
            contact.goes = STAND;
        }
        if let Some(last) = self.gaits.last_mut() {
            last.1 = STAND;
        }
        self.moving = None;
        self.wait(0.15);
    }

    /// While standing: lifts a foot after `lift` and puts it down after `land`
    /// [s] so that the person it belongs to stands at `place` facing `facing`.
    pub(super) fn tread(
        &mut self,
        side: usize,
        lift: f64,
        land: f64,
        place: DVec2,
        facing: f64,
        gait: &Gait,
    ) {
        if let Some(contact) = self.contacts[side].last_mut() {
            contact.off = self.now + lift;
            contact.goes = *gait;
        }
        let contact = Contact {
            on: self.now + land,
            off: f64::INFINITY,
            ball: self.footprint(side, place, facing, gait),
            heading: facing + sign(side) * gait.toe_out,
            came: *gait,
            goes: *gait,
        };
        self.contacts[side].push(contact);
    }

    /// While standing: the pelvis is above `place` facing `facing` after a time [s].
    pub(super) fn pass(&mut self, after: f64, place: DVec2, facing: f64) {
        self.path.push((self.now + after, place));
        self.heading.push((self.now + after, facing));
        self.place = place;
        self.facing = facing;
    }

    /// Time passes while feet tread; the path goes on.
    pub(super) fn advance(&mut self, seconds: f64) {
        self.now += seconds;
    }

    /// A place from here, `left` and `front` of it as it faces [m].
    pub(super) fn beside(&self, left: f64, front: f64) -> DVec2 {
        let offset = DQuat::from_rotation_y(self.facing) * DVec3::new(left, 0.0, front);
        self.place + DVec2::new(offset.x, offset.z)
    }

    /// How long it is so far [s].
    pub(super) fn seconds(&self) -> f64 {
        self.now - self.begin
    }

    /// The plan of it all.
    pub(super) fn plan(mut self) -> Plan {
        let end = self.now;
        if let Some(gait) = self.moving {
            for _ in 0..UNSEEN {
                self.step(&gait, 0.0);
            }
        } else {
            self.hold();
        }
        let [left, right] = self.contacts;
        Plan {
            figure: self.figure,
            feet: [Feet::new(left), Feet::new(right)],
            path: Path::through(&ordered(self.path)),
            heading: through(&ordered(self.heading)),
            phase: through(&ordered(self.phase)),
            gaits: ordered(self.gaits),
            keys: self.keys.into_iter().map(Track::new).collect(),
            span: [self.begin, end],
            sag: Sag::default(),
        }
        .settled()
    }
}

/// How a foot closes to the other.
const CLOSE: Gait = Gait {
    step_time: 0.62,
    contact: 1.1,
    ..STAND
};

/// Of entries at one time, the last.
fn ordered<T>(entries: Vec<(f64, T)>) -> Vec<(f64, T)> {
    let mut kept: Vec<(f64, T)> = Vec::with_capacity(entries.len());
    for entry in entries {
        while kept.last().is_some_and(|k| entry.0 - k.0 < 1e-6) {
            kept.pop();
        }
        kept.push(entry);
    }
    kept
}
