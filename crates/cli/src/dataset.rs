//! `drapery dataset`: what is in one, and which clips are for what.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use drapery::store::dataset::{DatasetFolder, DatasetStore, PlannedSequence, Split};
use serde_json::json;

use crate::args::Dataset;
use crate::say::Say;
use crate::simulate::Outcome;
use crate::{Answer, dataset_check, dataset_export, dataset_import};

pub(crate) fn run(command: &Dataset, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Dataset::Info { dataset } => info(dataset, say),
        Dataset::Check {
            dataset,
            only,
            bytes,
            max_penetration_mm,
            max_stretch,
            max_layer_crossings,
            threads,
        } => {
            let limits = dataset_check::Limits {
                bytes_only: *bytes,
                penetration_mm: *max_penetration_mm,
                stretch_percent: *max_stretch,
                layer_crossings: *max_layer_crossings as usize,
            };
            dataset_check::run(dataset, only, &limits, *threads, say)
        }
        Dataset::Export {
            dataset,
            sequence,
            garment,
            frames,
            out,
        } => {
            let what = dataset_export::What {
                sequence,
                garment: garment.as_deref(),
                frames: frames.as_deref(),
            };
            dataset_export::run(dataset, &what, out, say)
        }
        Dataset::Import(plan) => dataset_import::run(plan, say),
        Dataset::Split {
            dataset,
            train,
            tune,
            test,
        } => {
            let moves = [
                (Split::Train, train),
                (Split::Tune, tune),
                (Split::Test, test),
            ];
            split(dataset, &moves, say)
        }
    }
}

/// A dataset to be read.
pub(crate) fn open(path: &Path) -> anyhow::Result<DatasetFolder> {
    DatasetFolder::open(path).with_context(|| format!("cannot open {}", path.display()))
}

pub(crate) fn info(path: &Path, say: &Say) -> anyhow::Result<Answer> {
    let dataset = open(path)?;
    let outcome = Outcome::of(&dataset, path, 0.0)?;
    let head = dataset.head();
    let count = |split| outcome.whole.iter().filter(move |s| s.split == split);
    let splits: BTreeMap<&str, _> = Split::ALL
        .into_iter()
        .map(|split| {
            let frames: u64 = count(split).map(|s| u64::from(s.frames)).sum();
            let data = json!({ "sequences": count(split).count(), "frames": frames });
            (split.name(), data)
        })
        .collect();
    let garments: Vec<_> = head
        .garments
        .iter()
        .map(|g| {
            json!({
                "name": g.garment.name(),
                "vertices": g.n_vertices(),
                "triangles": g.garment.mesh().triangles().len(),
                "fabric": g.fabric.name,
                "twin_of": g.twin_of,
            })
        })
        .collect();
    let size = bytes(path)?;
    let mut data = outcome.data(path);
    for (key, value) in [
        ("character", json!(head.body.name)),
        ("garments", json!(garments)),
        ("shapes", json!(head.manifest.shapes)),
        ("frame_rate", json!(head.frame_rate.hz())),
        ("splits", json!(splits)),
        ("bytes", json!(size)),
        ("program", head.settings["program"].clone()),
    ] {
        data[key] = value;
    }
    if let Some(data) = data.as_object_mut() {
        // Of a run, not of a dataset.
        data.remove("seconds");
    }
    let mut text = format!(
        "{}: {} on {} in {} shapes, {} Hz, {:.1} MB\n",
        path.display(),
        head.garments
            .iter()
            .map(|g| format!(
                "{} ({} vertices, {})",
                g.garment.name(),
                g.n_vertices(),
                g.fabric.name
            ))
            .collect::<Vec<_>>()
            .join(", "),
        head.body.name,
        head.manifest.shapes.len(),
        head.frame_rate.hz(),
        size as f64 / 1e6
    );
    for split in Split::ALL {
        let frames: u64 = count(split).map(|s| u64::from(s.frames)).sum();
        let n = count(split).count();
        text += &format!("  {:<5} {n} sequences, {frames} frames\n", split.name());
    }
    text += &format!(
        "  {} whole, {} failed, {} missing",
        outcome.whole.len(),
        outcome.failed.len(),
        outcome.missing.len()
    );
    for (planned, failure) in &outcome.failed {
        let place = crate::simulate::place(failure.frame);
        text += &format!("\n  {} failed {place}: {}", planned.name, failure.why);
    }
    say.result("dataset", data, text)?;
    Ok(Answer::Yes)
}

/// What all files below a folder hold [byte].
fn bytes(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += match metadata.is_dir() {
            true => bytes(&entry.path())?,
            false => metadata.len(),
        };
    }
    Ok(sum)
}

fn split(path: &Path, moves: &[(Split, &Vec<String>)], say: &Say) -> anyhow::Result<Answer> {
    let mut target: BTreeMap<&str, Split> = BTreeMap::new();
    for (split, clips) in moves {
        for clip in *clips {
            if target.insert(clip, *split).is_some() {
                bail!("{clip} can't go to two splits");
            }
        }
    }
    let mut dataset = match target.is_empty() {
        true => open(path)?,
        false => DatasetFolder::open_to_write(path)
            .with_context(|| format!("cannot open {}", path.display()))?,
    };
    let clips = clips(dataset.head().manifest.sequences.as_slice());
    for name in target.keys() {
        if !clips.iter().any(|(clip, _)| clip == name) {
            let known = clips.iter().map(|(clip, _)| clip.as_str());
            let near = drapery::scene::load::nearest(name, known.clone());
            bail!(
                "there is no clip {name}{}; there are {}",
                near.map_or_else(String::new, |n| format!(" (did you mean {n}?)")),
                known.collect::<Vec<_>>().join(", ")
            );
        }
    }
    if !target.is_empty() {
        dataset.change_splits(|s| *target.get(s.parent.as_str()).unwrap_or(&s.split))?;
    }
    let all = &dataset.head().manifest.sequences;
    for (clip, split) in self::clips(all) {
        let copies: Vec<&PlannedSequence> = all.iter().filter(|s| s.parent == clip).collect();
        let frames: u64 = copies.iter().map(|s| u64::from(s.frames)).sum();
        let n = copies.len();
        say.result(
            "split",
            json!({ "clip": clip, "split": split.name(), "sequences": n, "frames": frames }),
            format_args!("{:<5} {clip}: {n} sequences, {frames} frames", split.name()),
        )?;
    }
    Ok(Answer::Yes)
}

/// The clips that sequences were made from, and what they are for.
fn clips(sequences: &[PlannedSequence]) -> Vec<(String, Split)> {
    let mut clips: Vec<(String, Split)> = Vec::new();
    for sequence in sequences {
        if !clips.iter().any(|(clip, _)| *clip == sequence.parent) {
            clips.push((sequence.parent.clone(), sequence.split));
        }
    }
    clips
}
