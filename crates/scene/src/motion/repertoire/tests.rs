//! What every motion of the repertoire promises, measured on its poses.

use drapery_core::{BodyModel, JointId, heading};
use glam::{DVec3, Quat, Vec3};

use super::super::footing;
use super::super::rotation::{log, wide};
use super::*;
use crate::{builtin, mannequin, preflight};

/// Feet turn on their balls in the twist; nothing else slides.
const TURNS_ON_THE_BALL: &str = "dance-twist";

fn at(name: &str, hz: f64) -> Clip {
    plan(name, skeleton())
        .unwrap()
        .clip(name, FrameRate::new(hz).unwrap())
}

/// Motions that go through all kinds of joins.
const JOINED: [&str; 4] = [
    "walk+turn-90+run",
    "jump+walk-slow+kick+run-fast+duck",
    "run+idle+turn-180-right+leap+crouch",
    "walk-to-run+dance-disco+walk-stylised+walk-stop",
];

fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied().chain(JOINED)
}

#[test]
fn planted_feet_slide_less_than_a_centimetre_and_none_sinks() {
    for name in all() {
        let clip = clip(name).unwrap();
        let found = footing(&clip).unwrap();
        if name != TURNS_ON_THE_BALL {
            assert!(
                found.slide < 0.01,
                "{name}: {:.1} mm in frame {}",
                1e3 * found.slide,
                found.slide_frame
            );
        }
        assert!(found.lowest > -0.005, "{name}: {} m", found.lowest);
        // Only those that run, jump or leap leave the ground, and not for long.
        let flies = ["run", "jump", "leap"].iter().any(|w| name.contains(w));
        let longest = if flies { 14 } else { 0 };
        assert!(
            found.longest_flight <= longest,
            "{name}: {} frames",
            found.longest_flight
        );
    }
}

#[test]
fn runs_fly_and_walks_do_not() {
    for (name, flies) in [("walk-fast", false), ("run-slow", true), ("run-fast", true)] {
        let found = footing(&at(name, 120.0)).unwrap();
        assert_eq!(found.airborne > 0.1, flies, "{name}: {}", found.airborne);
    }
}

#[test]
fn joints_stay_within_their_limits_in_every_frame() {
    let n_joints = skeleton().len() as u16;
    let limits: Vec<_> = (0..n_joints)
        .map(|j| mannequin::limit(JointId(j)))
        .collect();
    for name in all() {
        for (frame, pose) in clip(name).unwrap().frames().iter().enumerate() {
            for (limit, rotation) in limits.iter().zip(&pose.rotations) {
                let Some(limit) = limit else { continue };
                let excess = limit.excess(*rotation).to_degrees();
                assert!(
                    excess < 0.1,
                    "{name}, frame {frame}: {excess:.1} degrees, {:?}",
                    limit.angles(*rotation)
                );
            }
        }
    }
}

/// The largest change of velocity from one frame to the next: of a joint [rad
/// a frame], and of the root [m a frame].
fn second_differences(clip: &Clip) -> (f64, f64) {
    let mut worst = (0.0f64, 0.0f64);
    for three in clip.frames().windows(3) {
        for joint in 0..clip.skeleton().len() {
            let q = [0, 1, 2].map(|i: usize| wide(three[i].rotations[joint]));
            let turn = |i: usize| log(q[i].inverse() * q[i + 1]);
            worst.0 = worst.0.max((turn(1) - turn(0)).length());
        }
        let p: [DVec3; 3] = [0, 1, 2].map(|i: usize| three[i].root.as_dvec3());
        worst.1 = worst.1.max((p[2] - 2.0 * p[1] + p[0]).length());
    }
    worst
}

/// Twice the frames, a quarter of the change: a velocity that jumped would
/// only halve it, and a pose that jumped would leave it.
#[test]
fn velocities_are_continuous() {
    let alone = [
        "walk-fast",
        "run-fast",
        "jump",
        "dance-waltz",
        "dance-twist",
        "yo",
    ];
    for name in JOINED.into_iter().chain(alone) {
        let coarse = second_differences(&at(name, 240.0));
        let fine = second_differences(&at(name, 480.0));
        let fell = (coarse.0 / fine.0, coarse.1 / fine.1);
        assert!(fell.0 > 3.0, "{name}: joints fell by {:.2}", fell.0);
        assert!(fell.1 > 3.0, "{name}: root by {:.2}", fell.1);
    }
}

/// From one frame to the next no joint's velocity changes by more [rad/s]: the
/// knee of a runner whose foot leaves the ground has most. That of the root
/// changes by no more than that of a leap does in taking off [m/s].
const MOST_CHANGE: (f64, f64) = (30.0, 2.0);

#[test]
fn velocities_change_little_from_frame_to_frame() {
    for name in all() {
        let (joint, root) = second_differences(&clip(name).unwrap());
        let (joint, root) = (30.0 * joint, 30.0 * root);
        assert!(joint < MOST_CHANGE.0, "{name}: {joint:.1} rad/s");
        assert!(root < MOST_CHANGE.1, "{name}: {root:.2} m/s");
    }
}

#[test]
fn steady_gaits_close_in_pose_and_velocity() {
    for (name, stride) in [
        ("walk", 32),
        ("walk-slow", 40),
        ("walk-fast", 28),
        ("walk-stylised", 32),
        ("run", 21),
        ("run-slow", 22),
        ("run-fast", 20),
    ] {
        let clip = clip(name).unwrap();
        let frames = clip.frames();
        assert_eq!((frames.len() - 1) % stride, 0, "{name}");
        let way = frames[stride].root - frames[0].root;
        for (frame, (a, b)) in frames.iter().zip(&frames[stride..]).enumerate() {
            assert!((b.root - a.root).abs_diff_eq(way, 1e-5), "{name} {frame}");
            for (p, q) in a.rotations.iter().zip(&b.rotations) {
                let turn = log(wide(*p).inverse() * wide(*q)).length();
                assert!(turn < 1e-5, "{name}, frame {frame}: {turn}");
            }
        }
    }
}

#[test]
fn gaits_are_as_fast_as_they_are_called() {
    let speed = |name: &str| {
        let clip = clip(name).unwrap();
        let (first, last) = (
            clip.frames()[0].root,
            clip.frames()[clip.frames().len() - 1].root,
        );
        f64::from((last - first).length()) / clip.duration().0
    };
    assert!((1.2..1.4).contains(&speed("walk")), "{}", speed("walk"));
    let names = [
        "walk-slow",
        "walk",
        "walk-fast",
        "run-slow",
        "run",
        "run-fast",
    ];
    for pair in names.windows(2) {
        assert!(speed(pair[1]) > 1.2 * speed(pair[0]), "{pair:?}");
    }
}

#[test]
fn turns_turn_as_far_as_they_say() {
    for (name, degrees) in [
        ("turn-45", 45.0),
        ("turn-90", 90.0),
        ("turn-180", 180.0),
        ("turn-360", 360.0),
        ("turn-45-right", -45.0),
        ("turn-360-right", -360.0),
    ] {
        let clip = clip(name).unwrap();
        let facing = |q: Quat| heading(q).unwrap();
        let mut turned = 0.0;
        for pair in clip.frames().windows(2) {
            let step = facing(pair[1].rotations[0]) - facing(pair[0].rotations[0]);
            turned += (step + 9.0 * std::f32::consts::PI).rem_euclid(std::f32::consts::TAU)
                - std::f32::consts::PI;
        }
        // Whole strides: the pelvis is where it was in its swing.
        assert!(
            (turned.to_degrees() - degrees).abs() < 6.0,
            "{name}: {}",
            turned.to_degrees()
        );
    }
}

#[test]
fn what_begins_standing_begins_and_ends_at_rest() {
    let near = |a: Quat, b: Quat| log(wide(a).inverse() * wide(b)).length() < 2e-3;
    let standing = PIECES.iter().filter(|p| p.begins.is_none());
    for name in standing.map(|p| p.name) {
        let clip = clip(name).unwrap();
        let frames = clip.frames();
        let n = frames.len();
        for (a, b) in [(0, 1), (n - 2, n - 1)] {
            let step = frames[b].root.distance(frames[a].root);
            assert!(step < 5e-4, "{name}: {step} m from frame {a}");
            let mut turns = frames[a].rotations.iter().zip(&frames[b].rotations);
            assert!(turns.all(|(p, q)| near(*p, *q)), "{name}: frame {a}");
        }
        let stands = |pose: &drapery_core::Pose| pose.root.y > skeleton().rest()[0].y - 0.02;
        assert!(stands(&frames[0]) && stands(&frames[n - 1]), "{name}");
    }
}

#[test]
fn a_jump_is_a_fall_under_gravity_while_it_lasts() {
    let clip = at("jump", 100.0);
    let heights: Vec<f32> = clip.frames().iter().map(|p| p.root.y).collect();
    let top = (1..heights.len())
        .max_by(|a, b| heights[*a].total_cmp(&heights[*b]))
        .unwrap();
    assert!(heights[top] > heights[0] + 0.2);
    let at = |i: i32| heights[(top as i32 + i) as usize];
    let acceleration = (at(7) - 2.0 * at(0) + at(-7)) / 0.0049;
    assert!((acceleration + 9.81).abs() < 0.3, "{acceleration}");
}

#[test]
fn the_body_stays_clear_of_itself_and_the_floor_on_its_way() {
    let body = builtin::character("mannequin").unwrap();
    let shaped = body
        .shaped(&vec![0.0; body.shape_parameters().len()])
        .unwrap();
    for (name, every, n) in [("walk", 4, 32), ("run-fast", 3, 20), ("turn-180", 9, 161)] {
        let whole = clip(name).unwrap();
        let some = whole
            .frames()
            .iter()
            .take(n)
            .step_by(every)
            .cloned()
            .collect();
        let some = Clip::new(name.into(), skeleton(), FrameRate::THIRTY, some).unwrap();
        let report = preflight::check_motion(&body, &shaped, &some, |_| true).unwrap();
        assert!(
            report.contact_frames().is_empty(),
            "{name}: {:?}",
            report.findings
        );
        assert!(
            report.sole_height[0] > -0.005,
            "{name}: {:?}",
            report.sole_height
        );
    }
}

#[test]
fn a_joined_motion_is_its_parts_and_what_is_between() {
    let parts = ["walk", "turn-90", "run"].map(|n| clip(n).unwrap().duration().0);
    let whole = clip("walk+turn-90+run").unwrap();
    assert_eq!(whole.name(), "walk+turn-90+run");
    let between = whole.duration().0 - parts.iter().sum::<f64>();
    assert!((0.5..3.0).contains(&between), "{between} s between");
    let facing = heading(whole.frames()[whole.frames().len() - 1].rotations[0]).unwrap();
    assert!((facing.to_degrees() - 90.0).abs() < 10.0, "{facing}");
    let way = whole.frames()[whole.frames().len() - 1].root - whole.frames()[0].root;
    assert!(way.x > 9.0, "the run goes to the left: {way}");
}

#[test]
fn names_that_are_not_there_and_motions_too_long_are_refused() {
    for (name, part) in [
        ("stroll", "stroll"),
        ("walk+stroll", "stroll"),
        ("", ""),
        ("walk+", ""),
    ] {
        assert_eq!(
            clip(name),
            Err(RepertoireError::Unknown(part.to_string())),
            "{name}"
        );
    }
    let long = ["gym"; 4].join("+");
    assert!(matches!(clip(&long), Err(RepertoireError::TooLong { seconds }) if seconds > 45.0));
    assert!(clip("gym+gym+gym").is_ok());
}

#[test]
fn motions_begin_above_the_origin_facing_forward() {
    for name in all() {
        let clip = clip(name).unwrap();
        let first = &clip.frames()[0];
        let place = Vec3::new(first.root.x, 0.0, first.root.z);
        assert!(place.length() < 1e-5, "{name}: {place}");
        let facing = heading(first.rotations[0]).unwrap().to_degrees();
        assert!(facing.abs() < 1.0, "{name}: {facing}");
    }
}

/// Feet stand on the ground whatever the length of the legs.
#[test]
fn motions_fit_bodies_of_other_shapes() {
    let body = builtin::character("mannequin").unwrap();
    let whose = body.skeleton();
    let n_shape = body.shape_parameters().len();
    for (parameter, value) in [(0, 2.0), (0, -2.0), (1, 1.5), (4, 1.5)] {
        let mut shape = vec![0.0; n_shape];
        if let Some(at) = shape.get_mut(parameter) {
            *at = value;
        }
        let shaped = body.shaped(&shape).unwrap();
        for name in ["walk", "crouch"] {
            let clip = clip_on(name, &shaped.joints).unwrap();
            // The same poses on the skeleton of that shape.
            let own = drapery_core::Skeleton::new(
                whose.names().to_vec(),
                whose.parents().to_vec(),
                shaped.joints.clone(),
            );
            let frames = clip.frames().to_vec();
            let on_it = Clip::new(name.into(), own.unwrap(), clip.frame_rate(), frames).unwrap();
            let found = footing(&on_it).unwrap();
            let what = format!("{name} with parameter {parameter} at {value}: {found:?}");
            assert!(found.slide < 0.01, "{what}");
            assert!(found.lowest > -0.005 && found.airborne == 0.0, "{what}");
        }
    }
    let same = clip_on("walk", skeleton().rest()).unwrap();
    assert_eq!(same, clip("walk").unwrap());
    assert!(matches!(
        clip_on("walk", &[Vec3::ZERO]),
        Err(RepertoireError::Joints { .. })
    ));
}
