//! Cloth that starts crossed, and its way back: [`Tangle`].
//!
//! Pairs keep cloth on the side where it is, so that they would keep a
//! crossing for ever. While there are crossings, pairs of what has gone
//! through with what it has gone through neither press nor hold back, and
//! touches lead the way out along each line of crossings (`contours.rs`):
//!
//! | line              | touch at each crossing of an edge and a face           |
//! |-------------------|--------------------------------------------------------|
//! | cuts a piece off  | the edge's end in the piece goes back through the face, along its normal |
//! | ends inside both  | both slide along the direction that makes the line shorter |
//! | is of two layers  | the edge's end on the wrong side goes back through the face |
//!
//! Layers are pieces of the cloth that are worn in their order, their faces
//! outwards: which side is wrong is known, and nothing is guessed.
//!
//! Each asks for a way of at most v h in a step of length h, with a stiffness
//! of a few m/h²: what moves already is not pushed, nothing gets much faster
//! than v, and both sides share the way by their masses. Everything else of the
//! cloth keeps apart as ever. When a step ends free of crossings, nothing is
//! left of all this.
//!
//! # What is hard
//! A piece that is not the smallest is pulled through to the other side, though
//! it may have come from there: without history, the smaller piece is a guess.
//! A line that closes on both surfaces is told by the same guess. A line whose
//! two curves are one (a loop of cloth through its own middle) or whose length
//! does not change when the surfaces slide gets no touch that helps; it stays,
//! and is counted.

use glam::DVec3;

use super::super::candidates::MeshBoxes;
use super::super::contours::{Contour, Cut, Way, contours};
use super::super::touch::Touch;
use super::super::weave::Weave;
use super::nearby::Near;

/// Crossings of a cloth at the start of a step, and what is done about them.
#[derive(Clone, Debug)]
pub(super) struct Tangle {
    touches: Vec<Touch>,
    /// For each vertex, the lines that it has to do with and on which side, one
    /// vertex after the other.
    marks: Vec<[u32; 2]>,
    marks_start: Vec<u32>,
}

/// v [m/s].
const WAY_OUT: f64 = 0.5;
/// In units of m/h².
const STIFFNESS: f64 = 4.0;
/// Pressure sets in over this share of the way.
const SOFTNESS: f64 = 0.1;
/// What goes back goes on to this share of the thickness.
const BEYOND: f64 = 0.5;
/// Pairs are free this many edges around what a line passes over.
const RINGS: u32 = 2;
/// The same around a line of two layers, of which what is beyond it has gone
/// through as well.
const LAYER_RINGS: u32 = 4;
/// And no further than this many, however large the piece.
const MAX_RINGS: u32 = 12;

/// What a step is like.
pub(super) struct Setting<'a> {
    pub(super) mesh: &'a MeshBoxes,
    pub(super) weave: &'a Weave,
    /// Where vertices are [m].
    pub(super) x: &'a [DVec3],
    /// 1/kg.
    pub(super) inverse_masses: &'a [f64],
    /// h [s].
    pub(super) dt: f64,
    /// [m]
    pub(super) thickness: f64,
    /// The layer of each vertex, where there are any, from the inside out.
    pub(super) layers: Option<&'a [u16]>,
}

impl Tangle {
    /// What is done about edges that pass through faces.
    pub(super) fn new(crossings: &[[u32; 2]], setting: &Setting<'_>) -> Self {
        let Setting { mesh, weave, x, .. } = *setting;
        let mut touches = Vec::new();
        let mut marked: Vec<[u32; 3]> = Vec::new();
        for (line, contour) in (0..).zip(contours(mesh, weave, crossings, x)) {
            for (side, vertices) in (0..).zip(setting.sides(&contour)) {
                marked.extend(vertices.into_iter().map(|v| [v, line, side]));
            }
            let is_of_layers = setting.is_of_layers(&contour);
            touches.extend(contour.cuts.iter().filter_map(|cut| {
                match &contour.way {
                    _ if is_of_layers => setting.in_order(cut),
                    Way::Back { curve, piece } => (cut.curve == *curve)
                        .then(|| setting.back(cut, piece))
                        .flatten(),
                    Way::Along(direction) => setting.along(cut, *direction),
                }
            }));
        }
        marked.sort_unstable();
        marked.dedup();
        let n = mesh.n_vertices() as u32;
        let marks_start = (0..=n)
            .map(|v| marked.partition_point(|m| m[0] < v) as u32)
            .collect();
        Self {
            touches,
            marks: marked.into_iter().map(|[_, l, s]| [l, s]).collect(),
            marks_start,
        }
    }

    /// What leads the way out.
    pub(super) fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// Whether a pair is of what has gone through and what it has gone through.
    pub(super) fn frees(&self, near: &Near) -> bool {
        if !near.pair.kind.is_of_cloth() {
            return false;
        }
        let (first, second) = near.vertices.split_at(near.pair.kind.n_first());
        first
            .iter()
            .flat_map(|v| self.marks(*v))
            .any(|&[line, side]| {
                let other = [line, 1 - side];
                second.iter().any(|v| self.marks(*v).contains(&other))
            })
    }

    fn marks(&self, vertex: u32) -> &[[u32; 2]] {
        let v = vertex as usize;
        &self.marks[self.marks_start[v] as usize..self.marks_start[v + 1] as usize]
    }
}

impl Setting<'_> {
    /// The vertices on either side of a line whose pairs are free.
    fn sides(&self, contour: &Contour) -> [Vec<u32>; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        for cut in &contour.cuts {
            sides[cut.curve].extend(self.mesh.edges()[cut.edge as usize]);
            sides[1 - cut.curve].extend(self.mesh.triangles()[cut.face as usize]);
        }
        for side in &mut sides {
            side.sort_unstable();
            side.dedup();
        }
        match &contour.way {
            _ if self.is_of_layers(contour) => {
                for side in &mut sides {
                    self.weave.widen(side, LAYER_RINGS);
                }
            }
            Way::Along(_) => {
                for side in &mut sides {
                    self.weave.widen(side, RINGS);
                }
            }
            Way::Back { curve, piece } => {
                // As far as the piece reaches beyond the line.
                let mut reached = sides[*curve].clone();
                reached.retain(|v| piece.binary_search(v).is_ok());
                let mut rings = RINGS;
                while rings < MAX_RINGS && reached.len() < piece.len() {
                    let before = reached.len();
                    self.weave.widen(&mut reached, 1);
                    reached.retain(|v| piece.binary_search(v).is_ok());
                    if reached.len() == before {
                        break;
                    }
                    rings += 1;
                }
                sides[*curve].clone_from(piece);
                self.weave.widen(&mut sides[1 - *curve], rings);
            }
        }
        sides
    }

    /// The layers of the edge and of the face of a crossing.
    fn layers_of(&self, cut: &Cut) -> Option<[u16; 2]> {
        let layer = |v: u32| Some(self.layers?[v as usize]);
        let [edge, _] = self.mesh.edges()[cut.edge as usize];
        let [face, _, _] = self.mesh.triangles()[cut.face as usize];
        Some([layer(edge)?, layer(face)?])
    }

    /// Whether a line is of two layers.
    fn is_of_layers(&self, contour: &Contour) -> bool {
        let cut = contour.cuts.first();
        let layers = cut.and_then(|cut| self.layers_of(cut));
        layers.is_some_and(|[edge, face]| edge != face)
    }

    /// Takes the end of an edge that is on the wrong side of a face of another
    /// layer back through it.
    fn in_order(&self, cut: &Cut) -> Option<Touch> {
        let [edge, face] = self.layers_of(cut)?;
        let [p, q] = self.mesh.edges()[cut.edge as usize];
        let [a, b, c] = self.mesh.triangles()[cut.face as usize].map(|v| self.x[v as usize]);
        let height = |v: u32| (b - a).cross(c - a).dot(self.x[v as usize] - a);
        let (below, above) = match height(p) < height(q) {
            true => (p, q),
            false => (q, p),
        };
        match edge > face {
            true => self.through(cut, below, above),
            false => self.through(cut, above, below),
        }
    }

    /// Takes the end of an edge that is in a piece back through a face.
    fn back(&self, cut: &Cut, piece: &[u32]) -> Option<Touch> {
        let ends = self.mesh.edges()[cut.edge as usize];
        let is_in = ends.map(|v| piece.binary_search(&v).is_ok());
        match is_in {
            [true, false] => self.through(cut, ends[0], ends[1]),
            [false, true] => self.through(cut, ends[1], ends[0]),
            _ => None,
        }
    }

    /// Takes one end of an edge through a face to the side of the other.
    fn through(&self, cut: &Cut, inner: u32, outer: u32) -> Option<Touch> {
        let corners = self.mesh.triangles()[cut.face as usize];
        let [a, b, c] = corners.map(|v| self.x[v as usize]);
        let normal = (b - a).cross(c - a).try_normalize()?;
        let (inside, outside) = (self.x[inner as usize], self.x[outer as usize]);
        let normal = match (outside - inside).dot(normal) < 0.0 {
            true => -normal,
            false => normal,
        };
        let depth = normal.dot(cut.point - inside).max(0.0);
        let way = (depth + BEYOND * self.thickness).min(WAY_OUT * self.dt);
        let [u, v, w] = cut.barycentric;
        let parts = [
            (inner, 1.0),
            (corners[0], -u),
            (corners[1], -v),
            (corners[2], -w),
        ];
        self.touch(parts, normal, way)
    }

    /// Slides an edge along a direction on a face, or against it.
    fn along(&self, cut: &Cut, direction: DVec3) -> Option<Touch> {
        let normal = if cut.curve == 0 {
            direction
        } else {
            -direction
        };
        let ends = self.mesh.edges()[cut.edge as usize];
        let corners = self.mesh.triangles()[cut.face as usize];
        let end = usize::from(cut.along > 0.5);
        // A touch has four vertices: the nearer end stands for the edge, the
        // two nearer corners for the face.
        let mut order = [0, 1, 2];
        order.sort_by(|i, j| cut.barycentric[*j].total_cmp(&cut.barycentric[*i]));
        let [i, j, _] = order;
        let sum = cut.barycentric[i] + cut.barycentric[j];
        let shares = [i, j].map(|k| cut.barycentric[k] / sum);
        let parts = [
            (ends[end], 1.0),
            (corners[i], -shares[0]),
            (corners[j], -shares[1]),
            (corners[j], 0.0),
        ];
        self.touch(parts, normal, WAY_OUT * self.dt)
    }

    /// Moves what `parts` weigh by `way` [m] along a direction; none when all
    /// of it is held, or there is no direction.
    fn touch(&self, parts: [(u32, f64); 4], normal: DVec3, way: f64) -> Option<Touch> {
        let inverse: f64 = parts
            .iter()
            .map(|(v, w)| w * w * self.inverse_masses[*v as usize])
            .sum();
        if inverse <= 0.0 || normal == DVec3::ZERO {
            return None;
        }
        let point: DVec3 = parts.iter().map(|(v, w)| self.x[*v as usize] * *w).sum();
        Some(Touch {
            vertices: parts.map(|p| p.0),
            weights: parts.map(|p| p.1),
            n_vertices: 4,
            normal,
            level: normal.dot(point),
            offset: way,
            softness: SOFTNESS * way,
            stiffness: STIFFNESS / (inverse * self.dt * self.dt),
            friction: None,
        })
    }
}
