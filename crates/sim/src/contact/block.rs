//! Boxes, alone and four at a time: [`Bounds`], [`Block`] and [`Probe`].
//!
//! Four boxes lie together, one a lane, and are tested at once. They are `f32`,
//! rounded outwards: a little larger than what they hold, never smaller.

use glam::{DVec3, Vec3, Vec4};

/// A box with sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The smallest coordinates [m].
    pub low: DVec3,
    /// The largest coordinates [m].
    pub high: DVec3,
}

impl Bounds {
    /// The box of a point.
    pub fn of_point(p: DVec3) -> Self {
        Self { low: p, high: p }
    }

    /// The smallest box around the points.
    pub fn of(points: impl IntoIterator<Item = DVec3>) -> Self {
        let empty = Self {
            low: DVec3::INFINITY,
            high: DVec3::NEG_INFINITY,
        };
        points.into_iter().fold(empty, Self::with)
    }

    /// The smallest box around this one and a point.
    pub fn with(self, p: DVec3) -> Self {
        Self {
            low: self.low.min(p),
            high: self.high.max(p),
        }
    }

    /// Larger by `margin` [m] on every side.
    pub fn grown(self, margin: f64) -> Self {
        Self {
            low: self.low - margin,
            high: self.high + margin,
        }
    }
}

/// Four boxes, one a lane; unused lanes are empty and overlap nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    low: [Vec4; 3],
    high: [Vec4; 3],
}

/// A box to test against four at once.
#[derive(Clone, Copy)]
pub(super) struct Probe {
    low: [Vec4; 3],
    high: [Vec4; 3],
    margin: Vec4,
}

/// Boxes in a block.
pub(super) const WIDTH: usize = 4;
/// No box in any lane.
pub(super) const EMPTY: Block = Block {
    low: [Vec4::INFINITY; 3],
    high: [Vec4::NEG_INFINITY; 3],
};

impl Block {
    /// Puts a box into a lane.
    pub(super) fn set(&mut self, lane: usize, low: Vec3, high: Vec3) {
        for k in 0..3 {
            self.low[k][lane] = low[k];
            self.high[k][lane] = high[k];
        }
    }

    /// The box in a lane.
    pub(super) fn get(&self, lane: usize) -> (Vec3, Vec3) {
        let at = |side: &[Vec4; 3]| Vec3::new(side[0][lane], side[1][lane], side[2][lane]);
        (at(&self.low), at(&self.high))
    }

    /// The box around the four.
    pub(super) fn hull(&self) -> (Vec3, Vec3) {
        (
            Vec3::from(self.low.map(Vec4::min_element)),
            Vec3::from(self.high.map(Vec4::max_element)),
        )
    }

    /// A bit for each lane that comes within the probe's margin along every
    /// axis. Gaps are rounded the same whichever of two boxes is the probe, and
    /// those of larger boxes are never larger, so that a tree's shape does not
    /// matter.
    pub(super) fn near(&self, probe: &Probe) -> u32 {
        let near = |k: usize| {
            (self.low[k] - probe.high[k]).cmple(probe.margin)
                & (probe.low[k] - self.high[k]).cmple(probe.margin)
        };
        (near(0) & near(1) & near(2)).bitmask()
    }

    /// Half the surface of the four boxes [m²].
    pub(super) fn half_surface(&self) -> f32 {
        let [x, y, z] = [0, 1, 2].map(|k| (self.high[k] - self.low[k]).max(Vec4::ZERO));
        (x * y + y * z + z * x).element_sum()
    }

    /// At most the squared distance of each lane from the probe [m²].
    pub(super) fn distances_sq(&self, probe: &Probe) -> Vec4 {
        let mut sum = Vec4::ZERO;
        for k in 0..3 {
            let gap = (self.low[k] - probe.high[k])
                .max(probe.low[k] - self.high[k])
                .max(Vec4::ZERO);
            sum += gap * gap;
        }
        // Rounding of the differences, squares and sums.
        sum * (1.0 - 8.0 * f32::EPSILON)
    }
}

impl Probe {
    /// The box from `low` to `high`, with a margin [m].
    pub(super) fn new(low: Vec3, high: Vec3, margin: f64) -> Self {
        let splat = |p: Vec3| [Vec4::splat(p.x), Vec4::splat(p.y), Vec4::splat(p.z)];
        Self {
            low: splat(low),
            high: splat(high),
            // More by the rounding of the cast and of a gap.
            margin: Vec4::splat(margin as f32 * (1.0 + 2.0 * f32::EPSILON)),
        }
    }
}

/// The box in `f32`, at least as large.
pub(super) fn outwards(bounds: Bounds) -> (Vec3, Vec3) {
    (down(bounds.low.as_vec3()), up(bounds.high.as_vec3()))
}

/// Lower by more than the rounding of a cast.
fn down(x: Vec3) -> Vec3 {
    x - x.abs() * f32::EPSILON - f32::MIN_POSITIVE
}

/// Higher by more than the rounding of a cast.
fn up(x: Vec3) -> Vec3 {
    x + x.abs() * f32::EPSILON + f32::MIN_POSITIVE
}
