//! `drapery bench`: named measurements.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Context;
use drapery::core::{BodyModel, PoseVelocity, SkinWeights, skin_positions};
use drapery::scene::garment::{BindingConfig, bind};
use drapery::view::picture::{Size, View};
use glam::{Affine3A, Vec3};
use serde_json::json;

use crate::args::{Bench, Dressed, PatternReading};
use crate::picture::{Look, pictures};
use crate::say::Say;
use crate::stage::Stage;
use crate::{Answer, bench_crowd, bench_simulate, bench_walk, bench_wear, source, stop};

pub(crate) fn run(command: &Bench, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Bench::Skinning {
            character,
            garment,
            runs,
        } => skinning(character, garment, *runs, say),
        Bench::Picture {
            character,
            garment,
            runs,
        } => picture(character, garment, *runs, say),
        Bench::Crowd(plan) => bench_crowd::run(plan, say),
        Bench::Simulate(plan) => bench_simulate::run(plan, say),
        Bench::Walk(plan) => bench_walk::run(plan, say),
        Bench::Wear(plan) => bench_wear::run(plan, say),
    }
}

/// So many threads, or as many as there are cores.
pub(crate) fn threads_or_all(threads: Option<u16>) -> usize {
    threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    )
}

/// Threads of their own.
pub(crate) fn pool_of(threads: usize) -> anyhow::Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().context("cannot start threads")
}

/// What the program was built as; a number without it says nothing.
pub(crate) const BUILD: &str = if cfg!(debug_assertions) {
    "dev"
} else {
    "release"
};

fn skinning(character: &str, garment: &str, runs: u32, say: &Say) -> anyhow::Result<Answer> {
    let model = source::character(character, say)?;
    let body = model.shaped(&vec![0.0; model.shape_parameters().len()])?;
    // Any pose will do: the work does not depend on it.
    let mut posed = model.room();
    let mut pose = model.skeleton().rest_pose();
    pose.rotations.fill(glam::Quat::from_rotation_x(0.3));
    model.pose(
        &body,
        &pose,
        &PoseVelocity::zero(model.skeleton().len()),
        &mut posed,
    )?;
    let measure = |mesh: &str,
                   weights: &SkinWeights,
                   transforms: &[Affine3A],
                   rest: &[Vec3]|
     -> anyhow::Result<()> {
        let mut out = vec![Vec3::ZERO; rest.len()];
        let rates = rates(runs, rest.len(), || {
            skin_positions(weights, black_box(transforms), rest, &mut out);
            black_box(&out);
        })?;
        let (low, median, high) = spread(&rates);
        let data = json!({
            "name": "skinning",
            "mesh": mesh,
            "vertices": rest.len(),
            "influences": weights.n_influences(),
            "threads": 1,
            "runs": runs,
            "build": BUILD,
            "vertices_per_second": median,
            "vertices_per_second_min": low,
            "vertices_per_second_max": high,
        });
        let text = format!(
            "skinning {mesh}: {:.1} million vertices a second on one core \
             ({:.1} to {:.1} in {runs} runs, {} vertices, {} influences, {BUILD} build)",
            median / 1e6,
            low / 1e6,
            high / 1e6,
            rest.len(),
            weights.n_influences()
        );
        say.result("bench", data, text)
    };
    let joints = &posed.world_from_rest;
    measure(character, model.skin_weights(), joints, &body.rest)?;
    let cloth = source::garment(garment, PatternReading::default(), say)?;
    match bind(&cloth, &model, &BindingConfig::default()) {
        Ok(binding) => {
            let mut all = vec![Affine3A::IDENTITY; binding.rig.n_transforms()];
            binding
                .rig
                .transforms(joints, &posed.joint_positions, &mut all)?;
            measure(garment, &binding.weights, &all, cloth.mesh().positions())?;
        }
        Err(error) => say.note(format_args!("{garment} does not fit {character}: {error}")),
    }
    Ok(Answer::Yes)
}

fn picture(character: &str, garment: &str, runs: u32, say: &Say) -> anyhow::Result<Answer> {
    let dressed = Dressed {
        character: Some(character.to_string()),
        garment: vec![garment.to_string()],
        ..Dressed::default()
    };
    let stage = Stage::load(&dressed, say)?;
    let animation = stage.animate(say)?;
    let look = Look {
        view: View::three_quarter(),
        size: Size::square(1024),
        wireframe: false,
        colour: None,
        colour_range: 1.0,
    };
    let mut seconds = Vec::new();
    for run in 0..=runs.max(1) {
        stop::check()?;
        let start = Instant::now();
        black_box(pictures(&animation, &[0], &look, &say.hushed())?);
        // The first one warms up.
        if run > 0 {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    seconds.sort_by(f64::total_cmp);
    let (low, median, high) = spread(&seconds);
    let triangles = stage.character.topology().triangles().len()
        + stage
            .garments
            .iter()
            .map(|g| g.mesh().triangles().len())
            .sum::<usize>();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let data = json!({
        "name": "picture",
        "width": 1024,
        "height": 1024,
        "triangles": triangles,
        "threads": threads,
        "runs": runs,
        "build": BUILD,
        "s_per_frame": median,
        "s_per_frame_min": low,
        "s_per_frame_max": high,
    });
    let text = format!(
        "picture of 1024 × 1024: {median:.3} s ({low:.3} to {high:.3} in {runs} runs, {triangles} triangles, \
         {threads} threads, {BUILD} build, skinning included, PNG left out)"
    );
    say.result("bench", data, text)?;
    Ok(Answer::Yes)
}

/// The smallest, the middle and the largest of sorted numbers.
pub(crate) fn spread(sorted: &[f64]) -> (f64, f64, f64) {
    (
        sorted[0],
        sorted[sorted.len() / 2],
        sorted[sorted.len() - 1],
    )
}

/// Vertices a second of each run, sorted; a warm-up run is left out.
fn rates(runs: u32, n_vertices: usize, mut work: impl FnMut()) -> anyhow::Result<Vec<f64>> {
    const LONG_ENOUGH: Duration = Duration::from_millis(60);
    // As many repetitions as fill the time of a run.
    let mut repetitions = 1u32;
    loop {
        let start = Instant::now();
        for _ in 0..repetitions {
            work();
        }
        if start.elapsed() >= LONG_ENOUGH {
            break;
        }
        repetitions *= 2;
    }
    let mut rates = Vec::new();
    for _ in 0..runs.max(1) {
        stop::check()?;
        let start = Instant::now();
        for _ in 0..repetitions {
            work();
        }
        let seconds = start.elapsed().as_secs_f64();
        rates.push(f64::from(repetitions) * n_vertices as f64 / seconds);
    }
    rates.sort_by(f64::total_cmp);
    Ok(rates)
}
