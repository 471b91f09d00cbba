//! The sheet of `drapery garment fabric --picture`: a strip, a draped disc and
//! a hanging cloth of each fabric, beside each other at the same scale.

use std::ops::ControlFlow;

use anyhow::Context;
use drapery::core::{Fabric, TriMesh};
use drapery::sim::{
    Drape, HangingCloth, Specimen, SpecimenError, StripDirection, StripOverEdge, bending_length,
};
use drapery::view::picture::{
    Bounds, Camera, Colour, Image, Light, Options, Scene, SceneMesh, Size, View, render, sheet,
};
use glam::{Vec3, vec3};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde_json::json;

use crate::say::Say;
use crate::stop;

/// The most pictures in a row.
const COLUMNS: usize = 8;

/// Ticks of the progress bar for each specimen.
const TICKS: u64 = 50;

/// What is seen of a fabric.
#[derive(Clone, Copy)]
enum Scenes {
    Strip,
    Disc,
    DiscFromAbove,
    Cloth,
}

const SCENES: [Scenes; 4] = [
    Scenes::Strip,
    Scenes::Disc,
    Scenes::DiscFromAbove,
    Scenes::Cloth,
];

/// What is shown of a fabric.
struct Shown {
    specimen: Specimen,
    /// What stands below it beside the fabric's name.
    figure: String,
    /// What is said of it.
    data: serde_json::Value,
}

/// Lets specimens of all fabrics come to rest and draws them beside their
/// drapes.
pub(crate) fn sheet_of(
    fabrics: &[Fabric],
    drapes: &[Drape],
    cells: Option<u32>,
    say: &Say,
) -> anyhow::Result<Image> {
    let jobs: Vec<(Scenes, &Fabric, &Drape)> = SCENES
        .into_iter()
        .flat_map(|scene| {
            let both = fabrics.iter().zip(drapes);
            both.map(move |(fabric, drape)| (scene, fabric, drape))
        })
        .collect();
    let cells = cells.unwrap_or(HangingCloth::default().cells);
    let bar = say.progress(TICKS * jobs.len() as u64, "specimens");
    let shown = jobs
        .par_iter()
        .map(|(scene, fabric, drape)| {
            let shown = scene.at_rest(fabric, drape, cells, &bar);
            stop::check()?;
            shown.with_context(|| format!("cannot show {}", fabric.name))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    bar.finish_and_clear();
    let mut rows = Vec::new();
    for (scene, row) in SCENES.into_iter().zip(shown.chunks(fabrics.len())) {
        let mut images = Vec::new();
        let mut labels = Vec::new();
        for (i, (shown, fabric)) in row.iter().zip(fabrics).enumerate() {
            if !shown.specimen.at_rest {
                say.note(format_args!(
                    "{}: {} is not quite at rest",
                    fabric.name,
                    scene.name()
                ));
            }
            let n_crossings = shown.specimen.self_crossings();
            if n_crossings > 0 {
                let (name, what) = (&fabric.name, scene.name());
                say.note(format_args!(
                    "{name}: {what} passes through itself in {n_crossings} places"
                ));
            }
            images.push(scene.draw(&shown.specimen, Colour::CLOTH[i % Colour::CLOTH.len()])?);
            labels.push(format!("{} {}", fabric.name, shown.figure));
        }
        rows.push(sheet(&images, COLUMNS, &labels, scene.title())?);
    }
    for (i, fabric) in fabrics.iter().enumerate() {
        let [strip, disc, _, cloth] = [0, 1, 2, 3].map(|row| &shown[row * fabrics.len() + i]);
        let data = json!({
            "name": fabric.name,
            "strip": strip.data,
            "disc": disc.data,
            "cloth": cloth.data,
        });
        let text = format!(
            "{}: bending length {}, drape {}",
            fabric.name, strip.figure, disc.figure
        );
        say.result("specimen", data, text)?;
    }
    below_each_other(&rows)
}

/// Sheets below each other.
fn below_each_other(rows: &[Image]) -> anyhow::Result<Image> {
    let width = rows.iter().map(Image::width).max().unwrap_or(1);
    let height = rows.iter().map(Image::height).sum();
    let mut all = Image::filled(Size::new(width, height), Colour::PAPER)?;
    let mut top = 0;
    for row in rows {
        all.paste(row, 0, top);
        top += row.height();
    }
    Ok(all)
}

impl Scenes {
    const fn name(self) -> &'static str {
        match self {
            Self::Strip => "the strip",
            Self::Disc | Self::DiscFromAbove => "the disc",
            Self::Cloth => "the hanging cloth",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Strip => "Strips along the warp, 6 cm over an edge, with their bending length",
            Self::Disc => "Discs of 30 cm on one of 18 cm, with their drape coefficient",
            Self::DiscFromAbove => "The same from above, with their folds",
            Self::Cloth => "Cloths of 30 cm by two corners 21 cm apart",
        }
    }

    fn at_rest(
        self,
        fabric: &Fabric,
        drape: &Drape,
        cells: u32,
        bar: &ProgressBar,
    ) -> anyhow::Result<Shown> {
        let mut ticks = 0;
        let tick = |share: f64| {
            let now = (share * TICKS as f64) as u64;
            bar.inc(now.saturating_sub(ticks));
            ticks = ticks.max(now);
            match stop::asked() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let shown = self.show(fabric, drape, cells, tick)?;
        bar.inc(TICKS - ticks);
        Ok(shown)
    }

    fn show(
        self,
        fabric: &Fabric,
        drape: &Drape,
        cells: u32,
        go_on: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Shown, SpecimenError> {
        let cloth = HangingCloth {
            cells,
            ..HangingCloth::default()
        };
        Ok(match self {
            Self::Strip => {
                let plan = StripOverEdge {
                    cells: (cells / 2).max(8),
                    ..StripOverEdge::default()
                };
                let specimen = plan.at_rest(fabric)?;
                let tip = specimen.positions[plan.cells as usize];
                let length = bending_length(fabric, StripDirection::Warp).ok();
                Shown {
                    figure: length.map_or("unknown".to_string(), |c| {
                        format!("{:.2} cm", 100.0 * c.length)
                    }),
                    data: json!({
                        "reach_m": tip.x, "drop_m": -tip.y, "at_rest": specimen.at_rest,
                        "bending_length_m": length.map(|c| c.length),
                    }),
                    specimen,
                }
            }
            Self::Disc | Self::DiscFromAbove => Shown {
                figure: match self {
                    Self::Disc => format!("{:.0} %", drape.coefficient),
                    _ => drape.folds.to_string(),
                },
                data: json!({
                    "drape_coefficient": drape.coefficient / 100.0,
                    "folds": drape.folds,
                    "self_crossings": drape.crossings,
                }),
                specimen: Specimen {
                    topology: drape.topology.clone(),
                    positions: drape.positions.clone(),
                    at_rest: drape.is_at_rest,
                },
            },
            Self::Cloth => {
                let specimen = cloth.at_rest(fabric, go_on)?;
                let low = specimen.positions.iter().map(|p| p.y);
                Shown {
                    figure: String::new(),
                    data: json!({
                        "lowest_m": low.fold(f64::INFINITY, f64::min),
                        "at_rest": specimen.at_rest,
                        "self_crossings": specimen.self_crossings(),
                    }),
                    specimen,
                }
            }
        })
    }

    fn draw(self, specimen: &Specimen, colour: Colour) -> anyhow::Result<Image> {
        let positions: Vec<Vec3> = specimen.positions.iter().map(|p| p.as_vec3()).collect();
        let mut scene =
            Scene::default().with(SceneMesh::cloth(&specimen.topology, &positions, colour));
        let (table, lying) = (table()?, lying()?);
        if let Self::Strip = self {
            scene = scene
                .with(SceneMesh::cloth(table.topology(), table.positions(), TABLE))
                .with(SceneMesh::cloth(
                    lying.topology(),
                    lying.positions(),
                    colour,
                ));
        }
        let look = self.look();
        let camera = Camera::framing(&look.bounds, look.view, look.size);
        let options = Options {
            light: look.light,
            ..Options::of_size(look.size)
        };
        Ok(render(&scene, &camera, &options)?)
    }

    /// How all specimens of a scene are looked at.
    fn look(self) -> Look {
        let from_left = Light::BesideCamera {
            azimuth: -1.1,
            elevation: 0.6,
        };
        let view = |azimuth, elevation| View {
            elevation,
            ..View::from_azimuth(azimuth)
        };
        match self {
            Self::Strip => Look {
                view: view(0.3, 0.2),
                bounds: Bounds {
                    low: vec3(-0.02, -0.06, -0.015),
                    high: vec3(0.055, 0.0, 0.015),
                },
                light: Light::BesideCamera {
                    azimuth: 0.7,
                    elevation: 0.7,
                },
                size: Size::new(WIDTH, 200),
            },
            Self::Disc => Look {
                view: view(0.0, 0.6),
                bounds: Bounds {
                    low: vec3(-0.13, -0.065, -0.13),
                    high: vec3(0.13, 0.0, 0.13),
                },
                light: from_left,
                size: Size::new(WIDTH, 170),
            },
            Self::DiscFromAbove => Look {
                view: view(0.0, std::f32::consts::FRAC_PI_2),
                bounds: Bounds {
                    low: vec3(-0.15, -0.065, -0.15),
                    high: vec3(0.15, 0.0, 0.15),
                },
                light: from_left,
                size: Size::new(WIDTH, 230),
            },
            Self::Cloth => Look {
                view: view(0.3, 0.17),
                bounds: Bounds {
                    low: vec3(-0.14, -0.33, -0.05),
                    high: vec3(0.14, 0.0, 0.07),
                },
                light: from_left,
                size: Size::new(WIDTH, 260),
            },
        }
    }
}

/// How a scene is looked at.
struct Look {
    view: View,
    bounds: Bounds,
    light: Light,
    size: Size,
}

/// Width of each picture [pixels].
const WIDTH: u32 = 230;

/// The colour of the table.
const TABLE: Colour = Colour::rgb(168, 164, 158);

/// The part of a strip that lies on the table.
fn lying() -> anyhow::Result<TriMesh> {
    let half = 0.5 * StripOverEdge::default().width as f32;
    let corners = [(-0.02, half), (0.0, half), (0.0, -half), (-0.02, -half)];
    let positions = corners.map(|(x, z)| vec3(x, 0.0, z)).to_vec();
    Ok(TriMesh::new(positions, vec![[0, 1, 2], [0, 2, 3]])?)
}

/// The table that a strip is held on, up to the edge at the origin.
fn table() -> anyhow::Result<TriMesh> {
    let (low, high) = (vec3(-0.02, -0.008, -0.02), vec3(0.0, -0.0002, 0.02));
    let corners = (Bounds { low, high }).corners();
    // Corners count x first, then y, then z.
    let sides = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    // Each side has corners of its own, so that its edges stay sharp.
    let positions = sides.iter().flatten().map(|c| corners[*c]).collect();
    let triangles = (0..6).flat_map(|s| {
        let a = 4 * s;
        [[a, a + 1, a + 2], [a, a + 2, a + 3]]
    });
    Ok(TriMesh::new(positions, triangles.collect())?)
}
