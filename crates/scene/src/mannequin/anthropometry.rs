//! The measurements that the mannequin is made to.
//!
//! Means and standard deviations of the 2012 Anthropometric Survey of U.S. Army
//! Personnel (ANSUR II): Gordon, Blackwell, Bradtmiller et al., Natick technical
//! report NATICK/TR-15/007 (2014); 4082 men and 1986 women.
//!
//! The mannequin is the middle between the mean woman and the mean man. One
//! unit of a shape parameter is a standard deviation s *within* a sex, the root
//! mean square of the two; one unit of `gender` is half the difference d
//! between the means, which is the standard deviation that being one or the
//! other adds to a population of as many women as men:
//!
//! ```text
//! mean = (women + men) / 2    s² = (s_women² + s_men²) / 2    d = (men − women) / 2
//! ```

/// One measurement of women and men: mean and standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// What the report calls it.
    pub name: &'static str,
    /// Mean and standard deviation of the women [m, or kg].
    pub women: [f64; 2],
    /// Mean and standard deviation of the men [m, or kg].
    pub men: [f64; 2],
}

impl Measurement {
    /// The middle of the two means.
    pub fn mean(&self) -> f64 {
        (self.women[0] + self.men[0]) / 2.0
    }

    /// The standard deviation within a sex.
    pub fn deviation(&self) -> f64 {
        ((self.women[1].powi(2) + self.men[1].powi(2)) / 2.0).sqrt()
    }

    /// What one unit of `gender` adds.
    pub fn half_difference(&self) -> f64 {
        (self.men[0] - self.women[0]) / 2.0
    }
}

const fn measurement(name: &'static str, women: [f64; 2], men: [f64; 2]) -> Measurement {
    Measurement { name, women, men }
}

/// Height of the top of the head [m].
pub const STATURE: Measurement = measurement("stature", [1.629, 0.064], [1.756, 0.069]);
/// Body mass [kg].
pub const WEIGHT: Measurement = measurement("weight", [67.8, 11.0], [85.5, 14.2]);
/// Around the chest at the height of the nipples [m].
pub const CHEST: Measurement = measurement("chest circumference", [0.947, 0.083], [1.059, 0.087]);
/// Around the waist at the navel [m].
pub const WAIST: Measurement = measurement("waist circumference", [0.861, 0.100], [0.941, 0.112]);
/// Around the buttocks where they stand out most [m].
pub const HIPS: Measurement = measurement("buttock circumference", [1.021, 0.076], [1.020, 0.076]);
/// Between the tips of the shoulder blades' acromia [m].
pub const SHOULDERS: Measurement =
    measurement("biacromial breadth", [0.365, 0.018], [0.416, 0.019]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_about_1_70_m_and_gender_leads_to_the_mean_woman_and_man() {
        assert!((STATURE.mean() - 1.70).abs() < 0.015);
        for m in [STATURE, WEIGHT, CHEST, WAIST, HIPS, SHOULDERS] {
            let (mean, d) = (m.mean(), m.half_difference());
            assert!((mean + d - m.men[0]).abs() < 1e-12);
            assert!((mean - d - m.women[0]).abs() < 1e-12);
            assert!(m.deviation() > 0.0);
        }
    }
}
