//! Drafted garments on the rest of the road: simulated, and skinned.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use drapery::core::{BodyModel, FrameRate, GarmentAnimator, PoseVelocity, Surroundings};
use drapery::dress_made_for;
use drapery::scene::builtin;
use drapery::scene::garment::{DraftConfig, GarmentKind, draft};
use drapery::sim::RestShape;
use glam::Vec3;

const COARSE: DraftConfig = DraftConfig {
    n_triangles: 400,
    ease: 0.0,
};

#[test]
fn every_draft_has_a_flat_rest_shape() {
    let mannequin = builtin::character("mannequin").unwrap();
    let mean = vec![0.0; mannequin.shape_parameters().len()];
    for &kind in GarmentKind::ALL {
        let garment = draft(kind, &mannequin, &mean, &COARSE).unwrap();
        let rest = RestShape::new(&garment).unwrap();
        // Flat cloth and draped cloth have about the same area.
        let flat: f64 = rest.areas().iter().sum();
        let draped: f64 = (0..garment.mesh().triangles().len() as u32)
            .map(|t| {
                let [a, b, c] = garment.mesh().corners(t);
                f64::from((b - a).cross(c - a).length()) / 2.0
            })
            .sum();
        let ratio = draped / flat;
        assert!((0.95..1.05).contains(&ratio), "{}: {ratio}", kind.name());
    }
}

/// At rest on the body that it was drafted for, a garment is where it was
/// drafted, although skinning starts from the body of shape 0.
#[test]
fn a_draft_is_worn_where_it_was_drafted() {
    let mannequin = builtin::character("mannequin").unwrap();
    let mut shape = vec![0.0; mannequin.shape_parameters().len()];
    let named = |name: &str| {
        mannequin
            .shape_parameters()
            .iter()
            .position(|p| p.name == name)
    };
    shape[named("weight").unwrap()] = 1.5;
    shape[named("height").unwrap()] = -1.0;
    let garment = draft(GarmentKind::TShirt, &mannequin, &shape, &COARSE).unwrap();
    let animator = dress_made_for(&garment, &mannequin, &shape, FrameRate::THIRTY).unwrap();
    let body = mannequin.shaped(&shape).unwrap();
    let mut posed = mannequin.room();
    let mut pose = mannequin.skeleton().rest_pose();
    pose.root = body.joints[0];
    let still = PoseVelocity::zero(mannequin.skeleton().len());
    mannequin.pose(&body, &pose, &still, &mut posed).unwrap();
    let frame = posed.frame(&body, Surroundings::default());
    let mut state = animator.start(&frame).unwrap();
    let mut cloth = vec![Vec3::ZERO; garment.mesh().positions().len()];
    animator.step(&mut state, &frame, &mut cloth).unwrap();
    for (p, q) in cloth.iter().zip(garment.mesh().positions()) {
        assert!(p.distance(*q) < 1e-5, "{} m away", p.distance(*q));
    }
}
