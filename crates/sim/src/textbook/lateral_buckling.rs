//! A narrow strip on edge that tips over under its own weight.
//!
//! The strip of length L and height w stands on edge, clamped at one end, and
//! carries q = ρ g w a metre. With M = q(L − s)²/2 the moment in its plane, EI
//! the rigidity sideways and GJ the rigidity in torsion, the twist φ obeys
//!
//! ```text
//! EI GJ φ″ + M² φ = 0,   φ(0) = 0,   φ′(L) = 0      ⇒   q L³ = 12.854 √(EI GJ)
//! ```
//!
//! (Prandtl and Michell, 1899). For a strip EI = D(1 − ν²) w and GJ =
//! 2D(1 − ν) w, so that with Γ = ρ g L³/D
//!
//! ```text
//! Γcr = 12.854 (1 − ν²) √(2/(1 + ν))
//! ```
//!
//! (Romero and others, "Physical Validation of Simulators in Computer
//! Graphics", 2021, lateral buckling). It holds for w ≪ L, where M bends the
//! strip in its plane by next to nothing and the clamp does not hinder warping;
//! Γcr is higher by about 0.6 w/L.
//!
//! In its plane the strip comes to rest for any Γ. Whether it stays there is
//! in the stiffness sideways: the second derivatives of the elastic energy
//! across the plane, which weight does not change. Γcr is where they cease to
//! be positive definite, found by bisection. They come from differences of
//! the gradient, which is a cubic polynomial, so that differences of four
//! places have no remainder; the Hessian that Newton uses leaves out what
//! buckles.

use drapery_linalg::{SparseCholesky, SymmetricPattern};
use glam::DVec3;

use super::statics::{GRAVITY, clamped_start, held, isotropic, settle};
use super::suite::Job;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble};
use crate::{Cloth, NewtonConfig};

const LENGTH: f64 = 0.4;
const DENSITY: f64 = 0.2;
const LIMIT_PERCENT: f64 = 10.0;
/// YL²/D: the plane bends by one or two hundredths of the length.
const STRETCH: f64 = 2e6;
/// Cells across the height.
const N_ACROSS: u32 = 4;

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let (slendernesses, ratios): (&[_], &[_]) = match size {
        Size::Quick => (&[10], &[0.0]),
        Size::Full => (&[10, 20], &[0.0, 0.3]),
    };
    let mut jobs: Vec<Job> = Vec::new();
    for &slenderness in slendernesses {
        for &poisson in ratios {
            for triangulation in Triangulation::BOTH {
                jobs.push(Box::new(move || {
                    let name = triangulation.name();
                    let case = format!("Γcr, L/w {slenderness}, ν {poisson}, {name}");
                    let found = Strip::new(slenderness, triangulation, poisson).critical();
                    vec![Case::of(
                        Test::LateralBuckling,
                        case,
                        found,
                        critical(poisson),
                        LIMIT_PERCENT,
                    )]
                }));
            }
        }
    }
    jobs
}

/// What the book says.
fn critical(poisson: f64) -> f64 {
    12.854 * (1.0 - poisson * poisson) * (2.0 / (1.0 + poisson)).sqrt()
}

struct Strip {
    cloth: Cloth,
    held: Vec<bool>,
    flat: Vec<DVec3>,
}

impl Strip {
    fn new(slenderness: u32, triangulation: Triangulation, poisson: f64) -> Self {
        // Γ is the factor on gravity.
        let rigidity = DENSITY * GRAVITY * LENGTH.powi(3);
        let stretch = STRETCH * rigidity / LENGTH.powi(2);
        let fabric = isotropic(DENSITY, stretch, rigidity, poisson);
        let strip = Rectangle::new(LENGTH, N_ACROSS * slenderness, N_ACROSS, triangulation)
            .expect("cells have area");
        let clamps = clamped_start(&strip, DVec3::X);
        let flat: Vec<DVec3> = strip.points.iter().map(|p| p.extend(0.0)).collect();
        Self {
            cloth: Cloth::new(&strip.rest, &fabric, &clamps).expect("a sound fabric"),
            held: held(flat.len(), &strip.start),
            flat,
        }
    }

    /// The smallest Γ at which the strip does not stay in its plane.
    fn critical(&self) -> Result<f64, Trouble> {
        let mut x = self.flat.clone();
        let (mut low, mut high) = (0.0, 64.0);
        while high - low > 0.01 {
            let gamma = (low + high) / 2.0;
            self.rest(gamma, &mut x)?;
            match self.stays(&x) {
                true => low = gamma,
                false => high = gamma,
            }
        }
        Ok((low + high) / 2.0)
    }

    fn rest(&self, gamma: f64, x: &mut [DVec3]) -> Result<(), Trouble> {
        let config = NewtonConfig {
            max_iterations: 1000,
            max_move: LENGTH / 10.0,
            ..NewtonConfig::default()
        };
        settle(&self.cloth, &self.held, gamma * GRAVITY, x, &config)
    }

    /// Whether every small push out of the plane is pushed back.
    fn stays(&self, x: &[DVec3]) -> bool {
        let free: Vec<usize> = (0..x.len()).filter(|v| !self.held[*v]).collect();
        let n = free.len();
        let lower = (0..n).flat_map(|j| (j..n).map(move |i| (i, j)));
        let pattern = SymmetricPattern::new(n, lower).expect("within the matrix");
        let mut values = Vec::with_capacity(pattern.n_entries());
        let step = LENGTH / 100.0;
        let mut moved = x.to_vec();
        let mut gradients = vec![vec![DVec3::ZERO; x.len()]; 2];
        for (column, vertex) in free.iter().enumerate() {
            // The gradient across the plane is odd in the displacement.
            for (share, gradient) in [1.0, 2.0].into_iter().zip(&mut gradients) {
                moved[*vertex].z = share * step;
                gradient.fill(DVec3::ZERO);
                self.cloth.add_gradient(&moved, gradient);
            }
            moved[*vertex].z = 0.0;
            let rows = free[column..].iter();
            values.extend(
                rows.map(|row| (8.0 * gradients[0][*row].z - gradients[1][*row].z) / (6.0 * step)),
            );
        }
        SparseCholesky::new(pattern).factor(&values).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_of_the_book_solves_its_equation() {
        // φ″ + k² σ⁴/4 φ = 0 from the tip, σ = 1 − s: φ = 1, φ′ = 0 there;
        // φ at the clamp is first zero for k = 12.854.
        let clamp = |k: f64| {
            let n = 4000;
            let h = 1.0 / f64::from(n);
            let (mut phi, mut slope) = (1.0, 0.0);
            for i in 0..n {
                // Leapfrog, of second order.
                let sigma = (f64::from(i) + 0.5) * h;
                let half = phi + slope * h / 2.0;
                slope -= h * k * k * sigma.powi(4) / 4.0 * half;
                phi = half + slope * h / 2.0;
            }
            phi
        };
        assert!(clamp(12.853) > 0.0 && clamp(12.855) < 0.0);
    }

    #[test]
    fn a_push_grows_above_the_critical_weight_alone() {
        let strip = Strip::new(10, Triangulation::Aligned, 0.0);
        let found = strip.critical().unwrap();
        let sideways = |gamma: f64| {
            let mut x = strip.flat.clone();
            for p in &mut x {
                p.z = 1e-3 * p.x * p.x / LENGTH;
            }
            strip.rest(gamma, &mut x).unwrap();
            x.iter().map(|p| p.z.abs()).fold(0.0, f64::max)
        };
        assert!(sideways(0.95 * found) < 1e-4 * LENGTH);
        assert!(sideways(1.05 * found) > 0.05 * LENGTH);
    }
}
