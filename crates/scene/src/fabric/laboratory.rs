//! What textile laboratories measure, turned into constants of a fabric.
//!
//! | system                                   | measures                                                    |
//! |------------------------------------------|-------------------------------------------------------------|
//! | [`Kes`]                                  | tensile, shear and bending curves, thickness, weight         |
//! | [`Fast`]                                 | bending length, extension at three loads, bias extension     |
//! | [`Cantilever`]                           | bending length by BS 3356, ASTM D1388 or FAST-2              |
//! | [`Drape`](super::Drape)                  | the shadow of a disc of cloth on a smaller one               |
//!
//! Kawabata, "The Standardization and Analysis of Hand Evaluation", 2nd ed.,
//! 1980; De Boos and Tester, "SiroFAST: a system for fabric objective
//! measurement", CSIRO, 1994; Peirce, "The handle of cloth as a measurable
//! quantity", 1930.
//!
//! ```text
//! bending     D = ρ g c³                       c the bending length
//! shear       S = 180/π · G                    KES: force a width and degree
//! shear       S = T/(4 ε) = 123/EB5 [N/m]      FAST: bias extension ε = EB5 % at T = 5 gf/cm
//! stretch     K = F/ε at F = 20 gf/cm          KES: from its curve, below
//! stretch     K = F/((1 − ν²) ε)               FAST: E20
//! ```
//!
//! KES pulls a piece that is four times as wide as it is long and can't get
//! narrower; FAST a strip, which can, and gives more for it.
//!
//! A bias strip under T has shear stress T/2, so the angle between the threads
//! changes by T/(2S) and the strip is longer by half of that; the threads
//! themselves hardly give.
//!
//! KES gives the extension EM at the highest load F_m, the work WT up to it
//! and the linearity LT = WT/(½ F_m EM). The curve with that linearity is
//! taken to be a power of the extension, which is the simplest that has one:
//!
//! ```text
//! F = F_m (ε/EM)^p,    p = 2/LT − 1,    K = F/ε with ε = EM (F/F_m)^(1/p) at F = 20 gf/cm
//! ```

use drapery_core::Fabric;

use super::draft::{Draft, DraftError, limits};

/// Standard gravity, which defines the gram-force [m/s²].
const STANDARD_GRAVITY: f64 = 9.80665;

/// Gravity in D = ρ g c³, as the laboratories' own formula has it [m/s²].
pub(crate) const GRAVITY: f64 = 9.81;

/// One gf/cm [N/m].
const GF_PER_CM: f64 = STANDARD_GRAVITY * 0.1;

/// One gf·cm²/cm [N·m].
const GF_CM: f64 = STANDARD_GRAVITY * 1e-5;

/// The load at which stretch stiffness is a secant [N/m]: 20 gf/cm, the
/// second of FAST's three loads. A metre of hanging cloth of 200 g/m² pulls
/// with 2 N/m, a tight sleeve with some tens.
pub const WEAR_LOAD: f64 = 20.0 * GF_PER_CM;

/// The highest load of a KES tensile test unless said otherwise [gf/cm].
const KES_MAX_LOAD: f64 = 500.0;

/// A measurement along the warp and along the weft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threads {
    /// Along the warp, or the wales of a knit.
    pub warp: f64,
    /// Along the weft, or the courses of a knit.
    pub weft: f64,
}

impl Threads {
    /// The same along both.
    pub const fn both(value: f64) -> Self {
        Self {
            warp: value,
            weft: value,
        }
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            warp: f(self.warp),
            weft: f(self.weft),
        }
    }
}

/// Measurements of the Kawabata Evaluation System, in its own units; whatever
/// is missing is left as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kes {
    /// W, the weight [mg/cm²].
    pub w: Option<f64>,
    /// B, the bending rigidity [gf·cm²/cm].
    pub b: Option<Threads>,
    /// G, the shear stiffness [gf/(cm·°)]; the two are averaged, as a sheet
    /// has one shear stiffness.
    pub g: Option<Threads>,
    /// EM or EMT, the extension at the highest load [%].
    pub em: Option<Threads>,
    /// LT, the linearity of the tensile curve.
    pub lt: Option<Threads>,
    /// WT, the tensile work [gf·cm/cm²].
    pub wt: Option<Threads>,
    /// F_m, the highest load of the tensile test [gf/cm]; 500 if not given.
    pub max_load: Option<f64>,
    /// T0, the thickness at 0.5 gf/cm² [mm].
    pub t0: Option<f64>,
    /// MIU, friction against the steel piano wires of KES-FB4.
    pub miu: Option<f64>,
}

/// Measurements of Fabric Assurance by Simple Testing, in its own units;
/// whatever is missing is left as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fast {
    /// W, the weight [g/m²].
    pub w: Option<f64>,
    /// C, the bending length [mm].
    pub c: Option<Threads>,
    /// B, the bending rigidity [µN·m]; instead of C.
    pub b: Option<Threads>,
    /// E20, the extension at 20 gf/cm [%].
    pub e20: Option<Threads>,
    /// E100, the extension at 100 gf/cm [%]; used where E20 is missing, and
    /// then the stretch is a secant at that load.
    pub e100: Option<Threads>,
    /// EB5, the extension on the bias at 5 gf/cm [%].
    pub eb5: Option<f64>,
    /// G, the shear rigidity [N/m]; instead of EB5.
    pub g: Option<f64>,
    /// T2, the thickness at 2 gf/cm² [mm].
    pub t2: Option<f64>,
}

/// Bending lengths by the cantilever test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cantilever {
    /// Bending length along the threads [cm].
    pub length: Threads,
    /// Bending length at 45° [cm], which gives the twist.
    pub bias: Option<f64>,
}

impl Kes {
    /// The fabric of that name with these measurements, otherwise as `base`.
    ///
    /// # Errors
    /// When a measurement can't be one of cloth, or one is missing that no
    /// base makes up for.
    pub fn fabric(&self, name: &str, base: Option<&Fabric>) -> Result<Fabric, DraftError> {
        let mut draft = base.map_or_else(Draft::new, Draft::from);
        self.weigh(&mut draft)?;
        self.apply(&mut draft)?;
        draft.fabric(name)
    }

    /// Only the density, which others need.
    pub(crate) fn weigh(&self, draft: &mut Draft) -> Result<(), DraftError> {
        match self.w {
            Some(w) => draft
                .density
                .set("density", w * 1e-2, "kes.w", limits::DENSITY),
            None => Ok(()),
        }
    }

    /// Everything but the density.
    pub(crate) fn apply(&self, draft: &mut Draft) -> Result<(), DraftError> {
        if let Some(b) = self.b {
            set_bending(draft, b.map(|b| b * GF_CM), "kes.b")?;
        }
        if let Some(g) = self.g {
            let shear = 0.5 * (g.warp + g.weft) * GF_PER_CM * 1f64.to_degrees();
            // A negative one must not hide behind a positive one.
            let shear = if g.warp.min(g.weft) > 0.0 {
                shear
            } else {
                f64::NAN
            };
            draft.shear.set("shear", shear, "kes.g", limits::SHEAR)?;
        }
        if self.em.is_some() || self.lt.is_some() || self.wt.is_some() {
            let load = self.max_load.unwrap_or(KES_MAX_LOAD);
            let along = |threads: &'static str, pick: fn(Threads) -> f64| {
                let [em, lt, wt] = [self.em, self.lt, self.wt].map(|m| m.map(pick));
                wear_stiffness(load, em, lt, wt).ok_or(DraftError::TensileCurve { threads })
            };
            let stretch = Threads {
                warp: along("warp", |t| t.warp)?,
                weft: along("weft", |t| t.weft)?,
            };
            set_stretch(draft, stretch, "the tensile curve of kes")?;
        }
        if let Some(t0) = self.t0 {
            draft
                .thickness
                .set("thickness", t0 * 1e-3, "kes.t0", limits::THICKNESS)?;
        }
        if let Some(miu) = self.miu {
            draft
                .friction
                .set("friction", miu, "kes.miu", limits::FRICTION)?;
        }
        Ok(())
    }
}

/// The secant stiffness at [`WEAR_LOAD`] [N/m] of a KES curve to `max_load`
/// [gf/cm], from two of EM [%], LT and WT [gf·cm/cm²]; not a number for
/// measurements that no curve has.
fn wear_stiffness(max_load: f64, em: Option<f64>, lt: Option<f64>, wt: Option<f64>) -> Option<f64> {
    let (em, lt) = match (em, lt, wt) {
        (Some(em), Some(lt), _) => (em / 100.0, lt),
        (Some(em), None, Some(wt)) => (em / 100.0, 2.0 * wt / (max_load * em / 100.0)),
        (None, Some(lt), Some(wt)) => (2.0 * wt / (max_load * lt), lt),
        _ => return None,
    };
    let power = 2.0 / lt - 1.0;
    if !(em > 0.0 && lt > 0.0 && power > 0.0 && max_load > 0.0) {
        return Some(f64::NAN);
    }
    let share = WEAR_LOAD / (max_load * GF_PER_CM);
    Some(WEAR_LOAD / (em * share.powf(1.0 / power)))
}

impl Fast {
    /// The fabric of that name with these measurements, otherwise as `base`.
    ///
    /// # Errors
    /// When a measurement can't be one of cloth, or one is missing that no
    /// base makes up for.
    pub fn fabric(&self, name: &str, base: Option<&Fabric>) -> Result<Fabric, DraftError> {
        let mut draft = base.map_or_else(Draft::new, Draft::from);
        self.weigh(&mut draft)?;
        self.apply(&mut draft)?;
        draft.fabric(name)
    }

    /// Only the density, which others need.
    pub(crate) fn weigh(&self, draft: &mut Draft) -> Result<(), DraftError> {
        match self.w {
            Some(w) => draft
                .density
                .set("density", w * 1e-3, "fast.w", limits::DENSITY),
            None => Ok(()),
        }
    }

    /// Everything but the density.
    pub(crate) fn apply(&self, draft: &mut Draft) -> Result<(), DraftError> {
        if let Some(c) = self.c {
            let density = density_for(draft, "fast.w or density_kg_m2")?;
            let bending = c.map(|c| density * GRAVITY * (c * 1e-3).powi(3));
            set_bending(draft, bending, "fast.c")?;
        }
        if let Some(b) = self.b {
            set_bending(draft, b.map(|b| b * 1e-6), "fast.b")?;
        }
        let given = 1.0 - draft.stretch_ratio().powi(2);
        let stretch = |load: f64, e: Threads| e.map(|e| load / (given * e / 100.0));
        match (self.e20, self.e100) {
            (Some(e), _) => set_stretch(draft, stretch(WEAR_LOAD, e), "fast.e20")?,
            (None, Some(e)) => {
                set_stretch(draft, stretch(100.0 * GF_PER_CM, e), "fast.e100")?;
            }
            (None, None) => {}
        }
        if let Some(eb5) = self.eb5 {
            let shear = 5.0 * GF_PER_CM / (4.0 * eb5 / 100.0);
            draft.shear.set("shear", shear, "fast.eb5", limits::SHEAR)?;
        }
        if let Some(g) = self.g {
            draft.shear.set("shear", g, "fast.g", limits::SHEAR)?;
        }
        if let Some(t2) = self.t2 {
            draft
                .thickness
                .set("thickness", t2 * 1e-3, "fast.t2", limits::THICKNESS)?;
        }
        Ok(())
    }
}

impl Cantilever {
    /// The fabric of that name with these measurements, otherwise as `base`.
    ///
    /// # Errors
    /// When they can't be those of cloth.
    pub fn fabric(&self, name: &str, base: &Fabric) -> Result<Fabric, DraftError> {
        let mut draft = Draft::from(base);
        self.apply(&mut draft)?;
        draft.fabric(name)
    }

    /// Bending, and twist if there is a bias strip:
    /// D₄₅ = (D_warp + D_weft)/4 + twist/2.
    pub(crate) fn apply(&self, draft: &mut Draft) -> Result<(), DraftError> {
        let density = density_for(draft, "density_kg_m2")?;
        let rigidity = |cm: f64| density * GRAVITY * (cm * 1e-2).powi(3);
        let bending = self.length.map(rigidity);
        set_bending(draft, bending, "bending_length_cm")?;
        if let Some(bias) = self.bias {
            let twist = 2.0 * rigidity(bias) - 0.5 * (bending.warp + bending.weft);
            let by = "bending_length_cm.bias";
            draft
                .bending_twist
                .set("twist", twist, by, limits::BENDING)?;
        }
        Ok(())
    }
}

/// The density that a bending length is turned into rigidity with.
pub(crate) fn density_for(draft: &Draft, cure: &'static str) -> Result<f64, DraftError> {
    draft.density.value().ok_or(DraftError::Missing {
        what: "the density, without which a bending length is no rigidity",
        cure,
    })
}

pub(crate) fn set_bending(
    draft: &mut Draft,
    rigidity: Threads,
    by: &'static str,
) -> Result<(), DraftError> {
    let (warp, weft) = ("bending along the warp", "bending along the weft");
    draft
        .bending_warp
        .set(warp, rigidity.warp, by, limits::BENDING)?;
    draft
        .bending_weft
        .set(weft, rigidity.weft, by, limits::BENDING)
}

fn set_stretch(draft: &mut Draft, stretch: Threads, by: &'static str) -> Result<(), DraftError> {
    let (warp, weft) = ("stretch along the warp", "stretch along the weft");
    draft
        .stretch_warp
        .set(warp, stretch.warp, by, limits::STRETCH)?;
    draft
        .stretch_weft
        .set(weft, stretch.weft, by, limits::STRETCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!(
            (found / expected - 1.0).abs() < 4e-3,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn kes_units_are_as_published() {
        // A suiting: 0.1 gf·cm²/cm are 9.81 µN·m, 1 gf/(cm·°) is 56.2 N/m.
        let fabric = Kes {
            w: Some(25.0),
            b: Some(Threads {
                warp: 0.1,
                weft: 0.05,
            }),
            g: Some(Threads::both(1.0)),
            em: Some(Threads::both(5.0)),
            lt: Some(Threads::both(1.0)),
            t0: Some(0.7),
            miu: Some(0.2),
            ..Kes::default()
        }
        .fabric("suiting", None)
        .unwrap();
        near(fabric.density, 0.25);
        near(fabric.bending_warp, 9.807e-6);
        near(fabric.bending_weft, 4.903e-6);
        near(fabric.shear, 56.19);
        // A straight curve: 500 gf/cm over 5 % is the same at every load.
        near(fabric.stretch_warp, 490.33 / 0.05);
        near(fabric.thickness, 7e-4);
        near(fabric.friction, 0.2);
    }

    #[test]
    fn any_two_of_extension_linearity_and_work_give_one_curve() {
        let (em, lt) = (6.0, 0.6);
        let wt = 0.5 * 500.0 * em / 100.0 * lt;
        let first = wear_stiffness(500.0, Some(em), Some(lt), None).unwrap();
        near(
            wear_stiffness(500.0, Some(em), None, Some(wt)).unwrap(),
            first,
        );
        near(
            wear_stiffness(500.0, None, Some(lt), Some(wt)).unwrap(),
            first,
        );
        assert_eq!(wear_stiffness(500.0, Some(em), None, None), None);
        // The work under F = F_m (ε/EM)^p, summed by the midpoint rule.
        let power = 2.0 / lt - 1.0;
        let n = 10_000;
        let sum: f64 = (0..n)
            .map(|i| 500.0 * ((f64::from(i) + 0.5) / f64::from(n)).powf(power))
            .sum();
        near(sum * em / 100.0 / f64::from(n), wt);
        // And the secant lies on the curve.
        let strain = WEAR_LOAD / first;
        near(
            500.0 * GF_PER_CM * (strain / (em / 100.0)).powf(power),
            WEAR_LOAD,
        );
    }

    #[test]
    fn fast_gives_its_own_rigidities() {
        // The manual's formulas: B = W C³ · 9.81·10⁻⁶ [µN·m], G = 123/EB5 [N/m].
        let fabric = Fast {
            w: Some(168.0),
            c: Some(Threads {
                warp: 15.0,
                weft: 14.5,
            }),
            e20: Some(Threads {
                warp: 1.87,
                weft: 1.87,
            }),
            e100: Some(Threads::both(4.6)),
            eb5: Some(4.7),
            t2: Some(0.5),
            ..Fast::default()
        }
        .fabric("wool", None)
        .unwrap();
        near(fabric.bending_warp, 5.56e-6);
        near(fabric.bending_weft, 5.02e-6);
        near(fabric.shear, 123.0 / 4.7);
        // What a strip with free sides gives under 20 gf/cm.
        let (warp, coupling) = (fabric.stretch_warp, fabric.stretch_coupling);
        let strip = warp - coupling * coupling / fabric.stretch_weft;
        near(strip, 19.613 / 0.0187);
    }

    #[test]
    fn a_bias_strip_sets_the_twist() {
        let base = Fabric::plain("x", 0.2, 1000.0, 1e-5);
        let alike = Cantilever {
            length: Threads::both(2.0),
            bias: Some(2.0),
        };
        let fabric = alike.fabric("y", &base).unwrap();
        near(fabric.bending_warp, 0.2 * 9.81 * 8e-6);
        near(fabric.bending_twist, fabric.bending_warp);
        let impossible = Cantilever {
            bias: Some(1.0),
            ..alike
        };
        assert!(matches!(
            impossible.fabric("z", &base),
            Err(DraftError::Range { what: "twist", .. })
        ));
    }

    #[test]
    fn measurements_that_no_cloth_has_are_refused() {
        let base = Fabric::plain("x", 0.2, 1000.0, 1e-5);
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            let threads = Some(Threads {
                warp: 1.0,
                weft: value,
            });
            let kes = [
                Kes {
                    b: threads,
                    ..Kes::default()
                },
                Kes {
                    g: threads,
                    ..Kes::default()
                },
                Kes {
                    em: threads,
                    lt: Some(Threads::both(0.6)),
                    ..Kes::default()
                },
                Kes {
                    em: Some(Threads::both(5.0)),
                    lt: threads,
                    ..Kes::default()
                },
                Kes {
                    w: Some(value),
                    ..Kes::default()
                },
                Kes {
                    t0: Some(value),
                    ..Kes::default()
                },
            ];
            for kes in kes {
                assert!(kes.fabric("y", Some(&base)).is_err(), "{kes:?}");
            }
            let fast = [
                Fast {
                    c: threads,
                    ..Fast::default()
                },
                Fast {
                    b: threads,
                    ..Fast::default()
                },
                Fast {
                    e20: threads,
                    ..Fast::default()
                },
                Fast {
                    e100: threads,
                    ..Fast::default()
                },
                Fast {
                    eb5: Some(value),
                    ..Fast::default()
                },
                Fast {
                    g: Some(value),
                    ..Fast::default()
                },
            ];
            for fast in fast {
                assert!(fast.fabric("y", Some(&base)).is_err(), "{fast:?}");
            }
        }
    }
}
