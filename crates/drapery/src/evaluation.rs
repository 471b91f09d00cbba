//! Methods against the sequences of a dataset: what evaluation needs of the
//! scene and the simulator.

use drapery_core::{BodyModel, ShapeError};
use drapery_eval::{Course, EvalError, Method, SeenFrame, Tally};
use drapery_runtime::{CollisionCorrection, CorrectionConfig};
use drapery_store::dataset::{DatasetHead, SequenceSource};

use crate::recording::Felt;
use crate::training::made_for;
use crate::wear::self_contact;

/// What pushes a garment of a dataset out of the body.
///
/// # Errors
/// When the body can't have the shape that the garment was made for.
pub fn correction_of(
    model: &dyn BodyModel,
    head: &DatasetHead,
    garment: usize,
    config: CorrectionConfig,
) -> Result<CollisionCorrection, ShapeError> {
    let body = model.shaped(&made_for(model, head))?;
    let worn = head.garments[garment].garment.mesh();
    Ok(CollisionCorrection::new(
        (model.topology(), &body.rest),
        (worn.topology(), worn.positions()),
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
