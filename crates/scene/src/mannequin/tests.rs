//! What the mannequin promises, measured on its mesh.

use drapery_core::{BodyModel, JointId, Pose, PoseVelocity, TriMesh, TriangleTree};
use glam::{Quat, Vec3};

use super::*;
use crate::preflight::{shapes_to_sweep, smallest_angle, sweep_shapes};

/// A shape with one parameter.
fn only(name: &str, value: f32) -> Vec<f32> {
    let mut shape = vec![0.0; SHAPES.len()];
    shape[SHAPES.iter().position(|n| *n == name).unwrap()] = value;
    shape
}

fn rest(shape: &[f32]) -> Vec<Vec3> {
    character().shaped(shape).unwrap().rest
}

fn stature(rest: &[Vec3]) -> f64 {
    let top = rest.iter().map(|p| p.y).fold(f32::MIN, f32::max);
    let floor = rest.iter().map(|p| p.y).fold(f32::MAX, f32::min);
    f64::from(top - floor)
}

/// Girths of chest, waist and hips [m] at heights that go with the stature.
fn girths(rest: &[Vec3]) -> [f64; 3] {
    let mannequin = character();
    let scale = stature(rest) / stature(&self::rest(&[0.0; 8]));
    GIRTH_HEIGHTS.map(|height| {
        let at = Vec3::new(0.0, (height * scale) as f32, 0.0);
        girth(rest, mannequin.topology().triangles(), at, Vec3::Y).unwrap()
    })
}

fn mass(rest: &[Vec3]) -> f64 {
    let triangles = character().topology().triangles().to_vec();
    DENSITY
        * TriMesh::new(rest.to_vec(), triangles)
            .unwrap()
            .signed_volume()
}

#[test]
fn the_skin_is_one_closed_outward_sphere_of_5_to_8_thousand_vertices() {
    let mannequin = character();
    let topology = mannequin.topology();
    assert!((5000..=8000).contains(&topology.n_vertices()));
    assert!(topology.is_closed());
    assert_eq!(topology.euler_characteristic(), 2);
    assert_eq!(topology.parts().1, 1);
    assert!(mannequin.template().signed_volume() > 0.05);
    let angle = smallest_angle(topology.triangles(), mannequin.template().positions());
    assert!(angle.to_degrees() > 25.0, "{}", angle.to_degrees());
}

#[test]
fn left_and_right_are_mirrored_to_the_bit_in_skin_weights_and_shapes() {
    let mannequin = character();
    let positions = mannequin.template().positions();
    let key = |p: Vec3| [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits());
    let mut order: Vec<([u32; 3], usize)> = positions.iter().map(|p| key(*p)).zip(0..).collect();
    order.sort_unstable();
    let flip = |p: Vec3| Vec3::new(-p.x, p.y, p.z);
    let mirror: Vec<usize> = positions
        .iter()
        .map(|p| {
            let wanted = key(flip(*p));
            order[order.binary_search_by_key(&wanted, |o| o.0).unwrap()].1
        })
        .collect();
    for v in 0..positions.len() {
        let twin: Vec<(u16, f32)> = {
            let there = mannequin.skin_weights().of(mirror[v]);
            let mut twin: Vec<(u16, f32)> =
                there.map(|(j, w)| (mirrored(JointId(j)).0, w)).collect();
            twin.sort_by_key(|t| t.0);
            twin.retain(|t| t.1 > 0.0);
            twin
        };
        let mut own: Vec<(u16, f32)> = mannequin.skin_weights().of(v).collect();
        own.sort_by_key(|t| t.0);
        own.retain(|t| t.1 > 0.0);
        assert_eq!(own.len(), twin.len(), "vertex {v}");
        for (a, b) in own.iter().zip(&twin) {
            assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-6, "vertex {v}");
        }
        for direction in mannequin.shape_directions() {
            assert_eq!(direction[mirror[v]], flip(direction[v]), "vertex {v}");
        }
    }
    for direction in mannequin.joint_directions() {
        for j in 0..N_JOINTS as u16 {
            let twin = mirrored(JointId(j)).index();
            let apart = direction[twin] - flip(direction[usize::from(j)]);
            assert!(apart.length() < 1e-7);
        }
    }
}

#[test]
fn at_most_four_weights_sum_to_one_and_change_little_from_vertex_to_vertex() {
    let mannequin = character();
    let skin = mannequin.skin_weights();
    assert_eq!(skin.n_influences(), 4);
    let dense = |v: usize| {
        let mut row = [0.0f32; N_JOINTS];
        for (j, w) in skin.of(v) {
            row[usize::from(j)] += w;
        }
        row
    };
    let mut carried = [0.0f32; N_JOINTS];
    for v in 0..skin.n_vertices() {
        let row = dense(v);
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        for (most, w) in carried.iter_mut().zip(row) {
            *most = most.max(w);
        }
    }
    assert!(carried.iter().all(|w| *w > 0.5), "{carried:?}");
    for (v, around) in mannequin.topology().neighbours().iter().enumerate() {
        let here = dense(v);
        for &n in around {
            let there = dense(n as usize);
            for j in 0..N_JOINTS {
                let jump = (here[j] - there[j]).abs();
                let [p, q] = [v, n as usize].map(|v| mannequin.template().positions()[v]);
                assert!(jump < 0.45, "{jump} of joint {j} from {p} to {q}");
            }
        }
    }
}

/// The mean within 1 %; its mass, for which hollows and lungs are guessed,
/// within 6 %.
#[test]
fn the_mean_body_has_the_published_measurements() {
    let mean = rest(&[0.0; 8]);
    let near = |found: f64, expected: f64, share: f64| {
        let off = found / expected - 1.0;
        assert!(off.abs() < share, "{found} for {expected}");
    };
    near(stature(&mean), STATURE.mean(), 0.002);
    for (found, table) in girths(&mean).into_iter().zip([CHEST, WAIST, HIPS]) {
        near(found, table.mean(), 0.01);
    }
    near(mass(&mean), WEIGHT.mean(), 0.06);
}

/// Half the difference between 1 and −1 is a standard deviation: to 1 % of it.
#[test]
fn one_unit_of_a_parameter_is_a_standard_deviation_of_its_measurement() {
    let change = |name: &str, measured: &dyn Fn(&[Vec3]) -> f64| {
        let at = |value: f32| measured(&rest(&only(name, value)));
        (at(1.0) - at(-1.0)) / 2.0
    };
    let girth_of = |which: usize| move |rest: &[Vec3]| girths(rest)[which];
    for (name, found, expected) in [
        ("height", change("height", &stature), STATURE.deviation()),
        ("weight", change("weight", &mass), WEIGHT.deviation()),
        ("chest", change("chest", &girth_of(0)), CHEST.deviation()),
        ("waist", change("waist", &girth_of(1)), WAIST.deviation()),
        ("hips", change("hips", &girth_of(2)), HIPS.deviation()),
    ] {
        let off = found / expected - 1.0;
        assert!(off.abs() < 0.01, "{name}: {found} for {expected}");
    }
    let shoulders = |value: f32| {
        let joints = character()
            .shaped(&only("shoulders", value))
            .unwrap()
            .joints;
        f64::from(joints[16].x - joints[17].x)
    };
    let breadth = (shoulders(1.0) - shoulders(-1.0)) / 2.0;
    assert!((breadth / SHOULDERS.deviation() - 1.0).abs() < 0.01);
    // A parameter of one girth leaves stature alone.
    for name in ["chest", "waist", "hips", "shoulders", "limbs", "weight"] {
        assert!(change(name, &stature).abs() < 2e-3, "{name}");
    }
}

/// To 1.5 % of the girths, 3 mm of stature.
#[test]
fn male_leads_from_the_mean_woman_to_the_mean_man() {
    for value in [-1.0, 1.0] {
        let of = |m: &Measurement| if value < 0.0 { m.women[0] } else { m.men[0] };
        let body = rest(&only("male", value));
        let tall = stature(&body);
        assert!((tall - of(&STATURE)).abs() < 3e-3, "{tall}");
        for (found, table) in girths(&body).into_iter().zip([CHEST, WAIST, HIPS]) {
            let off = found / of(&table) - 1.0;
            assert!(off.abs() < 0.015, "{} {found} for {value}", table.name);
        }
    }
}

#[test]
fn soles_stay_on_the_floor_and_joints_inside_the_skin_at_every_shape() {
    let mannequin = character();
    let triangles = mannequin.topology().triangles();
    for shape in shapes_to_sweep(mannequin.shape_parameters(), 10, 3)
        .into_iter()
        .step_by(5)
    {
        let body = mannequin.shaped(&shape).unwrap();
        let floor = body.rest.iter().map(|p| p.y).fold(f32::MAX, f32::min);
        assert!(floor.abs() < 1e-4, "{shape:?}: {floor}");
        let tree = TriangleTree::new(triangles, &body.rest);
        for (joint, p) in mannequin.skeleton().names().iter().zip(&body.joints) {
            let inside = tree.winding_of_closed(*p, &body.rest) == 1;
            assert!(inside, "{joint} at {p} for {shape:?}");
        }
    }
}

/// Every parameter at its ends and a few of the rest; all of them are
/// `drapery character check mannequin --shapes 200`.
#[test]
fn no_shape_crosses_itself_and_triangles_stay_well_shaped() {
    let mannequin = character();
    let all = shapes_to_sweep(mannequin.shape_parameters(), 200, 1);
    let mut some: Vec<Vec<f32>> = all[..16].to_vec();
    some.extend(all[16..].iter().step_by(17).cloned());
    let sweep = sweep_shapes(&mannequin, &some, |_, _| true).unwrap();
    assert_eq!(sweep.crossing, []);
    let angle = sweep.smallest_angle.to_degrees();
    assert!(angle > 15.0, "{angle}");
}

#[test]
fn it_comes_out_the_same_to_the_bit_every_time() {
    let (a, b) = (character(), make());
    assert_eq!(a.template(), b.template());
    assert_eq!(a.skin_weights(), b.skin_weights());
    assert_eq!(a.shape_directions(), b.shape_directions());
    assert_eq!(a.joint_directions(), b.joint_directions());
}

/// Linear blending loses volume where it bends; a collapsed joint loses most
/// of the room around it.
#[test]
fn bent_elbows_knees_hips_and_raised_arms_keep_their_thickness() {
    let mannequin = character();
    let body = mannequin.shaped(&[0.0; 8]).unwrap();
    let triangles = mannequin.topology().triangles();
    let room = |joint: usize, vertices: &[Vec3], at: Vec3| {
        let tree = TriangleTree::new(triangles, vertices);
        let inside = tree.winding_of_closed(at, vertices) != 0;
        assert!(inside, "joint {joint} left the body");
        let found = tree.closest_point(at, vertices, f32::INFINITY);
        found.map_or(0.0, |c| c.distance)
    };
    for (name, axis, degrees, least) in [
        ("left_elbow", Vec3::new(-0.7, -0.7, 0.0), 90.0, 0.6),
        ("left_knee", Vec3::X, 90.0, 0.6),
        ("left_hip", -Vec3::X, 90.0, 0.5),
        ("left_shoulder", Vec3::Z, 100.0, 0.5),
        ("left_shoulder", Vec3::new(-0.7, -0.7, 0.0), 90.0, 0.5),
        ("left_wrist", Vec3::new(-0.7, 0.7, 0.0), 20.0, 0.8),
    ] {
        let j = mannequin.skeleton().joint(name).unwrap().index();
        let mut pose: Pose = mannequin.skeleton().rest_pose();
        pose.rotations[j] = Quat::from_axis_angle(axis.normalize(), f32::to_radians(degrees));
        let mut out = mannequin.room();
        let still = PoseVelocity::zero(N_JOINTS);
        mannequin.pose(&body, &pose, &still, &mut out).unwrap();
        let before = room(j, &body.rest, body.joints[j]);
        let after = room(j, &out.vertices, out.joint_positions[j]);
        assert!(after > least * before, "{name}: {after} of {before}");
        let volume = |v: &[Vec3]| {
            let mesh = TriMesh::new(v.to_vec(), triangles.to_vec()).unwrap();
            mesh.signed_volume()
        };
        let lost = 1.0 - volume(&out.vertices) / volume(&body.rest);
        assert!(lost.abs() < 0.02, "{name}: {lost}");
    }
}
