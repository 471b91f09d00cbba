//! `drapery bench walk`: what a frame of a garment on a moving body costs.

use std::time::{Duration, Instant};

use anyhow::Context;
use drapery::core::{BodyModel, FrameIndex, GarmentAnimator, Pose, PoseVelocity, Surroundings};
use drapery::scene::garment::{DraftConfig, GarmentKind, draft};
use drapery::scene::motion::sample;
use drapery::sim::{MeshBoxes, StepReport, TimeSpent, penetration};
use drapery::{SimulatedGarment, WearConfig, WornGarment};
use glam::{DVec3, Vec3};
use serde_json::json;

use crate::args::{Dressed, WalkBench};
use crate::bench::{BUILD, pool_of, spread, threads_or_all};
use crate::bench_simulate::cpu_time;
use crate::say::Say;
use crate::stage::Stage;
use crate::{Answer, source, stop};

/// A point that is deeper in the body than this is inside [m].
const INSIDE: f64 = 1e-3;

pub(crate) fn run(plan: &WalkBench, say: &Say) -> anyhow::Result<Answer> {
    let threads = threads_or_all(plan.threads);
    let pool = pool_of(threads)?;
    let dressed = Dressed {
        character: Some(plan.character.clone()),
        garment: vec![plan.garment.clone()],
        motion: Some(plan.motion.clone()),
        ..Dressed::default()
    };
    let mut stage = Stage::load(&dressed, say)?;
    if let Some(kind) = GarmentKind::named(&plan.garment) {
        let config = DraftConfig {
            n_triangles: plan.triangles,
            ..DraftConfig::default()
        };
        stage.garments[0] = draft(kind, &stage.character, &stage.body.shape, &config)?;
        stage.made_for[0] = stage.body.shape.clone();
    }
    let measured = pool.install(|| measure(plan, &stage, say))?;
    measured.tell(plan, &stage, threads, say)?;
    Ok(match measured.n_inside {
        0 => Answer::Yes,
        _ => Answer::No,
    })
}

struct Measured {
    n_vertices: usize,
    /// Seconds of each frame.
    frames: Vec<f64>,
    cpu: Option<Duration>,
    /// Of dressing, before the first frame [s].
    dressing: f64,
    /// All frames together.
    report: StepReport,
    spent: TimeSpent,
    posing: Duration,
    steps: u32,
    /// Points deeper than a millimetre, over all frames, and the worst [m].
    n_inside: usize,
    worst: f64,
    /// Mean of the cloth in the end [m], so that runs can be compared.
    middle: DVec3,
    /// What 99 of 100 vertices are slower than in the end [m/s].
    speed: f64,
}

fn measure(plan: &WalkBench, stage: &Stage, say: &Say) -> anyhow::Result<Measured> {
    let fabric = source::fabric(&plan.fabric, say)?;
    let (model, clip) = (&stage.character, &stage.clip);
    let (rate, config) = (clip.frame_rate(), WearConfig::default());
    let garment = &stage.garments[0];
    let made_for = &stage.made_for[0];
    let worn = SimulatedGarment::new(garment, model, made_for, &fabric, rate, config)?;
    let n_joints = clip.skeleton().len();
    let mut pose = Pose::identity(Vec3::ZERO, n_joints);
    let mut velocity = PoseVelocity::zero(n_joints);
    let mut posed = model.room();
    let mut out = vec![Vec3::ZERO; worn.topology().n_vertices()];
    let mut measured = Measured {
        n_vertices: out.len(),
        frames: Vec::new(),
        cpu: Some(Duration::ZERO),
        dressing: 0.0,
        report: StepReport::default(),
        spent: TimeSpent::default(),
        posing: Duration::ZERO,
        steps: 0,
        n_inside: 0,
        worst: 0.0,
        middle: DVec3::ZERO,
        speed: 0.0,
    };
    let mut state: Option<WornGarment> = None;
    let mut dressed = TimeSpent::default();
    let mut boxes = None;
    let progress = say.progress(u64::from(plan.frames), "frames");
    // The first frame is where dressing ends.
    for frame in 0..=plan.frames {
        stop::check()?;
        let time = rate.time_of(FrameIndex(frame));
        sample(clip, time, &mut pose, &mut velocity);
        model.pose(&stage.body, &pose, &velocity, &mut posed)?;
        let seen = posed.frame(&stage.body, Surroundings::default());
        let start = Instant::now();
        let Some(state) = &mut state else {
            let started = state.insert(worn.start(&seen)?);
            worn.step(started, &seen, &mut out)?;
            measured.dressing = start.elapsed().as_secs_f64();
            dressed = started.simulation().time_spent();
            measured.posing = started.time_posing();
            continue;
        };
        let cpu = cpu_time();
        worn.step(state, &seen, &mut out)
            .with_context(|| format!("frame {frame}"))?;
        measured.frames.push(start.elapsed().as_secs_f64());
        let sum = measured.cpu;
        measured.cpu = sum.and_then(|sum| Some(sum + cpu_time()?.checked_sub(cpu?)?));
        measured.report.add(state.report());
        measured.steps += config.steps_per_frame;
        // Not part of the frame's time.
        let x = state.simulation().positions();
        let boxes = boxes.get_or_insert_with(|| MeshBoxes::new(worn.topology(), x));
        let skin = &state.simulation().obstacles()[0];
        let depth = penetration(skin, boxes, x, INSIDE);
        measured.n_inside += depth.n_inside;
        measured.worst = measured.worst.max(depth.worst);
        progress.inc(1);
    }
    progress.finish_and_clear();
    if let Some(state) = &state {
        measured.spent = less(state.simulation().time_spent(), dressed);
        measured.posing = state.time_posing() - measured.posing;
        let x = state.simulation().positions();
        measured.middle = x.iter().sum::<DVec3>() / x.len() as f64;
        let speeds = state.simulation().velocities().iter();
        let mut speeds: Vec<f64> = speeds.map(|v| v.length()).collect();
        speeds.sort_by(f64::total_cmp);
        measured.speed = speeds[speeds.len() * 99 / 100];
    }
    Ok(measured)
}

/// What has been spent since then.
fn less(now: TimeSpent, then: TimeSpent) -> TimeSpent {
    TimeSpent {
        obstacles: now.obstacles - then.obstacles,
        surface: now.surface - then.surface,
        broad: now.broad - then.broad,
        narrow: now.narrow - then.narrow,
        pairs: now.pairs - then.pairs,
        solve: now.solve - then.solve,
        steps: now.steps - then.steps,
    }
}

impl Measured {
    fn tell(
        &self,
        plan: &WalkBench,
        stage: &Stage,
        threads: usize,
        say: &Say,
    ) -> anyhow::Result<()> {
        let n_frames = self.frames.len().max(1) as f64;
        let wall: f64 = self.frames.iter().sum();
        let mut sorted = self.frames.clone();
        sorted.sort_by(f64::total_cmp);
        let (fastest, median, slowest) = spread(&sorted);
        let share = |seconds: f64| 100.0 * seconds / wall;
        let per_step = |count: u32| f64::from(count) / f64::from(self.steps.max(1));
        let TimeSpent {
            obstacles,
            surface,
            broad,
            narrow,
            pairs,
            solve,
            ..
        } = self.spent;
        let posing = self.posing.as_secs_f64();
        let rest = wall - posing - obstacles - surface - broad - narrow - pairs - solve;
        let shares = [
            ("posing the body", "posing", posing),
            ("obstacle refit", "refit", obstacles),
            ("points on the body", "surface", surface),
            ("broad phase of pairs", "broad", broad),
            ("narrow phase", "narrow", narrow),
            ("pair forces", "pairs", pairs),
            ("solver", "solve", solve),
            ("rest", "rest", rest),
        ];
        let body_vertices = stage.character.topology().n_vertices();
        let cpu = self.cpu.map(|cpu| cpu.as_secs_f64() / n_frames);
        let report = &self.report;
        let percent: serde_json::Map<String, serde_json::Value> = shares
            .iter()
            .map(|(_, key, seconds)| (format!("{key}_percent"), json!(share(*seconds))))
            .collect();
        let mut data = json!({
            "name": "walk",
            "character": plan.character,
            "garment": plan.garment,
            "motion": plan.motion,
            "vertices": self.n_vertices,
            "body_vertices": body_vertices,
            "frames": self.frames.len(),
            "steps_per_frame": self.steps / self.frames.len().max(1) as u32,
            "threads": threads,
            "build": BUILD,
            "runs": 1,
            "s_per_frame": wall / n_frames,
            "s_per_frame_median": median,
            "s_per_frame_min": fastest,
            "s_per_frame_max": slowest,
            "cpu_s_per_frame": cpu,
            "dressing_s": self.dressing,
            "solves_per_step": per_step(report.solves),
            "newton_per_step": per_step(report.solve.iterations),
            "linear_per_step": per_step(report.solve.linear_iterations),
            "line_search_cuts": report.solve.cuts,
            "touches_max": report.touches,
            "parts_max": report.parts,
            "set_back": report.set_back,
            "points_inside": self.n_inside,
            "penetration_worst_mm": 1e3 * self.worst,
            "middle_m": self.middle.to_array(),
            "speed_p99_m_per_s": self.speed,
        });
        if let Some(data) = data.as_object_mut() {
            data.extend(percent);
        }
        let told: Vec<String> = shares
            .iter()
            .map(|(name, _, seconds)| format!("{name} {:.1} %", share(*seconds)))
            .collect();
        let text = format!(
            "{} of {} vertices on {} of {body_vertices}, {}: {:.3} s a frame, {} s of CPU time ({} frames of {} steps, {threads} threads, {BUILD} build)\n\
             frames took {fastest:.3} to {slowest:.3} s, {median:.3} in the middle; dressing before the first {:.1} s\n\
             of the time: {}\n\
             {:.2} solves, {:.2} Newton and {:.1} linear iterations a step, {} line search cuts; at most {} contacts and {} parts in a step\n\
             {} points deeper than 1 mm in the body as it gives way, {:.3} mm at worst; {} vertices set back; the middle ends at {:.6}, 99 of 100 vertices slower than {:.4} m/s",
            plan.garment,
            self.n_vertices,
            plan.character,
            plan.motion,
            wall / n_frames,
            cpu.map_or("unknown".to_string(), |cpu| format!("{cpu:.3}")),
            self.frames.len(),
            self.steps / self.frames.len().max(1) as u32,
            self.dressing,
            told.join(", "),
            per_step(report.solves),
            per_step(report.solve.iterations),
            per_step(report.solve.linear_iterations),
            report.solve.cuts,
            report.touches,
            report.parts,
            self.n_inside,
            1e3 * self.worst,
            report.set_back,
            self.middle,
            self.speed,
        );
        say.result("bench", data, text)
    }
}
