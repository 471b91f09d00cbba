//! Stable spaces from end to end, on cloth whose dynamics are known.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod swinging_sleeve;

use drapery::core::{
    BodyModel, CanonicalFrame, Clip, GarmentAnimator, Pose, PosedBody, Surroundings,
};
use drapery::learn::{
    FitKind, Footage, MEMORIES, Pca, PcaMethod, RIDGES, Ridge, StableModel, StableSpaceConfig,
    TrainError, TrainedStableSpace,
};
use drapery::runtime::{
    Animator, ClothSpace, DynamicsError, Model, ModelError, StableSpace, TensorValues, Tensors,
};
use drapery::store::dataset::{DatasetStore, MemoryDataset, Split};
use drapery::{Animation, BlendedGarment, RollOut, train_stable_model};
use glam::{Quat, Vec3};
use swinging_sleeve::{RADIUS, bodies, dataset, poses, tube};

fn train(dataset: &MemoryDataset, config: StableSpaceConfig) -> (Model, TrainedStableSpace) {
    train_stable_model(dataset, &tube(), 0, &config, "digest", &|_| true).unwrap()
}

fn config(model: StableModel) -> StableSpaceConfig {
    StableSpaceConfig {
        model,
        dims: 24,
        // The data have no noise but rounding.
        ridge: Ridge::Fixed(1e-6),
        ..StableSpaceConfig::default()
    }
}

/// The mean error over a split [m].
fn error(dataset: &MemoryDataset, animator: &impl GarmentAnimator, split: Split) -> f64 {
    let tube = tube();
    let footage = Footage {
        store: dataset,
        body: &tube,
        garment: 0,
    };
    let sequences = dataset.split(split).unwrap();
    footage.open_loop(animator, &sequences).unwrap().mean
}

fn stable(model: &Model) -> &StableSpace {
    match model.animator() {
        Animator::StableSpace(a) => a,
        other => panic!("{}", other.method()),
    }
}

/// All frames of an animator over bodies.
fn roll_out(animator: &impl GarmentAnimator, poses: &[Pose]) -> Vec<Vec<Vec3>> {
    let (body, posed) = bodies(poses);
    let surroundings = Surroundings::default();
    let mut state = animator
        .start(&posed[0].frame(&body, surroundings))
        .unwrap();
    let frames = posed.iter().map(|posed| {
        let mut out = vec![Vec3::ZERO; animator.topology().n_vertices()];
        let frame = posed.frame(&body, surroundings);
        animator.step(&mut state, &frame, &mut out).unwrap();
        out
    });
    frames.collect()
}

#[test]
fn known_dynamics_are_found_and_hold_on_a_clip_never_seen() {
    let dataset = dataset();
    let (c, trained) = train(dataset, config(StableModel::C));
    let (a, _) = train(dataset, config(StableModel::A));
    let (b, _) = train(dataset, config(StableModel::B));
    let errors = [&a, &b, &c].map(|m| 1000.0 * error(dataset, m.animator(), Split::Test));
    let skinned = 1000.0 * error(dataset, c.animator().skinned(), Split::Test);
    // The first frames know nothing of the swing: some error is left.
    assert!(errors[2] < 0.25 * errors[0], "A, B, C: {errors:?} mm");
    assert!(errors[2] < 0.5 * errors[1], "A, B, C: {errors:?} mm");
    assert!(
        errors[2] < 0.25 * skinned,
        "{skinned} mm skinned, {errors:?} mm"
    );
    let radius = c.head().spectral_radius.unwrap();
    assert!((radius - f64::from(RADIUS)).abs() < 0.01, "{radius}");
    assert_eq!((trained.plain.0, trained.extended.0), (5, 6));
    assert!(trained.cloth_explained > 0.9999);
}

#[test]
fn after_a_stop_the_swing_goes_on_in_c_and_not_in_a() {
    let dataset = dataset();
    let mut stopped = poses(6);
    let held = stopped[45].clone();
    stopped[45..].fill(held);
    let moved = |model| {
        let (model, _) = train(dataset, config(model));
        let frames = roll_out(model.animator(), &stopped);
        frames[50][0].distance(frames[46][0])
    };
    assert_eq!(moved(StableModel::A), 0.0);
    assert!(moved(StableModel::C) > 1e-3);
}

#[test]
fn joints_alone_give_the_coefficients_of_the_whole_surface() {
    let dataset = dataset();
    let (model, _) = train(dataset, config(StableModel::A));
    let range = &stable(&model).parts().range;
    // The slow way: every vertex skinned, in canonical space, and a PCA of that.
    let frames: Vec<(CanonicalFrame, PosedBody)> = (0..5)
        .flat_map(|seed| {
            let poses = poses(seed);
            let posed = bodies(&poses).1;
            let frames = poses.iter().map(|pose| CanonicalFrame::of(pose, 0.0));
            frames.collect::<Vec<_>>().into_iter().zip(posed)
        })
        .collect();
    let row = |(frame, posed): &(CanonicalFrame, PosedBody)| -> Vec<f64> {
        let canonical = frame.canonical_from_world();
        let local = posed
            .vertices
            .iter()
            .map(|p| canonical.transform_point3(*p));
        local.flat_map(|p| p.to_array().map(f64::from)).collect()
    };
    let n = 3 * tube().topology().n_vertices();
    let all: Vec<f64> = frames.iter().flat_map(row).collect();
    let pca = Pca::fit(n, range.n_components(), PcaMethod::Subspace, |each| {
        each(&all);
        Ok::<(), std::convert::Infallible>(())
    })
    .unwrap();
    let mut scratch = range.scratch();
    let mut fast = vec![0.0; range.n_components()];
    let mut signs = [0.0f64; 6];
    for frame in frames.iter().step_by(7) {
        let slow = pca.project(&row(frame));
        range.project(&frame.0, &frame.1.world_from_rest, &mut scratch, &mut fast);
        for k in 0..6 {
            let sign = (slow[k] * f64::from(fast[k])).signum();
            if slow[k].abs() > 0.05 {
                // The sign of a component is free, but the same in all frames.
                assert!(signs[k] == 0.0 || signs[k] == sign, "{k}");
                signs[k] = sign;
            }
            let difference = slow[k].abs() - f64::from(fast[k]).abs();
            assert!(difference.abs() < 2e-4, "{k}: {} {}", slow[k], fast[k]);
        }
    }
}

#[test]
fn confidence_is_one_in_training_and_gone_upside_down() {
    let dataset = dataset();
    let (model, _) = train(dataset, config(StableModel::C));
    let tube = tube();
    let footage = Footage {
        store: dataset,
        body: &tube,
        garment: 0,
    };
    let trains = dataset.split(Split::Train).unwrap();
    let seen = footage.open_loop(model.animator(), &trains).unwrap();
    assert_eq!(seen.confidence, 1.0);
    let mut turned = poses(2);
    for pose in &mut turned[30..] {
        pose.rotations[0] *= Quat::from_rotation_x(std::f32::consts::PI);
    }
    let (body, posed) = bodies(&turned);
    let animator = model.animator();
    let frame = |i: usize| posed[i].frame(&body, Surroundings::default());
    let mut state = animator.start(&frame(0)).unwrap();
    let mut skinned_state = animator.skinned().start(&frame(0)).unwrap();
    let n = animator.topology().n_vertices();
    let (mut out, mut skinned) = (vec![Vec3::ZERO; n], vec![Vec3::ZERO; n]);
    for i in 0..60 {
        let report = animator.step(&mut state, &frame(i), &mut out).unwrap();
        match i < 30 {
            true => assert_eq!(report.confidence, 1.0, "frame {i}"),
            false => assert!(report.confidence < 0.2, "frame {i}: {}", report.confidence),
        }
    }
    let skinner = animator.skinned();
    skinner
        .step(&mut skinned_state, &frame(59), &mut skinned)
        .unwrap();
    assert_eq!(
        out, skinned,
        "half a second later it is the skinned garment"
    );
}

#[test]
fn a_root_that_is_taken_elsewhere_takes_its_swing_along() {
    let dataset = dataset();
    let (model, _) = train(dataset, config(StableModel::C));
    let plain = poses(6);
    let mut taken = plain.clone();
    let (turn, way) = (Quat::from_rotation_y(2.0), Vec3::new(40.0, 3.0, -25.0));
    for pose in &mut taken[40..] {
        pose.root = turn * pose.root + way;
        pose.rotations[0] = turn * pose.rotations[0];
    }
    let one = roll_out(model.animator(), &plain);
    let other = roll_out(model.animator(), &taken);
    let mut apart = [0.0f32; 2];
    for (i, (one, other)) in one.iter().zip(&other).enumerate() {
        for (a, b) in one.iter().zip(other) {
            let expected = if i < 40 { *a } else { turn * *a + way };
            let most = &mut apart[usize::from(i >= 40)];
            *most = most.max(expected.distance(*b));
        }
    }
    // A frame's motion is not known where it jumped; all else goes on.
    assert!(apart[0] == 0.0 && apart[1] < 0.03, "{apart:?}");
}

/// Poses beyond all reason, for minutes: nothing grows.
#[test]
fn random_poses_never_blow_it_up() {
    let dataset = dataset();
    let (model, trained) = train(dataset, config(StableModel::C));
    let energy = trained.energy.unwrap();
    assert!(energy.threshold > energy.largest && energy.largest > 0.0);
    assert!(energy.threshold_displacement > energy.largest_displacement);
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let mut pose = poses(0)[0].clone();
    let (body, posed) = bodies(std::slice::from_ref(&pose));
    let animator = stable(&model);
    let first = posed[0].frame(&body, Surroundings::default());
    let mut garment = animator.start(&first).unwrap();
    let mut out = vec![Vec3::ZERO; animator.topology().n_vertices()];
    let n_vertices = out.len() as f64;
    let mut farthest = 0.0f64;
    let tube = tube();
    let mut room = tube.room();
    let still = drapery::core::PoseVelocity::zero(4);
    for step in 0..2000 {
        for rotation in &mut pose.rotations {
            let axis = Vec3::new(random(), random(), random());
            *rotation = (*rotation * Quat::from_scaled_axis(0.4 * axis)).normalize();
        }
        pose.root += 0.2 * Vec3::new(random(), random(), random());
        if step % 97 == 0 {
            pose.root = 100.0 * Vec3::new(random(), random(), random());
        }
        tube.pose(&body, &pose, &still, &mut room).unwrap();
        let frame = room.frame(&body, Surroundings::default());
        animator.step(&mut garment, &frame, &mut out).unwrap();
        assert!(out.iter().all(|p| p.is_finite()));
        let size: f64 = garment.cloth().iter().map(|y| f64::from(*y).powi(2)).sum();
        farthest = farthest.max((size / n_vertices).sqrt());
    }
    assert!(farthest < energy.threshold_displacement, "{farthest} m");
    // Of all that a pose can do, this is something.
    let summed = drapery::learn::summed_bound(animator).unwrap();
    assert!(farthest > 1e-3 * summed, "{farthest} m of {summed}");
    let bound = drapery::learn::swing_bound(animator).unwrap();
    assert!(farthest < 1.000_01 * bound, "{farthest} m of {bound}");
    assert!(bound < 2.5 * energy.largest_displacement, "{bound} m");
}

/// With an end to its reach that training frames go beyond: no frame is farther, and
/// those before the first that would be are as they were.
#[test]
fn a_garment_goes_to_the_end_of_its_reach_and_no_farther() {
    let (model, trained) = train(dataset(), config(StableModel::C));
    let free = stable(&model);
    let far = |garment: &StableSpace, poses: &[Pose]| -> Vec<f32> {
        let (body, posed) = bodies(poses);
        let frames: Vec<_> = (posed.iter())
            .map(|posed| posed.frame(&body, Surroundings::default()))
            .collect();
        let mut state = garment.start(&frames[0]).unwrap();
        let mut out = vec![Vec3::ZERO; garment.topology().n_vertices()];
        let sizes = frames.iter().map(|frame| {
            garment.step(&mut state, frame, &mut out).unwrap();
            let squares: f32 = state.cloth().iter().map(|y| y * y).sum();
            squares.sqrt()
        });
        sizes.collect()
    };
    let clip = poses(0);
    let plain = far(free, &clip);
    let most = plain.iter().copied().fold(0.0, f32::max);
    let root = (free.topology().n_vertices() as f64).sqrt();
    let trained_most = trained.energy.unwrap().largest_displacement * root;
    assert!(
        f64::from(most) < 1.2 * trained_most,
        "{most}, {trained_most}"
    );
    let mut parts = free.parts().clone();
    assert!(f64::from(parts.reach.unwrap()) >= 2.0 * trained_most * (1.0 - 1e-5));
    parts.reach = Some(0.7 * most);
    let short = StableSpace::new(free.skinned().clone(), parts).unwrap();
    let held = far(&short, &clip);
    let reach = 0.7 * most * (1.0 + 1e-5);
    assert!(held.iter().all(|size| *size <= reach), "{held:?}");
    assert!(held.iter().any(|size| *size > 0.699 * most), "{held:?}");
    let before = plain.iter().position(|size| *size > 0.7 * most).unwrap();
    assert!(before > 5, "{before}");
    assert_eq!(plain[..before], held[..before]);
}

#[test]
fn a_model_is_the_same_bytes_on_one_thread_and_two_and_animates_the_same_when_read() {
    let dataset = dataset();
    let tuned = StableSpaceConfig {
        dims: 8,
        ..StableSpaceConfig::default()
    };
    let bytes = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let make = || train(dataset, tuned).0.to_bytes();
        pool.build().unwrap().install(make)
    };
    let one = bytes(1);
    assert_eq!(one, bytes(2));
    let model = Model::from_bytes(&one).unwrap();
    let (made, trained) = train(dataset, tuned);
    let is_rolled = |kind| matches!(kind, FitKind::RolledOut | FitKind::RolledOutScaled);
    let n_rolled = trained.tried.iter().filter(|t| is_rolled(t.kind)).count();
    assert!(n_rolled > 0);
    let n_of = |kind| trained.tried.iter().filter(|t| t.kind == kind).count();
    // Where least squares are not stable both ways to hold them are tried.
    assert!(n_of(FitKind::Constrained) > 0);
    assert_eq!(n_of(FitKind::Constrained), n_of(FitKind::Scaled));
    let n_grid = n_of(FitKind::Free) + n_of(FitKind::Constrained);
    assert_eq!(n_grid, RIDGES.len() * MEMORIES.len());
    let least = trained.tried.iter().map(|t| t.tune.unwrap());
    let least = least.fold(f64::INFINITY, f64::min);
    assert!(trained.tried[trained.taken].tune.unwrap() <= 1.02 * least);
    let clip = poses(6);
    assert_eq!(
        roll_out(model.animator(), &clip),
        roll_out(made.animator(), &clip)
    );
    assert_eq!(model.head(), made.head());
    for cut in [0, 7, 100, one.len() / 2, one.len() - 1] {
        assert!(matches!(
            Model::from_bytes(&one[..cut]),
            Err(ModelError::Tensors(_))
        ));
    }
}

#[test]
fn cloth_in_unposed_space_follows_as_well() {
    let dataset = dataset();
    let unposed = StableSpaceConfig {
        space: ClothSpace::Unposed,
        ..config(StableModel::C)
    };
    let (model, _) = train(dataset, unposed);
    let skinned = error(dataset, model.animator().skinned(), Split::Test);
    let own = error(dataset, model.animator(), Split::Test);
    assert!(own < 0.5 * skinned, "{own} m, {skinned} m skinned");
}

#[test]
fn every_order_trains_and_is_stable() {
    let dataset = dataset();
    for order in 0..=5 {
        for ridge in [Ridge::Fixed(0.0), Ridge::Fixed(1e-3)] {
            let (model, trained) = train(
                dataset,
                StableSpaceConfig {
                    order,
                    ridge,
                    dims: 12,
                    ..StableSpaceConfig::default()
                },
            );
            let dynamics = &stable(&model).parts().dynamics;
            assert_eq!(dynamics.order(), order);
            assert!(trained.tried[0].radius < 1.0, "{:?}", trained.tried);
        }
    }
}

#[test]
fn c_without_memory_is_a() {
    let dataset = dataset();
    let without = StableSpaceConfig {
        order: 0,
        ..config(StableModel::C)
    };
    let (c, _) = train(dataset, without);
    let (a, _) = train(dataset, config(StableModel::A));
    let clip = poses(6);
    assert_eq!(roll_out(c.animator(), &clip), roll_out(a.animator(), &clip));
}

#[test]
fn a_file_whose_dynamics_grow_is_refused() {
    let (model, _) = train(dataset(), config(StableModel::C));
    let mut tensors = Tensors::from_bytes(&model.to_bytes()).unwrap();
    let dynamics = &stable(&model).parts().dynamics;
    let (n_body, n_cloth) = (dynamics.n_body(), dynamics.n_cloth());
    let mut weights = dynamics.weights().to_vec();
    // Its slowest swing falls to 0.95 of itself in a frame.
    for weight in &mut weights[n_body * n_cloth..(n_body + 2 * n_cloth) * n_cloth] {
        *weight *= 1.2;
    }
    let shape = [dynamics.n_inputs(), n_cloth];
    tensors.insert("dynamics/weights", &shape, TensorValues::F32(weights));
    let found = Model::from_bytes(&tensors.to_bytes());
    assert!(
        matches!(found, Err(ModelError::Dynamics(DynamicsError::Unstable))),
        "{found:?}"
    );
}

#[test]
fn settings_out_of_range_and_stopping_are_errors() {
    let dataset = dataset();
    let wrong = StableSpaceConfig {
        dims: 0,
        ..StableSpaceConfig::default()
    };
    let found = train_stable_model(dataset, &tube(), 0, &wrong, "", &|_| true);
    let found = found.unwrap_err();
    assert!(matches!(
        found,
        drapery::TrainingError::Train(TrainError::Setting {
            what: "dimensions",
            ..
        })
    ));
    let config = StableSpaceConfig::default();
    let found = train_stable_model(dataset, &tube(), 0, &config, "", &|_| false);
    assert!(matches!(
        found,
        Err(drapery::TrainingError::Train(TrainError::Stopped))
    ));
}

#[test]
fn what_it_makes_is_the_sum_of_its_shapes() {
    let dataset = dataset();
    let (model, _) = train(dataset, config(StableModel::C));
    let (character, poses) = (tube(), poses(0));
    let (body, _) = bodies(&poses);
    let rate = dataset.head().frame_rate;
    let clip = Clip::new("swing".into(), character.skeleton().clone(), rate, poses).unwrap();
    let garment = &dataset.head().garments[0].garment;
    let models = [model];
    let mut animation = Animation::new(&character, &body, &clip);
    let blend = BlendedGarment::of(garment, models[0].animator(), &animation, |_| true);
    let blend = blend.unwrap().unwrap();
    assert_eq!(
        (blend.n_unsure, blend.weights.len()),
        (0, clip.frames().len())
    );
    let ended = animation
        .wear_models(&[garment], &models, None, |_| true)
        .unwrap();
    assert_eq!(ended, RollOut::Done);
    for (frame, baked) in animation.garments[0].frames.iter().enumerate() {
        let summed = blend.frame(frame);
        let apart = baked.iter().zip(&summed).map(|(a, b)| a.distance(*b));
        assert!(apart.fold(0.0, f32::max) < 1e-5, "frame {frame}");
    }
    // It is written, and smaller than a shape a frame.
    let (mut baked, mut blended) = (Vec::new(), Vec::new());
    animation.write_glb(&mut baked).unwrap();
    animation.garments.clear();
    animation.blends.push(blend.clone());
    animation.write_glb(&mut blended).unwrap();
    assert!(
        blended.len() < baked.len(),
        "{} {}",
        blended.len(),
        baked.len()
    );
    // What does not go together is no file.
    animation.blends[0].weights[3].pop();
    let why = animation.write_glb(&mut Vec::new()).unwrap_err();
    assert!(why.to_string().contains("frame 3"), "{why}");

    let skinned = Animator::Skinning(models[0].animator().skinned().clone());
    let why = BlendedGarment::of(garment, &skinned, &animation, |_| true).unwrap_err();
    assert!(why.to_string().contains("skinning"), "{why}");
    let stopped = BlendedGarment::of(garment, models[0].animator(), &animation, |_| false);
    assert!(stopped.unwrap().is_none());
}
