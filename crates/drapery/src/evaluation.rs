//! Methods against the sequences of a dataset: what evaluation needs of the
//! scene and the simulator.

use drapery_core::{BodyModel, ShapeError, TriMesh};
use drapery_eval::{Course, EvalError, Method, SeenFrame, Tally};
use drapery_runtime::{CollisionCorrection, CorrectionConfig, SkinnedGarment};
use drapery_store::dataset::{DatasetHead, SequenceSource};

use crate::recording::Felt;
use crate::wear::self_contact;
use crate::{DressError, dress_made_for};

/// A garment of a dataset skinned like the body, as it lies on the body that it
/// was made for.
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

/// The shape that the garments of a dataset were made for; the mean where it is
/// not said.
fn made_for(model: &dyn BodyModel, head: &DatasetHead) -> Vec<f32> {
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

/// What pushes a garment out of a body.
///
/// # Errors
/// When the body can't have its mean shape.
pub fn correction_of(
    model: &dyn BodyModel,
    garment: &TriMesh,
    config: CorrectionConfig,
) -> Result<CollisionCorrection, ShapeError> {
    let mean = model.shaped(&vec![0.0; model.shape_parameters().len()])?;
    Ok(CollisionCorrection::new(
        (model.topology(), &mean.rest),
        (garment.topology(), garment.positions()),
        config,
    ))
}

/// [`Course::roll_out`], with the body's contact with itself as the wear meter
/// has it.
///
/// # Errors
/// When the sequence can't be read, or the body or a garment can't be moved.
pub fn evaluate_sequence(
    course: &Course<'_>,
    methods: &[&dyn Method],
    sequence: &dyn SequenceSource,
    each: impl FnMut(&SeenFrame<'_>) -> bool,
) -> Result<Option<Vec<Tally>>, EvalError> {
    let body = course.model.shaped(&sequence.shape().coefficients)?;
    let mut felt = Felt::new(course.model, &body, course.head);
    let feel = |skin: &[glam::Vec3]| self_contact(&felt.at(skin));
    course.roll_out(methods, sequence, feel, each)
}
