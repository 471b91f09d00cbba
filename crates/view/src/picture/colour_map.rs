//! Colours for numbers: [`ColourMap`].
//!
//! The maps are paths through Oklab, where equal steps look about equal
//! (B. Ottosson, "A perceptual color space for image processing", 2020):
//! lightness L runs evenly, hue h turns evenly, and chroma C is a smooth curve
//! just below what sRGB has room for.
//!
//! ```text
//! a = C cos h,  b = C sin h
//! l = (L + 0.3963377774 a + 0.2158037573 b)³
//! m = (L − 0.1055613458 a − 0.0638541728 b)³
//! s = (L − 0.0894841775 a − 1.2914855480 b)³
//! r = +4.0767416621 l − 3.3077115913 m + 0.2309699292 s
//! g = −1.2684380046 l + 2.6097574011 m − 0.3413193965 s
//! b = −0.0041960863 l − 0.7034186147 m + 1.7076147010 s
//! ```

use glam::Vec3;

use super::colour::Colour;

/// A colour for every number between the ends of a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColourMap {
    /// Dark violet through blue and green to yellow: sizes and amounts.
    #[default]
    Meadow,
    /// Nearly black through red and orange to pale yellow: errors.
    Ember,
    /// Blue through pale grey to red: signed values, zero in the middle.
    Diverging,
}

/// Entries of a map's table.
const N_ENTRIES: usize = 256;

impl ColourMap {
    /// The colour at `t` from 0, the low end, to 1, the high end; beyond is the
    /// end's colour.
    pub fn colour(self, t: f32) -> Colour {
        Colour::from_linear(self.linear(t))
    }

    /// Linear light at `t` from 0 to 1.
    fn linear(self, t: f32) -> Vec3 {
        let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
        let mix = |from: f32, to: f32, t: f32| from + (to - from) * t;
        let (lightness, chroma, hue_degrees) = match self {
            Self::Meadow => (
                mix(0.24, 0.92, t),
                0.094 + 0.32 * (t - 0.5).max(0.0).powi(2),
                mix(305.0, 103.0, t),
            ),
            Self::Ember => (
                mix(0.14, 0.96, t),
                0.05 + 0.125 * (std::f32::consts::PI * t.powf(0.9)).sin(),
                mix(-60.0, 100.0, t),
            ),
            Self::Diverging => {
                let s = (2.0 * t - 1.0).abs();
                let hue = if t < 0.5 { 255.0 } else { 28.0 };
                (mix(0.94, 0.46, s), 0.15 * s, hue)
            }
        };
        let (sin, cos) = hue_degrees.to_radians().sin_cos();
        linear_from_oklab(lightness, chroma * cos, chroma * sin)
    }

    /// The map as a table of linear light.
    pub(super) fn table(self) -> Vec<Vec3> {
        (0..N_ENTRIES)
            .map(|i| self.linear(i as f32 / (N_ENTRIES - 1) as f32))
            .collect()
    }
}

/// The colour of a table at `t` from 0 to 1, between its entries.
pub(super) fn look_up(table: &[Vec3], t: f32) -> Vec3 {
    let last = table.len() - 1;
    let place = t.clamp(0.0, 1.0) * last as f32;
    let low = (place as usize).min(last);
    let high = (low + 1).min(last);
    table[low].lerp(table[high], place - low as f32)
}

fn linear_from_oklab(lightness: f32, a: f32, b: f32) -> Vec3 {
    let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    Vec3::new(
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE lightness, a yardstick that the maps were not made with.
    fn lightness(colour: Colour) -> f32 {
        let light = colour.linear().dot(Vec3::new(0.2126, 0.7152, 0.0722));
        if light > 0.008_856 {
            116.0 * light.cbrt() - 16.0
        } else {
            903.3 * light
        }
    }

    #[test]
    fn sequential_maps_grow_lighter_evenly() {
        for map in [ColourMap::Meadow, ColourMap::Ember] {
            let l: Vec<f32> = (0..=16)
                .map(|i| lightness(map.colour(i as f32 / 16.0)))
                .collect();
            let mean = (l[16] - l[0]) / 16.0;
            assert!(mean > 4.0, "{map:?} spans too little: {l:?}");
            for (i, pair) in l.windows(2).enumerate() {
                let step = pair[1] - pair[0];
                assert!(
                    step > 0.5 * mean && step < 1.6 * mean,
                    "{map:?} step {i} is {step}, mean {mean}"
                );
            }
        }
    }

    #[test]
    fn the_diverging_map_is_blue_grey_red_and_symmetric_in_lightness() {
        let map = ColourMap::Diverging;
        let (low, middle, high) = (map.colour(0.0), map.colour(0.5), map.colour(1.0));
        assert!(low.b > low.r && high.r > high.b);
        assert!(middle.r.abs_diff(middle.b) < 6 && middle.r > 220);
        for i in 0..8 {
            let t = i as f32 / 16.0;
            let difference = lightness(map.colour(t)) - lightness(map.colour(1.0 - t));
            assert!(difference.abs() < 6.0, "at {t}: {difference}");
        }
    }

    #[test]
    fn the_ends_hold_beyond_the_range() {
        for map in [ColourMap::Meadow, ColourMap::Ember, ColourMap::Diverging] {
            assert_eq!(map.colour(-3.0), map.colour(0.0));
            assert_eq!(map.colour(3.0), map.colour(1.0));
            let table = map.table();
            assert_eq!(Colour::from_linear(look_up(&table, 1.0)), map.colour(1.0));
        }
    }

    #[test]
    fn maps_stay_within_srgb() {
        for map in [ColourMap::Meadow, ColourMap::Ember, ColourMap::Diverging] {
            for (i, light) in map.table().iter().enumerate() {
                let inside = light.min_element() >= -1e-3 && light.max_element() <= 1.001;
                assert!(inside, "{map:?}, entry {i}: {light}");
            }
        }
    }

    #[test]
    fn white_is_white_in_oklab() {
        assert!((linear_from_oklab(1.0, 0.0, 0.0) - Vec3::ONE).length() < 1e-4);
    }
}
