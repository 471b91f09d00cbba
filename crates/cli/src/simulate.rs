//! `drapery simulate`: a scene into a dataset, one job for a clip and its copies
//! that stop, one for every other copy.
//!
//! A sequence that is whole is kept at once; running the command again goes on
//! with those that are missing. Times go beside the dataset, so that its bytes
//! follow from the scene alone.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, bail};
use drapery::scene::scene_file::Scene;
use drapery::store::dataset::{
    DatasetError, DatasetFolder, DatasetStore, PlannedSequence, SequenceState,
};
use drapery::{Progress, Recorded, Recording};
use serde_json::{Value, json};

use crate::args::Simulate;
use crate::bench::pool_of;
use crate::dataset_times::{self, Took, beside};
use crate::record::{self, Input};
use crate::say::Say;
use crate::{Answer, simulate_report, stop, workers};

/// What putting garments on counts for in the progress bar [frames].
const DRESSING: u64 = 60;

pub(crate) fn run(plan: &Simulate, say: &Say) -> anyhow::Result<Answer> {
    let scene = Scene::named(&plan.scene);
    let scene = scene.with_context(|| format!("in {}", plan.scene.display()))?;
    run_scene(plan, scene, &|_| true, say)
}

/// The sequences of a scene that are wanted, of those of the plan, whose own scene
/// is read for its name alone.
pub(crate) fn run_scene(
    plan: &Simulate,
    scene: Scene,
    is_wanted: &dyn Fn(&PlannedSequence) -> bool,
    say: &Say,
) -> anyhow::Result<Answer> {
    let recording = recording(plan, scene, say)?;
    let mut chosen = chosen("--only", &recording.head().manifest.sequences, &plan.only)?;
    let dataset = open(plan, &recording)?;
    chosen.retain(|planned| is_wanted(planned));
    let mut todo: Vec<&PlannedSequence> = Vec::new();
    for planned in &chosen {
        let is_todo = match dataset.state(&planned.name)? {
            SequenceState::Missing => true,
            SequenceState::Failed(_) => plan.retry,
            SequenceState::Whole => false,
        };
        if is_todo {
            todo.push(planned);
        }
    }
    if todo.len() < chosen.len() {
        say.note(format_args!(
            "{}: {} of {} sequences are there already",
            plan.out.display(),
            chosen.len() - todo.len(),
            chosen.len()
        ));
    }
    let started = Instant::now();
    work(&recording, &dataset, &todo, threads(plan), say)?;
    stop::check()?;
    let outcome = Outcome::of(&dataset, &plan.out, started.elapsed().as_secs_f64())?;
    leave_record(plan, &recording)?;
    let page = simulate_report::page(&dataset, &plan.out, &outcome, say)?;
    let page_path = beside(&plan.out, ".report.html");
    crate::write::file(&page_path, page.as_bytes())?;
    say.result("simulate", outcome.data(&plan.out), outcome.text(&plan.out))?;
    say.note(format_args!("see {}", page_path.display()));
    Ok(match outcome.failed.is_empty() {
        true => Answer::Yes,
        false => Answer::No,
    })
}

/// The scene, checked and with all that it takes.
fn recording(plan: &Simulate, scene: Scene, say: &Say) -> anyhow::Result<Recording> {
    let place = || format!("in {}", plan.scene.display());
    for note in &scene.notes {
        say.note(format_args!("{}: {}", note.name, note.note));
    }
    for (clip, n) in scene.jumps()? {
        say.note(format_args!(
            "{clip}: jumps in {n} places, which clean = true mends"
        ));
    }
    for shape in &scene.shapes {
        let parameters = drapery::core::BodyModel::shape_parameters(&scene.character);
        for (parameter, value) in parameters.iter().zip(&shape.body.shape) {
            if !(parameter.min..=parameter.max).contains(value) {
                say.note(format_args!(
                    "shape {}: {} looks sound from {} to {}",
                    shape.name, parameter.name, parameter.min, parameter.max
                ));
            }
        }
    }
    check_fit(&scene, plan, say).with_context(place)?;
    Recording::new(scene, plan.frames).with_context(place)
}

/// Says what is wrong with the garments; what can't be simulated ends it.
fn check_fit(scene: &Scene, plan: &Simulate, say: &Say) -> anyhow::Result<()> {
    let findings = scene.fit()?;
    for found in &findings {
        let finding = &found.finding;
        say.note(format_args!(
            "{}: {}: {} ({})\n  where: {}\n  cure: {}",
            found.garment,
            finding.severity.name(),
            finding.finding.name(),
            finding.count,
            finding.place,
            finding.cure
        ));
    }
    let mut errors = findings.iter().filter(|found| found.is_error());
    match errors.next() {
        Some(first) if !plan.anyway => bail!(
            "{} can't be simulated: {}, {}; cure: {}; --anyway simulates it as it is",
            first.garment,
            first.finding.finding.name(),
            first.finding.place,
            first.finding.cure
        ),
        _ => Ok(()),
    }
}

/// The dataset to write to: a new one, or that of the same scene.
fn open(plan: &Simulate, recording: &Recording) -> anyhow::Result<DatasetFolder> {
    let out: PathBuf = plan.out.components().collect();
    let cannot = || format!("--out {}", out.display());
    let is_new = !out.exists() || std::fs::read_dir(&out).is_ok_and(|mut e| e.next().is_none());
    if is_new {
        if let Some(folder) = out.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).with_context(cannot)?;
        }
        match DatasetFolder::create(&out, recording.head().clone()) {
            // Someone else was faster.
            Err(DatasetError::Occupied { .. }) => {}
            made => return made.with_context(cannot),
        }
    }
    let dataset = DatasetFolder::open_to_write(&out).map_err(|error| match error {
        DatasetError::NotADataset { .. } => DatasetError::Occupied { path: out.clone() },
        other => other,
    });
    let dataset = dataset.with_context(cannot)?;
    dataset
        .head()
        .check_settings(&recording.head().settings)
        .with_context(cannot)?;
    Ok(dataset)
}

/// The sequences of clips or of their own names; all if none are given.
pub(crate) fn chosen<'a>(
    option: &str,
    all: &'a [PlannedSequence],
    only: &[String],
) -> anyhow::Result<Vec<&'a PlannedSequence>> {
    let is_it = |s: &PlannedSequence, name: &String| [&s.name, &s.clip, &s.parent].contains(&name);
    for name in only {
        if !all.iter().any(|s| is_it(s, name)) {
            let known = all.iter().flat_map(|s| [&s.parent, &s.clip, &s.name]);
            let near = drapery::scene::load::nearest(name, known.map(String::as_str));
            let mut clips: Vec<&str> = all.iter().map(|s| s.parent.as_str()).collect();
            clips.dedup();
            bail!(
                "{option} {name}: there is no such clip or sequence; the clips are {}{}",
                clips.join(", "),
                near.map_or_else(String::new, |n| format!(" (did you mean {n}?)"))
            );
        }
    }
    let wanted = |s: &&PlannedSequence| only.is_empty() || only.iter().any(|name| is_it(s, name));
    Ok(all.iter().filter(wanted).collect())
}

fn threads(plan: &Simulate) -> usize {
    plan.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    )
}

/// Records sequences, as many groups of them at once as there are threads.
fn work(
    recording: &Recording,
    dataset: &DatasetFolder,
    todo: &[&PlannedSequence],
    threads: usize,
    say: &Say,
) -> anyhow::Result<()> {
    if todo.is_empty() {
        return Ok(());
    }
    let mut groups = recording.groups(todo);
    let size = |s: &PlannedSequence| u64::from(s.frames) + DRESSING;
    // The longest first, so that no thread is left alone with it in the end.
    groups.sort_by_key(|group| Reverse(group.iter().map(|s| size(s)).sum::<u64>()));
    let at_once = threads.min(groups.len());
    let each = (threads / at_once).max(1);
    let all: u64 = todo.iter().map(|s| size(s)).sum();
    let bar = say.progress(all, "frames");
    let started = Instant::now();
    let (next, gone, n_done) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicUsize::new(0));
    // One that can't be written stops the others: they would fail alike.
    let broken = AtomicBool::new(false);
    let said = Mutex::new(());
    let worker = || -> anyhow::Result<()> {
        let pool = pool_of(each)?;
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::SeqCst)) {
            if stop::asked() || broken.load(Ordering::SeqCst) {
                return Ok(());
            }
            let clocks = Clocks::new(group, &bar);
            let watch = |name: &str, progress| {
                clocks.tick(name, progress);
                !stop::asked() && !broken.load(Ordering::SeqCst)
            };
            let mut unwritten = None;
            let mut n_ended = 0;
            let mut ended = |name: &str, recorded: Recorded| {
                let Some(planned) = group.iter().find(|s| s.name == name) else {
                    return;
                };
                let took = clocks.took(planned, each);
                let guard = said.lock().unwrap_or_else(PoisonError::into_inner);
                if let Err(error) = dataset_times::add(dataset.root(), &took) {
                    broken.store(true, Ordering::SeqCst);
                    unwritten.get_or_insert(error);
                }
                n_ended += 1;
                bar.inc(clocks.rest(planned));
                let gone = gone.fetch_add(size(planned), Ordering::SeqCst) + size(planned);
                let n_done = n_done.fetch_add(1, Ordering::SeqCst) + 1;
                let left = started.elapsed().as_secs_f64() * (all - gone) as f64 / gone as f64;
                bar.suspend(|| {
                    say.note(format_args!(
                        "[{n_done}/{}] {}: {}; {} left",
                        todo.len(),
                        planned.name,
                        words(&recorded, &took),
                        time(left)
                    ));
                });
                drop(guard);
            };
            let names: Vec<&str> = group.iter().map(|s| s.name.as_str()).collect();
            pool.install(|| recording.record_all(&names, dataset, &watch, &mut ended))
                .inspect_err(|_| broken.store(true, Ordering::SeqCst))
                .with_context(|| format!("sequence {}", names.join(", ")))?;
            if let Some(error) = unwritten {
                return Err(error);
            }
            // It was stopped.
            if n_ended < group.len() {
                return Ok(());
            }
        }
        Ok(())
    };
    let done = workers::together(at_once, worker);
    bar.finish_and_clear();
    done
}

/// Counts the frames of the sequences of a group, and takes their times.
struct Clocks<'a> {
    bar: &'a indicatif::ProgressBar,
    seen: Mutex<AllSeen>,
}

struct AllSeen {
    /// When a frame of the group was done last.
    last: Instant,
    of: BTreeMap<String, Seen>,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    /// Ticks of the bar so far.
    ticks: u64,
    frames: u32,
    /// Frames that are those of another sequence.
    shared: u32,
    dressing_s: f64,
    frames_s: f64,
}

impl<'a> Clocks<'a> {
    fn new(group: &[&PlannedSequence], bar: &'a indicatif::ProgressBar) -> Self {
        let of = group.iter().map(|s| (s.name.clone(), Seen::default()));
        Self {
            bar,
            seen: Mutex::new(AllSeen {
                last: Instant::now(),
                of: of.collect(),
            }),
        }
    }

    fn tick(&self, name: &str, progress: Progress) {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let since = all.last.elapsed().as_secs_f64();
        if matches!(progress, Progress::Frame(_)) {
            all.last = Instant::now();
        }
        let Some(seen) = all.of.get_mut(name) else {
            return;
        };
        let ticks = match progress {
            // Much shorter than what comes.
            Progress::Parting(_) => 0,
            Progress::Dressing(share) => (share * DRESSING as f64) as u64,
            Progress::Shared(frame) => {
                seen.frames = frame.0 + 1;
                seen.shared = seen.frames;
                DRESSING + u64::from(seen.frames)
            }
            Progress::Frame(frame) => {
                match frame.0 {
                    0 => seen.dressing_s = since,
                    _ => seen.frames_s += since,
                }
                seen.frames = frame.0 + 1;
                DRESSING + u64::from(seen.frames)
            }
        };
        self.bar.inc(ticks.saturating_sub(seen.ticks));
        seen.ticks = ticks.max(seen.ticks);
    }

    fn of(&self, planned: &PlannedSequence) -> Seen {
        let all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        all.of.get(&planned.name).copied().unwrap_or_default()
    }

    /// Ticks that a sequence that failed did not take.
    fn rest(&self, planned: &PlannedSequence) -> u64 {
        let all = u64::from(planned.frames) + DRESSING;
        all.saturating_sub(self.of(planned).ticks)
    }

    fn took(&self, planned: &PlannedSequence, threads: usize) -> Took {
        let seen = self.of(planned);
        let own = seen.frames.saturating_sub(seen.shared.max(1));
        Took {
            sequence: planned.name.clone(),
            frames: seen.frames,
            shared: seen.shared,
            dressing_s: seen.dressing_s,
            s_per_frame: (own > 0).then(|| seen.frames_s / f64::from(own)),
            threads,
        }
    }
}

fn words(recorded: &Recorded, took: &Took) -> String {
    match recorded {
        Recorded::Failed(failure) => format!("failed {}: {}", place(failure.frame), failure.why),
        _ => {
            let each = took.s_per_frame.unwrap_or(0.0);
            let (frames, dressing) = (took.frames, took.dressing_s);
            match took.shared {
                0 => format!(
                    "{frames} frames, {each:.2} s a frame after {dressing:.1} s of dressing"
                ),
                shared => format!("{frames} frames, {each:.2} s a frame after the first {shared}"),
            }
        }
    }
}

/// Where a sequence failed, in words.
pub(crate) fn place(frame: Option<u32>) -> String {
    frame.map_or_else(|| "while dressing".to_string(), |f| format!("in frame {f}"))
}

/// Seconds as people say them.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// What became of all sequences of a dataset.
pub(crate) struct Outcome {
    pub(crate) whole: Vec<PlannedSequence>,
    pub(crate) failed: Vec<(PlannedSequence, drapery::store::dataset::SequenceFailure)>,
    pub(crate) missing: Vec<PlannedSequence>,
    /// The worst of what sequences say of themselves.
    worst: Vec<Worst>,
    /// What all sequences took, as far as is known [s].
    pub(crate) simulated_s: f64,
    seconds: f64,
}

/// The largest of a figure over all sequences and garments.
struct Worst {
    key: &'static str,
    /// What it is called in words, and its unit.
    words: [&'static str; 2],
    value: f64,
    sequence: String,
    garment: String,
}

impl Worst {
    const fn new(key: &'static str, words: [&'static str; 2]) -> Self {
        Self {
            key,
            words,
            value: f64::NEG_INFINITY,
            sequence: String::new(),
            garment: String::new(),
        }
    }

    /// Looks at the report of a sequence.
    fn look(&mut self, sequence: &str, report: &Value) {
        for garment in report["garments"].as_array().into_iter().flatten() {
            let value = garment[self.key].as_f64().unwrap_or(f64::NEG_INFINITY);
            if value > self.value {
                self.value = value;
                self.sequence = sequence.to_string();
                self.garment = garment["garment"].as_str().unwrap_or("?").to_string();
            }
        }
    }
}

impl Outcome {
    pub(crate) fn of(dataset: &DatasetFolder, out: &Path, seconds: f64) -> anyhow::Result<Self> {
        let mut outcome = Self {
            whole: Vec::new(),
            failed: Vec::new(),
            missing: Vec::new(),
            worst: vec![
                Worst::new("penetration_max_mm", ["deepest in the body", "mm"]),
                Worst::new("stretch_p99_percent", ["most stretched", "% (p99)"]),
                Worst::new("speed_max", ["fastest on the body", "m/s"]),
            ],
            simulated_s: 0.0,
            seconds,
        };
        let times = dataset_times::read(out);
        for planned in &dataset.head().manifest.sequences {
            let planned = planned.clone();
            if let Some(took) = times.get(&planned.name) {
                outcome.simulated_s += took.in_all();
            }
            match dataset.state(&planned.name)? {
                SequenceState::Whole => {
                    let sequence = dataset.sequence(&planned.name)?;
                    for worst in &mut outcome.worst {
                        worst.look(&planned.name, sequence.report());
                    }
                    outcome.whole.push(planned);
                }
                SequenceState::Failed(failure) => outcome.failed.push((planned, failure)),
                SequenceState::Missing => outcome.missing.push(planned),
            }
        }
        outcome.worst.retain(|worst| worst.value.is_finite());
        Ok(outcome)
    }

    pub(crate) fn n_frames(&self) -> u64 {
        self.whole.iter().map(|s| u64::from(s.frames)).sum()
    }

    fn n_sequences(&self) -> usize {
        self.whole.len() + self.failed.len() + self.missing.len()
    }

    pub(crate) fn data(&self, out: &Path) -> Value {
        json!({
            "dataset": out.to_string_lossy(),
            "sequences": self.n_sequences(),
            "whole": self.whole.len(),
            "failed": self.failed.len(),
            "missing": self.missing.len(),
            "frames": self.n_frames(),
            "seconds": self.seconds,
            "simulated_s": self.simulated_s,
            "worst": self.worst.iter().map(|worst| (worst.key, json!({
                "value": worst.value,
                "sequence": worst.sequence,
                "garment": worst.garment,
            }))).collect::<BTreeMap<_, _>>(),
            "failures": self.failed.iter().map(|(planned, failure)| json!({
                "sequence": planned.name,
                "failed_frame": failure.frame,
                "why": failure.why,
            })).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn text(&self, out: &Path) -> String {
        let mut text = format!(
            "{}: {} of {} sequences, {} frames, in {}",
            out.display(),
            self.whole.len(),
            self.n_sequences(),
            self.n_frames(),
            time(self.seconds)
        );
        if !self.missing.is_empty() {
            text += &format!("; {} are not there yet", self.missing.len());
        }
        for worst in &self.worst {
            let [what, unit] = worst.words;
            let (value, garment, sequence) = (worst.value, &worst.garment, &worst.sequence);
            text += &format!("\n  {what}: {value:.2} {unit}, {garment} in {sequence}");
        }
        for (planned, failure) in &self.failed {
            let (name, why) = (&planned.name, &failure.why);
            text += &format!("\n  {name} failed {}: {why}", place(failure.frame));
        }
        if !self.failed.is_empty() {
            text += "\n--retry tries them again";
        }
        text
    }
}

fn leave_record(plan: &Simulate, recording: &Recording) -> anyhow::Result<()> {
    let mut inputs = vec![Input::of(&plan.scene.to_string_lossy())?];
    for path in recording.scene().inputs.values() {
        inputs.push(Input::of(&path.to_string_lossy())?);
    }
    let settings = json!({ "plan": plan, "scene": recording.head().settings });
    record::write(
        &beside(&plan.out, ".run.json"),
        "simulate",
        settings,
        &inputs,
    )
}

#[cfg(test)]
mod tests {
    use drapery::store::dataset::Split;

    use super::*;

    #[test]
    fn only_takes_a_clip_with_its_copies_or_one_sequence() {
        let planned = |clip: &str, shape: &str| PlannedSequence {
            name: format!("{clip}@{shape}"),
            clip: clip.into(),
            parent: clip.split('~').next().unwrap().into(),
            shape: 0,
            split: Split::Train,
            frames: 1,
        };
        let all = [
            planned("walk", "mean"),
            planned("walk~stop4", "mean"),
            planned("walk", "tall"),
            planned("run", "mean"),
        ];
        let names = |only: &[&str]| -> anyhow::Result<Vec<String>> {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            Ok(chosen("--only", &all, &only)?
                .iter()
                .map(|s| s.name.clone())
                .collect())
        };
        assert_eq!(names(&[]).unwrap().len(), 4);
        assert_eq!(names(&["walk"]).unwrap().len(), 3);
        assert_eq!(names(&["walk~stop4"]).unwrap(), ["walk~stop4@mean"]);
        assert_eq!(
            names(&["run", "walk@tall"]).unwrap(),
            ["walk@tall", "run@mean"]
        );
        let unknown = names(&["wlak"]).unwrap_err().to_string();
        assert!(unknown.contains("did you mean walk?"), "{unknown}");
    }
}
