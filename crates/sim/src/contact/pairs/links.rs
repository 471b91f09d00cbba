//! Which places around a nearest point would have been nearer: [`Links`].
//!
//! A vertex that lies over a face is near the sides of the faces beside it as
//! well, but those are no contacts: the surface goes on, and what is nearest
//! to the vertex lies in its interior. Taken for a contact, a side would push
//! the vertex sideways, and cloth would stumble over every edge that it slides
//! over. So a side counts only when the face behind it falls away from the
//! vertex, and a corner only when all edges around it do:
//!
//! ```text
//! d · (direction from the nearest point into the surface) ≤ 0,   d = offset
//! ```

use glam::DVec3;

use super::super::candidates::MeshBoxes;
use super::frame::Frame;
use super::nearby::Near;
use super::pair::Motion;

/// How the primitives of a surface hang together.
#[derive(Clone, Debug)]
pub(super) struct Links {
    /// The third corner of the face behind each side, from corner k to corner
    /// k + 1; itself for a border. Shape [face, 3].
    behind: Vec<[u32; 3]>,
    /// The vertices joined to each by an edge, one vertex after the other.
    joined: Vec<u32>,
    starts: Vec<u32>,
}

/// Sine² of the angle up to which a surface counts as level: well above
/// rounding, so that of two faces beside a side one counts.
const LEVEL_SQ: f64 = 1e-12;

impl Links {
    pub(super) fn new(mesh: &MeshBoxes) -> Self {
        let triangles = mesh.triangles();
        let mut sides: Vec<(u32, u32, u32, usize)> = Vec::with_capacity(3 * triangles.len());
        for (t, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                sides.push((a.min(b), a.max(b), t as u32, k));
            }
        }
        sides.sort_unstable();
        let mut behind: Vec<[u32; 3]> = triangles.iter().map(|[a, b, c]| [*c, *a, *b]).collect();
        for shared in sides.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
            // Where more than two meet, each has one of the others behind it.
            for (i, side) in shared.iter().enumerate() {
                let other = shared[(i + 1) % shared.len()];
                behind[side.2 as usize][side.3] = triangles[other.2 as usize][(other.3 + 2) % 3];
            }
        }
        let mut all: Vec<[u32; 2]> = Vec::with_capacity(2 * mesh.edges().len());
        for [a, b] in mesh.edges() {
            all.extend([[*a, *b], [*b, *a]]);
        }
        all.sort_unstable();
        let n = mesh.n_vertices() as u32;
        let starts = (0..=n).map(|v| all.partition_point(|e| e[0] < v) as u32);
        Self {
            behind,
            starts: starts.collect(),
            joined: all.iter().map(|e| e[1]).collect(),
        }
    }

    /// Whether the surface goes on beyond the nearest point of a vertex and a
    /// face, and comes nearer to the vertex there, after a share of the step.
    /// The vertices of this surface are numbered from `base` on.
    pub(super) fn goes_on(
        &self,
        near: &Near,
        frame: &Frame,
        motion: &Motion<'_>,
        fraction: f64,
        base: u32,
    ) -> bool {
        let at = |v: u32| motion.vertex(v, fraction);
        let nearer = |inwards: DVec3| {
            let towards = frame.point.dot(inwards);
            towards > 0.0
                && towards * towards
                    > LEVEL_SQ * frame.point.length_squared() * inwards.length_squared()
        };
        let counts = |k: usize| frame.weights[k + 1] != 0.0;
        let corner = |k: usize| near.vertices[k + 1];
        match (0..3).filter(|k| counts(*k)).count() {
            1 => {
                let Some(k) = (0..3).find(|k| counts(*k)) else {
                    return false;
                };
                let here = at(corner(k));
                let around = self.joined(corner(k) - base);
                around.iter().any(|w| nearer(at(w + base) - here))
            }
            2 => {
                let Some(k) = (0..3).find(|k| !counts((k + 2) % 3)) else {
                    return false;
                };
                let (a, b) = (at(corner(k)), at(corner((k + 1) % 3)));
                let across = at(self.behind(near.pair.second, k) + base) - a;
                let along = (b - a).normalize_or_zero();
                nearer(across - along * along.dot(across))
            }
            _ => false,
        }
    }

    /// The third corner of the face behind a side.
    fn behind(&self, face: u32, side: usize) -> u32 {
        self.behind[face as usize][side]
    }

    /// The vertices that an edge joins to one.
    pub(super) fn joined(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.joined[self.starts[v] as usize..self.starts[v + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::test_meshes::{sheet, sphere};
    use super::*;

    #[test]
    fn what_is_behind_a_side_has_the_side() {
        let (topology, x) = sphere(1.0, 5);
        let mesh = MeshBoxes::new(&topology, &x);
        let links = Links::new(&mesh);
        for (t, corners) in mesh.triangles().iter().enumerate() {
            for k in 0..3 {
                let third = links.behind(t as u32, k);
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                assert!(!corners.contains(&third));
                let has = |o: &[u32; 3]| [a, b, third].iter().all(|v| o.contains(v));
                assert!(mesh.triangles().iter().any(has));
            }
        }
    }

    #[test]
    fn a_border_has_its_own_face_behind_it() {
        let (topology, x) = sheet(2);
        let mesh = MeshBoxes::new(&topology, &x);
        let links = Links::new(&mesh);
        let own = |t: usize, k: usize| mesh.triangles()[t][(k + 2) % 3];
        let n_border = (0..6)
            .filter(|i| {
                links.behind(i / 3, *i as usize % 3) == own(*i as usize / 3, *i as usize % 3)
            })
            .count();
        assert_eq!(n_border, 4);
        assert_eq!(links.joined(0), [1, 2, 3]);
        assert_eq!(links.joined(1), [0, 3]);
    }
}
