//! How deep points are inside something, counted: [`Depths`].

use glam::Vec3;

/// Points deeper than this are counted [m].
pub const DEEP: f32 = 1e-3;

/// Cloth farther from a vertex of the body than this is no concern of it [m].
pub const REACH: f32 = 0.02;

/// How deep points are inside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Depths {
    /// How many points were asked.
    pub n_points: u64,
    /// How many are deeper than [`DEEP`].
    pub n_deep: u64,
    /// How deep the deepest is [m]; 0 when nothing is inside.
    pub deepest: f32,
    /// Where that is [m].
    pub place: Option<Vec3>,
}

impl Depths {
    /// One point more, `depth` [m] inside; outside when that is negative.
    pub(crate) fn count(&mut self, depth: f32, place: Vec3) {
        self.n_points += 1;
        self.n_deep += u64::from(depth > DEEP);
        if depth > self.deepest {
            (self.deepest, self.place) = (depth, Some(place));
        }
    }

    /// The share of the points that are deeper than [`DEEP`].
    pub fn share(&self) -> f64 {
        self.n_deep as f64 / self.n_points.max(1) as f64
    }

    /// Takes other points into account.
    pub fn add(&mut self, other: &Self) {
        self.n_points += other.n_points;
        self.n_deep += other.n_deep;
        if other.deepest > self.deepest {
            (self.deepest, self.place) = (other.deepest, other.place);
        }
    }
}

/// The depths of all points, and of those outside the mask.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Masked {
    /// Of all.
    pub all: Depths,
    /// Of those that are not masked.
    pub open: Depths,
}

impl Masked {
    pub(crate) fn count(&mut self, depth: f32, place: Vec3, is_masked: bool) {
        self.all.count(depth, place);
        if !is_masked {
            self.open.count(depth, place);
        }
    }

    /// Takes other points into account.
    pub fn add(&mut self, other: &Self) {
        self.all.add(&other.all);
        self.open.add(&other.open);
    }
}
