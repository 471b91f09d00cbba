//! Which entries of a symmetric matrix are there: [`SymmetricPattern`].

/// The lower triangle of a sparse symmetric matrix, column by column, the
/// diagonal included. Values live apart, in the order of the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymmetricPattern {
    column_starts: Vec<usize>,
    rows: Vec<usize>,
}

/// Why entries don't make a [`SymmetricPattern`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// An entry lies outside the matrix.
    #[error("entry ({row}, {column}) lies outside a matrix of {n}")]
    Outside {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// Rows and columns of the matrix.
        n: usize,
    },
}

impl SymmetricPattern {
    /// The pattern of an `n` by `n` matrix with the given entries (row,
    /// column), in any order, from either triangle, repeated or not; the
    /// diagonal is always there.
    ///
    /// # Errors
    /// When an entry lies outside the matrix.
    pub fn new(
        n: usize,
        entries: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, PatternError> {
        let mut lower: Vec<(usize, usize)> = (0..n).map(|i| (i, i)).collect();
        for (row, column) in entries {
            if row >= n || column >= n {
                return Err(PatternError::Outside { row, column, n });
            }
            lower.push((row.min(column), row.max(column)));
        }
        lower.sort_unstable();
        lower.dedup();
        let mut column_starts = vec![0; n + 1];
        for (column, _) in &lower {
            column_starts[column + 1] += 1;
        }
        for column in 0..n {
            column_starts[column + 1] += column_starts[column];
        }
        Ok(Self {
            column_starts,
            rows: lower.into_iter().map(|(_, row)| row).collect(),
        })
    }

    /// Rows and columns of the matrix.
    pub fn n(&self) -> usize {
        self.column_starts.len() - 1
    }

    /// How many entries the lower triangle has.
    pub fn n_entries(&self) -> usize {
        self.rows.len()
    }

    /// Where each column starts among the entries, and where the last ends.
    pub fn column_starts(&self) -> &[usize] {
        &self.column_starts
    }

    /// The row of each entry, rising within a column.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The place of entry (row, column), from either triangle.
    pub fn place(&self, row: usize, column: usize) -> Option<usize> {
        let (row, column) = (row.max(column), row.min(column));
        let start = *self.column_starts.get(column)?;
        let end = *self.column_starts.get(column + 1)?;
        let found = self.rows[start..end].binary_search(&row).ok()?;
        Some(start + found)
    }

    /// y = A x, for the symmetric matrix of these values.
    ///
    /// # Panics
    /// When a length does not fit the pattern.
    pub fn multiply(&self, values: &[f64], x: &[f64], y: &mut [f64]) {
        assert_eq!(values.len(), self.n_entries(), "one value an entry");
        assert!(
            x.len() == self.n() && y.len() == self.n(),
            "one entry a row"
        );
        y.fill(0.0);
        for column in 0..self.n() {
            let entries = self.column_starts[column]..self.column_starts[column + 1];
            for (&row, value) in self.rows[entries.clone()].iter().zip(&values[entries]) {
                y[row] += value * x[column];
                if row != column {
                    y[column] += value * x[row];
                }
            }
        }
    }
}
