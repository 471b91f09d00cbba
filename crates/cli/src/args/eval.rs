//! The arguments of `eval`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::{SplitName, within};

#[derive(Debug, ClapArgs, Serialize)]
#[command(
    after_help = "Every method is rolled out open-loop: it sees the body of a clip and never its cloth. The \
    baselines skinning and linear are always beside the models. Times are of one garment at a \
    time, body posed and skinned, step and correction; with --threads 1 nothing else disturbs \
    them.\n\n\
    Example, with the scene.toml of drapery simulate --help:\n  \
    drapery simulate scene.toml --frames 20 --out tube\n  \
    drapery eval --dataset tube --split test --report eval.html\n"
)]
pub(crate) struct Eval {
    /// Trained models, .drapery files; without one the baselines alone
    pub(crate) model: Vec<PathBuf>,
    /// Folder of the dataset to compare with
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dataset: PathBuf,
    /// Which clips of it
    #[arg(long, value_enum, default_value_t = SplitName::Test)]
    pub(crate) split: SplitName,
    /// Only this clip with its copies, or this sequence (may be given several times)
    #[arg(long, value_name = "CLIP")]
    pub(crate) clips: Vec<String>,
    /// Which garment; that of the models, or the first, if not given
    #[arg(long, value_name = "GARMENT")]
    pub(crate) garment: Option<String>,
    /// At most so many frames of each sequence, from the first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) frames: Option<u32>,
    /// Leave what a method puts inside the body where it is; else it is pushed out after every
    /// step, and the figures from before are beside
    #[arg(long)]
    pub(crate) no_correct: bool,
    /// Exit with 1 when the mean distance of a model is above this
    #[arg(long, value_name = "CM", value_parser = within(0.0..=1e6))]
    pub(crate) max_error: Option<f64>,
    /// HTML page to write, with tables, plots and pictures
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Folder for plots (.svg), pictures (.png) and the error of every vertex (.csv)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) plots: Option<PathBuf>,
    /// Threads, one sequence each; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[serde(skip)]
    pub(crate) threads: Option<u16>,
}
