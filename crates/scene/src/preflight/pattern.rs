//! Faults of a garment's flat pattern: shape, winding, and how it fits the mesh.
//!
//! A pattern is compared with the mesh by the ratio of each side's length in
//! space to its flat length. A sound garment has ratios near 1 everywhere;
//! a pattern in another unit has one other ratio everywhere; texture
//! coordinates have ratios all over the place.

use drapery_core::{Garment, Pattern};
use glam::{DVec2, DVec3};

use super::scale::Mistake;
use super::surface::{SurfaceFaults, degenerate, median};
use super::{Finding, FindingKind, Severity, place};

/// Cloth that is worn is stretched by less than this, at the 99th percentile
/// [1]: woven cloth tears beyond a quarter, jersey is sewn for up to a third.
const MAX_STRETCH: f64 = 0.35;

/// And compressed by less than this at the first percentile [1]: cloth buckles
/// long before.
const MAX_COMPRESSION: f64 = 0.35;

/// Median ratios beyond this, either way, are no stretch but another unit, and
/// so are quarters of the ratios that differ by more than this.
const MAX_MEDIAN_RATIO: f64 = 1.5;

/// What is wrong with the pattern, if there is one. `copies` are triangles that
/// are there twice and not judged again.
pub(super) fn check(
    garment: &Garment,
    faults: &SurfaceFaults,
    copies: &[u32],
    findings: &mut Vec<Finding>,
) {
    let Some(pattern) = garment.pattern() else {
        return;
    };
    let flat: Vec<[DVec3; 3]> = faults
        .kept
        .iter()
        .map(|&t| corners(pattern, t).map(|p| p.extend(0.0)))
        .collect();
    let thin: Vec<u32> = degenerate(&flat)
        .into_iter()
        .map(|i| faults.kept[i as usize])
        .collect();
    let mut is_set_aside = vec![false; garment.mesh().triangles().len()];
    for &t in thin.iter().chain(&faults.degenerate).chain(copies) {
        is_set_aside[t as usize] = true;
    }
    let sound: Vec<u32> = faults
        .kept
        .iter()
        .copied()
        .filter(|&t| !is_set_aside[t as usize])
        .collect();
    if !fits(garment, pattern, &sound, findings) {
        return; // texture coordinates have all sorts of triangles
    }
    if !thin.is_empty() {
        findings.push(
            Finding::new(FindingKind::DegeneratePattern, Severity::Error, thin.len())
                .at(place::triangles(garment, &thin))
                .cure("give these triangles an area in the flat pattern (vt), or collapse them")
                .vertices(vertices(garment, &thin)),
        );
    }
    flipped(garment, pattern, faults, &sound, findings);
}

fn corners(pattern: &Pattern, triangle: u32) -> [DVec2; 3] {
    pattern.triangles[triangle as usize].map(|i| pattern.coordinates[i as usize].as_dvec2())
}

fn vertices(garment: &Garment, triangles: &[u32]) -> Vec<u32> {
    let of = |&t: &u32| garment.mesh().triangles()[t as usize];
    triangles.iter().flat_map(of).collect()
}

/// Checks lengths; false when the pattern is none of this mesh.
fn fits(garment: &Garment, pattern: &Pattern, sound: &[u32], findings: &mut Vec<Finding>) -> bool {
    let n_triangles = garment.mesh().triangles().len();
    let mut ratios: Vec<(f64, u32)> = Vec::with_capacity(3 * sound.len());
    for &t in sound {
        let (space, flat) = (garment.mesh().corners(t), corners(pattern, t));
        for i in 0..3 {
            let j = (i + 1) % 3;
            let length = f64::from(space[i].distance(space[j]));
            ratios.push((length / flat[i].distance(flat[j]), t));
        }
    }
    if ratios.is_empty() {
        return false;
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share) as usize].0;
    let middle = median(ratios.iter().map(|r| r.0).collect());
    let spread = at(0.75) / at(0.25);
    if spread > MAX_MEDIAN_RATIO {
        findings.push(
            Finding::new(FindingKind::PatternMismatch, Severity::Error, n_triangles)
                .at(format!(
                    "sides are {:.2} to {:.2} times as long as in the pattern (quartiles)",
                    at(0.25),
                    at(0.75)
                ))
                .cure(
                    "the vt are texture coordinates rather than a flat pattern in metres: \
                     leave them out (the mesh is then the rest shape) or export the pattern",
                ),
        );
        return false;
    }
    if !(1.0 / MAX_MEDIAN_RATIO..=MAX_MEDIAN_RATIO).contains(&middle) {
        findings.push(
            Finding::new(FindingKind::PatternMismatch, Severity::Error, n_triangles)
                .at(format!(
                    "sides are {middle:.4} times as long as in the pattern"
                ))
                .cure(format!(
                    "multiply the pattern coordinates (vt) by {}",
                    unit(middle)
                )),
        );
        return false;
    }
    let (low, high) = (at(0.01) - 1.0, at(0.99) - 1.0);
    if low < -MAX_COMPRESSION || high > MAX_STRETCH {
        let beyond = |r: f64| r - 1.0 < -MAX_COMPRESSION || r - 1.0 > MAX_STRETCH;
        let mut triangles: Vec<u32> = ratios.iter().filter(|r| beyond(r.0)).map(|r| r.1).collect();
        triangles.sort_unstable();
        triangles.dedup();
        findings.push(
            Finding::new(FindingKind::Stretched, Severity::Warning, triangles.len())
                .at(format!(
                    "{}; {:.0} % at the 1st and {:+.0} % at the 99th percentile",
                    place::triangles(garment, &triangles),
                    100.0 * low,
                    100.0 * high
                ))
                .cure("drape the garment until it is at rest, or correct its pattern there")
                .vertices(vertices(garment, &triangles)),
        );
    }
    true
}

/// A factor, with the unit that a pattern has which needs it.
fn unit(factor: f64) -> String {
    match Mistake::of_factor(factor) {
        Some(Mistake::Unit(unit)) => format!("{} ({})", unit.metres() as f32, unit.name()),
        Some(mistake) => mistake.to_string(),
        None => format!("{factor:.4}"),
    }
}

/// Pattern triangles wound against the mesh, by island.
fn flipped(
    garment: &Garment,
    pattern: &Pattern,
    faults: &SurfaceFaults,
    sound: &[u32],
    findings: &mut Vec<Finding>,
) {
    // A triangle that is flipped in the mesh is flipped in the pattern too, for
    // its corners are listed together: that is one mistake, of the mesh.
    let mut is_flipped = vec![false; garment.mesh().triangles().len()];
    for &t in &faults.flipped {
        is_flipped[t as usize] = true;
    }
    let wrong: Vec<u32> = sound
        .iter()
        .copied()
        .filter(|&t| {
            let [a, b, c] = corners(pattern, t);
            ((b - a).perp_dot(c - a) < 0.0) != is_flipped[t as usize]
        })
        .collect();
    if wrong.is_empty() {
        return;
    }
    let all = wrong.len() == sound.len();
    let cure = if all {
        "mirror the whole pattern (negate u), or turn the mesh inside out"
    } else {
        "mirror these triangles or islands of the pattern (negate u), so that it is \
         counter-clockwise like the mesh"
    };
    let severity = if all {
        Severity::Warning
    } else {
        Severity::Error
    };
    findings.push(
        Finding::new(FindingKind::FlippedPattern, severity, wrong.len())
            .at(place::triangles(garment, &wrong))
            .cure(cure)
            .vertices(vertices(garment, &wrong)),
    );
}
