//! `drapery bench simulate`: what a frame of simulated cloth costs.

use std::path::Path;
use std::time::{Duration, Instant};

use drapery::core::{Fabric, Topology};
use drapery::sim::textbook::{Rectangle, Triangulation};
use drapery::sim::{
    Cloth, ContactConfig, MeshBoxes, Obstacle, Placement, RigidObstacle, SelfContactConfig, Shape,
    Simulation, SimulationConfig, StepReport, penetration, self_crossings,
};
use drapery::view::picture::{Camera, Colour, Options, Scene, SceneMesh, Size, View, render};
use glam::{DVec3, Vec3};
use serde_json::json;

use crate::args::{SimulateBench, SimulateScene};
use crate::bench::{BUILD, pool_of, spread, threads_or_all};
use crate::bench_ball::ball;
use crate::bench_fold::Folding;
use crate::say::Say;
use crate::{Answer, source, stop, write};

/// The deepest that a point of stable cloth is inside an obstacle [m].
const MAX_PENETRATION: f64 = 1e-3;

/// Frames a second of the scenes, and steps a frame.
const FRAME_RATE: u32 = 30;
const STEPS: u32 = 10;

pub(crate) fn run(plan: &SimulateBench, say: &Say) -> anyhow::Result<Answer> {
    let threads = threads_or_all(plan.threads);
    let pool = pool_of(threads)?;
    if let Some(out) = &plan.picture
        && write::check("--picture", out)? != "png"
    {
        anyhow::bail!("--picture {}: a picture is written as .png", out.display());
    }
    let measured = pool.install(|| measure(plan, say))?;
    let Measured {
        simulation,
        fabric,
        frames,
        cpu,
        reports,
        penetration_worst,
        crossings,
        broke,
    } = measured;
    let n_frames = frames.len().max(1) as f64;
    let wall: f64 = frames.iter().sum();
    let is_timed = !frames.is_empty();
    let stretch = stretches(plan.n, simulation.positions());
    let speed_max = simulation.velocities().iter().map(|v| v.length());
    let speed_max = speed_max.fold(0.0, f64::max);
    let (stretch_max, stretch_p99) = (
        stretch[stretch.len() - 1],
        stretch[stretch.len() * 99 / 100],
    );
    // Cloth is stable that comes to the end, has not torn apart and has passed
    // through nothing.
    let stable = broke.is_none()
        && stretch_max < 1.0
        && crossings == 0
        && penetration_worst <= MAX_PENETRATION;
    let mut sorted = frames.clone();
    sorted.sort_by(f64::total_cmp);
    let (fastest, median, slowest) = match sorted.is_empty() {
        true => (0.0, 0.0, 0.0),
        false => spread(&sorted),
    };
    let scene = plan.scene.name();
    let self_contact = has_self_contact(plan);
    let data = json!({
        "name": "simulate",
        "scene": scene,
        "n": plan.n,
        "vertices": simulation.positions().len(),
        "frames": frames.len(),
        "frame_rate": FRAME_RATE,
        "steps_per_frame": STEPS,
        "threads": threads,
        "self_contact": self_contact,
        "build": BUILD,
        "runs": 1,
        "s_per_frame": is_timed.then_some(wall / n_frames),
        "s_per_frame_median": is_timed.then_some(median),
        "s_per_frame_min": is_timed.then_some(fastest),
        "s_per_frame_max": is_timed.then_some(slowest),
        "cpu_s_per_frame": cpu.filter(|_| is_timed).map(|c| c.as_secs_f64() / n_frames),
        "stretch_max_pct": 100.0 * stretch_max,
        "stretch_p99_pct": 100.0 * stretch_p99,
        "stable": stable,
        "speed_max_m_s": speed_max,
        "self_crossings": self_contact.then_some(crossings),
        "penetration_worst_mm": 1e3 * penetration_worst,
        "solves_per_step": f64::from(reports.solves) / (n_frames * f64::from(STEPS)),
        "set_back": reports.set_back,
        "newton_per_step": f64::from(reports.solve.iterations) / (n_frames * f64::from(STEPS)),
        "linear_per_step": f64::from(reports.solve.linear_iterations) / (n_frames * f64::from(STEPS)),
        "line_search_cuts": reports.solve.cuts,
        "parts": reports.parts,
        "fabric": {
            "name": fabric.name,
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
        },
    });
    let text = format!(
        "{scene} of {n} × {} vertices: {:.3} s a frame, {} s of CPU time ({} frames of {STEPS} steps, {threads} threads, {BUILD} build)\n\
         frames took {fastest:.3} to {slowest:.3} s, {median:.3} in the middle; {:.2} Newton and {:.1} linear iterations a step\n\
         stretch of structural edges in the last frame: {:.2} % at most, {:.2} % for 99 of 100; {}{}\n\
         {}: {:.3} kg/m², stretch {:.0} N/m warp, {:.0} weft, {:.0} coupling, shear {:.1}, bending {:.2} µN·m warp, {:.2} weft, {:.2} coupling, {:.2} twist, damping {:.1} ms",
        rows(plan),
        wall / n_frames,
        cpu.map_or("unknown".to_string(), |c| format!(
            "{:.3}",
            c.as_secs_f64() / n_frames
        )),
        frames.len(),
        f64::from(reports.solve.iterations) / (n_frames * f64::from(STEPS)),
        f64::from(reports.solve.linear_iterations) / (n_frames * f64::from(STEPS)),
        100.0 * stretch_max,
        100.0 * stretch_p99,
        match stable {
            true => "stable",
            false => "not stable",
        },
        match plan.scene {
            SimulateScene::Hang => String::new(),
            SimulateScene::Drape | SimulateScene::DrapeMesh | SimulateScene::Fold => format!(
                "\nat worst {:.3} mm inside the {} in any frame{}; {} contacts in the last, {:.2} solves a step, {} vertices set back; at the end no faster than {:.4} m/s",
                1e3 * penetration_worst,
                match plan.scene {
                    SimulateScene::Fold => "table",
                    _ => "ball",
                },
                match self_contact {
                    true => format!(", {crossings} crossings of the cloth with itself"),
                    false => String::new(),
                },
                reports.touches,
                f64::from(reports.solves) / (n_frames * f64::from(STEPS)),
                reports.set_back,
                speed_max
            ),
        },
        fabric.name,
        fabric.density,
        fabric.stretch_warp,
        fabric.stretch_weft,
        fabric.stretch_coupling,
        fabric.shear,
        1e6 * fabric.bending_warp,
        1e6 * fabric.bending_weft,
        1e6 * fabric.bending_coupling,
        1e6 * fabric.bending_twist,
        1e3 * fabric.damping,
        n = plan.n,
    );
    if let Some(error) = &broke {
        say.note(format_args!("{scene}: {error}"));
    }
    say.result("bench", data, text)?;
    if let Some(out) = &plan.picture {
        draw(&simulation, plan.scene, out)?;
    }
    Ok(match stable {
        true => Answer::Yes,
        false => Answer::No,
    })
}

struct Measured {
    simulation: Simulation,
    fabric: Fabric,
    /// Seconds of each frame.
    frames: Vec<f64>,
    cpu: Option<Duration>,
    reports: StepReport,
    /// Over all frames [m].
    penetration_worst: f64,
    /// Over all frames, if self-contact is on.
    crossings: usize,
    broke: Option<anyhow::Error>,
}

/// A scene before its first step.
struct Stage {
    simulation: Simulation,
    folding: Option<Folding>,
}

fn stage(plan: &SimulateBench, fabric: &Fabric) -> anyhow::Result<Stage> {
    let sheet = Rectangle::new(1.0, plan.n - 1, rows(plan) - 1, Triangulation::Aligned)?;
    let cloth = Cloth::new(&sheet.rest, fabric, &[])?;
    let config = SimulationConfig {
        dt: 1.0 / f64::from(FRAME_RATE * STEPS),
        steps_per_frame: STEPS,
        ..SimulationConfig::default()
    };
    let level = sheet
        .points
        .iter()
        .map(|p| DVec3::new(p.x, 0.0, p.y))
        .collect();
    let mut simulation = Simulation::new(cloth, level, config)?;
    let mut folding = None;
    match plan.scene {
        SimulateScene::Hang => {
            simulation.hold(0)?;
            simulation.hold(plan.n - 1)?;
        }
        SimulateScene::Drape | SimulateScene::DrapeMesh => {
            let (radius, centre) = (0.25, DVec3::new(0.5, -0.3, 0.5));
            let ball: Obstacle = match plan.scene {
                SimulateScene::DrapeMesh => ball(radius, centre)?.into(),
                _ => RigidObstacle::new(Shape::Sphere { radius }, Placement::at(centre))?.into(),
            };
            let contact = ContactConfig {
                offset: 1.5e-3,
                friction: 0.3,
            };
            simulation.set_obstacles(vec![ball], contact)?;
        }
        SimulateScene::Fold => {
            let below = DVec3::NEG_Y * ContactConfig::default().offset;
            let table = RigidObstacle::new(Shape::Plane, Placement::at(below))?;
            simulation.set_obstacles(vec![table.into()], ContactConfig::default())?;
            folding = Some(Folding::new(plan.n, config.dt));
        }
    }
    if has_self_contact(plan) {
        simulation.set_self_contact(Some(SelfContactConfig::default()))?;
    }
    Ok(Stage {
        simulation,
        folding,
    })
}

/// Steps that are taken before anything is timed.
const WARM_UP: u32 = 3;

fn measure(plan: &SimulateBench, say: &Say) -> anyhow::Result<Measured> {
    let preset = source::fabric(&plan.fabric, say)?;
    let fabric = even(&preset, plan);
    let mut warm = stage(plan, &fabric)?;
    for _ in 0..WARM_UP {
        // What breaks here breaks below too, and is said there.
        if warm.simulation.step().is_err() {
            break;
        }
    }
    drop(warm);
    let Stage {
        mut simulation,
        mut folding,
    } = stage(plan, &fabric)?;
    let self_contact = has_self_contact(plan);
    let mut frames = Vec::new();
    let mut reports = StepReport::default();
    let mut broke = None;
    let mut penetration_worst = 0f64;
    let mut crossings = 0;
    let topology = Topology::new(
        plan.n * rows(plan),
        simulation.cloth().membrane().triangles().to_vec(),
    )?;
    let mut points = MeshBoxes::new(&topology, simulation.positions());
    let mut cpu = Some(Duration::ZERO);
    let n_frames = plan.frames.unwrap_or(plan.scene.frames());
    let progress = say.progress(u64::from(n_frames), "frames");
    'frames: for frame in 0..n_frames {
        stop::check()?;
        let (start, cpu_start) = (Instant::now(), cpu_time());
        for step in 0..STEPS {
            if let Some(folding) = &mut folding {
                folding.lead(&mut simulation, frame * STEPS + step)?;
            }
            match simulation.step() {
                Ok(report) => {
                    reports.parts += report.parts;
                    reports.solve.iterations += report.solve.iterations;
                    reports.solve.linear_iterations += report.solve.linear_iterations;
                    reports.solve.cuts += report.solve.cuts;
                    reports.solves += report.solves;
                    reports.set_back += report.set_back;
                    reports.touches = report.touches;
                }
                Err(error) => {
                    broke = Some(error.into());
                    break 'frames;
                }
            }
        }
        frames.push(start.elapsed().as_secs_f64());
        cpu = cpu.and_then(|sum| Some(sum + cpu_time()?.checked_sub(cpu_start?)?));
        // Not part of the frame's time.
        for obstacle in simulation.obstacles() {
            let depth = penetration(obstacle, &points, simulation.positions(), 1e-4);
            penetration_worst = penetration_worst.max(depth.worst);
        }
        if self_contact {
            points.refit(simulation.positions(), simulation.positions());
            crossings += self_crossings(&points, simulation.positions()).len();
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(Measured {
        simulation,
        fabric,
        frames,
        cpu,
        reports,
        penetration_worst,
        crossings,
        broke,
    })
}

/// Vertices across the cloth: a square but for the strip that is folded.
fn rows(plan: &SimulateBench) -> u32 {
    match plan.scene {
        SimulateScene::Hang | SimulateScene::Drape | SimulateScene::DrapeMesh => plan.n,
        SimulateScene::Fold => (plan.n - 1) / 4 + 1,
    }
    .max(2)
}

/// There is no folding without it.
const fn has_self_contact(plan: &SimulateBench) -> bool {
    plan.self_contact || matches!(plan.scene, SimulateScene::Fold)
}

/// The fabric of the bench: as heavy as asked for, and alike along warp and weft.
fn even(preset: &Fabric, plan: &SimulateBench) -> Fabric {
    let mean = (preset.stretch_warp * preset.stretch_weft).sqrt();
    let stretch = plan.stretch;
    Fabric {
        density: plan.density,
        stretch_warp: stretch,
        stretch_weft: stretch,
        stretch_coupling: preset.stretch_coupling * stretch / mean,
        shear: preset.shear.min(stretch / 2.0),
        ..preset.clone()
    }
}

/// How much structural edges are longer or shorter than at rest, sorted.
fn stretches(n: u32, x: &[DVec3]) -> Vec<f64> {
    let n = n as usize;
    let rest = 1.0 / (n - 1) as f64;
    let strain = |a: usize, b: usize| (x[a].distance(x[b]) / rest - 1.0).abs();
    let mut all = Vec::new();
    for a in 0..x.len() {
        if a % n + 1 < n {
            all.push(strain(a, a + 1));
        }
        if a + n < x.len() {
            all.push(strain(a, a + n));
        }
    }
    all.sort_by(f64::total_cmp);
    all
}

fn draw(simulation: &Simulation, what: SimulateScene, out: &Path) -> anyhow::Result<()> {
    let positions: Vec<Vec3> = simulation.positions().iter().map(|p| p.as_vec3()).collect();
    let topology = Topology::new(
        positions.len() as u32,
        simulation.cloth().membrane().triangles().to_vec(),
    )?;
    let lowest = positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    let scene = Scene {
        floor: Some(match what {
            SimulateScene::Hang | SimulateScene::Drape | SimulateScene::DrapeMesh => lowest - 0.1,
            SimulateScene::Fold => lowest,
        }),
        ..Scene::default()
    }
    .with(SceneMesh::cloth(&topology, &positions, Colour::BLUE));
    let size = match what {
        SimulateScene::Fold => Size::new(1200, 520),
        _ => Size::square(1024),
    };
    let view = match what {
        SimulateScene::Hang | SimulateScene::Drape | SimulateScene::DrapeMesh => {
            View::three_quarter()
        }
        // So that layers are seen.
        SimulateScene::Fold => View {
            azimuth: 0.12,
            elevation: 0.1,
            ..View::default()
        },
    };
    let camera = Camera::framing(&scene.bounds(), view, size);
    let image = render(&scene, &camera, &Options::of_size(size))?;
    write::file(out, &image.png()?)
}

/// CPU time of this process so far, where the system tells.
#[cfg(unix)]
pub(crate) fn cpu_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Some(Duration::new(
        time.tv_sec.try_into().ok()?,
        time.tv_nsec.try_into().ok()?,
    ))
}

#[cfg(not(unix))]
pub(crate) fn cpu_time() -> Option<Duration> {
    None
}
