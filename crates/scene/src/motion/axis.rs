//! [`Axis`]: which way up, or forward, is in a file.

use std::fmt;

use glam::{DMat3, DQuat, DVec3};

/// One of the six directions along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// +X
    PlusX,
    /// −X
    MinusX,
    /// +Y
    PlusY,
    /// −Y
    MinusY,
    /// +Z
    PlusZ,
    /// −Z
    MinusZ,
}

impl Axis {
    /// All six.
    pub const ALL: [Self; 6] = [
        Self::PlusX,
        Self::MinusX,
        Self::PlusY,
        Self::MinusY,
        Self::PlusZ,
        Self::MinusZ,
    ];

    /// The unit vector.
    pub const fn vector(self) -> DVec3 {
        match self {
            Self::PlusX => DVec3::X,
            Self::MinusX => DVec3::NEG_X,
            Self::PlusY => DVec3::Y,
            Self::MinusY => DVec3::NEG_Y,
            Self::PlusZ => DVec3::Z,
            Self::MinusZ => DVec3::NEG_Z,
        }
    }

    /// The axis at the smallest angle to a direction; +Y for the zero vector.
    pub fn nearest(direction: DVec3) -> Self {
        let mut best = Self::PlusY;
        for axis in Self::ALL {
            if axis.vector().dot(direction) > best.vector().dot(direction) {
                best = axis;
            }
        }
        best
    }

    /// The rotation that carries `up` to +Y and `facing` to +Z; `None` when
    /// the two are parallel.
    pub fn standard_from(up: Self, facing: Self) -> Option<DQuat> {
        let (u, f) = (up.vector(), facing.vector());
        (u.dot(f) == 0.0)
            .then(|| DQuat::from_mat3(&DMat3::from_cols(u.cross(f), u, f).transpose()).normalize())
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PlusX => "+x",
            Self::MinusX => "-x",
            Self::PlusY => "+y",
            Self::MinusY => "-y",
            Self::PlusZ => "+z",
            Self::MinusZ => "-z",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_axes_are_reached_from_all_24_pairs() {
        let mut n = 0;
        for up in Axis::ALL {
            assert_eq!(Axis::nearest(up.vector() + DVec3::splat(0.1)), up);
            for facing in Axis::ALL {
                let Some(turn) = Axis::standard_from(up, facing) else {
                    continue;
                };
                n += 1;
                assert!((turn * up.vector()).abs_diff_eq(DVec3::Y, 1e-12));
                assert!((turn * facing.vector()).abs_diff_eq(DVec3::Z, 1e-12));
            }
        }
        assert_eq!(n, 24);
    }
}
