//! How many garments are animated in real time, with and without drawing (§7.2 of
//! Stable Spaces: about 170, and over 1,000).

use std::time::Instant;

use anyhow::Context;
use drapery::core::{BodyModel, GarmentAnimator, PoseVelocity, PosedBody, ShapedBody, StepReport};
use drapery::runtime::StableCrowd;
use drapery::store::dataset::Split;
use drapery::view::picture::{
    Camera, Colour, Image, Options, Scene, SceneMesh, Shading, Size, View, render,
};
use glam::Vec3;
use serde_json::json;

use super::Cells;
use super::page::number;
use super::pictures::keep;
use super::stable_spaces::{Cell, Lab};
use crate::bench_crowd::frame_seconds;
use crate::crowd_stand_in::Bodies;
use crate::stop;

const NAME: &str = "crowds";
/// The paper's, without drawing and with it.
const PAPER: [usize; 2] = [1000, 170];
/// Frames a second that are real time.
const RATE: f64 = 30.0;
/// How long crowds are measured [s].
const SECONDS: f64 = 2.0;
const SIZE: Size = Size::new(1280, 720);
/// Of the picture that is kept.
const KEPT: Size = Size::new(800, 450);
/// Pictures that are timed; the median counts.
const DRAWN: usize = 3;

pub(super) fn make(lab: &Lab<'_>) -> anyhow::Result<()> {
    lab.known_or(NAME, || {
        let [_, _, shipped] = Cell::SHIPPED;
        let crowd = StableCrowd::new(lab.model(shipped)?)?;
        let trains = lab.ground.plain(Split::Train)?;
        let walk = trains.first().context("no clip trains")?;
        let (body, posed) = lab.ground.posed(walk)?;
        let threads = lab.desk.threads.current_num_threads();
        let mut rates = Vec::new();
        for threads in [1, threads] {
            let size = (threads, PAPER[0]);
            let seconds = frame_seconds(&crowd, &posed, &body, size, SECONDS)?;
            rates.push(json!({
                "threads": threads,
                "count": PAPER[0],
                "frame_s": seconds,
                "real_time": PAPER[0] as f64 / seconds / RATE,
            }));
        }
        let mut drawn = Vec::new();
        for (shading, words) in [(Shading::Studio, "studio"), (Shading::Flat, "flat")] {
            let (seconds, _) = drawing(lab, &crowd, &body, &posed, (SIZE, shading))?;
            drawn.push(json!({
                "shading": words,
                "count": PAPER[1],
                "frame_s": seconds,
                "real_time": PAPER[1] as f64 / seconds / RATE,
            }));
        }
        let (_, image) = drawing(lab, &crowd, &body, &posed, (KEPT, Shading::Studio))?;
        keep(lab.desk, "crowd.png", &image)?;
        Ok(json!({
            "cell": NAME,
            "file": "crowd.png",
            "threads": threads,
            "vertices": crowd.animator().topology().n_vertices(),
            "width": SIZE.width,
            "height": SIZE.height,
            "without_drawing": rates,
            "with_drawing": drawn,
        }))
    })?;
    Ok(())
}

/// What a frame takes with bodies skinned and drawn [s], and a picture of it.
fn drawing(
    lab: &Lab<'_>,
    crowd: &StableCrowd,
    body: &ShapedBody,
    clip: &[PosedBody],
    (size, shading): (Size, Shading),
) -> anyhow::Result<(f64, Image)> {
    let count = PAPER[1];
    let character = &lab.ground.character;
    let mut bodies = Bodies::new(clip, body, count);
    bodies.go_to(0);
    let mut state = crowd.start(&bodies.frames())?;
    let mut out = vec![0.0f32; count * crowd.n_values()];
    let mut reports = vec![Ok(StepReport::default()); count];
    let still = PoseVelocity::zero(character.skeleton().len());
    let mut posed = vec![character.room(); count];
    let garment = crowd.animator().topology();
    let options = Options {
        shading,
        threads: std::num::NonZeroUsize::new(lab.desk.threads.current_num_threads()),
        ..Options::of_size(size)
    };
    let mut all: Vec<(f64, Image)> = Vec::new();
    for frame in 0..DRAWN + 2 {
        stop::check()?;
        bodies.go_to(frame);
        let frames = bodies.frames();
        let start = Instant::now();
        (lab.desk.threads).install(|| crowd.step(&mut state, &frames, &mut out, &mut reports))?;
        for (posed, frame) in posed.iter_mut().zip(&frames) {
            character.pose(body, frame.pose, &still, posed)?;
        }
        let cloth: Vec<Vec<Vec3>> = out
            .chunks_exact(crowd.n_values())
            .map(|values| {
                values
                    .as_chunks::<3>()
                    .0
                    .iter()
                    .map(|p| Vec3::from(*p))
                    .collect()
            })
            .collect();
        let mut scene = Scene::on_floor();
        for (i, (posed, cloth)) in posed.iter().zip(&cloth).enumerate() {
            let colour = Colour::CLOTH[i % Colour::CLOTH.len()];
            scene = scene
                .with(SceneMesh::body(character.topology(), &posed.vertices))
                .with(SceneMesh::cloth(garment, cloth, colour));
        }
        let view = View {
            elevation: 0.45,
            ..View::three_quarter()
        };
        let camera = Camera::framing_points(scene.points(), view, size);
        let image = render(&scene, &camera, &options)?;
        if frame >= 2 {
            all.push((start.elapsed().as_secs_f64(), image));
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(all.swap_remove(all.len() / 2))
}

pub(super) fn section(cells: &Cells) -> Option<String> {
    let cell = cells.get(NAME)?;
    let mut rows = String::new();
    for rate in cell["without_drawing"].as_array().into_iter().flatten() {
        rows += &format!(
            "| animated, {} thread(s) | {} | {} | {} | over 1,000 |\n",
            rate["threads"],
            rate["count"],
            number(&rate["frame_s"].as_f64().map(|s| 1e3 * s).into(), 2),
            number(&rate["real_time"], 0)
        );
    }
    for rate in cell["with_drawing"].as_array().into_iter().flatten() {
        rows += &format!(
            "| and drawn, {} | {} | {} | {} | about 170 |\n",
            rate["shading"].as_str().unwrap_or("?"),
            rate["count"],
            number(&rate["frame_s"].as_f64().map(|s| 1e3 * s).into(), 0),
            number(&rate["real_time"], 1)
        );
    }
    let (width, height) = (&cell["width"], &cell["height"]);
    let (vertices, threads) = (&cell["vertices"], &cell["threads"]);
    Some(format!(
        "## Crowds\n\n\
         The dress of {vertices} vertices, model C in 64 dimensions: whole frames of a crowd, \
         medians, beside whatever else ran. Drawn: bodies skinned and all drawn by the picture \
         maker at {width} × {height} on {threads} thread(s), without a graphics card, which the \
         paper had; so drawing is far from real time here, and animation far from its limit.\n\n\
         | | garments | frame, ms | at 30 frames a second | the paper's |\n|---|---|---|---|---|\n\
         {rows}\n![a crowd]({})\n",
        cell["file"].as_str().unwrap_or_default()
    ))
}
