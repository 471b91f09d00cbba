//! A strip that hangs from its top and is stretched by its own weight.
//!
//! ```text
//! strain at the top  ε = ρ g L / Y,      elongation  ε L / 2
//! ```
//!
//! That is the linear answer. Ours is a St. Venant–Kirchhoff membrane, for
//! which λ Y (λ² − 1)/2 = ρ g (L − s): the stretch λ − 1 is less than the
//! linear one by 1.5 ε of itself. ε is 1e-4 here, so that the reference is
//! right to 0.015 %; ν = 0, so that the held top does not matter.
//!
//! A second strip is so soft that ε is 0.1 and is held against the integral
//! of the equation above.
//!
//! The strain at the top is the slope there of the quadratic that fits the
//! displacement of the upper quarter best: a triangle's own strain is that of
//! its middle.

use glam::DVec3;

use super::statics::{GRAVITY, held, isotropic, mean, settle};
use super::suite::Job;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble};
use crate::{Cloth, NewtonConfig};

const LENGTH: f64 = 0.5;
const DENSITY: f64 = 0.2;
const LIMIT_PERCENT: f64 = 1.0;

/// What hangs: top strain and elongation over length.
#[derive(Clone, Copy)]
struct Hung {
    top_strain: f64,
    elongation: f64,
}

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let n = match size {
        Size::Quick => 20,
        Size::Full => 40,
    };
    let mut jobs: Vec<Job> = Vec::new();
    for strain in [1e-4, 0.1] {
        for triangulation in Triangulation::BOTH {
            jobs.push(Box::new(move || cases(n, triangulation, strain)));
        }
    }
    jobs
}

fn cases(n: u32, triangulation: Triangulation, strain: f64) -> Vec<Case> {
    let reference = match strain < 1e-3 {
        true => Hung {
            top_strain: strain,
            elongation: strain / 2.0,
        },
        false => finite(strain),
    };
    let hung = hang(n, triangulation, strain);
    let name = triangulation.name();
    let case = |what: &str, measured, reference| {
        let case = format!("{what}, ρgL/Y {strain:e}, {n} elements, {name}");
        Case::of(Test::HangingStrip, case, measured, reference, LIMIT_PERCENT)
    };
    vec![
        case(
            "top strain",
            hung.clone().map(|h| h.top_strain),
            reference.top_strain,
        ),
        case(
            "elongation over length",
            hung.clone().map(|h| h.elongation),
            reference.elongation,
        ),
    ]
}

fn hang(n: u32, triangulation: Triangulation, strain: f64) -> Result<Hung, Trouble> {
    let stretch = DENSITY * GRAVITY * LENGTH / strain;
    let fabric = isotropic(DENSITY, stretch, 1e-6, 0.0);
    let strip = Rectangle::new(LENGTH, n, n / 4, triangulation).expect("cells have area");
    let cloth = Cloth::new(&strip.rest, &fabric, &[]).expect("a sound fabric");
    let points = strip.points.iter();
    let rest: Vec<DVec3> = points.map(|p| DVec3::new(p.y, -p.x, 0.0)).collect();
    // Without tension nothing keeps the strip from swinging about its top.
    let taut = DVec3::new(1.0, 1.0 + strain, 1.0);
    let mut x: Vec<DVec3> = rest.iter().map(|p| *p * taut).collect();
    let held = held(x.len(), &strip.start);
    let config = NewtonConfig {
        decrement: 1e-20,
        max_move: LENGTH / 10.0,
        ..NewtonConfig::default()
    };
    settle(&cloth, &held, GRAVITY, &mut x, &config)?;
    // Displacement a s + b s² over the upper quarter, by least squares.
    let (mut s2, mut s3, mut s4, mut us, mut us2) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (p, (x, rest)) in strip.points.iter().zip(x.iter().zip(&rest)) {
        let (s, u) = (p.x, rest.y - x.y);
        if s <= LENGTH / 4.0 {
            s2 += s * s;
            s3 += s * s * s;
            s4 += s * s * s * s;
            us += u * s;
            us2 += u * s * s;
        }
    }
    Ok(Hung {
        top_strain: (us * s4 - us2 * s3) / (s2 * s4 - s3 * s3),
        elongation: (-mean(&x, &strip.end).y - LENGTH) / LENGTH,
    })
}

/// The strip of large strain: λ³ − λ = 2ε(1 − s), integrated over s.
fn finite(strain: f64) -> Hung {
    let stretch = |load: f64| {
        let mut lambda: f64 = 1.0 + load;
        for _ in 0..50 {
            lambda -= (lambda.powi(3) - lambda - 2.0 * load) / (3.0 * lambda * lambda - 1.0);
        }
        lambda - 1.0
    };
    // Simpson's rule.
    let n = 1000;
    let sum: f64 = (0..=n)
        .map(|i| {
            let weight = match i {
                0 => 1.0,
                _ if i == n => 1.0,
                _ if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * stretch(strain * f64::from(i) / f64::from(n))
        })
        .sum();
    Hung {
        top_strain: stretch(strain),
        elongation: sum / f64::from(3 * n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finite_strain_tends_to_the_linear_one() {
        let strain = 1e-5;
        let found = finite(strain);
        assert!((found.top_strain / strain - 1.0 + 1.5 * strain).abs() < 1e-8);
        assert!((2.0 * found.elongation / strain - 1.0 + strain).abs() < 1e-8);
    }
}
