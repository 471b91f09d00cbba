//! A fabric while its constants come together: [`Draft`].
//!
//! Whatever is not measured follows from what is, as in the fabric that the
//! draft starts from, or else as is typical of cloth:
//!
//! ```text
//! stretch coupling = ν √(warp · weft)            ν = 0.2
//! bending coupling = ν_b √(warp · weft)          ν_b = 0
//! twist            = t √(warp · weft)            t = 1
//! thickness        = ρ / 350 kg/m³
//! ```
//!
//! Poisson ratios of 0.1 to 0.4 are published for woven cloth at small strains
//! (Hu, "Structure and Mechanics of Woven Fabrics", 2004). With t = 1 the
//! rigidity at 45° is (√warp + √weft)²/4, as in the rule by which rigidities
//! at an angle are usually interpolated (Cooper, "The stiffness of woven
//! textiles", 1960, compares it with others). 350 kg/m³ is in the middle of
//! the bulk densities of apparel cloth, 250 to 500 kg/m³.

use drapery_core::{Fabric, FabricError};

/// The values that a constant of a fabric may have, ends included.
pub(crate) type Limits = [f64; 2];

/// What cloth can be: from gossamer to boards.
pub(crate) mod limits {
    use super::Limits;

    /// Mass of a square metre [kg/m²].
    pub(crate) const DENSITY: Limits = [1e-3, 20.0];
    /// Stretch stiffness [N/m].
    pub(crate) const STRETCH: Limits = [0.1, 1e8];
    /// Shear stiffness [N/m].
    pub(crate) const SHEAR: Limits = [0.01, 1e8];
    /// Couplings, either sign [N/m]; also checked against warp and weft.
    pub(crate) const COUPLING: Limits = [-1e8, 1e8];
    /// Bending rigidity and twist [N·m].
    pub(crate) const BENDING: Limits = [1e-9, 10.0];
    /// Damping [s].
    pub(crate) const DAMPING: Limits = [0.0, 1.0];
    /// Friction.
    pub(crate) const FRICTION: Limits = [0.0, 10.0];
    /// Thickness [m].
    pub(crate) const THICKNESS: Limits = [1e-6, 0.1];
}

/// Why measurements don't make a fabric.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// A constant that can't be left out is nowhere.
    #[error("nothing gives {what}: name a fabric to start from, or say {cure}")]
    Missing {
        /// Which constant.
        what: &'static str,
        /// Keys that would give it.
        cure: &'static str,
    },
    /// Two measurements give the same constant.
    #[error("{what} is given by {first} and again by {second}")]
    Twice {
        /// Which constant.
        what: &'static str,
        /// The measurement that came first.
        first: &'static str,
        /// The one that came again.
        second: &'static str,
    },
    /// A measurement leads to a constant that cloth can't have.
    #[error("{by} gives {what} of {value}, outside {min} to {max}")]
    Range {
        /// Which constant.
        what: &'static str,
        /// The measurement.
        by: &'static str,
        /// The constant, in SI units.
        value: f64,
        /// The least it may be.
        min: f64,
        /// The most it may be.
        max: f64,
    },
    /// The tensile curve needs two of three measurements.
    #[error("the tensile curve along the {threads} needs two of em, lt and wt")]
    TensileCurve {
        /// `warp` or `weft`.
        threads: &'static str,
    },
    /// The constants don't go together.
    #[error(transparent)]
    Fabric(#[from] FabricError),
}

/// A constant and the measurement that it came by; none for that of the
/// fabric which the draft starts from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given {
    value: Option<f64>,
    by: Option<&'static str>,
}

impl Given {
    const fn base(value: f64) -> Self {
        Self {
            value: Some(value),
            by: None,
        }
    }

    /// What it is, if anything gave it.
    pub(crate) const fn value(self) -> Option<f64> {
        self.value
    }

    /// Takes a constant from a measurement.
    pub(crate) fn set(
        &mut self,
        what: &'static str,
        value: f64,
        by: &'static str,
        [min, max]: Limits,
    ) -> Result<(), DraftError> {
        if let Some(first) = self.by {
            return Err(DraftError::Twice {
                what,
                first,
                second: by,
            });
        }
        if !(min..=max).contains(&value) {
            return Err(DraftError::Range {
                what,
                by,
                value,
                min,
                max,
            });
        }
        *self = Self {
            value: Some(value),
            by: Some(by),
        };
        Ok(())
    }

    fn or_missing(self, what: &'static str, cure: &'static str) -> Result<f64, DraftError> {
        self.value.ok_or(DraftError::Missing { what, cure })
    }
}

/// A fabric in the making.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) density: Given,
    pub(crate) stretch_warp: Given,
    pub(crate) stretch_weft: Given,
    pub(crate) stretch_coupling: Given,
    pub(crate) shear: Given,
    pub(crate) bending_warp: Given,
    pub(crate) bending_weft: Given,
    pub(crate) bending_coupling: Given,
    pub(crate) bending_twist: Given,
    pub(crate) damping: Given,
    pub(crate) friction: Given,
    pub(crate) thickness: Given,
    /// ν, ν_b and t of the module's formulas.
    ratios: [f64; 3],
}

/// Bulk density of apparel cloth [kg/m³].
const BULK_DENSITY: f64 = 350.0;

/// A loss factor ω·damping of 0.13 at 10 Hz, where cloth swings in wear; loss
/// factors of 0.1 to 0.3 are typical of fabrics [s].
const TYPICAL_DAMPING: f64 = 2e-3;

/// Cloth on dry skin: 0.3 to 0.6 are published (Derler and Gerhardt,
/// "Tribology of skin", Tribology Letters 45, 2012).
const TYPICAL_FRICTION: f64 = 0.4;

impl Draft {
    /// A draft in which nothing is known yet.
    pub(crate) fn new() -> Self {
        let none = Given::default();
        Self {
            density: none,
            stretch_warp: none,
            stretch_weft: none,
            stretch_coupling: none,
            shear: none,
            bending_warp: none,
            bending_weft: none,
            bending_coupling: none,
            bending_twist: none,
            damping: Given::base(TYPICAL_DAMPING),
            friction: Given::base(TYPICAL_FRICTION),
            thickness: none,
            ratios: [0.2, 0.0, 1.0],
        }
    }

    /// A draft that is `fabric` unless something else is measured; couplings
    /// and twist keep their ratio to warp and weft.
    pub(crate) fn from(fabric: &Fabric) -> Self {
        let stretch = (fabric.stretch_warp * fabric.stretch_weft).sqrt();
        let bending = (fabric.bending_warp * fabric.bending_weft).sqrt();
        Self {
            density: Given::base(fabric.density),
            stretch_warp: Given::base(fabric.stretch_warp),
            stretch_weft: Given::base(fabric.stretch_weft),
            shear: Given::base(fabric.shear),
            bending_warp: Given::base(fabric.bending_warp),
            bending_weft: Given::base(fabric.bending_weft),
            damping: Given::base(fabric.damping),
            friction: Given::base(fabric.friction),
            thickness: Given::base(fabric.thickness),
            ratios: [
                fabric.stretch_coupling / stretch,
                fabric.bending_coupling / bending,
                fabric.bending_twist / bending,
            ],
            ..Self::new()
        }
    }

    /// ν of the module's formulas.
    pub(crate) const fn stretch_ratio(&self) -> f64 {
        self.ratios[0]
    }

    /// The fabric, called `name`.
    pub(crate) fn fabric(&self, name: &str) -> Result<Fabric, DraftError> {
        let density = self.density.or_missing("the density", "density_kg_m2")?;
        let stretch_cure =
            "stretch_warp_n_per_m and stretch_weft_n_per_m, fast.e20, or kes.em and kes.lt";
        let stretch_warp = self
            .stretch_warp
            .or_missing("the stretch along the warp", stretch_cure)?;
        let stretch_weft = self
            .stretch_weft
            .or_missing("the stretch along the weft", stretch_cure)?;
        let shear = self
            .shear
            .or_missing("the shear", "shear_n_per_m, kes.g or fast.eb5")?;
        let bending_cure = "bending_warp_n_m and bending_weft_n_m, bending_length_cm, kes.b, fast.c or drape_coefficient_percent";
        let bending_warp = self
            .bending_warp
            .or_missing("the bending along the warp", bending_cure)?;
        let bending_weft = self
            .bending_weft
            .or_missing("the bending along the weft", bending_cure)?;
        let stretch = (stretch_warp * stretch_weft).sqrt();
        let bending = (bending_warp * bending_weft).sqrt();
        let mut twist = self.bending_twist;
        if twist.value.is_none() {
            let by = "bending along warp and weft";
            twist.set("twist", self.ratios[2] * bending, by, limits::BENDING)?;
        }
        let fabric = Fabric {
            name: name.to_string(),
            density,
            stretch_weft,
            stretch_warp,
            stretch_coupling: self
                .stretch_coupling
                .value
                .unwrap_or(self.ratios[0] * stretch),
            shear,
            bending_weft,
            bending_warp,
            bending_coupling: self
                .bending_coupling
                .value
                .unwrap_or(self.ratios[1] * bending),
            bending_twist: self.bending_twist.value.unwrap_or(self.ratios[2] * bending),
            damping: self.damping.value.unwrap_or(TYPICAL_DAMPING),
            friction: self.friction.value.unwrap_or(TYPICAL_FRICTION),
            thickness: self.thickness.value.unwrap_or(density / BULK_DENSITY),
        };
        fabric.check()?;
        Ok(fabric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_of_a_fabric_is_that_fabric() {
        let fabric = Fabric {
            stretch_coupling: 100.0,
            bending_coupling: 1e-6,
            bending_twist: 3e-6,
            ..Fabric::plain("x", 0.1, 1000.0, 5e-6)
        };
        let again = Draft::from(&fabric).fabric("x").unwrap();
        assert!((again.stretch_coupling - 100.0).abs() < 1e-9);
        assert!((again.bending_twist - 3e-6).abs() < 1e-18);
        assert_eq!(again.shear, fabric.shear);
    }

    #[test]
    fn nothing_is_measured_twice_or_out_of_range() {
        let mut draft = Draft::new();
        draft.shear.set("shear", 50.0, "a", limits::SHEAR).unwrap();
        let twice = draft.shear.set("shear", 50.0, "b", limits::SHEAR);
        assert!(matches!(twice, Err(DraftError::Twice { first: "a", .. })));
        for value in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            let wrong = draft.density.set("density", value, "c", limits::DENSITY);
            assert!(matches!(wrong, Err(DraftError::Range { .. })), "{value}");
        }
        assert!(matches!(
            draft.fabric("x"),
            Err(DraftError::Missing {
                what: "the density",
                ..
            })
        ));
    }
}
