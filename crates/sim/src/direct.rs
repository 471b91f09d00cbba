//! The reference path: the Hessian of an objective over its free vertices in
//! f64, factored at every iteration with one analysis.

use drapery_linalg::{SparseCholesky, SymmetricPattern};
use glam::DVec3;

use crate::Objective;

/// Solves with the Hessian by sparse Cholesky.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    /// The place of each vertex among the free ones.
    free: Vec<Option<u32>>,
    cholesky: SparseCholesky,
    values: Vec<f64>,
}

impl Direct {
    /// For the vertices that are not held, and the contacts that there are.
    pub(crate) fn new(objective: &Objective<'_>) -> Self {
        let (cloth, held) = (objective.cloth, objective.held);
        let mut n_free = 0;
        let free: Vec<Option<u32>> = held
            .iter()
            .map(|held| {
                (!held).then(|| {
                    n_free += 1;
                    n_free - 1
                })
            })
            .collect();
        let mut entries = Vec::new();
        let mut pair = |a: u32, b: u32| {
            if let (Some(a), Some(b)) = (free[a as usize], free[b as usize])
                && a >= b
            {
                let (row, column) = (3 * a as usize, 3 * b as usize);
                entries.extend((0..9).map(|k| (row + k / 3, column + k % 3)));
            }
        };
        // Bending reaches farther than the membrane, over all that it has.
        cloth.bending().hessian(|a, b, _| pair(a, b));
        for touch in objective.touches {
            for (a, _) in touch.parts() {
                for (b, _) in touch.parts() {
                    pair(a as u32, b as u32);
                }
            }
        }
        let pattern = SymmetricPattern::new(3 * n_free as usize, entries)
            .expect("free vertices are numbered without gaps");
        let values = vec![0.0; pattern.n_entries()];
        Self {
            free,
            cholesky: SparseCholesky::new(pattern),
            values,
        }
    }

    /// Whether it was made for these held vertices and has room for these
    /// contacts.
    pub(crate) fn fits(&self, objective: &Objective<'_>) -> bool {
        let same = |(free, held): (&Option<u32>, &bool)| free.is_none() == *held;
        let pattern = self.cholesky.pattern();
        let has = |a: usize, b: usize| match (self.free[a], self.free[b]) {
            (Some(a), Some(b)) => pattern.place(3 * a as usize, 3 * b as usize).is_some(),
            _ => true,
        };
        self.free.len() == objective.held.len()
            && self.free.iter().zip(objective.held).all(same)
            && objective.touches.iter().all(|touch| {
                let mut pairs = touch
                    .parts()
                    .flat_map(|a| touch.parts().map(move |b| (a.0, b.0)));
                pairs.all(|(a, b)| has(a, b))
            })
    }

    /// Sums the Hessian at `x` and factors it. False when it is not positive
    /// definite.
    pub(crate) fn factor(&mut self, objective: &Objective<'_>, x: &[DVec3]) -> bool {
        let Self {
            free,
            cholesky,
            values,
        } = self;
        values.fill(0.0);
        let pattern = cholesky.pattern();
        objective.hessian(x, |row, column, block| {
            let (Some(r), Some(c)) = (free[row as usize], free[column as usize]) else {
                return;
            };
            if r < c {
                return;
            }
            for j in 0..3 {
                // The three rows of a block follow each other in a column.
                let q = 3 * c as usize + j;
                let top = if r == c { j } else { 0 };
                let place = pattern
                    .place(3 * r as usize + top, q)
                    .expect("every pair is in the pattern");
                for i in top..3 {
                    values[place + i - top] += block.col(j)[i];
                }
            }
        });
        cholesky.factor(values).is_ok()
    }

    /// Replaces `step` (zero where vertices are held) by its solution.
    pub(crate) fn solve(&mut self, step: &mut [DVec3]) {
        let mut flat: Vec<f64> = Vec::with_capacity(3 * step.len());
        for (place, step) in self.free.iter().zip(&*step) {
            if place.is_some() {
                flat.extend(step.to_array());
            }
        }
        self.cholesky.solve(&mut flat);
        for (place, step) in self.free.iter().zip(step) {
            *step = match place {
                Some(at) => {
                    let at = 3 * *at as usize;
                    DVec3::new(flat[at], flat[at + 1], flat[at + 2])
                }
                None => DVec3::ZERO,
            };
        }
    }
}
