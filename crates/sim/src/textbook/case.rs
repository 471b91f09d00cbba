//! What a test of the suite reports: [`Case`].

use super::Trouble;

/// A test of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Test {
    /// A strip that hangs from a clamp, against the elastica.
    Cantilever,
    /// A strip that is stretched by its own weight.
    HangingStrip,
    /// A limp strip between two pins.
    Catenary,
    /// A narrow strip on edge that tips over under its own weight.
    LateralBuckling,
    /// A sheet that falls, spins and trembles in empty space.
    FreeFall,
    /// Strips that swing.
    Frequency,
    /// Cloth that slips: on a slope, on a belt, around a drum.
    Friction,
    /// Round cloth on a smaller disc, and its shadow.
    Cusick,
    /// The same answer at several resolutions and time steps.
    Independence,
    /// What becomes of the energy.
    EnergyBudget,
    /// The same bytes on any number of threads.
    Determinism,
    /// Fast cloth against the sharpest that cloth has.
    Tunnelling,
    /// Random cloth thrown at random things.
    RandomScenes,
    /// Garments on a body that moves, and whether it pokes through them.
    BodyPenetration,
    /// What a body that moves under cloth gives it.
    BodyMomentum,
    /// A strip that slips around a limb.
    BodyCapstan,
}

impl Test {
    /// All tests, in the order in which they run.
    pub const ALL: [Self; 16] = [
        Self::Cantilever,
        Self::HangingStrip,
        Self::Catenary,
        Self::LateralBuckling,
        Self::FreeFall,
        Self::Frequency,
        Self::Friction,
        Self::Cusick,
        Self::Independence,
        Self::EnergyBudget,
        Self::Determinism,
        Self::Tunnelling,
        Self::RandomScenes,
        Self::BodyPenetration,
        Self::BodyMomentum,
        Self::BodyCapstan,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cantilever => "cantilever",
            Self::HangingStrip => "hanging-strip",
            Self::Catenary => "catenary",
            Self::LateralBuckling => "lateral-buckling",
            Self::FreeFall => "free-fall",
            Self::Frequency => "frequency",
            Self::Friction => "friction",
            Self::Cusick => "cusick",
            Self::Independence => "independence",
            Self::EnergyBudget => "energy-budget",
            Self::Determinism => "determinism",
            Self::Tunnelling => "tunnelling",
            Self::RandomScenes => "random-scenes",
            Self::BodyPenetration => "body-penetration",
            Self::BodyMomentum => "body-momentum",
            Self::BodyCapstan => "body-capstan",
        }
    }

    /// The test of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.name() == name)
    }
}

/// One experiment of a test, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The test.
    pub test: Test,
    /// Which experiment, in words.
    pub case: String,
    /// What was measured, in the unit of the reference; not a number when the
    /// experiment failed.
    pub measured: f64,
    /// What the book says. Where it says that there is nothing at all, as of
    /// a drift, the measured figure is relative to what it is a drift of.
    pub reference: f64,
    /// The largest error that passes [%].
    pub limit_percent: f64,
    /// Whether a miss makes the suite fail; lateral buckling is reported even
    /// while it fails.
    pub counts: bool,
    /// What else is worth knowing of this case.
    pub figures: Vec<Figure>,
    /// Why there is no figure, when the experiment failed.
    pub trouble: Option<Trouble>,
}

/// A figure beside the one that is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Its name, with its unit.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
}

impl Case {
    /// An experiment that was measured.
    pub const fn new(
        test: Test,
        case: String,
        measured: f64,
        reference: f64,
        limit_percent: f64,
    ) -> Self {
        Self {
            test,
            case,
            measured,
            reference,
            limit_percent,
            counts: !matches!(test, Test::LateralBuckling),
            figures: Vec::new(),
            trouble: None,
        }
    }

    /// A case from an experiment that may have failed.
    pub fn of(
        test: Test,
        case: String,
        measured: Result<f64, Trouble>,
        reference: f64,
        limit_percent: f64,
    ) -> Self {
        match measured {
            Ok(measured) => Self::new(test, case, measured, reference, limit_percent),
            Err(trouble) => Self {
                trouble: Some(trouble),
                ..Self::new(test, case, f64::NAN, reference, limit_percent)
            },
        }
    }

    /// The same with another figure beside it.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: f64) -> Self {
        self.figures.push(Figure { name, value });
        self
    }

    /// The same, reported without being counted.
    pub(super) const fn uncounted(mut self) -> Self {
        self.counts = false;
        self
    }

    /// How far the measured figure is above the reference [%]; below it when
    /// negative.
    pub fn signed_error_percent(&self) -> f64 {
        let scale = match self.reference == 0.0 {
            true => 1.0,
            false => self.reference.abs(),
        };
        100.0 * (self.measured - self.reference) / scale
    }

    /// How far apart the two are [%].
    pub fn error_percent(&self) -> f64 {
        self.signed_error_percent().abs()
    }

    /// Whether the error is within its limit.
    pub fn pass(&self) -> bool {
        // False for what is not a number.
        self.error_percent() <= self.limit_percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_passes_within_its_limit_alone() {
        let case = |measured, reference| {
            Case::new(Test::Catenary, String::new(), measured, reference, 1.0)
        };
        assert!(case(0.991, 1.0).pass() && case(-2.01, -2.0).pass() && case(0.0, 0.0).pass());
        assert!(!case(0.98, 1.0).pass() && !case(-2.03, -2.0).pass() && !case(0.02, 0.0).pass());
        assert!(!case(f64::NAN, 1.0).pass() && !case(f64::INFINITY, 0.0).pass());
        assert!((case(-2.1, -2.0).signed_error_percent() + 5.0).abs() < 1e-9);
    }

    #[test]
    fn tests_are_found_by_their_names() {
        for test in Test::ALL {
            assert_eq!(Test::named(test.name()), Some(test));
        }
        assert_eq!(Test::named("cantilevers"), None);
    }
}
