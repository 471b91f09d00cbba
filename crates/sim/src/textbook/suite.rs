//! Runs the tests on several threads and reports their cases in one order.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use drapery_core::Fabric;

use super::{
    Case, Test, cantilever, capstan, catenary, cusick, determinism, energy_budget, free_fall,
    frequency, hanging_strip, incline, independence, lateral_buckling, random_scenes, tunnelling,
};

/// How much of the suite runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Every test at a few settings, in seconds.
    Quick,
    /// Everything.
    Full,
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Suite {
    /// How much of it.
    pub size: Size,
    /// One test alone.
    pub only: Option<Test>,
    /// How many experiments run at once, at least one.
    pub threads: usize,
    /// One random scene alone, by its seed.
    pub seed: Option<u64>,
    /// What is draped on Cusick's meter; fabrics that are known by their name
    /// have a band to be in.
    pub fabrics: Vec<Fabric>,
    /// Experiments from elsewhere: those on a body need one.
    pub more: Vec<Experiment>,
}

/// An experiment of one of the tests that is made elsewhere.
#[derive(Clone)]
pub struct Experiment {
    test: Test,
    measure: Arc<dyn Fn() -> Vec<Case> + Send + Sync>,
}

impl Experiment {
    /// What `measure` finds out for a test.
    pub fn new(test: Test, measure: impl Fn() -> Vec<Case> + Send + Sync + 'static) -> Self {
        Self {
            test,
            measure: Arc::new(measure),
        }
    }
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Experiment")
            .field("test", &self.test)
            .finish_non_exhaustive()
    }
}

/// Experiments that go together.
pub(super) type Job = Box<dyn Fn() -> Vec<Case> + Send + Sync>;

/// Runs the suite. Each case is given to `report` when it and all before it
/// have finished, in the same order for any number of threads, and all that
/// were given are returned; when `report` breaks, no new experiment starts.
pub fn run(suite: &Suite, mut report: impl FnMut(&Case) -> ControlFlow<()>) -> Vec<Case> {
    let tests = Test::ALL
        .into_iter()
        .filter(|test| suite.only.is_none_or(|only| only == *test));
    // What has threads of its own, and takes their time, runs alone.
    let (alone, together): (Vec<_>, Vec<_>) = tests.partition(|test| *test == Test::Determinism);
    let mut cases = Vec::new();
    let mut flow = ControlFlow::Continue(());
    let mut take = |results: Vec<Case>| {
        for case in results {
            if flow.is_continue() {
                flow = report(&case);
                cases.push(case);
            }
        }
        flow
    };
    run_together(&jobs_of(&together, suite), suite.threads, &mut take);
    for job in jobs_of(&alone, suite) {
        if take(Vec::new()).is_continue() {
            let _ = take(job());
        }
    }
    cases
}

/// Runs jobs on several threads and gives their results to `take` in order.
fn run_together(jobs: &[Job], threads: usize, take: &mut impl FnMut(Vec<Case>) -> ControlFlow<()>) {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (done, finished) = mpsc::channel();
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let done = done.clone();
            let (next, stop) = (&next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= jobs.len() || done.send((job, on_one_thread(&jobs[job]))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        // Results that wait for others before them.
        let mut waiting: Vec<Option<Vec<Case>>> = vec![None; jobs.len()];
        let mut turn = 0;
        for (job, results) in finished {
            waiting[job] = Some(results);
            while let Some(results) = waiting.get_mut(turn).and_then(Option::take) {
                turn += 1;
                if take(results).is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
    });
}

/// Runs a job so that what is parallel inside it stays on one thread:
/// experiments are many and small.
fn on_one_thread(job: &Job) -> Vec<Case> {
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(job),
        Err(_) => job(),
    }
}

fn jobs_of(tests: &[Test], suite: &Suite) -> Vec<Job> {
    let of = |test: Test| {
        let more = suite.more.iter().filter(move |e| e.test == test);
        let more = more.map(|e| {
            let measure = Arc::clone(&e.measure);
            Box::new(move || measure()) as Job
        });
        jobs(test, suite).into_iter().chain(more)
    };
    tests.iter().flat_map(|test| of(*test)).collect()
}

fn jobs(test: Test, suite: &Suite) -> Vec<Job> {
    let size = suite.size;
    match test {
        Test::Cantilever => cantilever::jobs(size),
        Test::HangingStrip => hanging_strip::jobs(size),
        Test::Catenary => catenary::jobs(size),
        Test::LateralBuckling => lateral_buckling::jobs(size),
        Test::FreeFall => free_fall::jobs(size),
        Test::Frequency => frequency::jobs(size),
        Test::Friction => [incline::jobs(size), capstan::jobs(size)]
            .into_iter()
            .flatten()
            .collect(),
        Test::Cusick => cusick::jobs(size, &suite.fabrics),
        Test::Independence => independence::jobs(size),
        Test::EnergyBudget => energy_budget::jobs(size),
        Test::Determinism => determinism::jobs(size),
        Test::Tunnelling => tunnelling::jobs(size),
        Test::RandomScenes => random_scenes::jobs(size, suite.seed),
        Test::BodyPenetration | Test::BodyMomentum | Test::BodyCapstan => Vec::new(),
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
            seed: None,
            fabrics: Vec::new(),
            more: Vec::new(),
        }
    }

    #[test]
    fn experiments_from_elsewhere_run_among_those_of_their_test() {
        let measure = || {
            let name = "from elsewhere".to_string();
            vec![Case::new(Test::HangingStrip, name, 1.0, 1.0, 0.0)]
        };
        let mut suite = hanging(2);
        suite.more = vec![
            Experiment::new(Test::Catenary, Vec::new),
            Experiment::new(Test::HangingStrip, measure),
        ];
        let own = run(&hanging(1), |_| ControlFlow::Continue(()));
        let all = run(&suite, |_| ControlFlow::Continue(()));
        assert_eq!(all[..own.len()], own);
        assert_eq!(all[own.len()..], measure());
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
