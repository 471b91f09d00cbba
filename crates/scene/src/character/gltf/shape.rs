//! Morph targets of a glTF character as shape parameters.
//!
//! Meshes of one skin share parameters by name: a body and its eyes that both
//! have a target `old` grow old together.

use std::collections::{HashMap, HashSet};

use drapery_core::ShapeParameter;
use drapery_store::gltf::{GltfDocument, GltfMesh};
use glam::Vec3;
use serde_json::Value;

use super::notes::GltfNote;
use super::rig::BuiltRig;
use super::{GltfCharacterError, Source, displaced};

/// The shape space of all meshes of a character.
pub(super) struct Shape {
    pub(super) parameters: Vec<ShapeParameter>,
    /// The shape in which the file shows the body.
    pub(super) default: Vec<f32>,
    /// Displacements in mesh space, shape [parameter][source vertex].
    pub(super) directions: Vec<Vec<Vec3>>,
    /// Displacements of the joints [m], shape [parameter][joint].
    pub(super) joint_directions: Vec<Vec<Vec3>>,
}

/// Displacements of all parameters together: 1.5 GB.
const MAX_DISPLACEMENTS: usize = 1 << 27;

pub(super) fn read(
    document: &GltfDocument,
    source: &Source<'_>,
    built: &BuiltRig,
    notes: &mut Vec<GltfNote>,
) -> Result<Shape, GltfCharacterError> {
    let mut shape = Shape {
        parameters: Vec::new(),
        default: Vec::new(),
        directions: Vec::new(),
        joint_directions: Vec::new(),
    };
    let mut known: HashMap<String, usize> = HashMap::new();
    let n_joints = built.rest.len();
    // Every parameter is stored for all meshes, also those that lack its target.
    let names: HashSet<String> = source
        .meshes
        .iter()
        .flat_map(|&(mesh, _)| target_names(&document.meshes[mesh as usize]))
        .collect();
    if names.len().saturating_mul(source.n_vertices) > MAX_DISPLACEMENTS {
        return Err(GltfCharacterError::TooManyTargets {
            n_parameters: names.len(),
            n_vertices: source.n_vertices,
            limit: MAX_DISPLACEMENTS,
        });
    }
    for &(mesh, first) in &source.meshes {
        let content = &document.meshes[mesh as usize];
        let n_targets = content.n_targets as usize;
        if content.weights.iter().take(n_targets).any(|&w| w != 0.0) {
            notes.push(GltfNote::DefaultShape { mesh });
        }
        let joints = joint_displacements(mesh, content, built)?;
        for (target, name) in target_names(content).into_iter().enumerate() {
            let parameter = *known.entry(name.clone()).or_insert_with(|| {
                let (min, max) = range(&content.extras, target, &name).unwrap_or((-1.0, 1.0));
                shape.parameters.push(ShapeParameter { name, min, max });
                let default = content.weights.get(target).copied().unwrap_or(0.0);
                shape.default.push(default);
                shape.directions.push(vec![Vec3::ZERO; source.n_vertices]);
                shape.joint_directions.push(vec![Vec3::ZERO; n_joints]);
                shape.parameters.len() - 1
            });
            let mut at = first;
            for primitive in &content.primitives {
                let displacements = &primitive.targets[target];
                shape.directions[parameter][at..at + displacements.len()]
                    .copy_from_slice(displacements);
                at += displacements.len();
            }
            if let Some(joints) = &joints {
                shape.joint_directions[parameter].clone_from(&joints[target]);
            }
        }
    }
    Ok(shape)
}

/// Names of the targets, each once.
fn target_names(mesh: &GltfMesh) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(mesh.n_targets as usize);
    let mut taken: HashMap<String, u32> = HashMap::new();
    for target in 0..mesh.n_targets as usize {
        let wish = mesh.target_names.get(target).filter(|n| !n.is_empty());
        let base = wish.map_or_else(|| format!("shape_{target}"), String::clone);
        let mut name = base.clone();
        while let Some(copies) = taken.get_mut(&name) {
            *copies += 1;
            name = format!("{base}_{copies}");
        }
        taken.insert(name.clone(), 1);
        names.push(name);
    }
    names
}

/// The range that the file gives for a target, by its index or name.
fn range(extras: &Value, target: usize, name: &str) -> Option<(f32, f32)> {
    ["shape_range", "target_ranges"].iter().find_map(|key| {
        let ranges = &extras[*key];
        let range = if ranges.is_array() {
            &ranges[target]
        } else {
            &ranges[name]
        };
        let (min, max) = (range[0].as_f64()? as f32, range[1].as_f64()? as f32);
        (min.is_finite() && max.is_finite() && min <= max).then_some((min, max))
    })
}

/// Joint displacements of every target [m], shape [target][joint], if the
/// file has any.
fn joint_displacements(
    mesh: u32,
    content: &GltfMesh,
    built: &BuiltRig,
) -> Result<Option<Vec<Vec<Vec3>>>, GltfCharacterError> {
    let stated = &content.extras["joint_shapedirs"];
    let rows = if stated.is_object() {
        &stated["data"]
    } else {
        stated
    };
    if rows.is_null() {
        return Ok(None);
    }
    let n_joints = built.rest.len();
    let n_targets = content.n_targets as usize;
    let wrong = || GltfCharacterError::JointDisplacements {
        mesh,
        n_joints,
        n_targets,
    };
    let rows = rows.as_array().filter(|r| r.len() == n_joints);
    let mut directions = vec![vec![Vec3::ZERO; n_joints]; n_targets];
    for (entry, row) in rows.ok_or_else(wrong)?.iter().enumerate() {
        let axes = row.as_array().filter(|axes| axes.len() == 3);
        let axes = axes.ok_or_else(wrong)?;
        if axes
            .iter()
            .any(|axis| axis.as_array().is_none_or(|a| a.len() != n_targets))
        {
            return Err(wrong());
        }
        let joint = usize::from(built.rig.joint_from_skin[entry]);
        for (target, direction) in directions.iter_mut().enumerate() {
            let mut numbers = [0.0; 3];
            for (number, axis) in numbers.iter_mut().zip(axes) {
                *number = axis[target].as_f64().ok_or_else(wrong)?;
            }
            let moved = displaced(&built.world_from_mesh, numbers);
            if !moved.is_finite() {
                return Err(wrong());
            }
            direction[joint] = moved;
        }
    }
    Ok(Some(directions))
}
