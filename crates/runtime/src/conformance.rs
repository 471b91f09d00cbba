//! What every animator promises, as checks that run on any of them.
//!
//! [`animator_conformance!`](crate::animator_conformance) turns the checks
//! into tests. A case is an animator with a short roll-out of bodies that it
//! should handle.

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{AnimateError, BodyFrame, GarmentAnimator, PosedBody, ShapedBody, Surroundings};
use glam::{Affine3A, Vec3};

use crate::step_batch;

/// An animator with bodies to try it on.
#[derive(Clone, Debug)]
pub struct Case<A> {
    /// The animator.
    pub animator: A,
    /// The body.
    pub body: ShapedBody,
    /// The body at consecutive frames, at least three and not all alike.
    pub frames: Vec<PosedBody>,
}

impl<A: GarmentAnimator> Case<A> {
    fn frame(&self, i: usize) -> BodyFrame<'_> {
        self.frames[i].frame(&self.body, Surroundings::default())
    }

    fn room(&self) -> Vec<Vec3> {
        vec![Vec3::splat(7.5); self.animator.topology().n_vertices()]
    }

    /// All frames, one after the other.
    fn roll_out(&self) -> Vec<Vec<Vec3>> {
        let mut state = self.animator.start(&self.frame(0)).expect("start");
        (0..self.frames.len())
            .map(|i| {
                let mut out = self.room();
                self.animator
                    .step(&mut state, &self.frame(i), &mut out)
                    .expect("step");
                out
            })
            .collect()
    }
}

fn bytes(positions: &[Vec3]) -> Vec<u32> {
    positions
        .iter()
        .flat_map(|p| p.to_array().map(f32::to_bits))
        .collect()
}

/// Every position of a roll-out is finite, every report within its range, and
/// the garment moves with the body.
///
/// # Panics
/// When the promise is broken, as do all checks here.
pub fn roll_out_is_finite<A: GarmentAnimator>(case: &Case<A>) {
    assert!(case.frames.len() >= 3, "a case has at least three frames");
    let frames = case.roll_out();
    for (i, frame) in frames.iter().enumerate() {
        let bad = frame.iter().position(|p| !p.is_finite());
        assert_eq!(bad, None, "frame {i} has a vertex that is not finite");
    }
    assert_ne!(
        frames[0],
        frames[frames.len() - 1],
        "the garment stands still"
    );
    let mut state = case.animator.start(&case.frame(0)).expect("start");
    let report = case
        .animator
        .step(&mut state, &case.frame(0), &mut case.room())
        .expect("step");
    assert!(
        (0.0..=1.0).contains(&report.confidence),
        "confidence {}",
        report.confidence
    );
    assert!(
        report.correction_depth >= 0.0,
        "depth {}",
        report.correction_depth
    );
}

/// The garment is near its body: no vertex farther from the body's vertices
/// than the body is long.
///
/// # Panics
/// When it is not.
pub fn garment_stays_near_the_body<A: GarmentAnimator>(case: &Case<A>) {
    for (frame, body) in case.roll_out().iter().zip(&case.frames) {
        let (low, high) = body
            .vertices
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| {
                (l.min(*p), h.max(*p))
            });
        let reach = (high - low).length();
        for (vertex, p) in frame.iter().enumerate() {
            let away = (*p - p.clamp(low, high)).length();
            assert!(
                away <= reach,
                "vertex {vertex} is {away} m away from the body"
            );
        }
    }
}

/// Equal inputs give equal bytes.
///
/// # Panics
/// When they don't.
pub fn equal_inputs_give_equal_bytes<A: GarmentAnimator>(case: &Case<A>) {
    for (a, b) in case.roll_out().iter().zip(&case.roll_out()) {
        assert_eq!(bytes(a), bytes(b));
    }
}

/// Two garments of one animator do not disturb each other, and a cloned state
/// goes on as its original does.
///
/// # Panics
/// When they do.
pub fn states_are_independent<A: GarmentAnimator>(case: &Case<A>) {
    let alone = case.roll_out();
    let last = case.frames.len() - 1;
    let mut state = case.animator.start(&case.frame(0)).expect("start");
    let mut other = case.animator.start(&case.frame(last)).expect("start");
    let (mut out, mut noise) = (case.room(), case.room());
    for (i, expected) in alone.iter().enumerate() {
        let mut copy = state.clone();
        case.animator
            .step(&mut other, &case.frame(last - i), &mut noise)
            .expect("step");
        case.animator
            .step(&mut state, &case.frame(i), &mut out)
            .expect("step");
        assert_eq!(bytes(&out), bytes(expected), "frame {i} was disturbed");
        case.animator
            .step(&mut copy, &case.frame(i), &mut out)
            .expect("step");
        assert_eq!(
            bytes(&out),
            bytes(expected),
            "frame {i} of the clone differs"
        );
    }
}

/// Too few joints, shape coefficients or outputs are errors that leave the
/// output alone.
///
/// # Panics
/// When they are not.
pub fn wrong_lengths_are_errors<A: GarmentAnimator>(case: &Case<A>) {
    let good = case.frame(1);
    let n = good.world_from_rest.len();
    let shorter = BodyFrame {
        world_from_rest: &good.world_from_rest[..n - 1],
        ..good
    };
    let mut more_shape = good.shape.to_vec();
    more_shape.push(0.0);
    let wider = BodyFrame {
        shape: &more_shape,
        ..good
    };
    assert!(matches!(
        case.animator.start(&shorter),
        Err(AnimateError::Joints { .. })
    ));
    assert!(matches!(
        case.animator.start(&wider),
        Err(AnimateError::Shape { .. })
    ));
    let mut state = case.animator.start(&case.frame(0)).expect("start");
    let mut out = case.room();
    let untouched = bytes(&out);
    let found = case.animator.step(&mut state, &shorter, &mut out);
    assert!(matches!(found, Err(AnimateError::Joints { .. })));
    let found = case.animator.step(&mut state, &wider, &mut out);
    assert!(matches!(found, Err(AnimateError::Shape { .. })));
    assert_eq!(bytes(&out), untouched, "a failed step wrote to its output");
    out.pop();
    let found = case.animator.step(&mut state, &good, &mut out);
    assert!(matches!(found, Err(AnimateError::Output { .. })));
}

/// A body that is not finite is an error, and the garment goes on afterwards
/// as if it had not been.
///
/// # Panics
/// When it does not.
pub fn nan_is_refused_and_forgotten<A: GarmentAnimator>(case: &Case<A>) {
    let good = case.frame(1);
    let mut broken: Vec<Affine3A> = good.world_from_rest.to_vec();
    broken[0].translation.x = f32::NAN;
    let bad = BodyFrame {
        world_from_rest: &broken,
        ..good
    };
    assert!(matches!(
        case.animator.start(&bad),
        Err(AnimateError::NotFinite)
    ));
    let expected = case.roll_out();
    let mut state = case.animator.start(&case.frame(0)).expect("start");
    let mut out = case.room();
    case.animator
        .step(&mut state, &case.frame(0), &mut out)
        .expect("step");
    assert_eq!(
        case.animator.step(&mut state, &bad, &mut out),
        Err(AnimateError::NotFinite)
    );
    assert_eq!(
        bytes(&out),
        bytes(&expected[0]),
        "a failed step wrote to its output"
    );
    case.animator
        .step(&mut state, &case.frame(1), &mut out)
        .expect("step");
    assert_eq!(bytes(&out), bytes(&expected[1]));
}

/// A batch gives what a loop gives.
///
/// # Panics
/// When it does not.
pub fn batch_equals_loop<A: GarmentAnimator>(case: &Case<A>) {
    let bodies: Vec<BodyFrame<'_>> = (0..case.frames.len()).map(|i| case.frame(i)).collect();
    let start = |b| case.animator.start(b).expect("start");
    let mut states: Vec<A::State> = bodies.iter().map(start).collect();
    let mut outputs = vec![case.room(); bodies.len()];
    step_batch(&case.animator, &mut states, &bodies, &mut outputs).expect("batch");
    for (body, batched) in bodies.iter().zip(&outputs) {
        let mut out = case.room();
        case.animator
            .step(&mut start(body), body, &mut out)
            .expect("step");
        assert_eq!(bytes(&out), bytes(batched));
    }
}

/// `step` allocates nothing; `allocations` counts the calling thread's.
///
/// # Panics
/// When it does.
pub fn steps_do_not_allocate<A: GarmentAnimator>(case: &Case<A>, allocations: impl Fn() -> u64) {
    let mut state = case.animator.start(&case.frame(0)).expect("start");
    let mut out = case.room();
    let before = allocations();
    let probe = vec![0u8; 16];
    assert!(allocations() > before, "the counter does not count");
    drop(probe);
    for i in 0..case.frames.len() {
        let body = case.frame(i);
        let before = allocations();
        case.animator
            .step(&mut state, &body, &mut out)
            .expect("step");
        assert_eq!(allocations() - before, 0, "frame {i} allocated");
    }
}

/// Makes a module of tests from a function that gives a [`Case`] and one that
/// counts the allocations of the calling thread.
#[macro_export]
macro_rules! animator_conformance {
    ($name:ident, $case:expr, $allocations:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn roll_out_is_finite() {
                $crate::conformance::roll_out_is_finite(&$case());
            }
            #[test]
            fn garment_stays_near_the_body() {
                $crate::conformance::garment_stays_near_the_body(&$case());
            }
            #[test]
            fn equal_inputs_give_equal_bytes() {
                $crate::conformance::equal_inputs_give_equal_bytes(&$case());
            }
            #[test]
            fn states_are_independent() {
                $crate::conformance::states_are_independent(&$case());
            }
            #[test]
            fn wrong_lengths_are_errors() {
                $crate::conformance::wrong_lengths_are_errors(&$case());
            }
            #[test]
            fn nan_is_refused_and_forgotten() {
                $crate::conformance::nan_is_refused_and_forgotten(&$case());
            }
            #[test]
            fn batch_equals_loop() {
                $crate::conformance::batch_equals_loop(&$case());
            }
            #[test]
            fn steps_do_not_allocate() {
                $crate::conformance::steps_do_not_allocate(&$case(), $allocations);
            }
        }
    };
}
