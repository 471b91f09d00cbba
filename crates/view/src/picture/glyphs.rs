//! The letters of labels, as strokes of a pen.
//!
//! A glyph is a list of strokes parted by spaces. A stroke is a list of points,
//! two characters each: across in half units (`0` to `9`, `A` to `G`), up in
//! units (`a` is −3, `d` the base line, `j` a small letter's height, `m` a
//! capital's). Points are joined by straight lines; after a `~` they are the
//! control points of a curve that begins at the first, ends at the last and
//! passes the middle between its controls, or closes smoothly where the last
//! point is the first.

use font8x8::legacy::{GREEK_LEGACY, LATIN_LEGACY};
use glam::Vec2;

/// Parts that a bend of a curve is drawn in.
const N_PARTS: usize = 6;

/// A glyph as line segments in units, from its left end and the base line.
pub(super) struct Glyph {
    pub(super) segments: Vec<(Vec2, Vec2)>,
    /// The width without the pen [units].
    pub(super) width: f32,
}

impl Glyph {
    /// The glyph of a character; a question mark when it is not known.
    pub(super) fn of(c: char) -> Self {
        let c = match c {
            '−' | '–' | '—' | '\u{2011}' => '-',
            'μ' => 'µ',
            '’' | '‘' => '\'',
            '“' | '”' => '"',
            '\t' | '\u{a0}' => ' ',
            _ => c,
        };
        let known = |c: char| STROKES.iter().find(|(known, _)| *known == c);
        match (known(c), dots_of(c)) {
            (Some((_, strokes)), _) => Self::from_strokes(strokes, c.is_ascii_digit()),
            (None, Some(dots)) => Self::from_dots(dots),
            (None, None) => known('?').map_or(Self::from_strokes("", false), |(_, strokes)| {
                Self::from_strokes(strokes, false)
            }),
        }
    }

    fn from_strokes(strokes: &str, is_digit: bool) -> Self {
        let mut segments = Vec::new();
        for stroke in strokes.split_ascii_whitespace() {
            let (points, is_curve) = match stroke.strip_prefix('~') {
                Some(rest) => (points_of(rest), true),
                None => (points_of(stroke), false),
            };
            let line = if is_curve { curve(&points) } else { points };
            segments.extend(line.windows(2).map(|pair| (pair[0], pair[1])));
        }
        let reach = |segments: &[(Vec2, Vec2)]| {
            segments
                .iter()
                .fold(0.0_f32, |most, (a, b)| most.max(a.x).max(b.x))
        };
        let width = if is_digit {
            DIGIT_WIDTH
        } else if segments.is_empty() {
            SPACE_WIDTH
        } else {
            reach(&segments)
        };
        Self { segments, width }
    }

    /// Neighbouring dots joined by lines.
    fn from_dots(rows: [u8; 8]) -> Self {
        let dot = |column: usize, row: usize| column < 8 && row < 8 && rows[row] >> column & 1 == 1;
        let any = rows.iter().fold(0, |any, row| any | row);
        let left = any.trailing_zeros().min(7) as f32;
        // The seventh row stands on the base line.
        let place =
            |column: usize, row: usize| Vec2::new(column as f32 - left, 8.4 - 1.4 * row as f32);
        let mut segments = Vec::new();
        for row in 0..8 {
            for column in (0..8).filter(|column| dot(*column, row)) {
                let here = place(column, row);
                segments.push((here, here));
                for (right, down) in [(1, 0), (0, 1)] {
                    if dot(column + right, row + down) {
                        segments.push((here, place(column + right, row + down)));
                    }
                }
            }
        }
        let right = 7_f32 - any.leading_zeros().min(7) as f32;
        Self {
            segments,
            width: right - left,
        }
    }
}

/// All digits are as wide, so that numbers line up [units].
const DIGIT_WIDTH: f32 = 5.0;
const SPACE_WIDTH: f32 = 1.6;

fn points_of(text: &str) -> Vec<Vec2> {
    let place = |pair: &[u8]| {
        let across = match pair[0] {
            c @ b'0'..=b'9' => c - b'0',
            c => c.saturating_sub(b'A') + 10,
        };
        let up = f32::from(pair[1]) - f32::from(b'd');
        Vec2::new(f32::from(across) / 2.0, up)
    };
    text.as_bytes().chunks_exact(2).map(place).collect()
}

/// The curve of control points, as many short lines.
fn curve(points: &[Vec2]) -> Vec<Vec2> {
    let n = points.len();
    if n < 3 {
        return points.to_vec();
    }
    // Bends as (from, control, to).
    let mut bends = Vec::new();
    if points[0] == points[n - 1] {
        let around = &points[..n - 1];
        for (i, control) in around.iter().enumerate() {
            let before = around[(i + around.len() - 1) % around.len()];
            let after = around[(i + 1) % around.len()];
            bends.push((before.midpoint(*control), *control, control.midpoint(after)));
        }
    } else {
        let mut from = points[0];
        for i in 1..n - 1 {
            let to = if i == n - 2 {
                points[n - 1]
            } else {
                points[i].midpoint(points[i + 1])
            };
            bends.push((from, points[i], to));
            from = to;
        }
    }
    let mut line = vec![bends[0].0];
    for (from, control, to) in bends {
        for part in 1..=N_PARTS {
            let t = part as f32 / N_PARTS as f32;
            line.push(from.lerp(control, t).lerp(control.lerp(to, t), t));
        }
    }
    line
}

/// Letters beyond the strokes, as dots.
fn dots_of(c: char) -> Option<[u8; 8]> {
    let code = u32::from(c) as usize;
    match code {
        0xA1..=0xFF => LATIN_LEGACY.get(code - 0xA0).copied(),
        0x390..=0x3C9 => GREEK_LEGACY.get(code - 0x390).copied(),
        _ => None,
    }
    .filter(|dots| dots.iter().any(|row| *row != 0))
}

#[rustfmt::skip]
const STROKES: &[(char, &str)] = &[
    (' ', ""),
    ('a', "~0dAdAj0j0d AjAd"),
    ('b', "0m0d ~0dAdAj0j0d"),
    ('c', "~AhAj0j0dAdAf"),
    ('d', "AmAd ~0dAdAj0j0d"),
    ('e', "0gAg ~AgAj0j0dAdAf"),
    ('f', "~8m3m3j 3j3d 0j7j"),
    ('g', "~0dAdAj0j0d AjAc ~AcAa1a0b"),
    ('h', "0m0d ~0h0jAjAg AgAd"),
    ('i', "0j0d 0l0l"),
    ('j', "4j4c ~4c4a0a 4l4l"),
    ('k', "0m0d 8j0f 4hAd"),
    ('l', "0m0d"),
    ('m', "0j0d ~0h0j7j7h 7h7d ~7h7jEjEh EhEd"),
    ('n', "0j0d ~0h0jAjAg AgAd"),
    ('o', "~0dAdAj0j0d"),
    ('p', "0j0a ~0dAdAj0j0d"),
    ('q', "AjAa ~0dAdAj0j0d"),
    ('r', "0j0d ~0g0j6j"),
    ('s', "~8i8j0j0g8g8d0d0e"),
    ('t', "3l3f ~3f3d7d 0j7j"),
    ('u', "0j0g ~0g0dAdAg AjAd"),
    ('v', "0j5dAj"),
    ('w', "0j3d7jBdEj"),
    ('x', "0dAj 0jAd"),
    ('y', "0j5d Aj3a"),
    ('z', "0jAj0dAd"),
    ('A', "0d6mCd 2gAg"),
    ('B', "0d0m6m ~6mBmBi6i 0i6i ~6iCiCd6d 6d0d"),
    ('C', "~CjCm0m0dCdCg"),
    ('D', "0d0m5m ~5mCmCd5d 5d0d"),
    ('E', "Am0m0dAd 0i8i"),
    ('F', "Am0m0d 0i8i"),
    ('G', "~CjCm0m0dCdCh Ch7h"),
    ('H', "0m0d CmCd 0iCi"),
    ('I', "0m0d"),
    ('J', "8m8g ~8g8d0d0g"),
    ('K', "0m0d Bm0g 4iCd"),
    ('L', "0m0dAd"),
    ('M', "0d0m7fEmEd"),
    ('N', "0d0mCdCm"),
    ('O', "~0dDdDm0m0d"),
    ('P', "0d0m6m ~6mCmCh6h 6h0h"),
    ('Q', "~0dDdDm0m0d 8fDc"),
    ('R', "0d0m6m ~6mCmCh6h 6h0h 6hCd"),
    ('S', "~AkAm0m0iAiAd0d0f"),
    ('T', "0mCm 6m6d"),
    ('U', "0m0g ~0g0dCdCg CgCm"),
    ('V', "0m6dCm"),
    ('W', "0m4d8mCdGm"),
    ('X', "0dCm 0mCd"),
    ('Y', "0m6hCm 6h6d"),
    ('Z', "0mCm0dCd"),
    ('0', "~0dAdAm0m0d"),
    ('1', "2k6m6d"),
    ('2', "~0k0mAmAh0d 0dAd"),
    ('3', "~0k0m9m9i5i 3i5i ~5iAiAd0d0f"),
    ('4', "7d7m0fAf"),
    ('5', "9m1m0h ~0h2jAjAd1d0f"),
    ('6', "~9l7m0m0g ~0dAdAi0i0d"),
    ('7', "0mAm3d"),
    ('8', "~1i9i9m1m1i ~0dAdAi0i0d"),
    ('9', "~0hAhAm0m0h ~AjAd3d1e"),
    ('.', "0d0d"),
    (',', "1d0b"),
    (':', "0d0d 0i0i"),
    (';', "1d0b 1i1i"),
    ('!', "0m0g 0d0d"),
    ('?', "~0k0m9m9i4i4g 4d4d"),
    ('\'', "0m0k"),
    ('"', "0m0k 4m4k"),
    ('(', "~4m0k0e4b"),
    (')', "~0m4k4e0b"),
    ('[', "4m0m0b4b"),
    (']', "0m4m4b0b"),
    ('{', "6m4m3l3i0h3g3c4b6b"),
    ('}', "0m2m3l3i6h3g3c2b0b"),
    ('/', "0b8m"),
    ('\\', "0m8b"),
    ('|', "0m0b"),
    ('-', "0h7h"),
    ('+', "0h8h 4j4f"),
    ('=', "0i8i 0f8f"),
    ('_', "0cAc"),
    ('*', "4l4h 1k7i 7k1i"),
    ('#', "3d5m 8dAm 0gCg 1jDj"),
    ('%', "0dCm ~0i5i5m0m0i ~7dCdCh7h7d"),
    ('&', "Cd2k ~2k1m7m7k ~7k7i0i0f ~0f0d8dCh"),
    ('@', "~Ed0d0mGmGfBfBj ~5gBgBj5j5g"),
    ('$', "~AkAm0m0iAiAd0d0f 5n5c"),
    ('^', "0j4m8j"),
    ('~', "~0g1i4h7g8i"),
    ('`', "0m3k"),
    ('<', "8k0h8e"),
    ('>', "0k8h0e"),
    ('°', "~0j5j5m0m0j"),
    ('²', "~0l0m5m5k0i 0i5i"),
    ('³', "~0m5m5k2k ~2k5k5i0i"),
    ('±', "0i8i 4k4g 0e8e"),
    ('×', "0f8j 0j8f"),
    ('·', "0g0g"),
    ('µ', "0j0a ~0g0dAdAg AjAd"),
    ('…', "0d0d 4d4d 8d8d"),
    ('→', "0hEh AjEhAf"),
    ('Δ', "0d6mCd0d"),
    ('σ', "~0dAdAj0j0d 5jCj"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_strokes_of_its_own() {
        let printable: Vec<char> = (' '..='~').collect();
        for c in &printable {
            let n = STROKES.iter().filter(|(known, _)| known == c).count();
            assert_eq!(n, 1, "{c:?}");
        }
        for (i, (a, strokes)) in STROKES.iter().enumerate() {
            for (b, others) in &STROKES[i + 1..] {
                let alike = ['I', 'l', '|'];
                assert!(
                    strokes != others || (alike.contains(a) && alike.contains(b)),
                    "{a:?} and {b:?} look alike"
                );
            }
        }
    }

    #[test]
    fn strokes_stay_within_the_line() {
        for (c, strokes) in STROKES {
            for stroke in strokes.split_ascii_whitespace() {
                let points = stroke.trim_start_matches('~');
                assert_eq!(points.len() % 2, 0, "{c:?}");
                for pair in points.as_bytes().chunks(2) {
                    assert!(matches!(pair[0], b'0'..=b'9' | b'A'..=b'G'), "{c:?}");
                    assert!(matches!(pair[1], b'a'..=b'n'), "{c:?}");
                }
            }
        }
    }

    #[test]
    fn a_closed_curve_touches_the_middles_of_its_box() {
        let ring = curve(&points_of("0dAdAj0j0d"));
        assert_eq!(ring.first(), ring.last());
        for touch in [(2.5, 0.0), (5.0, 3.0), (2.5, 6.0), (0.0, 3.0)] {
            let touch = Vec2::from(touch);
            assert!(ring.iter().any(|p| p.distance(touch) < 1e-5), "{touch}");
        }
    }

    #[test]
    fn unknown_letters_show_as_question_marks() {
        let same = |a: char, b: char| Glyph::of(a).segments == Glyph::of(b).segments;
        assert!(same('漢', '?') && same('\u{7}', '?'));
        assert!(!same('é', '?') && !same('Ω', '?'));
        assert!(same('−', '-'));
    }
}
