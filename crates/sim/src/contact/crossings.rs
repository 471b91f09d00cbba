//! Edges that pass through faces: what must never be.
//!
//! An edge crosses a face when its ends lie on different sides of the face's
//! plane and the line through them passes the face's three sides on the same
//! hand. All signs are exact, so an edge that goes through the common side of
//! two faces, or through a corner, is not lost between them. An end in the
//! plane counts as above it: what passes through a face at a vertex is found,
//! what lies flat on it is not a crossing. An edge and a face that share a
//! vertex have no other point in common, and are left out; so are faces
//! without area.

use std::cmp::Ordering;

use glam::DVec3;

use super::candidates::MeshBoxes;
use super::orientation::orientation;

/// Crossings of two meshes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutualCrossings {
    /// An edge of the first and a face of the second, sorted.
    pub edge_faces: Vec<[u32; 2]>,
    /// An edge of the second and a face of the first, sorted.
    pub other_edge_faces: Vec<[u32; 2]>,
}

impl MutualCrossings {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.edge_faces.len() + self.other_edge_faces.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// All pairs (edge, face) of a mesh that cross at `positions` [m], sorted. The
/// boxes must be fitted to these positions, or to a motion that has them.
///
/// # Panics
/// When there is not one position a vertex.
pub fn self_crossings(mesh: &MeshBoxes, positions: &[DVec3]) -> Vec<[u32; 2]> {
    assert_eq!(positions.len(), mesh.n_vertices(), "one position a vertex");
    let mut pairs = mesh.self_edge_faces(0.0);
    pairs.retain(|&pair| pair_crosses(pair, mesh, positions, mesh, positions));
    pairs
}

/// All crossings of two meshes at their positions [m]. The boxes must be fitted
/// to these positions, or to a motion that has them.
///
/// # Panics
/// When there is not one position a vertex.
pub fn crossings(
    mesh: &MeshBoxes,
    positions: &[DVec3],
    other: &MeshBoxes,
    other_positions: &[DVec3],
) -> MutualCrossings {
    assert_eq!(positions.len(), mesh.n_vertices(), "one position a vertex");
    assert_eq!(
        other_positions.len(),
        other.n_vertices(),
        "one position a vertex"
    );
    let mut edge_faces = mesh.edge_faces(other, 0.0);
    edge_faces.retain(|&pair| pair_crosses(pair, mesh, positions, other, other_positions));
    let mut other_edge_faces = other.edge_faces(mesh, 0.0);
    other_edge_faces.retain(|&pair| pair_crosses(pair, other, other_positions, mesh, positions));
    MutualCrossings {
        edge_faces,
        other_edge_faces,
    }
}

/// Whether an edge passes through a face; both in the same space [m].
pub fn edge_crosses_face([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    let above = |x| orientation(a, b, c, x) != Ordering::Less;
    if above(p) == above(q) {
        return false;
    }
    let hands = [(a, b), (b, c), (c, a)].map(|(start, end)| orientation(p, q, start, end));
    !(hands.contains(&Ordering::Less) && hands.contains(&Ordering::Greater))
}

fn pair_crosses(
    [edge, face]: [u32; 2],
    edge_mesh: &MeshBoxes,
    edge_positions: &[DVec3],
    face_mesh: &MeshBoxes,
    face_positions: &[DVec3],
) -> bool {
    let ends = edge_mesh.edges()[edge as usize].map(|v| edge_positions[v as usize]);
    let corners = face_mesh.triangles()[face as usize].map(|v| face_positions[v as usize]);
    edge_crosses_face(ends, corners)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use drapery_core::{Meeting, Topology, intersect_triangles};
    use glam::Vec3;
    use proptest::prelude::*;

    use super::super::closest::{edge_edge, point_triangle};
    use super::super::test_meshes::{rolled, sheet, sphere};
    use super::*;

    const FACE: [DVec3; 3] = [DVec3::ZERO, DVec3::X, DVec3::Z];

    /// A sheet of 1 m with `n` vertices a side through a map.
    fn mapped(n: u32, map: impl Fn(DVec3) -> DVec3) -> (MeshBoxes, Vec<DVec3>) {
        let (topology, flat) = sheet(n);
        let positions: Vec<DVec3> = flat.into_iter().map(map).collect();
        (MeshBoxes::new(&topology, &positions), positions)
    }

    #[test]
    fn needles_cross_where_they_pass() {
        let needle = |x: f64, z: f64| [DVec3::new(x, -1.0, z), DVec3::new(x, 1.0, z)];
        assert!(edge_crosses_face(needle(0.2, 0.2), FACE));
        assert!(!edge_crosses_face(needle(0.6, 0.6), FACE));
        assert!(!edge_crosses_face(needle(-1e-300, 0.2), FACE));
        // Through a side and a corner, and upside down.
        assert!(edge_crosses_face(needle(0.0, 0.2), FACE));
        assert!(edge_crosses_face(needle(0.0, 0.0), FACE));
        let [p, q] = needle(0.2, 0.2);
        assert!(edge_crosses_face([q, p], FACE));
        // In the plane, and without area.
        assert!(!edge_crosses_face([DVec3::NEG_X, DVec3::X], FACE));
        assert!(!edge_crosses_face([p, q], [FACE[0], FACE[1], FACE[1]]));
    }

    #[test]
    fn a_thread_with_a_vertex_in_the_face_is_found() {
        let middle = DVec3::new(0.25, 0.0, 0.25);
        let thread = [middle - DVec3::Y, middle, middle + DVec3::Y];
        let n = thread
            .windows(2)
            .filter(|w| edge_crosses_face([w[0], w[1]], FACE))
            .count();
        assert_eq!(n, 1);
    }

    #[test]
    fn two_sheets_cross_at_every_edge_over_the_line() {
        // One in y = 0, one turned upright, shifted off all vertices and sides.
        let shift = DVec3::new(0.013, 0.021, 0.0017);
        let (flat, flat_x) = mapped(9, |p| p);
        let (upright, upright_x) = mapped(7, |p| DVec3::new(p.y, p.x, p.z * 0.5) + shift);
        let found = crossings(&flat, &flat_x, &upright, &upright_x);
        // Of the upright sheet: 7 edges along, 6 diagonals pass y = 0. Of the
        // flat one, those of its column of cells on the line with the same z:
        // counted by their own ends.
        assert_eq!(found.other_edge_faces.len(), 7 + 6);
        let n = flat
            .edges()
            .iter()
            .filter(|e| {
                let [p, q] = e.map(|v| flat_x[v as usize]);
                let t = (shift.x - p.x) / (q.x - p.x);
                let z = p.z + t * (q.z - p.z);
                (0.0..1.0).contains(&t) && (z - shift.z).abs() < 0.25
            })
            .count();
        assert!(n > 6);
        assert_eq!(found.edge_faces.len(), n);
        assert_eq!(found.len(), n + 13);
        assert!(self_crossings(&flat, &flat_x).is_empty());
        // As one mesh they are found all the same.
        let n_flat = flat_x.len() as u32;
        let triangles = flat.triangles().iter().copied();
        let others = upright.triangles().iter().map(|t| t.map(|v| v + n_flat));
        let topology = Topology::new(n_flat + 49, triangles.chain(others).collect()).unwrap();
        let x = [flat_x, upright_x].concat();
        let both = MeshBoxes::new(&topology, &x);
        assert_eq!(self_crossings(&both, &x).len(), n + 13);
    }

    #[test]
    fn folds_and_stacks_cross_nothing() {
        // Folded flat on itself, creased sharply, and rolled.
        for angle in [0.0, 1.0, PI - 1e-5, PI] {
            let (mesh, x) = mapped(9, |p| {
                if p.x > 0.0 {
                    DVec3::new(p.x * f64::cos(angle), p.x * f64::sin(angle), p.z)
                } else {
                    p
                }
            });
            assert_eq!(self_crossings(&mesh, &x), [[0; 2]; 0], "folded by {angle}");
        }
        let (topology, flat) = sheet(33);
        let x = rolled(&flat, 0.02);
        assert!(self_crossings(&MeshBoxes::new(&topology, &x), &x).is_empty());
    }

    #[test]
    fn one_pushed_vertex_is_found_and_only_there() {
        let (topology, flat) = sheet(33);
        let mut x = rolled(&flat, 0.02);
        let mut boxes = MeshBoxes::new(&topology, &x);
        // A vertex of the inner turn, pushed out through the next one.
        let v = 16 * 33 + 10;
        let outwards = DVec3::new(x[v].x, x[v].y, 0.0).normalize();
        let before = x.clone();
        x[v] += outwards * 0.025;
        boxes.refit(&before, &x);
        let found = self_crossings(&boxes, &x);
        assert!(!found.is_empty());
        let own = |e: u32| boxes.edges()[e as usize].contains(&(v as u32));
        let around = |t: u32| boxes.triangles()[t as usize].contains(&(v as u32));
        assert!(found.iter().all(|&[e, t]| own(e) != around(t)), "{found:?}");
        x[v] -= outwards * 0.01;
        assert!(self_crossings(&boxes, &x).is_empty());
    }

    #[test]
    fn a_sheet_through_a_ball_is_found() {
        let (topology, ball_x) = sphere(0.2, 12);
        let ball = MeshBoxes::new(&topology, &ball_x);
        let (above, above_x) = mapped(9, |p| p + DVec3::Y * 0.2001);
        assert!(crossings(&above, &above_x, &ball, &ball_x).is_empty());
        let (through, through_x) = mapped(9, |p| p + DVec3::Y * 0.1501);
        let found = crossings(&through, &through_x, &ball, &ball_x);
        assert!(!found.edge_faces.is_empty() && !found.other_edge_faces.is_empty());
    }

    prop_compose! {
        fn triangle()(c in prop::array::uniform9(prop_oneof![
            -1.0f32..1.0,
            (-2i32..=2).prop_map(|i| i as f32 * 0.5),
        ])) -> [Vec3; 3] {
            [0, 3, 6].map(|k| Vec3::new(c[k], c[k + 1], c[k + 2]))
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

        /// Two triangles with an area cross when an edge of one crosses the
        /// other; what touches to the last digit may count either way.
        #[test]
        fn crossings_are_those_of_the_triangles(p in triangle(), q in triangle()) {
            for [a, b, c] in [p, q] {
                prop_assume!((b - a).cross(c - a).length() > 1e-6);
            }
            let meeting = intersect_triangles(p, q);
            let (p, q) = (p.map(Vec3::as_dvec3), q.map(Vec3::as_dvec3));
            let edges = |t: [DVec3; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
            let crosses = edges(p).into_iter().any(|e| edge_crosses_face(e, q))
                || edges(q).into_iter().any(|e| edge_crosses_face(e, p));
            match meeting {
                Some(m) if m.meeting == Meeting::Crossing => {
                    prop_assert!(crosses || m.segment[0].distance(m.segment[1]) < 1e-12);
                }
                Some(_) => {}
                None => {
                    let corners = p.iter().map(|&x| point_triangle(x, q).distance())
                        .chain(q.iter().map(|&x| point_triangle(x, p).distance()));
                    let pairs = edges(p).into_iter()
                        .flat_map(|e| edges(q).map(|f| edge_edge(e, f).distance()));
                    prop_assert!(!crosses || corners.chain(pairs).any(|d| d < 1e-12));
                }
            }
        }
    }
}
