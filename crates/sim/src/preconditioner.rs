//! An approximate inverse of the Hessian that follows the cloth around.
//!
//! Seen in the frame of a cloth's own threads (along the weft, along the warp,
//! across the surface), a small step costs nearly what three scalar fields
//! would:
//!
//! ```text
//! u, along the weft:    M/h² + Σ A (Y_u ∂_u∂_u + G ∂_v∂_v)
//! v, along the warp:    M/h² + Σ A (G ∂_u∂_u + Y_v ∂_v∂_v)
//! n, across:            M/h² + Σ A T (∂_u∂_u + ∂_v∂_v)
//! ```
//!
//! These don't change as cloth moves, so their factors last for a whole clip:
//! P⁻¹ = R · factors⁻¹ · Rᵀ with R the frames at the vertices, found anew at
//! every iteration. T stands for tension and for what neighbours that are
//! turned against each other feel of Y.
//!
//! Bending is left out but for its diagonal: at the time steps of animation
//! inertia outweighs it.

use drapery_linalg::{LANES, LaneCholesky, Lanes, SymmetricPattern};
use glam::{Mat3A, Vec3A};
use rayon::prelude::*;

use crate::objective::Evaluation;
use crate::reduction::CHUNK;
use crate::{Cloth, Objective};

/// Factors of the three fields, and frames at the vertices.
#[derive(Debug)]
pub(crate) struct Preconditioner {
    lanes: LaneCholesky,
    frames: Vec<Mat3A>,
    local: Vec<Lanes>,
    /// What the factors were made for: h, β/h, held vertices.
    made_for: Option<(f64, f64, Vec<bool>)>,
}

/// T/Y. On a cloth that hangs by two corners, conjugate gradients took the
/// fewest iterations between 0.03 and 0.07; a tenth or ten times as much
/// doubled them.
const ACROSS: f64 = 0.04;

/// How much heavier than the heaviest free vertex a held one is.
const HELD: f64 = 1e6;

impl Preconditioner {
    /// For a cloth whose Hessian has these pairs of vertices.
    pub(crate) fn new(cloth: &Cloth, pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let n = cloth.n_vertices();
        let entries = pairs.map(|(a, b)| (a as usize, b as usize));
        let pattern = SymmetricPattern::new(n, entries).expect("pairs are of vertices");
        Self {
            lanes: LaneCholesky::new(pattern),
            frames: vec![Mat3A::IDENTITY; n],
            local: vec![[0.0; LANES]; n],
            made_for: None,
        }
    }

    /// Factors the three fields, unless that has been done. False when one has
    /// no factor.
    pub(crate) fn factor(&mut self, objective: &Objective<'_>) -> bool {
        let dt = objective.inertia.map_or(f64::INFINITY, |i| i.dt);
        let damped = objective.bending_factor();
        if let Some((h, d, held)) = &self.made_for
            && (*h, *d) == (dt, damped)
            && held == objective.held
        {
            return true;
        }
        let cloth = objective.cloth;
        let membrane = cloth.membrane();
        let c = *membrane.stiffness() * damped;
        let (weft, warp, shear) = (c.x_axis.x, c.y_axis.y, c.z_axis.z);
        let tension = ACROSS * (weft * warp).sqrt();
        let stiffness = [[weft, shear], [shear, warp], [tension, tension]];
        for (lane, [along_u, along_v]) in stiffness.into_iter().enumerate() {
            let pattern = self.lanes.pattern();
            let mut values = vec![0.0; pattern.n_entries()];
            let mut add = |a: u32, b: u32, value: f64| {
                let place = pattern.place(a as usize, b as usize);
                values[place.expect("a pair of a triangle")] += value;
            };
            for (triangle, corners) in membrane.triangles().iter().enumerate() {
                let (g, area) = (membrane.gradients()[triangle], membrane.areas()[triangle]);
                for a in 0..3 {
                    for b in 0..=a {
                        let value = along_u * g[a].x * g[b].x + along_v * g[a].y * g[b].y;
                        add(corners[a], corners[b], value * area);
                    }
                }
            }
            let bending = cloth.bending().matrix();
            for vertex in 0..cloth.n_vertices() {
                let v = vertex as u32;
                let stiff = bending.diagonal(vertex) * damped;
                add(v, v, objective.weight(vertex) + stiff);
                if objective.held[vertex] {
                    add(
                        v,
                        v,
                        HELD * (weft + warp + stiff + objective.weight(vertex)),
                    );
                }
            }
            for spring in objective.springs {
                let mean = (spring.stiffness.x_axis.x
                    + spring.stiffness.y_axis.y
                    + spring.stiffness.z_axis.z)
                    / 3.0;
                add(spring.vertex, spring.vertex, mean);
            }
            if self.lanes.factor(lane, &values).is_err() {
                self.made_for = None;
                return false;
            }
        }
        self.made_for = Some((dt, damped, objective.held.to_vec()));
        true
    }

    /// Turns the frames to where the cloth is.
    pub(crate) fn follow(&mut self, cloth: &Cloth, at: &Evaluation) {
        let (around, areas) = (cloth.around(), cloth.membrane().areas());
        self.frames
            .par_chunks_mut(CHUNK)
            .enumerate()
            .for_each(|(chunk, frames)| {
                for (i, frame) in frames.iter_mut().enumerate() {
                    let (mut u, mut v) = (glam::DVec3::ZERO, glam::DVec3::ZERO);
                    for (triangle, _) in around.of(chunk * CHUNK + i) {
                        u += at.deformations[triangle][0] * areas[triangle];
                        v += at.deformations[triangle][1] * areas[triangle];
                    }
                    let Some(normal) = u.cross(v).try_normalize() else {
                        continue;
                    };
                    let along = u.normalize();
                    *frame = Mat3A::from_cols(
                        Vec3A::from(along.as_vec3()),
                        Vec3A::from(normal.cross(along).as_vec3()),
                        Vec3A::from(normal.as_vec3()),
                    );
                }
            });
    }

    /// z = P⁻¹ r.
    pub(crate) fn apply(&mut self, r: &[Vec3A], z: &mut [Vec3A]) {
        for ((local, frame), r) in self.local.iter_mut().zip(&self.frames).zip(r) {
            let [u, v, n] = frame.transpose().mul_vec3a(*r).to_array();
            *local = [u, v, n, 0.0];
        }
        self.lanes.solve(&mut self.local);
        for ((local, frame), z) in self.local.iter().zip(&self.frames).zip(z) {
            let [u, v, n, _] = *local;
            *z = frame.mul_vec3a(Vec3A::new(u, v, n));
        }
    }
}
