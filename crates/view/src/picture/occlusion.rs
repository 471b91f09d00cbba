//! Ambient occlusion from the depths on the screen: what makes folds read.
//!
//! Around a point, a few planes through the line of sight are walked on both
//! sides; the highest thing seen on each side is its horizon. With the angle γ
//! of the normal and the horizons h₁ ≤ γ ≤ h₂ within such a plane, the cosine
//! weighted part of the sky that is open is known in closed form (Jimenez, Wu,
//! Pesce, Jarabo, "Practical Realtime Strategies for Accurate Indirect
//! Occlusion", SIGGRAPH 2016 course, Eq. 7):
//!
//! ```text
//! a(h) = ¼ (cos γ + 2 h sin γ − cos(2h − γ)),   open = |n| (a(h₁) + a(h₂))
//! ```
//!
//! with |n| the length of the normal within the plane. Things farther away than
//! the radius sink to the horizon smoothly, and what is hidden behind the front
//! surfaces is not known and counts as open.

use std::f32::consts::PI;

use glam::{Vec2, Vec3};

/// How far things darken one another [m]: folds are 2 to 8 cm apart, and limbs
/// beside the trunk are to count as well.
pub(super) const RADIUS: f32 = 0.22;

/// Planes through the line of sight, and steps on each side.
const N_PLANES: usize = 2;
const N_STEPS: usize = 6;

/// The most pixels that the radius may span: keeps a close-up affordable.
const MOST_PIXELS: f32 = 160.0;

/// Horizons lower than this sine above the surface do not count, so that the
/// flat triangles under a smooth normal leave no pattern.
const BIAS: f32 = 0.06;

/// The depths of a picture, and the rays through its pixels.
pub(super) struct DepthView<'a> {
    /// 1/depth [1/m] and the normal at each pixel; 0 where there is nothing.
    pub(super) texels: &'a [[f32; 4]],
    pub(super) width: i32,
    pub(super) height: i32,
    /// Pixels a unit of slope.
    pub(super) focal: f32,
}

impl DepthView<'_> {
    /// The point at a pixel in the camera's axes [m].
    #[inline]
    pub(super) fn point(&self, x: i32, y: i32, nearness: f32) -> Vec3 {
        let depth = 1.0 / nearness;
        let scale = depth / self.focal;
        Vec3::new(
            (x as f32 + 0.5 - 0.5 * self.width as f32) * scale,
            (0.5 * self.height as f32 - y as f32 - 0.5) * scale,
            -depth,
        )
    }

    /// The open part of the sky [0 to 1] over a point with a unit normal, both
    /// in the camera's axes, at a pixel; `turn` and `jitter` from 0 to 15 vary
    /// the planes and the steps from pixel to pixel.
    pub(super) fn openness(
        &self,
        (x, y): (i32, i32),
        point: Vec3,
        normal: Vec3,
        (turn, jitter): (usize, usize),
    ) -> f32 {
        let pixels = (RADIUS * self.focal / -point.z).min(MOST_PIXELS);
        if pixels.is_nan() || pixels < 1.5 {
            return 1.0;
        }
        let radius = pixels * -point.z / self.focal;
        let towards = (-point).normalize_or(Vec3::Z);
        let mut open = 0.0;
        for plane in 0..N_PLANES {
            let angle = (plane as f32 + turn as f32 / 16.0) * (PI / N_PLANES as f32);
            let (sin, cos) = angle.sin_cos();
            let along = Vec3::new(cos, sin, 0.0);
            let across = along.cross(towards).normalize_or(Vec3::X);
            let within = normal - across * normal.dot(across);
            let length = within.length();
            if length < 1e-4 {
                continue;
            }
            let tangent = along - towards * along.dot(towards);
            let cos_gamma = (within.dot(towards) / length).clamp(0.0, 1.0);
            let sin_gamma = (1.0 - cos_gamma * cos_gamma)
                .sqrt()
                .copysign(tangent.dot(within));
            // cos(γ ± π/2) = ∓ sin γ is where the surface itself ends the sky.
            let step = Vec2::new(cos, -sin) * pixels;
            let start = jitter as f32 / 16.0;
            let ahead = self.horizon((x, y), point, towards, step, (-sin_gamma, start), radius);
            let behind = self.horizon((x, y), point, towards, -step, (sin_gamma, start), radius);
            let part = |cos_h: f32, side: f32| {
                let h = side * fast_acos(cos_h);
                let sin_h = side * (1.0 - cos_h * cos_h).max(0.0).sqrt();
                let cos_double = 2.0 * cos_h * cos_h - 1.0;
                let sin_double = 2.0 * sin_h * cos_h;
                0.25 * (cos_gamma + 2.0 * h * sin_gamma
                    - (cos_double * cos_gamma + sin_double * sin_gamma))
            };
            open += length * (part(ahead, 1.0) + part(behind, -1.0));
        }
        (open / N_PLANES as f32).clamp(0.0, 1.0)
    }

    /// The cosine, from the line of sight, of the highest thing on one side.
    #[inline]
    fn horizon(
        &self,
        (x, y): (i32, i32),
        point: Vec3,
        towards: Vec3,
        step: Vec2,
        (lowest, start): (f32, f32),
        radius: f32,
    ) -> f32 {
        let mut highest = lowest;
        for i in 0..N_STEPS {
            // Denser near the point, where small folds are.
            let t = (i as f32 + start) / N_STEPS as f32;
            let t = t * t;
            let at_x = x
                + (step.x * t + 1.5 * step.x.signum() * f32::from(step.x.abs() > step.y.abs()))
                    as i32;
            let at_y = y
                + (step.y * t + 1.5 * step.y.signum() * f32::from(step.y.abs() >= step.x.abs()))
                    as i32;
            if at_x < 0 || at_y < 0 || at_x >= self.width || at_y >= self.height {
                break;
            }
            let nearness = self.texels[(at_y * self.width + at_x) as usize][0];
            if nearness <= 0.0 {
                continue;
            }
            let delta = self.point(at_x, at_y, nearness) - point;
            let distance_sq = delta.length_squared();
            let distance = distance_sq.sqrt().max(1e-6);
            let fade = 1.0 - distance_sq / (radius * radius);
            if fade <= 0.0 {
                continue;
            }
            let cosine = delta.dot(towards) / distance - BIAS;
            highest = highest.max(lowest + (cosine - lowest) * fade);
        }
        highest.clamp(-1.0, 1.0)
    }
}

/// acos to 0.0001 rad (Abramowitz, Stegun, "Handbook of Mathematical
/// Functions", 4.4.45).
fn fast_acos(x: f32) -> f32 {
    let a = x.abs();
    let cubic = ((-0.018_729_3 * a + 0.074_261) * a - 0.212_114_4) * a + 1.570_728_8;
    let positive = cubic * (1.0 - a).max(0.0).sqrt();
    if x < 0.0 { PI - positive } else { positive }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_acos_is_close() {
        for i in -100..=100 {
            let x = i as f32 / 100.0;
            assert!((fast_acos(x) - x.acos()).abs() < 1e-4, "at {x}");
        }
    }

    /// A wall facing the camera, with a second wall of half the picture
    /// `step` metres nearer.
    fn openness_beside_step(step: f32, x: i32) -> f32 {
        let (width, height) = (201, 201);
        let texels: Vec<[f32; 4]> = (0..width * height)
            .map(|i| {
                let depth = if i % width < 100 { 2.0 - step } else { 2.0 };
                [1.0 / depth, 0.0, 0.0, 1.0]
            })
            .collect();
        let view = DepthView {
            texels: &texels,
            width,
            height,
            focal: 600.0,
        };
        let point = view.point(x, 100, texels[(100 * width + x) as usize][0]);
        let mut sum = 0.0;
        for turn in 0..16 {
            sum += view.openness((x, 100), point, Vec3::Z, (turn, turn * 5 % 16));
        }
        sum / 16.0
    }

    #[test]
    fn a_flat_wall_is_open() {
        let open = openness_beside_step(0.0, 100);
        assert!(open > 0.97, "{open}");
    }

    #[test]
    fn the_foot_of_a_step_is_half_open_and_its_edge_open() {
        // Right beside a wall much taller than the distance, half of the sky
        // is gone.
        let foot = openness_beside_step(0.15, 101);
        assert!((0.45..0.65).contains(&foot), "{foot}");
        let farther = openness_beside_step(0.15, 130);
        assert!(farther > foot + 0.1, "{farther} is not lighter than {foot}");
        let edge = openness_beside_step(0.15, 98);
        assert!(edge > 0.97, "{edge}");
    }
}
