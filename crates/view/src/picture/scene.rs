//! What is in a picture: [`Scene`], its meshes and their surfaces.

use drapery_core::Topology;
use glam::Vec3;

use super::camera::{Bounds, Size};
use super::colour::Colour;
use super::colour_map::ColourMap;

/// Meshes above a floor, in front of a background.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// What is seen.
    pub meshes: Vec<SceneMesh<'a>>,
    /// The height of a floor that catches shadows and carries a grid of 10 cm
    /// and 1 m [m]; a camera below it does not see it.
    pub floor: Option<f32>,
    /// What is behind everything.
    pub background: Background,
}

impl<'a> Scene<'a> {
    /// An empty scene with a floor at y = 0.
    pub fn on_floor() -> Self {
        Self {
            floor: Some(0.0),
            ..Self::default()
        }
    }

    /// The scene with one mesh more.
    #[must_use]
    pub fn with(mut self, mesh: SceneMesh<'a>) -> Self {
        self.meshes.push(mesh);
        self
    }

    /// All vertices of all meshes [m].
    pub fn points(&self) -> impl Iterator<Item = Vec3> + '_ {
        self.meshes.iter().flat_map(|m| m.positions.iter().copied())
    }

    /// The bounds of all meshes.
    pub fn bounds(&self) -> Bounds {
        Bounds::of(self.points())
    }

    /// Checks that every mesh can be drawn.
    pub(super) fn check(&self) -> Result<(), SceneError> {
        for (mesh, part) in self.meshes.iter().enumerate() {
            part.check(mesh)?;
        }
        match self.floor {
            Some(height) if !height.is_finite() => Err(SceneError::FloorNotFinite),
            _ => Ok(()),
        }
    }
}

/// What is behind everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Background {
    /// One colour.
    Plain(Colour),
    /// From one colour at the top to another at the bottom.
    Gradient {
        /// The first row's colour.
        top: Colour,
        /// The last row's colour.
        bottom: Colour,
    },
}

impl Default for Background {
    /// A light warm grey, a little darker at the bottom.
    fn default() -> Self {
        Self::Gradient {
            top: Colour::rgb(236, 237, 238),
            bottom: Colour::rgb(214, 213, 211),
        }
    }
}

/// Which sides of a mesh are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// Only triangles that turn counter-clockwise towards the camera: closed
    /// bodies.
    Front,
    /// All of them, the back darker and greyer: cloth.
    #[default]
    Both,
}

/// What a mesh looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Surface<'a> {
    /// One colour.
    Plain(Colour),
    /// A colour for the number of each vertex.
    Values {
        /// One number a vertex, shape [vertex].
        values: &'a [f32],
        /// The numbers at the low and high end of the map.
        range: (f32, f32),
        /// The colours between.
        map: ColourMap,
    },
}

/// Edges of the triangles, drawn over the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wireframe {
    /// The colour of the lines.
    pub colour: Colour,
    /// Their width [pixels].
    pub width: f32,
}

impl Default for Wireframe {
    fn default() -> Self {
        Self {
            colour: Colour::rgb(30, 32, 38),
            width: 0.8,
        }
    }
}

/// How a mesh hides, and is hidden by, those behind and before it: de Aguiar and
/// others, "Stable Spaces for Real-time Clothing", 2010, §6.2.
///
/// ```text
/// cloth is seen before skin  ⇔  d_cloth < d_skin + ε
/// ```
///
/// so that a garment that is a little beneath the skin still covers it. The paper
/// has the sign of ε the other way round, which would hide cloth that lies on the
/// skin. Cloth with its inner side to the camera is compared without ε: it is the far
/// side of a garment, behind a neck or between legs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Depth<'a> {
    /// The nearest is seen.
    #[default]
    Plain,
    /// Skin, which cloth may cover from behind where all corners of a triangle are
    /// under clothes. A hand before a dress is not.
    Skin {
        /// Whether each vertex is under clothes, shape [vertex].
        is_under: &'a [bool],
    },
    /// Cloth that covers skin from so far behind it [m].
    Cloth {
        /// ε [m].
        epsilon: f32,
    },
}

/// ε of a garment that does not say it [m]: learned garments sink by a centimetre or
/// two where they were not corrected. Twice as much would show the far side of a
/// wrist.
pub const DEPTH_BIAS: f32 = 0.02;

/// A mesh in a scene.
#[derive(Clone, Copy, Debug)]
pub struct SceneMesh<'a> {
    /// The triangles.
    pub topology: &'a Topology,
    /// Positions [m], shape [vertex].
    pub positions: &'a [Vec3],
    /// What it looks like.
    pub surface: Surface<'a>,
    /// Which sides are drawn.
    pub sides: Sides,
    /// Edges drawn over the surface, if wanted.
    pub wireframe: Option<Wireframe>,
    /// How its depth is compared with that of others.
    pub depth: Depth<'a>,
}

impl<'a> SceneMesh<'a> {
    /// A mesh of one colour, drawn from both sides.
    pub const fn cloth(topology: &'a Topology, positions: &'a [Vec3], colour: Colour) -> Self {
        Self {
            topology,
            positions,
            surface: Surface::Plain(colour),
            sides: Sides::Both,
            wireframe: None,
            depth: Depth::Plain,
        }
    }

    /// A closed body of skin colour, drawn from outside.
    pub const fn body(topology: &'a Topology, positions: &'a [Vec3]) -> Self {
        Self {
            topology,
            positions,
            surface: Surface::Plain(Colour::SKIN),
            sides: Sides::Front,
            wireframe: None,
            depth: Depth::Plain,
        }
    }

    /// The same mesh with another surface.
    #[must_use]
    pub const fn with_surface(mut self, surface: Surface<'a>) -> Self {
        self.surface = surface;
        self
    }

    /// The same mesh with its edges drawn over it.
    #[must_use]
    pub const fn with_wireframe(mut self, wireframe: Wireframe) -> Self {
        self.wireframe = Some(wireframe);
        self
    }

    /// The same mesh, compared in depth as `depth` says.
    #[must_use]
    pub const fn with_depth(mut self, depth: Depth<'a>) -> Self {
        self.depth = depth;
        self
    }

    fn check(&self, mesh: usize) -> Result<(), SceneError> {
        let n_vertices = self.topology.n_vertices();
        let right_length = |what: &'static str, n: usize| {
            if n == n_vertices {
                Ok(())
            } else {
                Err(SceneError::WrongLength {
                    mesh,
                    what,
                    n,
                    n_vertices,
                })
            }
        };
        right_length("positions", self.positions.len())?;
        match self.depth {
            Depth::Skin { is_under } => right_length("flags", is_under.len())?,
            Depth::Cloth { epsilon } if !(0.0..=1.0).contains(&epsilon) => {
                return Err(SceneError::BadDepth { mesh, epsilon });
            }
            _ => {}
        }
        let bad = |p: &Vec3| !p.is_finite() || p.abs().max_element() > MAX_COORDINATE;
        if let Some(vertex) = self.positions.iter().position(bad) {
            return Err(SceneError::NotFinite { mesh, vertex });
        }
        if let Surface::Values { values, range, .. } = self.surface {
            right_length("values", values.len())?;
            if let Some(vertex) = values.iter().position(|v| !v.is_finite()) {
                return Err(SceneError::ValueNotFinite { mesh, vertex });
            }
            let (low, high) = range;
            if !(low < high && (high - low).is_finite()) {
                return Err(SceneError::BadRange { mesh, low, high });
            }
        }
        Ok(())
    }
}

/// The largest coordinate that is drawn [m].
const MAX_COORDINATE: f32 = 1e6;

/// The largest width or height of a picture [pixels].
pub(super) const MAX_SIDE: u32 = 8192;

/// Why a scene cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// An array has another length than the mesh has vertices.
    #[error("mesh {mesh} has {n} {what} for {n_vertices} vertices")]
    WrongLength {
        /// The mesh's place in the scene.
        mesh: usize,
        /// `positions`, `values` or `flags`.
        what: &'static str,
        /// How many there are.
        n: usize,
        /// How many vertices the mesh has.
        n_vertices: usize,
    },
    /// A coordinate is NaN, infinite or beyond a thousand kilometres.
    #[error("mesh {mesh}, vertex {vertex} has a coordinate that is not finite or beyond 1e6 m")]
    NotFinite {
        /// The mesh's place in the scene.
        mesh: usize,
        /// The vertex's index.
        vertex: usize,
    },
    /// A value is NaN or infinite.
    #[error("mesh {mesh}, vertex {vertex} has a value that is not finite")]
    ValueNotFinite {
        /// The mesh's place in the scene.
        mesh: usize,
        /// The vertex's index.
        vertex: usize,
    },
    /// The range of values is empty, backward or not finite.
    #[error("mesh {mesh} has values from {low} to {high}, but the low end must be below the high")]
    BadRange {
        /// The mesh's place in the scene.
        mesh: usize,
        /// The low end.
        low: f32,
        /// The high end.
        high: f32,
    },
    /// Cloth is to cover skin from too far behind.
    #[error("mesh {mesh} covers skin from {epsilon} m behind it, which is not within 0 to 1")]
    BadDepth {
        /// The mesh's place in the scene.
        mesh: usize,
        /// From how far [m].
        epsilon: f32,
    },
    /// The floor's height is NaN or infinite.
    #[error("the floor's height is not finite")]
    FloorNotFinite,
    /// A side of the picture is zero or too long.
    #[error(
        "a picture of {} x {} pixels is not within 1 to {} a side",
        size.width, size.height, MAX_SIDE
    )]
    BadSize {
        /// The size asked for.
        size: Size,
    },
    /// The camera's numbers are not finite.
    #[error("the camera's place is not finite")]
    BadCamera,
}
