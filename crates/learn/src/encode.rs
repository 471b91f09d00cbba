//! Frames of a dataset as coefficients of body and cloth: [`Encoder`].

use drapery_core::CanonicalFrame;
use drapery_runtime::{ClothSpace, PoseRange, SkinnedGarment};
use drapery_store::dataset::PlannedSequence;
use glam::{Quat, Vec3};

use crate::frames::{Footage, Reading, Shot};
use crate::{Pca, TrainError};

/// Frames whose cloth is projected at once.
const BLOCK: usize = 64;

/// Writes the garment of a frame in the space of its components.
pub(crate) struct ClothRows<'a> {
    pub(crate) skinned: &'a SkinnedGarment,
    pub(crate) space: ClothSpace,
}

impl ClothRows<'_> {
    /// Adds the coordinates of a frame's garment to `rows` [m].
    pub(crate) fn extend(&self, shot: &Shot<'_>, rows: &mut Vec<f64>) -> Result<(), TrainError> {
        let wide = |p: Vec3| p.to_array().map(f64::from);
        match self.space {
            ClothSpace::Canonical => {
                let turn = Quat::from_rotation_y(-shot.canonical.heading);
                let local = |p: &Vec3| wide(turn * (*p - shot.canonical.root));
                rows.extend(shot.cloth.iter().flat_map(local));
            }
            ClothSpace::Unposed => {
                let mut unposed = vec![Vec3::ZERO; shot.cloth.len()];
                self.skinned
                    .unpose(&shot.body(), shot.cloth, &mut unposed)
                    .map_err(|source| TrainError::Animate {
                        sequence: shot.planned.name.clone(),
                        frame: shot.frame,
                        source,
                    })?;
                rows.extend(unposed.into_iter().flat_map(wide));
            }
        }
        Ok(())
    }
}

/// Turns frames into coefficients.
pub(crate) struct Encoder<'a> {
    pub(crate) footage: &'a Footage<'a>,
    pub(crate) rows: ClothRows<'a>,
    pub(crate) range: &'a PoseRange,
    pub(crate) cloth: &'a Pca,
}

/// A frame as coefficients.
pub(crate) struct Encoded<'a> {
    /// Whether it is the first of its sequence.
    pub(crate) is_first: bool,
    pub(crate) canonical: CanonicalFrame,
    /// Of the body.
    pub(crate) x: &'a [f32],
    /// Of the cloth.
    pub(crate) y: &'a [f64],
}

impl Encoder<'_> {
    /// Goes through frames of sequences, from the first to the last.
    pub(crate) fn for_each(
        &self,
        sequences: &[PlannedSequence],
        mut each: impl FnMut(&Encoded<'_>) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let (n_body, n_cloth) = (self.range.n_components(), self.cloth.n_components());
        let mut scratch = self.range.scratch();
        let mut rows: Vec<f64> = Vec::new();
        let mut frames: Vec<(bool, CanonicalFrame)> = Vec::new();
        let mut bodies: Vec<f32> = Vec::new();
        let mut x = vec![0.0; n_body];
        let mut flush = |rows: &mut Vec<f64>,
                         frames: &mut Vec<(bool, CanonicalFrame)>,
                         bodies: &mut Vec<f32>| {
            let coefficients = self.cloth.project(rows);
            for (i, (is_first, canonical)) in frames.iter().enumerate() {
                each(&Encoded {
                    is_first: *is_first,
                    canonical: *canonical,
                    x: &bodies[i * n_body..(i + 1) * n_body],
                    y: &coefficients[i * n_cloth..(i + 1) * n_cloth],
                })?;
            }
            rows.clear();
            frames.clear();
            bodies.clear();
            Ok::<(), TrainError>(())
        };
        self.footage.for_each(sequences, Reading::Cloth, |shot| {
            self.rows.extend(shot, &mut rows)?;
            let joints = &shot.posed.world_from_rest;
            self.range
                .project(&shot.canonical, joints, &mut scratch, &mut x);
            bodies.extend_from_slice(&x);
            frames.push((shot.frame == 0, shot.canonical));
            match frames.len() {
                BLOCK => flush(&mut rows, &mut frames, &mut bodies),
                _ => Ok(()),
            }
        })?;
        flush(&mut rows, &mut frames, &mut bodies)
    }
}
