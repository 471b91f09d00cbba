//! The last resort when a step would still cross something: hold it back.
//!
//! A pair that moves as a whole does not come nearer. First each pair in
//! trouble gives up just so much of its relative motion that it stays apart,
//! one pair after the other. Where that does not settle, pairs in trouble are
//! joined to zones that move as a whole (Provot, "Collision and self-collision
//! handling in cloth model dedicated to design garments", 1997; here without
//! their rotation). Zones only grow, so that this ends, at the latest when all
//! of the cloth moves as it did in the mean. Both keep linear momentum, unless
//! something that is held or a mesh is in the zone: then that leads.

use drapery_core::UnionFind;
use glam::DVec3;

use super::super::obstacle_mesh::MeshObstacle;
use super::frame::reaches;
use super::nearby::Near;
use super::{PairContacts, floor};

/// How often pairs are dealt with one by one.
const ROUNDS: u32 = 12;
/// Of the relative motion that a pair can take, so much is left to it.
const LEFT: f64 = 0.8;

impl PairContacts {
    /// Moves vertices of `end` [m] until no pair comes too near on the way from
    /// `start`, given that none was crossed there. How many were moved.
    pub(crate) fn clip(
        &mut self,
        start: &[DVec3],
        end: &mut [DVec3],
        meshes: &[&MeshObstacle],
    ) -> u32 {
        let wanted = end.to_vec();
        for _ in 0..ROUNDS {
            let crossing = self.crossing(start, end, meshes);
            if crossing.is_empty() {
                return n_moved(&wanted, end);
            }
            for near in &crossing {
                self.hold_back(near, start, end);
            }
        }
        let n = start.len() + self.meshes.len();
        let mut zones = UnionFind::new(n as u32);
        end.copy_from_slice(&wanted);
        loop {
            let mut is_settled = true;
            for near in self.crossing(start, end, meshes) {
                for v in &near.vertices[1..] {
                    is_settled &= zones.find(*v) == zones.find(near.vertices[0]);
                    zones.join(*v, near.vertices[0]);
                }
            }
            if is_settled {
                // What is held or a mesh may have forced through cloth.
                self.doubt();
                return n_moved(&wanted, end);
            }
            self.move_zones(&mut zones, start, &wanted, end);
        }
    }

    /// The pairs that come too near.
    fn crossing(&mut self, start: &[DVec3], end: &[DVec3], meshes: &[&MeshObstacle]) -> Vec<Near> {
        let motion = self.meshes.with(start, end);
        self.nearby.follow(&motion, meshes);
        let crossing = self.too_near(&motion);
        crossing.into_iter().map(|(near, _)| near).collect()
    }

    /// Takes off relative motion of a pair.
    fn hold_back(&self, near: &Near, start: &[DVec3], end: &mut [DVec3]) {
        let motion = self.meshes.with(start, end);
        let Some(fraction) = reaches(near, &motion, floor(near)) else {
            return;
        };
        let (from, to) = (motion.starts(near.vertices), motion.ends(near.vertices));
        let mut common = Mean::default();
        for i in 0..4 {
            common.add(to[i] - from[i], self.inverse_mass(near.vertices[i]));
        }
        let common = common.value();
        for i in 0..4 {
            if self.inverse_mass(near.vertices[i]) > 0.0 {
                let own = to[i] - from[i] - common;
                end[near.vertices[i] as usize] = from[i] + common + own * (fraction * LEFT);
            }
        }
    }

    /// Moves every zone as it wanted to move in the mean.
    fn move_zones(
        &self,
        zones: &mut UnionFind,
        start: &[DVec3],
        wanted: &[DVec3],
        end: &mut [DVec3],
    ) {
        let motion = self.meshes.with(start, wanted);
        let n = (start.len() + self.meshes.len()) as u32;
        let mut means = vec![Mean::default(); n as usize];
        for v in 0..n {
            let ([from, ..], [to, ..]) = (motion.starts([v; 4]), motion.ends([v; 4]));
            means[zones.find(v) as usize].add(to - from, self.inverse_mass(v));
        }
        for v in 0..start.len() {
            let zone = zones.find(v as u32) as usize;
            if means[zone].count > 1 && self.inverse_masses[v] > 0.0 {
                end[v] = start[v] + means[zone].value();
            }
        }
    }

    fn inverse_mass(&self, vertex: u32) -> f64 {
        let cloth = self.inverse_masses.get(vertex as usize);
        cloth.copied().unwrap_or(0.0)
    }
}

/// A mean motion, in which what nothing can move leads.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    count: u32,
    mass: f64,
    sum: DVec3,
    n_leading: u32,
    leading: DVec3,
}

impl Mean {
    fn add(&mut self, moved: DVec3, inverse_mass: f64) {
        self.count += 1;
        if inverse_mass > 0.0 {
            self.mass += 1.0 / inverse_mass;
            self.sum += moved / inverse_mass;
        } else {
            self.n_leading += 1;
            self.leading += moved;
        }
    }

    fn value(&self) -> DVec3 {
        match self.n_leading {
            0 => self.sum / self.mass,
            n => self.leading / f64::from(n),
        }
    }
}

fn n_moved(wanted: &[DVec3], end: &[DVec3]) -> u32 {
    wanted.iter().zip(end).filter(|(a, b)| a != b).count() as u32
}
