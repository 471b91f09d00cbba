//! Reading a glTF file: [`read`], [`read_with`] and [`read_file`].

use std::collections::HashSet;
use std::io;
use std::path::Path;

use glam::{Mat4, Quat, Vec3};

use super::accessor::Accessors;
use super::container;
use super::document::{GltfDocument, GltfNode, GltfSkin, NodeTransform};
use super::error::{Element, GltfError, Place};
use super::json;
use super::{animation, mesh};

/// Reads a `.glb`, or a `.gltf` whose buffers are all inside it.
///
/// # Errors
/// When anything in the file is wrong, or a buffer lies in another file.
pub fn read(bytes: &[u8]) -> Result<GltfDocument, GltfError> {
    read_with(bytes, &mut |_| {
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            "no folder was given for files beside this one",
        ))
    })
}

/// Reads a file with the buffers that lie beside it.
///
/// # Errors
/// When a file can't be read or anything in it is wrong.
pub fn read_file(path: &Path) -> Result<GltfDocument, GltfError> {
    let bytes = std::fs::read(path).map_err(GltfError::File)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    read_with(&bytes, &mut |inner| std::fs::read(folder.join(inner)))
}

/// Reads a `.glb` or `.gltf`; `resolve` gives the bytes of a buffer by its
/// path relative to the file, which never leads out of the file's folder.
///
/// # Errors
/// When anything in the file is wrong, or `resolve` fails.
pub fn read_with(
    bytes: &[u8],
    resolve: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
) -> Result<GltfDocument, GltfError> {
    let container = container::open(bytes)?;
    let mut root: json::Root = serde_json::from_str(container.json)?;
    let (version, known) = match &root.asset.min_version {
        Some(needed) => (needed, needed == "2.0"),
        None => (&root.asset.version, root.asset.version.starts_with("2.")),
    };
    if !known {
        return Err(GltfError::Version {
            version: version.clone(),
        });
    }
    if let Some(name) = root.extensions_required.iter().find(|n| !is_harmless(n)) {
        return Err(GltfError::Extension { name: name.clone() });
    }
    let buffers = container::buffers(&root.buffers, container.binary, resolve)?;

    let stated_meshes = std::mem::take(&mut root.meshes);
    let stated_animations = std::mem::take(&mut root.animations);
    let accessors = Accessors::new(&root, buffers, container.json.len());
    let nodes = nodes(&root.nodes, stated_meshes.len(), root.skins.len())?;
    let mut meshes = Vec::with_capacity(stated_meshes.len());
    for (index, stated) in stated_meshes.into_iter().enumerate() {
        meshes.push(mesh::mesh(&accessors, index as u32, stated)?);
    }
    let mut skins = Vec::with_capacity(root.skins.len());
    for (index, stated) in root.skins.iter().enumerate() {
        skins.push(read_skin(&accessors, index as u32, stated, nodes.len())?);
    }
    let mut animations = Vec::with_capacity(stated_animations.len());
    for (index, stated) in stated_animations.into_iter().enumerate() {
        animations.push(animation::animation(
            &accessors,
            &nodes,
            &meshes,
            index as u32,
            stated,
        )?);
    }
    let document = GltfDocument {
        roots: roots(&root, &nodes)?,
        generator: root.asset.generator.clone(),
        nodes,
        meshes,
        skins,
        animations,
    };
    check_joints(&document)?;
    Ok(document)
}

/// Whether a required extension changes nothing that is read here: those of
/// materials, textures and lights, and quantised meshes, which are decoded.
fn is_harmless(extension: &str) -> bool {
    const PREFIXES: [&str; 5] = [
        "KHR_materials_",
        "KHR_texture_",
        "EXT_texture_",
        "MSFT_texture_",
        "KHR_lights_",
    ];
    extension == "KHR_mesh_quantization" || PREFIXES.iter().any(|p| extension.starts_with(p))
}

/// An index into a list of `count` things.
fn checked(place: Place, element: Element, index: u32, count: usize) -> Result<u32, GltfError> {
    if (index as usize) < count {
        Ok(index)
    } else {
        Err(GltfError::NoSuch {
            place,
            element,
            index,
            count,
        })
    }
}

fn nodes(
    stated: &[json::Node],
    n_meshes: usize,
    n_skins: usize,
) -> Result<Vec<GltfNode>, GltfError> {
    let mut nodes = Vec::with_capacity(stated.len());
    for (index, node) in stated.iter().enumerate() {
        let place = Place::Node(index as u32);
        let check = |element, count: usize, value: Option<u32>| {
            value
                .map(|value| checked(place, element, value, count))
                .transpose()
        };
        nodes.push(GltfNode {
            name: node.name.clone(),
            parent: None,
            children: node.children.clone(),
            transform: transform(index as u32, node)?,
            mesh: check(Element::Mesh, n_meshes, node.mesh)?,
            skin: check(Element::Skin, n_skins, node.skin)?,
        });
    }
    for parent in 0..stated.len() {
        for &child in &stated[parent].children {
            checked(
                Place::Node(parent as u32),
                Element::Node,
                child,
                stated.len(),
            )?;
            if let Some(first) = nodes[child as usize].parent.replace(parent as u32) {
                return Err(GltfError::TwoParents {
                    node: child,
                    first,
                    second: parent as u32,
                });
            }
        }
    }
    // With one parent each, whatever can't be reached from above goes round.
    let mut reached = vec![false; nodes.len()];
    let mut open: Vec<usize> = (0..nodes.len())
        .filter(|&node| nodes[node].parent.is_none())
        .collect();
    while let Some(node) = open.pop() {
        reached[node] = true;
        open.extend(nodes[node].children.iter().map(|&child| child as usize));
    }
    match reached.iter().position(|&r| !r) {
        Some(node) => Err(GltfError::NodeCycle {
            node: on_cycle(&nodes, node),
        }),
        None => Ok(nodes),
    }
}

/// A node of the cycle above `node`.
fn on_cycle(nodes: &[GltfNode], node: usize) -> u32 {
    let mut at = node as u32;
    for _ in 0..nodes.len() {
        at = nodes[at as usize].parent.unwrap_or(at);
    }
    at
}

fn transform(node: u32, stated: &json::Node) -> Result<NodeTransform, GltfError> {
    let bad = GltfError::NodeTransform { node };
    if let Some(matrix) = &stated.matrix {
        let matrix = Mat4::from_cols_array(matrix);
        return if is_affine(&matrix) {
            Ok(NodeTransform::Matrix(matrix))
        } else {
            Err(bad)
        };
    }
    let translation = Vec3::from(stated.translation.unwrap_or_default());
    let rotation = Quat::from_array(stated.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
    let scale = Vec3::from(stated.scale.unwrap_or([1.0; 3]));
    let length = rotation.length();
    if !(translation.is_finite() && scale.is_finite() && length.is_finite() && length > 1e-6) {
        return Err(bad);
    }
    Ok(NodeTransform::Parts {
        translation,
        rotation: rotation / length,
        scale,
    })
}

fn is_affine(matrix: &Mat4) -> bool {
    let bottom = matrix.row(3);
    matrix.is_finite() && bottom.abs_diff_eq(glam::Vec4::W, 1e-4)
}

fn read_skin(
    accessors: &Accessors<'_>,
    skin: u32,
    stated: &json::Skin,
    n_nodes: usize,
) -> Result<GltfSkin, GltfError> {
    let place = Place::Skin(skin);
    let n_joints = stated.joints.len();
    if n_joints == 0 {
        return Err(GltfError::NoJoints { skin });
    }
    let mut seen = HashSet::new();
    for &node in &stated.joints {
        checked(place, Element::Node, node, n_nodes)?;
        if !seen.insert(node) {
            return Err(GltfError::JointTwice { skin, node });
        }
    }
    let skeleton = stated
        .skeleton
        .map(|node| checked(place, Element::Node, node, n_nodes))
        .transpose()?;
    let inverse_binds = match stated.inverse_bind_matrices {
        None => None,
        Some(accessor) => {
            let found = accessors.count(place, accessor)?;
            if found < n_joints as u64 {
                return Err(GltfError::InverseBindCount {
                    skin,
                    found: found as usize,
                    expected: n_joints,
                });
            }
            let mut matrices: Vec<Mat4> = accessors
                .matrices(place, accessor)?
                .iter()
                .map(Mat4::from_cols_array)
                .collect();
            matrices.truncate(n_joints);
            if let Some(joint) = matrices.iter().position(|m| !is_invertible(m)) {
                return Err(GltfError::SingularBind { skin, joint });
            }
            Some(matrices)
        }
    };
    Ok(GltfSkin {
        name: stated.name.clone(),
        joints: stated.joints.clone(),
        inverse_binds,
        skeleton,
    })
}

/// Whether the matrix is affine and its axes span space: the volume of its
/// axes is at least a millionth of that of a box with edges as long.
fn is_invertible(matrix: &Mat4) -> bool {
    let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|c| c.truncate().as_dvec3());
    let volume = axes[0].cross(axes[1]).dot(axes[2]).abs();
    let lengths: f64 = axes.iter().map(|a| a.length()).product();
    is_affine(matrix) && lengths > 1e-30 && volume > 1e-6 * lengths
}

fn roots(root: &json::Root, nodes: &[GltfNode]) -> Result<Vec<u32>, GltfError> {
    let scene = match root.scene {
        Some(scene) => Some(checked(
            Place::File,
            Element::Scene,
            scene,
            root.scenes.len(),
        )?),
        None => (!root.scenes.is_empty()).then_some(0),
    };
    let Some(scene) = scene else {
        return Ok((0..nodes.len() as u32)
            .filter(|&node| nodes[node as usize].parent.is_none())
            .collect());
    };
    let top = &root.scenes[scene as usize].nodes;
    for &node in top {
        checked(Place::Scene(scene), Element::Node, node, nodes.len())?;
    }
    Ok(top.clone())
}

/// Every vertex of a bent mesh follows joints that its skin has. Joints with
/// weight 0 don't matter.
fn check_joints(document: &GltfDocument) -> Result<(), GltfError> {
    // Each pair of mesh and skin once, however many nodes show it.
    let mut pairs: Vec<(u32, u32, u32)> = document
        .nodes
        .iter()
        .enumerate()
        .filter_map(|(node, n)| Some((n.mesh?, n.skin?, node as u32)))
        .collect();
    pairs.sort_unstable();
    pairs.dedup_by_key(|pair| (pair.0, pair.1));
    for (mesh, skin, node) in pairs {
        let n_joints = document.skins[skin as usize].joints.len();
        let primitives = &document.meshes[mesh as usize].primitives;
        for content in primitives {
            let place = Place::Primitive {
                mesh,
                primitive: content.index,
            };
            if content.joint_sets.is_empty() {
                return Err(GltfError::NotSkinned { node, mesh, place });
            }
            for set in &content.joint_sets {
                for (vertex, (joints, weights)) in set.joints.iter().zip(&set.weights).enumerate() {
                    for (&joint, &weight) in joints.iter().zip(weights) {
                        if weight != 0.0 && usize::from(joint) >= n_joints {
                            return Err(GltfError::JointIndex {
                                place,
                                vertex,
                                joint,
                                skin,
                                n_joints,
                            });
                        }
                    }
                }
            }
        }
    }
    Ok(())
}
