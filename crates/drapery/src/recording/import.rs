//! From cloth of another program to a sequence of a dataset:
//! [`import_sequence`].
//!
//! What is not known of another program is not made up: velocities are
//! differences of positions, and the only flag is that the body enters itself,
//! which follows from the body alone.

mod differences;
mod poses;
mod space;

use drapery_core::{BodyModel, FrameIndex, Pose, PoseVelocity, ShapedBody};
use drapery_store::cloth::ClothError;
use drapery_store::dataset::{DatasetStore, FrameBits, FrameFlag, FrameRecord};
use glam::Vec3;
use serde_json::{Value, json};

pub use poses::{ArchiveMotion, ArchiveMotionError, archive_motion};
pub use space::{ClothSpace, PlaceError, check_place};

use super::felt::Felt;
use super::measures::Measures;
use super::{Progress, Recorded, RecordingError};
use differences::Differences;

/// Puts cloth into a planned sequence of a dataset. `frames` has the world
/// positions of all garments [m], one garment after the other; `source` is kept
/// in the report. `watch` says whether to go on.
///
/// # Errors
/// When no such sequence is planned, the cloth can't be read or does not fit, or
/// nothing can be written.
pub fn import_sequence(
    store: &dyn DatasetStore,
    name: &str,
    (model, body): (&dyn BodyModel, &ShapedBody),
    poses: &[Pose],
    frames: impl Iterator<Item = Result<Vec<Vec3>, ClothError>>,
    source: Value,
    watch: impl Fn(Progress) -> bool,
) -> Result<Recorded, RecordingError> {
    let head = store.head();
    let mut sink = store.append(name)?;
    let mut felt = Felt::new(model, body, head);
    let mut measures = Measures::new(model, body, head);
    let mut posed = model.room();
    let still = PoseVelocity::zero(model.skeleton().len());
    let moving = Differences::new(frames, head.frame_rate.frame_step());
    for (frame, (pose, moved)) in poses.iter().zip(moving).enumerate() {
        let frame = frame as u32;
        let (cloth, velocity) = moved?;
        model
            .pose(body, pose, &still, &mut posed)
            .map_err(|source| RecordingError::Pose { frame, source })?;
        if cloth.len() != head.n_vertices() {
            return Err(drapery_store::dataset::DatasetError::Length {
                what: "vertices of the cloth",
                found: cloth.len(),
                expected: head.n_vertices(),
            }
            .into());
        }
        let felt = felt.at(&posed.vertices);
        let seen = measures.add(&posed.vertices, &felt, &cloth, &[]);
        sink.push(&FrameRecord {
            pose,
            cloth: &cloth,
            velocity: &velocity,
            masked: &measures.masked,
            flags: FrameBits::default().with(FrameFlag::BodyContact, seen.body_contact),
        })?;
        if !watch(Progress::Frame(FrameIndex(frame))) {
            return Ok(Recorded::Stopped);
        }
    }
    let mut garments = measures.worn();
    if !head.has_body() {
        for garment in &mut garments {
            for key in ["penetration_max_mm", "penetration_percent"] {
                garment[key] = Value::Null;
            }
        }
    }
    sink.finish(json!({ "method": "import", "garments": garments, "source": source }))?;
    Ok(Recorded::Whole)
}

/// What a body shape is called in a dataset: `mean`, or what differs from it.
pub fn shape_name(model: &dyn BodyModel, coefficients: &[f32]) -> String {
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"/\\:*?\"<>|".contains(c);
    let settings = model.shape_parameters().iter().zip(coefficients);
    let settings = settings.filter(|(_, c)| **c != 0.0).map(|(p, c)| {
        let plain = |c| if is_plain(c) { c } else { '-' };
        format!("{}={c}", p.name.chars().map(plain).collect::<String>())
    });
    let name = settings.collect::<Vec<_>>().join(",");
    match name.len() {
        0 => "mean".to_string(),
        1..=80 => name,
        _ => {
            // Too long for the name of a folder; the same shape has the same name.
            let bits = coefficients.iter().flat_map(|c| c.to_bits().to_le_bytes());
            let hash = bits.fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
                (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
            });
            format!("shape-{hash:016x}")
        }
    }
}
