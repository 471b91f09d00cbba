//! Several garments on one body, behind the animators' seam.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use drapery::core::{
    AnimateError, BodyFrame, BodyModel, Clip, Fabric, FrameIndex, FrameRate, Garment,
    GarmentAnimator, Pose, PoseVelocity, PosedBody, Seconds, ShapedBody, StepReport, Surroundings,
    Topology,
};
use drapery::scene::builtin;
use drapery::scene::character::Character;
use drapery::scene::garment::{DraftConfig, GarmentKind, draft};
use drapery::scene::motion::{sample, trim};
use drapery::sim::{MeshBoxes, MeshObstacle, Obstacle, crossings, self_crossings};
use drapery::{Animation, Layer, RollOut, SimulatedGarment, WearConfig, WearError};
use glam::{DVec3, Vec3};

fn config() -> WearConfig {
    WearConfig {
        steps_per_frame: 4,
        dressing: 0.1,
        settling: 0.1,
        ..WearConfig::default()
    }
}

fn cotton() -> Fabric {
    Fabric::plain("cotton", 0.15, 400.0, 1e-5)
}

fn wool() -> Fabric {
    Fabric {
        thickness: 1.5e-3,
        friction: 0.6,
        ..Fabric::plain("wool", 0.3, 300.0, 3e-5)
    }
}

/// The first frames of a clip on the mean shape.
fn moving(name: &str, clip: &str, n: u32) -> (Character, ShapedBody, Clip, Vec<PosedBody>) {
    let character = builtin::character(name).unwrap();
    let mean = vec![0.0; character.shape_parameters().len()];
    let body = character.shaped(&mean).unwrap();
    let clip = builtin::clip(clip).unwrap();
    let mut pose = Pose::identity(Vec3::ZERO, clip.skeleton().len());
    let mut velocity = PoseVelocity::zero(clip.skeleton().len());
    let frames = (0..n).map(|frame| {
        let mut posed = character.room();
        let time = clip.frame_rate().time_of(FrameIndex(frame));
        sample(&clip, time, &mut pose, &mut velocity);
        character.pose(&body, &pose, &velocity, &mut posed).unwrap();
        posed
    });
    let frames = frames.collect();
    (character, body, clip, frames)
}

fn wide(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}

/// Crossings of two garments.
fn n_crossings([a, b]: [&Topology; 2], [x, y]: [&[Vec3]; 2]) -> usize {
    let (x, y) = (wide(x), wide(y));
    crossings(&MeshBoxes::new(a, &x), &x, &MeshBoxes::new(b, &y), &y).len()
}

/// Two skirts that lie in the same place: the outer one is lifted off the inner
/// one, and while the body walks it stays over it.
#[test]
fn a_skirt_over_a_skirt_stays_over_it() {
    let (mannequin, body, clip, frames) = moving("mannequin", "walk", 4);
    let skirt = drafted(GarmentKind::Skirt, &mannequin, 200);
    let n = skirt.mesh().positions().len();
    let (cotton, wool) = (cotton(), wool());
    let layers = [&cotton, &wool].map(|fabric| Layer {
        garment: &skirt,
        fabric,
    });
    let rate = clip.frame_rate();
    let made_for = &body.shape;
    let worn = SimulatedGarment::outfit(&layers, &mannequin, made_for, rate, config()).unwrap();
    assert!(worn.layers().eq([0..n, n..2 * n]));
    assert_eq!(worn.layering().lifted, n as u32);
    assert_eq!(worn.layering().left, 0);
    let seen = |i: usize| frames[i].frame(&body, Surroundings::default());
    let mut state = worn.start(&seen(0)).unwrap();
    let mut out = vec![Vec3::ZERO; 2 * n];
    let own = skirt.mesh().topology();
    for (i, posed) in frames.iter().enumerate() {
        worn.step(&mut state, &seen(i), &mut out).unwrap();
        let (inner, outer) = out.split_at(n);
        assert_eq!(n_crossings([own; 2], [inner, outer]), 0, "frame {i}");
        let obstacle = MeshObstacle::new(mannequin.topology(), wide(&posed.vertices)).unwrap();
        let obstacle = Obstacle::from(obstacle);
        let height = |x: &[Vec3]| {
            let heights = x.iter().map(|p| {
                let found = obstacle.nearest(p.as_dvec3(), 1.0).unwrap();
                found.distance
            });
            heights.sum::<f64>() / n as f64
        };
        let apart = height(outer) - height(inner);
        assert!(apart > 0.3e-3, "{apart} m apart in frame {i}");
    }
}

fn drafted(kind: GarmentKind, character: &Character, n_triangles: u32) -> Garment {
    let mean = vec![0.0; character.shape_parameters().len()];
    let config = DraftConfig {
        n_triangles,
        ..DraftConfig::default()
    };
    draft(kind, character, &mean, &config).unwrap()
}

/// Drafted on the bare body, the poncho starts through the skirt.
#[test]
fn a_poncho_over_a_skirt_is_put_in_order_and_stays_so() {
    let (mannequin, body, clip, frames) = moving("mannequin", "walk", 4);
    let skirt = drafted(GarmentKind::Skirt, &mannequin, 250);
    let poncho = drafted(GarmentKind::Poncho, &mannequin, 300);
    let positions = |g: &Garment| g.mesh().positions().to_vec();
    let both = [skirt.mesh().topology(), poncho.mesh().topology()];
    let before = n_crossings(both, [&positions(&skirt), &positions(&poncho)]);
    assert!(before > 10, "{before} crossings");
    let (cotton, wool) = (cotton(), wool());
    let layers =
        [(&skirt, &cotton), (&poncho, &wool)].map(|(garment, fabric)| Layer { garment, fabric });
    let rate = clip.frame_rate();
    let made_for = &body.shape;
    let worn = SimulatedGarment::outfit(&layers, &mannequin, made_for, rate, config()).unwrap();
    let found = *worn.layering();
    assert_eq!((found.crossed, found.left), (before as u32, 0));
    assert!(found.lifted > 0 && found.farthest < 0.1, "{found:?}");
    let seen = |i: usize| frames[i].frame(&body, Surroundings::default());
    let mut state = worn.start(&seen(0)).unwrap();
    assert_eq!(state.dressing().crossings, 0, "nothing crosses on the way");
    let mut out = vec![Vec3::ZERO; worn.topology().n_vertices()];
    for i in 0..frames.len() {
        worn.step(&mut state, &seen(i), &mut out).unwrap();
        let x = wide(&out);
        let found = self_crossings(&MeshBoxes::new(worn.topology(), &x), &x);
        assert_eq!(found.len(), 0, "frame {i}");
    }
}

/// Moves two garments of `n` vertices, the second a centimetre farther out,
/// both a metre a frame.
struct Two {
    topology: Topology,
    positions: Vec<Vec3>,
}

impl GarmentAnimator for Two {
    type State = f32;

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn frame_step(&self) -> Seconds {
        FrameRate::THIRTY.frame_step()
    }

    fn start(&self, _: &BodyFrame<'_>) -> Result<f32, AnimateError> {
        Ok(0.0)
    }

    fn step(
        &self,
        state: &mut f32,
        _: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        for (out, p) in out.iter_mut().zip(&self.positions) {
            *out = *p + Vec3::X * *state;
        }
        *state += 1.0;
        Ok(StepReport::default())
    }
}

/// What one animator moves is handed out to its garments.
#[test]
fn an_outfit_is_baked_garment_by_garment() {
    let (tube, body, clip, _) = moving("tube", "bend", 0);
    let clip = trim(&clip, FrameIndex(0)..FrameIndex(2)).unwrap();
    let sleeve = builtin::garment("sleeve").unwrap();
    let inner = sleeve.mesh().positions().to_vec();
    let out = |p: &Vec3| *p + p.with_y(0.0).normalize() * 0.01;
    let outer: Vec<Vec3> = inner.iter().map(out).collect();
    let n = inner.len() as u32;
    let triangles = sleeve.mesh().triangles().iter();
    let second = triangles.clone().map(|t| t.map(|v| v + n));
    let two = Two {
        topology: Topology::new(2 * n, triangles.copied().chain(second).collect()).unwrap(),
        positions: [inner.clone(), outer.clone()].concat(),
    };
    let mut animation = Animation::new(&tube, &body, &clip);
    let ended = animation.wear_outfit(&[&sleeve, &sleeve], &two, |_| true);
    assert_eq!(ended.unwrap(), RollOut::Done);
    let moved = |x: &[Vec3]| -> Vec<Vec3> { x.iter().map(|p| *p + Vec3::X).collect() };
    assert_eq!(animation.garments[0].frames, [inner.clone(), moved(&inner)]);
    assert_eq!(animation.garments[1].frames, [outer.clone(), moved(&outer)]);
    assert!(animation.crossed_frames().is_empty());
    // Shifted by more than the room between them.
    for p in &mut animation.garments[1].frames[1] {
        p.x += 0.02;
    }
    assert_eq!(animation.crossed_frames(), [1]);
}

#[test]
fn an_outfit_of_nothing_is_refused() {
    let (tube, _, clip, _) = moving("tube", "bend", 0);
    let worn = SimulatedGarment::outfit(&[], &tube, &[0.0, 0.0], clip.frame_rate(), config());
    assert!(matches!(worn.err(), Some(WearError::Cloth(_))));
}
