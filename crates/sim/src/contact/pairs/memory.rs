//! What contacts remember from step to step: [`Memory`].
//!
//! A contact that lasts keeps the force of its friction, so that what sticks
//! stays where it is, and its normal force. When a vertex slides from a face to
//! the next, what it remembers goes with it.

use glam::DVec3;

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
    pub(super) fn replace(&mut self, contacts: impl Iterator<Item = Remembered>) {
        self.all.clear();
        self.all.extend(contacts);
        debug_assert!(self.all.is_sorted_by_key(|r| r.pair));
    }

    /// What a contact remembers: its own, or that of a neighbour of the same
    /// first primitive.
    pub(super) fn recall(
        &self,
        pair: Pair,
        vertices: [u32; 4],
        normal: DVec3,
    ) -> Option<&Remembered> {
        let key = |r: &Remembered| (r.pair.kind, r.pair.mesh, r.pair.first);
        let own = (pair.kind, pair.mesh, pair.first);
        let from = self.all.partition_point(|r| key(r) < own);
        let same_first = self.all[from..].iter().take_while(|r| key(r) == own);
        let n_first = pair.kind.n_first();
        let mut best: Option<&Remembered> = None;
        for r in same_first.filter(|r| r.normal.dot(normal) > SAME_SIDE) {
            if r.pair == pair {
                return Some(r);
            }
            let second = &vertices[n_first..];
            if r.vertices[n_first..].iter().any(|v| second.contains(v))
                && best.is_none_or(|b| b.force < r.force)
            {
                best = Some(r);
            }
        }
        best
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
