//! What is measured of every garment while a sequence is made or checked:
//! [`Measures`].

use drapery_core::{BodyModel, ShapedBody};
use drapery_sim::{StepReport, Yielding};
use drapery_store::dataset::DatasetHead;
use glam::Vec3;
use serde_json::{Value, json};

use super::layers::Layers;
use crate::{SimulatedGarment, WearMeter, WearSummary};

/// All garments of an outfit, frame after frame.
#[derive(Clone)]
pub(super) struct Measures {
    garments: Vec<Measured>,
    layers: Layers,
    /// The steps of the outfit and of each twin, and those before the first
    /// frame.
    steps: Vec<[StepReport; 2]>,
    /// The mask of the last frame, one garment after the other.
    pub(super) masked: Vec<bool>,
}

/// One garment.
#[derive(Clone)]
pub(super) struct Measured {
    name: String,
    n_vertices: usize,
    /// Which steps are its own: those of the outfit, or of a twin.
    group: usize,
    pub(super) meter: WearMeter,
    pub(super) summary: WearSummary,
    /// The frame in which 99 of 100 edges are the most stretched.
    pub(super) stretch_frame: u32,
    /// The frames in which it passes through another garment.
    pub(super) layer_crossings: Vec<u32>,
}

/// What to beware of in a frame.
pub(super) struct Seen {
    pub(super) body_contact: bool,
    pub(super) crossings: bool,
}

impl Measures {
    pub(super) fn new(model: &dyn BodyModel, body: &ShapedBody, head: &DatasetHead) -> Self {
        let mut n_groups = 1;
        let garments = head.garments.iter().map(|stored| Measured {
            name: stored.garment.name().to_string(),
            n_vertices: stored.n_vertices(),
            group: match stored.twin_of {
                None => 0,
                Some(_) => {
                    n_groups += 1;
                    n_groups - 1
                }
            },
            meter: WearMeter::new(
                model.topology(),
                &body.rest,
                &stored.garment,
                head.frame_rate,
            ),
            summary: WearSummary::default(),
            stretch_frame: 0,
            layer_crossings: Vec::new(),
        });
        Self {
            garments: garments.collect(),
            layers: Layers::new(head),
            steps: vec![Default::default(); n_groups],
            masked: Vec::new(),
        }
    }

    /// The next frame: a body with its vertices at `skin` [m], that gives way to
    /// itself as `felt`, and all garments at `cloth` [m]; with the steps of the
    /// outfit and of each twin where they were simulated.
    pub(super) fn add(
        &mut self,
        skin: &[Vec3],
        felt: &Yielding,
        cloth: &[Vec3],
        steps: &[StepReport],
    ) -> Seen {
        let mut seen = Seen {
            body_contact: false,
            crossings: false,
        };
        self.masked.clear();
        let mut rest = cloth;
        let crossed = self.layers.crossed(cloth);
        for (garment, crossed) in self.garments.iter_mut().zip(crossed) {
            let (own, others) = rest.split_at(garment.n_vertices);
            let worn = garment.meter.read(skin, felt, own);
            let frame = garment.summary.n_frames() as u32;
            if worn.stretch_p99 > garment.summary.stretch_p99_worst {
                garment.stretch_frame = frame;
            }
            if crossed {
                garment.layer_crossings.push(frame);
            }
            garment.summary.add(&worn, steps.get(garment.group));
            self.masked.extend_from_slice(garment.meter.masked());
            seen.body_contact |= worn.n_masked > 0;
            seen.crossings |= worn.crossings > 0 || crossed;
            rest = others;
        }
        for ([sum, _], steps) in self.steps.iter_mut().zip(steps) {
            sum.add(steps);
        }
        seen
    }

    /// What it took to put the outfit and each twin on.
    pub(super) fn dressed(&mut self, steps: &[StepReport]) {
        for ([_, dressing], steps) in self.steps.iter_mut().zip(steps) {
            *dressing = *steps;
        }
    }

    pub(super) fn into_garments(self) -> Vec<Measured> {
        self.garments
    }

    /// What a sequence says of itself; nothing in it depends on time.
    pub(super) fn report(&self, outfit: &SimulatedGarment<'_>) -> Value {
        let layering = outfit.layering();
        let mut report = json!({
            "method": "simulation",
            "garments": self.worn(),
            "steps": steps(&self.steps[0][0]),
            "dressing": steps(&self.steps[0][1]),
            "layering": {
                "crossed": layering.crossed,
                "lifted": layering.lifted,
                "left": layering.left,
            },
        });
        let twins = self.garments.iter().filter(|garment| garment.group > 0);
        let twins = twins.map(|twin| {
            let [own, dressing] = &self.steps[twin.group];
            json!({ "garment": twin.name, "steps": steps(own), "dressing": steps(dressing) })
        });
        let twins: Vec<Value> = twins.collect();
        if !twins.is_empty() {
            report["twins"] = twins.into();
        }
        report
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
                "layer_crossing_frames": garment.layer_crossings.len(),
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
