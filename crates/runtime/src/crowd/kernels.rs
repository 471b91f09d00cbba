//! The two products of a crowd, for sixteen characters at once.
//!
//! A [`Row`] is one number of sixteen characters, and a vector of theirs a slice
//! of rows. [`Columns`] multiplies such vectors by a matrix, characters side by
//! side in the lanes, so that what comes out is what the next product takes:
//!
//! ```text
//! out[c] = Σₖ W[c, k] in[k]
//! ```
//!
//! [`Panels`] goes from coefficients to vertices. There the lanes are vertices:
//! sixteen of them are a panel, x, y and z apart, so that the turn to the world is
//! made while they are in registers and x, y, z are woven together as they are
//! written.
//!
//! ```text
//! [x y z] = μ + Σₖ Λₖ yₖ,    out = [ c x + s z + pₓ,  y + p_y,  c z − s x + p_z ]
//! ```
//!
//! Every character has lanes or rows of its own and sums in the order of k: what
//! comes out of it does not depend on who is beside it. How many lanes the machine
//! has is found out once, by [`widest`].

use alloc::vec;
use alloc::vec::Vec;

use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch};

/// How many characters are side by side.
pub(crate) const RANK: usize = 16;

/// How many are reconstructed at a time: with three accumulators each they just
/// fit the registers of AVX-512.
pub(crate) const TILE: usize = 8;

/// One number of each character of a rank.
pub(crate) type Row = [f32; RANK];

/// Where canonical space lies in the world: cosine and sine of the heading, root
/// position [m].
pub(crate) type Placement = [f32; 5];

/// The widest vectors that are to be had.
pub(crate) fn widest() -> Level {
    #[cfg(feature = "detect")]
    return Level::new();
    #[cfg(not(feature = "detect"))]
    return Level::baseline();
}

/// A matrix for vectors of rows.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    n_out: usize,
    /// The first input of each panel that is not 0 for all its outputs.
    first: Vec<usize>,
    /// Shape [panel, input, 16 outputs], beyond the last one 0.
    weights: Vec<[f32; RANK]>,
    n_in: usize,
}

impl Columns {
    /// A matrix by columns, shape [input, output].
    pub(crate) fn new(columns: &[f32], n_out: usize) -> Self {
        let n_in = columns.len().checked_div(n_out).unwrap_or(0);
        let n_panels = n_out.div_ceil(RANK);
        let mut weights = vec![[0.0; RANK]; n_panels * n_in];
        for (input, column) in columns.chunks_exact(n_out.max(1)).enumerate() {
            for (panel, part) in column.chunks(RANK).enumerate() {
                weights[panel * n_in + input][..part.len()].copy_from_slice(part);
            }
        }
        let is_empty = |row: &&[f32; RANK]| row.iter().all(|w| *w == 0.0);
        let panels = weights.chunks(n_in.max(1));
        let first = panels.map(|panel| panel.iter().take_while(is_empty).count());
        Self {
            n_out,
            first: first.collect(),
            weights,
            n_in,
        }
    }

    /// How many numbers come out.
    pub(crate) const fn n_out(&self) -> usize {
        self.n_out
    }

    /// Writes the product of the matrix and a vector of rows.
    pub(crate) fn apply(&self, level: Level, inputs: &[Row], out: &mut [Row]) {
        assert_eq!(inputs.len(), self.n_in, "one row an input");
        assert_eq!(out.len(), self.n_out, "one row an output");
        if self.n_in == 0 {
            out.fill([0.0; RANK]);
            return;
        }
        dispatch!(level, simd => apply(simd, self, inputs, out));
    }
}

#[inline(always)]
fn apply<S: Simd>(simd: S, columns: &Columns, inputs: &[Row], out: &mut [Row]) {
    // As many accumulators as there are registers for.
    match S::f32s::LEN {
        16 => apply_by::<S, 16, 1>(simd, columns, inputs, out),
        8 => apply_by::<S, 4, 2>(simd, columns, inputs, out),
        _ => apply_by::<S, 2, 4>(simd, columns, inputs, out),
    }
}

/// T outputs at a time, V vectors a row.
#[inline(always)]
fn apply_by<S: Simd, const T: usize, const V: usize>(
    simd: S,
    columns: &Columns,
    inputs: &[Row],
    out: &mut [Row],
) {
    let panels = columns.weights.chunks_exact(columns.n_in);
    let panels = panels.zip(&columns.first).zip(out.chunks_mut(RANK));
    for ((weights, first), out) in panels {
        let (weights, inputs) = (&weights[*first..], &inputs[*first..]);
        for (tile, out) in out.chunks_mut(T).enumerate() {
            let mut sums = [[S::f32s::splat(simd, 0.0); V]; T];
            for (row, weights) in inputs.iter().zip(weights) {
                let mut x = [S::f32s::splat(simd, 0.0); V];
                for (v, x) in x.iter_mut().enumerate() {
                    *x = S::f32s::from_slice(simd, &row[v * RANK / V..(v + 1) * RANK / V]);
                }
                let weights = &weights[tile * T..(tile + 1) * T];
                for t in 0..T {
                    let weight = S::f32s::splat(simd, weights[t]);
                    for v in 0..V {
                        sums[t][v] = weight.mul_add(x[v], sums[t][v]);
                    }
                }
            }
            for (sums, out) in sums.iter().zip(out) {
                for (v, sum) in sums.iter().enumerate() {
                    sum.store_slice(&mut out[v * RANK / V..(v + 1) * RANK / V]);
                }
            }
        }
    }
}

/// The mean garment and its components, sixteen vertices at a time.
#[derive(Clone, Debug)]
pub(crate) struct Panels {
    n_vertices: usize,
    n_cloth: usize,
    /// Shape [panel, mean and components, xyz, 16 vertices].
    values: Vec<[[f32; RANK]; 3]>,
}

impl Panels {
    /// Of the mean [m], shape [vertex, 3], and components, shape [cloth, vertex, 3].
    pub(crate) fn new(mean: &[f32], basis: &[f32], n_cloth: usize) -> Self {
        let n_vertices = mean.len() / 3;
        let n_panels = n_vertices.div_ceil(RANK);
        let mut values = vec![[[0.0; RANK]; 3]; n_panels * (n_cloth + 1)];
        let all = core::iter::once(mean).chain(basis.chunks_exact(mean.len().max(1)));
        for (k, positions) in all.take(n_cloth + 1).enumerate() {
            for (vertex, position) in positions.as_chunks::<3>().0.iter().enumerate() {
                let panel = &mut values[vertex / RANK * (n_cloth + 1) + k];
                for (axis, value) in position.iter().enumerate() {
                    panel[axis][vertex % RANK] = *value;
                }
            }
        }
        Self {
            n_vertices,
            n_cloth,
            values,
        }
    }

    /// Writes the garments [m] of eight characters of a rank from `first` on, shape
    /// [character, vertex, 3], in the world.
    pub(crate) fn apply(
        &self,
        level: Level,
        cloth: &[Row],
        first: usize,
        placements: &[Placement; TILE],
        out: &mut [f32],
    ) {
        assert_eq!(cloth.len(), self.n_cloth, "one row a coefficient");
        assert_eq!(out.len(), TILE * 3 * self.n_vertices, "room for eight");
        assert!(first + TILE <= RANK, "characters of this rank");
        dispatch!(level, simd => place(simd, self, cloth, first, placements, out));
    }
}

#[inline(always)]
fn place<S: Simd>(
    simd: S,
    panels: &Panels,
    cloth: &[Row],
    first: usize,
    placements: &[Placement; TILE],
    out: &mut [f32],
) {
    // Twelve accumulators and their operands don't fit sixteen registers.
    match S::f32s::LEN {
        16 => place_by::<S, 8, 16>(simd, panels, cloth, first, placements, out),
        8 => place_by::<S, 2, 8>(simd, panels, cloth, first, placements, out),
        _ => place_by::<S, 2, 4>(simd, panels, cloth, first, placements, out),
    }
}

/// M characters at a time, L lanes.
#[inline(always)]
fn place_by<S: Simd, const M: usize, const L: usize>(
    simd: S,
    panels: &Panels,
    cloth: &[Row],
    first: usize,
    placements: &[Placement; TILE],
    out: &mut [f32],
) {
    let n_vertices = panels.n_vertices;
    for (index, panel) in panels.values.chunks_exact(panels.n_cloth + 1).enumerate() {
        for lane in (0..RANK).step_by(L) {
            let vertex = (index * RANK + lane).min(n_vertices);
            for from in (0..TILE).step_by(M) {
                let sums = sums::<S, M, L>(simd, panel, lane, cloth, first + from);
                let rows = out[from * 3 * n_vertices..].chunks_exact_mut(3 * n_vertices);
                let characters = sums.into_iter().zip(&placements[from..from + M]);
                for ((local, placement), out) in characters.zip(rows) {
                    let points = to_world::<S, L>(simd, local, placement);
                    let out = &mut out.as_chunks_mut::<3>().0[vertex..];
                    match out.first_chunk_mut::<L>() {
                        Some(out) => *out = points,
                        None => {
                            let n = out.len();
                            out.copy_from_slice(&points[..n]);
                        }
                    }
                }
            }
        }
    }
}

/// μ + Σₖ Λₖ yₖ of L vertices of M characters.
#[inline(always)]
fn sums<S: Simd, const M: usize, const L: usize>(
    simd: S,
    panel: &[[[f32; RANK]; 3]],
    lane: usize,
    cloth: &[Row],
    first: usize,
) -> [[S::f32s; 3]; M] {
    let load = |xyz: &[[f32; RANK]; 3]| -> [S::f32s; 3] {
        let [x, y, z] = xyz;
        [
            S::f32s::from_slice(simd, &x[lane..lane + L]),
            S::f32s::from_slice(simd, &y[lane..lane + L]),
            S::f32s::from_slice(simd, &z[lane..lane + L]),
        ]
    };
    let mut sums = [load(&panel[0]); M];
    for (row, component) in cloth.iter().zip(&panel[1..]) {
        let coefficients = &row[first..first + M];
        let component = load(component);
        for m in 0..M {
            let y = S::f32s::splat(simd, coefficients[m]);
            for axis in 0..3 {
                sums[m][axis] = y.mul_add(component[axis], sums[m][axis]);
            }
        }
    }
    sums
}

/// Turned by the heading, moved to the root, and woven together.
#[inline(always)]
fn to_world<S: Simd, const L: usize>(
    simd: S,
    [x, y, z]: [S::f32s; 3],
    placement: &Placement,
) -> [[f32; 3]; L] {
    let [cosine, sine, right, up, ahead] = placement.map(|value| S::f32s::splat(simd, value));
    let world_x = cosine.mul_add(x, sine.mul_add(z, right));
    let world_y = y + up;
    let world_z = cosine.mul_add(z, (-sine).mul_add(x, ahead));
    let (x, y, z) = (world_x.as_slice(), world_y.as_slice(), world_z.as_slice());
    let mut points = [[0.0; 3]; L];
    for i in 0..L {
        points[i] = [x[i], y[i], z[i]];
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that this machine has, from the plainest on.
    fn levels() -> Vec<Level> {
        let mut levels = vec![Level::baseline()];
        #[cfg(all(feature = "detect", target_arch = "x86_64"))]
        levels.extend(Level::new().as_avx2().map(|avx2| avx2.level()));
        levels.push(widest());
        levels
    }

    fn numbers(n: usize, seed: usize) -> Vec<f32> {
        let number = |i: usize| ((i * 7919 + seed * 104_729) % 2003) as f32 / 1001.0 - 1.0;
        (0..n).map(number).collect()
    }

    fn rows(n: usize, seed: usize) -> Vec<Row> {
        numbers(n * RANK, seed).as_chunks::<RANK>().0.to_vec()
    }

    #[test]
    fn products_are_those_of_f64_whatever_the_sizes_and_the_machine() {
        for (n_in, n_out) in [
            (1, 1),
            (7, 16),
            (33, 17),
            (288, 64),
            (5, 31),
            (0, 3),
            (4, 0),
        ] {
            let mut columns = numbers(n_in * n_out, n_in);
            // Leading zeros are left out, and don't count.
            for (input, column) in columns.chunks_mut(n_out.max(1)).enumerate() {
                column.iter_mut().skip(input + 3).for_each(|w| *w = 0.0);
            }
            let (matrix, inputs) = (Columns::new(&columns, n_out), rows(n_in, 3));
            for level in levels() {
                let mut out = vec![[f32::NAN; RANK]; n_out];
                if n_out > 0 {
                    matrix.apply(level, &inputs, &mut out);
                }
                for (c, row) in out.iter().enumerate() {
                    for (lane, found) in row.iter().enumerate() {
                        let products = (0..n_in).map(|k| {
                            f64::from(columns[k * n_out + c]) * f64::from(inputs[k][lane])
                        });
                        let apart = f64::from(*found) - products.sum::<f64>();
                        assert!(apart.abs() < 2e-5, "{n_in} × {n_out}: {apart}");
                    }
                }
            }
        }
    }

    #[test]
    fn garments_stand_where_their_characters_do_whatever_the_machine() {
        for (n_vertices, n_cloth) in [(1, 1), (16, 3), (61, 64), (33, 0)] {
            let mean = numbers(3 * n_vertices, 1);
            let basis = numbers(3 * n_vertices * n_cloth, 2);
            let panels = Panels::new(&mean, &basis, n_cloth);
            let cloth = rows(n_cloth, 5);
            let placement = |m: usize| {
                let heading = 0.7 * m as f32 - 2.0;
                let (sine, cosine) = (libm::sinf(heading), libm::cosf(heading));
                [cosine, sine, m as f32, 1.0, -3.0 * m as f32]
            };
            let placements = core::array::from_fn(placement);
            for level in levels() {
                let mut out = vec![f32::NAN; TILE * 3 * n_vertices];
                panels.apply(level, &cloth, 8, &placements, &mut out);
                for (i, found) in out.as_chunks::<3>().0.iter().enumerate() {
                    let (m, vertex) = (i / n_vertices, i % n_vertices);
                    let local = |axis: usize| -> f64 {
                        let at = 3 * vertex + axis;
                        let terms = (0..n_cloth).map(|k| {
                            let weight = basis[k * 3 * n_vertices + at];
                            f64::from(weight) * f64::from(cloth[k][8 + m])
                        });
                        f64::from(mean[at]) + terms.sum::<f64>()
                    };
                    let [c, s, px, py, pz] = placements[m].map(f64::from);
                    let expected = [
                        c * local(0) + s * local(2) + px,
                        local(1) + py,
                        c * local(2) - s * local(0) + pz,
                    ];
                    for (found, expected) in found.iter().zip(expected) {
                        let apart = f64::from(*found) - expected;
                        assert!(apart.abs() < 2e-5, "character {m}, vertex {vertex}");
                    }
                }
            }
        }
    }
}
