//! [`check_sequence`]: a stored sequence, measured again from what is stored.

use drapery_core::{BodyModel, PoseVelocity};
use drapery_store::dataset::{DatasetHead, FrameFlag, SequenceSource};

use super::RecordingError;
use super::felt::Felt;
use super::measures::{Measures, in_mm};

/// How a sequence was worn.
#[derive(Clone, Debug)]
pub struct SequenceCheck {
    /// How many frames have each flag, in the order of `FrameFlag::ALL`.
    pub flagged: Vec<(&'static str, usize)>,
    /// Frames whose stored mask is not the one found again from the body.
    pub mask_differs: u32,
    /// Each garment.
    pub garments: Vec<GarmentCheck>,
}

/// How a garment was worn.
#[derive(Clone, Debug)]
pub struct GarmentCheck {
    /// The deepest that a point is inside, outside the mask [mm].
    pub penetration_max_mm: f64,
    /// The share of its points that are more than 1 mm inside [%].
    pub penetration_percent: f64,
    /// The share of its vertices that are masked [%].
    pub masked_percent: f64,
    /// Frames in which the body enters itself next to it.
    pub body_contact_frames: usize,
    /// Edge strain against the rest shape that 99 of 100 are below [%].
    pub stretch_p99_percent: f64,
    /// The same of the frame in which it is the largest [%].
    pub stretch_worst_percent: f64,
    /// Which frame that is.
    pub stretch_worst_frame: u32,
    /// The frame in which a point is the deepest inside; none when none is.
    pub penetration_frame: Option<u32>,
    /// The fastest vertex relative to the body next to it [m/s].
    pub speed_max: f32,
    /// Frames in which it passes through itself.
    pub crossing_frames: usize,
    /// The frames in which it passes through another garment that is worn.
    pub layer_crossings: Vec<u32>,
}

/// Frames that are read at once.
const BLOCK: u32 = 16;

/// Reads a sequence and measures it; `each` is told of every frame and says
/// whether to go on. None when it does not.
///
/// # Errors
/// When it can't be read, or the body can't be posed.
pub fn check_sequence(
    model: &dyn BodyModel,
    head: &DatasetHead,
    sequence: &dyn SequenceSource,
    mut each: impl FnMut(u32) -> bool,
) -> Result<Option<SequenceCheck>, RecordingError> {
    let body = model.shaped(&sequence.shape().coefficients)?;
    let n_frames = sequence.plan().frames;
    let mut felt = Felt::new(model, &body, head);
    let mut measures = Measures::new(model, &body, head);
    let mut flagged = FrameFlag::ALL.map(|flag| (flag.name(), 0));
    let mut mask_differs = 0;
    let mut posed = model.room();
    let still = PoseVelocity::zero(model.skeleton().len());
    let mut start = 0;
    while start < n_frames {
        let frames = start..(start + BLOCK).min(n_frames);
        let poses = sequence.poses(frames.clone())?;
        let flags = sequence.flags(frames.clone())?;
        let garments = (0..head.garments.len())
            .map(|garment| sequence.cloth(garment, frames.clone()))
            .collect::<Result<Vec<_>, _>>()?;
        let masks = (0..head.garments.len())
            .map(|garment| sequence.masked(garment, frames.clone()))
            .collect::<Result<Vec<_>, _>>()?;
        for (i, pose) in poses.iter().enumerate() {
            let frame = start + i as u32;
            model
                .pose(&body, pose, &still, &mut posed)
                .map_err(|source| RecordingError::Pose { frame, source })?;
            let felt = felt.at(&posed.vertices);
            let mut cloth = Vec::with_capacity(head.n_vertices());
            for (stored, all) in head.garments.iter().zip(&garments) {
                let n = stored.n_vertices();
                cloth.extend_from_slice(&all[i * n..(i + 1) * n]);
            }
            measures.add(&posed.vertices, &felt, &cloth, &[]);
            let mut stored = masks
                .iter()
                .zip(&head.garments)
                .flat_map(|(mask, garment)| {
                    let n = garment.n_vertices();
                    &mask[i * n..(i + 1) * n]
                });
            mask_differs += u32::from(!measures.masked.iter().eq(&mut stored));
            for (flag, count) in FrameFlag::ALL.iter().zip(&mut flagged) {
                count.1 += usize::from(flags[i].has(*flag));
            }
            if !each(frame) {
                return Ok(None);
            }
        }
        start = frames.end;
    }
    let garments = measures.into_garments().into_iter().map(|garment| {
        let summary = &garment.summary;
        GarmentCheck {
            penetration_max_mm: in_mm(summary.deepest()),
            penetration_percent: 100.0 * summary.cloth.open.share(),
            masked_percent: 100.0 * summary.masked_share(),
            body_contact_frames: summary.count(|f| f.body_contact),
            stretch_p99_percent: 100.0 * garment.meter.stretch_p99()[0],
            stretch_worst_percent: 100.0 * f64::from(summary.stretch_p99_worst),
            stretch_worst_frame: garment.stretch_frame,
            penetration_frame: summary.deepest_frame,
            speed_max: summary.speed_max,
            crossing_frames: summary.count(|f| f.crossings),
            layer_crossings: garment.layer_crossings,
        }
    });
    Ok(Some(SequenceCheck {
        flagged: flagged.to_vec(),
        mask_differs,
        garments: garments.collect(),
    }))
}
