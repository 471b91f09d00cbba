//! Heights above a body: [`Foot`], [`Ground`], and what is above a foot,
//! [`Surface`].

use drapery_core::{PseudoNormals, Topology, TriangleTree};
use glam::Vec3;

use super::Placed;

/// Below this height the way up is the body's normal [m].
const LOW: f32 = 5e-3;

/// Where a vertex is above the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foot {
    /// On the body [m].
    at: Vec3,
    /// The way up, of unit length.
    pub(super) up: Vec3,
    /// [m]
    pub(super) height: f32,
}

/// The body.
pub(super) struct Ground<'a> {
    surface: Surface<'a>,
    normals: PseudoNormals,
    at: &'a [Vec3],
}

impl<'a> Ground<'a> {
    /// A body at `at` [m].
    pub(super) fn new(topology: &'a Topology, at: &'a [Vec3]) -> Self {
        Self {
            surface: Surface::new(topology, at),
            normals: PseudoNormals::new(topology.triangles(), at),
            at,
        }
    }

    /// Where each of the points [m] is above the body.
    pub(super) fn feet(&self, positions: &[Vec3]) -> Vec<Foot> {
        let foot = |p: &Vec3| {
            let found =
                self.normals
                    .signed_distance(&self.surface.tree, self.at, *p, f32::INFINITY);
            let Some((distance, closest)) = found else {
                return Foot {
                    at: *p,
                    up: Vec3::Y,
                    height: 0.0,
                };
            };
            let normal = self.normals.at(&closest).normalize_or(Vec3::Y);
            match distance > LOW {
                true => Foot {
                    at: closest.point,
                    up: (*p - closest.point) / distance,
                    height: distance,
                },
                // From the point itself, so that going up is going straight.
                false => Foot {
                    at: *p - normal * distance,
                    up: normal,
                    height: distance,
                },
            }
        };
        positions.iter().map(foot).collect()
    }

    /// Whether most of a layer faces away from the body.
    pub(super) fn is_faced(&self, layer: &Placed) -> bool {
        let feet = self.feet(&layer.positions);
        let faced = layer.topology.triangles().iter().filter(|corners| {
            let [a, b, c] = corners.map(|v| layer.positions[v as usize]);
            let up: Vec3 = corners.iter().map(|v| feet[*v as usize].up).sum();
            (b - a).cross(c - a).dot(up) > 0.0
        });
        2 * faced.count() > layer.topology.triangles().len()
    }

    /// How far up from a foot there is no other part of the body, at most
    /// `limit` [m].
    pub(super) fn limit(&self, foot: &Foot, limit: f32) -> f32 {
        let hits = self.surface.hits(foot, limit, self.at);
        let other = hits.filter(|(_, height, facing)| *facing < 0.0 && *height > LOW);
        other.map(|(_, height, _)| height).fold(limit, f32::min)
    }
}

/// A surface that can be asked what is above a foot.
pub(super) struct Surface<'a> {
    topology: &'a Topology,
    tree: TriangleTree,
}

impl<'a> Surface<'a> {
    pub(super) fn new(topology: &'a Topology, positions: &[Vec3]) -> Self {
        Self {
            topology,
            tree: TriangleTree::new(topology.triangles(), positions),
        }
    }

    /// The triangles above a foot that face up, with their heights, at most
    /// `limit` [m].
    pub(super) fn passes(
        &self,
        foot: &Foot,
        limit: f32,
        positions: &[Vec3],
    ) -> impl Iterator<Item = (u32, f32)> + use<> {
        let hits = self.hits(foot, limit, positions);
        hits.filter(|(_, _, facing)| *facing > 0.0)
            .map(|(triangle, height, _)| (triangle, height))
    }

    /// The triangles above a foot, with their heights and how far they face
    /// up.
    fn hits(
        &self,
        foot: &Foot,
        limit: f32,
        positions: &[Vec3],
    ) -> impl Iterator<Item = (u32, f32, f32)> + use<> {
        let end = foot.at + foot.up * limit;
        let mut found = Vec::new();
        self.tree.visit_box(
            foot.at.min(end),
            foot.at.max(end),
            0.0,
            positions,
            |triangle| {
                let corners = self.topology.triangles()[triangle as usize];
                let corners = corners.map(|v| positions[v as usize] - foot.at);
                if let Some((height, facing)) = hit(corners, foot.up)
                    && height <= limit
                {
                    found.push((triangle, height, facing));
                }
            },
        );
        found.sort_by_key(|(triangle, _, _)| *triangle);
        found.into_iter()
    }
}

/// How far along a direction a triangle is met from the origin, and how far it
/// faces along it.
fn hit([a, b, c]: [Vec3; 3], up: Vec3) -> Option<(f32, f32)> {
    let [a, b, c, up] = [a, b, c, up].map(|p| p.as_dvec3());
    let normal = (b - a).cross(c - a);
    let facing = normal.dot(up);
    if facing == 0.0 {
        return None;
    }
    let height = normal.dot(a) / facing;
    let p = up * height;
    let inside = [(a, b), (b, c), (c, a)].map(|(s, e)| (e - s).cross(p - s).dot(normal) >= 0.0);
    let is_hit = height >= 0.0 && inside == [true; 3];
    is_hit.then_some((height as f32, facing as f32))
}
