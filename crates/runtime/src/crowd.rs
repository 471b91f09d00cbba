//! A whole crowd in one call: [`StableSpace`] for many characters.
//!
//! ```text
//! X = P (T − t̄)          bodies into their space        body × characters
//! Y = W [X; Y₋₁; …; Z]   dynamics                       cloth × characters
//! M = R (Λ Y + μ) + p    garments in the world          vertex × 3 × characters
//! ```
//!
//! The same numbers as one [`step`](drapery_core::GarmentAnimator::step) each, to
//! the rounding of `f32`, with the vectors of all characters side by side. Sixteen
//! are a rank, which goes through the whole frame at once, so that nothing but the
//! garments themselves leaves the cache; 128 are a squad, which is what a thread
//! takes at a time. Both sizes are fixed, and no character's sums see another's:
//! results don't depend on threads, or on who else is there.
//!
//! How far a pose is from the known ones takes ‖G½ t‖² (see
//! [`PoseRange`](crate::PoseRange)); here G½ is replaced by the triangular factor
//! of G, which is half the work.
//!
//! # Where we differ
//! Cloth in canonical space only; [`step_batch`](crate::step_batch) is there for
//! unposed cloth.

mod kernels;
mod rank;

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::{AnimateError, BodyFrame, GarmentAnimator, StepReport};
use fearless_simd::Level;
#[cfg(feature = "threads")]
use rayon::prelude::*;

use crate::stable_space::{ClothSpace, StableSpace};
use kernels::{Columns, Panels, RANK, widest};
use rank::{Rank, Room};

/// How many characters a thread takes at a time. Fewer would cost more room to
/// work in; with more, small crowds would leave threads idle.
const SQUAD: usize = 128;

/// A [`StableSpace`] made ready for crowds: read-only, shared by all characters.
///
/// ```
/// use drapery_core::{AnimateError, BodyFrame, StepReport};
/// use drapery_runtime::{CrowdError, StableCrowd, StableSpace};
///
/// /// Plays frames of a crowd, each a body a character.
/// fn play(
///     animator: StableSpace,
///     frames: &[Vec<BodyFrame<'_>>],
///     mut show: impl FnMut(&[f32], &[Result<StepReport, AnimateError>]),
/// ) -> Result<(), CrowdError> {
///     let crowd = StableCrowd::new(animator)?;
///     let Some(first) = frames.first() else {
///         return Ok(());
///     };
///     let mut state = crowd.start(first)?;
///     // Allocated once: positions [m] of all garments, shape [character, vertex, 3].
///     let mut out = vec![0.0; crowd.n_values() * state.len()];
///     let mut reports = vec![Ok(StepReport::default()); state.len()];
///     for bodies in frames {
///         crowd.step(&mut state, bodies, &mut out, &mut reports)?;
///         show(&out, &reports);
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct StableCrowd {
    animator: StableSpace,
    level: Level,
    projection: Columns,
    spread: Columns,
    still: Columns,
    dynamics: Columns,
    panels: Panels,
}

/// What the garments of a crowd remember, and room for a frame of theirs.
#[derive(Clone, Debug)]
pub struct CrowdState {
    n: usize,
    squads: Vec<Squad>,
}

/// What a thread takes at a time.
#[derive(Clone, Debug)]
struct Squad {
    ranks: Vec<Rank>,
    room: Room,
}

/// Where the time of frames went, summed over threads [s].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrowdTimes {
    /// Checking bodies and bringing their joints into canonical space.
    pub read: f64,
    /// Projecting them, and how far they are from known poses.
    pub project: f64,
    /// Dynamics.
    pub dynamics: f64,
    /// Reconstruction, the way to the world, and writing.
    pub reconstruct: f64,
}

/// Why there is no crowd, or no frame of it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// The cloth is not in canonical space.
    #[error("crowds need cloth in canonical space, this one is in unposed space")]
    Space,
    /// Not one body, state and report a garment.
    #[error("{states} states, {bodies} bodies and {reports} reports do not match")]
    Counts {
        /// How many states.
        states: usize,
        /// How many bodies.
        bodies: usize,
        /// How many reports.
        reports: usize,
    },
    /// The output has another size.
    #[error("the output has room for {found} values, the garments have {expected}")]
    Output {
        /// Room given.
        found: usize,
        /// Values of all garments.
        expected: usize,
    },
    /// A garment can't be put on.
    #[error("the garment of character {character} can't start")]
    Start {
        /// Which character.
        character: usize,
        /// Why not.
        source: AnimateError,
    },
}

impl StableCrowd {
    /// A crowd of that animator.
    ///
    /// # Errors
    /// When its cloth is not in canonical space.
    pub fn new(animator: StableSpace) -> Result<Self, CrowdError> {
        let parts = animator.parts();
        if parts.space != ClothSpace::Canonical {
            return Err(CrowdError::Space);
        }
        let (n_body, n_cloth) = (parts.dynamics.n_body(), parts.dynamics.n_cloth());
        let range = parts.range.parts();
        let width = 4 * parts.range.n_joints();
        Ok(Self {
            level: widest(),
            projection: Columns::new(&range.projection, n_body),
            spread: Columns::new(&triangular(&range.metric, width), width),
            still: Columns::new(&parts.still, n_cloth),
            dynamics: Columns::new(parts.dynamics.weights(), n_cloth),
            panels: Panels::new(&parts.mean, &parts.basis, n_cloth),
            animator,
        })
    }

    /// The animator of each garment.
    pub const fn animator(&self) -> &StableSpace {
        &self.animator
    }

    /// How many values a garment has: three a vertex.
    pub fn n_values(&self) -> usize {
        self.animator.parts().mean.len()
    }

    /// Garments at rest on `bodies`, without history.
    ///
    /// # Errors
    /// When a body does not fit.
    pub fn start(&self, bodies: &[BodyFrame<'_>]) -> Result<CrowdState, CrowdError> {
        let mut state = CrowdState {
            n: 0,
            squads: Vec::new(),
        };
        for (character, body) in bodies.iter().enumerate() {
            let joined = self.join(&mut state, body);
            joined.map_err(|source| CrowdError::Start { character, source })?;
        }
        Ok(state)
    }

    /// One more garment, at rest on `body`, after all others.
    ///
    /// # Errors
    /// When the body does not fit; the crowd is then as it was.
    pub fn join(&self, state: &mut CrowdState, body: &BodyFrame<'_>) -> Result<(), AnimateError> {
        let garment = self.animator.start(body)?;
        if state.n.is_multiple_of(SQUAD) {
            state.squads.push(Squad {
                ranks: Vec::new(),
                room: Room::new(self),
            });
        }
        if let Some(squad) = state.squads.last_mut() {
            if state.n.is_multiple_of(RANK) {
                squad.ranks.push(Rank::new(self));
            }
            if let Some(rank) = squad.ranks.last_mut() {
                rank.push(&garment);
                state.n += 1;
            }
        }
        Ok(())
    }

    /// Advances all garments by a frame, writes their world positions [m] to `out`,
    /// shape [character, vertex, 3], and what each step has to say to `reports`.
    ///
    /// A garment that can't be stepped says so in its report, keeps its output, and
    /// does not stop the others. Allocates nothing.
    ///
    /// # Errors
    /// When lengths don't match; then nothing is stepped.
    pub fn step(
        &self,
        state: &mut CrowdState,
        bodies: &[BodyFrame<'_>],
        out: &mut [f32],
        reports: &mut [Result<StepReport, AnimateError>],
    ) -> Result<(), CrowdError> {
        self.step_by_clock(state, bodies, out, reports, &|| 0.0)
    }

    /// [`step`](Self::step) with a look at the clock [s] now and then, for
    /// [`CrowdState::times`].
    ///
    /// # Errors
    /// When lengths don't match; then nothing is stepped.
    pub fn step_by_clock(
        &self,
        state: &mut CrowdState,
        bodies: &[BodyFrame<'_>],
        out: &mut [f32],
        reports: &mut [Result<StepReport, AnimateError>],
        clock: &(dyn Fn() -> f64 + Sync),
    ) -> Result<(), CrowdError> {
        let (states, n_values) = (state.n, self.n_values());
        if states != bodies.len() || states != reports.len() {
            return Err(CrowdError::Counts {
                states,
                bodies: bodies.len(),
                reports: reports.len(),
            });
        }
        let (found, expected) = (out.len(), states * n_values);
        if found != expected {
            return Err(CrowdError::Output { found, expected });
        }
        // A garment without vertices has nothing to write, but chunks need a size.
        let n_out = (SQUAD * n_values).max(1);
        #[cfg(not(feature = "threads"))]
        {
            let squads = state.squads.iter_mut().zip(bodies.chunks(SQUAD));
            let squads = squads.zip(out.chunks_mut(n_out));
            let squads = squads.zip(reports.chunks_mut(SQUAD));
            squads.for_each(|(((squad, bodies), out), reports)| {
                squad.step(self, bodies, out, reports, clock);
            });
        }
        #[cfg(feature = "threads")]
        {
            let squads = state.squads.par_iter_mut().zip(bodies.par_chunks(SQUAD));
            let squads = squads.zip(out.par_chunks_mut(n_out));
            let squads = squads.zip(reports.par_chunks_mut(SQUAD));
            squads.for_each(|(((squad, bodies), out), reports)| {
                squad.step(self, bodies, out, reports, clock);
            });
        }
        Ok(())
    }
}

impl CrowdState {
    /// How many garments there are.
    pub const fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Takes a garment out; the last one takes its place and its number.
    ///
    /// # Panics
    /// When there is no such character.
    pub fn leave(&mut self, character: usize) {
        assert!(character < self.n, "a character of the crowd");
        let last = self.squads.last().and_then(|squad| squad.ranks.last());
        let Some(mut last) = last.cloned() else {
            return;
        };
        let rank = &mut self.squads[character / SQUAD].ranks[character % SQUAD / RANK];
        rank.take_last_of(character % RANK, &last);
        self.n -= 1;
        last.n -= 1;
        if let Some(squad) = self.squads.last_mut() {
            match (squad.ranks.last_mut(), last.n) {
                (Some(rank), 1..) => rank.n = last.n,
                _ => drop(squad.ranks.pop()),
            }
            if squad.ranks.is_empty() {
                self.squads.pop();
            }
        }
    }

    /// Where the time of all frames stepped
    /// [by the clock](StableCrowd::step_by_clock) went.
    pub fn times(&self) -> CrowdTimes {
        let all = self.squads.iter().map(|squad| squad.room.spent);
        all.fold(CrowdTimes::default(), |sum, spent| CrowdTimes {
            read: sum.read + spent.read,
            project: sum.project + spent.project,
            dynamics: sum.dynamics + spent.dynamics,
            reconstruct: sum.reconstruct + spent.reconstruct,
        })
    }
}

impl Squad {
    fn step(
        &mut self,
        crowd: &StableCrowd,
        bodies: &[BodyFrame<'_>],
        out: &mut [f32],
        reports: &mut [Result<StepReport, AnimateError>],
        clock: &dyn Fn() -> f64,
    ) {
        let outs = out.chunks_mut((RANK * crowd.n_values()).max(1));
        let ranks = self.ranks.iter_mut().zip(bodies.chunks(RANK));
        let ranks = ranks.zip(outs).zip(reports.chunks_mut(RANK));
        for (((rank, bodies), out), reports) in ranks {
            rank.step(crowd, &mut self.room, bodies, reports, out, clock);
        }
    }
}

/// R with RᵀR = MᵀM by columns, shape [input, output], of M by columns. Where M
/// has no say its row is 0.
fn triangular(columns: &[f32], n: usize) -> Vec<f32> {
    /// Below this share of the largest one, a pivot is rounding.
    const NOTHING: f64 = 1e-12;
    let mut gram = vec![0.0f64; n * n];
    for (a, row) in columns
        .chunks_exact(n.max(1))
        .zip(gram.chunks_mut(n.max(1)))
    {
        for (b, out) in columns.chunks_exact(n).zip(row) {
            let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
            *out = products.sum();
        }
    }
    let largest = (0..n).map(|i| gram[i * n + i]).fold(0.0, f64::max);
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        let pivot = gram[i * n + i];
        if pivot <= NOTHING * largest {
            continue;
        }
        let (done, rest) = gram.split_at_mut((i + 1) * n);
        let row = &mut done[i * n..];
        let root = libm::sqrt(pivot);
        row[i..].iter_mut().for_each(|r| *r /= root);
        for (j, below) in (i + 1..n).zip(rest.chunks_exact_mut(n)) {
            for (g, r) in below[j..].iter_mut().zip(&row[j..]) {
                *g -= row[j] * r;
            }
        }
        for j in i..n {
            out[j * n + i] = row[j] as f32;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangular_factor_keeps_lengths() {
        // Of rank 2 in three dimensions: the third has no pivot left.
        let columns = [2.0, 0.0, 1.0, 1.0, 3.0, 0.0, 3.0, 3.0, 1.0f32];
        let factor = triangular(&columns, 3);
        for input in 0..3 {
            assert!((input + 1..3).all(|output| factor[input * 3 + output] == 0.0));
        }
        let length = |columns: &[f32], x: [f32; 3]| -> f32 {
            let output = |o: usize| (0..3).map(|i| columns[i * 3 + o] * x[i]).sum::<f32>();
            (0..3).map(|o| output(o) * output(o)).sum()
        };
        for x in [
            [1.0, 0.0, 0.0],
            [0.0, -2.0, 1.0],
            [1.0, 2.0, 3.0],
            [1.0, 1.0, -1.0],
        ] {
            let (found, expected) = (length(&factor, x), length(&columns, x));
            assert!((found - expected).abs() < 1e-5 * expected.max(1.0), "{x:?}");
        }
    }
}
