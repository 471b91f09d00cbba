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
//! use drapery_store::moving::MovingGarment;
//! use drapery_store::usd::{UsdScene, write_usda};
//! use glam::Vec3;
//!
//! let cape = MovingGarment {
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

use std::io::Write;

use drapery_core::FrameRate;

use crate::moving::{MovingBody, MovingGarment, SceneWriteError, check_counts};
use names::Names;
use text::Text;

/// A body and garments that move at one frame rate.
#[derive(Clone, Debug)]
pub struct UsdScene<'a> {
    /// Frames a second.
    pub frame_rate: FrameRate,
    /// The body, if it is to be seen.
    pub body: Option<MovingBody<'a>>,
    /// The garments, from skin outwards.
    pub garments: Vec<MovingGarment<'a>>,
}

/// The prim that holds everything.
const ROOT: &str = "scene";

/// Writes a scene as a `.usda`.
///
/// # Errors
/// When the parts of the scene don't fit together, a number is not finite, or
/// writing fails.
pub fn write_usda(scene: &UsdScene<'_>, out: &mut dyn Write) -> Result<(), SceneWriteError> {
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
fn stage(text: &mut Text<'_>, rate: FrameRate, n_frames: usize) -> Result<(), SceneWriteError> {
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
fn check(scene: &UsdScene<'_>) -> Result<usize, SceneWriteError> {
    let body = scene.body.iter().map(|b| (b.name, b.frames.len()));
    let garments = scene.garments.iter().map(|g| (g.name, g.frames.len()));
    let counts: Vec<(&str, usize)> = body.chain(garments).collect();
    let n_frames = check_counts(&counts)?;
    scene.body.as_ref().map_or(Ok(()), MovingBody::check)?;
    scene.garments.iter().try_for_each(MovingGarment::check)?;
    Ok(n_frames)
}
