//! A cloth that can be solved for: [`Cloth`], energies and masses over one
//! rest shape.

use drapery_core::{Fabric, FabricError, Topology};
use glam::DVec3;

use crate::{Bending, ClampedEdge, Membrane, RestShape, StrainCap};

/// A cloth: what it costs to deform it, and what it weighs.
#[derive(Clone, Debug)]
pub struct Cloth {
    membrane: Membrane,
    bending: Bending,
    masses: Vec<f64>,
    density: f64,
    damping: f64,
    around: Around,
    topology: Topology,
    longest_edge: f64,
}

/// The corners of triangles at each vertex.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    starts: Vec<u32>,
    /// 4 · triangle + corner.
    corners: Vec<u32>,
}

impl Around {
    fn new(n_vertices: usize, triangles: &[[u32; 3]]) -> Self {
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
    /// When the fabric gives energy away.
    pub fn new(
        rest: &RestShape,
        fabric: &Fabric,
        clamps: &[ClampedEdge],
    ) -> Result<Self, FabricError> {
        fabric.check()?;
        Ok(Self {
            membrane: Membrane::new(rest, fabric),
            bending: Bending::new(rest, fabric, clamps),
            masses: rest.masses(fabric.density),
            density: fabric.density,
            damping: fabric.damping,
            topology: rest.topology().clone(),
            longest_edge: rest
                .corners()
                .iter()
                .flat_map(|[a, b, c]| [a.distance(*b), b.distance(*c), c.distance(*a)])
                .fold(0.0, f64::max),
            around: Around::new(rest.topology().n_vertices(), rest.topology().triangles()),
        })
    }

    /// The same with a strain cap.
    #[must_use]
    pub fn with_cap(self, cap: Option<StrainCap>) -> Self {
        Self {
            membrane: self.membrane.with_cap(cap),
            ..self
        }
    }

    /// How many vertices there are.
    pub fn n_vertices(&self) -> usize {
        self.masses.len()
    }

    /// The mass of each vertex [kg].
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Mass of a square metre [kg/m²].
    pub const fn density(&self) -> f64 {
        self.density
    }

    /// How long strain rates count [s]: β of the fabric.
    pub const fn damping(&self) -> f64 {
        self.damping
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
