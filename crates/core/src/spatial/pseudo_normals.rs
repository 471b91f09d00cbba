//! Normals that say on which side of a surface a point lies.
//!
//! The sign of (p − c)·n, with c the closest point and n the normal of the
//! face, the sum of the two face normals on a side, or the sum of the face
//! normals around a corner weighted by their angles there (J. Bærentzen,
//! H. Aanæs, 2005). Exact for a closed surface that does not cross itself;
//! where it does, ask a winding number instead.

use alloc::vec;
use alloc::vec::Vec;

use glam::{DVec3, Vec3};

use super::closest::ClosestPoint;
use super::tree::TriangleTree;

/// The normals of faces, sides and corners of a mesh.
#[derive(Clone, Debug)]
pub struct PseudoNormals {
    triangles: Vec<[u32; 3]>,
    /// The triangle across side 01, 12, 20 of each triangle, or itself.
    across: Vec<[u32; 3]>,
    faces: Vec<Vec3>,
    vertices: Vec<Vec3>,
}

impl PseudoNormals {
    /// The normals of `triangles` at `positions` [m].
    ///
    /// # Panics
    /// When a triangle names a position that is not there.
    pub fn new(triangles: &[[u32; 3]], positions: &[Vec3]) -> Self {
        let mut sides: Vec<(u32, u32, u32, u8)> = Vec::with_capacity(3 * triangles.len());
        let mut across = Vec::with_capacity(triangles.len());
        for (triangle, corners) in triangles.iter().enumerate() {
            for side in 0..3u8 {
                let (a, b) = (corners[side as usize], corners[(side as usize + 1) % 3]);
                sides.push((a.min(b), a.max(b), triangle as u32, side));
            }
            across.push([triangle as u32; 3]);
        }
        sides.sort_unstable();
        let mut start = 0;
        while start < sides.len() {
            let key = (sides[start].0, sides[start].1);
            let n = sides[start..]
                .iter()
                .take_while(|s| (s.0, s.1) == key)
                .count();
            if n == 2 {
                let (p, q) = (sides[start], sides[start + 1]);
                across[p.2 as usize][p.3 as usize] = q.2;
                across[q.2 as usize][q.3 as usize] = p.2;
            }
            start += n;
        }
        let mut normals = Self {
            triangles: triangles.to_vec(),
            across,
            faces: vec![Vec3::ZERO; triangles.len()],
            vertices: vec![Vec3::ZERO; positions.len()],
        };
        normals.update(positions);
        normals
    }

    /// The normals at other positions [m] of the same mesh.
    ///
    /// # Panics
    /// When the number of positions differs.
    pub fn update(&mut self, positions: &[Vec3]) {
        assert_eq!(
            positions.len(),
            self.vertices.len(),
            "one position a vertex"
        );
        self.vertices.fill(Vec3::ZERO);
        for (triangle, ids) in self.triangles.iter().enumerate() {
            let corners = ids.map(|v| positions[v as usize].as_dvec3());
            let [a, b, c] = corners;
            let face = (b - a).cross(c - a).normalize_or_zero();
            self.faces[triangle] = face.as_vec3();
            for k in 0..3 {
                let to = corners[(k + 1) % 3] - corners[k];
                let from = corners[(k + 2) % 3] - corners[k];
                let angle = libm::atan2(to.cross(from).length(), to.dot(from));
                self.vertices[ids[k] as usize] += (face * angle).as_vec3();
            }
        }
    }

    /// The direction that is outside at a point on the mesh; not of unit
    /// length, and zero where there is no telling.
    pub fn at(&self, point: &ClosestPoint) -> Vec3 {
        let triangle = point.triangle as usize;
        let zero = point.barycentric.map(|w| w == 0.0);
        match zero {
            [false, true, true] => self.vertices[self.triangles[triangle][0] as usize],
            [true, false, true] => self.vertices[self.triangles[triangle][1] as usize],
            [true, true, false] => self.vertices[self.triangles[triangle][2] as usize],
            [false, false, true] => self.side(triangle, 0),
            [true, false, false] => self.side(triangle, 1),
            [false, true, false] => self.side(triangle, 2),
            _ => self.faces[triangle],
        }
    }

    /// The unit normal of a triangle; zero without area.
    pub fn face(&self, triangle: u32) -> Vec3 {
        self.faces[triangle as usize]
    }

    /// The distance from the surface to `p` [m], negative inside, with the
    /// closest point, when that is at most `max_distance` [m] away.
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn signed_distance(
        &self,
        tree: &TriangleTree,
        positions: &[Vec3],
        p: Vec3,
        max_distance: f32,
    ) -> Option<(f32, ClosestPoint)> {
        let closest = tree.closest_point(p, positions, max_distance)?;
        let offset: DVec3 = p.as_dvec3() - closest.point.as_dvec3();
        let inside = offset.dot(self.at(&closest).as_dvec3()) < 0.0;
        let distance = if inside {
            -closest.distance
        } else {
            closest.distance
        };
        Some((distance, closest))
    }

    fn side(&self, triangle: usize, side: usize) -> Vec3 {
        let other = self.across[triangle][side] as usize;
        self.faces[triangle] + self.faces[other]
    }
}
