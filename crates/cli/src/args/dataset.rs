//! The arguments of `simulate` and `dataset`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use serde::Serialize;

use super::{ClothsOf, PatternReading, Shape, Unit, Up, within};

#[derive(Debug, ClapArgs, Serialize)]
#[command(
    after_help = "A scene file names a character, garments and clips (docs/formats.md); the data \
    sets of the four papers are built in, in full and as NAME-small, which takes minutes. What is \
    interrupted or killed goes on where it was when the command runs again. Beside the dataset lie \
    its .run.json, .times.jsonl and .report.html.\n\n\
    Example, with this in scene.toml:\n  \
    [character]\n  model = \"tube\"\n  \
    [[garment]]\n  pattern = \"sleeve\"\n  \
    [motion]\n  clips = [\"bend\", \"twist\"]\n  test = [\"twist\"]\n\n  \
    drapery simulate scene.toml --frames 20 --out tube\n  \
    drapery simulate adaptive-bases-sleeve --frames 3 --only bend --out sleeve\n"
)]
pub(crate) struct Simulate {
    /// Scene file, or the name of a built-in scene (drapery info lists them)
    pub(crate) scene: PathBuf,
    /// Folder of the dataset to make, or to go on with
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// At most so many frames of each sequence, from the first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) frames: Option<u32>,
    /// Now only this clip with its copies, or this sequence (may be given several times)
    #[arg(long, value_name = "CLIP")]
    pub(crate) only: Vec<String>,
    /// Try again what failed
    #[arg(long)]
    pub(crate) retry: bool,
    /// Simulate garments that the fit check finds errors in
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Threads; as many as there are cores if not given. Each has a sequence of its own while
    /// there are enough of them; the result is the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[serde(skip)]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Dataset {
    /// What it holds, and what is missing or failed
    #[command(
        after_help = "Example, after that of drapery simulate --help:\n  drapery dataset info tube\n"
    )]
    Info {
        /// Folder of a dataset
        dataset: PathBuf,
    },
    /// Every byte and every value, and how garments were worn; exit code 1 if something is wrong
    #[command(
        after_help = "Example, after that of drapery simulate --help:\n  drapery dataset check tube\n"
    )]
    Check {
        /// Folder of a dataset
        dataset: PathBuf,
        /// Only this clip with its copies, or this sequence (may be given several times)
        #[arg(long, value_name = "CLIP")]
        only: Vec<String>,
        /// Only bytes and values: nothing is measured
        #[arg(long)]
        bytes: bool,
        /// The deepest that cloth may be inside the body, where that is not in itself
        #[arg(long, value_name = "MM", default_value_t = 10.0, value_parser = within(0.0..=1e4))]
        max_penetration_mm: f64,
        /// The most that 99 of 100 edges of a garment may be stretched in any frame: woven cloth
        /// tears at 10 to 30 percent
        #[arg(long, value_name = "PERCENT", default_value_t = 30.0, value_parser = within(0.0..=1e6))]
        max_stretch: f64,
        /// The most frames of a sequence in which garments may pass through one another
        #[arg(long, value_name = "FRAMES", default_value_t = 0)]
        max_layer_crossings: u32,
        /// Threads; as many as there are cores if not given
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
        threads: Option<u16>,
    },
    /// Write a sequence to a file: .glb, .usda, .usd, .abc, .npz, .pc2, .mdd or .obj
    #[command(
        after_help = "Example, after that of drapery simulate --help:\n  drapery dataset export tube bend@mean --out bend.pc2\n"
    )]
    Export {
        /// Folder of a dataset
        dataset: PathBuf,
        /// Which sequence
        sequence: String,
        /// Which garment, for files that hold one; the first if not given
        #[arg(long, value_name = "GARMENT")]
        garment: Option<String>,
        /// Keep frames A to B, B not included
        #[arg(long, value_name = "A..B")]
        frames: Option<String>,
        /// File to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Add a sequence that another program simulated
    Import(Import),
    /// The clips of each split; or move clips, with their copies, to another
    #[command(
        after_help = "Examples, after that of drapery simulate --help:\n  drapery dataset split tube\n  \
        drapery dataset split tube --tune bend\n"
    )]
    Split {
        /// Folder of a dataset
        dataset: PathBuf,
        /// Clip that trains (may be given several times)
        #[arg(long, value_name = "CLIP")]
        train: Vec<String>,
        /// Clip that chooses settings
        #[arg(long, value_name = "CLIP")]
        tune: Vec<String>,
        /// Clip to be tested on
        #[arg(long, value_name = "CLIP")]
        test: Vec<String>,
    },
}

#[derive(Debug, ClapArgs, Serialize)]
#[command(
    after_help = "The character, the meshes of its garments (metres, +Y up), the motion and the moving cloth become \
    one sequence of a dataset, which is made or added to. What is there already is left as it is.\n\n\
    Example:\n  drapery animate skinning -c tube -g sleeve -m bend --out bend.pc2\n  \
    drapery dataset import --out imported -c tube -g sleeve -m bend --cloth bend.pc2\n  \
    drapery dataset check imported\n"
)]
pub(crate) struct Import {
    /// Folder of the dataset to make, or to add to
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// Built-in name, or a .glb, .gltf or SMPL-layout .npz file
    #[arg(long, short, value_name = "CHARACTER")]
    pub(crate) character: String,
    /// There is no body: CHARACTER is an .npz file with a skeleton (J, kintree_table) and the
    /// skinning weights of the garments (weights)
    #[arg(long)]
    pub(crate) no_body: bool,
    #[command(flatten)]
    pub(crate) shape: Shape,
    /// Built-in name, or an .obj file (several: from the skin outwards)
    #[arg(long, short, value_name = "GARMENT", required = true)]
    pub(crate) garment: Vec<String>,
    #[command(flatten)]
    pub(crate) pattern: PatternReading,
    #[command(flatten)]
    pub(crate) fabric: ClothsOf,
    /// Moving cloth: .pc2, .mdd, .npz, a folder of .obj files or "name_*.obj"; one for each garment,
    /// or one .npz for all
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) cloth: Vec<PathBuf>,
    /// Built-in name, or a .bvh, .npz, .glb or .gltf file; not needed for cloth in an .npz that has
    /// poses
    #[arg(long, short, value_name = "MOTION")]
    pub(crate) motion: Option<String>,
    /// Unit of the cloth, and of poses beside it
    #[arg(long, value_enum, default_value_t = Unit::M)]
    pub(crate) unit: Unit,
    /// Which way is up in the cloth, and in poses beside it; z is Blender's
    #[arg(long, value_enum, default_value_t = Up::Y)]
    pub(crate) up: Up,
    /// Frames of the cloth to take, B not included; all if not given
    #[arg(long, value_name = "A..B")]
    pub(crate) cloth_frames: Option<String>,
    /// Frames of the motion that those show; all if not given
    #[arg(long, value_name = "A..B")]
    pub(crate) motion_frames: Option<String>,
    /// Frame rate of the cloth, for files that don't say; that of the motion if not given
    #[arg(long, value_name = "HZ", value_parser = within(1.0..=1000.0))]
    pub(crate) frame_rate: Option<f64>,
    /// What the clip is called; as the motion or the file if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) clip: Option<String>,
    /// What it is for
    #[arg(long, value_enum, default_value_t = SplitName::Train)]
    pub(crate) split: SplitName,
    /// Which animation of a glTF file, by name; the first one if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) animation: Option<String>,
    /// Unit of a BVH motion; found from the skeleton's height if not given
    #[arg(long, value_enum, value_name = "UNIT")]
    pub(crate) motion_unit: Option<Unit>,
    /// Which way is up in a BVH motion; found if not given
    #[arg(long, value_enum, value_name = "UP")]
    pub(crate) motion_up: Option<Up>,
    /// Turn the arms outwards by so many degrees when retargeting
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, allow_hyphen_values = true,
          value_parser = within(-90.0..=90.0))]
    pub(crate) arm_abduction_deg: f64,
    /// Leave the height of the root as retargeting finds it
    #[arg(long)]
    pub(crate) no_ground: bool,
    /// Joint table of your own: a text file of lines "target = source"
    #[arg(long, value_name = "FILE")]
    pub(crate) joint_map: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SplitName {
    /// Trains
    Train,
    /// Chooses settings
    Tune,
    /// Is never trained or tuned on
    Test,
}
