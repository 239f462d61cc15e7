//! Winners, ties and absent stores of made runs.

use storebench_host::run::Run;
use storebench_model::result::{LeftOutCell, LeftOutReason};
use storebench_model::stores::NULL;
use storebench_model::units::CountRange;
use storebench_samples::{Sample, blocks, run};

use super::*;
use crate::column::MEAN_LATENCY;

fn only_matrix(runs: &[Run]) -> Matrix {
    let merged = Merged::new(runs, &[NULL]);
    let mut matrices = matrices(&merged);
    assert_eq!(matrices.len(), 1);
    matrices.remove(0)
}

fn winners(contest: &Contest) -> Vec<&str> {
    contest.winners().map(|winner| winner.store.as_str()).collect()
}

#[test]
fn the_harness_never_wins() {
    let runs = [run("box", &[Sample::new("null").ns(1.0), Sample::new("lmdb").ns(900.0)])];
    for row in &only_matrix(&runs).rows {
        assert_eq!((winners(&row.contests[0]), row.contests[0].contenders.len()), (vec!["lmdb"], 1));
    }
    let runs = [run("box", &[Sample::new("null")])];
    assert!(matrices(&Merged::new(&runs, &[NULL])).is_empty());
}

#[test]
fn stores_that_no_early_analysis_separates_are_judged_by_the_last_one() {
    // Eight ratios of about 1.34 % with a standard error of 0.38 %: too little for a strict analysis, enough for the last.
    let block = |number: usize| {
        let redb_ns = 100_000.0 * (0.0134_f64 + [0.01, -0.01][number % 2]).exp();
        vec![Sample::new("lmdb").ns(100_000.0), Sample::new("redb").ns(redb_ns)]
    };
    let mut run = blocks("box", &(0..8).map(block).collect::<Vec<_>>());
    run.header.interim_analyses = vec![8, 12, 20, 32];
    run.header.strict_early = true;
    let count_winners = |run: &Run| {
        let merged = Merged::new(std::slice::from_ref(run), &[]);
        let sorted = SortedTrials::new(&merged, &merged.groups[0]);
        let position = sorted.entries.keys().next().unwrap();
        let column = &MEAN_LATENCY;
        [sorted.early_contest(position, "get", column), sorted.contest(position, "get", column)]
            .map(|contest| winners(&contest).len())
    };
    assert_eq!(count_winners(&run), [2, 1]);
    // A strict analysis's verdict stays, with its own interval.
    let clear = |number: usize| {
        let redb_ns = 110_000.0 * [0.01_f64, -0.01][number % 2].exp();
        vec![Sample::new("lmdb").ns(100_000.0), Sample::new("redb").ns(redb_ns)]
    };
    let clear = Run::new(run.header, blocks("box", &(0..8).map(clear).collect::<Vec<_>>()).trials);
    assert_eq!(count_winners(&clear), [1, 1]);
    let matrix = only_matrix(std::slice::from_ref(&clear));
    let row = matrix.rows.iter().find(|row| row.figure.name == "get").unwrap();
    let interval = row.contests[0].contenders[1].times_worse.unwrap().ratio.interval.unwrap();
    assert!((interval.confidence - (1.0 - 0.005 / 3.0)).abs() < 1e-12, "{interval:?}");
}

#[test]
fn a_build_with_assertions_has_no_place_among_the_winners() {
    let quickest = Sample::new("rocksdb").ns(1.0);
    let samples = [quickest.clone().distributed(true), Sample::new("lmdb").ns(900.0)];
    let asserting = run("box", &samples);
    let contest = &only_matrix(std::slice::from_ref(&asserting)).rows[0].contests[0];
    assert_eq!(winners(contest), ["lmdb"]);
    assert_eq!(contest.absent, [AbsentStore { store: "rocksdb".into(), why: AbsenceReason::NotRanked }]);
    // Another run's release build replaces it, with only its own figures.
    let other_samples = [quickest.ns(1800.0).distributed(false), Sample::new("lmdb").ns(900.0)];
    let other_runs = vec![run("box", &other_samples); 3];
    let contest = &only_matrix(&[vec![asserting], other_runs].concat()).rows[0].contests[0];
    assert_eq!((winners(contest), contest.contenders.len()), (vec!["lmdb"], 2));
    assert!((contest.contenders[1].figure.mean.value - 1800.0).abs() < 1.0);
    let alone = only_matrix(&[run("box", &[Sample::new("rocksdb").distributed(true)])]);
    assert_eq!(alone.rows[0].contests[0].why_empty(), Some(AbsenceReason::NotRanked));
}

#[test]
fn two_runs_of_a_machine_decide_together() {
    let block = |ns| [Sample::new("lmdb").ns(1000.0), Sample::new("redb").ns(ns)];
    let runs: Vec<Run> = [1030.0, 1031.0, 1029.0].map(|ns| run("box", &block(ns))).into();
    let contest = &only_matrix(&runs[..2]).rows[0].contests[0];
    assert_eq!(winners(contest), ["lmdb", "redb"]);
    assert_eq!(contest.contenders[1].verdict.rule(), Some(Rule::Open));
    let contest = &only_matrix(&runs).rows[0].contests[0];
    assert_eq!(winners(contest), ["lmdb"]);
    assert_eq!(contest.contenders[1].times_worse.map(|ratio| ratio.blocks), Some(3));
}

#[test]
fn space_that_is_doubted_wins_nothing_and_is_told() {
    let mut runs = [run("box", &[Sample::new("lmdb"), Sample::new("redb")])];
    let measured = runs[0].trials[1].measured.as_mut().unwrap();
    measured.disk.allocated_bytes = 4096;
    measured.warnings =
        vec![storebench_model::result::Warning { figure: SPACE.into(), reason: "too little".into() }];
    let matrix = only_matrix(&runs);
    for row in &matrix.rows {
        let contest = &row.contests[0];
        if row.figure.name == "space" {
            assert_eq!(winners(contest), ["lmdb"]);
            assert_eq!(contest.absent, [AbsentStore { store: "redb".into(), why: AbsenceReason::Warning }]);
        } else {
            assert_eq!(contest.contenders.len(), 2, "{}: the rest counts", row.figure.name);
        }
    }
    let merged = Merged::new(&runs, &[]);
    let text = crate::data::summary::warning_lines(&merged).join("\n");
    assert!(text.contains("space of redb/1B..1KiB/100..500/incompressible/process: too little"), "{text}");
}

#[test]
fn what_the_work_does_not_have_or_the_store_lacks_does_not_apply() {
    let other_count = CountRange::starting_at(1000);
    let mut runs =
        [run("box", &[Sample::new("lmdb"), Sample::new("redb"), Sample::new("lmdb").records(other_count)])];
    for trial in &mut runs[0].trials[..2] {
        trial.measured.as_mut().unwrap().operations.retain(|operation| operation.operation != "get");
    }
    runs[0].header.left_out.push(LeftOutCell {
        cell: Sample::new("redb").records(other_count).cell(),
        reason: LeftOutReason::NoOrder { store: "redb".into() },
    });
    let matrix = only_matrix(&runs);
    let get = matrix.rows.iter().find(|row| row.figure.name == "get").unwrap();
    assert_eq!(get.contests[0].why_empty(), Some(AbsenceReason::NotApplicable));
    assert_eq!(get.contests[1].absent[0].why, AbsenceReason::NotApplicable);
    let insert = matrix.rows.iter().find(|row| row.figure.name == "insert").unwrap();
    assert_eq!(insert.contests[0].absent, []);
    assert_eq!(insert.contests[1].absent[0].why, AbsenceReason::NotApplicable);
    // If others of the place were left out, too.
    let mut mixed = runs.clone();
    mixed[0].header.left_out.push(LeftOutCell {
        cell: Sample::new("sqlite").cell(),
        reason: LeftOutReason::Sentence("sqlite does not offer it".into()),
    });
    let mixed = only_matrix(&mixed);
    let get = &mixed.rows.iter().find(|row| row.figure.name == "get").unwrap().contests[0];
    assert_eq!((get.absent.len(), get.why_empty()), (3, Some(AbsenceReason::NotApplicable)));
    // Nothing of it is missing.
    let missing = crate::data::summary::missing_figures(&Merged::new(&runs, &[]), [&matrix]);
    assert_eq!((missing.not_run.len(), missing.left_out.len()), (0, 1));
}

#[test]
fn an_empty_place_says_why() {
    let other_count = CountRange::starting_at(1000);
    let mut runs = [run(
        "box",
        &[
            Sample::new("lmdb").failed("broken"),
            Sample::new("redb").unsupported("no"),
            Sample::new("lmdb").records(other_count),
        ],
    )];
    runs[0].header.left_out.push(LeftOutCell {
        cell: Sample::new("redb").records(other_count).cell(),
        reason: LeftOutReason::Sentence("too large".into()),
    });
    let contests = &only_matrix(&runs).rows[0].contests;
    assert_eq!(contests[0].why_empty(), Some(AbsenceReason::Failed));
    assert_eq!(contests[0].failed_trials, 1);
    let absent: Vec<AbsenceReason> = contests[0].absent.iter().map(|absent| absent.why).collect();
    assert_eq!(absent, [AbsenceReason::Failed, AbsenceReason::Unsupported]);
    assert_eq!((winners(&contests[1]), contests[1].absent[0].why), (vec!["lmdb"], AbsenceReason::LeftOut));
}
