//! A dataset in memory: [`MemoryDataset`], for small ones and for tests of what
//! reads datasets.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use drapery_core::Pose;
use glam::Vec3;
use serde_json::Value;

use super::error::DatasetError;
use super::flags::FrameBits;
use super::folder::planned;
use super::head::DatasetHead;
use super::manifest::{BodyShape, PlannedSequence};
use super::reader::check_range;
use super::writer::{check_end, check_frame};
use super::{
    DatasetStore, FrameRecord, SequenceFailure, SequenceSink, SequenceSource, SequenceState,
};

/// A dataset that is gone when the program ends.
#[derive(Debug)]
pub struct MemoryDataset {
    head: DatasetHead,
    sequences: Mutex<BTreeMap<String, Outcome>>,
}

#[derive(Clone, Debug)]
enum Outcome {
    Whole(Arc<Frames>),
    Failed(SequenceFailure),
}

#[derive(Debug, Default)]
struct Frames {
    poses: Vec<Pose>,
    flags: Vec<FrameBits>,
    /// Positions and velocities, all garments of a frame together.
    cloth: Vec<Vec3>,
    velocity: Vec<Vec3>,
    masked: Vec<bool>,
    report: Value,
}

impl MemoryDataset {
    /// A dataset without sequences.
    ///
    /// # Errors
    /// When parts of the head don't go together.
    pub fn new(head: DatasetHead) -> Result<Self, DatasetError> {
        head.check()?;
        Ok(Self {
            head,
            sequences: Mutex::default(),
        })
    }

    fn outcome(&self, name: &str) -> Result<Option<Outcome>, DatasetError> {
        planned(&self.head, name)?;
        let sequences = self.sequences.lock();
        let sequences = sequences.unwrap_or_else(PoisonError::into_inner);
        Ok(sequences.get(name).cloned())
    }

    fn keep(&self, name: &str, outcome: Outcome) {
        let sequences = self.sequences.lock();
        let mut sequences = sequences.unwrap_or_else(PoisonError::into_inner);
        sequences.insert(name.to_string(), outcome);
    }
}

impl DatasetStore for MemoryDataset {
    fn head(&self) -> &DatasetHead {
        &self.head
    }

    fn state(&self, name: &str) -> Result<SequenceState, DatasetError> {
        Ok(match self.outcome(name)? {
            None => SequenceState::Missing,
            Some(Outcome::Whole(_)) => SequenceState::Whole,
            Some(Outcome::Failed(failure)) => SequenceState::Failed(failure),
        })
    }

    fn append<'a>(&'a self, name: &str) -> Result<Box<dyn SequenceSink + 'a>, DatasetError> {
        let planned = planned(&self.head, name)?;
        if self.state(name)? == SequenceState::Whole {
            return Err(DatasetError::AlreadyThere {
                name: name.to_string(),
            });
        }
        Ok(Box::new(MemorySink {
            dataset: self,
            planned,
            frames: Frames::default(),
        }))
    }

    fn sequence<'a>(&'a self, name: &str) -> Result<Box<dyn SequenceSource + 'a>, DatasetError> {
        let is = match self.outcome(name)? {
            Some(Outcome::Whole(frames)) => {
                let planned = planned(&self.head, name)?;
                return Ok(Box::new(MemorySource {
                    head: &self.head,
                    planned,
                    frames,
                }));
            }
            Some(Outcome::Failed(_)) => "failed",
            None => "is not there yet",
        };
        Err(DatasetError::NotWhole {
            name: name.to_string(),
            is,
        })
    }

    fn verify(&self, name: &str) -> Result<(), DatasetError> {
        // All was checked when it came, and nothing can have changed it.
        self.sequence(name).map(drop)
    }
}

struct MemorySink<'a> {
    dataset: &'a MemoryDataset,
    planned: &'a PlannedSequence,
    frames: Frames,
}

impl SequenceSink for MemorySink<'_> {
    fn push(&mut self, frame: &FrameRecord<'_>) -> Result<(), DatasetError> {
        let frames = &mut self.frames;
        let n_before = frames.poses.len() as u32;
        check_frame(&self.dataset.head, self.planned, n_before, frame)?;
        frames.poses.push(frame.pose.clone());
        frames.flags.push(frame.flags);
        frames.cloth.extend_from_slice(frame.cloth);
        frames.velocity.extend_from_slice(frame.velocity);
        frames.masked.extend_from_slice(frame.masked);
        Ok(())
    }

    fn finish(mut self: Box<Self>, report: Value) -> Result<(), DatasetError> {
        check_end(self.planned, self.frames.poses.len() as u32)?;
        self.frames.report = report;
        let frames = Arc::new(self.frames);
        self.dataset
            .keep(&self.planned.name, Outcome::Whole(frames));
        Ok(())
    }

    fn fail(self: Box<Self>, failure: &SequenceFailure) -> Result<(), DatasetError> {
        let outcome = Outcome::Failed(failure.clone());
        self.dataset.keep(&self.planned.name, outcome);
        Ok(())
    }
}

struct MemorySource<'a> {
    head: &'a DatasetHead,
    planned: &'a PlannedSequence,
    frames: Arc<Frames>,
}

impl MemorySource<'_> {
    /// One garment's part of frames.
    fn part<T: Copy>(
        &self,
        all: &[T],
        garment: usize,
        frames: Range<u32>,
    ) -> Result<Vec<T>, DatasetError> {
        check_range(self.planned, &frames)?;
        let sizes = self.head.garments.iter().map(|g| g.n_vertices());
        let first: usize = sizes.take(garment).sum();
        let own = first..first + self.head.garments[garment].n_vertices();
        let n_all = self.head.n_vertices();
        let rows =
            all[frames.start as usize * n_all..frames.end as usize * n_all].chunks_exact(n_all);
        Ok(rows.flat_map(|row| &row[own.clone()]).copied().collect())
    }
}

impl SequenceSource for MemorySource<'_> {
    fn plan(&self) -> &PlannedSequence {
        self.planned
    }

    fn shape(&self) -> &BodyShape {
        self.head.manifest.shape_of(self.planned)
    }

    fn report(&self) -> &Value {
        &self.frames.report
    }

    fn cloth(&self, garment: usize, frames: Range<u32>) -> Result<Vec<Vec3>, DatasetError> {
        self.part(&self.frames.cloth, garment, frames)
    }

    fn velocity(&self, garment: usize, frames: Range<u32>) -> Result<Vec<Vec3>, DatasetError> {
        self.part(&self.frames.velocity, garment, frames)
    }

    fn masked(&self, garment: usize, frames: Range<u32>) -> Result<Vec<bool>, DatasetError> {
        self.part(&self.frames.masked, garment, frames)
    }

    fn poses(&self, frames: Range<u32>) -> Result<Vec<Pose>, DatasetError> {
        check_range(self.planned, &frames)?;
        Ok(self.frames.poses[frames.start as usize..frames.end as usize].to_vec())
    }

    fn flags(&self, frames: Range<u32>) -> Result<Vec<FrameBits>, DatasetError> {
        check_range(self.planned, &frames)?;
        Ok(self.frames.flags[frames.start as usize..frames.end as usize].to_vec())
    }
}
