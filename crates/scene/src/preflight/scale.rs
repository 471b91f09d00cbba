//! Mistakes in the unit of a file, each known by the factor that undoes it.

use core::fmt;

use crate::motion::LengthUnit;

/// The height that a body most likely has [m].
pub(super) const LIKELY_HEIGHT: f64 = 1.7;

/// A measured factor is taken for one that is known when they differ by less
/// than this: the units of [`LengthUnit`] are a factor 1.7 apart or more, and
/// the cloth of a garment is stretched by less.
const SAME_FACTOR: f64 = 0.15;

/// Why coordinates are not metres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// They are in another unit.
    Unit(LengthUnit),
    /// They were in metres and were divided by this once more.
    Divided(u16),
}

impl Mistake {
    /// All of them.
    pub(super) const ALL: [Self; 9] = [
        Self::Unit(LengthUnit::Centimetre),
        Self::Unit(LengthUnit::Millimetre),
        Self::Unit(LengthUnit::Inch),
        Self::Unit(LengthUnit::Decimetre),
        Self::Unit(LengthUnit::Foot),
        Self::Unit(LengthUnit::Cmu),
        Self::Divided(100),
        Self::Divided(1000),
        Self::Divided(10),
    ];

    /// What to multiply the coordinates by, to have metres.
    pub(super) fn factor(self) -> f64 {
        match self {
            Self::Unit(unit) => unit.metres(),
            Self::Divided(by) => f64::from(by),
        }
    }

    /// The mistake after which a body of `height` is nearest to the likely
    /// height, by ratio; `None` when there is no height.
    pub(super) fn of_height(height: f64) -> Option<Self> {
        (height > 0.0).then(|| Self::nearest(LIKELY_HEIGHT / height))
    }

    /// The mistake with that factor, nearly.
    pub(super) fn of_factor(factor: f64) -> Option<Self> {
        let found = Self::nearest(factor);
        ((factor / found.factor() - 1.0).abs() < SAME_FACTOR).then_some(found)
    }

    fn nearest(factor: f64) -> Self {
        let miss = |mistake: &Self| (mistake.factor() / factor).ln().abs();
        Self::ALL
            .into_iter()
            .min_by(|a, b| miss(a).total_cmp(&miss(b)))
            .expect("there are nine mistakes")
    }

    /// What to do about it.
    pub(super) fn cure(self) -> String {
        format!("multiply by {self}")
    }
}

/// `0.01 (the file is in centimetres)`.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factor = self.factor() as f32;
        match self {
            Self::Unit(unit) => write!(f, "{factor} (the file is in {})", unit.name()),
            Self::Divided(by) => write!(f, "{factor} (it was divided by {by} once too often)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_but_the_metre_is_a_mistake() {
        for unit in LengthUnit::ALL {
            let listed = Mistake::ALL.contains(&Mistake::Unit(unit));
            assert_eq!(listed, unit != LengthUnit::Metre, "{unit:?}");
        }
    }
}
