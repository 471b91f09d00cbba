//! Rings of cloth without order in their triangles: [`Ring`].

use std::f64::consts::TAU;

use drapery_core::Topology;
use glam::DVec2;

use super::flat_mesh::FlatMesh;
use crate::{RestShape, RestShapeError};

/// A flat ring of cloth around the origin of the pattern.
///
/// Vertices stand evenly on its two borders, and between them as those of an
/// unstructured [`Rectangle`](super::Rectangle) do.
#[derive(Clone, Debug)]
pub struct Ring {
    /// Its rest shape.
    pub rest: RestShape,
    /// Flat places of its vertices [m], shape [vertex].
    pub points: Vec<DVec2>,
    /// The vertices of the inner border, counter-clockwise.
    pub inner: Vec<u32>,
    /// The vertices of the outer border, counter-clockwise.
    pub outer: Vec<u32>,
}

impl Ring {
    /// A ring from radius `inner` to radius `outer` [m], of `n_across` cells
    /// from one to the other, shaken with `seed`.
    ///
    /// # Errors
    /// When the cells are too small to have an area.
    ///
    /// # Panics
    /// When there are no cells, or no ring between the radii.
    pub fn new(inner: f64, outer: f64, n_across: u32, seed: u64) -> Result<Self, RestShapeError> {
        assert!(n_across > 0, "a ring has cells");
        assert!(
            0.0 < inner && inner < outer,
            "a ring lies between its radii"
        );
        let cell = (outer - inner) / f64::from(n_across);
        let radius = |k: u32| inner / cell + f64::from(k);
        let mut mesh = FlatMesh {
            points: Vec::new(),
            triangles: Vec::new(),
        };
        let mut circles = Vec::new();
        for k in 0..=n_across {
            let n = (TAU * radius(k)).round().max(3.0) as u32;
            let start = mesh.points.len() as u32;
            mesh.points
                .extend((0..n).map(|i| DVec2::from_angle(share(i, n) * TAU) * radius(k)));
            circles.push(start..start + n);
        }
        for pair in circles.windows(2) {
            zip(&pair[0], &pair[1], &mut mesh.triangles);
        }
        mesh.flip_to_delaunay();
        let (low, high) = (radius(0), radius(n_across));
        // Borders are a rounding error away from their radius.
        let is_inside = |p: DVec2, margin: f64| {
            let margin = margin.max(1e-6);
            (low + margin..high - margin).contains(&p.length())
        };
        mesh.shake(seed, is_inside);
        let points: Vec<DVec2> = mesh.points.iter().map(|p| *p * cell).collect();
        let corners = mesh.triangles.iter();
        let corners = corners.map(|t| t.map(|v| points[v as usize])).collect();
        let topology = Topology::new(points.len() as u32, mesh.triangles)
            .expect("triangles name vertices of the ring");
        let circle = |at: usize| circles[at].clone().collect();
        Ok(Self {
            rest: RestShape::from_corners(topology, corners)?,
            points,
            inner: circle(0),
            outer: circle(n_across as usize),
        })
    }
}

fn share(i: u32, n: u32) -> f64 {
    f64::from(i) / f64::from(n)
}

/// Triangles between two circles of vertices.
fn zip(inner: &std::ops::Range<u32>, outer: &std::ops::Range<u32>, triangles: &mut Vec<[u32; 3]>) {
    let (n_inner, n_outer) = (inner.len() as u32, outer.len() as u32);
    let (mut i, mut o) = (0, 0);
    while i < n_inner || o < n_outer {
        let [a, b] = [i, i + 1].map(|i| inner.start + i % n_inner);
        let [c, d] = [o, o + 1].map(|o| outer.start + o % n_outer);
        // Whichever side is behind goes on.
        if o < n_outer && (i == n_inner || share(o + 1, n_outer) <= share(i + 1, n_inner)) {
            triangles.push([a, c, d]);
            o += 1;
        } else {
            triangles.push([a, c, b]);
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_covers_what_lies_between_its_borders() {
        let ring = Ring::new(0.09, 0.15, 8, 1).unwrap();
        // Both borders are polygons of n corners: ½ n r² sin(2π/n).
        let polygon = |border: &[u32], radius: f64| {
            let n = border.len() as f64;
            0.5 * n * radius * radius * (TAU / n).sin()
        };
        let expected = polygon(&ring.outer, 0.15) - polygon(&ring.inner, 0.09);
        let area: f64 = ring.rest.areas().iter().sum();
        assert!((area / expected - 1.0).abs() < 1e-12, "{area} m²");
        let edges = ring.rest.topology().edges();
        let n_border = edges.iter().filter(|e| e.is_border()).count();
        assert_eq!(n_border, ring.inner.len() + ring.outer.len());
        assert!(edges.iter().all(|e| e.is_border() || e.is_consistent()));
        for (border, radius) in [(&ring.inner, 0.09), (&ring.outer, 0.15)] {
            for v in border {
                assert!((ring.points[*v as usize].length() - radius).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn no_direction_is_preferred() {
        // Edges of a mesh made of circles run along them or across.
        let ring = Ring::new(0.09, 0.15, 12, 1).unwrap();
        let mut sums = [0.0; 2];
        let mut n_edges = 0;
        for edge in ring
            .rest
            .topology()
            .edges()
            .iter()
            .filter(|e| !e.is_border())
        {
            let [a, b] = edge.vertices.map(|v| ring.points[v as usize]);
            let angle = (b - a).to_angle() - (a + b).to_angle();
            for (sum, fold) in sums.iter_mut().zip([4.0, 6.0]) {
                *sum += (fold * angle).cos();
            }
            n_edges += 1;
        }
        for sum in sums {
            assert!(
                (sum / f64::from(n_edges)).abs() < 0.1,
                "{sums:?} of {n_edges}"
            );
        }
    }
}
