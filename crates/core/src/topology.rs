//! How the vertices of a mesh are joined: [`Topology`].

use alloc::vec;
use alloc::vec::Vec;

use crate::UnionFind;

/// The triangles of a mesh, each naming three of its vertices.
///
/// Every index is within range. Nothing more is promised: a topology may be
/// open, non-manifold or name a vertex twice in a triangle; the pre-flight
/// checks report such things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    n_vertices: u32,
    triangles: Vec<[u32; 3]>,
}

/// Why triangles don't make a [`Topology`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// A triangle names a vertex that is not there.
    #[error("triangle {triangle} names vertex {vertex}, but there are only {n_vertices}")]
    NoSuchVertex {
        /// The triangle's index.
        triangle: u32,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        n_vertices: u32,
    },
    /// More than 2³¹ triangles.
    #[error("{n_triangles} triangles are more than the limit of {}", i32::MAX)]
    TooMany {
        /// How many triangles were given.
        n_triangles: usize,
    },
}

/// An undirected edge with the triangles on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The two ends, the smaller first.
    pub vertices: [u32; 2],
    /// The first triangle on this edge.
    pub triangle: u32,
    /// How many triangles share this edge: 1 on a border, 2 inside a manifold.
    pub n_triangles: u32,
    /// Triangles that run from the smaller vertex to the larger one.
    pub n_forward: u32,
}

impl Edge {
    /// Whether the edge lies on an open border.
    pub const fn is_border(&self) -> bool {
        self.n_triangles == 1
    }

    /// Whether two triangles meet here with matching winding.
    pub const fn is_consistent(&self) -> bool {
        self.n_triangles == 2 && self.n_forward == 1
    }
}

impl Topology {
    /// A topology of `n_vertices` vertices.
    ///
    /// # Errors
    /// When a triangle names a vertex that is not there.
    pub fn new(n_vertices: u32, triangles: Vec<[u32; 3]>) -> Result<Self, TopologyError> {
        if triangles.len() > i32::MAX as usize {
            return Err(TopologyError::TooMany {
                n_triangles: triangles.len(),
            });
        }
        for (triangle, corners) in triangles.iter().enumerate() {
            for &vertex in corners {
                if vertex >= n_vertices {
                    return Err(TopologyError::NoSuchVertex {
                        triangle: triangle as u32,
                        vertex,
                        n_vertices,
                    });
                }
            }
        }
        Ok(Self {
            n_vertices,
            triangles,
        })
    }

    /// How many vertices there are.
    pub const fn n_vertices(&self) -> usize {
        self.n_vertices as usize
    }

    /// The triangles, shape [triangle, 3].
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// All edges, sorted by their vertices.
    pub fn edges(&self) -> Vec<Edge> {
        // (low, high, triangle, runs from low to high)
        let mut sides: Vec<(u32, u32, u32, bool)> = Vec::with_capacity(self.triangles.len() * 3);
        for (triangle, corners) in self.triangles.iter().enumerate() {
            for side in 0..3 {
                let (a, b) = (corners[side], corners[(side + 1) % 3]);
                if a != b {
                    sides.push((a.min(b), a.max(b), triangle as u32, a < b));
                }
            }
        }
        sides.sort_unstable();
        let mut edges: Vec<Edge> = Vec::with_capacity(sides.len() / 2 + 1);
        for (low, high, triangle, forward) in sides {
            match edges.last_mut() {
                Some(edge) if edge.vertices == [low, high] => {
                    edge.n_triangles += 1;
                    edge.n_forward += u32::from(forward);
                }
                _ => edges.push(Edge {
                    vertices: [low, high],
                    triangle,
                    n_triangles: 1,
                    n_forward: u32::from(forward),
                }),
            }
        }
        edges
    }

    /// The neighbours of every vertex, each list sorted.
    pub fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut rings = vec![Vec::new(); self.n_vertices()];
        for edge in self.edges() {
            let [a, b] = edge.vertices;
            rings[a as usize].push(b);
            rings[b as usize].push(a);
        }
        for ring in &mut rings {
            ring.sort_unstable();
        }
        rings
    }

    /// A part number for every vertex, counted from 0 in vertex order, and how
    /// many parts there are. A vertex without a triangle is a part of its own.
    pub fn parts(&self) -> (Vec<u32>, u32) {
        let mut sets = UnionFind::new(self.n_vertices);
        for &[a, b, c] in &self.triangles {
            sets.join(a, b);
            sets.join(b, c);
        }
        let mut parts = sets.into_names();
        let mut n_parts = 0;
        for vertex in 0..parts.len() {
            // The first of a part names it, so its number is known by now.
            let first = parts[vertex] as usize;
            parts[vertex] = if first == vertex {
                n_parts += 1;
                n_parts - 1
            } else {
                parts[first]
            };
        }
        (parts, n_parts)
    }

    /// Whether every edge has two triangles that agree in winding.
    pub fn is_closed(&self) -> bool {
        !self.triangles.is_empty() && self.edges().iter().all(Edge::is_consistent)
    }

    /// Vertices − edges + triangles, over the vertices that a triangle uses.
    pub fn euler_characteristic(&self) -> i64 {
        let mut used = vec![false; self.n_vertices()];
        for corners in &self.triangles {
            for &v in corners {
                used[v as usize] = true;
            }
        }
        let n_used = used.iter().filter(|&&u| u).count() as i64;
        n_used - self.edges().len() as i64 + self.triangles.len() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> Topology {
        Topology::new(4, vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap()
    }

    #[test]
    fn a_tetrahedron_is_closed_with_euler_two() {
        let t = tetrahedron();
        assert!(t.is_closed());
        assert_eq!(t.euler_characteristic(), 2);
        assert_eq!(t.edges().len(), 6);
        assert_eq!(t.neighbours()[3], [0, 1, 2]);
    }

    #[test]
    fn a_flipped_triangle_is_not_closed() {
        let t = Topology::new(4, vec![[0, 1, 2], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap();
        assert!(!t.is_closed());
    }

    #[test]
    fn parts_are_counted_in_vertex_order() {
        let t = Topology::new(7, vec![[0, 2, 4], [1, 3, 5]]).unwrap();
        assert_eq!(t.parts(), (vec![0, 1, 0, 1, 0, 1, 2], 3));
    }

    #[test]
    fn an_index_out_of_range_is_named() {
        assert_eq!(
            Topology::new(3, vec![[0, 1, 2], [0, 1, 3]]),
            Err(TopologyError::NoSuchVertex {
                triangle: 1,
                vertex: 3,
                n_vertices: 3
            })
        );
    }
}
