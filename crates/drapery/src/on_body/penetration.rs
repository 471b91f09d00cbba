//! Garments on the walking mannequin: nothing of the body pokes through them.
//!
//! After every frame the depth of all vertices, middles of edges and centres of
//! faces in the body is taken, of the skirt, which hangs on its pins, and of
//! garments that hang from the shoulders and have no sleeves. The body is the
//! one that the cloth meets, which has given way where it touches itself.

use drapery_core::{
    BodyModel, Fabric, FrameIndex, GarmentAnimator, Pose, PoseVelocity, Surroundings,
};
use drapery_scene::builtin;
use drapery_scene::garment::{DraftConfig, GarmentKind, draft};
use drapery_scene::motion::sample;
use drapery_sim::textbook::{Case, Experiment, Size, Test, Trouble};
use drapery_sim::{MeshBoxes, penetration};
use glam::Vec3;

use crate::{SimulatedGarment, WearConfig};

/// A point that is deeper than this is inside [m].
const LIMIT: f64 = 1e-3;

pub(super) fn experiments(size: Size) -> Vec<Experiment> {
    let garments: &[(GarmentKind, u32, u32)] = match size {
        Size::Quick => &[(GarmentKind::Skirt, 500, 8), (GarmentKind::Poncho, 500, 8)],
        Size::Full => &[
            (GarmentKind::Skirt, 3000, 60),
            (GarmentKind::DressALine, 3000, 60),
            (GarmentKind::Poncho, 3000, 60),
        ],
    };
    let make = |&(kind, n_triangles, n_frames): &(GarmentKind, u32, u32)| {
        Experiment::new(Test::BodyPenetration, move || {
            vec![case(kind, n_triangles, n_frames, size)]
        })
    };
    garments.iter().map(make).collect()
}

fn case(kind: GarmentKind, n_triangles: u32, n_frames: u32, size: Size) -> Case {
    let case = format!(
        "points of a {} deeper than 1 mm, {n_triangles} triangles, walk",
        kind.name()
    );
    let found = walk(kind, n_triangles, n_frames, size);
    let n_inside = found.as_ref().map(|f| f.n_inside as f64);
    let n_inside = n_inside.map_err(Clone::clone);
    let case = Case::of(Test::BodyPenetration, case, n_inside, 0.0, 0.0);
    match found {
        Ok(found) => case
            .with("frames", f64::from(n_frames))
            .with("points_a_frame", found.n_points as f64)
            .with("deepest_mm", 1e3 * found.worst)
            .with("vertices_set_back", f64::from(found.set_back)),
        Err(_) => case,
    }
}

struct Walked {
    n_points: usize,
    n_inside: usize,
    /// [m]
    worst: f64,
    set_back: u32,
}

fn walk(kind: GarmentKind, n_triangles: u32, n_frames: u32, size: Size) -> Result<Walked, Trouble> {
    let model = drapery_scene::mannequin::character();
    let mean = vec![0.0; model.shape_parameters().len()];
    let body = model.shaped(&mean).expect("the mean shape is one");
    let config = DraftConfig {
        n_triangles,
        ..DraftConfig::default()
    };
    let garment = draft(kind, &model, &mean, &config).expect("made for the mannequin");
    let clip = builtin::clip("walk").expect("built in");
    let fabric = Fabric::plain("cotton", 0.2, 400.0, 1e-5);
    let config = match size {
        Size::Quick => WearConfig {
            steps_per_frame: 5,
            dressing: 0.3,
            settling: 0.3,
            ..WearConfig::default()
        },
        Size::Full => WearConfig::default(),
    };
    let rate = clip.frame_rate();
    let worn = SimulatedGarment::new(&garment, &model, &mean, &fabric, rate, config)
        .expect("a garment that was made for the body");
    let mut pose = Pose::identity(Vec3::ZERO, clip.skeleton().len());
    let mut velocity = PoseVelocity::zero(clip.skeleton().len());
    let mut posed = model.room();
    let mut out = vec![Vec3::ZERO; worn.topology().n_vertices()];
    let mut boxes = None;
    let mut state = None;
    let mut walked = Walked {
        n_points: 0,
        n_inside: 0,
        worst: 0.0,
        set_back: 0,
    };
    for frame in 0..n_frames {
        sample(
            &clip,
            rate.time_of(FrameIndex(frame)),
            &mut pose,
            &mut velocity,
        );
        model
            .pose(&body, &pose, &velocity, &mut posed)
            .expect("a clip of the mannequin");
        let seen = posed.frame(&body, Surroundings::default());
        let state = match &mut state {
            Some(state) => state,
            None => state.insert(worn.start(&seen)?),
        };
        worn.step(state, &seen, &mut out)?;
        walked.set_back += state.report().set_back;
        let x = state.simulation().positions();
        let boxes = boxes.get_or_insert_with(|| MeshBoxes::new(worn.topology(), x));
        let skin = &state.simulation().obstacles()[0];
        let found = penetration(skin, boxes, x, LIMIT);
        walked.n_points = found.n_points;
        walked.n_inside += found.n_inside;
        walked.worst = walked.worst.max(found.worst);
    }
    Ok(walked)
}
