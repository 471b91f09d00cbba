//! The pushes of a round: of vertices, of middles, of what is nearest to the skin.

use drapery_core::closest_point_on;
use glam::Vec3;

use super::skin::{Contact, Side};
use super::walk::distance_to_triangle;
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
/// Around a vertex that is farther from the skin next to it other parts of the body are
/// looked for within this [m]: a hand, or the other leg. One that came farther in within
/// a frame is found by what is around.
const NEAR: f32 = 0.035;
/// What is nearer to skin that it is outside of can't be deeper in other skin that is
/// nearer still [m]; below the bar of 2 mm.
const SLIGHT: f32 = 1.5e-3;
/// How far beside a face vertices of the body are looked for [m].
const BESIDE: f32 = 1e-2;
/// A face is looked at again when a corner has moved by this [m]; what it could have
/// come into since is less deep than what is lifted in the end.
const STIRRED: f32 = 3e-4;
/// The corners of a triangle are within this share of its longest side from any point
/// of it: 1/√3, for three equal sides.
const COVER: f32 = 0.578;
/// Skin on the side where cloth belongs is looked for so many times as far as the
/// nearest: through a thigh that is lifted.
const THROUGH: f32 = 2.0;

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
            let (distance, contact) = self.look(state, skin, *p, v);
            state.distances[v] = distance;
            let Some(contact) = contact.filter(|c| c.distance < state.touch) else {
                continue;
            };
            if state.is_squeezed(&[v as u32], contact.outside) {
                continue;
            }
            let to = contact.point + margin * contact.outside;
            if to.distance_squared(state.before[v]) <= farthest * farthest {
                *p = to;
                state.distances[v] = margin;
                state.is_pushed[v] = true;
                state.is_new[v] = true;
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
        if free >= state.touch || nearest > bulge + margin {
            return false;
        }
        let contact = self.look_between(state, skin, p, corners, point);
        let Some(contact) = contact.filter(|c| c.distance < state.touch) else {
            return false;
        };
        if state.is_squeezed(corners, contact.outside) {
            return false;
        }
        // Equal weights w = 1/n: w / Σ w² = 1.
        let push = contact.point + margin * contact.outside - p;
        let mut is_any = false;
        for v in corners {
            is_any |= state.push(cloth, *v, push, self.config.farthest);
        }
        is_any
    }

    /// Pushes the places of the garment that are nearest to vertices of the body on its
    /// wrong side: a finger is thinner than the faces it pokes through.
    pub(super) fn push_off_skin(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> bool {
        let mut is_any = false;
        for (v, p) in cloth.iter().enumerate() {
            let is_elsewhere = p.distance_squared(state.seen[v]) > STIRRED * STIRRED;
            state.is_elsewhere[v] = is_elsewhere;
            if is_elsewhere {
                state.seen[v] = *p;
            }
        }
        for face in 0..self.garment.triangles().len() {
            let corners = self.garment.triangles()[face];
            if corners.iter().any(|v| state.is_elsewhere[*v as usize]) {
                is_any |= self.push_face(state, skin, cloth, face as u32);
            }
        }
        is_any
    }

    /// Pushes one face off the vertices of the body that are on its wrong side.
    fn push_face(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
        face: u32,
    ) -> bool {
        let corners = self.garment.triangles()[face as usize];
        let places = corners.map(|v| cloth[v as usize]);
        let [a, b, c] = places;
        // No point of it is farther from the nearest corner than this.
        let longest_sq = (a.distance_squared(b))
            .max(b.distance_squared(c))
            .max(c.distance_squared(a));
        let cover = COVER * libm::sqrtf(longest_sq);
        if corners
            .iter()
            .all(|v| state.distances[*v as usize] >= cover)
        {
            return false;
        }
        let Some(normal) = (b - a).cross(c - a).try_normalize() else {
            return false;
        };
        let reach = self.config.skin_reach;
        // What is beyond a side of it is above another face, but for a little.
        let room = reach * normal.abs() + Vec3::splat(BESIDE);
        let low = a.min(b).min(c) - room;
        let high = a.max(b).max(c) + room;
        let mut is_any = false;
        // The pushes of one vertex hardly move the face for the next.
        let grid = core::mem::take(&mut state.grid);
        grid.visit(low, high, |p, v| {
            let height = (p - a).dot(normal);
            if (height < 0.0) == self.skin.is_behind[v] || height.abs() > reach {
                return;
            }
            // Skin that faces the cloth does not poke through it.
            if height * normal.dot(state.facing[v]) <= 0.0 {
                return;
            }
            let near = closest_point_on(p, (face, corners), cloth);
            // Cloth before the skin there is not in it.
            let is_behind = (near.point - p).dot(state.facing[v]) < 0.0;
            if near.distance <= reach && is_behind {
                is_any |= self.push_place(state, skin, cloth, (corners, near.barycentric), v);
            }
        });
        state.grid = grid;
        is_any
    }

    /// Pushes a place of a face that a vertex of the body is next to.
    fn push_place(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
        (corners, barycentric): ([u32; 3], [f32; 3]),
        v: usize,
    ) -> bool {
        let parts = corners.into_iter().zip(barycentric);
        let p: Vec3 = parts.clone().map(|(c, w)| cloth[c as usize] * w).sum();
        let hint = self.skin.triangle_at(v);
        let reach = 1.001 * skin[v].distance(p) + 1e-6;
        let contact = self.skin.contact(&state.tree, skin, p, hint, reach);
        let contact = contact.filter(|c| c.distance < 0.0);
        let contact = contact.and_then(|c| self.way_out(state, skin, p, &corners, c));
        let Some(contact) = contact else {
            return false;
        };
        if state.is_squeezed(&corners, contact.outside) {
            return false;
        }
        let push = contact.point + self.config.margin * contact.outside - p;
        let square: f32 = barycentric.iter().map(|w| w * w).sum();
        let mut is_any = false;
        for (corner, w) in parts {
            let way = push * (w / square);
            is_any |= w > 0.0 && state.push(cloth, corner, way, self.config.farthest);
        }
        is_any
    }

    /// How far a vertex is from the skin [m], negative inside; and the nearest place
    /// of the skin where that is near.
    fn look(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        p: Vec3,
        v: usize,
    ) -> (f32, Option<Contact>) {
        let reach = self.config.reach;
        let least = state.least(v, p);
        if least >= state.touch {
            return (least, None);
        }
        let mut hint = state.hints[v];
        let is_known = (hint as usize) < self.skin.triangles.len();
        if is_known {
            hint = self.skin.walk(skin, p, hint);
            state.hints[v] = hint;
        }
        let is_still = p.distance_squared(state.asked[v]) < STILL * STILL;
        let local = match is_known && is_still {
            true => self.skin.contact_with(skin, p, hint, reach),
            false => None,
        };
        let mut beyond = reach;
        // What is pushed is pushed from the nearest of all.
        let contact = local.filter(|c| c.distance >= state.touch).or_else(|| {
            state.asked[v] = p;
            let local = self.skin.contact_with(skin, p, hint, reach);
            // Beyond what is next to it nothing near may have come.
            let near = match local.as_ref().is_some_and(|c| c.distance > NEAR) {
                true => NEAR,
                false => reach,
            };
            let found = self.skin.contact(&state.tree, skin, p, hint, near);
            if found.is_none() {
                beyond = near;
            }
            found
        });
        let found = match contact {
            Some(contact) => {
                state.hints[v] = contact.triangle;
                let distance = contact.distance;
                let contact = self.way_out(state, skin, p, &[v as u32], contact);
                (distance, contact)
            }
            None => (beyond, None),
        };
        state.looked[v] = (p, found.0);
        found
    }

    /// The nearest place of the skin to a middle: by a walk from the skin next to its
    /// corners, then from the tree, unless it is outside by so little that it can't be
    /// deep in anything else.
    fn look_between(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        p: Vec3,
        corners: &[u32],
        point: usize,
    ) -> Option<Contact> {
        let reach = self.config.reach;
        if state.least(point, p) >= state.touch {
            return None;
        }
        let (mut nearest, mut hint) = (f32::INFINITY, u32::MAX);
        for corner in corners {
            let start = state.hints[*corner as usize];
            if let Some(ids) = self.skin.triangles.get(start as usize) {
                let distance = distance_to_triangle(p, ids.map(|v| skin[v as usize]));
                if distance < nearest {
                    (nearest, hint) = (distance, start);
                }
            }
        }
        if hint != u32::MAX {
            hint = self.skin.walk(skin, p, hint);
        }
        let mut contact = match (hint as usize) < self.skin.triangles.len() {
            true => self.skin.contact_with(skin, p, hint, reach),
            false => None,
        };
        // Another part that the point is in is nearer than what it is outside of.
        let near = match &contact {
            Some(c) if c.distance > NEAR => NEAR,
            _ => reach,
        };
        let is_clear = |c: &Contact| c.distance >= state.touch && c.distance < SLIGHT;
        if !contact.as_ref().is_some_and(is_clear) {
            let found = self.skin.contact(&state.tree, skin, p, hint, near);
            contact = found.or(contact);
        }
        state.looked[point] = (p, contact.as_ref().map_or(reach, |c| c.distance));
        contact.and_then(|contact| self.way_out(state, skin, p, corners, contact))
    }

    /// Where a point between those corners goes that has such a contact; nowhere for
    /// now if that is not clear.
    fn way_out(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        p: Vec3,
        corners: &[u32],
        contact: Contact,
    ) -> Option<Contact> {
        if state.is_late || contact.distance >= 0.0 {
            return Some(contact);
        }
        let sum = |all: &[Vec3]| corners.iter().map(|v| all[*v as usize]).sum::<Vec3>();
        let side = Side {
            facing: sum(&self.worn.facing).normalize_or_zero(),
            outward: sum(&state.outward).normalize_or_zero(),
        };
        let reach = THROUGH * self.config.reach;
        let found = (self.skin).way_out(&state.tree, skin, (p, &side), contact, reach);
        if found.is_none() {
            corners.iter().for_each(|v| state.waits[*v as usize] = true);
        }
        found
    }
}
