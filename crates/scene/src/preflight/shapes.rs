//! [`sweep_shapes`]: does a body stay sound over its shape space.
//!
//! Bodies at rest are looked at with each parameter alone at the ends of its
//! range, each pair of them at three quarters of it, all four ways, and a
//! number of seeded random shapes within three quarters of every range.

use drapery_core::{BodyModel, Meeting, ShapeError, ShapeParameter, TriangleTree};
use glam::Vec3;

/// How much of its range a parameter takes where others do too.
const TOGETHER: f32 = 0.75;

/// What a sweep over a shape space found.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeSweep {
    /// How many bodies were looked at.
    pub n_shapes: usize,
    /// The shapes at which the body crosses itself.
    pub crossing: Vec<CrossingShape>,
    /// The smallest angle of a triangle over all bodies [rad].
    pub smallest_angle: f32,
}

/// A shape at which a body crosses itself at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossingShape {
    /// The shape's coefficients.
    pub shape: Vec<f32>,
    /// How many pairs of triangles cross.
    pub n_crossings: usize,
    /// Where the first of them do [m].
    pub place: Vec3,
}

/// Shapes worth looking at: single parameters, pairs and `n_random` others.
pub fn shapes_to_sweep(parameters: &[ShapeParameter], n_random: usize, seed: u64) -> Vec<Vec<f32>> {
    let n = parameters.len();
    let ends = |k: usize, share: f32| [parameters[k].min * share, parameters[k].max * share];
    let mut shapes = Vec::new();
    for k in 0..n {
        for value in ends(k, 1.0) {
            let mut shape = vec![0.0; n];
            shape[k] = value;
            shapes.push(shape);
        }
    }
    for k in 0..n {
        for l in 0..k {
            for a in ends(k, TOGETHER) {
                for b in ends(l, TOGETHER) {
                    let mut shape = vec![0.0; n];
                    (shape[k], shape[l]) = (a, b);
                    shapes.push(shape);
                }
            }
        }
    }
    let mut state = seed;
    if n > 0 {
        shapes.extend((0..n_random).map(|_| {
            (0..n)
                .map(|k| {
                    let [low, high] = ends(k, TOGETHER);
                    low + (high - low) * uniform(&mut state)
                })
                .collect()
        }));
    }
    shapes
}

/// Looks at the body of every shape at rest; `go_on` is told how many are done
/// of how many and stops the sweep with false.
///
/// # Errors
/// When the model refuses a shape within its own ranges.
pub fn sweep_shapes(
    model: &dyn BodyModel,
    shapes: &[Vec<f32>],
    mut go_on: impl FnMut(usize, usize) -> bool,
) -> Result<ShapeSweep, ShapeError> {
    let triangles = model.topology().triangles();
    let mut sweep = ShapeSweep {
        n_shapes: 0,
        crossing: Vec::new(),
        smallest_angle: f32::INFINITY,
    };
    let mut tree: Option<TriangleTree> = None;
    for shape in shapes {
        let rest = model.shaped(shape)?.rest;
        let tree = tree.get_or_insert_with(|| TriangleTree::new(triangles, &rest));
        tree.refit(&rest);
        let mut crossings: Vec<([u32; 2], Vec3)> = Vec::new();
        tree.visit_self_intersections(&rest, |a, b, found| {
            if found.meeting == Meeting::Crossing {
                crossings.push(([a, b], found.segment[0].as_vec3()));
            }
        });
        crossings.sort_by_key(|c| c.0);
        if let Some(&(_, place)) = crossings.first() {
            sweep.crossing.push(CrossingShape {
                shape: shape.clone(),
                n_crossings: crossings.len(),
                place,
            });
        }
        sweep.smallest_angle = sweep.smallest_angle.min(smallest_angle(triangles, &rest));
        sweep.n_shapes += 1;
        if !go_on(sweep.n_shapes, shapes.len()) {
            break;
        }
    }
    Ok(sweep)
}

/// The smallest angle of any triangle [rad].
pub fn smallest_angle(triangles: &[[u32; 3]], positions: &[Vec3]) -> f32 {
    let mut smallest = f32::INFINITY;
    for t in triangles {
        let corners = t.map(|v| positions[v as usize]);
        for i in 0..3 {
            let (p, q, r) = (corners[i], corners[(i + 1) % 3], corners[(i + 2) % 3]);
            let (a, b) = (q - p, r - p);
            smallest = smallest.min(a.cross(b).length().atan2(a.dot(b)));
        }
    }
    smallest
}

/// A number from 0 to 1 and the next state (Steele, Lea and Flood's
/// SplitMix64).
fn uniform(state: &mut u64) -> f32 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 40) as f32 / (1u64 << 24) as f32
}

#[cfg(test)]
mod tests {
    use drapery_core::{JointId, Skeleton, SkinWeights, TriMesh};

    use super::*;
    use crate::builtin;
    use crate::character::{Character, CharacterParts, WeldMap};

    #[test]
    fn singles_pairs_and_random_shapes_are_within_their_ranges() {
        let tube = builtin::character("tube").unwrap();
        let shapes = shapes_to_sweep(tube.shape_parameters(), 50, 1);
        assert_eq!(shapes.len(), 4 + 4 + 50);
        assert!(shapes[..4].iter().all(|s| s.iter().any(|x| x.abs() == 2.0)));
        assert!(
            shapes[4..8]
                .iter()
                .all(|s| s.iter().all(|x| x.abs() == 1.5))
        );
        let random = &shapes[8..];
        assert!(random.iter().flatten().all(|x| x.abs() <= 1.5));
        let mean: f32 = random.iter().flatten().sum::<f32>() / 100.0;
        assert!(mean.abs() < 0.3, "{mean}");
        assert_eq!(shapes, shapes_to_sweep(tube.shape_parameters(), 50, 1));
        assert_ne!(shapes, shapes_to_sweep(tube.shape_parameters(), 50, 2));
    }

    /// Two tetrahedra that a parameter pushes into one another.
    fn two_tips() -> Character {
        let tip = |x: f32, to: f32| {
            [
                Vec3::new(x, 0.0, 0.0),
                Vec3::new(x, 1.0, 0.0),
                Vec3::new(x, 0.5, 1.0),
                Vec3::new(x + to, 0.5, 0.3),
            ]
        };
        let positions = [tip(0.0, 1.0), tip(3.0, -1.0)].concat();
        let triangles = vec![
            [0, 2, 1],
            [0, 1, 3],
            [1, 2, 3],
            [2, 0, 3],
            [4, 5, 6],
            [4, 7, 5],
            [5, 7, 6],
            [6, 7, 4],
        ];
        let rows = vec![vec![(0, 1.0)]; 8];
        Character::new(CharacterParts {
            name: "two tips".into(),
            template: TriMesh::new(positions, triangles).unwrap(),
            skeleton: Skeleton::new(vec!["root".into()], vec![None::<JointId>], vec![Vec3::ZERO])
                .unwrap(),
            skin: SkinWeights::new(4, 1, &rows).unwrap(),
            shape_parameters: vec![ShapeParameter {
                name: "closer".into(),
                min: -1.0,
                max: 2.0,
            }],
            shape_directions: vec![
                (0..8)
                    .map(|v| if v < 4 { Vec3::X } else { Vec3::ZERO })
                    .collect(),
            ],
            joint_directions: vec![vec![Vec3::ZERO]],
            pose_directions: None,
            weld: WeldMap::identity(8),
        })
        .unwrap()
    }

    #[test]
    fn the_shape_that_crosses_itself_is_named() {
        let tips = two_tips();
        // A gap of 1 m: closed by 1.5 units, open at −1.
        let shapes = shapes_to_sweep(tips.shape_parameters(), 0, 0);
        let sweep = sweep_shapes(&tips, &shapes, |_, _| true).unwrap();
        assert_eq!(sweep.n_shapes, 2);
        assert_eq!(sweep.crossing.len(), 1);
        assert_eq!(sweep.crossing[0].shape, [2.0]);
        assert!(sweep.crossing[0].n_crossings > 0);
        let stopped = sweep_shapes(&tips, &shapes, |_, _| false).unwrap();
        assert_eq!(stopped.n_shapes, 1);
    }

    #[test]
    fn the_smallest_angle_of_a_set_square_is_30_degrees() {
        let positions = [
            Vec3::ZERO,
            Vec3::new(3f32.sqrt(), 0.0, 0.0),
            Vec3::new(0.0, 1.0, 0.0),
        ];
        let angle = smallest_angle(&[[0, 1, 2]], &positions).to_degrees();
        assert!((angle - 30.0).abs() < 1e-4, "{angle}");
    }
}
