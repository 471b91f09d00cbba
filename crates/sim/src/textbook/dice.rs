//! Numbers that look random: [`Dice`].

/// Numbers that look random and are the same everywhere (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// The next number from −1 to 1.
    pub(crate) fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        // 53 bits fit a double exactly.
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
