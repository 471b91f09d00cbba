//! `run.json`: what a run was made of, so that it can be made again.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::write;

/// An input of a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Input {
    /// What was asked for: a file or a built-in name.
    pub(crate) name: String,
    /// SHA-256 of the file; none for what is built in.
    pub(crate) sha256: Option<String>,
}

impl Input {
    /// The record of an input that is a file, or built in if its name has no ending.
    pub(crate) fn of(name: &str) -> anyhow::Result<Self> {
        let path = Path::new(name);
        let sha256 = match path.extension().is_some() && path.is_file() {
            true => {
                let bytes = std::fs::read(path).with_context(|| format!("cannot read {name}"))?;
                let digest = Sha256::digest(&bytes);
                Some(digest.iter().map(|b| format!("{b:02x}")).collect())
            }
            false => None,
        };
        Ok(Self {
            name: name.to_string(),
            sha256,
        })
    }
}

/// Where the record of a file lies: beside it, as `<name>.run.json`.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".run.json");
    name.into()
}

/// Writes a record to `path`.
pub(crate) fn write(
    path: &Path,
    command: &str,
    settings: impl Serialize,
    inputs: &[Input],
) -> anyhow::Result<()> {
    let record = serde_json::json!({
        "program": "drapery",
        "version": env!("CARGO_PKG_VERSION"),
        "command": command,
        "arguments": std::env::args_os()
            .skip(1)
            .map(|a| a.to_string_lossy().into_owned())
            .collect::<Vec<_>>(),
        "settings": settings,
        "inputs": inputs,
    });
    let mut text = serde_json::to_string_pretty(&record)?;
    text.push('\n');
    write::file(path, text.as_bytes())
}
