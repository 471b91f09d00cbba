//! A nonlinear regressor in the place of model A (§5.1 of Stable Spaces: similar, at
//! a higher price).

use std::time::Instant;

use drapery::learn::{KERNEL_WIDTHS, train_kernel_ridge};
use drapery::skinned_garment;
use drapery::store::dataset::DatasetStore;
use serde_json::json;

use super::Cells;
use super::page::number;
use super::stable_spaces::{Cell, Lab};
use crate::stop;

const NAME: &str = "nonlinear";

pub(super) fn make(lab: &Lab<'_>) -> anyhow::Result<()> {
    let [linear, ..] = Cell::SHIPPED;
    let value = lab.known_or(NAME, || {
        lab.desk.threads.install(|| {
            let started = Instant::now();
            let head = lab.ground.dataset.head();
            let skinned = skinned_garment(&lab.ground.character, head, 0)?;
            let go_on = |_| !stop::asked();
            let trained = train_kernel_ridge(&lab.footage(), &skinned, &linear.config(), &go_on)?;
            let tried = trained.tried.iter().map(|(width, ridge, tune)| {
                let tune_cm = tune.map(|m| 100.0 * m);
                json!({ "width_medians": width, "ridge": ridge, "tune_cm": tune_cm })
            });
            let mut cell = json!({
                "cell": NAME,
                "tried": tried.collect::<Vec<_>>(),
                "centres": trained.n_centres,
                "width_medians": trained.width,
                "ridge": trained.ridge,
                "tune_cm": trained.tune.map(|m| 100.0 * m),
                "train_s": started.elapsed().as_secs_f64(),
            });
            let animator = &trained.animator;
            lab.sets.errors(&lab.footage(), animator, &mut cell)?;
            Ok(cell)
        })
    })?;
    let line = format!(
        "{NAME}: {} cm on clips that test",
        number(&value["test_cm"], 2)
    );
    lab.desk.say.result("cell", &value, line)
}

/// Beside model A, which has the same inputs.
pub(super) fn section(cells: &Cells) -> Option<String> {
    let kernel = cells.get(NAME)?;
    let linear = cells.get(&Cell::SHIPPED[0].name()).unwrap_or_default();
    let row = |cell: &serde_json::Value| {
        let keys = ["tune_cm", "train_cm", "test_cm", "unseen_cm"];
        keys.map(|key| number(&cell[key], 2)).join(" | ")
    };
    let least = match kernel["width_medians"].as_f64() == Some(KERNEL_WIDTHS[0]) {
        true => " (the least that was tried)",
        false => "",
    };
    Some(format!(
        "## A nonlinear regressor in the place of A\n\n\
         Kernel ridge regression from the same coefficients of the body to the same of the \
         cloth: {} poses as centres of Gaussians, {} medians of their distance wide{least}, \
         ridge {}, both by the clips that tune. The paper found such models \"to perform similarly\" \
         (no number).\n\n\
         | | tune | train | test | unseen |\n|---|---|---|---|---|\n\
         | A, 64 dimensions | {} |\n| kernel ridge | {} |\n",
        number(&kernel["centres"], 0),
        number(&kernel["width_medians"], 3),
        kernel["ridge"],
        row(&linear),
        row(&kernel),
    ))
}
