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

use super::camera::Size;

/// How far things darken one another [m]: folds are 2 to 8 cm apart, and limbs
/// beside the trunk are to count as well.
pub(super) const RADIUS: f32 = 0.28;

/// Things count in full up to √(1 − 1/FADE) of the radius, then less and less.
const FADE: f32 = 1.5;

/// Planes through the line of sight in a pixel, and steps on each side. One
/// plane is enough: the mean over 4 × 4 pixels has sixteen.
const N_PLANES: usize = 1;
const N_STEPS: usize = 7;

/// The most pixels that the radius may span: keeps a close-up affordable.
const MOST_PIXELS: f32 = 160.0;

/// Horizons lower than this sine above the surface do not count, so that the
/// flat triangles under a smooth normal leave no pattern.
const BIAS: f32 = 0.06;

/// The depths of a picture, and the rays through its pixels.
pub(super) struct DepthView<'a> {
    /// Depth at each pixel [m]; 0 where there is nothing.
    pub(super) depths: &'a [f32],
    /// The unit normal at each pixel.
    pub(super) normals: &'a [[f32; 3]],
    pub(super) width: i32,
    pub(super) height: i32,
    /// Pixels a unit of slope.
    pub(super) focal: f32,
    /// Cosine and sine of the planes' directions, for each turn.
    turns: [[(f32, f32); 16]; N_PLANES],
    /// Steps as 1/65536 of the radius, for each jitter.
    steps: [[i32; N_STEPS]; 16],
}

impl<'a> DepthView<'a> {
    /// A view of the depths [m] and normals of a picture.
    pub(super) fn new(depths: &'a [f32], normals: &'a [[f32; 3]], size: Size, focal: f32) -> Self {
        let turns = std::array::from_fn(|plane| {
            std::array::from_fn(|turn| {
                let angle = (plane as f32 + turn as f32 / 16.0) * (PI / N_PLANES as f32);
                (angle.cos(), angle.sin())
            })
        });
        // Denser near the point, where small folds are.
        let steps = std::array::from_fn(|jitter| {
            std::array::from_fn(|i| {
                let share = (i as f32 + jitter as f32 / 16.0) / N_STEPS as f32;
                (share * share * 65_536.0) as i32
            })
        });
        Self {
            depths,
            normals,
            width: size.width as i32,
            height: size.height as i32,
            focal,
            turns,
            steps,
        }
    }

    /// The point at a pixel in the camera's axes [m].
    #[inline]
    pub(super) fn point(&self, x: i32, y: i32, depth: f32) -> Vec3 {
        let scale = depth / self.focal;
        Vec3::new(
            (x as f32 + 0.5 - 0.5 * self.width as f32) * scale,
            (0.5 * self.height as f32 - y as f32 - 0.5) * scale,
            -depth,
        )
    }

    /// A point of cloth [m] that covers skin before it, less than `epsilon` [m] away:
    /// where that skin is.
    pub(super) fn lifted(&self, (x, y): (usize, usize), point: Vec3, epsilon: f32) -> Vec3 {
        let before = self.depths[y * self.width as usize + x];
        let depth = -point.z;
        match before > 0.0 && before < depth && depth - before < epsilon {
            true => point * (before / depth),
            false => point,
        }
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
        let shrink = (self.focal / (pixels * point.z)).powi(2);
        let towards = (-point).normalize_or(Vec3::Z);
        let (mut open, mut all) = (0.0, 0.0);
        for plane in 0..N_PLANES {
            let (cos, sin) = self.turns[plane][turn & 15];
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
            let ahead = self.horizon((x, y), point, towards, step, (-sin_gamma, jitter), shrink);
            let behind = self.horizon((x, y), point, towards, -step, (sin_gamma, jitter), shrink);
            let part = |cos_h: f32, side: f32| {
                let h = side * fast_acos(cos_h);
                let sin_h = side * (1.0 - cos_h * cos_h).max(0.0).sqrt();
                let cos_double = 2.0 * cos_h * cos_h - 1.0;
                let sin_double = 2.0 * sin_h * cos_h;
                0.25 * (cos_gamma + 2.0 * h * sin_gamma
                    - (cos_double * cos_gamma + sin_double * sin_gamma))
            };
            open += length * (part(ahead, 1.0) + part(behind, -1.0));
            // The same without anything in the way, h = γ ± π/2.
            all += length * (cos_gamma + fast_acos(cos_gamma) * sin_gamma.abs());
        }
        if all > 0.0 {
            (open / all).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }

    /// The cosine, from the line of sight, of the highest thing on one side.
    #[inline]
    fn horizon(
        &self,
        (x, y): (i32, i32),
        point: Vec3,
        towards: Vec3,
        step: Vec2,
        (lowest, jitter): (f32, usize),
        inverse_radius_sq: f32,
    ) -> f32 {
        // Whole numbers of 1/65536 pixel, clear of the pixel itself.
        let clear = step * (1.5 / step.abs().max_element());
        let fixed = |v: Vec2| ((v.x * 65_536.0) as i32, (v.y * 65_536.0) as i32);
        let (clear, step) = (fixed(clear), fixed(step));
        let mut highest = lowest;
        for share in self.steps[jitter & 15] {
            // A shift rounds down; half a pixel makes it round to the nearest.
            let along = |clear: i32, step: i32| {
                let far = (i64::from(step) * i64::from(share)) >> 16;
                (clear + far as i32 + 32_768) >> 16
            };
            let (at_x, at_y) = (x + along(clear.0, step.0), y + along(clear.1, step.1));
            if at_x < 0 || at_y < 0 || at_x >= self.width || at_y >= self.height {
                break;
            }
            let depth = self.depths[(at_y * self.width + at_x) as usize];
            // Where there is nothing the depth is 0 and the point the eye: too
            // far away to count.
            let delta = self.point(at_x, at_y, depth) - point;
            let distance_sq = delta.length_squared() + 1e-12;
            let fade = (FADE * (1.0 - distance_sq * inverse_radius_sq)).clamp(0.0, 1.0);
            let cosine = delta.dot(towards) / distance_sq.sqrt() - BIAS;
            let faded = lowest + (cosine - lowest) * fade;
            highest = if faded > highest { faded } else { highest };
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
        let depths: Vec<f32> = (0..width * height)
            .map(|i| if i % width < 100 { 2.0 - step } else { 2.0 })
            .collect();
        let size = Size::new(width as u32, height as u32);
        let view = DepthView::new(&depths, &[], size, 600.0);
        let point = view.point(x, 100, depths[(100 * width + x) as usize]);
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
        let foot = openness_beside_step(0.12, 100);
        assert!((0.45..0.65).contains(&foot), "{foot}");
        let farther = openness_beside_step(0.12, 130);
        assert!(farther > foot + 0.1, "{farther} is not lighter than {foot}");
        let edge = openness_beside_step(0.12, 98);
        assert!(edge > 0.97, "{edge}");
    }
}
