//! What a ray passes through.

use glam::{DVec3, Vec3, Vec3A};

use super::tree::{TriangleTree, triangle_box};

/// The surfaces that a ray passes through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RayCrossings {
    /// Triangles passed from their front (outer) side.
    pub entering: u32,
    /// Triangles passed from their back (inner) side.
    pub leaving: u32,
    /// Triangles met so near a side, a corner, the start or edge-on that the
    /// count can't be trusted.
    pub uncertain: u32,
}

impl RayCrossings {
    /// Leaving less entering: how many times a closed surface surrounds the
    /// start of the ray. `None` when a crossing was uncertain.
    pub fn winding(&self) -> Option<i32> {
        (self.uncertain == 0).then_some(self.leaving as i32 - self.entering as i32)
    }
}

/// A crossing whose weight of a corner is this near to 0 is uncertain.
const NEAR_SIDE: f64 = 1e-9;

/// What products of two lengths may be off by in `f64`, with room.
const ROUNDING: f64 = 1e-14;

/// Directions without meaning to any mesh, tried in turn.
const DIRECTIONS: [Vec3; 4] = [
    Vec3::new(0.831_47, 0.411_51, 0.373_23),
    Vec3::new(-0.298_31, 0.877_17, 0.376_31),
    Vec3::new(0.193_77, -0.412_37, 0.890_17),
    Vec3::new(-0.517_13, -0.345_19, -0.783_23),
];

impl TriangleTree {
    /// Counts the triangles on the ray from `origin` [m] along `direction`,
    /// which needs no unit length.
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn ray_crossings(&self, origin: Vec3, direction: Vec3, positions: &[Vec3]) -> RayCrossings {
        self.check_positions(positions);
        let mut crossings = RayCrossings::default();
        let (start, along) = (origin.as_dvec3(), direction.as_dvec3());
        let origin = Vec3A::from(origin);
        let mut stack = self.stack();
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index as usize];
            if !ray_meets_box(origin, direction, node.low, node.high) {
                continue;
            }
            if !node.is_leaf() {
                stack.push(node.link);
                stack.push(index + 1);
                continue;
            }
            for slot in node.slots() {
                // Asked again, so that what is uncertain depends on the
                // triangle and not on its company in the leaf.
                let (low, high) = triangle_box(&self.corners[slot], positions);
                if !ray_meets_box(origin, direction, low, high) {
                    continue;
                }
                let corners = self.corners[slot].map(|v| positions[v as usize].as_dvec3() - start);
                match cross(corners, along) {
                    Crossing::None => {}
                    Crossing::Entering => crossings.entering += 1,
                    Crossing::Leaving => crossings.leaving += 1,
                    Crossing::Uncertain => crossings.uncertain += 1,
                }
            }
        }
        crossings
    }

    /// How many times the closed surface surrounds `p` [m]: 1 inside, 0
    /// outside, 2 where two of its parts overlap, negative where it is inside
    /// out. On the surface itself either side may be answered.
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn winding_of_closed(&self, p: Vec3, positions: &[Vec3]) -> i32 {
        DIRECTIONS
            .iter()
            .find_map(|&direction| self.ray_crossings(p, direction, positions).winding())
            .unwrap_or_else(|| {
                libm::round(super::winding::winding_number(p, &self.corners, positions)) as i32
            })
    }
}

enum Crossing {
    None,
    Entering,
    Leaving,
    Uncertain,
}

/// How the ray from the origin along `along` meets a triangle: the volumes that
/// the ray spans with each side have one sign when its line passes through, and
/// the height of the triangle's plane has that sign too when it lies ahead.
fn cross([a, b, c]: [DVec3; 3], along: DVec3) -> Crossing {
    let volumes = [
        along.dot(b.cross(c)),
        along.dot(c.cross(a)),
        along.dot(a.cross(b)),
    ];
    let size_sq = (b - a).length_squared().max((c - a).length_squared());
    let reach_sq = a
        .length_squared()
        .max(b.length_squared())
        .max(c.length_squared());
    let limit = (NEAR_SIDE * size_sq + ROUNDING * reach_sq) * libm::sqrt(along.length_squared());
    let some_positive = volumes.iter().any(|&v| v > limit);
    let some_negative = volumes.iter().any(|&v| v < -limit);
    if some_positive && some_negative {
        return Crossing::None;
    }
    let height = a.dot((b - a).cross(c - a));
    let height_limit =
        (NEAR_SIDE * libm::sqrt(size_sq) + ROUNDING * libm::sqrt(reach_sq)) * size_sq;
    if (some_positive && height < -height_limit) || (some_negative && height > height_limit) {
        return Crossing::None; // behind the start
    }
    let certain = volumes.iter().all(|v| v.abs() > limit) && height.abs() > height_limit;
    match (certain, some_positive) {
        (false, _) => Crossing::Uncertain,
        (true, true) => Crossing::Leaving,
        (true, false) => Crossing::Entering,
    }
}

fn ray_meets_box(origin: Vec3A, direction: Vec3, low: Vec3A, high: Vec3A) -> bool {
    // Grown by rounding, so that no triangle in the box is missed.
    let slack = (low.abs().max(high.abs()).max(origin.abs())) * 1e-6;
    let (low, high) = (low - slack - origin, high + slack - origin);
    let (mut near, mut far) = (0.0f32, f32::INFINITY);
    for axis in 0..3 {
        if direction[axis] == 0.0 {
            if low[axis] > 0.0 || high[axis] < 0.0 {
                return false;
            }
            continue;
        }
        let (t, s) = (low[axis] / direction[axis], high[axis] / direction[axis]);
        near = near.max(t.min(s));
        far = far.min(t.max(s));
    }
    near <= far * (1.0 + 1e-6)
}
