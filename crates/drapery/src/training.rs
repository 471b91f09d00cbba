//! From a dataset to a model: what training needs of the scene.

use std::collections::BTreeMap;

use drapery_core::BodyModel;
use drapery_learn::{
    Footage, LinearConfig, Stability, StableModel, StableSpaceConfig, TrainError, TrainStage,
    TrainedLinear, TrainedStableSpace, train_linear, train_stable_space,
};
use drapery_runtime::{
    Animator, ClothSpace, Model, ModelError, ModelHead, SkinnedGarment, SplitError, TrainingSet,
};
use drapery_store::dataset::{DatasetHead, DatasetStore, Split};
use serde_json::Value;

use crate::{DressError, dress_made_for};

/// Why no model was made of a dataset.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// The garment can't be put on the body.
    #[error(transparent)]
    Dress(#[from] DressError),
    /// Nothing was learned.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// What was learned is no model.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// A garment of a dataset skinned like the body, as it lies on the body that it
/// was made for: the mean where that is not said.
///
/// # Errors
/// When it is not near the body.
pub fn skinned_garment(
    model: &dyn BodyModel,
    head: &DatasetHead,
    garment: usize,
) -> Result<SkinnedGarment, DressError> {
    let made_for = made_for(model, head);
    let garment = &head.garments[garment].garment;
    dress_made_for(garment, model, &made_for, head.frame_rate)
}

/// The shape that the garments of a dataset were made for.
pub(crate) fn made_for(model: &dyn BodyModel, head: &DatasetHead) -> Vec<f32> {
    let n_shape = model.shape_parameters().len();
    let stored = head.settings["made_for"].as_array();
    let stored = stored.and_then(|list| {
        let numbers = list.iter().map(|c| c.as_f64().map(|c| c as f32));
        numbers.collect::<Option<Vec<f32>>>()
    });
    stored
        .filter(|shape| shape.len() == n_shape)
        .unwrap_or_else(|| vec![0.0; n_shape])
}

/// Trains a stable space of one garment of a dataset. `digest` is that of what
/// it is trained on; `watch` is told what training is at and says whether to go
/// on.
///
/// # Errors
/// When the garment can't be worn, or nothing is learned.
pub fn train_stable_model(
    store: &dyn DatasetStore,
    body: &dyn BodyModel,
    garment: usize,
    config: &StableSpaceConfig,
    digest: &str,
    watch: &dyn Fn(TrainStage) -> bool,
) -> Result<(Model, TrainedStableSpace), TrainingError> {
    let head = store.head();
    let skinned = skinned_garment(body, head, garment)?;
    let footage = Footage {
        store,
        body,
        garment,
    };
    let trained = train_stable_space(&footage, &skinned, config, watch)?;
    let taken = &trained.tried[trained.taken];
    let tune = store.split(Split::Tune).map_err(TrainError::from)?;
    let errors = taken.tune.map(|mean| SplitError {
        split: Split::Tune.name().to_string(),
        frames: tune.iter().map(|s| u64::from(s.frames)).sum(),
        mean_cm: 100.0 * mean,
    });
    let model = match config.model {
        StableModel::A => "a",
        StableModel::B => "b",
        StableModel::C => "c",
    };
    let space = match config.space {
        ClothSpace::Canonical => "canonical",
        ClothSpace::Unposed => "unposed",
    };
    let stability = match config.stability {
        Stability::Constrained => "constrained",
        Stability::FewerDims => "fewer-dims",
    };
    let settings: [(&str, Value); 9] = [
        ("model", model.into()),
        ("dims", config.dims.into()),
        ("order", config.order.into()),
        ("space", space.into()),
        ("ridge", taken.ridge.into()),
        ("memory_ridge", taken.memory_ridge.into()),
        ("fit", taken.kind.name().into()),
        ("max_radius", config.max_radius.into()),
        ("stability", stability.into()),
    ];
    let radius = (config.order > 0 && config.model != StableModel::A).then_some(taken.radius);
    let (sequences, frames) = trained.extended;
    let head = ModelHead {
        training: TrainingSet {
            digest: digest.to_string(),
            sequences: sequences as u32,
            frames,
        },
        errors: errors.into_iter().collect(),
        spectral_radius: radius,
        settings: BTreeMap::from(settings.map(|(key, value)| (key.to_string(), value))),
        ..plain_head(head, body, garment)
    };
    let model = Model::new(head, Animator::StableSpace(trained.animator.clone()))?;
    Ok((model, trained))
}

/// Trains the baseline `linear` of one garment of a dataset. `digest` is that of
/// what it is trained on; `watch` is asked now and then whether to go on.
///
/// # Errors
/// When the garment can't be worn, or nothing is learned.
pub fn train_linear_model(
    store: &dyn DatasetStore,
    body: &dyn BodyModel,
    garment: usize,
    config: &LinearConfig,
    digest: &str,
    watch: &dyn Fn() -> bool,
) -> Result<(Model, TrainedLinear), TrainingError> {
    let head = store.head();
    let skinned = skinned_garment(body, head, garment)?;
    let footage = Footage {
        store,
        body,
        garment,
    };
    let trained = train_linear(&footage, &skinned, config, watch)?;
    let settings: [(&str, Value); 2] = [
        ("dims", config.n_components.into()),
        ("ridge", trained.ridge.into()),
    ];
    let head = ModelHead {
        training: TrainingSet {
            digest: digest.to_string(),
            sequences: trained.n_sequences as u32,
            frames: trained.n_frames as u64,
        },
        settings: BTreeMap::from(settings.map(|(key, value)| (key.to_string(), value))),
        ..plain_head(head, body, garment)
    };
    let model = Model::new(head, Animator::Linear(trained.animator.clone()))?;
    Ok((model, trained))
}

/// The head of a model of a garment, without what is learned.
fn plain_head(head: &DatasetHead, body: &dyn BodyModel, garment: usize) -> ModelHead {
    let parameters = body.shape_parameters().iter();
    ModelHead {
        version: 0,
        method: String::new(),
        garment: head.garments[garment].garment.name().to_string(),
        frame_rate: head.frame_rate.hz(),
        joints: body.skeleton().names().to_vec(),
        parents: Vec::new(),
        has_halfway_joints: false,
        shape_parameters: parameters.map(|p| p.name.clone()).collect(),
        training: TrainingSet::default(),
        errors: Vec::new(),
        spectral_radius: None,
        settings: BTreeMap::new(),
    }
}
