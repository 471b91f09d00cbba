//! `drapery garment fabric`: what a fabric is, how it bends and how it drapes.

use std::path::Path;

use anyhow::bail;
use drapery::core::Fabric;
use drapery::scene::fabric::{PRESETS, Preset, to_toml};
use drapery::sim::{BendingLength, Drape, StripDirection, bending_length};
use serde_json::json;

use crate::args::FabricPlan;
use crate::record::{self, Input};
use crate::say::Say;
use crate::{Answer, fabric_drape, fabric_picture, source, write};

pub(crate) fn run(plan: &FabricPlan, say: &Say) -> anyhow::Result<Answer> {
    if let Some(out) = &plan.out {
        if write::check("--out", out)? != "toml" {
            bail!("--out {}: a fabric is written to .toml", out.display());
        }
        if plan.fabric.len() > 1 {
            bail!(
                "--out {}: takes one fabric, not {}",
                out.display(),
                plan.fabric.len()
            );
        }
    }
    if let Some(picture) = &plan.picture
        && write::check("--picture", picture)? != "png"
    {
        bail!(
            "--picture {}: a picture is written to .png",
            picture.display()
        );
    }
    let fabrics = plan
        .fabric
        .iter()
        .map(|name| source::fabric(name, say))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let shown = match fabrics.is_empty() {
        true => PRESETS.iter().map(Preset::fabric).collect(),
        false => fabrics.clone(),
    };
    let is_measured = !plan.constants && (!fabrics.is_empty() || plan.picture.is_some());
    let drapes = match is_measured {
        true => fabric_drape::drapes(&shown, plan.cells, say)?,
        false => Vec::new(),
    };
    for (i, (name, fabric)) in plan.fabric.iter().zip(&fabrics).enumerate() {
        let measured = is_measured.then(|| Measured {
            lengths: WAYS.map(|(way, direction)| {
                let measured = bending_length(fabric, direction);
                if let Err(error) = &measured {
                    say.note(format_args!("{name}: bending length, {way}: {error}"));
                }
                (way, measured.ok())
            }),
            drape: &drapes[i],
        });
        if let Some(out) = &plan.out {
            write::file(out, to_toml(fabric).as_bytes())?;
            record_run(out, plan)?;
        }
        describe(name, fabric, measured.as_ref(), say)?;
    }
    match fabrics.is_empty() {
        true if is_measured => list_drapes(&shown, &drapes, say)?,
        true => list(say)?,
        false => {}
    }
    if let Some(out) = &plan.picture {
        let sheet = fabric_picture::sheet_of(&shown, &drapes, plan.cells, say)?;
        write::file(out, &sheet.png()?)?;
        record_run(out, plan)?;
    }
    Ok(Answer::Yes)
}

/// What was measured of a fabric.
struct Measured<'a> {
    lengths: [(&'static str, Option<BendingLength>); 3],
    drape: &'a Drape,
}

const WAYS: [(&str, StripDirection); 3] = [
    ("warp", StripDirection::Warp),
    ("weft", StripDirection::Weft),
    ("bias", StripDirection::Bias),
];

fn record_run(out: &Path, plan: &FabricPlan) -> anyhow::Result<()> {
    let inputs = plan.fabric.iter().map(|name| Input::of(name));
    let inputs = inputs.collect::<anyhow::Result<Vec<_>>>()?;
    record::write(&record::beside(out), "garment fabric", plan, &inputs)
}

fn list(say: &Say) -> anyhow::Result<()> {
    for preset in PRESETS {
        let data = json!({
            "name": preset.name,
            "description": preset.description,
            "source": preset.source,
        });
        let text = format!("{:<16} {}", preset.name, preset.description);
        say.result("preset", data, text)?;
    }
    Ok(())
}

fn list_drapes(fabrics: &[Fabric], drapes: &[Drape], say: &Say) -> anyhow::Result<()> {
    for (fabric, drape) in fabrics.iter().zip(drapes) {
        let data = json!({
            "name": fabric.name,
            "drape_coefficient_percent": drape.coefficient,
            "folds": drape.folds,
        });
        let text = format!("{:<16} {}", fabric.name, fabric_drape::figures(drape));
        say.result("drape", data, text)?;
    }
    Ok(())
}

fn describe(
    name: &str,
    fabric: &Fabric,
    measured: Option<&Measured<'_>>,
    say: &Say,
) -> anyhow::Result<()> {
    let preset = PRESETS.iter().find(|p| p.name == name);
    let mut data = json!({
        "name": fabric.name,
        "description": preset.map(|p| p.description),
        "source": preset.map(|p| p.source),
        "density_kg_m2": fabric.density,
        "stretch_warp_n_per_m": fabric.stretch_warp,
        "stretch_weft_n_per_m": fabric.stretch_weft,
        "stretch_coupling_n_per_m": fabric.stretch_coupling,
        "shear_n_per_m": fabric.shear,
        "bending_warp_n_m": fabric.bending_warp,
        "bending_weft_n_m": fabric.bending_weft,
        "bending_coupling_n_m": fabric.bending_coupling,
        "bending_twist_n_m": fabric.bending_twist,
        "damping_s": fabric.damping,
        "friction": fabric.friction,
        "thickness_m": fabric.thickness,
    });
    let head = match preset {
        Some(p) => format!("{}: {}\nsource: {}", fabric.name, p.description, p.source),
        None => format!("{}: from {name}", fabric.name),
    };
    let micro = |rigidity: f64| 1e6 * rigidity;
    let mut text = format!(
        "{head}\n\
         density          {:.1} g/m²\n\
         stretch          {:.0} N/m warp, {:.0} N/m weft, {:.0} N/m coupling\n\
         shear            {:.1} N/m\n\
         bending          {:.2} µN·m warp, {:.2} µN·m weft, {:.2} µN·m coupling, {:.2} µN·m twist\n\
         damping          {:.1} ms\n\
         friction         {:.2}\n\
         thickness        {:.2} mm",
        1e3 * fabric.density,
        fabric.stretch_warp,
        fabric.stretch_weft,
        fabric.stretch_coupling,
        fabric.shear,
        micro(fabric.bending_warp),
        micro(fabric.bending_weft),
        micro(fabric.bending_coupling),
        micro(fabric.bending_twist),
        1e3 * fabric.damping,
        fabric.friction,
        1e3 * fabric.thickness,
    );
    if let Some(Measured { lengths, drape }) = measured {
        for (way, c) in lengths {
            let found = c.map(|c| json!({ "measured": c.length, "formula": c.formula }));
            data["bending_length_m"][*way] = json!(found);
            let Some(c) = c else {
                continue;
            };
            text.push_str(&format!(
                "\nbending length   {:.2} cm {way}, measured on a strip ({:.2} cm by D = ρ g c³)",
                100.0 * c.length,
                100.0 * c.formula,
            ));
        }
        data["drape_coefficient_percent"] = json!(drape.coefficient);
        data["folds"] = json!(drape.folds);
        let figures = fabric_drape::figures(drape);
        text.push_str(&format!("\ndrape            {figures}, on Cusick's meter"));
    }
    say.result("fabric", data, text)
}
