//! On which side of a plane a point lies, without rounding.
//!
//! The sign of the determinant (a − d)·((b − d) × (c − d)). It is taken from
//! `f64` where that is beyond its error bound (J. Shewchuk, "Adaptive Precision
//! Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997, §4.3)
//! and otherwise from an exact sum: differences and products of two numbers are
//! kept as a rounded number and its error, and sums of any length as numbers
//! that do not overlap, whose sign is that of the largest.

use std::cmp::Ordering;

use glam::DVec3;

/// The sign of six times the volume of a tetrahedron: `Greater` when `d` lies
/// on the side of the triangle from which its corners run clockwise, `Equal`
/// when all lie in one plane.
///
/// Exact as long as no product of three differences leaves the range of `f64`.
pub fn orientation(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> Ordering {
    let (ad, bd, cd) = (a - d, b - d, c - d);
    let cross = |p: DVec3, q: DVec3| {
        let terms = [
            (p.y * q.z, p.z * q.y),
            (p.z * q.x, p.x * q.z),
            (p.x * q.y, p.y * q.x),
        ];
        (
            DVec3::from(terms.map(|(m, n)| m - n)),
            DVec3::from(terms.map(|(m, n)| m.abs() + n.abs())),
        )
    };
    let (minors, sizes) = cross(bd, cd);
    let determinant = ad.dot(minors);
    // Shewchuk's bound with ε = 2⁻⁵³, the rounding of one operation.
    let epsilon = f64::EPSILON / 2.0;
    let bound = (7.0 + 56.0 * epsilon) * epsilon * ad.abs().dot(sizes);
    if determinant > bound {
        Ordering::Greater
    } else if determinant < -bound {
        Ordering::Less
    } else {
        exactly(a, b, c, d)
    }
}

fn exactly(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> Ordering {
    let minus = |p: DVec3| [0, 1, 2].map(|k| sum_of_two(p[k], -d[k]));
    let (ad, bd, cd) = (minus(a), minus(b), minus(c));
    let mut determinant = Vec::new();
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        for (j, k, sign) in [(j, k, 1.0), (k, j, -1.0)] {
            for term in product(&product(&ad[i], &bd[j]), &cd[k]) {
                add(&mut determinant, sign * term);
            }
        }
    }
    // The last is the largest.
    let sign = determinant.last().copied().unwrap_or(0.0);
    sign.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

/// The error of a + b and a + b itself.
fn sum_of_two(a: f64, b: f64) -> [f64; 2] {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    [(a - a_part) + (b - b_part), sum]
}

/// Adds a number to a sum of numbers that do not overlap, the smallest first.
fn add(sum: &mut Vec<f64>, number: f64) {
    let mut carried = number;
    let mut kept = 0;
    for index in 0..sum.len() {
        let [error, total] = sum_of_two(carried, sum[index]);
        carried = total;
        if error != 0.0 {
            sum[kept] = error;
            kept += 1;
        }
    }
    sum.truncate(kept);
    if carried != 0.0 {
        sum.push(carried);
    }
}

/// The exact product of two sums.
fn product(p: &[f64], q: &[f64]) -> Vec<f64> {
    let mut sum = Vec::new();
    for &x in p {
        for &y in q {
            let rounded = x * y;
            add(&mut sum, x.mul_add(y, -rounded));
            add(&mut sum, rounded);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_integers(points: [[i64; 3]; 4]) -> Ordering {
        let [a, b, c, d] = points.map(|p| p.map(i128::from));
        let m = [a, b, c].map(|p| [p[0] - d[0], p[1] - d[1], p[2] - d[2]]);
        let minor = |j: usize, k: usize| m[1][j] * m[2][k] - m[1][k] * m[2][j];
        (m[0][0] * minor(1, 2) + m[0][1] * minor(2, 0) + m[0][2] * minor(0, 1)).cmp(&0)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

        /// Points in or one unit beside a plane, with 38 digits to know it by:
        /// the determinant is below a millionth of its own rounding in `f64`.
        #[test]
        fn signs_near_zero_are_those_of_whole_numbers(
            corners in prop::array::uniform9(-(1i64 << 36)..(1i64 << 36)),
            weights in prop::array::uniform2(-2i64..=2),
            beside in prop::array::uniform3(-1i64..=1),
            scale in -60i32..60,
        ) {
            let at = |k: usize| [corners[k], corners[k + 1], corners[k + 2]];
            let (a, b, c) = (at(0), at(3), at(6));
            let d: [i64; 3] = std::array::from_fn(|k| {
                a[k] + weights[0] * (b[k] - a[k]) + weights[1] * (c[k] - a[k]) + beside[k]
            });
            let points = [a, b, c, d];
            let [pa, pb, pc, pd] =
                points.map(|p| DVec3::from(p.map(|x| x as f64 * f64::from(scale).exp2())));
            let expected = by_integers(points);
            prop_assert_eq!(orientation(pa, pb, pc, pd), expected);
            // Any exchange of two turns it round.
            prop_assert_eq!(orientation(pb, pa, pc, pd), expected.reverse());
            prop_assert_eq!(orientation(pd, pb, pc, pa), expected.reverse());
            prop_assert_eq!(orientation(pb, pc, pa, pd), expected);
        }
    }

    #[test]
    fn rounded_arithmetic_would_be_wrong_here() {
        // The two differ in the last bit of the height only.
        let (a, b, c) = (DVec3::new(0.1, 0.3, 0.7), DVec3::X * 0.3, DVec3::Z * 0.9);
        let d = (a + b + c) / 3.0;
        let mut signs = std::collections::BTreeSet::new();
        for step in -4i32..=4 {
            let d = DVec3::new(d.x, d.y + f64::from(step) * f64::EPSILON / 8.0, d.z);
            signs.insert(orientation(a, b, c, d) as i8);
        }
        assert!(signs.contains(&1) && signs.contains(&-1), "{signs:?}");
        assert_eq!(
            orientation(DVec3::X, DVec3::Y, DVec3::Z, DVec3::ZERO),
            Ordering::Greater
        );
    }
}
