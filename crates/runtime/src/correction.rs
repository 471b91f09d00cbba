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
//! | c, n   | `Contact`                    | a place of the skin, and its outer normal |
//! | m      | [`CorrectionConfig::margin`] | how far outside                       |
//!
//! # Which way is out
//! Where p is deep, the nearest skin may be that of the far side of a leg. Which side
//! is right is known from the garment at rest: the front of a skirt belongs before the
//! front of a thigh, wherever that is now. So c is the nearest skin whose normal *at
//! rest* is not against that of the cloth *at rest*, both smooth, and farther skin
//! counts as nearer the better the two agree (`Worn`). Where that is much farther than
//! the nearest skin, the point waits for those around it to take it along, and goes
//! the shortest way in the later half of the rounds.
//!
//! That holds for what the garment is worn over. An arm beside a dress is on its outer
//! side, and cloth in it goes back to where it came from: inwards, as seen from the
//! skin that the cloth is worn over. Which is which follows from the garment at rest
//! too: skin behind the cloth next to it is under it.
//!
//! # Rounds
//! In every round all that has moved is pushed. In the first ones what was not pushed
//! goes along with what was around it, and edges that have become much longer are drawn
//! together, by the end that is free, so that nothing is thrown out of its
//! neighbourhood. What does not settle goes home: to the skin that it lies over at
//! rest. In the end what is still inside is lifted a face at a time, if nothing around
//! is deeper for it (`finish`).
//!
//! From the triangle that was nearest to a point last time one walks to the
//! nearest of its neighbours, and on. Where that ends is nearly always the nearest
//! of all; the tree is asked only for what is nearer still, which is soon done. A
//! walk alone would not do: a hand may have come between cloth and thigh. The trees are
//! refitted, never rebuilt.
//!
//! # Other garments
//! A garment beneath is a skin with holes ([`CollisionCorrection::over`]): the
//! outer is worn over all of it, whatever the two are like at rest. Beyond a hem
//! there is no inside, so what is nearest to a border is left alone.
//!
//! # What it does not do
//! It does not look at the garment itself. Where the body enters itself there is no
//! right place, and what is pushed out of one part may end up in another. Deeper
//! than [`CorrectionConfig::reach`] nothing is found, and nothing is moved farther
//! than [`CorrectionConfig::farthest`], or a quarter more by the last lifts.

mod corrected;
mod finish;
mod grid;
mod hold;
mod lists;
mod push;
mod skin;
mod state;
#[cfg(test)]
mod tests;
mod walk;
mod worn;

use alloc::vec::Vec;

use drapery_core::{AnimateError, Topology};
use glam::Vec3;

pub use corrected::{Corrected, CorrectedState};
use lists::Lists;
use skin::{Skin, WornOver};
pub use state::CorrectionState;
use worn::Worn;

/// How a garment is pushed out of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectionConfig {
    /// How far outside the skin cloth is to be [m].
    pub margin: f32,
    /// How far from the skin cloth is looked for [m].
    pub reach: f32,
    /// The farthest that cloth is pushed [m].
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
    worn: Worn,
    garment: Topology,
    edges: Vec<[u32; 2]>,
    /// How long they are at rest [m].
    lengths: Vec<f32>,
    /// The vertices around each vertex of the garment.
    around: Lists,
    /// The faces around each vertex of the garment, and the edges 01, 12, 20 of each face.
    faces: Lists,
    sides: Vec<[u32; 3]>,
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
        Self::of(body, garment, config, WornOver::Behind)
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
        Self::of(inner, garment, config, WornOver::All)
    }

    fn of(
        (body, skin): (&Topology, &[Vec3]),
        (garment, rest): (&Topology, &[Vec3]),
        config: CorrectionConfig,
        worn_over: WornOver,
    ) -> Self {
        assert_eq!(skin.len(), body.n_vertices(), "one position a vertex");
        assert_eq!(rest.len(), garment.n_vertices(), "one position a vertex");
        let edges: Vec<[u32; 2]> = garment.edges().iter().map(|e| e.vertices).collect();
        let mut around = Vec::new();
        for [a, b] in &edges {
            around.extend([(*a, *b), (*b, *a)]);
        }
        let around = Lists::new(garment.n_vertices(), &mut around);
        let mut faces = Vec::new();
        for (face, corners) in garment.triangles().iter().enumerate() {
            faces.extend(corners.map(|v| (v, face as u32)));
        }
        let length = |ends: &[u32; 2]| rest[ends[0] as usize].distance(rest[ends[1] as usize]);
        let lengths: Vec<f32> = edges.iter().map(length).collect();
        let skin_mesh = Skin::new((body, skin), (garment, rest), worn_over);
        Self {
            config,
            worn: Worn::new((&skin_mesh, skin), (garment, rest), &around, &lengths),
            skin: skin_mesh,
            around,
            faces: Lists::new(garment.n_vertices(), &mut faces),
            sides: sides(garment.triangles(), &edges),
            edges,
            lengths,
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
        state.place(&self.skin.triangles, skin, cloth);
        let (body, own) = ((&self.skin, skin), (&self.garment, &*cloth));
        self.worn.turn(body, own, &self.around, state);
        if !self.settle(state, skin, cloth, self.config.rounds) {
            self.take_home(state, skin, cloth);
            self.settle(state, skin, cloth, self.config.rounds / 2);
        }
        self.finish(state, skin, cloth);
        let ways = cloth.iter().zip(&state.before);
        let farthest = ways.map(|(now, before)| now.distance_squared(*before));
        Ok(libm::sqrtf(farthest.fold(0.0, f32::max)))
    }

    /// Rounds of pushes, and whether nothing is left to push.
    fn settle(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
        rounds: u32,
    ) -> bool {
        state.touch = TOUCH * self.config.margin;
        let mut is_any = self.push_vertices(state, skin, cloth);
        for round in 0..rounds {
            state.round += 1;
            is_any |= self.push_middles(state, skin, cloth);
            is_any |= self.push_off_skin(state, skin, cloth);
            let is_time = !is_any || 2 * round >= rounds;
            let is_woken = is_time && state.wake();
            if !is_any && !is_woken {
                return true;
            }
            if !state.is_late {
                if round < SPREADING {
                    self.spread(state, cloth);
                }
                self.hold(state, cloth);
            }
            state.touch = 0.0;
            is_any = self.push_vertices(state, skin, cloth);
        }
        !is_any
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
            && state.grid.n_points() == expected;
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

/// The edges 01, 12, 20 of each face.
fn sides(triangles: &[[u32; 3]], edges: &[[u32; 2]]) -> Vec<[u32; 3]> {
    let mut numbers: Vec<([u32; 2], u32)> = edges.iter().copied().zip(0..).collect();
    numbers.sort_unstable();
    let edge = |a: u32, b: u32| {
        let ends = [a.min(b), a.max(b)];
        let at = numbers.binary_search_by_key(&ends, |(ends, _)| *ends);
        // Every side of a face is an edge.
        at.map_or(0, |at| numbers[at].1)
    };
    let all = triangles.iter();
    all.map(|&[a, b, c]| [edge(a, b), edge(b, c), edge(c, a)])
        .collect()
}

/// At first what is nearer than this share of the margin is pushed, then only what is
/// inside: pushes that all end at the margin would nudge each other for ever.
const TOUCH: f32 = 0.25;
/// In so many rounds what was not pushed goes along.
const SPREADING: u32 = 3;
