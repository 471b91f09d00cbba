//! A ball of triangles for cloth to fall on.
//!
//! A cube whose sides are grids, each vertex moved out to the sphere: closed,
//! outward, and its triangles are alike within a factor of about two.

use std::collections::BTreeMap;

use anyhow::Context;
use drapery::core::Topology;
use drapery::sim::MeshObstacle;
use glam::DVec3;

/// Cells along a side of the cube: 12 · 41² = 20,172 triangles.
const CELLS: i32 = 41;

/// A ball around `centre` [m].
pub(crate) fn ball(radius: f64, centre: DVec3) -> anyhow::Result<MeshObstacle> {
    let mut numbers: BTreeMap<[i32; 3], u32> = BTreeMap::new();
    let mut positions: Vec<DVec3> = Vec::new();
    let mut vertex = |at: [i32; 3]| {
        *numbers.entry(at).or_insert_with(|| {
            let p = DVec3::from(at.map(|i| f64::from(2 * i - CELLS)));
            positions.push(p.normalize() * radius + centre);
            positions.len() as u32 - 1
        })
    };
    let mut triangles = Vec::new();
    for axis in 0..3 {
        for far in [false, true] {
            let at = |i: i32, j: i32| {
                let mut at = [i32::from(far) * CELLS; 3];
                (at[(axis + 1) % 3], at[(axis + 2) % 3]) = (i, j);
                at
            };
            for cell in 0..CELLS * CELLS {
                let (i, j) = (cell % CELLS, cell / CELLS);
                let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                let [a, b, c, d] = corners.map(&mut vertex);
                match far {
                    true => triangles.extend([[a, b, c], [a, c, d]]),
                    false => triangles.extend([[a, c, b], [a, d, c]]),
                }
            }
        }
    }
    let topology = Topology::new(positions.len() as u32, triangles)?;
    MeshObstacle::new(&topology, positions).context("cannot make a ball")
}
