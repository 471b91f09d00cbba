//! `run.json`: what a run was made of, so that it can be made again.

use std::path::Path;

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
    /// The record of an input that is a file, or built in if there is no such file.
    pub(crate) fn of(name: &str) -> anyhow::Result<Self> {
        let path = Path::new(name);
        let sha256 = match path.is_file() {
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

/// Writes `run.json` into `folder`, or beside a file as `<name>.run.json`.
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
        "arguments": std::env::args().skip(1).collect::<Vec<_>>(),
        "settings": settings,
        "inputs": inputs,
    });
    let mut text = serde_json::to_string_pretty(&record)?;
    text.push('\n');
    write::file(path, text.as_bytes())
}
