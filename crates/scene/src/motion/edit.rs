//! Edits: a clip in, a new clip out.
//!
//! The result has the source's name with `~` and the edit behind it, such as
//! `walk~mirror`, `walk~trim` or `walk~x2`, so that no edit hides.

mod blend;
mod mirror;
mod resample;
mod speed;
mod stop;
mod trim;

use drapery_core::{Clip, ClipError, FrameRate, Pose, Seconds};

use super::sample::pose_at;

pub use blend::blend;
pub use mirror::{MirrorError, Mirrored, mirror};
pub use resample::resample;
pub use speed::change_speed;
pub use stop::{AfterStop, insert_stop};
pub use trim::{trim, trim_seconds};

/// The most frames that an edit makes: nine hours at thirty a second.
const MAX_FRAMES: usize = 1_000_000;

/// Why a clip can't be edited so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The frames asked for are not there.
    #[error("frames {start} to {end} are not within the {n_frames} frames of the clip")]
    Frames {
        /// The first.
        start: usize,
        /// One past the last.
        end: usize,
        /// How many there are.
        n_frames: usize,
    },
    /// The times asked for are not in the clip.
    #[error("{start} s to {end} s is not within the clip's {duration} s")]
    Times {
        /// From [s].
        start: f64,
        /// To [s].
        end: f64,
        /// The clip's length [s].
        duration: f64,
    },
    /// A speed that is no speed.
    #[error("a speed of {0} is not between 0.01 and 100")]
    Speed(f64),
    /// A duration that is negative or not finite.
    #[error("a duration of {0} s is not zero or more")]
    Duration(f64),
    /// The result would be too long.
    #[error("the result would have {frames} frames, more than the limit of {limit}")]
    TooLong {
        /// How many frames.
        frames: f64,
        /// The most that are made.
        limit: usize,
    },
    /// Two clips have different skeletons.
    #[error("the clips {first} and {second} have different skeletons; retarget one")]
    Skeletons {
        /// The first clip's name.
        first: String,
        /// The second clip's name.
        second: String,
    },
    /// Two clips have different frame rates.
    #[error("the clips have {first} and {second} frames a second; resample one")]
    FrameRates {
        /// The first clip's [1/s].
        first: f64,
        /// The second clip's [1/s].
        second: f64,
    },
    /// Two clips are to overlap for longer than one of them lasts.
    #[error("an overlap of {overlap} s is longer than the shorter clip's {shorter} s")]
    Overlap {
        /// What was asked for [s].
        overlap: f64,
        /// How long the shorter clip is [s].
        shorter: f64,
    },
    /// The result is no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

/// A clip of poses of `clip` at the times that `source_time` gives for the
/// times of the result, which lasts `duration`.
fn warp(
    clip: &Clip,
    edit: &str,
    frame_rate: FrameRate,
    duration: Seconds,
    source_time: impl Fn(f64) -> f64,
) -> Result<Clip, EditError> {
    let frames = (duration.0 * frame_rate.hz() + 1e-6).floor() + 1.0;
    if frames.is_nan() || frames > MAX_FRAMES as f64 {
        return Err(EditError::TooLong {
            frames,
            limit: MAX_FRAMES,
        });
    }
    let poses = (0..frames as u32)
        .map(|frame| {
            let time = frame_rate.time_of(drapery_core::FrameIndex(frame));
            pose_at(clip, Seconds(source_time(time.0)))
        })
        .collect();
    build(clip, edit, frame_rate, poses)
}

/// A clip of the same skeleton, named after the edit.
fn build(
    clip: &Clip,
    edit: &str,
    frame_rate: FrameRate,
    poses: Vec<Pose>,
) -> Result<Clip, EditError> {
    Ok(Clip::new(
        format!("{}~{edit}", clip.name()),
        clip.skeleton().clone(),
        frame_rate,
        poses,
    )?)
}

/// The clip with other poses, made of its own.
pub(super) fn rebuilt(clip: &Clip, poses: Vec<Pose>) -> Clip {
    Clip::new(
        clip.name().to_string(),
        clip.skeleton().clone(),
        clip.frame_rate(),
        poses,
    )
    .expect("as many poses of as many joints as before, and as finite")
}

/// A duration that is finite and not negative.
fn checked(duration: Seconds) -> Result<f64, EditError> {
    if duration.0 >= 0.0 && duration.0.is_finite() {
        Ok(duration.0)
    } else {
        Err(EditError::Duration(duration.0))
    }
}

/// Rises from 0 at 0 to 1 at 1 with no slope at either end.
fn smoothstep(x: f64) -> f64 {
    x * x * (3.0 - 2.0 * x)
}

#[cfg(test)]
pub(super) mod test_clip {
    use drapery_core::{Clip, FrameRate, JointId, Pose, Skeleton};
    use glam::{Quat, Vec3};

    /// A small figure that walks along +Z at 1 m/s and swings its limbs.
    pub(in super::super) fn walk(n_frames: usize) -> Clip {
        let names = ["Hips", "LeftUpLeg", "RightUpLeg", "Spine", "LHand", "RHand"];
        let parents = [None, Some(0), Some(0), Some(0), Some(3), Some(3)];
        let rest = [
            [0.0, 0.9, 0.0],
            [0.1, 0.85, 0.0],
            [-0.1, 0.85, 0.0],
            [0.0, 1.1, 0.0],
            [0.5, 1.4, 0.0],
            [-0.5, 1.4, 0.0],
        ];
        let skeleton = Skeleton::new(
            names.map(str::to_string).to_vec(),
            parents.map(|p| p.map(JointId)).to_vec(),
            rest.map(Vec3::from_array).to_vec(),
        )
        .unwrap();
        let frames = (0..n_frames)
            .map(|f| {
                let t = f as f32 / 30.0;
                Pose {
                    root: Vec3::new(0.1 * (3.0 * t).sin(), 0.9, t),
                    rotations: (0..6)
                        .map(|j| {
                            let j = j as f32;
                            Quat::from_scaled_axis(Vec3::new(
                                0.6 * (4.0 * t + j).sin(),
                                0.3 * (3.0 * t + 2.0 * j).cos(),
                                0.2 * (5.0 * t - j).sin(),
                            ))
                        })
                        .collect(),
                }
            })
            .collect();
        Clip::new("walk".to_string(), skeleton, FrameRate::THIRTY, frames).unwrap()
    }
}
