//! What pairs need to know about a mesh: [`MeshSide`].
//!
//! A mesh is the surface of a solid. Cloth that has got inside must not be kept
//! there by pairs, which know no inside: it is left to the signed contacts of
//! `surface.rs`. A pair is outside when its offset, from mesh to cloth, goes
//! along the pseudo-normal of the vertex, edge or face that is nearest.

use glam::DVec3;

use super::super::obstacle_mesh::MeshObstacle;
use super::links::Links;
use super::pair::{Kind, Pair};

/// A mesh beside the cloth.
#[derive(Clone, Debug)]
pub(super) struct MeshSide {
    links: Links,
    /// The number of its first vertex among all vertices.
    base: u32,
    triangles: Vec<[u32; 3]>,
    /// The two faces at each edge.
    faces_of_edge: Vec<[u32; 2]>,
    /// Where its vertices are at the start of the step [m].
    places: Vec<DVec3>,
    /// Outwards there, of any length.
    face_normals: Vec<DVec3>,
    vertex_normals: Vec<DVec3>,
}

impl MeshSide {
    /// A mesh whose vertices are numbered from `base` on.
    pub(super) fn new(mesh: &MeshObstacle, base: u32) -> Self {
        let (triangles, edges) = (mesh.boxes().triangles(), mesh.boxes().edges());
        let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
        for (t, [a, b, c]) in triangles.iter().enumerate() {
            for (a, b) in [(*a, *b), (*b, *c), (*c, *a)] {
                sides.push(([a.min(b), a.max(b)], t as u32));
            }
        }
        sides.sort_unstable();
        let faces_of_edge = edges.iter().map(|edge| {
            let from = sides.partition_point(|s| s.0 < *edge);
            let to = sides.partition_point(|s| s.0 <= *edge);
            [sides[from].1, sides[to - 1].1]
        });
        let mut side = Self {
            links: Links::new(mesh.boxes()),
            base,
            triangles: triangles.to_vec(),
            faces_of_edge: faces_of_edge.collect(),
            places: Vec::new(),
            face_normals: Vec::new(),
            vertex_normals: Vec::new(),
        };
        side.turn(mesh, base);
        side
    }

    /// Whether it was made of this mesh.
    pub(super) fn is_of(&self, mesh: &MeshObstacle) -> bool {
        self.triangles == mesh.boxes().triangles()
            && self.vertex_normals.len() == mesh.start().len()
    }

    /// Follows the mesh to the start of its next step.
    pub(super) fn turn(&mut self, mesh: &MeshObstacle, base: u32) {
        self.base = base;
        let x = mesh.start();
        if self.places == x {
            return;
        }
        self.places.clear();
        self.places.extend_from_slice(x);
        self.face_normals.clear();
        self.vertex_normals.clear();
        self.vertex_normals.resize(x.len(), DVec3::ZERO);
        for corners in &self.triangles {
            let [a, b, c] = corners.map(|v| x[v as usize]);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            self.face_normals.push(normal);
            for k in 0..3 {
                let [here, next, last] = [k, k + 1, k + 2].map(|k| x[corners[k % 3] as usize]);
                let angle = (next - here).angle_between(last - here);
                if angle.is_finite() {
                    self.vertex_normals[corners[k] as usize] += normal * angle;
                }
            }
        }
    }

    pub(super) const fn links(&self) -> &Links {
        &self.links
    }

    pub(super) const fn base(&self) -> u32 {
        self.base
    }

    /// Whether the cloth of a pair is outside, by the weights of its nearest
    /// points and the offset between them.
    pub(super) fn is_outside(&self, pair: Pair, weights: &[f64; 4], offset: DVec3) -> bool {
        let of_vertex = |v: u32| self.vertex_normals[v as usize];
        match pair.kind {
            Kind::VertexFace | Kind::EdgeEdge => true,
            // From the mesh's vertex to the cloth is against the offset.
            Kind::MeshVertexFace => offset.dot(of_vertex(pair.first)) <= 0.0,
            Kind::EdgeMeshEdge => {
                let [s, t] = self.faces_of_edge[pair.second as usize];
                let normal = self.face_normals[s as usize] + self.face_normals[t as usize];
                offset.dot(normal) >= 0.0
            }
            Kind::VertexMeshFace => {
                let corners = self.triangles[pair.second as usize];
                let corner = (0..3).find(|k| weights[k + 1] == -1.0);
                let normal = match corner {
                    Some(k) => of_vertex(corners[k]),
                    None => self.face_normals[pair.second as usize],
                };
                offset.dot(normal) >= 0.0
            }
        }
    }
}
