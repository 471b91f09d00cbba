//! The shared CMU motions on the shared body, against nine reference frames
//! made by another program.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests may panic and print as tests do"
)]

use std::path::{Path, PathBuf};

use drapery_core::{JointId, Skeleton};
use drapery_scene::motion::{
    Axis, BvhOptions, Calibration, JointMap, LengthUnit, Mend, MotionReading, RetargetOptions,
    Retargeted, Rule, bvh_from_clip, change_speed, clean, clip_from_amass, clip_from_bvh,
    find_drift, find_jumps, mend, mirror, retarget,
};
use glam::{Quat, Vec3};
use serde_json::Value;

/// The shared data, or `None` where there is none.
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("DRAPERY_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    if folder.join("motions/retarget.json").exists() {
        Some(folder)
    } else {
        println!("skipped: no shared data");
        None
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn vec3(value: &Value) -> Vec3 {
    let number = |i: usize| value[i].as_f64().unwrap() as f32;
    Vec3::new(number(0), number(1), number(2))
}

fn quat_wxyz(value: &Value) -> Quat {
    let number = |i: usize| value[i].as_f64().unwrap() as f32;
    Quat::from_xyzw(number(1), number(2), number(3), number(0))
}

fn body(data: &Path) -> Skeleton {
    let body = json(&data.join("body/body.json"));
    let list = |key: &str| body[key].as_array().unwrap().clone();
    Skeleton::new(
        (list("joint_names").iter())
            .map(|name| name.as_str().unwrap().to_string())
            .collect(),
        (list("parents").iter())
            .map(|p| u16::try_from(p.as_i64().unwrap()).ok().map(JointId))
            .collect(),
        list("joints").iter().map(vec3).collect(),
    )
    .unwrap()
}

fn load(data: &Path, file: &str) -> MotionReading {
    let bytes = std::fs::read(data.join("motions").join(file)).unwrap();
    let bvh = drapery_store::bvh::read(&bytes).unwrap();
    let reading = clip_from_bvh(&bvh, file, &BvhOptions::default()).unwrap();
    assert_eq!(reading.first_row, 1, "{file}");
    assert_eq!(reading.clip.frames().len() + 1, bvh.n_rows(), "{file}");
    reading
}

fn put_on(body: &Skeleton, reading: &MotionReading, arm_abduction: f64) -> Retargeted {
    let map = JointMap::between(reading.clip.skeleton(), body).unwrap();
    let options = RetargetOptions {
        arm_abduction,
        ..Default::default()
    };
    retarget(&reading.clip, body, &map, &options).unwrap()
}

#[test]
fn the_nine_reference_frames_agree() {
    let Some(data) = data() else { return };
    let body = body(&data);
    let reference = json(&data.join("motions/retarget.json"));
    let frames = reference["reference_frames"].as_array().unwrap();
    assert_eq!(frames.len(), 9);
    let (mut worst_angle, mut worst_distance) = (0.0f32, 0.0f32);
    for frame in frames {
        let file = frame["file"].as_str().unwrap();
        let reading = load(&data, file);
        let abduction = frame["arm_abduction_deg"].as_f64().unwrap().to_radians();
        let found = put_on(&body, &reading, abduction);
        let scale = frame["scale_m_per_unit"].as_f64().unwrap();
        assert!(
            (found.scale * reading.unit_m - scale).abs() < 1e-6,
            "{file}"
        );
        let ground = frame["ground_shift_m"].as_f64().unwrap();
        assert!(
            (found.ground_shift - ground).abs() < 2e-5,
            "{file}: {} {ground}",
            found.ground_shift
        );

        let index = frame["motion_frame"].as_u64().unwrap() as usize;
        let pose = &found.clip.frames()[index];
        let root = vec3(&frame["root_position_m"]);
        worst_distance = worst_distance.max(pose.root.distance(root));
        let (mut r, mut p) = (vec![Quat::IDENTITY; 31], vec![Vec3::ZERO; 31]);
        body.globals(body.rest(), pose, &mut r, &mut p);
        for joint in 0..31 {
            let rotation = quat_wxyz(&frame["local_rotation_wxyz"][joint]).normalize();
            let sine = (rotation.inverse() * pose.rotations[joint]).xyz().length();
            worst_angle = worst_angle.max(2.0 * sine.asin());
            let place = vec3(&frame["joint_position_m"][joint]);
            worst_distance = worst_distance.max(p[joint].distance(place));
        }
    }
    println!(
        "worst: {:.4} degrees, {:.4} mm",
        worst_angle.to_degrees(),
        1e3 * worst_distance
    );
    assert!(worst_angle.to_degrees() < 0.1, "{worst_angle} rad");
    assert!(worst_distance < 1e-3, "{worst_distance} m");
}

/// The map found by names is the one of the table.
#[test]
fn the_joint_table_is_found_by_names() {
    let Some(data) = data() else { return };
    let body = body(&data);
    let source = load(&data, "07_02.bvh").clip.skeleton().clone();
    let map = JointMap::between(&source, &body).unwrap();
    let table = json(&data.join("motions/retarget.json"))["joints"].clone();
    assert_eq!(map.links().len(), 31);
    for (joint, link) in map.links().iter().enumerate() {
        let row = &table[joint];
        assert_eq!(link.target.index(), joint);
        assert_eq!(source.names()[link.source.index()], row["bvh"]);
        let rule = row["rule"].as_str().unwrap();
        match link.rule {
            Rule::Identity => assert_eq!(rule, "identity", "{row}"),
            Rule::Carry => assert_eq!(rule, "carry", "{row}"),
            Rule::Aim { child } => {
                assert_eq!(rule, "aim", "{row}");
                assert_eq!(body.names()[child.index()], row["aim_child"]);
            }
        }
    }
    // The same links from pairs.
    let pairs: Vec<(&str, &str)> = (table.as_array().unwrap().iter())
        .map(|row| (row["bvh"].as_str().unwrap(), row["body"].as_str().unwrap()))
        .collect();
    assert_eq!(JointMap::from_pairs(&source, &body, pairs).unwrap(), map);
}

#[test]
fn every_shared_motion_loads_and_retargets() {
    let Some(data) = data() else { return };
    let body = body(&data);
    let manifest = std::fs::read_to_string(data.join("motions/manifest.csv")).unwrap();
    let mut n_files = 0;
    for line in manifest.lines().skip(1) {
        // The description may hold commas; what is needed stands at the ends.
        let fields: Vec<&str> = line.split(',').collect();
        let file = fields[fields.len() - 2];
        let reading = load(&data, file);
        assert_eq!(reading.unit, LengthUnit::Cmu, "{file}");
        assert!((reading.unit_m - 0.056_444_44).abs() < 1e-8, "{file}");
        assert_eq!(
            (reading.up, reading.facing),
            (Axis::PlusY, Axis::PlusZ),
            "{file}"
        );
        assert_eq!(reading.calibration, Calibration::FirstRow, "{file}");
        assert_eq!(reading.clip.frame_rate().hz(), 30.0, "{file}");
        assert_eq!(reading.notes, [], "{file}");
        let found = put_on(&body, &reading, 0.0);
        assert_eq!(found.clip.frames().len(), reading.clip.frames().len());
        assert_eq!(found.notes, [], "{file}");
        assert!(
            (0.85..1.2).contains(&found.scale),
            "{file}: {}",
            found.scale
        );
        n_files += 1;
    }
    assert_eq!(n_files, 104);
}

#[test]
fn a_walk_on_the_body_is_mirrored_written_and_sampled() {
    let Some(data) = data() else { return };
    let body = body(&data);
    let clip = put_on(&body, &load(&data, "07_02.bvh"), 0.0).clip;

    let mirrored = mirror(&clip).unwrap();
    assert_eq!(mirrored.notes, []);
    assert!(mirror(&mirrored.clip).unwrap().clip == clip);

    let text = drapery_store::bvh::write(&bvh_from_clip(&clip, LengthUnit::Centimetre)).unwrap();
    let file = drapery_store::bvh::read(text.as_bytes()).unwrap();
    let options = BvhOptions {
        calibration: Calibration::Offsets,
        ..Default::default()
    };
    let back = clip_from_bvh(&file, clip.name(), &options).unwrap();
    assert_eq!(back.unit, LengthUnit::Centimetre);
    for (a, b) in clip.frames().iter().zip(back.clip.frames()) {
        assert!(a.root.abs_diff_eq(b.root, 1e-5));
        for (a, b) in a.rotations.iter().zip(&b.rotations) {
            assert!(2.0 * (a.inverse() * *b).xyz().length() < 1e-4);
        }
    }

    // Every second frame left out and sampled again: on real motion, noise
    // and heel strikes included, the curve misses it by less than a straight
    // line between its neighbours does.
    let halved = change_speed(&clip, 2.0).unwrap();
    let doubled = change_speed(&halved, 0.5).unwrap();
    let angle = |a: Quat, b: Quat| 2.0 * (a.inverse() * b).xyz().length().asin();
    let (mut curve, mut line) = (0.0f32, 0.0f32);
    for frame in (1..clip.frames().len() - 1).step_by(2) {
        for joint in 0..body.len() {
            let at = |frame: usize| clip.frames()[frame].rotations[joint];
            curve += angle(at(frame), doubled.frames()[frame].rotations[joint]);
            line += angle(at(frame), at(frame - 1).slerp(at(frame + 1), 0.5));
        }
    }
    println!("curve misses {:.3} of what lines miss", curve / line);
    assert!(curve < 0.95 * line, "{curve} {line}");
}

/// The zero pose of the SMPL family is a T-pose: on the body its arms point
/// sideways, its legs down, and its soles are on the ground.
#[test]
fn an_amass_t_pose_stands_on_the_body() {
    use drapery_store::npz::{NpyArray, NpzArchive, write_npz};

    let Some(data) = data() else { return };
    let body = body(&data);
    let mut poses = vec![0.0; 156];
    poses[0] = std::f64::consts::FRAC_PI_2;
    let bytes = write_npz(&[
        ("poses", &NpyArray::f64([1, 156], poses)),
        ("trans", &NpyArray::f64([1, 3], vec![0.0, 0.0, 5.0])),
        ("mocap_framerate", &NpyArray::f64([], vec![60.0])),
    ])
    .unwrap();
    let archive = NpzArchive::from_bytes(&bytes).unwrap();
    let reading = clip_from_amass(&archive, "t").unwrap();
    let found = put_on(&body, &reading, 0.0);
    assert_eq!(found.notes, []);
    let pose = &found.clip.frames()[0];
    let (mut r, mut p) = (vec![Quat::IDENTITY; 31], vec![Vec3::ZERO; 31]);
    body.globals(body.rest(), pose, &mut r, &mut p);
    let at = |name: &str| p[body.joint(name).unwrap().index()];
    for (from, to, direction) in [
        ("LeftArm", "LeftForeArm", Vec3::X),
        ("LeftForeArm", "LeftHand", Vec3::X),
        ("RightArm", "RightForeArm", Vec3::NEG_X),
        ("LeftUpLeg", "LeftLeg", Vec3::NEG_Y),
        ("RightLeg", "RightFoot", Vec3::NEG_Y),
    ] {
        let bone = (at(to) - at(from)).normalize();
        assert!(bone.abs_diff_eq(direction, 1e-5), "{from}: {bone}");
    }
    let ankle = body.rest()[body.joint("LeftFoot").unwrap().index()].y;
    assert!((at("LeftFoot").y - ankle).abs() < 1e-5);
}

/// 05_20 turns a hip over within a frame, 07_12 starts with a pose from
/// elsewhere, 104_17 turns feet over for six frames; the floor under 07_02
/// rises by 7 cm. 135_07 kicks, and nothing but one skip of its root is mended.
#[test]
fn jumps_are_mended_and_the_floor_is_levelled() {
    let Some(data) = data() else { return };
    let body = body(&data);
    let on_body = |file: &str| put_on(&body, &load(&data, file), 0.0).clip;
    for (file, joint, frame) in [
        ("05_20.bvh", Some("LeftUpLeg"), 169),
        ("07_12.bvh", None, 0),
        ("104_17.bvh", Some("LeftFoot"), 3),
    ] {
        let clip = on_body(file);
        let joint = joint.map(|name| body.joint(name).unwrap());
        let cleaned = clean(&clip, body.rest());
        let is_it = |m: &Mend| m.joint == joint && (m.first..=m.last).contains(&frame);
        assert!(cleaned.mends.iter().any(is_it), "{file}");
        assert_eq!(find_jumps(&cleaned.clip), [], "{file}");
    }
    let kick = mend(&on_body("135_07.bvh")).mends;
    assert!(kick.len() == 1 && kick[0].joint.is_none(), "{kick:?}");
    let drift = find_drift(&on_body("07_02.bvh"), body.rest()).unwrap();
    assert!(drift.standing[1] - drift.standing[0] > 0.07);
    assert!(drift.levelled.iter().all(|y| y.abs() < 0.02), "{drift:?}");
}
