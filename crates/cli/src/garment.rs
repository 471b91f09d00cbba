//! `drapery garment info|check|fabric`, and how findings are said.

use anyhow::{Context, bail};
use drapery::core::{BodyModel, Clip, ShapedBody, Surroundings};
use drapery::scene::character::Character;
use drapery::scene::garment::{DraftConfig, GarmentKind, draft, pins, write_obj};
use drapery::scene::load::nearest;
use drapery::scene::preflight::{
    Finding, Severity, borders, check_garment, check_garment_made_for, check_outfit,
};
use drapery::{dress_made_for, roll_out};
use serde_json::json;

use crate::args::{DraftPlan, Garment, PatternReading};
use crate::say::Say;
use crate::source::Worn;
use crate::{Answer, fabric, record, source, stop, write};

pub(crate) fn run(command: &Garment, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Garment::Info { garment, pattern } => info(garment, *pattern, say),
        Garment::Draft(plan) => draft_to(plan, say),
        Garment::Fabric(plan) => fabric::run(plan, say),
        Garment::Check {
            garment,
            pattern,
            on,
            shape,
            fitted,
            motion,
            reading,
        } => {
            let Some(character) = on else {
                if !shape.shape.is_empty() {
                    bail!("--shape needs --on CHARACTER");
                }
                let garments = garment
                    .iter()
                    .map(|name| source::garment(name, *pattern, say))
                    .collect::<anyhow::Result<Vec<_>>>()?;
                let outfit = check_layers(&garments.iter().collect::<Vec<_>>(), say)?;
                let answers = garment
                    .iter()
                    .zip(&garments)
                    .map(|(name, garment)| say_findings(&check_garment(garment, None), name, say));
                return Ok(all(answers)?.and(outfit));
            };
            let model = source::character(character, say)?;
            let body = source::shaped(&model, shape, say)?;
            let worn = garment
                .iter()
                .map(|name| {
                    let mut worn = source::garment_for(name, *pattern, &model, &body, say)?;
                    if *fitted {
                        worn.made_for.clone_from(&body.shape);
                    }
                    Ok(worn)
                })
                .collect::<anyhow::Result<Vec<_>>>()?;
            let layers: Vec<_> = worn.iter().map(|w| &w.garment).collect();
            let outfit = check_layers(&layers, say)?;
            let clips = motion
                .iter()
                .map(|name| source::motion_on(name, reading, &body, &model, &say.hushed()))
                .collect::<anyhow::Result<Vec<_>>>()?;
            let answers = garment.iter().zip(&worn).map(|(name, worn)| {
                let made_for = worn.is_made_for(&body);
                let on = Some((&model as &dyn BodyModel, &body));
                let findings = check_garment_made_for(&worn.garment, on, made_for);
                let sound = say_findings(&findings, name, say)?;
                let conditioned = conditioning(worn, &model, &body, &clips, say)?;
                Ok(sound.and(conditioned))
            });
            Ok(all(answers)?.and(outfit))
        }
    }
}

/// What is wrong with garments that are worn together.
fn check_layers(layers: &[&drapery::core::Garment], say: &Say) -> anyhow::Result<Answer> {
    match layers.len() {
        1 => Ok(Answer::Yes),
        _ => say_findings(&check_outfit(layers), "the outfit", say),
    }
}

/// Drafts a garment and writes it, with the flat pattern as vt.
fn draft_to(plan: &DraftPlan, say: &Say) -> anyhow::Result<Answer> {
    if write::check("--out", &plan.out)? != "obj" {
        bail!("--out {}: a garment is written as .obj", plan.out.display());
    }
    let character = source::character(&plan.character, say)?;
    let body = source::shaped(&character, &plan.shape, say)?;
    let Some(kind) = GarmentKind::named(&plan.garment) else {
        let names: Vec<&str> = GarmentKind::ALL.iter().map(|k| k.name()).collect();
        let near = nearest(&plan.garment, names.iter().copied());
        let near = near.map_or_else(String::new, |n| format!(" (did you mean {n}?)"));
        bail!(
            "no pattern is called {}; there are {}{near}",
            plan.garment,
            names.join(", ")
        );
    };
    let config = DraftConfig {
        n_triangles: plan.triangles,
        ease: match plan.ease_cm {
            Some(cm) => cm / 100.0,
            None => plan.size.size().ease(),
        },
    };
    let garment = draft(kind, &character, &body.shape, &config)
        .with_context(|| format!("cannot draft {} for {}", kind.name(), character.name()))?;
    write::file(&plan.out, write_obj(&garment).as_bytes())?;
    record::write(
        &record::beside(&plan.out),
        "garment draft",
        plan,
        &[record::Input::of(&plan.character)?],
    )?;
    let data = json!({
        "file": plan.out.to_string_lossy(),
        "vertices": garment.mesh().positions().len(),
        "triangles": garment.mesh().triangles().len(),
    });
    let text = format!(
        "{}: {} vertices, {} triangles",
        plan.out.display(),
        garment.mesh().positions().len(),
        garment.mesh().triangles().len()
    );
    say.result("draft", data, text)?;
    Ok(Answer::Yes)
}

/// Yes when all answers are.
fn all(answers: impl Iterator<Item = anyhow::Result<Answer>>) -> anyhow::Result<Answer> {
    let mut together = Answer::Yes;
    for answer in answers {
        together = together.and(answer?);
    }
    Ok(together)
}

fn info(name: &str, pattern: PatternReading, say: &Say) -> anyhow::Result<Answer> {
    let garment = source::garment(name, pattern, say)?;
    let mesh = garment.mesh();
    let (low, high) = mesh.bounds();
    let size = high - low;
    let borders: Vec<f32> = borders(mesh).iter().map(|b| b.length).collect();
    let (_, n_parts) = mesh.topology().parts();
    let pins: Vec<_> = pins(&garment)
        .map(|g| json!({ "name": g.name, "vertices": g.vertices.len() }))
        .collect();
    let data = json!({
        "vertices": mesh.positions().len(),
        "triangles": mesh.triangles().len(),
        "parts": n_parts,
        "borders_m": borders,
        "flat_pattern": garment.pattern().is_some(),
        "panels": garment.panels().iter().map(|p| json!({ "name": p.name, "triangles": p.triangles.len() })).collect::<Vec<_>>(),
        "pins": pins,
        "size_m": size.to_array(),
    });
    let text = format!(
        "{name}: {} vertices, {} triangles, {} panels, {} pin groups, {}, {:.2} × {:.2} × {:.2} m\n\
         open borders: {}",
        mesh.positions().len(),
        mesh.triangles().len(),
        garment.panels().len(),
        pins.len(),
        if garment.pattern().is_some() {
            "flat pattern"
        } else {
            "no pattern: the mesh is its own rest shape"
        },
        size.x,
        size.y,
        size.z,
        match borders.as_slice() {
            [] => "none".to_string(),
            lengths => {
                let lengths = lengths.iter().map(|l| format!("{:.0} cm", 100.0 * l));
                lengths.collect::<Vec<_>>().join(", ")
            }
        },
    );
    say.result("garment", data, text)?;
    Ok(Answer::Yes)
}

/// Below this smallest singular value of a vertex's blended matrix, inverse
/// skinning amplifies errors more than threefold.
const SOUND_CONDITIONING: f64 = 0.3;

/// Says how well-conditioned the skinning stays over each motion.
fn conditioning(
    worn: &Worn,
    model: &Character,
    body: &ShapedBody,
    clips: &[Clip],
    say: &Say,
) -> anyhow::Result<Answer> {
    let Some(first) = clips.first() else {
        return Ok(Answer::Yes);
    };
    let garment = &worn.garment;
    let animator = dress_made_for(garment, model, &worn.made_for, first.frame_rate())?;
    let mut answer = Answer::Yes;
    let bar = say.progress(clips.len() as u64, "motions");
    for clip in clips {
        let mut worst = (f64::INFINITY, 0, 0);
        let mut failed = None;
        let _ = roll_out(&animator, model, body, clip, |frame, posed, _| {
            match animator.conditioning(&posed.frame(body, Surroundings::default())) {
                Ok((value, vertex)) if value < worst.0 => worst = (value, vertex, frame),
                Ok(_) => {}
                Err(error) => failed = Some(error),
            }
            failed.is_none() && !stop::asked()
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        stop::check()?;
        bar.inc(1);
        let (value, vertex, frame) = worst;
        let sound = value >= SOUND_CONDITIONING;
        let data = json!({
            "garment": garment.name(), "clip": clip.name(), "smallest_singular_value": value,
            "vertex": vertex, "frame": frame, "limit": SOUND_CONDITIONING, "pass": sound,
        });
        let text = format!(
            "{} {}: smallest singular value of the skinning {value:.3} (vertex {vertex}, frame {frame}; \
             at least {SOUND_CONDITIONING} is sound)",
            garment.name(),
            clip.name()
        );
        say.result("conditioning", data, text)?;
        if !sound {
            answer = Answer::No;
        }
    }
    bar.finish_and_clear();
    Ok(answer)
}

/// Says what was found, or that nothing was.
pub(crate) fn say_findings(findings: &[Finding], what: &str, say: &Say) -> anyhow::Result<Answer> {
    for finding in findings {
        let data = json!({
            "finding": finding.finding.name(),
            "severity": finding.severity.name(),
            "count": finding.count,
            "where": finding.place,
            "cure": finding.cure,
        });
        let text = format!(
            "{}: {} ({})\n  where: {}\n  cure: {}",
            finding.severity.name(),
            finding.finding.name(),
            finding.count,
            finding.place,
            finding.cure
        );
        say.result("finding", data, text)?;
    }
    if findings.is_empty() {
        say.note(format_args!("{what}: nothing wrong found"));
    }
    // A note is worth knowing, and nothing is wrong.
    let wrong = findings.iter().any(|f| f.severity != Severity::Note);
    Ok(if wrong { Answer::No } else { Answer::Yes })
}
