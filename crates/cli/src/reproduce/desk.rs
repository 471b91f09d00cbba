//! [`Desk`]: what all cells are made with, whatever data they are made of.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use drapery::runtime::{Animator, Model, StableSpace};
use rayon::ThreadPool;
use serde_json::{Value, json};

use super::ground::Ground;
use super::page::page;
use super::{Cells, Origin};
use crate::args::StableSpacesPlan;
use crate::record::Input;
use crate::say::Say;
use crate::{record, stop, write};

/// What people write of the page, beside it.
const NOTES: &str = "notes.md";

/// Settings, threads and folders of a run, and the cells that are done.
pub(super) struct Desk<'a> {
    pub(super) plan: &'a StableSpacesPlan,
    pub(super) say: &'a Say,
    pub(super) threads: ThreadPool,
    /// The scene of the tables, and where datasets lie.
    pub(super) scene: PathBuf,
    pub(super) data: PathBuf,
    pub(super) cells: Cells,
}

impl Desk<'_> {
    /// Says how the run was made.
    pub(super) fn record(&self, tables: Option<(&Path, &Ground)>) -> anyhow::Result<()> {
        let inputs = tables.map(|(path, ground)| {
            let Origin { digest, tested } = &ground.origin;
            [(digest, "train and tune"), (tested, "test")].map(|(digest, splits)| Input {
                name: format!("{}, {splits}", path.display()),
                sha256: Some(digest.clone()),
            })
        });
        let inputs: Vec<Input> = inputs.into_iter().flatten().collect();
        let settings = json!({ "paper": "stable-spaces", "plan": self.plan });
        let path = self.plan.out.join("run.json");
        record::write(&path, "reproduce", &settings, &inputs)
    }

    /// Whether a cell of a part is asked for, by its own name or that of the part.
    pub(super) fn is_asked(&self, part: &str, cell: &str) -> bool {
        let only = &self.plan.only;
        only.is_empty() || only.iter().any(|name| name == part || name == cell)
    }

    /// A cell whose data is no longer there: what is done stays done.
    pub(super) fn known_without(&self, name: &str, data: &Path) -> anyhow::Result<Option<Value>> {
        if data.join("zarr.json").exists() {
            return Ok(None);
        }
        let kept = self.cells.kept(name);
        if kept.is_some() {
            self.write_page()?;
        }
        Ok(kept)
    }

    /// A cell as it is known of that data, or made and kept; then the page has it.
    pub(super) fn known_of(
        &self,
        name: &str,
        origin: &Origin,
        make: impl FnOnce() -> anyhow::Result<Value>,
    ) -> anyhow::Result<Value> {
        let value = match self.cells.get_of(name, origin) {
            Some(value) => value,
            None => {
                stop::check()?;
                let made = make();
                // What stopped it is not what is wrong.
                stop::check()?;
                let made = made.with_context(|| format!("cell {name}"))?;
                self.cells.put(name, origin, made)?
            }
        };
        self.write_page()?;
        Ok(value)
    }

    /// Writes the page anew, and at its end what people have written of it.
    pub(super) fn write_page(&self) -> anyhow::Result<()> {
        let scene = self.scene.file_stem().unwrap_or_default();
        let mut text = page(&scene.to_string_lossy(), &self.cells);
        let notes = self.plan.out.join(NOTES);
        match std::fs::read_to_string(&notes) {
            Ok(notes) => {
                text.push('\n');
                text += &notes;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", notes.display()));
            }
        }
        write::file(&self.plan.out.join("README.md"), text.as_bytes())
    }

    /// A model that was kept, if it was trained on that.
    pub(super) fn kept_model(&self, name: &str, digest: &str) -> Option<StableSpace> {
        match self.kept(name, digest)?.into_animator() {
            Animator::StableSpace(animator) => Some(animator),
            _ => None,
        }
    }

    pub(super) fn kept(&self, name: &str, digest: &str) -> Option<Model> {
        let bytes = std::fs::read(self.model_path(name)).ok()?;
        let model = Model::from_bytes(&bytes).ok()?;
        (model.head().training.digest == digest).then_some(model)
    }

    pub(super) fn keep_model(&self, name: &str, model: &Model) -> anyhow::Result<()> {
        let path = self.model_path(name);
        write::folder(&self.plan.out.join("models"))?;
        write::file(&path, &model.to_bytes())
    }

    fn model_path(&self, name: &str) -> PathBuf {
        let models = self.plan.out.join("models");
        models.join(format!("{name}.drapery"))
    }
}
