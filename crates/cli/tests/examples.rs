//! The examples at the end of every `--help`, as a user types them.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::out;

#[test]
fn every_help_ends_in_an_example_that_works() {
    let folder = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 19] = [
        &[],
        &["demo"],
        &["character", "info"],
        &["character", "check"],
        &["garment", "info"],
        &["garment", "check"],
        &["garment", "draft"],
        &["garment", "fabric"],
        &["motion", "info"],
        &["motion", "edit"],
        &["animate"],
        &["picture"],
        &["validate"],
        &["bench", "crowd"],
        &["bench", "picture"],
        &["bench", "simulate"],
        &["bench", "skinning"],
        &["bench", "wear"],
        &["info"],
    ];
    for command in commands {
        let help = out(folder.path(), 0, &[command, &["--help"]].concat());
        let example = help.trim_end().lines().last().unwrap().trim();
        let words: Vec<&str> = example.split_whitespace().collect();
        assert_eq!(
            words.first(),
            Some(&"drapery"),
            "{command:?} ends with {example}"
        );
        assert!(
            words[1..].starts_with(command),
            "{command:?} ends with {example}"
        );
        out(folder.path(), 0, &words[1..]);
    }
}

/// Those that need a dataset, on the one of `simulate --help`.
#[test]
fn examples_work_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let help = |command: &[&str]| out(at, 0, &[command, &["--help"]].concat());
    let simulate = help(&["simulate"]);
    let scene = simulate.lines().map(str::trim);
    let scene = scene.skip_while(|line| *line != "[character]");
    let scene: Vec<&str> = scene.take_while(|line| !line.is_empty()).collect();
    std::fs::write(at.join("scene.toml"), scene.join("\n")).unwrap();
    let run = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        out(at, 0, &words[1..]);
    };
    let all = simulate.lines().map(str::trim);
    let examples: Vec<&str> = all.filter(|line| line.starts_with("drapery ")).collect();
    assert_eq!(examples.len(), 2, "{examples:?}");
    examples.iter().for_each(|example| run(example));
    let commands: [&[&str]; 7] = [
        &["dataset", "info"],
        &["dataset", "check"],
        &["dataset", "export"],
        &["train", "stable-space"],
        &["train", "linear"],
        &["eval"],
        &["dataset", "split"],
    ];
    for command in commands {
        let help = help(command);
        let example = help.trim_end().lines().last().unwrap().trim();
        let words: Vec<&str> = example.split_whitespace().collect();
        assert!(words[1..].starts_with(command), "{command:?}: {example}");
        run(example);
    }
}
