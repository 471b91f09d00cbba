//! Labels: small text drawn into an image.
//!
//! The letters are 8 × 8 dots. Between the dots the ink is interpolated
//! linearly and cut at one half, which rounds the corners and makes slanted
//! strokes smooth at any size. Letters are spaced by their widths, digits
//! evenly. Plain, Latin-1 and Greek letters are known; others show as `?`.

use font8x8::legacy::{BASIC_LEGACY, GREEK_LEGACY, LATIN_LEGACY};

use super::colour::Colour;
use super::image::Image;

/// Dots of a letter's side.
const DOTS: i32 = 8;

/// Dots between letters, and of a space.
const GAP: f32 = 1.3;
const SPACE: f32 = 3.6;

/// The width of a line of text of this height [pixels].
pub(super) fn text_width(text: &str, height: u32) -> u32 {
    let dots: f32 = text.chars().map(|c| Glyph::of(c).advance).sum();
    ((dots - GAP).max(0.0) * dot_size(height)).ceil() as u32
}

/// Draws a line of text, its top left corner at (x, y), `height` pixels from
/// the top of a tall letter to the bottom of a hanging one.
pub(super) fn draw_text(
    image: &mut Image,
    (x, y): (i64, i64),
    text: &str,
    height: u32,
    colour: Colour,
) {
    let dot = dot_size(height);
    let mut pen = 0.0;
    for c in text.chars() {
        let glyph = Glyph::of(c);
        let wide = (glyph.advance * dot).ceil() as i64 + 1;
        let begin = (pen * dot).floor() as i64;
        for row in -1..=i64::from(height) {
            for column in -1..=wide {
                let place_x = ((begin + column) as f32 + 0.5) / dot - pen + glyph.left;
                let place_y = (row as f32 + 0.5) / dot;
                let cover = 0.5 + (glyph.ink(place_x, place_y) - 0.5) * dot.max(1.0);
                if cover > 0.02 {
                    image.blend(x + begin + column, y + row, colour, cover);
                }
            }
        }
        pen += glyph.advance;
    }
}

/// The text cut to a width [pixels], with dots at the end where it was cut.
pub(super) fn fitted(text: &str, height: u32, width: u32) -> String {
    if text_width(text, height) <= width {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    while letters.pop().is_some() {
        let shorter: String = letters
            .iter()
            .chain("...".chars().collect::<Vec<_>>().iter())
            .collect();
        if text_width(&shorter, height) <= width {
            return shorter;
        }
    }
    String::new()
}

fn dot_size(height: u32) -> f32 {
    height as f32 / DOTS as f32
}

struct Glyph {
    rows: [u8; 8],
    /// The first column with ink.
    left: f32,
    /// Dots to the next letter.
    advance: f32,
}

impl Glyph {
    fn of(c: char) -> Self {
        let rows = dots_of(c);
        let any = rows.iter().fold(0_u8, |any, row| any | row);
        if any == 0 {
            return Self {
                rows,
                left: 0.0,
                advance: SPACE,
            };
        }
        let (left, right) = if c.is_ascii_digit() {
            (0, 7)
        } else {
            (any.trailing_zeros(), 8 - any.leading_zeros())
        };
        Self {
            rows,
            left: left as f32,
            advance: (right - left) as f32 + GAP,
        }
    }

    /// Ink from 0 to 1 at a place in dots.
    fn ink(&self, x: f32, y: f32) -> f32 {
        let (x, y) = (x - 0.5, y - 0.5);
        let (column, row) = (x.floor() as i32, y.floor() as i32);
        let (right, down) = (x - column as f32, y - row as f32);
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        mix(
            mix(self.dot(column, row), self.dot(column + 1, row), right),
            mix(
                self.dot(column, row + 1),
                self.dot(column + 1, row + 1),
                right,
            ),
            down,
        )
    }

    fn dot(&self, column: i32, row: i32) -> f32 {
        let inside = (0..DOTS).contains(&column) && (0..DOTS).contains(&row);
        f32::from(inside && self.rows[row as usize] >> column & 1 == 1)
    }
}

fn dots_of(c: char) -> [u8; 8] {
    let code = match c {
        '−' | '–' | '—' => u32::from('-'),
        'μ' => 0xB5,
        '’' | '‘' => u32::from('\''),
        '“' | '”' => u32::from('"'),
        _ => u32::from(c),
    };
    let table: (&[[u8; 8]], u32) = match code {
        0x20..0x7F => (&BASIC_LEGACY, 0),
        0xA0..=0xFF => (&LATIN_LEGACY, 0xA0),
        0x390..=0x3C9 => (&GREEK_LEGACY, 0x390),
        0x09 => return [0; 8],
        _ => (&[], 0),
    };
    let found = table.0.get((code - table.1.min(code)) as usize);
    *found.unwrap_or(&BASIC_LEGACY[usize::from(b'?')])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Size;

    fn page() -> Image {
        Image::filled(Size::new(200, 40), Colour::WHITE).unwrap()
    }

    fn ink_box(image: &Image) -> Option<(u32, u32, u32, u32)> {
        let mut found: Option<(u32, u32, u32, u32)> = None;
        for y in 0..image.height() {
            for x in 0..image.width() {
                if image.pixel(x, y) != Some(Colour::WHITE) {
                    let (l, t, r, b) = found.unwrap_or((x, y, x, y));
                    found = Some((l.min(x), t.min(y), r.max(x), b.max(y)));
                }
            }
        }
        found
    }

    #[test]
    fn ink_stays_within_the_measured_box() {
        for text in ["frame 12", "Wg|", "0.5 mm", "²µ°Δσ−×"] {
            let mut image = page();
            draw_text(&mut image, (10, 10), text, 16, Colour::BLACK);
            let (left, top, right, bottom) = ink_box(&image).unwrap();
            let wide = text_width(text, 16);
            assert!(
                left >= 9 && right <= 10 + wide + 1,
                "{text}: {left}..{right}, {wide}"
            );
            assert!(
                right + 6 > 10 + wide,
                "{text} is drawn narrower than measured"
            );
            assert!(top >= 9 && bottom <= 26, "{text}: {top}..{bottom}");
        }
    }

    #[test]
    fn a_letter_has_the_ink_of_its_dots() {
        // `H` in dots, at ten pixels a dot.
        let mut image = Image::filled(Size::new(90, 90), Colour::WHITE).unwrap();
        draw_text(&mut image, (0, 0), "H", 80, Colour::BLACK);
        let n_dots: u32 = BASIC_LEGACY[usize::from(b'H')]
            .iter()
            .map(|r| r.count_ones())
            .sum();
        let n_dark = image.rgb8().chunks(3).filter(|p| p[0] < 128).count() as f32;
        assert!((n_dark / (100.0 * n_dots as f32) - 1.0).abs() < 0.1);
    }

    #[test]
    fn text_off_the_image_is_cut_and_long_text_shortened() {
        let mut image = page();
        draw_text(&mut image, (-500, -9), "far away", 16, Colour::BLACK);
        draw_text(&mut image, (190, 35), "over the edge", 16, Colour::BLACK);
        assert!(ink_box(&image).is_some());
        let short = fitted("a very long label that cannot fit", 16, 90);
        assert!(short.ends_with("...") && text_width(&short, 16) <= 90);
        assert_eq!(fitted("ok", 16, 90), "ok");
        assert_eq!(fitted("x", 16, 1), "");
    }

    #[test]
    fn unknown_letters_show_as_question_marks() {
        assert_eq!(dots_of('漢'), dots_of('?'));
        assert_ne!(dots_of('é'), dots_of('?'));
        assert_ne!(dots_of('Δ'), dots_of('?'));
    }
}
