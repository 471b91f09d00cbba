//! [`change_speed`]: the same motion, faster or slower.

use drapery_core::{Clip, Seconds};

use super::{EditError, warp};

/// The clip played `factor` times as fast at the same frame rate, named `~x2`.
///
/// # Errors
/// When the factor is not between 0.01 and 100, or there would be too many
/// frames.
pub fn change_speed(clip: &Clip, factor: f64) -> Result<Clip, EditError> {
    if !(0.01..=100.0).contains(&factor) {
        return Err(EditError::Speed(factor));
    }
    let duration = Seconds(clip.duration().0 / factor);
    let edit = format!("x{factor}");
    warp(clip, &edit, clip.frame_rate(), duration, |time| {
        time * factor
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_clip::walk;
    use super::*;

    #[test]
    fn twice_as_fast_is_every_second_frame() {
        let clip = walk(31);
        let fast = change_speed(&clip, 2.0).unwrap();
        assert_eq!(fast.frames().len(), 16);
        for (f, frame) in fast.frames().iter().enumerate() {
            assert_eq!(frame, &clip.frames()[2 * f]);
        }
        let slow = change_speed(&clip, 0.5).unwrap();
        assert_eq!(slow.frames().len(), 61);
        assert_eq!(change_speed(&slow, 2.0).unwrap().frames(), clip.frames());
        for factor in [0.0, -1.0, 1e3, f64::NAN] {
            assert!(matches!(
                change_speed(&clip, factor),
                Err(EditError::Speed(_))
            ));
        }
    }
}
