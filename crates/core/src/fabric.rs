//! What cloth is made of: [`Fabric`].

use alloc::string::{String, ToString};

use glam::DMat3;

/// The constants of a fabric. Warp is the pattern's v direction, weft its u
/// direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Fabric {
    /// What it is called.
    pub name: String,
    /// Mass of a square metre [kg/m²].
    pub density: f64,
    /// Stretch stiffness along the weft (u) [N/m].
    pub stretch_weft: f64,
    /// Stretch stiffness along the warp (v) [N/m].
    pub stretch_warp: f64,
    /// Coupling of the two, the off-diagonal stiffness [N/m]; ν √(warp·weft)
    /// for a Poisson ratio ν.
    pub stretch_coupling: f64,
    /// Shear stiffness [N/m].
    pub shear: f64,
    /// Bending rigidity along the weft (curvature of u lines) [N·m].
    pub bending_weft: f64,
    /// Bending rigidity along the warp [N·m].
    pub bending_warp: f64,
    /// Coupling of the two curvatures [N·m].
    pub bending_coupling: f64,
    /// Twist rigidity: energy this · κ_uv² a square metre [N·m]; D (1 − ν) for
    /// a plate alike in all directions.
    pub bending_twist: f64,
    /// Internal damping: strain rate times this counts as strain [s].
    pub damping: f64,
    /// Coulomb friction against a body and against cloth of its own kind.
    pub friction: f64,
    /// Thickness of the cloth [m].
    pub thickness: f64,
}

/// Why numbers don't make a fabric.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FabricError {
    /// A constant is not a number, or not positive where it must be.
    #[error("{what} is {value}, which is not {expected}")]
    Value {
        /// Which constant.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// The coupling is so strong that some strain would give energy back.
    #[error("{what} coupling {coupling} is not below √(warp·weft) = {limit}")]
    Coupling {
        /// `stretch` or `bending`.
        what: &'static str,
        /// The coupling.
        coupling: f64,
        /// Its limit.
        limit: f64,
    },
}

impl Fabric {
    /// A fabric alike in both directions with Poisson ratio 0: `stretch` [N/m]
    /// and `bending` [N·m]; undamped, friction 0.3, 1 mm thick.
    pub fn plain(name: &str, density: f64, stretch: f64, bending: f64) -> Self {
        Self {
            name: name.to_string(),
            density,
            stretch_weft: stretch,
            stretch_warp: stretch,
            stretch_coupling: 0.0,
            shear: stretch / 2.0,
            bending_weft: bending,
            bending_warp: bending,
            bending_coupling: 0.0,
            bending_twist: bending,
            damping: 0.0,
            friction: 0.3,
            thickness: 1e-3,
        }
    }

    /// Checks that every strain and every curvature costs energy.
    ///
    /// # Errors
    /// When a constant is not finite, not positive, or a coupling is too strong.
    pub fn check(&self) -> Result<(), FabricError> {
        let positive = [
            ("density", self.density),
            ("stretch along the weft", self.stretch_weft),
            ("stretch along the warp", self.stretch_warp),
            ("shear", self.shear),
            ("bending along the weft", self.bending_weft),
            ("bending along the warp", self.bending_warp),
            ("twist", self.bending_twist),
            ("thickness", self.thickness),
        ];
        for (what, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(FabricError::Value {
                    what,
                    value,
                    expected: "a positive number",
                });
            }
        }
        for (what, value) in [("damping", self.damping), ("friction", self.friction)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(FabricError::Value {
                    what,
                    value,
                    expected: "zero or a positive number",
                });
            }
        }
        let couplings = [
            (
                "stretch",
                self.stretch_coupling,
                self.stretch_weft * self.stretch_warp,
            ),
            (
                "bending",
                self.bending_coupling,
                self.bending_weft * self.bending_warp,
            ),
        ];
        for (what, coupling, product) in couplings {
            let limit = libm::sqrt(product);
            if coupling.is_nan() || coupling.abs() >= limit {
                return Err(FabricError::Coupling {
                    what,
                    coupling,
                    limit,
                });
            }
        }
        Ok(())
    }

    /// Stress resultant from Green strain (uu, vv, 2·uv) [N/m].
    pub const fn stretch_matrix(&self) -> DMat3 {
        DMat3::from_cols_array(&[
            self.stretch_weft,
            self.stretch_coupling,
            0.0,
            self.stretch_coupling,
            self.stretch_warp,
            0.0,
            0.0,
            0.0,
            self.shear,
        ])
    }

    /// Moment from curvature (uu, vv, 2·uv) [N·m].
    pub const fn bending_matrix(&self) -> DMat3 {
        DMat3::from_cols_array(&[
            self.bending_weft,
            self.bending_coupling,
            0.0,
            self.bending_coupling,
            self.bending_warp,
            0.0,
            0.0,
            0.0,
            self.bending_twist / 2.0,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fabrics_that_give_energy_away_are_refused() {
        let good = Fabric::plain("cotton", 0.12, 800.0, 5e-6);
        assert_eq!(good.check(), Ok(()));
        let cases = [
            Fabric {
                density: 0.0,
                ..good.clone()
            },
            Fabric {
                damping: -1.0,
                ..good.clone()
            },
            Fabric {
                friction: f64::INFINITY,
                ..good.clone()
            },
            Fabric {
                shear: -1.0,
                ..good.clone()
            },
            Fabric {
                bending_warp: f64::NAN,
                ..good.clone()
            },
            Fabric {
                stretch_coupling: 800.0,
                ..good.clone()
            },
            Fabric {
                bending_coupling: -5e-6,
                ..good.clone()
            },
        ];
        for case in cases {
            assert!(case.check().is_err(), "{case:?}");
        }
    }
}
