//! Sets that grow together: [`UnionFind`].

use alloc::vec::Vec;

/// The numbers below n in sets, each named by its smallest number.
///
/// Joining and finding take logarithmic time on average, by halving the way
/// to the name whenever it is walked.
///
/// ```
/// use drapery_core::UnionFind;
///
/// let mut sets = UnionFind::new(4);
/// sets.join(3, 1);
/// assert_eq!(sets.into_names(), [0, 1, 2, 1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnionFind {
    /// A number of the same set, no larger; itself for the name of a set.
    below: Vec<u32>,
}

impl UnionFind {
    /// `n` numbers, each a set of its own.
    pub fn new(n: u32) -> Self {
        Self {
            below: (0..n).collect(),
        }
    }

    /// The smallest number in the set of `of`.
    ///
    /// # Panics
    /// When there is no such number.
    pub fn find(&mut self, mut of: u32) -> u32 {
        while self.below[of as usize] != of {
            self.below[of as usize] = self.below[self.below[of as usize] as usize];
            of = self.below[of as usize];
        }
        of
    }

    /// Makes the sets of two numbers one.
    ///
    /// # Panics
    /// When one of them is not there.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.below[a.max(b) as usize] = a.min(b);
    }

    /// The smallest number in the set of each.
    pub fn into_names(mut self) -> Vec<u32> {
        // What is smaller has its name already.
        for of in 0..self.below.len() {
            self.below[of] = self.below[self.below[of] as usize];
        }
        self.below
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Against relabelling everything at every join.
        #[test]
        fn names_are_those_of_the_slow_way(pairs in prop::collection::vec((0u32..20, 0u32..20), 0..30)) {
            let mut sets = UnionFind::new(20);
            let mut slow: Vec<u32> = (0..20).collect();
            for (a, b) in pairs {
                sets.join(a, b);
                let (p, q) = (slow[a as usize], slow[b as usize]);
                for name in &mut slow {
                    if *name == p.max(q) {
                        *name = p.min(q);
                    }
                }
                prop_assert_eq!(sets.find(a), slow[a as usize]);
            }
            prop_assert_eq!(sets.into_names(), slow);
        }
    }
}
