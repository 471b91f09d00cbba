//! Four sparse Cholesky factors of one pattern, made and solved side by side in
//! f32.
//!
//! A preconditioner solves with the same factors at every iteration, and is
//! bound by memory: lanes share the indices, f32 halves the numbers, and one
//! pass serves all lanes. Branches of the elimination tree (`branches.rs`) are
//! worked on at the same time.
//!
//! Where everything stands, and the sums over columns, are in `lanes/layout.rs`.
//!
//! Where rounding has eaten too much of a pivot, the factors are made in f64
//! instead.

mod layout;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::{Par, Side};
use rayon::prelude::*;

use crate::branches::Branches;
use crate::cholesky::{refused, structure};
use crate::lanes::layout::{Layout, NOWHERE, WIDEST};
use crate::{NotPositiveDefinite, SymmetricPattern};

/// How many matrices are factored and solved together.
pub const LANES: usize = 4;

/// One number of each lane.
pub type Lanes = [f32; LANES];

/// Factors of matrices that share a pattern.
///
/// Columns stand in the order of `Branches`. The rows of a column are counted
/// from the start of the trunk, and those of its own bundle from behind it.
#[derive(Clone)]
pub struct LaneCholesky {
    pattern: SymmetricPattern,
    symbolic: Arc<SymbolicCholesky<usize>>,
    layout: Arc<Layout>,
    /// The strict lower triangle, block by block, with places above the diagonal of
    /// each that nothing uses.
    below: Vec<Lanes>,
    /// Of the diagonal, inverted.
    inverse: Vec<Lanes>,
    /// For each bundle, the trunk and itself.
    work: Vec<Vec<Lanes>>,
    trunk: Vec<Lanes>,
}

impl fmt::Debug for LaneCholesky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneCholesky")
            .field("n", &self.pattern.n())
            .field("n_places", &self.below.len())
            .finish_non_exhaustive()
    }
}

impl LaneCholesky {
    /// Analyses a pattern. [`factor`](Self::factor) comes before
    /// [`solve`](Self::solve).
    ///
    /// # Panics
    /// When memory for the analysis is not to be had, or the factor has more
    /// than 2³² entries.
    pub fn new(pattern: SymmetricPattern) -> Self {
        Self::in_blocks(pattern, WIDEST)
    }

    /// The same in blocks of up to `widest` columns.
    fn in_blocks(pattern: SymmetricPattern, widest: usize) -> Self {
        let parameters = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SIMPLICIAL,
            ..Default::default()
        };
        let symbolic = factorize_symbolic_cholesky(
            structure(&pattern),
            Side::Lower,
            SymmetricOrdering::Amd,
            parameters,
        )
        .expect("memory for the symbolic factorisation");
        let layout = Layout::new(&pattern, &symbolic, widest);
        let (bundles, trunk) = (&layout.branches.bundles, layout.branches.trunk.len());
        let room = |n: usize| vec![[0.0; LANES]; n];
        Self {
            below: room(layout.n_entries()),
            inverse: vec![[1.0; LANES]; pattern.n()],
            work: bundles.iter().map(|b| room(trunk + b.len())).collect(),
            trunk: room(trunk),
            pattern,
            layout: Arc::new(layout),
            symbolic: Arc::new(symbolic),
        }
    }

    /// The pattern that was analysed.
    pub const fn pattern(&self) -> &SymmetricPattern {
        &self.pattern
    }

    /// How many solves have as many multiplications as making the factors.
    pub fn solves_a_factor(&self) -> f64 {
        self.layout.solves_a_factor
    }

    /// Factors matrices into all lanes.
    ///
    /// # Errors
    /// When a matrix is not positive definite; the lanes are of no use then.
    ///
    /// # Panics
    /// When there is not one value an entry.
    pub fn factor(&mut self, values: &[Lanes]) -> Result<(), NotPositiveDefinite> {
        assert_eq!(values.len(), self.pattern.n_entries(), "one value an entry");
        match self.factor_in_f32(values) {
            true => Ok(()),
            false => self.factor_in_f64(values),
        }
    }

    /// Whether all pivots can be trusted.
    fn factor_in_f32(&mut self, values: &[Lanes]) -> bool {
        let layout = &*self.layout;
        let Branches { bundles, trunk, .. } = &layout.branches;
        let (mut below, mut inverse) = (&mut self.below[..], &mut self.inverse[..]);
        let mut tasks = Vec::new();
        for (at, (bundle, work)) in bundles.iter().zip(&mut self.work).enumerate() {
            let entries = layout.entries_of(at);
            let own = below.split_off_mut(..entries.len());
            let own_inverse = inverse.split_off_mut(..bundle.len());
            tasks.push((
                bundle,
                entries.start,
                work,
                own.expect("room"),
                own_inverse.expect("room"),
            ));
        }
        let is_sound = tasks
            .into_par_iter()
            .map(|(bundle, first, work, below, inverse)| {
                work.fill([0.0; LANES]);
                bundle.clone().all(|column| {
                    let place = column - bundle.start;
                    let own = trunk.len() + place;
                    layout
                        .column(column, own, values, work, below, first)
                        .is_some_and(|inverted| {
                            inverse[place] = inverted;
                            true
                        })
                })
            })
            .reduce(|| true, |a, b| a && b);
        let work = &mut self.trunk;
        work.fill([0.0; LANES]);
        is_sound
            && trunk.clone().all(|column| {
                let own = column - trunk.start;
                layout
                    .column(column, own, values, work, &mut self.below, 0)
                    .is_some_and(|inverted| {
                        self.inverse[column] = inverted;
                        true
                    })
            })
    }

    /// The same, lane by lane in f64.
    fn factor_in_f64(&mut self, values: &[Lanes]) -> Result<(), NotPositiveDefinite> {
        let needed = self
            .symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut scratch = MemBuffer::new(needed);
        for lane in 0..LANES {
            let values: Vec<f64> = values.iter().map(|v| v[lane].into()).collect();
            let mut factor = vec![0.0; self.symbolic.len_val()];
            self.symbolic
                .factorize_numeric_llt(
                    &mut factor,
                    SparseColMatRef::new(structure(&self.pattern), &values),
                    Side::Lower,
                    LltRegularization::default(),
                    Par::Seq,
                    MemStack::new(&mut scratch),
                    Default::default(),
                )
                .map_err(refused)?;
            let places = self.below.iter_mut().zip(&self.layout.sources);
            for (below, from) in places.filter(|(_, from)| **from != NOWHERE) {
                below[lane] = factor[*from as usize] as f32;
            }
            let diagonal = self.inverse.iter_mut().zip(&self.layout.diagonal_sources);
            for (inverse, from) in diagonal {
                inverse[lane] = (1.0 / factor[*from as usize]) as f32;
            }
        }
        Ok(())
    }

    /// Replaces each lane of `x` by the solution with that lane's matrix.
    ///
    /// # Panics
    /// When `x` does not have one entry a row.
    pub fn solve(&mut self, x: &mut [Lanes]) {
        let layout = &*self.layout;
        assert_eq!(x.len(), layout.order.len(), "one entry a row");
        let Branches { bundles, trunk, .. } = &layout.branches;
        let (below, inverse) = (&self.below[..], &self.inverse[..]);
        let n_trunk = trunk.len();
        let right = &*x;
        let load = |y: &mut [Lanes], places: Range<usize>| {
            for (y, from) in y.iter_mut().zip(&layout.order[places]) {
                *y = right[*from as usize];
            }
        };
        let tasks = bundles.par_iter().zip(&mut self.work).enumerate();
        tasks.for_each(|(at, (bundle, y))| {
            y[..n_trunk].fill([0.0; LANES]);
            load(&mut y[n_trunk..], bundle.clone());
            layout.forwards(at, n_trunk, below, inverse, y);
        });
        let y = &mut self.trunk[..];
        load(y, trunk.clone());
        for part in &self.work {
            for (y, part) in y.iter_mut().zip(&part[..n_trunk]) {
                *y = std::array::from_fn(|i| y[i] + part[i]);
            }
        }
        layout.forwards(bundles.len(), 0, below, inverse, y);
        layout.backwards(bundles.len(), 0, below, inverse, y);
        let solved = &self.trunk[..];
        let tasks = self.work.par_iter_mut().enumerate();
        tasks.for_each(|(at, y)| {
            y[..n_trunk].copy_from_slice(solved);
            layout.backwards(at, n_trunk, below, inverse, y);
        });
        for (y, to) in self.trunk.iter().zip(&layout.order[trunk.clone()]) {
            x[*to as usize] = *y;
        }
        for (bundle, y) in bundles.iter().zip(&self.work) {
            for (y, to) in y[n_trunk..].iter().zip(&layout.order[bundle.clone()]) {
                x[*to as usize] = *y;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SparseCholesky;

    /// A ring with chords; `stiffness` on the edges and one on the diagonal.
    fn ring(n: usize, stiffness: f64) -> (SymmetricPattern, Vec<f64>) {
        let edges: Vec<(usize, usize)> = (0..n)
            .flat_map(|i| [(i, (i + 1) % n), (i, (i + 7) % n)])
            .collect();
        let pattern = SymmetricPattern::new(n, edges.iter().copied()).unwrap();
        let mut values = vec![0.0; pattern.n_entries()];
        let mut add = |i, j, value| values[pattern.place(i, j).unwrap()] += value;
        for i in 0..n {
            add(i, i, 1.0);
        }
        for (i, j) in edges {
            add(i, j, -stiffness);
            add(i, i, stiffness);
            add(j, j, stiffness);
        }
        (pattern, values)
    }

    /// A grid with one diagonal a cell; `stiffness` on the edges and `mass` on the diagonal.
    fn grid(m: usize, stiffness: f64, mass: f64) -> (SymmetricPattern, Vec<f64>) {
        let edges = |v: usize| {
            let (is_inner, is_under) = (v % m + 1 < m, v + m < m * m);
            let right = is_inner.then_some((v, v + 1));
            let down = is_under.then_some((v, v + m));
            let across = (is_inner && is_under).then_some((v, v + m + 1));
            [right, down, across].into_iter().flatten()
        };
        let edges: Vec<(usize, usize)> = (0..m * m).flat_map(edges).collect();
        let pattern = SymmetricPattern::new(m * m, edges.iter().copied()).unwrap();
        let mut values = vec![0.0; pattern.n_entries()];
        let mut add = |i, j, value| values[pattern.place(i, j).unwrap()] += value;
        for i in 0..m * m {
            add(i, i, mass);
        }
        for (k, (i, j)) in edges.into_iter().enumerate() {
            let stiffness = stiffness * (2.0 + (k as f64).sin());
            add(i, j, -stiffness);
            add(i, i, stiffness);
            add(j, j, stiffness);
        }
        (pattern, values)
    }

    /// Factors four matrices and solves with them; looks whether each lane is what
    /// Cholesky in f64 gives, to a share of the largest.
    fn assert_solves(all: [(SymmetricPattern, Vec<f64>); LANES], most: f64) {
        let n = all[0].0.n();
        let mut lanes = LaneCholesky::new(all[0].0.clone());
        let values: Vec<Lanes> = (0..all[0].1.len())
            .map(|entry| std::array::from_fn(|lane| all[lane].1[entry] as f32))
            .collect();
        lanes.factor(&values).unwrap();
        let right = |i: usize, lane: usize| ((i * 5 + lane * 3) as f32 * 0.7).sin();
        let mut x: Vec<Lanes> = (0..n)
            .map(|i| std::array::from_fn(|lane| right(i, lane)))
            .collect();
        lanes.solve(&mut x);
        for (lane, (pattern, values)) in all.into_iter().enumerate() {
            let mut cholesky = SparseCholesky::new(pattern);
            cholesky.factor(&values).unwrap();
            let mut expected: Vec<f64> = (0..n).map(|i| right(i, lane).into()).collect();
            cholesky.solve(&mut expected);
            let largest = expected.iter().fold(0.0, |most: f64, e| most.max(e.abs()));
            for (found, expected) in x.iter().zip(expected) {
                let miss = (f64::from(found[lane]) - expected).abs();
                assert!(
                    miss < most * largest,
                    "lane {lane}: {} for {expected}",
                    found[lane]
                );
            }
        }
    }

    #[test]
    fn every_lane_solves_with_its_own_matrix() {
        assert_solves([0.3, 2.0, 9.0, 0.0].map(|s| ring(60, s)), 1e-5);
    }

    #[test]
    fn blocks_of_every_width_solve() {
        let all = [0.3, 2.0, 9.0, 0.0].map(|s| grid(17, s, 1.0));
        let lanes = LaneCholesky::new(all[0].0.clone());
        let mut widths: Vec<usize> = lanes.layout.widths().collect();
        widths.sort_unstable();
        widths.dedup();
        assert_eq!(widths, [1, 2, 3, 4]);
        assert_solves(all, 1e-5);
    }

    /// Datasets are told from each other by their bits.
    #[test]
    fn blocks_give_the_bits_of_their_columns_one_by_one() {
        let all = [0.3, 2.0, 9.0, 0.0].map(|s| grid(17, s, 1.0));
        let n = all[0].0.n();
        let of_lane = |entry: usize| std::array::from_fn(|lane| all[lane].1[entry] as f32);
        let values: Vec<Lanes> = (0..all[0].1.len()).map(of_lane).collect();
        let solved = |widest: usize| {
            let mut lanes = LaneCholesky::in_blocks(all[0].0.clone(), widest);
            assert_eq!(lanes.layout.widths().max(), Some(widest));
            assert!(lanes.factor_in_f32(&values));
            let right = |i: usize| std::array::from_fn(|lane| ((i * 5 + lane * 3) as f32).sin());
            let mut x: Vec<Lanes> = (0..n).map(right).collect();
            lanes.solve(&mut x);
            x
        };
        let one_by_one = solved(1);
        for widest in 2..=WIDEST {
            assert_eq!(solved(widest), one_by_one, "blocks of {widest}");
        }
    }

    #[test]
    fn what_rounding_leaves_of_a_pivot_in_f32_is_made_in_f64() {
        // The last pivot is a ten-thousandth of its diagonal, or less.
        let all = [1.0, 2.0, 9.0, 0.0].map(|s| grid(9, s, 1e-5));
        let mut lanes = LaneCholesky::new(all[0].0.clone());
        let of_lane = |entry: usize| std::array::from_fn(|lane| all[lane].1[entry] as f32);
        let values: Vec<Lanes> = (0..all[0].1.len()).map(of_lane).collect();
        assert!(!lanes.factor_in_f32(&values));
        // Rounded to f32, values are 1e-7 off, and a mass of 1e-5 a hundredth.
        assert_solves(all, 0.05);
    }

    /// Of a full matrix (n³ − n) / 6 multiplications beside the n (n + 1) of a solve.
    #[test]
    fn factors_take_as_long_as_so_many_solves() {
        let n = 13;
        let edges = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let lanes = LaneCholesky::new(SymmetricPattern::new(n, edges).unwrap());
        assert_eq!(lanes.solves_a_factor(), 2.0);
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let (pattern, values) = ring(20, -1.0);
        let sound = ring(20, 1.0).1;
        let both = sound.iter().zip(&values);
        let values: Vec<Lanes> = both
            .map(|(s, v)| [*s as f32, *s as f32, *v as f32, *s as f32])
            .collect();
        assert!(LaneCholesky::new(pattern).factor(&values).is_err());
    }
}
