//! The swing after stops that nothing was trained on: copies of clips that test, in
//! a small dataset beside that of the tables.

use drapery::store::dataset::{DatasetStore, PlannedSequence, Split};
use serde_json::{Value, json};

use super::derived::{PLACES, stopped};
use super::ground::Ground;
use super::stable_spaces::{Cell, Lab};
use super::stops::{after_stops, stops_table};
use super::{Cells, Origin};

const NAME: &str = "held-out-stops";

/// At least so many stops, if there are enough clips.
const STOPS: usize = 9;
/// A clip stops at one of the first places: what comes after is not simulated then.
const FIRST: usize = 3;

pub(super) fn make(lab: &Lab<'_>) -> anyhow::Result<()> {
    let Some(ground) = ground(lab)? else {
        lab.desk
            .say
            .note("no clip tests, so that none can be stopped");
        return Ok(());
    };
    lab.desk.known_of(NAME, &origin(lab, &ground), || {
        let sequences = sequences(&ground)?;
        let mut cell = json!({ "cell": NAME });
        for each in Cell::SHIPPED {
            let animator = lab.model(each)?;
            cell[each.name()] = after_stops(&ground, sequences.clone(), &animator)?;
        }
        Ok(cell)
    })?;
    Ok(())
}

/// The dataset of stopped clips; none if no clip tests.
pub(super) fn ground(lab: &Lab<'_>) -> anyhow::Result<Option<Ground>> {
    let clips = lab.sets.named("test_cm");
    if clips.is_empty() {
        return Ok(None);
    }
    let stem = lab
        .desk
        .scene
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let path = lab.desk.data.join(format!("{stem}-stopped"));
    let is_wanted = |planned: &PlannedSequence| is_chosen(planned, clips);
    let scene = || stopped(&lab.desk.scene);
    Ground::of(
        &path,
        &is_wanted,
        scene,
        lab.desk.plan.threads,
        lab.desk.say,
    )
    .map(Some)
}

/// Of what the figures are made.
pub(super) fn origin(lab: &Lab<'_>, ground: &Ground) -> Origin {
    lab.ground.origin.and(&ground.origin)
}

pub(super) fn sequences(ground: &Ground) -> anyhow::Result<Vec<PlannedSequence>> {
    let mut all = ground.dataset.split(Split::Test)?;
    all.retain(|s| s.clip.contains("~stop"));
    Ok(all)
}

/// Whether a stopped clip is one that is looked at, given those that are not
/// stopped: each at another of the first places, at several if clips are few.
fn is_chosen(planned: &PlannedSequence, clips: &[PlannedSequence]) -> bool {
    let of = |own: &PlannedSequence| own.clip == planned.parent && own.shape == planned.shape;
    let Some(index) = clips.iter().position(of) else {
        return false;
    };
    let frame = planned.clip.split_once("~stop");
    let Some(frame) = frame.and_then(|(_, frame)| frame.parse::<u32>().ok()) else {
        return false;
    };
    let last = clips[index].frames.saturating_sub(1).max(1);
    let place = ((PLACES + 1) * frame + last / 2) / last;
    let n_each = STOPS.div_ceil(clips.len()).clamp(1, FIRST);
    (0..n_each).any(|i| (index + i) % FIRST + 1 == place as usize)
}

pub(super) fn section(cells: &Cells) -> Option<String> {
    let cell = cells.get_with_others(NAME)?;
    let rows = Cell::SHIPPED.into_iter().zip(["A", "B", "C"]);
    let rows: Vec<(String, Value)> = rows
        .map(|(each, name)| (name.to_string(), cell[each.name()].clone()))
        .collect();
    Some(format!(
        "## After an abrupt stop of a clip that tests\n\n\
         The same of clips that were neither trained nor tuned on. The paper shows it in a \
         figure: with A the dress stops with the body, with dynamics it goes on.\n\n{}\n",
        stops_table(&rows)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(clip: &str, frames: u32) -> PlannedSequence {
        PlannedSequence {
            name: format!("{clip}@mean"),
            clip: clip.into(),
            parent: clip.split('~').next().unwrap_or_default().into(),
            shape: 0,
            split: Split::Test,
            frames,
        }
    }

    #[test]
    fn few_clips_stop_at_three_places_and_many_at_one_each() {
        let stops = |clip: &str| -> Vec<PlannedSequence> {
            // Of 121 frames, at 1/6 … 5/6 of the way.
            let at = (1..=5).map(|k| planned(&format!("{clip}~stop{}", 20 * k), 1));
            at.collect()
        };
        let one = [planned("a", 121)];
        let n = stops("a").iter().filter(|s| is_chosen(s, &one)).count();
        assert_eq!(n, 3);
        let many: Vec<PlannedSequence> =
            ('a'..='i').map(|c| planned(&c.to_string(), 121)).collect();
        for (i, clip) in many.iter().enumerate() {
            let all = stops(&clip.clip);
            let at: Vec<usize> = (0..5).filter(|k| is_chosen(&all[*k], &many)).collect();
            assert_eq!(at, [i % 3]);
            assert!(!is_chosen(clip, &many), "it does not stop");
        }
        assert!(!is_chosen(&planned("z~stop20", 1), &many));
    }
}
