//! What `drapery eval` leaves behind: a page, plots, pictures and the error of
//! every vertex.

use std::fmt::Write;
use std::path::Path;

use drapery::eval::{Plot, Tally};
use drapery::runtime::HiddenSkin;
use drapery::store::dataset::DatasetStore;
use drapery::view::page::Page;

use crate::args::Eval;
use crate::eval::{Outcome, Row, cells, headings};
use crate::eval_pictures::picture;
use crate::{stop, write};

/// Bars of a histogram.
const BARS: usize = 60;

/// The error of all methods over the frames of a sequence.
fn over_time(outcome: &Outcome<'_>, row: &Row) -> String {
    let rate = outcome.dataset.head().frame_rate.hz();
    let mut plot = Plot::new(&row.planned.clip, "seconds", "cm");
    for (entry, tally) in outcome.entries.iter().zip(&row.tallies) {
        let curve = tally.curve.iter().enumerate();
        let points = curve.map(|(i, e)| (i as f64 / rate, 100.0 * f64::from(*e)));
        plot = plot.line(&entry.name, &points.collect::<Vec<_>>());
    }
    plot.svg()
}

/// How many vertices are how far off.
fn histogram(outcome: &Outcome<'_>) -> String {
    let limit = scale(outcome);
    let mut plot = Plot::new(
        "vertices by distance",
        "cm (the last bar has what is beyond)",
        "%",
    );
    for (entry, tally) in outcome.entries.iter().zip(&outcome.all) {
        let n = tally.distances.all.n().max(1) as f64;
        let bars = tally.distances.all.bars(BARS, limit / 100.0);
        let shares: Vec<f64> = bars.iter().map(|bar| 100.0 * *bar as f64 / n).collect();
        plot = plot.bars(&entry.name, &shares, limit);
    }
    plot.svg()
}

/// Scales end no sooner than this [cm], however exact a method is.
const LEAST_SCALE: f64 = 0.1;

/// Where most errors lie below [cm]: those of the skinned garment, the first, or of
/// all if they are smaller.
fn scale(outcome: &Outcome<'_>) -> f64 {
    let p95 = |tally: &Tally| 100.0 * tally.distances.all.quantile(0.95);
    let largest = outcome.all.iter().map(p95).fold(0.0, f64::max);
    let largest = outcome
        .all
        .first()
        .map(p95)
        .map_or(largest, |s| s.min(largest))
        .max(LEAST_SCALE);
    // To a tenth of its power of ten.
    let unit = 10f64.powf(largest.log10().floor()) / 2.0;
    (largest / unit).ceil() * unit
}

fn png(outcome: &Outcome<'_>, row: &Row) -> anyhow::Result<Vec<u8>> {
    let entries = outcome.entries.iter();
    let names: Vec<(&str, Option<&HiddenSkin>)> = entries
        .map(|e| (e.name.as_str(), e.hidden.as_ref()))
        .collect();
    let garment = &outcome.dataset.head().garments[outcome.garment].garment;
    let range = scale(outcome) as f32;
    let image = picture(
        outcome.character,
        garment.mesh().topology(),
        &names,
        outcome.is_under,
        &row.shots,
        range,
    )?;
    Ok(image.png()?)
}

/// Writes plots, pictures and tables of vertices to a folder.
pub(crate) fn files(outcome: &Outcome<'_>, folder: &Path) -> anyhow::Result<()> {
    let to = |name: String, bytes: &[u8]| write::file(&folder.join(name), bytes);
    to("histogram.svg".into(), histogram(outcome).as_bytes())?;
    for row in &outcome.rows {
        stop::check()?;
        let name = &row.planned.name;
        to(format!("{name}.svg"), over_time(outcome, row).as_bytes())?;
        if !row.shots.is_empty() {
            to(format!("{name}.png"), &png(outcome, row)?)?;
        }
    }
    let mut table = String::from("vertex");
    for entry in outcome.entries {
        let _ = write!(table, ",{}_mean_cm", entry.name);
    }
    let columns: Vec<Vec<f64>> = outcome
        .all
        .iter()
        .map(|tally| tally.distances.of_vertices())
        .collect();
    for vertex in 0..columns.first().map_or(0, Vec::len) {
        let _ = write!(table, "\n{vertex}");
        for column in &columns {
            let _ = write!(table, ",{:.5}", 100.0 * column[vertex]);
        }
    }
    table.push('\n');
    to("vertices.csv".into(), table.as_bytes())
}

/// The whole page.
pub(crate) fn page(outcome: &Outcome<'_>, args: &Eval) -> anyhow::Result<String> {
    let head = outcome.dataset.head();
    let garment = head.garments[outcome.garment].garment.name();
    let name = args.dataset.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let frames: u64 = (outcome.all.first()).map_or(0, |tally| tally.distances.n_frames());
    let mut page = Page::new(&format!("{garment} of {name}, {}", outcome.split.name()))
        .paragraph(&format!(
            "{} sequences, {frames} frames of {} vertices at {} Hz, rolled out open-loop: a method \
             sees the body and never the simulated cloth. {}",
            outcome.rows.len(),
            head.garments[outcome.garment].n_vertices(),
            head.frame_rate.hz(),
            match !args.no_correct {
                true => "What was inside the body was pushed out after every step.",
                false => "Nothing was pushed out of the body.",
            }
        ))
        .paragraph(
            "Distances are of vertices in world space, p95 to 0.4 %. Penetration is of points more \
             than 1 mm inside the body, where it does not enter itself. Detail is the correlation \
             of what is finer than 5 cm; wrinkles the fine curvature over the simulation's, which \
             noise raises too. \"Uncorrected\" is what the figure before it was before cloth was \
             pushed out of the body; masked is the share of points where the body enters itself. A \
             frame is timed with its body posed and skinned. Cloth a little beneath the skin that \
             it is worn over is drawn before it.",
        );
    let of_all = outcome.objects.iter().filter(|o| o["clip"] == "all");
    page = page
        .heading("All clips")
        .table(&headings(), &of_all.map(cells).collect::<Vec<_>>());
    let played = outcome.rows.iter();
    if let Some((row, clip)) = played
        .filter_map(|r| Some((r, r.playable.as_ref()?)))
        .next()
    {
        let name = &row.planned.name;
        let n_frames = clip.len();
        let caption =
            format!("The first {n_frames} frames of {name}; drag to turn, scroll to come nearer");
        page = page.playable(clip, scale(outcome) as f32 / 100.0, &caption);
    }
    page = page.image_svg(&histogram(outcome), "Vertices by their distance");
    let of_clips = outcome.objects.iter().filter(|o| o["clip"] != "all");
    page = page
        .heading("Each clip")
        .table(&headings(), &of_clips.map(cells).collect::<Vec<_>>());
    for row in &outcome.rows {
        stop::check()?;
        let title = &row.planned.name;
        page = page.image_svg(
            &over_time(outcome, row),
            &format!("{title}: mean distance over time"),
        );
        if !row.shots.is_empty() {
            let caption =
                format!("{title}: simulation and methods, light where the error is large");
            page = page.image_png(&png(outcome, row)?, &caption);
        }
    }
    Ok(page.finish())
}
