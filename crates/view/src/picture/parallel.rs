//! Work shared among threads, with the same result for any number of them.
//!
//! The pieces of work are fixed by the picture, not by the threads; each piece
//! writes only its own part, so who does it makes no difference.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// As many threads as asked for, or one a core.
pub(super) fn thread_count(asked: Option<NonZeroUsize>) -> usize {
    asked
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get)
        .min(64)
}

/// Calls `work` once with every piece, on `n_threads` threads.
pub(super) fn for_each<T, I, F>(pieces: I, n_threads: usize, work: F)
where
    T: Send,
    I: Iterator<Item = T> + Send,
    F: Fn(T) + Sync,
{
    if n_threads <= 1 {
        pieces.for_each(work);
        return;
    }
    let queue = Mutex::new(pieces);
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        while let Some(piece) = take() {
            work(piece);
        }
    };
    thread::scope(|scope| {
        for _ in 1..n_threads {
            scope.spawn(run);
        }
        run();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once() {
        for n_threads in [1, 2, 5] {
            let mut data = vec![0_u32; 1003];
            for_each(data.chunks_mut(10).enumerate(), n_threads, |(i, piece)| {
                for value in piece {
                    *value += i as u32 + 1;
                }
            });
            let expected: Vec<u32> = (0..1003).map(|i| i / 10 + 1).collect();
            assert_eq!(data, expected, "with {n_threads} threads");
        }
    }
}
