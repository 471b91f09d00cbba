//! What a hem does after an abrupt stop (§7 of Stable Spaces), simulated and
//! rolled out.

use drapery::core::GarmentAnimator;
use drapery::eval::Swing;
use drapery::learn::Footage;
use drapery::runtime::StableSpace;
use drapery::store::dataset::{DatasetFolder, DatasetStore, PlannedSequence, Split};
use glam::Vec3;
use serde_json::{Value, json};

use crate::stop;

/// At most so many stops are looked at, evenly spread.
const STOPS: usize = 40;
/// Stopped clips stand for two seconds; by then they do [s].
const STANDING: f64 = 1.85;
/// The lowest vertices are the hem: this share of them.
const HEM: f64 = 0.08;

/// Medians over stopped copies of the clips that train.
pub(super) fn after_stops(
    dataset: &DatasetFolder,
    footage: &Footage<'_>,
    animator: &StableSpace,
) -> anyhow::Result<Value> {
    let mut stopped = dataset.split(Split::Train)?;
    stopped.retain(|s| s.clip.contains("~stop"));
    let every = stopped.len().div_ceil(STOPS).max(1);
    let stopped: Vec<PlannedSequence> = stopped.into_iter().step_by(every).collect();
    let step = animator.frame_step().0;
    let n_standing = (STANDING / step).round() as u32;
    let hem = hem(animator.skinned().rest());
    let mut swings: Vec<(Swing, Swing)> = Vec::new();
    for sequence in &stopped {
        stop::check()?;
        let (mut found, mut simulated) = (Vec::new(), Vec::new());
        let one = std::slice::from_ref(sequence);
        footage.open_loop_seen(animator, one, |shot, out, cloth| {
            if shot.frame + n_standing >= sequence.frames {
                let canonical = shot.canonical.canonical_from_world();
                let middle = |all: &[Vec3]| {
                    let sum: Vec3 = hem.iter().map(|i| all[*i]).sum();
                    canonical.transform_point3(sum / hem.len() as f32)
                };
                found.push(middle(out));
                simulated.push(middle(cloth));
            }
        })?;
        let axis = Swing::axis(&simulated);
        let of = |positions: &[Vec3]| Swing::of(positions, axis, step);
        swings.push((of(&found), of(&simulated)));
    }
    let medians = |of: &dyn Fn(&(Swing, Swing)) -> Option<f64>| {
        let mut all: Vec<f64> = swings.iter().filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    };
    let both = |(a, b): &(Swing, Swing)| a.period.and(b.period).is_some();
    Ok(json!({
        "count": swings.len(),
        "swing_cm": medians(&|(a, _)| Some(100.0 * a.amplitude)),
        "simulated_swing_cm": medians(&|(_, b)| Some(100.0 * b.amplitude)),
        "ratio": medians(&|(a, b)| (b.amplitude > 0.0).then_some(a.amplitude / b.amplitude)),
        "period_s": medians(&|s| s.0.period.filter(|_| both(s))),
        "simulated_period_s": medians(&|s| s.1.period),
    }))
}

/// The lowest vertices of a garment.
fn hem(rest: &[Vec3]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..rest.len()).collect();
    all.sort_by(|a, b| rest[*a].y.total_cmp(&rest[*b].y).then(a.cmp(b)));
    let n = (HEM * rest.len() as f64).ceil() as usize;
    all.truncate(n.max(1));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hem_is_what_is_lowest() {
        let rest: Vec<Vec3> = (0..50).map(|i| Vec3::Y * ((i * 7) % 50) as f32).collect();
        let hem = hem(&rest);
        let heights: Vec<f32> = hem.iter().map(|i| rest[*i].y).collect();
        assert_eq!(heights, [0.0, 1.0, 2.0, 3.0]);
    }
}
