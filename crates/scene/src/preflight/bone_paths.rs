//! How far apart two vertices are along the skeleton: [`BonePaths`].
//!
//! A vertex stands at the nearest point of the bones of the joint it follows
//! most, the bones being those to the joint's children. The way from one
//! vertex to another leads along its bone to either end, over the tree of
//! joints, and along the other bone.

use drapery_core::{JointId, Skeleton};
use glam::Vec3;

/// Distances along the bones between vertices of a body at rest.
pub(super) struct BonePaths {
    /// Path length between any two joints [m].
    joints: Vec<Vec<f32>>,
    /// Where each vertex stands.
    stations: Vec<Station>,
}

/// A point on a bone: its ends with the lengths to them [m].
#[derive(Clone, Copy)]
struct Station {
    ends: [(usize, f32); 2],
}

impl BonePaths {
    /// Of a body with its vertices at `rest` [m], each following the joint in
    /// `main`.
    pub(super) fn new(skeleton: &Skeleton, rest: &[Vec3], main: &[u16]) -> Self {
        let (parents, places) = (skeleton.parents(), skeleton.rest());
        let n = parents.len();
        let mut joints = vec![vec![0.0; n]; n];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
        // Parents come first: the way to a joint leads over its parent.
        for joint in 1..n {
            let Some(parent) = parents[joint].map(JointId::index) else {
                continue;
            };
            children[parent].push(joint);
            let bone = places[joint].distance(places[parent]);
            let mut row = joints[parent].clone();
            row[joint..].fill(0.0);
            for (other, length) in row.iter_mut().enumerate().take(joint) {
                *length += bone;
                joints[other][joint] = *length;
            }
            joints[joint] = row;
        }
        let station = |(&p, &joint): (&Vec3, &u16)| {
            let joint = usize::from(joint);
            let start = places[joint];
            let mut best = (p.distance(start), Station::at(joint));
            for &child in &children[joint] {
                let along = places[child] - start;
                let length = along.length();
                if length <= 0.0 {
                    continue;
                }
                let t = ((p - start).dot(along) / (length * length)).clamp(0.0, 1.0);
                let distance = p.distance(start + along * t);
                if distance < best.0 {
                    let ends = [(joint, t * length), (child, (1.0 - t) * length)];
                    best = (distance, Station { ends });
                }
            }
            best.1
        };
        let stations = rest.iter().zip(main).map(station).collect();
        Self { joints, stations }
    }

    /// The path between two joints along the bones [m].
    pub(super) fn between_joints(&self, a: usize, b: usize) -> f32 {
        self.joints[a][b]
    }

    /// The path between two vertices along the bones [m].
    pub(super) fn between(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (self.stations[a as usize], self.stations[b as usize]);
        if a.ends.map(|e| e.0) == b.ends.map(|e| e.0) {
            return (a.ends[0].1 - b.ends[0].1).abs();
        }
        let mut shortest = f32::INFINITY;
        for (from, start) in a.ends {
            for (to, end) in b.ends {
                shortest = shortest.min(start + self.joints[from][to] + end);
            }
        }
        shortest
    }
}

impl Station {
    fn at(joint: usize) -> Self {
        Self {
            ends: [(joint, 0.0); 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trunk of 1 m with an arm of 0.5 m at its top: a T cut in half.
    #[test]
    fn paths_lead_over_the_joint() {
        let skeleton = Skeleton::new(
            ["hip", "neck", "hand"].map(String::from).to_vec(),
            vec![None, Some(JointId(0)), Some(JointId(1))],
            vec![Vec3::ZERO, Vec3::Y, Vec3::new(0.5, 1.0, 0.0)],
        )
        .unwrap();
        let rest = [
            Vec3::new(0.1, 0.2, 0.0),  // on the trunk, 0.8 below the neck
            Vec3::new(-0.1, 0.9, 0.0), // on the trunk, 0.1 below it
            Vec3::new(0.3, 0.9, 0.0),  // on the arm, 0.3 from the neck
            Vec3::new(0.8, 1.0, 0.0),  // the hand
        ];
        let paths = BonePaths::new(&skeleton, &rest, &[0, 0, 1, 2]);
        let expected = [
            (0, 1, 0.7),
            (0, 2, 1.1),
            (1, 2, 0.4),
            (2, 3, 0.2),
            (0, 3, 1.3),
        ];
        for (a, b, length) in expected {
            assert!((paths.between(a, b) - length).abs() < 1e-6, "{a} to {b}");
            assert_eq!(paths.between(a, b), paths.between(b, a));
        }
    }
}
