//! Which faces an edge has, and which vertices are joined: [`Weave`].

use super::candidates::MeshBoxes;

/// How the primitives of a surface hang together, to walk over it.
#[derive(Clone, Debug)]
pub(super) struct Weave {
    /// The faces of each edge, one edge after the other.
    faces: Vec<u32>,
    faces_start: Vec<u32>,
    /// The vertices joined to each, with the edges that do it.
    joined: Vec<[u32; 2]>,
    joined_start: Vec<u32>,
}

impl Weave {
    pub(super) fn new(mesh: &MeshBoxes) -> Self {
        let (triangles, edges) = (mesh.triangles(), mesh.edges());
        let mut numbers: Vec<([u32; 2], u32)> = edges.iter().copied().zip(0..).collect();
        numbers.sort_unstable();
        let number = |a: u32, b: u32| {
            let at = numbers.binary_search_by_key(&[a.min(b), a.max(b)], |e| e.0);
            numbers[at.expect("a side of a face is an edge")].1
        };
        let mut faces: Vec<[u32; 2]> = Vec::with_capacity(3 * triangles.len());
        for (t, &[a, b, c]) in triangles.iter().enumerate() {
            let sides = [[a, b], [b, c], [c, a]];
            faces.extend(sides.map(|[a, b]| [number(a, b), t as u32]));
        }
        faces.sort_unstable();
        let mut joined: Vec<[u32; 3]> = Vec::with_capacity(2 * edges.len());
        for (e, &[a, b]) in edges.iter().enumerate() {
            joined.extend([[a, b, e as u32], [b, a, e as u32]]);
        }
        joined.sort_unstable();
        Self {
            faces_start: starts(edges.len(), faces.iter().map(|f| f[0])),
            faces: faces.into_iter().map(|f| f[1]).collect(),
            joined_start: starts(mesh.n_vertices(), joined.iter().map(|j| j[0])),
            joined: joined.into_iter().map(|[_, b, e]| [b, e]).collect(),
        }
    }

    /// The faces of an edge, sorted.
    pub(super) fn faces(&self, edge: u32) -> &[u32] {
        let e = edge as usize;
        &self.faces[self.faces_start[e] as usize..self.faces_start[e + 1] as usize]
    }

    /// The vertices that edges join to one, each with its edge.
    pub(super) fn joined(&self, vertex: u32) -> &[[u32; 2]] {
        let v = vertex as usize;
        &self.joined[self.joined_start[v] as usize..self.joined_start[v + 1] as usize]
    }

    /// Adds to sorted `vertices` those that are joined to them, so many times
    /// over.
    pub(super) fn widen(&self, vertices: &mut Vec<u32>, rings: u32) {
        let mut from = 0;
        for _ in 0..rings {
            let to = vertices.len();
            let ring: Vec<u32> = vertices[from..to]
                .iter()
                .flat_map(|v| self.joined(*v).iter().map(|j| j[0]))
                .collect();
            let known: Vec<u32> = {
                let mut known = vertices.clone();
                known.sort_unstable();
                known
            };
            let mut ring: Vec<u32> = ring
                .into_iter()
                .filter(|v| known.binary_search(v).is_err())
                .collect();
            ring.sort_unstable();
            ring.dedup();
            from = to;
            vertices.append(&mut ring);
        }
        vertices.sort_unstable();
    }
}

/// Where each group of sorted keys starts, and the end.
fn starts(n: usize, keys: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0u32; n + 1];
    for key in keys {
        starts[key as usize + 1] += 1;
    }
    for i in 0..n {
        starts[i + 1] += starts[i];
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::super::test_meshes::sheet;
    use super::*;

    #[test]
    fn a_sheet_hangs_together_as_it_was_made() {
        let (topology, x) = sheet(4);
        let mesh = MeshBoxes::new(&topology, &x);
        let weave = Weave::new(&mesh);
        for (e, ends) in mesh.edges().iter().enumerate() {
            let has = |t: &u32| {
                ends.iter()
                    .all(|v| mesh.triangles()[*t as usize].contains(v))
            };
            let faces: Vec<u32> = (0..18).filter(has).collect();
            assert_eq!(weave.faces(e as u32), faces);
        }
        let mut around = vec![0];
        weave.widen(&mut around, 1);
        // One cell of the corner, with its diagonal.
        assert_eq!(around, [0, 1, 4, 5]);
        weave.widen(&mut around, 3);
        assert_eq!(around.len(), 16);
    }
}
