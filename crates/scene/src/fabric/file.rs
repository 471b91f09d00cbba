//! `fabric.toml`, read and written.
//!
//! ```toml
//! name = "my shirting"
//! from = "cotton-plain"                            # a preset; all that follows overrides it
//! density_kg_m2 = 0.118
//! bending_length_cm = { warp = 2.1, weft = 1.8 }   # as the laboratory gave it
//!
//! [kes]
//! g = 0.9
//! ```
//!
//! Constants are SI with their unit in the key. Measurements may stand instead:
//! `bending_length_cm`, `drape_coefficient_percent`, or tables `[kes]` and
//! `[fast]` with the laboratory's symbols in its units; those along the threads
//! are one number for both or `{ warp = …, weft = … }`. Without `from`,
//! density, stretch, shear and bending have to be there. Nothing is given
//! twice, and no key is ignored.

use std::fmt::Write;

use drapery_core::Fabric;
use toml::de::DeTable;

use super::draft::{Draft, DraftError, Given, Limits, limits};
use super::drape::Drape;
use super::laboratory::{Cantilever, Fast, Kes};
use super::presets::{NAMES, preset};
use super::toml_table::{TomlTable, line};
use crate::load::nearest;

/// No fabric file is longer [byte].
const MAX_LENGTH: usize = 1 << 20;

/// Why bytes are not a fabric.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FabricFileError {
    /// More bytes than a fabric can have.
    #[error("the file has {length} bytes, a fabric has at most {limit}")]
    TooLong {
        /// Its length [byte].
        length: usize,
        /// The limit [byte].
        limit: usize,
    },
    /// Not text.
    #[error("not UTF-8 text")]
    NotText(#[from] std::str::Utf8Error),
    /// Not TOML.
    #[error("line {line}: {why}")]
    Toml {
        /// Where.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A key that means nothing.
    #[error("line {line}: unknown key {key}{}; there are {known}", suggestion(nearest.as_deref()))]
    UnknownKey {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// The key that was most likely meant.
        nearest: Option<String>,
        /// What there is.
        known: String,
    },
    /// A value of the wrong kind.
    #[error("line {line}: {key} is not {expected}")]
    Kind {
        /// The key.
        key: String,
        /// Its line.
        line: usize,
        /// What it should be.
        expected: &'static str,
    },
    /// `from` names no preset.
    #[error("line {line}: from names {name}, which is not built in{}; there are {}",
        suggestion(nearest.as_deref()), NAMES.join(", "))]
    UnknownPreset {
        /// What it names.
        name: String,
        /// Its line.
        line: usize,
        /// The preset that was most likely meant.
        nearest: Option<String>,
    },
    /// A value that cloth can't have, or that stands twice.
    #[error("line {line}")]
    Value {
        /// The line of the key.
        line: usize,
        /// What is wrong.
        source: DraftError,
    },
    /// The constants don't make a fabric together.
    #[error(transparent)]
    Draft(#[from] DraftError),
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean {n}?)"))
}

/// A constant that stands in the file as itself.
struct Constant {
    key: &'static str,
    what: &'static str,
    limits: Limits,
    place: fn(&mut Draft) -> &mut Given,
    value: fn(&Fabric) -> f64,
    remark: &'static str,
}

/// The constants, density first: bending lengths need it.
const CONSTANTS: [Constant; 12] = [
    Constant {
        key: "density_kg_m2",
        what: "density",
        limits: limits::DENSITY,
        place: |d| &mut d.density,
        value: |f| f.density,
        remark: "mass of a square metre",
    },
    Constant {
        key: "stretch_warp_n_per_m",
        what: "stretch along the warp",
        limits: limits::STRETCH,
        place: |d| &mut d.stretch_warp,
        value: |f| f.stretch_warp,
        remark: "along v",
    },
    Constant {
        key: "stretch_weft_n_per_m",
        what: "stretch along the weft",
        limits: limits::STRETCH,
        place: |d| &mut d.stretch_weft,
        value: |f| f.stretch_weft,
        remark: "along u",
    },
    Constant {
        key: "stretch_coupling_n_per_m",
        what: "stretch coupling",
        limits: limits::COUPLING,
        place: |d| &mut d.stretch_coupling,
        value: |f| f.stretch_coupling,
        remark: "Poisson ratio times √(warp·weft)",
    },
    Constant {
        key: "shear_n_per_m",
        what: "shear",
        limits: limits::SHEAR,
        place: |d| &mut d.shear,
        value: |f| f.shear,
        remark: "of the angle between the threads",
    },
    Constant {
        key: "bending_warp_n_m",
        what: "bending along the warp",
        limits: limits::BENDING,
        place: |d| &mut d.bending_warp,
        value: |f| f.bending_warp,
        remark: "of the warp's own curvature",
    },
    Constant {
        key: "bending_weft_n_m",
        what: "bending along the weft",
        limits: limits::BENDING,
        place: |d| &mut d.bending_weft,
        value: |f| f.bending_weft,
        remark: "of the weft's own curvature",
    },
    Constant {
        key: "bending_coupling_n_m",
        what: "bending coupling",
        limits: limits::COUPLING,
        place: |d| &mut d.bending_coupling,
        value: |f| f.bending_coupling,
        remark: "of the two curvatures",
    },
    Constant {
        key: "bending_twist_n_m",
        what: "twist",
        limits: limits::BENDING,
        place: |d| &mut d.bending_twist,
        value: |f| f.bending_twist,
        remark: "√(warp·weft) when nothing else is known",
    },
    Constant {
        key: "damping_s",
        what: "damping",
        limits: limits::DAMPING,
        place: |d| &mut d.damping,
        value: |f| f.damping,
        remark: "strain rate times this counts as strain",
    },
    Constant {
        key: "friction",
        what: "friction",
        limits: limits::FRICTION,
        place: |d| &mut d.friction,
        value: |f| f.friction,
        remark: "Coulomb, on a body and on itself",
    },
    Constant {
        key: "thickness_m",
        what: "thickness",
        limits: limits::THICKNESS,
        place: |d| &mut d.thickness,
        value: |f| f.thickness,
        remark: "",
    },
];

/// Keys of the file that are no constants.
const OTHER_KEYS: [&str; 6] = [
    "name",
    "from",
    "bending_length_cm",
    "drape_coefficient_percent",
    "kes",
    "fast",
];

const KES_KEYS: [&str; 9] = ["w", "b", "g", "em", "lt", "wt", "max_load", "t0", "miu"];
const FAST_KEYS: [&str; 8] = ["w", "c", "b", "e20", "e100", "eb5", "g", "t2"];

/// The fabric in the bytes of a `fabric.toml`; called `name` if it does not
/// say what it is called.
///
/// # Errors
/// When it is not such a file; errors name the key and the line.
pub fn read_toml(bytes: &[u8], name: &str) -> Result<Fabric, FabricFileError> {
    if bytes.len() > MAX_LENGTH {
        return Err(FabricFileError::TooLong {
            length: bytes.len(),
            limit: MAX_LENGTH,
        });
    }
    let text = std::str::from_utf8(bytes)?;
    let parsed = DeTable::parse(text).map_err(|source| FabricFileError::Toml {
        line: line(text, source.span().map_or(0, |s| s.start)),
        why: source.message().to_string(),
    })?;
    read_table(&TomlTable::root(parsed.get_ref(), text), name)
}

/// The same of a table within another file.
///
/// # Errors
/// As [`read_toml`].
pub(crate) fn read_table(root: &TomlTable<'_>, name: &str) -> Result<Fabric, FabricFileError> {
    let keys: Vec<&'static str> = CONSTANTS.iter().map(|c| c.key).chain(OTHER_KEYS).collect();
    root.check_keys(&keys)?;
    let name = root.text("name")?.map_or(name, |(name, _)| name);
    let mut draft = match root.text("from")? {
        None => Draft::new(),
        Some((from, line)) => {
            Draft::from(&preset(from).ok_or_else(|| FabricFileError::UnknownPreset {
                name: from.to_string(),
                line,
                nearest: nearest(from, NAMES.iter().copied()),
            })?)
        }
    };
    fill(&mut draft, root)?;
    Ok(draft.fabric(name)?)
}

/// Everything that the file measures or says, density first.
fn fill(draft: &mut Draft, root: &TomlTable<'_>) -> Result<(), FabricFileError> {
    let kes = root.table("kes", "kes.")?.map(read_kes).transpose()?;
    let fast = root.table("fast", "fast.")?.map(read_fast).transpose()?;
    let at = |key: &str| {
        let line = root.line_of(key).unwrap_or(1);
        move |source| FabricFileError::Value { line, source }
    };
    let (density, others) = CONSTANTS.split_at(1);
    take(draft, root, density)?;
    if let Some(kes) = kes {
        kes.weigh(draft).map_err(at("kes.w"))?;
    }
    if let Some(fast) = fast {
        fast.weigh(draft).map_err(at("fast.w"))?;
    }
    take(draft, root, others)?;
    if let Some((length, bias)) = root.threads_and_bias("bending_length_cm")? {
        Cantilever { length, bias }
            .apply(draft)
            .map_err(at("bending_length_cm"))?;
    }
    if let Some(coefficient) = root.number("drape_coefficient_percent")? {
        Drape { coefficient }
            .apply(draft)
            .map_err(at("drape_coefficient_percent"))?;
    }
    if let Some(kes) = kes {
        kes.apply(draft).map_err(|e| at(place(&e, "kes"))(e))?;
    }
    if let Some(fast) = fast {
        fast.apply(draft).map_err(|e| at(place(&e, "fast"))(e))?;
    }
    Ok(())
}

/// The key that an error is about: the measurement it names, or else the
/// table.
fn place(error: &DraftError, table: &'static str) -> &'static str {
    match error {
        DraftError::Range { by, .. } | DraftError::Twice { second: by, .. }
            if by.starts_with(table) =>
        {
            by
        }
        _ => table,
    }
}

fn take(
    draft: &mut Draft,
    root: &TomlTable<'_>,
    constants: &[Constant],
) -> Result<(), FabricFileError> {
    for constant in constants {
        if let Some(value) = root.number(constant.key)? {
            (constant.place)(draft)
                .set(constant.what, value, constant.key, constant.limits)
                .map_err(|source| FabricFileError::Value {
                    line: root.line_of(constant.key).unwrap_or(1),
                    source,
                })?;
        }
    }
    Ok(())
}

fn read_kes(table: TomlTable<'_>) -> Result<Kes, FabricFileError> {
    table.check_keys(&KES_KEYS)?;
    Ok(Kes {
        w: table.number("w")?,
        b: table.threads("b")?,
        g: table.threads("g")?,
        em: table.threads("em")?,
        lt: table.threads("lt")?,
        wt: table.threads("wt")?,
        max_load: table.number("max_load")?,
        t0: table.number("t0")?,
        miu: table.number("miu")?,
    })
}

fn read_fast(table: TomlTable<'_>) -> Result<Fast, FabricFileError> {
    table.check_keys(&FAST_KEYS)?;
    Ok(Fast {
        w: table.number("w")?,
        c: table.threads("c")?,
        b: table.threads("b")?,
        e20: table.threads("e20")?,
        e100: table.threads("e100")?,
        eb5: table.number("eb5")?,
        g: table.number("g")?,
        t2: table.number("t2")?,
    })
}

/// The text of a `fabric.toml` that [`read_toml`] reads as the same fabric,
/// bit for bit.
pub fn to_toml(fabric: &Fabric) -> String {
    let mut text = format!("name = {}\n", quoted(&fabric.name));
    for constant in &CONSTANTS {
        let entry = format!("{} = {:?}", constant.key, (constant.value)(fabric));
        // Writing to a string can't fail.
        let _ = match constant.remark {
            "" => writeln!(text, "{entry}"),
            remark => writeln!(text, "{entry:<40} # {remark}"),
        };
    }
    text
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a string can't fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Fabric, FabricFileError> {
        read_toml(text.as_bytes(), "file")
    }

    #[test]
    fn presets_come_back_from_their_files() {
        for name in NAMES {
            let fabric = preset(name).unwrap();
            assert_eq!(read(&to_toml(&fabric)).unwrap(), fabric);
        }
    }

    proptest! {
        #[test]
        fn any_fabric_comes_back_from_its_file(
            name in ".{0,20}",
            logs in prop::array::uniform8(-1.0..1.0f64),
            ratios in prop::array::uniform2(-0.99..0.99f64),
        ) {
            let times = |value: f64, i: usize| value * 100f64.powf(logs[i]);
            let (warp, weft) = (times(1e3, 0), times(1e3, 1));
            let (bend_warp, bend_weft) = (times(1e-5, 2), times(1e-5, 3));
            let fabric = Fabric {
                name,
                density: times(0.15, 4),
                stretch_weft: weft,
                stretch_warp: warp,
                stretch_coupling: ratios[0] * (warp * weft).sqrt(),
                shear: times(50.0, 5),
                bending_weft: bend_weft,
                bending_warp: bend_warp,
                bending_coupling: ratios[1] * (bend_warp * bend_weft).sqrt(),
                bending_twist: times(1e-5, 6),
                damping: 1e-3,
                friction: 0.3,
                thickness: times(1e-3, 7),
            };
            prop_assert_eq!(read(&to_toml(&fabric)).unwrap(), fabric);
        }

        #[test]
        fn no_text_is_a_panic(text in ".{0,200}") {
            let _ = read(&text);
        }

        #[test]
        fn no_torn_file_is_a_panic(cut in 0..600usize, byte: u8) {
            let mut bytes = to_toml(&preset("denim").unwrap()).into_bytes();
            let place = cut % bytes.len();
            bytes[place] = byte;
            let _ = read_toml(&bytes, "x");
            bytes.truncate(place);
            let _ = read_toml(&bytes, "x");
        }
    }

    #[test]
    fn measurements_override_the_preset_they_start_from() {
        let base = preset("cotton-plain").unwrap();
        let fabric = read(
            "from = \"cotton-plain\"\ndensity_kg_m2 = 0.118\n\
             bending_length_cm = { warp = 2.0, weft = 1.0 }\n\
             [kes]\ng = 1\n[fast]\ne20 = { warp = 1.0, weft = 2.0 }\n",
        )
        .unwrap();
        assert_eq!(fabric.name, "file");
        assert_eq!(fabric.density, 0.118);
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-3, "{a} is not {b}");
        // With the new density, not that of the preset.
        near(fabric.bending_warp, 0.118 * 9.81 * 8e-6);
        near(fabric.bending_weft, 0.118 * 9.81 * 1e-6);
        near(fabric.shear, 56.19);
        // Strips of ratio 0.243 get narrower and longer for it.
        let narrowed = 1.0 - 0.243 * 0.243;
        near(fabric.stretch_warp, 1961.3 / narrowed);
        near(fabric.stretch_weft, 980.7 / narrowed);
        assert_eq!(fabric.thickness, base.thickness);
        // Poisson ratio and twist ratio are kept.
        near(
            fabric.stretch_coupling / (fabric.stretch_warp * fabric.stretch_weft).sqrt(),
            0.243,
        );
        near(
            fabric.bending_twist,
            (fabric.bending_warp * fabric.bending_weft).sqrt(),
        );
    }

    #[test]
    fn a_laboratory_sheet_alone_is_a_fabric() {
        let fabric = read(
            "name = \"suiting\"\n[kes]\nw = 26.4\nb = 0.136\ng = 0.86\nlt = 0.61\nwt = 9.2\nt0 = 0.75\n",
        )
        .unwrap();
        let worsted = preset("wool-worsted").unwrap();
        assert_eq!(fabric.bending_warp, worsted.bending_warp);
        assert_eq!(fabric.stretch_weft, worsted.stretch_weft);
    }

    #[test]
    fn bad_files_are_errors_that_say_where() {
        use FabricFileError as E;
        type Case = (&'static str, fn(&E) -> bool);
        let cases: [Case; 28] = [
            ("", |e| matches!(e, E::Draft(DraftError::Missing { .. }))),
            ("density_kg_m2 = ", |e| matches!(e, E::Toml { line: 1, .. })),
            ("a = 1\nb = [", |e| matches!(e, E::Toml { line: 2, .. })),
            ("from = \"denim\"\nfrom = \"denim\"", |e| {
                matches!(e, E::Toml { line: 2, .. })
            }),
            (
                "\nfrom = \"cotton-plan\"",
                |e| matches!(e, E::UnknownPreset { line: 2, nearest: Some(n), .. } if n == "cotton-plain"),
            ),
            ("from = 3", |e| matches!(e, E::Kind { line: 1, .. })),
            (
                "from = \"denim\"\n\ndensity_kg_m = 1",
                |e| matches!(e, E::UnknownKey { line: 3, nearest: Some(n), .. } if n == "density_kg_m2"),
            ),
            (
                "from = \"denim\"\n[kes]\nbb = 1",
                |e| matches!(e, E::UnknownKey { line: 3, key, nearest: Some(n), .. } if key == "kes.bb" && n == "b"),
            ),
            (
                "from = \"denim\"\n[kess]\nb = 1",
                |e| matches!(e, E::UnknownKey { line: 2, nearest: Some(n), .. } if n == "kes"),
            ),
            ("from = \"denim\"\nkes = 1", |e| {
                matches!(e, E::Kind { line: 2, .. })
            }),
            ("from = \"denim\"\ndensity_kg_m2 = \"0.1\"", |e| {
                matches!(e, E::Kind { line: 2, .. })
            }),
            ("from = \"denim\"\ndensity_kg_m2 = nan", |e| {
                matches!(e, E::Kind { line: 2, .. })
            }),
            ("from = \"denim\"\ndensity_kg_m2 = inf", |e| {
                matches!(e, E::Kind { line: 2, .. })
            }),
            ("from = \"denim\"\ndensity_kg_m2 = 1e999", |e| {
                matches!(e, E::Kind { line: 2, .. })
            }),
            (
                "from = \"denim\"\ndensity_kg_m2 = 99999999999999999999999",
                |e| matches!(e, E::Kind { line: 2, .. }),
            ),
            ("from = \"denim\"\ndensity_kg_m2 = -0.1", |e| {
                matches!(
                    e,
                    E::Value {
                        line: 2,
                        source: DraftError::Range { .. }
                    }
                )
            }),
            ("from = \"denim\"\n\nbending_warp_n_m = 1e300", |e| {
                matches!(
                    e,
                    E::Value {
                        line: 3,
                        source: DraftError::Range { .. }
                    }
                )
            }),
            ("from = \"denim\"\nstretch_coupling_n_per_m = 1e7", |e| {
                matches!(e, E::Draft(DraftError::Fabric(_)))
            }),
            ("from = \"denim\"\nbending_length_cm = {warp = 1}", |e| {
                matches!(e, E::Kind { line: 2, .. })
            }),
            (
                "from = \"denim\"\nbending_length_cm = {warp = 1, weft = 1, bais = 1}",
                |e| matches!(e, E::UnknownKey { nearest: Some(n), .. } if n == "bias"),
            ),
            ("from = \"denim\"\nbending_length_cm = 0", |e| {
                matches!(
                    e,
                    E::Value {
                        line: 2,
                        source: DraftError::Range { .. }
                    }
                )
            }),
            ("from = \"denim\"\ndrape_coefficient_percent = 130", |e| {
                matches!(
                    e,
                    E::Value {
                        line: 2,
                        source: DraftError::Range { .. }
                    }
                )
            }),
            (
                "from = \"denim\"\nbending_length_cm = 2\n[kes]\ng = 1\nb = 0.1",
                |e| {
                    matches!(
                        e,
                        E::Value {
                            line: 5,
                            source: DraftError::Twice { .. }
                        }
                    )
                },
            ),
            ("from = \"denim\"\n[fast]\nc = 20\nb = 10", |e| {
                matches!(
                    e,
                    E::Value {
                        line: 4,
                        source: DraftError::Twice { .. }
                    }
                )
            }),
            ("from = \"denim\"\n[fast]\ng = 20\neb5 = -2", |e| {
                matches!(
                    e,
                    E::Value {
                        line: 4,
                        source: DraftError::Range { .. }
                    }
                )
            }),
            ("from = \"denim\"\n[kes]\nem = 5", |e| {
                matches!(
                    e,
                    E::Value {
                        line: 2,
                        source: DraftError::TensileCurve { .. }
                    }
                )
            }),
            ("from = \"denim\"\n[kes]\nem = 5\nlt = 2.5", |e| {
                matches!(
                    e,
                    E::Value {
                        line: 2,
                        source: DraftError::Range { .. }
                    }
                )
            }),
            ("bending_length_cm = 2", |e| {
                matches!(
                    e,
                    E::Value {
                        line: 1,
                        source: DraftError::Missing { .. }
                    }
                )
            }),
        ];
        for (text, expected) in cases {
            let error = read(text).unwrap_err();
            assert!(expected(&error), "{text:?}: {error:?}");
        }
        assert!(matches!(read_toml(b"\xff", "x"), Err(E::NotText(_))));
        let long = vec![b'\n'; MAX_LENGTH + 1];
        assert!(matches!(read_toml(&long, "x"), Err(E::TooLong { .. })));
        // As deep as anyone likes.
        let deep = format!("kes = {}", "[".repeat(100_000));
        assert!(read(&deep).is_err());
        let dotted = format!("{}a = 1", "a.".repeat(100_000));
        assert!(read(&dotted).is_err());
    }
}
