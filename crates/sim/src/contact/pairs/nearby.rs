//! The pairs that may come near during a step: [`Nearby`].
//!
//! They are collected over the way that each vertex is expected to take, with
//! room to spare: as long as every vertex ends within half the slack of that
//! way, no other pair can come into the band. A vertex that strays further is
//! reason to collect again, along where it really goes.
//!
//! Cloth that flies as a whole comes no nearer to itself, so that the mean
//! motion is taken off before its boxes are swept.
//!
//! Two primitives stay apart by more than a margin when some axis says so:
//! projected to it, all places of one lie beyond all places of the other, at
//! the start and at the end. Two axes are tried, from middle to middle and
//! between the nearest points; most candidates fail the first already.

use drapery_core::Topology;
use glam::DVec3;
use rayon::prelude::*;

use super::super::candidates::MeshBoxes;
use super::super::obstacle_mesh::MeshObstacle;
use super::pair::{Kind, Motion, Pair};

/// A pair that may come near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    pub(super) pair: Pair,
    pub(super) vertices: [u32; 4],
    /// How far apart it starts [m].
    pub(super) distance: f64,
}

/// The pairs that may come near during a step.
#[derive(Clone, Debug)]
pub(super) struct Nearby {
    boxes: MeshBoxes,
    near: Vec<Near>,
    /// Where vertices are expected to end, less the mean motion [m].
    to: Vec<DVec3>,
    mean: DVec3,
    /// [m]
    slack: f64,
    /// The farthest that a vertex was from its way in this step [m].
    strayed: f64,
}

/// Pairs that one task takes.
const CHUNK: usize = 1024;
/// The least and the most slack, in bands. With less, pairs are collected twice
/// in most steps; with more, there are too many of them.
const SLACK: [f64; 2] = [0.5, 4.0];

impl Nearby {
    pub(super) fn new(topology: &Topology, positions: &[DVec3]) -> Self {
        Self {
            boxes: MeshBoxes::new(topology, positions),
            near: Vec::new(),
            to: Vec::new(),
            mean: DVec3::ZERO,
            slack: 0.0,
            strayed: 0.0,
        }
    }

    /// The cloth's primitives.
    pub(super) const fn boxes(&self) -> &MeshBoxes {
        &self.boxes
    }

    /// The pairs, sorted.
    pub(super) fn pairs(&self) -> &[Near] {
        &self.near
    }

    /// Begins a step: slack as the last step needed it.
    pub(super) fn begin(&mut self, motion: &Motion<'_>, meshes: &[&MeshObstacle], band: f64) {
        self.slack = (3.0 * self.strayed).clamp(SLACK[0] * band, SLACK[1] * band);
        self.strayed = 0.0;
        self.collect(motion, meshes, band);
    }

    /// Collects all pairs that come into the `band` [m] on a motion, or on one
    /// that is nearly it.
    pub(super) fn collect(&mut self, motion: &Motion<'_>, _meshes: &[&MeshObstacle], band: f64) {
        let n = motion.start.len();
        let moves = motion.start.iter().zip(motion.end);
        self.mean = moves.map(|(a, b)| *b - *a).sum::<DVec3>() / n.max(1) as f64;
        self.to.clear();
        self.to.extend(motion.end.iter().map(|p| *p - self.mean));
        self.near.clear();
        let margin = band + self.slack;
        self.boxes.refit(motion.start, &self.to);
        let shifted = Motion {
            end: &self.to,
            ..*motion
        };
        let (triangles, edges) = (self.boxes.triangles(), self.boxes.edges());
        let found = self.boxes.self_vertex_faces(margin);
        let vertex_face = |[v, t]: [u32; 2]| {
            let [a, b, c] = triangles[t as usize];
            [v, a, b, c]
        };
        keep_near(
            Kind::VertexFace,
            0,
            &found,
            vertex_face,
            &shifted,
            margin,
            &mut self.near,
        );
        let found = self.boxes.self_edge_edges(margin);
        let edge_edge = |[e, f]: [u32; 2]| {
            let ([a, b], [c, d]) = (edges[e as usize], edges[f as usize]);
            [a, b, c, d]
        };
        keep_near(
            Kind::EdgeEdge,
            0,
            &found,
            edge_edge,
            &shifted,
            margin,
            &mut self.near,
        );
    }

    /// Whether the pairs are all that come into the band on the way to `end`.
    pub(super) fn covers(&mut self, start: &[DVec3], end: &[DVec3]) -> bool {
        let ways = start.iter().zip(&self.to).zip(end);
        let farthest = ways
            .map(|((a, b), p)| distance_to_way(*p - self.mean, *a, *b))
            .fold(0.0, f64::max);
        self.strayed = self.strayed.max(farthest);
        2.0 * farthest <= self.slack
    }
}

/// Appends the candidates that come within the margin.
fn keep_near(
    kind: Kind,
    mesh: u32,
    candidates: &[[u32; 2]],
    vertices_of: impl Fn([u32; 2]) -> [u32; 4] + Sync,
    motion: &Motion<'_>,
    margin: f64,
    near: &mut Vec<Near>,
) {
    let n_first = kind.n_first();
    let kept: Vec<Vec<Near>> = candidates
        .par_chunks(CHUNK)
        .map(|candidates| {
            let mut kept = Vec::new();
            for &[first, second] in candidates {
                let vertices = vertices_of([first, second]);
                let (start, end) = (motion.starts(vertices), motion.ends(vertices));
                if is_apart(
                    between_middles(&start, n_first),
                    &start,
                    &end,
                    n_first,
                    margin,
                ) {
                    continue;
                }
                let (_, offset) = kind.nearest(start);
                if is_apart(offset, &start, &end, n_first, margin) {
                    continue;
                }
                kept.push(Near {
                    pair: Pair {
                        kind,
                        mesh,
                        first,
                        second,
                    },
                    vertices,
                    distance: offset.length(),
                });
            }
            kept
        })
        .collect();
    near.extend(kept.iter().flatten());
}

/// From the middle of the second primitive to that of the first.
fn between_middles(x: &[DVec3; 4], n_first: usize) -> DVec3 {
    match n_first {
        1 => x[0] - (x[1] + x[2] + x[3]) / 3.0,
        _ => (x[0] + x[1] - x[2] - x[3]) * 0.5,
    }
}

/// Whether an axis keeps all places of the first primitive beyond those of the
/// second by more than the margin.
fn is_apart(
    axis: DVec3,
    start: &[DVec3; 4],
    end: &[DVec3; 4],
    n_first: usize,
    margin: f64,
) -> bool {
    let origin = start[3];
    let heights: [[f64; 2]; 4] =
        std::array::from_fn(|i| [axis.dot(start[i] - origin), axis.dot(end[i] - origin)]);
    let low = heights[..n_first].iter().flatten();
    let low = low.fold(f64::INFINITY, |low, h| low.min(*h));
    let high = heights[n_first..].iter().flatten();
    let high = high.fold(f64::NEG_INFINITY, |high, h| high.max(*h));
    let room = low - high;
    room > 0.0 && room * room > margin * margin * axis.length_squared()
}

/// How far a point is from the segment from `a` to `b` [m].
fn distance_to_way(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let way = b - a;
    let length_sq = way.length_squared();
    let t = match length_sq > 0.0 {
        true => ((p - a).dot(way) / length_sq).clamp(0.0, 1.0),
        false => 0.0,
    };
    (p - a - way * t).length()
}
