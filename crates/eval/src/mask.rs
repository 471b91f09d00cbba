//! [`SelfContactMask`]: where a body can't be dressed, from the body alone.

use glam::{DVec3, Vec3};

use crate::near_points::NearPoints;

/// The mask reaches this far around skin that is inside another part [m].
pub const MASK_RADIUS: f32 = 0.02;

/// Where a body enters itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelfContact {
    /// Whether each vertex lies inside another part of the body, shape [vertex].
    pub inside: Vec<bool>,
    /// Where edges of the body enter another part of it [m].
    pub rim: Vec<DVec3>,
}

impl SelfContact {
    /// A body of so many vertices that does not enter itself.
    pub fn none(n_vertices: usize) -> Self {
        Self {
            inside: vec![false; n_vertices],
            rim: Vec::new(),
        }
    }
}

/// All points within [`MASK_RADIUS`] of a vertex or edge of the body where it is
/// inside another part of it.
#[derive(Clone, Debug)]
pub struct SelfContactMask {
    /// Vertices inside another part and where edges enter it.
    inside: NearPoints,
}

impl SelfContactMask {
    /// The mask of a body at `positions` [m], of which those are `inside`
    /// another part of it.
    ///
    /// # Panics
    /// When there is not one flag a vertex.
    pub fn new(positions: &[Vec3], inside: &[bool]) -> Self {
        Self::around(positions, inside, &[])
    }

    /// The mask of a body at `positions` [m] that enters itself there.
    ///
    /// # Panics
    /// When there is not one flag a vertex.
    pub fn of(positions: &[Vec3], contact: &SelfContact) -> Self {
        Self::around(positions, &contact.inside, &contact.rim)
    }

    fn around(positions: &[Vec3], inside: &[bool], rim: &[DVec3]) -> Self {
        assert_eq!(positions.len(), inside.len(), "one flag a vertex");
        let flagged = positions.iter().zip(inside).filter(|(_, inside)| **inside);
        let rim = rim.iter().map(|p| p.as_vec3());
        Self {
            inside: NearPoints::new(flagged.map(|(p, _)| *p).chain(rim)),
        }
    }

    /// Whether a point [m] is masked.
    pub fn covers(&self, p: Vec3) -> bool {
        self.inside.is_within(MASK_RADIUS, p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_within_two_centimetres_is_masked_and_nothing_else() {
        // A lattice of 7 mm with three vertices inside.
        let positions: Vec<Vec3> = (0..1000)
            .map(|i| Vec3::new((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32) * 0.007)
            .collect();
        let mut inside = vec![false; 1000];
        for v in [0, 555, 918] {
            inside[v] = true;
        }
        let mask = SelfContactMask::new(&positions, &inside);
        let mask: Vec<bool> = positions.iter().map(|p| mask.covers(*p)).collect();
        for (v, masked) in mask.iter().enumerate() {
            let near = [0, 555, 918]
                .iter()
                .any(|&s: &usize| positions[s].distance(positions[v]) <= 0.02);
            assert_eq!(*masked, near, "vertex {v}");
        }
        assert!(mask.iter().any(|m| *m) && mask.iter().any(|m| !*m));
        let none = SelfContactMask::new(&positions, &[false; 1000]);
        assert!(positions.iter().all(|p| !none.covers(*p)));
    }
}
