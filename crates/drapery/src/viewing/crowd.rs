//! A crowd that wears one garment, live and without end. Characters begin at up to
//! [`PHASES`] different frames of one clip, of which the first [`LONGEST`] are gone
//! through again and again.

use std::time::Instant;

use drapery_core::{BodyFrame, BodyModel, PosedBody, StepReport};
use drapery_runtime::{StableCrowd, StableSpace};
use drapery_view::packed::in_steps;
use drapery_view::server::{Query, Refusal, Sink};
use glam::{Vec2, Vec3};

use super::bytes::pad;
use super::moving::Moving;
use super::{failed, wrong};

/// The largest crowd, in characters and in vertices, and one that is not asked to be of
/// any size.
const MOST: usize = 4000;
const MOST_VERTICES: usize = 8_000_000;
const USUAL: usize = 1000;
const LONGEST: u32 = 300;
/// The page draws those of one together.
const PHASES: usize = 48;
/// Neighbours are so many of them apart: a prime above their number, so that all come up.
const STRIDE: usize = 53;
/// Between neighbours [m].
const APART: f32 = 1.3;

/// Where a character stands [m], and at which frame it begins.
struct Place {
    at: Vec2,
    phase: u32,
}

/// How many are asked for, of garments of so many vertices.
pub(super) fn count(query: &Query, n_vertices: usize) -> Result<usize, Refusal> {
    let most = MOST.min(MOST_VERTICES / n_vertices.max(1)).max(1);
    let Some(text) = query.get("count") else {
        return Ok(USUAL.min(most));
    };
    match text.parse() {
        Ok(count) if (1..=most).contains(&count) => Ok(count),
        _ => {
            let expected = "a number from 1 to 4000, or of 8 million vertices together";
            Err(wrong("count", text, expected))
        }
    }
}

/// Rows and columns of characters, as wide as deep.
fn places(n: usize, n_frames: u32) -> Vec<Place> {
    let columns = (n as f32).sqrt().ceil().max(1.0) as usize;
    let n_phases = PHASES.min(n_frames as usize).max(1);
    let place = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let middle = 0.5 * (columns - 1) as f32;
        // Every other row stands in the gaps of the one before it.
        let shift = if row % 2 == 1 { 0.5 } else { 0.0 };
        Place {
            at: APART * Vec2::new(column as f32 - middle + shift, middle - row as f32),
            phase: (i * STRIDE % n_phases * n_frames as usize / n_phases) as u32,
        }
    };
    (0..n).map(place).collect()
}

/// Sends a crowd until nobody looks any more. Characters walk on the spot: what is sent
/// is relative to where the root is above the floor.
pub(super) fn show(
    moving: &Moving<'_>,
    animator: &StableSpace,
    n: usize,
    sink: Sink<'_>,
) -> Result<(), Refusal> {
    let crowd = StableCrowd::new(animator.clone()).map_err(failed)?;
    let n_frames = moving.n_frames().min(LONGEST);
    let poses: Result<Vec<PosedBody>, Refusal> = (0..n_frames)
        .map(|frame| {
            let mut posed = moving.character.room();
            moving.pose(frame, &mut posed)?;
            // A crowd needs the joints alone.
            posed.vertices = Vec::new();
            Ok(posed)
        })
        .collect();
    let poses = poses?;
    let frames: Vec<BodyFrame<'_>> = (poses.iter())
        .map(|posed| posed.frame(&moving.body, moving.surroundings))
        .collect();
    let roots: Vec<Vec2> = (poses.iter())
        .map(|posed| posed.joint_positions.first().copied().unwrap_or_default())
        .map(|root| Vec2::new(root.x, root.z))
        .collect();
    let places = places(n, n_frames);

    let mut bytes = Vec::new();
    for number in [crowd.n_values() as u32 / 3, n as u32, n_frames] {
        bytes.extend(number.to_le_bytes());
    }
    for place in &places {
        bytes.extend(place.at.x.to_le_bytes());
        bytes.extend(place.at.y.to_le_bytes());
        bytes.extend(place.phase.to_le_bytes());
    }
    for root in &roots {
        bytes.extend(root.x.to_le_bytes());
        bytes.extend(root.y.to_le_bytes());
    }
    let at = |tick: u32, place: &Place| ((tick + place.phase) % n_frames) as usize;
    let bodies: Vec<BodyFrame<'_>> = places.iter().map(|p| frames[at(0, p)]).collect();
    let mut state = crowd.start(&bodies).map_err(failed)?;
    let mut out = vec![0.0; crowd.n_values() * n];
    let mut reports = vec![Ok(StepReport::default()); n];
    for tick in (0..n_frames).cycle() {
        let begun = Instant::now();
        let bodies: Vec<BodyFrame<'_>> = places.iter().map(|p| frames[at(tick, p)]).collect();
        crowd
            .step(&mut state, &bodies, &mut out, &mut reports)
            .map_err(failed)?;
        let ms = 1e3 * begun.elapsed().as_secs_f32();
        bytes.extend(tick.to_le_bytes());
        bytes.extend(ms.to_le_bytes());
        for (place, garment) in places.iter().zip(out.chunks_exact(crowd.n_values().max(1))) {
            let root = roots[at(tick, place)];
            for [x, y, z] in garment.as_chunks().0 {
                let steps = in_steps(Vec3::new(x - root.x, *y, z - root.y));
                bytes.extend(steps.into_iter().flat_map(i16::to_le_bytes));
            }
        }
        pad(&mut bytes);
        if !sink(&bytes) {
            break;
        }
        bytes.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_stands_apart_and_begins_at_many_frames() {
        for n_frames in 1..60 {
            let mut phases: Vec<u32> = places(300, n_frames).iter().map(|p| p.phase).collect();
            phases.sort_unstable();
            phases.dedup();
            assert_eq!(phases.len(), PHASES.min(n_frames as usize), "{n_frames}");
        }
        let places = places(1000, 200);
        for (i, one) in places.iter().enumerate() {
            assert!(one.phase < 200);
            for other in &places[..i] {
                assert!(one.at.distance(other.at) > 0.99 * APART);
            }
        }
        let mut phases: Vec<u32> = places.iter().map(|p| p.phase).collect();
        phases.sort_unstable();
        phases.dedup();
        assert_eq!(phases.len(), PHASES);
        let middle = places.iter().map(|p| p.at).sum::<Vec2>() / 1000.0;
        assert!(middle.length() < APART, "{middle}");
    }

    #[test]
    fn a_crowd_is_not_larger_than_it_may_be() {
        assert_eq!(count(&Query::default(), 766).unwrap(), USUAL);
        assert_eq!(count(&Query::default(), 20_000).unwrap(), 400);
        assert_eq!(count(&Query::from([("count", "7")]), 766).unwrap(), 7);
        for wrong in ["0", "4001", "-1", "many", ""] {
            let query = Query::from([("count", wrong)]);
            assert!(count(&query, 766).is_err(), "{wrong}");
        }
        assert!(count(&Query::from([("count", "4000")]), 2_001).is_err());
    }
}
