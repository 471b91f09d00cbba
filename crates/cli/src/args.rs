//! The arguments of every command, as they are typed.

mod bench;
mod dataset;
mod eval;
mod reproduce;
mod train;
mod view;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use drapery::scene::garment::Size;
use drapery::scene::motion::{Axis, LengthUnit};
use drapery::sim::textbook::Test;
use serde::Serialize;

pub(crate) use bench::{Bench, CrowdBench, SimulateBench, SimulateScene, WalkBench, WearBench};
pub(crate) use dataset::{Dataset, Import, Simulate, SplitName};
pub(crate) use eval::Eval;
pub(crate) use reproduce::{Reproduce, Scale, StableSpacesPlan};
pub(crate) use train::{
    FittedTo, LinearPlan, Space, StableBy, StableSpacePlan, StableVariant, Train,
};
pub(crate) use view::View;

/// What the command line says. A negative number is a value of the option before it,
/// which says what it takes.
pub(crate) fn parse() -> Args {
    let mut matches = with_negative_numbers(Args::command()).get_matches();
    Args::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| error.exit())
}

fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| match arg.get_action().takes_values() {
            true => arg.allow_negative_numbers(true),
            false => arg,
        })
        .mut_subcommands(with_negative_numbers)
}

/// Turns cloth simulation into clothing that runs in real time.
#[derive(Debug, Parser)]
#[command(
    name = "drapery",
    version,
    after_help = "Example:\n  drapery demo --quick --out out\n"
)]
pub(crate) struct Args {
    /// One JSON object a line on stdout: {"type": …, "data": {…}}
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No remarks and no progress on stderr, only errors
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The whole road on built-ins that need no file: GLB, contact sheet, page
    Demo(Demo),
    /// Look at a character, or check it
    #[command(
        subcommand,
        after_help = "Example:\n  drapery character check mannequin\n"
    )]
    Character(Character),
    /// Look at a garment, or check it
    #[command(
        subcommand,
        after_help = "Example:\n  drapery garment check t-shirt --on mannequin\n"
    )]
    Garment(Garment),
    /// Look at a motion, or edit it
    #[command(subcommand, after_help = "Example:\n  drapery motion info walk\n")]
    Motion(Motion),
    /// Animate a garment on a character and write it to a file
    Animate(Animate),
    /// Simulate every clip of a scene on every body shape into a dataset
    Simulate(Simulate),
    /// Look at a dataset, check it, take sequences out of it, move clips between splits
    #[command(
        subcommand,
        after_help = "Example:\n  drapery dataset info out/dress\n"
    )]
    Dataset(Dataset),
    /// How far models and baselines are from the simulation, on clips they never saw
    Eval(Eval),
    /// Train a method on a dataset
    #[command(
        subcommand,
        after_help = "Example:\n  drapery train stable-space out/dress --out dress.drapery\n"
    )]
    Train(Train),
    /// The tables of a paper on our data, our number beside theirs
    #[command(
        subcommand,
        after_help = "Example:\n  drapery reproduce stable-spaces --scale small --out stable-spaces\n"
    )]
    Reproduce(Reproduce),
    /// PNG of a character, a garment, a clip or an animation, without a display
    Picture(Picture),
    /// A dataset and models of its garments in the browser, side by side
    View(View),
    /// Cloth against the textbook; exit code 1 if a case misses its limit
    Validate(Validate),
    /// Named speed measurements
    #[command(subcommand, after_help = "Example:\n  drapery bench walk --frames 8\n")]
    Bench(Bench),
    /// What is built in, or what a file is
    Info(Info),
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  drapery info tube\n")]
pub(crate) struct Info {
    /// Built-in name or file; without one, what is built in
    pub(crate) name: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "A dress is skinned; then another is simulated, models learn from it and are compared with it, by \
    commands that are printed as they are run. What is there already is not simulated again. --quick \
    leaves all but the dress out.\n\n\
    Example:\n  drapery demo --quick --out out\n"
)]
pub(crate) struct Demo {
    /// Folder for the results; made if it is not there
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// The skinned dress alone, in seconds
    #[arg(long)]
    pub(crate) quick: bool,
    /// At most so many frames of each clip that is learned from, 6 or more
    #[arg(long, value_name = "N", conflicts_with = "quick",
          value_parser = clap::value_parser!(u32).range(6..=1_000_000))]
    pub(crate) frames: Option<u32>,
    /// End with the viewer, until Ctrl-C
    #[arg(long, conflicts_with = "quick")]
    pub(crate) view: bool,
    /// Port of the viewer; 0 takes a free one
    #[arg(
        long,
        default_value_t = 8477,
        value_name = "PORT",
        requires = "view",
        conflicts_with = "quick"
    )]
    pub(crate) port: u16,
}

/// A body of a certain shape.
#[derive(Clone, Debug, Default, ClapArgs, Serialize)]
pub(crate) struct Shape {
    /// Body shape, such as height=1.5 (may be given several times)
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub(crate) shape: Vec<String>,
}

/// How a motion is read and put on a character.
#[derive(Clone, Debug, Default, ClapArgs, Serialize)]
pub(crate) struct MotionReading {
    /// Which animation of a glTF file, by name; the first one if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) animation: Option<String>,
    /// Unit of a BVH file; found from the skeleton's height if not given
    #[arg(long, value_enum)]
    pub(crate) unit: Option<Unit>,
    /// Which way is up in a BVH file; found if not given
    #[arg(long, value_enum)]
    pub(crate) up: Option<Up>,
    /// What a BVH file's joints are at rest: its first row or its offsets
    #[arg(long, value_enum, default_value_t = Calibration::Detect)]
    pub(crate) calibration: Calibration,
    /// Turn the arms outwards by so many degrees when retargeting
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, allow_hyphen_values = true,
          value_parser = within(-90.0..=90.0))]
    pub(crate) arm_abduction_deg: f64,
    /// Leave the height of the root as retargeting finds it
    #[arg(long)]
    pub(crate) no_ground: bool,
    /// Mend what jumps in a captured motion and level its floor, by a few centimetres at
    /// most; see motion info
    #[arg(long)]
    pub(crate) clean: bool,
    /// Turn joints, by as little as does it, so that hands, arms and thighs do not sink into
    /// the body
    #[arg(long)]
    pub(crate) part_limbs: bool,
    /// Joint table of your own: a text file of lines "target = source"
    #[arg(long, value_name = "FILE")]
    pub(crate) joint_map: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Calibration {
    #[default]
    /// The first row if it is a T-pose, otherwise the offsets
    Detect,
    /// The first row, which is no part of the motion
    FirstRow,
    /// The offsets of the hierarchy
    Offsets,
}

/// How the texture coordinates of a garment are read.
#[derive(Clone, Copy, Debug, Default, ClapArgs, Serialize)]
pub(crate) struct PatternReading {
    /// What the vt of an OBJ garment are
    #[arg(long, value_enum, default_value_t = PatternUse::Detect)]
    pub(crate) pattern: PatternUse,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PatternUse {
    #[default]
    /// A flat pattern if their lengths fit the mesh, otherwise nothing
    Detect,
    /// A flat pattern in metres
    Flat,
    /// Nothing: the mesh is its own rest shape
    None,
}

/// Units of motion files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// Metres
    M,
    /// Decimetres
    Dm,
    /// Centimetres
    Cm,
    /// Millimetres
    Mm,
    /// Inches
    In,
    /// Feet
    Ft,
    /// 1/0.45 inch, as in the CMU database
    Cmu,
}

impl Unit {
    pub(crate) const fn length(self) -> LengthUnit {
        match self {
            Self::M => LengthUnit::Metre,
            Self::Dm => LengthUnit::Decimetre,
            Self::Cm => LengthUnit::Centimetre,
            Self::Mm => LengthUnit::Millimetre,
            Self::In => LengthUnit::Inch,
            Self::Ft => LengthUnit::Foot,
            Self::Cmu => LengthUnit::Cmu,
        }
    }
}

impl Up {
    pub(crate) const fn axis(self) -> Axis {
        match self {
            Self::Y => Axis::PlusY,
            Self::Z => Axis::PlusZ,
            Self::X => Axis::PlusX,
        }
    }
}

/// Up axes of motion files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Up {
    /// +Y
    Y,
    /// +Z
    Z,
    /// +X
    X,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Character {
    /// Vertices, triangles, joints, shape parameters, and whether it is closed
    #[command(after_help = "Example:\n  drapery character info tube\n")]
    Info {
        /// Built-in name, or a .glb, .gltf or SMPL-layout .npz file
        character: String,
        #[command(flatten)]
        shape: Shape,
    },
    /// What is wrong with it, if anything; exit code 1 if something is
    #[command(after_help = "Example:\n  drapery character check tube --motion bend\n")]
    Check {
        /// Built-in name, or a .glb, .gltf or SMPL-layout .npz file
        character: String,
        #[command(flatten)]
        shape: Shape,
        /// Motion to look for frames in which the body intersects itself
        #[arg(long, short, value_name = "MOTION")]
        motion: Vec<String>,
        #[command(flatten)]
        reading: MotionReading,
        /// Look also at every shape parameter at its ends, at every pair of them
        /// and at N random shapes, for bodies that intersect themselves at rest
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
        shapes: Option<u32>,
        /// Which random shapes
        #[arg(long, value_name = "N", default_value_t = 1, requires = "shapes")]
        seed: u64,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Garment {
    /// Vertices, triangles, panels, pins and size
    #[command(after_help = "Example:\n  drapery garment info sleeve\n")]
    Info {
        /// Built-in name, or an .obj file
        garment: String,
        #[command(flatten)]
        pattern: PatternReading,
    },
    /// What is wrong with it, if anything; exit code 1 if something is
    #[command(after_help = "Example:\n  drapery garment check sleeve --on tube\n")]
    Check {
        /// Built-in name, or an .obj file (several: from the skin outwards)
        #[arg(required = true)]
        garment: Vec<String>,
        #[command(flatten)]
        pattern: PatternReading,
        /// The character that wears it
        #[arg(long, value_name = "CHARACTER")]
        on: Option<String>,
        #[command(flatten)]
        shape: Shape,
        /// The file lies on the body of that shape, not on the body of shape 0
        #[arg(long, requires = "on")]
        fitted: bool,
        /// Motion over which the skinning must stay well-conditioned
        #[arg(long, short, value_name = "MOTION", requires = "on")]
        motion: Vec<String>,
        #[command(flatten)]
        reading: MotionReading,
    },
    /// Draft a garment for a body, as an .obj file with its flat pattern
    #[command(
        after_help = "Example:\n  drapery garment draft skirt -c mannequin --size L --out skirt.obj\n"
    )]
    Draft(DraftPlan),
    /// The constants of a fabric, its bending length on a strip and its drape on Cusick's meter
    #[command(after_help = "Example:\n  drapery garment fabric cotton-plain\n")]
    Fabric(FabricPlan),
}

#[derive(Debug, ClapArgs, Serialize)]
pub(crate) struct DraftPlan {
    /// Name of the pattern, such as t-shirt or skirt
    pub(crate) garment: String,
    /// Who it is for: built-in name, or a .glb, .gltf or SMPL-layout .npz file
    #[arg(long, short, value_name = "CHARACTER")]
    pub(crate) character: String,
    #[command(flatten)]
    pub(crate) shape: Shape,
    /// About how many triangles
    #[arg(long, value_name = "N", default_value_t = 6000,
          value_parser = clap::value_parser!(u32).range(150..=100_000))]
    pub(crate) triangles: u32,
    /// How wide it is
    #[arg(long, value_enum, default_value_t = GarmentSize::M, ignore_case = true)]
    pub(crate) size: GarmentSize,
    /// Added to every girth instead of a size
    #[arg(long, value_name = "CM", allow_hyphen_values = true, conflicts_with = "size",
          value_parser = within32(-3.0..=30.0))]
    pub(crate) ease_cm: Option<f32>,
    /// OBJ file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GarmentSize {
    /// Close: 2 cm less around
    S,
    /// As it is meant
    M,
    /// Loose: 4 cm more around
    L,
    /// Wide: 8 cm more around
    Xl,
}

impl GarmentSize {
    pub(crate) const fn size(self) -> Size {
        match self {
            Self::S => Size::S,
            Self::M => Size::M,
            Self::L => Size::L,
            Self::Xl => Size::Xl,
        }
    }
}

#[derive(Debug, ClapArgs, Serialize)]
pub(crate) struct FabricPlan {
    /// Built-in name, a .toml file or an ARCSim material .json; without one,
    /// what is built in
    #[arg(conflicts_with = "list")]
    pub(crate) fabric: Vec<String>,
    /// What is built in
    #[arg(long)]
    pub(crate) list: bool,
    /// Write it to a .toml file
    #[arg(long, value_name = "FILE", requires = "fabric")]
    pub(crate) out: Option<PathBuf>,
    /// Only its constants: nothing is measured
    #[arg(long, conflicts_with_all = ["list", "picture"])]
    pub(crate) constants: bool,
    /// PNG file for a sheet of a strip, a draped disc and a hanging cloth of
    /// each; without a fabric, of all that are built in
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Cells along a side of the hanging cloth, 60 if not given; the others are as fine. The drape
    /// coefficient then is that of so coarse a cloth
    #[arg(long, value_name = "N", conflicts_with_all = ["list", "constants"],
          value_parser = clap::value_parser!(u32).range(12..=200))]
    pub(crate) cells: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Motion {
    /// Frames, rate, joints, unit and up axis, how feet stand, and what --clean would do
    #[command(after_help = "Example:\n  drapery motion info bend\n")]
    Info {
        /// Built-in name, or a .bvh, .npz (AMASS or ours), .glb or .gltf file
        motion: String,
        #[command(flatten)]
        reading: MotionReading,
    },
    /// Clean, trim, change speed, stop, mirror, retarget, join or resample, in that order
    #[command(
        after_help = "Example:\n  drapery motion edit bend --trim 0..45 --speed 2 --out fast.bvh\n"
    )]
    Edit(MotionEdit),
}

#[derive(Debug, ClapArgs, Serialize)]
pub(crate) struct MotionEdit {
    /// Built-in name, or a .bvh, .npz (AMASS or ours), .glb or .gltf file
    pub(crate) motion: String,
    #[command(flatten)]
    pub(crate) reading: MotionReading,
    /// Keep frames A to B, B not included
    #[arg(long, value_name = "A..B")]
    pub(crate) trim: Option<String>,
    /// Play so many times as fast
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, value_parser = within(0.01..=100.0))]
    pub(crate) speed: Option<f64>,
    /// Come to rest at a frame
    #[arg(long, value_name = "FRAME")]
    pub(crate) stop_at: Option<u32>,
    /// Stay at rest for so long
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, requires = "stop_at",
          value_parser = within(0.0..=3600.0))]
    pub(crate) hold_secs: f64,
    /// Take so long to come to rest
    #[arg(long, value_name = "SECONDS", default_value_t = 0.2, requires = "stop_at",
          value_parser = within(0.0..=60.0))]
    pub(crate) ease_secs: f64,
    /// Go on after the stop
    #[arg(long, requires = "stop_at")]
    pub(crate) go_on: bool,
    /// Exchange left and right
    #[arg(long)]
    pub(crate) mirror: bool,
    /// Go over into this motion at the end
    #[arg(long, value_name = "MOTION")]
    pub(crate) then: Option<String>,
    /// Over so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.4, requires = "then",
          value_parser = within(0.0..=60.0))]
    pub(crate) overlap_secs: f64,
    /// Put the motion on this character's skeleton
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) to: Option<String>,
    /// Frames a second of the result
    #[arg(long, value_name = "HZ")]
    pub(crate) resample: Option<f64>,
    /// File to write: .bvh or .npz
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// A dressed character in motion.
#[derive(Clone, Debug, Default, ClapArgs, Serialize)]
pub(crate) struct Dressed {
    /// Built-in name, or a .glb, .gltf or SMPL-layout .npz file
    #[arg(long, short, value_name = "CHARACTER")]
    pub(crate) character: Option<String>,
    #[command(flatten)]
    pub(crate) shape: Shape,
    /// Built-in name, or an .obj file; several times for layers, from the skin outwards
    #[arg(long, short, value_name = "GARMENT")]
    pub(crate) garment: Vec<String>,
    #[command(flatten)]
    pub(crate) pattern: PatternReading,
    /// Built-in name, or a .bvh, .npz, .glb or .gltf file
    #[arg(long, short, value_name = "MOTION")]
    pub(crate) motion: Option<String>,
    #[command(flatten)]
    pub(crate) reading: MotionReading,
    /// Only frames A to B of the motion, B not included; other options keep counting from A
    #[arg(long, value_name = "A..B", requires = "motion")]
    pub(crate) frames: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Formats, by the ending of --out:\n  \
    .glb   body and garment, opens in Blender and viewers\n  \
    .usda .usd   the same as USD text\n  \
    .abc   the same as an Alembic archive, both baked\n  \
    .pc2 .mdd   point cache of the garment, vertex order as in its file\n  \
    .npz   arrays of everything\n  \
    .obj   one file a frame: sleeve.obj becomes sleeve_0000.obj, …\n\n\
    Example, after drapery train:\n  \
    drapery animate --model dress.drapery -c mannequin -m walk --out dress.glb\n  \
    drapery animate --model shirt.drapery --model skirt.drapery -c mannequin -m walk --out both.glb\n\n\
    Examples:\n  drapery animate simulation -c mannequin -g skirt -g poncho --fabric cotton-plain \
    --fabric wool-worsted -m walk --frames 0..30 --out layers.glb\n  \
    drapery animate skinning -c tube -g sleeve -m bend --out sleeve.glb\n")]
pub(crate) struct Animate {
    /// How the garment moves
    #[arg(value_enum, required_unless_present = "model")]
    pub(crate) method: Option<Method>,
    /// Model that drapery train wrote, which has its garment with it; several from the skin
    /// outwards
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["method", "garment", "fabric"])]
    pub(crate) model: Vec<PathBuf>,
    /// Leave what a model puts inside the body, or inside a garment beneath, where it is
    #[arg(long, requires = "model")]
    pub(crate) no_correct: bool,
    /// For .glb: the shapes of a stable-space model with their weights over time, instead of a
    /// shape a frame; small, and weights can be edited, but nothing is pushed out of the body
    #[arg(long, requires = "model")]
    pub(crate) blend_shapes: bool,
    #[command(flatten)]
    pub(crate) cloth: ClothsOf,
    #[command(flatten)]
    pub(crate) dressed: Dressed,
    /// File to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Method {
    /// The garment follows the joints as the body does
    Skinning,
    /// The garment is simulated on the moving body
    Simulation,
}

impl Method {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Skinning => "skinning",
            Self::Simulation => "simulation",
        }
    }
}

/// What each simulated garment is made of.
#[derive(Clone, Debug, ClapArgs, Serialize)]
pub(crate) struct ClothsOf {
    /// For simulation: built-in fabric, a .toml file or an ARCSim material .json; once for all
    /// garments, or once for each in their order [default: what each is usually made of]
    #[arg(long, value_name = "FABRIC")]
    pub(crate) fabric: Vec<String>,
}

/// What simulated garments are made of.
#[derive(Clone, Debug, ClapArgs, Serialize)]
pub(crate) struct ClothOf {
    /// For simulation: built-in fabric, a .toml file or an ARCSim material .json
    #[arg(long, value_name = "FABRIC", default_value = "cotton-plain")]
    pub(crate) fabric: String,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  drapery picture --method simulation -c mannequin -g t-shirt -g jacket -m walk \
    --frames 0..30 --sheet 6 --out layers.png\n  \
    drapery picture -c tube -g sleeve -m bend --sheet 6 --out sheet.png\n"
)]
pub(crate) struct Picture {
    #[command(flatten)]
    pub(crate) dressed: Dressed,
    /// How the garment moves
    #[arg(long, value_enum, default_value_t = Method::Skinning)]
    pub(crate) method: Method,
    /// Model that drapery train wrote, which has its garment with it; several from the skin
    /// outwards
    #[arg(long, value_name = "MODEL",
          conflicts_with_all = ["method", "garment", "fabric", "bodies"])]
    pub(crate) model: Vec<PathBuf>,
    /// Leave what a model puts inside the body, or inside a garment beneath, where it is
    #[arg(long, requires = "model")]
    pub(crate) no_correct: bool,
    #[command(flatten)]
    pub(crate) cloth: ClothsOf,
    /// The frame of the motion to show; the first one if not given
    #[arg(long, conflicts_with_all = ["sheet", "film"])]
    pub(crate) frame: Option<u32>,
    /// A contact sheet of so many frames, evenly spaced
    #[arg(long, value_name = "N", conflicts_with_all = ["turntable", "film"], requires = "motion",
          value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) sheet: Option<u32>,
    /// A contact sheet of bodies, each of a shape such as male=-1,weight=0.5 or 0 for the mean;
    /// with garments, of each garment on each body, from the front and from behind
    #[arg(long, value_name = "SHAPE", num_args = 1.., allow_hyphen_values = false,
          conflicts_with_all = ["sheet", "turntable", "film", "motion", "frame", "shape", "colour"])]
    pub(crate) bodies: Vec<String>,
    /// A contact sheet of so many views around
    #[arg(long, value_name = "N", conflicts_with = "film",
          value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) turntable: Option<u32>,
    /// An animated PNG of all frames
    #[arg(long, requires = "motion")]
    pub(crate) film: bool,
    /// Colour the garment by a quantity, with a scale
    #[arg(long, value_enum, requires = "garment")]
    pub(crate) colour: Option<ColourBy>,
    /// The quantity at the ends of the scale, below and above 0
    #[arg(long, value_name = "VALUE", default_value_t = 20.0, requires = "colour",
          value_parser = within32(1e-3..=1e6))]
    pub(crate) colour_range: f32,
    /// Where to look from, degrees to the character's left from its front
    #[arg(
        long,
        value_name = "DEGREES",
        default_value_t = 25.0,
        allow_hyphen_values = true,
        value_parser = within32(-360.0..=360.0)
    )]
    pub(crate) azimuth_deg: f32,
    /// Where to look from, degrees above the horizon
    #[arg(
        long,
        value_name = "DEGREES",
        default_value_t = 8.0,
        allow_hyphen_values = true,
        value_parser = within32(-90.0..=90.0)
    )]
    pub(crate) elevation_deg: f32,
    /// Draw the triangles' edges
    #[arg(long)]
    pub(crate) wireframe: bool,
    /// Height of each picture in pixels; pictures on a sheet are 3/4 as wide
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(16..=8192))]
    pub(crate) size: Option<u32>,
    /// PNG file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ColourBy {
    /// Edge strain against the rest shape [%]
    Stretch,
    /// Distance from the body, negative inside [mm]
    Distance,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  drapery validate --quick --only hanging-strip\n")]
pub(crate) struct Validate {
    /// Every test at a few settings, in seconds
    #[arg(long)]
    pub(crate) quick: bool,
    /// One test alone
    #[arg(long, value_name = "TEST", value_parser = one_test())]
    pub(crate) only: Option<Test>,
    /// One scene of random-scenes alone, by its seed
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Experiments that run at once; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// A parser of the names of tests.
fn one_test() -> impl TypedValueParser<Value = Test> {
    PossibleValuesParser::new(Test::ALL.map(Test::name))
        .map(|name| Test::named(&name).expect("one of the possible names"))
}

/// A parser of numbers within a range.
fn within(range: std::ops::RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let number: f64 = text
            .parse()
            .map_err(|_| format!("{text} is not a number"))?;
        if range.contains(&number) {
            Ok(number)
        } else {
            Err(format!(
                "{text} is not between {} and {}",
                range.start(),
                range.end()
            ))
        }
    }
}

/// The same in single precision.
fn within32(range: std::ops::RangeInclusive<f64>) -> impl Fn(&str) -> Result<f32, String> + Clone {
    let wide = within(range);
    move |text| wide(text).map(|number| number as f32)
}
