//! Figures of Stable Spaces: components at ±σ (Figure 2), errors in colour (Tables 2
//! and 3), folds at the start of a turn (Figure 4), and the plots.

use anyhow::Context;
use drapery::core::{BodyModel, CanonicalFrame, GarmentAnimator, Topology};
use drapery::correction_of;
use drapery::learn::{Ridge, StableModel, StableSpaceConfig};
use drapery::runtime::{CollisionCorrection, CorrectionConfig, StableSpace};
use drapery::store::dataset::{DatasetStore, PlannedSequence};
use drapery::view::picture::{
    Camera, Colour, Image, Options, Scene, SceneMesh, Size, View, render, sheet,
};
use glam::Vec3;
use serde_json::{Value, json};

use super::desk::Desk;
use super::ground::Ground;
use super::stable_spaces::{Cell, Lab};
use super::{Cells, plots};
use crate::eval_pictures::{self, Shot};
use crate::write;

const SIZE: Size = Size::new(200, 270);
/// Errors are coloured up to this [cm].
const RANGE_CM: f32 = 10.0;
/// A turn is at least this much [rad] in half a second; hips sway by less in a walk.
const TURN: f32 = 0.2;

pub(super) fn make(lab: &Lab<'_>) -> anyhow::Result<()> {
    lab.known_or("picture-components", || components(lab))?;
    if !lab.sets.named("test_cm").is_empty() {
        let dims = [10, 64, 128].map(|dims| Cell::of(StableModel::C, dims));
        let names = ["C, 10 dims", "C, 64 dims", "C, 128 dims"];
        lab.known_or("picture-dims", || errors(lab, "dims.png", dims, names))?;
        let names = ["A", "B", "C"];
        lab.known_or("picture-models", || {
            errors(lab, "models.png", Cell::SHIPPED, names)
        })?;
        let shipped = lab.model(Cell::SHIPPED[2])?;
        lab.known_or("picture-turn", || turn(lab, &shipped))?;
    }
    plots::stop(lab)?;
    plots::walk(lab)
}

/// The mean garment and those of the first three components at ±σ.
fn components(lab: &Lab<'_>) -> anyhow::Result<Value> {
    const N: usize = 3;
    // What comes after the components is not looked at.
    let config = StableSpaceConfig {
        model: StableModel::A,
        order: 0,
        dims: N,
        ridge: Ridge::Fixed(1e-4),
        ..StableSpaceConfig::default()
    };
    let (_, trained) = lab.desk.threads.install(|| lab.fit(&config))?;
    let parts = trained.animator.parts();
    let garment = |component: usize, factor: f64| -> Vec<Vec3> {
        let n_values = parts.mean.len();
        let along = &parts.basis[component * n_values..][..n_values];
        let values = parts.mean.iter().zip(along);
        let values: Vec<f32> = values.map(|(m, b)| m + factor as f32 * b).collect();
        values
            .as_chunks::<3>()
            .0
            .iter()
            .map(|p| Vec3::from(*p))
            .collect()
    };
    let (mut images, mut labels, mut sigmas) = (Vec::new(), Vec::new(), Vec::new());
    let topology = trained.animator.topology();
    let mean = garment(0, 0.0);
    for (component, variance) in trained.cloth_variances.iter().enumerate() {
        let sigma = variance.sqrt();
        for (words, factor) in [("−σ", -sigma), ("mean", 0.0), ("+σ", sigma)] {
            let cloth = garment(component, factor);
            images.push(drawn(topology, &cloth, &mean)?);
            labels.push(format!("{} {words}", component + 1));
        }
        // Of a vertex, root mean square.
        sigmas.push(100.0 * sigma / (mean.len() as f64).sqrt());
    }
    keep(lab.desk, "components.png", &sheet(&images, 3, &labels, "")?)?;
    Ok(json!({
        "cell": "picture-components",
        "file": "components.png",
        "sigma_cm": sigmas,
        "explained_percent": 100.0 * trained.cloth_explained,
    }))
}

/// A garment without a body, seen as `framed` would be.
fn drawn(topology: &Topology, cloth: &[Vec3], framed: &[Vec3]) -> anyhow::Result<Image> {
    let view = View {
        margin: 0.12,
        ..View::three_quarter()
    };
    let camera = Camera::framing_points(framed.iter().copied(), view, SIZE);
    let scene = Scene::default().with(SceneMesh::cloth(topology, cloth, Colour::BLUE));
    Ok(render(&scene, &camera, &Options::of_size(SIZE))?)
}

/// Three models in colours of their errors, in one frame of two clips that test.
fn errors(lab: &Lab<'_>, file: &str, cells: [Cell; 3], names: [&str; 3]) -> anyhow::Result<Value> {
    let tests = lab.sets.named("test_cm");
    let mut chosen = vec![&tests[0]];
    chosen.extend((tests.len() > 1).then(|| &tests[tests.len() / 2]));
    let models = cells.map(|cell| lab.model(cell));
    let models = models.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let mut shots = Vec::new();
    for planned in &chosen {
        let frames = match chosen.len() {
            1 => vec![planned.frames / 3, planned.frames * 2 / 3],
            _ => vec![planned.frames * 2 / 3],
        };
        shots.extend(stills(&lab.ground, planned, &frames, &models)?);
    }
    let named = names.map(|name| (name, None));
    let image = eval_pictures::picture(
        &lab.ground.character,
        models[0].topology(),
        &named,
        Some(correction(&lab.ground)?.is_worn_over()),
        &shots,
        RANGE_CM,
    )?;
    keep(lab.desk, file, &image)?;
    let clips: Vec<&str> = chosen.iter().map(|s| s.clip.as_str()).collect();
    let mean_cm: Vec<Vec<f64>> = shots.iter().map(Shot::errors_cm).collect();
    Ok(json!({ "cell": file, "file": file, "clips": clips, "mean_cm": mean_cm }))
}

fn correction(ground: &Ground) -> anyhow::Result<CollisionCorrection> {
    let head = ground.dataset.head();
    let config = CorrectionConfig::DEFAULT;
    Ok(correction_of(&ground.character, head, 0, config)?)
}

/// What models make of frames of a sequence, out of the body as in `animate`.
pub(super) fn stills(
    ground: &Ground,
    planned: &PlannedSequence,
    frames: &[u32],
    models: &[StableSpace],
) -> anyhow::Result<Vec<Shot>> {
    let (_, posed) = ground.posed(planned)?;
    let mut shots: Vec<Shot> = (frames.iter())
        .map(|frame| Shot::new(*frame, posed[*frame as usize].vertices.clone()))
        .collect();
    let correction = correction(ground)?;
    for model in models {
        let one = std::slice::from_ref(planned);
        ground
            .footage()
            .open_loop_seen(model, one, |seen, found, simulated| {
                if let Some(at) = frames.iter().position(|frame| *frame == seen.frame) {
                    shots[at].add(simulated, found);
                }
            })?;
    }
    for shot in &mut shots {
        let mut state = correction.start();
        shot.correct(|skin, cloth| correction.apply(&mut state, skin, cloth).map(drop))?;
    }
    Ok(shots)
}

/// The first turn of a clip that tests, simulated and by model C.
fn turn(lab: &Lab<'_>, model: &StableSpace) -> anyhow::Result<Value> {
    for planned in lab.sets.named("test_cm") {
        let source = lab.ground.dataset.sequence(&planned.name)?;
        let mut last = 0.0;
        let poses = source.poses(0..planned.frames)?;
        let headings = poses.iter().map(|pose| {
            last = CanonicalFrame::of(pose, last).heading;
            last
        });
        let headings: Vec<f32> = headings.collect();
        let half = (0.5 / model.frame_step().0).round() as usize;
        let Some(start) = turn_start(&headings, half) else {
            continue;
        };
        let quarter = (half / 3).max(1) as u32;
        let frames = [0, 1, 2, 3].map(|i| (start as u32 + i * quarter).min(planned.frames - 1));
        let models = std::slice::from_ref(model);
        let shots = stills(&lab.ground, planned, &frames, models)?;
        let image = rows(
            &lab.ground,
            model.topology(),
            &[("C", &shots)],
            &[Colour::BLUE],
        )?;
        keep(lab.desk, "turn.png", &image)?;
        return Ok(json!({
            "cell": "picture-turn",
            "file": "turn.png",
            "clip": planned.clip,
            "frame": start,
        }));
    }
    Ok(json!({ "cell": "picture-turn" }))
}

/// The first frame from which the body turns in half a second by half as much as it
/// ever does.
fn turn_start(headings: &[f32], half_second: usize) -> Option<usize> {
    let later = headings.get(half_second..)?;
    let turned = |(a, b): (&f32, &f32)| {
        let turn = (b - a).rem_euclid(std::f32::consts::TAU);
        turn.min(std::f32::consts::TAU - turn)
    };
    let turns: Vec<f32> = headings.iter().zip(later).map(turned).collect();
    let most = turns.iter().copied().fold(0.0, f32::max);
    match most > TURN {
        true => turns.iter().position(|turn| *turn > 0.5 * most),
        false => None,
    }
}

/// Simulation and model of each garment, one row each, one column a shot.
pub(super) fn rows(
    ground: &Ground,
    garment: &Topology,
    all: &[(&str, &[Shot])],
    colours: &[Colour],
) -> anyhow::Result<Image> {
    let body = ground.character.topology();
    let correction = correction(ground)?;
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    let n = all.first().map_or(1, |(_, shots)| shots.len());
    for ((name, shots), colour) in all.iter().zip(colours) {
        for is_simulated in [true, false] {
            for shot in *shots {
                let cloth = match is_simulated {
                    true => shot.simulated(),
                    false => shot.found(0).context("a shot without a model")?,
                };
                let seen = shot.skin().iter().copied();
                let camera = Camera::framing_points(seen, View::three_quarter(), SIZE);
                let meshes = (
                    SceneMesh::body(body, shot.skin()),
                    SceneMesh::cloth(garment, cloth, *colour),
                );
                let (body, cloth) = eval_pictures::biased(meshes, Some(correction.is_worn_over()));
                let scene = Scene::on_floor().with(body).with(cloth);
                images.push(render(&scene, &camera, &Options::of_size(SIZE))?);
                let whose = if is_simulated { "simulation" } else { name };
                labels.push(format!("{whose}, frame {}", shot.frame));
            }
        }
    }
    Ok(sheet(&images, n, &labels, "")?)
}

pub(super) fn keep(desk: &Desk<'_>, file: &str, image: &Image) -> anyhow::Result<()> {
    write::file(&desk.plan.out.join(file), &image.png()?)
}

pub(super) fn section(cells: &Cells) -> Option<String> {
    let mut text = String::new();
    let mut figure = |name: &str, title: &str, words: &dyn Fn(&Value) -> String| {
        let Some(cell) = cells.get_with_others(name) else {
            return;
        };
        if let Some(file) = cell["file"].as_str() {
            let words = words(&cell);
            text += &format!("### {title}\n\n{words}\n\n![{title}]({file})\n\n");
        }
    };
    figure(
        "picture-components",
        "Figure 2: components at ±σ",
        &|cell| {
            let sigmas: Vec<String> = (cell["sigma_cm"].as_array().into_iter().flatten())
                .map(|sigma| super::page::number(sigma, 1))
                .collect();
            format!(
                "The mean dress and the first three components. σ of a vertex, root mean square: {} \
             cm; together {} % of the variance.",
                sigmas.join(", "),
                super::page::number(&cell["explained_percent"], 0)
            )
        },
    );
    figure(
        "picture-dims",
        "Table 2 in colour: dimensions of C",
        &|_| {
            format!(
                "Distance from the simulation, from black at 0 to pale yellow at {RANGE_CM} cm, of \
                 cloth that was pushed out of the body; in the tables it was not."
            )
        },
    );
    figure("picture-models", "Table 3 in colour: A, B and C", &|_| {
        "The same frames, 64 dimensions.".to_string()
    });
    figure(
        "picture-turn",
        "Figure 4: folds at the start of a turn",
        &|cell| {
            let clip = cell["clip"].as_str().unwrap_or("?");
            format!("`{clip}`, simulated above, model C below. The paper shows a shirt.")
        },
    );
    figure("plot-stop", "Figure 3: an abrupt stop", &|cell| {
        format!(
            "The middle of the hem along the direction of the swing, in the stop of a clip that \
             tests whose simulated swing is the median one (`{}`). The paper shows A standing \
             still, and C going on.",
            cell["sequence"].as_str().unwrap_or("?")
        )
    });
    figure("plot-walk", "A walk, and a walk with a turn", &|_| {
        "Mean distance of a vertex over time. The paper: 2.24 cm on the walk, 2.07 with the \
         turn."
            .to_string()
    });
    (!text.is_empty()).then(|| format!("## Figures\n\n{}", text.trim_end()) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_starts_half_a_second_before_enough_of_it() {
        // Straight for 40 frames, then 2° a frame, also over the back.
        let heading = |i: i32| 3.0 + (i - 40).max(0) as f32 * 2f32.to_radians();
        let wrapped = |h: f32| (h + std::f32::consts::PI).rem_euclid(std::f32::consts::TAU);
        let headings: Vec<f32> = (0..90).map(|i| wrapped(heading(i))).collect();
        // 30° in half a second at most, and 16° from here.
        assert_eq!(turn_start(&headings, 15), Some(33));
        assert_eq!(turn_start(&headings[..40], 15), None);
        assert_eq!(turn_start(&[], 15), None);
    }
}
