//! [`Flesh`]: a body that gives way where it touches itself.
//!
//! A skinned body does not know of itself: arms sink into the chest, thighs
//! into each other, and cloth between two parts has no room to be in. Flesh
//! yields: where two parts overlap, or leave less room than cloth needs, both
//! surfaces go back along their normals until there is some.
//!
//! | vertex                    | found by                     | goes back by     |
//! |---------------------------|------------------------------|------------------|
//! | inside another part       | winding number just above it | ½ (L + g)        |
//! | a part in front of it     | the nearest that faces it    | ½ (g − d)        |
//! | free                      |                              | 0                |
//!
//! L is the depth of the overlap, from the vertex to where the other part ends:
//! to the nearest surface that faces the other way; d the distance to what is in
//! front; g the room for cloth, which widens from [`FleshConfig::room`] as the
//! overlap deepens. What is not near an overlap goes back by 0.7 mm at most, so that
//! cloth on it is still seen outside. All three agree where surfaces touch, so that
//! a body that moves gives way without a jump.
//!
//! What is next to a place that goes back goes along, by half as much less as it is
//! away; the ways that vertices go are averaged with their neighbours', and what has
//! gone far is made fair: else a crease gets steps and spikes. The *rim*, where edges
//! of the body enter another part, is found beside the vertices that are inside, since
//! triangles may be larger than an overlap.
//!
//! What is thin gives way less, and what it meets the more: a hand that is laid
//! on a belly stays a hand. A vertex also pushes back the triangle that it meets,
//! which may be larger than what presses on it.
//!
//! The surface goes inwards only, so nothing that was outside it is caught.
//!
//! **Strangers**, parts that are far apart at rest, do not give way once one has
//! sunk into the other: a hand in a hip would need a hollow as large as itself,
//! and the skirt would hang in it. It is *absent* instead, with the arm that it
//! is at the end of, for all cloth but its own: the skirt lies on the hip as if
//! there were no hand, and feels it again when it is out of both. Of two strangers
//! the thinner one is absent, and the hip is there for all cloth. Two legs that cross
//! have room enough, and the dress stays on both until one is half through the other.
//! Where a patch that
//! is inside another part is in a neighbour elsewhere, it is a fold and no stranger:
//! a calf on a thigh.

mod overlap;
#[cfg(test)]
mod tests;

use drapery_core::Topology;
use glam::DVec3;
use rayon::prelude::*;

use crate::cloth::Around;
use crate::contact::{Bounds, MeshBoxes, point_triangle};

pub use overlap::Overlap;

/// How a body gives way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleshConfig {
    /// The room that is left between two parts that touch [m]; twice as much
    /// and more where they overlap.
    pub room: f64,
    /// How far overlaps go that are cured [m].
    pub reach: f64,
    /// Parts that are farther apart at rest than this [m] are strangers.
    pub strange: f64,
    /// Strangers that are both thicker than this [m] give way until one is nearly half
    /// through the other: legs that cross.
    pub thick: f64,
}

impl FleshConfig {
    /// Half a centimetre of room, overlaps of up to 12 cm.
    pub const DEFAULT: Self = Self {
        room: 5e-3,
        reach: 0.12,
        strange: 0.25,
        thick: 0.08,
    };
}

impl Default for FleshConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Where overlaps are as deep as this, the room has tripled [m].
const WIDER: f64 = 1e-2;
/// A vertex goes back by no more than this share of what is behind it.
const SQUEEZE: f64 = 0.45;
/// The winding number is taken so far above the surface [m].
const ABOVE: f64 = 1e-5;
/// Whether it is still inside is asked so often on the way from a vertex to a stranger.
const ON_THE_WAY: u32 = 4;
const NEARLY: f64 = 0.01;
/// Two places meet that are nearer than this share of what they are at rest:
/// the two sides of a hand don't.
const NEARER: f64 = 0.5;
/// What has sunk deeper than this into a stranger is let through [m] ...
const SUNK: f64 = 5e-3;
/// ... and of two that are thick, deeper than this share of the thinner one.
const SUNK_SHARE: f64 = 0.45;
/// A patch of the body that is inside another part is in a fold if more than this
/// share of it is in a neighbour.
const FOLD: f64 = 0.05;
/// So far around what has sunk, the body is not there for strangers [m]: cloth
/// that an arm has passed through lies across it.
const AROUND: f64 = 0.1;
/// What is not inside another part, nor near what is, goes back by no more than
/// this [m], so that cloth on it is still seen outside...
const SEEN: f64 = 0.7e-3;
/// ... and by so much more as it is nearer than this [m]: the mask of the wear
/// meter goes as far as 2 cm.
const NEAR: f64 = 0.018;
const STEEP: f64 = 1.5;
/// The same holds for places between vertices, farther away than this [m]...
const FAR: f64 = 0.02;
/// ... of so many to an edge.
const BETWEEN: u32 = 4;
/// What is next to a place that goes back goes along, by so much less with every
/// metre, or the surface would have steps.
const SLOPE: f64 = 0.5;
/// The ways that vertices go are smoothed so often: in the bottom of a crease
/// normals point anywhere, and what follows them makes spikes.
const SMOOTHING: u32 = 3;
/// Surfaces that have gone back are made fair so often...
const FAIRING: u32 = 3;
/// ... in full where they have by this more than can be seen [m].
const FOLDED: f64 = 5e-3;
/// Where an edge enters another part is found to this power of a half.
const HALVINGS: u32 = 4;
/// Vertices that one task takes.
const CHUNK: usize = 256;

/// A body surface that gives way where it touches itself.
#[derive(Clone, Debug)]
pub struct Flesh {
    config: FleshConfig,
    boxes: MeshBoxes,
    around: Around,
    /// How far each vertex may go back [m].
    most: Vec<f64>,
    /// Where it is at rest [m].
    rest: Vec<DVec3>,
}

/// What a vertex feels.
#[derive(Clone, Copy, Debug)]
struct Felt {
    /// By how much it and what it meets are too near [m].
    needed: f64,
    /// The triangle that it meets.
    other: u32,
    is_inside: bool,
    /// Whether it is in a neighbour.
    is_near: bool,
    /// Whether it is deep in a stranger, so that they pass through one another ...
    passes: bool,
    /// ... which is no thinner than it.
    has_sunk: bool,
}

/// What a body does in a pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Yielding {
    /// How far each vertex goes back along its normal [m], shape [vertex].
    pub back: Vec<f64>,
    /// Whether it lies inside another part of the body, shape [vertex].
    pub inside: Vec<bool>,
    /// Where edges of the body enter another part of it [m].
    pub rim: Vec<DVec3>,
    /// Whether it has sunk into a stranger, or is near what has, and is not
    /// there for the cloth of others, shape [vertex].
    pub absent: Vec<bool>,
}

impl Flesh {
    /// The body at rest, where no part is in another, at `positions` [m].
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn new(topology: &Topology, positions: &[DVec3], config: FleshConfig) -> Self {
        let boxes = MeshBoxes::new(topology, positions);
        let around = Around::new(topology.n_vertices(), topology.triangles());
        let mut flesh = Self {
            config,
            boxes,
            around,
            most: Vec::new(),
            rest: positions.to_vec(),
        };
        flesh.most = (0..positions.len())
            .map(|v| {
                let most = 2.0 * config.reach;
                SQUEEZE * flesh.thickness(positions, v, most).unwrap_or(most)
            })
            .collect();
        flesh
    }

    /// Where a body at `positions` [m] gives way.
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn feel(&mut self, positions: &[DVec3]) -> Yielding {
        self.feel_worn(positions, &vec![false; positions.len()])
    }

    /// The same where what is `occupied` by cloth stays absent.
    ///
    /// # Panics
    /// When there is not one position and entry a vertex.
    pub fn feel_worn(&mut self, positions: &[DVec3], occupied: &[bool]) -> Yielding {
        self.boxes.refit(positions, positions);
        let all = Bounds::of(positions.iter().copied());
        let flesh = &*self;
        let mut felt: Vec<Felt> = (0..positions.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|v| flesh.feel_at(positions, v, all))
            .collect();
        self.find_folds(&mut felt);
        for felt in felt.iter_mut().filter(|f| f.passes) {
            felt.needed = 0.0;
        }
        let own = |v: usize, needed: f64| (0.5 * needed).min(self.most[v]);
        let mut back: Vec<f64> = (0..).zip(&felt).map(|(v, f)| own(v, f.needed)).collect();
        // What is too thin leaves the rest to what it meets.
        for (v, felt) in felt.iter().enumerate().filter(|(_, f)| f.needed > 0.0) {
            let rest = felt.needed - own(v, felt.needed);
            let corners = self.boxes.triangles()[felt.other as usize];
            let met = point_triangle(positions[v], self.corners(positions, felt.other));
            let weights = [1, 2, 3].map(|k| -met.weights[k]);
            let sum_sq: f64 = weights.iter().map(|w| w * w).sum();
            // The least that takes the place itself back by the rest.
            for (corner, weight) in corners.into_iter().zip(weights) {
                let corner = corner as usize;
                let share = rest * weight / sum_sq;
                back[corner] = back[corner].max(share.min(self.most[corner]));
            }
        }
        self.spread(positions, &mut back);
        let rim = self.rim(positions, &felt, all);
        self.keep_shape(positions, &felt, &rim, &mut back);
        Yielding {
            back,
            rim,
            inside: felt.iter().map(|f| f.is_inside).collect(),
            absent: {
                let both = felt.iter().zip(occupied);
                self.around_those(positions, both.map(|(f, occupied)| f.has_sunk || *occupied))
            },
        }
    }

    /// Where edges enter another part.
    fn rim(&self, x: &[DVec3], felt: &[Felt], all: Bounds) -> Vec<DVec3> {
        let edges = self.boxes.edges().iter();
        let entering: Vec<[usize; 2]> = edges
            .map(|edge| edge.map(|v| v as usize))
            .filter(|[a, b]| felt[*a].is_inside != felt[*b].is_inside)
            .collect();
        entering
            .into_par_iter()
            .map(|[a, b]| {
                let (mut inside, mut outside) = match felt[a].is_inside {
                    true => (x[a], x[b]),
                    false => (x[b], x[a]),
                };
                let above = (self.normal(x, a) + self.normal(x, b)) * (0.5 * ABOVE);
                for _ in 0..HALVINGS {
                    let middle = inside.midpoint(outside);
                    match self.boxes.winding(x, middle + above, all) >= 1 {
                        true => inside = middle,
                        false => outside = middle,
                    }
                }
                inside
            })
            .collect()
    }

    /// Lets nothing go far back that is not near what is inside another part,
    /// vertices or places between them.
    fn keep_shape(&self, x: &[DVec3], felt: &[Felt], rim: &[DVec3], back: &mut [f64]) {
        let both = x.iter().zip(felt);
        let inside = both.filter(|(_, f)| f.is_inside).map(|(p, _)| *p);
        let inside: Vec<DVec3> = inside.chain(rim.iter().copied()).collect();
        let away = |p: DVec3| {
            let distances = inside.iter().map(|q| q.distance_squared(p));
            distances.fold(f64::INFINITY, f64::min).sqrt()
        };
        for (v, back) in back.iter_mut().enumerate() {
            if *back > SEEN && !felt[v].is_inside {
                *back = back.min(SEEN + STEEP * (NEAR - away(x[v])).max(0.0));
            }
        }
        let before = back.to_vec();
        for [a, b] in self.boxes.edges().iter().map(|e| e.map(|v| v as usize)) {
            // From the end that goes back farther.
            let (far, near) = if before[a] > before[b] {
                (a, b)
            } else {
                (b, a)
            };
            if before[far] <= SEEN {
                continue;
            }
            let shares = (1..BETWEEN).map(|k| f64::from(k) / f64::from(BETWEEN));
            for share in shares.filter(|s| away(x[far].lerp(x[near], *s)) > FAR) {
                let left = SEEN - share * before[near].min(SEEN);
                back[far] = back[far].min(left / (1.0 - share));
            }
        }
    }

    /// Lets what is next to a place that goes back go along, so that the surface
    /// stays one.
    fn spread(&self, x: &[DVec3], back: &mut [f64]) {
        let mut open: Vec<usize> = (0..back.len()).filter(|v| back[*v] > 0.0).collect();
        while let Some(v) = open.pop() {
            for (t, _) in self.around.of(v) {
                for other in self.boxes.triangles()[t].map(|v| v as usize) {
                    let here = back[v] - SLOPE * x[v].distance(x[other]);
                    let here = here.min(self.most[other]);
                    if here > back[other] + 1e-6 {
                        back[other] = here;
                        open.push(other);
                    }
                }
            }
        }
    }

    /// Vertices that are marked, or so near to one that is that it is all one
    /// hand.
    fn around_those(&self, x: &[DVec3], marked: impl Iterator<Item = bool>) -> Vec<bool> {
        let mut left: Vec<f64> = marked.map(|m| if m { AROUND } else { -1.0 }).collect();
        let mut open: Vec<usize> = (0..left.len()).filter(|v| left[*v] > 0.0).collect();
        while let Some(v) = open.pop() {
            for (t, _) in self.around.of(v) {
                for other in self.boxes.triangles()[t].map(|v| v as usize) {
                    let here = left[v] - x[v].distance(x[other]);
                    if here > left[other] + 1e-6 && here > 0.0 {
                        left[other] = here;
                        open.push(other);
                    }
                }
            }
        }
        left.into_iter().map(|l| l > 0.0).collect()
    }

    fn feel_at(&self, positions: &[DVec3], v: usize, all: Bounds) -> Felt {
        let FleshConfig { room, reach, .. } = self.config;
        let normal = self.normal(positions, v);
        let is_inside = self.is_inside(positions, v, normal, all);
        let [mut is_near, mut passes, mut has_sunk] = [false; 3];
        let met = match is_inside {
            true => {
                let facing = self.facing(positions, v, normal, reach);
                let is_met = |t| !self.is_stranger(v, t) || self.is_in(positions, v, t, all);
                facing.filter(|(_, t)| is_met(*t)).map(|(depth, t)| {
                    is_near = !self.is_stranger(v, t);
                    passes = !is_near && depth > self.sunk(v, t);
                    has_sunk = passes && self.is_no_thicker(v, t);
                    (depth + room * (1.0 + 2.0 * (depth / WIDER).min(1.0)), t)
                })
            }
            false => self
                .facing(positions, v, normal, room)
                .map(|(distance, t)| (room - distance, t)),
        };
        let (needed, other) = met.unwrap_or_default();
        Felt {
            needed,
            other,
            is_inside,
            is_near,
            passes,
            has_sunk,
        }
    }

    /// In a fold, as at the back of a knee, nobody is a stranger, however far
    /// from its bottom.
    fn find_folds(&self, felt: &mut [Felt]) {
        let mut seen = vec![false; felt.len()];
        for from in 0..felt.len() {
            if seen[from] || !felt[from].is_inside {
                continue;
            }
            // All that is inside and hangs together.
            seen[from] = true;
            let mut patch = vec![from];
            let mut next = 0;
            while let Some(&v) = patch.get(next) {
                next += 1;
                for (t, _) in self.around.of(v) {
                    for other in self.boxes.triangles()[t].map(|v| v as usize) {
                        if felt[other].is_inside && !seen[other] {
                            seen[other] = true;
                            patch.push(other);
                        }
                    }
                }
            }
            let n_near = patch.iter().filter(|v| felt[**v].is_near).count();
            if n_near as f64 > FOLD * patch.len() as f64 {
                for v in patch {
                    (felt[v].passes, felt[v].has_sunk) = (false, false);
                }
            }
        }
    }

    fn is_stranger(&self, v: usize, triangle: u32) -> bool {
        self.rest_distance(v, triangle) > self.config.strange
    }

    /// Whether a vertex that is inside something is so all the way to a triangle. What is
    /// in its own part only, as between toes, is not in a stranger that passes by.
    fn is_in(&self, x: &[DVec3], v: usize, triangle: u32, all: Bounds) -> bool {
        let way = -point_triangle(x[v], self.corners(x, triangle)).offset;
        // To just before it.
        let share = |k| (1.0 - NEARLY) * f64::from(k) / f64::from(ON_THE_WAY);
        (1..=ON_THE_WAY).all(|k| self.boxes.winding(x, x[v] + way * share(k), all) >= 1)
    }

    /// Whether the body is no thicker at a vertex than at a triangle.
    fn is_no_thicker(&self, v: usize, triangle: u32) -> bool {
        let corners = self.boxes.triangles()[triangle as usize];
        corners
            .iter()
            .any(|c| self.most[v] <= self.most[*c as usize])
    }

    /// How deep a vertex is in a stranger when it has sunk into it [m].
    fn sunk(&self, v: usize, triangle: u32) -> f64 {
        let corners = self.boxes.triangles()[triangle as usize];
        let other = corners.map(|c| self.most[c as usize]);
        let thinner = self.most[v].min(other.into_iter().fold(0.0, f64::max)) / SQUEEZE;
        match thinner < self.config.thick {
            true => SUNK,
            false => SUNK_SHARE * thinner,
        }
    }

    /// How far a vertex and a triangle are apart at rest [m].
    fn rest_distance(&self, v: usize, triangle: u32) -> f64 {
        let corners = self.corners(&self.rest, triangle);
        point_triangle(self.rest[v], corners).distance()
    }

    /// The outward normal of a vertex, by the areas around it.
    fn normal(&self, x: &[DVec3], v: usize) -> DVec3 {
        let faces = self.around.of(v).map(|(t, _)| {
            let [a, b, c] = self.corners(x, t as u32);
            (b - a).cross(c - a)
        });
        faces.sum::<DVec3>().normalize_or_zero()
    }

    fn corners(&self, x: &[DVec3], t: u32) -> [DVec3; 3] {
        self.boxes.triangles()[t as usize].map(|v| x[v as usize])
    }

    /// Whether a vertex is inside another part.
    fn is_inside(&self, x: &[DVec3], v: usize, normal: DVec3, all: Bounds) -> bool {
        self.boxes.winding(x, x[v] + normal * ABOVE, all) >= 1
    }

    /// How far from a vertex the surface is that faces the other way, and with
    /// which triangle; those at the vertex don't count.
    fn facing(&self, x: &[DVec3], v: usize, normal: DVec3, reach: f64) -> Option<(f64, u32)> {
        let p = x[v];
        let distance_sq = |t: u32| {
            if self.boxes.triangles()[t as usize].contains(&(v as u32)) {
                return f64::INFINITY;
            }
            let [a, b, c] = self.corners(x, t);
            if (b - a).cross(c - a).dot(normal) >= 0.0 {
                return f64::INFINITY;
            }
            let distance = point_triangle(p, [a, b, c]).distance();
            match distance < NEARER * self.rest_distance(v, t) {
                true => distance * distance,
                false => f64::INFINITY,
            }
        };
        let nearest = self.boxes.nearest_face(p, reach, distance_sq)?;
        Some((distance_sq(nearest).sqrt(), nearest))
    }

    /// How far a vertex is from where a ray inwards leaves the body first [m],
    /// if that is within `reach`.
    fn thickness(&self, x: &[DVec3], v: usize, reach: f64) -> Option<f64> {
        let (p, way) = (x[v], -self.normal(x, v));
        let mut first: Option<f64> = None;
        let bounds = Bounds::of_point(p).with(p + way * reach);
        self.boxes.visit_faces(bounds, 0.0, |t| {
            if self.boxes.triangles()[t as usize].contains(&(v as u32)) {
                return;
            }
            let distance = leaves(p, way, self.corners(x, t));
            if let Some(distance) = distance.filter(|d| *d <= reach) {
                first = Some(first.map_or(distance, |f| f.min(distance)));
            }
        });
        first
    }

    /// Moves the vertices of a body back along their normals, by what `back`
    /// [m] says.
    ///
    /// # Panics
    /// When lengths differ from the number of vertices.
    pub fn give_way(&self, positions: &mut [DVec3], back: &[f64]) {
        assert_eq!(positions.len(), self.most.len(), "one position a vertex");
        let moved: Vec<usize> = (0..positions.len()).filter(|v| back[*v] > 0.0).collect();
        let mut normals: Vec<DVec3> = (0..positions.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|v| self.normal(positions, v))
            .collect();
        for _ in 0..SMOOTHING {
            let smooth: Vec<DVec3> = moved
                .iter()
                .map(|v| 0.5 * (normals[*v] + self.mean_around(&normals, *v)))
                .collect();
            for (v, normal) in moved.iter().zip(smooth) {
                normals[*v] = normal;
            }
        }
        for v in &moved {
            positions[*v] -= normals[*v] * back[*v];
        }
        for _ in 0..FAIRING {
            let faired: Vec<DVec3> = moved
                .iter()
                .map(|v| {
                    let much = ((back[*v] - SEEN) / FOLDED).clamp(0.0, 1.0);
                    positions[*v].lerp(self.mean_around(positions, *v), 0.5 * much)
                })
                .collect();
            for (v, p) in moved.iter().zip(faired) {
                positions[*v] = p;
            }
        }
    }

    /// The mean of the vertices next to one.
    fn mean_around(&self, x: &[DVec3], v: usize) -> DVec3 {
        let (mut sum, mut n) = (DVec3::ZERO, 0.0);
        for (t, corner) in self.around.of(v) {
            // Each neighbour is in two triangles.
            let corners = self.corners(x, t as u32);
            sum += corners[(corner + 1) % 3] + corners[(corner + 2) % 3];
            n += 2.0;
        }
        sum / n
    }
}

/// How far a ray goes until it leaves through a triangle.
fn leaves(p: DVec3, way: DVec3, [a, b, c]: [DVec3; 3]) -> Option<f64> {
    /// Edges belong to both triangles.
    const EDGE: f64 = 1e-9;
    let normal = (b - a).cross(c - a);
    let slope = normal.dot(way);
    if slope <= 0.0 {
        return None;
    }
    let distance = normal.dot(a - p) / slope;
    if distance < 0.0 {
        return None;
    }
    let q = p + way * distance;
    let area = normal.length_squared();
    let is_in = [(a, b), (b, c), (c, a)]
        .iter()
        .all(|(s, e)| (*e - *s).cross(q - *s).dot(normal) >= -EDGE * area);
    is_in.then_some(distance)
}
