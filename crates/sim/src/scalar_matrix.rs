//! A sparse symmetric matrix of numbers that acts on each coordinate alike:
//! [`ScalarMatrix`], row by row, both triangles.

use std::ops::Range;

use glam::DVec3;

/// A sparse matrix whose entries stand for multiples of the 3 × 3 identity.
#[derive(Clone, Debug)]
pub(crate) struct ScalarMatrix {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl ScalarMatrix {
    /// Sums entries (row, column, value) in the order given.
    pub(crate) fn new(n: usize, mut entries: Vec<(u32, u32, f64)>) -> Self {
        // Stable, so that equal places are summed in the order given.
        entries.sort_by_key(|(row, column, _)| (*row, *column));
        let mut starts = vec![0; n + 1];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for same in entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            starts[same[0].0 as usize + 1] += 1;
            columns.push(same[0].1);
            values.push(same.iter().map(|e| e.2).sum());
        }
        for row in 0..n {
            starts[row + 1] += starts[row];
        }
        Self {
            starts,
            columns,
            values,
        }
    }

    /// Adds the rows of another matrix below, and its columns behind.
    pub(crate) fn append(&mut self, other: &Self) {
        let (n, n_entries) = (self.starts.len() as u32 - 1, self.columns.len() as u32);
        let starts = other.starts[1..].iter();
        self.starts.extend(starts.map(|start| start + n_entries));
        self.columns.extend(other.columns.iter().map(|c| c + n));
        self.values.extend_from_slice(&other.values);
    }

    pub(crate) fn row(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    pub(crate) fn columns(&self) -> &[u32] {
        &self.columns
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Every entry as (row, column, value), in order.
    pub(crate) fn entries(&self, add: &mut impl FnMut(u32, u32, f64)) {
        for row in 0..self.starts.len() - 1 {
            for at in self.row(row) {
                add(row as u32, self.columns[at], self.values[at]);
            }
        }
    }

    /// One row of the product with `x`.
    pub(crate) fn row_times(&self, row: usize, x: &[DVec3]) -> DVec3 {
        let entries = self.row(row);
        let mut sum = DVec3::ZERO;
        for (column, value) in self.columns[entries.clone()]
            .iter()
            .zip(&self.values[entries])
        {
            sum += x[*column as usize] * *value;
        }
        sum
    }
}
