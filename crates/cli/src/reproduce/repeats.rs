//! How far a simulation repeats itself where the body does: the least that any
//! model of the body's motion can be off by is of that size.

use drapery::core::{CanonicalFrame, Pose};
use drapery::store::dataset::{DatasetFolder, DatasetStore, Split};
use glam::Vec3;
use serde_json::{Value, json};

use crate::stop;

/// Cycles that are looked for [frames].
const CYCLES: std::ops::Range<usize> = 12..64;
/// The first frames are not looked at: the body still starts.
const STARTED: usize = 15;
/// Rotations as near as this are the same.
const SAME: f32 = 1e-3;

/// Distances between garments a cycle apart, over the plain clips that train and
/// have one.
pub(super) fn repeats(dataset: &DatasetFolder) -> anyhow::Result<Value> {
    let mut plain = dataset.split(Split::Train)?;
    plain.retain(|s| s.clip == s.parent);
    let (mut n_clips, mut apart, mut from_mean) = (0, 0.0, 0.0);
    for planned in &plain {
        stop::check()?;
        let source = dataset.sequence(&planned.name)?;
        let poses = source.poses(0..planned.frames)?;
        let frames: Vec<CanonicalFrame> = poses
            .iter()
            .scan(0.0, |heading, pose| {
                let frame = CanonicalFrame::of(pose, *heading);
                *heading = frame.heading;
                Some(frame)
            })
            .collect();
        let Some(cycle) = cycle(&poses, &frames) else {
            continue;
        };
        let cloth = source.cloth(0, 0..planned.frames)?;
        let n_vertices = cloth.len() / poses.len();
        let local: Vec<Vec<Vec3>> = cloth
            .chunks_exact(n_vertices)
            .zip(&frames)
            .map(|(cloth, frame)| {
                let canonical = frame.canonical_from_world();
                cloth
                    .iter()
                    .map(|p| canonical.transform_point3(*p))
                    .collect()
            })
            .collect();
        let local = &local[STARTED..];
        let mut mean = vec![Vec3::ZERO; n_vertices];
        for frame in local {
            mean.iter_mut().zip(frame).for_each(|(m, p)| *m += *p);
        }
        mean.iter_mut().for_each(|m| *m /= local.len() as f32);
        let pairs = local.iter().zip(&local[cycle..]);
        apart += average(pairs.map(|(a, b)| distance(a, b)));
        from_mean += average(local.iter().map(|frame| distance(frame, &mean)));
        n_clips += 1;
    }
    let share = 100.0 / f64::from(n_clips.max(1));
    Ok(json!({
        "cell": "repeats",
        "clips": n_clips,
        "apart_cm": share * apart,
        "from_mean_cm": share * from_mean,
    }))
}

/// After how many frames the body does the same again, as seen from its root;
/// none if it does not.
fn cycle(poses: &[Pose], frames: &[CanonicalFrame]) -> Option<usize> {
    let turned = |i: usize, joint: usize| {
        let rotation = poses[i].rotations[joint];
        match joint {
            0 => glam::Quat::from_rotation_y(-frames[i].heading) * rotation,
            _ => rotation,
        }
    };
    let is_same = |i: usize, j: usize| {
        (0..poses[i].rotations.len()).all(|joint| {
            let (a, b) = (turned(i, joint), turned(j, joint));
            1.0 - a.dot(b).abs() < SAME * SAME
        })
    };
    CYCLES
        .take_while(|cycle| STARTED + 2 * cycle <= poses.len())
        .find(|cycle| (STARTED..poses.len() - cycle).all(|i| is_same(i, i + cycle)))
}

fn distance(a: &[Vec3], b: &[Vec3]) -> f64 {
    average(a.iter().zip(b).map(|(a, b)| f64::from(a.distance(*b))))
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = values.fold((0u32, 0.0), |(n, sum), v| (n + 1, sum + v));
    sum / f64::from(n.max(1))
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    fn swaying(period: f32) -> (Vec<Pose>, Vec<CanonicalFrame>) {
        let pose = |i: u32| {
            let phase = std::f32::consts::TAU * i as f32 / period;
            Pose {
                root: Vec3::Z * i as f32,
                rotations: vec![
                    Quat::from_rotation_y(0.02 * i as f32),
                    Quat::from_rotation_x(0.4 * phase.sin()),
                ],
            }
        };
        let poses: Vec<Pose> = (0..100).map(pose).collect();
        let frames = poses.iter().map(|p| CanonicalFrame::of(p, 0.0)).collect();
        (poses, frames)
    }

    #[test]
    fn a_cycle_is_found_though_the_body_goes_on_and_turns() {
        let (poses, frames) = swaying(20.0);
        assert_eq!(cycle(&poses, &frames), Some(20));
        // 30.5 frames come round after 61, of which there are not two.
        let (poses, frames) = swaying(30.5);
        assert_eq!(cycle(&poses, &frames), None);
    }
}
