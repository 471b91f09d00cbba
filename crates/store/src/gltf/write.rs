//! Writing a scene as one `.glb`: [`GlbScene`] and [`write_glb`].
//!
//! The body is a skinned mesh with an animation of its joints. A garment is
//! baked: the mesh of the first frame and one morph target for every later
//! one, with weights that are one at the target of the frame and zero at all
//! others. Between frames the weights, and so the vertices, run along straight
//! lines. One animation moves everything, with a key a frame at k / rate.
//!
//! ```text
//! shown(k) = x₀ + Σᵢ wᵢ(k) (xᵢ − x₀),    wᵢ(k) = 1 when i = k, else 0
//! ```
//!
//! Vertices keep their order; positions are written to the bit, displacements
//! are rounded once to f32. Garments take 12 bytes a vertex and frame, 24 with
//! normals; weights take 4 n² bytes for n frames. Nothing of a garment is
//! copied: the file is planned first and then streamed, so that 600 frames of
//! 5,000 vertices (36 MB, 72 MB with normals) need no memory of their own.
//!
//! Colours are linear. Textures are not written.

mod blend;
mod plan;
mod stream;

use std::io::{self, Write};

use drapery_core::FrameRate;

use crate::moving::{MovingBody, MovingGarment, SceneWriteError, check_counts};

pub use blend::GlbBlend;

/// A body and garments that move at one frame rate.
#[derive(Clone, Debug)]
pub struct GlbScene<'a> {
    /// Frames a second.
    pub frame_rate: FrameRate,
    /// The body, if it is to be seen.
    pub body: Option<MovingBody<'a>>,
    /// The garments, from skin outwards.
    pub garments: Vec<MovingGarment<'a>>,
    /// How their shading follows the motion.
    pub normals: GarmentNormals,
    /// Garments that are sums of shapes.
    pub blends: Vec<GlbBlend<'a>>,
}

impl<'a> GlbScene<'a> {
    /// What is in it, with the number of its frames.
    fn counts(&self) -> Vec<(&'a str, usize)> {
        let body = self.body.iter().map(|body| (body.name, body.frames.len()));
        let garments = self.garments.iter().map(|g| (g.name, g.frames.len()));
        let blends = self.blends.iter().map(|b| (b.name, b.weights.len()));
        body.chain(garments).chain(blends).collect()
    }
}

/// How the shading of a garment follows its motion in viewers. Blender makes
/// its own normals whatever is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GarmentNormals {
    /// Normals for every frame: smooth and right everywhere, twice the size.
    #[default]
    EveryFrame,
    /// Normals of the first frame only: wrong as soon as the cloth turns.
    FirstFrame,
    /// None: viewers shade every triangle flat, as glTF asks of them.
    Absent,
}

/// Why a scene can't be written as a `.glb`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GlbWriteError {
    /// Its parts don't fit together, or writing fails.
    #[error(transparent)]
    Scene(#[from] SceneWriteError),
    /// Lengths in a binary glTF have 32 bits.
    #[error(
        "the file would have {bytes} bytes, a binary glTF has at most {}",
        u32::MAX
    )]
    TooLarge {
        /// How long it would be.
        bytes: u64,
    },
}

impl From<io::Error> for GlbWriteError {
    fn from(error: io::Error) -> Self {
        Self::Scene(error.into())
    }
}

/// Writes a scene as a `.glb`. Wrap files in a buffered writer.
///
/// # Errors
/// When the parts of the scene don't fit together, a number is not finite, or
/// writing fails.
pub fn write_glb(scene: &GlbScene<'_>, out: &mut dyn Write) -> Result<(), GlbWriteError> {
    check(scene)?;
    let (json, sections) = plan::plan(scene);
    stream::stream(&json, &sections, out)
}

fn check(scene: &GlbScene<'_>) -> Result<(), SceneWriteError> {
    check_counts(&scene.counts())?;
    scene.body.as_ref().map_or(Ok(()), MovingBody::check)?;
    scene.garments.iter().try_for_each(MovingGarment::check)?;
    scene.blends.iter().try_for_each(GlbBlend::check)
}
