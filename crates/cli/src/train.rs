//! `drapery train`: a dataset into a model.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use drapery::learn::{
    Fitting, Footage, LinearConfig, Ridge, Stability, StableModel, StableSpaceConfig, TrainStage,
    TrainedStableSpace, hidden_skin,
};
use drapery::runtime::{ClothSpace, Model};
use drapery::scene::character::Character;
use drapery::store::dataset::{
    DatasetFolder, DatasetHead, DatasetStore, PlannedSequence, Split, file_digest,
};
use drapery::{stored_character, train_linear_model, train_stable_model};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::args::{FittedTo, LinearPlan, Space, StableBy, StableSpacePlan, StableVariant, Train};
use crate::bench::pool_of;
use crate::record::{self, Input};
use crate::say::Say;
use crate::{Answer, dataset, stop, workers, write};

pub(crate) fn run(command: &Train, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Train::StableSpace(plan) => stable_space(plan, say),
        Train::Linear(plan) => linear(plan, say),
    }
}

/// What a model is trained on, read and checked before any work.
struct Ground {
    dataset: DatasetFolder,
    character: Character,
    garment: usize,
    digest: String,
}

impl Ground {
    fn new(dataset_path: &Path, out: &Path, garment: Option<&str>) -> anyhow::Result<Self> {
        if write::check("--out", out)? != "drapery" {
            bail!("--out {}: a model is written as .drapery", out.display());
        }
        let dataset = dataset::open(dataset_path)?;
        let garment = chosen_garment(dataset.head(), garment)?;
        if dataset.split(Split::Train)?.is_empty() {
            bail!(
                "{}: no sequence that is split train is whole",
                dataset_path.display()
            );
        }
        let character = stored_character(&dataset.head().body)
            .with_context(|| format!("cannot read the body of {}", dataset_path.display()))?;
        Ok(Self {
            digest: digest(&dataset, dataset_path)?,
            dataset,
            character,
            garment,
        })
    }

    /// The model with the skin that its garment always hides, where there is a body.
    fn hiding(&self, model: Model) -> anyhow::Result<Model> {
        if !self.dataset.head().has_body() {
            return Ok(model);
        }
        let footage = Footage {
            store: &self.dataset,
            body: &self.character,
            garment: self.garment,
        };
        let hidden = hidden_skin(&footage, &|| !stop::asked());
        if hidden.is_err() {
            stop::check()?;
        }
        Ok(model.with_hidden(hidden.context("cannot look for hidden skin")?))
    }

    /// Writes what was trained, with its `run.json`; gives how many bytes it has.
    fn keep(
        &self,
        model: &Model,
        dataset: &Path,
        out: &Path,
        plan: Value,
    ) -> anyhow::Result<usize> {
        let bytes = model.to_bytes();
        write::file(out, &bytes)?;
        let method = &model.head().method;
        let settings = json!({ "method": method, "plan": plan, "digest": self.digest });
        let inputs = [Input {
            name: dataset.to_string_lossy().into_owned(),
            sha256: Some(self.digest.clone()),
        }];
        record::write(&record::beside(out), "train", &settings, &inputs)?;
        Ok(bytes.len())
    }
}

fn stable_space(plan: &StableSpacePlan, say: &Say) -> anyhow::Result<Answer> {
    let ground = Ground::new(&plan.dataset, &plan.out, plan.garment.as_deref())?;
    let config = config(plan);
    let started = Instant::now();
    let trains = ground.dataset.split(Split::Train)?;
    let frames: u64 = trains.iter().map(|s| u64::from(s.frames)).sum();
    // Cloth is read once for its components, once for its dynamics, once for its energy.
    let bar = say.progress(2 * frames, "frames");
    let watch = |stage| {
        if matches!(stage, TrainStage::Cloth | TrainStage::Dynamics) {
            bar.inc(1);
        }
        !stop::asked()
    };
    let Ground {
        dataset,
        character,
        garment,
        digest,
    } = &ground;
    let pool = pool_of(workers::threads(plan.threads))?;
    let trained =
        pool.install(|| train_stable_model(dataset, character, *garment, &config, digest, &watch));
    bar.finish_and_clear();
    if trained.is_err() {
        stop::check()?;
    }
    let (model, trained) =
        trained.with_context(|| format!("cannot train on {}", plan.dataset.display()))?;
    let model = pool.install(|| ground.hiding(model))?;
    let n_bytes = ground.keep(&model, &plan.dataset, &plan.out, json!(plan))?;
    let seconds = started.elapsed().as_secs_f64();
    report(plan, &model, &trained, n_bytes, seconds, say)
}

fn linear(plan: &LinearPlan, say: &Say) -> anyhow::Result<Answer> {
    let ground = Ground::new(&plan.dataset, &plan.out, plan.garment.as_deref())?;
    let config = LinearConfig {
        n_components: plan.dims.into(),
        ridge: plan.ridge,
    };
    let started = Instant::now();
    let go_on = || !stop::asked();
    let Ground {
        dataset,
        character,
        garment,
        digest,
    } = &ground;
    let trained = train_linear_model(dataset, character, *garment, &config, digest, &go_on);
    if trained.is_err() {
        stop::check()?;
    }
    let (model, trained) =
        trained.with_context(|| format!("cannot train on {}", plan.dataset.display()))?;
    let model = ground.hiding(model)?;
    let n_bytes = ground.keep(&model, &plan.dataset, &plan.out, json!(plan))?;
    let seconds = started.elapsed().as_secs_f64();
    let tried = trained.tried.iter();
    let tried = tried.map(|(ridge, rms)| json!({ "ridge": ridge, "tune_rms_cm": 100.0 * rms }));
    let (ridge, n_frames) = (trained.ridge, trained.n_frames);
    let model_mb = n_bytes as f64 / 1e6;
    let data = json!({
        "file": plan.out.to_string_lossy(),
        "method": "linear",
        "garment": model.head().garment,
        "cloth_dims": trained.animator.parts().bias.len(),
        "sequences": trained.n_sequences,
        "frames": n_frames,
        "cloth_explained_percent": 100.0 * trained.explained,
        "ridge": ridge,
        "tried": tried.collect::<Vec<Value>>(),
        "hidden_skin_vertices": n_hidden(&model),
        "model_mb": model_mb,
        "seconds": seconds,
    });
    let text = format!(
        "{}: {} from {n_frames} frames, ridge {ridge:e}; {model_mb:.2} MB, {seconds:.1} s",
        plan.out.display(),
        model.head().garment,
    );
    say.result("model", data, text)?;
    Ok(Answer::Yes)
}

/// How many vertices of the body its garment always hides.
fn n_hidden(model: &Model) -> Option<usize> {
    model.hidden().map(|hidden| hidden.n_hidden())
}

fn config(plan: &StableSpacePlan) -> StableSpaceConfig {
    StableSpaceConfig {
        model: match plan.model {
            StableVariant::A => StableModel::A,
            StableVariant::B => StableModel::B,
            StableVariant::C => StableModel::C,
        },
        dims: plan.dims.into(),
        order: plan.order.into(),
        ridge: plan.ridge.map_or(Ridge::Tuned, Ridge::Fixed),
        fitting: match plan.fit {
            FittedTo::OneStep => Fitting::OneStep,
            FittedTo::RollOuts => Fitting::RolledOut,
        },
        space: match plan.space {
            Space::Canonical => ClothSpace::Canonical,
            Space::Unposed => ClothSpace::Unposed,
        },
        max_radius: plan.max_radius,
        stability: match plan.stability {
            StableBy::Constrained => Stability::Constrained,
            StableBy::FewerDims => Stability::FewerDims,
        },
    }
}

/// The garment that was asked for, or the only one.
fn chosen_garment(head: &DatasetHead, name: Option<&str>) -> anyhow::Result<usize> {
    let names = || {
        let names = head.garments.iter().map(|g| g.garment.name());
        names.collect::<Vec<_>>().join(", ")
    };
    match name {
        Some(name) => {
            let is_it = |g: &drapery::store::dataset::StoredGarment| g.garment.name() == name;
            let found = head.garments.iter().position(is_it);
            found.with_context(|| format!("--garment {name}: the dataset has {}", names()))
        }
        None if head.garments.len() == 1 => Ok(0),
        None => bail!("give a --garment; the dataset has {}", names()),
    }
}

/// The SHA-256 of what the dataset says of itself and of every sequence that is
/// learned from or tuned on, which have the digests of all their values.
pub(crate) fn digest(dataset: &DatasetFolder, path: &Path) -> anyhow::Result<String> {
    let mut learned = dataset.split(Split::Train)?;
    learned.extend(dataset.split(Split::Tune)?);
    digest_of(path, &learned)
}

/// The same of some sequences.
pub(crate) fn digest_of(path: &Path, sequences: &[PlannedSequence]) -> anyhow::Result<String> {
    let mut all = Sha256::new();
    all.update(file_digest(&path.join("zarr.json"))?);
    for planned in sequences {
        let sequence = path.join("sequences").join(&planned.name);
        all.update(file_digest(&sequence.join("zarr.json"))?);
    }
    Ok(all.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

fn report(
    plan: &StableSpacePlan,
    model: &Model,
    trained: &TrainedStableSpace,
    n_bytes: usize,
    seconds: f64,
    say: &Say,
) -> anyhow::Result<Answer> {
    let taken = &trained.tried[trained.taken];
    let dynamics = &trained.animator.parts().dynamics;
    let tried = trained.tried.iter().map(|tried| {
        json!({
            "ridge": tried.ridge,
            "memory_ridge": tried.memory_ridge,
            "fit": tried.kind.name(),
            "free_radius": tried.free_radius,
            "radius": tried.radius,
            "tune_mean_cm": tried.tune.map(|m| 100.0 * m),
        })
    });
    let energy = trained.energy.map(|e| {
        json!({
            "largest": e.largest,
            "threshold": e.threshold,
            "largest_cm": 100.0 * e.largest_displacement,
            "threshold_cm": 100.0 * e.threshold_displacement,
        })
    });
    let data = json!({
        "file": plan.out.to_string_lossy(),
        "method": "stable-space",
        "garment": model.head().garment,
        "vertices": trained.animator.skinned().rest().len(),
        "cloth_dims": dynamics.n_cloth(),
        "body_dims": dynamics.n_body(),
        "order": dynamics.order(),
        "plain_sequences": trained.plain.0,
        "plain_frames": trained.plain.1,
        "sequences": trained.extended.0,
        "frames": trained.extended.1,
        "cloth_explained_percent": 100.0 * trained.cloth_explained,
        "body_explained_percent": 100.0 * trained.body_explained,
        "ridge": taken.ridge,
        "memory_ridge": taken.memory_ridge,
        "fit": taken.kind.name(),
        "free_spectral_radius": taken.free_radius,
        "spectral_radius": taken.radius,
        "tune_mean_cm": taken.tune.map(|m| 100.0 * m),
        "tried": tried.collect::<Vec<Value>>(),
        "energy": energy,
        "hidden_skin_vertices": n_hidden(model),
        "model_mb": n_bytes as f64 / 1e6,
        "seconds": seconds,
    });
    let tune = taken.tune.map_or_else(
        || "nothing to tune on".to_string(),
        |m| format!("{:.2} cm on tune clips", 100.0 * m),
    );
    let text = format!(
        "{}: {} in {} dimensions of order {}, from {} frames; {tune}; ridge {:e} and {:e}, {} fit; \
         spectral radius {:.4} (without the condition {:.4}); {:.2} MB, {seconds:.1} s",
        plan.out.display(),
        model.head().garment,
        dynamics.n_cloth(),
        dynamics.order(),
        trained.extended.1,
        taken.ridge,
        taken.memory_ridge,
        taken.kind.name(),
        taken.radius,
        taken.free_radius,
        n_bytes as f64 / 1e6,
    );
    let energy = trained.energy.map_or_else(String::new, |e| {
        format!(
            "\nthe garment of a training frame is at most {:.1} cm from the mean one (root mean \
             square); beyond {:.1} cm it always swings less{}",
            100.0 * e.largest_displacement,
            100.0 * e.threshold_displacement,
            match trained.animator.reach() {
                Some(reach) => format!(", and it never goes beyond {:.1} cm", 100.0 * reach),
                None => String::new(),
            }
        )
    });
    say.result("model", data, text + &energy)?;
    Ok(Answer::Yes)
}
