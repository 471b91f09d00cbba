//! Evens out the triangles of half a body: isotropic remeshing.
//!
//! Botsch and Kobbelt, "A Remeshing Approach to Multiresolution Modeling"
//! (2004), §4: split edges that are too long, collapse those that are too
//! short, flip for a valence of six, move vertices along the surface to the
//! middle of their neighbours, and put them back onto it.
//!
//! Where we differ: the length of edges is a field, the surface a
//! [field](super::figure) too, and the rim at x = 0 stays there and is never
//! joined to itself by an edge inside, so that the half can be mirrored.

use glam::DVec3;

/// A half of a mesh whose rim lies at x = 0.
pub(super) struct Half {
    pub(super) positions: Vec<DVec3>,
    pub(super) triangles: Vec<[u32; 3]>,
}

/// What the mesh should come to.
pub(super) struct Goal<'a> {
    /// Length of edges at a place [m].
    pub(super) length: &'a dyn Fn(DVec3) -> f64,
    /// The nearest place on the surface, at x = 0 for places there.
    pub(super) project: &'a dyn Fn(DVec3) -> DVec3,
}

/// Edges are split above and collapsed below these shares of their length:
/// Botsch and Kobbelt's, between which a split edge is not collapsed again.
const LONG: f64 = 4.0 / 3.0;
const SHORT: f64 = 4.0 / 5.0;

impl Half {
    /// Remeshes in that many rounds.
    pub(super) fn remesh(&mut self, goal: &Goal<'_>, n_rounds: usize) {
        for _ in 0..n_rounds {
            let mut work = Work::new(self);
            work.split(goal);
            work.collapse(goal);
            work.flip_for_valence();
            work.finish(self);
            for _ in 0..2 {
                self.relax(goal);
            }
        }
        for _ in 0..3 {
            let mut work = Work::new(self);
            work.flip_for_angles();
            work.finish(self);
            for _ in 0..2 {
                self.relax(goal);
            }
        }
        let mut work = Work::new(self);
        work.flip_for_angles();
        work.finish(self);
    }

    /// Moves vertices along the surface to the middle of their neighbours.
    fn relax(&mut self, goal: &Goal<'_>) {
        let n = self.positions.len();
        let mut normals = vec![DVec3::ZERO; n];
        let mut sums = vec![(DVec3::ZERO, 0.0); n];
        for &t in &self.triangles {
            let [a, b, c] = t.map(|v| self.positions[v as usize]);
            let normal = (b - a).cross(c - a);
            let middle = (a + b + c) / 3.0;
            let size = (goal.length)(middle);
            // Area in units of what it should be.
            let weight = normal.length() / (size * size);
            for (i, v) in t.into_iter().enumerate() {
                normals[v as usize] += normal;
                let p = self.positions[v as usize];
                let at_rim = p.x == 0.0;
                let sum = &mut sums[v as usize];
                if at_rim {
                    // Only along the rim.
                    for q in [t[(i + 1) % 3], t[(i + 2) % 3]] {
                        let q = self.positions[q as usize];
                        if q.x == 0.0 {
                            sum.0 += q;
                            sum.1 += 1.0;
                        }
                    }
                } else {
                    sum.0 += middle * weight;
                    sum.1 += weight;
                }
            }
        }
        for v in 0..n {
            let (sum, weight) = sums[v];
            let p = self.positions[v];
            if weight <= 0.0 || (p.x == 0.0 && weight != 2.0) {
                continue;
            }
            let normal = normals[v].normalize_or(DVec3::Y);
            let step = sum / weight - p;
            let mut step = step - normal * step.dot(normal);
            if p.x == 0.0 {
                step.x = 0.0;
            }
            let mut moved = (goal.project)(p + step * 0.8);
            if p.x == 0.0 {
                moved.x = 0.0;
            } else if moved.x < 1e-4 {
                continue;
            }
            self.positions[v] = moved;
        }
    }
}

/// A mesh under change: triangles by vertex.
struct Work {
    positions: Vec<DVec3>,
    triangles: Vec<Option<[u32; 3]>>,
    around: Vec<Vec<u32>>,
}

impl Work {
    fn new(half: &Half) -> Self {
        let mut around = vec![Vec::new(); half.positions.len()];
        for (t, corners) in half.triangles.iter().enumerate() {
            for v in corners {
                around[*v as usize].push(t as u32);
            }
        }
        Self {
            positions: half.positions.clone(),
            triangles: half.triangles.iter().copied().map(Some).collect(),
            around,
        }
    }

    /// Hands the mesh back without what is gone.
    fn finish(self, half: &mut Half) {
        let mut number = vec![u32::MAX; self.positions.len()];
        half.positions.clear();
        for (v, around) in self.around.iter().enumerate() {
            if !around.is_empty() {
                number[v] = half.positions.len() as u32;
                half.positions.push(self.positions[v]);
            }
        }
        half.triangles = (self.triangles.into_iter().flatten())
            .map(|t| t.map(|v| number[v as usize]))
            .collect();
    }

    fn at_rim(&self, v: u32) -> bool {
        self.positions[v as usize].x == 0.0
    }

    /// The edges, lower vertex first, in order.
    fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = (self.triangles.iter().flatten())
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The triangles at an edge.
    fn sides(&self, [a, b]: [u32; 2]) -> Vec<u32> {
        let has = |t: &&u32| self.triangles[**t as usize].is_some_and(|c| c.contains(&b));
        self.around[a as usize]
            .iter()
            .filter(has)
            .copied()
            .collect()
    }

    /// Neighbours of a vertex, sorted.
    fn neighbours(&self, v: u32) -> Vec<u32> {
        let mut all: Vec<u32> = self.around[v as usize]
            .iter()
            .filter_map(|&t| self.triangles[t as usize])
            .flatten()
            .filter(|&w| w != v)
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn length(&self, [a, b]: [u32; 2]) -> f64 {
        self.positions[a as usize].distance(self.positions[b as usize])
    }

    fn wanted(&self, [a, b]: [u32; 2], goal: &Goal<'_>) -> f64 {
        (goal.length)((self.positions[a as usize] + self.positions[b as usize]) / 2.0)
    }

    fn normal(&self, [a, b, c]: [u32; 3]) -> DVec3 {
        let [a, b, c] = [a, b, c].map(|v| self.positions[v as usize]);
        (b - a).cross(c - a)
    }

    fn remove(&mut self, t: u32) {
        if let Some(corners) = self.triangles[t as usize].take() {
            for v in corners {
                self.around[v as usize].retain(|&s| s != t);
            }
        }
    }

    fn add(&mut self, corners: [u32; 3]) {
        let t = self.triangles.len() as u32;
        self.triangles.push(Some(corners));
        for v in corners {
            self.around[v as usize].push(t);
        }
    }

    fn split(&mut self, goal: &Goal<'_>) {
        for edge in self.edges() {
            let inside_rim =
                self.at_rim(edge[0]) && self.at_rim(edge[1]) && self.sides(edge).len() == 2;
            if !inside_rim && self.length(edge) <= LONG * self.wanted(edge, goal) {
                continue;
            }
            let [a, b] = edge;
            let sides = self.sides(edge);
            let middle = (self.positions[a as usize] + self.positions[b as usize]) / 2.0;
            let mut middle = (goal.project)(middle);
            let on_rim = sides.len() == 1;
            if on_rim {
                middle.x = 0.0;
            } else if middle.x < 1e-3 {
                middle.x = 1e-3;
            }
            let m = self.positions.len() as u32;
            self.positions.push(middle);
            self.around.push(Vec::new());
            for t in sides {
                let Some(corners) = self.triangles[t as usize] else {
                    continue;
                };
                self.remove(t);
                self.add(corners.map(|v| if v == a { m } else { v }));
                self.add(corners.map(|v| if v == b { m } else { v }));
            }
        }
    }

    fn collapse(&mut self, goal: &Goal<'_>) {
        for edge in self.edges() {
            let [a, b] = edge;
            if self.around[a as usize].is_empty() || self.around[b as usize].is_empty() {
                continue;
            }
            let sides = self.sides(edge);
            if sides.is_empty() || self.length(edge) >= SHORT * self.wanted(edge, goal) {
                continue;
            }
            let (rim_a, rim_b) = (self.at_rim(a), self.at_rim(b));
            if rim_a && rim_b && sides.len() == 2 {
                continue;
            }
            // The one at the rim stays.
            let (keep, gone) = if rim_b && !rim_a { (b, a) } else { (a, b) };
            let mut place = (self.positions[a as usize] + self.positions[b as usize]) / 2.0;
            if rim_a != rim_b {
                place = self.positions[keep as usize];
            } else {
                place = (goal.project)(place);
                if rim_a {
                    place.x = 0.0;
                } else if place.x < 1e-3 {
                    continue;
                }
            }
            if self.may_collapse(keep, gone, place, sides.len(), goal) {
                for t in sides {
                    self.remove(t);
                }
                self.positions[keep as usize] = place;
                for t in self.around[gone as usize].clone() {
                    let Some(corners) = self.triangles[t as usize] else {
                        continue;
                    };
                    self.remove(t);
                    self.add(corners.map(|v| if v == gone { keep } else { v }));
                }
            }
        }
    }

    fn may_collapse(
        &self,
        keep: u32,
        gone: u32,
        place: DVec3,
        n_sides: usize,
        goal: &Goal<'_>,
    ) -> bool {
        let (p, q) = (self.neighbours(keep), self.neighbours(gone));
        let shared = p.iter().filter(|v| q.binary_search(v).is_ok()).count();
        if shared != n_sides {
            return false;
        }
        // No edge through the inside may join the rim to itself.
        if self.at_rim(keep) && !self.at_rim(gone) {
            let new = |v: &&u32| **v != keep && p.binary_search(v).is_err();
            if q.iter().filter(new).any(|&v| self.at_rim(v)) {
                return false;
            }
            // Nor may a rim edge lose the triangle behind it to another.
            let beyond = q.iter().filter(|&&v| v != keep && self.at_rim(v)).count();
            if beyond > 1 {
                return false;
            }
        }
        let too_long = |v: &u32| {
            let other = self.positions[*v as usize];
            place.distance(other) > LONG * (goal.length)((place + other) / 2.0)
        };
        if p.iter()
            .chain(&q)
            .any(|v| *v != keep && *v != gone && too_long(v))
        {
            return false;
        }
        // No triangle may turn over or become a sliver.
        for (v, other) in [(keep, gone), (gone, keep)] {
            for &t in &self.around[v as usize] {
                let Some(corners) = self.triangles[t as usize] else {
                    continue;
                };
                if corners.contains(&other) {
                    continue;
                }
                let before = self.normal(corners);
                let moved = corners.map(|c| {
                    if c == v {
                        place
                    } else {
                        self.positions[c as usize]
                    }
                });
                let after = (moved[1] - moved[0]).cross(moved[2] - moved[0]);
                if before.dot(after) <= 0.3 * before.length() * after.length() {
                    return false;
                }
            }
        }
        true
    }

    /// The two vertices across an edge inside, with its triangles.
    fn across(&self, edge: [u32; 2]) -> Option<([u32; 2], [u32; 2])> {
        let sides = self.sides(edge);
        let &[s, t] = sides.as_slice() else {
            return None;
        };
        // The triangle in which the edge runs from edge[0] to edge[1] is first.
        let corners = self.triangles[s as usize]?;
        let i = corners.iter().position(|&v| v == edge[0])?;
        let (s, t) = if corners[(i + 1) % 3] == edge[1] {
            (s, t)
        } else {
            (t, s)
        };
        let third = |t: u32| {
            let corners = self.triangles[t as usize]?;
            corners.into_iter().find(|v| !edge.contains(v))
        };
        Some(([third(s)?, third(t)?], [s, t]))
    }

    /// Flips an edge if the result is sound; `better` judges the corners before
    /// and after.
    fn flip(&mut self, edge: [u32; 2], better: impl Fn(&Self, [u32; 2], [u32; 2]) -> bool) -> bool {
        let [a, b] = edge;
        let Some(([c, d], [s, t])) = self.across(edge) else {
            return false;
        };
        if c == d
            || (self.at_rim(c) && self.at_rim(d))
            || self.neighbours(c).binary_search(&d).is_ok()
            || !better(self, edge, [c, d])
        {
            return false;
        }
        // [a, b, c] and [b, a, d] become [a, d, c] and [d, b, c].
        let new = [[a, d, c], [d, b, c]];
        let mean = (self.normal([a, b, c]) + self.normal([b, a, d])).normalize_or(DVec3::Y);
        for triangle in new {
            let normal = self.normal(triangle);
            if normal.dot(mean) <= 0.5 * normal.length() {
                return false;
            }
        }
        self.remove(s);
        self.remove(t);
        for triangle in new {
            self.add(triangle);
        }
        true
    }

    fn flip_for_valence(&mut self) {
        for edge in self.edges() {
            self.flip(edge, |work, [a, b], [c, d]| {
                let off = |v: u32, change: i64| {
                    let goal = if work.at_rim(v) { 4 } else { 6 };
                    let n = work.neighbours(v).len() as i64 + change - goal;
                    n * n
                };
                let before = off(a, 0) + off(b, 0) + off(c, 0) + off(d, 0);
                let after = off(a, -1) + off(b, -1) + off(c, 1) + off(d, 1);
                after < before
            });
        }
    }

    /// Flips edges whose opposite angles sum to more than half a turn.
    fn flip_for_angles(&mut self) {
        for _ in 0..4 {
            let mut flipped = 0;
            for edge in self.edges() {
                let done = self.flip(edge, |work, [a, b], [c, d]| {
                    let cotangent = |v: u32| {
                        let p = work.positions[v as usize];
                        let (x, y) = (
                            work.positions[a as usize] - p,
                            work.positions[b as usize] - p,
                        );
                        x.dot(y) / x.cross(y).length().max(1e-30)
                    };
                    cotangent(c) + cotangent(d) < -1e-6
                });
                flipped += usize::from(done);
            }
            if flipped == 0 {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::nets::left_half;
    use super::*;

    const RADIUS: f64 = 0.3;
    const LENGTH: f64 = 0.04;

    fn ball() -> Half {
        let field = |p: DVec3| p.length() - RADIUS;
        let low = DVec3::new(0.0, -0.4, -0.4);
        let (positions, triangles) = left_half(field, low, DVec3::splat(0.4), 0.021);
        let mut half = Half {
            positions,
            triangles,
        };
        let goal = Goal {
            length: &|_| LENGTH,
            project: &|p| p.normalize() * RADIUS,
        };
        half.remesh(&goal, 6);
        half
    }

    #[test]
    fn triangles_come_to_the_length_they_should_have_and_are_well_shaped() {
        let half = ball();
        for p in &half.positions {
            assert!((p.length() - RADIUS).abs() < 1e-9);
        }
        let mut mean = 0.0;
        for t in &half.triangles {
            let corners = t.map(|v| half.positions[v as usize]);
            for i in 0..3 {
                let (p, q, r) = (corners[i], corners[(i + 1) % 3], corners[(i + 2) % 3]);
                mean += p.distance(q) / (3.0 * half.triangles.len() as f64);
                let angle = (q - p).angle_between(r - p).to_degrees();
                assert!(angle > 20.0, "{angle} at {p}");
            }
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            assert!(
                normal.dot(corners[0]) > 0.0,
                "turned over at {}",
                corners[0]
            );
        }
        assert!((mean / LENGTH - 1.0).abs() < 0.08, "{mean}");
    }

    #[test]
    fn the_rim_stays_one_ring_that_nothing_inside_joins() {
        let half = ball();
        let at_rim = |v: u32| half.positions[v as usize].x == 0.0;
        let mut sides: Vec<[u32; 2]> = half
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .collect();
        sides.sort_unstable();
        let n_sides = sides.len();
        sides.dedup();
        assert_eq!(sides.len(), n_sides, "a side is there twice");
        let mut border = 0;
        for &[a, b] in &sides {
            let inside = sides.binary_search(&[b, a]).is_ok();
            assert_eq!(inside, !(at_rim(a) && at_rim(b)));
            border += usize::from(!inside);
        }
        let n_rim = (0..half.positions.len() as u32)
            .filter(|&v| at_rim(v))
            .count();
        assert_eq!(border, n_rim);
        // Half a ball is a disc: V − E + F = 1.
        let n_edges = (sides.len() + border) / 2;
        assert_eq!(half.positions.len() + half.triangles.len(), n_edges + 1);
    }
}
