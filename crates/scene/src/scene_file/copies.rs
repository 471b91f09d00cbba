//! Copies of clips that enlarge a dataset: [`Copy`].
//!
//! De Aguiar and others, Stable Spaces 2010, §7: every training motion is
//! simulated once more for each of five places, evenly spread, at which it
//! stops; so methods see cloth that goes on when the body does not. The paper
//! is silent on how abruptly, and for how long: here time itself slows down
//! over `stop_ease` ([`insert_stop`]), 0.1 s if nothing is said, and the body
//! then stands for `stop_hold`, 2 s.

use drapery_core::{Clip, FrameIndex, Seconds};

use super::MotionEntry;
use super::error::MotionError;
use crate::motion::{AfterStop, change_speed, insert_stop, mirror};

/// What is done to a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Copy {
    /// Nothing: the clip itself.
    Own,
    /// It stops at the `k`-th of `n` places, from 1, and ends standing.
    Stop {
        /// Which place.
        k: u32,
        /// Of how many.
        n: u32,
    },
    /// Left for right.
    Mirror,
    /// So many times as fast.
    Speed(f64),
}

impl Copy {
    /// The clip itself and all copies that are asked for.
    pub fn all(motion: &MotionEntry) -> Vec<Self> {
        let n = motion.stops;
        std::iter::once(Self::Own)
            .chain((1..=n).map(|k| Self::Stop { k, n }))
            .chain(motion.mirror.then_some(Self::Mirror))
            .chain(motion.speeds.iter().map(|speed| Self::Speed(speed.value)))
            .collect()
    }

    /// The copy of a clip, named after what was done, such as `walk~stop40`.
    ///
    /// # Errors
    /// When it can't be done to that clip.
    pub fn of(self, clip: &Clip, motion: &MotionEntry) -> Result<Clip, MotionError> {
        Ok(match self {
            Self::Own => clip.clone(),
            Self::Stop { k, n } => {
                // Places at 1/(n+1), …, n/(n+1) of the way.
                let last = clip.frames().len() as u64 - 1;
                let place = (last * u64::from(k) + u64::from(n + 1) / 2) / u64::from(n + 1);
                let hold = Seconds(motion.stop_hold);
                let ease = Seconds(motion.stop_ease);
                insert_stop(clip, FrameIndex(place as u32), hold, ease, AfterStop::End)?
            }
            Self::Mirror => mirror(clip)?.clip,
            Self::Speed(factor) => change_speed(clip, factor)?,
        })
    }
}
