//! A cloth that can be solved for: [`Cloth`], energies and masses over one
//! rest shape, and the Hessian of all of them in one sparse matrix.

use drapery_core::{Fabric, FabricError};
use drapery_linalg::{SparseCholesky, SymmetricPattern};
use glam::{DMat3, DVec3};

use crate::{Bending, ClampedEdge, Membrane, RestShape};

/// A cloth: what it costs to deform it, and what it weighs.
#[derive(Clone, Debug)]
pub struct Cloth {
    membrane: Membrane,
    bending: Bending,
    masses: Vec<f64>,
    /// Pairs of vertices that share an entry of the Hessian, sorted.
    pairs: Vec<(u32, u32)>,
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
        let membrane = Membrane::new(rest, fabric);
        let bending = Bending::new(rest, fabric, clamps);
        let mut pairs = Vec::new();
        bending.hessian(|row, column, _| pairs.push((row, column)));
        for triangle in rest.topology().triangles() {
            pairs.extend(
                triangle
                    .iter()
                    .flat_map(|a| triangle.iter().map(|b| (*a, *b))),
            );
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(Self {
            membrane,
            bending,
            masses: rest.masses(fabric.density),
            pairs,
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

/// The Hessian of a cloth over its free vertices, factored again and again
/// with one analysis.
#[derive(Debug)]
pub(crate) struct FreeHessian {
    /// The place of each vertex among the free ones.
    free: Vec<Option<u32>>,
    cholesky: SparseCholesky,
    values: Vec<f64>,
}

impl FreeHessian {
    /// For the vertices that `is_free` says are free.
    pub(crate) fn new(cloth: &Cloth, is_free: &[bool]) -> Self {
        let mut n_free = 0;
        let free: Vec<Option<u32>> = is_free
            .iter()
            .map(|is_free| {
                is_free.then(|| {
                    n_free += 1;
                    n_free - 1
                })
            })
            .collect();
        let entries = cloth.pairs.iter().filter_map(|&(a, b)| {
            let (a, b) = (free[a as usize]?, free[b as usize]?);
            (a >= b).then_some((a, b))
        });
        let entries = entries.flat_map(|(a, b)| {
            (0..9).map(move |k| (3 * a as usize + k / 3, 3 * b as usize + k % 3))
        });
        let pattern = SymmetricPattern::new(3 * n_free as usize, entries)
            .expect("free vertices are numbered without gaps");
        let values = vec![0.0; pattern.n_entries()];
        Self {
            free,
            cholesky: SparseCholesky::new(pattern),
            values,
        }
    }

    /// Sums the Hessian at `x` with `diagonal` on each vertex's diagonal
    /// [N/m], factors it, and replaces `step` (zero where vertices are held)
    /// by its solution. False when the matrix is not positive definite.
    pub(crate) fn solve(
        &mut self,
        cloth: &Cloth,
        x: &[DVec3],
        diagonal: impl Fn(usize) -> f64,
        step: &mut [DVec3],
    ) -> bool {
        let Self {
            free,
            cholesky,
            values,
        } = self;
        values.fill(0.0);
        let pattern = cholesky.pattern();
        let mut add = |row: u32, column: u32, block: DMat3| {
            let (Some(r), Some(c)) = (free[row as usize], free[column as usize]) else {
                return;
            };
            if r < c {
                return;
            }
            for i in 0..3 {
                for j in 0..3 {
                    let (p, q) = (3 * r as usize + i, 3 * c as usize + j);
                    if p >= q {
                        let place = pattern.place(p, q).expect("every pair is in the pattern");
                        values[place] += block.col(j)[i];
                    }
                }
            }
        };
        cloth.membrane.hessian(x, &mut add);
        cloth.bending.hessian(|row, column, value| {
            add(row, column, DMat3::from_diagonal(DVec3::splat(value)))
        });
        for vertex in 0..x.len() {
            let value = diagonal(vertex);
            add(
                vertex as u32,
                vertex as u32,
                DMat3::from_diagonal(DVec3::splat(value)),
            );
        }
        if cholesky.factor(values).is_err() {
            return false;
        }
        let mut flat: Vec<f64> = Vec::with_capacity(3 * x.len());
        for (vertex, place) in free.iter().enumerate() {
            if place.is_some() {
                flat.extend(step[vertex].to_array());
            }
        }
        cholesky.solve(&mut flat);
        for (vertex, place) in free.iter().enumerate() {
            step[vertex] = match place {
                Some(at) => {
                    let at = 3 * *at as usize;
                    DVec3::new(flat[at], flat[at + 1], flat[at + 2])
                }
                None => DVec3::ZERO,
            };
        }
        true
    }
}
