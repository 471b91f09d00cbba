//! Cloth on obstacles: [`SurfaceContacts`].
//!
//! An obstacle is a solid, so contact with it is signed: points of the cloth
//! (vertices; on sharp or strongly curved shapes also middles of edges and
//! centres of faces) are kept outside a tangent plane of it, at an offset that
//! stands for the thickness of the cloth.
//!
//! | what           | is frozen over a solve | and found again                    |
//! |----------------|------------------------|------------------------------------|
//! | tangent plane  | yes                    | when the surface has curved away from it |
//! | normal force in Coulomb's limit | yes   | after a solve in which it changed  |
//! | friction anchor | yes                   | after the step, dragged if it slipped |
//!
//! **No bounce.** A point that starts a step at gap g within the offset r is
//! pushed only to g + ρ (r − g), by a spring 1/ρ as stiff: it rests where it
//! would have, and comes back at ρ of the speed.
//!
//! **No tunnelling.** A point that would pass into or through an obstacle, both
//! of them moving, gets the plane that it meets first. Stiffness grows with the
//! speed of impact, so that the band stops it. What still ends inside, or beyond,
//! is set back to where it came in and counted ([`SurfaceContacts::set_out`]): the
//! one thing here that is done behind the objective's back.
//!
//! **Between the vertices** cloth is kept off a mesh as pairs, which have no sign:
//! what has got to the wrong side of an edge of the body would be held there. Middles
//! of edges and centres of faces that are found inside are *caught*
//! ([`SurfaceContacts::find_caught`]), and pushed out as vertices are until they are
//! out; their pairs are off for so long.

mod memory;
mod ranges;
mod sample;
#[cfg(test)]
mod tests;

use glam::DVec3;
use rayon::prelude::*;

use self::memory::Memory;
use self::ranges::{DEEPEST, Gone, Known, MeshRange};
use self::sample::Sample;
use super::hardening::{harder, hardest};
use super::obstacle::{Anchor, Obstacle, RigidObstacle, SurfacePoint};
use super::obstacle_mesh::MeshObstacle;
use super::shape::Shape;
use super::touch::{Friction, Touch};
use crate::Cloth;

/// How contact with obstacles is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SurfaceSettings {
    /// r [m].
    pub(crate) offset: f64,
    /// μ.
    pub(crate) friction: f64,
}

/// ρ.
const RETURN: f64 = 0.2;
/// Resting stiffness in units of m/h². At 1 a dress pressed on a shoulder sinks
/// in by half a millimetre, at 10 conjugate gradients take twice as long.
const STIFFNESS: f64 = 3.0;
/// What it carried in the last step pushes a point in by this share of the
/// offset.
const DEPTH: f64 = 0.4;
/// The most that stiffness rises as a gap closes.
const SQUEEZED: f64 = 25.0;
/// Pressure sets in over this share of the offset.
const SOFTNESS: f64 = 0.3;
/// An impact is stopped within this share of the offset.
const STOPPING: f64 = 0.3;
/// Points that start inside come out no faster than this [m/s].
const WAY_OUT: f64 = 1.0;
/// A plane is found again when the surface is nearer than it says by this
/// share of the offset.
const CURVED: f64 = 0.2;
/// Normal forces are lagged once more when friction is off by this share of
/// what they allow for it: of what sticks it is not.
const CHANGED: f64 = 0.1;
/// What ends inside is set this share of the offset outside.
const FLOOR: f64 = 0.02;
/// Samples that one task takes.
const CHUNK: usize = 256;
/// Planes whose normals agree so far say the same.
const SAME: f64 = 0.9;

/// Cloth is caught whose edges or faces are deeper inside than this [m] ...
const CAUGHT: f64 = 3e-4;
/// ... until they are out by this share of the offset.
const CLEAR: f64 = 0.3;

/// What is looked at for being caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookAt {
    /// Only what is known to be.
    Caught,
    /// All edges and faces of the cloth.
    All,
}

/// What a touch was like in a solve.
#[derive(Clone, Copy, Debug)]
struct Solved {
    owner: Owner,
    normal: DVec3,
    /// N [N].
    force: f64,
    /// How far its point had moved from its anchor without dragging it [m].
    kept: DVec3,
}

/// Whose a touch is.
#[derive(Clone, Copy, Debug)]
struct Owner {
    sample: u32,
    obstacle: u32,
    /// Whether the point started outside; others are still on their way out.
    is_out: bool,
    /// The triangle of the tangent plane, of a mesh.
    triangle: u32,
}

/// Contacts of a cloth with obstacles.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceContacts {
    /// Of each piece of the cloth.
    settings: Vec<SurfaceSettings>,
    /// The piece of each sample.
    piece_of: Vec<u16>,
    samples: Vec<Sample>,
    /// The samples that are vertices come first.
    n_vertices: usize,
    /// Length of the longest edge at rest [m].
    longest: f64,
    /// Sorted by obstacle and sample.
    memory: Vec<Memory>,
    touches: Vec<Touch>,
    /// Those that pressed in the last solve.
    solved: Vec<Solved>,
    /// Whose each touch is.
    owners: Vec<Owner>,
    /// Effective mass of each sample [kg].
    masses: Vec<f64>,
    guess: Vec<DVec3>,
    /// Where each sample is at home [m]; empty where that is of no account.
    homes: Vec<DVec3>,
    dt: f64,
    /// How far samples are from each obstacle that is a mesh.
    ranges: Vec<Option<MeshRange>>,
    /// Samples between vertices that are inside a mesh, sorted.
    caught: Vec<u32>,
}

impl SurfaceContacts {
    /// Contacts of a cloth with settings for each of its pieces.
    pub(crate) fn new(cloth: &Cloth, longest: f64, settings: Vec<SurfaceSettings>) -> Self {
        let n_vertices = cloth.n_vertices();
        let samples = Sample::all(cloth);
        let vertices = samples.iter().map(|s| s.vertices[0] as usize);
        let piece_of = vertices.map(|v| cloth.piece_of()[v]).collect();
        let masses = samples.iter().map(|s| s.mass(cloth.masses())).collect();
        Self {
            settings,
            piece_of,
            memory: Vec::new(),
            touches: Vec::new(),
            solved: Vec::new(),
            owners: Vec::new(),
            masses,
            guess: Vec::new(),
            homes: Vec::new(),
            dt: 0.0,
            ranges: Vec::new(),
            caught: Vec::new(),
            n_vertices,
            longest,
            samples,
        }
    }

    /// The settings of a sample.
    fn settings(&self, s: usize) -> SurfaceSettings {
        self.settings[usize::from(self.piece_of[s])]
    }

    pub(crate) fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// Sets where each vertex of the cloth is at home [m].
    pub(crate) fn set_homes(&mut self, homes: &[DVec3]) {
        let samples = self.samples.iter();
        self.homes = samples.map(|sample| sample.at(homes)).collect();
    }

    /// Where a sample is at home, if it has one.
    fn home(&self, s: usize) -> Option<DVec3> {
        self.homes.get(s).copied()
    }

    /// Adds to `occupied` the vertices of a mesh that are not there for a sample
    /// which is within what they bound, with the vertices at `x` [m].
    pub(crate) fn find_occupied(&self, mesh: &MeshObstacle, x: &[DVec3], occupied: &mut [bool]) {
        let Some(absence) = mesh.absence().filter(|_| !self.homes.is_empty()) else {
            return;
        };
        let samples = self.samples.par_iter().zip(&self.homes);
        let found: Vec<u32> = samples
            .with_min_len(CHUNK)
            .filter_map(|(sample, home)| {
                let found = mesh.nearest(sample.at(x), DEEPEST)?;
                let triangle = triangle_of(&found);
                let corners = &mesh.boxes().triangles()[triangle as usize];
                (found.distance < 0.0 && absence.hides(corners, *home)).then_some(triangle)
            })
            .collect();
        for triangle in found {
            for corner in mesh.boxes().triangles()[triangle as usize] {
                occupied[corner as usize] = true;
            }
        }
    }

    /// Forgets where points stuck, as when the cloth was set elsewhere.
    pub(crate) fn forget(&mut self) {
        self.memory.clear();
    }

    /// Begins a step of length `dt` [s] from `start` [m] that is expected to
    /// end near `guess` [m].
    pub(crate) fn begin(
        &mut self,
        obstacles: &[Obstacle],
        start: &[DVec3],
        guess: &[DVec3],
        dt: f64,
    ) {
        self.dt = dt;
        self.guess.clear();
        self.guess.extend_from_slice(guess);
        self.touches.clear();
        self.solved.clear();
        self.owners.clear();
        self.ranges.resize(obstacles.len(), None);
        for (o, obstacle) in obstacles.iter().enumerate() {
            let mut range = self.ranges[o].take();
            if let Obstacle::Mesh(mesh) = obstacle {
                let n = self.samples.len();
                range
                    .get_or_insert_with(|| MeshRange::new(mesh, n))
                    .follow(mesh);
            }
            let found = self.meetings(obstacle, &mut range, start, guess, |_| true);
            self.ranges[o] = range;
            for (s, found) in found {
                let (from, to) = (self.samples[s].at(start), self.samples[s].at(guess));
                let normal = found.normal;
                self.add(s, o, obstacle, found, from, to);
                for found in self.other_sides(s, o, obstacle, normal, to) {
                    self.add(s, o, obstacle, found, from, to);
                }
            }
        }
    }

    /// The parts of an obstacle that samples may touch on the way from `start`
    /// to `end` [m], of those samples that count.
    fn meetings(
        &self,
        obstacle: &Obstacle,
        range: &mut Option<MeshRange>,
        start: &[DVec3],
        end: &[DVec3],
        counts: impl Fn(usize) -> bool + Sync,
    ) -> Vec<(usize, SurfacePoint)> {
        let n = self.n_asked(obstacle);
        let way = |s: usize| (self.samples[s].at(start), self.samples[s].at(end));
        match (obstacle, range) {
            (Obstacle::Mesh(mesh), Some(range)) => {
                let gone = range.gone();
                let chunks = range.known[..n].par_chunks_mut(CHUNK).enumerate();
                let found = chunks.map(|(chunk, known)| {
                    let samples = (chunk * CHUNK..).zip(known);
                    let found = samples
                        .filter(|(s, _)| counts(*s))
                        .filter_map(|(s, known)| {
                            let (from, to) = way(s);
                            Some((s, self.meets_mesh(s, mesh, known, gone, from, to)?))
                        });
                    found.collect::<Vec<_>>()
                });
                let mut found = found.collect::<Vec<_>>().concat();
                for s in self.caught.iter().map(|s| *s as usize) {
                    if s >= n && counts(s) {
                        let ((from, to), known) = (way(s), &mut range.known[s]);
                        let met = self.meets_mesh(s, mesh, known, gone, from, to);
                        found.extend(met.map(|met| (s, met)));
                    }
                }
                found
            }
            (Obstacle::Rigid(rigid), _) => (0..n)
                .filter(|s| counts(*s))
                .filter_map(|s| {
                    let (from, to) = way(s);
                    Some((s, self.meets_rigid(s, rigid, from, to)?))
                })
                .collect(),
            (Obstacle::Mesh(_), None) => Vec::new(),
        }
    }

    /// How many samples an obstacle is asked about.
    fn n_asked(&self, obstacle: &Obstacle) -> usize {
        // What is between the vertices is kept off a mesh as pairs.
        let Obstacle::Rigid(rigid) = obstacle else {
            return self.n_vertices;
        };
        let radius = match *rigid.shape() {
            Shape::Plane => return self.n_vertices,
            Shape::Sphere { radius } => radius,
            // Both have an edge.
            Shape::Cylinder { .. } => 0.0,
            Shape::Disc { rim, .. } => rim,
        };
        // The middle of a face dips by this much below its corners.
        let dip = self.longest * self.longest / (6.0 * radius);
        let offsets = self.settings.iter().map(|s| s.offset);
        match dip < 0.3 * offsets.fold(f64::INFINITY, f64::min) {
            true => self.n_vertices,
            false => self.samples.len(),
        }
    }

    /// The part of a shape that a sample may touch on its way.
    fn meets_rigid(
        &self,
        s: usize,
        rigid: &RigidObstacle,
        from: DVec3,
        to: DVec3,
    ) -> Option<SurfacePoint> {
        let near = rigid.nearest(to);
        let obstacle = Obstacle::Rigid(*rigid);
        let reach = self.settings(s).offset + from.distance(to);
        let reach = reach + obstacle.displacement(&near.anchor).length();
        // Passing through something thin counts as well as ending inside.
        (near.distance < reach).then(|| rigid.meets(from, to).unwrap_or(near))
    }

    /// How near a sample must end to have touched a mesh on its way [m].
    fn reach(&self, s: usize, mesh: &MeshObstacle, from: DVec3, to: DVec3) -> f64 {
        self.settings(s).offset + mesh.way(from, to)
    }

    /// The part of a mesh that a sample may touch on its way.
    fn meets_mesh(
        &self,
        s: usize,
        mesh: &MeshObstacle,
        known: &mut Known,
        gone: Gone,
        from: DVec3,
        to: DVec3,
    ) -> Option<SurfacePoint> {
        let way = mesh.way(from, to);
        let reach = self.reach(s, mesh, from, to);
        if known.is_beyond(to, gone, reach) {
            return None;
        }
        let home = self.home(s);
        let near = known.nearest(mesh, home, to, gone, reach)?;
        // What is farther off than it has come has passed nothing.
        let met = match near.distance.abs() <= way {
            true => mesh.meets_for(home, from, to),
            false => None,
        };
        let own = || (to - from - mesh.displacement(&near.anchor)).length();
        met.or_else(|| (near.distance < self.settings(s).offset + own()).then_some(near))
    }

    /// Adds the contact of a sample with a tangent plane.
    fn add(
        &mut self,
        s: usize,
        o: usize,
        obstacle: &Obstacle,
        found: SurfacePoint,
        from: DVec3,
        to: DVec3,
    ) {
        let SurfaceSettings { offset, friction } = self.settings(s);
        let (sample, mass, h) = (&self.samples[s], self.masses[s], self.dt);
        let normal = found.normal;
        let level = normal.dot(found.closest);
        let gap = normal.dot(from - obstacle.place(&found.anchor, 0.0));
        let expected = normal.dot(to) - level;
        let target = match gap < offset {
            true => gap + (RETURN * (offset - gap)).min(WAY_OUT * h),
            false => offset,
        };
        let remembered = self.recall(s, o, normal);
        let light = STIFFNESS * mass / (h * h);
        let hardest = hardest(mass, h);
        // What ended a solve that failed far inside carried nothing of the kind.
        let carried = (remembered.map_or(0.0, |m| m.force) / (DEPTH * offset)).min(hardest);
        // The nearer it has come, the harder it is pushed back.
        let squeezed = match gap > 0.0 {
            true => (DEPTH * offset / gap).clamp(1.0, SQUEEZED),
            false => 1.0,
        };
        let resting = light.max(carried) * squeezed;
        let stopping = mass * (gap.min(offset) - expected).max(0.0) / (STOPPING * offset * h * h);
        let friction = (friction > 0.0).then(|| Friction {
            anchor: match remembered {
                Some(m) => obstacle.place(&m.anchor, 1.0) + normal * m.height,
                // It would be where the surface carries it.
                None => from + obstacle.displacement(&found.anchor),
            },
            stiffness: light.max(carried),
            limit: friction * remembered.map_or(0.0, |m| m.force),
        });
        self.touches.push(Touch {
            vertices: sample.vertices,
            weights: sample.weights,
            n_vertices: sample.n_vertices,
            normal,
            level,
            offset: target,
            softness: SOFTNESS * RETURN * offset,
            stiffness: (resting / RETURN).max(stopping).min(hardest),
            friction,
        });
        self.owners.push(Owner {
            sample: s as u32,
            obstacle: o as u32,
            is_out: gap >= 0.0,
            triangle: triangle_of(&found),
        });
    }

    /// After a solve that ended at `end` [m]: finds planes again that the
    /// surface has curved away from, presses harder on what came to lie inside,
    /// adds what was not expected, and lags normal forces. True when the solve
    /// must be repeated for that.
    pub(crate) fn refresh(
        &mut self,
        obstacles: &[Obstacle],
        held: &[bool],
        start: &[DVec3],
        end: &[DVec3],
    ) -> bool {
        let mut again = false;
        let (mut sum, mut change) = (0.0, 0.0);
        let mut touched = vec![false; self.samples.len() * obstacles.len()];
        self.take_down(end);
        let mut beside = Vec::new();
        for (touch, owner) in self.touches.iter_mut().zip(&mut self.owners) {
            let (s, o) = (owner.sample as usize, owner.obstacle as usize);
            touched[o * self.samples.len() + s] = true;
            let SurfaceSettings { offset, friction } = self.settings[usize::from(self.piece_of[s])];
            let hardest = hardest(self.masses[s], self.dt);
            // What was solved with, before it is made any harder.
            let limit = friction * touch.force(end);
            sum += limit;
            change += touch.misjudged(end, limit);
            if let Some(held) = &mut touch.friction {
                held.limit = limit;
            }
            let p = self.samples[s].at(end);
            let gap = touch.gap(end);
            if gap > 2.0 * offset {
                continue;
            }
            let nearer = gap - CURVED * offset;
            let found = match (&obstacles[o], &mut self.ranges[o]) {
                (Obstacle::Mesh(mesh), Some(range)) => {
                    let gone = range.gone();
                    let known = &mut range.known[s];
                    match known.least(p, gone) < nearer {
                        true => {
                            let home = self.homes.get(s).copied();
                            known.nearest(mesh, home, p, gone, 2.0 * offset + gap.abs())
                        }
                        false => None,
                    }
                }
                (obstacle, _) => obstacle.nearest(p, f64::INFINITY),
            };
            let nearer = found.filter(|found| {
                found.distance.abs() <= 2.0 * offset + gap.abs()
                    && found.distance < nearer
                    && found.normal.dot(touch.normal) > 0.0
            });
            match nearer {
                // In the bottom of a crease it lies on both sides of it.
                Some(found) if touch.force(end) > 0.0 && found.normal.dot(touch.normal) < SAME => {
                    beside.push((s, o, found));
                }
                Some(found) => {
                    touch.normal = found.normal;
                    touch.level = found.normal.dot(found.closest);
                    owner.triangle = triangle_of(&found);
                    again = true;
                }
                None => {}
            }
            if owner.is_out
                && touch.gap(end) < FLOOR * offset
                && touch.parts().any(|(vertex, _)| !held[vertex])
            {
                touch.stiffness = harder(touch.stiffness, hardest);
                again = true;
            }
        }
        for (s, o, found) in beside {
            if self.is_news(s, o, &found) {
                let (from, to) = (self.samples[s].at(start), self.samples[s].at(end));
                self.add(s, o, &obstacles[o], found, from, to);
                again = true;
            }
        }
        again |= change > CHANGED * sum;
        // Those that did not go as expected may touch something else.
        let n = self.samples.len();
        let n_asked = obstacles.iter().map(|o| self.n_asked(o)).max();
        let is_surprised: Vec<bool> = self.samples[..n_asked.unwrap_or(0)]
            .par_iter()
            .enumerate()
            .with_min_len(CHUNK)
            .map(|(s, sample)| {
                let off = sample.at(end).distance_squared(sample.at(&self.guess));
                let offset = self.settings(s).offset;
                off >= 0.25 * offset * offset
            })
            .collect();
        for (o, obstacle) in obstacles.iter().enumerate() {
            let mut range = self.ranges[o].take();
            let is_touched = &touched[o * n..(o + 1) * n];
            let counts = |s: usize| is_surprised.get(s) == Some(&true) && !is_touched[s];
            let mut found = self.meetings(obstacle, &mut range, start, end, counts);
            self.ranges[o] = range;
            if let Obstacle::Mesh(mesh) = obstacle {
                // Or another part of the same mesh.
                let more = (0..is_surprised.len()).filter(|s| is_surprised[*s] && is_touched[*s]);
                found.extend(more.filter_map(|s| {
                    let (from, to) = (self.samples[s].at(start), self.samples[s].at(end));
                    let found = mesh.meets_for(self.home(s), from, to)?;
                    self.is_news(s, o, &found).then_some((s, found))
                }));
            }
            for (s, found) in found {
                if found.distance < 0.5 * self.settings(s).offset {
                    let (from, to) = (self.samples[s].at(start), self.samples[s].at(end));
                    self.add(s, o, obstacle, found, from, to);
                    again = true;
                }
            }
        }
        again
    }

    /// Whether no touch of a sample with an obstacle says the same.
    fn is_news(&self, s: usize, o: usize, found: &SurfacePoint) -> bool {
        let mut known = self.touches.iter().zip(&self.owners);
        !known.any(|(touch, owner)| {
            (owner.sample as usize, owner.obstacle as usize) == (s, o)
                && touch.normal.dot(found.normal) > SAME
        })
    }

    /// Sets vertices that came to lie inside an obstacle, or beyond it, on its
    /// surface; gives how many. Those that started inside are still on their
    /// way out.
    pub(crate) fn set_out(
        &self,
        obstacles: &[Obstacle],
        held: &[bool],
        start: &[DVec3],
        end: &mut [DVec3],
    ) -> u32 {
        let floor = |s: usize| FLOOR * self.settings(s).offset;
        let mut n_set = 0;
        for (touch, owner) in self.touches.iter().zip(&self.owners) {
            let (s, o) = (owner.sample as usize, owner.obstacle as usize);
            let Obstacle::Rigid(rigid) = &obstacles[o] else {
                continue;
            };
            if s >= self.n_vertices || held[s] {
                continue;
            }
            let started = obstacles[o].part(0.0, 0.0);
            let started = started.nearest(start[s], f64::INFINITY);
            let was_outside = started.is_some_and(|found| found.distance >= 0.0);
            if was_outside && rigid.meets(start[s], end[s]).is_some() {
                let gap = touch.gap(end);
                if gap < floor(s) {
                    end[s] += touch.normal * (floor(s) - gap);
                    n_set += 1;
                }
            }
        }
        for (obstacle, range) in obstacles.iter().zip(&self.ranges) {
            let (Obstacle::Mesh(mesh), Some(range)) = (obstacle, range) else {
                continue;
            };
            let points = end.par_iter_mut().zip(&range.known).enumerate();
            let set = points.with_min_len(CHUNK).map(|(s, (end, known))| {
                let way = mesh.way(start[s], *end);
                let is_clear = known.is_beyond(*end, range.gone(), way);
                u32::from(
                    !held[s]
                        && !is_clear
                        && set_out_of(mesh, self.home(s), start[s], end, floor(s)),
                )
            });
            n_set += set.sum::<u32>();
        }
        n_set
    }

    /// After a step, which has ended at `end` [m]: looks which of what was caught
    /// still is, and where asked to look at `all`, what else is. Gives the vertices
    /// of these.
    pub(crate) fn find_caught(
        &mut self,
        obstacles: &[Obstacle],
        end: &[DVec3],
        all: LookAt,
    ) -> Vec<u32> {
        let mut caught = Vec::new();
        for (obstacle, range) in obstacles.iter().zip(&mut self.ranges) {
            let (Obstacle::Mesh(mesh), Some(range)) = (obstacle, range) else {
                continue;
            };
            let was = |s: usize| self.caught.binary_search(&(s as u32)).is_ok();
            let gone = range.gone();
            let (vertices, between) = range.known.split_at_mut(self.n_vertices);
            // What is inside is no deeper there than it is far from a vertex outside.
            let is_near = |v: &u32, p: DVec3| {
                let v = *v as usize;
                vertices[v].least(end[v], gone) < end[v].distance(p)
            };
            let found = between.par_iter_mut().with_min_len(CHUNK).enumerate();
            let found = found.map(|(i, known)| {
                let s = self.n_vertices + i;
                let sample = &self.samples[s];
                let own = &sample.vertices[..usize::from(sample.n_vertices)];
                let p = sample.at(end);
                let offset = self.settings[usize::from(self.piece_of[s])].offset;
                let reach = CLEAR * offset;
                let is_asked = was(s) || (all == LookAt::All && own.iter().all(|v| is_near(v, p)));
                if !is_asked || known.is_beyond(p, gone, reach) {
                    return None;
                }
                let home = self.homes.get(s).copied();
                let distance = known.nearest(mesh, home, p, gone, reach)?.distance;
                let is_caught = distance < -CAUGHT || (was(s) && distance < reach);
                is_caught.then_some(s as u32)
            });
            caught.extend(found.collect::<Vec<_>>().into_iter().flatten());
        }
        caught.sort_unstable();
        caught.dedup();
        self.caught = caught;
        let samples = self.caught.iter().map(|s| &self.samples[*s as usize]);
        samples
            .flat_map(|s| s.vertices[..usize::from(s.n_vertices)].iter().copied())
            .collect()
    }

    /// Takes down what touches were like in a solve that ended at `end` [m],
    /// before any of them changes.
    fn take_down(&mut self, end: &[DVec3]) {
        self.solved.clear();
        for (touch, owner) in self.touches.iter().zip(&self.owners) {
            let force = touch.force(end);
            if force <= 0.0 {
                continue;
            }
            let mu = self.settings(owner.sample as usize).friction;
            let kept = touch.friction.map_or(DVec3::ZERO, |friction| {
                let slip = touch.slip(end, friction.anchor);
                slip.clamp_length_max(mu * force / friction.stiffness)
            });
            self.solved.push(Solved {
                owner: *owner,
                normal: touch.normal,
                force,
                kept,
            });
        }
    }

    /// After the step, which has ended at `end` [m]: remembers what stuck where
    /// in the last solve.
    pub(crate) fn finish(&mut self, obstacles: &[Obstacle], end: &[DVec3]) {
        self.memory.clear();
        for solved in &self.solved {
            let Owner {
                sample,
                obstacle,
                triangle,
                ..
            } = solved.owner;
            let p = self.samples[sample as usize].at(end) - solved.kept;
            // An anchor stays on its side of the body.
            let found = match &obstacles[obstacle as usize] {
                Obstacle::Mesh(mesh) => Some(mesh.nearest_from(p, triangle)),
                rigid => rigid.nearest(p, f64::INFINITY),
            };
            self.memory.extend(found.map(|found| Memory {
                obstacle,
                sample,
                normal: solved.normal,
                anchor: found.anchor,
                height: found.distance,
                force: solved.force,
            }));
        }
        self.memory.sort_by_key(|m| (m.obstacle, m.sample));
    }
}

/// Sets a point that passed into a mesh on the way from `start` back to where
/// it came in, `floor` [m] above the surface there; whether it had to.
fn set_out_of(
    mesh: &MeshObstacle,
    home: Option<DVec3>,
    start: DVec3,
    end: &mut DVec3,
    floor: f64,
) -> bool {
    let mut is_set = false;
    for round in 0..SETTING {
        let Some(met) = mesh.meets_for(home, start, *end) else {
            break;
        };
        let above = met.closest + met.normal * floor;
        *end = match round {
            // Along the surface it may go on.
            0 => *end + met.normal * (above - *end).dot(met.normal).max(0.0),
            _ => above,
        };
        is_set = true;
    }
    is_set
}

/// The triangle of a place on a mesh.
const fn triangle_of(found: &SurfacePoint) -> u32 {
    match found.anchor {
        Anchor::Mesh { triangle, .. } => triangle,
        Anchor::Own(_) => 0,
    }
}

/// How often a point is set back that then meets something else.
const SETTING: u32 = 4;
