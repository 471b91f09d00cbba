//! [`Absence`]: parts of a mesh that are not there for cloth from elsewhere.
//!
//! A hand that has sunk into a hip can't be felt by the skirt: there is no room
//! between the two. Each vertex of mesh and cloth has a home, its place on the
//! body at rest. What is absent is so for all whose home is far from its own:
//! for the skirt, not for the sleeve that the hand comes out of.

use glam::DVec3;

/// Which vertices of a mesh are absent, and for whom.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Absence {
    homes: Vec<DVec3>,
    is_absent: Vec<bool>,
    is_any_absent: bool,
    /// Homes farther apart than this [m] are strange to one another.
    radius: f64,
    /// How often something came back.
    n_returns: u64,
}

impl Absence {
    /// All vertices, at home at `homes` [m], are there.
    pub(super) fn new(homes: Vec<DVec3>, radius: f64) -> Self {
        Self {
            is_absent: vec![false; homes.len()],
            is_any_absent: false,
            homes,
            radius,
            n_returns: 0,
        }
    }

    /// Sets which vertices are absent from now on.
    pub(super) fn set(&mut self, is_absent: &[bool]) {
        let returns = self
            .is_absent
            .iter()
            .zip(is_absent)
            .any(|(was, is)| *was && !is);
        self.n_returns += u64::from(returns);
        self.is_absent.copy_from_slice(is_absent);
        self.is_any_absent = is_absent.contains(&true);
    }

    /// Whether nothing is absent.
    pub(super) const fn is_none(&self) -> bool {
        !self.is_any_absent
    }

    /// Grows whenever something has come back, so that what was known about
    /// distances no longer holds.
    pub(super) const fn n_returns(&self) -> u64 {
        self.n_returns
    }

    /// Whether a primitive is not there for what is at home at `home` [m].
    pub(super) fn hides(&self, primitive: &[u32], home: DVec3) -> bool {
        let radius_sq = self.radius * self.radius;
        primitive.iter().any(|v| {
            let v = *v as usize;
            self.is_absent[v] && self.homes[v].distance_squared(home) > radius_sq
        })
    }
}
