//! [`Plan`]: a motion as a function of time, and the poses it goes through.
//!
//! The feet are where the footprints say, the pelvis is on its path at the
//! height of its gait, unless a leg is too short for that: then it sags
//! ([`Sag`]), and what little is left is the soft minimum
//!
//! ```text
//! y = −s log(exp(−y₀/s) + exp(−y_left/s) + exp(−y_right/s))
//! ```
//!
//! of the height y₀ and the greatest that each leg allows. A foot in the
//! air that is out of reach comes nearer instead. The trunk, head and arms
//! follow the phase of the steps, and all of it what is keyed.

use drapery_core::{Clip, FrameRate, Pose};
use glam::{DQuat, DVec2, DVec3, Quat};

use super::super::rotation::log;
use super::channel::Channel;
use super::feet::{Feet, FootKeys, FootPlace};
use super::figure::{Figure, sign};
use super::gait::{Gait, deg};
use super::limbs::{ArmAngles, LEAST_BEND};
use super::sag::Sag;
use super::track::{Path, Track, ease};

/// What is fixed before the height of the pelvis is.
struct Stance {
    gait: Gait,
    /// Half a turn a step [rad].
    phase: f64,
    /// Where the path goes [rad].
    heading: f64,
    /// Where the pelvis faces [rad].
    facing: f64,
    /// The pelvis' rotation.
    pelvis: DQuat,
    /// Where the pelvis is on the level [m].
    above: DVec3,
    /// How high it would be with legs of any length [m].
    wanted: f64,
    feet: [FootPlace; 2],
}

/// A planned motion.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) figure: Figure,
    /// The feet's ways, left and right.
    pub(super) feet: [Feet; 2],
    /// Where the pelvis is above.
    pub(super) path: Path,
    /// Where it faces [rad].
    pub(super) heading: Track,
    /// Steps made.
    pub(super) phase: Track,
    /// Gaits at times [s], at least one.
    pub(super) gaits: Vec<(f64, Gait)>,
    /// All channels.
    pub(super) keys: Vec<Track>,
    /// When the clip begins and ends [s].
    pub(super) span: [f64; 2],
    /// What the legs take from the height of the pelvis.
    pub(super) sag: Sag,
}

/// How softly a leg at its very end stops the pelvis [m].
const LAST_SOFTNESS: f64 = 0.004;

/// How softly a foot in the air comes nearer [m].
const SOFTNESS: f64 = 0.03;

/// How much a foot in the air may be out of reach before it pulls [m].
const FREE_PLAY: f64 = 0.2;

/// How far a knee is bent when its foot comes nearer for want of reach [rad].
const FREE_BEND: f64 = 0.25;

/// How far the ankle bends before the heel rises [rad].
const ANKLE_BEND: f64 = deg(19.5);

/// How far a foot in the air points down along its shin [rad].
const ANKLE_STRETCH: f64 = deg(36.0);

/// How softly both begin [rad].
const ANKLE_SOFTNESS: f64 = deg(3.0);

/// Rounds in which the heel finds its height; each leaves less than a third of
/// what the one before it missed.
const HEEL_ROUNDS: usize = 5;

/// How long ahead the head looks into a turn [s].
const LOOK_AHEAD: f64 = 0.4;

/// How the bend and the twist of the trunk are shared by its joints, from below.
const BEND_SHARES: [f64; 3] = [0.36, 0.36, 0.28];
const TWIST_SHARES: [f64; 3] = [0.25, 0.33, 0.42];

impl Plan {
    /// The clip at a frame rate, beginning above the origin.
    pub(super) fn clip(&self, name: &str, rate: FrameRate) -> Clip {
        let [begin, end] = self.span;
        let n_frames = ((end - begin) * rate.hz() + 1e-6).floor() as u32 + 1;
        let origin = self.path.at(begin);
        let frames = (0..n_frames)
            .map(|f| {
                let time = begin + f64::from(f) / rate.hz();
                self.pose(time, origin)
            })
            .collect();
        Clip::new(name.to_string(), self.figure.skeleton.clone(), rate, frames)
            .expect("plans have finite poses")
    }

    fn key(&self, channel: Channel, time: f64) -> f64 {
        self.keys[channel.index()].at(time)
    }

    /// The gait at a time, eased from one to the next.
    fn gait(&self, time: f64) -> Gait {
        let after = self.gaits.partition_point(|g| g.0 <= time);
        if after == 0 || after == self.gaits.len() {
            return self.gaits[after.saturating_sub(1)].1;
        }
        let ((t0, from), (t1, to)) = (&self.gaits[after - 1], &self.gaits[after]);
        from.mix(to, ease((time - t0) / (t1 - t0)))
    }

    /// The plan with the sag that its legs need.
    pub(super) fn settled(mut self) -> Self {
        self.sag = Sag::new(self.span, |time| {
            let stance = self.stance(time);
            let allowed = self.allowed(&stance);
            let least = allowed[0].min(allowed[1]);
            let softness = stance.gait.softness;
            // A little sooner than it must, so that little is left.
            soft_excess(stance.wanted - least + 1.3 * softness, softness)
        });
        self
    }

    fn stance(&self, time: f64) -> Stance {
        let key = |channel| self.key(channel, time);
        let gait = self.gait(time);
        let phase = self.phase.at(time) * std::f64::consts::PI;
        let heading = self.heading.at(time);
        // Turned with the leg in front: the left one before an even phase.
        let turn = gait.pelvis_turn * phase.sin() + key(Channel::PelvisTurn);
        let list = gait.pelvis_list * (phase + 0.4).cos() + key(Channel::PelvisList);
        let tip = gait.pelvis_tip + key(Channel::PelvisTip);
        let ground = self.path.at(time);
        let shift = DQuat::from_rotation_y(heading)
            * DVec3::new(key(Channel::PelvisLeft), 0.0, key(Channel::PelvisForward));
        Stance {
            gait,
            phase,
            heading,
            facing: heading + turn,
            pelvis: DQuat::from_rotation_y(heading + turn)
                * DQuat::from_rotation_x(tip)
                * DQuat::from_rotation_z(list),
            above: DVec3::new(ground.x + shift.x, 0.0, ground.y + shift.z),
            wanted: self.figure.root.y - gait.drop
                + gait.bob * (2.0 * phase).cos()
                + key(Channel::PelvisUp),
            feet: [0, 1].map(|side| self.foot(side, time)),
        }
    }

    /// The greatest height of the pelvis that each leg allows [m].
    fn allowed(&self, stance: &Stance) -> [f64; 2] {
        [0, 1].map(|side| {
            let (leg, foot) = (&self.figure.legs[side], &stance.feet[side]);
            let hip = stance.above + stance.pelvis * leg.hip_from_pelvis;
            let to = foot.ankle - hip;
            let reach = leg.reach(LEAST_BEND);
            let across_sq = to.x * to.x + to.z * to.z;
            // Beyond its reach on the level a leg pulls no further.
            let upright = (reach * reach - across_sq).max(0.01 * reach * reach).sqrt();
            to.y + upright + FREE_PLAY * foot.free.powi(2)
        })
    }

    fn pose(&self, time: f64, origin: DVec2) -> Pose {
        let figure = &self.figure;
        let key = |channel| self.key(channel, time);
        let stance = self.stance(time);
        let Stance {
            gait,
            phase,
            heading,
            pelvis,
            ..
        } = stance;
        let [left, right] = self.allowed(&stance);
        let sagged = stance.wanted - self.sag.at(time);
        let height = soft_least(&[sagged, left, right], LAST_SOFTNESS);
        let root = stance.above + DVec3::Y * height;

        let mut rotations = vec![DQuat::IDENTITY; figure.skeleton.len()];
        rotations[figure.pelvis] = pelvis;
        self.legs(time, root, &stance, &mut rotations);

        let lean = gait.lean - gait.pelvis_tip;
        let bend = lean + key(Channel::Bend);
        let side_bend = 0.9 * gait.pelvis_list * (phase + 0.4).cos() + key(Channel::SideBend);
        let counter = gait.counter_turn * phase.sin();
        let twist = -gait.pelvis_turn * phase.sin() - counter + key(Channel::Twist);
        for i in 0..3 {
            rotations[figure.spine[i]] = DQuat::from_rotation_y(TWIST_SHARES[i] * twist)
                * DQuat::from_rotation_x(BEND_SHARES[i] * bend)
                * DQuat::from_rotation_z(-BEND_SHARES[i] * side_bend);
        }
        let ahead = 0.6 * (self.heading.at(time + LOOK_AHEAD) - heading);
        let look = counter + ahead + key(Channel::Look);
        let nod = -0.8 * gait.lean + key(Channel::Nod);
        let tilt = key(Channel::Tilt);
        for joint in [figure.neck, figure.head] {
            rotations[joint] = DQuat::from_rotation_y(0.5 * look)
                * DQuat::from_rotation_x(0.5 * nod)
                * DQuat::from_rotation_z(-0.5 * tilt);
        }
        for (side, arm) in figure.arms.iter().enumerate() {
            let swing = sign(side) * phase.sin();
            let angles = ArmAngles {
                forward: gait.arm_forward + gait.arm_swing * swing + key(Channel::ArmForward(side)),
                out: gait.arm_out + key(Channel::ArmOut(side)),
                across: key(Channel::ArmAcross(side)),
                inward: gait.arm_inward + key(Channel::ArmInward(side)),
                elbow: gait.elbow + gait.elbow_swing * swing + key(Channel::Elbow(side)),
                wrist: key(Channel::Wrist(side)),
                shrug: key(Channel::Shrug(side)),
            };
            let turned = arm.turned(side, &angles);
            rotations[arm.collar] = turned.collar;
            rotations[arm.shoulder] = turned.shoulder;
            rotations[arm.elbow] = turned.elbow;
            rotations[arm.wrist] = turned.wrist;
        }
        Pose {
            root: (root - DVec3::new(origin.x, 0.0, origin.y)).as_vec3(),
            rotations: rotations.iter().map(|q| upright(q.as_quat())).collect(),
        }
    }

    fn foot(&self, side: usize, time: f64) -> FootPlace {
        let key = |channel: fn(usize) -> Channel| self.key(channel(side), time);
        let keys = FootKeys {
            offset: DVec3::new(
                sign(side) * key(Channel::FootOut),
                key(Channel::FootUp),
                key(Channel::FootForward),
            ),
            pitch: key(Channel::HeelUp),
            turn: sign(side) * key(Channel::FootTurn),
        };
        self.feet[side].at(&self.figure.legs[side], time, &keys)
    }

    fn legs(&self, time: f64, root: DVec3, stance: &Stance, rotations: &mut [DQuat]) {
        let Stance { pelvis, feet, .. } = stance;
        for (side, leg) in self.figure.legs.iter().enumerate() {
            let hip = root + *pelvis * leg.hip_from_pelvis;
            let out = sign(side) * self.key(Channel::KneeOut(side), time);
            let turned = |foot: &FootPlace| {
                // Knees point where the foot does, nearly.
                let facing = stance.facing + 0.7 * (foot.heading - stance.facing) + out;
                let front = DQuat::from_rotation_y(facing) * DVec3::Z;
                let to = foot.ankle - hip;
                let bend = 0.5 * LEAST_BEND + foot.free * (FREE_BEND - 0.5 * LEAST_BEND);
                let softness = 1e-6 + SOFTNESS * foot.free;
                let near = soft_least(&[to.length(), leg.reach(bend)], softness);
                let to = to.normalize() * near;
                leg.towards(to, DVec3::NEG_Y, front)
            };
            // The heel rises when the shin leans more than the ankle bends, and
            // in the air sinks when the ankle stretches no further: a fixed
            // point, as that moves the shin a little.
            let mut foot = feet[side];
            let mut turn = turned(&foot);
            for _ in 0..HEEL_ROUNDS {
                let shin = turn.thigh * leg.bent(turn.knee);
                let lean = log(shin.inverse() * feet[side].rotation()).x;
                let more = soft_excess(-lean - ANKLE_BEND, ANKLE_SOFTNESS)
                    - foot.free * soft_excess(lean - ANKLE_STRETCH, ANKLE_SOFTNESS);
                foot = feet[side].heel_up(leg, more);
                turn = turned(&foot);
            }
            let knee = leg.bent(turn.knee);
            rotations[leg.hip] = pelvis.inverse() * turn.thigh;
            rotations[leg.knee] = knee;
            rotations[leg.ankle] = (turn.thigh * knee).inverse() * foot.rotation();
            rotations[leg.ball] = DQuat::from_rotation_x(-foot.toes);
        }
    }
}

/// A value a little below the least, smooth in all of them:
/// −s log Σ exp(−xᵢ/s).
fn soft_least(values: &[f64], softness: f64) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let sum: f64 = (values.iter().map(|x| ((least - x) / softness).exp())).sum();
    least - softness * sum.ln()
}

/// x where it is above zero, 0 below −s, and a quartic between −s and s that
/// goes over into both twice differentiably.
fn soft_excess(x: f64, s: f64) -> f64 {
    if x <= -s {
        0.0
    } else if x >= s {
        x
    } else {
        let v = 0.5 * (x / s + 1.0);
        2.0 * s * v * v * v * (1.0 - 0.5 * v)
    }
}

/// The same rotation with w ≥ 0.
fn upright(q: Quat) -> Quat {
    if q.w < 0.0 { -q } else { q }
}
