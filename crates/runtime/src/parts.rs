//! What trained methods ask of their parts.

/// Why parts make no trained method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartsError {
    /// Sizes that don't go together.
    #[error("{what}: {found}, expected {expected}")]
    Size {
        /// Of what.
        what: &'static str,
        /// The size found.
        found: usize,
        /// The size expected.
        expected: usize,
    },
    /// A value is not finite or too large.
    #[error("value {index} of the {what} is not finite or too large")]
    NotFinite {
        /// Of what.
        what: &'static str,
        /// Which value.
        index: usize,
    },
}

/// Checks that each size, of what and as found, is the one expected.
pub(crate) fn check_sizes(sizes: &[(&'static str, usize, usize)]) -> Result<(), PartsError> {
    match sizes.iter().find(|(_, found, expected)| found != expected) {
        None => Ok(()),
        Some(&(what, found, expected)) => Err(PartsError::Size {
            what,
            found,
            expected,
        }),
    }
}

/// Checks that values are finite and no larger than their limits.
pub(crate) fn check_values(values: &[(&'static str, &[f32], f32)]) -> Result<(), PartsError> {
    for (what, values, most) in values {
        let is_sound = |v: &f32| v.is_finite() && v.abs() <= *most;
        if let Some(index) = values.iter().position(|v| !is_sound(v)) {
            return Err(PartsError::NotFinite { what, index });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_size_that_is_not_as_expected_is_named() {
        assert_eq!(check_sizes(&[("a", 1, 1), ("b", 0, 0)]), Ok(()));
        let (what, found, expected) = ("b", 2, 3);
        let error = PartsError::Size {
            what,
            found,
            expected,
        };
        assert_eq!(
            check_sizes(&[("a", 1, 1), (what, found, expected), ("c", 4, 5)]),
            Err(error)
        );
    }

    #[test]
    fn values_reach_their_limit_and_no_farther() {
        let check = |value: f32| check_values(&[("mean", &[0.0], 1.0), ("rest", &[value], 2.0)]);
        for sound in [2.0, -2.0, 0.0] {
            assert_eq!(check(sound), Ok(()), "{sound}");
        }
        let (what, index) = ("rest", 0);
        for bad in [2.0001, -2.0001, f32::NAN, f32::INFINITY] {
            assert_eq!(
                check(bad),
                Err(PartsError::NotFinite { what, index }),
                "{bad}"
            );
        }
    }
}
