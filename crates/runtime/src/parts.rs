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

/// That sizes, of what and as found, are as expected.
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

/// That values are finite and no larger than their limits.
pub(crate) fn check_values(values: &[(&'static str, &[f32], f32)]) -> Result<(), PartsError> {
    for (what, values, most) in values {
        let is_sound = |v: &f32| v.is_finite() && v.abs() <= *most;
        if let Some(index) = values.iter().position(|v| !is_sound(v)) {
            return Err(PartsError::NotFinite { what, index });
        }
    }
    Ok(())
}
