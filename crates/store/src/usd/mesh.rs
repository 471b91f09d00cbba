//! Triangles as a Mesh prim, and garments whose points move.

use std::fmt;

use drapery_core::Topology;
use glam::Vec3;

use super::text::{Quoted, Text};
use crate::moving::{MovingGarment, SceneWriteError};

/// A Mesh prim under the scene's root with a sample of points a frame.
pub(super) fn garment(
    garment: &MovingGarment<'_>,
    prim: &str,
    text: &mut Text<'_>,
) -> Result<(), SceneWriteError> {
    open(
        text,
        format_args!("Mesh \"{prim}\""),
        own(garment.name, prim),
    )?;
    text.line(format_args!("uniform bool doubleSided = 1"))?;
    let bounds = garment.frames.iter().map(|x| Ok(bounds(x)));
    text.samples("float3[] extent", bounds, Text::vector)?;
    surface(garment.topology, garment.colour, text)?;
    let points = garment.frames.iter().map(|x| Ok(x.iter().copied()));
    text.samples("point3f[] points", points, Text::vector)?;
    text.close('}')
}

/// Opens a prim of a `kind` with metadata that may be there.
pub(super) fn open(
    text: &mut Text<'_>,
    kind: fmt::Arguments<'_>,
    metadata: Vec<String>,
) -> Result<(), SceneWriteError> {
    if metadata.is_empty() {
        text.line(format_args!("def {kind}"))?;
    } else {
        text.open(format_args!("def {kind} ("))?;
        for line in metadata {
            text.line(format_args!("{line}"))?;
        }
        text.close(')')?;
    }
    text.open(format_args!("{{"))
}

/// The own name of a prim that goes by another.
pub(super) fn own(name: &str, prim: &str) -> Vec<String> {
    match name == prim {
        true => Vec::new(),
        false => vec![format!("displayName = {}", Quoted(name))],
    }
}

/// Triangles, counter-clockwise seen from outside, and their colour.
pub(super) fn surface(
    topology: &Topology,
    colour: [f32; 3],
    text: &mut Text<'_>,
) -> Result<(), SceneWriteError> {
    let triangles = topology.triangles();
    text.array(
        format_args!("int[] faceVertexCounts = "),
        triangles,
        |text, _| text.put(format_args!("3")),
    )?;
    text.array(
        format_args!("int[] faceVertexIndices = "),
        triangles.iter().flatten(),
        |text, vertex| text.put(format_args!("{vertex}")),
    )?;
    text.line(format_args!("uniform token orientation = \"rightHanded\""))?;
    text.array(
        format_args!("color3f[] primvars:displayColor = "),
        [Vec3::from_array(colour)],
        Text::vector,
    )?;
    text.line(format_args!("uniform token subdivisionScheme = \"none\""))
}

/// The lowest and the highest corner of a box around points.
pub(super) fn bounds(points: &[Vec3]) -> [Vec3; 2] {
    let around = |[low, high]: [Vec3; 2], p: &Vec3| [low.min(*p), high.max(*p)];
    points
        .iter()
        .fold([Vec3::INFINITY, Vec3::NEG_INFINITY], around)
}
