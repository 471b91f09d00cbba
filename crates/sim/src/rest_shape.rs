//! The flat, stress-free state that energies are measured from: [`RestShape`].
//!
//! Every triangle lies flat in a frame of its own whose axes are the pattern's,
//! so that fabrics know warp from weft. Across an edge, also across a seam
//! between panels, the neighbour is laid flat beside it by unfolding. A garment
//! without a pattern rests as its mesh is, curved.

use drapery_core::{Garment, Topology};
use glam::{DMat2, DVec2, DVec3};

/// The rest shape of a cloth.
#[derive(Clone, Debug)]
pub struct RestShape {
    topology: Topology,
    /// Flat corners of each triangle in the pattern's axes [m].
    corners: Vec<[DVec2; 3]>,
    /// Area of each triangle [m²].
    areas: Vec<f64>,
    /// Positions at rest [m], where the rest shape is not flat.
    curved: Option<Vec<DVec3>>,
}

/// Why a garment has no rest shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RestShapeError {
    /// A triangle has no area when flat.
    #[error("triangle {triangle} has an area of {area} m² when flat, at least {limit} is needed")]
    Degenerate {
        /// Its index.
        triangle: usize,
        /// Its area [m²].
        area: f64,
        /// The least area [m²].
        limit: f64,
    },
    /// A vertex is part of no triangle, so it would have no mass.
    #[error("vertex {vertex} is part of no triangle")]
    Loose {
        /// Its index.
        vertex: usize,
    },
}

/// Triangles smaller than this have no usable inverse [m²]; a square of 10 µm.
const MIN_AREA: f64 = 1e-10;

impl RestShape {
    /// The rest shape of a garment: its pattern, or else its mesh as it is, each
    /// triangle laid flat with its first edge along u, curved as the mesh is.
    ///
    /// # Errors
    /// When a triangle has no area.
    pub fn new(garment: &Garment) -> Result<Self, RestShapeError> {
        let mesh = garment.mesh();
        let corners = match garment.pattern() {
            Some(pattern) => pattern
                .triangles
                .iter()
                .map(|t| t.map(|c| pattern.coordinates[c as usize].as_dvec2()))
                .collect(),
            None => mesh
                .triangles()
                .iter()
                .map(|t| {
                    let [a, b, c] = t.map(|v| mesh.positions()[v as usize].as_dvec3());
                    let (u, w) = (b - a, c - a);
                    let length = u.length().max(f64::MIN_POSITIVE);
                    let along = u.dot(w) / length;
                    let across = u.cross(w).length() / length;
                    [
                        DVec2::ZERO,
                        DVec2::new(length, 0.0),
                        DVec2::new(along, across),
                    ]
                })
                .collect(),
        };
        let flat = Self::from_corners(mesh.topology().clone(), corners)?;
        Ok(match garment.pattern() {
            Some(_) => flat,
            None => flat.with_curvature(mesh.positions().iter().map(|p| p.as_dvec3()).collect()),
        })
    }

    /// A rest shape from the flat corners of each triangle [m]; triangles
    /// wound clockwise are mirrored.
    ///
    /// # Errors
    /// When a triangle has no area, or a vertex has no triangle.
    ///
    /// # Panics
    /// When there are not three corners a triangle of the topology.
    pub fn from_corners(
        topology: Topology,
        mut corners: Vec<[DVec2; 3]>,
    ) -> Result<Self, RestShapeError> {
        assert_eq!(
            corners.len(),
            topology.triangles().len(),
            "three corners a triangle"
        );
        let mut areas = Vec::with_capacity(corners.len());
        for (triangle, corners) in corners.iter_mut().enumerate() {
            let mut area = signed_area(corners);
            if area < 0.0 {
                for corner in corners.iter_mut() {
                    corner.x = -corner.x;
                }
                area = -area;
            }
            if area.is_nan() || area < MIN_AREA {
                return Err(RestShapeError::Degenerate {
                    triangle,
                    area,
                    limit: MIN_AREA,
                });
            }
            areas.push(area);
        }
        let mut used = vec![false; topology.n_vertices()];
        for vertex in topology.triangles().iter().flatten() {
            used[*vertex as usize] = true;
        }
        if let Some(vertex) = used.iter().position(|used| !used) {
            return Err(RestShapeError::Loose { vertex });
        }
        Ok(Self {
            topology,
            corners,
            areas,
            curved: None,
        })
    }

    /// The same, curved at rest as it is at `positions` [m].
    ///
    /// # Panics
    /// When there is not one position a vertex.
    #[must_use]
    pub fn with_curvature(self, positions: Vec<DVec3>) -> Self {
        assert_eq!(
            positions.len(),
            self.topology.n_vertices(),
            "one position a vertex"
        );
        Self {
            curved: Some(positions),
            ..self
        }
    }

    /// The positions at rest [m] where the rest shape is not flat.
    pub fn curved(&self) -> Option<&[DVec3]> {
        self.curved.as_deref()
    }

    /// How the vertices are joined.
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The flat corners of each triangle in the pattern's axes [m].
    pub fn corners(&self) -> &[[DVec2; 3]] {
        &self.corners
    }

    /// The area of each triangle [m²].
    pub fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// The gradients of a triangle's three linear shape functions [1/m].
    pub(crate) fn shape_gradients(&self, triangle: usize) -> [DVec2; 3] {
        let [a, b, c] = self.corners[triangle];
        let inverse = DMat2::from_cols(b - a, c - a).inverse();
        let (g1, g2) = (inverse.row(0), inverse.row(1));
        [-g1 - g2, g1, g2]
    }

    /// A third of the area around each vertex times `density` [kg].
    pub fn masses(&self, density: f64) -> Vec<f64> {
        let mut masses = vec![0.0; self.topology.n_vertices()];
        for (corners, area) in self.topology.triangles().iter().zip(&self.areas) {
            for v in corners {
                masses[*v as usize] += density * area / 3.0;
            }
        }
        masses
    }
}

fn signed_area([a, b, c]: &[DVec2; 3]) -> f64 {
    (*b - *a).perp_dot(*c - *a) / 2.0
}
