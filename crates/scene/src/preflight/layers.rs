//! Sheets on sheets: doubled layers and true self-intersections.
//!
//! A triangle is doubled when the line through its centre along its normal
//! meets another triangle, which shares no vertex with it and lies parallel to
//! it, within a gap. A fold of cloth that touches itself does that too, but at
//! a thickness and over a small share of the garment; a shell that was
//! duplicated does it at no distance, and a shell that was given a thickness
//! does it everywhere.

use drapery_core::{Meeting, TriMesh, TriangleTree};
use glam::{DVec3, Vec3};

use super::surface::median;

/// Sheets nearer than this are one sheet twice [m]: thinner than any cloth
/// (organza has 0.1 mm), thicker than `f32` and text rounding.
const COINCIDENT: f64 = 5e-5;

/// Sheets nearer than this over most of a garment are a modelled thickness [m]:
/// felt and quilting have a few millimetres.
const THICKNESS: f64 = 3e-3;

/// And nearer than this share of the median side: on a fine mesh a fold is
/// nearer to itself.
const THICKNESS_SIDE: f64 = 0.25;

/// The share of a garment's area that a modelled thickness doubles at least.
/// Pleats and hems double less, and are sewn rather than modelled.
const THICKNESS_SHARE: f64 = 0.5;

/// Cosine between parallel sheets, about 26°.
const PARALLEL: f64 = 0.9;

/// The doubled triangles of a mesh.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Doubled {
    /// Triangles that lie on one with a lower index.
    pub(super) triangles: Vec<u32>,
    /// The largest gap among them [m].
    pub(super) gap: f64,
    /// Whether they are one sheet twice rather than a modelled thickness.
    pub(super) coincident: bool,
}

/// The doubled layers among the `kept` triangles; none when there are only
/// folds.
pub(super) fn doubled(mesh: &TriMesh, tree: &TriangleTree, kept: &[u32]) -> Doubled {
    let positions = mesh.positions();
    let thickness = THICKNESS.min(THICKNESS_SIDE * median_side(mesh, kept));
    let coincidence = COINCIDENT.min(thickness / 10.0);
    let mut is_kept = vec![false; mesh.triangles().len()];
    for &t in kept {
        is_kept[t as usize] = true;
    }
    let mut coincident = Doubled {
        coincident: true,
        ..Doubled::default()
    };
    let mut thick = Doubled::default();
    let (mut area, mut thick_area) = (0.0, 0.0);
    for &t in kept {
        let corners = mesh.corners(t).map(Vec3::as_dvec3);
        let cross = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let Some(normal) = cross.try_normalize() else {
            continue;
        };
        let centre = (corners[0] + corners[1] + corners[2]) / 3.0;
        let mut nearest: Option<(f64, u32)> = None;
        let at = centre.as_vec3();
        let own = mesh.triangles()[t as usize];
        tree.visit_box(at, at, thickness as f32, positions, |other| {
            if other == t
                || !is_kept[other as usize]
                || mesh.triangles()[other as usize]
                    .iter()
                    .any(|v| own.contains(v))
            {
                return;
            }
            let gap = gap(centre, normal, mesh.corners(other).map(Vec3::as_dvec3))
                .filter(|gap| *gap <= thickness);
            if let Some(gap) = gap
                && nearest.is_none_or(|best| (gap, other) < best)
            {
                nearest = Some((gap, other));
            }
        });
        let size = cross.length() / 2.0;
        area += size;
        if let Some((gap, other)) = nearest {
            thick_area += size;
            let lists = [(gap <= coincidence, &mut coincident), (true, &mut thick)];
            for (counts, list) in lists {
                if counts && other < t {
                    list.triangles.push(t);
                    list.gap = list.gap.max(gap);
                }
            }
        }
    }
    if thick_area > THICKNESS_SHARE * area && coincident.triangles.len() < thick.triangles.len() {
        thick
    } else {
        coincident
    }
}

/// How far from `centre` the line along `normal` meets a parallel triangle [m].
fn gap(centre: DVec3, normal: DVec3, [a, b, c]: [DVec3; 3]) -> Option<f64> {
    let cross = (b - a).cross(c - a);
    let other = cross.try_normalize()?;
    let cosine = other.dot(normal);
    if cosine.abs() < PARALLEL {
        return None;
    }
    let distance = other.dot(a - centre) / cosine;
    let hit = centre + normal * distance;
    // A hair of slack, so that copies meet although the centre is rounded.
    let limit = -1e-6 * cross.length();
    let inside = |p: DVec3, q: DVec3| other.dot((q - p).cross(hit - p)) >= limit;
    (inside(a, b) && inside(b, c) && inside(c, a)).then_some(distance.abs())
}

/// The median length of the triangles' sides [m].
pub(super) fn median_side(mesh: &TriMesh, kept: &[u32]) -> f64 {
    let sides = kept.iter().flat_map(|&t| {
        let [a, b, c] = mesh.corners(t);
        [a.distance(b), b.distance(c), c.distance(a)].map(f64::from)
    });
    median(sides.collect())
}

/// Pairs of triangles that cross, the lower first, sorted.
pub(super) fn crossings(positions: &[Vec3], tree: &TriangleTree) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    tree.visit_self_intersections(positions, |a, b, found| {
        if found.meeting == Meeting::Crossing {
            pairs.push([a, b]);
        }
    });
    pairs.sort_unstable();
    pairs
}
