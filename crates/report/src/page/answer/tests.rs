use storebench_core::cell::Data;
use storebench_core::units::{CountRange, SizeRange};
use storebench_host::run::Run;

use super::*;
use crate::data::matrix::matrices;
use crate::data::samples::{self, Sample, blocks, run};

/// The answer of a run whose trials were all made three times.
fn answer(run: Run) -> String {
    let runs = vec![run; 3];
    let merged = Merged::new(&runs, &["null"]);
    let matrices: Vec<_> = matrices(&merged).into_iter().map(Some).collect();
    html(&merged, &matrices).as_str().to_owned()
}

/// Three stores at some record counts; each is the best at the count of its number.
fn taking_turns(counts: &[usize]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (step, best) in counts.iter().enumerate() {
        for (number, store) in ["lmdb", "redb", "fjall"].into_iter().enumerate() {
            let ns = if number == *best { 1000.0 } else { 5000.0 };
            let records = CountRange::starting_at(100 * 10_u64.pow(step as u32));
            samples.push(Sample::new(store).ns(ns).records(records));
        }
    }
    samples
}

#[test]
fn a_store_alone_is_not_preferred_and_comes_last() {
    let two = [Sample::new("lmdb").guarantee("power"), Sample::new("redb").guarantee("power").ns(5000.0)];
    let samples = [vec![Sample::new("lmdb").guarantee("process")], two.into()].concat();
    let text = answer(run("box", &samples));
    let only = "Guarantee process: Only <strong>lmdb</strong> was measured here: nothing to compare.";
    assert!(text.find(only) > text.find("Guarantee power"), "{text}");
    assert!(!text.contains("of 0 comparisons"), "{text}");
    let both = [Sample::new("lmdb"), Sample::new("redb").records(CountRange::starting_at(1000))];
    let text = answer(run("box", &both));
    assert!(text.contains("lmdb and redb were measured here, but never at the same combination"), "{text}");
}

#[test]
fn no_store_is_preferred_that_wins_fewer_than_half() {
    let text = answer(run("box", &taking_turns(&[0, 1, 2, 0, 1])));
    assert!(!text.contains("Prefer <"), "{text}");
    assert!(text.contains("No single winner for insert, update, get"), "{text}");
    assert!(text.contains("<strong>lmdb</strong> most often, in 2 of 5 combinations"), "{text}");
}

#[test]
fn counts_that_separate_winners_split_the_answer() {
    let text = answer(run("box", &taking_turns(&[0, 0, 0, 1, 1])));
    assert!(text.contains("It depends for insert, update, get"), "{text}");
    assert!(text.contains("<strong>lmdb</strong> at 100 to 10,000 records: the best in all 3"), "{text}");
    assert!(
        text.contains("<strong>redb</strong> at 100,000 to 1,000,000 records: the best in all 2"),
        "{text}"
    );
}

#[test]
fn data_that_separates_winners_splits_the_answer() {
    let mut samples = Vec::new();
    for records in [100, 1000, 10_000] {
        for (data, redb) in [(Data::Incompressible, 500.0), (Data::Compressible, 2000.0)] {
            let at = |store: &str| Sample::new(store).data(data).records(CountRange::starting_at(records));
            samples.extend([at("lmdb").ns(1000.0), at("redb").ns(redb)]);
        }
    }
    let text = answer(run("box", &samples));
    assert!(text.contains("<strong>lmdb</strong> with compressible data: the best in all 3"), "{text}");
}

#[test]
fn parts_with_one_store_are_put_together() {
    let sizes = [(1, 1024), (1024, 10_240), (10_240, 102_400)];
    let mut samples = Vec::new();
    for (number, (from, to)) in sizes.into_iter().enumerate() {
        let redb = if number == 1 { 100.0 } else { 5000.0 };
        let at = |store: &str| Sample::new(store).size(SizeRange { from, to });
        samples.extend([at("lmdb"), at("redb").ns(redb)]);
    }
    let text = answer(run("box", &samples));
    assert!(
        text.contains("<strong>lmdb</strong> at 1B..1KiB and 10KiB..100KiB: the best in all 2"),
        "{text}"
    );
}

#[test]
fn a_store_that_is_near_the_best_everywhere_is_preferred() {
    let mut samples = Vec::new();
    for (step, best) in ["a", "b", "c"].into_iter().enumerate() {
        for store in ["a", "b", "c"] {
            let ns = if store == best { 1000.0 } else { 9000.0 };
            let records = CountRange::starting_at(100 * 10_u64.pow(step as u32));
            samples.push(Sample::new(store).ns(ns).records(records));
            samples.push(Sample::new("steady").ns(1100.0).records(records));
        }
    }
    let text = answer(run("box", &samples));
    assert!(text.contains("Prefer <strong>steady</strong> for insert"), "{text}");
    assert!(
        text.contains(
            "<strong>steady</strong> is the best or tied in 3 of 12 comparisons, 1.10x the best latency on average, at worst 1.10x"
        ),
        "{text}"
    );
    assert!(text.contains("; next a, 4.33x."), "{text}");
}

#[test]
fn what_is_too_close_to_call_everywhere_is_a_tie_and_long_lists_are_counted() {
    let names = ["a", "b", "c", "d", "e"];
    let at = |records: u64| names.map(|name| Sample::new(name).records(CountRange::starting_at(records)));
    let text = answer(run("box", &[at(100), at(1000)].concat()));
    assert!(
        text.contains("<p class=\"lead\">A tie: no two can be told apart in any of 12 comparisons.</p>"),
        "{text}"
    );
    assert!(!text.contains("best overall") && !text.contains("the best everywhere"), "{text}");
    assert!(text.contains("a, b, c and 2 more") && !text.contains("a, b, c, d"), "{text}");
    // Two that are the best together, and others behind them.
    let behind = [at(100), at(1000)].concat().into_iter().enumerate();
    let behind: Vec<Sample> =
        behind.map(|(i, sample)| if i % 5 > 1 { sample.ns(5000.0) } else { sample }).collect();
    let text = answer(run("box", &behind));
    assert!(
        text.contains("No single winner: in each of 12 comparisons the best are too close to call."),
        "{text}"
    );
    assert!(text.contains("<strong>a</strong> is among them in all."), "{text}");
    // One store that wins one combination is no tie.
    let mut one = [at(100), at(1000)].concat();
    one[0] = Sample::new("a").ns(1.0).records(CountRange::starting_at(100));
    let text = answer(run("box", &one));
    assert!(!text.contains("A tie"), "{text}");
}

#[test]
fn what_was_not_measured_speaks_for_no_store() {
    let at = |store: &str, step: u32, ns: f64| {
        Sample::new(store).records(CountRange::starting_at(10_u64.pow(step))).ns(ns)
    };
    // Both win two of four; where both ran redb is nearer to the best; where lmdb did not run redb is far from it.
    let text = answer(run(
        "box",
        &[
            at("lmdb", 2, 1000.0),
            at("redb", 2, 1150.0),
            at("redb", 3, 1000.0),
            at("lmdb", 3, 3000.0),
            at("lmdb", 4, 1000.0),
            at("redb", 4, 1010.0),
            at("redb", 5, 9000.0),
            at("fjall", 5, 1000.0),
        ],
    ));
    assert!(text.contains("<dt>insert</dt><dd><strong>redb</strong>: the best in 1 of 4"), "{text}");
    let count = |store: &str, number: u64| Sample::new(store).records(CountRange::starting_at(100 * number));
    let beside = (1..=10).flat_map(|number| [count("lmdb", number), count("redb", number).ns(5000.0)]);
    let alone = [count("redb", 11), count("fjall", 11).ns(2000.0)];
    let text = answer(run("box", &beside.chain(alone).collect::<Vec<_>>()));
    assert!(
        text.contains(
            "<strong>lmdb</strong> is the best wherever it was measured; not measured in 4 combinations."
        ),
        "{text}"
    );
    assert!(text.contains("not measured in 1"), "{text}");
}

#[test]
fn the_answer_of_a_large_run_at_random_prefers_nothing() {
    let text = answer(samples::many(2000));
    assert!(!text.contains("Prefer <"), "{text}");
    let three = blocks("box", &[taking_turns(&[0, 0]), taking_turns(&[0, 0]), taking_turns(&[0, 0])]);
    assert!(answer(three).contains("<strong>lmdb</strong> is the best everywhere"));
}
