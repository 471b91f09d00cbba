//! Table 4 of Stable Spaces: the dress in four resolutions.

use std::path::Path;

use drapery::scene::scene_file::Scene;
use drapery::store::dataset::PlannedSequence;

use super::Cells;
use super::derived::short;
use super::desk::Desk;
use super::garments::{tell, trained};
use super::ground::{Chosen, Ground, is_plain};
use super::page::number;
use crate::args::Scale;

/// Scenes, and the paper's errors on clips that test [cm].
const DRESSES: [(&str, f64); 4] = [
    ("stable-spaces-dress", 1.32),
    ("stable-spaces-dress-6664", 1.58),
    ("stable-spaces-dress-10172", 1.70),
    ("stable-spaces-dress-40688", 1.66),
];

/// The part.
pub(super) const NAME: &str = "table-4";

/// At the small scale so many of them: a frame of the finest takes minutes.
const SMALL: usize = 2;

/// A tenth of the frames of the full scenes: clips that train, tune and test.
const TENTH: [&str; 9] = [
    "walk",
    "run",
    "turn-90",
    "turn-180-right",
    "walk-stop",
    "jump",
    "tune-03",
    "test-08",
    "test-13",
];

pub(super) fn make(desk: &Desk<'_>) -> anyhow::Result<()> {
    let is_small = desk.plan.scale == Scale::Small;
    let n = if is_small { SMALL } else { DRESSES.len() };
    let is_wanted =
        |s: &PlannedSequence| is_plain(s) && (is_small || TENTH.contains(&s.clip.as_str()));
    let asked = |(name, _): &&(&str, f64)| desk.is_asked(NAME, &cell(name));
    for (name, _) in DRESSES[..n].iter().filter(asked) {
        let scene = || match is_small {
            true => short(name),
            false => Ok(Scene::named(Path::new(name))?),
        };
        let folder = match is_small {
            true => format!("{name}-short"),
            false => (*name).to_string(),
        };
        let (path, cell) = (desk.data.join(folder), cell(name));
        let value = match desk.known_without(&cell, &path)? {
            Some(value) => value,
            None => {
                let ground = Ground::of(&path, &is_wanted, scene, desk.plan.threads, desk.say)?;
                let chosen = Chosen {
                    of: &ground.dataset,
                    is_wanted: &is_wanted,
                };
                let train = || trained(desk, &cell, &ground, &chosen);
                desk.known_of(&cell, &ground.origin, || desk.threads.install(train))?
            }
        };
        tell(desk, &cell, &value)?;
    }
    Ok(())
}

/// The names of all cells.
pub(super) fn cells() -> Vec<String> {
    DRESSES.iter().map(|(scene, _)| cell(scene)).collect()
}

/// The name of a cell.
pub(super) fn cell(scene: &str) -> String {
    let name = scene.trim_start_matches("stable-spaces-");
    format!("resolution-{name}")
}

pub(super) fn section(cells: &Cells) -> Option<String> {
    let kept = DRESSES.map(|(scene, _)| cells.kept(&cell(scene)).unwrap_or_default());
    if kept.iter().all(serde_json::Value::is_null) {
        return None;
    }
    let row = |key: &str, digits| {
        let all = kept.iter().map(|cell| number(&cell[key], digits));
        all.collect::<Vec<_>>().join(" | ")
    };
    let paper = DRESSES.map(|(_, error)| format!("{error:.2}")).join(" | ");
    Some(format!(
        "## Table 4: resolutions of the dress\n\n\
         Model C of order 2, 64 dimensions, all on the same few clips without stops.\n\n\
         | vertices | {} |\n|---|---|---|---|---|\n\
         | test, cm | {} |\n| the paper's | {paper} |\n| skinning, cm | {} |\n\
         | tune, cm | {} |\n| frames that train | {} |\n| simulation, s a frame | {} |\n",
        row("vertices", 0),
        row("test_cm", 2),
        row("skinning_cm", 2),
        row("tune_cm", 2),
        row("train_frames", 0),
        row("simulation_s", 2),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_frames_train_and_test() {
        let scene = Scene::named(Path::new(DRESSES[0].0)).unwrap();
        let plan = scene.plan(None).unwrap();
        let frames = |is_wanted: &dyn Fn(&str) -> bool, test: bool| -> u32 {
            let all = plan.iter().filter(|p| {
                let (name, split) = scene.clip(p.clip);
                let is_test = split == drapery::store::dataset::Split::Test;
                let is_train = split == drapery::store::dataset::Split::Train;
                p.name == name
                    && is_wanted(name)
                    && (if test {
                        is_test && name.starts_with("test-")
                    } else {
                        is_train
                    })
            });
            all.map(|p| p.n_frames).sum()
        };
        for test in [false, true] {
            let share = f64::from(frames(&|name| TENTH.contains(&name), test))
                / f64::from(frames(&|_| true, test));
            assert!((0.09..0.11).contains(&share), "{test}: {share}");
        }
    }
}
