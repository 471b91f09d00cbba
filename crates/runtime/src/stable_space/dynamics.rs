//! The linear map from body, past cloth and root motion to cloth: Eq. 3, 4 and
//! 5 in one matrix, and the proof that it is stable.
//!
//! ```text
//! φₜ = [ xₜ | yₜ₋₁ … yₜ₋ₙ | z(t, t−N) … z(t−N+1, t−N) ],    yₜ = W φₜ
//! ```
//!
//! # Holds
//! Every eigenvalue of the companion matrix M = [B₁ … Bₙ; I 0] is inside the
//! unit circle. There is no eigenvalue solver here; instead M is squared again
//! and again until a power has a norm below one, which no unstable matrix has:
//! ρ(M)ᵏ = ρ(Mᵏ) ≤ ‖Mᵏ‖. Matrices with ρ above 1 − 1e-6 or so are refused too.

use alloc::vec;
use alloc::vec::Vec;

use crate::products::add_columns;
use crate::root_motion::ROOT_MOTION;

/// Whether the root's motion is an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootTerms {
    /// Model C.
    With,
    /// Models A and B.
    Without,
}

/// The highest order that is known.
pub const MAX_ORDER: usize = 5;

/// yₜ = W φₜ, stable.
#[derive(Clone, Debug, PartialEq)]
pub struct Dynamics {
    n_body: usize,
    n_cloth: usize,
    order: usize,
    root: RootTerms,
    weights: Vec<f32>,
}

/// Why weights are no [`Dynamics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicsError {
    /// An order that is not known.
    #[error("order {order} is beyond {MAX_ORDER}")]
    Order {
        /// The order.
        order: usize,
    },
    /// There is not one weight an input and output.
    #[error("{found} weights for {expected} pairs of an input and an output")]
    Length {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A weight is not finite, or too large to be one.
    #[error("weight {index} is not finite or beyond 1e6")]
    NotFinite {
        /// Which weight.
        index: usize,
    },
    /// The cloth would move by itself for ever or more and more.
    #[error("the dynamics are unstable: no power of their matrix becomes small")]
    Unstable,
}

impl Dynamics {
    /// Dynamics with W by columns, shape [input, cloth].
    ///
    /// # Errors
    /// When lengths don't match, a weight is not finite, or they are unstable.
    pub fn new(
        n_body: usize,
        n_cloth: usize,
        order: usize,
        root: RootTerms,
        weights: Vec<f32>,
    ) -> Result<Self, DynamicsError> {
        if order > MAX_ORDER {
            return Err(DynamicsError::Order { order });
        }
        let made = Self {
            n_body,
            n_cloth,
            order,
            root,
            weights,
        };
        let found = made.weights.len();
        let expected = n_cloth.saturating_mul(made.n_inputs());
        if found != expected {
            return Err(DynamicsError::Length { found, expected });
        }
        let is_sound = |w: &f32| w.is_finite() && w.abs() <= 1e6;
        if let Some(index) = made.weights.iter().position(|w| !is_sound(w)) {
            return Err(DynamicsError::NotFinite { index });
        }
        let n = n_cloth * order;
        match is_stable(made.companion(), n) {
            true => Ok(made),
            false => Err(DynamicsError::Unstable),
        }
    }

    /// How many coefficients describe the body.
    pub const fn n_body(&self) -> usize {
        self.n_body
    }

    /// How many coefficients describe the cloth.
    pub const fn n_cloth(&self) -> usize {
        self.n_cloth
    }

    /// How many earlier frames count.
    pub const fn order(&self) -> usize {
        self.order
    }

    /// Whether the root's motion counts.
    pub const fn root(&self) -> RootTerms {
        self.root
    }

    /// W by columns, shape [input, cloth].
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// How many numbers go in.
    pub const fn n_inputs(&self) -> usize {
        let root = match self.root {
            RootTerms::With => ROOT_MOTION * self.order,
            RootTerms::Without => 0,
        };
        self.n_body + self.order * self.n_cloth + root
    }

    /// Writes W φ: the cloth's coefficients of one frame.
    ///
    /// # Panics
    /// When there is not one value an input and one a coefficient.
    pub fn step(&self, inputs: &[f32], out: &mut [f32]) {
        out.fill(0.0);
        add_columns(&self.weights, inputs, out);
    }

    /// M = [B₁ … Bₙ; I 0], row-major (Eq. 7).
    pub fn companion(&self) -> Vec<f64> {
        let (k, n) = (self.n_cloth, self.n_cloth * self.order);
        let mut matrix = vec![0.0; n * n];
        for column in 0..n {
            let weights = &self.weights[(self.n_body + column) * k..][..k];
            for (row, weight) in weights.iter().enumerate() {
                matrix[row * n + column] = f64::from(*weight);
            }
            if column + k < n {
                matrix[(column + k) * n + column] = 1.0;
            }
        }
        matrix
    }
}

/// Whether a power of the matrix has a norm below one.
fn is_stable(mut matrix: Vec<f64>, n: usize) -> bool {
    /// 2²² steps: more than a day at thirty frames a second.
    const SQUARINGS: usize = 22;
    // The power is `matrix` times e^log, which may be beyond what f64 holds.
    let mut log = 0.0;
    let mut square = vec![0.0; n * n];
    for _ in 0..=SQUARINGS {
        let norm = libm::sqrt(matrix.iter().map(|x| x * x).sum());
        if norm == 0.0 || log + libm::log(norm) < 0.0 {
            return true;
        }
        if !norm.is_finite() {
            return false;
        }
        log = 2.0 * (log + libm::log(norm));
        matrix.iter_mut().for_each(|x| *x /= norm);
        square.fill(0.0);
        for (row, out) in matrix.chunks_exact(n).zip(square.chunks_exact_mut(n)) {
            for (factor, other) in row.iter().zip(matrix.chunks_exact(n)) {
                if *factor != 0.0 {
                    for (out, x) in out.iter_mut().zip(other) {
                        *out += factor * x;
                    }
                }
            }
        }
        core::mem::swap(&mut matrix, &mut square);
    }
    n == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One coefficient, order 2: λ² = b₁ λ + b₂.
    fn second_order(b1: f32, b2: f32) -> Result<Dynamics, DynamicsError> {
        Dynamics::new(1, 1, 2, RootTerms::Without, vec![0.5, b1, b2])
    }

    #[test]
    fn a_swing_is_stable_when_its_roots_are_inside_the_circle() {
        for radius in [0.5f32, 0.99, 0.9999] {
            let b1 = 2.0 * radius * libm::cosf(0.2);
            assert!(second_order(b1, -radius * radius).is_ok(), "{radius}");
        }
        for radius in [1.0001f32, 1.01, 3.0] {
            let b1 = 2.0 * radius * libm::cosf(0.2);
            let found = second_order(b1, -radius * radius);
            assert_eq!(found, Err(DynamicsError::Unstable), "{radius}");
        }
        // λ = 1 twice: grows, though slowly.
        assert_eq!(second_order(2.0, -1.0), Err(DynamicsError::Unstable));
    }

    #[test]
    fn a_matrix_that_grows_first_is_stable_if_it_shrinks_in_the_end() {
        // [0.9 1000; 0 0.9]
        let weights = vec![0.9, 0.0, 1000.0, 0.9];
        assert!(Dynamics::new(0, 2, 1, RootTerms::Without, weights).is_ok());
    }

    #[test]
    fn the_companion_has_its_blocks_where_they_belong() {
        // B₁ = [1 2; 3 4]/10, B₂ = [5 6; 7 8]/100, by columns.
        let weights = vec![9.0, 9.0, 0.1, 0.3, 0.2, 0.4, 0.05, 0.07, 0.06, 0.08];
        let dynamics = Dynamics::new(1, 2, 2, RootTerms::Without, weights).unwrap();
        let expected = [
            [0.1, 0.2, 0.05, 0.06],
            [0.3, 0.4, 0.07, 0.08],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
        ];
        for (found, expected) in dynamics.companion().iter().zip(expected.as_flattened()) {
            assert!((found - expected).abs() < 1e-7);
        }
    }

    #[test]
    fn wrong_weights_are_named() {
        let new = |order, weights| Dynamics::new(1, 1, order, RootTerms::With, weights);
        assert_eq!(
            new(6, vec![]).unwrap_err(),
            DynamicsError::Order { order: 6 }
        );
        assert_eq!(
            new(1, vec![0.0; 3]).unwrap_err(),
            DynamicsError::Length {
                found: 3,
                expected: 7
            }
        );
        let mut weights = vec![0.0; 7];
        weights[4] = f32::NAN;
        assert_eq!(
            new(1, weights).unwrap_err(),
            DynamicsError::NotFinite { index: 4 }
        );
    }
}
