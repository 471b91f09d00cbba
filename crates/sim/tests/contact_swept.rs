//! Cloth and meshes that meet at twenty metres a second.
//!
//! A step of 1/30 s takes either through two thirds of a metre, the thickest
//! mesh is 1 cm thick: where a step ends says nothing about what was passed.

#![allow(
    clippy::unwrap_used,
    reason = "a scene that can't be set up fails the test"
)]

use drapery_core::{Fabric, Topology};
use drapery_sim::textbook::{Rectangle, Triangulation};
use drapery_sim::{
    Cloth, ContactConfig, MeshBoxes, MeshObstacle, Obstacle, SelfContactConfig, Simulation,
    SimulationConfig, crossings,
};
use glam::DVec3;

const SPEED: f64 = 20.0;
const DT: f64 = 1.0 / 30.0;
/// Thickness of the slab [m].
const THICK: f64 = 0.01;

/// A level patch of 10 cm with `n` cells a side, `height` above the origin.
fn patch(n: u32, height: f64) -> (Cloth, MeshBoxes, Vec<DVec3>) {
    let sheet = Rectangle::new(0.1, n, n, Triangulation::Unstructured).unwrap();
    let x: Vec<DVec3> = sheet
        .points
        .iter()
        .map(|p| DVec3::new(p.x - 0.047, height, p.y - 0.052))
        .collect();
    let fabric = Fabric {
        shear: 60.0,
        ..Fabric::plain("cotton", 0.2, 600.0, 1e-5)
    };
    let boxes = MeshBoxes::new(sheet.rest.topology(), &x);
    (Cloth::new(&sheet.rest, &fabric, &[]).unwrap(), boxes, x)
}

/// A plate of 40 cm with `n` × `n` cells on either side, whose top is y = 0.
fn slab(n: u32) -> (Topology, Vec<DVec3>) {
    let across = n + 1;
    let at = |i: u32, y: f64| {
        let (k, l) = (f64::from(i % across), f64::from(i / across));
        DVec3::new(
            0.4 * (k / f64::from(n) - 0.5),
            y,
            0.4 * (l / f64::from(n) - 0.5),
        )
    };
    let n_side = across * across;
    let top = (0..n_side).map(|i| at(i, 0.0));
    let x: Vec<DVec3> = top.chain((0..n_side).map(|i| at(i, -THICK))).collect();
    let mut triangles = Vec::new();
    let mut quad = |a: u32, b: u32, c: u32, d: u32| triangles.extend([[a, b, c], [a, c, d]]);
    for i in (0..n_side).filter(|i| i % across < n && i / across < n) {
        quad(i, i + across, i + across + 1, i + 1);
        let j = i + n_side;
        quad(j, j + 1, j + across + 1, j + across);
    }
    for k in 0..n {
        let near = [k, k + 1];
        let far = [near[1] + n * across, near[0] + n * across];
        let left = [(k + 1) * across, k * across];
        let right = [left[1] + n, left[0] + n];
        for [a, b] in [near, far, left, right] {
            quad(a, b, b + n_side, a + n_side);
        }
    }
    (Topology::new(2 * n_side, triangles).unwrap(), x)
}

/// A tetrahedron 10 cm high and 4 mm wide, its tip at the origin.
fn needle() -> (Topology, Vec<DVec3>) {
    let base = [(-0.002, -0.002), (0.003, -0.001), (-0.001, 0.003)];
    let mut x: Vec<DVec3> = base.iter().map(|p| DVec3::new(p.0, -0.1, p.1)).collect();
    x.push(DVec3::ZERO);
    let triangles = vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]];
    (Topology::new(4, triangles).unwrap(), x)
}

/// What moves.
#[derive(Clone, Copy, Debug)]
enum Flies {
    Cloth,
    Mesh,
}

/// How high the cloth is over the origin [m]; none where it is not over it.
fn height_over(boxes: &MeshBoxes, x: &[DVec3], at: DVec3) -> Option<f64> {
    boxes.triangles().iter().find_map(|t| {
        let [a, b, c] = t.map(|v| x[v as usize] - at);
        let area = |p: DVec3, q: DVec3| p.x * q.z - p.z * q.x;
        let (u, v, w) = (area(b, c), area(c, a), area(a, b));
        let whole = u + v + w;
        let is_over = [u, v, w].iter().all(|part| part * whole >= 0.0) && whole != 0.0;
        is_over.then(|| (u * a.y + v * b.y + w * c.y) / whole)
    })
}

/// Lets a patch of `n` cells a side and a mesh meet, and looks after every
/// step; gives how many vertices were set back.
fn meet(
    n: u32,
    mesh: (Topology, Vec<DVec3>),
    flies: Flies,
    self_contact: Option<SelfContactConfig>,
) -> u32 {
    let (cloth, boxes, x) = patch(n, 0.05);
    let config = SimulationConfig {
        dt: DT,
        ..SimulationConfig::default()
    };
    let n_vertices = x.len();
    let mut simulation = Simulation::new(cloth, x, config).unwrap();
    let (topology, rest) = mesh;
    let obstacle = MeshObstacle::new(&topology, rest.clone()).unwrap();
    simulation
        .set_obstacles(vec![obstacle.into()], ContactConfig::default())
        .unwrap();
    simulation.set_self_contact(self_contact).unwrap();
    if let Flies::Cloth = flies {
        let thrown = vec![DVec3::new(1.0, -SPEED, 0.5); n_vertices];
        simulation.set_velocities(&thrown).unwrap();
    }
    let mut set_back = 0;
    for step in 0..4 {
        let at = |step: i32| match flies {
            Flies::Cloth => DVec3::ZERO,
            Flies::Mesh => DVec3::Y * (SPEED * DT * f64::from(step)),
        };
        let placed = |shift: DVec3| -> Vec<DVec3> { rest.iter().map(|p| *p + shift).collect() };
        let (from, to) = (placed(at(step)), placed(at(step + 1)));
        simulation.move_mesh(0, &from, &to).unwrap();
        set_back += simulation.step().unwrap().set_back;
        let x = simulation.positions();
        let mut now = boxes.clone();
        now.refit(x, x);
        let Obstacle::Mesh(mesh) = &simulation.obstacles()[0] else {
            unreachable!()
        };
        let found = crossings(&now, x, &MeshBoxes::new(&topology, &to), mesh.end());
        assert!(found.is_empty(), "{flies:?}, step {step}: {found:?}");
        let over = height_over(&boxes, x, at(step + 1));
        assert!(
            over.is_none_or(|y| y > 0.0),
            "{flies:?}, step {step}: {over:?} m over it"
        );
        // What flies on below is through.
        let lowest = x.iter().map(|p| p.y).fold(f64::MAX, f64::min);
        let least = at(step + 1).y - 0.1;
        assert!(lowest > least, "{flies:?}, step {step}: {lowest}");
    }
    set_back
}

const BOTH: [Flies; 2] = [Flies::Cloth, Flies::Mesh];

fn layers() -> Option<SelfContactConfig> {
    Some(SelfContactConfig::default())
}

#[test]
fn a_slab_of_two_triangles_a_side_stops_cloth() {
    for flies in BOTH {
        for self_contact in [None, layers()] {
            meet(8, slab(1), flies, self_contact);
        }
    }
}

/// The slab's vertices are five times as close as the cloth's.
#[test]
fn a_fine_slab_stops_coarse_cloth() {
    for flies in BOTH {
        for self_contact in [None, layers()] {
            meet(2, slab(40), flies, self_contact);
        }
    }
}

/// The tip is far from every vertex of the cloth.
#[test]
fn a_needle_does_not_go_through_a_face() {
    for flies in BOTH {
        for self_contact in [None, layers()] {
            meet(2, needle(), flies, self_contact);
            meet(7, needle(), flies, self_contact);
        }
    }
}
