//! Where the factors of [`LaneCholesky`](super::LaneCholesky) stand, and the sums over
//! their columns.
//!
//! Columns are made one after the other, each from those before it:
//!
//! ```text
//! L(·, j) = (A(·, j) − Σₖ L(·, k) L(j, k)) / L(j, j),      k < j with L(j, k) ≠ 0
//! ```
//!
//! Neighbouring columns often have the same rows below them. Up to [`WIDEST`] of these make
//! a block, which stands row by row: its rows are looked up, and its sums loaded and stored, once for
//! all of its columns, and memory is read in one direction. Each sum is still over the
//! columns in their order, so that a block gives the same bits as its columns one by one.

use std::ops::Range;

use faer::sparse::linalg::cholesky::{SymbolicCholesky, SymbolicCholeskyRaw};

use super::{LANES, Lanes};
use crate::SymmetricPattern;
use crate::branches::Branches;

/// A pivot in f32 that is less than this share of its diagonal is not trusted.
const TRUSTED: f32 = 1e-4;

/// The most columns of a block.
pub(super) const WIDEST: usize = 4;

/// Where no entry of the factor stands.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Where everything stands.
pub(super) struct Layout {
    pub(super) branches: Branches,
    /// The row of the matrix that stands at each place.
    pub(super) order: Vec<u32>,
    blocks: Vec<Block>,
    /// The blocks of each bundle, and of the trunk.
    parts: Vec<Range<usize>>,
    /// For each column its block.
    block_of: Vec<u32>,
    /// Of all blocks.
    rows: Vec<u32>,
    /// Where the entries of the matrix go: for each column those of its own,
    /// as (entry, row), the diagonal first.
    entry_starts: Vec<u32>,
    entries: Vec<(u32, u32)>,
    /// For each row, what has it to its left.
    update_starts: Vec<u32>,
    updates: Vec<Update>,
    /// Where each entry of the blocks stands in faer's factor, and its diagonal.
    pub(super) sources: Vec<u32>,
    pub(super) diagonal_sources: Vec<u32>,
    /// How many solves have as many multiplications as making the factors.
    pub(super) solves_a_factor: f64,
}

/// Columns with the same rows below them; each but the last has the next as a row, too.
#[derive(Clone, Copy, Debug)]
struct Block {
    column: u32,
    width: u32,
    /// Its rows: those of its own columns but the first, and those below.
    first_row: u32,
    n_rows: u32,
    /// Where its entries stand, row by row and each as many as there are columns; what is
    /// above the diagonal is never used.
    first_entry: u32,
}

impl Block {
    const fn rows(&self) -> Range<usize> {
        self.first_row as usize..(self.first_row + self.n_rows) as usize
    }

    const fn entries(&self) -> Range<usize> {
        self.first_entry as usize..(self.first_entry + self.width * self.n_rows) as usize
    }
}

/// The first columns of a block, which have a row and all that come after it.
#[derive(Clone, Copy, Debug)]
struct Update {
    block: u32,
    n_columns: u32,
    /// Which of the rows of the block it is.
    row: u32,
}

impl Layout {
    /// In blocks of up to `widest` columns, of which [`WIDEST`] is the most.
    pub(super) fn new(
        pattern: &SymmetricPattern,
        symbolic: &SymbolicCholesky<usize>,
        widest: usize,
    ) -> Self {
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
        let mut layout = Self {
            order: Vec::with_capacity(n),
            blocks: Vec::new(),
            parts: Vec::new(),
            block_of: Vec::with_capacity(n),
            rows: Vec::new(),
            entry_starts: vec![0],
            entries: Vec::new(),
            update_starts: vec![0],
            updates: Vec::new(),
            sources: Vec::new(),
            diagonal_sources: Vec::new(),
            solves_a_factor: 0.0,
            branches,
        };
        // The rows of each column, as places, with where they stand in faer's factor.
        let mut below: Vec<Vec<(usize, usize)>> = Vec::with_capacity(n);
        for &column in &layout.branches.order {
            let row = symbolic.perm().map_or(column, |p| p.arrays().0[column]);
            layout.order.push(narrow(row));
            layout.diagonal_sources.push(narrow(columns[column]));
            let mut own: Vec<(usize, usize)> = (of(column).skip(1))
                .map(|from| (place[rows[from]], from))
                .collect();
            own.sort_unstable();
            below.push(own);
        }
        layout.find_blocks(&below, widest);
        let local = layout.branches.local();
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
        layout.solves_a_factor = layout.count_multiplications();
        layout
    }

    /// Puts columns into blocks, and takes down for each row which have it; `below` is
    /// where each column has its rows, and where they stand in faer's factor.
    fn find_blocks(&mut self, below: &[Vec<(usize, usize)>], widest: usize) {
        let local = self.branches.local();
        let mut updates: Vec<Vec<Update>> = vec![Vec::new(); below.len()];
        let is_alike = |column: usize| {
            let rows = |column: usize| below[column].iter().map(|(row, _)| *row);
            rows(column).eq([column + 1].into_iter().chain(rows(column + 1)))
        };
        let Branches { bundles, trunk, .. } = &self.branches;
        for part in bundles.iter().chain([trunk]) {
            let first_block = self.blocks.len();
            let mut column = part.start;
            while column < part.end {
                let most = widest.min(part.end - column);
                let alike = (column..column + most - 1).take_while(|at| is_alike(*at));
                let width = 1 + alike.count();
                let block = narrow(self.blocks.len());
                self.block_of.extend([block; WIDEST].iter().take(width));
                let rows = &below[column];
                // The first column has them all.
                self.blocks.push(Block {
                    column: narrow(column),
                    width: narrow(width),
                    first_row: narrow(self.rows.len()),
                    n_rows: narrow(rows.len()),
                    first_entry: narrow(self.sources.len()),
                });
                for (r, (row, _)) in rows.iter().enumerate() {
                    self.rows.push(narrow(local(*row)));
                    let n_columns = width.min(r + 1);
                    for k in 0..width {
                        let source = match k < n_columns {
                            true => narrow(below[column + k][r - k].1),
                            false => NOWHERE,
                        };
                        self.sources.push(source);
                    }
                    updates[*row].push(Update {
                        block,
                        n_columns: narrow(n_columns),
                        row: narrow(r),
                    });
                }
                column += width;
            }
            self.parts.push(first_block..self.blocks.len());
        }
        for all in updates {
            self.updates.extend(all);
            self.update_starts.push(narrow(self.updates.len()));
        }
    }

    /// Room for the entries of all blocks.
    pub(super) fn n_entries(&self) -> usize {
        self.sources.len()
    }

    /// The entries of the blocks of a bundle.
    pub(super) fn entries_of(&self, bundle: usize) -> Range<usize> {
        let part = &self.blocks[self.parts[bundle].clone()];
        match (part.first(), part.last()) {
            (Some(first), Some(last)) => first.entries().start..last.entries().end,
            _ => 0..0,
        }
    }

    /// How many columns each block has.
    #[cfg(test)]
    pub(super) fn widths(&self) -> impl Iterator<Item = usize> + '_ {
        self.blocks.iter().map(|block| block.width as usize)
    }

    /// Those of making the factors over those of a solve.
    fn count_multiplications(&self) -> f64 {
        let made = self.updates.iter().map(|u| {
            let n_rows = self.blocks[u.block as usize].n_rows - u.row;
            f64::from(u.n_columns) * f64::from(n_rows)
        });
        let n_below = self.sources.iter().filter(|from| **from != NOWHERE).count();
        made.sum::<f64>() / (2 * (n_below + self.order.len())) as f64
    }

    /// Makes a column, which is counted as `own`, of those before it; gives its
    /// inverted diagonal if that can be trusted. `below` begins at entry
    /// `first` of the factor; `work` is zero before and after.
    pub(super) fn column(
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
        for update in &self.updates[updates] {
            let below = (&*below, first);
            match update.n_columns {
                1 => self.subtract_columns::<1>(update, below, work),
                2 => self.subtract_columns::<2>(update, below, work),
                3 => self.subtract_columns::<3>(update, below, work),
                _ => self.subtract_columns::<WIDEST>(update, below, work),
            }
        }
        let pivot = std::mem::take(&mut work[own]);
        let is_sound = (0..LANES).all(|lane| pivot[lane] > TRUSTED * diagonal[lane]);
        let inverse = pivot.map(|p| 1.0 / p.sqrt());
        let block = &self.blocks[self.block_of[column] as usize];
        let (width, k) = (block.width as usize, column - block.column as usize);
        let made = block.entries().start - first..block.entries().end - first;
        let rows = self.rows[block.rows()].iter();
        for (row, made) in rows.zip(below[made].chunks_exact_mut(width)).skip(k) {
            made[k] = times(std::mem::take(&mut work[*row as usize]), inverse);
        }
        is_sound.then_some(inverse)
    }

    /// What the first columns of a block have in common with one that comes later.
    fn subtract_columns<const N: usize>(
        &self,
        update: &Update,
        (below, first): (&[Lanes], usize),
        work: &mut [Lanes],
    ) {
        let block = &self.blocks[update.block as usize];
        let (width, row) = (block.width as usize, update.row as usize);
        let entries = block.entries().start + row * width - first..block.entries().end - first;
        let (rows, entries) = (&self.rows[block.rows()][row..], &below[entries]);
        let own: [Lanes; N] = std::array::from_fn(|k| entries[k]);
        for (row, entries) in rows.iter().zip(entries.chunks_exact(width)) {
            subtract_all(&mut work[*row as usize], entries, &own);
        }
    }

    /// y ← L⁻¹ y over the columns of a bundle, the first of which is counted as `own`.
    pub(super) fn forwards(
        &self,
        bundle: usize,
        mut own: usize,
        below: &[Lanes],
        inverse: &[Lanes],
        y: &mut [Lanes],
    ) {
        for block in &self.blocks[self.parts[bundle].clone()] {
            match block.width {
                1 => self.block_forwards::<1>(block, own, below, inverse, y),
                2 => self.block_forwards::<2>(block, own, below, inverse, y),
                3 => self.block_forwards::<3>(block, own, below, inverse, y),
                _ => self.block_forwards::<WIDEST>(block, own, below, inverse, y),
            }
            own += block.width as usize;
        }
    }

    fn block_forwards<const W: usize>(
        &self,
        block: &Block,
        own: usize,
        below: &[Lanes],
        inverse: &[Lanes],
        y: &mut [Lanes],
    ) {
        let (entries, _) = below[block.entries()].as_chunks::<W>();
        let inverse = &inverse[block.column as usize..][..W];
        let mut values = [[0.0; LANES]; W];
        for k in 0..W {
            values[k] = times(y[own + k], inverse[k]);
            y[own + k] = values[k];
            for r in k..W - 1 {
                subtract(&mut y[own + r + 1], entries[r][k], values[k]);
            }
        }
        let rows = self.rows[block.rows()].iter().zip(entries).skip(W - 1);
        for (row, entries) in rows {
            subtract_all(&mut y[*row as usize], entries, &values);
        }
    }

    /// y ← L⁻ᵀ y over the columns of a bundle, the first of which is counted as `own`.
    pub(super) fn backwards(
        &self,
        bundle: usize,
        own: usize,
        below: &[Lanes],
        inverse: &[Lanes],
        y: &mut [Lanes],
    ) {
        let blocks = &self.blocks[self.parts[bundle].clone()];
        let Some(first) = blocks.first() else { return };
        for block in blocks.iter().rev() {
            let own = own + (block.column - first.column) as usize;
            match block.width {
                1 => self.columns_backwards::<1, 1>(0, block, own, below, inverse, y),
                2 => self.columns_backwards::<2, 2>(0, block, own, below, inverse, y),
                // More than two at once have more sums than there are registers.
                3 => {
                    self.columns_backwards::<3, 2>(1, block, own, below, inverse, y);
                    self.columns_backwards::<3, 1>(0, block, own, below, inverse, y);
                }
                _ => {
                    self.columns_backwards::<WIDEST, 2>(2, block, own, below, inverse, y);
                    self.columns_backwards::<WIDEST, 2>(0, block, own, below, inverse, y);
                }
            }
        }
    }

    /// N columns of a block of W, from column `k` of it on.
    fn columns_backwards<const W: usize, const N: usize>(
        &self,
        k: usize,
        block: &Block,
        own: usize,
        below: &[Lanes],
        inverse: &[Lanes],
        y: &mut [Lanes],
    ) {
        let (entries, _) = below[block.entries()].as_chunks::<W>();
        let rows = &self.rows[block.rows()];
        // Sums run side by side, so that none waits for the last addition; from the last
        // rows to the first, as the blocks go.
        let mut sums = [[[0.0; LANES]; 4]; N];
        for j in 0..N {
            sums[j][0] = y[own + k + j];
        }
        // Below the last of them.
        let (rows_below, entries_below) = (&rows[k + N - 1..], &entries[k + N - 1..]);
        let (begun, rows_below) = rows_below.as_rchunks::<4>();
        let (_, entries_below) = entries_below.as_rchunks::<4>();
        for (rows, entries) in rows_below.iter().zip(entries_below).rev() {
            for i in (0..4).rev() {
                let y = y[rows[i] as usize];
                for j in 0..N {
                    subtract(&mut sums[j][i], entries[i][k + j], y);
                }
            }
        }
        for j in (0..N).rev() {
            // What of its block is done, and what four do not divide.
            let left = k + j..k + N - 1 + begun.len();
            let by_four = left.len() == 4;
            for (i, r) in left.enumerate() {
                let at = if by_four { i } else { 0 };
                subtract(&mut sums[j][at], entries[r][k + j], y[rows[r] as usize]);
            }
            let [a, b, c, d] = sums[j];
            let sum = std::array::from_fn(|i| (a[i] + b[i]) + (c[i] + d[i]));
            y[own + k + j] = times(sum, inverse[block.column as usize + k + j]);
        }
    }
}

/// from −= Σₖ aₖ bₖ, one after the other.
#[inline(always)]
fn subtract_all<const N: usize>(from: &mut Lanes, a: &[Lanes], b: &[Lanes; N]) {
    let mut sum = *from;
    for (a, b) in a[..N].iter().zip(b) {
        subtract(&mut sum, *a, *b);
    }
    *from = sum;
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
