//! The body of a dataset: [`StoredBody`], all that it takes to pose it again.

use std::path::Path;
use std::sync::Arc;

use drapery_core::{JointId, ShapeParameter, Skeleton, SkinWeights, TriMesh};
use glam::Vec3;
use serde_json::{Value, json};
use zarrs::filesystem::FilesystemStore;

use super::arrays::{read_whole, write_whole};
use super::disk;
use super::error::DatasetError;
use super::garment::{MAX_MESH, corners, flat3, points, points3};

/// A body skinned by linear blending.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredBody {
    /// What it is called.
    pub name: String,
    /// Rest vertices [m] and triangles.
    pub template: TriMesh,
    /// Joints at rest.
    pub skeleton: Skeleton,
    /// Which joints the vertices follow.
    pub skin: SkinWeights,
    /// Names and ranges of the shape directions.
    pub shape_parameters: Vec<ShapeParameter>,
    /// Displacement per unit of each coefficient [m], shape [parameter][vertex].
    pub shape_directions: Vec<Vec<Vec3>>,
    /// Displacement of the joints [m], shape [parameter][joint].
    pub joint_directions: Vec<Vec<Vec3>>,
    /// Pose blend shapes [m], shape [feature][vertex]; empty without.
    pub pose_directions: Vec<Vec<Vec3>>,
    /// The vertex of each vertex of the character's file, shape [source vertex].
    pub welded_from_source: Vec<u32>,
}

const FOLDER: &str = "body";

impl StoredBody {
    /// Writes it to `body` in the folder that is the root of a store.
    pub(super) fn write(
        &self,
        folder: &Path,
        store: &Arc<FilesystemStore>,
    ) -> Result<(), DatasetError> {
        let n_vertices = self.template.positions().len() as u64;
        let n_joints = self.skeleton.len() as u64;
        let triangles = self.template.triangles();
        let floats = |name: &str, shape: &[u64], axes: &[&str], values: &[f32]| {
            write_whole(store, &format!("{FOLDER}/{name}"), shape, axes, values)
        };
        let numbers = |name: &str, shape: &[u64], axes: &[&str], values: &[u32]| {
            write_whole(store, &format!("{FOLDER}/{name}"), shape, axes, values)
        };
        let point = ["vertex", "axis"];
        floats(
            "template",
            &[n_vertices, 3],
            &point,
            &flat3(self.template.positions()),
        )?;
        let corner = ["triangle", "corner"];
        numbers(
            "triangles",
            &[triangles.len() as u64, 3],
            &corner,
            triangles.as_flattened(),
        )?;
        floats(
            "joints",
            &[n_joints, 3],
            &["joint", "axis"],
            &flat3(self.skeleton.rest()),
        )?;
        let n_influences = self.skin.n_influences() as u64;
        let influence = ["vertex", "influence"];
        let joints: Vec<u32> = self.skin.joints().iter().map(|j| u32::from(*j)).collect();
        numbers(
            "skin_joints",
            &[n_vertices, n_influences],
            &influence,
            &joints,
        )?;
        floats(
            "skin_weights",
            &[n_vertices, n_influences],
            &influence,
            self.skin.weights(),
        )?;
        let sources = self.welded_from_source.len() as u64;
        numbers(
            "welded_from_source",
            &[sources],
            &["source"],
            &self.welded_from_source,
        )?;
        for (name, axis, rows) in self.directions() {
            if let Some(first) = rows.first() {
                let flat: Vec<f32> = rows.iter().flat_map(|row| flat3(row)).collect();
                let shape = [rows.len() as u64, first.len() as u64, 3];
                floats(name, &shape, &["direction", axis, "axis"], &flat)?;
            }
        }
        let parents = self.skeleton.parents().iter();
        let parameters = self.shape_parameters.iter();
        let attributes = json!({
            "name": self.name,
            "units": "m",
            "joint_names": self.skeleton.names(),
            "parents": parents.map(|p| p.map(JointId::index)).collect::<Vec<_>>(),
            "shape_parameters": parameters
                .map(|p| json!({ "name": p.name, "min": p.min, "max": p.max }))
                .collect::<Vec<_>>(),
        });
        let path = folder.join(FOLDER).join(disk::METADATA);
        disk::write(&path, &disk::group(&attributes))
    }

    fn directions(&self) -> [(&'static str, &'static str, &[Vec<Vec3>]); 3] {
        [
            ("shape_directions", "vertex", &self.shape_directions),
            ("joint_directions", "joint", &self.joint_directions),
            ("pose_directions", "vertex", &self.pose_directions),
        ]
    }

    /// Reads it from where it was written.
    pub(super) fn read(folder: &Path, store: &Arc<FilesystemStore>) -> Result<Self, DatasetError> {
        let attributes = disk::attributes(&folder.join(FOLDER))?;
        let missing = |key, expected| DatasetError::Attribute {
            key,
            expected,
            path: folder.join(FOLDER).join(disk::METADATA),
        };
        let at = |name: &str| format!("{FOLDER}/{name}");
        let template = TriMesh::new(
            points(store, &at("template"))?,
            corners(store, &at("triangles"))?,
        )?;
        let list = |key: &'static str| {
            let list = attributes[key].as_array();
            list.ok_or_else(|| missing(key, "a list"))
        };
        let names = list("joint_names")?.iter();
        let names = names.map(|n| n.as_str().map(str::to_string));
        let names = names.collect::<Option<Vec<String>>>();
        let names = names.ok_or_else(|| missing("joint_names", "a list of texts"))?;
        let parents = list("parents")?
            .iter()
            .map(parent)
            .collect::<Option<Vec<_>>>();
        let parents = parents.ok_or_else(|| missing("parents", "a list of joints"))?;
        let skeleton = Skeleton::new(names, parents, points(store, &at("joints"))?)?;
        let (shape, joints) = read_whole::<u32>(store, &at("skin_joints"), MAX_MESH)?;
        let (weights_shape, weights) = read_whole::<f32>(store, &at("skin_weights"), MAX_MESH)?;
        let joints = joints
            .into_iter()
            .map(u16::try_from)
            .collect::<Result<Vec<u16>, _>>();
        let joints = joints.map_err(|_| DatasetError::Value {
            array: at("skin_joints"),
            row: 0,
            expected: "joint",
        })?;
        let n_vertices = template.positions().len() as u64;
        let n_influences = match shape[..] {
            [n, influences] if n == n_vertices && influences > 0 && weights_shape == shape => {
                influences as usize
            }
            _ => {
                return Err(DatasetError::Shape {
                    array: at("skin_weights"),
                    found: weights_shape,
                    expected: vec![n_vertices, shape.get(1).copied().unwrap_or(1)],
                });
            }
        };
        let skin = SkinWeights::from_arrays(n_influences, skeleton.len(), joints, weights)?;
        let parameters = list("shape_parameters")?.iter().map(|p| {
            Some(ShapeParameter {
                name: p["name"].as_str()?.to_string(),
                min: p["min"].as_f64()? as f32,
                max: p["max"].as_f64()? as f32,
            })
        });
        let shape_parameters = parameters.collect::<Option<Vec<_>>>();
        let shape_parameters = shape_parameters
            .ok_or_else(|| missing("shape_parameters", "a list of names and ranges"))?;
        let directions = |name: &str| -> Result<Vec<Vec<Vec3>>, DatasetError> {
            if !folder.join(at(name)).is_dir() {
                return Ok(Vec::new());
            }
            let (shape, flat) = read_whole::<f32>(store, &at(name), MAX_MESH)?;
            match shape[..] {
                [_, n, 3] if n > 0 => {
                    let rows = flat.chunks_exact(3 * n as usize);
                    Ok(rows.map(points3).collect())
                }
                _ => Err(DatasetError::Shape {
                    array: at(name),
                    expected: vec![shape.first().copied().unwrap_or(0), 1, 3],
                    found: shape,
                }),
            }
        };
        let name = attributes["name"].as_str();
        Ok(Self {
            name: name.ok_or_else(|| missing("name", "a text"))?.to_string(),
            template,
            skeleton,
            skin,
            shape_parameters,
            shape_directions: directions("shape_directions")?,
            joint_directions: directions("joint_directions")?,
            pose_directions: directions("pose_directions")?,
            welded_from_source: read_whole(store, &at("welded_from_source"), MAX_MESH)?.1,
        })
    }
}

/// A joint's parent; null for the root.
fn parent(value: &Value) -> Option<Option<JointId>> {
    match value {
        Value::Null => Some(None),
        other => {
            let joint = u16::try_from(other.as_u64()?).ok()?;
            Some(Some(JointId(joint)))
        }
    }
}
