//! Meshes with known shapes, for the tests of contact.

use drapery_core::Topology;
use glam::DVec3;

/// A square sheet of `n` × `n` vertices in the plane y = 0, of side 1 m around
/// the origin, facing up.
pub(crate) fn sheet(n: u32) -> (Topology, Vec<DVec3>) {
    let positions = (0..n * n)
        .map(|v| {
            let at = |k: u32| f64::from(k) / f64::from(n - 1) - 0.5;
            DVec3::new(at(v % n), 0.0, at(v / n))
        })
        .collect();
    let mut triangles = vec![];
    for j in 0..n - 1 {
        for i in 0..n - 1 {
            let a = j * n + i;
            triangles.push([a, a + n, a + n + 1]);
            triangles.push([a, a + n + 1, a + 1]);
        }
    }
    (Topology::new(n * n, triangles).unwrap(), positions)
}

/// A sphere of latitude rings around the origin: closed, outward.
pub(crate) fn sphere(radius: f64, n: u32) -> (Topology, Vec<DVec3>) {
    let mut positions = vec![DVec3::Y * radius];
    for ring in 1..n {
        let (s, c) = (std::f64::consts::PI * f64::from(ring) / f64::from(n)).sin_cos();
        for k in 0..2 * n {
            let (u, v) = (std::f64::consts::PI * f64::from(k) / f64::from(n)).sin_cos();
            positions.push(DVec3::new(s * u, c, s * v) * radius);
        }
    }
    positions.push(DVec3::NEG_Y * radius);
    let last = positions.len() as u32 - 1;
    let at = |ring: u32, k: u32| 1 + (ring - 1) * 2 * n + k % (2 * n);
    let mut triangles = vec![];
    for k in 0..2 * n {
        triangles.push([0, at(1, k), at(1, k + 1)]);
        triangles.push([last, at(n - 1, k + 1), at(n - 1, k)]);
        for ring in 1..n - 1 {
            triangles.push([at(ring, k), at(ring + 1, k), at(ring + 1, k + 1)]);
            triangles.push([at(ring, k), at(ring + 1, k + 1), at(ring, k + 1)]);
        }
    }
    (Topology::new(last + 1, triangles).unwrap(), positions)
}

/// The sheet rolled up along x to a spiral whose turns are `gap` [m] apart.
pub(crate) fn rolled(positions: &[DVec3], gap: f64) -> Vec<DVec3> {
    positions
        .iter()
        .map(|p| {
            // Length s of an Archimedean spiral r = r₀ + gap φ/2π.
            let per_radian = gap / std::f64::consts::TAU;
            let (r0, s) = (0.05, p.x + 0.5);
            let phi = ((r0 * r0 + 2.0 * per_radian * s).sqrt() - r0) / per_radian;
            let r = r0 + per_radian * phi;
            DVec3::new(r * phi.cos(), r * phi.sin(), p.z)
        })
        .collect()
}
