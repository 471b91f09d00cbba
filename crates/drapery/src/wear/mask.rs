//! [`self_contact_mask`]: where a body can't be dressed, from the body alone.

use glam::Vec3;

/// The mask reaches this far around skin that is inside another part [m].
pub const MASK_RADIUS: f32 = 0.02;

/// Whether each vertex of a body at `positions` [m] is inside another part of
/// it, or within [`MASK_RADIUS`] of one that is.
///
/// # Panics
/// When there is not one flag a vertex.
pub fn self_contact_mask(positions: &[Vec3], inside: &[bool]) -> Vec<bool> {
    assert_eq!(positions.len(), inside.len(), "one flag a vertex");
    let seeds = positions.iter().zip(inside).filter(|(_, inside)| **inside);
    let mut seeds: Vec<Vec3> = seeds.map(|(p, _)| *p).collect();
    if seeds.is_empty() {
        return vec![false; positions.len()];
    }
    // Only seeds in the slab of a point can be near it.
    seeds.sort_by(|a, b| a.y.total_cmp(&b.y));
    let is_near = |p: &Vec3| {
        let start = seeds.partition_point(|s| s.y < p.y - MASK_RADIUS);
        let slab = seeds[start..]
            .iter()
            .take_while(|s| s.y <= p.y + MASK_RADIUS);
        let mut distances = slab.map(|s| s.distance_squared(*p));
        distances.any(|d| d <= MASK_RADIUS * MASK_RADIUS)
    };
    let both = positions.iter().zip(inside);
    both.map(|(p, inside)| *inside || is_near(p)).collect()
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
        let mask = self_contact_mask(&positions, &inside);
        for (v, masked) in mask.iter().enumerate() {
            let near = [0, 555, 918]
                .iter()
                .any(|&s: &usize| positions[s].distance(positions[v]) <= 0.02);
            assert_eq!(*masked, near, "vertex {v}");
        }
        assert!(mask.iter().any(|m| *m) && mask.iter().any(|m| !*m));
        let none = self_contact_mask(&positions, &[false; 1000]);
        assert!(none.iter().all(|m| !*m));
    }
}
