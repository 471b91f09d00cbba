//! The fast path: conjugate gradients on the Hessian in f32, with the
//! preconditioner of `preconditioner.rs`.
//!
//! The search direction is all that is single precision: positions, gradient
//! and objective stay in f64, and Newton corrects what a direction lacks.

use glam::{DVec3, Vec3A};

use crate::near_matrix::NearMatrix;
use crate::objective::Evaluation;
use crate::preconditioner::Preconditioner;
use crate::reduction::CHUNK;
use crate::{Cloth, Objective};

/// Solves with the Hessian by conjugate gradients.
#[derive(Clone, Debug)]
pub(crate) struct Iterative {
    matrix: NearMatrix,
    preconditioner: Preconditioner,
    x: Vec<Vec3A>,
    r: Vec<Vec3A>,
    z: Vec<Vec3A>,
    p: Vec<Vec3A>,
    product: Vec<Vec3A>,
    /// By what factor the preconditioner understated the last decrement.
    understated: f64,
}

impl Iterative {
    pub(crate) fn new(cloth: &Cloth) -> Self {
        let matrix = NearMatrix::new(cloth);
        let zero = vec![Vec3A::ZERO; cloth.n_vertices()];
        Self {
            preconditioner: Preconditioner::new(cloth, &matrix),
            matrix,
            x: zero.clone(),
            r: zero.clone(),
            z: zero.clone(),
            p: zero.clone(),
            product: zero,
            understated: 1.0,
        }
    }

    /// Sums the Hessian at `x`, or near where the cloth was when it was summed
    /// last. False when the preconditioner has no factor.
    pub(crate) fn prepare(
        &mut self,
        objective: &Objective<'_>,
        x: Option<&[DVec3]>,
        at: &Evaluation,
    ) -> bool {
        match x {
            Some(x) => self.matrix.assemble(objective, x, at),
            None => self.matrix.gather(objective, at),
        }
        self.preconditioner.prepare(objective, &self.matrix, at)
    }

    /// What the preconditioner makes of the decrement [J]: ½ gᵀ P⁻¹ g, with
    /// frames and factors as they were last, corrected by what it was short of
    /// in the last solve.
    pub(crate) fn estimate(&mut self, at: &Evaluation, objective: &Objective<'_>) -> f64 {
        let scale = largest(&at.gradient);
        for (r, g) in self.r.iter_mut().zip(&at.gradient) {
            *r = Vec3A::from((*g / -scale).as_vec3());
        }
        0.5 * scale * scale * self.precondition(objective.held) * self.understated
    }

    /// Writes an approximate solution of H d = −gradient to `step`: the
    /// preconditioned residual falls to `tolerance` of what it was. Gives the
    /// iterations that took, at most `limit`.
    pub(crate) fn solve(
        &mut self,
        gradient: &[DVec3],
        held: &[bool],
        tolerance: f64,
        limit: u32,
        step: &mut [DVec3],
    ) -> u32 {
        // In units of the largest entry, so that small steps keep their digits.
        let scale = largest(gradient);
        for (r, g) in self.r.iter_mut().zip(gradient) {
            *r = Vec3A::from((*g / -scale).as_vec3());
        }
        self.x.fill(Vec3A::ZERO);
        let mut rz = self.precondition(held);
        let first = rz;
        self.p.copy_from_slice(&self.z);
        let mut iterations = 0;
        while iterations < limit && rz > tolerance * tolerance * first {
            iterations += 1;
            let curvature = self.matrix.multiply(&self.p, &mut self.product);
            // Rounding has used up what this direction could give.
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let length = (rz / curvature) as f32;
            let product = &self.product;
            let next = self.preconditioner.apply(
                &mut self.r,
                |first, r| {
                    for (r, product) in r.iter_mut().zip(&product[first..]) {
                        *r -= *product * length;
                    }
                },
                held,
                &mut self.z,
            );
            let turn = (next / rz) as f32;
            rz = next;
            // Too little to be shared: other threads would be woken for it.
            let all = self.x.iter_mut().zip(&mut self.p).zip(&self.z);
            for ((x, p), z) in all {
                *x += *p * length;
                *p = *z + *p * turn;
            }
        }
        self.preconditioner.took(iterations, tolerance);
        let taken: f64 = step_of(&self.x, gradient) / (scale * first);
        self.understated = taken.max(1.0);
        for (step, x) in step.iter_mut().zip(&self.x) {
            *step = x.as_dvec3() * scale;
        }
        iterations
    }

    /// z = P⁻¹ r, zero where held; gives r · z.
    fn precondition(&mut self, held: &[bool]) -> f64 {
        self.preconditioner
            .apply(&mut self.r, |_, _| {}, held, &mut self.z)
    }
}

/// −g · x.
fn step_of(x: &[Vec3A], gradient: &[DVec3]) -> f64 {
    let chunks = x.chunks(CHUNK).zip(gradient.chunks(CHUNK));
    let sum = |(x, g): (&[Vec3A], &[DVec3])| -> f64 {
        x.iter().zip(g).map(|(x, g)| -g.dot(x.as_dvec3())).sum()
    };
    chunks.map(sum).sum()
}

/// The largest entry, or the smallest number when all are zero.
fn largest(gradient: &[DVec3]) -> f64 {
    let entries = gradient.iter().map(|g| g.abs().max_element());
    entries.fold(f64::MIN_POSITIVE, f64::max)
}
