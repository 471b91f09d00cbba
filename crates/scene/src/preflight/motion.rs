//! [`check_motion`]: can this body do this motion without entering itself or
//! the floor.

use drapery_core::{BodyModel, Clip, JointId, PoseError, PoseVelocity, ShapedBody};
use glam::Vec3;

use super::self_contact::{SelfContact, SelfContactFinder};
use super::{Finding, FindingKind, Severity, place, sorted};

/// Contact shallower than this is not a finding [m]: skin is softer than that.
const MIN_DEPTH: f32 = 5e-3;

/// No joint turns faster [rad/s]; the forearm of a thrower reaches half of it.
/// A joint that flips by half a turn between frames at 30 Hz is at 94.
const MAX_TURN: f32 = 75.0;

/// Joints with no skin further from them than this don't matter here [m]:
/// fingers and thumbs are rarely captured and flip about, no cloth follows.
const MIN_REACH: f32 = 0.1;

/// Nobody runs faster [m/s].
const MAX_SPEED: f32 = 13.0;

/// Soles may sink this deep before it is a finding [m]: capture floors are not
/// level to better, and soles are soft.
const MAX_SINK: f32 = 0.01;

/// A sink this deep is seen [m].
const DEEP_SINK: f32 = 0.05;

/// A body whose lowest point is above this does not stand [m]: capture floors
/// are not level to better, and tiptoe on soft ground is less.
const MAX_FLOAT: f32 = 0.03;

/// Longer than this above the floor is a jump or a fault [s]: the flight of a
/// runner lasts 0.2 s, a hop 0.4 s.
const MAX_HOP: f64 = 0.5;

/// A body in the air falls with 9.8 m/s², and its root, which is not its
/// centre of mass, with half of that at least. One that floats does not fall:
/// jumps of the shared clips have 8 to 11, their drifts and steps at most 2.
const MIN_FALL: f64 = 4.9;

/// What was found in a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionReport {
    /// What is wrong, worst first.
    pub findings: Vec<Finding>,
    /// The contact of each frame, beyond what there is at rest.
    pub frames: Vec<FrameContact>,
    /// Smallest and largest height of the lowest vertex [m].
    pub sole_height: [f32; 2],
    /// The mean share of the body's vertices that is masked, over all frames.
    pub masked_share: f32,
}

impl MotionReport {
    /// The frames in which parts that should not meet enter one another.
    pub fn contact_frames(&self) -> Vec<u32> {
        self.frames
            .iter()
            .filter(|f| f.is_contact())
            .map(|f| f.frame)
            .collect()
    }
}

/// A body's contact with itself in one frame, beyond what there is at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameContact {
    /// The frame.
    pub frame: u32,
    /// Vertices inside another part that are not so at rest.
    pub n_inside: usize,
    /// How many of them are in creases.
    pub n_crease: usize,
    /// How deep the deepest of `n_inside` is [m].
    pub depth: f32,
    /// How deep the deepest is that is in no crease [m].
    pub contact_depth: f32,
    /// Vertices that are masked: at rest or now inside, and 2 cm around.
    pub n_masked: usize,
    /// Which parts enter which, the deepest first; creases too.
    pub joints: Vec<JointContact>,
    /// Height of the lowest vertex [m].
    pub lowest: f32,
}

/// Two parts in contact.
#[derive(Clone, Debug, PartialEq)]
pub struct JointContact {
    /// The joints that the parts follow, the lower first.
    pub joints: [JointId; 2],
    /// Whether the skin that meets is near along the bones.
    pub is_crease: bool,
    /// How deep [m].
    pub depth: f32,
}

impl FrameContact {
    /// Whether parts that should not meet are deeper in one another than skin
    /// gives way.
    pub fn is_contact(&self) -> bool {
        self.contact_depth > MIN_DEPTH
    }

    /// Whether the skin folds into itself at a joint by more than that.
    pub fn is_crease(&self) -> bool {
        self.joints
            .iter()
            .any(|j| j.is_crease && j.depth > MIN_DEPTH)
    }
}

/// Poses `body` through a clip of its own skeleton and looks at every frame.
/// `each` gets the number of every finished frame and returns `false` to stop,
/// which leaves the report shorter.
///
/// # Errors
/// When the clip is of another skeleton.
pub fn check_motion(
    model: &dyn BodyModel,
    body: &ShapedBody,
    clip: &Clip,
    mut each: impl FnMut(usize) -> bool,
) -> Result<MotionReport, PoseError> {
    let mut finder = SelfContactFinder::new(model, &body.rest);
    let at_rest = finder.find(&body.rest);
    let mut posed = model.room();
    let still = PoseVelocity::zero(model.skeleton().len());
    let mut frames = Vec::with_capacity(clip.frames().len());
    let mut masked = 0.0;
    for (frame, pose) in clip.frames().iter().enumerate() {
        model.pose(body, pose, &still, &mut posed)?;
        let contact = finder.find(&posed.vertices);
        masked += contact.masked_share();
        frames.push(frame_contact(
            frame as u32,
            &contact,
            &at_rest,
            &posed.vertices,
        ));
        if !each(frame) {
            break;
        }
    }
    let mut findings = Vec::new();
    contact_findings(model, &frames, &mut findings);
    jumps(model, body, clip, &mut findings);
    let sole_height = floor(&frames, clip, &mut findings);
    Ok(MotionReport {
        findings: sorted(findings),
        masked_share: masked / frames.len().max(1) as f32,
        frames,
        sole_height,
    })
}

fn frame_contact(
    frame: u32,
    contact: &SelfContact,
    at_rest: &SelfContact,
    vertices: &[Vec3],
) -> FrameContact {
    let mut result = FrameContact {
        frame,
        n_inside: 0,
        n_crease: 0,
        depth: 0.0,
        contact_depth: 0.0,
        n_masked: contact.masked.iter().filter(|m| **m).count(),
        joints: Vec::new(),
        lowest: vertices.iter().map(|p| p.y).fold(f32::INFINITY, f32::min),
    };
    let inside = contact.inside.iter().zip(&contact.depth);
    for ((v, &depth), &is_crease) in inside.zip(&contact.is_crease) {
        if at_rest.inside.binary_search(v).is_ok() {
            continue;
        }
        result.n_inside += 1;
        result.n_crease += usize::from(is_crease);
        result.depth = result.depth.max(depth);
        if !is_crease {
            result.contact_depth = result.contact_depth.max(depth);
        }
    }
    for pair in &contact.pairs {
        let before = at_rest
            .pairs
            .iter()
            .find(|p| (p.joints, p.is_crease) == (pair.joints, pair.is_crease));
        if before.is_some_and(|b| b.depth + 1e-3 >= pair.depth) {
            continue;
        }
        result.joints.push(JointContact {
            joints: pair.joints,
            is_crease: pair.is_crease,
            depth: pair.depth,
        });
    }
    result
}

fn contact_findings(model: &dyn BodyModel, frames: &[FrameContact], findings: &mut Vec<Finding>) {
    let names = model.skeleton().names();
    let kinds = [
        (
            FindingKind::BodyContact,
            Severity::Warning,
            false,
            "turn the arms outwards, or accept it: those frames are flagged and cloth is not judged \
             where the body meets itself",
        ),
        (
            FindingKind::BodyCrease,
            Severity::Note,
            true,
            "none needed: skin folds at a bent joint, and cloth is not judged there",
        ),
    ];
    for (kind, severity, crease, cure) in kinds {
        let hit: Vec<&FrameContact> = frames
            .iter()
            .filter(|f| {
                if crease {
                    f.is_crease()
                } else {
                    f.is_contact()
                }
            })
            .collect();
        let deepest = hit
            .iter()
            .flat_map(|f| f.joints.iter().map(move |j| (f.frame, j)))
            .filter(|(_, j)| j.is_crease == crease)
            .fold(
                None,
                |best: Option<(u32, &JointContact)>, next| match best {
                    Some(b) if b.1.depth >= next.1.depth => Some(b),
                    _ => Some(next),
                },
            );
        if let Some((frame, joints)) = deepest {
            let [a, b] = joints.joints.map(|j| names[j.index()].as_str());
            let listed: Vec<u32> = hit.iter().map(|f| f.frame).collect();
            findings.push(
                Finding::new(kind, severity, hit.len())
                    .at(format!(
                        "{}; deepest {:.1} mm in frame {frame}, {a} and {b}",
                        place::list(["frame", "frames"], &listed),
                        1e3 * joints.depth
                    ))
                    .cure(cure),
            );
        }
    }
}

/// Steps that no person takes.
fn jumps(model: &dyn BodyModel, body: &ShapedBody, clip: &Clip, findings: &mut Vec<Finding>) {
    let reach = reach(model, body);
    let step = clip.frame_rate().frame_step().0 as f32;
    let mut frames = Vec::new();
    let mut worst: Option<(f32, String)> = None;
    let mut offer = |share: f32, words: String| {
        if worst.as_ref().is_none_or(|w| share > w.0) {
            worst = Some((share, words));
        }
    };
    for (i, pair) in clip.frames().windows(2).enumerate() {
        let frame = i as u32 + 1;
        let speed = pair[0].root.distance(pair[1].root) / step;
        let mut jumped = speed > MAX_SPEED;
        if jumped {
            offer(
                speed / MAX_SPEED,
                format!("the root moves at {speed:.0} m/s in frame {frame}"),
            );
        }
        let turns = pair[0].rotations.iter().zip(&pair[1].rotations);
        for (joint, (before, after)) in turns.enumerate() {
            let turn = before.angle_between(*after) / step;
            if turn > MAX_TURN && reach[joint] > MIN_REACH {
                jumped = true;
                offer(
                    turn / MAX_TURN,
                    format!(
                        "{} turns at {turn:.0} rad/s in frame {frame}",
                        model.skeleton().names()[joint]
                    ),
                );
            }
        }
        if jumped {
            frames.push(frame);
        }
    }
    if let Some((_, words)) = worst {
        findings.push(
            Finding::new(FindingKind::VelocityJump, Severity::Warning, frames.len())
                .at(format!(
                    "{}; {words}",
                    place::list(["frame", "frames"], &frames)
                ))
                .cure("cut the clip there, or smooth the jump: cloth is torn off by it"),
        );
    }
}

/// How far from each joint the skin is that it moves, at most [m].
fn reach(model: &dyn BodyModel, body: &ShapedBody) -> Vec<f32> {
    let mut reach = vec![0.0f32; body.joints.len()];
    let main = place::main_joints(model.skin_weights());
    for (p, joint) in body.rest.iter().zip(main) {
        let mut joint = Some(JointId(joint));
        while let Some(j) = joint.map(JointId::index) {
            reach[j] = reach[j].max(p.distance(body.joints[j]));
            joint = model.skeleton().parents()[j];
        }
    }
    reach
}

/// Sinking and floating; returns the range of heights.
///
/// A body that floats for a while is a note: the floor of a capture drifts by
/// centimetres, cloth does not mind, and what the person stood on is not in the
/// clip.
fn floor(frames: &[FrameContact], clip: &Clip, findings: &mut Vec<Finding>) -> [f32; 2] {
    let range = frames
        .iter()
        .fold([f32::INFINITY, f32::NEG_INFINITY], |r, f| {
            [r[0].min(f.lowest), r[1].max(f.lowest)]
        });
    let sunk: Vec<u32> = frames
        .iter()
        .filter(|f| f.lowest < -MAX_SINK)
        .map(|f| f.frame)
        .collect();
    let floating = floating(frames, clip);
    let drifts = !floating.is_empty() && range[0] <= MAX_FLOAT;
    let [low, high] = range.map(|h| 100.0 * h);
    let measured = format!("the lowest point is at {low:.1} to {high:.1} cm");
    if !sunk.is_empty() {
        let severity = if range[0] < -DEEP_SINK {
            Severity::Warning
        } else {
            Severity::Note
        };
        findings.push(
            Finding::new(FindingKind::BelowFloor, severity, sunk.len())
                .at(format!(
                    "{}; {measured}",
                    place::list(["frame", "frames"], &sunk)
                ))
                .cure(if drifts {
                    "level the clip: its floor is not flat".into()
                } else {
                    format!("raise the clip by {:.1} cm", -low)
                }),
        );
    }
    if range[0] > MAX_FLOAT {
        findings.push(
            Finding::new(FindingKind::AboveFloor, Severity::Note, frames.len())
                .at(measured)
                .cure(format!("lower the clip by {low:.1} cm")),
        );
    } else if drifts {
        let named: Vec<String> = floating
            .iter()
            .take(3)
            .map(|run| {
                let highest = run.iter().map(|f| f.lowest).fold(0.0, f32::max);
                format!(
                    "frames {} to {} by up to {:.1} cm",
                    run[0].frame,
                    run[run.len() - 1].frame,
                    100.0 * highest
                )
            })
            .collect();
        let more = match floating.len().saturating_sub(3) {
            0 => String::new(),
            n => format!(" and {n} more times"),
        };
        let n_frames = floating.iter().map(|run| run.len()).sum();
        findings.push(
            Finding::new(FindingKind::AboveFloor, Severity::Note, n_frames)
                .at(format!("{}{more}; {measured}", named.join(", ")))
                .cure(
                    "level the clip (captures drift), or ignore this where the person stands on \
                     something",
                ),
        );
    }
    range
}

/// Runs of frames in which the body is above the floor for longer than a hop
/// and is not falling.
fn floating<'a>(frames: &'a [FrameContact], clip: &Clip) -> Vec<&'a [FrameContact]> {
    let step = clip.frame_rate().frame_step().0;
    let is_above = |f: &FrameContact| f.lowest > MAX_FLOAT;
    frames
        .chunk_by(|a, b| is_above(a) == is_above(b))
        .filter(|run| is_above(&run[0]) && run.len() as f64 * step > MAX_HOP)
        .filter(|run| {
            let heights = run
                .iter()
                .map(|f| f64::from(clip.frames()[f.frame as usize].root.y));
            acceleration(&heights.collect::<Vec<_>>(), step) > -MIN_FALL
        })
        .collect()
}

/// The acceleration of the parabola through heights [m] that are `step` [s]
/// apart, by least squares [m/s²]; 0 for fewer than three.
///
/// With times tᵢ about their mean, the parabola's term q = tᵢ² − ⟨t²⟩ is
/// orthogonal to the constant and the linear one, so its factor is ⟨q h⟩ / ⟨q²⟩.
fn acceleration(heights: &[f64], step: f64) -> f64 {
    let n = heights.len() as f64;
    let time = |i: usize| (i as f64 - (n - 1.0) / 2.0) * step;
    let mean_sq = (0..heights.len()).map(|i| time(i).powi(2)).sum::<f64>() / n;
    let (mut above, mut below) = (0.0, 0.0);
    for (i, height) in heights.iter().enumerate() {
        let q = time(i).powi(2) - mean_sq;
        above += q * height;
        below += q * q;
    }
    if heights.len() < 3 {
        0.0
    } else {
        2.0 * above / below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thrown_body_falls_with_gravity() {
        let throw =
            |i: i32| 1.0 + 3.0 * f64::from(i) / 30.0 - 4.905 * (f64::from(i) / 30.0).powi(2);
        let heights: Vec<f64> = (0..20).map(throw).collect();
        assert!((acceleration(&heights, 1.0 / 30.0) + 9.81).abs() < 1e-9);
        assert_eq!(acceleration(&heights[..2], 1.0 / 30.0), 0.0);
    }
}
