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
mod desk;
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

/// What a cell is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    /// The digest of all that trains and tunes; models have it, too.
    digest: String,
    /// That of all that tests.
    tested: String,
}

impl Origin {
    /// This and other data besides.
    fn and(&self, other: &Self) -> Self {
        Self {
            digest: format!("{} {}", self.digest, other.digest),
            tested: format!("{} {}", self.tested, other.tested),
        }
    }

    /// Whether a cell is made of it. Those of before do not say what tested them.
    fn is_of(&self, cell: &Value) -> bool {
        let tested = &cell["tested"];
        cell["digest"] == *self.digest && (tested.is_null() || *tested == *self.tested)
    }
}

/// The cells that are done.
struct Cells {
    folder: PathBuf,
    /// The data of the tables, where it is there.
    origin: Option<Origin>,
}

impl Cells {
    /// The cells of a folder.
    fn open(folder: PathBuf) -> anyhow::Result<Self> {
        write::folder(&folder)?;
        let origin = None;
        Ok(Self { folder, origin })
    }

    /// A cell of the data of the tables that is done; of whatever data that was where it
    /// is not there.
    fn get(&self, name: &str) -> Option<Value> {
        let is_ours = |cell: &Value| self.origin.as_ref().is_none_or(|own| own.is_of(cell));
        self.kept(name).filter(is_ours)
    }

    /// A cell that is made of the data of the tables and of other data besides: its digest
    /// begins with that of the tables.
    fn get_with_others(&self, name: &str) -> Option<Value> {
        let begins = |cell: &Value, own: &Origin| {
            let of = |key: &str| cell[key].as_str();
            of("digest").is_some_and(|digest| digest.starts_with(&own.digest))
                && of("tested").is_none_or(|tested| tested.starts_with(&own.tested))
        };
        let is_ours = |cell: &Value| self.origin.as_ref().is_none_or(|own| begins(cell, own));
        self.kept(name).filter(is_ours)
    }

    /// A cell of other data that is done.
    fn get_of(&self, name: &str, origin: &Origin) -> Option<Value> {
        self.kept(name).filter(|cell| origin.is_of(cell))
    }

    /// A cell of whatever data.
    fn kept(&self, name: &str) -> Option<Value> {
        let text = fs::read(self.folder.join(format!("{name}.json"))).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps a cell, and gives it as it is kept.
    fn put(&self, name: &str, origin: &Origin, mut cell: Value) -> anyhow::Result<Value> {
        cell["digest"] = origin.digest.as_str().into();
        cell["tested"] = origin.tested.as_str().into();
        let path = self.folder.join(format!("{name}.json"));
        let text = serde_json::to_vec_pretty(&cell).context("a cell has only numbers and names")?;
        write::file(&path, &text)?;
        Ok(cell)
    }
}
