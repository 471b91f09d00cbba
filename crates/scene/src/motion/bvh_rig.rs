//! Forward kinematics of a BVH file, in its own unit and axes.
//!
//! A joint's rotation is the product of its rotation channels in the order
//! listed, left to right; position channels replace the offset's coordinates,
//! for joints down to the travelling root.

use drapery_store::bvh::BvhFile;
use glam::{DQuat, DVec3};

use super::MotionNote;

/// Where the joints from the rig's root on are, in file units and axes.
pub(super) struct FilePose {
    pub(super) rotations: Vec<DQuat>,
    pub(super) positions: Vec<DVec3>,
}

/// The file's tree below its travelling joint.
pub(super) struct Rig<'a> {
    file: &'a BvhFile,
    /// The file's joint that is joint 0 of the clip.
    pub(super) root: usize,
    /// Parents among the joints from `root` on.
    pub(super) parents: Vec<Option<usize>>,
    /// How many numbers a row has.
    n_channels: usize,
    /// How many rows there are.
    pub(super) n_rows: usize,
    /// Where each joint's channels begin in a row, for all joints of the file.
    starts: Vec<usize>,
    /// Offsets of all joints of the file; constant position channels replace them.
    offsets: Vec<DVec3>,
    /// Joints below the root with positions: joint, how far they change,
    /// whether they replace the offset.
    positioned: Vec<(usize, f64, bool)>,
}

impl<'a> Rig<'a> {
    pub(super) fn new(file: &'a BvhFile) -> Self {
        let starts: Vec<usize> = file
            .joints
            .iter()
            .scan(0, |next, joint| {
                let start = *next;
                *next += joint.channels.len();
                Some(start)
            })
            .collect();
        let mut rig = Self {
            file,
            root: 0,
            parents: Vec::new(),
            n_channels: file.n_channels(),
            n_rows: file.n_rows(),
            starts,
            offsets: file.joints.iter().map(|joint| joint.offset).collect(),
            positioned: Vec::new(),
        };
        // As long as a joint has one child only and that one travels, the
        // child is the true root.
        let size: f64 = rig.offsets.iter().map(|offset| offset.length()).sum();
        while let Some(next) = rig.only_child(rig.root) {
            if rig.position_range(next).0 < 0.02 * size {
                break;
            }
            rig.root = next;
        }
        rig.parents = file.joints[rig.root..]
            .iter()
            .enumerate()
            .map(|(j, joint)| {
                let parent = joint.parent.filter(|_| j > 0)?;
                Some(parent as usize - rig.root)
            })
            .collect();
        for joint in rig.root + 1..file.joints.len() {
            if !file.joints[joint].channels.iter().any(|c| c.is_position()) {
                continue;
            }
            let (range, first) = rig.position_range(joint);
            let replaces = range < 1e-3 * size
                && first.length() > 1e-3 * size
                && (first - rig.offsets[joint]).length() > 1e-3 * size;
            if replaces {
                rig.offsets[joint] = first;
            }
            rig.positioned.push((joint, range, replaces));
        }
        rig
    }

    /// The child of a joint that has exactly one.
    fn only_child(&self, joint: usize) -> Option<usize> {
        let mut children = (joint + 1..self.file.joints.len())
            .filter(|&j| self.file.joints[j].parent == Some(joint as u32));
        let child = children.next()?;
        children.next().is_none().then_some(child)
    }

    /// How far a joint's position channels change over the rows (the diagonal
    /// of their box), and what they say in the first row.
    fn position_range(&self, joint: usize) -> (f64, DVec3) {
        let first = self.position(joint, 0);
        let (mut low, mut high) = (first, first);
        for row in 1..self.n_rows {
            let at = self.position(joint, row);
            low = low.min(at);
            high = high.max(at);
        }
        ((high - low).length(), first)
    }

    /// A joint's channels in a row.
    fn values(&self, joint: usize, row: usize) -> &[f64] {
        let start = row * self.n_channels + self.starts[joint];
        &self.file.values[start..start + self.file.joints[joint].channels.len()]
    }

    /// The offset of a joint, with those coordinates replaced that the row has
    /// a position channel for.
    fn position(&self, joint: usize, row: usize) -> DVec3 {
        let mut at = self.offsets[joint];
        let values = self.values(joint, row);
        for (channel, value) in self.file.joints[joint].channels.iter().zip(values) {
            if channel.is_position() {
                at[channel.axis()] = *value;
            }
        }
        at
    }

    /// The product of a joint's rotation channels in their order.
    fn rotation(&self, joint: usize, row: usize) -> DQuat {
        let values = self.values(joint, row);
        let mut rotation = DQuat::IDENTITY;
        for (channel, value) in self.file.joints[joint].channels.iter().zip(values) {
            if !channel.is_position() {
                let radians = (value % 360.0).to_radians();
                rotation *= match channel.axis() {
                    0 => DQuat::from_rotation_x(radians),
                    1 => DQuat::from_rotation_y(radians),
                    _ => DQuat::from_rotation_z(radians),
                };
            }
        }
        rotation
    }

    /// Forward kinematics of a row, or of the offsets alone.
    pub(super) fn pose(&self, row: Option<usize>) -> FilePose {
        let n = self.file.joints.len();
        let (mut rotations, mut positions) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for joint in 0..n {
            let local = row.map_or(DQuat::IDENTITY, |row| self.rotation(joint, row));
            let offset = match row {
                Some(row) if joint <= self.root => self.position(joint, row),
                _ => self.offsets[joint],
            };
            match self.file.joints[joint].parent {
                Some(parent) => {
                    let p = parent as usize;
                    let above: DQuat = rotations[p];
                    let at: DVec3 = positions[p];
                    rotations.push((above * local).normalize());
                    positions.push(at + above * offset);
                }
                None => {
                    rotations.push(local);
                    positions.push(offset);
                }
            }
        }
        rotations.drain(..self.root);
        positions.drain(..self.root);
        FilePose {
            rotations,
            positions,
        }
    }

    /// The lowest and highest point of the skeleton, tips included, along a
    /// direction.
    pub(super) fn extent(&self, pose: &FilePose, direction: DVec3) -> (f64, f64) {
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for (j, joint) in self.file.joints[self.root..].iter().enumerate() {
            let here = pose.positions[j];
            let tip = joint.end_site.map(|end| here + pose.rotations[j] * end);
            for point in [Some(here), tip].into_iter().flatten() {
                let height = point.dot(direction);
                range = (range.0.min(height), range.1.max(height));
            }
        }
        range
    }

    pub(super) fn note_positions(
        &self,
        unit_m: f64,
        names: &[String],
        notes: &mut Vec<MotionNote>,
    ) {
        for joint in 0..self.root {
            notes.push(MotionNote::RootFolded {
                joint: self.file.joints[joint].name.clone(),
            });
        }
        for &(joint, range, replaces) in &self.positioned {
            let name = || names[joint - self.root].clone();
            if replaces {
                notes.push(MotionNote::OffsetFromChannels { joint: name() });
            } else if range * unit_m > 1e-3 {
                notes.push(MotionNote::PositionsIgnored {
                    joint: name(),
                    range: range * unit_m,
                });
            }
        }
    }
}
