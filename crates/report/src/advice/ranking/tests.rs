//! Recommendations among stores that did not all run in the same blocks, or differ by less than the clock's resolution.

use storebench_figures::judge::Rule;
use storebench_samples::{Sample, blocks, run};

use super::super::sentences;
use super::super::tests::{advice, question};
use super::*;
use crate::advice::sensitivity::AnswerChange;
use crate::terminal::grid::Style;

/// Blocks of one store each, with the nanoseconds of an operation.
fn timed(store: &str, ns: &[f64]) -> Vec<Vec<Sample>> {
    ns.iter().map(|ns| vec![Sample::new(store).ns(*ns)]).collect()
}

#[test]
fn what_the_clock_cannot_tell_is_too_close_to_call() {
    let rule_at = |ns: f64| {
        let block = || vec![Sample::new("lmdb").ns(ns), Sample::new("redb").ns(ns * 1.02)];
        let runs = [blocks("box", &[block(), block(), block()])];
        advice(&question(), &runs).unwrap().verdict.ranking[1].verdict.rule()
    };
    assert_eq!((rule_at(300.0), rule_at(300_000.0)), (Some(Rule::Clock), Some(Rule::Interval)));
}

#[test]
fn a_store_that_was_given_up_after_a_quick_first_block_is_not_recommended() {
    let first = run(
        "box",
        &[
            Sample::new("lmdb").ns(50_000.0),
            Sample::new("redb").ns(55_000.0),
            Sample::new("sqlite").ns(60_000.0),
        ],
    );
    let block =
        |noise: f64| vec![Sample::new("lmdb").ns(100_000.0 * noise), Sample::new("redb").ns(110_000.0)];
    let again = blocks("box", &[block(1.0), block(1.01), block(0.99), block(1.0)]);
    let advice = advice(&question(), &[first, again]).unwrap();
    let JudgedStores { ranking, given_up, .. } = &advice.verdict;
    let verdicts: Vec<(&str, bool)> =
        ranking.iter().map(|store| (store.store.as_str(), store.verdict.wins())).collect();
    assert_eq!(verdicts, [("lmdb", true), ("redb", false)]);
    // The remark on it says what the first look found, compared with the best in that look.
    let ratio = given_up[0].times_worse.unwrap();
    assert!((ratio.ratio.value - 1.2).abs() < 0.01 && ratio.blocks == 1, "{ratio:?}");
    let text = advice.text(None, Style { width: 160, colour: false });
    let is_listed = text.contains("Given up after a look\n  sqlite: 1.20x slower (38.");
    assert!(is_listed && text.contains(" µs), measured once.\n"), "{text}");
    // All figures of the table are from the blocks of both.
    for store in ranking {
        assert_eq!((store.speed.trials, store.operations[0].1.trials), (5, 5), "{}", store.store);
    }
    let shown = ranking[1].speed.mean.value / ranking[0].speed.mean.value;
    assert!((shown / ranking[1].times_worse.unwrap().ratio.value - 1.0).abs() < 1e-9, "the line adds up");
    assert!(!sentences::describe_confidence(&advice).contains("sqlite"));
}

#[test]
fn a_store_that_a_planned_look_gave_up_takes_no_blocks_from_the_others() {
    let pair =
        |noise: f64| vec![Sample::new("lmdb").ns(100_000.0 * noise), Sample::new("redb").ns(103_000.0)];
    let three = |noise: f64| [pair(noise), vec![Sample::new("sqlite").ns(300_000.0)]].concat();
    let mut run = blocks("box", &[three(1.0), three(1.01), three(0.99), pair(1.02), pair(0.98)]);
    run.header.interim_analyses = vec![3, 5, 8];
    let advice = advice(&question(), &[run]).unwrap();
    let JudgedStores { ranking, given_up, .. } = &advice.verdict;
    let trials: Vec<(&str, usize)> =
        ranking.iter().map(|store| (store.store.as_str(), store.speed.trials)).collect();
    assert_eq!(trials, [("lmdb", 5), ("redb", 5)]);
    let ratio = given_up[0].times_worse.unwrap();
    assert_eq!((given_up[0].store.as_str(), ratio.blocks), ("sqlite", 3));
}

#[test]
fn a_store_that_was_given_up_may_be_the_best_by_another_goal() {
    let mut first = run("box", &[Sample::new("lmdb").ns(500.0), Sample::new("flat-folder").ns(900.0)]);
    first.trials[0].measured.as_mut().unwrap().disk.allocated_bytes *= 100;
    let again = blocks("box", &timed("lmdb", &[1000.0, 1000.0, 1000.0, 1000.0]));
    let advice = advice(&question(), &[first, again]).unwrap();
    let space = advice.turns.turns.iter().find(|turn| matches!(turn, AnswerChange::Goal(Goal::Space, ..)));
    assert_eq!(space.and_then(AnswerChange::store), Some("flat-folder"));
    assert_eq!(advice.verdict.given_up[0].store, "flat-folder");
}

#[test]
fn blocks_that_one_store_lacks_do_not_make_it_the_best() {
    // The third block was slow for every store; redb failed in it, and is worse in every other.
    let mut samples = [1000.0, 1010.0, 3000.0, 990.0]
        .map(|ns| vec![Sample::new("lmdb").ns(ns), Sample::new("redb").ns(ns * 1.1)]);
    samples[2][1] = Sample::new("redb").failed("out of luck");
    let runs = [blocks("box", &samples)];
    assert_eq!(advice(&question(), &runs).unwrap().verdict.ranking[0].store, "lmdb");
    let merged = Merged::new(&runs, &[]);
    for row in storebench_figures::data::matrix::matrices(&merged).iter().flat_map(|matrix| &matrix.rows) {
        assert_eq!(row.contests[0].contenders[0].store, "lmdb", "{}", row.figure.name);
    }
    // Neither are blocks of another run in which only one of them took part.
    let slow = blocks("box", &timed("lmdb", &[9000.0, 9000.0, 9000.0]));
    let [first] = runs;
    assert_eq!(advice(&question(), &[first, slow]).unwrap().verdict.ranking[0].store, "lmdb");
}

/// Sets the time of every operation of a trial.
fn set_ns(trial: &mut storebench_model::result::TrialResult, ns: f64) {
    for operation in &mut trial.measured.as_mut().unwrap().operations {
        operation.sum_ns = (ns * operation.count as f64) as u64;
    }
}

#[test]
fn simulated_searches_find_the_best_and_never_recommend_what_they_gave_up() {
    const TRUTH: [f64; 8] = [1000.0, 1040.0, 1080.0, 1120.0, 1160.0, 1200.0, 1300.0, 1500.0];
    let names: Vec<String> = (0..TRUTH.len()).map(|index| format!("store{index}")).collect();
    let block: Vec<Sample> = names.iter().map(|name| Sample::new(name)).collect();
    let first = run("box", &block);
    let again = blocks("box", &vec![block; 7]);
    let mut random = fastrand::Rng::with_seed(4);
    let (rounds, mut right, mut given_up) = (200, 0, 0);
    for round in 0..rounds {
        let quick = if round % 2 == 0 { 0.5 } else { 1.0 };
        let mut runs = [first.clone(), again.clone()];
        let mut weather = [0.0; 8].map(|_| (0.3 * storebench_samples::normal(&mut random)).exp());
        weather[0] = quick;
        for (index, run) in runs.iter_mut().enumerate() {
            for trial in &mut run.trials {
                let store: usize = trial.cell.store()[5..].parse().unwrap();
                let noise = (0.03 * storebench_samples::normal(&mut random)).exp();
                set_ns(trial, TRUTH[store] * weather[index + trial.block as usize] * noise);
            }
        }
        let first_advice = advice(&question(), &runs[..1]).unwrap();
        let finalists: Vec<String> =
            first_advice.verdict.ranking.iter().take(4).map(|store| store.store.clone()).collect();
        runs[1].trials.retain(|trial| finalists.iter().any(|store| store == trial.cell.store()));
        let best = advice(&question(), &runs).unwrap().verdict.ranking.swap_remove(0);
        given_up += usize::from(!finalists.contains(&best.store));
        right += usize::from(best.store == names[0]);
    }
    assert_eq!(given_up, 0);
    // Eight pairs 4 % apart, each known to 4.2 %: the best is found 99 times of 100.
    assert!(f64::from(right as u32) / f64::from(rounds) >= 0.97, "{right} of {rounds}");
}
