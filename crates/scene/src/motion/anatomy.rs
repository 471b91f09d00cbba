//! [`Anatomy`]: which joint of a skeleton is which part of a body.
//!
//! Limbs and head are known by name ([`Convention`]). The trunk is known by
//! its place in the tree, since programs differ in how many joints it has and
//! number them from either end:
//!
//! - the pelvis is where the legs meet;
//! - the spine runs from there to where the arms meet: its last joint is the
//!   upper spine, its first the lower, one between them the middle;
//! - the neck runs from there to the head.

use drapery_core::Skeleton;

use super::Convention;

/// Left or right, as the body itself would say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The body's left, +X at rest.
    Left,
    /// The body's right, −X at rest.
    Right,
}

/// A part of the body that a joint moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Where the legs meet; most often the root.
    Pelvis,
    /// The first joint of the spine, when it has two or more.
    LowerSpine,
    /// The joint half-way up the spine, when it has three or more.
    MiddleSpine,
    /// The last joint of the spine, where the arms meet.
    UpperSpine,
    /// The first joint of the neck.
    LowerNeck,
    /// The last joint of the neck, when it has two or more.
    UpperNeck,
    /// The head.
    Head,
    /// A joint between pelvis and leg that carries no motion of its own.
    HipHelper(Side),
    /// The hip, which moves the thigh.
    Hip(Side),
    /// The knee, which moves the shin.
    Knee(Side),
    /// The ankle, which moves the foot.
    Ankle(Side),
    /// The joint before the toes.
    Toe(Side),
    /// The collar bone.
    Collar(Side),
    /// The shoulder, which moves the upper arm.
    Shoulder(Side),
    /// The elbow, which moves the forearm.
    Elbow(Side),
    /// The wrist, which moves the hand.
    Wrist(Side),
    /// A joint between hand and fingers.
    FingerBase(Side),
    /// The index finger, or all fingers in one.
    Finger(Side),
    /// The thumb.
    Thumb(Side),
}

/// The roles of a skeleton's joints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anatomy {
    convention: Convention,
    roles: Vec<Option<Role>>,
}

impl Anatomy {
    /// The parts of a skeleton; `None` when no convention names both its legs
    /// from hip to ankle.
    pub fn of(skeleton: &Skeleton) -> Option<Self> {
        let parents: Vec<Option<usize>> = skeleton
            .parents()
            .iter()
            .map(|parent| parent.map(drapery_core::JointId::index))
            .collect();
        Self::of_tree(skeleton.names(), &parents)
    }

    /// The same for names and parents, which come before their children.
    pub(super) fn of_tree(names: &[String], parents: &[Option<usize>]) -> Option<Self> {
        let mut best: Option<(usize, Self)> = None;
        for convention in Convention::ALL {
            let mut anatomy = Self {
                convention,
                roles: vec![None; names.len()],
            };
            let mut found = 0;
            for (joint, name) in names.iter().enumerate() {
                if let Some(role) = convention.role(name)
                    && anatomy.joint(role).is_none()
                {
                    anatomy.roles[joint] = Some(role);
                    found += 1;
                }
            }
            let has_legs = [Side::Left, Side::Right].iter().all(|&side| {
                [Role::Hip(side), Role::Knee(side), Role::Ankle(side)]
                    .iter()
                    .all(|&role| anatomy.joint(role).is_some())
            });
            if has_legs && best.as_ref().is_none_or(|(n, _)| found > *n) {
                best = Some((found, anatomy));
            }
        }
        let (_, mut anatomy) = best?;
        anatomy.name_the_trunk(parents);
        Some(anatomy)
    }

    /// Whose names the joints have.
    pub const fn convention(&self) -> Convention {
        self.convention
    }

    /// What each joint is, shape [joint].
    pub fn roles(&self) -> &[Option<Role>] {
        &self.roles
    }

    /// The index of the joint with that role.
    pub fn joint(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|&r| r == Some(role))
    }

    /// The joints with that role on the left and on the right.
    pub(super) fn pair(&self, role: fn(Side) -> Role) -> Option<[usize; 2]> {
        Some([
            self.joint(role(Side::Left))?,
            self.joint(role(Side::Right))?,
        ])
    }

    fn name_the_trunk(&mut self, parents: &[Option<usize>]) {
        let Some(pelvis) = self
            .pair(Role::Hip)
            .and_then(|[l, r]| meeting(parents, l, r))
        else {
            return;
        };
        self.give(pelvis, Role::Pelvis);
        let Some(chest) = self
            .pair(Role::Shoulder)
            .and_then(|[l, r]| meeting(parents, l, r))
        else {
            return;
        };
        let spine = self.unnamed_between(parents, pelvis, chest, true);
        if let [.., upper] = spine[..] {
            self.give(upper, Role::UpperSpine);
        }
        if let [lower, _, ..] = spine[..] {
            self.give(lower, Role::LowerSpine);
        }
        if spine.len() > 2 {
            self.give(spine[(spine.len() - 1) / 2], Role::MiddleSpine);
        }
        if let Some(head) = self.joint(Role::Head) {
            let neck = self.unnamed_between(parents, chest, head, false);
            if let [lower, ..] = neck[..] {
                self.give(lower, Role::LowerNeck);
            }
            if let [_, .., upper] = neck[..] {
                self.give(upper, Role::UpperNeck);
            }
        }
    }

    fn give(&mut self, joint: usize, role: Role) {
        self.roles[joint].get_or_insert(role);
    }

    /// Joints without a role on the way from where `above` and `below` meet
    /// (left out) down to `below`.
    fn unnamed_between(
        &self,
        parents: &[Option<usize>],
        above: usize,
        below: usize,
        with_below: bool,
    ) -> Vec<usize> {
        let top = meeting(parents, above, below);
        let mut path = Vec::new();
        let mut at = Some(below);
        while let Some(joint) = at.filter(|&joint| Some(joint) != top) {
            if (with_below || joint != below) && self.roles[joint].is_none() {
                path.push(joint);
            }
            at = parents[joint];
        }
        path.reverse();
        path
    }
}

/// The lowest joint that is above or at both.
fn meeting(parents: &[Option<usize>], a: usize, b: usize) -> Option<usize> {
    let (mut a, mut b) = (a, b);
    while a != b {
        if a > b {
            a = parents[a]?;
        } else {
            b = parents[b]?;
        }
    }
    Some(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and parents from a list of `name<parent`.
    fn tree(list: &[&str]) -> (Vec<String>, Vec<Option<usize>>) {
        let mut names: Vec<String> = Vec::new();
        let mut parents = Vec::new();
        for entry in list {
            let (name, parent) = entry.split_once('<').unwrap_or((entry, ""));
            parents.push(names.iter().position(|n| n == parent));
            names.push(name.to_string());
        }
        (names, parents)
    }

    #[test]
    fn make_humans_spine_is_read_from_the_pelvis_up() {
        let (names, parents) = tree(&[
            "root",
            "spine05<root",
            "spine04<spine05",
            "spine03<spine04",
            "spine02<spine03",
            "spine01<spine02",
            "clavicle.L<spine01",
            "upperarm01.L<clavicle.L",
            "clavicle.R<spine01",
            "upperarm01.R<clavicle.R",
            "neck01<spine01",
            "neck02<neck01",
            "neck03<neck02",
            "head<neck03",
            "pelvis.L<root",
            "upperleg01.L<pelvis.L",
            "lowerleg01.L<upperleg01.L",
            "foot.L<lowerleg01.L",
            "pelvis.R<root",
            "upperleg01.R<pelvis.R",
            "lowerleg01.R<upperleg01.R",
            "foot.R<lowerleg01.R",
        ]);
        let anatomy = Anatomy::of_tree(&names, &parents).unwrap();
        assert_eq!(anatomy.convention(), Convention::MakeHuman);
        let named = |role| anatomy.joint(role).map(|j| names[j].as_str());
        assert_eq!(named(Role::Pelvis), Some("root"));
        assert_eq!(named(Role::LowerSpine), Some("spine05"));
        assert_eq!(named(Role::MiddleSpine), Some("spine03"));
        assert_eq!(named(Role::UpperSpine), Some("spine01"));
        assert_eq!(named(Role::LowerNeck), Some("neck01"));
        assert_eq!(named(Role::UpperNeck), Some("neck03"));
        assert_eq!(named(Role::Collar(Side::Left)), Some("clavicle.L"));
    }

    #[test]
    fn a_chain_without_legs_is_no_body() {
        let (names, parents) = tree(&["a", "b<a", "c<b"]);
        assert_eq!(Anatomy::of_tree(&names, &parents), None);
    }
}
