//! Cloth that is set down crossed is led out of it, calmly.

#![allow(
    clippy::unwrap_used,
    reason = "a scene that can't be set up fails the test"
)]

use drapery_core::{Fabric, Topology};
use drapery_sim::textbook::{Rectangle, Triangulation};
use drapery_sim::{
    Cloth, MeshBoxes, RestShape, SelfContactConfig, Simulation, SimulationConfig, self_crossings,
};
use glam::{DVec2, DVec3};

/// Flat pieces of cloth that are one mesh.
#[derive(Default)]
struct Pieces {
    triangles: Vec<[u32; 3]>,
    corners: Vec<[DVec2; 3]>,
    x: Vec<DVec3>,
}

impl Pieces {
    /// A square sheet of `side` [m] with `n` cells along it.
    fn add(&mut self, side: f64, n: u32, place: impl Fn(DVec2) -> DVec3) {
        let sheet = Rectangle::new(side, n, n, Triangulation::Unstructured).unwrap();
        let first = self.x.len() as u32;
        let middle = DVec2::splat(0.5 * side);
        for t in sheet.rest.topology().triangles() {
            self.corners.push(t.map(|v| sheet.points[v as usize]));
            self.triangles.push(t.map(|v| v + first));
        }
        self.x
            .extend(sheet.points.iter().map(|p| place(*p - middle)));
    }
}

/// Edges that pass through faces.
fn n_crossings(boxes: &mut MeshBoxes, x: &[DVec3]) -> usize {
    boxes.refit(x, x);
    self_crossings(boxes, x).len()
}

/// How much edges are longer or shorter than at rest, 99 of 100.
fn stretch_p99(pieces: &Pieces, x: &[DVec3]) -> f64 {
    let mut all: Vec<f64> = Vec::new();
    for (t, corners) in pieces.triangles.iter().zip(&pieces.corners) {
        for k in 0..3 {
            let (i, j) = (t[k] as usize, t[(k + 1) % 3] as usize);
            let rest = corners[k].distance(corners[(k + 1) % 3]);
            all.push((x[i].distance(x[j]) / rest - 1.0).abs());
        }
    }
    all.sort_by(f64::total_cmp);
    all[all.len() * 99 / 100]
}

/// Steps until nothing crosses, at most a second, and a tenth more.
fn untangle(pieces: &Pieces) {
    let topology = Topology::new(pieces.x.len() as u32, pieces.triangles.clone()).unwrap();
    let rest = RestShape::from_corners(topology.clone(), pieces.corners.clone()).unwrap();
    let fabric = Fabric {
        shear: 60.0,
        ..Fabric::plain("cotton", 0.15, 600.0, 5e-6)
    };
    let cloth = Cloth::new(&rest, &fabric, &[]).unwrap();
    let config = SimulationConfig {
        gravity: DVec3::ZERO,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, pieces.x.clone(), config).unwrap();
    simulation
        .set_self_contact(Some(SelfContactConfig::default()))
        .unwrap();
    let mut boxes = MeshBoxes::new(&topology, &pieces.x);
    let first = n_crossings(&mut boxes, &pieces.x);
    assert!(first > 0, "it starts crossed");
    let mut freed = None;
    for step in 0..300 {
        let report = simulation.step().unwrap();
        let found = n_crossings(&mut boxes, simulation.positions());
        assert_eq!(report.crossings as usize, found, "step {step}");
        let speeds = simulation.velocities().iter().map(|v| v.length());
        let fastest = speeds.fold(0.0, f64::max);
        assert!(fastest < 5.0, "step {step}: {fastest} m/s");
        let stretch = stretch_p99(pieces, simulation.positions());
        assert!(stretch < 0.1, "step {step}: stretched by {stretch}");
        match freed {
            None if found == 0 => freed = Some(step),
            Some(at) => {
                assert_eq!(found, 0, "crossed again in step {step}, free since {at}");
                if step > at + 30 {
                    return;
                }
            }
            None => {}
        }
    }
    panic!(
        "not free after a second, {} of {first} crossings left",
        n_crossings(&mut boxes, simulation.positions())
    );
}

#[test]
fn a_sheet_whose_hem_hangs_through_another_is_pulled_back() {
    let mut pieces = Pieces::default();
    pieces.add(0.2, 16, |p| DVec3::new(p.x, 0.0, p.y));
    pieces.add(0.14, 12, |p| {
        DVec3::new(0.013 + 0.2 * p.x, p.x + 0.05, p.y + 0.011)
    });
    untangle(&pieces);
}

#[test]
fn sheets_shifted_through_each_other_s_edge_slide_apart() {
    let mut pieces = Pieces::default();
    pieces.add(0.2, 16, |p| DVec3::new(p.x, 0.0, p.y));
    pieces.add(0.2, 16, |p| DVec3::new(0.013 + 0.2 * p.x, p.x, p.y + 0.18));
    untangle(&pieces);
}

/// Where a strip is after a length `s`: straight, around an arc of radius `r`
/// by `angle`, and straight on.
fn hook(s: f64, r: f64, angle: f64) -> (f64, f64) {
    if s < 0.0 {
        return (s, 0.0);
    }
    let turned = (s / r).min(angle);
    let rest = s - r * turned;
    (
        r * turned.sin() + rest * turned.cos(),
        r * (1.0 - turned.cos()) + rest * turned.sin(),
    )
}

#[test]
fn a_corner_through_the_middle_of_its_own_cloth_comes_back() {
    let mut pieces = Pieces::default();
    // Along the diagonal: bent back around 21 mm, then 2 cm down through the cloth.
    pieces.add(0.2, 18, |p| {
        let (s, across) = ((p.x + p.y) / 2f64.sqrt(), (p.x - p.y) / 2f64.sqrt());
        let (x, y) = hook(s + 0.01, 0.021, 1.3 * std::f64::consts::PI);
        DVec3::new(x, y, across)
    });
    untangle(&pieces);
}

#[test]
fn a_fold_whose_hem_is_through_the_layer_below_comes_up() {
    let mut pieces = Pieces::default();
    // Folded over 5 mm, sloping down: the hem ends 1 cm along beyond the layer.
    let slope = 0.135f64;
    pieces.add(0.2, 18, |p| {
        let angle = std::f64::consts::PI + slope;
        let (x, y) = hook(p.x, 0.005, angle);
        DVec3::new(x, y, p.y)
    });
    untangle(&pieces);
}

/// Each of eight dents closes on both sheets.
#[test]
fn sheets_that_wave_through_each_other_are_parted() {
    let mut pieces = Pieces::default();
    pieces.add(0.2, 20, |p| DVec3::new(p.x, 0.0, p.y));
    pieces.add(0.2, 20, |p| {
        let wave = |q: f64| (q * std::f64::consts::TAU / 0.1).cos();
        DVec3::new(
            p.x + 0.0013,
            0.006 * wave(p.x) * wave(p.y) - 0.002,
            p.y + 0.0017,
        )
    });
    untangle(&pieces);
}

/// Half of each is on either side of the other: any way is as good.
#[test]
fn sheets_that_cross_in_their_middles_are_parted() {
    for slope in [0.3, 1.0, 8.0f64] {
        let mut pieces = Pieces::default();
        pieces.add(0.1, 10, |p| DVec3::new(p.x, 0.0, p.y));
        let along = DVec2::new(1.0, slope).normalize();
        pieces.add(0.1, 10, |p| {
            DVec3::new(p.x * along.x + 0.003, p.x * along.y, p.y + 0.002)
        });
        untangle(&pieces);
    }
}
