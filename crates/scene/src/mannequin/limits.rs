//! How far the mannequin's joints turn.
//!
//! A rotation R of a joint is split into a twist about its bone and a swing
//! that moves the bone, R = swing · twist. The swing s (axis times angle) has
//! two parts, *bend* towards one direction b across the bone a and *sway*
//! towards another, w = the one across both:
//!
//! ```text
//! bend = (s × a) · b      sway = (s × a) · w      (bend/B)² + (sway/W)² ≤ 1
//! ```
//!
//! with B and W the limits on the side that the angles are on: a joint that is
//! bent as far as it goes does not sway. The twist has limits of its own.
//!
//! Angles are the ranges of motion of the American Academy of Orthopaedic
//! Surgeons, "Joint Motion: Method of Measuring and Recording" (1965), which
//! start from arms that hang; the arms here rest 45° away from that, which is
//! taken off. Where we differ:
//! - The shoulder has the range of the whole shoulder girdle, so that a motion
//!   may leave the collar alone; the collar may add its own (Neumann,
//!   "Kinesiology of the Musculoskeletal System", ch. 5). Its twist is wider
//!   than the published 70° in and 90° out, because an arm raised to the front
//!   ends twisted by 90° from one raised sideways.
//! - Flexion of 80°, extension of 30°, side bending of 35° and rotation of 45°
//!   of the trunk are shared by three joints, 50° / 60° / 45° / 80° of the neck
//!   by two, each with a little more than its part.
//! - The forearm turns at the elbow (80° each way), where SMPL's forearm hangs.
//! - Knees and elbows sway and knees twist by 25°, so that hinges a little off
//!   our axes are not called broken.

use std::sync::OnceLock;

use drapery_core::{JointId, Skeleton};
use glam::{Quat, Vec3};

use super::skeleton::{N_JOINTS, mirrored, skeleton};

/// Where a joint may turn to; angles [rad].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimit {
    /// The bone at rest, unit length; of hips, ankles and collars the nearest
    /// axis, so that legs swing about x although they rest apart, and of knees
    /// half way to it.
    pub bone: Vec3,
    /// Where the bone moves when it bends, across it, unit length.
    pub bend_towards: Vec3,
    /// Where the bone moves when it sways, across both, unit length.
    pub sway_towards: Vec3,
    /// From how far the other way to how far it bends [rad].
    pub bend: [f32; 2],
    /// From how far the other way to how far it sways [rad].
    pub sway: [f32; 2],
    /// From how far the other way to how far it twists about the bone, by the
    /// right hand on the left side of the body and mirrored on the right
    /// [rad].
    pub twist: [f32; 2],
    mirrored: bool,
}

/// A rotation as angles about a joint's own axes [rad].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointAngles {
    /// Towards [`JointLimit::bend_towards`].
    pub bend: f32,
    /// Towards [`JointLimit::sway_towards`].
    pub sway: f32,
    /// About the bone.
    pub twist: f32,
}

impl JointLimit {
    /// The angles of a rotation.
    pub fn angles(&self, rotation: Quat) -> JointAngles {
        let q = if rotation.w < 0.0 {
            -rotation
        } else {
            rotation
        };
        let along = Vec3::new(q.x, q.y, q.z).dot(self.bone);
        let twist = 2.0 * along.atan2(q.w);
        let swing = (q * Quat::from_axis_angle(self.bone, -twist)).normalize();
        let swing = if swing.w < 0.0 { -swing } else { swing };
        let moved = swing.to_scaled_axis().cross(self.bone);
        JointAngles {
            bend: moved.dot(self.bend_towards),
            sway: moved.dot(self.sway_towards),
            twist: if self.mirrored { -twist } else { twist },
        }
    }

    /// The rotation of these angles; the other way round from
    /// [`angles`](Self::angles).
    pub fn rotation(&self, angles: JointAngles) -> Quat {
        let moved = self.bend_towards * angles.bend + self.sway_towards * angles.sway;
        let twist = if self.mirrored {
            -angles.twist
        } else {
            angles.twist
        };
        Quat::from_scaled_axis(self.bone.cross(moved)) * Quat::from_axis_angle(self.bone, twist)
    }

    /// How far a rotation is beyond the limits [rad]; 0 within them.
    pub fn excess(&self, rotation: Quat) -> f32 {
        let JointAngles { bend, sway, twist } = self.angles(rotation);
        let share =
            |angle: f32, [low, high]: [f32; 2]| angle / if angle < 0.0 { low.abs() } else { high };
        let (b, w) = (share(bend, self.bend), share(sway, self.sway));
        let filled = b.hypot(w);
        // The distance from the ellipse to first order: (filled − 1) / |∇filled|.
        let swing = if filled > 1.0 {
            let side = |share: f32, angle: f32| {
                if angle == 0.0 {
                    0.0
                } else {
                    share * share / angle
                }
            };
            filled * (filled - 1.0) / side(b, bend).hypot(side(w, sway))
        } else {
            0.0
        };
        let twist = (twist - self.twist[1]).max(self.twist[0] - twist).max(0.0);
        swing.hypot(twist)
    }

    /// The same limit on the other side of the body.
    fn mirror(self) -> Self {
        let flip = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
        Self {
            bone: flip(self.bone),
            bend_towards: flip(self.bend_towards),
            sway_towards: flip(self.sway_towards),
            mirrored: !self.mirrored,
            ..self
        }
    }
}

/// How far rounding may carry a rotation beyond its limits [rad].
const SLACK: f32 = 1e-3;

/// Whether a joint may have this rotation relative to its parent. The root may
/// have any.
///
/// # Panics
/// When the mannequin has no such joint.
pub fn is_within(joint: JointId, rotation: Quat) -> bool {
    excess(joint, rotation) <= SLACK
}

/// How far a joint's rotation relative to its parent is beyond its limits
/// [rad]; 0 within them, and for the root.
///
/// # Panics
/// When the mannequin has no such joint.
pub fn excess(joint: JointId, rotation: Quat) -> f32 {
    limit(joint).map_or(0.0, |limit| limit.excess(rotation))
}

/// The limits of a joint; none for the root.
///
/// # Panics
/// When the mannequin has no such joint.
pub fn limit(joint: JointId) -> Option<JointLimit> {
    static LIMITS: OnceLock<Vec<Option<JointLimit>>> = OnceLock::new();
    let limits = LIMITS.get_or_init(|| {
        let skeleton = skeleton();
        (0..N_JOINTS as u16)
            .map(|j| of_joint(JointId(j), &skeleton))
            .collect()
    });
    limits[joint.index()]
}

fn of_joint(joint: JointId, skeleton: &Skeleton) -> Option<JointLimit> {
    let name = &skeleton.names()[joint.index()];
    if name.starts_with("right_") {
        return of_joint(mirrored(joint), skeleton).map(JointLimit::mirror);
    }
    let at = |name: &str| skeleton.joint(name).map(|j| skeleton.rest()[j.index()]);
    let of = |to: Vec3, bend_to: Vec3, sway_to: Vec3, degrees: [[f32; 2]; 3]| {
        let bone = to.normalize();
        let bend_towards = bend_to.reject_from_normalized(bone).normalize();
        let across = bone.cross(bend_towards);
        Some(JointLimit {
            bone,
            bend_towards,
            sway_towards: across * across.dot(sway_to).signum(),
            bend: degrees[0].map(f32::to_radians),
            sway: degrees[1].map(f32::to_radians),
            twist: degrees[2].map(f32::to_radians),
            mirrored: false,
        })
    };
    let bone = |child: &str| at(child).unwrap_or(Vec3::Y) - skeleton.rest()[joint.index()];
    let (up, front, out) = (Vec3::Y, Vec3::Z, Vec3::X);
    // Bend and sway to and fro, twist [degrees].
    match name.as_str() {
        // Flexion to the front; to the left and right; rotation.
        "spine1" => of(
            up,
            front,
            out,
            [[-15.0, 35.0], [-20.0, 20.0], [-15.0, 15.0]],
        ),
        "spine2" => of(
            up,
            front,
            out,
            [[-15.0, 35.0], [-20.0, 20.0], [-20.0, 20.0]],
        ),
        "spine3" => of(
            up,
            front,
            out,
            [[-15.0, 30.0], [-15.0, 15.0], [-25.0, 25.0]],
        ),
        "neck" => of(
            up,
            front,
            out,
            [[-35.0, 35.0], [-30.0, 30.0], [-45.0, 45.0]],
        ),
        "head" => of(
            up,
            front,
            out,
            [[-35.0, 35.0], [-25.0, 25.0], [-50.0, 50.0]],
        ),
        // Extension and flexion; adduction and abduction; out and in.
        "left_hip" => of(
            -up,
            front,
            out,
            [[-30.0, 120.0], [-30.0, 45.0], [-45.0, 45.0]],
        ),
        // Flexion to the back; the rest is slack. Half way between the shin and
        // −y, so that hinges across the shin and along x are alike.
        "left_knee" => of(
            bone("left_ankle").normalize() - up,
            -front,
            out,
            [[-10.0, 150.0], [-25.0, 25.0], [-25.0, 25.0]],
        ),
        // Plantar and dorsal flexion; in and out; inversion and eversion.
        "left_ankle" => of(
            front,
            up,
            out,
            [[-50.0, 25.0], [-20.0, 20.0], [-35.0, 20.0]],
        ),
        // Flexion and extension of the toes.
        "left_foot" => of(
            front,
            up,
            out,
            [[-45.0, 70.0], [-10.0, 10.0], [-10.0, 10.0]],
        ),
        // Depression and elevation; retraction and protraction; rotation.
        "left_collar" => of(
            out,
            up,
            front,
            [[-10.0, 45.0], [-25.0, 30.0], [-20.0, 30.0]],
        ),
        // Down to 30° across the trunk and up to the ear; back and forth.
        "left_shoulder" => of(
            bone("left_elbow"),
            up,
            front,
            [[-75.0, 135.0], [-60.0, 135.0], [-100.0, 100.0]],
        ),
        // Flexion; slack; supination and pronation. Bent by 12° at rest.
        "left_elbow" => of(
            bone("left_wrist"),
            front,
            up,
            [[-17.0, 140.0], [-25.0, 25.0], [-80.0, 80.0]],
        ),
        // Extension and flexion towards the palm; ulnar and radial.
        "left_wrist" => of(
            bone("left_hand"),
            -up - out,
            front,
            [[-70.0, 80.0], [-30.0, 20.0], [-20.0, 20.0]],
        ),
        // The fingers as one.
        "left_hand" => of(
            bone("left_wrist") * -1.0,
            -up - out,
            front,
            [[-45.0, 90.0], [-20.0, 20.0], [-10.0, 10.0]],
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joint(name: &str) -> JointId {
        skeleton().joint(name).unwrap()
    }

    fn turn(axis: Vec3, degrees: f32) -> Quat {
        Quat::from_axis_angle(axis, degrees.to_radians())
    }

    #[test]
    fn every_joint_but_the_root_rests_within_limits_that_enclose_it() {
        for j in 0..N_JOINTS as u16 {
            let limit = limit(JointId(j));
            assert_eq!(limit.is_none(), j == 0, "joint {j}");
            assert_eq!(excess(JointId(j), Quat::IDENTITY), 0.0);
            let Some(limit) = limit else { continue };
            for [low, high] in [limit.bend, limit.sway, limit.twist] {
                assert!(low < -0.1 && high > 0.1, "joint {j}");
            }
            let across = [limit.bone, limit.bend_towards, limit.sway_towards];
            for i in 0..3 {
                assert!(across[i].is_normalized());
                assert!(across[i].dot(across[(i + 1) % 3]).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn excess_is_the_angle_beyond_the_published_range() {
        // Which way the bone goes, and how far it may [degrees].
        for (name, towards, limit) in [
            ("left_hip", Vec3::Z, 120.0),
            ("left_hip", -Vec3::Z, 30.0),
            ("left_hip", Vec3::X, 45.0),
            ("right_hip", -Vec3::X, 45.0),
            ("right_hip", Vec3::Z, 120.0),
            ("left_knee", -Vec3::Z, 150.0),
            ("right_knee", -Vec3::Z, 150.0),
            ("spine1", Vec3::Z, 35.0),
            ("neck", -Vec3::X, 30.0),
            ("left_collar", Vec3::Y, 45.0),
        ] {
            let bone = super::limit(joint(name)).unwrap().bone;
            let axis = bone.cross(towards).normalize();
            for (angle, expected) in [(limit - 3.0, 0.0), (limit + 7.0, 7.0)] {
                let found = excess(joint(name), turn(axis, angle)).to_degrees();
                assert!((found - expected).abs() < 0.3, "{name} {angle}: {found}");
            }
        }
        let turned = excess(joint("neck"), turn(Vec3::Y, 52.0)).to_degrees();
        assert!((turned - 7.0).abs() < 0.1, "{turned}");
    }

    #[test]
    fn knees_do_not_bend_to_the_front_nor_elbows_to_the_back() {
        assert!(!is_within(joint("left_knee"), turn(Vec3::X, -30.0)));
        let elbow = limit(joint("left_elbow")).unwrap();
        let bent = |degrees: f32| {
            elbow.rotation(JointAngles {
                bend: degrees.to_radians(),
                sway: 0.0,
                twist: 0.0,
            })
        };
        assert!(is_within(joint("left_elbow"), bent(130.0)));
        assert!(!is_within(joint("left_elbow"), bent(-40.0)));
        let fore = bent(80.0) * elbow.bone;
        assert!(fore.z > 0.8, "the forearm comes to the front: {fore}");
    }

    #[test]
    fn arms_hang_reach_forward_and_overhead() {
        for side in ["left", "right"] {
            let id = joint(&format!("{side}_shoulder"));
            let bone = limit(id).unwrap().bone;
            let x = bone.x.signum();
            for target in [
                Vec3::new(0.1 * x, -1.0, 0.0),
                Vec3::Z,
                Vec3::new(0.1 * x, 1.0, 0.1),
                Vec3::new(x, 0.0, 0.0),
                Vec3::new(0.3 * x, -0.8, -0.5),
            ] {
                let turn = Quat::from_rotation_arc(bone, target.normalize());
                assert!(is_within(id, turn), "{side} {target}: {}", excess(id, turn));
            }
            let behind = Vec3::new(-0.2 * x, 0.0, -1.0).normalize();
            assert!(!is_within(id, Quat::from_rotation_arc(bone, behind)));
        }
    }

    #[test]
    fn angles_and_rotation_are_each_others_inverse_on_both_sides() {
        for j in 1..N_JOINTS as u16 {
            let limit = limit(JointId(j)).unwrap();
            let angles = JointAngles {
                bend: 0.7 * limit.bend[1],
                sway: 0.4 * limit.sway[0],
                twist: 0.5 * limit.twist[1],
            };
            let rotation = limit.rotation(angles);
            let back = limit.angles(rotation);
            for (a, b) in [
                (angles.bend, back.bend),
                (angles.sway, back.sway),
                (angles.twist, back.twist),
            ] {
                assert!((a - b).abs() < 1e-4, "joint {j}: {angles:?} {back:?}");
            }
            // Mirrored in x, the other side has the same angles.
            let other = super::limit(mirrored(JointId(j))).unwrap();
            let flipped = Quat::from_xyzw(rotation.x, -rotation.y, -rotation.z, rotation.w);
            let there = other.angles(flipped);
            let sided = usize::from(j) != mirrored(JointId(j)).index();
            let sign = if sided { 1.0 } else { -1.0 };
            assert!((there.bend - back.bend).abs() < 1e-5);
            assert!((there.sway - sign * back.sway).abs() < 1e-5);
            assert!((there.twist - sign * back.twist).abs() < 1e-5);
        }
    }
}
