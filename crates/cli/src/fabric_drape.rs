//! The drape of fabrics for `drapery garment fabric`.

use std::ops::ControlFlow;

use anyhow::Context;
use drapery::core::Fabric;
use drapery::sim::{Drape, DrapeConfig, drape};
use rayon::prelude::*;

use crate::say::Say;
use crate::stop;

/// Ticks of the progress bar for each fabric.
const TICKS: u64 = 50;

/// The hanging cloth is five times as long as the ring is wide, 30 cm for 6.
const CELLS_ACROSS: u32 = 5;

/// Drapes a specimen of each fabric, as fine as it needs or as a hanging cloth
/// of so many cells.
pub(crate) fn drapes(
    fabrics: &[Fabric],
    cells: Option<u32>,
    say: &Say,
) -> anyhow::Result<Vec<Drape>> {
    let bar = say.progress(TICKS * fabrics.len() as u64, "drapes");
    let drapes = fabrics
        .par_iter()
        .map(|fabric| {
            let mut config = DrapeConfig::of(fabric);
            if let Some(cells) = cells {
                config.n_across = (cells / CELLS_ACROSS).max(4);
            }
            let mut ticks = 0;
            let draped = drape(fabric, &config, |seconds| {
                let now = (seconds / config.max_seconds * TICKS as f64) as u64;
                bar.inc(now.min(TICKS).saturating_sub(ticks));
                ticks = ticks.max(now);
                match stop::asked() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
            stop::check()?;
            draped.with_context(|| format!("cannot drape {}", fabric.name))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    bar.finish_and_clear();
    Ok(drapes)
}

/// In words: the coefficient and the folds.
pub(crate) fn figures(drape: &Drape) -> String {
    let plural = if drape.folds == 1 { "" } else { "s" };
    format!("{:.0} %, {} fold{plural}", drape.coefficient, drape.folds)
}
