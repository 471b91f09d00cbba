//! How a part of the mannequin grows: [`Growth`], and what it does to skin and
//! joints.
//!
//! A vertex keeps its part coordinates, which are where it is along a bone and
//! how far around and from it. A growth says how far the joints move and by
//! which share the skin moves away from the bones:
//!
//! ```text
//! Sₖ(v) = Σⱼ wⱼ(v) [ (1 − t) dⱼ + t d_child + g_part · r ]
//! ```
//!
//! with w the shares of the joints before they are cut to four, t the place
//! along the bone, d the displacements of the joints and r the vector from the
//! bone to v. All of it is linear in the parameter.
//!
//! A thigh grows away from the other: what it gains on its inside the whole leg
//! moves outwards.

use drapery_core::{JointId, Skeleton};
use glam::{DVec2, DVec3};

use super::sections::trunk_middle;
use super::skeleton::{N_JOINTS, mirrored};
use super::surface::Skin;

/// What one unit of a parameter does; shares unless said otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    /// All bones, from the floor up.
    pub(super) length: f64,
    /// Chest, waist and hips, around the spine.
    pub(super) chest: f64,
    /// See `chest`.
    pub(super) waist: f64,
    /// See `chest`; hips and the top of the thighs.
    pub(super) hips: f64,
    /// More of the waist to the front than to the back.
    pub(super) belly: f64,
    /// Breasts to the front [m].
    pub(super) breasts: f64,
    /// Each shoulder outwards [m].
    pub(super) shoulders: f64,
    /// Around the neck.
    pub(super) neck: f64,
    /// The head, from where the neck meets it.
    pub(super) head: f64,
    /// Around upper arm, forearm, thigh and shank.
    pub(super) upper_arm: f64,
    /// See `upper_arm`.
    pub(super) forearm: f64,
    /// See `upper_arm`.
    pub(super) thigh: f64,
    /// See `upper_arm`.
    pub(super) shank: f64,
    /// Breadth and thickness of the hands.
    pub(super) hand: f64,
    /// Breadth and height of the feet.
    pub(super) foot: f64,
}

/// Displacements of all vertices and joints for one unit [m].
#[derive(Clone, Debug)]
pub(super) struct Direction {
    pub(super) vertices: Vec<DVec3>,
    pub(super) joints: Vec<DVec3>,
}

/// How much of a thigh's growth on its inside is made up for by moving the leg
/// outwards [m]: its half-axis inwards near the groin.
const INNER_THIGH: f64 = 0.088;

/// How much of that knees and ankles follow: there is room between them, and
/// thin legs that came in as far as the groin does would cross.
const KNEES_FOLLOW: f64 = 0.75;
const ANKLES_FOLLOW: f64 = 0.6;

/// How much of the hips' growth the legs move outwards with.
const LEGS_WITH_HIPS: f64 = 0.6;

/// How much of a change of stature the head shares: heads differ less.
const HEAD_WITH_LENGTH: f64 = 0.4;

/// How much the arms move outwards when the chest grows [m]: nearly the half
/// width of the chest at the armpit.
const ARMPIT: f64 = 0.11;

/// Heights at which the parts of the trunk begin, are fullest and end [m].
const CHEST: [f64; 4] = [1.04, 1.20, 1.26, 1.42];
const WAIST: [f64; 4] = [0.83, 1.00, 1.05, 1.24];
const HIPS: [f64; 4] = [0.58, 0.85, 0.88, 1.06];
const BELLY: [f64; 4] = [0.86, 0.98, 1.06, 1.20];

/// The middle of a breast seen from the front, and how far it reaches [m].
const BREAST: DVec2 = DVec2::new(0.085, 1.205);
const BREAST_RADIUS: f64 = 0.095;

/// What a joint carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Trunk,
    Neck,
    Head,
    UpperArm,
    Forearm,
    Hand,
    Thigh,
    Shank,
    Foot,
}

/// A joint's part and the bone that it is measured along.
#[derive(Clone, Copy, Debug)]
struct Bone {
    part: Part,
    from: usize,
    to: usize,
}

/// The mannequin's vertices in part coordinates.
pub(super) struct Parts<'a> {
    skin: &'a Skin,
    skeleton: &'a Skeleton,
    /// The joints that each vertex follows, with their shares.
    shares: Vec<Vec<(usize, f64)>>,
    joints: Vec<DVec3>,
    bones: Vec<Bone>,
}

impl<'a> Parts<'a> {
    /// With the share of each joint in each vertex, shape [vertex, joint].
    pub(super) fn new(skin: &'a Skin, skeleton: &'a Skeleton, shares: &[f64]) -> Self {
        let joint = |name: &str| skeleton.joint(name).map(JointId::index);
        let bone = |(own, name): (usize, &String)| {
            let (side, place) = name.split_once('_').unwrap_or(("", name));
            let bone = |part, from: &str, to: &str| Bone {
                part,
                from: joint(&format!("{side}_{from}")).unwrap_or(own),
                to: joint(&format!("{side}_{to}")).unwrap_or(own),
            };
            match place {
                "shoulder" => bone(Part::UpperArm, "shoulder", "elbow"),
                "elbow" => bone(Part::Forearm, "elbow", "wrist"),
                "wrist" | "hand" => bone(Part::Hand, "wrist", "hand"),
                "hip" => bone(Part::Thigh, "hip", "knee"),
                "knee" => bone(Part::Shank, "knee", "ankle"),
                "ankle" | "foot" => bone(Part::Foot, "ankle", "foot"),
                "neck" => Bone {
                    part: Part::Neck,
                    from: own,
                    to: joint("head").unwrap_or(own),
                },
                "head" => bone(Part::Head, "head", "head"),
                _ => bone(Part::Trunk, "", ""),
            }
        };
        Self {
            skin,
            skeleton,
            shares: shares
                .chunks_exact(N_JOINTS)
                .map(|row| {
                    let all = row.iter().copied().enumerate();
                    all.filter(|s| s.1 > 1e-6).collect()
                })
                .collect(),
            joints: skeleton.rest().iter().map(|p| p.as_dvec3()).collect(),
            bones: skeleton.names().iter().enumerate().map(bone).collect(),
        }
    }

    /// What a growth does; mirrored to the bit, with soles that stay on the
    /// floor.
    pub(super) fn grown(&self, growth: &Growth) -> Direction {
        let joints = self.joint_displacements(growth);
        let mut vertices = vec![DVec3::ZERO; self.skin.positions.len()];
        for (v, p) in self.skin.positions.iter().enumerate() {
            if p.x < 0.0 {
                continue;
            }
            let p = p.as_dvec3();
            let mut d = self.displacement(v, p, growth, &joints);
            if p.x == 0.0 {
                d.x = 0.0;
            }
            d.y *= smooth_step(p.y / 0.03);
            vertices[v] = d;
            vertices[self.skin.mirror[v] as usize] = DVec3::new(-d.x, d.y, d.z);
        }
        for (v, p) in self.skin.positions.iter().enumerate() {
            if p.x == 0.0 {
                vertices[v].x = 0.0;
            }
        }
        Direction { vertices, joints }
    }

    fn joint(&self, name: &str) -> usize {
        let joint = self.skeleton.joint(name).expect("a joint of the mannequin");
        joint.index()
    }

    fn joint_displacements(&self, growth: &Growth) -> Vec<DVec3> {
        let mut moved: Vec<DVec3> = self.joints.iter().map(|p| *p * growth.length).collect();
        let mut add = |names: &[&str], d: DVec3| {
            for name in names {
                let j = self.joint(name);
                moved[j] += d;
                let other = mirrored(JointId(j as u16)).index();
                moved[other] += DVec3::new(-d.x, d.y, d.z);
            }
        };
        let leg = DVec3::X * self.leg_shift(growth);
        add(&["left_hip"], leg);
        add(&["left_knee"], leg * KNEES_FOLLOW);
        add(&["left_ankle", "left_foot"], leg * ANKLES_FOLLOW);
        let arm = ["left_shoulder", "left_elbow", "left_wrist", "left_hand"];
        add(&arm, DVec3::X * (growth.shoulders + ARMPIT * growth.chest));
        add(&["left_collar"], DVec3::X * (0.3 * growth.shoulders));
        moved
    }

    /// How far the legs move outwards [m].
    fn leg_shift(&self, growth: &Growth) -> f64 {
        INNER_THIGH * (growth.thigh + LEGS_WITH_HIPS * growth.hips)
    }

    fn displacement(&self, v: usize, p: DVec3, growth: &Growth, moved: &[DVec3]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        let mut total = 0.0;
        let trunk = self.trunk(p, growth);
        for &(j, share) in &self.shares[v] {
            let bone = &self.bones[j];
            let d = match bone.part {
                Part::UpperArm => self.limb(bone, p, growth.upper_arm, moved),
                Part::Forearm => self.limb(bone, p, growth.forearm, moved),
                Part::Hand => self.limb(bone, p, growth.hand, moved),
                Part::Thigh => {
                    let top = window(p.y, HIPS) * growth.hips;
                    self.limb(bone, p, growth.thigh + top, moved)
                }
                Part::Shank => self.limb(bone, p, growth.shank, moved),
                Part::Foot => self.foot(bone, p, growth, moved),
                Part::Neck => trunk + self.across(p, bone) * growth.neck,
                Part::Head => {
                    let own = growth.head + HEAD_WITH_LENGTH * growth.length;
                    moved[j] + (p - self.joints[j]) * own
                }
                Part::Trunk => trunk,
            };
            sum += d * share;
            total += share;
        }
        sum / total
    }

    /// The vector to a place from the line along a bone.
    fn across(&self, p: DVec3, bone: &Bone) -> DVec3 {
        let along = (self.joints[bone.to] - self.joints[bone.from]).normalize();
        let r = p - self.joints[bone.from];
        r - along * r.dot(along)
    }

    /// Along a bone between its joints and beyond them, away from it by a share.
    fn limb(&self, bone: &Bone, p: DVec3, girth: f64, moved: &[DVec3]) -> DVec3 {
        let (from, to) = (bone.from, bone.to);
        let along = self.joints[to] - self.joints[from];
        let t = (p - self.joints[from]).dot(along) / along.length_squared();
        moved[from].lerp(moved[to], t) + self.across(p, bone) * girth
    }

    fn foot(&self, bone: &Bone, p: DVec3, growth: &Growth, moved: &[DVec3]) -> DVec3 {
        let ankle = self.joints[bone.from];
        let r = DVec3::new(p.x - ankle.x, p.y, 0.4 * (p.z - ankle.z));
        let shift = DVec3::new(moved[bone.from].x - growth.length * ankle.x, 0.0, 0.0);
        shift + p * growth.length + r * growth.foot
    }

    fn trunk(&self, p: DVec3, growth: &Growth) -> DVec3 {
        let r = DVec3::new(p.x, 0.0, p.z - trunk_middle(p.y));
        let belly = window(p.y, BELLY);
        let front = if r.z > 0.0 { 1.0 } else { -0.5 };
        let girth = growth.chest * window(p.y, CHEST)
            + growth.waist * window(p.y, WAIST)
            + growth.hips * window(p.y, HIPS);
        let mut d = p * growth.length + r * girth;
        d.z += belly * growth.belly * r.z * front * smooth_step(r.z.abs() / 0.08);
        // Breasts: a round patch to the front.
        if p.z > 0.0 {
            let away = DVec2::new(p.x, p.y).distance(BREAST) / BREAST_RADIUS;
            let near = (1.0 - away * away).max(0.0);
            d.z += growth.breasts * near * near * smooth_step(p.z / 0.06);
        }
        // The shoulders take the upper trunk along.
        let shoulder = self.joints[self.joint("left_shoulder")];
        let upper = smooth_step((p.y - 1.16) / 0.16) * smooth_step((p.x / shoulder.x).min(1.0));
        d.x += upper * growth.shoulders;
        // The legs take the hips along.
        let lower = (1.0 - smooth_step((p.y - 0.80) / 0.22)) * smooth_step(p.x / 0.10);
        d.x += lower * self.leg_shift(growth);
        d
    }
}

/// 0 up to the first height, 1 between the second and third, 0 from the fourth.
fn window(y: f64, [from, full, still, to]: [f64; 4]) -> f64 {
    smooth_step((y - from) / (full - from)) * smooth_step((to - y) / (to - still))
}

fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
