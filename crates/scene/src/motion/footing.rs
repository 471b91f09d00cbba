//! [`footing`]: how a motion treats the floor, from its poses alone.
//!
//! Three points of each sole are followed: heel, ball and tip of the toes. A point is planted while it is lower than
//! [`PLANTED`]; how far it gets from where it was planted is its slide.

use drapery_core::Clip;
use glam::Vec3;

use super::soles::Soles;

/// A point of the sole lower than this stands on the floor [m].
const PLANTED: f32 = 0.005;

/// What became of the soles in a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footing {
    /// The farthest that a planted point of a sole got from where it was
    /// planted, on the level [m].
    pub slide: f32,
    /// The frame in which it was that far.
    pub slide_frame: u32,
    /// The height of the lowest point of a sole in any frame [m].
    pub lowest: f32,
    /// The share of the frames in which nothing is planted.
    pub airborne: f32,
    /// The longest that nothing is planted, in frames.
    pub longest_flight: u32,
}

/// How a clip treats the floor at y = 0; none when its skeleton has no feet
/// that are known by name.
pub fn footing(clip: &Clip) -> Option<Footing> {
    let soles = Soles::of(clip.skeleton(), clip.skeleton().rest())?.places(clip);
    let mut planted: Vec<Option<Vec3>> = vec![None; soles[0].len()];
    let mut result = Footing {
        slide: 0.0,
        slide_frame: 0,
        lowest: f32::INFINITY,
        airborne: 0.0,
        longest_flight: 0,
    };
    let (mut flight, mut airborne) = (0, 0);
    for (frame, points) in soles.iter().enumerate() {
        let mut stands = false;
        for (&at, start) in points.iter().zip(&mut planted) {
            result.lowest = result.lowest.min(at.y);
            if at.y > PLANTED {
                *start = None;
                continue;
            }
            stands = true;
            let way = at - *start.get_or_insert(at);
            let slide = way.x.hypot(way.z);
            if slide > result.slide {
                (result.slide, result.slide_frame) = (slide, frame as u32);
            }
        }
        flight = if stands { 0 } else { flight + 1 };
        airborne += u32::from(!stands);
        result.longest_flight = result.longest_flight.max(flight);
    }
    result.airborne = airborne as f32 / clip.frames().len() as f32;
    Some(result)
}

#[cfg(test)]
mod tests {
    use drapery_core::{FrameRate, Pose};

    use super::*;
    use crate::mannequin;

    /// The mannequin at rest, moved by what `at` says for each frame.
    fn moved(at: impl Fn(usize) -> Vec3) -> Footing {
        let skeleton = mannequin::skeleton();
        let frames = (0..20)
            .map(|frame| Pose {
                root: skeleton.rest()[0] + at(frame),
                ..skeleton.rest_pose()
            })
            .collect();
        let clip = Clip::new("test".into(), skeleton, FrameRate::THIRTY, frames).unwrap();
        footing(&clip).unwrap()
    }

    #[test]
    fn who_stands_does_not_slide_and_who_glides_slides_as_far() {
        let still = moved(|_| Vec3::ZERO);
        assert_eq!((still.slide, still.airborne), (0.0, 0.0));
        assert!(still.lowest.abs() < 1e-6);
        let glide = moved(|frame| Vec3::new(0.0, 0.0, 0.003 * frame as f32));
        assert!((glide.slide - 0.057).abs() < 1e-5, "{}", glide.slide);
        assert_eq!(glide.slide_frame, 19);
    }

    #[test]
    fn what_happens_in_the_air_is_no_slide() {
        // Ten frames on the ground, five in the air and far away, five there.
        let jump = moved(|frame| match frame {
            0..10 => Vec3::ZERO,
            10..15 => Vec3::new(1.0, 0.1, 0.0),
            _ => Vec3::new(2.0, -0.004, 0.0),
        });
        assert_eq!(jump.slide, 0.0);
        assert_eq!((jump.airborne, jump.longest_flight), (0.25, 5));
        assert!((jump.lowest + 0.004).abs() < 1e-6);
    }
}
