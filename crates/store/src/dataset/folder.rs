//! A dataset on disk: [`DatasetFolder`].

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::error::DatasetError;
use super::head::DatasetHead;
use super::manifest::{BodyShape, PlannedSequence, Split};
use super::reader::SequenceReader;
use super::writer::SequenceWriter;
use super::{DatasetStore, SequenceFailure, SequenceSink, SequenceSource, SequenceState, disk};

/// A dataset in a folder.
#[derive(Debug)]
pub struct DatasetFolder {
    root: PathBuf,
    head: DatasetHead,
    /// Digests of what the head wrote.
    files: Value,
    /// Held while it may be written to.
    lock: Option<File>,
}

impl DatasetFolder {
    /// Makes a dataset without sequences, to be written to. The folder is not
    /// there yet, or empty.
    ///
    /// # Errors
    /// When something is there, parts of the head don't go together, or nothing
    /// can be written.
    pub fn create(root: &Path, head: DatasetHead) -> Result<Self, DatasetError> {
        head.check()?;
        // Two that make it at once would clear away each other's parts.
        let _making = disk::folder_lock(root);
        let is_empty = |mut entries: fs::ReadDir| entries.next().is_none();
        if root.exists() && !fs::read_dir(root).is_ok_and(is_empty) {
            return Err(DatasetError::Occupied {
                path: root.to_path_buf(),
            });
        }
        let part = disk::part_of(root);
        disk::clear_parts_of(root)?;
        let made = disk::make_folder(&part)
            .and_then(|()| head.write(&part))
            .and_then(|()| disk::sync_tree(&part))
            .and_then(|()| disk::rename(&part, root));
        if let Err(error) = made {
            // Of no use; failing to remove it changes nothing.
            let _ = fs::remove_dir_all(&part);
            return Err(error);
        }
        Self::open_to_write(root)
    }

    /// Opens a dataset to be read.
    ///
    /// # Errors
    /// When there is none, or what all sequences share is wrong.
    pub fn open(root: &Path) -> Result<Self, DatasetError> {
        let (head, files) = DatasetHead::read(root)?;
        Ok(Self {
            root: root.to_path_buf(),
            head,
            files,
            lock: None,
        })
    }

    /// Opens a dataset to be written to, and removes what was not whole when
    /// someone who did so before was killed.
    ///
    /// # Errors
    /// When there is none, or someone else writes to it.
    pub fn open_to_write(root: &Path) -> Result<Self, DatasetError> {
        let mut dataset = Self::open(root)?;
        // Never replaced, unlike the metadata at the top.
        let path = dataset.sequences().join(disk::METADATA);
        let lock = File::options().read(true).write(true).open(&path);
        let lock = lock.map_err(disk::cannot("write to", &path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DatasetError::Busy {
                    path: root.to_path_buf(),
                });
            }
            Err(TryLockError::Error(source)) => {
                return Err(disk::cannot("lock", root)(source));
            }
        }
        for folder in [root, &dataset.sequences(), &dataset.failed()] {
            disk::clear_parts(folder)?;
        }
        // Killed between the two.
        for planned in &dataset.head.manifest.sequences {
            let failed = dataset.failed().join(&planned.name);
            if dataset.folder_of(planned).is_dir() && failed.is_dir() {
                disk::remove(&failed)?;
            }
        }
        dataset.lock = Some(lock);
        Ok(dataset)
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Checks what all sequences share, to the byte.
    ///
    /// # Errors
    /// What is wrong first.
    pub fn verify_head(&self) -> Result<(), DatasetError> {
        disk::sealed_attributes(&self.root)?;
        for group in ["body", "garments"] {
            let prefix = format!("{group}/");
            let all = self.files.as_object().into_iter().flatten();
            let own: serde_json::Map<String, Value> = all
                .filter_map(|(name, digest)| {
                    let name = name.strip_prefix(&prefix)?;
                    Some((name.to_string(), digest.clone()))
                })
                .filter(|(name, _)| name != disk::METADATA)
                .collect();
            disk::check_files(&self.root.join(group), &Value::Object(own))?;
        }
        for name in ["body", "garments", "sequences", "failed"] {
            let name = format!("{name}/{}", disk::METADATA);
            let found = super::digest::of_file(&self.root.join(&name))?;
            if self.files[&name].as_str() != Some(&found) {
                return Err(DatasetError::Checksum { what: "file", name });
            }
        }
        Ok(())
    }

    /// Moves clips with all their copies to other splits.
    ///
    /// # Errors
    /// When it can't be written to.
    pub fn change_splits(
        &mut self,
        change: impl Fn(&PlannedSequence) -> Split,
    ) -> Result<(), DatasetError> {
        self.check_lock()?;
        let mut head = self.head.clone();
        for planned in &mut head.manifest.sequences {
            planned.split = change(planned);
        }
        head.check()?;
        // The top is what counts; whoever is killed here does it again.
        disk::replace(&self.root.join(disk::METADATA), &head.metadata(&self.files))?;
        self.head = head;
        for planned in &self.head.manifest.sequences {
            let folder = self.folder_of(planned);
            if folder.is_dir() {
                let mut attributes = disk::sealed_attributes(&folder)?;
                if attributes["split"] != planned.split.name() {
                    attributes["split"] = planned.split.name().into();
                    disk::replace(
                        &folder.join(disk::METADATA),
                        &disk::sealed_group(attributes),
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Plans one sequence more on a body of that shape, which is added if there
    /// is none like it. Nothing changes when it is planned already.
    ///
    /// # Errors
    /// When another of that name is planned, parts of the head don't go
    /// together, or it can't be written to.
    pub fn plan_more(
        &mut self,
        mut sequence: PlannedSequence,
        shape: BodyShape,
    ) -> Result<(), DatasetError> {
        self.check_lock()?;
        let mut head = self.head.clone();
        let shapes = &mut head.manifest.shapes;
        let known = shapes
            .iter()
            .position(|s| s.coefficients == shape.coefficients);
        let at = known.unwrap_or(shapes.len());
        if known.is_none() {
            shapes.push(shape);
        }
        sequence.shape = at as u32;
        if let Some(old) = head.manifest.get(&sequence.name) {
            let words = |s: &PlannedSequence| format!("{} frames to {}", s.frames, s.split.name());
            return match *old == sequence {
                true => Ok(()),
                false => Err(DatasetError::Differs {
                    key: sequence.name.clone(),
                    old: words(old),
                    new: words(&sequence),
                }),
            };
        }
        head.manifest.sequences.push(sequence);
        head.check()?;
        disk::replace(&self.root.join(disk::METADATA), &head.metadata(&self.files))?;
        self.head = head;
        Ok(())
    }

    pub(super) fn sequences(&self) -> PathBuf {
        self.root.join("sequences")
    }

    pub(super) fn failed(&self) -> PathBuf {
        self.root.join("failed")
    }

    pub(super) fn folder_of(&self, planned: &PlannedSequence) -> PathBuf {
        self.sequences().join(&planned.name)
    }

    fn planned(&self, name: &str) -> Result<&PlannedSequence, DatasetError> {
        planned(&self.head, name)
    }

    fn check_lock(&self) -> Result<(), DatasetError> {
        match self.lock {
            Some(_) => Ok(()),
            None => Err(DatasetError::ReadOnly {
                path: self.root.clone(),
            }),
        }
    }

    pub(super) fn write_failure(
        &self,
        planned: &PlannedSequence,
        failure: &SequenceFailure,
    ) -> Result<(), DatasetError> {
        let folder = self.failed().join(&planned.name);
        let part = disk::part_of(&folder);
        disk::make_folder(&part)?;
        let attributes = json!({
            "sequence": planned.name,
            "clip": planned.clip,
            "parent": planned.parent,
            "shape": self.head.manifest.shape_of(planned).name,
            "frame": failure.frame,
            "why": failure.why,
        });
        disk::write(&part.join(disk::METADATA), &disk::sealed_group(attributes))?;
        disk::remove(&folder)?;
        disk::rename(&part, &folder)
    }
}

/// The planned sequence of that name.
pub(super) fn planned<'a>(
    head: &'a DatasetHead,
    name: &str,
) -> Result<&'a PlannedSequence, DatasetError> {
    head.manifest.get(name).ok_or_else(|| {
        // Whoever leaves out the shape is offered the first.
        let names = head.manifest.sequences.iter().map(|s| s.name.as_str());
        let nearest = names.clone().find(|n| n.starts_with(name));
        let nearest = nearest.or_else(|| {
            names.max_by(|a, b| {
                strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b))
            })
        });
        DatasetError::NoSuchSequence {
            name: name.to_string(),
            nearest: nearest.map(str::to_string),
        }
    })
}

impl DatasetStore for DatasetFolder {
    fn head(&self) -> &DatasetHead {
        &self.head
    }

    fn state(&self, name: &str) -> Result<SequenceState, DatasetError> {
        let planned = self.planned(name)?;
        if self.folder_of(planned).is_dir() {
            return Ok(SequenceState::Whole);
        }
        let failed = self.failed().join(&planned.name);
        if !failed.is_dir() {
            return Ok(SequenceState::Missing);
        }
        let attributes = disk::sealed_attributes(&failed)?;
        let failure = json!({ "frame": attributes["frame"], "why": attributes["why"] });
        match serde_json::from_value(failure) {
            Ok(failure) => Ok(SequenceState::Failed(failure)),
            Err(source) => Err(DatasetError::Json {
                path: failed.join(disk::METADATA),
                source,
            }),
        }
    }

    fn append<'a>(&'a self, name: &str) -> Result<Box<dyn SequenceSink + 'a>, DatasetError> {
        self.check_lock()?;
        let planned = self.planned(name)?;
        if self.folder_of(planned).is_dir() {
            return Err(DatasetError::AlreadyThere {
                name: planned.name.clone(),
            });
        }
        Ok(Box::new(SequenceWriter::new(self, planned.clone())?))
    }

    fn sequence<'a>(&'a self, name: &str) -> Result<Box<dyn SequenceSource + 'a>, DatasetError> {
        let planned = self.planned(name)?;
        match self.state(name)? {
            SequenceState::Whole => Ok(Box::new(SequenceReader::open(self, planned)?)),
            SequenceState::Missing => Err(DatasetError::NotWhole {
                name: name.to_string(),
                is: "is not there yet",
            }),
            SequenceState::Failed(_) => Err(DatasetError::NotWhole {
                name: name.to_string(),
                is: "failed",
            }),
        }
    }

    fn verify(&self, name: &str) -> Result<(), DatasetError> {
        SequenceReader::open(self, self.planned(name)?)?.verify()
    }
}
