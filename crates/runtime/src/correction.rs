//! Collision correction: what a method left inside the body is pushed out, for
//! all methods alike.
//!
//! ```text
//! s(p) = signed distance of p from the skin, negative inside
//! Δp   = c + m n − p                         where s(p) < m
//! Δxᵢ  = wᵢ / Σⱼ wⱼ² Δp                      for p = Σ wᵢ xᵢ
//! ```
//!
//! | symbol | here                         | meaning                               |
//! |--------|------------------------------|---------------------------------------|
//! | p      | vertices, middles of edges, centres of faces of the garment, and the places of it that are nearest to vertices of the body | what must be outside |
//! | c, n   | [`TriangleTree`], `outside`  | nearest place of the skin, and its outer normal |
//! | m      | [`CorrectionConfig::margin`] | how far outside                       |
//!
//! Where p is deep, the nearest skin may be that of the far side of a leg. Then c is
//! the nearest skin that faces the way that the cloth does: a leg that went
//! through the front of a skirt is behind it again, and not half in front of it.
//! That holds for what the garment is worn over. An arm beside a dress is on its
//! outer side, and cloth in it goes back to where it came from, against the way
//! that it faces. Which is which follows from the garment at rest: skin behind the
//! cloth next to it is under it.
//!
//! After the first round the way that vertices were pushed is spread to those
//! around them that were not, so that no spikes appear; more rounds follow, of
//! what has moved since, the last of vertices alone. The trees of body and
//! garment are refitted, never rebuilt.
//!
//! From the triangle that was nearest to a point last time one walks to the
//! nearest of its neighbours, and on. Where that ends is nearly always the nearest
//! of all; the tree is asked only for what is nearer still, which is soon done. A
//! walk alone would not do: a hand may have come between cloth and thigh.
//!
//! # What it does not do
//! It does not look at the garment itself or at other garments. Where the body
//! enters itself there is no right place, and what is pushed out of one part may
//! end up in another. Deeper than [`CorrectionConfig::reach`] nothing is found, and
//! nothing is moved farther than that: between a hand and a thigh that overlap
//! cloth would be thrown from one to the other, a few centimetres a round.

mod corrected;
#[cfg(test)]
mod tests;
mod walk;

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{
    AnimateError, ClosestPoint, PseudoNormals, Topology, TriangleTree, vertex_normals,
};
use glam::Vec3;

pub use corrected::{Corrected, CorrectedState};
use walk::{across, distance_to_triangle, walk};

/// Middles are looked at where a corner is nearer to the skin than this [m]. A limb
/// of 4 cm bulges by as much between the ends of an edge of 5 cm; what is thinner
/// is found from its own vertices.
const NEAR: f32 = 8e-3;
/// What is deeper goes out on the side that the cloth faces [m]: above it a crease,
/// whose normals point anywhere, would be thrown through the body...
const DEEP: f32 = 5e-3;
/// ... and on the other side of what the garment is not worn over, of which fingers
/// are thinner than that.
const DEEP_BESIDE: f32 = 2e-3;
/// A push that has spread to less than this is none [m].
const NOTHING: f32 = 2e-5;

/// How a garment is pushed out of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectionConfig {
    /// How far outside the skin cloth is to be [m].
    pub margin: f32,
    /// How far from the skin cloth is looked for, and the farthest that it is
    /// moved [m].
    pub reach: f32,
    /// How far from a vertex of the body cloth is looked for [m].
    pub skin_reach: f32,
    /// How often points are pushed, at most. After the first, only what has moved is
    /// looked at.
    pub rounds: u32,
    /// Over how many edges a push spreads.
    pub spread: u32,
}

impl CorrectionConfig {
    /// A millimetre outside, looked for within 10 cm: the thickness of a calf.
    pub const DEFAULT: Self = Self {
        margin: 1e-3,
        reach: 0.1,
        skin_reach: 0.02,
        rounds: 12,
        spread: 3,
    };
}

impl Default for CorrectionConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Pushes one garment out of bodies of one topology. Read-only, and shared by a
/// crowd.
#[derive(Clone, Debug)]
pub struct CollisionCorrection {
    config: CorrectionConfig,
    body: Vec<[u32; 3]>,
    /// The triangle across side 01, 12, 20 of each triangle, or itself.
    across: Vec<[u32; 3]>,
    cloth_across: Vec<[u32; 3]>,
    /// Whether the garment is worn over each triangle of the body, and each vertex.
    is_under: Vec<bool>,
    is_behind: Vec<bool>,
    /// The triangles around each vertex of the body.
    fans: Lists,
    tree: TriangleTree,
    n_body_vertices: usize,
    cloth_tree: TriangleTree,
    edges: Vec<[u32; 2]>,
    garment: Topology,
    around: Lists,
    n_vertices: usize,
}

/// What one garment remembers: where it was last, and room to work in.
#[derive(Clone, Debug)]
pub struct CorrectionState {
    tree: TriangleTree,
    cloth_tree: TriangleTree,
    /// The triangle nearest to each point last time.
    hints: Vec<u32>,
    /// The face of the garment that was nearest to each vertex of the body.
    skin_hints: Vec<u32>,
    /// Which of them poked through it in the round before.
    pokes: Vec<bool>,
    /// Signed distance of each vertex [m]; the reach where there is no skin.
    distances: Vec<f32>,
    /// Where each vertex was before [m], and which way it faced.
    before: Vec<Vec3>,
    normals: Vec<Vec3>,
    scratch: Vec<Vec3>,
    is_pushed: Vec<bool>,
    /// Whether it has moved since points on it were looked at, and since it was
    /// itself.
    is_new: Vec<bool>,
    is_loose: Vec<bool>,
}

/// Lists one after the other.
#[derive(Clone, Debug)]
struct Lists {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Lists {
    fn new(n: usize, pairs: &mut Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; n + 1];
        for (owner, _) in pairs.iter() {
            starts[*owner as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        Self {
            starts,
            members: pairs.iter().map(|pair| pair.1).collect(),
        }
    }

    fn of(&self, owner: usize) -> &[u32] {
        &self.members[self.starts[owner] as usize..self.starts[owner + 1] as usize]
    }
}

/// A place of the skin, seen from a point of the garment.
struct Contact {
    /// Negative inside [m].
    distance: f32,
    triangle: u32,
    point: Vec3,
    outside: Vec3,
}

impl CollisionCorrection {
    /// A correction of a garment on bodies of that topology; `skin` and `rest` [m]
    /// are the vertices of both where the one is worn by the other.
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn new(
        (body, skin): (&Topology, &[Vec3]),
        (garment, rest): (&Topology, &[Vec3]),
        config: CorrectionConfig,
    ) -> Self {
        assert_eq!(skin.len(), body.n_vertices(), "one position a vertex");
        assert_eq!(rest.len(), garment.n_vertices(), "one position a vertex");
        let mut fans = Vec::new();
        for (t, corners) in body.triangles().iter().enumerate() {
            fans.extend(corners.map(|v| (v, t as u32)));
        }
        let cloth_tree = TriangleTree::new(garment.triangles(), rest);
        let outer = PseudoNormals::new(garment.triangles(), rest);
        let behind = |b: &Vec3| {
            let near = cloth_tree.closest_point(*b, rest, f32::INFINITY);
            near.is_some_and(|near| (*b - near.point).dot(outer.at(&near)) < 0.0)
        };
        let is_behind: Vec<bool> = skin.iter().map(behind).collect();
        let most = |t: &[u32; 3]| t.iter().filter(|v| is_behind[**v as usize]).count() > 1;
        let is_under = body.triangles().iter().map(most).collect();
        let edges: Vec<[u32; 2]> = garment.edges().iter().map(|e| e.vertices).collect();
        let mut around = Vec::new();
        for [a, b] in &edges {
            around.extend([(*a, *b), (*b, *a)]);
        }
        Self {
            config,
            body: body.triangles().to_vec(),
            across: across(body.triangles()),
            cloth_across: across(garment.triangles()),
            fans: Lists::new(body.n_vertices(), &mut fans),
            tree: TriangleTree::new(body.triangles(), skin),
            n_body_vertices: body.n_vertices(),
            around: Lists::new(garment.n_vertices(), &mut around),
            cloth_tree,
            is_under,
            is_behind,
            edges,
            garment: garment.clone(),
            n_vertices: garment.n_vertices(),
        }
    }

    /// How it pushes.
    pub const fn config(&self) -> &CorrectionConfig {
        &self.config
    }

    /// The state of a garment that was nowhere yet.
    pub fn start(&self) -> CorrectionState {
        let n_points = self.n_vertices + self.edges.len() + self.garment.triangles().len();
        CorrectionState {
            tree: self.tree.clone(),
            cloth_tree: self.cloth_tree.clone(),
            hints: vec![u32::MAX; n_points],
            skin_hints: vec![u32::MAX; self.n_body_vertices],
            pokes: vec![false; self.n_body_vertices],
            distances: vec![0.0; self.n_vertices],
            before: vec![Vec3::ZERO; self.n_vertices],
            normals: vec![Vec3::Y; self.n_vertices],
            scratch: vec![Vec3::ZERO; self.n_vertices],
            is_pushed: vec![false; self.n_vertices],
            is_new: vec![false; self.n_vertices],
            is_loose: vec![false; self.n_vertices],
        }
    }

    /// Pushes the garment at `cloth` [m] out of a body with its vertices at
    /// `skin` [m], and gives the farthest that a vertex was moved [m]. Allocates
    /// nothing.
    ///
    /// # Errors
    /// When lengths differ or the state is of another garment; `cloth` is then
    /// unchanged.
    pub fn apply(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> Result<f32, AnimateError> {
        self.check(state, skin)?;
        if cloth.len() != self.n_vertices {
            return Err(AnimateError::Output {
                found: cloth.len(),
                expected: self.n_vertices,
            });
        }
        state.tree.refit(skin);
        state.before.copy_from_slice(cloth);
        vertex_normals(&self.garment, cloth, &mut state.normals);
        state.is_pushed.fill(false);
        state.is_new.fill(true);
        state.is_loose.fill(true);
        let mut is_any = self.push_vertices(state, skin, cloth);
        let mut pokes = true;
        state.pokes.fill(true);
        for round in 0..self.config.rounds {
            is_any |= self.push_middles(state, skin, cloth);
            if pokes {
                pokes = self.push_off_skin(state, skin, cloth);
                is_any |= pokes;
            }
            if !is_any {
                break;
            }
            if round == 0 {
                self.spread(state, cloth);
            }
            is_any = self.push_vertices(state, skin, cloth);
        }
        let ways = cloth.iter().zip(&state.before);
        let farthest = ways.map(|(now, before)| now.distance_squared(*before));
        Ok(libm::sqrtf(farthest.fold(0.0, f32::max)))
    }

    fn check(&self, state: &CorrectionState, skin: &[Vec3]) -> Result<(), AnimateError> {
        if skin.len() != self.n_body_vertices {
            return Err(AnimateError::Body {
                found: skin.len(),
                expected: self.n_body_vertices,
            });
        }
        if skin.iter().any(|p| !p.is_finite()) {
            return Err(AnimateError::NotFinite);
        }
        let n_points = self.n_vertices + self.edges.len() + self.garment.triangles().len();
        match state.hints.len() == n_points && state.before.len() == self.n_vertices {
            true => Ok(()),
            false => Err(AnimateError::State {
                what: "points to correct",
                found: state.hints.len(),
                expected: n_points,
            }),
        }
    }

    /// Pushes every vertex that is too deep, and says whether any was.
    fn push_vertices(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> bool {
        let mut is_any = false;
        for (v, p) in cloth.iter_mut().enumerate() {
            if !core::mem::take(&mut state.is_loose[v]) {
                continue;
            }
            let normal = state.normals[v];
            let (distance, contact) = self.look(state, skin, *p, normal, v);
            state.distances[v] = distance;
            let Some(contact) = contact.filter(|c| c.distance < self.config.margin) else {
                continue;
            };
            let to = contact.point + self.config.margin * contact.outside;
            if to.distance_squared(state.before[v]) <= self.config.reach * self.config.reach {
                *p = to;
                state.distances[v] = self.config.margin;
                state.is_pushed[v] = true;
                state.is_new[v] = true;
                is_any = true;
            }
        }
        is_any
    }

    /// Pushes middles of edges and centres of faces by their corners.
    fn push_middles(&self, state: &mut CorrectionState, skin: &[Vec3], cloth: &mut [Vec3]) -> bool {
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
        let (mut free, mut nearest) = (f32::NEG_INFINITY, f32::INFINITY);
        for v in corners {
            let distance = state.distances[*v as usize];
            free = free.max(distance - at(v).distance(p));
            nearest = nearest.min(distance);
        }
        if free >= margin || nearest > NEAR {
            return false;
        }
        let normal = corners.iter().map(|v| state.normals[*v as usize]).sum();
        let (_, contact) = self.look(state, skin, p, normal, point);
        let Some(contact) = contact.filter(|c| c.distance < margin) else {
            return false;
        };
        // Equal weights w = 1/n: w / Σ w² = 1.
        let push = contact.point + margin * contact.outside - p;
        let mut is_any = false;
        for v in corners {
            is_any |= state.push(cloth, *v, push, self.config.reach);
        }
        is_any
    }

    /// Pushes the places of the garment that are nearest to vertices of the body:
    /// a finger is thinner than the faces it pokes through.
    fn push_off_skin(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> bool {
        state.cloth_tree.refit(cloth);
        let mut is_any = false;
        for (v, b) in skin.iter().enumerate() {
            if !core::mem::take(&mut state.pokes[v]) {
                continue;
            }
            let mut reach = self.config.skin_reach;
            if state.skin_hints[v] != u32::MAX {
                // On the side of the cloth next to it that it is on at rest, it is
                // where it should be.
                let face = self.cloth_walk(cloth, *b, state.skin_hints[v]);
                state.skin_hints[v] = face;
                let [x, y, z] = self.garment.triangles()[face as usize].map(|c| cloth[c as usize]);
                if ((*b - x).dot((y - x).cross(z - x)) < 0.0) == self.is_behind[v] {
                    continue;
                }
                let nearest = distance_to_triangle(*b, [x, y, z]);
                reach = reach.min(1.001 * nearest + 1e-6);
            }
            let Some(near) = state.cloth_tree.closest_point(*b, cloth, reach) else {
                continue;
            };
            state.skin_hints[v] = near.triangle;
            // The tree is that of before this pass; its places are still good.
            let corners = self.garment.triangles()[near.triangle as usize];
            let parts = corners.into_iter().zip(near.barycentric);
            let p: Vec3 = parts.clone().map(|(c, w)| cloth[c as usize] * w).sum();
            let hint = self.fans.of(v).first().copied().unwrap_or(u32::MAX);
            let reach = 1.001 * b.distance(p) + 1e-6;
            let contact = self.contact(&state.tree, skin, p, hint, reach);
            let normal = corners.map(|c| state.normals[c as usize]).iter().sum();
            let contact = contact.map(|c| self.turned(&state.tree, skin, p, normal, c));
            let Some(contact) = contact.filter(|c| c.distance < 0.0) else {
                continue;
            };
            let push = contact.point + self.config.margin * contact.outside - p;
            let square: f32 = near.barycentric.iter().map(|w| w * w).sum();
            for (corner, w) in parts {
                if w > 0.0 && state.push(cloth, corner, push * (w / square), self.config.reach) {
                    state.pokes[v] = true;
                    is_any = true;
                }
            }
        }
        is_any
    }

    /// Vertices that were not pushed go along with those around them, by less
    /// the farther away they are.
    fn spread(&self, state: &mut CorrectionState, cloth: &mut [Vec3]) {
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
                }
            }
            for (v, p) in cloth.iter().enumerate() {
                state.scratch[v] = *p - state.before[v];
            }
        }
    }

    /// How far a point is from the skin [m], negative inside; and the nearest place
    /// of the skin where that is near.
    fn look(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        p: Vec3,
        normal: Vec3,
        point: usize,
    ) -> (f32, Option<Contact>) {
        let reach = self.config.reach;
        let mut hint = state.hints[point];
        if (hint as usize) < self.body.len() {
            hint = self.walk(skin, p, hint);
            state.hints[point] = hint;
        }
        match self.contact(&state.tree, skin, p, hint, reach) {
            Some(contact) => {
                state.hints[point] = contact.triangle;
                let contact = self.turned(&state.tree, skin, p, normal, contact);
                (contact.distance, Some(contact))
            }
            None => (reach, None),
        }
    }

    /// The contact of a point that is deep, on the side where cloth that faces along
    /// `normal` should be, if there is skin within reach.
    fn turned(
        &self,
        tree: &TriangleTree,
        skin: &[Vec3],
        p: Vec3,
        normal: Vec3,
        contact: Contact,
    ) -> Contact {
        let is_under = self.is_under[contact.triangle as usize];
        let (deep, side) = match is_under {
            true => (DEEP, normal),
            false => (DEEP_BESIDE, -normal),
        };
        if contact.distance > -deep || contact.outside.dot(side) >= 0.0 {
            return contact;
        }
        let faces = |t: u32| {
            let [a, b, c] = self.body[t as usize].map(|v| skin[v as usize]);
            self.is_under[t as usize] == is_under && (b - a).cross(c - a).dot(side) > 0.0
        };
        let facing = tree.closest_point_where(p, skin, self.config.reach, faces);
        let other = facing.and_then(|near| {
            Some(Contact {
                distance: -near.distance,
                triangle: contact.triangle,
                point: near.point,
                outside: self.outside(&near, skin).try_normalize()?,
            })
        });
        other.unwrap_or(contact)
    }

    /// From a triangle of the body to the nearest of its neighbours, and on: where
    /// that ends.
    fn walk(&self, skin: &[Vec3], p: Vec3, start: u32) -> u32 {
        walk((&self.body, &self.across), skin, p, start)
    }

    /// The same on the garment.
    fn cloth_walk(&self, cloth: &[Vec3], p: Vec3, start: u32) -> u32 {
        walk(
            (self.garment.triangles(), &self.cloth_across),
            cloth,
            p,
            start,
        )
    }

    /// The nearest place of the skin within `reach` [m].
    fn contact(
        &self,
        tree: &TriangleTree,
        skin: &[Vec3],
        p: Vec3,
        hint: u32,
        reach: f32,
    ) -> Option<Contact> {
        let bound = match self.body.get(hint as usize) {
            Some(corners) => {
                let nearest = distance_to_triangle(p, corners.map(|v| skin[v as usize]));
                reach.min(1.001 * nearest + 1e-6)
            }
            None => reach,
        };
        let near = tree.closest_point(p, skin, bound)?;
        let outside = self.outside(&near, skin).try_normalize()?;
        let is_inside = (p - near.point).dot(outside) < 0.0;
        Some(Contact {
            distance: if is_inside {
                -near.distance
            } else {
                near.distance
            },
            triangle: near.triangle,
            point: near.point,
            outside,
        })
    }

    /// The direction that is outside at a place of the skin; not of unit length,
    /// as in [`drapery_core::PseudoNormals`], but only for this place.
    fn outside(&self, near: &ClosestPoint, skin: &[Vec3]) -> Vec3 {
        let triangle = near.triangle as usize;
        let normal = |t: u32| {
            let [a, b, c] = self.body[t as usize].map(|v| skin[v as usize]);
            (b - a).cross(c - a).normalize_or_zero()
        };
        let own = || normal(near.triangle);
        let side = |side: usize| own() + normal(self.across[triangle][side]);
        match near.barycentric.map(|w| w == 0.0) {
            [false, true, true] => self.corner(triangle, 0, skin),
            [true, false, true] => self.corner(triangle, 1, skin),
            [true, true, false] => self.corner(triangle, 2, skin),
            [false, false, true] => side(0),
            [true, false, false] => side(1),
            [false, true, false] => side(2),
            _ => own(),
        }
    }

    /// The normals of the triangles around a corner, weighted by their angles.
    fn corner(&self, triangle: usize, corner: usize, skin: &[Vec3]) -> Vec3 {
        let vertex = self.body[triangle][corner];
        let mut sum = Vec3::ZERO;
        for t in self.fans.of(vertex as usize) {
            let ids = self.body[*t as usize];
            let Some(k) = ids.iter().position(|v| *v == vertex) else {
                continue;
            };
            let [a, b, c] = [0, 1, 2].map(|i| skin[ids[(k + i) % 3] as usize]);
            let normal = (b - a).cross(c - a);
            let angle = libm::atan2f(normal.length(), (b - a).dot(c - a));
            sum += normal.normalize_or_zero() * angle;
        }
        sum
    }
}

impl CorrectionState {
    /// Moves a vertex, unless it would then be farther than `most` [m] from where
    /// it was, and says whether it did.
    fn push(&mut self, cloth: &mut [Vec3], vertex: u32, way: Vec3, most: f32) -> bool {
        let v = vertex as usize;
        let to = cloth[v] + way;
        let is_near = to.distance_squared(self.before[v]) <= most * most;
        if is_near {
            cloth[v] = to;
            self.is_pushed[v] = true;
            self.is_new[v] = true;
            self.is_loose[v] = true;
        }
        is_near
    }
}
