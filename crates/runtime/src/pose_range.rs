//! The body in few numbers, and how far it is from the poses that a method
//! knows.
//!
//! A body skinned by linear blending is linear in the joints' transforms: with
//! t the rows of all T̄ⱼ = canonical_from_world · world_from_restⱼ, its vertices
//! in canonical space are m = S t, and its PCA coefficients are
//!
//! ```text
//! x = Λᵀ (m − μ) = P (t − t̄),        P = Λᵀ S
//! ```
//!
//! so that no vertex need be skinned. How far all vertices are from their mean
//! follows from the joints alone as well, ‖m − μ‖² = ‖G½ (t − t̄)‖², G = Sᵀ S;
//! what the coefficients do not have of it is the residual ϱ². The distance
//!
//! ```text
//! d² = Σ xₖ² / (λₖ + f) + ϱ² / f
//! ```
//!
//! is 1 for a body one standard deviation away along one component, with f a
//! floor under the variances. Confidence is 1 up to the largest distance of a
//! training frame, and 0 from [`LOST`] times that on.
//!
//! Each coefficient also has bounds, those of the training frames and a little more. It
//! is held within them: along a component that hardly moved in training a linear map
//! knows nothing of what is far. What that takes off, e = ‖x − held x‖, counts as
//! distance too, so that confidence is 1 up to `room` and 0 from [`OUTSIDE`] times that
//! on.
//!
//! | symbol | here          | shape                        | meaning                      |
//! |--------|---------------|------------------------------|------------------------------|
//! | t̄      | `mean`        | 3 × joint × 4                | mean of the training frames  |
//! | P      | `projection`  | (3 × joint × 4) × component  | its columns one after another |
//! | G½     | `metric`      | (joint × 4) × (joint × 4)    | alike for x, y and z         |
//! | 1/(λ+f), 1/f | `weights` | component + 1              |                              |
//! |        | `bounds`      | 2 × component                | the least and the most of each coefficient |
//!
//! Nothing here belongs to one method: whoever learned from poses can hold a
//! [`PoseRange`] and move towards the skinned garment by [`Trust`].

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::CanonicalFrame;
use glam::{Affine3A, Vec3};

use crate::model::ModelError;
use crate::products::add_columns;
use crate::tensors::{TensorValues, Tensors};

/// Beyond so many times the largest training distance nothing is known. Less
/// would distrust poses a little beyond training, where a linear map still
/// holds; more would trust poses that are nothing like it.
pub const LOST: f32 = 3.0;

/// So many times its room outside its bounds a body is not known at all.
pub const OUTSIDE: f32 = 4.0;

/// How far beyond the training shapes a coefficient may be without and with
/// loss of all confidence; one unit is about a standard deviation.
const SHAPE_NEAR: f32 = 0.25;
const SHAPE_LOST: f32 = 1.0;

/// The body's PCA space, and the poses that were seen in it.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseRange {
    n_joints: usize,
    n_components: usize,
    parts: PoseRangeParts,
}

/// What a [`PoseRange`] is made of; see the module for shapes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoseRangeParts {
    /// The mean transforms, shape [3, joint, 4].
    pub mean: Vec<f32>,
    /// P by columns, shape [3, joint, 4, component].
    pub projection: Vec<f32>,
    /// G½, shape [joint, 4, joint, 4].
    pub metric: Vec<f32>,
    /// What each squared coefficient counts, and the residual last.
    pub weights: Vec<f32>,
    /// The largest distance of a training frame.
    pub knee: f32,
    /// Between which each coefficient is held, shape [2, component].
    pub bounds: Vec<f32>,
    /// How far outside these a body may be and is still known.
    pub room: f32,
    /// The smallest and the largest of each shape coefficient, shape [2, parameter].
    pub shapes: Vec<f32>,
}

/// Why parts are no [`PoseRange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {what} of the body's space have the wrong number of values or one out of range")]
pub struct PoseRangeError {
    /// Which part.
    pub what: &'static str,
}

impl PoseRange {
    /// A range of the given parts.
    ///
    /// # Errors
    /// When lengths don't match, a value is not finite or a weight is negative.
    pub fn new(parts: PoseRangeParts) -> Result<Self, PoseRangeError> {
        let n = parts.mean.len();
        let n_joints = n / 12;
        let n_components = parts.weights.len().saturating_sub(1);
        let width = 4 * n_joints;
        let checks = [
            ("mean", n == 12 * n_joints && n > 0, &parts.mean),
            (
                "projection",
                parts.projection.len() == n * n_components,
                &parts.projection,
            ),
            ("metric", parts.metric.len() == width * width, &parts.metric),
            (
                "weights",
                !parts.weights.is_empty() && parts.weights.iter().all(|w| *w >= 0.0),
                &parts.weights,
            ),
            (
                "bounds",
                parts.bounds.len() == 2 * n_components
                    && (0..n_components).all(|k| parts.bounds[k] <= parts.bounds[n_components + k]),
                &parts.bounds,
            ),
            (
                "shapes",
                parts.shapes.len().is_multiple_of(2),
                &parts.shapes,
            ),
        ];
        for (what, is_sound, values) in checks {
            let is_finite = values.iter().all(|v| v.is_finite() && v.abs() <= 1e12);
            if !is_sound || !is_finite {
                return Err(PoseRangeError { what });
            }
        }
        if !(parts.knee > 0.0 && parts.knee <= 1e6) {
            return Err(PoseRangeError { what: "distances" });
        }
        if !(parts.room > 0.0 && parts.room <= 1e12) {
            return Err(PoseRangeError { what: "room" });
        }
        Ok(Self {
            n_joints,
            n_components,
            parts,
        })
    }

    /// How many joints the body has.
    pub const fn n_joints(&self) -> usize {
        self.n_joints
    }

    /// How many coefficients describe it.
    pub const fn n_components(&self) -> usize {
        self.n_components
    }

    /// How many shape coefficients it has.
    pub fn n_shape(&self) -> usize {
        self.parts.shapes.len() / 2
    }

    /// The shape, if there was only one.
    pub fn only_shape(&self) -> Option<Vec<f32>> {
        let (low, high) = self.parts.shapes.split_at(self.n_shape());
        (low == high).then(|| low.to_vec())
    }

    /// What it is made of.
    pub const fn parts(&self) -> &PoseRangeParts {
        &self.parts
    }

    /// Room to work in.
    pub fn scratch(&self) -> PoseScratch {
        PoseScratch {
            offset: vec![0.0; 12 * self.n_joints],
            spread: vec![0.0; 4 * self.n_joints],
        }
    }

    /// Writes the body's coefficients to `x` and returns its distance from the
    /// training poses. Coefficients are held within their bounds, so that whatever
    /// they drive stays bounded.
    ///
    /// # Panics
    /// When there is not one transform a joint, or no room.
    pub fn project(
        &self,
        frame: &CanonicalFrame,
        world_from_rest: &[Affine3A],
        scratch: &mut PoseScratch,
        x: &mut [f32],
    ) -> f32 {
        assert_eq!(x.len(), self.n_components, "one coefficient a component");
        canonical_rows(frame, world_from_rest, &mut scratch.offset);
        for (value, mean) in scratch.offset.iter_mut().zip(&self.parts.mean) {
            *value -= mean;
        }
        x.fill(0.0);
        add_columns(&self.parts.projection, &scratch.offset, x);
        let mut all = 0.0;
        for axis in scratch.offset.chunks_exact(4 * self.n_joints) {
            scratch.spread.fill(0.0);
            add_columns(&self.parts.metric, axis, &mut scratch.spread);
            all += scratch.spread.iter().map(|u| u * u).sum::<f32>();
        }
        let own: f32 = x.iter().map(|x| x * x).sum();
        let (tail, weights) = (self.parts.weights[self.n_components], &self.parts.weights);
        let near: f32 = x.iter().zip(weights).map(|(x, w)| x * x * w).sum();
        let distance = libm::sqrtf(near + (all - own).max(0.0) * tail);
        let (low, high) = self.bounds();
        let mut outside = 0.0;
        for (x, (low, high)) in x.iter_mut().zip(low.iter().zip(high)) {
            let held = x.clamp(*low, *high);
            outside += (*x - held) * (*x - held);
            *x = held;
        }
        self.at_least(distance, libm::sqrtf(outside))
    }

    /// The distance of a body that is so far outside its bounds, if it is more.
    pub(crate) fn at_least(&self, distance: f32, outside: f32) -> f32 {
        let share = (outside / self.parts.room - 1.0) / (OUTSIDE - 1.0);
        distance.max(self.parts.knee * (1.0 + (LOST - 1.0) * share))
    }

    /// The least and the most of each coefficient.
    pub fn bounds(&self) -> (&[f32], &[f32]) {
        self.parts.bounds.split_at(self.n_components)
    }

    /// How much a method that knows these poses and shapes knows of a body at
    /// that distance, from 0 to 1.
    pub fn confidence(&self, distance: f32, shape: &[f32]) -> f32 {
        let of_pose = fall(distance / self.parts.knee, 1.0, LOST);
        let (low, high) = self.parts.shapes.split_at(self.n_shape());
        let beyond = shape.iter().zip(low.iter().zip(high));
        let beyond = beyond
            .map(|(s, (low, high))| (low - s).max(s - high))
            .fold(0.0, f32::max);
        of_pose * fall(beyond, SHAPE_NEAR, SHAPE_LOST)
    }

    pub(crate) fn write(&self, tensors: &mut Tensors) {
        let (n, k) = (self.n_joints, self.n_components);
        let parts = &self.parts;
        let mut add = |name, shape: &[usize], values: &[f32]| {
            tensors.insert(name, shape, TensorValues::F32(values.to_vec()));
        };
        add("body/mean", &[3, n, 4], &parts.mean);
        add("body/projection", &[3, n, 4, k], &parts.projection);
        add("body/metric", &[n, 4, n, 4], &parts.metric);
        add("body/weights", &[k + 1], &parts.weights);
        add("body/knee", &[1], &[parts.knee]);
        add("body/bounds", &[2, k], &parts.bounds);
        add("body/room", &[1], &[parts.room]);
        add("body/shapes", &[2, self.n_shape()], &parts.shapes);
    }

    pub(crate) fn read(tensors: &Tensors) -> Result<Self, ModelError> {
        let [axes, n, four] = tensors.shape("body/mean")?;
        let [k] = tensors.shape("body/weights")?;
        let [_, n_shape] = tensors.shape("body/shapes")?;
        let k = k.saturating_sub(1);
        let parts = PoseRangeParts {
            mean: tensors.f32("body/mean", &[axes, n, four])?.to_vec(),
            projection: tensors.f32("body/projection", &[3, n, 4, k])?.to_vec(),
            metric: tensors.f32("body/metric", &[n, 4, n, 4])?.to_vec(),
            weights: tensors.f32("body/weights", &[k + 1])?.to_vec(),
            knee: tensors.f32("body/knee", &[1])?[0],
            bounds: tensors.f32("body/bounds", &[2, k])?.to_vec(),
            room: tensors.f32("body/room", &[1])?[0],
            shapes: tensors.f32("body/shapes", &[2, n_shape])?.to_vec(),
        };
        Ok(Self::new(parts)?)
    }
}

/// Room for [`PoseRange::project`].
#[derive(Clone, Debug, PartialEq)]
pub struct PoseScratch {
    offset: Vec<f32>,
    spread: Vec<f32>,
}

impl PoseScratch {
    pub(crate) fn n_joints(&self) -> usize {
        self.spread.len() / 4
    }
}

/// Writes the rows of the joints' transforms in canonical space, shape
/// [3, joint, 4]: the x of all joints, then y, then z.
///
/// # Panics
/// When there is not room for all.
pub fn canonical_rows(frame: &CanonicalFrame, world_from_rest: &[Affine3A], out: &mut [f32]) {
    let n = world_from_rest.len();
    assert_eq!(out.len(), 12 * n, "twelve numbers a joint");
    let canonical = frame.canonical_from_world();
    for (joint, world) in world_from_rest.iter().enumerate() {
        let turned = canonical.matrix3 * world.matrix3;
        // The root first: far from the origin that loses the least.
        let root = glam::Vec3A::from(frame.root);
        let moved = Vec3::from(canonical.matrix3 * (world.translation - root));
        let columns = [turned.x_axis, turned.y_axis, turned.z_axis].map(Vec3::from);
        for axis in 0..3 {
            let row = &mut out[(axis * n + joint) * 4..][..4];
            for (out, column) in row.iter_mut().zip(columns) {
                *out = column[axis];
            }
            row[3] = moved[axis];
        }
    }
}

/// 1 up to `near`, 0 from `lost` on, smooth between.
fn fall(value: f32, near: f32, lost: f32) -> f32 {
    let share = ((lost - value) / (lost - near)).clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

/// How far a garment follows what was learned rather than the skinned garment:
/// the confidence, but never faster than [`Trust::RATE`] a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    share: f32,
}

impl Trust {
    /// The largest change in a frame: a quarter of a second from one to the
    /// other at thirty frames a second. Faster is seen as a jump of the cloth.
    pub const RATE: f32 = 0.125;

    /// Begins where the confidence is.
    pub const fn new(confidence: f32) -> Self {
        Self { share: confidence }
    }

    /// One frame on; returns the share of what was learned.
    pub fn follow(&mut self, confidence: f32) -> f32 {
        let change = (confidence - self.share).clamp(-Self::RATE, Self::RATE);
        self.share = (self.share + change).clamp(0.0, 1.0);
        self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One joint and one component along its height: three coordinates of four
    /// vertices would be as good.
    fn range() -> PoseRange {
        let mut projection = vec![0.0; 12];
        projection[7] = 2.0;
        let mut metric = vec![0.0; 16];
        metric[15] = 2.0;
        PoseRange::new(PoseRangeParts {
            mean: vec![0.0; 12],
            projection,
            metric,
            weights: vec![0.25, 4.0],
            knee: 1.5,
            bounds: vec![-7.0, 9.0],
            room: 0.5,
            shapes: vec![-1.0, 1.0],
        })
        .unwrap()
    }

    fn at(x: f32, y: f32) -> (f32, f32) {
        let (range, mut found) = (range(), [0.0]);
        let frame = CanonicalFrame {
            root: Vec3::ZERO,
            heading: 0.0,
        };
        let joint = Affine3A::from_translation(Vec3::new(x, y, 0.0));
        let distance = range.project(&frame, &[joint], &mut range.scratch(), &mut found);
        (found[0], distance)
    }

    #[test]
    fn distance_is_in_standard_deviations_and_the_residual_counts() {
        // x = 2 y, of variance 4.
        assert_eq!(at(0.0, 1.0), (2.0, 1.0));
        // ϱ = 2 · 0.5 and counts four times its square.
        let (x, distance) = at(0.5, 0.0);
        assert_eq!((x, distance), (0.0, 2.0));
        // Far away the coefficient is held, and the distance is not.
        for (height, held) in [(100.0, 9.0), (-100.0, -7.0)] {
            let (x, distance) = at(0.0, height);
            assert_eq!(x, held);
            assert!(distance >= 100.0, "{distance}");
        }
    }

    #[test]
    fn what_is_outside_its_bounds_is_known_less() {
        let range = range();
        // x = 2 y: half a unit outside is all the room there is, two are four times it.
        // The deviations alone would be 9.5 / 2, beyond three times 1.5 as well.
        let wide = PoseRange::new(PoseRangeParts {
            knee: 10.0,
            ..range.parts().clone()
        });
        let (wide, mut x) = (wide.unwrap(), [0.0]);
        let frame = CanonicalFrame {
            root: Vec3::ZERO,
            heading: 0.0,
        };
        let mut confidence = |y: f32| {
            let joint = Affine3A::from_translation(Vec3::new(0.0, y, 0.0));
            let distance = wide.project(&frame, &[joint], &mut wide.scratch(), &mut x);
            wide.confidence(distance, &[0.0])
        };
        assert_eq!(confidence(4.5), 1.0);
        assert_eq!(confidence(4.75), 1.0);
        // A room and a half more, of three in all.
        assert!((confidence(5.125) - 0.5).abs() < 1e-5);
        assert!(confidence(5.5) < 1e-6);
        assert!(confidence(-4.5) < 1e-6);
    }

    #[test]
    fn confidence_falls_from_one_to_nothing() {
        let range = range();
        assert_eq!(range.confidence(1.5, &[0.0]), 1.0);
        assert_eq!(range.confidence(4.5, &[0.0]), 0.0);
        assert!((range.confidence(3.0, &[0.0]) - 0.5).abs() < 1e-6);
        assert_eq!(range.confidence(0.0, &[1.25]), 1.0);
        assert_eq!(range.confidence(0.0, &[-2.0]), 0.0);
        let mut trust = Trust::new(1.0);
        let shares: Vec<f32> = (0..9).map(|_| trust.follow(0.0)).collect();
        assert_eq!((shares[0], shares[7], shares[8]), (0.875, 0.0, 0.0));
    }

    #[test]
    fn wrong_parts_are_named() {
        let good = range().parts().clone();
        let wrong = |change: fn(&mut PoseRangeParts)| {
            let mut parts = good.clone();
            change(&mut parts);
            PoseRange::new(parts).unwrap_err().what
        };
        assert_eq!(wrong(|p| p.mean.clear()), "mean");
        assert_eq!(wrong(|p| p.projection[3] = f32::NAN), "projection");
        assert_eq!(wrong(|p| p.metric.truncate(3)), "metric");
        assert_eq!(wrong(|p| p.weights[1] = -1.0), "weights");
        assert_eq!(wrong(|p| p.shapes.truncate(1)), "shapes");
        assert_eq!(wrong(|p| p.bounds.truncate(1)), "bounds");
        assert_eq!(wrong(|p| p.bounds[0] = 10.0), "bounds");
        assert_eq!(wrong(|p| p.room = 0.0), "room");
        assert_eq!(wrong(|p| p.knee = 0.0), "distances");
    }
}
