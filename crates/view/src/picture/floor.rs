//! The floor: a plane that catches shadows and carries a grid.
//!
//! It has no colour of its own. Where it is near it darkens the background by
//! its shadow and its lines; farther off it fades away, so there is no horizon.

use glam::{DVec3, Vec2, Vec3};

use super::camera::Camera;

/// How dark the lines are: of 10 cm, and of 1 m.
const FINE_LINE: f32 = 0.09;
const COARSE_LINE: f32 = 0.3;

/// Width of the lines [m]; at least about a pixel is drawn.
const FINE_WIDTH: f32 = 0.0015;
const COARSE_WIDTH: f32 = 0.004;

/// Added to make every line's number positive, so that a cast rounds it. Within
/// reach of the fade no coordinate is near to it.
const MANY: f32 = 1024.0;

/// A floor as the camera sees it.
pub(super) struct Floor {
    /// World up in the camera's axes.
    pub(super) up: Vec3,
    /// The eye's height above it [m].
    eye_height: f32,
    /// World x and z of the eye, less whole metres, and the world's x and z
    /// axes in the camera's.
    eye: [f32; 2],
    axes: [Vec3; 2],
    /// Where the line of sight meets the framed distance, relative to the eye,
    /// along the floor [m].
    middle: [f32; 2],
    /// Where the floor begins to fade and where it is gone [m].
    fade: (f32, f32),
    focal: f32,
}

impl Floor {
    /// The floor at a height [m]; nothing when the camera is not above it.
    pub(super) fn new(height: f32, camera: &Camera, focal: f32) -> Option<Self> {
        let eye_height = (camera.eye.y - f64::from(height)) as f32;
        if eye_height.is_nan() || eye_height <= 1e-4 {
            return None;
        }
        let turned = |v: DVec3| camera.turned(v).as_vec3();
        let sight = camera.back * -camera.distance;
        let reach = (camera.distance * camera.tangent_up) as f32;
        Some(Self {
            up: turned(DVec3::Y),
            eye_height,
            eye: [
                camera.eye.x.rem_euclid(1.0) as f32,
                camera.eye.z.rem_euclid(1.0) as f32,
            ],
            axes: [turned(DVec3::X), turned(DVec3::Z)],
            middle: [sight.x as f32, sight.z as f32],
            fade: (0.9 * reach, 2.6 * reach),
            focal,
        })
    }

    /// 1/depth where a ray with z = −1 meets the floor; not positive where it
    /// does not.
    #[inline]
    pub(super) fn nearness(&self, ray: Vec3) -> f32 {
        -self.up.dot(ray) / self.eye_height
    }

    /// Coordinates along the floor, from below the eye [m].
    pub(super) fn coordinates(&self, point: Vec3) -> Vec2 {
        Vec2::new(self.axes[0].dot(point), self.axes[1].dot(point))
    }

    /// The least and largest coordinates of points (camera's axes) lower than
    /// `reach` above the floor, widened by `reach` [m].
    pub(super) fn footprint(&self, points: &[Vec3], reach: f32) -> (Vec2, Vec2) {
        let mut low = Vec2::INFINITY;
        let mut high = Vec2::NEG_INFINITY;
        for p in points {
            if self.up.dot(*p) + self.eye_height < reach {
                let place = self.coordinates(*p);
                low = low.min(place);
                high = high.max(place);
            }
        }
        (low - reach, high + reach)
    }

    /// How much of the floor is left at a point (camera's axes), 1 near and 0
    /// far.
    pub(super) fn presence(&self, point: Vec3) -> f32 {
        let x = self.axes[0].dot(point) - self.middle[0];
        let z = self.axes[1].dot(point) - self.middle[1];
        let distance = (x * x + z * z).sqrt();
        let t = ((self.fade.1 - distance) / (self.fade.1 - self.fade.0)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    }

    /// The light that the grid's lines leave at a point (camera's axes).
    pub(super) fn grid(&self, point: Vec3) -> f32 {
        let depth = -point.z;
        // A pixel's size on the floor, along the ray's heading and across it.
        let across = depth / self.focal;
        let length = point.length();
        let lean = (self.eye_height / length).max(1e-3);
        let mut dark = 0.0_f32;
        for i in 0..2 {
            let along_axis = self.axes[i].dot(point);
            let place = along_axis + self.eye[i];
            // The pixel's width seen along this axis: stretched by the lean in
            // the direction of sight.
            let heading = (along_axis
                / (length * length - self.eye_height * self.eye_height)
                    .max(1e-9)
                    .sqrt())
            .abs();
            let pixel = across * (1.0 + heading * (1.0 / lean - 1.0));
            for (spacing, width, strength) in [
                (0.1, FINE_WIDTH, FINE_LINE),
                (1.0, COARSE_WIDTH, COARSE_LINE),
            ] {
                // Coverage of a pixel by the line; fades to the mean where the
                // lines are closer than pixels.
                let turns = place * (1.0 / spacing) + MANY;
                let from_line = (turns - (turns + 0.5) as i32 as f32).abs() * spacing;
                let line = width.max(0.9 * pixel);
                let cover = ((0.5 * (line + pixel) - from_line) / pixel).clamp(0.0, 1.0);
                let thin = (width / pixel).clamp(0.6, 1.0);
                let crowd = (1.5 - 4.0 * pixel / spacing).clamp(0.0, 1.0);
                dark = dark.max(cover * strength * thin * crowd);
            }
        }
        1.0 - dark
    }
}
