//! How far apart a pair is kept: [`Spacing`].
//!
//! The thickness of the cloth, between two pieces the mean of both, but for pairs that are neighbours along it:
//! these may be nearer than that in the flat cloth already, and must not press
//! on each other there. They get at most half the distance that they had when
//! the cloth was made.

use glam::DVec3;

use super::super::candidates::MeshBoxes;
use super::links::Links;
use super::pair::{Kind, Pair};
use super::{PairKeeping, PairSettings};

/// Distances that pairs keep.
#[derive(Clone, Debug)]
pub(super) struct Spacing {
    /// The most that any keep [m].
    band: f64,
    /// What cloth of each piece keeps from its own [m].
    thicknesses: Vec<f64>,
    /// What cloth of each piece and meshes keep [m].
    mesh_rests: Vec<f64>,
    /// The piece of each vertex.
    piece_of: Vec<u16>,
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
    /// For cloth whose vertices were made at `positions` [m], to which the
    /// boxes are fitted.
    pub(super) fn new(
        mesh: &MeshBoxes,
        links: &Links,
        positions: &[DVec3],
        settings: &PairSettings,
    ) -> Self {
        let (triangles, edges) = (mesh.triangles(), mesh.edges());
        let of_mesh = |keeping: &[PairKeeping]| keeping.iter().map(|k| k.thickness).collect();
        let mesh_rests: Vec<f64> = of_mesh(&settings.mesh);
        let mut thicknesses: Vec<f64> =
            of_mesh(settings.cloth.as_deref().unwrap_or(&settings.mesh));
        let piece_of = settings.piece_of.clone();
        let piece = |v: u32| usize::from(piece_of[v as usize]);
        let mut lengths = vec![(0.0, 0); thicknesses.len()];
        for [a, b] in edges {
            let (sum, count) = &mut lengths[piece(*a)];
            *sum += positions[*a as usize].distance(positions[*b as usize]);
            *count += 1;
        }
        for (thickness, (sum, count)) in thicknesses.iter_mut().zip(lengths) {
            *thickness = thickness.min(MAX_EDGES * sum / f64::from(count.max(1)));
        }
        let keep = |kind: Kind, vertices: [u32; 4]| {
            let thickness = thicknesses[piece(vertices[0])];
            let (_, offset) = kind.nearest(vertices.map(|v| positions[v as usize]));
            let share = SHARE * offset.length();
            let is_less =
                share < thickness && are_neighbours(vertices.split_at(kind.n_first()), links);
            is_less.then(|| share.max(LEAST * thickness))
        };
        let thickest = most(&thicknesses);
        let reach = thickest / SHARE;
        let vertex_faces = mesh.self_vertex_faces(reach).into_iter();
        let edge_edges = mesh.self_edge_edges(reach).into_iter();
        Self {
            band: thickest.max(most(&mesh_rests)),
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
            thicknesses,
            mesh_rests,
            piece_of,
        }
    }

    /// The most that any pair keeps [m].
    pub(super) const fn band(&self) -> f64 {
        self.band
    }

    /// Sets what each piece of the cloth and meshes keep [m].
    pub(super) fn set_mesh_rests(&mut self, mesh_rests: Vec<f64>) {
        self.band = most(&self.thicknesses).max(most(&mesh_rests));
        self.mesh_rests = mesh_rests;
    }

    /// What a pair keeps [m].
    pub(super) fn of(&self, pair: Pair, vertices: [u32; 4]) -> f64 {
        let piece = |v: u32| usize::from(self.piece_of[v as usize]);
        let [first, second] = [vertices[0], vertices[3]];
        let less = match pair.kind {
            Kind::VertexFace => &self.vertex_faces,
            Kind::EdgeEdge => &self.edge_edges,
            Kind::VertexMeshFace | Kind::EdgeMeshEdge => return self.mesh_rests[piece(first)],
            Kind::MeshVertexFace => return self.mesh_rests[piece(second)],
        };
        let (first, second) = (piece(first), piece(second));
        if first != second {
            return 0.5 * (self.thicknesses[first] + self.thicknesses[second]);
        }
        let key = [pair.first, pair.second];
        match less.binary_search_by_key(&key, |(pair, _)| *pair) {
            Ok(at) => less[at].1,
            Err(_) => self.thicknesses[first],
        }
    }
}

fn most(distances: &[f64]) -> f64 {
    distances.iter().copied().fold(0.0, f64::max)
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
        let keeping = PairKeeping {
            thickness,
            friction: 0.0,
        };
        let settings = PairSettings {
            cloth: Some(vec![keeping]),
            mesh: vec![keeping],
            piece_of: vec![0; x.len()],
            is_in_order: false,
            mesh_pairs: super::super::MeshPairs::WithoutVertices,
        };
        Spacing::new(&mesh, &Links::new(&mesh), &x, &settings)
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
        assert!(thick.of(pair(v, t), [v, 0, 0, 0]) < 0.05);
        assert_eq!(thick.of(pair(0, 199), [0; 4]), 0.05);
        // No more than the edges are long.
        let mean = (20.0 * 11.0 * 0.1 + 100.0 * 0.02f64.sqrt()) / 320.0;
        assert!((spacing(11, 1.0, <[DVec3]>::to_vec).thicknesses[0] - mean).abs() < 1e-12);
    }

    #[test]
    fn layers_of_a_roll_keep_all_of_it() {
        let roll = spacing(41, 0.006, |flat| rolled(flat, 0.004));
        // The turns are nearer than twice the thickness, but far along the cloth.
        assert!(roll.vertex_faces.is_empty() && roll.edge_edges.is_empty());
    }
}
