//! Eigenvalues of a matrix that is not symmetric, A = Q Λ Q⁻¹.

use faer::linalg::solvers::DenseSolveCore;
use faer::{MatRef, c64};

use crate::NoEigenvalues;

/// A complex number as its real and its imaginary part.
pub type Complex = [f64; 2];

/// A = Q Λ Q⁻¹, with columns of Q of unit length.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralEigen {
    /// The diagonal of Λ, the largest magnitude first.
    pub values: Vec<Complex>,
    /// Q, row-major: its columns are eigenvectors.
    pub vectors: Vec<Complex>,
    /// Q⁻¹, row-major.
    pub inverse: Vec<Complex>,
    /// The largest singular value of Q.
    pub vectors_norm: f64,
}

/// |z|.
fn magnitude(z: Complex) -> f64 {
    z[0].hypot(z[1])
}

/// The eigenvalues of a square matrix of `n` rows, the largest magnitude first.
///
/// # Errors
/// When the iteration does not end, as with NaN.
///
/// # Panics
/// When it is not a square of `n` rows.
pub fn general_eigenvalues(matrix: &[f64], n: usize) -> Result<Vec<Complex>, NoEigenvalues> {
    let found = checked(matrix, n)?.eigenvalues();
    let found = found.map_err(|_| NoEigenvalues { n })?;
    let mut values: Vec<Complex> = found.iter().map(|z| [z.re, z.im]).collect();
    values.sort_by(order);
    Ok(values)
}

/// The largest magnitude of an eigenvalue of a square matrix of `n` rows; 0 of
/// an empty one.
///
/// # Errors
/// As [`general_eigenvalues`].
///
/// # Panics
/// When it is not a square of `n` rows.
pub fn spectral_radius(matrix: &[f64], n: usize) -> Result<f64, NoEigenvalues> {
    let values = general_eigenvalues(matrix, n)?;
    Ok(values.first().map_or(0.0, |z| magnitude(*z)))
}

/// The eigenvalues and vectors of a square matrix of `n` rows.
///
/// # Errors
/// When the iteration does not end, or the eigenvectors don't span the space.
///
/// # Panics
/// When it is not a square of `n` rows.
pub fn general_eigen(matrix: &[f64], n: usize) -> Result<GeneralEigen, NoEigenvalues> {
    let wrong = NoEigenvalues { n };
    let found = checked(matrix, n)?.eigen().map_err(|_| wrong)?;
    let (u, s) = (found.U(), found.S().column_vector());
    let mut columns: Vec<usize> = (0..n).collect();
    let value = |column: usize| [s[column].re, s[column].im];
    columns.sort_by(|a, b| order(&value(*a), &value(*b)));
    let lengths: Vec<f64> = (0..n)
        .map(|c| (0..n).map(|r| u[(r, c)].norm_sqr()).sum::<f64>().sqrt())
        .collect();
    let q = faer::Mat::<c64>::from_fn(n, n, |r, c| u[(r, columns[c])] / lengths[columns[c]]);
    let inverse = q.partial_piv_lu().inverse();
    let norms = q.singular_values().map_err(|_| wrong)?;
    let flat = |m: MatRef<'_, c64>| -> Vec<Complex> {
        (0..n * n)
            .map(|at| m[(at / n, at % n)])
            .map(|z| [z.re, z.im])
            .collect()
    };
    let (vectors, inverse) = (flat(q.as_ref()), flat(inverse.as_ref()));
    let all = vectors.iter().chain(&inverse);
    if all.flatten().any(|x| !x.is_finite()) {
        return Err(wrong);
    }
    Ok(GeneralEigen {
        values: columns.iter().map(|c| value(*c)).collect(),
        vectors,
        inverse,
        vectors_norm: norms.first().copied().unwrap_or(0.0),
    })
}

/// The largest magnitude first; of a pair the one above the real axis.
fn order(a: &Complex, b: &Complex) -> std::cmp::Ordering {
    let size = magnitude(*b).total_cmp(&magnitude(*a));
    size.then(b[0].total_cmp(&a[0])).then(b[1].total_cmp(&a[1]))
}

fn checked(matrix: &[f64], n: usize) -> Result<MatRef<'_, f64>, NoEigenvalues> {
    assert_eq!(matrix.len(), n * n, "a square");
    match matrix.iter().all(|v| v.is_finite()) {
        true => Ok(MatRef::from_row_major_slice(matrix, n, n)),
        false => Err(NoEigenvalues { n }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damped_turn_has_the_eigenvalues_of_its_angle() {
        let (r, angle) = (0.9, 0.3f64);
        let (c, s) = (r * angle.cos(), r * angle.sin());
        let a = [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 0.5];
        let values = general_eigenvalues(&a, 3).unwrap();
        for (found, expected) in values.iter().zip([[c, s], [c, -s], [0.5, 0.0]]) {
            assert!((found[0] - expected[0]).abs() < 1e-14);
            assert!((found[1] - expected[1]).abs() < 1e-14);
        }
        assert!((spectral_radius(&a, 3).unwrap() - r).abs() < 1e-14);
        assert_eq!(spectral_radius(&[], 0), Ok(0.0));
        assert_eq!(spectral_radius(&[f64::NAN], 1), Err(NoEigenvalues { n: 1 }));
    }

    #[test]
    fn vectors_and_their_inverse_rebuild_the_matrix() {
        let n = 12;
        let a: Vec<f64> = (0..n * n).map(|i| ((i * i) as f64 * 0.37).sin()).collect();
        let eigen = general_eigen(&a, n).unwrap();
        for row in 0..n {
            for column in 0..n {
                let mut sum = [0.0; 2];
                for k in 0..n {
                    let [l, v] = [eigen.values[k], eigen.vectors[row * n + k]];
                    let i = eigen.inverse[k * n + column];
                    let lv = [l[0] * v[0] - l[1] * v[1], l[0] * v[1] + l[1] * v[0]];
                    sum[0] += lv[0] * i[0] - lv[1] * i[1];
                    sum[1] += lv[0] * i[1] + lv[1] * i[0];
                }
                assert!((sum[0] - a[row * n + column]).abs() < 1e-10);
                assert!(sum[1].abs() < 1e-10);
            }
        }
        // n unit columns: the norm is between 1 and √n.
        assert!((1.0..=(n as f64).sqrt()).contains(&eigen.vectors_norm));
    }
}
