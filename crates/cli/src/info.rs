//! `drapery info`: what this program has built in, or what a file is.

use anyhow::Context;
use drapery::scene::{builtin, fabric};
use drapery::store::npz::NpzArchive;
use serde_json::json;

use crate::args::{
    Character, FabricPlan, Garment, Info, Motion, MotionReading, PatternReading, Shape,
};
use crate::say::Say;
use crate::{Answer, character, garment, motion};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Character,
    Garment,
    Fabric,
    Motion,
    Animation,
}

pub(crate) fn run(plan: &Info, say: &Say) -> anyhow::Result<Answer> {
    let Some(name) = &plan.name else {
        let data = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "characters": builtin::CHARACTERS,
            "garments": builtin::GARMENTS,
            "fabrics": fabric::NAMES,
            "motions": builtin::CLIPS,
        });
        let text = format!(
            "drapery {}\nbuilt-in characters: {}\nbuilt-in garments: {}\n\
             built-in fabrics: {}\nbuilt-in motions: {}",
            env!("CARGO_PKG_VERSION"),
            builtin::CHARACTERS.join(", "),
            builtin::GARMENTS.join(", "),
            fabric::NAMES.join(", "),
            builtin::CLIPS.join(", "),
        );
        say.result("info", data, text)?;
        return Ok(Answer::Yes);
    };
    let name = name.clone();
    let shape = Shape::default();
    let reading = MotionReading::default();
    match kind(&name)? {
        Kind::Character => character::run(
            &Character::Info {
                character: name,
                shape,
            },
            say,
        ),
        Kind::Garment => garment::run(
            &Garment::Info {
                garment: name,
                pattern: PatternReading::default(),
            },
            say,
        ),
        Kind::Fabric => garment::run(
            &Garment::Fabric(FabricPlan {
                fabric: vec![name],
                list: false,
                constants: true,
                out: None,
                picture: None,
                cells: None,
            }),
            say,
        ),
        Kind::Animation => animation(&name, say),
        Kind::Motion => motion::run(
            &Motion::Info {
                motion: name,
                reading,
            },
            say,
        ),
    }
}

fn kind(name: &str) -> anyhow::Result<Kind> {
    let extension = name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase());
    Ok(match extension.as_deref() {
        Some("obj") => Kind::Garment,
        Some("bvh") => Kind::Motion,
        Some("toml" | "json") => Kind::Fabric,
        Some("npz") => {
            let bytes = std::fs::read(name).with_context(|| format!("cannot read {name}"))?;
            let archive =
                NpzArchive::from_bytes(&bytes).with_context(|| format!("cannot read {name}"))?;
            if archive.contains("v_template") {
                Kind::Character
            } else if archive.contains("triangles/body") {
                Kind::Animation
            } else {
                Kind::Motion
            }
        }
        None if builtin::GARMENTS.contains(&name) => Kind::Garment,
        None if fabric::NAMES.contains(&name) => Kind::Fabric,
        None if builtin::CLIPS.contains(&name) || name.contains('+') => Kind::Motion,
        _ => Kind::Character,
    })
}

/// An `.npz` that `drapery animate` wrote.
fn animation(name: &str, say: &Say) -> anyhow::Result<Answer> {
    let bytes = std::fs::read(name).with_context(|| format!("cannot read {name}"))?;
    let archive = NpzArchive::from_bytes(&bytes)?;
    let body = archive.get("body")?.shape;
    let garments: Vec<&str> = archive
        .names()
        .filter_map(|n| n.strip_prefix("cloth/"))
        .collect();
    let n_frames = body.first().copied().unwrap_or(0);
    let data = json!({ "frames": n_frames, "garments": garments, "body_vertices": body.get(1) });
    let text = format!(
        "{name}: an animation of {n_frames} frames: {}",
        garments.join(", ")
    );
    say.result("animation", data, text)?;
    Ok(Answer::Yes)
}
