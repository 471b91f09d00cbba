//! Which of the things at a sample is seen: the nearest, but for cloth that covers
//! skin from a little behind it ([`Depth`]).
//!
//! Things at a sample are kept in three layers, the nearest of each: skin under
//! clothes, cloth, and all else. Where the nearest cloth has its outer side to the
//! camera and is less than ε behind the skin, it takes the skin's place, and is
//! compared with all else from there.

use super::project::Geometry;
use super::render::N_SAMPLES;
use super::scene::{Depth, Scene};

/// The number of the background.
pub(super) const NOTHING: u32 = u32::MAX - 1;

/// The nearest thing at each sample of a pixel: bits of 1/depth above the
/// complement of the triangle's number, so that the larger is the nearer and,
/// among equals, the first; 0 is the background.
pub(super) type Nearest = [u64; N_SAMPLES];

#[inline]
pub(super) fn key(nearness: f32, id: u32) -> u64 {
    if nearness > 0.0 {
        u64::from(nearness.to_bits()) << 32 | u64::from(!id)
    } else {
        0
    }
}

#[inline]
pub(super) fn nearness_of(key: u64) -> f32 {
    f32::from_bits((key >> 32) as u32)
}

#[inline]
pub(super) fn id_of(key: u64) -> u32 {
    if key == 0 { NOTHING } else { !(key as u32) }
}

/// What a triangle is, to those before and behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plain,
    Skin,
    /// Cloth, with the ε of its side that is seen [m].
    Cloth(f32),
}

/// What every triangle is; empty where all are compared alike.
pub(super) struct Covers {
    kinds: Vec<Kind>,
}

impl Covers {
    pub(super) fn new(scene: &Scene<'_>, geometry: &Geometry) -> Self {
        let covers = |depth| matches!(depth, Depth::Cloth { epsilon } if epsilon > 0.0);
        if !scene.meshes.iter().any(|m| covers(m.depth)) {
            return Self { kinds: Vec::new() };
        }
        let mut kinds = Vec::with_capacity(geometry.triangles.len());
        for mesh in &scene.meshes {
            for corners in mesh.topology.triangles() {
                let id = kinds.len() as u32;
                kinds.push(match mesh.depth {
                    Depth::Plain => Kind::Plain,
                    Depth::Skin { is_under } => {
                        match corners.iter().all(|v| is_under[*v as usize]) {
                            true => Kind::Skin,
                            false => Kind::Plain,
                        }
                    }
                    Depth::Cloth { epsilon } => {
                        let [a, b, c] = geometry.corners(id);
                        let is_outer = (b - a).cross(c - a).dot(a) < 0.0;
                        Kind::Cloth(if is_outer { epsilon } else { 0.0 })
                    }
                });
            }
        }
        Self { kinds }
    }

    /// Room for so many pixels.
    pub(super) fn layers(&self, n_pixels: usize) -> Layers {
        let empty = || vec![[0; N_SAMPLES]; n_pixels];
        let is_plain = self.kinds.is_empty();
        Layers {
            plain: empty(),
            skin: if is_plain { Vec::new() } else { empty() },
            cloth: if is_plain { Vec::new() } else { empty() },
        }
    }
}

/// The nearest things at the samples of some pixels.
pub(super) struct Layers {
    pub(super) plain: Vec<Nearest>,
    skin: Vec<Nearest>,
    cloth: Vec<Nearest>,
}

impl Layers {
    /// Where a triangle belongs.
    pub(super) fn of(&mut self, covers: &Covers, id: u32) -> &mut [Nearest] {
        match covers.kinds.get(id as usize) {
            None | Some(Kind::Plain) => &mut self.plain,
            Some(Kind::Skin) => &mut self.skin,
            Some(Kind::Cloth(_)) => &mut self.cloth,
        }
    }

    /// What is seen at each sample.
    pub(super) fn merged(mut self, covers: &Covers) -> Vec<Nearest> {
        let layers = self.plain.iter_mut().zip(&self.skin).zip(&self.cloth);
        for ((plain, skin), cloth) in layers {
            for ((plain, skin), cloth) in plain.iter_mut().zip(skin).zip(cloth) {
                let worn = match covers.kinds.get(id_of(*cloth) as usize) {
                    Some(Kind::Cloth(epsilon)) if is_seen(*cloth, *skin, *epsilon) => {
                        key(nearness_of(*cloth).max(nearness_of(*skin)), id_of(*cloth))
                    }
                    _ => (*cloth).max(*skin),
                };
                *plain = (*plain).max(worn);
            }
        }
        self.plain
    }
}

/// d_cloth < d_skin + ε, where nearness is 1/d.
fn is_seen(cloth: u64, skin: u64, epsilon: f32) -> bool {
    skin == 0 || 1.0 / nearness_of(cloth) < 1.0 / nearness_of(skin) + epsilon
}
