//! Fits that are stable by construction, one beside the other (§6.1 and §8 of Stable
//! Spaces), and the cloth's components in unposed space.

use drapery::learn::{Fitting, Ridge, Stability, StableModel, StableSpaceConfig};
use drapery::runtime::ClothSpace;

use super::Cells;
use super::page::number;
use super::stable_spaces::{Cell, Lab};

/// What differs from the model as shipped, and what it is called on the page.
fn fits() -> [(&'static str, &'static str, StableSpaceConfig); 5] {
    let [.., shipped] = Cell::SHIPPED;
    let plain = StableSpaceConfig {
        ridge: Ridge::Fixed(0.0),
        ..shipped.config()
    };
    let fewer = StableSpaceConfig {
        stability: Stability::FewerDims,
        ..plain
    };
    let unposed = StableSpaceConfig {
        space: ClothSpace::Unposed,
        ..shipped.config()
    };
    let one_step = StableSpaceConfig {
        fitting: Fitting::OneStep,
        ..shipped.config()
    };
    let of_b = StableSpaceConfig {
        model: StableModel::B,
        ..one_step
    };
    [
        ("b-2-64-one-step", "B, one step ahead, ridge", of_b),
        ("c-2-64-one-step", "one step ahead, ridge", one_step),
        (
            "c-2-64-constrained",
            "one step ahead, constrained, no ridge",
            plain,
        ),
        (
            "c-2-64-fewer-dims",
            "one step ahead, fewer dimensions, no ridge",
            fewer,
        ),
        ("c-2-64-unposed", "roll-outs, unposed", unposed),
    ]
}

pub(super) fn make(lab: &Lab<'_>) -> anyhow::Result<()> {
    for (name, _, config) in fits() {
        let value = lab.known_or(name, || {
            let measured = lab.desk.threads.install(|| lab.measured(name, &config));
            Ok(measured?.0)
        })?;
        let (error, radius) = (&value["test_cm"], &value["spectral_radius"]);
        let (error, radius) = (number(error, 2), number(radius, 4));
        let line = format!("{name}: eigenvalue {radius}; {error} cm on clips that test");
        lab.desk.say.result("cell", &value, line)?;
    }
    Ok(())
}

pub(super) fn section(cells: &Cells) -> Option<String> {
    let shipped = Cell::SHIPPED[2].name();
    let mut rows = String::new();
    let named = [(shipped.as_str(), "roll-outs, as shipped")];
    let named = named
        .into_iter()
        .chain(fits().map(|(name, words, _)| (name, words)));
    let mut is_any = false;
    for (name, words) in named {
        let Some(cell) = cells.get(name) else {
            continue;
        };
        is_any |= name != shipped;
        let dims = match cell["cloth_dims"].as_u64() {
            Some(dims) => dims.to_string(),
            None => "64".to_string(),
        };
        let errors = ["tune_cm", "test_cm", "unseen_cm"].map(|key| number(&cell[key], 2));
        rows += &format!(
            "| {words} | {dims} | {} | {} | {} | {} | {} |\n",
            cell["fit"].as_str().unwrap_or("–"),
            number(&cell["free_spectral_radius"], 4),
            number(&cell["spectral_radius"], 4),
            errors.join(" | "),
            number(&cell["stops"]["ratio"], 2),
        );
    }
    is_any.then(|| {
        format!(
            "## One step and roll-outs, stable by construction, and the space of the cloth\n\n\
             Model C of order 2 in 64 dimensions of the body where no other is named. The paper \
             fits the next frame, one step ahead; as shipped, whole roll-outs of the clips that \
             train are fitted where clips that tune find that better. The paper's answer to an unstable \
             fit is fewer dimensions, or constraints; it needed neither. Fewer dimensions: \
             components of the cloth are left out until least squares have no eigenvalue beyond \
             0.99. \"Unposed\": components after inverse skinning instead of in canonical \
             space. The swing is that after stops, of the simulated one.\n\n\
             | | dimensions | fit | eigenvalue without the condition | as taken | tune | test | unseen | swing |\n\
             |---|---|---|---|---|---|---|---|---|\n{rows}"
        )
    })
}
