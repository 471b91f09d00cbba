//! Shadows of the key light: a map of heights towards the light, and a soft
//! look into it.
//!
//! The light is a far disc. A point looks for what stands between it and the
//! disc; the mean gap to that, times the disc's angle, is the width of the
//! half-shadow, over which the map is then sampled. Shadows are sharp where
//! things touch and soft where they are apart. Samples lie on a spiral that is
//! turned from pixel to pixel in a 4 × 4 pattern, whose mean is taken later.
//!
//! Heights are compared with the plane of the receiving surface, moved a little
//! towards the light, so that a surface does not shade itself.

use glam::{Vec2, Vec3};

use super::parallel::for_each;
use super::project::Geometry;
use super::raster::{Bins, ScreenPoint, ScreenTriangle};

/// Tangent of the angle from the middle of the light to its rim: a large soft
/// window rather than the sun (0.005).
const LIGHT_RADIUS: f32 = 0.06;

/// The widest half-shadow, and the narrowest, which hides the facets of coarse
/// cloth [m].
const WIDEST: f32 = 0.07;
const NARROWEST: f32 = 0.003;

/// Looks for what stands in the light, and samples of the half-shadow.
const N_SEARCH: usize = 8;
const N_SAMPLES: usize = 12;

/// Steepest receiving plane that is followed, as a slope.
const STEEPEST: f32 = 3.0;

/// Rows of the map that are filled at once.
const BAND: u32 = 64;

/// Texels of the side of a block, for which the tallest height is kept; a map's
/// side is a multiple of it.
const BLOCK: u32 = 32;

/// What is lower than all that is lit: floors go on below everything that stands.
const NOTHING: f32 = f32::NEG_INFINITY;

/// How far everything reaches towards the light.
pub(super) struct ShadowMap {
    /// Height towards the light [m], [`NOTHING`] where there is nothing.
    heights: Vec<f32>,
    side: u32,
    /// Light's axes in the camera's axes: across, up, towards the light.
    axes: [Vec3; 3],
    /// Light coordinates of the map's first corner and its lowest height [m].
    origin: Vec3,
    /// Texels a metre.
    scale: f32,
    /// The largest height within reach of each block of the map [m].
    tallest: Vec<f32>,
    /// Spirals for the 16 turns of the pattern.
    search: Vec<[Vec2; N_SEARCH]>,
    samples: Vec<[Vec2; N_SAMPLES]>,
    search_radii: [f32; N_SEARCH],
}

impl ShadowMap {
    /// The map of all triangles for a light in the direction `light` (unit,
    /// camera's axes), `side` a multiple of 32; nothing when there is nothing to
    /// cast a shadow.
    pub(super) fn new(
        geometry: &Geometry,
        light: Vec3,
        side: u32,
        n_threads: usize,
    ) -> Option<Self> {
        let across = light.any_orthonormal_vector();
        let axes = [across, light.cross(across), light];
        let coordinates = |p: Vec3| Vec3::new(axes[0].dot(p), axes[1].dot(p), axes[2].dot(p));
        let mut low = Vec3::INFINITY;
        let mut high = Vec3::NEG_INFINITY;
        let lit: Vec<Vec3> = geometry.positions.iter().map(|p| coordinates(*p)).collect();
        for triangle in &geometry.triangles {
            for v in triangle {
                low = low.min(lit[*v as usize]);
                high = high.max(lit[*v as usize]);
            }
        }
        let reach = (high - low).truncate().max_element();
        if reach.is_nan() || reach <= 0.0 {
            return None;
        }
        // A texel is free on each side, so that looks beyond find nothing.
        let scale = (side - 4) as f32 / reach;
        let origin = Vec3::new(low.x - 2.0 / scale, low.y - 2.0 / scale, low.z - 1.0);
        let place = |p: Vec3| ScreenPoint {
            x: f64::from((p.x - origin.x) * scale),
            y: f64::from((p.y - origin.y) * scale),
            nearness: f64::from(p.z - origin.z),
        };
        let triangles: Vec<ScreenTriangle> = geometry
            .triangles
            .iter()
            .filter_map(|t| ScreenTriangle::new(t.map(|v| place(lit[v as usize])), 0))
            .collect();
        let bins = Bins::new(&triangles, side, BAND);
        let mut heights = vec![NOTHING; side as usize * side as usize];
        let bands = heights.chunks_mut((side * BAND) as usize).enumerate();
        for_each(bands, n_threads, |(band, heights)| {
            let top = band as i32 * BAND as i32;
            let rows = (top, (top + BAND as i32).min(side as i32));
            for t in bins.band(band) {
                triangles[*t as usize].fill(side as i32, rows, &[(0, 0)], |texel, _, height| {
                    if height > heights[texel] {
                        heights[texel] = height;
                    }
                });
            }
        });
        Some(Self {
            tallest: tallest_nearby(&heights, side, WIDEST * scale),
            heights,
            side,
            axes,
            origin,
            scale,
            search: (0..16).map(spiral).collect(),
            samples: (0..16).map(spiral).collect(),
            search_radii: spiral::<N_SEARCH>(0).map(Vec2::length),
        })
    }

    /// How much of the light reaches a point (camera's axes) [0 to 1], with the
    /// unit normal of its surface; `turn` from 0 to 15 turns the samples.
    pub(super) fn light_at(&self, point: Vec3, normal: Vec3, turn: usize) -> f32 {
        let towards = self.axes[2].dot(normal);
        if towards <= 0.0 {
            return 0.0;
        }
        // Away from the surface by about a texel and a half, more where the
        // light grazes it.
        let texel = 1.0 / self.scale;
        let lift = (1.5 * texel + 0.0012) * (1.4 - towards);
        let p = point + normal * lift;
        let place = Vec2::new(
            (self.axes[0].dot(p) - self.origin.x) * self.scale,
            (self.axes[1].dot(p) - self.origin.y) * self.scale,
        );
        let widest = WIDEST * self.scale;
        let side = self.side as f32;
        if place.min_element() < -widest || place.max_element() > side + widest {
            return 1.0;
        }
        let height = self.axes[2].dot(p) - self.origin.z + 0.001;
        if !self.may_be_shaded(place, height) {
            return 1.0;
        }
        // The receiving plane's rise a texel.
        let slope = Vec2::new(self.axes[0].dot(normal), self.axes[1].dot(normal)) / -towards;
        let slope = slope.clamp_length_max(STEEPEST) * texel;
        let mut gaps = 0.0;
        let mut n_found = 0;
        for (i, offset) in self.search[turn & 15].iter().enumerate() {
            let offset = *offset * widest;
            let away = self.search_radii[i] * widest;
            let gap = self.height(place + offset) - (height + slope.dot(offset));
            // What is far above matters over a wide part of the disc, what is
            // near only close by.
            if gap > 0.0 && gap * LIGHT_RADIUS * self.scale * 1.5 + 2.0 > away {
                gaps += gap;
                n_found += 1;
            }
        }
        let own = self.height(place) - height;
        if own > 0.0 {
            gaps += own;
            n_found += 1;
        }
        if n_found == 0 {
            return 1.0;
        }
        let radius = (gaps / n_found as f32 * LIGHT_RADIUS).min(WIDEST) * self.scale;
        let radius = radius.max(NARROWEST * self.scale);
        let mut lit = 0;
        for offset in &self.samples[turn & 15] {
            let offset = *offset * radius;
            lit += i32::from(self.height(place + offset) <= height + slope.dot(offset));
        }
        lit as f32 / N_SAMPLES as f32
    }

    /// Whether anything within reach of a place is taller than the receiving
    /// plane may be there.
    fn may_be_shaded(&self, place: Vec2, height: f32) -> bool {
        let n_blocks = (self.side / BLOCK) as usize;
        let block = |v: f32| (v as usize / BLOCK as usize).min(n_blocks - 1);
        let tallest = self.tallest[block(place.y) * n_blocks + block(place.x)];
        tallest > height - WIDEST * STEEPEST
    }

    #[inline]
    fn height(&self, place: Vec2) -> f32 {
        // The cast sends −1 to 1 to the free first row or column, what is below
        // becomes large.
        let (x, y) = (place.x as i32 as u32, place.y as i32 as u32);
        if x >= self.side || y >= self.side {
            return NOTHING;
        }
        self.heights[(y * self.side + x) as usize]
    }
}

/// The largest height within `reach` texels of each block.
fn tallest_nearby(heights: &[f32], side: u32, reach: f32) -> Vec<f32> {
    let n_blocks = (side / BLOCK) as usize;
    let mut tallest = vec![NOTHING; n_blocks * n_blocks];
    for (y, row) in heights.chunks(side as usize).enumerate() {
        let blocks = &mut tallest[y / BLOCK as usize * n_blocks..][..n_blocks];
        for (most, texels) in blocks.iter_mut().zip(row.chunks(BLOCK as usize)) {
            for h in texels {
                if *h > *most {
                    *most = *h;
                }
            }
        }
    }
    let n_around = (reach / BLOCK as f32) as usize + 1;
    let spread = |values: &[f32], step: usize| {
        let mut out = vec![NOTHING; values.len()];
        for (i, out) in out.iter_mut().enumerate() {
            let place = i / step % n_blocks;
            let (low, high) = (
                place.saturating_sub(n_around),
                (place + n_around).min(n_blocks - 1),
            );
            let first = i - place * step;
            *out = (low..=high).fold(NOTHING, |most, p| most.max(values[first + p * step]));
        }
        out
    };
    let along = spread(&tallest, 1);
    spread(&along, n_blocks)
}

/// Points spread evenly over the unit disc, turned by a sixteenth of a turn of
/// the golden spiral a step.
fn spiral<const N: usize>(turn: usize) -> [Vec2; N] {
    const GOLDEN: f32 = 2.399_963_2;
    std::array::from_fn(|i| {
        let radius = ((i as f32 + 0.5) / N as f32).sqrt();
        let angle = i as f32 * GOLDEN + turn as f32 * std::f32::consts::TAU / 16.0;
        Vec2::from_angle(angle) * radius
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spiral_fills_the_disc_evenly() {
        for turn in 0..16 {
            let points = spiral::<N_SAMPLES>(turn);
            let mean = points.iter().sum::<Vec2>() / N_SAMPLES as f32;
            assert!(mean.length() < 0.15);
            assert!(points.iter().all(|p| p.length() <= 1.0));
            let mean_sq = points.iter().map(|p| p.length_squared()).sum::<f32>();
            assert!((mean_sq / N_SAMPLES as f32 - 0.5).abs() < 1e-4);
        }
    }
}
