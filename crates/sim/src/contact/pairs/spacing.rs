//! How far apart a pair is kept: [`Spacing`].
//!
//! The thickness of the cloth, but for pairs that are neighbours along it:
//! these may be nearer than that in the flat cloth already, and must not press
//! on each other there. They get at most half the distance that they had when
//! the cloth was made.

use glam::DVec3;

use super::super::candidates::MeshBoxes;
use super::links::Links;
use super::pair::{Motion, Pair};

/// Distances that pairs keep.
#[derive(Clone, Debug)]
pub(super) struct Spacing {
    /// [m]
    thickness: f64,
    /// Where vertices were when the cloth was made [m].
    positions: Vec<DVec3>,
}

/// The share of its first distance that a pair of neighbours may take up.
const SHARE: f64 = 0.5;
/// Pairs that so many edges join are neighbours.
const RINGS: u32 = 3;
/// The thickness is at most this many mean edges, or it would reach beyond the
/// rings.
const MAX_EDGES: f64 = 1.0;
/// No pair keeps less than this share of the thickness.
const LEAST: f64 = 1e-3;

impl Spacing {
    pub(super) fn new(mesh: &MeshBoxes, positions: &[DVec3], thickness: f64) -> Self {
        let lengths = mesh.edges().iter().map(|e| {
            let [a, b] = e.map(|v| positions[v as usize]);
            a.distance(b)
        });
        let mean = lengths.sum::<f64>() / mesh.edges().len().max(1) as f64;
        Self {
            thickness: thickness.min(MAX_EDGES * mean),
            positions: positions.to_vec(),
        }
    }

    /// What pairs keep that are no neighbours [m].
    pub(super) const fn thickness(&self) -> f64 {
        self.thickness
    }

    /// What a pair keeps [m].
    pub(super) fn of(&self, pair: Pair, vertices: [u32; 4], links: &Links) -> f64 {
        if !pair.kind.is_of_cloth() {
            return self.thickness;
        }
        let made = Motion {
            start: &self.positions,
            end: &self.positions,
            mesh_start: &[],
            mesh_end: &[],
        };
        let (_, offset) = pair.kind.nearest(made.starts(vertices));
        let share = SHARE * offset.length();
        if share >= self.thickness || !are_neighbours(vertices.split_at(pair.kind.n_first()), links)
        {
            return self.thickness;
        }
        share.max(LEAST * self.thickness)
    }
}

fn are_neighbours((first, second): (&[u32], &[u32]), links: &Links) -> bool {
    let mut reached = first.to_vec();
    let mut from = 0;
    for _ in 0..RINGS {
        let to = reached.len();
        for i in from..to {
            for &w in links.joined(reached[i]) {
                if second.contains(&w) {
                    return true;
                }
                if !reached.contains(&w) {
                    reached.push(w);
                }
            }
        }
        from = to;
    }
    false
}
