//! How the program speaks: results to stdout, all else to stderr.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::args::Args;

/// Where results and remarks go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Say {
    json: bool,
    quiet: bool,
}

impl Say {
    pub(crate) const fn new(args: &Args) -> Self {
        Self {
            json: args.json,
            quiet: args.quiet,
        }
    }

    /// The same results without remarks and progress.
    pub(crate) const fn hushed(self) -> Self {
        Self {
            quiet: true,
            ..self
        }
    }

    /// A result: with `--json` one object a line, otherwise `text`.
    pub(crate) fn result(
        &self,
        kind: &str,
        data: impl Serialize,
        text: impl fmt::Display,
    ) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            let line = serde_json::json!({ "type": kind, "data": data });
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{text}")?;
        }
        Ok(())
    }

    /// Whether results are JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// A summary of results for people: nothing with `--json`.
    pub(crate) fn end(&self, text: impl fmt::Display) -> anyhow::Result<()> {
        if !self.json {
            writeln!(io::stdout().lock(), "{text}")?;
        }
        Ok(())
    }

    /// A remark for people, unless they asked for quiet.
    pub(crate) fn note(&self, text: impl fmt::Display) {
        if !self.quiet {
            // Nobody is left to tell when stderr is closed.
            let _ = writeln!(io::stderr().lock(), "{text}");
        }
    }

    /// What went wrong, however quiet.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        let _ = writeln!(io::stderr().lock(), "drapery: {error:#}");
    }

    /// A bar for long work when stderr is a terminal; hidden otherwise.
    pub(crate) fn progress(&self, steps: u64, what: &'static str) -> ProgressBar {
        let shown = !self.quiet && io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::with_draw_target(Some(steps), target)
            .with_style(style)
            .with_message(what)
    }
}
