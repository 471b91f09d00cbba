//! Faults of a triangle mesh by itself: how its triangles are joined, wound
//! and shaped.
//!
//! Faults are told apart in this order, so that one mistake makes one finding:
//! triangles that name a vertex twice and copies of an earlier triangle are
//! set aside first, the rest is judged by its edges.

use drapery_core::{Topology, TriMesh};
use glam::{DVec3, Vec3};

/// A triangle whose shortest height is below this share of its longest side is
/// as good as a line: stiffness across it grows with the inverse square, 10⁴
/// times that of a fair triangle. Slivers of decimated meshes stay above.
pub(super) const MIN_HEIGHT_RATIO: f64 = 0.01;

/// A triangle below this share of the median area has sides a hundred times
/// shorter than its neighbours' and only costs steps.
pub(super) const MIN_AREA_RATIO: f64 = 1e-4;

/// What is wrong with how a mesh is put together.
#[derive(Debug, Default)]
pub(super) struct SurfaceFaults {
    /// Triangles that name a vertex twice or have no area to speak of.
    pub(super) degenerate: Vec<u32>,
    /// Triangles with the vertices of an earlier one.
    pub(super) duplicate: Vec<u32>,
    /// Edges of more than two triangles.
    pub(super) crowded_edges: Vec<[u32; 2]>,
    /// Vertices with more than one fan of triangles.
    pub(super) pinched_vertices: Vec<u32>,
    /// Triangles wound against most of their part.
    pub(super) flipped: Vec<u32>,
    /// One triangle of each part that can't be wound.
    pub(super) one_sided: Vec<u32>,
    /// Border edges, sorted, the lower vertex first.
    pub(super) borders: Vec<[u32; 2]>,
    /// The sheet that each border edge is of; a sheet is joined over edges of
    /// two triangles.
    pub(super) border_sheets: Vec<u32>,
    /// The area of each sheet [m²].
    pub(super) sheet_areas: Vec<f64>,
    /// Vertices without a triangle.
    pub(super) unused: Vec<u32>,
    /// Triangles that are neither duplicates nor name a vertex twice.
    pub(super) kept: Vec<u32>,
    /// The triangles kept of each part, joined over vertices, the largest first.
    pub(super) parts: Vec<Vec<u32>>,
}

impl SurfaceFaults {
    /// Looks at a mesh.
    pub(super) fn of(mesh: &TriMesh) -> Self {
        let triangles = mesh.triangles();
        let mut faults = Self {
            unused: unused(mesh.topology()),
            ..Self::default()
        };
        let mut keys: Vec<([u32; 3], u32)> = Vec::with_capacity(triangles.len());
        for (index, &[a, b, c]) in triangles.iter().enumerate() {
            if a == b || b == c || c == a {
                faults.degenerate.push(index as u32);
            } else {
                let mut key = [a, b, c];
                key.sort_unstable();
                keys.push((key, index as u32));
            }
        }
        keys.sort_unstable();
        for (i, (key, index)) in keys.iter().enumerate() {
            if i > 0 && keys[i - 1].0 == *key {
                faults.duplicate.push(*index);
            } else {
                faults.kept.push(*index);
            }
        }
        faults.kept.sort_unstable();
        faults.duplicate.sort_unstable();
        let shapes: Vec<[DVec3; 3]> = faults
            .kept
            .iter()
            .map(|&t| mesh.corners(t).map(Vec3::as_dvec3))
            .collect();
        let thin = degenerate(&shapes);
        let kept = &faults.kept;
        faults
            .degenerate
            .extend(thin.into_iter().map(|i| kept[i as usize]));
        faults.degenerate.sort_unstable();
        let areas: Vec<f64> = shapes.iter().map(area).collect();
        faults.join(triangles, &areas);
        faults.find_pinched(triangles, mesh.positions().len());
        faults.find_parts(mesh.topology());
        faults
    }

    /// Walks over the edges: borders, crowded edges, winding.
    fn join(&mut self, triangles: &[[u32; 3]], areas: &[f64]) {
        // (low, high, index in `kept`, runs from low to high)
        let mut sides: Vec<(u32, u32, u32, bool)> = Vec::with_capacity(3 * self.kept.len());
        for (i, &t) in self.kept.iter().enumerate() {
            let corners = triangles[t as usize];
            for side in 0..3 {
                let (a, b) = (corners[side], corners[(side + 1) % 3]);
                sides.push((a.min(b), a.max(b), i as u32, a < b));
            }
        }
        sides.sort_unstable();
        let mut links: Vec<Vec<(usize, bool)>> = vec![Vec::new(); self.kept.len()];
        let mut border_of = Vec::new();
        let mut start = 0;
        while start < sides.len() {
            let (low, high, ..) = sides[start];
            let mut end = start + 1;
            while end < sides.len() && (sides[end].0, sides[end].1) == (low, high) {
                end += 1;
            }
            match &sides[start..end] {
                [side] => {
                    self.borders.push([low, high]);
                    border_of.push(side.2 as usize);
                }
                [p, q] => {
                    let agree = p.3 != q.3;
                    links[p.2 as usize].push((q.2 as usize, agree));
                    links[q.2 as usize].push((p.2 as usize, agree));
                }
                _ => self.crowded_edges.push([low, high]),
            }
            start = end;
        }
        // Winding spreads over the edges of two triangles.
        let mut turned: Vec<Option<bool>> = vec![None; self.kept.len()];
        let mut sheet_of = vec![0; self.kept.len()];
        for seed in 0..self.kept.len() {
            if turned[seed].is_some() {
                continue;
            }
            turned[seed] = Some(false);
            let mut members = vec![seed];
            let mut two_sided = true;
            let mut next = 0;
            while let Some(&i) = members.get(next) {
                next += 1;
                for &(j, agree) in &links[i] {
                    let wanted = Some((turned[i] == Some(true)) == agree);
                    if turned[j].is_none() {
                        turned[j] = wanted;
                        members.push(j);
                    }
                    two_sided &= turned[j] == wanted;
                }
            }
            for &i in &members {
                sheet_of[i] = self.sheet_areas.len() as u32;
            }
            let sheet_area = members.iter().map(|&i| areas[i]).sum();
            self.sheet_areas.push(sheet_area);
            if !two_sided {
                self.one_sided.push(self.kept[seed]);
                continue;
            }
            let n_turned = members.iter().filter(|&&i| turned[i] == Some(true)).count();
            let minority = Some(2 * n_turned <= members.len());
            let wrong = members.iter().filter(|&&i| turned[i] == minority);
            self.flipped.extend(wrong.map(|&i| self.kept[i]));
        }
        self.flipped.sort_unstable();
        self.border_sheets = border_of.iter().map(|&i| sheet_of[i]).collect();
    }

    /// A vertex is pinched when its triangles, joined over edges at it, make
    /// more than one group. Vertices of crowded edges are left to those.
    fn find_pinched(&mut self, triangles: &[[u32; 3]], n_vertices: usize) {
        let mut crowded = vec![false; n_vertices];
        for v in self.crowded_edges.iter().flatten() {
            crowded[*v as usize] = true;
        }
        // A node for every vertex and every other corner of its triangles; each
        // triangle joins two nodes of each of its vertices.
        let corners = |t: &u32| {
            let [a, b, c] = triangles[*t as usize];
            [[a, b, c], [b, c, a], [c, a, b]]
        };
        let mut nodes: Vec<[u32; 2]> = self
            .kept
            .iter()
            .flat_map(corners)
            .flat_map(|[v, p, q]| [[v, p], [v, q]])
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let node = |v: u32, end: u32| {
            let found = nodes.binary_search(&[v, end]);
            found.expect("all ends are listed") as u32
        };
        let joined: Vec<[u32; 3]> = self
            .kept
            .iter()
            .flat_map(corners)
            .map(|[v, p, q]| [node(v, p), node(v, q), node(v, q)])
            .collect();
        let fans = Topology::new(nodes.len() as u32, joined)
            .expect("at most three joins a triangle, of nodes that are there");
        let (fan_of, _) = fans.parts();
        let of_one_vertex = |a: &(u32, u32), b: &(u32, u32)| a.0 == b.0;
        let nodes_with_fans: Vec<(u32, u32)> = nodes.iter().map(|n| n[0]).zip(fan_of).collect();
        for group in nodes_with_fans.chunk_by(of_one_vertex) {
            let (v, fan) = group[0];
            if !crowded[v as usize] && group.iter().any(|n| n.1 != fan) {
                self.pinched_vertices.push(v);
            }
        }
    }

    fn find_parts(&mut self, topology: &Topology) {
        let (part_of, n_parts) = topology.parts();
        let mut parts = vec![Vec::new(); n_parts as usize];
        for &t in &self.kept {
            let [a, ..] = topology.triangles()[t as usize];
            parts[part_of[a as usize] as usize].push(t);
        }
        parts.retain(|p| !p.is_empty());
        parts.sort_by_key(|p| (core::cmp::Reverse(p.len()), p[0]));
        self.parts = parts;
    }
}

/// The triangles that are too thin or too small, by their place in `shapes`.
pub(super) fn degenerate(shapes: &[[DVec3; 3]]) -> Vec<u32> {
    let areas: Vec<f64> = shapes.iter().map(area).collect();
    let median = median(areas.clone());
    let thin = |i: usize| {
        let [a, b, c] = shapes[i];
        let longest_sq = (b - a)
            .length_squared()
            .max((c - b).length_squared())
            .max((a - c).length_squared());
        // Area = longest side × shortest height / 2.
        2.0 * areas[i] <= MIN_HEIGHT_RATIO * longest_sq || areas[i] <= MIN_AREA_RATIO * median
    };
    (0..shapes.len())
        .filter(|&i| thin(i))
        .map(|i| i as u32)
        .collect()
}

fn area([a, b, c]: &[DVec3; 3]) -> f64 {
    (*b - *a).cross(*c - *a).length() / 2.0
}

/// The middle value; 0 of none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The vertices without a triangle.
fn unused(topology: &Topology) -> Vec<u32> {
    let mut used = vec![false; topology.n_vertices()];
    for v in topology.triangles().iter().flatten() {
        used[*v as usize] = true;
    }
    (0..used.len() as u32)
        .filter(|&v| !used[v as usize])
        .collect()
}
