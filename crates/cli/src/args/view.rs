//! The arguments of `view`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::MotionReading;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The page shows a clip in panes side by side: the simulation, the garment skinned, and each \
    model. Without a dataset it shows models on a --character. It is served to this machine alone; \
    --bind serves it to others, who can then see all of it. Ctrl-C ends it.\n\n\
    Example, with the scene.toml of drapery simulate --help:\n  \
    drapery simulate scene.toml --frames 20 --out tube\n  \
    drapery view tube\n\n\
    Models on a character that moves as it never did in training:\n  \
    drapery view dress.drapery -c mannequin -m walk -m own.bvh\n"
)]
pub(crate) struct View {
    /// The folder of a dataset, and trained models, .drapery files
    #[arg(required = true, value_name = "DATASET|MODEL")]
    pub(crate) what: Vec<PathBuf>,
    /// Built-in name, or a .glb, .gltf or SMPL-layout .npz file; where there is no dataset
    #[arg(long, short, value_name = "CHARACTER")]
    pub(crate) character: Option<String>,
    /// Further clips: built-in name, or a .bvh, .npz, .glb or .gltf file (several times)
    #[arg(long, short, value_name = "MOTION")]
    pub(crate) motion: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: MotionReading,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 8477, value_name = "PORT")]
    pub(crate) port: u16,
    /// Address to listen on; others than loopback can be reached by other machines
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub(crate) bind: IpAddr,
}
