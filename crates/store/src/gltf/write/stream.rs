//! The bytes of a `.glb`: header, JSON chunk, and sections made one at a time.

use std::io::Write;

use drapery_core::{Topology, vertex_normals};
use glam::Vec3;

use super::GlbWriteError;

/// A piece of the binary chunk, a multiple of four bytes long.
pub(super) enum Section<'a> {
    /// Bytes as they are.
    Bytes(Vec<u8>),
    /// Vectors as they are.
    Vectors(&'a [Vec3]),
    /// Displacements of every frame but the first from the first.
    Displacements(&'a [Vec<Vec3>]),
    /// Changes of the vertex normals of every frame but the first.
    NormalChanges {
        topology: &'a Topology,
        frames: &'a [Vec<Vec3>],
    },
    /// Weights of `n_frames` keys for one target less, one at the frame.
    FrameWeights { n_frames: usize },
}

impl Section<'_> {
    /// How many bytes it has.
    pub(super) fn length(&self) -> u64 {
        let vectors = |frames: &[Vec<Vec3>]| frames[1..].iter().map(Vec::len).sum::<usize>() * 12;
        let length = match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Vectors(vectors) => vectors.len() * 12,
            Self::Displacements(frames) | Self::NormalChanges { frames, .. } => vectors(frames),
            Self::FrameWeights { n_frames } => n_frames * (n_frames - 1) * 4,
        };
        length as u64
    }

    fn write(&self, out: &mut dyn Write) -> Result<(), GlbWriteError> {
        match self {
            Self::Bytes(bytes) => out.write_all(bytes)?,
            Self::Vectors(vectors) => write_vectors(vectors.iter().copied(), out)?,
            Self::Displacements(frames) => {
                for frame in &frames[1..] {
                    write_vectors(displacements(&frames[0], frame), out)?;
                }
            }
            Self::NormalChanges { topology, frames } => {
                let mut first = vec![Vec3::ZERO; topology.n_vertices()];
                let mut normals = first.clone();
                vertex_normals(topology, &frames[0], &mut first);
                for frame in &frames[1..] {
                    vertex_normals(topology, frame, &mut normals);
                    write_vectors(displacements(&first, &normals), out)?;
                }
            }
            Self::FrameWeights { n_frames } => {
                for frame in 0..*n_frames {
                    let mut row = vec![0; (n_frames - 1) * 4];
                    if frame > 0 {
                        row[(frame - 1) * 4..frame * 4].copy_from_slice(&1f32.to_le_bytes());
                    }
                    out.write_all(&row)?;
                }
            }
        }
        Ok(())
    }
}

/// What a morph target adds to the first frame.
pub(super) fn displacements<'a>(
    first: &'a [Vec3],
    frame: &'a [Vec3],
) -> impl Iterator<Item = Vec3> + 'a {
    frame.iter().zip(first).map(|(x, x0)| *x - *x0)
}

fn write_vectors(
    vectors: impl Iterator<Item = Vec3>,
    out: &mut dyn Write,
) -> Result<(), GlbWriteError> {
    let bytes: Vec<u8> = vectors
        .flat_map(|v| v.to_array())
        .flat_map(f32::to_le_bytes)
        .collect();
    Ok(out.write_all(&bytes)?)
}

/// Writes header and chunks.
pub(super) fn stream(
    json: &serde_json::Value,
    sections: &[Section<'_>],
    out: &mut dyn Write,
) -> Result<(), GlbWriteError> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let binary: u64 = sections.iter().map(Section::length).sum();
    let total = 12 + 8 + text.len() as u64 + 8 + binary;
    let word = |value: u64| {
        u32::try_from(value)
            .map(u32::to_le_bytes)
            .map_err(|_| GlbWriteError::TooLarge { bytes: total })
    };
    out.write_all(b"glTF")?;
    out.write_all(&2u32.to_le_bytes())?;
    out.write_all(&word(total)?)?;
    out.write_all(&word(text.len() as u64)?)?;
    out.write_all(b"JSON")?;
    out.write_all(&text)?;
    out.write_all(&word(binary)?)?;
    out.write_all(b"BIN\0")?;
    for section in sections {
        section.write(out)?;
    }
    Ok(())
}
