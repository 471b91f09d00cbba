//! How the program speaks: results to stdout, all else to stderr.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};
use serde::Serialize;

use crate::args::Args;

/// How often long work says how far it is where there is no terminal: a log of a night
/// stays one to be read.
const LINE_EVERY: Duration = Duration::from_secs(60);

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

    /// A bar for long work when stderr is a terminal; otherwise a line a minute.
    pub(crate) fn progress(&self, steps: u64, what: &'static str) -> ProgressBar {
        let is_terminal = io::stderr().is_terminal();
        let target = if is_terminal && !self.quiet {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(steps), target)
            .with_style(style)
            .with_message(what);
        if !is_terminal && !self.quiet {
            let (say, weak) = (*self, bar.downgrade());
            thread::spawn(move || lines(&weak, what, LINE_EVERY, |line| say.note(line)));
        }
        bar
    }
}

/// Says how far a bar is, as long as it is there and whenever it has moved.
fn lines(bar: &WeakProgressBar, what: &str, every: Duration, mut tell: impl FnMut(String)) {
    let mut told = 0;
    loop {
        thread::sleep(every);
        let Some(bar) = bar.upgrade() else { return };
        let (gone, all) = (bar.position(), bar.length().unwrap_or_default());
        // After the position, which goes to the end when the bar does.
        if bar.is_finished() {
            return;
        }
        if gone > told {
            told = gone;
            tell(format!(
                "{what}: {gone} of {all}, {} left",
                HumanDuration(left(bar.elapsed(), gone, all))
            ));
        }
    }
}

/// How long the rest takes if it goes on as it did from the beginning: the bar's own
/// guess is of the last seconds, and frames come in bursts.
fn left(elapsed: Duration, gone: u64, all: u64) -> Duration {
    elapsed.mul_f64(all.saturating_sub(gone) as f64 / gone as f64)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_what_is_done() {
        let minutes = |n: u64| Duration::from_secs(60 * n);
        assert_eq!(left(minutes(10), 50, 200), minutes(30));
        assert_eq!(left(minutes(10), 200, 200), Duration::ZERO);
        assert_eq!(left(minutes(10), 201, 200), Duration::ZERO);
    }

    #[test]
    fn long_work_says_how_far_it_is_until_it_is_done() {
        let bar = ProgressBar::with_draw_target(Some(200), ProgressDrawTarget::hidden());
        bar.inc(50);
        let weak = bar.downgrade();
        let (sender, told) = mpsc::channel();
        let teller = thread::spawn(move || {
            lines(&weak, "frames", Duration::from_millis(1), |line| {
                sender.send(line).expect("the test listens");
            });
        });
        let line = told.recv().expect("a bar that has moved is told of");
        assert!(line.starts_with("frames: 50 of 200, "), "{line}");
        bar.inc(25);
        let line = told.recv().expect("it has moved again");
        assert!(line.starts_with("frames: 75 of 200, "), "{line}");
        bar.finish_and_clear();
        teller.join().expect("it ends with the bar");
        assert!(told.recv().is_err(), "nothing is said of what is done");
    }
}
