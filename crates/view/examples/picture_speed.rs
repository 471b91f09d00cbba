//! How long a picture of a dressed body takes.
//!
//! `cargo run --release -p drapery-view --example picture_speed [BODY.obj GARMENT.obj]`
//!
//! Without files it draws a stand-in of the same size: a knobbly closed body of
//! 26,756 triangles in a pleated garment of 12,274. Times are printed, never
//! asserted; what is asserted is that every run, on one thread or many, gives
//! the same bytes.
#![allow(
    clippy::print_stdout,
    reason = "a program that prints what it measures"
)]

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use drapery_core::TriMesh;
use drapery_view::picture::{Camera, Colour, Image, Options, Scene, SceneMesh, Size, View, render};
use glam::Vec3;

const N_RUNS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let (body, garment) = match files.as_slice() {
        [body, garment] => (read_obj(body)?, read_obj(garment)?),
        _ => (
            tube(26_756, 0.0, 1.66, |a, t| {
                0.16 + 0.02 * (9.0 * a).sin() * (20.0 * t).cos()
            })?,
            tube(12_274, 0.5, 1.4, |a, t| {
                0.24 - 0.04 * t + 0.02 * (14.0 * a).sin()
            })?,
        ),
    };
    println!(
        "{} + {} triangles",
        body.triangles().len(),
        garment.triangles().len()
    );
    let scene = Scene::on_floor()
        .with(SceneMesh::body(body.topology(), body.positions()))
        .with(SceneMesh::cloth(
            garment.topology(),
            garment.positions(),
            Colour::GREEN,
        ));
    let size = Size::square(1024);
    let camera = Camera::framing_points(scene.points(), View::three_quarter(), size);
    let mut first: Option<Image> = None;
    for threads in [NonZeroUsize::new(1), None] {
        let options = Options {
            threads,
            ..Options::of_size(size)
        };
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..N_RUNS {
            let start = Instant::now();
            let image = render(&scene, &camera, &options)?;
            times.push(start.elapsed());
            let expected = first.get_or_insert_with(|| image.clone());
            assert!(*expected == image, "two runs gave different bytes");
        }
        times.sort();
        println!(
            "1024 x 1024, {}: median {:.1} ms, fastest {:.1}, slowest {:.1}, {N_RUNS} runs",
            threads.map_or("all threads".to_owned(), |n| format!("{n} thread")),
            1e3 * times[N_RUNS / 2].as_secs_f64(),
            1e3 * times[0].as_secs_f64(),
            1e3 * times[N_RUNS - 1].as_secs_f64(),
        );
    }
    let start = Instant::now();
    let n_bytes = first.ok_or("no picture was made")?.png()?.len();
    println!(
        "png: {n_bytes} bytes in {:.1} ms",
        1e3 * start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// A closed tube along +Y of about this many triangles, its radius [m] a
/// function of the angle and the share of its height.
fn tube(
    n_triangles: usize,
    bottom: f32,
    top: f32,
    radius: impl Fn(f32, f32) -> f32,
) -> Result<TriMesh, Box<dyn Error>> {
    let around = 120;
    let along = n_triangles / (2 * around);
    let mut positions = Vec::new();
    for i in 0..=along {
        let t = i as f32 / along as f32;
        for j in 0..around {
            let angle = std::f32::consts::TAU * j as f32 / around as f32;
            let r = radius(angle, t);
            let y = bottom + (top - bottom) * t;
            positions.push(Vec3::new(r * angle.sin(), y, r * angle.cos()));
        }
    }
    let mut triangles = Vec::new();
    for i in 0..along {
        for j in 0..around {
            let at = |i: usize, j: usize| (i * around + j % around) as u32;
            let (a, b, c, d) = (at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Ok(TriMesh::new(positions, triangles)?)
}

/// Vertices and triangles of an OBJ file, nothing else.
fn read_obj(path: &str) -> Result<TriMesh, Box<dyn Error>> {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut next = || {
                    words
                        .next()
                        .ok_or("a short line")?
                        .parse::<f32>()
                        .map_err(Box::<dyn Error>::from)
                };
                positions.push(Vec3::new(next()?, next()?, next()?));
            }
            Some("f") => {
                let mut corners = [0_u32; 3];
                for corner in &mut corners {
                    let word = words.next().ok_or("a short line")?;
                    let index: u32 = word.split('/').next().unwrap_or(word).parse()?;
                    *corner = index.checked_sub(1).ok_or("an index of 0")?;
                }
                triangles.push(corners);
            }
            _ => {}
        }
    }
    Ok(TriMesh::new(positions, triangles)?)
}
