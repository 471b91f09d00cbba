//! A limp strip between two pins, against the chain.
//!
//! ```text
//! L = 2a sinh(d/2a),      sag = a (cosh(d/2a) − 1)
//! ```
//!
//! for a strip of length L pinned a distance d apart. Ours bends and
//! stretches a little: ρgL³/D is 1e5, so that stiffness matters only within a
//! hundredth of the length at the pins, and ρgL/Y is 1e-4. Slopes at the pins
//! are free. Newton starts from the arc of a circle of the same length.

use glam::DVec3;

use super::statics::{GRAVITY, held, isotropic, settle};
use super::suite::Job;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble};
use crate::{Cloth, NewtonConfig};

const LENGTH: f64 = 0.4;
const DENSITY: f64 = 0.2;
const LIMIT_PERCENT: f64 = 1.0;
/// ρgL³/D.
const LIMPNESS: f64 = 1e5;
/// ρgL/Y.
const STRAIN: f64 = 1e-4;

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let (n, spans): (_, &[f64]) = match size {
        Size::Quick => (40, &[0.8]),
        Size::Full => (40, &[0.5, 0.8, 0.95]),
    };
    let mut jobs: Vec<Job> = Vec::new();
    for &span in spans {
        for triangulation in Triangulation::BOTH {
            jobs.push(Box::new(move || {
                let name = triangulation.name();
                let case = format!("sag over length, d/L {span}, {n} elements, {name}");
                let sag = sag(n, triangulation, span);
                vec![Case::of(
                    Test::Catenary,
                    case,
                    sag,
                    chain_sag(span),
                    LIMIT_PERCENT,
                )]
            }));
        }
    }
    jobs
}

/// The sag over the length of a chain pinned `span` lengths apart.
fn chain_sag(span: f64) -> f64 {
    // sinh(k)/k = L/d with k = d/2a.
    let k = rising_root(1.0 / span, |k| k.sinh() / k);
    span * (k.cosh() - 1.0) / (2.0 * k)
}

/// Where a function that rises from 1 at 0 meets `value`.
fn rising_root(value: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0);
    while function(high) < value {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        match function(middle) < value {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

fn sag(n: u32, triangulation: Triangulation, span: f64) -> Result<f64, Trouble> {
    let weight = DENSITY * GRAVITY * LENGTH;
    let rigidity = weight * LENGTH.powi(2) / LIMPNESS;
    let fabric = isotropic(DENSITY, weight / STRAIN, rigidity, 0.0);
    let strip = Rectangle::new(LENGTH, n, n / 10, triangulation).expect("cells have area");
    let cloth = Cloth::new(&strip.rest, &fabric, &[]).expect("a sound fabric");
    // The arc of half angle α: sin(α)/α = d/L.
    let alpha = rising_root(1.0 / span, |a| {
        if a < std::f64::consts::PI {
            a / a.sin()
        } else {
            f64::MAX
        }
    });
    let radius = LENGTH / (2.0 * alpha);
    let arc = |u: f64| {
        let angle = alpha * (2.0 * u / LENGTH - 1.0);
        DVec3::new(
            radius * angle.sin(),
            radius * (alpha.cos() - angle.cos()),
            0.0,
        )
    };
    let points = strip.points.iter();
    let mut x: Vec<DVec3> = points.map(|p| arc(p.x) + DVec3::Z * p.y).collect();
    let pins = [&strip.start[..], &strip.end].concat();
    let held = held(x.len(), &pins);
    let config = NewtonConfig {
        max_iterations: 2000,
        max_move: LENGTH / 10.0,
        ..NewtonConfig::default()
    };
    settle(&cloth, &held, GRAVITY, &mut x, &config)?;
    let lowest = x.iter().map(|p| p.y).fold(0.0, f64::min);
    Ok(-lowest / LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shallow_chain_is_a_parabola() {
        // L/d = 1 + 8/3 (sag/d)² for small sags.
        let span = 0.9999;
        let sag = chain_sag(span) / span;
        let parabola = (3.0f64 / 8.0 * (1.0 / span - 1.0)).sqrt();
        assert!((sag / parabola - 1.0).abs() < 1e-3);
    }
}
