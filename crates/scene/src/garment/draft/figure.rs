//! [`Figure`]: a body as a tailor sees it, with parts, landmarks and slices.
//!
//! Parts are told by the joint that moves a vertex most, and joints by
//! [`Anatomy`], so that any body whose joints can be named has a figure.
//! Girths are those of convex hulls of slices, as a tape measure bridges
//! hollows.

use drapery_core::{BodyModel, JointId, PseudoNormals, ShapedBody, TriangleTree};
use glam::{DVec2, DVec3, Vec3};

use super::DraftError;
use super::section::{girth, hull, middle};
use crate::motion::{Anatomy, Role, Side};

/// A part of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Trunk,
    Head,
    Arm(Side),
    Leg(Side),
}

/// Both sides, the left first.
pub(super) const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// +1 for the left, which is +X, −1 for the right.
pub(super) const fn sign(side: Side) -> f64 {
    match side {
        Side::Left => 1.0,
        Side::Right => -1.0,
    }
}

/// An arm's or a leg's joints at rest [m].
#[derive(Clone, Copy, Debug)]
pub(super) struct Limb {
    pub(super) root: DVec3,
    pub(super) middle: DVec3,
    pub(super) end: DVec3,
}

/// What a tailor writes down, all in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurements {
    /// Height of the body.
    pub stature: f32,
    /// Height of the natural waist above the floor.
    pub waist_height: f32,
    /// Height of the fullest part of the hips above the floor.
    pub hip_height: f32,
    /// Height of the crotch above the floor.
    pub crotch_height: f32,
    /// Height of the armpits above the floor.
    pub armpit_height: f32,
    /// Girth of the trunk below the armpits.
    pub bust: f32,
    /// Girth of the waist.
    pub waist: f32,
    /// Largest girth between waist and crotch.
    pub hip: f32,
    /// Girth of the neck at its root.
    pub neck: f32,
    /// Girth of the middle of the upper arm.
    pub upper_arm: f32,
    /// Girth of the wrist.
    pub wrist: f32,
    /// Girth of the thigh a hand below the crotch.
    pub thigh: f32,
    /// Girth of the shin above the ankle.
    pub ankle: f32,
    /// From shoulder to wrist.
    pub arm_length: f32,
    /// From shoulder to shoulder.
    pub shoulder_width: f32,
}

/// A body at rest, to be dressed.
pub(super) struct Figure<'a> {
    pub(super) rest: &'a [Vec3],
    pub(super) triangles: &'a [[u32; 3]],
    pub(super) tree: TriangleTree,
    pub(super) normals: PseudoNormals,
    parts: Vec<Part>,
    pub(super) arms: [Limb; 2],
    pub(super) legs: [Limb; 2],
    pub(super) neck: DVec3,
    pub(super) armpits: [DVec3; 2],
    /// The plane of symmetry is x = this.
    pub(super) middle: f64,
    pub(super) floor: f64,
    pub(super) top: f64,
    pub(super) waist: f64,
    pub(super) hip: f64,
    pub(super) crotch: f64,
    pub(super) measured: Measurements,
}

impl<'a> Figure<'a> {
    pub(super) fn new(model: &'a dyn BodyModel, body: &'a ShapedBody) -> Result<Self, DraftError> {
        let triangles = model.topology().triangles();
        if triangles.is_empty() {
            return Err(DraftError::NoSurface);
        }
        let skeleton = model.skeleton();
        let anatomy = Anatomy::of(skeleton).ok_or(DraftError::UnknownJoints)?;
        let joint = |role: Role, name: &'static str| {
            let joint = anatomy.joint(role).ok_or(DraftError::NoJoint { name })?;
            Ok::<_, DraftError>(body.joints[joint].as_dvec3())
        };
        let arm = |side| {
            Ok::<_, DraftError>(Limb {
                root: joint(Role::Shoulder(side), "shoulder")?,
                middle: joint(Role::Elbow(side), "elbow")?,
                end: joint(Role::Wrist(side), "wrist")?,
            })
        };
        let leg = |side| {
            Ok::<_, DraftError>(Limb {
                root: joint(Role::Hip(side), "hip")?,
                middle: joint(Role::Knee(side), "knee")?,
                end: joint(Role::Ankle(side), "ankle")?,
            })
        };
        let arms = [arm(Side::Left)?, arm(Side::Right)?];
        let legs = [leg(Side::Left)?, leg(Side::Right)?];
        let neck = joint(Role::LowerNeck, "neck").or_else(|_| joint(Role::Head, "neck"))?;
        let parts = parts(model, &anatomy);
        let (low, high) = body
            .rest
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), p| {
                (low.min(p.y), high.max(p.y))
            });
        let armpits = [
            armpit(triangles, &body.rest, &parts, Side::Left)?,
            armpit(triangles, &body.rest, &parts, Side::Right)?,
        ];
        let mut figure = Self {
            rest: &body.rest,
            triangles,
            tree: TriangleTree::new(triangles, &body.rest),
            normals: PseudoNormals::new(triangles, &body.rest),
            parts,
            arms,
            legs,
            neck,
            armpits,
            middle: (legs[0].root.x + legs[1].root.x) / 2.0,
            floor: f64::from(low),
            top: f64::from(high),
            waist: 0.0,
            hip: 0.0,
            crotch: 0.0,
            measured: NOTHING,
        };
        figure.landmarks()?;
        Ok(figure)
    }

    /// Height of the armpits [m].
    pub(super) fn armpit(&self) -> f64 {
        (self.armpits[0].y + self.armpits[1].y) / 2.0
    }

    /// Points in which a plane cuts the triangles that `counts` takes (by their
    /// vertices), in the plane's own coordinates along `u` and `w` [m].
    pub(super) fn slice(
        &self,
        origin: DVec3,
        u: DVec3,
        w: DVec3,
        counts: impl Fn(Part, DVec3) -> bool,
    ) -> Vec<DVec2> {
        let normal = u.cross(w);
        let mut points = Vec::new();
        for t in self.triangles {
            let p = t.map(|v| self.rest[v as usize].as_dvec3() - origin);
            let d = p.map(|p| p.dot(normal));
            if d.iter().all(|&d| d > 0.0) || d.iter().all(|&d| d <= 0.0) {
                continue;
            }
            let n_counted = (0..3)
                .filter(|&i| counts(self.parts[t[i] as usize], p[i] + origin))
                .count();
            if n_counted < 2 {
                continue;
            }
            for i in 0..3 {
                let j = (i + 1) % 3;
                if (d[i] > 0.0) != (d[j] > 0.0) {
                    let q = p[i] + (p[j] - p[i]) * (d[i] / (d[i] - d[j]));
                    points.push(DVec2::new(q.dot(u), q.dot(w)));
                }
            }
        }
        points
    }

    /// A horizontal slice, as (x, z) [m].
    pub(super) fn level(&self, y: f64, counts: impl Fn(Part, DVec3) -> bool) -> Vec<DVec2> {
        self.slice(DVec3::new(0.0, y, 0.0), DVec3::X, DVec3::Z, counts)
    }

    /// Whether cloth around the trunk goes around this point: all but head and
    /// arms, and of the arms what is within the shoulder.
    pub(super) fn is_trunk(&self, part: Part, p: DVec3) -> bool {
        match part {
            Part::Trunk | Part::Leg(_) => true,
            Part::Head => false,
            Part::Arm(side) => self.within_shoulder(side, p),
        }
    }

    fn within_shoulder(&self, side: Side, p: DVec3) -> bool {
        let arm = &self.arms[side as usize];
        let along = (arm.middle - arm.root).normalize();
        let across = DVec3::X * sign(side);
        (p - arm.root).dot((along + across).normalize_or(across)) < 0.0
    }

    /// Signed distance from the skin, negative inside, and the way out.
    pub(super) fn stand_off(&self, p: DVec3, limit: f64) -> Option<(f64, DVec3)> {
        let at = p.as_vec3();
        let found = self.tree.closest_point(at, self.rest, limit as f32)?;
        let normal = self.normals.at(&found).as_dvec3();
        let away = p - found.point.as_dvec3();
        let outside = away.dot(normal) >= 0.0;
        let distance = if outside {
            f64::from(found.distance)
        } else {
            -f64::from(found.distance)
        };
        let way = if outside { away } else { -away };
        Some((distance, way.normalize_or(normal.normalize_or(DVec3::Y))))
    }

    fn landmarks(&mut self) -> Result<(), DraftError> {
        let trunk = |part, _: DVec3| matches!(part, Part::Trunk | Part::Leg(_));
        let cut = self.slice(
            DVec3::new(self.middle, 0.0, 0.0),
            DVec3::Y,
            DVec3::Z,
            |part, p| self.is_trunk(part, p),
        );
        let lowest = cut.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
        let hip_joint = (self.legs[0].root.y + self.legs[1].root.y) / 2.0;
        let knee = (self.legs[0].middle.y + self.legs[1].middle.y) / 2.0;
        if !lowest.is_finite() {
            return Err(DraftError::NoSlice { name: "crotch" });
        }
        self.crotch = lowest.clamp(0.5 * (hip_joint + knee), hip_joint);
        let shoulder = (self.arms[0].root.y + self.arms[1].root.y) / 2.0;
        let back = shoulder - hip_joint;
        let girth_at = |y: f64| girth(&hull(&self.level(y, trunk)));
        // The narrowest place of the trunk, and rather the usual one.
        let usual = hip_joint + 0.36 * back;
        let mut narrowest = (f64::INFINITY, usual);
        let mut fullest = (0.0, hip_joint);
        for i in 0..=24 {
            let y = hip_joint + back * (0.25 + 0.35 * f64::from(i) / 24.0);
            let off = (y - usual) / back;
            let cost = girth_at(y) * (1.0 + 4.0 * off * off);
            if cost > 0.0 && cost < narrowest.0 {
                narrowest = (cost, y);
            }
            let low = self.crotch + 0.03;
            let y = low + (hip_joint + 0.15 * back - low) * f64::from(i) / 24.0;
            let around = girth_at(y);
            if around > fullest.0 {
                fullest = (around, y);
            }
        }
        self.waist = narrowest.1;
        self.hip = fullest.1;
        self.measured = self.measure()?;
        Ok(())
    }

    fn measure(&self) -> Result<Measurements, DraftError> {
        let around = |name, points: &[DVec2]| {
            let hull = hull(points);
            if hull.is_empty() {
                return Err(DraftError::NoSlice { name });
            }
            Ok(girth(&hull) as f32)
        };
        let trunk = |part: Part, p: DVec3| self.is_trunk(part, p);
        let (arm, leg) = (&self.arms[0], &self.legs[0]);
        let across_arm = |p: DVec3, along: DVec3| {
            let (u, w) = frame(along);
            self.slice(p, u, w, |part, _| part == Part::Arm(Side::Left))
        };
        let upper = (arm.middle - arm.root).normalize();
        let fore = (arm.end - arm.middle).normalize();
        let of_leg = |part: Part, _: DVec3| part == Part::Leg(Side::Left);
        Ok(Measurements {
            stature: (self.top - self.floor) as f32,
            waist_height: (self.waist - self.floor) as f32,
            hip_height: (self.hip - self.floor) as f32,
            crotch_height: (self.crotch - self.floor) as f32,
            armpit_height: (self.armpit() - self.floor) as f32,
            bust: around("bust", &self.level(self.armpit() - 0.03, trunk))?,
            waist: around("waist", &self.level(self.waist, trunk))?,
            hip: around("hip", &self.level(self.hip, trunk))?,
            neck: around(
                "neck",
                &self.level(self.neck.y + 0.02, |part, _| {
                    matches!(part, Part::Head | Part::Trunk)
                }),
            )?,
            upper_arm: around(
                "upper arm",
                &across_arm((arm.root + arm.middle) / 2.0, upper),
            )?,
            wrist: around("wrist", &across_arm(arm.end - fore * 0.02, fore))?,
            thigh: around("thigh", &self.level(self.crotch - 0.08, of_leg))?,
            ankle: around("ankle", &self.level(leg.end.y + 0.06, of_leg))?,
            arm_length: (arm.root.distance(arm.middle) + arm.middle.distance(arm.end)) as f32,
            shoulder_width: (self.arms[0].root.x - self.arms[1].root.x).abs() as f32,
        })
    }

    /// The hull of a leg at a height, as (x, z), and its middle.
    pub(super) fn leg_level(&self, side: Side, y: f64) -> Option<(Vec<DVec2>, DVec2)> {
        let points = self.level(y, |part, _| part == Part::Leg(side));
        let hull = hull(&points);
        (!hull.is_empty()).then(|| {
            let at = middle(&hull);
            (hull, at)
        })
    }
}

/// Two unit vectors across a direction, with u × w along it.
pub(super) fn frame(along: DVec3) -> (DVec3, DVec3) {
    let along = along.normalize();
    let u = if along.y.abs() < 0.9 {
        along.cross(DVec3::Y).normalize()
    } else {
        along.cross(DVec3::Z).normalize()
    };
    (u, along.cross(u))
}

const NOTHING: Measurements = Measurements {
    stature: 0.0,
    waist_height: 0.0,
    hip_height: 0.0,
    crotch_height: 0.0,
    armpit_height: 0.0,
    bust: 0.0,
    waist: 0.0,
    hip: 0.0,
    neck: 0.0,
    upper_arm: 0.0,
    wrist: 0.0,
    thigh: 0.0,
    ankle: 0.0,
    arm_length: 0.0,
    shoulder_width: 0.0,
};

/// The part of every vertex, by the joint that it follows most.
fn parts(model: &dyn BodyModel, anatomy: &Anatomy) -> Vec<Part> {
    let skeleton = model.skeleton();
    let mut of_joint = vec![Part::Trunk; skeleton.len()];
    for joint in 0..skeleton.len() {
        let above = skeleton.parents()[joint].map(JointId::index);
        let inherited = above.map_or(Part::Trunk, |parent| of_joint[parent]);
        of_joint[joint] = match anatomy.roles()[joint] {
            _ if inherited != Part::Trunk => inherited,
            Some(Role::Shoulder(side)) => Part::Arm(side),
            Some(Role::Hip(side)) => Part::Leg(side),
            Some(Role::LowerNeck | Role::UpperNeck | Role::Head) => Part::Head,
            _ => Part::Trunk,
        };
    }
    let weights = model.skin_weights();
    (0..weights.n_vertices())
        .map(|v| {
            let most = weights
                .of(v)
                .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            most.map_or(Part::Trunk, |(joint, _)| of_joint[usize::from(joint)])
        })
        .collect()
}

/// The lowest point where an arm meets the trunk.
fn armpit(
    triangles: &[[u32; 3]],
    rest: &[Vec3],
    parts: &[Part],
    side: Side,
) -> Result<DVec3, DraftError> {
    let mut lowest: Option<Vec3> = None;
    for t in triangles {
        let of = t.map(|v| parts[v as usize]);
        if of.contains(&Part::Arm(side)) && of.contains(&Part::Trunk) {
            for &v in t {
                let p = rest[v as usize];
                if lowest.is_none_or(|l| p.y < l.y) {
                    lowest = Some(p);
                }
            }
        }
    }
    lowest
        .map(Vec3::as_dvec3)
        .ok_or(DraftError::NoSlice { name: "armpit" })
}
