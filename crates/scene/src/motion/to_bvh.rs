//! [`bvh_from_clip`]: a clip as a BVH file.

use drapery_core::Clip;
use drapery_store::bvh::{BvhFile, BvhJoint, Channel};
use glam::{DVec3, EulerRot};

use super::LengthUnit;
use super::rotation::wide;

/// A clip as a BVH file in the given unit: +Y up, rest pose in the offsets,
/// no calibration row, rotations in the order Z, Y, X.
///
/// Numbers are rounded to 1e-6 degrees and 1e-7 of the unit. Joints are put in
/// depth-first order, the only one that the format has. Read it back with
/// [`Calibration::Offsets`](super::Calibration::Offsets) and the same unit.
pub fn bvh_from_clip(clip: &Clip, unit: LengthUnit) -> BvhFile {
    let skeleton = clip.skeleton();
    let per_metre = 1.0 / unit.metres();
    let length = |v: DVec3| (v * per_metre * 1e7).round() / 1e7;
    let order = depth_first(skeleton.parents());
    let mut place = vec![0u32; order.len()];
    for (i, &joint) in order.iter().enumerate() {
        place[joint] = i as u32;
    }
    let rest = |joint: usize| skeleton.rest()[joint].as_dvec3();
    let joints = order
        .iter()
        .map(|&joint| {
            let parent = skeleton.parents()[joint].map(drapery_core::JointId::index);
            let offset = rest(joint) - parent.map_or(DVec3::ZERO, rest);
            let is_leaf = !(skeleton.parents().iter().flatten()).any(|p| p.index() == joint);
            let mut channels = vec![Channel::ZRotation, Channel::YRotation, Channel::XRotation];
            if parent.is_none() {
                channels.splice(
                    0..0,
                    [Channel::XPosition, Channel::YPosition, Channel::ZPosition],
                );
            }
            BvhJoint {
                name: skeleton.names()[joint].clone(),
                parent: parent.map(|p| place[p]),
                offset: length(offset),
                channels,
                // A tip that continues the bone, so that programs show one.
                end_site: is_leaf.then(|| match parent {
                    Some(_) => length(0.5 * offset),
                    None => DVec3::ZERO,
                }),
            }
        })
        .collect();
    let mut values = Vec::with_capacity(clip.frames().len() * (3 + 3 * order.len()));
    for pose in clip.frames() {
        values.extend(length(pose.root.as_dvec3()).to_array());
        for &joint in &order {
            let (z, y, x) = wide(pose.rotations[joint]).to_euler(EulerRot::ZYX);
            values.extend([z, y, x].map(|a| (a.to_degrees() * 1e6).round() / 1e6));
        }
    }
    BvhFile {
        joints,
        frame_time: clip.frame_rate().frame_step().0,
        values,
    }
}

/// Joints so that each subtree is in one piece.
fn depth_first(parents: &[Option<drapery_core::JointId>]) -> Vec<usize> {
    let mut children = vec![Vec::new(); parents.len()];
    for (joint, parent) in parents.iter().enumerate().rev() {
        if let Some(parent) = parent {
            children[parent.index()].push(joint);
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    let mut stack = vec![0];
    while let Some(joint) = stack.pop() {
        order.push(joint);
        stack.extend(&children[joint]);
    }
    order
}
