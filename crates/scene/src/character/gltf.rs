//! Characters from glTF files: [`read_gltf`].
//!
//! glTF is in metres, +Y up and facing +Z, as drapery is; so nothing is turned
//! or scaled by guess, and a doubtful height is only noted. What differs is
//! where a body rests: our joints are unturned at rest, those of a file have
//! any orientation, and armature nodes above them may scale and turn. With Nⱼ
//! the world transform of joint j in the file's default pose and Bⱼ its inverse
//! bind matrix:
//!
//! ```text
//! S    = N_r B_r                 world from mesh, r the root joint
//! x    = S x_mesh                rest vertices
//! pⱼ   = S Bⱼ⁻¹ 0                rest position of joint j
//! Gⱼ⁰  = rotation of S Bⱼ⁻¹      its rest orientation, kept in the rig
//! ```
//!
//! So the rest pose is the bind pose, placed where the default pose has the
//! root. A file without inverse bind matrices has no bind pose: there the body
//! rests as the default pose bends it, x = Σ wⱼ Nⱼ x_mesh.
//!
//! Morph targets become shape parameters. Their ranges are those of
//! `extras.shape_range` or `extras.target_ranges` of the mesh, by index or by
//! name, or else −1 to 1; `extras.joint_shapedirs` ([joint][axis][target],
//! joints in the skin's order) moves the joints.

mod channel;
mod clips;
mod motion;
mod notes;
mod rig;
mod shape;

use std::collections::HashSet;

use drapery_core::{MeshError, Skeleton, SkeletonError, SkinWeights, SkinWeightsError, TriMesh};
use drapery_store::gltf::{GltfDocument, GltfPrimitive};
use glam::{DAffine3, DVec3, Vec3};

use super::influences::count_influences;
use super::{Character, CharacterError, CharacterParts, seam_copies, weld_seams};
pub use clips::{GltfClipError, GltfClipNote, GltfClips, read_gltf_clips};
pub use motion::{GltfMotion, GltfMotionError, read_gltf_motion};
pub use notes::GltfNote;
pub use rig::GltfRig;

/// A character out of a glTF file.
#[derive(Clone, Debug)]
pub struct GltfReading {
    /// The character.
    pub character: Character,
    /// The shape coefficients with which the file shows it; mostly zeros.
    pub default_shape: Vec<f32>,
    /// How its joints lie in the file; the animations need it.
    pub rig: GltfRig,
    /// What a user should know of how the file was taken.
    pub notes: Vec<GltfNote>,
}

/// Why a glTF file holds no character.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GltfCharacterError {
    /// There are no triangles.
    #[error("the file has no mesh with triangles")]
    NoMesh,
    /// No mesh follows joints.
    #[error("none of the {n_meshes} meshes of the file has a skin")]
    NotSkinned {
        /// How many meshes there are.
        n_meshes: usize,
    },
    /// A document that was not read from a file has a node above itself.
    #[error("node {node} is among its own ancestors")]
    NodeCycle {
        /// The node.
        node: u32,
    },
    /// The default pose flattens the body.
    #[error("node {node}, the root joint, has a scale of 0 in it or above it")]
    FlatRoot {
        /// The node.
        node: u32,
    },
    /// A weight is negative.
    #[error("mesh {mesh} primitive {primitive} vertex {vertex} has a negative weight")]
    NegativeWeight {
        /// The mesh.
        mesh: u32,
        /// Its primitive.
        primitive: u32,
        /// The vertex of the primitive.
        vertex: usize,
    },
    /// The shape space is out of proportion.
    #[error(
        "{n_parameters} shape parameters of {n_vertices} vertices are more than {limit} displacements"
    )]
    TooManyTargets {
        /// How many parameters all meshes have together.
        n_parameters: usize,
        /// How many vertices they have.
        n_vertices: usize,
        /// How many displacements a character may have.
        limit: usize,
    },
    /// Joint displacements have another shape than the skin and targets ask for.
    #[error(
        "mesh {mesh}: extras.joint_shapedirs is not {n_joints} joints × 3 axes × {n_targets} targets of finite numbers"
    )]
    JointDisplacements {
        /// The mesh.
        mesh: u32,
        /// How many joints the skin has.
        n_joints: usize,
        /// How many morph targets the mesh has.
        n_targets: usize,
    },
    /// The mesh is wrong.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The skeleton is wrong.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The weights are wrong; vertices are counted after welding.
    #[error(transparent)]
    Weights(#[from] SkinWeightsError),
    /// The parts don't fit together.
    #[error(transparent)]
    Character(#[from] CharacterError),
}

/// Heights outside this look like a wrong unit [m].
const USUAL_HEIGHT: std::ops::RangeInclusive<f32> = 0.3..=3.0;

/// The primitives of the meshes that make the character, one after the other.
struct Source<'a> {
    /// Meshes with the place of their first vertex.
    meshes: Vec<(u32, usize)>,
    /// Mesh and primitive.
    primitives: Vec<(u32, &'a GltfPrimitive)>,
    n_vertices: usize,
}

/// The character in a glTF file: all meshes of the skin that bends the most
/// vertices.
///
/// # Errors
/// When there is no skinned mesh, or what there is makes no character.
///
/// # Panics
/// When an index in the document is out of range, which the reader rules out.
pub fn read_gltf(document: &GltfDocument, name: &str) -> Result<GltfReading, GltfCharacterError> {
    check_tree(document)?;
    let mut notes = Vec::new();
    let (skin, meshes) = choose_skin(document, &mut notes)?;
    let source = Source::new(document, &meshes, &mut notes);
    let mut rows = influences(&source, &mut notes)?;
    let stated = rig::StatedJoints::of_skin(document, skin);
    let followed = followed(&rows, stated.joints.len());
    let built = rig::build(document, &stated, &followed, &mut notes)?;
    for (joint, _) in rows.iter_mut().flatten() {
        *joint = built.rig.joint_from_skin[usize::from(*joint)];
    }

    let positions: Vec<Vec3> = source
        .primitives
        .iter()
        .flat_map(|(_, p)| p.positions.iter().copied())
        .collect();
    let shape = shape::read(document, &source, &built, &mut notes)?;
    let copies = seam_copies(&positions, |a, b| {
        rows[a] == rows[b] && shape.directions.iter().all(|d| d[a] == d[b])
    });
    let triangles = source.triangles();
    let weld = weld_seams(&triangles, &copies);
    let n_copies = positions.len() - weld.map.n_welded();
    if n_copies > 0 {
        notes.push(GltfNote::Welded { n_copies });
    }
    if weld.n_ambiguous > 0 {
        notes.push(GltfNote::AmbiguousSeams {
            n_edges: weld.n_ambiguous,
        });
    }
    if weld.n_flat > 0 {
        notes.push(GltfNote::FlatTriangles {
            n_triangles: weld.n_flat,
        });
    }

    // From here on in welded vertices, world and rest.
    let firsts = first_sources(weld.map.welded_from_source(), weld.map.n_welded());
    let maps: Vec<DAffine3> = firsts
        .iter()
        .map(|&vertex| built.world_from_mesh(&rows[vertex]))
        .collect();
    let rest: Vec<Vec3> = firsts
        .iter()
        .zip(&maps)
        .map(|(&v, map)| map.transform_point3(positions[v].as_dvec3()).as_vec3())
        .collect();
    let shape_directions: Vec<Vec<Vec3>> = shape
        .directions
        .iter()
        .map(|direction| {
            let turned = |(&v, map): (&usize, &DAffine3)| {
                map.transform_vector3(direction[v].as_dvec3()).as_vec3()
            };
            firsts.iter().zip(&maps).map(turned).collect()
        })
        .collect();
    let welded_rows: Vec<Vec<(u16, f32)>> = firsts.iter().map(|&v| rows[v].clone()).collect();
    let influences = count_influences(&welded_rows);
    if influences.n_trimmed > 0 {
        notes.push(GltfNote::TrimmedWeights {
            n_vertices: influences.n_trimmed,
            largest: influences.largest,
        });
    }
    let mut triangles = weld.triangles;
    if built.mirrored {
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
        notes.push(GltfNote::Mirrored);
    }

    let skeleton = Skeleton::new(built.names, built.parents, built.rest)?;
    let skin = SkinWeights::new(influences.kept, skeleton.len(), &welded_rows)?;
    let template = TriMesh::new(rest, triangles)?;
    let (low, high) = template.bounds();
    let height = high.y - low.y;
    if !USUAL_HEIGHT.contains(&height) {
        notes.push(GltfNote::Height { height });
    }
    let character = Character::new(CharacterParts {
        name: name.to_owned(),
        template,
        skeleton,
        skin,
        shape_parameters: shape.parameters,
        shape_directions,
        joint_directions: shape.joint_directions,
        pose_directions: None,
        weld: weld.map,
    })?;
    Ok(GltfReading {
        character,
        default_shape: shape.default,
        rig: built.rig,
        notes,
    })
}

/// That every way up from a node ends.
fn check_tree(document: &GltfDocument) -> Result<(), GltfCharacterError> {
    // The walk on which a node was first met; a later walk may stop there.
    let mut met = vec![usize::MAX; document.nodes.len()];
    for walk in 0..document.nodes.len() {
        let mut at = Some(walk as u32);
        while let Some(node) = at {
            match met[node as usize] {
                usize::MAX => met[node as usize] = walk,
                earlier if earlier == walk => return Err(GltfCharacterError::NodeCycle { node }),
                _ => break,
            }
            at = document.nodes[node as usize].parent;
        }
    }
    Ok(())
}

/// The skin with the most vertices, and its meshes in the order of the nodes
/// that show them. Only what is in the scene counts, if there is any there.
fn choose_skin(
    document: &GltfDocument,
    notes: &mut Vec<GltfNote>,
) -> Result<(u32, Vec<u32>), GltfCharacterError> {
    let size = |mesh: u32| -> usize {
        let primitives = &document.meshes[mesh as usize].primitives;
        let seen = primitives.iter().filter(|p| !p.triangles.is_empty());
        seen.map(|p| p.positions.len()).sum()
    };
    let shown = |nodes: &[u32]| -> Vec<(u32, Option<u32>)> {
        let mut seen = HashSet::new();
        nodes
            .iter()
            .map(|&node| &document.nodes[node as usize])
            .filter_map(|node| Some((node.mesh?, node.skin)))
            .filter(|&(mesh, _)| size(mesh) > 0)
            .filter(|&pair| seen.insert(pair))
            .collect()
    };
    let mut pairs = shown(&in_scene(document));
    if pairs.iter().all(|(_, skin)| skin.is_none()) {
        let all: Vec<u32> = (0..document.nodes.len() as u32).collect();
        pairs = shown(&all);
    }
    let mut sizes = vec![0; document.skins.len()];
    for &(mesh, skin) in &pairs {
        if let Some(skin) = skin {
            sizes[skin as usize] += size(mesh);
        }
    }
    let most = sizes.iter().copied().max().unwrap_or(0);
    if most == 0 {
        let n_meshes = (0..document.meshes.len() as u32)
            .filter(|&mesh| size(mesh) > 0)
            .count();
        return Err(match n_meshes {
            0 => GltfCharacterError::NoMesh,
            n_meshes => GltfCharacterError::NotSkinned { n_meshes },
        });
    }
    let skin = sizes.iter().position(|&s| s == most).unwrap_or(0) as u32;
    let others: Vec<usize> = sizes.iter().copied().filter(|&s| s > 0).collect();
    if others.len() > 1 {
        notes.push(GltfNote::OtherSkins {
            skin,
            n_skins: others.len(),
            n_left_out: others.iter().sum::<usize>() - most,
        });
    }
    let n_rigid = pairs.iter().filter(|(_, skin)| skin.is_none()).count();
    if n_rigid > 0 {
        notes.push(GltfNote::RigidMeshes { n_meshes: n_rigid });
    }
    let meshes: Vec<u32> = pairs
        .iter()
        .filter(|(_, s)| *s == Some(skin))
        .map(|&(mesh, _)| mesh)
        .collect();
    if meshes.len() > 1 {
        notes.push(GltfNote::MergedMeshes {
            n_meshes: meshes.len(),
        });
    }
    Ok((skin, meshes))
}

/// The nodes of the scene in depth-first order.
fn in_scene(document: &GltfDocument) -> Vec<u32> {
    let mut nodes = Vec::new();
    let mut seen = vec![false; document.nodes.len()];
    let mut open: Vec<u32> = document.roots.iter().rev().copied().collect();
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut seen[node as usize], true) {
            nodes.push(node);
            open.extend(document.nodes[node as usize].children.iter().rev());
        }
    }
    nodes
}

impl<'a> Source<'a> {
    fn new(document: &'a GltfDocument, meshes: &[u32], notes: &mut Vec<GltfNote>) -> Self {
        let mut source = Self {
            meshes: Vec::new(),
            primitives: Vec::new(),
            n_vertices: 0,
        };
        let mut n_skipped = 0;
        for &mesh in meshes {
            source.meshes.push((mesh, source.n_vertices));
            let content = &document.meshes[mesh as usize];
            n_skipped += content.n_skipped;
            for primitive in &content.primitives {
                source.primitives.push((mesh, primitive));
                source.n_vertices += primitive.positions.len();
            }
        }
        if n_skipped > 0 {
            notes.push(GltfNote::PointsAndLines {
                n_primitives: n_skipped,
            });
        }
        source
    }

    /// The triangles of all primitives, with vertices counted through.
    fn triangles(&self) -> Vec<[u32; 3]> {
        let mut triangles = Vec::new();
        let mut first = 0;
        for (_, primitive) in &self.primitives {
            triangles.extend(primitive.triangles.iter().map(|t| t.map(|v| v + first)));
            first += primitive.positions.len() as u32;
        }
        triangles
    }
}

/// (position in the skin's joints, weight) of every vertex, by joint, without
/// zeros. Vertices without any follow the skin's first joint.
fn influences(
    source: &Source<'_>,
    notes: &mut Vec<GltfNote>,
) -> Result<Vec<Vec<(u16, f32)>>, GltfCharacterError> {
    let mut rows = Vec::with_capacity(source.n_vertices);
    let mut n_unweighted = 0;
    for &(mesh, primitive) in &source.primitives {
        for vertex in 0..primitive.positions.len() {
            let mut row: Vec<(u16, f32)> = Vec::with_capacity(4);
            for set in &primitive.joint_sets {
                for (&joint, &weight) in set.joints[vertex].iter().zip(&set.weights[vertex]) {
                    if weight < 0.0 {
                        return Err(GltfCharacterError::NegativeWeight {
                            mesh,
                            primitive: primitive.index,
                            vertex,
                        });
                    }
                    if weight > 0.0 {
                        row.push((joint, weight));
                    }
                }
            }
            row.sort_by_key(|entry| entry.0);
            if row.iter().map(|entry| entry.1).sum::<f32>() < 1e-6 {
                row = vec![(0, 1.0)];
                n_unweighted += 1;
            }
            rows.push(row);
        }
    }
    if n_unweighted > 0 {
        notes.push(GltfNote::Unweighted {
            n_vertices: n_unweighted,
        });
    }
    Ok(rows)
}

/// How much each entry of the skin's list is followed by vertices.
fn followed(rows: &[Vec<(u16, f32)>], n_joints: usize) -> Vec<f64> {
    let mut followed = vec![0.0; n_joints];
    for &(joint, weight) in rows.iter().flatten() {
        followed[usize::from(joint)] += f64::from(weight);
    }
    followed
}

/// The first vertex of the file for each welded one.
fn first_sources(welded_from_source: &[u32], n_welded: usize) -> Vec<usize> {
    let mut firsts = vec![0; n_welded];
    for (source, &welded) in welded_from_source.iter().enumerate().rev() {
        firsts[welded as usize] = source;
    }
    firsts
}

/// The linear part of a map, for displacements.
fn displaced(map: &DAffine3, [x, y, z]: [f64; 3]) -> Vec3 {
    map.transform_vector3(DVec3::new(x, y, z)).as_vec3()
}

#[cfg(test)]
mod tests;
