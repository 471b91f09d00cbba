//! `<dataset>.times.jsonl`: how long each sequence took, beside the dataset and
//! no part of it, so that its bytes don't depend on the clock.
//!
//! One JSON object a line; of two lines of one sequence the later one counts,
//! and one that is not whole, as a killed run leaves it, counts for nothing.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// How long a sequence took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Took {
    pub(crate) sequence: String,
    /// Frames that were made.
    pub(crate) frames: u32,
    /// How many of these are the first of another sequence, and took nothing.
    #[serde(default)]
    pub(crate) shared: u32,
    /// Until the first frame [s].
    pub(crate) dressing_s: f64,
    /// Of the frames after the first, and after those shared, if there are any [s].
    pub(crate) s_per_frame: Option<f64>,
    /// Threads that it had.
    pub(crate) threads: usize,
}

impl Took {
    /// Of a frame [s], where there were any after the first.
    pub(crate) const fn seconds(&self) -> Option<f64> {
        self.s_per_frame
    }

    /// Of all of it [s].
    pub(crate) fn in_all(&self) -> f64 {
        let own = self.frames.saturating_sub(self.shared.max(1));
        self.dressing_s + f64::from(own) * self.s_per_frame.unwrap_or(0.0)
    }
}

/// A dataset's path without anything behind its name, and a file beside it.
pub(crate) fn beside(dataset: &Path, ending: &str) -> PathBuf {
    let plain: PathBuf = dataset.components().collect();
    let mut name = plain.into_os_string();
    name.push(ending);
    name.into()
}

fn path(dataset: &Path) -> PathBuf {
    beside(dataset, ".times.jsonl")
}

/// What is known, by sequence.
pub(crate) fn read(dataset: &Path) -> BTreeMap<String, Took> {
    // Who has no times is told none.
    let text = std::fs::read_to_string(path(dataset)).unwrap_or_default();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Took>(line).ok());
    lines.map(|took| (took.sequence.clone(), took)).collect()
}

/// One sequence more.
pub(crate) fn add(dataset: &Path, took: &Took) -> anyhow::Result<()> {
    let path = path(dataset);
    let cannot = || format!("cannot write {}", path.display());
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .with_context(cannot)?;
    // A new line first ends what a killed run left unfinished.
    let line = format!("\n{}\n", serde_json::to_string(took)?);
    file.write_all(line.as_bytes()).with_context(cannot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_line_of_a_sequence_counts() {
        let folder = tempfile::tempdir().unwrap();
        let dataset = folder.path().join("ds");
        let took = |frames| Took {
            sequence: "walk@mean".into(),
            frames,
            shared: 0,
            dressing_s: 1.5,
            s_per_frame: None,
            threads: 2,
        };
        assert!(read(&dataset).is_empty());
        add(&dataset, &took(3)).unwrap();
        std::fs::write(path(&dataset), "{\"sequence\":\"wal").unwrap();
        add(&dataset, &took(4)).unwrap();
        add(&dataset, &took(5)).unwrap();
        assert_eq!(read(&dataset)["walk@mean"], took(5));
        assert_eq!(beside(Path::new("a/ds/"), ".x"), Path::new("a/ds.x"));
    }
}
