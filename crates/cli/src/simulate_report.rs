//! The page that `drapery simulate` leaves beside a dataset: what went well and
//! what did not, with pictures.

use std::path::Path;

use drapery::store::dataset::{DatasetFolder, DatasetStore, FrameFlag, PlannedSequence};
use drapery::view::page::Page;
use drapery::view::picture::{Size, View, sheet};

use crate::dataset_export::Taken;
use crate::dataset_times;
use crate::picture::{Look, pictures};
use crate::say::Say;
use crate::simulate::{Outcome, place, time};

/// The most sequences that are shown, evenly over the dataset, and frames of
/// each: a picture takes a fraction of a second.
const SHOWN: usize = 24;
const FRAMES: u32 = 5;

pub(crate) fn page(
    dataset: &DatasetFolder,
    out: &Path,
    outcome: &Outcome,
    say: &Say,
) -> anyhow::Result<String> {
    let head = dataset.head();
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let garments: Vec<String> = head
        .garments
        .iter()
        .map(|g| match &g.twin_of {
            Some(of) => format!("{}, twin of {of},", g.garment.name()),
            None => g.garment.name().to_string(),
        })
        .collect();
    let mut page = Page::new(&format!("Dataset {name}")).paragraph(&format!(
        "{} on {}, {} body shapes, {} frames a second. {} sequences are whole ({} frames, {} of \
         simulation), {} failed, {} are missing.",
        garments.join(", "),
        head.body.name,
        head.manifest.shapes.len(),
        head.frame_rate.hz(),
        outcome.whole.len(),
        outcome.n_frames(),
        time(outcome.simulated_s),
        outcome.failed.len(),
        outcome.missing.len(),
    ));
    if !outcome.failed.is_empty() {
        let rows = outcome.failed.iter().map(|(planned, failure)| {
            vec![
                planned.name.clone(),
                place(failure.frame),
                failure.why.clone(),
            ]
        });
        page = page
            .heading("Failed")
            .table(&["sequence", "where", "why"], &rows.collect::<Vec<_>>());
    }
    page = page
        .heading("Sequences")
        .table(&HEADINGS, &rows(dataset, out, outcome)?);
    if !outcome.whole.is_empty() {
        page = page.heading("Pictures");
        let step = outcome.whole.len().div_ceil(SHOWN);
        for planned in outcome.whole.iter().step_by(step) {
            let png = thumbnails(dataset, planned, say)?;
            page = page.image_png(&png, &planned.name);
        }
    }
    Ok(page.finish())
}

const HEADINGS: [&str; 11] = [
    "sequence",
    "split",
    "frames",
    "s a frame",
    "garment",
    "deepest mm",
    "stretch p99 %",
    "fastest m/s",
    "body contact frames",
    "retried",
    "crossing frames",
];

/// One row a sequence and garment, from what the sequences say of themselves.
fn rows(
    dataset: &DatasetFolder,
    out: &Path,
    outcome: &Outcome,
) -> anyhow::Result<Vec<Vec<String>>> {
    let times = dataset_times::read(out);
    let mut rows = Vec::new();
    for planned in &outcome.whole {
        let sequence = dataset.sequence(&planned.name)?;
        let flags = sequence.flags(0..planned.frames)?;
        let retried = flags.iter().filter(|f| f.has(FrameFlag::Retried)).count();
        let took = times.get(&planned.name).and_then(|took| took.s_per_frame);
        let empty = Vec::new();
        let garments = sequence.report()["garments"].as_array().unwrap_or(&empty);
        for garment in garments {
            let number = |key: &str| match garment[key].as_f64() {
                Some(value) if value.fract() == 0.0 => format!("{value}"),
                Some(value) => format!("{value:.2}"),
                None => "–".to_string(),
            };
            rows.push(vec![
                planned.name.clone(),
                planned.split.name().to_string(),
                planned.frames.to_string(),
                took.map_or_else(|| "–".to_string(), |s| format!("{s:.3}")),
                garment["garment"].as_str().unwrap_or("?").to_string(),
                number("penetration_max_mm"),
                number("stretch_p99_percent"),
                number("speed_max"),
                number("body_contact_frames"),
                retried.to_string(),
                number("crossing_frames"),
            ]);
        }
    }
    Ok(rows)
}

/// A few frames of a sequence in a row.
fn thumbnails(
    dataset: &DatasetFolder,
    planned: &PlannedSequence,
    say: &Say,
) -> anyhow::Result<Vec<u8>> {
    let n = FRAMES.min(planned.frames);
    let frames: Vec<u32> = (0..n)
        .map(|k| match n {
            1 => 0,
            n => k * (planned.frames - 1) / (n - 1),
        })
        .collect();
    let taken = Taken::of(dataset, &planned.name, &frames)?;
    let garments: Vec<usize> = dataset.head().worn().map(|(g, _)| g).collect();
    let animation = taken.animation(dataset, &garments)?;
    let look = Look {
        view: View::three_quarter(),
        size: Size::new(150, 200),
        wireframe: false,
        colour: None,
        colour_range: 1.0,
    };
    let shown: Vec<usize> = (0..frames.len()).collect();
    let images = pictures(&animation, &shown, &look, &say.hushed())?;
    let labels: Vec<String> = frames.iter().map(|f| format!("frame {f}")).collect();
    Ok(sheet(&images, images.len(), &labels, "")?.png()?)
}
