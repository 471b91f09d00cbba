//! Garments: a mesh, its flat pattern, its panels and its pins.

use alloc::string::String;
use alloc::vec::Vec;

use glam::{Vec2, Vec3};

use crate::mesh::{MeshError, TriMesh};

/// The flat, stress-free state of a garment.
///
/// Pattern vertices are not the mesh's vertices: a seam has one of each side.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Flat coordinates [m].
    pub coordinates: Vec<Vec2>,
    /// Corners as indices into `coordinates`, one entry a mesh triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// A named piece of the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panel {
    /// What it is called.
    pub name: String,
    /// Its triangles.
    pub triangles: Vec<u32>,
}

/// Vertices under a name, such as the pins of a waistband.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexGroup {
    /// What it is called.
    pub name: String,
    /// Its vertices, sorted and unique.
    pub vertices: Vec<u32>,
}

/// A garment: draped mesh, optional flat pattern, panels, vertex groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Garment {
    name: String,
    mesh: TriMesh,
    pattern: Option<Pattern>,
    panels: Vec<Panel>,
    groups: Vec<VertexGroup>,
}

/// Why parts don't make a [`Garment`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GarmentError {
    /// The mesh is wrong.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The pattern has another number of triangles than the mesh.
    #[error("the pattern has {found} triangles, the mesh has {expected}")]
    PatternTriangles {
        /// Triangles of the pattern.
        found: usize,
        /// Triangles of the mesh.
        expected: usize,
    },
    /// A pattern triangle names a coordinate that is not there.
    #[error(
        "pattern triangle {triangle} names coordinate {coordinate}, but there are only {n_coordinates}"
    )]
    NoSuchCoordinate {
        /// The triangle's index.
        triangle: usize,
        /// The coordinate it names.
        coordinate: u32,
        /// How many there are.
        n_coordinates: usize,
    },
    /// A pattern coordinate is not a number, or beyond a thousand kilometres.
    #[error("pattern coordinate {coordinate} is not finite or beyond 1e6 m")]
    NotFinite {
        /// Its index.
        coordinate: usize,
    },
    /// A group or panel names something that is not there.
    #[error("group {group} names {what} {index}, but there are only {count}")]
    Group {
        /// The group's name.
        group: String,
        /// `vertex` or `triangle`.
        what: &'static str,
        /// The index it names.
        index: u32,
        /// How many there are.
        count: usize,
    },
}

impl Garment {
    /// A garment; without a `pattern` the mesh itself is the rest shape.
    ///
    /// # Errors
    /// When an index is out of range or a coordinate is not finite.
    pub fn new(
        name: String,
        mesh: TriMesh,
        pattern: Option<Pattern>,
        panels: Vec<Panel>,
        groups: Vec<VertexGroup>,
    ) -> Result<Self, GarmentError> {
        let (n_vertices, n_triangles) = (mesh.positions().len(), mesh.triangles().len());
        if let Some(pattern) = &pattern {
            check_pattern(pattern, n_triangles)?;
        }
        let check = |group: &str, what, members: &[u32], count: usize| match members
            .iter()
            .find(|&&i| i as usize >= count)
        {
            Some(&index) => Err(GarmentError::Group {
                group: group.into(),
                what,
                index,
                count,
            }),
            None => Ok(()),
        };
        for panel in &panels {
            check(&panel.name, "triangle", &panel.triangles, n_triangles)?;
        }
        for group in &groups {
            check(&group.name, "vertex", &group.vertices, n_vertices)?;
        }
        Ok(Self {
            name,
            mesh,
            pattern,
            panels,
            groups,
        })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The garment as it lies on the template body in its rest pose [m].
    pub const fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The flat rest shape, if it has one; otherwise the mesh is at rest as it is.
    pub const fn pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }

    /// The panels.
    pub fn panels(&self) -> &[Panel] {
        &self.panels
    }

    /// The named vertex groups, pins among them.
    pub fn groups(&self) -> &[VertexGroup] {
        &self.groups
    }

    /// The vertices of a named group.
    pub fn group(&self, name: &str) -> Option<&[u32]> {
        self.groups
            .iter()
            .find(|g| g.name == name)
            .map(|g| g.vertices.as_slice())
    }

    /// The rest lengths of a triangle's sides 01, 12, 20 [m].
    pub fn rest_lengths(&self, triangle: u32) -> [f32; 3] {
        match &self.pattern {
            Some(pattern) => {
                let [a, b, c] =
                    pattern.triangles[triangle as usize].map(|i| pattern.coordinates[i as usize]);
                [a.distance(b), b.distance(c), c.distance(a)]
            }
            None => {
                let [a, b, c]: [Vec3; 3] = self.mesh.corners(triangle);
                [a.distance(b), b.distance(c), c.distance(a)]
            }
        }
    }
}

fn check_pattern(pattern: &Pattern, n_triangles: usize) -> Result<(), GarmentError> {
    if pattern.triangles.len() != n_triangles {
        return Err(GarmentError::PatternTriangles {
            found: pattern.triangles.len(),
            expected: n_triangles,
        });
    }
    let n_coordinates = pattern.coordinates.len();
    for (triangle, corners) in pattern.triangles.iter().enumerate() {
        if let Some(&coordinate) = corners.iter().find(|&&c| c as usize >= n_coordinates) {
            return Err(GarmentError::NoSuchCoordinate {
                triangle,
                coordinate,
                n_coordinates,
            });
        }
    }
    let sound = |c: &Vec2| c.is_finite() && c.abs().max_element() <= 1e6;
    match pattern.coordinates.iter().position(|c| !sound(c)) {
        Some(coordinate) => Err(GarmentError::NotFinite { coordinate }),
        None => Ok(()),
    }
}
