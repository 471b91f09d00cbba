//! How contacts that press in vain are made harder, and where that ends: for points on
//! obstacles and for pairs alike.

/// What has come too near presses so much harder in the next solve ...
const HARDER: f64 = 4.0;
/// ... up to this many m/h², with which cloth of 150 g/m² bears 50 kPa in steps of 1/300 s.
/// Where nothing keeps a point out, as where two parts of a body leave it no room, harder
/// and harder ends in steps that can't be solved: at 1e6 fifty in a kick, at 1e4 eight; at
/// 1e3 more of them have to be halved.
const HARDEST: f64 = 1e4;

/// The hardest that a contact of a mass [kg] may press in a step of length `dt` [s], in N/m.
pub(super) fn hardest(mass: f64, dt: f64) -> f64 {
    HARDEST * mass / (dt * dt)
}

/// A stiffness made harder, up to a limit [N/m]; no softer than it was.
pub(super) fn harder(stiffness: f64, hardest: f64) -> f64 {
    (HARDER * stiffness).min(hardest).max(stiffness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardening_ends_and_softens_nothing() {
        let limit = hardest(2e-5, 1.0 / 300.0);
        let mut stiffness = 10.0;
        for _ in 0..20 {
            let next = harder(stiffness, limit);
            assert!(next >= stiffness && next <= limit);
            stiffness = next;
        }
        assert_eq!(stiffness, limit);
        assert_eq!(harder(2.0 * limit, limit), 2.0 * limit);
    }
}
