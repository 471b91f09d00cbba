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

use drapery_core::{FrameRate, Pose, Skeleton, SkinWeights, Topology};
use glam::{Quat, Vec3};

pub use blend::GlbBlend;

/// A body and garments that move at one frame rate.
#[derive(Clone, Debug)]
pub struct GlbScene<'a> {
    /// Frames a second.
    pub frame_rate: FrameRate,
    /// The body, if it is to be seen.
    pub body: Option<GlbBody<'a>>,
    /// The garments, from skin outwards.
    pub garments: Vec<GlbGarment<'a>>,
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

/// A skinned body and its motion.
#[derive(Clone, Debug)]
pub struct GlbBody<'a> {
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
pub struct GlbGarment<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its triangles.
    pub topology: &'a Topology,
    /// World positions [m], shape [frame][vertex]; at least one frame.
    pub frames: &'a [Vec<Vec3>],
    /// Linear colour, each part from 0 to 1.
    pub colour: [f32; 3],
    /// How its shading follows the motion.
    pub normals: GarmentNormals,
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

/// Why a scene can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GlbWriteError {
    /// The bytes don't go out.
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
        /// `vertices`, `triangles`, `shapes` or `frames`.
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

fn check(scene: &GlbScene<'_>) -> Result<(), GlbWriteError> {
    let counts = scene.counts();
    let &(other, expected) = counts.first().ok_or(GlbWriteError::Empty)?;
    for &(name, found) in &counts {
        if found == 0 {
            return Err(GlbWriteError::Nothing {
                name: name.to_owned(),
                what: "frames",
            });
        }
        if found != expected {
            return Err(GlbWriteError::FrameCount {
                name: name.to_owned(),
                found,
                other: other.to_owned(),
                expected,
            });
        }
    }
    scene.body.as_ref().map_or(Ok(()), check_body)?;
    scene.garments.iter().try_for_each(check_garment)?;
    scene.blends.iter().try_for_each(GlbBlend::check)
}

fn check_topology(name: &str, topology: &Topology) -> Result<(), GlbWriteError> {
    let nothing = |what| GlbWriteError::Nothing {
        name: name.to_owned(),
        what,
    };
    if topology.n_vertices() == 0 {
        return Err(nothing("vertices"));
    }
    if topology.triangles().is_empty() {
        return Err(nothing("triangles"));
    }
    Ok(())
}

/// That there are as many as expected, all finite.
fn check_vectors(
    name: &str,
    frame: usize,
    what: &'static str,
    vectors: &[Vec3],
    expected: usize,
) -> Result<(), GlbWriteError> {
    check_length(name, frame, what, vectors.len(), expected)?;
    if vectors.iter().all(|v| v.is_finite()) {
        Ok(())
    } else {
        Err(GlbWriteError::NotFinite {
            name: name.to_owned(),
            frame,
            what,
        })
    }
}

fn check_length(
    name: &str,
    frame: usize,
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), GlbWriteError> {
    if found == expected {
        return Ok(());
    }
    Err(GlbWriteError::Length {
        name: name.to_owned(),
        frame,
        what,
        found,
        expected,
    })
}

fn check_colour(name: &str, colour: [f32; 3]) -> Result<(), GlbWriteError> {
    if colour.iter().all(|c| (0.0..=1.0).contains(c)) {
        return Ok(());
    }
    Err(GlbWriteError::Colour {
        name: name.to_owned(),
    })
}

fn check_body(body: &GlbBody<'_>) -> Result<(), GlbWriteError> {
    let name = body.name;
    let n_vertices = body.topology.n_vertices();
    let n_joints = body.skeleton.len();
    check_topology(name, body.topology)?;
    check_colour(name, body.colour)?;
    check_vectors(name, 0, "rest vertices", body.rest, n_vertices)?;
    check_vectors(name, 0, "joints", body.joints, n_joints)?;
    let n_rows = body.skin.n_vertices();
    check_length(name, 0, "rows of skinning weights", n_rows, n_vertices)?;
    if let Some(&joint) = body.skin.joints().iter().max()
        && usize::from(joint) >= n_joints
    {
        return Err(GlbWriteError::NoSuchJoint {
            name: name.to_owned(),
            joint,
            n_joints,
        });
    }
    for (frame, pose) in body.frames.iter().enumerate() {
        check_length(name, frame, "rotations", pose.rotations.len(), n_joints)?;
        check_vectors(name, frame, "root positions", &[pose.root], 1)?;
        let unit = |q: &Quat| (q.length_squared() - 1.0).abs() < 1e-3;
        if let Some(joint) = pose.rotations.iter().position(|q| !unit(q)) {
            return Err(GlbWriteError::Rotation {
                name: name.to_owned(),
                frame,
                joint,
            });
        }
    }
    Ok(())
}

fn check_garment(garment: &GlbGarment<'_>) -> Result<(), GlbWriteError> {
    check_topology(garment.name, garment.topology)?;
    check_colour(garment.name, garment.colour)?;
    let n_vertices = garment.topology.n_vertices();
    for (frame, positions) in garment.frames.iter().enumerate() {
        check_vectors(garment.name, frame, "vertices", positions, n_vertices)?;
    }
    Ok(())
}
