//! Moves weights from joints to the halfway joints between them.
//!
//! Draw two joints of a vertex, each with the probability of its weight. Drawn
//! twice, joint j keeps the vertex; of two different joints, the vertex goes
//! halfway: with an ancestor and a descendant, to the halfway joint of the
//! descendant; with joints on different branches, to the halfway joint of each
//! with equal chances. So
//!
//! ```text
//! joint j    wⱼ²
//! halfway j  wⱼ (2 Aⱼ + Uⱼ)
//! ```
//!
//! with Aⱼ the weight of the ancestors of j and Uⱼ that of all joints neither
//! above nor below it. The sum is (Σ wⱼ)² = 1, no weight is negative, and the
//! order of joints does not matter: a crotch goes halfway with both legs.
//!
//! A blend (1 − a, a) of parent and child becomes (1 − a)², 2a(1 − a), a², the
//! quadratic Bernstein polynomials, which turn a vertex by aθ as before for
//! small angles. With the bone turned by θ,
//!
//! ```text
//! σ_min = |(1 − a + a e^{iθ/2})²| = 1 − 4a(1 − a) sin²(θ/4) ≥ cos²(θ/4) ≥ ½
//! ```
//!
//! at its least where a = ½; plain blending has cos(θ/2) there.
//!
//! # Tried
//! A hat function in place of the polynomials, which moves 2 min(a, 1 − a) over
//! every bone in turn, has σ_min ≥ cos(θ/4) but steeper weights where three or
//! more joints meet: edges of a skirt stretched twice as far.

use drapery_core::JointId;

/// Spreads a vertex's weights, shape [joint], which sum to one, over joints and
/// halfway joints: `out` has shape [2 × joint], those of joint j at
/// `n_joints + j`.
pub(super) fn spread(weights: &[f64], parents: &[Option<JointId>], out: &mut [f64]) {
    let n = weights.len();
    let total: f64 = weights.iter().sum();
    // The weight at and below each joint, children before parents.
    let mut below = weights.to_vec();
    for joint in (0..n).rev() {
        if let Some(parent) = parents[joint] {
            below[parent.index()] += below[joint];
        }
    }
    // That of its ancestors, parents before children.
    let mut above = vec![0.0; n];
    for joint in 0..n {
        above[joint] = parents[joint].map_or(0.0, |p| above[p.index()] + weights[p.index()]);
    }
    let (whole, half) = out.split_at_mut(n);
    for joint in 0..n {
        let beside = total - below[joint] - above[joint];
        whole[joint] = weights[joint] * weights[joint];
        // Nothing is beside the root but a rounding error.
        half[joint] = (weights[joint] * (2.0 * above[joint] + beside)).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// hips; left thigh, shin; right thigh, shin; spine.
    const PARENTS: [Option<JointId>; 6] = [
        None,
        Some(JointId(0)),
        Some(JointId(1)),
        Some(JointId(0)),
        Some(JointId(3)),
        Some(JointId(0)),
    ];

    fn spread_of(weights: [f64; 6]) -> [f64; 12] {
        let mut out = [f64::NAN; 12];
        spread(&weights, &PARENTS, &mut out);
        out
    }

    fn near(found: [f64; 12], expected: &[(usize, f64)]) {
        for (i, w) in found.iter().enumerate() {
            let e = expected.iter().find(|e| e.0 == i).map_or(0.0, |e| e.1);
            assert!((w - e).abs() < 1e-12, "{i}: {w}, expected {e}: {found:?}");
        }
    }

    #[test]
    fn two_joints_become_quadratic_polynomials() {
        for a in [0.0, 0.2, 0.5, 0.7, 1.0] {
            let b = 1.0 - a;
            let found = spread_of([0.0, b, a, 0.0, 0.0, 0.0]);
            near(found, &[(1, b * b), (6 + 2, 2.0 * a * b), (2, a * a)]);
        }
    }

    #[test]
    fn the_crotch_goes_halfway_with_both_legs() {
        let found = spread_of([0.0, 0.5, 0.0, 0.5, 0.0, 0.0]);
        near(found, &[(1, 0.25), (3, 0.25), (6 + 1, 0.25), (6 + 3, 0.25)]);
        let found = spread_of([0.5, 0.25, 0.0, 0.25, 0.0, 0.0]);
        let (leg, half) = (0.0625, 0.25 * (1.0 + 0.25));
        let legs = [(1, leg), (3, leg), (6 + 1, half), (6 + 3, half)];
        near(found, &[&[(0, 0.25)], &legs[..]].concat());
    }

    #[test]
    fn a_joint_that_was_passed_over_goes_to_the_lower_bone() {
        let found = spread_of([0.5, 0.0, 0.5, 0.0, 0.0, 0.0]);
        near(found, &[(0, 0.25), (6 + 2, 0.5), (2, 0.25)]);
    }

    proptest! {
        #[test]
        fn weights_stay_weights(raw in prop::array::uniform6(0.0f64..1.0)) {
            let sum: f64 = raw.iter().sum();
            prop_assume!(sum > 0.1);
            let weights = raw.map(|w| w / sum);
            let found = spread_of(weights);
            prop_assert!(found.iter().all(|w| *w >= 0.0));
            prop_assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            // The obvious way: every pair in turn.
            let mut slow = [0.0; 12];
            let is_above = |i: usize, j: usize| {
                let mut at = PARENTS[j];
                while let Some(p) = at {
                    if p.index() == i { return true; }
                    at = PARENTS[p.index()];
                }
                false
            };
            for i in 0..6 {
                for j in 0..6 {
                    let mass = weights[i] * weights[j];
                    if i == j { slow[i] += mass; }
                    else if is_above(i, j) { slow[6 + j] += mass; }
                    else if is_above(j, i) { slow[6 + i] += mass; }
                    else { slow[6 + i] += mass / 2.0; slow[6 + j] += mass / 2.0; }
                }
            }
            for (a, b) in found.iter().zip(slow) {
                prop_assert!((a - b).abs() < 1e-12);
            }
        }
    }
}
