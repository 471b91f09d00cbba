//! Characters from SMPL-layout `.npz` files.
//!
//! V vertices, F triangles, J joints, K shape directions:
//!
//! | array                        | shape                            | meaning                                  |
//! |------------------------------|----------------------------------|------------------------------------------|
//! | `v_template`                 | V × 3                            | rest vertices [m]                        |
//! | `f`                          | F × 3                            | triangles                                |
//! | `kintree_table`              | 2 × J                            | parent (−1 or 2³²−1 for the root), own number |
//! | `weights`                    | V × J                            | skinning weights; or                     |
//! | `skin_joints`, `skin_weights` | V × any                         | the same in compact form                 |
//! | `J`                          | J × 3                            | joints at rest [m]; or                   |
//! | `J_regressor`                | J × V                            | joints from vertices (dense)             |
//! | `shapedirs`                  | V × 3 × K                        | displacement per unit of shape [m]; optional |
//! | `J_shapedirs`                | J × 3 × K                        | the same of joints; else J_regressor · shapedirs |
//! | `posedirs`                   | V × 3 × 9(J−1), or 9(J−1) × 3V   | pose blend shapes [m]; absent or empty for none |
//! | `joint_names`, `shape_names` | J, K                             | optional                                 |
//! | `shape_range`                | K × 2                            | optional; ±2 without                     |
//!
//! The file is taken to be y-up, facing +z, in metres, as SMPL is; its origin
//! may be at the pelvis, so the body is lifted until its lowest vertex stands
//! on y = 0. What was done or assumed comes back as [`SmplNote`]s. Pickled
//! `.pkl` files are not read.

mod directions;
mod names;
mod skin;

use std::fmt;

use drapery_core::{
    JointId, MeshError, ShapeParameter, Skeleton, SkeletonError, SkinWeightsError, TriMesh,
};
use drapery_store::npz::{NpyData, NpzArchive, NpzError};
use glam::Vec3;

use super::{Character, CharacterError, CharacterParts, PoseDirections, WeldMap};
use directions::{joint_directions, pose_directions, regressor, rest_joints, shape_directions};
use names::{joint_names, numbered};
use skin::skin;

/// A body whose lowest vertex is this close to y = 0 stands already [m].
const FLOOR_TOLERANCE: f32 = 1e-3;

/// The range of a coefficient when the file gives none: SMPL's directions are
/// scaled to one standard deviation of the people they were made from.
const DEFAULT_RANGE: f32 = 2.0;

/// A character, and how its file was understood.
#[derive(Clone, Debug)]
pub struct SmplReading {
    /// The character.
    pub character: Character,
    /// What was done or assumed.
    pub notes: Vec<SmplNote>,
}

/// Something done or assumed while reading a character.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SmplNote {
    /// The body was moved up (or down) to stand on y = 0.
    MovedToFloor {
        /// How far up [m].
        up: f32,
    },
    /// The joints were named after SMPL, SMPL-H or SMPL-X, or numbered.
    NamedJoints {
        /// How many joints there are.
        count: usize,
    },
    /// Joints were computed from the vertices, as the file has no `J`.
    RegressedJoints,
    /// Coefficients were given the range ±2, as the file has no `shape_range`.
    AssumedRange,
    /// Vertices that follow more than eight joints keep the eight strongest.
    TrimmedWeights {
        /// How many vertices.
        vertices: usize,
        /// The largest share that one of them lost.
        largest: f32,
    },
}

impl fmt::Display for SmplNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MovedToFloor { up } => {
                write!(
                    f,
                    "moved by {up:+.3} m in y so that the body stands on y = 0"
                )
            }
            Self::NamedJoints { count } => match count {
                24 => write!(f, "24 joints named as in SMPL"),
                52 => write!(f, "52 joints named as in SMPL-H"),
                55 => write!(f, "55 joints named as in SMPL-X"),
                _ => write!(f, "{count} joints without names are numbered"),
            },
            Self::RegressedJoints => write!(f, "joints computed from the vertices"),
            Self::AssumedRange => write!(
                f,
                "no range of the shape coefficients given, ±{DEFAULT_RANGE} assumed"
            ),
            Self::TrimmedWeights { vertices, largest } => write!(
                f,
                "{vertices} vertices follow more than 8 joints; the weakest are dropped, \
                 at most {:.2} % of a vertex",
                100.0 * largest
            ),
        }
    }
}

/// Why a file is not an SMPL-layout character.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SmplError {
    /// The archive or one of its arrays can't be read.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// An array has another shape than it should.
    #[error("array {array} has shape {found:?}, expected {expected}")]
    Shape {
        /// The array's name.
        array: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be.
        expected: String,
    },
    /// An array of names holds no text.
    #[error("array {array} holds no text")]
    NotText {
        /// The array's name.
        array: &'static str,
    },
    /// A triangle names a vertex that is not there.
    #[error("array f: triangle {triangle} names vertex {vertex}, but there are only {n_vertices}")]
    Triangle {
        /// The triangle's index.
        triangle: usize,
        /// The vertex it names.
        vertex: i64,
        /// How many there are.
        n_vertices: usize,
    },
    /// A parent that is not a joint.
    #[error("array kintree_table: joint {joint} has parent {parent}, which is not a joint")]
    Parent {
        /// The joint's index.
        joint: usize,
        /// The parent it names.
        parent: i64,
    },
    /// A vertex follows a joint that is not there.
    #[error(
        "array skin_joints: vertex {vertex} follows joint {joint}, but there are only {n_joints}"
    )]
    SkinJoint {
        /// The vertex's index.
        vertex: usize,
        /// The joint it names.
        joint: i64,
        /// How many there are.
        n_joints: usize,
    },
    /// A range whose ends are the wrong way round.
    #[error("array shape_range: parameter {parameter} runs from {min} to {max}")]
    Range {
        /// The parameter's index.
        parameter: usize,
        /// Its smallest value.
        min: f32,
        /// Its largest value.
        max: f32,
    },
    /// The vertices and triangles are no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The joints are no tree.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The skinning weights are wrong.
    #[error(transparent)]
    Skin(#[from] SkinWeightsError),
    /// The parts don't fit each other.
    #[error(transparent)]
    Character(#[from] CharacterError),
}

/// The character in the bytes of an SMPL-layout `.npz` file, under the given
/// name.
///
/// # Errors
/// When an array is missing or of the wrong shape, an index is out of range, a
/// number is not finite, or a joint does not come after its parent; the error
/// names the array, and the vertex or joint.
///
/// ```
/// use drapery_core::BodyModel;
/// use drapery_scene::character::read_smpl;
/// use drapery_store::npz::{NpyArray, write_npz};
///
/// // One triangle on one joint, with its lowest corner at y = −1.
/// let corners = vec![0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
/// let bytes = write_npz(&[
///     ("v_template", &NpyArray::f32([3, 3], corners)),
///     ("f", &NpyArray::i64([1, 3], vec![0, 1, 2])),
///     ("weights", &NpyArray::f32([3, 1], vec![1.0; 3])),
///     ("J", &NpyArray::f32([1, 3], vec![0.0; 3])),
///     ("kintree_table", &NpyArray::i64([2, 1], vec![-1, 0])),
/// ])?;
/// let reading = read_smpl(&bytes, "triangle")?;
/// assert_eq!(reading.character.skeleton().rest()[0].y, 1.0);
/// for note in &reading.notes {
///     println!("{note}"); // moved by +1.000 m in y …
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_smpl(bytes: &[u8], name: &str) -> Result<SmplReading, SmplError> {
    let archive = NpzArchive::from_bytes(bytes)?;
    let mut notes = Vec::new();
    let mut positions = matrix3(&archive, "v_template")?;
    let n_vertices = positions.len();
    if n_vertices == 0 {
        return Err(MeshError::Empty { what: "vertices" }.into());
    }
    let triangles = triangles(&archive, n_vertices)?;
    let parents = parents(&archive)?;
    let n_joints = parents.len();
    let regressor = regressor(&archive, n_joints, n_vertices)?;
    let mut joints = rest_joints(
        &archive,
        regressor.as_deref(),
        &positions,
        n_joints,
        &mut notes,
    )?;
    let shape_directions = shape_directions(&archive, n_vertices)?;
    let n_shape = shape_directions.len();
    let joint_directions =
        joint_directions(&archive, regressor.as_deref(), &shape_directions, n_joints)?;
    let pose_directions = pose_directions(&archive, n_vertices, n_joints)?;
    let skin = skin(&archive, n_vertices, n_joints, &mut notes)?;
    let joint_names = match texts(&archive, "joint_names", n_joints)? {
        Some(names) => names,
        None => {
            notes.push(SmplNote::NamedJoints { count: n_joints });
            joint_names(n_joints)
        }
    };
    let shape_parameters = shape_parameters(&archive, n_shape, &mut notes)?;

    let lowest = positions.iter().fold(f32::INFINITY, |low, p| low.min(p.y));
    if lowest.is_finite() && lowest.abs() > FLOOR_TOLERANCE {
        for p in positions.iter_mut().chain(&mut joints) {
            p.y -= lowest;
        }
        notes.push(SmplNote::MovedToFloor { up: -lowest });
    }

    let character = Character::new(CharacterParts {
        name: name.into(),
        template: TriMesh::new(positions, triangles)?,
        skeleton: Skeleton::new(joint_names, parents, joints)?,
        skin,
        shape_parameters,
        shape_directions,
        joint_directions,
        pose_directions,
        weld: WeldMap::identity(n_vertices as u32),
    })?;
    Ok(SmplReading { character, notes })
}

fn wrong_shape(array: &'static str, found: Vec<usize>, expected: String) -> SmplError {
    SmplError::Shape {
        array,
        found,
        expected,
    }
}

/// An array of shape [n, 3].
fn matrix3(archive: &NpzArchive, array: &'static str) -> Result<Vec<Vec3>, SmplError> {
    let (shape, values) = archive.f32(array)?;
    match shape[..] {
        [_, 3] => Ok(values
            .as_chunks::<3>()
            .0
            .iter()
            .map(|&p| p.into())
            .collect()),
        _ => Err(wrong_shape(array, shape, "[n, 3]".into())),
    }
}

fn triangles(archive: &NpzArchive, n_vertices: usize) -> Result<Vec<[u32; 3]>, SmplError> {
    let (shape, values) = archive.i64("f")?;
    if !matches!(shape[..], [_, 3]) {
        return Err(wrong_shape("f", shape, "[n, 3]".into()));
    }
    let corner = |(i, &vertex): (usize, &i64)| match u32::try_from(vertex) {
        Ok(v) if (v as usize) < n_vertices => Ok(v),
        _ => Err(SmplError::Triangle {
            triangle: i / 3,
            vertex,
            n_vertices,
        }),
    };
    let corners = values.iter().enumerate().map(corner);
    let corners: Vec<u32> = corners.collect::<Result<_, _>>()?;
    Ok(corners.as_chunks::<3>().0.to_vec())
}

/// The parents of the joints; the numbers of row 0 are looked up in row 1.
fn parents(archive: &NpzArchive) -> Result<Vec<Option<JointId>>, SmplError> {
    let mut table = archive.get("kintree_table")?;
    // The root's −1 may have been wrapped by an unsigned type.
    if let NpyData::U64(values) = table.data {
        table.data = NpyData::I64(values.into_iter().map(|v| v as i64).collect());
    }
    let [2, n_joints] = table.shape[..] else {
        return Err(wrong_shape("kintree_table", table.shape, "[2, n]".into()));
    };
    let values = table.into_i64().map_err(|error| NpzError::Array {
        name: "kintree_table".into(),
        error,
    })?;
    match n_joints {
        0 => return Err(SkeletonError::Empty.into()),
        // The search below is for the few joints of a real skeleton.
        1..=Skeleton::MAX_JOINTS => {}
        _ => return Err(SkeletonError::TooMany(n_joints).into()),
    }
    let (row, own) = values.split_at(n_joints);
    let in_order = own.iter().enumerate().all(|(i, &id)| id == i as i64);
    let parent = |(joint, &parent): (usize, &i64)| {
        if parent == -1 || parent == i64::from(u32::MAX) {
            return Ok(None);
        }
        let column = match in_order {
            true => usize::try_from(parent).ok().filter(|&p| p < n_joints),
            false => own.iter().position(|&id| id == parent),
        };
        let id = column.and_then(|c| u16::try_from(c).ok());
        id.map(|id| Some(JointId(id)))
            .ok_or(SmplError::Parent { joint, parent })
    };
    row.iter().enumerate().map(parent).collect()
}

fn texts(
    archive: &NpzArchive,
    array: &'static str,
    n: usize,
) -> Result<Option<Vec<String>>, SmplError> {
    if !archive.contains(array) {
        return Ok(None);
    }
    let names = archive.get(array)?;
    let NpyData::Text(text) = names.data else {
        return Err(SmplError::NotText { array });
    };
    match names.shape[..] == [n] {
        true => Ok(Some(text)),
        false => Err(wrong_shape(array, names.shape, format!("[{n}]"))),
    }
}

fn shape_parameters(
    archive: &NpzArchive,
    n_shape: usize,
    notes: &mut Vec<SmplNote>,
) -> Result<Vec<ShapeParameter>, SmplError> {
    let names = match texts(archive, "shape_names", n_shape)? {
        Some(names) => names,
        None => numbered("shape", n_shape),
    };
    let ranges: Vec<[f32; 2]> = if archive.contains("shape_range") {
        let (shape, values) = archive.f32("shape_range")?;
        if shape[..] != [n_shape, 2] {
            return Err(wrong_shape("shape_range", shape, format!("[{n_shape}, 2]")));
        }
        values.as_chunks::<2>().0.to_vec()
    } else {
        if n_shape > 0 {
            notes.push(SmplNote::AssumedRange);
        }
        vec![[-DEFAULT_RANGE, DEFAULT_RANGE]; n_shape]
    };
    let parameter = |(parameter, (name, [min, max])): (usize, (String, [f32; 2]))| {
        if min > max {
            return Err(SmplError::Range {
                parameter,
                min,
                max,
            });
        }
        Ok(ShapeParameter { name, min, max })
    };
    names
        .into_iter()
        .zip(ranges)
        .enumerate()
        .map(parameter)
        .collect()
}

#[cfg(test)]
mod tests;
