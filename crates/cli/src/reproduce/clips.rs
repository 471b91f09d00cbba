//! Errors clip by clip: §7.1's walks, and §7.2's unseen speeds, styles and dances.

use drapery::skinned_garment;
use drapery::store::dataset::DatasetStore;
use serde_json::{Value, json};

use super::Cells;
use super::page::number;
use super::stable_spaces::{Cell, Lab};
use crate::stop;

const NAME: &str = "clips";
const SETS: [&str; 4] = ["test_cm", "walk_cm", "walk_turn_cm", "unseen_cm"];

pub(super) fn make(lab: &Lab<'_>) -> anyhow::Result<()> {
    lab.known_or(NAME, || {
        let head = lab.ground.dataset.head();
        let skinned = skinned_garment(&lab.ground.character, head, 0)?;
        let models = Cell::SHIPPED.map(|cell| lab.model(cell));
        let models = models.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
        let clips = head.settings["clips"].as_array();
        let mut rows = Vec::new();
        for planned in SETS.iter().flat_map(|key| lab.sets.named(key)) {
            stop::check()?;
            let one = std::slice::from_ref(planned);
            let source = clips.into_iter().flatten();
            let mut source = source.filter(|c| c["clip"] == planned.parent.as_str());
            let mut row = json!({
                "clip": planned.clip,
                "motion": source.next().map(|c| c["motion"].clone()),
                "frames": planned.frames,
                "skinning_cm": 100.0 * lab.footage().open_loop(&skinned, one)?.mean,
            });
            for (cell, model) in Cell::SHIPPED.iter().zip(&models) {
                let found = lab.footage().open_loop(model, one)?;
                row[cell.name()] = (100.0 * found.mean).into();
                row["confidence"] = found.confidence.into();
            }
            rows.push(row);
        }
        Ok(json!({ "cell": NAME, "clips": rows }))
    })?;
    Ok(())
}

pub(super) fn section(cells: &Cells) -> Option<String> {
    let cell = cells.get(NAME)?;
    let mut rows = String::new();
    for row in cell["clips"].as_array()? {
        let errors = Cell::SHIPPED.map(|cell| number(&row[cell.name()], 2));
        rows += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            text(&row["clip"]),
            text(&row["motion"]),
            number(&row["frames"], 0),
            number(&row["skinning_cm"], 2),
            errors.join(" | "),
            number(&row["confidence"], 2),
        );
    }
    Some(format!(
        "## Clip by clip\n\n\
         Clips that test: free combinations at other speeds, with walks that become runs and \
         back; those that begin with `unseen` are of kinds that nothing was trained on, of which \
         the paper says that a stylised walk and a kick go well and dances may not (no number). \
         64 dimensions, cm; the least confidence in the pose, of 1.\n\n\
         | clip | of | frames | skinning | A | B | C | confidence |\n\
         |---|---|---|---|---|---|---|---|\n{rows}"
    ))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}
