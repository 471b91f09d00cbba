//! Several pictures on one: contact sheets and colour bars.

use super::camera::Size;
use super::colour::Colour;
use super::colour_map::ColourMap;
use super::image::{Image, ImageError};
use super::text::{draw_text, fitted, text_width};

/// Between cells, and around all [pixels].
const GAP: u32 = 6;

/// Pictures in rows of `columns`, a label under each, a title above.
///
/// Labels may be fewer than pictures, and empty; text that does not fit is
/// shortened. Text is as large as suits the pictures.
///
/// # Errors
/// When there is no picture or the sheet would be too large.
pub fn sheet(
    images: &[Image],
    columns: usize,
    labels: &[String],
    title: &str,
) -> Result<Image, ImageError> {
    if images.is_empty() {
        return Err(ImageError::NoImages);
    }
    let cell_width = images.iter().map(Image::width).max().unwrap_or(1);
    let cell_height = images.iter().map(Image::height).max().unwrap_or(1);
    let columns = columns.clamp(1, images.len());
    let rows = images.len().div_ceil(columns);
    let label_height = text_height(cell_width);
    let has_labels = labels.iter().take(images.len()).any(|l| !l.is_empty());
    let strip = if has_labels { label_height + 10 } else { 0 };
    let title_height = if title.is_empty() {
        0
    } else {
        label_height * 3 / 2
    };
    let head = if title.is_empty() {
        0
    } else {
        title_height + 14
    };
    let along = |n: usize, cell: u64| {
        let n = u64::try_from(n).unwrap_or(u64::MAX);
        let length = n.saturating_mul(cell + u64::from(GAP)) + u64::from(GAP);
        u32::try_from(length).unwrap_or(u32::MAX)
    };
    let size = Size::new(
        along(columns, cell_width.into()),
        along(rows, u64::from(cell_height) + u64::from(strip)).saturating_add(head),
    );
    let mut sheet = Image::filled(size, Colour::PAPER)?;
    if !title.is_empty() {
        let text = fitted(title, title_height, size.width.saturating_sub(4 * GAP));
        let place = (i64::from(2 * GAP), 10);
        draw_text(&mut sheet, place, &text, title_height, Colour::INK);
    }
    for (i, image) in images.iter().enumerate() {
        let (column, row) = ((i % columns) as u32, (i / columns) as u32);
        let x = GAP + column * (cell_width + GAP);
        let y = head + GAP + row * (cell_height + strip + GAP);
        let inset = (
            (cell_width - image.width()) / 2,
            (cell_height - image.height()) / 2,
        );
        sheet.paste(image, x + inset.0, y + inset.1);
        if let Some(label) = labels.get(i).filter(|label| !label.is_empty()) {
            let text = fitted(label, label_height, cell_width);
            let left = x + (cell_width - text_width(&text, label_height).min(cell_width)) / 2;
            let place = (i64::from(left), i64::from(y + cell_height + 5));
            draw_text(&mut sheet, place, &text, label_height, Colour::INK);
        }
    }
    Ok(sheet)
}

/// What the colours of a picture stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct ColourBar {
    /// The colours.
    pub map: ColourMap,
    /// The numbers at the low and high end.
    pub range: (f32, f32),
    /// What is measured, such as `error`.
    pub label: String,
    /// Its unit, such as `mm`; may be empty.
    pub unit: String,
}

impl ColourBar {
    /// The picture with this bar at its right, with numbers at the ends and
    /// between them.
    ///
    /// # Errors
    /// When the wider picture would be too large.
    pub fn beside(&self, image: &Image) -> Result<Image, ImageError> {
        let height = text_height(image.height().min(1400));
        let (low, high) = self.range;
        let marks: Vec<(f32, String)> = (0..=N_MARKS)
            .map(|i| {
                let t = i as f32 / N_MARKS as f32;
                (t, number(low + (high - low) * t, high - low))
            })
            .collect();
        let title = match (self.label.is_empty(), self.unit.is_empty()) {
            (_, true) => self.label.clone(),
            (true, false) => self.unit.clone(),
            (false, false) => format!("{} [{}]", self.label, self.unit),
        };
        let bar_width = height * 5 / 4;
        let numbers_width = marks.iter().map(|(_, n)| text_width(n, height)).max();
        let content = (bar_width + 10 + numbers_width.unwrap_or(0)).max(text_width(&title, height));
        let strip = content.min(2000) + 4 * GAP;
        let size = Size::new(image.width().saturating_add(strip), image.height());
        let mut out = Image::filled(size, Colour::PAPER)?;
        out.paste(image, 0, 0);
        let left = i64::from(image.width() + 2 * GAP);
        let top = i64::from(2 * GAP);
        let shown = fitted(&title, height, content);
        draw_text(&mut out, (left, top), &shown, height, Colour::INK);
        let bar_top = top + i64::from(2 * height);
        let bar_bottom =
            (i64::from(image.height()) - i64::from(2 * GAP + height / 2)).max(bar_top + 1);
        let length = bar_bottom - bar_top;
        for row in 0..length {
            let t = 1.0 - (row as f32 + 0.5) / length as f32;
            let colour = self.map.colour(t);
            for column in 0..i64::from(bar_width) {
                out.set(left + column, bar_top + row, colour);
            }
        }
        for (t, text) in marks {
            let y = bar_bottom - (t * length as f32).round() as i64;
            let bar_right = left + i64::from(bar_width);
            for column in 0..4 {
                out.set(bar_right + column, y.min(bar_bottom - 1), Colour::INK);
            }
            let place = (bar_right + 8, y - i64::from(height / 2));
            draw_text(&mut out, place, &text, height, Colour::INK);
        }
        Ok(out)
    }
}

/// Parts that the numbers of a bar divide it into.
const N_MARKS: usize = 4;

/// The height of text that suits a picture [pixels].
fn text_height(side: u32) -> u32 {
    (side / 26).clamp(14, 30)
}

/// A number with as many digits as the range asks for.
fn number(value: f32, span: f32) -> String {
    let span = span.abs();
    if !(1e-4..1e6).contains(&span) {
        return format!("{value:.2e}");
    }
    // Three digits of the span.
    let decimals = (2.0 - f64::from(span).log10().floor()).clamp(0.0, 7.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    if text == "-0" { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(side: u32, grey: u8) -> Image {
        Image::filled(Size::square(side), Colour::rgb(grey, grey, grey)).unwrap()
    }

    fn n_ink(image: &Image, x: std::ops::Range<u32>, y: std::ops::Range<u32>) -> usize {
        y.flat_map(|y| x.clone().map(move |x| (x, y)))
            .filter(|(x, y)| image.pixel(*x, *y) != Some(Colour::PAPER))
            .count()
    }

    #[test]
    fn cells_titles_and_labels_are_where_they_belong() {
        let images: Vec<Image> = (0..5).map(|i| tile(100, 10 + 20 * i)).collect();
        let labels: Vec<String> = (0..4).map(|i| format!("frame {i}")).collect();
        let made = sheet(&images, 3, &labels, "walk").unwrap();
        // Text is 14 high, the title 21: head 35, cells of 100 + 24 under it.
        assert_eq!(made.size(), Size::new(6 + 3 * 106, 35 + 6 + 2 * 130));
        for (i, image) in images.iter().enumerate() {
            let (x, y) = (6 + (i as u32 % 3) * 106, 41 + (i as u32 / 3) * 130);
            assert_eq!(made.pixel(x, y), image.pixel(0, 0), "cell {i}");
            assert_eq!(made.pixel(x + 99, y + 99), image.pixel(0, 0), "cell {i}");
            let ink = n_ink(&made, x..x + 100, y + 100..y + 124);
            assert_eq!(ink > 50, i < 4, "label {i} has {ink} pixels");
        }
        assert!(n_ink(&made, 0..made.width(), 0..35) > 50, "the title");
        // The last cell of the second row is empty.
        assert_eq!(n_ink(&made, 218..324, 171..301), 0);
    }

    #[test]
    fn without_labels_there_is_no_room_for_them() {
        let made = sheet(&[tile(50, 0), tile(30, 255)], 9, &[], "").unwrap();
        assert_eq!(made.size(), Size::new(118, 62));
        assert_eq!(made.pixel(62 + 10, 6 + 10), Some(Colour::WHITE));
        assert_eq!(made.pixel(62 + 9, 6 + 10), Some(Colour::PAPER));
    }

    #[test]
    fn too_many_pictures_are_an_error() {
        assert!(matches!(sheet(&[], 3, &[], ""), Err(ImageError::NoImages)));
        let wide = Image::filled(Size::new(8000, 1), Colour::WHITE).unwrap();
        let many = vec![wide; 5];
        assert!(matches!(
            sheet(&many, 5, &[], ""),
            Err(ImageError::BadSize { .. })
        ));
    }

    #[test]
    fn a_bar_runs_from_low_at_the_bottom_to_high_at_the_top() {
        let bar = ColourBar {
            map: ColourMap::Ember,
            range: (0.0, 25.0),
            label: "error".to_owned(),
            unit: "mm".to_owned(),
        };
        let made = bar.beside(&tile(400, 90)).unwrap();
        assert_eq!(made.height(), 400);
        assert_eq!(made.pixel(399, 399), Some(Colour::rgb(90, 90, 90)));
        let column: Vec<Colour> = (0..400).filter_map(|y| made.pixel(415, y)).collect();
        let near = |a: Colour, b: Colour| {
            a.r.abs_diff(b.r) < 5 && a.g.abs_diff(b.g) < 5 && a.b.abs_diff(b.b) < 5
        };
        let first = column.iter().position(|c| near(*c, bar.map.colour(1.0)));
        let last = column.iter().rposition(|c| near(*c, bar.map.colour(0.0)));
        assert!(first.unwrap() < 60 && last.unwrap() > 360);
        // Numbers beside the bar: at least at both ends.
        assert!(n_ink(&made, 436..made.width(), 372..396) > 10);
        assert!(n_ink(&made, 436..made.width(), 32..56) > 10);
        // A picture too small for a bar still does not fail.
        assert!(bar.beside(&tile(3, 0)).is_ok());
    }

    #[test]
    fn numbers_have_the_digits_that_their_range_asks_for() {
        for (value, span, text) in [
            (12.5, 25.0, "12.5"),
            (0.0, 25.0, "0"),
            (-0.0001, 25.0, "0"),
            (0.0125, 0.05, "0.0125"),
            (1500.0, 3000.0, "1500"),
            (2e-6, 4e-6, "2.00e-6"),
        ] {
            assert_eq!(number(value, span), text);
        }
    }
}
