//! `drapery garment info|check`, and how findings are said.

use drapery::core::{BodyModel, Surroundings};
use drapery::scene::garment::pins;
use drapery::scene::preflight::{Finding, Severity, check_garment};
use drapery::{dress, roll_out};
use serde_json::json;

use crate::args::{Garment, MotionReading, Shape};
use crate::say::Say;
use crate::{Answer, source, stop};

pub(crate) fn run(command: &Garment, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Garment::Info { garment } => info(garment, say),
        Garment::Check {
            garment,
            on,
            shape,
            motion,
            reading,
        } => {
            let checked = source::garment(garment, say)?;
            let Some(character) = on else {
                return say_findings(&check_garment(&checked, None), garment, say);
            };
            let model = source::character(character, say)?;
            let body = source::shaped(&model, shape)?;
            let findings = check_garment(&checked, Some((&model, &body)));
            let answer = say_findings(&findings, garment, say)?;
            let conditioning = conditioning(garment, character, shape, motion, reading, say)?;
            Ok(if conditioning == Answer::No {
                Answer::No
            } else {
                answer
            })
        }
    }
}

fn info(name: &str, say: &Say) -> anyhow::Result<Answer> {
    let garment = source::garment(name, say)?;
    let mesh = garment.mesh();
    let (low, high) = mesh.bounds();
    let size = high - low;
    let n_border = mesh
        .topology()
        .edges()
        .iter()
        .filter(|e| e.is_border())
        .count();
    let (_, n_parts) = mesh.topology().parts();
    let pins: Vec<_> = pins(&garment)
        .map(|g| json!({ "name": g.name, "vertices": g.vertices.len() }))
        .collect();
    let data = json!({
        "vertices": mesh.positions().len(),
        "triangles": mesh.triangles().len(),
        "parts": n_parts,
        "border_edges": n_border,
        "flat_pattern": garment.pattern().is_some(),
        "panels": garment.panels().iter().map(|p| json!({ "name": p.name, "triangles": p.triangles.len() })).collect::<Vec<_>>(),
        "pins": pins,
        "size_m": size.to_array(),
    });
    let text = format!(
        "{name}: {} vertices, {} triangles, {} panels, {} pin groups, {}, {:.2} × {:.2} × {:.2} m",
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
    );
    say.result("garment", data, text)?;
    Ok(Answer::Yes)
}

/// Below this smallest singular value of a vertex's blended matrix, inverse
/// skinning amplifies errors more than threefold.
const SOUND_CONDITIONING: f64 = 0.3;

/// Says how well-conditioned the skinning stays over each motion.
fn conditioning(
    garment: &str,
    character: &str,
    shape: &Shape,
    motions: &[String],
    reading: &MotionReading,
    say: &Say,
) -> anyhow::Result<Answer> {
    if motions.is_empty() {
        return Ok(Answer::Yes);
    }
    let quiet = say.hushed();
    let cloth = source::garment(garment, &quiet)?;
    let model = source::character(character, &quiet)?;
    let body = source::shaped(&model, shape)?;
    let mut answer = Answer::Yes;
    let bar = say.progress(motions.len() as u64, "motions");
    for name in motions {
        let clip = source::motion_on(name, reading, &body, model.skeleton(), &quiet)?;
        let animator = dress(&cloth, &model, clip.frame_rate())?;
        let mut worst = (f64::INFINITY, 0, 0);
        roll_out(&animator, &model, &body, &clip, |frame, posed, _| {
            let seen = posed.frame(&body, Surroundings::default());
            if let Ok((value, vertex)) = animator.conditioning(&seen)
                && value < worst.0
            {
                worst = (value, vertex, frame);
            }
            !stop::asked()
        })?;
        stop::check()?;
        bar.inc(1);
        let (value, vertex, frame) = worst;
        let sound = value >= SOUND_CONDITIONING;
        let data = json!({
            "garment": garment, "clip": clip.name(), "smallest_singular_value": value,
            "vertex": vertex, "frame": frame, "limit": SOUND_CONDITIONING, "pass": sound,
        });
        let text = format!(
            "{}: smallest singular value of the skinning {value:.3} (vertex {vertex}, frame {frame}; \
             at least {SOUND_CONDITIONING} is sound)",
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
