//! Four sparse Cholesky factors of one pattern, made and solved side by side in
//! f32.
//!
//! A preconditioner solves with the same factors at every iteration, and is
//! bound by memory: lanes share the indices, f32 halves the numbers, and one
//! pass serves all lanes. Branches of the elimination tree (`branches.rs`) are
//! worked on at the same time.
//!
//! Columns are made one after the other, each from those before it:
//!
//! ```text
//! L(·, j) = (A(·, j) − Σₖ L(·, k) L(j, k)) / L(j, j),      k < j with L(j, k) ≠ 0
//! ```
//!
//! Where rounding has eaten too much of a pivot, the factors are made in f64
//! instead.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::{Par, Side};
use rayon::prelude::*;

use crate::branches::Branches;
use crate::cholesky::{refused, structure};
use crate::{NotPositiveDefinite, SymmetricPattern};

/// How many matrices are factored and solved together.
pub const LANES: usize = 4;

/// One number of each lane.
pub type Lanes = [f32; LANES];

/// A pivot in f32 that is less than this share of its diagonal is not trusted.
const TRUSTED: f32 = 1e-4;

/// Factors of matrices that share a pattern.
///
/// Columns stand in the order of `Branches`. The rows of a column are counted
/// from the start of the trunk, and those of its own bundle from behind it.
#[derive(Clone)]
pub struct LaneCholesky {
    pattern: SymmetricPattern,
    symbolic: Arc<SymbolicCholesky<usize>>,
    layout: Arc<Layout>,
    /// The strict lower triangle, column by column.
    below: Vec<Lanes>,
    /// Of the diagonal, inverted.
    inverse: Vec<Lanes>,
    /// For each bundle, the trunk and itself.
    work: Vec<Vec<Lanes>>,
    trunk: Vec<Lanes>,
}

/// Where everything stands.
struct Layout {
    branches: Branches,
    /// The row of the matrix that stands at each place.
    order: Vec<u32>,
    /// Where each column of the strict lower triangle starts.
    starts: Vec<u32>,
    rows: Vec<u32>,
    /// Where the entries of the matrix go: for each column those of its own,
    /// as (entry, row), the diagonal first.
    entry_starts: Vec<u32>,
    entries: Vec<(u32, u32)>,
    /// For each row, where the columns have it and where they end.
    update_starts: Vec<u32>,
    updates: Vec<(u32, u32)>,
    /// Where the factor's entries stand in faer's, and its diagonal.
    sources: Vec<u32>,
    diagonal_sources: Vec<u32>,
    /// Multiplications of a factorisation, in those of a solve.
    solves_a_factor: f64,
}

impl fmt::Debug for LaneCholesky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneCholesky")
            .field("n", &self.pattern.n())
            .field("n_factor", &self.below.len())
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
        let layout = Layout::new(&pattern, &symbolic);
        let (bundles, trunk) = (&layout.branches.bundles, layout.branches.trunk.len());
        let room = |n: usize| vec![[0.0; LANES]; n];
        Self {
            below: room(layout.rows.len()),
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
        let layout = &*self.layout;
        let Branches { bundles, trunk, .. } = &layout.branches;
        let (mut below, mut inverse) = (&mut self.below[..], &mut self.inverse[..]);
        let mut tasks = Vec::new();
        for (bundle, work) in bundles.iter().zip(&mut self.work) {
            let n_below = layout.starts[bundle.end] - layout.starts[bundle.start];
            let own = below.split_off_mut(..n_below as usize);
            let own_inverse = inverse.split_off_mut(..bundle.len());
            tasks.push((bundle, work, own.expect("room"), own_inverse.expect("room")));
        }
        let is_sound = tasks
            .into_par_iter()
            .map(|(bundle, work, below, inverse)| {
                work.fill([0.0; LANES]);
                let first = layout.starts[bundle.start] as usize;
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
        let is_sound = is_sound
            && trunk.clone().all(|column| {
                let own = column - trunk.start;
                layout
                    .column(column, own, values, work, &mut self.below, 0)
                    .is_some_and(|inverted| {
                        self.inverse[column] = inverted;
                        true
                    })
            });
        match is_sound {
            true => Ok(()),
            false => self.factor_in_f64(values),
        }
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
            for (below, from) in self.below.iter_mut().zip(&self.layout.sources) {
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
        let tasks = bundles.par_iter().zip(&mut self.work);
        tasks.for_each(|(bundle, y)| {
            y[..n_trunk].fill([0.0; LANES]);
            load(&mut y[n_trunk..], bundle.clone());
            for (column, own) in bundle.clone().zip(n_trunk..) {
                let value = times(y[own], inverse[column]);
                y[own] = value;
                for (row, factor) in layout.below(column, below) {
                    subtract(&mut y[row], *factor, value);
                }
            }
        });
        let y = &mut self.trunk[..];
        load(y, trunk.clone());
        for part in &self.work {
            for (y, part) in y.iter_mut().zip(&part[..n_trunk]) {
                *y = std::array::from_fn(|i| y[i] + part[i]);
            }
        }
        for (column, own) in trunk.clone().zip(0..) {
            let value = times(y[own], inverse[column]);
            y[own] = value;
            for (row, factor) in layout.below(column, below) {
                subtract(&mut y[row], *factor, value);
            }
        }
        let backwards = |y: &mut [Lanes], column: usize, own: usize| {
            y[own] = times(layout.rest(column, below, y, y[own]), inverse[column]);
        };
        for own in (0..n_trunk).rev() {
            backwards(y, trunk.start + own, own);
        }
        let solved = &self.trunk[..];
        let tasks = bundles.par_iter().zip(&mut self.work);
        tasks.for_each(|(bundle, y)| {
            y[..n_trunk].copy_from_slice(solved);
            for own in (0..bundle.len()).rev() {
                backwards(y, bundle.start + own, n_trunk + own);
            }
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

impl Layout {
    fn new(pattern: &SymmetricPattern, symbolic: &SymbolicCholesky<usize>) -> Self {
        let SymbolicCholeskyRaw::Simplicial(simplicial) = symbolic.raw() else {
            unreachable!("the simplicial form was asked for");
        };
        let n = pattern.n();
        let (columns, rows) = (simplicial.col_ptr(), simplicial.row_idx());
        let of = |column: usize| columns[column]..columns[column + 1];
        let parents: Vec<Option<usize>> = (0..n)
            .map(|column| {
                debug_assert_eq!(rows[columns[column]], column, "the diagonal stands first");
                rows[of(column)][1..].iter().copied().min()
            })
            .collect();
        let work: Vec<f64> = (0..n).map(|column| of(column).len() as f64).collect();
        let branches = Branches::new(&parents, &work);
        let mut place = vec![0; n];
        for (at, column) in branches.order.iter().enumerate() {
            place[*column] = at;
        }
        let Branches { bundles, trunk, .. } = &branches;
        let ends: Vec<usize> = bundles.iter().map(|b| b.end).collect();
        // A place as the columns of its bundle count it.
        let local = |at: usize| match at.checked_sub(trunk.start) {
            Some(of_trunk) => of_trunk,
            None => {
                let bundle = ends.partition_point(|end| *end <= at);
                trunk.len() + at - bundles[bundle].start
            }
        };
        let mut layout = Self {
            order: Vec::with_capacity(n),
            starts: vec![0],
            rows: Vec::new(),
            entry_starts: vec![0],
            entries: Vec::new(),
            update_starts: vec![0],
            updates: Vec::new(),
            sources: Vec::new(),
            diagonal_sources: Vec::new(),
            solves_a_factor: 0.0,
            branches: branches.clone(),
        };
        let mut updates: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
        for &column in &branches.order {
            let row = symbolic.perm().map_or(column, |p| p.arrays().0[column]);
            layout.order.push(narrow(row));
            layout.diagonal_sources.push(narrow(columns[column]));
            let mut own: Vec<(usize, usize)> = (of(column).skip(1))
                .map(|from| (place[rows[from]], from))
                .collect();
            own.sort_unstable();
            let first = layout.rows.len();
            for (k, (at, from)) in own.iter().enumerate() {
                let end = narrow(first + own.len());
                updates[*at].push((narrow(first + k), end));
                layout.rows.push(narrow(local(*at)));
                layout.sources.push(narrow(*from));
            }
            layout.starts.push(narrow(layout.rows.len()));
        }
        for all in updates {
            layout.updates.extend(all);
            layout.update_starts.push(narrow(layout.updates.len()));
        }
        let updates = layout.updates.iter();
        let made: f64 = updates.map(|(from, to)| f64::from(to - from)).sum();
        layout.solves_a_factor = made / (2 * (layout.rows.len() + n)) as f64;
        // The matrix itself, in the same order.
        let mut at_place = vec![0; n];
        for (at, row) in layout.order.iter().enumerate() {
            at_place[*row as usize] = at;
        }
        let mut entries: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
        for column in 0..n {
            let of_column = pattern.column_starts()[column]..pattern.column_starts()[column + 1];
            for entry in of_column {
                let (a, b) = (at_place[column], at_place[pattern.rows()[entry]]);
                entries[a.min(b)].push((narrow(entry), narrow(local(a.max(b)))));
            }
        }
        for own in entries {
            layout.entries.extend(own);
            layout.entry_starts.push(narrow(layout.entries.len()));
        }
        layout
    }

    /// The entries below the diagonal of a column, each with its row.
    fn below<'a>(
        &'a self,
        column: usize,
        below: &'a [Lanes],
    ) -> impl Iterator<Item = (usize, &'a Lanes)> {
        let entries = self.starts[column] as usize..self.starts[column + 1] as usize;
        let rows = self.rows[entries.clone()].iter();
        rows.map(|row| *row as usize).zip(&below[entries])
    }

    /// What is left of `value` without a column's entries times `y`. Sums run
    /// side by side, so that none waits for the last addition.
    fn rest(&self, column: usize, below: &[Lanes], y: &[Lanes], value: Lanes) -> Lanes {
        let entries = self.starts[column] as usize..self.starts[column + 1] as usize;
        // From the last to the first, as the columns go: memory is read in one direction.
        let rows = self.rows[entries.clone()].rchunks_exact(4);
        let factors = below[entries].rchunks_exact(4);
        let mut sums = [value, [0.0; LANES], [0.0; LANES], [0.0; LANES]];
        let first = rows.remainder().iter().zip(factors.remainder());
        for (rows, factors) in rows.zip(factors) {
            for i in (0..4).rev() {
                subtract(&mut sums[i], factors[i], y[rows[i] as usize]);
            }
        }
        for (row, factor) in first {
            subtract(&mut sums[0], *factor, y[*row as usize]);
        }
        let [a, b, c, d] = sums;
        std::array::from_fn(|i| (a[i] + b[i]) + (c[i] + d[i]))
    }

    /// Makes a column, which is counted as `own`, of those before it; gives its
    /// inverted diagonal if that can be trusted. `below` begins at entry
    /// `first` of the factor; `work` is zero before and after.
    fn column(
        &self,
        column: usize,
        own: usize,
        values: &[Lanes],
        work: &mut [Lanes],
        below: &mut [Lanes],
        first: usize,
    ) -> Option<Lanes> {
        let entries = self.entry_starts[column] as usize..self.entry_starts[column + 1] as usize;
        for (entry, row) in &self.entries[entries] {
            work[*row as usize] = values[*entry as usize];
        }
        let diagonal = work[own];
        let updates = self.update_starts[column] as usize..self.update_starts[column + 1] as usize;
        for (from, to) in &self.updates[updates] {
            let entries = *from as usize..*to as usize;
            let factors = &below[entries.start - first..entries.end - first];
            let own = factors[0];
            for (row, factor) in self.rows[entries].iter().zip(factors) {
                subtract(&mut work[*row as usize], *factor, own);
            }
        }
        let pivot = std::mem::take(&mut work[own]);
        let is_sound = (0..LANES).all(|lane| pivot[lane] > TRUSTED * diagonal[lane]);
        let inverse = pivot.map(|p| 1.0 / p.sqrt());
        let entries = self.starts[column] as usize..self.starts[column + 1] as usize;
        let made = &mut below[entries.start - first..entries.end - first];
        for (row, made) in self.rows[entries].iter().zip(made) {
            *made = times(std::mem::take(&mut work[*row as usize]), inverse);
        }
        is_sound.then_some(inverse)
    }
}

fn narrow(i: usize) -> u32 {
    u32::try_from(i).expect("fewer than 2³² entries")
}

fn times(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] * b[i])
}

fn subtract(from: &mut Lanes, a: Lanes, b: Lanes) {
    for i in 0..LANES {
        from[i] -= a[i] * b[i];
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

    #[test]
    fn every_lane_solves_with_its_own_matrix() {
        let n = 60;
        let stiffness = [0.3, 2.0, 9.0, 0.0];
        let mut lanes = LaneCholesky::new(ring(n, 1.0).0);
        let all = stiffness.map(|s| ring(n, s).1);
        let values: Vec<Lanes> = (0..all[0].len())
            .map(|entry| std::array::from_fn(|lane| all[lane][entry] as f32))
            .collect();
        lanes.factor(&values).unwrap();
        let right = |i: usize, lane: usize| ((i * 5 + lane * 3) as f32 * 0.7).sin();
        let mut x: Vec<Lanes> = (0..n)
            .map(|i| std::array::from_fn(|lane| right(i, lane)))
            .collect();
        lanes.solve(&mut x);
        for (lane, s) in stiffness.into_iter().enumerate() {
            let (pattern, values) = ring(n, s);
            let mut cholesky = SparseCholesky::new(pattern);
            cholesky.factor(&values).unwrap();
            let mut expected: Vec<f64> = (0..n).map(|i| right(i, lane).into()).collect();
            cholesky.solve(&mut expected);
            for (found, expected) in x.iter().zip(expected) {
                let miss = (f64::from(found[lane]) - expected).abs();
                assert!(miss < 1e-5, "lane {lane}: {} for {expected}", found[lane]);
            }
        }
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
