//! Pictures of methods beside the simulation, coloured by how far they are off.

use drapery::core::{BodyModel, Topology};
use drapery::eval::SeenFrame;
use drapery::runtime::HiddenSkin;
use drapery::scene::character::Character;
use drapery::view::picture::{
    Camera, Colour, ColourBar, ColourMap, DEPTH_BIAS, Depth, Image, Options, Scene, SceneMesh,
    Size, Surface, View, render, sheet,
};
use glam::Vec3;

/// The most sequences that are shown, and frames of each.
const SHOWN: usize = 6;
const FRAMES: u32 = 2;
const SIZE: Size = Size::new(270, 360);

/// A frame that is kept for a picture.
pub(crate) struct Shot {
    pub(crate) frame: u32,
    skin: Vec<Vec3>,
    simulated: Vec<Vec3>,
    found: Vec<Vec<Vec3>>,
}

impl Shot {
    /// Whether a sequence is one of those that are shown.
    pub(crate) const fn is_of(sequence: usize, n_sequences: usize) -> bool {
        sequence.is_multiple_of(n_sequences.div_ceil(SHOWN))
    }

    /// Whether a frame is: evenly spaced, not the first.
    pub(crate) fn is_at(seen: &SeenFrame<'_>) -> bool {
        (1..=FRAMES).any(|i| seen.frame == (seen.n_frames - 1) * i / FRAMES)
    }

    /// A frame of which only the body is known.
    pub(crate) const fn new(frame: u32, skin: Vec<Vec3>) -> Self {
        Self {
            frame,
            skin,
            simulated: Vec::new(),
            found: Vec::new(),
        }
    }

    /// One method more.
    pub(crate) fn add(&mut self, simulated: &[Vec3], found: &[Vec3]) {
        self.simulated = simulated.to_vec();
        self.found.push(found.to_vec());
    }

    /// Changes what every method makes of it, given the body.
    pub(crate) fn correct<E>(
        &mut self,
        mut change: impl FnMut(&[Vec3], &mut [Vec3]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut all = self.found.iter_mut();
        all.try_for_each(|cloth| change(&self.skin, cloth))
    }

    pub(crate) fn skin(&self) -> &[Vec3] {
        &self.skin
    }

    pub(crate) fn simulated(&self) -> &[Vec3] {
        &self.simulated
    }

    /// What a method makes of it.
    pub(crate) fn found(&self, method: usize) -> Option<&[Vec3]> {
        self.found.get(method).map(Vec::as_slice)
    }

    /// The mean distance of a vertex of each method [cm].
    pub(crate) fn errors_cm(&self) -> Vec<f64> {
        let mean = |found: &Vec<Vec3>| {
            let both = found.iter().zip(&self.simulated);
            let sum: f64 = both.map(|(a, b)| f64::from(a.distance(*b))).sum();
            100.0 * sum / found.len().max(1) as f64
        };
        self.found.iter().map(mean).collect()
    }

    pub(crate) fn of(seen: &SeenFrame<'_>) -> Self {
        Self {
            frame: seen.frame,
            skin: seen.skin.to_vec(),
            simulated: seen.simulated.to_vec(),
            found: seen.found.iter().map(|found| found.to_vec()).collect(),
        }
    }
}

/// A body and what it wears, drawn so that cloth a little beneath the skin covers it.
pub(crate) fn biased<'a>(
    (body, cloth): (SceneMesh<'a>, SceneMesh<'a>),
    is_under: Option<&'a [bool]>,
) -> (SceneMesh<'a>, SceneMesh<'a>) {
    let epsilon = DEPTH_BIAS;
    match is_under {
        Some(is_under) => (
            body.with_depth(Depth::Skin { is_under }),
            cloth.with_depth(Depth::Cloth { epsilon }),
        ),
        None => (body, cloth),
    }
}

/// The simulation and every method in a row for each shot, hot where the error is
/// large, with a scale from 0 to `range_cm`. Skin that a model's garment always
/// hides is not drawn; before skin that `is_under` it, cloth is drawn as in §6.2 of
/// Stable Spaces.
pub(crate) fn picture(
    character: &Character,
    garment: &Topology,
    names: &[(&str, Option<&HiddenSkin>)],
    is_under: Option<&[bool]>,
    shots: &[Shot],
    range_cm: f32,
) -> anyhow::Result<Image> {
    let map = ColourMap::Ember;
    let range = (0.0, range_cm);
    let mut images = Vec::new();
    let mut labels = Vec::new();
    let whole = character.topology();
    let bodies: Vec<Topology> = (names.iter())
        .map(|(_, hidden)| hidden.map_or_else(|| whole.clone(), |h| h.seen(whole)))
        .collect();
    for shot in shots {
        let scene = Scene::on_floor();
        let body = SceneMesh::body(whole, &shot.skin);
        let all = shot.skin.iter().chain(&shot.simulated).copied();
        let camera = Camera::framing_points(all, View::three_quarter(), SIZE);
        let options = Options::of_size(SIZE);
        let simulated = SceneMesh::cloth(garment, &shot.simulated, Colour::BLUE);
        let (body, simulated) = biased((body, simulated), is_under);
        images.push(render(
            &scene.clone().with(body).with(simulated),
            &camera,
            &options,
        )?);
        labels.push(format!("simulation, frame {}", shot.frame));
        for (((name, _), seen), found) in names.iter().zip(&bodies).zip(&shot.found) {
            let both = found.iter().zip(&shot.simulated);
            let values: Vec<f32> = both.map(|(p, q)| 100.0 * p.distance(*q)).collect();
            let mesh = SceneMesh::cloth(garment, found, Colour::BLUE);
            let values = &values;
            let mesh = mesh.with_surface(Surface::Values { values, range, map });
            let (body, mesh) = biased((SceneMesh::body(seen, &shot.skin), mesh), is_under);
            let scene = scene.clone().with(body).with(mesh);
            images.push(render(&scene, &camera, &options)?);
            labels.push((*name).to_string());
        }
    }
    let all = sheet(&images, names.len() + 1, &labels, "")?;
    let bar = ColourBar {
        map,
        range,
        label: "error".into(),
        unit: "cm".into(),
    };
    Ok(bar.beside(&all)?)
}
