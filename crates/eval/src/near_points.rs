//! [`NearPoints`]: whether any of some points is near.

use glam::Vec3;

/// Points that are asked for by distance.
#[derive(Clone, Debug)]
pub(crate) struct NearPoints {
    /// From the lowest up [m].
    points: Vec<Vec3>,
}

impl NearPoints {
    pub(crate) fn new(points: impl Iterator<Item = Vec3>) -> Self {
        let mut points: Vec<Vec3> = points.collect();
        points.sort_by(|a, b| a.y.total_cmp(&b.y));
        Self { points }
    }

    /// Whether one is no farther than this [m] from `p` [m].
    pub(crate) fn is_within(&self, radius: f32, p: Vec3) -> bool {
        // Only what is in the slab of the point can be near it.
        let start = self.points.partition_point(|s| s.y < p.y - radius);
        let slab = self.points[start..]
            .iter()
            .take_while(|s| s.y <= p.y + radius);
        let mut distances = slab.map(|s| s.distance_squared(p));
        distances.any(|d| d <= radius * radius)
    }
}
