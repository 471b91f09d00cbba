//! One sequence on disk, read in ranges of frames: [`SequenceReader`].

use std::ops::Range;
use std::path::PathBuf;

use drapery_core::Pose;
use glam::{Quat, Vec3};
use serde_json::Value;

use super::arrays::RowReader;
use super::error::DatasetError;
use super::flags::FrameBits;
use super::folder::DatasetFolder;
use super::garment::points3;
use super::head::open_store;
use super::manifest::{BodyShape, PlannedSequence};
use super::{DatasetStore, SequenceSource, disk};

/// An open sequence.
pub(super) struct SequenceReader<'a> {
    planned: &'a PlannedSequence,
    shape: &'a BodyShape,
    folder: PathBuf,
    attributes: Value,
    /// Positions and velocities of each garment.
    cloth: Vec<[RowReader; 2]>,
    masked: Vec<RowReader>,
    pose: RowReader,
    root: RowReader,
    flags: RowReader,
    coefficients: Option<RowReader>,
}

impl<'a> SequenceReader<'a> {
    /// Opens a sequence and checks that its arrays are those that were planned.
    pub(super) fn open(
        dataset: &'a DatasetFolder,
        planned: &'a PlannedSequence,
    ) -> Result<Self, DatasetError> {
        let folder = dataset.folder_of(planned);
        let attributes = disk::sealed_attributes(&folder)?;
        let head = dataset.head();
        let shape = head.manifest.shape_of(planned);
        let expected: [(&'static str, Value); 5] = [
            ("sequence", planned.name.as_str().into()),
            ("clip", planned.clip.as_str().into()),
            ("parent", planned.parent.as_str().into()),
            ("shape", shape.name.as_str().into()),
            ("frames", planned.frames.into()),
        ];
        for (key, value) in expected {
            if attributes[key] != value {
                return Err(DatasetError::Attribute {
                    key,
                    expected: "as planned",
                    path: folder.join(disk::METADATA),
                });
            }
        }
        let store = open_store(&folder)?;
        let frames = u64::from(planned.frames);
        let (mut cloth, mut masked) = (Vec::new(), Vec::new());
        for garment in &head.garments {
            let shape = [frames, garment.n_vertices() as u64, 3];
            let at = |what: &str| {
                let name = format!("{what}/{}", garment.garment.name());
                RowReader::open::<f32>(&store, &name, &shape)
            };
            cloth.push([at("cloth")?, at("velocity")?]);
            let name = format!("masked/{}", garment.garment.name());
            masked.push(RowReader::open::<u8>(&store, &name, &shape[..2])?);
        }
        let n_joints = head.body.skeleton.len() as u64;
        let n_shape = shape.coefficients.len() as u64;
        let coefficients = match n_shape {
            0 => None,
            _ => Some(RowReader::open::<f32>(&store, "shape", &[n_shape])?),
        };
        Ok(Self {
            planned,
            shape,
            cloth,
            masked,
            pose: RowReader::open::<f32>(&store, "pose", &[frames, n_joints, 4])?,
            root: RowReader::open::<f32>(&store, "root", &[frames, 3])?,
            flags: RowReader::open::<u32>(&store, "flags", &[frames])?,
            coefficients,
            attributes,
            folder,
        })
    }

    /// Checks every byte, and every value as it is read.
    pub(super) fn verify(&self) -> Result<(), DatasetError> {
        if self.attributes["split"] != self.planned.split.name() {
            return Err(DatasetError::Attribute {
                key: "split",
                expected: "that of the manifest",
                path: self.folder.join(disk::METADATA),
            });
        }
        disk::check_files(&self.folder, &self.attributes["files"])?;
        let arrays = self.cloth.iter().flatten().chain([&self.pose, &self.root]);
        for array in arrays.chain(&self.coefficients) {
            array.verify::<f32>(self.checksum(array))?;
        }
        self.flags.verify::<u32>(self.checksum(&self.flags))?;
        for array in &self.masked {
            array.verify::<u8>(self.checksum(array))?;
        }
        if let Some(array) = &self.coefficients {
            let stored: Vec<f32> = array.rows(0..self.shape.coefficients.len() as u64)?;
            if stored != self.shape.coefficients {
                return Err(DatasetError::Value {
                    array: "shape".to_string(),
                    row: 0,
                    expected: "coefficient of the shape that was planned",
                });
            }
        }
        // Their values mean something too.
        const STEP: u32 = 256;
        let mut start = 0;
        while start < self.planned.frames {
            let end = (start + STEP).min(self.planned.frames);
            self.poses(start..end)?;
            self.flags(start..end)?;
            for garment in 0..self.masked.len() {
                self.masked(garment, start..end)?;
            }
            start = end;
        }
        Ok(())
    }

    fn checksum(&self, array: &RowReader) -> Option<&str> {
        self.attributes["checksums"][array.name()].as_str()
    }

    fn rows(&self, frames: Range<u32>) -> Result<Range<u64>, DatasetError> {
        check_range(self.planned, &frames)?;
        Ok(u64::from(frames.start)..u64::from(frames.end))
    }
}

/// Checks that frames are there.
pub(super) fn check_range(
    planned: &PlannedSequence,
    frames: &Range<u32>,
) -> Result<(), DatasetError> {
    if frames.start >= frames.end || frames.end > planned.frames {
        return Err(DatasetError::Frames {
            name: planned.name.clone(),
            start: frames.start,
            end: frames.end,
            n_frames: planned.frames,
        });
    }
    Ok(())
}

impl SequenceSource for SequenceReader<'_> {
    fn plan(&self) -> &PlannedSequence {
        self.planned
    }

    fn shape(&self) -> &BodyShape {
        self.shape
    }

    fn report(&self) -> &Value {
        &self.attributes["report"]
    }

    fn cloth(&self, garment: usize, frames: Range<u32>) -> Result<Vec<Vec3>, DatasetError> {
        Ok(points3(&self.cloth[garment][0].rows(self.rows(frames)?)?))
    }

    fn velocity(&self, garment: usize, frames: Range<u32>) -> Result<Vec<Vec3>, DatasetError> {
        Ok(points3(&self.cloth[garment][1].rows(self.rows(frames)?)?))
    }

    fn masked(&self, garment: usize, frames: Range<u32>) -> Result<Vec<bool>, DatasetError> {
        let array = &self.masked[garment];
        let first = frames.start;
        let values: Vec<u8> = array.rows(self.rows(frames)?)?;
        match values.iter().position(|value| *value > 1) {
            Some(at) => Err(DatasetError::Value {
                array: array.name().to_string(),
                row: u64::from(first) + at as u64 / array.shape()[1],
                expected: "0 or 1",
            }),
            None => Ok(values.into_iter().map(|value| value == 1).collect()),
        }
    }

    fn poses(&self, frames: Range<u32>) -> Result<Vec<Pose>, DatasetError> {
        let first = frames.start;
        let rows = self.rows(frames)?;
        let rotations: Vec<f32> = self.pose.rows(rows.clone())?;
        let root: Vec<f32> = self.root.rows(rows)?;
        let n_joints = self.pose.shape()[1] as usize;
        let each = rotations.chunks_exact(4 * n_joints).zip(points3(&root));
        let mut poses = Vec::with_capacity(root.len() / 3);
        for (row, (rotations, root)) in each.enumerate() {
            let turns = rotations.chunks_exact(4);
            let rotations: Vec<Quat> = turns
                .map(|q| Quat::from_xyzw(q[1], q[2], q[3], q[0]))
                .collect();
            if rotations
                .iter()
                .any(|q| (q.length() - 1.0).abs() > Pose::UNIT_TOLERANCE)
            {
                return Err(DatasetError::Value {
                    array: "pose".to_string(),
                    row: u64::from(first) + row as u64,
                    expected: "rotation",
                });
            }
            poses.push(Pose { root, rotations });
        }
        Ok(poses)
    }

    fn flags(&self, frames: Range<u32>) -> Result<Vec<FrameBits>, DatasetError> {
        let first = frames.start;
        let bits: Vec<u32> = self.flags.rows(self.rows(frames)?)?;
        let each = bits.into_iter().enumerate();
        each.map(|(row, bits)| {
            FrameBits::from_bits(bits).ok_or_else(|| DatasetError::Value {
                array: "flags".to_string(),
                row: u64::from(first) + row as u64,
                expected: "flags known here",
            })
        })
        .collect()
    }
}
