//! `drapery dataset check`: every byte, every value, and how garments were worn.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use drapery::scene::character::Character;
use drapery::store::dataset::{
    DatasetError, DatasetFolder, DatasetStore, PlannedSequence, SequenceState,
};
use drapery::{GarmentCheck, SequenceCheck, check_sequence, stored_character};
use serde_json::{Value, json};

use crate::dataset_times::{self, Took};
use crate::say::Say;
use crate::simulate::{chosen, place};
use crate::{Answer, dataset, stop, workers};

/// What is looked at, and what is too much.
pub(crate) struct Limits {
    pub(crate) bytes_only: bool,
    pub(crate) penetration_mm: f64,
    /// Of 99 in 100 edges, in any frame.
    pub(crate) stretch_percent: f64,
    /// Frames of a sequence in which garments pass through one another.
    pub(crate) layer_crossings: usize,
}

impl Limits {
    /// Which limits a garment does not keep, in words.
    fn broken(&self, garment: &GarmentCheck, has_body: bool) -> Vec<String> {
        let mut wrong = Vec::new();
        let limit = self.penetration_mm;
        if has_body && garment.penetration_max_mm > limit {
            let (deepest, frame) = (garment.penetration_max_mm, garment.penetration_frame);
            let frame = frame.map_or_else(String::new, |f| format!(" in frame {f}"));
            wrong.push(format!(
                "{deepest:.2} mm inside the body{frame}, the limit is {limit}"
            ));
        }
        if garment.stretch_worst_percent > self.stretch_percent {
            wrong.push(format!(
                "stretched by {:.1} % (p99) in frame {}, the limit is {}",
                garment.stretch_worst_percent, garment.stretch_worst_frame, self.stretch_percent
            ));
        }
        if garment.layer_crossings.len() > self.layer_crossings {
            wrong.push(format!(
                "passes through another garment in {} frames, the first is {}, the limit is {}",
                garment.layer_crossings.len(),
                garment.layer_crossings[0],
                self.layer_crossings
            ));
        }
        wrong
    }
}

pub(crate) fn run(
    path: &Path,
    only: &[String],
    limits: &Limits,
    threads: Option<u16>,
    say: &Say,
) -> anyhow::Result<Answer> {
    let dataset = dataset::open(path)?;
    let mut answer = Answer::Yes;
    if let Err(error) = dataset.verify_head() {
        // What all sequences share is wrong, so nothing else can be right.
        let why = words(&error);
        say.result(
            "wrong",
            json!({ "sequence": null, "why": why }),
            format_args!("wrong: {why}"),
        )?;
        answer = Answer::No;
    }
    let character = stored_character(&dataset.head().body)
        .with_context(|| format!("cannot read the body of {}", path.display()))?;
    let times = dataset_times::read(path);
    let todo = chosen("--only", &dataset.head().manifest.sequences, only)?;
    let frames: u64 = todo.iter().map(|s| u64::from(s.frames)).sum();
    let bar = say.progress(frames, "frames");
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<Vec<Value>>>> = Mutex::new(vec![None; todo.len()]);
    let worker = || -> anyhow::Result<()> {
        loop {
            let at = next.fetch_add(1, Ordering::SeqCst);
            let Some(planned) = todo.get(at) else {
                return Ok(());
            };
            let one = One {
                dataset: &dataset,
                character: &character,
                limits,
                took: times.get(&planned.name),
                bar: &bar,
            };
            let rows = one.check(planned)?;
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found[at] = rows;
        }
    };
    workers::together(workers::threads(threads).min(todo.len()), worker)?;
    bar.finish_and_clear();
    stop::check()?;
    let rows = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    say.end(HEADINGS.join("\t"))?;
    for row in rows.into_iter().flatten().flatten() {
        if row["wrong"].as_array().is_some_and(|w| !w.is_empty()) {
            answer = Answer::No;
        }
        let text = line(&row);
        say.result("sequence", row, text)?;
    }
    Ok(answer)
}

/// One sequence to be checked.
struct One<'a> {
    dataset: &'a DatasetFolder,
    character: &'a Character,
    limits: &'a Limits,
    took: Option<&'a Took>,
    bar: &'a indicatif::ProgressBar,
}

impl One<'_> {
    /// One object a garment; none when the user asked to stop.
    fn check(&self, planned: &PlannedSequence) -> anyhow::Result<Option<Vec<Value>>> {
        let mut wrong: Vec<String> = Vec::new();
        let state = self.dataset.state(&planned.name);
        let mut failure = None;
        let mut measured = None;
        match state {
            Ok(SequenceState::Whole) => match self.dataset.verify(&planned.name) {
                Ok(()) if self.limits.bytes_only => {}
                Ok(()) => match self.measure(planned)? {
                    Some(check) => measured = Some(check),
                    None => return Ok(None),
                },
                Err(error) => wrong.push(words(&error)),
            },
            Ok(SequenceState::Missing) => wrong.push("it is not there yet".to_string()),
            Ok(SequenceState::Failed(why)) => {
                wrong.push(format!("it failed {}: {}", place(why.frame), why.why));
                failure = Some(why);
            }
            Err(error) => wrong.push(words(&error)),
        }
        self.bar.inc(match measured {
            Some(_) => 0,
            None => planned.frames.into(),
        });
        let head = self.dataset.head();
        let shape = &head.manifest.shape_of(planned).name;
        let rows = head.garments.iter().enumerate().map(|(g, stored)| {
            let mut row = json!({
                "sequence": planned.name,
                "clip": planned.clip,
                "garment": stored.garment.name(),
                "shape": shape,
                "split": planned.split.name(),
                "frames": planned.frames,
                "failed": failure.is_some(),
                "failed_frame": failure.as_ref().and_then(|f| f.frame),
                "s_per_frame": self.took.and_then(|took| took.s_per_frame),
            });
            let mut wrong = wrong.clone();
            if let Some(check) = &measured {
                let garment = &check.garments[g];
                // What needs a body is not measured without one.
                let of_body = |value: f64| head.has_body().then_some(value);
                for (key, value) in [
                    (
                        "penetration_max_mm",
                        json!(of_body(garment.penetration_max_mm)),
                    ),
                    (
                        "penetration_percent",
                        json!(of_body(garment.penetration_percent)),
                    ),
                    ("masked_percent", json!(garment.masked_percent)),
                    ("body_contact_frames", json!(garment.body_contact_frames)),
                    ("stretch_p99_percent", json!(garment.stretch_p99_percent)),
                    ("speed_max", json!(garment.speed_max)),
                    (
                        "stretch_worst_percent",
                        json!(garment.stretch_worst_percent),
                    ),
                    ("stretch_worst_frame", json!(garment.stretch_worst_frame)),
                    ("crossing_frames", json!(garment.crossing_frames)),
                    (
                        "layer_crossing_frames",
                        json!(garment.layer_crossings.len()),
                    ),
                ] {
                    row[key] = value;
                }
                if check.mask_differs > 0 {
                    let n = check.mask_differs;
                    wrong.push(format!("the mask of {n} frames is not that of the body"));
                }
                for (flag, count) in &check.flagged {
                    row["flags"][*flag] = json!(count);
                }
                wrong.extend(self.limits.broken(garment, head.has_body()));
            }
            row["wrong"] = json!(wrong);
            row
        });
        Ok(Some(rows.collect()))
    }

    fn measure(&self, planned: &PlannedSequence) -> anyhow::Result<Option<SequenceCheck>> {
        let sequence = self.dataset.sequence(&planned.name)?;
        let check = check_sequence(self.character, self.dataset.head(), &*sequence, |_| {
            self.bar.inc(1);
            !stop::asked()
        });
        check.with_context(|| format!("sequence {}", planned.name))
    }
}

/// An error with all its causes.
fn words(error: &DatasetError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text += &format!(": {next}");
        cause = next.source();
    }
    text
}

const HEADINGS: [&str; 10] = [
    "sequence",
    "garment",
    "split",
    "frames",
    "deepest mm",
    "body contact frames",
    "stretch p99 %",
    "in the worst frame",
    "fastest m/s",
    "s a frame",
];

fn line(row: &Value) -> String {
    let name = |key: &str| row[key].as_str().unwrap_or("?").to_string();
    let number = |key: &str, decimals: usize| match row[key].as_f64() {
        Some(value) => format!("{value:.decimals$}"),
        None => "–".to_string(),
    };
    let mut cells = vec![
        name("sequence"),
        name("garment"),
        name("split"),
        number("frames", 0),
        number("penetration_max_mm", 2),
        number("body_contact_frames", 0),
        number("stretch_p99_percent", 2),
        number("stretch_worst_percent", 2),
        number("speed_max", 2),
        number("s_per_frame", 3),
    ];
    for wrong in row["wrong"].as_array().into_iter().flatten() {
        cells.push(format!("WRONG: {}", wrong.as_str().unwrap_or("?")));
    }
    cells.join("\t")
}
