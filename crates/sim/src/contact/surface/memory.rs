//! What points remember of where they touched in the last step.

use glam::DVec3;

use super::super::obstacle::{Anchor, Obstacle, SurfacePoint};
use super::{SAME, SurfaceContacts};

/// What is remembered of a point that touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) obstacle: u32,
    pub(super) sample: u32,
    /// Along which it pressed.
    pub(super) normal: DVec3,
    /// Where it sticks to.
    pub(super) anchor: Anchor,
    /// How far off the surface the anchor is held [m].
    pub(super) height: f64,
    /// N of the last solve [N].
    pub(super) force: f64,
}

impl SurfaceContacts {
    /// What a sample remembers of an obstacle whose tangent plane it meets; of
    /// several places that it touched, the one that faced the same way most.
    pub(super) fn recall(&self, s: usize, o: usize, normal: DVec3) -> Option<Memory> {
        let facing = |m: &&Memory| m.normal.dot(normal);
        let own = self.remembered(s, o);
        own.max_by(|a, b| facing(a).total_cmp(&facing(b))).copied()
    }

    /// All that a sample remembers of an obstacle.
    fn remembered(&self, s: usize, o: usize) -> impl Iterator<Item = &Memory> {
        let key = (o as u32, s as u32);
        let of = |m: &Memory| (m.obstacle, m.sample);
        let from = self.memory.partition_point(|m| of(m) < key);
        let own = self.memory[from..].iter();
        own.take_while(move |m| of(m) == key)
    }

    /// The other sides of a crease that a sample lay on when the last step ended,
    /// if it has come to meet a plane of this `normal`, on its way to `p` [m].
    pub(super) fn other_sides(
        &self,
        s: usize,
        o: usize,
        obstacle: &Obstacle,
        normal: DVec3,
        p: DVec3,
    ) -> Vec<SurfacePoint> {
        let Obstacle::Mesh(mesh) = obstacle else {
            return Vec::new();
        };
        let mut sides: Vec<SurfacePoint> = Vec::new();
        for memory in self.remembered(s, o) {
            let Anchor::Mesh { triangle, .. } = memory.anchor else {
                continue;
            };
            if memory.normal.dot(normal) >= SAME || !mesh.is_there(triangle, self.home(s)) {
                continue;
            }
            let found = mesh.nearest_from(p, triangle);
            // What faces it pinches: both together would leave no place to be.
            let is_new = |known: DVec3| (0.0..SAME).contains(&known.dot(found.normal));
            if found.distance.abs() < 2.0 * self.settings(s).offset
                && is_new(normal)
                && sides.iter().all(|side| is_new(side.normal))
            {
                sides.push(found);
            }
        }
        sides
    }
}
