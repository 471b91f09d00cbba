//! From meshes in the world to triangles on the screen.
//!
//! All meshes become one list of vertices in the camera's axes. Triangles that
//! reach behind the camera or far beside the picture are clipped; what is drawn
//! keeps the number of its whole triangle, so shading never sees the cut.

use drapery_core::vertex_normals;
use glam::{DVec3, Vec3};

use super::camera::{Camera, Size};
use super::raster::{ScreenPoint, ScreenTriangle};
use super::scene::{Scene, Sides, Surface};

/// Of the framed distance, how near to the eye things are cut off.
const NEAR: f64 = 0.01;

/// How far beside the picture, in picture sizes, triangles are left whole.
const GUARD: f64 = 3.0;

/// All meshes of a scene as the camera sees them.
pub(super) struct Geometry {
    /// Positions in the camera's axes [m], shape [vertex].
    pub(super) positions: Vec<Vec3>,
    /// Unit normals in the camera's axes, shape [vertex].
    pub(super) normals: Vec<Vec3>,
    /// Values from 0 to 1 within their mesh's range, shape [vertex].
    pub(super) values: Vec<f32>,
    /// Corners of all triangles, shape [triangle, 3].
    pub(super) triangles: Vec<[u32; 3]>,
    /// The mesh of each triangle.
    pub(super) mesh_of: Vec<u32>,
}

impl Geometry {
    /// The scene's meshes in the camera's axes. The scene must be checked.
    pub(super) fn new(scene: &Scene, camera: &Camera) -> Self {
        let n_vertices = scene.meshes.iter().map(|m| m.positions.len()).sum();
        let n_triangles = scene
            .meshes
            .iter()
            .map(|m| m.topology.triangles().len())
            .sum();
        let mut geometry = Self {
            positions: Vec::with_capacity(n_vertices),
            normals: Vec::with_capacity(n_vertices),
            values: vec![0.0; n_vertices],
            triangles: Vec::with_capacity(n_triangles),
            mesh_of: Vec::with_capacity(n_triangles),
        };
        for (index, mesh) in scene.meshes.iter().enumerate() {
            let first = geometry.positions.len() as u32;
            let placed = mesh.positions.iter().map(|p| camera.view_from_world(*p));
            geometry.positions.extend(placed);
            let mut normals = vec![Vec3::ZERO; mesh.positions.len()];
            vertex_normals(
                mesh.topology,
                &geometry.positions[first as usize..],
                &mut normals,
            );
            geometry.normals.append(&mut normals);
            if let Surface::Values { values, range, .. } = mesh.surface {
                let (low, high) = range;
                let out = &mut geometry.values[first as usize..];
                for (out, value) in out.iter_mut().zip(values) {
                    *out = (value - low) / (high - low);
                }
            }
            let shifted = mesh
                .topology
                .triangles()
                .iter()
                .map(|t| t.map(|v| v + first));
            geometry.triangles.extend(shifted);
            geometry
                .mesh_of
                .resize(geometry.triangles.len(), index as u32);
        }
        geometry
    }

    /// The corners of a triangle in the camera's axes [m].
    pub(super) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|v| self.positions[v as usize])
    }

    /// What may be seen of the triangles, on the screen.
    pub(super) fn on_screen(
        &self,
        scene: &Scene,
        camera: &Camera,
        size: Size,
    ) -> Vec<ScreenTriangle> {
        let lens = Lens::new(camera, size);
        let mut out = Vec::with_capacity(self.triangles.len());
        for id in 0..self.triangles.len() as u32 {
            let [a, b, c] = self.corners(id).map(|p| p.as_dvec3());
            let towards = (b - a).cross(c - a).dot(a);
            let mesh = &scene.meshes[self.mesh_of[id as usize] as usize];
            if mesh.sides == Sides::Front && towards >= 0.0 {
                continue;
            }
            lens.add([a, b, c], id, &mut out);
        }
        out
    }
}

/// The camera's projection and the planes that triangles are cut at.
struct Lens {
    focal: f64,
    width: f64,
    height: f64,
    /// n · p ≥ d inside, for the near plane first.
    planes: [(DVec3, f64); 5],
}

impl Lens {
    fn new(camera: &Camera, size: Size) -> Self {
        let focal = f64::from(camera.focal(size));
        let (width, height) = (f64::from(size.width), f64::from(size.height));
        let slope_x = GUARD * 0.5 * width / focal;
        let slope_y = GUARD * 0.5 * height / focal;
        Self {
            focal,
            width,
            height,
            planes: [
                (DVec3::NEG_Z, NEAR * camera.distance.max(1e-3)),
                (DVec3::new(1.0, 0.0, -slope_x), 0.0),
                (DVec3::new(-1.0, 0.0, -slope_x), 0.0),
                (DVec3::new(0.0, 1.0, -slope_y), 0.0),
                (DVec3::new(0.0, -1.0, -slope_y), 0.0),
            ],
        }
    }

    fn add(&self, corners: [DVec3; 3], id: u32, out: &mut Vec<ScreenTriangle>) {
        let inside = |p: &DVec3| self.planes.iter().all(|(n, d)| n.dot(*p) >= *d);
        if corners.iter().all(inside) {
            let [a, b, c] = corners.map(|p| self.project(p));
            // Wholly beside the picture is common and cheap to drop.
            let beside =
                |v: [f64; 3], most: f64| v.iter().all(|&x| x < 0.0) || v.iter().all(|&x| x > most);
            if !beside([a.x, b.x, c.x], self.width) && !beside([a.y, b.y, c.y], self.height) {
                out.extend(ScreenTriangle::new([a, b, c], id));
            }
            return;
        }
        let mut polygon = corners.to_vec();
        for (normal, offset) in &self.planes {
            polygon = clipped(&polygon, *normal, *offset);
            if polygon.len() < 3 {
                return;
            }
        }
        let polygon: Vec<ScreenPoint> = polygon.into_iter().map(|p| self.project(p)).collect();
        for pair in polygon[1..].windows(2) {
            out.extend(ScreenTriangle::new([polygon[0], pair[0], pair[1]], id));
        }
    }

    fn project(&self, p: DVec3) -> ScreenPoint {
        let nearness = -1.0 / p.z;
        ScreenPoint {
            x: 0.5 * self.width + self.focal * p.x * nearness,
            y: 0.5 * self.height - self.focal * p.y * nearness,
            nearness,
        }
    }
}

/// The part of a convex polygon with `normal · p ≥ offset`.
fn clipped(polygon: &[DVec3], normal: DVec3, offset: f64) -> Vec<DVec3> {
    let mut out = Vec::with_capacity(polygon.len() + 1);
    for (i, &p) in polygon.iter().enumerate() {
        let q = polygon[(i + 1) % polygon.len()];
        let (at_p, at_q) = (normal.dot(p) - offset, normal.dot(q) - offset);
        if at_p >= 0.0 {
            out.push(p);
        }
        if (at_p >= 0.0) != (at_q >= 0.0) {
            out.push(p + (q - p) * (at_p / (at_p - at_q)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clipping_a_triangle_leaves_the_part_in_front() {
        let triangle = [
            DVec3::new(0.0, 0.0, 0.0),
            DVec3::new(2.0, 0.0, 0.0),
            DVec3::new(0.0, 2.0, 0.0),
        ];
        let half = clipped(&triangle, DVec3::X, 1.0);
        assert_eq!(half.len(), 3);
        assert!(half.iter().all(|p| p.x >= 1.0));
        let rest = clipped(&triangle, DVec3::NEG_X, -1.0);
        assert_eq!(rest.len(), 4);
        assert!(clipped(&triangle, DVec3::X, 3.0).is_empty());
    }
}
