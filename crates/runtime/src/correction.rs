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
//! | p      | vertices, middles of edges, centres of faces of the garment | what must be outside |
//! | c, n   | [`TriangleTree`], `outside`  | nearest place of the skin, and its outer normal |
//! | m      | [`CorrectionConfig::margin`] | how far outside                       |
//!
//! After the first round the way that vertices were pushed is spread to those
//! around them that were not, so that no spikes appear; more rounds follow, the
//! last of vertices alone. The body's tree is refitted, never rebuilt, and the
//! search for a point starts at the triangle that was nearest to it last time.
//!
//! # What it does not do
//! It does not look at the garment itself or at other garments. Where the body
//! enters itself there is no right place, and what is pushed out of one part may
//! end up in another. Deeper than [`CorrectionConfig::reach`] nothing is found.

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{
    AnimateError, BodyFrame, ClosestPoint, GarmentAnimator, Seconds, StepReport, Topology,
    TriangleTree,
};
use glam::Vec3;

/// How a garment is pushed out of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectionConfig {
    /// How far outside the skin cloth is to be [m].
    pub margin: f32,
    /// How far from the skin it is looked for [m].
    pub reach: f32,
    /// How often points are pushed.
    pub rounds: u32,
    /// Over how many edges a push spreads.
    pub spread: u32,
}

impl CorrectionConfig {
    /// A millimetre outside, looked for within 10 cm.
    pub const DEFAULT: Self = Self {
        margin: 1e-3,
        reach: 0.1,
        rounds: 4,
        spread: 3,
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
    body: Vec<[u32; 3]>,
    /// The triangle across side 01, 12, 20 of each triangle, or itself.
    across: Vec<[u32; 3]>,
    /// The triangles around each vertex of the body.
    fans: Lists,
    tree: TriangleTree,
    n_body_vertices: usize,
    /// Edges and faces of the garment; the third corner of an edge is its first.
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    around: Lists,
    n_vertices: usize,
}

/// What one garment remembers: where it was last, and room to work in.
#[derive(Clone, Debug)]
pub struct CorrectionState {
    tree: TriangleTree,
    /// The triangle nearest to each point last time.
    hints: Vec<u32>,
    /// Signed distance of each vertex [m]; the reach where there is no skin.
    distances: Vec<f32>,
    /// How far each vertex has been moved [m].
    moved: Vec<Vec3>,
    scratch: Vec<Vec3>,
    is_pushed: Vec<bool>,
}

/// Lists one after the other.
#[derive(Clone, Debug)]
struct Lists {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Lists {
    fn new(n: usize, pairs: &mut Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; n + 1];
        for (owner, _) in pairs.iter() {
            starts[*owner as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        Self {
            starts,
            members: pairs.iter().map(|pair| pair.1).collect(),
        }
    }

    fn of(&self, owner: usize) -> &[u32] {
        &self.members[self.starts[owner] as usize..self.starts[owner + 1] as usize]
    }
}

/// A place of the skin, seen from a point of the garment.
struct Contact {
    /// Negative inside [m].
    distance: f32,
    triangle: u32,
    point: Vec3,
    outside: Vec3,
}

impl CollisionCorrection {
    /// A correction of a garment on bodies of that topology; `skin` [m] are the
    /// body's vertices in any pose.
    ///
    /// # Panics
    /// When there is not one position a vertex of the body.
    pub fn new(
        body: &Topology,
        skin: &[Vec3],
        garment: &Topology,
        config: CorrectionConfig,
    ) -> Self {
        assert_eq!(skin.len(), body.n_vertices(), "one position a vertex");
        let mut sides: Vec<([u32; 2], u32, usize)> = Vec::new();
        let mut fans = Vec::new();
        for (t, corners) in body.triangles().iter().enumerate() {
            for side in 0..3 {
                let (a, b) = (corners[side], corners[(side + 1) % 3]);
                sides.push(([a.min(b), a.max(b)], t as u32, side));
                fans.push((a, t as u32));
            }
        }
        sides.sort_unstable();
        let mut across: Vec<[u32; 3]> =
            (0..body.triangles().len() as u32).map(|t| [t; 3]).collect();
        for pair in sides.chunk_by(|p, q| p.0 == q.0) {
            if let [p, q] = pair {
                across[p.1 as usize][p.2] = q.1;
                across[q.1 as usize][q.2] = p.1;
            }
        }
        let edges: Vec<[u32; 2]> = garment.edges().iter().map(|e| e.vertices).collect();
        let mut around = Vec::new();
        for [a, b] in &edges {
            around.extend([(*a, *b), (*b, *a)]);
        }
        Self {
            config,
            body: body.triangles().to_vec(),
            across,
            fans: Lists::new(body.n_vertices(), &mut fans),
            tree: TriangleTree::new(body.triangles(), skin),
            n_body_vertices: body.n_vertices(),
            around: Lists::new(garment.n_vertices(), &mut around),
            edges,
            faces: garment.triangles().to_vec(),
            n_vertices: garment.n_vertices(),
        }
    }

    /// How it pushes.
    pub const fn config(&self) -> &CorrectionConfig {
        &self.config
    }

    /// The state of a garment that was nowhere yet.
    pub fn start(&self) -> CorrectionState {
        let n_points = self.n_vertices + self.edges.len() + self.faces.len();
        CorrectionState {
            tree: self.tree.clone(),
            hints: vec![u32::MAX; n_points],
            distances: vec![0.0; self.n_vertices],
            moved: vec![Vec3::ZERO; self.n_vertices],
            scratch: vec![Vec3::ZERO; self.n_vertices],
            is_pushed: vec![false; self.n_vertices],
        }
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
        state.tree.refit(skin);
        state.moved.copy_from_slice(cloth);
        state.is_pushed.fill(false);
        let mut is_anything = self.push_vertices(state, skin, cloth);
        for round in 0..self.config.rounds {
            is_anything |= self.push_middles(state, skin, cloth);
            if !is_anything {
                return Ok(0.0);
            }
            if round == 0 {
                self.spread(state, cloth);
            }
            self.push_vertices(state, skin, cloth);
        }
        let ways = cloth.iter().zip(&state.moved);
        let farthest = ways.map(|(now, before)| now.distance_squared(*before));
        Ok(libm::sqrtf(farthest.fold(0.0, f32::max)))
    }

    fn check(&self, state: &CorrectionState, skin: &[Vec3]) -> Result<(), AnimateError> {
        if skin.len() != self.n_body_vertices {
            return Err(AnimateError::Body {
                found: skin.len(),
                expected: self.n_body_vertices,
            });
        }
        if skin.iter().any(|p| !p.is_finite()) {
            return Err(AnimateError::NotFinite);
        }
        let n_points = self.n_vertices + self.edges.len() + self.faces.len();
        match state.hints.len() == n_points && state.moved.len() == self.n_vertices {
            true => Ok(()),
            false => Err(AnimateError::State {
                what: "points to correct",
                found: state.hints.len(),
                expected: n_points,
            }),
        }
    }

    /// Pushes every vertex that is too deep, and says whether any was.
    fn push_vertices(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
    ) -> bool {
        let mut is_any = false;
        for (v, p) in cloth.iter_mut().enumerate() {
            let contact = self.contact(&state.tree, skin, *p, state.hints[v], self.config.reach);
            let Some(contact) = contact else {
                state.distances[v] = self.config.reach;
                continue;
            };
            state.hints[v] = contact.triangle;
            state.distances[v] = contact.distance;
            if contact.distance < self.config.margin {
                *p = contact.point + self.config.margin * contact.outside;
                state.distances[v] = self.config.margin;
                state.is_pushed[v] = true;
                is_any = true;
            }
        }
        is_any
    }

    /// Pushes middles of edges and centres of faces by their corners.
    fn push_middles(&self, state: &mut CorrectionState, skin: &[Vec3], cloth: &mut [Vec3]) -> bool {
        let mut is_any = false;
        for (e, ends) in self.edges.iter().enumerate() {
            is_any |= self.push_middle(state, skin, cloth, ends, self.n_vertices + e);
        }
        for (f, corners) in self.faces.iter().enumerate() {
            let point = self.n_vertices + self.edges.len() + f;
            is_any |= self.push_middle(state, skin, cloth, corners, point);
        }
        is_any
    }

    fn push_middle(
        &self,
        state: &mut CorrectionState,
        skin: &[Vec3],
        cloth: &mut [Vec3],
        corners: &[u32],
        point: usize,
    ) -> bool {
        let margin = self.config.margin;
        let at = |v: &u32| cloth[*v as usize];
        let p = corners.iter().map(at).sum::<Vec3>() / corners.len() as f32;
        // The skin is no nearer than from a corner, less the way to it.
        let free = corners
            .iter()
            .map(|v| state.distances[*v as usize] - at(v).distance(p));
        if free.fold(f32::NEG_INFINITY, f32::max) >= margin {
            return false;
        }
        let hint = state.hints[point];
        let contact = self.contact(&state.tree, skin, p, hint, self.config.reach);
        let Some(contact) = contact else {
            return false;
        };
        state.hints[point] = contact.triangle;
        if contact.distance >= margin {
            return false;
        }
        // Equal weights w = 1/n: w / Σ w² = 1.
        let push = contact.point + margin * contact.outside - p;
        for v in corners {
            cloth[*v as usize] += push;
            state.is_pushed[*v as usize] = true;
        }
        true
    }

    /// Vertices that were not pushed go along with those around them, by less
    /// the farther away they are.
    fn spread(&self, state: &mut CorrectionState, cloth: &mut [Vec3]) {
        for (v, p) in cloth.iter().enumerate() {
            state.scratch[v] = *p - state.moved[v];
        }
        for _ in 0..self.config.spread {
            for v in 0..cloth.len() {
                let around = self.around.of(v);
                if state.is_pushed[v] || around.is_empty() {
                    continue;
                }
                let sum: Vec3 = around.iter().map(|n| state.scratch[*n as usize]).sum();
                let own = state.scratch[v];
                cloth[v] = state.moved[v] + own.lerp(sum / around.len() as f32, 0.5);
            }
            for (v, p) in cloth.iter().enumerate() {
                state.scratch[v] = *p - state.moved[v];
            }
        }
    }

    /// The nearest place of the skin within `reach` [m].
    fn contact(
        &self,
        tree: &TriangleTree,
        skin: &[Vec3],
        p: Vec3,
        hint: u32,
        reach: f32,
    ) -> Option<Contact> {
        let bound = match self.body.get(hint as usize) {
            Some(corners) => {
                let distances = corners.map(|v| skin[v as usize].distance(p));
                let nearest = distances.into_iter().fold(reach, f32::min);
                reach.min(1.0001 * nearest + 1e-6)
            }
            None => reach,
        };
        let near = tree.closest_point(p, skin, bound)?;
        let outside = self.outside(&near, skin).try_normalize()?;
        let is_inside = (p - near.point).dot(outside) < 0.0;
        Some(Contact {
            distance: if is_inside {
                -near.distance
            } else {
                near.distance
            },
            triangle: near.triangle,
            point: near.point,
            outside,
        })
    }

    /// The direction that is outside at a place of the skin; not of unit length,
    /// as in [`drapery_core::PseudoNormals`], but only for this place.
    fn outside(&self, near: &ClosestPoint, skin: &[Vec3]) -> Vec3 {
        let triangle = near.triangle as usize;
        let normal = |t: u32| {
            let [a, b, c] = self.body[t as usize].map(|v| skin[v as usize]);
            (b - a).cross(c - a).normalize_or_zero()
        };
        let own = || normal(near.triangle);
        let side = |side: usize| own() + normal(self.across[triangle][side]);
        match near.barycentric.map(|w| w == 0.0) {
            [false, true, true] => self.corner(triangle, 0, skin),
            [true, false, true] => self.corner(triangle, 1, skin),
            [true, true, false] => self.corner(triangle, 2, skin),
            [false, false, true] => side(0),
            [true, false, false] => side(1),
            [false, true, false] => side(2),
            _ => own(),
        }
    }

    /// The normals of the triangles around a corner, weighted by their angles.
    fn corner(&self, triangle: usize, corner: usize, skin: &[Vec3]) -> Vec3 {
        let vertex = self.body[triangle][corner];
        let mut sum = Vec3::ZERO;
        for t in self.fans.of(vertex as usize) {
            let ids = self.body[*t as usize];
            let Some(k) = ids.iter().position(|v| *v == vertex) else {
                continue;
            };
            let [a, b, c] = [0, 1, 2].map(|i| skin[ids[(k + i) % 3] as usize]);
            let normal = (b - a).cross(c - a);
            let angle = libm::atan2f(normal.length(), (b - a).dot(c - a));
            sum += normal.normalize_or_zero() * angle;
        }
        sum
    }
}

/// A method with its garment pushed out of the body after every step.
#[derive(Clone, Debug)]
pub struct Corrected<A> {
    animator: A,
    correction: CollisionCorrection,
}

/// What a corrected garment remembers.
#[derive(Clone, Debug)]
pub struct CorrectedState<S> {
    animator: S,
    correction: CorrectionState,
}

impl<A: GarmentAnimator> Corrected<A> {
    /// `animator`, corrected.
    ///
    /// # Errors
    /// When the correction is of another garment.
    pub fn new(animator: A, correction: CollisionCorrection) -> Result<Self, AnimateError> {
        let expected = animator.topology().n_vertices();
        match correction.n_vertices == expected {
            true => Ok(Self {
                animator,
                correction,
            }),
            false => Err(AnimateError::Output {
                found: correction.n_vertices,
                expected,
            }),
        }
    }

    /// The method.
    pub const fn animator(&self) -> &A {
        &self.animator
    }
}

impl<A: GarmentAnimator> GarmentAnimator for Corrected<A> {
    type State = CorrectedState<A::State>;

    fn topology(&self) -> &Topology {
        self.animator.topology()
    }

    fn frame_step(&self) -> Seconds {
        self.animator.frame_step()
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<Self::State, AnimateError> {
        let correction = self.correction.start();
        self.correction.check(&correction, body.vertices)?;
        Ok(CorrectedState {
            animator: self.animator.start(body)?,
            correction,
        })
    }

    fn step(
        &self,
        state: &mut Self::State,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        self.correction.check(&state.correction, body.vertices)?;
        let mut report = self.animator.step(&mut state.animator, body, out)?;
        let depth = self
            .correction
            .apply(&mut state.correction, body.vertices, out)?;
        report.correction_depth = report.correction_depth.max(depth);
        Ok(report)
    }
}

#[cfg(test)]
mod tests;
