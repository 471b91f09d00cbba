//! What the viewer's page reads, written. All little endian, positions in metres.

use drapery_core::Topology;
use glam::Vec3;

/// Depths are sent in steps of this [m].
const DEPTH_STEP: f32 = 1e-4;

/// What every frame of a stream has.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamHead {
    pub(super) n_vertices: usize,
    /// The first frame that is sent, and how many are.
    pub(super) first: u32,
    pub(super) n_frames: u32,
    pub(super) n_coefficients: usize,
    pub(super) has_depths: bool,
}

/// One frame of a garment, or of the body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamFrame<'a> {
    pub(super) frame: u32,
    pub(super) confidence: f32,
    pub(super) ms: f32,
    /// How far correction moved a vertex at most [m].
    pub(super) moved: f32,
    /// The deepest place inside the body [m].
    pub(super) deepest: f32,
    /// The share of places that are more than a millimetre inside.
    pub(super) inside: f32,
    pub(super) positions: &'a [Vec3],
    pub(super) coefficients: &'a [f32],
    /// How deep each vertex is inside the body [m], if that is sent.
    pub(super) depths: &'a [f32],
}

impl StreamHead {
    /// Writes it.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        for number in [
            self.n_vertices as u32,
            self.first,
            self.n_frames,
            self.n_coefficients as u32,
            u32::from(self.has_depths),
        ] {
            bytes.extend(number.to_le_bytes());
        }
    }
}

impl StreamFrame<'_> {
    /// Writes it.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.frame.to_le_bytes());
        let figures = [
            self.confidence,
            self.ms,
            self.moved,
            self.deepest,
            self.inside,
        ];
        let positions = self.positions.iter().flat_map(|p| p.to_array());
        for number in figures.into_iter().chain(positions) {
            bytes.extend(number.to_le_bytes());
        }
        for number in self.coefficients {
            bytes.extend(number.to_le_bytes());
        }
        // A cast stays within the limits of a byte.
        bytes.extend(self.depths.iter().map(|d| (d / DEPTH_STEP).round() as u8));
        pad(bytes);
    }
}

/// Fills up to a multiple of four bytes.
pub(super) fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// A mesh with the marks of its triangles.
pub(super) fn mesh(topology: &Topology, marks: &[u8]) -> Vec<u8> {
    let triangles = topology.triangles();
    let mut bytes = Vec::with_capacity(8 + 13 * triangles.len());
    bytes.extend((topology.n_vertices() as u32).to_le_bytes());
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for corner in triangles.iter().flatten() {
        bytes.extend(corner.to_le_bytes());
    }
    bytes.extend(marks);
    bytes
}

/// How far vectors of a basis, shape [vector, vertex, 3], move each vertex for a
/// coefficient of 1 [m].
pub(super) fn basis(n_vertices: usize, vectors: &[f32]) -> Vec<u8> {
    let n = vectors.len() / (3 * n_vertices).max(1);
    let mut bytes = Vec::with_capacity(8 + 4 * n * n_vertices);
    bytes.extend((n_vertices as u32).to_le_bytes());
    bytes.extend((n as u32).to_le_bytes());
    for way in vectors.chunks_exact(3) {
        bytes.extend(Vec3::from_slice(way).length().to_le_bytes());
    }
    bytes
}
