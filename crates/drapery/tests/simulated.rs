//! A garment simulated on a moving body, behind the animators' seam.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use drapery::core::{
    AnimateError, BodyModel, Clip, Fabric, FrameIndex, Garment, GarmentAnimator, Pose,
    PoseVelocity, PosedBody, ShapedBody, Surroundings, Topology,
};
use drapery::scene::builtin;
use drapery::scene::character::Character;
use drapery::scene::garment::pins;
use drapery::scene::motion::sample;
use drapery::sim::{FleshConfig, MeshBoxes, MeshObstacle, penetration};
use drapery::{SimulatedGarment, WearConfig};
use glam::{DVec3, Vec3};

const CONFIG: WearConfig = WearConfig {
    steps_per_frame: 4,
    self_contact: false,
    pin_stiffness: 100.0,
    skin_friction: 1.0,
    dressing: 0.2,
    settling: 0.3,
    flesh: FleshConfig::DEFAULT,
    tolerance: 1e-3,
    relative_tolerance: 0.0,
    slack: 1.0,
};

fn fabric() -> Fabric {
    Fabric::plain("cloth", 0.2, 400.0, 1e-5)
}

/// The tube while it bends, the first frames.
fn bending() -> (Character, ShapedBody, Clip, Vec<PosedBody>) {
    bending_of(&[0.0, 0.0])
}

/// The same of a shape.
fn bending_of(shape: &[f32]) -> (Character, ShapedBody, Clip, Vec<PosedBody>) {
    let tube = builtin::character("tube").unwrap();
    let body = tube.shaped(shape).unwrap();
    let clip = builtin::clip("bend").unwrap();
    let mut pose = Pose::identity(Vec3::ZERO, clip.skeleton().len());
    let mut velocity = PoseVelocity::zero(clip.skeleton().len());
    let frames = (0..12).map(|frame| {
        let mut posed = tube.room();
        let time = clip.frame_rate().time_of(FrameIndex(frame));
        sample(&clip, time, &mut pose, &mut velocity);
        tube.pose(&body, &pose, &velocity, &mut posed).unwrap();
        posed
    });
    let frames = frames.collect();
    (tube, body, clip, frames)
}

fn wide(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}

/// How far a cloth is inside a body, at its vertices, edges and faces [m].
fn depth(body: &Topology, at: &[Vec3], cloth: &Topology, x: &[Vec3]) -> f64 {
    let body = MeshObstacle::new(body, wide(at)).unwrap().into();
    let boxes = MeshBoxes::new(cloth, &wide(x));
    penetration(&body, &boxes, &wide(x), 1e-4).worst
}

#[test]
fn a_sleeve_stays_outside_a_bending_tube_and_on_its_pins() {
    let (tube, body, clip, frames) = bending();
    let sleeve = builtin::garment("sleeve").unwrap();
    let rate = clip.frame_rate();
    let worn = SimulatedGarment::new(&sleeve, &tube, &[0.0, 0.0], &fabric(), rate, CONFIG).unwrap();
    let seen = |i: usize| frames[i].frame(&body, Surroundings::default());
    let mut state = worn.start(&seen(0)).unwrap();
    let mut out = vec![Vec3::ZERO; worn.topology().n_vertices()];
    let skinned = drapery::dress(&sleeve, &tube, rate).unwrap();
    let mut places = out.clone();
    let mut twin = None;
    for (i, posed) in frames.iter().enumerate() {
        worn.step(&mut state, &seen(i), &mut out).unwrap();
        let inside = depth(tube.topology(), &posed.vertices, worn.topology(), &out);
        assert!(inside < 1e-3, "{inside} m in frame {i}");
        skinned
            .step(&mut skinned.start(&seen(i)).unwrap(), &seen(i), &mut places)
            .unwrap();
        for vertex in pins(&sleeve).flat_map(|group| &group.vertices) {
            let away = out[*vertex as usize].distance(places[*vertex as usize]);
            assert!(away < 0.01, "vertex {vertex} is {away} m from its pin");
        }
        // What goes on from a copy of the state goes the same way.
        match &mut twin {
            None if i == 5 => twin = Some(state.clone()),
            None => {}
            Some(twin) => {
                let mut again = vec![Vec3::ZERO; out.len()];
                worn.step(twin, &seen(i), &mut again).unwrap();
                assert_eq!(again, out, "frame {i}");
            }
        }
    }
    // It is cloth and no skin: it has moved from where skinning has it.
    let farthest = out.iter().zip(&places).map(|(a, b)| a.distance(*b));
    assert!(farthest.fold(0.0, f32::max) > 2e-3);
}

#[test]
fn friction_on_skin_is_a_share_of_that_of_the_fabric() {
    // So thick that the sleeve is tight.
    let (tube, body, clip, frames) = bending_of(&[0.0, 1.0]);
    let sleeve = builtin::garment("sleeve").unwrap();
    let after = |friction: f64, skin_friction: f64| {
        let fabric = Fabric {
            friction,
            ..fabric()
        };
        let config = WearConfig {
            skin_friction,
            ..CONFIG
        };
        let rate = clip.frame_rate();
        let worn = SimulatedGarment::new(&sleeve, &tube, &[0.0, 0.0], &fabric, rate, config);
        let worn = worn.unwrap();
        let seen = |i: usize| frames[i].frame(&body, Surroundings::default());
        let mut state = worn.start(&seen(0)).unwrap();
        let mut out = vec![Vec3::ZERO; worn.topology().n_vertices()];
        for i in 0..frames.len() {
            worn.step(&mut state, &seen(i), &mut out).unwrap();
        }
        out
    };
    assert_eq!(after(0.4, 0.5), after(0.2, 1.0));
    assert_ne!(after(0.4, 1.0), after(0.4, 0.5));
}

#[test]
fn another_shape_is_dressed_from_the_one_the_garment_lies_on() {
    let (tube, _, clip, _) = bending();
    let sleeve = builtin::garment("sleeve").unwrap();
    let rate = clip.frame_rate();
    let worn = SimulatedGarment::new(&sleeve, &tube, &[0.0, 0.0], &fabric(), rate, CONFIG).unwrap();
    let thick = tube.shaped(&[0.0, 1.0]).unwrap();
    // Elsewhere, and turned.
    let mut pose = tube.skeleton().rest_pose();
    pose.root += Vec3::new(3.0, 0.0, -2.0);
    pose.rotations[0] = glam::Quat::from_rotation_y(1.0);
    let mut posed = tube.room();
    let still = PoseVelocity::zero(tube.skeleton().len());
    tube.pose(&thick, &pose, &still, &mut posed).unwrap();
    let seen = posed.frame(&thick, Surroundings::default());
    let mut state = worn.start(&seen).unwrap();
    let mut out = vec![Vec3::ZERO; worn.topology().n_vertices()];
    worn.step(&mut state, &seen, &mut out).unwrap();
    let inside = depth(tube.topology(), &posed.vertices, worn.topology(), &out);
    assert!(inside < 1e-3, "{inside} m");
    let middle = out.iter().sum::<Vec3>() / out.len() as f32;
    assert!(
        middle.with_y(0.0).distance(Vec3::new(3.0, 0.0, -2.0)) < 0.05,
        "{middle}"
    );
}

#[test]
fn bodies_that_do_not_fit_are_errors() {
    let (tube, body, clip, frames) = bending();
    let sleeve = builtin::garment("sleeve").unwrap();
    let rate = clip.frame_rate();
    let worn = SimulatedGarment::new(&sleeve, &tube, &[0.0, 0.0], &fabric(), rate, CONFIG).unwrap();
    let mut short = frames[0].clone();
    short.pose.rotations.pop();
    let found = worn.start(&short.frame(&body, Surroundings::default()));
    assert!(matches!(found, Err(AnimateError::Joints { found: 3, .. })));
    let mut state = worn
        .start(&frames[0].frame(&body, Surroundings::default()))
        .unwrap();
    let seen = frames[1].frame(&body, Surroundings::default());
    let found = worn.step(&mut state, &seen, &mut [Vec3::ZERO; 5]);
    assert!(matches!(found, Err(AnimateError::Output { found: 5, .. })));
}

#[test]
fn wind_that_sets_in_during_a_clip_moves_the_garment() {
    let (tube, body, clip, frames) = bending();
    let sleeve = builtin::garment("sleeve").unwrap();
    let rate = clip.frame_rate();
    let worn = SimulatedGarment::new(&sleeve, &tube, &[0.0, 0.0], &fabric(), rate, CONFIG).unwrap();
    let seen = |i: usize, wind| {
        let surroundings = Surroundings {
            wind,
            ..Surroundings::default()
        };
        frames[i].frame(&body, surroundings)
    };
    let state = worn.start(&seen(0, Vec3::ZERO)).unwrap();
    let middle_after = |wind: Vec3| {
        let mut state = state.clone();
        let mut out = vec![Vec3::ZERO; worn.topology().n_vertices()];
        for i in 0..5 {
            worn.step(&mut state, &seen(i, wind), &mut out).unwrap();
        }
        out.iter().sum::<Vec3>() / out.len() as f32
    };
    let blown = middle_after(15.0 * Vec3::Z) - middle_after(Vec3::ZERO);
    assert!(blown.z > 5e-4, "{blown}");
}

#[test]
fn who_watches_a_garment_being_put_on_sees_it_done_and_may_stop_it() {
    let (tube, body, clip, frames) = bending();
    let sleeve = builtin::garment("sleeve").unwrap();
    let worn = || {
        let rate = clip.frame_rate();
        SimulatedGarment::new(&sleeve, &tube, &[0.0, 0.0], &fabric(), rate, CONFIG).unwrap()
    };
    let first = frames[0].frame(&body, Surroundings::default());
    let seen = std::sync::Mutex::new(Vec::new());
    let watched = worn().watched(|share| {
        seen.lock().unwrap().push(share);
        true
    });
    let quiet = worn().start(&first).unwrap();
    let state = watched.start(&first).unwrap();
    assert_eq!(
        state.simulation().positions(),
        quiet.simulation().positions()
    );
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 5 && seen.is_sorted(), "{seen:?}");
    assert_eq!(seen.iter().position(|s| *s >= 1.0), Some(seen.len() - 1));
    let stopped = worn().watched(|share| share < 0.5).start(&first);
    assert!(matches!(stopped, Err(AnimateError::Stopped)));
}

/// Pictures draw cloth over skin that gave way to it; over a hand before it they must not.
#[test]
fn a_sleeve_is_worn_over_what_is_within_it_and_not_over_what_it_hangs_beside() {
    let (tube, body, clip, _) = bending();
    let sleeve = builtin::garment("sleeve").unwrap();
    let under = |garment: &Garment| {
        let rate = clip.frame_rate();
        SimulatedGarment::new(garment, &tube, &[0.0, 0.0], &fabric(), rate, CONFIG)
            .unwrap()
            .is_worn_over()
    };
    let (low, high) = sleeve.mesh().bounds();
    let within = |p: &Vec3| p.y > low.y && p.y < high.y;
    let is_under = under(&sleeve);
    assert_eq!(is_under.len(), body.rest.len());
    let missed = body
        .rest
        .iter()
        .zip(&is_under)
        .find(|(p, is_under)| within(p) && !**is_under);
    assert!(missed.is_none(), "{missed:?} is within the sleeve");
    let moved = sleeve.mesh().positions().iter().map(|p| *p + Vec3::X);
    let beside = Garment::new(
        "beside".to_string(),
        sleeve.mesh().with_positions(moved.collect()).unwrap(),
        sleeve.pattern().cloned(),
        sleeve.panels().to_vec(),
        sleeve.groups().to_vec(),
    );
    let is_under = under(&beside.unwrap());
    let covered = body
        .rest
        .iter()
        .zip(&is_under)
        .find(|(p, is_under)| within(p) && **is_under);
    assert!(covered.is_none(), "{covered:?} is beside the sleeve");
}
