//! The farthest that a garment can swing whatever its body does: [`swing_bound`].
//!
//! §6.1 of de Aguiar and others bounds the energy by k_max / (1 − |λ|), as if every
//! frame drove the slowest eigenvector as hard as the hardest frame drives any. What
//! the dynamics answer to a drive is known, so the bound can be summed instead:
//!
//! ```text
//! yₜ = Gₜ-part of the start + Σₖ Gₖ (A xₜ₋ₖ + Σᵢ Cᵢ zᵢ,ₜ₋ₖ),       Gₖ = [I 0] Mᵏ [I 0]ᵀ
//!
//! ‖yₜ‖ ≤ Σₖ ( ‖Gₖ A H‖∞ + Σᵢ (sᵢ ‖Gₖ Cᵢ,way‖ + |sin|ᵢ ‖Gₖ Cᵢ,sin‖ + hᵢ ‖Gₖ Cᵢ,cos‖) )
//!        + ‖Σₖ Gₖ (A c + Σᵢ mᵢ Cᵢ,cos)‖ + start
//! ```
//!
//! | symbol | here                            | meaning                                  |
//! |--------|---------------------------------|------------------------------------------|
//! | M      | [`Dynamics::companion`]         | memory                                   |
//! | c ± H  | [`PoseRange::bounds`]           | between which the body's coefficients are held |
//! | sᵢ     | (N − i) × [`RootLimits::step`]  | the farthest way of the root; beyond, it was taken elsewhere |
//! | mᵢ ± hᵢ | from (N − i) × [`RootLimits::turn`] | the cosine of its turn, which is never far from one |
//!
//! Every input may be the worst in every frame, each in its own direction. Norms are
//! the largest singular values, but for ‖·‖∞, the largest for inputs of at most one each:
//! at most the sum of the columns' lengths, and at most the root of their number times
//! the largest singular value. The sum ends where ‖Mᵏ‖ is below [`SMALL`], and what
//! is left is bounded by a geometric series.
//!
//! The garment's own [reach](StableSpaceParts::reach) is the bound where that is less, as
//! it is for any garment of more than a few coefficients; the sum is there for models
//! without one.
//!
//! # Holds
//! No frame of any roll-out has a larger ‖y‖, whatever the poses, but for rounding in
//! `f32`.

use drapery_linalg::{Dense, NoEigenvalues, add_gram, product, symmetric_eigen};
use drapery_runtime::{Dynamics, ROOT_MOTION, RootLimits, RootTerms, StableSpace};

/// The sum ends where a power of M is smaller.
const SMALL: f64 = 1e-6;
/// A power that is not small by then never is: 0.999 to the 20,000th is 2e-9.
const MOST: usize = 20_000;

#[cfg(doc)]
use drapery_runtime::{PoseRange, StableSpaceParts};

/// The farthest that the garment of any frame can be from the mean one, root mean
/// square over its vertices [m].
///
/// # Errors
/// When singular values can't be found, or no power of the dynamics becomes small.
pub fn swing_bound(animator: &StableSpace) -> Result<f64, NoEigenvalues> {
    let summed = summed_bound(animator)?;
    let reach = animator.reach().map_or(f64::INFINITY, f64::from);
    Ok(summed.min(reach))
}

/// The same without a look at the garment's reach.
///
/// # Errors
/// As [`swing_bound`].
pub fn summed_bound(animator: &StableSpace) -> Result<f64, NoEigenvalues> {
    let parts = animator.parts();
    let n_vertices = animator.skinned().rest().len() as f64;
    let (low, high) = parts.range.bounds();
    let held = low.iter().zip(high).map(|(low, high)| {
        let (low, high) = (f64::from(*low), f64::from(*high));
        (0.5 * (low + high), 0.5 * (high - low))
    });
    let held: Vec<(f64, f64)> = held.collect();
    let bound = Drives::new(&parts.dynamics, &parts.still, &held, &parts.limits).bound()?;
    Ok(bound / n_vertices.sqrt())
}

/// What drives the cloth, each at its largest.
struct Drives {
    n: usize,
    order: usize,
    companion: Vec<f64>,
    /// A H, which a vector of numbers of at most one each is put into.
    body: (Vec<f64>, usize),
    /// Each a matrix of `n` rows that a vector of at most unit length is put into.
    matrices: Vec<(Vec<f64>, usize)>,
    /// What is always the same.
    constant: Vec<f64>,
    /// The first frames, model A's: as the body, and what is the same in all.
    start: (Vec<f64>, usize),
    start_middle: Vec<f64>,
}

impl Drives {
    fn new(dynamics: &Dynamics, still: &[f32], held: &[(f64, f64)], limits: &RootLimits) -> Self {
        let (n, n_body, order) = (dynamics.n_cloth(), dynamics.n_body(), dynamics.order());
        // Columns of the weights, each so many times, as rows.
        let rows = |weights: &[f32], columns: &[(usize, f64)]| -> (Vec<f64>, usize) {
            let value = |row: usize| {
                let of = move |(column, scale): &(usize, f64)| {
                    scale * f64::from(weights[column * n + row])
                };
                columns.iter().map(of)
            };
            ((0..n).flat_map(value).collect(), columns.len())
        };
        let body: Vec<(usize, f64)> = held.iter().map(|(_, half)| *half).enumerate().collect();
        // The middle of all coefficients, through a matrix of their columns.
        let middle = |weights: &[f32]| -> Vec<f64> {
            let value = |row: usize| {
                let each = held.iter().enumerate();
                each.map(|(k, (middle, _))| middle * f64::from(weights[k * n + row]))
                    .sum()
            };
            (0..n).map(value).collect()
        };
        let mut matrices = Vec::new();
        let mut constant = middle(dynamics.weights());
        if dynamics.root() == RootTerms::With {
            for i in 0..order {
                let first = n_body + order * n + i * ROOT_MOTION;
                let frames = (order - i) as f64;
                let step = frames * f64::from(limits.step);
                let turn = (frames * f64::from(limits.turn)).min(std::f64::consts::PI);
                let sine = turn.min(std::f64::consts::FRAC_PI_2).sin();
                let (middle, half) = ((1.0 + turn.cos()) / 2.0, (1.0 - turn.cos()) / 2.0);
                let way = [(first, step), (first + 1, step), (first + 2, step)];
                matrices.push(rows(dynamics.weights(), &way));
                matrices.push(rows(dynamics.weights(), &[(first + 3, sine)]));
                matrices.push(rows(dynamics.weights(), &[(first + 4, half)]));
                let (cosine, _) = rows(dynamics.weights(), &[(first + 4, middle)]);
                constant.iter_mut().zip(cosine).for_each(|(c, v)| *c += v);
            }
        }
        Self {
            n,
            order,
            companion: match order {
                0 => Vec::new(),
                _ => dynamics.companion(),
            },
            body: rows(dynamics.weights(), &body),
            matrices,
            constant,
            start: rows(still, &body),
            start_middle: middle(still),
        }
    }

    /// The largest ‖y‖.
    fn bound(&self) -> Result<f64, NoEigenvalues> {
        let (n, width) = (self.n, self.n * self.order);
        let start = cube_norm(&self.start.0, n, self.start.1)? + frobenius(&self.start_middle);
        if self.order == 0 {
            return Ok(start);
        }
        // [I 0] Mᵏ, and its first block Gₖ.
        let mut power = vec![0.0; n * width];
        (0..n).for_each(|i| power[i * width + i] = 1.0);
        let mut whole = identity(width);
        let companion = Dense::new(&self.companion, width, width);
        let size: f64 = self
            .matrices
            .iter()
            .map(|(m, columns)| norm(m, n, *columns))
            .sum::<Result<f64, _>>()?
            + cube_norm(&self.body.0, n, self.body.1)?;
        let mut answer = vec![0.0; n];
        let (mut driven, mut largest, mut powers) = (0.0, start, 0.0);
        for _ in 0..MOST {
            let block = |b: usize| -> Vec<f64> {
                let rows = power.chunks_exact(width);
                rows.flat_map(|row| &row[b * n..(b + 1) * n])
                    .copied()
                    .collect()
            };
            let first = block(0);
            let green = Dense::new(&first, n, n);
            let (matrix, columns) = &self.body;
            let through = product(green, Dense::new(matrix, n, *columns));
            driven += cube_norm(&through, n, *columns)?;
            for (matrix, columns) in &self.matrices {
                let through = product(green, Dense::new(matrix, n, *columns));
                driven += norm(&through, n, *columns)?;
            }
            let moved = product(green, Dense::new(&self.constant, n, 1));
            answer.iter_mut().zip(moved).for_each(|(a, m)| *a += m);
            powers += frobenius(&power);
            power = product(Dense::new(&power, n, width), companion);
            // What is left of the start: N frames of it.
            let mut left = 0.0;
            let mut middle = vec![0.0; n];
            for b in 0..self.order {
                let rows = power.chunks_exact(width);
                let past: Vec<f64> = rows
                    .flat_map(|row| &row[b * n..(b + 1) * n])
                    .copied()
                    .collect();
                let (matrix, columns) = &self.start;
                let through = product(Dense::new(&past, n, n), Dense::new(matrix, n, *columns));
                left += cube_norm(&through, n, *columns)?;
                let moved = product(
                    Dense::new(&past, n, n),
                    Dense::new(&self.start_middle, n, 1),
                );
                middle.iter_mut().zip(moved).for_each(|(a, m)| *a += m);
            }
            left += frobenius(&middle);
            largest = f64::max(largest, left + driven + frobenius(&answer));
            whole = product(Dense::new(&whole, width, width), companion);
            let decay = frobenius(&whole);
            if decay < SMALL {
                // All that comes later is what came, times at most that, again and again.
                let drive = size + frobenius(&self.constant) + start * self.order as f64;
                return Ok(largest + powers * drive * decay / (1.0 - decay));
            }
        }
        Err(NoEigenvalues { n: width })
    }
}

fn identity(n: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    (0..n).for_each(|i| matrix[i * n + i] = 1.0);
    matrix
}

/// The largest singular value.
fn norm(matrix: &[f64], n_rows: usize, n_columns: usize) -> Result<f64, NoEigenvalues> {
    if n_columns == 1 {
        return Ok(frobenius(matrix));
    }
    let mut gram = vec![0.0; n_columns * n_columns];
    add_gram(Dense::new(matrix, n_rows, n_columns), &mut gram);
    let eigen = symmetric_eigen(&gram, n_columns)?;
    let largest = eigen.values.iter().fold(0.0, |most: f64, v| most.max(*v));
    Ok(largest.sqrt())
}

/// No vector of numbers of at most one each becomes longer.
fn cube_norm(matrix: &[f64], n_rows: usize, n_columns: usize) -> Result<f64, NoEigenvalues> {
    let mut lengths = vec![0.0; n_columns];
    for row in matrix.chunks_exact(n_columns.max(1)) {
        let each = lengths.iter_mut().zip(row);
        each.for_each(|(length, v)| *length += v * v);
    }
    let sum: f64 = lengths.iter().map(|l: &f64| l.sqrt()).sum();
    let ball = norm(matrix, n_rows, n_columns)? * (n_columns as f64).sqrt();
    Ok(sum.min(ball))
}

fn frobenius(matrix: &[f64]) -> f64 {
    matrix.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: RootLimits = RootLimits {
        step: 0.1,
        turn: 0.2,
    };

    fn bound(dynamics: &Dynamics, still: &[f32], held: &[(f64, f64)]) -> f64 {
        Drives::new(dynamics, still, held, &LIMITS).bound().unwrap()
    }

    /// y = a x + b y₋₁ is at most a r / (1 − b), which a constant x reaches.
    #[test]
    fn of_one_number_with_memory_it_is_the_sum_of_the_geometric_series() {
        let dynamics = Dynamics::new(1, 1, 1, RootTerms::Without, vec![0.3, 0.8]).unwrap();
        let found = bound(&dynamics, &[0.0], &[(0.5, 1.5)]);
        let (a, b) = (f64::from(0.3f32), f64::from(0.8f32));
        let expected = 2.0 * a / (1.0 - b);
        assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
    }

    /// A swing that rings: the worst drive changes sign with it, and the bound is what
    /// that drive reaches.
    #[test]
    fn of_a_swing_it_is_what_the_worst_drive_reaches() {
        let (radius, angle) = (0.9f64, 0.7f64);
        let (b1, b2) = (2.0 * radius * angle.cos(), -radius * radius);
        let weights = vec![1.0, b1 as f32, b2 as f32];
        let dynamics = Dynamics::new(1, 1, 2, RootTerms::Without, weights).unwrap();
        let found = bound(&dynamics, &[0.0], &[(0.0, 1.0)]);
        let (b1, b2) = (f64::from(b1 as f32), f64::from(b2 as f32));
        let mut green = vec![1.0, b1];
        for k in 2..400 {
            green.push(b1 * green[k - 1] + b2 * green[k - 2]);
        }
        // Backwards in time, with the sign of the answer.
        let (mut y, mut older) = (0.0, 0.0);
        for k in (0..400).rev() {
            let next = f64::signum(green[k]) + b1 * y + b2 * older;
            (older, y) = (y, next);
        }
        assert!((found / y - 1.0).abs() < 1e-5, "{found} {y}");
        // The bound of the paper is far above.
        assert!(found < 0.7 / ((1.0 - radius) * angle.sin()) * 2.0);
    }

    /// Two coefficients and the root: no random drive comes near beyond it, and the
    /// worst of many comes within a factor.
    #[test]
    fn no_drive_goes_beyond_it() {
        let mut state = 7u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        // Body 2, cloth 2, order 2 and the root: inputs 2 + 4 + 10.
        let mut weights: Vec<f32> = (0..32).map(|_| 0.3 * random()).collect();
        weights[4..12].copy_from_slice(&[1.1, 0.1, -0.2, 0.9, -0.3, 0.0, 0.1, -0.25]);
        let dynamics = Dynamics::new(2, 2, 2, RootTerms::With, weights).unwrap();
        let still = [0.5, -0.2, 0.1, 0.4];
        let held = [(1.0, 2.0), (-0.2, 0.5)];
        let found = bound(&dynamics, &still, &held);
        let mut largest = 0.0f64;
        for _ in 0..200 {
            let mut past = [[0.0f64; 2]; 2];
            let (mut corner, mut turn) = ([1.0; 2], 0.0f32);
            for t in 0..100 {
                // Corners of the bounds and of the limits, for a while each.
                if t % 8 == 0 {
                    corner = [random(), random()].map(|r| f64::from(r.signum()));
                    turn = 0.2 * random().signum();
                }
                let x = [0, 1].map(|k| held[k].0 + corner[k] * held[k].1);
                let mut inputs: Vec<f64> = x.to_vec();
                inputs.extend(past.as_flattened());
                for frames in [2.0f32, 1.0] {
                    let way = 0.1 * frames;
                    let turned = frames * turn;
                    inputs.extend([0.6 * way, 0.0, 0.8 * way].map(f64::from));
                    inputs.extend([turned.sin(), turned.cos()].map(f64::from));
                }
                let y = [0, 1].map(|row| {
                    let columns = dynamics.weights().chunks_exact(2);
                    let terms = inputs.iter().zip(columns);
                    terms.map(|(v, w)| v * f64::from(w[row])).sum::<f64>()
                });
                past = [y, past[0]];
                largest = largest.max(y[0].hypot(y[1]));
            }
        }
        assert!(
            largest < found && largest > 0.2 * found,
            "{largest} {found}"
        );
    }
}
