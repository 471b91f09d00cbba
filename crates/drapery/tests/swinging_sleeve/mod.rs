//! A dataset of known dynamics: the tube walks about in its sleeve, which
//! follows the joints by linear blending and swings along x beside that,
//!
//! ```text
//! dₜ = b₁ dₜ₋₁ + b₂ dₜ₋₂ + c (z(t, t−2) − 2 z(t−1, t−2))
//! ```
//!
//! pushed by how the root gains speed. Model C of order 2 has exactly that.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "shared by test files that each use a part"
)]

use std::sync::OnceLock;

use drapery::core::{
    BodyModel, CanonicalFrame, FrameRate, Garment, GarmentAnimator, HalfwayJoints, Pose,
    PoseVelocity, PosedBody, ShapedBody, Surroundings, TriMesh,
};
use drapery::runtime::{SkinnedGarment, root_motion};
use drapery::scene::character::Character;
use drapery::scene::garment::BindingConfig;
use drapery::scene::{builtin, fabric};
use drapery::store::dataset::{
    BodyShape, DatasetHead, DatasetStore, FrameBits, FrameRecord, Manifest, MemoryDataset,
    PlannedSequence, Split, StoredGarment,
};
use drapery::{dress_with, stored_body};
use glam::{Quat, Vec3};
use serde_json::json;

/// How fast the swing dies away.
pub const RADIUS: f32 = 0.95;

/// Frames of a clip.
pub const FRAMES: usize = 90;

/// The shape of the tube.
pub const SHAPE: [f32; 2] = [0.5, -0.5];

pub fn tube() -> Character {
    builtin::character("tube").unwrap()
}

/// A clip of its own for every seed.
pub fn poses(seed: usize) -> Vec<Pose> {
    let s = seed as f32;
    let (mut root, mut heading) = (Vec3::new(s, 1.0, -s), 0.4 * s);
    (0..FRAMES)
        .map(|frame| {
            let t = frame as f32 / 30.0;
            heading += 0.03 * (1.1 * t + s).sin();
            let speed = 0.03 + 0.03 * (2.3 * t + 2.0 * s).sin() + 0.01 * (7.0 * t).cos();
            let forwards = Quat::from_rotation_y(heading) * Vec3::Z;
            root += speed * forwards + 0.004 * (5.0 * t).cos() * Vec3::Y;
            let bend = 0.5 * (1.7 * t + 0.8 * s).sin();
            let twist = 0.4 * (2.9 * t + 1.3 * s).cos();
            Pose {
                root,
                rotations: vec![
                    Quat::from_rotation_y(heading) * Quat::from_rotation_x(0.1 * bend),
                    Quat::from_rotation_x(bend),
                    Quat::from_rotation_z(0.5 * bend) * Quat::from_rotation_y(twist),
                    Quat::from_rotation_x(-twist),
                ],
            }
        })
        .collect()
}

/// The bodies of a clip.
pub fn bodies(poses: &[Pose]) -> (ShapedBody, Vec<PosedBody>) {
    let tube = tube();
    let body = tube.shaped(&SHAPE).unwrap();
    let still = PoseVelocity::zero(4);
    let posed = poses.iter().map(|pose| {
        let mut posed = tube.room();
        tube.pose(&body, pose, &still, &mut posed).unwrap();
        posed
    });
    let posed = posed.collect();
    (body, posed)
}

/// A short sleeve of 6 × 10 vertices: what is learned of it takes no time.
fn sleeve() -> Garment {
    let (n_rings, n_around) = (6u32, 10u32);
    let at = |ring: u32, i: u32| ring * n_around + i % n_around;
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (ring, i) in (0..n_rings).flat_map(|r| (0..n_around).map(move |i| (r, i))) {
        let angle = std::f32::consts::TAU * i as f32 / n_around as f32;
        let (x, z) = (0.07 * angle.sin(), 0.07 * angle.cos());
        positions.push(Vec3::new(x, 0.2 + 0.06 * ring as f32, z));
        if ring + 1 < n_rings {
            let [a, b] = [at(ring, i), at(ring, i + 1)];
            let [c, d] = [at(ring + 1, i + 1), at(ring + 1, i)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let mesh = TriMesh::new(positions, triangles).unwrap();
    Garment::new("sleeve".into(), mesh, None, Vec::new(), Vec::new()).unwrap()
}

/// The sleeve by plain linear blending.
fn skinned() -> &'static SkinnedGarment {
    static SKINNED: OnceLock<SkinnedGarment> = OnceLock::new();
    SKINNED.get_or_init(|| {
        let config = BindingConfig {
            halfway: HalfwayJoints::Off,
            ..BindingConfig::default()
        };
        dress_with(&sleeve(), &tube(), FrameRate::THIRTY, &config).unwrap()
    })
}

/// The cloth of a clip.
pub fn cloth(poses: &[Pose]) -> Vec<Vec<Vec3>> {
    let (skinned, sleeve) = (skinned(), sleeve());
    let (body, posed) = bodies(poses);
    let first = posed[0].frame(&body, Surroundings::default());
    let mut state = skinned.start(&first).unwrap();
    let (b1, b2) = (2.0 * RADIUS * 0.35f32.cos(), -RADIUS * RADIUS);
    let mut swings = vec![0.0f32; 2];
    let roots: Vec<CanonicalFrame> = poses.iter().map(|p| CanonicalFrame::of(p, 0.0)).collect();
    for t in 2..poses.len() {
        let [now, before] = [t, t - 1].map(|at| root_motion(&roots[at], &roots[t - 2])[2]);
        let (d1, d2) = (swings[t - 1], swings[t - 2]);
        swings.push(b1 * d1 + b2 * d2 - 3.0 * (now - 2.0 * before));
    }
    let frames = posed.iter().zip(swings).zip(roots);
    frames
        .map(|((posed, swing), root)| {
            let mut out = vec![Vec3::ZERO; sleeve.mesh().positions().len()];
            let frame = posed.frame(&body, Surroundings::default());
            skinned.step(&mut state, &frame, &mut out).unwrap();
            // A root that turns looks aside in its own way.
            let aside = Quat::from_rotation_y(root.heading) * Vec3::X;
            let rest = sleeve.mesh().positions();
            for (p, rest) in out.iter_mut().zip(rest) {
                *p += aside * swing * (0.2 + rest.y);
            }
            out
        })
        .collect()
}

/// Clips 0 to 4 train, 5 tunes, 6 tests; the copy of clip 0 is stopped.
pub fn dataset() -> &'static MemoryDataset {
    static DATASET: OnceLock<MemoryDataset> = OnceLock::new();
    DATASET.get_or_init(record)
}

fn record() -> MemoryDataset {
    let (tube, sleeve) = (tube(), sleeve());
    let planned = |clip: String, parent: String, split| PlannedSequence {
        name: format!("{clip}@odd"),
        clip,
        parent,
        shape: 0,
        split,
        frames: FRAMES as u32,
    };
    let mut sequences: Vec<PlannedSequence> = (0..7)
        .map(|seed| {
            let split = match seed {
                5 => Split::Tune,
                6 => Split::Test,
                _ => Split::Train,
            };
            planned(format!("clip{seed}"), format!("clip{seed}"), split)
        })
        .collect();
    sequences.push(planned("clip0~stop".into(), "clip0".into(), Split::Train));
    let head = DatasetHead {
        frame_rate: FrameRate::THIRTY,
        body: stored_body(&tube),
        garments: vec![StoredGarment {
            garment: sleeve,
            fabric: fabric::preset("cotton-plain").unwrap(),
            twin_of: None,
        }],
        manifest: Manifest {
            shapes: vec![BodyShape {
                name: "odd".into(),
                coefficients: SHAPE.to_vec(),
            }],
            sequences,
        },
        scene: String::new(),
        settings: json!({}),
    };
    let dataset = MemoryDataset::new(head).unwrap();
    for seed in 0..8 {
        let name = match seed {
            7 => "clip0~stop@odd".to_string(),
            _ => format!("clip{seed}@odd"),
        };
        let mut poses = poses(seed % 7);
        if seed == 7 {
            let held = poses[40].clone();
            poses[40..].fill(held);
        }
        let mut sink = dataset.append(&name).unwrap();
        for (pose, cloth) in poses.iter().zip(cloth(&poses)) {
            let n = cloth.len();
            sink.push(&FrameRecord {
                pose,
                cloth: &cloth,
                velocity: &vec![Vec3::ZERO; n],
                masked: &vec![false; n],
                flags: FrameBits::default(),
            })
            .unwrap();
        }
        sink.finish(json!({})).unwrap();
    }
    dataset
}
