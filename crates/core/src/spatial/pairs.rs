//! Triangles whose boxes overlap: candidates for contact.

use alloc::vec::Vec;

use glam::{Vec3, Vec3A};

use super::intersect::{Meeting, TriangleIntersection, intersect_triangles};
use super::tree::{Node, TriangleTree, triangle_box};

impl TriangleTree {
    /// Calls `visit` once for each triangle whose box comes within `margin`
    /// [m] of the box from `low` to `high`.
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn visit_box(
        &self,
        low: Vec3,
        high: Vec3,
        margin: f32,
        positions: &[Vec3],
        mut visit: impl FnMut(u32),
    ) {
        self.check_positions(positions);
        let (low, high) = grow((low.into(), high.into()), margin);
        let mut stack = self.stack();
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index as usize];
            if !overlap((node.low, node.high), (low, high)) {
                continue;
            }
            if node.is_leaf() {
                for slot in node.slots() {
                    if overlap(triangle_box(&self.corners[slot], positions), (low, high)) {
                        visit(self.order[slot]);
                    }
                }
            } else {
                stack.push(node.link);
                stack.push(index + 1);
            }
        }
    }

    /// Calls `visit` once for each triangle of this tree and each of `other`
    /// whose boxes come within `margin` [m] of each other along every axis.
    ///
    /// # Panics
    /// When a number of positions is not the one its tree was built with.
    pub fn visit_pairs(
        &self,
        positions: &[Vec3],
        other: &TriangleTree,
        other_positions: &[Vec3],
        margin: f32,
        mut visit: impl FnMut(u32, u32),
    ) {
        self.check_positions(positions);
        other.check_positions(other_positions);
        let mut stack: Vec<(u32, u32)> = Vec::new();
        if !self.is_empty() && !other.is_empty() {
            stack.push((0, 0));
        }
        while let Some((i, j)) = stack.pop() {
            let (p, q) = (&self.nodes[i as usize], &other.nodes[j as usize]);
            if !near(p, q, margin) {
                continue;
            }
            match (p.is_leaf(), q.is_leaf()) {
                (true, true) => {
                    for s in p.slots() {
                        let grown = grow(triangle_box(&self.corners[s], positions), margin);
                        for t in q.slots() {
                            if overlap(grown, triangle_box(&other.corners[t], other_positions)) {
                                visit(self.order[s], other.order[t]);
                            }
                        }
                    }
                }
                (false, q_leaf) if q_leaf || larger(p, q) => {
                    stack.push((p.link, j));
                    stack.push((i + 1, j));
                }
                _ => {
                    stack.push((i, q.link));
                    stack.push((i, j + 1));
                }
            }
        }
    }

    /// Calls `visit` once for each two triangles of the mesh whose boxes come
    /// within `margin` [m] of each other along every axis, the lower first.
    /// Neighbours are among them.
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn visit_self_pairs(
        &self,
        positions: &[Vec3],
        margin: f32,
        mut visit: impl FnMut(u32, u32),
    ) {
        self.check_positions(positions);
        self.self_slots(positions, margin, &mut |s, t| {
            let (a, b) = (self.order[s], self.order[t]);
            visit(a.min(b), a.max(b));
        });
    }

    /// Calls `visit` for each two triangles that share no vertex and cross one
    /// another or lie on one another, the lower first, and says where. Mere
    /// touching is left out.
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn visit_self_intersections(
        &self,
        positions: &[Vec3],
        mut visit: impl FnMut(u32, u32, TriangleIntersection),
    ) {
        self.check_positions(positions);
        self.self_slots(positions, 0.0, &mut |s, t| {
            let (p, q) = (self.corners[s], self.corners[t]);
            if p.iter().any(|v| q.contains(v)) {
                return;
            }
            let at = |v: u32| positions[v as usize];
            if let Some(found) = intersect_triangles(p.map(at), q.map(at))
                && found.meeting != Meeting::Touching
            {
                let (a, b) = (self.order[s], self.order[t]);
                visit(a.min(b), a.max(b), found);
            }
        });
    }

    /// All unordered pairs of slots whose boxes overlap.
    fn self_slots(&self, positions: &[Vec3], margin: f32, visit: &mut impl FnMut(usize, usize)) {
        let mut stack: Vec<(u32, u32)> = Vec::new();
        if !self.is_empty() {
            stack.push((0, 0));
        }
        while let Some((i, j)) = stack.pop() {
            let (p, q) = (&self.nodes[i as usize], &self.nodes[j as usize]);
            if i != j && !near(p, q, margin) {
                continue;
            }
            match (p.is_leaf(), q.is_leaf()) {
                (true, true) => {
                    for s in p.slots() {
                        let grown = grow(triangle_box(&self.corners[s], positions), margin);
                        let start = if i == j { s + 1 } else { q.link as usize };
                        for t in start..q.slots().end {
                            if overlap(grown, triangle_box(&self.corners[t], positions)) {
                                visit(s, t);
                            }
                        }
                    }
                }
                _ if i == j => {
                    stack.push((p.link, p.link));
                    stack.push((i + 1, p.link));
                    stack.push((i + 1, i + 1));
                }
                (false, q_leaf) if q_leaf || larger(p, q) => {
                    stack.push((p.link, j));
                    stack.push((i + 1, j));
                }
                _ => {
                    stack.push((i, q.link));
                    stack.push((i, j + 1));
                }
            }
        }
    }
}

fn overlap(p: (Vec3A, Vec3A), q: (Vec3A, Vec3A)) -> bool {
    p.0.cmple(q.1).all() && q.0.cmple(p.1).all()
}

fn grow((low, high): (Vec3A, Vec3A), margin: f32) -> (Vec3A, Vec3A) {
    (low - margin, high + margin)
}

fn near(p: &Node, q: &Node, margin: f32) -> bool {
    overlap(grow((p.low, p.high), margin), (q.low, q.high))
}

fn larger(p: &Node, q: &Node) -> bool {
    (p.high - p.low).length_squared() >= (q.high - q.low).length_squared()
}
