//! [`resample`]: the same motion at another frame rate.

use drapery_core::{Clip, FrameRate};

use super::{EditError, warp};

/// The clip at another frame rate, named `~60hz` after it.
///
/// It starts with the same pose; it ends with the last frame that is not past
/// the end.
///
/// # Errors
/// When there would be too many frames.
pub fn resample(clip: &Clip, frame_rate: FrameRate) -> Result<Clip, EditError> {
    let edit = format!("{}hz", frame_rate.hz());
    warp(clip, &edit, frame_rate, clip.duration(), |time| time)
}

#[cfg(test)]
mod tests {
    use super::super::test_clip::walk;
    use super::*;

    #[test]
    fn there_and_back_is_the_same_clip() {
        let clip = walk(31);
        let fine = resample(&clip, FrameRate::new(90.0).unwrap()).unwrap();
        assert_eq!(fine.frames().len(), 91);
        assert_eq!(fine.name(), "walk~90hz");
        let back = resample(&fine, clip.frame_rate()).unwrap();
        assert_eq!(back.frames(), clip.frames());
    }

    #[test]
    fn a_rate_that_does_not_divide_the_length_ends_before_it() {
        let short = resample(&walk(31), FrameRate::new(7.5).unwrap()).unwrap();
        assert_eq!(short.frames().len(), 8);
        assert_eq!(short.frames()[7], walk(31).frames()[28]);
        let too_fine = resample(&walk(4000), FrameRate::new(10_000.0).unwrap());
        assert!(matches!(too_fine, Err(EditError::TooLong { .. })));
    }
}
