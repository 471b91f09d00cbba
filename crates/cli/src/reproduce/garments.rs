//! Table 1 of Stable Spaces: all garments, their eigenvalues and what a frame takes.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use drapery::core::{GarmentAnimator, Surroundings};
use drapery::learn::{Footage, Ridge, StableSpaceConfig};
use drapery::runtime::StableSpace;
use drapery::scene::scene_file::Scene;
use drapery::store::dataset::{DatasetStore, PlannedSequence, Split};
use drapery::{skinned_garment, train_stable_model};
use glam::Vec3;
use serde_json::{Value, json};

use super::derived::short;
use super::desk::Desk;
use super::ground::{Ground, is_plain};
use super::page::number;
use super::stable_spaces::{Cell, Lab, Sets};
use super::{Cells, resolutions};
use crate::args::Scale;
use crate::{dataset_times, stop};

/// A row of Table 1 as the paper has it.
pub(super) struct Garment {
    /// Its name there and here.
    pub(super) name: &'static str,
    /// Its scene.
    pub(super) scene: &'static str,
    /// Vertices.
    vertices: u32,
    /// The largest eigenvalue.
    eigenvalue: f64,
    /// Of a frame in all, and of the simulation [s].
    seconds: [f64; 2],
}

const fn garment(
    name: &'static str,
    scene: &'static str,
    vertices: u32,
    eigenvalue: f64,
    seconds: [f64; 2],
) -> Garment {
    Garment {
        name,
        scene,
        vertices,
        eigenvalue,
        seconds,
    }
}

/// The dress of the tables.
const DRESS: Garment = garment("dress", "stable-spaces-dress", 766, 0.9798, [0.00049, 0.37]);

/// The other garments.
pub(super) const GARMENTS: [Garment; 8] = [
    garment(
        "skirt 1",
        "stable-spaces-skirt-1",
        820,
        0.8950,
        [0.00040, 0.25],
    ),
    garment(
        "skirt 2",
        "stable-spaces-skirt-2",
        820,
        0.9563,
        [0.00041, 0.33],
    ),
    garment(
        "long skirt",
        "stable-spaces-long-skirt",
        766,
        0.9736,
        [0.00041, 0.40],
    ),
    garment(
        "Oscar dress",
        "stable-spaces-oscar-dress",
        820,
        0.9654,
        [0.00039, 0.77],
    ),
    garment("cape", "stable-spaces-cape", 2242, 0.9915, [0.00157, 0.57]),
    garment(
        "shirt",
        "stable-spaces-shirt",
        3329,
        0.9983,
        [0.00245, 0.76],
    ),
    garment(
        "trousers (pants)",
        "stable-spaces-trousers",
        560,
        0.9735,
        [0.00020, 2.36],
    ),
    garment(
        "poncho",
        "stable-spaces-poncho",
        2450,
        0.9995,
        [0.00169, 0.80],
    ),
];

/// The finer dresses, whose cells are those of Table 4.
const FINER: [Garment; 3] = [
    garment(
        "dress, 3,410",
        "stable-spaces-dress-6664",
        3410,
        0.9798,
        [0.00246, 1.20],
    ),
    garment(
        "dress, 5,178",
        "stable-spaces-dress-10172",
        5178,
        0.9757,
        [0.00377, 1.90],
    ),
    garment(
        "dress, 20,530",
        "stable-spaces-dress-40688",
        20530,
        0.9778,
        [0.01497, 13.20],
    ),
];

/// Of the dynamics of any garment in the paper [s].
const PAPER_DYNAMICS: f64 = 4.8e-8;

/// The part.
pub(super) const NAME: &str = "table-1";

/// The clips of the full scenes that test garments beside the dress, a fifth of the frames:
/// the paper has no errors of theirs.
const TESTED: [&str; 3] = ["test-01", "test-05", "test-09"];

/// How long each time is taken, at least [s].
const TIMED: f64 = 0.5;

impl Garment {
    pub(super) fn cell(&self) -> String {
        let name = self.scene.trim_start_matches("stable-spaces-");
        format!("garment-{name}")
    }
}

/// The names of all cells.
pub(super) fn cells() -> Vec<String> {
    let all = std::iter::once(&DRESS).chain(&GARMENTS);
    all.map(Garment::cell).collect()
}

/// The name of the cell of the dress of the tables.
pub(super) fn dress_cell() -> String {
    DRESS.cell()
}

/// The dress of the tables, which has their data.
pub(super) fn make_dress(lab: &Lab<'_>) -> anyhow::Result<()> {
    let name = DRESS.cell();
    if !is_of_tables(lab.desk, &DRESS) || !lab.desk.is_asked(NAME, &name) {
        return Ok(());
    }
    let value = lab.known_or(&name, || dress(lab))?;
    tell(lab.desk, &name, &value)
}

/// The garments that have data of their own.
pub(super) fn make(desk: &Desk<'_>) -> anyhow::Result<()> {
    let mut failed = Vec::new();
    for garment in std::iter::once(&DRESS).chain(&GARMENTS) {
        if is_of_tables(desk, garment) || !desk.is_asked(NAME, &garment.cell()) {
            continue;
        }
        // What is wrong with one is not wrong with the next.
        if let Err(error) = make_one(desk, garment) {
            stop::check()?;
            desk.say.note(format_args!("{}: {error:#}", garment.name));
            failed.push(garment.name);
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => bail!("not made: {}", failed.join(", ")),
    }
}

/// Whether a garment is that of the tables.
fn is_of_tables(desk: &Desk<'_>, garment: &Garment) -> bool {
    let stem = desk.scene.file_stem().unwrap_or_default();
    garment.scene == DRESS.scene && (stem == DRESS.scene || stem == Scale::Small.scene())
}

fn make_one(desk: &Desk<'_>, garment: &Garment) -> anyhow::Result<()> {
    let name = garment.cell();
    let value = match desk.known_without(&name, &data_of(desk, garment))? {
        Some(value) => value,
        None => {
            let ground = ground(desk, garment)?;
            let train = || trained(desk, &name, &ground, &ground.dataset);
            desk.known_of(&name, &ground.origin, || desk.threads.install(train))?
        }
    };
    tell(desk, &name, &value)
}

pub(super) fn tell(desk: &Desk<'_>, name: &str, value: &Value) -> anyhow::Result<()> {
    let line = format!(
        "{name}: eigenvalue {} by least squares, {} as taken; {} cm on clips that test",
        number(&value["plain_spectral_radius"], 4),
        number(&value["spectral_radius"], 4),
        number(&value["test_cm"], 2)
    );
    desk.say.result("cell", value, line)
}

/// Where the dataset of a garment is.
pub(super) fn data_of(desk: &Desk<'_>, garment: &Garment) -> PathBuf {
    desk.data.join(match desk.plan.scale {
        Scale::Small => format!("{}-short", garment.scene),
        Scale::Full => garment.scene.to_string(),
    })
}

/// The dataset of a garment: the clips of its scene that train and tune, but for their
/// stops, and some that test; or a few short ones.
pub(super) fn ground(desk: &Desk<'_>, garment: &Garment) -> anyhow::Result<Ground> {
    let is_small = desk.plan.scale == Scale::Small;
    let scene = || match is_small {
        true => short(garment.scene),
        false => Ok(Scene::named(Path::new(garment.scene))?),
    };
    let is_wanted = |s: &PlannedSequence| {
        is_plain(s) && (is_small || s.split != Split::Test || TESTED.contains(&s.clip.as_str()))
    };
    let path = data_of(desk, garment);
    Ground::of(&path, &is_wanted, scene, desk.plan.threads, desk.say)
}

/// The dress of the tables, as shipped.
fn dress(lab: &Lab<'_>) -> anyhow::Result<Value> {
    let [_, _, shipped] = Cell::SHIPPED;
    let animator = lab.model(shipped)?;
    let known = lab.desk.cells.get(&shipped.name()).unwrap_or_default();
    let plain = match known["plain_spectral_radius"].as_f64() {
        Some(radius) => radius,
        None => {
            let (_, plain) = lab.desk.threads.install(|| lab.fit(&plain(shipped)))?;
            plain.tried[plain.taken].free_radius
        }
    };
    let test = lab.sets.named("test_cm");
    let mut value = described(&lab.ground, &animator, test, &lab.footage())?;
    value["cell"] = DRESS.cell().into();
    value["plain_spectral_radius"] = plain.into();
    value["spectral_radius"] = lab.model_radius(shipped)?.into();
    Ok(value)
}

fn plain(cell: Cell) -> StableSpaceConfig {
    StableSpaceConfig {
        ridge: Ridge::Fixed(0.0),
        ..cell.config()
    }
}

/// Model C of a garment on all of `store` that is a part of the ground; it is kept.
pub(super) fn trained(
    desk: &Desk<'_>,
    name: &str,
    ground: &Ground,
    store: &dyn DatasetStore,
) -> anyhow::Result<Value> {
    let [_, _, shipped] = Cell::SHIPPED;
    let fit = |config: &StableSpaceConfig| {
        let go_on = |_| !stop::asked();
        let (character, digest) = (&ground.character, &ground.origin.digest);
        train_stable_model(store, character, 0, config, digest, &go_on)
    };
    let started = Instant::now();
    let (model, trained) = fit(&shipped.config())?;
    let train_s = started.elapsed().as_secs_f64();
    desk.keep_model(name, &model)?;
    let (_, plain) = fit(&plain(shipped))?;
    let test: Vec<PlannedSequence> = (store.split(Split::Test)?.into_iter())
        .filter(|s| Sets::is_tested(&s.clip))
        .collect();
    let footage = Footage {
        store,
        ..ground.footage()
    };
    let mut value = described(ground, &trained.animator, &test, &footage)?;
    let taken = &trained.tried[trained.taken];
    value["cell"] = name.into();
    value["plain_spectral_radius"] = plain.tried[plain.taken].free_radius.into();
    value["spectral_radius"] = taken.radius.into();
    value["fit"] = taken.kind.name().into();
    value["tune_cm"] = taken.tune.map(|m| 100.0 * m).into();
    value["train_frames"] = trained.extended.1.into();
    value["train_s"] = train_s.into();
    Ok(value)
}

/// Sizes, errors on clips that test, and what a frame takes.
fn described(
    ground: &Ground,
    animator: &StableSpace,
    test: &[PlannedSequence],
    footage: &Footage<'_>,
) -> anyhow::Result<Value> {
    let head = ground.dataset.head();
    let mut value = json!({
        "vertices": animator.topology().n_vertices(),
        "triangles": animator.topology().triangles().len(),
        "simulation_s": simulation_seconds(&ground.path),
    });
    if let Some(planned) = ground.plain(Split::Train)?.first() {
        let (dynamics, total) = seconds(ground, planned, animator)?;
        value["dynamics_s"] = dynamics.into();
        value["total_s"] = total.into();
    }
    if !test.is_empty() {
        let skinned = skinned_garment(&ground.character, head, 0)?;
        value["test_cm"] = (100.0 * footage.open_loop(animator, test)?.mean).into();
        value["skinning_cm"] = (100.0 * footage.open_loop(&skinned, test)?.mean).into();
    }
    Ok(value)
}

/// What a simulated frame took on one thread, over all sequences whose times are
/// known [s].
fn simulation_seconds(dataset: &Path) -> Option<f64> {
    let times = dataset_times::read(dataset);
    let (mut seconds, mut frames) = (0.0, 0.0);
    for took in times.values() {
        if let Some(each) = took.seconds() {
            let n = f64::from(took.frames.saturating_sub(1));
            seconds += n * each * took.threads as f64;
            frames += n;
        }
    }
    (frames > 0.0).then(|| seconds / frames)
}

/// Medians of the dynamics alone (Eq. 5), and of a whole step on one thread [s].
fn seconds(
    ground: &Ground,
    planned: &PlannedSequence,
    animator: &StableSpace,
) -> anyhow::Result<(f64, f64)> {
    const AT_ONCE: usize = 200;
    let dynamics = &animator.parts().dynamics;
    let inputs: Vec<f32> = (0..dynamics.n_inputs())
        .map(|i| 0.01 * (i as f32).sin())
        .collect();
    let mut cloth = vec![0.0; dynamics.n_cloth()];
    let alone = median(|| {
        let start = Instant::now();
        for _ in 0..AT_ONCE {
            dynamics.step(black_box(&inputs), black_box(&mut cloth));
        }
        Ok(start.elapsed().as_secs_f64() / AT_ONCE as f64)
    })?;
    let (body, posed) = ground.posed(planned)?;
    let frames: Vec<_> = (posed.iter())
        .map(|posed| posed.frame(&body, Surroundings::default()))
        .collect();
    let mut state = animator.start(&frames[0])?;
    let mut out = vec![Vec3::ZERO; animator.topology().n_vertices()];
    let mut next = frames.iter().cycle();
    let total = median(|| {
        let frame = next.next().unwrap_or(&frames[0]);
        let start = Instant::now();
        animator.step(&mut state, frame, &mut out)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    Ok((alone, total))
}

/// The median of what is timed for half a second; the first is left out.
fn median(mut timed: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<f64> {
    timed()?;
    let begin = Instant::now();
    let mut all = Vec::new();
    while all.len() < 20 || begin.elapsed().as_secs_f64() < TIMED {
        all.push(timed()?);
    }
    all.sort_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}

pub(super) fn section(cells: &Cells) -> Option<String> {
    let mut rows = String::new();
    let named = std::iter::once((&DRESS, DRESS.cell()));
    let named = named.chain(FINER.iter().map(|g| (g, resolutions::cell(g.scene))));
    let named = named.chain(GARMENTS.iter().map(|g| (g, g.cell())));
    let mut is_any = false;
    for (garment, cell) in named {
        let kept = cells.kept(&cell);
        is_any |= kept.is_some() && cell.starts_with("garment-");
        let cell = kept.unwrap_or_default();
        let seconds = |key: &str| match cell[key].as_f64() {
            Some(s) => format!("{s:.1e}"),
            None => "–".to_string(),
        };
        rows += &format!(
            "| {} | {} / {} | {} | {} | {} | {:.4} | {} | {} / {:.1e} | {} / {:.2} | {} | {} |\n",
            garment.name,
            number(&cell["vertices"], 0),
            garment.vertices,
            number(&cell["triangles"], 0),
            number(&cell["plain_spectral_radius"], 4),
            number(&cell["spectral_radius"], 4),
            garment.eigenvalue,
            seconds("dynamics_s"),
            seconds("total_s"),
            garment.seconds[0],
            number(&cell["simulation_s"], 2),
            garment.seconds[1],
            number(&cell["test_cm"], 2),
            number(&cell["skinning_cm"], 2),
        );
    }
    is_any.then(|| {
        format!(
            "## Table 1: garments\n\n\
             Model C of order 2, 64 dimensions, trained on clips without stops (with them where a \
             dataset has them, as that of the first dress); after each stroke the paper's. Eigenvalues: of least squares alone, as \
             taken, the paper's. Times of one garment on one thread, medians, beside whatever \
             else ran: dynamics (Eq. 5), a whole step (body, dynamics, reconstruction, world; no \
             correction), simulation. The paper has {PAPER_DYNAMICS:e} s for the dynamics of \
             every garment: that would be 270 multiplications a nanosecond. Errors on clips that \
             test, with those of the skinned garment, which the paper does not have: all of them \
             for the first dress, a few for the other garments. The finer dresses are those of \
             Table 4, trained and tested on the few clips there.\n\n\
             | | vertices | triangles | plain | as taken | the paper's | dynamics, s | step, s | simulation, s | test, cm | skinning, cm |\n\
             |---|---|---|---|---|---|---|---|---|---|---|\n{rows}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_garment_of_the_paper_has_a_scene_of_its_own() {
        let all = GARMENTS.iter().chain(&FINER).chain([&DRESS]);
        let mut cells: Vec<String> = Vec::new();
        for garment in all {
            let scene = short(garment.scene).unwrap();
            let splits: Vec<Split> = (0..scene.n_clips()).map(|c| scene.clip(c).1).collect();
            assert_eq!(splits, [Split::Train, Split::Tune, Split::Test]);
            let found = scene.garments[0].garment.mesh().positions().len() as f64;
            let expected = f64::from(garment.vertices);
            assert!(
                (found / expected - 1.0).abs() < 0.1,
                "{}: {found}",
                garment.name
            );
            cells.push(garment.cell());
        }
        cells.sort();
        cells.dedup();
        assert_eq!(cells.len(), 12);
    }
}
