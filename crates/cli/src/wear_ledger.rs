//! The file of `drapery bench wear`: one JSON line a pair of motion and
//! garment, added when the pair is done and never changed.
//!
//! The first line holds the settings that all pairs share. Of two lines of the
//! same pair the later one counts. A last line that is not whole, as a killed
//! run leaves it, is dropped.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Value, json};

/// A motion and a garment, by their names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PairName {
    pub(crate) clip: String,
    pub(crate) garment: String,
}

impl PairName {
    fn of(data: &Value) -> Option<Self> {
        let text = |key: &str| data[key].as_str().map(str::to_string);
        Some(Self {
            clip: text("clip")?,
            garment: text("garment")?,
        })
    }
}

/// The file, and what it holds.
pub(crate) struct Ledger {
    path: PathBuf,
    file: File,
    pairs: BTreeMap<PairName, Value>,
}

const HEAD: &str = "wear-settings";
const PAIR: &str = "wear";

impl Ledger {
    /// Opens the file at `path`, or makes it, for pairs run with `settings`.
    pub(crate) fn open(path: &Path, settings: &Value) -> anyhow::Result<Self> {
        let cannot = || format!("cannot go on with {}", path.display());
        let mut pairs = BTreeMap::new();
        let is_new = !path.exists();
        if !is_new {
            let text = fs::read_to_string(path).with_context(cannot)?;
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            for (number, line) in text[..whole].lines().enumerate() {
                let place = || format!("line {} of {}", number + 1, path.display());
                let line: Value = serde_json::from_str(line)
                    .with_context(|| format!("{} is no JSON", place()))?;
                let data = &line["data"];
                match (number, line["type"].as_str()) {
                    (0, Some(HEAD)) => same_settings(data, settings).with_context(cannot)?,
                    (0, _) => bail!("{} is no file of drapery bench wear", path.display()),
                    (_, Some(PAIR)) => {
                        let name = PairName::of(data)
                            .with_context(|| format!("{} names no clip and garment", place()))?;
                        pairs.insert(name, data.clone());
                    }
                    _ => bail!("{} is of an unknown type", place()),
                }
            }
            if whole < text.len() {
                let file = OpenOptions::new().write(true).open(path);
                file.and_then(|f| f.set_len(whole as u64))
                    .with_context(cannot)?;
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let mut ledger = Self {
            path: path.to_path_buf(),
            file: file.with_context(|| format!("cannot write {}", path.display()))?,
            pairs,
        };
        if is_new || fs::metadata(path).with_context(cannot)?.len() == 0 {
            ledger.append(HEAD, settings)?;
        }
        Ok(ledger)
    }

    /// What is known of a pair.
    pub(crate) fn get(&self, name: &PairName) -> Option<&Value> {
        self.pairs.get(name)
    }

    /// Adds a pair.
    pub(crate) fn add(&mut self, name: PairName, data: Value) -> anyhow::Result<()> {
        self.append(PAIR, &data)?;
        self.pairs.insert(name, data);
        Ok(())
    }

    fn append(&mut self, kind: &str, data: &Value) -> anyhow::Result<()> {
        let line = format!("{}\n", json!({ "type": kind, "data": data }));
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data())
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// An error that names the first setting that differs.
fn same_settings(old: &Value, new: &Value) -> anyhow::Result<()> {
    let keys = new.as_object().into_iter().flatten().map(|(key, _)| key);
    for key in keys {
        if old[key] != new[key] {
            bail!(
                "it was made with {key} = {}, now it is {}; give another --out",
                old[key],
                new[key]
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(clip: &str) -> PairName {
        PairName {
            clip: clip.to_string(),
            garment: "skirt".to_string(),
        }
    }

    fn pair(clip: &str, frames: u32) -> Value {
        json!({ "clip": clip, "garment": "skirt", "frames": frames })
    }

    #[test]
    fn what_was_added_is_there_when_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wear.jsonl");
        let settings = json!({ "character": "tube", "frames": null });
        let mut ledger = Ledger::open(&path, &settings).unwrap();
        ledger.add(name("walk"), pair("walk", 3)).unwrap();
        ledger.add(name("run"), pair("run", 4)).unwrap();
        ledger.add(name("walk"), pair("walk", 5)).unwrap();
        drop(ledger);
        // As a killed run leaves it.
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"type\":\"wear\",\"da").unwrap();
        drop(file);
        let mut ledger = Ledger::open(&path, &settings).unwrap();
        assert_eq!(ledger.get(&name("walk")).unwrap()["frames"], 5);
        assert_eq!(ledger.get(&name("run")).unwrap()["frames"], 4);
        assert!(ledger.get(&name("jump")).is_none());
        ledger.add(name("jump"), pair("jump", 6)).unwrap();
        drop(ledger);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 5);
        assert!(
            text.lines()
                .all(|l| serde_json::from_str::<Value>(l).is_ok())
        );
    }

    #[test]
    fn other_settings_and_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wear.jsonl");
        drop(Ledger::open(&path, &json!({ "frames": 3 })).unwrap());
        assert!(Ledger::open(&path, &json!({ "frames": 3 })).is_ok());
        assert!(Ledger::open(&path, &json!({ "frames": 4 })).is_err());
        fs::write(&path, "{\"type\":\"motion\",\"data\":{}}\n").unwrap();
        assert!(Ledger::open(&path, &json!({ "frames": 3 })).is_err());
        fs::write(&path, "hello\n").unwrap();
        assert!(Ledger::open(&path, &json!({ "frames": 3 })).is_err());
    }
}
