//! A curved piece of cloth laid flat with its lengths kept.
//!
//! Minimises
//!
//! ```text
//! E(x) = Σ kₑ (|xᵢ − xⱼ| − lₑ)² / lₑ²
//! ```
//!
//! over flat positions x, with lₑ the edges' lengths in space and kₑ how much they
//! matter, by turns: the
//! edges' directions are held and x solved for (conjugate gradients on the
//! weighted graph Laplacian), then the directions are taken from x. Each turn
//! lowers E (it is the majorisation of multidimensional scaling).

use glam::DVec2;

/// The most turns.
const N_TURNS: usize = 60;

/// Turns end when one lowers E by less than this share.
const ENOUGH: f64 = 3e-3;

/// Steps of conjugate gradients in a turn, from the turn before.
const N_STEPS: usize = 40;

/// An edge with its length in space [m].
#[derive(Clone, Copy, Debug)]
pub(super) struct Spring {
    pub(super) ends: [u32; 2],
    pub(super) length: f64,
    /// How much its length matters.
    pub(super) stiffness: f64,
}

impl Spring {
    fn weight(&self) -> f64 {
        self.stiffness / (self.length * self.length)
    }
}

/// Flat positions [m] in which `springs` have their lengths as nearly as can
/// be, from a first guess without folds, turned and moved to lie on the guess.
pub(super) fn flatten(guess: &[DVec2], springs: &[Spring]) -> Vec<DVec2> {
    let mut x = guess.to_vec();
    // The guess may be in a wrong scale along either axis: mend that first.
    let (mut long, mut flat) = (0.0, 0.0);
    for s in springs {
        long += s.length;
        flat += x[s.ends[0] as usize].distance(x[s.ends[1] as usize]);
    }
    let scale = long / f64::max(flat, 1e-12);
    x.iter_mut().for_each(|p| *p *= scale);
    let mut before = f64::INFINITY;
    for _ in 0..N_TURNS {
        let now = energy(&x, springs);
        if now > (1.0 - ENOUGH) * before {
            break;
        }
        before = now;
        let mut right = vec![DVec2::ZERO; x.len()];
        for s in springs {
            let [a, b] = s.ends.map(|v| v as usize);
            let along = (x[a] - x[b]).normalize_or_zero() * (s.weight() * s.length);
            right[a] += along;
            right[b] -= along;
        }
        solve(&mut x, springs, &right);
    }
    align(&mut x, guess);
    x
}

fn energy(x: &[DVec2], springs: &[Spring]) -> f64 {
    let of = |s: &Spring| {
        let [a, b] = s.ends.map(|v| x[v as usize]);
        let off = a.distance(b) - s.length;
        s.weight() * off * off
    };
    springs.iter().map(of).sum()
}

/// The weighted graph Laplacian of the springs times `x`.
fn times(x: &[DVec2], springs: &[Spring], out: &mut [DVec2]) {
    out.fill(DVec2::ZERO);
    for s in springs {
        let [a, b] = s.ends.map(|v| v as usize);
        let pull = (x[a] - x[b]) * s.weight();
        out[a] += pull;
        out[b] -= pull;
    }
}

fn solve(x: &mut [DVec2], springs: &[Spring], right: &[DVec2]) {
    let n = x.len();
    let mut diagonal = vec![0.0; n];
    for s in springs {
        for v in s.ends {
            diagonal[v as usize] += s.weight();
        }
    }
    let dot = |a: &[DVec2], b: &[DVec2]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let mut product = vec![DVec2::ZERO; n];
    times(x, springs, &mut product);
    let mut residual: Vec<DVec2> = right.iter().zip(&product).map(|(r, p)| *r - *p).collect();
    let scaled = |r: &[DVec2]| -> Vec<DVec2> {
        r.iter()
            .zip(&diagonal)
            .map(|(r, d)| *r / f64::max(*d, 1e-12))
            .collect()
    };
    let mut z = scaled(&residual);
    let mut way = z.clone();
    let mut rz = dot(&residual, &z);
    let limit = 1e-12 * dot(right, &scaled(right)).max(1e-300);
    for _ in 0..N_STEPS {
        if rz <= limit {
            break;
        }
        times(&way, springs, &mut product);
        let curvature = dot(&way, &product);
        if curvature <= 0.0 {
            break;
        }
        let step = rz / curvature;
        for i in 0..n {
            x[i] += way[i] * step;
            residual[i] -= product[i] * step;
        }
        z = scaled(&residual);
        let next = dot(&residual, &z);
        let keep = next / rz;
        rz = next;
        for i in 0..n {
            way[i] = z[i] + way[i] * keep;
        }
    }
}

/// Turns and moves `x` to lie on `guess` with the least squares.
fn align(x: &mut [DVec2], guess: &[DVec2]) {
    let n = x.len().max(1) as f64;
    let centre = x.iter().sum::<DVec2>() / n;
    let target = guess.iter().sum::<DVec2>() / n;
    let turn: DVec2 = x
        .iter()
        .zip(guess)
        .map(|(p, q)| {
            let (p, q) = (*p - centre, *q - target);
            DVec2::new(p.dot(q), p.perp_dot(q))
        })
        .sum();
    let turn = turn.try_normalize().unwrap_or(DVec2::X);
    for p in x {
        *p = turn.rotate(*p - centre) + target;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bent_strip_comes_out_flat_and_unstretched() {
        // A sheet on a cylinder, guessed too narrow and sheared.
        let (n, m, h, r) = (9usize, 7usize, 0.1, 0.35);
        let at = |i: usize, j: usize| (i * m + j) as u32;
        let mut guess = Vec::new();
        let mut truth = Vec::new();
        for i in 0..n {
            for j in 0..m {
                let p = DVec2::new(h * i as f64, h * j as f64);
                truth.push(p);
                guess.push(DVec2::new(0.7 * p.x + 0.2 * p.y, 1.1 * p.y));
            }
        }
        let space = |p: DVec2| glam::DVec3::new(r * (p.x / r).sin(), p.y, r * (p.x / r).cos());
        let mut springs = Vec::new();
        let mut join = |a: u32, b: u32| {
            let (p, q) = (truth[a as usize], truth[b as usize]);
            // The geodesic, not the chord.
            let length = p.distance(q);
            assert!(length >= space(p).distance(space(q)) - 1e-12);
            springs.push(Spring {
                ends: [a, b],
                length,
                stiffness: 1.0,
            });
        };
        for i in 0..n {
            for j in 0..m {
                if i + 1 < n {
                    join(at(i, j), at(i + 1, j));
                }
                if j + 1 < m {
                    join(at(i, j), at(i, j + 1));
                }
                if i + 1 < n && j + 1 < m {
                    join(at(i, j), at(i + 1, j + 1));
                }
            }
        }
        let flat = flatten(&guess, &springs);
        for s in &springs {
            let [a, b] = s.ends.map(|v| flat[v as usize]);
            assert!((a.distance(b) / s.length - 1.0).abs() < 1e-4);
        }
    }
}
