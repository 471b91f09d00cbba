//! Ten thousand steps on a random walk of poses within the joint limits: whether
//! anything grows (§6.1 of Stable Spaces), what the root's jumps do, and what the
//! model thinks of poses that it knows and of one that it does not.

use std::f32::consts::PI;
use std::fmt::Write as _;

use anyhow::Context;
use drapery::core::{
    BodyModel, CanonicalFrame, GarmentAnimator, JointId, Pose, PoseVelocity, PosedBody, ShapedBody,
    Surroundings,
};
use drapery::learn::{EnergyCoordinates, Footage, TrainedStableSpace, summed_bound, swing_bound};
use drapery::runtime::StableSpace;
use drapery::scene::mannequin::{JointAngles, JointLimit, limit};
use drapery::store::dataset::{DatasetStore, PlannedSequence, Split};
use glam::{Quat, Vec3};
use serde_json::{Value, json};

use super::Cells;
use super::page::number;
use super::stable_spaces::{Cell, Lab};
use crate::stop;

/// How many steps.
const STEPS: u32 = 10_000;
/// The root is taken elsewhere every so many.
const JUMP: u32 = 250;
/// On a clip that trains, every so many.
const JUMP_KNOWN: usize = 30;
/// The fastest that a joint turns in a frame [rad]: five radians a second at thirty
/// frames, as in a kick.
const RATE: f32 = 0.17;
/// Energies are found of so many numbers at once.
const MANY: usize = 1 << 16;
/// How far the root tilts [rad].
const TILT: f32 = 0.5;

const NAME: &str = "ten-thousand";

pub(super) fn make(lab: &Lab<'_>) -> anyhow::Result<()> {
    lab.known_or(NAME, || {
        lab.desk.threads.install(|| {
            let [_, _, shipped] = Cell::SHIPPED;
            let (_, trained) = lab.fit(&shipped.config())?;
            let all = lab.ground.dataset.split(Split::Train)?;
            ten_thousand(&lab.footage(), &trained, lab.sets.named("train_cm"), &all)
        })
    })?;
    Ok(())
}

/// Steps a trained model over a random walk, and over its own clips, of which some are
/// plain.
fn ten_thousand(
    footage: &Footage<'_>,
    trained: &TrainedStableSpace,
    plain: &[PlannedSequence],
    all: &[PlannedSequence],
) -> anyhow::Result<Value> {
    let animator = &trained.animator;
    let body = footage.body;
    let longest = plain.iter().max_by_key(|planned| planned.frames);
    let longest = longest.context("no clip trains")?;
    let source = footage.store.sequence(&longest.name)?;
    let shaped = body.shaped(&source.shape().coefficients)?;
    let known = footage.open_loop(animator, all)?.confidence;
    let n_vertices = animator.topology().n_vertices();
    let coordinates = EnergyCoordinates::of(&animator.parts().dynamics);
    let as_length = |energy: f64| {
        let coordinates = coordinates.as_ref()?;
        Some(100.0 * coordinates.displacement(energy, n_vertices))
    };
    let mut cell = json!({
        "cell": NAME,
        "steps": STEPS,
        "confidence_train": known,
        "bound_cm": 100.0 * swing_bound(animator)?,
        "summed_bound_cm": 100.0 * summed_bound(animator)?,
        "train_cm": trained.energy.map(|e| 100.0 * e.largest_displacement),
        "paper_bound_cm": trained.energy.map(|e| 100.0 * e.threshold_displacement),
        "train_energy_cm": trained.energy.and_then(|e| as_length(e.largest)),
    });
    let mut ride = Ride::new(animator, body, &shaped);
    let taken = ride.taken_elsewhere(&source.poses(0..longest.frames)?)?;
    cell["known_jumps"] = taken.jumps.into();
    cell["known_apart_cm"] = (100.0 * taken.apart).into();
    cell["known_change_cm"] = (100.0 * taken.change).into();
    cell["known_confidence"] = taken.confidence.into();
    let names = body.skeleton().names();
    let limits = drapery::scene::mannequin::skeleton();
    if names != limits.names() {
        return Ok(cell);
    }
    cell["confidence_handstand"] = ride.of_one(&handstand(names.len()))?.into();
    let speed = animator.parts().limits.step / 3.0;
    let walked = ride.walk(STEPS, speed, coordinates.as_ref())?;
    cell["highest_energy_cm"] = walked.energy.and_then(as_length).into();
    cell["highest_cm"] = (100.0 * walked.highest).into();
    cell["at_reach"] = walked.at_reach.into();
    cell["jumps"] = walked.jumps.into();
    cell["change_cm"] = (100.0 * walked.change).into();
    cell["change_at_jumps_cm"] = (100.0 * walked.change_at_jumps).into();
    cell["confidence_mean"] = (walked.confidence / f64::from(STEPS)).into();
    Ok(cell)
}

pub(super) fn section(cells: &Cells) -> Option<String> {
    Some(words(&cells.get(NAME)?))
}

/// What was found, in words.
fn words(cell: &Value) -> String {
    let mut text = String::from("## Ten thousand steps\n\n");
    let of = |key: &str, digits| number(&cell[key], digits);
    let _ = writeln!(
        text,
        "Model C of 64 dimensions on a random walk of {} poses within the joint limits. Energy \
         as a length: how far the garment is from the mean one, root mean square over its \
         vertices. Energy of §6.1: the farthest that it lets a garment be, ‖Q‖ E.\n",
        of("steps", 0),
    );
    let rows = [
        ("highest of the walk, cm", of("highest_cm", 1)),
        ("never beyond, whatever the poses, cm", of("bound_cm", 1)),
        (
            "the same without an end to its reach, cm",
            of("summed_bound_cm", 1),
        ),
        ("frames at the end of its reach", of("at_reach", 0)),
        ("highest of a training frame, cm", of("train_cm", 1)),
        (
            "energy of §6.1, highest of the walk, cm",
            of("highest_energy_cm", 1),
        ),
        ("its threshold, cm", of("paper_bound_cm", 1)),
        (
            "its highest of a training frame, cm",
            of("train_energy_cm", 1),
        ),
        (
            "confidence on training clips, least",
            of("confidence_train", 3),
        ),
        ("confidence in a handstand", of("confidence_handstand", 3)),
        ("confidence on the walk, mean", of("confidence_mean", 3)),
        ("times the root was taken elsewhere", of("jumps", 0)),
        (
            "largest change of the garment in such a frame, cm",
            of("change_at_jumps_cm", 1),
        ),
        ("largest change in any other frame, cm", of("change_cm", 1)),
        (
            "times the root was taken elsewhere in the longest clip that trains",
            of("known_jumps", 0),
        ),
        (
            "farthest that the garment then is from where it is without, cm",
            of("known_apart_cm", 2),
        ),
        (
            "largest change in a frame of that clip, cm",
            of("known_change_cm", 2),
        ),
        ("least confidence in it", of("known_confidence", 3)),
    ];
    text.push_str("| | |\n|---|---|\n");
    for (words, value) in rows {
        let _ = writeln!(text, "| {words} | {value} |");
    }
    text
}

/// What was seen on a walk.
#[derive(Clone, Copy, Debug, Default)]
struct Walked {
    /// The farthest from the mean garment, root mean square [m].
    highest: f64,
    /// Frames in which it may be no farther.
    at_reach: u32,
    jumps: u32,
    /// The highest energy of §6.1.
    energy: Option<f64>,
    /// The largest change of a frame, root mean square [m].
    change: f64,
    change_at_jumps: f64,
    /// Summed.
    confidence: f64,
}

/// What it does to a garment that the root is taken elsewhere.
#[derive(Clone, Copy, Debug, Default)]
struct TakenElsewhere {
    jumps: usize,
    /// The farthest from where the garment is without, root mean square as seen from the
    /// root [m].
    apart: f64,
    /// The largest change of a frame without, in the same way [m].
    change: f64,
    confidence: f32,
}

/// The root mean square of the distances of points [m].
fn apart(a: &[Vec3], b: &[Vec3]) -> f64 {
    let both = a.iter().zip(b);
    let sum: f64 = both.map(|(a, b)| f64::from(a.distance_squared(*b))).sum();
    (sum / a.len().max(1) as f64).sqrt()
}

/// A body that wears the model.
struct Ride<'a> {
    animator: &'a StableSpace,
    body: &'a dyn BodyModel,
    shaped: &'a ShapedBody,
    posed: PosedBody,
    still: PoseVelocity,
    out: Vec<Vec3>,
}

impl<'a> Ride<'a> {
    fn new(animator: &'a StableSpace, body: &'a dyn BodyModel, shaped: &'a ShapedBody) -> Self {
        let n_joints = body.skeleton().len();
        Self {
            animator,
            body,
            shaped,
            posed: PosedBody::with_room(n_joints, 0),
            still: PoseVelocity::zero(n_joints),
            out: vec![Vec3::ZERO; animator.topology().n_vertices()],
        }
    }

    /// Poses the joints, which is all that the model sees.
    fn pose(&mut self, pose: &Pose) {
        let (skeleton, joints) = (self.body.skeleton(), &self.shaped.joints);
        self.posed.pose_joints(skeleton, joints, pose, &self.still);
    }

    /// How far the model knows one pose.
    fn of_one(&mut self, pose: &Pose) -> anyhow::Result<f32> {
        self.pose(pose);
        let frame = self.posed.frame(self.shaped, Surroundings::default());
        let mut state = self.animator.start(&frame)?;
        let report = self.animator.step(&mut state, &frame, &mut self.out)?;
        Ok(report.confidence)
    }

    /// The garment of every frame as seen from the root, and the least confidence.
    fn seen_from_root(&mut self, poses: &[Pose]) -> anyhow::Result<(Vec<Vec<Vec3>>, f32)> {
        let (mut all, mut least) = (Vec::new(), f32::INFINITY);
        let (mut state, mut heading) = (None, 0.0);
        for pose in poses {
            self.pose(pose);
            let frame = self.posed.frame(self.shaped, Surroundings::default());
            let state = match &mut state {
                Some(state) => state,
                None => state.insert(self.animator.start(&frame)?),
            };
            let report = self.animator.step(state, &frame, &mut self.out)?;
            least = least.min(report.confidence);
            let canonical = CanonicalFrame::of(pose, heading);
            heading = canonical.heading;
            let to = canonical.canonical_from_world();
            all.push(self.out.iter().map(|p| to.transform_point3(*p)).collect());
        }
        Ok((all, least))
    }

    /// Plays poses as they are, and with the root taken elsewhere every [`JUMP_KNOWN`]
    /// frames.
    fn taken_elsewhere(&mut self, poses: &[Pose]) -> anyhow::Result<TakenElsewhere> {
        let mut elsewhere = poses.to_vec();
        for (i, pose) in elsewhere.iter_mut().enumerate() {
            let jumps = (i / JUMP_KNOWN) as f32;
            let turn = Quat::from_rotation_y(2.0 * jumps);
            pose.root = turn * pose.root + jumps * Vec3::new(40.0, 0.0, -25.0);
            pose.rotations[0] = turn * pose.rotations[0];
        }
        let (plain, _) = self.seen_from_root(poses)?;
        let (taken, confidence) = self.seen_from_root(&elsewhere)?;
        let both = plain.iter().zip(&taken);
        let next = plain.iter().zip(plain.iter().skip(1));
        Ok(TakenElsewhere {
            jumps: poses.len().saturating_sub(1) / JUMP_KNOWN,
            apart: both.map(|(a, b)| apart(a, b)).fold(0.0, f64::max),
            change: next.map(|(a, b)| apart(a, b)).fold(0.0, f64::max),
            confidence,
        })
    }

    /// A random walk with the root up to that fast [m per frame].
    fn walk(
        &mut self,
        steps: u32,
        speed: f32,
        coordinates: Option<&EnergyCoordinates>,
    ) -> anyhow::Result<Walked> {
        let mut walker = Walker::new(self.body.skeleton().len());
        let mut walked = Walked::default();
        let n_vertices = self.out.len() as f64;
        let mut state = None;
        let (mut heading, mut last): (f32, Vec<Vec3>) = (0.0, Vec::new());
        let mut memories: Vec<f64> = Vec::new();
        for step in 0..steps {
            stop::check()?;
            let is_jump = step > 0 && step % JUMP == 0;
            let pose = walker.next(speed, is_jump);
            self.pose(&pose);
            let frame = self.posed.frame(self.shaped, Surroundings::default());
            let state = match &mut state {
                Some(state) => state,
                None => state.insert(self.animator.start(&frame)?),
            };
            let report = self.animator.step(state, &frame, &mut self.out)?;
            anyhow::ensure!(
                self.out.iter().all(|p| p.is_finite()),
                "step {step} of the walk is not finite"
            );
            let size: f64 = state.cloth().iter().map(|y| f64::from(*y).powi(2)).sum();
            let size = (size / n_vertices).sqrt();
            walked.highest = walked.highest.max(size);
            let is_at_reach = |reach: f32| size > 0.999 * f64::from(reach);
            walked.at_reach += u32::from(self.animator.reach().is_some_and(is_at_reach));
            walked.confidence += f64::from(report.confidence);
            if let Some(coordinates) = coordinates {
                let memory = self.animator.memory(state).iter();
                memories.extend(memory.map(|y| f64::from(*y)));
                if memories.len() >= MANY || step + 1 == steps {
                    let all = coordinates.energies(&memories);
                    walked.energy = all.into_iter().chain(walked.energy).reduce(f64::max);
                    memories.clear();
                }
            }
            let canonical = CanonicalFrame::of(&pose, heading);
            heading = canonical.heading;
            let to = canonical.canonical_from_world();
            let local: Vec<Vec3> = self.out.iter().map(|p| to.transform_point3(*p)).collect();
            let change = if last.is_empty() {
                0.0
            } else {
                apart(&local, &last)
            };
            let most = match is_jump {
                true => &mut walked.change_at_jumps,
                false => &mut walked.change,
            };
            *most = most.max(change);
            walked.jumps += u32::from(is_jump);
            last = local;
        }
        Ok(walked)
    }
}

/// Upside down, arms and legs straight.
fn handstand(n_joints: usize) -> Pose {
    let mut pose = Pose::identity(Vec3::Y, n_joints);
    pose.rotations[0] = Quat::from_rotation_x(PI);
    pose
}

/// Joints that turn to somewhere within their limits, and then elsewhere.
struct Walker {
    random: u64,
    joints: Vec<Option<Joint>>,
    root: Vec3,
    heading: f32,
    /// Turn of the heading and way of the root in a frame.
    turn: f32,
    way: Vec3,
    tilt: [f32; 2],
}

struct Joint {
    limit: JointLimit,
    now: JointAngles,
    to: JointAngles,
}

impl Walker {
    fn new(n_joints: usize) -> Self {
        let rest = JointAngles {
            bend: 0.0,
            sway: 0.0,
            twist: 0.0,
        };
        let joint = |j: usize| {
            let limit = limit(JointId(j as u16))?;
            Some(Joint {
                limit,
                now: rest,
                to: rest,
            })
        };
        Self {
            random: 0x9E37_79B9_7F4A_7C15,
            joints: (0..n_joints).map(joint).collect(),
            root: Vec3::Y,
            heading: 0.0,
            turn: 0.0,
            way: Vec3::ZERO,
            tilt: [0.0; 2],
        }
    }

    /// From −1 to 1.
    fn random(&mut self) -> f32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// The next pose.
    fn next(&mut self, speed: f32, is_jump: bool) -> Pose {
        let mut pose = Pose::identity(self.root, self.joints.len());
        for j in 0..self.joints.len() {
            // A new place to go to every second or so, or once it is there.
            let draws: [f32; 4] = std::array::from_fn(|_| self.random());
            let Some(joint) = &mut self.joints[j] else {
                continue;
            };
            if draws[3] > 0.93 {
                joint.to = joint.limit.drawn(draws);
            }
            joint.step();
            pose.rotations[j] = joint.limit.rotation(joint.now);
        }
        if self.random() > 0.9 {
            self.turn = 0.1 * self.random();
            let way = Vec3::new(self.random(), 0.3 * self.random(), self.random());
            self.way = speed * way.clamp_length_max(1.0);
        }
        for axis in 0..2 {
            let by = 0.05 * self.random();
            self.tilt[axis] = (self.tilt[axis] + by).clamp(-TILT, TILT);
        }
        self.heading += self.turn;
        self.root += self.way;
        // Neither in the sky nor in the ground.
        self.root.y = self.root.y.clamp(0.3, 1.5);
        if is_jump {
            self.root.x = 100.0 * self.random();
            self.root.z = 100.0 * self.random();
            self.heading += PI * self.random();
        }
        pose.root = self.root;
        pose.rotations[0] = Quat::from_rotation_y(self.heading)
            * Quat::from_rotation_x(self.tilt[0])
            * Quat::from_rotation_z(self.tilt[1]);
        pose
    }
}

impl Joint {
    /// Nearer to where it goes, bend and sway in a straight line.
    fn step(&mut self) {
        let (bend, sway) = (self.to.bend - self.now.bend, self.to.sway - self.now.sway);
        let share = (RATE / bend.hypot(sway).max(RATE)).min(1.0);
        self.now.bend += share * bend;
        self.now.sway += share * sway;
        self.now.twist += (self.to.twist - self.now.twist).clamp(-RATE, RATE);
    }
}

/// Angles within limits.
trait Drawn {
    /// From numbers from −1 to 1.
    fn drawn(&self, draws: [f32; 4]) -> JointAngles;
}

impl Drawn for JointLimit {
    fn drawn(&self, draws: [f32; 4]) -> JointAngles {
        // A place in the unit disc, then in the ellipse of its quadrant.
        let long = draws[0].hypot(draws[1]).max(1.0);
        let (b, w) = (draws[0] / long, draws[1] / long);
        let of = |share: f32, [low, high]: [f32; 2]| match share < 0.0 {
            true => share * low.abs(),
            false => share * high,
        };
        let [low, high] = self.twist;
        JointAngles {
            bend: of(b, self.bend),
            sway: of(w, self.sway),
            twist: low + (high - low) * (draws[2] + 1.0) / 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use drapery::scene::mannequin::{is_within, skeleton};

    use super::*;

    #[test]
    fn a_walk_stays_within_the_limits_and_goes_far() {
        let n_joints = skeleton().len();
        let (mut walker, mut again) = (Walker::new(n_joints), Walker::new(n_joints));
        let mut farthest = vec![0.0f32; n_joints];
        for step in 0..2000 {
            let pose = walker.next(0.05, step % JUMP == 0);
            assert_eq!(pose, again.next(0.05, step % JUMP == 0));
            for (j, rotation) in pose.rotations.iter().enumerate().skip(1) {
                assert!(is_within(JointId(j as u16), *rotation), "{step}, joint {j}");
                farthest[j] = farthest[j].max(rotation.to_scaled_axis().length());
            }
        }
        let knee = skeleton().names().iter().position(|n| n == "left_knee");
        assert!(farthest[knee.unwrap()] > 1.5, "{farthest:?}");
    }

    #[test]
    fn what_was_not_walked_has_no_number() {
        let walked = words(&json!({ "steps": 10_000, "highest_cm": 31.25 }));
        assert!(
            walked.contains("| highest of the walk, cm | 31.2 |"),
            "{walked}"
        );
        assert!(walked.contains("| confidence in a handstand | – |"));
    }
}
