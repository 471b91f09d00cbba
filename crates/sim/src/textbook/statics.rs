//! Strips at rest: what the static tests share.

use drapery_core::Fabric;
use glam::DVec3;

use super::{Rectangle, Trouble};
use crate::{ClampedEdge, Cloth, Load, NewtonConfig, minimise};

/// Gravity [m/s²].
pub(super) const GRAVITY: f64 = 9.81;

/// An isotropic fabric: stretch modulus Y [N/m], rigidity D [N·m], Poisson
/// ratio ν in both.
///
/// ```text
/// stretch  Y/(1 − ν²) · [1 ν; ν 1],  shear Y/(2(1 + ν))
/// bending  D · [1 ν; ν 1],           twist D(1 − ν)
/// ```
pub(super) fn isotropic(density: f64, stretch: f64, bending: f64, poisson: f64) -> Fabric {
    let plane = stretch / (1.0 - poisson * poisson);
    Fabric {
        stretch_weft: plane,
        stretch_warp: plane,
        stretch_coupling: poisson * plane,
        shear: stretch / (2.0 * (1.0 + poisson)),
        bending_coupling: poisson * bending,
        bending_twist: bending * (1.0 - poisson),
        ..Fabric::plain("textbook", density, stretch, bending)
    }
}

/// Clamps the start of a strip, whose slope points along `direction`.
pub(super) fn clamped_start(strip: &Rectangle, direction: DVec3) -> Vec<ClampedEdge> {
    let edges = strip.start.windows(2);
    edges
        .map(|edge| ClampedEdge {
            vertices: [edge[0], edge[1]],
            slope: -direction,
        })
        .collect()
}

/// Which of `n` vertices are among `vertices`.
pub(super) fn held(n: usize, vertices: &[u32]) -> Vec<bool> {
    let mut held = vec![false; n];
    for v in vertices {
        held[*v as usize] = true;
    }
    held
}

/// The mean place of some vertices.
pub(super) fn mean(x: &[DVec3], vertices: &[u32]) -> DVec3 {
    let sum: DVec3 = vertices.iter().map(|v| x[*v as usize]).sum();
    sum / vertices.len() as f64
}

/// Lets a cloth come to rest under gravity `g` [m/s²] along −Y.
pub(super) fn settle(
    cloth: &Cloth,
    held: &[bool],
    g: f64,
    x: &mut [DVec3],
    config: &NewtonConfig,
) -> Result<(), Trouble> {
    let masses = cloth.masses();
    let forces: Vec<DVec3> = masses.iter().map(|m| DVec3::NEG_Y * (g * m)).collect();
    let load = Load {
        held,
        forces: &forces,
        inertia: None,
    };
    let report = minimise(cloth, load, x, config)?;
    match report.converged {
        true => Ok(()),
        false => Err(Trouble::Restless { report }),
    }
}
