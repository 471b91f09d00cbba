//! Skinning weights for a garment, taken from the body under it.
//!
//! Each garment vertex takes the weights of the closest point of the body, by
//! barycentric interpolation; a Laplacian smoothing then hides the jumps where
//! neighbours found different body parts (Adaptive Bases 2014, §5.1; Try-On
//! 2019, §3.1). What the body's shape parameters do to that point, they do to
//! the garment vertex, and these displacements are smoothed in the same way.
//!
//! The smoothing spreads heat over the draped mesh, see [`Heat`](super::heat),
//! so that its reach is a length and not a number of iterations.
//!
//! # Where we differ
//! - The papers smooth "a few iterations" alike everywhere. Here the reach
//!   grows with the distance from the body, as the hem of a skirt that takes
//!   its weights from the nearer leg would split between the legs.
//! - Loose cloth also gives up part of its weights to the joints above, towards
//!   the root: two legs that bend away from each other can make the blend of
//!   their matrices singular, and inverse skinning needs it well-conditioned.
//! - For the same reason cloth also follows *halfway joints*, between each joint
//!   and its parent: see [`HalfwayJoints`]. [`HalfwayJoints::Off`] gives the
//!   papers' plain linear blending.

use drapery_core::{
    BlendRig, BodyModel, Garment, HalfwayJoints, ShapedBody, SkinWeights, Topology, TriangleTree,
};
use glam::Vec3;

use super::halfway::spread;
use super::heat::Heat;

/// How weights are taken from the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BindingConfig {
    /// Reach of the smoothing where cloth lies on the body [m].
    pub tight_reach: f32,
    /// Reach added per metre of distance from the body [m/m].
    pub reach_per_distance: f32,
    /// The longest reach [m].
    pub max_reach: f32,
    /// Reach over which the distance from the body is averaged, about the size
    /// of a fold [m].
    pub fold_reach: f32,
    /// Cloth nearer than this is tight [m].
    pub tight_distance: f32,
    /// Cloth farther than this is as loose as can be [m].
    pub loose_distance: f32,
    /// The share of a joint's weight that the loosest cloth passes to the
    /// joint's parent, from 0 to 1.
    pub loose_share: f32,
    /// Whether cloth follows halfway joints too.
    pub halfway: HalfwayJoints,
}

impl Default for BindingConfig {
    fn default() -> Self {
        Self {
            tight_reach: 0.02,
            reach_per_distance: 1.2,
            max_reach: 0.25,
            fold_reach: 0.08,
            tight_distance: 0.02,
            loose_distance: 0.12,
            loose_share: 0.2,
            halfway: HalfwayJoints::On,
        }
    }
}

/// How a garment hangs on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Which joints of `rig` the garment's vertices follow, at most eight each.
    pub weights: SkinWeights,
    /// The body's joints, with halfway joints if wanted.
    pub rig: BlendRig,
    /// Displacement per unit of each shape coefficient [m], shape [parameter][vertex].
    pub shape_directions: Vec<Vec<Vec3>>,
    /// The garment on the body of shape 0 [m], shape [vertex].
    pub rest: Vec<Vec3>,
    /// Distance from the body at rest [m], shape [vertex].
    pub distances: Vec<f32>,
}

/// Why a garment can't be bound to a body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BindingError {
    /// A garment vertex is not near the body at all.
    #[error("vertex {vertex} is more than {limit} m from the body: wrong scale, axis or place")]
    FarAway {
        /// The vertex's index.
        vertex: usize,
        /// The limit [m].
        limit: f32,
    },
    /// A setting is not a number or out of range.
    #[error("{setting} is {value}, which is not from 0 to {limit}")]
    Setting {
        /// Which field of [`BindingConfig`].
        setting: &'static str,
        /// Its value.
        value: f32,
        /// The largest value allowed.
        limit: f32,
    },
    /// A shape direction of the body could not be evaluated.
    #[error(transparent)]
    Shape(#[from] drapery_core::ShapeError),
}

/// The most joints that a garment vertex follows: more than a body's four,
/// because smoothing mixes the weights of several parts.
const N_INFLUENCES: usize = 8;

/// No garment vertex is farther from its body than this [m].
const MAX_DISTANCE: f32 = 2.0;

/// No reach, distance or ratio in a [`BindingConfig`] is larger than this
/// [m or m/m]; smoothing farther than a person is tall has no meaning.
const MAX_SETTING: f32 = 100.0;

impl BindingConfig {
    fn check(&self) -> Result<(), BindingError> {
        let settings = [
            ("tight_reach", self.tight_reach, MAX_SETTING),
            ("reach_per_distance", self.reach_per_distance, MAX_SETTING),
            ("max_reach", self.max_reach, MAX_SETTING),
            ("fold_reach", self.fold_reach, MAX_SETTING),
            ("tight_distance", self.tight_distance, MAX_SETTING),
            ("loose_distance", self.loose_distance, MAX_SETTING),
            ("loose_share", self.loose_share, 1.0),
        ];
        match settings
            .into_iter()
            .find(|(_, value, limit)| !(0.0..=*limit).contains(value))
        {
            Some((setting, value, limit)) => Err(BindingError::Setting {
                setting,
                value,
                limit,
            }),
            None => Ok(()),
        }
    }
}

/// Takes weights for `garment`, as it lies on the body of shape 0 at rest, from
/// `body`.
///
/// # Errors
/// When a vertex is farther than 2 m from the body, or a setting is negative,
/// too large or not a number.
pub fn bind(
    garment: &Garment,
    body: &dyn BodyModel,
    config: &BindingConfig,
) -> Result<Binding, BindingError> {
    bind_made_for(
        garment,
        body,
        &vec![0.0; body.shape_parameters().len()],
        config,
    )
}

/// As [`bind`], for a garment that lies on the body of the shape `made_for`.
/// Carried to that shape, it is as it was.
///
/// # Errors
/// As [`bind`]; also when `made_for` does not fit the body.
pub fn bind_made_for(
    garment: &Garment,
    body: &dyn BodyModel,
    made_for: &[f32],
    config: &BindingConfig,
) -> Result<Binding, BindingError> {
    config.check()?;
    let n_shape = body.shape_parameters().len();
    let template = body.shaped(made_for)?;
    let directions = shape_directions(body, &template)?;
    let tree = TriangleTree::new(body.topology().triangles(), &template.rest);

    let positions = garment.mesh().positions();
    let n_vertices = positions.len();
    let n_joints = body.skeleton().len();
    let n_columns = n_joints + 3 * n_shape;
    // One row a vertex: joint weights, then shape displacements.
    let mut rows = vec![0.0f64; n_vertices * n_columns];
    let mut distances = vec![0.0f32; n_vertices];
    for (vertex, (p, row)) in positions
        .iter()
        .zip(rows.chunks_exact_mut(n_columns))
        .enumerate()
    {
        let found =
            tree.closest_point(*p, &template.rest, MAX_DISTANCE)
                .ok_or(BindingError::FarAway {
                    vertex,
                    limit: MAX_DISTANCE,
                })?;
        distances[vertex] = found.distance;
        let corners = body.topology().triangles()[found.triangle as usize];
        for (corner, share) in corners.iter().zip(found.barycentric) {
            let corner = *corner as usize;
            for (joint, weight) in body.skin_weights().of(corner) {
                row[usize::from(joint)] += f64::from(share * weight);
            }
            for (k, direction) in directions.iter().enumerate() {
                for axis in 0..3 {
                    row[n_joints + 3 * k + axis] += f64::from(share * direction[corner][axis]);
                }
            }
        }
    }

    let topology = garment.mesh().topology();
    let looseness = looseness(topology, positions, &distances, config);
    let reach: Vec<f64> = looseness
        .iter()
        .map(|d| {
            let beyond = (d - f64::from(config.tight_distance)).max(0.0);
            let reach =
                f64::from(config.tight_reach) + f64::from(config.reach_per_distance) * beyond;
            reach.min(f64::from(config.max_reach))
        })
        .collect();
    Heat::new(topology, positions, &reach).smooth(&mut rows, n_columns);
    pass_to_parents(&mut rows, n_columns, &looseness, body, config);

    let rig = BlendRig::new(body.skeleton().parents(), config.halfway);
    let mut followed = vec![0.0; rig.n_transforms()];
    let influences: Vec<Vec<(u16, f32)>> = rows
        .chunks_exact(n_columns)
        .map(|row| {
            match config.halfway {
                HalfwayJoints::On => {
                    spread(&row[..n_joints], body.skeleton().parents(), &mut followed);
                }
                HalfwayJoints::Off => followed.copy_from_slice(&row[..n_joints]),
            }
            let joints = followed.iter().enumerate();
            joints
                .filter(|(_, w)| **w > 1e-4)
                .map(|(j, w)| (j as u16, *w as f32))
                .collect()
        })
        .collect();
    let weights = SkinWeights::new(N_INFLUENCES, rig.n_transforms(), &influences)
        .expect("smoothed weights are positive and sum to one");
    let shape_directions: Vec<Vec<Vec3>> = (0..n_shape)
        .map(|k| {
            rows.chunks_exact(n_columns)
                .map(|row| {
                    let at = n_joints + 3 * k;
                    Vec3::new(row[at] as f32, row[at + 1] as f32, row[at + 2] as f32)
                })
                .collect()
        })
        .collect();
    let mut rest = positions.to_vec();
    for (direction, &coefficient) in shape_directions.iter().zip(made_for) {
        for (p, d) in rest.iter_mut().zip(direction) {
            *p -= *d * coefficient;
        }
    }
    Ok(Binding {
        weights,
        rig,
        shape_directions,
        rest,
        distances,
    })
}

/// What a unit of each shape parameter does to the body's vertices [m].
fn shape_directions(
    body: &dyn BodyModel,
    template: &ShapedBody,
) -> Result<Vec<Vec<Vec3>>, BindingError> {
    (0..template.shape.len())
        .map(|k| {
            let mut shape = template.shape.clone();
            shape[k] += 1.0;
            let shaped = body.shaped(&shape)?;
            Ok(shaped
                .rest
                .iter()
                .zip(&template.rest)
                .map(|(a, b)| *a - *b)
                .collect())
        })
        .collect()
}

/// How far the cloth around each vertex is from the body [m]: the distances,
/// smoothed, so that the ridges and valleys of a fold are as loose as each
/// other and the fold moves as one.
fn looseness(
    topology: &Topology,
    positions: &[Vec3],
    distances: &[f32],
    config: &BindingConfig,
) -> Vec<f64> {
    let reach = vec![f64::from(config.fold_reach); positions.len()];
    let mut smoothed: Vec<f64> = distances.iter().map(|d| f64::from(*d)).collect();
    Heat::new(topology, positions, &reach).smooth(&mut smoothed, 1);
    smoothed
}

/// Moves part of each joint's weight to its parent where cloth is loose.
fn pass_to_parents(
    rows: &mut [f64],
    n_columns: usize,
    looseness: &[f64],
    body: &dyn BodyModel,
    config: &BindingConfig,
) {
    let parents = body.skeleton().parents();
    let tight = f64::from(config.tight_distance);
    let span = (f64::from(config.loose_distance) - tight).max(1e-6);
    for (row, distance) in rows.chunks_exact_mut(n_columns).zip(looseness) {
        let u = ((distance - tight) / span).clamp(0.0, 1.0);
        let share = f64::from(config.loose_share) * u * u * (3.0 - 2.0 * u);
        if share == 0.0 {
            continue;
        }
        // Children come after their parents: from the root, each joint has
        // given its share before it gets its children's, so that weight moves
        // up by one joint and no farther.
        for joint in 1..parents.len() {
            if let Some(parent) = parents[joint] {
                let moved = row[joint] * share;
                row[joint] -= moved;
                row[parent.index()] += moved;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn a_sleeve_takes_the_weights_of_the_tube_beneath() {
        let tube = builtin::character("tube").unwrap();
        let sleeve = builtin::garment("sleeve").unwrap();
        let binding = bind(&sleeve, &tube, &BindingConfig::default()).unwrap();
        for (v, p) in sleeve.mesh().positions().iter().enumerate() {
            let sum: f32 = binding.weights.of(v).map(|w| w.1).sum();
            assert!((sum - 1.0).abs() < 1e-5);
            // Halfway between two joints only the lower one pulls.
            if (p.y - 0.375).abs() < 0.01 {
                let (joint, weight) = binding.weights.of(v).next().unwrap();
                assert_eq!(joint, 1);
                assert!(weight > 0.97, "{weight}");
            }
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let tube = builtin::character("tube").unwrap();
        let sleeve = builtin::garment("sleeve").unwrap();
        type Set = fn(&mut BindingConfig, f32);
        let fields: [(&str, Set); 7] = [
            ("tight_reach", |c, x| c.tight_reach = x),
            ("reach_per_distance", |c, x| c.reach_per_distance = x),
            ("max_reach", |c, x| c.max_reach = x),
            ("fold_reach", |c, x| c.fold_reach = x),
            ("tight_distance", |c, x| c.tight_distance = x),
            ("loose_distance", |c, x| c.loose_distance = x),
            ("loose_share", |c, x| c.loose_share = x),
        ];
        for (field, set) in fields {
            for bad in [f32::NAN, f32::INFINITY, -0.01, 1e3] {
                let mut config = BindingConfig::default();
                set(&mut config, bad);
                match bind(&sleeve, &tube, &config) {
                    Err(BindingError::Setting { setting, .. }) => assert_eq!(setting, field),
                    other => panic!("{field} = {bad}: {other:?}"),
                }
            }
            // What is allowed never fails, however odd.
            for odd in [0.0, 1.0] {
                let mut config = BindingConfig::default();
                set(&mut config, odd);
                bind(&sleeve, &tube, &config).unwrap();
            }
        }
    }

    /// Weight moves up by one joint, not from the tip to the root at once.
    #[test]
    fn loose_cloth_gives_to_the_parent_alone() {
        let tube = builtin::character("tube").unwrap();
        let config = BindingConfig {
            loose_share: 0.5,
            ..BindingConfig::default()
        };
        let mut row = [0.0, 0.0, 0.0, 1.0];
        pass_to_parents(&mut row, 4, &[1.0], &tube, &config);
        assert_eq!(row, [0.0, 0.0, 0.5, 0.5]);
    }

    #[test]
    fn halfway_joints_take_weights_only_where_joints_meet() {
        let tube = builtin::character("tube").unwrap();
        let sleeve = builtin::garment("sleeve").unwrap();
        let with = |halfway| {
            let config = BindingConfig {
                halfway,
                ..BindingConfig::default()
            };
            bind(&sleeve, &tube, &config).unwrap()
        };
        let (off, on) = (with(HalfwayJoints::Off), with(HalfwayJoints::On));
        assert_eq!((off.rig.n_transforms(), on.rig.n_transforms()), (4, 8));
        assert!(off.weights.joints().iter().all(|j| *j < 4));
        let mut most = 0.0f32;
        for v in 0..sleeve.mesh().positions().len() {
            // How far along the tube's bones the blend is, counted in joints.
            let along = |weights: &SkinWeights| -> f32 {
                weights
                    .of(v)
                    .map(|(j, w)| {
                        w * if j < 4 {
                            f32::from(j)
                        } else {
                            f32::from(j) - 4.5
                        }
                    })
                    .sum()
            };
            let (before, after) = (along(&off.weights), along(&on.weights));
            assert!((before - after).abs() < 0.05, "{v}: {before} {after}");
            let halfway: f32 = on.weights.of(v).filter(|(j, _)| *j >= 4).map(|w| w.1).sum();
            most = most.max(halfway);
        }
        assert!(
            (0.45..0.55).contains(&most),
            "half and half of two joints is half halfway: {most}"
        );
    }

    #[test]
    fn garment_shape_directions_follow_the_body() {
        let tube = builtin::character("tube").unwrap();
        let sleeve = builtin::garment("sleeve").unwrap();
        let binding = bind(&sleeve, &tube, &BindingConfig::default()).unwrap();
        for (p, d) in sleeve
            .mesh()
            .positions()
            .iter()
            .zip(&binding.shape_directions[1])
        {
            // Girth moves the tube's surface by 1 cm; the sleeve goes with it,
            // less what smoothing around the small circle takes away.
            let outward = Vec3::new(p.x, 0.0, p.z).normalize();
            let moved = d.dot(outward);
            assert!((0.008..0.0101).contains(&moved), "{moved}");
        }
    }
}
