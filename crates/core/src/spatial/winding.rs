//! How many times a surface surrounds a point, also when it has holes.
//!
//! ```text
//! w(p) = 1/4π Σₜ Ωₜ(p)      tan(Ω/2) = a·(b×c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|)
//! ```
//!
//! with a, b, c the corners of triangle t seen from p, and Ωₜ its solid angle
//! (A. van Oosterom, J. Strackee, 1983). 1 inside a closed surface and 0
//! outside, 2 where it overlaps itself, between those near a hole.
//!
//! [`WindingField`] takes a branch of the tree that is far enough away as one
//! dipole, Σₜ Aₜ nₜ · r / 4π|r|³ (G. Barill and others, "Fast winding numbers
//! for soups and clouds", 2018, first order).

use alloc::vec::Vec;
use core::f64::consts::TAU;

use glam::{DVec3, Vec3};

use super::tree::TriangleTree;

/// A branch is taken as one dipole from this many of its radii on. At 2 the
/// number is off by a few hundredths at most, far from the half that matters;
/// at 1 by tenths, at 4 it costs three times as much.
const FAR: f64 = 2.0;

/// The winding number of triangles at `positions` [m] around `p`: the plain sum
/// over all triangles.
pub fn winding_number(p: Vec3, triangles: &[[u32; 3]], positions: &[Vec3]) -> f64 {
    let p = p.as_dvec3();
    let sum: f64 = triangles
        .iter()
        .map(|t| half_solid_angle(t.map(|v| positions[v as usize].as_dvec3() - p)))
        .sum();
    sum / TAU
}

fn half_solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let volume = a.dot(b.cross(c));
    let rest = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    if volume == 0.0 {
        return 0.0; // seen edge-on, or a corner is the point itself
    }
    libm::atan2(volume, rest)
}

/// The dipoles of a [`TriangleTree`]'s branches at one set of positions.
#[derive(Clone, Debug)]
pub struct WindingField {
    dipoles: Vec<Dipole>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Dipole {
    centre: DVec3,
    /// Σ area × normal [m²].
    moment: DVec3,
    /// Σ area [m²].
    area: f64,
    /// Everything in the branch is within this distance of the centre [m].
    radius: f64,
}

impl WindingField {
    /// The field of the tree's triangles at `positions` [m].
    ///
    /// # Panics
    /// When the number of positions is not the one the tree was built with.
    pub fn new(tree: &TriangleTree, positions: &[Vec3]) -> Self {
        tree.check_positions(positions);
        let mut dipoles = alloc::vec![Dipole::default(); tree.nodes.len()];
        for (index, node) in tree.nodes.iter().enumerate().rev() {
            let mut sum = Dipole::default();
            let mut add = |centre: DVec3, moment: DVec3, area: f64| {
                sum.centre += centre * area;
                sum.moment += moment;
                sum.area += area;
            };
            if node.is_leaf() {
                for corners in &tree.corners[node.slots()] {
                    let [a, b, c] = corners.map(|v| positions[v as usize].as_dvec3());
                    let moment = (b - a).cross(c - a) / 2.0;
                    add((a + b + c) / 3.0, moment, moment.length());
                }
            } else {
                for child in [index + 1, node.link as usize] {
                    let child = dipoles[child];
                    add(child.centre, child.moment, child.area);
                }
            }
            let (low, high) = (node.low.as_dvec3(), node.high.as_dvec3());
            sum.centre = if sum.area > 0.0 {
                sum.centre / sum.area
            } else {
                (low + high) / 2.0
            };
            sum.radius = (high - sum.centre).max(sum.centre - low).length();
            dipoles[index] = sum;
        }
        Self { dipoles }
    }

    /// The winding number around `p` [m], to a few hundredths; exact next to
    /// the surface. `tree` and `positions` are those the field was made with.
    ///
    /// # Panics
    /// When the tree or the number of positions is another one.
    pub fn number(&self, tree: &TriangleTree, positions: &[Vec3], p: Vec3) -> f64 {
        tree.check_positions(positions);
        assert_eq!(self.dipoles.len(), tree.nodes.len(), "the field's own tree");
        let p = p.as_dvec3();
        let mut sum = 0.0;
        let mut stack = tree.stack();
        while let Some(index) = stack.pop() {
            let dipole = &self.dipoles[index as usize];
            let to = dipole.centre - p;
            let distance_sq = to.length_squared();
            let far = FAR * dipole.radius;
            if distance_sq > far * far {
                sum += dipole.moment.dot(to) / (2.0 * distance_sq * libm::sqrt(distance_sq));
                continue;
            }
            let node = &tree.nodes[index as usize];
            if node.is_leaf() {
                for corners in &tree.corners[node.slots()] {
                    sum += half_solid_angle(corners.map(|v| positions[v as usize].as_dvec3() - p));
                }
            } else {
                stack.push(node.link);
                stack.push(index + 1);
            }
        }
        sum / TAU
    }
}
