//! A first mesh of the left half of a figure: surface nets.
//!
//! Gibson, "Constrained Elastic SurfaceNets" (1998): a vertex in each cell of a
//! grid that the surface passes through, at the mean of where it crosses the
//! cell's edges, and a quadrilateral across each edge that it crosses.
//!
//! The grid's first layer of cells straddles x = 0. The field is even in x, so
//! no edge along x is crossed there, and the mesh ends in vertices at x = 0.

use glam::DVec3;

/// Cells a side of the blocks that are looked at as a whole.
const BLOCK: usize = 4;

/// A field is taken to grow by no more than this much per metre, with a margin.
const STEEPEST: f64 = 1.6;

/// Vertices [m] and triangles of the left half of `field`'s surface in a box
/// from (0, low.y, low.z) to `high` [m], in cells of `cell` [m].
pub(super) fn left_half(
    field: impl Fn(DVec3) -> f64,
    low: DVec3,
    high: DVec3,
    cell: f64,
) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let origin = DVec3::new(-cell / 2.0, low.y, low.z);
    let size = ((high - origin) / cell).to_array();
    // Whole blocks, and one corner more than cells.
    let n = size.map(|x| (x as usize / BLOCK + 1) * BLOCK + 1);
    let corner =
        |i: usize, j: usize, k: usize| origin + cell * DVec3::new(i as f64, j as f64, k as f64);
    let at = |i: usize, j: usize, k: usize| (i * n[1] + j) * n[2] + k;
    let values = sample(&field, n, corner, cell);

    let mut positions = Vec::new();
    let mut vertex_of = vec![u32::MAX; values.len()];
    for i in 0..n[0] - 1 {
        for j in 0..n[1] - 1 {
            for k in 0..n[2] - 1 {
                let mut sum = DVec3::ZERO;
                let mut crossings = 0;
                for (p, q) in EDGES {
                    let [a, b] = [p, q].map(|o| [i + o[0], j + o[1], k + o[2]]);
                    let fa = values[at(a[0], a[1], a[2])];
                    let fb = values[at(b[0], b[1], b[2])];
                    if (fa < 0.0) != (fb < 0.0) {
                        let (x, y) = (corner(a[0], a[1], a[2]), corner(b[0], b[1], b[2]));
                        sum += x + (y - x) * (fa / (fa - fb));
                        crossings += 1;
                    }
                }
                if crossings > 0 {
                    let mut p = sum / f64::from(crossings);
                    if i == 0 {
                        p.x = 0.0;
                    }
                    vertex_of[at(i, j, k)] = positions.len() as u32;
                    positions.push(p);
                }
            }
        }
    }

    let mut triangles = Vec::new();
    for i in 1..n[0] - 1 {
        for j in 1..n[1] - 1 {
            for k in 1..n[2] - 1 {
                let here = values[at(i, j, k)];
                // The cells around each of the edges that start here, in the
                // order of the right hand about the axis.
                let rings = [
                    (
                        values[at(i + 1, j, k)],
                        [[0, 1, 1], [0, 0, 1], [0, 0, 0], [0, 1, 0]],
                    ),
                    (
                        values[at(i, j + 1, k)],
                        [[1, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]],
                    ),
                    (
                        values[at(i, j, k + 1)],
                        [[1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]],
                    ),
                ];
                for (there, ring) in rings {
                    if (here < 0.0) == (there < 0.0) {
                        continue;
                    }
                    // Offset 1 is the cell on the lower side.
                    let mut quad =
                        ring.map(|[x, y, z]: [usize; 3]| vertex_of[at(i - x, j - y, k - z)]);
                    if here >= 0.0 {
                        quad.reverse();
                    }
                    triangles.extend(halves(quad, &positions));
                }
            }
        }
    }
    (positions, triangles)
}

/// Values at the corners; far from the surface one value stands for a block.
fn sample(
    field: impl Fn(DVec3) -> f64,
    n: [usize; 3],
    corner: impl Fn(usize, usize, usize) -> DVec3,
    cell: f64,
) -> Vec<f64> {
    let at = |i: usize, j: usize, k: usize| (i * n[1] + j) * n[2] + k;
    let mut values = vec![f64::NAN; n[0] * n[1] * n[2]];
    // Blocks share their corners, so a near block evaluates what a far one wrote.
    let half = BLOCK as f64 * cell / 2.0;
    let reach = STEEPEST * half * 3f64.sqrt();
    for near in [false, true] {
        for i in (0..n[0] - 1).step_by(BLOCK) {
            for j in (0..n[1] - 1).step_by(BLOCK) {
                for k in (0..n[2] - 1).step_by(BLOCK) {
                    let middle = field(corner(i, j, k) + half);
                    if (middle.abs() <= reach) != near {
                        continue;
                    }
                    for a in i..=i + BLOCK {
                        for b in j..=j + BLOCK {
                            for c in k..=k + BLOCK {
                                values[at(a, b, c)] =
                                    if near { field(corner(a, b, c)) } else { middle };
                            }
                        }
                    }
                }
            }
        }
    }
    values
}

/// A quadrilateral cut along its shorter diagonal.
fn halves([a, b, c, d]: [u32; 4], positions: &[DVec3]) -> [[u32; 3]; 2] {
    let length = |p: u32, q: u32| positions[p as usize].distance_squared(positions[q as usize]);
    if length(a, c) <= length(b, d) {
        [[a, b, c], [a, c, d]]
    } else {
        [[a, b, d], [b, c, d]]
    }
}

/// The twelve edges of a cell.
const EDGES: [([usize; 3], [usize; 3]); 12] = [
    ([0, 0, 0], [1, 0, 0]),
    ([0, 1, 0], [1, 1, 0]),
    ([0, 0, 1], [1, 0, 1]),
    ([0, 1, 1], [1, 1, 1]),
    ([0, 0, 0], [0, 1, 0]),
    ([1, 0, 0], [1, 1, 0]),
    ([0, 0, 1], [0, 1, 1]),
    ([1, 0, 1], [1, 1, 1]),
    ([0, 0, 0], [0, 0, 1]),
    ([1, 0, 0], [1, 0, 1]),
    ([0, 1, 0], [0, 1, 1]),
    ([1, 1, 0], [1, 1, 1]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_ball_is_closed_up_to_its_rim_and_outward() {
        let radius = 0.3;
        let ball = |p: DVec3| p.length() - radius;
        let low = DVec3::new(0.0, -0.4, -0.4);
        let (positions, triangles) = left_half(ball, low, DVec3::splat(0.4), 0.02);
        for p in &positions {
            assert!(p.x >= 0.0 && ball(*p).abs() < 0.003);
        }
        let volume: f64 = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| positions[v as usize]);
                a.dot(b.cross(c)) / 6.0
            })
            .sum();
        let expected = 2.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        assert!(
            (volume / expected - 1.0).abs() < 0.02,
            "{volume} {expected}"
        );
        let mut sides: Vec<[u32; 2]> = triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .collect();
        sides.sort_unstable();
        for side in &sides {
            if sides.binary_search(&[side[1], side[0]]).is_err() {
                for v in side {
                    assert_eq!(positions[*v as usize].x, 0.0);
                }
            }
        }
    }
}
