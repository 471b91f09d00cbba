//! From a scene to an image.
//!
//! 1. Every pixel has four samples on a turned square; triangles are filled
//!    into them, the nearest wins, but for cloth a little beneath skin.
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
use super::colour::{Encoder, NEAREST};
use super::colour_map::look_up;
use super::cover::{Covers, NOTHING, Nearest, id_of, key, nearness_of};
use super::floor::Floor;
use super::image::Image;
use super::occlusion::{DepthView, RADIUS};
use super::options::{Options, Shading};
use super::parallel::{for_each, thread_count};
use super::project::Geometry;
use super::raster::{Bins, SUBPIXELS};
use super::scene::{Background, Depth, MAX_SIDE, Scene, SceneError, Surface};
use super::shade::{Lamps, Visibility};
use super::shadow::ShadowMap;
use super::surface::SurfacePoint;

/// Samples of a pixel [1/256 pixel from its centre]: a square turned by 27°, so
/// that nearly level and nearly upright edges have four steps.
const SAMPLES: [(i32, i32); N_SAMPLES] = [(-32, -96), (96, -32), (-96, 32), (32, 96)];
pub(super) const N_SAMPLES: usize = 4;

/// Rows of pixels that are worked on at once.
const BAND: usize = 16;

/// The number of the floor among the triangles.
const FLOOR: u32 = u32::MAX;

/// The triangle, floor or background at each sample of a pixel.
type Coverage = [u32; N_SAMPLES];

/// How open a pixel is to the sky and to the key light, as 0 to 255.
type Seen = [u8; 2];

/// Nothing stands in the way.
const CLEAR: Seen = [255; 2];

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
    let (coverage, depths, normals) = frame.cover(camera, n_threads);
    let depths = DepthView::new(&depths, &normals, size, frame.focal);
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

    /// Step 1: what each sample sees, and each pixel's depth [m] and normal.
    fn cover(&self, camera: &Camera, n_threads: usize) -> (Vec<Coverage>, Vec<f32>, Vec<[f32; 3]>) {
        let triangles = self.geometry.on_screen(self.scene, camera, self.size);
        let bins = Bins::new(&triangles, self.size.height, BAND as u32);
        let covers = Covers::new(self.scene, &self.geometry);
        let width = self.size.width as usize;
        let n_pixels = width * self.size.height as usize;
        let mut coverage = vec![[0_u32; N_SAMPLES]; n_pixels];
        let mut depths = vec![0_f32; n_pixels];
        let mut normals = vec![[0_f32; 3]; n_pixels];
        let bands = coverage
            .chunks_mut(width * BAND)
            .zip(depths.chunks_mut(width * BAND))
            .zip(normals.chunks_mut(width * BAND))
            .enumerate();
        for_each(bands, n_threads, |(band, ((coverage, depths), normals))| {
            let top = band * BAND;
            let rows = (top as i32, (top + coverage.len() / width) as i32);
            let mut layers = covers.layers(coverage.len());
            let nearest = &mut layers.plain;
            if let Some(floor) = &self.floor {
                for (row, pixels) in nearest.chunks_mut(width).enumerate() {
                    self.lay_floor(floor, top + row, pixels);
                }
            }
            for t in bins.band(band) {
                let triangle = &triangles[*t as usize];
                let id = triangle.id;
                let nearest = layers.of(&covers, id);
                triangle.fill(width as i32, rows, &SAMPLES, |pixel, sample, nearness| {
                    let so_far = &mut nearest[pixel][sample];
                    *so_far = (*so_far).max(key(nearness, id));
                });
            }
            let nearest = layers.merged(&covers);
            for (i, pixel) in nearest.iter().enumerate() {
                coverage[i] = pixel.map(id_of);
                let mut sample = 0;
                for k in 1..N_SAMPLES {
                    if pixel[k] > pixel[sample] {
                        sample = k;
                    }
                }
                if pixel[sample] != 0 {
                    depths[i] = 1.0 / nearness_of(pixel[sample]);
                    let place = (i % width, top + i / width);
                    normals[i] = self.normal(id_of(pixel[sample]), place, sample);
                }
            }
        });
        (coverage, depths, normals)
    }

    /// Puts the floor into a row of pixels.
    fn lay_floor(&self, floor: &Floor, y: usize, pixels: &mut [Nearest]) {
        // 1/depth is linear on the screen.
        let start = floor.nearness(self.ray(0.0, place(y, 0)));
        let step_x = floor.nearness(self.ray(1.0, place(y, 0))) - start;
        let step_y = floor.nearness(self.ray(0.0, place(y + 1, 0))) - start;
        let offsets = SAMPLES
            .map(|(dx, dy)| start + step_x * place(0, dx) + step_y * dy as f32 / SUBPIXELS as f32);
        for (x, pixel) in pixels.iter_mut().enumerate() {
            for (sample, offset) in pixel.iter_mut().zip(offsets) {
                *sample = key(offset + step_x * x as f32, FLOOR);
            }
        }
    }

    /// The normal of what a sample of a pixel sees.
    fn normal(&self, id: u32, (x, y): (usize, usize), sample: usize) -> [f32; 3] {
        match (id, &self.floor) {
            (FLOOR, Some(floor)) => floor.up.to_array(),
            (FLOOR, None) => Vec3::Z.to_array(),
            (id, _) => {
                let (dx, dy) = SAMPLES[sample];
                let ray = self.ray(place(x, dx), place(y, dy));
                let point = SurfacePoint::on_ray(&self.geometry, id, ray);
                point.normal.to_array()
            }
        }
    }

    /// Step 2: how open each pixel is, to the sky and to the key light.
    fn see(&self, coverage: &[Coverage], depths: &DepthView, n_threads: usize) -> Vec<Seen> {
        // Texels about as large as half a pixel.
        let longest = self.size.width.max(self.size.height);
        let map_side = (longest * 3 / 2).clamp(512, 2048).next_multiple_of(32);
        let shadows = ShadowMap::new(&self.geometry, self.lamps.key, map_side, n_threads);
        let width = self.size.width as usize;
        let mut seen = vec![CLEAR; coverage.len()];
        let bands = seen.chunks_mut(width * BAND).enumerate();
        for_each(bands, n_threads, |(band, seen)| {
            for (i, seen) in seen.iter_mut().enumerate() {
                let at = band * BAND * width + i;
                let depth = depths.depths[at];
                if depth <= 0.0 {
                    continue;
                }
                let (x, y) = ((at % width) as i32, (at / width) as i32);
                let normal = Vec3::from_array(depths.normals[at]);
                let point = depths.point(x, y, depth);
                let (turn, jitter) = pattern(x, y);
                let is_floor = coverage[at] == [FLOOR; N_SAMPLES];
                if is_floor && self.is_bare_floor(point) {
                    continue;
                }
                if !is_floor || self.floor_is_busy(point) {
                    seen[0] = code(depths.openness((x, y), point, normal, (turn, jitter)));
                }
                if let Some(shadows) = &shadows {
                    seen[1] = code(shadows.light_at(point, normal, jitter));
                }
            }
        });
        seen
    }

    /// Whether the floor has faded away at a point.
    fn is_bare_floor(&self, point: Vec3) -> bool {
        self.floor
            .as_ref()
            .is_none_or(|floor| floor.presence(point) <= 0.0)
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
        seen: &[Seen],
        n_threads: usize,
    ) -> Vec<u8> {
        let width = self.size.width as usize;
        let encoder = Encoder::get();
        let is_gradient = matches!(self.scene.background, Background::Gradient { .. });
        let mut rgb8 = vec![0_u8; coverage.len() * 3];
        let bands = rgb8.chunks_mut(width * 3 * BAND).enumerate();
        for_each(bands, n_threads, |(band, rgb8)| {
            for (row, rgb8) in rgb8.chunks_mut(width * 3).enumerate() {
                let y = band * BAND + row;
                let background = self.background(y);
                for (x, rgb) in rgb8.chunks_mut(3).enumerate() {
                    let samples = &coverage[y * width + x];
                    let light = if *samples == [NOTHING; N_SAMPLES] {
                        background
                    } else {
                        self.pixel((x, y), samples, background, depths, seen)
                    };
                    // A gradient has fewer codes than rows; a pattern hides the
                    // steps.
                    let is_empty = samples.iter().all(|id| *id >= NOTHING);
                    let dither = if is_gradient && is_empty {
                        row_pattern(y)
                    } else {
                        NEAREST
                    };
                    for (code, light) in rgb.iter_mut().zip(light.to_array()) {
                        *code = encoder.channel(light, dither);
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
        seen: &[Seen],
    ) -> Vec3 {
        let ids = samples;
        let mut light = Vec3::ZERO;
        if *ids == [ids[0]; N_SAMPLES] {
            let ray = self.ray(place(x, 0), place(y, 0));
            return self.seen_light((x, y), ids[0], ray, background, depths, seen);
        }
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
            light += self.seen_light((x, y), ids[k], ray, background, depths, seen) * n as f32;
        }
        light / N_SAMPLES as f32
    }

    /// The light of one thing seen in a pixel.
    fn seen_light(
        &self,
        pixel: (usize, usize),
        id: u32,
        ray: Vec3,
        background: Vec3,
        depths: &DepthView,
        seen: &[Seen],
    ) -> Vec3 {
        match id {
            NOTHING => background,
            FLOOR => self.floor_light(pixel, ray, background, depths, seen),
            id => self.mesh_light(pixel, id, ray, depths, seen),
        }
    }

    fn floor_light(
        &self,
        pixel: (usize, usize),
        ray: Vec3,
        background: Vec3,
        depths: &DepthView,
        seen: &[Seen],
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
        seen: &[Seen],
    ) -> Vec3 {
        let point = SurfacePoint::on_ray(&self.geometry, id, ray);
        let index = self.geometry.mesh_of[id as usize] as usize;
        let (colour, is_value) = match &self.skins[index] {
            Skin::Plain { front, back } => (if point.front { *front } else { *back }, false),
            Skin::Table(table) => (look_up(table, point.value(&self.geometry, id)), true),
        };
        let place = match self.scene.meshes[index].depth {
            Depth::Cloth { epsilon } => depths.lifted(pixel, point.position, epsilon),
            _ => point.position,
        };
        let seen = self.gather(pixel, place, point.normal, depths, seen);
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
        seen: &[Seen],
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
        if own == CLEAR && corners.iter().all(|(x, y)| seen[at(*x, *y)] == CLEAR) {
            return Visibility::CLEAR;
        }
        // Off the surface by less than this is on it [m].
        let tolerance = 0.004 - 2.5 * point.z / self.focal;
        let (mut open, mut lit, mut total) = (0.0, 0.0, 0.0);
        for y in top..=bottom {
            for x in left..=right {
                let depth = depths.depths[at(x, y)];
                if depth <= 0.0 {
                    continue;
                }
                let off = (depths.point(x, y, depth) - point).dot(normal).abs();
                let turned = normal
                    .dot(Vec3::from_array(depths.normals[at(x, y)]))
                    .max(0.0);
                let weight = (1.0 - off / tolerance).max(0.0) * turned * turned;
                let there = seen[at(x, y)];
                open += weight * f32::from(there[0]);
                lit += weight * f32::from(there[1]);
                total += weight;
            }
        }
        if total < 1e-3 {
            (open, lit, total) = (f32::from(own[0]), f32::from(own[1]), 1.0);
        }
        Visibility {
            open: open / (255.0 * total),
            lit: lit / (255.0 * total),
        }
    }
}

/// A place on the screen [pixels].
#[inline]
fn place(pixel: usize, offset: i32) -> f32 {
    pixel as f32 + 0.5 + offset as f32 / SUBPIXELS as f32
}

/// A share from 0 to 1 as 0 to 255.
fn code(share: f32) -> u8 {
    (share * 255.0 + 0.5) as u8
}

/// Two orders of 0 to 15 over 4 × 4 pixels, each well mixed.
fn pattern(x: i32, y: i32) -> (usize, usize) {
    const TURN: [usize; 16] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];
    const JITTER: [usize; 16] = [9, 2, 12, 5, 4, 15, 1, 10, 14, 6, 8, 3, 0, 11, 7, 13];
    let at = ((y & 3) * 4 + (x & 3)) as usize;
    (TURN[at], JITTER[at])
}

/// Thresholds of eight rows, each new one as far as can be from those before:
/// the bits of y, reversed. Rows stay of one colour, so files stay small.
fn row_pattern(y: usize) -> u8 {
    let order = (y & 1) << 2 | (y & 2) | (y >> 2 & 1);
    (order * 32 + 16) as u8
}

/// The inside of cloth: darker and greyer than its outside.
fn inside_of(colour: Vec3) -> Vec3 {
    let grey = colour.dot(Vec3::new(0.2126, 0.7152, 0.0722));
    colour.lerp(Vec3::splat(grey), 0.25) * 0.9
}
