//! [`part_limbs`]: a motion in which limbs do not sink into the body.
//!
//! A captured motion is that of another body: on the one that it is put on, a
//! hand laid on a hip goes into it. Joints of the arms are turned, by as little as
//! does it:
//!
//! ```text
//! min  ½ Σᵢ cᵢ (sᵢ − Gᵢ·ω)₊² + ½ λ |φ + ω − φ̄|²
//! ```
//!
//! over the turns ω of these joints, added to those so far, φ, of which φ̄ are
//! asked for by the frames around. sᵢ is how far a vertex is in another part of the
//! body, and the room that cloth needs; cᵢ its area; Gᵢ how fast the two come apart
//! along the way out. Legs and the spine are left alone, so that feet stay where they
//! stand, and wrists, which would fold before an elbow moves.
//!
//! Frames are solved by themselves, and moments between them where the body moves fast;
//! turns then swell before each frame that needs them and ebb after it, and frames are
//! solved again from there. Parts that are neighbours, as the two sides of an elbow, are
//! left to [`Flesh`].

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use drapery_core::{
    BodyModel, Clip, JointId, Pose, PoseError, PoseVelocity, PosedBody, Seconds, ShapedBody,
};
use drapery_scene::motion::sample;
use drapery_sim::{Flesh, FleshConfig, Overlap};
use glam::{DQuat, DVec3, Quat, Vec3};

use crate::wearer::wide;

/// How limbs are parted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartingConfig {
    /// Parts that are nearer at rest [m] are neighbours.
    pub apart: f64,
    /// The room that is left between what is parted [m].
    pub room: f64,
    /// Turns are smoothed over this time [s].
    pub smoothing: f64,
}

impl PartingConfig {
    /// Places that are 12 cm apart at rest get 15 mm of room: for some layers of cloth,
    /// in which a dress lies between a thigh and an arm.
    pub const DEFAULT: Self = Self {
        apart: 0.12,
        room: 15e-3,
        smoothing: 0.1,
    };
}

impl Default for PartingConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A motion whose limbs were parted.
#[derive(Clone, Debug, PartialEq)]
pub struct Parted {
    /// The motion, under its own name; the same bits where nothing was turned, as
    /// where turning gains nothing.
    pub clip: Clip,
    /// How deep parts were in one another, in any frame or between two [m].
    pub before: f64,
    /// And how deep they are now [m].
    pub after: f64,
    /// Frames in which a joint was turned by more than a tenth of a degree.
    pub n_frames: usize,
    /// The joint that was turned most, and by how much [rad].
    pub most: Option<(JointId, f64)>,
}

/// What turning costs, against parts in one another [m²].
const STIFFNESS: f64 = 4e-3;
/// An overlap counts in full that is this large [m²].
const PATCH: f64 = 1e-3;
/// Overlaps are asked for in patches of this size [m].
const FINE: f64 = 0.008;
/// What is deeper in another part [m] may be on its way through it.
const REACH: f64 = 0.08;
/// What moves anything this near to the floor [m] is left alone: feet stay where
/// they stand ...
const SOLES: f64 = 0.05;
/// ... and a joint that moves less than this share of the body, or more: hands,
/// and the trunk.
const ARM: Range<f64> = 0.03..0.14;
/// No joint is turned by more in one go [rad].
const MOST: f64 = 0.15;
/// Gos in a frame, and rounds of them ...
const GOS: u32 = 5;
const ROUNDS: u32 = 3;
/// ... of which there may be more where a part is left deeper in another than this [m]:
/// a turn is smaller than its frame asked for once it is smooth. The frame asks for as
/// much more room then, up to so much [m].
const LEFT: f64 = 1e-3;
const MOST_ROUNDS: u32 = 16;
const MOST_ROOM: f64 = 0.05;
/// Where anything moves farther than this from one frame to the next, beside the root [m],
/// it is looked at between them, at most so often.
const STRIDE: f64 = 0.08;
const MOST_BETWEEN: u32 = 3;
/// How often a go is halved that makes it worse.
const HALVINGS: u32 = 3;
/// A go that betters a frame by less than this share is the last.
const BETTER: f64 = 0.01;
/// Corners of turns over time are rounded by this share of the smoothing.
const CORNERS: f64 = 0.4;
/// Turns below this are none [rad].
const TURNED: f64 = 1.7e-3;
/// A stretch of frames that is left deeper than this share of what it was is left as it
/// was ...
const WORTH: f64 = 0.97;
/// ... and so is one in which a joint would be turned by more than this [rad]: it would
/// be another motion.
const FARTHEST: f64 = 0.7;

/// Turns the joints of a motion so that no part of the body is in another.
/// `each` is told how much is done, from 0 to 1, and says whether to go on; there is
/// nothing if it does not.
///
/// # Errors
/// When the clip does not fit the body.
pub fn part_limbs(
    model: &dyn BodyModel,
    shaped: &ShapedBody,
    clip: &Clip,
    config: PartingConfig,
    mut each: impl FnMut(f64) -> bool,
) -> Result<Option<Parted>, PoseError> {
    let mut body = Parting::new(model, shaped, config);
    let moments = body.moments(clip)?;
    let n_moments = moments.len();
    let mut turns = vec![vec![DVec3::ZERO; model.skeleton().len()]; n_moments];
    let mut depths = vec![0.0; n_moments];
    let mut first = Vec::new();
    let mut is_left = vec![false; n_moments];
    let mut is_parted = vec![false; n_moments];
    let mut more_room = vec![0.0; n_moments];
    let mut rounds: Vec<Round> = Vec::new();
    let mut round = 0;
    while round < MOST_ROUNDS {
        for (m, moment) in moments.iter().enumerate() {
            // Where nothing was met, and nothing turned since, is nothing now.
            let may_meet = round == 0 || depths[m] > f64::NEG_INFINITY || is_turned(&turns[m]);
            if may_meet && !is_left[m] && !is_parted[m] {
                depths[m] = body.solve(&moment.pose, more_room[m], &mut turns[m])?;
            }
            let done = f64::from(round) + m as f64 / n_moments as f64;
            // Rounds beyond the usual are at the end of it.
            if !each((done / f64::from(ROUNDS)).min(1.0)) {
                return Ok(None);
            }
        }
        if first.is_empty() {
            first.clone_from(&depths);
        }
        let width = config.smoothing * clip.frame_rate().hz();
        // What only leads to others, or away, asks for nothing itself.
        for (m, turns) in turns.iter_mut().enumerate() {
            if first[m] == f64::NEG_INFINITY && depths[m] == f64::NEG_INFINITY {
                turns.fill(DVec3::ZERO);
            }
        }
        swell(&mut turns, &moments, width);
        round += 1;
        if round < ROUNDS {
            continue;
        }
        if round == ROUNDS && leave(&first, &turns, &mut is_left) {
            // Once more, without what they have taken along.
            turns.iter_mut().for_each(|t| t.fill(DVec3::ZERO));
            depths.clone_from(&first);
            round = 0;
            continue;
        }
        rounds.push(body.after_round(clip, &moments, &turns, &depths)?);
        let all = stretches(&rounds);
        let (parted, open): (Vec<_>, Vec<_>) =
            (all.into_iter()).partition(|run| parted_in(&rounds, run).is_some());
        if open.is_empty() {
            break;
        }
        is_parted.fill(false);
        parted.into_iter().for_each(|run| is_parted[run].fill(true));
        let last = &rounds[rounds.len() - 1];
        for (more, left) in more_room.iter_mut().zip(&last.depths) {
            *more = (*more + left.max(0.0)).min(MOST_ROOM);
        }
    }
    let Round {
        mut turns,
        depths: mut now,
    } = rounds[rounds.len() - 1].clone();
    for run in stretches(&rounds) {
        // A limb that is more than halfway through has no way out that turning finds.
        let was = largest(&first[run.clone()]);
        let best = best_of(&rounds, &run).filter(|best| best.deepest(&run) <= WORTH * was);
        match best {
            Some(best) => {
                now[run.clone()].copy_from_slice(&best.depths[run.clone()]);
                turns[run.clone()].clone_from_slice(&best.turns[run]);
            }
            None => {
                now[run.clone()].copy_from_slice(&first[run.clone()]);
                turns[run].iter_mut().for_each(|t| t.fill(DVec3::ZERO));
            }
        }
    }
    let turns = of_frames(&moments, &turns);
    let mut most: Option<(JointId, f64)> = None;
    for turns in &turns {
        for (joint, turn) in turns.iter().enumerate() {
            let angle = turn.length();
            if angle > most.map_or(TURNED, |(_, most)| most) {
                most = Some((JointId(joint as u16), angle));
            }
        }
    }
    Ok(Some(Parted {
        clip: with_turns(clip, &turns)?,
        before: largest(&first),
        after: largest(&now),
        n_frames: turns.iter().filter(|t| is_turned(t)).count(),
        most,
    }))
}

/// A moment of a motion in which limbs are parted: a frame, or between two where the body
/// moves so far from one to the next that a limb could pass through another.
struct Moment {
    pose: Pose,
    /// When it is, in frames.
    time: f64,
}

impl Moment {
    fn is_frame(&self) -> bool {
        self.time.fract() == 0.0
    }
}

/// The turns of the moments that are frames.
fn of_frames<'a>(moments: &[Moment], turns: &'a [Vec<DVec3>]) -> Vec<&'a [DVec3]> {
    let both = moments.iter().zip(turns);
    let frames = both.filter(|(moment, _)| moment.is_frame());
    frames.map(|(_, turns)| turns.as_slice()).collect()
}

/// A motion with the joints of its frames turned.
fn with_turns(clip: &Clip, turns: &[&[DVec3]]) -> Result<Clip, PoseError> {
    let frames = clip.frames().iter().zip(turns);
    let frames = frames.map(|(pose, turns)| match is_turned(turns) {
        true => turned(pose, turns),
        false => pose.clone(),
    });
    let (skeleton, rate) = (clip.skeleton().clone(), clip.frame_rate());
    Clip::new(clip.name().to_string(), skeleton, rate, frames.collect())
        .map_err(|_| PoseError::NotFinite)
}

/// The pose of a motion at a time in frames.
fn pose_at(clip: &Clip, time: f64) -> Pose {
    let mut pose = clip.frames()[0].clone();
    let mut velocity = PoseVelocity::zero(pose.rotations.len());
    let time = Seconds(time / clip.frame_rate().hz());
    sample(clip, time, &mut pose, &mut velocity);
    pose
}

/// Marks frames, as many as hang together, in which a joint would be turned too far to be
/// the same motion, and says whether there are any that were not.
fn leave(depths: &[f64], turns: &[Vec<DVec3>], is_left: &mut [bool]) -> bool {
    let mut is_more = false;
    for run in runs(depths.len(), |f| depths[f] > f64::NEG_INFINITY) {
        if !is_left[run.start] && farthest(&turns[run.clone()]) > FARTHEST {
            is_left[run].fill(true);
            is_more = true;
        }
    }
    is_more
}

/// A motion after a round.
#[derive(Clone)]
struct Round {
    /// Shape [moment, joint].
    turns: Vec<Vec<DVec3>>,
    /// How deep parts are in one another [m], shape [moment].
    depths: Vec<f64>,
}

impl Round {
    /// How deep parts are in one another in frames [m].
    fn deepest(&self, run: &Range<usize>) -> f64 {
        largest(&self.depths[run.clone()])
    }

    /// The farthest that a joint is turned in frames [rad].
    fn farthest(&self, run: &Range<usize>) -> f64 {
        farthest(&self.turns[run.clone()])
    }
}

/// The farthest that a joint is turned in frames [rad].
fn farthest(turns: &[Vec<DVec3>]) -> f64 {
    let turns = turns.iter().flatten();
    turns.map(|turn| turn.length()).fold(0.0, f64::max)
}

/// Runs of frames that were turned in any round: between them all rounds are the same.
fn stretches(rounds: &[Round]) -> Vec<Range<usize>> {
    let n_frames = rounds.first().map_or(0, |round| round.turns.len());
    let is_in_one = |f: usize| rounds.iter().any(|round| is_turned(&round.turns[f]));
    runs(n_frames, is_in_one)
}

/// Runs of frames that are so.
fn runs(n_frames: usize, is_so: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for f in (0..n_frames).filter(|f| is_so(*f)) {
        match runs.last_mut() {
            Some(run) if run.end == f => run.end = f + 1,
            _ => runs.push(f..f + 1),
        }
    }
    runs
}

/// The last round that parts a stretch without making another motion of it.
fn parted_in<'a>(rounds: &'a [Round], run: &Range<usize>) -> Option<&'a Round> {
    let mut rounds = rounds.iter();
    rounds.rfind(|round| round.farthest(run) <= FARTHEST && round.deepest(run) <= LEFT)
}

/// The round that parts a stretch best without making another motion of it: the last that
/// does it, or else the one that leaves least.
fn best_of<'a>(rounds: &'a [Round], run: &Range<usize>) -> Option<&'a Round> {
    let near = || (rounds.iter()).filter(|round| round.farthest(run) <= FARTHEST);
    let order = |a: &&Round, b: &&Round| a.deepest(run).total_cmp(&b.deepest(run));
    parted_in(rounds, run).or_else(|| near().min_by(order))
}

/// The largest of depths, or 0.
fn largest(depths: &[f64]) -> f64 {
    depths.iter().copied().fold(0.0, f64::max)
}

fn is_turned(turns: &[DVec3]) -> bool {
    turns
        .iter()
        .any(|turn| turn.length_squared() > TURNED * TURNED)
}

/// A pose with each joint turned in the frame of its parent.
fn turned(pose: &Pose, turns: &[DVec3]) -> Pose {
    let mut pose = pose.clone();
    for (rotation, turn) in pose.rotations.iter_mut().zip(turns) {
        if *turn != DVec3::ZERO {
            *rotation = (exp(*turn).as_quat() * *rotation).normalize();
        }
    }
    pose
}

fn exp(turn: DVec3) -> DQuat {
    DQuat::from_scaled_axis(turn)
}

/// A body whose limbs are parted, frame by frame.
struct Parting<'a> {
    model: &'a dyn BodyModel,
    shaped: &'a ShapedBody,
    config: PartingConfig,
    flesh: Flesh,
    posed: PosedBody,
    still: PoseVelocity,
    /// Joints that may turn.
    joints: Vec<usize>,
    /// Vertices that they move, one for each patch of [`FINE`].
    arms: Vec<u32>,
    /// How much of the surface each of them stands for [m²].
    areas: Vec<f64>,
    /// For each vertex the joints that move it, by place in `joints`, and how
    /// much.
    moved_by: Vec<Vec<(usize, f64)>>,
}

impl<'a> Parting<'a> {
    fn new(model: &'a dyn BodyModel, shaped: &'a ShapedBody, config: PartingConfig) -> Self {
        let flesh = FleshConfig {
            room: config.room,
            reach: REACH,
            ..FleshConfig::DEFAULT
        };
        let rest = wide(&shaped.rest);
        let mut areas = vec![0.0; rest.len()];
        for triangle in model.topology().triangles() {
            let [a, b, c] = triangle.map(|v| rest[v as usize]);
            let third = (b - a).cross(c - a).length() / 6.0;
            for v in triangle {
                areas[*v as usize] += third;
            }
        }
        let area: f64 = areas.iter().sum();
        // A vertex is moved by the joints that it follows and those above them.
        let parents = model.skeleton().parents();
        let mut by_joint: Vec<Vec<f64>> = Vec::new();
        for v in 0..rest.len() {
            let mut row = vec![0.0; parents.len()];
            for (joint, weight) in model.skin_weights().of(v) {
                let mut at = Some(JointId(joint));
                while let Some(joint) = at {
                    row[usize::from(joint.0)] += f64::from(weight);
                    at = parents[usize::from(joint.0)];
                }
            }
            by_joint.push(row);
        }
        let moves = |joint: usize| -> f64 {
            let moved = by_joint.iter().zip(&areas);
            moved.map(|(row, share)| row[joint] * share).sum::<f64>() / area
        };
        let lowest = rest.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let soles: Vec<usize> = (0..rest.len())
            .filter(|v| rest[*v].y < lowest + SOLES)
            .collect();
        let stands = |joint: usize| soles.iter().any(|v| by_joint[*v][joint] > 0.5);
        let joints: Vec<usize> = (0..parents.len())
            .filter(|j| !stands(*j) && ARM.contains(&moves(*j)))
            .collect();
        let moved_by: Vec<Vec<(usize, f64)>> = by_joint
            .iter()
            .map(|row| {
                let all = joints.iter().enumerate().map(|(k, j)| (k, row[*j]));
                all.filter(|(_, weight)| *weight > 1e-3).collect()
            })
            .collect();
        // Of the many vertices of a hand some will do, for all of its area.
        let mut patches: BTreeMap<[i64; 3], u32> = BTreeMap::new();
        for v in (0..rest.len()).filter(|v| moved_by[*v].iter().any(|by| by.1 > 0.5)) {
            let cell = (rest[v] / FINE).to_array().map(|x| x.floor() as i64);
            let first = *patches.entry(cell).or_insert(v as u32) as usize;
            if first != v {
                areas[first] += areas[v];
            }
        }
        Self {
            arms: patches.into_values().collect(),
            model,
            shaped,
            config,
            flesh: Flesh::new(model.topology(), &rest, flesh),
            posed: model.room(),
            still: PoseVelocity::zero(parents.len()),
            joints,
            areas,
            moved_by,
        }
    }

    /// The frames of a motion, and moments between those from one to the next of which
    /// something moves far, or next to which it does: curves between them swing on.
    fn moments(&mut self, clip: &Clip) -> Result<Vec<Moment>, PoseError> {
        let mut far: Vec<f64> = Vec::new();
        let mut before: Vec<Vec3> = Vec::new();
        for pose in clip.frames() {
            self.model
                .pose(self.shaped, pose, &self.still, &mut self.posed)?;
            let now = self.posed.vertices.iter().map(|p| *p - pose.root);
            let now: Vec<Vec3> = now.collect();
            if !before.is_empty() {
                let ways = before.iter().zip(&now).map(|(a, b)| a.distance_squared(*b));
                far.push(f64::from(ways.fold(0.0, f32::max).sqrt()));
            }
            before = now;
        }
        let mut moments: Vec<Moment> = Vec::new();
        for (f, pose) in clip.frames().iter().enumerate() {
            moments.push(Moment {
                pose: pose.clone(),
                time: f as f64,
            });
            if f == far.len() {
                break;
            }
            let around = &far[f.saturating_sub(1)..(f + 2).min(far.len())];
            let far = around.iter().copied().fold(0.0, f64::max);
            let n_between = ((far / STRIDE) as u32).min(MOST_BETWEEN);
            moments.extend((1..=n_between).map(|k| {
                let time = f as f64 + f64::from(k) / f64::from(n_between + 1);
                let pose = pose_at(clip, time);
                Moment { pose, time }
            }));
        }
        Ok(moments)
    }

    /// How deep a motion is with the joints of its frames turned, given how deep it was
    /// before.
    fn after_round(
        &mut self,
        clip: &Clip,
        moments: &[Moment],
        turns: &[Vec<DVec3>],
        before: &[f64],
    ) -> Result<Round, PoseError> {
        let turned = with_turns(clip, &of_frames(moments, turns))?;
        let mut depths = vec![f64::NEG_INFINITY; moments.len()];
        for (m, moment) in moments.iter().enumerate() {
            if is_turned(&turns[m]) || before[m] > f64::NEG_INFINITY {
                depths[m] = deepest(&self.overlaps(&pose_at(&turned, moment.time))?);
            }
        }
        Ok(Round {
            turns: turns.to_vec(),
            depths,
        })
    }

    /// What overlaps in a pose.
    fn overlaps(&mut self, pose: &Pose) -> Result<Vec<Overlap>, PoseError> {
        self.model
            .pose(self.shaped, pose, &self.still, &mut self.posed)?;
        let vertices = wide(&self.posed.vertices);
        let mut overlaps = (self.flesh).overlaps(&vertices, &self.arms, self.config.apart);
        // An arm may bend as it likes.
        overlaps.retain(|o| self.arm_of(o.vertex) != self.arm_of(o.corners[0]));
        Ok(overlaps)
    }

    /// The uppermost joint of those that may turn which moves a vertex.
    fn arm_of(&self, vertex: u32) -> Option<usize> {
        let mut by = self.moved_by[vertex as usize].iter();
        by.find(|by| by.1 > 0.5).map(|by| by.0)
    }

    /// Adds to the turns of a pose what it needs, with more room than usual [m]; how
    /// deep it was before [m].
    fn solve(
        &mut self,
        pose: &Pose,
        more_room: f64,
        turns: &mut [DVec3],
    ) -> Result<f64, PoseError> {
        let asked = turns.to_vec();
        let mut overlaps = self.overlaps(&turned(pose, turns))?;
        let before = deepest(&overlaps);
        for _ in 0..GOS {
            if overlaps.is_empty() {
                break;
            }
            let worth = cost(turns, &asked) + self.cost(&overlaps, more_room);
            let more = self.wanted(&overlaps, more_room, (turns, &asked));
            let most = more.iter().map(|turn| turn.length()).fold(0.0, f64::max);
            let mut share = (MOST / most).min(1.0);
            let mut is_done = true;
            for _ in 0..=HALVINGS {
                let mut tried = turns.to_vec();
                for (joint, more) in self.joints.iter().zip(&more) {
                    let all = exp(share * *more) * exp(turns[*joint]);
                    tried[*joint] = all.to_scaled_axis();
                }
                let found = self.overlaps(&turned(pose, &tried))?;
                let now = cost(&tried, &asked) + self.cost(&found, more_room);
                if now < worth {
                    is_done = now > (1.0 - BETTER) * worth;
                    turns.copy_from_slice(&tried);
                    overlaps = found;
                    break;
                }
                share *= 0.5;
            }
            if is_done {
                break;
            }
        }
        Ok(before)
    }

    /// What overlaps cost.
    fn cost(&self, overlaps: &[Overlap], more_room: f64) -> f64 {
        let costs = overlaps.iter().map(|o| {
            let needed = self.needed(o, more_room);
            0.5 * self.weight(o) * needed * needed
        });
        costs.sum()
    }

    /// How far two parts are to come apart [m].
    fn needed(&self, overlap: &Overlap, more_room: f64) -> f64 {
        let usual = overlap.depth + self.config.room;
        usual + more_room * (usual / self.config.room).min(1.0)
    }

    fn weight(&self, overlap: &Overlap) -> f64 {
        self.areas[overlap.vertex as usize] / PATCH
    }

    /// The turns that least squares want, in the frames of the joints' parents.
    fn wanted(
        &self,
        overlaps: &[Overlap],
        more_room: f64,
        (turns, asked): (&[DVec3], &[DVec3]),
    ) -> Vec<DVec3> {
        let off = self.joints.iter().map(|j| turns[*j] - asked[*j]);
        let mut right: Vec<f64> = off
            .flat_map(|turn| (-STIFFNESS * turn).to_array())
            .collect();
        let mut matrix = Square::diagonal(right.len(), STIFFNESS);
        for overlap in overlaps {
            let needed = self.needed(overlap, more_room);
            let weight = self.weight(overlap);
            let mut row = Vec::new();
            self.slope(overlap.vertex, overlap.way, &mut row);
            for (corner, share) in overlap.corners.into_iter().zip(overlap.shares) {
                self.slope(corner, -share * overlap.way, &mut row);
            }
            matrix.add(&row, weight);
            for (k, slope) in &row {
                right[*k] += weight * slope * needed;
            }
        }
        matrix.solve(&mut right);
        right.chunks_exact(3).map(DVec3::from_slice).collect()
    }

    /// The world rotation of the frame that a joint turns in.
    fn frame_of(&self, joint: usize) -> DQuat {
        let parent = self.model.skeleton().parents()[joint];
        let rotation = parent.map(|p| self.posed.joint_rotations[usize::from(p.0)]);
        rotation.unwrap_or(Quat::IDENTITY).as_dquat()
    }

    /// How fast a vertex moves along a way with each turn, added to a row.
    fn slope(&self, vertex: u32, along: DVec3, row: &mut Vec<(usize, f64)>) {
        let v = vertex as usize;
        let p = self.posed.vertices[v].as_dvec3();
        for (k, weight) in &self.moved_by[v] {
            let joint = self.joints[*k];
            let pivot = self.posed.joint_positions[joint].as_dvec3();
            // along · (axis × arm) = axis · (arm × along), in the joint's frame.
            let turn = self.frame_of(joint).inverse() * (p - pivot).cross(along) * *weight;
            row.extend((0..3).map(|i| (3 * k + i, turn[i])));
        }
    }
}

/// How deep the deepest overlap is [m].
fn deepest(overlaps: &[Overlap]) -> f64 {
    let depths = overlaps.iter().map(|o| o.depth);
    depths.fold(f64::NEG_INFINITY, f64::max)
}

/// What turns cost.
fn cost(turns: &[DVec3], asked: &[DVec3]) -> f64 {
    let off = turns.iter().zip(asked).map(|(a, b)| a.distance_squared(*b));
    0.5 * STIFFNESS * off.sum::<f64>()
}

/// A small symmetric matrix.
struct Square {
    n: usize,
    entries: Vec<f64>,
}

impl Square {
    fn diagonal(n: usize, entry: f64) -> Self {
        let mut entries = vec![0.0; n * n];
        entries.iter_mut().step_by(n + 1).for_each(|e| *e = entry);
        Self { n, entries }
    }

    /// Adds a row times itself; entries of one column add up.
    fn add(&mut self, row: &[(usize, f64)], weight: f64) {
        for (i, a) in row {
            for (j, b) in row {
                self.entries[i * self.n + j] += weight * a * b;
            }
        }
    }

    /// Solves by Cholesky's factors, in place.
    fn solve(mut self, right: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            for j in 0..=i {
                let done: f64 = (0..j)
                    .map(|k| self.entries[i * n + k] * self.entries[j * n + k])
                    .sum();
                let rest = self.entries[i * n + j] - done;
                self.entries[i * n + j] = match i == j {
                    true => rest.sqrt(),
                    false => rest / self.entries[j * n + j],
                };
            }
        }
        for i in 0..n {
            let done: f64 = (0..i).map(|k| self.entries[i * n + k] * right[k]).sum();
            right[i] = (right[i] - done) / self.entries[i * n + i];
        }
        for i in (0..n).rev() {
            let done: f64 = (i + 1..n).map(|k| self.entries[k * n + i] * right[k]).sum();
            right[i] = (right[i] - done) / self.entries[i * n + i];
        }
    }
}

/// Leads to the turns of each moment, and away from them, over a bell of `width`
/// frames.
fn swell(turns: &mut [Vec<DVec3>], moments: &[Moment], width: f64) {
    let bell = |f: usize, g: usize, width: f64| {
        let away = moments[f].time - moments[g].time;
        (-0.5 * (away / width).powi(2)).exp()
    };
    let around = |f: usize, width: f64| {
        let (time, reach) = (moments[f].time, (3.0 * width).ceil());
        let from = moments.partition_point(|m| m.time < time - reach);
        from..moments.partition_point(|m| m.time <= time + reach)
    };
    for joint in 0..turns.first().map_or(0, Vec::len) {
        let rough: Vec<DVec3> = turns.iter().map(|turns| turns[joint]).collect();
        if rough.iter().all(|turn| *turn == DVec3::ZERO) {
            continue;
        }
        // What is largest of the bells around it ...
        let largest = |f: usize| {
            let all = around(f, width).map(|g| rough[g] * bell(f, g, width));
            let largest = all.max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
            largest.unwrap_or_default()
        };
        let led: Vec<DVec3> = (0..moments.len()).map(largest).collect();
        // ... without its corners.
        let narrow = CORNERS * width;
        for (f, turns) in turns.iter_mut().enumerate() {
            let (sum, weight) = around(f, narrow).fold((DVec3::ZERO, 0.0), |(sum, weight), g| {
                let bell = bell(f, g, narrow);
                (sum + led[g] * bell, weight + bell)
            });
            let mean = sum / weight;
            turns[joint] = if mean.length() < 1e-4 {
                DVec3::ZERO
            } else {
                mean
            };
        }
    }
}
