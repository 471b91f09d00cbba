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
        let points: Vec<DVec2> = grid.points.iter().map(|p| *p * cell).collect();
        let corners = grid
            .triangles
            .iter()
            .map(|t| t.map(|v| points[v as usize]))
            .collect();
        let topology = Topology::new(points.len() as u32, grid.triangles)
            .expect("triangles name vertices of the grid");
        Ok(Self {
            rest: RestShape::from_corners(topology, corners)?,
            points,
            start: (0..=n_across).map(|y| y * side).collect(),
            end: (0..=n_across).map(|y| y * side + n_along).collect(),
        })
    }
}

/// Vertices closer than this to another stay where they are, in cells: just so
/// dense that the discs still flow past each other.
const CLEARANCE: f64 = 0.78;
/// The same from the border: triangles there stay stout.
const BORDER_CLEARANCE: f64 = 0.6;
/// The farthest a vertex is moved at once, in cells.
const SHAKE: f64 = 0.35;
/// Sweeps over all vertices; after about ten, neighbours are no longer those of the grid.
const SWEEPS: u32 = 30;

/// The first seed that was tried.
const SEED: u64 = 0x5EED;

/// A mesh whose unit is one cell.
struct Grid {
    n_along: u32,
    n_across: u32,
    points: Vec<DVec2>,
    triangles: Vec<[u32; 3]>,
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
            points,
            triangles,
        }
    }

    fn shake(&mut self, seed: u64) {
        let mut dice = Dice(seed);
        let (width, height) = (f64::from(self.n_along), f64::from(self.n_across));
        let is_inside = |p: DVec2, margin: f64| {
            p.x > margin && p.x < width - margin && p.y > margin && p.y < height - margin
        };
        let inner: Vec<usize> = (0..self.points.len())
            .filter(|i| is_inside(self.points[*i], 0.0))
            .collect();
        for _ in 0..SWEEPS {
            let around = self.triangles_around();
            for &vertex in &inner {
                let old = self.points[vertex];
                let new = old + DVec2::new(dice.signed(), dice.signed()) * SHAKE;
                if !is_inside(new, BORDER_CLEARANCE) || !self.is_clear(vertex, new) {
                    continue;
                }
                self.points[vertex] = new;
                if around[vertex].iter().any(|t| self.area(*t) < 0.05) {
                    self.points[vertex] = old;
                }
            }
            self.flip_to_delaunay();
        }
    }

    fn is_clear(&self, vertex: usize, place: DVec2) -> bool {
        let mut others = self.points.iter().enumerate();
        others
            .all(|(other, p)| other == vertex || p.distance_squared(place) > CLEARANCE * CLEARANCE)
    }

    fn triangles_around(&self) -> Vec<Vec<usize>> {
        let mut around = vec![Vec::new(); self.points.len()];
        for (triangle, corners) in self.triangles.iter().enumerate() {
            for v in corners {
                around[*v as usize].push(triangle);
            }
        }
        around
    }

    fn area(&self, triangle: usize) -> f64 {
        let [a, b, c] = self.triangles[triangle].map(|v| self.points[v as usize]);
        (b - a).perp_dot(c - a) / 2.0
    }

    /// Flips edges until every circle through the corners of a triangle is
    /// free of its neighbours' corners. Border edges stay.
    fn flip_to_delaunay(&mut self) {
        // Each flip lowers the sum of squared radii, so this ends; the bound
        // is for rounding alone.
        for _ in 0..100 {
            let mut sides: Vec<(u32, u32, usize)> = Vec::with_capacity(3 * self.triangles.len());
            for (triangle, corners) in self.triangles.iter().enumerate() {
                for side in 0..3 {
                    let (a, b) = (corners[side], corners[(side + 1) % 3]);
                    sides.push((a.min(b), a.max(b), triangle));
                }
            }
            sides.sort_unstable();
            let mut is_stale = vec![false; self.triangles.len()];
            let mut n_flips = 0;
            for edge in sides.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
                let [(a, b, left), (_, _, right)] = *edge else {
                    continue;
                };
                if is_stale[left] || is_stale[right] {
                    continue;
                }
                if self.flip([a, b], left, right) {
                    (is_stale[left], is_stale[right]) = (true, true);
                    n_flips += 1;
                }
            }
            if n_flips == 0 {
                break;
            }
        }
    }

    /// Flips the edge between two triangles if that is Delaunay's choice.
    fn flip(&mut self, edge: [u32; 2], left: usize, right: usize) -> bool {
        let far = |triangle: usize| {
            let mut corners = self.triangles[triangle].into_iter();
            corners.find(|v| !edge.contains(v)).expect("three corners")
        };
        let (c, d) = (far(left), far(right));
        // The edge as the left triangle runs along it.
        let corners = self.triangles[left];
        let at = corners.iter().position(|v| *v == c).expect("a corner");
        let (a, b) = (corners[(at + 1) % 3], corners[(at + 2) % 3]);
        let [pa, pb, pc, pd] = [a, b, c, d].map(|v| self.points[v as usize]);
        if in_circle(pa, pb, pc, pd) <= 1e-9 {
            return false;
        }
        self.triangles[left] = [a, d, c];
        self.triangles[right] = [d, b, c];
        true
    }
}

/// Positive when d lies inside the circle through a, b and c, which run
/// counter-clockwise.
fn in_circle(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> f64 {
    let [a, b, c] = [a - d, b - d, c - d];
    a.length_squared() * b.perp_dot(c)
        + b.length_squared() * c.perp_dot(a)
        + c.length_squared() * a.perp_dot(b)
}

/// Numbers that look random and are the same everywhere (SplitMix64).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// The next number from −1 to 1.
    pub(super) fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        // 53 bits fit a double exactly.
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
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
