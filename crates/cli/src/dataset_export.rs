//! `drapery dataset export`: a sequence as a file that other programs open.

use std::path::Path;

use anyhow::{Context, bail};
use drapery::core::{BodyModel, Clip, Garment, ShapedBody};
use drapery::scene::character::Character;
use drapery::store::dataset::{DatasetFolder, DatasetStore};
use drapery::{Animation, BakedGarment, stored_character};
use serde_json::json;

use crate::animate::{Format, save};
use crate::say::Say;
use crate::{Answer, dataset, record, source, stop, write};

/// What is taken out.
pub(crate) struct What<'a> {
    pub(crate) sequence: &'a str,
    pub(crate) garment: Option<&'a str>,
    pub(crate) frames: Option<&'a str>,
}

pub(crate) fn run(path: &Path, what: &What<'_>, out: &Path, say: &Say) -> anyhow::Result<Answer> {
    let format = Format::of(&write::check("--out", out)?).with_context(|| {
        let out = out.display();
        format!("--out {out}: a sequence is written as .glb, .usda, .usd, .abc, .npz, .pc2, .mdd or .obj")
    })?;
    let dataset = dataset::open(path)?;
    let stored = &dataset.head().garments;
    let known = || stored.iter().map(|g| g.garment.name());
    let chosen = match what.garment {
        Some(name) => Some(known().position(|n| n == name).with_context(|| {
            let all = known().collect::<Vec<_>>().join(", ");
            format!("--garment {name}: the dataset has {all}")
        })?),
        None if format.is_one_garment() && dataset.head().worn().count() > 1 => {
            let all = known().collect::<Vec<_>>().join(", ");
            bail!(
                "--out {}: such a file holds one garment; give --garment, one of {all}",
                out.display()
            );
        }
        None => None,
    };
    let n_frames = dataset.sequence(what.sequence)?.plan().frames as usize;
    let frames = source::frame_range("--frames", what.frames, n_frames)?;
    let frames: Vec<u32> = frames.map(|f| f as u32).collect();
    let garments: Vec<usize> = match chosen {
        Some(garment) => vec![garment],
        None => dataset.head().worn().map(|(g, _)| g).collect(),
    };
    let taken = Taken::of(&dataset, what.sequence, &frames)?;
    let animation = taken.animation(&dataset, &garments)?;
    stop::check()?;
    let written = save(&animation, format, out)?;
    let settings = json!({
        "sequence": what.sequence,
        "garments": garments.iter().map(|g| stored[*g].garment.name()).collect::<Vec<_>>(),
        "frames": [frames.first(), frames.last()],
    });
    let input = record::Input {
        name: path.join("zarr.json").to_string_lossy().into_owned(),
        sha256: record::Input::of(&path.join("zarr.json").to_string_lossy())?.sha256,
    };
    record::write(&record::beside(out), "dataset export", settings, &[input])?;
    say.result(
        "export",
        json!({
            "file": written,
            "sequence": what.sequence,
            "frames": frames.len(),
            "frame_rate": dataset.head().frame_rate.hz(),
        }),
        format_args!("{written}: {}, {} frames", what.sequence, frames.len()),
    )?;
    Ok(Answer::Yes)
}

/// Frames of a sequence with the body that they are of.
pub(crate) struct Taken {
    character: Character,
    body: ShapedBody,
    clip: Clip,
    frames: Vec<u32>,
    sequence: String,
}

impl Taken {
    /// Some frames of a sequence.
    pub(crate) fn of(dataset: &DatasetFolder, name: &str, frames: &[u32]) -> anyhow::Result<Self> {
        let sequence = dataset.sequence(name)?;
        let character = stored_character(&dataset.head().body)?;
        let body = character.shaped(&sequence.shape().coefficients)?;
        let poses = frames.iter().map(|f| sequence.poses(*f..f + 1));
        let poses = poses.collect::<Result<Vec<_>, _>>()?.concat();
        let clip = Clip::new(
            sequence.plan().clip.clone(),
            character.skeleton().clone(),
            dataset.head().frame_rate,
            poses,
        )?;
        Ok(Self {
            character,
            body,
            clip,
            frames: frames.to_vec(),
            sequence: name.to_string(),
        })
    }

    /// Those frames with garments on.
    pub(crate) fn animation<'a>(
        &'a self,
        dataset: &'a DatasetFolder,
        garments: &[usize],
    ) -> anyhow::Result<Animation<'a>> {
        let sequence = dataset.sequence(&self.sequence)?;
        let mut animation = Animation::new(&self.character, &self.body, &self.clip);
        for garment in garments {
            let stored: &'a Garment = &dataset.head().garments[*garment].garment;
            let frames = self
                .frames
                .iter()
                .map(|f| sequence.cloth(*garment, *f..f + 1));
            animation.garments.push(BakedGarment {
                garment: stored,
                frames: frames.collect::<Result<Vec<_>, _>>()?,
            });
        }
        Ok(animation)
    }
}
