//! The mannequin as something to lay cloth on: [`Stand`].

use drapery_core::{BodyModel, Pose, PoseVelocity, Topology};
use drapery_scene::character::Character;
use drapery_scene::mannequin;
use drapery_sim::MeshObstacle;
use glam::{DVec3, Quat, Vec3};

/// A tolerance at which what sticks does not creep [m/s].
pub(super) const TIGHT: f64 = 1e-3;
/// [m/s²]
pub(super) const GRAVITY: f64 = 9.81;

/// A bone of the left arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bone {
    UpperArm,
    Forearm,
}

impl Bone {
    /// What it ends in.
    pub(super) const fn end(self) -> &'static str {
        match self {
            Self::UpperArm => "elbow",
            Self::Forearm => "wrist",
        }
    }

    /// The joints at its ends.
    const fn joints(self) -> [&'static str; 2] {
        match self {
            Self::UpperArm => ["left_shoulder", "left_elbow"],
            Self::Forearm => ["left_elbow", "left_wrist"],
        }
    }
}

/// The mannequin of mean shape, standing still.
pub(super) struct Stand {
    model: Character,
    /// [m], shape [vertex].
    pub(super) vertices: Vec<DVec3>,
    joints: Vec<Vec3>,
}

impl Stand {
    /// At rest, arms half raised.
    pub(super) fn at_rest() -> Self {
        let model = mannequin::character();
        let pose = model.skeleton().rest_pose();
        Self::posed(model, &pose)
    }

    /// The left arm held out level, along +X.
    pub(super) fn arm_out() -> Self {
        let model = mannequin::character();
        let mut pose = model.skeleton().rest_pose();
        let rest = model.skeleton().rest();
        let [shoulder, elbow, wrist] = Self::arm(&model);
        let along = |from: usize, to: usize| (rest[to] - rest[from]).normalize();
        let raised = Quat::from_rotation_arc(along(shoulder, elbow), Vec3::X);
        let straight = Quat::from_rotation_arc(along(elbow, wrist), raised.inverse() * Vec3::X);
        pose.rotations[shoulder] = raised;
        pose.rotations[elbow] = straight;
        Self::posed(model, &pose)
    }

    fn arm(model: &Character) -> [usize; 3] {
        ["left_shoulder", "left_elbow", "left_wrist"].map(|name| joint(model, name))
    }

    fn posed(model: Character, pose: &Pose) -> Self {
        let mean = vec![0.0; model.shape_parameters().len()];
        let body = model.shaped(&mean).expect("the mean shape is one");
        let mut posed = model.room();
        let still = PoseVelocity::zero(model.skeleton().len());
        model
            .pose(&body, pose, &still, &mut posed)
            .expect("a pose of its own skeleton");
        Self {
            vertices: posed.vertices.iter().map(|p| p.as_dvec3()).collect(),
            joints: posed.joint_positions,
            model,
        }
    }

    pub(super) fn topology(&self) -> &Topology {
        self.model.topology()
    }

    /// The ends of a bone [m].
    pub(super) fn bone(&self, bone: Bone) -> [DVec3; 2] {
        bone.joints()
            .map(|name| self.joints[joint(&self.model, name)].as_dvec3())
    }

    pub(super) fn obstacle(&self) -> MeshObstacle {
        self.obstacle_at(self.vertices.clone())
    }

    /// The same with its vertices elsewhere [m].
    pub(super) fn obstacle_at(&self, vertices: Vec<DVec3>) -> MeshObstacle {
        MeshObstacle::new(self.topology(), vertices).expect("the mannequin is closed")
    }
}

fn joint(model: &Character, name: &str) -> usize {
    let found = model.skeleton().joint(name);
    found.expect("a joint of the mannequin").index()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arm_that_is_held_out_is_level_and_straight() {
        let stand = Stand::arm_out();
        for bone in [Bone::UpperArm, Bone::Forearm] {
            let [from, to] = stand.bone(bone);
            let along = (to - from).normalize();
            assert!(along.distance(DVec3::X) < 1e-5, "{bone:?} {along}");
            // Its skin is around it.
            let middle = from.midpoint(to);
            let skin = stand.obstacle().nearest(middle, 1.0).unwrap();
            assert!((-0.07..-0.02).contains(&skin.distance), "{skin:?}");
        }
    }
}
