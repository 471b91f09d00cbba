//! Scenes made from others: the stopped copies of clips that test, and the garments
//! of the paper on a few short clips.

use std::path::Path;

use anyhow::{Context, bail};
use drapery::scene::builtin;
use drapery::scene::scene_file::Scene;
use drapery::store::dataset::Split;

/// Places at which a clip that tests stops.
pub(super) const PLACES: u32 = 5;

/// Clips for every garment at the small scale: one each that trains, tunes and tests.
const SHORT: &str = r#"[motion]
clips = [
    { motion = "walk+turn-90", name = "train-01", trim = [60, 120] },
    { motion = "walk+turn-45", name = "tune-01", trim = [70, 90], speed = 1.05 },
    { motion = "walk-fast+turn-45-right", name = "test-01", trim = [70, 100], speed = 0.95 },
]
frame_rate = 30
tune = ["tune-01"]
test = ["test-01"]

[simulation]
steps_per_frame = 10
"#;

/// The scene whose clips that test also stop at [`PLACES`] places and stand for two
/// seconds then.
pub(super) fn stopped(scene: &Path) -> anyhow::Result<Scene> {
    let original = Scene::named(scene).with_context(|| format!("in {}", scene.display()))?;
    let text = stopped_text(&original.text)
        .with_context(|| format!("in {}: no line is [motion]", scene.display()))?;
    let folder = match builtin::scene(&scene.to_string_lossy()) {
        Some(_) => Path::new(""),
        None => scene.parent().unwrap_or(Path::new("")),
    };
    let made = Scene::parse(text, folder)?;
    let motion = &made.file.motion;
    if motion.copied != [Split::Test] || motion.stops != PLACES {
        bail!("{}: its clips can't be stopped", scene.display());
    }
    Ok(made)
}

/// The text of a scene with other copies of clips.
fn stopped_text(text: &str) -> Option<String> {
    const COPIES: [&str; 6] = [
        "copied",
        "stops",
        "stop_hold",
        "stop_ease",
        "mirror",
        "speeds",
    ];
    let key = |line: &str| line.split('=').next().map(|key| key.trim().to_string());
    let mut out = String::new();
    let (mut is_found, mut is_motion) = (false, false);
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with('[') && trimmed.ends_with(']') {
            is_motion = trimmed == "[motion]";
        }
        if is_motion && key(trimmed).is_some_and(|key| COPIES.contains(&key.as_str())) {
            continue;
        }
        out += line;
        out.push('\n');
        if trimmed == "[motion]" {
            is_found = true;
            out += &format!("copied = [\"test\"]\nstops = {PLACES}\nstop_hold = 2.0\n");
        }
    }
    is_found.then_some(out)
}

/// A garment of a built-in scene on a few short clips.
pub(super) fn short(scene: &str) -> anyhow::Result<Scene> {
    let text = builtin::scene(scene).with_context(|| format!("there is no scene {scene}"))?;
    let (worn, _) = text
        .split_once("[motion]")
        .with_context(|| format!("{scene}: no [motion]"))?;
    Ok(Scene::parse(worn.to_string() + SHORT, Path::new(""))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_that_test_stop_and_those_that_train_do_not() {
        let scene = stopped(Path::new("stable-spaces-small")).unwrap();
        let plan = scene.plan(None).unwrap();
        let stops: Vec<&str> = (plan.iter().map(|p| p.name.as_str()))
            .filter(|name| name.contains("~stop"))
            .collect();
        assert_eq!(stops.len(), PLACES as usize);
        assert!(
            stops.iter().all(|name| name.starts_with("test-01")),
            "{stops:?}"
        );
        // The stopped clip and two seconds.
        let own = plan.iter().find(|p| p.name == "test-01").unwrap().n_frames;
        let last = plan.iter().rfind(|p| p.name.contains("~stop")).unwrap();
        assert!(last.n_frames > 5 * own / 6 + 55, "{last:?}");
    }

    #[test]
    fn a_list_over_several_lines_is_left_as_it_is() {
        let text = "[motion]\nclips = [\n    \"walk\",\n]\nstops = 3\ntest = [\"walk\"]\n\n[simulation]\nsteps_per_frame = 1\n";
        let made = stopped_text(text).unwrap();
        assert!(!made.contains("stops = 3") && made.contains("stops = 5"));
        assert!(made.contains("clips = [\n    \"walk\",\n]\n"));
        assert_eq!(stopped_text("motion = { clips = [] }\n"), None);
    }
}
