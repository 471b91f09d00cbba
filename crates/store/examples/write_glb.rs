//! Writes a bending tube in a swinging sleeve as a `.glb`, with the vertices
//! that a program should show beside it:
//!
//! ```text
//! cargo run -p drapery-store --example write_glb -- OUT.glb EXPECTED.json [FRAMES [ROWS]]
//! ```
//!
//! `EXPECTED.json` has `frame_rate` and, for `body` and `sleeve`, world
//! positions [m] of frames 0, the middle one and the last, in our axes.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

use drapery_core::{
    FrameRate, JointId, Pose, PoseVelocity, PosedBody, Skeleton, SkinWeights, Topology,
    skin_positions,
};
use drapery_store::gltf::{
    ChannelValues, GarmentNormals, GlbBody, GlbGarment, GlbScene, read_file, write_glb,
};
use glam::{Quat, Vec3};

const SIDES: u32 = 12;

/// A tube along +Y of rings of [`SIDES`] vertices, open at both ends.
fn tube(n_rows: u32, radius: f32, height: f32) -> (Vec<Vec3>, Topology) {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for row in 0..n_rows {
        for side in 0..SIDES {
            let angle = std::f32::consts::TAU * side as f32 / SIDES as f32;
            let y = height * row as f32 / (n_rows - 1) as f32;
            positions.push(Vec3::new(radius * angle.sin(), y, radius * angle.cos()));
            if row > 0 {
                let (here, next) = (row * SIDES + side, row * SIDES + (side + 1) % SIDES);
                triangles.push([here - SIDES, next - SIDES, next]);
                triangles.push([here - SIDES, next, here]);
            }
        }
    }
    let n_vertices = positions.len() as u32;
    let topology = Topology::new(n_vertices, triangles).expect("the rings are in range");
    (positions, topology)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, expected, counts @ ..] = arguments.as_slice() else {
        return Err("usage: write_glb OUT.glb EXPECTED.json [FRAMES [ROWS]]".into());
    };
    let n_frames: usize = counts.first().map_or(Ok(10), |n| n.parse())?;
    let n_rows: u32 = counts.get(1).map_or(Ok(9), |n| n.parse())?;
    let frame_rate = FrameRate::THIRTY;

    let (rest, topology) = tube(9, 0.1, 1.0);
    let skeleton = Skeleton::new(
        vec!["lower".into(), "upper".into()],
        vec![None, Some(JointId(0))],
        vec![Vec3::new(0.0, 0.1, 0.0), Vec3::new(0.01, 0.5, -0.02)],
    )?;
    let rows: Vec<Vec<(u16, f32)>> = rest
        .iter()
        .map(|p| {
            let upper = ((p.y - 0.3) / 0.4).clamp(0.0, 1.0);
            vec![(0, 1.0 - upper), (1, upper)]
        })
        .collect();
    let skin = SkinWeights::new(4, 2, &rows)?;
    let poses: Vec<Pose> = (0..n_frames)
        .map(|frame| {
            let t = frame as f32 / 10.0;
            Pose {
                root: Vec3::new(0.3 * t, 0.1 + 0.05 * (3.0 * t).sin(), -0.2 * t),
                rotations: vec![
                    Quat::from_rotation_y(2.0 * t),
                    Quat::from_rotation_z(1.2 * t),
                ],
            }
        })
        .collect();
    let bodies: Vec<Vec<Vec3>> = poses
        .iter()
        .map(|pose| {
            let mut posed = PosedBody::with_room(2, rest.len());
            posed.pose_joints(&skeleton, skeleton.rest(), pose, &PoseVelocity::zero(2));
            skin_positions(&skin, &posed.world_from_rest, &rest, &mut posed.vertices);
            posed.vertices
        })
        .collect();
    let (sleeve, sleeve_topology) = tube(n_rows, 0.15, 0.8);
    let sleeves: Vec<Vec<Vec3>> = poses
        .iter()
        .enumerate()
        .map(|(frame, pose)| {
            let wave = |p: &Vec3| 0.05 * (9.0 * p.y + frame as f32).sin();
            let turn = pose.rotations[0];
            sleeve
                .iter()
                .map(|p| turn * (*p + Vec3::X * wave(p)) + pose.root)
                .collect()
        })
        .collect();

    let scene = GlbScene {
        frame_rate,
        body: Some(GlbBody {
            name: "body",
            topology: &topology,
            rest: &rest,
            skeleton: &skeleton,
            joints: skeleton.rest(),
            skin: &skin,
            frames: &poses,
            colour: [0.6, 0.4, 0.3],
        }),
        garments: vec![GlbGarment {
            name: "sleeve",
            topology: &sleeve_topology,
            frames: &sleeves,
            colour: [0.1, 0.2, 0.5],
            normals: GarmentNormals::EveryFrame,
        }],
    };
    let mut file = BufWriter::new(File::create(out)?);
    write_glb(&scene, &mut file)?;
    file.flush()?;

    let shown = |frames: &[Vec<Vec3>]| -> BTreeMap<String, Vec<[f32; 3]>> {
        [0, n_frames / 2, n_frames - 1]
            .iter()
            .map(|&k| {
                (
                    k.to_string(),
                    frames[k].iter().map(|p| p.to_array()).collect(),
                )
            })
            .collect()
    };
    let expectation = serde_json::json!({
        "frame_rate": frame_rate.hz(),
        "body": shown(&bodies),
        "sleeve": shown(&sleeves),
    });
    serde_json::to_writer(File::create(expected)?, &expectation)?;

    let document = read_file(out.as_ref())?;
    let weights = document.animations[0].channels.iter().any(|channel| {
        matches!(&channel.values, ChannelValues::Weights(w) if w.len() == n_frames * (n_frames - 1))
    });
    assert!(weights, "one weight a frame and target");
    Ok(())
}
