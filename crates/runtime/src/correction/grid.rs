//! Points in cells of space, found by a box: [`PointGrid`].

use alloc::vec;
use alloc::vec::Vec;

use glam::Vec3;

/// The side of a cell [m]: about that of a face of a coarse garment.
const CELL: f32 = 0.05;
/// Cells share buckets; a power of two, a few times as many as there are cells with
/// points in them.
const N_BUCKETS: usize = 4096;

/// Points in cells of space. Room is taken once.
#[derive(Clone, Debug, Default)]
pub(super) struct PointGrid {
    /// Where the points of each bucket begin among `members`.
    starts: Vec<u32>,
    /// Where each is [m], next to its number: most are asked for no more than that.
    members: Vec<(Vec3, u32)>,
    buckets: Vec<u32>,
}

impl PointGrid {
    /// Room for so many points.
    pub(super) fn new(n_points: usize) -> Self {
        Self {
            starts: vec![0; N_BUCKETS + 1],
            members: vec![(Vec3::ZERO, 0); n_points],
            buckets: vec![0; n_points],
        }
    }

    pub(super) fn n_points(&self) -> usize {
        self.members.len()
    }

    /// Sorts all points [m] into their cells.
    pub(super) fn place(&mut self, points: &[Vec3]) {
        self.starts.fill(0);
        for (bucket, p) in self.buckets.iter_mut().zip(points) {
            *bucket = bucket_of(cell_of(*p));
            self.starts[*bucket as usize + 1] += 1;
        }
        for i in 0..N_BUCKETS {
            self.starts[i + 1] += self.starts[i];
        }
        // Starts move to the ends as members are put, and so back by one bucket.
        for (number, (bucket, p)) in self.buckets.iter().zip(points).enumerate() {
            let start = &mut self.starts[*bucket as usize];
            self.members[*start as usize] = (*p, number as u32);
            *start += 1;
        }
        self.starts.copy_within(..N_BUCKETS, 1);
        self.starts[0] = 0;
    }

    /// Shows all points in a box, with their numbers. One may come more than once.
    pub(super) fn visit(&self, low: Vec3, high: Vec3, mut each: impl FnMut(Vec3, usize)) {
        let ([x0, y0, z0], [x1, y1, z1]) = (cell_of(low), cell_of(high));
        for x in x0..=x1 {
            for y in y0..=y1 {
                for z in z0..=z1 {
                    let bucket = bucket_of([x, y, z]) as usize;
                    let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
                    for (p, number) in &self.members[range] {
                        if low.cmple(*p).all() && p.cmple(high).all() {
                            each(*p, *number as usize);
                        }
                    }
                }
            }
        }
    }
}

fn cell_of(p: Vec3) -> [i32; 3] {
    (p / CELL).floor().to_array().map(|c| c as i32)
}

fn bucket_of([x, y, z]: [i32; 3]) -> u32 {
    let mixed = (x as u32).wrapping_mul(0x9E37_79B1)
        ^ (y as u32).wrapping_mul(0x85EB_CA77)
        ^ (z as u32).wrapping_mul(0xC2B2_AE3D);
    (mixed ^ (mixed >> 15)) % N_BUCKETS as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_points_in_a_box_are_found() {
        let points: Vec<Vec3> = (0..500)
            .map(|i| {
                let i = i as f32;
                Vec3::new(libm::sinf(i), libm::sinf(1.7 * i), libm::sinf(2.3 * i))
            })
            .collect();
        let mut grid = PointGrid::new(points.len());
        for _ in 0..2 {
            grid.place(&points);
            for (low, high) in [
                (Vec3::splat(-0.3), Vec3::splat(0.2)),
                (Vec3::new(-0.01, -1.0, -1.0), Vec3::new(0.01, 1.0, 1.0)),
            ] {
                let mut found = Vec::new();
                grid.visit(low, high, |p, i| {
                    assert_eq!(p, points[i]);
                    found.push(i as u32);
                });
                found.sort_unstable();
                found.dedup();
                let is_in = |p: &Vec3| low.cmple(*p).all() && p.cmple(high).all();
                let inside = points.iter().enumerate().filter(|(_, p)| is_in(p));
                let inside: Vec<u32> = inside.map(|(i, _)| i as u32).collect();
                assert!(!inside.is_empty());
                assert_eq!(found, inside);
            }
        }
    }
}
