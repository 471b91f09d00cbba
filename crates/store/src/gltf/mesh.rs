//! Meshes of a glTF file: attributes, triangles and morph targets.

use glam::{Vec2, Vec3};

use super::accessor::Accessors;
use super::document::{GltfMesh, GltfPrimitive, JointSet};
use super::error::{GltfError, Place};
use super::json;

const TRIANGLES: u32 = 4;
const STRIP: u32 = 5;
const FAN: u32 = 6;

/// A mesh with all its triangles.
pub(super) fn mesh(
    accessors: &Accessors<'_>,
    index: u32,
    stated: json::Mesh,
) -> Result<GltfMesh, GltfError> {
    if stated.weights.iter().any(|w| !w.is_finite()) {
        return Err(GltfError::MeshWeights { mesh: index });
    }
    let mut primitives = Vec::new();
    let mut n_skipped = 0;
    let n_targets = stated.primitives.first().map_or(0, |p| p.targets.len());
    for (primitive, stated) in stated.primitives.iter().enumerate() {
        let place = Place::Primitive {
            mesh: index,
            primitive: primitive as u32,
        };
        if stated.targets.len() != n_targets {
            return Err(GltfError::TargetCount {
                place,
                found: stated.targets.len(),
                expected: n_targets,
            });
        }
        match stated.mode.unwrap_or(TRIANGLES) {
            mode @ (TRIANGLES | STRIP | FAN) => {
                primitives.push(GltfPrimitive {
                    index: primitive as u32,
                    ..read_primitive(accessors, place, stated, mode)?
                });
            }
            0..TRIANGLES => n_skipped += 1,
            mode => return Err(GltfError::Mode { place, mode }),
        }
    }
    let target_names = stated.extras["targetNames"]
        .as_array()
        .map(|names| {
            names
                .iter()
                .map_while(|name| name.as_str().map(str::to_owned))
                .collect()
        })
        .unwrap_or_default();
    Ok(GltfMesh {
        name: stated.name,
        primitives,
        n_skipped,
        n_targets: n_targets as u32,
        target_names,
        weights: stated.weights,
        extras: stated.extras,
    })
}

fn read_primitive(
    accessors: &Accessors<'_>,
    place: Place,
    stated: &json::Primitive,
    mode: u32,
) -> Result<GltfPrimitive, GltfError> {
    let position = *stated
        .attributes
        .get("POSITION")
        .ok_or(GltfError::NoPositions { place })?;
    let positions = vectors(accessors.vectors3(place, position)?);
    let n_vertices = positions.len();
    // Counts are compared before anything is decoded.
    let same_length = |attribute: &str, accessor: u32| {
        let found = accessors.count(place, accessor)?;
        if found == n_vertices as u64 {
            Ok(())
        } else {
            Err(GltfError::AttributeLength {
                place,
                attribute: attribute.to_owned(),
                found,
                expected: n_vertices,
            })
        }
    };

    let mut joint_sets = Vec::new();
    for set in 0.. {
        let (joints, weights) = (format!("JOINTS_{set}"), format!("WEIGHTS_{set}"));
        match (
            stated.attributes.get(&joints),
            stated.attributes.get(&weights),
        ) {
            (None, None) => break,
            (Some(&j), Some(&w)) => {
                same_length(&joints, j)?;
                same_length(&weights, w)?;
                joint_sets.push(JointSet {
                    joints: accessors.joints(place, j)?,
                    weights: accessors.vectors4(place, w)?,
                });
            }
            (found, _) => {
                let (has, lacks) = if found.is_some() {
                    (joints, weights)
                } else {
                    (weights, joints)
                };
                return Err(GltfError::LoneAttribute { place, has, lacks });
            }
        }
    }

    let texture_coordinates = match stated.attributes.get("TEXCOORD_0") {
        Some(&accessor) => {
            same_length("TEXCOORD_0", accessor)?;
            let rows = accessors.vectors2(place, accessor)?;
            rows.into_iter().map(Vec2::from).collect()
        }
        None => Vec::new(),
    };

    let mut targets = Vec::with_capacity(stated.targets.len());
    for target in &stated.targets {
        targets.push(match target.get("POSITION") {
            Some(&accessor) => {
                same_length("POSITION of a morph target", accessor)?;
                vectors(accessors.vectors3(place, accessor)?)
            }
            None => {
                accessors.take_room(position, n_vertices as u64, size_of::<Vec3>() as u64)?;
                vec![Vec3::ZERO; n_vertices]
            }
        });
    }

    let triangles = match stated.indices {
        Some(accessor) => {
            let indices = accessors.indices(place, accessor)?;
            if let Some(corner) = indices.iter().position(|&v| v as usize >= n_vertices) {
                return Err(GltfError::VertexIndex {
                    place,
                    corner,
                    vertex: indices[corner],
                    n_vertices,
                });
            }
            triangles(mode, indices.len(), |i| indices[i])
        }
        None => triangles(mode, n_vertices, |i| i as u32),
    };

    Ok(GltfPrimitive {
        index: 0,
        positions,
        triangles,
        joint_sets,
        texture_coordinates,
        targets,
    })
}

fn vectors(rows: Vec<[f32; 3]>) -> Vec<Vec3> {
    rows.into_iter().map(Vec3::from).collect()
}

/// Triangles of a list, strip or fan, wound alike; the flat ones that join
/// pieces of a strip are left out, and so are corners that don't make a whole
/// triangle.
fn triangles(mode: u32, n_corners: usize, vertex: impl Fn(usize) -> u32) -> Vec<[u32; 3]> {
    let corners: Vec<[usize; 3]> = match mode {
        STRIP => (2..n_corners)
            .map(|i| {
                if i % 2 == 0 {
                    [i - 2, i - 1, i]
                } else {
                    [i - 2, i, i - 1]
                }
            })
            .collect(),
        FAN => (2..n_corners).map(|i| [i - 1, i, 0]).collect(),
        _ => (0..n_corners / 3)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect(),
    };
    let whole = |[a, b, c]: &[u32; 3]| mode != STRIP || (a != b && b != c && c != a);
    corners
        .into_iter()
        .map(|triangle| triangle.map(&vertex))
        .filter(whole)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_keep_their_winding() {
        let id = |i| i as u32;
        assert_eq!(triangles(STRIP, 5, id), [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
        assert_eq!(triangles(FAN, 4, id), [[1, 2, 0], [2, 3, 0]]);
        assert_eq!(triangles(TRIANGLES, 7, id), [[0, 1, 2], [3, 4, 5]]);
        // Two strips, joined by repeating 2 and 3.
        let joined = [0, 1, 2, 2, 3, 3, 4, 5];
        assert_eq!(
            triangles(STRIP, joined.len(), |i| joined[i]),
            [[0, 1, 2], [3, 5, 4]]
        );
        for mode in [TRIANGLES, STRIP, FAN] {
            assert!(triangles(mode, 2, id).is_empty());
        }
    }
}
