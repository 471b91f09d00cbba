//! Sums that are the same whatever the number of threads: over chunks of one
//! fixed size, added in order.

use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

/// Vertices or triangles that one task takes.
pub(crate) const CHUNK: usize = 256;

/// The sum of `part` over chunks of `0..n`.
pub(crate) fn chunked_sum(n: usize, part: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    let parts: Vec<f64> = (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| part(chunk * CHUNK..n.min((chunk + 1) * CHUNK)))
        .collect();
    parts.iter().sum()
}

/// Σ a · b.
pub(crate) fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    let chunks = a.chunks(CHUNK).zip(b.chunks(CHUNK));
    chunks
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>())
        .sum()
}
