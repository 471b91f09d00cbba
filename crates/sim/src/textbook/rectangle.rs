//! Rectangles of cloth in two triangulations: [`Rectangle`].
//!
//! Both have the same border and the same number of vertices and triangles, so
//! that what a test finds on one and not on the other is due to the
//! triangulation alone.
//!
//! | triangulation | how it is made                                                |
//! |---------------|---------------------------------------------------------------|
//! | aligned       | square cells, all cut along the same diagonal                  |
//! | unstructured  | interior vertices shaken as hard discs are in a gas until they have forgotten the grid, edges flipped to Delaunay's triangulation after every sweep; four to nine triangles meet in a vertex |

use drapery_core::Topology;
use glam::DVec2;

use super::flat_mesh::FlatMesh;
use crate::{RestShape, RestShapeError};

/// How a rectangle is cut into triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangulation {
    /// Right triangles in rows and columns.
    Aligned,
    /// Vertices without order, Delaunay's triangles between them.
    Unstructured,
}

impl Triangulation {
    /// Both of them.
    pub const BOTH: [Self; 2] = [Self::Aligned, Self::Unstructured];

    /// What it is called in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aligned => "aligned",
            Self::Unstructured => "unstructured",
        }
    }
}

/// A flat rectangle of cloth: u along its length from 0, v across.
#[derive(Clone, Debug)]
pub struct Rectangle {
    /// Its rest shape.
    pub rest: RestShape,
    /// Flat places of its vertices [m], shape [vertex].
    pub points: Vec<DVec2>,
    /// The vertices at u = 0 by rising v.
    pub start: Vec<u32>,
    /// The vertices at the far end by rising v.
    pub end: Vec<u32>,
}

impl Rectangle {
    /// A rectangle `length` long [m], of `n_along` by `n_across` cells that
    /// are squares where they are aligned.
    ///
    /// # Errors
    /// When the cells are too small to have an area.
    ///
    /// # Panics
    /// When there are no cells.
    pub fn new(
        length: f64,
        n_along: u32,
        n_across: u32,
        triangulation: Triangulation,
    ) -> Result<Self, RestShapeError> {
        let mut grid = Grid::new(n_along, n_across);
        if triangulation == Triangulation::Unstructured {
            grid.shake(SEED);
        }
        Self::of(grid, length)
    }

    /// An unstructured rectangle shaken with another seed.
    pub(super) fn shaken(
        length: f64,
        n_along: u32,
        n_across: u32,
        seed: u64,
    ) -> Result<Self, RestShapeError> {
        let mut grid = Grid::new(n_along, n_across);
        grid.shake(seed);
        Self::of(grid, length)
    }

    fn of(grid: Grid, length: f64) -> Result<Self, RestShapeError> {
        let (n_along, n_across) = (grid.n_along, grid.n_across);
        let side = n_along + 1;
        let cell = length / f64::from(n_along);
        let FlatMesh { points, triangles } = grid.mesh;
        let points: Vec<DVec2> = points.into_iter().map(|p| p * cell).collect();
        let corners = triangles
            .iter()
            .map(|t| t.map(|v| points[v as usize]))
            .collect();
        let topology = Topology::new(points.len() as u32, triangles)
            .expect("triangles name vertices of the grid");
        Ok(Self {
            rest: RestShape::from_corners(topology, corners)?,
            points,
            start: (0..=n_across).map(|y| y * side).collect(),
            end: (0..=n_across).map(|y| y * side + n_along).collect(),
        })
    }
}

/// The first seed that was tried.
const SEED: u64 = 0x5EED;

/// A mesh whose unit is one cell.
struct Grid {
    n_along: u32,
    n_across: u32,
    mesh: FlatMesh,
}

impl Grid {
    fn new(n_along: u32, n_across: u32) -> Self {
        assert!(n_along > 0 && n_across > 0, "a rectangle has cells");
        let side = n_along + 1;
        let points = (0..side * (n_across + 1))
            .map(|i| DVec2::new(f64::from(i % side), f64::from(i / side)))
            .collect();
        let mut triangles = Vec::new();
        for y in 0..n_across {
            for x in 0..n_along {
                let a = y * side + x;
                let (b, c, d) = (a + 1, a + side + 1, a + side);
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        Self {
            n_along,
            n_across,
            mesh: FlatMesh { points, triangles },
        }
    }

    fn shake(&mut self, seed: u64) {
        let (width, height) = (f64::from(self.n_along), f64::from(self.n_across));
        let is_inside = |p: DVec2, margin: f64| {
            p.x > margin && p.x < width - margin && p.y > margin && p.y < height - margin
        };
        self.mesh.shake(seed, is_inside);
    }
}

#[cfg(test)]
mod tests {
    use super::super::flat_mesh::in_circle;
    use super::*;

    fn unstructured() -> Rectangle {
        Rectangle::new(2.0, 40, 10, Triangulation::Unstructured).unwrap()
    }

    #[test]
    fn both_triangulations_cover_the_same_rectangle() {
        for triangulation in Triangulation::BOTH {
            let it = Rectangle::new(2.0, 40, 10, triangulation).unwrap();
            let area: f64 = it.rest.areas().iter().sum();
            assert!((area - 1.0).abs() < 1e-12, "{triangulation:?}: {area}");
            assert_eq!(it.points.len(), 41 * 11);
            assert_eq!(it.rest.areas().len(), 800);
            let edges = it.rest.topology().edges();
            assert_eq!(edges.iter().filter(|e| e.is_border()).count(), 100);
            assert!(edges.iter().all(|e| e.is_border() || e.is_consistent()));
            for (column, u) in [(&it.start, 0.0), (&it.end, 2.0)] {
                assert_eq!(column.len(), 11);
                for v in column {
                    assert!((it.points[*v as usize].x - u).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn the_unstructured_one_has_no_order_and_stout_triangles() {
        let it = unstructured();
        let mut valences = vec![0; it.points.len()];
        for corners in it.rest.topology().triangles() {
            for v in corners {
                valences[*v as usize] += 1;
            }
        }
        let inner: Vec<usize> = (0..it.points.len())
            .filter(|i| !(i % 41 == 0 || i % 41 == 40 || i / 41 == 0 || i / 41 == 10))
            .collect();
        let share = |valence: usize| {
            let count = inner.iter().filter(|i| valences[**i] == valence).count();
            count as f64 / inner.len() as f64
        };
        assert!(share(5) > 0.15 && share(7) > 0.15, "{}", share(6));
        assert!(share(6) < 0.6, "{}", share(6));
        // Vertices have left their places, most by more than a quarter of a cell.
        let cell = 2.0 / 40.0;
        let moved = inner.iter().filter(|i| {
            let home = DVec2::new((**i % 41) as f64, (**i / 41) as f64) * cell;
            it.points[**i].distance(home) > 0.25 * cell
        });
        assert!(moved.count() as f64 > 0.7 * inner.len() as f64);
        let mut smallest = f64::MAX;
        for corners in it.rest.corners() {
            for k in 0..3 {
                let (p, q) = (
                    corners[(k + 1) % 3] - corners[k],
                    corners[(k + 2) % 3] - corners[k],
                );
                smallest = smallest.min(p.angle_to(q).abs());
            }
        }
        assert!(smallest.to_degrees() > 20.0, "{}", smallest.to_degrees());
    }

    #[test]
    fn no_neighbour_lies_in_a_triangles_circle() {
        let it = unstructured();
        for corners in it.rest.topology().triangles() {
            let [a, b, c] = corners.map(|v| it.points[v as usize]);
            for (v, p) in it.points.iter().enumerate() {
                if !corners.contains(&(v as u32)) {
                    assert!(in_circle(a, b, c, *p) < 1e-9);
                }
            }
        }
    }
}
