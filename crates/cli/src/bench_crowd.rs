//! `drapery bench crowd`: garments a second of a whole crowd, beside NumPy and
//! PyTorch where there is a Python that has them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use drapery::core::{AnimateError, FrameRate, GarmentAnimator, PosedBody, ShapedBody, StepReport};
use drapery::runtime::{Animator, CrowdTimes, StableCrowd, StableSpace};
use glam::Vec3;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::{CrowdBench, Dressed, MotionReading};
use crate::bench::{BUILD, pool_of, spread};
use crate::crowd_stand_in::{Bodies, garment_of, posed_clip, stand_in};
use crate::say::Say;
use crate::stage::{Stage, read_model};
use crate::{Answer, source, stop};

/// The same in Python; read from standard input, so that no file need be there.
const SCRIPT: &str = include_str!("../../../scripts/crowd_numpy.py");

/// At least so many frames are measured, however long they take.
const FRAMES: usize = 7;

/// Frames before the clock starts: dynamics have a past then.
const WARM_UP: usize = 3;

pub(crate) fn run(plan: &CrowdBench, say: &Say) -> anyhow::Result<Answer> {
    if let Some(python) = &plan.python {
        check_python(python)?;
    }
    let character = source::character(&plan.character, say)?;
    let (animator, body, clip) = match &plan.model {
        Some(path) => {
            let model = read_model(path)?;
            let dressed = Dressed {
                character: Some(plan.character.clone()),
                motion: Some(plan.motion.clone()),
                ..Dressed::default()
            };
            let stage = Stage::load_for(std::slice::from_ref(&model), &dressed, say)?;
            let Animator::StableSpace(animator) = model.animator() else {
                bail!(
                    "{} is a model of {}; crowds are of stable-space",
                    path.display(),
                    model.animator().method()
                );
            };
            (animator.clone(), stage.body, stage.clip)
        }
        None => {
            let body = source::shaped(&character, &Default::default(), say)?;
            let reading = MotionReading::default();
            let clip = source::motion_on(&plan.motion, &reading, &body, &character, say)?;
            let garment = garment_of(&plan.garment, plan.vertices as usize, &character, &body)?;
            let posed = posed_clip(&character, &body, &clip)?;
            let dims = plan.dims as usize;
            let rate: FrameRate = clip.frame_rate();
            let animator = stand_in(&garment, &character, &posed, &body, dims, rate)?;
            (animator, body, clip)
        }
    };
    let posed = posed_clip(&character, &body, &clip)?;
    let crowd = StableCrowd::new(animator)?;
    let latency = latencies(crowd.animator(), &posed, &body, plan.seconds)?;
    let mut rows = Vec::new();
    for threads in &plan.threads {
        // Half before and half after the others: machines have moods.
        let mut own = Measured::new(usize::from(*threads), plan.count as usize);
        own.measure(&crowd, &posed, &body, plan.seconds / 2.0)?;
        let others = match &plan.python {
            Some(python) => beside(python, plan, &crowd, *threads)?,
            None => Vec::new(),
        };
        own.measure(&crowd, &posed, &body, plan.seconds / 2.0)?;
        rows.push(own.row());
        rows.extend(others);
    }
    tell(plan, &crowd, &rows, latency, say)?;
    Ok(Answer::Yes)
}

/// The median of what a frame of a crowd takes [s], of as many frames as fill so
/// many seconds.
pub(crate) fn frame_seconds(
    crowd: &StableCrowd,
    clip: &[PosedBody],
    body: &ShapedBody,
    (threads, count): (usize, usize),
    seconds: f64,
) -> anyhow::Result<f64> {
    let mut own = Measured::new(threads, count);
    own.measure(crowd, clip, body, seconds)?;
    Ok(own.row().frame.1)
}

/// Frames of a crowd of ours.
struct Measured {
    threads: usize,
    count: usize,
    frames: Vec<f64>,
    /// Of frames timed by parts, for which the clock is looked at more often.
    parts: Vec<[f64; 4]>,
    /// The least confidence of anyone.
    confidence: f32,
}

/// One line of the table; times are medians [s].
struct RateRow {
    who: String,
    threads: usize,
    runs: usize,
    count: usize,
    frame: (f64, f64, f64),
    parts: [f64; 4],
    /// The matrix product of the reconstruction alone, where it is alone.
    product: Option<f64>,
    confidence: Option<f32>,
}

impl Measured {
    const fn new(threads: usize, count: usize) -> Self {
        Self {
            threads,
            count,
            frames: Vec::new(),
            parts: Vec::new(),
            confidence: 1.0,
        }
    }

    /// Frames for so many seconds.
    fn measure(
        &mut self,
        crowd: &StableCrowd,
        clip: &[PosedBody],
        body: &ShapedBody,
        seconds: f64,
    ) -> anyhow::Result<()> {
        let pool = pool_of(self.threads)?;
        let mut bodies = Bodies::new(clip, body, self.count);
        bodies.go_to(0);
        let mut state = crowd.start(&bodies.frames())?;
        let mut out = vec![0.0f32; self.count * crowd.n_values()];
        let mut reports: Vec<Result<StepReport, AnimateError>> =
            vec![Ok(StepReport::default()); self.count];
        let origin = Instant::now();
        let clock = || origin.elapsed().as_secs_f64();
        let (mut spent, mut n_frames) = (0.0, 0);
        for frame in 0.. {
            stop::check()?;
            bodies.go_to(frame);
            let seen = bodies.frames();
            let by_parts = frame % 2 == 1;
            let before = state.times();
            let start = Instant::now();
            let step = || match by_parts {
                true => crowd.step_by_clock(&mut state, &seen, &mut out, &mut reports, &clock),
                false => crowd.step(&mut state, &seen, &mut out, &mut reports),
            };
            pool.install(step)?;
            let took = start.elapsed().as_secs_f64();
            for report in &reports {
                match report {
                    Ok(report) => self.confidence = self.confidence.min(report.confidence),
                    Err(error) => return Err(error.clone().into()),
                }
            }
            if frame < WARM_UP {
                continue;
            }
            match by_parts {
                true => self
                    .parts
                    .push(parts_of(state.times(), before, self.threads)),
                false => self.frames.push(took),
            }
            spent += took;
            n_frames += 1;
            if n_frames >= FRAMES && spent >= seconds {
                return Ok(());
            }
        }
        Ok(())
    }

    fn row(mut self) -> RateRow {
        self.frames.sort_by(f64::total_cmp);
        let part = |i: usize| {
            let mut all: Vec<f64> = self.parts.iter().map(|parts| parts[i]).collect();
            all.sort_by(f64::total_cmp);
            spread(&all).1
        };
        RateRow {
            who: "drapery".to_string(),
            threads: self.threads,
            runs: self.frames.len(),
            count: self.count,
            frame: spread(&self.frames),
            parts: [0, 1, 2, 3].map(part),
            product: None,
            confidence: Some(self.confidence),
        }
    }
}

/// What the threads spent on each part, as if all had worked all the time [s].
fn parts_of(after: CrowdTimes, before: CrowdTimes, threads: usize) -> [f64; 4] {
    [
        after.read - before.read,
        after.project - before.project,
        after.dynamics - before.dynamics,
        after.reconstruct - before.reconstruct,
    ]
    .map(|seconds| seconds / threads as f64)
}

/// Half and 99 of 100 of single steps are faster than these [ms].
fn latencies(
    animator: &StableSpace,
    clip: &[PosedBody],
    body: &ShapedBody,
    seconds: f64,
) -> anyhow::Result<(f64, f64)> {
    let mut bodies = Bodies::new(clip, body, 1);
    bodies.go_to(0);
    let mut state = animator.start(&bodies.frames()[0])?;
    let mut out = vec![Vec3::ZERO; animator.topology().n_vertices()];
    let mut all = Vec::new();
    let begin = Instant::now();
    for frame in 0.. {
        stop::check()?;
        bodies.go_to(frame);
        let seen = bodies.frames();
        let start = Instant::now();
        animator.step(&mut state, &seen[0], &mut out)?;
        let took = start.elapsed().as_secs_f64();
        if frame >= WARM_UP {
            all.push(1e3 * took);
        }
        if all.len() >= 200 && begin.elapsed().as_secs_f64() > seconds.min(1.0) {
            break;
        }
    }
    all.sort_by(f64::total_cmp);
    Ok((all[all.len() / 2], all[all.len() * 99 / 100]))
}

/// Whether it runs and has NumPy, before anything else is done.
fn check_python(python: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(python);
    let tried = command.args(["-c", "import numpy"]).output();
    let tried = tried.with_context(|| format!("cannot run {}", python.display()))?;
    if !tried.status.success() {
        bail!(
            "{} has no NumPy; give it some: -m pip install numpy torch",
            python.display()
        );
    }
    Ok(())
}

/// A line of the script.
#[derive(Deserialize)]
struct Line {
    library: String,
    version: String,
    runs: usize,
    frame_s: f64,
    frame_s_min: f64,
    frame_s_max: f64,
    read_s: f64,
    project_s: f64,
    dynamics_s: f64,
    reconstruct_s: f64,
    product_s: f64,
}

/// The same sizes in Python.
fn beside(
    python: &Path,
    plan: &CrowdBench,
    crowd: &StableCrowd,
    threads: u16,
) -> anyhow::Result<Vec<RateRow>> {
    let cannot = || format!("cannot run {}", python.display());
    let parts = crowd.animator().parts();
    let sizes = [
        ("--count", plan.count as usize),
        ("--vertices", crowd.n_values() / 3),
        ("--joints", parts.range.n_joints()),
        ("--body", parts.dynamics.n_body()),
        ("--cloth", parts.dynamics.n_cloth()),
        ("--order", parts.dynamics.order()),
        ("--threads", usize::from(threads)),
    ];
    let mut command = Command::new(python);
    command.arg("-");
    for (flag, size) in sizes {
        command.arg(flag).arg(size.to_string());
    }
    command.arg("--seconds").arg(plan.seconds.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().with_context(cannot)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(SCRIPT.as_bytes()).with_context(cannot)?;
    }
    let output = child.wait_with_output().with_context(cannot)?;
    if !output.status.success() {
        bail!("{}: it ended with {}", cannot(), output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let rows = text.lines().map(|line| {
        let line: Line = serde_json::from_str(line).with_context(cannot)?;
        Ok(RateRow {
            who: format!("{} {}", line.library, line.version),
            threads: usize::from(threads),
            runs: line.runs,
            count: plan.count as usize,
            frame: (line.frame_s_min, line.frame_s, line.frame_s_max),
            parts: [
                line.read_s,
                line.project_s,
                line.dynamics_s,
                line.reconstruct_s,
            ],
            product: Some(line.product_s),
            confidence: None,
        })
    });
    rows.collect()
}

/// The parts, as in the table and in JSON.
const PARTS: [&str; 4] = ["read", "project", "dynamics", "reconstruct"];

impl RateRow {
    fn rate(&self, seconds: f64) -> f64 {
        self.count as f64 / seconds
    }

    fn json(&self, plan: &CrowdBench, crowd: &StableCrowd, latency: (f64, f64)) -> Value {
        let parts = crowd.animator().parts();
        let (fastest, median, slowest) = self.frame;
        let mut data = json!({
            "name": "crowd",
            "who": self.who,
            "garment": plan.garment,
            "model": plan.model,
            "motion": plan.motion,
            "vertices": crowd.n_values() / 3,
            "joints": parts.range.n_joints(),
            "body_dims": parts.dynamics.n_body(),
            "dims": parts.dynamics.n_cloth(),
            "order": parts.dynamics.order(),
            "count": self.count,
            "threads": self.threads,
            "runs": self.runs,
            "build": BUILD,
            "garments_per_second": self.rate(median),
            "garments_per_second_min": self.rate(slowest),
            "garments_per_second_max": self.rate(fastest),
            "s_per_frame": median,
        });
        for (name, seconds) in PARTS.iter().zip(self.parts) {
            data[format!("{name}_garments_per_second")] = self.rate(seconds).into();
        }
        if let Some(product) = self.product {
            data["product_garments_per_second"] = self.rate(product).into();
        }
        if let Some(confidence) = self.confidence {
            data["confidence_min"] = confidence.into();
            data["frame_ms_p50"] = latency.0.into();
            data["frame_ms_p99"] = latency.1.into();
        }
        data
    }

    /// Thousands of garments a second.
    fn text(&self) -> String {
        let thousands = |seconds: f64| format!("{:.0}", self.rate(seconds) / 1e3);
        let (fastest, median, slowest) = self.frame;
        let mut cells = vec![thousands(median)];
        cells.push(format!("{}–{}", thousands(slowest), thousands(fastest)));
        cells.extend(self.parts.map(thousands));
        cells.push(self.product.map_or_else(String::new, thousands));
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>11}")).collect();
        format!("{:<20} {:>7} {}", self.who, self.threads, cells.join(" "))
    }
}

fn tell(
    plan: &CrowdBench,
    crowd: &StableCrowd,
    rows: &[RateRow],
    latency: (f64, f64),
    say: &Say,
) -> anyhow::Result<()> {
    let parts = crowd.animator().parts();
    let from = match &plan.model {
        Some(path) => path.display().to_string(),
        None => format!("stand-in of {}", plan.garment),
    };
    let heads = [
        "frame",
        "spread",
        "read",
        "project",
        "dynamics",
        "reconstruct",
        "product",
    ];
    let heads: Vec<String> = heads.iter().map(|head| format!("{head:>11}")).collect();
    let heading = format!(
        "{} garments, {from}: {} vertices, {} body and {} cloth dimensions, order {}, {BUILD} build\n\
         thousands of garments a second, medians:\n{:<20} {:>7} {}",
        plan.count,
        crowd.n_values() / 3,
        parts.dynamics.n_body(),
        parts.dynamics.n_cloth(),
        parts.dynamics.order(),
        "",
        "threads",
        heads.join(" ")
    );
    for (i, row) in rows.iter().enumerate() {
        let text = match i {
            0 => format!("{heading}\n{}", row.text()),
            _ => row.text(),
        };
        say.result("bench", row.json(plan, crowd, latency), text)?;
    }
    let (half, most) = latency;
    say.end(format_args!(
        "frame: all of it; read: joints into canonical space; project: bodies and their confidence;\n\
         reconstruct: garments out of their space, to the world and written; product: its matrix product alone\n\
         one garment by itself: {half:.4} ms at p50, {most:.4} ms at p99"
    ))?;
    if plan.python.is_none() {
        say.note(
            "NumPy and PyTorch beside it: python3 -m venv venv && venv/bin/pip install numpy torch, \
             then --python venv/bin/python",
        );
    }
    Ok(())
}
