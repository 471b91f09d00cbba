//! Model files: what opens is written and read again as it is, and animates a body
//! of its joints without a panic and without a number that is not finite.
#![no_main]

use drapery::core::{GarmentAnimator, PosedBody, ShapedBody, Surroundings};
use drapery::runtime::Model;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(model) = Model::from_bytes(data) else {
        return;
    };
    let bytes = model.to_bytes();
    let again = Model::from_bytes(&bytes).expect("what was written can be read");
    assert_eq!(again.to_bytes(), bytes);
    let head = model.head();
    let (n_joints, n_shape) = (head.joints.len(), head.shape_parameters.len());
    let animator = model.animator();
    let shaped = ShapedBody {
        shape: vec![0.0; n_shape],
        rest: Vec::new(),
        joints: vec![Default::default(); n_joints],
    };
    let posed = PosedBody::with_room(n_joints, 0);
    let body = posed.frame(&shaped, Surroundings::default());
    let mut cloth = vec![Default::default(); animator.topology().n_vertices()];
    let Ok(mut state) = animator.start(&body) else {
        return;
    };
    for _ in 0..3 {
        if animator.step(&mut state, &body, &mut cloth).is_ok() {
            assert!(
                cloth.iter().all(|p| p.is_finite()),
                "a number leaves that is none"
            );
        }
    }
});
