//! Why nothing was learned.

use drapery_core::{AnimateError, PoseError, ShapeError};
use drapery_linalg::NoEigenvalues;
use drapery_runtime::{DynamicsError, PartsError, PoseRangeError};
use drapery_store::dataset::DatasetError;

use crate::PcaError;

/// Why a method can't be trained or evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The dataset can't be read.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// There is nothing to learn from.
    #[error("the dataset has no whole sequence that is split {split}")]
    NoSequences {
        /// The split.
        split: &'static str,
    },
    /// There are too few frames.
    #[error("{found} frames, but {needed} are needed for {what}")]
    TooFew {
        /// How many there are.
        found: usize,
        /// How many it takes.
        needed: usize,
        /// For what.
        what: &'static str,
    },
    /// The body can't have a shape of the dataset.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The body can't take a pose of the dataset.
    #[error("the body can't take the pose of frame {frame} of {sequence}")]
    Pose {
        /// Which sequence.
        sequence: String,
        /// Which frame.
        frame: u32,
        /// Why not.
        source: PoseError,
    },
    /// The garment can't be animated or unposed.
    #[error("frame {frame} of {sequence}")]
    Animate {
        /// Which sequence.
        sequence: String,
        /// Which frame.
        frame: u32,
        /// Why not.
        source: AnimateError,
    },
    /// Nothing varies.
    #[error("the {what} does not move in the training frames")]
    Still {
        /// `body` or `cloth`.
        what: &'static str,
    },
    /// A sum is not finite.
    #[error(transparent)]
    Eigenvalues(#[from] NoEigenvalues),
    /// No fit is stable.
    #[error("no fit of the dynamics is stable: the best has a spectral radius of {radius}")]
    Unstable {
        /// The spectral radius.
        radius: f64,
    },
    /// A setting that makes no sense.
    #[error("{what}: {found} is not from {least} to {most}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// Its value.
        found: f64,
        /// The least it may be.
        least: f64,
        /// The most it may be.
        most: f64,
    },
    /// What was learned is no body space.
    #[error(transparent)]
    PoseRange(#[from] PoseRangeError),
    /// What was learned are no dynamics.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
    /// What was learned makes no method.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// Whoever watched has stopped it.
    #[error("it was stopped")]
    Stopped,
}

impl From<PcaError<Self>> for TrainError {
    fn from(error: PcaError<Self>) -> Self {
        match error {
            PcaError::Rows(error) => error,
            PcaError::TooFew { n_rows } => Self::TooFew {
                found: n_rows,
                needed: 2,
                what: "principal components",
            },
            PcaError::Eigenvalues(error) => error.into(),
        }
    }
}
