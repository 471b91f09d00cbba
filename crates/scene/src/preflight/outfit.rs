//! [`check_outfit`]: do garments that are worn together cross each other.

use drapery_core::{Garment, Meeting, TriangleTree, intersect_triangles};

use super::{Finding, FindingKind, Severity, place, sorted};

/// Checks garments that are worn together, from the skin outwards, as they lie
/// on the template body: one finding for each two that cross, which counts the
/// pairs of triangles. Its vertices are those of the outer garment.
///
/// What is wrong with a garment by itself is for
/// [`check_garment`](super::check_garment), and which of two that do not cross
/// lies outside is not judged.
pub fn check_outfit(garments: &[&Garment]) -> Vec<Finding> {
    let trees: Vec<TriangleTree> = garments
        .iter()
        .map(|g| TriangleTree::new(g.mesh().triangles(), g.mesh().positions()))
        .collect();
    let mut findings = Vec::new();
    for outer in 1..garments.len() {
        for inner in 0..outer {
            let pairs = crossings(
                (garments[inner], &trees[inner]),
                (garments[outer], &trees[outer]),
            );
            findings.extend(crossing(garments[inner], garments[outer], &pairs));
        }
    }
    sorted(findings)
}

/// Pairs of triangles that cross, of the inner garment and of the outer one,
/// sorted.
fn crossings(
    (inner, inner_tree): (&Garment, &TriangleTree),
    (outer, outer_tree): (&Garment, &TriangleTree),
) -> Vec<[u32; 2]> {
    let (inner, outer) = (inner.mesh(), outer.mesh());
    let mut pairs = Vec::new();
    inner_tree.visit_pairs(
        inner.positions(),
        outer_tree,
        outer.positions(),
        0.0,
        |a, b| {
            let found = intersect_triangles(inner.corners(a), outer.corners(b));
            if found.is_some_and(|f| f.meeting == Meeting::Crossing) {
                pairs.push([a, b]);
            }
        },
    );
    pairs.sort_unstable();
    pairs
}

fn crossing(inner: &Garment, outer: &Garment, pairs: &[[u32; 2]]) -> Option<Finding> {
    if pairs.is_empty() {
        return None;
    }
    let mut triangles: Vec<u32> = pairs.iter().map(|p| p[1]).collect();
    triangles.sort_unstable();
    triangles.dedup();
    let finding = Finding::new(FindingKind::LayersCross, Severity::Warning, pairs.len())
        .at(format!(
            "{} under {}: {} of {}",
            inner.name(),
            outer.name(),
            place::triangles(outer, &triangles),
            outer.name()
        ))
        .cure("drape the outer garment over the inner one, or swap them: layers that start tangled stay tangled")
        .vertices(triangles.iter().flat_map(|&t| outer.mesh().triangles()[t as usize]));
    Some(finding)
}
