//! Fabrics that are built in, from published measurements.
//!
//! Each stands here in the units of the laboratory, with where it comes from.
//! A number without a publication beside it is typical: our choice from the
//! range in which such cloth is commonly reported, and no specimen's. Where
//! bending is typical, it is chosen so that the cloth drapes as such cloth does
//! on Cusick's meter. Stretch is a secant at 20 gf/cm, see the parent module.
//!
//! Friction is that of cloth on dry skin, in the range 0.3 to 0.6 of Derler and
//! Gerhardt, "Tribology of skin", Tribology Letters 45, 2012: smooth filament
//! at its low end, hairy and coarse cloth at its high end. Damping is a loss
//! factor of 0.06 to 0.2 at 10 Hz, typical of fibres, higher where many
//! threads rub.

use drapery_core::Fabric;

use super::arcsim::Tables;
use super::draft::{Draft, DraftError};
use super::laboratory::{Cantilever, Fast, Kes, Threads};

/// A fabric that is built in.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What it is called.
    pub name: &'static str,
    /// What it is, in a few words.
    pub description: &'static str,
    /// Where its numbers come from.
    pub source: &'static str,
    make: fn() -> Result<Fabric, DraftError>,
}

impl Preset {
    /// The fabric.
    pub fn fabric(&self) -> Fabric {
        (self.make)().expect("the numbers of this file make fabrics, as its test says")
    }
}

/// The built-in fabric of that name.
pub fn preset(name: &str) -> Option<Fabric> {
    PRESETS.iter().find(|p| p.name == name).map(Preset::fabric)
}

/// The names of [`PRESETS`], in their order.
pub const NAMES: &[&str] = &[
    "silk-light",
    "cotton-plain",
    "jersey-knit",
    "interlock-60-40",
    "wool-worsted",
    "denim",
    "leather",
    "polyester-flag",
];

/// The built-in fabrics, from light to heavy use.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "silk-light",
        description: "light silk, plain weave of filament, 55 g/m²",
        source: "typical of KES measurements of silk filament weaves (Matsudaira, \
                 \"Characteristics of mechanical properties and handles of silk filament weaves\")",
        make: silk_light,
    },
    Preset {
        name: "cotton-plain",
        description: "plain cotton, balanced plain weave, 150 g/m²",
        source: "weight, thickness and Poisson ratio: Penava, Simic Penava, Knezic 2014; \
                 the rest typical of KES and cantilever measurements of plain cottons",
        make: cotton_plain,
    },
    Preset {
        name: "jersey-knit",
        description: "cotton single jersey, 150 g/m²",
        source: "typical of KES and FAST measurements of cotton single jersey",
        make: jersey_knit,
    },
    Preset {
        name: "interlock-60-40",
        description: "interlock knit of 60 % cotton and 40 % polyester, 187 g/m²",
        source: "one specimen, gray-interlock of Wang, O'Brien, Ramamoorthi, \
                 \"Data-driven elastic models for cloth\", 2011",
        make: interlock_60_40,
    },
    Preset {
        name: "wool-worsted",
        description: "worsted wool suiting, 264 g/m²",
        source: "means of men's winter suitings in Kawabata, \
                 \"The Standardization and Analysis of Hand Evaluation\", 1980",
        make: wool_worsted,
    },
    Preset {
        name: "denim",
        description: "rigid cotton denim, 3/1 twill, 400 g/m² (12 oz)",
        source: "bending typical of cantilever tests of rigid denim; \
                 shear from 11oz-black-denim of Wang, O'Brien, Ramamoorthi 2011",
        make: denim,
    },
    Preset {
        name: "leather",
        description: "sheep nappa for garments, 0.8 mm, 480 g/m²",
        source: "thickness and drape from Memon, Chaklie, Yesuf, Zhu, Materials 14, 2021; \
                 the rest typical of garment leather under FAST",
        make: leather,
    },
    Preset {
        name: "polyester-flag",
        description: "flag polyester, 110 g/m²",
        source: "weight as flag makers state it; Poisson ratio: Penava, Simic Penava, Knezic 2014; \
                 the rest typical of KES measurements of polyester filament weaves",
        make: polyester_flag,
    },
];

/// A light habutai or crêpe de Chine. "Extremely small" shear at small angles
/// and much stretch for filament: Matsudaira. Typical: B from 0.005 to 0.03
/// gf·cm²/cm, G from 0.2 to 0.4 gf/(cm·°), EM from 3 to 8 %. Drape 20 to 40 %.
fn silk_light() -> Result<Fabric, DraftError> {
    let kes = Kes {
        w: Some(5.5),
        b: Some(Threads {
            warp: 0.008,
            weft: 0.006,
        }),
        g: Some(Threads::both(0.28)),
        em: Some(Threads {
            warp: 4.0,
            weft: 6.0,
        }),
        lt: Some(Threads {
            warp: 0.75,
            weft: 0.65,
        }),
        t0: Some(0.15),
        ..Kes::default()
    };
    Ok(Fabric {
        friction: 0.3,
        damping: 1e-3,
        ..kes.fabric("silk-light", None)?
    })
}

/// A cotton of 150.3 g/m² and 0.318 mm with a Poisson ratio of 0.24 (Penava,
/// Simic Penava, Knezic, "Determination of the elastic constants of plain woven
/// fabrics by a tensile test in various directions", 2014). Typical: bending
/// lengths of 1.7 to 2.5 cm, warp above weft; G from 0.7 to 2 gf/(cm·°), EM
/// from 3 to 8 % with LT from 0.7 to 0.9. Drape 60 to 76 %.
fn cotton_plain() -> Result<Fabric, DraftError> {
    let kes = Kes {
        w: Some(15.03),
        g: Some(Threads::both(1.1)),
        em: Some(Threads {
            warp: 4.0,
            weft: 6.5,
        }),
        lt: Some(Threads::both(0.8)),
        t0: Some(0.32),
        ..Kes::default()
    };
    let cantilever = Cantilever {
        length: Threads {
            warp: 2.15,
            weft: 1.9,
        },
        bias: None,
    };
    let mut draft = Draft::new();
    kes.weigh(&mut draft)?;
    kes.apply(&mut draft)?;
    cantilever.apply(&mut draft)?;
    let fabric = draft.fabric("cotton-plain")?;
    Ok(Fabric {
        friction: 0.45,
        ..with_poisson(fabric, 0.243)
    })
}

/// A T-shirt cloth, all typical: B from 0.01 to 0.05 gf·cm²/cm, wales above
/// courses, G from 0.4 to 0.8 gf/(cm·°), E20 of some percent along the wales
/// and two to three times that along the courses. Knits contract across more
/// than weaves do: 0.3.
fn jersey_knit() -> Result<Fabric, DraftError> {
    let kes = Kes {
        w: Some(15.0),
        b: Some(Threads {
            warp: 0.030,
            weft: 0.016,
        }),
        g: Some(Threads::both(0.55)),
        t0: Some(0.6),
        ..Kes::default()
    };
    let fast = Fast {
        e20: Some(Threads {
            warp: 5.0,
            weft: 14.0,
        }),
        ..Fast::default()
    };
    let mut draft = Draft::new();
    kes.weigh(&mut draft)?;
    kes.apply(&mut draft)?;
    fast.apply(&mut draft)?;
    let fabric = draft.fabric("jersey-knit")?;
    Ok(Fabric {
        friction: 0.45,
        damping: 3e-3,
        ..with_poisson(fabric, 0.3)
    })
}

/// `gray-interlock`, a T-shirt cloth of the database of Wang, O'Brien and
/// Ramamoorthi, "Data-driven elastic models for cloth: modeling and
/// measurement", SIGGRAPH 2011, as [`read_arcsim`](super::read_arcsim)
/// understands it. Thickness is typical of interlock.
fn interlock_60_40() -> Result<Fabric, DraftError> {
    let tables = Tables {
        density: 0.187,
        stretching: [
            [16.593832, -14.695990, 34.477123, 36.860302],
            [46.364765, 53.694656, 261.013855, -29.691301],
            [49.285110, 87.596100, 206.373993, 22.768457],
            [123.989220, 105.181770, 365.966217, 44.217571],
            [139.686325, 73.592560, 413.553162, -174.438530],
            [127.443810, 85.848587, 405.872833, 32.238411],
        ],
        bending: [
            [
                23.191698e-6,
                32.932217e-6,
                34.406498e-6,
                39.014420e-6,
                23.382786e-6,
            ],
            [
                24.749964e-6,
                18.651314e-6,
                16.370552e-6,
                25.095791e-6,
                8.860165e-6,
            ],
            [
                14.267624e-6,
                7.052906e-6,
                14.515154e-6,
                24.665127e-6,
                19.383726e-6,
            ],
        ],
    };
    Ok(Fabric {
        thickness: 0.8e-3,
        friction: 0.45,
        damping: 3e-3,
        ..tables.draft()?.fabric("interlock-60-40")?
    })
}

/// The means over men's winter suitings by which Kawabata's hand values are
/// standardised (KN-101): W 26.4 mg/cm², B 0.136 gf·cm²/cm, G 0.86 gf/(cm·°),
/// LT 0.61, WT 9.2 gf·cm/cm², T0 0.75 mm; each is a mean of warp and weft, so
/// both are alike here. Drape 40 to 70 %.
fn wool_worsted() -> Result<Fabric, DraftError> {
    let kes = Kes {
        w: Some(26.4),
        b: Some(Threads::both(0.136)),
        g: Some(Threads::both(0.86)),
        lt: Some(Threads::both(0.61)),
        wt: Some(Threads::both(9.2)),
        t0: Some(0.75),
        ..Kes::default()
    };
    Ok(Fabric {
        friction: 0.5,
        damping: 3e-3,
        ..kes.fabric("wool-worsted", None)?
    })
}

/// Unwashed denim. Typical: bending lengths of 2.7 to 3.5 cm along the warp and
/// 2 to 2.7 cm along the weft, EM of 3 to 6 % with LT near 0.85. Shear: 67 N/m at 45° in the table of `11oz-black-denim` (Wang,
/// O'Brien, Ramamoorthi 2011). That cloth has elastane and is softer in the
/// weft and in bending than this one. Drape 70 to 90 %.
fn denim() -> Result<Fabric, DraftError> {
    let fast = Fast {
        w: Some(400.0),
        c: Some(Threads {
            warp: 31.0,
            weft: 23.0,
        }),
        g: Some(67.0),
        ..Fast::default()
    };
    let kes = Kes {
        em: Some(Threads {
            warp: 3.5,
            weft: 5.0,
        }),
        lt: Some(Threads::both(0.85)),
        t0: Some(0.9),
        ..Kes::default()
    };
    let mut draft = Draft::new();
    fast.weigh(&mut draft)?;
    fast.apply(&mut draft)?;
    kes.apply(&mut draft)?;
    let fabric = draft.fabric("denim")?;
    Ok(Fabric {
        friction: 0.55,
        damping: 3e-3,
        ..fabric
    })
}

/// Sheep garment leathers of 0.64 to 0.96 mm have drape coefficients of 47 to
/// 70 % (Memon, Chaklie, Yesuf, Zhu, "Study on effect of leather rigidity and
/// thickness on drapability of sheep garment leather", Materials 14, 2021): a
/// bending length of 1.9 cm. 600 kg/m³ is typical of nappa. Under FAST such leather is
/// "heavier, stiffer, and more extensible" than suiting (Lange, Niven, Laing,
/// Journal of the Society of Leather Technologists and Chemists 85, 2001):
/// E20 of 2 % here. It has no threads: a sheet alike in all directions, with
/// a Poisson ratio of 0.4 and the shear that goes with it.
fn leather() -> Result<Fabric, DraftError> {
    let fast = Fast {
        w: Some(480.0),
        c: Some(Threads::both(19.0)),
        e20: Some(Threads::both(2.0)),
        // (1 − 0.4)/2 of the stretch, as of any sheet alike in all directions.
        g: Some(0.3 * super::WEAR_LOAD / 0.02),
        t2: Some(0.8),
        ..Fast::default()
    };
    let fabric = fast.fabric("leather", None)?;
    Ok(Fabric {
        friction: 0.6,
        damping: 3e-3,
        ..with_poisson(fabric, 0.4)
    })
}

/// Flag makers state 110 to 115 g/m² for their light quality. A polyester weave
/// has a Poisson ratio of 0.38 (Penava, Simic Penava, Knezic 2014). Typical of
/// polyester filament: B from 0.03 to 0.1 gf·cm²/cm, G from 0.4 to 1.5
/// gf/(cm·°), EM of 2 to 4 % with LT near 0.85.
fn polyester_flag() -> Result<Fabric, DraftError> {
    let kes = Kes {
        w: Some(11.0),
        b: Some(Threads {
            warp: 0.065,
            weft: 0.055,
        }),
        g: Some(Threads::both(0.7)),
        em: Some(Threads {
            warp: 2.5,
            weft: 3.5,
        }),
        lt: Some(Threads::both(0.85)),
        t0: Some(0.22),
        ..Kes::default()
    };
    let fabric = kes.fabric("polyester-flag", None)?;
    Ok(Fabric {
        friction: 0.35,
        damping: 1e-3,
        ..with_poisson(fabric, 0.381)
    })
}

fn with_poisson(fabric: Fabric, ratio: f64) -> Fabric {
    Fabric {
        stretch_coupling: ratio * (fabric.stretch_warp * fabric.stretch_weft).sqrt(),
        ..fabric
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_sound_fabric_and_called_so() {
        assert_eq!(PRESETS.len(), NAMES.len());
        for (preset, name) in PRESETS.iter().zip(NAMES) {
            let fabric = preset.fabric();
            assert_eq!(fabric.check(), Ok(()), "{name}");
            assert_eq!((preset.name, fabric.name.as_str()), (*name, *name));
        }
        assert_eq!(preset("cotton"), None);
    }

    #[test]
    fn woven_cloth_shears_far_more_easily_than_it_stretches() {
        for name in [
            "silk-light",
            "cotton-plain",
            "wool-worsted",
            "denim",
            "polyester-flag",
        ] {
            let fabric = preset(name).unwrap();
            let stretch = fabric.stretch_warp.min(fabric.stretch_weft);
            assert!(fabric.shear < 0.1 * stretch, "{name}: {fabric:?}");
        }
    }

    /// From the drape coefficients that a drape meter gives (20–40 % for light
    /// silk, 60–76 plain cotton, 40–70 worsted, 70–90 denim) to the bending
    /// lengths of the presets, by the relation of the drape module.
    #[test]
    fn presets_bend_as_cloth_of_their_drape_does() {
        let bands = [
            ("silk-light", [20.0, 40.0]),
            ("cotton-plain", [60.0, 76.0]),
            ("wool-worsted", [40.0, 70.0]),
            ("denim", [70.0, 90.0]),
            ("leather", [47.35, 69.9]),
        ];
        for (name, [low, high]) in bands {
            let fabric = preset(name).unwrap();
            let mean = (fabric.bending_warp * fabric.bending_weft).sqrt();
            let length = (mean / (9.81 * fabric.density)).cbrt();
            let bend = |coefficient| super::super::Drape { coefficient }.bending_length();
            let least = bend(low).unwrap_or(0.0);
            let most = bend(high).unwrap();
            assert!((least..most).contains(&length), "{name}: {length}");
        }
    }
}
