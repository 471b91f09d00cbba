//! Nothing passes through cloth, however fast.
//!
//! A free sheet is thrown at 20 m/s at a tip, at an edge and at another sheet,
//! in steps that take it up to two thirds of a metre, some six hundred times
//! its thickness. Both are one cloth, so that self-contact keeps them apart.
//! Counted are edges that pass through faces after every step, and on the
//! straight way there: a sheet that has gone all the way through crosses
//! nothing any more.

use drapery_core::{Fabric, Topology};
use glam::{DVec2, DVec3};

use super::suite::Job;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble};
use crate::{
    Cloth, MeshBoxes, RestShape, SelfContactConfig, Simulation, SimulationConfig, self_crossings,
};

/// [m/s]
const SPEED: f64 = 20.0;
/// How long is looked [s], and at least how many steps.
const SECONDS: f64 = 0.1;
const MIN_STEPS: u32 = 6;
/// The way of a step is looked at every so many metres.
const SAMPLE: f64 = 0.01;

/// What the sheet is thrown at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The tip of a thin triangle that is held by its other corners.
    Needle,
    /// An edge of a triangle that is held by its third corner.
    Edge,
    /// A sheet that lies there.
    FreeSheet,
    /// A sheet that is held at its border.
    HeldSheet,
}

impl Target {
    const ALL: [Self; 4] = [Self::Needle, Self::Edge, Self::FreeSheet, Self::HeldSheet];

    const fn name(self) -> &'static str {
        match self {
            Self::Needle => "needle",
            Self::Edge => "edge",
            Self::FreeSheet => "free sheet",
            Self::HeldSheet => "held sheet",
        }
    }
}

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let rates: &[u32] = match size {
        Size::Quick => &[100, 30],
        Size::Full => &[300, 200, 100, 60, 30],
    };
    let mut jobs: Vec<Job> = Vec::new();
    for &rate in rates {
        for triangulation in Triangulation::BOTH {
            for target in Target::ALL {
                jobs.push(Box::new(move || vec![case(target, triangulation, rate)]));
            }
        }
    }
    jobs
}

fn case(target: Target, triangulation: Triangulation, rate: u32) -> Case {
    let thrown = throw(
        target,
        triangulation,
        rate,
        Some(SelfContactConfig::default()),
    );
    let measured = thrown.as_ref().map(|t| t.n_crossings as f64);
    let case = format!(
        "crossings, sheet against {}, dt 1/{rate} s, {}",
        target.name(),
        triangulation.name()
    );
    let case = Case::of(
        Test::Tunnelling,
        case,
        measured.map_err(Clone::clone),
        0.0,
        0.0,
    );
    match thrown {
        Ok(thrown) => case
            .with("speed_left_m_s", thrown.speed_left)
            .with("vertices_set_back", f64::from(thrown.set_back)),
        Err(_) => case,
    }
}

/// What became of a throw.
#[derive(Clone, Copy, Debug)]
struct Thrown {
    n_crossings: usize,
    /// Of the middle of the sheet, the way it was thrown [m/s].
    speed_left: f64,
    set_back: u32,
}

/// The thrown sheet lies in y = 0 and flies along −y.
fn throw(
    target: Target,
    triangulation: Triangulation,
    rate: u32,
    contact: Option<SelfContactConfig>,
) -> Result<Thrown, Trouble> {
    let mut pieces = Pieces::default();
    let sheet = Rectangle::new(0.3, 10, 10, triangulation).expect("cells have area");
    pieces.add(&sheet.points, sheet.rest.topology().triangles(), |p| {
        DVec3::new(p.x - 0.15, 0.0, p.y - 0.15)
    });
    // Off the symmetry of the mesh, 3 cm below it.
    let away = DVec3::new(0.013, -0.03, 0.007);
    let upright = |p: DVec2| DVec3::new(p.x, p.y, 0.2 * p.x) + away;
    let held: Vec<u32> = match target {
        Target::Needle => {
            let flat = [(0.0, 0.0), (-0.005, -0.05), (0.005, -0.05)].map(DVec2::from);
            let first = pieces.add(&flat, &[[0, 1, 2]], upright);
            vec![first + 1, first + 2]
        }
        Target::Edge => {
            let flat = [(0.03, 0.0), (-0.03, 0.0), (0.0, -0.04)].map(DVec2::from);
            let first = pieces.add(&flat, &[[0, 1, 2]], upright);
            vec![first + 2]
        }
        Target::FreeSheet | Target::HeldSheet => {
            let other = Rectangle::new(0.4, 12, 12, triangulation).expect("cells have area");
            let first = pieces.add(&other.points, other.rest.topology().triangles(), |p| {
                DVec3::new(p.x - 0.2, 0.1 * (p.x - 0.2), p.y - 0.2) + away
            });
            let border = |i: &u32| [0, 12].contains(&(i % 13)) || [0, 12].contains(&(i / 13));
            match target {
                Target::HeldSheet => (0..169).filter(border).map(|i| first + i).collect(),
                _ => Vec::new(),
            }
        }
    };
    let n_thrown = sheet.points.len();
    let mut v = vec![DVec3::ZERO; pieces.x.len()];
    v[..n_thrown].fill(DVec3::new(2.0, -SPEED, 1.0));
    let topology = pieces.topology();
    let mut boxes = MeshBoxes::new(&topology, &pieces.x);
    let mut simulation = pieces.simulation(rate)?;
    for vertex in held {
        simulation.hold(vertex)?;
    }
    simulation.set_velocities(&v)?;
    simulation.set_self_contact(contact)?;
    let (mut n_crossings, mut set_back) = (0, 0);
    for _ in 0..MIN_STEPS.max((SECONDS * f64::from(rate)).ceil() as u32) {
        let start = simulation.positions().to_vec();
        let report = simulation.step()?;
        set_back += report.set_back;
        n_crossings += match report.parts {
            1 => crossings_on_way(&mut boxes, &start, simulation.positions(), SAMPLE),
            _ => crossings_at(&mut boxes, simulation.positions()),
        };
    }
    let mean: DVec3 = simulation.velocities()[..n_thrown].iter().sum();
    Ok(Thrown {
        n_crossings,
        speed_left: -mean.y / n_thrown as f64,
        set_back,
    })
}

/// Crossings of a cloth with itself at `x` [m].
pub(super) fn crossings_at(boxes: &mut MeshBoxes, x: &[DVec3]) -> usize {
    boxes.refit(x, x);
    self_crossings(boxes, x).len()
}

/// The most crossings of a cloth with itself on the straight way of a step,
/// seen every `sample` [m] and at its end.
pub(super) fn crossings_on_way(
    boxes: &mut MeshBoxes,
    start: &[DVec3],
    end: &[DVec3],
    sample: f64,
) -> usize {
    let ways = start.iter().zip(end).map(|(a, b)| a.distance(*b));
    let n_samples = (ways.fold(0.0, f64::max) / sample).ceil().max(1.0) as u32;
    let mut x = end.to_vec();
    (1..=n_samples)
        .map(|i| {
            if i < n_samples {
                let share = f64::from(i) / f64::from(n_samples);
                for (x, (a, b)) in x.iter_mut().zip(start.iter().zip(end)) {
                    *x = a.lerp(*b, share);
                }
            } else {
                x.copy_from_slice(end);
            }
            crossings_at(boxes, &x)
        })
        .max()
        .unwrap_or(0)
}

/// Flat pieces of cloth that are one mesh.
#[derive(Default)]
struct Pieces {
    triangles: Vec<[u32; 3]>,
    corners: Vec<[DVec2; 3]>,
    x: Vec<DVec3>,
}

impl Pieces {
    /// Adds a piece from flat points [m] and where they are; gives the number
    /// of its first vertex.
    fn add(
        &mut self,
        flat: &[DVec2],
        triangles: &[[u32; 3]],
        place: impl Fn(DVec2) -> DVec3,
    ) -> u32 {
        let first = self.x.len() as u32;
        for t in triangles {
            self.corners.push(t.map(|v| flat[v as usize]));
            self.triangles.push(t.map(|v| v + first));
        }
        self.x.extend(flat.iter().map(|p| place(*p)));
        first
    }

    fn topology(&self) -> Topology {
        Topology::new(self.x.len() as u32, self.triangles.clone()).expect("pieces have vertices")
    }

    fn simulation(self, rate: u32) -> Result<Simulation, Trouble> {
        let topology = self.topology();
        let rest = RestShape::from_corners(topology, self.corners).expect("triangles have area");
        let fabric = Fabric::plain("cotton", 0.15, 500.0, 1e-5);
        let cloth = Cloth::new(&rest, &fabric, &[]).expect("a sound fabric");
        let config = SimulationConfig {
            dt: 1.0 / f64::from(rate),
            ..SimulationConfig::default()
        };
        Ok(Simulation::new(cloth, self.x, config)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_contact_every_throw_is_seen_to_cross() {
        for target in Target::ALL {
            for rate in [300, 30] {
                let thrown = throw(target, Triangulation::Aligned, rate, None).unwrap();
                assert!(thrown.n_crossings > 0, "{target:?} at 1/{rate} s");
            }
        }
    }
}
