//! Motions of the bending tube: three seconds each at 30 frames a second,
//! periodic, starting and ending at rest.

use drapery_core::{Clip, FrameRate, Pose};
use glam::{Quat, Vec3};

use super::tube;

/// Frames of each clip.
const N_FRAMES: u32 = 91;

/// Each joint bends forward and back by up to 35°, one after the other.
pub(super) fn bend() -> Clip {
    clip("bend", |phase, joint| {
        // Each joint has its own window of the clip, later than the one below.
        let late = (phase - 0.08 * (joint as f32 - 1.0)) / 0.84;
        match joint {
            0 => Quat::IDENTITY,
            _ => Quat::from_rotation_x(35f32.to_radians() * swell(late)),
        }
    })
}

/// The tube sways from side to side about its base.
pub(super) fn sway() -> Clip {
    clip("sway", |phase, joint| {
        let angle = [12f32, 8.0, 10.0, 12.0][joint].to_radians();
        let wave = (std::f32::consts::TAU * (2.0 * phase - 0.05 * joint as f32)).sin();
        Quat::from_rotation_z(angle * wave * swell(phase))
    })
}

/// The upper joints twist about the tube's axis.
pub(super) fn twist() -> Clip {
    clip("twist", |phase, joint| match joint {
        0 => Quat::IDENTITY,
        _ => Quat::from_rotation_y(30f32.to_radians() * swell(phase)),
    })
}

/// 0 at both ends of the clip with no slope, 1 in the middle.
fn swell(phase: f32) -> f32 {
    let phase = phase.clamp(0.0, 1.0);
    0.5 - 0.5 * (std::f32::consts::TAU * phase).cos()
}

fn clip(name: &str, rotation: impl Fn(f32, usize) -> Quat) -> Clip {
    let skeleton = tube::skeleton();
    let frames = (0..N_FRAMES)
        .map(|frame| {
            let phase = frame as f32 / (N_FRAMES - 1) as f32;
            Pose {
                root: Vec3::ZERO,
                rotations: (0..skeleton.len()).map(|j| rotation(phase, j)).collect(),
            }
        })
        .collect();
    Clip::new(name.to_string(), skeleton, FrameRate::THIRTY, frames).expect("all poses are finite")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_start_and_end_at_rest_and_move_between() {
        let turn = |pose: &Pose| {
            let angles = pose
                .rotations
                .iter()
                .map(|q| q.angle_between(Quat::IDENTITY));
            angles.fold(0.0, f32::max)
        };
        for clip in [bend(), sway(), twist()] {
            let frames = clip.frames();
            assert_eq!(frames.len(), 91);
            assert!(
                turn(&frames[0]) < 1e-3 && turn(&frames[90]) < 1e-3,
                "{}",
                clip.name()
            );
            assert!(frames.iter().any(|f| turn(f) > 0.15), "{}", clip.name());
        }
    }
}
