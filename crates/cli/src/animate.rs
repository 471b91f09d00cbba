//! `drapery animate`: a dressed character in motion, written to a file.

use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context, bail};
use drapery::{Animation, BakedGarment};
use serde_json::json;

use crate::args::{Animate, Method};
use crate::say::Say;
use crate::stage::{Stage, inputs};
use crate::{Answer, record, stop, write};

/// What the animation is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Glb,
    Npz,
    Pc2,
    Mdd,
    Obj,
}

impl Format {
    fn of(path: &Path) -> anyhow::Result<Self> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("glb") => Ok(Self::Glb),
            Some("npz") => Ok(Self::Npz),
            Some("pc2") => Ok(Self::Pc2),
            Some("mdd") => Ok(Self::Mdd),
            Some("obj") => Ok(Self::Obj),
            _ => bail!(
                "--out {}: an animation is written as .glb, .npz, .pc2, .mdd or .obj",
                path.display()
            ),
        }
    }

    /// Whether a file holds one garment and nothing else.
    const fn is_one_garment(self) -> bool {
        matches!(self, Self::Pc2 | Self::Mdd | Self::Obj)
    }
}

pub(crate) fn run(plan: &Animate, say: &Say) -> anyhow::Result<Answer> {
    let format = Format::of(&plan.out)?;
    let Method::Skinning = plan.method;
    if plan.dressed.motion.is_none() {
        bail!(
            "no --motion given; {} are built in",
            drapery::scene::builtin::CLIPS.join(", ")
        );
    }
    if format.is_one_garment() && plan.dressed.garment.len() != 1 {
        bail!(
            "--out {}: such a file holds one garment, {} were given",
            plan.out.display(),
            plan.dressed.garment.len()
        );
    }
    let stage = Stage::load(&plan.dressed, say)?;
    let animation = stage.animate(say)?;
    save(&animation, format, &plan.out)?;
    let settings = json!({
        "method": "skinning",
        "shape": stage.body.shape,
        "frames": animation.clip.frames().len(),
        "frame_rate": animation.clip.frame_rate().hz(),
    });
    let mut beside = plan.out.clone().into_os_string();
    beside.push(".run.json");
    record::write(
        Path::new(&beside),
        "animate",
        &settings,
        &inputs(&plan.dressed)?,
    )?;
    let data = json!({
        "file": plan.out,
        "frames": animation.clip.frames().len(),
        "frame_rate": animation.clip.frame_rate().hz(),
        "garments": animation.garments.iter().map(|g| json!({
            "name": g.garment.name(),
            "vertices": g.garment.mesh().positions().len(),
        })).collect::<Vec<_>>(),
    });
    let text = format!(
        "{}: {} frames at {} Hz, {}",
        plan.out.display(),
        animation.clip.frames().len(),
        animation.clip.frame_rate().hz(),
        match animation.garments.len() {
            0 => "the body alone".to_string(),
            _ => animation
                .garments
                .iter()
                .map(|g| g.garment.name())
                .collect::<Vec<_>>()
                .join(", "),
        },
    );
    say.result("animation", data, text)?;
    Ok(Answer::Yes)
}

fn save(animation: &Animation<'_>, format: Format, path: &Path) -> anyhow::Result<()> {
    match format {
        Format::Glb => glb(animation, path),
        Format::Npz => write::file(path, &animation.npz()?),
        Format::Pc2 => {
            let garment = only(animation)?;
            write::stream(path, |file| Ok(garment.write_pc2(BufWriter::new(file))?))
        }
        Format::Mdd => {
            let (garment, rate) = (only(animation)?, animation.clip.frame_rate());
            write::stream(path, |file| {
                Ok(garment.write_mdd(rate, BufWriter::new(file))?)
            })
        }
        Format::Obj => {
            let garment = only(animation)?;
            for frame in 0..garment.frames.len() {
                stop::check()?;
                write::file(&numbered(path, frame), garment.obj(frame).as_bytes())?;
            }
            Ok(())
        }
    }
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
        std::io::Write::flush(&mut buffer)?;
        Ok(())
    })
}

/// `a/sleeve.obj` at frame 7 is `a/sleeve_0007.obj`.
fn numbered(path: &Path, frame: usize) -> std::path::PathBuf {
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
        assert_eq!(Format::of(Path::new("a.b/c.glb")).unwrap(), Format::Glb);
        assert!(Format::of(Path::new("a.fbx")).is_err());
        assert!(Format::of(Path::new("glb")).is_err());
    }

    #[test]
    fn frames_are_numbered_beside_the_name() {
        assert_eq!(numbered(Path::new("x/s.obj"), 7), Path::new("x/s_0007.obj"));
    }
}
