//! Columns of a factor that can be worked on at the same time: [`Branches`].
//!
//! A column of a sparse Cholesky factor has to do with those below it in the
//! elimination tree and those above it, and with no others. Branches of that
//! tree that are not on one another are therefore independent; what they grow
//! from, the trunk, comes last when factoring or going forwards, and first when
//! going backwards.

use std::ops::Range;

/// An order of the columns in which branches, and then the trunk, are each in
/// one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branches {
    /// The column that stands at each place.
    pub(crate) order: Vec<usize>,
    /// The places of each bundle of branches, one after the other.
    pub(crate) bundles: Vec<Range<usize>>,
    /// The places of the trunk.
    pub(crate) trunk: Range<usize>,
}

/// How many bundles there are, whatever the number of threads.
const BUNDLES: usize = 4;
/// What has more than this share of all work on it belongs to the trunk. With
/// larger branches bundles differ more, with smaller ones the trunk, which
/// nobody shares, has more to do.
const LARGEST: f64 = 1.0 / 6.0;

impl Branches {
    /// Cuts a tree, given as the parent of each column, a later one, or none;
    /// `work` is what each column costs.
    pub(crate) fn new(parents: &[Option<usize>], work: &[f64]) -> Self {
        let n = parents.len();
        let mut above = work.to_vec();
        for column in 0..n {
            if let Some(parent) = parents[column] {
                above[parent] += above[column];
            }
        }
        let limit = LARGEST * work.iter().sum::<f64>();
        let is_trunk = |column: usize| above[column] > limit;
        let mut roots: Vec<usize> = (0..n)
            .filter(|c| !is_trunk(*c) && parents[*c].is_none_or(is_trunk))
            .collect();
        roots.sort_by(|a, b| above[*b].total_cmp(&above[*a]).then(a.cmp(b)));
        // The largest first, each to the bundle that has least.
        let mut bundle_of = vec![BUNDLES; n];
        let mut sums = [0.0; BUNDLES];
        for root in roots {
            let least = (0..BUNDLES).min_by(|a, b| f64::total_cmp(&sums[*a], &sums[*b]));
            let least = least.unwrap_or(0);
            sums[least] += above[root];
            bundle_of[root] = least;
        }
        for column in (0..n).rev() {
            if let Some(parent) = parents[column].filter(|p| !is_trunk(*p)) {
                bundle_of[column] = bundle_of[parent];
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|column| (bundle_of[*column], *column));
        let end = |bundle: usize| order.partition_point(|column| bundle_of[*column] <= bundle);
        let ends: Vec<usize> = (0..BUNDLES).map(end).collect();
        let bundles = (0..BUNDLES)
            .map(|b| if b == 0 { 0 } else { ends[b - 1] }..ends[b])
            .collect();
        Self {
            bundles,
            trunk: ends[BUNDLES - 1]..n,
            order,
        }
    }

    /// A place as the columns of its bundle count it: the trunk first, then the bundle
    /// itself.
    pub(crate) fn local(&self) -> impl Fn(usize) -> usize + use<> {
        let starts: Vec<usize> = self.bundles.iter().map(|b| b.start).collect();
        let trunk = self.trunk.clone();
        move |at| match at.checked_sub(trunk.start) {
            Some(of_trunk) => of_trunk,
            None => {
                let after = starts.partition_point(|start| *start <= at);
                trunk.len() + at - starts[after - 1]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A binary tree of `levels`, leaves first.
    fn tree(levels: u32) -> Vec<Option<usize>> {
        let n = (1 << levels) - 1;
        // Places from the root down, turned around.
        (0..n)
            .map(|i| {
                let down = n - 1 - i;
                (down > 0).then(|| n - 1 - (down - 1) / 2)
            })
            .collect()
    }

    #[test]
    fn bundles_share_no_branch_and_children_stand_before_parents() {
        let parents = tree(7);
        let branches = Branches::new(&parents, &vec![1.0; parents.len()]);
        let mut place = vec![0; parents.len()];
        for (at, column) in branches.order.iter().enumerate() {
            place[*column] = at;
        }
        let bundle = |at: usize| branches.bundles.iter().position(|b| b.contains(&at));
        for (column, parent) in parents.iter().enumerate() {
            let Some(parent) = *parent else { continue };
            assert!(place[column] < place[parent]);
            let (own, above) = (bundle(place[column]), bundle(place[parent]));
            assert!(above.is_none() || above == own, "{column} below {parent}");
        }
        // Eight subtrees of 15, two a bundle.
        assert!(branches.bundles.iter().all(|b| b.len() == 30));
        assert_eq!(branches.trunk.len(), 7);
    }

    #[test]
    fn a_chain_is_all_trunk_but_its_first_columns() {
        let n = 60;
        let parents: Vec<_> = (0..n).map(|i| (i + 1 < n).then_some(i + 1)).collect();
        let branches = Branches::new(&parents, &vec![1.0; n]);
        assert_eq!(branches.order, (0..n).collect::<Vec<_>>());
        assert_eq!(branches.bundles[0], 0..10);
        assert_eq!(branches.trunk, 10..n);
    }
}
