//! The meter on bodies and garments whose depths are known.

use std::f32::consts::PI;

use drapery_core::{
    BodyModel, FrameRate, Garment, PoseVelocity, Topology, TriMesh, TriangleTree, WindingField,
    vertex_normals, winding_number,
};
use drapery_scene::builtin;
use drapery_sim::{Flesh, FleshConfig, Yielding};
use glam::{DVec3, Quat, Vec2, Vec3};

use super::*;

/// A capsule of `radius` along y from −`half` to `half` [m]: rings of `n`
/// vertices, closed by poles.
fn capsule(radius: f32, half: f32, n: u32) -> TriMesh {
    let mut positions = vec![Vec3::NEG_Y * (radius + half)];
    let n_rows = n / 2;
    let mut ring = |y: f32, r: f32| {
        for i in 0..n {
            let (s, c) = (i as f32 / n as f32 * 2.0 * PI).sin_cos();
            positions.push(Vec3::new(c * r, y, s * r));
        }
    };
    let mut n_rings = 0;
    for row in 1..n_rows {
        let (s, c) = (row as f32 / n_rows as f32 * PI).sin_cos();
        let end = if c > 0.0 { -half } else { half };
        if half > 0.0 && row == n_rows / 2 {
            // The straight part.
            for k in 0..=8 {
                ring(-half + 2.0 * half * k as f32 / 8.0, radius);
                n_rings += 1;
            }
            continue;
        }
        ring(end - c * radius, s * radius);
        n_rings += 1;
    }
    positions.push(Vec3::Y * (radius + half));
    let top = positions.len() as u32 - 1;
    let at = |ring: u32, i: u32| 1 + ring * n + i % n;
    let mut triangles = Vec::new();
    for i in 0..n {
        triangles.push([0, at(0, i), at(0, i + 1)]);
        for r in 0..n_rings - 1 {
            triangles.push([at(r, i), at(r + 1, i), at(r, i + 1)]);
            triangles.push([at(r, i + 1), at(r + 1, i), at(r + 1, i + 1)]);
        }
        triangles.push([top, at(n_rings - 1, i + 1), at(n_rings - 1, i)]);
    }
    TriMesh::new(positions, triangles).unwrap()
}

fn ball(radius: f32) -> TriMesh {
    capsule(radius, 0.0, 48)
}

fn garment(mesh: TriMesh) -> Garment {
    Garment::new("cloth".into(), mesh, None, vec![], vec![]).unwrap()
}

fn meter(body: &TriMesh, cloth: &Garment) -> WearMeter {
    WearMeter::new(body.topology(), body.positions(), cloth, FrameRate::THIRTY)
}

/// A body of which those are inside another part.
fn felt(inside: &[bool]) -> Yielding {
    Yielding {
        inside: inside.to_vec(),
        ..Yielding::default()
    }
}

/// A garment measured on a body that does not enter itself.
fn read(body: &TriMesh, cloth: TriMesh) -> WornFrame {
    let cloth = garment(cloth);
    let inside = vec![false; body.positions().len()];
    meter(body, &cloth).read(body.positions(), &felt(&inside), cloth.mesh().positions())
}

fn scaled(mesh: &TriMesh, factor: f32) -> TriMesh {
    let positions = mesh.positions().iter().map(|p| *p * factor).collect();
    mesh.with_positions(positions).unwrap()
}

fn wide(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}

/// Whether each vertex is inside another part, by the plain sum of solid
/// angles just above it.
fn inside_by_winding(topology: &Topology, positions: &[Vec3]) -> Vec<bool> {
    let mut normals = vec![Vec3::Y; positions.len()];
    vertex_normals(topology, positions, &mut normals);
    let above = positions.iter().zip(&normals).map(|(p, n)| *p + *n * 1e-4);
    above
        .map(|p| winding_number(p, topology.triangles(), positions) >= 0.5)
        .collect()
}

/// Cloth beside a fold that is turned over, to which normals point, was taken
/// to be deep inside.
#[test]
fn cloth_beside_a_spike_turned_inside_out_is_outside() {
    let body = ball(0.1);
    let mut positions = body.positions().to_vec();
    let top = positions.len() - 1;
    positions[top] = Vec3::NEG_Y * 0.2;
    let body = body.with_positions(positions).unwrap();
    let patch = |at: Vec3| {
        let corners = [Vec3::ZERO, Vec3::X * 1e-3, Vec3::Y * 1e-3];
        let corners = corners.map(|c| c + at).to_vec();
        TriMesh::new(corners, vec![[0, 1, 2]]).unwrap()
    };
    let beside = read(&body, patch(Vec3::new(0.03, -0.15, 0.0)));
    assert_eq!(beside.cloth.open.n_deep, 0, "{beside:?}");
    let inside = read(&body, patch(Vec3::new(0.08, 0.0, 0.0)));
    assert_eq!(inside.cloth.open.n_deep, inside.cloth.open.n_points);
}

#[test]
fn a_shell_in_a_ball_is_as_deep_as_it_is_smaller() {
    let body = ball(0.1);
    assert!(body.signed_volume() > 0.0 && body.topology().is_closed());
    // A smaller copy: a face at distance h from the centre is (1 − s) h deep.
    let lowest = (0..body.triangles().len() as u32)
        .map(|t| {
            let [a, b, c] = body.corners(t);
            (b - a).cross(c - a).normalize().dot(a)
        })
        .fold(f32::INFINITY, f32::min);
    let shell = scaled(&body, 0.97);
    let n_points =
        shell.positions().len() + shell.topology().edges().len() + shell.triangles().len();
    let worn = read(&body, shell);
    assert_eq!(worn.cloth.all, worn.cloth.open);
    assert_eq!(worn.cloth.all.n_points, n_points as u64);
    assert_eq!(worn.cloth.all.n_deep, n_points as u64);
    let depth = worn.cloth.all.deepest;
    assert!(
        (0.03 * lowest..=0.03 * 0.1 + 1e-6).contains(&depth),
        "{depth}"
    );
    // Every vertex of the body is outside of the shell around it.
    assert_eq!(worn.skin.all.n_points, body.positions().len() as u64);
    assert_eq!(worn.skin.all.n_deep, body.positions().len() as u64);
    assert!((worn.skin.all.deepest - 0.003).abs() < 1e-4);
    // Inside, but by less than a millimetre.
    let worn = read(&body, scaled(&body, 0.992));
    assert_eq!((worn.cloth.all.n_deep, worn.skin.all.n_deep), (0, 0));
    assert!((worn.cloth.all.deepest - 0.0008).abs() < 1e-4);
    // Outside: near, and too far for the body to care.
    let worn = read(&body, scaled(&body, 1.05));
    assert_eq!((worn.cloth.all.deepest, worn.skin.all.deepest), (0.0, 0.0));
    assert_eq!(worn.skin.all.n_points, body.positions().len() as u64);
    let worn = read(&body, scaled(&body, 1.3));
    assert_eq!((worn.cloth.all.n_deep, worn.skin.all.n_points), (0, 0));
}

#[test]
fn a_spike_between_the_points_of_a_cloth_pokes_through() {
    // The pole of a ball of 10 cm drawn out to 13 cm, under a wide triangle at
    // 11 cm whose corners, middles and centre are all far from the spike.
    let body = ball(0.1);
    let mut positions = body.positions().to_vec();
    let tip = positions.len() - 1;
    positions[tip].y = 0.13;
    let body = body.with_positions(positions).unwrap();
    let wide = [[-0.2, -0.3], [-0.1, 0.5], [0.4, -0.2]];
    let corners = wide.map(|[x, z]| Vec3::new(x, 0.11, z)).to_vec();
    let sheet = TriMesh::new(corners, vec![[0, 1, 2]]).unwrap();
    let [a, b, c] = sheet.corners(0);
    assert!((b - a).cross(c - a).y > 0.0, "its outer side is above");
    let worn = read(&body, sheet.clone());
    assert_eq!(worn.cloth.all.deepest, 0.0);
    assert_eq!(worn.skin.all.n_deep, 1);
    // The spike is a cone: 2 cm below its tip the nearest side is so far.
    let ring = body.positions()[tip - 1];
    let (rise, out) = (0.13 - ring.y, Vec2::new(ring.x, ring.z).length());
    let expected = 0.02 * out / rise.hypot(out);
    assert!(
        (worn.skin.all.deepest - expected).abs() < 2e-4,
        "{expected}"
    );
    // A cloth with its outer side below has the spike on its inner side.
    let turned = TriMesh::new(sheet.positions().to_vec(), vec![[0, 2, 1]]).unwrap();
    assert_eq!(read(&body, turned).skin.all.n_deep, 0);
}

#[test]
fn skin_beyond_a_hem_does_not_poke_through() {
    // The upper half of a shell that is too small. Below its hem the skin is
    // on the outer side of the nearest cloth and only out of it.
    let body = ball(0.1);
    let shell = scaled(&body, 0.97);
    let above = |v: u32| shell.positions()[v as usize].y > -1e-4;
    let triangles = shell.triangles().iter();
    let upper = triangles.filter(|t| t.iter().all(|v| above(*v)));
    let half = TriMesh::new(shell.positions().to_vec(), upper.copied().collect()).unwrap();
    let worn = read(&body, half);
    let n_covered = body.positions().iter().filter(|p| p.y > 1e-4).count() as u64;
    assert_eq!(worn.skin.all.n_deep, n_covered);
    assert!(worn.skin.all.n_points > n_covered);
}

/// Two capsules of radius 5 cm side by side, their axes 6 cm apart.
fn two_capsules() -> TriMesh {
    let one = capsule(0.05, 0.15, 48);
    let n = one.positions().len() as u32;
    let beside = one.positions().iter().map(|p| *p + Vec3::X * 0.06);
    let positions = one.positions().iter().copied().chain(beside).collect();
    let shifted = one.triangles().iter().map(|t| t.map(|v| v + n));
    let triangles = one.triangles().iter().copied().chain(shifted).collect();
    TriMesh::new(positions, triangles).unwrap()
}

/// How far a point is from the axis of the other capsule, the one at x = 0 or
/// at 6 cm [m].
fn from_axis(p: Vec3, x: f32) -> f32 {
    p.distance(Vec3::new(x, p.y.clamp(-0.15, 0.15), 0.0))
}

#[test]
fn the_mask_is_what_two_capsules_have_in_common_and_two_centimetres_more() {
    let body = two_capsules();
    let inside = inside_by_winding(body.topology(), body.positions());
    let mask = drapery_eval::SelfContactMask::new(body.positions(), &inside);
    let n = body.positions().len() / 2;
    let (mut n_inside, mut n_near) = (0, 0);
    for (v, p) in body.positions().iter().enumerate() {
        let other = if v < n { 0.06 } else { 0.0 };
        // A ring of 48 vertices is at most 0.11 mm inside its circle.
        let depth = 0.05 - from_axis(*p, other);
        if depth.abs() > 3e-4 {
            assert_eq!(inside[v], depth > 0.0, "vertex {v}, {depth} m deep");
        }
        n_inside += u32::from(inside[v]);
        let masked = mask.covers(*p);
        n_near += u32::from(masked && !inside[v]);
        assert!(!inside[v] || masked);
        // A vertex further out than 2 cm can't be near one inside.
        assert!(depth > -0.0203 || !masked, "vertex {v}, {depth} m deep");
    }
    assert!(n_inside > 100 && n_near > 100, "{n_inside}, {n_near}");
}

/// Two capsules in one another that are far apart at rest.
fn pushed_together() -> (TriMesh, Flesh) {
    let body = two_capsules();
    let n = body.positions().len() / 2;
    let mut apart = wide(body.positions());
    for p in &mut apart[n..] {
        p.x += 0.2;
    }
    let mut flesh = Flesh::new(body.topology(), &apart, FleshConfig::default());
    assert!(flesh.feel(&apart).inside.iter().all(|inside| !inside));
    (body, flesh)
}

#[test]
fn flesh_feels_the_same_vertices_inside() {
    let (body, mut flesh) = pushed_together();
    let felt = flesh.feel(&wide(body.positions()));
    assert_eq!(
        felt.inside,
        inside_by_winding(body.topology(), body.positions())
    );
    // The mannequin crouched, by the field of winding numbers.
    let person = builtin::character("mannequin").unwrap();
    let shaped = person.shaped(&vec![0.0; person.shape_parameters().len()]);
    let shaped = shaped.unwrap();
    let clip = builtin::clip("crouch").unwrap();
    let still = PoseVelocity::zero(clip.skeleton().len());
    let (topology, mut posed) = (person.topology(), person.room());
    let mut flesh = Flesh::new(topology, &wide(&shaped.rest), FleshConfig::default());
    let (mut n_inside, mut n_other) = (0, 0);
    for frame in [0, clip.frames().len() / 2] {
        let pose = &clip.frames()[frame];
        person.pose(&shaped, pose, &still, &mut posed).unwrap();
        let felt = flesh.feel(&wide(&posed.vertices));
        let tree = TriangleTree::new(topology.triangles(), &posed.vertices);
        let field = WindingField::new(&tree, &posed.vertices);
        let mut normals = vec![Vec3::Y; posed.vertices.len()];
        vertex_normals(topology, &posed.vertices, &mut normals);
        for (v, p) in posed.vertices.iter().enumerate() {
            let above = field.number(&tree, &posed.vertices, *p + normals[v] * 1e-4);
            n_inside += u32::from(felt.inside[v]);
            n_other += u32::from(felt.inside[v] != (above >= 0.5));
        }
    }
    // They part only where skin meets skin, within the tenth of a millimetre
    // that one asks above it.
    assert!(n_inside > 50, "{n_inside}");
    assert!(20 * n_other < n_inside, "{n_other} of {n_inside}");
}

/// A calf that is folded into the thigh is there for all cloth, though most of it is
/// far from that at rest.
#[test]
fn a_fold_is_no_stranger() {
    let person = builtin::character("mannequin").unwrap();
    let shape = vec![0.0; person.shape_parameters().len()];
    let shaped = person.shaped(&shape).unwrap();
    let skeleton = person.skeleton();
    let mut pose = skeleton.rest_pose();
    let knee = skeleton.joint("right_knee").expect("the mannequin has one");
    pose.rotations[usize::from(knee.0)] = Quat::from_rotation_x(2.75);
    let still = PoseVelocity::zero(skeleton.len());
    let mut posed = person.room();
    person.pose(&shaped, &pose, &still, &mut posed).unwrap();
    let config = FleshConfig::default();
    let mut flesh = Flesh::new(person.topology(), &wide(&shaped.rest), config);
    let felt = flesh.feel(&wide(&posed.vertices));
    let n_inside = felt.inside.iter().filter(|inside| **inside).count();
    assert!(n_inside > 100, "{n_inside}");
    assert!(!felt.absent.contains(&true));
    // It gives way instead.
    assert!(felt.back.iter().any(|back| *back > 0.01));
}

/// A triangle of the skin that enters another part is in the open where it has
/// not yet entered: cloth beneath it there is as deep as it is.
#[test]
fn beside_the_place_where_parts_enter_each_other_depth_is_to_the_skin_there() {
    let (body, mut flesh) = pushed_together();
    let felt = flesh.feel(&wide(body.positions()));
    let mut n_buried = 0;
    for triangle in body.triangles() {
        let flags = triangle.map(|v| felt.inside[v as usize]);
        // One corner is inside; near the others it is open.
        let Some(inner) = (0..3).find(|k| flags[*k]) else {
            continue;
        };
        if flags.iter().filter(|f| **f).count() != 1 {
            continue;
        }
        let corners = triangle.map(|v| body.positions()[v as usize]);
        let [a, b] = [corners[(inner + 1) % 3], corners[(inner + 2) % 3]];
        let outer = (a + b) * 0.5 * 0.98 + corners[inner] * 0.02;
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let p = outer - normal.normalize() * 5e-4;
        let other = if (triangle[0] as usize) < body.positions().len() / 2 {
            0.06
        } else {
            0.0
        };
        // Well outside of the other capsule, or that surrounds it, too.
        if from_axis(outer, other) < 0.0505 {
            continue;
        }
        n_buried += 1;
        let cloth = vec![
            p,
            p + Vec3::new(1e-5, 0.0, 0.0),
            p + Vec3::new(0.0, 1e-5, 0.0),
        ];
        let cloth = garment(TriMesh::new(cloth, vec![[0, 1, 2]]).unwrap());
        let worn = meter(&body, &cloth).read(body.positions(), &felt, cloth.mesh().positions());
        let found = worn.cloth.all.deepest;
        assert!((found - 5e-4).abs() < 1e-4, "{p}: {found} m");
    }
    assert!(n_buried > 10, "{n_buried}");
}

#[test]
fn what_is_between_two_parts_is_as_deep_as_the_way_out() {
    let body = two_capsules();
    let inside = inside_by_winding(body.topology(), body.positions());
    // Small triangles: midway between the axes, where the way out is along the
    // lens to its edge at ±√(5² − 3²) cm; before the skin of one capsule and
    // in the other; and in the open, 3 mm inside.
    let at = |x: f32| {
        let corners = [[0.0, 0.0], [0.0, 1e-4], [1e-4, 0.0]];
        let corners = corners.map(|[y, z]| Vec3::new(x, y, z));
        garment(TriMesh::new(corners.to_vec(), vec![[0, 1, 2]]).unwrap())
    };
    let cases = [
        (0.03, 0.04f32, true),
        (0.055, 0.025f32.hypot(0.04), true),
        (-0.047, 0.003, false),
    ];
    for (x, depth, is_masked) in cases {
        let cloth = at(x);
        let worn =
            meter(&body, &cloth).read(body.positions(), &felt(&inside), cloth.mesh().positions());
        let found = worn.cloth.all.deepest;
        // Vertices are 3 to 7 mm apart at the edge of the lens.
        assert!((found - depth).abs() < 0.1 * depth, "x = {x}: {found} m");
        assert_eq!(worn.cloth.all.n_deep, 7);
        assert_eq!(worn.cloth.open.n_points, if is_masked { 0 } else { 7 });
        assert_eq!(worn.n_masked, if is_masked { 3 } else { 0 });
    }
}

/// Two boxes of large triangles: the middle of a face that is inside the other box is
/// far from its corners, and masked nevertheless.
#[test]
fn large_triangles_are_masked_all_over_where_they_are_inside() {
    let corners = |half: f32, x: f32| {
        (0..8).map(move |k| {
            let sign = |bit: u32| if k >> bit & 1 == 1 { half } else { -half };
            Vec3::new(sign(0) + x, sign(1), sign(2))
        })
    };
    let faces = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles = [0u32, 8].into_iter().flat_map(|first| {
        let both = faces
            .into_iter()
            .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
        both.map(move |t: [u32; 3]| t.map(|v| v + first))
    });
    // The small one ends at x = 0.1 within the large one, which begins at 0.02.
    let positions = corners(0.1, 0.0).chain(corners(0.2, 0.22));
    let body = TriMesh::new(positions.collect(), triangles.collect()).unwrap();
    let inside = inside_by_winding(body.topology(), body.positions());
    assert_eq!(inside.iter().filter(|inside| **inside).count(), 4);
    for (x, is_masked) in [(0.09, true), (-0.09, false)] {
        let small = [[0.01, 0.0], [0.01, 1e-4], [0.0101, 0.0]];
        let small = small.map(|[y, z]| Vec3::new(x, y, z)).to_vec();
        let cloth = garment(TriMesh::new(small, vec![[0, 1, 2]]).unwrap());
        let read =
            meter(&body, &cloth).read(body.positions(), &felt(&inside), cloth.mesh().positions());
        assert_eq!(read.n_masked, if is_masked { 3 } else { 0 }, "{x}");
        assert!(read.cloth.all.deepest > 0.009, "{x}");
        assert_eq!(read.cloth.open.deepest > 0.0, !is_masked, "{x}");
    }
}

#[test]
fn speed_is_that_relative_to_the_body() {
    let body = ball(0.1);
    let cloth = garment(scaled(&body, 1.02));
    let mut meter = meter(&body, &cloth);
    let inside = vec![false; body.positions().len()];
    let mut frame = |time: f32, sliding: f32| {
        // The body goes along x at 3 m/s, turning by 1 rad/s; the cloth with
        // it, and `sliding` m away from it along z.
        let turn = glam::Quat::from_rotation_y(time);
        let place = |p: &Vec3| turn * *p + Vec3::X * 3.0 * time;
        let skin: Vec<Vec3> = body.positions().iter().map(place).collect();
        let cloth = cloth.mesh().positions().iter().map(place);
        let cloth: Vec<Vec3> = cloth.map(|p| p + Vec3::Z * sliding).collect();
        meter.read(&skin, &felt(&inside), &cloth).speed_max
    };
    assert_eq!(frame(0.0, 0.0), 0.0);
    // The skin under a cloth that is a fiftieth wider turns a little slower.
    let stuck = frame(1.0 / 30.0, 0.0);
    assert!(stuck < 0.0025, "{stuck}");
    let slid = frame(2.0 / 30.0, 0.01);
    assert!((slid - 0.3).abs() < 0.02, "{slid}");
}

#[test]
fn a_summary_has_sums_worst_frames_and_flags() {
    let body = ball(0.1);
    let cloth = garment(scaled(&body, 1.02));
    let inside = vec![false; body.positions().len()];
    let mut meter = meter(&body, &cloth);
    let mut summary = WearSummary::default();
    let steps = drapery_sim::StepReport {
        parts: 2,
        set_back: 3,
        ..Default::default()
    };
    for (factor, steps) in [(1.02, None), (0.95, Some(&steps)), (0.98, None)] {
        let cloth = scaled(&body, factor);
        let frame = meter.read(body.positions(), &felt(&inside), cloth.positions());
        summary.add(&frame, steps);
    }
    assert_eq!(summary.n_frames(), 3);
    assert_eq!(summary.deepest_frame, Some(1));
    assert!((summary.deepest() - 0.005).abs() < 1e-4);
    assert!((summary.cloth.open.share() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(summary.share_worst, 1.0);
    assert_eq!((summary.set_back, summary.masked_share()), (3, 0.0));
    assert_eq!(summary.count(|f| f.retried), 1);
    assert!(summary.flags[1].any() && !summary.flags[2].any());
    // Edges are shorter than at rest in all frames but the first.
    assert!(meter.stretch_p99()[0].abs() < 2e-4 && summary.stretch_max.abs() < 1e-4);
    assert!(summary.speed_max > 0.2);
}
