//! Small plots as SVG text: [`Plot`].
//!
//! Lines and words are of a middle grey and curves of middle tones, so that a
//! plot is readable on white and on black. There is no background and nothing
//! from outside.
//!
//! ```
//! use drapery_eval::Plot;
//!
//! let svg = Plot::new("error", "frame", "cm")
//!     .line("skinning", &[(0.0, 1.0), (1.0, 1.4), (2.0, 1.2)])
//!     .svg();
//! assert!(svg.starts_with("<svg") && svg.contains("skinning"));
//! ```

use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
/// Room for words at the left, the top, the right and the bottom.
const ROOM: [f64; 4] = [58.0, 34.0, 14.0, 44.0];
const GREY: &str = "#888";
/// Tones that are told apart on white, on black and without red or green.
const TONES: [&str; 8] = [
    "#3b82c4", "#e08214", "#2a9d6f", "#c0518e", "#8c6bb1", "#b8860b", "#4db3b3", "#c44e52",
];
/// Most points of a curve; of more, each is the mean of its neighbours.
const MOST: usize = 1500;

/// Curves or steps over one pair of axes.
#[derive(Clone, Debug)]
pub struct Plot {
    title: String,
    axes: [String; 2],
    curves: Vec<(String, Vec<(f64, f64)>)>,
}

impl Plot {
    /// An empty plot with a title and what its axes are.
    pub fn new(title: &str, x: &str, y: &str) -> Self {
        Self {
            title: title.to_string(),
            axes: [x.to_string(), y.to_string()],
            curves: Vec::new(),
        }
    }

    /// Adds a curve through points; those that are not finite are left out.
    #[must_use]
    pub fn line(mut self, name: &str, points: &[(f64, f64)]) -> Self {
        let sound: Vec<(f64, f64)> = points
            .iter()
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .copied()
            .collect();
        let group = sound.len().div_ceil(MOST).max(1);
        let means = sound.chunks(group).map(|part| {
            let n = part.len() as f64;
            let sum = part.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
            (sum.0 / n, sum.1 / n)
        });
        self.curves.push((name.to_string(), means.collect()));
        self
    }

    /// Adds the outline of bars of equal width from 0 to `limit`.
    #[must_use]
    pub fn bars(mut self, name: &str, bars: &[f64], limit: f64) -> Self {
        let width = limit / bars.len().max(1) as f64;
        let corners = bars.iter().enumerate().flat_map(|(i, y)| {
            let x = i as f64 * width;
            [(x, *y), (x + width, *y)]
        });
        let outline = std::iter::once((0.0, 0.0)).chain(corners);
        let outline = outline.chain([(limit, 0.0)]);
        self.curves.push((name.to_string(), outline.collect()));
        self
    }

    /// The whole drawing. Both axes begin at 0, that of y below it where a curve
    /// goes there.
    pub fn svg(&self) -> String {
        let points = || self.curves.iter().flat_map(|(_, points)| points);
        let x_max = points().map(|p| p.0).fold(0.0, f64::max).max(1e-9);
        let y_top = points().map(|p| p.1).fold(0.0, f64::max).max(1e-9);
        let y_bottom = points().map(|p| p.1).fold(0.0, f64::min);
        let y_step = step(y_top - y_bottom);
        let (n_below, n_above) = ((-y_bottom / y_step).ceil(), (y_top / y_step).ceil());
        let (y_min, y_max) = (-n_below * y_step, n_above * y_step);
        let [left, top, right, bottom] = ROOM;
        let x_of = |x: f64| left + x / x_max * (WIDTH - left - right);
        let y_of =
            |y: f64| HEIGHT - bottom - (y - y_min) / (y_max - y_min) * (HEIGHT - top - bottom);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"system-ui,sans-serif\" \
             font-size=\"12\" fill=\"{GREY}\">\n"
        );
        text(&mut svg, (left, 16.0), "start", &self.title);
        for i in -(n_below as i32)..=n_above as i32 {
            let value = f64::from(i) * y_step;
            let y = y_of(value);
            let opacity = if i == 0 { 1.0 } else { 0.3 };
            let x = [left, WIDTH - right];
            rule(&mut svg, (x[0], y), (x[1], y), opacity);
            text(
                &mut svg,
                (left - 6.0, y + 4.0),
                "end",
                &number(value, y_step),
            );
        }
        let x_step = step(x_max);
        for i in 0..=((x_max / x_step).floor() as u32) {
            let value = f64::from(i) * x_step;
            let place = (x_of(value), HEIGHT - bottom + 16.0);
            text(&mut svg, place, "middle", &number(value, x_step));
        }
        let middle = (left + WIDTH - right) / 2.0;
        text(&mut svg, (middle, HEIGHT - 8.0), "middle", &self.axes[0]);
        text(&mut svg, (left - 6.0, top - 6.0), "end", &self.axes[1]);
        let mut label = WIDTH - right;
        for (i, (name, points)) in self.curves.iter().enumerate().rev() {
            let tone = TONES[i % TONES.len()];
            let mut path = String::new();
            for (x, y) in points {
                let _ = write!(path, "{:.1},{:.1} ", x_of(*x), y_of(*y));
            }
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{tone}\" stroke-width=\"1.5\"/>",
                path.trim_end()
            );
            let _ = writeln!(
                svg,
                "<text x=\"{label:.1}\" y=\"16\" text-anchor=\"end\" fill=\"{tone}\">{}</text>",
                escaped(name)
            );
            label -= 7.5 * name.chars().count() as f64 + 14.0;
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// A round step of which a few make up `range`.
fn step(range: f64) -> f64 {
    let power = 10f64.powf((range / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|s| s * power);
    let enough = steps.into_iter().find(|s| range / s <= 6.0);
    enough.unwrap_or(10.0 * power)
}

/// A number with as many decimals as its step needs.
fn number(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    let words = escaped(words);
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
    );
}

fn rule(svg: &mut String, a: (f64, f64), b: (f64, f64), opacity: f64) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{GREY}\" opacity=\"{opacity}\"/>",
        a.0, a.1, b.0, b.1
    );
}

/// Text that means itself in XML.
fn escaped(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The points of the first curve in the drawing.
    fn drawn(svg: &str) -> Vec<(f64, f64)> {
        let start = svg.find("points=\"").unwrap() + 8;
        let end = start + svg[start..].find('"').unwrap();
        let pairs = svg[start..end].split(' ').map(|pair| {
            let (x, y) = pair.split_once(',').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        });
        pairs.collect()
    }

    #[test]
    fn a_curve_is_where_its_axes_say() {
        let svg = Plot::new("t", "x", "y")
            .line("c", &[(0.0, 0.0), (10.0, 2.0)])
            .svg();
        let points = drawn(&svg);
        assert_eq!(points[0], (58.0, 256.0));
        assert_eq!(points[1], (706.0, 34.0));
        // 0 to 2 in steps of a half: at most six.
        assert!(svg.contains(">0.5<") && svg.contains(">2.0<") && !svg.contains(">2.5<"));
    }

    #[test]
    fn what_is_below_zero_is_below_its_line() {
        let svg = Plot::new("t", "x", "y")
            .line("c", &[(0.0, 3.0), (1.0, 0.0), (2.0, -1.0)])
            .svg();
        // −1 to 3, in four steps over 222.
        let points = drawn(&svg);
        assert_eq!(points, [(58.0, 34.0), (382.0, 200.5), (706.0, 256.0)]);
        assert!(svg.contains(">-1<") && svg.contains(">3<"));
    }

    #[test]
    fn steps_are_round_and_few() {
        for range in [0.0013, 0.07, 0.9, 1.0, 3.3, 12.0, 700.0, 99_999.0] {
            let step = step(range);
            assert!((1.0..=6.0).contains(&(range / step)), "{range}: {step}");
            let first = step / 10f64.powf(step.log10().floor());
            assert!(
                [1.0, 2.0, 5.0, 10.0]
                    .iter()
                    .any(|s| (s - first).abs() < 1e-6)
            );
        }
    }

    #[test]
    fn names_are_text_and_what_is_not_finite_is_left_out() {
        let name = "<script>&\"";
        let points = [
            (0.0, f64::NAN),
            (1.0, 1.0),
            (2.0, f64::INFINITY),
            (3.0, 2.0),
        ];
        let svg = Plot::new(name, name, name).line(name, &points).svg();
        assert!(!svg.contains("<script") && !svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(drawn(&svg).len(), 2);
        assert_eq!(svg.matches("&lt;script&gt;&amp;&quot;").count(), 4);
        // Nothing at all is a plot too.
        assert!(Plot::new("", "", "").svg().ends_with("</svg>\n"));
    }

    #[test]
    fn long_curves_are_thinned_by_means() {
        let long: Vec<(f64, f64)> = (0..10_000)
            .map(|i| (f64::from(i), f64::from(i % 2)))
            .collect();
        let points = drawn(&Plot::new("", "", "").line("", &long).svg());
        assert!(points.len() <= MOST);
    }
}
