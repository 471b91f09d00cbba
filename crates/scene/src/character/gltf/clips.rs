//! Animations of a glTF file as clips of its character: [`read_gltf_clips`].
//!
//! ```text
//! Gⱼ(t)  = world rotation of joint j's node, through all nodes above it
//! Rⱼ(t)  = Gⱼ(t) (Gⱼ⁰)⁻¹                   our world rotation
//! qⱼ(t)  = R_parent(t)⁻¹ Rⱼ(t)             what a pose stores
//! root(t): such that the anchor joint of the rig is where the file has it
//! ```
//!
//! Our joints keep their distances, so translations below the anchor and
//! scales do nothing; how far joints end from where the file puts them is
//! noted. Before its first key and after its last a channel holds still. The
//! clip starts at the first key of all and has frames up to the last.

use std::collections::HashMap;
use std::fmt;

use drapery_core::{Clip, ClipError, FrameRate, Pose, Skeleton};
use drapery_store::gltf::{
    ChannelValues, GltfAnimation, GltfChannel, GltfDocument, Interpolation, NodeTransform,
};
use glam::{DAffine3, DQuat, DVec3};

use super::channel::{rotation_at, vector_at};
use super::rig::{GltfRig, local, rotation, with_ancestors};

/// The clips of a glTF file.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfClips {
    /// One a named motion of the joints, in the file's order.
    pub clips: Vec<Clip>,
    /// What a user should know of how they were taken.
    pub notes: Vec<GltfClipNote>,
}

/// Something in an animation that was taken in one of several ways. Its
/// `Display` is a sentence for people.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GltfClipNote {
    /// The animation moves no joint and gave no clip.
    NoJoints {
        /// Its name.
        animation: String,
    },
    /// Translations below the anchor, or scales, were left out.
    LeftOut {
        /// The animation's name.
        animation: String,
        /// Channels that move joints relative to their parents.
        n_translations: usize,
        /// Channels that scale joints.
        n_scales: usize,
    },
    /// Joints are not where the file puts them.
    Distance {
        /// The animation's name.
        animation: String,
        /// The joint that is furthest away.
        joint: String,
        /// The frame in which it is.
        frame: usize,
        /// How far [m].
        distance: f64,
    },
}

impl fmt::Display for GltfClipNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJoints { animation } => {
                write!(
                    f,
                    "{animation} moves no joint of the character and was left out"
                )
            }
            Self::LeftOut {
                animation,
                n_translations,
                n_scales,
            } => write!(
                f,
                "{animation}: joints keep their distances, so {n_translations} translation and {n_scales} scale channels were left out"
            ),
            Self::Distance {
                animation,
                joint,
                frame,
                distance,
            } => write!(
                f,
                "{animation}: {joint} is {distance:.4} m from where the file puts it in frame {frame}"
            ),
        }
    }
}

/// Why animations make no clips.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GltfClipError {
    /// The rig, skeleton and file don't belong together.
    #[error(
        "the rig has {rig} joints and the skeleton {skeleton}, or a joint's node is not in the file"
    )]
    Rig {
        /// Joints of the rig.
        rig: usize,
        /// Joints of the skeleton.
        skeleton: usize,
    },
    /// The animation is too long for its frame rate.
    #[error(
        "animation {name} lasts {seconds} s: more than {limit} joint rotations at this frame rate"
    )]
    TooLong {
        /// Its name.
        name: String,
        /// How long it lasts [s].
        seconds: f64,
        /// How many rotations a clip may have.
        limit: usize,
    },
    /// The poses make no clip.
    #[error("animation {name} makes no clip")]
    Clip {
        /// The animation's name.
        name: String,
        /// Why.
        source: ClipError,
    },
}

/// Half a gigabyte of rotations: an hour at 30 frames a second for 300 joints.
const MAX_ROTATIONS: usize = 1 << 25;
/// Joints nearer than this to their place in the file are not noted [m].
const NOTED_DISTANCE: f64 = 1e-3;
/// A last frame that is missed by no more than this is taken [frame]; times
/// are rounded to f32 in files.
const FRAME_SLACK: f64 = 1e-2;

/// The animations of a file as clips of the character that
/// [`read_gltf`](super::read_gltf) took from it.
///
/// # Errors
/// When the rig and skeleton are not of this file, or an animation is too long
/// or makes no sound poses.
pub fn read_gltf_clips(
    document: &GltfDocument,
    rig: &GltfRig,
    skeleton: &Skeleton,
    frame_rate: FrameRate,
) -> Result<GltfClips, GltfClipError> {
    clips_of(document, rig, skeleton, frame_rate, None)
}

/// The clips; `nameless` is the name of animations without one.
pub(super) fn clips_of(
    document: &GltfDocument,
    rig: &GltfRig,
    skeleton: &Skeleton,
    frame_rate: FrameRate,
    nameless: Option<&str>,
) -> Result<GltfClips, GltfClipError> {
    let sound = rig.joint_nodes.len() == skeleton.len()
        && rig.rest_rotations.len() == skeleton.len()
        && rig.anchor.index() < skeleton.len()
        && rig
            .joint_nodes
            .iter()
            .all(|&node| (node as usize) < document.nodes.len());
    if !sound {
        return Err(GltfClipError::Rig {
            rig: rig.joint_nodes.len(),
            skeleton: skeleton.len(),
        });
    }
    let tree = Tree::new(document, rig);
    let mut taken = GltfClips {
        clips: Vec::new(),
        notes: Vec::new(),
    };
    for (index, animation) in document.animations.iter().enumerate() {
        let name = match &animation.name {
            Some(name) if !name.is_empty() => name.clone(),
            _ => nameless.map_or_else(|| format!("animation_{index}"), str::to_owned),
        };
        let tracks = Tracks::new(&tree, animation);
        let Some((start, end)) = tracks.span() else {
            taken.notes.push(GltfClipNote::NoJoints { animation: name });
            continue;
        };
        tracks.note(&tree, rig, skeleton, &name, &mut taken.notes);
        let seconds = end - start;
        let n_frames = (seconds * frame_rate.hz() + FRAME_SLACK).floor() + 1.0;
        if n_frames * skeleton.len() as f64 > MAX_ROTATIONS as f64 {
            return Err(GltfClipError::TooLong {
                name,
                seconds,
                limit: MAX_ROTATIONS,
            });
        }
        let mut sampler = Sampler::new(&tree, &tracks, rig, skeleton);
        let frames: Vec<Pose> = (0..n_frames as usize)
            .map(|frame| sampler.pose(frame, start + frame as f64 / frame_rate.hz()))
            .collect();
        if let Some((distance, joint, frame)) = sampler.furthest {
            taken.notes.push(GltfClipNote::Distance {
                animation: name.clone(),
                joint: skeleton.names()[joint].clone(),
                frame,
                distance,
            });
        }
        let clip = Clip::new(name.clone(), skeleton.clone(), frame_rate, frames)
            .map_err(|source| GltfClipError::Clip { name, source })?;
        taken.clips.push(clip);
    }
    Ok(taken)
}

/// The joints of the rig and all nodes above them.
struct Tree<'a> {
    document: &'a GltfDocument,
    /// Parents first.
    nodes: Vec<u32>,
    /// Place in `nodes`.
    place: HashMap<u32, usize>,
    /// Place of each joint's node.
    joints: Vec<usize>,
    /// Place of each node's parent.
    parents: Vec<Option<usize>>,
}

impl<'a> Tree<'a> {
    fn new(document: &'a GltfDocument, rig: &GltfRig) -> Self {
        let nodes = with_ancestors(document, &rig.joint_nodes);
        let place: HashMap<u32, usize> = nodes.iter().enumerate().map(|(p, &n)| (n, p)).collect();
        let parents = nodes
            .iter()
            .map(|&node| document.nodes[node as usize].parent.map(|p| place[&p]))
            .collect();
        let joints = rig.joint_nodes.iter().map(|node| place[node]).collect();
        Self {
            document,
            nodes,
            place,
            joints,
            parents,
        }
    }
}

/// The channels of an animation that matter, by place in the tree. Scales
/// are listed but not applied.
struct Tracks<'a> {
    translations: HashMap<usize, &'a GltfChannel>,
    rotations: HashMap<usize, &'a GltfChannel>,
    scales: Vec<usize>,
}

impl<'a> Tracks<'a> {
    fn new(tree: &Tree<'_>, animation: &'a GltfAnimation) -> Self {
        let mut tracks = Self {
            translations: HashMap::new(),
            rotations: HashMap::new(),
            scales: Vec::new(),
        };
        for channel in &animation.channels {
            let Some(&place) = tree.place.get(&channel.node) else {
                continue;
            };
            match channel.values {
                ChannelValues::Translation(_) => {
                    tracks.translations.insert(place, channel);
                }
                ChannelValues::Rotation(_) => {
                    tracks.rotations.insert(place, channel);
                }
                ChannelValues::Scale(_) if moves(tree, channel) => tracks.scales.push(place),
                ChannelValues::Scale(_) => {}
                ChannelValues::Weights(_) => {}
            }
        }
        tracks
    }

    /// Times of the first and the last key [s].
    fn span(&self) -> Option<(f64, f64)> {
        self.translations
            .values()
            .chain(self.rotations.values())
            .filter_map(|c| Some((f64::from(*c.times.first()?), f64::from(*c.times.last()?))))
            .reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }

    fn note(
        &self,
        tree: &Tree<'_>,
        rig: &GltfRig,
        skeleton: &Skeleton,
        name: &str,
        notes: &mut Vec<GltfClipNote>,
    ) {
        // Translations of the anchor and of all nodes above it are followed.
        let mut followed = vec![false; tree.nodes.len()];
        let mut at = Some(tree.joints[rig.anchor.index()]);
        while let Some(place) = at {
            followed[place] = true;
            at = tree.parents[place];
        }
        let below = (0..skeleton.len())
            .map(|joint| tree.joints[joint])
            .filter(|&place| !followed[place]);
        let n_translations = below
            .filter_map(|place| self.translations.get(&place))
            .filter(|channel| moves(tree, channel))
            .count();
        if n_translations + self.scales.len() > 0 {
            notes.push(GltfClipNote::LeftOut {
                animation: name.to_owned(),
                n_translations,
                n_scales: self.scales.len(),
            });
        }
    }
}

/// Whether a translation or scale ever leaves its default; many exporters
/// write tracks that stay there.
fn moves(tree: &Tree<'_>, channel: &GltfChannel) -> bool {
    let transform = &tree.document.nodes[channel.node as usize].transform;
    let (scale, _, translation) = local(transform).to_scale_rotation_translation();
    let (values, default) = match &channel.values {
        ChannelValues::Translation(values) => (values, translation),
        ChannelValues::Scale(values) => (values, scale),
        _ => return false,
    };
    let (first, step) = match channel.interpolation {
        Interpolation::CubicSpline => (1, 3),
        _ => (0, 1),
    };
    // Rounding in an exporter is about this much of the length.
    let tolerance = 1e-4 * default.length().max(1e-3);
    let mut keys = values.iter().skip(first).step_by(step);
    keys.any(|value| value.as_dvec3().distance(default) > tolerance)
}

/// Makes one pose after the other.
struct Sampler<'a> {
    tree: &'a Tree<'a>,
    rig: &'a GltfRig,
    skeleton: &'a Skeleton,
    tracks: &'a Tracks<'a>,
    /// Translation, rotation and scale of the default pose; a matrix where no
    /// track needs the parts.
    defaults: Vec<DefaultPose>,
    globals: Vec<DAffine3>,
    turns: Vec<DQuat>,
    positions: Vec<DVec3>,
    /// Whether a joint is above the anchor, where nobody sees its place.
    floats: Vec<bool>,
    /// The rotations of the frame before, to choose signs by.
    before: Vec<DQuat>,
    /// The largest distance to the file's joints, the joint and the frame.
    furthest: Option<(f64, usize, usize)>,
}

/// Parent from node in the default pose.
enum DefaultPose {
    Fixed(DAffine3),
    Moving(DVec3, DQuat, DVec3),
}

impl<'a> Sampler<'a> {
    fn new(
        tree: &'a Tree<'a>,
        tracks: &'a Tracks<'a>,
        rig: &'a GltfRig,
        skeleton: &'a Skeleton,
    ) -> Self {
        let defaults = tree.nodes.iter().enumerate().map(|(place, &node)| {
            let transform = &tree.document.nodes[node as usize].transform;
            let moves =
                tracks.translations.contains_key(&place) || tracks.rotations.contains_key(&place);
            match transform {
                _ if !moves => DefaultPose::Fixed(local(transform)),
                NodeTransform::Parts {
                    translation,
                    rotation,
                    scale,
                } => DefaultPose::Moving(
                    translation.as_dvec3(),
                    rotation.as_dquat().normalize(),
                    scale.as_dvec3(),
                ),
                NodeTransform::Matrix(_) => {
                    let (scale, rotation, translation) =
                        local(transform).to_scale_rotation_translation();
                    DefaultPose::Moving(translation, rotation.normalize(), scale)
                }
            }
        });
        let mut floats = vec![false; skeleton.len()];
        let mut at = skeleton.parents()[rig.anchor.index()];
        while let Some(joint) = at {
            floats[joint.index()] = true;
            at = skeleton.parents()[joint.index()];
        }
        Self {
            defaults: defaults.collect(),
            floats,
            globals: vec![DAffine3::IDENTITY; tree.nodes.len()],
            turns: vec![DQuat::IDENTITY; skeleton.len()],
            positions: vec![DVec3::ZERO; skeleton.len()],
            before: vec![DQuat::IDENTITY; skeleton.len()],
            furthest: None,
            tree,
            rig,
            skeleton,
            tracks,
        }
    }

    fn pose(&mut self, frame: usize, time: f64) -> Pose {
        for place in 0..self.defaults.len() {
            let local = match self.defaults[place] {
                DefaultPose::Fixed(local) => local,
                DefaultPose::Moving(translation, rotation, scale) => {
                    let translation = match self.tracks.translations.get(&place) {
                        Some(channel) => vector_at(channel, time),
                        None => translation,
                    };
                    let rotation = match self.tracks.rotations.get(&place) {
                        Some(channel) => rotation_at(channel, time),
                        None => rotation,
                    };
                    DAffine3::from_scale_rotation_translation(scale, rotation, translation)
                }
            };
            self.globals[place] = match self.tree.parents[place] {
                Some(parent) => self.globals[parent] * local,
                None => local,
            };
        }

        let parents = self.skeleton.parents();
        let mut rotations = Vec::with_capacity(parents.len());
        for (joint, parent) in parents.iter().enumerate() {
            let global = rotation(&self.globals[self.tree.joints[joint]]);
            let turn = global * self.rig.rest_rotations[joint].inverse();
            let above = parent.map_or(DQuat::IDENTITY, |p| self.turns[p.index()]);
            let mut local = (above.inverse() * turn).normalize();
            if local.dot(self.before[joint]) < 0.0 {
                local = -local;
            }
            self.turns[joint] = turn;
            self.before[joint] = local;
            rotations.push(local.as_quat().normalize());
        }

        // Where the joints would be with the root at 0, and so where it must be.
        let rest = self.skeleton.rest();
        for (joint, parent) in parents.iter().enumerate() {
            self.positions[joint] = match parent {
                Some(parent) => {
                    let p = parent.index();
                    self.positions[p] + self.turns[p] * (rest[joint] - rest[p]).as_dvec3()
                }
                None => DVec3::ZERO,
            };
        }
        let in_file = |joint: usize| self.globals[self.tree.joints[joint]].translation;
        let anchor = self.rig.anchor.index();
        let root = in_file(anchor) - self.positions[anchor];
        for joint in (0..parents.len()).filter(|&j| !self.floats[j]) {
            let distance = (self.positions[joint] + root).distance(in_file(joint));
            let least = self.furthest.map_or(NOTED_DISTANCE, |f| f.0);
            if distance > least {
                self.furthest = Some((distance, joint, frame));
            }
        }
        Pose {
            root: root.as_vec3(),
            rotations,
        }
    }
}
