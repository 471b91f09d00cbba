//! De Aguiar and others, "Stable Spaces for Real-time Clothing", 2010: Tables 2
//! and 3, and what §7.1 says of walks and §7.2 of unseen motions.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use drapery::core::GarmentAnimator;
use drapery::learn::{Footage, LinearConfig, Ridge, StableModel, StableSpaceConfig};
use drapery::scene::character::Character;
use drapery::store::dataset::{DatasetFolder, DatasetStore, PlannedSequence, SequenceState, Split};
use drapery::{skinned_garment, stored_character, train_linear_model, train_stable_model};
use serde_json::{Value, json};

use super::Cells;
use super::repeats::repeats;
use super::stops::after_stops;
use super::ten_thousand::{section, ten_thousand};
use crate::args::{Simulate, StableSpacesPlan};
use crate::bench::pool_of;
use crate::record::Input;
use crate::say::Say;
use crate::{Answer, dataset, record, simulate, stop, train, workers, write};

/// Dimensions of Table 2.
const DIMS: [usize; 7] = [10, 16, 32, 50, 64, 80, 128];
/// What the paper has there [cm]: models A, B and C, on clips that train ...
const PAPER_TRAIN: [[f64; 7]; 3] = [
    [2.26, 1.90, 1.46, 1.32, 1.26, 1.21, 1.14],
    [2.89, 2.24, 1.50, 1.26, 1.17, 1.10, 1.00],
    [2.86, 2.20, 1.36, 1.09, 1.01, 0.96, 0.87],
];
/// ... and on those that test.
const PAPER_TEST: [[f64; 7]; 3] = [
    [2.37, 2.04, 1.51, 1.40, 1.37, 1.32, 1.44],
    [2.99, 2.48, 1.62, 1.43, 1.36, 1.37, 1.56],
    [3.33, 2.58, 1.59, 1.38, 1.32, 1.34, 1.49],
];
/// Table 3: orders 0 to 5 of model C [cm].
const PAPER_ORDERS: [[f64; 6]; 2] = [
    [1.26, 1.25, 1.01, 0.99, 0.97, 0.96],
    [1.37, 1.53, 1.32, 1.39, 1.37, 1.40],
];
/// Dimensions of Table 3, and of the model as shipped.
const SHIPPED: usize = 64;

/// The model that walks ten thousand steps.
const WALKED: &str = "c-2-64";

/// One model of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    model: StableModel,
    order: usize,
    dims: usize,
}

impl Cell {
    /// All, those of Table 2 first; the shipped one before all others.
    fn all() -> Vec<Self> {
        let models = [
            (StableModel::A, 0),
            (StableModel::B, 2),
            (StableModel::C, 2),
        ];
        let second = |dims| models.map(|(model, order)| Self { model, order, dims });
        let third = [1, 3, 4, 5].map(|order| Self {
            model: StableModel::C,
            order,
            dims: SHIPPED,
        });
        let others = DIMS.into_iter().filter(|dims| *dims != SHIPPED);
        let mut all: Vec<Self> = second(SHIPPED).into();
        all.extend(third);
        all.extend(others.flat_map(second));
        all
    }

    fn name(self) -> String {
        let model = match self.model {
            StableModel::A => "a",
            StableModel::B => "b",
            StableModel::C => "c",
        };
        format!("{model}-{}-{}", self.order, self.dims)
    }

    fn config(self) -> StableSpaceConfig {
        StableSpaceConfig {
            model: self.model,
            order: self.order,
            dims: self.dims,
            ..StableSpaceConfig::default()
        }
    }
}

/// The sequences that errors are averaged over, by what they are called.
struct Sets {
    /// Clips that train, without their stops, and those that test, as in the
    /// paper; a walk, a walk with a turn, and what is unseen.
    all: [(&'static str, Vec<PlannedSequence>); 5],
}

impl Sets {
    fn of(dataset: &DatasetFolder) -> anyhow::Result<Self> {
        let mut train = dataset.split(Split::Train)?;
        train.retain(|s| s.clip == s.parent);
        let test = dataset.split(Split::Test)?;
        let named = |begin: &str| -> Vec<PlannedSequence> {
            let fits = test.iter().filter(|s| s.clip.starts_with(begin));
            fits.cloned().collect()
        };
        let (mut walk, turn) = (named("extra-walk"), named("extra-walk-turn"));
        walk.retain(|s| !turn.contains(s));
        let unseen = named("unseen-");
        let others =
            |s: &&PlannedSequence| ![&walk, &turn, &unseen].iter().any(|set| set.contains(s));
        let tested = test.iter().filter(others).cloned().collect();
        Ok(Self {
            all: [
                ("train_cm", train),
                ("test_cm", tested),
                ("walk_cm", walk),
                ("walk_turn_cm", turn),
                ("unseen_cm", unseen),
            ],
        })
    }

    /// The mean distance of a vertex in each [cm].
    fn errors<A: GarmentAnimator>(
        &self,
        footage: &Footage<'_>,
        animator: &A,
        cell: &mut Value,
    ) -> anyhow::Result<()> {
        for (key, sequences) in &self.all {
            stop::check()?;
            if !sequences.is_empty() {
                cell[*key] = (100.0 * footage.open_loop(animator, sequences)?.mean).into();
            }
        }
        Ok(())
    }
}

/// What all cells share.
struct Lab<'a> {
    dataset: &'a DatasetFolder,
    character: &'a Character,
    sets: Sets,
    cells: Cells,
    /// The scene, and the page of the tables.
    scene: &'a str,
    page: PathBuf,
}

pub(super) fn run(plan: &StableSpacesPlan, say: &Say) -> anyhow::Result<Answer> {
    let all = chosen(&plan.only)?;
    let threads = pool_of(workers::threads(plan.threads))?;
    write::folder(&plan.out)?;
    let data = plan.data.clone().unwrap_or_else(|| plan.out.join("data"));
    write::folder(&data)?;
    let scene = match &plan.scene {
        Some(scene) => scene.clone(),
        None => plan.scale.scene().into(),
    };
    let name = scene.file_stem().context("--scene: no file and no name")?;
    let path = data.join(name);
    simulated(plan, &scene, &path, say)?;
    let dataset = dataset::open(&path)?;
    let character = stored_character(&dataset.head().body)
        .with_context(|| format!("cannot read the body of {}", path.display()))?;
    let digest = train::digest(&dataset, &path)?;
    let inputs = [Input {
        name: path.to_string_lossy().into_owned(),
        sha256: Some(digest.clone()),
    }];
    let settings = json!({ "paper": "stable-spaces", "plan": plan });
    record::write(&plan.out.join("run.json"), "reproduce", &settings, &inputs)?;
    let lab = Lab {
        dataset: &dataset,
        character: &character,
        sets: Sets::of(&dataset)?,
        cells: Cells::open(plan.out.join("cells"), digest)?,
        scene: &name.to_string_lossy(),
        page: plan.out.join("README.md"),
    };
    lab.known_or("skinning", || lab.skinning())?;
    lab.known_or("linear", || lab.linear())?;
    lab.known_or("repeats", || repeats(lab.dataset))?;
    for (i, cell) in all.iter().enumerate() {
        let name = cell.name();
        let value = lab.known_or(&name, || threads.install(|| lab.train(*cell)))?;
        let line = format!(
            "[{}/{}] {name}: {} cm on clips that train, {} on those that test",
            i + 1,
            all.len(),
            number(&value["train_cm"], 2),
            number(&value["test_cm"], 2),
        );
        say.result("cell", &value, line)?;
    }
    say.note(format_args!("see {}", lab.page.display()));
    Ok(Answer::Yes)
}

impl Lab<'_> {
    /// A cell as it is known, or made and kept; then the page has it.
    fn known_or(
        &self,
        name: &str,
        make: impl FnOnce() -> anyhow::Result<Value>,
    ) -> anyhow::Result<Value> {
        let value = match self.cells.get(name) {
            Some(value) => value,
            None => {
                stop::check()?;
                let made = make();
                // What stopped it is not what is wrong.
                stop::check()?;
                let made = made.with_context(|| format!("cell {name}"))?;
                self.cells.put(name, made)?
            }
        };
        let text = page(self.scene, &self.sets, &self.cells);
        write::file(&self.page, text.as_bytes())?;
        Ok(value)
    }

    fn footage(&self) -> Footage<'_> {
        Footage {
            store: self.dataset,
            body: self.character,
            garment: 0,
        }
    }

    /// The baseline that knows no dynamics.
    fn skinning(&self) -> anyhow::Result<Value> {
        let skinned = skinned_garment(self.character, self.dataset.head(), 0)?;
        let mut cell = json!({ "cell": "skinning" });
        self.sets.errors(&self.footage(), &skinned, &mut cell)?;
        Ok(cell)
    }

    /// The baseline that learns from the pose alone.
    fn linear(&self) -> anyhow::Result<Value> {
        let (config, go_on) = (LinearConfig::default(), || !stop::asked());
        let digest = &self.cells.digest;
        let (_, trained) =
            train_linear_model(self.dataset, self.character, 0, &config, digest, &go_on)?;
        let mut cell = json!({ "cell": "linear", "ridge": trained.ridge });
        self.sets
            .errors(&self.footage(), &trained.animator, &mut cell)?;
        Ok(cell)
    }

    /// A model of the tables; of those that are shipped also what least squares
    /// are by themselves.
    fn train(&self, cell: Cell) -> anyhow::Result<Value> {
        let train = |config: &StableSpaceConfig| {
            let (go_on, digest) = (|_| !stop::asked(), &self.cells.digest);
            train_stable_model(self.dataset, self.character, 0, config, digest, &go_on)
        };
        let started = Instant::now();
        let (model, trained) = train(&cell.config())?;
        let taken = &trained.tried[trained.taken];
        let mut value = json!({
            "cell": cell.name(),
            "ridge": taken.ridge,
            "fit": taken.kind.name(),
            "spectral_radius": model.head().spectral_radius,
            "tune_cm": taken.tune.map(|m| 100.0 * m),
            "cloth_explained_percent": 100.0 * trained.cloth_explained,
            "train_s": started.elapsed().as_secs_f64(),
        });
        self.sets
            .errors(&self.footage(), &trained.animator, &mut value)?;
        if cell.dims == SHIPPED {
            value["stops"] = after_stops(self.dataset, &self.footage(), &trained.animator)?;
        }
        if cell.name() == WALKED {
            let plain = &self.sets.all[0].1;
            value["ten_thousand"] = ten_thousand(&self.footage(), &trained, plain)?;
        }
        if cell.order > 0 && cell.dims == SHIPPED {
            let (_, plain) = train(&StableSpaceConfig {
                ridge: Ridge::Fixed(0.0),
                ..cell.config()
            })?;
            value["plain_spectral_radius"] = plain.tried[plain.taken].free_radius.into();
        }
        Ok(value)
    }
}

/// The cells that are asked for, or all.
fn chosen(only: &[String]) -> anyhow::Result<Vec<Cell>> {
    let all = Cell::all();
    for name in only {
        if !all.iter().any(|cell| cell.name() == *name) {
            let names: Vec<String> = all.iter().map(|cell| cell.name()).collect();
            bail!(
                "--only {name}: there is no such cell; there are {}",
                names.join(", ")
            );
        }
    }
    let is_asked = |cell: &Cell| only.is_empty() || only.contains(&cell.name());
    Ok(all.into_iter().filter(is_asked).collect())
}

/// Simulates what is missing of the data.
fn simulated(plan: &StableSpacesPlan, scene: &Path, path: &Path, say: &Say) -> anyhow::Result<()> {
    let is_whole = path.join("zarr.json").exists() && {
        let there = dataset::open(path)?;
        let mut planned = there.head().manifest.sequences.iter();
        planned.all(|s| matches!(there.state(&s.name), Ok(SequenceState::Whole)))
    };
    if is_whole {
        return Ok(());
    }
    let scene = Simulate {
        scene: scene.to_path_buf(),
        out: path.to_path_buf(),
        frames: None,
        only: Vec::new(),
        retry: false,
        anyway: false,
        threads: plan.threads,
    };
    match simulate::run(&scene, say)? {
        Answer::Yes => Ok(()),
        Answer::No => bail!("not all of {} could be simulated", path.display()),
    }
}

/// A number of a cell, or that there is none.
pub(super) fn number(value: &Value, digits: usize) -> String {
    let number = value.as_f64().map(|v| format!("{v:.digits$}"));
    number.unwrap_or_else(|| "–".to_string())
}

/// The tables, as far as they are done.
fn page(scene: &str, sets: &Sets, cells: &Cells) -> String {
    let mut text = String::new();
    let mut put = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    let of = |cell: Cell, key: &str, digits| {
        let found = cells.get(&cell.name());
        found.map_or_else(|| "–".to_string(), |c| number(&c[key], digits))
    };
    let frames = |key: &str| -> (usize, u32) {
        let set = sets.all.iter().find(|(name, _)| *name == key);
        let set = set.map_or(&[][..], |(_, sequences)| sequences);
        (set.len(), set.iter().map(|s| s.frames).sum())
    };
    put("# Stable Spaces for Real-time Clothing, reproduced\n".into());
    let ((n_train, train), (n_test, test)) = (frames("train_cm"), frames("test_cm"));
    put(format!(
        "`drapery reproduce stable-spaces` on the scene `{scene}`: {n_train} clips that \
         train ({train} frames, and their stops), {n_test} that test ({test} frames). Mean distance of a vertex from the simulation in cm, rolled out \
         open-loop. The paper's numbers are of another dress, another body and other motions.\n"
    ));
    put("## Table 2: dimensions\n".into());
    let head: Vec<String> = DIMS.iter().map(ToString::to_string).collect();
    put(format!("| | {} |", head.join(" | ")));
    put(format!("|---|{}", "---|".repeat(DIMS.len())));
    let models = [
        (StableModel::A, 0, "A"),
        (StableModel::B, 2, "B"),
        (StableModel::C, 2, "C"),
    ];
    for (key, words, paper) in [
        ("train_cm", "train", PAPER_TRAIN),
        ("test_cm", "test", PAPER_TEST),
    ] {
        for ((model, order, name), paper) in models.into_iter().zip(paper) {
            let ours = DIMS.map(|dims| of(Cell { model, order, dims }, key, 2));
            let theirs = paper.map(|v| format!("{v:.2}"));
            put(format!("| {words}, {name} | {} |", ours.join(" | ")));
            put(format!("| the paper's | {} |", theirs.join(" | ")));
        }
    }
    put("\n## Table 3: orders of model C, 64 dimensions\n".into());
    put("| | 0 (A) | 1 | 2 | 3 | 4 | 5 |\n|---|---|---|---|---|---|---|".into());
    let of_order = |order: usize| Cell {
        model: if order == 0 {
            StableModel::A
        } else {
            StableModel::C
        },
        order,
        dims: SHIPPED,
    };
    for (key, words, paper) in [
        ("train_cm", "train", PAPER_ORDERS[0]),
        ("test_cm", "test", PAPER_ORDERS[1]),
    ] {
        let ours: Vec<String> = (0..6).map(|order| of(of_order(order), key, 2)).collect();
        let theirs = paper.map(|v| format!("{v:.2}"));
        put(format!("| {words} | {} |", ours.join(" | ")));
        put(format!("| the paper's | {} |", theirs.join(" | ")));
    }
    for (key, words) in [
        ("plain_spectral_radius", "largest eigenvalue, plain fit"),
        ("spectral_radius", "as taken"),
    ] {
        let ours: Vec<String> = (0..6).map(|order| of(of_order(order), key, 4)).collect();
        put(format!("| {words} | {} |", ours.join(" | ")));
    }
    put("\n## Beside the tables\n".into());
    put("| | test | walk | walk with a turn | unseen |\n|---|---|---|---|---|".into());
    let keys = ["test_cm", "walk_cm", "walk_turn_cm", "unseen_cm"];
    let mut row = |words: &str, name: &str| {
        let cell = cells.get(name).unwrap_or_default();
        let all = keys.map(|key| number(&cell[key], 2));
        put(format!("| {words} | {} |", all.join(" | ")));
    };
    row("skinning", "skinning");
    row("linear", "linear");
    for (model, order, name) in models {
        let cell = Cell {
            model,
            order,
            dims: SHIPPED,
        };
        row(&format!("{name}, 64 dimensions"), &cell.name());
    }
    put("| the paper's C | 1.32 | 2.24 | 2.07 | |".into());
    put("\n## After an abrupt stop\n".into());
    put(
        "The middle of the hem in the two seconds after a clip that trains has stopped, \
         medians: how far it swings, how that compares to the simulation, and how long it takes.\n"
            .into(),
    );
    put("| | stops | swing, cm | simulated | ratio | period, s | simulated |\n|---|---|---|---|---|---|---|".into());
    for (model, order, name) in models {
        let cell = Cell {
            model,
            order,
            dims: SHIPPED,
        };
        let stops = &cells.get(&cell.name()).unwrap_or_default()["stops"];
        let of = |key: &str, digits| number(&stops[key], digits);
        put(format!(
            "| {name} | {} | {} | {} | {} | {} | {} |",
            of("count", 0),
            of("swing_cm", 1),
            of("simulated_swing_cm", 1),
            of("ratio", 2),
            of("period_s", 2),
            of("simulated_period_s", 2),
        ));
    }
    let repeats = cells.get("repeats").unwrap_or_default();
    if repeats["clips"].as_u64().is_some_and(|n| n > 0) {
        put("\n## How far the simulation repeats itself\n".into());
        put(format!(
            "In {} clips that train the body does the same again after a cycle, to the last \
             digit. The simulated garment is then {} cm from where it was in the cycle before, \
             and {} cm from its mean: what a model sees is the same in both, so that no model \
             can be right in both.",
            number(&repeats["clips"], 0),
            number(&repeats["apart_cm"], 2),
            number(&repeats["from_mean_cm"], 2),
        ));
    }
    text.push_str(&section(
        &cells.get(WALKED).unwrap_or_default()["ten_thousand"],
    ));
    text
}
