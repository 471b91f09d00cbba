//! `drapery bench`: named speed measurements.

use std::hint::black_box;
use std::time::{Duration, Instant};

use drapery::core::{BodyModel, PoseVelocity, SkinWeights, skin_positions};
use drapery::scene::garment::{BindingConfig, bind};
use glam::Vec3;
use serde_json::json;

use crate::args::Bench;
use crate::say::Say;
use crate::{Answer, source, stop};

pub(crate) fn run(command: &Bench, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Bench::Skinning {
            character,
            garment,
            runs,
        } => {
            let model = source::character(character, say)?;
            let body = model.shaped(&vec![0.0; model.shape_parameters().len()])?;
            // Any pose will do: the work does not depend on it.
            let mut posed = model.room();
            let mut pose = model.skeleton().rest_pose();
            for rotation in &mut pose.rotations {
                *rotation = glam::Quat::from_rotation_x(0.3);
            }
            model.pose(
                &body,
                &pose,
                &PoseVelocity::zero(model.skeleton().len()),
                &mut posed,
            )?;
            let measure = |what: &str,
                           weights: &SkinWeights,
                           rest: &[Vec3]|
             -> anyhow::Result<()> {
                let mut out = vec![Vec3::ZERO; rest.len()];
                let rates = rates(*runs, rest.len(), || {
                    skin_positions(weights, black_box(&posed.world_from_rest), rest, &mut out);
                    black_box(&out);
                })?;
                let median = rates[rates.len() / 2];
                let (low, high) = (rates[0], rates[rates.len() - 1]);
                let data = json!({
                    "name": "skinning",
                    "mesh": what,
                    "vertices": rest.len(),
                    "influences": weights.n_influences(),
                    "threads": 1,
                    "runs": runs,
                    "vertices_per_second": median,
                    "vertices_per_second_min": low,
                    "vertices_per_second_max": high,
                    "build": if cfg!(debug_assertions) { "dev" } else { "release" },
                });
                let text = format!(
                    "skinning {what}: {:.1} million vertices a second on one core ({:.1} to {:.1} in {runs} runs, \
                     {} vertices, {} influences)",
                    median / 1e6,
                    low / 1e6,
                    high / 1e6,
                    rest.len(),
                    weights.n_influences()
                );
                say.result("bench", data, text)
            };
            measure(character, model.skin_weights(), &body.rest)?;
            let cloth = source::garment(garment, say)?;
            match bind(&cloth, &model, &BindingConfig::default()) {
                Ok(binding) => measure(garment, &binding.weights, cloth.mesh().positions())?,
                Err(error) => say.note(format_args!("{garment} does not fit {character}: {error}")),
            }
            Ok(Answer::Yes)
        }
    }
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
