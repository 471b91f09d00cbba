//! Colours: sRGB outside, linear light inside.
//!
//! ```text
//! linear = s / 12.92                       for s ≤ 0.04045
//!        = ((s + 0.055) / 1.055)^2.4       above
//! ```

use std::sync::OnceLock;

use glam::Vec3;

/// A colour as written in a picture: sRGB, 8 bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Colour {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

impl Colour {
    /// White.
    pub const WHITE: Self = Self::rgb(255, 255, 255);
    /// Black.
    pub const BLACK: Self = Self::rgb(0, 0, 0);
    /// Ink of labels.
    pub const INK: Self = Self::rgb(52, 54, 60);
    /// Paper of sheets.
    pub const PAPER: Self = Self::rgb(246, 245, 243);
    /// A body.
    pub const SKIN: Self = Self::rgb(203, 165, 140);
    /// Cloth: a muted blue.
    pub const BLUE: Self = Self::rgb(84, 118, 166);
    /// Cloth: a muted red.
    pub const RED: Self = Self::rgb(172, 82, 84);
    /// Cloth: a muted green.
    pub const GREEN: Self = Self::rgb(98, 142, 104);
    /// Cloth: a dark slate.
    pub const SLATE: Self = Self::rgb(92, 96, 116);
    /// Cloth: ochre.
    pub const OCHRE: Self = Self::rgb(196, 152, 82);
    /// Cloth: mauve.
    pub const MAUVE: Self = Self::rgb(140, 104, 146);

    /// The cloth colours, distinct from the skin and from one another.
    pub const CLOTH: [Self; 6] = [
        Self::BLUE,
        Self::RED,
        Self::GREEN,
        Self::SLATE,
        Self::OCHRE,
        Self::MAUVE,
    ];

    /// A colour of three sRGB channels.
    pub const fn rgb(r: u8, g: u8, b: u8) -> Self {
        Self { r, g, b }
    }

    /// Linear light, 0 to 1 a channel.
    pub(super) fn linear(self) -> Vec3 {
        let channel = |c: u8| {
            let s = f32::from(c) / 255.0;
            if s <= 0.040_45 {
                s / 12.92
            } else {
                ((s + 0.055) / 1.055).powf(2.4)
            }
        };
        Vec3::new(channel(self.r), channel(self.g), channel(self.b))
    }

    /// The nearest colour to linear light; beyond 0 and 1 is cut.
    pub(super) fn from_linear(light: Vec3) -> Self {
        let encode = Encoder::get();
        Self::rgb(
            encode.channel(light.x, NEAREST),
            encode.channel(light.y, NEAREST),
            encode.channel(light.z, NEAREST),
        )
    }
}

/// Linear light to 8 bits by a table, fine enough that every code survives the
/// way there and back.
pub(super) struct Encoder {
    /// Codes in 1/256.
    codes: Vec<u16>,
}

/// What is added before a code is cut to a whole number: rounding to nearest.
pub(super) const NEAREST: u8 = 128;

/// Steps of the table: at the steepest place one step is 0.2 of a code.
const N_STEPS: usize = 16_384;

impl Encoder {
    /// The one table.
    pub(super) fn get() -> &'static Self {
        static TABLE: OnceLock<Encoder> = OnceLock::new();
        TABLE.get_or_init(|| Self {
            codes: (0..=N_STEPS)
                .map(|i| {
                    let light = i as f32 / N_STEPS as f32;
                    let s = if light <= 0.003_130_8 {
                        light * 12.92
                    } else {
                        1.055 * light.powf(1.0 / 2.4) - 0.055
                    };
                    (s * 255.0 * 256.0).round() as u16
                })
                .collect(),
        })
    }

    /// The code of one channel of linear light, cut after `dither`/256 was added.
    #[inline]
    pub(super) fn channel(&self, light: f32, dither: u8) -> u8 {
        // A float cast saturates and sends NaN to 0, so the index is in range.
        let index = (light * N_STEPS as f32 + 0.5) as u32;
        let fine = self.codes[index.min(N_STEPS as u32) as usize];
        (fine.saturating_add(u16::from(dither)) >> 8) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_linear_light() {
        for code in 0..=255 {
            let colour = Colour::rgb(code, 255 - code, 128);
            assert_eq!(Colour::from_linear(colour.linear()), colour);
        }
    }

    #[test]
    fn middle_grey_is_a_fifth_of_the_light() {
        let light = Colour::rgb(118, 118, 118).linear().x;
        assert!((light - 0.181).abs() < 1e-3, "{light}");
    }

    #[test]
    fn light_beyond_the_range_is_cut() {
        assert_eq!(Colour::from_linear(Vec3::splat(7.0)), Colour::WHITE);
        assert_eq!(Colour::from_linear(Vec3::splat(-1.0)), Colour::BLACK);
        assert_eq!(Colour::from_linear(Vec3::NAN), Colour::BLACK);
    }
}
