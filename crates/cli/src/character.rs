//! `drapery character info|check`.

use drapery::core::BodyModel;
use drapery::scene::preflight::{character_info, check_character, check_motion};
use serde_json::json;

use crate::args::Character;
use crate::say::Say;
use crate::{Answer, garment, source, stop};

pub(crate) fn run(command: &Character, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Character::Info { character, shape } => {
            let model = source::character(character, say)?;
            let body = source::shaped(&model, shape)?;
            let info = character_info(&model);
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
                if shape_parameters.is_empty() {
                    "none".to_string()
                } else {
                    shape_parameters.join(", ")
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
        } => {
            let model = source::character(character, say)?;
            let body = source::shaped(&model, shape)?;
            let mut findings = check_character(&model);
            for name in motion {
                let clip = source::motion_on(name, reading, &body, model.skeleton(), say)?;
                let report = check_motion(&model, &body, &clip)?;
                stop::check()?;
                say.result("clip", json!({ "clip": clip.name() }), clip.name())?;
                findings.extend(report.findings);
            }
            garment::say_findings(&findings, character, say)
        }
    }
}
