//! What moves with shape and pose: joints, shape directions, pose directions.

use drapery_store::npz::NpzArchive;
use glam::{DVec3, Vec3};

use super::{PoseDirections, SmplError, SmplNote, matrix3, wrong_shape};

/// The dense matrix from vertices to joints, if the file has it and doesn't say
/// directly where the joints are.
pub(super) fn regressor(
    archive: &NpzArchive,
    n_joints: usize,
    n_vertices: usize,
) -> Result<Option<Vec<f64>>, SmplError> {
    let says_joints = archive.contains("J");
    let says_directions = archive.contains("J_shapedirs") || !archive.contains("shapedirs");
    if !archive.contains("J_regressor") || (says_joints && says_directions) {
        return Ok(None);
    }
    let (shape, values) = archive.f64("J_regressor")?;
    match shape[..] == [n_joints, n_vertices] {
        true => Ok(Some(values)),
        false => Err(wrong_shape(
            "J_regressor",
            shape,
            format!("[{n_joints}, {n_vertices}]"),
        )),
    }
}

/// Joint by joint, Σ weight · vertex.
pub(super) fn regress(regressor: &[f64], vertices: &[Vec3]) -> Vec<Vec3> {
    regressor
        .chunks_exact(vertices.len())
        .map(|row| {
            let terms = row.iter().zip(vertices).filter(|(w, _)| **w != 0.0);
            let sum: DVec3 = terms.map(|(w, v)| v.as_dvec3() * *w).sum();
            sum.as_vec3()
        })
        .collect()
}

pub(super) fn rest_joints(
    archive: &NpzArchive,
    regressor: Option<&[f64]>,
    vertices: &[Vec3],
    n_joints: usize,
    notes: &mut Vec<SmplNote>,
) -> Result<Vec<Vec3>, SmplError> {
    match regressor {
        Some(regressor) if !archive.contains("J") => {
            notes.push(SmplNote::RegressedJoints);
            Ok(regress(regressor, vertices))
        }
        _ => {
            let joints = matrix3(archive, "J")?;
            match joints.len() == n_joints {
                true => Ok(joints),
                false => Err(wrong_shape(
                    "J",
                    vec![joints.len(), 3],
                    format!("[{n_joints}, 3]"),
                )),
            }
        }
    }
}

/// `shapedirs` as a list of displacements a parameter; none when absent.
pub(super) fn shape_directions(
    archive: &NpzArchive,
    n_vertices: usize,
) -> Result<Vec<Vec<Vec3>>, SmplError> {
    match archive.contains("shapedirs") {
        true => directions(archive, "shapedirs", n_vertices, None),
        false => Ok(Vec::new()),
    }
}

/// An array of shape [n, 3, k] as k lists of n displacements.
fn directions(
    archive: &NpzArchive,
    array: &'static str,
    n: usize,
    k: Option<usize>,
) -> Result<Vec<Vec<Vec3>>, SmplError> {
    let (shape, values) = archive.f32(array)?;
    match shape[..] {
        [rows, 3, found] if rows == n && k.is_none_or(|k| k == found) => {
            Ok(columns(&values, n, found))
        }
        _ => {
            let k = k.map_or("k".into(), |k| k.to_string());
            Err(wrong_shape(array, shape, format!("[{n}, 3, {k}]")))
        }
    }
}

/// Values of shape [n, 3, k] as k lists of n vectors.
fn columns(values: &[f32], n: usize, k: usize) -> Vec<Vec<Vec3>> {
    let at = |i: usize, axis: usize, column: usize| values[(3 * i + axis) * k + column];
    let vector = |i, column| Vec3::new(at(i, 0, column), at(i, 1, column), at(i, 2, column));
    (0..k)
        .map(|column| (0..n).map(|i| vector(i, column)).collect())
        .collect()
}

pub(super) fn joint_directions(
    archive: &NpzArchive,
    regressor: Option<&[f64]>,
    shape_directions: &[Vec<Vec3>],
    n_joints: usize,
) -> Result<Vec<Vec<Vec3>>, SmplError> {
    let n_shape = shape_directions.len();
    match regressor {
        _ if n_shape == 0 => Ok(Vec::new()),
        Some(regressor) if !archive.contains("J_shapedirs") => Ok(shape_directions
            .iter()
            .map(|direction| regress(regressor, direction))
            .collect()),
        // Without either array the joints could not follow the shape, and the
        // missing one is named.
        _ => directions(archive, "J_shapedirs", n_joints, Some(n_shape)),
    }
}

pub(super) fn pose_directions(
    archive: &NpzArchive,
    n_vertices: usize,
    n_joints: usize,
) -> Result<Option<PoseDirections>, SmplError> {
    if !archive.contains("posedirs") {
        return Ok(None);
    }
    let (shape, values) = archive.f32("posedirs")?;
    let n_features = 9 * n_joints.saturating_sub(1);
    if values.is_empty() {
        return Ok(None);
    }
    let directions = match shape[..] {
        [v, 3, n] if v == n_vertices && n == n_features => columns(&values, n_vertices, n),
        [n, width] if n == n_features && Some(width) == n_vertices.checked_mul(3) => values
            .chunks_exact(width)
            .map(|row| row.as_chunks::<3>().0.iter().map(|&d| d.into()).collect())
            .collect(),
        _ => {
            let expected = format!(
                "[{n_vertices}, 3, {n_features}] or [{n_features}, {}]",
                3 * n_vertices
            );
            return Err(wrong_shape("posedirs", shape, expected));
        }
    };
    Ok(Some(PoseDirections { directions }))
}
