//! The mannequin's skin: the surface of its [`Figure`] as a closed mesh.
//!
//! The left half is meshed, evened out and mirrored, so that the body is
//! symmetric to the bit.

use glam::{DVec3, Vec3};

use super::figure::Figure;
use super::nets::left_half;
use super::remesh::{Goal, Half};

/// Cells of the first mesh [m]: thumbs are two wide.
const CELL: f64 = 0.0105;

/// Length of edges where nothing asks for less [m].
const EDGE: f64 = 0.0200;

/// Edges grow by this much for each metre from what asks for short ones.
const GROWTH: f64 = 0.18;

/// Balls in which edges are shorter: middle, radius, length [m].
const FINE: [([f64; 3], f64, f64); 8] = [
    // Fingers and thumb.
    ([0.60, 0.94, 0.05], 0.06, 0.0098),
    ([0.65, 0.89, 0.04], 0.05, 0.0092),
    // Toes and heel.
    ([0.185, 0.02, 0.14], 0.06, 0.0125),
    ([0.160, 0.03, -0.03], 0.05, 0.0145),
    // The front of the ankle, which creases.
    ([0.162, 0.10, 0.01], 0.05, 0.0150),
    // Face and ears.
    ([0.0, 1.545, 0.09], 0.055, 0.0092),
    ([0.077, 1.57, -0.005], 0.03, 0.0100),
    // The armpit, whose skin folds.
    ([0.165, 1.29, -0.02], 0.05, 0.0170),
];

/// Rounds of remeshing: after eight, edges hardly change.
const N_ROUNDS: usize = 8;

/// A mesh that is its own mirror image.
pub(super) struct Skin {
    /// Positions [m], soles at y = 0.
    pub(super) positions: Vec<Vec3>,
    /// Triangles, counter-clockwise from outside.
    pub(super) triangles: Vec<[u32; 3]>,
    /// The vertex on the other side of each; those at x = 0 are their own.
    pub(super) mirror: Vec<u32>,
}

/// Length of edges at a place [m].
fn edge_length(p: DVec3) -> f64 {
    let p = DVec3::new(p.x.abs(), p.y, p.z);
    FINE.iter().fold(EDGE, |least, &(middle, radius, length)| {
        let beyond = (p.distance(DVec3::from_array(middle)) - radius).max(0.0);
        least.min(length + GROWTH * beyond)
    })
}

/// The place on the skin that Newton steps along the gradient lead to.
fn project(figure: &Figure, mut p: DVec3, n_steps: usize) -> DVec3 {
    for _ in 0..n_steps {
        let f = figure.field(p);
        if f.abs() < 1e-7 {
            break;
        }
        let mut gradient = figure.gradient(p, f);
        if p.x == 0.0 {
            gradient.x = 0.0;
        }
        let slope = gradient.length_squared();
        if slope < 1e-3 {
            break;
        }
        // No further than a few edges, where fields meet at an edge.
        p -= gradient * (f / slope).clamp(-0.02, 0.02);
    }
    p
}

impl Skin {
    /// The skin of a figure.
    pub(super) fn of(figure: &Figure) -> Self {
        let (positions, triangles) = left_half(
            |p| figure.field(p),
            DVec3::new(0.0, -0.03, -0.22),
            DVec3::new(0.78, 1.74, 0.24),
            CELL,
        );
        let mut half = Half {
            positions,
            triangles,
        };
        let goal = Goal {
            length: &edge_length,
            // One step leaves micrometres, and the next round another step.
            project: &|p| project(figure, p, 1),
        };
        half.remesh(&goal, N_ROUNDS);
        for p in &mut half.positions {
            *p = project(figure, *p, 4);
        }
        Self::mirrored(&half)
    }

    /// Both halves of a body, on the floor.
    fn mirrored(half: &Half) -> Self {
        let floor = half.positions.iter().map(|p| p.y).fold(f64::MAX, f64::min);
        let mut positions: Vec<Vec3> = half
            .positions
            .iter()
            .map(|p| Vec3::new(p.x as f32, (p.y - floor) as f32, p.z as f32))
            .collect();
        let n = positions.len() as u32;
        let mut mirror: Vec<u32> = (0..n).collect();
        for v in 0..n {
            let p = positions[v as usize];
            if p.x > 0.0 {
                mirror[v as usize] = positions.len() as u32;
                mirror.push(v);
                positions.push(Vec3::new(-p.x, p.y, p.z));
            }
        }
        let mut triangles = half.triangles.clone();
        let turned = |&[a, b, c]: &[u32; 3]| [a, c, b].map(|v| mirror[v as usize]);
        triangles.extend(half.triangles.iter().map(turned));
        Self {
            positions,
            triangles,
            mirror,
        }
    }
}
