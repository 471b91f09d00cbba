//! An approximate inverse of the Hessian that follows the cloth around.
//!
//! Seen in the frame of a cloth's own threads (along the weft, along the warp,
//! across the surface), the three coordinates of a small step have little to
//! do with each other. With R the frames at the vertices,
//!
//! ```text
//! H ≈ R · [H_u, H_v, H_n] · Rᵀ,      H_c(i, j) = f_c(i)ᵀ H(i, j) f_c(j)
//! ```
//!
//! leaves three scalar matrices of one pattern, parts of RᵀHR and therefore
//! positive definite, whose factors are small. The frames are found anew at
//! every iteration and carry the factors along as cloth turns; they are made
//! again when cloth has folded so much that conjugate gradients take longer,
//! by the count of iterations alone.
//!
//! Bending between vertices that share no triangle is added to the diagonal.

use drapery_linalg::{LANES, LaneCholesky, Lanes, SymmetricPattern};
use glam::{DVec3, Mat3A, Vec3A};
use rayon::prelude::*;

use crate::near_matrix::NearMatrix;
use crate::objective::Evaluation;
use crate::reduction::CHUNK;
use crate::{Cloth, Objective};

/// Factors of the three lanes, and frames at the vertices.
#[derive(Clone, Debug)]
pub(crate) struct Preconditioner {
    lanes: LaneCholesky,
    frames: Vec<Mat3A>,
    local: Vec<Lanes>,
    /// What the factors were made for, if there are any.
    made_for: Option<MadeFor>,
}

/// When factors are worth making again.
#[derive(Clone, Debug)]
struct MadeFor {
    dt: f64,
    bending_factors: Vec<f64>,
    held: Vec<bool>,
    /// Iterations for each factor of e that the residual fell when they were
    /// new.
    pace: Option<f64>,
    /// Iterations beyond that since.
    excess: f64,
}

/// Factors are made again when old ones have cost so many iterations more as their
/// multiplications are those of solves, times this: an iteration was 1/0.6 solves before
/// factors stood in blocks, and has not been measured since. Where it is less they are made
/// too often, where it is more, iterations go on with poor ones.
const COST: f64 = 0.6;

/// How far the residual falls, by factors of e, in a solve that tells how good
/// the factors are.
const LEAST_FALL: f64 = 1.0;

/// How much stiffer than it would be a held vertex is.
const HELD: f32 = 1e6;

impl Preconditioner {
    /// For a cloth with a Hessian of this pattern.
    pub(crate) fn new(cloth: &Cloth, matrix: &NearMatrix) -> Self {
        let n = cloth.n_vertices();
        let entries = matrix.pairs().map(|(a, b)| (a as usize, b as usize));
        let pattern = SymmetricPattern::new(n, entries).expect("pairs are of vertices");
        Self {
            lanes: LaneCholesky::new(pattern),
            frames: vec![Mat3A::IDENTITY; n],
            local: vec![[0.0; LANES]; n],
            made_for: None,
        }
    }

    /// Turns the frames to where the cloth is, and makes the factors again if
    /// that is worth it. False when a lane has no factor.
    pub(crate) fn prepare(
        &mut self,
        objective: &Objective<'_>,
        matrix: &NearMatrix,
        at: &Evaluation,
    ) -> bool {
        self.follow(objective.cloth, at);
        let dt = objective.inertia.map_or(f64::INFINITY, |i| i.dt);
        let bending_factors = objective.bending_factors();
        let fits = self.made_for.as_ref().is_some_and(|made| {
            made.dt == dt
                && made.bending_factors == bending_factors
                && made.held == objective.held
                && made.excess < COST * self.lanes.solves_a_factor()
        });
        if fits {
            return true;
        }
        self.made_for = None;
        let mut values = self.entries(matrix, objective.held);
        if self.lanes.factor(&values).is_err() {
            // With inertia it is rounding that has left no factor: the diagonal alone
            // is a poor one, and better than none.
            if objective.inertia.is_none() {
                return false;
            }
            self.leave_diagonal(&mut values);
            if self.lanes.factor(&values).is_err() {
                return false;
            }
        }
        self.made_for = Some(MadeFor {
            dt,
            bending_factors,
            held: objective.held.to_vec(),
            pace: None,
            excess: 0.0,
        });
        true
    }

    /// Leaves only the diagonal of the entries of all lanes.
    fn leave_diagonal(&self, values: &mut [Lanes]) {
        let pattern = self.lanes.pattern();
        let starts = pattern.column_starts();
        for column in 0..starts.len() - 1 {
            let entries = starts[column]..starts[column + 1];
            let rows = &pattern.rows()[entries.clone()];
            for (value, row) in values[entries].iter_mut().zip(rows) {
                if *row != column {
                    *value = [0.0; LANES];
                }
            }
        }
    }

    /// Takes note of how many iterations a solve took to a share `tolerance`
    /// of the residual.
    pub(crate) fn took(&mut self, iterations: u32, tolerance: f64) {
        let fall = -tolerance.ln();
        // What is cut shorter than this says little of the rest.
        let Some(made) = self.made_for.as_mut().filter(|_| fall > LEAST_FALL) else {
            return;
        };
        let iterations = f64::from(iterations);
        let pace = *made.pace.get_or_insert(iterations / fall);
        made.excess += (iterations - pace * fall).max(0.0);
    }

    /// The entries of all lanes, in the order of their pattern.
    fn entries(&self, matrix: &NearMatrix, held: &[bool]) -> Vec<Lanes> {
        let pattern = self.lanes.pattern();
        let mut values = vec![[0.0; LANES]; pattern.n_entries()];
        let starts = pattern.column_starts();
        let mut rest = &mut values[..];
        let mut tasks = Vec::new();
        for first in (0..held.len()).step_by(CHUNK) {
            let end = held.len().min(first + CHUNK);
            let own = rest.split_off_mut(..starts[end] - starts[first]);
            tasks.push((first..end, own.expect("one value an entry")));
        }
        tasks.into_par_iter().for_each(|(columns, values)| {
            let mut values = values.iter_mut();
            for column in columns {
                let axes = self.frames[column].transpose();
                // The matrix is symmetric: a row of it is a column of the pattern.
                for (row, block) in matrix.row(column).filter(|(row, _)| *row >= column) {
                    let turned = axes * *block;
                    let other = self.frames[row].transpose();
                    let product = turned.x_axis * other.x_axis
                        + turned.y_axis * other.y_axis
                        + turned.z_axis * other.z_axis;
                    let [u, v, n] = product.to_array();
                    let mut entry = [u, v, n, 0.0];
                    if row == column {
                        let far = matrix.far_weight(row);
                        let stiffer = if held[column] { HELD } else { 1.0 };
                        entry = [u, v, n, 1.0].map(|own| (own + far) * stiffer);
                    }
                    if let Some(value) = values.next() {
                        *value = entry;
                    }
                }
            }
        });
        values
    }

    fn follow(&mut self, cloth: &Cloth, at: &Evaluation) {
        let (around, areas) = (cloth.around(), cloth.membrane().areas());
        self.frames
            .par_chunks_mut(CHUNK)
            .enumerate()
            .for_each(|(chunk, frames)| {
                for (i, frame) in frames.iter_mut().enumerate() {
                    let (mut u, mut v) = (DVec3::ZERO, DVec3::ZERO);
                    for (triangle, _) in around.of(chunk * CHUNK + i) {
                        u += at.deformations[triangle][0] * areas[triangle];
                        v += at.deformations[triangle][1] * areas[triangle];
                    }
                    let Some(normal) = u.cross(v).try_normalize() else {
                        continue;
                    };
                    let along = u.normalize();
                    *frame = Mat3A::from_cols(
                        Vec3A::from(along.as_vec3()),
                        Vec3A::from(normal.cross(along).as_vec3()),
                        Vec3A::from(normal.as_vec3()),
                    );
                }
            });
    }

    /// z = P⁻¹ r, zero where held; gives r · z. Before a chunk of r is used,
    /// `make` gets it, with its first vertex, and may finish it.
    pub(crate) fn apply(
        &mut self,
        r: &mut [Vec3A],
        make: impl Fn(usize, &mut [Vec3A]) + Sync,
        held: &[bool],
        z: &mut [Vec3A],
    ) -> f64 {
        let chunks = self
            .local
            .par_chunks_mut(CHUNK)
            .zip(r.par_chunks_mut(CHUNK));
        chunks
            .zip(self.frames.par_chunks(CHUNK))
            .enumerate()
            .for_each(|(chunk, ((local, r), frames))| {
                make(chunk * CHUNK, r);
                for ((local, frame), r) in local.iter_mut().zip(frames).zip(r) {
                    let [u, v, n] = frame.transpose().mul_vec3a(*r).to_array();
                    *local = [u, v, n, 0.0];
                }
            });
        self.lanes.solve(&mut self.local);
        let chunks = self.local.par_chunks(CHUNK).zip(z.par_chunks_mut(CHUNK));
        let others = self.frames.par_chunks(CHUNK).zip(held.par_chunks(CHUNK));
        let parts: Vec<f64> = chunks
            .zip(others)
            .zip(r.par_chunks(CHUNK))
            .map(|(((local, z), (frames, held)), r)| {
                let mut sum = 0.0;
                for i in 0..z.len() {
                    let [u, v, n, _] = local[i];
                    z[i] = match held[i] {
                        true => Vec3A::ZERO,
                        false => frames[i].mul_vec3a(Vec3A::new(u, v, n)),
                    };
                    sum += f64::from(r[i].dot(z[i]));
                }
                sum
            })
            .collect();
        parts.iter().sum()
    }
}
