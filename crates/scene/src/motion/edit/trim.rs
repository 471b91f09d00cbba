//! [`trim`] and [`trim_seconds`]: a part of a clip.

use std::ops::Range;

use drapery_core::{Clip, FrameIndex, Seconds};

use super::{EditError, build, warp};

/// The frames of a range, the end left out, named `~trim`.
///
/// # Errors
/// When the range is empty or not within the clip.
pub fn trim(clip: &Clip, frames: Range<FrameIndex>) -> Result<Clip, EditError> {
    let (start, end) = (frames.start.0 as usize, frames.end.0 as usize);
    let n_frames = clip.frames().len();
    if start >= end || end > n_frames {
        return Err(EditError::Frames {
            start,
            end,
            n_frames,
        });
    }
    build(
        clip,
        "trim",
        clip.frame_rate(),
        clip.frames()[start..end].to_vec(),
    )
}

/// The motion from one time to another, named `~trim`. It begins with the
/// pose at `start`, whether or not that is a frame.
///
/// # Errors
/// When the times are not within the clip, or in the wrong order.
pub fn trim_seconds(clip: &Clip, start: Seconds, end: Seconds) -> Result<Clip, EditError> {
    let duration = clip.duration();
    if !(start.0 >= 0.0 && start <= end && end.0 <= duration.0 + 1e-9) {
        return Err(EditError::Times {
            start: start.0,
            end: end.0,
            duration: duration.0,
        });
    }
    warp(clip, "trim", clip.frame_rate(), end - start, |time| {
        time + start.0
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_clip::walk;
    use super::*;

    #[test]
    fn frames_and_seconds_cut_alike() {
        let clip = walk(31);
        let frames = trim(&clip, FrameIndex(6)..FrameIndex(16)).unwrap();
        let seconds = trim_seconds(&clip, Seconds(0.2), Seconds(0.5)).unwrap();
        assert_eq!(frames, seconds);
        assert_eq!(frames.frames(), &clip.frames()[6..16]);
    }

    #[test]
    fn parts_that_are_not_there_are_refused() {
        let clip = walk(31);
        for (start, end) in [(5, 5), (7, 3), (0, 32), (40, 41)] {
            let cut = trim(&clip, FrameIndex(start)..FrameIndex(end));
            assert!(matches!(cut, Err(EditError::Frames { .. })));
        }
        for (start, end) in [(0.5, 0.4), (-0.1, 0.5), (0.0, 1.1), (f64::NAN, 1.0)] {
            let cut = trim_seconds(&clip, Seconds(start), Seconds(end));
            assert!(matches!(cut, Err(EditError::Times { .. })));
        }
    }
}
