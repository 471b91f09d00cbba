//! Two sheets over a ball.

use drapery_core::{
    BlendRig, FrameRate, HalfwayJoints, PosedBody, SkinWeights, Surroundings, TriMesh, TriangleTree,
};
use glam::Affine3A;

use super::*;
use crate::SkinnedGarment;

/// A patch of n × n vertices over 16 cm that faces up, at a height [m].
fn sheet(n: u32, height: impl Fn(f32, f32) -> f32) -> (Topology, Vec<Vec3>) {
    let place = |i: u32| 0.16 * (i as f32 / (n - 1) as f32 - 0.5);
    let positions = (0..n * n).map(|v| {
        let (x, z) = (place(v % n), place(v / n));
        Vec3::new(x, height(x, z), z)
    });
    let mut triangles = Vec::new();
    for (i, j) in (0..n - 1).flat_map(|j| (0..n - 1).map(move |i| (i, j))) {
        let [a, b] = [j * n + i, j * n + i + 1];
        triangles.extend([[a, a + n, b], [b, a + n, b + n]]);
    }
    (
        Topology::new(n * n, triangles).unwrap(),
        positions.collect(),
    )
}

/// A garment of one joint that stays where it rests.
fn still((topology, rest): (Topology, Vec<Vec3>), rate: f64) -> Animator {
    let weights = SkinWeights::new(1, 1, &vec![vec![(0, 1.0)]; rest.len()]).unwrap();
    let rig = BlendRig::new(&[None], HalfwayJoints::Off);
    let rate = FrameRate::new(rate).unwrap();
    let skinned = SkinnedGarment::new(topology, rest, weights, Vec::new(), rig, rate);
    Animator::Skinning(skinned.unwrap())
}

/// A floor of 40 cm at y = 0 with its outer side up, as a body.
fn floor() -> (TriMesh, ShapedBody, PosedBody) {
    let (topology, rest) = sheet(9, |_, _| 0.0);
    let rest: Vec<Vec3> = rest.iter().map(|p| *p * 2.5).collect();
    let mesh = TriMesh::new(rest.clone(), topology.triangles().to_vec()).unwrap();
    let mut posed = PosedBody::with_room(1, rest.len());
    posed.vertices.copy_from_slice(&rest);
    posed.world_from_rest[0] = Affine3A::IDENTITY;
    let shaped = ShapedBody {
        shape: Vec::new(),
        rest,
        joints: vec![Vec3::ZERO],
    };
    (mesh, shaped, posed)
}

/// How many vertices of the outer sheet are beneath the inner one, and how near the
/// outer comes to the floor [m].
fn worn(outfit: &Outfit) -> (usize, f32, StepReport, Vec<Vec3>) {
    let (_, shaped, posed) = floor();
    let frame = posed.frame(&shaped, Surroundings::default());
    let mut state = outfit.start(&frame).unwrap();
    let mut cloth = vec![Vec3::NAN; outfit.topology().n_vertices()];
    let report = outfit.step(&mut state, &frame, &mut cloth).unwrap();
    assert_eq!(state.farthest(), report.correction_depth);
    let [inner, outer] = [0, 1].map(|i| outfit.garments().nth(i).unwrap());
    let triangles = outfit.layers[0].animator.topology().triangles();
    let (beneath, above) = (&cloth[inner.clone()], &cloth[outer]);
    let tree = TriangleTree::new(triangles, beneath);
    let is_beneath = |p: &&Vec3| {
        let near = tree.closest_point(**p, beneath, 1.0).unwrap();
        p.y < near.point.y && (p.x.abs()).max(p.z.abs()) < 0.079
    };
    let n = above.iter().filter(is_beneath).count();
    let lowest = above.iter().map(|p| p.y).fold(1.0, f32::min);
    (n, lowest, report, cloth)
}

/// The inner one has a fold, which the outer, flat and low at one side, passes
/// through.
fn crossing() -> Vec<Animator> {
    let fold = |x: f32, _: f32| 0.01 + 0.008 * libm::cosf(60.0 * x);
    vec![
        still(sheet(33, fold), 30.0),
        still(sheet(21, |_, z| 0.008 + 0.05 * z), 30.0),
    ]
}

#[test]
fn layers_that_cross_do_not_when_they_are_corrected() {
    let (mesh, shaped, _) = floor();
    let outfit = Outfit::new(crossing()).unwrap();
    let (crossed, _, report, before) = worn(&outfit);
    assert!(crossed > 100, "{crossed}");
    assert_eq!(report.correction_depth, 0.0);
    let config = CorrectionConfig::DEFAULT;
    let outfit = outfit.corrected(mesh.topology(), &shaped, config).unwrap();
    let (crossed, lowest, report, after) = worn(&outfit);
    assert_eq!(crossed, 0);
    // Neither is it in the body.
    assert!(lowest > 0.5e-3, "{lowest}");
    assert!(report.correction_depth > 5e-3 && report.correction_depth < 0.05);
    // What is beneath stays as it was, but for the body.
    let inner = outfit.garments().next().unwrap();
    for (a, b) in before[inner.clone()].iter().zip(&after[inner]) {
        assert!(a.distance(*b) < 1e-6, "{a} {b}");
    }
    let over = outfit.is_worn_over().unwrap();
    assert_eq!(over.len(), shaped.rest.len());
    assert!(over[40], "the middle of the floor is under the sheets");
}

#[test]
fn a_garment_beyond_the_hem_of_another_is_left_alone() {
    // The outer hangs beside the inner one's border and beneath its plane.
    let inner = still(sheet(9, |_, _| 0.03), 30.0);
    let (topology, rest) = sheet(9, |_, _| 0.025);
    let rest: Vec<Vec3> = rest.iter().map(|p| *p + Vec3::X * 0.17).collect();
    let outer = still((topology, rest.clone()), 30.0);
    let (mesh, shaped, _) = floor();
    let outfit = Outfit::new(vec![inner, outer]).unwrap();
    let outfit = outfit.corrected(mesh.topology(), &shaped, CorrectionConfig::DEFAULT);
    let outfit = outfit.unwrap();
    let (_, _, report, cloth) = worn(&outfit);
    assert_eq!(report.correction_depth, 0.0);
    let outer = outfit.garments().nth(1).unwrap();
    assert_eq!(cloth[outer], rest);
}

#[test]
fn what_is_no_outfit_is_named() {
    assert!(matches!(Outfit::new(Vec::new()), Err(OutfitError::Empty)));
    let mixed = vec![
        still(sheet(3, |_, _| 0.1), 30.0),
        still(sheet(3, |_, _| 0.1), 60.0),
    ];
    let found = Outfit::new(mixed);
    assert!(matches!(
        found,
        Err(OutfitError::FrameStep { garment: 1, .. })
    ));
    let outfit = Outfit::new(crossing()).unwrap();
    let other = Outfit::new(vec![still(sheet(3, |_, _| 0.1), 30.0)]).unwrap();
    let (_, shaped, posed) = floor();
    let frame = posed.frame(&shaped, Surroundings::default());
    let mut cloth = vec![Vec3::ONE; outfit.topology().n_vertices()];
    let mut foreign = other.start(&frame).unwrap();
    let found = outfit.step(&mut foreign, &frame, &mut cloth);
    assert!(matches!(found, Err(AnimateError::State { .. })));
    let mut own = outfit.start(&frame).unwrap();
    let found = outfit.step(&mut own, &frame, &mut cloth[1..]);
    assert!(matches!(found, Err(AnimateError::Output { .. })));
    assert!(cloth.iter().all(|p| *p == Vec3::ONE));
}
