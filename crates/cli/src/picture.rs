//! `drapery picture`: what it looks like, without a display.

use anyhow::{bail, ensure};
use drapery::Animation;
use drapery::core::{
    BodyModel, Garment, PosedBody, PseudoNormals, ShapedBody, TriMesh, TriangleTree,
};
use drapery::runtime::Model;
use drapery::scene::character::Character;
use drapery::view::picture::{
    Camera, Colour, ColourBar, ColourMap, DEPTH_BIAS, Depth, Image, Options, Scene, SceneMesh,
    Size, Surface, View, Wireframe, animation_png, render, sheet,
};
use glam::Vec3;
use serde_json::json;

use crate::args::{ColourBy, Method, Picture, Shape};
use crate::say::Say;
use crate::stage::{Stage, Wearing, correction, read_models, stretch_percent};
use crate::{Answer, source, stop, write};

/// Height of a single picture, and of one on a sheet or in a film [pixels].
const SINGLE: u32 = 1024;
const ON_A_SHEET: u32 = 440;

pub(crate) fn run(plan: &Picture, say: &Say) -> anyhow::Result<Answer> {
    if write::check("--out", &plan.out)? != "png" {
        bail!("--out {}: a picture is written as .png", plan.out.display());
    }
    let look = Look::of(plan);
    let bytes = if !plan.bodies.is_empty() {
        of_bodies(plan, &look, say)?
    } else if plan.dressed.character.is_some() {
        let models = read_models(&plan.model)?;
        let stage = match models.is_empty() {
            false => Stage::load_for(&models, &plan.dressed, say)?,
            true => Stage::load(&plan.dressed, say)?,
        };
        of_stage(plan, &look, &stage, &models, say)?
    } else {
        let needs_body = plan.dressed.motion.is_some()
            || plan.colour.is_some()
            || plan.frame.is_some()
            || !plan.dressed.shape.shape.is_empty();
        if needs_body || plan.dressed.garment.is_empty() {
            bail!("give a --character; a --garment alone is shown as it lies in its file");
        }
        let reading = plan.dressed.pattern;
        let garments = plan
            .dressed
            .garment
            .iter()
            .map(|g| source::garment(g, reading, say));
        let garments = garments.collect::<anyhow::Result<Vec<_>>>()?;
        of_garments(plan, &look, &garments)?
    };
    write::file(&plan.out, &bytes)?;
    say.result(
        "picture",
        json!({ "file": plan.out.to_string_lossy() }),
        plan.out.display(),
    )?;
    Ok(Answer::Yes)
}

/// How pictures are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) view: View,
    pub(crate) size: Size,
    pub(crate) wireframe: bool,
    pub(crate) colour: Option<ColourBy>,
    pub(crate) colour_range: f32,
}

impl Look {
    fn of(plan: &Picture) -> Self {
        let several = plan.sheet.is_some()
            || plan.turntable.is_some()
            || plan.film
            || !plan.bodies.is_empty();
        let height = plan
            .size
            .unwrap_or(if several { ON_A_SHEET } else { SINGLE });
        // People are taller than wide, and a sheet has many of them in a row.
        let width = if several { height * 3 / 4 } else { height };
        Self {
            view: View {
                elevation: plan.elevation_deg.to_radians(),
                ..View::from_azimuth(plan.azimuth_deg.to_radians())
            },
            size: Size::new(width.max(1), height),
            wireframe: plan.wireframe,
            colour: plan.colour,
            colour_range: plan.colour_range,
        }
    }
}

impl Look {
    /// The picture with the scale of its colours beside it, if it has any.
    fn with_scale(&self, image: &Image) -> anyhow::Result<Image> {
        Ok(match self.colour {
            Some(quantity) => self.bar(quantity).beside(image)?,
            None => image.clone(),
        })
    }

    /// The scale of a quantity.
    fn bar(&self, quantity: ColourBy) -> ColourBar {
        let (label, unit) = match quantity {
            ColourBy::Stretch => ("stretch", "%"),
            ColourBy::Distance => ("distance from body", "mm"),
        };
        ColourBar {
            map: ColourMap::Diverging,
            range: (-self.colour_range, self.colour_range),
            label: label.to_string(),
            unit: unit.to_string(),
        }
    }
}

/// One character in several shapes, all at one scale.
fn of_bodies(plan: &Picture, look: &Look, say: &Say) -> anyhow::Result<Vec<u8>> {
    let Some(name) = &plan.dressed.character else {
        bail!("--bodies: give a --character; mannequin is built in");
    };
    let model = source::character(name, say)?;
    let mut bodies = Vec::new();
    for text in &plan.bodies {
        let settings = text.split(',').filter(|s| *s != "0").map(str::to_string);
        let shape = Shape {
            shape: settings.collect(),
        };
        let body = source::shaped_by("--bodies", &model, &shape, say);
        bodies.push(body?);
    }
    if !plan.dressed.garment.is_empty() {
        return of_wardrobe(plan, look, &model, &bodies, say);
    }
    let bodies: Vec<Vec<Vec3>> = bodies.into_iter().map(|b| b.rest).collect();
    let camera = Camera::framing_points(bodies.iter().flatten().copied(), look.view, look.size);
    let options = Options::of_size(look.size);
    let mut images = Vec::new();
    for rest in &bodies {
        stop::check()?;
        let mut body = SceneMesh::body(model.topology(), rest);
        if look.wireframe {
            body = body.with_wireframe(Wireframe::default());
        }
        images.push(render(&Scene::on_floor().with(body), &camera, &options)?);
    }
    let labels: Vec<String> = plan.bodies.iter().map(|text| shape_label(text)).collect();
    Ok(sheet(&images, columns(images.len()), &labels, model.name())?.png()?)
}

/// A shape of a list of bodies, in words.
fn shape_label(text: &str) -> String {
    match text {
        "0" => "mean".to_string(),
        text => text.replace('=', " ").replace(',', ", "),
    }
}

/// Every garment by itself on every body, from the front and from behind.
fn of_wardrobe(
    plan: &Picture,
    look: &Look,
    model: &Character,
    bodies: &[ShapedBody],
    say: &Say,
) -> anyhow::Result<Vec<u8>> {
    let behind = View {
        azimuth: look.view.azimuth + std::f32::consts::PI,
        ..look.view
    };
    let points = || bodies.iter().flat_map(|b| b.rest.iter().copied());
    let cameras = [look.view, behind].map(|v| Camera::framing_points(points(), v, look.size));
    let options = Options::of_size(look.size);
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    let colours = Colour::CLOTH.iter().cycle();
    for (name, colour) in plan.dressed.garment.iter().zip(colours) {
        for (body, text) in bodies.iter().zip(&plan.bodies) {
            let worn = source::garment_for(name, plan.dressed.pattern, model, body, say)?;
            let mesh = worn.garment.mesh();
            labels.extend([name.clone(), shape_label(text)]);
            for camera in &cameras {
                stop::check()?;
                let scene = Scene::on_floor()
                    .with(SceneMesh::body(model.topology(), &body.rest))
                    .with(dressed_mesh(mesh, Surface::Plain(*colour), look));
                images.push(render(&scene, camera, &options)?);
            }
        }
    }
    Ok(sheet(&images, 2 * bodies.len(), &labels, model.name())?.png()?)
}

fn of_stage(
    plan: &Picture,
    look: &Look,
    stage: &Stage,
    models: &[Model],
    say: &Say,
) -> anyhow::Result<Vec<u8>> {
    let n_frames = stage.clip.frames().len();
    ensure!(
        plan.cloth.fabric.is_empty() || plan.method == Method::Simulation,
        "--fabric is for --method simulation: skinned cloth is the same in any"
    );
    let fabrics = source::fabrics(&plan.cloth, &plan.dressed.garment, say)?;
    let wearing = match models.is_empty() {
        false => Wearing::Models(models, correction(plan.no_correct)),
        true => Wearing::by(plan.method, &fabrics),
    };
    let animation = stage.animate_by(wearing, say)?;
    if plan.film {
        let frames: Vec<usize> = (0..n_frames).collect();
        let images = pictures(&animation, &frames, look, say)?;
        let images = images.iter().map(|image| look.with_scale(image));
        let images = images.collect::<anyhow::Result<Vec<_>>>()?;
        return Ok(animation_png(&images, stage.clip.frame_rate())?);
    }
    let image = if let Some(n) = plan.turntable {
        turntable(&animation, stage.place(plan.frame)?, n, look)?
    } else if let Some(n) = plan.sheet {
        contact_sheet(&animation, stage.first_frame, n as usize, look, "", say)?
    } else {
        pictures(&animation, &[stage.place(plan.frame)?], look, say)?.remove(0)
    };
    Ok(look.with_scale(&image)?.png()?)
}

fn of_garments(plan: &Picture, look: &Look, garments: &[Garment]) -> anyhow::Result<Vec<u8>> {
    let mut scene = Scene::on_floor();
    for (garment, colour) in garments.iter().zip(Colour::CLOTH.iter().cycle()) {
        let mesh = garment.mesh();
        scene = scene.with(dressed_mesh(mesh, Surface::Plain(*colour), look));
    }
    let options = Options::of_size(look.size);
    if let Some(n) = plan.turntable {
        let n = n.max(1) as usize;
        let cameras = Camera::turntable(scene.points(), n, look.view, look.size);
        let images = cameras.iter().map(|c| render(&scene, c, &options));
        let images = images.collect::<Result<Vec<_>, _>>()?;
        return Ok(sheet(&images, columns(n), &angles(n, look), "")?.png()?);
    }
    let camera = Camera::framing_points(scene.points(), look.view, look.size);
    Ok(render(&scene, &camera, &options)?.png()?)
}

/// Evenly spaced frames of an animation on one sheet, the camera following;
/// labels count from `first_frame`.
pub(crate) fn contact_sheet(
    animation: &Animation<'_>,
    first_frame: usize,
    n: usize,
    look: &Look,
    title: &str,
    say: &Say,
) -> anyhow::Result<Image> {
    let n_frames = animation.clip.frames().len();
    let n = n.clamp(1, n_frames);
    let frames: Vec<usize> = (0..n)
        .map(|i| {
            if n == 1 {
                0
            } else {
                i * (n_frames - 1) / (n - 1)
            }
        })
        .collect();
    let images = pictures(animation, &frames, look, say)?;
    let labels: Vec<String> = frames
        .iter()
        .map(|f| format!("frame {}", first_frame + f))
        .collect();
    Ok(sheet(&images, columns(n), &labels, title)?)
}

/// A picture of each of `frames`.
pub(crate) fn pictures(
    animation: &Animation<'_>,
    frames: &[usize],
    look: &Look,
    say: &Say,
) -> anyhow::Result<Vec<Image>> {
    // All vertices of all frames, for a camera that neither jumps nor cuts off.
    let mut posed = animation.character.room();
    let mut points = Vec::new();
    for &frame in frames {
        animation.pose_body(frame, &mut posed)?;
        let mut all = posed.vertices.clone();
        all.extend(animation.garments.iter().flat_map(|g| &g.frames[frame]));
        points.push((all, posed.pose.root));
    }
    let seen: Vec<(&[Vec3], Vec3)> = points
        .iter()
        .map(|(p, root)| (p.as_slice(), *root))
        .collect();
    let cameras = Camera::following(&seen, look.view, look.size);
    let progress = say.progress(frames.len() as u64, "pictures");
    let mut images = Vec::new();
    for (&frame, camera) in frames.iter().zip(&cameras) {
        stop::check()?;
        animation.pose_body(frame, &mut posed)?;
        images.push(one(animation, frame, &posed, camera, look)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(images)
}

fn turntable(
    animation: &Animation<'_>,
    frame: usize,
    n: u32,
    look: &Look,
) -> anyhow::Result<Image> {
    let n = n.max(1) as usize;
    let mut posed = animation.character.room();
    animation.pose_body(frame, &mut posed)?;
    let cloth = animation.garments.iter().flat_map(|g| &g.frames[frame]);
    let points: Vec<Vec3> = posed.vertices.iter().chain(cloth).copied().collect();
    let cameras = Camera::turntable(points, n, look.view, look.size);
    let images = cameras
        .iter()
        .map(|camera| one(animation, frame, &posed, camera, look));
    let images = images.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(sheet(&images, columns(n), &angles(n, look), "")?)
}

/// One picture of one frame.
fn one(
    animation: &Animation<'_>,
    frame: usize,
    posed: &PosedBody,
    camera: &Camera,
    look: &Look,
) -> anyhow::Result<Image> {
    let topology = animation.seen_body();
    let mut body = SceneMesh::body(&topology, &posed.vertices);
    if let Some(is_under) = &animation.is_under {
        body = body.with_depth(Depth::Skin { is_under });
    }
    if animation.garments.is_empty() && look.wireframe {
        body = body.with_wireframe(Wireframe::default());
    }
    let mut scene = Scene::on_floor().with(body);
    let mut draped = Vec::new();
    for baked in &animation.garments {
        let mesh = baked
            .garment
            .mesh()
            .with_positions(baked.frames[frame].clone())?;
        let values = match look.colour {
            Some(ColourBy::Stretch) => stretch_percent(baked.garment, &mesh),
            Some(ColourBy::Distance) => distances_mm(animation.character, posed, &mesh),
            None => Vec::new(),
        };
        draped.push((mesh, values));
    }
    for ((mesh, values), colour) in draped.iter().zip(Colour::CLOTH.iter().cycle()) {
        let surface = match look.colour {
            Some(quantity) => {
                let bar = look.bar(quantity);
                Surface::Values {
                    values,
                    range: bar.range,
                    map: bar.map,
                }
            }
            None => Surface::Plain(*colour),
        };
        let cloth = dressed_mesh(mesh, surface, look);
        let epsilon = DEPTH_BIAS;
        scene = scene.with(match animation.is_under {
            Some(_) => cloth.with_depth(Depth::Cloth { epsilon }),
            None => cloth,
        });
    }
    Ok(render(&scene, camera, &Options::of_size(look.size))?)
}

fn dressed_mesh<'a>(mesh: &'a TriMesh, surface: Surface<'a>, look: &Look) -> SceneMesh<'a> {
    let cloth =
        SceneMesh::cloth(mesh.topology(), mesh.positions(), Colour::BLUE).with_surface(surface);
    if look.wireframe {
        cloth.with_wireframe(Wireframe::default())
    } else {
        cloth
    }
}

/// Signed distance of every vertex from the body, negative inside [mm].
fn distances_mm(character: &Character, posed: &PosedBody, mesh: &TriMesh) -> Vec<f32> {
    let triangles = character.topology().triangles();
    let tree = TriangleTree::new(triangles, &posed.vertices);
    let normals = PseudoNormals::new(triangles, &posed.vertices);
    mesh.positions()
        .iter()
        .map(|p| {
            let found = tree.closest_point(*p, &posed.vertices, f32::INFINITY);
            found.map_or(0.0, |c| {
                let outside = (*p - c.point).dot(normals.at(&c)) >= 0.0;
                1000.0 * if outside { c.distance } else { -c.distance }
            })
        })
        .collect()
}

/// Columns of a sheet of `n` pictures: at most six, rows as full as can be.
fn columns(n: usize) -> usize {
    n.div_ceil(n.div_ceil(6).max(1)).max(1)
}

fn angles(n: usize, look: &Look) -> Vec<String> {
    let start = look.view.azimuth.to_degrees();
    let angle = |i: usize| (start + 360.0 * i as f32 / n as f32).rem_euclid(360.0);
    (0..n).map(|i| format!("{:.0}°", angle(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheets_have_full_rows() {
        assert_eq!([1, 4, 6, 7, 8, 12, 13].map(columns), [1, 4, 6, 4, 4, 6, 5]);
    }
}
