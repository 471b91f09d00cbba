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
use glam::DVec3;

use super::figure::trunk_middle;
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

/// How much the arms move outwards when the chest grows [m]: nearly the half
/// width of the chest at the armpit.
const ARMPIT: f64 = 0.11;

/// Heights at which the parts of the trunk begin, are fullest and end [m].
const CHEST: [f64; 4] = [1.07, 1.20, 1.26, 1.42];
const WAIST: [f64; 4] = [0.89, 1.00, 1.04, 1.18];
const HIPS: [f64; 4] = [0.70, 0.84, 0.89, 1.02];

/// The mannequin's vertices in part coordinates.
pub(super) struct Parts<'a> {
    skin: &'a Skin,
    skeleton: &'a Skeleton,
    /// Shape [vertex, joint].
    shares: &'a [f64],
    joints: Vec<DVec3>,
}

impl<'a> Parts<'a> {
    /// With the share of each joint in each vertex, shape [vertex, joint].
    pub(super) fn new(skin: &'a Skin, skeleton: &'a Skeleton, shares: &'a [f64]) -> Self {
        Self {
            skin,
            skeleton,
            shares,
            joints: skeleton.rest().iter().map(|p| p.as_dvec3()).collect(),
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
        let leg = ["left_hip", "left_knee", "left_ankle", "left_foot"];
        add(&leg, DVec3::X * self.leg_shift(growth));
        let arm = ["left_shoulder", "left_elbow", "left_wrist", "left_hand"];
        add(&arm, DVec3::X * (growth.shoulders + ARMPIT * growth.chest));
        add(&["left_collar"], DVec3::X * (0.3 * growth.shoulders));
        moved
    }

    /// How far the legs move outwards [m].
    fn leg_shift(&self, growth: &Growth) -> f64 {
        INNER_THIGH * (growth.thigh + 0.6 * growth.hips)
    }

    fn displacement(&self, v: usize, p: DVec3, growth: &Growth, moved: &[DVec3]) -> DVec3 {
        let shares = &self.shares[v * N_JOINTS..(v + 1) * N_JOINTS];
        let names = self.skeleton.names();
        let mut sum = DVec3::ZERO;
        let mut total = 0.0;
        for (j, &share) in shares.iter().enumerate() {
            if share <= 1e-9 {
                continue;
            }
            let name = names[j].as_str();
            let d = match name
                .trim_start_matches("left_")
                .trim_start_matches("right_")
            {
                "shoulder" => self.limb(j, "elbow", p, growth.upper_arm, moved),
                "elbow" => self.limb(j, "wrist", p, growth.forearm, moved),
                "wrist" | "hand" => self.limb(j, "hand", p, growth.hand, moved),
                "hip" => {
                    let top = window(p.y, HIPS) * growth.hips;
                    self.limb(j, "knee", p, growth.thigh + top, moved)
                }
                "knee" => self.limb(j, "ankle", p, growth.shank, moved),
                "ankle" | "foot" => self.foot(j, p, growth, moved),
                "neck" => {
                    let r = self.across(p, self.joint("neck"), self.joint("head"));
                    self.trunk(p, growth) + r * growth.neck
                }
                "head" => {
                    let head = self.joint("head");
                    // Heads grow with stature by less than half.
                    let own = growth.head + 0.4 * growth.length;
                    moved[head] + (p - self.joints[head]) * own
                }
                _ => self.trunk(p, growth),
            };
            sum += d * share;
            total += share;
        }
        sum / total
    }

    /// The vector to a place from the line through two joints.
    fn across(&self, p: DVec3, from: usize, to: usize) -> DVec3 {
        let along = (self.joints[to] - self.joints[from]).normalize();
        let r = p - self.joints[from];
        r - along * r.dot(along)
    }

    /// Along a bone between its joints, away from it by a share.
    fn limb(&self, j: usize, child: &str, p: DVec3, girth: f64, moved: &[DVec3]) -> DVec3 {
        let name = &self.skeleton.names()[j];
        let side = if name.starts_with("right_") {
            "right_"
        } else {
            "left_"
        };
        let mut to = self.joint(&format!("{side}{child}"));
        let mut from = j;
        // The last joint goes on along the bone before it.
        if to == from {
            from = self.joint(&format!("{side}wrist"));
            to = j;
        }
        let bone = self.joints[to] - self.joints[from];
        let t = (p - self.joints[from]).dot(bone) / bone.length_squared();
        // Beyond the ends too, so that fingers keep up with the hand.
        let along = moved[from].lerp(moved[to], t);
        along + self.across(p, from, to) * girth
    }

    fn foot(&self, j: usize, p: DVec3, growth: &Growth, moved: &[DVec3]) -> DVec3 {
        let name = &self.skeleton.names()[j];
        let side = if name.starts_with("right_") {
            "right_"
        } else {
            "left_"
        };
        let ankle = self.joint(&format!("{side}ankle"));
        let from = self.joints[ankle];
        let r = DVec3::new(p.x - from.x, p.y, 0.4 * (p.z - from.z));
        let shift = DVec3::new(moved[ankle].x - growth.length * from.x, 0.0, 0.0);
        shift + p * growth.length + r * growth.foot
    }

    fn trunk(&self, p: DVec3, growth: &Growth) -> DVec3 {
        let r = DVec3::new(p.x, 0.0, p.z - trunk_middle(p.y));
        let belly = window(p.y, [0.86, 0.98, 1.06, 1.20]);
        let front = if r.z > 0.0 { 1.0 } else { -0.5 };
        let girth = growth.chest * window(p.y, CHEST)
            + growth.waist * window(p.y, WAIST)
            + growth.hips * window(p.y, HIPS);
        let mut d = p * growth.length + r * girth;
        d.z += belly * growth.belly * r.z * front * smooth_step(r.z.abs() / 0.08);
        // Breasts: a round patch to the front.
        let from_nipple = DVec3::new((p.x - 0.085) / 0.075, (p.y - 1.215) / 0.075, 0.0);
        if p.z > 0.0 {
            let near = (1.0 - from_nipple.length_squared()).max(0.0);
            d.z += growth.breasts * near * near * smooth_step(p.z / 0.06);
        }
        // The shoulders take the upper trunk along.
        let shoulder = self.joints[self.joint("left_shoulder")];
        let upper = smooth_step((p.y - 1.16) / 0.16) * smooth_step((p.x / shoulder.x).min(1.0));
        d.x += upper * growth.shoulders;
        // The legs take the hips along.
        let lower = (1.0 - smooth_step((p.y - 0.80) / 0.14)) * smooth_step(p.x / 0.09);
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
