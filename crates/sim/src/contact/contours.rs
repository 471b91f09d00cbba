//! Along what lines a cloth crosses itself, and what has gone through:
//! [`Contour`].
//!
//! Where an edge passes through a face, two triangles cross along a segment,
//! which goes on in the triangle behind the edge: so crossings make up lines.
//! Each line runs over the cloth twice, as two curves of its material. A curve
//! that ends at the border or closes cuts a piece off; of the pieces of both
//! curves the smallest is what has gone through (global intersection analysis:
//! Baraff, Witkin, Kass, "Untangling Cloth", 2003, §3).
//!
//! A line that ends within both surfaces cuts off nothing. It gets shorter when
//! the surfaces slide along it (Volino, Magnenat-Thalmann, "Resolving Surface
//! Collisions through Intersection Contour Minimization", 2006). Let an edge
//! of direction E of the first surface pass through a face of normal N, and let
//! the line leave along Rᵢ into each of its faces; when the first surface moves
//! by u, the line's length changes by −u·G with
//!
//! ```text
//! G = Σᵢ Rᵢ − N (E·Rᵢ)/(E·N)
//! ```
//!
//! and by the opposite for an edge of the second. Where the line goes straight
//! on, both faces cancel; the ends are left.

use std::collections::BTreeMap;

use glam::DVec3;

use super::candidates::MeshBoxes;
use super::closest::point_triangle;
use super::weave::Weave;

/// An edge that passes through a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) edge: u32,
    pub(super) face: u32,
    /// Which of the line's two curves passes over the edge.
    pub(super) curve: usize,
    /// Where on the edge, from its first end to its second.
    pub(super) along: f64,
    /// The weights of the face's corners there.
    pub(super) barycentric: [f64; 3],
    /// Where that is [m].
    pub(super) point: DVec3,
}

/// A line along which a cloth crosses itself.
#[derive(Clone, Debug)]
pub(super) struct Contour {
    /// Sorted by edge and face.
    pub(super) cuts: Vec<Cut>,
    pub(super) way: Way,
}

/// How a line can be got rid of.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// What one curve cuts off goes back.
    Back {
        /// Which curve.
        curve: usize,
        /// The vertices of the piece, sorted.
        piece: Vec<u32>,
    },
    /// The surface of curve 0 slides along this direction, that of curve 1
    /// against it; of unit length, or zero where nothing is gained.
    Along(DVec3),
}

/// The lines along which edges pass through faces at `x` [m].
pub(super) fn contours(
    mesh: &MeshBoxes,
    weave: &Weave,
    crossings: &[[u32; 2]],
    x: &[DVec3],
) -> Vec<Contour> {
    let pairs = TrianglePairs::new(weave, crossings);
    let mut curves: Vec<Option<usize>> = vec![None; crossings.len()];
    let areas = vertex_areas(mesh, x);
    let mut all = Vec::new();
    for first in 0..crossings.len() {
        if curves[first].is_some() {
            continue;
        }
        curves[first] = Some(0);
        let (mut line, mut is_twisted) = (vec![first], false);
        let mut at = 0;
        while let Some(&i) = line.get(at) {
            at += 1;
            let own = curves[i].unwrap_or(0);
            for (j, is_same) in pairs.neighbours(weave, crossings, i) {
                let curve = if is_same { own } else { 1 - own };
                match curves[j] {
                    None => {
                        curves[j] = Some(curve);
                        line.push(j);
                    }
                    Some(known) => is_twisted |= known != curve,
                }
            }
        }
        line.sort_unstable();
        let cuts: Vec<Cut> = line
            .iter()
            .map(|&i| cut(mesh, crossings[i], curves[i].unwrap_or(0), x))
            .collect();
        let pieces = [0, 1].map(|curve| match is_twisted {
            true => None,
            false => piece(mesh, weave, &cuts, curve, &areas),
        });
        let way = match pieces {
            [Some(a), Some(b)] if b.1 < a.1 => Way::Back {
                curve: 1,
                piece: b.0,
            },
            [Some(a), _] => Way::Back {
                curve: 0,
                piece: a.0,
            },
            [None, Some(b)] => Way::Back {
                curve: 1,
                piece: b.0,
            },
            [None, None] => {
                let points: BTreeMap<usize, &Cut> = line.iter().copied().zip(&cuts).collect();
                Way::Along(shortening(mesh, weave, &pairs, &points, x))
            }
        };
        all.push(Contour { cuts, way });
    }
    all
}

/// Which crossings two triangles have.
struct TrianglePairs {
    /// Two triangles, the lower first, and a crossing; sorted.
    all: Vec<([u32; 2], usize)>,
}

impl TrianglePairs {
    fn new(weave: &Weave, crossings: &[[u32; 2]]) -> Self {
        let mut all = Vec::new();
        for (i, &[e, t]) in crossings.iter().enumerate() {
            all.extend(weave.faces(e).iter().map(|&s| ([s.min(t), s.max(t)], i)));
        }
        all.sort_unstable();
        Self { all }
    }

    /// The crossings of two triangles.
    fn of(&self, s: u32, t: u32) -> impl Iterator<Item = usize> + '_ {
        let key = [s.min(t), s.max(t)];
        let from = self.all.partition_point(|p| p.0 < key);
        let rest = self.all[from..].iter();
        rest.take_while(move |p| p.0 == key).map(|p| p.1)
    }

    /// The crossings with which one shares two triangles, and whether they are
    /// of the same curve.
    fn neighbours(&self, weave: &Weave, crossings: &[[u32; 2]], i: usize) -> Vec<(usize, bool)> {
        let [e, t] = crossings[i];
        let faces = weave.faces(e).iter();
        let others = faces.flat_map(|s| self.of(*s, t)).filter(|j| *j != i);
        others.map(|j| (j, crossings[j][1] == t)).collect()
    }
}

fn cut(mesh: &MeshBoxes, [edge, face]: [u32; 2], curve: usize, x: &[DVec3]) -> Cut {
    let [p, q] = mesh.edges()[edge as usize].map(|v| x[v as usize]);
    let corners = mesh.triangles()[face as usize].map(|v| x[v as usize]);
    let normal = face_normal(corners);
    let (from, to) = ((p - corners[0]).dot(normal), (q - corners[0]).dot(normal));
    let along = match from == to {
        true => 0.5,
        false => (from / (from - to)).clamp(0.0, 1.0),
    };
    let point = p.lerp(q, along);
    let found = point_triangle(point, corners);
    Cut {
        edge,
        face,
        curve,
        along,
        barycentric: [1, 2, 3].map(|k| -found.weights[k]),
        point,
    }
}

/// What a curve cuts off, and how large that is [m²]: everything but the
/// largest piece along it. None where it does not cut everywhere.
fn piece(
    mesh: &MeshBoxes,
    weave: &Weave,
    cuts: &[Cut],
    curve: usize,
    areas: &[f64],
) -> Option<(Vec<u32>, f64)> {
    let mut edges: Vec<u32> = cuts
        .iter()
        .filter(|cut| cut.curve == curve)
        .map(|cut| cut.edge)
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let ends = edges.iter().map(|e| mesh.edges()[*e as usize]);
    let mut piece_of = vec![usize::MAX; mesh.n_vertices()];
    let mut pieces: Vec<(Vec<u32>, f64)> = Vec::new();
    for seed in ends.flatten() {
        if piece_of[seed as usize] != usize::MAX {
            continue;
        }
        let number = pieces.len();
        piece_of[seed as usize] = number;
        let mut reached = vec![seed];
        let mut at = 0;
        while let Some(&v) = reached.get(at) {
            at += 1;
            for [w, e] in weave.joined(v) {
                let is_cut = edges.binary_search(e).is_ok();
                let known = &mut piece_of[*w as usize];
                if *known == usize::MAX && !is_cut {
                    *known = number;
                    reached.push(*w);
                } else if *known == number && is_cut {
                    // There is a way around: most lines are found out so, soon.
                    return None;
                }
            }
        }
        let area = reached.iter().map(|v| areas[*v as usize]).sum();
        pieces.push((reached, area));
    }
    if pieces.len() < 2 {
        return None;
    }
    let areas = pieces.iter().enumerate();
    let largest = areas.max_by(|a, b| a.1.1.total_cmp(&b.1.1))?.0;
    pieces.remove(largest);
    let area = pieces.iter().map(|p| p.1).sum();
    let mut vertices: Vec<u32> = pieces.into_iter().flat_map(|p| p.0).collect();
    vertices.sort_unstable();
    Some((vertices, area))
}

/// The direction along which the surface of curve 0 slides to make a line
/// shorter.
fn shortening(
    mesh: &MeshBoxes,
    weave: &Weave,
    pairs: &TrianglePairs,
    cuts: &BTreeMap<usize, &Cut>,
    x: &[DVec3],
) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for (i, cut) in cuts {
        let [p, q] = mesh.edges()[cut.edge as usize].map(|v| x[v as usize]);
        let along = (q - p).normalize_or_zero();
        let normal = face_normal(mesh.triangles()[cut.face as usize].map(|v| x[v as usize]));
        let mut gain = DVec3::ZERO;
        for s in weave.faces(cut.edge) {
            let others = pairs.of(*s, cut.face).filter(|j| j != i);
            let others = others.filter_map(|j| cuts.get(&j));
            let away = others
                .map(|other| other.point - cut.point)
                .max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
            let leaves = away.unwrap_or_default().normalize_or_zero();
            let steep = along.dot(normal);
            gain += leaves;
            if steep.abs() > FLAT {
                gain -= normal * (along.dot(leaves) / steep);
            }
        }
        // An edge almost in the face's plane would outweigh all others.
        let gain = gain.clamp_length_max(MOST);
        sum += if cut.curve == 0 { gain } else { -gain };
    }
    sum.normalize_or_zero()
}

/// Sine of the angle between an edge and a face below which it lies flat.
const FLAT: f64 = 1e-3;
/// No crossing counts for more.
const MOST: f64 = 2.0;

fn face_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// A third of the faces around each vertex [m²].
fn vertex_areas(mesh: &MeshBoxes, x: &[DVec3]) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.n_vertices()];
    for corners in mesh.triangles() {
        let [a, b, c] = corners.map(|v| x[v as usize]);
        let third = (b - a).cross(c - a).length() / 6.0;
        for v in corners {
            areas[*v as usize] += third;
        }
    }
    areas
}

#[cfg(test)]
mod tests {
    use drapery_core::Topology;

    use super::super::crossings::self_crossings;
    use super::super::test_meshes::sheet;
    use super::*;

    /// Two sheets of 1 m as one mesh.
    fn two(n: u32, place: impl Fn(DVec3) -> DVec3) -> (MeshBoxes, Vec<DVec3>) {
        let (topology, flat) = sheet(n);
        let base = flat.len() as u32;
        let triangles = topology.triangles().iter();
        let others = triangles.clone().map(|t| t.map(|v| v + base));
        let all = triangles.copied().chain(others).collect();
        let x: Vec<DVec3> = flat
            .iter()
            .copied()
            .chain(flat.iter().map(|p| place(*p)))
            .collect();
        let topology = Topology::new(2 * base, all).unwrap();
        (MeshBoxes::new(&topology, &x), x)
    }

    fn found(mesh: &MeshBoxes, x: &[DVec3]) -> Vec<Contour> {
        contours(mesh, &Weave::new(mesh), &self_crossings(mesh, x), x)
    }

    #[test]
    fn what_hangs_through_is_cut_off() {
        // Upright, narrower, its lower edge 23 cm below: 2 rows of 8 at 12.5 cm.
        let (mesh, x) = two(9, |p| DVec3::new(0.013, p.x + 0.27, 0.8 * p.z + 0.011));
        let lines = found(&mesh, &x);
        assert_eq!(lines.len(), 1);
        let Way::Back { curve, piece } = &lines[0].way else {
            panic!("{:?}", lines[0].way)
        };
        let below: Vec<u32> = (81..162).filter(|v| x[*v as usize].y < 0.0).collect();
        assert_eq!(*piece, below);
        assert_eq!(below.len(), 18);
        // The cuts of that curve are edges with one end below.
        for cut in lines[0].cuts.iter().filter(|cut| cut.curve == *curve) {
            let ends = mesh.edges()[cut.edge as usize];
            assert!(ends.iter().filter(|v| piece.contains(v)).count() == 1);
            assert!(cut.point.y.abs() < 1e-12);
        }
    }

    #[test]
    fn a_dent_is_cut_off_all_around() {
        // A bump of 20 cm through the sheet over it.
        let (mesh, x) = two(17, |p| {
            let bump = 0.4 * (-(p.x * p.x + p.z * p.z) / 0.02).exp();
            DVec3::new(p.x + 0.011, bump - 0.2, p.z + 0.017)
        });
        let lines = found(&mesh, &x);
        assert_eq!(lines.len(), 1);
        let Way::Back { piece, .. } = &lines[0].way else {
            panic!("{:?}", lines[0].way)
        };
        // A disc of the one or the tip of the other.
        let is_flat = piece[0] < 289;
        assert!(piece.iter().all(|v| (*v < 289) == is_flat), "{piece:?}");
        let radius = |v: &u32| DVec3::new(x[*v as usize].x, 0.0, x[*v as usize].z).length();
        assert!(piece.iter().all(|v| radius(v) < 0.15) && !piece.is_empty());
    }

    #[test]
    fn borders_that_cross_slide_apart_along_the_line() {
        // Upright and shifted along z: 30 cm of its edge cross 30 cm of the other's.
        let (mesh, x) = two(9, |p| DVec3::new(0.013, p.x + 0.021, p.z + 0.7));
        let lines = found(&mesh, &x);
        assert_eq!(lines.len(), 1);
        let Way::Along(direction) = lines[0].way else {
            panic!("{:?}", lines[0].way)
        };
        // The flat sheet, or the upright one, whichever curve 0 is of.
        let first = lines[0].cuts.iter().find(|c| c.curve == 0).unwrap();
        let is_flat = mesh.edges()[first.edge as usize][0] < 81;
        let expected = if is_flat { DVec3::NEG_Z } else { DVec3::Z };
        assert!(direction.dot(expected) > 0.99, "{direction}");
    }

    #[test]
    fn lines_apart_are_told_apart() {
        let (mesh, x) = two(17, |p| {
            let wave = 0.1 * (p.x * 2.0 * std::f64::consts::PI).cos();
            DVec3::new(p.x, wave + 0.0003, p.z + 0.002)
        });
        assert_eq!(found(&mesh, &x).len(), 2);
    }
}
