//! What the dynamics are regressed on, and in which coordinates.
//!
//! Plain inputs are those of [`Dynamics`](drapery_runtime::Dynamics),
//!
//! ```text
//! φ = [ x | y₋₁ … y₋ₙ | z₀ … zₙ₋₁ ],      zᵢ = z(t−i, t−N)
//! ```
//!
//! At thirty frames a second y₋₁ and y₋₂ are nearly the same, as are the zᵢ, so
//! least squares are solved in differences φ′ = T φ,
//!
//! ```text
//! φ′ = [ x | y₋₁, y₋₁−y₋₂, … | z₀−z₁, z₁−z₂, …, zₙ₋₁ ]
//! ```
//!
//! and W = W′ T is what is kept.

use drapery_core::CanonicalFrame;
use drapery_runtime::{ROOT_MOTION, RootTerms, root_motion};

/// Sizes of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) n_body: usize,
    pub(crate) n_cloth: usize,
    pub(crate) order: usize,
    pub(crate) root: RootTerms,
}

impl Layout {
    pub(crate) const fn n_inputs(&self) -> usize {
        self.root_start() + self.n_root() * ROOT_MOTION
    }

    const fn n_root(&self) -> usize {
        match self.root {
            RootTerms::With => self.order,
            RootTerms::Without => 0,
        }
    }

    /// Where z begins.
    const fn root_start(&self) -> usize {
        self.n_body + self.order * self.n_cloth
    }

    /// Which inputs belong together: the body, the cloth of each frame, and of
    /// every motion of the root its way, its sine and its cosine. Those of the
    /// cloth are held back `memory` times as strongly as others.
    pub(crate) fn blocks(&self, memory: f64) -> Vec<(usize, f64)> {
        let past = std::iter::repeat_n((self.n_cloth, memory), self.order);
        let root = [(3, 1.0), (1, 1.0), (1, 1.0)];
        let root = std::iter::repeat_n(root, self.n_root()).flatten();
        let body = std::iter::once((self.n_body, 1.0));
        body.chain(past).chain(root).collect()
    }

    /// Which inputs are left with the first components of the cloth alone.
    pub(crate) fn kept(&self, n_cloth: usize) -> Vec<usize> {
        let is_kept = |i: &usize| {
            let past = self.n_body..self.root_start();
            !past.contains(i) || (i - self.n_body) % self.n_cloth < n_cloth
        };
        (0..self.n_inputs()).filter(is_kept).collect()
    }

    /// T φ, in place.
    pub(crate) fn difference(&self, row: &mut [f64]) {
        let past = &mut row[self.n_body..self.root_start()];
        let k = self.n_cloth;
        for at in (k..past.len()).rev() {
            past[at] = past[at - k] - past[at];
        }
        let root = &mut row[self.root_start()..];
        for at in 0..root.len().saturating_sub(ROOT_MOTION) {
            root[at] -= root[at + ROOT_MOTION];
        }
    }

    /// W′ T of rows W′, in place.
    pub(crate) fn plain(&self, rows: &mut [f64]) {
        let k = self.n_cloth;
        for row in rows.chunks_exact_mut(self.n_inputs()) {
            let past = &mut row[self.n_body..self.root_start()];
            let n = past.len();
            for at in 0..n {
                // The first block is y₋₁ itself, all others subtract theirs.
                let own = if at < k { past[at] } else { -past[at] };
                let next = if at + k < n { past[at + k] } else { 0.0 };
                past[at] = own + next;
            }
            let root = &mut row[self.root_start()..];
            for at in (ROOT_MOTION..root.len()).rev() {
                root[at] -= root[at - ROOT_MOTION];
            }
        }
    }

    /// M = [B₁ … Bₙ; I 0] of plain weights, row-major.
    pub(crate) fn companion(&self, weights: &[f64]) -> Vec<f64> {
        let (k, n) = (self.n_cloth, self.n_cloth * self.order);
        let mut matrix = vec![0.0; n * n];
        for (row, weights) in weights.chunks_exact(self.n_inputs()).enumerate() {
            matrix[row * n..(row + 1) * n].copy_from_slice(&weights[self.n_body..self.n_body + n]);
        }
        for row in k..n {
            matrix[row * n + row - k] = 1.0;
        }
        matrix
    }
}

/// The last frames of a sequence, the latest first.
pub(crate) struct Window {
    layout: Layout,
    past: Vec<Vec<f64>>,
    roots: Vec<CanonicalFrame>,
}

impl Window {
    pub(crate) const fn new(layout: Layout) -> Self {
        Self {
            layout,
            past: Vec::new(),
            roots: Vec::new(),
        }
    }

    /// Forgets the sequence.
    pub(crate) fn clear(&mut self) {
        self.past.clear();
        self.roots.clear();
    }

    /// One frame on. Calls `each` with plain inputs, once there are enough
    /// frames for them.
    pub(crate) fn push(
        &mut self,
        frame: &CanonicalFrame,
        x: &[f32],
        y: &[f64],
        each: impl FnOnce(Vec<f64>),
    ) {
        let order = self.layout.order;
        if self.past.len() == order {
            let mut row: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
            self.past.iter().for_each(|y| row.extend_from_slice(y));
            if let (RootTerms::With, Some(oldest)) = (self.layout.root, self.roots.last()) {
                let at = std::iter::once(frame).chain(&self.roots[..order - 1]);
                let motions = at.flat_map(|frame| root_motion(frame, oldest));
                row.extend(motions.map(f64::from));
            }
            each(row);
            self.past.pop();
            self.roots.pop();
        }
        if order > 0 {
            self.past.insert(0, y.to_vec());
            self.roots.insert(0, *frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    fn layout(order: usize) -> Layout {
        Layout {
            n_body: 2,
            n_cloth: 3,
            order,
            root: RootTerms::With,
        }
    }

    #[test]
    fn weights_of_differences_say_the_same_of_plain_inputs() {
        for order in 0..=5 {
            let layout = layout(order);
            let n = layout.n_inputs();
            let row: Vec<f64> = (0..n).map(|i| (1.7 * i as f64).sin()).collect();
            let weights: Vec<f64> = (0..n).map(|i| (0.3 * i as f64).cos()).collect();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (mut differences, mut plain) = (row.clone(), weights.clone());
            layout.difference(&mut differences);
            layout.plain(&mut plain);
            let (one, other) = (dot(&weights, &differences), dot(&plain, &row));
            assert!((one - other).abs() < 1e-12, "{order}: {one} {other}");
        }
    }

    #[test]
    fn fewer_components_of_the_cloth_leave_body_and_root() {
        // x0 x1 | a0 a1 a2 | b0 b1 b2 | five and five of the root.
        let kept = layout(2).kept(1);
        assert_eq!(kept[..4], [0, 1, 2, 5]);
        assert_eq!(kept[4..], (8..18).collect::<Vec<_>>());
        assert_eq!(layout(2).kept(3), (0..18).collect::<Vec<_>>());
    }

    #[test]
    fn a_window_gives_the_frames_before_and_motions_since_the_oldest() {
        let layout = Layout {
            n_body: 1,
            n_cloth: 1,
            ..layout(2)
        };
        let mut window = Window::new(layout);
        let mut rows = Vec::new();
        for t in 0..4 {
            let t = t as f32;
            let frame = CanonicalFrame {
                root: Vec3::new(t * t, 0.0, 0.0),
                heading: 0.0,
            };
            window.push(&frame, &[10.0 * t], &[f64::from(t)], |row| rows.push(row));
        }
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1][..3], [30.0, 2.0, 1.0]);
        // z(3, 1) moved by 9 − 1, z(2, 1) by 4 − 1.
        assert_eq!(
            rows[1][3..],
            [8.0, 0.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 1.0]
        );
    }
}
