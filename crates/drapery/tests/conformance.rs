//! Every animator keeps the promises of `GarmentAnimator`.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;
mod swinging_sleeve;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use drapery::core::{
    AnimateError, BlendRig, BodyModel, FrameRate, GarmentAnimator, HalfwayJoints, PoseVelocity,
    PosedBody, ShapedBody, SkinWeights, Surroundings, Topology,
};
use drapery::learn::StableSpaceConfig;
use drapery::runtime::conformance::Case;
use drapery::runtime::{
    Animator, AnimatorState, ClothSpace, CollisionCorrection, Corrected, CorrectionConfig, LIMIT,
    SkinnedGarment, SkinnedGarmentError, StableSpace, animator_conformance,
};
use drapery::scene::builtin;
use drapery::scene::garment::BindingConfig;
use glam::{Quat, Vec3};

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

fn with(halfway: HalfwayJoints) -> Case<SkinnedGarment> {
    let tube = builtin::character("tube").unwrap();
    let sleeve = builtin::garment("sleeve").unwrap();
    let (body, frames) = bodies();
    let config = BindingConfig {
        halfway,
        ..BindingConfig::default()
    };
    let first = frames[0].frame(&body, Surroundings::default());
    let strange_state = one_triangle(halfway).start(&first).unwrap();
    Case {
        animator: drapery::dress_with(&sleeve, &tube, FrameRate::THIRTY, &config).unwrap(),
        body,
        frames,
        reach: 0.05,
        strange_state,
    }
}

/// Another garment, as small as can be, for the same body.
fn one_triangle(halfway: HalfwayJoints) -> SkinnedGarment {
    let tube = builtin::character("tube").unwrap();
    let rig = BlendRig::new(tube.skeleton().parents(), halfway);
    SkinnedGarment::new(
        Topology::new(3, vec![[0, 1, 2]]).unwrap(),
        vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        SkinWeights::new(4, 4, &[vec![(0, 1.0)], vec![(1, 1.0)], vec![(2, 1.0)]]).unwrap(),
        vec![vec![Vec3::ZERO; 3]; 2],
        rig,
        FrameRate::THIRTY,
    )
    .unwrap()
}

fn skinned() -> Case<SkinnedGarment> {
    with(HalfwayJoints::On)
}

fn plain() -> Case<SkinnedGarment> {
    with(HalfwayJoints::Off)
}

fn any() -> Case<Animator> {
    let case = skinned();
    Case {
        animator: Animator::Skinning(case.animator),
        body: case.body,
        frames: case.frames,
        reach: case.reach,
        strange_state: AnimatorState::Skinning(case.strange_state),
    }
}

/// The sleeve, pushed out of the tube where it is in it.
fn corrected() -> Case<Corrected<SkinnedGarment>> {
    let case = skinned();
    let tube = builtin::character("tube").unwrap();
    let rest = tube.shaped(&[0.0, 0.0]).unwrap().rest;
    let correct = |garment: &SkinnedGarment| {
        let config = CorrectionConfig::DEFAULT;
        let correction = CollisionCorrection::new(
            (tube.topology(), &rest),
            (garment.topology(), garment.rest()),
            config,
        );
        Corrected::new(garment.clone(), correction).unwrap()
    };
    let first = case.frames[0].frame(&case.body, Surroundings::default());
    Case {
        strange_state: correct(&one_triangle(HalfwayJoints::On))
            .start(&first)
            .unwrap(),
        animator: correct(&case.animator),
        body: case.body,
        frames: case.frames,
        reach: case.reach,
    }
}

/// The sleeve by the baseline, trained on another motion of the tube.
fn linear() -> Case<Animator> {
    let case = skinned();
    let wave = |pose: &drapery::core::Pose, v: usize| {
        Vec3::Y * (0.1 * pose.rotations[2].x * (v as f32).sin())
    };
    let store = common::dataset("tune = [\"twist\"]", wave, |_, _, p| p);
    let tube = builtin::character("tube").unwrap();
    let config = drapery::learn::LinearConfig {
        n_components: 4,
        ridge: None,
    };
    let trained = drapery::train_linear_model(&store, &tube, 0, &config, "", &|| true);
    let Animator::Linear(small) = trained.unwrap().0.into_animator() else {
        panic!("a linear garment");
    };
    let config = drapery::learn::LinearConfig {
        n_components: 2,
        ridge: None,
    };
    let other = drapery::train_linear_model(&store, &tube, 0, &config, "", &|| true);
    let first = case.frames[0].frame(&case.body, Surroundings::default());
    Case {
        strange_state: other.unwrap().0.animator().start(&first).unwrap(),
        animator: Animator::Linear(small),
        body: case.body,
        frames: case.frames,
        reach: case.reach,
    }
}

animator_conformance!(linear_baseline, linear, allocations);
animator_conformance!(corrected_skinning, corrected, allocations);
/// A trained stable space on a clip that it was trained on.
fn stable(space: ClothSpace) -> Case<StableSpace> {
    let dataset = swinging_sleeve::dataset();
    let config = StableSpaceConfig {
        dims: 8,
        space,
        ..StableSpaceConfig::default()
    };
    let tube = swinging_sleeve::tube();
    let train = |dims| {
        let config = StableSpaceConfig { dims, ..config };
        let trained = drapery::train_stable_model(dataset, &tube, 0, &config, "", &|_| true);
        trained.unwrap().1.animator
    };
    let poses = swinging_sleeve::poses(1);
    let (body, frames) = swinging_sleeve::bodies(&poses[30..42]);
    let first = frames[0].frame(&body, Surroundings::default());
    let strange_state = train(5).start(&first).unwrap();
    Case {
        animator: train(8),
        body,
        frames,
        reach: 0.2,
        strange_state,
    }
}

fn stable_space() -> Case<StableSpace> {
    stable(ClothSpace::Canonical)
}

fn stable_space_unposed() -> Case<StableSpace> {
    stable(ClothSpace::Unposed)
}

/// With the state of another method.
fn any_stable_space() -> Case<Animator> {
    let case = stable_space();
    let skinned = case.animator.skinned();
    let first = case.frames[0].frame(&case.body, Surroundings::default());
    let strange_state = AnimatorState::Skinning(skinned.start(&first).unwrap());
    Case {
        animator: Animator::StableSpace(case.animator),
        body: case.body,
        frames: case.frames,
        reach: case.reach,
        strange_state,
    }
}

animator_conformance!(stable_spaces, stable_space, allocations);
animator_conformance!(stable_spaces_unposed, stable_space_unposed, allocations);
animator_conformance!(any_stable_spaces, any_stable_space, allocations);
animator_conformance!(skinning, skinned, allocations);
animator_conformance!(skinning_without_halfway_joints, plain, allocations);
animator_conformance!(any_animator, any, allocations);

#[test]
fn unposing_undoes_posing() {
    let case = skinned();
    let n = case.animator.rest().len();
    let mut rest = vec![Vec3::ZERO; n];
    case.animator
        .shaped_rest(&case.body.shape, &mut rest)
        .unwrap();
    for posed in &case.frames {
        let frame = posed.frame(&case.body, Surroundings::default());
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

/// The tube of four joints with one of them turned about its own axis.
fn turned(joint: usize, angle: f32) -> (ShapedBody, PosedBody) {
    let tube = builtin::character("tube").unwrap();
    let body = tube.shaped(&[0.0, 0.0]).unwrap();
    let mut pose = tube.skeleton().rest_pose();
    pose.rotations[joint] = Quat::from_rotation_x(angle);
    let mut posed = tube.room();
    tube.pose(&body, &pose, &PoseVelocity::zero(4), &mut posed)
        .unwrap();
    (body, posed)
}

/// The bound that halfway joints are there for: cos²(θ/4), where plain blending
/// has cos(θ/2).
#[test]
fn halfway_joints_keep_a_folded_sleeve_invertible() {
    for angle in [1.0f32, 2.0, 3.0] {
        let (body, posed) = turned(2, angle);
        let frame = posed.frame(&body, Surroundings::default());
        let (plain, _) = plain().animator.conditioning(&frame).unwrap();
        let (with, _) = skinned().animator.conditioning(&frame).unwrap();
        let (half, bound) = ((angle / 2.0).cos(), (angle / 4.0).cos().powi(2));
        // No vertex follows two joints exactly half and half.
        assert!(plain < f64::from(half) + 0.1, "{angle}: {plain}");
        assert!(with >= f64::from(bound) - 1e-3, "{angle}: {with}");
    }
}

#[test]
fn unposing_a_singular_blend_names_the_vertex() {
    let tube = builtin::character("tube").unwrap();
    let animator = SkinnedGarment::new(
        Topology::new(3, vec![[0, 1, 2]]).unwrap(),
        vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        SkinWeights::new(
            4,
            4,
            &[vec![(0, 1.0)], vec![(1, 0.5), (2, 0.5)], vec![(2, 1.0)]],
        )
        .unwrap(),
        vec![vec![Vec3::ZERO; 3]; 2],
        BlendRig::new(tube.skeleton().parents(), HalfwayJoints::Off),
        FrameRate::THIRTY,
    )
    .unwrap();
    let (body, posed) = turned(2, std::f32::consts::PI);
    let frame = posed.frame(&body, Surroundings::default());
    let mut out = vec![Vec3::splat(7.5); 3];
    let found = animator.unpose(&frame, &[Vec3::X; 3], &mut out);
    assert_eq!(found, Err(AnimateError::Singular { vertex: 1 }));
    assert_eq!(out, [Vec3::splat(7.5); 3]);
}

#[test]
fn positions_that_are_not_numbers_or_huge_are_refused() {
    let case = skinned();
    let frame = case.frames[0].frame(&case.body, Surroundings::default());
    let n = case.animator.rest().len();
    for (bad, expected) in [
        (f32::NAN, AnimateError::NotFinite),
        (
            1e30,
            AnimateError::TooLarge {
                what: "position [m]",
                limit: LIMIT,
            },
        ),
    ] {
        let mut given = case.animator.rest().to_vec();
        given[n - 1].z = bad;
        let mut out = vec![Vec3::ZERO; n];
        let posed = case.animator.pose(&frame, &given, &mut out);
        assert_eq!(posed, Err(expected.clone()));
        let unposed = case.animator.unpose(&frame, &given, &mut out);
        assert_eq!(unposed, Err(expected));
        let made = SkinnedGarment::new(
            case.animator.topology().clone(),
            given,
            case.animator.weights().clone(),
            vec![],
            case.animator.rig().clone(),
            FrameRate::THIRTY,
        );
        assert_eq!(
            made.unwrap_err(),
            SkinnedGarmentError::NotFinite {
                what: "rest position",
                vertex: n - 1
            }
        );
    }
}
