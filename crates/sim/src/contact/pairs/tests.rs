//! Cloth that meets cloth, stepped by hand.

mod clip;
mod friction;
mod impact;
mod meshes;
mod rest;

use drapery_core::{Fabric, Topology};
use glam::{DVec2, DVec3};

use super::super::candidates::MeshBoxes;
use super::super::crossings::{crossings, self_crossings};
use super::super::obstacle_mesh::MeshObstacle;
use super::{MeshPairs, PairContacts, PairKeeping, PairSettings};
use crate::{Cloth, Inertia, Minimiser, NewtonConfig, Objective, RestShape};

/// Flat pieces of cloth that are one mesh.
#[derive(Clone, Default)]
struct Pieces {
    triangles: Vec<[u32; 3]>,
    corners: Vec<[DVec2; 3]>,
    x: Vec<DVec3>,
    /// Which piece each vertex is of.
    piece: Vec<usize>,
    n: usize,
}

impl Pieces {
    /// Adds a piece from flat points [m] and where they are.
    fn add(&mut self, flat: &[DVec2], triangles: &[[u32; 3]], place: impl Fn(DVec2) -> DVec3) {
        let base = self.x.len() as u32;
        for t in triangles {
            self.corners.push(t.map(|v| flat[v as usize]));
            self.triangles.push(t.map(|v| v + base));
        }
        self.x.extend(flat.iter().map(|p| place(*p)));
        self.piece.extend(flat.iter().map(|_| self.n));
        self.n += 1;
    }

    /// Adds a square sheet of `n` × `n` cells with sides of `side` [m], around
    /// the origin of its plane.
    fn sheet(&mut self, n: u32, side: f64, place: impl Fn(DVec2) -> DVec3) {
        let across = n + 1;
        let at = |i: u32| DVec2::new(f64::from(i % across), f64::from(i / across));
        let flat: Vec<DVec2> = (0..across * across)
            .map(|i| (at(i) / f64::from(n) - 0.5) * side)
            .collect();
        let mut triangles = Vec::new();
        for cell in (0..across * n).filter(|cell| cell % across != n) {
            let (a, b, c, d) = (cell, cell + 1, cell + across + 1, cell + across);
            match cell % 2 {
                0 => triangles.extend([[a, b, d], [b, c, d]]),
                _ => triangles.extend([[a, b, c], [a, c, d]]),
            }
        }
        self.add(&flat, &triangles, place);
    }

    fn build(self, fabric: &Fabric, mesh_pairs: MeshPairs) -> Stage {
        let settings = PairSettings {
            cloth: Some(vec![COTTON]),
            mesh: vec![COTTON],
            piece_of: vec![0; self.x.len()],
            is_in_order: false,
            mesh_pairs,
        };
        let topology = Topology::new(self.x.len() as u32, self.triangles).unwrap();
        let rest = RestShape::from_corners(topology.clone(), self.corners).unwrap();
        let n = self.x.len();
        Stage {
            cloth: Cloth::new(&rest, fabric, &[]).unwrap(),
            pairs: PairContacts::new(&topology, &self.x, settings),
            boxes: MeshBoxes::new(&topology, &self.x),
            x: self.x,
            v: vec![DVec3::ZERO; n],
            held: vec![false; n],
            piece: self.piece,
            gravity: DVec3::ZERO,
            tolerance: 1e-3,
            meshes: Vec::new(),
            minimiser: Minimiser::default(),
            n_solves: 0,
            n_clipped: 0,
        }
    }
}

/// A cloth that is stepped.
struct Stage {
    cloth: Cloth,
    pairs: PairContacts,
    boxes: MeshBoxes,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    held: Vec<bool>,
    piece: Vec<usize>,
    gravity: DVec3,
    /// How well velocities are solved for [m/s].
    tolerance: f64,
    meshes: Vec<MeshObstacle>,
    minimiser: Minimiser,
    n_solves: u32,
    n_clipped: u32,
}

impl Stage {
    /// Masses [kg], infinite where held.
    fn masses(&self) -> Vec<f64> {
        let masses = self.cloth.masses().iter().zip(&self.held);
        masses
            .map(|(m, held)| if *held { f64::INFINITY } else { *m })
            .collect()
    }

    /// One step of implicit Euler.
    fn step(&mut self, dt: f64) {
        let n = self.x.len();
        let masses = self.masses();
        let start = self.x.clone();
        let mut targets = start.clone();
        let mut guess = start.clone();
        for v in (0..n).filter(|v| !self.held[*v]) {
            targets[v] += self.v[v] * dt;
            guess[v] = targets[v] + self.gravity * (dt * dt);
        }
        let forces: Vec<DVec3> = self
            .cloth
            .masses()
            .iter()
            .map(|m| self.gravity * *m)
            .collect();
        let meshes: Vec<&MeshObstacle> = self.meshes.iter().collect();
        self.pairs.begin(&start, &guess, &masses, dt, &meshes);
        let mut end = guess.clone();
        loop {
            let objective = Objective {
                inertia: Some(Inertia {
                    targets: &targets,
                    dt,
                }),
                touches: self.pairs.touches(),
                ..Objective::at_rest(&self.cloth, &self.held, &forces)
            };
            let mass: f64 = self.cloth.masses().iter().sum();
            let config = NewtonConfig {
                decrement: 0.5 * mass * self.tolerance.powi(2),
                max_move: f64::INFINITY,
                ..NewtonConfig::default()
            };
            let report = self
                .minimiser
                .minimise(&objective, &mut end, &config)
                .unwrap();
            assert!(report.converged, "{report:?}");
            self.n_solves += 1;
            if !self.pairs.refresh(&start, &end, &meshes) {
                break;
            }
        }
        self.n_clipped += self.pairs.clip(&start, &mut end, &meshes);
        self.pairs.finish(&end);
        for v in 0..n {
            self.v[v] = (end[v] - start[v]) / dt;
        }
        self.x = end;
        self.boxes.refit(&self.x, &self.x);
    }

    /// Crossings of the cloth with itself and with the meshes.
    fn n_crossings(&self) -> usize {
        let with_meshes = self.meshes.iter().map(|mesh| {
            let found = crossings(&self.boxes, &self.x, mesh.boxes(), mesh.end());
            found.len()
        });
        self_crossings(&self.boxes, &self.x).len() + with_meshes.sum::<usize>()
    }

    fn momentum(&self) -> DVec3 {
        let parts = self.cloth.masses().iter().zip(&self.v);
        parts.map(|(m, v)| *v * *m).sum()
    }

    /// The vertices of a piece.
    fn of_piece(&self, piece: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.x.len()).filter(move |v| self.piece[*v] == piece)
    }
}

fn cotton() -> Fabric {
    Fabric {
        shear: 60.0,
        ..Fabric::plain("cotton", 0.2, 600.0, 1e-5)
    }
}

const COTTON: PairKeeping = PairKeeping {
    thickness: 1e-3,
    friction: 0.3,
};
