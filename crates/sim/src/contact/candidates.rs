//! [`MeshBoxes`]: the vertices, edges and faces of a mesh that may come near
//! one another while it moves.
//!
//! Each primitive has the box that it sweeps from the start to the end of a
//! step. Pairs that share a vertex are no candidates: they always touch.

use drapery_core::Topology;
use glam::DVec3;

use super::block::Bounds;
use super::boxes::BoxTree;

/// Trees over the primitives of a mesh.
#[derive(Clone, Debug)]
pub struct MeshBoxes {
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    n_vertices: usize,
    vertex_boxes: BoxTree,
    edge_boxes: BoxTree,
    face_boxes: BoxTree,
}

/// Inner boxes this much larger than when a tree was built are reason to build
/// it anew: a query then takes about twice its time.
const MAX_GROWTH: f64 = 2.0;

impl MeshBoxes {
    /// Trees over a mesh at `positions` [m].
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn new(topology: &Topology, positions: &[DVec3]) -> Self {
        assert_eq!(
            positions.len(),
            topology.n_vertices(),
            "one position a vertex"
        );
        let triangles = topology.triangles().to_vec();
        let edges: Vec<_> = topology.edges().iter().map(|e| e.vertices).collect();
        let of = |ids: &[u32]| Bounds::of(ids.iter().map(|&v| positions[v as usize]));
        Self {
            n_vertices: positions.len(),
            vertex_boxes: BoxTree::new(positions.len(), |v| {
                Bounds::of_point(positions[v as usize])
            }),
            edge_boxes: BoxTree::new(edges.len(), |e| of(&edges[e as usize])),
            face_boxes: BoxTree::new(triangles.len(), |t| of(&triangles[t as usize])),
            triangles,
            edges,
        }
    }

    /// The triangles, shape [face, 3].
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The ends of the edges, the lower first, shape [edge, 2].
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// How many vertices there are.
    pub const fn n_vertices(&self) -> usize {
        self.n_vertices
    }

    /// Fits the boxes to a motion from `start` to `end` [m], or to a rest when
    /// these are the same. A tree whose boxes have grown too large is built
    /// anew, which changes no answer.
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn refit(&mut self, start: &[DVec3], end: &[DVec3]) {
        assert_eq!(start.len(), self.n_vertices, "one position a vertex");
        assert_eq!(end.len(), self.n_vertices, "one position a vertex");
        let ways = start.iter().zip(end);
        let swept: Vec<Bounds> = ways.map(|(p, q)| Bounds::of_point(*p).with(*q)).collect();
        self.refit_around(&swept);
    }

    /// Fits the boxes to where each vertex may be.
    ///
    /// # Panics
    /// When there is not one box a vertex.
    pub(crate) fn refit_around(&mut self, swept: &[Bounds]) {
        assert_eq!(swept.len(), self.n_vertices, "one box a vertex");
        let join = |ids: &[u32]| {
            let mut bounds = swept[ids[0] as usize];
            for &v in &ids[1..] {
                let other = swept[v as usize];
                bounds.low = bounds.low.min(other.low);
                bounds.high = bounds.high.max(other.high);
            }
            bounds
        };
        let (triangles, edges) = (&self.triangles, &self.edges);
        refit_or_build(&mut self.vertex_boxes, |v| swept[v as usize]);
        refit_or_build(&mut self.edge_boxes, |e| join(&edges[e as usize]));
        refit_or_build(&mut self.face_boxes, |t| join(&triangles[t as usize]));
    }

    /// Pairs (vertex, face) of this mesh within `margin` [m], sorted.
    pub fn self_vertex_faces(&self, margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        let counts = |v, t: u32| !self.triangles[t as usize].contains(&v);
        self.vertex_boxes
            .pairs(&self.face_boxes, margin, counts, &mut pairs);
        pairs
    }

    /// Pairs of edges of this mesh within `margin` [m], sorted.
    pub fn self_edge_edges(&self, margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        let counts = |e: u32, f: u32| {
            let ([a, b], [c, d]) = (self.edges[e as usize], self.edges[f as usize]);
            a != c && a != d && b != c && b != d
        };
        self.edge_boxes.self_pairs(margin, counts, &mut pairs);
        pairs
    }

    /// Pairs (edge, face) of this mesh within `margin` [m], sorted.
    pub fn self_edge_faces(&self, margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        let counts = |e: u32, t: u32| {
            let (edge, corners) = (self.edges[e as usize], self.triangles[t as usize]);
            !corners.contains(&edge[0]) && !corners.contains(&edge[1])
        };
        self.edge_boxes
            .pairs(&self.face_boxes, margin, counts, &mut pairs);
        pairs
    }

    /// Pairs of a vertex of this mesh and a face of another within `margin`
    /// [m], sorted.
    pub fn vertex_faces(&self, other: &MeshBoxes, margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        self.vertex_boxes
            .pairs(&other.face_boxes, margin, |_, _| true, &mut pairs);
        pairs
    }

    /// Pairs of an edge of this mesh and one of another within `margin` [m],
    /// sorted.
    pub fn edge_edges(&self, other: &MeshBoxes, margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        self.edge_boxes
            .pairs(&other.edge_boxes, margin, |_, _| true, &mut pairs);
        pairs
    }

    /// Pairs of an edge of this mesh and a face of another within `margin` [m],
    /// sorted.
    pub fn edge_faces(&self, other: &MeshBoxes, margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        self.edge_boxes
            .pairs(&other.face_boxes, margin, |_, _| true, &mut pairs);
        pairs
    }

    /// The tree over vertices.
    pub(super) const fn vertex_boxes(&self) -> &BoxTree {
        &self.vertex_boxes
    }

    /// The tree over edges.
    pub(super) const fn edge_boxes(&self) -> &BoxTree {
        &self.edge_boxes
    }

    /// The tree over faces.
    pub(super) const fn face_boxes(&self) -> &BoxTree {
        &self.face_boxes
    }

    /// Calls `visit` for each face that comes within `margin` [m] of `bounds`
    /// during the step, in no order that means anything.
    pub(crate) fn visit_faces(&self, bounds: Bounds, margin: f64, visit: impl FnMut(u32)) {
        self.face_boxes.visit(bounds, margin, visit);
    }

    /// The face nearest to `p` within `max_distance` [m], by the squared
    /// distance that `distance_sq` gives; among equals the lowest.
    pub(crate) fn nearest_face(
        &self,
        p: DVec3,
        max_distance: f64,
        distance_sq: impl FnMut(u32) -> f64,
    ) -> Option<u32> {
        self.face_boxes.nearest(p, max_distance, distance_sq)
    }
}

fn refit_or_build(tree: &mut BoxTree, bounds: impl Fn(u32) -> Bounds + Sync) {
    tree.refit(&bounds);
    if tree.growth() > MAX_GROWTH {
        *tree = BoxTree::new(tree.len(), bounds);
    }
}

#[cfg(test)]
mod tests {
    use super::super::closest::{edge_edge, point_triangle};
    use super::super::test_meshes::{rolled, sheet};
    use super::*;

    /// A roll that opens, with turns 2 cm and 4 cm apart.
    fn roll() -> (Topology, Vec<DVec3>, Vec<DVec3>) {
        let (topology, flat) = sheet(13);
        let (start, end) = (rolled(&flat, 0.02), rolled(&flat, 0.04));
        (topology, start, end)
    }

    #[test]
    fn whatever_comes_near_during_the_step_is_a_candidate() {
        let (topology, start, end) = roll();
        let mut boxes = MeshBoxes::new(&topology, &start);
        boxes.refit(&start, &end);
        let margin = 0.025;
        let vertex_faces = boxes.self_vertex_faces(margin);
        let edge_edges = boxes.self_edge_edges(margin);
        let mut n_near = 0;
        for k in 0..=4 {
            let x: Vec<DVec3> = (0..start.len())
                .map(|i| start[i].lerp(end[i], f64::from(k) / 4.0))
                .collect();
            for v in 0..x.len() as u32 {
                for (t, corners) in boxes.triangles().iter().enumerate() {
                    let distance =
                        point_triangle(x[v as usize], corners.map(|c| x[c as usize])).distance();
                    if !corners.contains(&v) && distance <= margin {
                        assert!(vertex_faces.binary_search(&[v, t as u32]).is_ok());
                        n_near += 1;
                    }
                }
            }
            for (e, first) in boxes.edges().iter().enumerate() {
                for (f, second) in boxes.edges().iter().enumerate().skip(e + 1) {
                    let [p, q] = [first, second].map(|e| e.map(|v| x[v as usize]));
                    if !first.iter().any(|v| second.contains(v))
                        && edge_edge(p, q).distance() <= margin
                    {
                        assert!(edge_edges.binary_search(&[e as u32, f as u32]).is_ok());
                        n_near += 1;
                    }
                }
            }
        }
        assert!(n_near > 1000, "{n_near}");
        // And by far not everything is one.
        assert!(vertex_faces.len() < start.len() * boxes.triangles().len() / 4);
    }

    #[test]
    fn primitives_that_share_a_vertex_are_left_out() {
        let (topology, flat) = sheet(5);
        let boxes = MeshBoxes::new(&topology, &flat);
        // Wide enough for all pairs: 16 cells, so 32 faces and 56 edges.
        let vertex_faces = boxes.self_vertex_faces(2.0);
        assert_eq!(vertex_faces.len(), 25 * 32 - 3 * 32);
        let shares = |[a, b]: [u32; 2], other: &[u32]| other.contains(&a) || other.contains(&b);
        let edges = boxes.edges();
        assert_eq!(edges.len(), 56);
        let n_apart = (0..edges.len())
            .map(|e| {
                edges[e + 1..]
                    .iter()
                    .filter(|f| !shares(edges[e], *f))
                    .count()
            })
            .sum::<usize>();
        assert_eq!(boxes.self_edge_edges(2.0).len(), n_apart);
        let edge_faces = boxes.self_edge_faces(2.0);
        assert!(
            edge_faces
                .iter()
                .all(|&[e, t]| !shares(edges[e as usize], &boxes.triangles()[t as usize]))
        );
        // Without a margin the flat sheet has no business with itself beyond
        // the corners of boxes that touch: the vertex across the diagonal.
        assert!(boxes.self_vertex_faces(0.0).len() <= 32);
    }

    #[test]
    fn two_meshes_meet_where_all_pairs_do() {
        let (topology, flat) = sheet(6);
        let other: Vec<DVec3> = flat.iter().map(|p| DVec3::new(p.y, p.x, p.z)).collect();
        let (a, b) = (
            MeshBoxes::new(&topology, &flat),
            MeshBoxes::new(&topology, &other),
        );
        let margin = 0.11;
        let vertex_faces = a.vertex_faces(&b, margin);
        for v in 0..flat.len() as u32 {
            for (t, corners) in b.triangles().iter().enumerate() {
                let near = point_triangle(flat[v as usize], corners.map(|c| other[c as usize]))
                    .distance()
                    <= margin;
                let found = vertex_faces.binary_search(&[v, t as u32]).is_ok();
                assert!(found || !near);
            }
        }
        // Edges of the first reach the faces of the second only near the line
        // where the sheets cross; the same from both sides.
        assert_eq!(a.edge_faces(&b, 0.0).len(), b.edge_faces(&a, 0.0).len());
        let mut swapped: Vec<[u32; 2]> = b
            .edge_edges(&a, margin)
            .iter()
            .map(|&[e, f]| [f, e])
            .collect();
        swapped.sort_unstable();
        assert_eq!(a.edge_edges(&b, margin), swapped);
    }

    #[test]
    fn any_number_of_threads_finds_the_same() {
        let (topology, flat) = sheet(40);
        let x = rolled(&flat, 0.02);
        let boxes = MeshBoxes::new(&topology, &x);
        let with_threads = |n| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
            pool.unwrap().install(|| {
                (
                    boxes.self_vertex_faces(0.03),
                    boxes.self_edge_edges(0.03),
                    boxes.self_edge_faces(0.03),
                )
            })
        };
        let alone = with_threads(1);
        assert!(alone.0.len() > 1000);
        assert_eq!(with_threads(3), alone);
    }
}
