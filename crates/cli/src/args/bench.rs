//! The arguments of `bench`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use serde::Serialize;

use super::{ClothOf, Method, MotionReading, PatternReading, Shape, within};

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  drapery bench simulate --scene hang --n 33\n")]
pub(crate) struct SimulateBench {
    /// What the cloth does
    #[arg(long, value_enum, default_value_t = SimulateScene::Hang)]
    pub(crate) scene: SimulateScene,
    /// Vertices along each side
    #[arg(long, default_value_t = 66, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) n: u32,
    /// Frames, 30 a second; 60 if not given, and 180 to fold
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) frames: Option<u32>,
    /// Fabric; built-in name or file, made alike along warp and weft
    #[arg(long, default_value = "cotton-plain")]
    pub(crate) fabric: String,
    /// Weight [kg/m²]
    #[arg(long, value_name = "KG", default_value_t = 0.2, value_parser = within(1e-3..=100.0))]
    pub(crate) density: f64,
    /// Stretch stiffness of warp and weft [N/m]
    #[arg(long, value_name = "N", default_value_t = 500.0, value_parser = within(1e-3..=1e7))]
    pub(crate) stretch: f64,
    /// Keep the cloth from passing through itself
    #[arg(long)]
    pub(crate) self_contact: bool,
    /// Threads; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// PNG file for a picture of the last frame
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SimulateScene {
    /// Hangs by two corners of one edge and swings
    Hang,
    /// Falls flat on a ball
    Drape,
    /// Falls flat on a ball of 20,172 triangles
    DrapeMesh,
    /// A strip of 1 m × 25 cm on a table, folded over itself three times
    Fold,
}

impl SimulateScene {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hang => "hang",
            Self::Drape => "drape",
            Self::DrapeMesh => "drape-mesh",
            Self::Fold => "fold",
        }
    }

    /// How many frames it takes.
    pub(crate) const fn frames(self) -> u32 {
        match self {
            Self::Hang | Self::Drape | Self::DrapeMesh => 60,
            Self::Fold => 180,
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WalkBench {
    /// Who wears it; built-in name or file
    #[arg(long, short, default_value = "mannequin")]
    pub(crate) character: String,
    /// What is worn; built-in name or file
    #[arg(long, short, default_value = "t-shirt")]
    pub(crate) garment: String,
    /// Motion; built-in name or file
    #[arg(long, short, default_value = "walk")]
    pub(crate) motion: String,
    /// Triangles of what is drafted, about: 8700 have about 4,400 vertices
    #[arg(long, default_value_t = 8700, value_parser = clap::value_parser!(u32).range(150..=100_000))]
    pub(crate) triangles: u32,
    /// Frames
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) frames: u32,
    /// Fabric; built-in name or file
    #[arg(long, default_value = "cotton-plain")]
    pub(crate) fabric: String,
    /// Threads; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, ClapArgs, Serialize)]
#[command(
    after_help = "One JSON line a motion and garment is added to --out as soon as it is done; what is there \
    already is left out when the command runs again. The table comes at the end.\n\n\
    Example:\n  drapery bench wear -c tube -g sleeve -m bend --frames 2 --out wear.jsonl\n"
)]
pub(crate) struct WearBench {
    /// Built-in name, or a .glb, .gltf or SMPL-layout .npz file
    #[arg(long, short, value_name = "CHARACTER", default_value = "mannequin")]
    pub(crate) character: String,
    #[command(flatten)]
    pub(crate) shape: Shape,
    /// Built-in names, or .obj files; each is worn alone
    #[arg(long, short, value_name = "GARMENT", num_args = 1.., required = true)]
    #[serde(skip)]
    pub(crate) garment: Vec<String>,
    #[command(flatten)]
    pub(crate) pattern: PatternReading,
    /// Built-in names, or .bvh, .npz, .glb or .gltf files
    #[arg(long, short, value_name = "MOTION", num_args = 1.., required = true)]
    #[serde(skip)]
    pub(crate) motion: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: MotionReading,
    /// CSV file with columns "file" and "arm_abduction_deg": how far the arms are turned outwards
    /// in each motion
    #[arg(long, value_name = "FILE", conflicts_with = "arm_abduction_deg")]
    pub(crate) manifest: Option<PathBuf>,
    /// At most so many frames of each motion, from the first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) frames: Option<u32>,
    /// How the garment moves
    #[arg(long, value_enum, default_value_t = Method::Simulation)]
    pub(crate) method: Method,
    #[command(flatten)]
    pub(crate) cloth: ClothOf,
    /// Run again what failed
    #[arg(long)]
    #[serde(skip)]
    pub(crate) retry: bool,
    /// Threads; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[serde(skip)]
    pub(crate) threads: Option<u16>,
    /// How many motions run at once and share the threads; all threads have one of their own if
    /// not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[serde(skip)]
    pub(crate) at_once: Option<u16>,
    /// File of JSON lines to write, or to go on with
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without --model a stand-in of the given size is stepped: it knows the poses of the motion \
    and does all that a trained model does, but what it animates was not learned. Every character is at a \
    place and phase of its own. With --python the same products are timed in NumPy and, where it is there, \
    PyTorch, on the same numbers of threads and in the same run.\n\n\
    Example:\n  drapery bench crowd --vertices 100 --dims 8 --count 50 --seconds 0.1\n"
)]
pub(crate) struct CrowdBench {
    /// Who wears it; built-in name or file
    #[arg(long, short, default_value = "mannequin")]
    pub(crate) character: String,
    /// What is worn: dress, or another that can be drafted
    #[arg(long, short, default_value = "dress")]
    pub(crate) garment: String,
    /// Vertices of the garment
    #[arg(long, default_value_t = 766, value_parser = clap::value_parser!(u32).range(20..=40_000))]
    pub(crate) vertices: u32,
    /// Dimensions of cloth and body
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=512))]
    pub(crate) dims: u32,
    /// Characters
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=200_000))]
    pub(crate) count: u32,
    /// Motion; built-in name or file
    #[arg(long, short, default_value = "walk")]
    pub(crate) motion: String,
    /// Trained model of stable-space to step instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["garment", "vertices", "dims"])]
    pub(crate) model: Option<PathBuf>,
    /// Numbers of threads, one measurement each
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_values_t = [1u16, 2],
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub(crate) threads: Vec<u16>,
    /// How long each measurement takes [s]
    #[arg(long, value_name = "S", default_value_t = 4.0, value_parser = within(0.01..=3600.0))]
    pub(crate) seconds: f64,
    /// A Python with NumPy, and PyTorch, to measure beside
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Garments a second of a whole crowd, stepped in one call
    Crowd(CrowdBench),
    /// Seconds for a picture of 1024 × 1024 of a dressed character
    #[command(after_help = "Example:\n  drapery bench picture --runs 3\n")]
    Picture {
        /// Character; built-in name or file
        #[arg(long, short, default_value = "tube")]
        character: String,
        /// Garment; built-in name or file
        #[arg(long, short, default_value = "sleeve")]
        garment: String,
        /// Measurements, of which the median counts
        #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        runs: u32,
    },
    /// Seconds a frame of simulated cloth of 1 m × 1 m
    Simulate(SimulateBench),
    /// Seconds a frame of a garment simulated on a body that moves
    #[command(after_help = "Example:\n  drapery bench walk --garment skirt --frames 10\n")]
    Walk(WalkBench),
    /// Vertices skinned a second on one core
    #[command(after_help = "Example:\n  drapery bench skinning\n")]
    Skinning {
        /// Body to skin; built-in name or file
        #[arg(long, short, default_value = "tube")]
        character: String,
        /// Garment to skin beside it; built-in name or file
        #[arg(long, short, default_value = "sleeve")]
        garment: String,
        /// Measurements, of which the median counts
        #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        runs: u32,
    },
    /// How well garments are worn through motions: penetration, stretch, speed, failures
    Wear(WearBench),
}
