//! [`check_garment`]: is this a garment, and is it on this body.

use drapery_core::{BodyModel, Garment, ShapedBody, TriMesh, TriangleTree};
use glam::Vec3;

use super::elements::Elements;
use super::layers::{self, Doubled};
use super::placement::{Cure, PLAUSIBLE_SIZE, REACH, Support, Trial, Wearer};
use super::seams::open_seams;
use super::surface::SurfaceFaults;
use super::{Finding, FindingKind, Severity, borders, pattern, place, sorted};
use crate::garment::{BindingConfig, bind};

/// Points deeper than this are inside the body [m]; the limit of the metric
/// `penetration_percent`.
const MAX_DEPTH: f32 = 1e-3;

/// A garment that was carried to another shape may be this deep inside it [m]:
/// carrying is linear, and skin is softer than that.
const CARRYING_SLIP: f32 = 5e-3;

/// Border vertices nearer than this are the two sides of one seam [m]: the
/// rounding of a file that keeps tenths of a millimetre.
const SEAM_GAP: f32 = 1e-4;

/// And nearer than this share of the median side, for fine meshes.
const SEAM_GAP_SHARE: f32 = 0.02;

/// A part with less than this share of the triangles is a crumb.
const CRUMB_SHARE: f64 = 0.05;

/// A part with more than this share of its triangles on another sheet is a copy
/// of it; its borders may stick out a little.
const COPY_SHARE: f64 = 0.9;

/// A part is inside out when less than this share of its area faces away from
/// the body. A sound garment has nine tenths, a thick shell a half.
const MIN_FACING_AWAY: f64 = 0.35;

/// Without a body, a part is inside out when its mean facing away from its
/// centre is below this; 1 is a ball, 0 a flat sheet, -1 a ball inside out.
const MIN_CONVEX: f64 = -0.3;

/// Where a garment's positions come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drape {
    /// From its file, on the body that it was made for.
    Given,
    /// From there, moved with the body to another shape.
    Carried,
}

/// Which body a garment was made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MadeFor {
    /// The body of shape 0; it is carried to other shapes.
    #[default]
    Template,
    /// The very body that wears it.
    Wearer,
}

/// Checks a garment, by itself and as it is worn by a body at rest.
///
/// A garment lies on the body of shape 0, where its size, axes and place are
/// judged. It is then carried to the shape of `body`, as [`bind`] says, and
/// judged for what is inside the body there. While size, axes or place are wrong, the garment is not tested for being
/// inside the body or inside out, which would follow from them.
pub fn check_garment(garment: &Garment, on: Option<(&dyn BodyModel, &ShapedBody)>) -> Vec<Finding> {
    check_garment_made_for(garment, on, MadeFor::Template)
}

/// As [`check_garment`], told for which body the garment was made: one that was
/// made for its wearer is judged on it, and not carried.
pub fn check_garment_made_for(
    garment: &Garment,
    on: Option<(&dyn BodyModel, &ShapedBody)>,
    made_for: MadeFor,
) -> Vec<Finding> {
    let mesh = garment.mesh();
    let faults = SurfaceFaults::of(mesh);
    let tree = TriangleTree::new(mesh.triangles(), mesh.positions());
    let doubled = layers::doubled(mesh, &tree, &faults.kept);
    // A sheet that is there twice is one finding: its copy is not judged again.
    let is_copy = |part: &[u32]| {
        let is_doubled = |t: &&u32| doubled.triangles.binary_search(t).is_ok();
        part.iter().filter(is_doubled).count() as f64 > COPY_SHARE * part.len() as f64
    };
    let mut faults = faults;
    faults.parts.retain(|part| !is_copy(part));
    let mut findings = Vec::new();
    surface(garment, &faults, &mut findings);
    joins(garment, &faults, &doubled, &mut findings);
    sheets(garment, &faults, &doubled, &tree, &mut findings);
    pattern::check(garment, &faults, &doubled.triangles, &mut findings);
    match on {
        Some((model, body)) if !model.topology().triangles().is_empty() => {
            let template = match made_for {
                MadeFor::Template => template(model, body),
                MadeFor::Wearer => None,
            };
            let wearer = Wearer::new(model, template.as_ref().unwrap_or(body));
            if is_placed(garment, &wearer, &mut findings) {
                supported(mesh, &faults, &wearer, &mut findings);
                named_sides(garment, &mut findings);
                inside_out(garment, &faults, &wearer, &mut findings);
                let carried = template
                    .as_ref()
                    .and_then(|_| carried(garment, model, body));
                match carried {
                    Some(mesh) => {
                        let wearer = Wearer::new(model, body);
                        inside_body(&mesh, &faults, &wearer, Drape::Carried, &mut findings);
                    }
                    None => {
                        inside_body(mesh, &faults, &wearer, Drape::Given, &mut findings);
                    }
                }
            }
        }
        _ => inside_out_alone(garment, &faults, &mut findings),
    }
    // A garment that is inside out has its pattern mirrored with it.
    if findings.iter().any(|f| f.finding == FindingKind::InsideOut) {
        findings
            .retain(|f| f.finding != FindingKind::FlippedPattern || f.severity == Severity::Error);
    }
    sorted(findings)
}

/// The body of shape 0, unless that is what `body` is.
fn template(model: &dyn BodyModel, body: &ShapedBody) -> Option<ShapedBody> {
    let zero = vec![0.0; body.shape.len()];
    (body.shape != zero)
        .then(|| model.shaped(&zero).ok())
        .flatten()
}

/// The garment as a body of that shape wears it; `None` when it is too far from
/// the body to be worn.
fn carried(garment: &Garment, model: &dyn BodyModel, body: &ShapedBody) -> Option<TriMesh> {
    let binding = bind(garment, model, &BindingConfig::default()).ok()?;
    let mut positions = garment.mesh().positions().to_vec();
    for (direction, &coefficient) in binding.shape_directions.iter().zip(&body.shape) {
        for (p, d) in positions.iter_mut().zip(direction) {
            *p += *d * coefficient;
        }
    }
    garment.mesh().with_positions(positions).ok()
}

fn corners_of(garment: &Garment, triangles: &[u32]) -> Vec<u32> {
    let of = |&t: &u32| garment.mesh().triangles()[t as usize];
    triangles.iter().flat_map(of).collect()
}

/// Faults of the triangles themselves.
fn surface(garment: &Garment, faults: &SurfaceFaults, findings: &mut Vec<Finding>) {
    let panel = |_, triangle: Option<u32>| {
        let name = triangle.and_then(|t| place::panel(garment, &[t]));
        name.map_or_else(String::new, |name| format!(", panel {name}"))
    };
    let elements = Elements::new(garment.mesh(), &panel);
    findings.extend(elements.triangles(
        FindingKind::DegenerateTriangle,
        Severity::Error,
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
    findings.extend(elements.edges(
        FindingKind::NonManifoldEdge,
        Severity::Error,
        &faults.crowded_edges,
        "separate the sheets there, or delete the inner ones: an edge joins two triangles",
    ));
    findings.extend(elements.vertices(
        FindingKind::NonManifoldVertex,
        Severity::Warning,
        &faults.pinched_vertices,
        "split these vertices: pieces of cloth hang together by a point",
    ));
    findings.extend(elements.vertices(
        FindingKind::UnusedVertex,
        Severity::Warning,
        &faults.unused,
        "delete the vertices that no triangle uses",
    ));
}

/// Seams that are open, holes, and parts that float.
fn joins(
    garment: &Garment,
    faults: &SurfaceFaults,
    doubled: &Doubled,
    findings: &mut Vec<Finding>,
) {
    let positions = garment.mesh().positions();
    let mut is_copy = vec![false; positions.len()];
    if doubled.coincident {
        for v in corners_of(garment, &doubled.triangles) {
            is_copy[v as usize] = true;
        }
    }
    let side = layers::median_side(garment.mesh(), &faults.kept) as f32;
    let gap = SEAM_GAP.min(SEAM_GAP_SHARE * side);
    let seams = open_seams(positions, &faults.borders, gap, &is_copy);
    findings.extend(
        Elements::new(garment.mesh(), &|_, _| String::new()).vertices(
            FindingKind::OpenSeam,
            Severity::Error,
            &seams,
            "merge vertices by distance (0.1 mm): the seam is not sewn",
        ),
    );
    let mut is_judged = vec![false; positions.len()];
    for v in faults.parts.iter().flat_map(|p| corners_of(garment, p)) {
        is_judged[v as usize] = true;
    }
    let mut holes = borders::holes(garment.mesh(), faults, &seams);
    holes.retain(|hole| is_judged[hole.vertices[0] as usize]);
    if !holes.is_empty() {
        let named: Vec<String> = holes
            .iter()
            .take(3)
            .map(|hole| {
                let (n, at) = (hole.vertices.len(), hole.vertices[0] as usize);
                format!(
                    "{:.1} cm around, {n} sides, at {}",
                    100.0 * hole.length,
                    place::centimetres(positions[at])
                )
            })
            .collect();
        findings.push(
            Finding::new(FindingKind::Hole, Severity::Warning, holes.len())
                .at(named.join("; "))
                .cure("fill it, or ignore this where a hole is meant, such as a buttonhole")
                .vertices(holes.into_iter().flat_map(|hole| hole.vertices)),
        );
    }
    let parts: Vec<&[u32]> = faults.parts.iter().map(Vec::as_slice).collect();
    floating(garment, &parts, findings);
}

fn floating(garment: &Garment, parts: &[&[u32]], findings: &mut Vec<Finding>) {
    let Some((largest, others)) = parts.split_first() else {
        return;
    };
    if others.is_empty() {
        return;
    }
    let n_kept = parts.iter().map(|p| p.len()).sum::<usize>() as f64;
    let n_crumbs = others
        .iter()
        .filter(|p| (p.len() as f64) < CRUMB_SHARE * n_kept)
        .count();
    let named: Vec<String> = others
        .iter()
        .take(3)
        .map(|p| format!("{} triangles ({})", p.len(), place::triangles(garment, p)))
        .collect();
    let cure = if n_crumbs == others.len() {
        "delete the crumbs, or join them to the garment"
    } else {
        "sew the parts together, or make each a garment of its own"
    };
    findings.push(
        Finding::new(
            FindingKind::DisconnectedPart,
            Severity::Warning,
            others.len(),
        )
        .at(format!(
            "beside the largest part of {} triangles: {}",
            largest.len(),
            named.join("; ")
        ))
        .cure(cure)
        .vertices(others.iter().flat_map(|p| corners_of(garment, p))),
    );
}

/// Doubled layers and crossings.
fn sheets(
    garment: &Garment,
    faults: &SurfaceFaults,
    doubled: &Doubled,
    tree: &TriangleTree,
    findings: &mut Vec<Finding>,
) {
    if !doubled.triangles.is_empty() {
        let (what, cure) = if doubled.coincident {
            ("one sheet twice", "delete the copy of the sheet")
        } else {
            (
                "a modelled thickness",
                "keep only the outer sheet: the fabric has its own thickness",
            )
        };
        findings.push(
            Finding::new(
                FindingKind::DoubleLayer,
                Severity::Error,
                doubled.triangles.len(),
            )
            .at(format!(
                "{}, {what}, at most {:.2} mm apart",
                place::triangles(garment, &doubled.triangles),
                1e3 * doubled.gap
            ))
            .cure(cure)
            .vertices(corners_of(garment, &doubled.triangles)),
        );
    }
    let mut pairs = layers::crossings(garment.mesh().positions(), tree);
    pairs.retain(|pair| {
        pair.iter()
            .all(|t| faults.duplicate.binary_search(t).is_err())
    });
    if !pairs.is_empty() {
        let mut triangles: Vec<u32> = pairs.iter().flatten().copied().collect();
        triangles.sort_unstable();
        triangles.dedup();
        findings.push(
            Finding::new(FindingKind::SelfIntersection, Severity::Error, pairs.len())
                .at(place::triangles(garment, &triangles))
                .cure("pull the sheets apart there: cloth that starts tangled stays tangled")
                .vertices(corners_of(garment, &triangles)),
        );
    }
}

/// Size, axes and offset; false when one of them is wrong.
fn is_placed(garment: &Garment, wearer: &Wearer<'_>, findings: &mut Vec<Finding>) -> bool {
    let positions = garment.mesh().positions();
    let (low, high) = garment.mesh().bounds();
    let trial = Trial::new(wearer, garment.mesh());
    let scaled = |cure: Option<Cure>, findings: &mut Vec<Finding>| {
        let words = match cure.as_ref().and_then(|c| c.scale) {
            Some(mistake) => mistake.cure(),
            None => format!("multiply by about {:.2e}", 0.5 / trial.size()),
        };
        findings.push(
            Finding::new(FindingKind::WrongScale, Severity::Error, positions.len())
                .at(format!(
                    "the garment measures {:.3} m across, the body {:.3} m",
                    trial.size() * wearer.diagonal,
                    wearer.diagonal
                ))
                .cure(words),
        );
        if let Some(cure) = cure {
            turned(&cure, positions.len(), "after scaling", findings);
        }
    };
    if !PLAUSIBLE_SIZE.contains(&trial.size()) {
        scaled(trial.unit(), findings);
        return false;
    }
    let fit = trial.fit();
    if fit.is_worn() {
        return true;
    }
    if trial.is_odd_size()
        && let Some(cure) = trial.unit()
    {
        scaled(Some(cure), findings);
        return false;
    }
    let measured = format!(
        "{:.0} % of it is outside the body and near it, mean distance {:.1} cm",
        100.0 * fit.worn,
        100.0 * fit.distance
    );
    if let Some(cure) = trial.place() {
        turned(&cure, positions.len(), &measured, findings);
        if let Some(offset) = cure.offset {
            let then = if cure.turn.is_some() {
                "then move"
            } else {
                "move"
            };
            findings.push(
                Finding::new(FindingKind::FarFromBody, Severity::Error, positions.len())
                    .at(measured)
                    .cure(format!("{then} by about {}", place::centimetres(offset))),
            );
        }
        return false;
    }
    // Wrong in a way that no simple change cures. When it is elsewhere, that is
    // a finding by itself; otherwise what is inside the body will be told.
    if fit.is_elsewhere() {
        let offset = wearer.centre() - (low + high) / 2.0;
        findings.push(
            Finding::new(FindingKind::FarFromBody, Severity::Error, positions.len())
                .at(measured)
                .cure(format!(
                    "turn it and move it onto the body; their centres are {} apart",
                    place::centimetres(offset)
                )),
        );
        return false;
    }
    true
}

fn turned(cure: &Cure, n_vertices: usize, place: &str, findings: &mut Vec<Finding>) {
    if let Some(turn) = &cure.turn {
        findings.push(
            Finding::new(FindingKind::WrongAxis, Severity::Error, n_vertices)
                .at(place)
                .cure(turn.words.clone()),
        );
    }
}

/// Whether the body holds the garment up.
fn supported(
    mesh: &TriMesh,
    faults: &SurfaceFaults,
    wearer: &Wearer<'_>,
    findings: &mut Vec<Finding>,
) {
    let support = Support::of(wearer, mesh.positions(), &faults.unused);
    if support.holds() {
        return;
    }
    let n_vertices = mesh.positions().len();
    findings.push(
        Finding::new(FindingKind::DoesNotFit, Severity::Warning, n_vertices)
            .at(format!(
                "the nearest vertex is {:.1} cm from the body; {:.1} % of the garment and {:.1} % of its \
                 upper half are within {:.1} cm",
                100.0 * support.nearest,
                100.0 * support.share,
                100.0 * support.upper_share,
                100.0 * support.limit
            ))
            .cure("check that garment and body belong together, and their scale: nothing holds it up"),
    );
}

/// Panels called left, right, front and back say how the garment is meant.
fn named_sides(garment: &Garment, findings: &mut Vec<Finding>) {
    let mean = |word: &str| {
        let (mut sum, mut n) = (Vec3::ZERO, 0);
        for panel in garment.panels() {
            let name = panel.name.to_lowercase();
            if !name.split(|c: char| !c.is_alphabetic()).any(|w| w == word) {
                continue;
            }
            for &t in &panel.triangles {
                sum += garment.mesh().corners(t).iter().sum::<Vec3>() / 3.0;
                n += 1;
            }
        }
        (n > 0).then(|| sum / n as f32)
    };
    // Means nearer than 1 cm say nothing.
    let swapped = |positive: &str, negative: &str, axis: Vec3| {
        let difference = (mean(positive)? - mean(negative)?).dot(axis);
        (difference.abs() > 0.01).then_some(difference < 0.0)
    };
    let across = swapped("left", "right", Vec3::X);
    let along = swapped("front", "back", Vec3::Z);
    let (place, cure) = match (across, along) {
        (Some(true), Some(true)) | (None, Some(true)) => (
            "panels named front lie behind those named back",
            "rotate 180° about Y (it is back to front)",
        ),
        (Some(true), Some(false)) => (
            "panels named left lie to the right of those named right",
            "mirror it in X (negate x and flip the triangles)",
        ),
        (Some(true), None) => (
            "panels named left lie to the right of those named right",
            "rotate 180° about Y, or mirror it in X",
        ),
        (Some(false), Some(true)) => (
            "panels named front lie behind those named back",
            "mirror it in Z (negate z and flip the triangles)",
        ),
        _ => return,
    };
    let n_vertices = garment.mesh().positions().len();
    findings.push(
        Finding::new(FindingKind::WrongAxis, Severity::Warning, n_vertices)
            .at(place)
            .cure(cure),
    );
}

/// Vertices, edge midpoints and face centres more than a millimetre inside.
fn inside_body(
    mesh: &TriMesh,
    faults: &SurfaceFaults,
    wearer: &Wearer<'_>,
    drape: Drape,
    findings: &mut Vec<Finding>,
) {
    let positions = mesh.positions();
    let mut points: Vec<(Vec3, [u32; 3])> = Vec::new();
    for (v, &p) in positions.iter().enumerate() {
        if faults.unused.binary_search(&(v as u32)).is_err() {
            points.push((p, [v as u32; 3]));
        }
    }
    for edge in mesh.topology().edges() {
        let [a, b] = edge.vertices;
        points.push((
            (positions[a as usize] + positions[b as usize]) / 2.0,
            [a, b, b],
        ));
    }
    for &t in &faults.kept {
        let [a, b, c] = mesh.corners(t);
        points.push(((a + b + c) / 3.0, mesh.triangles()[t as usize]));
    }
    let mut n_inside = 0;
    let mut vertices = Vec::new();
    let mut deepest: Option<(f32, Vec3, u32)> = None;
    for (p, of) in &points {
        let Some(standing) = wearer.standing(*p) else {
            continue;
        };
        let depth = -standing.distance;
        if depth > MAX_DEPTH {
            n_inside += 1;
            vertices.extend(of);
            if deepest.is_none_or(|d| depth > d.0) {
                deepest = Some((depth, *p, standing.triangle));
            }
        }
    }
    let Some((depth, at, triangle)) = deepest else {
        return;
    };
    let main = place::main_joints(wearer.model.skin_weights());
    let joint = place::joint_of_triangle(wearer.model, &main, triangle);
    let (severity, cure) = match drape {
        Drape::Given => (
            Severity::Error,
            "push the garment out of the body there, or fit it to this body shape",
        ),
        Drape::Carried if depth > CARRYING_SLIP => (
            Severity::Warning,
            "drape the garment on this body shape: it is carried from the template's",
        ),
        Drape::Carried => (
            Severity::Note,
            "none needed: the garment is carried from the template's shape, and is so near to the skin \
             that the first steps push it out",
        ),
    };
    findings.push(
        Finding::new(FindingKind::InsideBody, severity, n_inside)
            .at(format!(
                "{n_inside} of {} points (vertices, edge midpoints, face centres); deepest {:.1} mm at {}, near {joint}",
                points.len(),
                1e3 * depth,
                place::centimetres(at),
            ))
            .cure(cure)
            .vertices(vertices),
    );
}

/// Parts whose triangles mostly face the body.
fn inside_out(
    garment: &Garment,
    faults: &SurfaceFaults,
    wearer: &Wearer<'_>,
    findings: &mut Vec<Finding>,
) {
    let mut wrong = Vec::new();
    for part in &faults.parts {
        let (mut area, mut away) = (0.0, 0.0);
        for &t in part {
            let [a, b, c] = garment.mesh().corners(t);
            let normal = (b - a).cross(c - a);
            // Out of reach, the nearest skin says little about the side.
            let standing = wearer.standing((a + b + c) / 3.0);
            if let Some(s) = standing.filter(|s| s.distance < REACH * wearer.height) {
                area += f64::from(normal.length());
                if normal.dot(s.outward) > 0.0 {
                    away += f64::from(normal.length());
                }
            }
        }
        if area > 0.0 && away < MIN_FACING_AWAY * area {
            wrong.extend(part);
        }
    }
    report_inside_out(garment, wrong, Severity::Error, findings);
}

/// The same without a body, by the part's own centre.
fn inside_out_alone(garment: &Garment, faults: &SurfaceFaults, findings: &mut Vec<Finding>) {
    let mut wrong = Vec::new();
    for part in &faults.parts {
        let corners = |t: &u32| garment.mesh().corners(*t).map(Vec3::as_dvec3);
        let centre = part
            .iter()
            .map(|t| corners(t).iter().sum::<glam::DVec3>() / 3.0)
            .sum::<glam::DVec3>()
            / part.len() as f64;
        let (mut sum, mut scale) = (0.0, 0.0);
        for t in part {
            let [a, b, c] = corners(t);
            let normal = (b - a).cross(c - a);
            let from = (a + b + c) / 3.0 - centre;
            sum += normal.dot(from);
            scale += normal.length() * from.length();
        }
        if scale > 0.0 && sum < MIN_CONVEX * scale {
            wrong.extend(part);
        }
    }
    report_inside_out(garment, wrong, Severity::Warning, findings);
}

fn report_inside_out(
    garment: &Garment,
    mut wrong: Vec<u32>,
    severity: Severity,
    findings: &mut Vec<Finding>,
) {
    if wrong.is_empty() {
        return;
    }
    wrong.sort_unstable();
    findings.push(
        Finding::new(FindingKind::InsideOut, severity, wrong.len())
            .at(place::triangles(garment, &wrong))
            .cure("flip all of these triangles (or undo a mirroring): their front faces the body")
            .vertices(corners_of(garment, &wrong)),
    );
}
