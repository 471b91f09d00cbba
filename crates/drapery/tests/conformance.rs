//! Every animator keeps the promises of `GarmentAnimator`.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use drapery::core::{BodyModel, PoseVelocity, PosedBody, ShapedBody};
use drapery::runtime::conformance::Case;
use drapery::runtime::{Animator, SkinnedGarment, animator_conformance};
use drapery::scene::builtin;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

#[allow(unsafe_code, reason = "a global allocator can't be written without")]
// SAFETY: passes everything on to the system's allocator, unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The tube in its sleeve, bending; a body that is neither long nor thin.
fn bodies() -> (ShapedBody, Vec<PosedBody>) {
    let tube = builtin::character("tube").unwrap();
    let clip = builtin::clip("bend").unwrap();
    let body = tube.shaped(&[0.5, -0.5]).unwrap();
    let frames = (20..32)
        .map(|frame| {
            let mut posed = tube.room();
            let pose = &clip.frames()[frame];
            tube.pose(&body, pose, &PoseVelocity::zero(4), &mut posed)
                .unwrap();
            posed
        })
        .collect();
    (body, frames)
}

fn skinned() -> Case<SkinnedGarment> {
    let tube = builtin::character("tube").unwrap();
    let sleeve = builtin::garment("sleeve").unwrap();
    let (body, frames) = bodies();
    Case {
        animator: drapery::dress(&sleeve, &tube, drapery::core::FrameRate::THIRTY).unwrap(),
        body,
        frames,
    }
}

fn any() -> Case<Animator> {
    let case = skinned();
    Case {
        animator: Animator::Skinning(case.animator),
        body: case.body,
        frames: case.frames,
    }
}

animator_conformance!(skinning, skinned, allocations);
animator_conformance!(any_animator, any, allocations);

#[test]
fn unposing_undoes_posing() {
    let case = skinned();
    let n = case.animator.rest().len();
    let mut rest = vec![glam::Vec3::ZERO; n];
    case.animator
        .shaped_rest(&case.body.shape, &mut rest)
        .unwrap();
    for posed in &case.frames {
        let frame = posed.frame(&case.body, drapery::core::Surroundings::default());
        let (worst, _) = case.animator.conditioning(&frame).unwrap();
        assert!(worst > 0.8, "{worst}");
        let (mut world, mut back) = (rest.clone(), rest.clone());
        case.animator.pose(&frame, &rest, &mut world).unwrap();
        case.animator.unpose(&frame, &world, &mut back).unwrap();
        for (a, b) in rest.iter().zip(&back) {
            assert!(a.distance(*b) < 1e-5);
        }
        assert!(world.iter().zip(&rest).any(|(a, b)| a.distance(*b) > 0.01));
    }
}
