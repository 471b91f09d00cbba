//! Trains [`StableSpace`](drapery_runtime::StableSpace).
//!
//! de Aguiar, Sigal, Treuille, Hodgins, "Stable Spaces for Real-time
//! Clothing", SIGGRAPH 2010, §4 to §7. Two steps, as in §7: principal
//! components of cloth and body from the plain clips, then all matrices of
//!
//! ```text
//! yₜ = A xₜ + Σ Bᵢ yₜ₋ᵢ + Σ Cᵢ z(t−i, t−N)
//! ```
//!
//! at once by least squares (§6) on all clips that train, stopped copies
//! included. The dataset is read from end to end for each of: components of the
//! cloth, sums of the regression, energies.
//!
//! # Where we differ
//! - Least squares in differences of frames, each input scaled to one: the same
//!   fit, better conditioned; with `ridge` it is no longer the same.
//! - The dynamics are the best of whole roll-outs (`roll_out`), from the least
//!   squares of one frame ahead on, where clips split `tune` find that better.
//! - Plain least squares of few frames are unstable, so the fit is held stable
//!   under that [condition](crate::FitKind::Constrained), or scaled. Which
//!   ridge is the best is seen on clips split `tune`, rolled out open-loop, and
//!   the memory of the cloth has a ridge of its own.
//! - Components of the body by its joints, exactly; see `body_space`.

use drapery_linalg::spectral_radius;
use drapery_runtime::{
    ClothSpace, Dynamics, RootLimits, RootTerms, SkinnedGarment, StableSpace, StableSpaceParts,
};
use drapery_store::dataset::{PlannedSequence, Split};

use crate::body_space::fit_body_space;
use crate::encode::{ClothRows, Encoder};
use crate::energy::{Energy, EnergyCoordinates, EnergyMeter};
use crate::frames::{Footage, Reading, plain};
use crate::inputs::{Layout, Window};
use crate::least_squares::Sums;
use crate::roll_out::{Clip, RollOuts};
use crate::stability::{Fit, FitKind, free_radius, stable_fits, stable_roll_out};
use crate::{EachBlock, Pca, PcaMethod, TrainError};

/// The models of §5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StableModel {
    /// The body's pose alone (§5.1).
    A,
    /// And the cloth's past (§5.2).
    B,
    /// And the root's motion (§5.3).
    #[default]
    C,
}

/// How strongly weights are held back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ridge {
    /// The best of [`RIDGES`] with [`MEMORIES`] on clips split `tune`; [`RIDGE`]
    /// with [`MEMORY`] without any.
    Tuned,
    /// This one for all; 0 gives the paper's fit.
    Fixed(f64),
}

/// The ridges that are tried, in multiples of the least one.
pub const RIDGES: [f64; 5] = [1.0, 3.0, 10.0, 30.0, 100.0];

/// The least ridge of a few hundred frames. With 1e-6 the dress of the small scene
/// looks as good on its one clip split `tune`, which is like those that train, and is
/// off by 15 cm on another one.
const LEAST_RIDGE: f64 = 1e-4;

/// From so many frames on the least ridge is less: what noise does to a weight falls
/// with frames times ridge.
const FEW_FRAMES: f64 = 400.0;

/// The ridges that are tried on so many frames.
fn ridges(n_frames: usize) -> [f64; RIDGES.len()] {
    let least = LEAST_RIDGE * (FEW_FRAMES / n_frames.max(1) as f64).min(1.0);
    RIDGES.map(|times| times * least)
}

/// How many times as strongly the memory of the cloth is held back. Least
/// squares look one frame ahead, where the last frame is the best guess by far;
/// rolled out, what is guessed from guesses is worse than what the body says,
/// and a memory held back a hundred times as much is better on other clips.
pub const MEMORIES: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];

/// The ridge where nothing can be tried.
pub const RIDGE: f64 = 1e-4;

/// How many times as strongly memory is held back where nothing can be tried.
pub const MEMORY: f64 = 100.0;

/// Of fits whose error is at most so many times the least, the one with the most
/// memory is taken: what a garment does after a stop hardly counts in the mean,
/// and is what memory is there for.
const AS_GOOD: f64 = 1.02;

/// For roll-outs: the ridge in multiples of the least one, and how many times as
/// strongly memory is held back.
const ROLLED: (f64, f64) = (10.0, 10.0);

/// Their steps.
const ROLLED_STEPS: usize = 60;

/// After so many steps each is looked at on clips split `tune`.
const ROLLED_SEEN: usize = 10;

/// Clips are rolled out up to so many frames in all [frame], so that memory has a bound.
const MAX_ROLLED: u64 = 50_000;

/// How many times as far as in training a garment may be from the mean one. No frame
/// of a clip that is like those that train comes near; a resonance without end does.
const REACH: f64 = 2.0;

/// What is done where least squares are not stable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stability {
    /// Least squares under the condition that they are.
    #[default]
    Constrained,
    /// Components of the cloth are left out, the weakest first, until least
    /// squares with the smallest ridge are stable by themselves: §6.1 and §8 of
    /// the paper.
    FewerDims,
}

/// What the weights of the dynamics are best at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fitting {
    /// The next frame, from the simulated ones before it (§6).
    OneStep,
    /// Whole roll-outs of the clips that train, where clips split `tune` find that
    /// better; with a ridge that is tuned.
    #[default]
    RolledOut,
}

/// How a stable space is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableSpaceConfig {
    /// Which model.
    pub model: StableModel,
    /// Dimensions of cloth and body, from 1 to 512.
    pub dims: usize,
    /// How many earlier frames count, from 0 to 5.
    pub order: usize,
    /// How strongly weights are held back.
    pub ridge: Ridge,
    /// What the dynamics are fitted to.
    pub fitting: Fitting,
    /// Where the cloth's components live.
    pub space: ClothSpace,
    /// The largest spectral radius, below 1.
    pub max_radius: f64,
    /// What is done where least squares go beyond it.
    pub stability: Stability,
}

impl Default for StableSpaceConfig {
    fn default() -> Self {
        Self {
            model: StableModel::C,
            dims: 64,
            order: 2,
            ridge: Ridge::Tuned,
            fitting: Fitting::RolledOut,
            space: ClothSpace::Canonical,
            max_radius: 0.99,
            stability: Stability::Constrained,
        }
    }
}

/// One fit that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// Its ridge.
    pub ridge: f64,
    /// The ridge of the cloth's memory.
    pub memory_ridge: f64,
    /// How it was found.
    pub kind: FitKind,
    /// The spectral radius without the condition of stability.
    pub free_radius: f64,
    /// Its spectral radius.
    pub radius: f64,
    /// The mean distance of a vertex over clips split `tune` [m]; none without
    /// such clips.
    pub tune: Option<f64>,
}

/// A trained stable space and what was seen on the way.
#[derive(Clone, Debug)]
pub struct TrainedStableSpace {
    /// The animator.
    pub animator: StableSpace,
    /// Plain sequences and their frames.
    pub plain: (usize, u64),
    /// All sequences that train, and their frames.
    pub extended: (usize, u64),
    /// The share of the cloth's variance that its components have.
    pub cloth_explained: f64,
    /// The variance along each of them [m²], over all vertices together.
    pub cloth_variances: Vec<f64>,
    /// The share of the body's variance that its components have.
    pub body_explained: f64,
    /// All fits that were tried.
    pub tried: Vec<Tried>,
    /// Which of them was taken.
    pub taken: usize,
    /// What §6.1 says of the dynamics; none without any.
    pub energy: Option<Energy>,
}

/// What training is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrainStage {
    /// The components of the body.
    Body,
    /// The components of the cloth.
    Cloth,
    /// The dynamics.
    Dynamics,
    /// The choice between fits.
    Tuning,
    /// Fits to whole roll-outs.
    RollOuts,
    /// What §6.1 says of it.
    Energy,
}

/// Trains on the sequences of a dataset that are split `train`. `skinned` is the
/// garment skinned like the body. `watch` is told of every frame that is read,
/// and says whether to go on.
///
/// # Errors
/// When a setting is out of its range, there is nothing to learn from, a
/// sequence can't be read, or nothing stable was found.
pub fn train_stable_space(
    footage: &Footage<'_>,
    skinned: &SkinnedGarment,
    config: &StableSpaceConfig,
    watch: &dyn Fn(TrainStage) -> bool,
) -> Result<TrainedStableSpace, TrainError> {
    check(config)?;
    let extended = footage.split(Split::Train)?;
    let plain = plain(&extended);
    if plain.is_empty() {
        return Err(TrainError::NoSequences { split: "train" });
    }
    let seen = |stage| match watch(stage) {
        true => Ok(()),
        false => Err(TrainError::Stopped),
    };
    seen(TrainStage::Body)?;
    let body = fit_body_space(footage, &plain, &extended, config.dims)?;
    let limits = root_limits(footage, &extended)?;
    let rows = || ClothRows {
        skinned,
        space: config.space,
    };
    let n_values = 3 * footage.n_vertices();
    let all_cloth = Pca::fit(n_values, config.dims, PcaMethod::Auto, |each| {
        each_cloth_block(footage, &plain, &rows(), each, &seen)
    })?;
    if all_cloth.n_components() == 0 {
        return Err(TrainError::Still { what: "cloth" });
    }
    let (order, root) = match config.model {
        StableModel::A => (0, RootTerms::Without),
        StableModel::B => (config.order, RootTerms::Without),
        StableModel::C => (config.order, RootTerms::With),
    };
    let all = Layout {
        n_body: body.range.n_components(),
        n_cloth: all_cloth.n_components(),
        order,
        root,
    };
    let encoder = |cloth| Encoder {
        footage,
        rows: rows(),
        range: &body.range,
        cloth,
    };
    let (moving, still, farthest) = sums(&encoder(&all_cloth), &extended, &all, &seen)?;
    let tune = footage.split(Split::Tune)?;
    let usual = ridges(moving.n_rows());
    let (ridges, memories): (&[f64], &[f64]) = match (config.ridge, tune.is_empty(), order) {
        (Ridge::Fixed(ridge), _, _) => (&[ridge], &[1.0]),
        (Ridge::Tuned, false, 0) => (&usual, &[1.0]),
        (Ridge::Tuned, false, _) => (&usual, &MEMORIES),
        (Ridge::Tuned, true, _) => (&[RIDGE], &[MEMORY]),
    };
    let n_cloth = match config.stability {
        Stability::Constrained => all.n_cloth,
        Stability::FewerDims => {
            let held = (ridges[0], memories[0]);
            stable_dims(&moving, &all, held, config.max_radius, &seen)?
        }
    };
    let layout = Layout { n_cloth, ..all };
    let cloth = all_cloth.truncated(n_cloth);
    let moving = moving.chosen(&all.kept(n_cloth), n_cloth);
    let still = still.chosen(&(0..all.n_body).collect::<Vec<_>>(), n_cloth);
    let found = moving.n_rows();
    if found < 2 * layout.n_cloth.min(8) {
        return Err(TrainError::TooFew {
            found,
            needed: 2 * layout.n_cloth.min(8),
            what: "the dynamics",
        });
    }
    let flat = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<f32>>();
    let still_layout = Layout {
        order: 0,
        root: RootTerms::Without,
        ..layout
    };
    let still = still.problem(&still_layout.blocks(1.0))?;
    let tuning = || seen(TrainStage::Tuning);
    let first = |ridge: f64| -> Result<Vec<f64>, TrainError> {
        // Without memory there is nothing to be unstable.
        let mut fits = stable_fits(&still, &still_layout, ridge, config.max_radius, &tuning)?;
        Ok(fits.swap_remove(0).weights)
    };
    let animator = |fit: &Fit, first: &[f64]| -> Result<StableSpace, TrainError> {
        let weights = flat(&by_columns(&fit.weights, layout.n_cloth));
        let dynamics = Dynamics::new(layout.n_body, layout.n_cloth, order, root, weights)?;
        Ok(StableSpace::new(
            skinned.clone(),
            StableSpaceParts {
                range: body.range.clone(),
                space: config.space,
                mean: flat(&cloth.mean),
                basis: flat(&cloth.basis),
                still: flat(&by_columns(first, layout.n_cloth)),
                dynamics,
                limits,
                reach: Some((REACH * farthest) as f32),
            },
        )?)
    };
    let tried_of = |fit: &Fit, animator: &StableSpace, (ridge, memory): (f64, f64)| {
        let companion = animator.parts().dynamics.companion();
        Ok::<_, TrainError>(Tried {
            ridge,
            memory_ridge: ridge * memory,
            kind: fit.kind,
            free_radius: fit.free_radius,
            radius: spectral_radius(&companion, layout.n_cloth * order)?,
            tune: match tune.is_empty() {
                true => None,
                false => Some(footage.open_loop(animator, &tune)?.mean),
            },
        })
    };
    let (mut tried, mut fits) = (Vec::<Tried>::new(), Vec::new());
    for memory in memories {
        let problem = moving.problem(&layout.blocks(*memory))?;
        for ridge in ridges {
            tuning()?;
            let mut ways = stable_fits(&problem, &layout, *ridge, config.max_radius, &tuning)?;
            if config.ridge != Ridge::Tuned {
                ways.truncate(1);
            }
            let first = first(*ridge)?;
            for fit in ways {
                let animator = animator(&fit, &first)?;
                tried.push(tried_of(&fit, &animator, (*ridge, *memory))?);
                fits.push(fit);
            }
        }
    }
    let one_step = best(&tried, order).ok_or(TrainError::Unstable { radius: f64::NAN })?;
    let fit = fits.swap_remove(one_step);
    let mut taken = (one_step, animator(&fit, &first(tried[one_step].ridge)?)?);
    let is_rolled = config.fitting == Fitting::RolledOut && config.ridge == Ridge::Tuned;
    if is_rolled && order > 0 && !tune.is_empty() {
        let clips = clips(&encoder(&cloth), &extended, &layout, &seen)?;
        let (times, memory) = ROLLED;
        let held = (times * usual[0], memory);
        let problem = moving.problem(&layout.blocks(memory))?;
        let first = first(held.0)?;
        let roll_outs = RollOuts::new(layout, clips, &first);
        roll_outs.descend(&problem, held.0, ROLLED_STEPS, |step, weights| {
            seen(TrainStage::RollOuts)?;
            if !step.is_multiple_of(ROLLED_SEEN) {
                return Ok(());
            }
            let fit = stable_roll_out(&layout, weights, config.max_radius)?;
            let animator = animator(&fit, &first)?;
            let seen = tried_of(&fit, &animator, held)?;
            tried.push(seen);
            if seen.tune < tried[taken.0].tune {
                taken = (tried.len() - 1, animator);
            }
            Ok(())
        })?;
    }
    let (taken, animator) = taken;
    let energy = match order {
        0 => None,
        _ => energy(&encoder(&cloth), &plain, &layout, &animator, &seen)?,
    };
    let count = |all: &[PlannedSequence]| {
        let frames = all.iter().map(|s| u64::from(s.frames)).sum();
        (all.len(), frames)
    };
    Ok(TrainedStableSpace {
        animator,
        plain: count(&plain),
        extended: count(&extended),
        cloth_explained: cloth.explained(layout.n_cloth),
        cloth_variances: cloth.variances.clone(),
        body_explained: body.explained,
        tried,
        taken,
        energy,
    })
}

/// The fit with the most memory of those that are about as good as the best; of those
/// without memory the best.
fn best(tried: &[Tried], order: usize) -> Option<usize> {
    let error = |t: &Tried| t.tune.unwrap_or(0.0);
    let least = tried.iter().map(error).fold(f64::INFINITY, f64::min);
    let as_good = if order == 0 { 1.0 } else { AS_GOOD };
    let good = |(_, t): &(usize, &Tried)| error(t) <= as_good * least;
    let by_memory = |(_, a): &(usize, &Tried), (_, b): &(usize, &Tried)| {
        let memory = a.memory_ridge.total_cmp(&b.memory_ridge);
        memory.then(error(a).total_cmp(&error(b)))
    };
    let good = tried.iter().enumerate().filter(good);
    good.min_by(by_memory).map(|(at, _)| at)
}

/// The most components of the cloth with which least squares are stable by
/// themselves, with a ridge and how many times as strongly it holds memory back. One
/// is left where none are; it is constrained then.
fn stable_dims(
    moving: &Sums,
    all: &Layout,
    (ridge, memory): (f64, f64),
    limit: f64,
    seen: &dyn Fn(TrainStage) -> Result<(), TrainError>,
) -> Result<usize, TrainError> {
    for n_cloth in (2..=all.n_cloth).rev() {
        seen(TrainStage::Tuning)?;
        let layout = Layout { n_cloth, ..*all };
        let chosen = moving.chosen(&all.kept(n_cloth), n_cloth);
        let problem = chosen.problem(&layout.blocks(memory))?;
        let radius = free_radius(&problem, &layout, ridge)?;
        if radius <= limit {
            return Ok(n_cloth);
        }
    }
    Ok(1)
}

fn check(config: &StableSpaceConfig) -> Result<(), TrainError> {
    let ridge = match config.ridge {
        Ridge::Tuned => 0.0,
        Ridge::Fixed(ridge) => ridge,
    };
    let settings = [
        ("dimensions", config.dims as f64, 1.0, 512.0),
        ("order", config.order as f64, 0.0, 5.0),
        ("ridge", ridge, 0.0, 1e6),
        ("spectral radius", config.max_radius, 0.1, 0.9999),
    ];
    for (what, found, least, most) in settings {
        if !(least..=most).contains(&found) {
            return Err(TrainError::Setting {
                what,
                found,
                least,
                most,
            });
        }
    }
    Ok(())
}

/// Three times what the root does in training is no motion any more, but a
/// quarter of a metre or half a radian in a frame may always be one.
fn root_limits(
    footage: &Footage<'_>,
    sequences: &[PlannedSequence],
) -> Result<RootLimits, TrainError> {
    let (mut step, mut turn) = (0.0f32, 0.0f32);
    let mut last = None;
    footage.for_each(sequences, Reading::Poses, |shot| {
        if shot.frame == 0 {
            last = None;
        }
        if let Some(before) = last.replace(shot.canonical) {
            let [x, y, z, sine, cosine] = drapery_runtime::root_motion(&shot.canonical, &before);
            step = step.max(glam::Vec3::new(x, y, z).length());
            turn = turn.max(sine.atan2(cosine).abs());
        }
        Ok(())
    })?;
    Ok(RootLimits {
        step: (3.0 * step).max(0.25),
        turn: (3.0 * turn).max(0.5),
    })
}

fn each_cloth_block(
    footage: &Footage<'_>,
    sequences: &[PlannedSequence],
    rows: &ClothRows<'_>,
    each: &mut EachBlock<'_>,
    seen: &dyn Fn(TrainStage) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    let mut block = Vec::new();
    let mut n_frames = 0;
    footage.for_each(sequences, Reading::Cloth, |shot| {
        rows.extend(shot, &mut block)?;
        n_frames += 1;
        if n_frames == 256 {
            each(&block);
            block.clear();
            n_frames = 0;
        }
        seen(TrainStage::Cloth)
    })?;
    each(&block);
    Ok(())
}

/// The sums of the dynamics and of model A, and the largest ‖y‖ of a frame.
fn sums(
    encoder: &Encoder<'_>,
    sequences: &[PlannedSequence],
    layout: &Layout,
    seen: &dyn Fn(TrainStage) -> Result<(), TrainError>,
) -> Result<(Sums, Sums, f64), TrainError> {
    let mut moving = Sums::new(layout.n_inputs(), layout.n_cloth);
    let mut still = Sums::new(layout.n_body, layout.n_cloth);
    let mut window = Window::new(*layout);
    let (mut rows, mut still_rows) = (Vec::new(), Vec::new());
    let mut n_frames = 0;
    let mut farthest = 0.0f64;
    encoder.for_each(sequences, |frame| {
        if frame.is_first {
            window.clear();
        }
        farthest = farthest.max(frame.y.iter().map(|y| y * y).sum());
        still_rows.extend(frame.x.iter().map(|v| f64::from(*v)));
        still_rows.extend_from_slice(frame.y);
        window.push(&frame.canonical, frame.x, frame.y, |mut row| {
            layout.difference(&mut row);
            rows.append(&mut row);
            rows.extend_from_slice(frame.y);
        });
        n_frames += 1;
        if n_frames == 256 {
            moving.add(&rows);
            still.add(&still_rows);
            rows.clear();
            still_rows.clear();
            n_frames = 0;
        }
        seen(TrainStage::Dynamics)
    })?;
    moving.add(&rows);
    still.add(&still_rows);
    Ok((moving, still, farthest.sqrt()))
}

/// Sequences with so many frames in all at most: every second, third, … of more, and what
/// is still too long is cut.
fn rolled(sequences: &[PlannedSequence], most: u64) -> Vec<PlannedSequence> {
    let n_frames: u64 = sequences.iter().map(|s| u64::from(s.frames)).sum();
    let every = n_frames.div_ceil(most).max(1) as usize;
    let mut left = most;
    let mut taken: Vec<PlannedSequence> = sequences.iter().step_by(every).cloned().collect();
    for planned in &mut taken {
        let frames = u64::from(planned.frames).min(left);
        left -= frames;
        planned.frames = frames as u32;
    }
    taken.retain(|planned| planned.frames > 0);
    taken
}

/// Training clips as they are rolled out.
fn clips(
    encoder: &Encoder<'_>,
    sequences: &[PlannedSequence],
    layout: &Layout,
    seen: &dyn Fn(TrainStage) -> Result<(), TrainError>,
) -> Result<Vec<Clip>, TrainError> {
    let past = layout.n_body..layout.n_body + layout.order * layout.n_cloth;
    let mut window = Window::new(*layout);
    let mut clips: Vec<Clip> = Vec::new();
    encoder.for_each(&rolled(sequences, MAX_ROLLED), |frame| {
        if frame.is_first {
            window.clear();
            clips.push(Clip::default());
        }
        let Some(clip) = clips.last_mut() else {
            return Ok(());
        };
        let mut row = None;
        window.push(&frame.canonical, frame.x, frame.y, |inputs| {
            row = Some(inputs);
        });
        match row {
            Some(row) => {
                clip.inputs.extend_from_slice(&row[..past.start]);
                clip.inputs.extend_from_slice(&row[past.end..]);
                clip.cloth.extend_from_slice(frame.y);
            }
            None => clip.first.extend(frame.x.iter().map(|v| f64::from(*v))),
        }
        seen(TrainStage::RollOuts)
    })?;
    Ok(clips)
}

/// What §6.1 says of training frames; none where the eigenvectors of the
/// dynamics don't span the space.
fn energy(
    encoder: &Encoder<'_>,
    sequences: &[PlannedSequence],
    layout: &Layout,
    animator: &StableSpace,
    seen: &dyn Fn(TrainStage) -> Result<(), TrainError>,
) -> Result<Option<Energy>, TrainError> {
    let dynamics = &animator.parts().dynamics;
    let n = layout.n_cloth * layout.order;
    let Some(coordinates) = EnergyCoordinates::of(dynamics) else {
        return Ok(None);
    };
    let (k, past) = (layout.n_cloth, layout.n_body..layout.n_body + n);
    let mut meter = EnergyMeter::new(coordinates);
    let mut window = Window::new(*layout);
    let mut rows = Vec::new();
    encoder.for_each(sequences, |frame| {
        if frame.is_first {
            window.clear();
        }
        meter.add_cloth(frame.y);
        window.push(&frame.canonical, frame.x, frame.y, |row| {
            rows.extend_from_slice(&row[past.clone()]);
            let mut drive = vec![0.0; n];
            let inputs = row.iter().zip(dynamics.weights().chunks_exact(k));
            for (input, (value, weights)) in inputs.enumerate() {
                if !past.contains(&input) {
                    for (out, w) in drive.iter_mut().zip(weights) {
                        *out += value * f64::from(*w);
                    }
                }
            }
            rows.append(&mut drive);
        });
        if rows.len() >= 256 * n {
            meter.add(&rows);
            rows.clear();
        }
        seen(TrainStage::Energy)
    })?;
    meter.add(&rows);
    Ok(Some(meter.finish(animator.skinned().rest().len())))
}

/// The transpose of rows, of which there are `n_rows`.
fn by_columns(rows: &[f64], n_rows: usize) -> Vec<f64> {
    let n = rows.len() / n_rows.max(1);
    let at = |i: usize| rows[(i % n_rows) * n + i / n_rows];
    (0..rows.len()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_fits_that_are_as_good_the_one_with_the_most_memory_is_taken() {
        let tried = |memory_ridge, error| Tried {
            ridge: 1e-4,
            memory_ridge,
            kind: FitKind::Free,
            free_radius: 0.9,
            radius: 0.9,
            tune: Some(error),
        };
        let all = [
            tried(1e-4, 0.0320),
            tried(1e-2, 0.0304),
            tried(1e-1, 0.0300),
            tried(1e-2, 0.0303),
        ];
        assert_eq!(best(&all, 2), Some(3));
        assert_eq!(best(&all, 0), Some(2), "there is no memory to keep");
        assert_eq!(best(&[], 2), None);
    }

    #[test]
    fn clips_that_are_rolled_out_have_a_bound_however_long_they_are() {
        let planned = |frames: u32| PlannedSequence {
            name: "walk@mean".into(),
            clip: "walk".into(),
            parent: "walk".into(),
            shape: 0,
            split: Split::Train,
            frames,
        };
        let frames = |all: &[u32]| -> Vec<u32> {
            let all: Vec<PlannedSequence> = all.iter().map(|n| planned(*n)).collect();
            rolled(&all, 1000).iter().map(|s| s.frames).collect()
        };
        assert_eq!(frames(&[300, 300, 400]), [300, 300, 400], "all fit");
        assert_eq!(frames(&[400; 5]), [400, 400, 200], "every second one");
        assert_eq!(frames(&[5_000_000]), [1000]);
        assert_eq!(frames(&[]), [0; 0]);
    }
}
