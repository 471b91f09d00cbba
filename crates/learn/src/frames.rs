//! The frames of a dataset, one after the other: [`Footage`].

use drapery_core::{
    BodyFrame, BodyModel, CanonicalFrame, PoseError, PoseVelocity, PosedBody, ShapedBody,
    Surroundings,
};
use drapery_store::dataset::{DatasetStore, PlannedSequence, Split};
use glam::Vec3;

use crate::TrainError;

/// Frames that are read at once.
const BLOCK: u32 = 64;

/// Whether cloth is read too, which is most of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Poses and cloth.
    Cloth,
    /// Poses alone.
    Poses,
}

/// One garment in the sequences of a dataset, on the body that wore it.
#[derive(Clone, Copy)]
pub struct Footage<'a> {
    /// The sequences.
    pub store: &'a dyn DatasetStore,
    /// The body of the dataset.
    pub body: &'a dyn BodyModel,
    /// Which of its garments.
    pub garment: usize,
}

/// One frame.
pub(crate) struct Shot<'a> {
    /// Which sequence.
    pub(crate) planned: &'a PlannedSequence,
    /// Which frame of it.
    pub(crate) frame: u32,
    /// Root and heading; the heading is kept where there is none.
    pub(crate) canonical: CanonicalFrame,
    pub(crate) shaped: &'a ShapedBody,
    /// The body's joints; its vertices are not posed.
    pub(crate) posed: &'a PosedBody,
    /// World positions of the garment [m]; empty when not read.
    pub(crate) cloth: &'a [Vec3],
}

impl Shot<'_> {
    /// The body as an animator sees it, standing still.
    pub(crate) fn body(&self) -> BodyFrame<'_> {
        self.posed.frame(self.shaped, Surroundings::default())
    }
}

impl Footage<'_> {
    /// The sequences of a split that are whole, in the order of the plan.
    pub(crate) fn split(&self, split: Split) -> Result<Vec<PlannedSequence>, TrainError> {
        Ok(self.store.split(split)?)
    }

    /// How many vertices the garment has.
    pub(crate) fn n_vertices(&self) -> usize {
        self.store.head().garments[self.garment].n_vertices()
    }

    /// Goes through frames of sequences, from the first to the last.
    pub(crate) fn for_each(
        &self,
        sequences: &[PlannedSequence],
        reading: Reading,
        mut each: impl FnMut(&Shot<'_>) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let skeleton = self.body.skeleton();
        let mut posed = PosedBody::with_room(skeleton.len(), 0);
        let still = PoseVelocity::zero(skeleton.len());
        let n_vertices = self.n_vertices();
        for planned in sequences {
            let source = self.store.sequence(&planned.name)?;
            let shaped = self.body.shaped(&source.shape().coefficients)?;
            let mut heading = 0.0;
            let mut start = 0;
            while start < planned.frames {
                let range = start..(start + BLOCK).min(planned.frames);
                let poses = source.poses(range.clone())?;
                let cloth = match reading {
                    Reading::Cloth => source.cloth(self.garment, range.clone())?,
                    Reading::Poses => Vec::new(),
                };
                for (i, pose) in poses.iter().enumerate() {
                    let frame = start + i as u32;
                    let found = pose.rotations.len();
                    if found != skeleton.len() {
                        let expected = skeleton.len();
                        return Err(TrainError::Pose {
                            sequence: planned.name.clone(),
                            frame,
                            source: PoseError::Joints { found, expected },
                        });
                    }
                    posed.pose_joints(skeleton, &shaped.joints, pose, &still);
                    let canonical = CanonicalFrame::of(pose, heading);
                    heading = canonical.heading;
                    let own = match reading {
                        Reading::Cloth => &cloth[i * n_vertices..(i + 1) * n_vertices],
                        Reading::Poses => &[],
                    };
                    each(&Shot {
                        planned,
                        frame,
                        canonical,
                        shaped: &shaped,
                        posed: &posed,
                        cloth: own,
                    })?;
                }
                start = range.end;
            }
        }
        Ok(())
    }
}

/// The sequences that are no copy of another: not stopped, mirrored or sped up.
pub(crate) fn plain(sequences: &[PlannedSequence]) -> Vec<PlannedSequence> {
    let is_plain = |s: &&PlannedSequence| s.clip == s.parent;
    sequences.iter().filter(is_plain).cloned().collect()
}
