//! How a garment is worn at rest: which way it faces, and over which skin it lies:
//! [`Worn`].

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{Topology, vertex_normals};
use glam::Vec3;

use super::CorrectionState;
use super::lists::Lists;
use super::skin::Skin;

/// Normals of the garment at rest are smoothed over this length [m]: a pleat has
/// flanks that face any way, a skirt has a front and a back.
const SMOOTH: f32 = 0.08;
/// Rounds of smoothing the posed normals; these are of skin, which is smooth.
const TURNS: u32 = 3;
/// Home is so far above the skin at most [m]: near enough to be over no other part.
const HOME: f32 = 4e-3;
/// No vertex has a home on skin that faces away from it.
const FACING: f32 = 0.2;

/// How a garment is worn at rest.
#[derive(Clone, Debug)]
pub(super) struct Worn {
    /// Which way each vertex faces at rest, smooth.
    pub(super) facing: Vec<Vec3>,
    /// The skin that each vertex lies over.
    homes: Vec<Option<Home>>,
}

/// A place of the skin.
#[derive(Clone, Copy, Debug)]
struct Home {
    triangle: u32,
    barycentric: [f32; 3],
    /// How far above it [m].
    height: f32,
}

impl Worn {
    /// A garment at `rest` [m] over a skin at `positions` [m].
    pub(super) fn new(
        (skin, positions): (&Skin, &[Vec3]),
        (garment, rest): (&Topology, &[Vec3]),
        around: &Lists,
        lengths: &[f32],
    ) -> Self {
        let mut facing = vec![Vec3::ZERO; rest.len()];
        vertex_normals(garment, rest, &mut facing);
        let mean = lengths.iter().sum::<f32>() / lengths.len().max(1) as f32;
        // A round spreads by half an edge, and rounds add up as their squares do.
        let rounds = 4.0 * (SMOOTH / mean.max(1e-3)) * (SMOOTH / mean.max(1e-3));
        let mut scratch = facing.clone();
        for _ in 0..(rounds as u32).clamp(1, 200) {
            smooth(around, &mut facing, &mut scratch);
        }
        let home = |(p, facing): (&Vec3, &Vec3)| {
            let weight = |t: u32| match skin.is_under[t as usize]
                && skin.rest_normals[t as usize].dot(*facing) > FACING
            {
                true => 1.0,
                false => f32::INFINITY,
            };
            let near = (skin.tree).closest_point_weighted(*p, positions, f32::INFINITY, weight)?;
            Some(Home {
                triangle: near.triangle,
                barycentric: near.barycentric,
                height: near.distance.min(HOME),
            })
        };
        Self {
            homes: rest.iter().zip(&facing).map(home).collect(),
            facing,
        }
    }

    /// Which way each vertex of the garment at `cloth` [m] faces on a body with its
    /// vertices at `at` [m]: as the skin that it is worn over does, or by itself.
    pub(super) fn turn(
        &self,
        (skin, at): (&Skin, &[Vec3]),
        (garment, cloth): (&Topology, &[Vec3]),
        around: &Lists,
        state: &mut CorrectionState,
    ) {
        if self.homes.iter().any(Option::is_none) {
            vertex_normals(garment, cloth, &mut state.outward);
        }
        for (out, home) in state.outward.iter_mut().zip(&self.homes) {
            if let Some(home) = home {
                *out = skin.normal(home.triangle, at);
            }
        }
        for _ in 0..TURNS {
            smooth(around, &mut state.outward, &mut state.scratch);
        }
    }

    /// Where a vertex is at home on a body with its vertices at `at` [m], at least
    /// `margin` [m] above the skin.
    pub(super) fn home(
        &self,
        skin: &Skin,
        at: &[Vec3],
        vertex: usize,
        margin: f32,
    ) -> Option<Vec3> {
        let home = self.homes[vertex]?;
        let corners = skin.triangles[home.triangle as usize].map(|v| at[v as usize]);
        let parts = corners.into_iter().zip(home.barycentric);
        let place: Vec3 = parts.map(|(corner, w)| corner * w).sum();
        Some(place + home.height.max(margin) * skin.normal(home.triangle, at))
    }
}

/// Every vector becomes half itself, half the mean of those around it, of unit length.
fn smooth(around: &Lists, vectors: &mut [Vec3], scratch: &mut [Vec3]) {
    scratch.copy_from_slice(vectors);
    for (v, out) in vectors.iter_mut().enumerate() {
        let near = around.of(v);
        let sum: Vec3 = near.iter().map(|n| scratch[*n as usize]).sum();
        let mean = sum / near.len().max(1) as f32;
        *out = (scratch[v] + mean).normalize_or_zero();
    }
}
