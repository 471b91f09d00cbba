//! [`put_on`]: a motion on the skeleton of a shaped body.
//!
//! As it is when it is the body's own, moved with the root when it is of the
//! same rig in another shape under names of its own, retargeted otherwise.

use drapery_core::{Clip, ClipError, ShapedBody, Skeleton};

use super::joint_map::{JointMap, JointMapError};
use super::note::MotionNote;
use super::retarget::{RetargetError, RetargetOptions, retarget};

/// How a motion is put on a body.
#[derive(Clone, Debug, Default)]
pub struct PutOnOptions {
    /// Names of joints, source and target; found if not given.
    pub joints: Option<Vec<(String, String)>>,
    /// How far the arms are turned outwards [rad].
    pub arm_abduction: f64,
    /// Whether the root's height is left as retargeting finds it.
    pub keeps_height: bool,
}

/// A motion on a body.
#[derive(Clone, Debug)]
pub struct PutOn {
    /// The motion.
    pub clip: Clip,
    /// What retargeting did; none when it was not needed.
    pub retargeted: Option<RetargetedBy>,
}

/// What retargeting did.
#[derive(Clone, Debug)]
pub struct RetargetedBy {
    /// Lengths were multiplied by this.
    pub scale: f64,
    /// The root was raised by this [m].
    pub ground_shift: f64,
    /// What a user should know.
    pub notes: Vec<MotionNote>,
}

/// Why a motion can't be put on a body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PutOnError {
    /// No joints could be found for those of the motion.
    #[error(transparent)]
    Joints(#[from] JointMapError),
    /// The motion can't be retargeted.
    #[error(transparent)]
    Retarget(#[from] RetargetError),
    /// The result is no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

/// Puts a clip on the skeleton of a shaped body.
///
/// # Errors
/// When the joints don't go together.
pub fn put_on(
    clip: Clip,
    body: &ShapedBody,
    skeleton: &Skeleton,
    options: &PutOnOptions,
) -> Result<PutOn, PutOnError> {
    let own = is_same_rig(clip.skeleton(), skeleton);
    let as_it_is = |clip| PutOn {
        clip,
        retargeted: None,
    };
    if own && body.joints == skeleton.rest() {
        let frames = clip.frames().to_vec();
        let name = clip.name().to_string();
        return Ok(as_it_is(Clip::new(
            name,
            skeleton.clone(),
            clip.frame_rate(),
            frames,
        )?));
    }
    let map = match &options.joints {
        Some(pairs) => {
            let pairs = pairs.iter().map(|(s, t)| (s.as_str(), t.as_str()));
            JointMap::from_pairs(clip.skeleton(), skeleton, pairs)?
        }
        None => match JointMap::between(clip.skeleton(), skeleton) {
            Ok(map) => map,
            // Its own rig under names of its own: the rotations are right as they are.
            Err(_) if own => return Ok(as_it_is(moved_with_root(&clip, skeleton, body)?)),
            Err(error) => return Err(error.into()),
        },
    };
    let settings = RetargetOptions {
        arm_abduction: options.arm_abduction,
        ground: !options.keeps_height,
        // The motion has to fit the shaped body, not the template.
        target_rest: Some(body.joints.clone()),
        ..RetargetOptions::default()
    };
    let done = retarget(&clip, skeleton, &map, &settings)?;
    Ok(PutOn {
        clip: done.clip,
        retargeted: Some(RetargetedBy {
            scale: done.scale,
            ground_shift: done.ground_shift,
            notes: done.notes,
        }),
    })
}

/// Whether two skeletons are one and the same, but for rounding on the way
/// through a file.
fn is_same_rig(a: &Skeleton, b: &Skeleton) -> bool {
    const ROUNDING: f32 = 1e-3; // metres
    a.names() == b.names()
        && a.parents() == b.parents()
        && a.rest()
            .iter()
            .zip(b.rest())
            .all(|(p, q)| p.distance(*q) < ROUNDING)
}

/// The clip of a rig on another shape of it: the root moves by as much as
/// the shape moves it.
fn moved_with_root(clip: &Clip, skeleton: &Skeleton, body: &ShapedBody) -> Result<Clip, ClipError> {
    let offset = body.joints[0] - skeleton.rest()[0];
    let mut frames = clip.frames().to_vec();
    for pose in &mut frames {
        pose.root += offset;
    }
    Clip::new(
        clip.name().to_string(),
        skeleton.clone(),
        clip.frame_rate(),
        frames,
    )
}
