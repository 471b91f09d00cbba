//! How many joints a vertex may follow, and what is lost beyond them.

/// The influences kept of every vertex, and what that cuts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Influences {
    /// Four where that is enough, else eight.
    pub(super) kept: usize,
    /// How many vertices follow more joints.
    pub(super) n_trimmed: usize,
    /// The largest share of its weight that one of them loses.
    pub(super) largest: f32,
}

/// Counts the joints of (joint, weight) rows; a joint that stands twice in a
/// row is one, and a weight of 0 none.
pub(super) fn count_influences(rows: &[Vec<(u16, f32)>]) -> Influences {
    let most = rows.iter().map(|row| joint_weights(row).len()).max();
    let mut influences = Influences {
        kept: if most.unwrap_or(0) <= 4 { 4 } else { 8 },
        n_trimmed: 0,
        largest: 0.0,
    };
    for row in rows.iter().filter(|row| row.len() > influences.kept) {
        let mut weights = joint_weights(row);
        if weights.len() > influences.kept {
            weights.sort_by(|a, b| b.total_cmp(a));
            let lost: f32 = weights[influences.kept..].iter().sum();
            influences.n_trimmed += 1;
            influences.largest = influences.largest.max(lost / weights.iter().sum::<f32>());
        }
    }
    influences
}

/// The weights of the joints in a row, each joint once.
fn joint_weights(row: &[(u16, f32)]) -> Vec<f32> {
    let mut entries: Vec<(u16, f32)> = row.iter().copied().filter(|e| e.1 != 0.0).collect();
    entries.sort_by_key(|entry| entry.0);
    entries.dedup_by(|later, first| {
        let same = later.0 == first.0;
        first.1 += if same { later.1 } else { 0.0 };
        same
    });
    entries.into_iter().map(|entry| entry.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_counted_by_joint() {
        let even = |n: u16| -> Vec<(u16, f32)> { (0..n).map(|j| (j, 0.1)).collect() };
        let twice: Vec<(u16, f32)> = [even(3), even(3)].concat();
        assert_eq!(count_influences(&[even(4), twice.clone()]).kept, 4);
        let cut = count_influences(&[even(8), even(10), even(9), twice]);
        assert_eq!((cut.kept, cut.n_trimmed), (8, 2));
        assert!((cut.largest - 0.2).abs() < 1e-6, "{}", cut.largest);
    }
}
