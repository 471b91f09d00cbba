//! Points of the cloth that are kept out of obstacles: [`Sample`].

use glam::DVec3;

use crate::Cloth;

/// A vertex, the middle of an edge or the centre of a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) vertices: [u32; 4],
    pub(super) weights: [f64; 4],
    pub(super) n_vertices: u8,
}

impl Sample {
    /// All of a cloth: first the vertices, then edges, then faces.
    pub(super) fn all(cloth: &Cloth) -> Vec<Self> {
        let mut samples: Vec<Self> = (0..cloth.n_vertices() as u32)
            .map(|v| Self {
                vertices: [v; 4],
                weights: [1.0, 0.0, 0.0, 0.0],
                n_vertices: 1,
            })
            .collect();
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for &[a, b, c] in cloth.membrane().triangles() {
            edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]));
        }
        edges.sort_unstable();
        edges.dedup();
        samples.extend(edges.into_iter().map(|[a, b]| Self {
            vertices: [a, b, a, a],
            weights: [0.5, 0.5, 0.0, 0.0],
            n_vertices: 2,
        }));
        let third = 1.0 / 3.0;
        let faces = cloth.membrane().triangles().iter();
        samples.extend(faces.map(|&[a, b, c]| Self {
            vertices: [a, b, c, a],
            weights: [third, third, third, 0.0],
            n_vertices: 3,
        }));
        samples
    }

    /// Where it is when the vertices are at `x` [m].
    pub(super) fn at(&self, x: &[DVec3]) -> DVec3 {
        let n = usize::from(self.n_vertices);
        let parts = self.vertices[..n].iter().zip(&self.weights[..n]);
        parts.map(|(v, w)| x[*v as usize] * *w).sum()
    }

    /// 1 / Σ w²/m.
    pub(super) fn mass(&self, masses: &[f64]) -> f64 {
        let n = usize::from(self.n_vertices);
        let parts = self.vertices[..n].iter().zip(&self.weights[..n]);
        1.0 / parts.map(|(v, w)| w * w / masses[*v as usize]).sum::<f64>()
    }
}
