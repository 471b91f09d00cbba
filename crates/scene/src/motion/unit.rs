//! [`LengthUnit`]: what a length of 1 in a file is in metres.

/// A unit in which motion files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LengthUnit {
    /// 1 m
    Metre,
    /// 0.1 m
    Decimetre,
    /// 0.01 m
    Centimetre,
    /// 0.001 m
    Millimetre,
    /// 0.0254 m
    Inch,
    /// 0.3048 m
    Foot,
    /// 1/0.45 inch, the unit of the CMU motion-capture database
    Cmu,
}

/// The standing height that a skeleton most likely has [m].
const LIKELY_HEIGHT: f64 = 1.7;

impl LengthUnit {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Metre,
        Self::Decimetre,
        Self::Centimetre,
        Self::Millimetre,
        Self::Inch,
        Self::Foot,
        Self::Cmu,
    ];

    /// Its length [m].
    pub const fn metres(self) -> f64 {
        match self {
            Self::Metre => 1.0,
            Self::Decimetre => 0.1,
            Self::Centimetre => 0.01,
            Self::Millimetre => 0.001,
            Self::Inch => 0.0254,
            Self::Foot => 0.3048,
            Self::Cmu => 0.0254 / 0.45,
        }
    }

    /// What lengths in it are called, such as `inches`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metre => "metres",
            Self::Decimetre => "decimetres",
            Self::Centimetre => "centimetres",
            Self::Millimetre => "millimetres",
            Self::Inch => "inches",
            Self::Foot => "feet",
            Self::Cmu => "units of the CMU database",
        }
    }

    /// The unit in which a person of `height` file units is nearest to 1.7 m
    /// tall, by ratio; `None` when there is no height.
    pub fn of_height(height: f64) -> Option<Self> {
        let miss = |unit: &Self| (height * unit.metres() / LIKELY_HEIGHT).ln().abs();
        (height > 0.0 && height.is_finite())
            .then(|| {
                Self::ALL
                    .into_iter()
                    .min_by(|a, b| miss(a).total_cmp(&miss(b)))
            })
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_of_all_sizes_are_measured_in_the_right_unit() {
        for unit in LengthUnit::ALL {
            for height in [1.5, 1.7, 1.95] {
                assert_eq!(
                    LengthUnit::of_height(height / unit.metres()),
                    Some(unit),
                    "{height} m"
                );
            }
        }
        assert_eq!(LengthUnit::of_height(0.0), None);
    }
}
