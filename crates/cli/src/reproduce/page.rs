//! `README.md` of a reproduction: all tables as far as they are done, with the
//! paper's numbers beside ours.

use std::fmt::Write as _;

use drapery::learn::StableModel;
use serde_json::Value;

use super::stable_spaces::{Cell, SHIPPED, Way};
use super::stops::stops_table;
use super::{
    Cells, clips, crowds, fabrics, garments, held_out, nonlinear, pictures, resolutions,
    stabilities, ten_thousand,
};

/// Dimensions of Table 2.
pub(super) const DIMS: [usize; 7] = [10, 16, 32, 50, 64, 80, 128];
/// What the paper has there [cm]: models A, B and C, on clips that train ...
const PAPER_TRAIN: [[f64; 7]; 3] = [
    [2.26, 1.90, 1.46, 1.32, 1.26, 1.21, 1.14],
    [2.89, 2.24, 1.50, 1.26, 1.17, 1.10, 1.00],
    [2.86, 2.20, 1.36, 1.09, 1.01, 0.96, 0.87],
];
/// ... and on those that test.
const PAPER_TEST: [[f64; 7]; 3] = [
    [2.37, 2.04, 1.51, 1.40, 1.37, 1.32, 1.44],
    [2.99, 2.48, 1.62, 1.43, 1.36, 1.37, 1.56],
    [3.33, 2.58, 1.59, 1.38, 1.32, 1.34, 1.49],
];
/// Table 3: orders 0 to 5 of model C [cm].
const PAPER_ORDERS: [[f64; 6]; 2] = [
    [1.26, 1.25, 1.01, 0.99, 0.97, 0.96],
    [1.37, 1.53, 1.32, 1.39, 1.37, 1.40],
];
/// Ways to fit, and what is added to a model's name for them.
const WAYS: [(Way, &str); 2] = [(Way::Shipped, ""), (Way::Paper, " by least squares alone")];

/// What stands after a number of least squares that are not stable by themselves.
const HELD_BACK: &str = "*";

/// A number of a cell, or that there is none.
pub(super) fn number(value: &Value, digits: usize) -> String {
    let number = value.as_f64().map(|v| format!("{v:.digits$}"));
    number.unwrap_or_else(|| "–".to_string())
}

/// Tables and figures, as far as they are done.
pub(super) fn page(scene: &str, cells: &Cells) -> String {
    let mut text = "# Stable Spaces for Real-time Clothing, reproduced\n\n".to_string();
    // The baseline is the first that is made of the tables' data.
    match cells.get("skinning") {
        Some(skinning) => text += &tables(scene, &skinning["sets"], cells),
        None => {
            text += "Parts that have data of their own; `drapery reproduce stable-spaces` makes the \
                     tables beside them. The paper's numbers are of other garments, another body and \
                     other motions.\n";
        }
    }
    let parts = [
        clips::section,
        held_out::section,
        ten_thousand::section,
        nonlinear::section,
        stabilities::section,
        garments::section,
        resolutions::section,
        fabrics::section,
        crowds::section,
        pictures::section,
    ];
    for section in parts.iter().filter_map(|section| section(cells)) {
        let _ = writeln!(text, "\n{}", section.trim_end());
    }
    text
}

/// Tables 2 and 3, with the sizes of the sets that errors are averaged over.
fn tables(scene: &str, sizes: &Value, cells: &Cells) -> String {
    let mut text = String::new();
    let mut put = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    let of = |cell: Cell, key: &str, digits| {
        let found = cells.get(&cell.name()).unwrap_or_default();
        let is_held = cell.way == Way::Paper && found["fit"].as_str().is_some_and(|f| f != "free");
        number(&found[key], digits) + if is_held { HELD_BACK } else { "" }
    };
    let frames = |key: &str| [0, 1].map(|i| sizes[key][i].as_u64().unwrap_or(0));
    let ([n_train, train], [n_test, test]) = (frames("train_cm"), frames("test_cm"));
    let has = |key: &str| frames(key)[0] > 0;
    put(format!(
        "`drapery reproduce stable-spaces` on the scene `{scene}`: {n_train} clips that \
         train ({train} frames, and their stops), {n_test} that test ({test} frames). Mean distance of a vertex from the simulation in cm, rolled out \
         open-loop. The paper's numbers are of another dress, another body and other motions. \
         \"By least squares alone\": the next frame is fitted without a ridge, as in the paper \
         ({HELD_BACK} where that is not stable, and was fitted under the condition that it is, or \
         scaled); \
         where nothing is said, a model is as shipped, with a ridge and fitted to whole roll-outs \
         where clips that tune find that better.\n"
    ));
    put("## Table 2: dimensions\n".into());
    let head: Vec<String> = DIMS.iter().map(ToString::to_string).collect();
    put(format!("| | {} |", head.join(" | ")));
    put(format!("|---|{}", "---|".repeat(DIMS.len())));
    let models = [
        (StableModel::A, "A"),
        (StableModel::B, "B"),
        (StableModel::C, "C"),
    ];
    for (key, words, paper) in [
        ("train_cm", "train", PAPER_TRAIN),
        ("test_cm", "test", PAPER_TEST),
    ] {
        for ((model, name), paper) in models.into_iter().zip(paper) {
            for (way, of_way) in WAYS {
                let ours = DIMS.map(|dims| of(Cell::of(model, dims).fitted(way), key, 2));
                put(format!(
                    "| {words}, {name}{of_way} | {} |",
                    ours.join(" | ")
                ));
            }
            let theirs = paper.map(|v| format!("{v:.2}"));
            put(format!("| the paper's | {} |", theirs.join(" | ")));
        }
    }
    for (key, words) in [
        ("walk_cm", "walk, C"),
        ("walk_turn_cm", "walk with a turn, C"),
    ] {
        if has(key) {
            let ours = DIMS.map(|dims| of(Cell::of(StableModel::C, dims), key, 2));
            put(format!("| {words} | {} |", ours.join(" | ")));
        }
    }
    if has("walk_cm") {
        put("\nOn walks alone the paper finds 32 dimensions best.".into());
    }
    put("\n## Table 3: orders of model C, 64 dimensions\n".into());
    put("| | 0 (A) | 1 | 2 | 3 | 4 | 5 |\n|---|---|---|---|---|---|---|".into());
    for (key, words, paper) in [
        ("train_cm", "train", PAPER_ORDERS[0]),
        ("test_cm", "test", PAPER_ORDERS[1]),
    ] {
        for (way, of_way) in WAYS {
            let cells = (0..6).map(|order| Cell::of_order(order).fitted(way));
            let ours: Vec<String> = cells.map(|cell| of(cell, key, 2)).collect();
            put(format!("| {words}{of_way} | {} |", ours.join(" | ")));
        }
        let theirs = paper.map(|v| format!("{v:.2}"));
        put(format!("| the paper's | {} |", theirs.join(" | ")));
    }
    for (key, words) in [
        ("plain_spectral_radius", "largest eigenvalue, plain fit"),
        ("spectral_radius", "as taken"),
    ] {
        let cells = (0..6).map(Cell::of_order);
        let ours: Vec<String> = cells.map(|cell| of(cell, key, 4)).collect();
        put(format!("| {words} | {} |", ours.join(" | ")));
    }
    put("\n## Beside the tables\n".into());
    put("| | test | walk | walk with a turn | unseen |\n|---|---|---|---|---|".into());
    let keys = ["test_cm", "walk_cm", "walk_turn_cm", "unseen_cm"];
    let mut row = |words: &str, name: &str| {
        let cell = cells.get(name).unwrap_or_default();
        let all = keys.map(|key| number(&cell[key], 2));
        put(format!("| {words} | {} |", all.join(" | ")));
    };
    row("skinning", "skinning");
    row("linear", "linear");
    for (model, name) in models {
        for (way, of_way) in WAYS {
            let cell = Cell::of(model, SHIPPED).fitted(way);
            row(&format!("{name}{of_way}, 64 dimensions"), &cell.name());
        }
    }
    put("| the paper's C | 1.32 | 2.24 | 2.07 | |".into());
    put("\n## After an abrupt stop\n".into());
    put(
        "The middle of the hem in the two seconds after a clip that trains has stopped, \
         medians over all stops, of periods over those in which both swing there and back. Ratio: \
         of each stop's swing to the simulated one of the same stop, with its quartiles. Within: \
         the share of stops whose swing, and whose period, is within 30 % of the simulated one; \
         a stop without a period is not.\n"
            .into(),
    );
    let of = |cell: Cell| cells.get(&cell.name()).unwrap_or_default()["stops"].take();
    let mut rows = Vec::new();
    for (model, name) in models {
        for (way, of_way) in WAYS {
            let stops = of(Cell::of(model, SHIPPED).fitted(way));
            rows.push((format!("{name}{of_way}"), stops));
        }
    }
    put(stops_table(&rows));
    let repeats = cells.get("repeats").unwrap_or_default();
    if repeats["clips"].as_u64().is_some_and(|n| n > 0) {
        put("\n## How far the simulation repeats itself\n".into());
        put(format!(
            "In {} clips that train the body does the same again after a cycle, to the last \
             digit. The simulated garment is then {} cm from where it was in the cycle before, \
             and {} cm from its mean: what a model sees is the same in both, so that no model \
             can be right in both.",
            number(&repeats["clips"], 0),
            number(&repeats["apart_cm"], 2),
            number(&repeats["from_mean_cm"], 2),
        ));
    }
    text
}
