//! The last look at what was pushed: places that are still inside are lifted one by
//! one, and a lift counts only if nothing around it is deeper for it.
//!
//! Rounds of pushes do not come to rest where an arm nearly touches the chest: what
//! leaves the one enters the other. Here one face is moved at a time, and the deepest of
//! all places on the faces around it is looked at before and after.

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

/// The deepest place of a face.
struct DeepPlace {
    depth: f32,
    barycentric: [f32; 3],
    /// From there to the skin [m].
    way: Vec3,
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
        let around = self.around_deepest(state, skin, cloth, (corners, f32::INFINITY));
        let mut best = (around - GAIN, before);
        let square: f32 = deep.barycentric.iter().map(|w| w * w).sum();
        let least = deep.barycentric.map(|w| w / square);
        let trials = [least, [1.0; 3]].into_iter();
        for (weights, part) in trials.flat_map(|w| PARTS.map(|part| (w, part))) {
            for k in 0..3 {
                cloth[corners[k] as usize] = before[k] + deep.way * (part * weights[k]);
            }
            let depth = self.around_deepest(state, skin, cloth, (corners, best.0));
            if depth < best.0 {
                best = (depth, corners.map(|v| cloth[v as usize]));
            }
            if depth < DEEP {
                break;
            }
        }
        let farthest = FARTHER * self.config.farthest;
        let is_far = |k: usize| {
            let way = best.1[k].distance_squared(state.before[corners[k] as usize]);
            way > farthest * farthest
        };
        let is_better = best.1 != before && !(0..3).any(is_far);
        for k in 0..3 {
            cloth[corners[k] as usize] = if is_better { best.1[k] } else { before[k] };
            state.is_pushed[corners[k] as usize] |= is_better;
        }
        is_better
    }

    /// How deep the deepest place is of all faces around some vertices [m], or one that
    /// is deeper than `enough` [m].
    fn around_deepest(
        &self,
        state: &CorrectionState,
        skin: &[Vec3],
        cloth: &[Vec3],
        (corners, enough): ([u32; 3], f32),
    ) -> f32 {
        let mut deepest = 0.0f32;
        for (k, v) in corners.iter().enumerate() {
            for face in self.faces.of(*v as usize) {
                let ids = self.garment.triangles()[*face as usize];
                // Those of several corners are asked once.
                if corners[..k].iter().any(|other| ids.contains(other)) {
                    continue;
                }
                if let Some(deep) = self.deepest(state, skin, cloth, *face) {
                    deepest = deepest.max(deep.depth);
                }
                if deepest > enough {
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
