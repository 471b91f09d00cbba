//! [`Cut`]: a panel before it is flat, as a region of a plane and its place in
//! space.

use glam::{DVec2, DVec3};

/// What happens at a side of a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// It is sewn to the other side of that name.
    Seam(String),
    /// It is open; vertices on it make the group of that name.
    Open(String),
}

/// A side of a panel, between two corners.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// From corner to corner, counter-clockwise around the panel.
    pub(super) line: Vec<DVec2>,
    pub(super) edge: Edge,
    /// The fewest pieces that it may be divided into.
    pub(super) least: usize,
}

impl Side {
    /// A side that is sewn.
    pub(super) fn seam(name: impl Into<String>, line: Vec<DVec2>) -> Self {
        Self {
            line,
            edge: Edge::Seam(name.into()),
            least: 1,
        }
    }

    /// A side that stays open.
    pub(super) fn open(name: impl Into<String>, line: Vec<DVec2>) -> Self {
        Self {
            line,
            edge: Edge::Open(name.into()),
            least: 1,
        }
    }

    /// The same in so many pieces at least, so that a cuff stays a ring.
    pub(super) fn in_pieces(mut self, least: usize) -> Self {
        self.least = least;
        self
    }
}

/// A panel: sides counter-clockwise seen from outside, in a plan whose lengths
/// are roughly those of the cloth and whose y is the warp.
pub(super) struct Cut<'a> {
    pub(super) name: String,
    pub(super) sides: Vec<Side>,
    /// The longest side that its triangles may have [m].
    pub(super) coarsest: f64,
    /// The side of the plane of symmetry that it stays on: +1 for the left, −1
    /// for the right, 0 for both.
    pub(super) half: f64,
    /// Where a point of the plan is on the body [m].
    pub(super) place: Box<dyn Fn(DVec2) -> DVec3 + 'a>,
}

/// The longest side of a panel around the trunk [m]: longer ones cut through it.
pub(super) const COARSEST: f64 = 0.16;

/// Steps of a straight or graphed line; a line is placed in space between them.
const N_LINE: usize = 96;

/// The straight line between two points.
pub(super) fn straight(a: DVec2, b: DVec2) -> Vec<DVec2> {
    curve(|t| a.lerp(b, t))
}

/// A line by its parameter from 0 to 1.
pub(super) fn curve(at: impl Fn(f64) -> DVec2) -> Vec<DVec2> {
    (0..=N_LINE).map(|i| at(i as f64 / N_LINE as f64)).collect()
}

/// The same line the other way.
pub(super) fn reversed(mut line: Vec<DVec2>) -> Vec<DVec2> {
    line.reverse();
    line
}

/// The points at even lengths in space along a line of the plan, both ends
/// included, and its length in space [m].
pub(super) struct Walk {
    line: Vec<DVec2>,
    /// Length in space up to each point.
    upto: Vec<f64>,
}

impl Walk {
    pub(super) fn new(line: &[DVec2], place: &dyn Fn(DVec2) -> DVec3) -> Self {
        let mut upto = vec![0.0];
        let mut last = place(line[0]);
        for &p in &line[1..] {
            let at = place(p);
            upto.push(upto[upto.len() - 1] + at.distance(last));
            last = at;
        }
        Self {
            line: line.to_vec(),
            upto,
        }
    }

    pub(super) fn length(&self) -> f64 {
        self.upto[self.upto.len() - 1]
    }

    /// The point at a share of the length.
    pub(super) fn at(&self, share: f64) -> DVec2 {
        let target = share * self.length();
        let i = self
            .upto
            .partition_point(|&l| l < target)
            .clamp(1, self.line.len() - 1);
        let (from, to) = (self.upto[i - 1], self.upto[i]);
        let t = if to > from {
            ((target - from) / (to - from)).clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.line[i - 1].lerp(self.line[i], t)
    }
}
