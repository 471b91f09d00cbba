//! [`Tally`]: all that is summed of one method, over the frames of a clip or of
//! many; [`Metrics`]: what it comes to.

use serde::Serialize;

use crate::detail::DetailSums;
use crate::distance::Distances;
use crate::histogram::Histogram;
use crate::motion::MotionErrors;
use crate::penetration::Penetration;
use crate::strain::StrainCounts;
use crate::wrinkles::WrinkleSums;

/// The sums of one method.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How far vertices are off.
    pub distances: Distances,
    /// How far their motion is.
    pub motion: MotionErrors,
    /// Where cloth and body meet; none where there is no body.
    pub penetration: Option<Penetration>,
    /// Against the rest shape and against the settled state.
    pub strains: [StrainCounts; 2],
    /// Where wrinkles are.
    pub detail: DetailSums,
    /// How many there are.
    pub wrinkles: WrinkleSums,
    /// The whole frame, and the step of the method alone [s].
    pub times: Histogram,
    /// The step of the method alone [s].
    pub steps: Histogram,
    /// The confidence of the steps, and the least.
    pub confidence: Confidence,
    /// Before correction, where there is one.
    pub before: Option<Before>,
    /// The mean distance of each frame [m]; of one clip after the other.
    pub curve: Vec<f32>,
}

/// What it was before correction.
#[derive(Clone, Debug, Default)]
pub struct Before {
    /// How far vertices were off.
    pub distances: Distances,
    /// Where cloth and body met; none where there is no body.
    pub penetration: Option<Penetration>,
    /// The farthest that a vertex was moved [m].
    pub moved: f32,
}

/// How sure a method was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    sum: f64,
    n: u64,
    least: f32,
}

impl Default for Confidence {
    fn default() -> Self {
        Self {
            sum: 0.0,
            n: 0,
            least: 1.0,
        }
    }
}

impl Confidence {
    /// One step more.
    pub fn add(&mut self, confidence: f32) {
        self.sum += f64::from(confidence);
        self.n += 1;
        self.least = self.least.min(confidence);
    }

    fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.n += other.n;
        self.least = self.least.min(other.least);
    }

    /// The mean; 1 before the first step.
    pub fn mean(&self) -> f64 {
        match self.n {
            0 => 1.0,
            n => self.sum / n as f64,
        }
    }
}

/// What is known of a method beside its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// The radius of the smallest sphere around the garment at rest [m].
    pub radius: f64,
    /// How long the simulation took for a frame, where that is known [s].
    pub simulated_s: Option<f64>,
    /// The largest eigenvalue of its dynamics, where it has any.
    pub spectral_radius: Option<f64>,
    /// The size of its file [byte].
    pub model_bytes: Option<u64>,
}

/// The metrics under their keys. Units are in the names; velocities are in m/s,
/// accelerations in m/s².
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// Mean vertex distance.
    pub mean_cm: f64,
    /// The distance that 95 of 100 do not exceed, to 0.4 %.
    pub p95_cm: f64,
    /// The largest distance.
    pub max_cm: f64,
    /// Mean distance over the radius of the rest garment's bounding sphere.
    pub relative_percent: f64,
    /// Mean difference of velocities [m/s].
    pub velocity_error: Option<f64>,
    /// Mean difference of accelerations [m/s²].
    pub acceleration_error: Option<f64>,
    /// Points of the garment more than 1 mm inside the body, masked ones left out.
    pub penetration_percent: Option<f64>,
    /// The deepest of them, and of body vertices through the cloth.
    pub penetration_max_mm: Option<f64>,
    /// Body vertices near the garment that are more than 1 mm through it.
    pub penetration_skin_percent: Option<f64>,
    /// Vertices of the garment that are masked.
    pub masked_percent: Option<f64>,
    /// Edge strain against the rest shape that 99 of 100 do not exceed.
    pub stretch_p99_percent: f64,
    /// The same against the first frame of the simulation.
    pub stretch_settled_p99_percent: f64,
    /// Correlation of what is finer than 5 cm with the simulation's.
    pub detail_correlation: f64,
    /// Fine curvature over the simulation's.
    pub wrinkle_ratio: Option<f64>,
    /// Median time of a frame: body posed and skinned, step, correction; none of the
    /// first frame alone.
    pub frame_ms_p50: Option<f64>,
    /// The time that 99 of 100 frames do not exceed.
    pub frame_ms_p99: Option<f64>,
    /// Median time of the method's step alone.
    pub step_ms_p50: Option<f64>,
    /// Simulated seconds a frame over the median animated ones.
    pub speedup: Option<f64>,
    /// Largest eigenvalue of the method's dynamics.
    pub spectral_radius: Option<f64>,
    /// Size of the model's file.
    pub model_mb: Option<f64>,
    /// Mean confidence of the steps.
    pub confidence_mean: f64,
    /// The least confidence of a step.
    pub confidence_min: f32,
    /// Before correction: mean vertex distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_cm_before: Option<f64>,
    /// Before correction: points inside the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penetration_percent_before: Option<f64>,
    /// Before correction: body vertices through the cloth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penetration_skin_percent_before: Option<f64>,
    /// Before correction: the deepest of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penetration_max_mm_before: Option<f64>,
    /// The farthest that correction moved a vertex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction_max_mm: Option<f64>,
}

impl Tally {
    /// Takes other frames of the same garment into account.
    pub fn merge(&mut self, other: &Self) {
        self.distances.merge(&other.distances);
        self.motion.merge(&other.motion);
        merge_depths(&mut self.penetration, other.penetration.as_ref());
        for (mine, more) in self.strains.iter_mut().zip(&other.strains) {
            mine.merge(more);
        }
        self.detail.merge(&other.detail);
        self.wrinkles.merge(&other.wrinkles);
        self.times.merge(&other.times);
        self.steps.merge(&other.steps);
        self.confidence.merge(&other.confidence);
        if let Some(more) = &other.before {
            let mine = self.before.get_or_insert_default();
            mine.distances.merge(&more.distances);
            merge_depths(&mut mine.penetration, more.penetration.as_ref());
            mine.moved = mine.moved.max(more.moved);
        }
        self.curve.extend_from_slice(&other.curve);
    }

    /// What it comes to.
    pub fn metrics(&self, facts: &Facts) -> Metrics {
        let cm = |metres: f64| 100.0 * metres;
        let mm = |metres: f32| 1e3 * f64::from(metres);
        let ms = |times: &Histogram, share| (times.n() > 0).then(|| 1e3 * times.quantile(share));
        let mean = self.distances.all.mean();
        let depths = self.penetration.as_ref();
        let before = self.before.as_ref();
        let depths_before = before.and_then(|b| b.penetration.as_ref());
        let [stretch, settled] = self.strains.each_ref().map(|s| 100.0 * s.quantile(0.99));
        let frame_s = self.times.quantile(0.5);
        Metrics {
            mean_cm: cm(mean),
            p95_cm: cm(self.distances.all.quantile(0.95)),
            max_cm: cm(self.distances.all.max()),
            relative_percent: 100.0 * mean / facts.radius.max(1e-9),
            velocity_error: self.motion.velocity(),
            acceleration_error: self.motion.acceleration(),
            penetration_percent: depths.map(|p| 100.0 * p.cloth.open.share()),
            penetration_max_mm: depths.map(|p| mm(p.deepest())),
            penetration_skin_percent: depths.map(|p| 100.0 * p.skin.open.share()),
            masked_percent: depths.map(|p| 100.0 * p.masked_share()),
            stretch_p99_percent: stretch,
            stretch_settled_p99_percent: settled,
            detail_correlation: self.detail.correlation(),
            wrinkle_ratio: self.wrinkles.ratio(),
            frame_ms_p50: ms(&self.times, 0.5),
            frame_ms_p99: ms(&self.times, 0.99),
            step_ms_p50: ms(&self.steps, 0.5),
            speedup: (facts.simulated_s.filter(|_| frame_s > 0.0)).map(|s| s / frame_s),
            spectral_radius: facts.spectral_radius,
            model_mb: facts.model_bytes.map(|bytes| bytes as f64 / 1e6),
            confidence_mean: self.confidence.mean(),
            confidence_min: self.confidence.least,
            mean_cm_before: before.map(|b| cm(b.distances.all.mean())),
            penetration_percent_before: depths_before.map(|p| 100.0 * p.cloth.open.share()),
            penetration_skin_percent_before: depths_before.map(|p| 100.0 * p.skin.open.share()),
            penetration_max_mm_before: depths_before.map(|p| mm(p.deepest())),
            correction_max_mm: before.map(|b| mm(b.moved)),
        }
    }
}

fn merge_depths(mine: &mut Option<Penetration>, more: Option<&Penetration>) {
    if let Some(more) = more {
        mine.get_or_insert_default().add(more);
    }
}
