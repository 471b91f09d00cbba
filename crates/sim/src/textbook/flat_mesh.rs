//! Flat triangles without order: [`FlatMesh`].

use glam::DVec2;

use super::dice::Dice;

/// A flat mesh whose unit is one cell: about one vertex a square.
pub(super) struct FlatMesh {
    pub(super) points: Vec<DVec2>,
    /// Counter-clockwise.
    pub(super) triangles: Vec<[u32; 3]>,
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

impl FlatMesh {
    /// Shakes the vertices inside as hard discs are in a gas until they have
    /// forgotten where they were. `is_inside` says whether a place is at least
    /// so far from the border; vertices on the border stay.
    pub(super) fn shake(&mut self, seed: u64, is_inside: impl Fn(DVec2, f64) -> bool) {
        let mut dice = Dice(seed);
        let inner: Vec<usize> = (0..self.points.len())
            .filter(|i| is_inside(self.points[*i], 0.0))
            .collect();
        let mut places = Places::new(&self.points);
        for _ in 0..SWEEPS {
            let around = self.triangles_around();
            for &vertex in &inner {
                let old = self.points[vertex];
                let new = old + DVec2::new(dice.signed(), dice.signed()) * SHAKE;
                if !is_inside(new, BORDER_CLEARANCE) || !places.is_clear(&self.points, vertex, new)
                {
                    continue;
                }
                self.points[vertex] = new;
                if around[vertex].iter().any(|t| self.area(*t) < 0.05) {
                    self.points[vertex] = old;
                } else {
                    places.move_vertex(vertex, old, new);
                }
            }
            self.flip_to_delaunay();
        }
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
    pub(super) fn flip_to_delaunay(&mut self) {
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

/// Which vertices are near a place, by squares of one cell.
struct Places {
    corner: DVec2,
    n_across: usize,
    squares: Vec<Vec<usize>>,
}

impl Places {
    fn new(points: &[DVec2]) -> Self {
        let low = points.iter().fold(DVec2::MAX, |low, p| low.min(*p));
        let high = points.iter().fold(DVec2::MIN, |high, p| high.max(*p));
        // A square more on each side, so that every one has neighbours.
        let corner = low - 1.0;
        let size = (high - corner).floor().as_uvec2() + 2;
        let mut places = Self {
            corner,
            n_across: size.x as usize,
            squares: vec![Vec::new(); (size.x * size.y) as usize],
        };
        for (vertex, p) in points.iter().enumerate() {
            let square = places.square(*p);
            places.squares[square].push(vertex);
        }
        places
    }

    fn square(&self, p: DVec2) -> usize {
        let at = (p - self.corner).as_uvec2();
        at.y as usize * self.n_across + at.x as usize
    }

    /// Whether a vertex has room at a place.
    fn is_clear(&self, points: &[DVec2], vertex: usize, place: DVec2) -> bool {
        let square = self.square(place);
        let rows = [square - self.n_across, square, square + self.n_across];
        let mut near = rows
            .into_iter()
            .flat_map(|middle| self.squares[middle - 1..=middle + 1].iter().flatten());
        near.all(|other| {
            *other == vertex || points[*other].distance_squared(place) > CLEARANCE * CLEARANCE
        })
    }

    fn move_vertex(&mut self, vertex: usize, from: DVec2, to: DVec2) {
        let (from, to) = (self.square(from), self.square(to));
        self.squares[from].retain(|v| *v != vertex);
        self.squares[to].push(vertex);
    }
}

/// Positive when d lies inside the circle through a, b and c, which run
/// counter-clockwise.
pub(super) fn in_circle(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> f64 {
    let [a, b, c] = [a - d, b - d, c - d];
    a.length_squared() * b.perp_dot(c)
        + b.length_squared() * c.perp_dot(a)
        + c.length_squared() * a.perp_dot(b)
}
