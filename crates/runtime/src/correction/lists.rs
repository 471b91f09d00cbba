//! Lists one after the other, one for each of many owners.

use alloc::vec;
use alloc::vec::Vec;

/// Lists one after the other.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Lists {
    /// The lists of `n` owners, from pairs of an owner and a member.
    pub(super) fn new(n: usize, pairs: &mut Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; n + 1];
        for (owner, _) in pairs.iter() {
            starts[*owner as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        Self {
            starts,
            members: pairs.iter().map(|pair| pair.1).collect(),
        }
    }

    /// The members of one owner, sorted.
    pub(super) fn of(&self, owner: usize) -> &[u32] {
        &self.members[self.starts[owner] as usize..self.starts[owner + 1] as usize]
    }
}
