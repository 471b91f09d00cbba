//! The drape of fabrics for `drapery garment fabric --drape`, and its sheet.

use std::ops::ControlFlow;

use anyhow::Context;
use drapery::core::Fabric;
use drapery::sim::{Drape, DrapeConfig, drape};
use drapery::view::picture::{
    Bounds, Camera, Colour, Image, Light, Options, Scene, SceneMesh, Size, View, render, sheet,
};
use glam::{Vec3, vec3};
use rayon::prelude::*;

use crate::say::Say;
use crate::stop;

/// Of each picture [pixels].
const SIZE: Size = Size::new(300, 250);

/// Ticks of the progress bar for each fabric.
const TICKS: u64 = 50;

/// Drapes a specimen of each fabric.
pub(crate) fn drapes(fabrics: &[Fabric], say: &Say) -> anyhow::Result<Vec<Drape>> {
    let bar = say.progress(TICKS * fabrics.len() as u64, "drapes");
    let drapes = fabrics
        .par_iter()
        .map(|fabric| {
            let config = DrapeConfig::of(fabric);
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

/// All drapes at one scale, seen aslant and from above.
pub(crate) fn sheet_of(fabrics: &[Fabric], drapes: &[Drape]) -> anyhow::Result<Image> {
    let columns = fabrics.len().clamp(1, 4);
    let mut images = Vec::new();
    let mut labels = Vec::new();
    let all: Vec<(&Fabric, &Drape)> = fabrics.iter().zip(drapes).collect();
    for (row, of_row) in all.chunks(columns).enumerate() {
        for elevation in [0.5, std::f32::consts::FRAC_PI_2] {
            for (column, (fabric, drape)) in of_row.iter().enumerate() {
                let colour = Colour::CLOTH[(row * columns + column) % Colour::CLOTH.len()];
                images.push(picture(drape, colour, elevation)?);
                labels.push(match elevation < 1.0 {
                    true => fabric.name.clone(),
                    false => figures(drape),
                });
            }
            // Rows stay rows where the last one is not full.
            while images.len() % columns != 0 {
                images.push(Image::filled(SIZE, Colour::PAPER)?);
                labels.push(String::new());
            }
        }
    }
    let title = "Discs of 30 cm on one of 18 cm, aslant and from above, with drape coefficient";
    Ok(sheet(&images, columns, &labels, title)?)
}

fn picture(drape: &Drape, colour: Colour, elevation: f32) -> anyhow::Result<Image> {
    let positions: Vec<Vec3> = drape.positions.iter().map(|p| p.as_vec3()).collect();
    let scene = Scene::default().with(SceneMesh::cloth(&drape.topology, &positions, colour));
    let view = View {
        elevation,
        ..View::from_azimuth(0.0)
    };
    let bounds = Bounds {
        low: vec3(-0.15, -0.06, -0.15),
        high: vec3(0.15, 0.0, 0.15),
    };
    let camera = Camera::framing(&bounds, view, SIZE);
    let options = Options {
        light: Light::BesideCamera {
            azimuth: -1.1,
            elevation: 0.6,
        },
        ..Options::of_size(SIZE)
    };
    Ok(render(&scene, &camera, &options)?)
}
