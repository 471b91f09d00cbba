//! `drapery eval`: models and baselines against the simulation, on the clips of a
//! split.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};
use drapery::core::BodyModel;
use drapery::eval::{Course, Facts, Method, SeenFrame, Tally, bounding_radius};
use drapery::learn::LinearConfig;
use drapery::runtime::{Animator, CollisionCorrection, CorrectionConfig, HiddenSkin, Model};
use drapery::scene::character::Character;
use drapery::store::dataset::{DatasetFolder, DatasetStore, PlannedSequence, SequenceState, Split};
use drapery::view::page::PlayableClip;
use drapery::{
    correction_of, evaluate_sequence, skinned_garment, stored_character, train_linear_model,
};
use serde_json::{Value, json};

use crate::args::{Eval, SplitName};
use crate::dataset_times::{self, Took};
use crate::eval_pictures::Shot;
use crate::record::Input;
use crate::say::Say;
use crate::simulate::chosen;
use crate::{Answer, dataset, eval_report, record, stop, workers, write};

/// A method to be evaluated.
pub(crate) struct Entry {
    /// What it is called in tables: that of the method, or its file.
    pub(crate) name: String,
    pub(crate) animator: Animator,
    /// The file, for who is no baseline.
    pub(crate) model: Option<String>,
    /// The skin that its garment always hides, where it knows.
    pub(crate) hidden: Option<HiddenSkin>,
    pub(crate) spectral_radius: Option<f64>,
    pub(crate) bytes: Option<u64>,
}

/// All that is known before any work.
struct Plan<'a> {
    args: &'a Eval,
    dataset: DatasetFolder,
    character: Character,
    garment: usize,
    entries: Vec<Entry>,
    correction: Option<CollisionCorrection>,
    todo: Vec<PlannedSequence>,
}

/// What came of one sequence.
pub(crate) struct Row {
    pub(crate) planned: PlannedSequence,
    pub(crate) tallies: Vec<Tally>,
    pub(crate) shots: Vec<Shot>,
    /// The beginning of it, to be played in a report.
    pub(crate) playable: Option<PlayableClip>,
}

/// What came of all.
pub(crate) struct Outcome<'a> {
    pub(crate) dataset: &'a DatasetFolder,
    pub(crate) character: &'a Character,
    pub(crate) garment: usize,
    pub(crate) split: Split,
    /// The body vertices that the garment is worn over; none where nothing is pushed out of
    /// the body.
    pub(crate) is_under: Option<&'a [bool]>,
    pub(crate) entries: &'a [Entry],
    pub(crate) rows: Vec<Row>,
    /// Over all sequences, one a method.
    pub(crate) all: Vec<Tally>,
    /// One object a method and sequence, and one a method over all.
    pub(crate) objects: Vec<Value>,
}

pub(crate) fn run(args: &Eval, say: &Say) -> anyhow::Result<Answer> {
    let plan = Plan::new(args, say)?;
    let rows = plan.work(say)?;
    let outcome = plan.outcome(rows);
    say.end(headings().join("\t"))?;
    for object in &outcome.objects {
        say.result("eval", object, line(object))?;
    }
    let settings = json!({ "eval": args, "threads": plan.threads() });
    let mut inputs = vec![Input::of(
        &args.dataset.join("zarr.json").to_string_lossy(),
    )?];
    for model in &args.model {
        inputs.push(Input::of(&model.to_string_lossy())?);
    }
    if let Some(folder) = &args.plots {
        eval_report::files(&outcome, folder)?;
        record::write(&folder.join("run.json"), "eval", &settings, &inputs)?;
    }
    if let Some(path) = &args.report {
        let page = eval_report::page(&outcome, args)?;
        write::file(path, page.as_bytes())?;
        record::write(&record::beside(path), "eval", &settings, &inputs)?;
    }
    Ok(plan.answer(&outcome, say))
}

impl<'a> Plan<'a> {
    fn new(args: &'a Eval, say: &Say) -> anyhow::Result<Self> {
        if let Some(path) = &args.report {
            let ending = write::check("--report", path)?;
            if ending != "html" {
                bail!("--report {}: a report is written as .html", path.display());
            }
        }
        let dataset = dataset::open(&args.dataset)?;
        let character = stored_character(&dataset.head().body)
            .with_context(|| format!("cannot read the body of {}", args.dataset.display()))?;
        let models = args.model.iter().map(|path| load(path, &character));
        let models = models.collect::<anyhow::Result<Vec<_>>>()?;
        let garment = garment(args, &dataset, &models)?;
        let todo = todo(args, &dataset, say)?;
        if let Some(folder) = &args.plots {
            write::folder(folder)?;
        }
        let head = dataset.head();
        let skinned = skinned_garment(&character, head, garment)
            .with_context(|| format!("cannot skin {}", head.garments[garment].garment.name()))?;
        let mut entries = vec![Entry {
            name: "skinning".to_string(),
            animator: Animator::Skinning(skinned),
            model: None,
            hidden: None,
            spectral_radius: None,
            bytes: None,
        }];
        match models.iter().any(|m| m.name == LINEAR) {
            true => {}
            false => entries.extend(linear(&dataset, &character, garment, say)?),
        }
        entries.extend(models);
        tell_apart(&mut entries);
        let correction = match !args.no_correct && head.has_body() {
            true => {
                let config = CorrectionConfig::DEFAULT;
                Some(correction_of(&character, head, garment, config)?)
            }
            false => None,
        };
        if !args.no_correct && correction.is_none() {
            say.note("the dataset has no body: nothing is corrected");
        }
        Ok(Self {
            args,
            garment,
            entries,
            correction,
            todo,
            character,
            dataset,
        })
    }

    fn threads(&self) -> usize {
        workers::threads(self.args.threads)
    }

    /// Whether pictures are wanted.
    const fn has_pictures(&self) -> bool {
        self.args.report.is_some() || self.args.plots.is_some()
    }

    /// Every sequence, as many at once as there are threads.
    fn work(&self, say: &Say) -> anyhow::Result<Vec<Row>> {
        let head = self.dataset.head();
        let Some(Animator::Skinning(skinned)) = self.entries.first().map(|e| &e.animator) else {
            bail!("the first method is the skinned garment");
        };
        let course = Course {
            model: &self.character,
            head,
            garment: self.garment,
            skinned,
            correction: self.correction.as_ref(),
            most_frames: self.args.frames,
        };
        let methods: Vec<&dyn Method> = self.entries.iter().map(|e| &e.animator as _).collect();
        let frames = |s: &PlannedSequence| s.frames.min(self.args.frames.unwrap_or(u32::MAX));
        let sum: u64 = self.todo.iter().map(|s| u64::from(frames(s))).sum();
        let bar = say.progress(sum, "frames");
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<Option<Row>>> = Mutex::new(self.todo.iter().map(|_| None).collect());
        let worker = || -> anyhow::Result<()> {
            loop {
                let at = next.fetch_add(1, Ordering::SeqCst);
                let Some(planned) = self.todo.get(at) else {
                    return Ok(());
                };
                let sequence = self.dataset.sequence(&planned.name)?;
                let mut shots = Vec::new();
                let is_shown = self.has_pictures() && Shot::is_of(at, self.todo.len());
                let mut playable = (self.args.report.is_some() && at == 0).then(|| self.playable());
                let each = |seen: &SeenFrame<'_>| {
                    let n_vertices =
                        seen.skin.len() + (1 + seen.found.len()) * seen.simulated.len();
                    let most = PLAYED.min(PLAYED_VERTICES / n_vertices.max(1));
                    if let Some(clip) = playable.as_mut().filter(|c| c.len() < most) {
                        let mut panes = vec![seen.simulated];
                        panes.extend(seen.found);
                        clip.push(seen.skin, &panes);
                    }
                    if is_shown && Shot::is_at(seen) {
                        shots.push(Shot::of(seen));
                    }
                    bar.inc(1);
                    !stop::asked()
                };
                let tallies = evaluate_sequence(&course, &methods, &*sequence, each)
                    .with_context(|| format!("sequence {}", planned.name))?;
                let Some(tallies) = tallies else {
                    return Ok(());
                };
                let playable = playable.filter(|clip| !clip.is_empty());
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found[at] = Some(Row {
                    planned: planned.clone(),
                    tallies,
                    shots,
                    playable,
                });
            }
        };
        workers::together(self.threads().min(self.todo.len()), worker)?;
        bar.finish_and_clear();
        stop::check()?;
        let rows = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(rows.into_iter().flatten().collect())
    }

    /// A clip without frames, of the simulation and all methods.
    fn playable(&self) -> PlayableClip {
        let head = self.dataset.head();
        let garment = head.garments[self.garment].garment.mesh().topology();
        let mut panes = vec!["simulation"];
        panes.extend(self.entries.iter().map(|e| e.name.as_str()));
        let body = self.character.topology();
        let clip = PlayableClip::new(head.frame_rate.hz(), body, garment, &panes);
        let Some(correction) = &self.correction else {
            return clip;
        };
        let hidden = self.entries.iter().find_map(|e| e.hidden.as_ref());
        let hidden = hidden.map(|h| h.triangles(body));
        clip.with_skin(hidden.as_deref(), correction.is_worn_over())
    }

    fn outcome(&self, rows: Vec<Row>) -> Outcome<'_> {
        let head = self.dataset.head();
        let times = dataset_times::read(&self.args.dataset);
        let took = |row: &Row| times.get(&row.planned.name).and_then(Took::seconds);
        let split = split_of(self.args.split);
        let garment = &head.garments[self.garment].garment;
        let radius = bounding_radius(garment.mesh().positions());
        let mut objects = Vec::new();
        let mut all = Vec::new();
        for (m, entry) in self.entries.iter().enumerate() {
            let facts = |simulated_s| Facts {
                radius,
                simulated_s,
                spectral_radius: entry.spectral_radius,
                model_bytes: entry.bytes,
            };
            let object = |tally: &Tally, clip: &str, sequence: Value, simulated_s| {
                let mut object = json!({
                    "method": entry.name,
                    "model": entry.model,
                    "clip": clip,
                    "sequence": sequence,
                    "garment": garment.name(),
                    "split": split.name(),
                    "frames": tally.distances.n_frames(),
                    "corrected": self.correction.is_some(),
                });
                let metrics = json!(tally.metrics(&facts(simulated_s)));
                if let (Some(object), Value::Object(metrics)) = (object.as_object_mut(), metrics) {
                    object.extend(metrics);
                }
                object
            };
            let mut sum = Tally::default();
            let (mut seconds, mut frames) = (0.0, 0.0);
            for row in &rows {
                let tally = &row.tallies[m];
                let clip = row.planned.clip.as_str();
                let name = row.planned.name.as_str().into();
                objects.push(object(tally, clip, name, took(row)));
                sum.merge(tally);
                if let Some(s) = took(row) {
                    let n = tally.distances.n_frames() as f64;
                    (seconds, frames) = (seconds + n * s, frames + n);
                }
            }
            let simulated_s = (frames > 0.0).then(|| seconds / frames);
            objects.push(object(&sum, "all", Value::Null, simulated_s));
            all.push(sum);
        }
        Outcome {
            dataset: &self.dataset,
            character: &self.character,
            garment: self.garment,
            split,
            is_under: self.correction.as_ref().map(|c| c.is_worn_over()),
            entries: &self.entries,
            rows,
            all,
            objects,
        }
    }

    /// Whether every model is good enough; without models, every baseline.
    fn answer(&self, outcome: &Outcome<'_>, say: &Say) -> Answer {
        let Some(limit) = self.args.max_error else {
            return Answer::Yes;
        };
        let has_models = self.entries.iter().any(|e| e.model.is_some());
        let mut answer = Answer::Yes;
        for (entry, tally) in self.entries.iter().zip(&outcome.all) {
            let mean_cm = 100.0 * tally.distances.all.mean();
            if mean_cm > limit && (entry.model.is_some() || !has_models) {
                let name = &entry.name;
                say.note(format_args!(
                    "{name}: {mean_cm:.3} cm, the limit is {limit}"
                ));
                answer = Answer::No;
            }
        }
        answer
    }
}

/// So many frames of the first sequence can be played in a report, of so many vertices
/// together: 12 MB.
const PLAYED: usize = 90;
const PLAYED_VERTICES: usize = 2_000_000;
const LINEAR: &str = "linear";

/// The baseline, trained on the dataset's own clips; none when there are none.
fn linear(
    dataset: &DatasetFolder,
    character: &Character,
    garment: usize,
    say: &Say,
) -> anyhow::Result<Option<Entry>> {
    if dataset.split(Split::Train)?.is_empty() {
        say.note("no sequence that is split train is whole: there is no baseline linear");
        return Ok(None);
    }
    let (config, go_on) = (LinearConfig::default(), || !stop::asked());
    let trained = train_linear_model(dataset, character, garment, &config, "", &go_on);
    if trained.is_err() {
        stop::check()?;
    }
    let (model, trained) = trained.context("cannot train the baseline linear")?;
    say.note(format_args!(
        "linear: trained on {} frames, ridge {:e}",
        trained.n_frames, trained.ridge
    ));
    let bytes = model.to_bytes().len() as u64;
    Ok(Some(Entry {
        name: LINEAR.to_string(),
        animator: model.into_animator(),
        model: None,
        hidden: None,
        spectral_radius: None,
        bytes: Some(bytes),
    }))
}

/// A trained model, for the character of the dataset.
fn load(path: &Path, character: &Character) -> anyhow::Result<Entry> {
    let cannot = || format!("cannot read {}", path.display());
    let bytes = std::fs::read(path).with_context(cannot)?;
    let model = Model::from_bytes(&bytes).with_context(cannot)?;
    let head = model.head();
    if head.joints != character.skeleton().names() {
        bail!(
            "{} is of a skeleton of {} joints, that of the dataset has {}, or others",
            path.display(),
            head.joints.len(),
            character.skeleton().len()
        );
    }
    Ok(Entry {
        name: head.method.clone(),
        spectral_radius: head.spectral_radius,
        model: Some(path.to_string_lossy().into_owned()),
        hidden: model.hidden().cloned(),
        bytes: Some(bytes.len() as u64),
        animator: model.into_animator(),
    })
}

/// Methods of one name are told apart by their files.
fn tell_apart(entries: &mut [Entry]) {
    let names: Vec<String> = entries.iter().map(|e| e.name.clone()).collect();
    for entry in entries {
        let n = names.iter().filter(|name| **name == entry.name).count();
        let stem = entry
            .model
            .as_deref()
            .and_then(|m| Path::new(m).file_stem());
        if let Some(stem) = stem.filter(|_| n > 1) {
            entry.name = format!("{} {}", entry.name, stem.to_string_lossy());
        }
    }
}

/// Which garment of the dataset.
fn garment(args: &Eval, dataset: &DatasetFolder, models: &[Entry]) -> anyhow::Result<usize> {
    use drapery::core::GarmentAnimator;
    let all = &dataset.head().garments;
    let names = || all.iter().map(|g| g.garment.name());
    let garment = match &args.garment {
        Some(name) => names().position(|n| n == name).with_context(|| {
            let near = drapery::scene::load::nearest(name, names());
            format!(
                "--garment {name}: there are {}{}",
                names().collect::<Vec<_>>().join(", "),
                near.map_or_else(String::new, |n| format!(" (did you mean {n}?)"))
            )
        })?,
        None => match models.first() {
            Some(model) => {
                let topology = model.animator.topology();
                let is_it = |g: &drapery::core::Garment| g.mesh().topology() == topology;
                let place = all.iter().position(|g| is_it(&g.garment));
                place.with_context(|| {
                    format!(
                        "{} is of a garment of {} vertices, which {} has not",
                        model.name,
                        topology.n_vertices(),
                        args.dataset.display()
                    )
                })?
            }
            None => 0,
        },
    };
    for model in models {
        let topology = all[garment].garment.mesh().topology();
        if model.animator.topology() != topology {
            bail!(
                "{} is of a garment of {} vertices, {} has {}",
                model.name,
                model.animator.topology().n_vertices(),
                all[garment].garment.name(),
                topology.n_vertices()
            );
        }
    }
    Ok(garment)
}

const fn split_of(name: SplitName) -> Split {
    match name {
        SplitName::Train => Split::Train,
        SplitName::Tune => Split::Tune,
        SplitName::Test => Split::Test,
    }
}

/// The sequences of the split that are asked for and there.
fn todo(args: &Eval, dataset: &DatasetFolder, say: &Say) -> anyhow::Result<Vec<PlannedSequence>> {
    let split = split_of(args.split);
    let all = &dataset.head().manifest.sequences;
    let of_split: Vec<PlannedSequence> = all.iter().filter(|s| s.split == split).cloned().collect();
    if of_split.is_empty() {
        bail!(
            "{} has no clips of split {}; move some there by drapery dataset split",
            args.dataset.display(),
            split.name()
        );
    }
    let asked = chosen("--clips", &of_split, &args.clips)?;
    let mut there = Vec::new();
    for planned in &asked {
        match dataset.state(&planned.name)? {
            SequenceState::Whole => there.push((*planned).clone()),
            SequenceState::Missing => say.note(format_args!("{} is missing", planned.name)),
            SequenceState::Failed(_) => say.note(format_args!("{} failed", planned.name)),
        }
    }
    if there.is_empty() {
        bail!(
            "none of the {} sequences of split {} is in {} yet",
            asked.len(),
            split.name(),
            args.dataset.display()
        );
    }
    Ok(there)
}

/// Columns of numbers: what stands above, the key, and how many decimals.
const COLUMNS: [(&str, &str, usize); 22] = [
    ("frames", "frames", 0),
    ("mean cm", "mean_cm", 3),
    ("uncorrected", "mean_cm_before", 3),
    ("p95 cm", "p95_cm", 2),
    ("max cm", "max_cm", 2),
    ("relative %", "relative_percent", 2),
    ("velocity m/s", "velocity_error", 3),
    ("acceleration m/s²", "acceleration_error", 2),
    ("penetration %", "penetration_percent", 2),
    ("uncorrected", "penetration_percent_before", 2),
    ("deepest mm", "penetration_max_mm", 2),
    ("uncorrected", "penetration_max_mm_before", 2),
    ("masked %", "masked_percent", 2),
    ("stretch p99 %", "stretch_p99_percent", 2),
    ("detail", "detail_correlation", 3),
    ("wrinkles", "wrinkle_ratio", 3),
    ("least confidence", "confidence_min", 2),
    ("frame ms p50", "frame_ms_p50", 3),
    ("p99", "frame_ms_p99", 3),
    ("speedup", "speedup", 0),
    ("eigenvalue", "spectral_radius", 4),
    ("MB", "model_mb", 2),
];

/// A row of a table.
pub(crate) fn cells(object: &Value) -> Vec<String> {
    let name = |key: &str| object[key].as_str().unwrap_or("?").to_string();
    let number = |(_, key, decimals): (_, &str, usize)| match object[key].as_f64() {
        Some(value) => format!("{value:.decimals$}"),
        None => "–".to_string(),
    };
    let mut cells = vec![name("method"), name("clip")];
    cells.extend(COLUMNS.map(number));
    cells
}

pub(crate) fn headings() -> Vec<&'static str> {
    let numbers = COLUMNS.iter().map(|(heading, ..)| *heading);
    ["method", "clip"].into_iter().chain(numbers).collect()
}

fn line(object: &Value) -> String {
    cells(object).join("\t")
}
