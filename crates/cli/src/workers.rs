//! Work that several threads do together.

/// As many threads as are asked for, or as there are cores.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cores, usize::from)
}

/// Does `work` on so many threads and waits for all of them, so that none is
/// left behind by an error; gives the first there is. A panic goes on here.
pub(crate) fn together(
    n_threads: usize,
    work: impl Fn() -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let done: Vec<anyhow::Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_threads).map(|_| scope.spawn(&work)).collect();
        let joined = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    });
    done.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use anyhow::bail;

    use super::*;

    #[test]
    fn all_work_is_done_before_an_error_is_told() {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let result = together(3, || {
            let mine = next.fetch_add(1, Ordering::SeqCst);
            if mine == 0 {
                bail!("the first has failed");
            }
            std::thread::yield_now();
            done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        assert_eq!(result.unwrap_err().to_string(), "the first has failed");
        assert_eq!(done.into_inner(), 2);
    }
}
