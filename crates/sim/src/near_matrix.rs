//! The Hessian of an objective in f32, row by row: [`NearMatrix`], 3 × 3 blocks
//! between vertices of one triangle, and beside them numbers for pairs that
//! only bending joins.
//!
//! Assembly gathers: each triangle's six blocks are computed once, then each
//! row adds up its own in a fixed order, so any number of threads gives the
//! same bytes.

use glam::{DVec3, Mat3A, Vec3, Vec3A};
use rayon::prelude::*;

use crate::membrane::positive_part;
use crate::objective::Evaluation;
use crate::reduction::CHUNK;
use crate::{Cloth, Objective};

/// The six blocks of a triangle as pairs of corners.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)];

/// The Hessian of an objective.
#[derive(Clone, Debug)]
pub(crate) struct NearMatrix {
    starts: Vec<u32>,
    columns: Vec<u32>,
    /// The place of each row's diagonal.
    diagonals: Vec<u32>,
    /// Where the sources of each block start.
    source_starts: Vec<u32>,
    /// 2 · (6 · triangle + pair), plus one when it is to be transposed.
    sources: Vec<u32>,
    elements: Vec<[Mat3A; 6]>,
    blocks: Vec<Mat3A>,
    /// Bending between vertices of one triangle, shape [block].
    near_bending: Vec<f32>,
    far_starts: Vec<u32>,
    /// Bending between others.
    far: Vec<(u32, f32)>,
    /// What bending counts for, of each piece.
    far_factors: Vec<f32>,
    /// The piece of each vertex.
    piece_of: Vec<u16>,
    /// Contacts of more than one vertex, not all of one triangle.
    touches: Vec<TouchBlock>,
    held: Vec<bool>,
}

/// The Hessian of a contact: w_a w_b times one block between its vertices.
#[derive(Clone, Copy, Debug)]
struct TouchBlock {
    vertices: [u32; 4],
    /// Zero beyond the vertices that count.
    weights: [f32; 4],
    block: Mat3A,
}

impl NearMatrix {
    pub(crate) fn new(cloth: &Cloth) -> Self {
        let n = cloth.n_vertices();
        let triangles = cloth.membrane().triangles();
        let mut all: Vec<(u32, u32, u32)> = (0..n as u32).map(|v| (v, v, u32::MAX)).collect();
        for (triangle, vertices) in triangles.iter().enumerate() {
            for (pair, (a, b)) in PAIRS.into_iter().enumerate() {
                let source = 2 * (6 * triangle as u32 + pair as u32);
                all.push((vertices[a], vertices[b], source));
                if a != b {
                    all.push((vertices[b], vertices[a], source + 1));
                }
            }
        }
        all.sort_unstable();
        let mut starts = vec![0; n + 1];
        let (mut columns, mut source_starts, mut sources) = (Vec::new(), vec![0], Vec::new());
        let mut diagonals = vec![0; n];
        for same in all.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
            let (row, column, _) = same[0];
            if row == column {
                diagonals[row as usize] = columns.len() as u32;
            }
            starts[row as usize + 1] += 1;
            columns.push(column);
            sources.extend(same.iter().map(|s| s.2).filter(|s| *s != u32::MAX));
            source_starts.push(sources.len() as u32);
        }
        for row in 0..n {
            starts[row + 1] += starts[row];
        }
        let bending = cloth.bending().matrix();
        let mut far_starts = vec![0];
        let mut far = Vec::new();
        let mut near_bending = vec![0.0; columns.len()];
        for row in 0..n {
            let start = starts[row] as usize;
            let near = &columns[start..starts[row + 1] as usize];
            for at in bending.row(row) {
                let (column, value) = (bending.columns()[at], bending.values()[at] as f32);
                match near.binary_search(&column) {
                    Ok(place) => near_bending[start + place] = value,
                    Err(_) => far.push((column, value)),
                }
            }
            far_starts.push(far.len() as u32);
        }
        Self {
            blocks: vec![Mat3A::ZERO; columns.len()],
            elements: vec![[Mat3A::ZERO; 6]; triangles.len()],
            held: vec![false; n],
            touches: Vec::new(),
            far_factors: vec![1.0; cloth.pieces().len()],
            piece_of: cloth.piece_of().to_vec(),
            starts,
            columns,
            diagonals,
            source_starts,
            sources,
            near_bending,
            far_starts,
            far,
        }
    }

    /// The pairs of vertices that share a block, as (row, column).
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.diagonals.len() as u32).flat_map(move |row| {
            let entries = self.starts[row as usize]..self.starts[row as usize + 1];
            entries.map(move |at| (row, self.columns[at as usize]))
        })
    }

    /// The blocks of a row, each with its column.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, &Mat3A)> + '_ {
        let entries = self.starts[row] as usize..self.starts[row + 1] as usize;
        let columns = self.columns[entries.clone()].iter();
        columns
            .map(|column| *column as usize)
            .zip(&self.blocks[entries])
    }

    /// The sum of the sizes of a row's entries beyond its blocks.
    pub(crate) fn far_weight(&self, row: usize) -> f32 {
        let far = self.far_starts[row] as usize..self.far_starts[row + 1] as usize;
        self.far_factor(row) * self.far[far].iter().map(|(_, v)| v.abs()).sum::<f32>()
    }

    fn far_factor(&self, vertex: usize) -> f32 {
        self.far_factors[usize::from(self.piece_of[vertex])]
    }

    /// Sums the Hessian at `x`, where the objective was evaluated.
    pub(crate) fn assemble(&mut self, objective: &Objective<'_>, x: &[DVec3], at: &Evaluation) {
        self.stretch(objective, x, at);
        self.gather(objective, at);
    }

    /// The blocks of the triangles at `x`.
    fn stretch(&mut self, objective: &Objective<'_>, x: &[DVec3], at: &Evaluation) {
        let membrane = objective.cloth.membrane();
        let rate = objective.strain_rate();
        debug_assert_eq!(at.deformations.len(), self.elements.len());
        self.elements
            .par_chunks_mut(CHUNK)
            .enumerate()
            .for_each(|(chunk, elements)| {
                for (i, element) in elements.iter_mut().enumerate() {
                    let triangle = chunk * CHUNK + i;
                    let at = membrane.strained(triangle, x, rate);
                    let tangent = membrane.tangent(triangle, &at, positive_part);
                    let [u, v] = at.deformation.map(|f| Vec3A::from(f.as_vec3()));
                    let (uu, uv, vv) = (outer(u, u), outer(u, v), outer(v, v));
                    let vu = uv.transpose();
                    let block = |a: usize, b: usize| {
                        let c = tangent.coefficients(a, b).map(|c| c as f32);
                        uu * c[0]
                            + uv * c[1]
                            + vu * c[2]
                            + vv * c[3]
                            + Mat3A::from_diagonal(Vec3::splat(c[4]))
                    };
                    let (bb, cc, bc) = (block(1, 1), block(2, 2), block(1, 2));
                    // Moving a triangle as a whole takes no force.
                    let cb = bc.transpose();
                    let (ab, ca) = (-(bb + cb), -(cc + cb));
                    let aa = -(ab + ca.transpose());
                    *element = [aa, bb, cc, ab, bc, ca];
                }
            });
    }

    /// Sums all blocks, those of the triangles as they were made last.
    pub(crate) fn gather(&mut self, objective: &Objective<'_>, at: &Evaluation) {
        let factors = objective.bending_factors().into_iter();
        self.far_factors = factors.map(|factor| factor as f32).collect();
        self.held.copy_from_slice(objective.held);
        let Self {
            elements,
            blocks,
            source_starts,
            sources,
            near_bending,
            far_factors,
            piece_of,
            columns,
            ..
        } = self;
        blocks
            .par_chunks_mut(8 * CHUNK)
            .enumerate()
            .for_each(|(chunk, blocks)| {
                for (i, block) in blocks.iter_mut().enumerate() {
                    let place = 8 * CHUNK * chunk + i;
                    let from = source_starts[place] as usize..source_starts[place + 1] as usize;
                    // Rows and columns of a block are of one piece.
                    let piece = usize::from(piece_of[columns[place] as usize]);
                    let bending = near_bending[place] * far_factors[piece];
                    let mut sum = Mat3A::from_diagonal(Vec3::splat(bending));
                    for source in &sources[from] {
                        let element = &elements[(source / 12) as usize][(source / 2 % 6) as usize];
                        sum += match source % 2 {
                            0 => *element,
                            _ => element.transpose(),
                        };
                    }
                    *block = sum;
                }
            });
        for (vertex, place) in self.diagonals.iter().enumerate() {
            let weight = objective.weight(vertex) as f32;
            self.blocks[*place as usize] += Mat3A::from_diagonal(Vec3::splat(weight));
        }
        for spring in objective.springs {
            let place = self.diagonals[spring.vertex as usize] as usize;
            self.blocks[place] += Mat3A::from(spring.stiffness.as_mat3());
        }
        self.touches.clear();
        for (touch, hessian) in objective.touches.iter().zip(&at.touch_hessians) {
            let n = touch.n_vertices;
            let block = Mat3A::from(hessian.as_mat3());
            let mut weights = [0.0; 4];
            for (k, (vertex, weight)) in touch.parts().enumerate() {
                weights[k] = weight as f32;
                self.blocks[self.diagonals[vertex] as usize] += block * (weights[k] * weights[k]);
            }
            if touch.n_vertices > 1 && block != Mat3A::ZERO {
                let touch = TouchBlock {
                    vertices: touch.vertices,
                    weights,
                    block,
                };
                if !self.join(&touch, usize::from(n)) {
                    self.touches.push(touch);
                }
            }
        }
    }

    /// Adds what a contact has between its first `n` vertices to the blocks, if
    /// they are all of one triangle; whether they are.
    fn join(&mut self, touch: &TouchBlock, n: usize) -> bool {
        let mut places = [(0, 0.0); 12];
        let mut n_places = 0;
        for a in 0..n {
            let row = touch.vertices[a] as usize;
            let entries = self.starts[row] as usize..self.starts[row + 1] as usize;
            for b in (0..n).filter(|b| *b != a) {
                let columns = &self.columns[entries.clone()];
                let Ok(place) = columns.binary_search(&touch.vertices[b]) else {
                    return false;
                };
                let weight = touch.weights[a] * touch.weights[b];
                places[n_places] = (entries.start + place, weight);
                n_places += 1;
            }
        }
        for &(place, weight) in &places[..n_places] {
            self.blocks[place] += touch.block * weight;
        }
        true
    }

    /// out = H x for x that is zero where vertices are held; gives x · out.
    pub(crate) fn multiply(&self, x: &[Vec3A], out: &mut [Vec3A]) -> f64 {
        let parts: Vec<f64> = out
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(chunk, out)| {
                let mut part = 0.0;
                for (i, y) in out.iter_mut().enumerate() {
                    let row = chunk * CHUNK + i;
                    if self.held[row] {
                        *y = Vec3A::ZERO;
                        continue;
                    }
                    *y = self.row_times(row, x);
                    part += f64::from(y.dot(x[row]));
                }
                part
            })
            .collect();
        let mut sum: f64 = parts.iter().sum();
        for touch in &self.touches {
            let at = touch.vertices.map(|v| v as usize);
            let mut moved = Vec3A::ZERO;
            for (vertex, weight) in at.into_iter().zip(touch.weights) {
                moved += x[vertex] * weight;
            }
            let force = touch.block * moved;
            for (vertex, weight) in at.into_iter().zip(touch.weights) {
                if weight != 0.0 && !self.held[vertex] {
                    // The diagonal is in the blocks already.
                    let own = touch.block * (x[vertex] * weight);
                    let more = (force - own) * weight;
                    out[vertex] += more;
                    sum += f64::from(more.dot(x[vertex]));
                }
            }
        }
        sum
    }

    fn row_times(&self, row: usize, x: &[Vec3A]) -> Vec3A {
        let far = self.far_starts[row] as usize..self.far_starts[row + 1] as usize;
        // Sums run side by side, so that none waits for the last addition.
        let far = self.far[far].chunks_exact(4);
        let mut sums = [Vec3A::ZERO; 4];
        for (column, value) in far.remainder() {
            sums[3] += x[*column as usize] * *value;
        }
        for entries in far {
            for (sum, (column, value)) in sums.iter_mut().zip(entries) {
                *sum += x[*column as usize] * *value;
            }
        }
        let factor = self.far_factor(row);
        let mut sums = [
            (sums[0] + sums[1]) * factor,
            (sums[2] + sums[3]) * factor,
            Vec3A::ZERO,
        ];
        let near = self.starts[row] as usize..self.starts[row + 1] as usize;
        for (column, block) in self.columns[near.clone()].iter().zip(&self.blocks[near]) {
            let x = x[*column as usize];
            sums[0] += block.x_axis * x.x;
            sums[1] += block.y_axis * x.y;
            sums[2] += block.z_axis * x.z;
        }
        (sums[0] + sums[1]) + sums[2]
    }
}

/// a bᵀ.
fn outer(a: Vec3A, b: Vec3A) -> Mat3A {
    Mat3A::from_cols(a * b.x, a * b.y, a * b.z)
}
