//! Curves over time: the hem after a stop, and errors of a walk with and without a
//! turn.

use drapery::core::GarmentAnimator;
use drapery::eval::{Plot, Swing};
use drapery::store::dataset::PlannedSequence;
use glam::Vec3;
use serde_json::{Value, json};

use super::held_out;
use super::stable_spaces::{Cell, Lab};
use super::stops::AfterStop;
use crate::write;

/// The figure of the abrupt stop, of the stop whose simulated swing is the median
/// one: the middle of the hem along the direction of the swing.
pub(super) fn stop(lab: &Lab<'_>) -> anyhow::Result<()> {
    let Some(ground) = held_out::ground(lab)? else {
        return Ok(());
    };
    lab.desk
        .known_of("plot-stop", &held_out::origin(lab, &ground), || {
            let models = models(lab)?;
            let step = models[2].1.frame_step().0;
            let mut all: Vec<(f64, PlannedSequence)> = Vec::new();
            for sequence in held_out::sequences(&ground)? {
                let after = AfterStop::of(&ground, &sequence, &models[0].1)?;
                all.push((after.swings(step).1.amplitude, sequence));
            }
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let Some((amplitude, sequence)) = all.get(all.len() / 2) else {
                return Ok(Value::Null);
            };
            let title = format!("{}: the hem after the stop", sequence.clip);
            let mut plot = Plot::new(&title, "s after the stop", "cm");
            for (i, (name, animator)) in models.iter().enumerate() {
                let after = AfterStop::of(&ground, sequence, animator)?;
                let axis = Swing::axis(&after.simulated);
                // From where the simulation comes to rest.
                let last =
                    &after.simulated[after.simulated.len() - after.simulated.len().div_ceil(4)..];
                let rest = last.iter().sum::<Vec3>() / last.len().max(1) as f32;
                let curve = |positions: &[Vec3]| -> Vec<(f64, f64)> {
                    let along = positions
                        .iter()
                        .map(|p| 100.0 * f64::from(axis.dot(*p - rest)));
                    along
                        .enumerate()
                        .map(|(i, s)| (i as f64 * step, s))
                        .collect()
                };
                if i == 0 {
                    plot = plot.line("simulation", &curve(&after.simulated));
                }
                plot = plot.line(name, &curve(&after.found));
            }
            let path = lab.desk.plan.out.join("stop.svg");
            write::file(&path, plot.svg().as_bytes())?;
            Ok(json!({
                "cell": "plot-stop",
                "file": "stop.svg",
                "sequence": sequence.name,
                "simulated_swing_cm": 100.0 * amplitude,
            }))
        })?;
    Ok(())
}

/// Errors over time on a walk, and on a walk that ends with a turn on standing
/// feet (§7.1).
pub(super) fn walk(lab: &Lab<'_>) -> anyhow::Result<()> {
    let sets = [("walk_cm", "walk"), ("walk_turn_cm", "walk with a turn")];
    if sets.iter().any(|(key, _)| lab.sets.named(key).is_empty()) {
        lab.desk
            .say
            .note("no clips extra-walk and extra-walk-turn: no plot of them");
        return Ok(());
    }
    lab.known_or("plot-walk", || {
        let [_, _, shipped] = Cell::SHIPPED;
        let animator = lab.model(shipped)?;
        let step = animator.frame_step().0;
        let mut plot = Plot::new("C, 64 dimensions", "s", "cm");
        for (key, name) in sets {
            let mut curve = Vec::new();
            let first = &lab.sets.named(key)[..1];
            lab.footage()
                .open_loop_seen(&animator, first, |shot, out, cloth| {
                    let both = out.iter().zip(cloth);
                    let sum: f64 = both.map(|(a, b)| f64::from(a.distance(*b))).sum();
                    let mean_cm = 100.0 * sum / out.len().max(1) as f64;
                    curve.push((f64::from(shot.frame) * step, mean_cm));
                })?;
            plot = plot.line(name, &curve);
        }
        write::file(&lab.desk.plan.out.join("walk.svg"), plot.svg().as_bytes())?;
        Ok(json!({ "cell": "plot-walk", "file": "walk.svg" }))
    })?;
    Ok(())
}

/// A, B and C in the dimensions that are shipped.
fn models(lab: &Lab<'_>) -> anyhow::Result<Vec<(&'static str, drapery::runtime::StableSpace)>> {
    let all = Cell::SHIPPED.into_iter().zip(["A", "B", "C"]);
    all.map(|(cell, name)| Ok((name, lab.model(cell)?)))
        .collect()
}
