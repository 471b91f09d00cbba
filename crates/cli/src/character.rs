//! `drapery character info|check`.

use drapery::core::{BodyModel, ShapeParameter};
use drapery::scene::preflight::{
    Finding, FindingKind, Severity, ShapeSweep, character_info, check_character, check_motion,
    shapes_to_sweep, sweep_shapes,
};
use serde_json::json;

use crate::args::Character;
use crate::say::Say;
use crate::{Answer, garment, source, stop};

pub(crate) fn run(command: &Character, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Character::Info { character, shape } => {
            let model = source::character(character, say)?;
            let body = source::shaped(&model, shape, say)?;
            let info = character_info(&model, &body);
            let shape_parameters: Vec<&str> = model
                .shape_parameters()
                .iter()
                .map(|p| p.name.as_str())
                .collect();
            let data = json!({
                "vertices": info.vertices,
                "triangles": info.triangles,
                "joints": info.joints,
                "joint_names": model.skeleton().names(),
                "shape_parameters": shape_parameters,
                "shape_ranges": model.shape_parameters().iter().map(|p| [p.min, p.max]).collect::<Vec<_>>(),
                "closed": info.closed,
                "euler": info.euler,
                "self_intersections": info.self_intersections,
                "height_m": info.height_m,
                "source_vertices": model.weld().welded_from_source().len(),
            });
            let text = format!(
                "{character}: {} vertices, {} triangles, {} joints, {:.3} m tall\n\
                 {}, Euler characteristic {}, {} self-intersecting triangle pairs\n\
                 joints: {}\nshape parameters: {}",
                info.vertices,
                info.triangles,
                info.joints,
                info.height_m,
                if info.closed { "closed" } else { "open" },
                info.euler,
                info.self_intersections,
                model.skeleton().names().join(", "),
                match model.shape_parameters() {
                    [] => "none".to_string(),
                    parameters => parameters
                        .iter()
                        .map(|p| format!("{} ({} to {})", p.name, p.min, p.max))
                        .collect::<Vec<_>>()
                        .join(", "),
                },
            );
            say.result("character", data, text)?;
            Ok(Answer::Yes)
        }
        Character::Check {
            character,
            shape,
            motion,
            reading,
            shapes,
            seed,
        } => {
            let model = source::character(character, say)?;
            let body = source::shaped(&model, shape, say)?;
            let mut findings = check_character(&model, &body)?;
            for name in motion {
                let clip = source::motion_on(name, reading, &body, &model, say)?;
                let bar = say.progress(clip.frames().len() as u64, "frames");
                let report = check_motion(&model, &body, &clip, |frame| {
                    bar.set_position(frame as u64 + 1);
                    !stop::asked()
                })?;
                bar.finish_and_clear();
                stop::check()?;
                let contact = report.contact_frames();
                let data = json!({
                    "clip": clip.name(),
                    "frames": clip.frames().len(),
                    "body_contact_frames": contact,
                    "masked_share": report.masked_share,
                    "sole_height_m": report.sole_height,
                });
                let text = format!(
                    "{}: the body meets itself in {} of {} frames, {:.2} % of its vertices are masked, \
                     its lowest point is at {:.1} to {:.1} cm",
                    clip.name(),
                    contact.len(),
                    clip.frames().len(),
                    100.0 * report.masked_share,
                    100.0 * report.sole_height[0],
                    100.0 * report.sole_height[1],
                );
                say.result("clip", data, text)?;
                findings.extend(report.findings);
            }
            if let Some(n_random) = shapes {
                let shapes = shapes_to_sweep(model.shape_parameters(), *n_random as usize, *seed);
                let bar = say.progress(shapes.len() as u64, "shapes");
                let sweep = sweep_shapes(&model, &shapes, |done, _| {
                    bar.set_position(done as u64);
                    !stop::asked()
                })?;
                bar.finish_and_clear();
                stop::check()?;
                say_sweep(&sweep, *n_random, *seed, say)?;
                findings.extend(crossing_shapes(&sweep, model.shape_parameters()));
            }
            garment::say_findings(&findings, character, say)
        }
    }
}

/// What a sweep over the shape space found, in numbers.
fn say_sweep(sweep: &ShapeSweep, n_random: u32, seed: u64, say: &Say) -> anyhow::Result<()> {
    let angle = sweep.smallest_angle.to_degrees();
    let data = json!({
        "shapes": sweep.n_shapes,
        "random": n_random,
        "seed": seed,
        "self_intersecting": sweep.crossing.iter().map(|c| &c.shape).collect::<Vec<_>>(),
        "smallest_angle_deg": angle,
    });
    let text = format!(
        "{} of {} shapes intersect themselves at rest; the smallest angle of a triangle is {angle:.1}°",
        sweep.crossing.len(),
        sweep.n_shapes,
    );
    say.result("shapes", data, text)
}

/// The finding that some shapes intersect themselves.
fn crossing_shapes(sweep: &ShapeSweep, parameters: &[ShapeParameter]) -> Option<Finding> {
    let first = sweep.crossing.first()?;
    let shape: Vec<String> = parameters
        .iter()
        .zip(&first.shape)
        .filter(|(_, value)| **value != 0.0)
        .map(|(parameter, value)| format!("{} = {value}", parameter.name))
        .collect();
    let place = 100.0 * first.place;
    Some(Finding {
        finding: FindingKind::SelfIntersection,
        severity: Severity::Warning,
        count: sweep.crossing.len() as u64,
        place: format!(
            "{} pairs of triangles near ({:.1}, {:.1}, {:.1}) cm with {}",
            first.n_crossings,
            place.x,
            place.y,
            place.z,
            shape.join(", ")
        ),
        cure: "narrow the ranges of these parameters, or mend their directions".to_string(),
        vertices: Vec::new(),
    })
}
