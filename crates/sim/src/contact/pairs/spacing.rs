//! How far apart a pair is kept: [`Spacing`].
//!
//! The thickness of the cloth, but for pairs that are neighbours along it:
//! these may be nearer than that in the flat cloth already, and must not press
//! on each other there. They get at most half the distance that they had when
//! the cloth was made.

use glam::DVec3;

use super::super::candidates::MeshBoxes;
use super::links::Links;
use super::pair::{Kind, Pair};

/// Distances that pairs keep.
#[derive(Clone, Debug)]
pub(super) struct Spacing {
    /// The most that any keep [m].
    band: f64,
    /// [m]
    thickness: f64,
    /// What cloth and meshes keep [m].
    mesh_rest: f64,
    /// Neighbours that keep less, with what they keep [m], sorted: a vertex and
    /// a face, and two edges.
    vertex_faces: Vec<([u32; 2], f64)>,
    edge_edges: Vec<([u32; 2], f64)>,
}

/// The share of its first distance that a pair of neighbours may take up.
const SHARE: f64 = 0.5;
/// Pairs that so many edges join are neighbours.
const RINGS: u32 = 3;
/// The thickness is at most this many mean edges, or it would reach beyond the
/// rings.
const MAX_EDGES: f64 = 1.0;
/// No pair keeps less than this share of the thickness.
const LEAST: f64 = 1e-3;

impl Spacing {
    /// For cloth of a thickness [m] whose vertices were made at `positions`
    /// [m], to which the boxes are fitted.
    pub(super) fn new(
        mesh: &MeshBoxes,
        links: &Links,
        positions: &[DVec3],
        thickness: f64,
        mesh_rest: f64,
    ) -> Self {
        let (triangles, edges) = (mesh.triangles(), mesh.edges());
        let lengths = edges.iter().map(|e| {
            let [a, b] = e.map(|v| positions[v as usize]);
            a.distance(b)
        });
        let mean = lengths.sum::<f64>() / edges.len().max(1) as f64;
        let thickness = thickness.min(MAX_EDGES * mean);
        let keep = |kind: Kind, vertices: [u32; 4]| {
            let (_, offset) = kind.nearest(vertices.map(|v| positions[v as usize]));
            let share = SHARE * offset.length();
            let is_less =
                share < thickness && are_neighbours(vertices.split_at(kind.n_first()), links);
            is_less.then(|| share.max(LEAST * thickness))
        };
        let reach = thickness / SHARE;
        let vertex_faces = mesh.self_vertex_faces(reach).into_iter();
        let edge_edges = mesh.self_edge_edges(reach).into_iter();
        Self {
            band: thickness.max(mesh_rest),
            thickness,
            mesh_rest,
            vertex_faces: vertex_faces
                .filter_map(|[v, t]| {
                    let [a, b, c] = triangles[t as usize];
                    Some(([v, t], keep(Kind::VertexFace, [v, a, b, c])?))
                })
                .collect(),
            edge_edges: edge_edges
                .filter_map(|[e, f]| {
                    let ([a, b], [c, d]) = (edges[e as usize], edges[f as usize]);
                    Some(([e, f], keep(Kind::EdgeEdge, [a, b, c, d])?))
                })
                .collect(),
        }
    }

    /// The most that any pair keeps [m].
    pub(super) const fn band(&self) -> f64 {
        self.band
    }

    /// Sets what cloth and meshes keep [m].
    pub(super) fn set_mesh_rest(&mut self, mesh_rest: f64) {
        self.mesh_rest = mesh_rest;
        self.band = self.thickness.max(mesh_rest);
    }

    /// What a pair keeps [m].
    pub(super) fn of(&self, pair: Pair) -> f64 {
        let less = match pair.kind {
            Kind::VertexFace => &self.vertex_faces,
            Kind::EdgeEdge => &self.edge_edges,
            _ => return self.mesh_rest,
        };
        let key = [pair.first, pair.second];
        match less.binary_search_by_key(&key, |(pair, _)| *pair) {
            Ok(at) => less[at].1,
            Err(_) => self.thickness,
        }
    }
}

fn are_neighbours((first, second): (&[u32], &[u32]), links: &Links) -> bool {
    let mut reached = first.to_vec();
    let mut from = 0;
    for _ in 0..RINGS {
        let to = reached.len();
        for i in from..to {
            for &w in links.joined(reached[i]) {
                if second.contains(&w) {
                    return true;
                }
                if !reached.contains(&w) {
                    reached.push(w);
                }
            }
        }
        from = to;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::super::test_meshes::{rolled, sheet};
    use super::*;

    fn spacing(n: u32, thickness: f64, map: impl Fn(&[DVec3]) -> Vec<DVec3>) -> Spacing {
        let (topology, flat) = sheet(n);
        let x = map(&flat);
        let mesh = MeshBoxes::new(&topology, &x);
        Spacing::new(&mesh, &Links::new(&mesh), &x, thickness, thickness)
    }

    #[test]
    fn only_neighbours_keep_less() {
        // Edges of 10 cm: all pairs that are not neighbours are further.
        let thin = spacing(11, 0.01, <[DVec3]>::to_vec);
        assert!(thin.vertex_faces.is_empty() && thin.edge_edges.is_empty());
        // Vertex 12 is √½ of an edge off the diagonal of the next cell.
        let thick = spacing(11, 0.05, <[DVec3]>::to_vec);
        let least = thick.vertex_faces.iter().map(|p| p.1).fold(1.0, f64::min);
        assert!((least - 0.5 * 0.1 * 0.5f64.sqrt()).abs() < 1e-12, "{least}");
        let pair = |first, second| Pair {
            kind: Kind::VertexFace,
            mesh: 0,
            first,
            second,
        };
        let [v, t] = thick.vertex_faces[0].0;
        assert!(thick.of(pair(v, t)) < 0.05);
        assert_eq!(thick.of(pair(0, 199)), 0.05);
        // No more than the edges are long.
        let mean = (20.0 * 11.0 * 0.1 + 100.0 * 0.02f64.sqrt()) / 320.0;
        assert!((spacing(11, 1.0, <[DVec3]>::to_vec).thickness - mean).abs() < 1e-12);
    }

    #[test]
    fn layers_of_a_roll_keep_all_of_it() {
        let roll = spacing(41, 0.006, |flat| rolled(flat, 0.004));
        // The turns are nearer than twice the thickness, but far along the cloth.
        assert!(roll.vertex_faces.is_empty() && roll.edge_edges.is_empty());
    }
}
