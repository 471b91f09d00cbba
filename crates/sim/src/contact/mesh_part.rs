//! [`MeshPart`]: candidates of a few vertices of a mesh that have moved
//! elsewhere, without looking for those of all others again.

use super::block::Bounds;
use super::boxes::BoxTree;
use super::candidates::MeshBoxes;

/// The primitives of a mesh that have one of some vertices.
#[derive(Clone, Debug)]
pub(crate) struct MeshPart {
    vertices: Chosen,
    edges: Chosen,
    faces: Chosen,
}

/// Some primitives of a kind.
#[derive(Clone, Debug)]
struct Chosen {
    ids: Vec<u32>,
    boxes: BoxTree,
}

impl MeshPart {
    /// The primitives of `mesh` that have a marked vertex, where each vertex is
    /// within its box of `swept`.
    pub(crate) fn new(mesh: &MeshBoxes, is_marked: &[bool], swept: &[Bounds]) -> Self {
        let n = mesh.n_vertices() as u32;
        Self {
            vertices: choose(n, is_marked, swept, |v| [v]),
            edges: choose(mesh.edges().len() as u32, is_marked, swept, |e| {
                mesh.edges()[e as usize]
            }),
            faces: choose(mesh.triangles().len() as u32, is_marked, swept, |t| {
                mesh.triangles()[t as usize]
            }),
        }
    }

    /// The pairs of [`MeshBoxes::self_vertex_faces`] that have a marked vertex,
    /// for a mesh whose boxes are fitted to where its vertices are now.
    pub(crate) fn self_vertex_faces(&self, mesh: &MeshBoxes, margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = self.vertex_faces(mesh, margin);
        pairs.extend(self.faces_of_vertices(mesh, margin));
        pairs.retain(|[v, t]| !mesh.triangles()[*t as usize].contains(v));
        sorted(pairs)
    }

    /// The pairs of [`MeshBoxes::self_edge_edges`] that have a marked vertex.
    pub(crate) fn self_edge_edges(&self, mesh: &MeshBoxes, margin: f64) -> Vec<[u32; 2]> {
        let edges = mesh.edges();
        let mut pairs = self.edge_edges(mesh, margin);
        pairs.retain(|[e, f]| {
            let (first, second) = (edges[*e as usize], edges[*f as usize]);
            !second.contains(&first[0]) && !second.contains(&first[1])
        });
        sorted(
            pairs
                .into_iter()
                .map(|[e, f]| [e.min(f), e.max(f)])
                .collect(),
        )
    }

    /// Pairs of a marked vertex and a face of another mesh, sorted.
    pub(crate) fn vertex_faces(&self, other: &MeshBoxes, margin: f64) -> Vec<[u32; 2]> {
        self.vertices.pairs(other.face_boxes(), margin)
    }

    /// Pairs of a vertex of another mesh and a face that has a marked vertex,
    /// sorted.
    pub(crate) fn faces_of_vertices(&self, other: &MeshBoxes, margin: f64) -> Vec<[u32; 2]> {
        let pairs = self.faces.pairs(other.vertex_boxes(), margin);
        sorted(pairs.into_iter().map(|[t, v]| [v, t]).collect())
    }

    /// Pairs of an edge that has a marked vertex and one of another mesh,
    /// sorted.
    pub(crate) fn edge_edges(&self, other: &MeshBoxes, margin: f64) -> Vec<[u32; 2]> {
        self.edges.pairs(other.edge_boxes(), margin)
    }
}

impl Chosen {
    fn pairs(&self, other: &BoxTree, margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        self.boxes.pairs(other, margin, |_, _| true, &mut pairs);
        for pair in &mut pairs {
            pair[0] = self.ids[pair[0] as usize];
        }
        pairs
    }
}

/// Those of `n` primitives that have a marked vertex.
fn choose<const N: usize>(
    n: u32,
    is_marked: &[bool],
    swept: &[Bounds],
    vertices: impl Fn(u32) -> [u32; N] + Sync,
) -> Chosen {
    let has_marked = |i: &u32| vertices(*i).iter().any(|v| is_marked[*v as usize]);
    let ids: Vec<u32> = (0..n).filter(has_marked).collect();
    let boxes = BoxTree::new(ids.len(), |i| {
        let all = vertices(ids[i as usize]).map(|v| swept[v as usize]);
        all[1..]
            .iter()
            .fold(all[0], |sum, b| sum.with(b.low).with(b.high))
    });
    Chosen { ids, boxes }
}

fn sorted(mut pairs: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::test_meshes::{rolled, sheet};
    use super::*;

    #[test]
    fn a_part_finds_what_the_whole_finds_about_it() {
        let (topology, flat) = sheet(17);
        let x = rolled(&flat, 0.02);
        let is_marked: Vec<bool> = (0..x.len()).map(|v| v % 37 < 3).collect();
        // Marked vertices may be in boxes of their own.
        let swept: Vec<Bounds> = (0..x.len())
            .map(|v| match is_marked[v] {
                true => Bounds::of_point(x[v]).grown(0.02),
                false => Bounds::of_point(x[v]),
            })
            .collect();
        let mut mesh = MeshBoxes::new(&topology, &x);
        mesh.refit_around(&swept);
        let part = MeshPart::new(&mesh, &is_marked, &swept);
        let (triangles, edges) = (mesh.triangles(), mesh.edges());
        let marked = |vertices: &[u32]| vertices.iter().any(|v| is_marked[*v as usize]);
        let mut all = mesh.self_vertex_faces(0.01);
        all.retain(|[v, t]| marked(&[*v]) || marked(&triangles[*t as usize]));
        assert!(all.len() > 100);
        assert_eq!(part.self_vertex_faces(&mesh, 0.01), all);
        let mut all = mesh.self_edge_edges(0.01);
        all.retain(|[e, f]| marked(&edges[*e as usize]) || marked(&edges[*f as usize]));
        assert_eq!(part.self_edge_edges(&mesh, 0.01), all);

        let shifted: Vec<DVec3> = x
            .iter()
            .map(|p| *p + DVec3::new(0.01, 0.003, 0.1))
            .collect();
        let other = MeshBoxes::new(&topology, &shifted);
        let mut all = mesh.vertex_faces(&other, 0.01);
        all.retain(|[v, _]| marked(&[*v]));
        assert_eq!(part.vertex_faces(&other, 0.01), all);
        let mut all = other.vertex_faces(&mesh, 0.01);
        all.retain(|[_, t]| marked(&triangles[*t as usize]));
        assert_eq!(part.faces_of_vertices(&other, 0.01), all);
        let mut all = mesh.edge_edges(&other, 0.01);
        all.retain(|[e, _]| marked(&edges[*e as usize]));
        assert_eq!(part.edge_edges(&other, 0.01), all);
    }
}
