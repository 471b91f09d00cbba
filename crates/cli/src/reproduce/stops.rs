//! What a hem does after an abrupt stop (§7 of Stable Spaces), simulated and
//! rolled out.

use drapery::core::{GarmentAnimator, Pose};
use drapery::eval::Swing;
use drapery::runtime::StableSpace;
use drapery::store::dataset::{DatasetStore, PlannedSequence};
use glam::Vec3;
use serde_json::{Value, json};

use super::ground::Ground;
use super::page::number;
use crate::stop;

/// At most so many stops are looked at, evenly spread. All 165 of the full scene are: a
/// clip has five, and every fifth alone would be the same one of each.
const STOPS: usize = 200;
/// Stopped clips stand for two seconds; by then they do [s].
const STANDING: f64 = 1.85;
/// The lowest vertices are the hem: this share of them.
const HEM: f64 = 0.08;
/// Swings and periods that differ by this share at most are alike.
const ALIKE: f64 = 0.3;
/// Rotations and roots as near as this are the same.
const SAME: f32 = 1e-5;

/// The middle of a hem after a stop, as seen from the root [m].
pub(super) struct AfterStop {
    pub(super) found: Vec<Vec3>,
    pub(super) simulated: Vec<Vec3>,
}

impl AfterStop {
    /// Of a sequence that ends standing.
    pub(super) fn of(
        ground: &Ground,
        sequence: &PlannedSequence,
        animator: &StableSpace,
    ) -> anyhow::Result<Self> {
        let source = ground.dataset.sequence(&sequence.name)?;
        let poses = source.poses(0..sequence.frames)?;
        let most = (STANDING / animator.frame_step().0).round() as usize;
        let n_standing = standing(&poses).min(most) as u32;
        let hem = hem(animator.skinned().rest());
        let (mut found, mut simulated) = (Vec::new(), Vec::new());
        let one = std::slice::from_ref(sequence);
        ground
            .footage()
            .open_loop_seen(animator, one, |shot, out, cloth| {
                if shot.frame + n_standing >= sequence.frames {
                    let canonical = shot.canonical.canonical_from_world();
                    found.push(canonical.transform_point3(middle(out, &hem)));
                    simulated.push(canonical.transform_point3(middle(cloth, &hem)));
                }
            })?;
        Ok(Self { found, simulated })
    }

    /// How both swing, along the direction in which the simulation does the most.
    pub(super) fn swings(&self, step: f64) -> (Swing, Swing) {
        let axis = Swing::axis(&self.simulated);
        let of = |positions: &[Vec3]| Swing::of(positions, axis, step);
        (of(&self.found), of(&self.simulated))
    }
}

/// Medians over stopped copies of clips, and how alike each stop is.
pub(super) fn after_stops(
    ground: &Ground,
    stopped: Vec<PlannedSequence>,
    animator: &StableSpace,
) -> anyhow::Result<Value> {
    let every = stopped.len().div_ceil(STOPS).max(1);
    let mut swings: Vec<(Swing, Swing)> = Vec::new();
    for sequence in stopped.iter().step_by(every) {
        stop::check()?;
        let after = AfterStop::of(ground, sequence, animator)?;
        swings.push(after.swings(animator.frame_step().0));
    }
    Ok(summed_up(&swings))
}

/// Of swings that were found and simulated.
fn summed_up(swings: &[(Swing, Swing)]) -> Value {
    let quartile = |quarter: usize, of: &dyn Fn(&(Swing, Swing)) -> Option<f64>| {
        let mut all: Vec<f64> = swings.iter().filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        let place = quarter as f64 / 4.0 * all.len().saturating_sub(1) as f64;
        let (below, above) = (all.get(place.floor() as usize)?, all[place.ceil() as usize]);
        Some(below + place.fract() * (above - below))
    };
    let median = |of: &dyn Fn(&(Swing, Swing)) -> Option<f64>| quartile(2, of);
    let both = |(a, b): &(Swing, Swing)| a.period.and(b.period).is_some();
    let ratio = |(a, b): &(Swing, Swing)| (b.amplitude > 0.0).then(|| a.amplitude / b.amplitude);
    let periods = |(a, b): &(Swing, Swing)| Some(a.period? / b.period?);
    let alike = |of: &dyn Fn(&(Swing, Swing)) -> Option<f64>| {
        let is_alike = |s: &&(Swing, Swing)| of(s).is_some_and(|r| (r - 1.0).abs() <= ALIKE);
        100.0 * swings.iter().filter(is_alike).count() as f64 / swings.len().max(1) as f64
    };
    json!({
        "count": swings.len(),
        "swing_cm": median(&|(a, _)| Some(100.0 * a.amplitude)),
        "simulated_swing_cm": median(&|(_, b)| Some(100.0 * b.amplitude)),
        "ratio": median(&ratio),
        "ratio_quartiles": [quartile(1, &ratio), quartile(3, &ratio)],
        "alike_percent": alike(&ratio),
        "period_s": median(&|s| s.0.period.filter(|_| both(s))),
        "simulated_period_s": median(&|s| s.1.period.filter(|_| both(s))),
        "periods_alike_percent": alike(&periods),
        "without_period": swings.iter().filter(|s| !both(s)).count(),
    })
}

/// A table of what [`after_stops`] found, a named row each.
pub(super) fn stops_table(rows: &[(String, Value)]) -> String {
    let mut text = String::from(
        "| | stops | swing, cm | simulated | ratio | quartiles | within, % | period, s | \
         simulated | within, % |\n|---|---|---|---|---|---|---|---|---|---|",
    );
    for (name, stops) in rows {
        let of = |key: &str, digits| number(&stops[key], digits);
        let quartiles = [0, 1].map(|i| number(&stops["ratio_quartiles"][i], 2));
        let cells = [
            of("count", 0),
            of("swing_cm", 1),
            of("simulated_swing_cm", 1),
            of("ratio", 2),
            quartiles.join(" to "),
            of("alike_percent", 0),
            of("period_s", 2),
            of("simulated_period_s", 2),
            of("periods_alike_percent", 0),
        ];
        text += &format!("\n| {name} | {} |", cells.join(" | "));
    }
    text
}

/// For how many frames, up to the last, the body stands as it does then.
fn standing(poses: &[Pose]) -> usize {
    let Some(last) = poses.last() else {
        return 0;
    };
    let is_same = |pose: &&Pose| {
        let mut both = pose.rotations.iter().zip(&last.rotations);
        pose.root.distance(last.root) < SAME && both.all(|(a, b)| 1.0 - a.dot(*b).abs() < SAME)
    };
    poses.iter().rev().take_while(is_same).count()
}

/// The mean of some vertices.
pub(super) fn middle(all: &[Vec3], some: &[usize]) -> Vec3 {
    some.iter().map(|i| all[*i]).sum::<Vec3>() / some.len().max(1) as f32
}

/// The lowest vertices of a garment.
pub(super) fn hem(rest: &[Vec3]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..rest.len()).collect();
    all.sort_by(|a, b| rest[*a].y.total_cmp(&rest[*b].y).then(a.cmp(b)));
    let n = (HEM * rest.len() as f64).ceil() as usize;
    all.truncate(n.max(1));
    all
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    #[test]
    fn a_body_stands_from_where_nothing_moves_any_more() {
        let at = |i: i32| Pose {
            root: Vec3::Z * i.min(7) as f32,
            rotations: vec![Quat::from_rotation_x(0.1 * i.min(9) as f32)],
        };
        let poses: Vec<Pose> = (0..20).map(at).collect();
        assert_eq!(standing(&poses), 11);
        assert_eq!(standing(&poses[..9]), 1);
        assert_eq!(standing(&[]), 0);
    }

    #[test]
    fn stops_are_summed_up_by_medians_and_by_how_many_are_alike() {
        let swing = |amplitude, period| Swing { amplitude, period };
        let all: Vec<(Swing, Swing)> = [0.6, 0.8, 1.2, 2.0]
            .map(|ratio| {
                let period = (ratio > 0.7).then_some(0.4 * ratio);
                (swing(0.01 * ratio, period), swing(0.01, Some(0.4)))
            })
            .into();
        let found = summed_up(&all);
        assert_eq!(
            (found["count"].as_u64(), found["without_period"].as_u64()),
            (Some(4), Some(1))
        );
        // 0.6, 0.8, 1.2 and 2.0.
        assert_eq!(number(&found["ratio"], 3), "1.000");
        assert_eq!(number(&found["ratio_quartiles"][0], 3), "0.750");
        assert_eq!(number(&found["ratio_quartiles"][1], 3), "1.400");
        // 0.8 and 1.2 of 4; of the periods, too, and one has none.
        assert_eq!(number(&found["alike_percent"], 0), "50");
        assert_eq!(number(&found["periods_alike_percent"], 0), "50");
        let table = stops_table(&[("C".to_string(), found)]);
        assert!(
            table.ends_with("| 1.00 | 0.75 to 1.40 | 50 | 0.48 | 0.40 | 50 |"),
            "{table}"
        );
    }

    #[test]
    fn the_hem_is_what_is_lowest() {
        let rest: Vec<Vec3> = (0..50).map(|i| Vec3::Y * ((i * 7) % 50) as f32).collect();
        let hem = hem(&rest);
        let heights: Vec<f32> = hem.iter().map(|i| rest[*i].y).collect();
        assert_eq!(heights, [0.0, 1.0, 2.0, 3.0]);
    }
}
