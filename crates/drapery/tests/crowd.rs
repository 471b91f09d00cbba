//! A crowd in one call against its garments one by one.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod swinging_sleeve;

use std::sync::OnceLock;

use drapery::core::{
    AnimateError, BodyFrame, BodyModel, GarmentAnimator, Pose, PoseVelocity, PosedBody, ShapedBody,
    StepReport, Surroundings,
};
use drapery::learn::{Ridge, StableModel, StableSpaceConfig};
use drapery::runtime::{Animator, ClothSpace, CrowdError, CrowdState, StableCrowd, StableSpace};
use drapery::train_stable_model;
use glam::{Quat, Vec3};
use swinging_sleeve::{SHAPE, dataset, poses, tube};

type Reports = Vec<Result<StepReport, AnimateError>>;

fn trained(model: StableModel, space: ClothSpace) -> StableSpace {
    let config = StableSpaceConfig {
        model,
        dims: 24,
        ridge: Ridge::Fixed(1e-5),
        space,
        ..StableSpaceConfig::default()
    };
    let (model, _) =
        train_stable_model(dataset(), &tube(), 0, &config, "digest", &|_| true).unwrap();
    match model.animator() {
        Animator::StableSpace(animator) => animator.clone(),
        other => panic!("{}", other.method()),
    }
}

/// Model C, trained once.
fn swinging() -> &'static StableSpace {
    static ANIMATOR: OnceLock<StableSpace> = OnceLock::new();
    ANIMATOR.get_or_init(|| trained(StableModel::C, ClothSpace::Canonical))
}

/// The same with an end to its reach that walks meet.
fn short_of_reach(animator: &StableSpace) -> StableSpace {
    let mut parts = animator.parts().clone();
    parts.reach = parts.reach.map(|reach| 0.3 * reach);
    StableSpace::new(animator.skinned().clone(), parts).unwrap()
}

/// Bodies that do as they like: some frames of a clip, some random walks far
/// beyond it, some jumps, some upside down, two shapes.
struct Walkers {
    shaped: [ShapedBody; 2],
    /// Shape [frame][character].
    posed: Vec<Vec<PosedBody>>,
}

impl Walkers {
    fn new(n: usize, n_frames: usize) -> Self {
        let tube = tube();
        let far: Vec<f32> = SHAPE.iter().map(|s| s + 0.6).collect();
        let shaped = [tube.shaped(&SHAPE).unwrap(), tube.shaped(&far).unwrap()];
        let still = PoseVelocity::zero(4);
        let clips: Vec<Vec<Pose>> = (0..5).map(poses).collect();
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        let mut walks: Vec<Pose> = (0..n).map(|i| clips[i % 5][0].clone()).collect();
        let frames = (0..n_frames).map(|frame| {
            let characters = walks.iter_mut().enumerate().map(|(i, pose)| {
                let axis =
                    |random: &mut dyn FnMut() -> f32| Vec3::new(random(), random(), random());
                match (i % 3, (frame + 5 * i) % 37) {
                    (0, _) => *pose = clips[i % 5][(frame + 3 * i) % 90].clone(),
                    (_, 30) => pose.root = 5.0 * axis(&mut random),
                    (1, 11) => pose.rotations[0] *= Quat::from_rotation_x(3.0),
                    (1, _) => {
                        for rotation in &mut pose.rotations {
                            let turn = Quat::from_scaled_axis(0.3 * axis(&mut random));
                            *rotation = (*rotation * turn).normalize();
                        }
                        pose.root += 0.1 * axis(&mut random);
                    }
                    _ => pose.root += 0.02 * axis(&mut random),
                }
                let mut posed = tube.room();
                let body = &shaped[usize::from(i % 11 == 7)];
                tube.pose(body, pose, &still, &mut posed).unwrap();
                posed
            });
            characters.collect()
        });
        let posed = frames.collect();
        Self { shaped, posed }
    }

    fn frame(&self, frame: usize) -> Vec<BodyFrame<'_>> {
        let characters = self.posed[frame].iter().enumerate();
        characters
            .map(|(i, posed)| {
                let body = &self.shaped[usize::from(i % 11 == 7)];
                posed.frame(body, Surroundings::default())
            })
            .collect()
    }
}

struct Stepped {
    state: CrowdState,
    out: Vec<f32>,
    reports: Reports,
}

impl Stepped {
    fn new(crowd: &StableCrowd, bodies: &[BodyFrame<'_>]) -> Self {
        Self {
            state: crowd.start(bodies).unwrap(),
            out: vec![0.0; bodies.len() * crowd.n_values()],
            reports: vec![Ok(StepReport::default()); bodies.len()],
        }
    }

    fn step(&mut self, crowd: &StableCrowd, bodies: &[BodyFrame<'_>]) {
        let (out, reports) = (&mut self.out, &mut self.reports);
        crowd.step(&mut self.state, bodies, out, reports).unwrap();
    }
}

#[test]
fn a_crowd_does_what_its_garments_do_one_by_one() {
    let (n, n_frames) = (37, 60);
    let walkers = Walkers::new(n, n_frames);
    let models = [
        trained(StableModel::A, ClothSpace::Canonical),
        trained(StableModel::B, ClothSpace::Canonical),
        swinging().clone(),
        short_of_reach(swinging()),
    ];
    for animator in models {
        let crowd = StableCrowd::new(animator).unwrap();
        let animator = crowd.animator();
        let mut all = Stepped::new(&crowd, &walkers.frame(0));
        let bodies = walkers.frame(0);
        let states = bodies.iter().map(|body| animator.start(body).unwrap());
        let mut states: Vec<_> = states.collect();
        let mut one = vec![Vec3::ZERO; animator.topology().n_vertices()];
        // Known, unknown, and between: all that there is was met.
        let mut met = [0; 3];
        for frame in 0..n_frames {
            let bodies = walkers.frame(frame);
            all.step(&crowd, &bodies);
            for (i, (state, body)) in states.iter_mut().zip(&bodies).enumerate() {
                let report = animator.step(state, body, &mut one).unwrap();
                let of_crowd = all.reports[i].as_ref().unwrap();
                let apart = (report.confidence - of_crowd.confidence).abs();
                assert!(apart < 2e-4, "{frame}, {i}: {report:?}, {of_crowd:?}");
                met[match report.confidence {
                    1.0 => 0,
                    0.0 => 1,
                    _ => 2,
                }] += 1;
                let garment = &all.out[i * 3 * one.len()..][..3 * one.len()];
                for (one, many) in one.iter().zip(garment.as_chunks::<3>().0) {
                    let apart = one.distance(Vec3::from(*many));
                    assert!(apart < 1e-5, "frame {frame}, character {i}: {apart} m");
                }
            }
        }
        assert!(met.iter().all(|n| *n > 20), "{met:?}");
    }
}

#[test]
fn nobody_in_a_crowd_depends_on_threads_or_on_the_others() {
    // More than a squad, and a rank and a tile that are not full.
    let (n, n_frames) = (150, 8);
    let walkers = Walkers::new(n, n_frames);
    let crowd = StableCrowd::new(swinging().clone()).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut all = Stepped::new(&crowd, &walkers.frame(0));
            (0..n_frames).for_each(|frame| all.step(&crowd, &walkers.frame(frame)));
            all.out
        })
    };
    let out = run(1);
    assert_eq!(out, run(3));
    for i in [0, 1, 15, 16, 40, 127, 128, 149] {
        let mut alone = Stepped::new(&crowd, &walkers.frame(0)[i..=i]);
        for frame in 0..n_frames {
            alone.step(&crowd, &walkers.frame(frame)[i..=i]);
        }
        let n_values = crowd.n_values();
        assert_eq!(alone.out, out[i * n_values..(i + 1) * n_values], "{i}");
    }
}

#[test]
fn a_garment_that_cannot_be_stepped_stops_nobody() {
    let (n, n_frames, ill) = (20, 12, 3);
    let walkers = Walkers::new(n, n_frames);
    let crowd = StableCrowd::new(swinging().clone()).unwrap();
    let mut whole = Stepped::new(&crowd, &walkers.frame(0));
    let mut hurt = Stepped::new(&crowd, &walkers.frame(0));
    let mut alone = crowd.animator().start(&walkers.frame(0)[ill]).unwrap();
    let n_values = crowd.n_values();
    let own = ill * n_values..(ill + 1) * n_values;
    let mut one = vec![Vec3::ZERO; n_values / 3];
    for frame in 0..n_frames {
        let bodies = walkers.frame(frame);
        let mut broken = bodies.clone();
        let mut joints = bodies[ill].world_from_rest.to_vec();
        joints[2].translation.y = f32::NAN;
        let is_ill = (4..6).contains(&frame);
        if is_ill {
            broken[ill].world_from_rest = &joints;
        }
        let before = hurt.out[own.clone()].to_vec();
        whole.step(&crowd, &bodies);
        hurt.step(&crowd, &broken);
        let single = crowd.animator().step(&mut alone, &broken[ill], &mut one);
        match is_ill {
            true => {
                assert_eq!(hurt.reports[ill], Err(AnimateError::NotFinite));
                assert!(single.is_err());
                assert_eq!(hurt.out[own.clone()], before, "it keeps its output");
            }
            false => {
                assert!(hurt.reports[ill].is_ok() && single.is_ok());
                let found = hurt.out[own.clone()].as_chunks::<3>().0;
                for (one, found) in one.iter().zip(found) {
                    assert!(one.distance(Vec3::from(*found)) < 2e-5, "{frame}");
                }
            }
        }
        assert_eq!(whole.out[..own.start], hurt.out[..own.start]);
        assert_eq!(whole.out[own.end..], hurt.out[own.end..]);
    }
    assert_ne!(whole.out, hurt.out, "it has missed something");
}

#[test]
fn who_stays_does_not_notice_who_comes_and_goes() {
    let (n, n_frames) = (34, 9);
    let walkers = Walkers::new(n, n_frames);
    let crowd = StableCrowd::new(swinging().clone()).unwrap();
    let mut whole = Stepped::new(&crowd, &walkers.frame(0));
    // Character 5 leaves before frame 4, and one joins before frame 6.
    let mut changing = Stepped::new(&crowd, &walkers.frame(0));
    let mut who: Vec<usize> = (0..n).collect();
    for frame in 0..n_frames {
        let bodies = walkers.frame(frame);
        let n_values = crowd.n_values();
        if frame == 4 {
            changing.state.leave(5);
            who.swap_remove(5);
        }
        if frame == 6 {
            crowd.join(&mut changing.state, &bodies[5]).unwrap();
            who.push(5);
        }
        assert_eq!(changing.state.len(), who.len());
        let present: Vec<BodyFrame<'_>> = who.iter().map(|i| bodies[*i]).collect();
        changing.out.resize(who.len() * n_values, 0.0);
        changing
            .reports
            .resize(who.len(), Ok(StepReport::default()));
        whole.step(&crowd, &bodies);
        changing.step(&crowd, &present);
        for (found, i) in changing.out.chunks(n_values).zip(&who) {
            let expected = &whole.out[i * n_values..(i + 1) * n_values];
            assert_eq!(found == expected, *i != 5 || frame < 4, "{frame}, {i}");
        }
    }
    (0..n).for_each(|_| changing.state.leave(0));
    assert!(changing.state.is_empty());
}

#[test]
fn wrong_sizes_and_unposed_cloth_are_refused() {
    let unposed = trained(StableModel::A, ClothSpace::Unposed);
    assert_eq!(StableCrowd::new(unposed).unwrap_err(), CrowdError::Space);
    let walkers = Walkers::new(2, 1);
    let crowd = StableCrowd::new(swinging().clone()).unwrap();
    let bodies = walkers.frame(0);
    let Stepped {
        mut state,
        mut out,
        mut reports,
    } = Stepped::new(&crowd, &bodies);
    let before = out.clone();
    let found = crowd.step(&mut state, &bodies[..1], &mut out, &mut reports);
    assert!(matches!(found, Err(CrowdError::Counts { bodies: 1, .. })));
    let found = crowd.step(&mut state, &bodies, &mut out[1..], &mut reports);
    assert!(matches!(found, Err(CrowdError::Output { .. })));
    assert_eq!(out, before);
    let mut foreign = bodies.clone();
    foreign[1].shape = &[];
    let started = crowd.start(&foreign);
    let character = match started {
        Err(CrowdError::Start { character, .. }) => character,
        other => panic!("{other:?}"),
    };
    assert_eq!(character, 1);
}
