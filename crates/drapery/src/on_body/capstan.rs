//! A strip that slips around a limb: the capstan, on a section that is not
//! round.
//!
//! ```text
//! T₂ = T₁ exp(μ φ)
//! ```
//!
//! holds for any convex section, with φ the angle between the strip's two
//! ends. One end is pulled by T₁, a weak spring to a place so far away that it
//! is the same everywhere; springs draw the other one over the arm, and their
//! force is T₂. There is no gravity, and the strip bends easily.
//!
//! The strip lies where the arm is narrowest, above the elbow and above the
//! wrist: where the arm tapers it would slip towards the thin end as well, and
//! only part of the friction would be along it. Body and strip are made of
//! flat pieces, a dozen of them under the strip, so that T₂ trembles by a tenth
//! or two as vertices pass from piece to piece.

use std::f64::consts::PI;

use drapery_core::Fabric;
use drapery_sim::textbook::{Case, Experiment, Rectangle, Size, Test, Triangulation, Trouble};
use drapery_sim::{Attachment, Cloth, ContactConfig, Simulation, SimulationConfig};
use glam::{DVec2, DVec3};

use super::stand::{Bone, Stand, TIGHT};
use super::taut::{along, length, taut};

const LIMIT_PERCENT: f64 = 10.0;
/// How wide the strip is [m].
const WIDTH: f64 = 0.015;
/// How far below the bone, or beside it, the strip's ends are [m].
const LEG: f64 = 0.1;
/// T₁ [N].
const PULL: f64 = 0.2;
/// How far away it is pulled from [m].
const AFAR: f64 = 100.0;
/// What draws the other end [N/m]: soft, so that T₂ does not leap.
const HOLD: f64 = 60.0;
/// At which the strip slips [m/s], and for how long [s].
const SPEED: f64 = 0.05;
const SECONDS: f64 = 0.6;
/// T₂ is its mean over so long in the end: vertices that pass over the edges of
/// the body's triangles make it tremble [s].
const STEADY: f64 = 0.3;

/// Where the drawn end goes.
#[derive(Clone, Copy, PartialEq)]
enum Drawn {
    Down,
    Level,
}

pub(super) fn experiments(size: Size) -> Vec<Experiment> {
    let (ways, n_across): (&[_], &[u32]) = match size {
        Size::Quick => (&[(Bone::UpperArm, Drawn::Down)], &[3]),
        Size::Full => (
            &[
                (Bone::UpperArm, Drawn::Down),
                (Bone::UpperArm, Drawn::Level),
                (Bone::Forearm, Drawn::Level),
            ],
            &[3, 6],
        ),
    };
    let mut experiments = Vec::new();
    for &(bone, drawn) in ways {
        for friction in [0.2, 0.4] {
            for &n_across in n_across {
                experiments.push(Experiment::new(Test::BodyCapstan, move || {
                    vec![case(bone, drawn, friction, n_across)]
                }));
            }
        }
    }
    experiments
}

fn case(bone: Bone, drawn: Drawn, friction: f64, n_across: u32) -> Case {
    let case = format!(
        "capstan T₂/T₁ above the {}, drawn {}, μ {friction}, {:.1} mm",
        bone.end(),
        match drawn {
            Drawn::Down => "down",
            Drawn::Level => "level",
        },
        1e3 * WIDTH / f64::from(n_across),
    );
    match pull(bone, drawn, friction, n_across) {
        Ok(found) => {
            let reference = (friction * found.wrap).exp();
            Case::new(
                Test::BodyCapstan,
                case,
                found.ratio,
                reference,
                LIMIT_PERCENT,
            )
            .with("wrap_deg", found.wrap.to_degrees())
            .with("unsteady_percent", found.unsteady_percent)
        }
        Err(trouble) => {
            let reference = (friction * PI).exp();
            Case::of(
                Test::BodyCapstan,
                case,
                Err(trouble),
                reference,
                LIMIT_PERCENT,
            )
        }
    }
}

struct Pulled {
    ratio: f64,
    wrap: f64,
    /// By how much T₂ differs over that time.
    unsteady_percent: f64,
}

fn pull(bone: Bone, drawn: Drawn, friction: f64, n_across: u32) -> Result<Pulled, Trouble> {
    let contact = ContactConfig {
        friction,
        ..ContactConfig::default()
    };
    let stand = Stand::arm_out();
    let middle = narrowest(&stand, bone);
    let section = section(&stand, middle, WIDTH);
    // Seen along the arm: z to the right and y up.
    let start = DVec2::new(0.06, -LEG);
    let end = match drawn {
        Drawn::Down => DVec2::new(-0.06, -LEG),
        Drawn::Level => DVec2::new(-LEG - 0.04, 0.02),
    };
    let way = taut(&section, contact.offset, start, end);
    let length = length(&way);
    let cell = WIDTH / f64::from(n_across);
    let n_along = (length / cell).round() as u32;
    let strip = Rectangle::new(length, n_along, n_across, Triangulation::Unstructured)
        .expect("cells have area");
    let fabric = Fabric {
        shear: 1000.0,
        ..Fabric::plain("tape", 0.2, 4000.0, 1e-6)
    };
    let cloth = Cloth::new(&strip.rest, &fabric, &[]).expect("a sound fabric");
    let place = |p: &DVec2| {
        let at = along(&way, p.x);
        middle + DVec3::new(p.y - 0.5 * WIDTH, at.y, at.x)
    };
    let x: Vec<DVec3> = strip.points.iter().map(place).collect();
    let leg = |a: DVec2, b: DVec2| DVec3::new(0.0, b.y - a.y, b.x - a.x).normalize();
    let pulling = leg(way[1], way[0]);
    let drawing = leg(way[way.len() - 2], way[way.len() - 1]);
    let pulled = strip.start.iter().map(|v| Attachment {
        vertex: *v,
        target: x[*v as usize] + pulling * AFAR,
        stiffness: PULL / AFAR / strip.start.len() as f64,
    });
    let held = strip.end.iter().map(|v| Attachment {
        vertex: *v,
        target: x[*v as usize],
        stiffness: HOLD / strip.end.len() as f64,
    });
    let (pulled, mut held): (Vec<_>, Vec<_>) = (pulled.collect(), held.collect());
    let config = SimulationConfig {
        tolerance: TIGHT,
        gravity: DVec3::ZERO,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, x, config)?;
    simulation.set_obstacles(vec![stand.obstacle().into()], contact)?;
    let dt = simulation.config().dt;
    let mut ratios = Vec::new();
    for _ in 0..(SECONDS / dt) as u32 {
        held.iter_mut()
            .for_each(|s| s.target += drawing * (SPEED * dt));
        simulation.set_attachments(&[pulled.clone(), held.clone()].concat())?;
        simulation.step()?;
        let x = simulation.positions();
        ratios.push(force(&held, x).length() / force(&pulled, x).length());
    }
    let x = simulation.positions();
    // Had it no wrap, the two would pull against each other.
    let wrap = PI - force(&held, x).angle_between(force(&pulled, x));
    let last = &ratios[ratios.len() - (STEADY / dt) as usize..];
    let (low, high) = last
        .iter()
        .fold((f64::MAX, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
    let ratio = last.iter().sum::<f64>() / last.len() as f64;
    Ok(Pulled {
        ratio,
        wrap,
        unsteady_percent: 100.0 * (high - low) / ratio,
    })
}

/// The middle of the arm where it is thinnest around a bone [m].
fn narrowest(stand: &Stand, bone: Bone) -> DVec3 {
    const N: u32 = 64;
    let [from, to] = stand.bone(bone);
    let size = |p: DVec3| {
        let section = section(stand, p, 0.0);
        let low = section.iter().copied().reduce(DVec2::min);
        let high = section.iter().copied().reduce(DVec2::max);
        low.zip(high)
            .map_or(f64::INFINITY, |(low, high)| (high - low).element_sum())
    };
    // Its upper half ends in something thicker.
    let places = (N / 2..=N).map(|i| from.lerp(to, f64::from(i) / f64::from(N)));
    let sizes = places.map(|p| (size(p), p));
    sizes
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(to, |(_, p)| p)
}

/// Where the skin of an arm along X passes under a strip around `middle` [m]:
/// (z, y) from there.
fn section(stand: &Stand, middle: DVec3, width: f64) -> Vec<DVec2> {
    const N_PLANES: u32 = 5;
    // An arm is not thicker than this, and nothing else is as near.
    const THICK: f64 = 0.1;
    let mut points = Vec::new();
    for plane in 0..N_PLANES {
        let share = f64::from(plane) / f64::from(N_PLANES - 1) - 0.5;
        let level = middle.x + share * width;
        for edge in stand.topology().edges() {
            let [a, b] = edge.vertices.map(|v| stand.vertices[v as usize]);
            let share = (level - a.x) / (b.x - a.x);
            if !(0.0..=1.0).contains(&share) {
                continue;
            }
            let p = a.lerp(b, share) - middle;
            if p.y.hypot(p.z) < THICK {
                points.push(DVec2::new(p.z, p.y));
            }
        }
    }
    points
}

/// What springs pull with [N].
fn force(springs: &[Attachment], x: &[DVec3]) -> DVec3 {
    springs
        .iter()
        .map(|s| (s.target - x[s.vertex as usize]) * s.stiffness)
        .sum()
}
