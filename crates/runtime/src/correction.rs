//! Collision correction: what a method left inside the body is pushed out, for
//! all methods alike.
//!
//! ```text
//! s(p) = signed distance of p from the skin, negative inside
//! Δp   = c + m n − p                         where s(p) < m
//! Δxᵢ  = wᵢ / Σⱼ wⱼ² Δp                      for p = Σ wᵢ xᵢ
//! ```
//!
//! | symbol | here                         | meaning                               |
//! |--------|------------------------------|---------------------------------------|
//! | p      | vertices, middles of edges, centres of faces of the garment, and the places of it that are nearest to vertices of the body | what must be outside |
//! | c, n   | `Contact`                    | nearest place of the skin, and its outer normal |
//! | m      | [`CorrectionConfig::margin`] | how far outside                       |
//!
//! Where p is deep, the nearest skin may be that of the far side of a leg. Then c is
//! the nearest skin that faces the way that the cloth does: a leg that went
//! through the front of a skirt is behind it again, and not half in front of it.
//! That holds for what the garment is worn over. An arm beside a dress is on its
//! outer side, and cloth in it goes back to where it came from, against the way
//! that it faces. Which is which follows from the garment at rest: skin behind the
//! cloth next to it is under it.
//!
//! After the first round the way that vertices were pushed is spread to those
//! around them that were not, so that no spikes appear; more rounds follow, of
//! what has moved since, the last of vertices alone. In the later half of them what
//! is still inside goes out by the shortest way, whichever way it faces. The trees of body and
//! garment are refitted, never rebuilt.
//!
//! From the triangle that was nearest to a point last time one walks to the
//! nearest of its neighbours, and on. Where that ends is nearly always the nearest
//! of all; the tree is asked only for what is nearer still, which is soon done. A
//! walk alone would not do: a hand may have come between cloth and thigh.
//!
//! Vertices of the body are asked in patches, of which most are nowhere near the
//! cloth; in later rounds only those whose cloth has moved.
//!
//! # Other garments
//! A garment beneath is a skin with holes ([`CollisionCorrection::over`]): the
//! outer is worn over all of it, whatever the two are like at rest. Beyond a hem
//! there is no inside, so what is nearest to a border is left alone.
//!
//! # What it does not do
//! It does not reach its margin everywhere. Where a hem is stretched over a knee that
//! is bent it leaves points up to some 4 cm deep in a few frames of a hundred, and a
//! strap thrown over a neck was seen once; why is not known. It does not look at the
//! garment itself. Where the body enters itself there is no
//! right place, and what is pushed out of one part may end up in another. Deeper
//! than [`CorrectionConfig::reach`] nothing is found, and nothing is moved farther
//! than [`CorrectionConfig::farthest`]: between a hand and a thigh that overlap
//! cloth would be thrown from one to the other, a few centimetres a round.

mod corrected;
mod lists;
mod push;
mod skin;
mod state;
#[cfg(test)]
mod tests;
mod walk;

use alloc::vec::Vec;

use drapery_core::{AnimateError, Topology, TriangleTree, vertex_normals};
use glam::Vec3;

pub use corrected::{Corrected, CorrectedState};
use lists::Lists;
use skin::{Skin, Worn};
pub use state::CorrectionState;
use walk::across;

/// How a garment is pushed out of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectionConfig {
    /// How far outside the skin cloth is to be [m].
    pub margin: f32,
    /// How far from the skin cloth is looked for [m].
    pub reach: f32,
    /// The farthest that cloth is moved [m].
    pub farthest: f32,
    /// How far from a vertex of the body cloth is looked for [m].
    pub skin_reach: f32,
    /// How often points are pushed, at most. After the first, only what has moved is
    /// looked at.
    pub rounds: u32,
    /// Over how many edges a push spreads.
    pub spread: u32,
}

impl CorrectionConfig {
    /// A millimetre outside, looked for within 10 cm, the thickness of a calf, and
    /// moved by at most 25 cm: a knee that is lifted goes as far through a skirt
    /// that is only skinned.
    pub const DEFAULT: Self = Self {
        margin: 1e-3,
        reach: 0.1,
        farthest: 0.25,
        skin_reach: 0.02,
        rounds: 24,
        spread: 3,
    };

    /// Two millimetres outside another garment, looked for within 3 cm: what is
    /// farther beneath it is another part of it.
    pub const BETWEEN_GARMENTS: Self = Self {
        margin: 2e-3,
        reach: 0.03,
        farthest: 0.06,
        ..Self::DEFAULT
    };
}

impl Default for CorrectionConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Pushes one garment out of bodies of one topology. Read-only, and shared by a
/// crowd.
#[derive(Clone, Debug)]
pub struct CollisionCorrection {
    config: CorrectionConfig,
    skin: Skin,
    garment: Topology,
    cloth_tree: TriangleTree,
    cloth_across: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    /// The vertices around each vertex of the garment.
    around: Lists,
    n_vertices: usize,
}

impl CollisionCorrection {
    /// A correction of a garment on bodies of that topology; `skin` and `rest` [m]
    /// are the vertices of both where the one is worn by the other.
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn new(
        body: (&Topology, &[Vec3]),
        garment: (&Topology, &[Vec3]),
        config: CorrectionConfig,
    ) -> Self {
        Self::of(body, garment, config, Worn::Behind)
    }

    /// A correction of a garment that is worn over another one, `inner`, both with
    /// their vertices at rest [m].
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn over(
        inner: (&Topology, &[Vec3]),
        garment: (&Topology, &[Vec3]),
        config: CorrectionConfig,
    ) -> Self {
        Self::of(inner, garment, config, Worn::Over)
    }

    fn of(
        (body, skin): (&Topology, &[Vec3]),
        (garment, rest): (&Topology, &[Vec3]),
        config: CorrectionConfig,
        worn: Worn,
    ) -> Self {
        assert_eq!(skin.len(), body.n_vertices(), "one position a vertex");
        assert_eq!(rest.len(), garment.n_vertices(), "one position a vertex");
        let edges: Vec<[u32; 2]> = garment.edges().iter().map(|e| e.vertices).collect();
        let mut around = Vec::new();
        for [a, b] in &edges {
            around.extend([(*a, *b), (*b, *a)]);
        }
        Self {
            config,
            skin: Skin::new((body, skin), (garment, rest), worn),
            cloth_tree: TriangleTree::new(garment.triangles(), rest),
            cloth_across: across(garment.triangles()),
            around: Lists::new(garment.n_vertices(), &mut around),
            edges,
            garment: garment.clone(),
            n_vertices: garment.n_vertices(),
        }
    }

    /// How it pushes.
    pub const fn config(&self) -> &CorrectionConfig {
        &self.config
    }

    /// Whether the garment is worn over each vertex of the body, shape [body
    /// vertex]: that is behind the cloth next to it.
    pub fn is_worn_over(&self) -> &[bool] {
        &self.skin.is_behind
    }

    /// The state of a garment that was nowhere yet.
    pub fn start(&self) -> CorrectionState {
        CorrectionState::new(self)
    }

    /// Pushes the garment at `cloth` [m] out of a body with its vertices at
    /// `skin` [m], and gives the farthest that a vertex was moved [m]. Allocates
    /// nothing.
    ///
    /// # Errors
    /// When lengths differ or the state is of another garment; `cloth` is then
    /// unchanged.
    pub fn apply(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> Result<f32, AnimateError> {
        self.check(state, skin)?;
        if cloth.len() != self.n_vertices {
            return Err(AnimateError::Output {
                found: cloth.len(),
                expected: self.n_vertices,
            });
        }
        vertex_normals(&self.garment, cloth, &mut state.normals);
        state.place(skin, cloth);
        let mut is_any = self.push_vertices(state, skin, cloth);
        for round in 0..self.config.rounds {
            state.is_late = 2 * round >= self.config.rounds;
            is_any |= self.push_middles(state, skin, cloth);
            is_any |= match round {
                0 => self.push_off_all_skin(state, skin, cloth),
                _ => self.push_off_moved_skin(state, skin, cloth),
            };
            if !is_any {
                break;
            }
            if round == 0 {
                self.spread(state, cloth);
            }
            is_any = self.push_vertices(state, skin, cloth);
        }
        let ways = cloth.iter().zip(&state.before);
        let farthest = ways.map(|(now, before)| now.distance_squared(*before));
        Ok(libm::sqrtf(farthest.fold(0.0, f32::max)))
    }

    fn check(&self, state: &CorrectionState, skin: &[Vec3]) -> Result<(), AnimateError> {
        let expected = self.skin.n_vertices();
        if skin.len() != expected {
            return Err(AnimateError::Body {
                found: skin.len(),
                expected,
            });
        }
        if skin.iter().any(|p| !p.is_finite()) {
            return Err(AnimateError::NotFinite);
        }
        let is_own = state.hints.len() == self.n_points()
            && state.before.len() == self.n_vertices
            && state.skin_hints.len() == expected;
        match is_own {
            true => Ok(()),
            false => Err(AnimateError::State {
                what: "points to correct",
                found: state.hints.len(),
                expected: self.n_points(),
            }),
        }
    }

    /// Vertices, middles of edges and centres of faces.
    fn n_points(&self) -> usize {
        self.n_vertices + self.edges.len() + self.garment.triangles().len()
    }
}
