//! Points of the soles, as the rest pose stands on them.
//!
//! Three of each foot: heel, ball and tip of the toes, on the floor at rest.

use drapery_core::{Clip, Skeleton};
use glam::{Quat, Vec3};

use super::{Anatomy, Role, Side};

/// How far behind the ankle the heel is, and before the toe's joint its tip,
/// as shares of the way from the one to the other.
const HEEL: f32 = 0.4;
const TIP: f32 = 0.5;

/// The soles of a skeleton.
#[derive(Clone, Debug)]
pub(super) struct Soles {
    /// The joint that carries each point, and where it is at rest [m].
    points: Vec<(usize, Vec3)>,
    rest: Vec<Vec3>,
}

impl Soles {
    /// The soles of a skeleton with its joints at `rest` [m]; none when it has
    /// no feet that are known by name.
    pub(super) fn of(skeleton: &Skeleton, rest: &[Vec3]) -> Option<Self> {
        let anatomy = Anatomy::of(skeleton)?;
        let mut points: Vec<(usize, Vec3)> = Vec::new();
        for side in [Side::Left, Side::Right] {
            let [ankle, toe] = [Role::Ankle(side), Role::Toe(side)].map(|role| anatomy.joint(role));
            let (ankle, toe) = (ankle?, toe?);
            let (a, t) = (rest[ankle], rest[toe]);
            let floor = |p: Vec3| Vec3::new(p.x, 0.0, p.z);
            points.push((ankle, floor(a - HEEL * (t - a))));
            points.push((toe, floor(t)));
            points.push((toe, floor(t + TIP * (t - a))));
        }
        Some(Self {
            points,
            rest: rest.to_vec(),
        })
    }

    /// Where the points are in every frame [m], shape [frame][point].
    pub(super) fn places(&self, clip: &Clip) -> Vec<Vec<Vec3>> {
        let skeleton = clip.skeleton();
        let n = skeleton.len();
        let (mut turned, mut placed) = (vec![Quat::IDENTITY; n], vec![Vec3::ZERO; n]);
        let frames = clip.frames().iter().map(|pose| {
            skeleton.globals(&self.rest, pose, &mut turned, &mut placed);
            let points = self.points.iter();
            points
                .map(|&(joint, p)| placed[joint] + turned[joint] * (p - self.rest[joint]))
                .collect()
        });
        frames.collect()
    }
}
