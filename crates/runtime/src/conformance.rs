//! What every animator promises, as checks that run on any of them.
//!
//! [`animator_conformance!`](crate::animator_conformance) turns the checks
//! into tests. A case is an animator with a short roll-out of bodies that it
//! should handle. Behind the feature `conformance`, for tests alone.

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{
    AnimateError, BodyFrame, GarmentAnimator, PosedBody, ShapedBody, StepReport, Surroundings,
};
use glam::Vec3;

use crate::{BatchError, step_batch};

/// An animator with bodies to try it on.
#[derive(Clone, Debug)]
pub struct Case<A: GarmentAnimator> {
    /// The animator.
    pub animator: A,
    /// The body.
    pub body: ShapedBody,
    /// The body at consecutive frames, at least three and not all alike.
    pub frames: Vec<PosedBody>,
    /// The farthest that a vertex of the garment gets from the box around the
    /// body's vertices [m].
    pub reach: f32,
    /// A state that an animator of the same type made for another garment, of
    /// another size.
    pub strange_state: A::State,
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
        self.reported_roll_out().into_iter().map(|f| f.0).collect()
    }

    fn reported_roll_out(&self) -> Vec<(Vec<Vec3>, StepReport)> {
        let mut state = self.animator.start(&self.frame(0)).expect("start");
        (0..self.frames.len())
            .map(|i| {
                let mut out = self.room();
                let report = self
                    .animator
                    .step(&mut state, &self.frame(i), &mut out)
                    .expect("step");
                (out, report)
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
    let frames = case.reported_roll_out();
    for (i, (frame, report)) in frames.iter().enumerate() {
        let bad = frame.iter().position(|p| !p.is_finite());
        assert_eq!(bad, None, "frame {i} has a vertex that is not finite");
        assert!(
            (0.0..=1.0).contains(&report.confidence),
            "frame {i}: confidence {}",
            report.confidence
        );
        assert!(
            report.correction_depth >= 0.0 && report.correction_depth.is_finite(),
            "frame {i}: depth {}",
            report.correction_depth
        );
    }
    assert_ne!(
        frames[0].0,
        frames[frames.len() - 1].0,
        "the garment stands still"
    );
}

/// The garment is near its body: no vertex farther than the case's `reach`
/// from the box around the body's vertices.
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
        for (vertex, p) in frame.iter().enumerate() {
            let away = (*p - p.clamp(low, high)).length();
            assert!(
                away <= case.reach,
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

/// What may be wrong with a body.
struct Fault {
    what: &'static str,
    /// Breaks a body with the given value.
    set: fn(&mut PosedBody, &mut Vec<f32>, f32),
    /// No animator can do without: it has to refuse.
    needed: bool,
}

const FAULTS: [Fault; 8] = [
    Fault {
        what: "translation of a joint",
        set: |posed, _, x| posed.world_from_rest[0].translation.x = x,
        needed: true,
    },
    Fault {
        what: "rotation of a joint",
        set: |posed, _, x| posed.world_from_rest[1].matrix3.y_axis.z = x,
        needed: true,
    },
    Fault {
        what: "shape",
        set: |_, shape, x| {
            if let Some(first) = shape.first_mut() {
                *first = x;
            }
        },
        needed: false,
    },
    Fault {
        what: "joint position",
        set: |posed, _, x| posed.joint_positions[1].y = x,
        needed: false,
    },
    Fault {
        what: "pose rotation",
        set: |posed, _, x| posed.pose.rotations[1].w = x,
        needed: false,
    },
    Fault {
        what: "pose velocity",
        set: |posed, _, x| posed.velocity.angular[1].x = x,
        needed: false,
    },
    Fault {
        what: "joint velocity",
        set: |posed, _, x| posed.joint_velocities[1].linear.z = x,
        needed: false,
    },
    Fault {
        what: "body vertex",
        set: |posed, _, x| {
            if let Some(first) = posed.vertices.first_mut() {
                first.x = x;
            }
        },
        needed: false,
    },
];

/// A body with numbers that are not finite, or finite and huge, is an error or
/// makes no difference to whether the garment is finite: never does a NaN come
/// out. After an error the output is as it was, and the garment goes on as if
/// the frame had not been.
///
/// # Panics
/// When it does not.
pub fn bad_numbers_are_refused_and_forgotten<A: GarmentAnimator>(case: &Case<A>) {
    let expected = case.roll_out();
    for fault in &FAULTS {
        for value in [f32::NAN, f32::INFINITY, f32::MIN, 1e30] {
            let what = fault.what;
            let mut posed = case.frames[1].clone();
            let mut body = case.body.clone();
            (fault.set)(&mut posed, &mut body.shape, value);
            let bad = posed.frame(&body, Surroundings::default());

            let mut state = case.animator.start(&case.frame(0)).expect("start");
            let mut out = case.room();
            case.animator
                .step(&mut state, &case.frame(0), &mut out)
                .expect("step");
            let started = case.animator.start(&bad).is_ok();
            match case.animator.step(&mut state, &bad, &mut out) {
                Ok(_) => {
                    assert!(!fault.needed, "{what} {value} was taken");
                    let finite = out.iter().all(|p| p.is_finite());
                    assert!(finite, "{what} {value} came out as NaN");
                }
                Err(error) => {
                    assert!(!started || !fault.needed, "{what} {value} was taken");
                    if !value.is_finite() {
                        assert_eq!(error, AnimateError::NotFinite, "{what} {value}");
                    }
                    assert_eq!(
                        bytes(&out),
                        bytes(&expected[0]),
                        "{what} {value}: a failed step wrote to its output"
                    );
                    case.animator
                        .step(&mut state, &case.frame(1), &mut out)
                        .expect("step");
                    assert_eq!(bytes(&out), bytes(&expected[1]), "{what} {value}");
                }
            }
        }
    }
}

/// A state of another garment is an error that leaves the output alone.
///
/// # Panics
/// When it is not.
pub fn a_strange_state_is_refused<A: GarmentAnimator>(case: &Case<A>) {
    let mut state = case.strange_state.clone();
    let mut out = case.room();
    let untouched = bytes(&out);
    let found = case.animator.step(&mut state, &case.frame(0), &mut out);
    assert!(
        matches!(found, Err(AnimateError::State { .. })),
        "{found:?}"
    );
    assert_eq!(bytes(&out), untouched, "a failed step wrote to its output");
}

/// A batch gives what a loop gives, errors included, and goes on after them.
///
/// # Panics
/// When it does not.
pub fn batch_equals_loop<A: GarmentAnimator>(case: &Case<A>) {
    let mut bodies: Vec<BodyFrame<'_>> = (0..case.frames.len()).map(|i| case.frame(i)).collect();
    let start = |b| case.animator.start(b).expect("start");
    let mut states: Vec<A::State> = bodies.iter().map(start).collect();
    // One in the middle can't be stepped.
    bodies[1].world_from_rest = &[];
    let mut loop_states = states.clone();
    let mut rooms = vec![case.room(); bodies.len()];
    let mut outputs: Vec<&mut [Vec3]> = rooms.iter_mut().map(Vec::as_mut_slice).collect();
    let mut reports = vec![Ok(StepReport::default()); bodies.len()];
    step_batch(
        &case.animator,
        &mut states,
        &bodies,
        &mut outputs,
        &mut reports,
    )
    .expect("batch");
    assert!(matches!(reports[1], Err(AnimateError::Joints { .. })));
    for (i, (body, state)) in bodies.iter().zip(&mut loop_states).enumerate() {
        let mut out = case.room();
        let report = case.animator.step(state, body, &mut out);
        assert_eq!(report, reports[i], "garment {i}");
        assert_eq!(bytes(&out), bytes(&rooms[i]), "garment {i}");
    }
    let mut outputs: Vec<&mut [Vec3]> = rooms.iter_mut().map(Vec::as_mut_slice).collect();
    let found = step_batch(
        &case.animator,
        &mut states,
        &bodies,
        &mut outputs,
        &mut reports[1..],
    );
    let n = bodies.len();
    assert_eq!(
        found,
        Err(BatchError::Counts {
            states: n,
            bodies: n,
            outputs: n,
            reports: n - 1
        })
    );
}

/// `step` and `step_batch` allocate nothing; `allocations` counts the calling thread's.
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
    let (mut outputs, mut reports) = ([out.as_mut_slice()], [Ok(StepReport::default())]);
    let (mut states, bodies) = ([state], [case.frame(0)]);
    let before = allocations();
    step_batch(
        &case.animator,
        &mut states,
        &bodies,
        &mut outputs,
        &mut reports,
    )
    .expect("batch");
    assert_eq!(allocations() - before, 0, "the batch allocated");
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
            fn bad_numbers_are_refused_and_forgotten() {
                $crate::conformance::bad_numbers_are_refused_and_forgotten(&$case());
            }
            #[test]
            fn a_strange_state_is_refused() {
                $crate::conformance::a_strange_state_is_refused(&$case());
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
