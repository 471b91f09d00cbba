//! The skeleton of a glTF skin, or of nodes taken as joints: joints ordered, named, and at rest.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use drapery_core::{JointId, Skeleton, SkeletonError};
use drapery_store::gltf::{GltfDocument, NodeTransform};
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, Mat4, Vec3};

use super::GltfCharacterError;
use super::notes::GltfNote;

/// How the joints of a character lie in the glTF file it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfRig {
    /// The skin of the character; none when nodes were taken as joints without
    /// one.
    pub skin: Option<u32>,
    /// The node of each joint, shape [joint].
    pub joint_nodes: Vec<u32>,
    /// World orientation of each joint's node in the rest pose, shape [joint].
    pub rest_rotations: Vec<DQuat>,
    /// The joint of each entry of the skin's list, or else of the list of
    /// nodes, shape [entry].
    pub joint_from_skin: Vec<u16>,
    /// The joint that carries the body: the root, or the first below it that
    /// moves vertices or branches to such. Motion of the whole body is read
    /// off this one, since many rigs keep a root on the floor that never moves.
    pub anchor: JointId,
}

/// The joints as a file lists them.
pub(super) struct StatedJoints<'a> {
    pub(super) skin: Option<u32>,
    /// Their nodes.
    pub(super) joints: &'a [u32],
    pub(super) inverse_binds: Option<&'a [Mat4]>,
}

impl<'a> StatedJoints<'a> {
    pub(super) fn of_skin(document: &'a GltfDocument, skin: u32) -> Self {
        let stated = &document.skins[skin as usize];
        Self {
            skin: Some(skin),
            joints: &stated.joints,
            inverse_binds: stated.inverse_binds.as_deref(),
        }
    }
}

/// A rig with what the character needs of it.
pub(super) struct BuiltRig {
    pub(super) rig: GltfRig,
    pub(super) names: Vec<String>,
    pub(super) parents: Vec<Option<JointId>>,
    /// Rest positions of the joints [m].
    pub(super) rest: Vec<Vec3>,
    /// World from mesh for the whole body.
    pub(super) world_from_mesh: DAffine3,
    pub(super) mirrored: bool,
    /// World from mesh by joint, for a skin without a bind pose.
    unbound: Option<Vec<DAffine3>>,
}

impl BuiltRig {
    /// World from mesh for a vertex that follows these joints.
    pub(super) fn world_from_mesh(&self, row: &[(u16, f32)]) -> DAffine3 {
        let Some(maps) = &self.unbound else {
            return self.world_from_mesh;
        };
        let sum: f64 = row.iter().map(|&(_, w)| f64::from(w)).sum();
        let mut matrix = DMat4::ZERO;
        for &(joint, weight) in row {
            let share = f64::from(weight) / sum;
            matrix += DMat4::from(maps[usize::from(joint)]) * share;
        }
        DAffine3::from_mat4(matrix)
    }
}

/// A default pose that is turned or moved by less is the bind pose [rad], [m].
const POSE_ANGLE: f64 = 0.01;
const POSE_DISTANCE: f64 = 1e-3;

/// Parent from node.
pub(super) fn local(transform: &NodeTransform) -> DAffine3 {
    match transform {
        NodeTransform::Parts {
            translation,
            rotation,
            scale,
        } => DAffine3::from_scale_rotation_translation(
            scale.as_dvec3(),
            rotation.as_dquat().normalize(),
            translation.as_dvec3(),
        ),
        NodeTransform::Matrix(matrix) => DAffine3::from_mat4(matrix.as_dmat4()),
    }
}

/// The rotation in a map that may also scale, shear or mirror; identity where
/// it is flat.
pub(super) fn rotation(map: &DAffine3) -> DQuat {
    let sign = if map.matrix3.determinant() < 0.0 {
        -1.0
    } else {
        1.0
    };
    let x = (map.matrix3.x_axis * sign).normalize_or_zero();
    let z = x.cross(map.matrix3.y_axis * sign).normalize_or_zero();
    let y = z.cross(x);
    if x == DVec3::ZERO || z == DVec3::ZERO {
        return DQuat::IDENTITY;
    }
    DQuat::from_mat3(&DMat3::from_cols(x, y, z)).normalize()
}

/// The nodes above and among `nodes`, parents first.
pub(super) fn with_ancestors(document: &GltfDocument, nodes: &[u32]) -> Vec<u32> {
    let mut seen = HashSet::new();
    let mut order = Vec::new();
    for &node in nodes {
        let first = order.len();
        let mut at = Some(node);
        while let Some(node) = at.filter(|&n| seen.insert(n)) {
            order.push(node);
            at = document.nodes[node as usize].parent;
        }
        order[first..].reverse();
    }
    order
}

/// World from node in the default pose, for these nodes and all above them.
pub(super) fn world_from_node(document: &GltfDocument, nodes: &[u32]) -> HashMap<u32, DAffine3> {
    let mut globals: HashMap<u32, DAffine3> = HashMap::new();
    for node in with_ancestors(document, nodes) {
        let content = &document.nodes[node as usize];
        let above = content.parent.and_then(|p| globals.get(&p));
        let global = above.copied().unwrap_or(DAffine3::IDENTITY) * local(&content.transform);
        globals.insert(node, global);
    }
    globals
}

/// Orders, names and places the joints; `followed` is how much each
/// entry of its list is followed by vertices.
pub(super) fn build(
    document: &GltfDocument,
    stated: &StatedJoints<'_>,
    followed: &[f64],
    notes: &mut Vec<GltfNote>,
) -> Result<BuiltRig, GltfCharacterError> {
    let n_joints = stated.joints.len();
    if n_joints > Skeleton::MAX_JOINTS {
        return Err(SkeletonError::TooMany(n_joints).into());
    }
    let (above, n_roots) = parents(document, stated.joints, followed);
    let order = parents_first(&above);
    let mut joint_from_skin = vec![0; n_joints];
    for (joint, &entry) in order.iter().enumerate() {
        joint_from_skin[entry] = joint as u16;
    }
    let names = names(document, stated.joints, &order, notes);
    if n_roots > 1 {
        notes.push(GltfNote::ManyRoots {
            n_roots,
            root: names[0].clone(),
        });
    }

    let globals = world_from_node(document, stated.joints);
    // By joint from here on.
    let joint_nodes: Vec<u32> = order.iter().map(|&entry| stated.joints[entry]).collect();
    let default: Vec<DAffine3> = joint_nodes.iter().map(|node| globals[node]).collect();
    let binds: Option<Vec<DAffine3>> = stated.inverse_binds.map(|matrices| {
        order
            .iter()
            .map(|&entry| DAffine3::from_mat4(matrices[entry].as_dmat4()))
            .collect()
    });
    let world_from_mesh = match &binds {
        Some(binds) => default[0] * binds[0],
        None => default[0],
    };
    let determinant = world_from_mesh.matrix3.determinant();
    if !(determinant.is_finite() && determinant.abs() > 1e-30) {
        return Err(GltfCharacterError::FlatRoot {
            node: joint_nodes[0],
        });
    }
    note_scale(&world_from_mesh, notes);
    let bound: Vec<DAffine3> = match &binds {
        Some(binds) => {
            note_default_pose(&world_from_mesh, &default, binds, &names, notes);
            binds
                .iter()
                .map(|b| world_from_mesh * b.inverse())
                .collect()
        }
        None => {
            if stated.skin.is_some() {
                notes.push(GltfNote::NoInverseBinds);
            }
            default.clone()
        }
    };
    let parents: Vec<Option<JointId>> = order
        .iter()
        .map(|&entry| above[entry].map(|p| JointId(joint_from_skin[p])))
        .collect();
    let by_joint: Vec<f64> = order.iter().map(|&entry| followed[entry]).collect();
    Ok(BuiltRig {
        rig: GltfRig {
            skin: stated.skin,
            joint_nodes,
            rest_rotations: bound.iter().map(rotation).collect(),
            joint_from_skin,
            anchor: anchor(&parents, &by_joint),
        },
        names,
        parents,
        rest: bound.iter().map(|b| b.translation.as_vec3()).collect(),
        world_from_mesh,
        mirrored: determinant < 0.0,
        unbound: binds.is_none().then_some(default),
    })
}

/// The nearest joint above each joint, and how many had none. Of several
/// roots, the one whose tree moves the most vertices becomes the parent of the
/// others, so that the body's motion stays on it.
fn parents(
    document: &GltfDocument,
    joints: &[u32],
    followed: &[f64],
) -> (Vec<Option<usize>>, usize) {
    let entry_of: HashMap<u32, usize> = joints.iter().enumerate().map(|(e, &n)| (n, e)).collect();
    let mut above: Vec<Option<usize>> = joints
        .iter()
        .map(|&node| {
            let mut at = document.nodes[node as usize].parent;
            while let Some(node) = at {
                if let Some(&entry) = entry_of.get(&node) {
                    return Some(entry);
                }
                at = document.nodes[node as usize].parent;
            }
            None
        })
        .collect();
    let roots: Vec<usize> = (0..joints.len()).filter(|&e| above[e].is_none()).collect();
    let mut carried: HashMap<usize, f64> = HashMap::new();
    for (entry, weight) in followed.iter().enumerate() {
        let mut top = entry;
        while let Some(next) = above[top] {
            top = next;
        }
        *carried.entry(top).or_default() += weight;
    }
    // The first of equals: `max_by` would take the last.
    let main = roots
        .iter()
        .rev()
        .copied()
        .max_by(|a, b| carried[a].total_cmp(&carried[b]))
        .expect("nodes form trees, so some joint has no joint above it");
    for &root in roots.iter().filter(|&&root| root != main) {
        above[root] = Some(main);
    }
    (above, roots.len())
}

/// Entries with parents first, and otherwise in the file's order.
fn parents_first(above: &[Option<usize>]) -> Vec<usize> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); above.len()];
    let mut ready = BinaryHeap::new();
    for (entry, parent) in above.iter().enumerate() {
        match parent {
            Some(parent) => below[*parent].push(entry),
            None => ready.push(Reverse(entry)),
        }
    }
    let mut order = Vec::with_capacity(above.len());
    while let Some(Reverse(entry)) = ready.pop() {
        order.push(entry);
        ready.extend(below[entry].iter().map(|&child| Reverse(child)));
    }
    order
}

/// Names of the joints in their order, each once.
fn names(
    document: &GltfDocument,
    joints: &[u32],
    order: &[usize],
    notes: &mut Vec<GltfNote>,
) -> Vec<String> {
    let name_of = |entry: usize| document.nodes[joints[entry] as usize].name.as_deref();
    let mut taken: HashSet<String> = HashSet::new();
    let mut n_renamed = 0;
    let names = order
        .iter()
        .enumerate()
        .map(|(joint, &entry)| {
            let wish = name_of(entry).filter(|name| !name.is_empty());
            let base = wish.map_or_else(|| format!("joint_{joint}"), str::to_owned);
            let mut name = base.clone();
            let mut copy = 1;
            while !taken.insert(name.clone()) {
                copy += 1;
                name = format!("{base}_{copy}");
            }
            n_renamed += usize::from(wish != Some(name.as_str()));
            name
        })
        .collect();
    if n_renamed > 0 {
        notes.push(GltfNote::RenamedJoints {
            n_joints: n_renamed,
        });
    }
    names
}

fn note_scale(world_from_mesh: &DAffine3, notes: &mut Vec<GltfNote>) {
    let axes = world_from_mesh.matrix3;
    let scale = [axes.x_axis, axes.y_axis, axes.z_axis].map(DVec3::length);
    let [least, most] = [
        scale.iter().copied().fold(f64::INFINITY, f64::min),
        scale.iter().copied().fold(0.0, f64::max),
    ];
    let skewed = axes.determinant().abs() < 0.99 * scale.iter().product::<f64>();
    if most > 1.01 * least || skewed {
        notes.push(GltfNote::UnevenScale { scale });
    }
}

fn note_default_pose(
    world_from_mesh: &DAffine3,
    default: &[DAffine3],
    binds: &[DAffine3],
    names: &[String],
    notes: &mut Vec<GltfNote>,
) {
    let rest = rotation(world_from_mesh);
    let mut n_joints = 0;
    let mut worst = (0.0, 0);
    for (joint, (default, bind)) in default.iter().zip(binds).enumerate() {
        let posed = *default * *bind;
        let angle = rest.angle_between(rotation(&posed));
        // How far the joint is from where the bind pose has it.
        let bound = (*world_from_mesh * bind.inverse()).translation;
        let distance = default.translation.distance(bound);
        if angle > POSE_ANGLE || distance > POSE_DISTANCE {
            n_joints += 1;
            if angle >= worst.0 {
                worst = (angle, joint);
            }
        }
    }
    if n_joints > 0 {
        notes.push(GltfNote::DefaultPose {
            joint: names[worst.1].clone(),
            angle: worst.0,
            n_joints,
        });
    }
}

/// Down from the root while a joint moves no vertex and just one of its
/// children carries any.
fn anchor(parents: &[Option<JointId>], followed: &[f64]) -> JointId {
    let mut carried = followed.to_vec();
    for joint in (1..parents.len()).rev() {
        if let Some(parent) = parents[joint] {
            carried[parent.index()] += carried[joint];
        }
    }
    let mut at = 0;
    while followed[at] == 0.0 {
        let mut carrying = (0..parents.len())
            .filter(|&j| parents[j].is_some_and(|p| p.index() == at) && carried[j] > 0.0);
        match (carrying.next(), carrying.next()) {
            (Some(child), None) => at = child,
            _ => break,
        }
    }
    JointId(at as u16)
}
