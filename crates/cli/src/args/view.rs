//! The arguments of `view`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The page shows a clip of the dataset in panes side by side: the simulation, the garment skinned, \
    and each model. It is served to this machine alone; --bind serves it to others, who can then see \
    all of the dataset. Ctrl-C ends it.\n\n\
    Example, with the scene.toml of drapery simulate --help:\n  \
    drapery simulate scene.toml --frames 3 --out tube\n  \
    drapery view tube\n"
)]
pub(crate) struct View {
    /// Folder of the dataset to look at
    pub(crate) dataset: PathBuf,
    /// Trained models of its garments, .drapery files
    pub(crate) model: Vec<PathBuf>,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 8477, value_name = "PORT")]
    pub(crate) port: u16,
    /// Address to listen on; others than loopback can be reached by other machines
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub(crate) bind: IpAddr,
}
