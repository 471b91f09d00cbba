//! `drapery dataset import`: what another program simulated, into a dataset.
//!
//! Everything is read and checked before anything is written; a dataset that
//! is there is added to when it is of the same character, garments and rate.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use drapery::store::dataset::{
    BodyShape, DatasetError, DatasetFolder, DatasetHead, DatasetStore, Manifest, PlannedSequence,
    SequenceState, Split, fabric_constants, file_digest,
};
use drapery::{Progress, Recorded, import_sequence, shape_name, stored_body};
use serde_json::{Value, json};

use crate::args::{Import, SplitName};
use crate::dataset_times::beside;
use crate::import_source::{self, Source};
use crate::record::{self, Input};
use crate::say::Say;
use crate::{Answer, stop};

pub(crate) fn run(plan: &Import, say: &Say) -> anyhow::Result<Answer> {
    let source = import_source::read(plan, say)?;
    let shape = BodyShape {
        name: shape_name(&source.character, &source.body.shape),
        coefficients: source.body.shape.clone(),
    };
    let planned = PlannedSequence {
        name: format!("{}@{}", source.clip, shape.name),
        clip: source.clip.clone(),
        parent: source.clip.clone(),
        shape: 0,
        split: match plan.split {
            SplitName::Train => Split::Train,
            SplitName::Tune => Split::Tune,
            SplitName::Test => Split::Test,
        },
        frames: u32::try_from(source.frames.len()).context("too many frames")?,
    };
    let origin = origin(plan, &source)?;
    let head = head(plan, &source);
    let out: PathBuf = plan.out.components().collect();
    let cannot = || format!("--out {}", out.display());
    let there = there(&out, &head).with_context(cannot)?;
    if let Some(dataset) = &there
        && is_there(dataset, &planned, &origin)?
    {
        say.note(format_args!("{} is there already", planned.name));
        return done(&out, dataset, &planned, true, say);
    }
    source.check_frames(say)?;
    let mut dataset = match there {
        Some(dataset) => dataset,
        None => {
            if let Some(folder) = out.parent().filter(|f| !f.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder).with_context(cannot)?;
            }
            match DatasetFolder::create(&out, head.clone()) {
                // Someone else was faster.
                Err(DatasetError::Occupied { .. }) => {
                    let made = DatasetFolder::open_to_write(&out).with_context(cannot)?;
                    made.head().check_same(&head).with_context(cannot)?;
                    made
                }
                made => made.with_context(cannot)?,
            }
        }
    };
    dataset
        .plan_more(planned.clone(), shape)
        .with_context(cannot)?;
    let bar = say.progress(u64::from(planned.frames), "frames");
    let watch = |_: Progress| {
        bar.inc(1);
        !stop::asked()
    };
    let subject = (&source.character as _, &source.body);
    let (name, frames) = (&planned.name, source.frames()?);
    let made = import_sequence(
        &dataset,
        name,
        subject,
        &source.poses,
        frames,
        origin,
        watch,
    );
    let made = made.with_context(|| format!("sequence {name}"))?;
    bar.finish_and_clear();
    if made != Recorded::Whole {
        stop::check()?;
    }
    leave_record(plan, &source, name, &out)?;
    done(&out, &dataset, &planned, false, say)
}

/// Where the sequence comes from: what it says of itself, and goes on by.
fn origin(plan: &Import, source: &Source) -> anyhow::Result<Value> {
    let cloths = source.cloths.iter().map(|cloth| {
        let files = cloth.files();
        let digests = files.iter().map(|f| file_digest(f));
        let digests = digests.collect::<Result<Vec<_>, _>>()?;
        let name = cloth.path().file_name().unwrap_or_default();
        Ok(json!({ "name": name.to_string_lossy(), "sha256": digests }))
    });
    Ok(json!({
        "cloth": cloths.collect::<anyhow::Result<Vec<_>>>()?,
        "cloth_frames": [source.frames.start, source.frames.end],
        "motion": plan.motion.as_ref().map(|m| match Path::new(m).file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => m.clone(),
        }),
        "unit_m": source.space.unit.metres(),
        "up": source.space.up.to_string(),
        "velocity": "differences",
    }))
}

/// The head of a dataset of this character and these garments, with nothing in it.
fn head(plan: &Import, source: &Source) -> DatasetHead {
    let garments = source.garments.iter().map(|stored| {
        json!({
            "name": stored.garment.name(),
            "vertices": stored.n_vertices(),
            "triangles": stored.garment.mesh().triangles().len(),
            "fabric": fabric_constants(&stored.fabric),
        })
    });
    DatasetHead {
        frame_rate: source.frame_rate,
        body: stored_body(&source.character),
        garments: source.garments.clone(),
        manifest: Manifest::default(),
        scene: String::new(),
        settings: json!({
            "program": concat!("drapery ", env!("CARGO_PKG_VERSION")),
            "imported": true,
            "no_body": plan.no_body,
            "garments": garments.collect::<Vec<_>>(),
            "frame_rate": source.frame_rate.hz(),
        }),
    }
}

/// The dataset that is there, if one is, and can be added to.
fn there(out: &Path, head: &DatasetHead) -> Result<Option<DatasetFolder>, DatasetError> {
    let is_empty = std::fs::read_dir(out).is_ok_and(|mut e| e.next().is_none());
    if !out.exists() || is_empty {
        return Ok(None);
    }
    let dataset = DatasetFolder::open_to_write(out).map_err(|error| match error {
        DatasetError::NotADataset { .. } => DatasetError::Occupied { path: out.into() },
        other => other,
    })?;
    dataset.head().check_same(head)?;
    Ok(Some(dataset))
}

/// Whether the sequence is there, from these files.
fn is_there(
    dataset: &DatasetFolder,
    planned: &PlannedSequence,
    origin: &Value,
) -> anyhow::Result<bool> {
    let name = &planned.name;
    let known = dataset.head().manifest.get(name);
    if known.is_none() || dataset.state(name)? != SequenceState::Whole {
        return Ok(false);
    }
    let sequence = dataset.sequence(name)?;
    if sequence.report()["source"] != *origin {
        bail!(
            "sequence {name} is there already, made from other files or with other options; \
             give this one another name with --clip"
        );
    }
    Ok(true)
}

fn leave_record(plan: &Import, source: &Source, name: &str, out: &Path) -> anyhow::Result<()> {
    let mut inputs = vec![Input::of(&plan.character)?];
    for garment in &plan.garment {
        inputs.push(Input::of(garment)?);
    }
    if let Some(motion) = &plan.motion {
        inputs.push(Input::of(motion)?);
    }
    for path in source.cloths.iter().flat_map(|cloth| cloth.files()) {
        inputs.push(Input {
            sha256: Some(file_digest(&path)?),
            name: path.to_string_lossy().into_owned(),
        });
    }
    let path = beside(out, &format!(".{name}.run.json"));
    record::write(&path, "dataset import", json!({ "plan": plan }), &inputs)
}

fn done(
    out: &Path,
    dataset: &DatasetFolder,
    planned: &PlannedSequence,
    was_there: bool,
    say: &Say,
) -> anyhow::Result<Answer> {
    let sequence = dataset.sequence(&planned.name)?;
    let (frames, split) = (planned.frames, sequence.plan().split.name());
    let hz = dataset.head().frame_rate.hz();
    say.result(
        "import",
        json!({
            "dataset": out.to_string_lossy(),
            "sequence": planned.name,
            "clip": planned.clip,
            "shape": sequence.shape().name,
            "split": split,
            "frames": frames,
            "frame_rate": hz,
            "was_there": was_there,
            "body": dataset.head().has_body(),
            "garments": sequence.report()["garments"],
            "source": sequence.report()["source"],
        }),
        format_args!(
            "{}: {}, {frames} frames at {hz} Hz, to {split}",
            out.display(),
            planned.name
        ),
    )?;
    Ok(Answer::Yes)
}
