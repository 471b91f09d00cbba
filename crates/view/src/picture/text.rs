//! Labels: small text drawn into an image with a round pen.
//!
//! Plain, Latin-1 and Greek letters are known; others show as `?`. One line, no
//! shaping.

use glam::Vec2;

use super::colour::Colour;
use super::glyphs::Glyph;
use super::image::Image;

/// From the top of the tallest letter to the bottom of a hanging one, pen and
/// all [units of the glyphs].
const LINE: f32 = 13.6;

/// The base line, from the bottom [units].
const BASE: f32 = 3.6;

/// The pen, and the room between letters, from pen to pen [units].
const PEN: f32 = 1.25;
const GAP: f32 = 2.5;

/// The width of a line of text of this height [pixels].
pub(super) fn text_width(text: &str, height: u32) -> u32 {
    let units: f32 = text.chars().map(|c| Glyph::of(c).width + GAP).sum();
    if units == 0.0 {
        return 0;
    }
    ((units - GAP + PEN) * unit(height)).ceil() as u32
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
    let unit = unit(height);
    let radius = (0.5 * PEN * unit).max(0.55);
    let mut pen = 0.5 * PEN * unit;
    for c in text.chars() {
        let glyph = Glyph::of(c);
        // Upright strokes begin on whole pixels, which keeps them crisp.
        let left = (pen - radius).round() + radius;
        let place = |p: Vec2| Vec2::new(left + p.x * unit, (LINE - BASE - p.y) * unit);
        let segments: Vec<(Vec2, Vec2)> = glyph
            .segments
            .iter()
            .map(|(a, b)| (place(*a), place(*b)))
            .collect();
        let first = (left - radius).floor() as i64 - 1;
        let last = (left + glyph.width * unit + radius).ceil() as i64 + 1;
        if !segments.is_empty() {
            for row in -1..=i64::from(height) {
                for column in first..=last {
                    let here = Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
                    let cover = radius + 0.5 - distance(here, &segments);
                    if cover > 0.02 {
                        image.blend(x + column, y + row, colour, cover);
                    }
                }
            }
        }
        pen += (glyph.width + GAP) * unit;
    }
}

/// The text cut to a width [pixels], with dots at the end where it was cut.
pub(super) fn fitted(text: &str, height: u32, width: u32) -> String {
    if text_width(text, height) <= width {
        return text.to_owned();
    }
    let mut shorter = text.to_owned();
    while shorter.pop().is_some() {
        let cut = format!("{}…", shorter.trim_end());
        if text_width(&cut, height) <= width {
            return cut;
        }
    }
    String::new()
}

/// Pixels of a glyph's unit in a line of this height.
fn unit(height: u32) -> f32 {
    height as f32 / LINE
}

/// How far a point is from the nearest of some segments.
fn distance(point: Vec2, segments: &[(Vec2, Vec2)]) -> f32 {
    let nearest_sq = segments.iter().fold(f32::INFINITY, |nearest, (a, b)| {
        let (along, to_point) = (*b - *a, point - *a);
        let t = (to_point.dot(along) / along.length_squared().max(1e-9)).clamp(0.0, 1.0);
        nearest.min(to_point.distance_squared(along * t))
    });
    nearest_sq.sqrt()
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
        for text in ["frame 12", "Wg|", "0.5 mm", "²µ°Δσ−×", "éüΩ"] {
            for height in [10, 16, 23] {
                let mut image = page();
                draw_text(&mut image, (10, 10), text, height, Colour::BLACK);
                let (left, top, right, bottom) = ink_box(&image).unwrap();
                let wide = text_width(text, height);
                assert!(
                    left >= 9 && right <= 10 + wide + 1,
                    "{text}: {right}, {wide}"
                );
                assert!(right + 6 > 10 + wide, "{text} is narrower than measured");
                assert!(top >= 9 && bottom <= 10 + height, "{text}: {top}..{bottom}");
            }
        }
    }

    #[test]
    fn a_letter_has_the_ink_of_its_strokes() {
        // `H`: two strokes of 9 units and one of 6 between them, round ends on
        // the two and the pen's width of the third under each.
        let mut image = Image::filled(Size::new(190, 190), Colour::WHITE).unwrap();
        let height = 136;
        draw_text(&mut image, (20, 20), "H", height, Colour::BLACK);
        let pen = PEN * 10.0;
        let expected =
            2.0 * (90.0 * pen + std::f32::consts::FRAC_PI_4 * pen * pen) + (60.0 - pen) * pen;
        let ink: f32 = (0..190 * 190)
            .filter_map(|i| image.pixel(i % 190, i / 190))
            .map(|colour| 1.0 - colour.linear().x)
            .sum();
        assert!(
            (ink / expected - 1.0).abs() < 0.02,
            "{ink} pixels of ink, {expected} expected"
        );
    }

    #[test]
    fn text_off_the_image_is_cut_and_long_text_shortened() {
        let mut image = page();
        draw_text(&mut image, (-500, -9), "far away", 16, Colour::BLACK);
        assert!(ink_box(&image).is_none());
        draw_text(&mut image, (190, 35), "over the edge", 16, Colour::BLACK);
        assert!(ink_box(&image).is_some());
        let short = fitted("a very long label that cannot fit", 16, 90);
        assert!(short.ends_with('…') && text_width(&short, 16) <= 90);
        assert_eq!(fitted("ok", 16, 90), "ok");
        assert_eq!(fitted("x", 16, 1), "");
        assert_eq!(text_width("", 16), 0);
    }
}
