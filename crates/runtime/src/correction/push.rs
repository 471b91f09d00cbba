//! The pushes of a round: of vertices, of middles, of what is nearest to the skin.

use glam::Vec3;

use super::skin::Contact;
use super::walk::{distance_to_triangle, walk};
use super::{CollisionCorrection, CorrectionState};

/// Middles are looked at where a limb of this radius [m] that touches the cloth there
/// could be as far from the nearest corner: it bulges by w² / 2r over the way w to a
/// corner, 8 mm between the ends of an edge of 5 cm. What is thinner is found from its
/// own vertices.
const LIMB: f32 = 0.04;
/// A vertex that has moved by less than this since the tree was asked is looked for
/// among the triangles around alone [m]: what it could have come into since is no
/// deeper than the bar.
const STILL: f32 = 2e-3;
/// Skin on the side that cloth faces is looked for so many times as far as the nearest:
/// through a thigh that is lifted. Twice as far throws straps over a neck.
const THROUGH: f32 = 1.5;
/// A push that has spread to less than this is none [m].
const NOTHING: f32 = 2e-5;

impl CollisionCorrection {
    /// Pushes every vertex that is too deep, and says whether any was.
    pub(super) fn push_vertices(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> bool {
        let (margin, farthest) = (self.config.margin, self.config.farthest);
        let mut is_any = false;
        for (v, p) in cloth.iter_mut().enumerate() {
            if !core::mem::take(&mut state.is_loose[v]) {
                continue;
            }
            let normal = state.normals[v];
            let (distance, contact) = self.look(state, skin, (*p, normal), v);
            state.distances[v] = distance;
            let Some(contact) = contact.filter(|c| c.distance < margin) else {
                continue;
            };
            let to = contact.point + margin * contact.outside;
            if to.distance_squared(state.before[v]) <= farthest * farthest {
                *p = to;
                state.distances[v] = margin;
                state.is_pushed[v] = true;
                state.is_new[v] = true;
                state.is_elsewhere[v] = true;
                is_any = true;
            }
        }
        is_any
    }

    /// Pushes middles of edges and centres of faces by their corners.
    pub(super) fn push_middles(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> bool {
        let mut is_any = false;
        for (e, ends) in self.edges.iter().enumerate() {
            is_any |= self.push_middle(state, skin, cloth, ends, self.n_vertices + e);
        }
        for (f, corners) in self.garment.triangles().iter().enumerate() {
            let point = self.n_vertices + self.edges.len() + f;
            is_any |= self.push_middle(state, skin, cloth, corners, point);
        }
        state.is_new.copy_from_slice(&state.is_loose);
        is_any
    }

    fn push_middle(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
        corners: &[u32],
        point: usize,
    ) -> bool {
        if corners.iter().all(|v| !state.is_new[*v as usize]) {
            return false;
        }
        let margin = self.config.margin;
        let at = |v: &u32| cloth[*v as usize];
        let p = corners.iter().map(at).sum::<Vec3>() / corners.len() as f32;
        // The skin is no nearer than from a corner, less the way to it.
        let (mut free, mut nearest, mut farthest) = (f32::NEG_INFINITY, f32::INFINITY, 0.0f32);
        for v in corners {
            let distance = state.distances[*v as usize];
            let way = at(v).distance(p);
            free = free.max(distance - way);
            nearest = nearest.min(distance);
            farthest = farthest.max(way);
        }
        let bulge = farthest * farthest / (2.0 * LIMB);
        if free >= margin || nearest > bulge + margin {
            return false;
        }
        let normal = corners.iter().map(|v| state.normals[*v as usize]).sum();
        let contact = self.look_between(state, skin, (p, normal), corners, point);
        let Some(contact) = contact.filter(|c| c.distance < margin) else {
            return false;
        };
        // Equal weights w = 1/n: w / Σ w² = 1.
        let push = contact.point + margin * contact.outside - p;
        let mut is_any = false;
        for v in corners {
            is_any |= state.push(cloth, *v, push, self.config.farthest);
        }
        is_any
    }

    /// Pushes the places of the garment that are nearest to vertices of the body:
    /// a finger is thinner than the faces it pokes through.
    pub(super) fn push_off_all_skin(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> bool {
        state.cloth_tree.refit(cloth);
        state.is_elsewhere.fill(false);
        let mut is_any = false;
        for patch in self.skin.patches() {
            let points = patch.iter().map(|v| skin[*v as usize]);
            let (low, high) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| {
                (l.min(p), h.max(p))
            });
            if !(state.cloth_tree).is_near_box(low, high, self.config.skin_reach) {
                continue;
            }
            for v in patch {
                is_any |= self.push_off(state, skin, cloth, *v as usize);
            }
        }
        is_any
    }

    /// The same for vertices next to cloth that has moved since.
    pub(super) fn push_off_moved_skin(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> bool {
        if !state.is_elsewhere.contains(&true) {
            return false;
        }
        state.cloth_tree.refit(cloth);
        state.turn_round();
        let mut is_any = false;
        for v in 0..skin.len() {
            let face = self.garment.triangles().get(state.skin_hints[v] as usize);
            if face.is_some_and(|f| f.iter().any(|c| state.was_elsewhere[*c as usize])) {
                is_any |= self.push_off(state, skin, cloth, v);
            }
        }
        is_any
    }

    /// Pushes the place of the garment nearest to one vertex of the body.
    fn push_off(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
        v: usize,
    ) -> bool {
        let b = skin[v];
        let mut reach = self.config.skin_reach;
        if state.skin_hints[v] != u32::MAX {
            // On the side of the cloth next to it that it is on at rest, it is
            // where it should be.
            let face = self.cloth_walk(cloth, b, state.skin_hints[v]);
            state.skin_hints[v] = face;
            let [x, y, z] = self.garment.triangles()[face as usize].map(|c| cloth[c as usize]);
            if ((b - x).dot((y - x).cross(z - x)) < 0.0) == self.skin.is_behind[v] {
                return false;
            }
            let nearest = distance_to_triangle(b, [x, y, z]);
            reach = reach.min(1.001 * nearest + 1e-6);
        }
        let Some(near) = state.cloth_tree.closest_point(b, cloth, reach) else {
            return false;
        };
        state.skin_hints[v] = near.triangle;
        // The tree is that of before this pass; its places are still good.
        let corners = self.garment.triangles()[near.triangle as usize];
        let parts = corners.into_iter().zip(near.barycentric);
        let p: Vec3 = parts.clone().map(|(c, w)| cloth[c as usize] * w).sum();
        let hint = self.skin.triangle_at(v);
        let reach = 1.001 * b.distance(p) + 1e-6;
        let contact = self.skin.contact(&state.tree, skin, p, hint, reach);
        let normal = corners.map(|c| state.normals[c as usize]).iter().sum();
        let contact = contact.map(|c| self.turned(state, skin, (p, normal), c));
        let Some(contact) = contact.filter(|c| c.distance < 0.0) else {
            return false;
        };
        let push = contact.point + self.config.margin * contact.outside - p;
        let square: f32 = near.barycentric.iter().map(|w| w * w).sum();
        let mut is_any = false;
        for (corner, w) in parts {
            let way = push * (w / square);
            is_any |= w > 0.0 && state.push(cloth, corner, way, self.config.farthest);
        }
        is_any
    }

    /// Vertices that were not pushed go along with those around them, by less
    /// the farther away they are.
    pub(super) fn spread(&self, state: &mut CorrectionState, cloth: &mut [Vec3]) {
        for (v, p) in cloth.iter().enumerate() {
            state.scratch[v] = *p - state.before[v];
        }
        for _ in 0..self.config.spread {
            for (v, p) in cloth.iter_mut().enumerate() {
                let around = self.around.of(v);
                if state.is_pushed[v] || around.is_empty() {
                    continue;
                }
                let sum: Vec3 = around.iter().map(|n| state.scratch[*n as usize]).sum();
                let own = state.scratch[v];
                let way = own.lerp(sum / around.len() as f32, 0.5);
                if way.length_squared() > NOTHING * NOTHING {
                    *p = state.before[v] + way;
                    state.is_new[v] = true;
                    state.is_loose[v] = true;
                    state.is_elsewhere[v] = true;
                }
            }
            for (v, p) in cloth.iter().enumerate() {
                state.scratch[v] = *p - state.before[v];
            }
        }
    }

    /// How far a vertex is from the skin [m], negative inside; and the nearest place
    /// of the skin where that is near.
    fn look(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        (p, normal): (Vec3, Vec3),
        v: usize,
    ) -> (f32, Option<Contact>) {
        let reach = self.config.reach;
        let least = state.least(v, p);
        if least >= self.config.margin {
            return (least, None);
        }
        let mut hint = state.hints[v];
        let is_known = (hint as usize) < self.skin.triangles.len();
        if is_known {
            hint = self.skin.walk(skin, p, hint);
            state.hints[v] = hint;
        }
        let is_still = p.distance_squared(state.asked[v]) < STILL * STILL;
        let margin = self.config.margin;
        let local = match is_known && is_still {
            true => self.skin.contact_with(skin, p, hint, reach),
            false => None,
        };
        // What is pushed is pushed from the nearest of all.
        let contact = local.filter(|c| c.distance >= margin).or_else(|| {
            state.asked[v] = p;
            self.skin.contact(&state.tree, skin, p, hint, reach)
        });
        let found = match contact {
            Some(contact) => {
                state.hints[v] = contact.triangle;
                let contact = self.turned(state, skin, (p, normal), contact);
                (contact.distance, Some(contact))
            }
            None => (reach, None),
        };
        state.looked[v] = (p, found.0);
        found
    }

    /// The nearest place of the skin to a middle. The tree is always asked: a walk alone
    /// may end at another part of the body than the nearest.
    fn look_between(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        (p, normal): (Vec3, Vec3),
        corners: &[u32],
        point: usize,
    ) -> Option<Contact> {
        let reach = self.config.reach;
        if state.least(point, p) >= self.config.margin {
            return None;
        }
        let is_known = |t: u32| (t as usize) < self.skin.triangles.len();
        let mut hint = state.hints[point];
        if !is_known(hint) {
            hint = state.hints[corners[0] as usize];
        }
        if is_known(hint) {
            hint = self.skin.walk(skin, p, hint);
        }
        let contact = self.skin.contact(&state.tree, skin, p, hint, reach);
        let contact = contact.map(|contact| {
            hint = contact.triangle;
            self.turned(state, skin, (p, normal), contact)
        });
        state.hints[point] = hint;
        state.looked[point] = (p, contact.as_ref().map_or(reach, |c| c.distance));
        contact
    }

    fn turned(
        &self,
        state: &CorrectionState,
        skin: &[Vec3],
        (p, normal): (Vec3, Vec3),
        contact: Contact,
    ) -> Contact {
        if state.is_late {
            return contact;
        }
        let reach = THROUGH * self.config.reach;
        self.skin
            .turned(&state.tree, skin, (p, normal), contact, reach)
    }

    /// From a face of the garment to the nearest of its neighbours, and on: where
    /// that ends.
    fn cloth_walk(&self, cloth: &[Vec3], p: Vec3, start: u32) -> u32 {
        let faces = (self.garment.triangles(), self.cloth_across.as_slice());
        walk(faces, cloth, p, start)
    }
}
