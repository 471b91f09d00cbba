//! Sixteen characters side by side, and how they take a frame.
//!
//! What is alike for all is done on [`Row`]s by [`kernels`](super::kernels); what
//! has branches (checks, jumps of the root, the first frames) is done character by
//! character, in few numbers each. A character that can't be stepped is a lane
//! whose results nobody keeps.

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{AnimateError, BodyFrame, CanonicalFrame, GarmentAnimator, StepReport};
use glam::{Affine3A, Vec3, Vec3A};

use super::kernels::{Placement, RANK, Row, TILE};
use super::{CrowdTimes, StableCrowd};
use crate::pose_range::Trust;
use crate::root_motion::{ROOT_MOTION, take_along};
use crate::skinning::SkinnedState;
use crate::stable_space::{RootTerms, StableState};

/// What sixteen garments remember.
#[derive(Clone, Debug)]
pub(crate) struct Rank {
    /// How many there are, from the first lane on.
    pub(crate) n: usize,
    n_seen: [usize; RANK],
    heading: [f32; RANK],
    trust: [Trust; RANK],
    /// Where the root was, the latest first, shape [character, frame].
    roots: Vec<CanonicalFrame>,
    /// Sine and cosine of their headings.
    turns: Vec<[f32; 2]>,
    /// φ: body, past cloth, root motion.
    inputs: Vec<Row>,
}

/// Room for the frame of one rank after the other.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// t − t̄ of [`PoseRange`](crate::PoseRange).
    offset: Vec<Row>,
    spread: Vec<Row>,
    cloth: Vec<Row>,
    /// Model A's.
    still: Vec<Row>,
    frames: [CanonicalFrame; RANK],
    placements: [Placement; RANK],
    /// How far each follows what was learned.
    shares: [f32; RANK],
    /// Whether each is stepped.
    live: [bool; RANK],
    skinned: SkinnedState,
    positions: Vec<Vec3>,
    /// Eight garments that are not written as they are [m].
    spare: Vec<f32>,
    pub(crate) spent: CrowdTimes,
}

impl Room {
    pub(crate) fn new(crowd: &StableCrowd) -> Self {
        let animator = crowd.animator();
        let parts = animator.parts();
        let n_vertices = animator.skinned().rest().len();
        let rows = |n| vec![[0.0; RANK]; n];
        let nowhere = CanonicalFrame {
            root: Vec3::ZERO,
            heading: 0.0,
        };
        Self {
            offset: rows(12 * parts.range.n_joints()),
            spread: rows(crowd.spread.n_out()),
            cloth: rows(parts.dynamics.n_cloth()),
            still: rows(parts.dynamics.n_cloth()),
            frames: [nowhere; RANK],
            placements: [[0.0; 5]; RANK],
            shares: [1.0; RANK],
            live: [false; RANK],
            skinned: animator.skinned().room(),
            positions: vec![Vec3::ZERO; n_vertices],
            spare: vec![0.0; TILE * 3 * n_vertices],
            spent: CrowdTimes::default(),
        }
    }
}

impl Rank {
    /// Without anyone yet.
    pub(crate) fn new(crowd: &StableCrowd) -> Self {
        let dynamics = &crowd.animator().parts().dynamics;
        let nowhere = CanonicalFrame {
            root: Vec3::ZERO,
            heading: 0.0,
        };
        Self {
            n: 0,
            n_seen: [0; RANK],
            heading: [0.0; RANK],
            trust: [Trust::new(0.0); RANK],
            roots: vec![nowhere; RANK * dynamics.order()],
            turns: vec![[0.0, 1.0]; RANK * dynamics.order()],
            inputs: vec![[0.0; RANK]; dynamics.n_inputs()],
        }
    }

    /// Takes in a garment by itself, in the next lane.
    pub(crate) fn push(&mut self, state: &StableState) {
        let (lane, order) = (self.n, state.roots.len());
        self.n += 1;
        self.n_seen[lane] = state.n_seen;
        self.heading[lane] = state.heading;
        self.trust[lane] = state.trust;
        let roots = self.roots[lane * order..].iter_mut();
        let roots = roots.zip(&mut self.turns[lane * order..]);
        for ((to, turn), from) in roots.zip(&state.roots) {
            *to = *from;
            *turn = sine_cosine(from.heading);
        }
        for (row, value) in self.inputs.iter_mut().zip(&state.inputs) {
            row[lane] = *value;
        }
    }

    /// Puts the last garment of a rank into a lane of this one.
    pub(crate) fn take_last_of(&mut self, lane: usize, other: &Self) {
        let (from, order) = (other.n - 1, other.roots.len() / RANK);
        self.n_seen[lane] = other.n_seen[from];
        self.heading[lane] = other.heading[from];
        self.trust[lane] = other.trust[from];
        for i in 0..order {
            self.roots[lane * order + i] = other.roots[from * order + i];
            self.turns[lane * order + i] = other.turns[from * order + i];
        }
        for (row, other) in self.inputs.iter_mut().zip(&other.inputs) {
            row[lane] = other[from];
        }
    }

    /// One frame of all in it. `out` is theirs alone, shape [character, vertex, 3].
    pub(crate) fn step(
        &mut self,
        crowd: &StableCrowd,
        room: &mut Room,
        bodies: &[BodyFrame<'_>],
        reports: &mut [Result<StepReport, AnimateError>],
        out: &mut [f32],
        clock: &dyn Fn() -> f64,
    ) {
        let mut times = [clock(), 0.0, 0.0, 0.0, 0.0];
        self.read(crowd, room, bodies, reports);
        times[1] = clock();
        self.project(crowd, room, bodies, reports, out);
        times[2] = clock();
        self.advance(crowd, room);
        times[3] = clock();
        self.write(crowd, room, out);
        times[4] = clock();
        let spent = &mut room.spent;
        spent.read += times[1] - times[0];
        spent.project += times[2] - times[1];
        spent.dynamics += times[3] - times[2];
        spent.reconstruct += times[4] - times[3];
    }

    /// Joints of the bodies in canonical space, less their mean.
    fn read(
        &self,
        crowd: &StableCrowd,
        room: &mut Room,
        bodies: &[BodyFrame<'_>],
        reports: &mut [Result<StepReport, AnimateError>],
    ) {
        let mean = &crowd.animator().parts().range.parts().mean;
        room.live = [false; RANK];
        for (lane, (body, report)) in bodies.iter().zip(reports).enumerate() {
            if let Err(error) = crowd.animator().check(body) {
                *report = Err(error);
                continue;
            }
            // The heading is kept where there is none.
            let frame = CanonicalFrame::of(body.pose, self.heading[lane]);
            let [sine, cosine] = sine_cosine(frame.heading);
            room.live[lane] = true;
            room.frames[lane] = frame;
            room.placements[lane] = [cosine, sine, frame.root.x, frame.root.y, frame.root.z];
            read_joints(
                &room.placements[lane],
                body.world_from_rest,
                mean,
                lane,
                &mut room.offset,
            );
        }
        for lane in (0..RANK).filter(|lane| !room.live[*lane]) {
            room.offset.iter_mut().for_each(|row| row[lane] = 0.0);
        }
    }

    /// Coefficients of the bodies, how well they are known, and the skinned garment
    /// of those that are not.
    fn project(
        &mut self,
        crowd: &StableCrowd,
        room: &mut Room,
        bodies: &[BodyFrame<'_>],
        reports: &mut [Result<StepReport, AnimateError>],
        out: &mut [f32],
    ) {
        let animator = crowd.animator();
        let (range, level) = (&animator.parts().range, crowd.level);
        let x = &mut self.inputs[..range.n_components()];
        crowd.projection.apply(level, &room.offset, x);
        let mut all = [0.0; RANK];
        for axis in room.offset.chunks_exact(4 * range.n_joints()) {
            crowd.spread.apply(level, axis, &mut room.spread);
            for row in &room.spread {
                for (all, u) in all.iter_mut().zip(row) {
                    *all += u * u;
                }
            }
        }
        let weights = &range.parts().weights;
        let (mut own, mut near) = ([0.0; RANK], [0.0; RANK]);
        for (row, weight) in x.iter().zip(weights) {
            for ((own, near), x) in own.iter_mut().zip(&mut near).zip(row) {
                *own += x * x;
                *near += x * x * weight;
            }
        }
        let tail = weights[range.n_components()];
        let (low, high) = range.bounds();
        let mut outside = [0.0; RANK];
        for (row, (low, high)) in x.iter_mut().zip(low.iter().zip(high)) {
            for (x, outside) in row.iter_mut().zip(&mut outside) {
                let held = x.clamp(*low, *high);
                *outside += (*x - held) * (*x - held);
                *x = held;
            }
        }
        let n_values = out.len() / bodies.len().max(1);
        for (lane, (body, report)) in bodies.iter().zip(reports).enumerate() {
            if !room.live[lane] {
                continue;
            }
            let residual = (all[lane] - own[lane]).max(0.0);
            let distance = libm::sqrtf(near[lane] + residual * tail);
            let distance = range.at_least(distance, libm::sqrtf(outside[lane]));
            let confidence = range.confidence(distance, body.shape);
            let mut trust = self.trust[lane];
            let share = trust.follow(confidence);
            if share < 1.0 {
                let (skinned, positions) = (&mut room.skinned, &mut room.positions);
                if let Err(error) = animator.skinned().step(skinned, body, positions) {
                    *report = Err(error);
                    room.live[lane] = false;
                    continue;
                }
                let out = &mut out[lane * n_values..][..n_values];
                for (out, position) in out.as_chunks_mut::<3>().0.iter_mut().zip(positions) {
                    *out = position.to_array();
                }
            }
            // Nothing fails from here on.
            self.trust[lane] = trust;
            self.heading[lane] = room.frames[lane].heading;
            room.shares[lane] = share;
            *report = Ok(StepReport {
                confidence,
                correction_depth: 0.0,
            });
        }
    }

    /// yₜ of all, and on by a frame.
    fn advance(&mut self, crowd: &StableCrowd, room: &mut Room) {
        let parts = crowd.animator().parts();
        let dynamics = &parts.dynamics;
        let (n_body, n_cloth) = (dynamics.n_body(), dynamics.n_cloth());
        let order = dynamics.order();
        let mut starts = [false; RANK];
        for lane in (0..RANK).filter(|lane| room.live[*lane]) {
            let frame = &room.frames[lane];
            let n_seen = self.n_seen[lane];
            let roots = &mut self.roots[lane * order..(lane + 1) * order];
            let turns = &mut self.turns[lane * order..(lane + 1) * order];
            if n_seen > 0 && parts.limits.is_beyond(frame, &roots[0]) {
                take_along(&mut roots[..n_seen], frame);
                for (turn, root) in turns.iter_mut().zip(roots.iter()) {
                    *turn = sine_cosine(root.heading);
                }
            }
            // Model A: the bootstrap of §6, or all there is.
            starts[lane] = n_seen < order || order == 0;
            let [cosine, sine, ..] = room.placements[lane];
            if !starts[lane] && dynamics.root() == RootTerms::With {
                let (oldest, past) = (roots[order - 1], &roots[..order - 1]);
                let turn_then = turns[order - 1];
                let past = past.iter().zip(turns.iter().copied());
                let all = core::iter::once((frame, [sine, cosine])).chain(past);
                let motions = &mut self.inputs[n_body + order * n_cloth..];
                for (rows, (now, turn)) in motions.chunks_exact_mut(ROOT_MOTION).zip(all) {
                    let motion = motion(now.root - oldest.root, turn, turn_then);
                    for (row, value) in rows.iter_mut().zip(motion) {
                        row[lane] = value;
                    }
                }
            }
            if order > 0 {
                roots.copy_within(..order - 1, 1);
                turns.copy_within(..order - 1, 1);
                (roots[0], turns[0]) = (*frame, [sine, cosine]);
                self.n_seen[lane] = (n_seen + 1).min(order);
            }
        }
        let x = &self.inputs[..n_body];
        if starts == room.live {
            crowd.still.apply(crowd.level, x, &mut room.cloth);
        } else {
            crowd
                .dynamics
                .apply(crowd.level, &self.inputs, &mut room.cloth);
            if starts != [false; RANK] {
                crowd.still.apply(crowd.level, x, &mut room.still);
                keep(&starts, &mut room.cloth, &room.still);
            }
        }
        let past = &mut self.inputs[n_body..n_body + order * n_cloth];
        let mut squares = [0.0; RANK];
        for row in &room.cloth {
            for (sum, y) in squares.iter_mut().zip(row) {
                *sum += y * y;
            }
        }
        let mut drawn_in = squares.map(|squares| parts.drawn_in(squares));
        // Who can't be stepped keeps a past as it was.
        let lanes = drawn_in.iter_mut().zip(&room.live);
        lanes.for_each(|(drawn_in, live)| *drawn_in = if *live { *drawn_in } else { 1.0 });
        if drawn_in != [1.0; RANK] {
            for row in room.cloth.iter_mut().chain(past.iter_mut()) {
                row.iter_mut().zip(&drawn_in).for_each(|(y, by)| *y *= by);
            }
        }
        if order > 0 {
            for i in (1..order).rev() {
                let (newer, older) = past.split_at_mut(i * n_cloth);
                let newer = &newer[(i - 1) * n_cloth..];
                keep(&room.live, &mut older[..n_cloth], newer);
            }
            keep(&room.live, &mut past[..n_cloth], &room.cloth);
        }
    }

    /// The garments in the world.
    fn write(&self, crowd: &StableCrowd, room: &mut Room, out: &mut [f32]) {
        let n_values = room.spare.len() / TILE;
        let tiles = out.chunks_mut(room.spare.len().max(1));
        for (tile, out) in tiles.enumerate() {
            let first = tile * TILE;
            let Some(placements) = room.placements[first..].first_chunk::<TILE>() else {
                return;
            };
            let live = &room.live[first..first + TILE];
            let shares = &room.shares[first..first + TILE];
            let is_plain = |(live, share): (&bool, &f32)| *live && *share >= 1.0;
            if live.iter().zip(shares).all(is_plain) {
                let panels = &crowd.panels;
                panels.apply(crowd.level, &room.cloth, first, placements, out);
                continue;
            }
            let spare = &mut room.spare;
            crowd
                .panels
                .apply(crowd.level, &room.cloth, first, placements, spare);
            let rows = out.chunks_exact_mut(n_values);
            let rows = rows.zip(spare.chunks_exact(n_values));
            for ((out, learned), (live, share)) in rows.zip(live.iter().zip(shares)) {
                match (*live, *share < 1.0) {
                    (false, _) => {}
                    (true, false) => out.copy_from_slice(learned),
                    (true, true) => {
                        for (out, learned) in out.iter_mut().zip(learned) {
                            *out += (learned - *out) * share;
                        }
                    }
                }
            }
        }
    }
}

/// Copies the lanes that are to be kept.
fn keep(lanes: &[bool; RANK], to: &mut [Row], from: &[Row]) {
    for (to, from) in to.iter_mut().zip(from) {
        for ((to, from), is_kept) in to.iter_mut().zip(from).zip(lanes) {
            *to = if *is_kept { *from } else { *to };
        }
    }
}

fn sine_cosine(angle: f32) -> [f32; 2] {
    let (sine, cosine) = libm::sincosf(angle);
    [sine, cosine]
}

/// z of Eq. 6, as [`root_motion`](crate::root_motion) has it, of sines and cosines
/// that are known.
fn motion(way: Vec3, [sine, cosine]: [f32; 2], then: [f32; 2]) -> [f32; ROOT_MOTION] {
    let [sine_then, cosine_then] = then;
    [
        cosine_then * way.x - sine_then * way.z,
        way.y,
        sine_then * way.x + cosine_then * way.z,
        sine * cosine_then - cosine * sine_then,
        cosine * cosine_then + sine * sine_then,
    ]
}

/// What [`canonical_rows`](crate::canonical_rows) writes, less the mean, to a lane.
fn read_joints(
    placement: &Placement,
    world_from_rest: &[Affine3A],
    mean: &[f32],
    lane: usize,
    offset: &mut [Row],
) {
    let [cosine, sine, x, y, z] = *placement;
    let (root, width) = (Vec3A::new(x, y, z), 4 * world_from_rest.len());
    let (offset_x, rest) = offset.split_at_mut(width);
    let (offset_y, offset_z) = rest.split_at_mut(width);
    let (mean_x, rest) = mean.split_at(width);
    let (mean_y, mean_z) = rest.split_at(width);
    let offsets = offset_x.iter_mut().zip(offset_y).zip(offset_z);
    let means = mean_x.iter().zip(mean_y).zip(mean_z);
    let columns = world_from_rest.iter().flat_map(|world| {
        let m = &world.matrix3;
        // The root first: far from the origin that loses the least.
        [m.x_axis, m.y_axis, m.z_axis, world.translation - root]
    });
    for ((((to_x, to_y), to_z), ((mean_x, mean_y), mean_z)), v) in offsets.zip(means).zip(columns) {
        to_x[lane] = cosine * v.x - sine * v.z - mean_x;
        to_y[lane] = v.y - mean_y;
        to_z[lane] = sine * v.x + cosine * v.z - mean_z;
    }
}
