use storebench_figures::data::memory::Basis;
use storebench_host::run::Run;
use storebench_model::result::{LeftOutCell, LeftOutReason, StoreInfo};
use storebench_model::store::{Capabilities, Guarantee, GuaranteeOffer, StoreKind};
use storebench_model::stores::NULL;
use storebench_model::units::{CountRange, SizeRange};
use storebench_samples::{Sample, blocks, run};

use super::absent::{NO_TURN, NOT_CHOSEN};
use super::other_store::{OtherStore, OtherStoreReason};
use super::question::{Goal, Question};
use super::ranking::reasons;
use super::sensitivity::AnswerChange;
use super::*;
use crate::report::Report;

pub(crate) fn question() -> Question {
    Question {
        records: 100,
        size: SizeRange { from: 1, to: 1024 }.into(),
        data: storebench_model::cell::Data::Incompressible,
        guarantee: storebench_model::store::Guarantee::Process,
        threads: 1,
        machine: "here".into(),
        disk: None,
        mix: "get=80,update=15,insert=5".parse().unwrap(),
        cold: false,
        overwritten: None,
        network: None,
        goal: Goal::Speed,
        max_memory_bytes: None,
        stores: None,
    }
}

pub(super) fn advice(question: &Question, runs: &[Run]) -> Result<Advice, MissingCoverage> {
    Advice::from_runs(question, &Merged::new(runs, &[NULL]), None, &[])
}

/// Three blocks in which lmdb is best, redb 1.5 times worse and sqlite 4 times; rocksdb fails.
fn three_blocks() -> Run {
    let block = |noise: f64| {
        vec![
            Sample::new("redb").ns(1500.0 * noise),
            Sample::new("lmdb").ns(1000.0 * noise),
            Sample::new("sqlite").ns(4000.0),
            Sample::new("null").ns(1.0),
            Sample::new("rocksdb").failed("out of luck"),
        ]
    };
    blocks("box", &[block(1.0), block(1.02), block(0.99)])
}

#[test]
fn the_best_comes_first_and_the_others_are_weighed_against_it() {
    let advice = advice(&question(), &[three_blocks()]).unwrap();
    let names: Vec<&str> = advice.verdict.ranking.iter().map(|store| store.store.as_str()).collect();
    assert_eq!(names, ["lmdb", "redb", "sqlite"]);
    let [best, redb, _] = advice.verdict.ranking.as_slice() else { panic!() };
    // 80 % of gets at 500 ns, 15 % of updates at 1,250 ns, 5 % of inserts at 1,000 ns, less a little noise.
    assert!((best.speed.mean.value / 637.5 - 1.0).abs() < 0.01, "{:?}", best.speed);
    assert!((redb.times_worse.unwrap().ratio.value - 1.5).abs() < 0.01);
    assert_eq!((best.verdict.wins(), redb.verdict.wins(), best.beaten_by.clone()), (true, false, None));
    assert_eq!(redb.beaten_by.as_deref(), Some("lmdb"));
    assert_eq!(advice.verdict.out[0].why, "failed: out of luck");
    assert_eq!(advice.turns.turns, []);
    assert!(advice.is_clear(0.03));
    let once = run("box", &[Sample::new("lmdb").ns(1000.0), Sample::new("redb").ns(9000.0)]);
    assert!(!self::advice(&question(), &[once]).unwrap().is_clear(0.03));
}

#[test]
fn intervals_allow_for_the_looks_that_were_planned() {
    let plain = advice(&question(), &[three_blocks()]).unwrap();
    let mut stopped = three_blocks();
    stopped.header.interim_analyses = vec![3, 5, 8, 12, 20];
    let stopped = advice(&question(), &[stopped]).unwrap();
    let interval = |advice: &Advice| advice.verdict.ranking[2].times_worse.unwrap().ratio.interval.unwrap();
    assert!((interval(&stopped).confidence - 0.99).abs() < 1e-12);
    assert!(interval(&stopped).low < interval(&plain).low);
    let against = stopped.verdict.ranking[1].against_best[0].1.unwrap().ratio.interval.unwrap();
    assert!((against.confidence - 0.99).abs() < 1e-12);
    assert!(sentences::describe_confidence(&stopped).contains("allowing for 5 interim analyses, 3 trials"));
    assert!(sentences::describe_confidence(&plain).contains("(95 % confidence, 3 trials"));
    // Together, two such runs may combine any look of one with any of the other.
    let mut twice = [three_blocks(), three_blocks()];
    twice.iter_mut().for_each(|run| run.header.interim_analyses = vec![3, 5]);
    assert_eq!(advice(&question(), &twice).unwrap().verdict.looks, 4);
}

#[test]
fn time_goes_to_the_pairs_that_it_can_decide() {
    // Compared with the best, redb is 5 % worse and varies by some percent; sqlite is equal and varies widely; fjall is far behind.
    let block = |number: usize| {
        let noise = |share: f64, step: usize| 1.0 + share * ((number * step) % 5) as f64;
        vec![
            Sample::new("lmdb").ns(100_000.0),
            Sample::new("redb").ns(101_000.0 * noise(0.02, 2)),
            Sample::new("sqlite").ns(60_000.0 * noise(0.9, 3)),
            Sample::new("fjall").ns(900_000.0 * noise(0.01, 1)),
        ]
    };
    let mut run = blocks("box", &(0..5).map(block).collect::<Vec<_>>());
    let looks = [3, 5, 8, 12];
    run.header.interim_analyses = looks.to_vec();
    let advice = advice(&question(), &[run]).unwrap();
    let mut beyond = advice.beyond_deciding(0.03, &looks);
    beyond.sort_unstable();
    assert_eq!(beyond, ["fjall", "sqlite"], "{:?}", advice.verdict.ranking);
}

#[test]
fn a_store_with_too_much_memory_is_out_of_the_question() {
    // The samples' memory is a kibibyte for each nanosecond.
    let question = Question { max_memory_bytes: Some(1200 << 10), ..question() };
    let advice = advice(&question, &[three_blocks()]).unwrap();
    assert_eq!(advice.trials().keys().copied().collect::<Vec<_>>(), ["lmdb"]);
    assert!(advice.verdict.out.iter().any(|out| out.store == "redb" && out.why.contains("of memory")));
}

#[test]
fn a_store_that_takes_no_memory_at_all_is_compared_too() {
    // The samples' memory is a kibibyte for each nanosecond: none, little, and four mebibytes.
    let block = vec![
        Sample::new("lmdb").ns(9.0),
        Sample::new("flat-folder").ns(0.0005),
        Sample::new("redb").ns(4096.0),
    ];
    let runs = [blocks("box", &[block.clone(), block.clone(), block])];
    let advice = advice(&Question { goal: Goal::Memory, ..question() }, &runs).unwrap();
    let [flat, lmdb, redb] = advice.verdict.ranking.as_slice() else { panic!() };
    assert_eq!(flat.store, "flat-folder", "of those that are alike the quickest");
    assert_eq!((flat.memory.mean.value, redb.store.as_str()), (0.0, "redb"));
    let wins = [flat, lmdb, redb].map(|store| store.verdict.wins());
    assert_eq!(wins, [true, true, false], "below a mebibyte stores are alike");
    assert!((redb.times_worse.unwrap().ratio.value - 4.0).abs() < 1e-9);
    let text = advice.text(None, Style { width: 100, colour: false });
    assert_eq!(text.matches("  best  ").count(), 1, "{text}");
    assert!(text.contains("1.00x (tie)"), "{text}");
    assert!(text.contains("Memory below 1.00 MiB counts as 1.00 MiB"), "{text}");
}

#[test]
fn stores_that_share_no_block_are_not_called_best() {
    let runs = [run("box", &[Sample::new("lmdb")]), run("box", &[Sample::new("redb").ns(2000.0)])];
    let advice = advice(&question(), &runs).unwrap();
    let confidence = sentences::describe_confidence(&advice);
    assert!(confidence.contains("no other store that is as safe was measured as often"), "{confidence}");
    let text = advice.text(None, Style { width: 100, colour: false });
    assert!(text.contains("  redb: never measured together with it.\n"), "{text}");
    assert_eq!(advice.verdict.ranking.len(), 1, "no figure of other blocks stands beside the best's");
    assert!(advice.html(None).as_str().contains("redb: never measured together with it"));
}

#[test]
fn records_of_another_size_may_turn_the_answer_and_where_is_told() {
    let other = SizeRange { from: 4096, to: 8192 };
    let runs = [run(
        "box",
        &[
            Sample::new("lmdb").ns(1000.0),
            Sample::new("redb").ns(2000.0),
            Sample::new("lmdb").size(other).ns(4000.0),
            Sample::new("redb").size(other).ns(2000.0),
            Sample::new("lmdb").records(CountRange::starting_at(200)).ns(1000.0),
            Sample::new("redb").records(CountRange::starting_at(200)).ns(1500.0),
        ],
    )];
    let advice = advice(&question(), &runs).unwrap();
    let [AnswerChange::Size(size, change)] = advice.turns.turns.as_slice() else {
        panic!("{:?}", advice.turns)
    };
    assert_eq!((**size, change.store.as_deref(), change.trials), (other.into(), Some("redb"), 1));
    let OtherStoreReason::Beaten(times, equal_at) = change.why.clone() else { panic!("{change:?}") };
    assert!((times.unwrap().ratio.value - 2.0).abs() < 0.01);
    // Twice as bad here, half as bad there: equal half-way between the mean sizes on a logarithmic scale.
    let half_way = (question().size.mean() * other.mean()).sqrt();
    assert!((equal_at.unwrap() / half_way - 1.0).abs() < 0.01);
    assert_eq!(advice.turns.counts, [CountRange::starting_at(200)]);
}

#[test]
fn the_nearest_crossing_to_either_side_is_shown() {
    // The question has 80 % gets. The times of a get and of a write: redb crosses lmdb at 83 %, fjall at 95 %, sqlite at 29 %, where it is
    // ahead of leveldb, which crosses at 10 %.
    let costs = [
        ("lmdb", 100.0, 100.0),
        ("redb", 80.0, 200.0),
        ("fjall", 50.0, 1050.0),
        ("sqlite", 200.0, 60.0),
        ("leveldb", 820.0, 20.0),
    ];
    let block: Vec<Sample> = costs.iter().map(|(store, ..)| Sample::new(store)).collect();
    let mut run = blocks("box", &vec![block; 5]);
    for (trial, (_, get, write)) in run.trials.iter_mut().zip(costs.iter().cycle()) {
        for operation in &mut trial.measured.as_mut().unwrap().operations {
            let ns = if operation.operation == "get" { get } else { write };
            operation.sum_ns = (ns * f64::from(100 + trial.block)) as u64 * operation.count;
        }
    }
    let advice = advice(&question(), &[run]).unwrap();
    let turns = advice.turns.turns.iter().filter_map(|turn| match turn {
        AnswerChange::Gets(share, OtherStore { store, why: OtherStoreReason::Beaten(_, alike), .. }) => {
            Some((*share, store.as_deref()?, *alike))
        }
        _ => None,
    });
    let turns: Vec<_> = turns.collect();
    let [(fewer, "sqlite", Some(28.0)), (more, "redb", Some(84.0))] = turns[..] else { panic!("{turns:?}") };
    assert!((20..=28).contains(&fewer) && (84..95).contains(&more), "{fewer} {more}");
    let text = advice.text(None, Style { width: 100, colour: false });
    assert!(text.contains("equal at about 84 %"), "{text}");
}

fn offers(guarantees: &[Guarantee]) -> &'static [GuaranteeOffer] {
    let offer = |guarantee: &Guarantee| GuaranteeOffer { guarantee: *guarantee, ..NULL.offers[0] };
    guarantees.iter().map(offer).collect::<Vec<_>>().leak()
}

fn engine(name: &'static str, offers: &'static [GuaranteeOffer]) -> StoreDef {
    StoreDef { name, offers, kind: StoreKind::Engine, ..NULL }
}

fn out(advice: &Advice) -> Vec<(&str, &str)> {
    advice.verdict.out.iter().map(|out| (out.store.as_str(), out.why.as_str())).collect()
}

#[test]
fn stores_without_an_answer_are_named_with_the_reason() {
    let mut run = three_blocks();
    run.header.stores.push(StoreInfo {
        name: "unqlite".into(),
        version: "1".into(),
        server: false,
        library: None,
    });
    run.header.left_out.push(LeftOutCell {
        cell: Sample::new("strong").cell(),
        reason: LeftOutReason::Sentence("it can't".into()),
    });
    let process = offers(&[Guarantee::Process]);
    let table = [
        engine("unqlite", process),
        engine("strong", offers(&[Guarantee::None, Guarantee::Power])),
        engine("weak", NULL.offers),
        engine("other", process),
        StoreDef::not_built("lost", StoreKind::Engine, "", "build it in"),
        NULL,
    ];
    let runs = [run];
    let merged = Merged::new(&runs, &[NULL]);
    let advice = Advice::from_runs(&question(), &merged, None, &table).unwrap();
    assert_eq!(
        out(&advice),
        [
            ("rocksdb", "failed: out of luck"),
            ("strong", "does not offer process; it offers power, which would do, but was not measured"),
            ("unqlite", NO_TURN),
            ("weak", "does not offer process"),
            ("other", "not measured with 100 records of 1B..1KiB at guarantee process"),
            ("lost", "build it in"),
        ]
    );
    assert!(sentences::measured(&advice).concat().contains("Unfinished"));
    let chosen = Question { stores: Some(vec!["redb".into(), "sqlite".into()]), ..question() };
    let advice = Advice::from_runs(&chosen, &merged, None, &table).unwrap();
    assert_eq!(advice.trials().keys().copied().collect::<Vec<_>>(), ["redb", "sqlite"]);
    assert_eq!(out(&advice), ["lmdb", "rocksdb", "unqlite"].map(|store| (store, NOT_CHOSEN)));
    assert_eq!(reasons(&advice.verdict.out), [format!("lmdb, rocksdb, unqlite: {NOT_CHOSEN}")]);
    assert!(chosen.to_string().ends_with("; among redb, sqlite"));
}

#[test]
fn stores_that_were_measured_elsewhere_only_are_named() {
    let other = SizeRange { from: 4096, to: 8192 };
    let runs = [
        run("box", &[Sample::new("lmdb"), Sample::new("redb")]),
        run("box", &[Sample::new("sqlite").size(other)]),
    ];
    let advice = advice(&question(), &runs).unwrap();
    assert_eq!(out(&advice), [("sqlite", "not measured with 100 records of 1B..1KiB at guarantee process")]);
}

#[test]
fn ties_are_no_reason_to_be_on_the_pareto_front_nor_off_it() {
    // Time and disk follow the nanoseconds; memory is below the least that counts. One percent is within the threshold.
    let beaten = |samples: &[Sample]| -> Vec<(String, Option<String>)> {
        let advice = advice(&question(), &[blocks("box", &vec![samples.to_vec(); 3])]).unwrap();
        advice.verdict.ranking.into_iter().map(|store| (store.store, store.beaten_by)).collect()
    };
    let close = beaten(&[Sample::new("lmdb").ns(100.0), Sample::new("redb").ns(101.0)]);
    assert!(close.iter().all(|(_, beaten)| beaten.is_none()), "a hundredth behind in all: {close:?}");
    let quick = Sample::new("lmdb").ns(100.0);
    let mut run = blocks("box", &vec![vec![quick.clone(), quick]; 3]);
    // The second is half as quick, and a thousandth smaller on disk.
    for trial in run.trials.iter_mut().skip(1).step_by(2) {
        trial.cell.set(storebench_model::cell::Axis::STORE, storebench_model::axis::Value::word("redb"));
        let measured = trial.measured.as_mut().unwrap();
        measured.operations.iter_mut().for_each(|operation| operation.sum_ns *= 2);
        measured.disk.allocated_bytes = measured.disk.allocated_bytes * 999 / 1000;
    }
    let advice = advice(&question(), &[run]).unwrap();
    let [lmdb, redb] = advice.verdict.ranking.as_slice() else { panic!() };
    assert!(redb.space.mean.value < lmdb.space.mean.value);
    assert_eq!((lmdb.beaten_by.as_deref(), redb.beaten_by.as_deref()), (None, Some("lmdb")));
    assert!(sentences::trade(redb).ends_with("; lmdb is at least as good in all three."));
}

/// The lines on what would change the answer for runs whose first samples are at the question's place.
fn changes_of(question: &Question, samples: &[Sample], trials: usize) -> Vec<String> {
    changes::changes(&advice(question, &[blocks("box", &vec![samples.to_vec(); trials])]).unwrap())
}

#[test]
fn a_store_that_is_out_elsewhere_is_not_called_the_best_there() {
    let size = |from: u64| SizeRange { from, to: from * 2 };
    let samples = [
        Sample::new("lmdb").ns(1000.0),
        Sample::new("redb").ns(2000.0),
        // Too much memory: the samples' memory is a kibibyte for each nanosecond.
        Sample::new("lmdb").size(size(4096)).ns(90_000.0),
        Sample::new("redb").size(size(4096)).ns(20_000.0),
        Sample::new("lmdb").records(CountRange::starting_at(300)).failed("out of luck"),
        Sample::new("redb").records(CountRange::starting_at(300)).ns(2000.0),
        // Here neither the best nor any other is known.
        Sample::new("redb").records(CountRange::starting_at(20)).ns(2000.0),
        Sample::new("lmdb").size(size(10)).ns(2000.0),
    ];
    let question = Question { max_memory_bytes: Some(40 << 20), ..question() };
    let lines = changes_of(&question, &samples, 1);
    assert_eq!(
        lines,
        [
            "With records of 4KiB..8KiB: lmdb is ruled out (took up to 87.9 MiB of memory): a candidate is redb (measured once).",
            "With 300 records: lmdb is ruled out (failed: out of luck): a candidate is redb (measured once).",
        ]
    );
    let lines = changes_of(&question, &samples[..2], 1);
    assert!(lines.last().unwrap().starts_with("No other record sizes or counts"), "{lines:?}");
}

#[test]
fn only_the_nearest_turn_to_either_side_is_told() {
    let mut samples = Vec::new();
    for (records, lmdb) in [(10, 9e3), (20, 500.0), (30, 9e3), (50, 500.0), (100, 500.0), (300, 600.0)] {
        let records = CountRange::starting_at(records);
        samples.push(Sample::new("lmdb").records(records).ns(lmdb));
        samples.push(Sample::new("redb").records(records).ns(1000.0));
    }
    let lines = changes_of(&question(), &samples, 3);
    assert_eq!(lines.len(), 3, "{lines:?}");
    // Between 50 records, where the ratio is a half, and 30, where it is nine: equal at a quarter of the way.
    let even = (50f64.ln() + (30f64 / 50.0).ln() * 2f64.ln() / 18f64.ln()).exp().round();
    let first = format!("With 30 records: redb, 9.00x faster (measured 3 times); equal at about {even}.");
    assert_eq!(lines[0], first);
    assert_eq!(lines[1], "No other record sizes were measured with lmdb and another store.");
    assert_eq!(lines[2], "Still lmdb, as far as the trials show, with 50, 300 records.");
    let once = "With 30 records: a candidate is redb, 9.00x faster (measured once).";
    assert_eq!(changes_of(&question(), &samples, 1)[0], once);
    for records in (400..2000).step_by(100) {
        let records = CountRange::starting_at(records);
        samples
            .extend([Sample::new("lmdb").records(records), Sample::new("redb").records(records).ns(1500.0)]);
    }
    let lines = changes_of(&question(), &samples, 3);
    assert_eq!(lines[2], "Still lmdb, as far as the trials show, with 50 to 1,900 records (at 18 points).");
}

#[test]
fn what_runs_do_not_cover_is_said() {
    let runs = [three_blocks()];
    let uncovered = |change: fn(&mut Question)| {
        let mut question = question();
        change(&mut question);
        advice(&question, &runs).unwrap_err().to_string()
    };
    assert!(uncovered(|q| q.threads = 4).contains("with 4 thread"));
    assert!(uncovered(|q| q.guarantee = Guarantee::Power).contains("guarantee power"));
    assert!(uncovered(|q| q.records = 100_000).contains("100 records of 1B..1KiB"));
    assert!(uncovered(|q| q.data = storebench_model::cell::Data::Compressible).contains("none of that kind"));
    assert!(uncovered(|q| q.max_memory_bytes = Some(1)).contains("no store answers"));
    let elsewhere = [run("box", &[Sample::new("lmdb"), Sample::new("lmdb").place("ssd")])];
    assert!(advice(&question(), &elsewhere).unwrap_err().to_string().contains("place ssd"));
}

#[test]
fn of_many_places_that_do_not_cover_a_question_the_nearest_are_told() {
    let samples: Vec<Sample> = (1..=300)
        .map(|records| Sample::new("lmdb").records(CountRange { from: records, to: records + 10 }))
        .collect();
    let question = Question { records: 50_000, ..question() };
    let error = advice(&question, &[run("box", &samples)]).unwrap_err().to_string();
    let nearest = (296..=300).rev().map(|count| format!("{count} records of 1B..1KiB")).collect::<Vec<_>>();
    let end = format!("measured were 300 combinations, the nearest {}", nearest.join("; "));
    assert!(error.ends_with(&end), "{error}");
}

#[test]
fn answers_read_well_at_every_width() {
    let question = Question { goal: Goal::Balance, max_memory_bytes: Some(64 << 20), ..question() };
    let advice = advice(&question, &[three_blocks()]).unwrap();
    for width in [80, 100, 160] {
        let text = advice.text(Some("open(\"x\")"), Style { width, colour: false });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        insta::assert_snapshot!(format!("advice_{width}"), text);
    }
    let colour = advice.text(None, Style { width: 100, colour: true });
    insta::assert_snapshot!("advice_colour", colour.replace('\u{1b}', "␛"));
}

#[test]
fn a_build_with_assertions_answers_nothing_and_says_why() {
    let block = vec![
        Sample::new("rocksdb").ns(1.0).distributed(true),
        Sample::new("lmdb"),
        Sample::new("redb").ns(9e3),
    ];
    let advice = advice(&question(), &[blocks("box", &[block.clone(), block.clone(), block])]).unwrap();
    let names: Vec<&str> = advice.verdict.ranking.iter().map(|store| store.store.as_str()).collect();
    assert_eq!(names, ["lmdb", "redb"]);
    assert_eq!(out(&advice), [("rocksdb", "built with assertions, not ranked (docs/building.md)")]);
}

#[test]
fn nothing_of_an_answer_moves_the_cursor() {
    let evil = "x\u{1b}[2J\u{9b}1m\r\ny";
    let mut runs = [run(evil, &[Sample::new(evil).ns(1.0), Sample::new("z"), Sample::new("y").failed(evil)])];
    runs[0].header.locations[0].path = evil.into();
    let settings = |value: &str| vec![storebench_model::store::Setting::unverified(evil, value)];
    runs[0].trials.iter_mut().filter_map(|trial| trial.measured.as_mut()).for_each(|measured| {
        measured.store_version = evil.into();
        measured.settings = settings(evil);
    });
    let advice = advice(&question(), &runs).unwrap();
    let text = advice.text(Some(evil), Style { width: 80, colour: false });
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert!(text.matches("x [2J").count() >= 8, "{text}");
    let uncovered = Question { threads: 7, ..question() };
    let errors = self::advice(&uncovered, &runs).unwrap_err().to_string();
    let out = Question { max_memory_bytes: Some(0), ..question() };
    let errors = errors + &self::advice(&out, &runs).unwrap_err().to_string();
    assert!(errors.contains("x [2J") && !errors.chars().any(char::is_control), "{errors:?}");
}

#[test]
fn nothing_of_an_answer_is_markup() {
    let evil = "<b>x</b>";
    let runs = [run(evil, &[Sample::new(evil).ns(1.0), Sample::new("y").failed(evil)])];
    let html = advice(&question(), &runs).unwrap().html(Some(evil)).into_string();
    assert!(!html.contains("<b>") && html.matches("&lt;b&gt;x&lt;/b&gt;").count() >= 4);
}

/// A run in which lmdb maps 40 MiB of files, and a folder has as much in the page cache.
fn mapped(tell: impl Fn(&mut storebench_model::result::Memory, bool)) -> Run {
    let block = vec![Sample::new("lmdb").ns(1000.0), Sample::new("flat-folder").ns(2000.0)];
    let mut run = blocks("box", &[block.clone(), block.clone(), block]);
    for trial in &mut run.trials {
        let lmdb = trial.cell.store() == "lmdb";
        let memory = &mut trial.measured.as_mut().unwrap().memory;
        memory.peak_above_base_bytes = if lmdb { 42 << 20 } else { 3 << 20 };
        tell(memory, lmdb);
    }
    run
}

#[test]
fn mapped_file_pages_decide_nothing_where_better_is_known() {
    let without = |memory: &mut storebench_model::result::Memory, lmdb: bool| {
        memory.peak_without_mapped_files_bytes = Some(if lmdb { 2 << 20 } else { 3 << 20 })
    };
    let cached = |memory: &mut storebench_model::result::Memory, lmdb: bool| {
        without(memory, lmdb);
        memory.peak_with_page_cache_bytes = Some(if lmdb { 43 << 20 } else { 60 << 20 });
    };
    let by_memory = Question { goal: Goal::Memory, ..question() };
    for (run, words, most) in
        [(mapped(cached), "with the page cache", 50), (mapped(without), "without mapped file pages", 2)]
    {
        let runs = [run];
        let found = advice(&by_memory, &runs).unwrap();
        assert_eq!(found.verdict.ranking[0].store, "lmdb", "{words}");
        let text = found.text(None, Style { width: 200, colour: false });
        assert!(text.contains(words) && text.contains(found.memory.note()), "{text}");
        assert!(found.html(None).as_str().contains(words));
        let limited = Question { max_memory_bytes: Some(most << 20), ..question() };
        let limited = advice(&limited, &runs).unwrap();
        assert_eq!(limited.trials().keys().copied().collect::<Vec<_>>(), ["lmdb"], "{words}");
        assert!(limited.verdict.out[0].why.ends_with(words), "{:?}", limited.verdict.out);
        let merged = Merged::new(&runs, &[]);
        let matrix = storebench_figures::data::matrix::matrices(&merged).remove(0);
        let row = matrix.rows.iter().find(|row| row.figure.name == "memory").unwrap();
        assert_eq!(row.contests[0].contenders[0].store, "lmdb", "{words}");
        assert_eq!(row.figure.column, found.memory.column().id);
        let style = Style { width: 200, colour: false };
        assert!(crate::terminal::overview(&Report::new(&merged), style).contains(found.memory.note()));
        assert!(crate::terminal::full(&Report::new(&merged), style).contains(found.memory.column().title));
    }
    // Older results have neither; the answer states its basis.
    let old = advice(&by_memory, &[mapped(|_, _| {})]).unwrap();
    assert_eq!(old.verdict.ranking[0].store, "flat-folder");
    assert!(old.html(None).as_str().contains("looks larger than it is"));
    // A figure that only one of two runs has is not compared; a common one is.
    let both = [mapped(cached), mapped(without)];
    assert_eq!(advice(&by_memory, &both).unwrap().memory, Basis::WithoutMappedFiles);
}

#[test]
fn a_store_that_promises_more_answers_at_its_own_tier() {
    let power = offers(&[Guarantee::None, Guarantee::Power]);
    let both = offers(&[Guarantee::Process, Guarantee::Power]);
    let table = [engine("redb", power), engine("lmdb", both), engine("sqlite", both)];
    let block = |noise: f64| {
        vec![
            Sample::new("lmdb").ns(1000.0 * noise),
            Sample::new("redb").guarantee("power").ns(1500.0 * noise),
            // Offers what was asked for: at the stronger tier it is no answer.
            Sample::new("sqlite").guarantee("power").ns(100.0),
            // A weaker tier never is.
            Sample::new("redb").guarantee("none").ns(1.0),
        ]
    };
    let runs = [blocks("box", &[block(1.0), block(1.01), block(0.99)])];
    let ask = |question: &Question| Advice::from_runs(question, &Merged::new(&runs, &[NULL]), None, &table);
    let advice = ask(&question()).unwrap();
    let ranking = &advice.verdict.ranking;
    let tiers: Vec<_> = ranking.iter().map(|store| (store.store.as_str(), store.guarantee)).collect();
    assert_eq!(tiers, [("lmdb", Guarantee::Process), ("redb", Guarantee::Power)]);
    assert!((ranking[1].times_worse.unwrap().ratio.value - 1.5).abs() < 0.01, "paired by block");
    assert_eq!(out(&advice), [("sqlite", "not measured with 100 records of 1B..1KiB at guarantee process")]);
    let text = advice.text(None, Style { width: 160, colour: false });
    assert!(text.contains("redb (power)") && text.contains("gives more than process"), "{text}");
    assert!(advice.html(None).as_str().contains("redb (power)"));
    let chosen = Question { stores: Some(vec!["redb".into()]), ..question() };
    let chosen = ask(&chosen).unwrap();
    let text = chosen.text(None, Style { width: 160, colour: false });
    let more = "Its guarantee is power, more than you asked for: it does not offer process.";
    assert!(text.contains(more), "{text}");
    // A question for the stronger gets all stores at it; reports keep tiers apart.
    let stronger = ask(&Question { guarantee: Guarantee::Power, ..question() }).unwrap();
    assert_eq!(stronger.trials().keys().copied().collect::<Vec<_>>(), ["sqlite", "redb"]);
    assert_eq!(Merged::new(&runs, &[NULL]).groups.len(), 3);
}

#[test]
fn a_trial_at_the_stronger_tier_that_failed_says_why_the_store_is_missing() {
    let table = ["redb", "fjall"].map(|name| engine(name, offers(&[Guarantee::Power])));
    let mut run = run("box", &[Sample::new("lmdb"), Sample::new("redb").guarantee("power").failed("broken")]);
    let cell = Sample::new("fjall").guarantee("power").cell();
    run.header.left_out.push(LeftOutCell { cell, reason: LeftOutReason::Sentence("too large".into()) });
    let runs = [run];
    let advice = Advice::from_runs(&question(), &Merged::new(&runs, &[]), None, &table).unwrap();
    assert_eq!(out(&advice), [("redb", "failed: broken"), ("fjall", "too large")]);
}

/// A store that was quick with few of the records, and has no room for all.
#[test]
fn a_store_that_can_t_hold_the_data_is_ruled_out_however_fast_it_was() {
    let engine = |name, max_bytes| {
        let capabilities = Capabilities { max_bytes, ..NULL.capabilities };
        StoreDef { capabilities, ..engine(name, offers(&[Guarantee::Process])) }
    };
    let bytes = question().values_bytes() as u64;
    let block = |_| vec![Sample::new("lmdb").ns(1000.0), Sample::new("one-file").ns(10.0)];
    let runs = [blocks("box", &[0, 1, 2].map(block))];
    let merged = Merged::new(&runs, &[]);
    let ask = |room| {
        let table = [engine("lmdb", u64::MAX), engine("one-file", room)];
        Advice::from_runs(&question(), &merged, None, &table).unwrap()
    };
    let advice = ask(bytes / 2);
    let [(store, why)] = out(&advice)[..] else { panic!("{:?}", out(&advice)) };
    assert!(store == "one-file" && why.contains("at most"), "{why}");
    assert_eq!(advice.verdict.ranking[0].store, "lmdb");
    assert_eq!(ask(bytes * 2).verdict.ranking[0].store, "one-file");
}

#[test]
fn runs_that_differ_in_method_have_no_answer_together() {
    let planned = |plan: &str| {
        let mut run = three_blocks();
        run.header.plan = plan.into();
        run
    };
    let plain = "operations = 1000\n";
    let tuned = "operations = 1000\n[settings.lmdb]\nmap_size = \"1GiB\"\n";
    let error = advice(&question(), &[planned(plain), planned(tuned)]).unwrap_err().to_string();
    assert!(error.contains("lmdb.map_size not set") && error.contains("lmdb.map_size=1GiB"), "{error}");
    let error = advice(&question(), &[planned(plain), planned("operations = 50\n")]).unwrap_err().to_string();
    assert!(error.contains("operations=1000") && error.contains("operations=50"), "{error}");
    // Alone, each has an answer, which states the difference.
    let alone = advice(&question(), &[planned(tuned)]).unwrap();
    assert_eq!(alone.trials()["lmdb"], 3);
    let measured = sentences::measured(&alone).concat();
    let otherwise = "Not measured as `advise` measures: each operation on its own, lmdb.map_size=1GiB.";
    assert!(measured.contains(otherwise), "{measured}");
    // Equal runs add trials, also with other seeds; of unequal ones, one alone may cover the question.
    let seeded = [planned("operations = 1000\nseed = 1\n"), planned("operations = 1000\nseed = 2\n")];
    assert_eq!(advice(&question(), &seeded).unwrap().trials()["lmdb"], 6);
    let mut elsewhere = planned(tuned);
    elsewhere.trials.iter_mut().for_each(|trial| {
        trial.cell.set(storebench_model::cell::Axis::RECORDS, CountRange::starting_at(100_000).into())
    });
    assert_eq!(advice(&question(), &[planned(plain), elsewhere]).unwrap().trials()["lmdb"], 3);
}

#[test]
fn the_page_of_an_answer_opens_on_what_was_asked_and_says_it_once() {
    let runs = [
        three_blocks(),
        three_blocks(),
        run("box", &[Sample::new("lmdb").size(SizeRange { from: 9, to: 99 })]),
    ];
    let merged = Merged::new(&runs, &[NULL]);
    let advice = Advice::from_runs(&question(), &merged, None, &[]).unwrap();
    let lead = advice.lead(None);
    let (group, place) = (
        "hardware=box&guarantee=process&place=here&",
        "&data=incompressible&record_size=1B..1KiB&records=100..500",
    );
    assert!(lead.start.starts_with(group) && lead.start.ends_with(place), "{}", lead.start);
    let mut page = Vec::new();
    crate::page::write(&Report::new(&merged), Some(&lead), &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_eq!(page.matches(">processor<").count(), 1, "the machine of all three runs is told once");
    assert_eq!(page.matches("The command, with storebench").count(), 1);
}
