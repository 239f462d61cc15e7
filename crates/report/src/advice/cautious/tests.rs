//! Limits of an answer appear next to the recommendation: sizes or counts other than asked for, reads that are hardly cold.

use storebench_host::run::Run;
use storebench_model::cell::{Axis, Cache};
use storebench_model::units::Sizes;
use storebench_samples::{Sample, blocks};

use super::super::question::Question;
use super::super::tests::{advice, question};
use super::super::{Advice, MissingCoverage};
use crate::terminal::grid::Style;

fn runs() -> Run {
    let block = |noise: f64| vec![Sample::new("lmdb").ns(1000.0 * noise), Sample::new("redb").ns(2000.0)];
    blocks("box", &[block(1.0), block(1.01), block(0.99)])
}

fn text(advice: &Advice) -> String {
    advice.text(None, Style { width: 300, colour: false })
}

/// The runs with other sizes.
fn of_sizes(sizes: &str) -> Run {
    let sizes: Sizes = sizes.parse().unwrap();
    let mut run = runs();
    run.trials.iter_mut().for_each(|trial| trial.cell.set(Axis::RECORD_SIZE, sizes.into()));
    run
}

#[test]
fn mixed_sizes_are_told_in_the_first_lines_and_where_it_was_measured() {
    let sizes = "90%:400B..600B+10%:20KiB";
    let asked = Question { size: sizes.parse().unwrap(), ..question() };
    let text = text(&advice(&asked, &[of_sizes(sizes)]).unwrap());
    let words = "records of mixed sizes (median 511 B, mean 2.44 KiB, largest 20.0 KiB)";
    assert!(text.starts_with(&format!("\nAsked\n  100 incompressible {words}; ")), "{text}");
    assert!(text.contains(&format!("100 {words}.\n")), "{text}");
    assert!(!text.contains("You asked for"), "{text}");
}

#[test]
fn mixed_sizes_are_answered_by_what_is_like_them() {
    let answer_sizes = |asked: &str, measured: &[&str]| {
        let runs: Vec<Run> = measured.iter().map(|sizes| of_sizes(sizes)).collect();
        let asked = Question { size: asked.parse().unwrap(), ..question() };
        advice(&asked, &runs).map(|advice| advice.at.1.to_string())
    };
    let mixed = "90%:400B..600B+10%:20KiB";
    let wide = "100B..5000B";
    // The exact sizes win over others with the same mean, and over near ones.
    assert_eq!(answer_sizes(mixed, &[wide, mixed]), Ok(mixed.into()));
    assert_eq!(answer_sizes(mixed, &[wide]), Ok(wide.into()));
    assert_eq!(answer_sizes("1KiB..2KiB", &[mixed]), Ok(mixed.into()));
    // Within its ends, and far from most of its sizes.
    assert!(
        matches!(answer_sizes("18KiB", &[mixed]), Err(MissingCoverage::Place(places)) if places[0].contains("mixed sizes"))
    );
    assert!(answer_sizes(mixed, &["400B..600B"]).is_err());
}

#[test]
fn another_count_is_a_caution_beside_the_recommendation_with_the_budget_that_would_do() {
    let asked = Question { records: 200, ..question() };
    let mut found = advice(&asked, &[runs()]).unwrap();
    let caution = "Caution: Measured with 100 records, not with your 200: another store may be best there.";
    let near = |text: &str, caution: &str| {
        let lines: Vec<&str> = text.lines().collect();
        let recommended = lines.iter().position(|line| line.starts_with("Recommended")).unwrap();
        // After the lines on unnoticeable differences and on the cost of an accident.
        lines[recommended + 3] == format!("  {caution}")
    };
    assert!(near(&text(&found), caution), "{}", text(&found));
    found.verdict.cost.own_count_s = Some(400.0);
    let caution = format!("{caution} --budget 7m would measure 200.");
    assert!(near(&text(&found), &caution), "{}", text(&found));
    let html = found.html(None).into_string();
    assert!(html.contains("<strong>Caution: </strong>Measured with 100 records"), "{html}");
    assert!(!text(&advice(&question(), &[runs()]).unwrap()).contains("Caution"));
}

#[test]
fn reads_that_are_repeated_are_not_called_cold() {
    let asked = Question { cold: true, mix: "get=1".parse().unwrap(), ..question() };
    let mut run = runs();
    run.trials.iter_mut().for_each(|trial| trial.cell.set(Axis::CACHE, Cache::Cold.into()));
    let text = text(&advice(&asked, &[run]).unwrap());
    let caution = "Caution: Only partly cold: a trial makes 1,000 reads of 100 records, so ";
    assert!(text.contains(caution), "{text}");
}

#[test]
fn beside_other_programs_nothing_is_judged_and_no_budget_is_asked_for() {
    let mut run = runs();
    run.header.environment.cores = 2;
    run.trials.iter_mut().for_each(|trial| trial.others_processors = Some(1.8));
    let text = text(&advice(&question(), &[run]).unwrap());
    assert!(text.contains("Not judged, looked best:  lmdb ") && text.contains("x (not judged)  "), "{text}");
    assert!(!text.contains("--budget") && !text.contains("Too close") && !text.contains("(tie)"), "{text}");
}
