//! [`Overlap`]: where one part of a body is in another, and the way out.

use glam::DVec3;
use rayon::prelude::*;

use super::{CHUNK, Flesh};
use crate::contact::{Bounds, point_triangle};

/// What keeps this share of the distance that it has at rest, or more, is of one
/// part.
const OWN: f64 = 0.8;

/// Where one part of a body is in another, or hardly outside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The vertex of the one.
    pub vertex: u32,
    /// The corners of the triangle of the other that faces it, and the place on
    /// it that is next to the vertex, as shares of them.
    pub corners: [u32; 3],
    /// See `corners`.
    pub shares: [f64; 3],
    /// How far the vertex is inside [m]; negative outside.
    pub depth: f64,
    /// Its shortest way out.
    pub way: DVec3,
}

impl Flesh {
    /// Where some `vertices` are in a part that is more than `apart` [m] from them at
    /// rest, or less than [`FleshConfig::room`] outside it.
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn overlaps(&mut self, positions: &[DVec3], vertices: &[u32], apart: f64) -> Vec<Overlap> {
        self.boxes.refit(positions, positions);
        let all = Bounds::of(positions.iter().copied());
        let flesh = &*self;
        let of = |v: &u32| {
            let v = *v as usize;
            let p = positions[v];
            let normal = flesh.normal(positions, v);
            let is_inside = flesh.is_inside(positions, v, normal, all);
            let (distance, t) = match is_inside {
                true => flesh.way_out(positions, v)?,
                false => flesh.facing(positions, v, normal, flesh.config.room)?,
            };
            if flesh.rest_distance(v, t) <= apart {
                return None;
            }
            let met = point_triangle(p, flesh.corners(positions, t));
            let shares = [1, 2, 3].map(|k| -met.weights[k]);
            let corners = flesh.boxes.triangles()[t as usize];
            let [a, b, c] = flesh.corners(positions, t);
            // At the surface itself the way out is the triangle's.
            let out = (b - a).cross(c - a).normalize_or_zero();
            let place = a * shares[0] + b * shares[1] + c * shares[2];
            let (way, depth) = match is_inside {
                true => (place - p, distance),
                false => (p - place, -distance),
            };
            Some(Overlap {
                vertex: v as u32,
                corners,
                shares,
                depth,
                way: way.try_normalize().unwrap_or(out),
            })
        };
        let found = vertices.par_iter().with_min_len(CHUNK).filter_map(of);
        found.collect()
    }

    /// How far a vertex is from the nearest surface that it would leave another
    /// part through, and by which triangle.
    fn way_out(&self, x: &[DVec3], v: usize) -> Option<(f64, u32)> {
        let p = x[v];
        let distance_sq = |t: u32| {
            let [a, b, c] = self.corners(x, t);
            if (b - a).cross(c - a).dot(a - p) <= 0.0 {
                return f64::INFINITY;
            }
            let distance = point_triangle(p, [a, b, c]).distance();
            match distance < OWN * self.rest_distance(v, t) {
                true => distance * distance,
                false => f64::INFINITY,
            }
        };
        let nearest = self.boxes.nearest_face(p, self.config.reach, distance_sq)?;
        Some((distance_sq(nearest).sqrt(), nearest))
    }
}
