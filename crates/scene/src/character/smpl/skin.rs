//! Skinning weights of an SMPL-layout file, dense or compact.

use drapery_core::SkinWeights;
use drapery_store::npz::NpzArchive;

use super::super::influences::count_influences;
use super::{SmplError, SmplNote, wrong_shape};

/// The weights of the file: four influences a vertex where that is enough, else
/// the eight strongest.
pub(super) fn skin(
    archive: &NpzArchive,
    n_vertices: usize,
    n_joints: usize,
    notes: &mut Vec<SmplNote>,
) -> Result<SkinWeights, SmplError> {
    let rows = match archive.contains("weights") || !archive.contains("skin_weights") {
        true => dense_rows(archive, n_vertices, n_joints)?,
        false => compact_rows(archive, n_vertices, n_joints)?,
    };
    let influences = count_influences(&rows);
    if influences.n_trimmed > 0 {
        notes.push(SmplNote::TrimmedWeights {
            vertices: influences.n_trimmed,
            largest: influences.largest,
        });
    }
    Ok(SkinWeights::new(influences.kept, n_joints, &rows)?)
}

fn dense_rows(
    archive: &NpzArchive,
    n_vertices: usize,
    n_joints: usize,
) -> Result<Vec<Vec<(u16, f32)>>, SmplError> {
    let (shape, values) = archive.f32("weights")?;
    if shape[..] != [n_vertices, n_joints] || n_joints == 0 {
        let expected = format!("[{n_vertices}, {n_joints}]");
        return Err(wrong_shape("weights", shape, expected));
    }
    let entries = |row: &[f32]| {
        let entries = row.iter().enumerate().filter(|(_, w)| **w != 0.0);
        entries.map(|(joint, &w)| (joint as u16, w)).collect()
    };
    Ok(values.chunks_exact(n_joints).map(entries).collect())
}

fn compact_rows(
    archive: &NpzArchive,
    n_vertices: usize,
    n_joints: usize,
) -> Result<Vec<Vec<(u16, f32)>>, SmplError> {
    let (shape, weights) = archive.f32("skin_weights")?;
    let (joints_shape, joints) = archive.i64("skin_joints")?;
    let width = match shape[..] {
        [n, width] if n == n_vertices && width > 0 => width,
        _ => {
            let expected = format!("[{n_vertices}, k]");
            return Err(wrong_shape("skin_weights", shape, expected));
        }
    };
    if joints_shape != shape {
        let expected = format!("[{n_vertices}, {width}]");
        return Err(wrong_shape("skin_joints", joints_shape, expected));
    }
    let mut rows = Vec::with_capacity(n_vertices);
    for (vertex, (joints, weights)) in joints
        .chunks_exact(width)
        .zip(weights.chunks_exact(width))
        .enumerate()
    {
        let entry = |(&joint, &weight): (&i64, &f32)| match u16::try_from(joint) {
            Ok(j) if usize::from(j) < n_joints => Ok((j, weight)),
            _ => Err(SmplError::SkinJoint {
                vertex,
                joint,
                n_joints,
            }),
        };
        // A joint beside a weight of 0 means nothing, whatever its number.
        let used = joints.iter().zip(weights).filter(|(_, w)| **w != 0.0);
        rows.push(used.map(entry).collect::<Result<_, _>>()?);
    }
    Ok(rows)
}
