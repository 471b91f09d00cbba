//! Methods rolled out over datasets whose cloth is known.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::{N_FRAMES, dataset, skinned_exactly};
use drapery::core::{Clip, FrameIndex, FrameRate, GarmentAnimator, Pose, PoseVelocity};
use drapery::eval::{Course, EvalError, Facts, Method, bounding_radius, pose_velocity};
use drapery::runtime::{CorrectionConfig, SkinnedGarment};
use drapery::scene::builtin;
use drapery::scene::motion::sample;
use drapery::store::dataset::{DatasetStore, MemoryDataset};
use drapery::{correction_of, evaluate_sequence, skinned_garment, stored_character};
use glam::Vec3;

/// The skinned sleeve against that dataset.
fn evaluated(store: &MemoryDataset, correct: bool) -> drapery::eval::Tally {
    evaluated_after(store, correct, |rest| rest)
}

/// The sleeve skinned from somewhere else than where it rests.
fn evaluated_after(
    store: &MemoryDataset,
    correct: bool,
    put: impl Fn(Vec3) -> Vec3,
) -> drapery::eval::Tally {
    let head = store.head();
    let model = stored_character(&head.body).unwrap();
    let skinned = skinned_garment(&model, head, 0).unwrap();
    let rest: Vec<Vec3> = skinned.rest().iter().map(|p| put(*p)).collect();
    let method = SkinnedGarment::new(
        skinned.topology().clone(),
        rest.clone(),
        skinned.weights().clone(),
        vec![rest; 2],
        skinned.rig().clone(),
        head.frame_rate,
    )
    .unwrap();
    let correction = correction_of(&model, head, 0, CorrectionConfig::DEFAULT).unwrap();
    let course = Course {
        model: &model,
        head,
        garment: 0,
        skinned: &skinned,
        correction: correct.then_some(&correction),
        most_frames: None,
    };
    let sequence = store.sequence("bend@mean").unwrap();
    let mut seen = Vec::new();
    let tallies = evaluate_sequence(&course, &[&method], &*sequence, |frame| {
        seen.push(frame.frame);
        true
    });
    assert_eq!(seen, (0..N_FRAMES).collect::<Vec<_>>());
    tallies.unwrap().unwrap().pop().unwrap()
}

#[test]
fn a_method_that_is_right_has_no_error() {
    let store = skinned_exactly();
    let metrics = evaluated(&store, false).metrics(&Facts::default());
    assert!(metrics.max_cm < 1e-4, "{metrics:?}");
    assert!(metrics.velocity_error.unwrap() < 1e-4);
    assert!(metrics.acceleration_error.unwrap() < 1e-2);
    assert!((metrics.wrinkle_ratio.unwrap() - 1.0).abs() < 1e-3);
    assert!(metrics.penetration_max_mm.is_some());
    assert_eq!(metrics.confidence_min, 1.0);
    assert!(metrics.frame_ms_p50 >= metrics.step_ms_p50 && metrics.step_ms_p50 > Some(0.0));
}

#[test]
fn a_method_that_is_off_is_off_by_as_much() {
    // Every second vertex a centimetre aside, all of them shaking by 2 mm.
    let shake = |frame: u32| 1e-3 * if frame.is_multiple_of(2) { 1.0 } else { -1.0 };
    let moved = |frame: u32, v: usize, p: Vec3| {
        let aside = if v.is_multiple_of(2) { 0.01 } else { 0.0 };
        p + Vec3::Y * aside + Vec3::X * shake(frame)
    };
    let store = dataset("test = [\"bend\"]", |_, _| Vec3::ZERO, moved);
    let tally = evaluated(&store, false);
    let garment = &store.head().garments[0].garment;
    let radius = bounding_radius(garment.mesh().positions());
    let facts = Facts {
        radius,
        simulated_s: Some(1.0),
        ..Facts::default()
    };
    let metrics = tally.metrics(&facts);
    let (far, near) = (1.01f64.sqrt(), 0.1);
    assert!((metrics.max_cm - far).abs() < 1e-3, "{metrics:?}");
    assert!((metrics.mean_cm - (far + near) / 2.0).abs() < 1e-3);
    assert!((metrics.p95_cm / far - 1.0).abs() < 5e-3);
    assert!((metrics.relative_percent - metrics.mean_cm / radius).abs() < 1e-6);
    // 2 mm in a thirtieth of a second, and back again.
    assert!((metrics.velocity_error.unwrap() - 0.06).abs() < 1e-3);
    assert!((metrics.acceleration_error.unwrap() - 3.6).abs() < 0.05);
    assert!(metrics.speedup.unwrap() > 1.0);
    // Skinned, it has none of the detail.
    assert_eq!(metrics.detail_correlation, 0.0);
    for (v, mean) in tally.distances.of_vertices().iter().enumerate() {
        let expected = if v.is_multiple_of(2) { far } else { near };
        assert!((100.0 * mean - expected).abs() < 1e-3, "vertex {v}");
    }
    assert_eq!(tally.curve.len(), N_FRAMES as usize);
}

#[test]
fn correction_counts_before_and_after() {
    // The truth is outside, and the sleeve is sunk into the tube.
    let sunk = |p: Vec3| Vec3::new(0.75 * p.x, p.y, 0.75 * p.z);
    let tally = evaluated_after(&skinned_exactly(), true, sunk);
    let before = tally.before.as_ref().unwrap();
    assert_eq!(before.distances.n_frames(), u64::from(N_FRAMES));
    let metrics = tally.metrics(&Facts::default());
    let deepest = [
        metrics.penetration_max_mm_before,
        metrics.penetration_max_mm,
    ];
    let [before, after] = deepest.map(Option::unwrap);
    assert!(before > 3.0 && after < 2.0, "{before} mm, {after} mm after");
    assert!(metrics.mean_cm < metrics.mean_cm_before.unwrap());
    assert!(f64::from(metrics.correction_max_mm.unwrap() as f32) >= before - after);
    let plain = evaluated_after(&skinned_exactly(), false, sunk).metrics(&Facts::default());
    assert_eq!(metrics.mean_cm_before, Some(plain.mean_cm));
    assert_eq!(metrics.penetration_max_mm_before, plain.penetration_max_mm);
    assert!(plain.correction_max_mm.is_none());
}

#[test]
fn what_does_not_fit_is_an_error_and_a_stop_is_none() {
    let store = skinned_exactly();
    let head = store.head();
    let model = stored_character(&head.body).unwrap();
    let skinned = skinned_garment(&model, head, 0).unwrap();
    let course = Course {
        model: &model,
        head,
        garment: 0,
        skinned: &skinned,
        correction: None,
        most_frames: Some(5),
    };
    let sequence = store.sequence("bend@mean").unwrap();
    let roll_out = |method: &dyn Method, last: u32| {
        let mut n = 0;
        let found = evaluate_sequence(&course, &[method], &*sequence, |frame| {
            n += 1;
            frame.frame < last
        });
        (found, n)
    };
    let (found, n) = roll_out(&skinned, 2);
    assert!(found.unwrap().is_none() && n == 3);
    let (found, n) = roll_out(&skinned, 99);
    assert!(found.unwrap().is_some() && n == 5);
    let remade = |rate| {
        SkinnedGarment::new(
            skinned.topology().clone(),
            skinned.rest().to_vec(),
            skinned.weights().clone(),
            vec![skinned.rest().to_vec(); 2],
            skinned.rig().clone(),
            rate,
        )
        .unwrap()
    };
    let slow = remade(FrameRate::new(24.0).unwrap());
    let (found, _) = roll_out(&slow, 99);
    assert!(matches!(found, Err(EvalError::OtherRate { method: 0, .. })));
    let other = drapery::dress(
        &builtin::garment("skirt").unwrap(),
        &builtin::character("mannequin").unwrap(),
        FrameRate::THIRTY,
    );
    let (found, _) = roll_out(&other.unwrap(), 99);
    assert!(matches!(
        found,
        Err(EvalError::OtherGarment { method: 0, .. })
    ));
}

#[test]
fn velocities_of_stored_poses_are_those_of_the_motion() {
    let clip: Clip = builtin::clip("bend").unwrap();
    let mut pose = Pose::identity(Vec3::ZERO, clip.skeleton().len());
    let [mut sampled, mut found] = [0, 1].map(|_| PoseVelocity::zero(clip.skeleton().len()));
    let step = clip.frame_rate().frame_step();
    for frame in 0..clip.frames().len() {
        let time = clip.frame_rate().time_of(FrameIndex(frame as u32));
        sample(&clip, time, &mut pose, &mut sampled);
        pose_velocity(clip.frames(), frame, step, &mut found);
        assert!(sampled.root.distance(found.root) < 1e-5);
        for (a, b) in sampled.angular.iter().zip(&found.angular) {
            assert!(a.distance(*b) < 1e-5, "frame {frame}: {a} {b}");
        }
    }
}
