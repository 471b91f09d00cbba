//! The physics suite at its quick settings, as `drapery validate --quick` runs
//! it.

#![allow(clippy::print_stdout, reason = "the figures are worth seeing")]

use std::ops::ControlFlow;

use drapery_core::Fabric;
use drapery_sim::textbook::{Case, Size, Suite, Test, run};

fn quick(test: Test) -> Vec<Case> {
    let suite = Suite {
        size: Size::Quick,
        only: Some(test),
        threads: 2,
        seed: None,
        fabrics: vec![worsted()],
        more: Vec::new(),
    };
    run(&suite, |case| {
        let error = case.signed_error_percent();
        println!("{}: {} ({error:+.3e} %)", case.case, case.measured);
        ControlFlow::Continue(())
    })
}

/// Near the mean of men's winter suitings, where the drape of worsted wool is
/// known.
fn worsted() -> Fabric {
    Fabric {
        shear: 48.0,
        ..Fabric::plain("wool-worsted", 0.264, 1335.0, 1.33e-5)
    }
}

/// Every case within its limit, and as many as there should be.
fn passes(test: Test, n_cases: usize) {
    let cases = quick(test);
    assert_eq!(cases.len(), n_cases, "{}", test.name());
    for case in cases {
        assert_eq!(case.test, test);
        assert!(case.pass(), "{case:?}");
    }
}

#[test]
fn strips_fall_as_the_elastica_does() {
    passes(Test::Cantilever, 14);
}

#[test]
fn hanging_strips_stretch_by_their_weight() {
    passes(Test::HangingStrip, 8);
}

#[test]
fn limp_strips_hang_as_chains_do() {
    passes(Test::Catenary, 2);
}

#[test]
fn strips_on_edge_tip_over_when_they_should() {
    passes(Test::LateralBuckling, 2);
}

#[test]
fn sheets_fall_by_the_integrators_sum_and_keep_momentum() {
    passes(Test::FreeFall, 42);
}

#[test]
fn strips_swing_at_their_natural_frequency() {
    passes(Test::Frequency, 12);
}

#[test]
fn cloth_slips_where_coulomb_says() {
    passes(Test::Friction, 12);
}

#[test]
fn worsted_wool_drapes_as_it_should() {
    passes(Test::Cusick, 1);
}

#[test]
fn answers_do_not_depend_on_resolution_or_step() {
    passes(Test::Independence, 8);
}

#[test]
fn energy_adds_up() {
    passes(Test::EnergyBudget, 8);
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    passes(Test::Determinism, 14);
}

#[test]
fn nothing_thrown_passes_through_cloth() {
    passes(Test::Tunnelling, 16);
}

#[test]
fn random_scenes_neither_explode_nor_tunnel_nor_hang() {
    passes(Test::RandomScenes, 6);
}
