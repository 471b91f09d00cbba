//! Runs the tests on several threads and reports their cases in one order.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::{Case, Test, cantilever, catenary, hanging_strip, independence, lateral_buckling};

/// How much of the suite runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Every test at a few settings, in seconds.
    Quick,
    /// Everything.
    Full,
}

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// How much of it.
    pub size: Size,
    /// One test alone.
    pub only: Option<Test>,
    /// How many experiments run at once, at least one.
    pub threads: usize,
}

/// Experiments that go together.
pub(super) type Job = Box<dyn Fn() -> Vec<Case> + Send + Sync>;

/// Runs the suite. Each case is given to `report` when it and all before it
/// have finished, in the same order for any number of threads, and all are
/// returned; when `report` breaks, no new experiment starts.
pub fn run(suite: &Suite, mut report: impl FnMut(&Case) -> ControlFlow<()>) -> Vec<Case> {
    let tests = Test::ALL
        .into_iter()
        .filter(|test| suite.only.is_none_or(|only| only == *test));
    let jobs: Vec<Job> = tests.flat_map(|test| jobs(test, suite.size)).collect();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut cases = Vec::new();
    std::thread::scope(|scope| {
        let (done, finished) = mpsc::channel();
        for _ in 0..suite.threads.clamp(1, jobs.len().max(1)) {
            let done = done.clone();
            let (jobs, next, stop) = (&jobs, &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= jobs.len() || done.send((job, jobs[job]())).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        // Jobs that wait for one before them.
        let mut waiting: Vec<Option<Vec<Case>>> = vec![None; jobs.len()];
        let mut turn = 0;
        for (job, results) in finished {
            waiting[job] = Some(results);
            while let Some(results) = waiting.get_mut(turn).and_then(Option::take) {
                turn += 1;
                for case in results {
                    if !stop.load(Ordering::Relaxed) && report(&case).is_break() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    cases.push(case);
                }
            }
        }
    });
    cases
}

fn jobs(test: Test, size: Size) -> Vec<Job> {
    match test {
        Test::Cantilever => cantilever::jobs(size),
        Test::HangingStrip => hanging_strip::jobs(size),
        Test::Catenary => catenary::jobs(size),
        Test::LateralBuckling => lateral_buckling::jobs(size),
        Test::Independence => independence::jobs(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hanging(threads: usize) -> Suite {
        Suite {
            size: Size::Quick,
            only: Some(Test::HangingStrip),
            threads,
        }
    }

    #[test]
    fn cases_come_in_the_same_order_on_any_number_of_threads() {
        let mut seen = Vec::new();
        let one = run(&hanging(1), |case| {
            seen.push(case.clone());
            ControlFlow::Continue(())
        });
        assert_eq!(one, seen);
        assert_eq!(one, run(&hanging(4), |_| ControlFlow::Continue(())));
    }

    #[test]
    fn nothing_starts_after_a_break() {
        let mut n_reports = 0;
        let cases = run(&hanging(1), |_| {
            n_reports += 1;
            ControlFlow::Break(())
        });
        assert_eq!(n_reports, 1);
        let all = run(&hanging(1), |_| ControlFlow::Continue(()));
        assert!(cases.len() < all.len());
    }
}
