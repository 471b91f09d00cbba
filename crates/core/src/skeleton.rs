//! Named joints in a tree: [`Skeleton`], and where a pose puts them.

use alloc::string::String;
use alloc::vec::Vec;

use glam::{Affine3A, Quat, Vec3};

use crate::{JointId, Pose, PoseVelocity};

/// Joints with names, parents and rest positions.
///
/// There is at least one joint; the first is the only root; parents come
/// before their children; names are unique; rest positions are finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Skeleton {
    names: Vec<String>,
    parents: Vec<Option<JointId>>,
    rest: Vec<Vec3>,
}

/// Why arrays don't make a [`Skeleton`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// There is no joint at all.
    #[error("the skeleton has no joints")]
    Empty,
    /// The arrays have different lengths.
    #[error("{names} joint names, {parents} parents and {rest} rest positions do not match")]
    Lengths {
        /// How many names.
        names: usize,
        /// How many parents.
        parents: usize,
        /// How many rest positions.
        rest: usize,
    },
    /// More joints than [`Skeleton::MAX_JOINTS`].
    #[error("{0} joints are more than the limit of {limit}", limit = Skeleton::MAX_JOINTS)]
    TooMany(usize),
    /// A joint comes before its parent, or is its own ancestor.
    #[error("joint {joint} ({name}) has parent {parent}, which does not come before it")]
    Order {
        /// The joint's index.
        joint: usize,
        /// Its name.
        name: String,
        /// The parent it names.
        parent: u16,
    },
    /// The first joint has a parent, or a later one has none.
    #[error("joint {joint} ({name}) is a second root")]
    Root {
        /// The joint's index.
        joint: usize,
        /// Its name.
        name: String,
    },
    /// Two joints have one name.
    #[error("joints {first} and {second} are both named {name}")]
    DuplicateName {
        /// The earlier joint.
        first: usize,
        /// The later joint.
        second: usize,
        /// Their name.
        name: String,
    },
    /// A rest position is not a number, or beyond a thousand kilometres.
    #[error("joint {joint} ({name}) has a rest position that is not finite or beyond 1e6 m")]
    NotFinite {
        /// The joint's index.
        joint: usize,
        /// Its name.
        name: String,
    },
}

/// How fast a joint moves in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointVelocity {
    /// Velocity of the joint itself [m/s].
    pub linear: Vec3,
    /// Angular velocity of what hangs on it [rad/s].
    pub angular: Vec3,
}

impl Skeleton {
    /// The most joints that a skeleton may have: many times what any rig has,
    /// and few enough for a [`JointId`] and for loops over pairs.
    pub const MAX_JOINTS: usize = 4096;

    /// A skeleton from parallel arrays; `rest` is in metres.
    ///
    /// # Errors
    /// When one of the promises of the type is broken.
    pub fn new(
        names: Vec<String>,
        parents: Vec<Option<JointId>>,
        rest: Vec<Vec3>,
    ) -> Result<Self, SkeletonError> {
        if names.is_empty() {
            return Err(SkeletonError::Empty);
        }
        if names.len() != parents.len() || names.len() != rest.len() {
            return Err(SkeletonError::Lengths {
                names: names.len(),
                parents: parents.len(),
                rest: rest.len(),
            });
        }
        if names.len() > Self::MAX_JOINTS {
            return Err(SkeletonError::TooMany(names.len()));
        }
        for (joint, parent) in parents.iter().enumerate() {
            let name = || names[joint].clone();
            match parent {
                Some(p) if p.index() >= joint => {
                    return Err(SkeletonError::Order {
                        joint,
                        name: name(),
                        parent: p.0,
                    });
                }
                None if joint > 0 => {
                    return Err(SkeletonError::Root {
                        joint,
                        name: name(),
                    });
                }
                _ => {}
            }
            if !rest[joint].is_finite() || rest[joint].abs().max_element() > 1e6 {
                return Err(SkeletonError::NotFinite {
                    joint,
                    name: name(),
                });
            }
        }
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_key(|&j| &names[j]);
        for pair in order.windows(2) {
            if names[pair[0]] == names[pair[1]] {
                return Err(SkeletonError::DuplicateName {
                    first: pair[0].min(pair[1]),
                    second: pair[0].max(pair[1]),
                    name: names[pair[0]].clone(),
                });
            }
        }
        Ok(Self {
            names,
            parents,
            rest,
        })
    }

    /// How many joints there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Always false: a skeleton has a root.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Joint names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Parents; only the first joint has none.
    pub fn parents(&self) -> &[Option<JointId>] {
        &self.parents
    }

    /// Rest positions [m].
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// The joint of that name.
    pub fn joint(&self, name: &str) -> Option<JointId> {
        let joint = self.names.iter().position(|n| n == name)?;
        Some(JointId(joint as u16))
    }

    /// The pose in which every joint is where it is at rest.
    pub fn rest_pose(&self) -> Pose {
        Pose::identity(self.rest[0], self.len())
    }

    /// Writes the world rotation and position [m] of every joint of a body
    /// whose joints rest at `rest`.
    ///
    /// # Panics
    /// When a length differs from the number of joints.
    pub fn globals(
        &self,
        rest: &[Vec3],
        pose: &Pose,
        rotations: &mut [Quat],
        positions: &mut [Vec3],
    ) {
        let n = self.len();
        assert!(
            rest.len() == n
                && pose.rotations.len() == n
                && rotations.len() == n
                && positions.len() == n,
            "one entry a joint"
        );
        for joint in 0..n {
            match self.parents[joint] {
                None => {
                    rotations[joint] = pose.rotations[joint];
                    positions[joint] = pose.root;
                }
                Some(parent) => {
                    let p = parent.index();
                    rotations[joint] = (rotations[p] * pose.rotations[joint]).normalize();
                    positions[joint] = positions[p] + rotations[p] * (rest[joint] - rest[p]);
                }
            }
        }
    }

    /// Writes the velocity of every joint in the world, given what
    /// [`globals`](Self::globals) made of the pose.
    ///
    /// # Panics
    /// When a length differs from the number of joints.
    pub fn velocities(
        &self,
        rotations: &[Quat],
        positions: &[Vec3],
        velocity: &PoseVelocity,
        out: &mut [JointVelocity],
    ) {
        let n = self.len();
        assert!(
            rotations.len() == n
                && positions.len() == n
                && velocity.angular.len() == n
                && out.len() == n,
            "one entry a joint"
        );
        for joint in 0..n {
            out[joint] = match self.parents[joint] {
                None => JointVelocity {
                    linear: velocity.root,
                    angular: velocity.angular[joint],
                },
                Some(parent) => {
                    let p = parent.index();
                    let above = out[p];
                    JointVelocity {
                        linear: above.linear + above.angular.cross(positions[joint] - positions[p]),
                        angular: above.angular + rotations[p] * velocity.angular[joint],
                    }
                }
            };
        }
    }

    /// The map that carries rest positions to the world with a joint at
    /// `position` turned by `rotation`.
    pub fn world_from_rest(rest: Vec3, rotation: Quat, position: Vec3) -> Affine3A {
        Affine3A::from_rotation_translation(rotation, position - rotation * rest)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;
    use core::f32::consts::FRAC_PI_2;

    use super::*;

    fn arm() -> Skeleton {
        Skeleton::new(
            vec![
                "shoulder".to_string(),
                "elbow".to_string(),
                "wrist".to_string(),
            ],
            vec![None, Some(JointId(0)), Some(JointId(1))],
            vec![Vec3::ZERO, Vec3::X, Vec3::new(2.0, 0.0, 0.0)],
        )
        .unwrap()
    }

    #[test]
    fn a_bent_elbow_lifts_the_wrist() {
        let arm = arm();
        let mut pose = arm.rest_pose();
        pose.rotations[1] = Quat::from_rotation_z(FRAC_PI_2);
        let (mut r, mut p) = (vec![Quat::IDENTITY; 3], vec![Vec3::ZERO; 3]);
        arm.globals(arm.rest(), &pose, &mut r, &mut p);
        assert!(p[2].abs_diff_eq(Vec3::new(1.0, 1.0, 0.0), 1e-6));
    }

    #[test]
    fn joint_velocities_match_differences() {
        let arm = arm();
        let mut velocity = PoseVelocity::zero(3);
        velocity.root = Vec3::new(0.3, -0.1, 0.2);
        velocity.angular = vec![
            Vec3::new(0.1, 0.7, -0.2),
            Vec3::new(-0.5, 0.2, 1.0),
            Vec3::Z,
        ];
        let base = [
            Quat::from_rotation_x(0.4),
            Quat::from_rotation_y(0.9),
            Quat::from_rotation_z(-0.3),
        ];
        let at = |t: f32| {
            let pose = Pose {
                root: velocity.root * t,
                rotations: base
                    .iter()
                    .zip(&velocity.angular)
                    .map(|(q, w)| Quat::from_scaled_axis(*w * t) * *q)
                    .collect(),
            };
            let (mut r, mut p) = (vec![Quat::IDENTITY; 3], vec![Vec3::ZERO; 3]);
            arm.globals(arm.rest(), &pose, &mut r, &mut p);
            (r, p)
        };
        let (r, p) = at(0.0);
        let mut v = vec![JointVelocity::default(); 3];
        arm.velocities(&r, &p, &velocity, &mut v);
        let h = 1e-2;
        let (after, before) = (at(h), at(-h));
        for (joint, v) in v.iter().enumerate() {
            let linear = (after.1[joint] - before.1[joint]) / (2.0 * h);
            let angular = (after.0[joint] * before.0[joint].inverse()).to_scaled_axis() / (2.0 * h);
            assert!(linear.abs_diff_eq(v.linear, 2e-4), "{joint}: {linear}");
            assert!(angular.abs_diff_eq(v.angular, 2e-4), "{joint}: {angular}");
        }
    }

    #[test]
    fn one_joint_beyond_the_limit_is_refused_and_the_limit_is_said() {
        let chain = |n: usize| {
            Skeleton::new(
                (0..n).map(|j| j.to_string()).collect(),
                (0..n as u16)
                    .map(|j| j.checked_sub(1).map(JointId))
                    .collect(),
                vec![Vec3::ZERO; n],
            )
        };
        assert!(chain(Skeleton::MAX_JOINTS).is_ok());
        let error = chain(Skeleton::MAX_JOINTS + 1).unwrap_err();
        assert_eq!(error, SkeletonError::TooMany(Skeleton::MAX_JOINTS + 1));
        let message = error.to_string();
        assert!(message.contains(&Skeleton::MAX_JOINTS.to_string()));
    }

    #[test]
    fn broken_trees_are_refused() {
        let names = || vec!["a".to_string(), "b".to_string()];
        let rest = || vec![Vec3::ZERO; 2];
        let cycle = Skeleton::new(names(), vec![None, Some(JointId(1))], rest());
        assert!(matches!(cycle, Err(SkeletonError::Order { joint: 1, .. })));
        let two_roots = Skeleton::new(names(), vec![None, None], rest());
        assert!(matches!(
            two_roots,
            Err(SkeletonError::Root { joint: 1, .. })
        ));
        let twins = vec!["a".to_string(), "a".to_string()];
        let same = Skeleton::new(twins, vec![None, Some(JointId(0))], rest());
        assert!(matches!(
            same,
            Err(SkeletonError::DuplicateName {
                first: 0,
                second: 1,
                ..
            })
        ));
    }
}
