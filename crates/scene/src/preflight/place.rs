//! Words for places: indices, coordinates in centimetres, names of joints.

use drapery_core::{BodyModel, Garment, Skeleton, SkinWeights};
use glam::Vec3;

/// How many indices a place names before it says how many more there are.
const N_NAMED: usize = 3;

/// `vertices 3, 8, 12 and 7 more`, or `vertex 3`.
pub(super) fn list(what: [&str; 2], indices: &[u32]) -> String {
    let named: Vec<String> = indices
        .iter()
        .take(N_NAMED)
        .map(ToString::to_string)
        .collect();
    let noun = what[usize::from(indices.len() != 1)];
    match indices.len().saturating_sub(N_NAMED) {
        0 => format!("{noun} {}", named.join(", ")),
        more => format!("{noun} {} and {more} more", named.join(", ")),
    }
}

pub(super) const TRIANGLES: [&str; 2] = ["triangle", "triangles"];
pub(super) const VERTICES: [&str; 2] = ["vertex", "vertices"];

/// `(12.3, 104.0, -5.1) cm`.
pub(super) fn centimetres(p: Vec3) -> String {
    let c = p * 100.0;
    format!("({:.1}, {:.1}, {:.1}) cm", c.x, c.y, c.z)
}

/// The name of the first panel that holds one of the triangles.
pub(super) fn panel<'a>(garment: &'a Garment, triangles: &[u32]) -> Option<&'a str> {
    let first = *triangles.first()?;
    garment
        .panels()
        .iter()
        .find(|p| p.triangles.contains(&first))
        .map(|p| p.name.as_str())
}

/// Triangles, with where the first one lies and the panel it is of.
pub(super) fn triangles(garment: &Garment, triangles: &[u32]) -> String {
    let mut text = list(TRIANGLES, triangles);
    if let Some(&first) = triangles.first() {
        let [a, b, c] = garment.mesh().corners(first);
        text += &format!(" at {}", centimetres((a + b + c) / 3.0));
    }
    if let Some(name) = panel(garment, triangles) {
        text += &format!(", panel {name}");
    }
    text
}

/// The joint that each vertex follows most; the lower one among equals.
pub(super) fn main_joints(weights: &SkinWeights) -> Vec<u16> {
    (0..weights.n_vertices())
        .map(|v| {
            weights
                .of(v)
                .fold((0, -1.0f32), |best, (joint, weight)| {
                    if weight > best.1 || (weight == best.1 && joint < best.0) {
                        (joint, weight)
                    } else {
                        best
                    }
                })
                .0
        })
        .collect()
}

/// `near Hips` for the joint nearest to a point.
pub(super) fn nearest_joint<'a>(skeleton: &'a Skeleton, joints: &[Vec3], p: Vec3) -> &'a str {
    let nearest = joints
        .iter()
        .enumerate()
        .min_by(|a, b| {
            a.1.distance_squared(p)
                .total_cmp(&b.1.distance_squared(p))
                .then(a.0.cmp(&b.0))
        })
        .map_or(0, |(joint, _)| joint);
    &skeleton.names()[nearest]
}

/// The joint that most of the corners of a body triangle follow.
pub(super) fn joint_of_triangle<'a>(
    model: &'a dyn BodyModel,
    main: &[u16],
    triangle: u32,
) -> &'a str {
    let corner = model.topology().triangles()[triangle as usize][0];
    &model.skeleton().names()[usize::from(main[corner as usize])]
}
