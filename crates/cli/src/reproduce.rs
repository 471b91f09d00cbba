//! `drapery reproduce`: the tables of a paper on our data, our number beside
//! theirs.
//!
//! A *cell* is one model that is trained and rolled out, or another figure that is
//! made at once. Each is a file of its own once it is done, with the digest of what
//! it was made of, so that a run that is interrupted goes on, and one on other data
//! begins anew.

mod clips;
mod crowds;
mod derived;
mod fabrics;
mod garments;
mod ground;
mod held_out;
mod nonlinear;
mod page;
mod pictures;
mod plots;
mod repeats;
mod resolutions;
mod stabilities;
mod stable_spaces;
mod stops;
mod ten_thousand;

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use serde_json::Value;

use crate::args::Reproduce;
use crate::say::Say;
use crate::{Answer, write};

pub(crate) fn run(command: &Reproduce, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Reproduce::StableSpaces(plan) => stable_spaces::run(plan, say),
    }
}

/// The cells that are done.
struct Cells {
    folder: PathBuf,
    digest: String,
}

impl Cells {
    /// The cells of a folder; most are made of data with that digest.
    fn open(folder: PathBuf, digest: String) -> anyhow::Result<Self> {
        write::folder(&folder)?;
        Ok(Self { folder, digest })
    }

    /// A cell of the data that is done.
    fn get(&self, name: &str) -> Option<Value> {
        self.get_of(name, &self.digest)
    }

    /// A cell of other data that is done.
    fn get_of(&self, name: &str, digest: &str) -> Option<Value> {
        self.kept(name).filter(|cell| cell["digest"] == digest)
    }

    /// A cell of whatever data.
    fn kept(&self, name: &str) -> Option<Value> {
        let text = fs::read(self.folder.join(format!("{name}.json"))).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps a cell, and gives it as it is kept.
    fn put(&self, name: &str, digest: &str, mut cell: Value) -> anyhow::Result<Value> {
        cell["digest"] = digest.into();
        let path = self.folder.join(format!("{name}.json"));
        let text = serde_json::to_vec_pretty(&cell).context("a cell has only numbers and names")?;
        write::file(&path, &text)?;
        Ok(cell)
    }
}
