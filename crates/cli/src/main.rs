//! The `drapery` command line.
//!
//! Each command turns its arguments into a checked plan, then does the work.
//! stdout is the result, stderr is for people; exit codes are 0 (done), 1 (it
//! ran and the answer is no), 2 (bad usage, bad input or failed I/O) and 130
//! (interrupted).

mod animate;
mod args;
mod bench;
mod bench_ball;
mod bench_crowd;
mod bench_fold;
mod bench_simulate;
mod bench_walk;
mod bench_wear;
mod character;
mod crowd_stand_in;
mod dataset;
mod dataset_check;
mod dataset_export;
mod dataset_import;
mod dataset_times;
mod demo;
mod eval;
mod eval_pictures;
mod eval_report;
mod fabric;
mod fabric_drape;
mod fabric_picture;
mod garment;
mod import_source;
mod info;
mod motion;
mod picture;
mod record;
mod reproduce;
mod say;
mod simulate;
mod simulate_report;
mod source;
mod stage;
mod stop;
mod train;
mod validate;
mod view;
mod wear_ledger;
mod wear_pair;
mod wear_table;
mod workers;
mod write;

use std::process::ExitCode;

use crate::args::Command;
use crate::say::Say;

/// What a command that ran to its end has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Done, or yes.
    Yes,
    /// It ran, and the answer is no.
    No,
}

impl Answer {
    /// Yes when both are.
    const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::No,
        }
    }
}

fn main() -> ExitCode {
    let args = args::parse();
    stop::listen();
    let say = Say::new(&args);
    let done = run(&args.command, &say);
    match done {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) if stop::asked() => {
            say.note(format_args!("interrupted: {error:#}"));
            ExitCode::from(130)
        }
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say.error(&error);
            ExitCode::from(2)
        }
    }
}

/// Does what was asked for.
fn run(command: &Command, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Command::Demo(plan) => demo::run(plan, say),
        Command::Character(command) => character::run(command, say),
        Command::Garment(command) => garment::run(command, say),
        Command::Motion(command) => motion::run(command, say),
        Command::Animate(plan) => animate::run(plan, say),
        Command::Simulate(plan) => simulate::run(plan, say),
        Command::Dataset(command) => dataset::run(command, say),
        Command::Eval(plan) => eval::run(plan, say),
        Command::Train(command) => train::run(command, say),
        Command::Reproduce(command) => reproduce::run(command, say),
        Command::Picture(plan) => picture::run(plan, say),
        Command::View(plan) => view::run(plan, say),
        Command::Validate(plan) => validate::run(plan, say),
        Command::Bench(command) => bench::run(command, say),
        Command::Info(plan) => info::run(plan, say),
    }
}

/// Whether the reader of our output went away, which is its right.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
