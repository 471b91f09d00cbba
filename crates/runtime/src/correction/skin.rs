//! What cloth is pushed out of: [`Skin`], and where a point is from it: [`Contact`].

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{ClosestPoint, PseudoNormals, Topology, TriangleTree, closest_point_on};
use glam::Vec3;

use super::lists::Lists;
use super::walk::{across, distance_to_triangle, walk};

/// What is deeper goes out on the side where it belongs [m]: above it a crease, whose
/// normals point anywhere, would be thrown through the body...
const DEEP: f32 = 5e-3;
/// ... and on the other side of what the garment is not worn over, of which fingers
/// are thinner than that.
const DEEP_BESIDE: f32 = 2e-3;
/// Skin that agrees so well with the cloth, as a cosine, is as good as any...
const AGREES: f32 = 0.5;
/// ... and skin that agrees less than this is on the wrong side.
const AGAINST: f32 = -0.2;
/// Skin that agrees hardly counts as so many times as far away.
const UNLIKELY: f32 = 3.0;
/// The right side is taken at once if it is so many times as deep below it at most. A
/// vertex that has just touched the wrong side is nearly through the limb, or was never
/// before it; its neighbours know better.
const DEEPER: f32 = 6.0;

/// The triangles of a body, or of a garment that lies beneath.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    pub(super) triangles: Vec<[u32; 3]>,
    /// The triangle across side 01, 12, 20 of each triangle, or itself.
    across: Vec<[u32; 3]>,
    /// Whether the garment is worn over each triangle of it, and each vertex.
    pub(super) is_under: Vec<bool>,
    pub(super) is_behind: Vec<bool>,
    /// Whether a vertex is on a border, beyond which there is no inside.
    on_border: Vec<bool>,
    /// The triangles around each vertex.
    fans: Lists,
    pub(super) tree: TriangleTree,
    /// The normal of each triangle at rest.
    pub(super) rest_normals: Vec<Vec3>,
}

/// Which parts of a skin a garment is worn over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WornOver {
    /// Those that are behind the cloth next to them at rest.
    Behind,
    /// All of it.
    All,
}

/// A place of the skin, seen from a point of the garment.
pub(super) struct Contact {
    /// Negative inside [m].
    pub(super) distance: f32,
    pub(super) triangle: u32,
    pub(super) point: Vec3,
    pub(super) outside: Vec3,
}

/// Which way a point of the garment faces, neither of unit length.
pub(super) struct Side {
    /// At rest.
    pub(super) facing: Vec3,
    /// Now, as the skin beneath does.
    pub(super) outward: Vec3,
}

impl Skin {
    /// A skin at `positions` [m] under a garment at `rest` [m].
    pub(super) fn new(
        (skin, positions): (&Topology, &[Vec3]),
        (garment, rest): (&Topology, &[Vec3]),
        worn_over: WornOver,
    ) -> Self {
        let mut fans = Vec::new();
        for (t, corners) in skin.triangles().iter().enumerate() {
            fans.extend(corners.map(|v| (v, t as u32)));
        }
        let is_behind: Vec<bool> = match worn_over {
            WornOver::All => vec![true; positions.len()],
            WornOver::Behind => {
                let cloth_tree = TriangleTree::new(garment.triangles(), rest);
                let outer = PseudoNormals::new(garment.triangles(), rest);
                let behind = |b: &Vec3| {
                    let near = cloth_tree.closest_point(*b, rest, f32::INFINITY);
                    near.is_some_and(|near| (*b - near.point).dot(outer.at(&near)) < 0.0)
                };
                positions.iter().map(behind).collect()
            }
        };
        let most = |t: &[u32; 3]| t.iter().filter(|v| is_behind[**v as usize]).count() > 1;
        let is_under = skin.triangles().iter().map(most).collect();
        let mut on_border = vec![false; positions.len()];
        for edge in skin.edges().iter().filter(|e| e.is_border()) {
            for v in edge.vertices {
                on_border[v as usize] = true;
            }
        }
        let tree = TriangleTree::new(skin.triangles(), positions);
        let normal = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            (b - a).cross(c - a).normalize_or_zero()
        };
        Self {
            rest_normals: skin.triangles().iter().map(normal).collect(),
            triangles: skin.triangles().to_vec(),
            across: across(skin.triangles()),
            fans: Lists::new(skin.n_vertices(), &mut fans),
            is_under,
            is_behind,
            on_border,
            tree,
        }
    }

    pub(super) fn n_vertices(&self) -> usize {
        self.is_behind.len()
    }

    /// A triangle at a vertex, or none.
    pub(super) fn triangle_at(&self, vertex: usize) -> u32 {
        self.fans.of(vertex).first().copied().unwrap_or(u32::MAX)
    }

    /// The outer normal of a triangle.
    pub(super) fn normal(&self, triangle: u32, at: &[Vec3]) -> Vec3 {
        let [a, b, c] = self.triangles[triangle as usize].map(|v| at[v as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    }

    /// From a triangle to the nearest of its neighbours, and on: where that ends.
    pub(super) fn walk(&self, at: &[Vec3], p: Vec3, start: u32) -> u32 {
        walk((&self.triangles, &self.across), at, p, start)
    }

    /// The nearest place of the skin within `reach` [m]; none where that is on a
    /// border.
    pub(super) fn contact(
        &self,
        tree: &TriangleTree,
        at: &[Vec3],
        p: Vec3,
        hint: u32,
        reach: f32,
    ) -> Option<Contact> {
        let bound = match self.triangles.get(hint as usize) {
            Some(corners) => {
                let nearest = distance_to_triangle(p, corners.map(|v| at[v as usize]));
                reach.min(1.001 * nearest + 1e-6)
            }
            None => reach,
        };
        self.seen_from(p, &tree.closest_point(p, at, bound)?, at)
    }

    /// The nearest place of one triangle, within `reach` [m]; none where that is on
    /// a border.
    pub(super) fn contact_with(
        &self,
        at: &[Vec3],
        p: Vec3,
        triangle: u32,
        reach: f32,
    ) -> Option<Contact> {
        let ids = *self.triangles.get(triangle as usize)?;
        let near = closest_point_on(p, (triangle, ids), at);
        match near.distance <= reach {
            true => self.seen_from(p, &near, at),
            false => None,
        }
    }

    fn seen_from(&self, p: Vec3, near: &ClosestPoint, at: &[Vec3]) -> Option<Contact> {
        if self.is_border(near) {
            return None;
        }
        let outside = self.outside(near, at).try_normalize()?;
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

    /// The contact of a point that may be deep, on the side where it belongs; none
    /// where that is much farther than the other.
    pub(super) fn way_out(
        &self,
        tree: &TriangleTree,
        at: &[Vec3],
        (p, side): (Vec3, &Side),
        contact: Contact,
        reach: f32,
    ) -> Option<Contact> {
        let is_under = self.is_under[contact.triangle as usize];
        let deep = if is_under { DEEP } else { DEEP_BESIDE };
        let agreement = |t: u32| match is_under {
            true => self.rest_normals[t as usize].dot(side.facing),
            false => -self.normal(t, at).dot(side.outward),
        };
        if contact.distance > -deep || agreement(contact.triangle) >= AGREES {
            return Some(contact);
        }
        let weight = |t: u32| {
            if self.is_under[t as usize] != is_under {
                return f32::INFINITY;
            }
            match agreement(t) {
                a if a >= AGREES => 1.0,
                a if a < AGAINST => f32::INFINITY,
                a => 1.0 + (UNLIKELY - 1.0) * (AGREES - a) / (AGREES - AGAINST),
            }
        };
        let near = tree.closest_point_weighted(p, at, reach, weight)?;
        if near.distance > -DEEPER * contact.distance {
            return None;
        }
        Some(Contact {
            distance: -near.distance,
            triangle: contact.triangle,
            point: near.point,
            outside: self.outside(&near, at).try_normalize()?,
        })
    }

    /// Whether a place is on a border.
    fn is_border(&self, place: &ClosestPoint) -> bool {
        let corners = self.triangles[place.triangle as usize];
        let own = corners.into_iter().zip(place.barycentric);
        place.barycentric.contains(&0.0)
            && own
                .filter(|(_, w)| *w > 0.0)
                .all(|(v, _)| self.on_border[v as usize])
    }

    /// The direction that is outside at a place of the skin; not of unit length,
    /// as in [`drapery_core::PseudoNormals`], but only for this place.
    fn outside(&self, near: &ClosestPoint, at: &[Vec3]) -> Vec3 {
        let triangle = near.triangle as usize;
        let own = || self.normal(near.triangle, at);
        let side = |side: usize| own() + self.normal(self.across[triangle][side], at);
        match near.barycentric.map(|w| w == 0.0) {
            [false, true, true] => self.corner(triangle, 0, at),
            [true, false, true] => self.corner(triangle, 1, at),
            [true, true, false] => self.corner(triangle, 2, at),
            [false, false, true] => side(0),
            [true, false, false] => side(1),
            [false, true, false] => side(2),
            _ => own(),
        }
    }

    /// The normals of the triangles around a corner, weighted by their angles.
    fn corner(&self, triangle: usize, corner: usize, at: &[Vec3]) -> Vec3 {
        let vertex = self.triangles[triangle][corner];
        let mut sum = Vec3::ZERO;
        for t in self.fans.of(vertex as usize) {
            let ids = self.triangles[*t as usize];
            let Some(k) = ids.iter().position(|v| *v == vertex) else {
                continue;
            };
            let [a, b, c] = [0, 1, 2].map(|i| at[ids[(k + i) % 3] as usize]);
            let normal = (b - a).cross(c - a);
            let angle = libm::atan2f(normal.length(), (b - a).dot(c - a));
            sum += normal.normalize_or_zero() * angle;
        }
        sum
    }
}
