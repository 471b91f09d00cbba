//! A disc of cloth on a smaller one, as on Cusick's drape meter: [`DrapedDisc`].
//!
//! Cusick, "The dependence of fabric drape on bending and shear stiffness",
//! 1965; ISO 9073-9: a disc of 15 cm radius lies on one of 9 cm, and the
//! drape coefficient is the share of the free ring's area that lies in the
//! shadow of the cloth under light from above.
//!
//! # Where we differ
//! Cloth on the disc is held instead of weighed down.

use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;

use drapery_core::{Fabric, Topology};
use glam::{DVec2, DVec3};

use super::{CELLS, Settling, Specimen, SpecimenError, within};
use crate::{ClampedEdge, RestShape};

/// A disc of cloth on a smaller one, whose top is around the origin; warp along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrapedDisc {
    /// Radius of the cloth [m].
    pub radius: f64,
    /// Radius of the disc below it [m].
    pub support: f64,
    /// Cells from the edge of the disc to the rim of the cloth.
    pub cells: u32,
    /// The most Newton iterations.
    pub iterations: u32,
}

impl Default for DrapedDisc {
    fn default() -> Self {
        Self {
            radius: 0.15,
            support: 0.09,
            cells: 16,
            iterations: 300,
        }
    }
}

/// How deep the waves are that the cloth begins with, as a share of the
/// overhang.
const START_DEPTH: f64 = 0.05;

impl DrapedDisc {
    /// The cloth of `fabric` at rest; its last vertex is the middle of the part
    /// that lies flat. `go_on` is called now and then with the share of the
    /// work that is certainly done.
    ///
    /// # Errors
    /// When the fabric is unsound, a setting is out of range, the cloth
    /// can't be solved for or the caller breaks off.
    pub fn at_rest(
        &self,
        fabric: &Fabric,
        go_on: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Specimen, SpecimenError> {
        let radii = 1e-2..=10.0;
        within("radius of a disc", self.radius, radii, "from 1 cm to 10 m")?;
        within("cells of a disc", self.cells.into(), 4.0..=1000.0, CELLS)?;
        let share = self.support / self.radius;
        let shares = 0.1..=0.95;
        within("support over radius", share, shares, "from 0.1 to 0.95")?;
        let (points, triangles, n_edge) = ring(self.support, self.radius, self.cells);
        let n = points.len() as u32;
        let corners = triangles.iter().map(|t| t.map(|v| points[v as usize]));
        let corners = corners.collect();
        let topology = |n, triangles| Topology::new(n, triangles).expect("rings name vertices");
        let rest = RestShape::from_corners(topology(n, triangles.clone()), corners)?;
        let edge: Vec<u32> = (0..n_edge).collect();
        let sides = (0..n_edge).map(|i| [i, (i + 1) % n_edge]);
        let clamps: Vec<ClampedEdge> = sides
            .clone()
            .map(|vertices| {
                let [a, b] = vertices.map(|v| level(points[v as usize]));
                let inwards = -(a + b).normalize();
                ClampedEdge {
                    vertices,
                    slope: inwards,
                }
            })
            .collect();
        let start = points.iter().map(|p| {
            let out = p.length() - self.support;
            let angle = p.to_angle();
            // Uneven, so that the cloth finds the number of its folds.
            let wave = 1.0 + 0.5 * (5.0 * angle).sin() + 0.5 * (3.0 * angle + 1.0).sin();
            level(*p) - DVec3::Y * (START_DEPTH * out * wave)
        });
        let settling = Settling {
            rest: &rest,
            clamps: &clamps,
            start: start.collect(),
            held: &edge,
            size: self.radius,
            iterations: self.iterations,
        };
        let mut specimen = settling.run(fabric, go_on)?;
        specimen.positions.push(DVec3::ZERO);
        let lying = sides.map(|[a, b]| [n, a, b]);
        let all = triangles.into_iter().chain(lying).collect();
        specimen.topology = topology(n + 1, all);
        Ok(specimen)
    }

    /// The drape coefficient of a disc at rest, as a share.
    pub fn coefficient(&self, specimen: &Specimen) -> f64 {
        let flat = |p: &DVec3| DVec2::new(p.x, p.z);
        let points: Vec<DVec2> = specimen.positions.iter().map(flat).collect();
        let shadow = shadow(specimen.topology.triangles(), &points, self.radius);
        let inner = PI * self.support.powi(2);
        (shadow - inner) / (PI * self.radius.powi(2) - inner)
    }
}

/// A point of the flat cloth where it lies level.
fn level(p: DVec2) -> DVec3 {
    DVec3::new(p.x, 0.0, -p.y)
}

/// A flat ring of vertices about as far from each other as their circles, its
/// triangles, and how many vertices are on the innermost circle.
fn ring(inner: f64, outer: f64, cells: u32) -> (Vec<DVec2>, Vec<[u32; 3]>, u32) {
    let step = (outer - inner) / f64::from(cells);
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    let mut circles: Vec<[u32; 2]> = Vec::new();
    for circle in 0..=cells {
        let radius = inner + step * f64::from(circle);
        let n = (TAU * radius / step).round() as u32;
        circles.push([points.len() as u32, n]);
        // Golden sections keep the circles from lining up.
        let phase = (0.618 * f64::from(circle)).fract();
        points.extend((0..n).map(|i| {
            let angle = TAU * (f64::from(i) + phase) / f64::from(n);
            DVec2::from_angle(angle) * radius
        }));
    }
    for pair in circles.windows(2) {
        stitch(pair[0], pair[1], &points, &mut triangles);
    }
    (points, triangles, circles[0][1])
}

/// Triangles between two circles, each given by its first vertex and their number:
/// at every turn the shorter of the two diagonals.
fn stitch(inner: [u32; 2], outer: [u32; 2], points: &[DVec2], triangles: &mut Vec<[u32; 3]>) {
    let at = |ring: [u32; 2], i: u32| ring[0] + i % ring[1];
    let place = |v: u32| points[v as usize];
    // The vertex of the outer circle that is nearest to the first inner one.
    let first = place(inner[0]);
    let nearest = (0..outer[1])
        .min_by(|a, b| {
            let [a, b] = [*a, *b].map(|i| place(at(outer, i)).distance_squared(first));
            a.total_cmp(&b)
        })
        .unwrap_or(0);
    let (mut i, mut o) = (0, 0);
    while i < inner[1] || o < outer[1] {
        let (a, b) = (at(inner, i), at(outer, nearest + o));
        let (next_a, next_b) = (at(inner, i + 1), at(outer, nearest + o + 1));
        let along_outer = i == inner[1]
            || (o < outer[1]
                && place(a).distance_squared(place(next_b))
                    < place(next_a).distance_squared(place(b)));
        if along_outer {
            triangles.push([a, b, next_b]);
            o += 1;
        } else {
            triangles.push([a, b, next_a]);
            i += 1;
        }
    }
}

/// The area that triangles cover on a plane [m²], counted in cells of
/// 1/400 `radius`.
fn shadow(triangles: &[[u32; 3]], points: &[DVec2], radius: f64) -> f64 {
    const HALF: i64 = 500;
    let cell = radius / 400.0;
    let side = 2 * HALF;
    let mut covered = vec![false; (side * side) as usize];
    for corners in triangles {
        let [a, b, c] = corners.map(|v| points[v as usize] / cell);
        let (low, high) = (a.min(b).min(c).ceil(), a.max(b).max(c).floor());
        let turn = (b - a).perp_dot(c - a).signum();
        for y in low.y as i64..=high.y as i64 {
            for x in low.x as i64..=high.x as i64 {
                let p = DVec2::new(x as f64, y as f64);
                let inside = [(a, b), (b, c), (c, a)]
                    .iter()
                    .all(|(from, to)| turn * (*to - *from).perp_dot(p - *from) >= 0.0);
                let (column, row) = (x + HALF, y + HALF);
                if inside && (0..side).contains(&column) && (0..side).contains(&row) {
                    covered[(row * side + column) as usize] = true;
                }
            }
        }
    }
    covered.iter().filter(|c| **c).count() as f64 * cell * cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_whole_and_their_triangles_stout() {
        for (inner, outer, cells) in [(0.09, 0.15, 4), (0.09, 0.15, 16), (0.1, 1.0, 30)] {
            let (points, triangles, n_edge) = ring(inner, outer, cells);
            let area = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| points[v as usize]);
                (b - a).perp_dot(c - a) / 2.0
            };
            let step = (outer - inner) / f64::from(cells);
            for t in &triangles {
                assert!(area(t) > 0.25 * step * step, "{t:?}: {}", area(t));
            }
            let sum: f64 = triangles.iter().map(area).sum();
            let expected = PI * (outer * outer - inner * inner);
            assert!((sum / expected - 1.0).abs() < 0.02, "{sum} {expected}");
            let topology = Topology::new(points.len() as u32, triangles).unwrap();
            let n_outer = points.iter().filter(|p| p.length() > outer - 1e-9).count();
            let borders = topology.edges().iter().filter(|e| e.is_border()).count();
            assert_eq!(borders, n_edge as usize + n_outer);
        }
    }

    #[test]
    fn shadows_are_counted_once() {
        let points = [[0.0, 0.0], [0.1, 0.0], [0.1, 0.05], [0.0, 0.05]].map(DVec2::from);
        // One half twice, wound both ways.
        let triangles = [[0, 1, 2], [0, 2, 3], [2, 1, 0]];
        let area = shadow(&triangles, &points, 0.15);
        assert!((area / 0.005 - 1.0).abs() < 0.01, "{area}");
    }

    #[test]
    fn stiff_cloth_stays_level_and_limp_cloth_falls() {
        let plan = DrapedDisc {
            cells: 6,
            ..DrapedDisc::default()
        };
        // Alike both ways, with a bending length of 10, 2.1 and 1 cm.
        let drape = |length: f64| {
            let bending = 0.2 * 9.81 * length.powi(3);
            let fabric = Fabric {
                shear: 50.0,
                ..Fabric::plain("cloth", 0.2, 1000.0, bending)
            };
            let found = plan
                .at_rest(&fabric, |_| ControlFlow::Continue(()))
                .unwrap();
            assert!(found.at_rest);
            plan.coefficient(&found)
        };
        let board = drape(0.1);
        assert!((0.99..1.005).contains(&board), "{board}");
        // The relation that fabrics are made by from a drape coefficient has 71 %.
        let suiting = drape(0.021);
        assert!((suiting - 0.712).abs() < 0.06, "{suiting}");
        let limp = drape(0.01);
        assert!(limp < suiting - 0.2, "{limp}");
    }
}
