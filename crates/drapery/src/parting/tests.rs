use super::*;
use drapery_core::FrameRate;
use drapery_scene::builtin;
use drapery_scene::character::Character;

fn person() -> (Character, ShapedBody) {
    let person = builtin::character("mannequin").unwrap();
    let shape = vec![0.0; person.shape_parameters().len()];
    let shaped = person.shaped(&shape).unwrap();
    (person, shaped)
}

/// The person stands, the left arm at an angle [rad] to how it is at rest.
fn swinging(person: &Character, angle: impl Fn(usize) -> f32) -> Clip {
    let skeleton = person.skeleton();
    let arm = skeleton
        .joint("left_shoulder")
        .expect("the mannequin has one");
    let frames = (0..45).map(|f| {
        let mut pose = skeleton.rest_pose();
        pose.rotations[usize::from(arm.0)] = Quat::from_axis_angle(Vec3::Z, angle(f));
        pose
    });
    let rate = FrameRate::new(30.0).unwrap();
    Clip::new("swing".into(), skeleton.clone(), rate, frames.collect()).unwrap()
}

fn parted(person: &Character, shaped: &ShapedBody, clip: &Clip) -> Parted {
    let config = PartingConfig::DEFAULT;
    let parted = part_limbs(person, shaped, clip, config, |_| true).unwrap();
    parted.expect("it was not stopped")
}

/// How many vertices are inside another part.
fn n_inside(person: &Character, shaped: &ShapedBody, pose: &Pose) -> usize {
    let mut posed = person.room();
    let still = PoseVelocity::zero(person.skeleton().len());
    person.pose(shaped, pose, &still, &mut posed).unwrap();
    let config = FleshConfig::DEFAULT;
    let mut flesh = Flesh::new(person.topology(), &wide(&shaped.rest), config);
    let felt = flesh.feel(&wide(&posed.vertices));
    felt.inside.iter().filter(|inside| **inside).count()
}

#[test]
fn an_arm_that_swings_into_the_trunk_is_turned_out_of_it_and_nothing_else_is() {
    let (person, shaped) = person();
    // Into the trunk and out again, within a third of a second.
    let into = |f: usize| -1.05 * (-0.5 * ((f as f32 - 25.0) / 2.5).powi(2)).exp();
    let clip = swinging(&person, into);
    let parted = parted(&person, &shaped, &clip);
    assert!(parted.before > 0.02, "{}", parted.before);
    assert!(parted.after <= LEFT, "{}", parted.after);
    let inside = |clip: &Clip| n_inside(&person, &shaped, &clip.frames()[25]);
    let [before, after] = [&clip, &parted.clip].map(inside);
    assert!(5 * after < before, "{before} to {after}");
    let (_, turn) = parted.most.expect("something was turned");
    assert!((0.05..0.6).contains(&turn), "{turn}");
    let names = person.skeleton().names();
    for (f, (was, is)) in clip.frames().iter().zip(parted.clip.frames()).enumerate() {
        assert_eq!(was.root, is.root);
        for (joint, name) in names.iter().enumerate() {
            let turn = was.rotations[joint].angle_between(is.rotations[joint]);
            assert!(name.starts_with("left_") || turn == 0.0, "{f} {name}");
        }
    }
    // Far from the swing nothing is touched.
    assert_eq!(clip.frames()[0], parted.clip.frames()[0]);
}

#[test]
fn a_swing_that_is_over_in_a_moment_is_parted_though_turns_are_smooth() {
    let (person, shaped) = person();
    let into = |f: usize| -1.1 * (-0.5 * ((f as f32 - 25.0) / 0.8).powi(2)).exp();
    let parted = parted(&person, &shaped, &swinging(&person, into));
    assert!(parted.before > 0.02, "{}", parted.before);
    assert!(parted.after <= LEFT, "{}", parted.after);
}

#[test]
fn what_passes_between_two_frames_is_parted_as_well() {
    let (person, shaped) = person();
    // Between its two frames at the trunk the arm swings on, into it.
    let into = |f: usize| if f == 24 || f == 25 { -0.7 } else { 0.3 };
    let parted = parted(&person, &shaped, &swinging(&person, into));
    let (skeleton, rate) = (parted.clip.skeleton().clone(), parted.clip.frame_rate());
    let between = vec![pose_at(&parted.clip, 24.5)];
    let between = Clip::new("between".into(), skeleton, rate, between).unwrap();
    let config = PartingConfig::DEFAULT;
    let left = part_limbs(&person, &shaped, &between, config, |_| true);
    let left = left.unwrap().expect("it was not stopped").before;
    assert!(left <= LEFT, "{left}");
}

#[test]
fn a_limb_with_no_way_out_is_left_as_it_was() {
    let (person, shaped) = person();
    // Over the shoulder, through all of the trunk.
    let into = |f: usize| -2.5 * (-0.5 * ((f as f32 - 25.0) / 2.5).powi(2)).exp();
    let clip = swinging(&person, into);
    let parted = parted(&person, &shaped, &clip);
    assert!(parted.before > 0.07, "{}", parted.before);
    assert_eq!(parted.after, parted.before);
    assert_eq!((parted.n_frames, parted.most), (0, None));
    assert_eq!(parted.clip, clip);
}

#[test]
fn a_stretch_is_parted_beside_one_that_is_not() {
    let (person, shaped) = person();
    let swing = |f: usize, at: f32| (-0.5 * ((f as f32 - at) / 1.5).powi(2)).exp();
    let clip = swinging(&person, |f| -2.5 * swing(f, 12.0) - 1.05 * swing(f, 38.0));
    let parted = parted(&person, &shaped, &clip);
    let late = |clip: &Clip| {
        let (skeleton, rate) = (clip.skeleton().clone(), clip.frame_rate());
        let frames = clip.frames()[25..].to_vec();
        Clip::new("late".into(), skeleton, rate, frames).unwrap()
    };
    assert_eq!(parted.clip.frames()[..13], clip.frames()[..13]);
    assert!(parted.n_frames > 0);
    let config = PartingConfig::DEFAULT;
    let left = part_limbs(&person, &shaped, &late(&parted.clip), config, |_| true);
    let left = left.unwrap().expect("it was not stopped").before;
    assert!(left <= LEFT, "{left}");
}

#[test]
fn what_does_not_touch_keeps_its_bits() {
    let (person, shaped) = person();
    let clip = swinging(&person, |f| 0.01 * f as f32);
    let parted = parted(&person, &shaped, &clip);
    assert_eq!(parted.clip, clip);
    assert_eq!((parted.n_frames, parted.most), (0, None));
    let config = PartingConfig::DEFAULT;
    let stopped = part_limbs(&person, &shaped, &clip, config, |_| false);
    assert_eq!(stopped, Ok(None));
}

#[test]
fn turns_swell_and_ebb_around_what_needs_them() {
    let mut turns = vec![vec![DVec3::ZERO; 2]; 41];
    turns[20][1] = DVec3::X;
    let still = Pose {
        root: Vec3::ZERO,
        rotations: Vec::new(),
    };
    let at = |f: u32| Moment {
        pose: still.clone(),
        time: f64::from(f),
    };
    swell(&mut turns, &(0..41).map(at).collect::<Vec<_>>(), 3.0);
    let x: Vec<f64> = turns.iter().map(|t| t[1].x).collect();
    assert!(x[20] > 0.85, "{}", x[20]);
    assert!(turns.iter().all(|t| t[0] == DVec3::ZERO));
    for f in 1..40 {
        assert!((f <= 20) == (x[f] >= x[f - 1]) || x[f] == x[f - 1], "{f}");
        // No corner is sharper than the bell's own.
        assert!((x[f + 1] - 2.0 * x[f] + x[f - 1]).abs() < 0.13, "{f}");
    }
    assert_eq!(x[0], 0.0);
}
