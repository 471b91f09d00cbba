//! What is measured of every garment while a sequence is made or checked:
//! [`Measures`].

use drapery_core::{BodyModel, ShapedBody};
use drapery_sim::{StepReport, Yielding};
use drapery_store::dataset::DatasetHead;
use glam::Vec3;
use serde_json::{Value, json};

use crate::{SimulatedGarment, WearMeter, WearSummary};

/// All garments of an outfit, frame after frame.
pub(super) struct Measures {
    garments: Vec<Measured>,
    steps: StepReport,
    /// The steps before the first frame.
    pub(super) dressing: StepReport,
    /// The mask of the last frame, one garment after the other.
    pub(super) masked: Vec<bool>,
}

/// One garment.
pub(super) struct Measured {
    name: String,
    n_vertices: usize,
    pub(super) meter: WearMeter,
    pub(super) summary: WearSummary,
}

/// What to beware of in a frame.
pub(super) struct Seen {
    pub(super) body_contact: bool,
    pub(super) crossings: bool,
}

impl Measures {
    pub(super) fn new(model: &dyn BodyModel, body: &ShapedBody, head: &DatasetHead) -> Self {
        let garments = head.garments.iter().map(|stored| Measured {
            name: stored.garment.name().to_string(),
            n_vertices: stored.n_vertices(),
            meter: WearMeter::new(
                model.topology(),
                &body.rest,
                &stored.garment,
                head.frame_rate,
            ),
            summary: WearSummary::default(),
        });
        Self {
            garments: garments.collect(),
            steps: StepReport::default(),
            dressing: StepReport::default(),
            masked: Vec::new(),
        }
    }

    /// The next frame: a body with its vertices at `skin` [m], that gives way to
    /// itself as `felt`, and all garments at `cloth` [m].
    pub(super) fn add(
        &mut self,
        skin: &[Vec3],
        felt: &Yielding,
        cloth: &[Vec3],
        steps: Option<&StepReport>,
    ) -> Seen {
        let mut seen = Seen {
            body_contact: false,
            crossings: false,
        };
        self.masked.clear();
        let mut rest = cloth;
        for garment in &mut self.garments {
            let (own, others) = rest.split_at(garment.n_vertices);
            let worn = garment.meter.read(skin, felt, own);
            garment.summary.add(&worn, steps);
            self.masked.extend_from_slice(garment.meter.masked());
            seen.body_contact |= worn.n_masked > 0;
            seen.crossings |= worn.crossings > 0;
            rest = others;
        }
        if let Some(steps) = steps {
            self.steps.add(steps);
        }
        seen
    }

    pub(super) fn into_garments(self) -> Vec<Measured> {
        self.garments
    }

    /// What a sequence says of itself; nothing in it depends on time.
    pub(super) fn report(&self, outfit: &SimulatedGarment<'_>) -> Value {
        let layering = outfit.layering();
        json!({
            "method": "simulation",
            "garments": self.worn(),
            "steps": steps(&self.steps),
            "dressing": steps(&self.dressing),
            "layering": {
                "crossed": layering.crossed,
                "lifted": layering.lifted,
                "left": layering.left,
            },
        })
    }

    /// Each garment as measured.
    pub(super) fn worn(&self) -> Vec<Value> {
        let garments = self.garments.iter().map(|garment| {
            let [stretch, settled] = garment.meter.stretch_p99();
            let summary = &garment.summary;
            json!({
                "garment": garment.name,
                "penetration_max_mm": in_mm(summary.deepest()),
                "penetration_percent": 100.0 * summary.cloth.open.share(),
                "masked_percent": 100.0 * summary.masked_share(),
                "body_contact_frames": summary.count(|f| f.body_contact),
                "crossing_frames": summary.count(|f| f.crossings),
                "stretch_p99_percent": 100.0 * stretch,
                "stretch_settled_p99_percent": 100.0 * settled,
                "stretch_max_percent": 100.0 * f64::from(summary.stretch_max),
                "speed_max": summary.speed_max,
            })
        });
        garments.collect()
    }
}

pub(super) fn in_mm(depth: f32) -> f64 {
    1e3 * f64::from(depth)
}

fn steps(report: &StepReport) -> Value {
    json!({
        "solves": report.solves,
        "newton": report.solve.iterations,
        "parts_most": report.parts,
        "set_back": report.set_back,
        "contact_settled": report.contact_settled,
        "converged": report.solve.converged,
    })
}
