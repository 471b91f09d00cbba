//! What contacts remember from step to step: [`Memory`].
//!
//! A contact that lasts keeps the force of its friction, so that what sticks
//! stays where it is, and its normal force. When a vertex slides from a face to
//! the next, what it remembers goes with it.

use glam::DVec3;

use super::nearby::Near;
use super::pair::Pair;

/// What one contact remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Remembered {
    pub(super) pair: Pair,
    pub(super) vertices: [u32; 4],
    /// Along which it pressed.
    pub(super) normal: DVec3,
    /// How hard it pressed [N].
    pub(super) force: f64,
    /// With what friction pulled the first primitive back, along the surface [N].
    pub(super) drag: DVec3,
}

/// What all contacts remember, sorted by pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    all: Vec<Remembered>,
}

/// Surfaces that have turned by more have nothing to do with each other.
const SAME_SIDE: f64 = 0.7;

impl Memory {
    /// Replaces everything; contacts come sorted by pair.
    pub(super) fn replace(&mut self, contacts: &mut Vec<Remembered>) {
        std::mem::swap(&mut self.all, contacts);
        contacts.clear();
        debug_assert!(self.all.is_sorted_by_key(|r| r.pair));
    }

    /// What each of the contacts remembers, which come sorted by pair, each
    /// with its normal: its own, or that of a neighbour of the same first
    /// primitive which is no contact any more. Nothing is remembered twice.
    pub(super) fn recall(&self, contacts: &[(Near, DVec3)]) -> Vec<Option<Remembered>> {
        let mut taken = vec![false; self.all.len()];
        let mut recalled = vec![None; contacts.len()];
        let first = |p: Pair| (p.kind, p.mesh, p.first);
        let same_first = |pair: Pair| {
            let from = self.all.partition_point(|r| first(r.pair) < first(pair));
            let rest = self.all[from..].iter();
            let n = rest.take_while(|r| first(r.pair) == first(pair)).count();
            from..from + n
        };
        let is_same_side = |at: usize, n: DVec3| self.all[at].normal.dot(n) > SAME_SIDE;
        for ((near, normal), recalled) in contacts.iter().zip(&mut recalled) {
            let own = same_first(near.pair).find(|&at| {
                !taken[at] && self.all[at].pair == near.pair && is_same_side(at, *normal)
            });
            if let Some(at) = own {
                taken[at] = true;
                *recalled = Some(self.all[at]);
            }
        }
        for ((near, normal), recalled) in contacts.iter().zip(&mut recalled) {
            if recalled.is_some() {
                continue;
            }
            let second = &near.vertices[near.pair.kind.n_first()..];
            let joins = |at: usize| {
                let other = &self.all[at].vertices[near.pair.kind.n_first()..];
                other.iter().any(|v| second.contains(v))
            };
            let left = same_first(near.pair)
                .filter(|&at| !taken[at] && is_same_side(at, *normal) && joins(at))
                .max_by(|&a, &b| self.all[a].force.total_cmp(&self.all[b].force));
            if let Some(at) = left {
                taken[at] = true;
                *recalled = Some(self.all[at]);
            }
        }
        recalled
    }
}

impl Remembered {
    /// The friction turned from the plane that it was in to the plane across
    /// `normal` [N].
    pub(super) fn turned_drag(&self, normal: DVec3) -> DVec3 {
        let along = self.drag - normal * normal.dot(self.drag);
        along.normalize_or_zero() * self.drag.length()
    }
}
