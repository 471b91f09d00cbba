//! `drapery info`: what this program has built in, or what a file is.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use drapery::core::GarmentAnimator;
use drapery::scene::load::nearest;
use drapery::scene::scene_file::Scene;
use drapery::scene::{builtin, fabric};
use drapery::store::dataset::Split;
use drapery::store::npz::NpzArchive;
use serde_json::json;

use crate::args::{
    Character, FabricPlan, Garment, Info, Motion, MotionReading, PatternReading, Shape,
};
use crate::say::Say;
use crate::stage::read_model;
use crate::{Answer, character, dataset, garment, motion};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Character,
    Garment,
    Fabric,
    Motion,
    Animation,
    Scene,
    Model,
    Dataset,
}

pub(crate) fn run(plan: &Info, say: &Say) -> anyhow::Result<Answer> {
    let Some(name) = &plan.name else {
        let data = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "characters": builtin::CHARACTERS,
            "garments": builtin::GARMENTS,
            "fabrics": fabric::NAMES,
            "motions": builtin::CLIPS,
            "scenes": builtin::SCENES,
        });
        let text = format!(
            "drapery {}\nbuilt-in characters: {}\nbuilt-in garments: {}\n\
             built-in fabrics: {}\nbuilt-in motions: {}\nbuilt-in scenes: {}",
            env!("CARGO_PKG_VERSION"),
            builtin::CHARACTERS.join(", "),
            builtin::GARMENTS.join(", "),
            fabric::NAMES.join(", "),
            builtin::CLIPS.join(", "),
            builtin::SCENES.join(", "),
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
        Kind::Scene => scene(&name, say),
        Kind::Model => model(&name, say),
        Kind::Dataset => dataset::info(Path::new(&name), say),
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
        Some("drapery") => Kind::Model,
        Some("toml") if is_scene(name) => Kind::Scene,
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
        None if builtin::SCENES.contains(&name) => Kind::Scene,
        None if builtin::GARMENTS.contains(&name) => Kind::Garment,
        None if fabric::NAMES.contains(&name) => Kind::Fabric,
        None if builtin::CLIPS.contains(&name) || name.contains('+') => Kind::Motion,
        _ if Path::new(name).is_dir() => Kind::Dataset,
        Some("glb" | "gltf") => Kind::Character,
        None if builtin::CHARACTERS.contains(&name) => Kind::Character,
        Some(_) => bail!(
            "{name}: what is told of are .obj, .bvh, .npz, .glb, .gltf, .drapery, .toml and .json \
             files, folders of datasets, and what is built in"
        ),
        None => {
            let known = [
                builtin::CHARACTERS,
                builtin::GARMENTS,
                fabric::NAMES,
                builtin::CLIPS,
                builtin::SCENES,
            ];
            let near = nearest(name, known.into_iter().flatten().copied());
            bail!(
                "nothing built in is called '{name}'{}, and there is no such folder; drapery \
                 info lists what is",
                near.map_or_else(String::new, |n| format!(" (did you mean {n}?)"))
            )
        }
    })
}

/// Whether a file has the tables of a scene rather than a fabric's.
fn is_scene(name: &str) -> bool {
    let text = std::fs::read_to_string(name).unwrap_or_default();
    let tables = ["[character]", "[[garment]]", "[motion]"];
    text.lines().any(|line| tables.contains(&line.trim()))
}

/// What a scene becomes.
fn scene(name: &str, say: &Say) -> anyhow::Result<Answer> {
    let scene = Scene::named(Path::new(name)).with_context(|| format!("in {name}"))?;
    let plan = scene.plan(None).with_context(|| format!("in {name}"))?;
    let mut splits = Vec::new();
    for split in Split::ALL {
        let clips = (0..scene.n_clips()).filter(|c| scene.clip(*c).1 == split);
        let own = plan.iter().filter(|p| scene.clip(p.clip).1 == split);
        let frames: u64 = own.clone().map(|p| u64::from(p.n_frames)).sum();
        splits.push((split.name(), clips.count(), own.count(), frames));
    }
    let garments = scene.garments.iter().map(|worn| {
        json!({
            "name": worn.garment.name(),
            "vertices": worn.garment.mesh().positions().len(),
            "triangles": worn.garment.mesh().triangles().len(),
            "fabric": worn.fabric.name,
            "twin_of": worn.twin_of,
        })
    });
    let shapes: Vec<&str> = scene.shapes.iter().map(|s| s.name.as_str()).collect();
    let data = json!({
        "character": scene.character.name(),
        "shapes": shapes,
        "garments": garments.collect::<Vec<_>>(),
        "frame_rate": scene.frame_rate().hz(),
        "sequences": plan.len(),
        "frames": plan.iter().map(|p| u64::from(p.n_frames)).sum::<u64>(),
        "splits": splits.iter().map(|(split, clips, sequences, frames)| (*split, json!({
            "clips": clips, "sequences": sequences, "frames": frames,
        }))).collect::<BTreeMap<_, _>>(),
    });
    let worn = scene.garments.iter().map(|worn| {
        let (garment, fabric) = (&worn.garment, &worn.fabric.name);
        let (name, n) = (garment.name(), garment.mesh().triangles().len());
        format!("{name} ({n} triangles, {fabric})")
    });
    let mut text = format!(
        "{name}: {} on {} in {} shapes, {} Hz",
        worn.collect::<Vec<_>>().join(", "),
        scene.character.name(),
        shapes.len(),
        scene.frame_rate().hz()
    );
    for (split, clips, sequences, frames) in splits {
        text += &format!("\n  {split:<5} {clips} clips, {sequences} sequences, {frames} frames");
    }
    say.result("scene", data, text)?;
    Ok(Answer::Yes)
}

/// What `drapery train` wrote.
fn model(name: &str, say: &Say) -> anyhow::Result<Answer> {
    let model = read_model(Path::new(name))?;
    let head = model.head();
    let topology = model.animator().topology();
    let n_bytes = std::fs::metadata(name).map_or(0, |m| m.len());
    let mut data = serde_json::to_value(head)?;
    data["vertices"] = topology.n_vertices().into();
    data["triangles"] = topology.triangles().len().into();
    data["model_mb"] = (n_bytes as f64 / 1e6).into();
    let hidden = model.hidden();
    data["hidden_skin_vertices"] = json!(hidden.map(|h| h.n_hidden()));
    data["body_vertices"] = json!(hidden.map(|h| h.vertices().len()));
    let mut text = format!(
        "{name}: {} of {} ({} vertices), {} joints, {} Hz, trained on {} frames of {} sequences",
        head.method,
        head.garment,
        topology.n_vertices(),
        head.joints.len(),
        head.frame_rate,
        head.training.frames,
        head.training.sequences,
    );
    for (key, value) in &head.settings {
        text += &format!("\n  {key} {value}");
    }
    if let Some(radius) = head.spectral_radius {
        text += &format!("\n  spectral radius {radius:.4}");
    }
    if let Some(hidden) = hidden {
        let (n, all) = (hidden.n_hidden(), hidden.vertices().len());
        text += &format!("\n  always hides {n} of {all} vertices of the body");
    }
    for error in &head.errors {
        text += &format!("\n  {:.2} cm on {} clips", error.mean_cm, error.split);
    }
    say.result("model", data, text)?;
    Ok(Answer::Yes)
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
