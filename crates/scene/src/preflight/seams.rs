//! Seams that look sewn and are not.

use glam::Vec3;

/// Border vertices with another border vertex within `gap` [m] that no border
/// edge joins to them; sorted. `borders` are sorted, the lower vertex first.
///
/// Vertices are sorted into cells so small that all in one cell are within the
/// gap of each other. A vertex looks for one partner only, in its own cell
/// first, so that neither a flat garment nor a heap of vertices in one place
/// takes more than n log n steps.
pub(super) fn open_seams(
    positions: &[Vec3],
    borders: &[[u32; 2]],
    gap: f32,
    is_copy: &[bool],
) -> Vec<u32> {
    let mut border: Vec<u32> = borders
        .iter()
        .flatten()
        .copied()
        .filter(|&v| !is_copy[v as usize])
        .collect();
    border.sort_unstable();
    border.dedup();
    // Coordinates are at most 1e6 m, so that cells are counted up to 1e16.
    let size = (f64::from(gap) / 3f64.sqrt()).max(1e-10);
    let cell = |v: u32| {
        let p = (positions[v as usize].as_dvec3() / size).floor();
        [p.x as i64, p.y as i64, p.z as i64]
    };
    let mut cells: Vec<([i64; 3], u32)> = border.iter().map(|&v| (cell(v), v)).collect();
    cells.sort_unstable();
    let is_partner = |a: u32, b: u32| {
        a != b
            && positions[a as usize].distance(positions[b as usize]) <= gap
            && borders.binary_search(&[a.min(b), a.max(b)]).is_err()
    };
    // Those in the cells from `low` to `high`, which differ in the last number.
    let between = |low: [i64; 3], high: [i64; 3]| {
        let start = cells.partition_point(|c| c.0 < low);
        cells[start..].iter().take_while(move |c| c.0 <= high)
    };
    border.retain(|&v| {
        let at @ [x, y, z] = cell(v);
        between(at, at).any(|c| is_partner(v, c.1))
            || (x - 2..=x + 2).any(|x| {
                (y - 2..=y + 2)
                    .any(|y| between([x, y, z - 2], [x, y, z + 2]).any(|c| is_partner(v, c.1)))
            })
    });
    border
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Cells against all pairs.
        #[test]
        fn cells_find_what_all_pairs_do(
            grid in prop::collection::vec((-9i8..9, -9i8..9, -9i8..9), 2..60),
            gap in 0.0f32..0.5,
        ) {
            let positions: Vec<Vec3> = grid
                .iter()
                .map(|&(x, y, z)| Vec3::new(x.into(), y.into(), z.into()) / 8.0)
                .collect();
            let n = positions.len() as u32;
            let borders: Vec<[u32; 2]> = (1..n).map(|v| [v - 1, v]).collect();
            let is_copy: Vec<bool> = (0..n).map(|v| v % 7 == 3).collect();
            let open = |a: u32| {
                !is_copy[a as usize] && (0..n).any(|b| {
                    !is_copy[b as usize]
                        && a.abs_diff(b) > 1
                        && positions[a as usize].distance(positions[b as usize]) <= gap
                })
            };
            let expected: Vec<u32> = (0..n).filter(|&a| open(a)).collect();
            prop_assert_eq!(open_seams(&positions, &borders, gap, &is_copy), expected);
        }
    }
}
