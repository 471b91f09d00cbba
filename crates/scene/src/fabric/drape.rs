//! Bending rigidity from a drape coefficient.
//!
//! Cusick's drape meter (BS 5058, ISO 9073-9) holds a disc of cloth of 15 cm
//! radius on one of 9 cm; the drape coefficient is the share of the ring's
//! area that its shadow covers. Dimensions leave two ratios that it can depend
//! on, the bending length over the radius and the shear stiffness over the
//! weight; Cusick ("The dependence of fabric drape on bending and shear
//! stiffness", 1965) found bending to matter most and shear second.
//!
//! No published regression fits all cloth, so that the relation here is the
//! simulator's own: a ring alike in both directions (200 g/m², shear 50 N/m),
//! clamped level inside, brought to rest from 6 uneven waves.
//!
//! | bending length [cm] | 1.0 | 1.2 | 1.5 | 1.8 | 2.1 | 2.5 | 3.0 | 3.5 | 4.0 |
//! |---------------------|-----|-----|-----|-----|-----|-----|-----|-----|-----|
//! | drape coefficient [%] | 24.2 | 31.6 | 43.2 | 59.5 | 71.2 | 80.8 | 88.6 | 93.2 | 96.1 |
//!
//! Between them it is a line. Shear from 10 to 200 N/m moved the coefficient
//! by 3 points, the mesh by 3, and the number of folds is a matter of chance:
//! count on ±5 points, which are ±8 % of the bending length and ±25 % of the
//! rigidity in the middle, and more at either end. A measured bending length
//! is worth more.

use drapery_core::Fabric;

use super::draft::{Draft, DraftError};
use super::laboratory::{GRAVITY, Threads, density_for, set_bending};

/// Bending length [m] and drape coefficient [%], see the module.
const RELATION: [(f64, f64); 9] = [
    (0.010, 24.2),
    (0.012, 31.6),
    (0.015, 43.2),
    (0.018, 59.5),
    (0.021, 71.2),
    (0.025, 80.8),
    (0.030, 88.6),
    (0.035, 93.2),
    (0.040, 96.1),
];

/// A drape coefficient on Cusick's meter, 15 cm on 9 cm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drape {
    /// The share of the ring that is in the shadow [%].
    pub coefficient: f64,
}

impl Drape {
    /// The bending length that cloth of this drape has [m], as the module
    /// says; none outside the relation's 24 to 96 %.
    pub fn bending_length(&self) -> Option<f64> {
        RELATION.windows(2).find_map(|pair| {
            let ((c0, d0), (c1, d1)) = (pair[0], pair[1]);
            (d0..=d1)
                .contains(&self.coefficient)
                .then(|| c0 + (c1 - c0) * (self.coefficient - d0) / (d1 - d0))
        })
    }

    /// The fabric of that name with this drape, alike along warp and weft,
    /// otherwise as `base`.
    ///
    /// # Errors
    /// When the coefficient is outside the relation.
    pub fn fabric(&self, name: &str, base: &Fabric) -> Result<Fabric, DraftError> {
        let mut draft = Draft::from(base);
        self.apply(&mut draft)?;
        draft.fabric(name)
    }

    pub(crate) fn apply(&self, draft: &mut Draft) -> Result<(), DraftError> {
        let by = "drape_coefficient_percent";
        let density = density_for(draft, "density_kg_m2")?;
        let length = self.bending_length().ok_or(DraftError::Range {
            what: "a drape coefficient",
            by,
            value: self.coefficient,
            min: RELATION[0].1,
            max: RELATION[RELATION.len() - 1].1,
        })?;
        let rigidity = density * GRAVITY * length.powi(3);
        set_bending(draft, Threads::both(rigidity), by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stiffer_cloth_throws_a_larger_shadow() {
        let length = |coefficient| Drape { coefficient }.bending_length();
        for (c, d) in RELATION {
            let found = length(d).unwrap();
            assert!((found - c).abs() < 1e-12, "{d} % is {found} m");
        }
        let all: Vec<f64> = (25..95).filter_map(|d| length(f64::from(d))).collect();
        assert_eq!(all.len(), 70);
        assert!(all.windows(2).all(|w| w[0] < w[1]));
        for outside in [10.0, 99.0, f64::NAN, -5.0] {
            assert_eq!(length(outside), None);
        }
    }

    #[test]
    fn a_drape_sets_both_ways_of_bending() {
        let base = Fabric::plain("x", 0.2, 1000.0, 1e-7);
        let fabric = Drape { coefficient: 71.2 }.fabric("y", &base).unwrap();
        let expected = 0.2 * 9.81 * 0.021f64.powi(3);
        assert!((fabric.bending_warp / expected - 1.0).abs() < 1e-12);
        assert_eq!(fabric.bending_warp, fabric.bending_weft);
        assert!(Drape { coefficient: 5.0 }.fabric("z", &base).is_err());
    }
}
