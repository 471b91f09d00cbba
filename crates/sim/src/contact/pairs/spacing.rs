//! How far apart a pair is kept: [`Spacing`].
//!
//! The thickness of the cloth, but for pairs that are neighbours along it:
//! these may be nearer than that in the flat cloth already, and must not press
//! on each other there. They get at most half the distance that they had when
//! the cloth was made.

use drapery_core::Topology;
use glam::DVec3;

use super::nearby::Near;
use super::pair::Motion;

/// Distances that pairs keep.
#[derive(Clone, Debug)]
pub(super) struct Spacing {
    /// [m]
    thickness: f64,
    /// Where vertices were when the cloth was made [m].
    positions: Vec<DVec3>,
    /// The vertices joined to each by an edge, one vertex after the other.
    joined: Vec<u32>,
    starts: Vec<u32>,
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
    pub(super) fn new(topology: &Topology, positions: &[DVec3], thickness: f64) -> Self {
        let edges = topology.edges();
        let mut all: Vec<[u32; 2]> = Vec::with_capacity(2 * edges.len());
        let mut total = 0.0;
        for edge in &edges {
            let [a, b] = edge.vertices;
            total += positions[a as usize].distance(positions[b as usize]);
            all.extend([[a, b], [b, a]]);
        }
        all.sort_unstable();
        let n = positions.len() as u32;
        let starts = (0..=n).map(|v| all.partition_point(|e| e[0] < v) as u32);
        Self {
            thickness: thickness.min(MAX_EDGES * total / edges.len().max(1) as f64),
            positions: positions.to_vec(),
            starts: starts.collect(),
            joined: all.iter().map(|e| e[1]).collect(),
        }
    }

    /// What pairs keep that are no neighbours [m].
    pub(super) const fn thickness(&self) -> f64 {
        self.thickness
    }

    /// What a pair keeps [m].
    pub(super) fn of(&self, near: &Near) -> f64 {
        if !near.pair.kind.is_of_cloth() {
            return self.thickness;
        }
        let made = Motion {
            start: &self.positions,
            end: &self.positions,
            mesh_start: &[],
            mesh_end: &[],
        };
        let (_, offset) = near.pair.kind.nearest(made.starts(near.vertices));
        let share = SHARE * offset.length();
        if share >= self.thickness || !self.are_neighbours(near) {
            return self.thickness;
        }
        share.max(LEAST * self.thickness)
    }

    fn are_neighbours(&self, near: &Near) -> bool {
        let (first, second) = near.vertices.split_at(near.pair.kind.n_first());
        let mut reached = first.to_vec();
        let mut from = 0;
        for _ in 0..RINGS {
            let to = reached.len();
            for i in from..to {
                let v = reached[i] as usize;
                for &w in &self.joined[self.starts[v] as usize..self.starts[v + 1] as usize] {
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
}
