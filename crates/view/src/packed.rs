//! What pages read as bytes wherever they come from: positions in short steps, and what
//! is to be done with triangles of skin.

use drapery_core::Topology;
use glam::Vec3;

/// Steps of positions in a metre.
pub const STEPS: f32 = 5000.0;

/// Steps to a place [m], clamped to ±6.55 m.
pub fn in_steps(place: Vec3) -> [i16; 3] {
    // A cast stays within the limits of sixteen bits.
    (STEPS * place).round().to_array().map(|steps| steps as i16)
}

/// For each triangle of a body whether it is always hidden, 1, and lies under a garment
/// that is drawn over it, 2.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinMarks(Vec<u8>);

impl SkinMarks {
    const HIDDEN: u8 = 1;
    const UNDER: u8 = 2;

    /// None on any triangle.
    pub fn new(body: &Topology) -> Self {
        Self(vec![0; body.triangles().len()])
    }

    /// Marks triangles of which most corners are `under` the garment, shape [vertex].
    ///
    /// # Panics
    /// When it is another body, or there is not one flag a vertex.
    pub fn put_under(&mut self, body: &Topology, under: &[bool]) {
        assert_eq!(body.triangles().len(), self.0.len(), "the same body");
        assert_eq!(under.len(), body.n_vertices(), "one flag a vertex");
        for (mark, corners) in self.0.iter_mut().zip(body.triangles()) {
            if corners.iter().filter(|v| under[**v as usize]).count() > 1 {
                *mark |= Self::UNDER;
            }
        }
    }

    /// Marks those that are `hidden`, shape [triangle].
    ///
    /// # Panics
    /// When there is not one flag a triangle.
    pub fn hide(&mut self, hidden: &[bool]) {
        assert_eq!(hidden.len(), self.0.len(), "one flag a triangle");
        for (mark, _) in self.0.iter_mut().zip(hidden).filter(|(_, h)| **h) {
            *mark |= Self::HIDDEN;
        }
    }

    /// A byte a triangle.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
