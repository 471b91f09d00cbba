//! The last look at what was pushed: places that are still inside are lifted, and what
//! is around them is looked at before and after.
//!
//! Rounds of pushes do not come to rest where an arm nearly touches the chest: what
//! leaves the one enters the other. Here a face is moved by itself, and that counts if the
//! deepest of all places on the faces around is less deep for it. Where no face by itself
//! does that, up to [`CHAIN`] are moved in turn, and that counts if all places on the faces
//! around them are less deep than the first place was; some of them may be deeper than they
//! were.

use drapery_core::closest_point_on;
use glam::Vec3;

use super::skin::Contact;
use super::{CollisionCorrection, CorrectionState};

/// What is less deep stays [m].
const DEEP: f32 = 1.2e-3;
/// A lift ends so far outside [m], or would it by parts of the way.
const ABOVE: f32 = 3e-4;
const PARTS: [f32; 3] = [1.0, 0.6, 0.3];
/// A lift has to better the deepest place around it by this [m].
const GAIN: f32 = 5e-5;
/// Vertices may go so much farther than by pushes, as a share: what was pushed as far as
/// it may go is still inside.
const FARTHER: f32 = 1.25;
/// How often all faces are looked at.
const PASSES: u32 = 4;
/// Places of a face that are always asked: corners, middles of sides, the centre.
const PLACES: [[f32; 3]; 7] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.5, 0.5, 0.0],
    [0.0, 0.5, 0.5],
    [0.5, 0.0, 0.5],
    [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
];

/// So many lifts in turn count as one.
const CHAIN: usize = 8;

/// The deepest place of a face.
#[derive(Clone, Copy, Debug)]
struct DeepPlace {
    depth: f32,
    barycentric: [f32; 3],
    /// From there to the skin [m].
    way: Vec3,
}

impl DeepPlace {
    /// By how much of its way each corner goes, so that the place goes all of it and they
    /// the least.
    fn weights(&self) -> [f32; 3] {
        let square: f32 = self.barycentric.iter().map(|w| w * w).sum();
        self.barycentric.map(|w| w / square)
    }
}

/// How deep a place is [m]; 0 if there is none.
fn depth_of(place: Option<&(u32, DeepPlace)>) -> f32 {
    place.map_or(0.0, |(_, place)| place.depth)
}

impl CollisionCorrection {
    /// Lifts what is still inside of the faces that were pushed.
    pub(super) fn finish(&self, state: &mut CorrectionState, skin: &[Vec3], cloth: &mut [Vec3]) {
        for _ in 0..PASSES {
            let mut is_any = false;
            for face in 0..self.garment.triangles().len() as u32 {
                let corners = self.garment.triangles()[face as usize];
                if corners.iter().any(|v| state.is_pushed[*v as usize]) {
                    is_any |= self.lift(state, skin, cloth, face);
                }
            }
            if !is_any {
                break;
            }
        }
    }

    /// Lifts the deepest place of a face, and says whether that helped.
    fn lift(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
        face: u32,
    ) -> bool {
        let Some(deep) = self.deepest(state, skin, cloth, face) else {
            return false;
        };
        if deep.depth < DEEP {
            return false;
        }
        let corners = self.garment.triangles()[face as usize];
        let before = corners.map(|v| cloth[v as usize]);
        let around = self.deepest_around(state, skin, cloth, (&corners, f32::INFINITY));
        let mut best = (depth_of(around.as_ref()) - GAIN, before);
        for (weights, part) in [deep.weights(), [1.0; 3]]
            .into_iter()
            .flat_map(|w| PARTS.map(|part| (w, part)))
        {
            for k in 0..3 {
                cloth[corners[k] as usize] = before[k] + deep.way * (part * weights[k]);
            }
            let around = self.deepest_around(state, skin, cloth, (&corners, best.0));
            let depth = depth_of(around.as_ref());
            if depth < best.0 {
                best = (depth, corners.map(|v| cloth[v as usize]));
            }
            if depth < DEEP {
                break;
            }
        }
        let is_far = |k: usize| self.is_far(state, corners[k], best.1[k]);
        let is_better = best.1 != before && !(0..3).any(is_far);
        for k in 0..3 {
            cloth[corners[k] as usize] = if is_better { best.1[k] } else { before[k] };
            state.is_pushed[corners[k] as usize] |= is_better;
        }
        is_better || self.lift_in_turn(state, skin, cloth, face, &deep)
    }

    /// Lifts a place, then what that has made deepest around it, and so on, until all is
    /// less deep than the place was: between two parts of the body cloth that is lifted
    /// out of the one enters the other, and comes to rest in the gap only with what is
    /// around it. Says whether that helped; else nothing has moved.
    fn lift_in_turn(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
        face: u32,
        deep: &DeepPlace,
    ) -> bool {
        let enough = deep.depth - GAIN;
        for part in PARTS {
            let (mut moved, mut before) = ([0; 3 * CHAIN], [Vec3::ZERO; 3 * CHAIN]);
            let mut n_moved = 0;
            let mut next = Some((face, *deep));
            for _ in 0..CHAIN {
                let Some((face, place)) = next else { break };
                let weights = place.weights();
                for (k, v) in self.garment.triangles()[face as usize].iter().enumerate() {
                    if !moved[..n_moved].contains(v) {
                        (moved[n_moved], before[n_moved]) = (*v, cloth[*v as usize]);
                        n_moved += 1;
                    }
                    cloth[*v as usize] += place.way * (part * weights[k]);
                }
                next = self.deepest_around(state, skin, cloth, (&moved[..n_moved], f32::INFINITY));
                if depth_of(next.as_ref()) < enough {
                    break;
                }
            }
            let moved = &moved[..n_moved];
            let is_far = moved
                .iter()
                .any(|v| self.is_far(state, *v, cloth[*v as usize]));
            if depth_of(next.as_ref()) < enough && !is_far {
                moved
                    .iter()
                    .for_each(|v| state.is_pushed[*v as usize] = true);
                return true;
            }
            for (v, before) in moved.iter().zip(before) {
                cloth[*v as usize] = before;
            }
        }
        false
    }

    /// Whether that is farther from where a vertex was than it may go.
    fn is_far(&self, state: &CorrectionState, vertex: u32, to: Vec3) -> bool {
        let farthest = FARTHER * self.config.farthest;
        to.distance_squared(state.before[vertex as usize]) > farthest * farthest
    }

    /// The deepest place of all faces around some vertices, or one that is deeper than
    /// `enough` [m].
    fn deepest_around(
        &self,
        state: &CorrectionState,
        skin: &[Vec3],
        cloth: &[Vec3],
        (vertices, enough): (&[u32], f32),
    ) -> Option<(u32, DeepPlace)> {
        let mut deepest = None;
        for (k, v) in vertices.iter().enumerate() {
            for face in self.faces.of(*v as usize) {
                let ids = self.garment.triangles()[*face as usize];
                // Those of several of them are asked once.
                if vertices[..k].iter().any(|other| ids.contains(other)) {
                    continue;
                }
                let found = self.deepest(state, skin, cloth, *face);
                let Some(found) = found.filter(|d| d.depth > depth_of(deepest.as_ref())) else {
                    continue;
                };
                let is_enough = found.depth > enough;
                deepest = Some((*face, found));
                if is_enough {
                    return deepest;
                }
            }
        }
        deepest
    }

    /// The deepest place of a face; none if it is outside.
    fn deepest(
        &self,
        state: &CorrectionState,
        skin: &[Vec3],
        cloth: &[Vec3],
        face: u32,
    ) -> Option<DeepPlace> {
        let corners = self.garment.triangles()[face as usize];
        let [a, b, c] = corners.map(|v| cloth[v as usize]);
        let hints = corners.map(|v| state.hints[v as usize]);
        let mut deepest: Option<DeepPlace> = None;
        let mut count = |depth: f32, barycentric: [f32; 3], contact: &Contact, p: Vec3| {
            if depth > deepest.as_ref().map_or(0.0, |d| d.depth) {
                deepest = Some(DeepPlace {
                    depth,
                    barycentric,
                    way: contact.point + ABOVE * contact.outside - p,
                });
            }
        };
        let n_vertices = self.n_vertices as u32;
        let centre = n_vertices + self.edges.len() as u32 + face;
        let [ab, bc, ca] = self.sides[face as usize].map(|side| n_vertices + side);
        let points = [corners[0], corners[1], corners[2], ab, bc, ca, centre];
        for (place, barycentric) in PLACES.into_iter().enumerate() {
            let [u, v, w] = barycentric;
            let p = a * u + b * v + c * w;
            // Since it was last looked at it can't have become deep.
            if state.least(points[place] as usize, p) > -DEEP {
                continue;
            }
            let hint = hints[place % 3];
            if let Some(found) = self
                .skin
                .contact(&state.tree, skin, p, hint, self.config.reach)
            {
                count(-found.distance, barycentric, &found, p);
            }
        }
        let reach = self.config.skin_reach;
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let room = Vec3::splat(reach);
        let normal = (b - a).cross(c - a);
        state.grid.visit(low - room, high + room, |own, v| {
            let height = (own - a).dot(normal);
            let is_facing_it = height * normal.dot(state.facing[v]) <= 0.0;
            if (height < 0.0) == self.skin.is_behind[v] || is_facing_it {
                return;
            }
            let near = closest_point_on(own, (face, corners), cloth);
            let is_behind = (near.point - own).dot(state.facing[v]) < 0.0;
            if near.distance > reach || near.distance < DEEP || !is_behind {
                return;
            }
            let hint = self.skin.triangle_at(v);
            let within = 1.001 * near.distance + 1e-6;
            if let Some(found) = self
                .skin
                .contact(&state.tree, skin, near.point, hint, within)
            {
                let depth = near.distance.min(-found.distance);
                count(depth, near.barycentric, &found, near.point);
            }
        });
        deepest
    }
}
