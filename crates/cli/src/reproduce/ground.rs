//! The data of a part: a dataset, simulated where it is not there.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use drapery::core::{BodyModel, PoseVelocity, PosedBody, ShapedBody};
use drapery::learn::Footage;
use drapery::scene::character::Character;
use drapery::scene::scene_file::Scene;
use drapery::store::dataset::{
    DatasetError, DatasetFolder, DatasetHead, DatasetStore, PlannedSequence, SequenceSink,
    SequenceSource, SequenceState, Split,
};
use drapery::stored_character;

use super::Origin;
use crate::args::Simulate;
use crate::say::Say;
use crate::{Answer, dataset, simulate, train};

/// Which sequences are wanted.
pub(super) type Wanted<'a> = &'a dyn Fn(&PlannedSequence) -> bool;

/// A dataset with the body that was dressed.
pub(super) struct Ground {
    pub(super) path: PathBuf,
    pub(super) dataset: DatasetFolder,
    pub(super) character: Character,
    /// Of what it says of itself and of the sequences that are wanted.
    pub(super) origin: Origin,
}

impl Ground {
    /// Opens a dataset, after what is missing of it was simulated from `scene`.
    /// A sequence that fails is left out, unless nothing is left.
    pub(super) fn of(
        path: &Path,
        is_wanted: Wanted<'_>,
        scene: impl FnOnce() -> anyhow::Result<Scene>,
        threads: Option<u16>,
        say: &Say,
    ) -> anyhow::Result<Self> {
        if !is_tried(path, is_wanted)? {
            let plan = Simulate {
                scene: path.file_name().map(PathBuf::from).unwrap_or_default(),
                out: path.to_path_buf(),
                frames: None,
                only: Vec::new(),
                retry: false,
                anyway: false,
                threads,
            };
            if simulate::run_scene(&plan, scene()?, is_wanted, say)? == Answer::No {
                say.note(format_args!(
                    "{}: goes on without what failed",
                    path.display()
                ));
            }
        }
        Self::open(path, is_wanted)
    }

    /// Opens a dataset as it is; what tests is what is wanted of it.
    pub(super) fn open(path: &Path, is_wanted: Wanted<'_>) -> anyhow::Result<Self> {
        let dataset = dataset::open(path)?;
        let character = stored_character(&dataset.head().body)
            .with_context(|| format!("cannot read the body of {}", path.display()))?;
        let mut tested = dataset.split(Split::Test)?;
        tested.retain(|planned| is_wanted(planned));
        Ok(Self {
            origin: Origin {
                digest: train::digest(&dataset, path)?,
                tested: train::digest_of(path, &tested)?,
            },
            path: path.to_path_buf(),
            dataset,
            character,
        })
    }

    pub(super) fn footage(&self) -> Footage<'_> {
        Footage {
            store: &self.dataset,
            body: &self.character,
            garment: 0,
        }
    }

    /// The bodies of all frames of a sequence, with their skin.
    pub(super) fn posed(
        &self,
        planned: &PlannedSequence,
    ) -> anyhow::Result<(ShapedBody, Vec<PosedBody>)> {
        let source = self.dataset.sequence(&planned.name)?;
        let body = self.character.shaped(&source.shape().coefficients)?;
        let still = PoseVelocity::zero(self.character.skeleton().len());
        let mut all = Vec::new();
        for pose in source.poses(0..planned.frames)? {
            let mut posed = self.character.room();
            self.character.pose(&body, &pose, &still, &mut posed)?;
            all.push(posed);
        }
        Ok((body, all))
    }

    /// The sequences of a split that are no copies.
    pub(super) fn plain(&self, split: Split) -> anyhow::Result<Vec<PlannedSequence>> {
        let mut all = self.dataset.split(split)?;
        all.retain(is_plain);
        Ok(all)
    }
}

/// Whether a sequence is no copy of another.
pub(super) fn is_plain(planned: &PlannedSequence) -> bool {
    planned.clip == planned.parent
}

/// Whether all that is wanted of a dataset is whole, or has failed.
fn is_tried(path: &Path, is_wanted: Wanted<'_>) -> anyhow::Result<bool> {
    if !path.join("zarr.json").exists() {
        return Ok(false);
    }
    let there = dataset::open(path)?;
    let mut wanted = (there.head().manifest.sequences.iter()).filter(|s| is_wanted(s));
    if wanted.clone().next().is_none() {
        bail!("{}: none of its sequences are wanted", path.display());
    }
    Ok(wanted.all(|s| !matches!(there.state(&s.name), Ok(SequenceState::Missing) | Err(_))))
}

/// Some sequences of a dataset, as if there were no others.
pub(super) struct Chosen<'a> {
    pub(super) of: &'a DatasetFolder,
    pub(super) is_wanted: &'a (dyn Fn(&PlannedSequence) -> bool + Send + Sync),
}

impl DatasetStore for Chosen<'_> {
    fn head(&self) -> &DatasetHead {
        self.of.head()
    }

    fn state(&self, name: &str) -> Result<SequenceState, DatasetError> {
        self.of.state(name)
    }

    fn append<'a>(&'a self, name: &str) -> Result<Box<dyn SequenceSink + 'a>, DatasetError> {
        self.of.append(name)
    }

    fn sequence<'a>(&'a self, name: &str) -> Result<Box<dyn SequenceSource + 'a>, DatasetError> {
        self.of.sequence(name)
    }

    fn verify(&self, name: &str) -> Result<(), DatasetError> {
        self.of.verify(name)
    }

    fn split(&self, split: Split) -> Result<Vec<PlannedSequence>, DatasetError> {
        let mut all = self.of.split(split)?;
        all.retain(|planned| (self.is_wanted)(planned));
        Ok(all)
    }
}
