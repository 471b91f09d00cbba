//! A cloth that can be solved for: [`Cloth`], energies and masses over one
//! rest shape, or over several that are joined to one cloth as its [`Piece`]s.
//!
//! Pieces have nothing in common but that they are solved for at once: each
//! keeps its fabric, and no energy reaches from one to another. What they do
//! to each other is contact.

use std::ops::Range;

use drapery_core::{Fabric, FabricError, Topology, TopologyError};
use glam::DVec3;

use crate::{Bending, ClampedEdge, Membrane, RestShape, StrainCap};

/// A cloth: what it costs to deform it, and what it weighs.
#[derive(Clone, Debug)]
pub struct Cloth {
    membrane: Membrane,
    bending: Bending,
    masses: Vec<f64>,
    pieces: Vec<Piece>,
    /// Of each vertex.
    piece_of: Vec<u16>,
    around: Around,
    topology: Topology,
    longest_edge: f64,
}

/// A part of a cloth that was made by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Its vertices.
    pub vertices: Range<usize>,
    /// Its triangles.
    pub triangles: Range<usize>,
    /// Mass of a square metre [kg/m²].
    pub density: f64,
    /// How long strain rates count [s]: β of the fabric.
    pub damping: f64,
}

/// Why a rest shape, a fabric and its clamps don't make a cloth.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClothError {
    /// The fabric gives energy away.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// A clamp is not on the border of the cloth.
    #[error("{}–{} is clamped but is no border edge of the cloth", vertices[0], vertices[1])]
    NotABorder {
        /// The ends of what was clamped.
        vertices: [u32; 2],
    },
    /// A clamp's slope is not of length one.
    #[error("the slope at clamped edge {}–{} is {length} long, not 1", vertices[0], vertices[1])]
    Slope {
        /// The ends of the edge.
        vertices: [u32; 2],
        /// How long it is.
        length: f64,
    },
    /// A number of a strain cap is out of range.
    #[error("the {what} of a strain cap is {value}, which is not zero or a positive number")]
    Cap {
        /// `limit` or `rise`.
        what: &'static str,
        /// What it is.
        value: f64,
    },
    /// A cloth was to be joined of nothing.
    #[error("there is no piece to make a cloth of")]
    NoPiece,
    /// There are more pieces or vertices than can be numbered.
    #[error("{n_pieces} pieces of {n_vertices} vertices in all are too many for one cloth")]
    TooMany {
        /// How many pieces there are.
        n_pieces: usize,
        /// How many vertices they have together.
        n_vertices: usize,
    },
    /// There are too many triangles.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}

/// The corners of triangles at each vertex.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    starts: Vec<u32>,
    /// 4 · triangle + corner.
    corners: Vec<u32>,
}

impl Around {
    pub(crate) fn new(n_vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let mut all: Vec<(u32, u32)> = Vec::with_capacity(3 * triangles.len());
        for (triangle, vertices) in triangles.iter().enumerate() {
            for (corner, vertex) in vertices.iter().enumerate() {
                all.push((*vertex, 4 * triangle as u32 + corner as u32));
            }
        }
        all.sort_unstable();
        let mut starts = vec![0; n_vertices + 1];
        for (vertex, _) in &all {
            starts[*vertex as usize + 1] += 1;
        }
        for vertex in 0..n_vertices {
            starts[vertex + 1] += starts[vertex];
        }
        Self {
            starts,
            corners: all.into_iter().map(|(_, corner)| corner).collect(),
        }
    }

    /// The triangles at a vertex, each with the corner that it is of them.
    pub(crate) fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let here = self.starts[vertex] as usize..self.starts[vertex + 1] as usize;
        self.corners[here]
            .iter()
            .map(|at| ((at / 4) as usize, (at % 4) as usize))
    }
}

impl Cloth {
    /// The cloth of a rest shape made of `fabric`, with slopes prescribed at
    /// clamped border edges.
    ///
    /// # Errors
    /// When the fabric gives energy away, or a clamp is not on the border or
    /// has a slope that is no unit vector.
    pub fn new(
        rest: &RestShape,
        fabric: &Fabric,
        clamps: &[ClampedEdge],
    ) -> Result<Self, ClothError> {
        fabric.check()?;
        check_clamps(rest.topology(), clamps)?;
        Ok(Self {
            membrane: Membrane::new(rest, fabric),
            bending: Bending::new(rest, fabric, clamps),
            masses: rest.masses(fabric.density),
            pieces: vec![Piece {
                vertices: 0..rest.topology().n_vertices(),
                triangles: 0..rest.topology().triangles().len(),
                density: fabric.density,
                damping: fabric.damping,
            }],
            piece_of: vec![0; rest.topology().n_vertices()],
            topology: rest.topology().clone(),
            longest_edge: rest
                .corners()
                .iter()
                .flat_map(|[a, b, c]| [a.distance(*b), b.distance(*c), c.distance(*a)])
                .fold(0.0, f64::max),
            around: Around::new(rest.topology().n_vertices(), rest.topology().triangles()),
        })
    }

    /// One cloth of several, whose pieces come one after the other. A cloth
    /// joined of one is that cloth.
    ///
    /// # Errors
    /// When there is none, or there are more than 2¹⁶ pieces or 2³² vertices.
    pub fn join(cloths: &[Self]) -> Result<Self, ClothError> {
        let n_pieces = cloths.iter().map(|c| c.pieces.len()).sum();
        let n_vertices = cloths.iter().map(Self::n_vertices).sum();
        let too_many = ClothError::TooMany {
            n_pieces,
            n_vertices,
        };
        let Ok(n_all) = u32::try_from(n_vertices) else {
            return Err(too_many);
        };
        if cloths.is_empty() {
            return Err(ClothError::NoPiece);
        }
        if n_pieces > usize::from(u16::MAX) {
            return Err(too_many);
        }
        let (mut pieces, mut triangles) = (Vec::new(), Vec::new());
        let mut firsts = Vec::new();
        let mut first = 0;
        for cloth in cloths {
            let first_triangle = triangles.len();
            let shifted = |r: &Range<usize>, by: usize| r.start + by..r.end + by;
            pieces.extend(cloth.pieces.iter().map(|piece| Piece {
                vertices: shifted(&piece.vertices, first),
                triangles: shifted(&piece.triangles, first_triangle),
                ..*piece
            }));
            let own = cloth.topology.triangles().iter();
            triangles.extend(own.map(|t| t.map(|v| v + first as u32)));
            firsts.push(first as u32);
            first += cloth.n_vertices();
        }
        let topology = Topology::new(n_all, triangles)?;
        Ok(Self {
            membrane: Membrane::join(cloths.iter().map(|c| &c.membrane).zip(firsts.clone())),
            bending: Bending::join(cloths.iter().map(|c| &c.bending).zip(firsts)),
            masses: cloths.iter().flat_map(|c| c.masses.clone()).collect(),
            piece_of: (0..)
                .zip(&pieces)
                .flat_map(|(number, piece)| std::iter::repeat_n(number, piece.vertices.len()))
                .collect(),
            pieces,
            around: Around::new(n_vertices, topology.triangles()),
            topology,
            longest_edge: cloths.iter().map(|c| c.longest_edge).fold(0.0, f64::max),
        })
    }

    /// The same with a strain cap.
    ///
    /// # Errors
    /// When a number of it is negative or not finite.
    pub fn with_cap(self, cap: Option<StrainCap>) -> Result<Self, ClothError> {
        if let Some(cap) = cap {
            for (what, value) in [("limit", cap.limit), ("rise", cap.rise)] {
                if !(value.is_finite() && value >= 0.0) {
                    return Err(ClothError::Cap { what, value });
                }
            }
        }
        Ok(Self {
            membrane: self.membrane.with_cap(cap),
            ..self
        })
    }

    /// How many vertices there are.
    pub fn n_vertices(&self) -> usize {
        self.masses.len()
    }

    /// The mass of each vertex [kg].
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// What it is joined of.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Which piece each vertex is of.
    pub(crate) fn piece_of(&self) -> &[u16] {
        &self.piece_of
    }

    /// Whether strain rates count anywhere.
    pub(crate) fn is_damped(&self) -> bool {
        self.pieces.iter().any(|piece| piece.damping > 0.0)
    }

    /// Stretch and shear.
    pub const fn membrane(&self) -> &Membrane {
        &self.membrane
    }

    /// Bending.
    pub const fn bending(&self) -> &Bending {
        &self.bending
    }

    pub(crate) const fn around(&self) -> &Around {
        &self.around
    }

    /// How the vertices are joined.
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The longest edge at rest [m].
    pub const fn longest_edge(&self) -> f64 {
        self.longest_edge
    }

    /// The elastic energy at positions `x` [J].
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        self.membrane.energy(x) + self.bending.energy(x)
    }

    /// Adds the gradient of the elastic energy at `x` to `out` [N].
    pub fn add_gradient(&self, x: &[DVec3], out: &mut [DVec3]) {
        self.membrane.add_gradient(x, out);
        self.bending.add_gradient(x, out);
    }
}

/// How far the length of a slope may be from one.
const UNIT: f64 = 1e-6;

fn check_clamps(topology: &Topology, clamps: &[ClampedEdge]) -> Result<(), ClothError> {
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    let edges = topology.edges();
    let borders = edges.iter().filter(|e| e.is_border());
    let mut borders: Vec<[u32; 2]> = borders.map(|e| sorted(e.vertices)).collect();
    borders.sort_unstable();
    for ClampedEdge { vertices, slope } in clamps.iter().copied() {
        if borders.binary_search(&sorted(vertices)).is_err() {
            return Err(ClothError::NotABorder { vertices });
        }
        let length = slope.length();
        if !length.is_finite() || (length - 1.0).abs() > UNIT {
            return Err(ClothError::Slope { vertices, length });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::textbook::{Rectangle, Triangulation};

    fn with_clamp(vertices: [u32; 2], slope: DVec3) -> Result<Cloth, ClothError> {
        // Vertices 0 to 4 are on the lower border.
        let sheet = Rectangle::new(1.0, 4, 4, Triangulation::Aligned).unwrap();
        let fabric = Fabric::plain("test", 0.2, 500.0, 1e-5);
        Cloth::new(&sheet.rest, &fabric, &[ClampedEdge { vertices, slope }])
    }

    #[test]
    fn clamps_are_border_edges_with_unit_slopes() {
        assert!(with_clamp([1, 0], DVec3::Y).is_ok());
        for vertices in [[0, 2], [6, 7], [0, 99]] {
            let found = with_clamp(vertices, DVec3::Y).unwrap_err();
            assert_eq!(found, ClothError::NotABorder { vertices });
        }
        for slope in [DVec3::ZERO, DVec3::splat(f64::NAN), 2.0 * DVec3::Y] {
            let found = with_clamp([0, 1], slope).unwrap_err();
            assert!(matches!(found, ClothError::Slope { .. }), "{found}");
        }
    }

    #[test]
    fn a_cap_that_pushes_is_refused() {
        let cloth = with_clamp([0, 1], DVec3::Y).unwrap();
        let cap = |limit, rise| Some(StrainCap { limit, rise });
        assert!(cloth.clone().with_cap(cap(0.05, 100.0)).is_ok());
        for bad in [cap(-0.1, 1.0), cap(0.1, f64::INFINITY)] {
            let found = cloth.clone().with_cap(bad).unwrap_err();
            assert!(matches!(found, ClothError::Cap { .. }), "{found}");
        }
    }
}
