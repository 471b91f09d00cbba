//! Skin that a garment always hides: [`HiddenSkin`].
//!
//! What is never seen need not be drawn, and so never pokes through the cloth: de
//! Aguiar and others, "Stable Spaces for Real-time Clothing", 2010, §6.2. Which
//! skin that is is found when a model is trained. A triangle is left out where all
//! its corners are hidden.

use alloc::vec::Vec;

use drapery_core::Topology;

/// Which vertices of a body its clothes always hide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenSkin {
    is_hidden: Vec<bool>,
}

impl HiddenSkin {
    /// Whether each vertex is hidden, shape [body vertex].
    pub const fn new(is_hidden: Vec<bool>) -> Self {
        Self { is_hidden }
    }

    /// Whether each vertex is hidden, shape [body vertex].
    pub fn vertices(&self) -> &[bool] {
        &self.is_hidden
    }

    /// How many are.
    pub fn n_hidden(&self) -> usize {
        self.is_hidden.iter().filter(|h| **h).count()
    }

    /// Whether it is skin of a body of that topology; of another, one can't tell
    /// which of its vertices are hidden.
    pub fn is_of(&self, body: &Topology) -> bool {
        self.is_hidden.len() == body.n_vertices()
    }

    /// What one more garment hides of the same body, too; nothing when that is of
    /// another body.
    pub fn add(&mut self, other: &Self) {
        if other.is_hidden.len() == self.is_hidden.len() {
            for (own, other) in self.is_hidden.iter_mut().zip(&other.is_hidden) {
                *own |= other;
            }
        }
    }

    /// Whether each triangle of the body is wholly hidden; none of another body.
    pub fn triangles(&self, body: &Topology) -> Vec<bool> {
        let is_hidden = |v: &u32| self.is_hidden[*v as usize];
        let all = body.triangles().iter();
        match self.is_of(body) {
            true => all.map(|t| t.iter().all(is_hidden)).collect(),
            false => all.map(|_| false).collect(),
        }
    }

    /// The body without the triangles that are wholly hidden; its vertices keep
    /// their numbers.
    pub fn seen(&self, body: &Topology) -> Topology {
        let hidden = self.triangles(body);
        let left = body.triangles().iter().zip(&hidden);
        let left = left.filter(|(_, hidden)| !**hidden).map(|(t, _)| *t);
        Topology::new(body.n_vertices() as u32, left.collect()).unwrap_or_else(|_| body.clone())
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_triangle_is_left_out_when_all_its_corners_are_hidden() {
        // A strip of three triangles.
        let strip = Topology::new(5, vec![[0, 1, 2], [2, 1, 3], [2, 3, 4]]).unwrap();
        let mut hidden = HiddenSkin::new(vec![true, true, true, false, false]);
        assert_eq!(hidden.triangles(&strip), [true, false, false]);
        assert_eq!(hidden.seen(&strip).triangles(), [[2, 1, 3], [2, 3, 4]]);
        assert_eq!(hidden.seen(&strip).n_vertices(), 5);
        // Another garment hides one more vertex, and with it one more triangle.
        hidden.add(&HiddenSkin::new(vec![false, false, false, true, false]));
        assert_eq!(hidden.n_hidden(), 4);
        assert_eq!(hidden.seen(&strip).triangles(), [[2, 3, 4]]);
        // Of another body nothing is left out.
        let other = Topology::new(3, vec![[0, 1, 2]]).unwrap();
        assert_eq!(hidden.seen(&other), other);
        hidden.add(&HiddenSkin::new(vec![true; 3]));
        assert_eq!(hidden.n_hidden(), 4);
    }
}
