//! Strips that hang from a clamp, against the elastica.
//!
//! A heavy elastic strip of length L, clamped level at one end, falls to
//! H/W = (drop of the tip)/(reach of the tip), which depends on Γ = ρ g L³/D
//! alone as long as the strip does not stretch.

#![allow(clippy::print_stdout, reason = "the figures are worth seeing")]

use drapery_core::{Fabric, Topology};
use drapery_sim::{ClampedEdge, Cloth, Load, NewtonConfig, RestShape, SolveReport, minimise};
use glam::{DVec2, DVec3};

/// H/W of the elastica for some Γ.
const ELASTICA: [(f64, f64); 7] = [
    (0.5, 0.06244),
    (1.0, 0.12456),
    (2.0, 0.24667),
    (5.0, 0.58572),
    (10.0, 1.06680),
    (20.0, 1.86393),
    (50.0, 3.70556),
];

const LENGTH: f64 = 0.2;
const DENSITY: f64 = 0.2;
const GRAVITY: f64 = 9.81;

/// Two triangulations of a strip of `n` elements a length and a quarter as wide.
#[derive(Clone, Copy, Debug)]
enum Mesh {
    Aligned,
    Jittered,
}

fn strip(n: u32, mesh: Mesh) -> (RestShape, Vec<DVec2>) {
    let (nx, ny) = (n, n / 4);
    let h = LENGTH / f64::from(n);
    let side = nx + 1;
    let mut points: Vec<DVec2> = (0..side * (ny + 1))
        .map(|i| DVec2::new(f64::from(i % side), f64::from(i / side)) * h)
        .collect();
    let mut triangles = Vec::new();
    for y in 0..ny {
        for x in 0..nx {
            let a = y * side + x;
            let (b, c, d) = (a + 1, a + side + 1, a + side);
            let flip = matches!(mesh, Mesh::Jittered) && (x * 7 + y * 3) % 5 < 2;
            match flip {
                false => triangles.extend([[a, b, c], [a, c, d]]),
                true => triangles.extend([[a, b, d], [b, c, d]]),
            }
        }
    }
    if let Mesh::Jittered = mesh {
        for (i, p) in points.iter_mut().enumerate() {
            let (x, y) = (i as u32 % side, i as u32 / side);
            if x > 0 && y > 0 && x < nx && y < ny {
                let shift = |k: f64| 0.25 * h * (k * (i as f64 + 1.0)).sin();
                *p += DVec2::new(shift(12.9), shift(78.2));
            }
        }
    }
    let corners = triangles
        .iter()
        .map(|t: &[u32; 3]| t.map(|v| points[v as usize]))
        .collect();
    let topology = Topology::new(points.len() as u32, triangles).expect("a strip");
    (
        RestShape::from_corners(topology, corners).expect("cells have area"),
        points,
    )
}

/// H/W of a strip under its own weight.
fn droop(n: u32, mesh: Mesh, gamma: f64, stretch_ratio: f64) -> (f64, SolveReport) {
    let rigidity = DENSITY * GRAVITY * LENGTH.powi(3) / gamma;
    let stretch = stretch_ratio * rigidity / LENGTH.powi(2);
    let fabric = Fabric::plain("strip", DENSITY, stretch, rigidity);
    let (rest, points) = strip(n, mesh);
    let (nx, ny) = (n, n / 4);
    let column: Vec<u32> = (0..=ny).map(|y| y * (nx + 1)).collect();
    let clamps: Vec<ClampedEdge> = column
        .windows(2)
        .map(|w| ClampedEdge {
            vertices: [w[0], w[1]],
            slope: -DVec3::X,
        })
        .collect();
    let cloth = Cloth::new(&rest, &fabric, &clamps).expect("a sound fabric");
    let mut x: Vec<DVec3> = points.iter().map(|p| DVec3::new(p.x, 0.0, p.y)).collect();
    let mut held = vec![false; x.len()];
    for v in column {
        held[v as usize] = true;
    }
    let forces: Vec<DVec3> = cloth
        .masses()
        .iter()
        .map(|m| DVec3::new(0.0, -GRAVITY * m, 0.0))
        .collect();
    let load = Load {
        held: &held,
        forces: &forces,
        inertia: None,
    };
    let config = NewtonConfig {
        max_iterations: 2000,
        max_move: 0.1 * LENGTH,
        ..NewtonConfig::default()
    };
    let report = minimise(&cloth, load, &mut x, &config).expect("a strip comes to rest");
    let tip = x[((ny / 2) * (nx + 1) + nx) as usize];
    (-tip.y / tip.x, report)
}

#[test]
fn strips_fall_as_the_elastica_does() {
    for mesh in [Mesh::Aligned, Mesh::Jittered] {
        for (gamma, expected) in ELASTICA {
            let (found, report) = droop(20, mesh, gamma, 2e5);
            let error = 100.0 * (found / expected - 1.0);
            println!("{mesh:?} Γ {gamma}: {found:.5} ({error:+.2} %), {report:?}");
            assert!(report.converged, "{mesh:?} Γ {gamma}: {report:?}");
            assert!(
                error.abs() < 5.0,
                "{mesh:?} Γ {gamma}: {found} is {error:+.2} % off"
            );
        }
    }
}
