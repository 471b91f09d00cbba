//! Which two primitives, and how they move: [`Pair`] and [`Motion`].
//!
//! The vertices of the cloth and those of all mesh obstacles are numbered in
//! one row, the cloth's first, so that a pair is four numbers whatever it is of.

use glam::DVec3;

use super::super::closest::{edge_edge, point_triangle};
use super::super::obstacle_mesh::MeshObstacle;

/// What two primitives are, in the order in which contacts are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A vertex and a face of the cloth.
    VertexFace,
    /// Two edges of the cloth.
    EdgeEdge,
    /// A vertex of the cloth and a face of a mesh.
    VertexMeshFace,
    /// A vertex of a mesh and a face of the cloth.
    MeshVertexFace,
    /// An edge of the cloth and one of a mesh.
    EdgeMeshEdge,
}

impl Kind {
    /// How many of the four vertices are of the first primitive.
    pub(super) const fn n_first(self) -> usize {
        match self {
            Self::EdgeEdge | Self::EdgeMeshEdge => 2,
            Self::VertexFace | Self::VertexMeshFace | Self::MeshVertexFace => 1,
        }
    }

    /// Whether both are of the cloth.
    pub(super) const fn is_of_cloth(self) -> bool {
        matches!(self, Self::VertexFace | Self::EdgeEdge)
    }

    /// The weights of four vertices at their nearest points, and the offset
    /// from the second primitive to the first [m].
    pub(super) fn nearest(self, [a, b, c, d]: [DVec3; 4]) -> ([f64; 4], DVec3) {
        match self.n_first() {
            1 => {
                let found = point_triangle(a, [b, c, d]);
                (found.weights, found.offset)
            }
            _ => {
                let found = edge_edge([a, b], [c, d]);
                (found.weights, found.offset)
            }
        }
    }
}

/// Two primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub(super) kind: Kind,
    /// Which mesh, where one is meant.
    pub(super) mesh: u32,
    pub(super) first: u32,
    pub(super) second: u32,
}

/// Where the vertices of all meshes are, one mesh after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct MeshMotion {
    start: Vec<DVec3>,
    end: Vec<DVec3>,
}

impl MeshMotion {
    pub(super) fn set(&mut self, meshes: &[&MeshObstacle]) {
        self.start.clear();
        self.end.clear();
        for mesh in meshes {
            self.start.extend_from_slice(mesh.start());
            self.end.extend_from_slice(mesh.end());
        }
    }

    /// How many vertices there are.
    pub(super) fn len(&self) -> usize {
        self.start.len()
    }

    /// The motion of a cloth from `start` to `end` [m] and of the meshes.
    pub(super) fn with<'a>(&'a self, start: &'a [DVec3], end: &'a [DVec3]) -> Motion<'a> {
        Motion {
            start,
            end,
            mesh_start: &self.start,
            mesh_end: &self.end,
        }
    }
}

/// Where all vertices are at the start and at the end of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion<'a> {
    pub(super) start: &'a [DVec3],
    pub(super) end: &'a [DVec3],
    pub(super) mesh_start: &'a [DVec3],
    pub(super) mesh_end: &'a [DVec3],
}

impl Motion<'_> {
    /// Where four vertices start [m].
    pub(super) fn starts(&self, vertices: [u32; 4]) -> [DVec3; 4] {
        let n = self.start.len();
        vertices.map(|v| match (v as usize).checked_sub(n) {
            None => self.start[v as usize],
            Some(v) => self.mesh_start[v],
        })
    }

    /// Where they end [m].
    pub(super) fn ends(&self, vertices: [u32; 4]) -> [DVec3; 4] {
        let n = self.start.len();
        vertices.map(|v| match (v as usize).checked_sub(n) {
            None => self.end[v as usize],
            Some(v) => self.mesh_end[v],
        })
    }

    /// Where a vertex is after a share of the step [m].
    pub(super) fn vertex(&self, v: u32, fraction: f64) -> DVec3 {
        let n = self.start.len();
        match (v as usize).checked_sub(n) {
            None => self.start[v as usize].lerp(self.end[v as usize], fraction),
            Some(v) => self.mesh_start[v].lerp(self.mesh_end[v], fraction),
        }
    }

    /// Where they are after a share of the step [m].
    pub(super) fn at(&self, vertices: [u32; 4], fraction: f64) -> [DVec3; 4] {
        let (start, end) = (self.starts(vertices), self.ends(vertices));
        std::array::from_fn(|i| start[i].lerp(end[i], fraction))
    }
}

/// Σ wᵢ xᵢ.
pub(super) fn weighted(weights: [f64; 4], x: [DVec3; 4]) -> DVec3 {
    (0..4).fold(DVec3::ZERO, |sum, i| sum + x[i] * weights[i])
}
