//! The principal components of a body's surface, from its joints alone.
//!
//! In canonical space the vertices of a linearly blended body are m = S t, with
//! t the joints' transforms; see [`PoseRange`](drapery_runtime::PoseRange).
//! With G = Sᵀ S the map t ↦ u = G½ t keeps all distances between surfaces, so
//! the components of u are those of m and need 12 numbers a joint instead of 3
//! a vertex: exact, and no vertex is ever skinned. G is the same for x, y and
//! z, and has a row for each of the four columns of a joint's transform:
//!
//! ```text
//! G₍ⱼₐ₎₍ₖᵦ₎ = Σᵥ wᵥⱼ wᵥₖ rᵥₐ rᵥᵦ,      rᵥ = (rest position, 1)
//! ```
//!
//! # Where we differ
//! - Pose blend shapes are left out: they follow from the same joints.
//! - With several body shapes the surface is that of the first one; the others
//!   differ by where their joints are.

use drapery_core::{BodyModel, ShapedBody};
use drapery_linalg::{Dense, product, symmetric_eigen};
use drapery_runtime::{PoseRange, PoseRangeParts, canonical_rows};
use drapery_store::dataset::PlannedSequence;
use glam::Vec3;

use crate::frames::{Footage, Reading};
use crate::{Pca, PcaMethod, TrainError};

/// The floor under the variances of the confidence, as the distance of a vertex
/// [m]: without one a body that is stiff in training would have no confidence
/// after the smallest shrug.
const FLOOR: f64 = 0.01;

/// Components that move vertices by less are left out [m], root mean square.
/// Motions made by formulas have few degrees of freedom, and what is left after
/// those is rounding: with it model A of the small dress scene was off by 92 cm
/// on another clip.
const LEAST: f64 = 1e-4;

/// How far beyond its training frames a coefficient may go, as a share of how far apart
/// they are. With no limit but a distance in all, a leap unlike those of training drove
/// components that hardly ever move far away, and a dress with them.
const BEYOND: f32 = 0.05;

/// How far outside these a body is still known, as the distance of a vertex [m], root
/// mean square: as far as nothing counts anyway.
const ROOM: f64 = FLOOR;

/// Beyond any coefficient.
const FAR: f32 = 1e9;

/// How long the axes are that stand for a joint where there is no surface [m].
const AXIS: f32 = 0.1;

/// Points that follow joints.
pub(crate) struct Surface {
    /// Where they rest [m], and which joints they follow.
    points: Vec<(Vec3, Vec<(u16, f32)>)>,
}

impl Surface {
    /// The vertices of a body.
    pub(crate) fn of_body(model: &dyn BodyModel, shaped: &ShapedBody) -> Self {
        let weights = model.skin_weights();
        let points = shaped.rest.iter().enumerate();
        let points = points.map(|(v, rest)| (*rest, weights.of(v).collect()));
        Self {
            points: points.collect(),
        }
    }

    /// The origin and the tips of the axes of every joint.
    pub(crate) fn of_joints(shaped: &ShapedBody) -> Self {
        let joints = shaped.joints.iter().enumerate();
        let points = joints.flat_map(|(joint, rest)| {
            let tips = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
            tips.map(|tip| (*rest + AXIS * tip, vec![(joint as u16, 1.0)]))
        });
        Self {
            points: points.collect(),
        }
    }

    /// G½, shape [joint, 4, joint, 4].
    fn metric(&self, n_joints: usize) -> Result<Vec<f64>, TrainError> {
        let n = 4 * n_joints;
        let mut gram = vec![0.0; n * n];
        for (rest, weights) in &self.points {
            let r = [rest.x, rest.y, rest.z, 1.0].map(f64::from);
            for (j, wj) in weights {
                for (k, wk) in weights {
                    let w = f64::from(*wj) * f64::from(*wk);
                    for a in 0..4 {
                        for b in 0..4 {
                            let at = (4 * usize::from(*j) + a) * n + 4 * usize::from(*k) + b;
                            gram[at] += w * r[a] * r[b];
                        }
                    }
                }
            }
        }
        let eigen = symmetric_eigen(&gram, n)?;
        let scaled: Vec<f64> = eigen
            .vectors
            .chunks_exact(n)
            .zip(&eigen.values)
            .flat_map(|(v, value)| v.iter().map(|x| x * value.max(0.0).sqrt()))
            .collect();
        let vectors = Dense::new(&eigen.vectors, n, n);
        Ok(product(vectors.transposed(), Dense::new(&scaled, n, n)))
    }
}

/// A body's space, and how much of its variance it has.
pub(crate) struct BodySpace {
    pub(crate) range: PoseRange,
    /// The share of the variance of all vertices.
    pub(crate) explained: f64,
}

/// Fits the components to `plain` sequences, and what is known to all of them
/// and to `extended` ones.
pub(crate) fn fit_body_space(
    footage: &Footage<'_>,
    plain: &[PlannedSequence],
    extended: &[PlannedSequence],
    n_components: usize,
) -> Result<BodySpace, TrainError> {
    let head = footage.store.head();
    let n_joints = footage.body.skeleton().len();
    let shape = &head.manifest.shape_of(&extended[0]).coefficients;
    let shaped = footage.body.shaped(shape)?;
    let surface = match head.has_body() {
        true => Surface::of_body(footage.body, &shaped),
        false => Surface::of_joints(&shaped),
    };
    let (n, width) = (12 * n_joints, 4 * n_joints);
    let metric = surface.metric(n_joints)?;
    let mut row = vec![0.0f32; n];
    let mut mean = vec![0.0f64; n];
    let mut n_rows = 0;
    let pca = Pca::fit(n, n_components, PcaMethod::Gram, |each| {
        mean.fill(0.0);
        n_rows = 0;
        let mut block: Vec<f64> = Vec::new();
        footage.for_each(plain, Reading::Poses, |shot| {
            canonical_rows(&shot.canonical, &shot.posed.world_from_rest, &mut row);
            block.extend(row.iter().map(|v| f64::from(*v)));
            for (mean, v) in mean.iter_mut().zip(&row) {
                *mean += f64::from(*v);
            }
            n_rows += 1;
            if block.len() == 256 * n {
                each(&spread(&block, &metric, width));
                block.clear();
            }
            Ok(())
        })?;
        each(&spread(&block, &metric, width));
        Ok::<(), TrainError>(())
    })?;
    let n_points = surface.points.len() as f64;
    let moves = |v: &&f64| **v > n_points * LEAST * LEAST;
    let k = pca.variances.iter().take_while(moves).count();
    if k == 0 {
        return Err(TrainError::Still { what: "body" });
    }
    // P = Λ G½, by columns.
    let by_axis = product(
        Dense::new(&pca.basis[..k * n], 3 * k, width),
        Dense::new(&metric, width, width),
    );
    let mut projection = vec![0.0f32; n * k];
    for component in 0..k {
        for input in 0..n {
            projection[input * k + component] = by_axis[component * n + input] as f32;
        }
    }
    let variances = &pca.variances[..k];
    let tail = pca.total_variance - variances.iter().sum::<f64>();
    let floor = tail.max(0.0) + n_points * FLOOR * FLOOR;
    let weights = variances.iter().map(|v| (1.0 / (v + floor)) as f32);
    let weights = weights.chain([(1.0 / floor) as f32]).collect();
    let n_shape = shape.len();
    let mut parts = PoseRangeParts {
        mean: mean.iter().map(|m| (m / n_rows as f64) as f32).collect(),
        projection,
        metric: metric.iter().map(|v| *v as f32).collect(),
        weights,
        // As if everything were near, to see how far training goes.
        knee: 1e6,
        bounds: [vec![-FAR; k], vec![FAR; k]].concat(),
        room: (ROOM * n_points.sqrt()) as f32,
        shapes: vec![0.0; 2 * n_shape],
    };
    for parameter in 0..n_shape {
        let shapes = extended.iter().map(|s| head.manifest.shape_of(s));
        let own = shapes.map(|s| s.coefficients[parameter]);
        parts.shapes[parameter] = own.clone().fold(f32::INFINITY, f32::min);
        parts.shapes[n_shape + parameter] = own.fold(f32::NEG_INFINITY, f32::max);
    }
    let wide = PoseRange::new(parts.clone())?;
    let mut scratch = wide.scratch();
    let (mut x, mut knee) = (vec![0.0; k], 0.0f32);
    let (mut low, mut high) = (vec![FAR; k], vec![-FAR; k]);
    footage.for_each(extended, Reading::Poses, |shot| {
        let joints = &shot.posed.world_from_rest;
        knee = knee.max(wide.project(&shot.canonical, joints, &mut scratch, &mut x));
        for (x, (low, high)) in x.iter().zip(low.iter_mut().zip(&mut high)) {
            (*low, *high) = (low.min(*x), high.max(*x));
        }
        Ok(())
    })?;
    for (low, high) in low.iter_mut().zip(&mut high) {
        let more = BEYOND * (*high - *low);
        (*low, *high) = (*low - more, *high + more);
    }
    parts.bounds = [low, high].concat();
    // A hair more, so that no training frame is beyond by rounding.
    parts.knee = (1.0001 * knee).max(1e-3);
    Ok(BodySpace {
        range: PoseRange::new(parts)?,
        explained: pca.explained(k),
    })
}

/// u = G½ t, for x, y and z of every row.
fn spread(rows: &[f64], metric: &[f64], width: usize) -> Vec<f64> {
    let rows = Dense::new(rows, rows.len() / width, width);
    product(rows, Dense::new(metric, width, width))
}
