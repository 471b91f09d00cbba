//! [`insert_stop`]: a motion that comes to rest at a frame.
//!
//! Time itself is slowed. Over the ease e the speed falls as
//! 1 − smoothstep(x), x from 0 to 1, so that e/2 of the motion passes in it;
//! it begins e/2 before the frame, and the pose is at rest exactly there:
//!
//! ```text
//! source time = start + e·(x − x³ + x⁴/2)      slowing down
//! source time = stop + e·(x³ − x⁴/2)           starting again
//! ```

use drapery_core::{Clip, FrameIndex, Seconds};

use super::{EditError, checked, warp};

/// What follows a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterStop {
    /// The motion eases in again and goes on.
    Continue,
    /// The clip ends with the hold.
    End,
}

/// The clip with a stop at frame `at`, held for `hold`, named `~stop40`.
///
/// The hold is lengthened by less than a frame so that the frames after the
/// stop are the clip's own. Where the clip has less than half an ease before
/// or after the frame, that ease is shortened to fit.
///
/// # Errors
/// When there is no such frame, a duration is negative or not finite, or the
/// result would have too many frames.
pub fn insert_stop(
    clip: &Clip,
    at: FrameIndex,
    hold: Seconds,
    ease: Seconds,
    after: AfterStop,
) -> Result<Clip, EditError> {
    let n_frames = clip.frames().len();
    if at.0 as usize >= n_frames {
        return Err(EditError::Frames {
            start: at.0 as usize,
            end: at.0 as usize + 1,
            n_frames,
        });
    }
    let (hold, ease) = (checked(hold)?, checked(ease)?);
    let hz = clip.frame_rate().hz();
    let stop = clip.frame_rate().time_of(at).0;
    let left = match after {
        AfterStop::Continue => clip.duration().0 - stop,
        AfterStop::End => 0.0,
    };
    let ease_out = ease.min(2.0 * stop);
    let ease_in = ease.min(2.0 * left);
    // Whole frames between the frame itself and where it would be without a stop.
    let added = ((0.5 * (ease_out + ease_in) + hold) * hz - 1e-6).ceil() / hz;
    let slowing = stop - 0.5 * ease_out;
    let still = stop + 0.5 * ease_out;
    let starting = stop + added - 0.5 * ease_in;
    let source_time = |time: f64| {
        if time < slowing {
            time
        } else if time < still {
            let x = (time - slowing) / ease_out;
            slowing + ease_out * (x - x.powi(3) + 0.5 * x.powi(4))
        } else if time < starting {
            stop
        } else if time < starting + ease_in {
            let x = (time - starting) / ease_in;
            stop + ease_in * (x.powi(3) - 0.5 * x.powi(4))
        } else {
            stop + (time - stop - added)
        }
    };
    let duration = Seconds(stop + added + left);
    let edit = format!("stop{}", at.0);
    warp(clip, &edit, clip.frame_rate(), duration, source_time)
}

#[cfg(test)]
mod tests {
    use super::super::test_clip::walk;
    use super::*;

    #[test]
    fn the_walk_stops_at_its_frame_and_goes_on() {
        let clip = walk(91);
        let stopped = insert_stop(
            &clip,
            FrameIndex(40),
            Seconds(0.5),
            Seconds(0.4),
            AfterStop::Continue,
        )
        .unwrap();
        // 6 frames of half an ease before and after, 15 of hold.
        assert_eq!(stopped.frames().len(), 91 + 27);
        assert_eq!(stopped.name(), "walk~stop40");
        assert!(stopped.frames()[..35] == clip.frames()[..35]);
        for frame in &stopped.frames()[46..=61] {
            assert_eq!(frame, &clip.frames()[40]);
        }
        assert!(stopped.frames()[73..] == clip.frames()[46..]);
        // The root goes at 1 m/s along +Z: its speed falls all the way, and
        // no step is longer than before.
        let z: Vec<f32> = stopped.frames().iter().map(|f| f.root.z).collect();
        let steps: Vec<f32> = z.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(steps[34..46].windows(2).all(|w| w[1] < w[0] + 1e-6));
        assert!(steps[61..72].windows(2).all(|w| w[1] > w[0] - 1e-6));
        assert!(
            steps
                .iter()
                .all(|&s| (-1e-6..=1.0 / 30.0 + 1e-5).contains(&s))
        );
        // Smooth: a step differs from the one before by at most 3/2 of what
        // an even braking over the 12 frames would make of it.
        let sharpest = (steps.windows(2).map(|w| (w[1] - w[0]).abs())).fold(0.0, f32::max);
        assert!(sharpest < 1.51 / 12.0 / 30.0, "{sharpest}");
    }

    #[test]
    fn a_clip_can_end_with_the_stop_and_eases_fit_the_clip() {
        let clip = walk(31);
        let end = insert_stop(
            &clip,
            FrameIndex(10),
            Seconds(1.0),
            Seconds(0.2),
            AfterStop::End,
        )
        .unwrap();
        assert_eq!(end.frames().len(), 10 + 3 + 30 + 1);
        assert!(end.frames()[43] == clip.frames()[10]);
        let first = insert_stop(
            &clip,
            FrameIndex(0),
            Seconds(0.1),
            Seconds(9.0),
            AfterStop::Continue,
        )
        .unwrap();
        assert!(first.frames()[..4] == [&clip.frames()[..1]; 4].concat());
        assert!(first.frames().last() == clip.frames().last());
        let cut = insert_stop(
            &clip,
            FrameIndex(12),
            Seconds(0.0),
            Seconds(0.0),
            AfterStop::Continue,
        )
        .unwrap();
        assert!(cut.frames() == clip.frames());
    }

    #[test]
    fn senseless_stops_are_refused() {
        let clip = walk(31);
        let stop = |at, hold, ease| {
            insert_stop(
                &clip,
                FrameIndex(at),
                Seconds(hold),
                Seconds(ease),
                AfterStop::Continue,
            )
        };
        assert!(matches!(stop(31, 1.0, 0.1), Err(EditError::Frames { .. })));
        assert!(matches!(stop(3, -1.0, 0.1), Err(EditError::Duration(_))));
        assert!(matches!(
            stop(3, 1.0, f64::NAN),
            Err(EditError::Duration(_))
        ));
        assert!(matches!(stop(3, 1e9, 0.1), Err(EditError::TooLong { .. })));
    }
}
