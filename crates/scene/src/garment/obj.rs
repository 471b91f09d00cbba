//! Garments from and to OBJ files.
//!
//! `v` is the draped garment [m], `g` groups of faces are its panels, `p` lines
//! in a group make a vertex group, and vertex groups whose name starts with
//! `pin` are its pins. Vertices keep their order, used or not.
//!
//! `vt` may be the flat sewing pattern in metres, or an ordinary texture map
//! that must not be taken for one. A pattern is nearly stress-free on the
//! body, so its edges are about as long as the draped ones:
//!
//! ```text
//! r = |flat edge| / |draped edge|,  over the edges of all triangles
//! ```
//!
//! It is a pattern when the median of r lies within 0.8 to 1.25 and the middle
//! 80 % of r within a factor 1.3 of the median. Coordinates that fill the unit
//! square from 0 to 1 are what a texture map looks like: there the median must
//! lie within 0.95 to 1.05, as a garment of about one square metre unwrapped
//! into the square comes near 0.8 by chance. [`TextureUse`] overrules this.

use std::collections::HashMap;
use std::fmt;

use drapery_core::{Garment, GarmentError, Panel, Pattern, TriMesh, VertexGroup};
use drapery_store::obj::{self, ObjError, ObjFace, ObjGroup, ObjMesh};
use glam::Vec2;

/// Medians of flat over draped edge length that a pattern may have.
const RATIO_BAND: [f32; 2] = [0.8, 1.25];

/// The same for coordinates that fill the unit square.
const RATIO_BAND_UNIT_SQUARE: [f32; 2] = [0.95, 1.05];

/// How far the middle 80 % of ratios may be from their median, as a factor.
/// Draped garments with a true pattern stay within 1.04; a map stretched
/// unevenly to fill the square does not.
const RATIO_SPREAD: f32 = 1.3;

/// What the texture coordinates of a file are taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextureUse {
    /// A pattern when edge lengths say so, see the module.
    #[default]
    Detect,
    /// A flat pattern in metres, whatever the lengths say.
    Pattern,
    /// Nothing; the mesh is its own rest shape.
    Ignore,
}

/// A garment, and how its file was understood.
#[derive(Clone, Debug, PartialEq)]
pub struct GarmentReading {
    /// The garment.
    pub garment: Garment,
    /// Where its rest shape comes from.
    pub pattern: PatternSource,
    /// What else is worth saying aloud.
    pub notes: Vec<GarmentNote>,
}

/// Where the rest shape of a garment comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PatternSource {
    /// From flat pattern coordinates in the file.
    Flat,
    /// From the mesh: the file has no coordinates for it, or was told so.
    None,
    /// From the mesh: the coordinates are a texture map.
    UvMapIgnored {
        /// Median of flat over draped edge length.
        ratio: f32,
    },
}

/// Something noticed while reading a garment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum GarmentNote {
    /// Polygons were cut into triangles.
    SplitPolygons {
        /// How many.
        count: usize,
    },
    /// Vertices that no triangle uses; they are kept.
    UnusedVertices {
        /// How many.
        count: usize,
    },
    /// Points outside any group; they name nothing and are dropped.
    NamelessPoints {
        /// How many.
        count: usize,
    },
    /// Some triangles have no texture coordinates, so there is no pattern.
    PartialPattern {
        /// How many have none.
        count: usize,
    },
    /// The texture coordinates look like a pattern in another unit or scale.
    ScaledPattern {
        /// Median of flat over draped edge length.
        ratio: f32,
    },
}

impl fmt::Display for GarmentNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SplitPolygons { count } => write!(f, "{count} polygons cut into triangles"),
            Self::UnusedVertices { count } => write!(f, "{count} vertices belong to no triangle"),
            Self::NamelessPoints { count } => {
                write!(f, "{count} points outside any group are dropped")
            }
            Self::PartialPattern { count } => write!(
                f,
                "{count} triangles have no texture coordinates, so there is no flat pattern"
            ),
            Self::ScaledPattern { ratio } => write!(
                f,
                "texture coordinates look like a pattern at {ratio:.4} times the garment's size"
            ),
        }
    }
}

/// Why a file is not a garment.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GarmentFileError {
    /// The file is not an OBJ mesh.
    #[error(transparent)]
    Obj(#[from] ObjError),
    /// The mesh is not a garment.
    #[error(transparent)]
    Garment(#[from] GarmentError),
    /// A pattern is asked for, but some triangles have no texture coordinates.
    #[error("triangle {triangle} has no texture coordinates to take as a pattern")]
    NoPattern {
        /// The first such triangle.
        triangle: usize,
    },
}

/// The garment in the bytes of an OBJ file, under the given name.
///
/// # Errors
/// When the file is not a mesh with at least one triangle; errors of the file
/// name the line.
///
/// ```
/// use drapery_scene::garment::{PatternSource, read_obj};
///
/// let cloth = b"v 0 0 0\nv 1 0 0\nv 0 1 0\ng pin_corner\np 3\ng front\nf 1 2 3\n";
/// let reading = read_obj(cloth, "cloth")?;
/// assert_eq!(reading.pattern, PatternSource::None);
/// assert_eq!(reading.garment.group("pin_corner"), Some(&[2][..]));
/// # Ok::<(), drapery_scene::garment::GarmentFileError>(())
/// ```
pub fn read_obj(bytes: &[u8], name: &str) -> Result<GarmentReading, GarmentFileError> {
    read_obj_as(bytes, name, TextureUse::Detect)
}

/// As [`read_obj`], told what the texture coordinates are.
///
/// # Errors
/// As [`read_obj`]; also when a pattern is asked for and a triangle has none.
pub fn read_obj_as(
    bytes: &[u8],
    name: &str,
    texture_use: TextureUse,
) -> Result<GarmentReading, GarmentFileError> {
    let reading = obj::read_obj(bytes)?;
    let mut notes = Vec::new();
    if reading.n_split_polygons > 0 {
        notes.push(GarmentNote::SplitPolygons {
            count: reading.n_split_polygons,
        });
    }
    if reading.n_nameless_points > 0 {
        notes.push(GarmentNote::NamelessPoints {
            count: reading.n_nameless_points,
        });
    }
    let mesh = reading.mesh;
    let n_unused = n_unused_vertices(&mesh);
    if n_unused > 0 {
        notes.push(GarmentNote::UnusedVertices { count: n_unused });
    }
    let source = pattern_source(&mesh, texture_use, &mut notes)?;
    let garment = to_garment(mesh, name, source)?;
    Ok(GarmentReading {
        garment,
        pattern: source,
        notes,
    })
}

/// The pins of a garment: its vertex groups whose name starts with `pin`.
pub fn pins(garment: &Garment) -> impl Iterator<Item = &VertexGroup> {
    let is_pin = |group: &&VertexGroup| group.name.starts_with("pin");
    garment.groups().iter().filter(is_pin)
}

/// The text of an OBJ file with the garment's mesh, pattern, panels and groups.
pub fn write_obj(garment: &Garment) -> String {
    obj::write_obj(&to_obj(garment))
}

/// The garment as an OBJ mesh; a triangle that is in several panels goes to
/// the first of them.
pub fn to_obj(garment: &Garment) -> ObjMesh {
    let mut groups: Vec<ObjGroup> = Vec::new();
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    let mut group_of = vec![None; garment.mesh().triangles().len()];
    let panels = garment.panels().iter().map(|p| p.name.as_str());
    let sets = garment.groups().iter().map(|g| g.name.as_str());
    for name in panels.chain(sets) {
        by_name.entry(name).or_insert_with(|| {
            groups.push(ObjGroup {
                name: name.into(),
                points: Vec::new(),
            });
            groups.len() - 1
        });
    }
    for panel in garment.panels() {
        for &triangle in &panel.triangles {
            group_of[triangle as usize].get_or_insert(by_name[panel.name.as_str()] as u32);
        }
    }
    for group in garment.groups() {
        let points = &mut groups[by_name[group.name.as_str()]].points;
        points.extend_from_slice(&group.vertices);
    }
    let pattern = garment.pattern();
    let face = |(triangle, positions): (usize, &[u32; 3])| ObjFace {
        positions: *positions,
        texture: pattern.map(|p| p.triangles[triangle]),
        group: group_of[triangle],
    };
    ObjMesh {
        name: Some(garment.name().into()).filter(|n: &String| !n.is_empty()),
        positions: garment.mesh().positions().to_vec(),
        texture: pattern.map_or_else(Vec::new, |p| p.coordinates.clone()),
        faces: garment
            .mesh()
            .triangles()
            .iter()
            .enumerate()
            .map(face)
            .collect(),
        groups,
    }
}

fn n_unused_vertices(mesh: &ObjMesh) -> usize {
    let mut used = vec![false; mesh.positions.len()];
    for face in &mesh.faces {
        for v in face.positions {
            used[v as usize] = true;
        }
    }
    used.iter().filter(|&&u| !u).count()
}

fn pattern_source(
    mesh: &ObjMesh,
    texture_use: TextureUse,
    notes: &mut Vec<GarmentNote>,
) -> Result<PatternSource, GarmentFileError> {
    let without = mesh.faces.iter().filter(|f| f.texture.is_none()).count();
    match texture_use {
        TextureUse::Ignore => Ok(PatternSource::None),
        TextureUse::Pattern => match mesh.faces.iter().position(|f| f.texture.is_none()) {
            Some(triangle) => Err(GarmentFileError::NoPattern { triangle }),
            None => Ok(PatternSource::Flat),
        },
        TextureUse::Detect if without == mesh.faces.len() => Ok(PatternSource::None),
        TextureUse::Detect if without > 0 => {
            notes.push(GarmentNote::PartialPattern { count: without });
            Ok(PatternSource::None)
        }
        TextureUse::Detect => Ok(detect(mesh, notes)),
    }
}

/// Compares the edges of the texture map with those of the mesh.
fn detect(mesh: &ObjMesh, notes: &mut Vec<GarmentNote>) -> PatternSource {
    let mut ratios = Vec::with_capacity(3 * mesh.faces.len());
    let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
    for face in &mesh.faces {
        let Some(texture) = face.texture else {
            continue;
        };
        let flat = texture.map(|i| mesh.texture[i as usize]);
        let draped = face.positions.map(|i| mesh.positions[i as usize]);
        for side in 0..3 {
            low = low.min(flat[side]);
            high = high.max(flat[side]);
            let next = (side + 1) % 3;
            let length = draped[side].distance(draped[next]);
            let ratio = flat[side].distance(flat[next]) / length;
            if length > 0.0 && ratio.is_finite() {
                ratios.push(ratio);
            }
        }
    }
    if ratios.is_empty() {
        return PatternSource::UvMapIgnored { ratio: 0.0 };
    }
    ratios.sort_by(f32::total_cmp);
    let at = |percent: usize| ratios[(ratios.len() - 1) * percent / 100];
    let ratio = at(50);
    let in_unit_square = low.min_element() >= -1e-4 && high.max_element() <= 1.0 + 1e-4;
    let fills_unit_square = in_unit_square && (high - low).max_element() >= 0.9;
    let band = match fills_unit_square {
        true => RATIO_BAND_UNIT_SQUARE,
        false => RATIO_BAND,
    };
    let even = at(10) * RATIO_SPREAD >= ratio && at(90) <= ratio * RATIO_SPREAD;
    match (even, band[0] <= ratio && ratio <= band[1]) {
        (true, true) => PatternSource::Flat,
        (even, _) => {
            if even && ratio > 0.0 {
                notes.push(GarmentNote::ScaledPattern { ratio });
            }
            PatternSource::UvMapIgnored { ratio }
        }
    }
}

fn to_garment(mesh: ObjMesh, name: &str, source: PatternSource) -> Result<Garment, GarmentError> {
    let mut panels: Vec<Panel> = mesh
        .groups
        .iter()
        .map(|group| Panel {
            name: group.name.clone(),
            triangles: Vec::new(),
        })
        .collect();
    for (triangle, face) in mesh.faces.iter().enumerate() {
        if let Some(group) = face.group {
            panels[group as usize].triangles.push(triangle as u32);
        }
    }
    panels.retain(|panel| !panel.triangles.is_empty());
    let mut groups = Vec::new();
    for mut group in mesh.groups {
        if group.points.is_empty() {
            continue;
        }
        group.points.sort_unstable();
        group.points.dedup();
        groups.push(VertexGroup {
            name: group.name,
            vertices: group.points,
        });
    }
    let pattern = match source {
        PatternSource::Flat => Some(Pattern {
            triangles: mesh.faces.iter().filter_map(|f| f.texture).collect(),
            coordinates: mesh.texture,
        }),
        _ => None,
    };
    let triangles = mesh.faces.iter().map(|f| f.positions).collect();
    let tri_mesh = TriMesh::new(mesh.positions, triangles)?;
    Garment::new(name.into(), tri_mesh, pattern, panels, groups)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn shared_garment(name: &str) -> Option<Vec<u8>> {
        let root = std::env::var_os("DRAPERY_DATA").map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
            PathBuf::from,
        );
        if !root.is_dir() {
            println!("skipped: no shared data");
            return None;
        }
        Some(std::fs::read(root.join("garments").join(name)).unwrap())
    }

    #[test]
    fn the_shared_garments_have_flat_patterns_and_their_panels() {
        for (file, vertices, triangles, panels, fabric) in [
            ("tshirt.obj", 3507, 6854, 8, 0.71),
            ("skirt.obj", 5066, 9884, 4, 1.18),
            ("dress.obj", 6262, 12274, 10, 1.62),
            ("pants.obj", 4493, 8878, 6, 1.05),
        ] {
            let Some(bytes) = shared_garment(file) else {
                return;
            };
            let reading = read_obj(&bytes, file).unwrap();
            assert_eq!(reading.pattern, PatternSource::Flat, "{file}");
            assert!(reading.notes.is_empty(), "{file}: {:?}", reading.notes);
            let garment = &reading.garment;
            assert_eq!(garment.mesh().positions().len(), vertices);
            assert_eq!(garment.mesh().triangles().len(), triangles);
            assert_eq!(garment.panels().len(), panels);
            let in_panels: usize = garment.panels().iter().map(|p| p.triangles.len()).sum();
            assert_eq!(in_panels, triangles);
            let pattern = garment.pattern().unwrap();
            let area: f32 = pattern
                .triangles
                .iter()
                .map(|t| {
                    let [a, b, c] = t.map(|i| pattern.coordinates[i as usize]);
                    (b - a).perp_dot(c - a) / 2.0
                })
                .sum();
            assert!((area - fabric).abs() < 0.01, "{file}: {area} m²");
            let again = read_obj(write_obj(garment).as_bytes(), file).unwrap();
            assert_eq!(again, reading, "{file}");
        }
    }

    /// The same garment with its pattern squeezed into the unit square, as a
    /// texture map would be.
    #[test]
    fn a_pattern_packed_into_the_unit_square_is_a_texture_map() {
        for file in ["tshirt.obj", "skirt.obj", "dress.obj", "pants.obj"] {
            let Some(bytes) = shared_garment(file) else {
                return;
            };
            let mut mesh = obj::read_obj(&bytes).unwrap().mesh;
            let high = mesh.texture.iter().fold(Vec2::ZERO, |h, t| h.max(*t));
            // Evenly shrunk: still a pattern in shape, so the note says so.
            for t in &mut mesh.texture {
                *t /= high.max_element();
            }
            let text = obj::write_obj(&mesh);
            let reading = read_obj(text.as_bytes(), file).unwrap();
            assert!(
                matches!(reading.pattern, PatternSource::UvMapIgnored { ratio }
                if (ratio * high.max_element() - 1.0).abs() < 0.01)
            );
            assert!(matches!(
                reading.notes[..],
                [GarmentNote::ScaledPattern { .. }]
            ));
            assert!(reading.garment.pattern().is_none());
            let told = read_obj_as(text.as_bytes(), file, TextureUse::Pattern).unwrap();
            assert_eq!(told.pattern, PatternSource::Flat);
            // Stretched to fill both directions: edges no longer agree.
            for t in &mut mesh.texture {
                t.y *= high.max_element() / high.y;
            }
            let reading = read_obj(obj::write_obj(&mesh).as_bytes(), file).unwrap();
            assert!(matches!(
                reading.pattern,
                PatternSource::UvMapIgnored { .. }
            ));
            assert!(reading.notes.is_empty());
        }
    }

    /// A square sheet of side `side` [m], with texture coordinates of side `flat`.
    fn sheet(side: f32, flat: f32) -> String {
        format!(
            "v 0 0 0\nv {side} 0 0\nv {side} {side} 0\nv 0 {side} 0\n\
             vt 0 0\nvt {flat} 0\nvt {flat} {flat}\nvt 0 {flat}\nf 1/1 2/2 3/3 4/4\n"
        )
    }

    #[test]
    fn the_bands_decide() {
        for (side, flat, expected) in [
            (2.0, 1.7, true),
            (2.0, 1.5, false),
            (2.0, 2.6, false),
            (1.1, 1.0, false),
            (1.03, 1.0, true),
            (0.5, 0.45, true),
            (100.0, 1.0, false),
            (2.0, 0.0, false),
        ] {
            let reading = read_obj(sheet(side, flat).as_bytes(), "sheet").unwrap();
            let flat_found = reading.pattern == PatternSource::Flat;
            assert_eq!(flat_found, expected, "{side} {flat}: {:?}", reading.pattern);
            assert_eq!(reading.garment.pattern().is_some(), expected);
        }
    }

    #[test]
    fn pins_are_the_groups_that_start_with_pin() {
        let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\ng pin_waist\np 3 1\np 1\ng hem\np 2\n\
                    g front\nf 1 2 3\np 2\n";
        let reading = read_obj(text.as_bytes(), "cloth").unwrap();
        let garment = &reading.garment;
        let names: Vec<&str> = pins(garment).map(|g| g.name.as_str()).collect();
        assert_eq!(names, ["pin_waist"]);
        assert_eq!(garment.group("pin_waist"), Some(&[0, 2][..]));
        assert_eq!(garment.group("hem"), Some(&[1][..]));
        assert_eq!(garment.panels().len(), 1);
        assert_eq!(garment.mesh().positions().len(), 4);
        assert_eq!(reading.notes, [GarmentNote::UnusedVertices { count: 1 }]);
        let again = read_obj(write_obj(garment).as_bytes(), "cloth").unwrap();
        let (first, mut second) = (garment.groups().to_vec(), again.garment.groups().to_vec());
        second.sort_by_key(|g| first.iter().position(|f| f.name == g.name));
        assert_eq!(first, second);
    }

    #[test]
    fn faces_without_coordinates_leave_no_pattern() {
        let text = format!("{}f 1 2 3\n", sheet(2.0, 2.0));
        let reading = read_obj(text.as_bytes(), "sheet").unwrap();
        assert_eq!(reading.pattern, PatternSource::None);
        assert!(
            reading
                .notes
                .contains(&GarmentNote::PartialPattern { count: 1 })
        );
        assert_eq!(
            read_obj_as(text.as_bytes(), "sheet", TextureUse::Pattern),
            Err(GarmentFileError::NoPattern { triangle: 2 })
        );
    }

    #[test]
    fn a_cloud_of_points_is_no_garment() {
        assert!(matches!(
            read_obj(b"v 0 0 0\nv 1 0 0\n", "cloud"),
            Err(GarmentFileError::Garment(GarmentError::Mesh(_)))
        ));
    }
}
