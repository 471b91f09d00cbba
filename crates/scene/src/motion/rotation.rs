//! Rotations as vectors: exp, log and the right Jacobian of SO(3).
//!
//! ```text
//! exp(φ) turns by |φ| about φ,  log is its inverse with |log q| ≤ π
//! q(t) = q₀ exp(φ(t))  ⇒  angular velocity in body axes  ω = J(φ) φ̇
//! J(φ)   = I − (1 − cos θ)/θ² [φ]× + (θ − sin θ)/θ³ [φ]×²          θ = |φ|
//! J(φ)⁻¹ = I + ½ [φ]× + (1/θ² − cot(θ/2)/(2θ)) [φ]×²
//! ```

use glam::{DQuat, DVec3, Quat};

/// Below this angle series replace quotients that lose their digits.
const SMALL: f64 = 1e-3;

/// A stored rotation in double precision, of unit length again.
pub(super) fn wide(q: Quat) -> DQuat {
    q.as_dquat().normalize()
}

/// The rotation by |φ| about φ.
pub(super) fn exp(phi: DVec3) -> DQuat {
    DQuat::from_scaled_axis(phi)
}

/// The shortest rotation vector of a unit quaternion.
pub(super) fn log(q: DQuat) -> DVec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = DVec3::new(q.x, q.y, q.z);
    let sine = v.length();
    if sine < 1e-12 {
        return 2.0 * v;
    }
    v * (2.0 * sine.atan2(q.w) / sine)
}

/// The angle of a rotation, 0 to π [rad].
pub(super) fn angle(q: DQuat) -> f64 {
    log(q).length()
}

/// J(φ) v.
pub(super) fn right_jacobian(phi: DVec3, v: DVec3) -> DVec3 {
    let theta_sq = phi.length_squared();
    let theta = theta_sq.sqrt();
    let (a, b) = if theta < SMALL {
        (0.5 - theta_sq / 24.0, 1.0 / 6.0 - theta_sq / 120.0)
    } else {
        (
            (1.0 - theta.cos()) / theta_sq,
            (theta - theta.sin()) / (theta_sq * theta),
        )
    };
    let once = phi.cross(v);
    v - a * once + b * phi.cross(once)
}

/// J(φ)⁻¹ v, for |φ| ≤ π.
pub(super) fn inverse_right_jacobian(phi: DVec3, v: DVec3) -> DVec3 {
    let theta_sq = phi.length_squared();
    let theta = theta_sq.sqrt();
    let b = if theta < SMALL {
        1.0 / 12.0 + theta_sq / 720.0
    } else {
        1.0 / theta_sq - 0.5 / (theta * (0.5 * theta).tan())
    };
    let once = phi.cross(v);
    v + 0.5 * once + b * phi.cross(once)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector(limit: f64) -> impl Strategy<Value = DVec3> {
        [-1.0..1.0, -1.0..1.0, -1.0..1.0f64].prop_filter_map("too short", move |v| {
            let v = DVec3::from_array(v);
            (v.length() > 1e-3).then(|| v.normalize() * limit * v.length().min(1.0))
        })
    }

    proptest! {
        #[test]
        fn log_undoes_exp(phi in vector(3.1)) {
            prop_assert!(log(exp(phi)).abs_diff_eq(phi, 1e-9));
            prop_assert!(log(-exp(phi)).abs_diff_eq(phi, 1e-9));
        }

        #[test]
        fn the_jacobian_is_the_derivative_of_exp(phi in vector(3.1), v in vector(1.0)) {
            let h = 1e-5;
            let difference = log(exp(phi - h * v).inverse() * exp(phi + h * v)) / (2.0 * h);
            prop_assert!(difference.abs_diff_eq(right_jacobian(phi, v), 1e-8));
        }

        #[test]
        fn the_inverse_jacobian_is_the_inverse(
            phi in prop_oneof![vector(3.1), vector(2e-3)],
            v in vector(1.0),
        ) {
            let back = inverse_right_jacobian(phi, right_jacobian(phi, v));
            prop_assert!(back.abs_diff_eq(v, 1e-9), "{back}");
        }
    }
}
