//! The baseline `linear`, trained on cloth that is linear in the pose.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::dataset;
use drapery::core::Pose;
use drapery::eval::{Course, Facts, Method, Metrics};
use drapery::learn::{LINEAR_RIDGES, LinearConfig};
use drapery::runtime::{Animator, Model, ModelError};
use drapery::store::dataset::{DatasetStore, MemoryDataset};
use drapery::{evaluate_sequence, skinned_garment, stored_character, train_linear_model};
use glam::{Mat3, Vec3};

/// Up to 3 cm, linear in the rotation matrices of two joints.
fn linear_in_pose(pose: &Pose, vertex: usize) -> Vec3 {
    let [a, b] = [1, 2].map(|joint| Mat3::from_quat(pose.rotations[joint]));
    let wave = (vertex as f32 * 0.7).sin();
    Vec3::new(0.02 * wave, 0.01, 0.0) * a.x_axis.y + Vec3::Z * (0.03 * wave * b.y_axis.z)
}

fn trained(store: &MemoryDataset) -> (Model, Vec<(f64, f64)>, f64) {
    let model = stored_character(&store.head().body).unwrap();
    let config = LinearConfig {
        n_components: 6,
        ridge: None,
    };
    let (model, trained) =
        train_linear_model(store, &model, 0, &config, "digest", &|| true).unwrap();
    (model, trained.tried, trained.ridge)
}

fn evaluated(store: &MemoryDataset, animator: &Animator, sequence: &str) -> [Metrics; 2] {
    let head = store.head();
    let model = stored_character(&head.body).unwrap();
    let skinned = skinned_garment(&model, head, 0).unwrap();
    let course = Course {
        model: &model,
        head,
        garment: 0,
        skinned: &skinned,
        correction: None,
        most_frames: None,
    };
    let sequence = store.sequence(sequence).unwrap();
    let methods: [&dyn Method; 2] = [&skinned, animator];
    let tallies = evaluate_sequence(&course, &methods, &*sequence, |_| true);
    let tallies = tallies.unwrap().unwrap();
    [0, 1].map(|i| tallies[i].metrics(&Facts::default()))
}

#[test]
fn what_is_linear_in_the_pose_is_found_again() {
    let store = dataset("tune = [\"twist\"]", linear_in_pose, |_, _, p| p);
    let (model, tried, ridge) = trained(&store);
    assert_eq!(tried.len(), LINEAR_RIDGES.len());
    let least = tried.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
    let taken = tried.iter().find(|t| t.0 == ridge).unwrap();
    assert!(taken.1 <= 1.05 * least);
    let config = LinearConfig {
        n_components: 6,
        ridge: Some(1e-9),
    };
    let character = stored_character(&store.head().body).unwrap();
    let exact = train_linear_model(&store, &character, 0, &config, "", &|| true).unwrap();
    let [skinned, linear] = evaluated(&store, exact.0.animator(), "bend@mean");
    assert!(skinned.mean_cm > 0.1, "{}", skinned.mean_cm);
    assert!(
        linear.max_cm < 0.02,
        "{} of {}",
        linear.max_cm,
        skinned.max_cm
    );
    assert!(
        linear.detail_correlation > 0.99,
        "{}",
        linear.detail_correlation
    );
    assert_eq!(linear.confidence_min, 1.0);
    assert_eq!(model.head().method, "linear");
    assert_eq!(model.head().training.sequences, 1);
}

#[test]
fn a_model_that_was_written_steps_as_before_and_a_cut_one_is_refused() {
    let store = dataset("tune = [\"twist\"]", linear_in_pose, |_, _, p| p);
    let (model, ..) = trained(&store);
    let bytes = model.to_bytes();
    let again = Model::from_bytes(&bytes).unwrap();
    assert_eq!(again.to_bytes(), bytes);
    assert_eq!(again.head(), model.head());
    let [_, a] = evaluated(&store, model.animator(), "twist@mean");
    let [_, b] = evaluated(&store, again.animator(), "twist@mean");
    assert_eq!((a.mean_cm, a.max_cm), (b.mean_cm, b.max_cm));
    for length in [0, 7, bytes.len() / 3, bytes.len() - 1] {
        assert!(Model::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    let text = String::from_utf8_lossy(&bytes).replace("linear/bias", "linear/bios");
    let renamed = Model::from_bytes(text.as_bytes());
    assert!(matches!(renamed, Err(ModelError::Tensors(_))));
}

#[test]
fn the_same_data_gives_the_same_bytes() {
    let store = || dataset("tune = [\"twist\"]", linear_in_pose, |_, _, p| p);
    assert_eq!(
        trained(&store()).0.to_bytes(),
        trained(&store()).0.to_bytes()
    );
    // Nobody is asked to go on in vain.
    let character = stored_character(&store().head().body).unwrap();
    let config = LinearConfig::default();
    let stopped = train_linear_model(&store(), &character, 0, &config, "", &|| false);
    assert!(stopped.is_err());
}
