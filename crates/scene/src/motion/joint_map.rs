//! [`JointMap`]: which joint of one skeleton follows which of another, and how.

use std::collections::HashMap;

use drapery_core::{JointId, Skeleton};

use super::convention::plain_name;
use super::{Anatomy, Role};

/// How the rest pose of a target joint is brought to that of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It is the same already: trunk, head, collar bones, feet.
    Identity,
    /// By the shortest turn that points the bone to `child` as in the source:
    /// thighs, shins, upper arms, forearms.
    Aim {
        /// The target joint at the other end of the bone.
        child: JointId,
    },
    /// As the joint above: hands, fingers.
    Carry,
}

/// A target joint and the source joint that it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointLink {
    /// The joint that is moved.
    pub target: JointId,
    /// The joint whose motion it gets.
    pub source: JointId,
    /// How rest poses are matched.
    pub rule: Rule,
}

/// The links between two skeletons. Target joints without a link keep still
/// against their parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointMap {
    /// In the order of the target's joints.
    links: Vec<JointLink>,
    /// What the target's joints are.
    target_roles: Vec<Option<Role>>,
    n_source: usize,
    /// Target joints that should be aimed but have nothing to aim at.
    not_aimed: Vec<JointId>,
}

/// Why two skeletons can't be linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JointMapError {
    /// The source's joint names are of no known convention.
    #[error("the joints of the source have names of no known convention; give pairs")]
    UnknownSource,
    /// The target's joint names are of no known convention.
    #[error("the joints of the target have names of no known convention; give pairs")]
    UnknownTarget,
    /// A pair names a joint that the source does not have.
    #[error("the source has no joint {0}")]
    NoSourceJoint(String),
    /// A pair names a joint that the target does not have.
    #[error("the target has no joint {0}")]
    NoTargetJoint(String),
    /// Two pairs name one target joint.
    #[error("target joint {0} has two partners")]
    Twice(String),
}

impl JointMap {
    /// Links joints that are the same part of the body, known by their names
    /// and places (see [`Anatomy`]); joints that are no known part are linked
    /// when their names are the same.
    ///
    /// # Errors
    /// When the names of either skeleton are of no known convention.
    pub fn between(source: &Skeleton, target: &Skeleton) -> Result<Self, JointMapError> {
        let from = Anatomy::of(source).ok_or(JointMapError::UnknownSource)?;
        let to = Anatomy::of(target).ok_or(JointMapError::UnknownTarget)?;
        // Joints of the source that are no known part, by name.
        let others: HashMap<String, usize> = (0..source.len())
            .filter(|&joint| from.roles()[joint].is_none())
            .map(|joint| (plain_name(&source.names()[joint]), joint))
            .collect();
        let mut partner = vec![None; target.len()];
        for (joint, partner) in partner.iter_mut().enumerate() {
            *partner = match to.roles()[joint] {
                Some(role) => from.joint(role),
                None => others.get(&plain_name(&target.names()[joint])).copied(),
            };
        }
        // What is above the target's pelvis goes where the pelvis goes, so
        // that the root of the clip has the heading of the body.
        let mut above = to.joint(Role::Pelvis);
        while let Some(joint) = above {
            partner[joint] = from.joint(Role::Pelvis);
            above = target.parents()[joint].map(JointId::index);
        }
        Ok(Self::link(source, target, &partner, to.roles().to_vec()))
    }

    /// Links the joints of the given pairs, source first.
    ///
    /// How their rest poses are matched is known from what they are, when
    /// either name says so; joints of which nothing is known carry on the turn
    /// of the joint above.
    ///
    /// # Errors
    /// When a pair names a joint that is not there, or a target joint twice.
    pub fn from_pairs<'a>(
        source: &Skeleton,
        target: &Skeleton,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, JointMapError> {
        let mut partner = vec![None; target.len()];
        for (source_name, target_name) in pairs {
            let s = source
                .joint(source_name)
                .ok_or_else(|| JointMapError::NoSourceJoint(source_name.to_string()))?;
            let t = target
                .joint(target_name)
                .ok_or_else(|| JointMapError::NoTargetJoint(target_name.to_string()))?;
            if partner[t.index()].replace(s.index()).is_some() {
                return Err(JointMapError::Twice(target_name.to_string()));
            }
        }
        let (from, to) = (Anatomy::of(source), Anatomy::of(target));
        let roles = (partner.iter().enumerate())
            .map(|(joint, partner)| match (&to, &from, partner) {
                (Some(to), _, _) => to.roles()[joint],
                (None, Some(from), Some(s)) => from.roles()[*s],
                _ => None,
            })
            .collect();
        Ok(Self::link(source, target, &partner, roles))
    }

    /// The links, in the order of the target's joints.
    pub fn links(&self) -> &[JointLink] {
        &self.links
    }

    /// What each target joint is, as far as known, shape [target joint].
    pub fn target_roles(&self) -> &[Option<Role>] {
        &self.target_roles
    }

    /// The link of the target joint with that role.
    pub fn link_of(&self, role: Role) -> Option<&JointLink> {
        let joint = self.target_joint(role)?;
        self.links.iter().find(|link| link.target == joint)
    }

    /// The target joint with that role.
    pub(super) fn target_joint(&self, role: Role) -> Option<JointId> {
        let joint = self.target_roles.iter().position(|&r| r == Some(role))?;
        Some(JointId(joint as u16))
    }

    pub(super) fn not_aimed(&self) -> &[JointId] {
        &self.not_aimed
    }

    /// Whether the map was made for skeletons of these sizes.
    pub(super) fn fits(&self, n_source: usize, n_target: usize) -> bool {
        self.n_source == n_source && self.target_roles.len() == n_target
    }

    fn link(
        source: &Skeleton,
        target: &Skeleton,
        partner: &[Option<usize>],
        target_roles: Vec<Option<Role>>,
    ) -> Self {
        let mut map = Self {
            links: Vec::new(),
            target_roles,
            n_source: source.len(),
            not_aimed: Vec::new(),
        };
        for joint in 0..target.len() {
            let Some(source) = partner[joint] else {
                continue;
            };
            let role = map.target_roles[joint];
            let id = JointId(joint as u16);
            let rule = match role.map_or(Matching::Carry, matching) {
                Matching::Identity => Rule::Identity,
                Matching::Carry => Rule::Carry,
                Matching::Aim(next) => match map.target_joint(next) {
                    Some(child) if partner[child.index()].is_some() => Rule::Aim { child },
                    _ => {
                        map.not_aimed.push(id);
                        Rule::Carry
                    }
                },
            };
            map.links.push(JointLink {
                target: id,
                source: JointId(source as u16),
                rule,
            });
        }
        map
    }
}

/// How the rest pose of a part of the body is matched.
enum Matching {
    Identity,
    Aim(Role),
    Carry,
}

fn matching(role: Role) -> Matching {
    match role {
        Role::Hip(side) => Matching::Aim(Role::Knee(side)),
        Role::Knee(side) => Matching::Aim(Role::Ankle(side)),
        Role::Shoulder(side) => Matching::Aim(Role::Elbow(side)),
        Role::Elbow(side) => Matching::Aim(Role::Wrist(side)),
        Role::Wrist(_) | Role::FingerBase(_) | Role::Finger(_) | Role::Thumb(_) => Matching::Carry,
        _ => Matching::Identity,
    }
}
