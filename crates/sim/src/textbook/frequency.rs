//! Strips that swing, against their first natural frequency.
//!
//! ```text
//! clamped, without gravity   f₁ = 0.5596 √(D/(ρ L⁴))     cantilever, (1.8751)²/2π
//! limp, hanging              f₁ = 0.1914 √(g/L)          chain, 2.4048/4π
//! ```
//!
//! A strip starts from rest with velocities in the shape of that mode, so small
//! that stretch does not matter, and is followed through three periods in
//! steps of T/200. Its motion is projected on the mode; the period is taken
//! between passages through zero, numerical damping from how the projection's
//! extremes shrink.
//!
//! | mode   | shape, s from the held end in lengths                          |
//! |--------|-----------------------------------------------------------------|
//! | beam   | cosh ks − cos ks − σ(sinh ks − sin ks), k = 1.875104, σ = 0.734096 |
//! | chain  | J₀(2.404826 √(1 − s))                                           |

use std::f64::consts::TAU;

use glam::DVec3;

use super::statics::{GRAVITY, clamped_start, held, isotropic, settle};
use super::suite::Job;
use super::way::rule;
use super::{Case, Rectangle, Size, Test, Triangulation, Trouble};
use crate::{Cloth, Integrator, NewtonConfig, Simulation, SimulationConfig, Solver};

const LIMIT_PERCENT: f64 = 2.0;
const LENGTH: f64 = 0.2;
const DENSITY: f64 = 0.2;
/// Steps in a period.
const N_PERIOD: f64 = 200.0;
/// Periods followed.
const PERIODS: usize = 3;
/// Largest swing over the length.
const SWING: f64 = 1e-4;

#[derive(Clone, Copy)]
enum Strip {
    Clamped,
    Hanging,
}

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let resolutions: &[u32] = match size {
        Size::Quick => &[12],
        Size::Full => &[20, 40],
    };
    let mut jobs: Vec<Job> = Vec::new();
    for strip in [Strip::Clamped, Strip::Hanging] {
        for &n in resolutions {
            for triangulation in Triangulation::BOTH {
                for integrator in [Integrator::Midpoint, Integrator::Bdf2, Integrator::Euler] {
                    jobs.push(Box::new(move || {
                        vec![case(strip, n, triangulation, integrator)]
                    }));
                }
            }
        }
    }
    jobs
}

fn case(strip: Strip, n: u32, triangulation: Triangulation, integrator: Integrator) -> Case {
    let name = match strip {
        Strip::Clamped => "clamped strip",
        Strip::Hanging => "limp hanging strip",
    };
    let (mesh, rule) = (triangulation.name(), rule(integrator));
    let case = format!("{name} [Hz], {n} elements, {mesh}, {rule} at T/{N_PERIOD}");
    let swing = swing(strip, n, triangulation, integrator);
    let reference = strip.frequency();
    let frequency = swing.clone().map(|s| s.frequency);
    let case = Case::of(Test::Frequency, case, frequency, reference, LIMIT_PERCENT);
    match swing {
        Ok(swing) => case.with("damping_percent_a_period", 100.0 * swing.damping),
        Err(_) => case,
    }
}

impl Strip {
    /// Rigidity [N·m]: a frequency of about 1 Hz, or ρgL³/D = 1e6.
    fn rigidity(self) -> f64 {
        match self {
            Self::Clamped => DENSITY * LENGTH.powi(4) * 4.0,
            Self::Hanging => DENSITY * GRAVITY * LENGTH.powi(3) / 1e6,
        }
    }

    /// Stretch modulus [N/m]: YL²/D = 2e5, or ρgL/Y = 1e-4.
    fn stretch(self) -> f64 {
        match self {
            Self::Clamped => 2e5 * self.rigidity() / LENGTH.powi(2),
            Self::Hanging => DENSITY * GRAVITY * LENGTH / 1e-4,
        }
    }

    fn gravity(self) -> f64 {
        match self {
            Self::Clamped => 0.0,
            Self::Hanging => GRAVITY,
        }
    }

    /// What the book says [Hz].
    fn frequency(self) -> f64 {
        match self {
            Self::Clamped => 0.5596 * (self.rigidity() / (DENSITY * LENGTH.powi(4))).sqrt(),
            Self::Hanging => 0.1914 * (GRAVITY / LENGTH).sqrt(),
        }
    }

    /// The first mode at `s` lengths from the held end.
    fn mode(self, s: f64) -> f64 {
        match self {
            Self::Clamped => {
                let ks = 1.875_104 * s;
                (ks.cosh() - ks.cos() - 0.734_096 * (ks.sinh() - ks.sin())) / 2.0
            }
            Self::Hanging => bessel(2.404_826 * (1.0 - s).max(0.0).sqrt()),
        }
    }
}

/// J₀ by its series.
fn bessel(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..30 {
        let k = f64::from(k);
        term *= -x * x / (4.0 * k * k);
        sum += term;
    }
    sum
}

/// How a strip swung.
#[derive(Clone, Copy)]
struct Swing {
    /// [Hz].
    frequency: f64,
    /// The share of its amplitude that it lost in a period.
    damping: f64,
}

fn swing(
    strip: Strip,
    n: u32,
    triangulation: Triangulation,
    integrator: Integrator,
) -> Result<Swing, Trouble> {
    let cloth_mesh = Rectangle::new(LENGTH, n, n / 4, triangulation).expect("cells have area");
    let fabric = isotropic(DENSITY, strip.stretch(), strip.rigidity(), 0.0);
    let clamps = match strip {
        Strip::Clamped => clamped_start(&cloth_mesh, DVec3::NEG_Y),
        Strip::Hanging => Vec::new(),
    };
    let cloth = Cloth::new(&cloth_mesh.rest, &fabric, &clamps).expect("a sound fabric");
    let points = cloth_mesh.points.iter();
    let mut x: Vec<DVec3> = points.map(|p| DVec3::new(p.y, -p.x, 0.0)).collect();
    if let Strip::Hanging = strip {
        // At rest under its weight; tension holds it straight on the way there.
        for p in &mut x {
            p.y *= 1.0 + 1e-4;
        }
        let held = held(x.len(), &cloth_mesh.start);
        let config = NewtonConfig {
            decrement: 1e-20,
            ..NewtonConfig::default()
        };
        settle(&cloth, &held, GRAVITY, &mut x, &config)?;
    }
    let modes: Vec<f64> = cloth_mesh
        .points
        .iter()
        .map(|p| strip.mode(p.x / LENGTH))
        .collect();
    let masses = cloth.masses().to_vec();
    let dt = 1.0 / (strip.frequency() * N_PERIOD);
    let speed = SWING * LENGTH * TAU * strip.frequency();
    let config = SimulationConfig {
        dt,
        integrator,
        solver: Solver::Direct,
        gravity: DVec3::NEG_Y * strip.gravity(),
        tolerance: 1e-6 * speed,
        ..SimulationConfig::default()
    };
    let mut simulation = Simulation::new(cloth, x, config)?;
    for v in &cloth_mesh.start {
        simulation.hold(*v)?;
    }
    let velocities: Vec<DVec3> = modes.iter().map(|m| DVec3::Z * (m * speed)).collect();
    simulation.set_velocities(&velocities)?;
    let n_steps = (N_PERIOD * (PERIODS as f64 + 0.3)) as usize;
    let mut track = vec![0.0];
    for _ in 0..n_steps {
        simulation.step()?;
        let sides = simulation.positions().iter().map(|x| x.z);
        let shares = masses.iter().zip(&modes).zip(sides);
        track.push(shares.map(|((m, mode), z)| m * mode * z).sum());
    }
    read(&track, dt)
}

/// Frequency and damping of a track that starts at zero.
fn read(track: &[f64], dt: f64) -> Result<Swing, Trouble> {
    let mut passages = vec![0.0];
    let mut extremes = vec![0.0f64];
    for (step, pair) in track.windows(2).enumerate() {
        let last = extremes.last_mut().expect("never empty");
        *last = last.max(pair[1].abs());
        if step > 0 && pair[0] * pair[1] <= 0.0 && pair[0] != 0.0 {
            passages.push((step as f64 + pair[0] / (pair[0] - pair[1])) * dt);
            extremes.push(0.0);
        }
    }
    // Two passages a period; the last extreme may not have been reached.
    let needed = 2 * PERIODS + 1;
    if passages.len() < needed {
        return Err(Trouble::NoSwing {
            n_passages: passages.len(),
            seconds: track.len() as f64 * dt,
            needed,
        });
    }
    let span = passages[2 * PERIODS] - passages[0];
    let (first, last) = (extremes[0], extremes[2 * PERIODS - 2]);
    Ok(Swing {
        frequency: PERIODS as f64 / span,
        damping: 1.0 - (last / first).powf(1.0 / (PERIODS as f64 - 1.0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_book_are_the_roots_they_come_from() {
        // cos k cosh k = −1, f = k²/2π.
        let k: f64 = 1.875_104;
        assert!((k.cos() * k.cosh() + 1.0).abs() < 1e-5);
        assert!((k * k / TAU - 0.5596).abs() < 1e-4);
        // J₀(j) = 0, f = j/4π.
        let j = 2.404_826;
        assert!(bessel(j).abs() < 1e-6);
        assert!((j / (2.0 * TAU) - 0.1914).abs() < 1e-4);
        // Modes are zero at the held end, one at the free one.
        for strip in [Strip::Clamped, Strip::Hanging] {
            assert!(strip.mode(0.0).abs() < 1e-5);
            assert!((strip.mode(1.0) - 1.0).abs() < 1e-3, "{}", strip.mode(1.0));
        }
    }

    #[test]
    fn a_known_swing_is_read() {
        let (dt, frequency, rate) = (0.005, 1.03, 0.1);
        let track: Vec<f64> = (0..700)
            .map(|i| {
                let t = dt * f64::from(i);
                (-rate * t).exp() * (TAU * frequency * t).sin()
            })
            .collect();
        let swing = read(&track, dt).map_err(|e| e.to_string()).unwrap();
        assert!((swing.frequency / frequency - 1.0).abs() < 1e-4);
        let expected = 1.0 - (-rate / frequency).exp();
        assert!((swing.damping / expected - 1.0).abs() < 0.01);
        assert!(read(&track[..100], dt).is_err());
    }
}
