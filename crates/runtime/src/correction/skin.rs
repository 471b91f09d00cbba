//! What cloth is pushed out of: [`Skin`], and where a point is from it: [`Contact`].

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{ClosestPoint, PseudoNormals, Topology, TriangleTree, closest_point_on};
use glam::Vec3;

use super::lists::Lists;
use super::walk::{across, distance_to_triangle, walk};

/// What is deeper goes out on the side that the cloth faces [m]: above it a crease,
/// whose normals point anywhere, would be thrown through the body...
const DEEP: f32 = 5e-3;
/// ... and on the other side of what the garment is not worn over, of which fingers
/// are thinner than that.
const DEEP_BESIDE: f32 = 2e-3;
/// The side of the cells that vertices are patched by [m]. Smaller patches are asked
/// more often, larger ones reach farther.
const PATCH: f32 = 0.08;

/// The triangles of a body, or of a garment that lies beneath.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    pub(super) triangles: Vec<[u32; 3]>,
    /// The triangle across side 01, 12, 20 of each triangle, or itself.
    across: Vec<[u32; 3]>,
    /// Whether the garment is worn over each triangle of it, and each vertex.
    is_under: Vec<bool>,
    pub(super) is_behind: Vec<bool>,
    /// Whether a vertex is on a border, beyond which there is no inside.
    on_border: Vec<bool>,
    /// The triangles around each vertex.
    fans: Lists,
    pub(super) tree: TriangleTree,
    /// Vertices that are near each other at rest, a patch of them each.
    patches: Lists,
    n_patches: usize,
}

/// Which parts of a skin a garment is worn over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worn {
    /// Those that are behind the cloth next to them at rest.
    Behind,
    /// All of it.
    Over,
}

/// A place of the skin, seen from a point of the garment.
pub(super) struct Contact {
    /// Negative inside [m].
    pub(super) distance: f32,
    pub(super) triangle: u32,
    pub(super) point: Vec3,
    pub(super) outside: Vec3,
}

impl Skin {
    /// A skin at `positions` [m] under a garment at `rest` [m].
    pub(super) fn new(
        (skin, positions): (&Topology, &[Vec3]),
        (garment, rest): (&Topology, &[Vec3]),
        worn: Worn,
    ) -> Self {
        let mut fans = Vec::new();
        for (t, corners) in skin.triangles().iter().enumerate() {
            fans.extend(corners.map(|v| (v, t as u32)));
        }
        let is_behind: Vec<bool> = match worn {
            Worn::Over => vec![true; positions.len()],
            Worn::Behind => {
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
        let (patches, n_patches) = patches(positions);
        Self {
            triangles: skin.triangles().to_vec(),
            across: across(skin.triangles()),
            fans: Lists::new(skin.n_vertices(), &mut fans),
            patches,
            n_patches,
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

    /// Vertices in patches of those that are near each other at rest.
    pub(super) fn patches(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.n_patches).map(|patch| self.patches.of(patch))
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
        let ids = self.triangles[triangle as usize];
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

    /// The contact of a point that is deep, on the side where cloth that faces along
    /// `normal` should be, if there is skin within reach.
    pub(super) fn turned(
        &self,
        tree: &TriangleTree,
        at: &[Vec3],
        (p, normal): (Vec3, Vec3),
        contact: Contact,
        reach: f32,
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
            let [a, b, c] = self.triangles[t as usize].map(|v| at[v as usize]);
            self.is_under[t as usize] == is_under && (b - a).cross(c - a).dot(side) > 0.0
        };
        let facing = tree.closest_point_where(p, at, reach, faces);
        let other = facing.and_then(|near| {
            Some(Contact {
                distance: -near.distance,
                triangle: contact.triangle,
                point: near.point,
                outside: self.outside(&near, at).try_normalize()?,
            })
        });
        other.unwrap_or(contact)
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
        let normal = |t: u32| {
            let [a, b, c] = self.triangles[t as usize].map(|v| at[v as usize]);
            (b - a).cross(c - a).normalize_or_zero()
        };
        let own = || normal(near.triangle);
        let side = |side: usize| own() + normal(self.across[triangle][side]);
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

/// Vertices by cells of space, and how many cells there are.
fn patches(positions: &[Vec3]) -> (Lists, usize) {
    let cell = |v: u32| {
        let p = (positions[v as usize] / PATCH).floor().to_array();
        p.map(|c| c as i32)
    };
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_by_key(|v| (cell(*v), *v));
    let mut pairs = Vec::with_capacity(order.len());
    let mut n_patches = 0;
    for patch in order.chunk_by(|v, w| cell(*v) == cell(*w)) {
        pairs.extend(patch.iter().map(|v| (n_patches as u32, *v)));
        n_patches += 1;
    }
    (Lists::new(n_patches, &mut pairs), n_patches)
}
