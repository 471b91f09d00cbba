//! [`blend`]: one clip after another, without a jump.

use drapery_core::{Clip, Pose, Seconds, heading};
use glam::{Quat, Vec3};

use super::{EditError, build, checked, smoothstep};

/// Clip `a` going over into clip `b` during `overlap`, named `a~b`.
///
/// The last `overlap` of `a` and the first of `b` are the same time. There `b`
/// is moved along the ground and turned about +Y so that its first frame has
/// the place and heading that `a` has when the overlap begins; heights are
/// left alone. Roots are mixed and rotations turned the short way, with a
/// weight that rises smoothly. The overlap is rounded to whole frames; with
/// none, `b` follows the last frame of `a`, which takes the place of its own
/// first.
///
/// # Errors
/// When skeletons or frame rates differ, or the overlap is longer than a clip.
pub fn blend(a: &Clip, b: &Clip, overlap: Seconds) -> Result<Clip, EditError> {
    if a.skeleton() != b.skeleton() {
        return Err(EditError::Skeletons {
            first: a.name().to_string(),
            second: b.name().to_string(),
        });
    }
    if a.frame_rate() != b.frame_rate() {
        return Err(EditError::FrameRates {
            first: a.frame_rate().hz(),
            second: b.frame_rate().hz(),
        });
    }
    let n = (checked(overlap)? * a.frame_rate().hz()).round();
    let shorter = a.frames().len().min(b.frames().len()) - 1;
    if n > shorter as f64 {
        return Err(EditError::Overlap {
            overlap: overlap.0,
            shorter: a.duration().0.min(b.duration().0),
        });
    }
    let n = n as usize;
    let join = a.frames().len() - 1 - n;
    let moved = moved_to(b.frames(), &a.frames()[join]);
    let mut frames = a.frames()[..=join].to_vec();
    for (i, to) in moved.iter().enumerate().take(n).skip(1) {
        let weight = smoothstep(i as f64 / n as f64) as f32;
        frames.push(mix(&a.frames()[join + i], to, weight));
    }
    frames.extend_from_slice(&moved[n.max(1)..]);
    build(a, b.name(), a.frame_rate(), frames)
}

/// The frames, moved and turned so that the first is where `start` is.
fn moved_to(frames: &[Pose], start: &Pose) -> Vec<Pose> {
    let facing = |pose: &Pose| heading(pose.rotations[0]).unwrap_or(0.0);
    let turn = Quat::from_rotation_y(facing(start) - facing(&frames[0]));
    let from = frames[0].root;
    frames
        .iter()
        .map(|pose| {
            let mut moved = pose.clone();
            let place = start.root + turn * (pose.root - from);
            moved.root = Vec3::new(place.x, pose.root.y, place.z);
            moved.rotations[0] = turn * pose.rotations[0];
            moved
        })
        .collect()
}

fn mix(from: &Pose, to: &Pose, weight: f32) -> Pose {
    Pose {
        root: from.root.lerp(to.root, weight),
        rotations: (from.rotations.iter().zip(&to.rotations))
            .map(|(from, to)| from.slerp(*to, weight))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use drapery_core::FrameRate;

    use super::super::super::resample;
    use super::super::test_clip::walk;
    use super::super::{mirror, trim};
    use super::*;
    use drapery_core::FrameIndex;

    fn near(a: &Pose, b: &Pose) -> bool {
        a.root.abs_diff_eq(b.root, 1e-5)
            && (a.rotations.iter().zip(&b.rotations)).all(|(a, b)| a.dot(*b).abs() > 1.0 - 1e-6)
    }

    #[test]
    fn a_clip_cut_in_two_and_turned_away_blends_back_to_itself() {
        let whole = walk(91);
        let a = trim(&whole, FrameIndex(0)..FrameIndex(61)).unwrap();
        let b = trim(&whole, FrameIndex(40)..FrameIndex(91)).unwrap();
        // Somewhere else, facing elsewhere.
        let turn = Quat::from_rotation_y(2.0);
        let elsewhere = (b.frames().iter())
            .map(|pose| {
                let mut pose = pose.clone();
                pose.root = turn * pose.root + Vec3::new(3.0, 0.0, -7.0);
                pose.rotations[0] = turn * pose.rotations[0];
                pose
            })
            .collect();
        let b = Clip::new(
            "b".to_string(),
            b.skeleton().clone(),
            b.frame_rate(),
            elsewhere,
        )
        .unwrap();
        let joined = blend(&a, &b, Seconds(20.0 / 30.0)).unwrap();
        assert_eq!(joined.frames().len(), 91);
        for (f, (found, expected)) in joined.frames().iter().zip(whole.frames()).enumerate() {
            assert!(near(found, expected), "frame {f}");
        }
    }

    #[test]
    fn ends_are_untouched_and_nothing_jumps() {
        let a = walk(61);
        let b = mirror(&a).unwrap().clip;
        let joined = blend(&a, &b, Seconds(0.5)).unwrap();
        assert_eq!(joined.name(), "walk~walk~mirror");
        assert_eq!(joined.frames().len(), 61 + 61 - 16);
        assert!(joined.frames()[..46] == a.frames()[..46]);
        // Past the overlap the second clip's own motion goes on, unchanged in
        // every joint but the moved root.
        for (found, expected) in joined.frames()[61..].iter().zip(&b.frames()[16..]) {
            assert_eq!(found.rotations[1..], expected.rotations[1..]);
            assert_eq!(found.root.y, expected.root.y);
        }
        let step = |clip: &Clip| {
            (clip.frames().windows(2))
                .flat_map(|w| (0..6).map(|j| w[0].rotations[j].angle_between(w[1].rotations[j])))
                .fold(0.0, f32::max)
        };
        assert!(
            step(&joined) < 2.5 * step(&a),
            "{} {}",
            step(&joined),
            step(&a)
        );
    }

    #[test]
    fn clips_that_do_not_fit_are_refused() {
        let a = walk(31);
        let fine = resample(&a, FrameRate::new(60.0).unwrap()).unwrap();
        assert!(matches!(
            blend(&a, &fine, Seconds(0.1)),
            Err(EditError::FrameRates { .. })
        ));
        assert!(matches!(
            blend(&a, &a, Seconds(1.1)),
            Err(EditError::Overlap { .. })
        ));
    }
}
