//! The pairs that may come near during a step: [`Nearby`].
//!
//! They are collected over the way that each vertex is expected to take, with
//! room to spare: as long as every vertex ends within half the slack of that
//! way, no other pair can come into the band. A vertex that strays further is
//! reason to collect again, along where it really goes.
//!
//! Cloth that flies as a whole comes no nearer to itself, so that the mean
//! motion is taken off before its boxes are swept; not for pairs with meshes.

use drapery_core::Topology;
use glam::DVec3;
use rayon::prelude::*;

use super::super::candidates::MeshBoxes;
use super::super::obstacle_mesh::MeshObstacle;
use super::axis::Places;
use super::frame::Frame;
use super::links::Links;
use super::mesh_side::MeshSide;
use super::pair::{Kind, Motion, Pair};
use super::spacing::Spacing;
use super::{MeshPairs, PairSettings};

/// A pair that may come near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    pub(super) pair: Pair,
    pub(super) vertices: [u32; 4],
    /// How far apart it starts [m], and along what.
    pub(super) distance: f64,
    pub(super) normal: DVec3,
    /// How far apart it rests [m].
    pub(super) rest: f64,
}

impl Near {
    /// A distance that the pair keeps to the end of the step, if it starts
    /// further apart: how far beyond the second primitive the first one ends,
    /// along the normal of the start [m].
    pub(super) fn least_height(&self, ends: [DVec3; 4]) -> f64 {
        let [a, b, c, d] = ends.map(|x| self.normal.dot(x - ends[3]));
        match self.pair.kind.n_first() {
            1 => a - b.max(c).max(d),
            _ => a.min(b) - c.max(d),
        }
    }
}

/// The pairs that may come near during a step.
#[derive(Clone, Debug)]
pub(super) struct Nearby {
    mesh_pairs: MeshPairs,
    boxes: MeshBoxes,
    links: Links,
    spacing: Spacing,
    meshes: Vec<MeshSide>,
    near: Vec<Near>,
    places: Places,
    /// Where vertices are expected to end [m], the mean motion already taken
    /// off.
    to: Vec<DVec3>,
    mean: DVec3,
    /// [m]
    slack: f64,
    /// The farthest that a vertex was from its way in this step [m].
    strayed: f64,
}

/// Pairs that one task takes.
const CHUNK: usize = 1024;
/// The least and the most slack, in bands. With less, pairs are collected twice
/// in most steps; with more, there are too many of them.
const SLACK: [f64; 2] = [0.5, 4.0];
/// Slack, in the farthest that a vertex strayed in the step before.
const CAUTION: f64 = 3.0;

impl Nearby {
    /// For cloth made at `positions` [m].
    pub(super) fn new(topology: &Topology, positions: &[DVec3], settings: &PairSettings) -> Self {
        let boxes = MeshBoxes::new(topology, positions);
        let links = Links::new(&boxes);
        Self {
            mesh_pairs: settings.mesh_pairs,
            spacing: Spacing::new(&boxes, &links, positions, settings.thickness),
            boxes,
            links,
            meshes: Vec::new(),
            near: Vec::new(),
            places: Places::default(),
            to: Vec::new(),
            mean: DVec3::ZERO,
            slack: 0.0,
            strayed: 0.0,
        }
    }

    /// The pairs, sorted.
    pub(super) fn pairs(&self) -> &[Near] {
        &self.near
    }

    /// Begins a step: slack as the last step needed it.
    pub(super) fn begin(&mut self, motion: &Motion<'_>, meshes: &[&MeshObstacle]) {
        let band = self.spacing.thickness();
        self.slack = (CAUTION * self.strayed).clamp(SLACK[0] * band, SLACK[1] * band);
        self.strayed = 0.0;
        let mut base = motion.start.len() as u32;
        self.meshes.truncate(meshes.len());
        for (i, mesh) in meshes.iter().enumerate() {
            match self.meshes.get_mut(i) {
                Some(side) if side.is_of(mesh) => side.turn(mesh, base),
                Some(side) => *side = MeshSide::new(mesh, base),
                None => self.meshes.push(MeshSide::new(mesh, base)),
            }
            base += mesh.start().len() as u32;
        }
        self.collect(motion, meshes);
    }

    /// Collects all pairs that come nearer than they rest on a motion, or on
    /// one that is nearly it.
    pub(super) fn collect(&mut self, motion: &Motion<'_>, meshes: &[&MeshObstacle]) {
        let n = motion.start.len();
        let moves = motion.start.iter().zip(motion.end);
        self.mean = moves.map(|(a, b)| *b - *a).sum::<DVec3>() / n.max(1) as f64;
        self.to.clear();
        self.to.extend(motion.end.iter().map(|p| *p - self.mean));
        let origin = motion.start.iter().copied().sum::<DVec3>() / n.max(1) as f64;
        let margin = self.spacing.thickness() + self.slack;
        let mut near = std::mem::take(&mut self.near);
        near.clear();

        self.places
            .set(origin, motion.start.iter().zip(self.to.iter()));
        self.boxes.refit(motion.start, &self.to);
        let found = self.boxes.self_vertex_faces(margin);
        let faces = |v, t| vertex_face(v, self.boxes.triangles()[t as usize], 0);
        self.keep_near(Kind::VertexFace, 0, &found, faces, motion, &mut near);
        let found = self.boxes.self_edge_edges(margin);
        let edges = self.boxes.edges();
        let ends = |e, f| edge_edge(edges[e as usize], edges[f as usize], 0);
        self.keep_near(Kind::EdgeEdge, 0, &found, ends, motion, &mut near);

        if !meshes.is_empty() {
            let cloth = motion.start.iter().zip(motion.end);
            let others = motion.mesh_start.iter().zip(motion.mesh_end);
            self.places.set(origin, cloth.chain(others));
            self.boxes.refit(motion.start, motion.end);
        }
        if self.mesh_pairs == MeshPairs::All {
            for (i, (mesh, side)) in meshes.iter().zip(&self.meshes).enumerate() {
                let found = self.boxes.vertex_faces(mesh.boxes(), margin);
                let triangles = mesh.boxes().triangles();
                let faces = |v, t| vertex_face(v, triangles[t as usize], side.base());
                let kind = Kind::VertexMeshFace;
                self.keep_near(kind, i as u32, &found, faces, motion, &mut near);
            }
        }
        for (i, (mesh, side)) in meshes.iter().zip(&self.meshes).enumerate() {
            let found = mesh.boxes().vertex_faces(&self.boxes, margin);
            let triangles = self.boxes.triangles();
            let faces = |v, t| vertex_face(v + side.base(), triangles[t as usize], 0);
            let kind = Kind::MeshVertexFace;
            self.keep_near(kind, i as u32, &found, faces, motion, &mut near);
        }
        for (i, (mesh, side)) in meshes.iter().zip(&self.meshes).enumerate() {
            let found = self.boxes.edge_edges(mesh.boxes(), margin);
            let (edges, others) = (self.boxes.edges(), mesh.boxes().edges());
            let ends = |e, f| edge_edge(edges[e as usize], others[f as usize], side.base());
            let kind = Kind::EdgeMeshEdge;
            self.keep_near(kind, i as u32, &found, ends, motion, &mut near);
        }
        debug_assert!(near.is_sorted_by_key(|near| near.pair));
        self.near = near;
    }

    /// Whether a pair is only the border of another that is nearer, after a
    /// share of the step: the surface goes on.
    pub(super) fn is_inner(
        &self,
        near: &Near,
        frame: &Frame,
        motion: &Motion<'_>,
        fraction: f64,
    ) -> bool {
        let (links, base) = match near.pair.kind {
            Kind::VertexFace | Kind::MeshVertexFace => (&self.links, 0),
            Kind::VertexMeshFace => {
                let side = &self.meshes[near.pair.mesh as usize];
                (side.links(), side.base())
            }
            Kind::EdgeEdge | Kind::EdgeMeshEdge => return false,
        };
        links.goes_on(near, frame, motion, fraction, base)
    }

    /// Whether the pairs are all that come into the band on the way to `end`.
    pub(super) fn covers(&mut self, start: &[DVec3], end: &[DVec3]) -> bool {
        let mut farthest: f64 = 0.0;
        for ((a, b), p) in start.iter().zip(&self.to).zip(end) {
            farthest = farthest.max(distance_to_way(*p - self.mean, *a, *b));
            if !self.meshes.is_empty() {
                farthest = farthest.max(distance_to_way(*p, *a, *b + self.mean));
            }
        }
        self.strayed = self.strayed.max(farthest);
        2.0 * farthest <= self.slack
    }

    /// Appends the candidates that come within the margin.
    fn keep_near(
        &self,
        kind: Kind,
        mesh: u32,
        candidates: &[[u32; 2]],
        vertices_of: impl Fn(u32, u32) -> [u32; 4] + Sync,
        motion: &Motion<'_>,
        near: &mut Vec<Near>,
    ) {
        let (n_first, margin) = (kind.n_first(), self.spacing.thickness() + self.slack);
        let side = match kind.is_of_cloth() {
            true => None,
            false => Some(&self.meshes[mesh as usize]),
        };
        // The mean motion is taken off the ends of the cloth alone.
        let shift = match side {
            None => self.mean,
            Some(_) => DVec3::ZERO,
        };
        let keep = |&[first, second]: &[u32; 2]| {
            let vertices = vertices_of(first, second);
            if self.places.are_apart(vertices, n_first, margin) {
                return None;
            }
            let (start, end) = (motion.starts(vertices), motion.ends(vertices));
            let (weights, offset) = kind.nearest(start);
            let end = end.map(|x| x - shift);
            if is_apart(offset, &start, &end, n_first, margin) {
                return None;
            }
            let pair = Pair {
                kind,
                mesh,
                first,
                second,
            };
            // What is inside a mesh is not kept there.
            if side.is_some_and(|side| !side.is_outside(pair, &weights, offset)) {
                return None;
            }
            let distance = offset.length();
            Some(Near {
                pair,
                vertices,
                distance,
                normal: offset / distance.max(f64::MIN_POSITIVE),
                rest: self.spacing.of(pair),
            })
        };
        let kept: Vec<Vec<Near>> = candidates
            .par_chunks(CHUNK)
            .map(|candidates| candidates.iter().filter_map(keep).collect())
            .collect();
        near.extend(kept.iter().flatten());
    }
}

/// A vertex and a face, whose corners are numbered from `base` on.
fn vertex_face(vertex: u32, [a, b, c]: [u32; 3], base: u32) -> [u32; 4] {
    [vertex, a + base, b + base, c + base]
}

/// Two edges, of which the ends of the second are numbered from `base` on.
fn edge_edge([a, b]: [u32; 2], [c, d]: [u32; 2], base: u32) -> [u32; 4] {
    [a, b, c + base, d + base]
}

/// Whether an axis keeps all places of the first primitive beyond those of the
/// second by more than the margin.
fn is_apart(
    axis: DVec3,
    start: &[DVec3; 4],
    end: &[DVec3; 4],
    n_first: usize,
    margin: f64,
) -> bool {
    let origin = start[3];
    let [p, q, r, s] = std::array::from_fn(|i| {
        let (a, b) = (axis.dot(start[i] - origin), axis.dot(end[i] - origin));
        (a.min(b), a.max(b))
    });
    let room = match n_first {
        1 => p.0 - q.1.max(r.1).max(s.1),
        _ => p.0.min(q.0) - r.1.max(s.1),
    };
    room > 0.0 && room * room > margin * margin * axis.length_squared()
}

/// How far a point is from the segment from `a` to `b` [m].
fn distance_to_way(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let way = b - a;
    let length_sq = way.length_squared();
    let t = match length_sq > 0.0 {
        true => ((p - a).dot(way) / length_sq).clamp(0.0, 1.0),
        false => 0.0,
    };
    (p - a - way * t).length()
}
