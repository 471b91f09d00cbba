//! Materials of the simulator ARCSim, which are tables of nonlinear cloth.
//!
//! Wang, O'Brien, Ramamoorthi, "Data-driven elastic models for cloth: modeling
//! and measurement", SIGGRAPH 2011, measured ten cloths that come in this
//! format. A file is JSON, comments allowed:
//!
//! | key          | shape  | what it is                                                        |
//! |--------------|--------|-------------------------------------------------------------------|
//! | `density`    |        | mass of a square metre [kg/m²]                                    |
//! | `stretching` | 6 × 4  | c₁₁, c₁₂, c₂₂, c₃₃ [N/m]: at rest, then stretched by 1/6 along 0°, 22.5°, 45°, 67.5° and 90° from u |
//! | `bending`    | 3 × 5  | k for hinges along 0°, 45° and 90° from u, at curvatures of 0, 10, 20, 30 and 40 1/m |
//! | `damping`    |        | stiffness-proportional damping [s], if it is there                |
//!
//! # What the numbers mean
//! ARCSim doubles the table and takes negative values as zero. With k = 2c and
//! Green strain G its forces are the derivative of
//!
//! ```text
//! W = ½ k₁₁ G_uu² + k₁₂ G_uu G_vv + ½ k₂₂ G_vv² + k₃₃ G_uv²
//! ```
//!
//! Its energy function has ½ k₃₃ G_uv² instead: the shear force is twice the
//! derivative of the energy. What moves the cloth are the forces, so they
//! count, and they are what was meant: only they make c₁₁ = c₂₂ = c₃₃, c₁₂ = 0
//! alike in all directions. Our shear term is ½ S (2 G_uv)², hence
//!
//! ```text
//! stretch = 2 c₁₁, 2 c₂₂,    coupling = 2 c₁₂,    S = k₃₃/2 = c₃₃
//! ```
//!
//! A hinge of length l between triangles of area a together costs
//! k l²/(8a) θ². On equilateral triangles bent to a cylinder of curvature κ,
//! whichever way, that is k κ²/8 a square metre, and along the axes of a grid
//! of squares cut in two as well. A plate has D κ²/2, hence D = k/4. A hinge
//! along u bends the lines of v, our warp.
//!
//! # What is kept
//! - Stretch is the secant at [`WEAR_STRAIN`]: c₁₁ from the rows for 0°, c₂₂
//!   from those for 90°, c₃₃ from those for 45°, c₁₂ the mean of the first two.
//! - Bending is the mean over the five curvatures, as the folds of worn cloth
//!   have all of them.
//! - Twist follows from the hinges at 45°: D₄₅ = (D_warp + D_weft)/4 + twist/2,
//!   but is at least a tenth of √(D_warp D_weft).
//! - Friction and thickness are not in the file and take typical values.

use drapery_core::Fabric;
use serde_json::Value;

use super::draft::{Draft, DraftError, limits};

/// The strain at which a stretch stiffness is kept: cloth in wear stretches
/// by some percent.
const WEAR_STRAIN: f64 = 0.05;

/// The strain of the table's second part.
const TABLE_STRAIN: f64 = 1.0 / 6.0;

/// No material file is longer [byte].
const MAX_LENGTH: usize = 1 << 20;

/// The least twist, as a share of √(D_warp D_weft).
const MIN_TWIST: f64 = 0.1;

/// Why bytes are not an ARCSim material.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArcsimError {
    /// More bytes than a material can have.
    #[error("the file has {length} bytes, a material has at most {limit}")]
    TooLong {
        /// Its length [byte].
        length: usize,
        /// The limit [byte].
        limit: usize,
    },
    /// Not JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A key is missing.
    #[error("{key} is missing")]
    Missing {
        /// Which key.
        key: &'static str,
    },
    /// A value is of the wrong shape.
    #[error("{key} is not {expected}")]
    Shape {
        /// Which key.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// The numbers don't make a fabric.
    #[error(transparent)]
    Draft(#[from] DraftError),
}

/// A fabric read from an ARCSim material.
#[derive(Clone, Debug, PartialEq)]
pub struct ArcsimReading {
    /// The fabric.
    pub fabric: Fabric,
    /// Keys of the file that mean nothing here.
    pub ignored: Vec<String>,
}

/// The tables of a material.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    /// Mass of a square metre [kg/m²].
    pub(crate) density: f64,
    /// c₁₁, c₁₂, c₂₂, c₃₃ [N/m].
    pub(crate) stretching: [[f64; 4]; 6],
    /// k by direction and curvature [N·m].
    pub(crate) bending: [[f64; 5]; 3],
}

/// The fabric in the bytes of an ARCSim material, under the given name.
///
/// # Errors
/// When it is not JSON of the shape above, or nothing that cloth can be.
pub fn read_arcsim(bytes: &[u8], name: &str) -> Result<ArcsimReading, ArcsimError> {
    if bytes.len() > MAX_LENGTH {
        return Err(ArcsimError::TooLong {
            length: bytes.len(),
            limit: MAX_LENGTH,
        });
    }
    let root: Value = serde_json::from_slice(&without_comments(bytes))?;
    let Value::Object(root) = root else {
        return Err(ArcsimError::Shape {
            key: "the file",
            expected: "an object",
        });
    };
    let get = |key| root.get(key).ok_or(ArcsimError::Missing { key });
    let number = |key, value: &Value| {
        value.as_f64().ok_or(ArcsimError::Shape {
            key,
            expected: "a number",
        })
    };
    let tables = Tables {
        density: number("density", get("density")?)?,
        stretching: matrix(get("stretching")?).ok_or(ArcsimError::Shape {
            key: "stretching",
            expected: "6 rows of 4 numbers",
        })?,
        bending: matrix(get("bending")?).ok_or(ArcsimError::Shape {
            key: "bending",
            expected: "3 rows of 5 numbers",
        })?,
    };
    let mut draft = tables.draft()?;
    if let Some(value) = root.get("damping") {
        let damping = number("damping", value)?;
        draft
            .damping
            .set("damping", damping, "damping", limits::DAMPING)?;
    }
    let known = ["density", "stretching", "bending", "damping"];
    Ok(ArcsimReading {
        fabric: draft.fabric(name)?,
        ignored: root
            .keys()
            .filter(|k| !known.contains(&k.as_str()))
            .cloned()
            .collect(),
    })
}

impl Tables {
    /// The fabric that is kept of the tables.
    pub(crate) fn draft(&self) -> Result<Draft, DraftError> {
        let mut draft = Draft::new();
        draft
            .density
            .set("density", self.density, "density", limits::DENSITY)?;
        let by = "stretching";
        let share = WEAR_STRAIN / TABLE_STRAIN;
        // ARCSim blends first and cuts off what is negative after.
        let at = |angle: usize, entry: usize| {
            let (rest, far) = (self.stretching[0], self.stretching[1 + angle]);
            (rest[entry] + share * (far[entry] - rest[entry])).max(0.0)
        };
        let (u, bias, v) = (0, 2, 4);
        let weft = 2.0 * at(u, 0);
        let warp = 2.0 * at(v, 2);
        draft
            .stretch_weft
            .set("stretch along the weft", weft, by, limits::STRETCH)?;
        draft
            .stretch_warp
            .set("stretch along the warp", warp, by, limits::STRETCH)?;
        let coupling = at(u, 1) + at(v, 1);
        draft
            .stretch_coupling
            .set("stretch coupling", coupling, by, limits::COUPLING)?;
        draft.shear.set("shear", at(bias, 3), by, limits::SHEAR)?;
        let by = "bending";
        let [along_u, along_bias, along_v] = self
            .bending
            .map(|row| row.iter().map(|k| k.max(0.0)).sum::<f64>() / 5.0 / 4.0);
        // A hinge along u bends the lines of v.
        let (warp, weft) = (along_u, along_v);
        draft
            .bending_warp
            .set("bending along the warp", warp, by, limits::BENDING)?;
        draft
            .bending_weft
            .set("bending along the weft", weft, by, limits::BENDING)?;
        let twist = 2.0 * along_bias - 0.5 * (warp + weft);
        let twist = twist.max(MIN_TWIST * (warp * weft).sqrt());
        draft
            .bending_twist
            .set("twist", twist, by, limits::BENDING)?;
        Ok(draft)
    }
}

/// Rows of numbers, exactly so many of each.
fn matrix<const ROWS: usize, const COLUMNS: usize>(
    value: &Value,
) -> Option<[[f64; COLUMNS]; ROWS]> {
    let rows = value.as_array().filter(|rows| rows.len() == ROWS)?;
    let mut out = [[0.0; COLUMNS]; ROWS];
    for (row, out) in rows.iter().zip(&mut out) {
        let row = row.as_array().filter(|row| row.len() == COLUMNS)?;
        for (value, out) in row.iter().zip(out) {
            *out = value.as_f64()?;
        }
    }
    Some(out)
}

/// The bytes with `//` and `/* */` comments blanked, lines kept.
fn without_comments(bytes: &[u8]) -> Vec<u8> {
    #[derive(PartialEq)]
    enum In {
        Json,
        Text,
        Line,
        Block,
    }
    let mut out = bytes.to_vec();
    let mut state = In::Json;
    let mut i = 0;
    while i < bytes.len() {
        let pair = (bytes[i], bytes.get(i + 1).copied().unwrap_or(0));
        let mut wide = 1;
        match (&state, pair) {
            (In::Json, (b'"', _)) => state = In::Text,
            (In::Text, (b'"', _)) => state = In::Json,
            (In::Text, (b'\\', _)) => wide = 2,
            (In::Json, (b'/', b'/')) => state = In::Line,
            (In::Json, (b'/', b'*')) => {
                state = In::Block;
                wide = 2;
            }
            (In::Line, (b'\n', _)) => state = In::Json,
            (In::Block, (b'*', b'/')) => {
                state = In::Json;
                wide = 2;
                out[i..i + 2].fill(b' ');
            }
            _ => {}
        }
        let end = (i + wide).min(bytes.len());
        if state == In::Line || state == In::Block {
            for byte in &mut out[i..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        i = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use glam::{DVec2, DVec3};

    use super::*;

    fn isotropic(c: f64, k: f64) -> String {
        let row = format!("[{c}, 0, {c}, {c}]");
        let bend = format!("[{k}, {k}, {k}, {k}, {k}]");
        format!(
            "// h = 0.1 mm // \"quoted\"\n{{\"density\": 0.1, /* a\nb */ \"stretching\": [{}], \"bending\": [{}]}}",
            vec![row; 6].join(", "),
            vec![bend; 3].join(", ")
        )
    }

    #[test]
    fn an_isotropic_table_is_an_isotropic_fabric() {
        let reading = read_arcsim(isotropic(40.0, 20e-6).as_bytes(), "x").unwrap();
        let fabric = reading.fabric;
        assert!(reading.ignored.is_empty());
        assert_eq!(fabric.stretch_warp, 80.0);
        // Alike in all directions: shear is half of stretch less coupling, and
        // the energy of a strain does not change when it is turned.
        let c = fabric.stretch_matrix();
        let energy = |angle: f64| {
            let d = DVec2::from_angle(angle);
            let strain = DVec3::new(d.x * d.x, d.y * d.y, 2.0 * d.x * d.y);
            0.5 * strain.dot(c * strain)
        };
        for angle in [0.3, 0.8, 1.2] {
            assert!((energy(angle) / energy(0.0) - 1.0).abs() < 1e-12);
        }
        assert!((fabric.bending_warp / 5e-6 - 1.0).abs() < 1e-12);
        assert!((fabric.bending_twist / 5e-6 - 1.0).abs() < 1e-12);
    }

    /// ARCSim's hinges on a patch of equilateral triangles that is bent to a
    /// cylinder, against a plate of rigidity k/4.
    #[test]
    fn hinges_cost_as_much_as_a_plate_of_a_quarter_of_their_stiffness() {
        let (edge, curvature, k) = (0.01, 2.0, 20e-6);
        let height = edge * 3f64.sqrt() / 2.0;
        let area = edge * height;
        for angle in [0.0, 0.2, 0.7, 1.3] {
            let across = DVec2::from_angle(angle);
            let z = |p: DVec2| 0.5 * curvature * p.dot(across).powi(2);
            let mut energy = 0.0;
            // One edge of each of the three directions belongs to two triangles.
            for turn in 0..3 {
                let t = DVec2::from_angle(f64::from(turn) * std::f64::consts::FRAC_PI_3);
                let n = t.perp();
                let middle = 0.5 * (z(t * edge / 2.0) + z(-t * edge / 2.0));
                let slopes = [n, -n].map(|n| (z(n * height) - middle) / height);
                let theta = slopes[0] + slopes[1];
                energy += k * edge * edge / (2.0 * area) * theta * theta / 4.0;
            }
            let plate = 0.5 * (k / 4.0) * curvature * curvature * area;
            assert!(
                (energy / plate - 1.0).abs() < 1e-9,
                "{angle}: {energy} {plate}"
            );
        }
    }

    #[test]
    fn stretch_is_the_secant_in_its_own_direction() {
        let mut tables = Tables {
            density: 0.2,
            stretching: [[10.0, 0.0, 20.0, 30.0]; 6],
            bending: [[4e-5; 5], [4e-5; 5], [8e-5; 5]],
        };
        tables.stretching[1] = [110.0, 10.0, 0.0, 0.0];
        tables.stretching[3] = [0.0, 0.0, 0.0, 130.0];
        tables.stretching[5] = [0.0, 20.0, 220.0, 0.0];
        let fabric = tables.draft().unwrap().fabric("x").unwrap();
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} is not {b}");
        near(fabric.stretch_weft, 2.0 * (10.0 + 0.3 * 100.0));
        near(fabric.stretch_warp, 2.0 * (20.0 + 0.3 * 200.0));
        near(fabric.shear, 30.0 + 0.3 * 100.0);
        near(fabric.stretch_coupling, 0.3 * 10.0 + 0.3 * 20.0);
        near(fabric.bending_warp, 1e-5);
        near(fabric.bending_weft, 2e-5);
        near(fabric.bending_twist, 2e-5 - 1.5e-5);
    }

    #[test]
    fn bad_materials_are_errors() {
        let good = isotropic(40.0, 20e-6);
        let cases = [
            String::new(),
            good[..good.len() / 2].to_string(),
            "[]".to_string(),
            "{}".to_string(),
            good.replace("\"density\"", "\"densty\""),
            good.replace("0.1,", "\"heavy\","),
            good.replace("0.1,", "-0.1,"),
            good.replace("0.1,", "1e300,"),
            good.replace("0.1,", "1e999,"),
            good.replacen("[40, 0, 40, 40],", "", 1),
            good.replacen("[40, 0, 40, 40]", "[40, 0, 40]", 1),
            good.replacen("[40, 0, 40, 40]", "40", 1),
            good.replace("[40, 0, 40, 40]", "[0, 0, 40, 40]"),
            good.replace("[40, 0, 40, 40]", "[40, 0, 40, -40]"),
            good.replace("[40, 0, 40, 40]", "[40, 90, 40, 40]"),
            good.replace("0.00002", "null"),
            good.replace("0.00002", "-1"),
            good.replace("\"density\"", "\"damping\": -1, \"density\""),
            "[".repeat(100_000),
            "/*".to_string(),
            "\"\\".to_string(),
        ];
        for case in cases {
            let head: String = case.chars().take(80).collect();
            assert!(read_arcsim(case.as_bytes(), "x").is_err(), "{head}");
        }
        assert!(matches!(
            read_arcsim(&vec![b' '; MAX_LENGTH + 1], "x"),
            Err(ArcsimError::TooLong { .. })
        ));
    }

    #[test]
    fn other_keys_are_said_to_be_ignored() {
        let text = isotropic(40.0, 20e-6).replace("\"density\"", "\"yield_curv\": 2, \"density\"");
        let reading = read_arcsim(text.as_bytes(), "x").unwrap();
        assert_eq!(reading.ignored, ["yield_curv"]);
    }
}
