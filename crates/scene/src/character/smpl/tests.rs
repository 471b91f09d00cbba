use std::path::PathBuf;

use drapery_core::{BodyModel, PoseVelocity, PosedBody};
use drapery_store::npz::{NpyArray, NpyError, write_npz};
use glam::Quat;

use super::directions::regress;
use super::*;

const V: usize = 10;
const J: usize = 4;
const K: usize = 3;

/// `scale · sin(step · i + start)` for every element, as in `smpl_lbs.py`.
fn wave(n: usize, scale: f64, step: f64, start: f64) -> Vec<f64> {
    (0..n)
        .map(|i| scale * (step * i as f64 + start).sin())
        .collect()
}

fn narrow(values: Vec<f64>) -> Vec<f32> {
    values.into_iter().map(|x| x as f32).collect()
}

fn normalised(values: Vec<f64>, width: usize) -> Vec<f64> {
    let rows = values.chunks_exact(width);
    rows.flat_map(|row| {
        let sum: f64 = row.iter().sum();
        row.iter().map(move |x| x / sum)
    })
    .collect()
}

/// The arrays of the small model of `smpl_lbs.py`.
fn small_model() -> Vec<(&'static str, NpyArray)> {
    let absolute = |values: Vec<f64>| values.into_iter().map(f64::abs).collect::<Vec<_>>();
    let cubed = |values: Vec<f64>| values.into_iter().map(|x| x.powi(3)).collect();
    let weights = normalised(absolute(wave(V * J, 1.0, 0.9, 0.4)), J);
    let regressor = normalised(cubed(absolute(wave(J * V, 1.0, 0.6, 1.1))), V);
    let faces: Vec<i64> = (0..V as i64 - 2).flat_map(|i| [i, i + 1, i + 2]).collect();
    vec![
        (
            "v_template",
            NpyArray::f32([V, 3], narrow(wave(V * 3, 0.5, 1.3, 0.2))),
        ),
        ("f", NpyArray::i64([V - 2, 3], faces)),
        ("weights", NpyArray::f32([V, J], narrow(weights))),
        ("J_regressor", NpyArray::f32([J, V], narrow(regressor))),
        (
            "shapedirs",
            NpyArray::f32([V, 3, K], narrow(wave(V * 3 * K, 0.1, 0.37, 0.5))),
        ),
        (
            "posedirs",
            NpyArray::f32([V, 3, 27], narrow(wave(V * 3 * 27, 0.05, 0.21, 0.9))),
        ),
        (
            "kintree_table",
            NpyArray::i64([2, J], vec![-1, 0, 1, 1, 0, 1, 2, 3]),
        ),
    ]
}

fn archive(arrays: &[(&'static str, NpyArray)]) -> Vec<u8> {
    let entries: Vec<(&str, &NpyArray)> = arrays.iter().map(|(n, a)| (*n, a)).collect();
    write_npz(&entries).unwrap()
}

/// The small model with one array replaced, added or (with `None`) left out.
fn changed(name: &'static str, array: Option<NpyArray>) -> Vec<u8> {
    let mut arrays = small_model();
    arrays.retain(|(n, _)| *n != name);
    arrays.extend(array.map(|a| (name, a)));
    archive(&arrays)
}

/// The body of a shape and pose as `smpl_lbs.py` has them.
fn posed(reading: &SmplReading) -> PosedBody {
    let character = &reading.character;
    let n_joints = character.skeleton().len();
    let shape = narrow(wave(character.shape_parameters().len(), 0.8, 1.9, 0.6));
    let body = character.shaped(&shape).unwrap();
    let turns = narrow(wave(n_joints * 3, 0.8, 1.7, 0.3));
    let mut pose = character.skeleton().rest_pose();
    pose.root = body.joints[0] + Vec3::new(0.1, -0.2, 0.3);
    for (rotation, turn) in pose.rotations.iter_mut().zip(turns.as_chunks::<3>().0) {
        *rotation = Quat::from_scaled_axis(Vec3::from(*turn));
    }
    let mut out = character.room();
    character
        .pose(&body, &pose, &PoseVelocity::zero(n_joints), &mut out)
        .unwrap();
    out
}

fn lifted(reading: &SmplReading) -> f32 {
    let up = |note: &SmplNote| match note {
        SmplNote::MovedToFloor { up } => Some(*up),
        _ => None,
    };
    reading.notes.iter().find_map(up).unwrap_or(0.0)
}

/// Printed by `tests/data/smpl_lbs.py`.
const SMALL_MODEL_POSED: [[f32; 3]; V] = [
    [-0.055125, 0.217656, 0.390770],
    [0.004522, -0.676831, 0.609690],
    [0.075059, 0.026390, -0.274848],
    [0.100554, -0.032371, 0.787377],
    [-0.046255, -0.590346, -0.019085],
    [-0.099652, 0.152747, 0.112420],
    [0.223500, -0.248558, 0.830374],
    [-0.181119, -0.440000, -0.321279],
    [0.093958, 0.182800, 0.531207],
    [-0.037774, -0.603874, 0.573209],
];

#[test]
fn shape_pose_and_pose_blend_shapes_agree_with_numpy() {
    let reading = read_smpl(&archive(&small_model()), "small").unwrap();
    let out = posed(&reading);
    let up = Vec3::Y * lifted(&reading);
    for (vertex, (x, expected)) in out.vertices.iter().zip(SMALL_MODEL_POSED).enumerate() {
        let error = (*x - up).distance(Vec3::from(expected));
        assert!(error < 2e-6, "vertex {vertex} is {error} m off");
    }
}

#[test]
fn the_body_stands_on_the_floor_and_the_notes_say_so() {
    let reading = read_smpl(&archive(&small_model()), "small").unwrap();
    let (low, _) = reading.character.template().bounds();
    assert_eq!(low.y, 0.0);
    let lowest = wave(V * 3, 0.5, 1.3, 0.2)
        .into_iter()
        .skip(1)
        .step_by(3)
        .fold(f64::INFINITY, f64::min);
    assert!((f64::from(lifted(&reading)) + lowest).abs() < 1e-6);
    assert_eq!(reading.notes[0], SmplNote::RegressedJoints);
    assert!(reading.notes.contains(&SmplNote::NamedJoints { count: J }));
    assert!(reading.notes.contains(&SmplNote::AssumedRange));
    assert_eq!(reading.character.skeleton().names()[3], "joint_03");
    assert_eq!(reading.character.shape_parameters()[2].name, "shape_02");
}

#[test]
fn other_ways_to_write_the_same_model_read_the_same() {
    let reference = posed(&read_smpl(&archive(&small_model()), "small").unwrap());
    let find = |name: &str| {
        let arrays = small_model();
        arrays.into_iter().find(|(n, _)| *n == name).unwrap().1
    };
    // Pose blend shapes transposed, as PyTorch versions keep them.
    let posedirs = find("posedirs").to_f32().unwrap();
    let mut transposed = Vec::new();
    for feature in 0..27 {
        transposed.extend((0..3 * V).map(|row| posedirs[row * 27 + feature]));
    }
    let wrapped = |root: u64| {
        let table = [root, 0, 1, 1, 0, 1, 2, 3];
        NpyArray::new(vec![2, J], NpyData::U64(table.to_vec()))
    };
    // Own numbers that are not 0, 1, 2, 3.
    let renumbered = NpyArray::i64([2, J], vec![-1, 7, 5, 5, 7, 5, 9, 2]);
    for (name, array) in [
        ("posedirs", NpyArray::f32([27, 3 * V], transposed)),
        ("kintree_table", wrapped(u64::from(u32::MAX))),
        ("kintree_table", wrapped(u64::MAX)),
        ("kintree_table", renumbered),
    ] {
        let reading = read_smpl(&changed(name, Some(array)), "small").unwrap();
        assert_eq!(posed(&reading), reference, "{name}");
    }
    // Compact weights, in another order and with an unused influence.
    let weights = find("weights").to_f32().unwrap();
    let (mut joints, mut compact) = (Vec::new(), Vec::new());
    for row in weights.chunks_exact(J) {
        for joint in [2, 0, 3, 1] {
            joints.push(joint as i64);
            compact.push(row[joint]);
        }
        joints.push(99);
        compact.push(0.0);
    }
    let mut arrays = small_model();
    arrays.retain(|(n, _)| *n != "weights");
    arrays.push(("skin_joints", NpyArray::i64([V, 5], joints)));
    arrays.push(("skin_weights", NpyArray::f32([V, 5], compact)));
    let reading = read_smpl(&archive(&arrays), "small").unwrap();
    assert_eq!(reading.character.skin_weights().n_influences(), 4);
    assert_eq!(posed(&reading), reference);
}

#[test]
fn more_than_four_joints_a_vertex_need_eight_places() {
    let n_joints = 12;
    let star: Vec<i64> = (0..n_joints as i64)
        .map(|j| if j == 0 { -1 } else { 0 })
        .chain(0..n_joints as i64)
        .collect();
    let weights_of = |used: usize| {
        let row = (0..n_joints).map(move |j| if j < used { (used - j) as f32 } else { 0.0 });
        let one = std::iter::repeat_with(move || row.clone())
            .take(V)
            .flatten();
        NpyArray::f32([V, n_joints], one.collect())
    };
    for (used, places) in [(4, 4), (5, 8), (8, 8), (10, 8)] {
        let mut arrays = small_model();
        arrays.retain(|(n, _)| matches!(*n, "v_template" | "f"));
        arrays.push(("kintree_table", NpyArray::i64([2, n_joints], star.clone())));
        arrays.push(("weights", weights_of(used)));
        arrays.push(("J", NpyArray::f32([n_joints, 3], vec![0.0; 3 * n_joints])));
        let reading = read_smpl(&archive(&arrays), "star").unwrap();
        assert_eq!(reading.character.skin_weights().n_influences(), places);
        let trimmed = reading.notes.iter().find_map(|n| match n {
            SmplNote::TrimmedWeights { vertices, largest } => Some((*vertices, *largest)),
            _ => None,
        });
        match used {
            // Weights 10, 9, …, 1 sum to 55; the last two are 3 of it.
            10 => assert!(matches!(trimmed, Some((V, lost)) if (lost - 3.0 / 55.0).abs() < 1e-6)),
            _ => assert_eq!(trimmed, None),
        }
    }
}

#[test]
fn bad_files_name_the_array_and_the_place() {
    let tree = |parents: [i64; 4]| {
        let own = [0, 1, 2, 3];
        Some(NpyArray::i64([2, J], [parents, own].concat()))
    };
    let zeros = |shape: &[usize]| {
        let n = shape.iter().product();
        Some(NpyArray::f32(shape.to_vec(), vec![0.0; n]))
    };
    let error = |name, array: Option<NpyArray>| {
        read_smpl(&changed(name, array), "bad").expect_err("a bad file")
    };
    let mut nan = vec![0.0; V * 3];
    nan[7] = f32::NAN;
    let mut corners: Vec<i64> = (0..6).collect();
    corners[4] = -1;

    for name in ["v_template", "f", "weights", "kintree_table"] {
        assert!(
            matches!(error(name, None), SmplError::Npz(NpzError::Missing { name: n, .. }) if n == name)
        );
    }
    assert!(matches!(
        error("v_template", Some(NpyArray::f32([V, 3], nan))),
        SmplError::Npz(NpzError::Array { name, error: NpyError::NotFinite { index: 7, .. } })
            if name == "v_template"
    ));
    assert!(matches!(
        error("f", Some(NpyArray::i64([2, 3], corners))),
        SmplError::Triangle {
            triangle: 1,
            vertex: -1,
            ..
        }
    ));
    assert!(matches!(
        error("f", Some(NpyArray::i64([1, 3], vec![0, 1, V as i64]))),
        SmplError::Triangle { triangle: 0, .. }
    ));
    // A cycle of two, a child before its parent, a parent that is no joint, two roots.
    assert!(matches!(
        error("kintree_table", tree([-1, 2, 1, 1])),
        SmplError::Skeleton(SkeletonError::Order { joint: 1, .. })
    ));
    assert!(matches!(
        error("kintree_table", tree([-1, 0, 3, 0])),
        SmplError::Skeleton(SkeletonError::Order {
            joint: 2,
            parent: 3,
            ..
        })
    ));
    assert!(matches!(
        error("kintree_table", tree([-1, 0, 1, 44])),
        SmplError::Parent {
            joint: 3,
            parent: 44
        }
    ));
    assert!(matches!(
        error("kintree_table", tree([-1, 0, -1, 1])),
        SmplError::Skeleton(SkeletonError::Root { joint: 2, .. })
    ));
    assert!(matches!(
        error("weights", zeros(&[V, J])),
        SmplError::Skin(SkinWeightsError::BadWeights { vertex: 0, .. })
    ));
    for (name, shape) in [
        ("v_template", [V, 4].as_slice()),
        ("weights", &[V, J + 1]),
        ("J_regressor", &[J, V + 1]),
        ("J", &[J + 1, 3]),
        ("shapedirs", &[V, 3]),
        ("J_shapedirs", &[J, 3, K + 1]),
        ("posedirs", &[V, 3, 26]),
        ("shape_range", &[K, 3]),
    ] {
        assert!(
            matches!(error(name, zeros(shape)), SmplError::Shape { array, .. } if array == name),
            "{name}"
        );
    }
    assert!(matches!(
        error("v_template", zeros(&[0, 3])),
        SmplError::Mesh(MeshError::Empty { .. })
    ));
    assert!(matches!(
        error("kintree_table", Some(NpyArray::i64([2, 0], vec![]))),
        SmplError::Skeleton(SkeletonError::Empty)
    ));
    assert!(matches!(
        error("J_regressor", None),
        SmplError::Npz(NpzError::Missing { .. })
    ));
    assert!(matches!(
        error("joint_names", zeros(&[J])),
        SmplError::NotText {
            array: "joint_names"
        }
    ));
    let backwards = NpyArray::f32([K, 2], vec![0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    assert!(matches!(
        error("shape_range", Some(backwards)),
        SmplError::Range { parameter: 1, .. }
    ));
}

fn shared_body() -> Option<Vec<u8>> {
    let root = std::env::var_os("DRAPERY_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    if !root.is_dir() {
        println!("skipped: no shared data");
        return None;
    }
    Some(std::fs::read(root.join("body/body.npz")).unwrap())
}

/// Every 1000th vertex, printed by `tests/data/smpl_lbs.py body.npz`.
const SHARED_BODY_POSED: [[f32; 3]; 14] = [
    [0.175244, 1.019823, 0.555717],
    [0.062044, 0.984383, 0.586549],
    [-0.029936, 0.791986, -0.109800],
    [-0.027868, 0.826299, -0.106320],
    [0.116125, 0.951755, 0.329535],
    [0.861931, 0.364323, -0.120798],
    [0.839714, 0.380487, -0.092169],
    [0.219369, 1.102356, 0.579739],
    [0.155420, 1.081872, 0.562284],
    [-0.144399, 1.620924, 0.677436],
    [-0.085516, 1.412106, 0.545205],
    [0.091972, 0.645574, 0.247777],
    [0.130776, 1.135288, 0.597110],
    [0.466558, 0.660691, 0.110160],
];

#[test]
fn the_shared_body_is_read_and_poses_as_in_numpy() {
    let Some(bytes) = shared_body() else {
        return;
    };
    let reading = read_smpl(&bytes, "body").unwrap();
    let character = &reading.character;
    assert!(reading.notes.is_empty(), "{:?}", reading.notes);
    assert_eq!(character.template().positions().len(), 13380);
    assert_eq!(character.template().triangles().len(), 26756);
    assert_eq!(character.skeleton().len(), 31);
    assert_eq!(character.skeleton().names()[0], "Hips");
    assert!(character.topology().is_closed());
    assert_eq!(character.topology().euler_characteristic(), 2);
    assert!((character.template().signed_volume() - 0.0549).abs() < 1e-4);
    let names: Vec<&str> = character
        .shape_parameters()
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    let expected = [
        "male",
        "heavy",
        "thin",
        "muscle",
        "height",
        "age",
        "bust",
        "waist",
        "hips",
        "shoulders",
    ];
    assert_eq!(names, expected);
    let height = &character.shape_parameters()[4];
    assert_eq!((height.min, height.max), (-1.5, 2.0));
    let out = posed(&reading);
    for (i, expected) in SHARED_BODY_POSED.into_iter().enumerate() {
        let error = out.vertices[1000 * i].distance(Vec3::from(expected));
        assert!(error < 1e-5, "vertex {} is {error} m off", 1000 * i);
    }
}

/// Two ways to the joints of a shape: their own directions, and the regressor
/// on shaped vertices.
#[test]
fn shaped_joints_are_where_the_regressor_puts_them() {
    let Some(bytes) = shared_body() else {
        return;
    };
    let reading = read_smpl(&bytes, "body").unwrap();
    let archive = NpzArchive::from_bytes(&bytes).unwrap();
    let (_, matrix) = archive.f64("J_regressor").unwrap();
    let character = &reading.character;
    for phase in 0..4 {
        let shape: Vec<f32> = narrow(wave(10, 1.0, 2.3, f64::from(phase)));
        let body = character.shaped(&shape).unwrap();
        for (joint, (a, b)) in body
            .joints
            .iter()
            .zip(regress(&matrix, &body.rest))
            .enumerate()
        {
            assert!(a.distance(b) < 1e-4, "joint {joint}: {} m", a.distance(b));
        }
    }
}
