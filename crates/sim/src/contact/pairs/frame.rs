//! Where and along what a pair presses: [`Frame`].
//!
//! ```text
//! P = Σ wᵢ xᵢ over the four vertices       offset of the nearest points
//! n = P/|P| when the frame is taken        gap = n · P
//! ```
//!
//! A pair that starts near has the frame of its start. One that gets near on
//! its way has the frame of that moment: there it comes nearer, so that it
//! started on the side to which n points.

use glam::DVec3;

use super::super::closest::edge_sine_sq;
use super::super::continuous::{Clearance, advance_edge_edge, advance_vertex_face};
use super::nearby::Near;
use super::pair::{Motion, weighted};

/// Weights and normal of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) weights: [f64; 4],
    pub(super) normal: DVec3,
    /// P at the moment of the frame [m].
    pub(super) point: DVec3,
}

/// Edges whose angle has a smaller sine² are parallel: their nearest points may
/// be anywhere, and their ends' contacts with the faces beside say as much.
const PARALLEL: f64 = 1e-4;

impl Frame {
    /// The frame of a pair after a share of the step; none where it touches.
    pub(super) fn at(near: &Near, motion: &Motion<'_>, fraction: f64) -> Option<Self> {
        let x = motion.at(near.vertices, fraction);
        let (weights, point) = near.pair.kind.nearest(x);
        let normal = point.try_normalize()?;
        Some(Self {
            weights,
            normal,
            point,
        })
    }

    /// n · P for places of the four vertices [m].
    pub(super) fn gap(&self, x: [DVec3; 4]) -> f64 {
        self.normal.dot(weighted(self.weights, x))
    }

    /// Whether other pairs say the same: edges that are nearest at an end, or
    /// parallel, are left to the vertices at their ends.
    pub(super) fn is_spare(&self, near: &Near, motion: &Motion<'_>, fraction: f64) -> bool {
        if near.pair.kind.n_first() == 1 {
            return false;
        }
        let [a, b, c, d] = motion.at(near.vertices, fraction);
        self.weights.contains(&0.0) || edge_sine_sq([a, b], [c, d]) < PARALLEL
    }
}

/// The share of a step after which a pair is down to a `floor` [m] below where
/// it starts; none when it stays above.
pub(super) fn reaches(near: &Near, motion: &Motion<'_>, floor: f64) -> Option<f64> {
    let clearance = Clearance {
        separation: 0.0,
        share: floor / near.distance.max(f64::MIN_POSITIVE),
    };
    let (start, end) = (motion.starts(near.vertices), motion.ends(near.vertices));
    let advance = match near.pair.kind.n_first() {
        1 => advance_vertex_face(start, end, clearance),
        _ => advance_edge_edge(start, end, clearance),
    };
    (advance.fraction < 1.0).then_some(advance.fraction)
}
