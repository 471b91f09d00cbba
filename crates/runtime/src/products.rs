//! Matrix times vector with the matrix as its columns one after the other, so
//! that the inner loop runs along memory and the compiler can widen it.

/// out += Σₖ xₖ columnₖ.
///
/// # Panics
/// When the sizes don't match.
pub(crate) fn add_columns(columns: &[f32], x: &[f32], out: &mut [f32]) {
    let n = out.len();
    assert_eq!(columns.len(), n * x.len(), "one column a coefficient");
    if n == 0 {
        return;
    }
    let mut four = columns.chunks_exact(4 * n);
    let mut coefficients = x.chunks_exact(4);
    for (block, c) in (&mut four).zip(&mut coefficients) {
        let (a, rest) = block.split_at(n);
        let (b, rest) = rest.split_at(n);
        let (d, e) = rest.split_at(n);
        for (i, out) in out.iter_mut().enumerate() {
            *out += (a[i] * c[0] + b[i] * c[1]) + (d[i] * c[2] + e[i] * c[3]);
        }
    }
    let left = four.remainder().chunks_exact(n);
    for (column, c) in left.zip(coefficients.remainder()) {
        for (out, a) in out.iter_mut().zip(column) {
            *out += a * c;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn columns_add_up_whatever_their_number() {
        for (n, k) in [(1, 1), (5, 3), (3, 4), (7, 9), (0, 2), (4, 0)] {
            let columns: Vec<f32> = (0..n * k).map(|i| (i % 11) as f32 - 5.0).collect();
            let x: Vec<f32> = (0..k).map(|i| i as f32 + 1.0).collect();
            let mut out = vec![0.5; n];
            add_columns(&columns, &x, &mut out);
            for (row, out) in out.iter().enumerate() {
                let sum: f32 = (0..k).map(|c| columns[c * n + row] * x[c]).sum();
                assert_eq!(*out, 0.5 + sum, "{n} × {k}");
            }
        }
    }
}
