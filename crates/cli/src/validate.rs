//! `drapery validate`: the physics suite.

use std::ops::ControlFlow;

use drapery::scene::fabric::{PRESETS, Preset};
use drapery::sim::textbook::{Case, Size, Suite, Test, run as run_suite};
use serde_json::{Map, Value, json};

use crate::args::Validate;
use crate::say::Say;
use crate::{Answer, stop};

pub(crate) fn run(plan: &Validate, say: &Say) -> anyhow::Result<Answer> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let size = match plan.quick {
        true => Size::Quick,
        false => Size::Full,
    };
    let suite = Suite {
        size,
        only: plan.only,
        threads: plan.threads.map_or(available, usize::from),
        seed: plan.seed,
        fabrics: PRESETS.iter().map(Preset::fabric).collect(),
        more: drapery::on_body::experiments(size),
    };
    let mut written = Ok(());
    let mut test = None;
    let cases = run_suite(&suite, |case| {
        let mut text = line(case);
        if test.replace(case.test) != Some(case.test) {
            text = format!("{}\n{text}", heading(case.test));
        }
        written = say.result("validate", data(case), text);
        match written.is_err() || stop::asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    written?;
    stop::check()?;
    let n_misses = |counts: bool| {
        let missed = cases.iter().filter(|c| !c.pass());
        missed.filter(|c| c.counts == counts).count()
    };
    say.note(format_args!(
        "{} cases, {} missed their limit{}",
        cases.len(),
        n_misses(true),
        match n_misses(false) {
            0 => String::new(),
            n => format!(", and {n} that do not count"),
        }
    ));
    Ok(answer(&cases))
}

/// No when a case that counts misses its limit.
fn answer(cases: &[Case]) -> Answer {
    match cases.iter().any(|case| case.counts && !case.pass()) {
        true => Answer::No,
        false => Answer::Yes,
    }
}

/// The object of a case. Numbers that are none are null.
fn data(case: &Case) -> Value {
    let mut data = Map::new();
    for (key, value) in [
        ("test", json!(case.test.name())),
        ("case", json!(case.case)),
        ("measured", json!(case.measured)),
        ("reference", json!(case.reference)),
        ("error_percent", json!(case.error_percent())),
        ("limit_percent", json!(case.limit_percent)),
        ("pass", json!(case.pass())),
        ("counts", json!(case.counts)),
    ] {
        data.insert(key.to_string(), value);
    }
    for figure in &case.figures {
        data.insert(figure.name.to_string(), json!(figure.value));
    }
    if let Some(trouble) = &case.trouble {
        data.insert("trouble".to_string(), json!(trouble.to_string()));
    }
    Value::Object(data)
}

fn heading(test: Test) -> String {
    format!(
        "\n{:<68} {:>12} {:>12} {:>11} {:>9}",
        test.name(),
        "measured",
        "reference",
        "error %",
        "limit %"
    )
}

fn line(case: &Case) -> String {
    let verdict = match (case.pass(), case.counts) {
        (true, _) => "pass",
        (false, true) => "MISS",
        (false, false) => "miss, does not count",
    };
    let mut line = format!(
        "  {:<66} {:>12} {:>12} {:>11} {:>9}  {verdict}",
        case.case,
        number(case.measured),
        number(case.reference),
        signed(case.signed_error_percent()),
        number(case.limit_percent),
    );
    // Two hundred scenes have too many figures for a table.
    let told = case.test != Test::RandomScenes || !case.pass();
    for figure in case.figures.iter().filter(|_| told) {
        let name = figure.name.replace('_', " ");
        line += &format!("\n      {name} {}", number(figure.value));
    }
    if let Some(trouble) = &case.trouble {
        line += &format!("\n      {trouble}");
    }
    line
}

/// Five digits, however large.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_string(),
        size if (1e-3..1e5).contains(&size) => {
            let decimals = (4 - size.log10().floor() as i32).clamp(0, 7) as usize;
            let text = format!("{value:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
                false => text,
            }
        }
        _ => format!("{value:.2e}"),
    }
}

fn signed(percent: f64) -> String {
    match percent.abs() {
        0.0 => "0".to_string(),
        size if size >= 5e-4 => format!("{percent:+.3}"),
        _ => format!("{percent:+.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(measured: f64, counts: bool) -> Case {
        Case {
            test: Test::Catenary,
            case: "sag".to_string(),
            measured,
            reference: 1.0,
            limit_percent: 1.0,
            counts,
            figures: Vec::new(),
            trouble: None,
        }
    }

    #[test]
    fn a_miss_is_a_no_if_it_counts() {
        let (good, bad) = (case(1.0, true), case(1.02, true));
        assert_eq!(answer(&[good.clone(), good.clone()]), Answer::Yes);
        assert_eq!(answer(&[good.clone(), bad]), Answer::No);
        assert_eq!(answer(&[case(f64::NAN, true)]), Answer::No);
        assert_eq!(answer(&[good, case(1.02, false)]), Answer::Yes);
    }

    #[test]
    fn what_is_no_number_is_null() {
        let data = data(&case(f64::NAN, true));
        assert!(data["measured"].is_null() && data["error_percent"].is_null());
        assert_eq!(data["pass"], false);
    }

    #[test]
    fn numbers_have_five_digits() {
        let cases = [
            (0.585_721_4, "0.58572"),
            (18.178_3, "18.178"),
            (2.0, "2"),
            (1e-7, "1.00e-7"),
            (20.0, "20"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(signed(-0.2), "-0.200");
        assert_eq!(signed(3e-8), "+3.0e-8");
    }
}
