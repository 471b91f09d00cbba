//! [`retarget`]: a clip moved to another skeleton.
//!
//! ```text
//! B[j]   calibration, from the target's rest pose to the source's:
//!        identity  B = I
//!        aim       B = arc(b·(J[child] − J[j]) → P[child] − P[j]) · b,
//!                  b = B of the joint above if that one is aimed too, else I
//!        carry     B = B of the joint above
//! R[j]   = G[source of j] · B[j]                     global rotations
//! s      = legs of the target / legs of the source   (hip to ankle)
//! root   so that the middle of the hips is s times the source's
//! ground root lowered by the 5th percentile over frames of the lowest of the
//!        soles: the points (J.x, 0, J.z) under ankles and toes at rest
//! ```
//!
//! J are the target's rest joints, P the source's, G the source clip's global
//! rotations, which are relative to its rest pose already. "The joint above"
//! is the nearest one that has a link. Limb bones of the target then point
//! where the source's point, in every frame.
//!
//! Hands may enter the hips of a body with narrower shoulders;
//! [`RetargetOptions::arm_abduction`] turns the arms outwards about the
//! chest's forward axis.

use drapery_core::{Clip, ClipError, JointId, Pose, Skeleton};
use glam::{DQuat, DVec3, Vec3};

use super::rotation::{angle, wide};
use super::{JointMap, MotionNote, Role, Rule, Side};

/// How to retarget.
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetOptions {
    /// Whether the soles are put on y = 0.
    pub ground: bool,
    /// How far the arms are turned outwards [rad].
    pub arm_abduction: f64,
    /// Whether distances are kept as they are, instead of growing with the legs.
    pub keep_scale: bool,
    /// Rest joints of the target when its body is shaped [m]; the skeleton's
    /// own when `None`.
    pub target_rest: Option<Vec<Vec3>>,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self {
            ground: true,
            arm_abduction: 0.0,
            keep_scale: false,
            target_rest: None,
        }
    }
}

/// A retargeted clip and what was found on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Retargeted {
    /// The motion of the target skeleton, under the source's name.
    pub clip: Clip,
    /// Target distance over source distance.
    pub scale: f64,
    /// How far the root was raised to put the soles on the ground [m].
    pub ground_shift: f64,
    /// What else a user should know.
    pub notes: Vec<MotionNote>,
}

/// Why a clip can't be retargeted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RetargetError {
    /// The map was made for other skeletons.
    #[error("the joint map was made for other skeletons")]
    WrongMap,
    /// The rest joints given are not as many as the target's.
    #[error("{found} rest joints for a target of {expected}")]
    RestLength {
        /// How many were given.
        found: usize,
        /// How many joints the target has.
        expected: usize,
    },
    /// Hips, knees and ankles are not all linked, which scale and place need.
    #[error("the joint map does not link both legs from hip to ankle")]
    NoLegs,
    /// A leg has no length.
    #[error("the legs of the source or the target have no length")]
    LegLength,
    /// The result is no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

/// A source joint without a partner is noted when it turns by more than this [rad].
const UNUSED_TURN: f64 = 2.0 * std::f64::consts::PI / 180.0;

/// The share of frames in which soles may be below the ground.
const GROUND_PERCENTILE: f64 = 0.05;

/// Moves a clip to the target skeleton.
///
/// # Errors
/// When the map does not fit the skeletons, or does not link both legs.
pub fn retarget(
    clip: &Clip,
    target: &Skeleton,
    map: &JointMap,
    options: &RetargetOptions,
) -> Result<Retargeted, RetargetError> {
    let source = clip.skeleton();
    if !map.fits(source.len(), target.len()) {
        return Err(RetargetError::WrongMap);
    }
    let rest: Vec<DVec3> = options
        .target_rest
        .as_deref()
        .unwrap_or(target.rest())
        .iter()
        .map(|p| p.as_dvec3())
        .collect();
    if rest.len() != target.len() {
        return Err(RetargetError::RestLength {
            found: rest.len(),
            expected: target.len(),
        });
    }
    let source_rest: Vec<DVec3> = source.rest().iter().map(|p| p.as_dvec3()).collect();
    let legs = Legs::of(map).ok_or(RetargetError::NoLegs)?;
    let scale = match (legs.target.length(&rest), legs.source.length(&source_rest)) {
        (t, s) if !(t > 1e-6 && s > 1e-6) => return Err(RetargetError::LegLength),
        _ if options.keep_scale => 1.0,
        (t, s) => t / s,
    };

    let plan = Plan {
        target,
        map,
        matched: match_rests(map, target, &rest, &source_rest),
        arms: arms(map, target, options.arm_abduction),
        rest,
    };
    let soles = plan.soles();
    let mut notes: Vec<MotionNote> = (map.not_aimed().iter())
        .map(|joint| MotionNote::NotAimed {
            joint: target.names()[joint.index()].clone(),
        })
        .collect();
    note_unused(clip, map, &mut notes);

    let mut frames = Vec::with_capacity(clip.frames().len());
    let mut lowest = Vec::with_capacity(clip.frames().len());
    let mut source_pose = Globals::new(source.len());
    let mut pose = Globals::new(target.len());
    for frame in clip.frames() {
        source_pose.fill(source, &source_rest, frame);
        plan.rotations(&source_pose.rotations, &mut pose.rotations);
        place(target, &plan.rest, &mut pose);
        let shift =
            scale * legs.source.hips(&source_pose.positions) - legs.target.hips(&pose.positions);
        lowest.extend(
            (soles.iter())
                .map(|&(joint, below)| {
                    (pose.positions[joint] + shift + pose.rotations[joint] * below).y
                })
                .reduce(f64::min),
        );
        frames.push((shift + pose.positions[0], locals(target, &pose.rotations)));
    }
    let ground_shift = match (options.ground, percentile(&mut lowest, GROUND_PERCENTILE)) {
        (true, Some(height)) => -height,
        (true, None) => {
            notes.push(MotionNote::NotGrounded);
            0.0
        }
        (false, _) => 0.0,
    };
    let frames = frames
        .into_iter()
        .map(|(root, rotations)| Pose {
            root: (root + DVec3::Y * ground_shift).as_vec3(),
            rotations,
        })
        .collect();
    Ok(Retargeted {
        clip: Clip::new(
            clip.name().to_string(),
            target.clone(),
            clip.frame_rate(),
            frames,
        )?,
        scale,
        ground_shift,
        notes,
    })
}

/// Hips, knees and ankles of one skeleton, left and right.
struct LegJoints {
    hips: [usize; 2],
    knees: [usize; 2],
    ankles: [usize; 2],
}

impl LegJoints {
    /// Hip to knee to ankle, mean of both legs.
    fn length(&self, rest: &[DVec3]) -> f64 {
        let leg = |side: usize| {
            rest[self.hips[side]].distance(rest[self.knees[side]])
                + rest[self.knees[side]].distance(rest[self.ankles[side]])
        };
        0.5 * (leg(0) + leg(1))
    }

    /// The middle of the hips.
    fn hips(&self, positions: &[DVec3]) -> DVec3 {
        0.5 * (positions[self.hips[0]] + positions[self.hips[1]])
    }
}

struct Legs {
    source: LegJoints,
    target: LegJoints,
}

impl Legs {
    fn of(map: &JointMap) -> Option<Self> {
        let pair = |role: fn(Side) -> Role| {
            let left = map.link_of(role(Side::Left))?;
            let right = map.link_of(role(Side::Right))?;
            Some((
                [left.source.index(), right.source.index()],
                [left.target.index(), right.target.index()],
            ))
        };
        let (hips, knees, ankles) = (pair(Role::Hip)?, pair(Role::Knee)?, pair(Role::Ankle)?);
        Some(Self {
            source: LegJoints {
                hips: hips.0,
                knees: knees.0,
                ankles: ankles.0,
            },
            target: LegJoints {
                hips: hips.1,
                knees: knees.1,
                ankles: ankles.1,
            },
        })
    }
}

/// Global rotations and positions of a skeleton.
struct Globals {
    rotations: Vec<DQuat>,
    positions: Vec<DVec3>,
}

impl Globals {
    fn new(n_joints: usize) -> Self {
        Self {
            rotations: vec![DQuat::IDENTITY; n_joints],
            positions: vec![DVec3::ZERO; n_joints],
        }
    }

    fn fill(&mut self, skeleton: &Skeleton, rest: &[DVec3], pose: &Pose) {
        for (joint, local) in pose.rotations.iter().enumerate() {
            let local = wide(*local);
            match skeleton.parents()[joint] {
                Some(parent) => {
                    let p = parent.index();
                    self.rotations[joint] = (self.rotations[p] * local).normalize();
                    self.positions[joint] =
                        self.positions[p] + self.rotations[p] * (rest[joint] - rest[p]);
                }
                None => {
                    self.rotations[joint] = local;
                    self.positions[joint] = pose.root.as_dvec3();
                }
            }
        }
    }
}

/// What a frame of the target is made from.
struct Plan<'a> {
    target: &'a Skeleton,
    map: &'a JointMap,
    rest: Vec<DVec3>,
    /// B, for each link.
    matched: Vec<DQuat>,
    arms: Option<Arms>,
}

impl Plan<'_> {
    /// Global rotations of the target from those of the source.
    fn rotations(&self, source: &[DQuat], out: &mut [DQuat]) {
        let mut links = self.map.links().iter().zip(&self.matched).peekable();
        for joint in 0..out.len() {
            out[joint] = match links.next_if(|(link, _)| link.target.index() == joint) {
                Some((link, matched)) => (source[link.source.index()] * *matched).normalize(),
                None => match self.target.parents()[joint] {
                    Some(parent) => out[parent.index()],
                    None => DQuat::IDENTITY,
                },
            };
        }
        if let Some(arms) = &self.arms {
            let chest = out[arms.chest];
            for (joint, turn) in &arms.turns {
                out[*joint] = (chest * *turn * chest.inverse() * out[*joint]).normalize();
            }
        }
    }

    /// Joints over the soles, and the sole relative to the joint at rest.
    fn soles(&self) -> Vec<(usize, DVec3)> {
        [Side::Left, Side::Right]
            .into_iter()
            .flat_map(|side| [Role::Ankle(side), Role::Toe(side)])
            .filter_map(|role| self.map.target_joint(role))
            .map(|joint| (joint.index(), -DVec3::Y * self.rest[joint.index()].y))
            .collect()
    }
}

/// The arms that are turned outwards.
struct Arms {
    chest: usize,
    /// Joints of both arms and their turn in the chest's axes.
    turns: Vec<(usize, DQuat)>,
}

fn arms(map: &JointMap, target: &Skeleton, abduction: f64) -> Option<Arms> {
    if abduction == 0.0 {
        return None;
    }
    let chest = map
        .target_joint(Role::UpperSpine)
        .or_else(|| map.target_joint(Role::Pelvis))?;
    let mut turns = Vec::new();
    for (side, sign) in [(Side::Left, 1.0), (Side::Right, -1.0)] {
        let Some(shoulder) = map.target_joint(Role::Shoulder(side)) else {
            continue;
        };
        let turn = DQuat::from_rotation_z(sign * abduction);
        turns.extend(below(target, shoulder).map(|joint| (joint, turn)));
    }
    Some(Arms {
        chest: chest.index(),
        turns,
    })
}

/// A joint and everything below it.
fn below(skeleton: &Skeleton, top: JointId) -> impl Iterator<Item = usize> {
    let mut is_below = vec![false; skeleton.len()];
    for (joint, parent) in skeleton.parents().iter().enumerate() {
        is_below[joint] = joint == top.index() || parent.is_some_and(|p| is_below[p.index()]);
    }
    (0..skeleton.len()).filter(move |&joint| is_below[joint])
}

/// B for each link.
fn match_rests(
    map: &JointMap,
    target: &Skeleton,
    rest: &[DVec3],
    source_rest: &[DVec3],
) -> Vec<DQuat> {
    // For each target joint: its link, or that of the nearest joint above.
    let mut nearest: Vec<Option<usize>> = vec![None; target.len()];
    let mut matched: Vec<DQuat> = Vec::with_capacity(map.links().len());
    for joint in 0..target.len() {
        let above = target.parents()[joint].and_then(|parent| nearest[parent.index()]);
        nearest[joint] = above;
        let Some(link) = map.links().get(matched.len()) else {
            continue;
        };
        if link.target.index() != joint {
            continue;
        }
        nearest[joint] = Some(matched.len());
        matched.push(match link.rule {
            Rule::Identity => DQuat::IDENTITY,
            Rule::Carry => above.map_or(DQuat::IDENTITY, |above| matched[above]),
            Rule::Aim { child } => {
                let base = match above {
                    Some(above) if matches!(map.links()[above].rule, Rule::Aim { .. }) => {
                        matched[above]
                    }
                    _ => DQuat::IDENTITY,
                };
                let bone = base * (rest[child.index()] - rest[joint]);
                let source_bone = (map.links().iter())
                    .find(|link| link.target == child)
                    .map_or(DVec3::ZERO, |below| {
                        source_rest[below.source.index()] - source_rest[link.source.index()]
                    });
                match (bone.try_normalize(), source_bone.try_normalize()) {
                    (Some(from), Some(to)) => DQuat::from_rotation_arc(from, to) * base,
                    _ => base,
                }
            }
        });
    }
    matched
}

/// Positions of joints for given global rotations, the root at the origin.
fn place(skeleton: &Skeleton, rest: &[DVec3], pose: &mut Globals) {
    for joint in 0..skeleton.len() {
        pose.positions[joint] = match skeleton.parents()[joint] {
            Some(parent) => {
                let p = parent.index();
                pose.positions[p] + pose.rotations[p] * (rest[joint] - rest[p])
            }
            None => DVec3::ZERO,
        };
    }
}

fn locals(skeleton: &Skeleton, rotations: &[DQuat]) -> Vec<glam::Quat> {
    (rotations.iter().zip(skeleton.parents()))
        .map(|(rotation, parent)| match parent {
            Some(parent) => (rotations[parent.index()].inverse() * *rotation)
                .normalize()
                .as_quat(),
            None => rotation.as_quat(),
        })
        .collect()
}

/// The value below which the given share of values lies, interpolated
/// linearly between two of them.
fn percentile(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = share * last as f64;
    let (low, part) = (at.floor() as usize, at.fract());
    let next = values[(low + 1).min(last)];
    Some(values[low] + part * (next - values[low]))
}

fn note_unused(clip: &Clip, map: &JointMap, notes: &mut Vec<MotionNote>) {
    let source = clip.skeleton();
    for joint in 0..source.len() {
        if (map.links().iter()).any(|link| link.source.index() == joint) {
            continue;
        }
        let first = wide(clip.frames()[0].rotations[joint]).inverse();
        let largest = (clip.frames().iter())
            .map(|pose| angle(first * wide(pose.rotations[joint])))
            .fold(0.0, f64::max);
        if largest > UNUSED_TURN {
            notes.push(MotionNote::SourceJointUnused {
                joint: source.names()[joint].clone(),
                angle: largest,
            });
        }
    }
}
