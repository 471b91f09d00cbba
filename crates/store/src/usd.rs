//! USD scenes out, in the text form (`.usda`): [`UsdScene`] and [`write_usda`].
//!
//! ```text
//! scene                Xform     metres, +Y up, one time code a frame from 0
//! ├── body             SkelRoot  bounds of the posed body, every frame
//! │   ├── skeleton     Skeleton  joints as paths, unturned at rest
//! │   │   └── motion   SkelAnimation
//! │   └── <name>       Mesh      rest vertices, joints and weights
//! └── <garment>        Mesh      world positions, every frame
//! ```
//!
//! Vertices keep their order, and every f32 reads back to the bit. Between
//! frames readers go along straight lines, joints along the shorter arc. Prims
//! and joints go by ASCII identifiers, made unique; where that changes a name,
//! the own one is the prim's `displayName` or the joint's entry in `jointNames`.
//!
//! The file is streamed: it takes no memory beside a buffer, and some 37 bytes
//! a vertex and frame on disk. Colours are linear. Normals, materials and
//! texture coordinates are not written.
//!
//! ```
//! use drapery_core::{FrameRate, Topology};
//! use drapery_store::usd::{UsdGarment, UsdScene, write_usda};
//! use glam::Vec3;
//!
//! let cape = UsdGarment {
//!     name: "cape",
//!     topology: &Topology::new(3, vec![[0, 1, 2]])?,
//!     frames: &[vec![Vec3::ZERO, Vec3::X, Vec3::Y]],
//!     colour: [0.1, 0.2, 0.45],
//! };
//! let scene = UsdScene {
//!     frame_rate: FrameRate::new(30.0)?,
//!     body: None,
//!     garments: vec![cape],
//! };
//! let mut file = Vec::new();
//! write_usda(&scene, &mut file)?;
//! assert!(file.starts_with(b"#usda 1.0"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod mesh;
mod names;
mod text;

use std::io::{self, Write};

use drapery_core::{FrameRate, Pose, Skeleton, SkinWeights, Topology};
use glam::{Quat, Vec3};

use names::Names;
use text::Text;

/// A body and garments that move at one frame rate.
#[derive(Clone, Debug)]
pub struct UsdScene<'a> {
    /// Frames a second.
    pub frame_rate: FrameRate,
    /// The body, if it is to be seen.
    pub body: Option<UsdBody<'a>>,
    /// The garments, from skin outwards.
    pub garments: Vec<UsdGarment<'a>>,
}

/// A skinned body and its motion.
#[derive(Clone, Debug)]
pub struct UsdBody<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its triangles.
    pub topology: &'a Topology,
    /// Rest vertices [m], shape [vertex].
    pub rest: &'a [Vec3],
    /// Names and parents of its joints.
    pub skeleton: &'a Skeleton,
    /// Rest positions of the joints [m], shape [joint].
    pub joints: &'a [Vec3],
    /// Which joints the vertices follow.
    pub skin: &'a SkinWeights,
    /// Its poses; at least one.
    pub frames: &'a [Pose],
    /// Linear colour, each part from 0 to 1.
    pub colour: [f32; 3],
}

/// A garment and its baked motion.
#[derive(Clone, Debug)]
pub struct UsdGarment<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its triangles.
    pub topology: &'a Topology,
    /// World positions [m], shape [frame][vertex]; at least one frame.
    pub frames: &'a [Vec<Vec3>],
    /// Linear colour, each part from 0 to 1.
    pub colour: [f32; 3],
}

/// Why a scene can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UsdWriteError {
    /// The text doesn't go out.
    #[error("the file cannot be written")]
    Io(#[from] io::Error),
    /// There is neither body nor garment.
    #[error("the scene has nothing in it")]
    Empty,
    /// Something has no vertices, triangles or frames.
    #[error("{name} has no {what}")]
    Nothing {
        /// What it is called.
        name: String,
        /// `vertices`, `triangles` or `frames`.
        what: &'static str,
    },
    /// Two things move for different times.
    #[error("{name} has {found} frames, {other} has {expected}")]
    FrameCount {
        /// What it is called.
        name: String,
        /// How many frames it has.
        found: usize,
        /// The first thing of the scene.
        other: String,
        /// How many frames that has.
        expected: usize,
    },
    /// An array has another length than its companion.
    #[error("{name} frame {frame} has {found} {what}, expected {expected}")]
    Length {
        /// What it is called.
        name: String,
        /// The frame, 0 for what does not move.
        frame: usize,
        /// Which array.
        what: &'static str,
        /// How many entries it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A number is not finite.
    #[error("{name} frame {frame} has {what} that are not finite")]
    NotFinite {
        /// What it is called.
        name: String,
        /// The frame, 0 for what does not move.
        frame: usize,
        /// Which numbers.
        what: &'static str,
    },
    /// A rotation is not finite or not of unit length.
    #[error("{name} frame {frame} joint {joint} has a rotation that is not of unit length")]
    Rotation {
        /// What it is called.
        name: String,
        /// The frame.
        frame: usize,
        /// The joint.
        joint: usize,
    },
    /// A part of a colour is not between 0 and 1.
    #[error("{name} has a colour with a part that is not between 0 and 1")]
    Colour {
        /// What it is called.
        name: String,
    },
    /// A vertex follows a joint that is not there.
    #[error("{name} has skinning weights for joint {joint}, but only {n_joints} joints")]
    NoSuchJoint {
        /// What it is called.
        name: String,
        /// The joint.
        joint: u16,
        /// How many there are.
        n_joints: usize,
    },
}

/// The prim that holds everything.
const ROOT: &str = "scene";

/// Writes a scene as a `.usda`.
///
/// # Errors
/// When the parts of the scene don't fit together, a number is not finite, or
/// writing fails.
pub fn write_usda(scene: &UsdScene<'_>, out: &mut dyn Write) -> Result<(), UsdWriteError> {
    let n_frames = check(scene)?;
    let mut text = Text::new(out);
    stage(&mut text, scene.frame_rate, n_frames)?;
    mesh::open(&mut text, format_args!("Xform \"{ROOT}\""), Vec::new())?;
    let mut names = Names::default();
    if let Some(body) = &scene.body {
        body::write(body, &names.take("body"), &mut text)?;
    }
    for garment in &scene.garments {
        mesh::garment(garment, &names.take(garment.name), &mut text)?;
    }
    text.close('}')?;
    text.finish()
}

/// What stands before the prims.
fn stage(text: &mut Text<'_>, rate: FrameRate, n_frames: usize) -> Result<(), UsdWriteError> {
    let rate = rate.hz();
    text.line(format_args!("#usda 1.0"))?;
    text.open(format_args!("("))?;
    text.line(format_args!("defaultPrim = \"{ROOT}\""))?;
    text.line(format_args!(
        "doc = \"drapery {}\"",
        env!("CARGO_PKG_VERSION")
    ))?;
    text.line(format_args!("endTimeCode = {}", n_frames - 1))?;
    text.line(format_args!("framesPerSecond = {rate}"))?;
    text.line(format_args!("metersPerUnit = 1"))?;
    text.line(format_args!("startTimeCode = 0"))?;
    text.line(format_args!("timeCodesPerSecond = {rate}"))?;
    text.line(format_args!("upAxis = \"Y\""))?;
    text.close(')')
}

/// The number of frames of a scene whose parts fit together, at least one.
fn check(scene: &UsdScene<'_>) -> Result<usize, UsdWriteError> {
    let body = scene.body.iter().map(|b| (b.name, b.frames.len()));
    let garments = scene.garments.iter().map(|g| (g.name, g.frames.len()));
    let counts: Vec<(&str, usize)> = body.chain(garments).collect();
    let &(other, expected) = counts.first().ok_or(UsdWriteError::Empty)?;
    for &(name, found) in &counts {
        if found == 0 {
            return Err(nothing(name, "frames"));
        }
        if found != expected {
            return Err(UsdWriteError::FrameCount {
                name: name.to_owned(),
                found,
                other: other.to_owned(),
                expected,
            });
        }
    }
    scene.body.as_ref().map_or(Ok(()), check_body)?;
    scene.garments.iter().try_for_each(check_garment)?;
    Ok(expected)
}

fn nothing(name: &str, what: &'static str) -> UsdWriteError {
    UsdWriteError::Nothing {
        name: name.to_owned(),
        what,
    }
}

fn check_body(body: &UsdBody<'_>) -> Result<(), UsdWriteError> {
    let name = body.name;
    let n_vertices = body.topology.n_vertices();
    let n_joints = body.skeleton.len();
    check_look(name, body.topology, body.colour)?;
    check_vectors(name, 0, "rest vertices", body.rest, n_vertices)?;
    check_vectors(name, 0, "joints", body.joints, n_joints)?;
    let n_rows = body.skin.n_vertices();
    check_length(name, 0, "rows of skinning weights", n_rows, n_vertices)?;
    if let Some(&joint) = body.skin.joints().iter().max()
        && usize::from(joint) >= n_joints
    {
        return Err(UsdWriteError::NoSuchJoint {
            name: name.to_owned(),
            joint,
            n_joints,
        });
    }
    for (frame, pose) in body.frames.iter().enumerate() {
        check_length(name, frame, "rotations", pose.rotations.len(), n_joints)?;
        check_vectors(name, frame, "root positions", &[pose.root], 1)?;
        let is_unit = |q: &Quat| (q.length() - 1.0).abs() <= Pose::UNIT_TOLERANCE;
        if let Some(joint) = pose.rotations.iter().position(|q| !is_unit(q)) {
            return Err(UsdWriteError::Rotation {
                name: name.to_owned(),
                frame,
                joint,
            });
        }
    }
    Ok(())
}

fn check_garment(garment: &UsdGarment<'_>) -> Result<(), UsdWriteError> {
    check_look(garment.name, garment.topology, garment.colour)?;
    let n_vertices = garment.topology.n_vertices();
    for (frame, positions) in garment.frames.iter().enumerate() {
        check_vectors(garment.name, frame, "vertices", positions, n_vertices)?;
    }
    Ok(())
}

/// That there is something to see, in a colour.
fn check_look(name: &str, topology: &Topology, colour: [f32; 3]) -> Result<(), UsdWriteError> {
    if topology.n_vertices() == 0 {
        return Err(nothing(name, "vertices"));
    }
    if topology.triangles().is_empty() {
        return Err(nothing(name, "triangles"));
    }
    if colour.iter().all(|c| (0.0..=1.0).contains(c)) {
        return Ok(());
    }
    Err(UsdWriteError::Colour {
        name: name.to_owned(),
    })
}

/// That there are as many as expected, all finite.
fn check_vectors(
    name: &str,
    frame: usize,
    what: &'static str,
    vectors: &[Vec3],
    expected: usize,
) -> Result<(), UsdWriteError> {
    check_length(name, frame, what, vectors.len(), expected)?;
    if vectors.iter().all(|v| v.is_finite()) {
        return Ok(());
    }
    Err(UsdWriteError::NotFinite {
        name: name.to_owned(),
        frame,
        what,
    })
}

fn check_length(
    name: &str,
    frame: usize,
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), UsdWriteError> {
    if found == expected {
        return Ok(());
    }
    Err(UsdWriteError::Length {
        name: name.to_owned(),
        frame,
        what,
        found,
        expected,
    })
}
