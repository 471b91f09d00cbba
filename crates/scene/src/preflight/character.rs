//! [`check_character`] and [`character_info`]: is this a body that clothes can
//! be put on.

use drapery_core::{BodyModel, MeshError, ShapedBody, TriMesh};
use glam::Vec3;

use super::elements::Elements;
use super::place::{self, main_joints};
use super::scale::{LIKELY_HEIGHT, Mistake};
use super::self_contact::SelfContactFinder;
use super::surface::SurfaceFaults;
use super::{Finding, FindingKind, Severity, sorted};

/// Heights of a body [m]: from a small child to a giant.
const HEIGHTS: core::ops::RangeInclusive<f32> = 0.5..=2.5;

/// The lowest vertex may be this far from y = 0 [m]: soles sink in and shoes
/// have soles.
const FLOOR_SLACK: f32 = 0.02;

/// A body this many times longer along z than along y lies down. A person who
/// stands is three times higher than deep.
const LYING: f32 = 1.3;

/// A vertex that follows a joint by at least this much...
const MIN_WEIGHT: f32 = 0.05;
/// ...although that joint's bone is further from it than its nearest bone by
/// this share of the height was painted by mistake.
const FAR_WEIGHT: f32 = 0.25;

/// A joint may lie this share of the height outside the body's box: end joints
/// of fingers and helper joints under the feet do.
const STRAY: f32 = 0.1;

/// Self-intersections at rest that are shallower than this harm nobody [m].
const HARMLESS_DEPTH: f32 = 5e-3;

/// A character in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterInfo {
    /// Vertices, welded.
    pub vertices: usize,
    /// Triangles.
    pub triangles: usize,
    /// Joints.
    pub joints: usize,
    /// Names of the shape parameters.
    pub shape_parameters: Vec<String>,
    /// Whether every edge has two triangles that agree in winding.
    pub closed: bool,
    /// Vertices − edges + triangles; 2 for one closed part without handles.
    pub euler: i64,
    /// Pairs of triangles that cross at rest.
    pub self_intersections: usize,
    /// Height of the body at rest [m].
    pub height_m: f32,
}

/// A character in numbers, of the shape that `body` has, at rest.
pub fn character_info(model: &dyn BodyModel, body: &ShapedBody) -> CharacterInfo {
    let topology = model.topology();
    let heights = || body.rest.iter().map(|p| p.y);
    let height_m = heights().fold(f32::MIN, f32::max) - heights().fold(f32::MAX, f32::min);
    let self_intersections = SelfContactFinder::new(model, &body.rest)
        .find(&body.rest)
        .n_crossings;
    CharacterInfo {
        vertices: topology.n_vertices(),
        triangles: topology.triangles().len(),
        joints: model.skeleton().len(),
        shape_parameters: model
            .shape_parameters()
            .iter()
            .map(|p| p.name.clone())
            .collect(),
        closed: topology.is_closed(),
        euler: topology.euler_characteristic(),
        self_intersections,
        height_m,
    }
}

/// Checks a character of the shape that `body` has, at rest.
///
/// When that shape is beyond the ranges of its parameters, this is a finding,
/// and all else is judged on the body of shape 0.
///
/// # Errors
/// When a vertex of that shape is not finite.
pub fn check_character(
    model: &dyn BodyModel,
    body: &ShapedBody,
) -> Result<Vec<Finding>, MeshError> {
    let mesh_of =
        |body: &ShapedBody| TriMesh::new(body.rest.clone(), model.topology().triangles().to_vec());
    let mut mesh = mesh_of(body)?;
    let mut findings: Vec<Finding> = shape_out_of_range(model, body).into_iter().collect();
    // A body that is stretched beyond its ranges says nothing about its file.
    let zero = vec![0.0; body.shape.len()];
    let template = (!findings.is_empty())
        .then(|| model.shaped(&zero).ok())
        .flatten();
    if let Some(template) = &template {
        mesh = mesh_of(template)?;
    }
    let body = template.as_ref().unwrap_or(body);
    let faults = SurfaceFaults::of(&mesh);
    surface(model, body, &mesh, &faults, &mut findings);
    stance(model, body, &mesh, &mut findings);
    rig(model, body, &mesh, &mut findings);
    Ok(sorted(findings))
}

fn surface(
    model: &dyn BodyModel,
    body: &ShapedBody,
    mesh: &TriMesh,
    faults: &SurfaceFaults,
    findings: &mut Vec<Finding>,
) {
    let near = |p: Vec3, _| {
        let joint = place::nearest_joint(model.skeleton(), &body.joints, p);
        format!(", near {joint}")
    };
    let elements = Elements::new(mesh, &near);
    findings.extend(elements.triangles(
        FindingKind::DegenerateTriangle,
        Severity::Note,
        &faults.degenerate,
        "dissolve these triangles, or merge their vertices",
    ));
    findings.extend(elements.triangles(
        FindingKind::DuplicateTriangle,
        Severity::Error,
        &faults.duplicate,
        "delete the copies of these triangles",
    ));
    findings.extend(elements.triangles(
        FindingKind::FlippedTriangle,
        Severity::Error,
        &faults.flipped,
        "flip these triangles (recalculate normals), so that all are counter-clockwise from outside",
    ));
    findings.extend(elements.triangles(
        FindingKind::OneSided,
        Severity::Error,
        &faults.one_sided,
        "cut the part open: it is joined to itself with a twist, so it has no outside",
    ));
    let smaller: Vec<u32> = faults.parts.iter().skip(1).map(|p| p[0]).collect();
    findings.extend(elements.triangles(
        FindingKind::DisconnectedPart,
        Severity::Note,
        &smaller,
        "none needed for eyes, teeth and hair; delete what clothes should not touch",
    ));
    findings.extend(elements.edges(
        FindingKind::NonManifoldEdge,
        Severity::Error,
        &faults.crowded_edges,
        "separate the sheets there, or delete the inner ones: an edge joins two triangles",
    ));
    findings.extend(elements.edges(
        FindingKind::OpenBody,
        Severity::Warning,
        &faults.borders,
        "fill the holes (or merge vertices by distance): inside and outside are guessed near them",
    ));
    findings.extend(elements.vertices(
        FindingKind::NonManifoldVertex,
        Severity::Warning,
        &faults.pinched_vertices,
        "split these vertices",
    ));
    findings.extend(elements.vertices(
        FindingKind::UnusedVertex,
        Severity::Note,
        &faults.unused,
        "delete the vertices that no triangle uses",
    ));
    let n_triangles = mesh.triangles().len();
    if mesh.topology().is_closed() {
        if mesh.signed_volume() < 0.0 {
            findings.push(
                Finding::new(FindingKind::InsideOut, Severity::Error, n_triangles)
                    .at(format!("volume {:.1} litres", 1e3 * mesh.signed_volume()))
                    .cure("flip all triangles (or undo a mirroring): the front is inside"),
            );
        }
        let expected = 2 * faults.parts.len() as i64;
        let euler = mesh.topology().euler_characteristic();
        if euler != expected && faults.pinched_vertices.is_empty() {
            findings.push(
                Finding::new(
                    FindingKind::Handles,
                    Severity::Note,
                    (expected - euler).unsigned_abs() as usize / 2,
                )
                .at(format!(
                    "the Euler characteristic is {euler}, {expected} without handles"
                ))
                .cure("none needed if the body has tunnels (rings, ears); else fill them"),
            );
        }
    }
    let contact = SelfContactFinder::new(model, &body.rest).find(&body.rest);
    if contact.n_crossings > 0 {
        let names = model.skeleton().names();
        let pairs: Vec<String> = contact
            .pairs
            .iter()
            .take(3)
            .map(|p| {
                let [a, b] = p.joints.map(|j| names[j.index()].as_str());
                format!(
                    "{a} and {b} ({} pairs, {:.1} mm deep, at {})",
                    p.n_crossings,
                    1e3 * p.depth,
                    place::centimetres(p.place)
                )
            })
            .collect();
        let harmless = contact.deepest() <= HARMLESS_DEPTH;
        findings.push(
            Finding::new(
                FindingKind::SelfIntersection,
                if harmless {
                    Severity::Note
                } else {
                    Severity::Warning
                },
                contact.n_crossings,
            )
            .at(pairs.join("; "))
            .cure(if harmless {
                "none needed: cloth is not judged there"
            } else {
                "pull the parts apart in the rest pose"
            })
            .vertices(contact.inside),
        );
    }
}

/// Coefficients that the model's author did not mean.
pub(super) fn shape_out_of_range(model: &dyn BodyModel, body: &ShapedBody) -> Option<Finding> {
    let beyond: Vec<String> = model
        .shape_parameters()
        .iter()
        .zip(&body.shape)
        .filter(|(parameter, value)| {
            // A hair of slack for a value that was written as text.
            let slack = 1e-5 * (parameter.max - parameter.min).abs();
            !(parameter.min - slack..=parameter.max + slack).contains(*value)
        })
        .map(|(parameter, value)| {
            let (name, min, max) = (&parameter.name, parameter.min, parameter.max);
            format!("{name} = {value}, meant for {min} to {max}")
        })
        .collect();
    (!beyond.is_empty()).then(|| {
        Finding::new(
            FindingKind::ShapeOutOfRange,
            Severity::Warning,
            beyond.len(),
        )
        .at(beyond.join("; "))
        .cure("keep the shape within its ranges: nobody looked at such bodies")
    })
}

/// Size, axes, floor and facing.
fn stance(model: &dyn BodyModel, body: &ShapedBody, mesh: &TriMesh, findings: &mut Vec<Finding>) {
    let (low, high) = mesh.bounds();
    let extent = high - low;
    let n_vertices = mesh.positions().len();
    let mut report = |kind, severity, place: String, cure: String| {
        findings.push(
            Finding::new(kind, severity, n_vertices)
                .at(place)
                .cure(cure),
        );
    };
    let measured = format!(
        "{:.2} × {:.2} × {:.2} m (x, y, z)",
        extent.x, extent.y, extent.z
    );
    // A person lying down is as long as one that stands.
    let height = extent.y.max(extent.z);
    if !HEIGHTS.contains(&height) {
        let cure = Mistake::of_height(f64::from(height))
            .filter(|mistake| HEIGHTS.contains(&(mistake.factor() as f32 * height)))
            .map_or_else(
                || {
                    format!(
                        "multiply by about {:.2e}",
                        LIKELY_HEIGHT / f64::from(height)
                    )
                },
                Mistake::cure,
            );
        report(FindingKind::WrongScale, Severity::Error, measured, cure);
        return;
    }
    let mean = |words: &[&str]| mean_joint(model, body, words);
    let head = mean(&["head"]);
    let feet = mean(&["foot", "ankle"]);
    let up = match (head, feet) {
        (Some(head), Some(feet)) => Some(head - feet),
        _ => None,
    };
    if extent.z > LYING * extent.y {
        let face_down = up.is_some_and(|u| u.z < 0.0);
        let cure = if face_down {
            "rotate 90° about X (the file is Z down)"
        } else {
            "rotate -90° about X (the file is Z up)"
        };
        report(
            FindingKind::WrongAxis,
            Severity::Error,
            measured,
            cure.into(),
        );
        return;
    }
    if up.is_some_and(|u| u.y < 0.0) {
        report(
            FindingKind::WrongAxis,
            Severity::Error,
            "the head joint is below the feet".into(),
            "rotate 180° about Z (it is upside down)".into(),
        );
        return;
    }
    let toes = mean(&["toe"]);
    let forward = match (feet, toes) {
        (Some(feet), Some(toes)) => Some(toes - feet),
        _ => None,
    };
    let left = match (mean(&["left"]), mean(&["right"])) {
        (Some(left), Some(right)) => Some(left - right),
        _ => None,
    };
    // Differences below 1 % of the height say nothing.
    let clear = |x: f32| x.abs() > 0.01 * height;
    let backwards = forward.is_some_and(|f| f.z < 0.0 && clear(f.z));
    let sideways = forward.filter(|f| f.x.abs() > f.z.abs() && clear(f.x));
    let swapped = left.filter(|l| clear(l.x)).map(|l| l.x < 0.0);
    if let Some(f) = sideways {
        let (angle, axis) = if f.x > 0.0 { (-90, "+X") } else { (90, "-X") };
        report(
            FindingKind::WrongAxis,
            Severity::Error,
            format!("the toes point to {axis}"),
            format!("rotate {angle}° about Y"),
        );
    } else if backwards {
        let (place, cure) = match swapped {
            Some(false) => (
                "the toes point to -Z, but the left side is at +X",
                "mirror it in Z (negate z and flip the triangles)",
            ),
            _ => (
                "the toes point to -Z",
                "rotate 180° about Y (it faces backwards)",
            ),
        };
        report(
            FindingKind::WrongAxis,
            Severity::Error,
            place.into(),
            cure.into(),
        );
    } else if swapped == Some(true) {
        report(
            FindingKind::WrongAxis,
            Severity::Warning,
            "joints named left are at -X, the body's right when it faces +Z".into(),
            "rotate 180° about Y if it faces backwards, else mirror it in X or rename the joints"
                .into(),
        );
    }
    if low.y.abs() > FLOOR_SLACK {
        report(
            FindingKind::OffFloor,
            Severity::Warning,
            format!("the lowest vertex is at y = {:.1} cm", 100.0 * low.y),
            format!("move it by {:.1} cm along Y", -100.0 * low.y),
        );
    }
}

/// The mean of the joints [m] that have one of these words in their names.
fn mean_joint(model: &dyn BodyModel, body: &ShapedBody, words: &[&str]) -> Option<Vec3> {
    let (mut sum, mut n) = (Vec3::ZERO, 0);
    for (name, joint) in model.skeleton().names().iter().zip(&body.joints) {
        let name = name.to_lowercase();
        if words.iter().any(|w| name.contains(w)) {
            sum += *joint;
            n += 1;
        }
    }
    (n > 0).then(|| sum / n as f32)
}

/// Weights and joints.
fn rig(model: &dyn BodyModel, body: &ShapedBody, mesh: &TriMesh, findings: &mut Vec<Finding>) {
    let skeleton = model.skeleton();
    let (low, high) = mesh.bounds();
    let height = (high - low).max_element();
    let bones = bones(model, body);
    let mut wrong = Vec::new();
    let mut worst: Option<(f32, u32, u16)> = None;
    for (v, &p) in body.rest.iter().enumerate() {
        let distance = |joint: usize| {
            bones[joint]
                .iter()
                .map(|&(a, b)| segment_distance(p, a, b))
                .fold(f32::INFINITY, f32::min)
        };
        let influences = || model.skin_weights().of(v).filter(|i| i.1 >= MIN_WEIGHT);
        let furthest = influences()
            .map(|(j, _)| (distance(usize::from(j)), j))
            .fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
        // The nearest bone need only be sought when a joint is far at all.
        if furthest.0 <= FAR_WEIGHT * height {
            continue;
        }
        let nearest = (0..skeleton.len())
            .map(distance)
            .fold(f32::INFINITY, f32::min);
        let excess = furthest.0 - nearest;
        if excess > FAR_WEIGHT * height {
            wrong.push(v as u32);
            if worst.is_none_or(|w| excess > w.0) {
                worst = Some((excess, v as u32, furthest.1));
            }
        }
    }
    if let Some((_, v, joint)) = worst {
        let p = body.rest[v as usize];
        findings.push(
            Finding::new(FindingKind::BadWeights, Severity::Warning, wrong.len())
                .at(format!(
                    "{}; vertex {v} at {} near {} follows {}",
                    place::list(place::VERTICES, &wrong),
                    place::centimetres(p),
                    place::nearest_joint(skeleton, &body.joints, p),
                    skeleton.names()[usize::from(joint)]
                ))
                .cure("paint the weights of these vertices again")
                .vertices(wrong),
        );
    }
    let slack = STRAY * height;
    let stray: Vec<u32> = (0..skeleton.len() as u32)
        .filter(|&j| {
            let p = body.joints[j as usize];
            !(p.cmpge(low - slack).all() && p.cmple(high + slack).all())
        })
        .collect();
    if let Some(&first) = stray.first() {
        findings.push(
            Finding::new(FindingKind::StrayJoint, Severity::Warning, stray.len())
                .at(format!(
                    "{} at {}",
                    skeleton.names()[first as usize],
                    place::centimetres(body.joints[first as usize])
                ))
                .cure("put the joint into the body, or apply the armature's scale and transform"),
        );
    }
    let unnamed: Vec<u32> = (0..skeleton.len() as u32)
        .filter(|&j| {
            let name = &skeleton.names()[j as usize];
            !name.chars().any(char::is_alphabetic)
        })
        .collect();
    if !unnamed.is_empty() {
        let main = main_joints(model.skin_weights());
        findings.push(
            Finding::new(FindingKind::UnnamedJoint, Severity::Note, unnamed.len())
                .at(place::list(["joint", "joints"], &unnamed))
                .cure("name the joints, so that motions of other skeletons can be carried over")
                .vertices(
                    (0..main.len() as u32)
                        .filter(|&v| unnamed.contains(&u32::from(main[v as usize]))),
                ),
        );
    }
}

/// The bones of each joint: to its children, or itself.
fn bones(model: &dyn BodyModel, body: &ShapedBody) -> Vec<Vec<(Vec3, Vec3)>> {
    let mut bones: Vec<Vec<(Vec3, Vec3)>> = body.joints.iter().map(|&p| vec![(p, p)]).collect();
    for (joint, parent) in model.skeleton().parents().iter().enumerate() {
        if let Some(parent) = parent {
            let from = body.joints[parent.index()];
            bones[parent.index()].push((from, body.joints[joint]));
        }
    }
    bones
}

fn segment_distance(p: Vec3, a: Vec3, b: Vec3) -> f32 {
    let along = b - a;
    let t = ((p - a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
    p.distance(a + along * t)
}
