//! One sequence on its way to disk: [`SequenceWriter`].

use std::path::PathBuf;
use std::sync::Arc;

use glam::Vec3;
use serde_json::{Map, Value, json};
use zarrs::filesystem::FilesystemStore;

use super::arrays::{RowWriter, write_whole};
use super::error::DatasetError;
use super::folder::DatasetFolder;
use super::garment::flat3;
use super::head::open_store;
use super::manifest::PlannedSequence;
use super::{FrameRecord, SequenceFailure, SequenceSink, disk};

/// Writes a sequence into a hidden folder beside its place.
pub(super) struct SequenceWriter<'a> {
    dataset: &'a DatasetFolder,
    planned: PlannedSequence,
    part: PathBuf,
    store: Arc<FilesystemStore>,
    /// Positions and velocities of each garment.
    cloth: Vec<[RowWriter<f32>; 2]>,
    masked: Vec<RowWriter<u8>>,
    pose: RowWriter<f32>,
    root: RowWriter<f32>,
    flags: RowWriter<u32>,
    n_frames: u32,
}

impl Drop for SequenceWriter<'_> {
    fn drop(&mut self) {
        // Not there any more once it was renamed; of no use otherwise.
        let _ = std::fs::remove_dir_all(&self.part);
    }
}

impl<'a> SequenceWriter<'a> {
    pub(super) fn new(
        dataset: &'a DatasetFolder,
        planned: PlannedSequence,
    ) -> Result<Self, DatasetError> {
        let part = disk::part_of(&dataset.folder_of(&planned));
        disk::remove(&part)?;
        disk::make_folder(&part)?;
        let head = super::DatasetStore::head(dataset);
        let made = || {
            let store = open_store(&part)?;
            let frames = u64::from(planned.frames);
            let point = ["frame", "vertex", "axis"];
            let (mut cloth, mut masked) = (Vec::new(), Vec::new());
            for garment in &head.garments {
                let shape = [frames, garment.n_vertices() as u64, 3];
                let at = |what: &str| {
                    let name = format!("{what}/{}", garment.garment.name());
                    RowWriter::new(&store, &name, &shape, &point)
                };
                cloth.push([at("cloth")?, at("velocity")?]);
                let name = format!("masked/{}", garment.garment.name());
                masked.push(RowWriter::new(&store, &name, &shape[..2], &point[..2])?);
            }
            let n_joints = head.body.skeleton.len() as u64;
            let axes = ["frame", "joint", "quaternion"];
            let pose = RowWriter::new(&store, "pose", &[frames, n_joints, 4], &axes)?;
            let root = RowWriter::new(&store, "root", &[frames, 3], &["frame", "axis"])?;
            let flags = RowWriter::new(&store, "flags", &[frames], &["frame"])?;
            Ok((store, cloth, masked, pose, root, flags))
        };
        match made() {
            Ok((store, cloth, masked, pose, root, flags)) => Ok(Self {
                dataset,
                planned,
                store,
                cloth,
                masked,
                pose,
                root,
                flags,
                n_frames: 0,
                part,
            }),
            Err(error) => {
                // Of no use; failing to remove it changes nothing.
                let _ = std::fs::remove_dir_all(&part);
                Err(error)
            }
        }
    }

    /// Writes what is left and puts the folder in its place.
    fn close(&mut self, report: Value) -> Result<(), DatasetError> {
        let head = super::DatasetStore::head(self.dataset);
        let shape = head.manifest.shape_of(&self.planned);
        let mut checksums = Map::new();
        let mut keep = |(name, digest): (String, String)| {
            checksums.insert(name, digest.into());
        };
        for array in self.cloth.as_flattened_mut() {
            keep(array.end()?);
        }
        for array in &mut self.masked {
            keep(array.end()?);
        }
        keep(self.pose.end()?);
        keep(self.root.end()?);
        keep(self.flags.end()?);
        let n_shape = shape.coefficients.len() as u64;
        if n_shape > 0 {
            let axes = ["parameter"];
            keep(write_whole(
                &self.store,
                "shape",
                &[n_shape],
                &axes,
                &shape.coefficients,
            )?);
        }
        for group in ["cloth", "velocity", "masked"] {
            let folder = self.part.join(group);
            disk::make_folder(&folder)?;
            disk::write(&folder.join(disk::METADATA), &disk::group(&json!({})))?;
        }
        let attributes = json!({
            "sequence": self.planned.name,
            "clip": self.planned.clip,
            "parent": self.planned.parent,
            "shape": shape.name,
            "split": self.planned.split,
            "frames": self.planned.frames,
            "frame_rate": head.frame_rate.hz(),
            "units": { "cloth": "m", "velocity": "m/s", "root": "m", "pose": "w x y z" },
            "report": report,
            "checksums": checksums,
            "files": disk::digests(&self.part)?,
        });
        let metadata = disk::sealed_group(attributes);
        disk::write(&self.part.join(disk::METADATA), &metadata)?;
        disk::sync_tree(&self.part)?;
        disk::rename(&self.part, &self.dataset.folder_of(&self.planned))?;
        disk::remove(&self.dataset.failed().join(&self.planned.name))
    }
}

impl SequenceSink for SequenceWriter<'_> {
    fn push(&mut self, frame: &FrameRecord<'_>) -> Result<(), DatasetError> {
        let head = super::DatasetStore::head(self.dataset);
        check_frame(head, &self.planned, self.n_frames, frame)?;
        let mut first = 0;
        let arrays = self.cloth.iter_mut().zip(&mut self.masked);
        for (garment, ([cloth, velocity], masked)) in head.garments.iter().zip(arrays) {
            let own = first..first + garment.n_vertices();
            cloth.push(&flat3(&frame.cloth[own.clone()]))?;
            velocity.push(&flat3(&frame.velocity[own.clone()]))?;
            let own_masked = frame.masked[own.clone()].iter();
            masked.push(&own_masked.map(|m| u8::from(*m)).collect::<Vec<u8>>())?;
            first = own.end;
        }
        let rotations = frame.pose.rotations.iter();
        let pose: Vec<f32> = rotations.flat_map(|q| [q.w, q.x, q.y, q.z]).collect();
        self.pose.push(&pose)?;
        self.root.push(&frame.pose.root.to_array())?;
        self.flags.push(&[frame.flags.bits()])?;
        self.n_frames += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>, report: Value) -> Result<(), DatasetError> {
        check_end(&self.planned, self.n_frames)?;
        self.close(report)
    }

    fn fail(self: Box<Self>, failure: &SequenceFailure) -> Result<(), DatasetError> {
        self.dataset.write_failure(&self.planned, failure)
    }
}

/// Checks a frame before anything of it is written.
pub(super) fn check_frame(
    head: &super::DatasetHead,
    planned: &PlannedSequence,
    n_before: u32,
    frame: &FrameRecord<'_>,
) -> Result<(), DatasetError> {
    if n_before >= planned.frames {
        return Err(DatasetError::Length {
            what: "frames",
            found: n_before as usize + 1,
            expected: planned.frames as usize,
        });
    }
    let length = |what, found, expected| match found == expected {
        true => Ok(()),
        false => Err(DatasetError::Length {
            what,
            found,
            expected,
        }),
    };
    length("vertices", frame.cloth.len(), head.n_vertices())?;
    length("velocities", frame.velocity.len(), head.n_vertices())?;
    length(
        "vertices of the mask",
        frame.masked.len(),
        head.n_vertices(),
    )?;
    let joints = head.body.skeleton.len();
    length("joint rotations", frame.pose.rotations.len(), joints)?;
    let is_finite = |points: &[Vec3]| points.iter().all(|p| p.is_finite());
    let is_turned = frame.pose.rotations.iter().all(|q| q.is_finite());
    let found = [
        ("cloth", is_finite(frame.cloth)),
        ("velocity", is_finite(frame.velocity)),
        ("pose", is_turned),
        ("root", frame.pose.root.is_finite()),
    ];
    match found.iter().find(|(_, sound)| !sound) {
        Some((array, _)) => Err(DatasetError::NotFinite {
            array: (*array).to_string(),
            row: u64::from(n_before),
        }),
        None => Ok(()),
    }
}

/// Checks that no frame is missing.
pub(super) fn check_end(planned: &PlannedSequence, n_frames: u32) -> Result<(), DatasetError> {
    match n_frames == planned.frames {
        true => Ok(()),
        false => Err(DatasetError::Length {
            what: "frames",
            found: n_frames as usize,
            expected: planned.frames as usize,
        }),
    }
}
