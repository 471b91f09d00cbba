//! De Aguiar and others, "Stable Spaces for Real-time Clothing", 2010: Tables 2
//! and 3, and what §7.1 says of walks and §7.2 of unseen motions.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use drapery::core::GarmentAnimator;
use drapery::learn::{
    Fitting, Footage, LinearConfig, Ridge, StableModel, StableSpaceConfig, TrainedStableSpace,
};
use drapery::runtime::{Model, StableSpace};
use drapery::store::dataset::{DatasetFolder, DatasetStore, PlannedSequence, SequenceState, Split};
use drapery::{skinned_garment, train_linear_model, train_stable_model};
use serde_json::{Value, json};

use super::desk::Desk;
use super::ground::Ground;
use super::page::{DIMS, number};
use super::repeats::repeats;
use super::stops::after_stops;
use super::{
    Cells, clips, crowds, fabrics, garments, held_out, nonlinear, pictures, resolutions,
    stabilities, ten_thousand,
};
use crate::args::{Simulate, StableSpacesPlan};
use crate::bench::pool_of;
use crate::say::Say;
use crate::{Answer, dataset, simulate, stop, workers, write};

/// Dimensions of Table 3, and of the model as shipped.
pub(super) const SHIPPED: usize = 64;

/// How a model of the tables is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// As shipped.
    Shipped,
    /// As in the paper (§6): the next frame, by least squares without a ridge.
    Paper,
}

/// The largest eigenvalue that least squares of the paper may have, the largest that can be
/// asked for: they are held back only where they are not stable by themselves.
const PAPER_RADIUS: f64 = 0.9999;

/// One model of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) model: StableModel,
    pub(super) order: usize,
    pub(super) dims: usize,
    pub(super) way: Way,
}

impl Cell {
    /// The models of the paper in the dimensions that are shipped: A, B and C.
    pub(super) const SHIPPED: [Self; 3] = [
        Self::of(StableModel::A, SHIPPED),
        Self::of(StableModel::B, SHIPPED),
        Self::of(StableModel::C, SHIPPED),
    ];

    /// A model in so many dimensions, of the order of Table 2.
    pub(super) const fn of(model: StableModel, dims: usize) -> Self {
        let order = match model {
            StableModel::A => 0,
            StableModel::B | StableModel::C => 2,
        };
        let way = Way::Shipped;
        Self {
            model,
            order,
            dims,
            way,
        }
    }

    /// Model C of another order in the dimensions that are shipped; of order 0 it is A.
    pub(super) const fn of_order(order: usize) -> Self {
        let model = match order {
            0 => StableModel::A,
            _ => StableModel::C,
        };
        Self {
            order,
            ..Self::of(model, SHIPPED)
        }
    }

    /// The same fitted in another way.
    pub(super) const fn fitted(self, way: Way) -> Self {
        Self { way, ..self }
    }

    /// All, those of Table 2 first; the shipped one before all others, and what is
    /// fitted as in the paper after them.
    fn all() -> Vec<Self> {
        let models = [StableModel::A, StableModel::B, StableModel::C];
        let second = |dims| models.map(|model| Self::of(model, dims));
        let third = [1, 3, 4, 5].map(Self::of_order);
        let others = DIMS.into_iter().filter(|dims| *dims != SHIPPED);
        let mut all: Vec<Self> = second(SHIPPED).into();
        all.extend(third);
        all.extend(others.flat_map(second));
        let of_paper: Vec<Self> = all.iter().map(|cell| cell.fitted(Way::Paper)).collect();
        all.extend(of_paper);
        all
    }

    pub(super) fn name(self) -> String {
        let model = match self.model {
            StableModel::A => "a",
            StableModel::B => "b",
            StableModel::C => "c",
        };
        let way = match self.way {
            Way::Shipped => "",
            Way::Paper => "-paper",
        };
        format!("{model}-{}-{}{way}", self.order, self.dims)
    }

    pub(super) fn config(self) -> StableSpaceConfig {
        let shipped = StableSpaceConfig {
            model: self.model,
            order: self.order,
            dims: self.dims,
            ..StableSpaceConfig::default()
        };
        match self.way {
            Way::Shipped => shipped,
            Way::Paper => StableSpaceConfig {
                ridge: Ridge::Fixed(0.0),
                fitting: Fitting::OneStep,
                max_radius: PAPER_RADIUS,
                ..shipped
            },
        }
    }
}

/// The sequences that errors are averaged over, by what they are called.
pub(super) struct Sets {
    /// Clips that train, without their stops, and those that test, as in the
    /// paper; a walk, a walk with a turn, and what is unseen.
    pub(super) all: [(&'static str, Vec<PlannedSequence>); 5],
}

impl Sets {
    pub(super) fn of(dataset: &DatasetFolder) -> anyhow::Result<Self> {
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
        let tested = test.iter().filter(|s| Self::is_tested(&s.clip));
        let tested = tested.cloned().collect();
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

    /// Whether a clip that tests is one of the paper's test set: neither the walks
    /// of §7.1 nor unseen.
    pub(super) fn is_tested(clip: &str) -> bool {
        !clip.starts_with("extra-walk") && !clip.starts_with("unseen-")
    }

    /// The sequences of a set.
    pub(super) fn named(&self, key: &str) -> &[PlannedSequence] {
        let set = self.all.iter().find(|(name, _)| *name == key);
        set.map_or(&[][..], |(_, sequences)| sequences)
    }

    /// The mean distance of a vertex in each [cm].
    pub(super) fn errors<A: GarmentAnimator>(
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

/// Parts beside the tables of models, in the order in which they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Clips,
    Nonlinear,
    Stabilities,
    HeldOut,
    Pictures,
    Crowds,
    Garments,
    Fabrics,
    Resolutions,
    TenThousand,
}

impl Part {
    const ALL: [Self; 10] = [
        Self::Clips,
        Self::TenThousand,
        Self::Nonlinear,
        Self::Stabilities,
        Self::HeldOut,
        Self::Pictures,
        Self::Crowds,
        Self::Garments,
        Self::Fabrics,
        Self::Resolutions,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Clips => "clips",
            Self::Nonlinear => "nonlinear",
            Self::Stabilities => "fits",
            Self::HeldOut => "held-out-stops",
            Self::Pictures => "pictures",
            Self::Crowds => "crowds",
            Self::Garments => garments::NAME,
            Self::Fabrics => "fabrics",
            Self::Resolutions => resolutions::NAME,
            Self::TenThousand => "ten-thousand",
        }
    }

    /// Its cells that can be asked for by themselves.
    fn cells(self) -> Vec<String> {
        match self {
            Self::Garments => garments::cells(),
            Self::Resolutions => resolutions::cells(),
            _ => Vec::new(),
        }
    }

    /// Whether something that is asked for of it is made of the tables' data.
    fn needs_tables(self, only: &[String]) -> bool {
        let is_asked = |name: &str| only.is_empty() || only.iter().any(|asked| asked == name);
        match self {
            Self::Fabrics | Self::Resolutions => false,
            Self::Garments => is_asked(self.name()) || is_asked(&garments::dress_cell()),
            _ => true,
        }
    }

    /// Whether it has data of its own.
    const fn is_apart(self) -> bool {
        matches!(self, Self::Garments | Self::Fabrics | Self::Resolutions)
    }

    fn make_apart(self, desk: &Desk<'_>) -> anyhow::Result<()> {
        match self {
            Self::Garments => garments::make(desk),
            Self::Fabrics => fabrics::make(desk),
            Self::Resolutions => resolutions::make(desk),
            _ => Ok(()),
        }
    }

    fn make(self, lab: &Lab<'_>) -> anyhow::Result<()> {
        match self {
            Self::Clips => clips::make(lab),
            Self::Nonlinear => nonlinear::make(lab),
            Self::Stabilities => stabilities::make(lab),
            Self::HeldOut => held_out::make(lab),
            Self::Pictures => pictures::make(lab),
            Self::Crowds => crowds::make(lab),
            Self::Garments => garments::make_dress(lab),
            Self::TenThousand => ten_thousand::make(lab),
            Self::Fabrics | Self::Resolutions => Ok(()),
        }
    }
}

/// What the cells of the tables' data share.
pub(super) struct Lab<'a> {
    pub(super) desk: &'a Desk<'a>,
    /// The dataset of the tables.
    pub(super) ground: Ground,
    pub(super) sets: Sets,
}

pub(super) fn run(plan: &StableSpacesPlan, say: &Say) -> anyhow::Result<Answer> {
    let (cells, parts) = chosen(&plan.only)?;
    let threads = pool_of(workers::threads(plan.threads))?;
    let data = plan.data.clone().unwrap_or_else(|| plan.out.join("data"));
    let scene = match &plan.scene {
        Some(scene) => scene.clone(),
        None => plan.scale.scene().into(),
    };
    let name = scene.file_stem().context("--scene: no file and no name")?;
    let path = data.join(name);
    let needs_tables = !cells.is_empty() || parts.iter().any(|part| part.needs_tables(&plan.only));
    if plan.as_is && needs_tables && !is_dataset(&path) {
        bail!("--as-is: there is no dataset at {}", path.display());
    }
    write::folder(&plan.out)?;
    write::folder(&data)?;
    let mut desk = Desk {
        plan,
        say,
        threads,
        data,
        cells: Cells::open(plan.out.join("cells"))?,
        scene,
    };
    if needs_tables {
        simulated(plan, &desk.scene, &path, say)?;
        let ground = Ground::open(&path, &|_| true)?;
        desk.cells.origin = Some(ground.origin.clone());
        desk.record(Some((&path, &ground)))?;
        let lab = Lab {
            sets: Sets::of(&ground.dataset)?,
            ground,
            desk: &desk,
        };
        lab.make(&cells, &parts)?;
    } else {
        desk.record(None)?;
    }
    for part in parts.iter().filter(|part| part.is_apart()) {
        (part.make_apart(&desk)).with_context(|| format!("part {}", part.name()))?;
        say.note(format_args!("{}: done", part.name()));
    }
    say.note(format_args!("see {}", plan.out.join("README.md").display()));
    Ok(Answer::Yes)
}

impl Lab<'_> {
    /// Cells and parts of the tables' data.
    fn make(&self, cells: &[Cell], parts: &[Part]) -> anyhow::Result<()> {
        let say = self.desk.say;
        self.known_or("skinning", || self.skinning())?;
        self.known_or("linear", || self.linear())?;
        self.known_or("repeats", || repeats(&self.ground.dataset))?;
        for (i, cell) in cells.iter().enumerate() {
            let name = cell.name();
            let value = self.known_or(&name, || self.desk.threads.install(|| self.train(*cell)))?;
            let line = format!(
                "[{}/{}] {name}: {} cm on clips that train, {} on those that test",
                i + 1,
                cells.len(),
                number(&value["train_cm"], 2),
                number(&value["test_cm"], 2),
            );
            say.result("cell", &value, line)?;
        }
        for part in parts {
            part.make(self)
                .with_context(|| format!("part {}", part.name()))?;
            if !part.is_apart() {
                say.note(format_args!("{}: done", part.name()));
            }
        }
        Ok(())
    }

    /// A cell of the tables' data as it is known, or made and kept.
    pub(super) fn known_or(
        &self,
        name: &str,
        make: impl FnOnce() -> anyhow::Result<Value>,
    ) -> anyhow::Result<Value> {
        self.desk.known_of(name, &self.ground.origin, make)
    }

    pub(super) fn footage(&self) -> Footage<'_> {
        self.ground.footage()
    }

    /// The baseline that knows no dynamics.
    fn skinning(&self) -> anyhow::Result<Value> {
        let Ground {
            dataset, character, ..
        } = &self.ground;
        let skinned = skinned_garment(character, dataset.head(), 0)?;
        let sizes = self.sets.all.iter().map(|(key, set)| {
            let n_frames: u32 = set.iter().map(|s| s.frames).sum();
            ((*key).to_string(), json!([set.len(), n_frames]))
        });
        let sizes: serde_json::Map<String, Value> = sizes.collect();
        let mut cell = json!({ "cell": "skinning", "sets": sizes });
        self.sets.errors(&self.footage(), &skinned, &mut cell)?;
        Ok(cell)
    }

    /// The baseline that learns from the pose alone.
    fn linear(&self) -> anyhow::Result<Value> {
        let (config, go_on) = (LinearConfig::default(), || !stop::asked());
        let Ground {
            dataset,
            character,
            origin,
            ..
        } = &self.ground;
        let digest = &origin.digest;
        let (_, trained) = train_linear_model(dataset, character, 0, &config, digest, &go_on)?;
        let mut cell = json!({ "cell": "linear", "ridge": trained.ridge });
        self.sets
            .errors(&self.footage(), &trained.animator, &mut cell)?;
        Ok(cell)
    }

    /// A model of the tables' data.
    pub(super) fn fit(
        &self,
        config: &StableSpaceConfig,
    ) -> anyhow::Result<(Model, TrainedStableSpace)> {
        fit(&self.ground, &self.ground.dataset, config)
    }

    /// What a model is like and how far it is off.
    pub(super) fn measured(
        &self,
        name: &str,
        config: &StableSpaceConfig,
    ) -> anyhow::Result<(Value, Model, StableSpace)> {
        let started = Instant::now();
        let (model, trained) = self.fit(config)?;
        let taken = &trained.tried[trained.taken];
        let mut value = json!({
            "cell": name,
            "ridge": taken.ridge,
            "memory_ridge": taken.memory_ridge,
            "fit": taken.kind.name(),
            "cloth_dims": trained.animator.parts().dynamics.n_cloth(),
            "spectral_radius": model.head().spectral_radius,
            "free_spectral_radius": taken.free_radius,
            "tune_cm": taken.tune.map(|m| 100.0 * m),
            "cloth_explained_percent": 100.0 * trained.cloth_explained,
            "train_s": started.elapsed().as_secs_f64(),
        });
        let animator = trained.animator;
        self.sets.errors(&self.footage(), &animator, &mut value)?;
        if config.dims == SHIPPED {
            let mut stopped = self.ground.dataset.split(Split::Train)?;
            stopped.retain(|s| s.clip.contains("~stop"));
            value["stops"] = after_stops(&self.ground, stopped, &animator)?;
        }
        Ok((value, model, animator))
    }

    /// A model of the tables; of those that are shipped also what least squares
    /// are by themselves.
    fn train(&self, cell: Cell) -> anyhow::Result<Value> {
        let (mut value, model, _) = self.measured(&cell.name(), &cell.config())?;
        if cell.way == Way::Paper {
            return Ok(value);
        }
        self.desk.keep_model(&cell.name(), &model)?;
        if cell.order > 0 && cell.dims == SHIPPED {
            let (_, plain) = self.fit(&StableSpaceConfig {
                ridge: Ridge::Fixed(0.0),
                ..cell.config()
            })?;
            value["plain_spectral_radius"] = plain.tried[plain.taken].free_radius.into();
        }
        Ok(value)
    }

    /// The model of a cell, as it was kept or trained anew.
    pub(super) fn model(&self, cell: Cell) -> anyhow::Result<StableSpace> {
        if let Some(kept) = self
            .desk
            .kept_model(&cell.name(), &self.ground.origin.digest)
        {
            return Ok(kept);
        }
        let (model, trained) = self.desk.threads.install(|| self.fit(&cell.config()))?;
        self.desk.keep_model(&cell.name(), &model)?;
        Ok(trained.animator)
    }

    /// The spectral radius of the model of a cell.
    pub(super) fn model_radius(&self, cell: Cell) -> anyhow::Result<Option<f64>> {
        self.model(cell)?;
        let kept = self.desk.kept(&cell.name(), &self.ground.origin.digest);
        Ok(kept.and_then(|model| model.head().spectral_radius))
    }
}

/// Trains on a dataset or a part of it.
pub(super) fn fit(
    ground: &Ground,
    store: &dyn DatasetStore,
    config: &StableSpaceConfig,
) -> anyhow::Result<(Model, TrainedStableSpace)> {
    let go_on = |_| !stop::asked();
    let (character, digest) = (&ground.character, &ground.origin.digest);
    Ok(train_stable_model(
        store, character, 0, config, digest, &go_on,
    )?)
}

/// The cells and parts that are asked for, or all.
fn chosen(only: &[String]) -> anyhow::Result<(Vec<Cell>, Vec<Part>)> {
    let (mut cells, mut parts) = (Cell::all(), Part::ALL.to_vec());
    let names = cells.iter().map(|cell| cell.name());
    let own = parts.iter().flat_map(|part| part.cells());
    let names = names.chain(parts.iter().map(|part| part.name().to_string()));
    let names = names.chain(own);
    let names: Vec<String> = names.collect();
    for name in only {
        if !names.contains(name) {
            bail!(
                "--only {name}: there is no such cell or part; there are {}",
                names.join(", ")
            );
        }
    }
    let is_asked = |name: &str| only.is_empty() || only.iter().any(|asked| asked == name);
    cells.retain(|cell| is_asked(&cell.name()));
    let is_part_asked = |part: &Part| part.cells().iter().any(|cell| is_asked(cell));
    parts.retain(|part| is_asked(part.name()) || is_part_asked(part));
    Ok((cells, parts))
}

fn is_dataset(path: &Path) -> bool {
    path.join("zarr.json").exists()
}

/// Simulates what is missing of the data.
fn simulated(plan: &StableSpacesPlan, scene: &Path, path: &Path, say: &Say) -> anyhow::Result<()> {
    if plan.as_is {
        return Ok(());
    }
    let is_whole = is_dataset(path) && {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_of_the_tables_is_fitted_in_both_ways() {
        let all = Cell::all();
        let mut names: Vec<String> = all.iter().map(|cell| cell.name()).collect();
        names.sort();
        names.dedup();
        // Three models in seven dimensions, and C of four more orders.
        assert_eq!((names.len(), all.len()), (50, 50));
        for cell in all {
            let (other, config) = (cell.fitted(Way::Shipped).config(), cell.config());
            match cell.way {
                Way::Shipped => assert_eq!(config.fitting, Fitting::RolledOut),
                Way::Paper => {
                    assert_eq!(config.ridge, Ridge::Fixed(0.0));
                    assert_eq!(config.fitting, Fitting::OneStep);
                    assert!(config.max_radius > other.max_radius);
                    assert!(config.max_radius < 1.0);
                }
            }
            assert_eq!(config.model, other.model);
            assert_eq!((config.order, config.dims), (other.order, other.dims));
        }
    }
}
