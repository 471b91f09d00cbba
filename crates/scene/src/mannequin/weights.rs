//! Which joints the mannequin's skin follows.
//!
//! Each vertex is first given to one joint, by planes through the joints: half
//! way between the bones at elbow, wrist, knee and ankle, along the groin at
//! the hip, level along the spine. Heat then spreads each joint's share over
//! the skin, about as far as the limb is thick, and the four largest shares are
//! kept. What is near through the air but far along the skin, such as arm and
//! ribs, stays apart.

use drapery_core::{JointId, Skeleton, SkinWeights, Topology};
use glam::Vec3;

use super::figure::{Figure, Region};
use super::skeleton::{N_JOINTS, mirrored};
use super::surface::Skin;
use crate::garment::heat::Heat;

/// How far weights spread at each joint [m], by the end of its name: about 0.7
/// of the limb's radius. Less creases like a hinge, more thins the limb where
/// it bends.
const REACH: [(&str, f64); 14] = [
    ("pelvis", 0.060),
    ("hip", 0.048),
    ("spine1", 0.060),
    ("knee", 0.036),
    ("spine2", 0.060),
    ("ankle", 0.030),
    ("spine3", 0.055),
    ("foot", 0.018),
    ("neck", 0.026),
    ("collar", 0.040),
    ("head", 0.022),
    ("shoulder", 0.036),
    ("elbow", 0.026),
    ("wrist", 0.018),
];

/// How far weights spread at the knuckles [m].
const REACH_KNUCKLES: f64 = 0.016;

/// Across the joint of the head: the chin moves with the head, the nape with
/// the neck.
const UP_THE_HEAD: Vec3 = Vec3::new(0.0, 0.85, 0.5);

/// Across the root of the neck, which is lower in front; and how wide the neck
/// is there [m].
const UP_THE_NECK: Vec3 = Vec3::new(0.0, 0.9, 0.4);
const NECK_WIDTH: f32 = 0.075;

/// Shoulder blade, collar bone and what lies over them: from here outwards and
/// up [m]. Further in or down, a shrug pulls at the ribs.
const GIRDLE: [f32; 2] = [0.07, 1.30];

/// Across the groin at the hip joint: it falls to the middle, and to the back,
/// where the buttock belongs to the pelvis.
const DOWN_THE_LEG: Vec3 = Vec3::new(0.40, -0.85, 0.30);

/// Of the trunk only this far out and down may follow the leg [m]; the middle
/// stays with the pelvis.
const FLANK: [f32; 2] = [0.06, 0.93];

/// The four largest shares of every vertex, as weights.
pub(super) fn four_largest(shares: &[f64]) -> SkinWeights {
    let rows: Vec<Vec<(u16, f32)>> = shares
        .chunks_exact(N_JOINTS)
        .map(|row| {
            let mut row: Vec<(u16, f32)> = (0..N_JOINTS as u16)
                .zip(row)
                .map(|(joint, share)| (joint, share.max(0.0) as f32))
                // A share that nobody sees only costs room.
                .filter(|(_, share)| *share > 2e-3)
                .collect();
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            // Of two alike, as left and right are in the middle, none goes alone.
            let alike = row.len() > 4 && row[3].1 == row[4].1;
            row.truncate(if alike { 3 } else { 4 });
            row
        })
        .collect();
    SkinWeights::new(4, N_JOINTS, &rows).expect("every vertex has its joint's share")
}

/// The share of every joint in every vertex, shape [vertex, joint]; mirrored to
/// the bit.
pub(super) fn shares(
    figure: &Figure,
    skin: &Skin,
    topology: &Topology,
    skeleton: &Skeleton,
) -> Vec<f64> {
    let n = skin.positions.len();
    let reach: Vec<f64> = skin
        .positions
        .iter()
        .map(|&p| reach_at(p, skeleton))
        .collect();
    let mut shares = vec![0.0; n * N_JOINTS];
    for (v, &p) in skin.positions.iter().enumerate() {
        let joint = joint_of(figure, p, skeleton);
        shares[v * N_JOINTS + joint.index()] = 1.0;
    }
    Heat::new(topology, &skin.positions, &reach).smooth(&mut shares, N_JOINTS);
    // Sums in another order differ in the last bits.
    let of = |v: usize, j: usize| shares[v * N_JOINTS + j];
    let mut even = vec![0.0; n * N_JOINTS];
    for v in 0..n {
        let other = skin.mirror[v] as usize;
        for j in 0..N_JOINTS {
            let twin = mirrored(JointId(j as u16)).index();
            even[v * N_JOINTS + j] = (of(v, j) + of(other, twin)) / 2.0;
        }
    }
    even
}

/// How far weights spread at a place [m]: that of the joints near it.
fn reach_at(p: Vec3, skeleton: &Skeleton) -> f64 {
    let (mut sum, mut weight) = (0.0, 0.0);
    for (name, &joint) in skeleton.names().iter().zip(skeleton.rest()) {
        let known = REACH.iter().find(|r| name.ends_with(r.0));
        let reach = known.map_or(REACH_KNUCKLES, |r| r.1);
        let near = f64::from(p.distance_squared(joint)) + 1e-4;
        sum += reach / (near * near);
        weight += 1.0 / (near * near);
    }
    sum / weight
}

/// The joint that a place follows before weights are spread.
fn joint_of(figure: &Figure, p: Vec3, skeleton: &Skeleton) -> JointId {
    let id = |name: &str| skeleton.joint(name).expect("a joint of the mannequin");
    let left = Vec3::new(p.x.abs(), p.y, p.z);
    let name = match figure.region(left.as_dvec3()) {
        Region::Arm => along(
            left,
            skeleton,
            &["left_shoulder", "left_elbow", "left_wrist", "left_hand"],
        ),
        Region::Leg => {
            let below_hip = leg_side(left, skeleton);
            let chain = ["left_hip", "left_knee", "left_ankle", "left_foot"];
            if below_hip {
                along(left, skeleton, &chain)
            } else {
                "pelvis"
            }
        }
        Region::Trunk => trunk(left, skeleton),
    };
    let joint = id(name);
    if p.x < 0.0 { mirrored(joint) } else { joint }
}

/// The last joint of a chain whose plane, half way between its bones, a place
/// is beyond.
fn along<'a>(p: Vec3, skeleton: &Skeleton, chain: &[&'a str]) -> &'a str {
    let at = |name: &str| skeleton.joint(name).map(|j| skeleton.rest()[j.index()]);
    let places: Vec<Vec3> = chain.iter().filter_map(|name| at(name)).collect();
    let mut found = chain[0];
    for i in 1..places.len() {
        let into = (places[i] - places[i - 1]).normalize();
        let next = places
            .get(i + 1)
            .map_or(into, |q| (q - places[i]).normalize());
        if (p - places[i]).dot(into + next) > 0.0 {
            found = chain[i];
        }
    }
    found
}

/// Whether a place is on the leg's side of the groin.
fn leg_side(p: Vec3, skeleton: &Skeleton) -> bool {
    let hip = skeleton
        .joint("left_hip")
        .map(|j| skeleton.rest()[j.index()]);
    hip.is_some_and(|hip| (p - hip).dot(DOWN_THE_LEG) > 0.0)
}

/// The joint of a place on trunk, neck or head.
fn trunk(p: Vec3, skeleton: &Skeleton) -> &'static str {
    let at = |name: &str| {
        let joint = skeleton.joint(name).expect("a joint of the mannequin");
        skeleton.rest()[joint.index()]
    };
    if (p - at("head")).dot(UP_THE_HEAD) > 0.0 {
        return "head";
    }
    if p.x < NECK_WIDTH && (p - at("neck")).dot(UP_THE_NECK) > 0.0 {
        return "neck";
    }
    if p.x > GIRDLE[0] && p.y > GIRDLE[1] {
        return "left_collar";
    }
    for name in ["spine3", "spine2", "spine1"] {
        if p.y > at(name).y {
            return name;
        }
    }
    if p.x > FLANK[0] && p.y < FLANK[1] && leg_side(p, skeleton) {
        return "left_hip";
    }
    "pelvis"
}
