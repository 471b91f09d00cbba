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
//! stronger than μ N with N from the last solve; for a new pair, from what it
//! takes to stop it.

mod clip;
mod frame;
mod memory;
mod nearby;
mod pair;
mod spacing;
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
use self::spacing::Spacing;
use super::obstacle_mesh::MeshObstacle;
use super::touch::{Friction, Touch};

/// What pairs are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairSettings {
    /// How far apart they rest [m].
    pub(crate) thickness: f64,
    /// Coulomb's μ.
    pub(crate) friction: f64,
}

/// The contacts of a cloth with itself and with meshes.
#[derive(Clone, Debug)]
pub(crate) struct PairContacts {
    settings: PairSettings,
    spacing: Spacing,
    nearby: Nearby,
    memory: Memory,
    /// Sorted by pair.
    contacts: Vec<Contact>,
    /// Of each contact.
    touches: Vec<Touch>,
    /// 1/kg, of the vertices of the cloth.
    inverse_masses: Vec<f64>,
    meshes: MeshMotion,
    /// h [s].
    dt: f64,
    rounds: u32,
}

/// A pair that presses or may press.
#[derive(Clone, Copy, Debug)]
struct Contact {
    near: Near,
    frame: Frame,
    /// r [m].
    rest: f64,
    /// k [N/m].
    stiffness: f64,
    /// N as it was [N].
    force: f64,
    /// The friction that it starts with [N].
    drag: DVec3,
    /// Whether N is only expected.
    is_new: bool,
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
/// A pair that comes nearer than this share of its rest distance on the way to
/// the guess presses from the beginning.
const SEEN: f64 = 0.9;
/// The share of the rest distance that must be left; half of what there was
/// for a pair that started with less than twice that.
const FLOOR: f64 = 0.05;
/// A pair that has come too near presses at least so much harder.
const HARDER: f64 = 4.0;
/// A solve is repeated at most so often in a step.
const MAX_ROUNDS: u32 = 8;
/// A new pair whose friction was expected wrong by so much is solved again
/// [m/s]: what it changes about the velocity.
const MISJUDGED: f64 = 0.02;
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
            spacing: Spacing::new(topology, positions, settings.thickness),
            nearby: Nearby::new(topology, positions),
            settings,
            memory: Memory::default(),
            contacts: Vec::new(),
            touches: Vec::new(),
            inverse_masses: Vec::new(),
            meshes: MeshMotion::default(),
            dt: 0.0,
            rounds: 0,
        }
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
        let motion = self.meshes.with(start, guess);
        self.nearby.begin(&motion, meshes, self.spacing.thickness());
        let frames: Vec<Option<(Frame, f64)>> = self
            .nearby
            .pairs()
            .par_iter()
            .with_min_len(MIN_TASK)
            .map(|near| first_frame(near, &motion, self.spacing.of(near)))
            .collect();
        let mut contacts: Vec<Contact> = Vec::new();
        for (near, found) in self.nearby.pairs().iter().zip(frames) {
            let Some((frame, rest)) = found else { continue };
            if is_repeated(&contacts, near, &frame) {
                continue;
            }
            let mass = self.effective_mass(near, &frame);
            if !mass.is_finite() {
                continue;
            }
            contacts.push(self.contact(near, frame, rest, mass, &motion));
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

    /// Looks at where a solve from `start` ended [m]. True when pairs have come
    /// too near or friction was misjudged: then it is to be solved again with
    /// the [`touches`](Self::touches) as they are now, at most eight times.
    pub(crate) fn refresh(
        &mut self,
        start: &[DVec3],
        end: &[DVec3],
        meshes: &[&MeshObstacle],
    ) -> bool {
        if self.rounds == MAX_ROUNDS {
            return false;
        }
        let first_round = self.rounds == 0;
        self.rounds += 1;
        let motion = self.meshes.with(start, end);
        if !self.nearby.covers(start, end) {
            self.nearby
                .collect(&motion, meshes, self.spacing.thickness());
        }
        let mut again = false;
        let friction = self.settings.friction;
        for (contact, touch) in self.contacts.iter_mut().zip(&self.touches) {
            let force = touch.force(end);
            let error = friction * (force - contact.force).abs();
            if first_round && contact.is_new {
                let mass = effective_mass(&self.inverse_masses, &contact.near, &contact.frame);
                again |= error * self.dt > MISJUDGED * mass;
            }
            contact.force = force;
        }
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

    /// After the step: contacts that press at `end` [m] are remembered.
    pub(crate) fn finish(&mut self, end: &[DVec3]) {
        let friction = self.settings.friction;
        let contacts = self.contacts.iter().zip(&self.touches);
        let lasting = contacts.filter_map(|(contact, touch)| {
            let force = touch.force(end);
            let drag = touch.friction.map_or(DVec3::ZERO, |f| {
                (touch.slip(end, f.anchor) * f.stiffness).clamp_length_max(friction * force)
            });
            (force > 0.0).then_some(Remembered {
                pair: contact.near.pair,
                vertices: contact.near.vertices,
                normal: contact.frame.normal,
                force,
                drag,
            })
        });
        self.memory.replace(lasting);
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
                let fraction = reaches(near, motion, self.floor(near))?;
                Some((*near, fraction))
            })
            .collect();
        found.into_iter().flatten().collect()
    }

    /// What must be left of a pair's distance [m].
    fn floor(&self, near: &Near) -> f64 {
        (FLOOR * self.spacing.of(near)).min(0.5 * near.distance)
    }

    /// The contact of a pair over the motion to the guess.
    fn contact(
        &self,
        near: &Near,
        frame: Frame,
        rest: f64,
        mass: f64,
        motion: &Motion<'_>,
    ) -> Contact {
        let remembered = self.memory.recall(near.pair, near.vertices, frame.normal);
        let end_gap = frame.gap(motion.ends(near.vertices));
        let speed = (frame.gap(motion.starts(near.vertices)) - end_gap) / self.dt;
        // What it takes to end at the rest distance.
        let expected = mass * (rest - end_gap).max(0.0) / (self.dt * self.dt);
        let last = remembered.map_or(0.0, |r| r.force);
        let stiffness = (mass / (self.dt * self.dt))
            .max(mass * speed / (STOPPED * rest * self.dt))
            .max(last / (BORNE * rest));
        Contact {
            near: *near,
            frame,
            rest,
            stiffness,
            force: remembered.map_or(expected, |r| r.force),
            drag: remembered.map_or(DVec3::ZERO, |r| r.turned_drag(frame.normal)),
            is_new: remembered.is_none(),
        }
    }

    /// The contact of a pair that has come too near on the way to where a solve
    /// ended.
    fn hardened(&self, near: &Near, fraction: f64, motion: &Motion<'_>) -> Option<Contact> {
        let frame = Frame::at(near, motion, fraction)?;
        let mass = self.effective_mass(near, &frame);
        if !mass.is_finite() {
            return None;
        }
        let rest = self.spacing.of(near);
        let contact = self.contact(near, frame, rest, mass, motion);
        let of_pair = self.contacts[self.of_pair(near.pair)].iter();
        let hardest = of_pair.map(|c| c.stiffness).fold(0.0, f64::max);
        Some(Contact {
            stiffness: contact.stiffness.max(HARDER * hardest),
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

    fn effective_mass(&self, near: &Near, frame: &Frame) -> f64 {
        effective_mass(&self.inverse_masses, near, frame)
    }

    /// The contact as the objective sees it.
    fn touch(&self, contact: &Contact, motion: &Motion<'_>) -> Touch {
        let Contact { near, frame, .. } = contact;
        let start_gap = frame.gap(motion.starts(near.vertices));
        let depth = contact.rest - start_gap;
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
        let mass = self.effective_mass(near, frame);
        let stiffness = mass / (self.dt * self.dt);
        let friction = self.settings.friction;
        // A pair that gets near on its way slips from there on.
        let from = match start_gap > contact.rest {
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
                false => contact.rest,
            },
            softness: share * SOFTNESS * contact.rest,
            stiffness: contact.stiffness / share,
            friction: (friction > 0.0).then(|| Friction {
                anchor: from - contact.drag / stiffness - constant,
                stiffness,
                limit: friction * contact.force,
            }),
        }
    }
}

/// The frame in which a pair presses from the beginning, with its rest distance
/// [m]; none when it does not come near.
fn first_frame(near: &Near, motion: &Motion<'_>, rest: f64) -> Option<(Frame, f64)> {
    let fraction = match near.distance < rest {
        true => 0.0,
        false => reaches(near, motion, SEEN * rest)?,
    };
    let frame = Frame::at(near, motion, fraction)?;
    (!frame.is_spare(near, motion)).then_some((frame, rest))
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
