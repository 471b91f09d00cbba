//! What lies behind a sample: the point, the normal and the side of a triangle.

use glam::Vec3;

use super::project::Geometry;

/// A point of a triangle, in the camera's axes.
pub(super) struct SurfacePoint {
    /// Weights of the corners; none is negative and they sum to one.
    pub(super) weights: Vec3,
    /// The point [m].
    pub(super) position: Vec3,
    /// The smooth unit normal, towards the camera.
    pub(super) normal: Vec3,
    /// Whether the front is seen.
    pub(super) front: bool,
}

/// A smooth normal is bent to face the camera by at least this cosine, so that
/// rims are never shaded as if seen from behind.
const LEAST_FACING: f32 = 0.03;

impl SurfacePoint {
    /// The point of a triangle on the ray from the camera, or the nearest to it.
    pub(super) fn on_ray(geometry: &Geometry, triangle: u32, ray: Vec3) -> Self {
        let [a, b, c] = geometry.corners(triangle);
        let flat = (b - a).cross(c - a);
        let along = flat.dot(ray);
        let hit = ray * (flat.dot(a) / along);
        let weights = Vec3::new(
            (c - b).cross(hit - b).dot(flat),
            (a - c).cross(hit - c).dot(flat),
            (b - a).cross(hit - a).dot(flat),
        );
        let weights = weights.max(Vec3::ZERO);
        let sum = weights.element_sum();
        let weights = if sum > 0.0 && sum.is_finite() {
            weights / sum
        } else {
            Vec3::splat(1.0 / 3.0)
        };
        let position = a * weights.x + b * weights.y + c * weights.z;
        let front = along <= 0.0;
        let [i, j, k] = geometry.triangles[triangle as usize];
        let smooth = geometry.normals[i as usize] * weights.x
            + geometry.normals[j as usize] * weights.y
            + geometry.normals[k as usize] * weights.z;
        let smooth = if front { smooth } else { -smooth };
        let towards = (-position).normalize_or(Vec3::Z);
        let facing = smooth.dot(towards);
        let bent = if facing < LEAST_FACING {
            smooth + towards * (LEAST_FACING - facing)
        } else {
            smooth
        };
        Self {
            weights,
            position,
            normal: bent.normalize_or(towards),
            front,
        }
    }

    /// The number at the point, from 0 to 1 within its range.
    pub(super) fn value(&self, geometry: &Geometry, triangle: u32) -> f32 {
        let [i, j, k] = geometry.triangles[triangle as usize];
        geometry.values[i as usize] * self.weights.x
            + geometry.values[j as usize] * self.weights.y
            + geometry.values[k as usize] * self.weights.z
    }

    /// How far the nearest edge of the triangle is on the screen [pixels].
    pub(super) fn edge_distance(&self, geometry: &Geometry, triangle: u32, focal: f32) -> f32 {
        let [a, b, c] = geometry.corners(triangle);
        // Around the point the screen is nearly an affine image of the triangle.
        let depth = (-self.position.z).max(1e-6);
        let scale = focal / depth;
        let slope = self.position.truncate() / depth;
        let flatten = |p: Vec3| (p.truncate() + slope * p.z) * scale;
        let (a, b, c) = (flatten(a), flatten(b), flatten(c));
        let twice_area = (b - a).perp_dot(c - a).abs();
        let height = |weight: f32, from: glam::Vec2, to: glam::Vec2| {
            weight * twice_area / from.distance(to).max(1e-6)
        };
        height(self.weights.x, b, c)
            .min(height(self.weights.y, c, a))
            .min(height(self.weights.z, a, b))
    }
}
