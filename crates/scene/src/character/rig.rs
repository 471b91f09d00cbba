//! A skeleton and the skinning weights of garments, without a body:
//! [`read_rig`].
//!
//! | array | shape | |
//! |---|---|---|
//! | `J` | J × 3 | joints at rest [m] |
//! | `kintree_table` | 2 × J | parents in row 0; −1 or 4294967295 for the root |
//! | `weights`, or `weights/<garment>` | V × J | skinning weights of the garments' vertices |
//! | `joint_names` | J | optional |
//!
//! The garments themselves stand in the place of the body.

use drapery_core::{
    Garment, JointId, MeshError, Skeleton, SkeletonError, SkinWeights, SkinWeightsError, TriMesh,
};
use drapery_store::npz::{NpzArchive, NpzError};
use glam::Vec3;

use super::{Character, CharacterError, CharacterParts, WeldMap};

/// Why arrays are no skeleton with weights.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RigError {
    /// An array can't be read.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// An array of another shape.
    #[error("array {array} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// Which array.
        array: String,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be.
        expected: Vec<usize>,
    },
    /// The joints are no skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The weights are wrong.
    #[error(transparent)]
    Weights(#[from] SkinWeightsError),
    /// The garments make no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The parts don't go together.
    #[error(transparent)]
    Character(#[from] CharacterError),
}

/// A character whose mesh are the garments, one after the other.
///
/// # Errors
/// When an array is missing, of another shape or wrong.
pub fn read_rig(bytes: &[u8], garments: &[Garment], name: &str) -> Result<Character, RigError> {
    let archive = NpzArchive::from_bytes(bytes)?;
    let (found, joints) = archive.f32("J")?;
    let n_joints = joints.len() / 3;
    check("J", &found, &[n_joints, 3])?;
    let (found, parents) = archive.i64("kintree_table")?;
    check("kintree_table", &found, &[2, n_joints])?;
    let parents = parents[..n_joints].iter();
    let parent = |p: &i64| u16::try_from(*p).ok().map(JointId);
    let names = match archive.contains("joint_names") {
        true => archive.get("joint_names")?.text().map(<[String]>::to_vec),
        false => None,
    };
    let names = names.unwrap_or_else(|| (0..n_joints).map(|j| format!("joint-{j}")).collect());
    let rest = joints.as_chunks::<3>().0.iter();
    let rest: Vec<Vec3> = rest.map(|p| Vec3::from_array(*p)).collect();
    let skeleton = Skeleton::new(names, parents.map(parent).collect(), rest)?;
    let (mut positions, mut triangles, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for garment in garments {
        let own = format!("weights/{}", garment.name());
        let array = match archive.contains(&own) || garments.len() > 1 {
            true => own.as_str(),
            false => "weights",
        };
        let (found, values) = archive.f32(array)?;
        let mesh = garment.mesh();
        check(array, &found, &[mesh.positions().len(), n_joints])?;
        let first = positions.len() as u32;
        positions.extend_from_slice(mesh.positions());
        triangles.extend(mesh.triangles().iter().map(|t| t.map(|v| v + first)));
        weights.extend(values);
    }
    let joints = (0..positions.len()).flat_map(|_| 0..n_joints as u16);
    let skin = SkinWeights::from_arrays(n_joints, n_joints, joints.collect(), weights)?;
    let weld = WeldMap::identity(positions.len() as u32);
    Ok(Character::new(CharacterParts {
        name: name.to_string(),
        template: TriMesh::new(positions, triangles)?,
        skeleton,
        skin,
        shape_parameters: Vec::new(),
        shape_directions: Vec::new(),
        joint_directions: Vec::new(),
        pose_directions: None,
        weld,
    })?)
}

fn check(array: &str, found: &[usize], expected: &[usize]) -> Result<(), RigError> {
    match found == expected {
        true => Ok(()),
        false => Err(RigError::Shape {
            array: array.to_string(),
            found: found.to_vec(),
            expected: expected.to_vec(),
        }),
    }
}
