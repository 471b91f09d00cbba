//! A triangle mesh in space: [`TriMesh`].

use alloc::vec;
use alloc::vec::Vec;

use glam::Vec3;

use crate::topology::{Topology, TopologyError};

/// A topology with a position for every vertex; all positions are finite and
/// no coordinate is beyond 1e6 m.
#[derive(Clone, Debug, PartialEq)]
pub struct TriMesh {
    topology: Topology,
    positions: Vec<Vec3>,
}

/// Why arrays don't make a [`TriMesh`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The triangles are wrong.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A coordinate is NaN, infinite or beyond a thousand kilometres.
    #[error("vertex {vertex} has a coordinate that is not finite or beyond 1e6 m")]
    NotFinite {
        /// The vertex's index.
        vertex: u32,
    },
    /// There is nothing to see.
    #[error("the mesh has no {what}")]
    Empty {
        /// `vertices` or `triangles`.
        what: &'static str,
    },
    /// More vertices than an index can name.
    #[error("{n_vertices} vertices are more than the limit of {}", i32::MAX)]
    TooMany {
        /// How many vertices were given.
        n_vertices: usize,
    },
}

/// The largest coordinate that a mesh may have [m].
const MAX_COORDINATE: f32 = 1e6;

impl TriMesh {
    /// A mesh of the given positions [m] and triangles.
    ///
    /// # Errors
    /// When there is no vertex or triangle, a coordinate is not finite or a
    /// triangle names a vertex that is not there.
    pub fn new(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        if positions.is_empty() {
            return Err(MeshError::Empty { what: "vertices" });
        }
        if triangles.is_empty() {
            return Err(MeshError::Empty { what: "triangles" });
        }
        if positions.len() > i32::MAX as usize {
            return Err(MeshError::TooMany {
                n_vertices: positions.len(),
            });
        }
        check_coordinates(&positions)?;
        let topology = Topology::new(positions.len() as u32, triangles)?;
        Ok(Self {
            topology,
            positions,
        })
    }

    /// How the vertices are joined.
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Positions [m], shape [vertex].
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// The triangles, shape [triangle, 3].
    pub fn triangles(&self) -> &[[u32; 3]] {
        self.topology.triangles()
    }

    /// The same topology with other positions [m].
    ///
    /// # Errors
    /// When a position is not finite or beyond 1e6 m.
    ///
    /// # Panics
    /// When the number of positions differs.
    pub fn with_positions(&self, positions: Vec<Vec3>) -> Result<Self, MeshError> {
        assert_eq!(
            positions.len(),
            self.positions.len(),
            "one position a vertex"
        );
        check_coordinates(&positions)?;
        Ok(Self {
            topology: self.topology.clone(),
            positions,
        })
    }

    /// The corners of a triangle [m].
    pub fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.topology.triangles()[triangle as usize].map(|v| self.positions[v as usize])
    }

    /// Unit normals of the vertices, weighted by area.
    pub fn vertex_normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.positions.len()];
        vertex_normals(&self.topology, &self.positions, &mut normals);
        normals
    }

    /// The smallest and largest coordinates [m].
    pub fn bounds(&self) -> (Vec3, Vec3) {
        self.positions
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
                (low.min(p), high.max(p))
            })
    }

    /// The volume inside a closed mesh, by the divergence theorem [m³];
    /// negative when it is inside out.
    pub fn signed_volume(&self) -> f64 {
        self.topology
            .triangles()
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| self.positions[v as usize].as_dvec3());
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }
}

fn check_coordinates(positions: &[Vec3]) -> Result<(), MeshError> {
    let sound = |p: &Vec3| p.is_finite() && p.abs().max_element() <= MAX_COORDINATE;
    match positions.iter().position(|p| !sound(p)) {
        Some(vertex) => Err(MeshError::NotFinite {
            vertex: vertex as u32,
        }),
        None => Ok(()),
    }
}

/// Writes the unit normal of every vertex, weighted by area; +Y where the
/// triangles around it cancel.
///
/// # Panics
/// When `positions` or `out` have other lengths than the topology has vertices.
pub fn vertex_normals(topology: &Topology, positions: &[Vec3], out: &mut [Vec3]) {
    assert_eq!(
        positions.len(),
        topology.n_vertices(),
        "one position a vertex"
    );
    assert_eq!(out.len(), topology.n_vertices(), "one normal a vertex");
    out.fill(Vec3::ZERO);
    for t in topology.triangles() {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let normal = (b - a).cross(c - a);
        for v in t {
            out[*v as usize] += normal;
        }
    }
    for normal in out {
        *normal = normal.normalize_or(Vec3::Y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> TriMesh {
        TriMesh::new(
            vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
        )
        .unwrap()
    }

    #[test]
    fn a_unit_tetrahedron_holds_a_sixth() {
        assert!((tetrahedron().signed_volume() - 1.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn normals_point_outwards() {
        let mesh = tetrahedron();
        let centre = Vec3::splat(0.25);
        for (n, p) in mesh.vertex_normals().iter().zip(mesh.positions()) {
            assert!(n.dot(p - centre) > 0.0);
            assert!((n.length() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn nan_and_huge_coordinates_are_named() {
        for bad in [f32::NAN, f32::INFINITY, 1e30] {
            let positions = vec![Vec3::ZERO, Vec3::X, Vec3::new(0.0, bad, 0.0)];
            assert_eq!(
                TriMesh::new(positions, vec![[0, 1, 2]]),
                Err(MeshError::NotFinite { vertex: 2 })
            );
            let mesh = tetrahedron();
            let mut moved = mesh.positions().to_vec();
            moved[3].z = bad;
            assert_eq!(
                mesh.with_positions(moved),
                Err(MeshError::NotFinite { vertex: 3 })
            );
        }
    }
}
