//! Motions from glTF files with or without a body: [`read_gltf_motion`].
//!
//! Where the joints come from:
//!
//! 1. the skin of the meshes, just as [`read_gltf`](super::read_gltf) takes it;
//! 2. without a skinned mesh, the skin of which most joints are animated;
//! 3. without such a skin, the nodes: of the tree with the most animated nodes
//!    their lowest common ancestor and all below it that is animated, or above
//!    or below something animated, shown meshes apart. At rest they are as the
//!    file's default pose has them.
//!
//! Without weights nothing says which joint carries the body. Our joints keep
//! their distances, so a joint that the file moves against its parent tears
//! the skeleton in two; the whole is put where the file has the largest of the
//! pieces.

use std::collections::HashMap;

use drapery_core::{Clip, FrameRate, JointId, Skeleton};
use drapery_store::gltf::{ChannelValues, GltfChannel, GltfDocument, Interpolation};
use glam::DVec3;

use super::clips::{GltfClipError, GltfClipNote, clips_of};
use super::notes::GltfNote;
use super::rig::{self, BuiltRig, GltfRig, StatedJoints, with_ancestors, world_from_node};
use super::{GltfCharacterError, Source, check_tree, choose_skin, followed, influences};

/// Motion out of a glTF file, on its own skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfMotion {
    /// The joints, unturned at rest.
    pub skeleton: Skeleton,
    /// How they lie in the file.
    pub rig: GltfRig,
    /// One a named motion of the joints, in the file's order.
    pub clips: Vec<Clip>,
    /// What a user should know of how the joints were taken.
    pub notes: Vec<GltfNote>,
    /// What a user should know of how the animations were taken.
    pub clip_notes: Vec<GltfClipNote>,
}

/// Why a glTF file holds no motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GltfMotionError {
    /// There is neither a skin nor an animated node.
    #[error("the file has no skin and no animation that moves a node")]
    NothingMoves,
    /// The joints are wrong.
    #[error(transparent)]
    Joints(#[from] GltfCharacterError),
    /// The animations are wrong.
    #[error(transparent)]
    Clips(#[from] GltfClipError),
}

/// A joint whose place relative to its parent varies by more carries what
/// hangs on it [m]. Stretch and rounding of a body stay below, the steps and
/// sways of hips above.
const CARRIED_SPAN: f64 = 0.01;

/// The animations of a glTF file as clips on the file's own joints; a body is
/// not needed. The only animation of a file is called `name` when it has no
/// name of its own.
///
/// # Errors
/// When there are no joints, or they or the animations make no sound poses.
///
/// # Panics
/// When an index in the document is out of range, which the reader rules out.
pub fn read_gltf_motion(
    document: &GltfDocument,
    name: &str,
    frame_rate: FrameRate,
) -> Result<GltfMotion, GltfMotionError> {
    check_tree(document)?;
    let mut notes = Vec::new();
    let (mut built, weighted) = joints(document, &mut notes)?;
    let skeleton = Skeleton::new(
        std::mem::take(&mut built.names),
        std::mem::take(&mut built.parents),
        std::mem::take(&mut built.rest),
    )
    .map_err(GltfCharacterError::from)?;
    let mut rig = built.rig;
    if weighted == Weighted::No {
        rig.anchor = carrier(document, &rig, &skeleton);
    }
    let only = (document.animations.len() == 1).then_some(name);
    let taken = clips_of(document, &rig, &skeleton, frame_rate, only)?;
    Ok(GltfMotion {
        skeleton,
        rig,
        clips: taken.clips,
        notes,
        clip_notes: taken.notes,
    })
}

/// Whether vertices tell which joint carries the body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weighted {
    Yes,
    No,
}

fn joints(
    document: &GltfDocument,
    notes: &mut Vec<GltfNote>,
) -> Result<(BuiltRig, Weighted), GltfMotionError> {
    // Of what is said of the meshes only the choice of the skin matters here.
    let mut of_meshes = Vec::new();
    match choose_skin(document, &mut of_meshes) {
        Ok((skin, meshes)) => {
            notes.extend(
                of_meshes
                    .into_iter()
                    .filter(|note| matches!(note, GltfNote::OtherSkins { .. })),
            );
            let source = Source::new(document, &meshes, &mut Vec::new());
            let rows = influences(&source, &mut Vec::new())?;
            let stated = StatedJoints::of_skin(document, skin);
            let followed = followed(&rows, stated.joints.len());
            let built = rig::build(document, &stated, &followed, notes)?;
            return Ok((built, Weighted::Yes));
        }
        Err(GltfCharacterError::NoMesh | GltfCharacterError::NotSkinned { .. }) => {}
        Err(error) => return Err(error.into()),
    }

    let animated = animated(document);
    let n_animated = |skin: u32| {
        let joints = &document.skins[skin as usize].joints;
        joints.iter().filter(|&&n| animated[n as usize]).count()
    };
    // The first of equals: `max_by_key` would take the last.
    let skin = (0..document.skins.len() as u32)
        .rev()
        .max_by_key(|&skin| n_animated(skin))
        .filter(|&skin| n_animated(skin) > 0);
    let nodes;
    let stated = match skin {
        Some(skin) => StatedJoints::of_skin(document, skin),
        None => {
            nodes =
                moving_nodes(document, &animated, notes).ok_or(GltfMotionError::NothingMoves)?;
            if nodes.len() <= Skeleton::MAX_JOINTS {
                notes.push(GltfNote::NodesAsJoints {
                    n_joints: nodes.len(),
                });
            }
            StatedJoints {
                skin: None,
                joints: &nodes,
                inverse_binds: None,
            }
        }
    };
    let alike = vec![1.0; stated.joints.len()];
    let built = rig::build(document, &stated, &alike, notes)?;
    Ok((built, Weighted::No))
}

/// Whether an animation turns or moves a node, shape [node].
fn animated(document: &GltfDocument) -> Vec<bool> {
    let mut animated = vec![false; document.nodes.len()];
    for channel in document.animations.iter().flat_map(|a| &a.channels) {
        animated[channel.node as usize] |= matches!(
            channel.values,
            ChannelValues::Translation(_) | ChannelValues::Rotation(_)
        );
    }
    animated
}

/// The nodes that make a skeleton where no skin says so, by their number.
fn moving_nodes(
    document: &GltfDocument,
    animated: &[bool],
    notes: &mut Vec<GltfNote>,
) -> Option<Vec<u32>> {
    let all: Vec<u32> = (0..document.nodes.len() as u32).collect();
    let order = with_ancestors(document, &all);
    let parent = |node: u32| document.nodes[node as usize].parent;
    // Animated nodes at and below each node.
    let mut below: Vec<usize> = animated.iter().map(|&a| usize::from(a)).collect();
    for &node in order.iter().rev() {
        if let Some(parent) = parent(node) {
            below[parent as usize] += below[node as usize];
        }
    }
    let top = (all.iter().rev().copied())
        .filter(|&node| parent(node).is_none() && below[node as usize] > 0)
        .max_by_key(|&node| below[node as usize])?;
    let n_taken = below[top as usize];
    let n_left_out = animated.iter().filter(|&&a| a).count() - n_taken;
    if n_left_out > 0 {
        notes.push(GltfNote::OtherNodes {
            n_nodes: n_left_out,
        });
    }
    // Down while all that moves is below one child: to the first node that
    // moves itself, or where the ways part.
    let mut root = top;
    for &node in &order {
        if parent(node) == Some(root) && below[node as usize] == n_taken {
            root = node;
        }
    }
    // Parents first, so what is said of a node's parent is known.
    let mut inside = vec![false; document.nodes.len()];
    let mut carried = vec![false; document.nodes.len()];
    for &node in &order {
        let above = parent(node).map(|p| p as usize);
        inside[node as usize] = node == root || above.is_some_and(|p| inside[p]);
        carried[node as usize] = animated[node as usize] || above.is_some_and(|p| carried[p]);
    }
    let is_joint = |&node: &u32| {
        let at = node as usize;
        let shows = document.nodes[at].mesh.is_some();
        inside[at] && (below[at] > 0 || (carried[at] && !shows))
    };
    Some(all.into_iter().filter(is_joint).collect())
}

/// The top joint of the largest part of the skeleton that keeps its distances
/// in all animations.
fn carrier(document: &GltfDocument, rig: &GltfRig, skeleton: &Skeleton) -> JointId {
    let mut spans: HashMap<u32, f64> = HashMap::new();
    let world = world_from_node(document, &rig.joint_nodes);
    for channel in document.animations.iter().flat_map(|a| &a.channels) {
        let parent = document.nodes[channel.node as usize].parent;
        let span = spans.entry(channel.node).or_default();
        let extent = extent(channel);
        let extent = match parent.and_then(|p| world.get(&p)) {
            Some(above) => above.transform_vector3(extent),
            None => extent,
        };
        *span = span.max(extent.length());
    }
    // Also by way of nodes between the joint and its parent.
    let moves = |joint: usize, parent: JointId| {
        let end = rig.joint_nodes[parent.index()];
        let mut at = Some(rig.joint_nodes[joint]).filter(|&node| node != end);
        let mut span = 0f64;
        while let Some(node) = at {
            span = span.max(spans.get(&node).copied().unwrap_or(0.0));
            at = document.nodes[node as usize].parent.filter(|&p| p != end);
        }
        span > CARRIED_SPAN
    };
    let mut tops: Vec<usize> = Vec::with_capacity(skeleton.len());
    let mut sizes = vec![0usize; skeleton.len()];
    for (joint, parent) in skeleton.parents().iter().enumerate() {
        let top = match parent {
            Some(parent) if !moves(joint, *parent) => tops[parent.index()],
            _ => joint,
        };
        tops.push(top);
        sizes[top] += 1;
    }
    let largest = (0..sizes.len()).rev().max_by_key(|&joint| sizes[joint]);
    JointId(largest.unwrap_or(0) as u16)
}

/// How far the keys of a translation spread along each axis; 0 for others.
fn extent(channel: &GltfChannel) -> DVec3 {
    let ChannelValues::Translation(values) = &channel.values else {
        return DVec3::ZERO;
    };
    let (first, step) = match channel.interpolation {
        Interpolation::CubicSpline => (1, 3),
        _ => (0, 1),
    };
    let keys = values.iter().skip(first).step_by(step);
    let (low, high) = keys
        .map(|v| v.as_dvec3())
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
    (high - low).max(DVec3::ZERO)
}
