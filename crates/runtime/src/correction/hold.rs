//! What keeps a garment together while it is pushed: those around go along, edges are
//! drawn together, and what does not settle goes home.

use glam::Vec3;

use super::{CollisionCorrection, CorrectionState};

/// A push that has spread to less than this is none [m].
const NOTHING: f32 = 2e-5;
/// Edges are drawn together from so many times their length on, the longer of those at
/// rest and as the method has it...
const LONG: f32 = 1.2;
/// ... and so much [m], or every push of a fine garment would draw at its edges.
const LONGER: f32 = 5e-3;
/// How often all edges are drawn together in a round.
const SWEEPS: u32 = 2;

impl CollisionCorrection {
    /// Vertices that were not pushed go along with those around them, by less
    /// the farther away they are.
    pub(super) fn spread(&self, state: &mut CorrectionState, cloth: &mut [Vec3]) {
        for _ in 0..self.config.spread {
            for (v, p) in cloth.iter().enumerate() {
                state.scratch[v] = *p - state.before[v];
            }
            for v in 0..cloth.len() {
                let around = self.around.of(v);
                if state.is_pushed[v] || around.is_empty() {
                    continue;
                }
                let sum: Vec3 = around.iter().map(|n| state.scratch[*n as usize]).sum();
                let own = state.scratch[v];
                let way = own.lerp(sum / around.len() as f32, 0.5);
                if way.distance_squared(own) > NOTHING * NOTHING {
                    state.shift(cloth, v as u32, way - own, self.config.farthest);
                }
            }
        }
    }

    /// Draws edges together that have become much longer.
    pub(super) fn hold(&self, state: &mut CorrectionState, cloth: &mut [Vec3]) {
        for _ in 0..SWEEPS {
            for ([a, b], rest) in self.edges.iter().zip(&self.lengths) {
                let (i, j) = (*a as usize, *b as usize);
                if !(state.is_new[i] || state.is_new[j]) {
                    continue;
                }
                let before = state.before[i].distance_squared(state.before[j]);
                let way = cloth[j] - cloth[i];
                let length_sq = way.length_squared();
                let most = LONG * libm::sqrtf(before.max(rest * rest)) + LONGER;
                if length_sq <= most * most {
                    continue;
                }
                let excess = way * (1.0 - most / libm::sqrtf(length_sq));
                // What the skin holds stays.
                let share = match (state.is_pushed[i], state.is_pushed[j]) {
                    (true, false) => 0.0,
                    (false, true) => 1.0,
                    _ => 0.5,
                };
                let farthest = self.config.farthest;
                state.shift(cloth, *a, excess * share, farthest);
                state.shift(cloth, *b, excess * (share - 1.0), farthest);
            }
        }
    }

    /// Takes what was still pushed in the last round to the skin that it lies over at
    /// rest.
    pub(super) fn take_home(&self, state: &mut CorrectionState, skin: &[Vec3], cloth: &mut [Vec3]) {
        for v in 0..cloth.len() {
            if !state.is_new[v] {
                continue;
            }
            let home = self.worn.home(&self.skin, skin, v, self.config.margin);
            if let Some(home) = home {
                let way = home - cloth[v];
                state.push(cloth, v as u32, way, self.config.farthest);
            }
        }
    }
}
