//! One motion written as BVH in many ways reads as one clip, and clips
//! written as BVH come back.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use drapery_core::{Clip, ClipError, FrameRate, JointId, Pose, Skeleton, SkeletonError};
use drapery_scene::motion::{
    Axis, BvhClipError, BvhOptions, Calibration, JointMap, LengthUnit, MotionNote, MotionReading,
    RetargetOptions, Retargeted, Rule, bvh_from_clip, clip_from_bvh, retarget,
};
use drapery_store::bvh::{self, BvhFile, BvhJoint, Channel};
use glam::{DQuat, DVec3, EulerRot, Quat, Vec3};

/// CMU name, Mixamo name, parent, place in a T-pose [m].
const FIGURE: [(&str, &str, Option<u16>, [f64; 3]); 22] = [
    ("Hips", "mixamorig:Hips", None, [0.0, 0.95, 0.0]),
    (
        "LeftUpLeg",
        "mixamorig:LeftUpLeg",
        Some(0),
        [0.09, 0.9, 0.01],
    ),
    ("LeftLeg", "mixamorig:LeftLeg", Some(1), [0.1, 0.5, 0.02]),
    ("LeftFoot", "mixamorig:LeftFoot", Some(2), [0.1, 0.09, 0.0]),
    (
        "LeftToeBase",
        "mixamorig:LeftToeBase",
        Some(3),
        [0.11, 0.02, 0.13],
    ),
    (
        "RightUpLeg",
        "mixamorig:RightUpLeg",
        Some(0),
        [-0.09, 0.9, 0.01],
    ),
    ("RightLeg", "mixamorig:RightLeg", Some(5), [-0.1, 0.5, 0.02]),
    (
        "RightFoot",
        "mixamorig:RightFoot",
        Some(6),
        [-0.1, 0.09, 0.0],
    ),
    (
        "RightToeBase",
        "mixamorig:RightToeBase",
        Some(7),
        [-0.11, 0.02, 0.13],
    ),
    ("LowerBack", "mixamorig:Spine", Some(0), [0.0, 1.05, -0.01]),
    ("Spine", "mixamorig:Spine1", Some(9), [0.0, 1.17, -0.02]),
    ("Spine1", "mixamorig:Spine2", Some(10), [0.0, 1.3, -0.02]),
    ("Neck", "mixamorig:Neck", Some(11), [0.0, 1.48, 0.0]),
    ("Head", "mixamorig:Head", Some(12), [0.0, 1.58, 0.02]),
    (
        "LeftShoulder",
        "mixamorig:LeftShoulder",
        Some(11),
        [0.04, 1.42, 0.0],
    ),
    (
        "LeftArm",
        "mixamorig:LeftArm",
        Some(14),
        [0.19, 1.42, -0.01],
    ),
    (
        "LeftForeArm",
        "mixamorig:LeftForeArm",
        Some(15),
        [0.47, 1.41, 0.0],
    ),
    (
        "LeftHand",
        "mixamorig:LeftHand",
        Some(16),
        [0.72, 1.42, 0.02],
    ),
    (
        "RightShoulder",
        "mixamorig:RightShoulder",
        Some(11),
        [-0.04, 1.42, 0.0],
    ),
    (
        "RightArm",
        "mixamorig:RightArm",
        Some(18),
        [-0.19, 1.42, -0.01],
    ),
    (
        "RightForeArm",
        "mixamorig:RightForeArm",
        Some(19),
        [-0.47, 1.41, 0.0],
    ),
    (
        "RightHand",
        "mixamorig:RightHand",
        Some(20),
        [-0.72, 1.42, 0.02],
    ),
];

const N: usize = FIGURE.len();

fn skeleton(names: [&str; N], place: impl Fn(usize) -> Vec3) -> Skeleton {
    Skeleton::new(
        names.map(str::to_string).to_vec(),
        FIGURE.map(|j| j.2.map(JointId)).to_vec(),
        (0..N).map(place).collect(),
    )
    .unwrap()
}

fn rest(joint: usize) -> DVec3 {
    DVec3::from_array(FIGURE[joint].3)
}

/// Half a second of a lively walk, rotations relative to the T-pose.
fn walk() -> Clip {
    let frames = (0..15)
        .map(|f| {
            let t = f64::from(f) / 30.0;
            Pose {
                root: DVec3::new(0.4 + 0.05 * (4.0 * t).sin(), 0.93, 1.2 * t).as_vec3(),
                rotations: (0..N)
                    .map(|j| {
                        let j = j as f64;
                        // The arms hang, so that no frame is a T-pose.
                        let hang = match FIGURE[j as usize].0 {
                            "LeftArm" => -1.1,
                            "RightArm" => 1.1,
                            _ => 0.0,
                        };
                        let swing = DVec3::new(
                            0.4 * (5.0 * t + j).sin(),
                            0.2 * (3.0 * t + 2.0 * j).cos(),
                            0.15 * (4.0 * t - j).sin(),
                        );
                        (DQuat::from_rotation_z(hang) * DQuat::from_scaled_axis(swing)).as_quat()
                    })
                    .collect(),
            }
        })
        .collect();
    Clip::new(
        "walk".to_string(),
        skeleton(FIGURE.map(|j| j.0), |j| rest(j).as_vec3()),
        FrameRate::THIRTY,
        frames,
    )
    .unwrap()
}

/// A way to write the walk down.
struct Style {
    names: [&'static str; N],
    unit: LengthUnit,
    /// From the clip's axes to the file's.
    axes: DQuat,
    /// The order of rotation channels, and the same for glam.
    order: ([Channel; 3], EulerRot),
    /// Whether the offsets are another pose and a T-pose row comes first.
    t_pose_row: bool,
}

use Channel::{XRotation as X, YRotation as Y, ZRotation as Z};

fn plain() -> Style {
    Style {
        names: FIGURE.map(|j| j.0),
        unit: LengthUnit::Cmu,
        axes: DQuat::IDENTITY,
        order: ([Z, Y, X], EulerRot::ZYX),
        t_pose_row: true,
    }
}

/// The clip in that style, written to text and read again.
fn write(clip: &Clip, style: &Style) -> BvhFile {
    // How far each joint's axes are turned in the T-pose; none if the offsets
    // are the T-pose themselves.
    let turned = |j: usize| match style.t_pose_row {
        true => DQuat::from_scaled_axis(
            DVec3::new((j as f64).sin(), (2.0 * j as f64).cos(), 0.3) * 0.35,
        ),
        false => DQuat::IDENTITY,
    };
    let file_axes = |q: DQuat| style.axes * q * style.axes.inverse();
    let length = |v: DVec3| style.axes * v / style.unit.metres();
    let parent = |j: usize| FIGURE[j].2.map(usize::from);
    let joints: Vec<BvhJoint> = (0..N)
        .map(|j| {
            let offset = match parent(j) {
                Some(p) => turned(p).inverse() * (rest(j) - rest(p)),
                None => DVec3::ZERO,
            };
            let mut channels = style.order.0.to_vec();
            if j == 0 {
                channels.extend([Channel::XPosition, Channel::YPosition, Channel::ZPosition]);
            }
            let is_leaf = (0..N).all(|k| parent(k) != Some(j));
            let tip = if FIGURE[j].0 == "Head" { 0.17 } else { 0.01 };
            BvhJoint {
                name: style.names[j].to_string(),
                parent: parent(j).map(|p| p as u32),
                offset: length(offset),
                channels,
                end_site: is_leaf.then(|| length(turned(j).inverse() * DVec3::Y * tip)),
            }
        })
        .collect();
    let t_pose = style.t_pose_row.then(|| clip.skeleton().rest_pose());
    let mut values = Vec::new();
    for pose in t_pose.iter().chain(clip.frames()) {
        let mut global = [DQuat::IDENTITY; N];
        for j in 0..N {
            let local = pose.rotations[j].as_dquat().normalize();
            let above = parent(j).map_or(DQuat::IDENTITY, |p| global[p]);
            global[j] = above * local;
            let above_file = parent(j).map_or(DQuat::IDENTITY, |p| global[p] * turned(p));
            let in_file = file_axes(above_file.inverse() * global[j] * turned(j));
            let (a, b, c) = in_file.to_euler(style.order.1);
            values.extend([a, b, c].map(f64::to_degrees));
            if j == 0 {
                values.extend(length(pose.root.as_dvec3()).to_array());
            }
        }
    }
    let file = BvhFile {
        joints,
        frame_time: 0.0333333,
        values,
    };
    bvh::read(bvh::write(&file).unwrap().as_bytes()).unwrap()
}

fn read(file: &BvhFile) -> MotionReading {
    clip_from_bvh(file, "walk", &BvhOptions::default()).unwrap()
}

/// A body with other proportions in an A-pose, named as in CMU.
fn a_pose_body() -> Skeleton {
    skeleton(FIGURE.map(|j| j.0), |j| {
        let side = rest(j).x.signum();
        let mut at = 0.9 * rest(j);
        if FIGURE[j].0.ends_with("Arm") || FIGURE[j].0.ends_with("Hand") {
            let shoulder = 0.9 * rest(15) * DVec3::new(side, 1.0, 1.0);
            at = shoulder + DQuat::from_rotation_z(-0.8 * side) * (at - shoulder);
        }
        at.as_vec3()
    })
}

fn put_on(target: &Skeleton, reading: &MotionReading) -> Retargeted {
    let map = JointMap::between(reading.clip.skeleton(), target).unwrap();
    retarget(&reading.clip, target, &map, &RetargetOptions::default()).unwrap()
}

fn largest_difference(a: &Clip, b: &Clip) -> (f32, f32) {
    assert_eq!(a.frames().len(), b.frames().len());
    let mut worst = (0.0f32, 0.0f32);
    for (a, b) in a.frames().iter().zip(b.frames()) {
        worst.0 = worst.0.max(a.root.distance(b.root));
        for (a, b) in a.rotations.iter().zip(&b.rotations) {
            worst.1 = worst.1.max(2.0 * (a.inverse() * *b).xyz().length());
        }
    }
    worst
}

#[test]
fn one_motion_in_many_styles_is_one_clip() {
    let clip = walk();
    let z_up = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let sideways = Axis::standard_from(Axis::MinusX, Axis::PlusY)
        .unwrap()
        .inverse();
    let styles = [
        (plain(), Axis::PlusY, Axis::PlusZ),
        (
            Style {
                names: FIGURE.map(|j| j.1),
                unit: LengthUnit::Centimetre,
                order: ([Y, X, Z], EulerRot::YXZ),
                ..plain()
            },
            Axis::PlusY,
            Axis::PlusZ,
        ),
        (
            Style {
                unit: LengthUnit::Metre,
                axes: z_up,
                order: ([Z, X, Y], EulerRot::ZXY),
                ..plain()
            },
            Axis::PlusZ,
            Axis::MinusY,
        ),
        (
            Style {
                unit: LengthUnit::Inch,
                axes: sideways,
                order: ([X, Y, Z], EulerRot::XYZ),
                t_pose_row: false,
                ..plain()
            },
            Axis::MinusX,
            Axis::PlusY,
        ),
        (
            Style {
                names: FIGURE.map(|j| j.1),
                unit: LengthUnit::Millimetre,
                t_pose_row: false,
                ..plain()
            },
            Axis::PlusY,
            Axis::PlusZ,
        ),
    ];
    let body = a_pose_body();
    let expected = put_on(&body, &read(&write(&clip, &plain())));
    assert!((expected.scale - 0.9).abs() < 1e-6);
    for (i, (style, up, facing)) in styles.iter().enumerate() {
        let reading = read(&write(&clip, style));
        assert_eq!(reading.unit, style.unit, "style {i}");
        assert_eq!((reading.up, reading.facing), (*up, *facing), "style {i}");
        assert_eq!(
            reading.first_row,
            usize::from(style.t_pose_row),
            "style {i}"
        );
        assert_eq!(reading.clip.frame_rate().hz(), 30.0);
        let (root, angle) = largest_difference(&reading.clip, &clip);
        assert!(
            root < 1e-5 && angle < 1e-5,
            "style {i}: {root} m, {angle} rad"
        );
        // The rest pose stands where the clip's own does, up to its tips.
        let (found, given) = (reading.clip.skeleton().rest(), clip.skeleton().rest());
        let shift = found[0] - given[0];
        assert!(shift.length() < 0.03, "style {i}: {shift}");
        for (a, b) in found.iter().zip(given) {
            assert!(a.distance(*b + shift) < 1e-5, "style {i}");
        }
        let retargeted = put_on(&body, &reading);
        let (root, angle) = largest_difference(&retargeted.clip, &expected.clip);
        assert!(
            root < 1e-4 && angle < 1e-4,
            "style {i}: {root} m, {angle} rad"
        );
    }
}

/// A skeleton with MakeHuman's names, its five spine joints and its second
/// bones in arms and legs.
fn make_human() -> Skeleton {
    let mut names: Vec<String> = Vec::new();
    let mut parents = Vec::new();
    let mut places = Vec::new();
    let mut add = |name: &str, parent: &str, at: [f32; 3]| {
        parents.push(
            names
                .iter()
                .position(|n| n == parent)
                .map(|p| JointId(p as u16)),
        );
        names.push(name.to_string());
        places.push(Vec3::from_array(at));
    };
    add("root", "", [0.0, 0.95, 0.0]);
    for (i, name) in ["spine05", "spine04", "spine03", "spine02", "spine01"]
        .iter()
        .enumerate()
    {
        let above = ["root", "spine05", "spine04", "spine03", "spine02"][i];
        add(name, above, [0.0, 1.0 + 0.09 * i as f32, -0.02]);
    }
    add("neck01", "spine01", [0.0, 1.45, 0.0]);
    add("head", "neck01", [0.0, 1.55, 0.0]);
    for (s, x) in [("L", 1.0), ("R", -1.0)] {
        let mut side = |name: &str, parent: &str, at: [f32; 3]| {
            let above = match parent {
                "root" | "spine01" => parent.to_string(),
                _ => format!("{parent}.{s}"),
            };
            add(&format!("{name}.{s}"), &above, [x * at[0], at[1], at[2]]);
        };
        side("pelvis", "root", [0.05, 0.93, 0.0]);
        side("upperleg01", "pelvis", [0.1, 0.9, 0.0]);
        side("upperleg02", "upperleg01", [0.12, 0.7, 0.02]);
        side("lowerleg01", "upperleg02", [0.14, 0.5, 0.03]);
        side("lowerleg02", "lowerleg01", [0.15, 0.3, 0.02]);
        side("foot", "lowerleg02", [0.17, 0.08, 0.0]);
        side("toe1-1", "foot", [0.18, 0.02, 0.14]);
        side("clavicle", "spine01", [0.02, 1.4, 0.0]);
        side("shoulder01", "clavicle", [0.1, 1.4, 0.0]);
        side("upperarm01", "shoulder01", [0.17, 1.38, 0.0]);
        side("upperarm02", "upperarm01", [0.25, 1.28, 0.0]);
        side("lowerarm01", "upperarm02", [0.34, 1.19, 0.0]);
        side("lowerarm02", "lowerarm01", [0.4, 1.1, 0.06]);
        side("wrist", "lowerarm02", [0.47, 1.02, 0.14]);
    }
    Skeleton::new(names, parents, places).unwrap()
}

fn places(clip: &Clip, frame: usize) -> Vec<Vec3> {
    let n = clip.skeleton().len();
    let (mut r, mut p) = (vec![Quat::IDENTITY; n], vec![Vec3::ZERO; n]);
    let skeleton = clip.skeleton();
    skeleton.globals(skeleton.rest(), &clip.frames()[frame], &mut r, &mut p);
    p
}

#[test]
fn limbs_point_as_in_the_source_and_second_bones_are_carried() {
    let target = make_human();
    let reading = read(&write(&walk(), &plain()));
    let found = put_on(&target, &reading);
    assert_eq!(found.notes, []);
    let joint = |skeleton: &Skeleton, name: &str| skeleton.joint(name).unwrap().index();
    let source = reading.clip.skeleton();
    for frame in 0..15 {
        let (p, q) = (places(&reading.clip, frame), places(&found.clip, frame));
        for (long, s) in [("Left", "L"), ("Right", "R")] {
            for (from, to, from_target, to_target) in [
                ("UpLeg", "Leg", "upperleg01", "lowerleg01"),
                ("Leg", "Foot", "lowerleg01", "foot"),
                ("Arm", "ForeArm", "upperarm01", "lowerarm01"),
                ("ForeArm", "Hand", "lowerarm01", "wrist"),
            ] {
                let a = p[joint(source, &format!("{long}{to}"))]
                    - p[joint(source, &format!("{long}{from}"))];
                let b = q[joint(&target, &format!("{to_target}.{s}"))]
                    - q[joint(&target, &format!("{from_target}.{s}"))];
                let angle = a.normalize().cross(b.normalize()).length();
                assert!(angle < 1e-5 && a.dot(b) > 0.0, "{long}{from}: {angle}");
            }
            for carried in ["upperarm02", "lowerarm02", "upperleg02", "shoulder01"] {
                let joint = joint(&target, &format!("{carried}.{s}"));
                assert!(found.clip.frames()[frame].rotations[joint].w > 1.0 - 1e-6);
            }
        }
    }
    // Feet touch the ground and do not hover over it.
    assert!(found.ground_shift.abs() < 0.2);
}

#[test]
fn options_scale_shift_and_turn_as_they_say() {
    let reading = read(&write(&walk(), &plain()));
    let body = a_pose_body();
    let map = JointMap::between(reading.clip.skeleton(), &body).unwrap();
    let with = |options| retarget(&reading.clip, &body, &map, &options).unwrap();
    let hips = |clip: &Clip, frame| {
        let p = places(clip, frame);
        0.5 * (p[1] + p[5])
    };
    let free = with(RetargetOptions {
        ground: false,
        ..Default::default()
    });
    assert_eq!(free.ground_shift, 0.0);
    let kept = with(RetargetOptions {
        ground: false,
        keep_scale: true,
        ..Default::default()
    });
    assert_eq!(kept.scale, 1.0);
    for frame in 0..15 {
        let source = hips(&reading.clip, frame);
        assert!(hips(&free.clip, frame).abs_diff_eq(0.9 * source, 1e-5));
        assert!(hips(&kept.clip, frame).abs_diff_eq(source, 1e-5));
    }
    // Arms turned outwards by 10°: seen from the chest, the upper arm's
    // direction turns by that about the chest's forward axis.
    let turned = with(RetargetOptions {
        ground: false,
        arm_abduction: 10f64.to_radians(),
        ..Default::default()
    });
    let (a, b) = (places(&free.clip, 7), places(&turned.clip, 7));
    let mut r = vec![Quat::IDENTITY; N];
    body.globals(
        body.rest(),
        &free.clip.frames()[7],
        &mut r,
        &mut vec![Vec3::ZERO; N],
    );
    for (shoulder, hand, sign) in [(15, 17, 1.0), (19, 21, -1.0)] {
        let chest = r[11];
        let expected = chest
            * Quat::from_rotation_z(sign * 10f32.to_radians())
            * chest.inverse()
            * (a[hand] - a[shoulder]);
        assert!((b[hand] - b[shoulder]).abs_diff_eq(expected, 1e-5));
        assert!(a[shoulder].abs_diff_eq(b[shoulder], 1e-6));
    }
    // A body whose joints are given apart is scaled by them.
    let taller = with(RetargetOptions {
        target_rest: Some(body.rest().iter().map(|p| *p * 1.5).collect()),
        ..Default::default()
    });
    assert!((taller.scale - 1.35).abs() < 1e-6);
}

#[test]
fn a_retargeted_clip_put_back_is_the_first_clip() {
    let reading = read(&write(&walk(), &plain()));
    let body = a_pose_body();
    let there = put_on(&body, &reading);
    let map = JointMap::between(&body, reading.clip.skeleton()).unwrap();
    let options = RetargetOptions {
        ground: false,
        ..Default::default()
    };
    let back = retarget(&there.clip, reading.clip.skeleton(), &map, &options).unwrap();
    let (_, angle) = largest_difference(&back.clip, &reading.clip);
    assert!(angle < 1e-4, "{angle}");
}

#[test]
fn a_clip_written_as_bvh_comes_back() {
    let clip = walk();
    for unit in [LengthUnit::Metre, LengthUnit::Centimetre] {
        let text = bvh::write(&bvh_from_clip(&clip, unit)).unwrap();
        let file = bvh::read(text.as_bytes()).unwrap();
        let options = BvhOptions {
            calibration: Calibration::Offsets,
            unit: Some(unit),
            ..Default::default()
        };
        let back = clip_from_bvh(&file, "walk", &options).unwrap();
        assert_eq!(back.clip.frame_rate(), clip.frame_rate());
        assert_eq!(back.clip.skeleton().names(), clip.skeleton().names());
        for (a, b) in back
            .clip
            .skeleton()
            .rest()
            .iter()
            .zip(clip.skeleton().rest())
        {
            assert!(a.distance(*b) < 1e-6);
        }
        let (root, angle) = largest_difference(&back.clip, &clip);
        assert!(root < 1e-6 && angle < 1e-6, "{root} m, {angle} rad");
        // Detection finds the same without being told.
        assert_eq!(read(&file).clip, back.clip);
    }
}

/// BVH knows only depth-first order; a breadth-first skeleton comes back by name.
#[test]
fn joints_in_another_order_keep_their_motion() {
    let breadth = Skeleton::new(
        ["a", "b", "c", "b2", "c2"].map(str::to_string).to_vec(),
        [None, Some(0), Some(0), Some(1), Some(2)]
            .map(|p: Option<u16>| p.map(JointId))
            .to_vec(),
        [
            [0.0, 1.0, 0.0],
            [0.5, 1.0, 0.0],
            [-0.5, 1.0, 0.0],
            [0.9, 0.9, 0.0],
            [-0.9, 0.1, 0.2],
        ]
        .map(Vec3::from_array)
        .to_vec(),
    )
    .unwrap();
    let pose = Pose {
        root: Vec3::new(1.0, 2.0, 3.0),
        rotations: (0..5)
            .map(|j| Quat::from_rotation_x(0.3 * j as f32))
            .collect(),
    };
    let clip = Clip::new("c".to_string(), breadth, FrameRate::THIRTY, vec![pose]).unwrap();
    let file = bvh_from_clip(&clip, LengthUnit::Metre);
    bvh::write(&file).unwrap();
    let options = BvhOptions {
        unit: Some(LengthUnit::Metre),
        ..Default::default()
    };
    let back = clip_from_bvh(&file, "c", &options).unwrap().clip;
    assert_eq!(back.skeleton().names(), ["a", "b", "b2", "c", "c2"]);
    for (j, name) in clip.skeleton().names().iter().enumerate() {
        let there = back.skeleton().joint(name).unwrap().index();
        let (a, b) = (
            clip.frames()[0].rotations[j],
            back.frames()[0].rotations[there],
        );
        assert!(a.abs_diff_eq(b, 1e-6), "{name}");
    }
}

#[test]
fn twins_are_renamed_and_said() {
    let mut file = write(&walk(), &plain());
    file.joints[4].name = "LeftFoot".to_string();
    let reading = read(&file);
    assert!(reading.notes.contains(&MotionNote::RenamedJoint {
        from: "LeftFoot".to_string(),
        to: "LeftFoot.2".to_string(),
    }));
    assert_eq!(reading.clip.skeleton().names()[4], "LeftFoot.2");
}

#[test]
fn a_root_that_only_carries_the_hips_is_folded_into_them() {
    let mut file = write(&walk(), &plain());
    for joint in &mut file.joints {
        joint.parent = Some(joint.parent.map_or(0, |p| p + 1));
    }
    file.joints.insert(
        0,
        BvhJoint {
            name: "Reference".to_string(),
            parent: None,
            offset: DVec3::ZERO,
            channels: Vec::new(),
            end_site: None,
        },
    );
    let reading = read(&file);
    let (root, angle) = largest_difference(&reading.clip, &walk());
    assert!(root < 1e-5 && angle < 1e-5, "{root} m, {angle} rad");
    assert_eq!(reading.clip.skeleton().names()[0], "Hips");
    assert!(reading.notes.contains(&MotionNote::RootFolded {
        joint: "Reference".to_string()
    }));
}

#[test]
fn positions_below_the_root_are_said_when_they_change() {
    let mut file = write(&walk(), &plain());
    // Position channels on the left hand, in front of its rotations.
    let at: usize = file.joints[..17].iter().map(|j| j.channels.len()).sum();
    let stride = file.n_channels();
    let offset = file.joints[17].offset;
    let mut rows: Vec<Vec<f64>> = file.values.chunks(stride).map(<[f64]>::to_vec).collect();
    for (i, row) in rows.iter_mut().enumerate() {
        row.splice(at..at, [offset.x + 0.1 * i as f64, offset.y, offset.z]);
    }
    file.values = rows.concat();
    file.joints[17].channels.splice(
        0..0,
        [Channel::XPosition, Channel::YPosition, Channel::ZPosition],
    );
    let reading = read(&file);
    let range = 1.5 * LengthUnit::Cmu.metres();
    assert!(matches!(
        &reading.notes[..],
        [MotionNote::PositionsIgnored { joint, range: r }]
            if joint == "LeftHand" && (r - range).abs() < 1e-9
    ));
    let (root, angle) = largest_difference(&reading.clip, &walk());
    assert!(root < 1e-5 && angle < 1e-5);
}

/// Offsets with +Y up, motion in a world with +Z up, as some programs export.
#[test]
fn a_motion_with_another_up_than_its_rest_pose_stands_up() {
    let clip = walk();
    let lying = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2).as_quat();
    let frames = (clip.frames().iter())
        .map(|pose| {
            let mut pose = pose.clone();
            pose.root = lying * pose.root;
            pose.rotations[0] = lying * pose.rotations[0];
            pose
        })
        .collect();
    let z_up = Clip::new(
        "walk".to_string(),
        clip.skeleton().clone(),
        clip.frame_rate(),
        frames,
    )
    .unwrap();
    let style = Style {
        t_pose_row: false,
        unit: LengthUnit::Centimetre,
        ..plain()
    };
    let file = write(&z_up, &style);
    let reading = read(&file);
    assert_eq!(reading.up, Axis::PlusZ);
    assert!(reading.notes.contains(&MotionNote::MotionUpDiffers {
        rest: Axis::PlusY,
        motion: Axis::PlusZ
    }));
    let (root, angle) = largest_difference(&reading.clip, &clip);
    assert!(root < 1e-5 && angle < 1e-5, "{root} m, {angle} rad");
    // Forced, it is left alone.
    let options = BvhOptions {
        up: Some(Axis::PlusY),
        ..Default::default()
    };
    let left = clip_from_bvh(&file, "walk", &options).unwrap();
    assert!(largest_difference(&left.clip, &z_up).0 < 1e-5);
}

#[test]
fn calibration_can_be_forced_and_a_captured_t_pose_is_kept() {
    let clip = walk();
    // A clip that begins in a T-pose and leaves it slowly.
    let mut frames = vec![clip.skeleton().rest_pose(); 3];
    frames[1].rotations[15] = Quat::from_rotation_z(-0.05);
    frames[2].rotations[15] = Quat::from_rotation_z(-0.1);
    let slow = Clip::new(
        "slow".to_string(),
        clip.skeleton().clone(),
        clip.frame_rate(),
        frames,
    )
    .unwrap();
    let style = Style {
        t_pose_row: false,
        ..plain()
    };
    let file = write(&slow, &style);
    let found = read(&file);
    assert_eq!(
        (found.calibration, found.first_row),
        (Calibration::FirstRow, 0)
    );
    assert_eq!(found.clip.frames().len(), 3);
    let with = |calibration| {
        let options = BvhOptions {
            calibration,
            ..Default::default()
        };
        clip_from_bvh(&file, "slow", &options).unwrap()
    };
    let forced = with(Calibration::FirstRow);
    assert_eq!((forced.first_row, forced.clip.frames().len()), (1, 2));
    let offsets = with(Calibration::Offsets);
    assert_eq!(offsets.calibration, Calibration::Offsets);
    // Here both rest poses are the same.
    assert!(largest_difference(&offsets.clip, &found.clip).1 < 1e-5);
    // A walk without a T-pose row is read by its offsets.
    assert_eq!(
        read(&write(&clip, &style)).calibration,
        Calibration::Offsets
    );
}

#[test]
fn files_without_frames_or_with_senseless_ones_are_refused() {
    let mut file = write(&walk(), &plain());
    let good = file.clone();
    file.values.clear();
    let read = |file: &BvhFile| clip_from_bvh(file, "x", &BvhOptions::default());
    assert_eq!(read(&file), Err(BvhClipError::NoRows));
    file = good.clone();
    file.frame_time = 1e-9;
    assert!(matches!(read(&file), Err(BvhClipError::FrameRate(_))));
    let metres = BvhOptions {
        unit: Some(LengthUnit::Metre),
        ..Default::default()
    };
    file = good.clone();
    file.joints[1].offset.x = 1e9;
    assert!(matches!(
        clip_from_bvh(&file, "x", &metres),
        Err(BvhClipError::Skeleton(SkeletonError::NotFinite { .. }))
    ));
    file = good;
    let stride = file.n_channels();
    file.values[2 * stride + 3] = 1e9;
    assert!(matches!(
        clip_from_bvh(&file, "x", &metres),
        Err(BvhClipError::Clip(ClipError::NotFinite { frame: 1 }))
    ));
}

#[test]
fn pairs_name_joints_that_are_there() {
    use drapery_scene::motion::JointMapError;
    let target = a_pose_body();
    let source = read(&write(&walk(), &plain())).clip.skeleton().clone();
    let map = |pairs: &[(&'static str, &'static str)]| {
        JointMap::from_pairs(&source, &target, pairs.iter().copied())
    };
    assert_eq!(
        map(&[("Nose", "Head")]),
        Err(JointMapError::NoSourceJoint("Nose".to_string()))
    );
    assert_eq!(
        map(&[("Head", "Nose")]),
        Err(JointMapError::NoTargetJoint("Nose".to_string()))
    );
    assert_eq!(
        map(&[("Head", "Head"), ("Neck", "Head")]),
        Err(JointMapError::Twice("Head".to_string()))
    );
    let arm = map(&[("LeftArm", "LeftArm"), ("LeftForeArm", "LeftForeArm")]).unwrap();
    assert_eq!(
        arm.links()[0].rule,
        Rule::Aim {
            child: target.joint("LeftForeArm").unwrap()
        }
    );
    assert_eq!(arm.links()[1].rule, Rule::Carry);
}

/// Nothing is known of a chain of joints but what the caller says.
#[test]
fn a_chain_with_strange_names_is_read_as_told() {
    let joint = |name: &str, parent, offset| BvhJoint {
        name: name.to_string(),
        parent,
        offset,
        channels: vec![X],
        end_site: None,
    };
    let file = BvhFile {
        joints: vec![
            joint("u", None, DVec3::ZERO),
            joint("v", Some(0), DVec3::Z),
            joint("w", Some(1), DVec3::Z),
        ],
        frame_time: 0.1,
        values: vec![0.0, 0.0, 0.0, 0.0, 90.0, 0.0],
    };
    let assumed = read(&file);
    assert_eq!(assumed.up, Axis::PlusY);
    assert!(assumed.notes.contains(&MotionNote::UpAssumed));
    assert!(assumed.notes.contains(&MotionNote::NamesUnknown));
    let options = BvhOptions {
        up: Some(Axis::PlusZ),
        unit: Some(LengthUnit::Metre),
        ..Default::default()
    };
    let told = clip_from_bvh(&file, "x", &options).unwrap();
    assert_eq!(told.up, Axis::PlusZ);
    // Up the chain is +Y now; the file's +90° about x carries z to −y, which
    // is where the clip's +Z comes from.
    let p = places(&told.clip, 1);
    assert!((p[1] - p[0]).abs_diff_eq(Vec3::Y, 1e-6));
    assert!((p[2] - p[1]).abs_diff_eq(Vec3::Z, 1e-6), "{}", p[2] - p[1]);
}

/// Game skeletons have a joint on the ground above the pelvis. It takes the
/// pelvis's turn, so that the root of the clip has the body's heading.
#[test]
fn a_joint_above_the_pelvis_changes_nothing_below_it() {
    let reading = read(&write(&walk(), &plain()));
    let body = a_pose_body();
    let mut names = vec!["root".to_string()];
    names.extend(body.names().iter().cloned());
    let mut parents = vec![None];
    parents.extend((body.parents().iter()).map(|p| Some(JointId(p.map_or(0, |p| p.0 + 1)))));
    let mut rest = vec![Vec3::ZERO];
    rest.extend(body.rest());
    let rooted = Skeleton::new(names, parents, rest).unwrap();
    let (plain, rooted) = (put_on(&body, &reading), put_on(&rooted, &reading));
    for frame in 0..15 {
        let (a, b) = (places(&plain.clip, frame), places(&rooted.clip, frame));
        for joint in 0..N {
            assert!(a[joint].abs_diff_eq(b[joint + 1], 1e-5));
        }
        let rotations = &rooted.clip.frames()[frame].rotations;
        assert!(rotations[0].abs_diff_eq(plain.clip.frames()[frame].rotations[0], 1e-6));
        assert!(rotations[1].w > 1.0 - 1e-6);
    }
}
