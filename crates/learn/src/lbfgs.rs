//! The least of a smooth function: limited-memory BFGS.
//!
//! Nocedal, Wright, "Numerical Optimization", 2006, algorithm 7.4, with steps
//! halved until the function has fallen enough (Armijo). A point where the
//! function is not finite counts as too far.

use std::collections::VecDeque;

/// Changes of place and slope that are remembered.
const MEMORY: usize = 20;

/// The share of the fall that the slope promises which a step has to have.
const ENOUGH: f64 = 1e-4;

/// Halvings of one step.
const HALVINGS: usize = 25;

/// The first step, as a share of the length of where it starts.
const FIRST: f64 = 0.01;

/// Goes down from `start` in at most so many steps. `value` gives the function
/// and its gradient; `each` is told of every step (from 1 on) and where it led.
/// Returns the last place.
///
/// # Errors
/// What `each` returns.
pub(crate) fn descend<E>(
    start: Vec<f64>,
    n_steps: usize,
    value: impl Fn(&[f64]) -> (f64, Vec<f64>),
    mut each: impl FnMut(usize, &[f64]) -> Result<(), E>,
) -> Result<Vec<f64>, E> {
    let mut x = start;
    let (mut f, mut gradient) = value(&x);
    let mut pairs: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
    for step in 1..=n_steps {
        let mut direction = along(&pairs, &gradient);
        let mut slope = -dot(&direction, &gradient);
        if slope >= 0.0 || !slope.is_finite() {
            pairs.clear();
            direction.clone_from(&gradient);
            slope = -dot(&gradient, &gradient);
        }
        if slope == 0.0 || !slope.is_finite() {
            break;
        }
        let mut length = match pairs.is_empty() {
            true => FIRST * dot(&x, &x).sqrt().max(1e-3) / (-slope).sqrt(),
            false => 1.0,
        };
        let mut found = None;
        for _ in 0..HALVINGS {
            let next: Vec<f64> = (x.iter().zip(&direction))
                .map(|(x, d)| x - length * d)
                .collect();
            let (f_next, gradient_next) = value(&next);
            if f_next.is_finite() && f_next <= f + ENOUGH * length * slope {
                found = Some((next, f_next, gradient_next));
                break;
            }
            length *= 0.5;
        }
        let Some((next, f_next, gradient_next)) = found else {
            break;
        };
        let moved = difference(&next, &x);
        let turned = difference(&gradient_next, &gradient);
        // Only where the slope has risen are they of a convex function.
        if dot(&moved, &turned) > 1e-12 * dot(&turned, &turned).sqrt() * dot(&moved, &moved).sqrt()
        {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back((moved, turned));
        }
        (x, f, gradient) = (next, f_next, gradient_next);
        each(step, &x)?;
    }
    Ok(x)
}

/// The gradient times the inverse Hessian that the pairs tell of.
fn along(pairs: &VecDeque<(Vec<f64>, Vec<f64>)>, gradient: &[f64]) -> Vec<f64> {
    let mut direction = gradient.to_vec();
    let mut shares = Vec::with_capacity(pairs.len());
    for (moved, turned) in pairs.iter().rev() {
        let share = dot(moved, &direction) / dot(moved, turned);
        add(&mut direction, -share, turned);
        shares.push(share);
    }
    if let Some((moved, turned)) = pairs.back() {
        let scale = dot(moved, turned) / dot(turned, turned);
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for ((moved, turned), share) in pairs.iter().zip(shares.into_iter().rev()) {
        let back = dot(turned, &direction) / dot(moved, turned);
        add(&mut direction, share - back, moved);
    }
    direction
}

fn add(to: &mut [f64], times: f64, what: &[f64]) {
    to.iter_mut().zip(what).for_each(|(t, w)| *t += times * w);
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Rosenbrock's valley, whose least is at (1, 1).
    fn valley(x: &[f64]) -> (f64, Vec<f64>) {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        let gradient = vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b];
        (a * a + 100.0 * b * b, gradient)
    }

    #[test]
    fn the_bottom_of_a_bent_valley_is_found() {
        let found = descend(vec![-1.2, 1.0], 100, valley, |_, _| Ok::<_, Infallible>(())).unwrap();
        assert!(found.iter().all(|x| (x - 1.0).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn steps_never_go_where_the_function_is_not_finite() {
        // −ln x + x has its least at 1 and is nowhere below 0.
        let wall = |x: &[f64]| {
            assert!(x[0].is_finite());
            (x[0] - x[0].ln(), vec![1.0 - 1.0 / x[0]])
        };
        let mut seen = Vec::new();
        let found = descend(vec![40.0], 60, wall, |_, x| {
            seen.push(x[0]);
            Ok::<_, Infallible>(())
        })
        .unwrap();
        assert!((found[0] - 1.0).abs() < 1e-6, "{found:?}");
        assert!(seen.iter().all(|x| *x > 0.0), "{seen:?}");
    }

    #[test]
    fn the_watcher_ends_it() {
        let mut n = 0;
        let step = |at: usize, _: &[f64]| {
            n = at;
            if at < 3 { Ok(()) } else { Err("enough") }
        };
        assert_eq!(descend(vec![-1.2, 1.0], 100, valley, step), Err("enough"));
        assert_eq!(n, 3);
    }
}
