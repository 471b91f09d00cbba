//! One motion and one garment of `drapery bench wear`, run and measured.

use std::time::Instant;

use drapery::core::{BodyModel, Clip, Fabric, GarmentAnimator, PosedBody, ShapedBody};
use drapery::scene::character::Character;
use drapery::sim::{Flesh, FleshConfig, StepReport, Yielding};
use drapery::{
    FrameFlags, RollOut, RollOutError, SimulatedGarment, WearConfig, WearMeter, WearSummary,
    WornFrame, WornGarment, dress_made_for, roll_out_with_state,
};
use glam::{DVec3, Vec3};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::Method;
use crate::source::Worn;
use crate::stop;

/// What all pairs share.
pub(crate) struct Wardrobe<'a> {
    pub(crate) character: &'a Character,
    pub(crate) body: &'a ShapedBody,
    pub(crate) method: Method,
    pub(crate) fabric: &'a Fabric,
}

/// What became of a pair.
struct Run {
    summary: WearSummary,
    meter: WearMeter,
    /// Until the first frame, and from it on [s].
    dressing: f64,
    frames: f64,
    /// Where it is deepest.
    deepest: Option<Deepest>,
    /// Why it ended early.
    broke: Option<Broke>,
}

/// Where a point outside the mask is deepest.
#[derive(Serialize)]
struct Deepest {
    /// In the world [m].
    place_m: [f32; 3],
    /// The joint that the skin there follows most.
    joint: String,
    /// How far the body gave way there, [mm].
    gave_way_mm: f64,
}

/// Where a pair failed, and why.
struct Broke {
    /// None while dressing.
    frame: Option<usize>,
    why: String,
}

/// Runs a pair and returns the object of its line; none when the user asked
/// to stop. `each` is told of every frame.
pub(crate) fn run(
    wardrobe: &Wardrobe<'_>,
    clip: &Clip,
    worn: &Worn,
    mut each: impl FnMut(),
) -> Option<Value> {
    let (garment, rate) = (&worn.garment, clip.frame_rate());
    let Wardrobe {
        character,
        body,
        method,
        fabric,
    } = wardrobe;
    let mut run = Run {
        summary: WearSummary::default(),
        meter: WearMeter::new(character.topology(), &body.rest, garment, rate),
        dressing: 0.0,
        frames: 0.0,
        deepest: None,
        broke: None,
    };
    let ended = match method {
        Method::Skinning => match dress_made_for(garment, *character, &worn.made_for, rate) {
            Ok(skinned) => run.roll(&skinned, wardrobe, clip, |_| None, &mut each),
            Err(error) => run.refused(error),
        },
        Method::Simulation => {
            let config = WearConfig::default();
            match SimulatedGarment::new(garment, *character, &worn.made_for, fabric, rate, config) {
                Ok(cloth) => run.roll(
                    &cloth,
                    wardrobe,
                    clip,
                    |s: &WornGarment| Some((*s.report(), s.yielding().clone())),
                    &mut each,
                ),
                Err(error) => run.refused(error),
            }
        }
    };
    (ended == RollOut::Done).then(|| run.data(wardrobe, clip, worn))
}

impl Run {
    /// It could not even begin.
    fn refused(&mut self, error: impl Into<anyhow::Error>) -> RollOut {
        self.broke = Some(Broke {
            frame: None,
            why: format!("{:#}", error.into()),
        });
        RollOut::Done
    }

    fn roll<A: GarmentAnimator>(
        &mut self,
        animator: &A,
        wardrobe: &Wardrobe<'_>,
        clip: &Clip,
        report: impl Fn(&A::State) -> Option<(StepReport, Yielding)>,
        each: &mut impl FnMut(),
    ) -> RollOut {
        let topology = wardrobe.character.topology();
        let mut flesh = None;
        let mut since = Instant::now();
        let ended = roll_out_with_state(
            animator,
            wardrobe.character,
            wardrobe.body,
            clip,
            |frame, posed, cloth, state| {
                // Measuring is no part of the time.
                let seconds = since.elapsed().as_secs_f64();
                match frame {
                    0 => self.dressing = seconds,
                    _ => self.frames += seconds,
                }
                let (steps, felt) = report(state).unzip();
                // A simulation has felt where the body enters itself already.
                let felt = felt.unwrap_or_else(|| {
                    let config = FleshConfig::default();
                    let rest = || Flesh::new(topology, &wide(&wardrobe.body.rest), config);
                    let flesh = flesh.get_or_insert_with(rest);
                    flesh.feel(&wide(&posed.vertices))
                });
                let worn = self.meter.read(&posed.vertices, &felt.inside, cloth);
                self.summary.add(&worn, steps.as_ref());
                if self.summary.deepest_frame == Some(frame as u32) {
                    self.deepest = deepest(wardrobe.character, &worn, posed, &felt);
                }
                each();
                since = Instant::now();
                !stop::asked()
            },
        );
        match ended {
            Ok(ended) => ended,
            Err(error) => {
                let (RollOutError::Pose { frame, .. } | RollOutError::Animate { frame, .. }) =
                    error
                else {
                    return self.refused(error);
                };
                self.broke = Some(Broke {
                    frame: (frame > 0).then_some(frame),
                    why: format!("{:#}", anyhow::Error::new(error)),
                });
                RollOut::Done
            }
        }
    }

    fn data(&self, wardrobe: &Wardrobe<'_>, clip: &Clip, worn: &Worn) -> Value {
        let Self {
            summary,
            meter,
            dressing,
            frames,
            deepest,
            broke,
        } = self;
        let n_frames = summary.n_frames();
        let percent = |share: f64| 100.0 * share;
        let mm = |depth: f32| 1e3 * f64::from(depth);
        let [stretch, settled] = meter.stretch_p99();
        let measured = (n_frames > 0).then(|| {
            json!({
                "penetration_max_mm": mm(summary.deepest()),
                "penetration_percent": percent(summary.cloth.open.share()),
                "penetration_frame_percent": percent(summary.share_worst),
                "penetration_frame": summary.deepest_frame,
                "penetration_at": deepest,
                "poking_max_mm": mm(summary.skin.open.deepest),
                "poking_percent": percent(summary.skin.open.share()),
                "penetration_before_mask_max_mm": mm(summary.cloth.all.deepest.max(summary.skin.all.deepest)),
                "penetration_before_mask_percent": percent(summary.cloth.all.share()),
                "masked_percent": percent(summary.masked_share()),
                "stretch_p99_percent": percent(stretch),
                "stretch_settled_p99_percent": percent(settled),
                "stretch_p99_worst_frame_percent": percent(f64::from(summary.stretch_p99_worst)),
                "stretch_max_percent": percent(f64::from(summary.stretch_max)),
                "speed_max": summary.speed_max,
                "speed_frame": summary.speed_frame,
                "crossings": summary.crossings,
                "set_back": summary.set_back,
                "body_contact_frames": summary.count(|f| f.body_contact),
                "retried_frames": summary.count(|f| f.retried),
                "unsolved_frames": summary.count(|f| f.unsolved),
                "set_back_frames": summary.count(|f| f.set_back),
                "crossing_frames": summary.count(|f| f.crossings),
                "flagged_frames": summary.count(|f| f.any()),
                "flags": {
                    "body_contact": runs(&summary.flags, |f| f.body_contact),
                    "retried": runs(&summary.flags, |f| f.retried),
                    "unsolved": runs(&summary.flags, |f| f.unsolved),
                    "set_back": runs(&summary.flags, |f| f.set_back),
                    "crossings": runs(&summary.flags, |f| f.crossings),
                },
            })
        });
        let mut data = json!({
            "clip": clip.name(),
            "garment": worn.garment.name(),
            "character": wardrobe.character.name(),
            "method": wardrobe.method.name(),
            "vertices": worn.garment.mesh().positions().len(),
            "clip_frames": clip.frames().len(),
            "frames": n_frames,
            "frame_rate": clip.frame_rate().hz(),
            "failed": broke.is_some(),
            "failed_frame": broke.as_ref().and_then(|b| b.frame),
            "why": broke.as_ref().map(|b| b.why.as_str()),
            "dressing_s": (n_frames > 0).then_some(dressing),
            "s_per_frame": (n_frames > 1).then(|| frames / (n_frames - 1) as f64),
        });
        if let (Some(Value::Object(measured)), Some(all)) = (measured, data.as_object_mut()) {
            all.extend(measured);
        }
        data
    }
}

/// What is known of the deepest point of a frame.
fn deepest(
    character: &Character,
    worn: &WornFrame,
    posed: &PosedBody,
    felt: &Yielding,
) -> Option<Deepest> {
    let both = [&worn.cloth.open, &worn.skin.open];
    let most = both
        .into_iter()
        .max_by(|a, b| a.deepest.total_cmp(&b.deepest))?;
    let place = most.place?;
    let distance = |v: usize| posed.vertices[v].distance_squared(place);
    let vertex = (0..posed.vertices.len()).min_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
    let (joint, _) = character
        .skin_weights()
        .of(vertex)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Deepest {
        place_m: place.to_array(),
        joint: character.skeleton().names()[usize::from(joint)].clone(),
        gave_way_mm: 1e3 * felt.back[vertex],
    })
}

fn wide(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}

/// Frames with a flag, as runs from the first to the last.
fn runs(flags: &[FrameFlags], flag: impl Fn(&FrameFlags) -> bool) -> Vec<[usize; 2]> {
    let mut runs: Vec<[usize; 2]> = Vec::new();
    for frame in (0..flags.len()).filter(|f| flag(&flags[*f])) {
        match runs.last_mut() {
            Some([_, last]) if *last + 1 == frame => *last = frame,
            _ => runs.push([frame; 2]),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flagged_frames_are_told_as_runs() {
        let flags: Vec<FrameFlags> = [1, 0, 1, 1, 1, 0, 0, 1]
            .map(|f| FrameFlags {
                retried: f == 1,
                ..FrameFlags::default()
            })
            .to_vec();
        assert_eq!(runs(&flags, |f| f.retried), [[0, 0], [2, 4], [7, 7]]);
        assert!(runs(&flags, |f| f.set_back).is_empty());
    }
}
