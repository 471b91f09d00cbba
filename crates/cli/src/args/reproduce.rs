//! The arguments of `reproduce`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use serde::Serialize;

#[derive(Debug, Subcommand)]
pub(crate) enum Reproduce {
    /// De Aguiar and others 2010: all tables and figures
    #[command(
        after_help = "Simulates what is missing, trains a model for every cell of the tables and \
        rolls it out on clips that it never saw. Every cell is a file in FOLDER/cells, and \
        FOLDER/README.md has the tables and figures as far as they are done: what is interrupted \
        goes on where it was; what you write into FOLDER/notes.md stays at its end. After the cells of Tables 2 and 3 come the parts: clips (one by one), \
        ten-thousand (steps on a random walk), nonlinear \
        (a kernel in the place of A), fits (ways to be stable, and the unposed space), \
        held-out-stops, pictures, crowds, table-1 (all garments), fabrics, table-4 \
        (resolutions). Garments and resolutions, such as garment-skirt-1, can be asked for one by one \
        and need no data but their own. Datasets are looked for in the folder of --data under the \
        names of their scenes; theirs can be thrown away when they are done.\n\n\
        Example:\n  drapery reproduce stable-spaces --scale small --out stable-spaces\n  \
        drapery reproduce stable-spaces --scale full --only garment-skirt-1 --out garments\n"
    )]
    StableSpaces(StableSpacesPlan),
}

#[derive(Debug, ClapArgs, Serialize)]
pub(crate) struct StableSpacesPlan {
    /// On how much data
    #[arg(long, value_enum, default_value_t = Scale::Small)]
    pub(crate) scale: Scale,
    /// Another scene than that of the scale: a file, or a built-in name
    #[arg(long, value_name = "SCENE")]
    pub(crate) scene: Option<PathBuf>,
    /// Folder for tables and cells; made if it is not there
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// Folder for simulated data; FOLDER/data if not given
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Take the dataset of Tables 2 and 3 as it is: what is missing of it is not simulated
    #[arg(long)]
    pub(crate) as_is: bool,
    /// Now only this cell, such as c-2-64: model C of order 2 in 64 dimensions, or c-2-64-paper:
    /// the same by least squares alone, as in the paper, or this part, such as table-1 (may be
    /// given several times)
    #[arg(long, value_name = "CELL")]
    pub(crate) only: Vec<String>,
    /// Threads; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[serde(skip)]
    pub(crate) threads: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scale {
    /// A few clips, in minutes
    Small,
    /// The paper's numbers of clips, stops and frames, in hours
    Full,
}

impl Scale {
    /// The scene that it is simulated from.
    pub(crate) const fn scene(self) -> &'static str {
        match self {
            Self::Small => "stable-spaces-small",
            Self::Full => "stable-spaces-dress",
        }
    }
}
