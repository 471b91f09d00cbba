//! The shared body, garments and motions together, where they are to be had.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may unwrap, and say that they were skipped"
)]

use std::path::PathBuf;

use drapery::core::{BodyModel, FrameRate, HalfwayJoints, Pose, PoseVelocity, Surroundings};
use drapery::scene::garment::BindingConfig;
use drapery::scene::load::{MotionOptions, load_character, load_garment, load_motion};
use drapery::scene::motion::{JointMap, RetargetOptions, retarget};
use drapery::{RollOut, dress, dress_with, roll_out};
use glam::{Quat, Vec3};

/// The folder of shared data, if it is there.
fn data() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("DRAPERY_DATA").map_or(beside, PathBuf::from);
    if folder.join("body/body.glb").is_file() {
        return Some(folder);
    }
    println!("skipped: no shared data");
    None
}

fn file(folder: &std::path::Path, name: &str) -> String {
    folder.join(name).to_string_lossy().into_owned()
}

/// The same numbers every time, between −1 and 1.
fn noise(seed: u32) -> f32 {
    let mut x = seed.wrapping_mul(0x9E37_79B9) ^ 0x85EB_CA6B;
    x ^= x >> 15;
    x = x.wrapping_mul(0x2C1B_3C6D);
    x ^= x >> 12;
    (x & 0xFFFF) as f32 / 32_767.5 - 1.0
}

#[test]
fn glb_and_npz_agree_when_posed_and_shaped_alike() {
    let Some(data) = data() else { return };
    let glb = load_character(&file(&data, "body/body.glb"))
        .unwrap()
        .character;
    let npz = load_character(&file(&data, "body/body.npz"))
        .unwrap()
        .character;
    assert_eq!(glb.topology(), npz.topology());
    assert_eq!(glb.skeleton().names(), npz.skeleton().names());
    assert_eq!(glb.skeleton().parents(), npz.skeleton().parents());
    let names = |c: &dyn BodyModel| {
        c.shape_parameters()
            .iter()
            .map(|p| p.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&glb), names(&npz));
    let n_joints = glb.skeleton().len() as u32;
    for case in 0..8 {
        let parameters = glb.shape_parameters().iter().enumerate();
        let shape: Vec<f32> = parameters
            .map(|(k, p)| p.min + (p.max - p.min) * (0.5 + 0.5 * noise(100 * case + k as u32)))
            .collect();
        let rotations = (0..n_joints).map(|j| {
            let at = |axis| noise(10_000 + 1000 * case + 3 * j + axis);
            Quat::from_scaled_axis(Vec3::new(at(0), at(1), at(2)))
        });
        let pose = Pose {
            root: Vec3::new(noise(case), 1.0, noise(case + 50)),
            rotations: rotations.collect(),
        };
        let posed = [&glb, &npz].map(|character| {
            let mut out = character.room();
            let body = character.shaped(&shape).unwrap();
            character
                .pose(
                    &body,
                    &pose,
                    &PoseVelocity::zero(n_joints as usize),
                    &mut out,
                )
                .unwrap();
            out
        });
        let apart = |a: &[Vec3], b: &[Vec3]| {
            let distances = a.iter().zip(b).map(|(p, q)| p.distance(*q));
            distances.fold(0.0, f32::max)
        };
        let vertices = apart(&posed[0].vertices, &posed[1].vertices);
        let joints = apart(&posed[0].joint_positions, &posed[1].joint_positions);
        assert!(vertices < 1e-4, "case {case}: vertices {vertices} m apart");
        assert!(joints < 1e-4, "case {case}: joints {joints} m apart");
    }
}

#[test]
fn garments_walk_without_splitting_or_flying_off() {
    let Some(data) = data() else { return };
    let body = load_character(&file(&data, "body/body.npz"))
        .unwrap()
        .character;
    let shaped = body.shaped(&[0.0; 10]).unwrap();
    let walk = load_motion(&file(&data, "motions/07_02.bvh"), &MotionOptions::default())
        .unwrap()
        .clip;
    let map = JointMap::between(walk.skeleton(), body.skeleton()).unwrap();
    let walk = retarget(&walk, body.skeleton(), &map, &RetargetOptions::default())
        .unwrap()
        .clip;
    for name in ["tshirt", "skirt", "dress", "pants"] {
        let garment = load_garment(&file(&data, &format!("garments/{name}.obj")))
            .unwrap()
            .garment;
        let animator = dress(&garment, &body, FrameRate::THIRTY).unwrap();
        let edges = garment.mesh().topology().edges();
        let length = |x: &[Vec3], e: [u32; 2]| x[e[0] as usize].distance(x[e[1] as usize]);
        let at_rest: Vec<f32> = edges
            .iter()
            .map(|e| length(garment.mesh().positions(), e.vertices))
            .collect();
        let ended = roll_out(&animator, &body, &shaped, &walk, |frame, posed, cloth| {
            let seen = posed.frame(&shaped, Surroundings::default());
            let (worst, vertex) = animator.conditioning(&seen).unwrap();
            assert!(worst > 0.5, "{name} frame {frame} vertex {vertex}: {worst}");
            // A split between the legs shows as an edge drawn across the gap.
            for (edge, rest) in edges.iter().zip(&at_rest) {
                let now = length(cloth, edge.vertices);
                assert!(
                    now < 3.5 * rest + 0.01,
                    "{name} frame {frame} {edge:?}: {rest} m is now {now} m"
                );
            }
            true
        });
        assert_eq!(ended.unwrap(), RollOut::Done);
    }
}

/// The frames of all shared clips that are hardest on inverse skinning: plain
/// blending has singular values from 0.002 to 0.22 there.
#[test]
fn the_hardest_frames_stay_well_conditioned() {
    let Some(data) = data() else { return };
    let body = load_character(&file(&data, "body/body.glb"))
        .unwrap()
        .character;
    let shape = vec![0.0; body.shape_parameters().len()];
    let shaped = body.shaped(&shape).unwrap();
    for (motion, name, frame) in [
        ("104_04", "pants", 37),
        ("05_20", "dress", 169),
        ("144_30", "tshirt", 469),
    ] {
        let path = file(&data, &format!("motions/{motion}.bvh"));
        let clip = load_motion(&path, &MotionOptions::default()).unwrap().clip;
        let map = JointMap::between(clip.skeleton(), body.skeleton()).unwrap();
        let clip = retarget(&clip, body.skeleton(), &map, &RetargetOptions::default())
            .unwrap()
            .clip;
        let garment = load_garment(&file(&data, &format!("garments/{name}.obj")))
            .unwrap()
            .garment;
        let mut posed = body.room();
        let still = PoseVelocity::zero(body.skeleton().len());
        body.pose(&shaped, &clip.frames()[frame], &still, &mut posed)
            .unwrap();
        let seen = posed.frame(&shaped, Surroundings::default());
        let worst = |halfway| {
            let config = BindingConfig {
                halfway,
                ..BindingConfig::default()
            };
            let animator = dress_with(&garment, &body, FrameRate::THIRTY, &config).unwrap();
            animator.conditioning(&seen).unwrap().0
        };
        let (on, off) = (worst(HalfwayJoints::On), worst(HalfwayJoints::Off));
        assert!(on > 0.35, "{motion} {name} frame {frame}: {on}");
        assert!(off < 0.3, "{motion} {name} frame {frame} was hard: {off}");
    }
}
