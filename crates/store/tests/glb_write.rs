//! Scenes written as `.glb`, read back by our own reader and by the `gltf`
//! crate, whose validation knows nothing of ours.

use drapery_core::{FrameRate, JointId, Pose, Skeleton, SkinWeights, Topology, vertex_normals};
use drapery_store::gltf::{
    ChannelValues, GarmentNormals, GlbScene, GlbWriteError, GltfDocument, Interpolation,
    NodeTransform, read, write_glb,
};
use drapery_store::moving::{MovingBody, MovingGarment, SceneWriteError};
use glam::{Mat4, Quat, Vec3};

/// A body of two or more joints in a row with a strip of triangles, and a cloth.
struct Scene {
    rest: Vec<Vec3>,
    topology: Topology,
    skeleton: Skeleton,
    skin: SkinWeights,
    poses: Vec<Pose>,
    cloth: Vec<Vec<Vec3>>,
    cloth_topology: Topology,
}

fn scene(n_joints: usize, n_influences: usize, n_frames: usize) -> Scene {
    let rest: Vec<Vec3> = (0..8)
        .map(|v| {
            Vec3::new(
                0.1 * (v % 2) as f32,
                0.123 * (v / 2) as f32,
                0.01 * v as f32,
            )
        })
        .collect();
    let triangles = (0..6u32)
        .map(|t| {
            if t % 2 == 0 {
                [t, t + 1, t + 2]
            } else {
                [t + 1, t, t + 2]
            }
        })
        .collect();
    let rows: Vec<Vec<(u16, f32)>> = (0..8)
        .map(|v| {
            let follow = |i: usize| ((v + i) % n_joints) as u16;
            (0..n_influences.min(n_joints))
                .map(|i| (follow(i), 1.0 + i as f32))
                .collect()
        })
        .collect();
    let poses = (0..n_frames)
        .map(|k| {
            let mut pose = Pose::identity(Vec3::new(0.1 * k as f32, 1.0, 0.0), n_joints);
            pose.rotations[1] = Quat::from_rotation_x(0.3 * k as f32);
            // The other sign is the same rotation and must not spin the joint.
            if k % 2 == 1 {
                pose.rotations[1] = -pose.rotations[1];
            }
            pose
        })
        .collect();
    let cloth = (0..n_frames)
        .map(|k| {
            let sway = 0.37 * k as f32;
            (0..4)
                .map(|v| Vec3::new((v % 2) as f32, (v / 2) as f32 + sway, sway.sin() * v as f32))
                .collect()
        })
        .collect();
    Scene {
        rest,
        topology: Topology::new(8, triangles).unwrap_or_else(|e| panic!("{e}")),
        skeleton: Skeleton::new(
            (0..n_joints).map(|j| format!("joint {j}")).collect(),
            (0..n_joints)
                .map(|j| j.checked_sub(1).map(|p| JointId(p as u16)))
                .collect(),
            (0..n_joints)
                .map(|j| Vec3::new(0.05, 0.11 * j as f32, 0.0))
                .collect(),
        )
        .unwrap_or_else(|e| panic!("{e}")),
        skin: SkinWeights::new(n_influences, n_joints, &rows).unwrap_or_else(|e| panic!("{e}")),
        poses,
        cloth,
        cloth_topology: Topology::new(4, vec![[0, 1, 2], [1, 3, 2]])
            .unwrap_or_else(|e| panic!("{e}")),
    }
}

impl Scene {
    fn glb(&self) -> GlbScene<'_> {
        GlbScene {
            frame_rate: FrameRate::THIRTY,
            body: Some(MovingBody {
                name: "body",
                topology: &self.topology,
                rest: &self.rest,
                skeleton: &self.skeleton,
                joints: self.skeleton.rest(),
                skin: &self.skin,
                frames: &self.poses,
                colour: [0.8, 0.6, 0.5],
            }),
            garments: vec![MovingGarment {
                name: "cloth",
                topology: &self.cloth_topology,
                frames: &self.cloth,
                colour: [0.1, 0.2, 0.3],
            }],
            normals: GarmentNormals::EveryFrame,
            blends: Vec::new(),
        }
    }
}

fn written(scene: &GlbScene<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_glb(scene, &mut bytes).expect("the scene is sound");
    bytes
}

fn read_back(bytes: &[u8]) -> GltfDocument {
    // Reads and validates; fails on missing bounds, bad indices and the like.
    gltf::Gltf::from_slice(bytes).expect("the gltf crate takes it");
    read(bytes).expect("we take it")
}

fn channel<'a>(document: &'a GltfDocument, node: &str, path: &str) -> Option<&'a ChannelValues> {
    let mut channels = document.animations[0].channels.iter();
    let found = channels.find(|c| {
        let kind = match c.values {
            ChannelValues::Translation(_) => "translation",
            ChannelValues::Rotation(_) => "rotation",
            ChannelValues::Scale(_) => "scale",
            ChannelValues::Weights(_) => "weights",
        };
        document.nodes[c.node as usize].name.as_deref() == Some(node) && kind == path
    })?;
    assert_eq!(found.interpolation, Interpolation::Linear);
    let times: Vec<f32> = (0..found.times.len())
        .map(|k| (k as f64 / 30.0) as f32)
        .collect();
    assert_eq!(found.times, times);
    Some(&found.values)
}

#[test]
fn the_body_reads_back_to_the_bit() {
    let scene = scene(3, 4, 5);
    let document = read_back(&written(&scene.glb()));
    let body = &document.meshes[0].primitives[0];
    assert_eq!(body.positions, scene.rest);
    assert_eq!(body.triangles, scene.topology.triangles());
    let set = &body.joint_sets[0];
    assert_eq!(set.weights.as_flattened(), scene.skin.weights());
    assert_eq!(set.joints.as_flattened(), scene.skin.joints());
    let skin = &document.skins[0];
    let names: Vec<_> = skin
        .joints
        .iter()
        .map(|&j| document.nodes[j as usize].name.clone())
        .collect();
    assert_eq!(
        names,
        ["joint 0", "joint 1", "joint 2"].map(|n| Some(n.to_owned()))
    );
    let binds: Vec<Mat4> = scene
        .skeleton
        .rest()
        .iter()
        .map(|&p| Mat4::from_translation(-p))
        .collect();
    assert_eq!(skin.inverse_binds, Some(binds));
    let mut at = Vec3::ZERO;
    for (joint, &node) in skin.joints.iter().enumerate() {
        let NodeTransform::Parts {
            translation,
            rotation,
            scale,
        } = document.nodes[node as usize].transform
        else {
            panic!("joints have parts");
        };
        assert_eq!((rotation, scale), (Quat::IDENTITY, Vec3::ONE));
        at += translation;
        assert!(at.abs_diff_eq(scene.skeleton.rest()[joint], 1e-6));
    }
}

#[test]
fn rotations_run_without_jumps_and_still_joints_have_no_track() {
    let scene = scene(3, 4, 5);
    let document = read_back(&written(&scene.glb()));
    let Some(ChannelValues::Rotation(turns)) = channel(&document, "joint 1", "rotation") else {
        panic!("joint 1 turns");
    };
    for (k, turn) in turns.iter().enumerate() {
        assert!(turn.abs_diff_eq(Quat::from_rotation_x(0.3 * k as f32), 1e-6));
    }
    assert!(channel(&document, "joint 0", "rotation").is_none());
    assert!(channel(&document, "joint 2", "rotation").is_none());
    let roots: Vec<Vec3> = scene.poses.iter().map(|p| p.root).collect();
    let expected = ChannelValues::Translation(roots);
    assert_eq!(
        channel(&document, "joint 0", "translation"),
        Some(&expected)
    );
}

#[test]
fn every_frame_of_a_garment_is_shown_at_its_time() {
    let scene = scene(2, 4, 6);
    let document = read_back(&written(&scene.glb()));
    let mesh = &document.meshes[1];
    let cloth = &mesh.primitives[0];
    assert_eq!(cloth.triangles, scene.cloth_topology.triangles());
    assert_eq!(cloth.targets.len(), 5);
    assert_eq!(mesh.target_names[4], "frame 5");
    let Some(ChannelValues::Weights(weights)) = channel(&document, "cloth", "weights") else {
        panic!("the cloth moves");
    };
    let rows: Vec<&[f32]> = weights.chunks(5).collect();
    assert_eq!(rows.len(), 6);
    let shown = |weights: &[f32], vertex: usize| {
        let moved = cloth
            .targets
            .iter()
            .zip(weights)
            .map(|(t, w)| t[vertex] * *w);
        cloth.positions[vertex] + moved.sum::<Vec3>()
    };
    for (frame, positions) in scene.cloth.iter().enumerate() {
        for (vertex, expected) in positions.iter().enumerate() {
            assert!(shown(rows[frame], vertex).abs_diff_eq(*expected, 1e-6));
        }
    }
    // Half way between two keys a viewer mixes their weights.
    let between: Vec<f32> = rows[2]
        .iter()
        .zip(rows[3])
        .map(|(a, b)| 0.5 * (a + b))
        .collect();
    for vertex in 0..4 {
        let middle = 0.5 * (scene.cloth[2][vertex] + scene.cloth[3][vertex]);
        assert!(shown(&between, vertex).abs_diff_eq(middle, 1e-6));
    }
}

/// Bounds, normals, alignment and materials, as the `gltf` crate sees them.
#[test]
fn another_reader_finds_bounds_normals_and_two_sided_cloth() {
    let scene = scene(2, 4, 3);
    let bytes = written(&scene.glb());
    let file = gltf::Gltf::from_slice(&bytes).expect("it is valid");
    let blob = file.blob.as_deref().expect("there is a binary chunk");
    for view in file.views() {
        assert_eq!(view.offset() % 4, 0);
    }
    let cloth = file.meshes().nth(1).expect("the cloth");
    let primitive = cloth.primitives().next().expect("one primitive");
    assert!(primitive.material().double_sided());
    let colour = primitive
        .material()
        .pbr_metallic_roughness()
        .base_color_factor();
    assert_eq!(colour, [0.1, 0.2, 0.3, 1.0]);
    assert!(!file.materials().next().expect("the body's").double_sided());

    let mut normals = [vec![Vec3::ZERO; 4], vec![Vec3::ZERO; 4]];
    vertex_normals(&scene.cloth_topology, &scene.cloth[0], &mut normals[0]);
    vertex_normals(&scene.cloth_topology, &scene.cloth[2], &mut normals[1]);
    let reader = primitive.reader(|_| Some(blob));
    let first: Vec<Vec3> = reader
        .read_normals()
        .expect("normals")
        .map(Vec3::from)
        .collect();
    assert_eq!(first, normals[0]);
    let targets: Vec<_> = reader.read_morph_targets().collect();
    let change = targets[1].1.clone().expect("normals of the target");
    for ((a, b), change) in normals[0].iter().zip(&normals[1]).zip(change) {
        assert_eq!(Vec3::from(change), *b - *a);
    }
    for (k, target) in primitive.morph_targets().enumerate() {
        let moves = scene.cloth[k + 1]
            .iter()
            .zip(&scene.cloth[0])
            .map(|(a, b)| *a - *b);
        let (low, high) = moves.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), m| {
            (l.min(m), h.max(m))
        });
        let bounds = target.positions().expect("positions");
        let read = |value: Option<gltf::json::Value>| -> Vec<f32> {
            serde_json::from_value(value.expect("bounds are there")).expect("three numbers")
        };
        assert_eq!(read(bounds.min()), low.to_array());
        assert_eq!(read(bounds.max()), high.to_array());
    }
}

#[test]
fn eight_influences_and_many_joints_get_the_room_they_need() {
    let scene = scene(300, 8, 2);
    let document = read_back(&written(&scene.glb()));
    let sets = &document.meshes[0].primitives[0].joint_sets;
    assert_eq!(sets.len(), 2);
    for vertex in 0..8 {
        let row: Vec<(u16, f32)> = sets
            .iter()
            .flat_map(|s| s.joints[vertex].into_iter().zip(s.weights[vertex]))
            .collect();
        let expected: Vec<(u16, f32)> = scene.skin.of(vertex).collect();
        assert_eq!(row, expected);
    }
    // Five influences leave three places empty.
    let scene = self::scene(6, 5, 1);
    let document = read_back(&written(&scene.glb()));
    let second = &document.meshes[0].primitives[0].joint_sets[1];
    assert_eq!(second.weights[0][1..], [0.0; 3]);
    assert_eq!(second.joints[0][1..], [0; 3]);
}

#[test]
fn a_single_frame_and_a_lone_garment_are_scenes_too() {
    let scene = scene(2, 4, 1);
    let mut glb = scene.glb();
    let document = read_back(&written(&glb));
    assert_eq!(document.meshes[1].n_targets, 0);
    assert!(channel(&document, "cloth", "weights").is_none());
    glb.body = None;
    let document = read_back(&written(&glb));
    assert_eq!(document.animations, []);
    assert_eq!(document.meshes[0].primitives[0].positions, scene.cloth[0]);
    assert_eq!(document.skins, []);
}

#[test]
fn the_choice_of_normals_sets_the_size() {
    let scene = scene(2, 4, 11);
    let mut glb = scene.glb();
    let mut size = |normals| {
        glb.normals = normals;
        let bytes = written(&glb);
        read_back(&bytes);
        let file = gltf::Gltf::from_slice(&bytes).expect("it is valid");
        file.blob.map_or(0, |blob| blob.len())
    };
    let [every, first, absent] = [
        GarmentNormals::EveryFrame,
        GarmentNormals::FirstFrame,
        GarmentNormals::Absent,
    ]
    .map(&mut size);
    assert_eq!(first - absent, 4 * 12);
    assert_eq!(every - first, 10 * 4 * 12);
}

#[test]
fn bad_scenes_are_refused_by_name() {
    let sound = scene(3, 4, 3);
    fn refused(glb: &GlbScene<'_>) -> SceneWriteError {
        let mut bytes = Vec::new();
        let error = write_glb(glb, &mut bytes).expect_err("it is wrong");
        assert!(bytes.is_empty(), "nothing is written of a bad scene");
        match error {
            GlbWriteError::Scene(error) => error,
            other => panic!("{other}"),
        }
    }
    let refuse = |change: &dyn Fn(&mut GlbScene<'_>)| {
        let mut glb = sound.glb();
        change(&mut glb);
        refused(&glb)
    };
    fn body<'a>(glb: &mut GlbScene<'a>) -> MovingBody<'a> {
        glb.body.take().expect("there is a body")
    }

    let error = refuse(&|glb| {
        glb.body = None;
        glb.garments.clear();
    });
    assert!(matches!(error, SceneWriteError::Empty));
    let error = refuse(&|glb| glb.garments[0].frames = &[]);
    assert!(matches!(
        error,
        SceneWriteError::Nothing { what: "frames", .. }
    ));
    let error = refuse(&|glb| glb.garments[0].frames = &glb.garments[0].frames[1..]);
    assert!(
        matches!(&error, SceneWriteError::FrameCount { name, found: 2, expected: 3, .. } if name == "cloth")
    );
    let error = refuse(&|glb| {
        let b = body(glb);
        glb.body = Some(MovingBody {
            rest: &b.rest[1..],
            ..b
        });
    });
    assert!(matches!(
        error,
        SceneWriteError::Length {
            found: 7,
            expected: 8,
            ..
        }
    ));
    let error = refuse(&|glb| {
        let b = body(glb);
        glb.body = Some(MovingBody {
            colour: [0.5, f32::NAN, 0.5],
            ..b
        });
    });
    assert!(matches!(error, SceneWriteError::Colour { .. }));

    let mut torn = sound.cloth.clone();
    torn[2][1].y = f32::NAN;
    let mut glb = sound.glb();
    glb.garments[0].frames = &torn;
    let error = refused(&glb);
    assert!(matches!(error, SceneWriteError::NotFinite { frame: 2, .. }));

    let mut short = sound.cloth.clone();
    short[1].pop();
    glb.garments[0].frames = &short;
    let error = refused(&glb);
    assert!(matches!(
        error,
        SceneWriteError::Length {
            frame: 1,
            found: 3,
            expected: 4,
            ..
        }
    ));

    let mut long = sound.poses.clone();
    long[1].rotations[2] = Quat::from_xyzw(0.0, 0.0, 0.0, 2.0);
    let mut glb = sound.glb();
    let b = body(&mut glb);
    glb.body = Some(MovingBody { frames: &long, ..b });
    let error = refused(&glb);
    assert!(matches!(
        error,
        SceneWriteError::Rotation {
            frame: 1,
            joint: 2,
            ..
        }
    ));

    let other = scene(5, 4, 3);
    let mut glb = sound.glb();
    let b = body(&mut glb);
    glb.body = Some(MovingBody {
        skin: &other.skin,
        ..b
    });
    let error = refused(&glb);
    assert!(matches!(
        error,
        SceneWriteError::NoSuchJoint {
            joint: 4,
            n_joints: 3,
            ..
        }
    ));
}
