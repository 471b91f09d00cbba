//! The two fabrics of one skirt (Figure 4 of Stable Spaces): the same clip, trained
//! and simulated apart.

use drapery::core::GarmentAnimator;
use drapery::runtime::StableSpace;
use drapery::store::dataset::{DatasetStore, PlannedSequence, Split};
use drapery::view::picture::Colour;
use glam::Vec3;
use serde_json::{Value, json};

use super::Cells;
use super::desk::Desk;
use super::garments::{GARMENTS, Garment, data_of, ground, trained};
use super::ground::Ground;
use super::page::number;
use super::pictures::{keep, rows, stills};
use super::stable_spaces::Sets;
use super::stops::{hem, middle};

const NAME: &str = "fabrics";
/// As in the paper: the damped one blue, the lively one green.
const COLOURS: [Colour; 2] = [Colour::BLUE, Colour::GREEN];

pub(super) fn make(desk: &Desk<'_>) -> anyhow::Result<()> {
    let skirts: [&Garment; 2] = [&GARMENTS[0], &GARMENTS[1]];
    let is_gone = |skirt: &&Garment| !data_of(desk, skirt).join("zarr.json").exists();
    if skirts.iter().all(is_gone) && desk.cells.kept(NAME).is_some() {
        return desk.write_page();
    }
    let grounds = [ground(desk, skirts[0])?, ground(desk, skirts[1])?];
    let origin = grounds[0].origin.and(&grounds[1].origin);
    desk.known_of(NAME, &origin, || {
        let mut cell = json!({ "cell": NAME });
        let mut shots = Vec::new();
        let mut models = Vec::new();
        for (skirt, ground) in skirts.iter().zip(&grounds) {
            let model = model(desk, skirt, ground)?;
            let mut tests = ground.dataset.split(Split::Test)?;
            tests.retain(|s| Sets::is_tested(&s.clip));
            let Some(first) = tests.first() else {
                return Ok(json!({ "cell": NAME }));
            };
            cell[skirt.name] = swings(ground, &tests, &model)?;
            cell["clip"] = first.clip.as_str().into();
            let frames = [1, 2, 3].map(|i| (first.frames - 1) * i / 3);
            shots.push(stills(
                ground,
                first,
                &frames,
                std::slice::from_ref(&model),
            )?);
            models.push(model);
        }
        let all: Vec<_> = (skirts.iter().zip(&shots))
            .map(|(skirt, shots)| (skirt.name, shots.as_slice()))
            .collect();
        let image = rows(&grounds[0], models[0].topology(), &all, &COLOURS)?;
        keep(desk, "fabrics.png", &image)?;
        cell["file"] = "fabrics.png".into();
        Ok(cell)
    })?;
    Ok(())
}

/// The model of Table 1, as it was kept or trained anew.
fn model(desk: &Desk<'_>, skirt: &Garment, ground: &Ground) -> anyhow::Result<StableSpace> {
    let name = skirt.cell();
    if let Some(kept) = desk.kept_model(&name, &ground.origin.digest) {
        return Ok(kept);
    }
    let value = (desk.threads).install(|| trained(desk, &name, ground, &ground.dataset))?;
    desk.cells.put(&name, &ground.origin, value)?;
    desk.kept_model(&name, &ground.origin.digest)
        .ok_or_else(|| anyhow::anyhow!("the model of {name} was not kept"))
}

/// How far the middle of the hem is from its mean as seen from the root, root mean
/// square, and how fast it is.
fn swings(
    ground: &Ground,
    tests: &[PlannedSequence],
    model: &StableSpace,
) -> anyhow::Result<Value> {
    let hem = hem(model.skinned().rest());
    let step = model.frame_step().0;
    let mut all: [Vec<Vec<Vec3>>; 2] = [Vec::new(), Vec::new()];
    for planned in tests {
        let mut own = [Vec::new(), Vec::new()];
        let one = std::slice::from_ref(planned);
        ground
            .footage()
            .open_loop_seen(model, one, |shot, found, simulated| {
                let canonical = shot.canonical.canonical_from_world();
                for (own, cloth) in own.iter_mut().zip([simulated, found]) {
                    own.push(canonical.transform_point3(middle(cloth, &hem)));
                }
            })?;
        for (all, own) in all.iter_mut().zip(own) {
            all.push(own);
        }
    }
    let [simulated, found] = all.map(|clips| {
        let (mut far_sq, mut speed, mut n, mut n_speeds) = (0.0, 0.0, 0.0f64, 0.0f64);
        for clip in &clips {
            let mean = clip.iter().sum::<Vec3>() / clip.len().max(1) as f32;
            far_sq += clip
                .iter()
                .map(|p| f64::from(p.distance_squared(mean)))
                .sum::<f64>();
            n += clip.len() as f64;
            for pair in clip.windows(2) {
                speed += f64::from(pair[0].distance(pair[1])) / step;
                n_speeds += 1.0;
            }
        }
        let far_cm = 100.0 * (far_sq / n.max(1.0)).sqrt();
        json!({ "far_cm": far_cm, "speed_cm_s": 100.0 * speed / n_speeds.max(1.0) })
    });
    Ok(json!({ "simulated": simulated, "model": found }))
}

pub(super) fn section(cells: &Cells) -> Option<String> {
    let cell = cells.kept(NAME)?;
    let file = cell["file"].as_str()?;
    let mut table = String::new();
    for (skirt, words) in GARMENTS[..2]
        .iter()
        .zip(["thick and damped", "thin and lively"])
    {
        let of = |whose: &str, key: &str| number(&cell[skirt.name][whose][key], 1);
        table += &format!(
            "| {}, {words} | {} | {} | {} | {} |\n",
            skirt.name,
            of("simulated", "far_cm"),
            of("model", "far_cm"),
            of("simulated", "speed_cm_s"),
            of("model", "speed_cm_s"),
        );
    }
    Some(format!(
        "## Figure 4: two fabrics\n\n\
         The middle of the hem on clips that test, seen from the root: its distance from the \
         mean, root mean square, and its speed. The paper's lively skirt swings with a higher \
         amplitude than its damped one (no number).\n\n\
         | | simulated, cm | model, cm | simulated, cm/s | model, cm/s |\n\
         |---|---|---|---|---|\n{table}\n\
         `{}`, each simulated and by its model:\n\n![two fabrics]({file})\n",
        cell["clip"].as_str().unwrap_or("?")
    ))
}
