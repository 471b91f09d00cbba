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
//! **No tunnelling.** A point that would pass into or through an obstacle gets
//! the plane that it meets first. Stiffness grows with the speed of impact, so
//! that the band stops it. What still ends inside is set on the surface and
//! counted ([`SurfaceContacts::set_out`]): the one thing here that is done
//! behind the objective's back.

use glam::DVec3;

use super::obstacle::{Anchor, Obstacle, SurfacePoint};
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
/// Forces are lagged once more when they have changed by this share.
const CHANGED: f64 = 0.1;
/// What ends inside is set this share of the offset outside.
const FLOOR: f64 = 0.02;
/// A point that has ended inside presses so much harder.
const HARDER: f64 = 4.0;
/// Planes whose normals agree so far say the same.
const SAME: f64 = 0.9;

/// A point of the cloth that is kept out.
#[derive(Clone, Copy, Debug)]
struct Sample {
    vertices: [u32; 4],
    weights: [f64; 4],
    n_vertices: u8,
}

/// What is remembered of a point that touches.
#[derive(Clone, Copy, Debug)]
struct Memory {
    obstacle: u32,
    sample: u32,
    /// Along which it pressed.
    normal: DVec3,
    /// Where it sticks to.
    anchor: Anchor,
    /// How far off the surface the anchor is held [m].
    height: f64,
    /// N of the last solve [N].
    force: f64,
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
}

/// Contacts of a cloth with obstacles.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceContacts {
    settings: SurfaceSettings,
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
    dt: f64,
}

impl SurfaceContacts {
    pub(crate) fn new(cloth: &Cloth, longest: f64, settings: SurfaceSettings) -> Self {
        let n_vertices = cloth.n_vertices();
        let mut samples: Vec<Sample> = (0..n_vertices as u32)
            .map(|v| Sample {
                vertices: [v; 4],
                weights: [1.0, 0.0, 0.0, 0.0],
                n_vertices: 1,
            })
            .collect();
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for &[a, b, c] in cloth.membrane().triangles() {
            edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]));
        }
        edges.sort_unstable();
        edges.dedup();
        samples.extend(edges.into_iter().map(|[a, b]| Sample {
            vertices: [a, b, a, a],
            weights: [0.5, 0.5, 0.0, 0.0],
            n_vertices: 2,
        }));
        let third = 1.0 / 3.0;
        let faces = cloth.membrane().triangles().iter();
        samples.extend(faces.map(|&[a, b, c]| Sample {
            vertices: [a, b, c, a],
            weights: [third, third, third, 0.0],
            n_vertices: 3,
        }));
        let masses = samples.iter().map(|s| s.mass(cloth.masses())).collect();
        Self {
            settings,
            memory: Vec::new(),
            touches: Vec::new(),
            solved: Vec::new(),
            owners: Vec::new(),
            masses,
            guess: Vec::new(),
            dt: 0.0,
            n_vertices,
            longest,
            samples,
        }
    }

    pub(crate) fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// Forgets where points stuck, as when the cloth was set elsewhere.
    pub(crate) fn forget(&mut self) {
        self.memory.clear();
    }

    /// What a sample remembers of an obstacle whose tangent plane it meets; of
    /// several places that it touched, the one that faced the same way most.
    fn recall(&self, s: usize, o: usize, normal: DVec3) -> Option<Memory> {
        let key = (o as u32, s as u32);
        let of = |m: &Memory| (m.obstacle, m.sample);
        let from = self.memory.partition_point(|m| of(m) < key);
        let own = self.memory[from..].iter().take_while(|m| of(m) == key);
        let facing = |m: &&Memory| m.normal.dot(normal);
        own.max_by(|a, b| facing(a).total_cmp(&facing(b))).copied()
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
        for (o, obstacle) in obstacles.iter().enumerate() {
            for s in 0..self.n_asked(obstacle) {
                let (from, to) = (self.samples[s].at(start), self.samples[s].at(guess));
                if let Some(found) = self.meeting(obstacle, from, to) {
                    self.add(s, o, obstacle, found, from, to);
                }
            }
        }
    }

    /// How many samples an obstacle is asked about.
    fn n_asked(&self, obstacle: &Obstacle) -> usize {
        // A mesh may be curved anyhow.
        let Obstacle::Rigid(rigid) = obstacle else {
            return self.samples.len();
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
        match dip < 0.3 * self.settings.offset {
            true => self.n_vertices,
            false => self.samples.len(),
        }
    }

    /// The part of an obstacle that a point may touch on its way.
    fn meeting(&self, obstacle: &Obstacle, from: DVec3, to: DVec3) -> Option<SurfacePoint> {
        match obstacle {
            Obstacle::Rigid(rigid) => {
                let near = rigid.nearest(to);
                let reach = self.settings.offset + from.distance(to);
                let reach = reach + obstacle.displacement(&near.anchor).length();
                // Passing through something thin counts as well as ending inside.
                (near.distance < reach).then(|| rigid.meets(from, to).unwrap_or(near))
            }
            Obstacle::Mesh(mesh) => {
                let travelled = from.distance(to) + mesh.farthest_move();
                let reach = self.settings.offset + travelled;
                let near = mesh.nearest(to, reach.max(DEEPEST))?;
                // What is farther off than it has come has passed nothing.
                let met = match near.distance.abs() <= travelled {
                    true => mesh.meets(from, to),
                    false => None,
                };
                let own = || (to - from - obstacle.displacement(&near.anchor)).length();
                met.or_else(|| (near.distance < self.settings.offset + own()).then_some(near))
            }
        }
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
        let SurfaceSettings { offset, friction } = self.settings;
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
        let carried = remembered.map_or(0.0, |m| m.force) / (DEPTH * offset);
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
            stiffness: (resting / RETURN).max(stopping),
            friction,
        });
        self.owners.push(Owner {
            sample: s as u32,
            obstacle: o as u32,
            is_out: gap >= 0.0,
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
        let SurfaceSettings { offset, friction } = self.settings;
        let mut again = false;
        let (mut sum, mut change) = (0.0, 0.0);
        let mut touched = vec![false; self.samples.len() * obstacles.len()];
        self.take_down(end);
        for (touch, owner) in self.touches.iter_mut().zip(&self.owners) {
            let (s, o) = (owner.sample as usize, owner.obstacle as usize);
            touched[o * self.samples.len() + s] = true;
            // What was solved with, before it is made any harder.
            let limit = friction * touch.force(end);
            if let Some(held) = &mut touch.friction {
                sum += limit;
                change += (limit - held.limit).abs();
                held.limit = limit;
            }
            let p = self.samples[s].at(end);
            let gap = touch.gap(end);
            if gap > 2.0 * offset {
                continue;
            }
            let obstacle = &obstacles[o];
            if let Some(found) = obstacle.nearest(p, 2.0 * offset + gap.abs())
                && found.distance < gap - CURVED * offset
                && found.normal.dot(touch.normal) > 0.0
            {
                touch.normal = found.normal;
                touch.level = found.normal.dot(found.closest);
                again = true;
            }
            if owner.is_out
                && touch.gap(end) < FLOOR * offset
                && touch.parts().any(|(vertex, _)| !held[vertex])
            {
                touch.stiffness *= HARDER;
                again = true;
            }
        }
        again |= change > CHANGED * sum;
        for (o, obstacle) in obstacles.iter().enumerate() {
            for s in 0..self.n_asked(obstacle) {
                let sample = &self.samples[s];
                let (from, to) = (sample.at(start), sample.at(end));
                let expected = to.distance_squared(sample.at(&self.guess)) < 0.25 * offset * offset;
                if expected {
                    continue;
                }
                let found = match (touched[o * self.samples.len() + s], obstacle) {
                    (false, _) => self.meeting(obstacle, from, to),
                    (true, Obstacle::Rigid(_)) => None,
                    // It may run into another part of the same mesh.
                    (true, Obstacle::Mesh(mesh)) => mesh
                        .meets(from, to)
                        .filter(|found| self.is_news(s, o, found)),
                };
                if let Some(found) = found.filter(|f| f.distance < 0.5 * offset) {
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
        let floor = FLOOR * self.settings.offset;
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
                if gap < floor {
                    end[s] += touch.normal * (floor - gap);
                    n_set += 1;
                }
            }
        }
        for obstacle in obstacles {
            let Obstacle::Mesh(mesh) = obstacle else {
                continue;
            };
            for s in (0..self.n_vertices).filter(|s| !held[*s]) {
                n_set += u32::from(set_out_of(mesh, start[s], &mut end[s], floor));
            }
        }
        n_set
    }

    /// Takes down what touches were like in a solve that ended at `end` [m],
    /// before any of them changes.
    fn take_down(&mut self, end: &[DVec3]) {
        let mu = self.settings.friction;
        self.solved.clear();
        for (touch, owner) in self.touches.iter().zip(&self.owners) {
            let force = touch.force(end);
            if force <= 0.0 {
                continue;
            }
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
                sample, obstacle, ..
            } = solved.owner;
            let p = self.samples[sample as usize].at(end);
            let found = obstacles[obstacle as usize].nearest(p - solved.kept, f64::INFINITY);
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
fn set_out_of(mesh: &MeshObstacle, start: DVec3, end: &mut DVec3, floor: f64) -> bool {
    let mut is_set = false;
    for round in 0..SETTING {
        let Some(met) = mesh.meets(start, *end) else {
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

/// How often a point is set back that then meets something else.
const SETTING: u32 = 4;
/// Points deeper inside a mesh than this are not found [m].
const DEEPEST: f64 = 0.05;

impl Sample {
    fn at(&self, x: &[DVec3]) -> DVec3 {
        let n = usize::from(self.n_vertices);
        let parts = self.vertices[..n].iter().zip(&self.weights[..n]);
        parts.map(|(v, w)| x[*v as usize] * *w).sum()
    }

    /// 1 / Σ w²/m.
    fn mass(&self, masses: &[f64]) -> f64 {
        let n = usize::from(self.n_vertices);
        let parts = self.vertices[..n].iter().zip(&self.weights[..n]);
        1.0 / parts.map(|(v, w)| w * w / masses[*v as usize]).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use drapery_core::Fabric;
    use glam::DQuat;

    use super::super::obstacle::{Placement, RigidObstacle};
    use super::*;
    use crate::textbook::{Rectangle, Triangulation};

    /// What was solved for last counts, not what was to be solved for next.
    #[test]
    fn forces_that_were_never_solved_for_are_not_remembered() {
        let sheet = Rectangle::new(0.02, 1, 1, Triangulation::Aligned).unwrap();
        let fabric = Fabric::plain("cotton", 0.2, 600.0, 1e-5);
        let cloth = Cloth::new(&sheet.rest, &fabric, &[]).unwrap();
        let plane = RigidObstacle::new(Shape::Plane, Placement::IDENTITY).unwrap();
        let obstacles = [Obstacle::from(plane)];
        let settings = SurfaceSettings {
            offset: 1.5e-3,
            friction: 0.5,
        };
        let mut contacts = SurfaceContacts::new(&cloth, 0.03, settings);
        let at = |y: f64| -> Vec<DVec3> {
            let points = sheet.points.iter();
            points.map(|p| DVec3::new(p.x, y, p.y)).collect()
        };
        let (start, end) = (at(1e-3), at(-1e-4));
        contacts.begin(&obstacles, &start, &start, 0.01);
        let forces: Vec<f64> = contacts.touches().iter().map(|t| t.force(&end)).collect();
        // It has ended inside, and is to press harder.
        assert!(contacts.refresh(&obstacles, &[false; 4], &start, &end));
        assert!(contacts.touches()[0].force(&end) > 2.0 * forces[0]);
        contacts.finish(&obstacles, &end);
        let remembered: Vec<f64> = contacts.memory.iter().map(|m| m.force).collect();
        assert_eq!(remembered, forces);
    }

    /// A sample had one memory, so that of two obstacles one was forgotten
    /// with every step, and let go.
    #[test]
    fn a_point_between_two_obstacles_sticks_to_both() {
        let sheet = Rectangle::new(0.02, 1, 1, Triangulation::Aligned).unwrap();
        let fabric = Fabric::plain("cotton", 0.2, 600.0, 1e-5);
        let cloth = Cloth::new(&sheet.rest, &fabric, &[]).unwrap();
        // Between a plane below and one above, 1 mm from either.
        let plane = |rotation: DQuat, y: f64| -> Obstacle {
            let translation = DVec3::Y * y;
            let placement = Placement {
                rotation,
                translation,
            };
            RigidObstacle::new(Shape::Plane, placement).unwrap().into()
        };
        let over = DQuat::from_rotation_x(std::f64::consts::PI);
        let obstacles = [plane(DQuat::IDENTITY, -1e-3), plane(over, 1e-3)];
        let settings = SurfaceSettings {
            offset: 1.5e-3,
            friction: 0.5,
        };
        let mut contacts = SurfaceContacts::new(&cloth, 0.03, settings);
        let at = |x: f64| -> Vec<DVec3> {
            let points = sheet.points.iter();
            points.map(|p| DVec3::new(p.x + x, 0.0, p.y)).collect()
        };
        let held = [false; 4];
        contacts.begin(&obstacles, &at(0.0), &at(0.0), 0.01);
        contacts.refresh(&obstacles, &held, &at(0.0), &at(0.0));
        contacts.finish(&obstacles, &at(0.0));
        // Half of what its friction bears.
        let friction = contacts.touches()[0].friction.unwrap();
        let shift = 0.5 * friction.limit / friction.stiffness;
        contacts.begin(&obstacles, &at(shift), &at(shift), 0.01);
        assert_eq!(contacts.touches().len(), 8);
        for touch in contacts.touches() {
            let friction = touch.friction.unwrap();
            assert!(friction.limit > 0.0);
            let slip = touch.slip(&at(shift), friction.anchor);
            assert!((slip.x - shift).abs() < 1e-12, "{slip} for {shift}");
        }
    }
}
