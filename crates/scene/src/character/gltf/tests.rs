//! Characters and clips out of glTF documents made here, against the skinning
//! equation of the glTF specification, and out of the shared body.

use std::path::PathBuf;

use drapery_core::{BodyModel, FrameRate, JointId, PoseVelocity};
use drapery_store::gltf::{
    ChannelValues, GarmentNormals, GlbScene, GltfAnimation, GltfChannel, GltfMesh, GltfNode,
    GltfSkin, Interpolation, JointSet, NodeTransform, read, read_file, write_glb,
};
use drapery_store::moving::{MovingBody, MovingGarment};
use glam::{DMat4, DVec3, EulerRot, Mat4, Quat, Vec3};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Translation, rotation and scale of a node.
type Parts = (Vec3, Quat, f32);

fn node(name: &str, parent: Option<u32>, children: &[u32], parts: Parts) -> GltfNode {
    GltfNode {
        name: Some(name.into()),
        parent,
        children: children.to_vec(),
        transform: NodeTransform::Parts {
            translation: parts.0,
            rotation: parts.1,
            scale: Vec3::splat(parts.2),
        },
        mesh: None,
        skin: None,
    }
}

/// World from node, straight from the definition.
fn global(document: &GltfDocument, node: u32) -> DMat4 {
    let content = &document.nodes[node as usize];
    let local = match &content.transform {
        NodeTransform::Matrix(matrix) => matrix.as_dmat4(),
        NodeTransform::Parts {
            translation,
            rotation,
            scale,
        } => DMat4::from_scale_rotation_translation(
            scale.as_dvec3(),
            rotation.as_dquat(),
            translation.as_dvec3(),
        ),
    };
    content
        .parent
        .map_or(local, |p| global(document, p) * local)
}

/// Σ wⱼ Nⱼ Bⱼ v of the first primitive: what a glTF viewer shows.
fn shown(document: &GltfDocument) -> Vec<DVec3> {
    let skin = &document.skins[0];
    let primitive = &document.meshes[0].primitives[0];
    let set = &primitive.joint_sets[0];
    (0..primitive.positions.len())
        .map(|vertex| {
            let mut sum = DVec3::ZERO;
            for (joint, weight) in set.joints[vertex].iter().zip(set.weights[vertex]) {
                let bind = match &skin.inverse_binds {
                    Some(binds) => binds[usize::from(*joint)].as_dmat4(),
                    None => DMat4::IDENTITY,
                };
                let map = global(document, skin.joints[usize::from(*joint)]) * bind;
                sum += map.transform_point3(primitive.positions[vertex].as_dvec3())
                    * f64::from(weight);
            }
            sum
        })
        .collect()
}

const ARMATURE: u32 = 0;
const HIPS: u32 = 1;
const HELPER: u32 = 2;
const SPINE: u32 = 3;
const BODY: u32 = 4;

/// A rig as exporters write it: an armature that turns z up to y up and
/// centimetres to metres, joints with orientations of their own, a node
/// between them that is no joint, and the child joint first in the skin.
fn exported() -> GltfDocument {
    let upright = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2);
    let mut document = GltfDocument {
        nodes: vec![
            node(
                "armature",
                None,
                &[HIPS],
                (Vec3::new(0.2, 0.0, 0.1), upright, 0.01),
            ),
            node(
                "hips",
                Some(ARMATURE),
                &[HELPER],
                (
                    Vec3::new(0.0, 3.0, 90.0),
                    Quat::from_euler(EulerRot::XYZ, 0.3, -0.8, 1.1),
                    1.0,
                ),
            ),
            node(
                "helper",
                Some(HIPS),
                &[SPINE],
                (Vec3::new(4.0, 20.0, -3.0), Quat::from_rotation_z(0.7), 1.0),
            ),
            node(
                "spine",
                Some(HELPER),
                &[],
                (Vec3::new(1.0, 25.0, 2.0), Quat::from_rotation_y(-2.0), 1.0),
            ),
            node("body", None, &[], (Vec3::splat(50.0), Quat::IDENTITY, 3.0)),
        ],
        roots: vec![ARMATURE, BODY],
        skins: vec![GltfSkin {
            joints: vec![SPINE, HIPS],
            ..GltfSkin::default()
        }],
        ..GltfDocument::default()
    };
    document.nodes[BODY as usize].mesh = Some(0);
    document.nodes[BODY as usize].skin = Some(0);
    document.meshes.push(GltfMesh {
        primitives: vec![GltfPrimitive {
            positions: vec![
                Vec3::new(-20.0, 5.0, 80.0),
                Vec3::new(20.0, 5.0, 80.0),
                Vec3::new(0.0, -10.0, 120.0),
                Vec3::new(0.0, 12.0, 170.0),
            ],
            triangles: vec![[0, 1, 2], [1, 3, 2]],
            joint_sets: vec![JointSet {
                joints: vec![[1, 0, 0, 0]; 4],
                weights: vec![
                    [1.0, 0.0, 0.0, 0.0],
                    [0.9, 0.1, 0.0, 0.0],
                    [0.5, 0.5, 0.0, 0.0],
                    [0.0, 1.0, 0.0, 0.0],
                ],
            }],
            ..GltfPrimitive::default()
        }],
        ..GltfMesh::default()
    });
    bind(&mut document);
    document
}

/// Binds the skin in the present pose, with the mesh in the armature's space.
fn bind(document: &mut GltfDocument) {
    let mesh = global(document, ARMATURE);
    let binds = document.skins[0]
        .joints
        .iter()
        .map(|&joint| (global(document, joint).inverse() * mesh).as_mat4())
        .collect();
    document.skins[0].inverse_binds = Some(binds);
}

fn set_parts(document: &mut GltfDocument, node: u32, parts: (Option<Vec3>, Option<Quat>)) {
    if let NodeTransform::Parts {
        translation,
        rotation,
        ..
    } = &mut document.nodes[node as usize].transform
    {
        *translation = parts.0.unwrap_or(*translation);
        *rotation = parts.1.unwrap_or(*rotation);
    }
}

fn assert_near(ours: &[Vec3], theirs: &[DVec3], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len());
    for (vertex, (a, b)) in ours.iter().zip(theirs).enumerate() {
        let distance = a.as_dvec3().distance(*b);
        assert!(
            distance < tolerance,
            "vertex {vertex}: {a} and {b}, {distance} apart"
        );
    }
}

#[test]
fn the_template_is_what_a_viewer_shows_in_the_bind_pose() {
    let document = exported();
    let reading = read_gltf(&document, "exported").unwrap();
    assert_near(
        reading.character.template().positions(),
        &shown(&document),
        1e-6,
    );
    let skeleton = reading.character.skeleton();
    assert_eq!(skeleton.names(), ["hips", "spine"]);
    assert_eq!(skeleton.parents(), [None, Some(JointId(0))]);
    let spine = global(&document, SPINE).w_axis.truncate();
    assert_near(&skeleton.rest()[1..], &[spine], 1e-6);
    assert_eq!(reading.rig.joint_nodes, [HIPS, SPINE]);
    assert_eq!(reading.notes, []);
}

#[test]
fn a_default_pose_that_is_not_the_bind_pose_is_noted_and_left_alone() {
    let mut document = exported();
    let bound = shown(&document);
    let turned = Quat::from_rotation_y(-2.0) * Quat::from_rotation_x(0.5);
    set_parts(&mut document, SPINE, (None, Some(turned)));
    let reading = read_gltf(&document, "posed").unwrap();
    assert_near(reading.character.template().positions(), &bound, 1e-6);
    let [
        GltfNote::DefaultPose {
            joint,
            angle,
            n_joints,
        },
    ] = reading.notes.as_slice()
    else {
        panic!("{:?}", reading.notes);
    };
    assert_eq!((joint.as_str(), *n_joints), ("spine", 1));
    assert!((angle - 0.5).abs() < 1e-5, "{angle}");
}

fn channel(node: u32, n_keys: usize, values: ChannelValues) -> GltfChannel {
    GltfChannel {
        node,
        interpolation: Interpolation::Linear,
        times: (0..n_keys).map(|k| 1.0 + k as f32 / 30.0).collect(),
        values,
    }
}

fn any_rotation() -> impl Strategy<Value = Quat> {
    proptest::array::uniform4(-1f32..1.0)
        .prop_filter("has length", |q| Quat::from_array(*q).length() > 0.1)
        .prop_map(|q| Quat::from_array(q).normalize())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The clip of any animation of joints, of nodes between and above them,
    /// poses the character as the specification's skinning equation does.
    #[test]
    fn clips_pose_the_body_as_a_viewer_shows_it(
        hips in proptest::collection::vec(any_rotation(), 3),
        places in proptest::collection::vec(proptest::array::uniform3(-50f32..50.0), 3),
        helper in proptest::collection::vec(any_rotation(), 3),
        armature in proptest::collection::vec(any_rotation(), 3),
        spine in proptest::collection::vec(any_rotation(), 3),
    ) {
        // The spine hangs right on the hips, so that the helper's turns move no joint.
        let mut document = exported();
        set_parts(&mut document, SPINE, (Some(Vec3::ZERO), None));
        bind(&mut document);
        let places: Vec<Vec3> = places.into_iter().map(Vec3::from).collect();
        document.animations.push(GltfAnimation {
            name: Some("walk".into()),
            channels: vec![
                channel(HIPS, 3, ChannelValues::Rotation(hips.clone())),
                channel(HIPS, 3, ChannelValues::Translation(places.clone())),
                channel(HELPER, 3, ChannelValues::Rotation(helper.clone())),
                channel(ARMATURE, 3, ChannelValues::Rotation(armature.clone())),
                channel(SPINE, 3, ChannelValues::Rotation(spine.clone())),
            ],
        });
        let reading = read_gltf(&document, "exported").unwrap();
        let character = &reading.character;
        let taken =
            read_gltf_clips(&document, &reading.rig, character.skeleton(), FrameRate::THIRTY)
                .unwrap();
        prop_assert_eq!(&taken.notes, &[]);
        let clip = &taken.clips[0];
        prop_assert_eq!((clip.name(), clip.frames().len()), ("walk", 3));
        let body = character.shaped(&[]).unwrap();
        let mut out = character.room();
        for frame in 0..3 {
            set_parts(&mut document, HIPS, (Some(places[frame]), Some(hips[frame])));
            set_parts(&mut document, HELPER, (None, Some(helper[frame])));
            set_parts(&mut document, ARMATURE, (None, Some(armature[frame])));
            set_parts(&mut document, SPINE, (None, Some(spine[frame])));
            character
                .pose(&body, &clip.frames()[frame], &PoseVelocity::zero(2), &mut out)
                .unwrap();
            assert_near(&out.vertices, &shown(&document), 1e-5);
        }
    }
}

#[test]
fn translations_below_the_hips_are_left_out_and_measured() {
    let mut document = exported();
    let rest = Vec3::new(1.0, 25.0, 2.0);
    let moved = vec![rest, rest + Vec3::new(0.0, 0.0, 3.0), rest];
    document.animations.push(GltfAnimation {
        name: None,
        channels: vec![
            channel(SPINE, 3, ChannelValues::Translation(moved)),
            channel(HIPS, 3, ChannelValues::Scale(vec![Vec3::splat(2.0); 3])),
            // A track that stays at the default is nothing to speak of.
            channel(SPINE, 3, ChannelValues::Scale(vec![Vec3::ONE; 3])),
        ],
    });
    let reading = read_gltf(&document, "exported").unwrap();
    let skeleton = reading.character.skeleton();
    let taken = read_gltf_clips(&document, &reading.rig, skeleton, FrameRate::THIRTY).unwrap();
    assert_eq!(
        taken.notes[0],
        GltfClipNote::LeftOut {
            animation: "animation_0".into(),
            n_translations: 1,
            n_scales: 1
        }
    );
    let GltfClipNote::Distance {
        joint,
        frame: 1,
        distance,
        ..
    } = &taken.notes[1]
    else {
        panic!("{:?}", taken.notes);
    };
    assert_eq!(joint, "spine");
    assert!((distance - 0.03).abs() < 1e-6, "{distance}");
}

#[test]
fn a_root_on_the_floor_lets_the_hips_carry_the_motion() {
    let mut document = exported();
    // The armature becomes a joint that moves no vertex; the hips hang below it.
    document.skins[0].joints.insert(0, ARMATURE);
    bind(&mut document);
    for row in &mut document.meshes[0].primitives[0].joint_sets[0].joints {
        *row = [2, 1, 0, 0];
    }
    let places = vec![Vec3::new(0.0, 3.0, 90.0), Vec3::new(100.0, 3.0, 90.0)];
    document.animations.push(GltfAnimation {
        name: Some("step".into()),
        channels: vec![channel(HIPS, 2, ChannelValues::Translation(places))],
    });
    let reading = read_gltf(&document, "floor").unwrap();
    assert_eq!(reading.rig.anchor, JointId(1));
    let skeleton = reading.character.skeleton();
    assert_eq!(skeleton.names(), ["armature", "hips", "spine"]);
    let taken = read_gltf_clips(&document, &reading.rig, skeleton, FrameRate::THIRTY).unwrap();
    assert_eq!(taken.notes, []);
    let frames = taken.clips[0].frames();
    // A metre in the armature's x, which is the world's.
    assert!((frames[1].root - frames[0].root).abs_diff_eq(Vec3::X, 1e-5));
}

#[test]
fn animations_of_other_things_give_no_clip() {
    let mut document = exported();
    document.animations.push(GltfAnimation {
        name: Some("camera".into()),
        channels: vec![channel(
            BODY,
            1,
            ChannelValues::Rotation(vec![Quat::IDENTITY]),
        )],
    });
    let reading = read_gltf(&document, "exported").unwrap();
    let skeleton = reading.character.skeleton();
    let taken = read_gltf_clips(&document, &reading.rig, skeleton, FrameRate::THIRTY).unwrap();
    assert_eq!(taken.clips, []);
    assert_eq!(
        taken.notes,
        [GltfClipNote::NoJoints {
            animation: "camera".into()
        }]
    );
}

#[test]
fn an_endless_animation_is_refused() {
    let mut document = exported();
    let mut turn = channel(HIPS, 2, ChannelValues::Rotation(vec![Quat::IDENTITY; 2]));
    turn.times[1] = 1e30;
    document.animations.push(GltfAnimation {
        name: Some("long".into()),
        channels: vec![turn],
    });
    let reading = read_gltf(&document, "exported").unwrap();
    let skeleton = reading.character.skeleton();
    let taken = read_gltf_clips(&document, &reading.rig, skeleton, FrameRate::THIRTY);
    assert!(matches!(taken, Err(GltfClipError::TooLong { .. })));
}

#[test]
fn without_bind_matrices_the_default_pose_is_the_rest_pose() {
    let mut document = exported();
    document.skins[0].inverse_binds = None;
    // One joint a vertex, for which no bind matrix means joint space.
    let set = &mut document.meshes[0].primitives[0].joint_sets[0];
    set.weights = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
        .iter()
        .cycle()
        .take(4)
        .copied()
        .collect();
    let expected = shown(&document);
    let reading = read_gltf(&document, "unbound").unwrap();
    assert_near(reading.character.template().positions(), &expected, 1e-5);
    let hips = global(&document, HIPS).w_axis.truncate();
    assert_near(&reading.character.skeleton().rest()[..1], &[hips], 1e-6);
    assert!(reading.notes.contains(&GltfNote::NoInverseBinds));
}

#[test]
fn of_several_roots_the_one_that_carries_most_adopts_the_others() {
    let mut document = exported();
    document.nodes.push(node(
        "ik",
        Some(ARMATURE),
        &[],
        (Vec3::X, Quat::IDENTITY, 1.0),
    ));
    document.nodes[ARMATURE as usize].children.push(5);
    document.skins[0].joints = vec![5, SPINE, HIPS];
    bind(&mut document);
    for row in &mut document.meshes[0].primitives[0].joint_sets[0].joints {
        *row = [2, 1, 0, 0];
    }
    let reading = read_gltf(&document, "roots").unwrap();
    let skeleton = reading.character.skeleton();
    assert_eq!(skeleton.names(), ["hips", "ik", "spine"]);
    assert_eq!(
        skeleton.parents(),
        [None, Some(JointId(0)), Some(JointId(0))]
    );
    assert_eq!(reading.rig.joint_from_skin, [1, 2, 0]);
    assert_eq!(
        reading.notes,
        [GltfNote::ManyRoots {
            n_roots: 2,
            root: "hips".into()
        }]
    );
    assert_near(
        reading.character.template().positions(),
        &shown(&document),
        1e-6,
    );
}

#[test]
fn a_file_without_a_skinned_mesh_has_no_character() {
    let mut document = exported();
    document.nodes[BODY as usize].skin = None;
    assert_eq!(
        read_gltf(&document, "rigid").unwrap_err(),
        GltfCharacterError::NotSkinned { n_meshes: 1 }
    );
    document.meshes[0].primitives.clear();
    assert_eq!(
        read_gltf(&document, "bare").unwrap_err(),
        GltfCharacterError::NoMesh
    );
}

#[test]
fn a_cyclic_skeleton_is_named() {
    let mut document = exported();
    document.nodes[ARMATURE as usize].parent = Some(SPINE);
    assert!(matches!(
        read_gltf(&document, "round"),
        Err(GltfCharacterError::NodeCycle {
            node: ARMATURE | HIPS | HELPER | SPINE
        })
    ));
}

#[test]
fn a_flat_root_and_negative_weights_are_named() {
    let mut document = exported();
    document.nodes[ARMATURE as usize].transform = NodeTransform::Matrix(Mat4::from_scale(Vec3::X));
    assert_eq!(
        read_gltf(&document, "flat").unwrap_err(),
        GltfCharacterError::FlatRoot { node: HIPS }
    );
    let mut document = exported();
    document.meshes[0].primitives[0].joint_sets[0].weights[2][3] = -0.1;
    assert_eq!(
        read_gltf(&document, "negative").unwrap_err(),
        GltfCharacterError::NegativeWeight {
            mesh: 0,
            primitive: 0,
            vertex: 2
        }
    );
}

#[test]
fn the_larger_of_two_skins_is_taken_with_all_its_meshes() {
    let mut document = exported();
    // Eyes on the same skin, a dog on another, a rock on none.
    let mut eyes = document.meshes[0].clone();
    eyes.primitives[0]
        .positions
        .iter_mut()
        .for_each(|p| *p += Vec3::X);
    let mut dog = document.meshes[0].clone();
    dog.primitives[0].positions.truncate(3);
    dog.primitives[0].triangles.truncate(1);
    let rock = dog.clone();
    document.meshes.extend([eyes, dog, rock]);
    document.skins.push(document.skins[0].clone());
    for (mesh, skin) in [(1, Some(0)), (2, Some(1)), (3, None), (0, Some(0))] {
        document.nodes.push(GltfNode {
            mesh: Some(mesh),
            skin,
            ..GltfNode::default()
        });
        document.roots.push(document.nodes.len() as u32 - 1);
    }
    let reading = read_gltf(&document, "zoo").unwrap();
    assert_eq!(reading.character.template().positions().len(), 8);
    assert_eq!(
        reading.notes,
        [
            GltfNote::OtherSkins {
                skin: 0,
                n_skins: 2,
                n_left_out: 3
            },
            GltfNote::RigidMeshes { n_meshes: 1 },
            GltfNote::MergedMeshes { n_meshes: 2 },
        ]
    );
}

#[test]
fn morph_targets_become_shape_parameters_with_joint_displacements() {
    let mut document = exported();
    let mesh = &mut document.meshes[0];
    mesh.n_targets = 2;
    mesh.primitives[0].targets = vec![vec![Vec3::Z * 10.0; 4], vec![Vec3::X; 4]];
    mesh.target_names = vec!["tall".into()];
    mesh.weights = vec![0.0, 0.25];
    mesh.extras = json!({
        "shape_range": {"tall": [-0.5, 2.0]},
        // By the skin's order: spine, hips.
        "joint_shapedirs": [
            [[0.0, 0.0], [0.0, 0.0], [10.0, 0.0]],
            [[0.0, 1.0], [0.0, 0.0], [5.0, 0.0]],
        ],
    });
    let reading = read_gltf(&document, "shapes").unwrap();
    let character = &reading.character;
    let parameters = character.shape_parameters();
    assert_eq!(parameters[0].name, "tall");
    assert_eq!((parameters[0].min, parameters[0].max), (-0.5, 2.0));
    assert_eq!(reading.default_shape, [0.0, 0.25]);
    assert_eq!(reading.notes, [GltfNote::DefaultShape { mesh: 0 }]);
    assert_eq!(parameters[1].name, "shape_1");
    assert_eq!((parameters[1].min, parameters[1].max), (-1.0, 1.0));
    // Ten centimetres along the mesh's z are a decimetre up.
    for direction in &character.shape_directions()[0] {
        assert!(direction.abs_diff_eq(Vec3::Y * 0.1, 1e-7), "{direction}");
    }
    let [hips, spine] = character.joint_directions()[0][..] else {
        panic!("two joints");
    };
    assert!(hips.abs_diff_eq(Vec3::Y * 0.05, 1e-7));
    assert!(spine.abs_diff_eq(Vec3::Y * 0.1, 1e-7));

    let wrong = GltfCharacterError::JointDisplacements {
        mesh: 0,
        n_joints: 2,
        n_targets: 2,
    };
    for bad in [
        json!([[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]),
        json!([[[0.0, 0.0]], [[0.0, 0.0]]]),
        json!([[[0.0], [0.0], [0.0]], [[0.0], [0.0], [0.0]]]),
        json!([[["a", 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]]),
        json!([[[1e300, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]]),
        json!("none"),
    ] {
        document.meshes[0].extras = json!({"joint_shapedirs": bad});
        assert_eq!(read_gltf(&document, "bad").unwrap_err(), wrong);
    }
}

#[test]
fn doubtful_names_heights_weights_and_mirrors_are_noted() {
    let mut document = exported();
    document.nodes[SPINE as usize].name = Some("hips".into());
    document.meshes[0].primitives[0].joint_sets[0].weights[1] = [0.0; 4];
    let reading = read_gltf(&document, "names").unwrap();
    assert_eq!(reading.character.skeleton().names(), ["hips", "hips_2"]);
    assert_eq!(
        reading.notes,
        [
            GltfNote::Unweighted { n_vertices: 1 },
            GltfNote::RenamedJoints { n_joints: 1 }
        ]
    );

    let mut document = exported();
    let volume = |d: &GltfDocument| {
        let reading = read_gltf(d, "mirror").unwrap();
        (
            reading.character.template().vertex_normals()[0],
            reading.notes,
        )
    };
    let (normal, _) = volume(&document);
    document.nodes[ARMATURE as usize].transform = NodeTransform::Matrix(
        Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0)) * global(&document, ARMATURE).as_mat4(),
    );
    let (mirrored, notes) = volume(&document);
    assert!(mirrored.abs_diff_eq(normal * Vec3::new(-1.0, 1.0, 1.0), 1e-5));
    assert_eq!(notes, [GltfNote::Mirrored]);

    let mut document = exported();
    if let NodeTransform::Parts { scale, .. } = &mut document.nodes[ARMATURE as usize].transform {
        *scale = Vec3::ONE;
    }
    let reading = read_gltf(&document, "huge").unwrap();
    let [GltfNote::Height { height }] = reading.notes[..] else {
        panic!("{:?}", reading.notes);
    };
    assert!((height - 90.0).abs() < 1e-3);
}

/// Regression: the ninth joint of a vertex and those after it went silently.
#[test]
fn more_than_eight_joints_of_a_vertex_are_cut_and_noted() {
    let mut document = exported();
    for finger in 0..8 {
        let place = (Vec3::X * finger as f32, Quat::IDENTITY, 1.0);
        let name = format!("finger_{finger}");
        let at = document.nodes.len() as u32;
        document.nodes.push(node(&name, Some(SPINE), &[], place));
        document.nodes[SPINE as usize].children.push(at);
        document.skins[0].joints.push(at);
    }
    bind(&mut document);
    let sets = &mut document.meshes[0].primitives[0].joint_sets;
    let mut second = sets[0].clone();
    let mut third = sets[0].clone();
    for set in [&mut second, &mut third] {
        set.weights.fill([0.0; 4]);
    }
    // Vertex 2 follows ten joints, the last two by 5 % each.
    sets[0].joints[2] = [0, 1, 2, 3];
    sets[0].weights[2] = [0.2, 0.1, 0.1, 0.1];
    second.joints[2] = [4, 5, 6, 7];
    second.weights[2] = [0.1; 4];
    third.joints[2] = [8, 9, 0, 0];
    third.weights[2] = [0.05, 0.05, 0.0, 0.0];
    sets.extend([second, third]);
    let reading = read_gltf(&document, "fingers").unwrap();
    let [
        GltfNote::TrimmedWeights {
            n_vertices: 1,
            largest,
        },
    ] = reading.notes[..]
    else {
        panic!("{:?}", reading.notes);
    };
    assert!((largest - 0.1).abs() < 1e-6, "{largest}");
    assert_eq!(reading.character.skin_weights().of(2).count(), 8);
}

/// A motion without a body, as downloads "without skin" are: an armature in
/// centimetres that stands upright by a turn, three turned nodes, and a
/// camera beside them.
fn motion_only() -> GltfDocument {
    const TIP: u32 = 4;
    let mut document = exported();
    document.skins.clear();
    document.meshes.clear();
    document.nodes[BODY as usize] = node(
        "tip",
        Some(SPINE),
        &[],
        (Vec3::new(3.0, 15.0, 1.0), Quat::from_rotation_z(2.5), 1.0),
    );
    document.nodes[SPINE as usize].children.push(TIP);
    let camera = document.nodes.len() as u32;
    document
        .nodes
        .push(node("camera", None, &[], (Vec3::Z, Quat::IDENTITY, 1.0)));
    document.roots = vec![ARMATURE, camera];
    document.animations.push(GltfAnimation {
        name: None,
        channels: vec![
            channel(
                HIPS,
                3,
                ChannelValues::Rotation(
                    [0.1, 0.7, -0.4]
                        .map(|a| Quat::from_euler(EulerRot::YXZ, a, 2.0 * a, -0.3))
                        .to_vec(),
                ),
            ),
            channel(
                HIPS,
                3,
                ChannelValues::Translation(
                    [0.0, 20.0, 45.0]
                        .map(|x| Vec3::new(x, 3.0 - x, 92.0))
                        .to_vec(),
                ),
            ),
            channel(
                SPINE,
                3,
                ChannelValues::Rotation(
                    [1.1, -0.2, 0.5]
                        .map(|a| Quat::from_euler(EulerRot::ZXY, a, -a, 1.0))
                        .to_vec(),
                ),
            ),
            channel(camera, 3, ChannelValues::Translation(vec![Vec3::X; 3])),
        ],
    });
    document
}

/// Compares every frame with the node tree itself, its animated nodes put
/// where the keys have them, for the joints from `from_joint` on.
fn assert_moves_as_the_nodes(document: &GltfDocument, motion: &GltfMotion, from_joint: usize) {
    let skeleton = &motion.skeleton;
    let n_joints = skeleton.len();
    let frames = motion.clips[0].frames();
    assert_eq!(frames.len(), 3);
    for (frame, pose) in frames.iter().enumerate() {
        let mut still = document.clone();
        for channel in &document.animations[0].channels {
            let parts = match &channel.values {
                ChannelValues::Translation(values) => (Some(values[frame]), None),
                ChannelValues::Rotation(values) => (None, Some(values[frame])),
                _ => (None, None),
            };
            set_parts(&mut still, channel.node, parts);
        }
        let mut rotations = vec![Quat::IDENTITY; n_joints];
        let mut positions = vec![Vec3::ZERO; n_joints];
        skeleton.globals(skeleton.rest(), pose, &mut rotations, &mut positions);
        for (joint, &node) in motion.rig.joint_nodes.iter().enumerate().skip(from_joint) {
            let there = global(&still, node);
            assert_near(&[positions[joint]], &[there.w_axis.truncate()], 1e-5);
            let (_, turned, _) = there.to_scale_rotation_translation();
            let ours = rotations[joint].as_dquat() * motion.rig.rest_rotations[joint];
            assert!(ours.angle_between(turned) < 1e-3, "{frame} {joint}");
        }
    }
}

/// Regression: a file without a skinned mesh was refused as a motion.
#[test]
fn a_motion_without_a_body_moves_its_joints_as_the_nodes_move() {
    let document = motion_only();
    let motion = read_gltf_motion(&document, "walk", FrameRate::THIRTY).unwrap();
    assert_eq!(
        motion.skeleton.names(),
        ["hips", "helper", "spine", "tip"],
        "the armature above is no joint, what lies between is"
    );
    assert_eq!(motion.clips[0].name(), "walk");
    assert_eq!(motion.rig.skin, None);
    let rest: Vec<DVec3> = motion
        .rig
        .joint_nodes
        .iter()
        .map(|&node| global(&document, node).w_axis.truncate())
        .collect();
    assert_near(motion.skeleton.rest(), &rest, 1e-6);
    assert_moves_as_the_nodes(&document, &motion, 0);
    assert_eq!(
        motion.notes,
        [
            GltfNote::OtherNodes { n_nodes: 1 },
            GltfNote::NodesAsJoints { n_joints: 4 },
        ]
    );
}

#[test]
fn an_animated_armature_is_the_root_and_the_hips_still_carry_the_motion() {
    let mut document = motion_only();
    let turns = [0.2, 0.3, 0.5].map(Quat::from_rotation_y).to_vec();
    document.animations[0]
        .channels
        .push(channel(ARMATURE, 3, ChannelValues::Rotation(turns)));
    let motion = read_gltf_motion(&document, "walk", FrameRate::THIRTY).unwrap();
    assert_eq!(motion.skeleton.names()[..2], ["armature", "hips"]);
    assert_eq!(motion.rig.anchor, JointId(1));
    // The armature itself gives way; the rest is as in the file.
    assert_moves_as_the_nodes(&document, &motion, 1);
}

#[test]
fn with_a_skin_the_motion_is_that_of_the_character() {
    let mut document = exported();
    let turns = [0.0, 0.4, 0.9].map(Quat::from_rotation_y).to_vec();
    document.animations.push(GltfAnimation {
        name: Some("turn".into()),
        channels: vec![channel(SPINE, 3, ChannelValues::Rotation(turns))],
    });
    let reading = read_gltf(&document, "body").unwrap();
    let skeleton = reading.character.skeleton().clone();
    let clips = read_gltf_clips(&document, &reading.rig, &skeleton, FrameRate::THIRTY).unwrap();
    let motion = read_gltf_motion(&document, "body", FrameRate::THIRTY).unwrap();
    let expected = GltfMotion {
        skeleton,
        rig: reading.rig,
        clips: clips.clips,
        notes: Vec::new(),
        clip_notes: Vec::new(),
    };
    assert_eq!(motion, expected);
    // The same skin without its mesh, beside one that nothing animates.
    document.meshes.clear();
    document.nodes[BODY as usize].mesh = None;
    document.skins.insert(
        0,
        GltfSkin {
            joints: vec![BODY, HELPER, ARMATURE],
            ..GltfSkin::default()
        },
    );
    let bare = read_gltf_motion(&document, "body", FrameRate::THIRTY).unwrap();
    assert_eq!(bare.rig.skin, Some(1));
    assert_eq!(bare.clips, expected.clips);
    // Bound in another pose than the default, the bind pose is the rest pose.
    set_parts(
        &mut document,
        SPINE,
        (None, Some(Quat::from_rotation_y(-1.0))),
    );
    let turned = read_gltf_motion(&document, "body", FrameRate::THIRTY).unwrap();
    assert_eq!(turned.skeleton, expected.skeleton);
    assert_eq!(turned.clips, expected.clips);
}

#[test]
fn a_file_in_which_nothing_moves_has_no_motion() {
    let mut document = motion_only();
    document.animations.clear();
    assert_eq!(
        read_gltf_motion(&document, "still", FrameRate::THIRTY),
        Err(GltfMotionError::NothingMoves)
    );
    let mut document = motion_only();
    document.nodes[ARMATURE as usize].parent = Some(SPINE);
    assert!(matches!(
        read_gltf_motion(&document, "round", FrameRate::THIRTY),
        Err(GltfMotionError::Joints(
            GltfCharacterError::NodeCycle { .. }
        ))
    ));
}

/// What we write, we read: the same vertices, weights, joints and poses.
#[test]
fn a_written_scene_reads_back_as_the_same_character_and_clip() {
    let mut document = exported();
    let turns = [0.0, 0.4, 0.9].map(Quat::from_rotation_y).to_vec();
    document.animations.push(GltfAnimation {
        name: Some("turn".into()),
        channels: vec![channel(SPINE, 3, ChannelValues::Rotation(turns))],
    });
    let reading = read_gltf(&document, "first").unwrap();
    let character = &reading.character;
    let skeleton = character.skeleton();
    let clips = read_gltf_clips(&document, &reading.rig, skeleton, FrameRate::THIRTY).unwrap();
    let clip = &clips.clips[0];
    let cloth: Vec<Vec<Vec3>> = (0..3)
        .map(|k| vec![Vec3::ZERO, Vec3::X * k as f32, Vec3::Y])
        .collect();
    let topology = drapery_core::Topology::new(3, vec![[0, 1, 2]]).unwrap();
    let mut bytes = Vec::new();
    let scene = GlbScene {
        frame_rate: FrameRate::THIRTY,
        body: Some(MovingBody {
            name: "body",
            topology: character.topology(),
            rest: character.template().positions(),
            skeleton,
            joints: skeleton.rest(),
            skin: character.skin_weights(),
            frames: clip.frames(),
            colour: [0.5; 3],
        }),
        garments: vec![MovingGarment {
            name: "cloth",
            topology: &topology,
            frames: &cloth,
            colour: [0.5; 3],
        }],
        normals: GarmentNormals::Absent,
        blends: Vec::new(),
    };
    write_glb(&scene, &mut bytes).unwrap();
    let written = read(&bytes).unwrap();
    let again = read_gltf(&written, "again").unwrap();
    assert_eq!(again.notes, [GltfNote::RigidMeshes { n_meshes: 1 }]);
    assert_eq!(again.character.template(), character.template());
    assert_eq!(again.character.skin_weights(), character.skin_weights());
    assert_eq!(again.character.skeleton().names(), skeleton.names());
    let taken = read_gltf_clips(
        &written,
        &again.rig,
        again.character.skeleton(),
        FrameRate::THIRTY,
    )
    .unwrap();
    let same = &taken.clips[0];
    assert_eq!(same.frames().len(), 3);
    for (a, b) in same.frames().iter().zip(clip.frames()) {
        assert!(a.root.abs_diff_eq(b.root, 1e-6));
        for (p, q) in a.rotations.iter().zip(&b.rotations) {
            assert!(p.angle_between(*q) < 1e-3, "{p} {q}");
        }
    }
}

fn shared_body() -> Option<PathBuf> {
    let root = std::env::var_os("DRAPERY_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let body = root.join("body");
    if body.is_dir() {
        return Some(body);
    }
    println!("skipped: no shared data");
    None
}

#[test]
fn the_shared_body_is_closed_and_has_its_shape_space() {
    let Some(folder) = shared_body() else { return };
    let document = read_file(&folder.join("body.glb")).unwrap();
    let reading = read_gltf(&document, "body").unwrap();
    let character = &reading.character;
    let template = character.template();
    assert_eq!(template.positions().len(), 13380);
    assert_eq!(template.triangles().len(), 26756);
    assert!(template.topology().is_closed());
    assert_eq!(template.topology().euler_characteristic(), 2);
    assert!((template.signed_volume() - 0.0549).abs() < 1e-4);
    assert_eq!(reading.notes, [GltfNote::Welded { n_copies: 1137 }]);
    // The first vertices are those of the .npz, in its order.
    let welded = character.weld().welded_from_source();
    assert_eq!(welded.len(), 14517);
    assert!(
        welded[..13380]
            .iter()
            .enumerate()
            .all(|(i, &w)| i as u32 == w)
    );
    let source = &document.meshes[0].primitives[0].positions;
    assert_eq!(character.weld().to_source(template.positions()), *source);

    let stated: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("body.json")).unwrap()).unwrap();
    let skeleton = character.skeleton();
    assert_eq!(skeleton.len(), 31);
    for joint in 0..31 {
        assert_eq!(skeleton.names()[joint], stated["joint_names"][joint]);
        let parent = skeleton.parents()[joint].map_or(-1, |p| i64::from(p.0));
        assert_eq!(parent, stated["parents"][joint]);
        for axis in 0..3 {
            let expected = stated["joints"][joint][axis].as_f64().unwrap();
            assert!((f64::from(skeleton.rest()[joint][axis]) - expected).abs() < 1e-5);
        }
    }
    let parameters = character.shape_parameters();
    assert_eq!(parameters.len(), 10);
    for (k, parameter) in parameters.iter().enumerate() {
        assert_eq!(parameter.name, stated["shape_names"][k]);
        let range = &stated["shape_range"][k];
        assert!((f64::from(parameter.min) - range[0].as_f64().unwrap()).abs() < 1e-6);
        assert!((f64::from(parameter.max) - range[1].as_f64().unwrap()).abs() < 1e-6);
    }
    // One unit of height is 10 cm of stature; the hips rise with it.
    let height = &character.joint_directions()[4];
    assert!((0.03..0.08).contains(&height[0].y), "{}", height[0]);
    let taller = character
        .shaped(&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        .unwrap();
    let top = |positions: &[Vec3]| positions.iter().fold(0f32, |h, p| h.max(p.y));
    assert!((top(&taller.rest) - top(template.positions()) - 0.1).abs() < 2e-3);
}
