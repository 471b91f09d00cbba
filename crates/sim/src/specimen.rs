//! Cloth at rest as a laboratory shows it, to look at: a [`StripOverEdge`] and
//! a [`HangingCloth`], each a [`Specimen`]. A draped disc is in `drape.rs`.
//!
//! Each begins in a shape that stretches little, and Newton's method on the
//! energy alone takes it to where it rests. Where it could fold in several ways,
//! the beginning decides, as in the laboratory. Nothing here keeps cloth from
//! passing through itself; the scenes are such that it has no reason to, and
//! [`Specimen::self_crossings`] tells.

use std::ops::ControlFlow;

use drapery_core::{Fabric, Topology};
use glam::DVec3;

use crate::{
    ClampedEdge, Cloth, ClothError, Load, MeshBoxes, NewtonConfig, RestShape, RestShapeError,
    SolveError, minimise, self_crossings,
};

mod hanging_cloth;
mod strip_over_edge;

pub use hanging_cloth::HangingCloth;
pub use strip_over_edge::StripOverEdge;

/// Standard gravity as everywhere in the simulator [m/s²].
const GRAVITY: f64 = 9.81;

/// Cells that a specimen may have.
const CELLS: &str = "from 4 to 1000";

/// Cloth at rest, to be looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Specimen {
    /// Its triangles.
    pub topology: Topology,
    /// Where its vertices are [m], shape [vertex].
    pub positions: Vec<DVec3>,
    /// Whether it is at rest, or as far as the limits let it come.
    pub at_rest: bool,
}

impl Specimen {
    /// How many edges of the cloth pass through its own faces.
    pub fn self_crossings(&self) -> usize {
        let boxes = MeshBoxes::new(&self.topology, &self.positions);
        self_crossings(&boxes, &self.positions).len()
    }
}

/// Why there is no specimen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecimenError {
    /// No cloth can be made of the fabric.
    #[error(transparent)]
    Cloth(#[from] ClothError),
    /// A setting is out of range.
    #[error("{what} is {value}, which is not {expected}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// Its cells are too small.
    #[error(transparent)]
    RestShape(#[from] RestShapeError),
    /// It can't be solved for where it rests.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The caller broke off.
    #[error("stopped before the cloth was at rest")]
    Stopped,
}

/// An error unless a setting is in its range.
fn within(
    what: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<(), SpecimenError> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(SpecimenError::Setting {
            what,
            value,
            expected,
        }),
    }
}

/// Newton iterations between two questions whether to go on.
const ITERATIONS: u32 = 10;

/// At rest when another iteration would lower the energy by no more than this
/// share of the cloth's weight times its size, as if its centre of mass fell by
/// a fraction of a micrometre.
const AT_REST: f64 = 1e-6;

/// A cloth on its way to rest.
struct Settling<'a> {
    rest: &'a RestShape,
    clamps: &'a [ClampedEdge],
    start: Vec<DVec3>,
    held: &'a [u32],
    /// How large it is [m].
    size: f64,
    /// The most Newton iterations.
    iterations: u32,
}

impl Settling<'_> {
    /// Lets the cloth come to rest. `go_on` is called now and then with the
    /// share of the work that is certainly done.
    fn run(
        self,
        fabric: &Fabric,
        mut go_on: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Specimen, SpecimenError> {
        let cloth = Cloth::new(self.rest, fabric, self.clamps)?;
        let mut positions = self.start;
        let mut held = vec![false; positions.len()];
        for vertex in self.held {
            held[*vertex as usize] = true;
        }
        let weights = cloth.masses().iter().map(|m| DVec3::NEG_Y * (GRAVITY * m));
        let forces: Vec<DVec3> = weights.collect();
        let load = Load {
            held: &held,
            forces: &forces,
            inertia: None,
        };
        let mass: f64 = cloth.masses().iter().sum();
        let newton = NewtonConfig {
            max_iterations: ITERATIONS,
            decrement: AT_REST * mass * GRAVITY * self.size,
            max_move: 0.05 * self.size,
            ..NewtonConfig::default()
        };
        let (mut iterations, mut at_rest) = (0, false);
        while !at_rest && iterations < self.iterations {
            if go_on(f64::from(iterations) / f64::from(self.iterations)).is_break() {
                return Err(SpecimenError::Stopped);
            }
            at_rest = minimise(&cloth, load, &mut positions, &newton)?.converged;
            iterations += ITERATIONS;
        }
        Ok(Specimen {
            topology: self.rest.topology().clone(),
            positions,
            at_rest,
        })
    }
}
