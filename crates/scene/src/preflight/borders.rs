//! [`borders`]: the openings of a garment, and which of them are holes.
//!
//! Border edges are walked to closed loops; where loops touch in a vertex, each
//! is told by itself. A hole is a loop that is short both in itself and beside
//! the openings of its sheet. A buttonhole is a hole by that measure too, which
//! is why a hole is a warning.

use drapery_core::TriMesh;
use glam::Vec3;

use super::surface::SurfaceFaults;

/// No opening that a body part goes through is shorter [m]: a child's cuff has
/// 13 cm.
const MAX_LENGTH: f64 = 0.12;

/// Nor shorter than this share of the diagonal of the garment's box, so that
/// the cuffs of a doll's dress are no holes.
const MAX_SIZE_SHARE: f64 = 0.1;

/// And a hole is shorter than this share of the longest border of its sheet;
/// of a sheet without a longer border, of the root of its area. The cuffs of a
/// gown are shorter than that too, beside its hem.
const MAX_BORDER_SHARE: f64 = 0.2;

/// A loop of that many sides is a triangle or a quadrangle that is missing,
/// however coarse the mesh is: no opening has so few.
const N_FEW_SIDES: usize = 4;

/// A border of a mesh: a hem, a neckline, a hole.
#[derive(Clone, Debug, PartialEq)]
pub struct Border {
    /// Its length [m].
    pub length: f32,
    /// Its vertices in order, each once.
    pub vertices: Vec<u32>,
    /// Whether the last vertex is joined to the first; only non-manifold
    /// meshes have borders that are not.
    pub is_closed: bool,
}

/// The borders of a mesh, the longest first.
pub fn borders(mesh: &TriMesh) -> Vec<Border> {
    let edges = mesh.topology().edges();
    let edges: Vec<[u32; 2]> = edges
        .iter()
        .filter(|e| e.is_border())
        .map(|e| e.vertices)
        .collect();
    walk(mesh.positions(), &edges)
}

/// The borders among the `parts` of a mesh that are holes, the longest first.
/// A slit between `open_seams` is none.
pub(super) fn holes(mesh: &TriMesh, faults: &SurfaceFaults, open_seams: &[u32]) -> Vec<Border> {
    let (low, high) = mesh.bounds();
    let limit = MAX_LENGTH.min(MAX_SIZE_SHARE * f64::from((high - low).length()));
    let is_seam = |v: &&u32| open_seams.binary_search(v).is_ok();
    let found = walk(mesh.positions(), &faults.borders);
    // The sheet of a border is that of the triangle at its first edge.
    let sheet_of = |border: &Border| {
        let (a, b) = (border.vertices[0], border.vertices[1]);
        let edge = faults.borders.binary_search(&[a.min(b), a.max(b)]);
        faults.border_sheets[edge.expect("a border is made of border edges")] as usize
    };
    let mut sizes: Vec<f64> = faults.sheet_areas.iter().map(|a| a.sqrt()).collect();
    for border in &found {
        let size = &mut sizes[sheet_of(border)];
        *size = size.max(f64::from(border.length));
    }
    let is_hole = |border: &Border| {
        let length = f64::from(border.length);
        border.is_closed
            && (length < limit || border.vertices.len() <= N_FEW_SIDES)
            && length < MAX_BORDER_SHARE * sizes[sheet_of(border)]
            && 2 * border.vertices.iter().filter(is_seam).count() < border.vertices.len()
    };
    found.into_iter().filter(is_hole).collect()
}

/// Walks sorted edges to simple loops, and what is left to chains.
fn walk(positions: &[Vec3], edges: &[[u32; 2]]) -> Vec<Border> {
    // Both directions of each edge, by their start.
    let mut ways: Vec<(u32, u32, usize)> = Vec::with_capacity(2 * edges.len());
    for (edge, &[a, b]) in edges.iter().enumerate() {
        ways.extend([(a, b, edge), (b, a, edge)]);
    }
    ways.sort_unstable();
    let start_of = |v: u32| ways.partition_point(|w| w.0 < v);
    let mut is_walked = vec![false; edges.len()];
    // How many ways from a vertex were looked at, by the first of them.
    let mut n_tried = vec![0usize; ways.len()];
    let mut place_on_path = vec![None; positions.len()];
    let mut borders = Vec::new();
    // Ends of chains first, so that a chain is walked in one go.
    let mut starts: Vec<(bool, u32)> = ways
        .chunk_by(|a, b| a.0 == b.0)
        .map(|from| (from.len() % 2 == 0, from[0].0))
        .collect();
    starts.sort_unstable();
    for (_, start) in starts {
        let mut path = vec![start];
        place_on_path[start as usize] = Some(0);
        while let Some(&v) = path.last() {
            let first = start_of(v);
            let next = ways[first + n_tried[first]..]
                .iter()
                .take_while(|w| w.0 == v)
                .inspect(|_| n_tried[first] += 1)
                .find(|w| !is_walked[w.2]);
            let Some(&(_, to, edge)) = next else {
                break;
            };
            is_walked[edge] = true;
            match place_on_path[to as usize] {
                Some(place) => {
                    let mut vertices = path.split_off(place);
                    for &v in &vertices {
                        place_on_path[v as usize] = None;
                    }
                    path.push(to);
                    place_on_path[to as usize] = Some(place);
                    let smallest = (0..vertices.len()).min_by_key(|&i| vertices[i]);
                    vertices.rotate_left(smallest.unwrap_or(0));
                    borders.push(border(positions, vertices, true));
                }
                None => {
                    place_on_path[to as usize] = Some(path.len());
                    path.push(to);
                }
            }
        }
        for &v in &path {
            place_on_path[v as usize] = None;
        }
        if path.len() > 1 {
            borders.push(border(positions, path, false));
        }
    }
    borders.sort_by(|a, b| {
        let longest = b.length.total_cmp(&a.length);
        longest.then_with(|| a.vertices.cmp(&b.vertices))
    });
    borders
}

fn border(positions: &[Vec3], vertices: Vec<u32>, is_closed: bool) -> Border {
    let side = |i: usize| {
        let ends = [vertices[i], vertices[(i + 1) % vertices.len()]];
        let [a, b] = ends.map(|v| positions[v as usize].as_dvec3());
        a.distance(b)
    };
    let n_sides = vertices.len() - usize::from(!is_closed);
    Border {
        length: (0..n_sides).map(side).sum::<f64>() as f32,
        vertices,
        is_closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flat grid of unit squares without some of them.
    fn sheet(n: u32, is_cut: impl Fn(u32, u32) -> bool) -> TriMesh {
        let at = |x: u32, y: u32| y * (n + 1) + x;
        let positions = (0..=n)
            .flat_map(|y| (0..=n).map(move |x| Vec3::new(x as f32, y as f32, 0.0)))
            .collect();
        let mut triangles = Vec::new();
        for (x, y) in (0..n).flat_map(|y| (0..n).map(move |x| (x, y))) {
            if !is_cut(x, y) {
                triangles.push([at(x, y), at(x + 1, y), at(x + 1, y + 1)]);
                triangles.push([at(x, y), at(x + 1, y + 1), at(x, y + 1)]);
            }
        }
        TriMesh::new(positions, triangles).unwrap()
    }

    fn lengths(mesh: &TriMesh) -> Vec<(f32, usize)> {
        let of = |b: &Border| {
            assert!(b.is_closed);
            (b.length, b.vertices.len())
        };
        borders(mesh).iter().map(of).collect()
    }

    #[test]
    fn each_opening_is_a_loop() {
        assert_eq!(lengths(&sheet(5, |_, _| false)), [(20.0, 20)]);
        let two = sheet(6, |x, y| {
            (x == 1 && y == 1) || ((3..5).contains(&x) && y == 3)
        });
        assert_eq!(lengths(&two), [(24.0, 24), (6.0, 6), (4.0, 4)]);
        assert_eq!(borders(&two)[2].vertices, [8, 9, 16, 15]);
    }

    #[test]
    fn loops_that_touch_are_told_apart() {
        let touching = sheet(6, |x, y| x == y && (2..4).contains(&x));
        assert_eq!(lengths(&touching), [(24.0, 24), (4.0, 4), (4.0, 4)]);
    }

    #[test]
    fn every_border_edge_is_walked_once() {
        // Three sheets on one edge: three chains between its ends.
        let positions = vec![Vec3::ZERO, Vec3::Y, Vec3::X, Vec3::Z, -Vec3::X];
        let book = vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]];
        let found = borders(&TriMesh::new(positions, book).unwrap());
        let n_sides = |b: &Border| b.vertices.len() - usize::from(!b.is_closed);
        assert_eq!(found.iter().map(n_sides).sum::<usize>(), 6);
    }
}
