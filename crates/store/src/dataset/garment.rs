//! The garments of a dataset: [`StoredGarment`].

use std::path::Path;
use std::sync::Arc;

use drapery_core::{Fabric, Garment, Panel, Pattern, TriMesh, VertexGroup};
use glam::{Vec2, Vec3};
use serde_json::{Value, json};
use zarrs::filesystem::FilesystemStore;

use super::arrays::{read_whole, write_whole};
use super::disk;
use super::error::DatasetError;

/// The most numbers that a mesh has in an array.
pub(super) const MAX_MESH: u64 = 1 << 28;

/// A garment and what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredGarment {
    /// The garment as it lies on the body that it was made for.
    pub garment: Garment,
    /// Its fabric.
    pub fabric: Fabric,
    /// The garment of which this is the twin: the same in another fineness,
    /// simulated beside it and by itself.
    pub twin_of: Option<String>,
}

impl StoredGarment {
    /// How many vertices it has.
    pub fn n_vertices(&self) -> usize {
        self.garment.mesh().positions().len()
    }

    /// Writes it to a folder, the root of a store.
    pub(super) fn write(
        &self,
        folder: &Path,
        store: &Arc<FilesystemStore>,
        at: &str,
    ) -> Result<(), DatasetError> {
        let garment = &self.garment;
        let triangles = garment.mesh().triangles();
        let n_triangles = triangles.len() as u64;
        let positions = flat3(garment.mesh().positions());
        write_whole(
            store,
            &format!("{at}/rest"),
            &[self.n_vertices() as u64, 3],
            &["vertex", "axis"],
            &positions,
        )?;
        write_whole(
            store,
            &format!("{at}/triangles"),
            &[n_triangles, 3],
            &["triangle", "corner"],
            triangles.as_flattened(),
        )?;
        if let Some(pattern) = garment.pattern() {
            let coordinates: Vec<f32> = pattern
                .coordinates
                .iter()
                .flat_map(|c| [c.x, c.y])
                .collect();
            write_whole(
                store,
                &format!("{at}/pattern"),
                &[pattern.coordinates.len() as u64, 2],
                &["coordinate", "axis"],
                &coordinates,
            )?;
            write_whole(
                store,
                &format!("{at}/pattern_triangles"),
                &[n_triangles, 3],
                &["triangle", "corner"],
                pattern.triangles.as_flattened(),
            )?;
        }
        let panels = garment.panels().iter();
        let groups = garment.groups().iter();
        let mut attributes = json!({
            "name": garment.name(),
            "units": "m",
            "panels": panels
                .map(|p| json!({ "name": p.name, "triangles": p.triangles }))
                .collect::<Vec<_>>(),
            "groups": groups
                .map(|g| json!({ "name": g.name, "vertices": g.vertices }))
                .collect::<Vec<_>>(),
            "fabric": fabric_constants(&self.fabric),
        });
        if let Some(of) = &self.twin_of {
            attributes["twin_of"] = of.as_str().into();
        }
        disk::write(
            &folder.join(at).join(disk::METADATA),
            &disk::group(&attributes),
        )
    }

    /// Reads it from where it was written.
    pub(super) fn read(
        folder: &Path,
        store: &Arc<FilesystemStore>,
        at: &str,
    ) -> Result<Self, DatasetError> {
        let attributes = disk::attributes(&folder.join(at))?;
        let missing = |key, expected| DatasetError::Attribute {
            key,
            expected,
            path: folder.join(at).join(disk::METADATA),
        };
        let name = attributes["name"].as_str();
        let name = name.ok_or_else(|| missing("name", "a text"))?.to_string();
        let wrong = |source| DatasetError::Garment {
            garment: name.clone(),
            source,
        };
        let positions = points(store, &format!("{at}/rest"))?;
        let triangles = corners(store, &format!("{at}/triangles"))?;
        let mesh = TriMesh::new(positions, triangles).map_err(|e| wrong(e.into()))?;
        let pattern = match folder.join(at).join("pattern").is_dir() {
            true => {
                let (shape, flat) = read_whole::<f32>(store, &format!("{at}/pattern"), MAX_MESH)?;
                check_width(&format!("{at}/pattern"), &shape, 2)?;
                Some(Pattern {
                    coordinates: flat.chunks_exact(2).map(Vec2::from_slice).collect(),
                    triangles: corners(store, &format!("{at}/pattern_triangles"))?,
                })
            }
            false => None,
        };
        let named = |key: &'static str, members: &'static str| {
            let list = attributes[key].as_array();
            let list = list.ok_or_else(|| missing(key, "a list"))?;
            list.iter()
                .map(|entry| {
                    let name = entry["name"].as_str().map(str::to_string);
                    let members = numbers(&entry[members]);
                    name.zip(members)
                        .ok_or_else(|| missing(key, "of names with numbers"))
                })
                .collect::<Result<Vec<(String, Vec<u32>)>, DatasetError>>()
        };
        let panels = named("panels", "triangles")?
            .into_iter()
            .map(|(name, triangles)| Panel { name, triangles })
            .collect();
        let groups = named("groups", "vertices")?
            .into_iter()
            .map(|(name, vertices)| VertexGroup { name, vertices })
            .collect();
        let fabric = fabric_of(&attributes["fabric"])
            .filter(|fabric| fabric.check().is_ok())
            .ok_or_else(|| missing("fabric", "the constants of a fabric"))?;
        let twin_of = match &attributes["twin_of"] {
            Value::Null => None,
            Value::String(of) => Some(of.clone()),
            _ => return Err(missing("twin_of", "a text")),
        };
        let garment = Garment::new(name.clone(), mesh, pattern, panels, groups).map_err(wrong)?;
        Ok(Self {
            garment,
            fabric,
            twin_of,
        })
    }
}

fn numbers(value: &Value) -> Option<Vec<u32>> {
    let list = value.as_array()?.iter();
    list.map(|n| n.as_u64().and_then(|n| u32::try_from(n).ok()))
        .collect()
}

/// Coordinates one after the other.
pub(super) fn flat3(points: &[Vec3]) -> Vec<f32> {
    points.iter().flat_map(Vec3::to_array).collect()
}

pub(super) fn points3(flat: &[f32]) -> Vec<Vec3> {
    flat.chunks_exact(3).map(Vec3::from_slice).collect()
}

/// An array of points.
pub(super) fn points(store: &Arc<FilesystemStore>, name: &str) -> Result<Vec<Vec3>, DatasetError> {
    let (shape, flat) = read_whole::<f32>(store, name, MAX_MESH)?;
    check_width(name, &shape, 3)?;
    Ok(points3(&flat))
}

/// An array of triangles.
pub(super) fn corners(
    store: &Arc<FilesystemStore>,
    name: &str,
) -> Result<Vec<[u32; 3]>, DatasetError> {
    let (shape, flat) = read_whole::<u32>(store, name, MAX_MESH)?;
    check_width(name, &shape, 3)?;
    Ok(flat.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect())
}

fn check_width(name: &str, shape: &[u64], width: u64) -> Result<(), DatasetError> {
    match shape {
        [_, found] if *found == width => Ok(()),
        _ => Err(DatasetError::Shape {
            array: name.to_string(),
            found: shape.to_vec(),
            expected: vec![shape.first().copied().unwrap_or(0), width],
        }),
    }
}

/// The constants of a fabric, with their units in the keys as in its own file.
pub fn fabric_constants(fabric: &Fabric) -> Value {
    let mut object = json!({ "name": fabric.name });
    for (key, value) in FABRIC_KEYS.iter().zip(constants(&mut fabric.clone())) {
        object[*key] = (*value).into();
    }
    object
}

const FABRIC_KEYS: [&str; 12] = [
    "density_kg_m2",
    "stretch_weft_n_per_m",
    "stretch_warp_n_per_m",
    "stretch_coupling_n_per_m",
    "shear_n_per_m",
    "bending_weft_n_m",
    "bending_warp_n_m",
    "bending_coupling_n_m",
    "bending_twist_n_m",
    "damping_s",
    "friction",
    "thickness_m",
];

/// The constants in the order of their keys.
const fn constants(fabric: &mut Fabric) -> [&mut f64; 12] {
    [
        &mut fabric.density,
        &mut fabric.stretch_weft,
        &mut fabric.stretch_warp,
        &mut fabric.stretch_coupling,
        &mut fabric.shear,
        &mut fabric.bending_weft,
        &mut fabric.bending_warp,
        &mut fabric.bending_coupling,
        &mut fabric.bending_twist,
        &mut fabric.damping,
        &mut fabric.friction,
        &mut fabric.thickness,
    ]
}

fn fabric_of(value: &Value) -> Option<Fabric> {
    let mut fabric = Fabric::plain(value["name"].as_str()?, 0.0, 0.0, 0.0);
    for (key, constant) in FABRIC_KEYS.iter().zip(constants(&mut fabric)) {
        *constant = value[*key].as_f64()?;
    }
    Some(fabric)
}
