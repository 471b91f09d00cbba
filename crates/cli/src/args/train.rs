//! The arguments of `train`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use serde::Serialize;

use super::within;

#[derive(Debug, Subcommand)]
pub(crate) enum Train {
    /// Linear dynamics in a PCA space, conditioned on the body: stable, a minute to train
    #[command(
        after_help = "Clips split train are learned from, clips split tune choose the ridge. Beside \
        the model lies its .run.json.\n\n\
        Example, after that of drapery simulate --help:\n  \
        drapery train stable-space tube --out tube.drapery --dims 8\n"
    )]
    StableSpace(StableSpacePlan),
    /// Ridge regression from joint rotations and body shape: the baseline of every table
    #[command(
        after_help = "Clips split train are learned from, clips split tune choose the ridge. Beside \
        the model lies its .run.json. drapery eval trains it by itself where it is not given.\n\n\
        Example, after that of drapery simulate --help:\n  \
        drapery train linear tube --out linear.drapery --dims 8\n"
    )]
    Linear(LinearPlan),
}

#[derive(Debug, ClapArgs, Serialize)]
pub(crate) struct LinearPlan {
    /// Folder of a dataset
    pub(crate) dataset: PathBuf,
    /// Model file to write, .drapery
    #[arg(long, value_name = "MODEL")]
    pub(crate) out: PathBuf,
    /// Which garment of the dataset; needed when there are several
    #[arg(long, short, value_name = "NAME")]
    pub(crate) garment: Option<String>,
    /// Dimensions of the cloth
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) dims: u16,
    /// How strongly weights are held back; the best on clips split tune if not given
    #[arg(long, value_name = "EPSILON", value_parser = within(0.0..=1e6))]
    pub(crate) ridge: Option<f64>,
}

#[derive(Debug, ClapArgs, Serialize)]
pub(crate) struct StableSpacePlan {
    /// Folder of a dataset
    pub(crate) dataset: PathBuf,
    /// Model file to write, .drapery
    #[arg(long, value_name = "MODEL")]
    pub(crate) out: PathBuf,
    /// Which garment of the dataset; needed when there are several
    #[arg(long, short, value_name = "NAME")]
    pub(crate) garment: Option<String>,
    /// Dimensions of cloth and body
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) dims: u16,
    /// How many earlier frames count
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(0..=5))]
    pub(crate) order: u8,
    /// Which of the paper's models
    #[arg(long, value_enum, default_value_t = StableVariant::C, ignore_case = true)]
    pub(crate) model: StableVariant,
    /// How strongly weights are held back, 0 for the paper's least squares; the best on clips
    /// split tune if not given
    #[arg(long, value_name = "EPSILON", value_parser = within(0.0..=1e6))]
    pub(crate) ridge: Option<f64>,
    /// Where the components of the cloth live
    #[arg(long, value_enum, default_value_t = Space::Canonical)]
    pub(crate) space: Space,
    /// The largest spectral radius: how long a swing may go on
    #[arg(long, value_name = "RADIUS", default_value_t = 0.99, value_parser = within(0.1..=0.9999))]
    pub(crate) max_radius: f64,
    /// What is done where least squares go beyond that
    #[arg(long, value_enum, default_value_t = StableBy::Constrained)]
    pub(crate) stability: StableBy,
    /// What the dynamics are fitted to
    #[arg(long, value_enum, default_value_t = FittedTo::RollOuts)]
    pub(crate) fit: FittedTo,
    /// Threads; as many as there are cores if not given. The result is the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[serde(skip)]
    pub(crate) threads: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StableVariant {
    /// The body's pose alone
    A,
    /// And the cloth's past
    B,
    /// And the root's motion
    C,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StableBy {
    /// Least squares under the condition of stability
    Constrained,
    /// Fewer dimensions of the cloth, until least squares are stable by themselves
    FewerDims,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FittedTo {
    /// The next frame, as in the paper
    OneStep,
    /// Whole roll-outs of the clips that train, where clips split `tune` find that better;
    /// not with a --ridge
    RollOuts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Space {
    /// Root and heading taken off, as in the paper
    Canonical,
    /// Inverse skinning: the body's pose taken off as well
    Unposed,
}
