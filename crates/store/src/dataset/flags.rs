//! What to beware of in a frame, as bits: [`FrameBits`].

/// Something to beware of in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameFlag {
    /// The body enters itself next to a garment.
    BodyContact,
    /// A step was taken in more than one part.
    Retried,
    /// Vertices had to be set back out of the body.
    SetBack,
    /// A garment passes through itself or another.
    Crossings,
    /// Contacts had not settled when the limit of solves was reached.
    ContactUnsettled,
    /// A step was taken though it had not converged.
    Unsolved,
}

impl FrameFlag {
    /// All flags, in the order of their bits.
    pub const ALL: [Self; 6] = [
        Self::BodyContact,
        Self::Retried,
        Self::SetBack,
        Self::Crossings,
        Self::ContactUnsettled,
        Self::Unsolved,
    ];

    /// Its name in a dataset.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BodyContact => "body_contact",
            Self::Retried => "retried",
            Self::SetBack => "set_back",
            Self::Crossings => "crossings",
            Self::ContactUnsettled => "contact_unsettled",
            Self::Unsolved => "unsolved",
        }
    }
}

/// The flags of a frame; bit k is `FrameFlag::ALL[k]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameBits(u32);

impl FrameBits {
    /// Flags from bits; none when a bit has no name.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits >> FrameFlag::ALL.len() {
            0 => Some(Self(bits)),
            _ => None,
        }
    }

    /// The bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The same with a flag when `is_set`.
    #[must_use]
    pub const fn with(self, flag: FrameFlag, is_set: bool) -> Self {
        Self(self.0 | ((is_set as u32) << flag as u8))
    }

    /// Whether a flag is set.
    pub const fn has(self, flag: FrameFlag) -> bool {
        self.0 >> flag as u8 & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_names_and_others_are_refused() {
        for (bit, flag) in FrameFlag::ALL.into_iter().enumerate() {
            let flags = FrameBits::default().with(flag, true);
            assert_eq!(flags.bits(), 1 << bit);
            assert_eq!(FrameBits::from_bits(1 << bit), Some(flags));
            assert!(FrameFlag::ALL.iter().all(|f| flags.has(*f) == (*f == flag)));
        }
        assert_eq!(FrameBits::from_bits(1 << 6), None);
        // What a missing chunk reads as.
        assert_eq!(FrameBits::from_bits(u32::MAX), None);
        let none = FrameBits::default().with(FrameFlag::Retried, false);
        assert_eq!(none.bits(), 0);
    }
}
