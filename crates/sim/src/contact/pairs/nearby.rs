//! The pairs that may come near during a step: [`Nearby`].
//!
//! They are collected over the way that each vertex is expected to take, with
//! room to spare: as long as every vertex ends no further from that way than
//! its slack, no other pair can come into the band. A vertex that strays
//! further is reason to collect again, along where it really goes, and to give
//! it more slack in the next step: few vertices need much.
//!
//! Cloth that flies as a whole comes no nearer to itself, so that the mean
//! motion is taken off before its boxes are swept; not for pairs with meshes.

use drapery_core::Topology;
use glam::DVec3;
use rayon::prelude::*;

use super::super::block::Bounds;
use super::super::candidates::MeshBoxes;
use super::super::crossings::self_crossings;
use super::super::mesh_part::MeshPart;
use super::super::obstacle_mesh::MeshObstacle;
use super::axis::Places;
use super::frame::Frame;
use super::links::Links;
use super::mesh_side::MeshSide;
use super::pair::{Kind, Motion, Pair};
use super::spacing::Spacing;
use super::{MeshPairs, PairSettings};
use crate::stopwatch::Stopwatch;

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
    /// A vertex of each of the two primitives.
    pub(super) const fn ends(&self) -> [u32; 2] {
        [self.vertices[0], self.vertices[3]]
    }

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
    /// Whether pairs of cloth with cloth are collected.
    has_layers: bool,
    mesh_pairs: MeshPairs,
    boxes: MeshBoxes,
    links: Links,
    spacing: Spacing,
    meshes: Vec<MeshSide>,
    near: Vec<Near>,
    /// Where each vertex is at home [m]; empty where that is of no account.
    homes: Vec<DVec3>,
    places: Places,
    /// Where vertices are expected to end [m], the mean motion already taken
    /// off.
    to: Vec<DVec3>,
    mean: DVec3,
    /// How far each vertex may be from its way [m].
    slacks: Vec<f64>,
    /// The farthest that it was in this step [m].
    strayed: Vec<f64>,
    /// How long all this took, and what of it the boxes did not [s].
    searched: [f64; 2],
}

/// Pairs that one task takes.
const CHUNK: usize = 1024;
/// The least and the most slack, in bands. With less, pairs are collected twice
/// in most steps; with more, there are too many of them.
const SLACK: [f64; 2] = [0.25, 16.0];
/// Slack, in what the vertex strayed in the step before.
const CAUTION: f64 = 1.5;

impl Nearby {
    /// For cloth made at `positions` [m].
    pub(super) fn new(topology: &Topology, positions: &[DVec3], settings: &PairSettings) -> Self {
        let boxes = MeshBoxes::new(topology, positions);
        let links = Links::new(&boxes);
        Self {
            has_layers: settings.cloth.is_some(),
            mesh_pairs: settings.mesh_pairs,
            spacing: Spacing::new(&boxes, &links, positions, settings),
            boxes,
            links,
            meshes: Vec::new(),
            near: Vec::new(),
            homes: Vec::new(),
            places: Places::default(),
            to: Vec::new(),
            mean: DVec3::ZERO,
            slacks: Vec::new(),
            strayed: vec![0.0; positions.len()],
            searched: [0.0; 2],
        }
    }

    /// How long boxes that come near have been looked for, and what is in
    /// them [s].
    pub(super) const fn searched(&self) -> [f64; 2] {
        let [all, narrow] = self.searched;
        [all - narrow, narrow]
    }

    /// The primitives of the cloth.
    pub(super) const fn boxes(&self) -> &MeshBoxes {
        &self.boxes
    }

    /// The most that any pair keeps [m].
    pub(super) const fn thickness(&self) -> f64 {
        self.spacing.band()
    }

    /// The edges of the cloth that pass through faces of it at `x` [m].
    pub(super) fn crossings(&mut self, x: &[DVec3]) -> Vec<[u32; 2]> {
        self.boxes.refit(x, x);
        self_crossings(&self.boxes, x)
    }

    /// Sets how far apart each piece of the cloth and meshes rest [m].
    pub(super) fn set_mesh_rests(&mut self, rests: Vec<f64>) {
        self.spacing.set_mesh_rests(rests);
    }

    /// Sets where each vertex of the cloth is at home [m].
    pub(super) fn set_homes(&mut self, homes: &[DVec3]) {
        self.homes.clear();
        self.homes.extend_from_slice(homes);
    }

    /// Leaves those of pairs out whose part of the mesh is not there for the
    /// cloth.
    fn leave_out_absent(
        &self,
        mesh: &MeshObstacle,
        found: &mut Vec<[u32; 2]>,
        primitives: impl Fn([u32; 2]) -> ([u32; 2], u32),
    ) {
        let Some(absence) = mesh.absence().filter(|_| !self.homes.is_empty()) else {
            return;
        };
        found.retain(|pair| {
            let (of_mesh, of_cloth) = primitives(*pair);
            !absence.hides(&of_mesh, self.homes[of_cloth as usize])
        });
    }

    /// The pairs, sorted.
    pub(super) fn pairs(&self) -> &[Near] {
        &self.near
    }

    /// Begins a step: slack as the last step needed it.
    pub(super) fn begin(&mut self, motion: &Motion<'_>, meshes: &[&MeshObstacle]) {
        let band = self.spacing.band();
        let strayed = self.strayed.iter();
        self.slacks.clear();
        self.slacks
            .extend(strayed.map(|s| (CAUTION * s).clamp(SLACK[0] * band, SLACK[1] * band)));
        self.strayed.fill(0.0);
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
        let n = motion.start.len();
        let moves = motion.start.iter().zip(motion.end);
        self.mean = moves.map(|(a, b)| *b - *a).sum::<DVec3>() / n.max(1) as f64;
        self.to.clear();
        self.to.extend(motion.end.iter().map(|p| *p - self.mean));
        self.collect(motion, meshes, None);
    }

    /// Follows a motion that may not be the one that was expected: vertices
    /// that have strayed too far from their ways are expected where they are.
    pub(super) fn follow(&mut self, motion: &Motion<'_>, meshes: &[&MeshObstacle]) {
        let mut has_strayed = vec![false; motion.start.len()];
        let mut n_strayed = 0;
        for (v, (a, p)) in motion.start.iter().zip(motion.end).enumerate() {
            let b = self.to[v];
            let mut stray = distance_to_way(*p - self.mean, *a, b);
            if !self.meshes.is_empty() {
                stray = stray.max(distance_to_way(*p, *a, b + self.mean));
            }
            self.strayed[v] = self.strayed[v].max(stray);
            if stray > self.slacks[v] {
                has_strayed[v] = true;
                n_strayed += 1;
                self.to[v] = *p - self.mean;
            }
        }
        if n_strayed > 0 {
            self.collect(motion, meshes, Some(&has_strayed));
        }
    }

    /// Collects all pairs that come nearer than they rest on the expected ways,
    /// or all that have one of some vertices, the others being known.
    fn collect(&mut self, motion: &Motion<'_>, meshes: &[&MeshObstacle], moved: Option<&[bool]>) {
        let watch = Stopwatch::start();
        let mut near = std::mem::take(&mut self.near);
        match moved {
            None => near.clear(),
            Some(moved) => near.retain(|near| {
                let of_cloth = near.vertices.iter().filter_map(|v| moved.get(*v as usize));
                !of_cloth.copied().any(|moved| moved)
            }),
        }
        if self.has_layers {
            self.collect_layers(motion, moved, &mut near);
        }
        if !meshes.is_empty() {
            self.collect_with_meshes(motion, meshes, moved, &mut near);
        }
        near.sort_unstable_by_key(|near| near.pair);
        self.near = near;
        self.searched[0] += watch.seconds();
    }

    fn collect_layers(
        &mut self,
        motion: &Motion<'_>,
        moved: Option<&[bool]>,
        near: &mut Vec<Near>,
    ) {
        let band = self.spacing.band();
        let origin = motion.start.first().copied().unwrap_or_default();
        let within = self.ways(motion.start, DVec3::ZERO);
        self.places.set(origin, within.iter().copied());
        let boxes = swept(&within);
        self.boxes.refit_around(&boxes);
        let part = moved.map(|moved| MeshPart::new(&self.boxes, moved, &boxes));
        let found = match &part {
            None => self.boxes.self_vertex_faces(band),
            Some(part) => part.self_vertex_faces(&self.boxes, band),
        };
        let faces = |v, t| vertex_face(v, self.boxes.triangles()[t as usize], 0);
        let mut seconds = self.keep_near(Kind::VertexFace, 0, &found, faces, motion, near);
        let found = match &part {
            None => self.boxes.self_edge_edges(band),
            Some(part) => part.self_edge_edges(&self.boxes, band),
        };
        let edges = self.boxes.edges();
        let ends = |e, f| edge_edge(edges[e as usize], edges[f as usize], 0);
        seconds += self.keep_near(Kind::EdgeEdge, 0, &found, ends, motion, near);
        self.searched[1] += seconds;
    }

    fn collect_with_meshes(
        &mut self,
        motion: &Motion<'_>,
        meshes: &[&MeshObstacle],
        moved: Option<&[bool]>,
        near: &mut Vec<Near>,
    ) {
        let band = self.spacing.band();
        let origin = motion.start.first().copied().unwrap_or_default();
        let outside = self.ways(motion.start, self.mean);
        let others = motion.mesh_start.iter().zip(motion.mesh_end);
        let others = others.map(|(a, b)| (*a, *b, 0.0));
        self.places
            .set(origin, outside.iter().copied().chain(others));
        let boxes = swept(&outside);
        self.boxes.refit_around(&boxes);
        let part = moved.map(|moved| MeshPart::new(&self.boxes, moved, &boxes));
        let mut seconds = 0.0;
        for (i, (&obstacle, side)) in (0..).zip(meshes.iter().zip(&self.meshes)) {
            let (cloth, mesh, base) = (&self.boxes, obstacle.boxes(), side.base());
            if self.mesh_pairs == MeshPairs::All {
                let found = match &part {
                    None => cloth.vertex_faces(mesh, band),
                    Some(part) => part.vertex_faces(mesh, band),
                };
                let faces = |v, t| vertex_face(v, mesh.triangles()[t as usize], base);
                seconds += self.keep_near(Kind::VertexMeshFace, i, &found, faces, motion, near);
            }
            let mut found = match &part {
                None => mesh.vertex_faces(cloth, band),
                Some(part) => part.faces_of_vertices(mesh, band),
            };
            self.leave_out_absent(obstacle, &mut found, |[v, t]| {
                ([v; 2], cloth.triangles()[t as usize][0])
            });
            let faces = |v, t| vertex_face(v + base, cloth.triangles()[t as usize], 0);
            seconds += self.keep_near(Kind::MeshVertexFace, i, &found, faces, motion, near);
            let mut found = match &part {
                None => cloth.edge_edges(mesh, band),
                Some(part) => part.edge_edges(mesh, band),
            };
            self.leave_out_absent(obstacle, &mut found, |[e, f]| {
                (mesh.edges()[f as usize], cloth.edges()[e as usize][0])
            });
            let ends = |e, f| {
                let (first, second) = (cloth.edges()[e as usize], mesh.edges()[f as usize]);
                edge_edge(first, second, base)
            };
            seconds += self.keep_near(Kind::EdgeMeshEdge, i, &found, ends, motion, near);
        }
        self.searched[1] += seconds;
    }

    /// From where to where each vertex is expected to go, `shift` further [m],
    /// and how far it may stray [m].
    fn ways(&self, start: &[DVec3], shift: DVec3) -> Vec<(DVec3, DVec3, f64)> {
        let ways = start.iter().zip(self.to.iter().zip(&self.slacks));
        ways.map(|(a, (b, slack))| (*a, *b + shift, *slack))
            .collect()
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

    /// Appends the candidates that come within the margin; how long that
    /// took [s].
    fn keep_near(
        &self,
        kind: Kind,
        mesh: u32,
        candidates: &[[u32; 2]],
        vertices_of: impl Fn(u32, u32) -> [u32; 4] + Sync,
        motion: &Motion<'_>,
        near: &mut Vec<Near>,
    ) -> f64 {
        let watch = Stopwatch::start();
        let (n_first, band) = (kind.n_first(), self.spacing.band());
        let slack = |vertices: &[u32]| {
            let slacks = vertices.iter().filter_map(|v| self.slacks.get(*v as usize));
            slacks.fold(0.0, |most: f64, slack| most.max(*slack))
        };
        let side = match kind.is_of_cloth() {
            true => None,
            false => Some(&self.meshes[mesh as usize]),
        };
        let (n, shift) = (
            self.to.len(),
            match side {
                None => DVec3::ZERO,
                Some(_) => self.mean,
            },
        );
        let keep = |&[first, second]: &[u32; 2]| {
            let vertices = vertices_of(first, second);
            if self.places.are_apart(vertices, n_first, band) {
                return None;
            }
            let start = motion.starts(vertices);
            let end = vertices.map(|v| match (v as usize).checked_sub(n) {
                None => self.to[v as usize] + shift,
                Some(v) => motion.mesh_end[v],
            });
            let (weights, offset) = kind.nearest(start);
            let (one, other) = vertices.split_at(n_first);
            let margin = band + slack(one) + slack(other);
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
                rest: self.spacing.of(pair, vertices),
            })
        };
        let kept: Vec<Vec<Near>> = candidates
            .par_chunks(CHUNK)
            .map(|candidates| candidates.iter().filter_map(keep).collect())
            .collect();
        near.extend(kept.iter().flatten());
        watch.seconds()
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

/// Where each vertex may be, on its way or beside it.
fn swept(ways: &[(DVec3, DVec3, f64)]) -> Vec<Bounds> {
    ways.iter()
        .map(|(a, b, slack)| Bounds::of_point(*a).with(*b).grown(*slack))
        .collect()
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
