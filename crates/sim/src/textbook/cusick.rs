//! Cloth on Cusick's drape meter, against what laboratories find.
//!
//! The drape coefficient of a cloth (`drape.rs`) depends on the specimen; what
//! is known of a kind of cloth is a band:
//!
//! | cloth         | coefficient [%] |
//! |---------------|-----------------|
//! | light silk    | 20–40           |
//! | plain cotton  | 60–76           |
//! | worsted wool  | 40–70           |
//! | denim         | 70–90           |
//!
//! The reference is its middle and the limit half its width. Other fabrics are
//! reported without being counted, in the band from 0 to 100. Folds, of which a
//! real meter shows three to eight, stand beside the coefficient.

use std::ops::ControlFlow;

use drapery_core::Fabric;

use super::suite::Job;
use super::{Case, Size, Test, Trouble};
use crate::drape::cells_wanted;
use crate::{DrapeConfig, drape};

/// Fabrics by name and their bands [%].
const BANDS: [(&str, [f64; 2]); 4] = [
    ("silk-light", [20.0, 40.0]),
    ("cotton-plain", [60.0, 76.0]),
    ("wool-worsted", [40.0, 70.0]),
    ("denim", [70.0, 90.0]),
];

/// Cells from the disc to the rim in the quick suite.
const QUICK_CELLS: u32 = 6;
/// Cloth that folds too sharply for so few cells needs more than this many to
/// fall as it should; it is left to the full suite.
const QUICK_MOST: u32 = 10;

pub(super) fn jobs(size: Size, fabrics: &[Fabric]) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for fabric in fabrics {
        let mut config = DrapeConfig::of(fabric);
        if size == Size::Quick {
            if cells_wanted(fabric) > QUICK_MOST {
                continue;
            }
            config.n_across = QUICK_CELLS;
        }
        let fabric = fabric.clone();
        jobs.push(Box::new(move || vec![case(&fabric, &config)]));
    }
    jobs
}

fn case(fabric: &Fabric, config: &DrapeConfig) -> Case {
    let band = BANDS.iter().find(|(name, _)| *name == fabric.name);
    let [low, high] = band.map_or([0.0, 100.0], |(_, band)| *band);
    let reference = (low + high) / 2.0;
    let limit_percent = 100.0 * (high - reference) / reference;
    let name = format!(
        "drape coefficient [%], {}, {} cells",
        fabric.name, config.n_across
    );
    let case = match drape(fabric, config, |_| ControlFlow::Continue(())) {
        Ok(found) => Case::new(
            Test::Cusick,
            name,
            found.coefficient,
            reference,
            limit_percent,
        )
        .with("folds", f64::from(found.folds))
        .with("crossings", found.crossings as f64)
        .with("seconds_to_rest", found.seconds)
        .with("speed_left_m_per_s", found.speed),
        Err(error) => {
            let trouble = Err(Trouble::from(error));
            Case::of(Test::Cusick, name, trouble, reference, limit_percent)
        }
    };
    match band {
        Some(_) => case,
        None => case.uncounted(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_passes_within_its_band_alone() {
        let cardboard = Fabric::plain("denim", 0.4, 5000.0, 0.1);
        let config = DrapeConfig {
            n_across: 4,
            ..DrapeConfig::default()
        };
        let known = case(&cardboard, &config);
        assert!(known.counts && !known.pass(), "{known:?}");
        let unknown = case(
            &Fabric {
                name: "cardboard".to_string(),
                ..cardboard
            },
            &config,
        );
        assert!(!unknown.counts && unknown.pass(), "{unknown:?}");
    }

    #[test]
    fn limp_cloth_is_left_to_the_full_suite() {
        let cloth = |length: f64| Fabric::plain("cloth", 0.2, 500.0, 0.2 * 9.81 * length.powi(3));
        let fabrics = [cloth(0.01), cloth(0.02)];
        assert_eq!(jobs(Size::Quick, &fabrics).len(), 1);
        assert_eq!(jobs(Size::Full, &fabrics).len(), 2);
    }
}
