//! The same answer at several resolutions.
//!
//! The cantilever at Γ 10 on three meshes, each finer by two: the coarser ones
//! against the finest.

use super::suite::Job;
use super::{Case, Size, Test, Triangulation, cantilever};

const LIMIT_PERCENT: f64 = 3.0;
const GAMMAS: [f64; 3] = [2.0, 5.0, 10.0];

pub(super) fn jobs(size: Size) -> Vec<Job> {
    let resolutions = match size {
        Size::Quick => [12, 20, 40],
        Size::Full => [20, 40, 80],
    };
    let mut jobs: Vec<Job> = Vec::new();
    for triangulation in Triangulation::BOTH {
        jobs.push(Box::new(move || {
            let droop = |n| {
                let droops = cantilever::droops(n, triangulation, 2e5, &GAMMAS);
                droops.into_iter().next_back().expect("three droops")
            };
            let [coarse @ .., finest] = resolutions;
            let reference = droop(finest).unwrap_or(f64::NAN);
            let cases = coarse.into_iter().map(|n| {
                let name = triangulation.name();
                let case = format!("cantilever Γ 10, {n} against {finest} elements, {name}");
                Case::of(Test::Independence, case, droop(n), reference, LIMIT_PERCENT)
            });
            cases.collect()
        }));
    }
    jobs
}
