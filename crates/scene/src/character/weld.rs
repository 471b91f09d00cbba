//! Sewing a mesh back together along its texture seams.
//!
//! Files give a vertex once for every texture coordinate and normal it has, so
//! that a closed body arrives cut open along its seams. Copies of a vertex are
//! equal to the bit in all that matters here (position, weights, morph
//! displacements): programs write them from one vertex. So equality is exact;
//! a tolerance would join vertices that merely lie close, and its result would
//! depend on their order.
//!
//! Being equal is not enough: closed lips and doubled layers have vertices in
//! one place that must not be joined. What a seam leaves behind is a pair of
//! border edges, so edges are sewn rather than vertices:
//!
//! 1. An edge with one triangle that runs from a to b is sewn to one that runs
//!    from a copy of b to a copy of a when each is the only such edge. Where
//!    there are several, nothing says which belong together, and they stay open.
//! 2. Two triangles with the same three places are the two sides of a doubled
//!    sheet and are not sewn to one another.
//! 3. Vertices without a triangle join their first copy.
//! 4. If all this gave an edge more than two triangles, the vertices on it are
//!    left as they were in the file and the rest is done anew.
//!
//! Triangles with two corners in one place have no area in any pose and are
//! dropped. Welded vertices are numbered in the order in which they first
//! occur in the file.

use std::collections::{BTreeMap, HashMap, HashSet};

use drapery_core::{Edge, Topology, UnionFind};
use glam::Vec3;

use super::WeldMap;

/// A mesh sewn along its seams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weld {
    /// Where the vertices of the file went.
    pub map: WeldMap,
    /// The triangles with welded vertices, in the file's order, flat ones left out.
    pub triangles: Vec<[u32; 3]>,
    /// Border edges that were left open because several could be sewn to them.
    pub n_ambiguous: usize,
    /// Triangles that were dropped.
    pub n_flat: usize,
}

/// How often step 4 is done before nothing is welded at all.
const MAX_ROUNDS: usize = 16;

/// How many vertices at one place are told apart; any more are copies of
/// nothing. Keeps a mesh with all vertices in one place from taking for ever.
const MAX_FIRSTS: usize = 64;

/// For every vertex the first one that it is a copy of: at the same place, and
/// `equal` in all else. `equal` must be an equivalence.
pub fn seam_copies(positions: &[Vec3], equal: impl Fn(usize, usize) -> bool) -> Vec<u32> {
    let mut at_place: HashMap<[u32; 3], Vec<usize>> = HashMap::with_capacity(positions.len());
    positions
        .iter()
        .enumerate()
        .map(|(vertex, position)| {
            // Adding 0 turns −0 into 0.
            let place = position.to_array().map(|x| (x + 0.0).to_bits());
            let firsts = at_place.entry(place).or_default();
            match firsts.iter().find(|&&first| equal(first, vertex)) {
                Some(&first) => first as u32,
                None => {
                    if firsts.len() < MAX_FIRSTS {
                        firsts.push(vertex);
                    }
                    vertex as u32
                }
            }
        })
        .collect()
}

/// Sews a mesh along its seams; `copy_of` is what [`seam_copies`] found.
///
/// # Panics
/// When a triangle names a vertex that `copy_of` does not have.
pub fn weld_seams(triangles: &[[u32; 3]], copy_of: &[u32]) -> Weld {
    let place = |v: u32| copy_of[v as usize];
    let kept: Vec<[u32; 3]> = triangles
        .iter()
        .copied()
        .filter(|&t| {
            let [a, b, c] = t.map(place);
            a != b && b != c && c != a
        })
        .collect();
    let n_flat = triangles.len() - kept.len();
    let seams = Seams::new(&kept, copy_of);

    let mut frozen = vec![false; copy_of.len()];
    for _ in 0..MAX_ROUNDS {
        let (root, n_ambiguous) = seams.sew(&frozen);
        let crowded = seams.crowded(&root);
        if crowded.is_empty() {
            return numbered(&kept, &root, n_ambiguous, n_flat);
        }
        for (vertex, first) in root.iter().enumerate() {
            frozen[vertex] |= crowded.contains(first);
        }
    }
    let apart: Vec<u32> = (0..copy_of.len() as u32).collect();
    numbered(&kept, &apart, 0, n_flat)
}

/// The edges of a mesh, and its borders by the places they run between.
struct Seams<'a> {
    copy_of: &'a [u32],
    edges: Vec<Edge>,
    /// Places (low, high) to edges (from, to, triangle) that run up and down.
    borders: BTreeMap<(u32, u32), [Vec<[u32; 3]>; 2]>,
    triangles: &'a [[u32; 3]],
    used: Vec<bool>,
}

impl<'a> Seams<'a> {
    fn new(triangles: &'a [[u32; 3]], copy_of: &'a [u32]) -> Self {
        let topology = Topology::new(copy_of.len() as u32, triangles.to_vec())
            .expect("the caller promises vertices in range");
        let mut borders: BTreeMap<(u32, u32), [Vec<[u32; 3]>; 2]> = BTreeMap::new();
        let edges = topology.edges();
        for edge in edges.iter().filter(|e| e.is_border()) {
            let [low, high] = edge.vertices;
            let (from, to) = if edge.n_forward == 1 {
                (low, high)
            } else {
                (high, low)
            };
            let (a, b) = (copy_of[from as usize], copy_of[to as usize]);
            let entry = borders.entry((a.min(b), a.max(b))).or_default();
            entry[usize::from(a > b)].push([from, to, edge.triangle]);
        }
        let mut used = vec![false; copy_of.len()];
        for &v in triangles.iter().flatten() {
            used[v as usize] = true;
        }
        Self {
            copy_of,
            edges,
            borders,
            triangles,
            used,
        }
    }

    /// The first vertex that each is joined to, and how many edges could not
    /// be decided. Frozen vertices are joined to nothing.
    fn sew(&self, frozen: &[bool]) -> (Vec<u32>, usize) {
        let mut sets = UnionFind::new(self.copy_of.len() as u32);
        let mut n_ambiguous = 0;
        let mut join = |p: u32, q: u32| {
            if !frozen[p as usize] && !frozen[q as usize] {
                sets.join(p, q);
            }
        };
        for [up, down] in self.borders.values() {
            match (up.as_slice(), down.as_slice()) {
                ([], _) | (_, []) => {}
                (&[[from, to, one]], &[[back_from, back_to, other]]) => {
                    if self.places(one) != self.places(other) {
                        join(from, back_to);
                        join(to, back_from);
                    }
                }
                _ => n_ambiguous += up.len() + down.len(),
            }
        }
        // A first copy without a triangle gives way to the first that has one.
        let mut first_used = vec![u32::MAX; self.copy_of.len()];
        for vertex in (0..self.copy_of.len()).rev().filter(|&v| self.used[v]) {
            first_used[self.copy_of[vertex] as usize] = vertex as u32;
        }
        for vertex in (0..self.copy_of.len()).filter(|&v| !self.used[v]) {
            let first = self.copy_of[vertex];
            let used = first_used[first as usize];
            join(vertex as u32, if used == u32::MAX { first } else { used });
        }
        (sets.into_names(), n_ambiguous)
    }

    /// First vertices of the edges that have more than two triangles because
    /// of the sewing.
    fn crowded(&self, root: &[u32]) -> HashSet<u32> {
        // Triangles on the welded edge, and on the fullest of the file's edges in it.
        let mut counts: HashMap<[u32; 2], (u32, u32)> = HashMap::with_capacity(self.edges.len());
        for edge in &self.edges {
            let mut ends = edge.vertices.map(|v| root[v as usize]);
            ends.sort_unstable();
            let (total, fullest) = counts.entry(ends).or_default();
            *total += edge.n_triangles;
            *fullest = edge.n_triangles.max(*fullest);
        }
        counts
            .iter()
            .filter(|(_, (total, fullest))| *total > 2 && total > fullest)
            .flat_map(|(ends, _)| *ends)
            .collect()
    }

    fn places(&self, triangle: u32) -> [u32; 3] {
        let mut places = self.triangles[triangle as usize].map(|v| self.copy_of[v as usize]);
        places.sort_unstable();
        places
    }
}

/// Numbers the vertices that are left by their first occurrence.
fn numbered(triangles: &[[u32; 3]], root: &[u32], n_ambiguous: usize, n_flat: usize) -> Weld {
    let mut number = vec![0; root.len()];
    let mut n_welded = 0;
    for (vertex, &first) in root.iter().enumerate() {
        // The root is the smallest of its kind, so its number is known by now.
        number[vertex] = if first as usize == vertex {
            n_welded += 1;
            n_welded - 1
        } else {
            number[first as usize]
        };
    }
    Weld {
        triangles: triangles
            .iter()
            .map(|t| t.map(|v| number[v as usize]))
            .collect(),
        map: WeldMap::new(number),
        n_ambiguous,
        n_flat,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sews a mesh whose vertices differ in nothing but place.
    fn sewn(positions: &[Vec3], triangles: &[[u32; 3]]) -> Weld {
        weld_seams(triangles, &seam_copies(positions, |_, _| true))
    }

    fn topology(weld: &Weld) -> Topology {
        Topology::new(weld.map.n_welded() as u32, weld.triangles.clone()).unwrap()
    }

    /// A mesh in which every triangle has corners of its own.
    fn taken_apart(positions: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let corners = triangles.iter().flatten();
        let apart = corners.map(|&v| positions[v as usize]).collect();
        let n = triangles.len() as u32;
        (
            apart,
            (0..n).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
        )
    }

    fn octahedron() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        (
            vec![Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z],
            vec![
                [0, 1, 2],
                [1, 3, 2],
                [3, 4, 2],
                [4, 0, 2],
                [1, 0, 5],
                [3, 1, 5],
                [4, 3, 5],
                [0, 4, 5],
            ],
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_closed_mesh_closes_again_however_its_corners_are_split(
            keep in proptest::collection::vec(0u32..3, 24)
        ) {
            let (positions, triangles) = octahedron();
            // Every corner uses one of three copies of its vertex.
            let mut split = Vec::new();
            let mut corners = Vec::new();
            for (corner, &v) in triangles.iter().flatten().enumerate() {
                let copy = v + 6 * keep[corner];
                let at = split.iter().position(|&s| s == copy).unwrap_or_else(|| {
                    split.push(copy);
                    split.len() - 1
                });
                corners.push(at as u32);
            }
            let places: Vec<Vec3> = split.iter().map(|&c| positions[c as usize % 6]).collect();
            let triangles: Vec<[u32; 3]> = corners.chunks(3).map(|c| [c[0], c[1], c[2]]).collect();
            let weld = sewn(&places, &triangles);
            prop_assert!(topology(&weld).is_closed());
            prop_assert_eq!(topology(&weld).euler_characteristic(), 2);
            prop_assert_eq!(weld.map.n_welded(), 6);
            prop_assert_eq!(weld.n_ambiguous, 0);
        }
    }

    #[test]
    fn welded_vertices_keep_the_order_in_which_they_first_occur() {
        let (positions, triangles) = octahedron();
        let (apart, loose) = taken_apart(&positions, &triangles);
        let weld = sewn(&apart, &loose);
        // Corners in order: X Y Z, Y −X Z, −X −Y Z, …
        assert_eq!(
            weld.map.welded_from_source()[..9],
            [0, 1, 2, 1, 3, 2, 3, 4, 2]
        );
        let welded: Vec<Vec3> = {
            let mut out = vec![Vec3::ZERO; 6];
            for (source, &w) in weld.map.welded_from_source().iter().enumerate() {
                out[w as usize] = apart[source];
            }
            out
        };
        assert_eq!(weld.map.to_source(&welded), apart);
    }

    #[test]
    fn two_whole_shells_that_touch_stay_two() {
        let (positions, triangles) = octahedron();
        let both: Vec<Vec3> = positions.iter().chain(&positions).copied().collect();
        let mut shells = triangles.clone();
        shells.extend(triangles.iter().map(|t| t.map(|v| v + 6)));
        let weld = sewn(&both, &shells);
        assert_eq!(weld.map.n_welded(), 12);
        assert_eq!(topology(&weld).parts().1, 2);
    }

    #[test]
    fn two_cut_shells_that_touch_are_left_open_and_counted() {
        let (positions, triangles) = octahedron();
        let (apart, loose) = taken_apart(&positions, &triangles);
        let both: Vec<Vec3> = apart.iter().chain(&apart).copied().collect();
        let mut shells = loose.clone();
        shells.extend(loose.iter().map(|t| t.map(|v| v + 24)));
        let weld = sewn(&both, &shells);
        assert_eq!(weld.map.n_welded(), 48);
        assert_eq!(weld.n_ambiguous, 48);
    }

    #[test]
    fn closed_lips_stay_apart() {
        // Two strips that fold away from a shared line but have vertices of
        // their own on it, each with triangles on both sides of the line.
        let line = [Vec3::ZERO, Vec3::X];
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for side in [1.0, -1.0] {
            let first = positions.len() as u32;
            positions.extend(line);
            positions.push(Vec3::new(0.5, side, 1.0));
            positions.push(Vec3::new(0.5, side, -1.0));
            triangles.push([first, first + 1, first + 2]);
            triangles.push([first + 1, first, first + 3]);
        }
        let weld = sewn(&positions, &triangles);
        assert_eq!(weld.map, WeldMap::identity(8));
    }

    #[test]
    fn the_two_sides_of_a_doubled_sheet_are_not_sewn_to_a_pillow() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let positions: Vec<Vec3> = corners.iter().chain(&corners).copied().collect();
        let weld = sewn(&positions, &[[0, 1, 2], [3, 5, 4]]);
        assert_eq!(weld.map, WeldMap::identity(6));
    }

    #[test]
    fn sewing_never_puts_a_third_triangle_on_an_edge() {
        // Both sheets have two triangles on the edge from a to b; sewing the
        // second along c–a and b–c would put four there.
        let [a, b, c] = [Vec3::ZERO, Vec3::X, Vec3::new(0.5, 1.0, 0.0)];
        let outside = |k: u32| Vec3::new(0.1, -1.0, k as f32);
        let positions = [
            [a, b, c, outside(1)].as_slice(),
            &[a, b, c, outside(2), outside(3), outside(4), outside(5)],
        ]
        .concat();
        let triangles = [
            [0, 1, 2],
            [1, 0, 3],
            [4, 5, 7],
            [5, 4, 8],
            [4, 6, 9],
            [6, 5, 10],
        ];
        let weld = sewn(&positions, &triangles);
        assert!(topology(&weld).edges().iter().all(|e| e.n_triangles <= 2));
        let welded = weld.map.welded_from_source();
        assert_eq!(welded[2], welded[6], "the far end of the seam is sewn");
        assert_ne!(welded[0], welded[4]);
        assert_ne!(welded[1], welded[5]);
    }

    #[test]
    fn copies_that_differ_in_weights_are_not_copies() {
        let (positions, triangles) = octahedron();
        let (apart, loose) = taken_apart(&positions, &triangles);
        // The upper half follows another joint than the lower.
        let upper = |v: usize| v < 12;
        let copies = seam_copies(&apart, |a, b| upper(a) == upper(b));
        let weld = weld_seams(&loose, &copies);
        assert_eq!(weld.map.n_welded(), 10);
        assert_eq!(topology(&weld).parts().1, 2);
    }

    #[test]
    fn flat_triangles_and_loose_copies_do_not_keep_a_seam_open() {
        // Two triangles across a seam with a flat one between, and a copy of
        // vertex 0 that nothing uses.
        let positions = [
            Vec3::ZERO,
            Vec3::X,
            Vec3::Y,
            Vec3::X,
            Vec3::ZERO,
            -Vec3::Y,
            Vec3::new(-0.0, 0.0, 0.0),
        ];
        let weld = sewn(&positions, &[[0, 1, 2], [1, 0, 4], [3, 4, 5]]);
        assert_eq!(weld.map.welded_from_source(), [0, 1, 2, 1, 0, 3, 0]);
        assert_eq!(weld.triangles, [[0, 1, 2], [1, 0, 3]]);
        assert_eq!(weld.n_flat, 1);
    }
}
