//! `drapery animate`: a dressed character in motion, written to a file.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use drapery::core::BodyModel;
use drapery::{Animation, BakedGarment};
use serde_json::json;

use crate::args::{Animate, Method};
use crate::record::Input;
use crate::say::Say;
use crate::stage::{Stage, Wearing, correction, inputs, read_models};
use crate::{Answer, record, source, stop, write};

/// What the animation is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Glb,
    Usda,
    Abc,
    Npz,
    Pc2,
    Mdd,
    Obj,
}

impl Format {
    pub(crate) fn of(ending: &str) -> Option<Self> {
        Some(match ending {
            "glb" => Self::Glb,
            "usda" | "usd" => Self::Usda,
            "abc" => Self::Abc,
            "npz" => Self::Npz,
            "pc2" => Self::Pc2,
            "mdd" => Self::Mdd,
            "obj" => Self::Obj,
            _ => return None,
        })
    }

    /// Whether a file holds one garment and nothing else.
    pub(crate) const fn is_one_garment(self) -> bool {
        matches!(self, Self::Pc2 | Self::Mdd | Self::Obj)
    }
}

pub(crate) fn run(plan: &Animate, say: &Say) -> anyhow::Result<Answer> {
    for (option, is_given) in [
        ("--blend-shapes", plan.blend_shapes),
        ("--no-correct", plan.no_correct),
    ] {
        // Clap asks for a model only where a method is not given.
        ensure!(
            !is_given || !plan.model.is_empty(),
            "{option} is for models: give a --model"
        );
    }
    ensure!(
        plan.cloth.fabric.is_empty() || plan.method == Some(Method::Simulation),
        "--fabric is for simulation: skinned cloth is the same in any"
    );
    let format = Format::of(&write::check("--out", &plan.out)?).with_context(|| {
        format!(
            "--out {}: an animation is written as .glb, .usda, .usd, .abc, .npz, .pc2, .mdd or .obj",
            plan.out.display()
        )
    })?;
    let fabrics = source::fabrics(&plan.cloth, &plan.dressed.garment, say)?;
    if plan.dressed.motion.is_none() {
        let built_in = drapery::scene::builtin::CLIPS.join(", ");
        bail!("no --motion given; {built_in} are built in");
    }
    let models = read_models(&plan.model)?;
    let n_garments = plan.dressed.garment.len() + models.len();
    if format.is_one_garment() && n_garments != 1 {
        bail!(
            "--out {}: such a file holds one garment, {n_garments} were given",
            plan.out.display(),
        );
    }
    let stage = match models.is_empty() {
        false => Stage::load_for(&models, &plan.dressed, say)?,
        true => Stage::load(&plan.dressed, say)?,
    };
    if !matches!(format, Format::Glb | Format::Usda) {
        different_names(&stage)?;
    } else if stage.character.has_pose_directions() {
        let (who, out) = (stage.character.name(), plan.out.display());
        say.note(format_args!(
            "{who}: its pose blend shapes are not written to {out}; the garment is baked as it is"
        ));
    }
    let wearing = match models.is_empty() {
        false => Wearing::Models(&models, correction(plan.no_correct)),
        true => Wearing::by(plan.method.unwrap_or(Method::Skinning), &fabrics),
    };
    if plan.blend_shapes && format != Format::Glb {
        bail!(
            "--out {}: --blend-shapes are written to a .glb alone",
            plan.out.display()
        );
    }
    let animation = match plan.blend_shapes {
        true => stage.blend(&models, say)?,
        false => stage.animate_by(wearing, say)?,
    };
    let correction_mm = animation.corrected.map(|m| 1000.0 * f64::from(m));
    let written = save(&animation, format, &plan.out)?;
    let settings = json!({
        "method": match &models[..] {
            [] => json!(plan.method),
            [model] => json!(model.head().method),
            models => models.iter().map(|m| json!(m.head().method)).collect(),
        },
        "corrected": animation.corrected.is_some(),
        "blend_shapes": plan.blend_shapes,
        "correction_max_mm": correction_mm,
        "hidden_body_triangles": n_hidden(&animation),
        "fabric": fabrics.iter().map(|fabric| &fabric.name).collect::<Vec<_>>(),
        "plan": plan.dressed,
        "shape": stage.body.shape,
        "frames": animation.clip.frames().len(),
        "frame_rate": animation.clip.frame_rate().hz(),
    });
    let mut inputs = inputs(&plan.dressed)?;
    for model in &plan.model {
        inputs.push(Input::of(&model.to_string_lossy())?);
    }
    record::write(&record::beside(&plan.out), "animate", &settings, &inputs)?;
    let (n_frames, rate) = (
        animation.clip.frames().len(),
        animation.clip.frame_rate().hz(),
    );
    let data = json!({
        "file": written,
        "frames": n_frames,
        "frame_rate": rate,
        "correction_max_mm": correction_mm,
        "hidden_body_triangles": n_hidden(&animation),
        "garments": worn(&animation).map(|g| json!({
            "name": g.name(),
            "vertices": g.mesh().positions().len(),
        })).collect::<Vec<_>>(),
    });
    let names: Vec<&str> = worn(&animation).map(drapery::core::Garment::name).collect();
    let what = match names.is_empty() {
        true => "the body alone".to_string(),
        false => names.join(", "),
    };
    say.result(
        "animation",
        data,
        format_args!("{written}: {n_frames} frames at {rate} Hz, {what}"),
    )?;
    Ok(Answer::Yes)
}

/// What is worn, frame by frame or as sums of shapes.
fn worn<'a>(animation: &'a Animation<'_>) -> impl Iterator<Item = &'a drapery::core::Garment> {
    let baked = animation.garments.iter().map(|g| g.garment);
    baked.chain(animation.blends.iter().map(|b| b.garment))
}

/// How many triangles of the body its clothes always hide: left out of .glb, .usda
/// and .abc, marked in .npz.
fn n_hidden(animation: &Animation<'_>) -> usize {
    let body = animation.character.topology();
    let hidden = animation.hidden.as_ref().map(|h| h.triangles(body));
    hidden.map_or(0, |flags| flags.iter().filter(|h| **h).count())
}

/// Arrays and objects go by the names of garments.
fn different_names(stage: &Stage) -> anyhow::Result<()> {
    let names: Vec<&str> = stage.garments.iter().map(|g| g.name()).collect();
    for (i, name) in names.iter().enumerate() {
        if *name == "body" {
            bail!("a garment is called body, which is the body's own name; rename its file");
        }
        if names[..i].contains(name) {
            bail!("two garments are called {name}; rename the file of one");
        }
    }
    Ok(())
}

/// Writes the animation and returns what it wrote, in words.
pub(crate) fn save(
    animation: &Animation<'_>,
    format: Format,
    path: &Path,
) -> anyhow::Result<String> {
    match format {
        Format::Glb => glb(animation, path)?,
        Format::Usda => write::stream(path, |file| Ok(animation.write_usda(file)?))?,
        Format::Abc => write::stream(path, |file| {
            Ok(animation.write_alembic(BufWriter::new(file))?)
        })?,
        Format::Npz => write::file(path, &animation.npz()?)?,
        Format::Pc2 => {
            let garment = only(animation)?;
            write::stream(path, |file| Ok(garment.write_pc2(BufWriter::new(file))?))?;
        }
        Format::Mdd => {
            let (garment, rate) = (only(animation)?, animation.clip.frame_rate());
            write::stream(path, |file| {
                Ok(garment.write_mdd(rate, BufWriter::new(file))?)
            })?;
        }
        Format::Obj => return objs(only(animation)?, path),
    }
    Ok(path.display().to_string())
}

/// The one garment of a file that holds one.
fn only<'a>(animation: &'a Animation<'_>) -> anyhow::Result<&'a BakedGarment<'a>> {
    animation
        .garments
        .first()
        .context("there is no garment to write")
}

/// Writes a GLB file.
pub(crate) fn glb(animation: &Animation<'_>, path: &Path) -> anyhow::Result<()> {
    write::stream(path, |file| {
        let mut buffer = BufWriter::new(file);
        animation.write_glb(&mut buffer)?;
        buffer.flush()?;
        Ok(())
    })
}

/// Writes one OBJ file a frame, all or none.
fn objs(garment: &BakedGarment<'_>, path: &Path) -> anyhow::Result<String> {
    let paths: Vec<PathBuf> = (0..garment.frames.len())
        .map(|f| numbered(path, f))
        .collect();
    let left_over = numbered(path, paths.len());
    if left_over.exists() {
        bail!(
            "{} is left of a longer sequence and would be taken for part of this one; remove it and those after it",
            left_over.display()
        );
    }
    write::files(&paths, |frame| {
        stop::check()?;
        Ok(garment.obj(frame).into_bytes())
    })?;
    Ok(match (paths.first(), paths.last()) {
        (Some(first), Some(last)) => format!("{} to {}", first.display(), last.display()),
        _ => path.display().to_string(),
    })
}

/// `a/sleeve.obj` at frame 7 is `a/sleeve_0007.obj`.
fn numbered(path: &Path, frame: usize) -> PathBuf {
    let stem = path
        .file_stem()
        .map_or_else(Default::default, |s| s.to_string_lossy());
    path.with_file_name(format!("{stem}_{frame:04}.obj"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_choose_the_format() {
        assert_eq!(Format::of("glb"), Some(Format::Glb));
        assert_eq!(Format::of("usda"), Some(Format::Usda));
        assert_eq!(Format::of("usd"), Some(Format::Usda));
        assert_eq!(Format::of("usdc"), None);
        assert_eq!(Format::of("abc"), Some(Format::Abc));
        assert_eq!(Format::of("fbx"), None);
        assert_eq!(Format::of(""), None);
    }

    #[test]
    fn frames_are_numbered_beside_the_name() {
        assert_eq!(numbered(Path::new("x/s.obj"), 7), Path::new("x/s_0007.obj"));
    }
}
