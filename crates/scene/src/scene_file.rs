//! `scene.toml`: a character with its body shapes, its garments and its clips,
//! read and checked before any work starts.
//!
//! ```toml
//! [character]
//! model = "mannequin"              # built in; or body.glb, body.npz (SMPL layout)
//! shapes = [{}, { weight = 1.5 }]  # one entry a body shape; names come from the model
//!
//! [[garment]]                      # from the skin outwards
//! pattern = "skirt"                # built in; or skirt.obj
//! fabric = "cotton-plain"          # built in; or fabric.toml, or an ARCSim material .json
//! edge_length = 0.02               # [m]
//!
//! [motion]
//! clips = ["walk", "run-fast", "../motions/07_02.bvh"]
//! frame_rate = 30
//! tune = ["run-fast"]              # chooses settings; the rest trains
//! test = ["../motions/07_02.bvh"]  # never trained or tuned on
//! stops = 5                        # copies that stop, mirror or change speed
//!
//! [simulation]
//! steps_per_frame = 10
//! ```
//!
//! Files are found from the scene file's folder. [`SceneFile::parse`] checks
//! what can be checked in the text alone, [`Scene::load`] all the rest.
//!
//! ```
//! use std::path::Path;
//!
//! use drapery_scene::scene_file::Scene;
//!
//! let text = r#"
//! character.model = "tube"
//! garment = [{ pattern = "sleeve" }]
//! motion = { clips = ["bend", "twist"], test = ["twist"], stops = 5 }
//! "#;
//! let scene = Scene::parse(text.to_string(), Path::new("."))?;
//! let plan = scene.plan(None)?;
//! assert_eq!(plan.len(), 7);
//! assert_eq!(plan[1].name, "bend~stop15");
//!
//! let typo = Scene::parse(text.replace("clips", "clip"), Path::new("."));
//! assert!(typo.is_err_and(|e| e.to_string().contains("did you mean clips?")));
//! # Ok::<(), drapery_scene::scene_file::SceneError>(())
//! ```

mod copies;
mod error;
mod fit;
mod scene;
mod table;

#[cfg(test)]
mod tests;

use drapery_core::{Fabric, FrameRate};
use drapery_store::dataset::Split;
use toml::de::DeTable;

use crate::garment::Size;
use table::{Item, Table, line};

pub use copies::Copy;
pub use error::{MotionError, SceneError};
pub use fit::FitFinding;
pub use scene::{PlannedClip, Scene, SceneGarment, SceneNote, SceneShape};
pub use table::At;

/// A scene as its file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneFile {
    /// Who wears the garments.
    pub character: CharacterEntry,
    /// What is worn, from the skin outwards.
    pub garments: Vec<GarmentEntry>,
    /// How it moves.
    pub motion: MotionEntry,
    /// How it is simulated.
    pub simulation: SimulationEntry,
}

/// `[character]`.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterEntry {
    /// Built-in name or file.
    pub model: At<String>,
    /// The body shapes: names and values of parameters.
    pub shapes: Vec<At<Vec<(String, f32)>>>,
    /// The shape that the garments lie on, and what is drafted is drafted for.
    pub made_for: At<Vec<(String, f32)>>,
}

/// What a garment is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum FabricEntry {
    /// Built-in name or file.
    Named(At<String>),
    /// Constants in the scene itself.
    Given(Box<Fabric>),
}

/// One `[[garment]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct GarmentEntry {
    /// Built-in name or file.
    pub pattern: At<String>,
    /// What it is called in the dataset; as its pattern if not given.
    pub name: Option<At<String>>,
    /// What it is usually made of if not given.
    pub fabric: Option<FabricEntry>,
    /// About how long edges are [m], of what is drafted.
    pub edge_length: Option<At<f64>>,
    /// About how many triangles it has, instead.
    pub triangles: Option<At<f64>>,
    /// What is added to girths [m], of what is drafted.
    pub ease: Option<At<f64>>,
    /// The garment of the scene that it is the twin of.
    pub twin_of: Option<At<String>>,
}

/// A clip of `[motion]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipEntry {
    /// Built-in name or file.
    pub motion: At<String>,
    /// What it is called; as the built-in or the file if not given.
    pub name: Option<At<String>>,
    /// Which animation of a glTF file.
    pub animation: Option<String>,
    /// How far the arms are turned outwards [rad].
    pub arm_abduction: f64,
    /// Whether jumps are mended and the floor is levelled.
    pub clean: bool,
    /// The frames that are kept, the end left out, at the scene's frame rate.
    pub trim: Option<At<[u32; 2]>>,
    /// Whether left is right, afterwards.
    pub mirror: bool,
    /// How many times as fast it is, afterwards.
    pub speed: f64,
}

/// `[motion]`.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionEntry {
    /// The clips.
    pub clips: Vec<ClipEntry>,
    /// Frames a second of all of them.
    pub frame_rate: FrameRate,
    /// Clips by which settings are chosen.
    pub tune: Vec<At<String>>,
    /// Clips that methods are tested on.
    pub test: Vec<At<String>>,
    /// Whether arms are turned out of what they would sink into.
    pub part_limbs: bool,
    /// The splits whose clips are copied.
    pub copied: Vec<Split>,
    /// At how many places copies stop, evenly.
    pub stops: u32,
    /// How long they stand then [s].
    pub stop_hold: f64,
    /// Over how long they come to rest [s].
    pub stop_ease: f64,
    /// Whether there is a copy with left for right.
    pub mirror: bool,
    /// Speeds of further copies.
    pub speeds: Vec<At<f64>>,
}

/// `[simulation]`; what is not given is as usual.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimulationEntry {
    /// Steps of the simulator in a frame.
    pub steps_per_frame: Option<u32>,
    /// Whether garments are kept from passing through themselves and others.
    pub self_contact: Option<bool>,
    /// How well steps are solved [m/s].
    pub tolerance: Option<f64>,
    /// Friction on skin, as a share of that of each fabric on itself.
    pub skin_friction: Option<f64>,
    /// How long the body takes to get its shape, and its pose [s].
    pub dressing: Option<f64>,
    /// The longest that the cloth is waited for afterwards [s].
    pub settling: Option<f64>,
}

impl SceneFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// When it is not TOML, a key is unknown or missing, or a value is not what
    /// it should be.
    pub fn parse(text: &str) -> Result<Self, SceneError> {
        let document = DeTable::parse(text).map_err(|source| SceneError::Toml {
            line: line(text, source.span().map_or(0, |s| s.start)),
            why: source.message().to_string(),
        })?;
        let root = Table::root(document.get_ref(), text).with_keys(&[
            "character",
            "garment",
            "motion",
            "simulation",
        ])?;
        let garments = root.need("garment")?;
        let entries = garments.list()?;
        if entries.is_empty() {
            return Err(garments.wrong("a list with a garment in it"));
        }
        Ok(Self {
            character: character(&root.need("character")?.table()?)?,
            garments: entries.iter().map(garment).collect::<Result<_, _>>()?,
            motion: motion(&root.need("motion")?.table()?)?,
            simulation: match root.get("simulation") {
                Some(item) => simulation(&item.table()?)?,
                None => SimulationEntry::default(),
            },
        })
    }
}

fn character(table: &Table<'_>) -> Result<CharacterEntry, SceneError> {
    let table = table.clone().with_keys(&["model", "shapes", "made_for"])?;
    let model = table.need("model")?.text()?;
    let mean = |key: &str| At {
        value: Vec::new(),
        key: key.to_string(),
        line: model.line,
    };
    let shapes = match table.get("shapes") {
        None => vec![mean("character.shapes")],
        Some(item) => {
            let shapes = item.list()?;
            if shapes.is_empty() {
                return Err(item.wrong("a list with a shape in it"));
            }
            shapes.iter().map(shape).collect::<Result<_, _>>()?
        }
    };
    let made_for = match table.get("made_for") {
        None => mean("character.made_for"),
        Some(item) => shape(&item)?,
    };
    Ok(CharacterEntry {
        model,
        shapes,
        made_for,
    })
}

/// No body is known that goes this far from its template.
const COEFFICIENT: [f64; 2] = [-100.0, 100.0];

/// Names and values of shape parameters.
fn shape(item: &Item<'_>) -> Result<At<Vec<(String, f32)>>, SceneError> {
    let table = item.table()?;
    let mut shape = Vec::new();
    for (name, value) in table.entries() {
        shape.push((name.to_string(), value.number(COEFFICIENT)?.value as f32));
    }
    Ok(At {
        value: shape,
        key: item.key.clone(),
        line: item.line,
    })
}

fn garment(item: &Item<'_>) -> Result<GarmentEntry, SceneError> {
    let table = item.table()?.with_keys(&[
        "pattern",
        "name",
        "fabric",
        "edge_length",
        "triangles",
        "ease",
        "size",
        "twin_of",
    ])?;
    let text = |key| table.get(key).map(|item| item.text()).transpose();
    let number = |key, range| table.get(key).map(|item| item.number(range)).transpose();
    let edge_length = number("edge_length", [1e-3, 1.0])?;
    let triangles = match table.get("triangles") {
        Some(item) => {
            item.count([150, 100_000])?;
            Some(item.number([150.0, 1e5])?)
        }
        None => None,
    };
    if let (Some(_), Some(triangles)) = (&edge_length, &triangles) {
        return Err(SceneError::Both {
            key: triangles.key.clone(),
            line: triangles.line,
            other: "edge_length",
        });
    }
    let size = text("size")?.map(size).transpose()?;
    let ease = number("ease", [-0.03, 0.3])?;
    if let (Some(ease), Some(_)) = (&ease, &size) {
        return Err(SceneError::Both {
            key: ease.key.clone(),
            line: ease.line,
            other: "size",
        });
    }
    Ok(GarmentEntry {
        pattern: table.need("pattern")?.text()?,
        name: text("name")?,
        fabric: match table.get("fabric") {
            None => None,
            Some(item) if item.is_table() => {
                let name = text("name")?.map_or_else(|| "cloth".to_string(), |name| name.value);
                Some(FabricEntry::Given(Box::new(item.fabric(&name)?)))
            }
            Some(item) => Some(FabricEntry::Named(item.text()?)),
        },
        edge_length,
        triangles,
        ease: ease.or(size),
        twin_of: text("twin_of")?,
    })
}

/// What a size adds to girths [m].
fn size(name: At<String>) -> Result<At<f64>, SceneError> {
    let size = match name.value.to_ascii_uppercase().as_str() {
        "S" => Size::S,
        "M" => Size::M,
        "L" => Size::L,
        "XL" => Size::Xl,
        _ => return Err(name.kind("\"S\", \"M\", \"L\" or \"XL\"")),
    };
    Ok(name.map(|_| f64::from(size.ease())))
}

fn motion(table: &Table<'_>) -> Result<MotionEntry, SceneError> {
    let table = table.clone().with_keys(&[
        "clips",
        "frame_rate",
        "tune",
        "test",
        "copied",
        "stops",
        "stop_hold",
        "stop_ease",
        "mirror",
        "speeds",
        "part_limbs",
        "clean",
    ])?;
    let clips = table.need("clips")?;
    let entries = clips.list()?;
    if entries.is_empty() {
        return Err(clips.wrong("a list with a clip in it"));
    }
    let texts = |key| match table.get(key) {
        Some(item) => item.list()?.iter().map(Item::text).collect(),
        None => Ok(Vec::new()),
    };
    let number = |key, range, usual| match table.get(key) {
        Some(item) => Ok(item.number(range)?.value),
        None => Ok(usual),
    };
    let rate = number("frame_rate", [1.0, 1000.0], FrameRate::THIRTY.hz())?;
    let copied = match table.get("copied") {
        None => vec![Split::Train],
        Some(item) => item.list()?.iter().map(split).collect::<Result<_, _>>()?,
    };
    let speeds = match table.get("speeds") {
        None => Vec::new(),
        Some(item) => {
            let speeds = item.list()?;
            let speeds = speeds.iter().map(|speed| speed.number([0.1, 10.0]));
            speeds.collect::<Result<_, _>>()?
        }
    };
    let is_clean = table.get("clean").map_or(Ok(false), |item| item.truth())?;
    let entries = entries.iter().map(|entry| clip(entry, is_clean));
    Ok(MotionEntry {
        clips: entries.collect::<Result<_, _>>()?,
        frame_rate: FrameRate::new(rate).unwrap_or(FrameRate::THIRTY),
        tune: texts("tune")?,
        test: texts("test")?,
        part_limbs: match table.get("part_limbs") {
            Some(item) => item.truth()?,
            None => false,
        },
        copied,
        stops: match table.get("stops") {
            Some(item) => item.count([0, 100])?,
            None => 0,
        },
        stop_hold: number("stop_hold", [0.0, 60.0], 2.0)?,
        stop_ease: number("stop_ease", [0.0, 10.0], 0.1)?,
        mirror: match table.get("mirror") {
            Some(item) => item.truth()?,
            None => false,
        },
        speeds,
    })
}

fn split(item: &Item<'_>) -> Result<Split, SceneError> {
    let name = item.text()?;
    let unknown = || name.kind("\"train\", \"tune\" or \"test\"");
    Split::named(&name.value).ok_or_else(unknown)
}

/// A text, or a table with one in it; cleaned as all are if it does not say.
fn clip(item: &Item<'_>, is_clean: bool) -> Result<ClipEntry, SceneError> {
    if item.is_text() {
        return Ok(ClipEntry {
            motion: item.text()?,
            name: None,
            animation: None,
            arm_abduction: 0.0,
            clean: is_clean,
            trim: None,
            mirror: false,
            speed: 1.0,
        });
    }
    let table = item.table()?.with_keys(&[
        "motion",
        "name",
        "animation",
        "arm_abduction_deg",
        "clean",
        "trim",
        "mirror",
        "speed",
    ])?;
    let text = |key| table.get(key).map(|item| item.text()).transpose();
    let truth = |key| table.get(key).map_or(Ok(false), |item| item.truth());
    let trim = match table.get("trim") {
        None => None,
        Some(item) => {
            let ends = item.list()?;
            let ends = ends.iter().map(|end| end.count([0, 1_000_000]));
            match ends.collect::<Result<Vec<u32>, _>>()?[..] {
                [start, end] if start < end => Some(At {
                    value: [start, end],
                    key: item.key.clone(),
                    line: item.line,
                }),
                _ => return Err(item.wrong("a list of two frames, the first before the second")),
            }
        }
    };
    Ok(ClipEntry {
        motion: table.need("motion")?.text()?,
        name: text("name")?,
        animation: text("animation")?.map(|name| name.value),
        arm_abduction: match table.get("arm_abduction_deg") {
            Some(item) => item.number([-90.0, 90.0])?.value.to_radians(),
            None => 0.0,
        },
        clean: match table.get("clean") {
            Some(item) => item.truth()?,
            None => is_clean,
        },
        trim,
        mirror: truth("mirror")?,
        speed: match table.get("speed") {
            Some(item) => item.number([0.1, 10.0])?.value,
            None => 1.0,
        },
    })
}

fn simulation(table: &Table<'_>) -> Result<SimulationEntry, SceneError> {
    let table = table.clone().with_keys(&[
        "steps_per_frame",
        "self_contact",
        "tolerance",
        "skin_friction",
        "dressing",
        "settling",
    ])?;
    let number = |key, range| match table.get(key) {
        Some(item) => item.number(range).map(|at| Some(at.value)),
        None => Ok(None),
    };
    Ok(SimulationEntry {
        steps_per_frame: match table.get("steps_per_frame") {
            Some(item) => Some(item.count([1, 1000])?),
            None => None,
        },
        self_contact: table
            .get("self_contact")
            .map(|item| item.truth())
            .transpose()?,
        tolerance: number("tolerance", [1e-6, 1.0])?,
        skin_friction: number("skin_friction", [0.0, 10.0])?,
        dressing: number("dressing", [0.0, 60.0])?,
        settling: number("settling", [0.0, 600.0])?,
    })
}
