//! Cloth on cloth, and cloth on the primitives of a mesh: [`PairContacts`].
//!
//! Surfaces without an inside must never cross, so that every step starts free
//! of crossings and has to end so. A step goes like this:
//!
//! ```text
//! begin     pairs that are near, or that get near on the way to a guess, press
//! refresh   pairs that still come too near on the way to where the solve
//!           ended press harder, or for the first time; then it is solved again
//! clip      what is left of that is held back, whatever physics says
//! finish    contacts that last remember their forces
//! ```
//!
//! Cloth that is set down crossed is led out of it first (`tangle.rs`).
//!
//! The pressure of a pair with rest distance r and effective mass
//! m = 1/Σ(wᵢ²/mᵢ), over a step of length h from a gap gₙ:
//!
//! ```text
//! k = max { m/h²,  m v/(0.3 r h),  N/(0.4 r) }    so that an approach at v is stopped,
//!                                                  and the last force N borne, with a gap left
//! gₙ ≥ r:  offset r, softness δ = 0.2 r, stiffness k
//! gₙ < r:  offset gₙ + ρ (r − gₙ), softness ρ δ, stiffness k/ρ
//! ```
//!
//! The last line presses as hard at gₙ as the line before it, so that cloth
//! rests where it would, but it never asks to be pushed out by more than ρ of
//! the depth in one step: what was pressed together does not jump apart.
//!
//! Friction is a spring to where the pair would be had it not slipped, no
//! stronger than μ N with N from the last solve; for a new pair, that of its
//! gap at the start.

mod axis;
mod clip;
mod frame;
mod links;
mod memory;
mod mesh_side;
mod nearby;
mod pair;
mod spacing;
mod tangle;
#[cfg(test)]
mod tests;

use std::ops::Range;

use drapery_core::Topology;
use glam::DVec3;
use rayon::prelude::*;

use self::frame::{Frame, reaches};
use self::memory::{Memory, Remembered};
use self::nearby::{Near, Nearby};
use self::pair::{MeshMotion, Motion, Pair, weighted};
use self::tangle::{Setting, Tangle};
use super::hardening::{harder, hardest};
use super::obstacle_mesh::MeshObstacle;
use super::touch::{Friction, Touch, pressure};
use super::weave::Weave;

/// What pairs are like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PairSettings {
    /// Of cloth with cloth of the same piece, for each piece; none where it may
    /// pass through itself.
    pub(crate) cloth: Option<Vec<PairKeeping>>,
    /// Of cloth with meshes, for each piece.
    pub(crate) mesh: Vec<PairKeeping>,
    /// The piece of each vertex.
    pub(crate) piece_of: Vec<u16>,
    /// Whether pieces are worn one over the other in their order, their faces
    /// outwards.
    pub(crate) is_in_order: bool,
    /// Which pairs with meshes there are.
    pub(crate) mesh_pairs: MeshPairs,
}

/// How pairs keep apart. Cloth of two pieces rests at the mean of their
/// distances, half of each being its own, and rubs with the geometric mean of
/// their μ: a slippery lining makes a coat slip over wool too, and what does
/// not rub at all rubs on nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairKeeping {
    /// How far apart they rest [m].
    pub(crate) thickness: f64,
    /// Coulomb's μ.
    pub(crate) friction: f64,
}

impl PairSettings {
    /// How a pair keeps apart.
    fn keeping(&self, near: &Near) -> PairKeeping {
        let [first, second] = near.ends().map(|v| self.piece_of.get(v as usize));
        match (&self.cloth, first, second) {
            (Some(cloth), Some(a), Some(b)) => cloth[usize::from(*a)].with(cloth[usize::from(*b)]),
            // The other is a mesh.
            (_, Some(piece), _) | (_, None, Some(piece)) => self.mesh[usize::from(*piece)],
            (_, None, None) => self.mesh[0],
        }
    }

    /// Coulomb's μ of a pair.
    fn friction(&self, near: &Near) -> f64 {
        self.keeping(near).friction
    }
}

impl PairKeeping {
    /// Of cloth that keeps apart so with other cloth.
    pub(crate) fn with(self, other: Self) -> Self {
        match self == other {
            true => self,
            false => Self {
                thickness: 0.5 * (self.thickness + other.thickness),
                friction: (self.friction * other.friction).sqrt(),
            },
        }
    }
}

/// Which pairs of cloth and mesh count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeshPairs {
    /// Vertices of the mesh, and edges: what signed contacts of the cloth's
    /// vertices leave open.
    WithoutVertices,
    /// Vertices of the cloth as well.
    #[allow(dead_code, reason = "for cloth without signed contacts")]
    All,
}

/// The contacts of a cloth with itself and with meshes.
#[derive(Clone, Debug)]
pub(crate) struct PairContacts {
    settings: PairSettings,
    nearby: Nearby,
    memory: Memory,
    /// Sorted by pair.
    contacts: Vec<Contact>,
    /// Of each contact.
    touches: Vec<Touch>,
    /// 1/kg, of the vertices of the cloth.
    inverse_masses: Vec<f64>,
    meshes: MeshMotion,
    /// How the cloth hangs together, once that is asked.
    weave: Option<Weave>,
    /// What contacts were like in the last solve.
    lasting: Vec<Remembered>,
    /// h [s].
    dt: f64,
    rounds: u32,
    standing: Standing,
    /// What is done in this step about cloth that has crossed itself.
    tangle: Option<Tangle>,
    /// Vertices that pass through cloth and edges of meshes.
    passing: Vec<bool>,
    /// Vertices of edges and faces that are inside a mesh, sorted.
    caught: Vec<u32>,
}

/// What is known about where a step starts.
#[derive(Clone, Debug)]
enum Standing {
    /// It may be crossed.
    Unknown,
    /// It is not crossed.
    Free,
    /// These edges pass through these faces.
    Crossed(Vec<[u32; 2]>),
}

/// A pair that presses or may press.
#[derive(Clone, Copy, Debug)]
struct Contact {
    near: Near,
    frame: Frame,
    /// m [kg].
    mass: f64,
    /// k [N/m].
    stiffness: f64,
    /// N as it was [N].
    force: f64,
    /// The friction that it starts with [N].
    drag: DVec3,
    /// Whether N is only expected.
    is_new: bool,
}

impl Contact {
    /// The hardest that it may press in a step of length h [N/m].
    fn hardest(&self, dt: f64) -> f64 {
        hardest(self.mass, dt)
    }

    /// Expects a force of the size that there was [N]. What ends a solve that failed far
    /// inside had no such force: to bear it would take one that is larger still.
    fn bear(&mut self, force: f64, dt: f64) {
        let depth = BORNE * self.near.rest;
        self.force = force.min(self.hardest(dt) * depth);
        self.stiffness = self.stiffness.max(self.force / depth);
    }

    /// Takes over from a contact of the last step.
    fn recall(&mut self, remembered: &Remembered, dt: f64) {
        self.bear(remembered.force, dt);
        self.drag = remembered.turned_drag(self.frame.normal);
        self.is_new = false;
    }
}

/// δ, in rest distances. Softer, and light cloth floats at the edge of the
/// band; harder, and Newton's method has a corner to go around.
const SOFTNESS: f64 = 0.2;
/// Where a fast approach is stopped and a great force borne: so much of the
/// rest distance is given up, beyond half the softness.
const STOPPED: f64 = 0.3;
const BORNE: f64 = 0.4;
/// ρ.
const PUSH: f64 = 0.2;
/// Nothing is pushed out faster [m/s].
const MAX_PUSH: f64 = 1.0;
/// A pair that starts nearer than this many rest distances is ready to press.
const READY: f64 = 1.25;
/// A pair that comes nearer than this share of its rest distance on the way to
/// the guess presses from the beginning.
const SEEN: f64 = 0.9;
/// The share of the rest distance that must be left; half of what there was
/// for a pair that started with less than twice that.
const FLOOR: f64 = 0.05;
/// A solve is repeated at most so often in a step.
const MAX_ROUNDS: u32 = 8;
/// A new pair whose friction was expected wrong by so much is solved again
/// [m/s]: what it changes about the velocity.
const MISJUDGED: f64 = 0.1;
/// Pairs with meshes are solved again when their friction is off by this share
/// of what they allow for it, as it is where the load goes from one to the next.
const CHANGED: f64 = 0.08;
/// Frames whose normals agree so far are one and the same.
const SAME: f64 = 0.9;
/// Pairs that one task takes at least.
const MIN_TASK: usize = 128;

impl PairContacts {
    /// The pairs of a cloth whose vertices were made at `positions` [m].
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub(crate) fn new(topology: &Topology, positions: &[DVec3], settings: PairSettings) -> Self {
        Self {
            nearby: Nearby::new(topology, positions, &settings),
            standing: match settings.cloth {
                Some(_) => Standing::Unknown,
                None => Standing::Free,
            },
            settings,
            memory: Memory::default(),
            contacts: Vec::new(),
            touches: Vec::new(),
            inverse_masses: Vec::new(),
            meshes: MeshMotion::default(),
            weave: None,
            lasting: Vec::new(),
            dt: 0.0,
            rounds: 0,
            tangle: None,
            passing: vec![false; positions.len()],
            caught: Vec::new(),
        }
    }

    /// Forgets what was, as when the cloth was set elsewhere: it may be crossed
    /// there.
    pub(crate) fn forget(&mut self) {
        self.doubt();
        self.memory = Memory::default();
    }

    /// How many edges of the cloth pass through a face of it, as far as that
    /// is known.
    pub(crate) fn n_crossings(&self) -> usize {
        match &self.standing {
            Standing::Crossed(crossings) => crossings.len(),
            Standing::Unknown | Standing::Free => 0,
        }
    }

    /// Which vertices pass through cloth, and through edges and vertices of
    /// meshes.
    pub(crate) fn passing(&self) -> &[bool] {
        &self.passing
    }

    /// Lets vertices pass through cloth, and others no longer: those may have
    /// crossed it.
    pub(crate) fn set_passing(&mut self, passing: Vec<bool>) {
        let mut both = self.passing.iter().zip(&passing);
        if both.any(|(was, is)| *was && !is) {
            self.doubt();
        }
        self.passing = passing;
    }

    /// Sets the vertices of edges and faces that are inside a mesh, and must get
    /// out of it.
    pub(crate) fn set_caught(&mut self, mut caught: Vec<u32>) {
        caught.sort_unstable();
        caught.dedup();
        self.caught = caught;
    }

    /// Sets where each vertex of the cloth is at home [m].
    pub(crate) fn set_homes(&mut self, homes: &[DVec3]) {
        self.nearby.set_homes(homes);
    }

    /// Takes other settings for pairs with meshes.
    pub(crate) fn set_mesh(&mut self, mesh: Vec<PairKeeping>) {
        self.nearby
            .set_mesh_rests(mesh.iter().map(|m| m.thickness).collect());
        self.settings.mesh = mesh;
    }

    /// How long pairs have been looked for: boxes that come near, and what is
    /// in them [s].
    pub(crate) const fn searched(&self) -> [f64; 2] {
        self.nearby.searched()
    }

    /// Takes pieces for layers that are worn in their order, or no longer.
    pub(crate) fn set_in_order(&mut self, is_in_order: bool) {
        self.settings.is_in_order = is_in_order;
    }

    /// Whether cloth is kept from cloth.
    pub(crate) const fn has_layers(&self) -> bool {
        self.settings.cloth.is_some()
    }

    /// Begins a step of length `dt` [s] from `start`, expected to end near
    /// `guess` [m]. Held vertices have infinite masses [kg].
    pub(crate) fn begin(
        &mut self,
        start: &[DVec3],
        guess: &[DVec3],
        masses: &[f64],
        dt: f64,
        meshes: &[&MeshObstacle],
    ) {
        self.dt = dt;
        self.rounds = 0;
        self.inverse_masses.clear();
        self.inverse_masses.extend(masses.iter().map(|m| 1.0 / m));
        self.meshes.set(meshes);
        self.look(start);
        let motion = self.meshes.with(start, guess);
        self.nearby.begin(&motion, meshes);
        let frames: Vec<Option<Frame>> = self
            .nearby
            .pairs()
            .par_iter()
            .with_min_len(MIN_TASK)
            .map(|near| match self.is_free(near) {
                true => None,
                false => self.first_frame(near, &motion),
            })
            .collect();
        let mut contacts: Vec<Contact> = Vec::new();
        for (near, found) in self.nearby.pairs().iter().zip(frames) {
            let Some(frame) = found else { continue };
            if is_repeated(&contacts, near, &frame) {
                continue;
            }
            contacts.extend(self.contact(near, frame, &motion));
        }
        let keys: Vec<(Near, DVec3)> = contacts.iter().map(|c| (c.near, c.frame.normal)).collect();
        for (contact, remembered) in contacts.iter_mut().zip(self.memory.recall(&keys)) {
            if let Some(remembered) = remembered {
                contact.recall(&remembered, self.dt);
            }
        }
        self.contacts = contacts;
        self.touches.clear();
        for contact in &self.contacts {
            self.touches.push(self.touch(contact, &motion));
        }
    }

    /// The contacts for the next solve.
    pub(crate) fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// What leads out of a tangle, beside them.
    pub(crate) fn leading(&self) -> &[Touch] {
        self.tangle.as_ref().map_or(&[], Tangle::touches)
    }

    /// Does not trust that the cloth is free of crossings any more.
    fn doubt(&mut self) {
        if self.has_layers() {
            self.standing = Standing::Unknown;
        }
    }

    /// Looks whether the cloth crosses itself where a step starts [m], unless
    /// it is known.
    fn look(&mut self, start: &[DVec3]) {
        if let Standing::Unknown = self.standing {
            self.standing = self.standing_at(start);
        }
        self.tangle = match &self.standing {
            Standing::Crossed(crossings) => {
                let setting = Setting {
                    mesh: self.nearby.boxes(),
                    weave: self
                        .weave
                        .get_or_insert_with(|| Weave::new(self.nearby.boxes())),
                    x: start,
                    inverse_masses: &self.inverse_masses,
                    dt: self.dt,
                    thickness: self.nearby.thickness(),
                    layers: self.settings.is_in_order.then_some(&self.settings.piece_of),
                };
                Some(Tangle::new(crossings, &setting))
            }
            Standing::Unknown | Standing::Free => None,
        };
    }

    fn standing_at(&mut self, x: &[DVec3]) -> Standing {
        let mut crossings = self.nearby.crossings(x);
        let boxes = self.nearby.boxes();
        crossings.retain(|[edge, face]| {
            let edge = boxes.edges()[*edge as usize];
            let face = boxes.triangles()[*face as usize];
            !edge.iter().chain(&face).any(|v| self.passing[*v as usize])
        });
        match crossings.is_empty() {
            true => Standing::Free,
            false => Standing::Crossed(crossings),
        }
    }

    /// Whether a pair is left to the way out of a tangle, or may pass.
    fn is_free(&self, near: &Near) -> bool {
        let passes = |v: &u32| self.passing.get(*v as usize) == Some(&true);
        let tangle = self.tangle.as_ref();
        near.vertices.iter().any(passes)
            || tangle.is_some_and(|tangle| tangle.frees(near))
            || self.is_caught(near)
    }

    /// Whether a pair would hold an edge or a face in the mesh that it is with.
    fn is_caught(&self, near: &Near) -> bool {
        let caught = |v: &&u32| self.caught.binary_search(v).is_ok();
        !self.caught.is_empty()
            && !near.pair.kind.is_of_cloth()
            && near.vertices.iter().filter(caught).count() > 1
    }

    /// Looks at where a solve from `start` ended [m]. True when pairs have come
    /// too near or friction was misjudged: then it is to be solved again with
    /// the [`touches`](Self::touches) as they are now, at most eight times.
    pub(crate) fn refresh(
        &mut self,
        start: &[DVec3],
        end: &[DVec3],
        meshes: &[&MeshObstacle],
    ) -> bool {
        self.take_down(end);
        if self.rounds == MAX_ROUNDS {
            return false;
        }
        let first_round = self.rounds == 0;
        self.rounds += 1;
        let motion = self.meshes.with(start, end);
        self.nearby.follow(&motion, meshes);
        let mut again = false;
        let (mut sum, mut change) = (0.0, 0.0);
        for (contact, touch) in self.contacts.iter_mut().zip(&self.touches) {
            let force = touch.force(end);
            let limit = self.settings.friction(&contact.near) * force;
            let error = touch.misjudged(end, limit);
            if first_round && contact.is_new {
                again |= error * self.dt > MISJUDGED * contact.mass;
            }
            if !contact.near.pair.kind.is_of_cloth() {
                sum += limit;
                change += error;
            }
            contact.bear(force, self.dt);
        }
        again |= change > CHANGED * sum;
        let crossing = self.too_near(&motion);
        again |= !crossing.is_empty();
        if again {
            let hardened: Vec<Contact> = crossing
                .iter()
                .filter_map(|(near, fraction)| self.hardened(near, *fraction, &motion))
                .collect();
            for contact in hardened {
                self.put(contact, end);
            }
            self.contacts.sort_by_key(|c| c.near.pair);
            let motion = self.meshes.with(start, end);
            self.touches.clear();
            for contact in &self.contacts {
                self.touches.push(self.touch(contact, &motion));
            }
        }
        again
    }

    /// After the step, which has ended at `end` [m]: contacts that pressed in
    /// the last solve are remembered. Looks for crossings where there were
    /// some, or where no motion was found that avoids them.
    pub(crate) fn finish(&mut self, end: &[DVec3]) {
        self.memory.replace(&mut self.lasting);
        if self.tangle.take().is_some() || matches!(self.standing, Standing::Unknown) {
            self.standing = self.standing_at(end);
        }
    }

    /// Takes down what contacts were like in a solve that ended at `end` [m].
    fn take_down(&mut self, end: &[DVec3]) {
        self.lasting.clear();
        for (contact, touch) in self.contacts.iter().zip(&self.touches) {
            let friction = self.settings.friction(&contact.near);
            let force = touch.force(end);
            let drag = touch.friction.map_or(DVec3::ZERO, |f| {
                (touch.slip(end, f.anchor) * f.stiffness).clamp_length_max(friction * force)
            });
            if force > 0.0 {
                self.lasting.push(Remembered {
                    pair: contact.near.pair,
                    vertices: contact.near.vertices,
                    normal: contact.frame.normal,
                    force,
                    drag,
                });
            }
        }
    }

    /// The pairs that come too near on a motion, with the share of it after
    /// which they do.
    fn too_near(&self, motion: &Motion<'_>) -> Vec<(Near, f64)> {
        let found: Vec<Option<(Near, f64)>> = self
            .nearby
            .pairs()
            .par_iter()
            .with_min_len(MIN_TASK)
            .map(|near| {
                if near.least_height(motion.ends(near.vertices)) > floor(near) {
                    return None;
                }
                if self.is_free(near) {
                    return None;
                }
                let fraction = reaches(near, motion, floor(near))?;
                Some((*near, fraction))
            })
            .collect();
        found.into_iter().flatten().collect()
    }

    /// The frame in which a pair presses from the beginning; none when it does
    /// not come near, or when other pairs say the same.
    fn first_frame(&self, near: &Near, motion: &Motion<'_>) -> Option<Frame> {
        let frame_at = |fraction: f64| {
            let frame = Frame::at(near, motion, fraction)?;
            let is_spare = frame.is_spare(near, motion, fraction)
                || self.nearby.is_inner(near, &frame, motion, fraction);
            (!is_spare).then_some(frame)
        };
        let ready = READY * near.rest;
        let least = near.least_height(motion.ends(near.vertices));
        if least >= ready {
            return None;
        }
        let hit = match least > floor(near) {
            true => None,
            false => reaches(near, motion, floor(near)),
        };
        match hit {
            None => frame_at(1.0).filter(|frame| frame.point.length() < ready),
            Some(hit) => {
                let early = match near.distance < ready {
                    true => Some(0.0),
                    false => reaches(near, motion, SEEN * near.rest),
                };
                early.and_then(frame_at).or_else(|| frame_at(hit))
            }
        }
    }

    /// The contact of a pair over a motion; none when all of it is held.
    fn contact(&self, near: &Near, frame: Frame, motion: &Motion<'_>) -> Option<Contact> {
        let rest = near.rest;
        let mass = effective_mass(&self.inverse_masses, near, &frame);
        if !mass.is_finite() {
            return None;
        }
        let start_gap = frame.gap(motion.starts(near.vertices));
        let end_gap = frame.gap(motion.ends(near.vertices));
        let speed = (start_gap - end_gap) / self.dt;
        let stiffness = (mass / (self.dt * self.dt)).max(mass * speed / (STOPPED * rest * self.dt));
        Some(Contact {
            near: *near,
            frame,
            mass,
            stiffness,
            // What it takes to stay where it is; one that may not come to
            // press must not rub.
            force: pressure(stiffness, SOFTNESS * rest, rest - start_gap),
            drag: DVec3::ZERO,
            is_new: true,
        })
    }

    /// The contact of a pair that has come too near on the way to where a solve
    /// ended.
    fn hardened(&self, near: &Near, fraction: f64, motion: &Motion<'_>) -> Option<Contact> {
        let frame = Frame::at(near, motion, fraction)?;
        let contact = self.contact(near, frame, motion)?;
        let of_pair = self.contacts[self.of_pair(near.pair)].iter();
        let so_far = of_pair.map(|c| c.stiffness).fold(0.0, f64::max);
        Some(Contact {
            stiffness: (contact.stiffness).max(harder(so_far, contact.hardest(self.dt))),
            ..contact
        })
    }

    /// Puts a contact in the place of one of the same pair that says the same,
    /// or nothing; otherwise beside it.
    fn put(&mut self, contact: Contact, end: &[DVec3]) {
        let replaced = self.of_pair(contact.near.pair).find(|&i| {
            self.touches[i].force(end) == 0.0
                || self.contacts[i].frame.normal.dot(contact.frame.normal) > SAME
        });
        match replaced {
            Some(i) => self.contacts[i] = contact,
            None => self.contacts.push(contact),
        }
    }

    /// Where the contacts of a pair are among those that have touches.
    fn of_pair(&self, pair: Pair) -> Range<usize> {
        let sorted = &self.contacts[..self.touches.len()];
        let from = sorted.partition_point(|c| c.near.pair < pair);
        let same = sorted[from..].iter().take_while(|c| c.near.pair == pair);
        from..from + same.count()
    }

    /// The contact as the objective sees it.
    fn touch(&self, contact: &Contact, motion: &Motion<'_>) -> Touch {
        let Contact { near, frame, .. } = contact;
        let start_gap = frame.gap(motion.starts(near.vertices));
        let depth = near.rest - start_gap;
        let share = match depth > 0.0 {
            true => PUSH.min(MAX_PUSH * self.dt / depth),
            false => 1.0,
        };
        // What meshes add to P is known.
        let n = motion.start.len();
        let (mut vertices, mut weights, mut count) = ([0; 4], [0.0; 4], 0);
        let mut constant = DVec3::ZERO;
        for i in 0..4 {
            let (vertex, weight) = (near.vertices[i] as usize, frame.weights[i]);
            if vertex >= n {
                constant += motion.mesh_end[vertex - n] * weight;
            } else if weight != 0.0 {
                (vertices[count], weights[count]) = (near.vertices[i], weight);
                count += 1;
            }
        }
        // With meshes as stiff as what it bears needs: a soft one takes so long to
        // load that pairs which slip past each other are gone before. Layers of
        // cloth that lie on one another would tremble by it.
        let light = contact.mass / (self.dt * self.dt);
        let stiffness = match near.pair.kind.is_of_cloth() {
            true => light,
            false => light.max(contact.force / (BORNE * near.rest)),
        };
        let friction = self.settings.friction(near);
        // A pair that gets near on its way slips from there on.
        let from = match start_gap > near.rest {
            true => frame.point,
            false => weighted(frame.weights, motion.starts(near.vertices)),
        };
        Touch {
            vertices,
            weights,
            n_vertices: count as u8,
            normal: frame.normal,
            level: -frame.normal.dot(constant),
            offset: match depth > 0.0 {
                true => start_gap + share * depth,
                false => near.rest,
            },
            softness: share * SOFTNESS * near.rest,
            stiffness: contact.stiffness / share,
            friction: (friction > 0.0).then(|| Friction {
                anchor: from - contact.drag / stiffness - constant,
                stiffness,
                limit: friction * contact.force,
            }),
        }
    }
}

/// What must be left of a pair's distance [m].
fn floor(near: &Near) -> f64 {
    (FLOOR * near.rest).min(0.5 * near.distance)
}

/// m [kg]; infinite when all of the pair is held.
fn effective_mass(inverse_masses: &[f64], near: &Near, frame: &Frame) -> f64 {
    let parts = near.vertices.iter().zip(frame.weights);
    let inverse: f64 = parts
        .map(|(v, w)| w * w * inverse_masses.get(*v as usize).unwrap_or(&0.0))
        .sum();
    1.0 / inverse
}

/// Whether the same vertex already presses on the same side or corner, as part
/// of another face.
fn is_repeated(contacts: &[Contact], near: &Near, frame: &Frame) -> bool {
    let same_first = |p: Pair, q: Pair| (p.kind, p.mesh, p.first) == (q.kind, q.mesh, q.first);
    let before = contacts.iter().rev();
    let mut before = before.take_while(|c| same_first(c.near.pair, near.pair));
    let support = support(near, frame);
    before.any(|c| {
        let other = self::support(&c.near, &c.frame);
        support == other
    })
}

/// The vertices of the second primitive that count, sorted, the rest last.
fn support(near: &Near, frame: &Frame) -> [u32; 3] {
    let mut all = [u32::MAX; 3];
    for i in near.pair.kind.n_first()..4 {
        if frame.weights[i] != 0.0 {
            all[i - 1] = near.vertices[i];
        }
    }
    all.sort_unstable();
    all
}
