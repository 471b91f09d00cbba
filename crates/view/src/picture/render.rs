//! From a scene to an image.
//!
//! 1. Every pixel has four samples on a turned square; triangles are filled
//!    into them, the nearest wins.
//! 2. The nearest sample of each pixel gives a depth and a normal, from which
//!    ambient occlusion and shadow are taken, a little differently in each pixel
//!    of a 4 × 4 pattern.
//! 3. Each triangle seen in a pixel is shaded once, in the middle of its
//!    samples, with the mean of step 2 over the 4 × 4 pixels around that lie on
//!    the same surface.
//!
//! The work is split into bands of rows; nothing depends on the threads.

use glam::{Vec2, Vec3};

use super::camera::{Camera, Size};
use super::colour::{Colour, Encoder};
use super::colour_map::look_up;
use super::floor::Floor;
use super::image::Image;
use super::occlusion::{DepthView, RADIUS};
use super::options::{Options, Shading};
use super::parallel::{for_each, thread_count};
use super::project::Geometry;
use super::raster::{Bins, SUBPIXELS};
use super::scene::{Background, MAX_SIDE, Scene, SceneError, Surface};
use super::shade::{Lamps, Visibility};
use super::shadow::ShadowMap;
use super::surface::SurfacePoint;

/// Samples of a pixel [1/256 pixel from its centre]: a square turned by 27°, so
/// that nearly level and nearly upright edges have four steps.
const SAMPLES: [(i32, i32); N_SAMPLES] = [(-32, -96), (96, -32), (-96, 32), (32, 96)];
const N_SAMPLES: usize = 4;

/// Rows of pixels that are worked on at once.
const BAND: usize = 16;

/// The number of the floor among the triangles.
const FLOOR: u32 = u32::MAX;

/// The nearest thing at each sample of a pixel: bits of 1/depth above the
/// complement of the triangle's number, so that the larger is the nearer and,
/// among equals, the first; 0 is the background.
type Coverage = [u64; N_SAMPLES];

/// Draws a scene.
///
/// # Errors
/// When the scene has an array of wrong length or a number that is not finite,
/// or the picture's size is zero or too large.
pub fn render(scene: &Scene, camera: &Camera, options: &Options) -> Result<Image, SceneError> {
    let size = options.size;
    let sides = 1..=MAX_SIDE;
    if !sides.contains(&size.width) || !sides.contains(&size.height) {
        return Err(SceneError::BadSize { size });
    }
    if !(camera.eye.is_finite() && camera.focal(size).is_finite()) {
        return Err(SceneError::BadCamera);
    }
    scene.check()?;
    let n_threads = thread_count(options.threads);
    let frame = Frame::new(scene, camera, options);
    let (coverage, texels) = frame.cover(camera, n_threads);
    let depths = DepthView {
        texels: &texels,
        width: size.width as i32,
        height: size.height as i32,
        focal: frame.focal,
    };
    let seen = match options.shading {
        Shading::Flat => Vec::new(),
        Shading::Studio => frame.see(&coverage, &depths, n_threads),
    };
    let rgb8 = frame.resolve(&coverage, &depths, &seen, n_threads);
    Ok(Image::from_parts(size, rgb8))
}

/// All that the passes share.
struct Frame<'a> {
    scene: &'a Scene<'a>,
    size: Size,
    focal: f32,
    geometry: Geometry,
    floor: Option<Floor>,
    lamps: Lamps,
    skins: Vec<Skin>,
    /// Low and high floor coordinates of what stands near the floor [m].
    footprint: (Vec2, Vec2),
}

/// A mesh's colours in linear light.
enum Skin {
    Plain { front: Vec3, back: Vec3 },
    Table(Vec<Vec3>),
}

impl<'a> Frame<'a> {
    fn new(scene: &'a Scene<'a>, camera: &Camera, options: &Options) -> Self {
        let focal = camera.focal(options.size);
        let geometry = Geometry::new(scene, camera);
        let floor = scene
            .floor
            .and_then(|height| Floor::new(height, camera, focal));
        let footprint = floor
            .as_ref()
            .map_or((Vec2::INFINITY, Vec2::NEG_INFINITY), |floor| {
                floor.footprint(&geometry.positions, RADIUS)
            });
        let skins = scene
            .meshes
            .iter()
            .map(|mesh| match mesh.surface {
                Surface::Plain(colour) => Skin::Plain {
                    front: colour.linear(),
                    back: inside_of(colour.linear()),
                },
                Surface::Values { map, .. } => Skin::Table(map.table()),
            })
            .collect();
        Self {
            scene,
            size: options.size,
            focal,
            geometry,
            floor,
            lamps: Lamps::new(options, camera),
            skins,
            footprint,
        }
    }

    /// The ray with z = −1 through a place on the screen [pixels].
    #[inline]
    fn ray(&self, x: f32, y: f32) -> Vec3 {
        Vec3::new(
            (x - 0.5 * self.size.width as f32) / self.focal,
            (0.5 * self.size.height as f32 - y) / self.focal,
            -1.0,
        )
    }

    /// Step 1: what each sample sees, and each pixel's 1/depth and normal.
    fn cover(&self, camera: &Camera, n_threads: usize) -> (Vec<Coverage>, Vec<[f32; 4]>) {
        let triangles = self.geometry.on_screen(self.scene, camera, self.size);
        let bins = Bins::new(&triangles, self.size.height, BAND as u32);
        let width = self.size.width as usize;
        let n_pixels = width * self.size.height as usize;
        let mut coverage = vec![[0_u64; N_SAMPLES]; n_pixels];
        let mut texels = vec![[0_f32; 4]; n_pixels];
        let bands = coverage
            .chunks_mut(width * BAND)
            .zip(texels.chunks_mut(width * BAND))
            .enumerate();
        for_each(bands, n_threads, |(band, (coverage, texels))| {
            let top = band * BAND;
            let rows = (top as i32, (top + coverage.len() / width) as i32);
            if let Some(floor) = &self.floor {
                for (i, pixel) in coverage.iter_mut().enumerate() {
                    let (x, y) = (i % width, top + i / width);
                    for (sample, (dx, dy)) in pixel.iter_mut().zip(SAMPLES) {
                        let ray = self.ray(place(x, dx), place(y, dy));
                        *sample = key(floor.nearness(ray).max(0.0), FLOOR);
                    }
                }
            }
            for t in bins.band(band) {
                let triangle = &triangles[*t as usize];
                let id = triangle.id;
                triangle.fill(width as i32, rows, &SAMPLES, |pixel, sample, nearness| {
                    let nearest = &mut coverage[pixel][sample];
                    *nearest = (*nearest).max(key(nearness, id));
                });
            }
            for (i, (pixel, texel)) in coverage.iter().zip(texels).enumerate() {
                let (nearest, sample) = (0..N_SAMPLES)
                    .map(|k| (pixel[k], k))
                    .max_by_key(|(key, _)| *key)
                    .unwrap_or_default();
                let nearness = nearness_of(nearest);
                if nearness <= 0.0 {
                    continue;
                }
                let (x, y) = (i % width, top + i / width);
                let normal = match (id_of(nearest), &self.floor) {
                    (FLOOR, Some(floor)) => floor.up,
                    (FLOOR, None) => Vec3::Z,
                    (id, _) => {
                        let (dx, dy) = SAMPLES[sample];
                        let ray = self.ray(place(x, dx), place(y, dy));
                        SurfacePoint::on_ray(&self.geometry, id, ray).normal
                    }
                };
                *texel = [nearness, normal.x, normal.y, normal.z];
            }
        });
        (coverage, texels)
    }

    /// Step 2: how open each pixel is, to the sky and to the key light.
    fn see(&self, coverage: &[Coverage], depths: &DepthView, n_threads: usize) -> Vec<Visibility> {
        let map_side = self
            .size
            .width
            .max(self.size.height)
            .next_power_of_two()
            .saturating_mul(2)
            .clamp(512, 2048);
        let shadows = ShadowMap::new(&self.geometry, self.lamps.key, map_side, n_threads);
        let width = self.size.width as usize;
        let mut seen = vec![Visibility::CLEAR; coverage.len()];
        let bands = seen.chunks_mut(width * BAND).enumerate();
        for_each(bands, n_threads, |(band, seen)| {
            for (i, seen) in seen.iter_mut().enumerate() {
                let at = band * BAND * width + i;
                let [nearness, nx, ny, nz] = depths.texels[at];
                if nearness <= 0.0 {
                    continue;
                }
                let (x, y) = ((at % width) as i32, (at / width) as i32);
                let normal = Vec3::new(nx, ny, nz);
                let point = depths.point(x, y, nearness);
                let (turn, jitter) = pattern(x, y);
                let is_floor = coverage[at].iter().all(|key| id_of(*key) == FLOOR);
                if is_floor && !self.floor_is_busy(point) {
                    seen.open = 1.0;
                } else {
                    seen.open = depths.openness((x, y), point, normal, (turn, jitter));
                }
                if let Some(shadows) = &shadows {
                    seen.lit = shadows.light_at(point, normal, jitter);
                }
            }
        });
        seen
    }

    /// Whether anything stands near a point of the floor.
    fn floor_is_busy(&self, point: Vec3) -> bool {
        self.floor.as_ref().is_some_and(|floor| {
            let place = floor.coordinates(point);
            place.cmpge(self.footprint.0).all() && place.cmple(self.footprint.1).all()
        })
    }

    /// Step 3: the colours.
    fn resolve(
        &self,
        coverage: &[Coverage],
        depths: &DepthView,
        seen: &[Visibility],
        n_threads: usize,
    ) -> Vec<u8> {
        let width = self.size.width as usize;
        let encoder = Encoder::get();
        let mut rgb8 = vec![0_u8; coverage.len() * 3];
        let bands = rgb8.chunks_mut(width * 3 * BAND).enumerate();
        for_each(bands, n_threads, |(band, rgb8)| {
            for (row, rgb8) in rgb8.chunks_mut(width * 3).enumerate() {
                let y = band * BAND + row;
                let background = self.background(y);
                let plain = Colour::from_linear(background);
                for (x, rgb) in rgb8.chunks_mut(3).enumerate() {
                    let samples = &coverage[y * width + x];
                    if samples.iter().all(|key| *key == 0) {
                        rgb.copy_from_slice(&[plain.r, plain.g, plain.b]);
                        continue;
                    }
                    let light = self.pixel((x, y), samples, background, depths, seen);
                    for (code, light) in rgb.iter_mut().zip(light.to_array()) {
                        *code = encoder.channel(light);
                    }
                }
            }
        });
        rgb8
    }

    fn background(&self, y: usize) -> Vec3 {
        match self.scene.background {
            Background::Plain(colour) => colour.linear(),
            Background::Gradient { top, bottom } => {
                let t = (y as f32 + 0.5) / self.size.height as f32;
                top.linear().lerp(bottom.linear(), t)
            }
        }
    }

    /// The light of a pixel: each thing seen in it once, by its samples.
    fn pixel(
        &self,
        (x, y): (usize, usize),
        samples: &Coverage,
        background: Vec3,
        depths: &DepthView,
        seen: &[Visibility],
    ) -> Vec3 {
        let ids = samples.map(|key| if key == 0 { None } else { Some(id_of(key)) });
        let mut light = Vec3::ZERO;
        for k in 0..N_SAMPLES {
            if ids[..k].contains(&ids[k]) {
                continue;
            }
            let mut n = 0;
            let mut middle = (0, 0);
            for (id, (dx, dy)) in ids.iter().zip(SAMPLES) {
                if *id == ids[k] {
                    n += 1;
                    middle = (middle.0 + dx, middle.1 + dy);
                }
            }
            let ray = self.ray(place(x, middle.0 / n), place(y, middle.1 / n));
            let colour = match ids[k] {
                None => background,
                Some(FLOOR) => self.floor_light((x, y), ray, background, depths, seen),
                Some(id) => self.mesh_light((x, y), id, ray, depths, seen),
            };
            light += colour * n as f32;
        }
        light / N_SAMPLES as f32
    }

    fn floor_light(
        &self,
        pixel: (usize, usize),
        ray: Vec3,
        background: Vec3,
        depths: &DepthView,
        seen: &[Visibility],
    ) -> Vec3 {
        let Some(floor) = &self.floor else {
            return background;
        };
        let point = ray / floor.nearness(ray).max(1e-9);
        let presence = floor.presence(point);
        if presence <= 0.0 {
            return background;
        }
        let seen = self.gather(pixel, point, floor.up, depths, seen);
        let left = floor.grid(point) * self.lamps.floor(seen);
        background * (1.0 - presence * (1.0 - left))
    }

    fn mesh_light(
        &self,
        pixel: (usize, usize),
        id: u32,
        ray: Vec3,
        depths: &DepthView,
        seen: &[Visibility],
    ) -> Vec3 {
        let point = SurfacePoint::on_ray(&self.geometry, id, ray);
        let index = self.geometry.mesh_of[id as usize] as usize;
        let (colour, is_value) = match &self.skins[index] {
            Skin::Plain { front, back } => (if point.front { *front } else { *back }, false),
            Skin::Table(table) => (look_up(table, point.value(&self.geometry, id)), true),
        };
        let seen = self.gather(pixel, point.position, point.normal, depths, seen);
        let towards = (-point.position).normalize_or(Vec3::Z);
        let light = self
            .lamps
            .surface(colour, point.normal, towards, seen, is_value);
        match self.scene.meshes[index].wireframe {
            None => light,
            Some(wire) => {
                let distance = point.edge_distance(&self.geometry, id, self.focal);
                // Each of the two triangles on an edge draws half of the line.
                let cover = (0.5 * wire.width + 0.5 - distance).clamp(0.0, 1.0);
                light.lerp(wire.colour.linear(), cover * wire.width.clamp(0.0, 1.0))
            }
        }
    }

    /// The mean of step 2 over the pattern, from pixels on the same surface.
    fn gather(
        &self,
        (x, y): (usize, usize),
        point: Vec3,
        normal: Vec3,
        depths: &DepthView,
        seen: &[Visibility],
    ) -> Visibility {
        if seen.is_empty() {
            return Visibility::CLEAR;
        }
        let (width, height) = (depths.width, depths.height);
        let (x, y) = (x as i32, y as i32);
        let (left, right) = ((x - 2).max(0), (x + 1).min(width - 1));
        let (top, bottom) = ((y - 2).max(0), (y + 1).min(height - 1));
        let at = |x: i32, y: i32| (y * width + x) as usize;
        let own = seen[at(x, y)];
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        if own == Visibility::CLEAR
            && corners
                .iter()
                .all(|(x, y)| seen[at(*x, *y)] == Visibility::CLEAR)
        {
            return own;
        }
        // Off the surface by less than this is on it [m].
        let tolerance = 0.004 - 2.5 * point.z / self.focal;
        let (mut open, mut lit, mut total) = (0.0, 0.0, 0.0);
        for y in top..=bottom {
            for x in left..=right {
                let [nearness, nx, ny, nz] = depths.texels[at(x, y)];
                if nearness <= 0.0 {
                    continue;
                }
                let off = (depths.point(x, y, nearness) - point).dot(normal).abs();
                let turned = normal.dot(Vec3::new(nx, ny, nz)).max(0.0);
                let weight = (1.0 - off / tolerance).max(0.0) * turned * turned;
                let there = seen[at(x, y)];
                open += weight * there.open;
                lit += weight * there.lit;
                total += weight;
            }
        }
        if total < 1e-3 {
            return own;
        }
        Visibility {
            open: open / total,
            lit: lit / total,
        }
    }
}

/// A place on the screen [pixels].
#[inline]
fn place(pixel: usize, offset: i32) -> f32 {
    pixel as f32 + 0.5 + offset as f32 / SUBPIXELS as f32
}

#[inline]
fn key(nearness: f32, id: u32) -> u64 {
    if nearness > 0.0 {
        u64::from(nearness.to_bits()) << 32 | u64::from(!id)
    } else {
        0
    }
}

#[inline]
fn nearness_of(key: u64) -> f32 {
    f32::from_bits((key >> 32) as u32)
}

#[inline]
fn id_of(key: u64) -> u32 {
    !(key as u32)
}

/// Two orders of 0 to 15 over 4 × 4 pixels, each well mixed.
fn pattern(x: i32, y: i32) -> (usize, usize) {
    const TURN: [usize; 16] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];
    const JITTER: [usize; 16] = [9, 2, 12, 5, 4, 15, 1, 10, 14, 6, 8, 3, 0, 11, 7, 13];
    let at = ((y & 3) * 4 + (x & 3)) as usize;
    (TURN[at], JITTER[at])
}

/// The inside of cloth: darker and greyer than its outside.
fn inside_of(colour: Vec3) -> Vec3 {
    let grey = colour.dot(Vec3::new(0.2126, 0.7152, 0.0722));
    colour.lerp(Vec3::splat(grey), 0.45) * 0.62
}
